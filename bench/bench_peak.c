/* The peak of the processor: dot products on registers alone, to compare kernels with. */
#include "bench_peak.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A chain runs `n` rounds and returns the operations (2 a product) of one round. The accumulators are kept from the
 * optimizer's sight, so that nothing of it is left out. */
typedef double chain(long n);
#define KEEP(x) __asm__ volatile("" : "+x"(x))

#define PAIRS_CHAIN(N)                                                         \
    __attribute__((target("avx2"))) static double pairs##N(long n)             \
    {                                                                          \
        __m256i sum[6], a = _mm256_set1_epi8(3), w = _mm256_set1_epi8(2);      \
        const __m256i ones = _mm256_set1_epi16(1);                             \
        for (int i = 0; i < 6; i++) sum[i] = _mm256_setzero_si256();           \
        for (; n > 0; n--) {                                                   \
            _Pragma("GCC unroll 6") for (int i = 0; i < 6; i++)                \
            {                                                                  \
                __m256i t = _mm256_setzero_si256();                            \
                _Pragma("GCC unroll 8") for (int p = 0; p < N; p++)            \
                {                                                              \
                    KEEP(w);                                                   \
                    const __m256i m = _mm256_maddubs_epi16(a, w);              \
                    t = p ? _mm256_add_epi16(t, m) : m;                        \
                }                                                              \
                sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(t, ones)); \
            }                                                                  \
        }                                                                      \
        for (int i = 0; i < 6; i++) KEEP(sum[i]);                              \
        return 6.0 * N * 64.0;                                                 \
    }
PAIRS_CHAIN(1)
PAIRS_CHAIN(2)
PAIRS_CHAIN(4)
PAIRS_CHAIN(8)

__attribute__((target("avx2"))) static double words(long n)
{
    __m256i sum[6], a = _mm256_set1_epi16(3), w = _mm256_set1_epi16(2);
    for (int i = 0; i < 6; i++) sum[i] = _mm256_setzero_si256();
    for (; n > 0; n--) {
        _Pragma("GCC unroll 6") for (int i = 0; i < 6; i++)
        {
            KEEP(w);
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(a, w));
        }
    }
    for (int i = 0; i < 6; i++) KEEP(sum[i]);
    return 6.0 * 32.0;
}

__attribute__((target("avx512f,avx512vnni"))) static double vnni512(long n)
{
    __m512i sum[12], a = _mm512_set1_epi8(3), w = _mm512_set1_epi8(2);
    for (int i = 0; i < 12; i++) sum[i] = _mm512_setzero_si512();
    for (; n > 0; n--) {
        _Pragma("GCC unroll 12") for (int i = 0; i < 12; i++)
        {
            __asm__ volatile("" : "+v"(w));
            sum[i] = _mm512_dpbusd_epi32(sum[i], a, w);
        }
    }
    for (int i = 0; i < 12; i++) __asm__ volatile("" : "+v"(sum[i]));
    return 12.0 * 128.0;
}

__attribute__((target("avx2,avxvnni"))) static double vnni256(long n)
{
    __m256i sum[12], a = _mm256_set1_epi8(3), w = _mm256_set1_epi8(2);
    for (int i = 0; i < 12; i++) sum[i] = _mm256_setzero_si256();
    for (; n > 0; n--) {
        _Pragma("GCC unroll 12") for (int i = 0; i < 12; i++)
        {
            KEEP(w);
            sum[i] = _mm256_dpbusd_avx_epi32(sum[i], a, w);
        }
    }
    for (int i = 0; i < 12; i++) KEEP(sum[i]);
    return 12.0 * 64.0;
}

/* Needs the system's leave to use AMX, which whoever chose the route has asked for. */
__attribute__((target("amx-tile,amx-int8"))) static double amx(long n)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&shapes);
    for (; n > 0; n--) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_release();
    return 4.0 * 2.0 * 16.0 * 16.0 * 64.0;
}

double bench_peak(const char *route)
{
    static const struct {
        const char *name;
        chain *run;
    } chains[] = {{"words", words},   {"pairs1", pairs1},   {"pairs2", pairs2},   {"pairs4", pairs4},
                  {"pairs8", pairs8}, {"vnni512", vnni512}, {"vnni256", vnni256}, {"amx", amx}};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        if (strcmp(route, chains[i].name)) continue;
        double best = 0.0;
        for (int batch = 0; batch < 20; batch++) {
            enum { ROUNDS = 100000 };
            const double start = now(), work = chains[i].run(ROUNDS), rate = 1e-9 * work * ROUNDS / (now() - start);
            best = rate > best ? rate : best;
        }
        return best;
    }
    return 0.0;
}
#else
double bench_peak(const char *route)
{
    (void)route;
    return 0.0;
}
#endif
