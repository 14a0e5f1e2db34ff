/* The algorithms by name: one line each here, one in registry.c. */
#ifndef DNI_LEARNERS_REGISTRY_H
#define DNI_LEARNERS_REGISTRY_H

#include <discern/algorithm.h>

extern const dn_algorithm dni_algorithm_logistic;

#endif
