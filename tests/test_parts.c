/* Steps in parts: the cutting, the order of sums, and that nothing of it depends on who makes which part. */
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "toy.h"
#include "train/crew.h"
#include "train/exchange.h"

/* ---- cutting ------------------------------------------------------------------------------------ */

static void shares_are_whole(void **state)
{
    (void)state;
    for (int parts = 1; parts <= 64; parts *= 2)
        for (int ranks = 1; ranks <= parts; ranks++) {
            int next = 0;
            for (int rank = 0; rank < ranks; rank++) {
                const ganz_share s = ganz_share_of(parts, rank, ranks);
                assert_int_equal(next, s.first);
                assert_in_range(s.last - s.first, parts / ranks, (parts + ranks - 1) / ranks);
                next = s.last;
            }
            assert_int_equal(parts, next);
        }
}

/* Runs are nodes of the tree, in order and without gaps; and no two are the children of one. */
static void runs_are_nodes(void **state)
{
    (void)state;
    for (int first = 0; first < 32; first++)
        for (int last = first; last <= 32; last++) {
            ganz_run runs[GANZ_MOST_RUNS];
            const int count = ganz_runs_of((ganz_share){first, last}, runs);
            int next = first;
            for (int i = 0; i < count; i++) {
                assert_int_equal(next, runs[i].first);
                assert_int_equal(0, runs[i].count & (runs[i].count - 1));
                assert_int_equal(0, runs[i].first % runs[i].count);
                if (i > 0) assert_false(ganz_runs_meet(runs[i - 1], runs[i]));
                next += runs[i].count;
            }
            assert_int_equal(last, next);
        }
}

static void parts_are_rows(void **state)
{
    (void)state;
    const int32_t begin[] = {0, 2, 3, 5, 6, 9}, row[] = {0, 0, 0, 1, 1, 3, 4, 4, 4}; /* row 2 has no segment */
    const ganz_batch batch = {
        .segments = 5, .target_rows = 9, .target_begin = begin, .target_row = row, .packed_rows = 5};
    const int wanted[] = {0, 2, 3, 3, 5}; /* rows from 0, 1, 2, 3 on, and the end */
    for (int part = 0; part <= 4; part++) assert_int_equal(wanted[part], ganz_part_begin(&batch, part, 4));
    const int many[] = {0, 0, 2, 2, 3, 3, 3, 4, 5}; /* rows from 0, 0, 1, 1, 2, 3, 3, 4 on */
    for (int part = 0; part <= 8; part++) assert_int_equal(many[part], ganz_part_begin(&batch, part, 8));
}

/* ---- sums --------------------------------------------------------------------------------------- */

static ganz_trainer *open_toy(int parts)
{
    ganz_train_options o = toy_options("reverse");
    ganz_trainer *t;
    ganz_error err;
    o.recipe.parts = parts;
    o.recipe.micro_tokens = 128; /* several passes for each part */
    o.recipe.dropout = o.recipe.dropout_relu = o.recipe.dropout_attention = 0.2;
    if (ganz_trainer_open(&t, &o, &err) != GANZ_OK) fail_msg("%s", err.message);
    return t;
}

/* Gradients of some parts of the first batch, by a share of their own; the caller frees them. Adds up losses. */
static real *gradients_of(ganz_trainer *t, const ganz_batch *batch, ganz_share share, double sums[3])
{
    const size_t count = t->net.params.block, bytes = count * sizeof(real);
    real *const grad = malloc(bytes);
    t->stepper.tree.share = share;
    t->be->zero(t->be, t->weights.grad, bytes);
    assert_int_equal(GANZ_OK, ganz_stepper_train(&t->stepper, batch, 7, NULL, NULL));
    assert_int_equal(1, t->stepper.tree.runs);
    t->be->download(t->be, grad, t->weights.grad, bytes);
    for (int part = share.first; part < share.last; part++)
        for (int i = 0; i < 3; i++) sums[i] += t->stepper.tree.sums[3 * part + i];
    return grad;
}

static void add_to(real *left, const real *right, size_t count)
{
    for (size_t i = 0; i < count; i++) left[i] += right[i];
}

/* ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), to the bit, whether made by one process or part by part. */
static void gradients_are_a_tree(void **state)
{
    (void)state;
    ganz_trainer *const t = open_toy(8);
    const size_t count = t->net.params.block;
    ganz_batch batch;
    double whole_sums[3] = {0}, sums[3] = {0};
    real *part[8];
    assert_int_equal(GANZ_OK, ganz_loader_next(t->loader, &batch, NULL));
    real *const whole = gradients_of(t, &batch, (ganz_share){0, 8}, whole_sums);
    for (int i = 0; i < 8; i++) part[i] = gradients_of(t, &batch, (ganz_share){i, i + 1}, sums);
    for (int width = 1; width < 8; width *= 2)
        for (int i = 0; i < 8; i += 2 * width) add_to(part[i], part[i + width], count);
    assert_memory_equal(whole, part[0], count * sizeof *whole);
    assert_memory_equal(whole_sums, sums, sizeof sums);
    assert_true(sums[2] == batch.target_rows);
    for (int i = 0; i < 8; i++) free(part[i]);
    free(whole);
    ganz_trainer_close((ganz_trainer **)&t);
}

static void near_reals(const real *a, const real *b, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        size += (double)b[i] * b[i];
    }
    assert_true(size > 0 && difference < 1e-10 * size);
}

/* Parts change the order of sums and nothing else. */
static void parts_sum_to_the_whole(void **state)
{
    (void)state;
    double sums[3] = {0}, plain_sums[3];
    ganz_trainer *t = open_toy(4), *u = open_toy(1);
    t->stepper.options.dropout = u->stepper.options.dropout = (ganz_dropout){0};
    ganz_batch batch;
    assert_int_equal(GANZ_OK, ganz_loader_next(t->loader, &batch, NULL));
    real *const parts = gradients_of(t, &batch, (ganz_share){0, 4}, sums);
    assert_int_equal(GANZ_OK, ganz_loader_next(u->loader, &batch, NULL));
    assert_int_equal(GANZ_OK, ganz_stepper_train(&u->stepper, &batch, 7, NULL, NULL));
    near_reals(parts, u->weights.grad, u->net.params.block);
    u->be->download(u->be, plain_sums, u->stepper.sums, sizeof plain_sums);
    for (int i = 0; i < 3; i++) assert_true(sums[i] - plain_sums[i] < 1e-3 && plain_sums[i] - sums[i] < 1e-3);
    free(parts);
    ganz_trainer_close(&t);
    ganz_trainer_close(&u);
}

/* ---- several processes --------------------------------------------------------------------------- */

enum { PARTS = 8, NUMBERS = 1001, RANGES = 5, VALID_LINES = 300 };

/* A process, played by a thread with a backend of its own. */
typedef struct player {
    ganz_place place;
    bool wired; /* gradients go from device to device */
    int moved;
    real grad[NUMBERS], ranges[RANGES];
    double sums[PARTS][GANZ_SUMS];
    ganz_status agreed;
    ganz_error why;
    pthread_t thread;
} player;

/* Gradients, losses and ranges of a part, of very different sizes, so that any other order of sums would show. */
static real gradient(int part, int i)
{
    return (real)ldexp(ganz_random_normal(5, (uint64_t)part, (uint64_t)i),
                       (int)ganz_random_below(6, (uint64_t)part, (uint64_t)i, 20));
}

static void make_parts(ganz_tree *tree, real *ranges)
{
    ganz_tree_start(tree, true);
    for (int part = tree->share.first; part < tree->share.last; part++) {
        double *const sums = ganz_tree_enter(tree, part);
        for (int i = 0; i < NUMBERS; i++) tree->grad[i] += gradient(part, i);
        for (int i = 0; i < GANZ_SUMS; i++) sums[i] += part + 0.25 * i;
        for (int i = 0; i < RANGES; i++)
            if (ranges[i] < (real)((part * 5 + i * 3) % 7)) ranges[i] = (real)((part * 5 + i * 3) % 7);
        ganz_tree_leave(tree, part);
    }
}

