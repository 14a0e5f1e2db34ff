/* The passes have no branches and use SIMD vectors. Each lane keeps the first position of its
 * extreme value; the first of the equal extremes of all lanes is the result. Products, quotients
 * and sums are rounded separately, so that the results do not depend on the number of lanes. */
#include "learners/shared/smo/smo_passes.h"
#include "base/cpu.h"

#include <math.h>
#include <stdint.h>

/* A kernel row, or the difference of two kernel rows. */
struct rows {
    const double *i, *j; /* j NULL: i alone */
};

/* A variable with the largest decrease of the objective so far. */
struct choice {
    double gain;
    size_t at;
};

/* Returns twice the decrease of the objective; 0 for a variable that cannot be chosen. */
static inline double decrease(double low, double self, double row, double g_i, double self_i,
                              double floor) {
    const double b = g_i - low, curvature = self_i + self - 2 * row,
                 a = curvature > floor ? curvature : floor;
    return b > 0 ? b * b / a : 0;
}

/* ---- scalar ---- */
static void update_plain(double *up, double *low, struct rows rows, double step, size_t k,
                         size_t end, dni_smo_extremes *e) {
    for (; k < end; k++) {
        const double change = step * (rows.j == NULL ? rows.i[k] : rows.i[k] - rows.j[k]);
        up[k] -= change;
        low[k] -= change;
        if (up[k] > e->up) {
            e->up = up[k];
            e->up_at = k;
        }
        if (low[k] < e->low) {
            e->low = low[k];
            e->low_at = k;
        }
    }
}

static void partner_plain(const double *low, const double *self, const double *row, double g_i,
                          double self_i, double floor, size_t k, size_t end,
                          struct choice *choice) {
    for (; k < end; k++) {
        const double gain = decrease(low[k], self[k], row[k], g_i, self_i, floor);
        if (gain > choice->gain) {
            *choice = (struct choice){gain, k};
        }
    }
}

static void add_plain(double *sum, const double *row, double a, size_t k, size_t n) {
    for (; k < n; k++) {
        const double product = row[k] * a;
        sum[k] += product;
    }
}

static void add_single_plain(double *sum, const float *row, double a, size_t k, size_t n) {
    for (; k < n; k++) {
        const double product = (double)row[k] * a;
        sum[k] += product;
    }
}

/* ---- vectors ---- */
#if DNI_HAVE_X86
/* Selects a where the mask is set, otherwise b. It is a macro because functions compiled for older
 * processors cannot have arguments of these vector types. */
#define SELECT(mask_type, vector_type, mask, a, b)                                                 \
    ((vector_type)(((mask_type)(mask) & (mask_type)(a)) | (~(mask_type)(mask) & (mask_type)(b))))

/* Each function processes the variables from `k` on in whole vectors, and returns the position after
 * the last one. */
