/* A recipe that nobody vouches for. What is refused changes nothing and says why in one line; what is taken is inside
 * the ranges of the table, and comes back from its own text. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "ganz/recipe.h"

static void expect_in_range(const ganz_recipe *recipe, const ganz_setting *s)
{
    const void *const at = (const char *)recipe + s->offset;
    const bool real = s->kind == GANZ_SETTING_REAL || s->kind == GANZ_SETTING_TIME;
    if (!real && s->kind != GANZ_SETTING_INT) return;
    const double value = real ? *(const double *)at : (double)*(const long long *)at;
    FUZZ_EXPECT(value >= s->min && value <= s->max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    ganz_recipe recipe, before, again;
    ganz_error err = {0};
    static char text[16384];
    size_t n = 0;
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    ganz_recipe_defaults(&recipe);
    before = recipe;
    if (ganz_recipe_parse(&recipe, (const char *)data, bytes, "fuzz", &err) != GANZ_OK) {
        FUZZ_EXPECT(memcmp(&recipe, &before, sizeof recipe) == 0 && err.message[0]);
        return 0;
    }
    for (int i = 0; i < count; i++) {
        char value[GANZ_VALUE_BYTES];
        expect_in_range(&recipe, &table[i]);
        ganz_recipe_get(&recipe, &table[i], value);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s: '%s'\n", table[i].name, value);
    }
    ganz_recipe_defaults(&again);
    FUZZ_EXPECT(ganz_recipe_parse(&again, text, n, "again", &err) == GANZ_OK);
    FUZZ_EXPECT(memcmp(&recipe, &again, sizeof recipe) == 0);
    ganz_recipe_check(&recipe, &err);
    return 0;
}
