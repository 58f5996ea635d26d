/* Bytes as a file that has a path but lies in memory, for calls that want a path. */
#ifndef GANZ_FUZZ_MEMORY_FILE_H
#define GANZ_FUZZ_MEMORY_FILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

typedef struct memory_file {
    int fd;
    char path[32];
} memory_file;

/* One at a time: all are the same file, which is made once, because making one takes longer than reading it. */
static inline memory_file memory_file_open(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_EXPECT(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    memory_file f = {.fd = fd};
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static inline void memory_file_close(memory_file *f) { f->path[0] = 0; }

#endif
