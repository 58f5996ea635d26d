/* The settings of a recipe as options of a command. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char *meta_of(const ganz_setting *setting)
{
    switch (setting->kind) {
    case GANZ_SETTING_INT: return "N";
    case GANZ_SETTING_REAL: return "X";
    case GANZ_SETTING_TIME: return "TIME";
    case GANZ_SETTING_FLAG: return "true|false";
    case GANZ_SETTING_SET: return "N,N-N";
    case GANZ_SETTING_PAIR: return "X[:X]";
    case GANZ_SETTING_CHOICE: break;
    }
    return setting->choices;
}

int cli_settings_options(cli_settings *s, ganz_setting_use use, cli_option *options)
{
    int count, used = 0;
    const ganz_setting *const table = ganz_recipe_table(&count);
    *s = (cli_settings){0};
    if (count > CLI_SETTINGS) return 0;
    for (int i = 0; i < count; i++) {
        if (table[i].use != GANZ_USE_BOTH && table[i].use != use) continue;
        const bool plain = table[i].use == GANZ_USE_QUANTIZE && table[i].kind == GANZ_SETTING_FLAG;
        const cli_kind kind = plain ? CLI_SWITCH : CLI_TEXT;
        snprintf(s->help[i], sizeof s->help[i], "%s [%s]", table[i].help, table[i].standard);
        const char *const help = plain ? table[i].help : s->help[i];
        options[used++] = (cli_option){table[i].name, 0, kind, &s->given[i], meta_of(&table[i]), help, 0, 0};
    }
    return used;
}

bool cli_settings_given(const cli_settings *s, const char *name)
{
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0) return s->given[i] != NULL;
    return false;
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
