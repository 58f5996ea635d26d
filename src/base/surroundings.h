/* What the program around us may have set for its thread and what numbers depend on: the decimal mark of its locale,
 * the rounding mode, traps and small numbers flushed to zero. A public call that reads, writes or computes numbers
 * begins with
 *
 *     GANZ_PLAIN_NUMBERS;
 *
 * From there to the end of the function, on this thread, the decimal mark is a point and arithmetic is as IEEE 754 has
 * it at first; then all is as before, flags of floating point included. */
#ifndef GANZ_BASE_SURROUNDINGS_H
#define GANZ_BASE_SURROUNDINGS_H

#include <fenv.h>
#include <locale.h>

typedef struct ganz_surroundings {
    fenv_t arithmetic;
    locale_t before, plain;
} ganz_surroundings;

void ganz_surroundings_set(ganz_surroundings *saved);
void ganz_surroundings_restore(ganz_surroundings *saved);

#define GANZ_PLAIN_NUMBERS                                                                         \
    __attribute__((cleanup(ganz_surroundings_restore))) ganz_surroundings surroundings_around_us_; \
    ganz_surroundings_set(&surroundings_around_us_)

#endif
