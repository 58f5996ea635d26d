/* Activations of training on the CPU, row by row. */
#ifndef GANZ_BACKEND_CPU_ACTIVATION_H
#define GANZ_BACKEND_CPU_ACTIVATION_H

#include "backend/backend.h"

/* y = activation(y), n numbers; the bits of the integer epilogue. */
void ganz_cpu_activate_row(ganz_activation activation, real *y, int n);

/* grad = grad * activation'(before) of a smooth activation. */
void ganz_cpu_activation_grad_row(ganz_activation activation, const real *before, int n, real *grad);

#endif
