/* Marks in a translation: a tree of what was marked in the sentence, each node given a range of the translation's
 * tokens inside of its parent's, then written out in order. */
#include "document/place.h"

#include <string.h>

#include "document/tokens.h"
#include "text/unicode.h"

enum { MOST_NODES = 128 /* a sentence with more keeps its marks in order */, MOST_CUTS = 32, NONE = -1 };

typedef enum {
    POINT,
    PAIR,
    OPENED /* closed behind the sentence */,
    CLOSED /* opened before it */,
    PART /* between breaks */
} node_kind;

typedef struct node {
    node_kind kind;
    const ganz_run *open, *close; /* the mark of a point is `open`; a break is the `close` of a part */
    size_t from, to;              /* text of the block */
    int parent, child, next;      /* first child; next child of the parent */
    size_t first, last;           /* tokens [first, last) */
    ganz_slot slot;               /* where it has no tokens */
    bool blank;                   /* a pair around nothing that the reader sees: placed like a point */
} node;

typedef struct tree {
    const ganz_placing *p;
    ganz_token_list tokens;
    node nodes[MOST_NODES + 1]; /* the first is the whole sentence */
    int count;
    ganz_inserts *out;
    size_t at; /* in the translation, where the next insert may be */
    bool failed;
} tree;

/* ---- the tree ----------------------------------------------------------------------------------- */

static int add_node(tree *t, node n, int parent)
{
    const int index = t->count++;
    n.parent = parent;
    n.child = n.next = NONE;
    t->nodes[index] = n;
    int *end = &t->nodes[parent].child;
    while (*end != NONE) end = &t->nodes[*end].next;
    *end = index;
    return index;
}

/* All children so far come between a parent and themselves. */
static void adopt(tree *t, int parent, int by, int first)
{
    for (int child = first; child != NONE; child = t->nodes[child].next) t->nodes[child].parent = by;
    t->nodes[by].child = first;
    t->nodes[parent].child = by;
}

static bool within(const ganz_stretch *x, int run)
{
    return run >= 0 && (size_t)run >= x->first && (size_t)run < x->last;
}

static bool is_blank(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (!ganz_is_space(code)) return false;
    }
    return true;
}

static int add_mark(tree *t, const ganz_run *r, int open)
{
    const ganz_stretch *const x = t->p->sentence;
    const bool paired = r->partner >= 0 && (r->mark == GANZ_MARK_OPEN || r->mark == GANZ_MARK_CLOSE);
    if (!paired) return add_node(t, (node){.kind = POINT, .open = r, .from = r->begin, .to = r->end}, open), open;
    if (r->mark == GANZ_MARK_OPEN) {
        const node_kind kind = within(x, r->partner) ? PAIR : OPENED;
        return add_node(t, (node){.kind = kind, .open = r, .from = r->begin, .to = x->end}, open);
    }
    if (within(x, r->partner)) {
        t->nodes[open].close = r;
        t->nodes[open].to = r->begin;
        t->nodes[open].blank = is_blank(x->block->text, t->nodes[open].from, r->begin);
        return t->nodes[open].parent;
    }
    const int before = t->nodes[open].child;
    t->nodes[open].child = NONE;
    const int closed =
        add_node(t, (node){.kind = CLOSED, .close = r, .from = t->nodes[open].from, .to = r->begin}, open);
    adopt(t, open, closed, before);
    return open;
}

static int add_part(tree *t, size_t from)
{
    return add_node(t, (node){.kind = PART, .from = from, .to = t->p->sentence->end}, 0);
}

/* False: there are too many marks for a tree. */
static bool build(tree *t)
{
    const ganz_stretch *const x = t->p->sentence;
    t->nodes[0] = (node){.kind = PART, .from = x->begin, .to = x->end, .parent = NONE, .child = NONE, .next = NONE};
    t->count = 1;
    bool breaks = false;
    for (size_t i = x->first; i < x->last; i++)
        breaks |= x->block->runs[i].kind == GANZ_RUN_MARK && x->block->runs[i].mark == GANZ_MARK_BREAK;
    int open = breaks ? add_part(t, x->begin) : 0;
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind != GANZ_RUN_MARK) continue;
        if (t->count == MOST_NODES) return false;
        if (r->mark != GANZ_MARK_BREAK) {
            open = add_mark(t, r, open);
            continue;
        }
        while (t->nodes[open].parent != 0) open = t->nodes[open].parent;
        t->nodes[open].close = r;
        t->nodes[open].to = r->begin;
        open = add_part(t, r->end);
    }
    return true;
}

