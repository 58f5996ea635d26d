/* A foreign model in the form in which all of them are alike: a configuration, tensors and how they are called, and
 * vocabularies. Readers of families make it (family_*.c), one builder turns it into a model of ganz (build.c). */
#ifndef GANZ_IMPORT_DRAFT_H
#define GANZ_IMPORT_DRAFT_H

#include "import/files.h"
#include "import/formats.h"
#include "import/naming.h"
#include "import/words.h"
#include "nn/net.h"

/* A matrix of numbers inside a tensor. */
typedef struct ganz_view {
    const ganz_foreign *tensor;
    const ganz_foreign *scale; /* what codes are divided by: one number, or one for each row; NULL: nothing */
    int part, parts;           /* see ganz_name_rule */
    bool turned;               /* the tensor is (columns, rows) */
} ganz_view;

enum { GANZ_DRAFT_SOURCE, GANZ_DRAFT_TARGET, GANZ_DRAFT_OUTPUT, GANZ_DRAFT_TABLES };

/* One side's entries. The source's count may be 0: then they are the target's. */
typedef struct ganz_draft_side {
    ganz_words words;
    int pad, eos, unk; /* their numbers; pad -1: none, one is added */
    ganz_bytes spm;    /* SentencePiece model, data NULL: none */
    int32_t *order;    /* (entries) their number for each of ours; -1: padding that was added */
    int entries;       /* of ours */
} ganz_draft_side;

typedef struct ganz_draft {
    const char *family; /* "Marian (Hugging Face)" */
    ganz_files *files;
    ganz_tensors tensors;
    ganz_options options;
    ganz_config config; /* but for vocab and source_vocab, which come from the sides */
    const ganz_naming *naming;
    ganz_view table[GANZ_DRAFT_TABLES]; /* tensor NULL: as the one before */
    ganz_view logits_bias;              /* tensor NULL: none */
    ganz_view target_space;
    ganz_draft_side side[2]; /* source, target */
    int start;               /* their number of the entry that the decoder begins with; -1: zeros */
    bool bare_source;        /* sources have no end mark */
    bool turned_columns;     /* positions alternate sines and cosines: columns are put into our order */
    ganz_bytes subwords;     /* the vocabulary, a file of Tensor2Tensor's kind; data NULL: it is in the sides */
    double penalty;          /* exponent of the length in scores; 0: not said */
    int beam;                /* 0: not said */
    char from[16], to[16];   /* languages; empty: not said */
    char licence[128], origin[256];
} ganz_draft;

/* Recognises what lies there and reads it. To be closed in any case. The files are borrowed. */
ganz_status ganz_draft_open(ganz_draft *draft, ganz_files *files, ganz_error *err);
void ganz_draft_close(ganz_draft *draft);

/* The families. Each takes a draft with its files. */
ganz_status ganz_draft_huggingface(ganz_draft *draft, ganz_error *err);
ganz_status ganz_draft_ctranslate2(ganz_draft *draft, ganz_error *err);
ganz_status ganz_draft_marian(ganz_draft *draft, const char *file, ganz_error *err);
ganz_status ganz_draft_fairseq(ganz_draft *draft, const char *file, ganz_error *err);
ganz_status ganz_draft_tensor2tensor(ganz_draft *draft, const char *file, ganz_error *err);

/* ---- help for families -------------------------------------------------------------------------- */

/* A tensor by name, and its scales if it has any; false: there is none. */
bool ganz_draft_view(const ganz_draft *draft, const char *name, ganz_view *view);
/* The tensor of a parameter; false: there is none. */
bool ganz_draft_find(const ganz_draft *draft, const char *parameter, ganz_view *view);
/* How many layers a side has by its tensors, and the rows of a dense layer's weight; 0: none. */
int ganz_draft_layers(const ganz_draft *draft, const char *side);
int64_t ganz_draft_rows(const ganz_draft *draft, const char *parameter);
/* Whether attention has biases. */
void ganz_draft_set_biases(ganz_draft *draft);
/* Finds out which formula made the tables of positions, by their names; missing: nothing changes. */
ganz_status ganz_draft_positions(ganz_draft *draft, const char *encoder, const char *decoder, ganz_error *err);
/* Tables that hold the same numbers become one. */
void ganz_draft_tie(ganz_draft *draft);
/* Finds the end mark and the unknown entry of a side by their usual names where they are not known (-1). */
ganz_status ganz_draft_marks(ganz_draft *draft, int side, ganz_error *err);
/* Puts their numbers into our order: padding, end mark, the rest. rows: of their table. */
ganz_status ganz_draft_order(ganz_draft_side *side, int rows, ganz_error *err);
/* Files source.spm and target.spm, or what else SentencePiece models are called. */
ganz_status ganz_draft_spm(ganz_draft *draft, ganz_error *err);
/* Licence and origin from README.md and the like. */
ganz_status ganz_draft_card(ganz_draft *draft, ganz_error *err);

/* ---- building ----------------------------------------------------------------------------------- */

/* The numbers of a view (rows, cols) as floats; refuses another shape. `name` is for messages. */
ganz_status ganz_view_read(const ganz_view *view, const char *name, int rows, int cols, float *values, ganz_error *err);
/* Fills the parameters of a network of the draft's configuration. */
ganz_status ganz_draft_build(const ganz_draft *draft, const ganz_net *net, real *block, ganz_error *err);

#endif
