/* What families share: which formula made a table of positions, special entries, SentencePiece models, licence. */
#include "import/draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/weights.h"

void ganz_draft_close(ganz_draft *d)
{
    ganz_tensors_close(&d->tensors);
    ganz_options_close(&d->options);
    for (int i = 0; i < 2; i++) {
        ganz_words_close(&d->side[i].words);
        ganz_free(d->side[i].order);
    }
    *d = (ganz_draft){0};
}

/* ---- recognising -------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = name ? strlen(name) : 0, m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* A file of the folder by its ending, unless another file was given. */
static const char *only(const ganz_draft *d, const char *ending)
{
    const char *const given = ganz_files_given(d->files);
    if (given) return ends_in(given, ending) ? given : NULL;
    return ganz_files_ending(d->files, ending);
}

/* Inside an archive the model lies in a folder: the one that has model.bin, or else config.json. */
static void enter_folder(ganz_draft *d)
{
    static const char *const marks[] = {"model/model.bin", "/model.bin", "/config.json", ".npz"};
    for (size_t i = 0; i < GANZ_COUNT(marks); i++) {
        const char *const name = ganz_files_ending(d->files, marks[i]);
        if (!name) continue;
        const char *const slash = strrchr(name, '/');
        char folder[256] = "";
        if (slash && (size_t)(slash + 1 - name) < sizeof folder) memcpy(folder, name, (size_t)(slash + 1 - name));
        ganz_files_enter(d->files, folder);
        return;
    }
}

static ganz_status recognise(ganz_draft *d, ganz_error *err)
{
    const ganz_files *const f = d->files;
    const char *const given = ganz_files_given(f);
    const char *file;
    const bool weights = ganz_files_have(f, "model.safetensors") || ganz_files_have(f, "pytorch_model.bin");
    if ((!given || strcmp(given, "model.bin") == 0) && ganz_files_have(f, "model.bin"))
        return ganz_draft_ctranslate2(d, err);
    if ((!given || ends_in(given, ".safetensors") || strcmp(given, "pytorch_model.bin") == 0) && weights &&
        ganz_files_have(f, "config.json"))
        return ganz_draft_huggingface(d, err);
    if ((file = only(d, ".npz"))) return ganz_draft_marian(d, file, err);
    if ((file = only(d, ".intgemm8.bin")) || (file = only(d, ".intgemm.alphas.bin")) ||
        (given && (file = only(d, ".bin"))))
        return ganz_draft_marian(d, file, err);
    if ((file = only(d, ".pt"))) return ganz_draft_fairseq(d, file, err);
    if ((file = only(d, ".index"))) return ganz_draft_tensor2tensor(d, file, err);
    return ganz_fail(err, GANZ_EFORMAT,
                     "%s: no model that ganz knows: neither config.json with model.safetensors or pytorch_model.bin, "
                     "nor model.bin, nor .npz, .intgemm8.bin, .pt, .index or .argosmodel",
                     ganz_files_name(f));
}

/* Files are called the same in every folder: whose it is comes first. */
static ganz_status name_model(const ganz_draft *d, ganz_status status, ganz_error *err)
{
    const char *const name = ganz_files_name(d->files);
    if (status == GANZ_OK || !err || strncmp(err->message, name, strlen(name)) == 0) return status;
    const ganz_error said = *err;
    return ganz_fail(err, status, "%s: %s", name, said.message);
}

ganz_status ganz_draft_open(ganz_draft *d, ganz_files *files, ganz_error *err)
{
    *d = (ganz_draft){.files = files, .start = -1};
    for (int i = 0; i < 2; i++) d->side[i].pad = d->side[i].eos = d->side[i].unk = -1;
    if (!ganz_files_have(files, "config.json") && !ganz_files_given(files)) enter_folder(d);
    const ganz_status status = recognise(d, err);
    return name_model(d, status == GANZ_OK ? ganz_draft_card(d, err) : status, err);
}

/* ---- positions ---------------------------------------------------------------------------------- */

enum { COMPARED = 48 };

static bool near(const float *theirs, const real *ours, int rows, int width, bool alternate)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++) {
            const int from = !alternate ? i : i < width / 2 ? 2 * i : 2 * (i - width / 2) + 1;
            const float x = theirs[(size_t)r * (size_t)width + (size_t)from];
            const float y = (float)ours[(size_t)r * (size_t)width + (size_t)i];
            if (!(fabsf(x - y) <= 2e-3f)) return false;
        }
    return true;
}

