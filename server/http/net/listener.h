/* The listener: addresses, the acceptor thread, connection limits. */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include "base/problem.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define LISTENER_MAX 8
struct connection;
struct http_server;
struct listener {
    int fds[LISTENER_MAX]; /* listening sockets */
    size_t n;
    bool secure;       /* its connections speak TLS */
    bool inherited;    /* from systemd */
    char address[300]; /* "http://127.0.0.1:8080", "https://…" or "unix:/path" */
    char host[256];    /* the host in `address`: "127.0.0.1", "::1"; "" for a local socket */
    char path[108];    /* file of a local socket that this process made; "": none */
    bool complained;   /* the lack of descriptors was logged; cleared by a new connection */
    int port;          /* 0 for a local socket */
    int pipe[2];       /* wakes the acceptor */
    size_t next_io;    /* I/O thread that gets the next connection; the acceptor's */
    pthread_t thread;
    bool started;
    atomic_bool stop;
    atomic_bool closed; /* no more connections are accepted, and the kernel's queue is empty */
};

/* Binds the address; inherits: or takes the sockets of systemd; secure: for TLS. Accepts nothing
 * yet. On failure nothing is left open. */
bool listener_open(struct listener *listener, const char *address, bool inherits, bool secure,
                   struct problem *problem);
/* Starts the acceptor of server->listener, which serves server->health too. */
bool listener_start(struct listener *listener, struct http_server *server);
void listener_wake(struct listener *listener); /* drain or stop began */
/* Undoes what was counted for a connection that is over. */
void listener_forget(struct http_server *server, struct connection *c);
void listener_stop(struct listener *listener); /* joins the thread, closes the sockets, removes
                                                  the socket's file */

#endif
