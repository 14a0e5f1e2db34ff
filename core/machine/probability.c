/* Sigmoid and softmax. The argument of exp is never above 0, so that exp does not overflow and
 * small probabilities keep their relative precision. */
#include "machine/probability.h"

#include <math.h>

void dni_sigmoid(double g, double out[2]) {
    double e = exp(-fabs(g));
    double likely = 1 / (1 + e), unlikely = e / (1 + e);
    out[0] = g > 0 ? unlikely : likely;
    out[1] = g > 0 ? likely : unlikely;
}

void dni_softmax(const double *g, size_t n, double *out) {
    double greatest = g[0], sum = 0;
    for (size_t k = 1; k < n; k++) {
        if (g[k] > greatest) {
            greatest = g[k];
        }
    }
    for (size_t k = 0; k < n; k++) {
        out[k] = exp(g[k] - greatest);
        sum += out[k];
    }
    for (size_t k = 0; k < n; k++) {
        out[k] /= sum;
    }
}
