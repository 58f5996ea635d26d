/* The inside of a translator, for the files it is made of: lines to pieces and back (translator.c), and what in a
 * translation comes from what (translator_links.c). */
#ifndef GANZ_TRANSLATE_TRANSLATOR_PARTS_H
#define GANZ_TRANSLATE_TRANSLATOR_PARTS_H

#include "model/model.h"
#include "text/tokenizer.h"
#include "text/vocab.h"
#include "translate/address.h"
#include "translate/align.h"
#include "translate/decode.h"
#include "translate/inspect.h"
#include "translate/translator.h"

/* A piece of a line: one sentence for the decoder, or a word that is copied because it is too long to be one. */
typedef struct ganz_piece {
    int sentence;                   /* number for the decoder; negative: the text is copied */
    size_t ids, prefix;             /* where they begin in the pool */
    int count, prefix_count, front; /* the last: ids before those of the text, a label, a mark */
    ganz_avoided avoided;
    const char *text; /* the caller's */
    size_t bytes, at; /* `at`: where the text begins in its line */
} ganz_piece;

/* What is needed to link words; all of it grows. */
typedef struct ganz_linker {
    ganz_aligner *aligner;     /* NULL: neither links nor scores of tokens are wanted */
    ganz_backend *be;          /* of the CPU, where the translator itself is elsewhere */
    ganz_text text;            /* of a piece */
    ganz_ids ids;              /* of the source, once more */
    ganz_places places;        /* of the tokens that they are part of */
    size_t *begin[2], *end[2]; /* (source, target tokens) their text */
    int32_t *from, *to;        /* (target tokens), (source tokens) see ganz_aligner_run */
    size_t begin_capacity[2], end_capacity[2], from_capacity, to_capacity;
    ganz_link *links; /* of all results */
    size_t count, capacity;
    float *score;             /* (target tokens) */
    ganz_token_score *tokens; /* of all results */
    size_t token_count, score_capacity, token_capacity;
} ganz_linker;

struct ganz_translator {
    const ganz_model *model;
    ganz_translator_options options;
    ganz_backend *be;
    const ganz_weights *weights; /* on a GPU, the copy of the model's there; else NULL */
    ganz_decoder *decoder;
    ganz_audit audit;         /* empty: nothing is counted */
    int32_t label;            /* id in front of every source, -1: none */
    int32_t mark;             /* of formality, behind it, of the line at work; -1: none */
    ganz_address address;     /* words of the other form than a mark asks for */
    ganz_ids ids;             /* of all pieces and prefixes of a call */
    ganz_piece *pieces;       /* of all lines */
    ganz_sentence *sentences; /* the same for the decoder */
    int *first_piece;         /* (lines + 1) */
    int sentence_count;       /* pieces that are translated */
    size_t piece_count, pieces_capacity, sentences_capacity, first_capacity;
    ganz_text text; /* of all results */
    size_t *begin;  /* (lines * n_best) where each begins */
    ganz_translation *translations;
    ganz_result *results;
    size_t begin_capacity, translations_capacity, results_capacity;
    ganz_linker link;
    /* of the call that is under way */
    const ganz_line *lines;
    const ganz_found *found; /* (pieces * n_best) */
    const int *found_counts; /* (pieces) */
};

/* What was found for a piece that is translated. */
static inline const ganz_found *ganz_found_at(const ganz_translator *t, int number, int rank)
{
    return &t->found[(size_t)t->pieces[number].sentence * (size_t)t->options.n_best + (size_t)rank];
}

static inline ganz_translation *ganz_translation_at(ganz_translator *t, int line, int rank)
{
    return &t->translations[(size_t)line * (size_t)t->options.n_best + (size_t)rank];
}

/* Links and scores of all results, as far as they are wanted. */
ganz_status ganz_link_results(ganz_translator *t, int count, ganz_error *err);
void ganz_linker_close(ganz_linker *l);

#endif
