/* Calls that wait for a change, and http_watch. */
#include "http/call/watch.h"
#include "base/clock.h"
#include "http/call/call.h"
#include "http/server.h"
#include <string.h>
#include <time.h>

#define ROUND_NS 5000000 /* ns; pokes within this time are served together */

static void timespec_of(int64_t ns, struct timespec *out) {
    out->tv_sec = (time_t)(ns / 1000000000);
    out->tv_nsec = (long)(ns % 1000000000);
}

/* Removes the due calls (or all) from the list. *next: the earliest deadline of the others. */
static struct http_call *take_due(struct watchers *w, bool all, int64_t now, int64_t *next) {
    struct http_call *due = NULL;
    *next = INT64_MAX;
    struct http_call **link = &w->first;
    while (*link != NULL) {
        struct http_call *call = *link;
        if (all || call->work.deadline_ns <= now) {
            *link = call->work.next;
            call->work.next = due;
            due = call;
        } else {
            *next = call->work.deadline_ns < *next ? call->work.deadline_ns : *next;
            link = &call->work.next;
        }
    }
    return due;
}

static void wait_until(struct watchers *w, int64_t until) {
    struct timespec ts;
    timespec_of(until, &ts);
    if (until == INT64_MAX) {
        (void)pthread_cond_wait(&w->wake, &w->lock);
    } else {
        (void)pthread_cond_timedwait(&w->wake, &w->lock, &ts);
    }
}

static void *watchers_main(void *arg) {
    struct http_server *server = arg;
    struct watchers *w = &server->watchers;
    int64_t next = INT64_MAX,
            round = 0; /* `next`: earliest known deadline; `round`: when pokes were last served */
    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t now = clock_monotonic_ns();
        bool poked = w->pokes != w->served;
        int64_t until = poked ? round + ROUND_NS : w->added ? 0 : next;
        if (until > now) {
            wait_until(w, until);
            continue;
        }
        if (poked) {
            w->served = w->pokes;
            round = now;
        }
        w->added = false;
        struct http_call *due = take_due(w, poked, now, &next);
        (void)pthread_mutex_unlock(&w->lock);
        while (due != NULL) {
            struct http_call *call = due;
            due = call->work.next;
            pool_push(&server->pool, &call->work.job);
        }
        (void)pthread_mutex_lock(&w->lock);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool watchers_start(struct watchers *w, struct http_server *server) {
    memset(w, 0, sizeof *w);
    if (pthread_mutex_init(&w->lock, NULL) != 0) {
        return false;
    }
    if (!monotonic_cond_init(&w->wake)) {
        (void)pthread_mutex_destroy(&w->lock);
        return false;
    }
    w->started = pthread_create(&w->thread, NULL, watchers_main, server) == 0;
    if (!w->started) {
        (void)pthread_cond_destroy(&w->wake);
        (void)pthread_mutex_destroy(&w->lock);
    }
    return w->started;
}

void watchers_poke(struct watchers *w) {
    (void)pthread_mutex_lock(&w->lock);
    w->pokes++;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
}

void watchers_stop(struct watchers *w) {
    if (!w->started) {
        return;
    }
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
}

void watchers_done(struct watchers *w) {
    if (!w->started) {
        return;
    }
    while (w->first != NULL) { /* streams whose client has left */
        struct http_call *call = w->first;
        w->first = call->work.next;
        call_unref(call);
    }
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->lock);
    w->started = false;
}

uint64_t watchers_pokes(struct watchers *w) {
    (void)pthread_mutex_lock(&w->lock);
    uint64_t pokes = w->pokes;
    (void)pthread_mutex_unlock(&w->lock);
    return pokes;
}

void watchers_add(struct watchers *w, struct http_call *call, uint64_t seen, int64_t deadline_ns) {
    (void)pthread_mutex_lock(&w->lock);
    /* A poke since the check began was served without this call: it is due at once. A poke that is
     * not served yet will find the call in the list. */
    call->work.deadline_ns = w->pokes != seen && w->pokes == w->served ? 0 : deadline_ns;
    call->work.next = w->first;
    w->first = call;
    w->added = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
}

/* ---- http_watch ---- */

void watch_begin(struct http_call *call) {
    struct watchers *w = &call->server->watchers;
    uint64_t seen = watchers_pokes(w);
    bool last = clock_monotonic_ns() >= call->work.until_ns ||
                atomic_load(&call->server->draining) || call_is_head(call) || http_gone(call);
    if (call->work.check(call, last) || last) {
        call_answer(call); /* 500 if the last check has filled no reply */
        return;
    }
    call->work.run = watch_begin;
    watchers_add(w, call, seen, call->work.until_ns);
}

void http_watch(struct http_call *call, double seconds,
                bool (*check)(struct http_call *call, bool last)) {
    call->work.check = check;
    double most = seconds > 0 ? (seconds < 1e9 ? seconds : 1e9) : 0;
    call->work.until_ns = clock_monotonic_ns() + (int64_t)(most * 1e9);
}
