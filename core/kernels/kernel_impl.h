/* A kernel as a function of what two rows have to do with each other: their inner product, or their distance. */
#ifndef DNI_KERNEL_IMPL_H
#define DNI_KERNEL_IMPL_H

#include <discern/kernel.h>

/* Names by dn_kernel_type and by dn_metric, NULL behind the last. */
extern const char *const dni_kernel_types[], *const dni_kernel_metrics[];

/* What K is a function of. */
typedef enum dni_form {
    DNI_FORM_PRODUCT,   /* x'z */
    DNI_FORM_SQUARE,    /* ‖x − z‖² */
    DNI_FORM_MANHATTAN, /* Σ|x_j − z_j| */
    DNI_FORM_CHEBYSHEV, /* max|x_j − z_j| */
    DNI_FORM_COSINE,    /* x'z, ‖x‖² and ‖z‖² */
    DNI_FORM_EDIT       /* Levenshtein distance */
} dni_form;
dni_form dni_kernel_form(const dn_kernel *kernel);

/* K of two rows with inner product `product`, before `normalize`; kernels of the form product. */
double dni_kernel_of_product(const dn_kernel *kernel, double product);
/* K of two rows at distance `distance`, of the form square its square; kernels of the other forms. Mahalanobis: of rows multiplied by the factor. */
double dni_kernel_of_distance(const dn_kernel *kernel, double distance);
/* The cosine's distance of two rows with these squared lengths; NaN for one x whose square is beyond the numbers. A row so short that its square is next to none (DBL_MIN) is taken for a row of zeros: at 0
 * from another, at 1 from all others. */
double dni_cosine_distance(double product, double square_x, double square_z);
/* K/√(K(x, x) K(z, z)); 0 where one of them is not above 0, NaN where K(x, x) is no finite number. At most 1 in size but for rounding, and 1 for equal rows. */
double dni_kernel_normalized(double value, double self_x, double self_z);

#endif
