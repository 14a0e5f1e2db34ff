/* The algorithms of the catalogue. A new algorithm has one line here and one in registry.c. */
#ifndef DNI_REGISTRY_H
#define DNI_REGISTRY_H

#include <discern/algorithm.h>

extern const dn_algorithm dni_algorithm_logistic;
extern const dn_algorithm dni_algorithm_least_squares;
extern const dn_algorithm dni_algorithm_fisher;
extern const dn_algorithm dni_algorithm_perceptron;
extern const dn_algorithm dni_algorithm_gaussian;
extern const dn_algorithm dni_algorithm_naive_bayes;
extern const dn_algorithm dni_algorithm_svm;
extern const dn_algorithm dni_algorithm_one_class_svm;
extern const dn_algorithm dni_algorithm_mlp;
extern const dn_algorithm dni_algorithm_knn;
/* Not in the list: dn_algorithm_combination. */
extern const dn_algorithm dni_algorithm_combination;

#endif
