/* The largest contributions to one score, by insertion into a short sorted list. */
#include "formats/writers/top_contributions.h"

#include <math.h>

static double size_of(double x) {
    return isfinite(x) ? fabs(x) : (double)INFINITY;
}

double top_contributions(const double *x, size_t n, size_t top, size_t *out) {
    size_t used = 0;
    double rest = 0;
    for (size_t j = 0; j < n; j++) {
        if (used == top) {
            if (top == 0 || !(size_of(x[j]) > size_of(x[out[top - 1]]))) {
                rest += x[j];
                continue;
            }
            rest += x[out[--used]];
        }
        size_t at = used++;
        for (; at > 0 && size_of(x[j]) > size_of(x[out[at - 1]]); at--) {
            out[at] = out[at - 1];
        }
        out[at] = j;
    }
    return rest;
}
