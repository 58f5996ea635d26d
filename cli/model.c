/* Which model a command uses when none is named. */
#define _GNU_SOURCE /* secure_getenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define DEFAULT_MODEL "en-de.safetensors"

/* Where the default model may lie, from the folder of the program: beside it, where cmake --install puts it, and the
 * source's folder while the program is in its build tree. */
static const char *const folders[] = {"models", GANZ_DATA_FOLDER, GANZ_SOURCE_MODELS};
enum { FOLDERS = sizeof folders / sizeof folders[0] };

/* The folder this program was started from, links followed; false when the system does not say. */
static bool program_folder(char folder[CLI_PATH])
{
    const ssize_t bytes = readlink("/proc/self/exe", folder, CLI_PATH - 1);
    if (bytes <= 0 || bytes == CLI_PATH - 1) return false;
    folder[bytes] = '\0';
    char *const slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    return slash;
}

const char *cli_find_model(const char *given, char path[CLI_PATH])
{
    char folder[CLI_PATH], name[2 * CLI_PATH];
    if (!given) given = secure_getenv("GANZ_MODEL");
    if (given && *given) return given;
    if (!program_folder(folder)) return NULL;
    for (int i = 0; i < FOLDERS; i++) {
        const int bytes = snprintf(name, sizeof name, "%s/%s/%s", folder, folders[i], DEFAULT_MODEL);
        if (bytes >= CLI_PATH || access(name, R_OK) != 0) continue;
        return memcpy(path, name, (size_t)bytes + 1);
    }
    return NULL;
}

int cli_no_model(const cli_command *command, const char *how)
{
    char folder[CLI_PATH];
    fprintf(stderr, "ganz %s: no model: %s or set GANZ_MODEL", command->name, how);
    if (program_folder(folder)) {
        fprintf(stderr, " (looked for %s in", DEFAULT_MODEL);
        for (int i = 0; i < FOLDERS; i++) fprintf(stderr, "%s %s/%s", i ? "," : "", folder, folders[i]);
        fputc(')', stderr);
    }
    fputc('\n', stderr);
    return CLI_FAILED;
}
