/* ganz_import: files become a draft, the draft a block of parameters and a vocabulary, these a model file. */
#include "ganz/import.h"

#include <stdio.h>
#include <string.h>

#include "base/surroundings.h"
#include "import/draft.h"
#include "model/model.h"
#include "text/pieces.h"

/* ---- vocabularies ------------------------------------------------------------------------------- */

enum { UNNAMED = 24 }; /* bytes of the text of an entry that has none */

typedef struct listing {
    const char **texts; /* (entries) */
    char *unnamed;
} listing;

static void close_listing(listing *l)
{
    ganz_free(l->texts);
    ganz_free(l->unnamed);
    *l = (listing){0};
}

/* Texts in our order; rows of a table that no entry names get texts that occur in none. */
static ganz_status list_entries(const ganz_draft_side *side, listing *l, ganz_piece_list *list, ganz_error *err)
{
    const size_t n = (size_t)side->entries;
    l->texts = ganz_alloc(n, sizeof *l->texts);
    l->unnamed = ganz_alloc(n, UNNAMED);
    if (!l->texts || !l->unnamed) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a vocabulary");
    *list = (ganz_piece_list){.texts = l->texts, .count = side->entries};
    for (int i = 0; i < side->entries; i++) {
        const int theirs = side->order[i];
        const char *const text = theirs >= 0 && theirs < side->words.count ? side->words.texts[theirs] : NULL;
        char *const unnamed = l->unnamed + (size_t)i * UNNAMED;
        snprintf(unnamed, UNNAMED, "<entry %d>", i);
        l->texts[i] = text && *text ? text : unnamed;
        if (theirs == side->unk) list->unknown = i;
    }
    return GANZ_OK;
}

static ganz_status open_subwords(ganz_vocab **vocab, const ganz_draft *d, ganz_error *err)
{
    const char *const text = (const char *)d->subwords.data;
    GANZ_TRY(ganz_vocab_parse(vocab, text, d->subwords.bytes, ganz_files_name(d->files), err));
    const int entries = (*vocab)->size[GANZ_TARGET];
    if (entries == d->config.vocab) return GANZ_OK;
    ganz_vocab_close(vocab);
    return ganz_fail(err, GANZ_EFORMAT, "%s: the vocabulary has %d entries, the model's table %d",
                     ganz_files_name(d->files), entries, d->config.vocab);
}

static ganz_status open_vocab(ganz_vocab **vocab, const ganz_draft *d, ganz_error *err)
{
    if (d->subwords.data) return open_subwords(vocab, d, err);
    ganz_pieces_from from = {0};
    listing lists[2] = {{0}};
    ganz_status status = GANZ_OK;
    for (int i = 0; i < 2 && status == GANZ_OK; i++) {
        from.spm[i] = d->side[i].spm.data;
        from.spm_bytes[i] = d->side[i].spm.bytes;
        if (d->side[i].entries > 0) status = list_entries(&d->side[i], &lists[i], &from.list[i], err);
    }
    if (status == GANZ_OK) status = ganz_pieces_open(vocab, &from, ganz_files_name(d->files), err);
    for (int i = 0; i < 2; i++) close_listing(&lists[i]);
    return status;
}

/* ---- the model ---------------------------------------------------------------------------------- */

static const char *first_text(const char *a, const char *b) { return a ? a : b[0] ? b : NULL; }

static void set_sizes(ganz_draft *d)
{
    const int source = d->side[GANZ_DRAFT_SOURCE].entries;
    d->config.vocab = d->side[GANZ_DRAFT_TARGET].entries;
    if (d->table[GANZ_DRAFT_SOURCE].tensor) d->config.source_vocab = source > 0 ? source : d->config.vocab;
}

