/* Rows of a kernel matrix for the solver. They belong to some of the points, in the order of the
 * variables, and are copied from a Gram matrix, or computed and cached.
 *
 * The cache never exceeds its bytes and does not change values: a cached row and a computed row are
 * the same. */
#ifndef DNI_SMO_ROWS_H
#define DNI_SMO_ROWS_H

#include "kernels/points.h"

/* K between all points, shared by the machines that are trained on some of them. Without a matrix,
 * rows are computed. */
typedef struct dni_gram {
    size_t n;            /* points */
    const float *single; /* [n × n] or NULL */
    const double *exact; /* [n × n] or NULL */
    bool exact_rows;     /* without a matrix: rows are computed in double precision */
} dni_gram;

typedef struct dni_smo_rows dni_smo_rows;

/* Makes rows of variables 0 … n − 1, which are the points list[0 … n − 1] in any order. `list` is
 * copied.
 *
 *   points       NULL is allowed if gram->exact is not NULL
 *   cache_bytes  limit of the cached rows
 *
 * After an error of any other call the rows can only be freed. */
DN_MUST_USE dn_status dni_smo_rows_new(const dni_points *points, const dni_gram *gram,
                                       const uint32_t *list, size_t n, double cache_bytes,
                                       const dn_run *run, dni_smo_rows **out, dn_error *err);
void dni_smo_rows_free(dni_smo_rows *rows); /* NULL is allowed */
double dni_smo_rows_memory(size_t n, double cache_bytes);

double dni_smo_rows_self(const dni_smo_rows *rows,
                         size_t i); /* K_ii of variable i, active or not. */
/* Whether rows are in double precision. */
bool dni_smo_rows_exact(const dni_smo_rows *rows);
/* From now on rows are in double precision, computed from the points. */
DN_MUST_USE dn_status dni_smo_rows_make_exact(dni_smo_rows *rows, dn_error *err);
/* *out ← K between variable i and the active variables, in their order. It is valid until the
 * second call from now. */
DN_MUST_USE dn_status dni_smo_rows_get(dni_smo_rows *rows, size_t i, const double **out,
                                       dn_error *err);
/* Makes active [n_active] the active variables; ascending. At first all variables are active. */
DN_MUST_USE dn_status dni_smo_rows_activate(dni_smo_rows *rows, const uint32_t *active,
                                            size_t n_active, dn_error *err);
/* sums[k] ← Σ_i K_ki a_i for all variables k, added in double precision. `exact`: from kernel
 * values in double precision, else from the precision of the rows. */
DN_MUST_USE dn_status dni_smo_rows_sums(dni_smo_rows *rows, const double *a, bool exact,
                                        const dn_run *run, double *sums, dn_error *err);

#endif
