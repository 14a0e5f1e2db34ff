/* One request with its reply, from the request line to the last byte. */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "base/memory/arena.h"
#include "http/body/form.h"
#include "http/body/relay.h"
#include "http/call/router.h"
#include "http/http.h"
#include "http/net/connections.h"
#include "http/protocol/coding.h"
#include "http/protocol/headers.h"
#include "http/protocol/target.h"
#include "http/threads/pool.h"
#include <microhttpd.h>
#include <stdatomic.h>

#define CALL_ID_SIZE 129 /* an X-Request-Id of 128 bytes */
#define CALL_ARENA_LIMIT (256u << 20)
#define CALL_ARENA_KEPT 65536 /* bytes; a larger arena is freed with its call */
#define CALL_MAX_HEADERS 16   /* headers of a reply, without those that reply.c adds */

/* The states of a call. README.md shows them in a diagram; call.c holds the permitted transitions.
 * In a state marked "suspended" the connection is suspended and the library calls nothing for
 * it. */
enum call_state {
    CALL_HEADER,  /* the request line has arrived, header fields are arriving */
    CALL_CHECK,   /* suspended: the function that the sink passed to http_defer runs on the pool */
    CALL_CHECKED, /* that function has returned: the I/O thread accepts or refuses the body next */
    CALL_BODY,    /* the body is arriving, or the request is complete */
    CALL_PAUSED,  /* suspended: the sink must take some of the body before more is read */
    CALL_DISCARD, /* the request is refused, and the rest of its body is discarded */
    CALL_WORK,    /* suspended: a handler runs on the pool, or waits */
    CALL_ANSWER,  /* the reply is filled: the I/O thread queues it next */
    CALL_SEND,    /* the reply is queued with the library */
    CALL_STARVED, /* suspended: a streamed reply has no bytes to send */
    CALL_CLOSED   /* the reply was written on the descriptor: the connection ends */
};

/* The request. It is complete before the handler runs, and constant afterwards. Its strings are in
 * the arena or belong to the library, which keeps them until the call is over. */
struct header_field {
    const char *name;
    const char *value;
};
struct call_request {
    char method[16]; /* "HEAD" is not replaced by "GET"; a longer name is truncated, so it is
                        unknown */
    struct target target;
    struct headers headers;
    struct router_match match;
    char id[CALL_ID_SIZE];
    struct header_field *kept; /* [n_kept] copy of the header; NULL: ask the library */
    size_t n_kept;
    const char *if_match, *if_none_match; /* all lines, in the arena; NULL: none */
    int64_t change;                       /* Discern-Change; 0: none */
    bool admitted;                        /* its route may handle it */
    const char *scheme, *host;            /* as trusted proxies name them; NULL: they do not */
    const char *client;                   /* address of the client in front of trusted proxies */
    struct address client_address;        /* the same address in binary form */
    bool client_counted;       /* server->per_address counts client_address for this call */
    const char *content_type;  /* of the body: lower case, without parameters; "": unknown */
    bool is_form, any_charset; /* set by http_take_form */
    const char *client_name;   /* set by http_set_client; NULL: not known */
    void *client_known;
    void (*client_release)(void *client);
    const char *cross_origin; /* Origin, if --allow-origin allows it; NULL: no CORS headers */
};

/* The body of the request. Used by the I/O thread only, except `relay`. */
struct call_body {
    const struct http_sink *sink; /* takes the body; NULL: no body, or it is gathered in `bytes` */
    int64_t limit;                /* bytes, after decoding */
    uint64_t seen;                /* bytes that arrived */
    uint64_t read;                /* bytes after decoding */
    struct decoder *decoder;      /* decodes the Content-Encoding; NULL: identity */
    const char *piece_end;        /* library_chunk_line */
    struct form *form;            /* finds the body in a form; NULL: the body is no form */
    struct buf bytes;             /* the body, if there is no sink */
    size_t share;                 /* bytes counted in server->memory */
    int64_t discarded;            /* bytes thrown away */
    struct relay relay;           /* passes the body to the sink */
    void (*refusal)(struct http_call *call); /* fills the reply with the reason why the I/O thread
                                                refuses the body; NULL: it does not */
    bool sink_open; /* `begin` succeeded, and neither `end` nor `abort` was called. relay.h says
                       which thread may change it */
};

