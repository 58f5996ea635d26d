/* A library that is loaded before all others (LD_PRELOAD): one call for memory, or one to the system about files, fails
 * or ends the process, whichever library makes it. FAULT_KIND is a list of memory, open, read, write, sync, name and
 * map; FAULT_AT counts the calls of these kinds from 1; FAULT_HOW is fail (as it is without), trace (the same, and the
 * callers are printed) or kill. FAULT_COUNT names a file that gets the number of calls at the end of the process.
 * FAULT_RECORD: see record.c. */
#undef _FORTIFY_SOURCE /* its checked calls are defined here */
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static const char *const kinds[FAULT_KINDS] = {"memory", "open", "read", "write", "sync", "name", "map"};
static bool wanted[FAULT_KINDS];
static atomic_long calls;
static atomic_long fail_at;
static _Thread_local bool is_looking __attribute__((tls_model("initial-exec"))); /* made without a request for memory */
static bool kills, traces;
static int count_fd = -1; /* open from the beginning: some programs give up opening files */

/* A descriptor that no program counts on. */
static int open_count(const char *path)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int high = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 500);
    if (fd >= 0) syscall(SYS_close, fd);
    return high;
}

static void begin(void)
{
    const char *const kind = getenv("FAULT_KIND"), *const at = getenv("FAULT_AT"), *const how = getenv("FAULT_HOW");
    fail_at = at ? strtol(at, NULL, 10) : 0;
    kills = how && strcmp(how, "kill") == 0;
    traces = how && strcmp(how, "trace") == 0;
    const char *const count = getenv("FAULT_COUNT");
    if (count) count_fd = open_count(count);
    void *callers[1];
    (void)backtrace(callers, 1); /* the first call loads a library, which must not happen inside the loader */
    for (int i = 0; kind && i < FAULT_KINDS; i++) wanted[i] = strstr(kind, kinds[i]) != NULL;
}

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *run, int argc, char **argv, void (*init)(void), void (*fini)(void),
                           void (*loader_fini)(void), void *stack_end);
static main_function *real_main;

static int counted_main(int argc, char **argv, char **environment)
{
    begin();
    return real_main(argc, argv, environment);
}

/* What is asked for before main, by the loader and by libraries that get ready, does not count. */
start_function __libc_start_main;
SEEN int __libc_start_main(main_function *run, int argc, char **argv, void (*init)(void), void (*fini)(void),
                           void (*loader_fini)(void), void *stack_end)
{
    start_function *real;
    void *const found = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&real, &found, sizeof real);
    real_main = run;
    return real(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    if (count_fd < 0) return;
    const int bytes = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    syscall(SYS_write, count_fd, text, bytes);
}

/* While it is loaded, libgfortran (OpenBLAS needs it) ends the process when it gets no memory, and no caller can help
 * it: then it is the next call that fails. */
static bool is_excused(void)
{
    void *callers[32];
    Dl_info info;
    const int count = backtrace(callers, 32);
    if (traces) backtrace_symbols_fd(callers, count, STDERR_FILENO);
    for (int i = 0; i < count; i++)
        if (dladdr(callers[i], &info) && info.dli_fname && strstr(info.dli_fname, "libgfortran")) return true;
    return false;
}

bool fault_now(fault_kind kind)
{
    if (!wanted[kind] || is_looking) return false;
    const long n = atomic_fetch_add(&calls, 1) + 1;
    if (n != atomic_load(&fail_at)) return false;
    if (kills) syscall(SYS_kill, getpid(), SIGKILL);
    is_looking = true; /* at the callers, which takes memory itself */
    const bool excused = is_excused();
    is_looking = false;
    if (excused) atomic_fetch_add(&fail_at, 1);
    if (excused) return false;
    errno = kind == FAULT_MEMORY || kind == FAULT_MAP ? ENOMEM : kind == FAULT_WRITE ? ENOSPC : EIO;
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------- */

SEEN void *malloc(size_t bytes) { return fault_now(FAULT_MEMORY) ? NULL : __libc_malloc(bytes); }
SEEN void *calloc(size_t count, size_t bytes) { return fault_now(FAULT_MEMORY) ? NULL : __libc_calloc(count, bytes); }
SEEN void *realloc(void *old, size_t bytes) { return fault_now(FAULT_MEMORY) ? NULL : __libc_realloc(old, bytes); }
SEEN void *memalign(size_t a, size_t bytes) { return fault_now(FAULT_MEMORY) ? NULL : __libc_memalign(a, bytes); }
SEEN void *aligned_alloc(size_t a, size_t bytes) { return fault_now(FAULT_MEMORY) ? NULL : __libc_memalign(a, bytes); }

SEEN int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (fault_now(FAULT_MEMORY)) return ENOMEM;
    *out = __libc_memalign(alignment, bytes);
    return *out ? 0 : ENOMEM;
}

