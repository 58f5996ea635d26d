/* The folder that an export fills: whole files under their names, the entries of a vocabulary, where the model came
 * from. */
#ifndef GANZ_EXPORT_FOLDER_H
#define GANZ_EXPORT_FOLDER_H

#include "model/json.h"
#include "model/model.h"
#include "text/vocab.h"

enum { GANZ_EXPORT_PATH = 4096, GANZ_EXPORT_NAME = 64 /* most bytes of a file's name in it */ };

/* Makes the folder, unless it is there (with something in it, it is refused), and has it filled. After a failure of
 * `write`, which has nothing open then, all is as it was before, so that the export can be tried again. */
ganz_status ganz_export_folder(const char *folder, ganz_status (*write)(void *context, ganz_error *err), void *context,
                               ganz_error *err);
ganz_status ganz_export_file(const char *folder, const char *name, const void *data, size_t bytes, ganz_error *err);
/* Frees the JSON in any case. */
ganz_status ganz_export_json(const char *folder, const char *name, ganz_json_writer *json, ganz_error *err);
/* README.md with licence and origin, if the model says any. */
ganz_status ganz_export_card(const char *folder, const ganz_model *model, ganz_error *err);

/* A part of a vocabulary by its name; data NULL: it has none. */
ganz_vocab_part ganz_export_part(const ganz_vocab *vocab, const char *name);

/* Texts of a side's entries by their ids, as long as the vocabulary lives. Subwords of ganz have none (count 0). */
typedef struct ganz_export_entries {
    const char **texts; /* (count) */
    int count;
} ganz_export_entries;
ganz_status ganz_export_entries_open(ganz_export_entries *entries, const ganz_vocab *vocab, ganz_side side,
                                     ganz_error *err);
void ganz_export_entries_close(ganz_export_entries *entries);
/* Whether both sides have lists of their own. */
bool ganz_export_two_lists(const ganz_vocab *vocab);

/* source.spm and target.spm, where there are any; both: the source's serves as target's too. The vocabulary of subwords
 * is vocab.subwords. */
ganz_status ganz_export_tokenizers(const char *folder, const ganz_vocab *vocab, bool both, ganz_error *err);

#endif
