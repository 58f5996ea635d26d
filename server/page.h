/* Files of the page, made into the program from web/ (tools/embed_page.cmake). */
#ifndef GANZ_SERVER_PAGE_H
#define GANZ_SERVER_PAGE_H

#include "call.h"

typedef struct page_file {
    const char *name;          /* "index.html"; NULL ends the table */
    const unsigned char *data; /* (bytes): a gzip stream of `whole` bytes */
    size_t bytes, whole;
} page_file;

extern const page_file page_files[];

/* Appends a file of the page; false: there is none of that name. */
bool page_read(const call *c, const char *name, buffer *out);
/* Replies with the page, which says why its form was refused: a name of its strings. */
void page_refuse(call *c, int status, const char *problem);
/* Replies with c->out, which is the file of that name or made from it. */
void page_send(call *c, int status, const char *name);

#endif
