/* Single features of sparse columns in `features.include` and `features.exclude`. A "place" is a
 * feature index, counted from 0. */
#ifndef JOBS_JOB_PLACES_H
#define JOBS_JOB_PLACES_H

#include "jobs/request/job_request.h"

/* A feature index in a list of names. */
struct jobs_place {
    size_t column; /* index of the sparse column in the dataset */
    uint32_t place;
    size_t index; /* index of the name in its list */
};
/* The feature indices of one list, in the request's arena; {0}: empty. */
struct jobs_places {
    struct jobs_place *item;
    size_t n;
};

/* Finds the sparse column and the index of the feature with a name such as "f17". Returns false if
 * there is none. */
bool jobs_place_find(const struct jobs_request *r, const char *name, size_t *column,
                     uint32_t *place);
/* Returns the number of columns and features of sparse columns: the maximum length of a list of
 * distinct names. */
size_t jobs_places_most(const struct jobs_request *r);
/* Adds an element to a list of at most `most`. Returns false and sets a problem if out of
 * memory. */
bool jobs_places_add(struct jobs_request *r, struct jobs_places *list, size_t most, size_t column,
                     uint32_t place, size_t index);
/* Sets out [schema.n] to the index filter of each column; a column that is not sparse gets all
 * indices. Sorts both lists. Adds a fault for each name that occurs twice or in both lists. */
void jobs_places_choose(struct jobs_request *r, const struct jobs_places *included,
                        const struct jobs_places *excluded, dn_index_filter *out);

#endif
