/* Files for reading: mapped, or read piece by piece where they may change under us. */
#define _DEFAULT_SOURCE /* madvise */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"

static ganz_status check_regular(int fd, const char *path, off_t *bytes, ganz_error *err)
{
    struct stat info;
    *bytes = 0;
    if (fstat(fd, &info) != 0) return ganz_fail_errno(err, "read", path);
    *bytes = info.st_size;
    return S_ISREG(info.st_mode) ? GANZ_OK : ganz_fail(err, GANZ_EIO, "cannot open %s: not a regular file", path);
}

ganz_status ganz_file_open(int *fd, const char *path, ganz_error *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused below, not waited for */
    if (*fd < 0) return ganz_fail_errno(err, "open", path);
    off_t bytes = 0;
    const ganz_status status = check_regular(*fd, path, &bytes, err);
    if (status != GANZ_OK) ganz_file_close(fd);
    return status;
}

void ganz_file_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

ganz_status ganz_file_read(int fd, const char *path, uint64_t offset, void *data, size_t bytes, ganz_error *err)
{
    unsigned char *to = data;
    while (bytes > 0) {
        const ssize_t done = pread(fd, to, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return ganz_fail_errno(err, "read", path);
        if (done == 0) return ganz_fail(err, GANZ_EIO, "cannot read %s: it was cut short while it was in use", path);
        to += done;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return GANZ_OK;
}

ganz_status ganz_map_descriptor(ganz_map *map, int fd, const char *path, ganz_error *err)
{
    *map = (ganz_map){0};
    off_t bytes = 0;
    GANZ_TRY(check_regular(fd, path, &bytes, err));
    if (bytes == 0) return GANZ_OK;
    void *const data = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return ganz_fail_errno(err, "map", path);
    *map = (ganz_map){data, (size_t)bytes};
    return GANZ_OK;
}

ganz_status ganz_map_open(ganz_map *map, const char *path, ganz_error *err)
{
    *map = (ganz_map){0};
    int fd;
    GANZ_TRY(ganz_file_open(&fd, path, err));
    const ganz_status status = ganz_map_descriptor(map, fd, path, err);
    ganz_file_close(&fd);
    return status;
}

void ganz_map_close(ganz_map *map)
{
    if (map->data) munmap((void *)map->data, map->bytes);
    *map = (ganz_map){0};
}

void ganz_map_forget(const void *data, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)data + page - 1) / page * page; /* whole pages inside */
    const uintptr_t end = ((uintptr_t)data + bytes) / page * page;
    if (begin < end) (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* a wish: may be ignored */
}

const void *ganz_read_bytes(ganz_reader *r, size_t bytes)
{
    if (r->failed || bytes > r->bytes - r->at) {
        r->failed = true;
        return NULL;
    }
    const void *const data = r->data + r->at;
    r->at += bytes;
    return data;
}

uint64_t ganz_read_u64(ganz_reader *r)
{
    const unsigned char *const b = ganz_read_bytes(r, 8);
    uint64_t v = 0;
    for (int i = 7; b && i >= 0; i--) v = v << 8 | b[i];
    return v;
}

uint64_t ganz_checksum(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }
