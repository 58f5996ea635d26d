/* The settings of a recipe as options of a command. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

int cli_settings_options(cli_settings *s, cli_option *options)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    *s = (cli_settings){0};
    if (count > CLI_SETTINGS) return 0;
    for (int i = 0; i < count; i++) {
        snprintf(s->help[i], sizeof s->help[i], "%s [%s]", table[i].help, table[i].standard);
        const char *const meta = table[i].kind == GANZ_SETTING_INT    ? "N"
                                 : table[i].kind == GANZ_SETTING_TIME ? "TIME"
                                 : table[i].kind == GANZ_SETTING_REAL ? "X"
                                 : table[i].kind == GANZ_SETTING_FLAG ? "true|false"
                                                                      : table[i].choices;
        options[i] = (cli_option){table[i].name, 0, CLI_TEXT, &s->given[i], meta, s->help[i], 0, 0};
    }
    return count;
}

int cli_settings_apply(const cli_command *command, const cli_settings *s, ganz_recipe *recipe)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        ganz_error err;
        if (s->given[i] && ganz_recipe_set(recipe, table[i].name, s->given[i], &err) != GANZ_OK)
            return cli_usage(command, "--%s", err.message);
    }
    return -1;
}

void cli_settings_print(const ganz_recipe *recipe)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++) {
        char text[32];
        ganz_recipe_get(recipe, &table[i], text);
        printf("%s: %s\n", table[i].name, text);
    }
}
