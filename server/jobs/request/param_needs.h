/* On which choices of other parameters a parameter depends. */
#ifndef JOBS_PARAM_NEEDS_H
#define JOBS_PARAM_NEEDS_H

#include <discern/algorithm.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the choices of parameter `of` with which parameter i may have another value than its
 * default, all others at their defaults: bit k for choice k. 0: it does not depend on `of`, or also
 * on a third one; or there is no memory. Lists depend on nothing. */
uint64_t jobs_param_needs(const dn_algorithm *algorithm, size_t i, size_t of);

#endif
