/* A file without a name until it is whole, so that nothing stays of a killed process; where the file system knows no
 * such thing, a file with a temporary name. A lock tells the file of a living process from one that was left behind. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ending[] = ".tmp.";
enum { LETTERS = 6, ATTEMPTS = 100 };

static ganz_status no_memory(const char *name, ganz_error *err)
{
    return ganz_fail(err, GANZ_ENOMEM, "%s: out of memory", name);
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Other letters at the end of the temporary name. */
static bool change_letters(char *temporary)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char random[LETTERS];
    if (getentropy(random, sizeof random) != 0) return false;
    char *const end = temporary + strlen(temporary) - LETTERS;
    for (int i = 0; i < LETTERS; i++) end[i] = letters[random[i] % (sizeof letters - 1)];
    return true;
}

static ganz_status make_names(ganz_replacement *f, const char *name, ganz_error *err)
{
    char *const real_path =
        realpath(name, NULL); /* through a symbolic link it is the file behind it that is replaced */
    const char *const target = real_path ? real_path : name;
    const size_t bytes = strlen(target) + sizeof ending + LETTERS;
    f->path = ganz_strdup(target);
    f->temporary = ganz_alloc(bytes, 1);
    if (f->temporary) snprintf(f->temporary, bytes, "%s%sXXXXXX", target, ending);
    free(real_path);
    if (!f->path || !f->temporary) return no_memory(name, err);
    struct stat info; /* a name too long is found out now, and not when the work is done */
    if (!change_letters(f->temporary) || (lstat(f->temporary, &info) != 0 && errno != ENOENT))
        return ganz_fail_errno(err, "create", name);
    return GANZ_OK;
}

/* The folder of a path; the caller closes it. */
static int open_folder(const char *path, int flags)
{
    char *const copy = ganz_strdup(path);
    const int fd = copy ? open(dirname(copy), flags | O_CLOEXEC, 0666) : -1;
    if (!copy) errno = ENOMEM;
    ganz_free(copy);
    return fd;
}

/* ---- what was left behind ----------------------------------------------------------------------- */

static bool is_leftover(const char *name, const char *stem)
{
    const size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && strncmp(name + n, ending, sizeof ending - 1) == 0 &&
           strlen(name + n) == sizeof ending - 1 + LETTERS;
}

/* Whoever still writes to it holds its lock. */
static void remove_unlocked(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat info;
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(folder, name, 0);
    close(fd);
}

/* Files of killed processes that were to become this one. */
static void sweep(const char *path)
{
    char *const copy = ganz_strdup(path);
    const int fd = copy ? open_folder(path, O_RDONLY | O_DIRECTORY) : -1;
    DIR *const folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder) {
        const char *const stem = basename(copy);
        for (const struct dirent *entry; (entry = readdir(folder));)
            if (is_leftover(entry->d_name, stem)) remove_unlocked(dirfd(folder), entry->d_name);
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
    ganz_free(copy);
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* How a file without a name is called meanwhile. */
static void name_handle(char handle[32], int fd) { snprintf(handle, 32, "/proc/self/fd/%d", fd); }

static bool open_nameless(ganz_replacement *f)
{
#ifdef O_TMPFILE
    char handle[32];
    f->fd = open_folder(f->path, O_TMPFILE | O_RDWR);
    if (f->fd < 0) return false;
    (void)flock(f->fd, LOCK_EX | LOCK_NB);
    name_handle(handle, f->fd);
    if (access(handle, F_OK) == 0) return true; /* there is a /proc to name it by */
    close(f->fd);
    f->fd = -1;
#endif
    return false;
}

/* Between its creation and its lock somebody may have taken it for a leftover. */
static bool lock_named(int fd)
{
    struct stat info;
    (void)flock(fd, LOCK_EX | LOCK_NB);
    return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

static ganz_status open_named(ganz_replacement *f, const char *name, ganz_error *err)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST) return ganz_fail_errno(err, "create", name);
        f->named = f->fd >= 0 && lock_named(f->fd);
        if (f->named) return GANZ_OK;
        if (f->fd >= 0) close(f->fd);
        f->fd = -1;
        if (!change_letters(f->temporary)) return ganz_fail_errno(err, "create", name);
    }
    return ganz_fail(err, GANZ_EIO, "cannot create %s: no temporary name beside it is free", name);
}

/* Owner first: a change of it takes set-user-id away. Who may not give a file away keeps it. */
static void take_after(int fd, const char *path)
{
    struct stat old, new;
    if (stat(path, &old) != 0 || fstat(fd, &new) != 0) return;
    bool same = old.st_uid == new.st_uid &&old.st_gid == new.st_gid;
    if (!same) same = fchown(fd, old.st_uid, old.st_gid) == 0;
    (void)fchmod(fd, old.st_mode & (same ? 07777 : 0777));
}

ganz_status ganz_replacement_open(ganz_replacement *f, const char *name, ganz_error *err)
{
    *f = (ganz_replacement){.fd = -1};
    GANZ_TRY(make_names(f, name, err));
    sweep(f->path);
    if (!open_nameless(f)) GANZ_TRY(open_named(f, name, err));
    take_after(f->fd, f->path);
    return GANZ_OK;
}

/* ---- the end ------------------------------------------------------------------------------------ */

static bool link_as(const ganz_replacement *f, const char *path)
{
    char handle[32];
    name_handle(handle, f->fd);
    return linkat(AT_FDCWD, handle, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* A link gives a name that is free, a rename also one that is not: then the name is the temporary one for a moment. */
static ganz_status give_name(ganz_replacement *f, const char *name, ganz_error *err)
{
    if (!f->named) {
        if (link_as(f, f->path)) return GANZ_OK;
        if (errno != EEXIST || !link_as(f, f->temporary)) return ganz_fail_errno(err, "create", name);
        f->named = true;
    }
    if (rename(f->temporary, f->path) != 0) return ganz_fail_errno(err, "replace", name);
    f->named = false;
    return GANZ_OK;
}

static ganz_status finish_in(ganz_replacement *f, int folder, const char *name, ganz_error *err)
{
    if (fsync(f->fd) != 0) return ganz_fail_errno(err, "write", name);
    GANZ_TRY(give_name(f, name, err));
    /* A name is durable only once its folder is. Some file systems cannot sync a folder and say EINVAL: nothing more
     * can be done there. */
    if (fsync(folder) != 0 && errno != EINVAL) return ganz_fail_errno(err, "sync the folder of", name);
    return GANZ_OK;
}

ganz_status ganz_replacement_finish(ganz_replacement *f, const char *name, ganz_error *err)
{
    const int folder = open_folder(f->path, O_RDONLY | O_DIRECTORY); /* what can fail without a disk fails first */
    if (folder < 0) return ganz_fail_errno(err, "open the folder of", name);
    const ganz_status status = finish_in(f, folder, name, err);
    close(folder);
    return status;
}

void ganz_replacement_close(ganz_replacement *f)
{
    if (f->named) unlink(f->temporary);
    if (f->fd >= 0) close(f->fd);
    ganz_free(f->temporary);
    ganz_free(f->path);
    *f = (ganz_replacement){.fd = -1};
}
