/* A thread that waits for deadlines and can be woken: the sweeper and the watcher. */
#ifndef HTTP_TIMER_THREAD_H
#define HTTP_TIMER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct timer_thread {
    pthread_t thread;
    pthread_mutex_t lock; /* guards `stop`, and data of the owner */
    pthread_cond_t wake;
    bool stop;
    bool started;
};

/* Makes a condition variable whose timed waits use the monotonic clock. */
bool monotonic_cond_init(pthread_cond_t *cond);
/* Starts the thread. Returns false if it cannot: nothing is left to free. */
bool timer_thread_start(struct timer_thread *t, void *(*run)(void *arg), void *arg);
/* Waits until woken, or until this time of the monotonic clock; INT64_MAX: no limit. The caller
 * holds the lock. Returns false at the time limit. */
bool timer_thread_wait(struct timer_thread *t, int64_t until_ns);
/* Sets `stop` and joins the thread. Does nothing if the thread was not started or has been
 * joined. */
void timer_thread_join(struct timer_thread *t);
/* Frees the lock and the condition variable after the join. */
void timer_thread_done(struct timer_thread *t);

#endif
