/* The passes have no branches and use SIMD vectors. A pass computes the extreme value of each
 * chunk; the position is then searched in the chunk of the extreme. The lanes of a vector compute
 * maxima and minima only, so that the results do not depend on the number of lanes. */
#include "learners/shared/smo/smo_passes.h"
#include "base/cpu.h"

#include <math.h>
#include <stdint.h>

enum { CHUNK = 512 };

/* A kernel row, or the difference of two kernel rows. */
struct rows {
    const double *i, *j; /* j NULL: i alone */
};

static size_t find(const double *values, size_t first, size_t end, double value) {
    for (size_t k = first; k < end; k++) {
        if (values[k] == value) {
            return k;
        }
    }
    return SIZE_MAX;
}

/* Returns twice the decrease of the objective; 0 for a variable that cannot be chosen. */
static inline double decrease(double low, double self, double row, double g_i, double self_i,
                              double floor) {
    const double b = g_i - low, curvature = self_i + self - 2 * row,
                 a = curvature > floor ? curvature : floor;
    return b > 0 ? b * b / a : 0;
}

/* ---- scalar ---- */
DNI_ALWAYS_INLINE void update_plain(double *up, double *low, struct rows rows, double step,
                                    size_t k, size_t n, double *most, double *least) {
    for (; k < n; k++) {
        const double change = step * (rows.j == NULL ? rows.i[k] : rows.i[k] - rows.j[k]);
        up[k] -= change;
        low[k] -= change;
        *most = up[k] > *most ? up[k] : *most;
        *least = low[k] < *least ? low[k] : *least;
    }
}

DNI_ALWAYS_INLINE double decrease_plain(const double *low, const double *self, const double *row,
                                        double g_i, double self_i, double floor, size_t k, size_t n,
                                        double most) {
    for (; k < n; k++) {
        const double gain = decrease(low[k], self[k], row[k], g_i, self_i, floor);
        most = gain > most ? gain : most;
    }
    return most;
}

/* ---- vectors ---- */
#if DNI_HAVE_X86
/* Selects a where the mask is set, otherwise b. It is a macro because functions compiled for older
 * processors cannot have arguments of these vector types. */
#define SELECT(mask_type, vector_type, mask, a, b)                                                 \
    ((vector_type)(((mask_type)(mask) & (mask_type)(a)) | (~(mask_type)(mask) & (mask_type)(b))))

