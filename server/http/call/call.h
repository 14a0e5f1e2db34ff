/* One request with its answer, from the request line to the last byte. */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "base/arena.h"
#include "http/call/pool.h"
#include "http/call/relay.h"
#include "http/call/router.h"
#include "http/http.h"
#include "http/net/connections.h"
#include "http/protocol/coding.h"
#include "http/protocol/headers.h"
#include "http/protocol/target.h"
#include <microhttpd.h>
#include <stdatomic.h>

#define CALL_ID_SIZE 129 /* an X-Request-Id of 128 bytes */
#define CALL_ARENA_LIMIT (256u << 20)
#define CALL_ARENA_KEPT 65536 /* an arena that grew beyond this is not kept for the next call */
#define CALL_MAX_HEADERS 16   /* of the answer, beside those the server sets */

enum call_stage {
    STAGE_NEW,     /* the request line is there, the header still coming */
    STAGE_BODY,    /* the body is being taken, or there is none and the request is complete */
    STAGE_DISCARD, /* the body is thrown away; the answer is filled */
    STAGE_JUDGED, /* what the sink deferred before the body has been looked at; the I/O thread is to
                     go on with the body, or to refuse it */
    STAGE_WORK,   /* on the pool or waiting; the connection is suspended */
    STAGE_ANSWER, /* the answer is filled, the I/O thread is to queue it */
    STAGE_SENT,   /* queued */
    STAGE_CLOSED  /* answered on the descriptor, or not at all: the connection ends */
};

enum reply_kind { REPLY_NONE, REPLY_MEMORY, REPLY_STATIC, REPLY_EMPTY, REPLY_STREAM };
struct reply_header {
    const char *name;  /* the arena's */
    const char *value; /* … */
};
struct reply {
    enum reply_kind kind; /* REPLY_NONE: not filled yet */
    int status;
    const char *content_type;  /* NULL: none */
    const char *cache_control; /* "no-cache" unless set */
    void *memory;              /* REPLY_MEMORY: malloc'ed, ours until it is queued */
    const void *bytes;         /* REPLY_MEMORY, REPLY_STATIC */
    size_t size;               /* of bytes */
    uint64_t length;  /* REPLY_STREAM: of the whole body; 304: of the body that it stands for;
                        UINT64_MAX: not known */
    const char *etag; /* of the resource's state; NULL: none. In the arena */
    enum problem_type problem; /* PROBLEM_NONE: no problem */
    struct reply_header headers[CALL_MAX_HEADERS];
    size_t n_headers;
    bool close; /* the connection must end after it */
};

struct stream;

struct http_call {
    struct http_call *next; /* in the I/O thread's list of spare calls */
    struct io *io;
    struct http_server *server;
    struct connection *connection; /* NULL after the call is over */
    struct MHD_Connection *mhd;
    _Atomic int stage; /* enum call_stage */
    _Atomic int refs;  /* the I/O thread's, a stream's, a waiting watcher's */
    struct arena arena;
    int64_t started_ns; /* request line complete */
    bool begun;         /* counted in io->in_flight */

    char method[16]; /* "HEAD" too; cut when longer (unknown then anyway) */
    struct target target;
    struct headers headers;
    struct router_match match;
    size_t base_segments;              /* leading segments that are the base path */
    char id[CALL_ID_SIZE];             /* request id */
    struct reply_header *kept_headers; /* n_kept of them: the request's header copied; NULL: the
                                          library still has it */
    size_t n_kept;
    const char *client; /* the real client's address */
    struct address client_address;
    bool client_counted;      /* counted in server->per_address by this call */
    const char *content_type; /* of the body: lower case, without parameters */
    const char *cross_origin; /* an allowed foreign origin: CORS headers; NULL: none */

    /* the body */
    const struct http_sink
        *sink; /* takes the body; NULL: there is none, or it is taken in memory */
    int64_t body_limit;
    uint64_t body_seen;      /* bytes that came */
    uint64_t body_read;      /* … after decoding: what the limit holds for */
    struct decoder *decoder; /* of a body that is coded; NULL: it is read as it comes */
    struct buf body;         /* HTTP_BODY_MEMORY */
    size_t body_share;       /* of server->memory: the body's, or its sink's */
    int64_t discarded;       /* bytes thrown away in STAGE_DISCARD */
    struct relay relay;      /* a streamed body on its way to its sink */
    bool sink_open;          /* begin succeeded, neither end nor abort was called; whose the sink is
                                (relay.h) */

    /* work */
    struct pool_job job;                              /* one at a time */
    void (*job_run)(struct http_call *call);          /* what the job does */
    void (*deferred)(struct http_call *call);         /* http_defer */
    bool (*check)(struct http_call *call, bool last); /* http_watch */
    struct http_call *watch_next;                     /* in watchers' list */
    int64_t
        watch_deadline_ns;  /* when its turn comes without a poke; guarded by the watchers' lock */
    int64_t watch_until_ns; /* http_watch: when it must answer */
    struct stream *stream;  /* http_stream */

    struct reply reply;
    size_t reply_share; /* of server->memory: the answer's */
    uint64_t sent;      /* bytes of the answer's body */
    void *state;        /* the handler's own */
    void (*on_done)(void *state);
};

/* A call for the request whose line has arrived. NULL: no memory. I/O thread. */
struct http_call *call_new(struct io *io, struct connection *connection, struct MHD_Connection *mhd,
                           const char *raw_target);
void call_ref(struct http_call *call);
void call_unref(
    struct http_call *call); /* the last one ends it: on_done, memory back. Any thread */
void call_unref_io(struct http_call *call); /* the same on its I/O thread, which keeps the memory
                                               for the next call */
void call_spares_free(struct io *io);

/* Copies the request's header to the arena: http_header works on when the connection is gone.
 * false: no memory. */
bool call_keep_headers(struct http_call *call);
/* I/O thread, inside a callback of the library. false: the server stops, nothing was suspended, the
 * connection must be closed. */
bool call_suspend(struct http_call *call);
void call_resume(struct http_call *call); /* any thread, once for each call_suspend */
/* Runs fn(call) on the pool. */
void call_push(struct http_call *call, void (*fn)(struct http_call *call));
/* The answer is filled (or a 500 takes its place): hands the call back to its I/O thread. */
void call_answer(struct http_call *call);
bool call_is_head(const struct http_call *call);

#endif
