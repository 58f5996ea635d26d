/* The most that one core can do with a route's instructions when they touch registers only. */
#ifndef GANZ_BENCH_PEAK_H
#define GANZ_BENCH_PEAK_H

/* GOP/s of the route of that name; 0 where it is not known. Best of several short runs. */
double bench_peak(const char *route);

#endif
