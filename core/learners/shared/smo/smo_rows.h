/* Rows of a kernel matrix for the solver: of some of the points, in the order of their variables; looked up in a Gram matrix, or computed and kept as memory allows.
 *
 * What is kept never exceeds the bytes it was given, however few, and shows in no value: a row is the same whether it is kept or computed anew. */
#ifndef DNI_SMO_ROWS_H
#define DNI_SMO_ROWS_H

#include "kernels/points.h"

/* K between all points, shared by the machines that are trained on parts of them. Empty: there is none, rows are computed. */
typedef struct dni_gram {
    size_t n;            /* points */
    const float *single; /* [n × n] or NULL */
    const double *exact; /* [n × n] or NULL */
    bool exact_rows;     /* without either: rows are computed in double */
} dni_gram;

typedef struct dni_smo_rows dni_smo_rows;

/* Variables 0 … n − 1 are the points list[0 …], in any order. points may be NULL when gram->exact is there. cache_bytes: most for kept rows. Copies list. On failure of any call but this the rows are of no use any more. */
DN_MUST_USE dn_status dni_smo_rows_new(const dni_points *points, const dni_gram *gram,
                                       const uint32_t *list, size_t n, double cache_bytes,
                                       const dn_run *run, dni_smo_rows **out, dn_error *err);
void dni_smo_rows_free(dni_smo_rows *rows); /* NULL is allowed */
double dni_smo_rows_memory(size_t n, double cache_bytes);

double dni_smo_rows_self(const dni_smo_rows *rows,
                         size_t i); /* K_ii, of variable i whether it is active or not */
/* Whether rows are exact to double. */
bool dni_smo_rows_exact(const dni_smo_rows *rows);
/* From now on they are (of points: computed in double). */
DN_MUST_USE dn_status dni_smo_rows_make_exact(dni_smo_rows *rows, dn_error *err);
/* K between variable i and the active variables, in their order; valid until the next call but one. */
DN_MUST_USE dn_status dni_smo_rows_get(dni_smo_rows *rows, size_t i, const double **out,
                                       dn_error *err);
/* Makes active [n_active] (ascending places among the variables) the active ones; at first all are. */
DN_MUST_USE dn_status dni_smo_rows_activate(dni_smo_rows *rows, const uint32_t *active,
                                            size_t n_active, dn_error *err);
/* sums[k] ← Σ_i K_ki a_i over all variables k, added up in double; `exact`: of K in double too, otherwise of what is at hand. */
DN_MUST_USE dn_status dni_smo_rows_sums(dni_smo_rows *rows, const double *a, bool exact,
                                        const dn_run *run, double *sums, dn_error *err);

#endif
