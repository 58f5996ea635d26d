/* Orders, and comparisons of what the processes have. Every order is followed by one agreement (ganz_ranks_agree) about
 * how it went, so that a failure anywhere ends all. */
#include "train/crew.h"

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "train/trainer_state.h"

bool ganz_crew_leads(const ganz_ranks *ranks) { return !ranks || ranks->rank == 0; }

/* ---- what is compared --------------------------------------------------------------------------- */

typedef struct facts {
    uint64_t corpus, vocabulary, texts, teachers, ranges, device, parameters, optimizer, position;
    ganz_recipe recipe;
} facts;

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    {"corpus", offsetof(facts, corpus)},
    {"vocabulary", offsetof(facts, vocabulary)},
    {"text for validation", offsetof(facts, texts)},
    {"teacher", offsetof(facts, teachers)},
    {"model of the first steps", offsetof(facts, ranges)},
    {"kind of device", offsetof(facts, device)},
    {"step of the checkpoint (is the folder of the run the same everywhere?)", offsetof(facts, position)},
    {"model to begin with", offsetof(facts, parameters)},
    {"memory of the optimizer", offsetof(facts, optimizer)},
};

static uint64_t mix(uint64_t sum, uint64_t more)
{
    const uint64_t both[2] = {sum, more};
    return ganz_checksum(both, sizeof both);
}

/* By the checksums that the file itself has. */
static uint64_t sum_of_file(const ganz_container *file)
{
    uint64_t sum = 0;
    for (int i = 0; i < ganz_container_count(file); i++) {
        char key[GANZ_CONTAINER_NAME + 8];
        const ganz_entry *const e = ganz_container_at(file, i);
        snprintf(key, sizeof key, "xxh3:%s", e->name);
        const char *const own = ganz_container_text(file, key);
        sum = mix(sum, mix(e->bytes, own ? ganz_checksum(own, strlen(own)) : 0));
    }
    return sum;
}

static uint64_t sum_of_block(const ganz_trainer *t, const real *block, size_t count, real *scratch)
{
    t->be->download(t->be, scratch, block, count * sizeof *scratch);
    return ganz_checksum(scratch, count * sizeof *scratch);
}

static uint64_t sum_of_texts(const ganz_valid *v)
{
    if (v->count == 0) return 0;
    return mix(ganz_checksum(v->sources.ids, v->sources.count * sizeof *v->sources.ids),
               ganz_checksum(v->text, v->text_bytes));
}

static void fill_facts(const ganz_trainer *t, real *scratch, facts *f)
{
    const ganz_counters *const c = &t->counters;
    f->recipe = t->recipe;
    f->corpus = sum_of_file(t->corpus->file);
    f->vocabulary = t->corpus->vocab_checksum;
    f->texts = sum_of_texts(&t->valid);
    f->teachers = ganz_tutors_sum(&t->tutors);
    f->ranges = ganz_trainer_parts(t).ranges;
    f->device = ganz_checksum(t->be->name, strlen(t->be->name));
    f->position = mix((uint64_t)c->step, (uint64_t)c->phase);
    f->parameters = sum_of_block(t, t->weights.master, t->net.params.block, scratch);
    f->optimizer = sum_of_block(t, t->optim.slots, t->optim.slot_count, scratch);
}

/* Names the first setting that is another one. */
static ganz_status compare_recipes(const ganz_ranks *ranks, int rank, const ganz_recipe *first, const ganz_recipe *own,
                                   ganz_error *err)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        char wanted[GANZ_VALUE_BYTES], found[GANZ_VALUE_BYTES];
        ganz_recipe_get(first, &table[i], wanted);
        ganz_recipe_get(own, &table[i], found);
        if (strcmp(wanted, found) != 0)
            return ganz_fail(err, GANZ_EINVAL, "%s is %.60s for process %d on %s, and %.60s for process 0 on %s",
                             table[i].name, found, rank, ranks->host[rank], wanted, ranks->host[0]);
    }
    return GANZ_OK;
}

static ganz_status compare_facts(const ganz_ranks *ranks, int rank, const facts *first, const facts *own,
                                 ganz_error *err)
{
    GANZ_TRY(compare_recipes(ranks, rank, &first->recipe, &own->recipe, err));
    for (size_t i = 0; i < GANZ_COUNT(fields); i++)
        if (memcmp((const char *)first + fields[i].offset, (const char *)own + fields[i].offset, sizeof(uint64_t)) != 0)
            return ganz_fail(err, GANZ_EINVAL, "process %d on %s has another %s than process 0 on %s", rank,
                             ranks->host[rank], fields[i].name, ranks->host[0]);
    return GANZ_OK;
}

static size_t largest_block(const ganz_trainer *t)
{
    return t->net.params.block > t->optim.slot_count ? t->net.params.block : t->optim.slot_count;
}

