/* Plain loops instead of BLAS: vectors are short, and the order of additions must be the same on
 * all machines. */
#include "linalg/vector.h"

#include <math.h>

double dni_dot(const double *a, const double *b, size_t n) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++) {
        s0 += a[i] * b[i];
    }
    return (s0 + s1) + (s2 + s3);
}

double dni_square_distance(const double *a, const double *b, size_t n) {
    double sum[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        double step = a[i] - b[i];
        sum[i % 4] += step * step;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void dni_axpy(double s, const double *x, double *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] += s * x[i];
    }
}

double dni_norm(const double *a, size_t n) {
    double largest = dni_max_abs(a, n);
    if (largest == 0 || !isfinite(largest)) {
        return largest;
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double q = a[i] / largest;
        sum += q * q;
    }
    return largest * sqrt(sum);
}

double dni_max_abs(const double *a, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double m = fabs(a[i]);
        if (isnan(m)) {
            return m;
        }
        if (m > largest) {
            largest = m;
        }
    }
    return largest;
}

bool dni_all_finite(const double *a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i])) {
            return false;
        }
    }
    return true;
}
