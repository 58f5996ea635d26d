/* The instruction sets: detecting them, choosing one by its name, and filling the table of functions for it. */
#define _GNU_SOURCE /* syscall, secure_getenv */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "kernel/kernel_isa.h"

static unsigned cpu_mask = GANZ_CPU_ALL;

void ganz_cpu_set_mask(unsigned mask) { __atomic_store_n(&cpu_mask, mask, __ATOMIC_RELAXED); }

/* Weakest first. */
static const struct isa {
    const char *name;
    unsigned flags; /* features in use under it */
    unsigned needs; /* features a processor must have for it */
} isas[] = {
    {"scalar", 0, 0},
    {"avx2", GANZ_CPU_AVX2, GANZ_CPU_AVX2},
    {"avxvnni", GANZ_CPU_AVX2 | GANZ_CPU_AVXVNNI, GANZ_CPU_AVXVNNI},
    {"avx512vnni", GANZ_CPU_AVX2 | GANZ_CPU_AVXVNNI | GANZ_CPU_AVX512VNNI, GANZ_CPU_AVX512VNNI},
    {"amx", GANZ_CPU_AVX2 | GANZ_CPU_AVXVNNI | GANZ_CPU_AVX512VNNI | GANZ_CPU_AMX | GANZ_CPU_AMXBF16, GANZ_CPU_AMX},
    {"neon", GANZ_CPU_NEON, GANZ_CPU_NEON},
    {"neondot", GANZ_CPU_NEON | GANZ_CPU_NEONDOT, GANZ_CPU_NEONDOT},
    {"i8mm", GANZ_CPU_NEON | GANZ_CPU_NEONDOT | GANZ_CPU_I8MM, GANZ_CPU_I8MM},
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
#ifdef GANZ_SIMDE /* compiled to plain code */
static unsigned detect_vnni(void) { return GANZ_CPU_AVXVNNI | GANZ_CPU_AVX512VNNI; }
static unsigned detect_amx(void) { return GANZ_CPU_AMX | GANZ_CPU_AMXBF16; }
#else
/* Leaf 7, subleaf 1; for AVX-512 the compiler's own detection, which also asks the system. */
static unsigned detect_vnni(void)
{
    unsigned flags = 0, a, b, c, d;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1)) flags |= GANZ_CPU_AVXVNNI;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vnni"))
        flags |= GANZ_CPU_AVX512VNNI;
    return flags;
}

/* Leaf 7: AMX-TILE and AMX-INT8, and AMX-BF16 with AVX512-BF16. The system must save the tiles (XCR0 bits 17 and 18)
 * and let this process use them. */
static unsigned detect_amx(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d, low, high, flags = GANZ_CPU_AMX;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d >> 24 & 3) != 3) return 0;
    if ((d >> 22 & 1) && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1)) flags |= GANZ_CPU_AMXBF16;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0; /* OSXSAVE */
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return (low >> 17 & 3) == 3 && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 ? flags : 0;
}
#endif

unsigned ganz_cpu_detect(void)
{
    if (!__builtin_cpu_supports("avx2")) return 0;
    unsigned flags = GANZ_CPU_AVX2 | detect_vnni();
    if (flags & GANZ_CPU_AVX512VNNI) flags |= detect_amx();
    return flags;
}
#elif defined(__aarch64__)
unsigned ganz_cpu_detect(void)
{
    enum { HAS_DOT = 1 << 20, HAS_I8MM = 1 << 13 }; /* HWCAP_ASIMDDP, HWCAP2_I8MM */
    if (!(getauxval(AT_HWCAP) & HAS_DOT)) return GANZ_CPU_NEON;
    return GANZ_CPU_NEON | GANZ_CPU_NEONDOT | (getauxval(AT_HWCAP2) & HAS_I8MM ? GANZ_CPU_I8MM : 0);
}
#else
unsigned ganz_cpu_detect(void) { return 0; }
#endif

ganz_status ganz_cpu_choose(unsigned *flags, ganz_error *err)
{
    *flags = ganz_cpu_detect() & __atomic_load_n(&cpu_mask, __ATOMIC_RELAXED);
    const char *const forced = secure_getenv("GANZ_FORCE_ISA");
    if (!forced || !*forced) return GANZ_OK;
    for (size_t i = 0; i < GANZ_COUNT(isas); i++)
        if (!strcmp(forced, isas[i].name)) {
            if ((*flags & isas[i].needs) != isas[i].needs)
                return ganz_fail(err, GANZ_EUNSUPPORTED, "GANZ_FORCE_ISA=%s: this processor has no %s", forced, forced);
            *flags &= isas[i].flags;
            return GANZ_OK;
        }
    return ganz_fail(err, GANZ_EINVAL,
                     "GANZ_FORCE_ISA=%s: unknown; it is one of scalar, avx2, avxvnni, avx512vnni, "
                     "amx, neon, neondot, i8mm",
                     forced);
}

const char *ganz_instructions(void)
{
    unsigned flags;
    return ganz_cpu_choose(&flags, NULL) == GANZ_OK ? ganz_cpu_isa_name(flags) : NULL;
}

void ganz_kernel_init(ganz_kernel *kernel, unsigned flags)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->flags = flags;
    ganz_kernel_init_rows_scalar(kernel);
    ganz_kernel_init_i8_scalar(kernel);
    ganz_kernel_init_bf16_scalar(kernel);
#if defined(__x86_64__)
    if (flags & GANZ_CPU_AVX2) {
        ganz_kernel_init_rows_avx2(kernel);
        ganz_kernel_init_i8_avx2(kernel);
    }
    if (flags & GANZ_CPU_AVXVNNI) ganz_kernel_init_avx_vnni(kernel);
    if (flags & GANZ_CPU_AVX512VNNI) {
        ganz_kernel_init_rows_avx512(kernel);
        ganz_kernel_init_avx512_vnni(kernel);
    }
    if (flags & GANZ_CPU_AMX) ganz_kernel_init_amx(kernel);
    if (flags & GANZ_CPU_AMXBF16) ganz_kernel_init_amx_bf16(kernel);
#elif defined(__aarch64__)
    if (flags & GANZ_CPU_NEON) {
        ganz_kernel_init_rows_neon(kernel);
        ganz_kernel_init_i8_neon(kernel);
    }
    if (flags & GANZ_CPU_NEONDOT) ganz_kernel_init_i8_dot_neon(kernel);
    if (flags & GANZ_CPU_I8MM) ganz_kernel_init_i8mm(kernel);
#endif
}
