/* The member "promote" of a job: whether the new version of the model becomes live; and the columns
 * whose type has changed since the live version was trained. A client's request and the stored
 * request have the same form. */
#ifndef JOBS_JOB_PROMOTION_H
#define JOBS_JOB_PROMOTION_H

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_request.h"

/* Reads "promote". If it is absent, as in jobs of older releases, it is "always". Adds every fault
 * to `problem`. */
void jobs_promotion_read(const json_t *root, struct jobs_promotion *out, struct problem *problem);
/* Called for a POST after target, options and limits were read: checks that a comparison has a
 * target and validation rows. Warns of columns whose type has changed. */
void jobs_promotion_check(struct jobs_request *r, const json_t *root);
/* Writes the member "promote" into the open object. */
void jobs_promotion_write(const struct jobs_promotion *promotion, struct json_writer *w);
/* Returns the word for the kind: "always", "never" or "if_better". */
const char *jobs_promotion_name(enum jobs_promote kind);

/* Returns the bytes that the live version takes while it is evaluated: as it is stored, and in
 * memory. */
static inline int64_t jobs_promotion_memory(const struct store_model *live) {
    return 2 * live->bytes;
}

/* Receives the text of a warning. */
typedef void jobs_warning_fn(void *arg, const char *text);
/* Calls fn for each column that the live version uses and that has another type in the table
 * `schema`; columns after the first 20 are counted in one more text. */
void jobs_changed_types(const struct store_model *live, const struct schema *schema,
                        jobs_warning_fn *fn, void *arg);

#endif
