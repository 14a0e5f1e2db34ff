/* Arrays of numbers passed by the caller (dn_array): checks, and copies of rows and columns as
 * doubles. */
#ifndef DNI_ARRAY_H
#define DNI_ARRAY_H

#include <discern/simple.h>

/* Checks that the view is not NULL and has values, a known type, and strides whose products do not
 * overflow. */
DN_MUST_USE dn_status dni_array_check(const dn_array *x, dn_error *err);

/* out[k] ← x(first + k, j) for k < n. Returns n, or the first k whose value is infinite. */
size_t dni_array_column(const dn_array *x, size_t first, size_t n, size_t j, double *out);

/* out[j] ← x(i, j) for all columns. Returns n_cols, or the first j whose value is infinite. */
size_t dni_array_row(const dn_array *x, size_t i, double *out);

#endif
