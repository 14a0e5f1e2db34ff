/* Fits the machines of a decision rule. */
#ifndef DNI_FIT_MACHINES_H
#define DNI_FIT_MACHINES_H

#include "training/prepared_rows.h"

/* Fits the machines to prepared rows.
 *
 *   out     [*out_n] allocated by malloc; free with dni_machines_free
 *   report  one machine: its report. Several machines: converged if all converged; iterations and
 *           objectives are sums; each warning of a machine begins with the names of its classes */
DN_MUST_USE dn_status dni_fit_machines(const dni_prepared *prepared, const dn_params *params,
                                       const dn_run *run, dn_machine ***out, size_t *out_n,
                                       dn_report *report, dn_error *err);

#endif
