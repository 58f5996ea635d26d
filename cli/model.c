/* Which model a command uses: a file, the model of a pair of languages by its name, or the default model. Models that
 * come with the program are called after their pair, en-de.safetensors, and are looked for in the folders
 * that GANZ_MODELS names and in those around the program. */
#define _GNU_SOURCE /* secure_getenv */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "ganz/inspect.h"
#include "ganz/io.h"

#define ENDING ".safetensors"
#define DEFAULT_PAIR "en-de"

/* Where these models may lie, from the folder of the program: beside it, where cmake --install puts it, and the
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

/* Letters, a hyphen, letters: "de-en". */
static bool is_pair(const char *name)
{
    const char *const hyphen = strchr(name, '-');
    if (!hyphen || hyphen == name || !hyphen[1]) return false;
    for (const char *p = name; *p; p++)
        if (p != hyphen && !isalpha((unsigned char)*p)) return false;
    return true;
}

/* Whether a file of this name is the model of such a pair; a language that is NULL may be any. */
static bool file_fits(const char *file, const char *from, const char *to)
{
    char pair[64];
    const size_t bytes = strlen(file), ending = strlen(ENDING);
    if (bytes <= ending || bytes - ending >= sizeof pair || strcmp(file + bytes - ending, ENDING) != 0) return false;
    snprintf(pair, sizeof pair, "%.*s", (int)(bytes - ending), file);
    if (!is_pair(pair)) return false;
    char *const target = strchr(pair, '-') + 1;
    target[-1] = '\0';
    return (!from || strcmp(from, pair) == 0) && (!to || strcmp(to, target) == 0);
}

/* Counts the models of a folder that fit; the name of the first by the alphabet is put into path. */
static int find_in_folder(const char *folder, const char *from, const char *to, char path[CLI_PATH])
{
    int count = 0;
    char name[2 * CLI_PATH];
    DIR *const list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (!file_fits(entry->d_name, from, to)) continue;
        const int bytes = snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (bytes >= CLI_PATH || access(name, R_OK) != 0) continue;
        if (count++ == 0 || strcmp(name, path) < 0) memcpy(path, name, (size_t)bytes + 1);
    }
    if (list) closedir(list);
    return count;
}

/* The next folder of GANZ_MODELS, a list with colons; *at begins as NULL. False: there are no more. */
static bool next_folder(const char **at, char folder[CLI_PATH])
{
    if (!*at) *at = secure_getenv("GANZ_MODELS");
    while (*at && **at) {
        const size_t bytes = strcspn(*at, ":");
        const bool fits = bytes > 0 && bytes < CLI_PATH;
        if (fits) snprintf(folder, CLI_PATH, "%.*s", (int)bytes, *at);
        *at += bytes + ((*at)[bytes] == ':');
        if (fits) return true;
    }
    return false;
}

/* The same inside the program. */
static int find_inside(const char *from, const char *to, char path[CLI_PATH])
{
    int count = 0;
    for (const ganz_inside *f = ganz_inside_files; f && f->name; f++)
        if (file_fits(f->name, from, to) && count++ == 0) snprintf(path, CLI_PATH, GANZ_INSIDE "%s", f->name);
    return count;
}

/* The same in the first folder of GANZ_MODELS, else around the program, that has such a model. */
static int find_pair(const char *from, const char *to, char path[CLI_PATH])
{
    char folder[CLI_PATH], name[2 * CLI_PATH];
    int count = 0;
    for (const char *at = NULL; count == 0 && next_folder(&at, folder);) count = find_in_folder(folder, from, to, path);
    const bool placed = program_folder(folder);
    for (int i = 0; i < FOLDERS && count == 0 && placed; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, folders[i]);
        count = find_in_folder(name, from, to, path);
    }
    if (count == 0) count = find_inside(from, to, path);
    return count;
}

static int compare_paths(const void *a, const void *b) { return strcmp(a, b); }

