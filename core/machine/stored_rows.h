/* Encoded rows that a machine keeps: their description in the scale of the columns. */
#ifndef DNI_STORED_ROWS_H
#define DNI_STORED_ROWS_H

#include "machine/machine_impl.h"

/* Numbers that dni_rows_describe passes. */
double dni_rows_numbers(dn_matrix x, const dn_encoder *encoder);
/* Passes the rows as an array, each as the columns have it before standardisation: dense rows as arrays
 * of numbers, sparse ones as arrays of pairs [feature, value]. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_rows_describe(dn_matrix x, const dn_encoder *encoder, const char *name,
                                        const dn_visitor *visitor, dn_error *err);

#endif
