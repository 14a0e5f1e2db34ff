/* The kernels as functions of an inner product or a distance. */
#include "kernels/kernel_impl.h"

#include <float.h>
#include <math.h>

const char *const dni_kernel_types[] = {[DN_KERNEL_LINEAR] = "linear",
                                        [DN_KERNEL_POLYNOMIAL] = "polynomial",
                                        [DN_KERNEL_RBF] = "rbf",
                                        [DN_KERNEL_SIGMOID] = "sigmoid",
                                        [DN_KERNEL_MAHALANOBIS] = "mahalanobis",
                                        [DN_KERNEL_DISTANCE] = "distance",
                                        [DN_KERNEL_SHARED_WORDS] = "shared_words",
                                        [DN_KERNEL_SHARED_PATHS] = "shared_paths",
                                        [DN_KERNEL_PRECOMPUTED] = "precomputed",
                                        NULL};
const char *const dni_kernel_metrics[] = {
    [DN_METRIC_EUCLIDEAN] = "euclidean", [DN_METRIC_MANHATTAN] = "manhattan",
    [DN_METRIC_CHEBYSHEV] = "chebyshev", [DN_METRIC_COSINE] = "cosine",
    [DN_METRIC_EDIT] = "edit",           NULL};

const char *dn_kernel_type_name(dn_kernel_type type) {
    return dni_kernel_types[type];
}

const char *dn_kernel_metric_name(dn_metric metric) {
    return dni_kernel_metrics[metric];
}

dni_form dni_kernel_form(const dn_kernel *kernel) {
    static const dni_form of_metric[] = {DNI_FORM_SQUARE, DNI_FORM_MANHATTAN, DNI_FORM_CHEBYSHEV,
                                         DNI_FORM_COSINE, DNI_FORM_EDIT};
    switch (kernel->type) {
    case DN_KERNEL_RBF:
    case DN_KERNEL_MAHALANOBIS:
        return DNI_FORM_SQUARE;
    case DN_KERNEL_DISTANCE:
        return of_metric[kernel->metric];
    case DN_KERNEL_LINEAR:
    case DN_KERNEL_POLYNOMIAL:
    case DN_KERNEL_SIGMOID:
    case DN_KERNEL_SHARED_WORDS:
    case DN_KERNEL_SHARED_PATHS:
    case DN_KERNEL_PRECOMPUTED:
        break;
    }
    return DNI_FORM_PRODUCT;
}

/* Returns base^exponent by repeated squaring. Unlike pow on some platforms, it is exact for small
 * integers. */
static double power(double base, unsigned exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) {
            result *= base;
        }
        base *= base;
    }
    return result;
}

double dni_kernel_of_product(const dn_kernel *kernel, double product) {
    switch (kernel->type) {
    case DN_KERNEL_POLYNOMIAL:
        return power(kernel->gamma * product + kernel->coef0, kernel->degree);
    case DN_KERNEL_SIGMOID:
        return tanh(kernel->scale * product + kernel->coef0);
    case DN_KERNEL_LINEAR:
    case DN_KERNEL_RBF:
    case DN_KERNEL_MAHALANOBIS:
    case DN_KERNEL_DISTANCE:
    case DN_KERNEL_SHARED_WORDS:
    case DN_KERNEL_SHARED_PATHS:
    case DN_KERNEL_PRECOMPUTED:
        break;
    }
    return product;
}

double dni_kernel_of_distance(const dn_kernel *kernel, double distance) {
    if (kernel->type == DN_KERNEL_MAHALANOBIS) {
        return exp(-distance / 2);
    }
    if (kernel->type == DN_KERNEL_DISTANCE && kernel->metric == DN_METRIC_EUCLIDEAN) {
        distance = sqrt(distance);
    }
    return exp(-distance / kernel->width / kernel->width / 2);
}

/* Returns value/√(a b) for a, b > 0, without overflow of a b; exactly 1 if value = a = b. */
static double over_root(double value, double a, double b) {
    const double product = a * b;
    return product >= DBL_MIN && isfinite(product) ? value / sqrt(product)
                                                   : value / sqrt(a) / sqrt(b);
}

double dni_cosine_distance(double product, double square_x, double square_z) {
    if (!isfinite(square_x)) { /* ‖x‖² overflows: the angle is undefined */
        return (double)NAN;
    }
    const bool some_x = square_x >= DBL_MIN,
               some_z = square_z >= DBL_MIN; /* false: z counts as a row of zeros */
    if (!some_x || !some_z) {
        return some_x || some_z ? 1 : 0;
    }
    double distance = 1 - over_root(product, square_x, square_z);
    return distance < 0 ? 0 : distance;
}

double dni_kernel_normalized(double value, double self_x, double self_z) {
    if (!isfinite(self_x)) { /* K(x, x) overflows */
        return (double)NAN;
    }
    return self_x > 0 && self_z > 0 ? over_root(value, self_x, self_z) : 0;
}
