/* The callbacks of the library. All of them run on the I/O thread of the connection. */
#include "http/call/dispatch.h"
#include "base/log/log.h"
#include "http/body/body.h"
#include "http/call/record.h"
#include "http/call/reply.h"
#include "http/call/stream.h"
#include "http/library_quirks.h"
#include "http/protocol/request_check.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void count_in_flight(struct io *io, int64_t by) {
    atomic_store_explicit(&io->in_flight,
                          atomic_load_explicit(&io->in_flight, memory_order_relaxed) + by,
                          memory_order_release);
}

static struct connection *connection_of(struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* ---- the request line ---- */

/* Copies the target, and cuts the query off before the library parses it: each parameter would cost
 * 64 bytes of the connection's memory, and the library does not answer a request with too many. */
static void *on_target(void *cls, const char *uri, struct MHD_Connection *mhd) {
    struct io *io = cls;
    struct connection *c = connection_of(mhd);
    if (c == NULL) {
        return NULL;
    }
    if (connection_phase(c) == PHASE_IDLE) {
        (void)connection_enter(c, PHASE_HEADER);
    }
    c->call = call_new(io, c, mhd, uri);
    char *query = strchr(uri, '?');
    if (query != NULL && query[1] != '\0') {
        query[1] = '\0';
    }
    return c->call;
}

/* Leaves the path as it arrived. */
static size_t on_unescape(void *cls, struct MHD_Connection *mhd, char *text) {
    (void)cls;
    (void)mhd;
    return strlen(text);
}

/* ---- work ---- */

static enum MHD_Result queue(struct http_call *call) {
    return reply_queue(call) ? MHD_YES : MHD_NO;
}

/* On the pool, after the handler has returned. A deferred function that must run on another thread
 * is passed on. */
static void after_handler(struct http_call *call) {
    while (call->work.deferred != NULL && call->reply.kind == REPLY_NONE &&
           call->work.check == NULL) {
        if (call->work.load > call->work.granted) {
            call_push(call, after_handler);
            return;
        }
        void (*deferred)(struct http_call *) = call->work.deferred;
        call->work.deferred = NULL;
        deferred(call);
    }
    if (call->work.check != NULL && call->reply.kind == REPLY_NONE) {
        watch_begin(call);
    } else {
        call_answer(call);
    }
}

static void run_handle(struct http_call *call) {
    call->request.match.route->handle(call);
    after_handler(call);
}

static void run_end(struct http_call *call) {
    call->body.sink_open = false;
    call->body.sink->end(call);
    after_handler(call);
}

static enum MHD_Result to_pool(struct http_call *call, void (*fn)(struct http_call *call)) {
    const struct http_route *route = call->request.match.route;
    if (!call_suspend(call, CALL_WORK)) {
        return MHD_NO;
    }
    if (route->changes) { /* waits for the disk */
        call->work.load = HTTP_LASTING;
    }
    call_push(call, fn);
    return MHD_YES;
}

/* The handler of an HTTP_ON_IO route has returned: sends its reply, or continues on the pool. */
static enum MHD_Result handled_here(struct http_call *call) {
    if (call->reply.kind != REPLY_NONE) {
        return queue(call);
    }
    if (call->work.deferred != NULL) {
        return to_pool(call, after_handler);
    }
    if (call->work.check != NULL) {
        return to_pool(call, watch_begin);
    }
    http_fail(call, PROBLEM_INTERNAL, "the handler of %s gave no answer",
              call->request.match.route->operation);
    return queue(call);
}

/* Gives the sink the rest of the body, then calls its `end`, both on the pool. */
static enum MHD_Result end_sink(struct http_call *call) {
    if (!call_suspend(call, CALL_WORK)) {
        return MHD_NO;
    }
    relay_end(call, run_end);
    return MHD_YES;
}

/* Continues when the request is complete: runs the handler, ends the sink, or sends the reply that
 * is filled. */
static enum MHD_Result complete(struct http_call *call) {
    const struct http_route *route = call->request.match.route;
    switch (body_complete(call)) {
    case BODY_COMPLETE:
        break;
    case BODY_COMPLETE_WAIT:
        return MHD_YES;
    case BODY_COMPLETE_REFUSED:
        return queue(call);
    case BODY_COMPLETE_CLOSE:
        return MHD_NO;
    }
    if (call->body.sink != NULL) {
        return end_sink(call);
    }
    const bool replied = call->reply.kind != REPLY_NONE;
    if (route->body == HTTP_BODY_MEMORY && !replied && buf_cstr(&call->body.bytes) == NULL) {
        http_fail(call, PROBLEM_UNAVAILABLE, "out of memory");
        return queue(call);
    }
    if (route->where != HTTP_ON_IO) {
        return to_pool(call, run_handle);
    }
    if (!call->work.handled) {
        route->handle(call);
    }
    return handled_here(call);
}

void http_defer(struct http_call *call, void (*handle)(struct http_call *call)) {
    call->work.deferred = handle;
}

/* ---- the request ---- */

static enum MHD_Result begin(struct http_call *call, const char *url, const char *method,
                             const char *version) {
    call->begun = true;
    count_in_flight(call->io, 1);
    switch (request_check(call, url, method, version)) {
    case REQUEST_PASS:
        return body_begin(call) ? MHD_YES : MHD_NO;
    case REQUEST_REPLY:
        if (call->request.headers.length != 0) {
            return body_refuse(call) ? MHD_YES : MHD_NO;
        }
        return call_enter(call, CALL_DISCARD) ? MHD_YES : MHD_NO;
    case REQUEST_CLOSE:
        break;
    }
    body_answer_and_close(call);
    return MHD_NO;
}

static enum MHD_Result proceed(struct http_call *call) {
    switch (call_state(call)) {
    case CALL_BODY:
        return complete(call);
    case CALL_DISCARD:
    case CALL_ANSWER:
        return queue(call);
    case CALL_CHECK:
    case CALL_PAUSED:
    case CALL_WORK:
    case CALL_SEND:
    case CALL_STARVED:
        return MHD_YES;
    case CALL_HEADER:
    case CALL_CHECKED:
    case CALL_CLOSED:
        break;
    }
    return MHD_NO;
}

/* The library calls this with the header, then with each piece of the body, then when the request
 * is complete, and again after each resume. A reply that is queued in the first call makes the
 * library close the connection, so replies are queued in later calls only. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context) {
    (void)cls;
    struct http_call *call = *context;
    if (call == NULL || atomic_load_explicit(&call->server->stopping, memory_order_relaxed)) {
        return MHD_NO;
    }
    if (call_state(call) == CALL_HEADER) {
        return begin(call, url, method, version);
    }
    if (library_is_suspended(mhd)) {
        return MHD_YES;
    }
    if (call_state(call) == CALL_CHECKED) {
        return body_checked(call) ? MHD_YES : MHD_NO;
    }
    if (*size == 0) {
        return proceed(call);
    }
    if (body_is_whole(call, *size)) {
        const size_t n = *size;
        *size = 0;
        return body_handle_whole(call, data, n) ? MHD_YES : MHD_NO;
    }
    size_t left = 0;
    enum body_next next = body_take(call, data, *size, &left);
    if (next != BODY_CLOSE) {
        *size = left;
    }
    return next == BODY_CLOSE ? MHD_NO : MHD_YES;
}

/* ---- the end ---- */

#define STATUS_CLIENT_LEFT 499

static int status_of(const struct http_call *call, enum MHD_RequestTerminationCode code) {
    const enum call_state state = call_state(call);
    /* The reply of a handler that stopped because the client had left may still be sent. */
    const bool given_up = atomic_load(&call->connection->gone) && call->reply.status == 503;
    if (state == CALL_CLOSED ||
        (state == CALL_SEND && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)) {
        return given_up ? STATUS_CLIENT_LEFT : call->reply.status;
    }
    if (connection_phase(call->connection) != PHASE_CUT) {
        return STATUS_CLIENT_LEFT;
    }
    if (state == CALL_DISCARD) {
        return call->reply.status;
    }
    return state == CALL_HEADER || state == CALL_BODY || state == CALL_PAUSED ? 408
                                                                              : STATUS_CLIENT_LEFT;
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context,
                         enum MHD_RequestTerminationCode code) {
    (void)cls;
    (void)mhd;
    struct http_call *call = *context;
    if (call == NULL) {
        return;
    }
    *context = NULL;
    struct connection *c = call->connection;
    struct io *io = call->io;
    body_abandon(call);
    stream_abandon(call);
    if (call->request.client_counted) {
        address_counts_leave(&call->server->per_address, &call->request.client_address);
    }
    record_call(call, status_of(call, code));
    c->call = NULL;
    if (c->final_response != NULL) {
        connection_final_response(c, NULL, 0);
    }
    (void)connection_enter(c, PHASE_IDLE);
    bool begun = call->begun;
    call_unref_io(call);
    if (begun) {
        count_in_flight(io, -1);
    }
}

static void connection_ended(struct http_server *server, struct connection *c) {
    if (c->linger) {
        int copy = fcntl(c->fd, F_DUPFD_CLOEXEC, 0); /* the library closes the original next */
        if (copy >= 0) {
            linger_add(&server->linger, copy);
        }
    }
    if (c->secure && atomic_load(&c->handshake) == 0) {
        metric_add(server->metrics.handshakes, 1);
    }
    listener_forget(server, c);
    tls_end(c);
    connections_close(c);
}

/* A connection that cannot begin is shut down. */
static void begin_tls(struct io *io, struct connection *c, struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info == NULL || !tls_begin(io->server->tls, c, info->tls_session)) {
        log_warn("tls.begin", log_str("reason", "out of memory"));
        (void)shutdown(c->fd, SHUT_RDWR);
    }
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    struct io *io = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        size_t fd = info != NULL ? (size_t)info->connect_fd : SIZE_MAX;
        struct connection *c =
            fd < io->server->connections.n_slots ? &io->server->connections.slots[fd] : NULL;
        *context = c;
        if (c != NULL && io->secure) {
            begin_tls(io, c, mhd);
        }
    } else if (*context != NULL) {
        connection_ended(io->server, *context);
        *context = NULL;
    }
}

