/* Saves and restores what belongs to the calling thread alone: setlocale and the other threads see nothing of it. */
#include "base/surroundings.h"

void ganz_surroundings_set(ganz_surroundings *saved)
{
    (void)fegetenv(&saved->arithmetic);
    (void)fesetenv(FE_DFL_ENV);
    saved->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* there from the start: takes no memory in glibc */
    saved->before = saved->plain ? uselocale(saved->plain) : (locale_t)0;
}

void ganz_surroundings_restore(ganz_surroundings *saved)
{
    if (saved->plain) {
        (void)uselocale(saved->before);
        freelocale(saved->plain);
    }
    (void)fesetenv(&saved->arithmetic);
}
