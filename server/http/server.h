/* The state of the server, private to http/. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/metrics/metrics.h"
#include "http/call/memory.h"
#include "http/call/router.h"
#include "http/http.h"
#include "http/net/address.h"
#include "http/net/connections.h"
#include "http/net/linger.h"
#include "http/net/listener.h"
#include "http/net/sweeper.h"
#include "http/net/tls.h"
#include "http/threads/long_jobs.h"
#include "http/threads/pool.h"
#include "http/threads/watch.h"
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

/* bytes of memory of a connection in the library, which zeroes larger ones at each request */
#define SERVER_POOL_BYTES 32768
#define SERVER_STATUS_LOW 100 /* statuses 100 to 599 have their own counters */
#define SERVER_STATUS_COUNT 500

/* One I/O thread: a daemon of the library with one thread. */
struct io {
    struct http_server *server;
    struct MHD_Daemon *daemon;
    bool secure; /* its connections speak TLS */
    /* Used by the I/O thread only: */
    uint64_t id_seed, id_count; /* state of request ids: a random start, and a count */
    struct http_call *spare;    /* [n_spare] calls for reuse, linked by next */
    size_t n_spare;
    char *decoded; /* [DECODER_ROOM] output of a decoder; NULL until the first coded body */
    /* Written by the I/O thread: */
    _Atomic int64_t in_flight; /* calls whose header is complete and that are not over */
};

/* The metrics of one route. */
struct route_metrics {
    _Atomic(struct metric *) by_status[SERVER_STATUS_COUNT]; /* NULL until first used */
    struct metric *seconds;
};

struct server_metrics {
    struct metrics_family *requests;
    struct metric *connections;     /* gauge */
    struct metric *refused_limit;   /* connections refused by --max-connections */
    struct metric *refused_address; /* connections and calls refused by the limit per address */
    struct metric *refused_long;    /* long calls refused by --max-waiting-calls */
    struct metric *long_waiting;    /* gauge: long calls that wait; set at a scrape */
    struct metric *replaced;        /* idle connections that were ended for new ones */
    struct metric *handshakes;      /* of TLS, that failed; NULL without TLS */
    struct metric *tls_expires;     /* gauge; set at a scrape; NULL without TLS */
    struct metric *timeouts;        /* connections ended by the sweeper */
    struct metric *held;          /* gauge: bytes counted against --body-memory; set at a scrape */
    struct route_metrics *routes; /* [n_routes + 1] the last is "unmatched" */
};

struct http_server {
    struct http_settings settings; /* with the defaults filled in */
    const struct http_route *routes;
    size_t n_routes;
    void *app;
    struct router *router;
    struct target base; /* segments of the base path; n_segments 0: none */
    struct arena base_arena;
    struct address_rules trusted;
    struct address_counts per_address;
    struct connections connections;
    struct listener listener;
    struct listener health; /* of --health-listen; n 0: none. Its thread is that of `listener` */
    struct tls *tls;        /* of `listener`; NULL: none */
    struct lingerer linger;
    struct sweeper sweeper;
    struct pool pool;           /* HTTP_ON_POOL, sinks, streams, waiting calls */
    struct pool operations;     /* HTTP_ON_OPERATIONS */
    struct long_jobs long_jobs; /* HTTP_LONG */
    uint64_t seed;              /* of the keys of clients */
    struct watchers watchers;
    struct http_memory memory;
    struct io io[HTTP_MAX_IO_THREADS + 1]; /* the last one of n_io serves `health`, if it listens */
    size_t n_io;                           /* daemons started */
    struct server_metrics metrics;
    pthread_mutex_t relay_lock; /* guards `waiting` and the relays of all calls (relay.h) */
    struct http_call *waiting;  /* calls whose connection waits for their sink */
    _Atomic int64_t suspended;  /* connections that are suspended now */
    bool close_all; /* each reply closes its connection: the library accepts ambiguous requests */
    atomic_bool draining;
    atomic_bool stopping; /* no call begins and none is suspended from now on */
};

#endif