ganz_status ganz_crew_meet(ganz_ranks *ranks, const ganz_trainer *t, ganz_status status, ganz_error *err)
{
    if (!ranks) return status;
    facts *const all = ganz_alloc((size_t)ranks->size, sizeof *all), *const own = ganz_alloc(1, sizeof *own);
    real *const scratch = status == GANZ_OK ? ganz_alloc(largest_block(t), sizeof *scratch) : NULL;
    if (status == GANZ_OK && (!all || !own || !scratch))
        status = ganz_fail(err, GANZ_ENOMEM, "out of memory to compare processes");
    if (status == GANZ_OK) fill_facts(t, scratch, own);
    status = ganz_ranks_agree(ranks, status, err);
    if (status == GANZ_OK) status = ganz_ranks_gather(ranks, own, all, sizeof *own, err);
    for (int i = 1; status == GANZ_OK && i < ranks->size; i++) status = compare_facts(ranks, i, &all[0], &all[i], err);
    ganz_free(all);
    ganz_free(own);
    ganz_free(scratch);
    return status;
}

/* ---- orders ------------------------------------------------------------------------------------- */

typedef struct word {
    int32_t order, row;
    double done;
} word;

ganz_status ganz_crew_order(ganz_ranks *ranks, ganz_order order, int row, double done, ganz_error *err)
{
    word w = {(int32_t)order, row, done};
    if (!ranks || ranks->rank > 0 || ranks->broken) return GANZ_OK;
    return ganz_ranks_share(ranks, &w, sizeof w, err);
}

static ganz_status validate(ganz_trainer *t, ganz_error *err)
{
    ganz_event event = ganz_trainer_event(t);
    return ganz_trainer_measure(t, &event, err);
}

static ganz_status enter(ganz_trainer *t, int row, ganz_error *err)
{
    if (row < 0 || row >= GANZ_PHASES) return ganz_fail(err, GANZ_EINVAL, "process 0 orders a phase that there is not");
    return ganz_trainer_enter(t, row, NULL, err);
}

static ganz_status obey(ganz_ranks *ranks, ganz_trainer *t, const word *w, ganz_error *err)
{
    switch ((ganz_order)w->order) {
    case GANZ_ORDER_STEP: return ganz_trainer_step(t, w->done, NULL, err);
    case GANZ_ORDER_ENTER: return enter(t, w->row, err);
    case GANZ_ORDER_VALIDATE: return validate(t, err);
    case GANZ_ORDER_COMPARE: return ganz_crew_compare(ranks, t, err);
    case GANZ_ORDER_END: break;
    }
    return GANZ_OK;
}

/* A failure that came after the agreement is told at the next one: nothing else is done in between. */
ganz_status ganz_crew_follow(ganz_ranks *ranks, ganz_trainer *t, ganz_error *err)
{
    ganz_status failed = GANZ_OK;
    ganz_error why = {0};
    for (;;) {
        word w = {0};
        GANZ_TRY(ganz_ranks_share(ranks, &w, sizeof w, err));
        if (w.order == GANZ_ORDER_END) return GANZ_OK;
        if (failed != GANZ_OK) ganz_ranks_agree(ranks, failed, &why);
        else failed = obey(ranks, t, &w, &why);
        if (failed == GANZ_ESTOPPED) failed = GANZ_OK; /* the leader knows and will end the run */
        if (ranks->broken) return ganz_fail(err, GANZ_EIO, "%s", why.message);
    }
}

ganz_status ganz_crew_compare(ganz_ranks *ranks, const ganz_trainer *t, ganz_error *err)
{
    if (!ranks) return GANZ_OK;
    const size_t count = t->net.params.block;
    GANZ_TRY(ganz_crew_order(ranks, GANZ_ORDER_COMPARE, 0, 0, err));
    real *const scratch = ganz_alloc(count, sizeof *scratch);
    uint64_t *const sums = ganz_alloc((size_t)ranks->size, sizeof *sums);
    ganz_status status = scratch && sums ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory to compare processes");
    const uint64_t own = status == GANZ_OK ? sum_of_block(t, t->weights.master, count, scratch) : 0;
    status = ganz_ranks_agree(ranks, status, err);
    if (status == GANZ_OK) status = ganz_ranks_gather(ranks, &own, sums, sizeof own, err);
    for (int i = 1; status == GANZ_OK && i < ranks->size; i++)
        if (sums[i] != sums[0])
            status =
                ganz_fail(err, GANZ_EINVAL,
                          "process %d on %s has computed other parameters than process 0 on %s at step %lld: one of "
                          "these machines does not compute right",
                          i, ranks->host[i], ranks->host[0], (long long)t->counters.step);
    ganz_free(scratch);
    ganz_free(sums);
    return status;
}