/* Wires between devices that are ordinary memory: the other transport carries what they move, in the order of moves. */
typedef struct string {
    ganz_wires table; /* first */
    ganz_ranks *ranks;
    player *player;
} string;

static ganz_status string_move(ganz_wires *w, const ganz_move *moves, int count, ganz_error *err)
{
    enum { MOST = 1 << 16 };
    const string *const s = (string *)w;
    static _Thread_local char out[MOST], in[MOST];
    size_t out_at[PARTS + 1] = {0}, in_at[PARTS + 1] = {0};
    for (int rank = 0; rank < s->ranks->size; rank++) {
        out_at[rank + 1] = out_at[rank];
        in_at[rank + 1] = in_at[rank];
        for (int i = 0; i < count; i++) {
            if (moves[i].rank != rank) continue;
            size_t *const end = moves[i].out ? &out_at[rank + 1] : &in_at[rank + 1];
            if (moves[i].out) memcpy(out + *end, moves[i].data, moves[i].bytes);
            *end += moves[i].bytes;
        }
    }
    GANZ_TRY(s->ranks->exchange(s->ranks, out, out_at, in, in_at, err));
    for (int i = 0; i < count; i++) {
        if (moves[i].out) continue;
        memcpy(moves[i].data, in + in_at[moves[i].rank], moves[i].bytes);
        in_at[moves[i].rank] += moves[i].bytes;
    }
    s->player->moved += count;
    return GANZ_OK;
}

static ganz_status string_gather(ganz_wires *w, void *all, const size_t *at, ganz_error *err)
{
    const string *const s = (string *)w;
    return s->ranks->gather(s->ranks, all, at, err);
}

static void string_close(ganz_wires *w) { ((string *)w)->player->moved *= -1; /* so that the test sees it */ }

static void *play(void *context)
{
    player *const p = context;
    ganz_ranks *ranks = NULL;
    ganz_exchange x = {0};
    ganz_tree tree = {.parts = PARTS, .share = ganz_share_of(PARTS, p->place.rank, p->place.size)};
    const size_t bytes = sizeof p->grad;
    GANZ_ASSERT_ALWAYS(ganz_ranks_open(&ranks, &p->place, &p->why) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_cpu_backend_open(&tree.be, 1, NULL) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_tree_open(&tree, p->grad, NUMBERS, NULL) == GANZ_OK);
    GANZ_ASSERT_ALWAYS(ganz_exchange_open(&x, ranks, PARTS, NUMBERS, RANGES, NULL) == GANZ_OK);
    x.chunk = 64; /* the last one is shorter */
    string s = {{.move = string_move, .gather = string_gather, .close = string_close}, ranks, p};
    if (p->wired) {
        GANZ_ASSERT_ALWAYS(ganz_exchange_wire(&x, &s.table, tree.be, NUMBERS, NULL) == GANZ_OK);
        x.wire_chunk = 100;
    }
    for (int step = 0; step < 2; step++) {
        memset(p->grad, 0, bytes);
        make_parts(&tree, p->ranges);
        GANZ_ASSERT_ALWAYS(ganz_exchange_gradients(&x, &tree, NULL) == GANZ_OK);
        GANZ_ASSERT_ALWAYS(ganz_exchange_sums(&x, &tree, NULL) == GANZ_OK);
        GANZ_ASSERT_ALWAYS(ganz_exchange_ranges(&x, tree.be, p->ranges, NULL) == GANZ_OK);
    }
    memcpy(p->sums, tree.sums, sizeof p->sums);
    const bool bad = p->place.rank == 1; /* one fails, and all know by what */
    const ganz_status own = bad ? ganz_fail(&p->why, GANZ_EIO, "no more ink") : GANZ_OK;
    p->agreed = ganz_ranks_agree(ranks, own, &p->why);
    ganz_exchange_close(&x);
    ganz_backend *const be = tree.be;
    ganz_tree_close(&tree);
    be->close(be);
    ganz_ranks_close(&ranks);
    return NULL;
}