/* Tries the formulas of the field. *memory false: there was not enough to try them all. */
static bool recognise_table(ganz_draft *d, const float *theirs, real *ours, int rows, bool *memory)
{
    for (int kind = 0; kind < 3; kind++)
        for (int first = 0; first < 3; first++) {
            ganz_config c = d->config;
            c.max_positions = rows;
            c.first_position = first;
            c.timing = kind == 0 ? GANZ_TIMING_T2T : GANZ_TIMING_HALF;
            *memory = *memory && ganz_timing(ours, &c);
            if (!*memory || !near(theirs, ours, rows, c.width, kind == 2)) continue;
            d->config.timing = c.timing;
            d->config.first_position = first;
            d->turned_columns = kind == 2;
            return true;
        }
    return false;
}

/* Rows of sines and cosines, as many numbers as the last two dimensions say: one in front may be 0. */
static bool is_table(const ganz_foreign *t, int width)
{
    if (t->rank < 2 || width < 2 || width % 2 != 0 || t->dims[t->rank - 1] != width || t->dims[t->rank - 2] < 1)
        return false;
    return t->bytes / ganz_dtype_bytes(t->dtype) / (size_t)width == (size_t)t->dims[t->rank - 2];
}

static ganz_status find_positions(ganz_draft *d, const char *name, ganz_error *err)
{
    ganz_view view;
    const int width = d->config.width;
    if (!ganz_draft_view(d, name, &view)) return GANZ_OK;
    const ganz_foreign *const t = view.tensor;
    if (!is_table(t, width)) return ganz_fail(err, GANZ_EFORMAT, "tensor %s is no table of positions", name);
    const int64_t there = t->dims[t->rank - 2];
    const int rows = there < COMPARED ? (int)there : COMPARED;
    const size_t count = (size_t)rows * (size_t)width;
    float *const theirs = ganz_alloc(count, sizeof *theirs);
    real *const ours = ganz_alloc(count, sizeof *ours);
    bool memory = theirs && ours;
    if (memory) ganz_foreign_values(t, 0, count, theirs);
    const bool found = memory && recognise_table(d, theirs, ours, rows, &memory);
    ganz_free(theirs);
    ganz_free(ours);
    if (!memory) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a table of positions");
    if (found) return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: the positions in %s are learned, or of a formula that ganz lacks",
                     ganz_files_name(d->files), name);
}

ganz_status ganz_draft_positions(ganz_draft *d, const char *encoder, const char *decoder, ganz_error *err)
{
    GANZ_TRY(find_positions(d, encoder, err));
    const ganz_config c = d->config;
    const bool turned = d->turned_columns;
    GANZ_TRY(find_positions(d, decoder, err));
    if (d->config.timing == c.timing && d->config.first_position == c.first_position && d->turned_columns == turned)
        return GANZ_OK;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "%s: the positions in %s are other ones than the encoder's",
                     ganz_files_name(d->files), decoder);
}

/* ---- tables ------------------------------------------------------------------------------------- */

static bool same_numbers(const ganz_view *a, const ganz_view *b)
{
    const ganz_foreign *const x = a->tensor, *const y = b->tensor;
    if (a->turned != b->turned || x->dtype != y->dtype || x->bytes != y->bytes) return false;
    return x->data == y->data || memcmp(x->data, y->data, x->bytes) == 0;
}

void ganz_draft_tie(ganz_draft *d)
{
    ganz_view *const source = &d->table[GANZ_DRAFT_SOURCE], *const target = &d->table[GANZ_DRAFT_TARGET],
                     *const output = &d->table[GANZ_DRAFT_OUTPUT];
    if (source->tensor && same_numbers(source, target)) source->tensor = NULL;
    if (output->tensor && same_numbers(output, target)) output->tensor = NULL;
    d->config.own_output = output->tensor != NULL;
}

/* ---- entries ------------------------------------------------------------------------------------ */

static int first_of(const ganz_words *words, const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        const int number = ganz_words_find(words, names[i]);
        if (number >= 0) return number;
    }
    return -1;
}

ganz_status ganz_draft_marks(ganz_draft *d, int which, ganz_error *err)
{
    static const char *const ends[] = {"</s>", "<EOS>", "eos", NULL}, *const unknowns[] = {"<unk>", "UNK", NULL},
                             *const pads[] = {"<pad>", "<blank>", NULL};
    ganz_draft_side *const s = &d->side[which];
    if (s->eos < 0) s->eos = first_of(&s->words, ends);
    if (s->unk < 0) s->unk = first_of(&s->words, unknowns);
    if (s->pad < 0) s->pad = first_of(&s->words, pads);
    if (s->eos >= 0 && s->unk >= 0) return GANZ_OK;
    return ganz_fail(err, GANZ_EFORMAT, "%s: the vocabulary has no %s", ganz_files_name(d->files),
                     s->eos < 0 ? "end mark </s>" : "entry <unk>");
}

