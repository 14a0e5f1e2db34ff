/* How probable a machine with class densities finds the rows it was fitted to. */
#ifndef DNI_LIKELIHOOD_H
#define DNI_LIKELIHOOD_H

#include <discern/algorithm.h>
#include <stdbool.h>

/* One pass over the rows with the machine (Gaussian, naive Bayes with what dni_bayes_settle makes, or linear with densities; of the encoded x). Sets in the report, as densities of the raw features:
 *   objective            −Σ v ln p(x, C) / Σ v: what maximum likelihood minimises
 *   log_density_min      the least ln p(x) of a row with a weight: an input below it is unlike all of them */
DN_MUST_USE dn_status dni_likelihood_report(const dn_fit_input *input, const dn_run *run,
                                            const dn_machine *machine,
                                            const dn_gaussians *gaussians, dn_report *report,
                                            dn_error *err);
/* Bytes it needs; `whitened`: of a machine with covariances, otherwise of one whose features stand alone. */
double dni_likelihood_memory(bool whitened, size_t n_features, size_t n_classes, size_t n_slots);

#endif