static void play_all(player *players, int size, bool wired)
{
    char meet[64];
    snprintf(meet, sizeof meet, "127.0.0.1:%d", 20000 + (int)(getpid() % 10000));
    for (int i = 0; i < size; i++) {
        players[i].place = (ganz_place){i, size, meet};
        players[i].wired = wired;
        assert_int_equal(0, pthread_create(&players[i].thread, NULL, play, &players[i]));
    }
    for (int i = 0; i < size; i++) pthread_join(players[i].thread, NULL);
}

/* The tree by recursion, from the parts alone. */
static real true_sum(int first, int count, int i)
{
    if (count == 1) return gradient(first, i);
    return true_sum(first, count / 2, i) + true_sum(first + count / 2, count / 2, i);
}

static void play_sizes(bool wired)
{
    for (int size = wired ? 2 : 1; size <= PARTS; size++) {
        player *const players = calloc((size_t)size, sizeof *players);
        play_all(players, size, wired);
        for (int rank = 0; rank < size; rank++) {
            const player *const p = &players[rank];
            assert_true(wired ? p->moved < 0 : p->moved == 0);
            for (int i = 0; i < NUMBERS; i++) assert_true(p->grad[i] == true_sum(0, PARTS, i));
            for (int part = 0; part < PARTS; part++) assert_true(p->sums[part][2] == part + 0.5);
            for (int i = 0; i < RANGES; i++) assert_true(p->ranges[i] == 6);
            assert_int_equal(size > 1 ? GANZ_EIO : GANZ_OK, p->agreed);
            if (size == 1) continue;
            assert_non_null(strstr(p->why.message, "no more ink"));
            assert_int_equal(rank != 1, strncmp(p->why.message, "process 1 on ", 13) == 0);
        }
        free(players);
    }
}

static void all_have_the_same(void **state)
{
    (void)state;
    play_sizes(false);
}

static void wires_give_the_same(void **state)
{
    (void)state;
    play_sizes(true);
}

/* What is asked of NCCL before it is there is refused in a sentence. */
static void nccl_is_looked_for(void **state)
{
    (void)state;
    ganz_wires *wires;
    ganz_ranks *ranks;
    ganz_error err;
    char meet[64];
    snprintf(meet, sizeof meet, "127.0.0.1:%d", 20000 + (int)(getpid() % 10000));
    const ganz_place alone = {0, 1, meet};
    assert_int_equal(GANZ_OK, ganz_ranks_open(&ranks, &alone, &err));
    assert_null(ranks);
    setenv("GANZ_NCCL", "nowhere.so", 1);
    assert_int_equal(GANZ_OK, ganz_ranks_open(&ranks, &alone, &err));
    assert_non_null(ranks);
    assert_int_equal(GANZ_EINVAL, ganz_nccl_open(&wires, ranks, NULL, &err));
    assert_non_null(strstr(err.message, "GANZ_NCCL is for GPUs"));
    assert_int_equal(GANZ_EUNSUPPORTED, ganz_nccl_open(&wires, ranks, &err, &err));
    assert_non_null(strstr(err.message, "NCCL cannot be loaded: nowhere.so"));
    setenv("GANZ_NCCL", "libc.so.6", 1);
    assert_int_equal(GANZ_EUNSUPPORTED, ganz_nccl_open(&wires, ranks, &err, &err));
    assert_non_null(strstr(err.message, "libc.so.6 has no ncclGetVersion"));
    unsetenv("GANZ_NCCL");
    assert_int_equal(GANZ_OK, ganz_nccl_open(&wires, ranks, NULL, &err));
    assert_null(wires);
    ganz_ranks_close(&ranks);
}

/* ---- validation --------------------------------------------------------------------------------- */

/* A process that validates, and how often its device was asked for losses and for the next tokens of a search. */
typedef struct judge {
    ganz_place place;
    ganz_train_options options;
    const char *best;
    ganz_event event;
    uint64_t lines[VALID_LINES];
    int losses, searches;
    void (*loss)(ganz_backend *be, const ganz_loss_call *c);
    void (*topk)(ganz_backend *be, const ganz_topk_call *c);
    ganz_status status;
    pthread_t thread;
} judge;

static _Thread_local judge *here; /* whose thread this is */

static void count_loss(ganz_backend *be, const ganz_loss_call *c)
{
    here->losses++;
    here->loss(be, c);
}

