/* Suffixes are sorted by multikey quicksort, character after character. */
#include "text/suffixes.h"

#include "text/tokenizer.h"

/* ---- sorting ------------------------------------------------------------------------------------ */

typedef struct slice {
    size_t begin, end;
    int depth;
} slice;

static uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Three parts by the character at this depth: less, equal, greater. */
static void part(const ganz_suffixes *s, slice all, slice parts[3])
{
    uint32_t *const order = s->order;
    const uint32_t *const at = s->characters + all.depth;
    const size_t middle = all.begin + (all.end - all.begin) / 2;
    const uint32_t pivot = median(at[order[all.begin]], at[order[middle]], at[order[all.end - 1]]);
    size_t low = all.begin, i = all.begin, high = all.end;
    while (i < high) {
        const uint32_t position = order[i];
        const uint32_t character = at[position];
        if (character < pivot) {
            order[i++] = order[low];
            order[low++] = position;
        } else if (character > pivot) {
            order[i] = order[--high];
            order[high] = position;
        } else {
            i++;
        }
    }
    parts[0] = (slice){all.begin, low, all.depth};
    /* Suffixes that end here are equal in all that follows. */
    parts[1] = pivot == 0 ? (slice){low, low, 0} : (slice){low, high, all.depth + 1};
    parts[2] = (slice){high, all.end, all.depth};
}

/* Three-way quicksort, one character at a time. Goes on with the largest part, so that the recursion is at
 * most log2(size) deep. */
static void sort(const ganz_suffixes *s, slice all)
{
    while (all.end - all.begin > 1 && all.depth < s->max_depth) {
        slice parts[3];
        part(s, all, parts);
        int largest = 0;
        for (int i = 1; i < 3; i++)
            if (parts[i].end - parts[i].begin > parts[largest].end - parts[largest].begin) largest = i;
        for (int i = 0; i < 3; i++)
            if (i != largest) sort(s, parts[i]);
        all = parts[largest];
    }
}

/* ---- filling ------------------------------------------------------------------------------------ */

static ganz_status no_memory(ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "out of memory to learn a vocabulary");
}

/* Every character of a token is in the alphabet while learning: only backslash, underscore and newline change. */
static ganz_status fill_characters(ganz_suffixes *s, const ganz_counts *counts, ganz_error *err)
{
    ganz_text escaped = {0};
    size_t capacity = 0;
    bool good = true;
    ganz_alphabet *const everything = ganz_alloc(1, sizeof *everything);
    if (!everything) return no_memory(err);
    memset(everything, 0xFF, sizeof *everything);
    for (size_t t = 0; good && t < counts->size; t++) {
        escaped.bytes = 0;
        good = ganz_escape(&escaped, counts->text.text + counts->all[t].begin, counts->all[t].bytes, everything) &&
               ganz_text_append(&escaped, "_", 1) &&
               ganz_grow((void **)&s->characters, &capacity, s->length + escaped.bytes + 1, sizeof *s->characters);
        for (size_t at = 0; good && at < escaped.bytes;) {
            int32_t code;
            at += ganz_next_character(escaped.text + at, &code);
            s->characters[s->length++] = (uint32_t)code + 1;
        }
        if (good) s->characters[s->length++] = 0;
        s->repeats[t] = counts->all[t].count;
    }
    ganz_text_free(&escaped);
    ganz_free(everything);
    if (!good) return no_memory(err);
    if (s->length > UINT32_MAX)
        return ganz_fail(err, GANZ_ELIMIT, "more than 4 billion characters of different tokens");
    s->size = s->length - counts->size;
    return GANZ_OK;
}

static ganz_status sort_and_count(ganz_suffixes *s, ganz_error *err)
{
    uint32_t *const token_of = ganz_alloc(s->length, sizeof *token_of);
    s->order = ganz_alloc(s->size, sizeof *s->order);
    s->before = ganz_alloc(s->size + 1, sizeof *s->before);
    if (!token_of || !s->order || !s->before) {
        ganz_free(token_of);
        return no_memory(err);
    }
    uint32_t token = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->length; i++) {
        token_of[i] = token;
        if (s->characters[i] == 0) token++;
        else s->order[n++] = (uint32_t)i;
    }
    sort(s, (slice){0, s->size, 0});
    for (size_t i = 0; i < s->size; i++) s->before[i + 1] = s->before[i] + s->repeats[token_of[s->order[i]]];
    ganz_free(token_of);
    return GANZ_OK;
}

ganz_status ganz_suffixes_open(ganz_suffixes *s, const ganz_counts *counts, int max_depth, ganz_error *err)
{
    *s = (ganz_suffixes){.max_depth = max_depth};
    s->repeats = ganz_alloc(counts->size, sizeof *s->repeats);
    ganz_status status = s->repeats ? fill_characters(s, counts, err) : no_memory(err);
    if (status == GANZ_OK) status = sort_and_count(s, err);
    if (status != GANZ_OK) ganz_suffixes_close(s);
    return status;
}

void ganz_suffixes_close(ganz_suffixes *s)
{
    ganz_free(s->characters);
    ganz_free(s->order);
    ganz_free(s->before);
    ganz_free(s->repeats);
    *s = (ganz_suffixes){0};
}
