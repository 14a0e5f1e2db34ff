/* Many classes by machines of two: fitting all the machines a decision needs. */
#ifndef DNI_FIT_MACHINES_H
#define DNI_FIT_MACHINES_H

#include "catalogue/multiclass_params.h"
#include "training/training_set.h"

/* Fits the machines of set->params on the set's rows: *out [*out_n] malloc'ed. `rows` are the set's own (dni_training_rows); `mean`… of the encoder are passed on.
 * The report is that of the one machine; of several: converged when all are, iterations, objective and parts summed up, each machine's warnings under its name. */
DN_MUST_USE dn_status dni_fit_machines(const dni_training_set *set, const dn_rows *rows,
                                       const dn_run *run, dn_machine ***out, size_t *out_n,
                                       dn_report *report, dn_error *err);

#endif
