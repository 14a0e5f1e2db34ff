/* Probes of the HTTP library. Each request has its own connection, and asks for "OPTIONS *", which
 * no route and no policy handles. The answers show what the library and headers.c do together, with
 * any version of the library and however it is linked. */
#include "http/library_probe.h"
#include "base/log/log.h"
#include "base/process/wake_pipe.h"
#include "http/library_quirks.h"
#include "http/net/admission.h"
#include "http/net/sockets.h"
#include "http/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PATIENCE_S 5 /* s; an answer that takes longer is none */

#define HEAD "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"

/* What must be refused. */
static const struct probe {
    const char *what;
    const char *bytes;
    size_t n;
    enum {
        REFUSED,  /* with status 400, or by closing the connection */
        DOCUMENT, /* with a problem document: the library refuses the request itself */
        LAST      /* as REFUSED, or the answer, chosen before the body, is the last one: the request
                   * that follows is not read */
    } how;
} PROBES[] = {
#define PROBE(what, text, how)                                                                     \
    { what, text, sizeof text - 1, how }
    PROBE("folded lines", HEAD "X: a\r\n b\r\n\r\n", REFUSED),
    PROBE("lines that end with LF", HEAD "X: a\n\r\n", REFUSED),
    PROBE("NUL bytes", HEAD "X: a\0b\r\n\r\n", REFUSED),
    PROBE("two blanks in front of the target",
          "OPTIONS  * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", REFUSED),
    PROBE("lines of chunks that end with LF",
          "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
          "1\na\r\n0\r\n\r\n" HEAD "\r\n",
          LAST),
    PROBE("its own error pages", HEAD "Content-Length: abc\r\n\r\n", DOCUMENT),
};

static bool is_refused(const struct probe *p, int status, const char *answer) {
    if (p->how == DOCUMENT) {
        return strstr(answer, "application/problem+json") != NULL;
    }
    return status == 400 || status == 0 ||
           (p->how == LAST && status > 0 && strstr(answer + 1, "HTTP/1.1 ") == NULL);
}

/* Gives the descriptor to the I/O thread. */
static bool connect_to(struct http_server *server, const struct io *io, int fd) {
    static const struct admission admission = {.admitted = true, .kind = CONNECTION_PROBE};
    const struct sockaddr sa = {.sa_family = AF_UNIX};
    bool stale = false;
    struct connection *c = connections_open(&server->connections, fd, &stale);
    if (c == NULL) {
        (void)close(fd);
        return false;
    }
    metric_add(server->metrics.connections, 1);
    c->server = server;
    c->peer = (struct address){.family = ADDRESS_UNIX};
    c->trusted = c->tcp = false;
    address_format(&c->peer, c->peer_text);
    admission_enter(server, c, &admission);
    connections_publish(c);
    if (MHD_add_connection(io->daemon, fd, &sa, sizeof sa.sa_family) == MHD_YES) {
        return true;
    }
    listener_forget(server, c); /* the library has closed the descriptor */
    connections_close(c);
    return false;
}

/* Sends the bytes and reads the answer into out[size]. Returns its status; 0: the connection was
 * closed without one; -1: no result. */
static int ask(struct http_server *server, const struct io *io, const char *bytes, size_t n,
               char *out, size_t size) {
    static const struct timeval patience = {.tv_sec = PATIENCE_S};
    int fds[2];
    size_t got = 0;
    ssize_t more = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) {
        return -1;
    }
    (void)setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (!descriptor_set_flags(fds[1]) || !connect_to(server, io, fds[1])) {
        (void)close(fds[0]);
        return -1;
    }
    if (send(fds[0], bytes, n, MSG_NOSIGNAL) == (ssize_t)n) {
        while (got + 1 < size && (more = recv(fds[0], out + got, size - got - 1, 0)) > 0) {
            got += (size_t)more;
        }
    }
    out[got] = '\0';
    (void)close(fds[0]);
    return got > 9 && strncmp(out, "HTTP/1.1 ", 9) == 0 ? (int)strtol(out + 9, NULL, 10)
           : got == 0 && more == 0                      ? 0
                                                        : -1;
}

bool library_probe(struct http_server *server, const struct io *io, struct problem *problem) {
    static const char good[] = HEAD "Cookie: a=b\r\nX: a\r\n\r\n";
    char answer[2048], list[300] = "";
    int status = ask(server, io, good, sizeof good - 1, answer, sizeof answer);
    if (status == 400) { /* it keeps the header in another way than its version does */
        library_lines_ignore();
        status = ask(server, io, good, sizeof good - 1, answer, sizeof answer);
    }
    if (status != 204) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "the HTTP library (libmicrohttpd %s) does not answer a request as "
                           "expected (status %d)",
                           MHD_get_version(), status);
    }
    const bool cookies = library_asked_for_cookies();
    if (!cookies && strncmp(MHD_get_version(), "0.", 2) == 0) {
        return problem_set(
            problem, PROBLEM_INTERNAL,
            "the HTTP library (libmicrohttpd %s) does not use the replacement of its "
            "parser of cookies, which reads freed memory: it may be linked with "
            "-Bsymbolic or statically",
            MHD_get_version());
    }
    size_t used = 0;
    for (size_t i = 0; i < sizeof PROBES / sizeof PROBES[0]; i++) {
        const struct probe *p = &PROBES[i];
        status = ask(server, io, p->bytes, p->n, answer, sizeof answer);
        if (!is_refused(p, status, answer)) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                                     p->what);
            server->close_all = server->close_all || p->how != DOCUMENT;
        }
    }
    if (used > 0 || !cookies) {
        log_warn("http.library", log_str("version", MHD_get_version()),
                 log_str("not_as_expected", used > 0 ? list : "cookies"),
                 log_str("connections", server->close_all ? "closed after each request" : "kept"));
    }
    return true;
}
