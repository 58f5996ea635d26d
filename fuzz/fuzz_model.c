/* Any bytes as a model: it is refused with a sentence, or it translates.
 *
 * The first byte decides. 255: the rest is a file. Else the rest is a script for making one: a configuration, changes
 * to a sound file (numbers, shapes, types, names, metadata), then bytes that become its numbers and the text to
 * translate. So the search meets networks of every value that a file can hold, not only headers. None of these files
 * has checksums, which would refuse every change. */
#include <stdio.h>
#include <string.h>

#include "../tests/model_parts.h"
#include "base/io.h"
#include "fuzz.h"
#include "model/model.h"

enum { WHOLE_FILE = 255, MOST_TEXT = 24, MOST_BEAM = 3, MOST_KEPT = 256, MOST_CONFIGURATIONS = 512 };

typedef struct script {
    const uint8_t *at, *end;
} script;

static unsigned take(script *s) { return s->at < s->end ? *s->at++ : 0; }
static unsigned take16(script *s)
{
    const unsigned low = take(s);
    return low | take(s) << 8;
}

/* ---- making a file ------------------------------------------------------------------------------ */

static const char vocabulary[] =
    "'<pad>_'\n'<EOS>_'\n'pad_'\n'\\'\n'_'\n'u'\n';'\n'0'\n'1'\n'2'\n'3'\n'4'\n'5'\n'6'\n'7'\n'8'\n'9'\n"
    "'<'\n'>'\n'p'\n'a'\n'd'\n'E'\n'O'\n'S'\n";
enum { ENTRIES = 25 };

/* Small numbers from the bytes in turn; scales and gains of norms positive. */
static void fill(model_parts *m, const script *s, int bits)
{
    const size_t count = (size_t)(s->end - s->at);
    const int most = bits ? (1 << (bits - 1)) - 1 : 127;
    size_t next = 0;
    for (int i = 0; i < m->count; i++) {
        part *const p = &m->list[i];
        if (strcmp(p->name, "vocabulary") == 0) continue;
        const bool is_float = strcmp(p->dtype, "F32") == 0;
        const bool positive = strstr(p->name, ".step") || strstr(p->name, ".scale");
        for (size_t k = 0; k < p->bytes / (is_float ? 4 : 1); k++) {
            const int byte = count ? (int8_t)s->at[next++ % count] : 0;
            const float value = positive ? (float)((byte & 127) + 1) / 64 : (float)byte / 32;
            if (is_float) memcpy(p->data + 4 * k, &value, 4);
            else p->data[k] = (unsigned char)(byte % (most + 1));
        }
    }
}

static void change_shape(part *p, script *s)
{
    const unsigned how = take(s);
    const unsigned dim = how % 2 && p->rank > 1;
    const int64_t other = how & 2 ? (int64_t)((uint64_t)1 << (take(s) & 63)) : (int64_t)take(s);
    if (how & 4) p->rank = 1 + (int)(how >> 3 & 1);
    else if (p->rank > 0) p->dims[dim] = other;
}

static void change_metadata(model_parts *m, script *s)
{
    const unsigned which = take(s);
    char value[8] = "";
    for (unsigned i = 0, n = take(s) % sizeof value; i < n; i++) value[i] = (char)(take(s) & 127);
    if (m->metadata_count == 0) return;
    char key[sizeof m->metadata[0].key];
    memcpy(key, m->metadata[which % (unsigned)m->metadata_count].key, sizeof key);
    parts_set(m, key, which & 128 ? NULL : value);
}