/* ---- requests that the library refuses ---- */

struct refusal {
    unsigned status; /* HTTP status of the library's own error page */
    enum problem_type type;
    const char *detail;
};
static const struct refusal REFUSALS[] = {
    {413, PROBLEM_BODY_TOO_LARGE, "Content-Length or the size of a chunk is too large"},
    {414, PROBLEM_URI_TOO_LONG, "the request line is longer than 16384 bytes"},
    {431, PROBLEM_HEADERS_TOO_LARGE,
     "the request header is larger than 12288 bytes, or has more than 100 fields"},
    {501, PROBLEM_NOT_IMPLEMENTED,
     "the request uses a part of HTTP that this server does not support"},
    {503, PROBLEM_UNAVAILABLE, "out of memory"},
    {505, PROBLEM_BAD_REQUEST, "only HTTP/1.0 and HTTP/1.1 are supported"},
    {500, PROBLEM_UNAVAILABLE, "out of memory"},
};

static struct refusal refusal_of(unsigned status, const struct http_call *call) {
    /* The header of this request was accepted and its body is chunked. The library refuses the line
     * of a chunk, or a trailer, also if it does not fit the memory of the connection. */
    if (call != NULL && call->begun && call->request.headers.chunked && status != 413) {
        return (struct refusal){
            status, PROBLEM_BAD_FRAMING,
            "the line of a chunk (its size and extensions) or a trailer is malformed "
            "or too long"};
    }
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        if (REFUSALS[i].status == status) {
            return REFUSALS[i];
        }
    }
    if (call == NULL) {
        return (struct refusal){status, PROBLEM_BAD_REQUEST, "the request line is malformed"};
    }
    return (struct refusal){status, PROBLEM_BAD_FRAMING,
                            "a header line, Content-Length or a chunk is malformed"};
}

