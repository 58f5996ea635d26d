/* Widths within a budget: what is measured falls with the bits, what is chosen fits, and the model has these widths. */
#include "test.h"

#include <math.h>
#include <sys/stat.h>

#include "folder.h"
#include "ganz/quantize.h"
#include "toy_quantize.h"

static ganz_budget_choice choose(const ganz_train_options *o, ganz_budget budget)
{
    ganz_budget_choice choice;
    ganz_error err;
    if (ganz_budget_choose(o, &budget, &choice, &err) != GANZ_OK) fail_msg("%s", err.message);
    return choice;
}

/* The harm of all products in one width: what 8 bits on average, or 3, leave no choice about. */
static void fewer_bits_do_more_harm(void **state)
{
    (void)state;
    const ganz_train_options o = quantize_options("none", 8);
    const ganz_budget_choice wide = choose(&o, (ganz_budget){.bits = 8}), narrow = choose(&o, (ganz_budget){.bits = 3});
    assert_int_equal(17, wide.products[8]);
    assert_int_equal(17, narrow.products[3]);
    assert_int_equal(3, narrow.weight_bits);
    assert_string_equal("", narrow.exceptions);
    print_message("8 bits: %.6f, 3 bits: %.6f nats a token\n", wide.harm, narrow.harm);
    assert_true(wide.harm >= 0 && narrow.harm > 10 * wide.harm);
    const ganz_budget_choice five = choose(&o, (ganz_budget){.bits = 5});
    assert_true(five.bits <= 5 && five.bits > 4.5);
    assert_true(five.harm > wide.harm && five.harm < narrow.harm);
    int products = 0, widths = 0;
    for (int bits = 3; bits <= 8; bits++) products += five.products[bits], widths += five.products[bits] > 0;
    assert_int_equal(17, products);
    assert_true(widths > 1); /* not all deserve the same */
}

/* Parts of a step, which processes may share: each measures the whole batch, and all choose alike. */
static void parts_change_nothing(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("none", 8);
    const ganz_budget_choice whole = choose(&o, (ganz_budget){.bits = 5});
    o.recipe.parts = 4;
    const ganz_budget_choice parts = choose(&o, (ganz_budget){.bits = 5});
    assert_true(parts.harm > 0 && parts.harm == whole.harm);
    assert_string_equal(whole.exceptions, parts.exceptions);
}

/* A copy of a float model without its checksums, and with one tensor a huge factor larger. */
static void write_huge(const char *from, const char *to, const char *tensor)
{
    size_t bytes, begin, end;
    char *const file = read_whole(from, &bytes), key[80];
    uint64_t header;
    float x;
    memcpy(&header, file, sizeof header);
    char *const data = file + 8 + header;
    for (char *at = file + 8; at + 20 < data; at++)
        if (strncmp(at, "xxh3", 4) == 0 || strncmp(at, "header_checksum", 15) == 0) *at = 'X';
    snprintf(key, sizeof key, "\"%s\":{", tensor);
    const char *const offsets = strstr(strstr(file + 8, key), "data_offsets");
    assert_int_equal(2, sscanf(offsets, "data_offsets\":[%zu,%zu", &begin, &end));
    for (char *at = data + begin; at < data + end; at += sizeof x) {
        memcpy(&x, at, sizeof x);
        x *= 1e37f;
        memcpy(at, &x, sizeof x);
    }
    FILE *const f = fopen(to, "wb");
    assert_int_equal(bytes, fwrite(file, 1, bytes, f));
    assert_int_equal(0, fclose(f));
    free(file);
}

/* What cannot be measured is no reason for any width. */
static void overflow_is_told(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("none", 8);
    ganz_budget_choice none;
    ganz_error err;
    write_huge(o.model, in_dir("huge.safetensors"), "enc.0.ffn.in.weight");
    o.model = in_dir("huge.safetensors");
    assert_int_equal(GANZ_EFORMAT, ganz_budget_choose(&o, &(ganz_budget){.bits = 5}, &none, &err));
    assert_string_equal("the model's numbers overflow: it gives no probabilities", err.message);
}

static void count(void *context, int done, int of)
{
    (void)of;
    *(int *)context = done;
}

typedef struct budget_stop {
    ganz_flag flag;
    int done;
} budget_stop;

static void stop_at_three(void *context, int done, int of)
{
    budget_stop *const s = context;
    (void)of;
    s->done = done;
    if (done == 3) ganz_flag_set(&s->flag);
}

static void a_stop_is_heeded(void **state)
{
    (void)state;
    budget_stop s = {0};
    ganz_train_options o = quantize_options("none", 8);
    ganz_budget_choice none;
    ganz_error err;
    o.stop = &s.flag;
    const ganz_budget budget = {.bits = 5, .progress = stop_at_three, .context = &s};
    assert_int_equal(GANZ_ESTOPPED, ganz_budget_choose(&o, &budget, &none, &err));
    assert_int_equal(3, s.done);
}

/* A size: the file that is made has it, with the widths that were chosen; and one that cannot be is refused, before
 * anything is measured. */
static void sizes_are_kept(void **state)
{
    (void)state;
    ganz_train_options o = quantize_options("sized", 8);
    ganz_error err;
    struct stat file;
    o.recipe.steps_per_phase = 10;
    const ganz_budget_choice all = choose(&o, (ganz_budget){.bytes = 100000000});
    assert_int_equal(17, all.products[8]);
    const long long size = (long long)all.bytes * 3 / 4;
    const ganz_budget_choice choice = choose(&o, (ganz_budget){.bytes = size});
    assert_true(choice.products[4] > 0 && choice.products[8] > 0 && choice.products[4] + choice.products[8] == 17);
    assert_true(choice.bytes <= (double)size);
    o.recipe.weight_bits = choice.weight_bits;
    assert_int_equal(GANZ_OK, ganz_recipe_set(&o.recipe, "exceptions", choice.exceptions, NULL));
    if (ganz_train(&o, NULL, &err) != GANZ_OK) fail_msg("%s", err.message);
    assert_int_equal(0, stat(in_dir("sized/best.safetensors"), &file));
    print_message("%lld bytes wanted, %.0f reckoned, %lld made\n", size, choice.bytes, (long long)file.st_size);
    assert_true(file.st_size <= size);
    ganz_model *m;
    int narrow = 0;
    assert_int_equal(GANZ_OK, ganz_model_open(&m, in_dir("sized/best.safetensors"), NULL));
    for (int i = 0; i < m->net.sites; i++) narrow += m->net.site[i].rule.weight_bits == 4;
    assert_int_equal(choice.products[4], narrow);
    ganz_model_close(&m);
    ganz_budget_choice none;
    int measured = 0;
    ganz_budget small = {.bytes = 1000, .progress = count, .context = &measured};
    assert_int_equal(GANZ_EINVAL, ganz_budget_choose(&o, &small, &none, &err));
    assert_non_null(strstr(err.message, "no model of 1000 bytes"));
    small.bits = 2;
    assert_int_equal(GANZ_EINVAL, ganz_budget_choose(&o, &small, &none, &err));
    assert_int_equal(0, measured);
    small.bits = 3;
    assert_int_equal(GANZ_OK, ganz_budget_choose(&o, &small, &none, &err));
    assert_int_equal(17 * 6, measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_bits_do_more_harm), cmocka_unit_test(parts_change_nothing),
        cmocka_unit_test(overflow_is_told),        cmocka_unit_test(a_stop_is_heeded),
        cmocka_unit_test(sizes_are_kept),
    };
    return cmocka_run_group_tests(tests, setup_all, teardown);
}