/* ---- ranges of tokens --------------------------------------------------------------------------- */

static bool comes_from(const ganz_token *token, const node *n) { return token->from < n->to && n->from < token->to; }

static bool weakly_from(const tree *t, const ganz_token *token, const node *n)
{
    for (size_t i = 0; i < t->tokens.weak_count; i++) {
        const ganz_weak_link *const w = &t->tokens.weak[i];
        if (w->from < n->to && n->from < w->to && token->begin <= w->target && w->target < token->end) return true;
    }
    return false;
}

static bool is_word(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        int32_t code;
        at += ganz_next_character(text + at, &code);
        if (ganz_is_alnum(code)) return true;
    }
    return false;
}

/* A sign that comes from a word says nothing about where the word's marks end. */
static int vote(const tree *t, const node *n, size_t index, bool weak)
{
    const ganz_token *const token = &t->tokens.items[index];
    const bool inside = weak ? weakly_from(t, token, n) : comes_from(token, n);
    const bool sign = !token->item && !is_word(t->p->text, token->begin, token->end);
    if (inside && sign && is_word(t->p->sentence->block->text, token->from, token->to)) return 0;
    return inside ? 1 : -1;
}

static bool is_taken(const tree *t, const node *n, size_t token)
{
    for (int i = t->nodes[n->parent].child; i != NONE; i = t->nodes[i].next) {
        const node *const sibling = &t->nodes[i];
        if (sibling != n && sibling->first <= token && token < sibling->last) return true;
    }
    return false;
}

/* The range with the most tokens from the node and the fewest others. Ranges of OPENED and CLOSED reach to their end of
 * the parent. */
static void choose_range(const tree *t, node *n, size_t first, size_t last, bool weak)
{
    int best = 0, sum = 0;
    size_t begin = first;
    n->first = n->last = first;
    if (n->kind == OPENED) {
        n->first = n->last = last;
        for (size_t i = last; i > first && !is_taken(t, n, i - 1); i--) {
            sum += vote(t, n, i - 1, weak);
            if (sum >= best && sum > 0) best = sum, n->first = i - 1;
        }
        return;
    }
    for (size_t i = first; i < last; i++) {
        const bool taken = is_taken(t, n, i);
        if (taken && n->kind == CLOSED) break;
        sum += vote(t, n, i, weak);
        if (taken || (sum < 0 && n->kind != CLOSED)) {
            sum = 0;
            begin = i + 1;
        } else if (sum > best || (sum == best && n->kind == CLOSED && sum > 0)) {
            best = sum;
            n->first = begin;
            n->last = i + 1;
        }
    }
}

/* Out of the middle of a neighbour's range. */
static ganz_slot beside_siblings(const tree *t, const node *n, ganz_slot slot)
{
    for (int i = t->nodes[n->parent].child; i != NONE; i = t->nodes[i].next) {
        const node *const sibling = &t->nodes[i];
        if (sibling == n || slot.index <= sibling->first || slot.index >= sibling->last) continue;
        return sibling->from >= n->to ? (ganz_slot){sibling->first, false} : (ganz_slot){sibling->last, true};
    }
    return slot;
}

static void choose_slot(const tree *t, node *n, size_t first, size_t last)
{
    n->slot = beside_siblings(t, n, ganz_tokens_slot(t->p, &t->tokens, n->from, n->to, first, last));
    if (n->kind == CLOSED) n->slot = (ganz_slot){first, false};
    if (n->kind == OPENED) n->slot = (ganz_slot){last, true};
    n->first = n->last = n->slot.index;
}

static void choose_own_range(const tree *t, node *n, size_t first, size_t last)
{
    if (n->kind == POINT || n->kind == PART || n->blank) return;
    choose_range(t, n, first, last, false);
    if (n->first == n->last) choose_range(t, n, first, last, true);
}

/* The nearest token for a pair that cannot be without, if none of its neighbours has it. */
static void choose_one(const tree *t, node *n, size_t first, size_t last)
{
    const size_t at = n->first;
    if (at < last && !is_taken(t, n, at)) n->last = at + 1;
    else if (at > first && !is_taken(t, n, at - 1)) n->first = at - 1;
}

