/* The pool of reading connections, and reads: short transactions on one of the connections. */
#ifndef STORE_READERS_H
#define STORE_READERS_H

#include "base/metrics/metrics.h"
#include "store/engine/query.h"
#include "store/store.h"
#include <pthread.h>

#define STORE_READERS 8

/* A place in the pool. */
struct store_reader {
    struct store_connection *connection; /* NULL: not opened yet */
    bool busy;
};
struct store_readers {
    pthread_mutex_t mutex; /* guards the places and `shut` */
    pthread_cond_t cond;   /* signalled when a place becomes free, or `shut` has changed */
    struct store_reader places[STORE_READERS];
    bool shut;                  /* no read begins; see store_readers_shut */
    struct metric *chunks_read; /* counts the chunks of columns that were read */
};

bool store_readers_init(struct store_readers *readers, struct problem *problem);
void store_readers_done(struct store_readers *readers);
/* Waits until no read runs and closes all connections. Until store_readers_admit, reads wait.
 * Returns false if a read did not end within the time: then nothing has changed. */
bool store_readers_shut(struct store_readers *readers, int64_t wait_ms);
void store_readers_admit(struct store_readers *readers);
/* Whether a thread waits in store_readers_shut: long reads should end. */
bool store_readers_wanted(struct store_readers *readers);

/* A read: one transaction, so all its statements see the same state of the database. */
struct store_read {
    struct store *store;
    struct store_connection *connection;
    struct problem *problem; /* the caller's problem; keeps the first failure */
    int place;               /* index of the place in the pool */
};
/* Borrows a connection, waiting for a free one, and begins a transaction. Returns false after
 * setting the problem; then store_read_end must not be called. */
bool store_read_begin(struct store_read *r, struct store *store, struct problem *problem);
bool store_read_begin_within(struct store_read *r, struct store *store, int64_t wait_ms,
                             struct problem *problem);
/* Ends the transaction and returns the connection to the pool. Returns false if the problem is
 * set. */
bool store_read_end(struct store_read *r);

#endif