static void count_search(ganz_backend *be, const ganz_topk_call *c)
{
    here->searches++;
    here->topk(be, c);
}

/* The first one validates; the others do what it says. */
static ganz_status validate_toy(judge *j, ganz_ranks *ranks)
{
    ganz_trainer *t;
    GANZ_ASSERT_ALWAYS(ganz_trainer_open_shared(&t, &j->options, ranks, NULL) == GANZ_OK);
    j->loss = t->be->loss;
    j->topk = t->be->topk;
    t->be->loss = count_loss;
    t->be->topk = count_search;
    ganz_status status = GANZ_OK;
    if (j->place.rank > 0) status = ganz_crew_follow(ranks, t, NULL);
    else status = ganz_trainer_validate(t, j->best, &j->event, NULL);
    if (j->place.rank == 0) ganz_crew_order(ranks, GANZ_ORDER_END, 0, 0, NULL);
    memcpy(j->lines, t->valid.lines, sizeof j->lines);
    ganz_trainer_close(&t);
    return status;
}

static void *judge_alone(void *context)
{
    judge *const j = here = context;
    ganz_ranks *ranks = NULL;
    GANZ_ASSERT_ALWAYS(ganz_ranks_open(&ranks, &j->place, NULL) == GANZ_OK);
    j->status = validate_toy(j, ranks);
    ganz_ranks_close(&ranks);
    return NULL;
}

static void judge_all(judge *judges, int size)
{
    char meet[64];
    ganz_train_options o = toy_options("reverse");
    o.valid_source = in_dir("many.src");
    o.valid_target = in_dir("many.tgt");
    o.recipe.micro_tokens = 256;
    o.recipe.parts = 4;
    snprintf(meet, sizeof meet, "127.0.0.1:%d", 30000 + (int)(getpid() % 10000));
    for (int i = 0; i < size; i++) {
        judges[i].place = (ganz_place){i, size, meet};
        judges[i].options = o;
        judges[i].best = in_dir("best");
        assert_int_equal(0, pthread_create(&judges[i].thread, NULL, judge_alone, &judges[i]));
    }
    for (int i = 0; i < size; i++) pthread_join(judges[i].thread, NULL);
    for (int i = 0; i < size; i++) assert_int_equal(GANZ_OK, judges[i].status);
}

static void write_many(void)
{
    FILE *const source = fopen(in_dir("many.src"), "w"), *const target = fopen(in_dir("many.tgt"), "w");
    assert_true(source && target);
    for (int i = 0; i < VALID_LINES; i++) {
        int32_t ids[LONGEST];
        const int n = make_source(77, (uint64_t)i, ids) - 1;
        for (int k = 0; k < n; k++) {
            fprintf(source, "%c ", 'a' + ids[k] - 2);
            fprintf(target, "%c ", 'a' + ids[n - 1 - k] - 2);
        }
        fputs("\n", source);
        fputs("\n", target);
    }
    fclose(source);
    fclose(target);
}

/* Nothing is measured twice or left out, nobody has all of it, and all find what one alone does. */
static void validation_is_shared(void **state)
{
    (void)state;
    judge alone = {0}, judges[4];
    write_many();
    judge_all(&alone, 1);
    assert_true(alone.losses >= 4 && alone.searches >= 4 && isfinite(alone.event.bleu));
    for (int size = 2; size <= 4; size++) {
        int losses = 0, searches = 0;
        memset(judges, 0, sizeof judges);
        judge_all(judges, size);
        for (int i = 0; i < size; i++) {
            assert_in_range(judges[i].losses, 1, alone.losses - 1);
            assert_in_range(judges[i].searches, 1, alone.searches - 1);
            assert_memory_equal(alone.lines, judges[i].lines, sizeof alone.lines);
            losses += judges[i].losses;
            searches += judges[i].searches;
        }
        assert_int_equal(alone.losses, losses);
        assert_int_equal(alone.searches, searches);
        assert_memory_equal(&alone.event.loss, &judges[0].event.loss, sizeof alone.event.loss);
        assert_memory_equal(&alone.event.accuracy, &judges[0].event.accuracy, sizeof alone.event.accuracy);
        assert_memory_equal(&alone.event.bleu, &judges[0].event.bleu, sizeof alone.event.bleu);
    }
}

