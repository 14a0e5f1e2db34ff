/* Checks a request. The order matters: framing first, since it decides where the request ends. */
#include "http/protocol/request_check.h"
#include "base/ids.h"
#include "http/net/admission.h"
#include "http/protocol/fields.h"
#include "http/protocol/forwarded.h"
#include "http/protocol/origin.h"
#include "http/server.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An id must be unique, but not secret, so it is made without a system call. splitmix64 is a
 * bijection: an I/O thread never makes the same id twice. */
static void make_id(struct io *io, char out[CALL_ID_SIZE]) {
    if (io->id_seed == 0) {
        io->id_seed = ids_random() | 1;
    }
    uint64_t z = io->id_seed + ++io->id_count * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    const uint64_t words[2] = {io->id_seed >> 32, z};
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 24; i++) {
        out[i] = digits[i < 8 ? words[0] >> (28 - 4 * i) & 15 : words[1] >> (92 - 4 * i) & 15];
    }
    out[24] = '\0';
}

void request_check_id(struct http_call *call) {
    const char *id = call->request.headers.request_id;
    const size_t n = id != NULL ? strlen(id) : 0;
    if (id != NULL && n < CALL_ID_SIZE && part_consists_of((struct part){id, n}, "._:+/=@-")) {
        memcpy(call->request.id, id, n + 1);
    } else {
        make_id(call->io, call->request.id);
    }
}

/* "text/CSV; charset=utf-8" becomes "text/csv". A type that clients send for any body, as curl -d
 * and fetch do, becomes "". */
static void take_content_type(struct http_call *call) {
    const char *type = call->request.headers.content_type;
    if (type == NULL) {
        return;
    }
    struct part value = element_value((struct part){type, strlen(type)});
    char *lower = value.n > 0 ? arena_alloc(&call->arena, value.n + 1) : NULL;
    if (lower == NULL || part_is(value, "application/x-www-form-urlencoded") ||
        part_is(value, "application/octet-stream") || part_is(value, "text/plain")) {
        return;
    }
    part_lower(value, lower);
    call->request.content_type = lower;
}

static bool check_size(const struct http_call *call, const char *method, struct problem *problem) {
    size_t size = strlen(method) + call->request.target.raw_size + sizeof " HTTP/1.1\r\n";
    if (size > TARGET_MAX_LINE) {
        return problem_set(problem, PROBLEM_URI_TOO_LONG,
                           "the request line has %zu bytes, more than %d", size, TARGET_MAX_LINE);
    }
    return true;
}

static size_t base_segments(const struct http_call *call) {
    const struct target *base = &call->server->base;
    if (base->n_segments == 0 || call->request.target.n_segments < base->n_segments) {
        return 0;
    }
    for (size_t i = 0; i < base->n_segments; i++) {
        if (strcmp(base->segments[i], call->request.target.segments[i]) != 0) {
            return 0;
        }
    }
    return base->n_segments;
}

/* A client behind a trusted proxy is counted for each call. Other clients were counted when they
 * connected. */
static bool check_address(struct http_call *call, struct problem *problem) {
    struct http_server *server = call->server;
    int64_t limit = server->settings.max_connections_per_address;
    if (!call->connection->trusted || call->connection->kind != CONNECTION_COMMON ||
        address_rules_match(&server->trusted, &call->request.client_address)) {
        return true;
    }
    call->request.client_counted =
        address_counts_enter(&server->per_address, &call->request.client_address, limit);
    if (call->request.client_counted) {
        return true;
    }
    metric_add(server->metrics.refused_address, 1);
    return problem_set(
        problem, PROBLEM_TOO_MANY_REQUESTS,
        "%s, or its IPv6 network of 64 bits, has %lld open connections, the maximum for "
        "one address",
        call->request.client, (long long)limit);
}

static bool check_request(struct http_call *call, const char *method, struct problem *problem) {
    if (!forwarded_read(call, problem) || !check_size(call, method, problem) ||
        !headers_check_limits(&call->request.headers, problem)) {
        return false;
    }
    if (!router_method_known(method)) {
        return problem_set(problem, PROBLEM_NOT_IMPLEMENTED, "unknown method \"%.40s\"", method);
    }
    if (!target_parse_path(&call->request.target, &call->arena, problem)) {
        return false;
    }
    if (!origin_check_form(call, problem) || !origin_check_host(call, problem)) {
        return false;
    }
    if (!origin_check(call, problem)) {
        void (*cross_origin)(struct http_call *) = call->server->settings.cross_origin;
        if (cross_origin != NULL) {
            cross_origin(call);
        }
        return false;
    }
    return check_address(call, problem);
}

