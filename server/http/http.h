/* HTTP over libmicrohttpd: listener, router, calls, replies, streams, deadlines. This module knows
 * nothing of datasets or models, and this header shows no type of the library.
 *
 * A *call* is one request with its reply. A row of the route table says how the body is taken, and
 * where the handler runs. HTTP_ON_IO: on an I/O thread; it must not block, read the database or
 * wait. HTTP_ON_POOL: on a thread of the pool, with the connection suspended; it may wait for the
 * store. HTTP_ON_OPERATIONS: on a thread for health checks and metrics, which never waits for other
 * calls; it must be short. A handler fills the reply (http_reply_…) and returns, or calls
 * http_defer, http_watch or http_stream. A handler that does none of these is a defect; the reply
 * is 500. This module handles refused bodies, framing, Expect, limits, HEAD, OPTIONS, 404, 405 and
 * drain for all handlers. */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "base/options/options.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct http_server;
struct http_call;
struct http_route;
struct http_media; /* media types; defined by the application */

/* ---- the server ---- */
#define HTTP_MAX_IO_THREADS 64
#define HTTP_MAX_CONNECTIONS 1000000
struct http_settings {
    const char *listen; /* "127.0.0.1:8080", "[::]:8080", "unix:PATH"; port 0: a free one. A socket
                           of systemd (LISTEN_FDS) replaces it */
    int64_t io_threads; /* 0: one for each core, at most 4 */
    int64_t pool_threads;      /* threads for HTTP_ON_POOL handlers that are not long, and the long
                                  ones that compute at once, at most one for each core; 0: 4 */
    int64_t max_waiting;       /* long calls that wait, a quarter of them of one client; beyond it
                                  the answer is 503; 0: 256 */
    const char *health_listen; /* a further address, which serves HTTP_REACH_HEALTH and
                                  HTTP_REACH_RESERVED only; NULL: none */
    /* For a further connection the one that has been idle for the longest time is closed; if there
     * is none, it is answered 503, except for HTTP_REACH_RESERVED. 0: 1024 */
    int64_t max_connections;
    /* The same for each client address, with 429. The address is the one in front of trusted
     * proxies. 0: a quarter of max_connections */
    int64_t max_connections_per_address;
    double header_timeout;     /* s until the whole header must have arrived (10) */
    double idle_timeout;       /* s without a byte while bytes are due (30) */
    double keep_alive_timeout; /* s between requests (75) */
    /* bytes/s over 30 s, of bodies that arrive and replies that are sent (64) */
    double minimum_rate;
    int64_t discard_limit; /* bytes of a refused body that are read at most; 0: none */
    double discard_time;   /* s for which a refused body is read at most; then the reply is sent,
                              and reading continues for 5 s at most; 0: the reply is sent at once */
    int64_t body_memory;   /* bytes that bodies, readers of streamed bodies and replies may hold
                            together; a call that needs more is answered 503. 0: 512 MiB */
    double drain_delay;    /* s for which connections are accepted after the drain began (0) */
    const char *base_path; /* "/discern" or "" */
    struct option_list allowed_hosts, allow_origins, trusted_proxies;
    bool check_host; /* Host must be local, the listen address or allowed (otherwise 421); for
                        servers whose clients need no token */
    /* TLS for the connections of `listen`, not for those of health_listen: a chain of certificates
     * and the private key of the first one. NULL: no TLS */
    const char *tls_cert, *tls_key;
    const char *tls_client_ca; /* clients are asked for a certificate by one of these authorities;
                                  http_peer shows it. NULL: no */
    /* Checks a request against the policy of its route, by its header, before any of the body is
     * taken. Returns false after it filled the reply. I/O thread; must not block. NULL: no check.
     */
    bool (*admit)(struct http_call *call);
    /* Is called for a request that is refused since a page of another origin sent it, before a
     * route is looked for. I/O thread; must not block. NULL: none */
    void (*cross_origin)(struct http_call *call);
    /* Returns the number for the header Discern-Change of the answer to an admitted request; 0: no
     * header. Any thread; must not block. NULL: no header */
    int64_t (*change)(const struct http_call *call);
    /* Is called after the files of TLS were read again, with `app` of http_start. loaded: they are
     * used from now on; false: they were refused, and the ones read before stay. what: the end of
     * the certificate, or the reason. On the thread that reads them. NULL: none */
    void (*tls_read)(void *app, bool loaded, const char *what);
};
/* Whether the text has the form of an address for this option ("--listen"). */
bool http_check_listen(const char *option, const char *address, struct problem *problem);
/* Checks the lists of hosts, origins and proxies, as http_start does. */
bool http_check_settings(const struct http_settings *settings, struct problem *problem);
/* Whether the address can be bound now: binds and closes it. Returns true without binding if
 * systemd passes sockets. */
