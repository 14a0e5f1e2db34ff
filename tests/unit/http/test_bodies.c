/* Bodies: taken, refused early and late, discarded within bounds, paused, broken off. No refusal
 * may reach the client as a reset, and a connection whose refused body was read to its end must
 * serve the next request. */
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <curl/curl.h>
#include <poll.h>
#include <sys/socket.h>

#define REFUSED_BYTES (3 << 20)

static struct toy toy;
static struct connection in;

static void start(const struct http_settings *settings) {
    toy_start(&toy, settings);
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
}
/* Also after a test that failed. */
static int stop(void **state) {
    (void)state;
    if (toy.server == NULL) {
        return 0;
    }
    close(in.fd);
    toy_stop(&toy);
    return 0;
}

static bool send_pattern(int fd, size_t n, size_t chunk) {
    char *bytes = malloc(65536);
    bool ok = true;
    for (size_t sent = 0; ok && sent < n;) {
        size_t step = n - sent < 65536 ? n - sent : 65536;
        step = chunk > 0 && step > chunk ? chunk : step;
        for (size_t i = 0; i < step; i++) {
            bytes[i] = toy_byte(sent + i);
        }
        char line[32];
        if (chunk > 0) {
            snprintf(line, sizeof line, "%zx\r\n", step);
            ok = raw_send_text(fd, line);
        }
        ok = ok && raw_send(fd, bytes, step) && (chunk == 0 || raw_send_text(fd, "\r\n"));
        sent += step;
    }
    if (ok && chunk > 0) {
        ok = raw_send_text(fd, "0\r\n\r\n");
    }
    free(bytes);
    return ok;
}

static unsigned pattern_sum(size_t n) {
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + (unsigned char)toy_byte(i);
    }
    return sum;
}

/* Sends a request with a body of n bytes on the standing connection and reads the answer. */
static void ask(const char *head, size_t n, size_t chunk, struct raw_reply *r) {
    char request[500];
    if (chunk > 0) {
        snprintf(request, sizeof request,
                 "%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", head);
    } else {
        snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                 head, n);
    }
    assert_true(raw_send_text(in.fd, request));
    assert_true(send_pattern(in.fd, n, chunk));
    raw_reply_read(&in, false, r);
}

static void expect(const char *head, size_t n, size_t chunk, int status, const char *problem) {
    struct raw_reply r;
    ask(head, n, chunk, &r);
    if (r.status != status) {
        fail_msg("%s with %zu bytes in chunks of %zu -> %d %s", head, n, chunk, r.status,
                 r.body.data);
    }
    if (problem != NULL) {
        raw_reply_is_problem(&r, status, problem);
    }
    raw_reply_done(&r);
}

static void in_memory(void **state) {
    (void)state;
    start(NULL);
    static const size_t sizes[] = {0, 1, 4095, 4096, 65536, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int where = 0; where < 4; where++) {
            struct raw_reply r;
            ask(where % 2 == 0 ? "POST /echo" : "POST /echo-pool", sizes[i], where < 2 ? 0 : 1000,
                &r);
            assert_int_equal(r.status, 200);
            assert_int_equal(r.body.size, sizes[i]);
            for (size_t k = 0; k < sizes[i]; k++) {
                if (r.body.data[k] != toy_byte(k)) {
                    fail_msg("byte %zu of %zu is wrong", k, sizes[i]);
                }
            }
            raw_reply_done(&r);
        }
    }
    stop(NULL);
}

