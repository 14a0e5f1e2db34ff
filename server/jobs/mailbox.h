/* The mailbox between a training and the reporter. The training leaves its latest progress and its
 * history, which the reporter delivers to the store; the reporter leaves the reason to stop. So the
 * training does not wait for the store. */
#ifndef JOBS_MAILBOX_H
#define JOBS_MAILBOX_H

#include "base/memory/buf.h"
#include "store/store.h"
#include <discern/discern.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a training is asked to stop. */
enum stop_reason { STOP_NOT, STOP_CANCELLED, STOP_LOST, STOP_DRAIN };

struct mailbox {
    pthread_mutex_t lock; /* guards all members that are not atomic; a leaf */
    pthread_cond_t delivered;
    struct store_claim claim;    /* claim of the running job; job 0: idle */
    bool delivering;             /* the reporter has taken rows and writes them to the store */
    bool ending;                 /* the end of the job is being written: mailbox_take was called */
    bool fresh;                  /* progress has changed since the last delivery */
    struct dn_progress progress; /* the latest progress; w and w0 are NULL */
    /* iteration of the last row of the history; 0: no row, or only that of the start. Used by the
     * training's thread only, without the lock */
    size_t row_iteration;
    char *trial;                    /* the latest trial of a search; NULL: no search is running */
    double elapsed;                 /* seconds from the start of the training to `progress` */
    struct store_history_row *rows; /* [n_rows] history rows that were not delivered yet; owns
                                       their docs */
    size_t n_rows, room;
    _Atomic int stop;   /* enum stop_reason of the running job */
    _Atomic bool drain; /* the daemon ends: all jobs stop */
    _Atomic bool beat;  /* the worker has called mailbox_beat since mailbox_take_beat */
};

void mailbox_init(struct mailbox *m);
void mailbox_done(struct mailbox *m);
/* The worker opens the mailbox at the start of a job and closes it after its end is stored. */
void mailbox_open(struct mailbox *m, const struct store_claim *claim);
/* Stores the progress. Adds a row to the history if the iteration differs from that of the last
 * row: computations between two iterations report the same iteration again. */
void mailbox_report(struct mailbox *m, const dn_progress *progress, double elapsed);
/* Stores the progress of a search and its latest trial, a JSON object: it is kept with the job. */
void mailbox_report_trial(struct mailbox *m, const struct dn_progress *progress, const char *trial,
                          double elapsed);
/* Called by the worker after store_job_end_search: `progress` has no trial any more, and a
 * cancellation of the search does not stop the training of the winner. Waits for the current
 * delivery. */
void mailbox_end_search(struct mailbox *m);
/* Sets the progress to 1. Called after the model is trained and before mailbox_take. */
void mailbox_complete(struct mailbox *m, double elapsed);
/* Waits for the current delivery and takes the rows and the progress that were not delivered; the
 * caller frees the rows with mailbox_rows_free. Later deliveries only renew the lease and read
 * cancellations; one that finds the claim gone is no fault, as the end may be written already. The
 * worker learns from the store if the claim was lost before. */
void mailbox_take(struct mailbox *m, struct store_history_row **rows, size_t *n_rows,
                  struct buf *progress);
/* Waits for the current delivery and frees the rows that were not taken. */
void mailbox_close(struct mailbox *m);
void mailbox_rows_free(struct store_history_row *rows, size_t n_rows);
/* Called by the reporter: delivers progress and history to the store, renews the lease, and stops
 * the training if the job was cancelled or its claim is lost. Has no effect without a job. */
void mailbox_deliver(struct mailbox *m, struct store *store);
/* Asks the training to stop. The first reason is kept. */
void mailbox_stop(struct mailbox *m, enum stop_reason reason);
enum stop_reason mailbox_stopped(struct mailbox *m);
/* Returns true if the daemon ends, even if the training was asked to stop for another reason
 * before. */
bool mailbox_draining(struct mailbox *m);
/* Notes that the worker is not stuck, as the two functions before do. */
void mailbox_beat(struct mailbox *m);
/* Whether the worker has noted that since the last call. */
bool mailbox_take_beat(struct mailbox *m);

#endif
