/* NCCL: wires between GPUs. The library is loaded when GANZ_NCCL names it, so that the program needs neither it nor its
 * header; of its calls only those that move bytes are used, never one that adds. Processes meet by another transport.
 */
#define _GNU_SOURCE /* secure_getenv */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"

/* As nccl.h of version 2 has it. */
enum { SUCCESS = 0, IN_PROGRESS = 7, BYTES = 0 /* ncclInt8 */, ID_BYTES = 128, NEEDED = 20700 /* send and receive */ };

typedef struct nccl_id {
    char internal[ID_BYTES];
} nccl_id;

typedef struct nccl_calls {
    int (*get_version)(int *version);
    int (*get_id)(nccl_id *id);
    int (*init)(void **comm, int ranks, nccl_id id, int rank);
    int (*destroy)(void *comm);
    int (*give_up)(void *comm);
    int (*async_error)(void *comm, int *error);
    const char *(*error_text)(int result);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*send)(const void *data, size_t count, int type, int rank, void *comm, void *stream);
    int (*recv)(void *data, size_t count, int type, int rank, void *comm, void *stream);
    int (*all_gather)(const void *own, void *all, size_t count, int type, void *comm, void *stream);
} nccl_calls;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"ncclGetVersion", offsetof(nccl_calls, get_version)},
    {"ncclGetUniqueId", offsetof(nccl_calls, get_id)},
    {"ncclCommInitRank", offsetof(nccl_calls, init)},
    {"ncclCommDestroy", offsetof(nccl_calls, destroy)},
    {"ncclCommAbort", offsetof(nccl_calls, give_up)},
    {"ncclCommGetAsyncError", offsetof(nccl_calls, async_error)},
    {"ncclGetErrorString", offsetof(nccl_calls, error_text)},
    {"ncclGroupStart", offsetof(nccl_calls, group_start)},
    {"ncclGroupEnd", offsetof(nccl_calls, group_end)},
    {"ncclSend", offsetof(nccl_calls, send)},
    {"ncclRecv", offsetof(nccl_calls, recv)},
    {"ncclAllGather", offsetof(nccl_calls, all_gather)},
};

typedef struct nccl {
    ganz_wires table; /* first */
    ganz_ranks *ranks;
    nccl_calls call;
    const char *(*last_error)(void *comm); /* NULL: before 2.13 */
    void *comm, *stream;
} nccl;

static ganz_status fail_nccl(const nccl *n, const char *what, int result, ganz_error *err)
{
    const char *const more = n->last_error ? n->last_error(n->comm) : "";
    return ganz_fail(err, GANZ_EIO, "NCCL cannot %s: %s%s%.200s", what, n->call.error_text(result),
                     more && *more ? "; " : "", more ? more : "");
}

/* ---- moving ------------------------------------------------------------------------------------- */

static int queue_move(const nccl *n, const ganz_move *m)
{
    if (m->bytes == 0) return SUCCESS;
    return m->out ? n->call.send(m->data, m->bytes, BYTES, m->rank, n->comm, n->stream)
                  : n->call.recv(m->data, m->bytes, BYTES, m->rank, n->comm, n->stream);
}

static ganz_status move_all(ganz_wires *w, const ganz_move *moves, int count, ganz_error *err)
{
    const nccl *const n = (nccl *)w;
    int result = n->call.group_start();
    if (result != SUCCESS) return fail_nccl(n, "begin", result, err);
    for (int i = 0; result == SUCCESS && i < count; i++) result = queue_move(n, &moves[i]);
    const int ended = n->call.group_end();
    if (result == SUCCESS) result = ended;
    return result == SUCCESS ? GANZ_OK : fail_nccl(n, "move gradients", result, err);
}

static bool are_equal(const size_t *at, int size)
{
    for (int i = 0; i < size; i++)
        if (at[i + 1] - at[i] != at[1]) return false;
    return true;
}

/* Stretches of different lengths, to each process and from each. */
static ganz_status gather_unequal(nccl *n, char *all, const size_t *at, ganz_error *err)
{
    const int size = n->ranks->size, own = n->ranks->rank;
    int result = n->call.group_start();
    if (result != SUCCESS) return fail_nccl(n, "begin", result, err);
    for (int i = 0; result == SUCCESS && i < size; i++) {
        const ganz_move out = {i, true, all + at[own], at[own + 1] - at[own]},
                        in = {i, false, all + at[i], at[i + 1] - at[i]};
        if (i == own) continue;
        result = queue_move(n, &out);
        if (result == SUCCESS) result = queue_move(n, &in);
    }
    const int ended = n->call.group_end();
    if (result == SUCCESS) result = ended;
    return result == SUCCESS ? GANZ_OK : fail_nccl(n, "gather gradients", result, err);
}

