/* Which functions this processor gets. */
#define _GNU_SOURCE /* syscall */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_isa.h"

static unsigned cpu_mask = GANZ_CPU_ALL;

void ganz_cpu_set_mask(unsigned mask) { __atomic_store_n(&cpu_mask, mask, __ATOMIC_RELAXED); }

/* Weakest first. */
static const struct isa {
    const char *name;
    unsigned flags; /* what it leaves */
    unsigned needs; /* what must be there */
} isas[] = {
    {"scalar", 0, 0},
    {"avx2", GANZ_CPU_AVX2, GANZ_CPU_AVX2},
    {"avxvnni", GANZ_CPU_AVX2 | GANZ_CPU_AVXVNNI, GANZ_CPU_AVXVNNI},
    {"avx512vnni", GANZ_CPU_AVX2 | GANZ_CPU_AVXVNNI | GANZ_CPU_AVX512VNNI, GANZ_CPU_AVX512VNNI},
    {"amx", GANZ_CPU_AVX2 | GANZ_CPU_AVXVNNI | GANZ_CPU_AVX512VNNI | GANZ_CPU_AMX, GANZ_CPU_AMX},
    {"neon", GANZ_CPU_NEON, GANZ_CPU_NEON},
    {"neondot", GANZ_CPU_NEON | GANZ_CPU_NEONDOT, GANZ_CPU_NEONDOT},
};

bool ganz_cpu_isa(const char *name, unsigned *flags)
{
    for (size_t i = 0; i < GANZ_COUNT(isas); i++)
        if (!strcmp(name, isas[i].name)) {
            *flags = isas[i].flags;
            return true;
        }
    return false;
}

const char *ganz_cpu_isa_name(unsigned flags)
{
    const char *name = isas[0].name;
    for (size_t i = 1; i < GANZ_COUNT(isas); i++)
        if (flags & isas[i].needs) name = isas[i].name;
    return name;
}

#if defined(__x86_64__)
unsigned ganz_cpu_detect(void)
{
    unsigned flags = 0;
    if (__builtin_cpu_supports("avx2")) flags |= GANZ_CPU_AVX2;
    return flags;
}
#else
unsigned ganz_cpu_detect(void) { return 0; }
#endif

ganz_status ganz_cpu_choose(unsigned *flags, ganz_error *err)
{
    *flags = ganz_cpu_detect() & __atomic_load_n(&cpu_mask, __ATOMIC_RELAXED);
    const char *const forced = getenv("GANZ_FORCE_ISA");
    if (!forced || !*forced) return GANZ_OK;
    for (size_t i = 0; i < GANZ_COUNT(isas); i++)
        if (!strcmp(forced, isas[i].name)) {
            if ((*flags & isas[i].needs) != isas[i].needs)
                return ganz_fail(err, GANZ_EUNSUPPORTED, "GANZ_FORCE_ISA=%s: this processor has no %s", forced, forced);
            *flags &= isas[i].flags;
            return GANZ_OK;
        }
    return ganz_fail(err, GANZ_EINVAL, "GANZ_FORCE_ISA=%s: unknown; it is one of scalar, avx2, avxvnni, avx512vnni, "
                     "amx, neon, neondot", forced);
}

void ganz_kernel_init(ganz_kernel *kernel, unsigned flags)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->flags = flags;
    ganz_kernel_init_rows_scalar(kernel);
    ganz_kernel_init_i8_scalar(kernel);
#if defined(__x86_64__)
    if (flags & GANZ_CPU_AVX2) {
        ganz_kernel_init_rows_avx2(kernel);
        ganz_kernel_init_i8_avx2(kernel);
    }
#endif
}
