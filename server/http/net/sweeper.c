/* The sweeper. It holds the lock of a connection while it uses the descriptor. The calls that it
 * makes there do not block: TCP_INFO, shutdown, and one send without waiting. */
#include "http/net/sweeper.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "http/body/body.h"
#include "http/net/tcp_progress.h"
#include "http/server.h"
#include <sys/socket.h>

/* ns between sweeps; a quarter of the shortest deadline if that is less */
#define TICK_NS 250000000
#define SHORTEST_TICK_NS 10000000
#define DRAIN_TICK_NS 50000000
/* Time for the header of a request beyond the limits of connections. */
#define RESERVED_HEADER_NS 2000000000

static void cut(struct http_server *server, struct connection *c, uint64_t state,
                enum verdict verdict) {
    if (!atomic_compare_exchange_strong(&c->state, &state, (((state >> 8) + 1) << 8) | PHASE_CUT)) {
        return; /* the phase has just changed */
    }
    log_debug("http.cut", log_str("client", c->peer_text),
              log_int("phase", (int64_t)(state & 0xff)));
    metric_add(server->metrics.timeouts, 1);
    if (verdict == VERDICT_ANSWER && c->final_response != NULL) {
        /* PHASE_CUT reads on, so that no reset overtakes the response */
        body_end_from_outside(c, PROBLEM_NONE, NULL, true);
    } else if (verdict == VERDICT_TIMEOUT) {
        body_end_from_outside(c, PROBLEM_REQUEST_TIMEOUT, "the request did not arrive in time",
                              false);
    } else {
        (void)shutdown(c->fd, SHUT_RDWR); /* makes the library close the connection */
    }
}

/* For a connection in PHASE_WORK. Returns true if the client has left since the last sweep. */
static bool leaves(struct connection *c) {
    struct tcp_progress progress;
    if (atomic_load(&c->gone)) {
        return false;
    }
    tcp_progress_read(c->fd, &progress);
    atomic_store(&c->gone, progress.ended);
    return progress.ended;
}

static void look(struct http_server *server, struct connection *c,
                 const struct deadline_limits *limits, int64_t now) {
    uint64_t state = atomic_load(&c->state);
    enum phase phase = (enum phase)(state & 0xff);
    if (phase == PHASE_NONE) {
        return;
    }
    struct tcp_progress progress;
    connection_progress(c, &progress);
    if (!progress.counted) {
        progress.sent += atomic_load(&c->sent);
    }
    struct deadline_view view = {.epoch = state >> 8,
                                 .phase = phase,
                                 .received = progress.received,
                                 .taken = atomic_load(&c->body),
                                 .sent = progress.sent,
                                 .counted = progress.counted};
    /* After a read that returned less than was asked for, the library waits for an event of its
     * edge-triggered epoll. There is none for a FIN that arrived before that read; this shutdown
     * makes one. */
    bool reading = phase == PHASE_HANDSHAKE || phase == PHASE_HEADER || phase == PHASE_IDLE ||
                   phase == PHASE_BODY || phase == PHASE_DISCARD;
    if (reading && progress.ended) {
        (void)shutdown(c->fd, SHUT_RD);
    }
    struct deadline_limits own = *limits;
    if (c->kind == CONNECTION_RESERVED && own.header_ns > RESERVED_HEADER_NS) {
        own.header_ns = RESERVED_HEADER_NS;
    }
    enum verdict verdict = deadline_check(&c->deadline, &view, &own, now);
    if (verdict != VERDICT_KEEP) {
        cut(server, c, state, verdict);
    } else if (atomic_load(&server->draining) &&
               (phase == PHASE_IDLE || (phase == PHASE_HEADER && progress.received == 0)) &&
               now - c->deadline.since_ns >= DRAIN_TICK_NS) {
        (void)shutdown(c->fd, SHUT_RD); /* a request that has arrived is still read and answered */
    }
}

static void sweep(struct http_server *server, const struct deadline_limits *limits) {
    size_t high = atomic_load(&server->connections.high);
    int64_t now = clock_monotonic_ns();
    bool left = false;
    for (size_t i = 0; i < high; i++) {
        struct connection *c = &server->connections.slots[i];
        if (connection_phase(c) == PHASE_NONE) {
            continue;
        }
        (void)pthread_mutex_lock(&c->lock);
        if (c->fd >= 0 && connection_phase(c) == PHASE_WORK &&
            c->deadline.epoch == atomic_load(&c->state) >> 8) {
            left = leaves(c) || left;
        } else if (c->fd >= 0) {
            look(server, c, limits, now);
        }
        (void)pthread_mutex_unlock(&c->lock);
    }
    if (left) {
        watchers_poke(&server->watchers, 0); /* a client of a waiting call may have left */
    }
}

static int64_t tick_of(const struct deadline_limits *limits) {
    const int64_t all[] = {limits->header_ns, limits->idle_ns, limits->keep_alive_ns,
                           limits->discard_ns};
    int64_t tick = TICK_NS;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tick = all[i] > 0 && all[i] / 4 < tick ? all[i] / 4 : tick;
    }
    return tick > SHORTEST_TICK_NS ? tick : SHORTEST_TICK_NS;
}

static void *sweeper_main(void *arg) {
    struct http_server *server = arg;
    struct sweeper *s = &server->sweeper;
    const struct deadline_limits limits = {
        .header_ns = (int64_t)(server->settings.header_timeout * 1e9),
        .idle_ns = (int64_t)(server->settings.idle_timeout * 1e9),
        .keep_alive_ns = (int64_t)(server->settings.keep_alive_timeout * 1e9),
        .discard_ns =
            server->settings.discard_limit > 0 ? (int64_t)(server->settings.discard_time * 1e9) : 0,
        .minimum_rate = server->settings.minimum_rate};
    const int64_t tick = tick_of(&limits);
    struct timer_thread *t = &s->thread;
    (void)pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        const bool hurries = atomic_load(&server->draining) && tick > DRAIN_TICK_NS;
        const int64_t until = clock_monotonic_ns() + (hurries ? DRAIN_TICK_NS : tick);
        while (!t->stop && !s->hurry && timer_thread_wait(t, until)) {
            continue;
        }
        s->hurry = false;
        (void)pthread_mutex_unlock(&t->lock);
        sweep(server, &limits);
        (void)pthread_mutex_lock(&t->lock);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

bool sweeper_start(struct sweeper *s, struct http_server *server) {
    return timer_thread_start(&s->thread, sweeper_main, server);
}

void sweeper_hurry(struct sweeper *s) {
    (void)pthread_mutex_lock(&s->thread.lock);
    s->hurry = true;
    (void)pthread_cond_signal(&s->thread.wake);
    (void)pthread_mutex_unlock(&s->thread.lock);
}

void sweeper_stop(struct sweeper *s) {
    timer_thread_join(&s->thread);
    timer_thread_done(&s->thread);
}