#define DEFINE_PASSES(suffix, target, lanes)                                                       \
    typedef DNI_VECTOR(double, 8 * lanes) vector_##suffix;                                         \
    typedef DNI_VECTOR(int64_t, 8 * lanes) mask_##suffix;                                          \
    typedef DNI_VECTOR(float, 4 * lanes) single_##suffix;                                          \
    target static size_t update_##suffix(double *up, double *low, struct rows rows, double step,   \
                                         size_t k, size_t end, dni_smo_extremes *e) {              \
        const vector_##suffix zero = {0};                                                          \
        vector_##suffix above = e->up - zero, below = e->low - zero;                               \
        mask_##suffix at = {0}, above_at = at - 1, below_at = at - 1;                              \
        for (int64_t l = 0; l < lanes; l++)                                                        \
            at[l] = (int64_t)k + l;                                                                \
        for (; k + lanes <= end; k += lanes, at += lanes) {                                        \
            vector_##suffix *u = (vector_##suffix *)(void *)(up + k),                              \
                            *l = (vector_##suffix *)(void *)(low + k);                             \
            vector_##suffix change = *(const vector_##suffix *)(const void *)(rows.i + k);         \
            if (rows.j != NULL)                                                                    \
                change -= *(const vector_##suffix *)(const void *)(rows.j + k);                    \
            change *= step;                                                                        \
            const vector_##suffix raised = *u - change, fallen = *l - change;                      \
            const mask_##suffix higher = raised > above, lower = fallen < below;                   \
            *u = raised;                                                                           \
            *l = fallen;                                                                           \
            above = SELECT(mask_##suffix, vector_##suffix, higher, raised, above);                 \
            below = SELECT(mask_##suffix, vector_##suffix, lower, fallen, below);                  \
            above_at = SELECT(mask_##suffix, mask_##suffix, higher, at, above_at);                 \
            below_at = SELECT(mask_##suffix, mask_##suffix, lower, at, below_at);                  \
        }                                                                                          \
        for (size_t l = 0; l < lanes; l++) {                                                       \
            if (above[l] > e->up || (above[l] == e->up && (size_t)above_at[l] < e->up_at)) {       \
                e->up = above[l];                                                                  \
                e->up_at = (size_t)above_at[l];                                                    \
            }                                                                                      \
            if (below[l] < e->low || (below[l] == e->low && (size_t)below_at[l] < e->low_at)) {    \
                e->low = below[l];                                                                 \
                e->low_at = (size_t)below_at[l];                                                   \
            }                                                                                      \
        }                                                                                          \
        return k;                                                                                  \
    }                                                                                              \
    target static size_t partner_##suffix(const double *low, const double *self,                   \
                                          const double *row, double g_i, double self_i,            \
                                          double floor, size_t k, size_t end,                      \
                                          struct choice *choice) {                                 \
        const vector_##suffix zero = {0}, least = floor - zero;                                    \
        vector_##suffix best = {0};                                                                \
        mask_##suffix at = {0}, best_at = at - 1;                                                  \
        for (int64_t l = 0; l < lanes; l++)                                                        \
            at[l] = (int64_t)k + l;                                                                \
        for (; k + lanes <= end; k += lanes, at += lanes) {                                        \
            const vector_##suffix b = g_i - *(const vector_##suffix *)(const void *)(low + k);     \
            vector_##suffix a = self_i + *(const vector_##suffix *)(const void *)(self + k) -      \
                                2 * *(const vector_##suffix *)(const void *)(row + k);             \
            a = SELECT(mask_##suffix, vector_##suffix, a > least, a, least);                       \
            const vector_##suffix gain =                                                           \
                SELECT(mask_##suffix, vector_##suffix, b > zero, b * b / a, zero);                 \
            const mask_##suffix better = gain > best;                                              \
            best = SELECT(mask_##suffix, vector_##suffix, better, gain, best);                     \
            best_at = SELECT(mask_##suffix, mask_##suffix, better, at, best_at);                   \
        }                                                                                          \
        for (size_t l = 0; l < lanes; l++)                                                         \
            if (best[l] > choice->gain ||                                                          \
                (best[l] == choice->gain && (size_t)best_at[l] < choice->at))                      \
                *choice = (struct choice){best[l], (size_t)best_at[l]};                            \
        return k;                                                                                  \
    }                                                                                              \
    target static size_t add_##suffix(double *sum, const double *row, double a, size_t n) {        \
        size_t k = 0;                                                                              \
        for (; k + lanes <= n; k += lanes) {                                                       \
            const vector_##suffix product = a * *(const vector_##suffix *)(const void *)(row + k); \
            *(vector_##suffix *)(void *)(sum + k) += product;                                      \
        }                                                                                          \
        return k;                                                                                  \
    }                                                                                              \
    target static size_t add_single_##suffix(double *sum, const float *row, double a, size_t n) {  \
        size_t k = 0;                                                                              \
        for (; k + lanes <= n; k += lanes) {                                                       \
            const vector_##suffix product =                                                        \
                a * __builtin_convertvector(*(const single_##suffix *)(const void *)(row + k),     \
                                            vector_##suffix);                                      \
            *(vector_##suffix *)(void *)(sum + k) += product;                                      \
        }                                                                                          \
        return k;                                                                                  \
    }

DEFINE_PASSES(avx2, DNI_FOR_AVX2, 4)
DEFINE_PASSES(avx512, DNI_FOR_AVX512, 8)

/* Calls the function for this processor, which returns the position where the plain one goes on. */
#define BEST(at, name, ...)                                                                        \
    do {                                                                                           \
        if (dni_cpu_is_avx512())                                                                   \
            (at) = name##_avx512(__VA_ARGS__);                                                     \
        else if (dni_cpu_is_avx2())                                                                \
            (at) = name##_avx2(__VA_ARGS__);                                                       \
    } while (0)
#else
#define BEST(at, name, ...) ((void)0)
#endif

/* ---- passes ---- */
dni_smo_extremes dni_smo_update(double *up, double *low, const double *row_i, const double *row_j,
                                double step, size_t first, size_t end) {
    const struct rows rows = {row_i, row_j};
    dni_smo_extremes e = {-(double)INFINITY, (double)INFINITY, SIZE_MAX, SIZE_MAX};
    BEST(first, update, up, low, rows, step, first, end, &e);
    update_plain(up, low, rows, step, first, end, &e);
    return e;
}

size_t dni_smo_partner(const double *low, const double *self, const double *row, double g_i,
                       double self_i, double floor, size_t first, size_t end) {
    struct choice choice = {0, SIZE_MAX};
    BEST(first, partner, low, self, row, g_i, self_i, floor, first, end, &choice);
    partner_plain(low, self, row, g_i, self_i, floor, first, end, &choice);
    return choice.at;
}

void dni_smo_add(double *sum, const double *row, double a, size_t n) {
    size_t k = 0;
    BEST(k, add, sum, row, a, n);
    add_plain(sum, row, a, k, n);
}

void dni_smo_add_single(double *sum, const float *row, double a, size_t n) {
    size_t k = 0;
    BEST(k, add_single, sum, row, a, n);
    add_single_plain(sum, row, a, k, n);
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
