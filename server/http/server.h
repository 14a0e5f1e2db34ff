/* The server's own state, private to http/. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/metrics.h"
#include "http/call/memory.h"
#include "http/call/pool.h"
#include "http/call/router.h"
#include "http/call/watch.h"
#include "http/http.h"
#include "http/net/address.h"
#include "http/net/connections.h"
#include "http/net/linger.h"
#include "http/net/listener.h"
#include "http/net/sweeper.h"
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define SERVER_POOL_BYTES                                                                          \
    32768 /* the library's memory of a connection: larger ones are zeroed at every request and     \
             cost rate */
#define SERVER_STATUS_LOW 100 /* statuses counted apart: 100..599 */
#define SERVER_STATUS_COUNT 500

/* One I/O thread: a daemon of the library with one thread. */
struct io {
    struct http_server *server;
    struct MHD_Daemon *daemon;
    uint64_t id_seed,
        id_count; /* request ids: a random start, then a count, mixed; this thread only */
    struct http_call *spare; /* calls for reuse, linked by next; this thread only */
    size_t n_spare;          /* of them */
    char *decoded; /* [DECODER_ROOM] what a step of decoding gives; NULL until the first coded body;
                      this thread only */
    _Atomic int64_t
        in_flight; /* calls whose header is complete and that are not over; this thread writes */
};

/* What is counted of one route. */
struct route_metrics {
    _Atomic(struct metric *) by_status[SERVER_STATUS_COUNT]; /* found once, then kept */
    struct metric *seconds;
};

struct server_metrics {
    struct metrics_family *requests;
    struct metric *connections;     /* gauge */
    struct metric *refused_limit;   /* connections refused: --max-connections */
    struct metric *refused_address; /* … per address */
    struct metric *timeouts;        /* connections ended by the sweeper */
    struct metric *held;          /* gauge: bytes of bodies and answers; set when somebody looks */
    struct route_metrics *routes; /* n_routes + 1: the last is "unmatched" */
};

struct http_server {
    struct http_settings settings; /* with the defaults filled in */
    const struct http_route *routes;
    size_t n_routes;
    void *app;
    struct router *router;
    struct target base; /* the base path, split; n_segments 0: none */
    struct arena base_arena;
    struct address_rules trusted;
    struct address_counts per_address; /* used when max_connections_per_address > 0 */
    struct connections connections;
    struct listener listener;
    struct lingerer linger;
    struct sweeper sweeper;
    struct pool pool;       /* handlers that wait for the store */
    struct pool operations; /* HTTP_ON_OPERATIONS: never behind the others */
    struct watchers watchers;
    struct http_memory memory;
    struct io io[HTTP_MAX_IO_THREADS];
    size_t n_io; /* daemons started */
    struct server_metrics metrics;
    pthread_mutex_t relay_lock; /* guards what comes next and the calls' relays (relay.h) */
    struct http_call *waiting;  /* calls whose connection waits for their sink */
    _Atomic int64_t suspended;  /* connections suspended now */
    atomic_bool draining;
    atomic_bool
        stopping; /* connections are given up: no call is begun, none is suspended any more */
};

/* A condition variable that waits by the monotonic clock. */
bool monotonic_cond_init(pthread_cond_t *cond);

#endif
