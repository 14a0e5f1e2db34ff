/* Passes bodies from the I/O thread to sinks on the pool. The I/O thread gathers bytes in one
 * buffer while the sink takes those of the other. */
#include "http/body/relay.h"
#include "http/call/call.h"
#include "http/call/reply.h"
#include "http/server.h"
#include <stdlib.h>

/* While a slice is being taken, the I/O thread gathers about this many bytes. Then the connection
 * is suspended. */
enum { FULL_BYTES = 256 << 10 };

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

/* If the sink has refused the body, the time limit of PHASE_DISCARD goes on: no more bytes may
 * come. The call does not change between the end of the suspension and this function. */
static void resume(struct http_call *call, bool refused) {
    if (call_state(call) == CALL_PAUSED) {
        (void)call_enter(call, CALL_BODY);
        if (refused) {
            (void)connection_enter(call->connection, PHASE_DISCARD);
        }
    }
    call_resume(call);
}

void relay_resume_all(struct http_server *server) {
    for (;;) {
        (void)pthread_mutex_lock(&server->relay_lock);
        struct http_call *call = server->waiting;
        if (call != NULL) {
            wait_unlink(call);
            call->body.relay.held = false;
        }
        (void)pthread_mutex_unlock(&server->relay_lock);
        if (call == NULL) {
            return;
        }
        resume(call, false);
    }
}

/* ---- slices ---- */

static void take_slice(struct http_call *call);

/* Puts the slice on the pool. The caller has set `running`. */
static void push_slice(struct http_call *call) {
    const struct http_sink *sink = call->body.sink;
    const struct buf *slice = &call->body.relay.slice;
    call->work.load = sink->load != NULL && slice->size > 0
                          ? sink->load(call, slice->data, slice->size)
                          : HTTP_LASTING;
    call_push(call, take_slice);
}

/* Makes a slice of what is gathered. The caller holds the lock, and pushes take_slice afterwards. A
 * running relay has a reference to its call, since the connection may end meanwhile. */
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

/* What happens after a slice. */
enum next { NEXT_LEAVE, NEXT_SLICE, NEXT_END, NEXT_ANSWER, NEXT_ABORT };

/* Chooses what happens after a slice. The caller holds the lock. `arriving` may be read only while
 * the connection is suspended: if `waits` or `end` is set. */
static enum next next_of(const struct relay *r) {
    if (atomic_load(&r->abandoned)) {
        return r->refused ? NEXT_LEAVE : NEXT_ABORT;
    }
    if (r->refused) {
        return r->end != NULL ? NEXT_ANSWER : NEXT_LEAVE;
    }
    if (r->held) {
        return NEXT_LEAVE;
    }
    if ((r->waits || r->end != NULL) && r->arriving.size > 0) {
        return NEXT_SLICE;
    }
    return r->end != NULL ? NEXT_END : NEXT_LEAVE;
}

static void sink_abort(struct http_call *call) {
    call->body.sink_open = false;
    call->body.sink->abort(call);
}

/* Continues after a slice. The caller holds the lock, which this function releases. A connection
 * that waits with an empty `arriving` waits until nothing runs. */
static void go_on(struct http_call *call) {
    struct relay *r = &call->body.relay;
    const bool refused = r->refused;
    const enum next next = next_of(r);
    const bool resumes =
        r->waits &&
        (next == NEXT_SLICE || (next == NEXT_LEAVE && (r->refused || r->arriving.size == 0)));
    if (resumes) {
        wait_unlink(call);
    }
    if (next == NEXT_SLICE) {
        slice_begin(call);
    } else if (next == NEXT_LEAVE) {
        r->running = false;
    }
    if (next == NEXT_LEAVE && r->held && r->end != NULL) {
        wait_link(call); /* relay_resume_all must find it */
    }
    unlock(call);
    if (next == NEXT_SLICE) {
        push_slice(call); /* behind the jobs of other calls */
    }
    if (resumes) {
        resume(call, refused);
    }
    if (next == NEXT_ABORT) {
        sink_abort(call);
    }
    if (next != NEXT_SLICE) {
        call_unref(call); /* not the last reference if NEXT_END or NEXT_ANSWER follows: the
                             connection is suspended */
    }
    if (next == NEXT_ANSWER) {
        call->body.sink_open = false;
        call_answer(call);
    }
    if (next == NEXT_END) {
        r->end(call);
    }
}

