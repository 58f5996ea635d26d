/* Files of defaults: "[command]" and below it "option = value", a line each; "#" begins a comment line. */
#ifndef GANZ_CLI_CONFIG_H
#define GANZ_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "ganz/ganz.h"

enum { CLI_CONFIG_MOST = 1 << 16 /* bytes of a file */, CLI_CONFIG_FILES = 2 };

/* A walk through a file. It is cut into words where it lies. */
typedef struct cli_config {
    char *at;            /* the rest */
    const char *section; /* of the line; NULL: none has begun */
    int line;            /* number of the line */
} cli_config;

/* The next option: its name and its value, NULL where there is no "=". At the end *name is NULL. GANZ_EFORMAT, with a
 * sentence that names no file, for a line that is none of these; for a section that is no command; for an option before
 * the first. The text ends with a zero and holds no other (see cli_config_read). */
ganz_status cli_config_next(cli_config *c, const char **name, const char **value, ganz_error *err);

/* Names of the files, the weaker first, into `paths`; returns how many: none if GANZ_CONFIG is set and empty, the one
 * it names, else /etc/ganz/config and the user's. */
enum { CLI_CONFIG_PATH = 4096 };
int cli_config_paths(char paths[CLI_CONFIG_FILES][CLI_CONFIG_PATH]);

/* The text of a file, ended by a zero; freed by the caller. *text is NULL where there is no such file. */
ganz_status cli_config_read(const char *path, char **text, ganz_error *err);

#endif
