/* Streamed replies.
 *
 * While `filling` is set, exactly one job of the call is queued on the pool, running, or among the
 * watchers. It holds a reference to the call, which may outlive the connection. While `starved` is
 * set, the connection is suspended in CALL_STARVED. The thread that clears it resumes the
 * connection. */
#include "http/call/stream.h"
#include "base/process/clock.h"
#include "http/call/reply.h"
#include "http/call/reply_coding.h"
#include "http/server.h"
#include <stdlib.h>
#include <string.h>

/* bytes that the library asks for at a time, unless the reply is chunked */
#define BLOCK (16 * 1024)
#define REFILL (STREAM_BUFFER / 4) /* bytes; with fewer unsent the job is started again */

struct stream {
    pthread_mutex_t lock; /* guards ready, taken, state, filling, starved, abandoned; only locks of
                             the library are taken under it */
    struct buf ready;     /* bytes to be sent */
    size_t taken;         /* bytes of `ready` that are sent */
    struct buf fresh;     /* bytes that `next` has appended; used by the job only */
    struct buf coded;     /* `fresh` in the content coding; used by the job only */
    struct encoder *encoder;      /* NULL: identity; used by the job only */
    enum http_stream_state state; /* the last result of `next` */
    bool filling, starved, abandoned;
    int64_t wait_ns;  /* how long HTTP_STREAM_WAIT lasts */
    int64_t until_ns; /* end of the current wait; 0: none; used by the job only */
    enum http_stream_state (*next)(struct http_call *call, struct buf *out, bool idle,
                                   bool draining);
};

static void stream_fill(struct http_call *call);

/* The caller has set `filling`. */
static void start_filling(struct http_call *call) {
    call_ref(call);
    call_push(call, stream_fill);
}

static size_t waiting_bytes(const struct stream *s) {
    return s->ready.size - s->taken;
}

/* Returns true if enough bytes are unsent: STREAM_BUFFER, or a single one if --body-memory is used
 * up. */
static bool is_full(const struct http_call *call, const struct stream *s) {
    return waiting_bytes(s) >=
           (memory_has_room(&call->server->memory, STREAM_BUFFER) ? STREAM_BUFFER : 1);
}

/* Calls `next`, unless the buffer is full or the client has left. */
static enum http_stream_state ask(struct http_call *call, struct stream *s, int64_t now) {
    (void)pthread_mutex_lock(&s->lock);
    bool full = is_full(call, s);
    /* A stream that is not abandoned still has its connection, so that http_gone may be called. */
    bool left = s->abandoned || (s->until_ns != 0 && http_gone(call));
    (void)pthread_mutex_unlock(&s->lock);
    if (left) {
        return HTTP_STREAM_ABORT;
    }
    bool draining = atomic_load(&call->server->draining);
    if (full && !(draining && s->until_ns != 0)) { /* at drain a stream that waits must end */
        return s->until_ns != 0 ? HTTP_STREAM_WAIT : HTTP_STREAM_MORE;
    }
    bool idle = s->until_ns != 0 && now >= s->until_ns;
    enum http_stream_state state = s->next(call, &s->fresh, idle, draining);
    if (s->fresh.failed) {
        return HTTP_STREAM_ABORT;
    }
    return draining && state == HTTP_STREAM_WAIT ? HTTP_STREAM_END : state;
}

/* Replaces `fresh` by its bytes in the content coding. Returns false if out of memory. */
static bool encode_fresh(struct stream *s, enum http_stream_state state) {
    const struct buf fresh = s->fresh;
    encoder_put(s->encoder, fresh.data, fresh.size, state == HTTP_STREAM_END, &s->coded);
    s->fresh = s->coded;
    s->coded = fresh;
    buf_clear(&s->coded);
    return !s->fresh.failed;
}

static void take_fresh(struct stream *s) {
    if (waiting_bytes(s) == 0) {
        struct buf empty = s->ready;
        s->ready = s->fresh;
        s->fresh = empty;
        s->taken = 0;
    } else {
        if (s->taken > 0) { /* a slow client must not make the buffer grow without end */
            s->ready.size -= s->taken;
            memmove(s->ready.data, s->ready.data + s->taken, s->ready.size);
            s->taken = 0;
        }
        buf_append(&s->ready, s->fresh.data, s->fresh.size);
        if (s->ready.failed) {
            s->state = HTTP_STREAM_ABORT;
        }
    }
    buf_clear(&s->fresh);
}

