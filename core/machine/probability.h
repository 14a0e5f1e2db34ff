/* Converts scores to probabilities: sigmoid and softmax without overflow. */
#ifndef DNI_PROBABILITY_H
#define DNI_PROBABILITY_H

#include <stddef.h>

/* Converts one score of two classes: out[0] = σ(−g), out[1] = σ(g). */
void dni_sigmoid(double g, double out[2]);
/* Converts n >= 1 scores to n probabilities. out may be g. */
void dni_softmax(const double *g, size_t n, double *out);

#endif
