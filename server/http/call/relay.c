/* Bodies from the I/O thread to sinks on the pool.
 *
 * Two buffers: while the sink takes one slice the I/O thread gathers the next. It stops reading
 * when that has become large, and goes on when the sink has got it. */
#include "http/call/relay.h"
#include "http/call/call.h"
#include "http/call/reply.h"
#include "http/server.h"
#include <stdlib.h>

enum { FULL_BYTES = 256 << 10 }; /* no more is gathered while a slice is under way */

static void lock(struct http_call *call) {
    (void)pthread_mutex_lock(&call->server->relay_lock);
}

static void unlock(struct http_call *call) {
    (void)pthread_mutex_unlock(&call->server->relay_lock);
}

/* ---- waiting connections ---- */

static void wait_link(struct http_call *call) {
    struct http_server *server = call->server;
    call->body.relay.waits = true;
    call->body.relay.previous = NULL;
    call->body.relay.next = server->waiting;
    if (server->waiting != NULL) {
        server->waiting->body.relay.previous = call;
    }
    server->waiting = call;
}

static void wait_unlink(struct http_call *call) {
    struct relay *r = &call->body.relay;
    if (r->previous != NULL) {
        r->previous->body.relay.next = r->next;
    } else {
        call->server->waiting = r->next;
    }
    if (r->next != NULL) {
        r->next->body.relay.previous = r->previous;
    }
    r->next = r->previous = NULL;
    r->waits = false;
}

static void resume(struct http_call *call) {
    if (call_state(call) == CALL_PAUSED) {
        (void)call_enter(call, CALL_BODY);
    }
    call_resume(call);
}

void relay_resume_all(struct http_server *server) {
    for (;;) {
        (void)pthread_mutex_lock(&server->relay_lock);
        struct http_call *call = server->waiting;
        if (call != NULL) {
            wait_unlink(call);
            call->body.relay.held = false; /* whoever ends the pause is too late */
        }
        (void)pthread_mutex_unlock(&server->relay_lock);
        if (call == NULL) {
            return;
        }
        resume(call);
    }
}

/* ---- slices ---- */

static void take_slice(struct http_call *call);

/* What has come is the next slice. Under the lock; take_slice is to be pushed. A running relay
 * holds its call: the connection may end meanwhile. */
static void slice_begin(struct http_call *call) {
    struct relay *r = &call->body.relay;
    const struct buf empty = r->slice;
    r->slice = r->arriving;
    r->arriving = empty;
    if (!r->running) {
        call_ref(call);
    }
    r->running = true;
}

/* What is to be done after a slice. */
enum next { NEXT_LEAVE, NEXT_SLICE, NEXT_END, NEXT_ANSWER, NEXT_ABORT };

/* Under the lock, with the sink in hand. */
static enum next next_of(struct http_call *call) {
    struct relay *r = &call->body.relay;
    const bool over = r->refused || r->stop != NULL;
    if (atomic_load(&r->abandoned)) {
        return r->refused ? NEXT_LEAVE : NEXT_ABORT;
    }
    if (over) {
        return r->end != NULL ? NEXT_ANSWER : NEXT_LEAVE;
    }
    if (r->held) {
        return NEXT_LEAVE;
    }
    if ((r->waits || r->end != NULL) &&
        r->arriving.size > 0) { /* in this order: otherwise they are the I/O thread's */
        return NEXT_SLICE;
    }
    return r->end != NULL ? NEXT_END : NEXT_LEAVE;
}

static void sink_abort(struct http_call *call) {
    call->body.sink_open = false;
    call->body.sink->abort(call);
}

static void answer(struct http_call *call) {
    struct relay *r = &call->body.relay;
    if (!r->refused) {
        sink_abort(call);
        r->stop(call);
    }
    call->body.sink_open = false;
    call_answer(call);
}

/* After a slice, with the sink in hand; gives the lock back. */
static void go_on(struct http_call *call) {
    struct relay *r = &call->body.relay;
    const enum next next = next_of(call);
    const bool over = r->refused || r->stop != NULL;
    const bool resumes = r->waits && (next == NEXT_SLICE || (next == NEXT_LEAVE && over));
    if (resumes) {
        wait_unlink(call);
    }
    if (next == NEXT_SLICE) {
        slice_begin(call);
    } else if (next == NEXT_LEAVE) {
        r->running = false;
    }
    if (next == NEXT_LEAVE && r->held && r->end != NULL) {
        wait_link(call); /* should the server stop */
    }
    unlock(call);
    if (next == NEXT_SLICE) {
        call_push(call, take_slice); /* behind what others wait for */
    }
    if (resumes) {
        resume(call);
    }
    if (next == NEXT_ABORT) {
        sink_abort(call);
    }
    if (next != NEXT_SLICE) {
        call_unref(call); /* with an end or an answer to come never the last: the connection is
                             suspended */
    }
    if (next == NEXT_ANSWER) {
        answer(call);
    }
    if (next == NEXT_END) {
        r->end(call);
    }
}

/* The sink has filled the answer. The I/O thread finds that with the next bytes; should none come,
 * the sweeper has the words. Under the lock: the connection stays this call's. */
static void leave_words(struct http_call *call) {
    struct buf text = {0};
    size_t size = 0;
    reply_text(call, &text);
    char *words = buf_take(&text, &size);
    if (words != NULL && !atomic_load(&call->body.relay.abandoned)) {
        connection_last_words(call->connection, words, size);
        (void)connection_enter(call->connection,
                               PHASE_DISCARD); /* from now on, and not from where the body began */
    } else {
        free(words);
    }
    buf_done(&text);
}

