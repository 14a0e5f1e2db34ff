/* Fills the reply, and queues it with the library. */
#include "http/call/reply.h"
#include "base/ids.h"
#include "base/log/log.h"
#include "http/body/body.h"
#include "http/call/reply_coding.h"
#include "http/call/stream.h"
#include "http/library_quirks.h"
#include "http/server.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Bytes. A larger reply to a local socket is passed in pieces of this size, which are counted. */
#define PIECE (64 * 1024)
#define RETRY_AFTER "1" /* seconds; sent with 429 and 503 unless the handler has set the header */

/* ---- filling ---- */

bool reply_fill(struct http_call *call, enum reply_kind kind, int status,
                const char *content_type) {
    if (call->reply.kind != REPLY_NONE) {
        log_error("http.second_answer", log_str("request_id", call->request.id),
                  log_int("first", call->reply.status), log_int("second", status));
        return false;
    }
    call->reply.kind = kind;
    call->reply.length = UINT64_MAX;
    call->reply.status = status;
    call->reply.content_type = content_type;
    return true;
}

/* Counts the reply against --body-memory until it is sent. Returns false if there is no room. A
 * call that has changed something is never refused here. */
static bool hold(struct http_call *call, size_t size) {
    if (call->request.match.route == NULL || !call->request.match.route->changes) {
        return memory_hold(&call->server->memory, &call->reply.share, size);
    }
    memory_hold_anyway(&call->server->memory, &call->reply.share, size);
    return true;
}

/* Frees the unused end of a large buffer: its capacity is up to twice its size. */
static char *shrink(char *memory, size_t size) {
    char *less = size > MEMORY_UNCOUNTED ? realloc(memory, size + 1) : NULL;
    return less != NULL ? less : memory;
}

bool http_hold(struct http_call *call, size_t bytes) {
    /* the buffers of a stream are counted too */
    const size_t others = call->reply.kind == REPLY_STREAM && call->reply.share > call->reply.held
                              ? call->reply.share - call->reply.held
                              : 0;
    if (!memory_hold(&call->server->memory, &call->reply.share, others + bytes)) {
        return false;
    }
    call->reply.held = bytes;
    return true;
}

bool http_may_ever_hold(const struct http_call *call, size_t bytes) {
    const uint64_t limit = (uint64_t)call->server->memory.limit;
    return call->body.share <= limit && bytes <= limit - call->body.share;
}

void http_reply(struct http_call *call, int status, const char *content_type, struct buf *body) {
    size_t size = 0;
    char *memory = buf_take(body, &size);
    if (memory == NULL) {
        buf_done(body);
        http_fail(call, PROBLEM_UNAVAILABLE, "out of memory while the answer was written");
        return;
    }
    struct reply *reply = &call->reply;
    if ((status == 200 && reply_mismatch(call)) ||
        !reply_fill(call, REPLY_MEMORY, status, content_type)) {
        free(memory);
        return;
    }
    reply->bytes = reply->memory = shrink(memory, size);
    reply->size = size;
    reply_encode(call);
    if (!hold(call, reply->size)) { /* a 304 has no body and needs no room */
        reply_done(reply);
        reply->kind = REPLY_NONE;
        reply->n_headers = 0;
        if (memory_may_ever_hold(&call->server->memory, reply->size)) {
            http_fail(call, PROBLEM_UNAVAILABLE,
                      "an answer of %zu bytes does not fit in the memory that the bodies and "
                      "answers in flight leave of --body-memory; try again",
                      reply->size);
        } else {
            http_fail(call, PROBLEM_BODY_TOO_LARGE,
                      "an answer of %zu bytes needs more memory than --body-memory allows; send "
                      "fewer rows",
                      reply->size);
        }
    }
}

void http_reply_static(struct http_call *call, int status, const char *content_type,
                       const void *bytes, size_t size) {
    if ((status == 200 && reply_mismatch(call)) ||
        !reply_fill(call, REPLY_STATIC, status, content_type)) {
        return;
    }
    call->reply.bytes = bytes;
    call->reply.size = size;
    reply_encode(call);
}

void http_reply_empty(struct http_call *call, int status) {
    (void)reply_fill(call, REPLY_EMPTY, status, NULL);
}

