/* The network: names and counts, initial values, whole passes, one token at a time, invariances. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"

static const ganz_config base = {512, 2048, 8, 6, 6, 33288, 256}, big = {1024, 4096, 16, 6, 6, 33288, 256};

/* ---- registry ----------------------------------------------------------------------------------- */

static void counts_are_those_of_the_paper(void **state)
{
    (void)state;
    const ganz_config configs[] = {base, big};
    const size_t totals[] = {61163520, 210407424};
    for (int i = 0; i < 2; i++) {
        ganz_net net;
        assert_int_equal(ganz_net_open(&net, &configs[i], NULL), GANZ_OK);
        assert_int_equal(ganz_params_total(&net.params), totals[i]);
        assert_int_equal(net.sites, 97);
        assert_int_equal(2 * net.pairs, 36);
        assert_int_equal(net.steps, 169);
        int steps = 0;
        for (int p = 0; p < net.params.count; p++) steps += net.params.list[p].kind == GANZ_STEP;
        assert_int_equal(steps, 169);
        ganz_net_close(&net);
    }
}

static void places_are_canonical(void **state)
{
    (void)state;
    ganz_net net;
    assert_int_equal(ganz_net_open(&net, &base, NULL), GANZ_OK);
    static bool seen[169];
    int unsigned_steps = 0;
    for (int i = 0; i < net.sites; i++) {
        const ganz_site *const site = ganz_net_site(&net, i);
        assert_int_equal(site->place, i);
        assert_int_equal(site->input.z, net.first_step + site->input.place);
        seen[site->input.place] = true;
        const ganz_param *const w = &net.params.list[site->weight];
        assert_int_equal(w->rows, site->out);
        assert_int_equal(w->cols, site->in);
    }
    for (int i = 0; i < net.pairs; i++) {
        const ganz_pair *const pair = ganz_net_pair(&net, i);
        const ganz_step steps[] = {pair->q, pair->k, pair->u, pair->v};
        for (int j = 0; j < 4; j++) seen[steps[j].place] = true;
        unsigned_steps++;
    }
    for (int i = 0; i < net.steps; i++) assert_true(seen[i]);
    assert_int_equal(unsigned_steps, 18);
    assert_string_equal(ganz_net_site(&net, 0)->name, "enc.0.self.q");
    assert_string_equal(ganz_net_site(&net, 35)->name, "enc.5.ffn.out");
    assert_string_equal(ganz_net_site(&net, 41)->name, "dec.0.cross.k");
    assert_string_equal(ganz_net_site(&net, 96)->name, "logits");
    assert_string_equal(ganz_net_pair(&net, 5)->name, "enc.5.self");
    assert_string_equal(ganz_net_pair(&net, 17)->name, "dec.5.cross");
    ganz_net_close(&net);
}

static const ganz_param *named(const ganz_net *net, const char *name)
{
    const int index = ganz_params_find(&net->params, name);
    if (index < 0) fail_msg("no parameter %s", name);
    return &net->params.list[index];
}

static void names_and_neighbours(void **state)
{
    (void)state;
    ganz_net net;
    assert_int_equal(ganz_net_open(&net, &base, NULL), GANZ_OK);
    static const char *const names[] = {"embedding", "target_space", "enc.0.self.q.weight", "enc.5.self.norm.scale",
                                        "enc.0.ffn.in.bias", "enc.norm.bias", "dec.3.cross.o.weight", "dec.5.ffn.out.weight",
                                        "dec.norm.scale", "enc.0.self.q.x.z", "enc.0.self.pair.u.z", "logits.x.z"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) assert_non_null(named(&net, names[i]));
    assert_int_equal(ganz_params_find(&net.params, "dec.6.ffn.out.weight"), -1);
    const size_t square = 512 * 512;
    assert_int_equal(named(&net, "enc.0.self.v.weight")->offset - named(&net, "enc.0.self.q.weight")->offset, 2 * square);
    assert_int_equal(named(&net, "dec.1.cross.v.weight")->offset - named(&net, "dec.1.cross.k.weight")->offset, square);
    assert_int_equal(named(&net, "logits.x.z")->offset - named(&net, "enc.0.self.q.x.z")->offset, 168);
    size_t end = 0;
    for (int i = 0; i < net.params.count; i++) {
        const ganz_param *const p = &net.params.list[i];
        assert_true(p->offset >= end);
        assert_true(p->offset == end || p->offset % 64 == 0);
        end = p->offset + ganz_param_count(p);
    }
    assert_int_equal(end, net.params.block);
    ganz_net_close(&net);
}

