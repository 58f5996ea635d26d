/* cmocka fixtures: a test in an empty folder of its own, which goes away with it. */
#ifndef GANZ_TESTS_FOLDER_H
#define GANZ_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int enter_folder(void **state)
{
    char *const folder = strdup("/tmp/ganz_test_XXXXXX");
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    const int result = chdir("/") == 0 ? system(command) : -1;
    free(*state);
    return result;
}

/* All of a file, aligned as containers are; the caller frees it. NULL: it cannot be read. */
static inline char *read_whole(const char *path, size_t *bytes)
{
    FILE *const file = fopen(path, "rb");
    *bytes = 0;
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *const data = aligned_alloc(64, (*bytes + 63) / 64 * 64);
    const size_t got = data ? fread(data, 1, *bytes, file) : 0;
    fclose(file);
    if (got == *bytes) return data;
    free(data);
    return NULL;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

#endif
