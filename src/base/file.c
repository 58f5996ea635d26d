/* Files for reading: piece by piece or as a whole, because they may change under us; mapped where they cannot. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "ganz/io.h"

#define MOST_BYTES ((size_t)4 << 30) /* of a file that is read as a whole */

static ganz_status check_regular(int fd, const char *path, off_t *bytes, ganz_error *err)
{
    struct stat info;
    *bytes = 0;
    if (fstat(fd, &info) != 0) return ganz_fail_errno(err, "read", path);
    *bytes = info.st_size;
    return S_ISREG(info.st_mode) ? GANZ_OK : ganz_fail(err, GANZ_EIO, "cannot open %s: not a regular file", path);
}

static const ganz_inside *find_inside(const char *path)
{
    const size_t bytes = strlen(GANZ_INSIDE);
    if (!ganz_inside_files || strncmp(path, GANZ_INSIDE, bytes) != 0) return NULL;
    const ganz_inside *file = ganz_inside_files;
    while (file->name && strcmp(file->name, path + bytes) != 0) file++;
    return file->name ? file : NULL;
}

/* A file of the program as one of the system, in memory. */
static ganz_status open_inside(int *fd, const ganz_inside *file, ganz_error *err)
{
    const unsigned char *from = file->begin;
    *fd = memfd_create(file->name, MFD_CLOEXEC);
    if (*fd < 0) return ganz_fail_errno(err, "open", file->name);
    while (from < file->end) {
        const ssize_t done = write(*fd, from, (size_t)(file->end - from));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            ganz_fail_errno(err, "open", file->name);
            ganz_file_close(fd);
            return GANZ_EIO;
        }
        from += done;
    }
    return GANZ_OK;
}

ganz_status ganz_file_open(int *fd, const char *path, ganz_error *err)
{
    const ganz_inside *const inside = find_inside(path);
    if (inside) return open_inside(fd, inside, err);
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

ganz_status ganz_file_size(int fd, const char *path, uint64_t *bytes, ganz_error *err)
{
    off_t size = 0;
    const ganz_status status = check_regular(fd, path, &size, err);
    *bytes = (uint64_t)size;
    return status;
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

ganz_status ganz_contents_map(ganz_contents *contents, int fd, const char *path, ganz_error *err)
{
    *contents = (ganz_contents){0};
    off_t bytes = 0;
    GANZ_TRY(check_regular(fd, path, &bytes, err));
    if (bytes == 0) return GANZ_OK;
    void *const data = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return ganz_fail_errno(err, "map", path);
    *contents = (ganz_contents){data, (size_t)bytes, false};
    return GANZ_OK;
}

/* A map of a file that is cut short kills whoever reads it; so does a disk that fails. */
static ganz_status read_all(ganz_contents *contents, int fd, const char *path, ganz_error *err)
{
    off_t bytes = 0;
    GANZ_TRY(check_regular(fd, path, &bytes, err));
    if (bytes == 0) return GANZ_OK;
    if ((uint64_t)bytes > MOST_BYTES)
        return ganz_fail(err, GANZ_ELIMIT, "cannot read %s: it is larger than %zu MiB", path, MOST_BYTES >> 20);
    unsigned char *const data = ganz_alloc((size_t)bytes + 1, 1);
    if (!data) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    const ganz_status status = ganz_file_read(fd, path, 0, data, (size_t)bytes, err);
    if (status == GANZ_OK) *contents = (ganz_contents){data, (size_t)bytes, true};
    else ganz_free(data);
    return status;
}

ganz_status ganz_contents_read(ganz_contents *contents, const char *path, ganz_error *err)
{
    *contents = (ganz_contents){0};
    int fd;
    GANZ_TRY(ganz_file_open(&fd, path, err));
    const ganz_status status = read_all(contents, fd, path, err);
    ganz_file_close(&fd);
    return status;
}

void ganz_contents_free(ganz_contents *contents)
{
    if (contents->copied) ganz_free((void *)contents->data);
    else if (contents->data) munmap((void *)contents->data, contents->bytes);
    *contents = (ganz_contents){0};
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
