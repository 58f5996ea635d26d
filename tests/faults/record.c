/* What a process does to files, written to the file FAULT_RECORD names, in order: a line of words for each call, after
 * `write` also its bytes. Files are called by the number of their inode; `fresh` begins a new file of that number.
 *
 *   open INODE fresh|old PATH     write INODE OFFSET BYTES     size INODE BYTES     sync INODE
 *   link INODE PATH               rename FROM TO               unlink PATH          mkdir PATH
 *
 * Paths are absolute, and have no line break. */
#define _GNU_SOURCE
#include "faults.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int record = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin_record(void)
{
    const char *const path = getenv("FAULT_RECORD");
    if (path) record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (record < 0) return;
    const int high = fcntl(record, F_DUPFD_CLOEXEC, 500); /* the program's files keep their numbers */
    syscall(SYS_close, record);
    record = high;
}

bool record_is_on(void) { return record >= 0; }

static void put(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const long n = syscall(SYS_write, record, at, bytes);
        if (n <= 0) abort();
        at += n;
        bytes -= (size_t)n;
    }
}

static void put_line(const char *line, const void *data, size_t bytes)
{
    pthread_mutex_lock(&lock);
    put(line, strlen(line));
    put(data, bytes);
    pthread_mutex_unlock(&lock);
}

static bool absolute(char out[PATH_MAX], const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || path[0] == '\0') return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    if (!getcwd(folder, sizeof folder)) return false;
    return snprintf(out, PATH_MAX, "%s/%s", folder, path) < PATH_MAX;
}

/* The inode of a regular file or folder; 0 for all else. */
static unsigned long long inode_of(int fd, const char *path)
{
    struct stat info;
    if (record < 0 || (path ? stat(path, &info) : fstat(fd, &info)) != 0) return 0;
    return S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) ? info.st_ino : 0;
}

void record_open(int fd, const char *path, bool fresh)
{
    char full[PATH_MAX], line[PATH_MAX + 64];
    const unsigned long long inode = inode_of(fd, NULL);
    if (!inode || !absolute(full, path)) return;
    snprintf(line, sizeof line, "open %llu %s %s\n", inode, fresh ? "fresh" : "old", full);
    put_line(line, NULL, 0);
}

uint64_t record_offset(int fd)
{
    struct stat info;
    if (record < 0) return 0;
    if ((fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &info) == 0) return (uint64_t)info.st_size;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    return at < 0 ? 0 : (uint64_t)at;
}

void record_write(int fd, const void *data, size_t bytes, uint64_t offset)
{
    char line[96];
    const unsigned long long inode = inode_of(fd, NULL);
    if (!inode || fd <= STDERR_FILENO) return;
    snprintf(line, sizeof line, "write %llu %llu %zu\n", inode, (unsigned long long)offset, bytes);
    put_line(line, data, bytes);
}

void record_size(int fd, const char *path, uint64_t bytes)
{
    char line[96];
    const unsigned long long inode = inode_of(fd, path);
    if (!inode) return;
    snprintf(line, sizeof line, "size %llu %llu\n", inode, (unsigned long long)bytes);
    put_line(line, NULL, 0);
}

void record_sync(int fd)
{
    char line[64];
    const unsigned long long inode = inode_of(fd, NULL);
    if (!inode) return;
    snprintf(line, sizeof line, "sync %llu\n", inode);
    put_line(line, NULL, 0);
}

void record_link(int fd, const char *path)
{
    char full[PATH_MAX], line[PATH_MAX + 64];
    const unsigned long long inode = inode_of(fd, NULL);
    if (!inode || !absolute(full, path)) return;
    snprintf(line, sizeof line, "link %llu %s\n", inode, full);
    put_line(line, NULL, 0);
}

void record_names(const char *what, const char *from, const char *to)
{
    char a[PATH_MAX], b[PATH_MAX], line[2 * PATH_MAX + 32];
    if (record < 0 || !absolute(a, from) || !absolute(b, to)) return;
    snprintf(line, sizeof line, "%s %s\t%s\n", what, a, b);
    put_line(line, NULL, 0);
}
