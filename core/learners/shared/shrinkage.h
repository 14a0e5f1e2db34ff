/* Shrinkage of covariance matrices: the parameter `shrinkage`, and estimates by the method of
 * Ledoit and Wolf.
 *
 *   one matrix            Σ = D R D  →  D ((1 − s) R + s I) D
 *   one for each class    Σ_k  →  (1 − s) Σ_k + s Σ   (Friedman, 1989)
 *
 * D: diagonal matrix of the deviations; R: correlations; Σ: the covariance within all classes. The
 * first formula multiplies the off-diagonal entries of Σ by 1 − s. */
#ifndef DNI_SHRINKAGE_H
#define DNI_SHRINKAGE_H

#include <discern/algorithm.h>

extern const char *const dni_shrinkages[], *const dni_shrinkage_meanings[];
/* Row of the parameter table: a number in [0, 1], or a word. */
#define DNI_PARAM_SHRINKAGE                                                                        \
    {                                                                                              \
        .name = "shrinkage", .type = DN_PARAM_NUMBER,                                              \
        .meaning = "How far the correlations within the classes are shrunk towards 0: their "      \
                   "matrix R becomes (1 - s) R + s I. 0: no shrinkage, and a singular matrix is "  \
                   "an error; 1: the columns are treated as uncorrelated. With covariance full "   \
                   "the covariance S_k of a class becomes (1 - s) S_k + s S, where S is the "      \
                   "covariance within all classes.",                                               \
        .default_choice = "if_singular", .word = "if_singular", .choices = dni_shrinkages,         \
        .choice_meanings = dni_shrinkage_meanings, .minimum = 0, .maximum = 1, .complexity = -1    \
    }

/* Returns true if the parameter is "if_singular": s is 0 if the matrix is regular, otherwise the
 * estimate of Ledoit and Wolf. */
bool dni_shrinkage_if_singular(const dn_params *params);

/* *out ← s, from the parameter `shrinkage`: the number; 0 for "if_singular"; for "auto" the
 * estimate of Ledoit and Wolf (dni_shrinkage_estimate).
 *
 * The arguments and errors are those of dni_shrinkage_estimate. */
DN_MUST_USE dn_status dni_shrinkage_choose(const dn_fit_input *input, const dn_run *run,
                                           const double *mean, size_t only, const double *scatter,
                                           double weight, double *out, dn_error *err);

/* Estimates s by the method of Ledoit and Wolf (shrinkage.c).
 *
 *   mean     [n_classes × d] means of the classes
 *   only     the class whose rows are used; SIZE_MAX: the rows of all classes, each centred by the
 *            mean of its class
 *   scatter  [d × d] lower triangle: Σ v (x − m)(x − m)ᵀ over these rows. A column with scatter 0
 *            counts as uncorrelated
 *   weight   Σv of these rows
 *   out      s, in [0, 1]
 *
 * Errors: those of dn_run_sum. Cost: one pass over the rows. */
DN_MUST_USE dn_status dni_shrinkage_estimate(const dn_fit_input *input, const dn_run *run,
                                             const double *mean, size_t only, const double *scatter,
                                             double weight, double *out, dn_error *err);
/* Estimates s for the covariance of class k that is shrunk towards a target T: (1 − s) Σ + s T.
 * The estimate is that of Ledoit and Wolf in units of the deviations of T, but at least 1/n_k.
 *
 *   scatter  [d × d] lower triangle: scatter of class k
 *   weight   Σv of class k
 *   target   [d × d] lower triangle: T; columns with T_jj = 0 are left out
 *   out      s, in (0, 1]
 *
 * Errors: those of dn_run_sum. Cost: one pass over the rows. */
DN_MUST_USE dn_status dni_shrinkage_towards(const dn_fit_input *input, const dn_run *run,
                                            const double *mean, size_t k, const double *scatter,
                                            double weight, const double *target, double *out,
                                            dn_error *err);
/* Returns the shrinkage to try next after s < 1 left a singular matrix: ten times s, at most 1. */
double dni_shrinkage_raise(double s);
/* Multiplies the entries below the diagonal of matrix [d × d] by 1 − s. */
void dni_shrinkage_apply(double *matrix, size_t d, double s);

#endif
