/* Admission of connections.
 *
 * Three kinds of connections have their own places: --max-connections for all routes,
 * ADMISSION_RESERVED for health checks beyond that limit, ADMISSION_HEALTH for the listener of
 * --health-listen. A new connection takes the place of the connection of its kind that has been
 * idle for the longest time. Reserved connections wait for a short request only, so there the
 * oldest one is closed: a client that sends its request at once is answered, however many others
 * connect. */
#include "http/net/admission.h"
#include "base/process/clock.h"
#include "http/body/body.h"
#include "http/net/tcp_progress.h"
#include "http/server.h"
#include <sys/ioctl.h>
#include <sys/socket.h>

#define ADMISSION_RESERVED 16
#define ADMISSION_HEALTH 64
/* ns; a new connection without a byte is not closed for another one before */
#define SILENT_NS 1000000000

const char *admission_refusal(enum problem_type refusal) {
    return refusal == PROBLEM_TOO_MANY_REQUESTS
               ? "this address has as many connections as --max-connections-per-address allows"
               : "the daemon has as many connections as --max-connections allows";
}

struct metric *admission_metric(struct http_server *server, enum problem_type refusal) {
    return refusal == PROBLEM_TOO_MANY_REQUESTS ? server->metrics.refused_address
                                                : server->metrics.refused_limit;
}

/* A handshake counts as idle after SILENT_NS, whatever has arrived of it. */
static bool may_be_idle(enum phase phase) {
    return phase == PHASE_HANDSHAKE || phase == PHASE_HEADER || phase == PHASE_IDLE;
}

/* Returns the time since which the connection has been idle; INT64_MAX: it is not idle. Idle means
 * that no byte of a request has arrived. The caller holds the lock of the connection. */
static int64_t idle_since(const struct connection *c, uint64_t state) {
    const enum phase phase = (enum phase)(state & 0xff);
    const struct deadline *d = &c->deadline;
    struct tcp_progress progress;
    int unread = 0;
    if (c->fd < 0 || !may_be_idle(phase)) {
        return INT64_MAX;
    }
    const bool swept = d->epoch == state >> 8;
    if (c->kind == CONNECTION_RESERVED) {
        return swept ? d->since_ns : clock_monotonic_ns();
    }
    if (phase == PHASE_HANDSHAKE) {
        return clock_monotonic_ns() - d->since_ns >= SILENT_NS ? d->since_ns : INT64_MAX;
    }
    connection_progress(c, &progress);
    /* Read for each connection: quiet_ms grows while the others are looked at. */
    const int64_t now = clock_monotonic_ns();
    if (ioctl(c->fd, FIONREAD, &unread) != 0 || unread > 0) {
        return INT64_MAX;
    }
    if (phase == PHASE_IDLE) {
        /* what the sweeper has noted may be a tick late, or absent */
        const int64_t since = progress.counted ? now - progress.quiet_ms * 1000000
                              : swept          ? d->since_ns
                                               : now;
        return !swept || (progress.received == d->last && d->first_ns == 0) ? since : INT64_MAX;
    }
    return swept && progress.received == 0 && now - d->since_ns >= SILENT_NS ? d->since_ns
                                                                             : INT64_MAX;
}

/* Ends the connection unless its state has changed. */
static bool end_idle(struct http_server *server, struct connection *c, uint64_t state) {
    const bool answers = c->kind == CONNECTION_RESERVED && (state & 0xff) == PHASE_HEADER;
    (void)pthread_mutex_lock(&c->lock);
    const bool ends =
        c->fd >= 0 &&
        atomic_compare_exchange_strong(&c->state, &state, ((state >> 8) + 1) << 8 | PHASE_CUT);
    if (ends && answers) {
        body_end_from_outside(c, c->refusal, admission_refusal(c->refusal), false);
    } else if (ends) {
        (void)shutdown(c->fd, SHUT_RDWR); /* makes the library close the connection */
    }
    (void)pthread_mutex_unlock(&c->lock);
    if (ends) {
        metric_add(answers ? admission_metric(server, c->refusal) : server->metrics.replaced, 1);
        admission_leave(server, c); /* its place is free now */
    }
    return ends;
}

/* Ends the connection of this kind that has been idle for the longest time; `of` not NULL: of the
 * client with this address. Returns false if there is none. */
