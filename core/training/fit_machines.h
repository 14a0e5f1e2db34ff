/* Fits all machines that a decision rule needs. */
#ifndef DNI_FIT_MACHINES_H
#define DNI_FIT_MACHINES_H

#include "training/prepared_rows.h"

/* Fits the machines to prepared rows.
 *
 *   out     [*out_n] allocated by malloc; dni_machines_free
 *   report  of the one machine. Of several: converged if all are; iterations and objectives are
 *           summed up; the machines' warnings begin with their classes' names */
DN_MUST_USE dn_status dni_fit_machines(const dni_prepared *prepared, const dn_params *params,
                                       const dn_run *run, dn_machine ***out, size_t *out_n,
                                       dn_report *report, dn_error *err);

#endif
