/* The parts of a store. ring, readers, parts, pins, appends, keys and writer have one lock each.
 * The locks are leaves: while one is held, no other lock is taken and no SQL runs. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "base/process/clock.h"
#include "store/engine/changes.h"
#include "store/engine/engine.h"
#include "store/engine/readers.h"
#include "store/engine/writer.h"
#include "store/store.h"
#include "store/tables/appends.h"
#include "store/tables/keys.h"
#include "store/tables/parts.h"
#include "store/tables/pins.h"
#include "store/tables/refusals.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store {
    const struct store_engine *engine;
    void *own;      /* what the engine keeps for this database */
    char *name;     /* of the database, in messages. SQLite: its path, without symbolic links */
    char owner[33]; /* owner id of this process in leases: 32 hex digits and NUL */
    int64_t lease_ms;
    int64_t bulk_limit;
    int64_t keep_audit; /* as in store_settings */
    bool no_hints;      /* as in store_settings */
    bool alone;         /* as in store_settings */
    int64_t next_blob;  /* SQLite: id of the next blob; used by the writer thread only */
    /* ms that the clock of the database's server is ahead of this one's */
    _Atomic int64_t clock_ahead;
    int64_t expire_ns;       /* not before this time are jobs of other processes queued again */
    atomic_bool backup_runs; /* a store_backup exists */
    struct store_ring ring;
    struct store_readers readers;
    struct store_parts parts;
    struct store_pins pins;
    struct store_appends appends;
    struct store_refusals refusals;
    struct store_keys keys;
    struct store_writer writer;
};

/* Returns the time of the database, in ms since 1970. */
static inline int64_t store_now(const struct store *store) {
    return clock_real_ms() + atomic_load(&store->clock_ahead);
}

/* Returns the engine for a database: a file name, or a URI of PostgreSQL. */
const struct store_engine *store_engine_of(const char *database);

/* ---- what the writer thread calls of the tables ---- */

/* sweep.c: removes some of the deleted data. busy: chunks are queued. *more: another step may be
 * needed. */
bool store_sweep_step(struct store *store, bool busy, bool *more);
/* job_run.c: renews the leases of the jobs that this process runs. */
void store_jobs_renew(struct store_tx *tx);
/* recovery.c: also called before the thread starts. Ends the leases of earlier processes and queues
 * their jobs again. The writer thread calls it again some seconds later if other processes may have
 * the database open, and if the disk was full. */
bool store_recover(struct store *store, struct problem *problem);
/* recovery.c: raises store->next_blob above the blobs of the database. c: the writer's
 * connection. */
void store_count_blobs(struct store *store, struct problem *problem);
/* recovery.c: refuses documents of a newer format, which this binary would misinterpret. */
bool store_check_documents(struct store_connection *c, struct problem *problem);

#endif
