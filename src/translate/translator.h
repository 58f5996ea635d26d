/* What the service needs of a translator beside the public calls. */
#ifndef GANZ_TRANSLATE_TRANSLATOR_H
#define GANZ_TRANSLATE_TRANSLATOR_H

#include "ganz/ganz.h"

enum { GANZ_BATCH_TOKENS_GPU = 16384 }; /* the usual size of a batch there; of a CPU: GANZ_BATCH_TOKENS */

/* ganz_translate, but a message about a line does not begin with its number; err->line has it all the same. */
ganz_status ganz_translator_run(ganz_translator *translator, const ganz_line *lines, int count,
                                const ganz_result **results, ganz_error *err);

/* Source tokens of the last call, end marks included. */
long long ganz_translator_tokens(const ganz_translator *translator);

#endif
