/* One log line and some counters for each request. */
#include "http/call/record.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "http/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SHOWN 300 /* bytes of the path in the log, at most */

static const double SECONDS[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                 0.25,   0.5,   1,      2.5,   5,    10,    30,   60};

static void collect(void *arg) {
    struct http_server *server = arg;
    metric_set(server->metrics.long_waiting, (double)atomic_load(&server->long_jobs.n_waiting));
    metric_set(server->metrics.held, (double)atomic_load(&server->memory.held));
    if (server->tls != NULL) {
        metric_set(server->metrics.tls_expires, (double)tls_expires(server->tls));
    }
}

static void init_tls(struct server_metrics *m) {
    m->handshakes =
        metrics_series(metrics_register(METRICS_COUNTER, "discern_tls_failed_handshakes_total",
                                        "Connections that ended before their TLS handshake.", "",
                                        NULL, 0),
                       (char *)NULL);
    m->tls_expires = metrics_series(
        metrics_register(METRICS_GAUGE, "discern_tls_certificate_expires_timestamp_seconds",
                         "Time at which the certificate in use ends, in seconds since 1970.", "",
                         NULL, 0),
        (char *)NULL);
}

bool record_init(struct http_server *server) {
    struct server_metrics *m = &server->metrics;
    m->requests =
        metrics_register(METRICS_COUNTER, "discern_http_requests_total",
                         "Requests answered, by route and status.", "route,status", NULL, 0);
    struct metrics_family *seconds =
        metrics_register(METRICS_HISTOGRAM, "discern_http_request_seconds",
                         "Seconds from the request line to the end of the answer.", "route",
                         SECONDS, sizeof SECONDS / sizeof SECONDS[0]);
    struct metrics_family *refused =
        metrics_register(METRICS_COUNTER, "discern_http_refused_connections_total",
                         "Connections refused at a limit.", "limit", NULL, 0);
    m->connections = metrics_series(metrics_register(METRICS_GAUGE, "discern_http_connections",
                                                     "Open connections.", "", NULL, 0),
                                    (char *)NULL);
    m->timeouts = metrics_series(metrics_register(METRICS_COUNTER, "discern_http_timeouts_total",
                                                  "Connections ended by a deadline.", "", NULL, 0),
                                 (char *)NULL);
    m->refused_long =
        metrics_series(metrics_register(METRICS_COUNTER, "discern_http_refused_long_calls_total",
                                        "Long calls refused because too many were waiting.", "",
                                        NULL, 0),
                       (char *)NULL);
    m->long_waiting =
        metrics_series(metrics_register(METRICS_GAUGE, "discern_http_long_calls_waiting",
                                        "Long calls that wait to compute.", "", NULL, 0),
                       (char *)NULL);
    m->replaced =
        metrics_series(metrics_register(METRICS_COUNTER, "discern_http_replaced_connections_total",
                                        "Idle connections closed at a limit for new ones.", "",
                                        NULL, 0),
                       (char *)NULL);
    m->held = metrics_series(
        metrics_register(
            METRICS_GAUGE, "discern_http_body_bytes",
            "Bytes of request bodies, upload readers and answers, counted against --body-memory.",
            "", NULL, 0),
        (char *)NULL);
    if (server->settings.tls_cert != NULL) {
        init_tls(m);
    }
    m->refused_limit = metrics_series(refused, "connections", (char *)NULL);
    m->refused_address = metrics_series(refused, "address", (char *)NULL);
    m->routes = calloc(server->n_routes + 1, sizeof *m->routes);
    if (m->routes == NULL) {
        return false;
    }
    for (size_t i = 0; i <= server->n_routes; i++) {
        m->routes[i].seconds =
            metrics_series(seconds, i < server->n_routes ? server->routes[i].path : "unmatched",
                           (char *)NULL);
    }
    metrics_on_scrape(collect, server);
    return true;
}

void record_done(struct http_server *server) {
    metrics_forget_scrape(server);
    free(server->metrics.routes);
    server->metrics.routes = NULL;
}

static struct metric *requests_of(struct http_server *server, size_t route, int status) {
    struct route_metrics *r = &server->metrics.routes[route];
    bool counted_apart =
        status >= SERVER_STATUS_LOW && status < SERVER_STATUS_LOW + SERVER_STATUS_COUNT;
    size_t i = counted_apart ? (size_t)(status - SERVER_STATUS_LOW) : 0;
    struct metric *m = atomic_load_explicit(&r->by_status[i], memory_order_acquire);
    if (m == NULL) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", status);
        m = metrics_series(server->metrics.requests,
                           route < server->n_routes ? server->routes[route].path : "unmatched",
                           text, (char *)NULL);
        atomic_store_explicit(&r->by_status[i], m, memory_order_release);
    }
    return m;
}

void record_call(struct http_call *call, int status) {
    if (call->connection->kind == CONNECTION_PROBE) {
        return;
    }
    struct http_server *server = call->server;
    const struct http_route *route = call->request.match.route;
    size_t index = route != NULL ? (size_t)(route - server->routes) : server->n_routes;
    double seconds = (double)(clock_monotonic_ns() - call->started_ns) * 1e-9;
    metric_add(requests_of(server, index, status), 1);
    metric_observe(server->metrics.routes[index].seconds, seconds);
    enum log_level level = route != NULL && route->quiet && status < 400 ? LOG_DEBUG : LOG_INFO;
    if (!log_enabled(level)) {
        return;
    }
    const struct target *t = &call->request.target;
    size_t shown = t->path_size > 0 ? t->path_size : strcspn(t->raw, "?");
    const struct log_field fields[] = {
        log_str("method", call->request.method[0] != '\0' ? call->request.method : "-"),
        log_strn("path", t->raw + t->path_at, shown < PATH_SHOWN ? shown : PATH_SHOWN),
        log_int("status", status),
        log_dbl("ms", (double)(int64_t)(seconds * 1e6) / 1e3),
        log_int("in", (int64_t)call->body.seen),
        log_int("out", (int64_t)call->reply.sent),
        log_str("client", call->request.client),
        log_str("request_id", call->request.id),
        log_str("token", call->request.client_name)};
    const size_t n = sizeof fields / sizeof fields[0];
    log_write_later(level, "http.request", fields, call->request.client_name != NULL ? n : n - 1);
}

void record_refusal(struct http_server *server, const struct connection *c, int status) {
    if (c->kind == CONNECTION_PROBE) {
        return;
    }
    metric_add(requests_of(server, server->n_routes, status), 1);
    log_info("http.request", log_str("method", "-"), log_str("path", "-"),
             log_int("status", status), log_str("client", c->peer_text));
}
