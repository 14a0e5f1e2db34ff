/* Requests whose end two readers could see in different places, malformed ones, and those beyond a
 * limit: an answer with the right problem and, where the framing cannot be trusted, a closed
 * connection on which nothing that follows is ever taken for a request. */
#include "unit/http/replies.h"
#include "unit/http/toy.h"
#include <microhttpd.h>

/* Version 1.0.1 of the library closes the connection without an answer, and without a call of the
 * server, where 0.9.75 answers a request line that it cannot parse. It refuses chunk extensions. */
enum { LIBRARY_1_0 = MHD_VERSION >= 0x01000000 };

static struct toy toy;

static int setup(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    return 0;
}
static int teardown(void **state) {
    (void)state;
    toy_stop(&toy);
    return 0;
}

/* The request, with a second one behind it that must never be answered. */
static void expect_closed(const char *request, int status, const char *name) {
    static struct connection in;
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
    assert_true(raw_send_text(in.fd, request));
    (void)raw_send_text(in.fd, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    if (r.status != status) {
        fail_msg("%s\n-> %d, expected %d", request, r.status, status);
    }
    raw_reply_is_problem(&r, status, name);
    assert_string_equal(raw_reply_header(&r, "Connection"), "close");
    raw_reply_done(&r);
    if (!connection_ends(&in)) {
        fail_msg("%s\n-> the connection did not end, or by a reset", request);
    }
    close(in.fd);
}

static void framing(void **state) {
    (void)state;
    static const char *const requests[] = {
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 40\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 5\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: "
        "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, "
        "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: "
        "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: x\r\nX(y): 1\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: x\r\n: 1\r\n\r\n",
        "GET /ok HTTP/1.1\r\n: 1\r\nHost: x\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: x\r\nX: 1\r\n folded\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n 0\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost: x\nX: 1\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: x\r\nX: \x01\r\n\r\n",
        "GET /ok HTTP/1.1\r\n\r\n",
        "POST /ok HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nOrigin: http://y\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
        "chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        expect_closed(requests[i], 400, "bad-framing");
    }
    expect_closed(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
        413, "body-too-large");
    expect_closed("GET /ok HTTP/1.1\nHost: x\n\n", 400,
                  LIBRARY_1_0 ? "bad-request" : "bad-framing");
    if (LIBRARY_1_0) {
        assert_int_equal(raw_reply_status(toy.server, "hello world\r\n\r\n"), 0);
    } else {
        expect_closed("hello world\r\n\r\n", 400, "bad-request");
    }
    assert_int_equal(raw_reply_status(toy.server, "hello\r\n\r\n"), 0);
    expect_closed("GET /ok HTTP/9.9\r\nHost: x\r\n\r\n", 400, "bad-request");
    expect_closed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad-request");
}

/* Lines of chunks end with CR LF. */
static void chunk_lines(void **state) {
    (void)state;
    static const char *const bodies[] = {"5\nhello\r\n0\r\n\r\n", "5;a=b\nhello\r\n0\r\n\r\n",
                                         "5\r\nhello\n5\r\nhello\r\n0\r\n\r\n",
                                         "5\r\nhello\r\n5\nhello\r\n0\r\n\r\n"};
    static const char *const heads[] = {"POST /echo", "PUT /sink/a", "POST /nope"};
    for (size_t i = 0; i < 3 * sizeof bodies / sizeof bodies[0]; i++) {
        char request[200];
        snprintf(request, sizeof request,
                 "%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%s", heads[i % 3],
                 bodies[i / 3]);
        if (LIBRARY_1_0 && i % 3 == 2) { /* the answer was chosen before the library refuses */
            expect_closed(request, 404, "not-found");
        } else {
            expect_closed(request, 400, "bad-framing");
        }
    }
    static const char good[] =
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "6\r\nhello\n\r\n2\r\n\n\n\r\n0\r\n\r\n";
    static struct connection in;
    in.fd = connection_open(toy.server);
    for (size_t i = 0; i < 40; i++) { /* in one piece, and cut in two at each byte */
        const size_t cut = i % sizeof good;
        assert_true(raw_send(in.fd, good, cut));
        usleep(cut > 0 ? 2000 : 0);
        assert_true(raw_send(in.fd, good + cut, sizeof good - 1 - cut));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, 200);
        assert_string_equal(r.body.data, "hello\n\n\n");
        raw_reply_done(&r);
    }
    close(in.fd);
}