/* All marks inside of a pair without text stand where it stands: there may be no text between them. */
static void share_slot(tree *t, int parent)
{
    for (int i = t->nodes[parent].child; i != NONE; i = t->nodes[i].next) {
        t->nodes[i].slot = t->nodes[parent].slot;
        t->nodes[i].first = t->nodes[i].last = t->nodes[parent].first;
        share_slot(t, i);
    }
}

static void choose_ranges(tree *t, int parent)
{
    const size_t first = t->nodes[parent].first, last = t->nodes[parent].last;
    if (t->nodes[parent].blank) {
        share_slot(t, parent);
        return;
    }
    for (int i = t->nodes[parent].child; i != NONE; i = t->nodes[i].next)
        choose_own_range(t, &t->nodes[i], first, last);
    for (int i = t->nodes[parent].child; i != NONE; i = t->nodes[i].next) {
        node *const n = &t->nodes[i];
        if (n->kind != PART && n->first == n->last) choose_slot(t, n, first, last);
        if (n->kind == PAIR && n->first == n->last && n->open->needs_text && !n->blank) choose_one(t, n, first, last);
        choose_ranges(t, i);
    }
}

/* ---- breaks ------------------------------------------------------------------------------------- */

static bool may_cut(const tree *t, size_t token)
{
    const size_t end = t->tokens.items[token - 1].end, begin = t->tokens.items[token].begin;
    return (end < begin && end < t->p->bytes && t->p->text[end] == ' ') || t->tokens.items[token].space_before ||
           t->tokens.items[token - 1].space_after;
}

static int weight(const tree *t, const node *part, size_t token)
{
    return comes_from(&t->tokens.items[token], part) ? 1 : 0;
}

/* For parts 0 to k and tokens before i: best[k][i], the most tokens that stand in the part they come from when part k
 * ends before token i; from[k][i]: where it then begins. Parts are not empty if tokens last. */
static bool cut_by_weight(tree *t, int *parts, int count, int *best, uint32_t *from)
{
    const size_t n = t->tokens.count, width = n + 1;
    for (int k = 0; k < count; k++) {
        const node *const part = &t->nodes[parts[k]];
        int gain = INT32_MIN / 2, sum = 0; /* of the best beginning, less the weights before it */
        size_t begin = 0;
        for (size_t i = 0; i <= n; i++) {
            best[(size_t)k * width + i] = gain > INT32_MIN / 4 ? gain + sum : INT32_MIN / 2;
            from[(size_t)k * width + i] = (uint32_t)begin;
            const bool starts = k == 0 ? i == 0 : i > 0 && i < n && may_cut(t, i);
            const int before = k == 0 ? 0 : best[(size_t)(k - 1) * width + i];
            if (starts && before - sum > gain) gain = before - sum, begin = i;
            if (i < n) sum += weight(t, part, i);
        }
    }
    return best[(size_t)(count - 1) * width + n] > INT32_MIN / 4;
}

static void cut_by_share(tree *t, const int *parts, int count)
{
    size_t at = 0;
    for (int k = 0; k < count; k++) {
        node *const part = &t->nodes[parts[k]];
        part->first = at;
        while (at < t->tokens.count && (k + 1 == count || t->tokens.items[at].from < part->to)) at++;
        while (at > part->first && at < t->tokens.count && !may_cut(t, at)) at--;
        part->last = at;
    }
}

static bool cut_parts(tree *t)
{
    int parts[MOST_NODES], count = 0;
    for (int i = t->nodes[0].child; i != NONE; i = t->nodes[i].next)
        if (t->nodes[i].kind == PART) parts[count++] = i;
    if (count == 0) return true;
    const size_t width = t->tokens.count + 1;
    if (count > MOST_CUTS || t->tokens.count == 0) return cut_by_share(t, parts, count), true;
    int *const best = ganz_alloc((size_t)count * width, sizeof *best);
    uint32_t *const from = ganz_alloc((size_t)count * width, sizeof *from);
    const bool good = best && from;
    if (good && cut_by_weight(t, parts, count, best, from)) {
        size_t end = t->tokens.count;
        for (int k = count - 1; k >= 0; k--) {
            t->nodes[parts[k]].last = end;
            t->nodes[parts[k]].first = end = from[(size_t)k * width + end];
        }
    } else if (good) {
        cut_by_share(t, parts, count);
    }
    ganz_free(best);
    ganz_free(from);
    return good;
}

