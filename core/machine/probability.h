/* Converts scores to probabilities: sigmoid and softmax without overflow, and pairwise coupling for
 * one-versus-one machines. */
#ifndef DNI_PROBABILITY_H
#define DNI_PROBABILITY_H

#include <stddef.h>

/* Converts one score of two classes: out[0] = σ(−g), out[1] = σ(g). */
void dni_sigmoid(double g, double out[2]);
/* out [n] ← exp(g_i)/Σ_j exp(g_j), n >= 1. out may be g. */
void dni_softmax(const double *g, size_t n, double *out);

/* Returns the number of doubles in `work` of dni_coupling. */
size_t dni_coupling_work(size_t n_classes);
/* Computes class probabilities with sum 1.
 *
 *   scores  [K(K − 1)/2] log-odds of the pairs i < j in the order (0,1), (0,2) …; a positive score
 *           favours class j
 *   p       [K]
 *   work    [dni_coupling_work(K)] */
void dni_coupling(const double *scores, size_t n_classes, double *p, double *work);

#endif
