/* Weights of standardised features as weights of raw ones. */
#include "machine/linear.h"

void dni_linear_to_raw(const double *w, size_t stride, const double *w0, size_t w0_stride,
                       size_t n_scores, size_t n_features, const double *mean, const double *scale,
                       double *w_raw, double *w0_raw) {
    for (size_t k = 0; k < n_scores; k++) {
        double intercept = w0[k * w0_stride];
        for (size_t j = 0; j < n_features; j++) {
            double raw = scale == NULL ? w[k * stride + j] : w[k * stride + j] / scale[j];
            w_raw[k * n_features + j] = raw;
            if (mean != NULL) {
                intercept -= raw * mean[j];
            }
        }
        w0_raw[k] = intercept;
    }
}
