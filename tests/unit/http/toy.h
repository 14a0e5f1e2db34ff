/* A server with test routes, for the tests of http/. Each test starts its own on a free port. */
#ifndef TESTS_HTTP_TOY_H
#define TESTS_HTTP_TOY_H

#include "http/http.h"
#include "lib/cmocka.h"

#include <pthread.h>
#include <stdatomic.h>

struct toy {
    struct http_server *server;
    int64_t limit;                 /* of bodies */
    atomic_int aborts, ends, done; /* sinks aborted, ended; calls over */
    atomic_int value;              /* what /wait waits for */
    atomic_int waits;              /* calls of /wait that have come */
    atomic_int checks[2];          /* of calls of /wait with an even topic, with an odd one */
    atomic_int streams;            /* streams under way */
    atomic_long sunk;              /* bytes sinks took */
    atomic_int resumes;            /* bodies resumed by the helper thread */
    atomic_int busy, changed;      /* calls of /busy and /stuck under way; of /change begun */
    atomic_bool release;           /* lets /stuck end */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct http_call *paused[256]; /* for the helper thread */
    size_t n_paused;
    bool stop;
    bool hold; /* the helper leaves paused bodies alone */
    pthread_t helper;
};

#define TOY_READER (1 << 20) /* bytes that a sink of the server reserves */
extern const struct http_route TOY_ROUTES[];
extern const size_t TOY_N_ROUTES;

/* The byte at position i of an answer of /big. */
char toy_byte(size_t i);

/* Starts a server with these settings; only an address of NULL gets a default: 127.0.0.1:0. */
void toy_start_exactly(struct toy *toy, struct http_settings settings);
/* … with defaults for the discarding of refused bodies. given: NULL for all defaults. */
void toy_start(struct toy *toy, const struct http_settings *given);
void toy_stop(struct toy *toy);
/* Waits until the counter has this value, at most 30 s. */
void toy_expect(atomic_int *counter, int value);

#endif
