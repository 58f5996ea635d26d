/* A Markdown file that nobody vouches for. With a translator that returns its input every byte comes back; with others,
 * which throw words about, lose or double them, it still can be written. */
#include <string.h>

#include "document/format.h"
#include "fuzz.h"
#include "skeletons.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static fake_translator *const translators[] = {fake_shout, fake_reverse, fake_twice, fake_nothing};
    const char *const file = (const char *)data;
    ganz_text out = {0};
    FUZZ_EXPECT(fake_document(&out, &ganz_format_markdown, file, bytes, true, fake_identity, NULL) == GANZ_OK);
    FUZZ_EXPECT(out.bytes == bytes && (bytes == 0 || memcmp(out.text, file, bytes) == 0));
    out.bytes = 0;
    FUZZ_EXPECT(fake_document(&out, &ganz_format_markdown, file, bytes, bytes / 4 % 2, translators[bytes % 4], NULL) ==
                GANZ_OK);
    ganz_text_free(&out);
    return 0;
}