bool http_probe_listen(const char *address, struct problem *problem);
/* Sends a request over TLS on a connected descriptor, and reads at most `room` bytes of the answer.
 * Returns their number; 0: a failure. The certificate of the server is not checked: the answer
 * shows that a server is there, not which one. Blocks as long as the descriptor's time-outs
 * permit. */
size_t http_tls_ask(int fd, const char *request, size_t n, char *answer, size_t room);
/* Starts listening. http_app returns `app`. *out is set before the first connection is accepted. */
bool http_start(const struct http_settings *settings, const struct http_route *routes,
                size_t n_routes, void *app, struct http_server **out, struct problem *problem);
/* Return the address of the listening socket, "http://127.0.0.1:8080" or "unix:/path", and its port
 * (0 for a local socket). */
const char *http_address(const struct http_server *server);
int http_port(const struct http_server *server);
/* The address of health_listen. NULL: none. */
const char *http_health_address(const struct http_server *server);
/* Begins the drain: from now on connections are accepted for drain_delay only, each reply closes
 * its connection, and watches and streams must end. */
void http_drain(struct http_server *server);
/* Waits until no call is in flight, at most timeout_s. Returns true if there is none. */
bool http_idle(struct http_server *server, double timeout_s);
/* Closes all connections, joins the threads and frees the server. From now on http_gone returns
 * true; handlers have some seconds to end. Returns false if a handler has not ended: nothing was
 * freed, and what handlers use must stay valid. May be called again. */
bool http_stop(struct http_server *server);
bool http_draining(const struct http_server *server);
/* Lets the server read the files of TLS again, soon. Connections go on. A faulty file has no effect
 * but a line "tls.refused". Any thread. */
void http_reload(struct http_server *server);
/* Reports a change: the checks of watches and the waiting streams with this topic run soon. topic
 * 0: those of all topics. Cheap, any thread. */
void http_poke(struct http_server *server, int64_t topic);

/* ---- routes ---- */
enum http_body { HTTP_BODY_NONE, HTTP_BODY_MEMORY, HTTP_BODY_STREAM };
enum http_where { HTTP_ON_IO, HTTP_ON_POOL, HTTP_ON_OPERATIONS };
/* What a client must be permitted to do, if the application knows its clients
 * (http_settings.admit). This module does not use it. */
enum http_scope {
    HTTP_SCOPE_NOT_SET, /* no route may have it */
    HTTP_SCOPE_PUBLIC,  /* nothing */
    HTTP_SCOPE_ANY,     /* the client must be known */
    HTTP_SCOPE_READ,
    HTTP_SCOPE_PREDICT,
    HTTP_SCOPE_TRAIN,
    HTTP_SCOPE_WRITE,
    HTTP_SCOPE_ADMIN
};
/* The connections that serve a route beside the common ones. */
enum http_reach {
    HTTP_REACH_COMMON,
    HTTP_REACH_HEALTH,  /* those of health_listen */
    HTTP_REACH_RESERVED /* those of health_listen, and those beyond the limits of connections */
};
/* How long a handler computes. */
enum http_load {
    HTTP_SHORT,   /* about 2 ms at most */
    HTTP_LASTING, /* some 20 ms at most: a thread is kept for short ones */
    HTTP_LONG     /* longer: takes turns with the long ones of other clients */
};
/* Bits: the conditions that a route applies. http_settings.admit refuses the others. */
enum http_condition { HTTP_IF_MATCH = 1, HTTP_IF_NONE_MATCH = 2 };

/* The greatest length of a body. A longer one is answered 413. */
struct http_limit {
    int64_t (*bytes)(void *app); /* after decoding */
    const char *option;          /* sets the limit ("--max-body"); named in the 413. NULL: none */
    const char *advice;          /* what clients can do; ends the 413. NULL: none */
};