static void answer_options(struct http_call *call, const char *allow) {
    http_reply_header(call, "Allow", allow);
    if (call->request.cross_origin != NULL && call->request.headers.preflight != NULL) {
        http_reply_header(call, "Access-Control-Allow-Methods", allow);
        http_reply_header(call, "Access-Control-Allow-Headers",
                          "Authorization, Content-Type, Discern-Change, Idempotency-Key, If-Match, "
                          "If-None-Match, "
                          "Last-Event-ID, X-Request-Id");
        http_reply_header(call, "Access-Control-Max-Age", "600");
    }
    http_reply_empty(call, 204);
}

/* Reads the conditions. They are copied: a reply may be filled after the connection is over. */
static bool take_conditions(struct http_call *call, struct problem *problem) {
    const struct headers *h = &call->request.headers;
    struct {
        const char *name, *first, **joined;
    } conditions[] = {{"If-Match", h->if_match, &call->request.if_match},
                      {"If-None-Match", h->if_none_match, &call->request.if_none_match}};
    for (size_t i = 0; i < 2; i++) {
        if (conditions[i].first == NULL) {
            continue;
        }
        const char *list = headers_join(call->mhd, conditions[i].name, &call->arena);
        *conditions[i].joined = list != NULL ? arena_strdup(&call->arena, list) : NULL;
        if (*conditions[i].joined == NULL) {
            return problem_no_memory(problem);
        }
    }
    return true;
}

/* Reads Discern-Change. */
static bool take_change(struct http_call *call, struct problem *problem) {
    const struct headers *h = &call->request.headers;
    char *end = NULL;
    if (h->change == NULL) {
        return true;
    }
    errno = 0;
    call->request.change = strtoll(h->change, &end, 10);
    return (h->n_change == 1 && isdigit((unsigned char)h->change[0]) && *end == '\0' &&
            errno == 0) ||
           problem_set(
               problem, PROBLEM_BAD_REQUEST,
               "Discern-Change must be the number that an earlier answer had in this header, "
               "got \"%.40s\"%s",
               h->change, h->n_change > 1 ? " and others" : "");
}

/* Returns true if request.match.route handles the request, false if there is a problem or the reply
 * is filled. */
static bool route(struct http_call *call, struct problem *problem) {
    bool options = strcmp(call->request.method, "OPTIONS") == 0;
    if (call->request.target.asterisk) {
        if (options) {
            answer_options(call, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        } else {
            (void)problem_set(problem, PROBLEM_BAD_REQUEST,
                              "only OPTIONS may have the target \"*\"");
        }
        return false;
    }
    if (!router_match(call->server->router, call->request.method, &call->request.target,
                      base_segments(call), &call->arena, &call->request.match)) {
        return problem_no_memory(problem);
    }
    if (!call->request.match.known_path) {
        return problem_set(problem, PROBLEM_NOT_FOUND, "there is no route \"%.*s\"",
                           (int)(call->request.target.path_size < 200
                                     ? call->request.target.path_size
                                     : 200),
                           call->request.target.raw + call->request.target.path_at);
    }
    if (options) {
        answer_options(call, call->request.match.allow);
        return false;
    }
    if (call->request.match.route == NULL) {
        http_reply_header(call, "Allow", call->request.match.allow);
        return problem_set(problem, PROBLEM_METHOD_NOT_ALLOWED,
                           "%s is not allowed for this path, only %s", call->request.method,
                           call->request.match.allow);
    }
    if (!admission_check_route(call->connection, call->request.match.route,
                               call->request.headers.length != 0, problem)) {
        return false;
    }
    bool (*admit)(struct http_call *) = call->server->settings.admit;
    call->request.admitted = take_conditions(call, problem) && take_change(call, problem) &&
                             target_parse_query(&call->request.target, &call->arena, problem) &&
                             (admit == NULL || admit(call));
    return call->request.admitted;
}

enum request_check request_check(struct http_call *call, const char *url, const char *method,
                                 const char *version) {
    struct problem problem = {0};
    size_t n = strlen(method);
    n = n < sizeof call->request.method ? n : sizeof call->request.method - 1;
    memcpy(call->request.method, method, n);
    call->request.method[n] = '\0';
    headers_read(&call->request.headers, call->mhd, method, url, call->request.target.raw_size,
                 version);
    request_check_id(call);
    if (!headers_check_framing(&call->request.headers, &problem)) {
        http_reply_problem(call, &problem);
        return REQUEST_CLOSE;
    }
    take_content_type(call);
    if (check_request(call, method, &problem) && route(call, &problem)) {
        return REQUEST_PASS;
    }
    if (problem.type != PROBLEM_NONE) {
        http_reply_problem(call, &problem);
    }
    return call->connection->kind == CONNECTION_RESERVED ? REQUEST_CLOSE : REQUEST_REPLY;
}
