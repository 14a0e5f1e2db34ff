#include "unit/core/training/samples.h"

double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53;
}

void platt_gradient(const struct sample *s, const double *weight, double a, double b,
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
