/* The ring of committed changes. One lock guards it, a leaf. */
#ifndef STORE_CHANGES_H
#define STORE_CHANGES_H

#include "store/store.h"
#include <pthread.h>

#define STORE_RING_SIZE 4096

struct store_ring {
    pthread_mutex_t mutex;                 /* guards what follows */
    pthread_cond_t cond;                   /* a change came, or store_wake */
    int64_t last;                          /* seq of the newest change; 0: none yet */
    const struct store_change *committing; /* [n_committing] being committed: readers of the
                                              database may see them before they are shown here */
    size_t n_committing;
    uint64_t wakes;                               /* how often store_wake was called */
    struct store_change changes[STORE_RING_SIZE]; /* seq s is at s % STORE_RING_SIZE */
};
bool store_ring_init(struct store_ring *ring, struct problem *problem);
void store_ring_done(struct store_ring *ring);
/* The writer, before the commit of these changes, which stay where they are until store_ring_end;
 * and after it: numbers them and shows them. A commit that failed has none. */
void store_ring_begin(struct store_ring *ring, const struct store_change *changes, size_t n);
void store_ring_end(struct store_ring *ring, struct store_change *changes, size_t n);

#endif
