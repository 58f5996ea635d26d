/* Lines of plain, gzip, xz and zstd text through one loop: a source fills a buffer, the loop cuts at "\n". */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"

enum { RAW_BYTES = 1 << 16, MAX_LINE = 64 << 20 };

typedef enum { PLAIN, GZIP, XZ, ZSTD } format;

struct ganz_lines {
    char *name;
    int fd;
    format format;
    bool raw_ended; /* read() gave 0 */
    bool whole;     /* the compressed stream ended where it should, so far */
    unsigned char raw[RAW_BYTES];
    size_t raw_at, raw_bytes;
    unsigned long long raw_read; /* bytes of the file so far */
    unsigned long long raw_most; /* so many and no more; 0: all */
    z_stream gz;
    lzma_stream xz;
    ZSTD_DStream *zstd;
    char *text; /* decoded bytes [at, end) */
    size_t capacity, at, end, scanned;
    bool ended;
    bool cut; /* the line last returned had a newline behind it */
    long long number;
};

static ganz_status fill_raw(ganz_lines *l, ganz_error *err)
{
    if (l->raw_at > 0) {
        memmove(l->raw, l->raw + l->raw_at, l->raw_bytes - l->raw_at);
        l->raw_bytes -= l->raw_at;
        l->raw_at = 0;
    }
    while (!l->raw_ended && l->raw_bytes < RAW_BYTES) {
        size_t room = RAW_BYTES - l->raw_bytes;
        if (l->raw_most > 0 && l->raw_most - l->raw_read < room) room = (size_t)(l->raw_most - l->raw_read);
        const ssize_t got = read(l->fd, l->raw + l->raw_bytes, room);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ganz_fail_errno(err, "read", l->name);
        if (got == 0) l->raw_ended = true;
        l->raw_bytes += (size_t)got;
        l->raw_read += (size_t)got;
        if (got > 0) break; /* a pipe may have no more for now */
    }
    return GANZ_OK;
}

static ganz_status damaged(const ganz_lines *l, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s: compressed data is damaged", l->name);
}

/* Each decoder turns some raw bytes into some of out[0..room) and says how many it made. */
static ganz_status decode_plain(ganz_lines *l, char *out, size_t room, size_t *made)
{
    const size_t have = l->raw_bytes - l->raw_at;
    *made = have < room ? have : room;
    memcpy(out, l->raw + l->raw_at, *made);
    l->raw_at += *made;
    return GANZ_OK;
}

static ganz_status decode_gzip(ganz_lines *l, char *out, size_t room, size_t *made, ganz_error *err)
{
    if (l->whole && l->raw_at < l->raw_bytes) {
        if (inflateReset(&l->gz) != Z_OK) return damaged(l, err); /* next member */
        l->whole = false;
    }
    l->gz.next_in = l->raw + l->raw_at;
    l->gz.avail_in = (uInt)(l->raw_bytes - l->raw_at);
    l->gz.next_out = (Bytef *)out;
    l->gz.avail_out = (uInt)room;
    const int result = inflate(&l->gz, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return damaged(l, err);
    l->whole = result == Z_STREAM_END;
    l->raw_at = l->raw_bytes - l->gz.avail_in;
    *made = room - l->gz.avail_out;
    return GANZ_OK;
}

static ganz_status decode_xz(ganz_lines *l, char *out, size_t room, size_t *made, ganz_error *err)
{
    l->xz.next_in = l->raw + l->raw_at;
    l->xz.avail_in = l->raw_bytes - l->raw_at;
    l->xz.next_out = (uint8_t *)out;
    l->xz.avail_out = room;
    const lzma_ret result = lzma_code(&l->xz, l->raw_ended ? LZMA_FINISH : LZMA_RUN);
    if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR) return damaged(l, err);
    l->whole = result == LZMA_STREAM_END;
    l->raw_at = l->raw_bytes - l->xz.avail_in;
    *made = room - l->xz.avail_out;
    return GANZ_OK;
}

static ganz_status decode_zstd(ganz_lines *l, char *out, size_t room, size_t *made, ganz_error *err)
{
    ZSTD_inBuffer in = {l->raw + l->raw_at, l->raw_bytes - l->raw_at, 0};
    ZSTD_outBuffer to = {out, room, 0};
    if (in.size > 0 || !l->whole) {
        const size_t result = ZSTD_decompressStream(l->zstd, &to, &in);
        if (ZSTD_isError(result)) return damaged(l, err);
        l->whole = result == 0;
    }
    l->raw_at += in.pos;
    *made = to.pos;
    return GANZ_OK;
}