SEEN void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (fault_now(FAULT_MAP)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

/* ---- files -------------------------------------------------------------------------------------- */

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if (fault_now(FAULT_OPEN)) return -1;
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_DIRECTORY);
    const bool fresh = writes && ((flags & O_TMPFILE) == O_TMPFILE || faccessat(folder, path, F_OK, 0) != 0);
    const int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && writes && folder == AT_FDCWD) record_open(fd, (flags & O_TMPFILE) == O_TMPFILE ? "" : path, fresh);
    return fd;
}

static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? (mode_t)va_arg(rest, int) : 0;
}

SEEN int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_at(AT_FDCWD, path, flags, mode);
}

SEEN int openat(int folder, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_at(folder, path, flags, mode);
}

int __open_2(const char *path, int flags); /* what open with two arguments is called when it is checked */
SEEN int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }

SEEN ssize_t read(int fd, void *data, size_t bytes)
{
    return fault_now(FAULT_READ) ? -1 : syscall(SYS_read, fd, data, bytes);
}

SEEN ssize_t pread(int fd, void *data, size_t bytes, off_t offset)
{
    return fault_now(FAULT_READ) ? -1 : syscall(SYS_pread64, fd, data, bytes, offset);
}

ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
SEEN ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    return bytes > room ? (abort(), -1) : read(fd, data, bytes);
}

ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t offset, size_t room);
SEEN ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t offset, size_t room)
{
    return bytes > room ? (abort(), -1) : pread(fd, data, bytes, offset);
}

/* A sentence on standard error may always be written. */
SEEN ssize_t write(int fd, const void *data, size_t bytes)
{
    if (fd != STDERR_FILENO && fault_now(FAULT_WRITE)) return -1;
    const uint64_t offset = record_offset(fd);
    const ssize_t n = syscall(SYS_write, fd, data, bytes);
    if (n > 0) record_write(fd, data, (size_t)n, offset);
    return n;
}

SEEN ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    if (fault_now(FAULT_WRITE)) return -1;
    const ssize_t n = syscall(SYS_pwrite64, fd, data, bytes, offset);
    if (n > 0) record_write(fd, data, (size_t)n, (uint64_t)offset);
    return n;
}

SEEN int ftruncate(int fd, off_t bytes)
{
    if (fault_now(FAULT_WRITE)) return -1;
    const int result = (int)syscall(SYS_ftruncate, fd, bytes);
    if (result == 0) record_size(fd, NULL, (uint64_t)bytes);
    return result;
}

SEEN int truncate(const char *path, off_t bytes)
{
    if (fault_now(FAULT_WRITE)) return -1;
    const int result = (int)syscall(SYS_truncate, path, bytes);
    if (result == 0) record_size(-1, path, (uint64_t)bytes);
    return result;
}

static int sync_by(long number, int fd)
{
    if (fault_now(FAULT_SYNC)) return -1;
    const int result = (int)syscall(number, fd);
    if (result == 0) record_sync(fd);
    return result;
}

SEEN int fsync(int fd) { return sync_by(SYS_fsync, fd); }
SEEN int fdatasync(int fd) { return sync_by(SYS_fdatasync, fd); }

/* ---- names -------------------------------------------------------------------------------------- */

SEEN int rename(const char *from, const char *to)
{
    if (fault_now(FAULT_NAME)) return -1;
    const int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (result == 0) record_names("rename", from, to);
    return result;
}

SEEN int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    int fd = -1;
    if (fault_now(FAULT_NAME)) return -1;
    const int result = (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    if (result == 0 && sscanf(from, "/proc/self/fd/%d", &fd) == 1) record_link(fd, to);
    return result;
}

SEEN int unlink(const char *path)
{
    if (fault_now(FAULT_NAME)) return -1;
    const int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result == 0) record_names("unlink", path, "");
    return result;
}

SEEN int mkdir(const char *path, mode_t mode)
{
    if (fault_now(FAULT_NAME)) return -1;
    const int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0) record_names("mkdir", path, "");
    return result;
}
