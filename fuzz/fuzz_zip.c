/* A zip archive that nobody vouches for. What opens is written again byte for byte; with one member replaced it opens
 * again, has that member's new bytes and all others as they were. */
#include <string.h>

#include "document/zip.h"
#include "fuzz.h"

/* The member's bytes, or NULL if they are damaged or too many. */
static char *contents(ganz_zip *zip, int member, size_t *bytes)
{
    if (ganz_zip_claim(zip, member, bytes, NULL) != GANZ_OK) return NULL;
    char *const data = malloc(*bytes + 1);
    if (ganz_zip_read(zip, member, data, NULL) == GANZ_OK) return data;
    free(data);
    return NULL;
}

static void expect_same(ganz_zip *a, ganz_zip *b, int member)
{
    size_t n, m;
    char *const x = contents(a, member, &n), *const y = contents(b, member, &m);
    FUZZ_EXPECT(!x == !y && (!x || (n == m && memcmp(x, y, n) == 0)));
    free(x);
    free(y);
}

static void replace_one(const uint8_t *data, size_t bytes, int member)
{
    const ganz_zip_limits limits = {1 << 20, 100, 64};
    unsigned char *written;
    size_t count;
    ganz_zip *zip, *again;
    FUZZ_EXPECT(ganz_zip_open(&zip, data, bytes, &limits, NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_zip_replace(zip, member, data, bytes, NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_zip_write(zip, &written, &count, NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_zip_open(&again, written, count, &limits, NULL) == GANZ_OK);
    FUZZ_EXPECT(ganz_zip_count(again) == ganz_zip_count(zip));
    for (int i = 0; i < ganz_zip_count(zip) && i < 20; i++) {
        FUZZ_EXPECT(strcmp(ganz_zip_name(zip, i), ganz_zip_name(again, i)) == 0 &&
                    ganz_zip_stored(zip, i) == ganz_zip_stored(again, i));
        if (i != member) expect_same(zip, again, i);
    }
    size_t n;
    char *const fresh = contents(again, member, &n);
    FUZZ_EXPECT(!fresh || (n == bytes && memcmp(fresh, data, n) == 0));
    free(fresh);
    ganz_zip_close(&again);
    ganz_zip_close(&zip);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const ganz_zip_limits limits = {1 << 20, 100, 64};
    ganz_error err = {0};
    unsigned char *written;
    size_t count;
    ganz_zip *zip;
    if (ganz_zip_open(&zip, data, bytes, &limits, &err) != GANZ_OK) {
        FUZZ_EXPECT(!zip && err.message[0]);
        return 0;
    }
    FUZZ_EXPECT(ganz_zip_write(zip, &written, &count, &err) == GANZ_OK);
    FUZZ_EXPECT(count == bytes && memcmp(written, data, bytes) == 0);
    free(written);
    const int members = ganz_zip_count(zip);
    for (int i = 0; i < members; i++) FUZZ_EXPECT(ganz_zip_find(zip, ganz_zip_name(zip, i)) == i);
    ganz_zip_close(&zip);
    if (members > 0) replace_one(data, bytes, (int)(bytes % (size_t)members));
    return 0;
}
