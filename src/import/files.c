/* Files of a foreign model by name: a list of names first, bytes when they are asked for. */
#include "import/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "document/zip.h"

enum { MOST_FILES = 4096 /* of an archive */, MOST_NAMES = 1 << 20 /* of a folder, which may hold much else */ };
/* A float model of the largest kind that is passed around is 1.2 GB. */
static const ganz_zip_limits limits = {(size_t)4 << 30, MOST_FILES, 1024};

typedef struct file {
    char *name;
    int member;             /* of the archive */
    ganz_contents contents; /* of a file of a folder */
    ganz_bytes bytes;       /* once it was asked for */
    char *memory;           /* unpacked; NULL: the bytes lie elsewhere */
} file;

struct ganz_files {
    char *name, *folder, *given;
    char inside[256];       /* folder of the archive that names are relative to, with its slash */
    ganz_contents contents; /* of an archive */
    ganz_zip *zip;
    file *list;
    size_t count, capacity;
};

static ganz_status out_of_memory(const ganz_files *f, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", f->name);
}

static ganz_status add_file(ganz_files *f, const char *name, int member, ganz_error *err)
{
    char *const copy = ganz_strdup(name);
    if (!copy || !ganz_grow((void **)&f->list, &f->capacity, f->count + 1, sizeof *f->list)) {
        ganz_free(copy);
        return out_of_memory(f, err);
    }
    f->list[f->count++] = (file){.name = copy, .member = member};
    return GANZ_OK;
}

static int by_name(const void *a, const void *b) { return strcmp(((const file *)a)->name, ((const file *)b)->name); }

/* ---- folders and archives ----------------------------------------------------------------------- */

static ganz_status list_folder(ganz_files *f, ganz_error *err)
{
    DIR *const folder = opendir(f->folder);
    if (!folder) return ganz_fail_errno(err, "open folder", f->folder);
    ganz_status status = GANZ_OK;
    for (const struct dirent *e; status == GANZ_OK && (e = readdir(folder));)
        if (f->count == MOST_NAMES)
            status = ganz_fail(err, GANZ_ELIMIT, "%s: the folder has more than %d files", f->name, MOST_NAMES);
        else if (e->d_name[0] != '.') status = add_file(f, e->d_name, -1, err);
    closedir(folder);
    return status;
}

static ganz_status list_archive(ganz_files *f, const void *data, size_t bytes, ganz_error *err)
{
    ganz_error why;
    if (ganz_zip_open(&f->zip, data, bytes, &limits, &why) != GANZ_OK)
        return ganz_fail(err, why.status, "%s: %s", f->name, why.message);
    for (int i = 0; i < ganz_zip_count(f->zip); i++) GANZ_TRY(add_file(f, ganz_zip_name(f->zip, i), i, err));
    return GANZ_OK;
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* Formats that are zip archives themselves are files, not folders. */
static bool is_archive(const ganz_files *f)
{
    return ganz_zip_looks_like(f->contents.data, f->contents.bytes) &&
           (ends_in(f->name, ".argosmodel") || ends_in(f->name, ".zip"));
}

static ganz_status open_file(ganz_files *f, ganz_error *err)
{
    GANZ_TRY(ganz_contents_read(&f->contents, f->name, err));
    if (is_archive(f)) return list_archive(f, f->contents.data, f->contents.bytes, err);
    ganz_contents_free(&f->contents);
    const char *const slash = strrchr(f->name, '/');
    f->given = ganz_strdup(slash ? slash + 1 : f->name);
    f->folder = slash ? ganz_strdup(f->name) : ganz_strdup(".");
    if (!f->given || !f->folder) return out_of_memory(f, err);
    if (slash) f->folder[slash == f->name ? 1 : slash - f->name] = '\0';
    return list_folder(f, err);
}

static ganz_status open_files(ganz_files *f, const char *path, ganz_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0) return ganz_fail_errno(err, "open", path);
    if (!S_ISDIR(about.st_mode)) return open_file(f, err);
    f->folder = ganz_strdup(path);
    return f->folder ? list_folder(f, err) : out_of_memory(f, err);
}

static ganz_status finish_open(ganz_files **files, ganz_status status)
{
    if (status != GANZ_OK) ganz_files_close(files);
    else if ((*files)->count > 0) qsort((*files)->list, (*files)->count, sizeof(file), by_name);
    return status;
}

