/* Accepts, takes, refuses and discards bodies.
 *
 * libmicrohttpd accepts no reply while a body arrives. If a reply is queued before the first byte
 * of the body is read, the library closes the connection with bytes unread, and the client sees a
 * reset. So a refused body is read to its end before the reply is sent. If that would take too
 * long, or if the connection must be closed anyway, this file writes the reply to the socket
 * itself: the library writes nothing at that time. */
#include "http/body/body.h"
#include "http/call/reply.h"
#include "http/library_quirks.h"
#include "http/net/tls.h"
#include "http/server.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DEFAULT_LIMIT (1 << 20)
/* Bytes. The first allocation for a body is its Content-Length, at most this: a client must send
 * bytes before more memory is allocated. */
#define FIRST_RESERVE (64 << 10)
/* The largest number of bytes that a sink holds for each byte of the body: two characters can
 * become a number of 8 bytes. */
#define READER_FACTOR 4

/* ---- the descriptor ---- */

static void write_plain(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t n = send(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        text += n;
        size -= (size_t)n;
    }
}

void body_write_refusal(struct http_server *server, int fd, enum problem_type type,
                        const char *detail) {
    struct buf text = {0};
    reply_problem_text(server, type, detail, &text);
    if (!text.failed) {
        write_plain(fd, text.data, text.size);
    }
    buf_done(&text);
}

/* On the I/O thread. */
static void write_here(struct connection *c, const struct buf *text) {
    if (text->failed) {
        return;
    }
    if (c->tls != NULL) {
        tls_write(c, text->data, text->size);
    } else {
        write_plain(c->fd, text->data, text->size);
    }
}

void body_refuse_request(struct connection *c, enum problem_type type, const char *detail) {
    struct buf text = {0};
    reply_problem_text(c->server, type, detail, &text);
    write_here(c, &text);
    buf_done(&text);
}

void body_end_from_outside(struct connection *c, enum problem_type type, const char *detail,
                           bool reads_on) {
    if (type != PROBLEM_NONE) {
        struct buf text = {0};
        reply_problem_text(c->server, type, detail, &text);
        free(c->final_response);
        c->final_response = buf_take(&text, &c->final_response_size);
        buf_done(&text);
    }
    if (c->secure && c->final_response != NULL) {
        (void)shutdown(c->fd, SHUT_RD); /* wakes the I/O thread */
        return;
    }
    if (c->final_response != NULL) {
        write_plain(c->fd, c->final_response, c->final_response_size);
    }
    (void)shutdown(c->fd, reads_on ? SHUT_WR : SHUT_RDWR);
}

void body_answer_and_close(struct http_call *call) {
    struct connection *c = call->connection;
    c->linger = true;
    if (!call_enter(call, CALL_CLOSED)) {
        return;
    }
    struct buf text = {0};
    reply_text(call, &text);
    write_here(c, &text);
    buf_done(&text);
    call->reply.sent = call->reply.size;
}

/* ---- refusing ---- */

bool body_refuse(struct http_call *call) {
    const struct http_settings *settings = &call->server->settings;
    const enum call_state state = call_state(call);
    bool waits = call->request.headers.continues && call->body.seen == 0 &&
                 (state == CALL_HEADER || state == CALL_CHECKED);
    body_forget(call);
    if (waits || settings->discard_limit <= 0 || settings->discard_time <= 0) {
        body_answer_and_close(call);
        return false;
    }
    struct buf text = {0};
    reply_text(call, &text);
    size_t size = 0;
    char *words = buf_take(&text, &size);
    if (words != NULL) {
        connection_final_response(call->connection, words, size);
    }
    buf_done(&text);
    return call_enter(call, CALL_DISCARD);
}

/* Returns NULL if DEFAULT_LIMIT applies. */
static const struct http_limit *limit_of(const struct http_call *call) {
    const struct http_sink *sink = call->body.sink;
    return sink != NULL && sink->limit != NULL ? sink->limit : call->request.match.route->limit;
}

static void fail_too_large(struct http_call *call) {
    const struct http_limit *limit = limit_of(call);
    const char *option = limit != NULL ? limit->option : NULL,
               *advice = limit != NULL ? limit->advice : NULL;
    http_fail(call, PROBLEM_BODY_TOO_LARGE,
              "the body is larger than the limit of %lld bytes%s%s%s%s",
              (long long)call->body.limit, option != NULL ? ", set by " : "",
              option != NULL ? option : "", advice != NULL ? "; " : "",
              advice != NULL ? advice : "");
}

