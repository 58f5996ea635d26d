/* A float model that has learned to reverse, to be made integer: for tests of quantization. */
#ifndef GANZ_TEST_TOY_QUANTIZE_H
#define GANZ_TEST_TOY_QUANTIZE_H

#include "toy.h"

/* Unseen sentences as text. */
static inline void write_valid(void)
{
    FILE *const source = fopen(in_dir("unseen.src"), "w"), *const target = fopen(in_dir("unseen.tgt"), "w");
    for (int i = 0; i < 100; i++) {
        int32_t ids[LONGEST];
        const int n = make_source(77, (uint64_t)i, ids) - 1;
        for (int j = 0; j < n; j++) {
            fprintf(source, "%c%c", 'a' + ids[j] - 2, j + 1 < n ? ' ' : '\n');
            fprintf(target, "%c%c", 'a' + ids[n - 1 - j] - 2, j + 1 < n ? ' ' : '\n');
        }
    }
    fclose(source);
    fclose(target);
}

/* A float model that has learned to reverse. */
static inline void make_float(void)
{
    ganz_train_options o = toy_options("reverse");
    o.recipe.steps = 1000;
    o.recipe.width = 64;
    o.recipe.ffn = 128;
    o.recipe.heads = 4;
    o.recipe.validate_every = 400;
    o.valid_source = in_dir("unseen.src");
    o.valid_target = in_dir("unseen.tgt");
    o.out = in_dir("float");
    must_train(&o);
}

static inline int setup_all(void **state)
{
    if (setup(state) != 0) return -1;
    write_valid();
    make_float();
    return 0;
}

static inline ganz_train_options quantize_options(const char *folder, int bits)
{
    ganz_train_options o = toy_options("reverse");
    o.vocab = NULL;
    o.model = in_dir("float/best.safetensors");
    o.quantize = true;
    o.recipe.bits = bits;
    o.recipe.steps_per_phase = 40;
    o.recipe.measure_batches = 10;
    o.recipe.validate_every = 20;
    o.recipe.log_every = 10;
    o.valid_source = in_dir("unseen.src");
    o.valid_target = in_dir("unseen.tgt");
    o.out = in_dir(folder);
    return o;
}

static inline void refuses(const ganz_train_options *o, const char *text)
{
    ganz_error err = {0};
    assert_int_not_equal(GANZ_OK, ganz_train(o, NULL, &err));
    if (!strstr(err.message, text)) fail_msg("expected %s in: %s", text, err.message);
}

#endif
