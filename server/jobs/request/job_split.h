/* The members "group", "order", "column" and "repeats" of "validation", and the first three of
 * "search": how the rows are divided. */
#ifndef JOBS_JOB_SPLIT_H
#define JOBS_JOB_SPLIT_H

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_request.h"
#include <discern/search.h>

/* Names of the members, NULL-terminated. */
extern const char *const jobs_split_members[];

/* Reads the members of the object and the rules between them. Sets r->split without its column. The
 * caller has set r->holdout and r->folds. */
void jobs_split_read(const json_t *validation, struct arena *arena, struct jobs_request *r,
                     struct problem *problem);
/* Reads the members of "search". */
void jobs_split_read_search(const json_t *search, struct arena *arena, struct jobs_split *out,
                            struct problem *problem);
/* Finds the columns of the splits in the dataset of a POST. A fault leaves a column without a name.
 * The job's target is known. */
void jobs_split_find(struct jobs_request *r, const json_t *root);
/* Check the column against the summary of the dataset. The job checks what it does not have. */
void jobs_split_check(struct jobs_request *r);
void jobs_split_check_search(struct jobs_request *r);
/* Writes the members into the open object. */
void jobs_split_write(const struct jobs_split *split, struct json_writer *w);
/* Returns what a column divides the rows for, "the validation" or "the search", if it must not be a
 * feature; otherwise NULL. */
const char *jobs_split_takes(const struct jobs_request *r, size_t column);

/* Whether an object that jobs_split_write has written has the same column in the same member. */
bool jobs_split_same(const struct jobs_split *split, const json_t *validation);

/* Returns the split of the folds of a search: its own, or that of the validation. */
const struct jobs_split *jobs_split_of_search(const struct jobs_request *r);
/* Sets out[2] to the columns of the splits, which are the last ones of the table that is trained
 * on. Returns their number. */
size_t jobs_split_columns(const struct jobs_request *r, struct jobs_column *out);
/* Sets the members of a training's request. */
void jobs_split_set(const struct jobs_request *r, dn_train_request *out);
/* Sets the members of a search's request. out->training is set. */
void jobs_split_set_search(const struct jobs_request *r, dn_search_request *out);
/* Returns the JSON pointer of the member that names the column; NULL: none. */
const char *jobs_split_pointer(const struct jobs_request *r, const char *column);

#endif
