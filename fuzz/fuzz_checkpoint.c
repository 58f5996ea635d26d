/* Any bytes as the checkpoint of a run: its settings and notes are refused, or are such as a recipe may have, and say
 * the same when they are read again. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>

#include "memory_file.h"
#include "train/checkpoint.h"

/* What was read can be written down and set again. */
static void set_again(const ganz_recipe *recipe)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    ganz_recipe copy = *recipe;
    char text[GANZ_VALUE_BYTES];
    for (int i = 0; i < count; i++) {
        ganz_recipe_get(recipe, &table[i], text);
        FUZZ_EXPECT(ganz_recipe_set(&copy, table[i].name, text, NULL) == GANZ_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory_file file = memory_file_open(data, size);
    ganz_recipe recipe;
    ganz_origin origin;
    ganz_container *c;
    ganz_model_info info;
    ganz_error err = {.message = ""};
    ganz_recipe_defaults(&recipe);
    if (ganz_checkpoint_recipe(file.path, &recipe, &err) == GANZ_OK) set_again(&recipe);
    else FUZZ_EXPECT(err.message[0]);
    if (ganz_container_parse(&c, data, size, "fuzz", NULL) == GANZ_OK) {
        ganz_recipe_defaults(&recipe);
        if (ganz_checkpoint_origin(c, &recipe, &origin, NULL) == GANZ_OK) FUZZ_EXPECT(origin.step >= 0);
        (void)ganz_model_read_info(c, &info, NULL);
        ganz_container_close(&c);
    }
    memory_file_close(&file);
    return 0;
}
