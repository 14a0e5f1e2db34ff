/* One fit of Fisher's discriminant: what its files share. */
#ifndef DNI_FISHER_FIT_H
#define DNI_FISHER_FIT_H

#include "learners/shared/scatter.h"
#include <discern/algorithm.h>

/* Directions that part the classes best, one after the other. */
typedef struct dni_fisher {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_scatter scatter; /* pooled: S_W */
    double *direction; /* [K × d] w with wᵀ S_W w = 1, S_W shrunk; the first n_components of them */
    double *value;     /* [K] their ρ = J, descending */
    size_t n_components; /* that the means have and that were asked for, >= 1 */
} dni_fisher;

/* Solves S_B w = ρ S_W w. DN_ERR_DATA, columns named: S_W is singular, or the means of the classes are the same. *fisher, set up with input, run and report, is to be freed
 * with dni_fisher_done even after a failure. */
DN_MUST_USE dn_status dni_fisher_directions(dni_fisher *fisher, dn_error *err);
void dni_fisher_done(dni_fisher *fisher);
double dni_fisher_directions_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots);

/* Two classes: *out_cut ← the place between adjacent projections wᵀx of the rows, of which what lies above is called the second class, with the least weight of rows misclassified
 * (*out_error, a share of all); nearest to `midpoint` among equals. One pass and a sort of the rows' projections. DN_ERR_DATA: all projections are the same. */
DN_MUST_USE dn_status dni_fisher_least_error(const dn_fit_input *input, const dn_run *run,
                                             const double *w, double midpoint, double *out_cut,
                                             double *out_error, dn_error *err);
double dni_fisher_least_error_memory(size_t n_rows);

#endif
