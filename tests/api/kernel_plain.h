/* Kernels by their definitions, one value after the other: the judge of what the daemon says. */
#ifndef TESTS_API_KERNEL_PLAIN_H
#define TESTS_API_KERNEL_PLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A kernel as a job has it, with a width where the data have told it. */
struct plain_kernel {
    const char *type, *metric;
    double gamma, coef0, degree, scale, width;
    bool normalize;
    double *inverse; /* mahalanobis: S⁻¹ [d × d]; the caller's */
};
/* `asked`: an object; what it does not say is as the catalogue has it. */
struct plain_kernel plain_kernel_of(const json_t *asked, double width);
double plain_kernel_value(const struct plain_kernel *kernel, const double *x, const double *z,
                          size_t d);

/* S⁻¹ of a positive definite S [d × d], by Gauss and Jordan. Lives until the test ends. */
double *plain_inverse(const double *s, size_t d);

#endif
