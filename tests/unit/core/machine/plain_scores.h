/* Reference implementation of the scores of kernel machines. */
#ifndef TESTS_CORE_PREDICT_PLAIN_SCORES_H
#define TESTS_CORE_PREDICT_PLAIN_SCORES_H

#include "unit/core/kernels/plain.h"
#include "unit/core/machine/machine_view.h"

/* x [n_cols] ← row i of the support, expanded. */
void plain_support_row(const dni_support *support, size_t i, double *x);

/* Returns Σ c_i K(s_i, x), without w0. Sets *size, unless NULL, to Σ |c_i K(s_i, x)|. */
double plain_sum(const struct machine_view *machine, const double *x, double *size);

#endif
