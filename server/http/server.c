/* Start, drain and stop of the server. */
#include "http/server.h"
#include "base/ids.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "http/body/body.h"
#include "http/call/dispatch.h"
#include "http/call/record.h"
#include "http/library_probe.h"
#include "http/protocol/origin.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* descriptors beside those of connections: files, the database, lingering connections */
#define SPARE_DESCRIPTORS 4096
#define OPERATIONS_THREADS 2
#define PAUSED_PATIENCE_NS 2000000000 /* how long http_stop waits for a paused body */
#define CALLS_PATIENCE_NS 3000000000  /* how long http_stop waits for handlers to end */
/* how long http_idle waits for a request whose header is arriving */
#define ARRIVING_PATIENCE_NS 500000000

/* ---- settings ---- */

static void fill_defaults(struct http_settings *s) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (s->io_threads <= 0) {
        s->io_threads = cores < 1 ? 1 : cores > 4 ? 4 : cores;
    }
    if (s->pool_threads <= 0) {
        s->pool_threads = 4;
    }
    s->max_waiting = s->max_waiting > 0 ? s->max_waiting : 256;
    if (s->max_connections <= 0) {
        s->max_connections = 1024;
    }
    if (s->max_connections_per_address <= 0) {
        s->max_connections_per_address = (s->max_connections + 3) / 4;
    }
    s->header_timeout = s->header_timeout > 0 ? s->header_timeout : 10;
    s->idle_timeout = s->idle_timeout > 0 ? s->idle_timeout : 30;
    s->keep_alive_timeout = s->keep_alive_timeout > 0 ? s->keep_alive_timeout : 75;
    s->minimum_rate = s->minimum_rate >= 0 ? s->minimum_rate : 64;
    s->body_memory = s->body_memory > 0 ? s->body_memory : INT64_C(512) << 20;
    s->listen = s->listen != NULL ? s->listen : "127.0.0.1:8080";
    s->base_path = s->base_path != NULL ? s->base_path : "";
}

bool http_check_settings(const struct http_settings *settings, struct problem *problem) {
    struct address_rules rules;
    return address_rules_init(&rules, &settings->trusted_proxies, problem) &&
           origin_check_lists(&settings->allowed_hosts, &settings->allow_origins, problem) &&
           tls_check(settings, problem);
}

/* Checks the base path and keeps it without the slash at its end. */
static bool take_base_path(struct http_server *server, struct problem *problem) {
    arena_init(&server->base_arena, 65536);
    const char *given = server->settings.base_path;
    size_t n = strlen(given);
    while (n > 0 && given[n - 1] == '/') {
        n--;
    }
    server->settings.base_path = "";
    if (n == 0) {
        return true;
    }
    char *path = arena_strndup(&server->base_arena, given, n);
    struct problem wrong = {0};
    if (path == NULL) {
        return problem_no_memory(problem);
    }
    server->base.raw = path;
    bool ok = path[0] == '/' && strpbrk(path, "?#") == NULL &&
              target_parse_path(&server->base, &server->base_arena, &wrong) &&
              server->base.n_segments <= 8;
    problem_done(&wrong);
    if (!ok) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--base-path must be a path like /discern, got \"%s\"", given);
    }
    server->settings.base_path = path;
    return true;
}

/* ---- start ---- */

/* Long calls that compute at the same time. */
static size_t long_turns(const struct http_settings *s) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores >= 1 && cores < s->pool_threads ? (size_t)cores : (size_t)s->pool_threads;
}

static size_t slots_of(const struct http_server *server) {
    size_t wanted = (size_t)server->settings.max_connections * 2 + SPARE_DESCRIPTORS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < wanted) {
        wanted = (size_t)limit.rlim_cur;
    }
    return wanted;
}

static bool start_io(struct http_server *server, struct problem *problem) {
    const int64_t n = server->settings.io_threads + (server->health.n > 0 ? 1 : 0);
    for (int64_t i = 0; i < n; i++) {
        struct io *io = &server->io[i];
        io->server = server;
        io->secure = server->tls != NULL && i < server->settings.io_threads;
        if (!dispatch_start(io, problem)) {
            return false;
        }
        server->n_io++;
    }
    return true;
}

static void io_done(struct io *io) {
    call_spares_free(io);
    free(io->decoded);
    io->decoded = NULL;
}

