/* The files of recipes/, built into the library (tools/embed.cmake). */
#ifndef GANZ_TRAIN_RECIPES_H
#define GANZ_TRAIN_RECIPES_H

#include <stddef.h>

typedef struct ganz_builtin_recipe {
    const char *name; /* NULL ends the list */
    const unsigned char *text;
    size_t bytes;
} ganz_builtin_recipe;

extern const ganz_builtin_recipe ganz_builtin_recipes[];

#endif
