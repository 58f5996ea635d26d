/* Bits of a file that turn, as they do on a disk. */
#ifndef GANZ_TESTS_FLIP_H
#define GANZ_TESTS_FLIP_H

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "model/model.h"
#include "test.h"

/* Puts `with`, as long as `what`, in all its places within a file. */
static inline void replace_all(void *data, size_t bytes, const char *what, const char *with)
{
    char *const text = data;
    const size_t length = strlen(what);
    assert_int_equal(strlen(with), length);
    for (size_t at = 0; at + length <= bytes; at++)
        if (memcmp(text + at, what, length) == 0) memcpy(text + at, with, length);
}

/* Makes a file one whose header has no checksum, by other names of the keys. */
static inline void unsum_header(void *data, size_t bytes)
{
    replace_all(data, bytes, "\"xxh3\":", "\"none\":");
    replace_all(data, bytes, "\"header_checksum\":", "\"header_unsummed\":");
}

/* Turns one bit of a tensor; a second time turns it back. */
static inline void flip_bit(const char *path, const char *tensor)
{
    ganz_contents contents;
    ganz_container *file;
    assert_int_equal(ganz_contents_read(&contents, path, NULL), GANZ_OK);
    assert_int_equal(ganz_container_parse(&file, contents.data, contents.bytes, path, NULL), GANZ_OK);
    const ganz_entry *const e = ganz_container_find(file, tensor);
    assert_non_null(e);
    assert_true(e->bytes > 0);
    const long at = (long)((const unsigned char *)e->data + e->bytes / 2 - contents.data);
    const int byte = contents.data[at];
    ganz_container_close(&file);
    ganz_contents_free(&contents);
    FILE *const to = fopen(path, "r+b");
    assert_non_null(to);
    assert_int_equal(fseek(to, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, to), byte ^ 1);
    assert_int_equal(fclose(to), 0);
}

/* A model with a bit turned in any of its tensors does not open; the sentence says in which. */
static inline void refuses_every_flip(const char *path)
{
    ganz_container *file;
    ganz_model *model;
    ganz_error err;
    char name[GANZ_CONTAINER_NAME + 1], expected[sizeof err.message];
    int count = 1;
    for (int i = 0; i < count; i++) {
        assert_int_equal(ganz_container_open(&file, path, NULL), GANZ_OK);
        count = ganz_container_count(file);
        snprintf(name, sizeof name, "%s", ganz_container_at(file, i)->name);
        ganz_container_close(&file);
        flip_bit(path, name);
        if (ganz_model_open(&model, path, &err) != GANZ_EFORMAT) fail_msg("a bit of %s may turn", name);
        assert_null(model);
        snprintf(expected, sizeof expected, "%s: tensor %.80s: its data is damaged (the checksum differs)", path, name);
        assert_string_equal(err.message, expected);
        flip_bit(path, name);
    }
    assert_true(count > 60);
    assert_int_equal(ganz_model_open(&model, path, &err), GANZ_OK);
    ganz_model_close(&model);
}

#endif
