/* A streamed body on its way from the I/O thread to its sink, which takes it on the pool, a slice
 * at a time: the next bytes arrive meanwhile.
 *
 * The sink, and what the call's answer is filled with, are the pool's while `running` and the I/O
 * thread's otherwise; where that thread wants to refuse a body while a slice is taken it says so
 * (relay_stop) and comes back. */
#ifndef HTTP_RELAY_H
#define HTTP_RELAY_H

#include "base/buf.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_call;
struct http_server;

struct relay {
    struct buf arriving; /* come and not given yet: the I/O thread's; the pool's while the
                            connection is suspended (waits, ends) */
    struct buf slice;    /* being taken: the pool's while `running` */
    /* What follows is guarded by server->relay_lock. */
    bool running; /* a slice, or the end, is queued on the pool or under way */
    bool held;    /* the sink has asked for a pause */
    bool early;   /* http_resume_body came before the sink's PAUSE */
    bool waits;   /* the connection is suspended until `arriving` has been given, nothing runs any
                     more, or a pause at the end is over */
    bool refused; /* the sink has filled the answer */
    void (*stop)(struct http_call *call); /* fills the answer with why the I/O thread refuses the
                                             body; NULL: it does not */
    void (*end)(struct http_call *call);  /* the body is complete, the connection suspended: what
                                             comes last, on the pool */
    struct http_call *next, *previous;    /* among those that wait */
    _Atomic int64_t weight;               /* bytes that the sink says it holds (http_sink.held) */
    atomic_bool abandoned; /* the connection is over: whoever ends a slice aborts the sink */
};

enum relay_state {
    RELAY_OPEN,     /* the body is wanted */
    RELAY_STOPPING, /* it is refused by the I/O thread, and a slice still under way */
    RELAY_STOPPED,  /* …, and the sink is the I/O thread's to abort */
    RELAY_REFUSED   /* the sink has refused it: the answer is filled */
};
/* All on the call's I/O thread, for a call that has a sink. */
enum relay_state relay_state(struct http_call *call);
/* n bytes more. false: no memory. */
bool relay_add(struct http_call *call, const char *bytes, size_t n);
/* Has more come than may be waiting? relay_wait is to be called then. */
bool relay_is_full(struct http_call *call);
/* Suspends the connection until there is room again, or nothing runs. false: it must be closed. */
bool relay_wait(struct http_call *call);
/* The body is refused for a reason that `fail` fills in. RELAY_STOPPED: nothing runs, and the
 * caller fills it in itself; RELAY_STOPPING: a slice is under way, relay_wait is next;
 * RELAY_REFUSED: the sink was faster. */
enum relay_state relay_stop(struct http_call *call, void (*fail)(struct http_call *call));
/* The body is complete: its last bytes are given and `end` called, on the pool; refused meanwhile,
 * it is answered instead. The connection has been suspended. */
void relay_end(struct http_call *call, void (*end)(struct http_call *call));
/* The connection is over. true: a slice is under way, whose thread aborts the sink, or the sink has
 * refused the body; false: the caller aborts it. */
bool relay_abandon(struct http_call *call);
/* Bytes of memory of what is on its way, and of what the sink says it holds. */
size_t relay_weight(const struct http_call *call);
void relay_done(struct relay *r);
/* The server stops: lets every connection that waits go on. */
void relay_resume_all(struct http_server *server);

#endif
