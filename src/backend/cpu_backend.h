/* Inside the CPU backend: its state, scratch memory, and the functions of its table by file. */
#ifndef GANZ_BACKEND_CPU_BACKEND_H
#define GANZ_BACKEND_CPU_BACKEND_H

#include "backend/backend.h"
#include "base/thread.h"
#include "kernel/kernel.h"

typedef struct ganz_cpu {
    ganz_backend table; /* first: a ganz_backend * is a ganz_cpu * */
    ganz_pool *pool;
    int threads;
    ganz_kernel kernel; /* for the processor as it was when the backend was opened */
    void *scratch;      /* of the call that runs; kept and grown */
    size_t scratch_bytes;
    bool bf16;          /* float products are of numbers rounded to bfloat16 */
    void *bf16_scratch; /* of all threads */
    void *bf16_copy;    /* of the right side of the product that runs; kept and grown */
    size_t bf16_copy_bytes;
    bool out_of_memory;  /* told at the next sync */
    const char *no_blas; /* why there are no float products; told at every sync */
} ganz_cpu;

static inline ganz_cpu *ganz_cpu_of(ganz_backend *be) { return (ganz_cpu *)be; }

/* Scratch for one call: `count` elements, not zeroed. Returns NULL if there is no memory: the caller then does nothing,
 * and the next sync tells. */
void *ganz_cpu_scratch(ganz_cpu *cpu, size_t count, size_t element);

/* Rows are handed out in grains of about this many numbers: a thread's wake-up costs some microseconds. */
enum { GANZ_CPU_GRAIN = 1 << 14 };
static inline int64_t ganz_cpu_grain(int cols) { return cols >= GANZ_CPU_GRAIN ? 1 : GANZ_CPU_GRAIN / cols; }

/* Sums over rows are made block by block, and then over the blocks in their order: so they are the same for any
 * number of threads. */
enum { GANZ_CPU_BLOCK = 64 };
static inline int ganz_cpu_blocks(int rows) { return (rows + GANZ_CPU_BLOCK - 1) / GANZ_CPU_BLOCK; }
/* sums[c] += sum over blocks of partial[block][c], for c < cols; blocks lie `stride` apart. */
void ganz_cpu_join(ganz_cpu *cpu, const real *partial, int blocks, size_t stride, int cols, real *sums);

/* cpu_rows.c */
void ganz_cpu_embed(ganz_backend *be, const ganz_embed_call *c);
void ganz_cpu_embed_grad(ganz_backend *be, const ganz_embed_call *c);
void ganz_cpu_norm(ganz_backend *be, const ganz_norm_call *c);
void ganz_cpu_norm_grad(ganz_backend *be, const ganz_norm_call *c);
/* cpu_loss.c */
void ganz_cpu_loss(ganz_backend *be, const ganz_loss_call *c);
/* cpu_topk.c */
void ganz_cpu_topk(ganz_backend *be, const ganz_topk_call *c);
void ganz_cpu_recur(ganz_backend *be, const ganz_recur_call *c);
/* cpu_quantize.c */
void ganz_cpu_quantize(ganz_backend *be, const ganz_quantize_call *c);
void ganz_cpu_quantize_grad(ganz_backend *be, const ganz_quantize_call *c);
void ganz_cpu_largest(ganz_backend *be, const ganz_matrix *x, real *largest);
void ganz_cpu_scales(ganz_backend *be, const real *z, real *scale, int count, bool power_of_two, real factor);
void ganz_cpu_refresh(ganz_backend *be, const ganz_refresh_item *items, int count);
void ganz_cpu_rows_grad(ganz_backend *be, const ganz_rows_grad_call *c);
/* cpu_linear.c */
void ganz_cpu_linear(ganz_backend *be, const ganz_linear_call *c);
void ganz_cpu_linear_grad(ganz_backend *be, const ganz_linear_call *c);
/* bias_grad += sums of y_grad over the rows. */
void ganz_cpu_bias_grad(ganz_backend *be, const ganz_linear_call *c);
/* cpu_attention.c, cpu_attention_grad.c */
void ganz_cpu_attention(ganz_backend *be, const ganz_attention_call *c);
void ganz_cpu_attention_grad(ganz_backend *be, const ganz_attention_call *c);
/* cpu_codes.c, cpu_codes_attention.c */
size_t ganz_cpu_pack_bytes(const ganz_backend *be, int out, int in, bool nibbles);
const ganz_packed *ganz_cpu_pack(ganz_backend *be, void *block, const ganz_pack_call *c);
void ganz_cpu_unpack(const ganz_backend *be, const ganz_packed *packed, int row, int8_t *codes);
void ganz_cpu_embed_codes(ganz_backend *be, const ganz_embed_call *c);
void ganz_cpu_norm_codes(ganz_backend *be, const ganz_norm_call *c);
void ganz_cpu_linear_codes(ganz_backend *be, const ganz_linear_call *c);
void ganz_cpu_attention_codes(ganz_backend *be, const ganz_attention_call *c);
/* cpu_optim.c */
void ganz_cpu_adafactor(ganz_backend *be, const ganz_update_call *c);
void ganz_cpu_adam(ganz_backend *be, const ganz_update_call *c);
void ganz_cpu_average(ganz_backend *be, real *to, const real *from, size_t count, double keep);
void ganz_cpu_add(ganz_backend *be, real *to, const real *from, size_t count);
void ganz_cpu_add_rows(ganz_backend *be, double *to, const double *from, int rows, int cols);

#endif
