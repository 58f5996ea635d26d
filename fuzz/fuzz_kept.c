/* Any bytes as ids that a run has written down: they are refused, or written down anew are the same bytes. The input is
 * copied to the end of a block, so that a byte behind it would be seen. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"
#include "text/vocab.h"

enum { MOST = 32000 };

static void write_anew(const ganz_ids *ids, const char *text, size_t bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < ids->count; i++) {
        char number[16];
        FUZZ_EXPECT(ids->ids[i] >= 0 && ids->ids[i] < MOST);
        const size_t digits = (size_t)snprintf(number, sizeof number, i ? " %d" : "%d", (int)ids->ids[i]);
        if (i > 0) FUZZ_EXPECT(at < bytes && text[at++] == ' ');
        while (at + 1 < bytes && text[at] == '0' && text[at + 1] >= '0' && text[at + 1] <= '9') at++;
        FUZZ_EXPECT(at + digits - (i > 0) <= bytes && memcmp(text + at, number + (i > 0), digits - (i > 0)) == 0);
        at += digits - (i > 0);
    }
    FUZZ_EXPECT(at == bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ganz_ids ids = {0};
    char *const text = malloc(bytes + (bytes == 0));
    FUZZ_EXPECT(text);
    if (bytes > 0) memcpy(text, data, bytes);
    const ganz_status status = ganz_ids_read(text, bytes, MOST, &ids);
    FUZZ_EXPECT(status == GANZ_OK || status == GANZ_EFORMAT);
    FUZZ_EXPECT(ids.count < ids.capacity || ids.count == 0);
    if (status == GANZ_OK) write_anew(&ids, text, bytes);
    ganz_ids_free(&ids);
    free(text);
    return 0;
}
