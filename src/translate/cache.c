/* A cache of translations: one file that only grows. Each record is checked by a sum, so that half of one is told apart
 * from a whole one; what was in the file at the beginning is found through an index of keys and places. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "ganz/document.h"
#include "text/tokenizer.h"
#include "translate/origin.h"

#define MAGIC "ganz cache 1\n\0\0\0"
#define WEAK_BIT UINT32_C(0x80000000) /* of the last number of a link */
enum { MAGIC_BYTES = 16, SUM_BYTES = 8, LINK_BYTES = 16, MOST_TEXT = 1 << 26, MOST_LINKS = 1 << 22 };

/* A record: key, bytes of text, links, score; the text; each link as four numbers; a sum of all of it. */
typedef struct head {
    uint64_t key;
    uint32_t bytes, links;
    double score;
} head;

typedef struct entry {
    uint64_t key, place;
} entry;

struct ganz_cache {
    char *path;
    int file;
    uint64_t bytes; /* of the file when it was opened */
    uint64_t salt;  /* model and options */
    entry *entries;
    size_t count, capacity;
    ganz_text record, unwritten;
    ganz_link *links;
    size_t link_capacity;
};

static ganz_status no_memory(ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for a cache of translations");
}

/* ---- keys --------------------------------------------------------------------------------------- */

