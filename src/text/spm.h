/* SentencePiece models: normalization and segmentation of text as the sentencepiece library does them up to its version
 * 0.2.1, from the bytes of a .spm or .model file. Types unigram, BPE and char.
 *
 * Nothing in a file is trusted: sizes are bounded and every index is checked. Pieces are numbered as in the file. */
#ifndef GANZ_TEXT_SPM_H
#define GANZ_TEXT_SPM_H

#include "ganz/vocab.h"
#include "text/trie.h"

typedef enum ganz_spm_role {
    GANZ_SPM_NORMAL = 1,
    GANZ_SPM_UNKNOWN,
    GANZ_SPM_CONTROL,
    GANZ_SPM_USER, /* always kept whole */
    GANZ_SPM_UNUSED,
    GANZ_SPM_BYTE
} ganz_spm_role;

typedef enum ganz_spm_type { GANZ_SPM_UNIGRAM = 1, GANZ_SPM_BPE, GANZ_SPM_WORD, GANZ_SPM_CHAR } ganz_spm_type;

typedef struct ganz_spm_piece {
    const char *text; /* not terminated */
    uint32_t bytes;
    float score;
    ganz_spm_role role;
} ganz_spm_piece;

/* Immutable once open. */
typedef struct ganz_spm {
    char *data; /* the file */
    size_t bytes;
    ganz_spm_piece *pieces; /* (count) */
    size_t count, capacity;
    ganz_spm_type type;
    bool byte_fallback;                 /* unknown characters become pieces for their bytes */
    bool space_behind;                  /* the mark of a space belongs to the word before it */
    bool dummy_prefix, squeeze, escape; /* a space in front; runs of spaces become one; spaces become U+2581 */
    const unsigned char *units;         /* the character map: a double array */
    size_t unit_count;
    const char *replacements; /* what it points into: strings that end in NUL */
    size_t replacement_bytes;
    ganz_trie trie, users;    /* of pieces that text may become; of those a user defined */
    int32_t unknown, end;     /* pieces; end: of </s>, -1: none */
    int32_t byte_pieces[256]; /* -1: none */
    float lowest, highest;    /* scores of normal pieces */
} ganz_spm;

/* `name` is for messages. The bytes are copied. */
ganz_status ganz_spm_open(ganz_spm **spm, const void *data, size_t bytes, const char *name, ganz_error *err);
void ganz_spm_close(ganz_spm **spm);
/* Whether bytes look like such a file and not like text. */
bool ganz_spm_recognise(const void *data, size_t bytes);

/* Text as a model sees it. Start with zeroes; freed by ganz_normal_free. */
typedef struct ganz_normal {
    ganz_text text;
    uint32_t *origin; /* (text.bytes) for each byte, where it comes from in the original text */
    size_t capacity;
} ganz_normal;
void ganz_normal_free(ganz_normal *normal);

/* Replaces what `normal` holds. */
ganz_status ganz_spm_normalize(const ganz_spm *spm, const char *text, size_t bytes, ganz_normal *normal,
                               ganz_error *err);

/* A part of a normalized text, and its piece. Parts that are unknown have the unknown piece. */
typedef struct ganz_segmented {
    uint32_t begin, end;
    int32_t piece;
} ganz_segmented;
typedef struct ganz_segments {
    ganz_segmented *list;
    size_t count, capacity;
} ganz_segments;
void ganz_segments_free(ganz_segments *segments);

/* Replaces what `out` holds: pieces that make up the whole text, unknown characters one by one. */
ganz_status ganz_spm_segment(const ganz_spm *spm, const ganz_text *normal, ganz_segments *out, ganz_error *err);
/* One type each; text of at least one byte. False when memory is out. */
bool ganz_spm_unigram(const ganz_spm *spm, const ganz_text *normal, ganz_segments *out);
bool ganz_spm_merge(const ganz_spm *spm, const ganz_text *normal, ganz_segments *out); /* BPE and char */

/* The longest of the user's own pieces that begins a text: its bytes, 0: none. */
size_t ganz_spm_user_piece(const ganz_spm *spm, const char *text, size_t bytes);

/* Bytes of the character that begins with this byte; the sentencepiece library looks at no other. */
static inline size_t ganz_spm_character(unsigned char first, size_t left)
{
    const size_t bytes = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return bytes < left ? bytes : left;
}

#endif
