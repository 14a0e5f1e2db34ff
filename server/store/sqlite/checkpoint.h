/* Checkpoints of the write-ahead log, made by the writer thread between transactions. */
#ifndef STORE_CHECKPOINT_H
#define STORE_CHECKPOINT_H

#include "base/metrics/metrics.h"
#include <sqlite3.h>
#include <stdbool.h>

struct store;

/* The write-ahead log. Used by the writer thread only. */
struct store_log {
    int pages;    /* number of frames */
    int done;     /* number of these frames that a checkpoint copied */
    int durable;  /* number of these frames that a commit with synchronous=FULL has synced; 0 if the
                    file has all frames */
    int retry;    /* length at which RESTART is tried again, after readers prevented it */
    bool blocked; /* readers prevented the last RESTART */
    struct metric *seconds, *made[4]; /* made: by mode */
};

void store_checkpoint_register(struct store_log *log);
/* Notes the lengths of the log after each commit of the writer's connection. */
void store_checkpoint_watch(struct store *store);
/* Returns false after a failure, also if readers prevented a part of the checkpoint. */
bool store_checkpoint(struct store *store, int mode, int wait_ms);
/* pressing: a caller waits for a commit. */
void store_checkpoint_due(struct store *store, bool pressing);
/* Whether the log must be shortened before more chunks are written. */
bool store_checkpoint_holds(struct store *store);
/* Whether the log has frames that the file has not. */
bool store_checkpoint_pending(struct store *store);
void store_checkpoint_idle(struct store *store);
void store_checkpoint_last(struct store *store);

#endif
