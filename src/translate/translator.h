/* What the service and records of products need of a translator beside the public calls. */
#ifndef GANZ_TRANSLATE_TRANSLATOR_H
#define GANZ_TRANSLATE_TRANSLATOR_H

#include "ganz/ganz.h"
#include "model/model.h"
#include "translate/search.h"

enum { GANZ_BATCH_TOKENS_GPU = 16384 }; /* the usual size of a batch there; of a CPU: GANZ_BATCH_TOKENS */

/* ganz_translate, but a message about a line does not begin with its number; err->line has it all the same. */
ganz_status ganz_translator_run(ganz_translator *translator, const ganz_line *lines, int count,
                                const ganz_result **results, ganz_error *err);

/* Beam, alpha and least length where they are not asked for: the model's, or the usual ones; and a search by them. */
void ganz_choose_search(ganz_translator_options *options, const ganz_model_search *search);
ganz_search_options ganz_search_of(const ganz_translator_options *options, const ganz_model_search *search);
/* GANZ_EUNSUPPORTED with a sentence if the model translates on the CPU only and `device` is another (NULL: cpu). */
ganz_status ganz_translator_check_device(const ganz_model *model, const char *device, ganz_error *err);

/* Source tokens of the last call, end marks included. */
long long ganz_translator_tokens(const ganz_translator *translator);

#endif
