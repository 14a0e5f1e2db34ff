/* The budget of bytes that clients can make the server hold: refused beyond it with an answer,
 * given back at the end, small calls served in any case. */
#include "base/metrics/metrics.h"
#include "http/call/memory.h"
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <sys/socket.h>

#define MIB (1 << 20)

static struct toy toy;
static struct connection in;

static void start(int64_t body_memory) {
    /* nothing here is about time: a slow machine is to end no connection */
    toy_start(&toy, &(struct http_settings){.body_memory = body_memory,
                                            .header_timeout = 300,
                                            .idle_timeout = 300,
                                            .keep_alive_timeout = 300});
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
}

static int stop(void **state) {
    (void)state;
    if (toy.server == NULL) {
        return 0;
    }
    close(in.fd);
    toy_stop(&toy);
    return 0;
}

/* As /metrics shows it. */
static double held(void) {
    static const char name[] = "\ndiscern_http_body_bytes ";
    struct buf text = {0};
    metrics_render(&text);
    const char *at = strstr(buf_cstr(&text), name);
    assert_non_null(at);
    double value = strtod(at + sizeof name - 1, NULL);
    buf_done(&text);
    return value;
}

static void wait_until_held(double low, double high) {
    for (int i = 0; i < 4000 && (held() < low || held() > high); i++) {
        usleep(5000);
    }
    if (held() < low || held() > high) {
        fail_msg("%.0f is held, not %.0f to %.0f", held(), low, high);
    }
}

static void send_bytes(int fd, size_t n) {
    char *bytes = malloc(n);
    assert_non_null(bytes);
    memset(bytes, 'x', n);
    assert_true(raw_send(fd, bytes, n));
    free(bytes);
}

/* A request on its own connection of whose body only `sent` bytes come for now. */
static int begin(const char *head, size_t length, size_t sent) {
    char request[300];
    int fd = connection_open(toy.server);
    snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", head,
             length);
    assert_true(raw_send_text(fd, request));
    send_bytes(fd, sent);
    return fd;
}

static void read_status(int fd, int status) {
    static struct connection one;
    struct raw_reply r;
    memset(&one, 0, sizeof one);
    one.fd = fd;
    raw_reply_read(&one, false, &r);
    assert_int_equal(r.status, status);
    raw_reply_done(&r);
}

static void expect_refused(int status, const char *name) {
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    raw_reply_is_problem(&r, status, name);
    assert_int_equal(raw_reply_header(&r, "Retry-After") != NULL, status == 503);
    assert_non_null(strstr(r.body.data, "--body-memory"));
    raw_reply_done(&r);
}
static void expect_503(void) {
    expect_refused(503, "unavailable");
}
static void expect_413(void) {
    expect_refused(413, "body-too-large");
}

static void expect_ok(const char *request) {
    struct raw_reply r;
    assert_true(raw_send_text(in.fd, request));
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_false(r.cut);
    raw_reply_done(&r);
}

static void shares(void **state) {
    (void)state;
    struct http_memory m = {.limit = 100000};
    size_t a = 0, b = 0;
    assert_true(memory_hold(&m, &a, MEMORY_UNCOUNTED) && a == 0);
    assert_true(memory_hold(&m, &a, 60000) && a == 60000);
    assert_false(memory_hold(&m, &b, 60000));
    assert_int_equal(b, 0);
    assert_true(memory_hold(&m, &b, 40000));
    assert_false(memory_hold(&m, &a, 60001));
    assert_true(memory_hold(&m, &a, 50000)); /* less is always taken */
    assert_true(memory_has_room(&m, MEMORY_UNCOUNTED) && !memory_has_room(&m, 20000));
    memory_hold_anyway(&m, &b, 90000);
    assert_int_equal(atomic_load(&m.held), 140000);
    assert_true(memory_hold(&m, &b, 80000)); /* even from beyond the limit */
    memory_hold_anyway(&m, &a, 0);
    memory_hold_anyway(&m, &b, 0);
    assert_int_equal(atomic_load(&m.held), 0);
}

/* A body that can never fit, by its length or growing piece by piece: an answer, and the connection
 * goes on. */
