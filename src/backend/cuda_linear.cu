/* Dense products through cuBLASLt.
 *
 * A row-major matrix is the transpose of a column-major one, so the three products of a layer are
 *   y^T      (out, rows) = w (in, out)^T   x^T (in, rows)
 *   x_grad^T (in, rows)  = w (in, out)     y_grad^T (out, rows)
 *   w_grad^T (in, out)   = x^T (in, rows)  y_grad^T (out, rows)^T
 * The number of rows changes with every batch. Algorithms are asked for by rows rounded up, so that asking is rare, and
 * depend on nothing but the shape: a run that is repeated or resumed takes the same ones and gives the same bits. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda_common.cuh"

/* ---- the library -------------------------------------------------------------------------------- */

#define GANZ_TEXT_OF(x) #x
#define GANZ_TEXT(x) GANZ_TEXT_OF(x)
#define BLAS_NAME "libcublasLt.so." GANZ_TEXT(CUBLAS_VER_MAJOR)

static bool find_symbol(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool ganz_cuda_blas_open(ganz_cuda_blas *blas, char *why, size_t why_bytes)
{
    blas->library = dlopen(BLAS_NAME, RTLD_NOW | RTLD_LOCAL);
    if (blas->library == NULL) blas->library = dlopen("/usr/local/cuda/lib64/" BLAS_NAME, RTLD_NOW | RTLD_LOCAL);
    if (blas->library == NULL) {
        snprintf(why, why_bytes, "%s", dlerror());
        return false;
    }
    const struct {
        const char *name;
        void *to;
    } all[] = {{"cublasLtCreate", &blas->create},
               {"cublasLtDestroy", &blas->destroy},
               {"cublasLtMatmul", &blas->matmul},
               {"cublasLtMatmulAlgoGetHeuristic", &blas->heuristic},
               {"cublasLtMatmulDescInit_internal", &blas->desc_init},
               {"cublasLtMatmulDescSetAttribute", &blas->desc_set},
               {"cublasLtMatrixLayoutInit_internal", &blas->layout_init},
               {"cublasLtMatmulPreferenceInit_internal", &blas->preference_init},
               {"cublasLtMatmulPreferenceSetAttribute", &blas->preference_set}};
    for (size_t i = 0; i < GANZ_COUNT(all); i++) {
        if (find_symbol(blas->library, all[i].name, all[i].to)) continue;
        snprintf(why, why_bytes, "%s lacks %s", BLAS_NAME, all[i].name);
        return false;
    }
    return true;
}

void ganz_cuda_blas_close(ganz_cuda_blas *blas)
{
    if (blas->library != NULL) (void)dlclose(blas->library);
    blas->library = NULL;
}

/* ---- products ----------------------------------------------------------------------------------- */

typedef struct product {
    cublasOperation_t ta, tb;
    int m, n, k;
    const void *a, *b;
    void *d;
    int lda, ldb, ldd;
    cudaDataType type, type_d;
    const float *alpha; /* on the device; NULL: 1 */
    bool add;           /* d += instead of d = */
    cublasLtEpilogue_t epilogue;
    const void *bias; /* (m) in type_d */
    bool rows_inside; /* rows are k, else n */
} product;

typedef struct described {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, d;
} described;

static cudaDataType cuda_type(ganz_type type) { return type == GANZ_BF16 ? CUDA_R_16BF : CUDA_R_32F; }

static int round_rows(int rows) { return (int)ganz_round_up((size_t)rows, rows <= 1024 ? 64 : 1024); }

/* Bytes all four matrices are aligned to, up to the 16 that the fastest kernels ask for. */
static int alignment(const product *p)
{
    const size_t in = p->type == CUDA_R_16BF ? 2 : 4, out = p->type_d == CUDA_R_16BF ? 2 : 4;
    const size_t bits = (size_t)p->a | (size_t)p->b | (size_t)p->d | (size_t)p->lda * in | (size_t)p->ldb * in |
                        (size_t)p->ldd * out | 16;
    return (int)(bits & (~bits + 1));
}

/* ---- the cache of algorithms -------------------------------------------------------------------- */

void ganz_cuda_algos_free(ganz_cuda *c)
{
    ganz_free(c->algos);
    c->algos = NULL;
}

static ganz_cuda_shape shape_of(const product *p, int rows)
{
    ganz_cuda_shape s;
    memset(&s, 0, sizeof s);
    s.m = p->m;
    s.n = p->rows_inside ? p->n : rows;
    s.k = p->rows_inside ? rows : p->k;
    s.lda = p->lda;
    s.ldb = p->ldb;
    s.ldd = p->ldd;
    s.ta = p->ta;
    s.tb = p->tb;
    s.type = p->type;
    s.type_d = p->type_d;
    s.epilogue = p->epilogue;
    s.alpha_on_device = p->alpha != NULL;
    s.add = p->add;
    s.alignment = alignment(p);
    return s;
}

static ganz_cuda_algo *find_slot(ganz_cuda *c, const ganz_cuda_shape *shape)
{
    const unsigned char *bytes = (const unsigned char *)shape;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < sizeof *shape; i++) hash = (hash ^ bytes[i]) * 16777619u;
    if (c->algos_used > CACHE_SLOTS / 2) {
        memset(c->algos, 0, CACHE_SLOTS * sizeof *c->algos);
        c->algos_used = 0;
    }
    for (uint32_t i = hash;; i++) {
        ganz_cuda_algo *slot = &c->algos[i % CACHE_SLOTS];
        if (!slot->used || memcmp(&slot->shape, shape, sizeof *shape) == 0) return slot;
    }
}

