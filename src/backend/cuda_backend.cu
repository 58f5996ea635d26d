/* The GPU as a device: memory, one stream for all calls, failures kept for the next sync, and the table. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda_common.cuh"

enum { MAXIMA_LEAST = 1 << 20 };

/* ---- failures ----------------------------------------------------------------------------------- */

void ganz_cuda_fail(ganz_cuda *c, const char *where, const char *why)
{
    if (c->failed) return;
    c->failed = true;
    snprintf(c->failure, sizeof c->failure, "%s: %s", where, why);
}

static bool worked(ganz_cuda *c, cudaError_t error, const char *where)
{
    if (error == cudaSuccess) return true;
    (void)cudaGetLastError(); /* so that the next launch is not blamed for it */
    ganz_cuda_fail(c, where, cudaGetErrorString(error));
    return false;
}

/* ---- memory ------------------------------------------------------------------------------------- */

static ganz_status memory_alloc(ganz_backend *be, void **memory, size_t bytes, ganz_error *err)
{
    ganz_cuda *c = ganz_cuda_of(be);
    *memory = NULL;
    if (cudaMalloc(memory, bytes > 0 ? bytes : 1) != cudaSuccess) {
        (void)cudaGetLastError();
        size_t left = 0, all = 0;
        (void)cudaMemGetInfo(&left, &all);
        *memory = NULL;
        return ganz_fail(err, GANZ_ENOMEM, "the GPU has no %zu MiB left (%zu of %zu MiB are free)", bytes >> 20,
                         left >> 20, all >> 20);
    }
    (void)worked(c, cudaMemsetAsync(*memory, 0, bytes, c->stream), "clearing memory");
    return GANZ_OK;
}

static void memory_free(ganz_backend *be, void *memory)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (memory != NULL) (void)worked(c, cudaFree(memory), "freeing memory");
}

/* The host may be many steps ahead of the GPU, and callers reuse their buffers at once: all uploads go through a ring
 * of pinned parts. A part is written again only when the GPU has taken everything that was in it. */
void ganz_cuda_upload(ganz_backend *be, void *to, const void *from, size_t bytes)
{
    ganz_cuda *c = ganz_cuda_of(be);
    while (bytes > 0) {
        if (c->ring_used == RING_BYTES) {
            (void)worked(c, cudaEventRecord(c->ring_free[c->ring_part], c->stream), "upload");
            c->ring_part = (c->ring_part + 1) % RING_PARTS;
            c->ring_used = 0;
            (void)worked(c, cudaEventSynchronize(c->ring_free[c->ring_part]), "upload");
        }
        const size_t room = RING_BYTES - c->ring_used, some = bytes < room ? bytes : room;
        unsigned char *part = c->ring + (size_t)c->ring_part * RING_BYTES + c->ring_used;
        memcpy(part, from, some);
        if (!worked(c, cudaMemcpyAsync(to, part, some, cudaMemcpyHostToDevice, c->stream), "upload")) return;
        c->ring_used = ganz_round_up(c->ring_used + some, GANZ_ALIGN);
        to = (unsigned char *)to + some;
        from = (const unsigned char *)from + some;
        bytes -= some;
    }
}

/* Small things come through pinned memory: a copy to other memory goes by a detour and holds up other streams. */
static void download(ganz_backend *be, void *to, const void *from, size_t bytes)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (bytes == 0) return;
    if (bytes <= LANDING_BYTES) {
        (void)worked(c, cudaMemcpyAsync(c->landing, from, bytes, cudaMemcpyDeviceToHost, c->stream), "download");
        if (worked(c, cudaStreamSynchronize(c->stream), "download")) memcpy(to, c->landing, bytes);
        return;
    }
    if (!worked(c, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, c->stream), "download")) return;
    (void)worked(c, cudaStreamSynchronize(c->stream), "download");
}

static void copy(ganz_backend *be, void *to, const void *from, size_t bytes)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (bytes > 0) (void)worked(c, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, c->stream), "copy");
}

static void zero(ganz_backend *be, void *memory, size_t bytes)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (bytes > 0) (void)worked(c, cudaMemsetAsync(memory, 0, bytes, c->stream), "zero");
}

static ganz_status sync(ganz_backend *be, ganz_error *err)
{
    ganz_cuda *c = ganz_cuda_of(be);
    (void)worked(c, cudaStreamSynchronize(c->stream), "waiting for the GPU");
    if (!c->failed) return GANZ_OK;
    c->failed = false;
    return ganz_fail(err, GANZ_ECUDA, "the GPU failed: %s", c->failure);
}

static bool idle(ganz_backend *be)
{
    return cudaStreamQuery(ganz_cuda_of(be)->stream) != cudaErrorNotReady; /* failures are sync's to tell */
}