/* ---- writing it out ----------------------------------------------------------------------------- */

/* A word that is not translated: two of them that were apart must not touch ("`a``b`" is something else in Markdown).
 */
static bool is_opaque(const ganz_insert *x)
{
    return x->kind == GANZ_INSERT_RUN && x->run && x->run->kind == GANZ_RUN_OPAQUE;
}

static void insert(tree *t, ganz_insert x)
{
    if (t->failed) return;
    if (x.at < t->at) x.at = t->at;
    if (x.until < x.at) x.until = x.at;
    ganz_insert *const last = t->out->count > 0 ? &t->out->items[t->out->count - 1] : NULL;
    if (last && last->space_after && last->until == x.at) x.space_before = false;
    if (last && last->until == x.at && is_opaque(last) && is_opaque(&x) && last->run->end != x.run->begin)
        x.space_before = !last->space_after;
    if (!ganz_grow((void **)&t->out->items, &t->out->capacity, t->out->count + 1, sizeof x)) {
        t->failed = true;
        return;
    }
    t->out->items[t->out->count++] = x;
    t->at = x.until;
}

static void insert_mark(tree *t, const ganz_run *r, size_t at, bool space_before, bool space_after)
{
    if (r)
        insert(t, (ganz_insert){.kind = GANZ_INSERT_RUN,
                                .at = at,
                                .until = at,
                                .run = r,
                                .space_before = space_before,
                                .space_after = space_after});
}

/* True if the mark was written last that is right before this one in the sentence. */
static bool follows_mark(const tree *t, const ganz_run *r, size_t at)
{
    const ganz_insert *const last = t->out->count > 0 ? &t->out->items[t->out->count - 1] : NULL;
    return last && last->until == at && last->run && last->run->kind == GANZ_RUN_MARK && last->run->end == r->begin;
}

static bool precedes_mark(const tree *t, const ganz_run *r)
{
    const ganz_stretch *const x = t->p->sentence;
    const size_t next = (size_t)(r - x->block->runs) + 1;
    return next < x->last && x->block->runs[next].kind == GANZ_RUN_MARK;
}

/* The spaces around a mark, or a row of marks, between two words. */
static ganz_gap gap_around(const tree *t, const node *n, size_t at)
{
    if ((n->kind != POINT && !n->blank) || t->nodes[n->parent].blank) return (ganz_gap){false, false};
    if (at < t->at) at = t->at;
    ganz_gap gap = ganz_tokens_gap(t->p, n->from, n->to, at);
    gap.before &= !follows_mark(t, n->open, at);
    gap.after &= !precedes_mark(t, n->close ? n->close : n->open);
    return gap;
}

static void insert_item(tree *t, const ganz_token *token)
{
    const ganz_item *const item = token->item;
    if (item->kept) return;
    ganz_insert x = {.kind = GANZ_INSERT_SOURCE,
                     .at = token->begin,
                     .until = token->end,
                     .begin = item->guard.begin,
                     .end = item->guard.end,
                     .run = item->guard.run,
                     .term = item->guard.term,
                     .space_before = token->space_before,
                     .space_after = token->space_after};
    if (item->guard.kind == GANZ_GUARD_OPAQUE) x.kind = GANZ_INSERT_RUN;
    if (item->guard.kind == GANZ_GUARD_NUMBER) x.kind = GANZ_INSERT_NUMBER;
    if (item->guard.kind == GANZ_GUARD_RESULTS) x.kind = GANZ_INSERT_RESULTS;
    if (item->guard.kind == GANZ_GUARD_CLOCK) x.kind = GANZ_INSERT_CLOCK;
    if (item->guard.kind == GANZ_GUARD_TERM) x.kind = GANZ_INSERT_TERM;
    insert(t, x);
}

static void insert_items(tree *t, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        if (t->tokens.items[i].item) insert_item(t, &t->tokens.items[i]);
}

