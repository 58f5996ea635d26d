/* An integer model, sentences, and what the engine said to them, in one file without names or text: for a program that
 * is made of the engine alone. Numbers as they lie in memory of little-endian machines, one after the other:
 *
 *   head
 *   per parameter that stays a value (biases among them): its floats
 *   scales of all inputs: floats
 *   per product: its scale, a float; codes (out, in)
 *   per sentence: count, ids; count, score, ids of its translation */
#ifndef GANZ_TESTS_ENGINE_FILE_H
#define GANZ_TESTS_ENGINE_FILE_H

#include "nn/net.h"

enum { ENGINE_MAGIC = 0x657A6E67, ENGINE_MOST_INPUT = 100, ENGINE_MAX_LENGTH = 16 };

typedef struct engine_head {
    int32_t magic;
    ganz_config config;
    ganz_scheme scheme;
    int32_t beam, sentences;
} engine_head;

#endif