/* The last piece of a chunk ends where the CR or the LF of the next line is later, when the library
 * has moved that line to the beginning of its buffer. */
static void chunk_lines_moved(void **state) {
    (void)state;
    static const char head[] =
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "10\r\n",
                      body[] = "0123456789abcdef", rest[] = "\r\n3\r\nxyz\r\n0\r\n\r\n";
    static struct connection in;
    in.fd = connection_open(toy.server);
    for (size_t last = 1; last <= 6; last++) { /* the bytes of the last piece */
        const size_t first = sizeof body - 1 - last;
        assert_true(raw_send(in.fd, head, sizeof head - 1) && raw_send(in.fd, body, first));
        usleep(20000);
        assert_true(raw_send(in.fd, body + first, last));
        usleep(20000);
        assert_true(raw_send(in.fd, rest, sizeof rest - 1));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, 200);
        assert_string_equal(r.body.data, "0123456789abcdefxyz");
        raw_reply_done(&r);
    }
    close(in.fd);
}

/* One blank in front of the target, and a Host whose port is a number. */
static void first_lines_and_hosts(void **state) {
    (void)state;
    expect_closed("GET  /ok HTTP/1.1\r\nHost: x\r\n\r\n", 400,
                  LIBRARY_1_0 ? "bad-request" : "bad-framing");
    static const char *const hosts[] = {
        "localhost:abc", "localhost:65536", "localhost:80:80", "[::1", "[::1]x", "x:-1", "::1"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        char request[100];
        snprintf(request, sizeof request, "GET /ok HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i]);
        expect_problem(toy.server, request, 400, "bad-request");
    }
    static const char *const good[] = {"localhost:65535", "x:", "[::1]:80", "[::1]", "x.example"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char request[100];
        snprintf(request, sizeof request, "GET /ok HTTP/1.1\r\nHost: %s\r\n\r\n", good[i]);
        assert_int_equal(raw_reply_status(toy.server, request), 200);
    }
    expect_problem(toy.server, "GET http://localhost:abc/ok HTTP/1.1\r\nHost: x\r\n\r\n", 400,
                   "bad-request");
}

static void nul_bytes(void **state) {
    (void)state;
    static const char line[] = "GET /ok\0x HTTP/1.1\r\nHost: x\r\n\r\n",
                      field[] = "GET /ok HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n",
                      middle[] = "GET /ok HTTP/1.1\r\nX: a\0b\r\nHost: x\r\n\r\n";
    const struct {
        const char *bytes;
        size_t n;
    } cases[] = {{line, sizeof line - 1}, {field, sizeof field - 1}, {middle, sizeof middle - 1}};
    for (size_t i = 0; i < 3; i++) {
        static struct connection in;
        memset(&in, 0, sizeof in);
        in.fd = connection_open(toy.server);
        assert_true(raw_send(in.fd, cases[i].bytes, cases[i].n));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        if (LIBRARY_1_0 && i == 0) {
            assert_int_equal(r.status, 0);
        } else {
            raw_reply_is_problem(&r, 400, "bad-framing");
        }
        raw_reply_done(&r);
        assert_true(connection_ends(&in));
        close(in.fd);
    }
}

/* What is merely unusual is served, on a connection that goes on. */
static void unusual(void **state) {
    (void)state;
    static struct connection in;
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
    static const char *const requests[] = {
        "GET /ok HTTP/1.1\r\nHost: x\r\nX:   a  \r\nY:\r\nZ:\tb\r\nempty:\r\n\r\n",
        "\r\nGET /ok HTTP/1.1\r\nhOST: x\r\n\r\n",
        "GET http://x/ok HTTP/1.1\r\nHost: y\r\n\r\n",
        ("POST /echo HTTP/1.1\r\nHost: x\r\ntransfer-encoding: "
         "Chunked\r\n\r\n3\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n"),
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /ok?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
        "DELETE /v1/things/a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
        "GET /v1/things/%c3%a9?%C3%A9=+ HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        assert_true(raw_send_text(in.fd, requests[i]));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        if (r.status != 200) {
            fail_msg("%s\n-> %d %s", requests[i], r.status, r.body.data);
        }
        raw_reply_done(&r);
    }
    close(in.fd);
}

