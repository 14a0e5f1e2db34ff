/* The table of connections, indexed by descriptor. The sweeper reads it to enforce deadlines. */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include "http/net/address.h"
#include "http/net/deadline.h"
#include "http/net/tcp_progress.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_call;
struct http_server;
struct tls_link;

enum connection_kind {
    CONNECTION_COMMON,
    CONNECTION_RESERVED, /* beyond a limit of connections: serves health checks only */
    CONNECTION_HEALTH,   /* of the listener of --health-listen */
    CONNECTION_PROBE     /* of library_probe.c */
};
#define CONNECTION_KINDS 4

/* One slot of the table. Slots are freed with the table only. */
struct connection {
    pthread_mutex_t lock; /* guards fd, final_response. A descriptor is open while the lock is held
                               and fd >= 0 */
    int fd;               /* -1: the slot is free */
    _Atomic uint64_t state; /* epoch << 8 | enum phase; written by the thread that owns the call,
                               and by the sweeper to enter PHASE_CUT */
    _Atomic uint64_t body;  /* bytes of request bodies taken so far; the I/O thread writes */
    /* bytes of replies passed to the library in pieces; the I/O thread writes */
    _Atomic uint64_t sent;
    atomic_bool gone; /* the peer has closed its side during a call; the sweeper writes */
    bool secure;      /* speaks TLS; the acceptor writes it before the connection is published */
    struct tls_link *tls;       /* NULL: does not speak TLS; I/O thread only */
    _Atomic uint64_t pulled;    /* bytes that TLS has read from the socket */
    _Atomic uint64_t handshake; /* bytes of them that belong to the handshake; 0: it goes on */
    bool tcp; /* the kernel counts the bytes that the peer has acknowledged (TCP_INFO) */
    struct http_server *server;
    struct http_call *call; /* the current call; NULL: none; I/O thread only */
    char host[64];          /* the last value of Host that was allowed; "": none; I/O thread only */
    struct address peer;
    char peer_text[ADDRESS_TEXT_SIZE];
    bool trusted;              /* the peer is a trusted proxy */
    enum connection_kind kind; /* the acceptor writes it before the connection is published */
    enum problem_type refusal; /* CONNECTION_RESERVED: why other requests are refused */
    atomic_bool counted;       /* the peer's address is counted in server->per_address */
    atomic_bool placed;        /* the connection is counted in connections.of_kind */
    bool linger;          /* after the close the lingerer reads what still arrives, so that no reset
                    overtakes the reply; I/O thread only */
    char *final_response; /* [final_response_size] what the sweeper writes if discarding a body
                                   takes too long; with TLS, what the I/O thread writes in
                                   PHASE_CUT; NULL: nothing */
    size_t final_response_size; /* bytes */
    struct deadline deadline;   /* the sweeper's */
};

struct connections {
    struct connection *slots; /* n_slots of them */
    size_t n_slots;
    _Atomic size_t high; /* slots with this index or a higher one were never used */
    _Atomic int64_t of_kind[CONNECTION_KINDS]; /* connections now, without those being ended for
                                                  new ones */
};

bool connections_init(struct connections *table, size_t n_slots);
void connections_done(struct connections *table);
/* Takes the slot of this descriptor. NULL: the descriptor is beyond the table. *stale: the library
 * did not report the end of the slot's last connection, so the caller must undo what it counted for
 * it. The caller fills in the peer, then publishes. The acceptor only. */
struct connection *connections_open(struct connections *table, int fd, bool *stale);
/* Enters PHASE_HEADER, or with TLS PHASE_HANDSHAKE: the deadlines begin. */
void connections_publish(struct connection *c);
/* Frees the slot. The library closes the descriptor afterwards. */
void connections_close(struct connection *c);
/* Sets the response that the sweeper writes when PHASE_DISCARD takes too long, and takes ownership
 * of its memory. text NULL: none. */
void connection_final_response(struct connection *c, char *text, size_t size);
/* Enters the next phase. Returns false if the sweeper has ended the connection: nothing may be
 * written. */
bool connection_enter(struct connection *c, enum phase phase);
enum phase connection_phase(const struct connection *c);
/* tcp_progress_read of the descriptor, without the bytes that the handshake of TLS received. The
 * caller holds the lock, and the descriptor is open. */
void connection_progress(const struct connection *c, struct tcp_progress *out);

#endif