/* Aborts the sink if it is open. */
static void sink_abort(struct http_call *call) {
    if (!call->body.sink_open) {
        return;
    }
    call->body.sink_open = false;
    call->body.sink->abort(call);
}

/* ---- taking ---- */

static bool refuse_filled(struct http_call *call) {
    if (call->reply.kind == REPLY_NONE) {
        http_fail(call, PROBLEM_INTERNAL, "%s refused the body without a reason",
                  call->request.match.route->operation);
    }
    if (call->request.headers.length != 0) {
        return body_refuse(call);
    }
    return call_enter(call, CALL_DISCARD); /* the library calls again at once */
}

static void fail_no_memory(struct http_call *call) {
    http_fail(call, PROBLEM_UNAVAILABLE, "out of memory");
}

static void fail_no_room(struct http_call *call) {
    http_fail(call, PROBLEM_UNAVAILABLE,
              "the request bodies and answers in flight use all memory that --body-memory allows; "
              "try again");
}

static void fail_never_fits(struct http_call *call) {
    http_fail(call, PROBLEM_BODY_TOO_LARGE,
              "the body needs more memory than the %lld bytes of --body-memory; send it in parts",
              (long long)call->server->memory.limit);
}

/* Returns the function that fills the reply to a body that needs so many bytes of memory, which are
 * not free. */
static void (*no_room_for(const struct http_call *call, size_t bytes))(struct http_call *call) {
    return memory_may_ever_hold(&call->server->memory, bytes) ? fail_no_room : fail_never_fits;
}

/* Bytes that are counted against --body-memory for a body of this length. */
static size_t weight_of(const struct http_call *call, int64_t length) {
    const struct http_sink *sink = call->body.sink;
    if (sink == NULL) {
        return (size_t)length;
    }
    if (sink->held != NULL && call->body.sink_open) {
        return relay_weight(call);
    }
    return (size_t)(length < sink->holds / READER_FACTOR ? length * READER_FACTOR : sink->holds);
}

static size_t decoder_weight(const struct http_call *call) {
    return (call->body.decoder != NULL ? (size_t)DECODER_BYTES : 0) +
           (call->body.form != NULL ? (size_t)FORM_BYTES : 0);
}

/* Makes room for n bytes more and a NUL. The capacity is doubled, but never exceeds the length that
 * the body can have. Returns false if the reply is filled. */
static bool grow(struct http_call *call, size_t n) {
    struct buf *body = &call->body.bytes;
    size_t needed = body->size + n + 1;
    if (needed <= body->capacity) {
        return true;
    }
    const int64_t length = call->request.headers.length;
    if (length > 0 && body->capacity == 0) {
        const size_t first = length < FIRST_RESERVE ? (size_t)length + 1 : FIRST_RESERVE;
        needed = needed > first ? needed : first;
    }
    int64_t most = call->request.headers.length > 0 && call->body.decoder == NULL
                       ? call->request.headers.length
                       : call->body.limit;
    size_t capacity = body->capacity * 2 < (size_t)most ? body->capacity * 2 : (size_t)most + 1;
    if (capacity < needed ||
        !memory_may_ever_hold(&call->server->memory, capacity + decoder_weight(call))) {
        capacity = needed;
    }
    const size_t weight = capacity + decoder_weight(call);
    if (!memory_hold(&call->server->memory, &call->body.share, weight)) {
        no_room_for(call, weight)(call);
        return false;
    }
    if (buf_set_capacity(body, capacity)) {
        return true;
    }
    fail_no_memory(call);
    return false;
}

/* Makes the decoder of a coded body. Returns false if the reply is filled. */
static bool accept_coding(struct http_call *call) {
    enum coding coding;
    if (!coding_of_content(call->request.headers.content_encoding, &coding)) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                  "Content-Encoding must be gzip, deflate or absent, got \"%.100s\"",
                  call->request.headers.content_encoding);
        return false;
    }
    if (coding == CODING_IDENTITY) {
        return true;
    }
    if (call->io->decoded == NULL) {
        call->io->decoded = malloc(DECODER_ROOM);
    }
    call->body.decoder = call->io->decoded != NULL ? decoder_new(coding) : NULL;
    if (call->body.decoder == NULL) {
        fail_no_memory(call);
    }
    return call->body.decoder != NULL;
}