static ganz_status gather(ganz_wires *w, void *all, const size_t *at, ganz_error *err)
{
    nccl *const n = (nccl *)w;
    if (!are_equal(at, n->ranks->size)) return gather_unequal(n, all, at, err);
    const char *const own = (const char *)all + at[n->ranks->rank];
    const int result = n->call.all_gather(own, all, at[1], BYTES, n->comm, n->stream);
    return result == SUCCESS ? GANZ_OK : fail_nccl(n, "gather gradients", result, err);
}

/* NCCL waits for ever for a process that has died, so the other transport is asked too. */
static ganz_status check(ganz_wires *w, ganz_error *err)
{
    nccl *const n = (nccl *)w;
    int found = SUCCESS;
    const int result = n->call.async_error(n->comm, &found);
    if (result != SUCCESS || (found != SUCCESS && found != IN_PROGRESS)) {
        n->ranks->broken = true;
        return fail_nccl(n, "go on", result != SUCCESS ? result : found, err);
    }
    return n->ranks->alive ? n->ranks->alive(n->ranks, err) : GANZ_OK;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* The library stays loaded, as CUDA's do: it has threads. */
static void close_nccl(ganz_wires *w)
{
    nccl *const n = (nccl *)w;
    if (n->comm && n->ranks->broken) n->call.give_up(n->comm);
    else if (n->comm) n->call.destroy(n->comm);
    ganz_free(n);
}

static void *symbol_of(void *library, const char *name, void *to)
{
    void *const found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found;
}

static ganz_status load(nccl *n, ganz_error *err)
{
    const char *const given = secure_getenv("GANZ_NCCL"), *const path = given && *given ? given : "libnccl.so.2";
    int version = 0;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *const why = dlerror();
        return ganz_fail(err, GANZ_EUNSUPPORTED, "GANZ_NCCL: NCCL cannot be loaded: %s", why ? why : path);
    }
    for (size_t i = 0; i < GANZ_COUNT(symbols); i++)
        if (!symbol_of(library, symbols[i].name, (char *)&n->call + symbols[i].offset))
            return ganz_fail(err, GANZ_EUNSUPPORTED, "GANZ_NCCL: %s has no %s", path, symbols[i].name);
    symbol_of(library, "ncclGetLastError", &n->last_error);
    if (n->call.get_version(&version) == SUCCESS && version >= NEEDED) return GANZ_OK;
    return ganz_fail(err, GANZ_EVERSION, "GANZ_NCCL: %s is too old: 2.7 is needed", path);
}

/* Every step is agreed upon, so that no process waits for one that has failed. */
static ganz_status connect_all(nccl *n, ganz_error *err)
{
    ganz_ranks *const ranks = n->ranks;
    nccl_id id = {{0}};
    ganz_status status = load(n, err);
    int result = SUCCESS;
    if (status == GANZ_OK && ranks->rank == 0) result = n->call.get_id(&id);
    if (result != SUCCESS) status = fail_nccl(n, "begin", result, err);
    GANZ_TRY(ganz_ranks_agree(ranks, status, err));
    GANZ_TRY(ganz_ranks_share(ranks, &id, sizeof id, err));
    result = n->call.init(&n->comm, ranks->size, id, ranks->rank);
    if (result != SUCCESS) {
        n->comm = NULL;
        status = fail_nccl(n, "connect the GPUs", result, err);
    }
    return ganz_ranks_agree(ranks, status, err);
}

/* The first process decides. */
static ganz_status is_wanted(ganz_ranks *ranks, bool *wanted, ganz_error *err)
{
    int32_t word = secure_getenv("GANZ_NCCL") != NULL;
    GANZ_TRY(ganz_ranks_share(ranks, &word, sizeof word, err));
    *wanted = word != 0;
    return GANZ_OK;
}

ganz_status ganz_nccl_open(ganz_wires **wires, ganz_ranks *ranks, void *stream, ganz_error *err)
{
    bool wanted;
    *wires = NULL;
    GANZ_TRY(is_wanted(ranks, &wanted, err));
    if (!wanted) return GANZ_OK;
    nccl *const n = ganz_alloc(1, sizeof *n);
    ganz_status status = n ? GANZ_OK : ganz_fail(err, GANZ_ENOMEM, "out of memory");
    if (n && !stream) status = ganz_fail(err, GANZ_EINVAL, "GANZ_NCCL is for GPUs: --device cuda");
    status = ganz_ranks_agree(ranks, status, err);
    if (n) {
        n->table = (ganz_wires){.move = move_all, .gather = gather, .check = check, .close = close_nccl};
        n->ranks = ranks;
        n->stream = stream;
    }
    if (status == GANZ_OK) status = connect_all(n, err);
    if (status == GANZ_OK) *wires = &n->table;
    else if (n) close_nccl(&n->table);
    return status;
}
