/* Text: classes, tokenizer, escapes, vocabulary file, encode and decode. Expectations are Tensor2Tensor's. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/io.h"
#include "base/utf8.h"
#include "ganz/io.h"
#include "ganz/vocab.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/vocab.h"

/* The worked example: counts {low:5, lower:2, newest:6, widest:3, ", ":4}, min_count 3. */
static const char *const small_entries[] = {
    "<pad>_", "<EOS>_", "newest_", "low_", ", _", "widest_", "w", "r",  "o", "l", "e", "_", "u",
    "t",      "s",      "p",       "n",    "i",   "d",       "a", "\\", "S", "O", "E", ">", "<",
    ";",      "9",      "8",       "7",    "6",   "5",       "4", "3",  "2", "1", "0", ",", " ",
};

static size_t small_file(char *out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < GANZ_COUNT(small_entries); i++)
        bytes += (size_t)sprintf(out + bytes, "'%s'\n", small_entries[i]);
    return bytes;
}

static ganz_vocab *small_vocab(void)
{
    char text[1024];
    ganz_vocab *v;
    assert_int_equal(ganz_vocab_parse(&v, text, small_file(text), "small", NULL), GANZ_OK);
    return v;
}

/* ---- classes ------------------------------------------------------------------------------------ */

static void classes_follow_unicode(void **state)
{
    (void)state;
    static const int32_t alnum[] = {'a',    'Z',    '0',    '9',     0xAA,    0xB2,   0xB5,   0xBC,
                                    0xDF,   0xE4,   0x2B0,  0x1C5,   0x3B1,   0x661,  0x2160, 0x2460,
                                    0x3007, 0x4E2D, 0xAC00, 0x10400, 0x1D7CE, 0x20000};
    static const int32_t other[] = {'_',   ' ',   '\n',   0,      0x7F,   0xA0,   0xA7,   0xB0,   0xD7,    0x300,
                                    0x903, 0x488, 0x20AC, 0x200D, 0x2028, 0x3000, 0xFFFD, 0xE000, 0x1F600, 0x10FFFF};
    for (size_t i = 0; i < GANZ_COUNT(alnum); i++) assert_true(ganz_is_alnum(alnum[i]));
    for (size_t i = 0; i < GANZ_COUNT(other); i++) assert_false(ganz_is_alnum(other[i]));

    static const int32_t spaces[] = {0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
                                     0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                     0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
    size_t found = 0;
    for (int32_t code = 0; code < GANZ_CODE_POINTS; code++) {
        if (!ganz_is_space(code)) continue;
        assert_true(found < GANZ_COUNT(spaces) && spaces[found] == code);
        found++;
    }
    assert_int_equal(found, GANZ_COUNT(spaces));
}

static void expect_strip(const char *text, const char *expected)
{
    size_t bytes = strlen(text);
    const char *const start = ganz_strip(text, &bytes);
    assert_int_equal(bytes, strlen(expected));
    assert_memory_equal(start, expected, bytes);
}

static void strip_takes_every_space(void **state)
{
    (void)state;
    expect_strip("", "");
    expect_strip(" \t\r\v\f\x1c\x1f", "");
    expect_strip("\u3000\u00A0 ä b\u2028\xC2\x85", "ä b");
    expect_strip("\u200Bx\u200B", "\u200Bx\u200B"); /* zero width space is no space */
    expect_strip("\u2003", "");
    assert_int_equal(ganz_count_characters("aä中😀", strlen("aä中😀")), 4);
}

/* ---- tokenizer ---------------------------------------------------------------------------------- */

/* Tokens as "a|b|c", and back to the line. */
static void expect_tokens(const char *line, const char *expected)
{
    char joined[512] = "";
    ganz_text back = {0};
    bool alnum = false;
    ganz_tokenizer tokens = {line, strlen(line), 0};
    const char *token;
    size_t bytes;
    while (ganz_tokenizer_next(&tokens, &token, &bytes)) {
        if (joined[0]) strcat(joined, "|");
        strncat(joined, token, bytes);
        assert_true(ganz_tokenizer_join(&back, token, bytes, &alnum));
    }
    assert_string_equal(joined, expected);
    assert_int_equal(back.bytes, strlen(line));
    if (back.bytes > 0) assert_memory_equal(back.text, line, back.bytes);
    ganz_text_free(&back);
}

static void tokens_are_tensor2tensors(void **state)
{
    (void)state;
    expect_tokens("Dude - that's so cool.", "Dude| - |that|'|s|so|cool|.");
    expect_tokens("two  spaces", "two|  |spaces");
    expect_tokens(" leading", " |leading");
    expect_tokens("Prices: 3.5 €/kg", "Prices|: |3|.|5| €/|kg");
    expect_tokens("naïve café_1", "naïve|café|_|1");
    expect_tokens("²x", "²x");
    expect_tokens("", "");
    expect_tokens(" ", " ");
    expect_tokens("  ", "  ");
    expect_tokens("a", "a");
    expect_tokens("trailing ", "trailing| ");
    expect_tokens("a\u00A0b", "a|\u00A0|b"); /* only U+0020 is left out */
    expect_tokens("e\u0301a", "e|\u0301|a"); /* a combining mark is no letter */
    expect_tokens("私は 日本", "私は|日本");
    expect_tokens("a\tb c\td", "a|\t|b|c|\t|d");
}

/* ---- escapes ------------------------------------------------------------------------------------ */

static void expect_escape(const char *token, const char *alphabet_text, const char *expected)
{
    ganz_alphabet *const alphabet = calloc(1, sizeof *alphabet);
    for (size_t at = 0; alphabet_text[at];) {
        int32_t code;
        at += ganz_next_character(alphabet_text + at, &code);
        ganz_alphabet_add(alphabet, code);
    }
    ganz_text out = {0}, back = {0};
    assert_true(ganz_escape(&out, token, strlen(token), alphabet));
    assert_int_equal(out.bytes, strlen(expected));
    assert_memory_equal(out.text, expected, out.bytes);
    assert_true(ganz_unescape(&back, out.text, out.bytes));
    assert_int_equal(back.bytes, strlen(token));
    assert_memory_equal(back.text, token, back.bytes);
    ganz_text_free(&out);
    ganz_text_free(&back);
    free(alphabet);
}

static void expect_unescape(const char *escaped, const char *expected)
{
    ganz_text out = {0};
    assert_true(ganz_unescape(&out, escaped, strlen(escaped)));
    assert_int_equal(out.bytes, strlen(expected));
    assert_memory_equal(out.text, expected, out.bytes);
    ganz_text_free(&out);
}

static void escapes_are_tensor2tensors(void **state)
{
    (void)state;
    expect_escape("ä", "ab" GANZ_ESCAPE_CHARACTERS, "\\228;");
    expect_escape("a_b", "ab" GANZ_ESCAPE_CHARACTERS, "a\\ub");
    expect_escape("a\\b", "ab" GANZ_ESCAPE_CHARACTERS, "a\\\\b");
    expect_escape("\n", "\n" GANZ_ESCAPE_CHARACTERS, "\\10;"); /* even in the alphabet */
    expect_escape("\\u", GANZ_ESCAPE_CHARACTERS, "\\\\u");
    expect_escape("\\228;", GANZ_ESCAPE_CHARACTERS, "\\\\228;");
    expect_escape("😀\U0010FFFF", GANZ_ESCAPE_CHARACTERS, "\\128512;\\1114111;");
    expect_unescape("\\", "\\");
    expect_unescape("\\x\\", "\\x\\");
    expect_unescape("\\;\\12", "\\;\\12");
    expect_unescape("\\00065;\\97;", "Aa");
    expect_unescape("\\1114112;", "\u3013");
    expect_unescape("\\99999999999999999999999999;", "\u3013");
    expect_unescape("\\55296;\\57343;", "\u3013\u3013"); /* surrogates */
    expect_unescape("\\\\u\\u", "\\u_");
    expect_unescape("\\\\\\u", "\\_");
}

/* ---- encode and decode -------------------------------------------------------------------------- */

static void expect_ids(const ganz_vocab *v, const char *text, const int32_t *expected, size_t count)
{
    ganz_ids ids = {0};
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, text, strlen(text), &ids, NULL), GANZ_OK);
    assert_int_equal(ids.count, count);
    if (count > 0) assert_memory_equal(ids.ids, expected, count * sizeof *expected);
    ganz_ids_free(&ids);
}

