/* Runs the search of a job: dn_search with the job's candidates. Its trials are stored as they end,
 * so that another attempt of the job continues after them. */
#ifndef JOBS_SEARCHING_H
#define JOBS_SEARCHING_H

#include "base/memory/arena.h"
#include "base/problem.h"
#include "jobs/mailbox.h"
#include "jobs/request/job_request.h"
#include "store/store.h"
#include <discern/search.h>

struct searching {
    struct store *store;
    const struct store_job *job;
    struct mailbox *mailbox;
    struct jobs_request *request;
    struct arena *arena;
    /* the last attempt after crashes: no trial begins if an earlier attempt has a good one */
    bool last_attempt;

    /* set by searching_run */
    const char *winner; /* JSON object: algorithm, params and features of the winner; the members of
                         * a combination */
    size_t candidate;   /* its number */
    size_t n_tried;     /* number of candidates that were tried */
    size_t n_rows;      /* that were searched */
    bool complete;
    double mean, error;  /* of the winner */
    const char *untried; /* what was not tried, for a message: algorithms, the combination */
    double combined;     /* mean of the combination; NaN: none was tried, or it failed */
    /* the best candidate, if a combination has won; its description is NULL otherwise */
    const char *best;
    size_t best_candidate;
    double best_mean, best_error;
    const dn_candidate *candidates; /* those of the search */
    double before;                  /* seconds of earlier attempts */
};

/* Searches, and sets algorithm, params and features of the request and of *training to those of the
 * winner. Returns false after setting the problem: no candidate could be fitted, or the daemon
 * ends.
 *
 *   training  the request of dn_train; its features have the inputs of the job */
bool searching_run(struct searching *s, const dn_run *run, dn_train_request *training,
                   struct problem *problem);
/* Makes the best candidate the winner, because the combination that has won could not be trained.
 * Returns false after setting the problem. */
bool searching_take_best(struct searching *s, dn_train_request *training, struct problem *problem);
/* Writes the member "search" of the job's result.
 *
 *   result  of the training of the winner */
void searching_write(const struct searching *s, const dn_train_result *result, struct buf *out);

#endif
