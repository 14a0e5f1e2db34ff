/* The mailbox between a training and the reporter: the latest progress and the history since the
 * last delivery go out, "stop" comes in. Training never waits for the store. */
#ifndef JOBS_MAILBOX_H
#define JOBS_MAILBOX_H

#include "base/buf.h"
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
    pthread_mutex_t lock; /* guards the plain members; leaf */
    pthread_cond_t delivered;
    struct store_claim claim;       /* of the running job; job 0: idle */
    bool delivering;                /* the reporter has taken rows and is at the store */
    bool fresh;                     /* progress has changed since the last delivery */
    struct dn_progress progress;    /* the latest; its pointers are not kept */
    double elapsed;                 /* at it, s */
    struct store_history_row *rows; /* since the last delivery; docs are malloc'ed */
    size_t n_rows, room;
    _Atomic int stop;   /* enum stop_reason of the present job */
    _Atomic bool drain; /* the daemon ends: stays set, whatever job comes */
};

void mailbox_init(struct mailbox *m);
void mailbox_done(struct mailbox *m);
/* The worker opens the mailbox at the start of a job and closes it after its end is stored. */
void mailbox_open(struct mailbox *m, const struct store_claim *claim);
void mailbox_report(struct mailbox *m, const dn_progress *progress, double elapsed);
/* The job has made its model: nothing is left to do. Before mailbox_take. */
void mailbox_complete(struct mailbox *m, double elapsed);
/* Takes what was not delivered yet; the caller frees the rows with mailbox_rows_free. From then on
 * the reporter only renews the lease and asks for cancellations. Waits for a delivery under way. */
void mailbox_take(struct mailbox *m, struct store_history_row **rows, size_t *n_rows,
                  struct buf *progress);
/* Frees rows that nobody took. Waits for a delivery under way. */
void mailbox_close(struct mailbox *m);
void mailbox_rows_free(struct store_history_row *rows, size_t n_rows);
/* The reporter: delivers to the store, renews the lease, notes a cancellation or a lost job.
 * Nothing if the mailbox is idle. */
void mailbox_deliver(struct mailbox *m, struct store *store);
/* Asks the training to stop; the first reason stays. */
void mailbox_stop(struct mailbox *m, enum stop_reason reason);
enum stop_reason mailbox_stopped(const struct mailbox *m);
bool mailbox_draining(const struct mailbox *m); /* the daemon ends, whatever else was asked for */

#endif
