/* Watchers: calls that wait for something to change. A thread puts them on the pool when the server
 * is poked or their time is over. */
#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct http_call;
struct http_server;

struct watchers {
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;
    struct http_call *first; /* waiting calls, linked by watch_next, in no order */
    uint64_t pokes;          /* how often the server was poked */
    uint64_t served;         /* pokes the waiting calls know of */
    bool added;              /* a call was added since the thread last looked at the list */
    bool stop;
    bool started;
};
bool watchers_start(struct watchers *w, struct http_server *server);
void watchers_poke(struct watchers *w);
/* Nothing is put on the pool from here on; what the pool still runs may be added. */
void watchers_stop(struct watchers *w);
/* Once the pool has ended: lets go of what was added. */
void watchers_done(struct watchers *w);
uint64_t watchers_pokes(struct watchers *w);
/* Puts the call's job on the pool when the server has been poked more often than `seen`, or at the
 * deadline. job_run is set; the caller's reference is the job's. */
void watchers_add(struct watchers *w, struct http_call *call, uint64_t seen, int64_t deadline_ns);
/* Runs the check that http_watch asked for, on a pool thread: now, and again whenever the call's
 * turn comes. */
void watch_begin(struct http_call *call);

#endif
