/* Lines of code in plain text, which nobody wants translated. */
#ifndef GANZ_DOCUMENT_CODE_H
#define GANZ_DOCUMENT_CODE_H

#include "base/base.h"

/* Whether a line, without white space at its ends, is surely code: x = f(1); or if (x) { and the like. */
bool ganz_is_code_line(const char *line, size_t bytes);

#endif
