/* A knapsack with one thing of each kind in it: for every amount that may be spent, the least harm of the products so
 * far. Taking what saves most for its harm, step by step, is no substitute: the last step down is often a large one,
 * and leaves room in which others could have stayed wide. */
#include "train/widths.h"

#include <math.h>

enum { MOST_CELLS = 65536 };

typedef struct knapsack {
    const ganz_product_widths *products; /* (count) borrowed */
    int count;
    long long unit; /* of cost, to a cell */
    int cells;
    double *least; /* (cells + 1) harm of the products so far that spend at most so many cells */
    uint8_t *pick; /* (count, cells + 1) the width that it takes */
} knapsack;

static int widest(const ganz_product_widths *p)
{
    int bits = GANZ_WIDTHS - 1;
    while (bits > 0 && !p->offered[bits]) bits--;
    return bits;
}

static int cheapest(const ganz_product_widths *p)
{
    int bits = 0;
    while (bits < GANZ_WIDTHS - 1 && !p->offered[bits]) bits++;
    return bits;
}

/* What a width costs beyond the cheapest one of its product. */
static long long extra_of(const ganz_product_widths *p, int bits) { return p->cost[bits] - p->cost[cheapest(p)]; }

static long long common_divisor(long long a, long long b)
{
    while (b > 0) {
        const long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest unit that all extras are multiples of, or a larger one, so that there are not too many cells. */
static long long unit_of(const ganz_product_widths *products, int count, long long room)
{
    long long unit = 0;
    for (int i = 0; i < count; i++)
        for (int bits = 0; bits < GANZ_WIDTHS; bits++)
            if (products[i].offered[bits]) unit = common_divisor(unit, extra_of(&products[i], bits));
    if (unit == 0) unit = 1;
    return room / unit <= MOST_CELLS ? unit : (room + MOST_CELLS - 1) / MOST_CELLS;
}

static int cells_of(const knapsack *k, int product, int bits)
{
    return (int)((extra_of(&k->products[product], bits) + k->unit - 1) / k->unit);
}

/* Downwards, so that what is read is still without this product. */
static void add_product(knapsack *k, int product)
{
    const ganz_product_widths *const p = &k->products[product];
    uint8_t *const pick = k->pick + (size_t)product * ((size_t)k->cells + 1);
    for (int cell = k->cells; cell >= 0; cell--) {
        double best = INFINITY;
        pick[cell] = (uint8_t)cheapest(p); /* where all widths do endless harm */
        for (int bits = GANZ_WIDTHS - 1; bits >= 0; bits--) {
            if (!p->offered[bits]) continue;
            const int cells = cells_of(k, product, bits);
            if (cells > cell) continue;
            const double harm = k->least[cell - cells] + p->harm[bits];
            if (harm >= best) continue;
            best = harm;
            pick[cell] = (uint8_t)bits;
        }
        k->least[cell] = best;
    }
}

static void take(const knapsack *k, int *bits)
{
    int cell = k->cells;
    for (int i = k->count - 1; i >= 0; i--) {
        bits[i] = k->pick[(size_t)i * ((size_t)k->cells + 1) + (size_t)cell];
        cell -= cells_of(k, i, bits[i]);
    }
}

ganz_status ganz_widths_choose(const ganz_product_widths *products, int count, long long most, int *bits,
                               ganz_error *err)
{
    long long room = most, all = 0;
    for (int i = 0; i < count; i++) {
        room -= products[i].cost[cheapest(&products[i])];
        all += extra_of(&products[i], widest(&products[i]));
    }
    if (room < 0) return ganz_fail(err, GANZ_EINVAL, "the fewest bits cost more than all may cost");
    knapsack k = {.products = products, .count = count, .unit = unit_of(products, count, room < all ? room : all)};
    k.cells = room < all ? (int)(room / k.unit) : 0;
    for (int i = 0; room >= all && i < count; i++) k.cells += cells_of(&k, i, widest(&products[i]));
    k.least = ganz_alloc((size_t)k.cells + 1, sizeof *k.least);
    k.pick = ganz_alloc((size_t)count * ((size_t)k.cells + 1), sizeof *k.pick);
    const bool ready = k.least && (k.pick || count == 0);
    if (ready) {
        for (int i = 0; i < count; i++) add_product(&k, i);
        take(&k, bits);
    }
    ganz_free(k.least);
    ganz_free(k.pick);
    return ready ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory for the widths of %d products", count);
}