/* Declares and writes all of the file. */
static ganz_status write_model(ganz_writer *w, const ganz_draft *d, const ganz_import_options *o, const ganz_net *net,
                               const real *block, ganz_error *err)
{
    ganz_vocab *vocab = NULL;
    const bool ours = d->subwords.data != NULL; /* searched as ganz does, which is as Tensor2Tensor did */
    const ganz_model_info info = {.config = d->config,
                                  .source_language = first_text(o->source_language, d->from),
                                  .target_language = first_text(o->target_language, d->to),
                                  .command = o->command,
                                  .licence = first_text(o->licence, d->licence),
                                  .origin = d->origin,
                                  .search = {.beam = d->beam > 0 && d->beam <= 64 ? d->beam : 0,
                                             .has_alpha = !ours,
                                             .alpha = d->penalty,
                                             .by_length = !ours}};
    GANZ_TRY(open_vocab(&vocab, d, err));
    vocab->bare_source = d->bare_source;
    ganz_status status = ganz_model_declare(w, &info, net, vocab, err);
    if (status == GANZ_OK) status = ganz_model_write(w, net, vocab, block, err);
    ganz_vocab_close(&vocab);
    return status;
}

static ganz_status build_model(ganz_draft *d, ganz_writer *w, const ganz_import_options *o, ganz_error *err)
{
    ganz_net net;
    ganz_error why;
    set_sizes(d);
    const ganz_status opened = ganz_net_open(&net, &d->config, &why);
    if (opened != GANZ_OK)
        return ganz_fail(err, opened == GANZ_ENOMEM ? GANZ_ENOMEM : GANZ_EFORMAT, "%s: %s", ganz_files_name(d->files),
                         why.message);
    real *const block = ganz_alloc_large(net.params.block * sizeof *block);
    ganz_status status = block ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for a model");
    if (status == GANZ_OK) status = ganz_draft_build(d, &net, block, err);
    if (status == GANZ_OK) status = write_model(w, d, o, &net, block, err);
    ganz_free(block);
    ganz_net_close(&net);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void fill_report(const ganz_draft *d, ganz_import_report *report)
{
    const int source = d->side[GANZ_DRAFT_SOURCE].entries;
    *report = (ganz_import_report){.tensors = d->tensors.count,
                                   .target_entries = d->side[GANZ_DRAFT_TARGET].entries,
                                   .source_entries = source > 0 ? source : d->side[GANZ_DRAFT_TARGET].entries,
                                   .subwords = d->subwords.data != NULL,
                                   .sentencepiece = d->side[GANZ_DRAFT_SOURCE].spm.data != NULL};
    snprintf(report->family, sizeof report->family, "%s", d->family);
    snprintf(report->origin, sizeof report->origin, "%s", d->origin);
    snprintf(report->licence, sizeof report->licence, "%s", d->licence);
}

/* What the check of a written file needs. */
typedef struct judgement {
    const ganz_import_options *options;
    const ganz_import_report *report;
    const char *name;
} judgement;

static ganz_status judge(void *context, const void *data, size_t bytes, ganz_error *err)
{
    const judgement *const j = context;
    ganz_model *model;
    GANZ_TRY(ganz_model_parse(&model, data, bytes, j->name, err));
    const ganz_status status = j->options->check(j->options->context, model, j->report, err);
    ganz_model_close(&model);
    return status;
}

/* Everything but the file is gone when it is judged: a model may be large. */
static ganz_status write_draft(ganz_files *files, const ganz_import_options *o, ganz_import_report *report,
                               ganz_writer *w, ganz_error *err)
{
    ganz_draft draft;
    ganz_status status = ganz_draft_open(&draft, files, err);
    if (status == GANZ_OK) status = build_model(&draft, w, o, err);
    if (status == GANZ_OK) fill_report(&draft, report);
    ganz_draft_close(&draft);
    return status;
}

ganz_status ganz_import(const char *from, const char *to, const ganz_import_options *options,
                        ganz_import_report *report, ganz_error *err)
{
    GANZ_PLAIN_NUMBERS;
    const ganz_import_options none = {0};
    ganz_import_report found = {0};
    judgement j = {.options = options ? options : &none, .report = &found, .name = to};
    ganz_files *files;
    ganz_writer *w = NULL;
    GANZ_TRY(ganz_files_open(&files, from, err));
    ganz_status status = ganz_writer_open(&w, to, true, err);
    if (status == GANZ_OK && j.options->check) ganz_writer_set_check(w, judge, &j);
    if (status == GANZ_OK) status = write_draft(files, j.options, &found, w, err);
    ganz_files_close(&files);
    if (status == GANZ_OK) status = ganz_writer_finish(&w, err);
    ganz_writer_abandon(&w);
    if (status == GANZ_OK && report) *report = found;
    return status;
}
