/* The members "group", "order", "column" and "repeats" of "validation": how the rows are divided. */
#ifndef JOBS_JOB_SPLIT_H
#define JOBS_JOB_SPLIT_H

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_request.h"

/* Names of the members, NULL-terminated. */
extern const char *const jobs_split_members[];

/* Reads the members of the object and the rules between them. Sets r->split without its column. The
 * caller has set r->holdout and r->folds. */
void jobs_split_read(const json_t *validation, struct arena *arena, struct jobs_request *r,
                     struct problem *problem);
/* Finds the column of the split in the dataset of a POST and sets r->split_column. A fault leaves
 * it without a name. The job's target is known. */
void jobs_split_find(struct jobs_request *r, const json_t *root);
/* Checks the column against the summary of the dataset. The job checks what it does not have. */
void jobs_split_check(struct jobs_request *r);
/* Writes the members into the open object. */
void jobs_split_write(const struct jobs_split *split, struct json_writer *w);
/* Whether the column of the split must not be a feature. */
bool jobs_split_takes(const struct jobs_request *r, size_t column);

/* Whether an object that jobs_split_write has written has the same column in the same member. */
bool jobs_split_same(const struct jobs_split *split, const json_t *validation);

/* Sets the members of a training's request. index: the column of the split in the source */
void jobs_split_set(const struct jobs_split *split, size_t index, dn_train_request *out);

#endif
