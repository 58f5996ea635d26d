/* The exchange goes chunk by chunk, so that it needs little memory and no count of bytes overflows. By wires chunks are
 * large: a GPU has the memory, and each chunk costs it a pause. Sums have the same order and rounding either way. */
#include "train/exchange.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 1 << 22, WIRE_CHUNK = 1 << 26 }; /* 16 and 256 MiB of each run */
enum { QUICK_LOOKS = 2000, PAUSE_NS = 200000 }; /* while a device is waited for */

/* ---- memory ------------------------------------------------------------------------------------- */

static ganz_status find_runs(ganz_exchange *x, int parts, ganz_error *err)
{
    const int size = x->ranks->size;
    x->run = ganz_alloc((size_t)size * GANZ_MOST_RUNS, sizeof *x->run);
    x->first = ganz_alloc((size_t)size + 1, sizeof *x->first);
    if (!x->run || !x->first) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the parts of a step");
    for (int i = 0; i < size; i++) {
        x->runs += ganz_runs_of(ganz_share_of(parts, i, size), x->run + x->runs);
        x->first[i + 1] = x->runs;
    }
    return GANZ_OK;
}

static ganz_status take_memory(ganz_exchange *x, int parts, ganz_error *err)
{
    const size_t places = (size_t)x->ranks->size + 1, own = x->chunk / (size_t)x->ranks->size + 1;
    const int rank = x->ranks->rank;
    x->send = ganz_alloc((size_t)(x->first[rank + 1] - x->first[rank]) * x->chunk, sizeof *x->send);
    x->recv = ganz_alloc((size_t)x->runs * own, sizeof *x->recv);
    x->piece = ganz_alloc(x->chunk, sizeof *x->piece);
    x->send_at = ganz_alloc(places, sizeof *x->send_at);
    x->recv_at = ganz_alloc(places, sizeof *x->recv_at);
    x->all_at = ganz_alloc(places, sizeof *x->all_at);
    x->sums = ganz_alloc((size_t)parts * GANZ_SUMS, sizeof *x->sums);
    x->ranges = ganz_alloc(x->ranges_count, sizeof *x->ranges);
    x->all_ranges = ganz_alloc(x->ranges_count * (size_t)x->ranks->size, sizeof *x->all_ranges);
    if (x->send && x->recv && x->piece && x->send_at && x->recv_at && x->all_at && x->sums && x->ranges &&
        x->all_ranges)
        return GANZ_OK;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory for the exchange of gradients");
}

ganz_status ganz_exchange_open(ganz_exchange *x, ganz_ranks *ranks, int parts, size_t count, size_t ranges,
                               ganz_error *err)
{
    *x = (ganz_exchange){.ranks = ranks, .chunk = count < CHUNK ? count : CHUNK, .ranges_count = ranges};
    if (!ranks) return GANZ_OK;
    if (parts < ranks->size)
        return ganz_fail(err, GANZ_EINVAL,
                         "%d processes cannot share steps of %d part%s: parts (--parts, or a line of the recipe) is at "
                         "least their number",
                         ranks->size, parts, parts == 1 ? "" : "s");
    GANZ_TRY(find_runs(x, parts, err));
    return take_memory(x, parts, err);
}

void ganz_exchange_close(ganz_exchange *x)
{
    ganz_free(x->run);
    ganz_free(x->first);
    ganz_free(x->send);
    ganz_free(x->recv);
    ganz_free(x->piece);
    ganz_free(x->send_at);
    ganz_free(x->recv_at);
    ganz_free(x->all_at);
    ganz_free(x->sums);
    ganz_free(x->ranges);
    ganz_free(x->all_ranges);
    ganz_free(x->moves);
    if (x->wires) x->wires->close(x->wires);
    if (x->arrived) x->be->free(x->be, x->arrived);
    *x = (ganz_exchange){0};
}

