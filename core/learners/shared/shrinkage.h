/* Shrinkage of a covariance matrix towards its own diagonal: the parameter `shrinkage`, and Ledoit and Wolf's choice of it.
 *
 *   Σ = D R D with D the deviations and R the correlations   →   D ((1 − s) R + s I) D: the entries off the diagonal times 1 − s */
#ifndef DNI_SHRINKAGE_H
#define DNI_SHRINKAGE_H

#include <discern/algorithm.h>

/* Row of a parameter table: a number in [0, 1], or "auto". */
#define DNI_PARAM_SHRINKAGE                                                                        \
    {                                                                                              \
        .name = "shrinkage", .type = DN_PARAM_NUMBER,                                              \
        .meaning = "How far correlations within the classes are drawn to 0: the correlation "      \
                   "matrix R becomes (1 - s) R + s I. 0: not at "                                  \
                   "all; 1: the columns count as uncorrelated. auto: what Ledoit and Wolf "        \
                   "estimate from the rows.",                                                      \
        .default_number = 0, .minimum = 0, .maximum = 1, .word = "auto"                            \
    }

/* *out ← the s of the params: the number given, or for "auto" that of Ledoit and Wolf (shrinkage.c) in [0, 1], for the rows of class `only`, or of all classes when it is
 * SIZE_MAX. A row is centred by its own class's mean [n_classes × d]. scatter [d × d], lower triangle: Σ v (x − m)(x − m)ᵀ over those rows; weight: their Σv.
 * A column whose scatter is 0 counts as uncorrelated. One pass over the rows for "auto", none otherwise. */
DN_MUST_USE dn_status dni_shrinkage_choose(const dn_fit_input *input, const dn_run *run,
                                           const double *mean, size_t only, const double *scatter,
                                           double weight, double *out, dn_error *err);
/* matrix [d × d], lower triangle ← shrunk by s: entries off the diagonal times 1 − s. */
void dni_shrinkage_apply(double *matrix, size_t d, double s);

#endif