static void the_worked_example(void **state)
{
    (void)state;
    ganz_vocab *v = small_vocab();
    assert_int_equal(ganz_vocab_size(v), 39);
    static const int32_t ids[] = {9, 8, 6, 10, 14, 13, 11, 4, 16, 10, 6, 10, 7, 11};
    expect_ids(v, "lowest, newer", ids, GANZ_COUNT(ids));
    expect_ids(v, "", NULL, 0);
    static const int32_t escaped[] = {20, 34, 34, 28, 26, 11}; /* ä = \228;_ */
    expect_ids(v, "ä", escaped, GANZ_COUNT(escaped));
    static const int32_t underscore[] = {20, 12, 11}; /* \u_ */
    expect_ids(v, "_", underscore, GANZ_COUNT(underscore));
    ganz_vocab_close(&v);
    assert_null(v);
}

static void expect_round_trip(const ganz_vocab *v, const char *text, size_t bytes)
{
    ganz_ids ids = {0};
    ganz_text back = {0};
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, text, bytes, &ids, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, ids.ids, ids.count, &back, NULL), GANZ_OK);
    assert_int_equal(back.bytes, bytes);
    if (bytes > 0) assert_memory_equal(back.text, text, bytes);
    ganz_ids_free(&ids);
    ganz_text_free(&back);
}

