/* The likelihood of the training rows under the class densities of a machine. */
#ifndef DNI_LIKELIHOOD_H
#define DNI_LIKELIHOOD_H

#include "machine/gaussians.h"
#include <discern/algorithm.h>
#include <stdbool.h>

/* Evaluates the densities in one pass over the rows. Sets in the report, for the raw features:
 *
 *   objective        −Σ v ln p(x, C) / Σ v, which maximum likelihood minimises
 *   log_density_min  the smallest ln p(x) of the rows with a weight above 0: an input with a
 *                    smaller value is unlike all training rows
 *
 *   machine    machine for encoded features: Gaussian, linear with densities, or naive Bayes (after
 *              dni_bayes_fold)
 *   gaussians  Gaussian densities of the machine; NULL for naive Bayes
 *
 * Errors: those of dn_run_alloc, dn_run_each and dn_run_stop. */
DN_MUST_USE dn_status dni_likelihood_report(const dn_fit_input *input, const dn_run *run,
                                            const dn_machine *machine,
                                            const dni_gaussians *gaussians, dn_report *report,
                                            dn_error *err);
/* Maximum bytes of working memory of dni_likelihood_report. whitened: Gaussian densities with
 * full covariance matrices. */
double dni_likelihood_memory(bool whitened, size_t n_rows, size_t n_features, size_t n_classes,
                             size_t n_slots);

#endif
