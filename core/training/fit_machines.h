/* Fits the machines of a decision rule. */
#ifndef DNI_FIT_MACHINES_H
#define DNI_FIT_MACHINES_H

#include "training/prepared_rows.h"

/* What fits to the same rows with other parameters may use. */
typedef struct dni_fit_reuse {
    dn_machine *const *start; /* the machines of a model; dn_fit_input.start. NULL: none */
    dn_prepared **kernel;     /* dn_fit_input.prepared, for a fit of all machines. NULL: none */
    bool quick;               /* dn_fit_input.quick */
} dni_fit_reuse;

/* Fits the machines to prepared rows.
 *
 *   out     [*out_n] allocated by malloc; free with dni_machines_free
 *   report  one machine: its report. Several machines: converged if all converged; iterations and
 *           objectives are sums; each warning of a machine begins with the names of its classes */
DN_MUST_USE dn_status dni_fit_machines(const dni_prepared *prepared, const dn_params *params,
                                       const dni_fit_reuse *reuse, const dn_run *run,
                                       dn_machine ***out, size_t *out_n, dn_report *report,
                                       dn_error *err);

#endif
