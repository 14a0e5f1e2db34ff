/* Describes the encoded rows that a machine stores, in the scale of the columns. */
#ifndef DNI_STORED_ROWS_H
#define DNI_STORED_ROWS_H

#include "machine/machine_dispatch.h"

/* Returns the maximum number of numbers that dni_rows_describe passes. */
double dni_rows_numbers(dn_matrix x, const dn_encoder *encoder);
/* Passes the rows as an array, with the values before standardisation. A dense row is an array of
 * numbers, a sparse row an array of pairs [feature index, value]. Fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_rows_describe(dn_matrix x, const dn_encoder *encoder, const char *name,
                                        const dn_visitor *visitor, dn_error *err);

#endif