static ganz_status new_files(ganz_files **files, const char *name, ganz_error *err)
{
    *files = ganz_alloc(1, sizeof **files);
    if (*files) (*files)->name = ganz_strdup(name);
    if (*files && (*files)->name) return GANZ_OK;
    ganz_free(*files);
    *files = NULL;
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
}

ganz_status ganz_files_open(ganz_files **files, const char *path, ganz_error *err)
{
    GANZ_TRY(new_files(files, path, err));
    return finish_open(files, open_files(*files, path, err));
}

ganz_status ganz_files_parse(ganz_files **files, const void *data, size_t bytes, const char *name, ganz_error *err)
{
    GANZ_TRY(new_files(files, name, err));
    return finish_open(files, list_archive(*files, data, bytes, err));
}

void ganz_files_close(ganz_files **files)
{
    ganz_files *const f = *files;
    *files = NULL;
    if (!f) return;
    for (size_t i = 0; i < f->count; i++) {
        ganz_contents_free(&f->list[i].contents);
        ganz_free(f->list[i].memory);
        ganz_free(f->list[i].name);
    }
    ganz_zip_close(&f->zip);
    ganz_contents_free(&f->contents);
    ganz_free(f->list);
    ganz_free(f->name);
    ganz_free(f->folder);
    ganz_free(f->given);
    ganz_free(f);
}

/* ---- asking ------------------------------------------------------------------------------------- */

const char *ganz_files_name(const ganz_files *f) { return f->name; }
const char *ganz_files_given(const ganz_files *f) { return f->given; }

void ganz_files_enter(ganz_files *f, const char *folder) { snprintf(f->inside, sizeof f->inside, "%s", folder); }

static file *find_exactly(const ganz_files *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->list[i].name, name) == 0) return &f->list[i];
    return NULL;
}

/* In the folder that was entered, then above it. */
static file *find(const ganz_files *f, const char *name)
{
    char full[1024];
    snprintf(full, sizeof full, "%s%s", f->inside, name);
    file *const here = find_exactly(f, full);
    if (here || !f->inside[0]) return here;
    snprintf(full, sizeof full, "%s", f->inside);
    full[strlen(full) - 1] = '\0';
    char *const slash = strrchr(full, '/');
    const size_t above = slash ? (size_t)(slash + 1 - full) : 0;
    snprintf(full + above, sizeof full - above, "%s", name);
    return find_exactly(f, full);
}

bool ganz_files_have(const ganz_files *f, const char *name) { return find(f, name) != NULL; }

const char *ganz_files_ending(const ganz_files *f, const char *ending)
{
    for (size_t i = 0; i < f->count; i++)
        if (ends_in(f->list[i].name, ending)) return f->list[i].name;
    return NULL;
}

const char *ganz_files_starting(const ganz_files *f, const char *beginning, const char *ending)
{
    for (size_t i = 0; i < f->count; i++)
        if (strncmp(f->list[i].name, beginning, strlen(beginning)) == 0 && ends_in(f->list[i].name, ending))
            return f->list[i].name;
    return NULL;
}

static ganz_status read_member(ganz_files *f, file *m, ganz_error *err)
{
    size_t bytes;
    ganz_error why;
    if (ganz_zip_claim(f->zip, m->member, &bytes, &why) != GANZ_OK)
        return ganz_fail(err, why.status, "%s: %s", f->name, why.message);
    m->memory = ganz_alloc_large(bytes + 1);
    if (!m->memory) return out_of_memory(f, err);
    if (ganz_zip_read(f->zip, m->member, m->memory, &why) != GANZ_OK)
        return ganz_fail(err, why.status, "%s: %s", f->name, why.message);
    m->bytes = (ganz_bytes){(const unsigned char *)m->memory, bytes};
    return GANZ_OK;
}

static ganz_status read_from_folder(ganz_files *f, file *m, ganz_error *err)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", f->folder, m->name);
    GANZ_TRY(ganz_contents_read(&m->contents, full, err));
    m->bytes = (ganz_bytes){m->contents.data ? m->contents.data : (const unsigned char *)"", m->contents.bytes};
    return GANZ_OK;
}

ganz_status ganz_files_get(ganz_files *f, const char *name, ganz_bytes *bytes, ganz_error *err)
{
    file *const found = find(f, name);
    file *const m = found ? found : find_exactly(f, name);
    if (!m) return ganz_fail(err, GANZ_EFORMAT, "%s: there is no %s", f->name, name);
    if (!m->bytes.data) GANZ_TRY(f->zip ? read_member(f, m, err) : read_from_folder(f, m, err));
    *bytes = m->bytes;
    return GANZ_OK;
}
