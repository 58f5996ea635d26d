/* Recurrent units (SSRU) on the CPU: columns do not know of each other, so threads share out columns and each goes
 * through all rows. The arithmetic is kernel/kernel_math.h's, so that there is one result on every machine. */
#include "backend/cpu_backend.h"
#include "backend/cpu_math.h"
#include "kernel/kernel_math.h"

/* Row of the state before that of `row`; -1: none. */
static int state_before(const ganz_recur_call *c, int row)
{
    if (!c->list) return c->positions[row] == 0 ? -1 : c->first + row - 1;
    const int32_t begin = c->list_begin[row], end = c->list_begin[row + 1];
    return end - begin > 1 ? c->list[end - 2] : -1;
}

static void recur_columns(void *context, int64_t begin, int64_t end, int worker)
{
    const ganz_recur_call *const c = context;
    (void)worker;
    for (int row = 0; row < c->value.rows; row++) {
        const real *const value = real_row(&c->value, row), *const gate = real_row(&c->gate, row);
        real *const state = real_row(&c->states, c->first + row), *const sum = real_row(&c->add, row);
        const int before = state_before(c, row);
        const real *const old = before < 0 ? NULL : real_row(&c->states, before);
        for (int64_t i = begin; i < end; i++) {
            const float was = old ? (float)old[i] : 0.0f;
            const float now = recur_of((float)value[i], (float)gate[i], was);
            state[i] = (real)now;
            sum[i] += (real)(now > 0.0f ? now : 0.0f);
        }
    }
}

void ganz_cpu_recur(ganz_backend *be, const ganz_recur_call *c)
{
    ganz_cpu *const cpu = ganz_cpu_of(be);
    ganz_pool_run(cpu->pool, c->value.cols, ganz_cpu_grain(c->value.rows), recur_columns, (void *)(uintptr_t)c);
}