ganz_status ganz_exchange_wire(ganz_exchange *x, ganz_wires *wires, ganz_backend *be, size_t count, ganz_error *err)
{
    const size_t size = (size_t)x->ranks->size;
    const int rank = x->ranks->rank;
    void *arrived;
    x->wires = wires;
    x->be = be;
    x->wire_chunk = count < WIRE_CHUNK ? count : WIRE_CHUNK;
    x->moves = ganz_alloc((size_t)(x->first[rank + 1] - x->first[rank]) * size + (size_t)x->runs, sizeof *x->moves);
    if (!x->moves) return ganz_fail(err, GANZ_ENOMEM, "out of memory for the exchange of gradients");
    GANZ_TRY(be->alloc(be, &arrived, (size_t)x->runs * (x->wire_chunk / size + 1) * sizeof *x->arrived, err));
    x->arrived = arrived;
    return GANZ_OK;
}

/* ---- gradients ---------------------------------------------------------------------------------- */

/* Where the stretch of a process begins among n numbers. */
static size_t stretch(const ganz_exchange *x, size_t n, int rank) { return n * (size_t)rank / (size_t)x->ranks->size; }

static void set_places(ganz_exchange *x, size_t n)
{
    const int rank = x->ranks->rank;
    const size_t runs = (size_t)(x->first[rank + 1] - x->first[rank]),
                 own = stretch(x, n, rank + 1) - stretch(x, n, rank);
    for (int i = 0; i <= x->ranks->size; i++) {
        x->all_at[i] = stretch(x, n, i) * sizeof(real);
        x->send_at[i] = runs * x->all_at[i];
        x->recv_at[i] = (size_t)x->first[i] * own * sizeof(real);
    }
}

/* Numbers [at, at + n) of all own runs, by owner and then by run. */
static void pack(ganz_exchange *x, const ganz_tree *tree, size_t at, size_t n)
{
    for (int run = 0; run < tree->runs; run++) {
        const real *const from = run + 1 < tree->runs ? tree->kept[run] : tree->grad;
        real *const to = tree->runs == 1 ? x->send : x->piece;
        tree->be->download(tree->be, to, from + at, n * sizeof *to);
        for (int i = 0; tree->runs > 1 && i < x->ranks->size; i++) {
            const size_t begin = stretch(x, n, i), count = stretch(x, n, i + 1) - begin;
            memcpy(x->send + (size_t)tree->runs * begin + (size_t)run * count, x->piece + begin, count * sizeof *to);
        }
    }
}

static void add(const ganz_exchange *x, real *to, const real *from, size_t count)
{
    if (x->wires) x->be->add(x->be, to, from, count);
    else
        for (size_t i = 0; i < count; i++) to[i] += from[i];
}

/* The runs that were received, each of n numbers, in the order of the tree; the first holds the sum. */
static void add_runs(const ganz_exchange *x, real *received, size_t n)
{
    struct {
        ganz_run run;
        real *sum;
    } open[2 * GANZ_MOST_RUNS];
    int count = 0;
    for (int i = 0; i < x->runs; i++) {
        open[count].run = x->run[i];
        open[count++].sum = received + (size_t)i * n;
        for (; count > 1 && ganz_runs_meet(open[count - 2].run, open[count - 1].run); count--) {
            add(x, open[count - 2].sum, open[count - 1].sum, n);
            open[count - 2].run.count *= 2;
        }
    }
    GANZ_ASSERT(count == 1);
}

static ganz_status exchange_chunk(ganz_exchange *x, const ganz_tree *tree, size_t at, size_t n, ganz_error *err)
{
    ganz_ranks *const ranks = x->ranks;
    set_places(x, n);
    pack(x, tree, at, n);
    GANZ_TRY(ranks->exchange(ranks, x->send, x->send_at, x->recv, x->recv_at, err));
    const size_t begin = stretch(x, n, ranks->rank), own = stretch(x, n, ranks->rank + 1) - begin;
    add_runs(x, x->recv, own);
    memcpy(x->piece + begin, x->recv, own * sizeof *x->piece);
    GANZ_TRY(ranks->gather(ranks, x->piece, x->all_at, err));
    tree->be->upload(tree->be, tree->grad + at, x->piece, n * sizeof *x->piece);
    return GANZ_OK;
}

/* ---- gradients by wire -------------------------------------------------------------------------- */

static real *run_of(const ganz_tree *tree, int run) { return run + 1 < tree->runs ? tree->kept[run] : tree->grad; }

