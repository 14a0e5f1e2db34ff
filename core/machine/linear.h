/* Linear machines: g = W x + w0, with or without Gaussian class densities of one shared
 * covariance. */
#ifndef DNI_LINEAR_H
#define DNI_LINEAR_H

#include "machine/gaussians.h"
#include "machine/machine_dispatch.h"

typedef struct dni_linear_machine {
    dn_machine base;
    double *w;                /* [n_scores × n_features] */
    double *w0;               /* [n_scores] */
    dni_gaussians *gaussians; /* class densities with these scores; NULL: none */
} dni_linear_machine;

/* Creates a machine with all numbers 0; the learner sets them. If `densities` is true, the machine
 * has Gaussian densities of one shared covariance. Fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_linear_machine_new(size_t n_classes, size_t n_features, bool densities,
                                             dn_machine **out, dn_error *err);
/* Converts a machine of this kind to its structure. */
dni_linear_machine *dni_linear_machine_of(const dn_machine *machine);

/* Converts weights of standardised features to weights of raw features: w_j / scale_j and
 * w0 − Σ_j w_j mean_j / scale_j. mean and scale may be NULL for 0 and 1.
 *
 *   w       row k starts at w + k * stride
 *   w0      intercept k is at w0 + k * w0_stride
 *   w_raw   [n_scores × n_features]
 *   w0_raw  [n_scores] */
void dni_linear_to_raw(const double *w, size_t stride, const double *w0, size_t w0_stride,
                       size_t n_scores, size_t n_features, const double *mean, const double *scale,
                       double *w_raw, double *w0_raw);
/* The inverse of dni_linear_to_raw: converts weights of raw features to weights of encoded
 * features. mean and scale may be NULL for 0 and 1.
 *
 *   raw    [n_scores × (n_features + 1)] in each row the weights and then the intercept
 *   table  [n_scores × (n_features + 1)] */
void dni_linear_to_encoded(const double *raw, size_t n_scores, size_t n_features,
                           const double *mean, const double *scale, double *table);

#endif
