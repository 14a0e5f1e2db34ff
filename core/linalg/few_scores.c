/* Loops over registers: R rows × G scores of partial sums for the scores, G scores × C vectors of
 * columns for the gradient. The scores are divided into groups of at most MAX_GROUP, so that the
 * partial sums fit in the registers: 16 registers of AVX2, 32 of AVX-512. */
#include "linalg/few_scores.h"
#include "base/cpu.h"

#if DNI_HAVE_X86

enum {
    MAX_GROUP = 6,
    ROWS = 32 /* rows of one pass of the gradient: their columns stay in the first-level cache */
};

/* Returns the size of the groups into which n scores are divided, of nearly equal size. */
static size_t group_size(size_t n) {
    const size_t n_groups = (n + MAX_GROUP - 1) / MAX_GROUP;
    return (n + n_groups - 1) / n_groups;
}

/* Returns the scalar product over the columns from `first` on, which do not fill a vector. */
DNI_ALWAYS_INLINE double rest_of(const double *x, const double *w, size_t first, size_t d) {
    double sum = 0;
    for (size_t j = first; j < d; j++) {
        sum += x[j] * w[j];
    }
    return sum;
}

/* clang-format off */
/* Defines the loops for one kind of vectors.
 *
 *   suffix         of the names
 *   target         attribute of the functions
 *   vector, L      type of a vector, and number of its lanes
 *   load … sum     intrinsics
 *   R, C           rows of the scores, vectors of columns of the gradient */