static void chunk_extension(void **state) {
    (void)state;
    static const char request[] = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                                  "chunked\r\n\r\n3;ext=1\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n";
    if (LIBRARY_1_0) {
        expect_closed(request, 400, "bad-framing");
    } else {
        assert_int_equal(raw_reply_status(toy.server, request), 200);
    }
}

static void pipelined(void **state) {
    (void)state;
    static struct connection in;
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
    assert_true(raw_send_text(in.fd,
                              "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
                              "POST /echo-pool HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                              "chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n"
                              "GET /nope HTTP/1.1\r\nHost: x\r\n\r\nGET /defer HTTP/1.1\r\nHost: "
                              "x\r\nConnection: close\r\n\r\n"));
    static const char *const bodies[] = {"one", "two", NULL, "ok\n"};
    for (int i = 0; i < 4; i++) {
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, i == 2 ? 404 : 200);
        if (bodies[i] != NULL) {
            assert_string_equal(r.body.data, bodies[i]);
        }
        raw_reply_done(&r);
    }
    assert_true(connection_ends(&in));
    close(in.fd);
}

/* "GET /ok?<n parameters>" or n headers or n cookies. */
static char *many(const char *kind, int n) {
    struct buf b = {0};
    buf_puts(&b, "GET /v1/things");
    for (int i = 0; i < n && kind[0] == 'q'; i++) {
        buf_printf(&b, "%c%d=%d", i == 0 ? '?' : '&', i, i);
    }
    buf_puts(&b, " HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < n && kind[0] == 'h'; i++) {
        buf_printf(&b, "X-%d: %d\r\n", i, i);
    }
    if (kind[0] == 'c') {
        buf_puts(&b, "Cookie: ");
    }
    for (int i = 0; i < n && kind[0] == 'c'; i++) {
        buf_printf(&b, "%sc%d=%d", i == 0 ? "" : "; ", i, i);
    }
    buf_puts(&b, kind[0] == 'c' ? "\r\n\r\n" : "\r\n");
    return buf_take(&b, NULL);
}

static void many_of_all(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        int n, status;
        const char *problem;
    } cases[] = {
        {"query", 10, 200, NULL},
        {"query", 500, 200, NULL},
        {"query", 1000, 200, NULL},
        {"query", 1500, 200, NULL},
        {"query", 5000, 414, "uri-too-long"},
        {"headers", 10, 200, NULL},
        {"headers", 99, 200, NULL},
        {"headers", 100, 431, "headers-too-large"},
        {"headers", 500, 431, "headers-too-large"},
        {"headers", 1000, 431, "headers-too-large"},
        {"headers", 5000, 431, "headers-too-large"},
        {"cookies", 10, 200, NULL},
        {"cookies", 500, 200, NULL},
        {"cookies", 1000, 200,
         NULL}, /* 10 KB: the library, which would need memory for each, is not let near them */
        {"cookies", 5000, 431, "headers-too-large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *request = many(cases[i].kind, cases[i].n);
        struct raw_reply r;
        raw_reply_ask(toy.server, request, &r);
        if (r.status != cases[i].status) {
            fail_msg("%d %s -> %d, expected %d", cases[i].n, cases[i].kind, r.status,
                     cases[i].status);
        }
        if (cases[i].problem != NULL) {
            raw_reply_is_problem(&r, cases[i].status, cases[i].problem);
        }
        char count[32];
        snprintf(count, sizeof count, "\nn=%d\n", cases[i].n);
        if (cases[i].status == 200 && cases[i].kind[0] == 'q') {
            assert_non_null(strstr(r.body.data, count));
        }
        raw_reply_done(&r);
        free(request);
    }
}

