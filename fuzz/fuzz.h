/* The one function of a fuzz target, called by libFuzzer or by standalone.c. Returns 0; a finding aborts. */
#ifndef GANZ_FUZZ_FUZZ_H
#define GANZ_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A promise of the code under test that the input has broken. */
#define FUZZ_EXPECT(condition) ((condition) ? (void)0 : abort())

#endif