static enum http_sink_state give(struct http_call *call, const char *bytes, size_t n) {
    const struct http_sink *sink = call->body.sink;
    const enum http_sink_state state = sink->data(call, bytes, n);
    if (sink->held != NULL) {
        atomic_store(&call->body.relay.weight, sink->held(call));
    }
    if (state == HTTP_SINK_REFUSED && call->reply.kind == REPLY_NONE) {
        http_fail(call, PROBLEM_INTERNAL, "%s refused the body without a reason",
                  call->request.match.route->operation);
    }
    return state;
}

static void take_slice(struct http_call *call) {
    struct relay *r = &call->body.relay;
    enum http_sink_state state = HTTP_SINK_MORE;
    lock(call);
    const bool wanted =
        r->slice.size > 0 && !r->refused && r->stop == NULL && !atomic_load(&r->abandoned);
    unlock(call);
    if (wanted) {
        state = give(call, r->slice.data, r->slice.size);
    }
    buf_clear(&r->slice);
    lock(call);
    r->held = state == HTTP_SINK_PAUSE && !r->early;
    r->refused |= state == HTTP_SINK_REFUSED;
    if (state == HTTP_SINK_REFUSED && !r->waits && r->end == NULL) {
        leave_words(call);
    }
    r->early = false;
    go_on(call);
}

void http_resume_body(struct http_call *call) {
    struct relay *r = &call->body.relay;
    lock(call);
    const bool goes_on =
        r->held &&
        (r->waits || r->end != NULL); /* otherwise the I/O thread does when more has come */
    r->early = r->running && !r->held;
    r->held = false;
    if (goes_on) {
        call_ref(call);
        r->running = true;
        if (r->end != NULL) {
            wait_unlink(call); /* the connection waits for the answer now */
        }
    }
    unlock(call);
    if (goes_on) {
        call_push(call, take_slice); /* of nothing: what goes on does so on the pool */
    }
}

/* ---- the I/O thread ---- */

enum relay_state relay_state(struct http_call *call) {
    const struct relay *r = &call->body.relay;
    lock(call);
    const enum relay_state state = r->running   ? (r->stop != NULL ? RELAY_STOPPING : RELAY_OPEN)
                                   : r->refused ? RELAY_REFUSED
                                   : r->stop != NULL ? RELAY_STOPPED
                                                     : RELAY_OPEN;
    unlock(call);
    return state;
}

bool relay_add(struct http_call *call, const char *bytes, size_t n) {
    struct relay *r = &call->body.relay;
    if (call->body.sink->seen != NULL) {
        call->body.sink->seen(call, bytes, n);
    }
    buf_append(&r->arriving, bytes, n);
    if (r->arriving.failed) {
        return false;
    }
    lock(call);
    const bool begins = !r->running && !r->held && !r->refused;
    if (begins) {
        slice_begin(call);
    }
    unlock(call);
    if (begins) {
        call_push(call, take_slice);
    }
    return true;
}

bool relay_is_full(struct http_call *call) {
    return call->body.relay.arriving.size >= FULL_BYTES;
}

/* The connection is suspended before anyone can see that it waits: a resume that overtakes its
 * suspend is lost by the library. */
bool relay_wait(struct http_call *call) {
    struct relay *r = &call->body.relay;
    if (!call_suspend(call, CALL_PAUSED)) {
        return false;
    }
    lock(call);
    const bool over = r->refused || r->stop != NULL;
    const bool begins = !r->running && !r->held && !over && r->arriving.size > 0,
               waits = r->running || (r->held && !over);
    if (begins) {
        slice_begin(call);
    }
    if (waits) {
        wait_link(call);
    }
    unlock(call);
    if (begins) {
        call_push(call, take_slice);
    }
    if (!waits) {
        resume(call);
    }
    return true;
}

enum relay_state relay_stop(struct http_call *call, void (*fail)(struct http_call *call)) {
    struct relay *r = &call->body.relay;
    lock(call);
    const enum relay_state state = r->running   ? RELAY_STOPPING
                                   : r->refused ? RELAY_REFUSED
                                                : RELAY_STOPPED;
    if (state == RELAY_STOPPING) {
        r->stop = fail;
    }
    r->held = false;
    unlock(call);
    return state;
}

void relay_end(struct http_call *call, void (*end)(struct http_call *call)) {
    struct relay *r = &call->body.relay;
    lock(call);
    const bool goes_on = !r->running && !r->held;
    r->end = end;
    if (goes_on) {
        slice_begin(call);
    }
    if (r->held) {
        wait_link(call);
    }
    unlock(call);
    if (goes_on) {
        call_push(call, take_slice);
    }
}

bool relay_abandon(struct http_call *call) {
    struct relay *r = &call->body.relay;
    lock(call);
    const bool over = r->running || r->refused;
    if (r->running) {
        atomic_store(&r->abandoned, true);
    }
    r->held = false;
    unlock(call);
    return over;
}

size_t relay_weight(const struct http_call *call) {
    const struct relay *r = &call->body.relay;
    return 2 * r->arriving.capacity +
           (size_t)atomic_load(&r->weight); /* the slice was such a buffer */
}

void relay_done(struct relay *r) {
    buf_done(&r->arriving);
    buf_done(&r->slice);
}