static void bad_configurations_are_refused(void **state)
{
    (void)state;
    ganz_net net;
    ganz_error err;
    ganz_config c = base;
    c.heads = 7;
    assert_int_equal(ganz_net_open(&net, &c, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "width 512 does not divide into 7 heads");
    const ganz_config bad[] = {{0, 8, 1, 1, 1, 8, 8},  {8, 0, 1, 1, 1, 8, 8},     {8, 8, 0, 1, 1, 8, 8}, {8, 8, 2, 0, 1, 8, 8},
                               {8, 8, 2, 1, 65, 8, 8}, {8, 8, 2, 1, 1, 1 << 21, 8}, {8, 8, 2, 1, 1, 8, 0}, {9, 8, 3, 1, 1, 8, 8}};
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) assert_int_equal(ganz_net_open(&net, &bad[i], &err), GANZ_EINVAL);
    for (long n = 1;; n++) { /* every allocation fails once, cleanly */
        ganz_alloc_fail_at(n);
        const ganz_status status = ganz_net_open(&net, &base, &err);
        ganz_alloc_fail_at(0);
        if (status == GANZ_OK) break;
        assert_int_equal(status, GANZ_ENOMEM);
    }
    ganz_net_close(&net);
}

/* ---- initial values ----------------------------------------------------------------------------- */

static void check_uniform(const ganz_net *net, const real *block, const char *name, double bound)
{
    const ganz_param *const p = named(net, name);
    const real *const value = block + p->offset;
    const size_t count = ganz_param_count(p);
    double sum = 0, square = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += value[i];
        square += (double)value[i] * value[i];
        largest = fmax(largest, fabs((double)value[i]));
    }
    assert_true(largest <= bound && largest > 0.999 * bound);
    const double deviation = bound / sqrt(3.0), root = sqrt((double)count);
    assert_true(fabs(sum / (double)count) < 4 * deviation / root);
    assert_true(fabs(sqrt(square / (double)count) / deviation - 1) < 4 / root);
}

static void initial_values(void **state)
{
    (void)state;
    ganz_config c = base;
    c.vocab = 1000;
    ganz_net net;
    assert_int_equal(ganz_net_open(&net, &c, NULL), GANZ_OK);
    real *const block = ganz_alloc(net.params.block, sizeof *block);
    assert_non_null(block);
    ganz_params_init(&net.params, 7, block);
    check_uniform(&net, block, "enc.0.self.q.weight", 0.0765466);
    check_uniform(&net, block, "dec.5.ffn.in.weight", 0.0484123);
    check_uniform(&net, block, "enc.3.ffn.out.weight", 0.0484123);
    check_uniform(&net, block, "target_space", 0.1050210);
    const ganz_param *const e = named(&net, "embedding");
    double square = 0, fourth = 0;
    for (size_t i = 0; i < ganz_param_count(e); i++) {
        const double x = (double)block[e->offset + i] * sqrt(512.0);
        square += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(square / 512000 - 1) < 0.01);
    assert_true(fabs(fourth / 512000 - 3) < 0.05); /* a normal's */
    for (int j = 0; j < 512; j++) {
        assert_true(block[named(&net, "enc.0.ffn.norm.scale")->offset + (size_t)j] == 1);
        assert_true(block[named(&net, "dec.norm.bias")->offset + (size_t)j] == 0);
        assert_true(block[named(&net, "dec.0.ffn.out.bias")->offset + (size_t)j] == 0);
    }
    const real *const q = block + named(&net, "enc.0.self.q.weight")->offset;
    assert_memory_not_equal(q, q + 512 * 512, 512 * sizeof *q); /* a stream of its own for each */
    ganz_free(block);
    ganz_net_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_paper),
        cmocka_unit_test(places_are_canonical),
        cmocka_unit_test(names_and_neighbours),
        cmocka_unit_test(bad_configurations_are_refused),
        cmocka_unit_test(initial_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