static void streamed(void **state) {
    (void)state;
    start(NULL);
    static const char *const paths[] = {"PUT /sink/a", "PUT /sink/a?pause", "PUT /sink/a?early",
                                        "PUT /sink/a?slow=2"};
    static const size_t sizes[] = {0, 1, 100000, 2 << 20};
    int ends = 0;
    for (size_t p = 0; p < 4; p++) {
        for (size_t i = 0; i < 4; i++) {
            for (size_t chunk = 0; chunk <= 5000; chunk += 5000) {
                struct raw_reply r;
                ask(paths[p], sizes[i], chunk, &r);
                char text[100];
                snprintf(text, sizeof text, "n=%zu sum=%u\n", sizes[i], pattern_sum(sizes[i]));
                assert_int_equal(r.status, 201);
                assert_string_equal(r.body.data, text);
                raw_reply_done(&r);
                assert_int_equal(atomic_load(&toy.ends), ++ends);
            }
        }
    }
    assert_true(atomic_load(&toy.resumes) > 0);
    assert_int_equal(atomic_load(&toy.aborts), 0);
    toy_expect(&toy.done, ends);
    stop(NULL);
}

static void refused(void **state) {
    (void)state;
    start(NULL);
    toy.limit = 100000;
    for (size_t chunk = 0; chunk <= 60000; chunk += 30000) {
        expect("PUT /nope", REFUSED_BYTES, chunk, 404, "not-found");
        expect("DELETE /echo", REFUSED_BYTES, chunk, 405, "method-not-allowed");
        expect("FETCH /echo", REFUSED_BYTES, chunk, 501, "not-implemented");
        expect("POST /echo", REFUSED_BYTES, chunk, 413, "body-too-large");
        expect("PUT /sink/a", REFUSED_BYTES, chunk, 413, "body-too-large");
        expect("PUT /sink/a?begin=refuse", 90000, chunk, 415, "unsupported-media-type");
        expect("PUT /sink/a?refuse=5000", 90000, chunk, 422, "invalid-dataset");
        expect("PUT /sink/a?refuse=5000&pause", 90000, chunk, 422, "invalid-dataset");
        expect("PUT /sink/a?refuse=5000&slow=30", 90000, chunk, 422, "invalid-dataset");
        expect("PUT /sink/a?refuse=89999", 90000, chunk, 422,
               "invalid-dataset"); /* with the last of the body */
        expect("PUT /sink/a?slow=30", REFUSED_BYTES, chunk, 413,
               "body-too-large"); /* with a slice under way, where the length is not said */
        expect("GET /ok", 90000, chunk, 200, NULL);
    }
    toy.limit = 100 << 20;
    expect("PUT /sink/a?refuse=500000", REFUSED_BYTES, 0, 422, "invalid-dataset");
    expect("PUT /sink/a?begin=refuse", REFUSED_BYTES, 65536, 415, "unsupported-media-type");
    stop(NULL);
    assert_int_equal(atomic_load(&toy.ends), 0);
}

/* The last of a body comes while the sink refuses what came before: answered once, whichever is
 * first. */
static void refused_at_the_end(void **state) {
    (void)state;
    start(NULL);
    for (unsigned i = 0; i < 300; i++) {
        assert_true(raw_send_text(
            in.fd, "PUT /sink/a?refuse=10 HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n"));
        assert_true(send_pattern(in.fd, 1990, 0));
        usleep(i % 30 * 10);
        assert_true(raw_send_text(in.fd, "0123456789"));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        raw_reply_is_problem(&r, 422, "invalid-dataset");
        raw_reply_done(&r);
    }
    stop(NULL);
    assert_int_equal(atomic_load(&toy.aborts) + atomic_load(&toy.ends), 0);
}

/* The sink refuses while the connection waits for it, and no more bytes come: the sweeper sends the
 * reply when discard_time is over, 0.5 s here, not when idle_timeout is. */
