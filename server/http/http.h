/* HTTP: libmicrohttpd behind one narrow face. Listener, router, calls, answers, streams, deadlines.
 * Knows nothing of datasets or models, shows no MHD type.
 *
 * A *call* is one request with its answer. Routes are rows of a table; a row says how the body is
 * taken and where the handler runs: on an I/O thread (HTTP_ON_IO): must not block, touch SQL or
 * wait; on a pool thread (HTTP_ON_POOL): the connection is suspended meanwhile; may wait for the
 * store; on a thread kept for operations (HTTP_ON_OPERATIONS): as on the pool, but never behind
 * other calls: short, for health checks and metrics. A handler fills the answer (http_reply_…) and
 * returns; a handler that has filled nothing by then, and neither deferred, watches nor streams, is
 * a defect answered 500. Refused bodies, framing, Expect, limits, HEAD, OPTIONS, 404, 405, HTML
 * from the library, drain: all done here (API.md, Conventions); handlers do not care. */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/options.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct http_server;
struct http_call;
struct http_route;

/* ---- the server ---- */
#define HTTP_MAX_IO_THREADS 64
#define HTTP_MAX_CONNECTIONS 1000000
struct http_settings {
    const char *listen; /* "127.0.0.1:8080", "[::]:8080", "unix:PATH"; port 0: a free one. systemd's
                           socket (LISTEN_FDS) wins */
    int64_t io_threads; /* I/O threads; 0: one a core, at most 4 */
    int64_t pool_threads;                /* threads for HTTP_ON_POOL handlers; 0: 4 */
    int64_t max_connections;             /* beyond: 503 problem and closed; 0: 1024 */
    int64_t max_connections_per_address; /* by the real client's address (trusted proxies looked
                                            through): 429; 0: no limit */
    double header_timeout;               /* whole header must have come, s (10) */
    double idle_timeout;       /* nothing read or written though something is due, s (30) */
    double keep_alive_timeout; /* between requests, s (75) */
    double minimum_rate; /* bytes/s averaged over 30 s that a body must arrive with, or an answer be
                            taken with (64) */
    int64_t discard_limit; /* bytes up to which a refused body is read to its end; 0: none of it */
    double discard_time; /* … and s; afterwards the answer is written at once and reading goes on
                            for at most 5 s; 0: it is written at once */
    int64_t body_memory; /* bytes that bodies, readers of streamed ones and answers may hold
                            together; beyond: 503. 0: 512 MiB */
    double drain_delay;  /* connections are accepted for so long after drain began, s (0) */
    const char *base_path; /* "/discern" or "" */
    struct option_list allowed_hosts, allow_origins, trusted_proxies;
    bool check_host; /* without tokens: Host must be local, the listen address or allowed (else 421)
                      */
};
/* Is this an address that --listen takes? Its form only: whether it can be bound shows when it is.
 */
bool http_check_listen(const char *address, struct problem *problem);
/* The settings that are text: lists of hosts, origins and proxies. http_start checks them too; this
 * says it before anything was begun. */
bool http_check_settings(const struct http_settings *settings, struct problem *problem);
/* Can it be listened on now? Listens and stops at once; asks nothing when systemd hands sockets
 * over. */
bool http_probe_listen(const char *address, struct problem *problem);
/* Starts listening. `app` comes back from http_app. *out is set before the first connection is
 * accepted, so that handlers may find it in `app`. */
bool http_start(const struct http_settings *settings, const struct http_route *routes,
                size_t n_routes, void *app, struct http_server **out, struct problem *problem);
/* "http://127.0.0.1:8080" or "unix:/path": where it listens; port as number (0 for unix). */
const char *http_address(const struct http_server *server);
int http_port(const struct http_server *server);
/* From now on: connections accepted for drain_delay more, every answer closes its connection,
 * watches are told to end, streams too. */
void http_drain(struct http_server *server);
/* Waits until no call is in flight, at most timeout_s; true: none is. */
bool http_idle(struct http_server *server, double timeout_s);
/* Closes what is left, joins the threads, frees. Handlers under way are told by http_gone and
 * waited for a few seconds. false: one has not ended; nothing was freed, what handlers use must
 * stay, and the process had better end. May be called again. */
bool http_stop(struct http_server *server);
bool http_draining(const struct http_server *server);
/* Runs the checks of all watches and the waiting streams soon (something changed). Cheap, any
 * thread. */
void http_poke(struct http_server *server);

