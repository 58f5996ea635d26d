/* ganz: integer Transformer translation. What every user of the library needs first.
 *
 * Conventions of all public headers:
 *   - A call that can fail returns a ganz_status and takes a ganz_error last; the error may be NULL.
 *   - open(&thing, ...) gives ownership to the caller; close(&thing) ends it and sets it to NULL.
 *     Closing NULL is fine.
 *   - Strings are UTF-8 and carry their length where they may hold any byte.
 *   - The library never prints and never exits.
 */
#ifndef GANZ_GANZ_H
#define GANZ_GANZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GANZ_API __attribute__((visibility("default")))
#else
#define GANZ_API
#endif

typedef enum ganz_status {
    GANZ_OK = 0,
    GANZ_EINVAL,       /* an argument or option makes no sense */
    GANZ_ENOMEM,       /* out of memory */
    GANZ_EIO,          /* the system refused to read or write */
    GANZ_EFORMAT,      /* a file does not hold what it should */
    GANZ_EVERSION,     /* a file is of a version this build does not know */
    GANZ_ELIMIT,       /* larger than a stated limit */
    GANZ_EUNSUPPORTED, /* this build or machine cannot do it */
    GANZ_ECUDA,        /* the GPU failed */
    GANZ_ESTOPPED      /* stopped on request */
} ganz_status;

/* A status and one sentence for a person, without a trailing newline. */
typedef struct ganz_error {
    ganz_status status;
    char message[384];
} ganz_error;

/* "invalid argument", "out of memory", ...; never NULL. */
GANZ_API const char *ganz_status_name(ganz_status status);

/* "0.1.0" */
GANZ_API const char *ganz_version(void);

/* ---- models ------------------------------------------------------------------------------------- */

/* A trained model: network, parameters, vocabulary. Immutable: any number of threads may share one. */
typedef struct ganz_model ganz_model;

/* Opens a model file. All of it is checked before any of it is used. */
GANZ_API ganz_status ganz_model_open(ganz_model **model, const char *path, ganz_error *err);
/* To be closed after all its translators. */
GANZ_API void ganz_model_close(ganz_model **model);

#ifdef __cplusplus
}
#endif
#endif
