/* The container: what was written comes back, Python's files open, and no hostile file does. */
#include "test.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/rng.h"
#include "flip.h"
#include "folder.h"
#include "model/container.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

/* ---- round trip --------------------------------------------------------------------------------- */

/* Seven tensors of all kinds: a scalar, an empty one, one of open length. */
static void write_sample(const char *path)
{
    ganz_writer *w;
    ganz_error err;
    OK(ganz_writer_open(&w, path, true, &err));
    OK(ganz_writer_text(w, "kind", "sample \"quoted\" \xC3\xA4", &err));
    OK(ganz_writer_int(w, "layers", -6, &err));
    OK(ganz_writer_real(w, "rate", 0.1, &err));
    OK(ganz_writer_text(w, "kind2", "replaced", &err));
    OK(ganz_writer_text(w, "kind2", "again", &err));
    ganz_writer_reserve(w, 64);
    OK(ganz_writer_declare(w, "empty", GANZ_DTYPE_F64, 2, (int64_t[]){0, 7}, &err));
    OK(ganz_writer_declare(w, "weight", GANZ_DTYPE_F32, 2, (int64_t[]){2, 3}, &err));
    OK(ganz_writer_declare(w, "scalar", GANZ_DTYPE_F32, 0, NULL, &err));
    OK(ganz_writer_declare(w, "open", GANZ_DTYPE_U16, 2, (int64_t[]){-1, 3}, &err));
    OK(ganz_writer_declare(w, "codes", GANZ_DTYPE_I8, 1, (int64_t[]){5}, &err));
    OK(ganz_writer_declare(w, "open too", GANZ_DTYPE_U8, 1, (int64_t[]){-1}, &err));
    const float weight[] = {1, 2, 3, 4, 5, -6}, scalar = 0.5f;
    OK(ganz_writer_write(w, weight, 8, &err));
    OK(ganz_writer_write(w, weight + 2, 16, &err));
    OK(ganz_writer_write(w, &scalar, sizeof scalar, &err));
    const uint16_t ids[] = {1, 2, 3, 4, 5, 65535};
    for (int i = 0; i < 6; i++) OK(ganz_writer_write(w, ids + i, 2, &err));
    OK(ganz_writer_next(w, &err));
    OK(ganz_writer_write(w, "\1\2\3\4\5", 5, &err));
    OK(ganz_writer_next(w, &err)); /* nothing of the last */
    OK(ganz_writer_int(w, "known last", 123456789, &err));
    OK(ganz_writer_finish(&w, &err));
    assert_null(w);
}

static void round_trip(void **state)
{
    (void)state;
    const char *const keep = getenv("GANZ_KEEP");
    const char *const path = keep ? keep : "sample.safetensors";
    write_sample(path);
    ganz_container *c;
    ganz_error err;
    OK(ganz_container_open(&c, path, &err));
    assert_string_equal(ganz_container_name(c), path);
    assert_int_equal(ganz_container_count(c), 6);
    const ganz_entry *e;
    OK(ganz_container_get(c, "weight", GANZ_DTYPE_F32, 2, (int64_t[]){2, -1}, &e, &err));
    assert_int_equal(e->dims[1], 3);
    assert_int_equal(e->bytes, 24);
    assert_null(e->data); /* nothing is read before it is asked for */
    OK(ganz_container_check(c, e, &err));
    assert_int_equal((uintptr_t)e->data % GANZ_ALIGN, 0);
    assert_true(((const float *)e->data)[5] == -6);
    OK(ganz_container_get(c, "scalar", GANZ_DTYPE_F32, 0, NULL, &e, &err));
    OK(ganz_container_check(c, e, &err));
    assert_true(*(const float *)e->data == 0.5f);
    OK(ganz_container_get(c, "open", GANZ_DTYPE_U16, 2, (int64_t[]){2, 3}, &e, &err));
    OK(ganz_container_check(c, e, &err));
    assert_int_equal(((const uint16_t *)e->data)[5], 65535);
    OK(ganz_container_get(c, "codes", GANZ_DTYPE_I8, 1, (int64_t[]){5}, &e, &err));
    OK(ganz_container_check(c, e, &err));
    assert_memory_equal(e->data, "\1\2\3\4\5", 5);
    OK(ganz_container_get(c, "open too", GANZ_DTYPE_U8, 1, (int64_t[]){0}, &e, &err));
    OK(ganz_container_check(c, e, &err));
    assert_non_null(e->data);
    OK(ganz_container_get(c, "empty", GANZ_DTYPE_F64, 2, (int64_t[]){0, 7}, &e, &err));
    assert_int_equal(e->bytes, 0);
    assert_null(ganz_container_find(c, "nothing"));
    OK(ganz_container_verify(c, &err));
    ganz_container_close(&c);
    assert_null(c);
}

