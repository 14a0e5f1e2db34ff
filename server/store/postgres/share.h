/* Several daemons with one database of PostgreSQL. */
#ifndef STORE_POSTGRES_SHARE_H
#define STORE_POSTGRES_SHARE_H

#include "store/internal.h"
#include <pthread.h>

/* The keys of advisory locks: "Discern" in ASCII, and the numbers after it.
 *   OPEN     shared by each daemon while it has the database open; alone by what keeps others out
 *   WRITE    by a transaction that writes more than chunks
 *   MIGRATE  while migrations are compared and applied */
#define STORE_POSTGRES_OPEN "19256242726072942"
#define STORE_POSTGRES_WRITE "19256242726072943"
#define STORE_POSTGRES_MIGRATE "19256242726072944"

/* What a daemon needs in addition to the connections of the writer and of the readers. */
struct store_share {
    pthread_mutex_t mutex; /* guards the connection and the ids */
    /* for what is neither a read nor a transaction of the writer thread: locks that are held by the
     * session, and ids of blobs; NULL: not connected */
    struct store_connection *connection;
    int64_t next_blob, end_blob; /* ids that this daemon has taken; next == end: none */
    pthread_t follower;          /* learns of changes */
    bool follows;                /* the thread was started */
    int stop[2];                 /* wake pipe: is woken to end the thread */
};
bool store_share_init(struct store_share *share, struct problem *problem);
void store_share_done(struct store_share *share);
/* Sets the change from which the ring follows the database. c: the writer's connection. */
bool store_share_begin(struct store *store, struct store_connection *c, struct problem *problem);
/* Shows the other daemons that this one runs, as long as the writer's connection lives. */
bool store_share_appear(struct store *store, struct store_connection *c, struct problem *problem);
/* As take_blobs of struct store_engine. The ids are not in the transaction: no other daemon waits for
 * it to end. */
int64_t store_share_blobs(struct store_tx *tx, int64_t n);

extern const struct store_sharing store_postgres_sharing;

#endif