ganz_status ganz_draft_order(ganz_draft_side *s, int rows, ganz_error *err)
{
    if (rows < 3 || rows > GANZ_WORDS_MOST - 1 || s->eos >= rows || s->unk >= rows || s->pad >= rows || s->eos < 0 ||
        s->pad == s->eos || s->unk == s->eos || s->unk == s->pad)
        return ganz_fail(err, GANZ_EFORMAT, "the special entries %d, %d and %d do not go with a table of %d rows",
                         s->pad, s->eos, s->unk, rows);
    s->order = ganz_alloc((size_t)rows + 1, sizeof *s->order);
    if (!s->order) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
    s->order[0] = s->pad;
    s->order[1] = s->eos;
    s->entries = 2;
    for (int i = 0; i < rows; i++)
        if (i != s->pad && i != s->eos) s->order[s->entries++] = i;
    return GANZ_OK;
}

static ganz_status take_spm(ganz_draft *d, int side, const char *const *names, ganz_error *err)
{
    for (int i = 0; names[i]; i++)
        if (ganz_files_have(d->files, names[i])) return ganz_files_get(d->files, names[i], &d->side[side].spm, err);
    return GANZ_OK;
}

ganz_status ganz_draft_spm(ganz_draft *d, ganz_error *err)
{
    static const char *const sources[] = {"source.spm", "sentencepiece.model", "spm.model", "sentencepiece.bpe.model",
                                          NULL},
                             *const targets[] = {"target.spm", NULL};
    GANZ_TRY(take_spm(d, GANZ_DRAFT_SOURCE, sources, err));
    GANZ_TRY(take_spm(d, GANZ_DRAFT_TARGET, targets, err));
    const ganz_bytes source = d->side[0].spm, target = d->side[1].spm;
    if (source.data && target.bytes == source.bytes && memcmp(target.data, source.data, source.bytes) == 0)
        d->side[GANZ_DRAFT_TARGET].spm = (ganz_bytes){0}; /* one model serves both */
    const char *const any = ganz_files_ending(d->files, ".spm");
    if (!d->side[0].spm.data && any) return ganz_files_get(d->files, any, &d->side[0].spm, err);
    return GANZ_OK;
}

/* ---- licence ------------------------------------------------------------------------------------ */

/* What is said behind the first "license:" of a card, or the name of a licence that stands in it. */
static void find_licence(ganz_draft *d, const char *text, size_t bytes)
{
    static const char *const known[] = {"CC-BY 4.0",  "CC-BY-4.0",      "CC BY 4.0",   "cc-by-4.0", "Apache-2.0",
                                        "apache-2.0", "Apache License", "MIT License", "MPL-2.0",   "GPL-3.0"};
    char copy[8192];
    const size_t n = bytes < sizeof copy - 1 ? bytes : sizeof copy - 1;
    memcpy(copy, text, n);
    copy[n] = '\0';
    const char *const said = strstr(copy, "license: ");
    if (said && (said == copy || said[-1] == '\n')) {
        snprintf(d->licence, sizeof d->licence, "%.*s", (int)strcspn(said + 9, "\r\n"), said + 9);
        return;
    }
    for (size_t i = 0; i < GANZ_COUNT(known) && !d->licence[0]; i++)
        if (strstr(copy, known[i])) snprintf(d->licence, sizeof d->licence, "%s", known[i]);
}

/* "opus-mt-zh-en" and "zh-en" tell the languages. */
static void find_languages(ganz_draft *d, const char *name)
{
    const char *const dash = strrchr(name, '-');
    if (!dash || d->from[0] || d->to[0]) return;
    const char *begin = dash;
    while (begin > name && begin[-1] >= 'a' && begin[-1] <= 'z') begin--;
    const size_t from = (size_t)(dash - begin), to = strspn(dash + 1, "abcdefghijklmnopqrstuvwxyz");
    if (from < 2 || from > 3 || to < 2 || to > 3 || dash[1 + to] != '\0') return;
    snprintf(d->from, sizeof d->from, "%.*s", (int)from, begin);
    snprintf(d->to, sizeof d->to, "%s", dash + 1);
}

ganz_status ganz_draft_card(ganz_draft *d, ganz_error *err)
{
    static const char *const cards[] = {"README.md", "LICENSE", "LICENSE.txt", "model_card.md"};
    for (size_t i = 0; i < GANZ_COUNT(cards) && !d->licence[0]; i++) {
        ganz_bytes card;
        if (!ganz_files_have(d->files, cards[i])) continue;
        GANZ_TRY(ganz_files_get(d->files, cards[i], &card, err));
        find_licence(d, (const char *)card.data, card.bytes);
    }
    char path[256];
    snprintf(path, sizeof path, "%s", ganz_files_name(d->files));
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/';) path[--n] = '\0';
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    find_languages(d, name);
    snprintf(d->origin, sizeof d->origin, "%s, %.180s", d->family, name);
    return GANZ_OK;
}
