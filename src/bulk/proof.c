/* Proofs of parts: a text file of a name and a number a line, and the sums that stand in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "bulk/bulk.h"

#define FIRST_LINE "ganz proof 1"
enum { BLOCK = 1 << 16, MOST_BYTES = 1 << 12, FIELDS = 10 };

typedef struct field {
    const char *name;
    unsigned long long value;
} field;

static void list_fields(const ganz_proof *p, field fields[FIELDS])
{
    const field all[FIELDS] = {{"part", (unsigned long long)p->part.number},
                               {"parts", (unsigned long long)p->part.count},
                               {"begin", p->part.begin},
                               {"end", p->part.end},
                               {"input_bytes", p->part.input_bytes},
                               {"origin", p->origin},
                               {"lines", p->lines},
                               {"input_sum", p->input_sum},
                               {"output_bytes", p->output_bytes},
                               {"output_sum", p->output_sum}};
    memcpy(fields, all, sizeof all);
}

static void take_fields(ganz_proof *p, const field fields[FIELDS])
{
    *p = (ganz_proof){.part = {.number = (long long)fields[0].value,
                               .count = (long long)fields[1].value,
                               .begin = fields[2].value,
                               .end = fields[3].value,
                               .input_bytes = fields[4].value},
                      .origin = fields[5].value,
                      .lines = fields[6].value,
                      .input_sum = fields[7].value,
                      .output_bytes = fields[8].value,
                      .output_sum = fields[9].value};
}

ganz_status ganz_proof_write(const ganz_proof *proof, const char *path, ganz_error *err)
{
    field fields[FIELDS];
    ganz_output *out;
    list_fields(proof, fields);
    GANZ_TRY(ganz_output_open(&out, path, err));
    ganz_status status = ganz_output_printf(out, err, "%s\n", FIRST_LINE);
    for (int i = 0; i < FIELDS && status == GANZ_OK; i++)
        status = ganz_output_printf(out, err, "%s %llu\n", fields[i].name, fields[i].value);
    if (status == GANZ_OK) return ganz_output_finish(&out, err);
    ganz_output_abandon(&out);
    return status;
}

/* The number behind "name " at *at, up to the end of its line. */
static bool take_field(const char **at, field *f)
{
    const size_t bytes = strlen(f->name);
    char *end;
    if (strncmp(*at, f->name, bytes) != 0 || (*at)[bytes] != ' ') return false;
    const char *const digits = *at + bytes + 1;
    if (*digits < '0' || *digits > '9') return false;
    errno = 0;
    f->value = strtoull(digits, &end, 10);
    if (errno || *end != '\n') return false;
    *at = end + 1;
    return true;
}

bool ganz_proof_parse(ganz_proof *proof, const char *text)
{
    field fields[FIELDS];
    list_fields(&(ganz_proof){0}, fields);
    if (strncmp(text, FIRST_LINE "\n", sizeof FIRST_LINE) != 0) return false;
    text += sizeof FIRST_LINE;
    for (int i = 0; i < FIELDS; i++)
        if (!take_field(&text, &fields[i])) return false;
    take_fields(proof, fields);
    const ganz_part *const p = &proof->part;
    return *text == '\0' && p->number >= 1 && p->number <= p->count && p->begin <= p->end && p->end <= p->input_bytes;
}

ganz_status ganz_proof_read(ganz_proof *proof, const char *path, bool *found, ganz_error *err)
{
    ganz_contents file;
    *found = false;
    if (access(path, F_OK) != 0 && errno == ENOENT) return GANZ_OK;
    GANZ_TRY(ganz_contents_read(&file, path, err));
    const char *const text = (const char *)file.data; /* a zero follows it */
    *found = text && file.bytes <= MOST_BYTES && strlen(text) == file.bytes && ganz_proof_parse(proof, text);
    ganz_contents_free(&file);
    return GANZ_OK;
}

/* ---- sums --------------------------------------------------------------------------------------- */

static unsigned long long count_newlines(const char *text, size_t bytes)
{
    unsigned long long count = 0;
    for (const char *at = text, *const end = text + bytes; (at = memchr(at, '\n', (size_t)(end - at))); at++) count++;
    return count;
}

/* Sums of blocks, each with the sum so far: what counts is that nothing else gives the same. */
static ganz_status sum_open(int file, const char *path, unsigned long long begin, unsigned long long end,
                            unsigned long long *sum, unsigned long long *lines, ganz_error *err)
{
    char block[BLOCK];
    char last = '\n';
    *sum = *lines = 0;
    for (unsigned long long at = begin; at < end;) {
        const size_t bytes = end - at < sizeof block ? (size_t)(end - at) : sizeof block;
        GANZ_TRY(ganz_file_read(file, path, at, block, bytes, err));
        const uint64_t both[2] = {*sum, ganz_checksum(block, bytes)};
        *sum = ganz_checksum(both, sizeof both);
        *lines += count_newlines(block, bytes);
        last = block[bytes - 1];
        at += bytes;
    }
    *lines += last != '\n';
    return GANZ_OK;
}

