/* Memory of a pass: tensors and their gradients from two arenas; and the tape, a list of nodes walked backwards. */
#include "nn/ops.h"

struct ganz_tape {
    ganz_node *last;
};

void *ganz_pass_take(ganz_pass *pass, size_t count, size_t element)
{
    if (pass->failed) return NULL;
    void *const memory = ganz_arena_take(pass->device, count, element);
    if (!memory) pass->failed = true;
    return memory;
}

static ganz_tensor *new_tensor(ganz_pass *pass)
{
    ganz_tensor *const t = pass->failed ? NULL : ganz_arena_take(pass->host, 1, sizeof *t);
    if (!t) pass->failed = true;
    else *t = (ganz_tensor){0};
    return t;
}

ganz_matrix ganz_matrix_take(ganz_pass *pass, int rows, int cols, ganz_type type)
{
    void *const data = ganz_pass_take(pass, (size_t)rows * (size_t)cols, ganz_type_bytes(type));
    return (ganz_matrix){rows, cols, cols, type, data};
}

ganz_matrix ganz_matrix_columns(const ganz_matrix *m, int col, int cols)
{
    ganz_matrix part = *m;
    part.cols = cols;
    part.data = (char *)m->data + (size_t)col * ganz_type_bytes(m->type);
    return part;
}

ganz_matrix ganz_matrix_rows(const ganz_matrix *m, int row, int rows)
{
    ganz_matrix part = *m;
    part.rows = rows;
    if (m->data) part.data = (char *)m->data + (size_t)row * (size_t)m->ld * ganz_type_bytes(m->type);
    return part;
}

ganz_tensor *ganz_tensor_new(ganz_pass *pass, int rows, int cols, ganz_type type)
{
    ganz_tensor *const t = new_tensor(pass);
    if (t) {
        t->m = ganz_matrix_take(pass, rows, cols, type);
        t->grad_type = type;
    }
    return pass->failed ? NULL : t;
}

ganz_tensor *ganz_tensor_over(ganz_pass *pass, const ganz_matrix *m, const real *scale)
{
    ganz_tensor *const t = new_tensor(pass);
    if (!t) return NULL;
    t->m = *m;
    t->scale = scale;
    t->grad_type = m->type;
    return t;
}

ganz_tensor *ganz_tensor_columns(ganz_pass *pass, ganz_tensor *parent, int col, int cols)
{
    ganz_tensor *const t = new_tensor(pass);
    if (!t) return NULL;
    t->m = ganz_matrix_columns(&parent->m, col, cols);
    t->scale = parent->scale;
    t->grad_type = parent->grad_type;
    t->parent = parent;
    return t;
}

static ganz_matrix part_of_grad(const ganz_tensor *t)
{
    const size_t col = (size_t)((char *)t->m.data - (char *)t->parent->m.data) / ganz_type_bytes(t->m.type);
    return ganz_matrix_columns(&t->parent->grad, (int)col, t->m.cols);
}

bool ganz_tensor_grad(ganz_pass *pass, ganz_tensor *t, bool *add)
{
    bool of_parent;
    *add = t->grad.data != NULL;
    if (*add) return true;
    if (!t->parent) {
        t->grad = ganz_matrix_take(pass, t->m.rows, t->m.cols, t->grad_type);
        return t->grad.data != NULL;
    }
    if (!ganz_tensor_grad(pass, t->parent, &of_parent)) return false;
    t->grad = part_of_grad(t);
    return true;
}

bool ganz_tensor_has_grad(ganz_tensor *t)
{
    if (!t->grad.data && t->parent && t->parent->grad.data) t->grad = part_of_grad(t);
    return t->grad.data != NULL;
}

const ganz_matrix *ganz_tensor_back(ganz_tensor *t, int use)
{
    ganz_tensor *const who = t->uses ? t->use[use].input : t;
    return who && ganz_tensor_has_grad(who) ? &who->grad : NULL;
}

const uint8_t *ganz_tensor_cuts(ganz_tensor *t)
{
    t->cut = t->inside != NULL;
    return t->inside;
}

ganz_scope ganz_scope_begin(const ganz_pass *pass)
{
    return (ganz_scope){ganz_arena_mark(pass->host), ganz_arena_mark(pass->device)};
}

void ganz_scope_end(ganz_pass *pass, ganz_scope scope)
{
    if (pass->tape) return;
    ganz_arena_rewind(pass->host, scope.host);
    ganz_arena_rewind(pass->device, scope.device);
}

ganz_tape *ganz_tape_open(ganz_arena *host)
{
    ganz_tape *const tape = ganz_arena_take(host, 1, sizeof *tape);
    if (tape) tape->last = NULL;
    return tape;
}

void *ganz_record(ganz_pass *pass, size_t bytes, void (*backward)(ganz_pass *pass, ganz_node *node))
{
    if (!pass->tape || pass->failed) return NULL;
    ganz_node *const node = ganz_arena_take(pass->host, 1, bytes);
    if (!node) {
        pass->failed = true;
        return NULL;
    }
    *node = (ganz_node){backward, pass->tape->last};
    pass->tape->last = node;
    return node;
}

void ganz_tape_backward(ganz_pass *pass)
{
    ganz_node *node = pass->tape->last;
    for (; node && !pass->failed; node = node->before) node->backward(pass, node);
    pass->tape->last = NULL;
}
