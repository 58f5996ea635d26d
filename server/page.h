/* Files of the page, made into the program from server/page/ (tools/embed_page.cmake). */
#ifndef GANZ_SERVER_PAGE_H
#define GANZ_SERVER_PAGE_H

#include <stddef.h>

typedef struct page_file {
    const char *name; /* "index.html"; NULL ends the table */
    const unsigned char *data;
    size_t bytes;
} page_file;

extern const page_file page_files[];

#endif
