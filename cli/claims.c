/* Claims as files made with O_EXCL and touched by a thread. Ages are told by the clock of the file system, so that the
 * clocks of the machines need not agree. */
#include "claims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ganz_status failed(ganz_error *err, const char *path)
{
    err->status = GANZ_EIO;
    snprintf(err->message, sizeof err->message, "%.300s: %s", path, strerror(errno));
    return GANZ_EIO;
}

static double seconds_of(struct timespec time) { return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec; }

/* Makes the file, with the name of its owner for people who look; false: it is there already. One that cannot be
 * written would keep others waiting. */
static ganz_status make(const char *path, bool *made, ganz_error *err)
{
    char owner[320], host[256] = "";
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *made = file >= 0;
    if (file < 0) return errno == EEXIST ? GANZ_OK : failed(err, path);
    gethostname(host, sizeof host - 1);
    const int bytes = snprintf(owner, sizeof owner, "%s %lld\n", host, (long long)getpid());
    const bool good = write(file, owner, (size_t)bytes) == bytes;
    if (close(file) == 0 && good) return GANZ_OK;
    const ganz_status status = failed(err, path);
    unlink(path);
    *made = false;
    return status;
}

/* What the file system's clock says now: the time of a file that was just made. */
static bool clock_of(const char *path, double *now)
{
    char name[CLI_PATH];
    struct stat facts;
    if (snprintf(name, sizeof name, "%s.XXXXXX", path) >= (int)sizeof name) return false;
    const int file = mkstemp(name);
    if (file < 0) return false;
    const bool good = fstat(file, &facts) == 0;
    *now = good ? seconds_of(facts.st_mtim) : 0;
    close(file);
    unlink(name);
    return good;
}

/* Takes away a claim whose owner has not touched it for too long. */
static void remove_dead(const cli_claim *c)
{
    char dead[CLI_PATH];
    struct stat facts;
    double now;
    if (stat(c->path, &facts) != 0 || !clock_of(c->path, &now)) return;
    if (now - seconds_of(facts.st_mtim) < c->seconds) return;
    if (snprintf(dead, sizeof dead, "%s.dead-%lld", c->path, (long long)getpid()) >= (int)sizeof dead) return;
    if (rename(c->path, dead) == 0) unlink(dead); /* of several that try only one can */
}

/* A thread: touches the claim five times in the time after which it would be void. */
static void *touch(void *context)
{
    cli_claim *const c = context;
    pthread_mutex_lock(&c->lock);
    while (!c->ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const double at = seconds_of(until) + c->seconds / 5;
        until.tv_sec = (time_t)at;
        until.tv_nsec = (long)(1e9 * (at - (double)until.tv_sec));
        pthread_cond_timedwait(&c->ends, &c->lock, &until);
        if (!c->ended) utimensat(AT_FDCWD, c->path, NULL, 0);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

ganz_status cli_claim_take(cli_claim *c, const char *path, double seconds, ganz_error *err)
{
    *c = (cli_claim){.seconds = seconds};
    if (snprintf(c->path, sizeof c->path, "%s", path) >= (int)sizeof c->path) {
        errno = ENAMETOOLONG;
        return failed(err, path);
    }
    ganz_status status = make(path, &c->held, err);
    if (status == GANZ_OK && !c->held) {
        remove_dead(c);
        status = make(path, &c->held, err);
    }
    if (status != GANZ_OK || !c->held) return status;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->ends, NULL);
    if (pthread_create(&c->toucher, NULL, touch, c) == 0) return GANZ_OK;
    unlink(path);
    c->held = false;
    errno = EAGAIN;
    return failed(err, path);
}

void cli_claim_release(cli_claim *c)
{
    if (!c->held) return;
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_signal(&c->ends);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->toucher, NULL);
    pthread_cond_destroy(&c->ends);
    pthread_mutex_destroy(&c->lock);
    unlink(c->path);
    c->held = false;
}
