/* The largest contributions to one score. They are kept in a heap with the least of them at its
 * root, and sorted at the end. Of equal ones those that come first are kept. */
#include "formats/writers/top_contributions.h"

#include <math.h>
#include <stdbool.h>

static double size_of(double x) {
    return isfinite(x) ? fabs(x) : (double)INFINITY;
}

/* Whether contribution i comes before j in the result. */
static bool precedes(const double *x, size_t i, size_t j) {
    const double a = size_of(x[i]), b = size_of(x[j]);
    return a > b || (a == b && i < j);
}

/* Moves heap[at] of n down until its children precede it. */
static void sift_down(const double *x, size_t *heap, size_t n, size_t at) {
    const size_t moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && precedes(x, heap[child], heap[child + 1])) {
            child++;
        }
        if (precedes(x, heap[child], moved)) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

double top_contributions(const double *x, size_t n, size_t top, size_t *out) {
    const size_t used = n < top ? n : top;
    double rest = 0;
    for (size_t j = 0; j < used; j++) {
        out[j] = j;
    }
    for (size_t at = used / 2; at-- > 0;) {
        sift_down(x, out, used, at);
    }
    for (size_t j = used; j < n; j++) {
        if (used == 0 || !precedes(x, j, out[0])) {
            rest += x[j];
            continue;
        }
        rest += x[out[0]];
        out[0] = j;
        sift_down(x, out, used, 0);
    }
    for (size_t left = used; left > 1; left--) { /* the least of the rest to its end */
        const size_t least = out[0];
        out[0] = out[left - 1];
        out[left - 1] = least;
        sift_down(x, out, left - 1, 0);
    }
    return rest;
}
