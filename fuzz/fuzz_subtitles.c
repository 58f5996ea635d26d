/* Subtitles that nobody vouches for, the first byte says SRT or WebVTT. With a translator that returns its input every
 * byte comes back; with others the times come back, and cues that had text are as many as before or empty. */
#include <string.h>

#include "document/subtitles.h"
#include "fuzz.h"
#include "skeletons.h"

static uint64_t sum_of_times(const char *text, size_t bytes, bool vtt)
{
    uint64_t sum = 0;
    const ganz_subtitles in = {text, bytes, vtt};
    for (size_t at = 0; at < bytes;) {
        const ganz_subtitle_line l = ganz_subtitle_line_at(&in, at);
        for (size_t i = l.begin; i < l.end && ganz_subtitle_has_arrow(&in, &l); i++)
            sum = sum * 31 + (unsigned char)text[i];
        at = l.next;
    }
    return sum;
}

/* True if a ">" stands in a text, from which marks that are moved can make an arrow. */
static bool has_loose_arrow(const char *text, size_t bytes, bool vtt)
{
    const ganz_subtitles in = {text, bytes, vtt};
    for (size_t at = 0; at < bytes;) {
        const ganz_subtitle_line l = ganz_subtitle_line_at(&in, at);
        for (size_t i = l.begin; i < l.end && !ganz_subtitle_has_arrow(&in, &l);) {
            const size_t tag = ganz_subtitle_tag(&in, text + i, l.end - i);
            if (tag == 0 && text[i] == '>') return true;
            i += tag > 0 ? tag : 1;
        }
        at = l.next;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static fake_translator *const translators[] = {fake_shout, fake_reverse, fake_twice, fake_nothing};
    if (bytes == 0) return 0;
    const bool vtt = data[0] & 1;
    const ganz_format *const format = vtt ? &ganz_format_vtt : &ganz_format_srt;
    const char *const file = (const char *)data + 1;
    const size_t count = bytes - 1;
    ganz_text out = {0};
    ganz_error err = {0};
    const ganz_status status = fake_document(&out, format, file, count, true, fake_identity, &err);
    FUZZ_EXPECT(status == GANZ_OK || (status == GANZ_EFORMAT && err.message[0]));
    if (status == GANZ_OK) {
        FUZZ_EXPECT(out.bytes == count && (count == 0 || memcmp(out.text, file, count) == 0));
        out.bytes = 0;
        FUZZ_EXPECT(fake_document(&out, format, file, count, true, translators[bytes % 4], &err) == GANZ_OK);
        FUZZ_EXPECT(has_loose_arrow(file, count, vtt) ||
                    sum_of_times(file, count, vtt) == sum_of_times(out.text, out.bytes, vtt));
    }
    ganz_text_free(&out);
    return 0;
}
