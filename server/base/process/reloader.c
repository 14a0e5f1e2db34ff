/* The thread that reads changed files. */
#include "base/process/reloader.h"

#include <time.h>

#define CHECK_SECONDS 1

static void *reloader_main(void *arg) {
    struct reloader *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stopping) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += CHECK_SECONDS;
        while (!r->stopping && !r->asked &&
               pthread_cond_timedwait(&r->cond, &r->lock, &until) == 0) {
        }
        const bool asked = r->asked, stopping = r->stopping;
        r->asked = false;
        if (!stopping) {
            pthread_mutex_unlock(&r->lock);
            r->check(r->arg, asked);
            pthread_mutex_lock(&r->lock);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

bool reloader_start(struct reloader *r, void (*check)(void *arg, bool asked), void *arg) {
    pthread_condattr_t attributes;
    *r = (struct reloader){.check = check, .arg = arg};
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&r->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    r->started = pthread_create(&r->thread, NULL, reloader_main, r) == 0;
    if (!r->started) {
        pthread_cond_destroy(&r->cond);
        pthread_mutex_destroy(&r->lock);
    }
    return r->started;
}

void reloader_ask(struct reloader *r) {
    pthread_mutex_lock(&r->lock);
    r->asked = true;
    pthread_cond_signal(&r->cond);
    pthread_mutex_unlock(&r->lock);
}

void reloader_stop(struct reloader *r) {
    if (!r->started) {
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_signal(&r->cond);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    pthread_cond_destroy(&r->cond);
    pthread_mutex_destroy(&r->lock);
    r->started = false;
}
