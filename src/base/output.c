/* Outputs: one buffer, one optional compressor, and a file that takes its place at the end. */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"
#include "base/replace.h"
#include "base/surroundings.h"
#include "base/utf8.h"

enum { BUFFER_BYTES = 1 << 16 };

typedef enum { PLAIN, GZIP, XZ, ZSTD } packing;

/* A program of one file does without the compressors of xz and zstd, which are half a megabyte; it reads both. */
#ifdef GANZ_GZIP_ALONE
enum { PACKS_ALL = 0 };
#else
enum { PACKS_ALL = 1 };
#endif

struct ganz_output {
    char *name; /* for messages */
    bool replaces;
    bool terminal;         /* standard output is one */
    ganz_replacement file; /* when it replaces */
    int fd;                /* of the file, or of what is written directly */
    packing format;
    z_stream gz;
    lzma_stream xz;
    ZSTD_CStream *zstd;
    uint64_t bytes; /* before compression */
    size_t used;
    unsigned char last; /* byte that was written to a terminal */
    unsigned char buffer[BUFFER_BYTES];
    unsigned char packed[BUFFER_BYTES];
};

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

static ganz_status write_all(const ganz_output *o, const unsigned char *data, size_t bytes, ganz_error *err)
{
    while (bytes > 0) {
        const ssize_t done = write(o->fd, data, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return ganz_fail_errno(err, "write", o->name);
        data += done;
        bytes -= (size_t)done;
    }
    return GANZ_OK;
}

static ganz_status pack_gzip(ganz_output *o, int mode, ganz_error *err)
{
    o->gz.next_in = o->buffer;
    o->gz.avail_in = (uInt)o->used;
    int result;
    do {
        o->gz.next_out = o->packed;
        o->gz.avail_out = sizeof o->packed;
        result = deflate(&o->gz, mode);
        GANZ_TRY(write_all(o, o->packed, sizeof o->packed - o->gz.avail_out, err));
    } while (o->gz.avail_out == 0 || (mode == Z_FINISH && result != Z_STREAM_END));
    return GANZ_OK;
}

static ganz_status pack_xz(ganz_output *o, lzma_action mode, ganz_error *err)
{
    o->xz.next_in = o->buffer;
    o->xz.avail_in = o->used;
    lzma_ret result;
    do {
        o->xz.next_out = o->packed;
        o->xz.avail_out = sizeof o->packed;
        result = lzma_code(&o->xz, mode);
        if (result != LZMA_OK && result != LZMA_STREAM_END)
            return ganz_fail(err, GANZ_EIO, "%s: cannot compress", o->name);
        GANZ_TRY(write_all(o, o->packed, sizeof o->packed - o->xz.avail_out, err));
    } while (mode == LZMA_RUN ? o->xz.avail_in > 0 : result != LZMA_STREAM_END);
    return GANZ_OK;
}

static ganz_status pack_zstd(ganz_output *o, ZSTD_EndDirective mode, ganz_error *err)
{
    ZSTD_inBuffer in = {o->buffer, o->used, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {o->packed, sizeof o->packed, 0};
        left = ZSTD_compressStream2(o->zstd, &out, &in, mode);
        if (ZSTD_isError(left)) return ganz_fail(err, GANZ_EIO, "%s: cannot compress", o->name);
        GANZ_TRY(write_all(o, o->packed, out.pos, err));
    } while (in.pos < in.size || (mode != ZSTD_e_continue && left > 0));
    return GANZ_OK;
}

typedef enum { GO_ON, FLUSH, END } drain;

static ganz_status empty_buffer(ganz_output *o, drain how, ganz_error *err)
{
    static const int gz_mode[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    static const lzma_action xz_mode[] = {LZMA_RUN, LZMA_SYNC_FLUSH, LZMA_FINISH};
    static const ZSTD_EndDirective zstd_mode[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
    ganz_status status;
    if (o->format == GZIP) status = pack_gzip(o, gz_mode[how], err);
    else if (PACKS_ALL && o->format == XZ) status = pack_xz(o, xz_mode[how], err);
    else if (PACKS_ALL && o->format == ZSTD) status = pack_zstd(o, zstd_mode[how], err);
    else status = write_all(o, o->buffer, o->used, err);
    o->used = 0;
    return status;
}

/* A regular file, or one that does not exist yet, is replaced at the end; anything else is written at once. */
static ganz_status open_file(ganz_output *o, const char *path, ganz_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode)) return ganz_fail(err, GANZ_EIO, "cannot write %s: it is a folder", path);
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        return o->fd < 0 ? ganz_fail_errno(err, "write", path) : GANZ_OK;
    }
    o->replaces = true;
    GANZ_TRY(ganz_replacement_open(&o->file, path, err));
    o->fd = o->file.fd;
    return GANZ_OK;
}

static ganz_status start_packer(ganz_output *o, const char *path, ganz_error *err)
{
    bool ready = true;
    if (!PACKS_ALL && (ends_with(path, ".xz") || ends_with(path, ".zst")))
        return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: this build of ganz compresses to .gz only", path);
    if (ends_with(path, ".gz")) {
        ready = deflateInit2(&o->gz, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
        if (ready) o->format = GZIP;
    } else if (PACKS_ALL && ends_with(path, ".xz")) {
        ready = lzma_easy_encoder(&o->xz, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) == LZMA_OK;
        o->format = XZ;
    } else if (PACKS_ALL && ends_with(path, ".zst")) {
        o->zstd = ZSTD_createCStream();
        ready = o->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1));
        o->format = ZSTD;
    }
    return ready ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory to compress", path);
}

