/* Kernels computed by their definitions, one value at a time: the reference for the daemon's
 * values. */
#ifndef TESTS_API_KERNEL_PLAIN_H
#define TESTS_API_KERNEL_PLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A kernel with the members of a job's `kernel`, and the width if training computes it. */
struct plain_kernel {
    const char *type, *metric;
    double gamma, coef0, degree, scale, width;
    bool normalize;
    double *inverse; /* mahalanobis: S⁻¹ [d × d]; owned by the caller */
};
/* `asked`: an object; a member that it lacks has the catalogue's default. */
struct plain_kernel plain_kernel_of(const json_t *asked, double width);
double plain_kernel_value(const struct plain_kernel *kernel, const double *x, const double *z,
                          size_t d);

/* Inverse of a positive definite S [d × d], by Gauss-Jordan elimination. Valid until the test
 * ends. */
double *plain_inverse(const double *s, size_t d);

#endif
