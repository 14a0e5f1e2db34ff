/* A thread that waits for deadlines and can be woken. */
#include "http/timer_thread.h"
#include <string.h>
#include <time.h>

bool monotonic_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) {
        return false;
    }
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(cond, &attr) == 0;
    (void)pthread_condattr_destroy(&attr);
    return ok;
}

bool timer_thread_start(struct timer_thread *t, void *(*run)(void *arg), void *arg) {
    *t = (struct timer_thread){.stop = false};
    if (pthread_mutex_init(&t->lock, NULL) != 0) {
        return false;
    }
    if (!monotonic_cond_init(&t->wake)) {
        (void)pthread_mutex_destroy(&t->lock);
        return false;
    }
    t->started = true; /* before the thread reads it */
    if (pthread_create(&t->thread, NULL, run, arg) != 0) {
        timer_thread_done(t);
    }
    return t->started;
}

bool timer_thread_wait(struct timer_thread *t, int64_t until_ns) {
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                   .tv_nsec = (long)(until_ns % 1000000000)};
    return pthread_cond_timedwait(&t->wake, &t->lock, &until) == 0;
}

void timer_thread_join(struct timer_thread *t) {
    if (!t->started) {
        return;
    }
    (void)pthread_mutex_lock(&t->lock);
    const bool running = !t->stop;
    t->stop = true;
    (void)pthread_cond_signal(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
    if (running) {
        (void)pthread_join(t->thread, NULL);
    }
}

void timer_thread_done(struct timer_thread *t) {
    if (t->started) {
        (void)pthread_cond_destroy(&t->wake);
        (void)pthread_mutex_destroy(&t->lock);
    }
    t->started = false;
}
