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

static inline memory_file memory_file_open(const uint8_t *data, size_t size)
{
    memory_file f = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};
    FUZZ_EXPECT(f.fd >= 0 && write(f.fd, data, size) == (ssize_t)size);
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static inline void memory_file_close(memory_file *f) { close(f->fd); }

#endif