/* Writes the reply that is filled, or else a problem document, to the socket. The library closes
 * the connection afterwards. */
static void on_refused(struct MHD_Connection *mhd, unsigned status) {
    struct connection *c = connection_of(mhd);
    if (c == NULL) {
        return;
    }
    struct http_call *call = c->call;
    struct refusal refusal = refusal_of(status, call);
    if (call != NULL) {
        if (call->request.id[0] == '\0') {
            request_check_id(call);
        }
        if (call->reply.kind == REPLY_NONE) {
            http_fail(call, refusal.type, "%s", refusal.detail);
        }
        body_answer_and_close(call);
        return;
    }
    c->linger = true;
    if (connection_enter(c, PHASE_SEND)) {
        body_refuse_request(c, refusal.type, refusal.detail);
        record_refusal(c->server, c, problem_status(refusal.type));
    }
}

void dispatch_spoke_plain(struct connection *c) {
    c->linger = true;
    body_write_refusal(c->server, c->fd, PROBLEM_BAD_REQUEST,
                       "this port speaks TLS: the address begins with https://");
    record_refusal(c->server, c, problem_status(PROBLEM_BAD_REQUEST));
}

/* ---- start ---- */

bool dispatch_init(void) {
    return library_quirks_init(on_refused);
}

static void on_log(void *cls, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_log(void *cls, const char *format, va_list ap) {
    (void)cls;
    if (!log_enabled(LOG_DEBUG)) {
        return;
    }
    char text[512];
    (void)vsnprintf(text, sizeof text, format, ap);
    text[strcspn(text, "\n")] = '\0';
    log_debug("http.library", log_str("message", text));
}

bool dispatch_start(struct io *io, struct problem *problem) {
    unsigned flags = library_event_loop(io->secure) | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | (io->secure ? MHD_USE_TLS : 0);
    static struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    /* The acceptor's limit is lower; connections that were ended may still be open. */
    unsigned limit = 2 * (unsigned)io->server->settings.max_connections + 256;
    io->daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, on_request, io, MHD_OPTION_EXTERNAL_LOGGER, on_log,
                         NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_POOL_BYTES,
                         MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
                         MHD_OPTION_URI_LOG_CALLBACK, on_target, io, MHD_OPTION_UNESCAPE_CALLBACK,
                         on_unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, io,
                         MHD_OPTION_NOTIFY_CONNECTION, on_connection, io, MHD_OPTION_ARRAY,
                         library_options(), MHD_OPTION_ARRAY,
                         io->secure ? tls_library_options() : none, MHD_OPTION_END);
    if (io->daemon == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "cannot start an I/O thread");
    }
    return true;
}
