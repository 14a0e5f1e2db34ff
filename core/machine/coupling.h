/* Class probabilities from the probabilities of pairs. */
#ifndef DNI_COUPLING_H
#define DNI_COUPLING_H

#include <stddef.h>

/* Doubles of work. */
size_t dni_coupling_work(size_t n_classes);
/* p[K], sum 1, from log-odds of pairs (i < j, in the order (0,1), (0,2) …; positive speaks for j). */
void dni_coupling(const double *scores, size_t n_classes, double *p, double *work);

#endif