/* Probes the library. A daemon without TLS is started for that if all others have TLS. */
static bool probe(struct http_server *server, struct problem *problem) {
    struct io *last = &server->io[server->n_io - 1];
    if (!last->secure) {
        return library_probe(server, last, problem);
    }
    struct io plain = {.server = server};
    if (!dispatch_start(&plain, problem)) {
        return false;
    }
    const bool good = library_probe(server, &plain, problem);
    MHD_stop_daemon(plain.daemon);
    io_done(&plain);
    return good;
}

static bool start_all(struct http_server *server, struct problem *problem) {
    const struct http_settings *s = &server->settings;
    if (s->io_threads > HTTP_MAX_IO_THREADS || s->max_connections > HTTP_MAX_CONNECTIONS) {
        return problem_set(
            problem, PROBLEM_BAD_REQUEST,
            "at most %d I/O threads and %d connections are supported (got %lld and %lld)",
            HTTP_MAX_IO_THREADS, HTTP_MAX_CONNECTIONS, (long long)s->io_threads,
            (long long)s->max_connections);
    }
    if (!http_check_settings(s, problem) || !take_base_path(server, problem) ||
        !address_rules_init(&server->trusted, &s->trusted_proxies, problem)) {
        return false;
    }
    server->router = router_new(server->routes, server->n_routes, problem);
    if (server->router == NULL) {
        return false;
    }
    if (!dispatch_init()) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "the HTTP library is not linked as a shared object");
    }
    if (!address_counts_init(&server->per_address, (size_t)s->max_connections * 2)) {
        return problem_no_memory(problem);
    }
    if (!record_init(server) || !connections_init(&server->connections, slots_of(server))) {
        return problem_no_memory(problem);
    }
    if (!listener_open(&server->listener, s->listen, true, s->tls_cert != NULL, problem) ||
        (s->health_listen != NULL &&
         !listener_open(&server->health, s->health_listen, false, false, problem)) ||
        (s->tls_cert != NULL &&
         !tls_open(s, server->app, dispatch_spoke_plain, &server->tls, problem))) {
        return false;
    }
    if (!pool_start(&server->pool, (size_t)s->pool_threads) ||
        !pool_start(&server->operations, OPERATIONS_THREADS) ||
        !long_start(&server->long_jobs, long_turns(s), (size_t)s->max_waiting) ||
        !linger_start(&server->linger) || !watchers_start(&server->watchers, server)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "cannot start the HTTP threads");
    }
    if (!start_io(server, problem)) {
        return false;
    }
    if (!probe(server, problem)) {
        return false;
    }
    if (!sweeper_start(&server->sweeper, server) || !listener_start(&server->listener, server)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "cannot start the HTTP threads");
    }
    return true;
}

/* The new threads inherit a signal mask that blocks all signals: the main thread handles them. */
bool http_start(const struct http_settings *settings, const struct http_route *routes,
                size_t n_routes, void *app, struct http_server **out, struct problem *problem) {
    struct http_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return problem_no_memory(problem);
    }
    if (pthread_mutex_init(&server->relay_lock, NULL) != 0) {
        free(server);
        return problem_no_memory(problem);
    }
    server->settings = *settings;
    server->routes = routes;
    server->n_routes = n_routes;
    server->app = app;
    fill_defaults(&server->settings);
    server->seed = ids_random();
    server->memory.limit = server->settings.body_memory;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    struct http_server *nobody = *out;
    *out = server; /* before the first connection, since handlers may read it */
    bool ok = start_all(server, problem);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) {
        *out = nobody;
        (void)http_stop(server); /* no call has begun, so this succeeds */
    }
    return ok;
}

const char *http_address(const struct http_server *server) {
    return server->listener.address;
}

const char *http_health_address(const struct http_server *server) {
    return server->health.n > 0 ? server->health.address : NULL;
}

int http_port(const struct http_server *server) {
    return server->listener.port;
}

/* ---- drain and stop ---- */

void http_reload(struct http_server *server) {
    if (server->tls != NULL) {
        tls_reload(server->tls);
    }
}

void http_poke(struct http_server *server, int64_t topic) {
    watchers_poke(&server->watchers, topic);
}