#define DEFINE_LOOPS(suffix, target, vector, L, load, store, set1, zero, fma, R, C)                \
    DNI_ALWAYS_INLINE target double total_##suffix(vector v) {                                     \
        double lane[L], sum = 0;                                                                   \
        store(lane, v);                                                                            \
        DNI_UNROLL                                                                                 \
        for (size_t i = 0; i < L; i++) {                                                           \
            sum += lane[i];                                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    /* Adds G scores of n_rows rows, at most R, to scores. */                                      \
    DNI_ALWAYS_INLINE target void scores_##suffix(                                                 \
        const double *x, size_t stride, size_t n_rows, size_t d, const double *w, size_t width,    \
        const size_t G, double *scores, size_t n_scores) {                                         \
        vector sum[R][MAX_GROUP];                                                                  \
        size_t j = 0;                                                                              \
        DNI_UNROLL                                                                                 \
        for (size_t r = 0; r < R; r++) {                                                           \
            DNI_UNROLL                                                                             \
            for (size_t g = 0; g < G; g++) {                                                       \
                sum[r][g] = zero();                                                                \
            }                                                                                      \
        }                                                                                          \
        for (; j + L <= d; j += L) {                                                               \
            vector row[R];                                                                         \
            DNI_UNROLL                                                                             \
            for (size_t r = 0; r < R; r++) { /* absent rows: the last row again */                 \
                row[r] = load(x + (r < n_rows ? r : n_rows - 1) * stride + j);                     \
            }                                                                                      \
            DNI_UNROLL                                                                             \
            for (size_t g = 0; g < G; g++) {                                                       \
                const vector weight = load(w + g * width + j);                                     \
                DNI_UNROLL                                                                         \
                for (size_t r = 0; r < R; r++) {                                                   \
                    sum[r][g] = fma(row[r], weight, sum[r][g]);                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        DNI_UNROLL                                                                                 \
        for (size_t r = 0; r < R; r++) {                                                           \
            DNI_UNROLL                                                                             \
            for (size_t g = 0; g < G; g++) {                                                       \
                if (r < n_rows) {                                                                  \
                    scores[r * n_scores + g] +=                                                    \
                        total_##suffix(sum[r][g]) +                                                \
                        rest_of(x + r * stride, w + g * width, j, d);                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    /* Adds G rows of residualᵀ x to w, for M vectors of columns. */                               \
    DNI_ALWAYS_INLINE target void gradient_##suffix(                                               \
        const double *x, size_t stride, size_t n_rows, const double *residual, size_t n_scores,    \
        const size_t G, const size_t M, double *w, size_t width) {                                 \
        vector sum[MAX_GROUP][C];                                                                  \
        DNI_UNROLL                                                                                 \
        for (size_t g = 0; g < G; g++) {                                                           \
            DNI_UNROLL                                                                             \
            for (size_t m = 0; m < M; m++) {                                                       \
                sum[g][m] = load(w + g * width + m * L);                                           \
            }                                                                                      \
        }                                                                                          \
        for (size_t t = 0; t < n_rows; t++) {                                                      \
            vector row[C];                                                                         \
            DNI_UNROLL                                                                             \
            for (size_t m = 0; m < M; m++) {                                                       \
                row[m] = load(x + t * stride + m * L);                                             \
            }                                                                                      \
            DNI_UNROLL                                                                             \
            for (size_t g = 0; g < G; g++) {                                                       \
                const vector factor = set1(residual[t * n_scores + g]);                            \
                DNI_UNROLL                                                                         \
                for (size_t m = 0; m < M; m++) {                                                   \
                    sum[g][m] = fma(factor, row[m], sum[g][m]);                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        DNI_UNROLL                                                                                 \
        for (size_t g = 0; g < G; g++) {                                                           \
            DNI_UNROLL                                                                             \
            for (size_t m = 0; m < M; m++) {                                                       \
                store(w + g * width + m * L, sum[g][m]);                                           \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    /* Compiles the loops for a constant G. */                                                     \
    DEFINE_GROUP(suffix, target, L, R, C, 1)                                                       \
    DEFINE_GROUP(suffix, target, L, R, C, 2)                                                       \
    DEFINE_GROUP(suffix, target, L, R, C, 3)                                                       \
    DEFINE_GROUP(suffix, target, L, R, C, 4)                                                       \
    DEFINE_GROUP(suffix, target, L, R, C, 5)                                                       \
    DEFINE_GROUP(suffix, target, L, R, C, 6)                                                       \
    static const struct loops loops_##suffix = {                                                   \
        R,                                                                                         \
        {all_scores_##suffix##1, all_scores_##suffix##2, all_scores_##suffix##3,                   \
         all_scores_##suffix##4, all_scores_##suffix##5, all_scores_##suffix##6},                  \
        {all_gradient_##suffix##1, all_gradient_##suffix##2, all_gradient_##suffix##3,             \
         all_gradient_##suffix##4, all_gradient_##suffix##5, all_gradient_##suffix##6}};

#define DEFINE_GROUP(suffix, target, L, R, C, G)                                                   \
    target static void all_scores_##suffix##G(const double *x, size_t stride, size_t n_rows,       \
                                              size_t d, const double *w, size_t width,             \
                                              double *scores, size_t n_scores) {                   \
        if (n_rows == R) {                                                                         \
            scores_##suffix(x, stride, R, d, w, width, G, scores, n_scores);                       \
        } else {                                                                                   \
            scores_##suffix(x, stride, n_rows, d, w, width, G, scores, n_scores);                  \
        }                                                                                          \
    }                                                                                              \
    target static void all_gradient_##suffix##G(const double *x, size_t stride, size_t n_rows,     \
                                                size_t d, const double *residual,                  \
                                                size_t n_scores, double *w, size_t width,          \
                                                size_t *at) {                                      \
        size_t j = *at;                                                                            \
        if (d - j >= C * L) {                                                                      \
            gradient_##suffix(x + j, stride, n_rows, residual, n_scores, G, C, w + j, width);      \
            *at = j + C * L;                                                                       \
            return;                                                                                \
        }                                                                                          \
        for (; j + L <= d; j += L) {                                                               \
            gradient_##suffix(x + j, stride, n_rows, residual, n_scores, G, 1, w + j, width);      \
        }                                                                                          \
        for (; j < d; j++) {                                                                       \
            DNI_UNROLL                                                                             \
            for (size_t g = 0; g < G; g++) {                                                       \
                double sum = w[g * width + j];                                                     \
                for (size_t t = 0; t < n_rows; t++) {                                              \
                    sum += residual[t * n_scores + g] * x[t * stride + j];                         \
                }                                                                                  \
                w[g * width + j] = sum;                                                            \
            }                                                                                      \
        }                                                                                          \
        *at = d;                                                                                   \
    }
/* clang-format on */

/* The loops of one kind of vectors, by number of scores of a group, from 1. */
struct loops {
    size_t rows; /* R */
    /* Adds the scores of at most R rows. */
    void (*scores[MAX_GROUP])(const double *x, size_t stride, size_t n_rows, size_t d,
                              const double *w, size_t width, double *scores, size_t n_scores);
    /* Adds the columns *at … of the gradient, and sets *at to the first column that is left. */
    void (*gradient[MAX_GROUP])(const double *x, size_t stride, size_t n_rows, size_t d,
                                const double *residual, size_t n_scores, double *w, size_t width,
                                size_t *at);
};

DEFINE_LOOPS(avx2_, DNI_FOR_AVX2, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd,
             _mm256_setzero_pd, _mm256_fmadd_pd, 2, 2)
DEFINE_LOOPS(avx512_, DNI_FOR_AVX512, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd,
             _mm512_setzero_pd, _mm512_fmadd_pd, 4, 4)

bool dni_few_scores_supported(void) {
    return dni_cpu_is_avx2();
}

static const struct loops *loops_of_processor(void) {
    return dni_cpu_is_avx512() ? &loops_avx512_ : &loops_avx2_;
}

void dni_few_scores(dn_matrix x, const double *w, size_t width, size_t n_scores, double *scores) {
    const struct loops *loops = loops_of_processor();
    const size_t group = group_size(n_scores);
    for (size_t t = 0, n; t < x.n_rows; t += n) {
        n = x.n_rows - t < loops->rows ? x.n_rows - t : loops->rows;
        for (size_t k = 0, m; k < n_scores; k += m) {
            m = n_scores - k < group ? n_scores - k : group;
            loops->scores[m - 1](x.values + t * x.stride, x.stride, n, x.n_cols, w + k * width,
                                 width, scores + t * n_scores + k, n_scores);
        }
    }
}

void dni_few_gradient(dn_matrix x, const double *residual, size_t n_scores, double *w,
                      size_t width) {
    const struct loops *loops = loops_of_processor();
    const size_t group = group_size(n_scores);
    for (size_t t = 0, n; t < x.n_rows; t += n) {
        n = x.n_rows - t < ROWS ? x.n_rows - t : ROWS;
        for (size_t j = 0, next = 0; j < x.n_cols; j = next) {
            for (size_t k = 0, m; k < n_scores; k += m) {
                m = n_scores - k < group ? n_scores - k : group;
                next = j;
                loops->gradient[m - 1](x.values + t * x.stride, x.stride, n, x.n_cols,
                                       residual + t * n_scores + k, n_scores, w + k * width, width,
                                       &next);
            }
        }
    }
}

#else

bool dni_few_scores_supported(void) {
    return false;
}

void dni_few_scores(dn_matrix x, const double *w, size_t width, size_t n_scores, double *scores) {
    for (size_t t = 0; t < x.n_rows; t++) {
        for (size_t k = 0; k < n_scores; k++) {
            for (size_t j = 0; j < x.n_cols; j++) {
                scores[t * n_scores + k] += x.values[t * x.stride + j] * w[k * width + j];
            }
        }
    }
}

void dni_few_gradient(dn_matrix x, const double *residual, size_t n_scores, double *w,
                      size_t width) {
    for (size_t t = 0; t < x.n_rows; t++) {
        for (size_t k = 0; k < n_scores; k++) {
            for (size_t j = 0; j < x.n_cols; j++) {
                w[k * width + j] += residual[t * n_scores + k] * x.values[t * x.stride + j];
            }
        }
    }
}

#endif
