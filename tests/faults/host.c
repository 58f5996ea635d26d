/* A library that is loaded before a program (LD_PRELOAD) and does what a program around libganz might do: HOST_ROUNDING
 * rounds upwards, HOST_LOCALE sets that locale. HOST_MASK names a file that gets a line for each call of umask. Used by
 * tools/findings.sh. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

__attribute__((constructor)) static void begin(void)
{
    if (getenv("HOST_ROUNDING")) fesetround(FE_UPWARD);
    if (getenv("HOST_LOCALE")) setlocale(LC_ALL, getenv("HOST_LOCALE"));
}

SEEN mode_t umask(mode_t mask)
{
    const char *const path = getenv("HOST_MASK");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd >= 0 && write(fd, "umask\n", 6) < 0) abort();
    if (fd >= 0) close(fd);
    return (mode_t)syscall(SYS_umask, mask);
}
