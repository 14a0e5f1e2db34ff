/* Scores to probabilities: sigmoid and softmax without overflow. */
#ifndef DNI_PROBABILITY_H
#define DNI_PROBABILITY_H

#include <stddef.h>

/* One score for two classes: out[0] = 1 − σ(g) computed as σ(−g), out[1] = σ(g). */
void dni_sigmoid(double g, double out[2]);
/* n scores to n probabilities; in place is allowed. */
void dni_softmax(const double *g, size_t n, double *out);

#endif