static bool end_oldest(struct http_server *server, enum connection_kind kind,
                       const struct address *of) {
    const struct address client = of != NULL ? address_of_client(of) : (struct address){0};
    const size_t high = atomic_load(&server->connections.high);
    struct connection *oldest = NULL;
    uint64_t oldest_state = 0;
    int64_t oldest_since = INT64_MAX;
    for (size_t i = 0; i < high; i++) {
        struct connection *c = &server->connections.slots[i];
        const enum phase phase = connection_phase(c);
        if (c->kind != kind || !may_be_idle(phase) || (of != NULL && !atomic_load(&c->counted))) {
            continue;
        }
        const struct address peer = address_of_client(&c->peer);
        if (of != NULL && !address_equal(&peer, &client)) {
            continue;
        }
        (void)pthread_mutex_lock(&c->lock);
        const uint64_t state = atomic_load(&c->state);
        const int64_t since = idle_since(c, state);
        (void)pthread_mutex_unlock(&c->lock);
        if (since < oldest_since) {
            oldest = c;
            oldest_state = state;
            oldest_since = since;
        }
    }
    return oldest != NULL && end_idle(server, oldest, oldest_state);
}

/* ---- decisions ---- */

/* Returns true if fewer than `limit` connections of the kind are open, or one was ended. */
static bool has_place(struct http_server *server, enum connection_kind kind, int64_t limit) {
    return atomic_load(&server->connections.of_kind[kind]) < limit ||
           end_oldest(server, kind, NULL);
}

static bool count_peer(struct http_server *server, const struct address *peer) {
    const int64_t limit = server->settings.max_connections_per_address;
    return address_counts_enter(&server->per_address, peer, limit) ||
           (end_oldest(server, CONNECTION_COMMON, peer) &&
            address_counts_enter(&server->per_address, peer, limit));
}

static struct admission reserve(struct http_server *server, enum problem_type refusal) {
    return (struct admission){.admitted =
                                  has_place(server, CONNECTION_RESERVED, ADMISSION_RESERVED),
                              .kind = CONNECTION_RESERVED,
                              .refusal = refusal};
}

struct admission admission_decide(struct http_server *server, const struct address *peer,
                                  bool trusted, bool health) {
    if (health) {
        return (struct admission){.admitted =
                                      has_place(server, CONNECTION_HEALTH, ADMISSION_HEALTH),
                                  .kind = CONNECTION_HEALTH,
                                  .refusal = PROBLEM_UNAVAILABLE};
    }
    const bool counted = !trusted && peer->family != ADDRESS_UNIX;
    if (counted && !count_peer(server, peer)) {
        return reserve(server, PROBLEM_TOO_MANY_REQUESTS);
    }
    if (has_place(server, CONNECTION_COMMON, server->settings.max_connections)) {
        return (struct admission){.admitted = true, .kind = CONNECTION_COMMON, .counted = counted};
    }
    if (counted) {
        address_counts_leave(&server->per_address, peer);
    }
    return reserve(server, PROBLEM_UNAVAILABLE);
}

void admission_enter(struct http_server *server, struct connection *c,
                     const struct admission *admission) {
    c->kind = admission->kind;
    c->refusal = admission->refusal;
    atomic_store(&c->counted, admission->counted);
    atomic_store(&c->placed, true);
    atomic_fetch_add(&server->connections.of_kind[c->kind], 1);
}

void admission_leave(struct http_server *server, struct connection *c) {
    if (atomic_exchange(&c->counted, false)) {
        address_counts_leave(&server->per_address, &c->peer);
    }
    if (atomic_exchange(&c->placed, false)) {
        atomic_fetch_sub(&server->connections.of_kind[c->kind], 1);
    }
}

/* ---- requests ---- */

bool admission_check_route(const struct connection *c, const struct http_route *route,
                           bool has_body, struct problem *problem) {
    switch (c->kind) {
    case CONNECTION_COMMON:
    case CONNECTION_PROBE:
        return true;
    case CONNECTION_HEALTH:
        return route->reach != HTTP_REACH_COMMON ||
               problem_set(problem, PROBLEM_NOT_FOUND,
                           "%s is not served at the --health-listen address", route->path);
    case CONNECTION_RESERVED:
        break;
    }
    if (route->reach == HTTP_REACH_RESERVED && !has_body) {
        return true;
    }
    metric_add(admission_metric(c->server, c->refusal), 1);
    return problem_set(problem, c->refusal, "%s", admission_refusal(c->refusal));
}