/* How a streamed body is taken. `wants`, `begin` and `seen` run on an I/O thread and must not
 * block; `data` and `end` on a pool thread, one after the other, never two of a call at once. */
enum http_sink_state { HTTP_SINK_MORE, HTTP_SINK_PAUSE, HTTP_SINK_REFUSED };
struct http_sink {
    /* HTTP_BODY_MEMORY: decides by the headers whether the body of this call is streamed into the
     * sink instead. NULL: never. */
    bool (*wants)(const struct http_call *call);
    const struct http_limit *limit; /* of a streamed body; NULL: that of the route */
    /* Checks the request by its headers. Returns false after http_reply_problem: the body is
     * refused. A check that must wait for the store calls http_defer: the deferred function runs on
     * a pool thread before any of the body is taken and before 100 Continue is sent, and refuses by
     * http_reply_problem. */
    bool (*begin)(struct http_call *call);
    /* bytes[n] have arrived. `data` gets the same bytes later, unless the call ends before. For
     * work in parallel with `data`, such as hashing. NULL: none. */
    void (*seen)(struct http_call *call, const char *bytes, size_t n);
    /* Takes the next n bytes, at most some hundred thousand; more may arrive meanwhile. PAUSE: the
     * bytes were taken, and no more may come before http_resume_body. REFUSED, after the reply was
     * filled: the rest is discarded, and neither `end` nor `abort` is called. */
    enum http_sink_state (*data)(struct http_call *call, const char *bytes, size_t n);
    /* The body is complete: fills the reply. */
    void (*end)(struct http_call *call);
    /* The body will not be completed: frees what the sink holds. Any thread. */
    void (*abort)(struct http_call *call);
    /* Returns the load of `data` for bytes[n]. Runs on any thread, while `data` does not. NULL:
     * HTTP_LASTING. */
    enum http_load (*load)(const struct http_call *call, const char *bytes, size_t n);
    int64_t holds; /* bytes that the sink of one call holds at most, with 1 MiB for bytes on the way
                      to it; counted against body_memory as the body grows. 0: not counted */
    /* Bytes that the sink holds now; called after `data`, on its thread; replaces `holds`. NULL:
     * unknown. */
    int64_t (*held)(const struct http_call *call);
};

struct http_route {
    const char *method;    /* "GET" (serves HEAD too), "PUT", … */
    const char *path;      /* "/v1/datasets/{dataset}/rows"; a segment may end in ":verb" */
    const char *operation; /* operationId of the OpenAPI document */
    void (*handle)(struct http_call *call); /* NULL for HTTP_BODY_STREAM */
    enum http_where where;                  /* where `handle` runs */
    enum http_body body;
    /* HTTP_BODY_STREAM: takes every body. HTTP_BODY_MEMORY: takes the bodies that it `wants`; NULL:
     * none */
    const struct http_sink *sink;
    const struct http_limit *limit; /* NULL: 1 MiB */
    /* What http_settings.admit checks, with `scope` and `creates`: */
    const char *const *query;         /* names of the parameters, ends with NULL; NULL: any */
    const struct http_media *accepts; /* media types of the body; NULL: any */
    const struct http_media *offers;  /* media types of the reply; NULL: the policy's default */
    const char *cache;                /* Cache-Control of all replies; NULL: "no-cache" */
    unsigned conditions;              /* HTTP_IF_MATCH, HTTP_IF_NONE_MATCH */
    enum http_scope scope;
    enum http_reach reach;
    bool changes; /* the handler changes something. If there is no memory for its reply, the call is
                     refused before the handler runs, never afterwards */
    bool creates; /* the path names a resource that the call may create: a malformed name is
                     answered 400, not 404 */
    bool keyed;   /* takes Idempotency-Key; this module does not use it */
    bool quiet;   /* logged at debug level (health checks, metrics) */
    bool plain;   /* replies are not compressed: latency matters more than size */
};

/* ---- a call: the request ---- */
void *http_app(const struct http_call *call);
/* The arena lives as long as the call; one thread at a time may use it. */
struct arena *http_arena(struct http_call *call);
const char *http_request_id(const struct http_call *call);
const char *http_method(const struct http_call *call); /* "HEAD" is not replaced by "GET" */
const struct http_route *http_route_of(const struct http_call *call);
/* Returns the decoded path segment of this placeholder ("dataset"). It may hold any bytes but NUL
 * and '/'. */
