/* Answers of a server of the test program, read one by one from a connection. */
#ifndef TESTS_HTTP_REPLIES_H
#define TESTS_HTTP_REPLIES_H

#include "lib/raw.h"

#include "base/memory/buf.h"
#include "http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SILENCE_MS = 20000 }; /* a server that is silent for this time hangs */

/* Connects to the server; `from` is the client's own address. Fails the test on an error. */
int connection_open_from(const struct http_server *server, const char *from);
int connection_open(const struct http_server *server);

struct raw_reply {
    int status;      /* 0: the connection ended without an answer, -1: by a reset, -2: silence */
    struct buf head; /* status line and header, NUL-terminated */
    struct buf body; /* decoded, NUL-terminated */
    bool cut;        /* the connection ended within the body */
};

void raw_reply_done(struct raw_reply *r);

/* A connection with the bytes received and not yet read. */
struct connection {
    int fd;
    char bytes[65536];
    size_t at, n;
};
/* Reads one byte. Returns 1; 0 at the end, -1 after a reset, -2 after 20 s of silence. */
int connection_take(struct connection *in, char *c);

/* The value of a header in the reply; NULL: none. Valid until the thread's next call. */
const char *raw_reply_header(const struct raw_reply *r, const char *name);

/* Appends n bytes to out; false: the connection ended before. */
bool connection_take_n(struct connection *in, struct buf *out, size_t n);

/* Reads one answer; skips those with status 100. */
void raw_reply_read(struct connection *in, bool head_only, struct raw_reply *r);

/* Whether the connection ends now, without a reset. */
bool connection_ends(struct connection *in);

/* Sends one request on a new connection and reads the answer, or returns its status. */
void raw_reply_ask(const struct http_server *server, const char *request, struct raw_reply *r);
int raw_reply_status(const struct http_server *server, const char *request);

/* Fails the test unless the answer is this problem and has the headers of every answer. */
void raw_reply_is_problem(const struct raw_reply *r, int status, const char *name);
void expect_problem(const struct http_server *server, const char *request, int status,
                    const char *name);

#endif