static void metadata_is_typed(void **state)
{
    (void)state;
    write_sample("m");
    ganz_container *c;
    ganz_error err;
    OK(ganz_container_open(&c, "m", &err));
    int64_t layers;
    double rate;
    const char *text;
    OK(ganz_container_get_text(c, "kind", &text, &err));
    assert_string_equal(text, "sample \"quoted\" \xC3\xA4");
    assert_string_equal(ganz_container_text(c, "kind2"), "again");
    OK(ganz_container_get_int(c, "layers", -10, 10, &layers, &err));
    assert_int_equal(layers, -6);
    OK(ganz_container_get_int(c, "known last", 0, INT64_MAX, &layers, &err));
    assert_int_equal(layers, 123456789);
    OK(ganz_container_get_real(c, "rate", &rate, &err));
    assert_true(rate == 0.1);
    assert_null(ganz_container_text(c, "absent"));
    assert_int_equal(ganz_container_get_text(c, "absent", &text, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "m: there is no metadata absent");
    assert_int_equal(ganz_container_get_int(c, "layers", 0, 10, &layers, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "m: metadata layers is -6, expected 0 to 10");
    assert_int_equal(ganz_container_get_int(c, "rate", 0, 10, &layers, &err), GANZ_EFORMAT);
    assert_int_equal(ganz_container_get_real(c, "kind2", &rate, &err), GANZ_EFORMAT);
    ganz_container_close(&c);
}

static void refusals_say_what_differs(void **state)
{
    (void)state;
    write_sample("r");
    ganz_container *c;
    ganz_error err;
    const ganz_entry *e;
    OK(ganz_container_open(&c, "r", &err));
    assert_int_equal(ganz_container_get(c, "weight", GANZ_DTYPE_F32, 2, (int64_t[]){2, 5}, &e, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "r: tensor weight has shape (2, 3), expected (2, 5)");
    assert_int_equal(ganz_container_get(c, "weight", GANZ_DTYPE_F32, 1, (int64_t[]){-1}, &e, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "r: tensor weight has shape (2, 3), expected (any)");
    assert_int_equal(ganz_container_get(c, "weight", GANZ_DTYPE_I8, 2, (int64_t[]){2, 3}, &e, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "r: tensor weight has dtype F32, expected I8");
    assert_int_equal(ganz_container_get(c, "bias", GANZ_DTYPE_I8, 2, (int64_t[]){2, 3}, &e, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "r: there is no tensor bias");
    ganz_container_close(&c);
}

static void damage_is_found(void **state)
{
    (void)state;
    write_sample("d");
    ganz_container *c;
    ganz_error err;
    OK(ganz_container_open(&c, "d", &err));
    const long at = (long)ganz_container_find(c, "codes")->begin;
    ganz_container_close(&c);
    FILE *const file = fopen("d", "r+b");
    unsigned char length[8];
    assert_int_equal(fread(length, 1, 8, file), 8);
    fseek(file, 8 + length[0] + 256 * length[1] + at, SEEK_SET);
    fputc(99, file);
    fclose(file);
    OK(ganz_container_open(&c, "d", &err));
    assert_int_equal(ganz_container_verify(c, &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "d: tensor codes: its data is damaged (the checksum differs)");
    assert_int_equal(ganz_container_check(c, ganz_container_find(c, "codes"), &err), GANZ_EFORMAT);
    OK(ganz_container_check(c, ganz_container_at(c, 0), &err)); /* the others are whole */
    ganz_container_close(&c);
    ganz_writer *w; /* a file without checksums cannot be verified */
    OK(ganz_writer_open(&w, "n", false, &err));
    OK(ganz_writer_declare(w, "x", GANZ_DTYPE_U8, 1, (int64_t[]){1}, &err));
    OK(ganz_writer_write(w, "a", 1, &err));
    OK(ganz_writer_finish(&w, &err));
    OK(ganz_container_open(&c, "n", &err));
    assert_int_equal(ganz_container_verify(c, &err), GANZ_EFORMAT);
    OK(ganz_container_check(c, ganz_container_at(c, 0), &err));
    ganz_container_close(&c);
}

/* As docs/FORMAT.md says: 25 bytes that are always the same, 16 digits, and the rest, whose checksum they are. */
static void header_has_a_checksum(void **state)
{
    (void)state;
    ganz_error err;
    ganz_contents contents;
    for (int i = 0; i < 2; i++) {
        if (i == 0) write_sample("h");
        ganz_writer *w; /* nothing in it */
        if (i == 1) OK(ganz_writer_open(&w, "h", false, &err));
        if (i == 1) OK(ganz_writer_finish(&w, &err));
        OK(ganz_contents_read(&contents, "h", &err));
        const size_t length = contents.data[0] + 256u * contents.data[1];
        const char *const header = (const char *)contents.data + 8;
        char begin[42];
        snprintf(begin, sizeof begin, "{\"__metadata__\":{\"xxh3\":\"%016llx",
                 (unsigned long long)XXH3_64bits(header + 41, length - 41));
        assert_memory_equal(header, begin, 41);
        ganz_contents_free(&contents);
    }
}

/* The file of tests/golden/container/make.py: element i is i - 2, or i where there is no sign. */
static void python_file_opens(void **state)
{
    (void)state;
    ganz_container *c;
    ganz_error err;
    const ganz_entry *e;
    const int64_t shape[] = {2, 3};
    OK(ganz_container_open(&c, GANZ_TESTS_DIR "/golden/container/python.safetensors", &err));
    assert_int_equal(ganz_container_count(c), 16);
#define COMPARE(name, dtype, type, expression)                                                     \
    do {                                                                                           \
        OK(ganz_container_get(c, name, GANZ_DTYPE_##dtype, 2, shape, &e, &err));                   \
        OK(ganz_container_check(c, e, &err));                                                      \
        for (int i = 0; i < 6; i++) assert_true(((const type *)e->data)[i] == (type)(expression)); \
    } while (0)
    COMPARE("i8", I8, int8_t, i - 2);
    COMPARE("i16", I16, int16_t, i - 2);
    COMPARE("i32", I32, int32_t, i - 2);
    COMPARE("i64", I64, int64_t, i - 2);
    COMPARE("u8", U8, uint8_t, i);
    COMPARE("u16", U16, uint16_t, i);
    COMPARE("u32", U32, uint32_t, i);
    COMPARE("u64", U64, uint64_t, i);
    COMPARE("bool", BOOL, uint8_t, i % 2);
    COMPARE("f32", F32, float, i - 2);
    COMPARE("f64", F64, double, i - 2);
    const uint16_t half[] = {0xC000, 0xBC00, 0, 0x3C00, 0x4000, 0x4200};
    const uint16_t brain[] = {0xC000, 0xBF80, 0, 0x3F80, 0x4000, 0x4040};
    COMPARE("f16", F16, uint16_t, half[i]);
    COMPARE("bf16", BF16, uint16_t, brain[i]);
    OK(ganz_container_get(c, "scalar", GANZ_DTYPE_F32, 0, NULL, &e, &err));
    OK(ganz_container_check(c, e, &err));
    assert_true(*(const float *)e->data == 0.25f);
    OK(ganz_container_get(c, "empty", GANZ_DTYPE_F32, 2, (int64_t[]){0, 4}, &e, &err));
    OK(ganz_container_get(c, "na\xC3\xAFve/\xD0\xBA\xD0\xBB\xD1\x8E\xD1\x87", GANZ_DTYPE_U8, 1, (int64_t[]){3}, &e,
                          &err));
    OK(ganz_container_check(c, e, &err));
    assert_memory_equal(e->data, "\1\2\3", 3);
    assert_string_equal(ganz_container_text(c, "quoted"), "a \"b\" \\ \n\t\xC3\xA4 \xF0\x9F\x98\x80");
    ganz_container_close(&c);
}

/* ---- hostile files ------------------------------------------------------------------------------ */

/* A file of this header and so many bytes of data; the caller frees it. */
static unsigned char *build(const char *header, size_t header_bytes, size_t data, size_t *bytes)
{
    *bytes = 8 + header_bytes + data;
    unsigned char *const file = calloc(1, *bytes ? *bytes : 1);
    for (int i = 0; i < 8; i++) file[i] = (unsigned char)((uint64_t)header_bytes >> 8 * i);
    memcpy(file + 8, header, header_bytes);
    return file;
}

static void expect_header(const char *header, size_t data, ganz_status expected, const char *sentence)
{
    size_t bytes;
    unsigned char *const file = build(header, strlen(header), data, &bytes);
    ganz_container *c;
    ganz_error err = {0};
    const ganz_status status = ganz_container_parse(&c, file, bytes, "f", &err);
    if (status != expected || (sentence && !strstr(err.message, sentence)))
        fail_msg("%.60s...: %s, %s", header, ganz_status_name(status), err.message);
    assert_true((status == GANZ_OK) == (c != NULL));
    ganz_container_close(&c);
    free(file);
}

#define T(name, dtype, shape, begin, end) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"

static void hostile_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        ganz_status status;
        const char *sentence;
    } cases[] = {
        {"{}", 0, GANZ_OK, NULL},
        {"{}   ", 0, GANZ_OK, NULL},
        {"{" T("a", "F32", "2", 0, 8) "}", 8, GANZ_OK, NULL},
        {"{" T("b", "U8", "2", 8, 10) "," T("a", "F32", "2", 0, 8) "}", 10, GANZ_OK, NULL},
        {"{" T("a", "F32", "1,0,9", 4, 4) "," T("b", "U8", "4", 0, 4) "}", 4, GANZ_OK, NULL},
        {" {}", 0, GANZ_EFORMAT, "does not begin with {"},
        {"[]", 0, GANZ_EFORMAT, "does not begin with {"},
        {"{} x", 0, GANZ_EFORMAT, "not valid JSON"},
        {"{", 0, GANZ_EFORMAT, "not valid JSON"},
        {"{}", 1, GANZ_EFORMAT, "1 bytes behind the last tensor"},
        {"{" T("a", "F32", "2", 0, 8) "}", 9, GANZ_EFORMAT, "behind the last tensor"},
        {"{" T("a", "F32", "2", 0, 8) "}", 7, GANZ_EFORMAT, "outside the file"},
        {"{" T("a", "F32", "2", 8, 0) "}", 8, GANZ_EFORMAT, "outside the file"},
        {"{" T("a", "F32", "2", -8, 0) "}", 8, GANZ_EFORMAT, "outside the file"},
        {"{" T("a", "F32", "2", 0, 4) "}", 4, GANZ_EFORMAT, "do not fit the shape"},
        {"{" T("a", "F32", "3", 0, 8) "}", 8, GANZ_EFORMAT, "do not fit the shape"},
        {"{" T("a", "U8", "4", 0, 4) "," T("b", "U8", "4", 2, 6) "}", 6, GANZ_EFORMAT, "gap or an overlap"},
        {"{" T("a", "U8", "4", 0, 4) "," T("b", "U8", "4", 0, 4) "}", 4, GANZ_EFORMAT, "gap or an overlap"},
        {"{" T("a", "U8", "4", 0, 4) "," T("b", "U8", "4", 6, 10) "}", 10, GANZ_EFORMAT, "gap or an overlap"},
        {"{" T("a", "U8", "4", 2, 6) "}", 6, GANZ_EFORMAT, "gap or an overlap"},
        {"{" T("a", "U8", "0", 1, 1) "," T("b", "U8", "2", 0, 2) "}", 2, GANZ_EFORMAT, "gap or an overlap"},
        {"{" T("a", "F32", "4611686018427387904,4", 0, 0) "}", 0, GANZ_EFORMAT, "too large"},
        {"{" T("a", "F32", "4611686018427387904", 0, 0) "}", 0, GANZ_EFORMAT, "too large"},
        {"{" T("a", "U8", "4294967296,4294967296", 0, 0) "}", 0, GANZ_EFORMAT, "too large"},
        {"{" T("a", "U8", "9223372036854775808", 0, 0) "}", 0, GANZ_EFORMAT, "not valid JSON"},
        {"{" T("a", "U8", "1", 0, 18446744073709551617) "}", 1, GANZ_EFORMAT, "not valid JSON"},
        {"{" T("a", "U8", "-1", 0, 0) "}", 0, GANZ_EFORMAT, "no whole number"},
        {"{" T("a", "U8", "1.0", 0, 1) "}", 1, GANZ_EFORMAT, "no whole number"},
        {"{" T("a", "U8", "\"1\"", 0, 1) "}", 1, GANZ_EFORMAT, "no whole number"},
        {"{" T("a", "U8", "1,1,1,1,1,1,1,1,1", 0, 1) "}", 1, GANZ_ELIMIT, "more than 8 dimensions"},
        {"{" T("a", "F8_E4M3", "1", 0, 1) "}", 1, GANZ_EUNSUPPORTED, "unknown dtype F8_E4M3"},
        {"{" T("a", "f32", "1", 0, 4) "}", 4, GANZ_EUNSUPPORTED, "unknown dtype f32"},
        {"{" T("", "U8", "1", 0, 1) "}", 1, GANZ_ELIMIT, "name is empty"},
        {"{" T("a", "U8", "1", 0, 1) "," T("a", "U8", "1", 1, 2) "}", 2, GANZ_EFORMAT, "duplicate"},
        {"{" T("a\\u0000b", "U8", "1", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON"},
        {"{" T("a\xFF", "U8", "1", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, GANZ_EFORMAT, "not dtype, shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":1}}", 1, GANZ_EFORMAT,
         "not dtype, shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"offsets\":[0,1]}}", 1, GANZ_EFORMAT, "not dtype, shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1, GANZ_EFORMAT, "no data_offsets"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":{},\"data_offsets\":[0,1]}}", 1, GANZ_EFORMAT, "no shape"},
        {"{\"a\":{\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, GANZ_EFORMAT, "no dtype"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, GANZ_EFORMAT, "not dtype, shape"},
        {"{" T("a", "U8", "01", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON: a number that begins with 0"},
        {"{" T("a", "U8", "1,", 0, 1) "}", 1, GANZ_EFORMAT, "no whole number"},
        {"{" T("a", "U8", "1 1", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON: a comma"},
        {"{" T("a", "U8", "-0", 0, 0) "}", 0, GANZ_OK, NULL},
        {"{" T("a\\ud83d\\ude00\\/", "U8", "1", 0, 1) "}", 1, GANZ_OK, NULL},
        {"{" T("a\\ud83d", "U8", "1", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON: an impossible escape"},
        {"{" T("a\\x", "U8", "1", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON: an impossible escape"},
        {"{" T("a\n", "U8", "1", 0, 1) "}", 1, GANZ_EFORMAT, "not valid JSON: a control character"},
        {"{\"a", 0, GANZ_EFORMAT, "not valid JSON: a string without end"},
        {"{,}", 0, GANZ_EFORMAT, "not valid JSON: a key is missing"},
        {"{\"__metadata__\":{},}", 0, GANZ_EFORMAT, "not valid JSON: a key is missing"},
        {"{\"__metadata__\" {}}", 0, GANZ_EFORMAT, "not valid JSON: a colon is missing"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, GANZ_EFORMAT, "duplicate __metadata__"},
        {"{\"a\":[]}", 0, GANZ_EFORMAT, "not dtype, shape"},
        {"{\"__metadata__\":{\"a\":1}}", 0, GANZ_EFORMAT, "metadata a is no string"},
        {"{\"__metadata__\":[]}", 0, GANZ_EFORMAT, "__metadata__ is no object"},
        {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, GANZ_EFORMAT, "duplicate"},
        {"{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0, GANZ_EFORMAT, "metadata a is no string"},
        {"{\"__metadata__\":{\"xxh3\":\"835bd27acce4f7e4\"}}", 0, GANZ_OK, NULL},
        {"{\"__metadata__\":{\"xxh3\":\"753a6881e5ebe423\",\"kind\":\"x\"}}  ", 0, GANZ_OK, NULL},
        {"{\"__metadata__\":{\"xxh3\":\"753a6881e5ebe423\",\"kind\":\"y\"}}  ", 0, GANZ_EFORMAT,
         "header is damaged (the"},
        {"{\"__metadata__\":{\"xxh3\":\"753a6881e5ebe423\",\"kind\":\"x\"}} ", 0, GANZ_EFORMAT,
         "header is damaged (the"},
        {"{\"__metadata__\":{\"kind\":\"x\",\"xxh3\":\"753a6881e5ebe423\"}}  ", 0, GANZ_EFORMAT,
         "header is damaged (it"},
        {"{ \"__metadata__\":{\"xxh3\":\"753a6881e5ebe423\",\"kind\":\"x\"}} ", 0, GANZ_EFORMAT,
         "header is damaged (it"},
        {"{\"__metadata__\":{\"xxh3\":\"1\"}}", 0, GANZ_EFORMAT, "header is damaged (it"},
        {"{\"__metadata__\":{\"header_checksum\":\"xxh3\"}}", 0, GANZ_EFORMAT, "header is damaged (it"},
    };
    for (size_t i = 0; i < GANZ_COUNT(cases); i++)
        expect_header(cases[i].header, cases[i].data, cases[i].status, cases[i].sentence);
}

static void sizes_have_limits(void **state)
{
    (void)state;
    /* A name too long, nesting without end, more values than any file may have. */
    char *const text = calloc(1, 8u << 20);
    char name[GANZ_CONTAINER_NAME + 2];
    memset(name, 'n', sizeof name);
    for (int extra = 0; extra < 2; extra++) {
        name[GANZ_CONTAINER_NAME + extra] = '\0';
        sprintf(text, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", name);
        expect_header(text, 1, extra ? GANZ_ELIMIT : GANZ_OK, extra ? "longer than 512" : NULL);
        name[GANZ_CONTAINER_NAME] = 'n';
    }
    strcpy(text, "{\"a\":");
    memset(text + 5, '[', 1u << 20);
    expect_header(text, 0, GANZ_EFORMAT, "not dtype, shape");
    for (int count = GANZ_CONTAINER_TENSORS; count <= GANZ_CONTAINER_TENSORS + 1; count++) {
        char *at = text;
        for (int i = 0; i < count; i++)
            at += sprintf(at, "%c\"%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}", i ? ',' : '{', i);
        strcpy(at, "}");
        if (count == GANZ_CONTAINER_TENSORS) expect_header(text, 0, GANZ_OK, NULL);
    }
    expect_header(text, 0, GANZ_ELIMIT, "more than 65536 tensors");
    free(text);

    /* Lengths of the header that lie. */
    const uint64_t lengths[] = {0, 1, 3, 100000000, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < GANZ_COUNT(lengths); i++) {
        unsigned char file[10] = {0, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
        for (int b = 0; b < 8; b++) file[b] = (unsigned char)(lengths[i] >> 8 * b);
        ganz_container *c;
        assert_int_equal(ganz_container_parse(&c, file, sizeof file, "f", NULL), GANZ_EFORMAT);
        assert_null(c);
    }
}

/* Turns each bit of a header and back. With a checksum every one is refused; without, what opens lies inside the
 * file. */
static void turn_every_bit(unsigned char *file, size_t bytes, size_t header, bool summed)
{
    ganz_container *c;
    ganz_error err;
    for (size_t bit = 0; bit < 8 * header; bit++) {
        file[bit / 8] ^= (unsigned char)(1 << bit % 8);
        const ganz_status status = ganz_container_parse(&c, file, bytes, "flip", &err);
        if (summed && status == GANZ_OK) fail_msg("bit %zu of byte %zu may turn", bit % 8, bit / 8);
        if (summed && bit >= 8 * (8 + 25))
            assert_string_equal(err.message, "flip: the header is damaged (the checksum differs)");
        for (int i = 0; status == GANZ_OK && i < ganz_container_count(c); i++) {
            const ganz_entry *const e = ganz_container_at(c, i);
            assert_true((const unsigned char *)e->data >= file + header);
            assert_true((const unsigned char *)e->data + e->bytes <= file + bytes);
        }
        ganz_container_close(&c);
        file[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void every_cut_and_every_flip_is_survived(void **state)
{
    (void)state;
    write_sample("s");
    ganz_contents contents;
    ganz_container *c;
    ganz_error err;
    OK(ganz_contents_read(&contents, "s", &err));
    const size_t header = 8 + contents.data[0] + 256u * contents.data[1];
    for (size_t n = 0; n < contents.bytes; n++) { /* exact blocks, so that a sanitizer sees the first byte beyond */
        unsigned char *const cut = malloc(n ? n : 1);
        memcpy(cut, contents.data, n);
        assert_int_not_equal(ganz_container_parse(&c, cut, n, "cut", &err), GANZ_OK);
        assert_null(c);
        free(cut);
    }
    unsigned char *const copy = malloc(contents.bytes);
    memcpy(copy, contents.data, contents.bytes);
    turn_every_bit(copy, contents.bytes, header, true);
    unsum_header(copy, contents.bytes); /* a file of before, and so the parser meets every turned bit too */
    OK(ganz_container_parse(&c, copy, contents.bytes, "s", &err));
    ganz_container_close(&c);
    turn_every_bit(copy, contents.bytes, header, false);
    free(copy);
    ganz_contents_free(&contents);
}

static void control_characters_come_back(void **state)
{
    (void)state;
    static const char text[] = "\x01\x1f\x7f\b\f\n\r\t\"\\/";
    ganz_writer *w;
    ganz_container *c;
    OK(ganz_writer_open(&w, "control", true, NULL));
    OK(ganz_writer_text(w, "text", text, NULL));
    OK(ganz_writer_finish(&w, NULL));
    OK(ganz_container_open(&c, "control", NULL));
    assert_string_equal(ganz_container_text(c, "text"), text);
    ganz_container_close(&c);
}

/* Of a map these would end the process. */
static void a_file_may_be_cut_short_while_it_is_open(void **state)
{
    (void)state;
    write_sample("d");
    ganz_container *c;
    ganz_error err;
    OK(ganz_container_open(&c, "d", &err));
    const ganz_entry *const e = ganz_container_find(c, "weight");
    OK(ganz_container_check(c, e, &err));
    ganz_container_forget(c, e);
    assert_null(e->data);
    assert_int_equal(truncate("d", 100), 0);
    assert_int_equal(ganz_container_check(c, e, &err), GANZ_EIO);
    assert_string_equal(err.message, "cannot read d: it was cut short while it was in use");
    assert_null(e->data);
    assert_int_equal(ganz_container_verify(c, &err), GANZ_EIO);
    assert_int_equal(truncate("d", 1 << 16), 0); /* other bytes, of which there are enough */
    assert_int_equal(ganz_container_check(c, e, &err), GANZ_EFORMAT);
    assert_non_null(strstr(err.message, "its data is damaged (the checksum differs)"));
    ganz_container_close(&c);
}

static void misaligned_tensors_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    const char header[] = "{" T("a", "U8", "1", 0, 1) "," T("b", "F32", "1", 1, 5) "}";
    unsigned char *const file = build(header, sizeof header - 1, 5, &bytes);
    ganz_container *c;
    ganz_error err;
    const ganz_entry *e;
    OK(ganz_container_parse(&c, file, bytes, "f", &err));
    const uintptr_t at = (uintptr_t)ganz_container_find(c, "b")->data;
    assert_int_equal(ganz_container_get(c, "b", GANZ_DTYPE_F32, 1, (int64_t[]){1}, &e, &err),
                     at % 4 ? GANZ_EUNSUPPORTED : GANZ_OK);
    ganz_container_close(&c);
    free(file);
}

static void missing_files_have_a_sentence(void **state)
{
    (void)state;
    ganz_container *c;
    ganz_error err;
    assert_int_equal(ganz_container_open(&c, "nowhere", &err), GANZ_EIO);
    assert_string_equal(err.message, "cannot open nowhere: No such file or directory");
    assert_int_equal(system(": > empty"), 0);
    assert_int_equal(ganz_container_open(&c, "empty", &err), GANZ_EFORMAT);
    assert_string_equal(err.message, "empty: too short for a safetensors file");
    assert_int_equal(ganz_container_open(&c, "/dev/null", &err), GANZ_EIO);
}

/* ---- the writer's own rules --------------------------------------------------------------------- */

static ganz_writer *opened(void)
{
    ganz_writer *w;
    ganz_error err;
    OK(ganz_writer_open(&w, "out", false, &err));
    return w;
}

static void writer_refuses_nonsense(void **state)
{
    (void)state;
    ganz_error err;
    ganz_writer *w = opened();
    assert_int_equal(ganz_writer_declare(w, "", GANZ_DTYPE_U8, 0, NULL, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_declare(w, "__metadata__", GANZ_DTYPE_U8, 0, NULL, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_declare(w, "\xFF", GANZ_DTYPE_U8, 0, NULL, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_declare(w, "r", GANZ_DTYPE_U8, 9, NULL, &err), GANZ_ELIMIT);
    assert_int_equal(ganz_writer_declare(w, "n", GANZ_DTYPE_U8, 2, (int64_t[]){1, -1}, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_declare(w, "o", GANZ_DTYPE_F32, 2, (int64_t[]){INT64_MAX, 2}, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_real(w, "nan", NAN, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_text(w, "bad", "\xFF", &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_text(w, "xxh3", "0", &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_text(w, "header_checksum", "0", &err), GANZ_EINVAL);
    assert_string_equal(err.message, "out: metadata header_checksum is for checksums");
    ganz_writer_abandon(&w);

    w = opened(); /* too little, too much, twice, misaligned, half a row, no room */
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){3}, &err));
    OK(ganz_writer_write(w, "ab", 2, &err));
    assert_int_equal(ganz_writer_write(w, "cd", 2, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_next(w, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_finish(&w, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "out: tensor a is not complete");
    w = opened();
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){1}, &err));
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){1}, &err));
    assert_int_equal(ganz_writer_write(w, "a", 1, &err), GANZ_EINVAL);
    ganz_writer_abandon(&w);
    w = opened();
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){1}, &err));
    OK(ganz_writer_declare(w, "b", GANZ_DTYPE_U16, 1, (int64_t[]){1}, &err));
    OK(ganz_writer_write(w, "a", 1, &err));
    assert_int_equal(ganz_writer_write(w, "bb", 2, &err), GANZ_EINVAL);
    assert_string_equal(err.message, "out: tensor b would not be aligned");
    ganz_writer_abandon(&w);
    w = opened();
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U16, 2, (int64_t[]){-1, 2}, &err));
    OK(ganz_writer_write(w, "abcdef", 6, &err));
    assert_int_equal(ganz_writer_next(w, &err), GANZ_EINVAL);
    ganz_writer_abandon(&w);
    w = opened();
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){1}, &err));
    OK(ganz_writer_write(w, "a", 1, &err));
    char large[400] = "";
    memset(large, 'x', sizeof large - 1);
    OK(ganz_writer_text(w, "late", large, &err));
    assert_int_equal(ganz_writer_finish(&w, &err), GANZ_ELIMIT);

    assert_int_equal(ganz_writer_open(&w, "a.gz", false, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_open(&w, "/dev/null", false, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_open(&w, "-", false, &err), GANZ_EINVAL);
    assert_int_equal(ganz_writer_open(&w, "no/folder", false, &err), GANZ_EIO);
    assert_null(w);
    assert_int_equal(system("test -z \"$(ls)\""), 0); /* nothing of all this is left */
}

static void empty_files_and_no_metadata(void **state)
{
    (void)state;
    ganz_error err;
    ganz_writer *w = opened();
    OK(ganz_writer_finish(&w, &err));
    ganz_container *c;
    OK(ganz_container_open(&c, "out", &err));
    assert_int_equal(ganz_container_count(c), 0);
    assert_null(ganz_container_text(c, "any"));
    OK(ganz_container_verify(c, &err));
    ganz_container_close(&c);
}

/* A file that may not grow stands in for a full disk: write() fails in the same place. */
static void full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    write_sample("kept");
    struct stat before, after;
    assert_int_equal(stat("kept", &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &small);
    ganz_writer *w;
    ganz_error err;
    static const char block[50000];
    OK(ganz_writer_open(&w, "kept", true, &err));
    OK(ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){500000}, &err));
    ganz_status status = GANZ_OK;
    for (int i = 0; i < 10 && status == GANZ_OK; i++) status = ganz_writer_write(w, block, sizeof block, &err);
    if (status == GANZ_OK) status = ganz_writer_finish(&w, &err);
    ganz_writer_abandon(&w);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, GANZ_EIO);
    assert_non_null(strstr(err.message, "cannot write kept: "));
    assert_int_equal(stat("kept", &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(system("test $(ls | wc -l) = 1"), 0);
}

static void decimal_commas_do_no_harm(void **state)
{
    (void)state;
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < GANZ_COUNT(names) && !set; i++) set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set) skip();
    write_sample("comma");
    ganz_container *c;
    ganz_error err;
    double rate;
    OK(ganz_container_open(&c, "comma", &err));
    const ganz_status status = ganz_container_get_real(c, "rate", &rate, &err);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, GANZ_OK);
    assert_true(rate == 0.1);
    assert_string_equal(ganz_container_text(c, "rate"), "0.10000000000000001");
    ganz_container_close(&c);
}

static ganz_status write_and_read(ganz_error *err)
{
    ganz_writer *w;
    ganz_status status = ganz_writer_open(&w, "o", true, err);
    if (status == GANZ_OK) status = ganz_writer_declare(w, "a", GANZ_DTYPE_U8, 1, (int64_t[]){3}, err);
    if (status == GANZ_OK) status = ganz_writer_write(w, "abc", 3, err);
    if (status == GANZ_OK) status = ganz_writer_finish(&w, err);
    ganz_writer_abandon(&w);
    ganz_container *c = NULL;
    if (status == GANZ_OK) status = ganz_container_open(&c, "o", err);
    ganz_container_close(&c);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    ganz_error err;
    long n = 0;
    ganz_status status;
    do {
        ganz_alloc_fail_at(++n);
        status = write_and_read(&err);
        ganz_alloc_fail_at(0);
        if (status != GANZ_OK) assert_int_equal(status, GANZ_ENOMEM);
    } while (status != GANZ_OK && n < 200);
    assert_int_equal(status, GANZ_OK);
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(round_trip),
        IN_FOLDER(metadata_is_typed),
        IN_FOLDER(refusals_say_what_differs),
        IN_FOLDER(damage_is_found),
        IN_FOLDER(header_has_a_checksum),
        cmocka_unit_test(python_file_opens),
        cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(sizes_have_limits),
        IN_FOLDER(every_cut_and_every_flip_is_survived),
        IN_FOLDER(control_characters_come_back),
        IN_FOLDER(a_file_may_be_cut_short_while_it_is_open),
        cmocka_unit_test(misaligned_tensors_are_refused),
        IN_FOLDER(missing_files_have_a_sentence),
        IN_FOLDER(writer_refuses_nonsense),
        IN_FOLDER(empty_files_and_no_metadata),
        IN_FOLDER(full_disk_leaves_the_old_file),
        IN_FOLDER(decimal_commas_do_no_harm),
        IN_FOLDER(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
