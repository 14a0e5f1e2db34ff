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

static inline double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53;
}

/* The gradient of Platt's loss of σ(a g + b) with respect to a and b, divided by the sum of
 * weights. */
static inline void platt_gradient(const struct sample *s, const double *weight, double a, double b,
                                  double out[2]) {
    double total = 0, positive = 0;
    for (size_t i = 0; i < s->n; i++) {
        total += weight == NULL ? 1 : weight[i];
        positive += s->classes[i] == 1 ? weight == NULL ? 1 : weight[i] : 0;
    }
    out[0] = out[1] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double v = (weight == NULL ? 1 : weight[i]) / total;
        const double t =
            s->classes[i] == 1 ? (positive + 1) / (positive + 2) : 1 / (total - positive + 2);
        const double r = v * (1 / (1 + exp(-(a * s->score[i] + b))) - t);
        out[0] += r * s->score[i];
        out[1] += r;
    }
}

#endif
