/* A small HTTP client on raw sockets, for requests that no library would send. */
#ifndef TESTS_HTTP_RAW_H
#define TESTS_HTTP_RAW_H

#include "base/buf.h"
#include "http/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RAW_PATIENCE_MS 20000 /* only a server that hangs is waited for so long */

static inline int raw_connect_from(const struct http_server *server, const char *from) {
    int fd;
    if (http_port(server) == 0) {
        struct sockaddr_un un = {.sun_family = AF_UNIX};
        snprintf(un.sun_path, sizeof un.sun_path, "%s", http_address(server) + 5);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof un), 0);
        return fd;
    }
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (from != NULL) {
        struct sockaddr_in own = {.sin_family = AF_INET};
        inet_pton(AF_INET, from, &own.sin_addr);
        assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    }
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
    return fd;
}
static inline int raw_connect(const struct http_server *server) {
    return raw_connect_from(server, NULL);
}

/* false: the peer has closed. */
static inline bool raw_send_n(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}
static inline bool raw_send(int fd, const char *text) {
    return raw_send_n(fd, text, strlen(text));
}

/* What came back. */
struct raw_reply {
    int status;      /* 0: the connection ended without an answer, -1: by a reset, -2: silence */
    struct buf head; /* status line and header, NUL-terminated */
    struct buf body; /* decoded, NUL-terminated */
    bool cut;        /* the connection ended within the body */
};

static inline void raw_done(struct raw_reply *r) {
    buf_done(&r->head);
    buf_done(&r->body);
}

/* One byte; 0 the end, -1 a reset, -2 silence. The bytes are taken singly from a buffer of the
 * caller. */
struct raw_in {
    int fd;
    char bytes[65536];
    size_t at, n;
};
static inline int raw_fill(struct raw_in *in) {
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    if (poll(&p, 1, RAW_PATIENCE_MS) <= 0) {
        return -2;
    }
    ssize_t n = recv(in->fd, in->bytes, sizeof in->bytes, 0);
    in->at = 0;
    in->n = n > 0 ? (size_t)n : 0;
    return n > 0 ? 1 : n == 0 ? 0 : -1;
}
static inline int raw_take(struct raw_in *in, char *c) {
    if (in->at == in->n) {
        int state = raw_fill(in);
        if (state <= 0) {
            return state;
        }
    }
    *c = in->bytes[in->at++];
    return 1;
}

/* The value of a header in the reply; NULL: none. Valid until the thread's next call. */
static inline const char *raw_header(const struct raw_reply *r, const char *name) {
    static _Thread_local char value[4096];
    size_t n = strlen(name);
    for (const char *line = r->head.data != NULL ? strstr(r->head.data, "\r\n") : NULL;
         line != NULL; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':') {
            const char *from = line + 3 + n + strspn(line + 3 + n, " ");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(from, "\r"), from);
            return value;
        }
    }
    return NULL;
}

static inline bool raw_n(struct raw_in *in, struct buf *out, size_t n) {
    while (n > 0) {
        if (in->at == in->n && raw_fill(in) <= 0) {
            return false;
        }
        size_t step = in->n - in->at < n ? in->n - in->at : n;
        buf_append(out, in->bytes + in->at, step);
        in->at += step;
        n -= step;
    }
    return true;
}

static inline bool raw_chunks(struct raw_in *in, struct buf *out) {
    for (;;) {
        char line[64];
        size_t n = 0;
        char c = 0;
        while (c != '\n' && n < sizeof line - 1) {
            if (raw_take(in, &c) <= 0) {
                return false;
            }
            line[n++] = c;
        }
        line[n] = '\0';
        size_t size = strtoul(line, NULL, 16);
        struct buf waste = {0};
        bool ok = raw_n(in, out, size) && raw_n(in, &waste, 2);
        buf_done(&waste);
        if (!ok || size == 0) {
            return ok;
        }
    }
}

/* Reads one answer (a 100 is skipped). in keeps what came behind it, for the next. */
static inline void raw_read(struct raw_in *in, bool head_only, struct raw_reply *r) {
    memset(r, 0, sizeof *r);
    char c = 0;
    do {
        buf_clear(&r->head);
        while (r->head.size < 4 || memcmp(r->head.data + r->head.size - 4, "\r\n\r\n", 4) != 0) {
            int state = raw_take(in, &c);
            if (state <= 0) {
                r->status = state;
                r->cut = r->head.size > 0;
                return;
            }
            buf_putc(&r->head, c);
        }
        assert_non_null(buf_cstr(&r->head));
        assert_memory_equal(r->head.data, "HTTP/1.1 ", 9);
        r->status = atoi(r->head.data + 9);
    } while (r->status == 100);
    const char *length = raw_header(r, "Content-Length");
    bool empty = head_only || r->status == 204 || r->status == 304;
    if (!empty && length != NULL) {
        r->cut = !raw_n(in, &r->body, strtoul(length, NULL, 10));
    } else if (!empty && raw_header(r, "Transfer-Encoding") != NULL) {
        r->cut = !raw_chunks(in, &r->body);
    }
    buf_putc(&r->body, '\0');
    assert_false(r->body.failed);
    r->body.size--;
}

/* Does the connection end now, without a reset? */
static inline bool raw_ends(struct raw_in *in) {
    char c;
    return raw_take(in, &c) == 0;
}

/* One request on a connection of its own. */
static inline void raw_ask(const struct http_server *server, const char *request,
                           struct raw_reply *r) {
    struct raw_in *in = calloc(1, sizeof *in);
    in->fd = raw_connect(server);
    (void)raw_send(in->fd, request);
    raw_read(in, strncmp(request, "HEAD", 4) == 0, r);
    close(in->fd);
    free(in);
}
static inline int raw_status(const struct http_server *server, const char *request) {
    struct raw_reply r;
    raw_ask(server, request, &r);
    raw_done(&r);
    return r.status;
}

/* The answer must be a problem document of that name with every header an answer has. */
static inline void raw_is_problem(const struct raw_reply *r, int status, const char *name) {
    assert_int_equal(r->status, status);
    assert_string_equal(raw_header(r, "Content-Type"), "application/problem+json");
    assert_string_equal(raw_header(r, "X-Content-Type-Options"), "nosniff");
    assert_non_null(raw_header(r, "X-Request-Id"));
    assert_non_null(raw_header(r, "Cache-Control"));
    assert_non_null(raw_header(r, "Date"));
    assert_memory_equal(raw_header(r, "Vary"), "Accept, Accept-Encoding", 23);
    char type[100];
    snprintf(type, sizeof type, "{\"type\":\"/problems/%s\"", name);
    assert_non_null(r->body.data);
    assert_non_null(strstr(r->body.data, type));
    assert_false(r->cut);
}
static inline void raw_expect_problem(const struct http_server *server, const char *request,
                                      int status, const char *name) {
    struct raw_reply r;
    raw_ask(server, request, &r);
    if (r.status != status) {
        fail_msg("%.200s\n-> %d, expected %d", request, r.status, status);
    }
    raw_is_problem(&r, status, name);
    raw_done(&r);
}

#endif
