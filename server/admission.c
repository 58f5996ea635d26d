/* Overload begins with a request for which there is no room at all, lasts a second at least, and ends when few are
 * refused or none was for a second. */
#include "admission.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LASTS = 1;     /* seconds that an overload lasts at least, and that counts fade in */
static const double FEW = 0.2;     /* refused share of requests below which it is over */
static const double COMMON = 0.95; /* share of requests alone that are no slower than usual */

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double admission_patience(const admission *a)
{
    double sorted[ADMISSION_KEPT];
    if (a->kept == 0) return 0;
    memcpy(sorted, a->alone, (size_t)a->kept * sizeof *sorted);
    qsort(sorted, (size_t)a->kept, sizeof *sorted, by_size);
    return sorted[(int)(COMMON * (a->kept - 1))];
}

void admission_note_alone(admission *a, double seconds)
{
    a->alone[a->next] = seconds;
    a->next = (a->next + 1) % ADMISSION_KEPT;
    if (a->kept < ADMISSION_KEPT) a->kept++;
}

static void count(admission *a, bool refused, double now)
{
    const double fade = exp((a->counted - now) / LASTS);
    a->offered = a->offered * fade + 1;
    a->refused = a->refused * fade + (refused ? 1 : 0);
    a->counted = now;
    if (refused) a->last_refused = now;
}

static bool is_over(const admission *a, double now)
{
    if (now - a->since <= LASTS) return false;
    return a->refused < FEW * a->offered || now - a->last_refused > LASTS;
}

bool admission_admits(admission *a, const admission_load *l, double now)
{
    if (a->overloaded && is_over(a, now)) a->overloaded = false;
    const bool room = l->requests < l->max_requests && l->wait <= l->max_wait;
    if (!room && !a->overloaded) a->since = now;
    if (!room) a->overloaded = true;
    const bool admits = room && !(a->overloaded && l->turn > admission_patience(a));
    count(a, !admits, now);
    return admits;
}
