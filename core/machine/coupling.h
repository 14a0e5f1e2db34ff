/* Pairwise coupling: class probabilities from the scores of one-versus-one machines. */
#ifndef DNI_COUPLING_H
#define DNI_COUPLING_H

#include <stddef.h>

/* Returns the number of doubles in `work`. */
size_t dni_coupling_work(size_t n_classes);
/* Computes class probabilities with sum 1.
 *
 *   scores  [K(K − 1)/2] log-odds of the pairs i < j in the order (0,1), (0,2) …; a positive score
 *           favours class j
 *   p       [K]
 *   work    [dni_coupling_work(K)] */
void dni_coupling(const double *scores, size_t n_classes, double *p, double *work);

#endif
