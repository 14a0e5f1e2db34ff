/* Reference implementations for networks: scores and objective by plain loops; and data to fit. */
#ifndef TESTS_CORE_MLPS_H
#define TESTS_CORE_MLPS_H

#include "unit/core/learners/logistic/logistics.h"

/* Computes the scores of x [d] by plain loops. A layer has at most 64 units. */
void plain_scores(const dni_network *net, size_t d, const double *x, double *scores);

/* Mean cross-entropy of the rows with skip[i] == wanted (skip NULL: all rows) + λ Σ w² over the
 * weights without the biases. */
double plain_objective(const struct problem *t, const dni_network *net, double lambda,
                       const bool *skip, bool wanted);

/* n rows of d numbers whose classes a curved surface separates. Some entries are 0; the last column
 * is constant. weighted: the weights are 0 … 3. sparse: the rows are CSR. */
struct problem problem_curved(size_t n, size_t d, size_t K, bool weighted, bool sparse);

dn_params *mlp_params(const char *solver, const double *layers, size_t n_layers);

#endif
