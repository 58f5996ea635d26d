/* Statuses and their sentences, flags that ask for a stop, and the end of a broken assertion. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/surroundings.h"
#include "base/utf8.h"

const char *ganz_version(void) { return GANZ_VERSION; }

const char *ganz_status_name(ganz_status status)
{
    static const char *const names[] = {
        [GANZ_OK] = "ok",
        [GANZ_EINVAL] = "invalid argument",
        [GANZ_ENOMEM] = "out of memory",
        [GANZ_EIO] = "input or output failed",
        [GANZ_EFORMAT] = "malformed file",
        [GANZ_EVERSION] = "unknown version",
        [GANZ_ELIMIT] = "limit exceeded",
        [GANZ_EUNSUPPORTED] = "not supported here",
        [GANZ_ECUDA] = "GPU failure",
        [GANZ_ESTOPPED] = "stopped",
        [GANZ_EPIPE] = "reader gone",
        [GANZ_EBUSY] = "busy",
        [GANZ_ETIMEOUT] = "out of time",
    };
    const size_t at = (size_t)status;
    return at < GANZ_COUNT(names) ? names[at] : "unknown status";
}

/* A sentence stays one line and gives a terminal no orders, whatever bytes a name in it had. */
static void flatten(char *message)
{
    unsigned char before = 0;
    for (unsigned char *s = (unsigned char *)message; *s; s++) before = *s = ganz_harmless(before, *s);
}

/* The arguments may point into err->message itself. */
static void __attribute__((format(printf, 2, 0))) put_message(ganz_error *err, const char *format, va_list args)
{
    char message[sizeof err->message];
    vsnprintf(message, sizeof message, format, args);
    flatten(message);
    memcpy(err->message, message, sizeof message);
}

ganz_status ganz_fail(ganz_error *err, ganz_status status, const char *format, ...)
{
    GANZ_PLAIN_NUMBERS;
    if (!err) return status;
    va_list args;
    va_start(args, format);
    put_message(err, format, args);
    va_end(args);
    err->status = status;
    err->line = 0;
    return status;
}

ganz_status ganz_fail_line(ganz_error *err, ganz_status status, long long line, const char *format, ...)
{
    GANZ_PLAIN_NUMBERS;
    if (!err) return status;
    va_list args;
    va_start(args, format);
    put_message(err, format, args);
    va_end(args);
    err->status = status;
    err->line = line;
    return status;
}

ganz_status ganz_fail_errno(ganz_error *err, const char *what, const char *path)
{
    const int code = errno;
    const ganz_status status = code == ENOMEM ? GANZ_ENOMEM : code == EPIPE ? GANZ_EPIPE : GANZ_EIO;
    return ganz_fail(err, status, "cannot %s %s: %s", what, path, strerror(code));
}

/* Atomic without locks, so that a signal handler may set a flag that another thread looks at. Sequentially consistent:
 * results that were written before a flag was set are seen by every thread that sees it set. */
void ganz_flag_set(ganz_flag *flag) { __atomic_store_n(&flag->set, 1, __ATOMIC_SEQ_CST); }
void ganz_flag_clear(ganz_flag *flag) { __atomic_store_n(&flag->set, 0, __ATOMIC_SEQ_CST); }
bool ganz_flag_is_set(const ganz_flag *flag) { return flag && __atomic_load_n(&flag->set, __ATOMIC_SEQ_CST) != 0; }

void ganz_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
