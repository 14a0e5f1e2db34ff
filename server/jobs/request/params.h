/* Parameters of an algorithm as JSON. In its table all of them stand side by side; parameters
 * called "kernel.degree", "kernel.width" are members of `kernel`, which is an object in JSON:
 * {"type": its own value, "degree": 2}. */
#ifndef JOBS_PARAMS_H
#define JOBS_PARAMS_H

#include "base/buf.h"
#include <discern/algorithm.h>
#include <stdbool.h>
#include <stdint.h>

/* The name that a member has in its object, "degree" of "kernel.degree"; NULL: it is no member. */
const char *jobs_param_member(const dn_param *param);
/* Whether `param` is a member of the parameter called `owner`. */
bool jobs_param_belongs(const dn_param *param, const char *owner);
/* The parameter that the one at place i of the table is a member of; NULL: it is none. */
const dn_param *jobs_param_owner(const dn_algorithm *algorithm, size_t i);
/* Whether the algorithm's parameter of that name has members. */
bool jobs_param_is_object(const dn_algorithm *algorithm, const char *name);
/* For which choices of its owner the member at place i of the table matters: bit k for choice k. 0:
 * for none, or no memory. */
uint64_t jobs_param_choices(const dn_algorithm *algorithm, size_t i);
/* Appends the place in a job's body of the parameter called `name`: /params/kernel/degree. */
void jobs_param_pointer(const char *name, struct buf *out);
/* The parameters as a JSON object: numbers, words, booleans, lists and objects as they would be
 * given, null for the word that it stands for. Those that do not matter for the values of the
 * others are left out. */
void jobs_params_write(const dn_params *params, struct buf *out);

#endif