void *ganz_cuda_scratch(ganz_cuda *c, size_t bytes)
{
    if (bytes <= c->scratch_bytes) return c->scratch;
    const size_t wanted = ganz_round_up(bytes + bytes / 4, (size_t)1 << 20);
    void *memory = NULL;
    if (!worked(c, cudaMalloc(&memory, wanted), "scratch memory")) return NULL;
    (void)worked(c, cudaStreamSynchronize(c->stream), "scratch memory"); /* the old block may still be in use */
    (void)cudaFree(c->scratch);
    c->scratch = memory;
    c->scratch_bytes = wanted;
    return memory;
}

/* ---- recorded calls ----------------------------------------------------------------------------- */

static void record_free(ganz_cuda_record *r)
{
    if (r->owner != NULL) (void)cudaGraphExecDestroy(r->calls);
    memset(r, 0, sizeof *r);
}

/* owner NULL: all of them. */
static void forget(ganz_backend *be, const void *owner)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (c->stream != NULL) (void)cudaStreamSynchronize(c->stream);
    for (int i = 0; i < RECORDS; i++)
        if (c->records[i].owner != NULL && (owner == NULL || c->records[i].owner == owner)) record_free(&c->records[i]);
}

static bool replay(ganz_backend *be, const void *owner, int number)
{
    ganz_cuda *c = ganz_cuda_of(be);
    for (int i = 0; i < RECORDS; i++) {
        ganz_cuda_record *r = &c->records[i];
        if (r->owner != owner || r->number != number) continue;
        r->age = ++c->age;
        (void)worked(c, cudaGraphLaunch(r->calls, c->stream), "recorded calls");
        return true;
    }
    return false;
}

static void record(ganz_backend *be)
{
    ganz_cuda *c = ganz_cuda_of(be);
    (void)worked(c, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal), "recording");
}

/* In the place of the record that was not used for longest. */
static void recorded(ganz_backend *be, const void *owner, int number)
{
    ganz_cuda *c = ganz_cuda_of(be);
    cudaGraph_t graph = NULL;
    ganz_cuda_record *r = &c->records[0];
    for (int i = 1; i < RECORDS; i++)
        if (c->records[i].age < r->age) r = &c->records[i];
    if (!worked(c, cudaStreamEndCapture(c->stream, &graph), "recording")) return;
    if (r->owner != NULL) (void)cudaStreamSynchronize(c->stream); /* it may still run */
    record_free(r);
    const bool good = worked(c, cudaGraphInstantiate(&r->calls, graph, 0), "recording");
    (void)cudaGraphDestroy(graph);
    if (!good) return;
    r->owner = owner;
    r->number = number;
    (void)replay(be, owner, number);
}

/* ---- maxima of logits --------------------------------------------------------------------------- */

/* Recorded calls know the old block. */
float *ganz_cuda_take_maxima(ganz_cuda *c, const ganz_matrix *logits, size_t count)
{
    if (count > c->maxima_room) {
        count = count > MAXIMA_LEAST ? count : (size_t)MAXIMA_LEAST;
        forget(&c->table, NULL);
        float *memory = NULL;
        if (c->waits) ganz_cuda_flush(c);
        (void)cudaStreamSynchronize(c->stream); /* the old block may still be in use */
        (void)cudaFree(c->maxima);
        c->maxima = NULL;
        c->maxima_room = 0;
        if (cudaMalloc((void **)&memory, count * sizeof *memory) != cudaSuccess) {
            (void)cudaGetLastError();
            return NULL; /* it goes without */
        }
        c->maxima = memory;
        c->maxima_room = count;
    }
    c->maxima_of = *logits;
    return c->maxima;
}

const float *ganz_cuda_maxima_of(const ganz_backend *be, const ganz_matrix *logits)
{
    const ganz_cuda *c = (const ganz_cuda *)be;
    const ganz_matrix *of = &c->maxima_of;
    const bool same = of->data != NULL && of->data == logits->data && of->ld == logits->ld &&
                      of->rows == logits->rows && of->cols == logits->cols && of->type == logits->type;
    return same ? c->maxima : NULL;
}

/* ---- plans -------------------------------------------------------------------------------------- */

static void plan_free(ganz_cuda_plan *plan)
{
    ganz_free(plan->key);
    (void)cudaFree(plan->memory);
    memset(plan, 0, sizeof *plan);
}

void ganz_cuda_plans_free(ganz_cuda *c)
{
    for (int i = 0; i < PLANS; i++) plan_free(&c->plans[i]);
}

