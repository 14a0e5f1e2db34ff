/* Several daemons with one database of PostgreSQL. */
#ifndef STORE_POSTGRES_SHARE_H
#define STORE_POSTGRES_SHARE_H

#include "store/internal.h"
#include <pthread.h>
#include <stdatomic.h>

/* The keys of advisory locks: "Discern" in ASCII, and the numbers after it.
 *   OPEN     shared by each daemon while it has the database open; alone by what keeps others out
 *   WRITE    by a transaction that writes more than chunks
 *   MIGRATE  while migrations are compared and applied */
#define STORE_POSTGRES_OPEN "19256242726072942"
#define STORE_POSTGRES_WRITE "19256242726072943"
#define STORE_POSTGRES_MIGRATE "19256242726072944"

/* A lock that the session for locks holds once, or is to release. */
struct store_held {
    struct store_held *next;
    int64_t key;
    enum store_hold what;
};

/* What a daemon needs in addition to the connections of the writer and of the readers. */
struct store_share {
    /* guards the connection and `held`. Held during calls of the server, so never taken by an I/O
     * thread or by the writer thread */
    pthread_mutex_t mutex;
    struct store_connection *connection; /* the session for locks; NULL: not connected */
    struct store_held *held;
    pthread_mutex_t list;        /* guards `released`; a leaf */
    struct store_held *released; /* locks that the follower is to release */
    /* The numbers in the ring are those of the database. False after a connection was lost, until a
     * transaction has compared them: the server may have lost commits, whose numbers are then used
     * again. */
    atomic_bool known;
    /* the members from here to the next comment are used by the writer thread only */
    int64_t number; /* of the newest change, while the transaction has the lock WRITE */
    int64_t next_blob, end_blob; /* ids that this daemon has taken; next == end: none */
    /* ---- */
    pthread_t follower;   /* learns of changes */
    bool follows;         /* the thread was started */
    int wake[2];          /* wake pipe of the thread */
    atomic_bool stopping; /* the thread is to end */
};
bool store_share_init(struct store_share *share, struct problem *problem);
void store_share_done(struct store_share *share);
/* Prepares a new connection of the writer: shows the other daemons that this one runs, as long as it
 * lives, and gives them time to show that they do after a restart of the server. */
bool store_share_appear(struct store *store, struct store_connection *c, struct problem *problem);
/* As take_blobs of struct store_engine. The ids come from a sequence, so that no other daemon waits
 * for the end of the transaction. */
int64_t store_share_blobs(struct store_tx *tx, int64_t n);

extern const struct store_sharing store_postgres_sharing;

#endif
