/* Names of single features of a sparse column in a job's include and exclude. */
#ifndef API_JOB_PLACES_H
#define API_JOB_PLACES_H

#include "api/jobs/job_spec.h"

/* A place that include or exclude names. */
struct job_place {
    size_t column; /* of the dataset, sparse */
    uint32_t place;
    size_t index; /* of the name in its list */
};
/* Those of one list, in the request's arena; {0} is an empty one. */
struct job_places {
    struct job_place *item;
    size_t n;
};

/* Whether the dataset has a sparse column with a place of this name ("f17"). */
bool job_place_find(const struct job_request *r, const char *name, size_t *column, uint32_t *place);
/* How many columns and places there are: no list of different names is longer. */
size_t job_places_most(const struct job_request *r);
/* Adds one to a list of at most `most` names. false: no memory, noted. */
bool job_places_add(struct job_request *r, struct job_places *list, size_t most, size_t column,
                    uint32_t place, size_t index);
/* What takes part of each column: out [schema.n], of columns that are not sparse all. Sorts the
 * lists; notes what is named twice, or in both. Lists live in the arena. */
void job_places_choose(struct job_request *r, const struct job_places *included,
                       const struct job_places *excluded, dn_index_filter *out);

#endif
