/* Shared by the files of integer products on the CPU: rows of codes, and the epilogue of a call. */
#ifndef GANZ_BACKEND_CPU_CODES_H
#define GANZ_BACKEND_CPU_CODES_H

#include "backend/backend.h"
#include "kernel/kernel.h"

static inline int8_t *ganz_code_row(const ganz_matrix *m, int row)
{
    return (int8_t *)m->data + (size_t)row * (size_t)m->ld;
}

/* From sums to y, to codes, or to both. */
ganz_epilogue ganz_code_epilogue(float scale, const ganz_matrix *y, const ganz_code_out *codes);

void ganz_raise_largest(int32_t *largest, const int32_t *sums, size_t count);

#endif
