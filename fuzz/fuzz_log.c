/* Any bytes as log.tsv or steps.tsv, the first byte says which and how many events are kept: the log is refused, or
 * goes on behind so many whole lines, can be read and drawn. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>

#include "base/io.h"
#include "memory_file.h"
#include "train/history.h"
#include "train/log.h"

static void go_on(const char *path, int64_t keep)
{
    ganz_log log;
    ganz_log_record *records;
    int before, after;
    if (ganz_log_open(&log, path, keep, NULL) != GANZ_OK) return;
    FUZZ_EXPECT(log.lines <= keep);
    FUZZ_EXPECT(ganz_log_read(path, &records, &before, NULL) == GANZ_OK);
    free(records);
    FUZZ_EXPECT(before == log.lines);
    ganz_log_record next = ganz_log_blank();
    next.step = 7;
    FUZZ_EXPECT(ganz_log_add(&log, &next, "a note", NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_log_read(path, &records, &after, NULL) == GANZ_OK);
    FUZZ_EXPECT(after == before + 1 && records[before].step == 7);
    free(records);
    ganz_log_close(&log);
}

/* Drawing takes longer than all the rest: one log in four is drawn, the others are read; a replayed one always. */
static void draw(const char *path, bool taught, uint64_t sum)
{
    ganz_log_record *records;
    int count;
#ifdef FUZZ_REPLAY
    sum = 0;
#endif
    if (sum % 4 == 0) (void)ganz_log_plot(path, "/dev/null", "any", taught, NULL);
    else if (ganz_log_read(path, &records, &count, NULL) == GANZ_OK) free(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int64_t keep = size > 0 ? data[0] / 3 : 0;
    memory_file file = memory_file_open(data + (size > 0), size - (size > 0));
    switch (size > 0 ? data[0] % 3 : 0) { /* one of three, because files take longer than lines */
    case 0: go_on(file.path, keep); break;
    case 1: draw(file.path, keep & 1, ganz_checksum(data, size)); break;
    default: (void)ganz_history_keep(file.path, keep + 1, NULL); break;
    }
    memory_file_close(&file);
    return 0;
}