static uint64_t key_of(const ganz_cache *c, const ganz_line *line)
{
    return (ganz_checksum(line->text, line->bytes) + (uint64_t)line->formality) * UINT64_C(0x9E3779B97F4A7C15) ^
           c->salt;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static ganz_status failed(const ganz_cache *c, const char *what, ganz_error *err)
{
    return ganz_fail_errno(err, what, c->path);
}

/* Reads bytes at a place; *got may be less at the end of the file. */
static ganz_status read_at(const ganz_cache *c, void *out, size_t bytes, uint64_t place, size_t *got, ganz_error *err)
{
    for (*got = 0; *got < bytes;) {
        const ssize_t n = pread(c->file, (char *)out + *got, bytes - *got, (off_t)(place + *got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(c, "read", err);
        if (n == 0) break;
        *got += (size_t)n;
    }
    return GANZ_OK;
}

/* Reads the record at a place; *whole: it is there and its sum is right. */
static ganz_status read_record(ganz_cache *c, uint64_t place, head *h, bool *whole, ganz_error *err)
{
    size_t got;
    *whole = false;
    GANZ_TRY(read_at(c, h, sizeof *h, place, &got, err));
    if (got < sizeof *h || h->bytes > MOST_TEXT || h->links > MOST_LINKS) return GANZ_OK;
    const size_t body = sizeof *h + h->bytes + (size_t)h->links * LINK_BYTES;
    if (body + SUM_BYTES > c->bytes - place) return GANZ_OK; /* before memory is asked for */
    if (!ganz_grow((void **)&c->record.text, &c->record.capacity, body + SUM_BYTES, 1)) return no_memory(err);
    GANZ_TRY(read_at(c, c->record.text, body + SUM_BYTES, place, &got, err));
    if (got < body + SUM_BYTES) return GANZ_OK;
    c->record.bytes = body;
    const uint64_t sum = ganz_checksum(c->record.text, body);
    *whole = memcmp(c->record.text + body, &sum, SUM_BYTES) == 0;
    return GANZ_OK;
}

static int by_key(const void *left, const void *right)
{
    const entry *const a = left, *const b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static ganz_status read_entries(ganz_cache *c, ganz_error *err)
{
    uint64_t place = MAGIC_BYTES;
    for (;;) {
        head h;
        bool whole;
        GANZ_TRY(read_record(c, place, &h, &whole, err));
        if (!whole) break;
        if (!ganz_grow((void **)&c->entries, &c->capacity, c->count + 1, sizeof *c->entries)) return no_memory(err);
        c->entries[c->count++] = (entry){h.key, place};
        place += c->record.bytes + SUM_BYTES;
    }
    if (c->count > 0) qsort(c->entries, c->count, sizeof *c->entries, by_key);
    if (ftruncate(c->file, (off_t)place) != 0 || lseek(c->file, 0, SEEK_END) < 0) return failed(c, "write", err);
    return GANZ_OK;
}

/* ---- open and close ----------------------------------------------------------------------------- */

static ganz_status write_all(ganz_cache *c, const char *data, size_t bytes, ganz_error *err)
{
    while (bytes > 0) {
        const ssize_t n = write(c->file, data, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(c, "write", err);
        data += n;
        bytes -= (size_t)n;
    }
    return GANZ_OK;
}

static ganz_status open_file(ganz_cache *c, ganz_error *err)
{
    char magic[MAGIC_BYTES];
    size_t got;
    c->file = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (c->file < 0) return failed(c, "open", err);
    struct stat facts;
    if (fstat(c->file, &facts) != 0) return failed(c, "open", err);
    if (!S_ISREG(facts.st_mode)) return ganz_fail(err, GANZ_EINVAL, "%s: not a regular file", c->path);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(c->file, F_SETLK, &lock) != 0)
        return ganz_fail(err, GANZ_EIO, "%s is in use by another process", c->path);
    if (fstat(c->file, &facts) != 0) return failed(c, "open", err); /* again: nobody writes to it any more */
    c->bytes = (uint64_t)facts.st_size;
    GANZ_TRY(read_at(c, magic, sizeof magic, 0, &got, err));
    if (got == 0) return write_all(c, MAGIC, MAGIC_BYTES, err);
    if (got == MAGIC_BYTES && memcmp(magic, MAGIC, MAGIC_BYTES) == 0) return read_entries(c, err);
    return ganz_fail(err, GANZ_EFORMAT, "%s is not a cache of translations", c->path);
}

ganz_status ganz_cache_open(ganz_cache **cache, const char *path, const char *model_path,
                            const ganz_translator_options *options, ganz_error *err)
{
    ganz_cache *c = *cache = ganz_alloc(1, sizeof *c);
    if (!c) return no_memory(err);
    c->file = -1;
    c->path = ganz_strdup(path);
    ganz_status status = c->path ? ganz_origin_of(model_path, options, &c->salt, err) : no_memory(err);
    if (status == GANZ_OK) status = open_file(c, err);
    if (status != GANZ_OK) ganz_cache_close(cache);
    return status;
}

void ganz_cache_close(ganz_cache **cache)
{
    ganz_cache *const c = *cache;
    *cache = NULL;
    if (!c) return;
    if (c->file >= 0) close(c->file);
    ganz_text_free(&c->record);
    ganz_text_free(&c->unwritten);
    ganz_free(c->entries);
    ganz_free(c->links);
    ganz_free(c->path);
    ganz_free(c);
}

/* ---- finding and adding ------------------------------------------------------------------------- */

static ganz_status read_links(ganz_cache *c, const head *h, ganz_error *err)
{
    const char *from = c->record.text + sizeof *h + h->bytes;
    if (!ganz_grow((void **)&c->links, &c->link_capacity, h->links, sizeof *c->links)) return no_memory(err);
    for (uint32_t i = 0; i < h->links; i++, from += LINK_BYTES) {
        uint32_t n[4];
        memcpy(n, from, sizeof n);
        c->links[i] = (ganz_link){n[0], n[1], n[2], n[3] & ~WEAK_BIT, (n[3] & WEAK_BIT) != 0};
    }
    return GANZ_OK;
}

ganz_status ganz_cache_find(ganz_cache *c, const ganz_line *line, ganz_translation *t, ganz_error *err)
{
    const entry wanted = {.key = key_of(c, line)};
    size_t low = 0, high = c->count;
    *t = (ganz_translation){0};
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->entries[middle].key < wanted.key) low = middle + 1;
        else high = middle;
    }
    for (; low < c->count && c->entries[low].key == wanted.key; low++) {
        head h;
        bool whole;
        GANZ_TRY(read_record(c, c->entries[low].place, &h, &whole, err));
        if (!whole || (h.links == 0 && !line->unlinked)) continue; /* links are wanted, and were not then */
        GANZ_TRY(read_links(c, &h, err));
        *t = (ganz_translation){.text = c->record.text + sizeof h,
                                .bytes = h.bytes,
                                .score = h.score,
                                .links = c->links,
                                .link_count = (int)h.links};
        return GANZ_OK;
    }
    return GANZ_OK;
}

static bool add_links(ganz_text *out, const ganz_translation *t)
{
    for (int i = 0; i < t->link_count; i++) {
        const ganz_link *const k = &t->links[i];
        const uint32_t n[4] = {(uint32_t)k->source_begin, (uint32_t)k->source_end, (uint32_t)k->target_begin,
                               (uint32_t)k->target_end | (k->weak ? WEAK_BIT : 0)};
        if (!ganz_text_append(out, (const char *)n, sizeof n)) return false;
    }
    return true;
}

ganz_status ganz_cache_add(ganz_cache *c, const ganz_line *line, const ganz_translation *t, ganz_error *err)
{
    if (t->bytes > MOST_TEXT || t->link_count > MOST_LINKS) return GANZ_OK; /* not worth a refusal */
    const head h = {
        .key = key_of(c, line), .bytes = (uint32_t)t->bytes, .links = (uint32_t)t->link_count, .score = t->score};
    const size_t begin = c->unwritten.bytes;
    bool good = ganz_text_append(&c->unwritten, (const char *)&h, sizeof h) &&
                ganz_text_append(&c->unwritten, t->text, t->bytes) && add_links(&c->unwritten, t);
    const uint64_t sum = good ? ganz_checksum(c->unwritten.text + begin, c->unwritten.bytes - begin) : 0;
    good = good && ganz_text_append(&c->unwritten, (const char *)&sum, sizeof sum);
    if (good) return GANZ_OK;
    c->unwritten.bytes = begin;
    return no_memory(err);
}

ganz_status ganz_cache_flush(ganz_cache *c, ganz_error *err)
{
    GANZ_TRY(write_all(c, c->unwritten.text, c->unwritten.bytes, err));
    c->unwritten.bytes = 0;
    return GANZ_OK;
}