static void one_body_too_many(void **state) {
    (void)state;
    start(MIB);
    assert_true(
        raw_send_text(in.fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n"));
    send_bytes(in.fd, 2000000);
    expect_413();
    assert_true(
        raw_send_text(in.fd,
                      "POST /echo-pool HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 20; i++) {
        assert_true(raw_send_text(in.fd, "186a0\r\n"));
        send_bytes(in.fd, 100000);
        assert_true(raw_send_text(in.fd, "\r\n"));
    }
    assert_true(raw_send_text(in.fd, "0\r\n\r\n"));
    expect_413();
    assert_true(raw_send_text(in.fd, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: "
                                     "100-continue\r\nContent-Length: 2000000\r\n\r\n"));
    expect_413(); /* before a byte of it is sent */
    wait_until_held(0, 0);
}

/* Several that fit singly: counted as they come, not as they are promised, and room again when they
 * have gone. */
static void bodies_together(void **state) {
    (void)state;
    start(MIB);
    int promise = begin("POST /echo", 900000, 0), first = begin("POST /echo", 800000, 700000);
    wait_until_held(700000, 900000);
    assert_true(
        raw_send_text(in.fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"));
    send_bytes(in.fd, 500000);
    expect_503();
    expect_ok("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    send_bytes(first, 100000);
    read_status(first, 503); /* its answer, 800,000 bytes as well, would be held beside it */
    close(promise);
    wait_until_held(0, 0);
    close(first);
    assert_true(
        raw_send_text(in.fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"));
    send_bytes(in.fd, 500000);
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    raw_reply_done(&r);
    wait_until_held(0, 0);
}

/* Clients that do not take their answers. */
static void answers_not_taken(void **state) {
    (void)state;
    start(50 * MIB);
    int slow[2];
    for (int i = 0; i < 2; i++) {
        slow[i] = connection_open(toy.server);
        assert_true(raw_send_text(slow[i], "GET /big?n=20000000 HTTP/1.1\r\nHost: x\r\n\r\n"));
        wait_until_held(20e6 * (i + 1), 20e6 * (i + 1));
    }
    assert_true(raw_send_text(in.fd, "GET /big?n=20000000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect_503();
    expect_ok("GET /big?n=10000 HTTP/1.1\r\nHost: x\r\n\r\n");
    /* a client that has the document already needs no room for it */
    assert_true(raw_send_text(in.fd, "GET /big?n=20000000 HTTP/1.1\r\nHost: x\r\nIf-None-Match: "
                                     "*\r\n\r\n"));
    read_status(in.fd, 304);
    read_status(slow[0], 200);
    close(slow[0]);
    close(slow[1]);
    wait_until_held(0, 0);
    expect_ok("GET /big?n=20000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until_held(0, 0);
}

/* What changes something is refused before, or not at all. */
static void changes(void **state) {
    (void)state;
    start(2 * MIB);
    expect_ok(
        "POST /change?n=3000000 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"); /* more than
                                                                                       there is room
                                                                                       for: already
                                                                                       done */
    assert_int_equal(atomic_load(&toy.changed), 1);
    wait_until_held(0, 0);
    int full = begin("POST /echo", 2 * MIB - 100, 2 * MIB - 200);
    wait_until_held(2 * MIB - 16384, 2 * MIB);
    assert_true(
        raw_send_text(in.fd, "POST /change?n=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
    expect_503();
    assert_int_equal(atomic_load(&toy.changed), 1);
    close(full);
    wait_until_held(0, 0);
    expect_ok("POST /change?n=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
}

/* A streamed body is counted as the bytes that its reader can hold for the part that has arrived,
 * whatever its Content-Length is. */
static void readers(void **state) {
    (void)state;
    start(2 * TOY_READER + MIB / 2);
    int fds[2];
    for (int i = 0; i < 2; i++) {
        fds[i] = begin("PUT /sink/a", 5 * MIB, 4 * MIB);
        wait_until_held((i + 1) * TOY_READER, (i + 1) * TOY_READER);
    }
    assert_true(
        raw_send_text(in.fd, "PUT /sink/b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"));
    send_bytes(in.fd, 1000000);
    expect_503();
    assert_true(
        raw_send_text(in.fd,
                      "PUT /sink/b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 10; i++) {
        assert_true(raw_send_text(in.fd, "186a0\r\n"));
        send_bytes(in.fd, 100000);
        assert_true(raw_send_text(in.fd, "\r\n"));
    }
    assert_true(raw_send_text(in.fd, "0\r\n\r\n"));
    expect_503();
    toy_expect(&toy.aborts, 1);
    for (int i = 0; i < 2; i++) {
        send_bytes(fds[i], MIB);
        read_status(fds[i], 201);
        close(fds[i]);
    }
    wait_until_held(0, 0);
}

/* Streamed answers go on with nothing left, a piece at a time. */
static void streams_go_on(void **state) {
    (void)state;
    start(MIB);
    int full = begin("POST /echo", MIB - 100, MIB - 200);
    wait_until_held(MIB - 16384, MIB);
    assert_true(raw_send_text(in.fd, "GET /lines?n=500000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_false(r.cut);
    assert_non_null(strstr(r.body.data + r.body.size - 10, "499999\n"));
    raw_reply_done(&r);
    close(full);
    wait_until_held(0, 0);
}

/* What is sent is not kept, though the client never quite catches up: it looks how much is held
 * between its reads. */
static void long_streams(void **state) {
    (void)state;
    static char text[16 + 100000 + 1]; /* what was read last, behind the end of what was before */
    size_t size = 0, tail = 0;
    double most = 0;
    start(64 * MIB);
    assert_true(
        raw_send_text(in.fd, "GET /lines?n=4000000&block=40000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    for (bool end = false; !end;) {
        const ssize_t n = recv(in.fd, text + tail, 100000, 0);
        assert_true(n > 0);
        size += (size_t)n;
        tail += (size_t)n;
        text[tail] = '\0';
        end = strstr(text, "\n3999999\n") != NULL;
        const size_t kept = tail < 16 ? tail : 16;
        memmove(text, text + tail - kept, kept);
        tail = kept;
        const double now = held();
        most = now > most ? now : most;
        usleep(1000); /* slower than the lines are made, faster than nothing */
    }
    assert_true(size > 20 * MIB);
    assert_true(most > 0 && most < 2 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares),
        cmocka_unit_test_teardown(one_body_too_many, stop),
        cmocka_unit_test_teardown(bodies_together, stop),
        cmocka_unit_test_teardown(answers_not_taken, stop),
        cmocka_unit_test_teardown(changes, stop),
        cmocka_unit_test_teardown(readers, stop),
        cmocka_unit_test_teardown(streams_go_on, stop),
        cmocka_unit_test_teardown(long_streams, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
