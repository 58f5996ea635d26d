/* Where translations come from, for those who keep them. */
#ifndef GANZ_TRANSLATE_ORIGIN_H
#define GANZ_TRANSLATE_ORIGIN_H

#include "base/base.h"
#include "ganz/bulk.h"

/* One number for a model file and the options that translations depend on. */
ganz_status ganz_origin_of(const char *model_path, const ganz_translator_options *options, uint64_t *origin,
                           ganz_error *err);

#endif
