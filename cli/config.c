/* Reads files of defaults line by line; cli_parse puts what they say into the table of a command. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define NAME(name) #name,
static const char *const sections[] = {CLI_COMMANDS(NAME) "bench train", "bench translate", NULL};
#undef NAME

static ganz_status refuse(ganz_error *err, ganz_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static ganz_status refuse(ganz_error *err, ganz_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->status = status;
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}

/* Without white space at both ends. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1])) n--;
    text[n] = '\0';
    return text;
}

static ganz_status begin_section(cli_config *c, char *line, ganz_error *err)
{
    const size_t n = strlen(line);
    if (line[n - 1] != ']') return refuse(err, GANZ_EFORMAT, "a section is [COMMAND], not %.60s", line);
    line[n - 1] = '\0';
    c->section = trim(line + 1);
    for (const char *const *name = sections; *name; name++)
        if (strcmp(*name, c->section) == 0) return GANZ_OK;
    return refuse(err, GANZ_EFORMAT, "no command is named %.60s", c->section);
}

/* The next line that says something, trimmed; NULL: there is none. */
static char *next_line(cli_config *c)
{
    while (*c->at) {
        char *const line = c->at;
        const size_t n = strcspn(line, "\n");
        c->at += n + (line[n] != '\0');
        line[n] = '\0';
        c->line++;
        char *const words = trim(line);
        if (*words && *words != '#') return words;
    }
    return NULL;
}

ganz_status cli_config_next(cli_config *c, const char **name, const char **value, ganz_error *err)
{
    char *line;
    *name = *value = NULL;
    while ((line = next_line(c)) && *line == '[') {
        const ganz_status status = begin_section(c, line, err);
        if (status != GANZ_OK) return status;
    }
    if (!line) return GANZ_OK;
    if (!c->section) return refuse(err, GANZ_EFORMAT, "an option stands below a [COMMAND], not before the first");
    char *const equals = strchr(line, '=');
    if (equals) {
        *equals = '\0';
        *value = trim(equals + 1);
    }
    *name = trim(line);
    if ((*name)[strspn(*name, "abcdefghijklmnopqrstuvwxyz0123456789-")] || !**name)
        return refuse(err, GANZ_EFORMAT, "a line is OPTION = VALUE, not %.60s", line);
    return GANZ_OK;
}

int cli_config_paths(char paths[CLI_CONFIG_FILES][CLI_CONFIG_PATH])
{
    const char *const given = getenv("GANZ_CONFIG"), *const home = getenv("HOME"),
                      *const own = getenv("XDG_CONFIG_HOME");
    if (given && !*given) return 0;
    if (given) {
        snprintf(paths[0], CLI_CONFIG_PATH, "%s", given);
        return 1;
    }
    snprintf(paths[0], CLI_CONFIG_PATH, "/etc/ganz/config");
    if (own && *own == '/') snprintf(paths[1], CLI_CONFIG_PATH, "%s/ganz/config", own);
    else if (home && *home == '/') snprintf(paths[1], CLI_CONFIG_PATH, "%s/.config/ganz/config", home);
    else return 1;
    return 2;
}

ganz_status cli_config_read(const char *path, char **text, ganz_error *err)
{
    *text = NULL;
    FILE *const file = fopen(path, "rb");
    if (!file && (errno == ENOENT || errno == ENOTDIR) && !getenv("GANZ_CONFIG")) return GANZ_OK;
    if (!file) return refuse(err, GANZ_EIO, "cannot read %.200s: %s", path, strerror(errno));
    char *const all = malloc(CLI_CONFIG_MOST + 2);
    const size_t bytes = all ? fread(all, 1, CLI_CONFIG_MOST + 1, file) : 0;
    const bool failed = ferror(file) != 0;
    fclose(file);
    ganz_status status = GANZ_OK;
    if (!all) status = refuse(err, GANZ_ENOMEM, "out of memory for %.200s", path);
    else if (failed) status = refuse(err, GANZ_EIO, "cannot read %.200s", path);
    else if (bytes > CLI_CONFIG_MOST) status = refuse(err, GANZ_ELIMIT, "%.200s: more than 64 KiB", path);
    else if (memchr(all, '\0', bytes)) status = refuse(err, GANZ_EFORMAT, "%.200s: no text", path);
    else all[bytes] = '\0';
    if (status == GANZ_OK) *text = all;
    else free(all);
    return status;
}