static void change(model_parts *m, script *s)
{
    static const char *const dtypes[] = {"F32", "I8", "U8", "F16", "I32", "F64", "X", ""};
    enum { NUMBER, TINY, SHAPE, DTYPE, DROP, NAME, METADATA, SAME } const what = take(s) % 8;
    if (what == METADATA || m->count == 0) {
        change_metadata(m, s);
        return;
    }
    part *const p = &m->list[take(s) % (unsigned)m->count];
    const size_t place = take16(s);
    if (what == NUMBER && p->bytes >= 4)
        for (size_t i = 0; i < 4; i++) p->data[place % (p->bytes / 4) * 4 + i] = (unsigned char)take(s);
    if (what == TINY && p->bytes > 0) p->data[place % p->bytes] = (unsigned char)take(s);
    if (what == SHAPE) change_shape(p, s);
    if (what == DTYPE) snprintf(p->dtype, sizeof p->dtype, "%s", dtypes[place % GANZ_COUNT(dtypes)]);
    if (what == NAME) p->name[place % (strlen(p->name) + 1)] ^= (char)(1 + take(s) % 127);
    if (what == SAME) snprintf(p->name, sizeof p->name, "%s", m->list[place % (size_t)m->count].name);
    if (what == DROP) parts_drop(m, p);
}

/* Widths of codes, by the first byte. */
static void make_widths(model_parts *m, unsigned kind, int bits)
{
    if (kind & 8) parts_set_int(m, bits ? "input_bits" : "dynamic_bits", 2 + (int)(kind >> 4) % 7);
    if (bits && kind & 64) parts_set_int(m, "attention_bits", 2 + (int)(kind >> 4) % 7);
    if (bits && kind & 128) parts_set(m, "attention", "float");
}

/* Switches of a network, by one byte. */
static void make_kind(ganz_config *c, unsigned bits)
{
    c->activation = (ganz_activation)(GANZ_ACTIVATION_RELU + (bits & 3));
    c->q_bias = c->o_bias = bits & 4;
    c->k_bias = c->v_bias = bits & 8;
    c->own_output = bits & 16;
    c->logits_bias = bits & 32;
    c->start_vector = bits & 64;
    c->no_target_space = bits & 128;
    c->source_vocab = bits & 8 ? c->vocab : 0;
}

/* Sound parts. Making them takes longer than reading them: those of configurations that come again are kept. */
static void make_parts(model_parts *m, const ganz_config *c, int bits)
{
    static struct {
        ganz_config config;
        int bits;
        model_parts parts;
    } kept[MOST_CONFIGURATIONS];
    const uint64_t sum = ganz_checksum(c, sizeof *c) + (uint64_t)bits;
    const size_t at = (size_t)(sum % MOST_CONFIGURATIONS);
    if (kept[at].parts.count == 0 || kept[at].bits != bits || memcmp(&kept[at].config, c, sizeof *c) != 0) {
        parts_free(&kept[at].parts);
        parts_make(&kept[at].parts, c, bits, vocabulary);
        memcpy(&kept[at].config, c, sizeof *c);
        kept[at].bits = bits;
    }
    parts_copy(m, &kept[at].parts);
}

static uint8_t *make_file(script *s, unsigned kind, size_t *bytes)
{
    static const int widths[] = {0, 8, 8, 6, 7, 4, 2, 0};
    ganz_config c;
    memset(&c, 0, sizeof c); /* padding too: configurations are compared as bytes */
    c.vocab = ENTRIES;
    c.max_positions = 16;
    c.heads = 1 << take(s) % 3;
    c.width = c.heads * 2 * (1 + (int)take(s) % 5);
    c.ffn = 1 + (int)take(s) % 20;
    const unsigned layers = take(s);
    c.encoder_layers = 1 + (int)((layers & 7) / 7);
    c.decoder_layers = 1 + (int)((layers >> 3 & 7) / 7);
    c.norm = layers >> 6 & 1 ? GANZ_NORM_POST : GANZ_NORM_PRE;
    if (layers >> 7 & 1) make_kind(&c, take(s));
    const unsigned changes = take(s) % 8;
    script edits = *s;
    for (unsigned i = 0; i < 8 * changes; i++) take(s);
    model_parts m;
    const int bits = widths[kind % GANZ_COUNT(widths)];
    make_parts(&m, &c, bits);
    make_widths(&m, kind, bits);
    fill(&m, s, bits);
    for (unsigned i = 0; i < changes; i++) {
        script one = {edits.at, edits.end - edits.at > 8 ? edits.at + 8 : edits.end};
        edits.at = one.end;
        change(&m, &one);
    }
    size_t header;
    uint8_t *const file = parts_join(&m, bytes, &header);
    parts_free(&m);
    return file;
}

/* ---- using it ----------------------------------------------------------------------------------- */

