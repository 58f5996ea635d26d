/* The functions by which ganz_kernel_init lets the file of each ISA override entries of the table. */
#ifndef GANZ_KERNEL_KERNEL_ISA_H
#define GANZ_KERNEL_KERNEL_ISA_H

#include "kernel/kernel.h"

/* Before a loop with a small constant count over registers: without it they land in memory. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

void ganz_kernel_init_rows_scalar(ganz_kernel *kernel);
void ganz_kernel_init_i8_scalar(ganz_kernel *kernel);
void ganz_kernel_init_bf16_scalar(ganz_kernel *kernel);
#if defined(__x86_64__)
void ganz_kernel_init_rows_avx2(ganz_kernel *kernel);
void ganz_kernel_init_i8_avx2(ganz_kernel *kernel);
void ganz_kernel_init_avx_vnni(ganz_kernel *kernel);
void ganz_kernel_init_rows_avx512(ganz_kernel *kernel); /* after rows_avx2 */
void ganz_kernel_init_avx512_vnni(ganz_kernel *kernel);
void ganz_kernel_init_amx(ganz_kernel *kernel); /* after avx512_vnni */
void ganz_kernel_init_amx_bf16(ganz_kernel *kernel);
#elif defined(__aarch64__)
void ganz_kernel_init_rows_neon(ganz_kernel *kernel);
void ganz_kernel_init_i8_neon(ganz_kernel *kernel);
void ganz_kernel_init_i8_dot_neon(ganz_kernel *kernel);
void ganz_kernel_init_i8mm(ganz_kernel *kernel); /* after dot_neon */
#endif

#endif