/* Adds the models of a folder, by the alphabet. */
static int list_folder(const char *folder, char (*paths)[CLI_PATH], int most)
{
    int count = 0;
    DIR *const list = opendir(folder);
    for (struct dirent *entry; list && count < most && (entry = readdir(list));) {
        char name[2 * CLI_PATH];
        if (!file_fits(entry->d_name, NULL, NULL)) continue;
        const int bytes = snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (bytes >= CLI_PATH || access(name, R_OK) != 0) continue;
        memcpy(paths[count++], name, (size_t)bytes + 1);
    }
    if (list) closedir(list);
    qsort(paths, (size_t)count, sizeof *paths, compare_paths);
    return count;
}

int cli_list_models(char (*paths)[CLI_PATH], int most)
{
    char folder[CLI_PATH], name[2 * CLI_PATH];
    int count = 0;
    for (const char *at = NULL; next_folder(&at, folder);) count += list_folder(folder, paths + count, most - count);
    const bool placed = program_folder(folder);
    for (int i = 0; i < FOLDERS && count == 0 && placed; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, folders[i]);
        count = list_folder(name, paths, most);
    }
    if (count > 0) return count;
    for (const ganz_inside *f = ganz_inside_files; f && f->name && count < most; f++)
        snprintf(paths[count++], CLI_PATH, GANZ_INSIDE "%s", f->name);
    return count;
}

static bool find_named_pair(const char *name, char path[CLI_PATH])
{
    char pair[64];
    if (strlen(name) >= sizeof pair || !is_pair(name)) return false;
    strcpy(pair, name);
    char *const target = strchr(pair, '-') + 1;
    target[-1] = '\0';
    return find_pair(pair, target, path) > 0;
}

/* A folder is no model: one of the name of a pair does not stand in the way of the pair. */
static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *cli_find_model(const char *given, char path[CLI_PATH])
{
    if (!given) given = secure_getenv("GANZ_MODEL");
    const bool named = given && *given;
    if (named && access(given, F_OK) == 0 && !is_folder(given)) return given;
    if (find_named_pair(named ? given : DEFAULT_PAIR, path)) return path;
    return named ? given : NULL;
}

int cli_no_model(const cli_command *command, const char *how)
{
    char folder[CLI_PATH];
    fprintf(stderr, "ganz %s: no model: %s or set GANZ_MODEL", command->name, how);
    if (program_folder(folder)) {
        fprintf(stderr, " (looked for %s in", DEFAULT_PAIR ENDING);
        for (int i = 0; i < FOLDERS; i++) fprintf(stderr, "%s %s/%s", i ? "," : "", folder, folders[i]);
        fputc(')', stderr);
    }
    fputc('\n', stderr);
    return CLI_FAILED;
}

/* " from de to en", for a sentence. */
static const char *say_pair(const char *from, const char *to, char text[128])
{
    snprintf(text, 128, "%s%.40s%s%.40s", from ? " from " : "", from ? from : "", to ? " to " : "", to ? to : "");
    return text;
}

int cli_find_languages(const cli_command *command, const char *from, const char *to, char path[CLI_PATH])
{
    char pair[128];
    const int count = find_pair(from, to, path);
    if (count == 1) return -1;
    if (count > 1)
        return cli_usage(command, "several models translate%s: name both languages", say_pair(from, to, pair));
    fprintf(stderr, "ganz %s: no model comes with the program that translates%s: give --model FILE\n", command->name,
            say_pair(from, to, pair));
    return CLI_FAILED;
}

static bool has_label(const ganz_model *model, const char *name)
{
    const char *label;
    for (int i = 0; (label = ganz_vocab_label(ganz_model_vocab(model), i)); i++)
        if (strcmp(label, name) == 0) return true;
    return false;
}

ganz_status cli_check_languages(const ganz_model *model, const char *from, const char *to, ganz_error *err)
{
    ganz_model_facts facts;
    char wanted[128], given[128];
    ganz_model_describe(model, &facts);
    const bool other_source = from && facts.source_language && strcmp(from, facts.source_language) != 0;
    const bool other_target =
        to && facts.target_language && strcmp(to, facts.target_language) != 0 && !has_label(model, to);
    if (!other_source && !other_target) return GANZ_OK;
    err->status = GANZ_EINVAL;
    snprintf(err->message, sizeof err->message, "the model translates%s, not%s",
             say_pair(facts.source_language, facts.target_language, given), say_pair(from, to, wanted));
    return GANZ_EINVAL;
}
