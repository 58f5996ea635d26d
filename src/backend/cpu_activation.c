/* Activations and their derivatives on the CPU. The values are those of kernel/kernel_math.h, so that training sees the
 * numbers translation will see; in double, where gradients are tested, libm takes their place. */
#include "backend/cpu_activation.h"

#include "backend/cpu_math.h"

#ifdef GANZ_F64
static inline real swish(real x, real slope) { return x / (1 + exp(-slope * x)); }
static inline real tail(real x) { return 0.5 * erfc(fabs(x) / sqrt(2.0)); }
static inline real gelu(real x) { return x * (x < 0 ? tail(x) : 1 - tail(x)); }
#else
static inline real swish(real x, real slope) { return swish_of(x, slope); }
static inline real tail(real x) { return tail_of(x); }
static inline real gelu(real x) { return gelu_of(x); }
#endif

/* ---- forward ------------------------------------------------------------------------------------ */

GANZ_CLONES static void relu_row(real *y, int n)
{
    for (int i = 0; i < n; i++) y[i] = y[i] > 0 ? y[i] : 0;
}

GANZ_CLONES static void swish_row(real *y, int n, real slope)
{
    for (int i = 0; i < n; i++) y[i] = swish(y[i], slope);
}

GANZ_CLONES static void gelu_row(real *y, int n)
{
    for (int i = 0; i < n; i++) y[i] = gelu(y[i]);
}

void ganz_cpu_activate_row(ganz_activation activation, real *y, int n)
{
    switch (activation) {
    case GANZ_ACTIVATION_NONE: break;
    case GANZ_ACTIVATION_RELU: relu_row(y, n); break;
    case GANZ_ACTIVATION_SWISH: swish_row(y, n, (real)SWISH_SLOPE); break;
    case GANZ_ACTIVATION_GELU: gelu_row(y, n); break;
    case GANZ_ACTIVATION_GELU_SIGMOID: swish_row(y, n, (real)GELU_SLOPE); break;
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* With s = sigmoid(slope x): s + slope x s (1 - s). */
GANZ_CLONES static void swish_grad_row(const real *x, int n, real slope, real *grad)
{
    for (int i = 0; i < n; i++) {
        const real s = 1 / (1 + real_exp(x[i] * -slope));
        grad[i] = grad[i] * (s + slope * x[i] * s * (1 - s));
    }
}

/* Phi(x) + x * density(x). */
GANZ_CLONES static void gelu_grad_row(const real *x, int n, real *grad)
{
    for (int i = 0; i < n; i++) {
        const real below = tail(x[i]), density = (real)0.398942280401432678 * real_exp(x[i] * x[i] * (real)-0.5);
        grad[i] = grad[i] * ((x[i] < 0 ? below : 1 - below) + x[i] * density);
    }
}

void ganz_cpu_activation_grad_row(ganz_activation activation, const real *before, int n, real *grad)
{
    GANZ_ASSERT(ganz_activation_is_smooth(activation));
    if (activation == GANZ_ACTIVATION_GELU) gelu_grad_row(before, n, grad);
    else swish_grad_row(before, n, (real)(activation == GANZ_ACTIVATION_SWISH ? SWISH_SLOPE : GELU_SLOPE), grad);
}