ganz_cuda_plan *ganz_cuda_find_plan(ganz_cuda *c, int kind, const void *list, size_t list_bytes)
{
    for (int i = 0; i < PLANS; i++) {
        ganz_cuda_plan *plan = &c->plans[i];
        if (plan->key == NULL || plan->kind != kind || plan->key_bytes != list_bytes) continue;
        if (memcmp(plan->key, list, list_bytes) != 0) continue;
        plan->age = ++c->age;
        return plan;
    }
    return NULL;
}

static bool plan_upload(ganz_cuda *c, ganz_cuda_plan *plan, const void *list, const ganz_cuda_layout *layout)
{
    const size_t items = ganz_round_up(layout->item_bytes * (size_t)layout->count, 256);
    const size_t pieces = ganz_round_up(layout->piece_bytes * (size_t)layout->pieces_count, 256);
    const size_t sums = layout->sums_count * sizeof(float);
    unsigned char *host = (unsigned char *)ganz_alloc(1, items + pieces + 1);
    if (host == NULL || plan->key == NULL) {
        ganz_cuda_fail(c, "a list of tensors", "out of memory");
        ganz_free(host);
        return false;
    }
    layout->fill(list, layout, host, host + items);
    const bool good = worked(c, cudaMalloc(&plan->memory, items + pieces + sums + 1), "a list of tensors");
    if (good) ganz_cuda_upload(&c->table, plan->memory, host, items + pieces);
    ganz_free(host);
    plan->items = plan->memory;
    plan->pieces = (unsigned char *)plan->memory + items;
    plan->sums = (float *)((unsigned char *)plan->memory + items + pieces);
    return good;
}

ganz_cuda_plan *ganz_cuda_make_plan(ganz_cuda *c, const void *list, size_t list_bytes, const ganz_cuda_layout *layout)
{
    ganz_cuda_plan *plan = &c->plans[0];
    for (int i = 1; i < PLANS; i++)
        if (c->plans[i].age < plan->age) plan = &c->plans[i];
    (void)worked(c, cudaStreamSynchronize(c->stream), "a list of tensors"); /* the old plan may still be in use */
    plan_free(plan);
    plan->key = ganz_alloc(1, list_bytes);
    if (plan->key != NULL) memcpy(plan->key, list, list_bytes);
    plan->key_bytes = list_bytes;
    plan->kind = layout->kind;
    plan->count = layout->count;
    plan->pieces_count = layout->pieces_count;
    plan->extra = layout->extra;
    plan->age = ++c->age;
    if (plan_upload(c, plan, list, layout)) return plan;
    plan_free(plan);
    return NULL;
}

/* ---- open and close ----------------------------------------------------------------------------- */

static void close_backend(ganz_backend *be)
{
    ganz_cuda *c = ganz_cuda_of(be);
    forget(be, NULL);
    ganz_cuda_plans_free(c);
    ganz_cuda_algos_free(c);
    for (int i = 0; i < RING_PARTS; i++)
        if (c->ring_free[i] != NULL) (void)cudaEventDestroy(c->ring_free[i]);
    (void)cudaFreeHost(c->ring);
    (void)cudaFreeHost(c->landing);
    (void)cudaFree(c->scratch);
    (void)cudaFree(c->workspace);
    (void)cudaFree(c->numbers);
    (void)cudaFree(c->maxima);
    ganz_cuda_products_free(c);
    if (c->lt != NULL) (void)c->blas.destroy(c->lt);
    ganz_cuda_blas_close(&c->blas);
    if (c->stream != NULL) (void)cudaStreamDestroy(c->stream);
    ganz_free(c);
}

static void fill_table(ganz_backend *t, ganz_precision precision)
{
    t->name = precision == GANZ_BF16_PRODUCTS ? "cuda bf16" : precision == GANZ_TF32 ? "cuda tf32" : "cuda fp32";
    t->product = precision == GANZ_BF16_PRODUCTS ? GANZ_BF16 : GANZ_REAL;
    t->host = false;
    t->makes_codes = true;
    t->reads_bytes = true;
    t->close = close_backend;
    t->alloc = memory_alloc;
    t->free = memory_free;
    t->upload = ganz_cuda_upload;
    t->download = download;
    t->copy = copy;
    t->zero = zero;
    t->sync = sync;
    t->idle = idle;
    t->mask = ganz_cuda_mask;
    t->embed = ganz_cuda_embed;
    t->embed_grad = ganz_cuda_embed_grad;
    t->norm = ganz_cuda_norm;
    t->norm_grad = ganz_cuda_norm_grad;
    t->linear = ganz_cuda_linear;
    t->linear_grad = ganz_cuda_linear_grad;
    t->attention = ganz_cuda_attention;
    t->attention_grad = ganz_cuda_attention_grad;
    t->loss = ganz_cuda_loss;
    t->quantize = ganz_cuda_quantize;
    t->quantize_grad = ganz_cuda_quantize_grad;
    t->largest = ganz_cuda_largest;
    t->scales = ganz_cuda_scales;
    t->refresh = ganz_cuda_refresh;
    t->rows_grad = ganz_cuda_rows_grad;
    t->adafactor = ganz_cuda_adafactor;
    t->adam = ganz_cuda_adam;
    t->topk = ganz_cuda_topk;
    t->average = ganz_cuda_average;
    t->add = ganz_cuda_add;
    t->add_rows = ganz_cuda_add_rows;
    t->pack_bytes = ganz_cuda_pack_bytes;
    t->pack = ganz_cuda_pack;
    t->embed_codes = ganz_cuda_embed_codes;
    t->norm_codes = ganz_cuda_norm_codes;
    t->linear_codes = ganz_cuda_linear_codes;
    t->attention_codes = ganz_cuda_attention_codes;
    t->replay = replay;
    t->record = record;
    t->recorded = recorded;
    t->forget = forget;
}