static void any_text_comes_back(void **state)
{
    (void)state;
    ganz_vocab *v = small_vocab();
    static const char *const texts[] = {
        "",
        " ",
        "  ",
        "a b",
        " a  b ",
        "low, newest widest",
        "_",
        "__",
        "a_b",
        "\\",
        "\\u",
        "\\\\u",
        "\\228;",
        "<pad>_",
        "<EOS>",
        "\n",
        "a\nb",
        "\r\n",
        "ä",
        "naïve café_1",
        "私は",
        "😀 x 😀",
        "\u00A0",
        "e\u0301",
        "3.5 €/kg",
        "\u3013",
        "\uFFFD",
        "\U0010FFFF",
        "\\\\_\\_u;0123456789",
        ";",
        "\\;",
    };
    for (size_t i = 0; i < GANZ_COUNT(texts); i++) expect_round_trip(v, texts[i], strlen(texts[i]));
    expect_round_trip(v, "a\0b \0 c", 7);

    /* Every code point, beside a letter and a space. */
    for (int32_t code = 0; code < GANZ_CODE_POINTS; code++) {
        if (code >= 0xD800 && code <= 0xDFFF) continue;
        char text[16] = "l ";
        size_t bytes = 2 + (size_t)ganz_utf8_encode(code, text + 2);
        text[bytes++] = ' ';
        text[bytes++] = 'w';
        expect_round_trip(v, text, bytes);
    }
    ganz_vocab_close(&v);
}

static void expect_text(const ganz_vocab *v, const int32_t *ids, size_t count, const char *expected)
{
    ganz_text out = {0};
    assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, ids, count, &out, NULL), GANZ_OK);
    assert_int_equal(out.bytes, strlen(expected));
    if (out.bytes > 0) assert_memory_equal(out.text, expected, out.bytes);
    ganz_text_free(&out);
}

static void odd_ids_decode_as_tensor2tensor(void **state)
{
    (void)state;
    ganz_vocab *v = small_vocab();
    static const int32_t reserved[] = {3, 1, 0};
    expect_text(v, reserved, 3, "low<EOS><pad>");
    static const int32_t outside[] = {-1, 3, 39, INT32_MAX, INT32_MIN, 2};
    expect_text(v, outside, GANZ_COUNT(outside), "low newest");
    static const int32_t open_end[] = {9, 8}; /* no underscore at the end */
    expect_text(v, open_end, 2, "lo");
    static const int32_t only_cuts[] = {11, 11, 3, 11, 11, 3};
    expect_text(v, only_cuts, GANZ_COUNT(only_cuts), "low low");
    static const int32_t invalid[] = {20, 27, 27, 27, 27, 27, 27, 27, 26, 11}; /* \9999999;_ */
    expect_text(v, invalid, GANZ_COUNT(invalid), "\u3013");
    expect_text(v, NULL, 0, "");
    ganz_vocab_close(&v);
}

static void results_are_appended(void **state)
{
    (void)state;
    ganz_vocab *v = small_vocab();
    ganz_ids ids = {0};
    ganz_text out = {0};
    ganz_error err;
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, "low", 3, &ids, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, "new\xFF", 4, &ids, &err), GANZ_EINVAL);
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, "newest", 6, &ids, NULL), GANZ_OK);
    assert_int_equal(ids.count, 2);
    assert_int_equal(ids.ids[0], 3);
    assert_int_equal(ids.ids[1], 2);
    assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, ids.ids, 1, &out, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, ids.ids, 2, &out, NULL), GANZ_OK);
    assert_int_equal(out.bytes, 13);
    assert_memory_equal(out.text, "lowlow newest", 13);
    ganz_ids_free(&ids);
    ganz_text_free(&out);
    ganz_vocab_close(&v);
}

