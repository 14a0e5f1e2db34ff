/* The candidates of a search as a client gives them: objects in which a value may be a list, a
 * range or "auto", expanded to one JSON object for each combination. */
#ifndef JOBS_SEARCH_SPACE_H
#define JOBS_SEARCH_SPACE_H

#include "base/json/json_read.h"
#include "base/memory/arena.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_SPACE_MOST 10000 /* combinations of a search */

struct search_space_options {
    size_t draws;  /* number of combinations drawn at random, without repetition; 0: all */
    uint64_t seed; /* of the draws */
};

/* One combination. */
struct search_point {
    size_t item;      /* index of the object that it comes from */
    const char *text; /* JSON object with the members algorithm, params and features */
};

/* Expands an array of candidates, whose JSON pointer is `parent`. The combinations of an object are
 * consecutive; the values of a parameter with a complexity (dn_param) vary fastest, from simple to
 * complex models. Adds every fault to the problem: unknown members, empty lists, invalid ranges,
 * too many combinations. Values themselves are not checked. Returns false after a fault.
 *
 *   out  [*out_n] in the arena */
bool search_space_expand(const json_t *candidates, const char *parent,
                         const struct search_space_options *options, struct arena *arena,
                         struct search_point **out, size_t *out_n, struct problem *problem);

#endif
