/* Joining parts: every proof is read and every file compared with its proof before the first byte is written. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "bulk/bulk.h"

enum { BLOCK = 1 << 16 };

/* ---- how many parts there are ------------------------------------------------------------------- */

/* The COUNT of a name NAME.part-NUMBER-of-COUNT.proof, or 0: every one of them is looked for. */
static long long count_in(const char *entry, const char *name)
{
    const size_t bytes = strlen(name);
    long long number, count;
    int end = 0;
    if (strncmp(entry, name, bytes) != 0) return 0;
    if (sscanf(entry + bytes, ".part-%lld-of-%lld.proof%n", &number, &count, &end) != 2 || end == 0) return 0;
    const bool whole = entry[bytes + (size_t)end] == '\0' && number >= 1;
    return whole && count >= number && count <= GANZ_BULK_PARTS ? count : 0;
}

static ganz_status find_count(const char *stem, long long *count, ganz_error *err)
{
    char folder[GANZ_BULK_PATH];
    const char *const slash = strrchr(stem, '/');
    const size_t bytes = slash ? (size_t)(slash - stem) + 1 : 0;
    if (bytes >= sizeof folder) return ganz_fail(err, GANZ_ELIMIT, "the name %s is too long", stem);
    memcpy(folder, stem, bytes);
    folder[bytes] = '\0';
    DIR *const entries = opendir(bytes ? folder : ".");
    if (!entries) return ganz_fail_errno(err, "open", bytes ? folder : ".");
    *count = 0;
    bool several = false;
    for (const struct dirent *e; (e = readdir(entries));) {
        const long long found = count_in(e->d_name, slash ? slash + 1 : stem);
        several |= found && *count && found != *count;
        if (found) *count = found;
    }
    closedir(entries);
    if (several) return ganz_fail(err, GANZ_EFORMAT, "%s has parts of several cuts: remove the old ones", stem);
    return *count ? GANZ_OK : ganz_fail(err, GANZ_EIO, "%s has no parts with proofs", stem);
}

/* ---- what is missing ---------------------------------------------------------------------------- */

/* Adds a part to the list of those that are missing, as ranges. */
typedef struct gaps {
    ganz_join_result *result;
    long long first, last; /* of the range that grows; 0: none */
} gaps;

static void end_range(gaps *g)
{
    char *const list = g->result->missing_list;
    const size_t have = strlen(list), room = sizeof g->result->missing_list;
    if (g->first == 0) return;
    char range[64];
    if (g->first == g->last) snprintf(range, sizeof range, "%s%lld", have ? ", " : "", g->first);
    else snprintf(range, sizeof range, "%s%lld-%lld", have ? ", " : "", g->first, g->last);
    if (have + strlen(range) + 6 < room) memcpy(list + have, range, strlen(range) + 1);
    else if (have < 4 || strcmp(list + have - 3, "...") != 0) snprintf(list + have, room - have, ", ...");
    g->first = 0;
}

static void miss(gaps *g, long long number)
{
    g->result->missing++;
    if (g->first && g->last + 1 == number) {
        g->last = number;
        return;
    }
    end_range(g);
    g->first = g->last = number;
}

/* ---- proofs that fit together ------------------------------------------------------------------- */

static ganz_status compare_input(const ganz_proof *p, const char *input, ganz_error *err)
{
    unsigned long long sum, lines;
    uint64_t bytes;
    if (!input) return GANZ_OK;
    GANZ_TRY(ganz_bulk_bytes(input, &bytes, err));
    if (bytes != p->part.input_bytes)
        return ganz_fail(err, GANZ_EFORMAT, "%s has %llu bytes, its parts are of a file of %llu", input,
                         (unsigned long long)bytes, p->part.input_bytes);
    GANZ_TRY(ganz_bulk_sum(input, p->part.begin, p->part.end, &sum, &lines, err));
    if (sum == p->input_sum && lines == p->lines) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s is not what part %lld was made from", input, p->part.number);
}

static ganz_status fits(const ganz_proof *p, const ganz_proof *first, const char *stem, ganz_error *err)
{
    if (p->origin != first->origin)
        return ganz_fail(err, GANZ_EFORMAT, "parts %lld and %lld of %s were made by different models or options",
                         first->part.number, p->part.number, stem);
    if (p->part.input_bytes != first->part.input_bytes)
        return ganz_fail(err, GANZ_EFORMAT, "parts %lld and %lld of %s are of different inputs", first->part.number,
                         p->part.number, stem);
    return GANZ_OK;
}

