/* Rows of a kernel matrix for the solver. Each variable of the solver is one point. The rows are
 * copied from a Gram matrix, or computed and cached.
 *
 * The cache never exceeds its limit of bytes. A cached row and a computed row have the same
 * values. */
#ifndef DNI_SMO_ROWS_H
#define DNI_SMO_ROWS_H

#include "kernels/points.h"

/* The Gram matrix of all points. The machines of a fit share it, also those that are trained on
 * some of the points only. If `single` and `exact` are NULL, rows are computed from the points. */
typedef struct dni_gram {
    size_t n;            /* number of points */
    const float *single; /* [n × n] or NULL */
    const double *exact; /* [n × n] or NULL */
    bool exact_rows;     /* without a matrix: compute rows in double precision */
} dni_gram;

typedef struct dni_smo_rows dni_smo_rows;

/* Creates the rows of variables 0 … n − 1. Variable k is the point list[k]. `list` is copied.
 *
 *   points       NULL is allowed if gram->exact is not NULL
 *   cache_bytes  limit of the bytes of cached rows
 *
 * After an error of any function below, the rows can only be freed. */
DN_MUST_USE dn_status dni_smo_rows_new(const dni_points *points, const dni_gram *gram,
                                       const uint32_t *list, size_t n, double cache_bytes,
                                       const dn_run *run, dni_smo_rows **out, dn_error *err);
void dni_smo_rows_free(dni_smo_rows *rows); /* NULL is allowed */
/* Bytes of the rows of n variables, without copies of points. */
double dni_smo_rows_memory(size_t n, double cache_bytes);

/* Returns K_ii. Variable i need not be active. */
double dni_smo_rows_self(const dni_smo_rows *rows, size_t i);
/* True if rows have double precision. */
bool dni_smo_rows_exact(const dni_smo_rows *rows);
/* Switches to rows in double precision, which are computed from the points. */
DN_MUST_USE dn_status dni_smo_rows_make_exact(dni_smo_rows *rows, dn_error *err);
/* *out ← K between variable i and the active variables, in the order of the active variables. The
 * row stays valid during the next call; the call after that may overwrite it. */
DN_MUST_USE dn_status dni_smo_rows_get(dni_smo_rows *rows, size_t i, const double **out,
                                       dn_error *err);
/* Sets the active variables to active [n_active], in ascending order. At first all variables are
 * active. */
DN_MUST_USE dn_status dni_smo_rows_activate(dni_smo_rows *rows, const uint32_t *active,
                                            size_t n_active, dn_error *err);
/* sums[k] ← Σ_i K_ki a_i for all variables k, added in double precision. exact: use kernel values
 * in double precision; otherwise use the precision of the rows. */
DN_MUST_USE dn_status dni_smo_rows_sums(dni_smo_rows *rows, const double *a, bool exact,
                                        const dn_run *run, double *sums, dn_error *err);

#endif
