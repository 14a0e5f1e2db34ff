/* A kernel as a function of the inner product or the distance of two rows. */
#ifndef DNI_KERNEL_IMPL_H
#define DNI_KERNEL_IMPL_H

#include <discern/kernel.h>

/* Names indexed by dn_kernel_type and by dn_metric. NULL ends each list. */
extern const char *const dni_kernel_types[], *const dni_kernel_metrics[];

/* The quantity that K is a function of. */
typedef enum dni_form {
    DNI_FORM_PRODUCT,   /* x'z */
    DNI_FORM_SQUARE,    /* ‖x − z‖² */
    DNI_FORM_MANHATTAN, /* Σ|x_j − z_j| */
    DNI_FORM_CHEBYSHEV, /* max|x_j − z_j| */
    DNI_FORM_COSINE,    /* x'z, ‖x‖² and ‖z‖² */
    DNI_FORM_EDIT       /* Levenshtein distance */
} dni_form;
dni_form dni_kernel_form(const dn_kernel *kernel);

/* K of two rows with the inner product `product`, before `normalize`. For kernels of the form
 * DNI_FORM_PRODUCT. */
double dni_kernel_of_product(const dn_kernel *kernel, double product);
/* K of two rows at distance `distance`, for the other forms. DNI_FORM_SQUARE: the squared distance;
 * mahalanobis: of rows multiplied by the factor. */
double dni_kernel_of_distance(const dn_kernel *kernel, double distance);
/* The cosine distance of two rows with these squared lengths. NaN if square_x is infinite. A row
 * with a square below DBL_MIN is treated as a row of zeros: its distance is 0 to another such row,
 * else 1. */
double dni_cosine_distance(double product, double square_x, double square_z);
/* K/√(K(x, x) K(z, z)); 0 if one of the two is not positive, NaN if K(x, x) is not finite. Equal
 * rows give 1, and all others at most 1 in absolute value, up to rounding. */
double dni_kernel_normalized(double value, double self_x, double self_z);

#endif