void http_reply_problem(struct http_call *call, struct problem *problem) {
    if (problem->type == PROBLEM_NONE) {
        (void)problem_set(problem, PROBLEM_INTERNAL, "a problem without a type");
    }
    enum problem_type type = problem->type;
    int status = problem_status(type);
    if (status == 500) {
        log_error("http.internal", log_str("request_id", call->request.id),
                  log_str("detail", problem->detail));
    }
    struct buf text = {0};
    problem_write(problem, call->server->settings.base_path, call->request.id, &text);
    buf_putc(&text, '\n');
    problem_done(problem);
    size_t size = 0;
    char *memory = buf_take(&text, &size);
    if (memory == NULL) { /* out of memory: the status without a document */
        buf_done(&text);
        http_reply_empty(call, status);
        return;
    }
    if (!reply_fill(call, REPLY_MEMORY, status, "application/problem+json")) {
        free(memory);
        return;
    }
    memory_hold_anyway(&call->server->memory, &call->reply.share,
                       size); /* replaces what the handler held */
    call->reply.problem = type;
    call->reply.memory = memory;
    call->reply.bytes = memory;
    call->reply.size = size;
}

void http_fail(struct http_call *call, enum problem_type type, const char *format, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    struct problem problem = {0};
    (void)problem_set(&problem, type, "%s", text);
    http_reply_problem(call, &problem);
}

void http_reply_header(struct http_call *call, const char *name, const char *value) {
    struct reply *reply = &call->reply;
    bool printable = true;
    for (const char *p = value; *p != '\0'; p++) {
        printable = printable && ((unsigned char)*p >= ' ' || *p == '\t') && *p != 0x7f;
    }
    if (!printable || reply->n_headers == CALL_MAX_HEADERS) {
        log_error("http.header_dropped", log_str("request_id", call->request.id),
                  log_str("name", name));
        return;
    }
    struct header_field h = {.name = arena_strdup(&call->arena, name),
                             .value = arena_strdup(&call->arena, value)};
    if (h.name != NULL && h.value != NULL) {
        reply->headers[reply->n_headers++] = h;
    }
}

void reply_done(struct reply *reply) {
    free(reply->memory);
    reply->memory = NULL;
}

/* ---- headers ---- */