static void refused_while_waiting(void **state) {
    (void)state;
    start(&(struct http_settings){.discard_limit = 64 << 20, .discard_time = 0.5});
    for (unsigned i = 0; i < 6; i++) {
        struct connection *c = &in;
        char head[200];
        snprintf(
            head, sizeof head,
            "PUT /sink/a?refuse=10&slow=%u HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n",
            i * 20);
        assert_true(raw_send_text(c->fd, head));
        assert_true(send_pattern(c->fd, 600000, 0));
        struct raw_reply r;
        raw_reply_read(c, false, &r);
        raw_reply_is_problem(&r, 422, "invalid-dataset");
        raw_reply_done(&r);
        close(c->fd);
        memset(c, 0, sizeof *c);
        c->fd = connection_open(toy.server);
    }
    stop(NULL);
}

static void limit_is_named(void **state) {
    (void)state;
    start(NULL);
    toy.limit = 1000;
    struct raw_reply r;
    ask("POST /echo", 1001, 0, &r);
    raw_reply_is_problem(&r, 413, "body-too-large");
    assert_non_null(strstr(r.body.data, "1000 bytes, set by --max-toy"));
    raw_reply_done(&r);
    expect("POST /echo", 1000, 0, 200, NULL);
    expect("POST /echo", 1000, 100, 200, NULL);
    expect("POST /echo", 1001, 100, 413, "body-too-large");
    expect("PUT /sink/a", 1000, 100, 201, NULL);
    stop(NULL);
}