static ganz_status decode(ganz_lines *l, char *out, size_t room, size_t *made, ganz_error *err)
{
    switch (l->format) {
    case GZIP: return decode_gzip(l, out, room, made, err);
    case XZ: return decode_xz(l, out, room, made, err);
    case ZSTD: return decode_zstd(l, out, room, made, err);
    default: return decode_plain(l, out, room, made);
    }
}

/* The format by its first bytes. *open: so few bytes are there that it may still be another. */
static format sniff(const unsigned char *raw, size_t bytes, bool *open)
{
    static const struct {
        format format;
        size_t bytes;
        const char *magic;
    } known[] = {{GZIP, 2, "\x1F\x8B"}, {XZ, 6, "\3757zXZ\0"}, {ZSTD, 4, "\x28\xB5\x2F\xFD"}};
    *open = false;
    for (size_t i = 0; i < GANZ_COUNT(known); i++) {
        const bool whole = bytes >= known[i].bytes;
        if (memcmp(raw, known[i].magic, whole ? known[i].bytes : bytes) != 0) continue;
        if (whole) return known[i].format;
        *open = true;
    }
    return PLAIN;
}

static ganz_status start_decoder(ganz_lines *l, ganz_error *err)
{
    bool ready = true, open = true;
    while (open && !l->raw_ended) {
        GANZ_TRY(fill_raw(l, err));
        l->format = sniff(l->raw, l->raw_bytes, &open);
    }
    l->whole = l->format == PLAIN;
    if (l->format == GZIP) ready = inflateInit2(&l->gz, 15 + 16) == Z_OK;
    if (l->format == XZ) ready = lzma_stream_decoder(&l->xz, UINT64_C(1) << 30, LZMA_CONCATENATED) == LZMA_OK;
    if (l->format == ZSTD) {
        l->zstd = ZSTD_createDStream();
        ready = l->zstd && !ZSTD_isError(ZSTD_initDStream(l->zstd));
    }
    return ready ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory to decompress", l->name);
}

ganz_status ganz_lines_open(ganz_lines **out, const char *path, ganz_error *err)
{
    *out = NULL;
    const bool is_stdin = strcmp(path, "-") == 0;
    ganz_lines *l = ganz_alloc(1, sizeof *l);
    if (!l) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    l->fd = -1;
    l->xz = (lzma_stream)LZMA_STREAM_INIT;
    l->name = ganz_strdup(is_stdin ? "standard input" : path);
    ganz_status status = GANZ_OK;
    struct stat info;
    if (!l->name) {
        status = ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    } else {
        l->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
        if (l->fd < 0) status = ganz_fail_errno(err, "open", path);
        else if (fstat(l->fd, &info) == 0 && S_ISDIR(info.st_mode))
            status = ganz_fail(err, GANZ_EIO, "cannot read %s: it is a folder", l->name);
        else status = start_decoder(l, err);
    }
    if (status != GANZ_OK) ganz_lines_close(&l);
    *out = l;
    return status;
}

ganz_status ganz_lines_open_range(ganz_lines **out, const char *path, unsigned long long begin, unsigned long long end,
                                  ganz_error *err)
{
    if (begin == end) return ganz_lines_open_text(out, "", 0, path, err);
    *out = NULL;
    ganz_lines *l = ganz_alloc(1, sizeof *l);
    if (!l) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    l->xz = (lzma_stream)LZMA_STREAM_INIT;
    l->whole = true;
    l->raw_most = end - begin;
    l->fd = open(path, O_RDONLY | O_CLOEXEC);
    l->name = ganz_strdup(path);
    ganz_status status = GANZ_OK;
    if (l->fd < 0 || lseek(l->fd, (off_t)begin, SEEK_SET) < 0) status = ganz_fail_errno(err, "open", path);
    else if (!l->name) status = ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", path);
    if (status != GANZ_OK) ganz_lines_close(&l);
    *out = l;
    return status;
}

ganz_status ganz_lines_open_text(ganz_lines **out, const char *text, size_t bytes, const char *name, ganz_error *err)
{
    *out = NULL;
    ganz_lines *l = ganz_alloc(1, sizeof *l);
    if (!l) return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
    l->fd = -1;
    l->ended = l->raw_ended = l->whole = true;
    l->raw_read = bytes;
    l->name = ganz_strdup(name);
    const bool good = l->name && ganz_grow((void **)&l->text, &l->capacity, bytes, 1);
    if (good && bytes > 0) memcpy(l->text, text, bytes);
    if (good) l->end = bytes;
    else ganz_lines_close(&l);
    *out = l;
    return good ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
}

