/* Lingering closes. A descriptor whose response is written is read for a limited time: a close with
 * bytes unread would send a reset, which can overtake the response. One thread. */
#ifndef HTTP_LINGER_H
#define HTTP_LINGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINGER_MAX 512              /* descriptors at once; a further one closes the oldest */
#define LINGER_NS 5000000000        /* ns until a descriptor is closed */
#define LINGER_SILENT_NS 2000000000 /* ns without a byte until a descriptor is closed */

struct lingerer {
    pthread_t thread;
    pthread_mutex_t lock; /* guards incoming, n_incoming, stop */
    int pipe[2];          /* wakes the thread */
    int incoming[LINGER_MAX];
    size_t n_incoming;
    bool stop;
    bool started;
    struct lingering *state; /* the thread's own */
};
bool linger_start(struct lingerer *linger);
/* Takes the descriptor: shuts its write side, reads until the peer closes or the time is over,
 * closes. Any thread, does not block. */
void linger_add(struct lingerer *linger, int fd);
void linger_stop(struct lingerer *linger); /* closes all */

#endif
