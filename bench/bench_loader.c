/* bench_loader CORPUS: an epoch of packed batches and one of sentences, a seek to their middle, and peak memory. */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "train/batch.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ganz_status run_epoch(const ganz_corpus *corpus, bool packed, ganz_error *err)
{
    ganz_loader_options o;
    ganz_loader *l;
    ganz_batch b;
    ganz_loader_defaults(&o);
    o.packed = packed;
    const double begin = seconds();
    ganz_status status = ganz_loader_open(&l, corpus, &o, err);
    if (status != GANZ_OK) return status;
    const double planned = seconds();
    const uint64_t batches = ganz_loader_epoch_batches(l);
    long long pairs = 0, target = 0, rows = 0;
    while (status == GANZ_OK && ganz_loader_position(l).epoch == 0) {
        status = ganz_loader_next(l, &b, err);
        pairs += b.segments;
        target += b.target_rows;
        rows += b.packed_rows;
    }
    const double end = seconds();
    if (status == GANZ_OK) status = ganz_loader_seek(l, (ganz_position){1, batches / 2}, err);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%s\t%llu\t%lld\t%lld\t%lld\t%.2f\t%.0f\t%.2f\t%ld\n", packed ? "packed" : "sentences",
           (unsigned long long)batches, rows, pairs, target, planned - begin, (double)target / (end - planned),
           seconds() - end, usage.ru_maxrss / 1024);
    ganz_loader_close(&l);
    return status;
}

int main(int argc, char **argv)
{
    ganz_corpus *corpus = NULL;
    ganz_error err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: bench_loader CORPUS\n");
        return 2;
    }
    ganz_status status = ganz_corpus_open(&corpus, argv[1], &err);
    if (status == GANZ_OK) printf("kind\tbatches\trows\tpairs\ttarget tokens\tplan s\ttokens/s\tseek s\tpeak MiB\n");
    for (int packed = 1; packed >= 0 && status == GANZ_OK; packed--) status = run_epoch(corpus, packed, &err);
    ganz_corpus_close(&corpus);
    if (status != GANZ_OK) fprintf(stderr, "bench_loader: %s\n", err.message);
    return status == GANZ_OK ? 0 : 1;
}
