/* Samples of scores and classes for calibration, and the gradient of Platt's loss. */
#ifndef TESTS_CORE_LEARNERS_SAMPLES_H
#define TESTS_CORE_LEARNERS_SAMPLES_H

#include "unit/core/support.h"

enum { ROWS = 300 };
struct sample {
    size_t n;
    double score[ROWS], weight[ROWS];
    uint32_t classes[ROWS];
};

double uniform(uint64_t *s);

/* The gradient of Platt's loss of σ(a g + b) with respect to a and b, divided by the sum of
 * weights. */
void platt_gradient(const struct sample *s, const double *weight, double a, double b,
                    double out[2]);

#endif