/* A break takes the place of the space it stands for. */
static void insert_break(tree *t, const node *part)
{
    const size_t least = part->last > 0 ? t->tokens.items[part->last - 1].end : 0;
    const size_t until = part->last < t->tokens.count ? t->tokens.items[part->last].begin : t->p->bytes;
    size_t at = until;
    while (at > least && t->p->text[at - 1] == ' ') at--;
    if (part->close) insert(t, (ganz_insert){.kind = GANZ_INSERT_RUN, .at = at, .until = until, .run = part->close});
}

/* Children of a node by their ranges; those without tokens first. */
static int next_child(const tree *t, int parent, const bool *done)
{
    int best = NONE;
    for (int i = t->nodes[parent].child; i != NONE; i = t->nodes[i].next) {
        const node *const n = &t->nodes[i], *const b = best == NONE ? NULL : &t->nodes[best];
        if (done[i]) continue;
        if (!b || n->first < b->first || (n->first == b->first && n->last == n->first && b->last > b->first)) best = i;
    }
    return best;
}

/* A pair that needs text and has none, nor a mark in it. */
static bool is_left_out(const tree *t, const node *n)
{
    if (n->kind != PAIR || n->first < n->last || !n->open->needs_text) return false;
    for (int i = n->child; i != NONE; i = t->nodes[i].next)
        if (!is_left_out(t, &t->nodes[i])) return false;
    return true;
}

static bool take_space(bool *space)
{
    const bool was = *space;
    *space = false;
    return was;
}

static void write_node(tree *t, int index, bool *done)
{
    if (is_left_out(t, &t->nodes[index])) return;
    const node *const n = &t->nodes[index];
    const bool empty = n->first == n->last, marked = !empty && n->kind != PART;
    /* the space beside a word that was taken out stands outside of marks that begin or end with it */
    const bool space_before = marked && n->open && take_space(&t->tokens.items[n->first].space_before);
    const bool space_after = marked && n->close && take_space(&t->tokens.items[n->last - 1].space_after);
    const size_t slot = empty ? ganz_tokens_byte(t->p, &t->tokens, n->slot) : 0;
    const ganz_gap gap = gap_around(t, n, slot);
    const size_t begin = empty ? slot : t->tokens.items[n->first].begin;
    size_t at = n->first;
    if (n->open) insert_mark(t, n->open, begin, gap.before || space_before, gap.after && !n->close);
    for (int child = next_child(t, index, done); child != NONE; child = next_child(t, index, done)) {
        done[child] = true;
        insert_items(t, at, t->nodes[child].first);
        if (t->nodes[child].first > at) at = t->nodes[child].first;
        write_node(t, child, done);
        if (t->nodes[child].last > at) at = t->nodes[child].last;
    }
    insert_items(t, at, n->last);
    if (n->kind == PART) insert_break(t, n);
    else if (n->close)
        insert_mark(t, n->close, empty ? slot : t->tokens.items[n->last - 1].end, false, gap.after || space_after);
}

/* Marks in the order of the sentence, each at the share of the translation that it had of the sentence. */
static void write_in_order(tree *t)
{
    const ganz_stretch *const x = t->p->sentence;
    const size_t length = x->end - x->begin;
    size_t next = 0;
    for (size_t i = x->first; i < x->last; i++) {
        const ganz_run *const r = &x->block->runs[i];
        if (r->kind != GANZ_RUN_MARK) continue;
        size_t token = (r->begin - x->begin) * t->tokens.count / length;
        if (token < next) token = next;
        insert_items(t, next, token);
        next = token;
        insert_mark(t, r, token < t->tokens.count ? t->tokens.items[token].begin : t->p->bytes, false, false);
    }
    insert_items(t, next, t->tokens.count);
}

bool ganz_place(const ganz_placing *placing, ganz_inserts *out)
{
    tree *const t = ganz_alloc(1, sizeof *t);
    if (!t) return false;
    t->p = placing;
    t->out = out;
    t->failed = !ganz_tokens_make(placing, &t->tokens);
    if (!t->failed && build(t)) {
        bool done[MOST_NODES + 1] = {false};
        t->nodes[0].last = t->tokens.count;
        t->failed = !cut_parts(t);
        if (!t->failed) choose_ranges(t, 0);
        if (!t->failed) write_node(t, 0, done);
    } else if (!t->failed) {
        write_in_order(t);
    }
    const bool good = !t->failed;
    ganz_tokens_free(&t->tokens);
    ganz_free(t);
    return good;
}
