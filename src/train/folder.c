/* The folder of a run: names of its files, locks, and removal of a killed run's temporary ones. */
#include "train/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

static ganz_status join(char path[GANZ_PATH], const char *folder, const char *name, ganz_error *err)
{
    const int n = snprintf(path, GANZ_PATH, "%s/%s", folder, name);
    return n < GANZ_PATH ? GANZ_OK : ganz_fail(err, GANZ_ELIMIT, "%s: the name of the folder is too long", folder);
}

ganz_status ganz_folder_name(ganz_folder *folder, const char *path, ganz_error *err)
{
    folder->path = path;
    GANZ_TRY(join(folder->last, path, "last.safetensors", err));
    GANZ_TRY(join(folder->best, path, "best.safetensors", err));
    GANZ_TRY(join(folder->average, path, "average.safetensors", err));
    GANZ_TRY(join(folder->log, path, "log.tsv", err));
    GANZ_TRY(join(folder->phase3, path, "phase-3.safetensors", err));
    GANZ_TRY(join(folder->learned, path, "learned.safetensors", err));
    GANZ_TRY(join(folder->calibrated, path, "calibrated.safetensors", err));
    GANZ_TRY(join(folder->history, path, "steps.tsv", err));
    GANZ_TRY(join(folder->history_svg, path, "steps.svg", err));
    return join(folder->svg, path, "loss.svg", err);
}

ganz_status ganz_folder_model(const ganz_folder *folder, int64_t step, char path[GANZ_PATH], ganz_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "model-%lld.safetensors", (long long)step);
    return join(path, folder->path, name, err);
}

ganz_status ganz_folder_make(const ganz_folder *folder, ganz_error *err)
{
    if (mkdir(folder->path, 0777) == 0) return ganz_sync_name(folder->path, err);
    return errno == EEXIST ? GANZ_OK : ganz_fail_errno(err, "make the folder", folder->path);
}

/* "last.safetensors.tmp.ab12CD": the name of an output that is not finished. */
static bool is_leftover(const char *name)
{
    static const char *const stems[] = {"last.safetensors.tmp.",
                                        "best.safetensors.tmp.",
                                        "average.safetensors.tmp.",
                                        "loss.svg.tmp.",
                                        "model-",
                                        "phase-3.safetensors.tmp.",
                                        "steps.svg.tmp.",
                                        "calibrated.safetensors.tmp.",
                                        "quant.",
                                        "first.safetensors.tmp.",
                                        "text.corpus.tmp.",
                                        "valid.source.tmp.",
                                        "valid.target.tmp."};
    const char *const mark = strstr(name, ".tmp.");
    if (!mark || strlen(mark) != strlen(".tmp.XXXXXX")) return false;
    for (size_t i = 0; i < GANZ_COUNT(stems); i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0) return true;
    return false;
}

void ganz_folder_sweep(const ganz_folder *folder)
{
    DIR *const dir = opendir(folder->path);
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char path[GANZ_PATH];
        if (is_leftover(entry->d_name) && join(path, folder->path, entry->d_name, NULL) == GANZ_OK) unlink(path);
    }
    closedir(dir);
}

ganz_status ganz_folder_lock(int file, const char *path, ganz_error *err)
{
    if (flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return GANZ_OK; /* or there are no locks there */
    return ganz_fail(err, GANZ_EINVAL, "%s is in use by another run", path);
}

bool ganz_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}