/* Makes the reader of a form. Returns false if the reply is filled. */
static bool accept_form(struct http_call *call) {
    if (!call->request.is_form) {
        return true;
    }
    switch (form_new(call->mhd, call->request.any_charset, &call->body.form)) {
    case FORM_NEW:
        return true;
    case FORM_NO_BOUNDARY:
        http_fail(
            call, PROBLEM_BAD_REQUEST,
            "Content-Type multipart/form-data must have the parameter \"boundary\", of 2 to 70 "
            "characters");
        return false;
    case FORM_NO_MEMORY:
        break;
    }
    fail_no_memory(call);
    return false;
}

/* Checks what the header says about the body. Returns false if the reply is filled. */
static bool accept_header(struct http_call *call) {
    const struct http_route *route = call->request.match.route;
    if (route->changes &&
        !memory_has_room(&call->server->memory,
                         MEMORY_UNCOUNTED + 1)) { /* the reply of a write cannot be refused later */
        fail_no_room(call);
        return false;
    }
    if (route->body == HTTP_BODY_NONE || call->request.headers.length == 0) {
        return true;
    }
    if (!accept_coding(call) || !accept_form(call)) {
        return false;
    }
    struct problem problem = {0};
    if (!headers_check_content(&call->request.headers, call->request.method, &problem)) {
        http_reply_problem(call, &problem);
        return false;
    }
    if (call->request.headers.length > call->body.limit + (call->body.form ? FORM_FRAME : 0)) {
        fail_too_large(call);
        return false;
    }
    const int64_t length = call->request.headers.length;
    const size_t weight = length > 0 ? weight_of(call, length) : 0;
    if (!memory_has_room(&call->server->memory, (int64_t)weight)) {
        no_room_for(call, weight)(call);
        return false;
    }
    return true;
}

/* Runs the function that the sink's `begin` passed to http_defer. On the pool, in CALL_CHECK. */
static void run_check(struct http_call *call) {
    void (*deferred)(struct http_call *) = call->work.deferred;
    call->work.deferred = NULL;
    deferred(call);
    (void)call_enter(call, CALL_CHECKED);
    call_resume(call);
}

/* Suspends the connection and runs the deferred check on the pool. After the resume the library
 * calls the request handler again with the header alone, before it sends 100 Continue. */
static bool check_first(struct http_call *call) {
    if (!call_suspend(call, CALL_CHECK)) {
        return false;
    }
    call_push(call, run_check);
    return true;
}

bool body_checked(struct http_call *call) {
    if (call->reply.kind != REPLY_NONE) {
        sink_abort(call);
        return refuse_filled(call);
    }
    return call_enter(call, CALL_BODY);
}

/* Chooses the sink of the body, and the limit of its length. */
static void choose_sink(struct http_call *call) {
    const struct http_route *route = call->request.match.route;
    const struct http_sink *sink = route->sink;
    if (route->body == HTTP_BODY_STREAM || (sink != NULL && sink->wants(call))) {
        call->body.sink = sink;
    }
    const struct http_limit *limit = limit_of(call);
    call->body.limit = limit != NULL ? limit->bytes(call->server->app) : DEFAULT_LIMIT;
}

bool body_begin(struct http_call *call) {
    choose_sink(call);
    if (!accept_header(call)) {
        return refuse_filled(call);
    }
    if (call->body.sink != NULL) {
        call->body.sink_open = call->body.sink->begin(call);
        if (!call->body.sink_open) {
            return refuse_filled(call);
        }
        if (call->work.deferred != NULL) {
            return check_first(call);
        }
    }
    return call_enter(call, CALL_BODY);
}

/* ---- bytes ---- */

static enum body_next refused(struct http_call *call) {
    return refuse_filled(call) ? BODY_CONTINUE : BODY_CLOSE;
}

/* The sink has refused the body: the reply is filled. If the sweeper has sent it already, the rest
 * of the body is discarded. */
static enum body_next sink_refused(struct http_call *call) {
    call->body.sink_open = false;
    if (connection_phase(call->connection) != PHASE_CUT) {
        return refused(call);
    }
    body_forget(call);
    (void)call_enter(call, CALL_DISCARD);
    return BODY_CONTINUE;
}

/* Refuses the body; `refusal` fills the reply. If a slice is being taken, the connection is
 * suspended first, and the library later passes the same bytes again. */