ganz_status ganz_bulk_sum(const char *path, unsigned long long begin, unsigned long long end, unsigned long long *sum,
                          unsigned long long *lines, ganz_error *err)
{
    int file;
    GANZ_TRY(ganz_file_open(&file, path, err));
    const ganz_status status = sum_open(file, path, begin, end, sum, lines, err);
    ganz_file_close(&file);
    return status;
}

ganz_status ganz_bulk_bytes(const char *path, uint64_t *bytes, ganz_error *err)
{
    int file;
    GANZ_TRY(ganz_file_open(&file, path, err));
    const ganz_status status = ganz_file_size(file, path, bytes, err);
    ganz_file_close(&file);
    return status;
}

ganz_status ganz_proof_holds(const ganz_proof *proof, const char *path, bool *same, ganz_error *err)
{
    uint64_t bytes;
    unsigned long long sum, lines;
    *same = false;
    if (access(path, F_OK) != 0 && errno == ENOENT) return GANZ_OK;
    GANZ_TRY(ganz_bulk_bytes(path, &bytes, err));
    if (bytes != proof->output_bytes) return GANZ_OK;
    GANZ_TRY(ganz_bulk_sum(path, 0, bytes, &sum, &lines, err));
    *same = sum == proof->output_sum && lines == proof->lines;
    return GANZ_OK;
}

/* ---- parts and their proofs --------------------------------------------------------------------- */

static ganz_status changed(const char *input, ganz_error *err)
{
    return ganz_fail(err, GANZ_EFORMAT, "%s has changed since its parts were cut", input);
}

ganz_status ganz_lines_open_part(ganz_lines **lines, const char *input, const ganz_part *part, ganz_error *err)
{
    uint64_t bytes;
    *lines = NULL;
    GANZ_TRY(ganz_bulk_bytes(input, &bytes, err));
    if (bytes != part->input_bytes) return changed(input, err);
    return ganz_lines_open_range(lines, input, part->begin, part->end, err);
}

ganz_status ganz_part_prove(const ganz_part *part, const char *input, const char *stem, unsigned long long origin,
                            ganz_error *err)
{
    char path[GANZ_BULK_PATH];
    uint64_t bytes;
    unsigned long long lines;
    ganz_proof proof = {.part = *part, .origin = origin};
    GANZ_TRY(ganz_bulk_bytes(input, &bytes, err));
    if (bytes != part->input_bytes) return changed(input, err);
    GANZ_TRY(ganz_bulk_sum(input, part->begin, part->end, &proof.input_sum, &proof.lines, err));
    GANZ_TRY(ganz_part_name(part, stem, "", path, sizeof path, err));
    GANZ_TRY(ganz_bulk_bytes(path, &bytes, err));
    proof.output_bytes = bytes;
    GANZ_TRY(ganz_bulk_sum(path, 0, proof.output_bytes, &proof.output_sum, &lines, err));
    if (lines != proof.lines)
        return ganz_fail(err, GANZ_EFORMAT, "%s has %llu lines for %llu lines of %s", path, lines, proof.lines, input);
    GANZ_TRY(ganz_part_name(part, stem, ".proof", path, sizeof path, err));
    return ganz_proof_write(&proof, path, err);
}

static bool same_part(const ganz_part *a, const ganz_part *b)
{
    return a->number == b->number && a->count == b->count && a->begin == b->begin && a->end == b->end &&
           a->input_bytes == b->input_bytes;
}

/* Whether a proof is about the lines that the input has in its part now. */
static ganz_status same_lines(const ganz_proof *proof, const char *input, bool *same, ganz_error *err)
{
    unsigned long long sum, lines;
    GANZ_TRY(ganz_bulk_sum(input, proof->part.begin, proof->part.end, &sum, &lines, err));
    *same = sum == proof->input_sum && lines == proof->lines;
    return GANZ_OK;
}

ganz_status ganz_part_check(const ganz_part *part, const char *input, const char *stem, unsigned long long origin,
                            bool *done, ganz_error *err)
{
    char path[GANZ_BULK_PATH];
    ganz_proof proof;
    bool same;
    *done = false;
    GANZ_TRY(ganz_part_name(part, stem, ".proof", path, sizeof path, err));
    GANZ_TRY(ganz_proof_read(&proof, path, done, err));
    if (!*done) return GANZ_OK;
    same = same_part(&proof.part, part);
    if (same) GANZ_TRY(same_lines(&proof, input, &same, err));
    if (!same) return ganz_fail(err, GANZ_EFORMAT, "%s is about another input: remove the old parts first", path);
    if (proof.origin != origin)
        return ganz_fail(err, GANZ_EFORMAT, "%s is about another model or other options: remove the old parts first",
                         path);
    GANZ_TRY(ganz_part_name(part, stem, "", path, sizeof path, err));
    return ganz_proof_holds(&proof, path, done, err);
}

ganz_status ganz_part_compare(const ganz_part *part, const char *stem, const char *path, bool *same, ganz_error *err)
{
    char name[GANZ_BULK_PATH];
    ganz_proof proof;
    GANZ_TRY(ganz_part_name(part, stem, ".proof", name, sizeof name, err));
    GANZ_TRY(ganz_proof_read(&proof, name, same, err));
    if (!*same) return ganz_fail(err, GANZ_EFORMAT, "%s is not a proof", name);
    return ganz_proof_holds(&proof, path, same, err);
}
