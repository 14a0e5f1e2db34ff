/* Shared by the tests of kernel machines. */
#ifndef TESTS_CORE_LEARNERS_KERNEL_MACHINES_H
#define TESTS_CORE_LEARNERS_KERNEL_MACHINES_H

#include "unit/core/learners/svm/svms.h"
#include "unit/core/machine/plain_scores.h"

dn_params *kernel_params(const char *algorithm, const char *kernel);

void fit_matrix(dn_matrix x, const double *target, const double *weight, const dn_params *p,
                struct fit *fit);

/* Overlapping clouds of distinct rows. */
struct problem clouds(size_t n, size_t d);

#endif
