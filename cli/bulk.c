/* A part is translated, then proven. With --work the parts that have no proof are claimed one after the other until all
 * have one: a process whose fellows die does their parts, too. */
#include "bulk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "claims.h"

enum { MOST_PARTS = 1000000 };

static ganz_status failed(ganz_error *err, ganz_status status, const char *name, const char *why)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, "%.300s: %s", name, why);
    return status;
}

/* ---- --shard ------------------------------------------------------------------------------------ */

static bool env_number(const char *name, long long *value)
{
    const char *const text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return !errno && *end == '\0';
}

/* "3/8", or the place of this task in an array of Slurm. */
static bool read_shard(const char *shard, long long *number, long long *count)
{
    int end = 0;
    if (strcmp(shard, "slurm") != 0)
        return sscanf(shard, "%lld/%lld%n", number, count, &end) == 2 && shard[end] == '\0' && *number >= 1 &&
               *number <= *count && *count <= MOST_PARTS;
    long long least = 1, step = 1;
    env_number("SLURM_ARRAY_TASK_MIN", &least);
    env_number("SLURM_ARRAY_TASK_STEP", &step);
    if (!env_number("SLURM_ARRAY_TASK_ID", number) || !env_number("SLURM_ARRAY_TASK_COUNT", count)) return false;
    *number = (*number - least) / (step > 0 ? step : 1) + 1;
    return *number >= 1 && *number <= *count && *count <= MOST_PARTS;
}

int cli_bulk_check(const cli_bulk *b, const cli_command *about)
{
    long long number, count;
    if (b->shard && b->work) return cli_usage(about, "--shard and --work exclude each other");
    if (b->verify > 0 && !b->work) return cli_usage(about, "--verify needs --work");
    if (b->shard && !read_shard(b->shard, &number, &count))
        return strcmp(b->shard, "slurm") == 0
                   ? cli_usage(about, "--shard slurm needs an array job: SLURM_ARRAY_TASK_ID and _COUNT")
                   : cli_usage(about, "--shard is I/N with I from 1 to N, or slurm, not %s", b->shard);
    return -1;
}

/* Translates a part and proves it. */
static ganz_status make_part(const cli_bulk *b, const ganz_part *part, const char *stem, ganz_error *err)
{
    char path[CLI_PATH];
    ganz_status status = ganz_part_name(part, stem, "", path, sizeof path, err);
    if (status == GANZ_OK) status = b->translate(b->context, part, path, false, err);
    return status == GANZ_OK ? ganz_part_prove(part, b->input, stem, b->origin, err) : status;
}

static ganz_status run_shard(const cli_bulk *b, ganz_error *err)
{
    long long number = 1, count = 1;
    ganz_part part;
    bool done;
    read_shard(b->shard, &number, &count);
    ganz_status status = ganz_part_find(&part, b->input, number, count, err);
    if (status == GANZ_OK) status = ganz_part_check(&part, b->input, b->out, b->origin, &done, err);
    if (status != GANZ_OK || done) return status;
    return make_part(b, &part, b->out, err);
}

/* ---- --work ------------------------------------------------------------------------------------- */

typedef struct crew {
    const cli_bulk *bulk;
    char stem[CLI_PATH];
    long long count, done, own;
    bool *is_done; /* (count) */
    double started;
} crew;