/* The sink has filled the reply, which the I/O thread sends when more bytes arrive. If none arrive,
 * the sweeper sends the copy that is made here. The caller holds the lock, so that the connection
 * still belongs to this call. */
static void leave_final_response(struct http_call *call) {
    struct buf text = {0};
    size_t size = 0;
    reply_text(call, &text);
    char *words = buf_take(&text, &size);
    if (words != NULL && !atomic_load(&call->body.relay.abandoned)) {
        connection_final_response(call->connection, words, size);
        /* the time limit of PHASE_DISCARD begins */
        (void)connection_enter(call->connection, PHASE_DISCARD);
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
    const bool wanted = r->slice.size > 0 && !r->refused && !atomic_load(&r->abandoned);
    unlock(call);
    if (wanted) {
        state = give(call, r->slice.data, r->slice.size);
    }
    buf_clear(&r->slice);
    lock(call);
    r->held = state == HTTP_SINK_PAUSE && !r->early;
    r->refused |= state == HTTP_SINK_REFUSED;
    if (state == HTTP_SINK_REFUSED && r->end == NULL) {
        leave_final_response(call);
    }
    r->early = false;
    go_on(call);
}

void http_resume_body(struct http_call *call) {
    struct relay *r = &call->body.relay;
    lock(call);
    const bool goes_on =
        r->held &&
        (r->waits || r->end != NULL); /* otherwise the I/O thread continues with the next bytes */
    r->early = r->running && !r->held;
    r->held = false;
    if (goes_on) {
        call_ref(call);
        r->running = true;
        if (r->end != NULL) {
            wait_unlink(call);
        }
    }
    unlock(call);
    if (goes_on) {
        push_slice(call); /* takes an empty slice, then continues on the pool */
    }
}

/* ---- the I/O thread ---- */

enum relay_state relay_state(struct http_call *call) {
    const struct relay *r = &call->body.relay;
    lock(call);
    const enum relay_state state = r->running   ? RELAY_RUNNING
                                   : r->refused ? RELAY_REFUSED
                                                : RELAY_IDLE;
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
        push_slice(call);
    }
    return true;
}

bool relay_is_full(struct http_call *call) {
    return call->body.relay.arriving.size >= FULL_BYTES;
}

/* The connection is suspended before another thread can see that it waits: the library would lose a
 * resume that comes before the suspend. */
bool relay_wait(struct http_call *call) {
    struct relay *r = &call->body.relay;
    if (!call_suspend(call, CALL_PAUSED)) {
        return false;
    }
    lock(call);
    const bool begins = !r->running && !r->held && !r->refused && r->arriving.size > 0,
               waits = r->running || (r->held && !r->refused && r->arriving.size > 0);
    const bool refused = r->refused;
    if (begins) {
        slice_begin(call);
    }
    if (waits) {
        wait_link(call);
    }
    unlock(call);
    if (begins) {
        push_slice(call);
    }
    if (!waits) {
        resume(call, refused);
    }
    return true;
}

bool relay_wait_idle(struct http_call *call) {
    buf_clear(&call->body.relay.arriving);
    return relay_wait(call);
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
        push_slice(call);
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
    return 2 * r->arriving.capacity + /* `slice` has about the same capacity */
           (size_t)atomic_load(&r->weight);
}

void relay_done(struct relay *r) {
    buf_done(&r->arriving);
    buf_done(&r->slice);
}
