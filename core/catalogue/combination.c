/* The algorithm of combined models (dn_train_request.members). */
#include "catalogue/registry.h"

/* The members are trained by their own algorithms. */
static double memory(const dn_params *params, const dn_fit_shape *shape) {
    (void)params;
    (void)shape;
    return 0;
}

const dn_algorithm dni_algorithm_combination = {
    .id = "combination",
    .title = "Combination of models",
    .summary = "The probabilities of a class are the product of those of several models, each "
               "raised to its share, and scaled to the sum 1. The shares are chosen on rows that "
               "the models were not trained on.",
    .source = "Genest and Zidek, Combining probability distributions, Statistical Science 1, 1986, "
              "section 4; Wolpert, Stacked generalization, Neural Networks 5, 1992",
    .stopping_rule = "all members have converged",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STREAMS |
             DN_ALGORITHM_NONLINEAR | DN_ALGORITHM_NOT_ADDITIVE,
    .memory = memory,
};

const dn_algorithm *dn_algorithm_combination(void) {
    return &dni_algorithm_combination;
}
