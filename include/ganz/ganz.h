/* ganz: integer Transformer translation. What every user of the library needs first.
 *
 * Conventions of all public headers:
 *   - A call that can fail returns a ganz_status and takes a ganz_error last; the error may be NULL.
 *   - open(&thing, ...) gives ownership to the caller; close(&thing) ends it and sets it to NULL.
 *     Closing NULL is fine.
 *   - Strings are UTF-8 and carry their length where they may hold any byte.
 *   - The library never prints and never exits.
 */
#ifndef GANZ_GANZ_H
#define GANZ_GANZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GANZ_API __attribute__((visibility("default")))
#else
#define GANZ_API
#endif

typedef enum ganz_status {
    GANZ_OK = 0,
    GANZ_EINVAL,       /* an argument or option makes no sense */
    GANZ_ENOMEM,       /* out of memory */
    GANZ_EIO,          /* the system refused to read or write */
    GANZ_EFORMAT,      /* a file does not hold what it should */
    GANZ_EVERSION,     /* a file is of a version this build does not know */
    GANZ_ELIMIT,       /* larger than a stated limit */
    GANZ_EUNSUPPORTED, /* this build or machine cannot do it */
    GANZ_ECUDA,        /* the GPU failed */
    GANZ_ESTOPPED,     /* stopped on request */
    GANZ_EPIPE,        /* the reader of an output has gone */
    GANZ_EBUSY,        /* no room now; later there may be */
    GANZ_ETIMEOUT      /* it took longer than was asked for */
} ganz_status;

/* A status and one sentence for a person, without a trailing newline. */
typedef struct ganz_error {
    ganz_status status;
    char message[384];
    long long line; /* of the file or of the call that it is about, counted from 1; 0: of none */
} ganz_error;

/* "invalid argument", "out of memory", ...; never NULL. */
GANZ_API const char *ganz_status_name(ganz_status status);

/* "0.2.0" */
GANZ_API const char *ganz_version(void);

/* Instructions that the kernels of translation use on this processor: "scalar", "avx2", "avx512vnni", ... NULL:
 * GANZ_FORCE_ISA names some that it does not have. */
GANZ_API const char *ganz_instructions(void);

/* Cores this process may use (affinity counted), at least 1. */
GANZ_API int ganz_cpu_count(void);

/* ---- stopping ----------------------------------------------------------------------------------- */

/* How long calls are asked to stop: their options point to a flag, which they look at often; once it is set they end
 * with GANZ_ESTOPPED. Any thread may set it, and so may a signal handler. It begins as {0}, and the caller owns it. */
typedef struct ganz_flag {
    volatile int set;
} ganz_flag;

GANZ_API void ganz_flag_set(ganz_flag *flag);
GANZ_API void ganz_flag_clear(ganz_flag *flag);
GANZ_API bool ganz_flag_is_set(const ganz_flag *flag); /* false for NULL */

/* ---- models ------------------------------------------------------------------------------------- */

/* A trained model: network, parameters, vocabulary. Immutable: any number of threads may share one. */
typedef struct ganz_model ganz_model;

/* Opens a model file. All of it is checked before any of it is used, its data against the checksums in the file too. */
GANZ_API ganz_status ganz_model_open(ganz_model **model, const char *path, ganz_error *err);
/* To be closed after all its translators. */
GANZ_API void ganz_model_close(ganz_model **model);

/* ---- translation -------------------------------------------------------------------------------- */

/* How the reader of a translation is addressed, by models that were taught it (ganz_model_facts.formality). */
typedef enum ganz_formality {
    GANZ_FORMALITY_AUTO,     /* as the text suggests */
    GANZ_FORMALITY_FORMAL,   /* Sie, vous */
    GANZ_FORMALITY_INFORMAL, /* du, tu */
    /* the same of a line, if its translator has AUTO and a model that was taught it */
    GANZ_FORMALITY_PREFER_FORMAL,
    GANZ_FORMALITY_PREFER_INFORMAL
} ganz_formality;

typedef struct ganz_translator_options {
    int beam;     /* hypotheses kept at each step, 1 to 64; 1 is greedy; 0: as the model says, else 4 */
    int n_best;   /* results for each line, 1 to beam */
    double alpha; /* length penalty: scores are log-probability / ((5 + length) / 6)^alpha, or, with models that say
                     so, / length^alpha; 0 to 10; -1: as the model says, else 0.6 */
    double least_length; /* fewest tokens of a translation for each token of its line, 0 to 1, with a beam of 2 or more;
                            -1: 0.5, or 0 where the model's penalty is length^alpha */
    double sample;       /* temperature, up to 100: tokens are drawn by their probabilities, with a beam of 1; 0: not */
    int sample_top;      /* draw from so many of the likeliest tokens only, up to 128; 0: from all */
    uint64_t seed;       /* of drawing: one seed gives a sentence one translation, whatever its batch and place */
    int batch_tokens;    /* size of a batch; each sentence counts its tokens and 25 more */
    int max_input;     /* longest input in tokens, end mark included, at least 16; 0: 96, or the model's limit if lower.
                          Longer lines are split, see ganz_translate */
    int max_length;    /* most tokens of one translation; 0: twice the input's and 50 */
    const char *split; /* language of the lines, "en": those of several sentences are translated sentence by sentence;
                          NULL: as they are */
    const char *label; /* language to translate to, of a model with labels (ganz_vocab_label); NULL: none is put in
                          front */
    int threads;       /* inside one call; for throughput rather open one translator for each thread */
    bool alignment; /* say which words come from which, see ganz_link; costs about one more pass for each result, on the
                       CPU always */
    bool token_scores; /* say how sure the model is of each token, see ganz_token_score; costs as much, once for both */
    /* "cpu", "cuda" or "cuda:N" (NULL: cpu). A GPU likes larger batches (16384); all translators of a model there share
     * one copy of its weights, and with N above 0 a translator belongs to the thread that opened it. Integer models
     * give the CPU's bytes there, if all of their products are integer; float models round differently by device and
     * precision, so that a few translations differ. */
    const char *device;
    const char *precision; /* of products: "bf16", "tf32" or "fp32", of which a CPU has the last; "auto", NULL: bf16 on
                              a GPU, else fp32 */
    const ganz_flag *stop; /* ends a call of ganz_translate within a step of the search; NULL: nothing does */
    ganz_formality formality; /* other than AUTO: GANZ_EINVAL with a model that was not taught it */
} ganz_translator_options;