/* Own runs to their owners, all runs of the own stretch to here. */
static int list_moves(ganz_exchange *x, const ganz_tree *tree, size_t at, size_t n)
{
    const int size = x->ranks->size, rank = x->ranks->rank;
    const size_t own = stretch(x, n, rank + 1) - stretch(x, n, rank);
    int count = 0;
    for (int i = 0; i < size; i++) {
        const size_t begin = stretch(x, n, i), end = stretch(x, n, i + 1);
        for (int run = 0; run < tree->runs; run++)
            x->moves[count++] = (ganz_move){i, true, run_of(tree, run) + at + begin, (end - begin) * sizeof(real)};
        for (int run = x->first[i]; run < x->first[i + 1]; run++)
            x->moves[count++] = (ganz_move){i, false, x->arrived + (size_t)run * own, own * sizeof(real)};
    }
    return count;
}

static ganz_status wire_chunk(ganz_exchange *x, const ganz_tree *tree, size_t at, size_t n, ganz_error *err)
{
    const int rank = x->ranks->rank;
    const size_t begin = stretch(x, n, rank), own = stretch(x, n, rank + 1) - begin;
    set_places(x, n);
    GANZ_TRY(x->wires->move(x->wires, x->moves, list_moves(x, tree, at, n), err));
    add_runs(x, x->arrived, own);
    x->be->copy(x->be, tree->grad + at + begin, x->arrived, own * sizeof *x->arrived);
    return x->wires->gather(x->wires, tree->grad + at, x->all_at, err);
}

/* Waits for the device, and looks after the others meanwhile. */
static ganz_status wait_for_wires(ganz_exchange *x, ganz_error *err)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int looks = 0; x->be->idle && !x->be->idle(x->be); looks++) {
        if (looks < QUICK_LOOKS) {
            sched_yield();
            continue;
        }
        GANZ_TRY(x->wires->check(x->wires, err));
        nanosleep(&pause, NULL);
    }
    return GANZ_OK;
}

static ganz_status wire_gradients(ganz_exchange *x, const ganz_tree *tree, ganz_error *err)
{
    for (size_t at = 0; at < tree->count; at += x->wire_chunk) {
        const size_t left = tree->count - at;
        GANZ_TRY(wire_chunk(x, tree, at, left < x->wire_chunk ? left : x->wire_chunk, err));
    }
    return wait_for_wires(x, err);
}

ganz_status ganz_exchange_gradients(ganz_exchange *x, const ganz_tree *tree, ganz_error *err)
{
    if (!x->ranks) return GANZ_OK;
    if (x->wires) return wire_gradients(x, tree, err);
    for (size_t at = 0; at < tree->count; at += x->chunk) {
        const size_t left = tree->count - at;
        GANZ_TRY(exchange_chunk(x, tree, at, left < x->chunk ? left : x->chunk, err));
    }
    return GANZ_OK;
}

/* ---- small numbers ------------------------------------------------------------------------------ */

ganz_status ganz_exchange_sums(ganz_exchange *x, const ganz_tree *tree, ganz_error *err)
{
    if (!x->ranks) return GANZ_OK;
    const size_t bytes = (size_t)tree->parts * GANZ_SUMS * sizeof *x->sums;
    tree->be->download(tree->be, x->sums, tree->sums, bytes);
    for (int i = 0; i <= x->ranks->size; i++)
        x->all_at[i] = (size_t)ganz_share_of(tree->parts, i, x->ranks->size).first * GANZ_SUMS * sizeof *x->sums;
    GANZ_TRY(x->ranks->gather(x->ranks, x->sums, x->all_at, err));
    tree->be->upload(tree->be, tree->sums, x->sums, bytes);
    return GANZ_OK;
}

ganz_status ganz_exchange_ranges(ganz_exchange *x, ganz_backend *be, real *ranges, ganz_error *err)
{
    if (!x->ranks) return GANZ_OK;
    const size_t count = x->ranges_count, bytes = count * sizeof *ranges;
    be->download(be, x->ranges, ranges, bytes);
    GANZ_TRY(ganz_ranks_gather(x->ranks, x->ranges, x->all_ranges, bytes, err));
    for (size_t i = 0; i < count * (size_t)x->ranks->size; i++)
        if (x->all_ranges[i] > x->ranges[i % count]) x->ranges[i % count] = x->all_ranges[i];
    be->upload(be, ranges, x->ranges, bytes);
    return GANZ_OK;
}
