/* Requests that nobody vouches for: a head and a body as a server reads them, in whatever pieces they come. What is
 * read in one piece is read the same in many; a head that is taken has what the server relies on; parameters are valid
 * UTF-8 and terminated. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "ganz/io.h"
#include "http_parse.h"
#include "params.h"

enum { MOST_BODY = 1 << 16 };

static void expect_text(const char *text, size_t bytes)
{
    FUZZ_EXPECT(ganz_utf8_valid(text, bytes));
    FUZZ_EXPECT(text[bytes] == '\0');
}

static void expect_value(const json_value *v, int depth)
{
    FUZZ_EXPECT(depth <= JSON_DEPTH + 1);
    if (v->name) expect_text(v->name, v->name_bytes);
    if (v->kind == JSON_TEXT) expect_text(v->text, v->bytes);
    int count = 0;
    for (const json_value *m = v->first; m; m = m->next, count++) expect_value(m, depth + 1);
    FUZZ_EXPECT(v->kind == JSON_OBJECT || count == v->count);
}

static void try_params(const http_head *head, const char *data, size_t bytes)
{
    params p;
    const char *why;
    buffer body = {0};
    buffer_add(&body, data, bytes);
    if (params_read(&p, head->query, http_find_header(head, "content-type"), body.data, body.bytes, &why)) {
        expect_value(p.object, 0);
        params_number(&p, "n", 0);
        params_flag(&p, "f", true);
        params_text(&p, "q");
        FUZZ_EXPECT(!p.file || (p.file >= body.data && p.file + p.file_bytes <= body.data + body.bytes));
    } else {
        FUZZ_EXPECT(why && *why);
    }
    params_close(&p);
    buffer_free(&body);
}

/* The same chunks whole and byte by byte. */
static void try_chunks(const http_head *head, const char *data, size_t bytes)
{
    http_chunks whole = {0}, pieces = {0};
    buffer one = {0}, many = {0};
    size_t used, taken = 0;
    int status = http_add_chunks(&whole, data, bytes, &used, &one, MOST_BODY), again = 0;
    FUZZ_EXPECT(used <= bytes && one.bytes <= MOST_BODY);
    while (taken < bytes && !again) {
        size_t some;
        again = http_add_chunks(&pieces, data + taken, 1, &some, &many, MOST_BODY);
        taken += some;
    }
    FUZZ_EXPECT(again == status && one.bytes == many.bytes && taken == used);
    FUZZ_EXPECT(one.bytes == 0 || memcmp(one.data, many.data, one.bytes) == 0);
    if (status == 1) try_params(head, one.data ? one.data : "", one.bytes);
    buffer_free(&one);
    buffer_free(&many);
}

static size_t find_end_slowly(const char *data, size_t bytes, int *status)
{
    size_t looked = 0, end = 0;
    *status = 0;
    for (size_t count = 1; count <= bytes && !end && !*status; count++)
        end = http_find_end(data, count, &looked, status);
    return end;
}

static void expect_head(const http_head *head)
{
    FUZZ_EXPECT(head->path[0] == '/' && head->header_count <= HTTP_HEADERS && !(head->has_length && head->chunked));
    FUZZ_EXPECT(head->minor == 0 || http_find_header(head, "host"));
    for (int i = 0; i < head->header_count; i++)
        FUZZ_EXPECT(head->headers[i].name[0] && !strpbrk(head->headers[i].value, "\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *const text = (const char *)data;
    size_t looked = 0;
    int status, slowly;
    const char *why = NULL;
    const size_t end = http_find_end(text, bytes, &looked, &status);
    FUZZ_EXPECT(find_end_slowly(text, bytes < 4096 ? bytes : 4096, &slowly) == end || bytes >= 4096);
    if (end == 0) return 0;
    FUZZ_EXPECT(end <= bytes && end <= HTTP_HEAD + 4);
    buffer copy = {0};
    http_head head;
    buffer_add(&copy, text, end);
    status = http_parse_head(copy.data, copy.bytes, &head, &why);
    FUZZ_EXPECT(status == 0 || (status >= 400 && status < 600 && why && *why));
    if (status == 0) {
        expect_head(&head);
        if (head.chunked) try_chunks(&head, text + end, bytes - end);
        else
            try_params(&head, text + end,
                       head.has_length && head.length < bytes - end ? (size_t)head.length : bytes - end);
    }
    buffer_free(&copy);
    return 0;
}
