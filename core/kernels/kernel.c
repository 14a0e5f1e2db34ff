/* Kernels of inner products and of distances. */
#include "kernels/kernel.h"

#include <math.h>

dni_form dni_kernel_form(const dn_kernel *kernel) {
    static const dni_form of_metric[] = {DNI_FORM_SQUARE, DNI_FORM_MANHATTAN, DNI_FORM_CHEBYSHEV, DNI_FORM_COSINE, DNI_FORM_EDIT};
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

/* Squaring and multiplying: exact for small integers, unlike pow on some machines. */
static double power(double base, unsigned exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            result *= base;
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
    if (kernel->type == DN_KERNEL_MAHALANOBIS)
        return exp(-distance / 2);
    if (kernel->type == DN_KERNEL_DISTANCE && kernel->metric == DN_METRIC_EUCLIDEAN)
        distance = sqrt(distance);
    return exp(-distance / kernel->width / kernel->width / 2);
}

double dni_cosine_distance(double product, double square_x, double square_z) {
    if (!(square_x > 0) || !(square_z > 0))
        return square_x > 0 || square_z > 0 ? 1 : 0;
    double distance = 1 - product / sqrt(square_x * square_z);
    return distance > 0 ? distance : 0;
}

double dni_kernel_normalized(double value, double self_x, double self_z) {
    if (!isfinite(self_x)) /* a row far beyond the points */
        return (double)NAN;
    return self_x > 0 && self_z > 0 ? value / sqrt(self_x * self_z) : 0;
}