/* ---- the environment ---------------------------------------------------------------------------- */

static void places(void **state)
{
    (void)state;
    static const char *const names[] = {"GANZ_RANKS",           "GANZ_RANK", "GANZ_MEET", "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK", "PMI_SIZE",  "PMI_RANK",  "SLURM_STEP_NUM_TASKS",
                                        "SLURM_PROCID"};
    ganz_place place;
    ganz_error err;
    for (size_t i = 0; i < GANZ_COUNT(names); i++) unsetenv(names[i]);
    assert_int_equal(GANZ_OK, ganz_place_find(&place, &err));
    assert_true(place.size == 1 && place.rank == 0 && !place.meet);
    setenv("SLURM_PROCID", "2", 1);
    assert_int_equal(GANZ_OK, ganz_place_find(&place, &err));
    assert_int_equal(1, place.size); /* a batch script has it too */
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    assert_int_equal(GANZ_OK, ganz_place_find(&place, &err));
    assert_true(place.size == 3 && place.rank == 2 && !place.meet && ganz_train_follows());
    setenv("OMPI_COMM_WORLD_SIZE", "8", 1); /* mpirun within an allocation of Slurm */
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    assert_int_equal(GANZ_OK, ganz_place_find(&place, &err));
    assert_true(place.size == 8 && place.rank == 0 && !ganz_train_follows());
    setenv("OMPI_COMM_WORLD_RANK", "8", 1);
    assert_int_equal(GANZ_EINVAL, ganz_place_find(&place, &err));
    setenv("GANZ_RANKS", "2", 1);
    setenv("GANZ_RANK", "1", 1);
    assert_int_equal(GANZ_EINVAL, ganz_place_find(&place, &err));
    assert_non_null(strstr(err.message, "GANZ_MEET does not say HOST:PORT"));
    setenv("GANZ_MEET", "nowhere", 1);
    assert_int_equal(GANZ_OK, ganz_place_find(&place, &err));
    ganz_ranks *ranks;
    assert_int_equal(GANZ_EINVAL, ganz_ranks_open(&ranks, &place, &err));
    assert_null(ranks);
    for (size_t i = 0; i < GANZ_COUNT(names); i++) unsetenv(names[i]);
}

/* ---- runs --------------------------------------------------------------------------------------- */

static void steps_in_parts_go_on(void **state)
{
    (void)state;
    ganz_train_options o = toy_options("reverse");
    stopper s = {.at = 0};
    ganz_error err;
    o.recipe.parts = 4;
    o.recipe.steps = 12;
    o.recipe.log_every = 4;
    o.recipe.dropout = 0.1;
    o.out = in_dir("parts");
    o.threads = 2;
    must_train(&o);
    o.out = in_dir("parts-stopped");
    o.threads = 1;
    o.resume = true;
    o.recipe.save_every = 5;
    o.stop = &s.flag;
    ganz_flag_set(&s.flag);
    for (int i = 0; i < 2; i++) { /* a stop before the first step, and a run after it */
        const ganz_status status = ganz_train(&o, NULL, &err);
        assert_int_equal(i ? GANZ_OK : GANZ_ESTOPPED, status);
        ganz_flag_clear(&s.flag);
    }
    same_log(in_dir("parts/log.tsv"), in_dir("parts-stopped/log.tsv"));
    o.recipe.parts = 2;
    assert_int_equal(GANZ_EINVAL, ganz_train(&o, NULL, &err));
    assert_non_null(strstr(err.message, "was made with parts 4, not 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_whole),
        cmocka_unit_test(runs_are_nodes),
        cmocka_unit_test(parts_are_rows),
        cmocka_unit_test(gradients_are_a_tree),
        cmocka_unit_test(parts_sum_to_the_whole),
        cmocka_unit_test(steps_in_parts_go_on),
        cmocka_unit_test(all_have_the_same),
        cmocka_unit_test(wires_give_the_same),
        cmocka_unit_test(nccl_is_looked_for),
        cmocka_unit_test(validation_is_shared),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
