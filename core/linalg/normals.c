/* One loop for all processors, compiled for vectors of 16, 32 and 64 bytes. Eight partial sums are
 * one vector of 64 bytes, two of 32 bytes, or four of 16 bytes. Products and additions are rounded
 * separately, so that all versions compute the same bits. */
#include "linalg/normals.h"
#include "base/cpu.h"

enum { LANES = 8 };

/* Adds the squares of the features that do not fill a vector, then the partial sums. */
DNI_ALWAYS_INLINE double end_sum(const double *x, const double *mean, const double *inverse,
                                 size_t j, size_t n, double sum[LANES]) {
    for (size_t i = 0; j < n; i++, j++) {
        const double z = (x[j] - mean[j]) * inverse[j], square = z * z;
        sum[i] += square;
    }
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

#if DNI_HAVE_X86
/* clang-format off */
/* bytes: size of a vector of the processor. */
#define DEFINE_SUBTRACT(name, target, bytes)                                                       \
    typedef DNI_VECTOR(double, bytes) name##_vector;                                               \
    target static void name(const double *x, const double *mean, const double *inverse, size_t n,  \
                            size_t stride, size_t n_classes, double *out) {                        \
        enum { WIDTH = (bytes) / 8, N = LANES / WIDTH };                                           \
        for (size_t k = 0; k < n_classes; k++, mean += stride, inverse += stride) {                \
            name##_vector sums[N];                                                                 \
            double sum[LANES];                                                                     \
            size_t j = 0;                                                                          \
            DNI_UNROLL                                                                             \
            for (size_t i = 0; i < N; i++) {                                                       \
                sums[i] = (name##_vector){0};                                                      \
            }                                                                                      \
            for (; j + LANES <= n; j += LANES) {                                                   \
                DNI_UNROLL                                                                         \
                for (size_t i = 0; i < N; i++) {                                                   \
                    const size_t at = j + i * WIDTH;                                               \
                    const name##_vector z =                                                        \
                        (*(const name##_vector *)(const void *)(x + at) -                          \
                         *(const name##_vector *)(const void *)(mean + at)) *                      \
                        *(const name##_vector *)(const void *)(inverse + at);                      \
                    const name##_vector square = z * z;                                            \
                    sums[i] += square;                                                             \
                }                                                                                  \
            }                                                                                      \
            DNI_UNROLL                                                                             \
            for (size_t i = 0; i < N; i++) {                                                       \
                *(name##_vector *)(void *)(sum + i * WIDTH) = sums[i];                             \
            }                                                                                      \
            out[k] -= 0.5 * end_sum(x, mean, inverse, j, n, sum);                                  \
        }                                                                                          \
    }
/* clang-format on */

DEFINE_SUBTRACT(subtract_plain, , 16)
DEFINE_SUBTRACT(subtract_avx2, DNI_FOR_AVX2, 32)
DEFINE_SUBTRACT(subtract_avx512, DNI_FOR_AVX512, 64)
#else
static void subtract_plain(const double *x, const double *mean, const double *inverse, size_t n,
                           size_t stride, size_t n_classes, double *out) {
    for (size_t k = 0; k < n_classes; k++, mean += stride, inverse += stride) {
        double sum[LANES] = {0};
        size_t j = 0;
        for (; j + LANES <= n; j += LANES) {
            for (size_t i = 0; i < LANES; i++) {
                const double z = (x[j + i] - mean[j + i]) * inverse[j + i], square = z * z;
                sum[i] += square;
            }
        }
        out[k] -= 0.5 * end_sum(x, mean, inverse, j, n, sum);
    }
}
#endif

void dni_subtract_half_squares(const double *x, const double *mean, const double *inverse, size_t n,
                               size_t stride, size_t n_classes, double *out) {
#if DNI_HAVE_X86
    if (dni_cpu_is_avx512()) {
        subtract_avx512(x, mean, inverse, n, stride, n_classes, out);
        return;
    }
    if (dni_cpu_is_avx2()) {
        subtract_avx2(x, mean, inverse, n, stride, n_classes, out);
        return;
    }
#endif
    subtract_plain(x, mean, inverse, n, stride, n_classes, out);
}