ganz_status cli_bulk_stem(const char *folder, char stem[CLI_PATH], ganz_error *err)
{
    if (snprintf(stem, CLI_PATH, "%s/lines", folder) < CLI_PATH) return GANZ_OK;
    return failed(err, GANZ_ELIMIT, folder, "the path is too long");
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void tell(const crew *c, long long number)
{
    if (c->bulk->quiet) return;
    fprintf(stderr, "ganz translate: part %lld is done; %lld of %lld parts, %lld of them here, %.0f s\n", number,
            c->done, c->count, c->own, seconds_now() - c->started);
}

static void mark_done(crew *c, long long number, bool own)
{
    c->is_done[number - 1] = true;
    c->done++;
    c->own += own;
    if (own) tell(c, number);
}

/* Does a part that is neither done nor claimed; *idle becomes false where there was something to do. */
static ganz_status visit_part(crew *c, long long number, bool *idle, ganz_error *err)
{
    const cli_bulk *const b = c->bulk;
    char path[CLI_PATH];
    cli_claim claim = {0};
    ganz_part part;
    bool done;
    ganz_status status = ganz_part_find(&part, b->input, number, c->count, err);
    if (status == GANZ_OK) status = ganz_part_check(&part, b->input, c->stem, b->origin, &done, err);
    if (status == GANZ_OK) status = ganz_part_name(&part, c->stem, ".claim", path, sizeof path, err);
    if (status == GANZ_OK && done) {
        mark_done(c, number, false);
        unlink(path); /* of an owner that died after its last byte, if it is there */
    }
    if (status == GANZ_OK && !done) status = cli_claim_take(&claim, path, b->claim_seconds, err);
    if (status != GANZ_OK || !claim.held) return status;
    *idle = false;
    status = ganz_part_check(&part, b->input, c->stem, b->origin, &done, err); /* another may have ended it just now */
    if (status == GANZ_OK && !done) status = make_part(b, &part, c->stem, err);
    cli_claim_release(&claim);
    if (status == GANZ_OK) mark_done(c, number, !done);
    return status;
}

static ganz_status visit_all(crew *c, ganz_error *err)
{
    while (c->done < c->count) {
        bool idle = true;
        for (long long i = 1; i <= c->count; i++) {
            if (c->is_done[i - 1]) continue;
            const ganz_status status = visit_part(c, i, &idle, err);
            if (status != GANZ_OK) return status;
        }
        if (idle && c->done < c->count) nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    }
    return GANZ_OK;
}

/* ---- --verify ----------------------------------------------------------------------------------- */

/* Whether a part is in the sample; the same for every process, and part 1 always is. */
static bool is_sampled(long long number, double rate)
{
    const unsigned long long mixed = (unsigned long long)number * 0x9E3779B97F4A7C15u;
    return number == 1 || (double)(mixed >> 11) < rate * 9007199254740992.0;
}

static ganz_status verify_part(crew *c, long long number, ganz_error *err)
{
    char path[CLI_PATH], suffix[64];
    ganz_part part;
    bool same = false;
    snprintf(suffix, sizeof suffix, ".again-%lld", (long long)getpid());
    ganz_status status = ganz_part_find(&part, c->bulk->input, number, c->count, err);
    if (status == GANZ_OK) status = ganz_part_name(&part, c->stem, suffix, path, sizeof path, err);
    if (status == GANZ_OK) status = c->bulk->translate(c->bulk->context, &part, path, true, err);
    if (status == GANZ_OK) status = ganz_part_compare(&part, c->stem, path, &same, err);
    unlink(path);
    if (status == GANZ_OK && !same) {
        snprintf(suffix, sizeof suffix, "part %lld", number);
        return failed(err, GANZ_EFORMAT, suffix,
                      "translated again it gives other bytes: the machine that made it, or this one, computes wrongly");
    }
    return status;
}

static ganz_status verify(crew *c, ganz_error *err)
{
    long long count = 0;
    for (long long i = 1; i <= c->count && c->bulk->verify > 0; i++) {
        if (!is_sampled(i, c->bulk->verify)) continue;
        const ganz_status status = verify_part(c, i, err);
        if (status != GANZ_OK) return status;
        count++;
    }
    if (count > 0 && !c->bulk->quiet)
        fprintf(stderr, "ganz translate: %lld of %lld parts translated again, all with the same bytes\n", count,
                c->count);
    return GANZ_OK;
}

static ganz_status run_work(const cli_bulk *b, ganz_error *err)
{
    crew c = {.bulk = b, .started = seconds_now()};
    struct stat facts;
    if (stat(b->input, &facts) != 0) return failed(err, GANZ_EIO, b->input, strerror(errno));
    if (mkdir(b->work, 0777) != 0 && errno != EEXIST) return failed(err, GANZ_EIO, b->work, strerror(errno));
    ganz_status status = cli_bulk_stem(b->work, c.stem, err);
    if (status != GANZ_OK) return status;
    c.count = (long long)facts.st_size / b->part_bytes + 1;
    if (c.count > MOST_PARTS) c.count = MOST_PARTS;
    c.is_done = calloc((size_t)c.count, sizeof *c.is_done);
    if (!c.is_done) return failed(err, GANZ_ENOMEM, "parts", "out of memory");
    status = visit_all(&c, err);
    if (status == GANZ_OK) status = verify(&c, err);
    free(c.is_done);
    return status;
}

ganz_status cli_bulk_run(const cli_bulk *b, ganz_error *err) { return b->shard ? run_shard(b, err) : run_work(b, err); }