static void long_lines(void **state) {
    (void)state;
    static const struct {
        size_t path, header;
        int status;
    } cases[] = {{16300, 0, 200},   {16384, 0, 414},    {17000, 0, 414},  {40000, 0, 414},
                 {1000000, 0, 414}, {0, 12000, 200},    {0, 12400, 431},  {0, 40000, 431},
                 {0, 1000000, 431}, {15000, 9000, 200}, {16300, 12000, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b = {0};
        buf_puts(&b, "GET /ok?");
        for (size_t k = 0; k < cases[i].path; k++) {
            buf_putc(&b, 'q');
        }
        buf_puts(&b, " HTTP/1.1\r\nHost: x\r\nX: ");
        for (size_t k = 0; k < cases[i].header; k++) {
            buf_putc(&b, 'h');
        }
        buf_puts(&b, "\r\n\r\n");
        int status = raw_reply_status(toy.server, buf_cstr(&b));
        if (cases[i].status == 0) {
            assert_true(status == 200 ||
                        status ==
                            431); /* both at once may need more memory than a connection has */
        } else if (status != cases[i].status) {
            fail_msg("path of %zu, header of %zu: %d, expected %d", cases[i].path, cases[i].header,
                     status, cases[i].status);
        }
        buf_done(&b);
    }
}

static void targets(void **state) {
    (void)state;
    static const char *const bad[] = {"/v1/things/a%00b",
                                      "/v1/things/a%2Fb",
                                      "/v1/things/%zz",
                                      "/v1/things/%4",
                                      "/v1/things/%ff",
                                      "/v1/things/a b",
                                      "/ok?a=%00",
                                      "/ok?a=%zz",
                                      "/ok?%ff=1",
                                      "ok",
                                      "*"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char request[200];
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", bad[i]);
        expect_problem(toy.server, request, 400, "bad-request");
    }
    expect_problem(toy.server, "GET /v1/things/%2e%2e/%2e HTTP/1.1\r\nHost: x\r\n\r\n", 404,
                   "not-found");
    expect_problem(toy.server, "GET /v1//things HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found");
    expect_problem(toy.server, "GET /ok/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found");
    expect_problem(toy.server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found");
}

static void methods(void **state) {
    (void)state;
    expect_problem(toy.server, "FETCH /ok HTTP/1.1\r\nHost: x\r\n\r\n", 501, "not-implemented");
    expect_problem(toy.server, "get /ok HTTP/1.1\r\nHost: x\r\n\r\n", 501, "not-implemented");
    expect_problem(toy.server, "TRACE /ok HTTP/1.1\r\nHost: x\r\n\r\n", 501, "not-implemented");
    expect_problem(toy.server, "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 501, "not-implemented");
    expect_problem(
        toy.server,
        "AVERYLONGMETHODNAMEINDEED /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", 501,
        "not-implemented");
    expect_problem(toy.server,
                   "POST /ok HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nContent-Length: 2\r\n\r\nab",
                   417, "expectation-failed");
    expect_problem(toy.server, "GET /silent HTTP/1.1\r\nHost: x\r\n\r\n", 500, "internal");
    expect_problem(toy.server, "GET /silent-pool HTTP/1.1\r\nHost: x\r\n\r\n", 500, "internal");
    struct raw_reply r;
    raw_reply_ask(toy.server, "DELETE /v1/things HTTP/1.1\r\nHost: x\r\n\r\n", &r);
    raw_reply_is_problem(&r, 405, "method-not-allowed");
    assert_string_equal(raw_reply_header(&r, "Allow"), "GET, HEAD, POST, OPTIONS");
    raw_reply_done(&r);
    raw_reply_ask(toy.server, "OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n", &r);
    assert_int_equal(r.status, 204);
    assert_string_equal(raw_reply_header(&r, "Allow"), "POST, OPTIONS");
    assert_null(raw_reply_header(&r, "Access-Control-Allow-Origin"));
    raw_reply_done(&r);
    raw_reply_ask(toy.server, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", &r);
    assert_int_equal(r.status, 204);
    raw_reply_done(&r);
    expect_problem(toy.server, "OPTIONS /nope HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found");
}

static void head(void **state) {
    (void)state;
    static struct connection in;
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
    static const struct {
        const char *path;
        int status;
        const char
            *length; /* NULL: that of the answer to GET; "": not known, so nothing is said of it */
    } cases[] = {{"/ok", 200, "3"},       {"/slow", 200, "3"},
                 {"/nope", 404, NULL},    {"/wait?seconds=600", 200, "15"},
                 {"/lines?n=5", 200, ""}, {"/events", 200, ""},
                 {"/echo", 405, NULL},    {"/big?n=100000", 200, "100000"},
                 {"/etag", 200, "10"},    {"/big?n=1000", 200, "1000"},
                 {"/ok", 200, "3"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char request[200];
        snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n", cases[i].path);
        assert_true(raw_send_text(in.fd, request));
        struct raw_reply r;
        raw_reply_read(&in, true,
                       &r); /* were there a body, the next answer would not begin where it must */
        assert_int_equal(r.status, cases[i].status);
        const char *length = raw_reply_header(&r, "Content-Length");
        assert_string_equal(length != NULL ? length : "",
                            cases[i].length != NULL ? cases[i].length : length);
        assert_null(raw_reply_header(&r, "Transfer-Encoding"));
        if (raw_reply_header(&r, "Connection") != NULL) { /* the library's way of not saying it */
            assert_true(connection_ends(&in));
            close(in.fd);
            memset(&in, 0, sizeof in);
            in.fd = connection_open(toy.server);
        }
        raw_reply_done(&r);
    }
    close(in.fd);
    toy_expect(&toy.streams, 0);
}

static void request_ids(void **state) {
    (void)state;
    struct raw_reply r;
    raw_reply_ask(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\nX-Request-Id: a.B_9:+/=@-\r\n\r\n",
                  &r);
    assert_string_equal(raw_reply_header(&r, "X-Request-Id"), "a.B_9:+/=@-");
    raw_reply_done(&r);
    char request[400];
    /* every byte counts: the first, one in the middle, the last; alone, and the empty one */
    static const char *const refused[] = {"a b", "{ab", "a{b", "ab{",  "{",
                                          "\"",  ",x",  "x,",  "\x80x"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        snprintf(request, sizeof request, "GET /ok HTTP/1.1\r\nHost: x\r\nX-Request-Id: %s\r\n\r\n",
                 refused[i]);
        raw_reply_ask(toy.server, request, &r);
        assert_int_equal(r.status, 200);
        assert_int_equal(strlen(raw_reply_header(&r, "X-Request-Id")), 24);
        raw_reply_done(&r);
    }
    raw_reply_ask(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\nX-Request-Id: z\r\n\r\n", &r);
    assert_string_equal(raw_reply_header(&r, "X-Request-Id"), "z");
    raw_reply_done(&r);
    snprintf(request, sizeof request,
             "GET /nope HTTP/1.1\r\nHost: x\r\nX-Request-Id: %0128d\r\n\r\n", 7);
    raw_reply_ask(toy.server, request, &r);
    assert_int_equal(strlen(raw_reply_header(&r, "X-Request-Id")), 128);
    char member[200];
    snprintf(member, sizeof member, "\"request_id\":\"%0128d\"", 7);
    assert_non_null(strstr(r.body.data, member));
    raw_reply_done(&r);
    snprintf(request, sizeof request, "GET /ok HTTP/1.1\r\nHost: x\r\nX-Request-Id: %0129d\r\n\r\n",
             7);
    raw_reply_ask(toy.server, request, &r);
    assert_int_equal(strlen(raw_reply_header(&r, "X-Request-Id")), 24);
    raw_reply_done(&r);
}

/* A chunk's line that has no room is the client's fault. */
static void long_chunk_extension(void **state) {
    (void)state;
    enum { N = 100000 };
    static char extension[N + 1];
    memset(extension, 'e', N);
    struct buf request = {0};
    for (int sink = 0; sink < 2; sink++) {
        buf_clear(&request);
        buf_printf(&request,
                   "%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n5;%s\r\nhello\r\n0\r\n\r\n",
                   sink ? "PUT /sink/a" : "POST /echo", extension);
        struct raw_reply r;
        raw_reply_ask(toy.server, buf_cstr(&request), &r);
        assert_true(r.status == 400 || r.status == 413);
        raw_reply_is_problem(&r, r.status, r.status == 400 ? "bad-framing" : "body-too-large");
        assert_non_null(strstr(r.body.data, "chunk"));
        raw_reply_done(&r);
    }
    buf_done(&request);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(framing, setup, teardown),
        cmocka_unit_test_setup_teardown(chunk_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(chunk_lines_moved, setup, teardown),
        cmocka_unit_test_setup_teardown(first_lines_and_hosts, setup, teardown),
        cmocka_unit_test_setup_teardown(nul_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(unusual, setup, teardown),
        cmocka_unit_test_setup_teardown(chunk_extension, setup, teardown),
        cmocka_unit_test_setup_teardown(pipelined, setup, teardown),
        cmocka_unit_test_setup_teardown(many_of_all, setup, teardown),
        cmocka_unit_test_setup_teardown(long_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(targets, setup, teardown),
        cmocka_unit_test_setup_teardown(methods, setup, teardown),
        cmocka_unit_test_setup_teardown(long_chunk_extension, setup, teardown),
        cmocka_unit_test_setup_teardown(head, setup, teardown),
        cmocka_unit_test_setup_teardown(request_ids, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
