/* How families of models call the tensors of our parameters; importing reads the tables, exporting writes by them. */
#ifndef GANZ_IMPORT_NAMING_H
#define GANZ_IMPORT_NAMING_H

#include <stdbool.h>
#include <stddef.h>

/* In `theirs`, $ stands for the word of the side, # for the number of the layer, @ for weight or bias, or for scale or
 * bias of a norm. */
typedef struct ganz_name_rule {
    const char *ours; /* "self.q"; with "enc." or "dec." in front where sides differ */
    const char *theirs;
    int part, parts; /* several matrices are one by rows: which of how many it is; 0 of 0: alone */
} ganz_name_rule;

typedef struct ganz_naming {
    const ganz_name_rule *rules; /* up to one without names; the first that fits */
    const char *side[2];         /* "encoder", "decoder" */
    const char *dense[2];        /* "weight", "bias" */
    const char *norm[2];         /* "weight", "bias" */
    int first_layer;             /* 0 or 1 */
    bool turned;                 /* float matrices are (in, out) */
} ganz_naming;

/* MarianMT and Pegasus of Hugging Face; Marian's own. */
extern const ganz_naming ganz_naming_huggingface, ganz_naming_marian;

/* The name of a parameter by the first rule that knows it; false: none does. */
bool ganz_naming_write(const ganz_naming *naming, const char *parameter, char *name, size_t bytes);

#endif
