/* Tags that stand in plain text: strings of programs, chat. */
#ifndef GANZ_DOCUMENT_TAGS_H
#define GANZ_DOCUMENT_TAGS_H

#include "document/skeleton.h"

/* Bytes of the tag that text begins with, of an element that marks words: <b>, </a>, <br/>, <g id="1">; 0: there is
 * none. What else stands in angle brackets is taken for a place to put something (<file>). */
size_t ganz_tag_at(const char *text, size_t bytes, ganz_mark_kind *kind, int *name);

/* True if the text before a tag that text begins with and the text behind it are two: <p>, </li>. */
bool ganz_tag_parts(const char *text, size_t bytes);

/* Bytes of an element that text begins with whose words [*begin, *end) are not translated, <code>...</code>; 0: none.
 */
size_t ganz_code_element_at(const char *text, size_t bytes, size_t *begin, size_t *end);

#endif