/* ---- vocabulary files --------------------------------------------------------------------------- */

static void files_are_read_as_tensor2tensor_does(void **state)
{
    (void)state;
    char text[1024], loose[2048] = "";
    const size_t bytes = small_file(text);
    ganz_vocab *v = small_vocab(), *w;
    size_t file_bytes;
    const char *const file = ganz_vocab_file(v, &file_bytes);
    assert_int_equal(file_bytes, bytes);
    assert_memory_equal(file, text, bytes);

    /* Other quotes, no quotes, spaces around, "\r\n", no newline at the end: the same vocabulary. */
    for (size_t i = 0; i < GANZ_COUNT(small_entries); i++) {
        static const char *const forms[] = {"\"%s\"\n", "'%s' \r\n", "\t'%s'\n"};
        sprintf(loose + strlen(loose), i < 20 && i != 4 ? "%s\n" : forms[i % 3], small_entries[i]);
    }
    loose[strlen(loose) - 1] = '\0';
    assert_int_equal(ganz_vocab_parse(&w, loose, strlen(loose), "loose", NULL), GANZ_OK);
    const char *const normal = ganz_vocab_file(w, &file_bytes);
    assert_int_equal(file_bytes, bytes);
    assert_memory_equal(normal, text, bytes);
    ganz_vocab_close(&w);

    /* A duplicate: both ids decode to it, the later one is used. */
    strcpy(text + bytes, "'low_'\n'''\n'\"'\n");
    assert_int_equal(ganz_vocab_parse(&w, text, strlen(text), "twice", NULL), GANZ_OK);
    static const int32_t later[] = {39}, quotes[] = {40, 41, 40, 11};
    expect_ids(w, "low", later, 1);
    expect_ids(w, "'\"'", quotes, 4);
    ganz_vocab_close(&w);
    ganz_vocab_close(&v);
}

static void expect_refusal(const char *text, size_t bytes, ganz_status status, const char *message)
{
    ganz_vocab *v;
    ganz_error err = {0};
    assert_int_equal(ganz_vocab_parse(&v, text, bytes, "v.txt", &err), status);
    assert_null(v);
    if (!strstr(err.message, message)) fail_msg("'%s' does not say '%s'", err.message, message);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    char text[8192];
    size_t bytes = small_file(text);
    expect_refusal("", 0, GANZ_EFORMAT, "v.txt: not a vocabulary");
    expect_refusal("'<pad>_'\n", 9, GANZ_EFORMAT, "v.txt: not a vocabulary");
    expect_refusal("'<unk>'\n", 8, GANZ_EFORMAT, "v.txt:1: a vocabulary has '<pad>_' here");
    expect_refusal("'<pad>_'\n'<EOX>_'\n", 18, GANZ_EFORMAT, "v.txt:2: a vocabulary has '<EOS>_' here");
    strcpy(text + bytes, "''\n");
    expect_refusal(text, strlen(text), GANZ_EFORMAT, "v.txt:40: empty vocabulary entry");
    strcpy(text + bytes, "'\n");
    expect_refusal(text, strlen(text), GANZ_EFORMAT, "v.txt:40: empty vocabulary entry");
    strcpy(text + bytes, "\n");
    expect_refusal(text, strlen(text), GANZ_EFORMAT, "v.txt:40: empty vocabulary entry");
    strcpy(text + bytes, "'\xC3'\n");
    expect_refusal(text, strlen(text), GANZ_EFORMAT, "v.txt:40: not UTF-8");
    strcpy(text + bytes, "'aä'\n");
    expect_refusal(text, strlen(text), GANZ_EFORMAT, "v.txt:40: U+00E4 occurs here but is no vocabulary entry itself");
    memset(text + bytes, 'a', 4097);
    expect_refusal(text, bytes + 4097, GANZ_ELIMIT, "v.txt:40: vocabulary too large");
    expect_refusal(text, bytes - 8, GANZ_EFORMAT, "v.txt:5: U+002C occurs"); /* the last two entries are missing */
    expect_refusal(text, bytes - 12, GANZ_EFORMAT, "v.txt: no vocabulary entry for the character 0");

    ganz_vocab *v;
    ganz_error err;
    assert_int_equal(ganz_vocab_open(&v, "/no/such/file", &err), GANZ_EIO);
    assert_null(v);
    assert_int_equal(ganz_vocab_open(&v, "/dev/zero", &err), GANZ_ELIMIT);
    assert_null(v);
}