#define DEFINE_PASSES(suffix, target, lanes)                                                       \
    typedef DNI_VECTOR(double, 8 * lanes) vector_##suffix;                                         \
    typedef DNI_VECTOR(int64_t, 8 * lanes) mask_##suffix;                                          \
    target static void update_##suffix(double *up, double *low, struct rows rows, double step,     \
                                       size_t n, double *most, double *least) {                    \
        vector_##suffix above = *most - (vector_##suffix){0},                                      \
                        below = *least - (vector_##suffix){0};                                     \
        size_t k = 0;                                                                              \
        for (; k + lanes <= n; k += lanes) {                                                       \
            vector_##suffix *u = (vector_##suffix *)(void *)(up + k),                              \
                            *l = (vector_##suffix *)(void *)(low + k);                             \
            vector_##suffix change = *(const vector_##suffix *)(const void *)(rows.i + k);         \
            if (rows.j != NULL)                                                                    \
                change -= *(const vector_##suffix *)(const void *)(rows.j + k);                    \
            change *= step;                                                                        \
            const vector_##suffix raised = *u - change, fallen = *l - change;                      \
            *u = raised;                                                                           \
            *l = fallen;                                                                           \
            above = SELECT(mask_##suffix, vector_##suffix, raised > above, raised, above);         \
            below = SELECT(mask_##suffix, vector_##suffix, fallen < below, fallen, below);         \
        }                                                                                          \
        for (size_t i = 0; i < lanes; i++) {                                                       \
            *most = above[i] > *most ? above[i] : *most;                                           \
            *least = below[i] < *least ? below[i] : *least;                                        \
        }                                                                                          \
        update_plain(up, low, rows, step, k, n, most, least);                                      \
    }                                                                                              \
    target static double decrease_##suffix(const double *low, const double *self,                  \
                                           const double *row, double g_i, double self_i,           \
                                           double floor, size_t n) {                               \
        const vector_##suffix zero = {0}, least = floor - zero;                                    \
        vector_##suffix best = {0};                                                                \
        double most = 0;                                                                           \
        size_t k = 0;                                                                              \
        for (; k + lanes <= n; k += lanes) {                                                       \
            const vector_##suffix b = g_i - *(const vector_##suffix *)(const void *)(low + k);     \
            vector_##suffix a = self_i + *(const vector_##suffix *)(const void *)(self + k) -      \
                                2 * *(const vector_##suffix *)(const void *)(row + k);             \
            a = SELECT(mask_##suffix, vector_##suffix, a > least, a, least);                       \
            const vector_##suffix gain =                                                           \
                SELECT(mask_##suffix, vector_##suffix, b > zero, b * b / a, zero);                 \
            best = SELECT(mask_##suffix, vector_##suffix, gain > best, gain, best);                \
        }                                                                                          \
        for (size_t i = 0; i < lanes; i++)                                                         \
            most = best[i] > most ? best[i] : most;                                                \
        return decrease_plain(low, self, row, g_i, self_i, floor, k, n, most);                     \
    }

DEFINE_PASSES(avx2, DNI_FOR_AVX2, 4)
DEFINE_PASSES(avx512, DNI_FOR_AVX512, 8)
#endif

static void update_chunk(double *up, double *low, struct rows rows, double step, size_t n,
                         double *most, double *least) {
    *most = -(double)INFINITY;
    *least = (double)INFINITY;
#if DNI_HAVE_X86
    if (dni_cpu_is_avx512()) {
        update_avx512(up, low, rows, step, n, most, least);
        return;
    }
    if (dni_cpu_is_avx2()) {
        update_avx2(up, low, rows, step, n, most, least);
        return;
    }
#endif
    update_plain(up, low, rows, step, 0, n, most, least);
}

static double decrease_chunk(const double *low, const double *self, const double *row, double g_i,
                             double self_i, double floor, size_t n) {
#if DNI_HAVE_X86
    if (dni_cpu_is_avx512()) {
        return decrease_avx512(low, self, row, g_i, self_i, floor, n);
    }
    if (dni_cpu_is_avx2()) {
        return decrease_avx2(low, self, row, g_i, self_i, floor, n);
    }
#endif
    return decrease_plain(low, self, row, g_i, self_i, floor, 0, n, 0);
}

/* ---- passes ---- */
dni_smo_extremes dni_smo_update(double *up, double *low, const double *row_i, const double *row_j,
                                double step, size_t first, size_t end) {
    dni_smo_extremes e = {-(double)INFINITY, (double)INFINITY, SIZE_MAX, SIZE_MAX};
    size_t up_chunk = SIZE_MAX, low_chunk = SIZE_MAX;
    for (size_t at = first; at < end; at += CHUNK) {
        const size_t n = end - at < CHUNK ? end - at : CHUNK;
        double most, least;
        update_chunk(up + at, low + at,
                     (struct rows){row_i + at, row_j == NULL ? NULL : row_j + at}, step, n, &most,
                     &least);
        if (most > e.up) {
            e.up = most;
            up_chunk = at;
        }
        if (least < e.low) {
            e.low = least;
            low_chunk = at;
        }
    }
    if (up_chunk != SIZE_MAX) {
        e.up_at = find(up, up_chunk, end, e.up);
    }
    if (low_chunk != SIZE_MAX) {
        e.low_at = find(low, low_chunk, end, e.low);
    }
    return e;
}

size_t dni_smo_partner(const double *low, const double *self, const double *row, double g_i,
                       double self_i, double floor, size_t first, size_t end) {
    double best = 0;
    size_t chunk = SIZE_MAX, position = SIZE_MAX;
    for (size_t at = first; at < end; at += CHUNK) {
        const double here = decrease_chunk(low + at, self + at, row + at, g_i, self_i, floor,
                                           end - at < CHUNK ? end - at : CHUNK);
        if (here > best) {
            best = here;
            chunk = at;
        }
    }
    /* A SIMD division may differ from the scalar division in the last bit. The position is that of
     * the largest scalar value in the chunk. */
    best = -1;
    for (size_t k = chunk; chunk != SIZE_MAX && k < end && k < chunk + CHUNK; k++) {
        const double gain = decrease(low[k], self[k], row[k], g_i, self_i, floor);
        if (gain > best) {
            best = gain;
            position = k;
        }
    }
    return position;
}

size_t dni_smo_single(const double *up, const double *low, const double *self, double floor,
                      size_t n) {
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
