/* The support vectors (discern/duals.h) of the machines of a model in its serialized form. */
#ifndef DNI_MODEL_DUALS_H
#define DNI_MODEL_DUALS_H

#include "base/bytes.h"
#include <discern/machine.h>
#include <discern/status.h>

/* Writes the support vectors of all machines.
 *
 *   u8    0: none, 1: omitted, 2: present; if present, for each machine:
 *   f64   residual
 *   u64   n; then for each support vector, with ascending rows:
 *         u64 row, f64 coef, f64 slack, u8 bounded + 2 inside */
void dni_duals_write(dn_machine *const *machines, size_t n_machines, dni_writer *writer);
/* Reads them into the machines. Fails with DN_ERR_CORRUPT or DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_duals_read(dni_reader *reader, dn_machine *const *machines,
                                     size_t n_machines, dn_error *err);

#endif