/* Everything a step needs is taken here, so that no step allocates. */
static bool take_memory(ganz_cuda *c)
{
    const size_t mebibyte = (size_t)1 << 20;
    const float numbers[3] = {0.0f, 1.0f, 1.0f};
    c->workspace_bytes = 64 * mebibyte;
    bool good = worked(c, cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking), "opening a stream");
    c->table.stream = c->stream;
    good = good && worked(c, cudaMalloc(&c->workspace, c->workspace_bytes), "workspace memory");
    good = good && worked(c, cudaMalloc((void **)&c->numbers, sizeof numbers), "workspace memory");
    good = good && worked(c, cudaMallocHost((void **)&c->ring, (size_t)RING_PARTS * RING_BYTES), "pinned memory");
    good = good && worked(c, cudaMallocHost((void **)&c->landing, LANDING_BYTES), "pinned memory");
    for (int i = 0; good && i < RING_PARTS; i++)
        good = worked(c, cudaEventCreateWithFlags(&c->ring_free[i], cudaEventDisableTiming), "opening an event");
    good = good && ganz_cuda_scratch(c, 64 * mebibyte) != NULL;
    char why[200] = "it cannot be opened";
    if (good && (!ganz_cuda_blas_open(&c->blas, why, sizeof why) || c->blas.create(&c->lt) != CUBLAS_STATUS_SUCCESS)) {
        ganz_cuda_fail(c, "cuBLASLt", why);
        good = false;
    }
    c->algos = (ganz_cuda_algo *)ganz_alloc(CACHE_SLOTS, sizeof *c->algos);
    if (c->algos == NULL) ganz_cuda_fail(c, "the cache of algorithms", "out of memory");
    good = good && c->algos != NULL;
    if (good) ganz_cuda_upload(&c->table, c->numbers, numbers, sizeof numbers);
    return good;
}

extern "C" int ganz_cuda_devices(void)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
    (void)cudaGetLastError();
    return 0;
}

extern "C" ganz_status ganz_cuda_backend_open(ganz_backend **be, int device, ganz_precision precision, ganz_error *err)
{
    *be = NULL;
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
        (void)cudaGetLastError();
        return ganz_fail(err, GANZ_EUNSUPPORTED, "no GPU can be used: %s",
                         found != cudaSuccess ? cudaGetErrorString(found) : "none is there");
    }
    if (device < 0 || device >= devices)
        return ganz_fail(err, GANZ_EINVAL, "there is no GPU %d: the machine has %d", device, devices);
    cudaDeviceProp about;
    cudaError_t set = cudaSetDevice(device);
    if (set == cudaSuccess) set = cudaGetDeviceProperties(&about, device);
    if (set != cudaSuccess) return ganz_fail(err, GANZ_ECUDA, "GPU %d: %s", device, cudaGetErrorString(set));
    if (about.major < 8)
        return ganz_fail(err, GANZ_EUNSUPPORTED, "GPU %d (%s) is too old: compute capability 8.0 is needed", device,
                         about.name);
    ganz_cuda *c = (ganz_cuda *)ganz_alloc(1, sizeof *c);
    if (c == NULL) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    fill_table(&c->table, precision);
    c->device = device;
    c->processors = about.multiProcessorCount;
    c->shared_bytes = (int)about.sharedMemPerBlockOptin;
    c->precision = precision;
    c->early = about.major >= 9;
    if (take_memory(c)) {
        *be = &c->table;
        return GANZ_OK;
    }
    const ganz_status status = ganz_fail(err, GANZ_ECUDA, "GPU %d (%s): %s", device, about.name, c->failure);
    close_backend(&c->table);
    return status;
}
