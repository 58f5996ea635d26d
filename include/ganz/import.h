/* Models of other programs become models of ganz: MarianMT of Hugging Face, CTranslate2 and Argos, Marian, fairseq. */
#ifndef GANZ_IMPORT_H
#define GANZ_IMPORT_H

#include "ganz/ganz.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ganz_import_report {
    char family[64];                    /* "CTranslate2, package of Argos" */
    char origin[256];                   /* family and name of what was read */
    char licence[128];                  /* empty: the files do not say */
    int tensors;                        /* that were read */
    int source_entries, target_entries; /* of the vocabularies, padding included */
    bool subwords;                      /* of Tensor2Tensor's kind, as our own */
    bool sentencepiece;                 /* neither: text is to be cut into pieces before, separated by spaces */
} ganz_import_report;

/* Texts may be NULL: then what the files say holds. */
typedef struct ganz_import_options {
    const char *source_language, *target_language; /* "zh", "en" */
    const char *licence;
    const char *command; /* what made it, for the metadata */
    /* Asked, unless NULL, about the model that was made, before its file has its name: with another answer than GANZ_OK
     * the import ends with that, and what stood there before stays. */
    ganz_status (*check)(void *context, const ganz_model *model, const ganz_import_report *report, ganz_error *err);
    void *context;
} ganz_import_options;

/* Reads a folder, a file or an archive of a known family and writes a float model, whole or not at all. Special entries
 * are numbered as ganz does (padding 0, end mark 1), biases of keys and values are folded into others. What ganz has no
 * network for is refused with the name of the option that says so. Nothing in the files is run. options and report may
 * be NULL. */
GANZ_API ganz_status ganz_import(const char *from, const char *to, const ganz_import_options *options,
                                 ganz_import_report *report, ganz_error *err);

#ifdef __cplusplus
}
#endif
#endif
