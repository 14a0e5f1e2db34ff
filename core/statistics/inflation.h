/* Variance inflation factors of the terms of a model (dn_inflation). */
#ifndef DNI_INFLATION_H
#define DNI_INFLATION_H

#include "base/layout.h"
#include "model/model_statistics.h"

/* Maximum number of features of a term that has a factor. */
enum { DNI_MAX_TERM = 64 };

typedef struct dni_inflation_work {
    double *correlation; /* [d × d] */
    double *inverse;     /* [d × d] inverse of the Cholesky factor of `correlation` */
    bool *omitted;       /* [d] true: the column is constant, or the first of all levels of a
                          * category */
    bool *dependent;     /* [d] true: the column depends on other columns */
} dni_inflation_work;
/* The dni_layout_fn of dni_inflation_work. n_cols: const size_t *. */
void dni_inflation_layout(dni_layout *layout, const void *n_cols, void *work);

/* Sets statistics->inflation.
 *
 *   gram             [(d + 1) × (d + 1)] lower triangle of Σ v zz'/Σv; z: the standardised columns
 *                    and a 1
 *   deviation        [d] deviations of the columns; 0 for a constant column
 *   out_independent  true: no column is constant, left out, or depends on others
 *
 * Errors: those of dni_cholesky, dni_lower_invert and dni_symmetric_null except DN_ERR_NUMERIC. */
DN_MUST_USE dn_status dni_inflation_compute(const double *gram, const double *deviation,
                                            dni_statistics *statistics, dni_inflation_work *work,
                                            const dn_run *run, bool *out_independent,
                                            dn_error *err);

#endif
