/* Writes archives of NumPy's arrays: a zip whose members are .npy files, not compressed. */
#ifndef GANZ_EXPORT_NPZ_H
#define GANZ_EXPORT_NPZ_H

#include "export/npy.h"

typedef struct ganz_npz ganz_npz;

/* The file appears under its name, whole, when ganz_npz_finish succeeds. */
ganz_status ganz_npz_open(ganz_npz **npz, const char *path, ganz_error *err);
/* Adds an array, whose lines lie end to end; its name is at most 200 bytes long. */
ganz_status ganz_npz_add(ganz_npz *npz, const char *name, const ganz_npy *array, ganz_error *err);
ganz_status ganz_npz_finish(ganz_npz **npz, ganz_error *err);
/* Closes without a file; nothing to do after finish. */
void ganz_npz_abandon(ganz_npz **npz);

#endif
