/* Devices by name: "cpu", "cuda", "cuda:N", and the precision of their products. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/thread.h"

enum { MOST_GPUS = 1024 };

/* The precision of a GPU that a word names. Returns false if there is no such word. */
static bool find_precision(const char *word, ganz_precision *precision)
{
    static const struct {
        const char *word;
        ganz_precision precision;
    } known[] = {{"auto", GANZ_BF16_PRODUCTS}, {"bf16", GANZ_BF16_PRODUCTS}, {"tf32", GANZ_TF32}, {"fp32", GANZ_FP32}};
    for (size_t i = 0; i < GANZ_COUNT(known); i++) {
        *precision = known[i].precision;
        if (strcmp(known[i].word, word) == 0) return true;
    }
    return false;
}

/* Number of the GPU that "cuda" or "cuda:N" names, or -1. */
static int gpu_number(const char *device)
{
    if (strcmp(device, "cuda") == 0) return 0;
    if (strncmp(device, "cuda:", 5) != 0 || device[5] < '0' || device[5] > '9') return -1;
    char *end;
    const long number = strtol(device + 5, &end, 10);
    return *end || number >= MOST_GPUS ? -1 : (int)number;
}

static ganz_status open_cpu(ganz_backend **be, ganz_precision products, int threads, ganz_error *err)
{
    if (products == GANZ_TF32)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "the cpu multiplies in fp32 or bf16, not in tf32");
    GANZ_TRY(ganz_cpu_backend_open(be, threads > 0 ? threads : ganz_cpu_count(), err));
    if (products == GANZ_FP32) return GANZ_OK;
    const ganz_status status = ganz_cpu_backend_bf16(*be, err);
    if (status != GANZ_OK) {
        (*be)->close(*be);
        *be = NULL;
    }
    return status;
}

ganz_status ganz_device_open(ganz_backend **be, const char *device, const char *precision, int threads, ganz_error *err)
{
    ganz_precision products;
    *be = NULL;
    if (!device) device = "cpu";
    if (!precision) precision = "auto";
    if (!find_precision(precision, &products))
        return ganz_fail(err, GANZ_EINVAL, "precision is auto, fp32, tf32 or bf16, not %s", precision);
    if (strcmp(device, "cpu") == 0)
        return open_cpu(be, strcmp(precision, "auto") == 0 ? GANZ_FP32 : products, threads, err);
    const int gpu = gpu_number(device);
    if (gpu < 0) return ganz_fail(err, GANZ_EINVAL, "device is cpu, cuda or cuda:N, not %s", device);
    return ganz_cuda_backend_open(be, gpu, products, err);
}
