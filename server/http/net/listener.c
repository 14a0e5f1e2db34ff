/* The acceptor: accepts connections, refuses those above a limit with a response, and gives the
 * others to the I/O threads in turn. */
#include "http/net/listener.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "base/process/wake_pipe.h"
#include "http/body/body.h"
#include "http/net/admission.h"
#include "http/net/sockets.h"
#include "http/server.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64       /* connections that are accepted from one socket at a time */
#define SHORT_OF_MS 50 /* ms without accepting when there are no descriptors left */

bool listener_open(struct listener *l, const char *address, bool inherits, bool secure,
                   struct problem *problem) {
    memset(l, 0, sizeof *l);
    l->secure = secure;
    if (!wake_pipe_open(l->pipe)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "cannot create a pipe: %s",
                           strerror(errno));
    }
    bool inherited = false;
    if ((!inherits || sockets_inherit(l, &inherited, problem)) &&
        (inherited || sockets_listen(l, address, problem))) {
        return true;
    }
    listener_stop(l);
    return false;
}

static void close_sockets(struct listener *l) {
    for (size_t i = 0; i < l->n; i++) {
        (void)close(l->fds[i]);
    }
    l->n = 0;
    if (l->path[0] != '\0') {
        (void)unlink(l->path);
    }
    l->path[0] = '\0';
}

bool http_probe_listen(const char *address, struct problem *problem) {
    struct listener l;
    memset(&l, 0, sizeof l);
    if (sockets_handed_over()) {
        return true;
    }
    bool good = sockets_listen(&l, address, problem);
    close_sockets(&l);
    return good;
}

/* ---- one connection ---- */

/* A client that expects TLS gets no response: the connection ends before a handshake. */
static void refuse(struct http_server *server, int fd, bool secure, enum problem_type type,
                   const char *detail, struct metric *counter) {
    metric_add(counter, 1);
    log_debug("http.refused", log_str("reason", detail));
    if (!secure) {
        body_write_refusal(server, fd, type, detail);
    }
    /* a close before the request is read would send a reset to the client */
    linger_add(&server->linger, fd);
}

void listener_forget(struct http_server *server, struct connection *c) {
    admission_leave(server, c);
    metric_add(server->metrics.connections, -1);
}

/* Returns the I/O thread of the next connection. Connections of --health-listen have their own. */
static struct io *io_of(struct http_server *server, enum connection_kind kind) {
    const size_t n_shared = server->n_io - (server->health.n > 0 ? 1 : 0);
    return &server
                ->io[kind == CONNECTION_HEALTH ? n_shared : server->listener.next_io++ % n_shared];
}

static void take(struct http_server *server, bool health, int fd, const struct sockaddr *sa,
                 socklen_t sa_size) {
    struct address peer = address_of_sockaddr(sa);
    bool trusted = address_rules_match(&server->trusted, &peer);
    const struct admission admission = admission_decide(server, &peer, trusted, health);
    const bool secure = !health && server->listener.secure;
    if (!admission.admitted) {
        refuse(server, fd, secure, admission.refusal, admission_refusal(admission.refusal),
               admission_metric(server, admission.refusal));
        return;
    }
    bool stale = false;
    struct connection *c = connections_open(&server->connections, fd, &stale);
    if (c == NULL) {
        if (admission.counted) {
            address_counts_leave(&server->per_address, &peer);
        }
        refuse(server, fd, secure, PROBLEM_UNAVAILABLE, "the daemon cannot hold another connection",
               server->metrics.refused_limit);
        return;
    }
    if (stale) {
        listener_forget(server, c);
    }
    metric_add(server->metrics.connections, 1);
    c->server = server;
    c->peer = peer;
    c->trusted = trusted;
    c->secure = secure;
    admission_enter(server, c, &admission);
    int on = 1;
    c->tcp = peer.family != ADDRESS_UNIX &&
             setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    address_format(&peer, c->peer_text);
    connections_publish(c);
    if (MHD_add_connection(io_of(server, c->kind)->daemon, fd, sa, sa_size) !=
        MHD_YES) { /* the library has closed the descriptor */
        listener_forget(server, c);
        connections_close(c);
    }
}

/* ---- the thread ---- */

/* Returns false if there are no descriptors left. */
static bool accept_some(struct http_server *server, bool health, int listening, int most) {
    for (int i = 0; i < most; i++) {
        struct sockaddr_storage sa;
        memset(&sa, 0, sizeof sa);
        socklen_t size = sizeof sa;
        int fd = accept(listening, (struct sockaddr *)&sa, &size);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) {
            continue;
        }
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            if (!server->listener.complained) {
                log_warn("http.accept", log_str("error", strerror(errno)));
            }
            server->listener.complained = true;
            return false;
        }
        if (fd < 0) {
            return true;
        }
        server->listener.complained = false;
        if (!descriptor_set_flags(fd)) {
            (void)close(fd);
            continue;
        }
        if (sa.ss_family == AF_UNSPEC) {
            sa.ss_family = AF_UNIX; /* an unnamed peer */
        }
        take(server, health, fd, (const struct sockaddr *)&sa, size);
    }
    return true;
}

/* Closes the sockets. A close would reset the connections that wait in the kernel's queue, so they
 * are accepted first. */
static void end_listening(struct http_server *server) {
    struct listener *const both[] = {&server->health, &server->listener};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < both[k]->n; i++) {
            (void)accept_some(server, k == 0, both[k]->fds[i], 1 << 16);
        }
        close_sockets(both[k]);
    }
    atomic_store(&server->listener.closed, true);
}

static void *listener_main(void *arg) {
    struct http_server *server = arg;
    struct listener *l = &server->listener, *health = &server->health;
    int64_t end = INT64_MAX; /* monotonic time in ns at which the listeners are closed;
                                INT64_MAX: not draining */
    bool pause = false;
    while (!atomic_load(&l->stop)) {
        struct pollfd fds[2 * LISTENER_MAX + 1];
        const size_t n = health->n + l->n;
        fds[0] = (struct pollfd){.fd = l->pipe[0], .events = POLLIN};
        for (size_t i = 0; i < n; i++) {
            const int fd = i < health->n ? health->fds[i] : l->fds[i - health->n];
            fds[i + 1] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
        int64_t now = clock_monotonic_ns();
        if (end == INT64_MAX && atomic_load(&server->draining)) {
            end = now + (int64_t)(server->settings.drain_delay * 1e9);
        }
        if (now >= end && n > 0) {
            end_listening(server);
            continue;
        }
        int timeout = pause                       ? SHORT_OF_MS
                      : end != INT64_MAX && n > 0 ? (int)((end - now) / 1000000) + 1
                                                  : -1;
        if (poll(fds, pause ? 1 : (nfds_t)(n + 1), timeout) < 0) {
            continue;
        }
        wake_pipe_clear(l->pipe);
        bool was_pause = pause;
        pause = false;
        for (size_t i = 0; i < n && !pause; i++) {
            pause = (was_pause || fds[i + 1].revents != 0) &&
                    !accept_some(server, i < health->n, fds[i + 1].fd, BATCH);
        }
    }
    return NULL;
}

bool listener_start(struct listener *l, struct http_server *server) {
    l->started = pthread_create(&l->thread, NULL, listener_main, server) == 0;
    return l->started;
}

void listener_wake(struct listener *l) {
    wake_pipe_wake(l->pipe);
}

void listener_stop(struct listener *l) {
    if (l->started) {
        atomic_store(&l->stop, true);
        listener_wake(l);
        (void)pthread_join(l->thread, NULL);
        l->started = false;
    }
    close_sockets(l);
    wake_pipe_close(l->pipe);
}
