/* Calls that wait for a change, and http_watch. */
#include "http/threads/watch.h"
#include "base/process/clock.h"
#include "http/call/call.h"
#include "http/server.h"

#define ROUND_NS 5000000 /* ns; pokes that come within this time are handled together */

static bool is_poked(const struct poked *poked, int64_t topic) {
    for (size_t i = 0; i < poked->n; i++) {
        if (poked->topics[i] == topic) {
            return true;
        }
    }
    return poked->all;
}

static void add_topic(struct poked *poked, int64_t topic) {
    const size_t capacity = sizeof poked->topics / sizeof poked->topics[0];
    if (topic == 0 || poked->n == capacity) {
        poked->all = true;
    } else if (!is_poked(poked, topic)) {
        poked->topics[poked->n++] = topic;
    }
}

/* Removes the calls whose topic was poked or whose deadline has passed from the list, and returns
 * them. *next: the earliest deadline of the calls that remain. */
static struct http_call *take_due(struct watchers *w, int64_t now, int64_t *next) {
    struct http_call *due = NULL;
    *next = INT64_MAX;
    struct http_call **link = &w->first;
    while (*link != NULL) {
        struct http_call *call = *link;
        if (call->work.deadline_ns <= now || is_poked(&w->poked, call->work.topic)) {
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

static void lock(struct watchers *w) {
    (void)pthread_mutex_lock(&w->thread.lock);
}

static void unlock(struct watchers *w) {
    (void)pthread_mutex_unlock(&w->thread.lock);
}

static void *watchers_main(void *arg) {
    struct http_server *server = arg;
    struct watchers *w = &server->watchers;
    int64_t next = INT64_MAX,
            round = 0; /* `next`: earliest known deadline; `round`: when pokes were last served */
    lock(w);
    while (!w->thread.stop) {
        int64_t now = clock_monotonic_ns();
        bool poked = w->pokes != w->served;
        int64_t until = poked ? round + ROUND_NS : w->added ? 0 : next;
        if (until > now) {
            (void)timer_thread_wait(&w->thread, until);
            continue;
        }
        if (poked) {
            w->served = w->pokes;
            round = now;
        }
        w->added = false;
        struct http_call *due = take_due(w, now, &next);
        w->poked.n = 0;
        w->poked.all = false;
        unlock(w);
        while (due != NULL) {
            struct http_call *call = due;
            due = call->work.next;
            pool_push(&server->pool, &call->work.job, false);
        }
        lock(w);
    }
    unlock(w);
    return NULL;
}

bool watchers_start(struct watchers *w, struct http_server *server) {
    return timer_thread_start(&w->thread, watchers_main, server);
}

void watchers_poke(struct watchers *w, int64_t topic) {
    lock(w);
    w->pokes++;
    add_topic(&w->poked, topic);
    (void)pthread_cond_signal(&w->thread.wake);
    unlock(w);
}

void watchers_stop(struct watchers *w) {
    timer_thread_join(&w->thread);
}

void watchers_done(struct watchers *w) {
    while (w->first != NULL) { /* streams whose client has left */
        struct http_call *call = w->first;
        w->first = call->work.next;
        call_unref(call);
    }
    timer_thread_done(&w->thread);
}

uint64_t watchers_pokes(struct watchers *w) {
    lock(w);
    uint64_t pokes = w->pokes;
    unlock(w);
    return pokes;
}

void watchers_add(struct watchers *w, struct http_call *call, uint64_t seen, int64_t deadline_ns) {
    lock(w);
    /* If a poke since the check began was served without this call, the call is due at once. A poke
     * that is not served yet will find the call in the list. */
    call->work.deadline_ns = w->served > seen ? 0 : deadline_ns;
    call->work.next = w->first;
    w->first = call;
    w->added = true;
    (void)pthread_cond_signal(&w->thread.wake);
    unlock(w);
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

void http_set_topic(struct http_call *call, int64_t topic) {
    call->work.topic = topic;
}

void http_watch(struct http_call *call, double seconds,
                bool (*check)(struct http_call *call, bool last)) {
    call->work.check = check;
    double most = seconds > 0 ? (seconds < 1e9 ? seconds : 1e9) : 0;
    call->work.until_ns = clock_monotonic_ns() + (int64_t)(most * 1e9);
}