static void check_result(const ganz_result *r, int n_best)
{
    FUZZ_EXPECT(r->count >= 1 && r->count <= n_best);
    for (int i = 0; i < r->count; i++) {
        const ganz_translation *const t = &r->best[i];
        FUZZ_EXPECT(t->text[t->bytes] == '\0' && ganz_utf8_valid(t->text, t->bytes) &&
                    !memchr(t->text, '\n', t->bytes));
    }
}

/* What the first of some lines became, kept while the translator goes on. */
typedef struct kept {
    char text[MOST_KEPT];
    size_t bytes;
    double score;
} kept;

static int keep(const ganz_result *r, kept *to)
{
    for (int i = 0; i < r->count; i++) {
        to[i] = (kept){.bytes = r->best[i].bytes, .score = r->best[i].score};
        memcpy(to[i].text, r->best[i].text, to[i].bytes < MOST_KEPT ? to[i].bytes : MOST_KEPT);
    }
    return r->count;
}

static bool same(const kept *a, const ganz_translation *b)
{
    return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes < MOST_KEPT ? a->bytes : MOST_KEPT) == 0 &&
           memcmp(&a->score, &b->score, sizeof a->score) == 0;
}

/* A line in company and alone. An integer model says the same, to the last bit, whatever its numbers are. */
static void translate_lines(ganz_translator *t, const ganz_line *lines, int n_best, bool exact)
{
    const ganz_result *results;
    ganz_error err;
    kept first[MOST_BEAM];
    if (ganz_translate(t, lines, 2, &results, &err) != GANZ_OK) return;
    for (int i = 0; i < 2; i++) check_result(&results[i], n_best);
    if (!exact) return;
    const int count = keep(&results[0], first);
    FUZZ_EXPECT(ganz_translate(t, lines, 1, &results, &err) == GANZ_OK);
    FUZZ_EXPECT(results[0].count == count);
    for (int i = 0; i < count; i++) FUZZ_EXPECT(same(&first[i], &results[0].best[i]));
}

/* What the bytes say, as text, and a neighbour. */
static void translate(const ganz_model *model, const uint8_t *data, size_t bytes)
{
    ganz_translator_options o;
    ganz_translator_defaults(&o);
    o.beam = 1 + (int)(bytes % 5 / 2);
    o.n_best = 1 + (int)(bytes / 5 % (size_t)o.beam);
    o.max_length = 3;
    o.batch_tokens = 64; /* small workspaces */
    char text[3 * MOST_TEXT];
    size_t replaced;
    const size_t most = bytes < MOST_TEXT ? bytes : MOST_TEXT;
    const size_t length = ganz_utf8_repair((const char *)data + bytes - most, most, text, &replaced);
    const ganz_line lines[2] = {{.text = text, .bytes = length}, {.text = "pad", .bytes = 3}};
    ganz_translator *t = NULL;
    ganz_error err;
    if (ganz_translator_open(&t, model, &o, &err) == GANZ_OK)
        translate_lines(t, lines, o.n_best, model->info.integer && !model->info.scheme.float_attention);
    ganz_translator_close(&t);
}

/* Translating takes most of the time: one input in 32 does, by chance; a replayed one always. */
static bool translates(const uint8_t *data, size_t size)
{
#ifdef FUZZ_REPLAY
    (void)data, (void)size;
    return true;
#else
    return ganz_checksum(data, size) % 32 == 0;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    script s = {data + 1, data + size};
    uint8_t *file;
    size_t bytes = size - 1;
    if (data[0] == WHOLE_FILE) {
        file = aligned_alloc(64, bytes / 64 * 64 + 64);
        FUZZ_EXPECT(file);
        memcpy(file, data + 1, bytes);
    } else {
        file = make_file(&s, data[0], &bytes);
    }
    ganz_model *model;
    ganz_error err = {0};
    if (ganz_model_parse(&model, file, bytes, "fuzz", &err) != GANZ_OK)
        FUZZ_EXPECT(!model && err.message[0] && !strchr(err.message, '\n'));
    else if (translates(data, size)) translate(model, data, size);
    ganz_model_close(&model);
    free(file);
    return 0;
}