static void encodings(void **state) {
    (void)state;
    start(NULL);
    expect_problem(
        toy.server,
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc",
        415, "unsupported-media-type");
    expect_problem(
        toy.server,
        "PUT /sink/a HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        400, "bad-request");
    assert_int_equal(raw_reply_status(toy.server,
                                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: "
                                      "identity\r\nContent-Length: 3\r\n\r\nabc"),
                     200);
    stop(NULL);
}

/* Judged by the header: the answer comes before a byte of the body is sent, and no 100 before it.
 */
static void expect_100(void **state) {
    (void)state;
    start(NULL);
    toy.limit = 1000;
    static const struct {
        const char *head;
        size_t n;
        int status;
        const char *problem;
    } cases[] = {{"PUT /nope", 2000, 404, "not-found"},
                 {"POST /echo", 2000, 413, "body-too-large"},
                 {"PUT /sink/a?begin=refuse", 10, 415, "unsupported-media-type"},
                 {"PUT /sink/a?judge=refuse", 10, 412, "precondition-failed"}};
    for (size_t i = 0; i < 4; i++) {
        struct raw_reply r;
        char request[300];
        snprintf(request, sizeof request,
                 "%s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n\r\n",
                 cases[i].head, cases[i].n);
        raw_reply_ask(toy.server, request, &r);
        raw_reply_is_problem(&r, cases[i].status, cases[i].problem);
        raw_reply_done(&r);
    }
    assert_true(raw_send_text(
        in.fd,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
    char line[26] = "";
    for (size_t i = 0; i < 25; i++) {
        assert_int_equal(connection_take(&in, &line[i]), 1);
    }
    assert_string_equal(line, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_true(raw_send_text(in.fd, "hello"));
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.body.data, "hello");
    raw_reply_done(&r);
    stop(NULL);
}

/* A part of a body where the whole is meant, and parameters of Content-Type. */
static void ranges_and_types(void **state) {
    (void)state;
    start(NULL);
    static const struct {
        const char *lines;
        int status;
        const char *problem, *says;
    } cases[] = {{"Content-Range: bytes 0-4/10", 400, "bad-request", "Content-Range"},
                 {"Content-Type: text/csv; charset=\"utf8\"", 201, NULL, NULL},
                 {"Content-Type: text/csv; header=present", 201, NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char request[300];
        struct raw_reply r;
        (void)snprintf(request, sizeof request,
                       "PUT /sink/a HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Length: 5\r\n\r\nhello",
                       cases[i].lines);
        assert_true(raw_send_text(in.fd, request)); /* all on one connection */
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, cases[i].status);
        if (cases[i].problem != NULL) {
            raw_reply_is_problem(&r, cases[i].status, cases[i].problem);
            assert_non_null(strstr(r.body.data, cases[i].says));
            assert_int_equal(r.body.data[r.body.size - 1], '\n');
        }
        raw_reply_done(&r);
    }
    stop(NULL);
}

/* What the sink judges on the pool comes before the body, however that is sent. */
static void judged_first(void **state) {
    (void)state;
    start(NULL);
    struct raw_reply r;
    static const char *const rests[] = {"Content-Length: 5\r\n\r\nhello",
                                        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                                        "Content-Length: 0\r\n\r\n"};
    for (int i = 0; i < 6; i++) { /* all on one connection */
        char request[300];
        (void)snprintf(request, sizeof request, "PUT /sink/a?judge=%s HTTP/1.1\r\nHost: x\r\n%s",
                       i % 2 == 0 ? "refuse" : "pass", rests[i / 2]);
        assert_true(raw_send_text(in.fd, request));
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, i % 2 == 0 ? 412 : 201);
        if (i % 2 == 1) {
            assert_memory_equal(r.body.data, i < 4 ? "n=5 " : "n=0 ", 4);
        }
        raw_reply_done(&r);
    }
    assert_int_equal(atomic_load(&toy.sunk), 10);
    assert_true(raw_send_text(in.fd, "PUT /sink/a?judge=pass HTTP/1.1\r\nHost: x\r\nExpect: "
                                     "100-continue\r\nContent-Length: 5\r\n\r\n"));
    char line[26] = "";
    for (size_t i = 0; i < 25; i++) {
        assert_int_equal(connection_take(&in, &line[i]), 1);
    }
    assert_string_equal(line, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_true(raw_send_text(in.fd, "hello"));
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 201);
    raw_reply_done(&r);
    toy_expect(&toy.ends, 4);
    toy_expect(&toy.done, 7);
    assert_int_equal(atomic_load(&toy.aborts), 3);
    stop(NULL);
}

/* A client that asks, but does not wait: the answer must survive the bytes that are under way. */
static void expect_100_impatient(void **state) {
    (void)state;
    start(NULL);
    toy.limit = 1000;
    assert_true(raw_send_text(in.fd, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: "
                                     "100-continue\r\nContent-Length: 1000000\r\n\r\n"));
    (void)send_pattern(in.fd, 1000000, 0);
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    raw_reply_is_problem(&r, 413, "body-too-large");
    raw_reply_done(&r);
    assert_true(connection_ends(&in));
    stop(NULL);
}

/* Past the bound the answer is there though the body goes on without end, and the connection ends
 * without a reset. */
static void endless(void **state) {
    (void)state;
    start(&(struct http_settings){.discard_limit = 1 << 20});
    toy.limit = INT64_C(1) << 40;
    static const char *const heads[] = {"PUT /nope", "PUT /sink/a?refuse=10", "GET /ok"};
    static const int statuses[] = {404, 422, 413};
    for (size_t i = 0; i < 3; i++) {
        close(in.fd);
        memset(&in, 0, sizeof in);
        in.fd = connection_open(toy.server);
        char request[200];
        snprintf(request, sizeof request,
                 "%s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n", heads[i]);
        assert_true(raw_send_text(in.fd, request));
        struct pollfd p = {.fd = in.fd, .events = POLLIN};
        size_t sent = 0;
        for (; sent < (256u << 20) && poll(&p, 1, 0) == 0; sent += 65536) {
            assert_true(send_pattern(in.fd, 65536, 0));
        }
        assert_true(sent >= 1 << 20 && sent < (256u << 20));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, statuses[i]);
        assert_string_equal(raw_reply_header(&r, "Connection"), "close");
        raw_reply_done(&r);
        assert_true(send_pattern(in.fd, 1 << 20, 0)); /* still read */
        assert_true(connection_ends(&in));
    }
    stop(NULL);
}

/* Nothing is discarded: the answer comes at once, however much is still to come, and closes the
 * connection without a reset. */
static void nothing_discarded(void **state) {
    (void)state;
    static const struct http_settings settings[] = {{.discard_time = 30},
                                                    {.discard_limit = 64 << 20}};
    static const char *const heads[] = {"PUT /nope", "POST /echo", "PUT /sink/a?begin=refuse",
                                        "PUT /sink/a?refuse=10"};
    static const int statuses[] = {404, 413, 415, 422};
    for (size_t i = 0; i < 8; i++) {
        toy_start_exactly(&toy, settings[i / 4]);
        toy.limit = i % 4 == 1 ? 1000 : 100 << 20;
        memset(&in, 0, sizeof in);
        in.fd = connection_open(toy.server);
        char request[200];
        snprintf(request, sizeof request,
                 "%s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", heads[i % 4]);
        assert_true(raw_send_text(in.fd, request));
        assert_true(send_pattern(in.fd, 1000, 0));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        if (r.status != statuses[i % 4]) {
            fail_msg("case %zu: %d, not %d", i, r.status, statuses[i % 4]);
        }
        assert_string_equal(raw_reply_header(&r, "Connection"), "close");
        raw_reply_done(&r);
        assert_true(send_pattern(in.fd, 100000, 0));
        assert_true(connection_ends(&in));
        stop(NULL);
    }
}

/* The client stops sending and waits: the answer comes when the patience for discarding is over. */
static void discard_time(void **state) {
    (void)state;
    start(&(struct http_settings){.discard_time = 0.3});
    assert_true(
        raw_send_text(in.fd, "PUT /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome"));
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    raw_reply_is_problem(&r, 404, "not-found");
    raw_reply_done(&r);
    assert_true(connection_ends(&in));
    stop(NULL);
}

static void client_leaves(void **state) {
    (void)state;
    start(NULL);
    for (int i = 0; i < 8; i++) {
        int fd = connection_open(toy.server);
        const char *head =
            i % 2 == 0 ? "PUT /sink/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
                       : "PUT /sink/a?pause HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                         "chunked\r\n\r\n100000\r\n";
        assert_true(raw_send_text(fd, head));
        assert_true(send_pattern(fd, 100000, 0));
        while (atomic_load(&toy.sunk) < 100) {
            usleep(1000);
        }
        if (i >= 4) {
            struct linger hard = {.l_onoff = 1};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        }
        close(fd);
        toy_expect(&toy.aborts, i + 1);
        atomic_store(&toy.sunk, 0);
    }
    toy_expect(&toy.done, 8);
    assert_int_equal(atomic_load(&toy.ends), 0);
    expect("POST /echo", 10, 0, 200, NULL);
    stop(NULL);
}

/* The server stops while a body is paused that nobody will resume, some of it still to come or all
 * of it there. */
static void stop_while_paused(void **state) {
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        start(NULL);
        toy.hold = true;
        assert_true(raw_send_text(
            in.fd,
            whole
                ? "PUT /sink/a?pause HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                : "PUT /sink/a?pause HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nhello"));
        while (atomic_load(&toy.sunk) == 0) {
            usleep(1000);
        }
        stop(NULL);
        assert_int_equal(atomic_load(&toy.aborts), 1);
        assert_int_equal(atomic_load(&toy.ends), 0);
        assert_int_equal(atomic_load(&toy.done), 1);
    }
}

/* A sink is at work when its client leaves, when the server stops: it is told once, after that. */
static void ends_at_work(void **state) {
    (void)state;
    start(NULL);
    for (int i = 0; i < 4; i++) {
        int fd = connection_open(toy.server);
        assert_true(raw_send_text(
            fd, "PUT /sink/a?slow=50 HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"));
        assert_true(
            send_pattern(fd, i < 2 ? 100000 : 1000000, 0)); /* more comes, or is waiting already */
        while (atomic_load(&toy.sunk) == 0) {
            usleep(1000);
        }
        struct linger hard = {.l_onoff = i % 2};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close(fd);
        toy_expect(&toy.aborts, i + 1);
        atomic_store(&toy.sunk, 0);
    }
    assert_true(raw_send_text(
        in.fd, "PUT /sink/a?slow=100 HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"));
    assert_true(send_pattern(in.fd, 1000000, 0));
    while (atomic_load(&toy.sunk) == 0) {
        usleep(1000);
    }
    stop(NULL);
    assert_int_equal(atomic_load(&toy.aborts), 5);
    assert_int_equal(atomic_load(&toy.done), 5);
    assert_int_equal(atomic_load(&toy.ends), 0);
}

/* ---- libcurl ---- */

static size_t curl_read(char *out, size_t size, size_t n, void *arg) {
    size_t *left = arg;
    size_t step = size * n < *left ? size * n : *left;
    memset(out, 'x', step);
    *left -= step;
    return step;
}
static size_t curl_write(char *bytes, size_t size, size_t n, void *arg) {
    buf_append(arg, bytes, size * n);
    return size * n;
}

static void through_curl(void **state) {
    (void)state;
    start(NULL);
    toy.limit = 1000;
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    char url[200];
    long connections = 0;
    for (int way = 0; way < 4; way++) { /* with and without Expect, plain and chunked */
        snprintf(url, sizeof url, "%s/sink/a", http_address(toy.server));
        size_t left = REFUSED_BYTES;
        struct buf body = {0};
        struct curl_slist *headers = curl_slist_append(NULL, way % 2 == 0 ? "X: 1" : "Expect:");
        curl_easy_reset(curl);
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, curl_read);
        curl_easy_setopt(curl, CURLOPT_READDATA, &left);
        if (way < 2) {
            curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)REFUSED_BYTES);
        }
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, curl_write);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
        assert_int_equal(curl_easy_perform(curl), CURLE_OK);
        long status = 0;
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        assert_int_equal(status, 413);
        assert_non_null(strstr(buf_cstr(&body), "body-too-large"));
        if (way == 0) {
            assert_int_equal(left, REFUSED_BYTES); /* refused before it was sent */
        }
        curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connections);
        if (way == 3) {
            assert_int_equal(connections, 0); /* way 1 left its connection usable; so did way 3's
                                                 predecessor or it was opened there */
        }
        buf_done(&body);
        curl_slist_free_all(headers);
        if (way == 2) { /* a fresh connection that way 3 must be able to reuse */
            snprintf(url, sizeof url, "%s/ok", http_address(toy.server));
            curl_easy_reset(curl);
            curl_easy_setopt(curl, CURLOPT_URL, url);
            curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
            assert_int_equal(curl_easy_perform(curl), CURLE_OK);
        }
    }
    curl_easy_cleanup(curl);
    stop(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(in_memory, stop),
        cmocka_unit_test_teardown(streamed, stop),
        cmocka_unit_test_teardown(refused, stop),
        cmocka_unit_test_teardown(refused_at_the_end, stop),
        cmocka_unit_test_teardown(refused_while_waiting, stop),
        cmocka_unit_test_teardown(limit_is_named, stop),
        cmocka_unit_test_teardown(encodings, stop),
        cmocka_unit_test_teardown(expect_100, stop),
        cmocka_unit_test_teardown(ranges_and_types, stop),
        cmocka_unit_test_teardown(judged_first, stop),
        cmocka_unit_test_teardown(expect_100_impatient, stop),
        cmocka_unit_test_teardown(endless, stop),
        cmocka_unit_test_teardown(nothing_discarded, stop),
        cmocka_unit_test_teardown(discard_time, stop),
        cmocka_unit_test_teardown(client_leaves, stop),
        cmocka_unit_test_teardown(stop_while_paused, stop),
        cmocka_unit_test_teardown(ends_at_work, stop),
        cmocka_unit_test_teardown(through_curl, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