const char *http_path_param(const struct http_call *call, const char *name);
/* The number of query parameters, at most 2,048. They are in order and decoded: valid UTF-8 without
 * NUL. */
size_t http_query_count(const struct http_call *call);
/* Sets *name and *value of parameter i. The value is "" if there is no '=' or nothing after it. */
void http_query_at(const struct http_call *call, size_t i, const char **name, const char **value);
/* Returns the value of the first query parameter of that name. NULL: none. */
const char *http_query(const struct http_call *call, const char *name);
const char *http_header(const struct http_call *call, const char *name); /* NULL: none */
/* Returns the bytes of the body as sent, by its header; 0: no body; -1: unknown (chunked). */
int64_t http_body_length(const struct http_call *call);
/* Returns the number of Authorization headers. *value: the first one; NULL: none. */
unsigned http_authorization(const struct http_call *call, const char **value);
/* Returns the number of Idempotency-Key headers. *value: the first one; NULL: none. */
unsigned http_idempotency_key(const struct http_call *call, const char **value);
/* Returns the number in the header Discern-Change: the answer must not be older than this change; 0:
 * none. */
int64_t http_change(const struct http_call *call);
/* The certificate that the client has shown in the handshake of TLS. */
enum http_peer { HTTP_PEER_NONE, HTTP_PEER_VALID, HTTP_PEER_INVALID };
/* HTTP_PEER_VALID: an authority of tls_client_ca has signed it, and *text is the common name (CN)
 * of its subject; "": it has none, or several. HTTP_PEER_INVALID: *text is the reason. The text is
 * valid as long as the call. I/O thread only. */
enum http_peer http_peer(const struct http_call *call, const char **text);
/* Called by http_settings.admit when it knows who sends the request. name: logged with the request;
 * valid until `release`, which is called with `client` when the call is over. */
void http_set_client(struct http_call *call, const char *name, void *client,
                     void (*release)(void *client));
void *http_client(const struct http_call *call); /* NULL: not known */
/* Returns the value of If-Match or If-None-Match, of all its lines. NULL: the header is absent, or
 * the route does not apply the condition. */
const char *http_condition(const struct http_call *call, enum http_condition condition);
/* Returns the address of the client in front of trusted proxies. */
const char *http_client_address(const struct http_call *call);
/* HTTP_BODY_MEMORY: returns the decoded body [*size], followed by a NUL except in a handler that
 * runs on an I/O thread. Never NULL. A pointer from such a handler is not valid in http_defer's
 * function. */
const char *http_body_bytes(const struct http_call *call, size_t *size);
/* The media type of the body, lower case, without parameters. "": the format must be recognised by
 * the content of the body, because the request has no Content-Type, one that clients send by
 * default (application/x-www-form-urlencoded, application/octet-stream, text/plain), or that of a
 * form. */
const char *http_content_type(const struct http_call *call);
/* Called by http_settings.admit for a body of type multipart/form-data: the content of the only
 * part of the form is taken as the body, and its format is recognised by the content. any_charset:
 * the encoding of the content is known, so the charset of the part is not checked. */
void http_take_form(struct http_call *call, bool any_charset);
/* Returns the charset parameter of Content-Type, not NUL-terminated. *n 0: there is none. */
const char *http_charset(const struct http_call *call, size_t *n);
/* Returns the index of the offered media type (NULL-terminated list) that Accept prefers. 0: no
 * Accept. -1: none is acceptable. */
int http_accepts(const struct http_call *call, const char *const *offered);
/* Returns the base path followed by the formatted path, in the arena, for Location and links. "":
 * out of memory. */
