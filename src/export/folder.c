/* Files of exports. A vocabulary is asked for its parts as model files keep them. */
#include "export/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ganz/io.h"

static ganz_status no_memory(ganz_error *err) { return ganz_fail(err, GANZ_ENOMEM, "out of memory to export a model"); }

/* A folder that holds something else would hold a mixture. */
static ganz_status check_empty(const char *path, ganz_error *err)
{
    DIR *const folder = opendir(path);
    if (!folder) return ganz_fail_errno(err, "open the folder", path);
    const struct dirent *entry;
    bool empty = true;
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) empty = false;
    closedir(folder);
    return empty ? GANZ_OK : ganz_fail(err, GANZ_EINVAL, "%s: the folder is not empty", path);
}

/* Removes all that is in a folder, and folders in it; a link that cannot be removed is not gone through. */
static void empty_folder(const char *path)
{
    DIR *const folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[2 * GANZ_EXPORT_PATH];
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name) continue;
        if (unlink(name) == 0 || lstat(name, &info) != 0 || !S_ISDIR(info.st_mode)) continue;
        empty_folder(name);
        rmdir(name);
    }
    if (folder) closedir(folder);
}

ganz_status ganz_export_folder(const char *folder, ganz_status (*write)(void *context, ganz_error *err), void *context,
                               ganz_error *err)
{
    if (strlen(folder) > GANZ_EXPORT_PATH - GANZ_EXPORT_NAME - 2)
        return ganz_fail(err, GANZ_ELIMIT, "the name of the folder is too long");
    const bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST) return ganz_fail_errno(err, "make the folder", folder);
    GANZ_TRY(check_empty(folder, err));
    const ganz_status status = write(context, err);
    if (status != GANZ_OK) empty_folder(folder);
    if (status != GANZ_OK && made) rmdir(folder);
    return status;
}

ganz_status ganz_export_file(const char *folder, const char *name, const void *data, size_t bytes, ganz_error *err)
{
    char path[GANZ_EXPORT_PATH];
    ganz_output *out = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ganz_status status = ganz_output_open(&out, path, err);
    if (status == GANZ_OK) status = ganz_output_write(out, data, bytes, err);
    if (status == GANZ_OK) status = ganz_output_finish(&out, err);
    ganz_output_abandon(&out);
    return status;
}

ganz_status ganz_export_json(const char *folder, const char *name, ganz_json_writer *json, ganz_error *err)
{
    const ganz_status status =
        json->failed ? no_memory(err) : ganz_export_file(folder, name, json->data, json->bytes, err);
    ganz_free(json->data);
    *json = (ganz_json_writer){0};
    return status;
}

ganz_status ganz_export_card(const char *folder, const ganz_model *model, ganz_error *err)
{
    const char *const licence = model->info.licence, *const origin = model->info.origin;
    char text[2048];
    if (!licence && !origin) return GANZ_OK;
    int n = licence ? snprintf(text, sizeof text, "---\nlicense: %.500s\n---\n", licence) : 0;
    if (origin) n += snprintf(text + n, sizeof text - (size_t)n, "Made from: %.1000s\n", origin);
    return ganz_export_file(folder, "README.md", text, (size_t)n, err);
}

ganz_vocab_part ganz_export_part(const ganz_vocab *vocab, const char *name)
{
    ganz_vocab_part parts[GANZ_VOCAB_PARTS];
    for (int i = vocab->kind->parts(vocab, parts); i-- > 0;)
        if (strcmp(parts[i].name, name) == 0) return parts[i];
    return (ganz_vocab_part){0};
}

bool ganz_export_two_lists(const ganz_vocab *vocab) { return ganz_export_part(vocab, "pieces.source").data != NULL; }

/* Texts with a zero behind each. */
ganz_status ganz_export_entries_open(ganz_export_entries *e, const ganz_vocab *vocab, ganz_side side, ganz_error *err)
{
    const bool own = side == GANZ_SOURCE && ganz_export_two_lists(vocab);
    const ganz_vocab_part part = ganz_export_part(vocab, own ? "pieces.source" : "pieces");
    *e = (ganz_export_entries){0};
    if (!part.data) return GANZ_OK;
    e->texts = ganz_alloc((size_t)vocab->size[side], sizeof *e->texts);
    if (!e->texts) return no_memory(err);
    const char *at = part.data;
    for (; e->count < vocab->size[side]; at += strlen(at) + 1) e->texts[e->count++] = at;
    return GANZ_OK;
}

void ganz_export_entries_close(ganz_export_entries *e)
{
    ganz_free(e->texts);
    *e = (ganz_export_entries){0};
}

ganz_status ganz_export_tokenizers(const char *folder, const ganz_vocab *vocab, bool both, ganz_error *err)
{
    size_t bytes;
    const char *const subwords = ganz_vocab_file(vocab, &bytes);
    const ganz_vocab_part source = ganz_export_part(vocab, "source.spm");
    ganz_vocab_part target = ganz_export_part(vocab, "target.spm");
    if (subwords) return ganz_export_file(folder, "vocab.subwords", subwords, bytes, err);
    if (!target.data && both) target = source;
    if (source.data) GANZ_TRY(ganz_export_file(folder, "source.spm", source.data, source.bytes, err));
    return target.data ? ganz_export_file(folder, "target.spm", target.data, target.bytes, err) : GANZ_OK;
}
