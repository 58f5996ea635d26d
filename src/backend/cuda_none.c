/* Stands in for the CUDA backend where the build has none. */
#include "backend/backend.h"

ganz_status ganz_cuda_backend_open(ganz_backend **be, int device, ganz_precision precision, ganz_error *err)
{
    *be = NULL;
    (void)device;
    (void)precision;
    return ganz_fail(err, GANZ_EUNSUPPORTED, "this build of ganz has no CUDA backend");
}

int ganz_cuda_devices(void) { return 0; }
