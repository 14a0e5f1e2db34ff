/* Linear discriminants between the space a learner trained in and the raw one. */
#ifndef DNI_LINEAR_H
#define DNI_LINEAR_H

#include <stddef.h>

/* Discriminants of x = (raw − mean)/scale as discriminants of raw: w_raw = w/s, w0_raw = w0 − Σ w_raw·m. Weight j of score k is at w[k·stride + j],
 * its intercept at w0[k·w0_stride]. mean and scale NULL: 0 and 1. w_raw [n_scores × n_features], w0_raw [n_scores]; not in place. */
void dni_linear_to_raw(const double *w, size_t stride, const double *w0, size_t w0_stride,
                       size_t n_scores, size_t n_features, const double *mean, const double *scale,
                       double *w_raw, double *w0_raw);

#endif