static void a_file_opens_like_its_text(void **state)
{
    (void)state;
    char name[] = "/tmp/ganz_vocab_XXXXXX", text[1024];
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    const size_t bytes = small_file(text);
    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
    ganz_vocab *v;
    assert_int_equal(ganz_vocab_open(&v, name, NULL), GANZ_OK);
    size_t file_bytes;
    assert_memory_equal(ganz_vocab_file(v, &file_bytes), text, bytes);
    assert_int_equal(file_bytes, bytes);
    ganz_vocab_close(&v);
    unlink(name);
}

/* ---- no memory ---------------------------------------------------------------------------------- */

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    char text[1024];
    const size_t bytes = small_file(text);
    ganz_status status = GANZ_ENOMEM;
    for (long n = 1; status != GANZ_OK; n++) {
        ganz_vocab *v = NULL;
        ganz_ids ids = {0};
        ganz_text out = {0};
        ganz_error err = {0};
        ganz_alloc_fail_at(n);
        status = ganz_vocab_parse(&v, text, bytes, "small", &err);
        if (status == GANZ_OK) status = ganz_vocab_encode(v, GANZ_SOURCE, "low ä_, newest", 15, &ids, &err);
        if (status == GANZ_OK) status = ganz_vocab_decode(v, GANZ_TARGET, ids.ids, ids.count, &out, &err);
        ganz_alloc_fail_at(0);
        assert_true(status == GANZ_OK || (status == GANZ_ENOMEM && strstr(err.message, "out of memory")));
        if (status == GANZ_OK) assert_true(n > 8);
        ganz_vocab_close(&v);
        ganz_ids_free(&ids);
        ganz_text_free(&out);
    }
}

/* ---- another kind of vocabulary ----------------------------------------------------------------- */

/* Bytes as ids, counted from 2 for the source and from 3 for the target, in two parts: sides that differ. */
typedef struct bytes_vocab {
    ganz_vocab vocab;
    char parts[2][4];
} bytes_vocab;

static ganz_status encode_bytes(const ganz_vocab *v, const ganz_passage *p, ganz_ids *out, ganz_places *places,
                                ganz_error *err)
{
    (void)v, (void)err;
    for (size_t i = 0; i < p->bytes; i++) {
        assert_true(ganz_grow((void **)&out->ids, &out->capacity, out->count + 1, sizeof *out->ids));
        out->ids[out->count++] = (unsigned char)p->text[i] + (p->side == GANZ_SOURCE ? 2 : 3);
        if (!places) continue;
        assert_true(ganz_grow((void **)&places->begin, &places->capacity, places->count + 1, sizeof *places->begin));
        places->begin[places->count++] = i;
    }
    return GANZ_OK;
}

static ganz_status decode_bytes(const ganz_vocab *v, const ganz_id_span *ids, ganz_text *out, size_t *begin,
                                ganz_error *err)
{
    (void)v, (void)err, (void)begin;
    for (size_t i = 0; i < ids->count; i++) {
        const char byte = (char)(ids->ids[i] - (ids->side == GANZ_SOURCE ? 2 : 3));
        assert_true(ganz_text_append(out, &byte, 1));
    }
    return GANZ_OK;
}

static int list_bytes(const ganz_vocab *v, ganz_vocab_part parts[GANZ_VOCAB_PARTS])
{
    const bytes_vocab *const own = (const bytes_vocab *)v;
    parts[0] = (ganz_vocab_part){"source.bytes", own->parts[0], 4};
    parts[1] = (ganz_vocab_part){"target.bytes", own->parts[1], 4};
    return 2;
}

static void close_bytes(ganz_vocab *v) { free(v); }

static const ganz_vocab_kind bytes_kind = {
    .name = "bytes", .parts = list_bytes, .encode = encode_bytes, .decode = decode_bytes, .close = close_bytes};

static ganz_vocab *open_bytes(const char *source, const char *target)
{
    bytes_vocab *const v = calloc(1, sizeof *v);
    v->vocab = (ganz_vocab){.kind = &bytes_kind, .size = {258, 259}};
    memcpy(v->parts[0], source, 4);
    memcpy(v->parts[1], target, 4);
    return &v->vocab;
}