/* The work of the call on the pool: one job at a time. */
struct call_work {
    struct pool_job job;
    enum http_load load;                      /* of what the job does next */
    enum http_load granted;                   /* the load that the thread of the job may take */
    bool handled;                             /* the handler of an HTTP_ON_IO route has returned */
    void (*run)(struct http_call *call);      /* what the job does */
    void (*deferred)(struct http_call *call); /* function given to http_defer; NULL: none */
    bool (*check)(struct http_call *call, bool last); /* check given to http_watch; NULL: none */
    int64_t until_ns;       /* monotonic time by which `check` must fill the reply */
    int64_t topic;          /* http_set_topic */
    struct http_call *next; /* in the list of watchers */
    int64_t deadline_ns; /* when the job is pushed without a poke; the watchers' lock guards it */
};

enum reply_kind { REPLY_NONE, REPLY_MEMORY, REPLY_STATIC, REPLY_EMPTY, REPLY_STREAM };
struct stream;
struct reply {
    enum reply_kind kind; /* REPLY_NONE: not filled yet */
    int status;
    const char *content_type; /* NULL: none */
    void *memory;             /* REPLY_MEMORY: to be freed; NULL once the library owns it */
    const void *bytes;        /* [size] REPLY_MEMORY, REPLY_STATIC */
    size_t size;
    /* REPLY_STREAM and status 304: bytes of the body that a GET would send; UINT64_MAX: unknown */
    uint64_t length;
    const char *etag;          /* tag of the resource's state, in the arena; NULL: none */
    enum problem_type problem; /* PROBLEM_NONE: no problem */
    struct header_field headers[CALL_MAX_HEADERS]; /* [n_headers] in the arena */
    size_t n_headers;
    bool close;            /* the connection must be closed after this reply */
    size_t held;           /* bytes given to http_hold */
    size_t share;          /* bytes counted in server->memory */
    uint64_t sent;         /* bytes of the reply's body that were given to the library */
    struct stream *stream; /* REPLY_STREAM */
};

struct http_call {
    struct http_call *next; /* in the I/O thread's list of spare calls */
    struct io *io;
    struct http_server *server;
    struct connection *connection; /* valid until the call is over */
    struct MHD_Connection *mhd;
    _Atomic int state; /* enum call_state; changed by call_enter */
    _Atomic int refs;  /* references of the I/O thread, of a stream's job, of a running relay */
    struct arena arena;
    int64_t started_ns; /* monotonic time at which the request line had arrived */
    bool begun;         /* counted in io->in_flight */
    struct call_request request;
    struct call_body body;
    struct call_work work;
    struct reply reply;
    void *handler_state; /* http_set_state */
    void (*on_done)(void *state);
};

/* Makes a call when the request line has arrived. Returns NULL if out of memory. I/O thread. */
struct http_call *call_new(struct io *io, struct connection *connection, struct MHD_Connection *mhd,
                           const char *raw_target);
void call_ref(struct http_call *call);
/* The last reference calls on_done and frees the call. Any thread. */
void call_unref(struct http_call *call);
/* Like call_unref, but on the I/O thread of the call, which keeps the memory for a later call. */
void call_unref_io(struct http_call *call);
void call_spares_free(struct io *io);

/* Copies the header to the arena, so that http_header works after the connection is over. Returns
 * false if out of memory. */
bool call_keep_headers(struct http_call *call);
enum call_state call_state(const struct http_call *call);
/* Enters a state, and the phase of the connection that belongs to it. Returns false if the sweeper
 * has ended the connection: nothing may be written then. Called by the thread that owns the
 * call. */
bool call_enter(struct http_call *call, enum call_state state);
/* Enters a suspended state and suspends the connection. I/O thread, in a callback of the library.
 * Returns false if the connection must be closed: nothing was suspended. */
bool call_suspend(struct http_call *call, enum call_state state);
void call_resume(struct http_call *call); /* any thread, once for each call_suspend */
/* Runs fn(call) on the pool. */
void call_push(struct http_call *call, void (*fn)(struct http_call *call));
/* In CALL_WORK: gives the call back to its I/O thread, which sends the reply. If the handler has
 * filled no reply, a reply with status 500 is sent. */
void call_answer(struct http_call *call);
bool call_is_head(const struct http_call *call);

#endif