const char *http_link(struct http_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets a pointer of the handler, sink or stream for this call; NULL at first. */
void http_set_state(struct http_call *call, void *state);
void *http_state(const struct http_call *call);
/* Sets a function that is called exactly once, when the call is over, and frees the state. */
void http_on_done(struct http_call *call, void (*done)(void *state));

/* ---- a call: the reply ---- */
/* Adds a header; name and value are copied. To be called before the reply is filled. Cache-Control
 * replaces that of the route. */
void http_reply_header(struct http_call *call, const char *name, const char *value);
/* Takes the memory of the buffer, which is empty afterwards. A failed buffer makes a 500.
 * content_type: a static string. */
void http_reply(struct http_call *call, int status, const char *content_type, struct buf *body);
void http_reply_static(struct http_call *call, int status, const char *content_type,
                       const void *bytes, size_t size);    /* memory that is never freed */
void http_reply_empty(struct http_call *call, int status); /* 204, 304 … */
/* Replies with a problem document and the status of the problem. Takes the problem, which is {0}
 * afterwards. */
void http_reply_problem(struct http_call *call, struct problem *problem);
void http_fail(struct http_call *call, enum problem_type type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the tag of the state of the resource; `state` includes the quotes. To be called before the
 * reply is filled. The ETag of the reply is made from the tag, the content coding and this release.
 * A 200 to GET or HEAD becomes 412 if the route applies If-Match and it has no tag of this state,
 * and 304 if If-None-Match has that ETag. */
void http_etag(struct http_call *call, const char *state);

/* Sets the bytes that the handler holds beside the body, which are counted against body_memory
 * until the reply is filled; those of a streamed reply until its end, and its `next` may change
 * them. Returns false if there is no room. */
bool http_hold(struct http_call *call, size_t bytes);
/* Returns true if there would be room for that many bytes if there were no other call. */
bool http_may_ever_hold(const struct http_call *call, size_t bytes);

/* Returns true if nobody will receive the reply: the client has closed its sending side, or the
 * server stops without waiting for calls. For long handlers on the pool (not for `next` of a
 * stream). Cheap, any thread. A client that leaves is noticed within 0.25 s. */
bool http_gone(const struct http_call *call);
/* To be called by a handler with an estimate of its work, before it begins with it. Returns false
 * if the work must be done on another thread: the handler passes a function to http_defer and
 * returns. At first a handler on the pool may do short work. A long handler may be answered 503
 * instead: many are waiting. */
bool http_takes(struct http_call *call, enum http_load load);
/* To be called by long handlers on a pool thread between slices of some ms: lets the calls of other
 * clients compute. Returns !http_gone(call). */
bool http_go_on(struct http_call *call);
/* To be called by a handler on an I/O thread, or by `begin` of a sink, just before it returns:
 * `handle` then runs on a pool thread. */
void http_defer(struct http_call *call, void (*handle)(struct http_call *call));
/* To be called before http_watch or http_stream: the call waits for pokes of this topic, in
 * addition to pokes of all topics. Without this function, or with topic 0, it waits for pokes of
 * all topics only. */
void http_set_topic(struct http_call *call, int64_t topic);
/* Called by a handler on the pool: the reply is filled later, by `check`. It runs on a pool thread
 * at once, then after each http_poke and at the deadline, and returns true when it has filled the
 * reply. It must do so if `last` is true: at the deadline, at drain, for HEAD, and for a client
 * that has closed its sending side. */
void http_watch(struct http_call *call, double seconds,
                bool (*check)(struct http_call *call, bool last));

/* A streamed reply (chunked). `next` runs on a pool thread, one call at a time: it appends bytes to
 * `out` and returns how to continue. */
enum http_stream_state {
    HTTP_STREAM_MORE, /* to be called again when the client has taken enough of the bytes */
    HTTP_STREAM_WAIT, /* to be called again after the next http_poke, or after wait_seconds with
                         idle = true */
    HTTP_STREAM_END,
    HTTP_STREAM_ABORT /* the connection is closed without the last chunk */
};
/* wait_seconds: duration of HTTP_STREAM_WAIT without a poke. At drain `next` is called with
 * draining = true, and must end the stream. */
void http_stream(struct http_call *call, int status, const char *content_type, double wait_seconds,
                 enum http_stream_state (*next)(struct http_call *call, struct buf *out, bool idle,
                                                bool draining));
/* Like http_stream, with a Content-Length: `next` must return HTTP_STREAM_END with the last of
 * `size` bytes. With fewer bytes the connection is closed. */
void http_stream_sized(struct http_call *call, int status, const char *content_type, uint64_t size,
                       enum http_stream_state (*next)(struct http_call *call, struct buf *out,
                                                      bool idle, bool draining));
/* Ends a pause of the sink. Any thread, once for each HTTP_SINK_PAUSE, also before `data` has
 * returned. The caller ensures, by a lock, that the function of http_on_done has not run: the
 * client may leave during a pause. */
void http_resume_body(struct http_call *call);

#endif