ganz_status ganz_output_open(ganz_output **out, const char *path, ganz_error *err)
{
    *out = NULL;
    const bool is_stdout = strcmp(path, "-") == 0;
    ganz_output *o = ganz_alloc(1, sizeof *o);
    if (!o) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    o->fd = is_stdout ? STDOUT_FILENO : -1;
    o->terminal = is_stdout && isatty(STDOUT_FILENO);
    o->file.fd = -1;
    o->name = ganz_strdup(is_stdout ? "standard output" : path);
    ganz_status status = o->name ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    if (status == GANZ_OK && !is_stdout) status = open_file(o, path, err);
    if (status == GANZ_OK && !is_stdout) status = start_packer(o, path, err);
    if (status != GANZ_OK) ganz_output_abandon(&o);
    *out = o;
    return status;
}

/* Words of a model and names of files may hold any character; a terminal takes some for orders. */
static void copy_harmless(ganz_output *o, const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const bool kept = from[i] == '\n' || from[i] == '\t';
        o->buffer[o->used + i] = kept ? from[i] : ganz_harmless(o->last, from[i]);
        o->last = from[i];
    }
}

ganz_status ganz_output_write(ganz_output *o, const void *data, size_t bytes, ganz_error *err)
{
    const unsigned char *from = data;
    o->bytes += bytes;
    while (bytes > 0) {
        const size_t room = BUFFER_BYTES - o->used;
        const size_t take = bytes < room ? bytes : room;
        if (o->terminal) copy_harmless(o, from, take);
        else memcpy(o->buffer + o->used, from, take);
        o->used += take;
        from += take;
        bytes -= take;
        if (o->used == BUFFER_BYTES) GANZ_TRY(empty_buffer(o, GO_ON, err));
    }
    return GANZ_OK;
}

ganz_status ganz_output_printf(ganz_output *o, ganz_error *err, const char *format, ...)
{
    GANZ_PLAIN_NUMBERS;
    char small[512];
    va_list args;
    va_start(args, format);
    const int need = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (need < 0) return ganz_fail(err, GANZ_EIO, "%s: cannot format", o->name);
    if ((size_t)need < sizeof small) return ganz_output_write(o, small, (size_t)need, err);
    char *const large = ganz_alloc((size_t)need + 1, 1);
    if (!large) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", o->name);
    va_start(args, format);
    vsnprintf(large, (size_t)need + 1, format, args);
    va_end(args);
    const ganz_status status = ganz_output_write(o, large, (size_t)need, err);
    ganz_free(large);
    return status;
}

ganz_status ganz_output_flush(ganz_output *o, ganz_error *err) { return empty_buffer(o, FLUSH, err); }

bool ganz_output_patchable(const ganz_output *o) { return o->format == PLAIN && o->replaces; }

ganz_status ganz_output_patch(ganz_output *o, uint64_t offset, const void *data, size_t bytes, ganz_error *err)
{
    GANZ_ASSERT(ganz_output_patchable(o) && offset + bytes <= o->bytes);
    GANZ_TRY(empty_buffer(o, GO_ON, err));
    const unsigned char *from = data;
    while (bytes > 0) {
        const ssize_t done = pwrite(o->fd, from, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return ganz_fail_errno(err, "write", o->name);
        from += done;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return GANZ_OK;
}

ganz_status ganz_output_read(ganz_output *o, uint64_t offset, void *data, size_t bytes, ganz_error *err)
{
    GANZ_ASSERT(ganz_output_patchable(o));
    GANZ_TRY(empty_buffer(o, GO_ON, err));
    return ganz_file_read(o->fd, o->name, offset, data, bytes, err);
}

ganz_status ganz_output_contents(ganz_output *o, ganz_contents *contents, ganz_error *err)
{
    GANZ_ASSERT(ganz_output_patchable(o));
    *contents = (ganz_contents){0};
    GANZ_TRY(empty_buffer(o, GO_ON, err));
    return ganz_contents_map(contents, o->fd, o->name, err);
}

ganz_status ganz_output_finish(ganz_output **it, ganz_error *err)
{
    ganz_output *const o = *it;
    ganz_status status = empty_buffer(o, END, err);
    if (status == GANZ_OK && o->replaces) status = ganz_replacement_finish(&o->file, o->name, err);
    ganz_output_abandon(it);
    return status;
}

void ganz_output_abandon(ganz_output **it)
{
    ganz_output *const o = *it;
    *it = NULL;
    if (!o) return;
    if (o->format == GZIP) deflateEnd(&o->gz);
    if (PACKS_ALL && o->format == XZ) lzma_end(&o->xz);
    if (PACKS_ALL) ZSTD_freeCStream(o->zstd);
    if (!o->replaces && o->fd > STDERR_FILENO) close(o->fd);
    ganz_replacement_close(&o->file);
    ganz_free(o->name);
    ganz_free(o);
}
