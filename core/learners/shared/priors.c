/* Prior probabilities of classes. */
#include "learners/shared/priors.h"

#include <assert.h>
#include <string.h>

const char *const dni_priors[] = {"estimated", "equal", NULL};
const char *const dni_priors_meanings[] = {
    "the share of the class in the weight of the training rows", "the same for every class", NULL};

void dni_priors_resolve(const dn_params *params, size_t n_classes, const double *class_weight,
                        double *prior) {
    size_t n = 0;
    const double *list = dn_params_list(params, "priors", &n);
    bool estimated = list == NULL && strcmp(dn_params_word(params, "priors"), "estimated") == 0;
    double sum = 0;
    assert(list == NULL || n == n_classes);
    for (size_t k = 0; k < n_classes; k++) {
        prior[k] = list != NULL ? list[k] : estimated ? class_weight[k] : 1;
        sum += prior[k];
    }
    for (size_t k = 0; k < n_classes; k++) { /* the sum of a list may differ from 1 by 1e-9 */
        prior[k] /= sum;
    }
}
