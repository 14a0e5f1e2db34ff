/* The table of connections, indexed by descriptor: what each one is doing, for the sweeper that
 * enforces the deadlines. */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include "http/net/address.h"
#include "http/net/deadline.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_call;
struct http_server;

/* One slot; slots are never freed before the table. */
struct connection {
    pthread_mutex_t lock;   /* guards fd: the sweeper uses it only under the lock, the I/O thread
                               gives it up under the lock */
    int fd;                 /* -1: the slot is free */
    _Atomic uint64_t state; /* epoch << 8 | enum phase; moved on by the I/O thread, to PHASE_CUT by
                               the sweeper */
    _Atomic uint64_t body;  /* bytes of request bodies taken so far; the I/O thread writes */
    _Atomic uint64_t
        handed; /* bytes of answers given to the library piece by piece; the I/O thread writes */
    atomic_bool
        gone; /* the peer has closed its side while a call was under way; the sweeper writes */
    bool tcp; /* the kernel counts what the peer has taken (TCP_INFO) */
    struct http_server *server; /* whose */
    struct http_call *call;     /* the call under way; I/O thread only */
    struct address peer;        /* who connected */
    char peer_text[ADDRESS_TEXT_SIZE];
    bool trusted; /* the peer is a trusted proxy */
    bool counted; /* the peer's address is counted in server->per_address */
    bool linger;  /* closed by us with bytes unread: reading goes on for a while, so that no reset
                     overtakes the answer; I/O thread only */
    char *last_words; /* malloc'ed: the whole answer to a request whose body is being discarded,
                         should patience end; guarded by lock */
    size_t last_words_size;   /* bytes of last_words */
    struct deadline deadline; /* the sweeper's */
};

struct connections {
    struct connection *slots; /* n_slots of them */
    size_t n_slots;
    _Atomic size_t high;  /* slots from here on were never used */
    _Atomic int64_t open; /* connections now */
};

bool connections_init(struct connections *table, size_t n_slots);
void connections_done(struct connections *table);
/* Takes the slot of this descriptor. NULL: the descriptor is beyond the table. stale: true when the
 * library never told of its last connection's end (it failed to take it): the caller undoes what it
 * counted. The caller fills in the peer, then publishes. The acceptor only. */
struct connection *connections_open(struct connections *table, int fd, bool *stale);
void connections_publish(struct connection *c); /* PHASE_HEADER: the deadlines begin */
/* Frees the slot; the descriptor itself is the library's to close, right after. */
void connections_close(struct connections *table, struct connection *c);
/* Takes the memory: what the sweeper writes when it ends the connection in PHASE_DISCARD. */
void connection_last_words(struct connection *c, char *text, size_t size);
/* Next phase; false: the sweeper has cut the connection meanwhile, nothing may be written. I/O
 * thread. */
bool connection_enter(struct connection *c, enum phase phase);
enum phase connection_phase(const struct connection *c);

#endif