static enum body_next refuse_for(struct http_call *call, void (*refusal)(struct http_call *call)) {
    call->body.refusal = refusal;
    if (call->body.sink_open) {
        switch (relay_state(call)) {
        case RELAY_RUNNING:
            return relay_wait_idle(call) ? BODY_WAIT : BODY_CLOSE;
        case RELAY_REFUSED:
            return sink_refused(call);
        case RELAY_IDLE:
            break;
        }
    }
    sink_abort(call);
    refusal(call);
    return refused(call);
}

static enum body_next sink_take(struct http_call *call, const char *bytes, size_t n) {
    if (relay_state(call) == RELAY_REFUSED) {
        return sink_refused(call);
    }
    const size_t weight = weight_of(call, (int64_t)call->body.read) + decoder_weight(call);
    if (!memory_hold(&call->server->memory, &call->body.share, weight)) {
        return refuse_for(call, no_room_for(call, weight));
    }
    if (!relay_add(call, bytes, n)) {
        return refuse_for(call, fail_no_memory);
    }
    if (!relay_is_full(call)) {
        return BODY_CONTINUE;
    }
    return relay_wait(call) ? BODY_WAIT : BODY_CLOSE;
}

/* Discards the body of a route that takes none, within the limit for refused bodies. */
static enum body_next waste(struct http_call *call, size_t n) {
    const struct http_route *route = call->request.match.route;
    call->body.discarded += (int64_t)n;
    if (call->body.discarded <= call->server->settings.discard_limit) {
        return BODY_CONTINUE;
    }
    http_fail(call, PROBLEM_BODY_TOO_LARGE, "%s %s has no request body", route->method,
              route->path);
    body_answer_and_close(call);
    return BODY_CLOSE;
}

/* Takes decoded bytes of the body. */
static enum body_next take_plain(struct http_call *call, const char *bytes, size_t n) {
    call->body.read += n;
    if (call->body.read > (uint64_t)call->body.limit) { /* only a chunked or coded body gets here */
        return refuse_for(call, fail_too_large);
    }
    if (call->body.sink != NULL) {
        return sink_take(call, bytes, n);
    }
    if (!grow(call, n)) {
        return refused(call);
    }
    buf_append(&call->body.bytes, bytes, n);
    return BODY_CONTINUE;
}

static void fail_form(struct http_call *call) {
    const char *fault = form_fault(call->body.form);
    if (fault == NULL) {
        fail_no_memory(call);
    } else {
        http_fail(call, PROBLEM_BAD_REQUEST, "the form (multipart/form-data) is refused: %s",
                  fault);
    }
}

/* Takes bytes of the body without its content coding. If the body is a form, takes only the content
 * of its part. */
static enum body_next take_decoded(struct http_call *call, const char *bytes, size_t n) {
    if (call->body.form == NULL) {
        return take_plain(call, bytes, n);
    }
    if (!form_step(call->body.form, bytes, n, &bytes, &n)) {
        return refuse_for(call, fail_form);
    }
    return n > 0 ? take_plain(call, bytes, n) : BODY_CONTINUE;
}

static void fail_coding(struct http_call *call) {
    http_fail(call, PROBLEM_BAD_REQUEST,
              "the body is not valid %.20s: %s (after %llu bytes, which were decoded to %llu)",
              call->request.headers.content_encoding, decoder_fault(call->body.decoder),
              (unsigned long long)call->body.seen, (unsigned long long)call->body.read);
}

static void fail_chunk_line(struct http_call *call) {
    call->reply.close = true;
    http_fail(call, PROBLEM_BAD_FRAMING, "the line of a chunk does not end with CR LF");
}

/* Decodes in steps of bounded output, so that limits hold for a short body that decodes to a long
 * one. */
static enum body_next take_coded(struct http_call *call, const char *bytes, size_t n,
                                 size_t *left) {
    enum body_next next = BODY_CONTINUE;
    for (size_t at = 0; at < n && next == BODY_CONTINUE && call_state(call) == CALL_BODY;) {
        size_t taken = 0, n_out = 0;
        const enum decoder_state state =
            decoder_step(call->body.decoder, bytes + at, n - at, &taken, call->io->decoded, &n_out);
        at += taken;
        if (n_out > 0) {
            next = take_decoded(call, call->io->decoded, n_out);
        }
        if (next == BODY_WAIT && state == DECODER_MORE) {
            *left = n - at;
        }
        if (state == DECODER_MORE || next != BODY_CONTINUE || call_state(call) != CALL_BODY) {
            continue;
        }
        return refuse_for(call, state == DECODER_FAULT ? fail_coding : fail_no_memory);
    }
    return next;
}

