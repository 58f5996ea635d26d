/* Every kernel on every ISA of this processor against the scalar code, bit for bit.
 *
 *   test_kernel            all ISAs that are here
 *   test_kernel NAME ...   these, and missing is a failure */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "kernel_check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const isas[] = {"scalar", "avx2", "avxvnni", "avx512vnni", "amx", "neon", "neondot", "i8mm"};
enum { MARK = 0xA5, MARKED = 64 };

void check_open(check *c, const char *name, unsigned flags)
{
    memset(c, 0, sizeof *c);
    c->name = name;
    c->stream = 4;
    ganz_kernel_init(&c->scalar, 0);
    ganz_kernel_init(&c->kernel, flags);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < GUARDS; i++) {
        unsigned char *const block = mmap(NULL, GUARD_BYTES + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED || mprotect(block + page, GUARD_BYTES, PROT_READ | PROT_WRITE)) {
            perror("mmap");
            exit(1);
        }
        c->guard[i] = block + page;
    }
}

void check_close(check *c)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < GUARDS; i++) munmap(c->guard[i] - page, GUARD_BYTES + 2 * page);
}

void check_fail(check *c, const char *format, ...)
{
    if (c->failures++ >= 20) return;
    va_list args;
    va_start(args, format);
    printf("  %s: ", c->name);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

void *check_out(check *c, int slot, size_t bytes)
{
    if (bytes + MARKED > GUARD_BYTES) {
        printf("argument of %zu bytes\n", bytes);
        exit(1);
    }
    unsigned char *const at = c->at_end ? c->guard[slot] + GUARD_BYTES - bytes : c->guard[slot];
    memset(at, MARK ^ 0xFF, bytes);
    memset(c->at_end ? at - MARKED : at + bytes, MARK, MARKED);
    c->out[slot].data = at;
    c->out[slot].bytes = bytes;
    return at;
}

void *check_in(check *c, int slot, const void *data, size_t bytes)
{
    void *const at = check_out(c, slot, bytes);
    if (bytes) memcpy(at, data, bytes);
    return at;
}

void check_same(check *c, int slot, const void *expected, const char *what, int n)
{
    const unsigned char *const data = c->out[slot].data;
    const size_t bytes = c->out[slot].bytes;
    const unsigned char *const side = c->at_end ? data - MARKED : data + bytes;
    c->comparisons++;
    for (int i = 0; i < MARKED; i++)
        if (side[i] != MARK) {
            check_fail(c, "%s (n = %d): wrote outside its output", what, n);
            break;
        }
    if (bytes && memcmp(data, expected, bytes)) {
        size_t at = 0;
        while (data[at] == ((const unsigned char *)expected)[at]) at++;
        check_fail(c, "%s (n = %d): differs at byte %zu of %zu", what, n, at, bytes);
    }
}

uint32_t check_random(check *c) { return ganz_random_u32(11, c->stream, c->counter++); }
float check_uniform(check *c) { return (float)(int32_t)check_random(c) * (1.0f / 2147483648.0f); }
int check_between(check *c, int low, int high) { return low + (int)(check_random(c) % (uint32_t)(high - low + 1)); }

void check_floats(check *c, float *x, int n, int kind)
{
    const float constant = check_uniform(c) * 3.0f;
    for (int i = 0; i < n; i++) {
        switch (kind) {
        case 0: x[i] = (check_uniform(c) + check_uniform(c) + check_uniform(c)) * 2.0f; break;
        case 1: x[i] = check_uniform(c) * 1e4f; break;
        case 2: x[i] = check_uniform(c) * 1e-30f; break;
        case 3: x[i] = (float)check_between(c, -300, 300) * 0.25f; break;
        case 4: x[i] = constant; break;
        default: x[i] = check_between(c, 0, 1) ? 0.0f : -0.0f; break;
        }
    }
}

void check_codes(check *c, int8_t *codes, int n, int low, int high, int kind)
{
    for (int i = 0; i < n; i++) {
        switch (kind) {
        case 0: codes[i] = (int8_t)check_between(c, low, high); break;
        case 1: codes[i] = (int8_t)high; break;
        case 2: codes[i] = (int8_t)low; break;
        case 3: codes[i] = (int8_t)(i & 1 ? low : high); break;
        case 4: codes[i] = (int8_t)(check_between(c, 0, 999) ? check_between(c, low / 8, high / 8) : high); break;
        default: codes[i] = 0; break;
        }
    }
}

static void check_environment(check *c)
{
    unsigned flags = 0;
    ganz_error err;
    setenv("GANZ_FORCE_ISA", "scalar", 1);
    CHECK(c, ganz_cpu_choose(&flags, &err) == GANZ_OK && flags == 0);
    setenv("GANZ_FORCE_ISA", "sse9", 1);
    CHECK(c, ganz_cpu_choose(&flags, &err) == GANZ_EINVAL && strstr(err.message, "sse9"));
    unsetenv("GANZ_FORCE_ISA");
    CHECK(c, ganz_cpu_choose(&flags, &err) == GANZ_OK && flags == ganz_cpu_detect());
    ganz_cpu_set_mask(0);
    CHECK(c, ganz_cpu_choose(&flags, &err) == GANZ_OK && flags == 0);
    for (size_t i = 1; i < GANZ_COUNT(isas); i++) {
        setenv("GANZ_FORCE_ISA", isas[i], 1);
        CHECK(c, ganz_cpu_choose(&flags, &err) == GANZ_EUNSUPPORTED && strstr(err.message, isas[i]));
        CHECK(c, ganz_cpu_isa(isas[i], &flags) && flags && !strcmp(ganz_cpu_isa_name(flags), isas[i]));
    }
    ganz_cpu_set_mask(GANZ_CPU_ALL);
    unsetenv("GANZ_FORCE_ISA");
    CHECK(c, !ganz_cpu_isa("", &flags));
}

static long run(const char *name)
{
    unsigned flags = 0;
    check *const c = malloc(sizeof *c);
    if (!c || !ganz_cpu_isa(name, &flags)) {
        printf("%s: no such ISA\n", name);
        exit(1);
    }
    check_open(c, name, flags & ganz_cpu_detect());
    if (!flags) check_environment(c);
    check_facts(c);
    for (int end = 0; end < 2; end++) {
        c->at_end = end;
        check_rows(c);
        check_gemm(c);
        check_bf16(c);
    }
    printf("%-10s %s: %ld comparisons, %ld failed\n", name, c->kernel.gemm.name, c->comparisons, c->failures);
    const long failures = c->failures;
    check_close(c);
    free(c);
    return failures;
}

static bool available(const char *name)
{
    unsigned flags = 0;
    setenv("GANZ_FORCE_ISA", name, 1);
    const bool here = ganz_cpu_choose(&flags, NULL) == GANZ_OK;
    unsetenv("GANZ_FORCE_ISA");
    return here;
}

int main(int argc, char **argv)
{
    long failures = 0;
    for (int i = 1; i < argc; i++) {
        if (available(argv[i])) {
            failures += run(argv[i]);
        } else {
            printf("%-10s not on this processor\n", argv[i]);
            failures++;
        }
    }
    for (size_t i = 0; argc == 1 && i < GANZ_COUNT(isas); i++) {
        if (available(isas[i])) failures += run(isas[i]);
        else printf("%-10s not on this processor: skipped\n", isas[i]);
    }
    return failures != 0;
}