/* ---- routes ---- */
enum http_body { HTTP_BODY_NONE, HTTP_BODY_MEMORY, HTTP_BODY_STREAM };
enum http_where { HTTP_ON_IO, HTTP_ON_POOL, HTTP_ON_OPERATIONS };

/* How a streamed body is taken. `wants`, `begin` and `seen` run on an I/O thread and must not
 * block; `data` and `end` on a pool thread, one after the other, never two of a call at once. */
enum http_sink_state { HTTP_SINK_MORE, HTTP_SINK_PAUSE, HTTP_SINK_REFUSED };
struct http_sink {
    /* On a route whose body is taken in memory: is this one streamed into the sink instead? By the
     * headers. NULL there: none is. */
    bool (*wants)(const struct http_call *call);
    int64_t (*body_limit)(void *app); /* of such a body, as in http_route; NULL: the route's */
    const char *limit_option;         /* … */
    /* Judges the request by its headers (content type, options in the query). What must wait for
     * the store is judged by http_defer: `handle` runs on a pool thread before any of the body is
     * taken, or asked for where the client waits for 100 Continue, and refuses by
     * http_reply_problem. Returns false after http_reply_problem: refused; the body is discarded as
     * the rules say. */
    bool (*begin)(struct http_call *call);
    /* n bytes have arrived, which `data` will be given some time later, or never: what can be done
     * for them beside it, such as to hash them. NULL: nothing. */
    void (*seen)(struct http_call *call, const char *bytes, size_t n);
    /* The next n bytes, a few hundred thousand at most; more arrive meanwhile. PAUSE: they were
     * taken, no more until http_resume_body. REFUSED after http_reply_problem, or another answer:
     * the rest is discarded, neither `end` nor `abort` is called. */
    enum http_sink_state (*data)(struct http_call *call, const char *bytes, size_t n);
    /* The body is complete: fills the answer. */
    void (*end)(struct http_call *call);
    /* The client left or was cut off: give everything back. Any thread. */
    void (*abort)(struct http_call *call);
    int64_t holds; /* bytes that one call's reader holds at most, whatever comes, and 1 MiB for what
                      is on its way to it: counted against body_memory as the body grows. 0: next to
                      nothing */
    int64_t (*held)(
        const struct http_call *call); /* bytes that it holds now, asked after `data` on its thread:
                                          counted in the place of `holds`. NULL: not known */
};

struct http_route {
    const char *method;    /* "GET" (serves HEAD too), "PUT", … */
    const char *path;      /* "/v1/datasets/{dataset}/rows"; a segment may end in ":verb" */
    const char *operation; /* operationId of the OpenAPI document */
    enum http_body body;
    enum http_where where;                  /* of `handle` */
    void (*handle)(struct http_call *call); /* NULL for HTTP_BODY_STREAM */
    const struct http_sink
        *sink; /* for HTTP_BODY_STREAM; for HTTP_BODY_MEMORY: of the bodies it wants, or NULL */
    int64_t (*body_limit)(void *app); /* bytes, 413 above; NULL: 1 MiB */
    const char *limit_option;         /* "--max-body": named in the 413 */
    bool quiet;                       /* logged at debug level (health checks, metrics) */
    bool plain; /* its answers are never compressed: their time counts for more than their length */
    bool lasting; /* it may compute for long: one thread of the pool is always left to others */
    bool changes; /* something is different after it: where memory is short it is refused before its
                     handler runs, never after */
};

/* ---- a call: the request ---- */
void *http_app(const struct http_call *call);
struct arena *
http_arena(struct http_call *call); /* lives as long as the call; one thread at a time */
const char *http_request_id(const struct http_call *call);
const char *http_method(const struct http_call *call); /* "HEAD" too */
const struct http_route *http_route_of(const struct http_call *call);
/* The decoded path segment of this placeholder ("dataset"). Always there; may hold anything but NUL
 * and '/'. */
const char *http_path_param(const struct http_call *call, const char *name);
/* Query parameters, percent- and plus-decoded, in order; valid UTF-8 without NUL, or the request
 * was refused with 400 before. At most 2,048 of them. */
size_t http_query_count(const struct http_call *call);
void http_query_at(const struct http_call *call, size_t i, const char **name,
                   const char **value); /* value "" when there is no '=' */
const char *http_query(const struct http_call *call,
                       const char *name); /* the first of that name; NULL: none */
const char *http_header(const struct http_call *call, const char *name); /* NULL: none */
const char *
http_client_address(const struct http_call *call); /* the real client's, proxies looked through */
/* HTTP_BODY_MEMORY: the whole body (decoded). bytes is never NULL. Followed by a NUL that is not
 * counted. */