static bool describe(const ganz_cuda *c, const product *p, const ganz_cuda_shape *s, described *to)
{
    const bool fast = c->precision == GANZ_TF32 && p->type == CUDA_R_32F;
    const cublasLtPointerMode_t mode = p->alpha != NULL ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
    const ganz_cuda_blas *blas = &c->blas;
    cublasStatus_t e = blas->desc_init(&to->desc, sizeof to->desc,
                                       fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
    if (e) return false;
    e = blas->desc_set(&to->desc, CUBLASLT_MATMUL_DESC_TRANSA, &p->ta, sizeof p->ta);
    if (!e) e = blas->desc_set(&to->desc, CUBLASLT_MATMUL_DESC_TRANSB, &p->tb, sizeof p->tb);
    if (!e) e = blas->desc_set(&to->desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof mode);
    if (!e) e = blas->desc_set(&to->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &p->epilogue, sizeof p->epilogue);
    if (!e && p->bias != NULL)
        e = blas->desc_set(&to->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias, sizeof p->bias);
    const bool ta = p->ta == CUBLAS_OP_T, tb = p->tb == CUBLAS_OP_T;
    if (!e) e = blas->layout_init(&to->a, sizeof to->a, p->type, ta ? s->k : s->m, ta ? s->m : s->k, p->lda);
    if (!e) e = blas->layout_init(&to->b, sizeof to->b, p->type, tb ? s->n : s->k, tb ? s->k : s->n, p->ldb);
    if (!e) e = blas->layout_init(&to->d, sizeof to->d, p->type_d, s->m, s->n, p->ldd);
    return !e;
}

/* The best algorithm by the library's own judgement. `schemes`: how sums that were split along k may be joined. */
static bool ask_with(ganz_cuda *c, described *d, int aligned, uint32_t schemes, ganz_cuda_algo *slot)
{
    cublasLtMatmulPreferenceOpaque_t preference;
    const uint64_t room = c->workspace_bytes;
    const uint32_t bytes = (uint32_t)aligned;
    cublasStatus_t e = c->blas.preference_init(&preference, sizeof preference);
    if (!e) e = c->blas.preference_set(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
    if (!e)
        e = c->blas.preference_set(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
    for (int i = 0; !e && i < 4; i++) {
        const cublasLtMatmulPreferenceAttributes_t which =
            (cublasLtMatmulPreferenceAttributes_t)(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + i);
        e = c->blas.preference_set(&preference, which, &bytes, sizeof bytes);
    }
    if (e) return false;
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    e = c->blas.heuristic(c->lt, &d->desc, &d->a, &d->b, &d->d, &d->d, &preference, 1, &result, &found);
    if (e || found == 0 || result.state != CUBLAS_STATUS_SUCCESS) return false;
    slot->algo = result.algo;
    slot->workspace = result.workspaceSize;
    return true;
}

/* Joining in a step of its own is surely the same every time, so it is asked for first; joining in place is said to go
 * in sequence too. */
static bool ask(ganz_cuda *c, described *d, int aligned, ganz_cuda_algo *slot)
{
    const uint32_t apart = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    return ask_with(c, d, aligned, apart, slot) || ask_with(c, d, aligned, CUBLASLT_REDUCTION_SCHEME_MASK, slot);
}

static const ganz_cuda_algo *algo_for(ganz_cuda *c, const product *p, int rows)
{
    const ganz_cuda_shape shape = shape_of(p, rows);
    ganz_cuda_algo *slot = find_slot(c, &shape);
    if (slot->used) return slot;
    described d;
    slot->shape = shape;
    slot->used = true;
    slot->works = describe(c, p, &shape, &d) && ask(c, &d, shape.alignment, slot);
    c->algos_used++;
    return slot;
}

static cublasStatus_t multiply_with(ganz_cuda *c, const product *p, const ganz_cuda_algo *algo)
{
    const ganz_cuda_shape exact = shape_of(p, p->rows_inside ? p->k : p->n);
    const float one = 1.0f, zero = 0.0f;
    described d;
    if (!describe(c, p, &exact, &d)) return CUBLAS_STATUS_INVALID_VALUE;
    const void *alpha = p->alpha != NULL ? (const void *)p->alpha : &one;
    const void *beta = p->alpha != NULL ? (const void *)(c->numbers + (p->add ? 1 : 0)) : p->add ? &one : &zero;
    return c->blas.matmul(c->lt, &d.desc, alpha, p->a, &d.a, p->b, &d.b, beta, p->d, &d.d, p->d, &d.d, &algo->algo,
                          c->workspace, c->workspace_bytes, c->stream);
}

/* False when the library has no kernel for it. */
static bool multiply(ganz_cuda *c, const product *p)
{
    const int rows = p->rows_inside ? p->k : p->n;
    const ganz_cuda_algo *algo = algo_for(c, p, round_rows(rows));
    if (algo->works && multiply_with(c, p, algo) == CUBLAS_STATUS_SUCCESS) return true;
    algo = algo_for(c, p, rows);
    return algo->works && multiply_with(c, p, algo) == CUBLAS_STATUS_SUCCESS;
}

static void must_multiply(ganz_cuda *c, const product *p, const char *where)
{
    if (!multiply(c, p)) ganz_cuda_fail(c, where, "cuBLASLt has no kernel for this product");
}

/* ---- the layer ---------------------------------------------------------------------------------- */

static __global__ void multiply_scales(const float *a, const float *b, float *product) { *product = *a * *b; }

static const float *product_of_scales(ganz_cuda *c, const ganz_operand *a, const ganz_operand *b)
{
    if (a->scale == NULL) return b->scale;
    if (b->scale == NULL) return a->scale;
    multiply_scales<<<1, 1, 0, c->stream>>>(a->scale, b->scale, c->numbers + 2);
    ganz_cuda_launched(c, "steps");
    return c->numbers + 2;
}

/* The two sides of a product must have one type; a side that differs is converted to the product type in scratch. */
static ganz_matrix as_product(ganz_cuda *c, const ganz_matrix *m, unsigned char **room)
{
    if (m->type == c->table.product) return *m;
    ganz_matrix made = *m;
    made.type = c->table.product;
    made.ld = m->cols;
    made.data = *room;
    if (*room != NULL) ganz_cuda_convert(c, m, made.type, made.data);
    *room += ganz_round_up((size_t)m->rows * (size_t)m->cols * ganz_type_bytes(made.type), 256);
    return made;
}

static size_t convert_bytes(const ganz_cuda *c, const ganz_matrix *m)
{
    if (m->data == NULL || m->type == c->table.product) return 0;
    return ganz_round_up((size_t)m->rows * (size_t)m->cols * ganz_type_bytes(c->table.product), 256);
}

/* Bias and relu ride along with the product where they can; dropout and smooth activations never can. Returns false
 * where they cannot: ganz_cuda_finish_rows then does it. */
static bool ride_along(ganz_cuda *c, const ganz_linear_call *call, product *p, void *bias_room)
{
    const bool relu = call->activation == GANZ_ACTIVATION_RELU;
    if (call->drop.mask != NULL || ganz_activation_is_smooth(call->activation)) return false;
    if (call->bias != NULL) {
        p->bias = call->bias;
        p->epilogue = relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
        if (call->y.type == GANZ_BF16) { /* the library wants the bias in the type of y */
            const ganz_matrix bias = {1, call->out, call->out, GANZ_REAL, (void *)call->bias};
            ganz_cuda_convert(c, &bias, GANZ_BF16, bias_room);
            p->bias = bias_room;
        }
    } else if (relu) {
        p->epilogue = CUBLASLT_EPILOGUE_RELU;
    }
    return true;
}

enum { SUMS_BYTES = 32 << 20 };

/* Rows of a product that becomes codes: their sums, in float, are to stay in the cache until they are rounded. */
static int code_rows(const ganz_linear_call *call)
{
    const size_t rows = SUMS_BYTES / sizeof(float) / (size_t)call->out / 1024 * 1024;
    return ganz_cuda_min(call->rows, rows > 0 ? (int)rows : 1024);
}

/* Product by product of some rows: sums to scratch, sums to codes. */
static void linear_to_codes(ganz_cuda *c, const ganz_linear_call *call, product *p, float *sums)
{
    const int each = code_rows(call);
    const unsigned char *x = (const unsigned char *)p->b;
    const size_t line = (size_t)p->ldb * (p->type == CUDA_R_16BF ? 2 : 4);
    p->d = sums;
    p->ldd = call->out;
    p->type_d = CUDA_R_32F;
    p->alpha = NULL;
    p->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    for (int first = 0; first < call->rows; first += each) {
        p->n = ganz_cuda_min(each, call->rows - first);
        p->b = x + (size_t)first * line;
        must_multiply(c, p, "linear");
        ganz_cuda_finish_codes(c, call, sums, first, p->n);
    }
}

void ganz_cuda_linear(ganz_backend *be, const ganz_linear_call *call)
{
    if (ganz_cuda_linear_bytes((ganz_cuda *)be, call)) return;
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    const size_t bias_bytes = ganz_round_up((size_t)call->out * sizeof(bf16), 256);
    const bool codes = call->codes.m.data != NULL;
    const size_t sums_bytes =
        codes ? ganz_round_up((size_t)code_rows(call) * (size_t)call->out * sizeof(float), 256) : 0;
    unsigned char *room = (unsigned char *)ganz_cuda_scratch(c, bias_bytes + sums_bytes + convert_bytes(c, &call->x.m) +
                                                                    convert_bytes(c, &call->w.m));
    if (room == NULL) return;
    void *bias_room = room;
    float *sums = (float *)(room + bias_bytes);
    room += bias_bytes + sums_bytes;
    const ganz_matrix x = as_product(c, &call->x.m, &room), w = as_product(c, &call->w.m, &room);
    product p;
    memset(&p, 0, sizeof p);
    p.ta = CUBLAS_OP_T;
    p.tb = CUBLAS_OP_N;
    p.m = call->out;
    p.n = call->rows;
    p.k = call->in;
    p.a = w.data;
    p.lda = w.ld;
    p.b = x.data;
    p.ldb = x.ld;
    const bool keeps = ganz_activation_is_smooth(call->activation) && call->before.data != NULL;
    const ganz_matrix sum = keeps ? call->before : call->y;
    p.d = sum.data;
    p.ldd = sum.ld;
    p.type = cuda_type(x.type);
    if (codes) {
        linear_to_codes(c, call, &p, sums);
        return;
    }
    p.type_d = cuda_type(sum.type);
    p.alpha = call->w_by_row ? NULL : product_of_scales(c, &call->x, &call->w);
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    if (!call->w_by_row && ride_along(c, call, &p, bias_room) && multiply(c, &p)) return;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p.bias = NULL;
    must_multiply(c, &p, "linear");
    if (call->w_by_row) ganz_cuda_scale_columns(c, &sum, call->w.scale, call->x.scale);
    if (call->bias != NULL || call->activation != GANZ_ACTIVATION_NONE || call->drop.mask != NULL)
        ganz_cuda_finish_rows(c, call);
}

static void input_grad(ganz_cuda *c, const ganz_linear_call *call, const ganz_matrix *w, const ganz_matrix *y_grad)
{
    product p;
    memset(&p, 0, sizeof p);
    p.ta = p.tb = CUBLAS_OP_N;
    p.m = call->in;
    p.n = call->rows;
    p.k = call->out;
    p.a = w->data;
    p.lda = w->ld;
    p.b = y_grad->data;
    p.ldb = y_grad->ld;
    p.d = call->x_grad.data;
    p.ldd = call->x_grad.ld;
    p.type = cuda_type(w->type);
    p.type_d = cuda_type(call->x_grad.type);
    p.alpha = call->w_by_row ? NULL : call->w.scale;
    p.add = call->x_grad_add;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    must_multiply(c, &p, "gradient of a product's input");
}

static void weight_grad(ganz_cuda *c, const ganz_linear_call *call, const ganz_matrix *x, const ganz_matrix *y_grad)
{
    product p;
    memset(&p, 0, sizeof p);
    p.ta = CUBLAS_OP_N;
    p.tb = CUBLAS_OP_T;
    p.m = call->in;
    p.n = call->out;
    p.k = call->rows;
    p.a = x->data;
    p.lda = x->ld;
    p.b = y_grad->data;
    p.ldb = y_grad->ld;
    p.d = call->w_grad;
    p.ldd = call->in;
    p.type = cuda_type(x->type);
    p.type_d = CUDA_R_32F;
    p.alpha = call->x.scale;
    p.add = true;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p.rows_inside = true;
    must_multiply(c, &p, "gradient of a weight");
}

void ganz_cuda_linear_grad(ganz_backend *be, const ganz_linear_call *call)
{
    ganz_cuda *c = ganz_cuda_of(be);
    if (call->rows == 0) return;
    ganz_cuda_back_rows(c, call);
    const bool want_x = call->x_grad.data != NULL, want_w = call->w_grad != NULL;
    if (!want_x && !want_w) return;
    const size_t bytes = convert_bytes(c, &call->y_grad) + (want_x ? convert_bytes(c, &call->w.m) : 0) +
                         (want_w ? convert_bytes(c, &call->x.m) : 0);
    unsigned char *room = (unsigned char *)ganz_cuda_scratch(c, bytes);
    if (room == NULL) return;
    const ganz_matrix y_grad = as_product(c, &call->y_grad, &room);
    if (want_w) {
        const ganz_matrix x = as_product(c, &call->x.m, &room);
        weight_grad(c, call, &x, &y_grad);
    }
    if (want_x) { /* last: it may change y_grad */
        const ganz_matrix w = as_product(c, &call->w.m, &room);
        if (call->w_by_row) ganz_cuda_scale_columns(c, &y_grad, call->w.scale, NULL);
        input_grad(c, call, &w, &y_grad);
    }
}
