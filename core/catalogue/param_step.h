/* Compares the parameters of two candidates of a search. */
#ifndef DNI_PARAM_STEP_H
#define DNI_PARAM_STEP_H

#include <discern/algorithm.h>

/* Returns the index of the parameter with a complexity if two sets of parameters of one algorithm
 * differ in this parameter only, and both values are numbers. SIZE_MAX otherwise. */
size_t dni_params_step(const dn_params *a, const dn_params *b);

/* Returns true if `a` gives a simpler model than `b`, by parameter `step` of dni_params_step. */
bool dni_params_simpler(const dn_params *a, const dn_params *b, size_t step);

#endif
