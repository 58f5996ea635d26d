/* The machine of pickles: a stack of nodes, a stack of marks, and a memory of nodes by number. Every step takes at
 * least one byte of the input, so that nothing grows beyond it. */
#include "import/pickle.h"

#include <stdio.h>
#include <string.h>

typedef struct machine {
    ganz_pickle *p;
    const unsigned char *data;
    size_t bytes, at;
    int *stack;
    size_t depth, stack_capacity;
    size_t *marks;
    size_t mark_count, mark_capacity;
    int *memo; /* (memo_count) nodes; -1: nothing */
    size_t memo_count, memo_capacity;
    const char *const *classes;
    const char *name;
    ganz_error *err;
} machine;

static ganz_status broken(const machine *m, const char *what)
{
    return ganz_fail(m->err, GANZ_EFORMAT, "%s: the pickle is damaged at byte %zu: %s", m->name, m->at, what);
}

static ganz_status no_memory(const machine *m) { return ganz_fail(m->err, GANZ_ENOMEM, "%s: out of memory", m->name); }

/* ---- bytes -------------------------------------------------------------------------------------- */

static ganz_status take(machine *m, size_t count, const unsigned char **bytes)
{
    *bytes = m->data + m->at;
    if (count > m->bytes - m->at) return broken(m, "it ends too early");
    m->at += count;
    return GANZ_OK;
}

static ganz_status take_number(machine *m, size_t width, uint64_t *number)
{
    const unsigned char *at;
    *number = 0;
    GANZ_TRY(take(m, width, &at));
    for (size_t i = 0; i < width; i++) *number |= (uint64_t)at[i] << (8 * i);
    return GANZ_OK;
}

