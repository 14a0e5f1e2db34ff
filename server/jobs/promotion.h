/* Decides at the end of a training whether the new version becomes live. The live version is read
 * from the store and evaluated on the validation rows of the new one. */
#ifndef JOBS_PROMOTION_H
#define JOBS_PROMOTION_H

#include "base/memory/buf.h"
#include "jobs/request/job_request.h"
#include "store/store.h"
#include <discern/discern.h>

/* The training, and the tables that it has read. */
struct promotion_subject {
    struct store *store;
    const struct jobs_request *request;
    /* trained: the dataset of the training rows. validated: the dataset of the validation rows,
     * which is `trained` with a holdout or folds; NULL: there are no validation rows */
    const struct store_dataset *trained, *validated;
    const dn_train_request *training;
    const dn_run *run; /* run of the training; its allocator limits the memory of the comparison */
    const dn_train_result *result;
    const char *posted; /* warnings of the POST, a JSON array; NULL: none */
};

struct promotion {
    struct store_promotion decision;
    const struct jobs_promotion *rule;
    double figure, live_figure; /* the metric of both versions; NaN: not compared, or undefined */
    struct buf reason;
    /* JSON array: the warnings of the POST, then those of the comparison that are not among them */
    struct buf warnings;
};

/* Decides. Returns false if the store fails, if out of memory, or if the training was asked to
 * stop. Call promotion_done in any case. */
bool promotion_decide(const struct promotion_subject *subject, struct promotion *out,
                      struct problem *problem);
void promotion_done(struct promotion *promotion); /* {0} is allowed */
/* Writes the members "promoted" and "promotion" of a job's result into the open object. */
void promotion_write(const struct promotion *promotion, struct json_writer *w);

#endif
