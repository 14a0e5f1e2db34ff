/* The ring buffer of committed changes. Its lock is a leaf. */
#ifndef STORE_CHANGES_H
#define STORE_CHANGES_H

#include "store/store.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define STORE_RING_SIZE 4096

struct store_ring {
    pthread_mutex_t mutex;    /* guards the members below */
    pthread_cond_t cond;      /* a change was added, or store_wake was called */
    int64_t last;             /* number of the newest change; 0: none */
    _Atomic int64_t followed; /* number in the database of the newest change; 0: it has none */
    /* largest number of a change that a read of this process may have seen */
    _Atomic int64_t seen;
    /* [n_committing] changes of the COMMIT that is running; readers of the database may see them
     * already */
    const struct store_change *committing;
    size_t n_committing;
    uint64_t wakes;                               /* number of calls of store_wake */
    struct store_change changes[STORE_RING_SIZE]; /* change number s is at s % STORE_RING_SIZE */
};
/* Makes a condition variable that uses the monotonic clock. */
bool store_cond_init(pthread_cond_t *cond);
/* Returns the time timeout_ms from now, as a deadline for such a condition variable. */
struct timespec store_deadline(int64_t timeout_ms);

bool store_ring_init(struct store_ring *ring, struct problem *problem);
void store_ring_done(struct store_ring *ring);
/* The writer thread calls store_ring_begin before the COMMIT of these changes, which must stay
 * valid until store_ring_end. store_ring_end numbers the changes and adds them to the ring; n is 0
 * after a failed COMMIT. first: the number of the first change in the database; 0: it has none. */
void store_ring_begin(struct store_ring *ring, const struct store_change *changes, size_t n);
void store_ring_end(struct store_ring *ring, struct store_change *changes, size_t n, int64_t first);
/* Adds a change that was read from the database, where it has this number, unless the ring has it.
 * If the numbers before it were not read, all changes are lost. */
void store_ring_follow(struct store_ring *ring, const struct store_change *change, int64_t number);
/* Returns the number in the database of the newest change in the ring. */
int64_t store_ring_followed(struct store_ring *ring);
/* Begins again after the change with this number in the database. All changes are lost. */
void store_ring_restart(struct store_ring *ring, int64_t number);
/* Notes that a read sees the changes up to this number. */
void store_ring_see(struct store_ring *ring, int64_t number);
/* Overwrites all changes, so that each cache reads its data again. */
void store_ring_lose(struct store_ring *ring);

#endif
