#include "unit/http/replies.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

int connection_open_from(const struct http_server *server, const char *from) {
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

int connection_open(const struct http_server *server) {
    return connection_open_from(server, NULL);
}

void raw_reply_done(struct raw_reply *r) {
    buf_done(&r->head);
    buf_done(&r->body);
}

static int connection_fill(struct connection *in) {
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    if (poll(&p, 1, SILENCE_MS) <= 0) {
        return -2;
    }
    ssize_t n = recv(in->fd, in->bytes, sizeof in->bytes, 0);
    in->at = 0;
    in->n = n > 0 ? (size_t)n : 0;
    return n > 0 ? 1 : n == 0 ? 0 : -1;
}

int connection_take(struct connection *in, char *c) {
    if (in->at == in->n) {
        int state = connection_fill(in);
        if (state <= 0) {
            return state;
        }
    }
    *c = in->bytes[in->at++];
    return 1;
}

const char *raw_reply_header(const struct raw_reply *r, const char *name) {
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

bool connection_take_n(struct connection *in, struct buf *out, size_t n) {
    while (n > 0) {
        if (in->at == in->n && connection_fill(in) <= 0) {
            return false;
        }
        size_t step = in->n - in->at < n ? in->n - in->at : n;
        buf_append(out, in->bytes + in->at, step);
        in->at += step;
        n -= step;
    }
    return true;
}

static bool raw_reply_chunks(struct connection *in, struct buf *out) {
    for (;;) {
        char line[64];
        size_t n = 0;
        char c = 0;
        while (c != '\n' && n < sizeof line - 1) {
            if (connection_take(in, &c) <= 0) {
                return false;
            }
            line[n++] = c;
        }
        line[n] = '\0';
        size_t size = strtoul(line, NULL, 16);
        struct buf waste = {0};
        bool ok = connection_take_n(in, out, size) && connection_take_n(in, &waste, 2);
        buf_done(&waste);
        if (!ok || size == 0) {
            return ok;
        }
    }
}

void raw_reply_read(struct connection *in, bool head_only, struct raw_reply *r) {
    memset(r, 0, sizeof *r);
    char c = 0;
    do {
        buf_clear(&r->head);
        while (r->head.size < 4 || memcmp(r->head.data + r->head.size - 4, "\r\n\r\n", 4) != 0) {
            int state = connection_take(in, &c);
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
    const char *length = raw_reply_header(r, "Content-Length");
    bool empty = head_only || r->status == 204 || r->status == 304;
    if (!empty && length != NULL) {
        r->cut = !connection_take_n(in, &r->body, strtoul(length, NULL, 10));
    } else if (!empty && raw_reply_header(r, "Transfer-Encoding") != NULL) {
        r->cut = !raw_reply_chunks(in, &r->body);
    }
    buf_putc(&r->body, '\0');
    assert_false(r->body.failed);
    r->body.size--;
}

bool connection_ends(struct connection *in) {
    char c;
    return connection_take(in, &c) == 0;
}

void raw_reply_ask(const struct http_server *server, const char *request, struct raw_reply *r) {
    struct connection *in = calloc(1, sizeof *in);
    in->fd = connection_open(server);
    (void)raw_send_text(in->fd, request);
    raw_reply_read(in, strncmp(request, "HEAD", 4) == 0, r);
    close(in->fd);
    free(in);
}

int raw_reply_status(const struct http_server *server, const char *request) {
    struct raw_reply r;
    raw_reply_ask(server, request, &r);
    raw_reply_done(&r);
    return r.status;
}

void raw_reply_is_problem(const struct raw_reply *r, int status, const char *name) {
    assert_int_equal(r->status, status);
    assert_string_equal(raw_reply_header(r, "Content-Type"), "application/problem+json");
    assert_string_equal(raw_reply_header(r, "X-Content-Type-Options"), "nosniff");
    assert_non_null(raw_reply_header(r, "X-Request-Id"));
    assert_non_null(raw_reply_header(r, "Cache-Control"));
    assert_non_null(raw_reply_header(r, "Date"));
    assert_memory_equal(raw_reply_header(r, "Vary"), "Accept, Accept-Encoding", 23);
    char type[100];
    snprintf(type, sizeof type, "{\"type\":\"/problems/%s\"", name);
    assert_non_null(r->body.data);
    assert_non_null(strstr(r->body.data, type));
    assert_false(r->cut);
}

void expect_problem(const struct http_server *server, const char *request, int status,
                    const char *name) {
    struct raw_reply r;
    raw_reply_ask(server, request, &r);
    if (r.status != status) {
        fail_msg("%.200s\n-> %d, expected %d", request, r.status, status);
    }
    raw_reply_is_problem(&r, status, name);
    raw_reply_done(&r);
}
