/* A kernel as a function of the inner product or the distance of two rows. */
#ifndef DNI_KERNEL_IMPL_H
#define DNI_KERNEL_IMPL_H

#include <discern/kernel.h>

/* Names indexed by dn_kernel_type and by dn_metric. NULL ends each list. */
extern const char *const dni_kernel_types[], *const dni_kernel_metrics[];

/* The measure of two rows from which the kernel value K is computed. */
typedef enum dni_form {
    DNI_FORM_PRODUCT,   /* x'z */
    DNI_FORM_SQUARE,    /* ‖x − z‖² */
    DNI_FORM_MANHATTAN, /* Σ|x_j − z_j| */
    DNI_FORM_CHEBYSHEV, /* max|x_j − z_j| */
    DNI_FORM_COSINE,    /* x'z, ‖x‖² and ‖z‖² */
    DNI_FORM_EDIT       /* Levenshtein distance */
} dni_form;
dni_form dni_kernel_form(const dn_kernel *kernel);

/* Returns K of two rows with the inner product `product`, without normalization. For kernels of the
 * form DNI_FORM_PRODUCT. */
double dni_kernel_of_product(const dn_kernel *kernel, double product);
/* Returns K of two rows at distance `distance`, for the other forms. DNI_FORM_SQUARE: `distance` is
 * the squared distance; for mahalanobis that of the rows multiplied by the factor. */
double dni_kernel_of_distance(const dn_kernel *kernel, double distance);
/* Returns the cosine distance of two rows with these squared lengths; NaN if square_x is infinite.
 * A row with a squared length below DBL_MIN counts as a row of zeros. The distance between two rows
 * of zeros is 0, between a row of zeros and any other row 1. */
double dni_cosine_distance(double product, double square_x, double square_z);
/* Returns K(x, z)/√(K(x, x) K(z, z)) for value = K(x, z), self_x = K(x, x), self_z = K(z, z).
 * Returns 0 if self_x or self_z is not positive, NaN if self_x is not finite. Equal rows have the
 * value 1; the absolute value for other rows is at most 1, up to rounding. */
double dni_kernel_normalized(double value, double self_x, double self_z);

#endif
