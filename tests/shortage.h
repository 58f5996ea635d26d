/* Memory that runs out wherever a test says so, in other libraries too, a disk that writes another byte, a
 * process that is killed when it gives a file its name: the C library's calls are taken over. Not under sanitizers,
 * which take them over themselves. */
#ifndef GANZ_TESTS_SHORTAGE_H
#define GANZ_TESTS_SHORTAGE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NO_SHORTAGE
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __GLIBC__
#define NO_SHORTAGE
#endif

/* The request that fails, counted from 1; 0: none. */
static long shortage_at;
/* The byte of all that is written that becomes another, counted from 1; 0: none. */
static long lie_at;
/* Calls of umask, and whether a rename ends the process. */
static int masks_set, killed_by_rename;

#ifndef NO_SHORTAGE
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

#define SEEN __attribute__((visibility("default"))) /* by the other libraries */

static int falls_short(void)
{
    if (shortage_at == 0 || --shortage_at != 0) return 0;
    errno = ENOMEM;
    return 1;
}

SEEN void *malloc(size_t bytes) { return falls_short() ? NULL : __libc_malloc(bytes); }
SEEN void *calloc(size_t count, size_t bytes) { return falls_short() ? NULL : __libc_calloc(count, bytes); }
SEEN void *realloc(void *old, size_t bytes) { return falls_short() ? NULL : __libc_realloc(old, bytes); }

extern long syscall(long number, ...);

SEEN mode_t umask(mode_t mask)
{
    masks_set++;
    return (mode_t)syscall(SYS_umask, mask);
}

SEEN int rename(const char *from, const char *to)
{
    if (killed_by_rename) raise(SIGKILL);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

SEEN ssize_t write(int fd, const void *data, size_t bytes)
{
    static unsigned char copy[1 << 20];
    const int lies = lie_at > 0 && (size_t)lie_at <= bytes && bytes <= sizeof copy;
    if (lies) {
        memcpy(copy, data, bytes);
        copy[lie_at - 1] ^= 1;
    }
    if (lie_at > 0) lie_at = lies || (size_t)lie_at <= bytes ? 0 : lie_at - (long)bytes;
    return syscall(SYS_write, fd, lies ? copy : data, bytes);
}
#endif

#endif