static void another_kind_fits(void **state)
{
    (void)state;
    ganz_vocab *v = open_bytes("abc", "xyz"), *same = open_bytes("abc", "xyz"), *other = open_bytes("abc", "xyw");
    ganz_vocab *subwords = small_vocab();
    ganz_ids ids = {0};
    ganz_text text = {0};
    ganz_error err;
    assert_int_equal(ganz_vocab_size(v), 259);
    assert_int_equal(ganz_vocab_side_size(v, GANZ_SOURCE), 258);
    assert_string_equal(ganz_vocab_kind_name(v), "bytes");
    assert_string_equal(ganz_vocab_kind_name(subwords), "subwords");
    assert_int_equal(ganz_vocab_encode_sentence(v, GANZ_SOURCE, " a ", 3, &ids, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_encode_sentence(v, GANZ_TARGET, "a\r", 2, &ids, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_encode_sentence(v, GANZ_TARGET, " \t", 2, &ids, NULL), GANZ_OK);
    assert_int_equal(ganz_vocab_encode(v, GANZ_SOURCE, " ", 1, &ids, NULL), GANZ_OK);
    static const int32_t expected[] = {'a' + 2, GANZ_EOS, 'a' + 3, GANZ_EOS, GANZ_EOS, ' ' + 2};
    assert_int_equal(ids.count, 6);
    assert_memory_equal(ids.ids, expected, sizeof expected);
    assert_int_equal(ganz_vocab_encode_sentence(v, GANZ_SOURCE, "\xFF", 1, &ids, &err), GANZ_EINVAL);
    assert_int_equal(ids.count, 6);
    assert_int_equal(ganz_vocab_decode(v, GANZ_TARGET, expected + 2, 1, &text, NULL), GANZ_OK);
    assert_int_equal(text.bytes, 1);
    assert_int_equal(text.text[0], 'a');
    assert_true(ganz_vocab_equal(v, same) && !ganz_vocab_equal(v, other) && !ganz_vocab_equal(v, subwords));
    assert_true(ganz_vocab_checksum(v) == ganz_vocab_checksum(same) &&
                ganz_vocab_checksum(v) != ganz_vocab_checksum(other));
    size_t bytes;
    assert_null(ganz_vocab_file(v, &bytes));
    const char *const file = ganz_vocab_file(subwords, &bytes); /* corpora of earlier versions go by this */
    assert_true(ganz_vocab_checksum(subwords) == ganz_checksum(file, bytes));
    assert_null(ganz_vocab_find_kind("bytes"));
    assert_ptr_equal(ganz_vocab_find_kind("subwords"), &ganz_subwords);
    ganz_ids_free(&ids);
    ganz_text_free(&text);
    ganz_vocab_close(&v);
    ganz_vocab_close(&same);
    ganz_vocab_close(&other);
    ganz_vocab_close(&subwords);
}

/* Ids that were written down: exactly as they are written, and no byte behind them. */
static void written_ids_are_read(void **state)
{
    (void)state;
    static const char *const wrong[] = {" 5",   "5 ", "5  6", "-1",  "10",
                                        "5\t6", "5x", "+5",   " \t", "99999999999999999999"};
    ganz_ids ids = {0};
    assert_int_equal(ganz_ids_read("", 0, 10, &ids), GANZ_OK);
    assert_int_equal(ids.count, 0);
    assert_int_equal(ganz_ids_read("0 9 0037", 6, 10, &ids), GANZ_OK); /* of "0037" two digits */
    assert_int_equal(ids.count, 3);
    assert_int_equal(ids.ids[1], 9);
    assert_int_equal(ids.ids[2], 0);
    for (size_t i = 0; i < GANZ_COUNT(wrong); i++)
        assert_int_equal(ganz_ids_read(wrong[i], strlen(wrong[i]), 10, &ids), GANZ_EFORMAT);
    ganz_ids_free(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_kind_fits),           cmocka_unit_test(classes_follow_unicode),
        cmocka_unit_test(strip_takes_every_space),     cmocka_unit_test(tokens_are_tensor2tensors),
        cmocka_unit_test(escapes_are_tensor2tensors),  cmocka_unit_test(the_worked_example),
        cmocka_unit_test(any_text_comes_back),         cmocka_unit_test(odd_ids_decode_as_tensor2tensor),
        cmocka_unit_test(results_are_appended),        cmocka_unit_test(files_are_read_as_tensor2tensor_does),
        cmocka_unit_test(wrong_files_are_refused),     cmocka_unit_test(a_file_opens_like_its_text),
        cmocka_unit_test(memory_may_run_out_anywhere), cmocka_unit_test(written_ids_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
