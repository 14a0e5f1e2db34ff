/* Passes without branches, in lanes that compilers make vectors of; which variable is meant is looked up in the best chunk afterwards. */
#include "learners/smo_passes.h"

#include <math.h>
#include <stdint.h>

enum { LANES = 8, CHUNK = 512 };

struct lanes {
    double at[LANES];
};

static struct lanes all(double value) {
    struct lanes l;
    for (size_t i = 0; i < LANES; i++)
        l.at[i] = value;
    return l;
}

static double greatest(const struct lanes *l) {
    double most = l->at[0];
    for (size_t i = 1; i < LANES; i++)
        most = l->at[i] > most ? l->at[i] : most;
    return most;
}

static double least_of(const struct lanes *l) {
    double least = l->at[0];
    for (size_t i = 1; i < LANES; i++)
        least = l->at[i] < least ? l->at[i] : least;
    return least;
}

static size_t find(const double *values, size_t first, size_t end, double value) {
    for (size_t k = first; k < end; k++)
        if (values[k] == value)
            return k;
    return SIZE_MAX;
}

static inline void update_one(double *restrict up, double *restrict low, double change, double *restrict most, double *restrict least) {
    const double u = *up - change, l = *low - change;
    *up = u;
    *low = l;
    *most = u > *most ? u : *most;
    *least = l < *least ? l : *least;
}

static void update_chunk(double *restrict up, double *restrict low, const double *restrict row_i, const double *restrict row_j, double step,
                         size_t n, double *out_most, double *out_least) {
    struct lanes most = all(-(double)INFINITY), least = all((double)INFINITY);
    size_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (size_t i = 0; i < LANES; i++)
            update_one(&up[k + i], &low[k + i], step * (row_i[k + i] - row_j[k + i]), &most.at[i], &least.at[i]);
    for (; k < n; k++)
        update_one(&up[k], &low[k], step * (row_i[k] - row_j[k]), &most.at[0], &least.at[0]);
    *out_most = greatest(&most);
    *out_least = least_of(&least);
}

static void update_chunk_alone(double *restrict up, double *restrict low, const double *restrict row, double step, size_t n,
                               double *out_most, double *out_least) {
    struct lanes most = all(-(double)INFINITY), least = all((double)INFINITY);
    for (size_t k = 0; k < n; k++)
        update_one(&up[k], &low[k], step * row[k], &most.at[k % LANES], &least.at[k % LANES]);
    *out_most = greatest(&most);
    *out_least = least_of(&least);
}

dni_smo_extremes dni_smo_update(double *up, double *low, const double *row_i, const double *row_j, double step, size_t first, size_t end) {
    dni_smo_extremes e = {-(double)INFINITY, (double)INFINITY, SIZE_MAX, SIZE_MAX};
    size_t up_chunk = SIZE_MAX, low_chunk = SIZE_MAX;
    for (size_t at = first; at < end; at += CHUNK) {
        const size_t n = end - at < CHUNK ? end - at : CHUNK;
        double most, least;
        if (row_j != NULL)
            update_chunk(up + at, low + at, row_i + at, row_j + at, step, n, &most, &least);
        else
            update_chunk_alone(up + at, low + at, row_i + at, step, n, &most, &least);
        if (most > e.up) {
            e.up = most;
            up_chunk = at;
        }
        if (least < e.low) {
            e.low = least;
            low_chunk = at;
        }
    }
    if (up_chunk != SIZE_MAX)
        e.up_at = find(up, up_chunk, end, e.up);
    if (low_chunk != SIZE_MAX)
        e.low_at = find(low, low_chunk, end, e.low);
    return e;
}

/* What the objective falls by, twice; 0 for what cannot be chosen. */
static inline double fall(double low, double self, double row, double g_i, double self_i, double floor) {
    const double b = g_i - low, curvature = self_i + self - 2 * row, a = curvature > floor ? curvature : floor;
    const double gain = b * b / a;
    return b > 0 ? gain : 0;
}

size_t dni_smo_partner(const double *low, const double *self, const double *row, double g_i, double self_i, double floor, size_t first,
                       size_t end) {
    double best = 0;
    size_t chunk = SIZE_MAX;
    for (size_t at = first; at < end; at += CHUNK) {
        const size_t stop = end - at < CHUNK ? end : at + CHUNK;
        struct lanes most = all(0);
        size_t k = at;
        for (; k + LANES <= stop; k += LANES)
            for (size_t i = 0; i < LANES; i++) {
                const double gain = fall(low[k + i], self[k + i], row[k + i], g_i, self_i, floor);
                most.at[i] = gain > most.at[i] ? gain : most.at[i];
            }
        for (; k < stop; k++) {
            const double gain = fall(low[k], self[k], row[k], g_i, self_i, floor);
            most.at[0] = gain > most.at[0] ? gain : most.at[0];
        }
        const double here = greatest(&most);
        if (here > best) {
            best = here;
            chunk = at;
        }
    }
    for (size_t k = chunk; chunk != SIZE_MAX && k < end; k++)
        if (fall(low[k], self[k], row[k], g_i, self_i, floor) == best)
            return k;
    return SIZE_MAX;
}

size_t dni_smo_single(const double *up, const double *low, const double *self, double floor, size_t n) {
    double best = 0;
    size_t at = SIZE_MAX;
    for (size_t k = 0; k < n; k++) {
        const double g = up[k] > 0 ? up[k] : low[k] < 0 ? low[k] : 0;
        const double gain = g * g / (self[k] > floor ? self[k] : floor);
        if (gain > best) {
            best = gain;
            at = k;
        }
    }
    return at;
}