void http_drain(struct http_server *server) {
    atomic_store(&server->draining, true);
    watchers_poke(&server->watchers, 0);
    listener_wake(&server->listener);
    sweeper_hurry(&server->sweeper);
}

bool http_draining(const struct http_server *server) {
    return atomic_load(&server->draining);
}

static void sleep_ms(long ms) {
    struct timespec ts = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&ts, NULL);
}

static int64_t in_flight(const struct http_server *server) {
    int64_t n = 0;
    for (size_t i = 0; i < server->n_io; i++) {
        n += atomic_load_explicit(&server->io[i].in_flight, memory_order_acquire);
    }
    return n;
}

/* Whether a request has arrived that is not counted yet: bytes unread on a connection, or a
 * connection that is not accepted yet. */
static bool arriving(struct http_server *server) {
    size_t high = atomic_load(&server->connections.high);
    bool found = !atomic_load(&server->listener.closed);
    for (size_t i = 0; i < high && !found; i++) {
        struct connection *c = &server->connections.slots[i];
        enum phase phase = connection_phase(c);
        if (phase != PHASE_HEADER && phase != PHASE_IDLE) {
            continue;
        }
        (void)pthread_mutex_lock(&c->lock);
        if (c->fd >= 0) {
            struct tcp_progress progress;
            int unread = 0;
            connection_progress(c, &progress);
            found = (phase == PHASE_HEADER && progress.received > 0) ||
                    (ioctl(c->fd, FIONREAD, &unread) == 0 && unread > 0);
        }
        (void)pthread_mutex_unlock(&c->lock);
    }
    return found;
}

/* A request whose header is never completed delays the drain by ARRIVING_PATIENCE_NS at most. */
bool http_idle(struct http_server *server, double timeout_s) {
    int64_t began = clock_monotonic_ns(), until = began + (int64_t)(timeout_s * 1e9);
    for (;;) {
        int64_t now = clock_monotonic_ns();
        if (in_flight(server) == 0 && (now - began >= ARRIVING_PATIENCE_NS || !arriving(server)) &&
            in_flight(server) == 0) {
            return true;
        }
        if (now >= until) {
            return false;
        }
        sleep_ms(2);
    }
}

/* The library panics when it is stopped with suspended connections. Handlers on the pool end, since
 * http_gone returns true. A paused body is resumed after PAUSED_PATIENCE_NS. */
static bool wait_for_suspended(struct http_server *server) {
    int64_t began = clock_monotonic_ns();
    while (atomic_load(&server->suspended) > 0) {
        int64_t waited = clock_monotonic_ns() - began;
        if (waited >= CALLS_PATIENCE_NS) {
            return false;
        }
        if (waited >= PAUSED_PATIENCE_NS) {
            relay_resume_all(server);
        }
        sleep_ms(2);
    }
    return true;
}

bool http_stop(struct http_server *server) {
    if (server == NULL) {
        return true;
    }
    atomic_store(&server->draining, true);
    listener_stop(&server->listener);
    listener_stop(&server->health);
    atomic_store(&server->stopping, true);
    if (server->watchers.thread.started) {
        watchers_poke(&server->watchers, 0);
        if (!wait_for_suspended(server)) {
            return false;
        }
    }
    sweeper_stop(&server->sweeper);
    for (size_t i = 0; i < server->n_io; i++) {
        if (server->io[i].daemon != NULL) {
            MHD_stop_daemon(server->io[i].daemon);
        }
        server->io[i].daemon = NULL;
    }
    watchers_stop(&server->watchers);
    if (!pool_stop(&server->operations, CALLS_PATIENCE_NS) ||
        !long_stop(&server->long_jobs, CALLS_PATIENCE_NS) ||
        !pool_stop(&server->pool, CALLS_PATIENCE_NS)) {
        return false; /* `next` of a stream whose client has left still runs */
    }
    watchers_done(&server->watchers);
    linger_stop(&server->linger);
    for (size_t i = 0; i < server->n_io; i++) {
        io_done(&server->io[i]);
    }
    connections_done(&server->connections);
    tls_close(server->tls);
    record_done(server);
    address_counts_done(&server->per_address);
    router_free(server->router);
    arena_done(&server->base_arena);
    (void)pthread_mutex_destroy(&server->relay_lock);
    free(server);
    return true;
}
