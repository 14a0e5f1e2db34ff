/* Soft thresholding and the minimum-norm subgradient of the l1 term. */
#include "optimize/l1/l1.h"

#include <math.h>

double dni_l1_value(const double *l1, const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; l1 != NULL && i < n; i++) {
        sum += l1[i] * fabs(x[i]);
    }
    return sum;
}

double dni_l1_shrink(double a, double l) {
    return a > l ? a - l : a < -l ? a + l : isnan(a) ? a : 0;
}

double dni_l1_slope(double l, double x, double g) {
    return x > 0 ? g + l : x < 0 ? g - l : dni_l1_shrink(g, l);
}

void dni_l1_subgradient(const double *l1, const double *x, const double *gradient, size_t n,
                        double *out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = dni_l1_slope(l1 == NULL ? 0 : l1[i], x[i], gradient[i]);
    }
}