/* Reads and compares the proof of one part; *found: it is there and holds. */
static ganz_status check_part(const char *stem, const char *input, ganz_proof *p, bool *found, ganz_error *err)
{
    char path[GANZ_BULK_PATH];
    const ganz_part wanted = p->part;
    GANZ_TRY(ganz_part_name(&wanted, stem, ".proof", path, sizeof path, err));
    GANZ_TRY(ganz_proof_read(p, path, found, err));
    if (!*found) return GANZ_OK;
    if (p->part.number != wanted.number || p->part.count != wanted.count)
        return ganz_fail(err, GANZ_EFORMAT, "%s is about part %lld of %lld", path, p->part.number, p->part.count);
    GANZ_TRY(ganz_part_name(&wanted, stem, "", path, sizeof path, err));
    GANZ_TRY(ganz_proof_holds(p, path, found, err));
    return *found ? compare_input(p, input, err) : GANZ_OK;
}

static ganz_status check_all(const char *stem, const char *input, long long count, ganz_join_result *r, ganz_error *err)
{
    gaps g = {.result = r};
    ganz_proof first = {0};
    unsigned long long end = 0;
    bool any = false;
    for (long long i = 1; i <= count; i++) {
        ganz_proof p = {.part = {.number = i, .count = count}};
        bool found;
        GANZ_TRY(check_part(stem, input, &p, &found, err));
        if (!found) {
            miss(&g, i);
            continue;
        }
        if (!any) first = p;
        any = true;
        GANZ_TRY(fits(&p, &first, stem, err));
        if (r->missing == 0 && p.part.begin != end)
            return ganz_fail(err, GANZ_EFORMAT, "part %lld of %s does not begin where part %lld ends", i, stem, i - 1);
        end = p.part.end;
        r->lines += (long long)p.lines;
    }
    end_range(&g);
    if (r->missing == 0 && end != first.part.input_bytes)
        return ganz_fail(err, GANZ_EFORMAT, "the parts of %s do not reach the end of their input", stem);
    return GANZ_OK;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static ganz_status copy_open(int file, const char *path, ganz_output *out, ganz_join_result *r, ganz_error *err)
{
    char block[BLOCK];
    uint64_t all = 0;
    GANZ_TRY(ganz_file_size(file, path, &all, err));
    for (uint64_t at = 0; at < all;) {
        const size_t bytes = all - at < sizeof block ? (size_t)(all - at) : sizeof block;
        GANZ_TRY(ganz_file_read(file, path, at, block, bytes, err));
        GANZ_TRY(ganz_output_write(out, block, bytes, err));
        at += bytes;
    }
    r->bytes += all;
    return GANZ_OK;
}

static ganz_status copy_part(const ganz_part *part, const char *stem, ganz_output *out, ganz_join_result *r,
                             ganz_error *err)
{
    char path[GANZ_BULK_PATH];
    int file;
    GANZ_TRY(ganz_part_name(part, stem, "", path, sizeof path, err));
    GANZ_TRY(ganz_file_open(&file, path, err));
    const ganz_status status = copy_open(file, path, out, r, err);
    ganz_file_close(&file);
    return status;
}

static ganz_status write_all(const char *stem, const char *path, ganz_join_result *r, ganz_error *err)
{
    ganz_output *out;
    GANZ_TRY(ganz_output_open(&out, path, err));
    ganz_status status = GANZ_OK;
    for (long long i = 1; i <= r->parts && status == GANZ_OK; i++)
        status = copy_part(&(ganz_part){.number = i, .count = r->parts}, stem, out, r, err);
    if (status == GANZ_OK) return ganz_output_finish(&out, err);
    ganz_output_abandon(&out);
    return status;
}

ganz_status ganz_parts_join(const char *stem, const char *input, const char *out, ganz_join_result *result,
                            ganz_error *err)
{
    *result = (ganz_join_result){0};
    GANZ_TRY(find_count(stem, &result->parts, err));
    GANZ_TRY(check_all(stem, input, result->parts, result, err));
    return result->missing > 0 ? GANZ_OK : write_all(stem, out, result, err);
}
