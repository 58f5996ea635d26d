/* The activations that networks of the field put between the two products of a feed-forward layer. Their arithmetic:
 * kernel/kernel_math.h for translation, backend/cpu_activation.c and cuda_activation.cuh for training. */
#ifndef GANZ_BASE_ACTIVATION_H
#define GANZ_BASE_ACTIVATION_H

#include <stdbool.h>

typedef enum ganz_activation {
    GANZ_ACTIVATION_NONE,        /* x */
    GANZ_ACTIVATION_RELU,        /* max(x, 0) */
    GANZ_ACTIVATION_SWISH,       /* x * sigmoid(x), also called SiLU */
    GANZ_ACTIVATION_GELU,        /* x * Phi(x), Phi the distribution function of the normal distribution */
    GANZ_ACTIVATION_GELU_SIGMOID /* x * sigmoid(1.702 x): what Marian calls gelu */
} ganz_activation;
enum { GANZ_ACTIVATIONS = GANZ_ACTIVATION_GELU_SIGMOID + 1 };

/* Whether the result is a curve: its gradient needs the value before the activation, which no result tells. */
static inline bool ganz_activation_is_smooth(ganz_activation activation) { return activation > GANZ_ACTIVATION_RELU; }

#endif