/* Up to the end of a line, which is passed over. */
static ganz_status take_line(machine *m, const char **text, size_t *bytes)
{
    const unsigned char *const end = memchr(m->data + m->at, '\n', m->bytes - m->at);
    *text = (const char *)m->data + m->at;
    *bytes = end ? (size_t)(end - (m->data + m->at)) : 0;
    if (!end) return broken(m, "a line has no end");
    m->at += *bytes + 1;
    return GANZ_OK;
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static ganz_status push_node(machine *m, int node)
{
    if (!ganz_grow((void **)&m->stack, &m->stack_capacity, m->depth + 1, sizeof *m->stack)) return no_memory(m);
    m->stack[m->depth++] = node;
    return GANZ_OK;
}

static ganz_status push(machine *m, ganz_pickle_node node)
{
    ganz_pickle *const p = m->p;
    if (p->count >= INT32_MAX / 2 || !ganz_grow((void **)&p->node, &p->capacity, p->count + 1, sizeof *p->node))
        return no_memory(m);
    p->node[p->count] = node;
    return push_node(m, (int)p->count++);
}

static ganz_pickle_node plain(ganz_pickle_kind kind)
{
    return (ganz_pickle_node){.kind = kind, .callable = -1, .args = -1, .state = -1};
}

static ganz_status push_int(machine *m, int64_t number)
{
    ganz_pickle_node n = plain(GANZ_PICKLE_INT);
    n.number = number;
    return push(m, n);
}

static ganz_status push_bool(machine *m, bool value)
{
    ganz_pickle_node n = plain(GANZ_PICKLE_BOOL);
    n.number = value;
    return push(m, n);
}

static ganz_status push_text(machine *m, size_t width)
{
    ganz_pickle_node n = plain(GANZ_PICKLE_TEXT);
    uint64_t bytes;
    const unsigned char *at;
    GANZ_TRY(take_number(m, width, &bytes));
    if (bytes > m->bytes) return broken(m, "a text is longer than the file");
    GANZ_TRY(take(m, (size_t)bytes, &at));
    n.text = (const char *)at;
    n.bytes = (size_t)bytes;
    return push(m, n);
}

/* Nothing may be taken from below the last mark. */
static ganz_status pop(machine *m, int *node)
{
    const size_t floor = m->mark_count > 0 ? m->marks[m->mark_count - 1] : 0;
    *node = 0;
    if (m->depth <= floor) return broken(m, "its stack is empty");
    *node = m->stack[--m->depth];
    return GANZ_OK;
}

static ganz_status top(machine *m, int *node)
{
    GANZ_TRY(pop(m, node));
    m->depth++;
    return GANZ_OK;
}

static ganz_status add_item(machine *m, int to, int item)
{
    ganz_pickle_node *const n = &m->p->node[to];
    if (!ganz_grow((void **)&n->items, &n->capacity, n->count + 1, sizeof *n->items)) return no_memory(m);
    n->items[n->count++] = item;
    return GANZ_OK;
}

/* Where the things above the last mark begin; the mark is gone afterwards, the things are still there. */
static ganz_status pop_mark(machine *m, size_t *begin)
{
    *begin = 0;
    if (m->mark_count == 0) return broken(m, "a mark is missing");
    *begin = m->marks[--m->mark_count];
    return GANZ_OK;
}

/* The things from `begin` on become items of a new list or dictionary. */
static ganz_status gather(machine *m, ganz_pickle_kind kind, size_t begin)
{
    const size_t end = m->depth;
    GANZ_TRY(push(m, plain(kind)));
    const int node = m->stack[--m->depth];
    for (size_t i = begin; i < end; i++) GANZ_TRY(add_item(m, node, m->stack[i]));
    m->depth = begin;
    return push_node(m, node);
}

static ganz_status gather_marked(machine *m, ganz_pickle_kind kind)
{
    size_t begin;
    GANZ_TRY(pop_mark(m, &begin));
    return gather(m, kind, begin);
}

static ganz_status gather_last(machine *m, size_t count)
{
    const size_t floor = m->mark_count > 0 ? m->marks[m->mark_count - 1] : 0;
    if (m->depth - floor < count) return broken(m, "its stack is empty");
    return gather(m, GANZ_PICKLE_LIST, m->depth - count);
}

/* The things from `begin` on become further items of the one below them. */
static ganz_status extend(machine *m, size_t begin)
{
    if (begin == 0) return broken(m, "its stack is empty");
    const int to = m->stack[begin - 1];
    for (size_t i = begin; i < m->depth; i++) GANZ_TRY(add_item(m, to, m->stack[i]));
    m->depth = begin;
    return GANZ_OK;
}

static ganz_status extend_marked(machine *m)
{
    size_t begin;
    GANZ_TRY(pop_mark(m, &begin));
    return extend(m, begin);
}

static ganz_status extend_last(machine *m, size_t count)
{
    const size_t floor = m->mark_count > 0 ? m->marks[m->mark_count - 1] : 0;
    if (m->depth - floor < count + 1) return broken(m, "its stack is empty");
    return extend(m, m->depth - count);
}

/* ---- classes and calls -------------------------------------------------------------------------- */

static ganz_status push_class(machine *m, const char *module, size_t module_bytes, const char *word, size_t word_bytes)
{
    char text[256];
    ganz_pickle *const p = m->p;
    snprintf(text, sizeof text, "%.*s %.*s", (int)(module_bytes < 120 ? module_bytes : 120), module,
             (int)(word_bytes < 120 ? word_bytes : 120), word);
    bool known = !m->classes;
    for (int i = 0; !known && m->classes[i]; i++) known = strcmp(m->classes[i], text) == 0;
    if (!known)
        return ganz_fail(m->err, GANZ_EUNSUPPORTED,
                         "%s: the pickle names %.100s, which a file of tensors does not need: refused", m->name, text);
    char *const copy = ganz_strdup(text);
    if (!copy || !ganz_grow((void **)&p->names, &p->name_capacity, p->name_count + 1, sizeof *p->names)) {
        ganz_free(copy);
        return no_memory(m);
    }
    p->names[p->name_count++] = copy;
    ganz_pickle_node n = plain(GANZ_PICKLE_CLASS);
    n.text = copy;
    n.bytes = strlen(copy);
    return push(m, n);
}

static ganz_status global(machine *m)
{
    const char *module, *word;
    size_t module_bytes, word_bytes;
    GANZ_TRY(take_line(m, &module, &module_bytes));
    GANZ_TRY(take_line(m, &word, &word_bytes));
    return push_class(m, module, module_bytes, word, word_bytes);
}

static ganz_status stack_global(machine *m)
{
    int word, module;
    GANZ_TRY(pop(m, &word));
    GANZ_TRY(pop(m, &module));
    const ganz_pickle_node *const a = &m->p->node[module], *const b = &m->p->node[word];
    if (a->kind != GANZ_PICKLE_TEXT || b->kind != GANZ_PICKLE_TEXT) return broken(m, "a class has no name");
    return push_class(m, a->text, a->bytes, b->text, b->bytes);
}

/* Noted, not called. */
static ganz_status call(machine *m, bool keywords)
{
    ganz_pickle_node n = plain(GANZ_PICKLE_CALL);
    int ignored;
    if (keywords) GANZ_TRY(pop(m, &ignored));
    GANZ_TRY(pop(m, &n.args));
    GANZ_TRY(pop(m, &n.callable));
    if (ganz_pickle_is(&m->p->node[n.callable], "collections OrderedDict")) n.kind = GANZ_PICKLE_DICT;
    return push(m, n);
}

static ganz_status build(machine *m)
{
    int state, node;
    GANZ_TRY(pop(m, &state));
    GANZ_TRY(top(m, &node));
    m->p->node[node].state = state;
    return GANZ_OK;
}

static ganz_status outside(machine *m)
{
    ganz_pickle_node n = plain(GANZ_PICKLE_OUTSIDE);
    GANZ_TRY(pop(m, &n.args));
    return push(m, n);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static ganz_status put(machine *m, uint64_t number)
{
    int node;
    GANZ_TRY(top(m, &node));
    if (number > m->bytes) return broken(m, "a number of its memory is too high");
    if (!ganz_grow((void **)&m->memo, &m->memo_capacity, (size_t)number + 1, sizeof *m->memo)) return no_memory(m);
    while (m->memo_count <= number) m->memo[m->memo_count++] = -1;
    m->memo[number] = node;
    return GANZ_OK;
}

static ganz_status put_at(machine *m, size_t width)
{
    uint64_t number;
    GANZ_TRY(take_number(m, width, &number));
    return put(m, number);
}

static ganz_status get_from(machine *m, size_t width)
{
    uint64_t number;
    GANZ_TRY(take_number(m, width, &number));
    if (number >= m->memo_count || m->memo[number] < 0) return broken(m, "it recalls what it never kept");
    return push_node(m, m->memo[number]);
}

static ganz_status mark(machine *m)
{
    if (!ganz_grow((void **)&m->marks, &m->mark_capacity, m->mark_count + 1, sizeof *m->marks)) return no_memory(m);
    m->marks[m->mark_count++] = m->depth;
    return GANZ_OK;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* A whole number of so many bytes, the last of which has the sign. */
static ganz_status long_int(machine *m, size_t width)
{
    uint64_t bytes;
    const unsigned char *at;
    GANZ_TRY(take_number(m, width, &bytes));
    if (bytes > m->bytes) return broken(m, "a number is longer than the file");
    GANZ_TRY(take(m, (size_t)bytes, &at));
    ganz_pickle_node n = plain(GANZ_PICKLE_INT);
    uint64_t value = bytes > 0 && at[bytes - 1] >= 128 ? UINT64_MAX : 0;
    if (bytes > 8) {
        n.text = (const char *)at;
        n.bytes = (size_t)bytes;
        return push(m, n);
    }
    for (size_t i = 0; i < bytes; i++) value = (value & ~(UINT64_C(255) << 8 * i)) | (uint64_t)at[i] << 8 * i;
    n.number = (int64_t)value;
    return push(m, n);
}

static ganz_status real_number(machine *m)
{
    const unsigned char *at;
    GANZ_TRY(take(m, 8, &at));
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) bits = bits << 8 | at[i];
    ganz_pickle_node n = plain(GANZ_PICKLE_REAL);
    memcpy(&n.real, &bits, sizeof n.real);
    return push(m, n);
}

static ganz_status whole(machine *m, size_t width)
{
    uint64_t number;
    GANZ_TRY(take_number(m, width, &number));
    return push_int(m, width == 4 ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number);
}

/* ---- steps -------------------------------------------------------------------------------------- */

static ganz_status skip(machine *m, size_t count)
{
    const unsigned char *at;
    return take(m, count, &at);
}

static ganz_status forget(machine *m)
{
    int node;
    return pop(m, &node);
}

static ganz_status forget_marked(machine *m)
{
    size_t begin;
    GANZ_TRY(pop_mark(m, &begin));
    m->depth = begin;
    return GANZ_OK;
}

static ganz_status again(machine *m)
{
    int node;
    GANZ_TRY(top(m, &node));
    return push_node(m, node);
}

static ganz_status step(machine *m, unsigned char code)
{
    switch (code) {
    case 0x80: return skip(m, 1); /* protocol */
    case 0x95: return skip(m, 8); /* frame */
    case '(': return mark(m);
    case '0': return forget(m);
    case '1': return forget_marked(m);
    case '2': return again(m);
    case 'N': return push(m, plain(GANZ_PICKLE_NONE));
    case 0x88: return push_bool(m, true);
    case 0x89: return push_bool(m, false);
    case 'J': return whole(m, 4);
    case 'K': return whole(m, 1);
    case 'M': return whole(m, 2);
    case 0x8A: return long_int(m, 1);
    case 0x8B: return long_int(m, 4);
    case 'G': return real_number(m);
    case 'X':
    case 'T':
    case 'B': return push_text(m, 4);
    case 0x8C:
    case 'U':
    case 'C': return push_text(m, 1);
    case 0x8D:
    case 0x8E:
    case 0x96: return push_text(m, 8);
    case ')':
    case ']':
    case 0x8F: return push(m, plain(GANZ_PICKLE_LIST));
    case '}': return push(m, plain(GANZ_PICKLE_DICT));
    case 't':
    case 'l':
    case 0x91: return gather_marked(m, GANZ_PICKLE_LIST);
    case 'd': return gather_marked(m, GANZ_PICKLE_DICT);
    case 0x85: return gather_last(m, 1);
    case 0x86: return gather_last(m, 2);
    case 0x87: return gather_last(m, 3);
    case 'a': return extend_last(m, 1);
    case 's': return extend_last(m, 2);
    case 'e':
    case 'u':
    case 0x90: return extend_marked(m);
    case 'c': return global(m);
    case 0x93: return stack_global(m);
    case 'R':
    case 0x81: return call(m, false);
    case 0x92: return call(m, true);
    case 'b': return build(m);
    case 'Q': return outside(m);
    case 'q': return put_at(m, 1);
    case 'r': return put_at(m, 4);
    case 0x94: return put(m, m->memo_count);
    case 'h': return get_from(m, 1);
    case 'j': return get_from(m, 4);
    default: return broken(m, "an unknown instruction");
    }
}

static ganz_status run(machine *m)
{
    for (;;) {
        const unsigned char *code;
        GANZ_TRY(take(m, 1, &code));
        if (*code == '.') break;
        GANZ_TRY(step(m, *code));
    }
    m->p->end = m->at;
    return pop(m, &m->p->root);
}

ganz_status ganz_pickle_read(ganz_pickle *p, const void *data, size_t bytes, const char *const *classes,
                             const char *name, ganz_error *err)
{
    *p = (ganz_pickle){.root = -1};
    machine m = {.p = p, .data = data, .bytes = bytes, .classes = classes, .name = name, .err = err};
    const ganz_status status = run(&m);
    ganz_free(m.stack);
    ganz_free(m.marks);
    ganz_free(m.memo);
    return status;
}

void ganz_pickle_close(ganz_pickle *p)
{
    for (size_t i = 0; i < p->count; i++) ganz_free(p->node[i].items);
    for (size_t i = 0; i < p->name_count; i++) ganz_free(p->names[i]);
    ganz_free(p->node);
    ganz_free(p->names);
    *p = (ganz_pickle){0};
}

bool ganz_pickle_is(const ganz_pickle_node *n, const char *text)
{
    return (n->kind == GANZ_PICKLE_TEXT || n->kind == GANZ_PICKLE_CLASS) && n->bytes == strlen(text) &&
           memcmp(n->text, text, n->bytes) == 0;
}

const ganz_pickle_node *ganz_pickle_get(const ganz_pickle *p, const ganz_pickle_node *n, const char *key)
{
    for (size_t i = 0; i + 1 < n->count; i += 2)
        if (ganz_pickle_is(&p->node[n->items[i]], key)) return &p->node[n->items[i + 1]];
    return NULL;
}