static bool has_header(const struct reply *reply, const char *name) {
    for (size_t i = 0; i < reply->n_headers; i++) {
        if (strcasecmp(reply->headers[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *vary_of(const struct http_server *server) {
    return server->settings.allow_origins.n > 0 ? "Accept, Accept-Encoding, Origin"
                                                : "Accept, Accept-Encoding";
}

static bool each_change(const struct http_call *call,
                        bool (*each)(void *arg, const char *name, const char *value), void *arg) {
    char text[24];
    int64_t (*of)(const struct http_call *) = call->server->settings.change;
    const int64_t change = of != NULL && call->request.admitted ? of(call) : 0;
    if (change == 0) {
        return true;
    }
    (void)snprintf(text, sizeof text, "%" PRId64, change);
    return each(arg, "Discern-Change", text);
}

bool reply_each_header(const struct http_call *call,
                       bool (*each)(void *arg, const char *name, const char *value), void *arg) {
    const struct reply *reply = &call->reply;
    const struct http_route *route = call->request.match.route;
    const char *cache = route != NULL && route->cache != NULL ? route->cache : "no-cache";
    bool ok = reply->content_type == NULL || each(arg, "Content-Type", reply->content_type);
    ok = ok && (has_header(reply, "Cache-Control") || each(arg, "Cache-Control", cache));
    ok = ok && each(arg, "Vary", vary_of(call->server));
    ok = ok && each(arg, "X-Content-Type-Options", "nosniff");
    ok = ok && each(arg, "X-Request-Id", call->request.id);
    ok = ok && each_change(call, each, arg);
    if (call->request.cross_origin != NULL) {
        ok = ok && each(arg, "Access-Control-Allow-Origin", call->request.cross_origin);
        ok = ok && each(arg, "Access-Control-Expose-Headers",
                        "Allow, Discern-Change, Discern-Ignored, Discern-Refused, Discern-Rows, "
                        "Discern-Truncated, "
                        "Discern-Unchanged, Discern-Unseen, Discern-Warnings, ETag, "
                        "Idempotent-Replayed, Link, Location, Retry-After, X-Request-Id");
    }
    if ((reply->status == 429 || reply->status == 503) && !has_header(reply, "Retry-After")) {
        ok = ok && each(arg, "Retry-After", RETRY_AFTER);
    }
    for (size_t i = 0; i < reply->n_headers; i++) {
        ok = ok && each(arg, reply->headers[i].name, reply->headers[i].value);
    }
    return ok;
}

/* Whether the reply has no body, and the length of the body that a GET without conditions would
 * send is unknown. */
static bool length_unknown(const struct http_call *call) {
    return call->reply.status == 304 || (call->reply.kind == REPLY_STREAM &&
                                         call->reply.length == UINT64_MAX && call_is_head(call));
}

static bool text_header(void *arg, const char *name, const char *value) {
    buf_printf(arg, "%s: %s\r\n", name, value);
    return true;
}

static void text_begin(struct buf *out, int status) {
    const char *reason = MHD_get_reason_phrase_for((unsigned)status);
    buf_printf(out, "HTTP/1.1 %d %s\r\nConnection: close\r\n", status, reason);
    time_t now = time(NULL);
    struct tm tm;
    char date[64];
    if (gmtime_r(&now, &tm) != NULL &&
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0) {
        buf_printf(out, "Date: %s\r\n", date);
    }
}

void reply_text(const struct http_call *call, struct buf *out) {
    text_begin(out, call->reply.status);
    (void)reply_each_header(call, text_header, out);
    if (!length_unknown(call)) {
        buf_printf(out, "Content-Length: %zu\r\n", call->reply.size);
    }
    buf_puts(out, "\r\n");
    if (!call_is_head(call)) {
        buf_append(out, call->reply.bytes, call->reply.size);
    }
}

void reply_problem_text(struct http_server *server, enum problem_type type, const char *detail,
                        struct buf *out) {
    struct http_call call = {.server = server};
    ids_request(call.request.id);
    http_fail(&call, type, "%s", detail);
    reply_text(&call, out);
    out->failed = out->failed || call.reply.memory == NULL;
    reply_done(&call.reply);
}

/* ---- queueing ---- */

static bool library_header(void *arg, const char *name, const char *value) {
    return MHD_add_response_header(arg, name, value) == MHD_YES;
}

/* Passes one piece to the library. The sweeper sees the number of bytes. */
static ssize_t piece(void *cls, uint64_t position, char *out, size_t most) {
    struct http_call *call = cls;
    size_t left = call->reply.size - (size_t)position;
    size_t n = left < most ? left : most;
    memcpy(out, (const char *)call->reply.bytes + position, n);
    atomic_fetch_add_explicit(&call->connection->sent, n, memory_order_relaxed);
    return (ssize_t)n;
}

static struct MHD_Response *response_of(struct http_call *call) {
    struct reply *reply = &call->reply;
    if (reply->status == 304) {
        return library_response_not_modified(reply->length);
    }
    if (length_unknown(call)) {
        return library_response_without_length();
    }
    if (reply->kind == REPLY_STREAM) {
        return stream_response(call);
    }
    if (reply->size > PIECE && !call->connection->tcp) {
        return MHD_create_response_from_callback(reply->size, PIECE, piece, call, NULL);
    }
    if (reply->kind == REPLY_MEMORY) {
        struct MHD_Response *response =
            MHD_create_response_from_buffer_with_free_callback(reply->size, reply->memory, free);
        if (response != NULL) {
            reply->memory = NULL;
        }
        return response;
    }
    static char empty[1];
    void *bytes = reply->size > 0 ? (void *)(uintptr_t)reply->bytes : empty; /* only read */
    return MHD_create_response_from_buffer(reply->size, bytes, MHD_RESPMEM_PERSISTENT);
}

bool reply_queue(struct http_call *call) {
    struct MHD_Response *response = response_of(call);
    if (response == NULL) {
        return false;
    }
    bool ok = reply_each_header(call, library_header, response);
    if (call->reply.close || call->server->close_all ||
        call->connection->kind == CONNECTION_RESERVED ||
        atomic_load_explicit(&call->server->draining, memory_order_relaxed)) {
        ok = ok && library_header(response, "Connection", "close");
    }
    if (!call_is_head(call) && call->reply.kind != REPLY_STREAM) {
        call->reply.sent = call->reply.size;
    }
    if (call->reply.kind != REPLY_STREAM || call->body.sink != NULL) {
        body_forget(call); /* a slow client must not keep the memory of the body */
    }
    ok = ok && call_enter(call, CALL_SEND);
    if (ok) {
        ok = library_queue_response(call->mhd, (unsigned)call->reply.status, response) == MHD_YES;
    }
    MHD_destroy_response(response);
    return ok;
}
