/* Prior probabilities of classes: the parameter `priors` and its values. */
#ifndef DNI_PRIORS_H
#define DNI_PRIORS_H

#include <discern/algorithm.h>

/* Row of the parameter table: "estimated", "equal", or a list with a probability for each class. */
extern const char *const dni_priors[], *const dni_priors_meanings[];
#define DNI_PARAM_PRIORS                                                                           \
    {                                                                                              \
        .name = "priors", .type = DN_PARAM_LIST,                                                   \
        .meaning = "Prior probability of each class; or a list of numbers above 0 that sum to 1, " \
                   "one for each class in ascending order of the classes.",                        \
        .default_choice = "estimated", .choices = dni_priors,                                      \
        .choice_meanings = dni_priors_meanings, .minimum = 0, .maximum = 1, .open_minimum = true,  \
        .open_maximum = true, .distribution = true                                                 \
    }

/* Sets the priors of the classes according to the parameter `priors`.
 *
 *   params        checked with dn_params_check_classes
 *   class_weight  [n_classes] Σv of each class, > 0
 *   prior         [n_classes] > 0, with sum 1 */
void dni_priors_resolve(const dn_params *params, size_t n_classes, const double *class_weight,
                        double *prior);

#endif