void ganz_lines_close(ganz_lines **it)
{
    ganz_lines *const l = *it;
    *it = NULL;
    if (!l) return;
    if (l->format == GZIP) inflateEnd(&l->gz);
    if (l->format == XZ) lzma_end(&l->xz);
    ZSTD_freeDStream(l->zstd);
    if (l->fd > STDERR_FILENO) close(l->fd);
    ganz_free(l->text);
    ganz_free(l->name);
    ganz_free(l);
}

/* Adds decoded bytes behind `end`, or sets `ended`. */
static ganz_status fill_text(ganz_lines *l, ganz_error *err)
{
    if (l->at > 0) {
        memmove(l->text, l->text + l->at, l->end - l->at);
        l->end -= l->at;
        l->scanned -= l->at;
        l->at = 0;
    }
    if (l->end >= MAX_LINE)
        return ganz_fail(err, GANZ_ELIMIT, "%s:%lld: line longer than 64 MiB", l->name, l->number + 1);
    if (!ganz_grow((void **)&l->text, &l->capacity, l->end + RAW_BYTES, 1))
        return ganz_fail(err, GANZ_ENOMEM, "%s:%lld: out of memory for a line", l->name, l->number + 1);
    for (;;) {
        size_t made = 0;
        GANZ_TRY(decode(l, l->text + l->end, l->capacity - l->end, &made, err));
        l->end += made;
        if (made > 0) return GANZ_OK;
        if (l->raw_ended && l->raw_at == l->raw_bytes) break;
        if (l->raw_ended && l->format != PLAIN && l->raw_bytes - l->raw_at == RAW_BYTES) return damaged(l, err);
        const size_t before = l->raw_bytes - l->raw_at;
        const bool was_ended = l->raw_ended;
        GANZ_TRY(fill_raw(l, err));
        if (was_ended && l->raw_bytes - l->raw_at == before) return damaged(l, err); /* no progress */
    }
    if (!l->whole) return ganz_fail(err, GANZ_EFORMAT, "%s: compressed data ends too early", l->name);
    l->ended = true;
    return GANZ_OK;
}

ganz_status ganz_lines_next(ganz_lines *l, const char **text, size_t *bytes, ganz_error *err)
{
    for (;;) {
        const char *const from = l->text ? l->text + l->scanned : NULL;
        const char *const newline = l->end > l->scanned ? memchr(from, '\n', l->end - l->scanned) : NULL;
        if (newline || (l->ended && l->at < l->end)) {
            const size_t stop = newline ? (size_t)(newline - l->text) : l->end;
            *text = l->text + l->at;
            *bytes = stop - l->at;
            l->at = l->scanned = newline ? stop + 1 : stop;
            l->cut = newline != NULL;
            l->number++;
            return GANZ_OK;
        }
        if (l->ended) break;
        l->scanned = l->end;
        GANZ_TRY(fill_text(l, err));
    }
    *text = NULL;
    *bytes = 0;
    return GANZ_OK;
}

bool ganz_lines_ready(const ganz_lines *l)
{
    if (l->ended || l->raw_ended || l->raw_at < l->raw_bytes) return true;
    if (l->end > l->scanned && memchr(l->text + l->scanned, '\n', l->end - l->scanned)) return true;
    struct pollfd input = {.fd = l->fd, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

unsigned long long ganz_lines_position(const ganz_lines *l)
{
    const size_t decoded = l->format == PLAIN ? l->end - l->at : 0;
    return l->raw_read - (l->raw_bytes - l->raw_at) - decoded;
}

long long ganz_lines_number(const ganz_lines *l) { return l->number; }
bool ganz_lines_whole(const ganz_lines *l) { return l->cut; }
const char *ganz_lines_name(const ganz_lines *l) { return l->name; }

ganz_status ganz_text_file_bytes(const char *path, unsigned long long *bytes, ganz_error *err)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return ganz_fail(err, GANZ_EINVAL, "%s has no size", strcmp(path, "-") == 0 ? "standard input" : path);
    ganz_lines *l;
    ganz_status status;
    GANZ_TRY(ganz_lines_open(&l, path, err));
    *bytes = 0;
    if (l->format == PLAIN) {
        status = fstat(l->fd, &info) == 0 ? GANZ_OK : ganz_fail_errno(err, "read", path);
        if (status == GANZ_OK) *bytes = (unsigned long long)info.st_size;
    } else {
        do {
            status = fill_text(l, err);
            *bytes += l->end;
            l->end = 0;
        } while (status == GANZ_OK && !l->ended);
    }
    ganz_lines_close(&l);
    return status;
}
