/* What each ISA's file gives to ganz_kernel_init: it overrides entries of the table. */
#ifndef GANZ_KERNEL_KERNEL_ISA_H
#define GANZ_KERNEL_KERNEL_ISA_H

#include "kernel/kernel.h"

void ganz_kernel_init_rows_scalar(ganz_kernel *kernel);
void ganz_kernel_init_i8_scalar(ganz_kernel *kernel);

#endif
