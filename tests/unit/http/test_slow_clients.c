/* Slow clients against a server with short deadlines: each is ended, and none that is only waiting
 * for us. */
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <poll.h>

static struct toy toy;
static struct connection in;

static void start(const struct http_settings *settings) {
    toy_start(&toy, settings);
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

/* A byte now and then, until the server has had enough. */
static void trickle(const char *text) {
    struct pollfd p = {.fd = in.fd, .events = POLLIN};
    for (int i = 0; poll(&p, 1, 15) == 0; i++) {
        assert_true(i < 1000);
        if (!raw_send(in.fd, text + (size_t)i % strlen(text), 1)) {
            return;
        }
    }
}

static void expect_timeout(void) {
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    raw_reply_is_problem(&r, 408, "request-timeout");
    raw_reply_done(&r);
    assert_true(connection_ends(&in));
}

static void slow_header(void **state) {
    (void)state;
    start(&(struct http_settings){.header_timeout = 0.4});
    assert_true(raw_send_text(in.fd, "GET /ok HTTP/1.1\r\nHost: x\r\nX: "));
    trickle("aaaaaaaa");
    expect_timeout();
}

static void slow_line(void **state) {
    (void)state;
    start(&(struct http_settings){.header_timeout = 0.4});
    trickle("GET "
            "/ok?"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaaaaa");
    expect_timeout();
}

static void slow_second_header(void **state) {
    (void)state;
    start(&(struct http_settings){.header_timeout = 0.4, .keep_alive_timeout = 600});
    for (int i = 0; i < 3; i++) {
        assert_true(raw_send_text(in.fd, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, 200);
        raw_reply_done(&r);
        usleep(i == 0 ? 600000 : 1000); /* longer than the header may take: the time does not run
                                           between requests */
    }
    trickle("GET "
            "/okaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaa");
    expect_timeout();
}

static void silent_connection(void **state) {
    (void)state;
    start(&(struct http_settings){.header_timeout = 0.1});
    assert_true(connection_ends(&in)); /* nothing was asked, nothing is answered */
}

static void keep_alive(void **state) {
    (void)state;
    start(&(struct http_settings){.keep_alive_timeout = 0.1});
    assert_true(raw_send_text(in.fd, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"));
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    raw_reply_done(&r);
    assert_true(connection_ends(&in));
}

static void silent_body(void **state) {
    (void)state;
    start(&(struct http_settings){.idle_timeout = 0.2});
    assert_true(
        raw_send_text(in.fd,
                      "PUT /sink/a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhello"));
    expect_timeout();
    toy_expect(&toy.aborts, 1);
    toy_expect(&toy.done, 1);
}

/* Bytes that are no payload: the size of a chunk that never ends. */
static void chunk_extension(void **state) {
    (void)state;
    start(&(struct http_settings){.idle_timeout = 0.2});
    assert_true(raw_send_text(
        in.fd,
        "PUT /sink/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5;"));
    trickle("aaaaaaaa");
    expect_timeout();
    toy_expect(&toy.aborts, 1);
}

/* An answer that nobody reads. */
static void slow_reader(const struct http_settings *settings) {
    start(settings);
    static const char *const paths[] = {"/big?n=16000000", "/lines?n=100000000"};
    for (size_t i = 0; i < 2; i++) {
        close(in.fd);
        memset(&in, 0, sizeof in);
        in.fd = connection_open(toy.server);
        char request[100];
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", paths[i]);
        assert_true(raw_send_text(in.fd, request));
        struct pollfd p = {.fd = in.fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, SILENCE_MS), 1); /* the answer has begun, and is not read */
        assert_true(http_idle(toy.server, SILENCE_MS / 1000.0));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_true(r.cut);
        raw_reply_done(&r);
    }
    toy_expect(&toy.streams, 0);
}
static void slow_reader_tcp(void **state) {
    (void)state;
    slow_reader(&(struct http_settings){.idle_timeout = 0.2});
}
static void slow_reader_local(void **state) {
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "unix:/tmp/discern-test-%ld.sock", (long)getpid());
    slow_reader(&(struct http_settings){.idle_timeout = 0.2, .listen = path});
}

/* Whoever waits for us is not late: a handler that works, a paused body, a stream without news. */
static void our_turn(void **state) {
    (void)state;
    start(&(struct http_settings){.idle_timeout = 0.3,
                                  .header_timeout = 0.3,
                                  .keep_alive_timeout = 0.3});
    assert_true(raw_send_text(in.fd, "GET /wait?seconds=0.7 HTTP/1.1\r\nHost: x\r\n\r\n"));
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.body.data, "value=0 last=1\n");
    raw_reply_done(&r);

    close(in.fd);
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
    toy.hold = true;
    assert_true(
        raw_send_text(in.fd,
                      "PUT /sink/a?pause HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"));
    usleep(700000);
    assert_int_equal(atomic_load(&toy.aborts), 0);
    pthread_mutex_lock(&toy.lock);
    toy.hold = false;
    pthread_cond_signal(&toy.wake);
    pthread_mutex_unlock(&toy.lock);
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 201);
    raw_reply_done(&r);

    close(in.fd);
    memset(&in, 0, sizeof in);
    in.fd = connection_open(toy.server);
    assert_true(raw_send_text(in.fd, "GET /events HTTP/1.1\r\nHost: x\r\nUser-Agent: me\r\n\r\n"));
    usleep(700000);
    atomic_store(&toy.value, -1);
    http_poke(toy.server, 0);
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_false(r.cut);
    assert_string_equal(r.body.data, "value -1 agent me\n");
    raw_reply_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(slow_header, stop),
        cmocka_unit_test_teardown(slow_line, stop),
        cmocka_unit_test_teardown(slow_second_header, stop),
        cmocka_unit_test_teardown(silent_connection, stop),
        cmocka_unit_test_teardown(keep_alive, stop),
        cmocka_unit_test_teardown(silent_body, stop),
        cmocka_unit_test_teardown(chunk_extension, stop),
        cmocka_unit_test_teardown(slow_reader_tcp, stop),
        cmocka_unit_test_teardown(slow_reader_local, stop),
        cmocka_unit_test_teardown(our_turn, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
