/* Finding the other processes, and what all transports share: names of machines, giving, and agreeing. */
#define _GNU_SOURCE /* secure_getenv */
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the environment ---------------------------------------------------------------------------- */

/* A variable with a number from 0 to most; -1: it is not there or is no such number. */
static int number_of(const char *name, int most)
{
    const char *const text = secure_getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return -1;
    const long number = strtol(text, &end, 10);
    return *end || number > most ? -1 : (int)number;
}

/* Open MPI; MPICH and Intel MPI; Slurm's srun, whose step variables a batch script itself does not have. */
ganz_status ganz_place_find(ganz_place *place, ganz_error *err)
{
    static const char *const known[][2] = {{"GANZ_RANKS", "GANZ_RANK"},
                                           {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"},
                                           {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    *place = (ganz_place){.size = 1};
    size_t i = 0;
    while (i < GANZ_COUNT(known) && !secure_getenv(known[i][0])) i++;
    if (i == GANZ_COUNT(known)) return GANZ_OK;
    const int size = number_of(known[i][0], GANZ_MOST_RANKS), rank = number_of(known[i][1], GANZ_MOST_RANKS);
    if (size < 1 || rank < 0 || rank >= size)
        return ganz_fail(err, GANZ_EINVAL, "%s and %s are no number of processes (up to %d) and one of them",
                         known[i][0], known[i][1], GANZ_MOST_RANKS);
    place->size = size;
    place->rank = rank;
    place->meet = secure_getenv("GANZ_MEET");
    if (i == 0 && size > 1 && !place->meet)
        return ganz_fail(err, GANZ_EINVAL, "GANZ_RANKS is %d, but GANZ_MEET does not say HOST:PORT of process 0", size);
    return GANZ_OK;
}

/* ---- meeting ------------------------------------------------------------------------------------ */

typedef struct greeting {
    char version[32];
    char host[GANZ_HOST_BYTES];
} greeting;

static ganz_status note_hosts(ganz_ranks *ranks, const greeting *all, ganz_error *err)
{
    for (int i = 0; i < ranks->size; i++) {
        memcpy(ranks->host[i], all[i].host, sizeof *ranks->host - 1);
        if (strncmp(all[i].version, all[0].version, sizeof all[i].version) != 0)
            return ganz_fail(err, GANZ_EVERSION, "process %d on %.63s runs ganz %.31s, process 0 on %.63s ganz %.31s",
                             i, all[i].host, all[i].version, all[0].host, all[0].version);
    }
    for (int i = 0; i < ranks->size; i++) {
        const bool here = strcmp(ranks->host[i], ranks->host[ranks->rank]) == 0;
        ranks->local += here && i < ranks->rank;
        ranks->locals += here;
    }
    return GANZ_OK;
}

static ganz_status greet(ganz_ranks *ranks, ganz_error *err)
{
    greeting own = {.version = GANZ_VERSION};
    greeting *const all = ganz_alloc((size_t)ranks->size, sizeof *all);
    if (!all) return ganz_fail(err, GANZ_ENOMEM, "out of memory");
    if (gethostname(own.host, sizeof own.host - 1) != 0)
        snprintf(own.host, sizeof own.host, "a machine without a name");
    ganz_status status = ganz_ranks_gather(ranks, &own, all, sizeof own, err);
    if (status == GANZ_OK) status = note_hosts(ranks, all, err);
    ganz_free(all);
    return status;
}

static ganz_status take_memory(ganz_ranks *ranks, ganz_error *err)
{
    const size_t size = (size_t)ranks->size;
    ranks->host = ganz_alloc(size, sizeof *ranks->host);
    ranks->at = ganz_alloc(size + 1, sizeof *ranks->at);
    ranks->words = ganz_alloc(size, sizeof *ranks->words);
    if (ranks->host && ranks->at && ranks->words) return GANZ_OK;
    ranks->broken = true;
    return ganz_fail(err, GANZ_ENOMEM, "out of memory");
}

ganz_status ganz_ranks_open(ganz_ranks **ranks, const ganz_place *place, ganz_error *err)
{
    *ranks = NULL;
    if (place->size == 1 && !(place->meet && secure_getenv("GANZ_NCCL"))) return GANZ_OK;
    GANZ_TRY(place->meet ? ganz_sockets_open(ranks, place, err) : ganz_mpi_load(ranks, place, err));
    ganz_status status = take_memory(*ranks, err);
    if (status == GANZ_OK) status = greet(*ranks, err);
    if (status != GANZ_OK) ganz_ranks_close(ranks);
    return status;
}

void ganz_ranks_close(ganz_ranks **ranks)
{
    ganz_ranks *const r = *ranks;
    *ranks = NULL;
    if (!r) return;
    ganz_free(r->host);
    ganz_free(r->at);
    ganz_free(r->words);
    r->close(r);
}

/* ---- small things ------------------------------------------------------------------------------- */

/* One process gives, the others get. */
static ganz_status give(ganz_ranks *ranks, int from, void *data, size_t bytes, ganz_error *err)
{
    for (int i = 0; i <= ranks->size; i++) ranks->at[i] = i > from ? bytes : 0;
    return ranks->gather(ranks, data, ranks->at, err);
}

ganz_status ganz_ranks_share(ganz_ranks *ranks, void *data, size_t bytes, ganz_error *err)
{
    return give(ranks, 0, data, bytes, err);
}

ganz_status ganz_ranks_gather(ganz_ranks *ranks, const void *own, void *all, size_t bytes, ganz_error *err)
{
    for (int i = 0; i <= ranks->size; i++) ranks->at[i] = (size_t)i * bytes;
    memcpy((char *)all + ranks->at[ranks->rank], own, bytes);
    return ranks->gather(ranks, all, ranks->at, err);
}

/* The process whose status counts: the first that failed, else one that was stopped; -1: all did well. */
static int decisive(const ganz_ranks *ranks)
{
    int stopped = -1;
    for (int i = 0; i < ranks->size; i++) {
        const int32_t status = ranks->words[i];
        if (status != GANZ_OK && status != GANZ_ESTOPPED) return i;
        if (status == GANZ_ESTOPPED && stopped < 0) stopped = i;
    }
    return stopped;
}

ganz_status ganz_ranks_agree(ganz_ranks *ranks, ganz_status own, ganz_error *err)
{
    if (!ranks || ranks->broken) return own;
    const int32_t mine = (int32_t)own;
    ganz_error why;
    if (!err) err = &why;
    char sentence[sizeof err->message] = "";
    if (own != GANZ_OK) memcpy(sentence, err->message, sizeof sentence);
    GANZ_TRY(ganz_ranks_gather(ranks, &mine, ranks->words, sizeof mine, err));
    const int from = decisive(ranks);
    if (from < 0) return GANZ_OK;
    const ganz_status found = (ganz_status)ranks->words[from];
    if (found == GANZ_ESTOPPED) return ganz_fail(err, found, "stopped");
    GANZ_TRY(give(ranks, from, sentence, sizeof sentence, err));
    sentence[sizeof sentence - 1] = '\0';
    if (from == ranks->rank) return ganz_fail(err, found, "%s", sentence);
    return ganz_fail(err, found, "process %d on %s: %.300s", from, ranks->host[from], sentence);
}