static enum body_next take(struct http_call *call, const char *bytes, size_t n, size_t *left) {
    if (call->request.match.route->body == HTTP_BODY_NONE) {
        return waste(call, n);
    }
    return call->body.decoder != NULL ? take_coded(call, bytes, n, left)
                                      : take_decoded(call, bytes, n);
}

static void count_arrived(struct http_call *call, size_t n) {
    struct connection *c = call->connection;
    call->body.seen += n;
    atomic_store_explicit(&c->body, atomic_load_explicit(&c->body, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

bool body_is_whole(const struct http_call *call, size_t n) {
    const struct http_route *route = call->request.match.route;
    return call_state(call) == CALL_BODY && route->where == HTTP_ON_IO &&
           route->body == HTTP_BODY_MEMORY && call->body.sink == NULL &&
           call->body.decoder == NULL && call->body.form == NULL && call->body.seen == 0 &&
           call->request.headers.length == (int64_t)n;
}

bool body_handle_whole(struct http_call *call, const char *bytes, size_t n) {
    count_arrived(call, n);
    call->body.bytes = (struct buf){.data = (char *)(uintptr_t)bytes, .size = n}; /* only read */
    call->request.match.route->handle(call);
    call->body.bytes = (struct buf){0};
    call->work.handled = true;
    if (call->reply.kind != REPLY_NONE) {
        call->body.read = n;
        return true;
    }
    if (take_plain(call, bytes, n) == BODY_CLOSE) {
        return false;
    }
    if (call->reply.kind != REPLY_NONE) { /* there was no memory for the copy */
        call->work.deferred = NULL;
    }
    return true;
}

enum body_end body_complete(struct http_call *call) {
    struct call_body *body = &call->body;
    const enum relay_state state = body->sink_open ? relay_state(call) : RELAY_IDLE;
    if (body->refusal == NULL && body->decoder != NULL && decoder_fault(body->decoder) != NULL) {
        body->refusal = fail_coding;
    }
    if (body->refusal == NULL && body->form != NULL && !form_end(body->form)) {
        body->refusal = fail_form;
    }
    if (state == RELAY_REFUSED) {
        body->sink_open = false;
        return BODY_COMPLETE_REFUSED;
    }
    if (body->refusal == NULL) {
        return BODY_COMPLETE;
    }
    if (state == RELAY_RUNNING) {
        return relay_wait_idle(call) ? BODY_COMPLETE_WAIT : BODY_COMPLETE_CLOSE;
    }
    sink_abort(call);
    body->refusal(call);
    return BODY_COMPLETE_REFUSED;
}

static enum body_next discard(struct http_call *call, size_t n) {
    call->body.discarded += (int64_t)n;
    if (call->body.discarded <= call->server->settings.discard_limit) {
        return BODY_CONTINUE;
    }
    body_answer_and_close(call);
    return BODY_CLOSE;
}

enum body_next body_take(struct http_call *call, const char *bytes, size_t n, size_t *left) {
    count_arrived(call, n);
    const enum call_state state = call_state(call);
    if (call->request.headers.chunked &&
        !library_chunk_line(call->request.headers.body, &call->body.piece_end, bytes, n)) {
        if (state == CALL_DISCARD) { /* this refusal takes the place of the other one */
            reply_done(&call->reply);
            call->reply.kind = REPLY_NONE;
            fail_chunk_line(call);
            body_answer_and_close(call);
            return BODY_CLOSE;
        }
        call->body.refusal = fail_chunk_line;
    }
    if (state == CALL_BODY) {
        const enum body_next next = call->body.refusal != NULL
                                        ? refuse_for(call, call->body.refusal)
                                        : take(call, bytes, n, left);
        if (next == BODY_WAIT && call->body.refusal != NULL) {
            *left = n;
        }
        call->body.seen -= *left;
        return next;
    }
    return state == CALL_DISCARD ? discard(call, n) : BODY_CLOSE;
}

void body_abandon(struct http_call *call) {
    if (!call->body.sink_open || !relay_abandon(call)) {
        sink_abort(call);
    }
}

void body_forget(struct http_call *call) {
    buf_done(&call->body.bytes);
    relay_done(&call->body.relay);
    decoder_free(call->body.decoder);
    call->body.decoder = NULL;
    form_free(call->body.form);
    call->body.form = NULL;
    memory_hold_anyway(&call->server->memory, &call->body.share, 0);
}
