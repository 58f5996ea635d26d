/* The tree of parts: finished runs wait like the digits of a binary counter, and two that meet become one. */
#include "train/tree.h"

ganz_share ganz_share_of(int parts, int rank, int ranks)
{
    return (ganz_share){(int)((int64_t)parts * rank / ranks), (int)((int64_t)parts * (rank + 1) / ranks)};
}

int ganz_part_begin(const ganz_batch *batch, int part, int parts)
{
    const int row = (int)((int64_t)batch->packed_rows * part / parts);
    int low = 0, high = batch->segments; /* the first segment of that row or a later one */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (batch->target_row[batch->target_begin[middle]] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool ganz_runs_meet(ganz_run left, ganz_run right)
{
    return left.count == right.count && left.first % (2 * left.count) == 0;
}

/* Appends a part; returns how many runs there are. */
static int append(ganz_run *runs, int count, int part)
{
    runs[count++] = (ganz_run){part, 1};
    for (; count > 1 && ganz_runs_meet(runs[count - 2], runs[count - 1]); count--) runs[count - 2].count *= 2;
    return count;
}

int ganz_runs_of(ganz_share share, ganz_run runs[GANZ_MOST_RUNS])
{
    int count = 0;
    for (int part = share.first; part < share.last; part++) count = append(runs, count, part);
    return count;
}

/* Most runs that are there while another part is made. */
static int most_waiting(ganz_share share)
{
    ganz_run runs[GANZ_MOST_RUNS];
    int most = 0, count = 0;
    for (int part = share.first; part < share.last; part++) {
        if (count > most) most = count;
        count = append(runs, count, part);
    }
    return most;
}

ganz_status ganz_tree_open(ganz_tree *tree, real *grad, size_t count, ganz_error *err)
{
    void *block;
    tree->grad = grad;
    tree->count = count;
    if (tree->parts == 1) return GANZ_OK;
    GANZ_TRY(tree->be->alloc(tree->be, &block, (size_t)tree->parts * GANZ_SUMS * sizeof *tree->sums, err));
    tree->sums = block;
    const int waiting = grad ? most_waiting(tree->share) : 0;
    for (; tree->waiting < waiting; tree->waiting++) {
        GANZ_TRY(tree->be->alloc(tree->be, &block, count * sizeof *grad, err));
        tree->kept[tree->waiting] = block;
    }
    return GANZ_OK;
}

void ganz_tree_close(ganz_tree *tree)
{
    if (tree->sums) tree->be->free(tree->be, tree->sums);
    for (int i = 0; i < tree->waiting; i++) tree->be->free(tree->be, tree->kept[i]);
    *tree = (ganz_tree){0};
}

void ganz_tree_start(ganz_tree *tree, bool gradients)
{
    tree->gradients = gradients;
    tree->runs = 0;
}

double *ganz_tree_enter(ganz_tree *tree, int part)
{
    double *const sums = tree->sums + GANZ_SUMS * (size_t)part;
    tree->be->zero(tree->be, sums, GANZ_SUMS * sizeof *sums);
    if (!tree->gradients || tree->runs == 0) return sums;
    const size_t bytes = tree->count * sizeof *tree->grad;
    tree->be->copy(tree->be, tree->kept[tree->runs - 1], tree->grad, bytes);
    tree->be->zero(tree->be, tree->grad, bytes);
    return sums;
}

void ganz_tree_leave(ganz_tree *tree, int part)
{
    const int runs = append(tree->run, tree->runs, part);
    for (int i = tree->runs; tree->gradients && i >= runs; i--)
        tree->be->add(tree->be, tree->grad, tree->kept[i - 1], tree->count);
    tree->runs = runs;
}
