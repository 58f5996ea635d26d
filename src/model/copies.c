/* A list of copies by device and type of products, each with its number of users, under a lock. */
#include "model/copies.h"

#include <pthread.h>
#include <string.h>

typedef struct copy {
    struct copy *next;
    char *device;
    ganz_type product;
    int users;
    ganz_weights weights;
} copy;

struct ganz_copies {
    pthread_mutex_t lock;
    const ganz_net *net;
    const ganz_weights *from;
    copy *first;
};

ganz_status ganz_copies_open(ganz_copies **copies, const ganz_net *net, const ganz_weights *from, ganz_error *err)
{
    *copies = ganz_alloc(1, sizeof **copies);
    if (!*copies) return ganz_fail(err, GANZ_ENOMEM, "out of memory for a model");
    (*copies)->net = net;
    (*copies)->from = from;
    pthread_mutex_init(&(*copies)->lock, NULL);
    return GANZ_OK;
}

void ganz_copies_close(ganz_copies **copies)
{
    if (!*copies) return;
    GANZ_ASSERT(!(*copies)->first); /* translators are closed before their model */
    pthread_mutex_destroy(&(*copies)->lock);
    ganz_free(*copies);
    *copies = NULL;
}

static ganz_status fill_floats(const ganz_copies *copies, ganz_weights *to, ganz_backend *be, ganz_error *err)
{
    const ganz_net *const net = copies->net;
    GANZ_TRY(ganz_weights_open(to, net, be, false, err));
    be->upload(be, to->master, copies->from->master, net->params.block * sizeof(real));
    return ganz_weights_refresh(to, net, err);
}

static ganz_status fill(const ganz_copies *copies, ganz_weights *to, ganz_backend *be, ganz_error *err)
{
    ganz_status status = copies->from->packed ? ganz_weights_copy_codes(to, copies->net, be, copies->from, err)
                                              : fill_floats(copies, to, be, err);
    if (status == GANZ_OK) status = be->sync(be, err); /* other streams read it */
    if (status != GANZ_OK) ganz_weights_close(to);
    return status;
}

static ganz_status make(ganz_copies *copies, const char *device, ganz_backend *be, ganz_error *err)
{
    copy *const made = ganz_alloc(1, sizeof *made);
    char *const name = ganz_strdup(device);
    const ganz_status status = made && name ? fill(copies, &made->weights, be, err)
                                            : ganz_fail(err, GANZ_ENOMEM, "out of memory for a copy of the weights");
    if (status != GANZ_OK) {
        ganz_free(made);
        ganz_free(name);
        return status;
    }
    made->device = name;
    made->product = be->product;
    made->next = copies->first;
    copies->first = made;
    return GANZ_OK;
}

static copy *find(const ganz_copies *copies, const char *device, ganz_type product)
{
    copy *at = copies->first;
    while (at && (at->product != product || strcmp(at->device, device) != 0)) at = at->next;
    return at;
}

ganz_status ganz_copies_borrow(ganz_copies *copies, const char *device, ganz_backend *be, const ganz_weights **weights,
                               ganz_error *err)
{
    ganz_status status = GANZ_OK;
    *weights = NULL;
    pthread_mutex_lock(&copies->lock);
    if (!find(copies, device, be->product)) status = make(copies, device, be, err);
    copy *const found = find(copies, device, be->product);
    if (status == GANZ_OK) {
        found->users++;
        *weights = &found->weights;
    }
    pthread_mutex_unlock(&copies->lock);
    return status;
}

void ganz_copies_return(ganz_copies *copies, ganz_backend *be, const ganz_weights *weights)
{
    if (!weights) return;
    pthread_mutex_lock(&copies->lock);
    copy **at = &copies->first;
    while (&(*at)->weights != weights) at = &(*at)->next;
    copy *const found = *at;
    if (--found->users == 0) {
        *at = found->next;
        found->weights.be = be; /* the backend that filled it may be gone */
        ganz_weights_close(&found->weights);
        ganz_free(found->device);
        ganz_free(found);
    }
    pthread_mutex_unlock(&copies->lock);
}
