/* A streamed body on its way from the I/O thread to its sink, which takes it on the pool in slices.
 * The I/O thread gathers the next slice meanwhile.
 *
 * The sink and the reply belong to the pool while `running` is set, and to the I/O thread
 * otherwise. An I/O thread that needs them suspends the connection until nothing runs. */
#ifndef HTTP_RELAY_H
#define HTTP_RELAY_H

#include "base/memory/buf.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_call;
struct http_server;

struct relay {
    struct buf arriving; /* bytes not yet given to the sink. The I/O thread uses them, or the
                            pool while the connection is suspended */
    struct buf slice;    /* bytes that the sink takes; used by the pool while `running` is set */
    /* server->relay_lock guards the rest, except the atomics. */
    bool running; /* a slice or the end is queued on the pool or under way */
    bool held;    /* the sink has asked for a pause */
    bool early;   /* http_resume_body was called before the slice that asked for the pause was
                     finished */
    bool waits;   /* in the list server->waiting: the connection is suspended */
    bool refused; /* the sink has refused the body and filled the reply */
    void (*end)(struct http_call *call); /* called after the last slice of a complete body; NULL:
                                            not complete */
    struct http_call *next, *previous;   /* in server->waiting */
    _Atomic int64_t weight;              /* bytes that the sink holds (http_sink.held) */
    atomic_bool abandoned; /* the connection is over: the thread of the slice aborts the sink */
};

enum relay_state {
    RELAY_IDLE,    /* nothing runs: the sink is the I/O thread's */
    RELAY_RUNNING, /* the sink is the pool's */
    RELAY_REFUSED  /* the sink has refused the body; nothing runs */
};
/* The functions up to relay_weight run on the call's I/O thread, for a call that has a sink. */
enum relay_state relay_state(struct http_call *call);
/* Adds bytes[n]. Returns false if out of memory. */
bool relay_add(struct http_call *call, const char *bytes, size_t n);
/* Returns true if at least FULL_BYTES are gathered, so that the caller must call relay_wait. */
bool relay_is_full(struct http_call *call);
/* Suspends the connection until the sink has taken a slice. Returns false if the connection must be
 * closed. */
bool relay_wait(struct http_call *call);
/* Drops what is gathered, and suspends the connection until nothing runs. Returns false if the
 * connection must be closed. */
bool relay_wait_idle(struct http_call *call);
/* To be called when the body is complete and the connection is suspended in CALL_WORK: gives the
 * gathered bytes to the sink, then calls `end`, both on the pool. If the sink refuses the body, its
 * reply is sent instead. */
void relay_end(struct http_call *call, void (*end)(struct http_call *call));
/* To be called when the connection is over. Returns true if the caller need not abort the sink: the
 * sink has refused the body, or the thread of the slice aborts it. */
bool relay_abandon(struct http_call *call);
/* Returns the sum of the bytes that are gathered, those that are being taken and those that the
 * sink holds. */
size_t relay_weight(const struct http_call *call);
void relay_done(struct relay *r);
/* Resumes all connections that wait, because the server stops. */
void relay_resume_all(struct http_server *server);

#endif