/* beam and alpha of the model, n_best 1, batch_tokens 3072, one thread, no alignment, on the CPU. */
GANZ_API void ganz_translator_defaults(ganz_translator_options *options);

/* Workspace and results of one timeline: one thread at a time. The model is borrowed. */
typedef struct ganz_translator ganz_translator;

/* options may be NULL: the defaults. */
GANZ_API ganz_status ganz_translator_open(ganz_translator **translator, const ganz_model *model,
                                          const ganz_translator_options *options, ganz_error *err);
GANZ_API void ganz_translator_close(ganz_translator **translator);

/* A line to translate. The texts are the caller's and need no terminator. */
typedef struct ganz_line {
    const char *text;
    size_t bytes;
    const char *prefix; /* what the translation must begin with, in whole words; NULL: anything */
    size_t prefix_bytes;
    bool unlinked; /* no links are wanted for this line, although the translator makes them; saves their time */
    bool unscored; /* the same for scores of tokens */
    int n_best;    /* results that are wanted, if fewer than the translator gives; 0: as many */
    ganz_formality formality; /* of this line; AUTO: as the translator's options say */
} ganz_line;

/* A token of the translation comes from a token of the line. Tokens are words and what stands between them, as ranges
 * of bytes [begin, end) of the two texts, without white space at their ends. */
typedef struct ganz_link {
    size_t source_begin, source_end, target_begin, target_end;
    bool weak; /* the best there is for a token of the line that no token of the translation comes from */
} ganz_link;

/* How sure the model is of a token of a translation. Tokens are as in ganz_link. */
typedef struct ganz_token_score {
    size_t begin, end; /* bytes of the translation's text */
    double score;      /* logarithm of its probability, given the line and all tokens before it; 0 for a copied word */
} ganz_token_score;

typedef struct ganz_translation {
    const char *text; /* one line of UTF-8, terminated */
    size_t bytes;
    double score;
    const ganz_link *links; /* (link_count) rising by target, then source, each once; NULL unless asked for */
    int link_count;
    const ganz_token_score *tokens; /* (token_count) in the order of the text; NULL unless asked for */
    int token_count;
} ganz_translation;

typedef struct ganz_result {
    const ganz_translation *best; /* (count), falling scores */
    int count;                    /* 1 to n_best */
} ganz_result;

/* Translates lines; text that is not UTF-8 is GANZ_EINVAL (ganz_utf8_repair of ganz/io.h helps), and a message about
 * one of the lines begins with "line N: ", counted from 1. *results has one for each, in their order, and belongs to
 * the translator: it lives until its next call or its end. A line of nothing but white space gives one empty
 * translation with score 0.
 *
 * A line of several sentences (see split) and one of more than max_input tokens is translated in pieces, never cut. Of
 * the bytes that fit (judged by how many tokens the bytes before gave), a piece takes those up to the last sentence
 * end, else the last comma, semicolon, colon or dash, else the last space, each only in their second half, else all up
 * to a whole character. The translations are joined by spaces, their scores added; a prefix belongs to the first piece.
 * In a line without a prefix, a word of more than 1000 characters (up to white space or ideographic punctuation) is
 * copied; so is, in any line, a character that alone has more tokens than fit. */
GANZ_API ganz_status ganz_translate(ganz_translator *translator, const ganz_line *lines, int count,
                                    const ganz_result **results, ganz_error *err);

/* Links between words, which are what white space separates, counted from 0. */
typedef struct ganz_word_link {
    int source, target;
} ganz_word_link;

/* Links of a translation, without the weak ones, as links between words, rising by source, then target, each once.
 * words has room for link_count; *count says how many there are. */
GANZ_API ganz_status ganz_word_links(const ganz_line *line, const ganz_translation *translation, ganz_word_link *words,
                                     int *count, ganz_error *err);

/* Scores of tokens as scores of words: sums over the tokens that begin in each. Returns how many words there are;
 * scores has room for bytes / 2 + 1. */
GANZ_API int ganz_word_scores(const ganz_translation *translation, double *scores);

#ifdef __cplusplus
}
#endif
#endif
