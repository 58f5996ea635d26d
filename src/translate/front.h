/* Ids that stand in front of a source: the label of a language, the mark of a form of address. */
#ifndef GANZ_TRANSLATE_FRONT_H
#define GANZ_TRANSLATE_FRONT_H

#include "model/model.h"

/* The id of a label (ganz_vocab_label), -1 for NULL; GANZ_EINVAL: the model has none of this name. */
ganz_status ganz_front_label(const ganz_model *model, const char *name, int32_t *id, ganz_error *err);

/* The id of the mark of a form, -1 for AUTO; GANZ_EINVAL: the model was not taught any. */
ganz_status ganz_front_mark(const ganz_model *model, ganz_formality formality, int32_t *id, ganz_error *err);

#endif
