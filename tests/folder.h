/* cmocka fixtures: a test in an empty folder of its own, which goes away with it. */
#ifndef GANZ_TESTS_FOLDER_H
#define GANZ_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int enter_folder(void **state)
{
    char *const folder = strdup("/tmp/ganz_test_XXXXXX");
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    const int result = chdir("/") == 0 ? system(command) : -1;
    free(*state);
    return result;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

#endif
