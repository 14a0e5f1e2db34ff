/* The catalogue of algorithms, in the order of dn_algorithm_at. */
#include "catalogue/registry.h"

#include <string.h>

static const dn_algorithm *const algorithms[] = {
    &dni_algorithm_logistic,   &dni_algorithm_least_squares, &dni_algorithm_fisher,
    &dni_algorithm_perceptron, &dni_algorithm_gaussian,      &dni_algorithm_naive_bayes,
    &dni_algorithm_svm,        &dni_algorithm_one_class_svm, &dni_algorithm_mlp,
    &dni_algorithm_knn,
};

size_t dn_algorithm_count(void) {
    return sizeof algorithms / sizeof algorithms[0];
}

const dn_algorithm *dn_algorithm_at(size_t i) {
    return i < dn_algorithm_count() ? algorithms[i] : NULL;
}

const dn_algorithm *dn_algorithm_find(const char *id) {
    for (size_t i = 0; i < dn_algorithm_count(); i++) {
        if (strcmp(algorithms[i]->id, id) == 0) {
            return algorithms[i];
        }
    }
    return NULL;
}
