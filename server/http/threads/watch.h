/* Calls that wait for a change. A thread puts them on the pool after a poke of the server or of
 * their topic, and at their deadline. */
#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include "http/timer_thread.h"
#include <stdbool.h>
#include <stdint.h>

struct http_call;
struct http_server;

/* The topics that were poked since calls were last put on the pool. */
struct poked {
    bool all;
    size_t n;
    int64_t topics[64]; /* [n] distinct */
};

struct watchers {
    struct timer_thread thread; /* its lock guards all below */
    struct http_call *first;    /* waiting calls, linked by work.next, in no order */
    uint64_t pokes;             /* number of pokes so far */
    uint64_t served;            /* `pokes` when the calls were last put on the pool */
    struct poked poked;
    bool added; /* a call was added since the thread last read the list */
};
bool watchers_start(struct watchers *w, struct http_server *server);
/* Records a poke: the thread puts the calls of this topic on the pool. topic 0: all calls. */
void watchers_poke(struct watchers *w, int64_t topic);
/* Ends the thread. Jobs of the pool may still add calls. */
void watchers_stop(struct watchers *w);
/* To be called after pool_stop. Releases the calls that still wait (streams whose client has left),
 * and frees the lock. */
void watchers_done(struct watchers *w);
uint64_t watchers_pokes(struct watchers *w);
/* Puts the job of the call on the pool after a poke of its topic, at once if pokes after `seen`
 * were served already, and at the deadline. The caller has set work.run, and passes its reference
 * to the job. */
void watchers_add(struct watchers *w, struct http_call *call, uint64_t seen, int64_t deadline_ns);
/* Runs the check of http_watch, on a thread of the pool. It runs again after pokes and at the
 * deadline until it has filled the reply. */
void watch_begin(struct http_call *call);

#endif