/* The job. */
static void stream_fill(struct http_call *call) {
    struct stream *s = call->reply.stream;
    struct watchers *w = &call->server->watchers;
    uint64_t seen = watchers_pokes(w);
    int64_t now = clock_monotonic_ns();
    enum http_stream_state state = ask(call, s, now);
    if (s->encoder != NULL && state != HTTP_STREAM_ABORT && !encode_fresh(s, state)) {
        state = HTTP_STREAM_ABORT;
    }
    (void)pthread_mutex_lock(&s->lock);
    s->state = state;
    if (s->fresh.size > 0) {
        take_fresh(s);
    }
    memory_hold_anyway(&call->server->memory, &call->reply.share,
                       call->reply.held + s->ready.capacity + s->fresh.capacity +
                           (s->encoder != NULL ? ENCODER_BYTES : 0));
    bool wait = s->state == HTTP_STREAM_WAIT && !s->abandoned;
    bool again = s->state == HTTP_STREAM_MORE && !s->abandoned && !is_full(call, s);
    s->filling = wait || again;
    bool wake = s->starved && (waiting_bytes(s) > 0 || s->state == HTTP_STREAM_END ||
                               s->state == HTTP_STREAM_ABORT);
    if (wake) {
        s->starved = false;
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (wake) {
        call_resume(call);
    }
    if (again) {
        s->until_ns = 0;
        call_push(call, stream_fill);
    } else if (wait) {
        s->until_ns = now + s->wait_ns;
        call->work.run = stream_fill;
        watchers_add(w, call, seen, s->until_ns);
    } else {
        call_unref(call);
    }
}

/* ---- the I/O thread ---- */

static size_t take_ready(struct stream *s, char *out, size_t most) {
    size_t n = waiting_bytes(s);
    n = n < most ? n : most;
    if (n == 0) {
        return 0;
    }
    memcpy(out, s->ready.data + s->taken, n);
    s->taken += n;
    if (s->taken == s->ready.size) {
        buf_clear(&s->ready);
        s->taken = 0;
    }
    return n;
}

static ssize_t stream_read(void *cls, uint64_t position, char *out, size_t most) {
    (void)position;
    struct http_call *call = cls;
    struct stream *s = call->reply.stream;
    if (call_state(call) == CALL_STARVED) {
        (void)call_enter(call, CALL_SEND);
    }
    (void)pthread_mutex_lock(&s->lock);
    ssize_t result = (ssize_t)take_ready(s, out, most);
    if (result == 0 && s->state == HTTP_STREAM_END) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (result == 0 && s->state == HTTP_STREAM_ABORT) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (result == 0) { /* under the lock, so that the job resumes after the suspend */
        s->starved = call_suspend(call, CALL_STARVED);
        result = s->starved ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    bool refill =
        result >= 0 && s->state == HTTP_STREAM_MORE && !s->filling && waiting_bytes(s) < REFILL;
    s->filling = s->filling || refill;
    (void)pthread_mutex_unlock(&s->lock);
    if (refill) {
        start_filling(call);
    }
    if (result > 0) {
        call->reply.sent += (uint64_t)result;
        atomic_fetch_add_explicit(&call->connection->sent, (uint64_t)result, memory_order_relaxed);
    }
    return result;
}

struct MHD_Response *stream_response(struct http_call *call) {
    const uint64_t length = call->reply.length;
    return MHD_create_response_from_callback(length == UINT64_MAX ? MHD_SIZE_UNKNOWN : length,
                                             BLOCK, stream_read, call, NULL);
}

void stream_abandon(struct http_call *call) {
    struct stream *s = call->reply.stream;
    if (s == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&s->lock);
    s->abandoned = true;
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_free(struct stream *s) {
    if (s == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&s->lock);
    buf_done(&s->ready);
    buf_done(&s->fresh);
    buf_done(&s->coded);
    encoder_free(s->encoder);
    free(s);
}

typedef enum http_stream_state stream_next(struct http_call *call, struct buf *out, bool idle,
                                           bool draining);

static void stream_begin(struct http_call *call, int status, const char *content_type,
                         uint64_t length, double wait_seconds, stream_next *next) {
    if (status == 200 && reply_mismatch(call)) {
        return;
    }
    struct stream *s = calloc(1, sizeof *s);
    bool kept = s != NULL &&
                call_keep_headers(call); /* `next` may read them after the connection is over */
    if (!kept || pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s);
        http_fail(call, PROBLEM_UNAVAILABLE, "out of memory");
        return;
    }
    s->state = HTTP_STREAM_MORE;
    s->wait_ns = wait_seconds > 0 && wait_seconds < 86400 ? (int64_t)(wait_seconds * 1e9)
                                                          : 86400 * INT64_C(1000000000);
    s->next = next;
    if (!reply_fill(call, REPLY_STREAM, status, content_type)) {
        stream_free(s);
        return;
    }
    const enum coding coding =
        length == UINT64_MAX ? reply_coding(call, content_type) : CODING_IDENTITY;
    if (coding != CODING_IDENTITY) {
        s->encoder = encoder_new(coding, CODING_FAST);
    }
    if (reply_tag(call, s->encoder != NULL ? coding : CODING_IDENTITY, length)) {
        stream_free(s);
        return;
    }
    call->reply.length = length;
    call->reply.stream = s;
}

void http_stream(struct http_call *call, int status, const char *content_type, double wait_seconds,
                 stream_next *next) {
    stream_begin(call, status, content_type, UINT64_MAX, wait_seconds, next);
}

void http_stream_sized(struct http_call *call, int status, const char *content_type, uint64_t size,
                       stream_next *next) {
    stream_begin(call, status, content_type, size, 0, next);
}