const char *http_body_bytes(const struct http_call *call, size_t *size);
/* The media type of the body without parameters, lower case; "" when none was sent or it is
 * application/x-www-form-urlencoded or application/octet-stream (curl's words for "none"): sniff.
 */
const char *http_content_type(const struct http_call *call);
/* Negotiates: index of the offered media type (NULL-terminated list) that Accept prefers; no
 * Accept: 0; none acceptable: -1. */
int http_accepts(const struct http_call *call, const char *const *offered);
/* base path + formatted path, in the call's arena: for Location and links. */
const char *http_link(struct http_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The caller's own state for this call (a sink's, a stream's); NULL at first. */
void http_set_state(struct http_call *call, void *state);
void *http_state(const struct http_call *call);
/* Called exactly once when the call is over in whatever way (answered, aborted): frees the state.
 */
void http_on_done(struct http_call *call, void (*done)(void *state));

/* ---- a call: the answer ---- */
void http_reply_header(struct http_call *call, const char *name,
                       const char *value); /* copied; before the reply */
/* JSON or other text from a buffer whose memory is taken (body becomes empty). A failed buffer
 * becomes 500. content_type is static. */
void http_reply(struct http_call *call, int status, const char *content_type, struct buf *body);
void http_reply_static(struct http_call *call, int status, const char *content_type,
                       const void *bytes, size_t size);    /* memory that stays */
void http_reply_empty(struct http_call *call, int status); /* 204, 304 … */
void http_reply_problem(
    struct http_call *call,
    struct problem *problem); /* takes it: becomes {0}. The status is the problem's */
void http_fail(struct http_call *call, enum problem_type type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The tag of the resource's state, quotes included; before the reply. The reply gets the ETag of
 * its form (coding, release). A 200 to GET or HEAD becomes 304 if If-None-Match names that form. */
void http_etag(struct http_call *call, const char *state);
/* "no-store" or "no-cache": Cache-Control. Default no-cache. */
void http_cache_control(struct http_call *call, const char *value);

/* Counts what the handler holds for the call beside its body against body_memory, in the place of
 * what it said before; the answer takes its place. false: there is no room for so much now. */
bool http_hold(struct http_call *call, size_t bytes);
bool http_may_ever_hold(const struct http_call *call,
                        size_t bytes); /* … were there no other call */

/* Nobody waits for the answer any more: the client has closed its side, or the server stops and has
 * given requests in flight up. For handlers that take long, on the pool (not for a stream's
 * `next`): what they answer then hardly matters. Cheap, any thread; known within a quarter of a
 * second. */
bool http_gone(const struct http_call *call);
/* From a handler on an I/O thread, or a sink's begin: go on with `handle` on a pool thread. The
 * handler returns right after. */
void http_defer(struct http_call *call, void (*handle)(struct http_call *call));
/* From a pool handler: answer later. `check` runs on a pool thread at once, then after each
 * http_poke and at the deadline (last = true: must answer now; also at drain). Returns true when it
 * has filled the answer. A HEAD request, and a client that has closed its side, get last = true at
 * once. */
void http_watch(struct http_call *call, double seconds,
                bool (*check)(struct http_call *call, bool last));

/* A streamed answer (chunked). `next` runs on a pool thread, never twice at once: appends bytes to
 * out and says how to go on. */
enum http_stream_state {
    HTTP_STREAM_MORE, /* call again when the client has taken what is there */
    HTTP_STREAM_WAIT, /* call again after the next http_poke, or after keep_alive seconds (idle =
                         true) */
    HTTP_STREAM_END,
    HTTP_STREAM_ABORT /* cut the connection without the last chunk */
};
/* wait_seconds: how long WAIT lasts without a poke. At drain `next` is called with draining = true
 * and must END. */
void http_stream(struct http_call *call, int status, const char *content_type, double wait_seconds,
                 enum http_stream_state (*next)(struct http_call *call, struct buf *out, bool idle,
                                                bool draining));
/* … of so many bytes, which Content-Length says: `next` must END with the last of them (with fewer
 * the connection is cut). */
void http_stream_sized(struct http_call *call, int status, const char *content_type, uint64_t size,
                       enum http_stream_state (*next)(struct http_call *call, struct buf *out,
                                                      bool idle, bool draining));
/* After HTTP_SINK_PAUSE; any thread, once a pause; may come before the data callback has returned.
 * The client may leave during a pause, so the caller sees to it that http_on_done has not run: by a
 * lock that both take. */
void http_resume_body(struct http_call *call);

#endif
