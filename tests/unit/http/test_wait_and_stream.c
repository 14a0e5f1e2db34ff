/* Calls that wait and answers that stream: pokes, deadlines, clients that are slow or leave, drain.
 */
#include "base/process/clock.h"
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

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
static void expect(const char *body) {
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_false(r.cut);
    assert_string_equal(r.body.data, body);
    raw_reply_done(&r);
}

static void deferred(void **state) {
    (void)state;
    start(NULL);
    for (int i = 0; i < 200; i++) {
        assert_true(raw_send_text(in.fd, i % 2 == 0 ? "GET /defer HTTP/1.1\r\nHost: x\r\n\r\n"
                                                    : "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
        expect("ok\n");
    }
}

static void watch(void **state) {
    (void)state;
    start(NULL);
    assert_true(raw_send_text(in.fd, "GET /wait?seconds=0 HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect("value=0 last=1\n");
    assert_true(raw_send_text(in.fd, "GET /wait?seconds=0.1 HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect("value=0 last=1\n");
    assert_true(raw_send_text(in.fd, "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\n\r\n"));
    toy_expect(&toy.waits, 3);
    http_poke(toy.server, 0); /* nothing has changed */
    usleep(50000);
    atomic_store(&toy.value, 7);
    http_poke(toy.server, 0);
    expect("value=7 last=0\n");
}

/* Pokes at every moment around the start of the watch: none may be missed. */
static void poke_races(void **state) {
    (void)state;
    start(NULL);
    for (int i = 0; i < 300; i++) {
        atomic_store(&toy.value, 0);
        assert_true(raw_send_text(in.fd, "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\n\r\n"));
        for (int k = 0; k < i; k++) {
            (void)clock_monotonic_ns();
        }
        atomic_store(&toy.value, 1);
        http_poke(toy.server, 0);
        expect("value=1 last=0\n");
    }
}

static void send_wait(struct connection *to, int topic) {
    char request[100];
    snprintf(request, sizeof request, "GET /wait?seconds=600&topic=%d HTTP/1.1\r\nHost: x\r\n\r\n",
             topic);
    assert_true(raw_send_text(to->fd, request));
}

/* A poke of a topic runs the checks of the calls with this topic alone. */
static void topics(void **state) {
    (void)state;
    start(NULL);
    enum { POKES = 200 };
    struct connection other = {.fd = connection_open(toy.server)};
    send_wait(&in, 1);
    toy_expect(&toy.checks[1], 1);
    send_wait(&other, 2);
    toy_expect(&toy.checks[0], 1);
    for (int i = 1; i <= POKES; i++) {
        http_poke(toy.server, 1);
        toy_expect(&toy.checks[1], 1 + i);
    }
    /* a check that runs while another topic is poked may be repeated */
    assert_true(atomic_load(&toy.checks[0]) < POKES / 2);
    atomic_store(&toy.value, 5);
    http_poke(toy.server, 1);
    expect("value=5 last=0\n");
    /* more topics than are kept run all checks */
    const int checked = atomic_load(&toy.checks[0]);
    for (int i = 0; i < 2000 && atomic_load(&toy.checks[0]) == checked; i++) {
        for (int topic = 100; topic < 500; topic++) {
            http_poke(toy.server, topic);
        }
        usleep(5000);
    }
    struct raw_reply r;
    raw_reply_read(&other, false, &r);
    assert_string_equal(r.body.data, "value=5 last=0\n");
    raw_reply_done(&r);
    close(other.fd);
}

/* Pokes of a topic around the start of the watch, with pokes of other topics: none is missed. */
static void topic_races(void **state) {
    (void)state;
    start(NULL);
    for (int i = 0; i < 300; i++) {
        atomic_store(&toy.value, 0);
        send_wait(&in, 7);
        for (int k = 0; k < i; k++) {
            http_poke(toy.server, 8);
        }
        atomic_store(&toy.value, 1);
        http_poke(toy.server, 7);
        http_poke(toy.server, 8);
        expect("value=1 last=0\n");
    }
}

static void many_watchers(void **state) {
    (void)state;
    start(NULL);
    enum { N = 100 };
    static struct connection all[N];
    for (int i = 0; i < N; i++) {
        memset(&all[i], 0, sizeof all[i]);
        all[i].fd = connection_open(toy.server);
        assert_true(raw_send_text(all[i].fd, "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    usleep(50000);
    atomic_store(&toy.value, 3);
    http_poke(toy.server, 0);
    for (int i = 0; i < N; i++) {
        struct raw_reply r;
        raw_reply_read(&all[i], false, &r);
        assert_string_equal(r.body.data, "value=3 last=0\n");
        raw_reply_done(&r);
        close(all[i].fd);
    }
}

static void lines(void **state) {
    (void)state;
    start(NULL);
    static const long sizes[] = {0, 1, 999, 1000, 1001, 500000};
    for (size_t i = 0; i < 6; i++) {
        char request[100];
        snprintf(request, sizeof request, "GET /lines?n=%ld HTTP/1.1\r\nHost: x\r\n\r\n", sizes[i]);
        assert_true(raw_send_text(in.fd, request));
        struct raw_reply r;
        raw_reply_read(&in, false, &r);
        assert_int_equal(r.status, 200);
        assert_false(r.cut);
        const char *at = r.body.data;
        for (long k = 0; k < sizes[i]; k++) {
            char line[24]; /* compared, not parsed: a checked strtol looks at all that follows each
                              time */
            size_t n = (size_t)snprintf(line, sizeof line, "%ld\n", k);
            if (strncmp(at, line, n) != 0) {
                fail_msg("line %ld of %ld is \"%.20s\"", k, sizes[i], at);
            }
            at += n;
        }
        assert_int_equal(*at, '\0');
        raw_reply_done(&r);
    }
    toy_expect(&toy.done, 6);
}

/* HTTP/1.0 has no chunks: the end of the connection is the end of the answer. */
static void lines_1_0(void **state) {
    (void)state;
    start(NULL);
    assert_true(raw_send_text(in.fd, "GET /lines?n=3 HTTP/1.0\r\n\r\n"));
    struct buf all = {0};
    while (connection_take_n(&in, &all, 1)) {
        continue;
    }
    assert_non_null(strstr(buf_cstr(&all), "\r\n\r\n0\n1\n2\n"));
    buf_done(&all);
}

static void aborted(void **state) {
    (void)state;
    start(NULL);
    assert_true(raw_send_text(in.fd, "GET /lines?n=5000&abort HTTP/1.1\r\nHost: x\r\n\r\n"));
    struct raw_reply r;
    raw_reply_read(&in, false, &r);
    assert_int_equal(r.status, 200);
    assert_true(r.cut); /* without the last chunk */
    raw_reply_done(&r);
    toy_expect(&toy.streams, 0);
}

static void events(void **state) {
    (void)state;
    start(NULL);
    assert_true(raw_send_text(in.fd, "GET /events HTTP/1.1\r\nHost: x\r\nUser-Agent: me\r\n\r\n"));
    struct buf got = {0};
    for (int i = 1; i <= 20; i++) {
        atomic_store(&toy.value, i);
        http_poke(toy.server, 0);
        char line[60];
        snprintf(line, sizeof line, "value %d agent me\n", i);
        while (strstr(buf_cstr(&got), line) == NULL) {
            assert_true(connection_take_n(&in, &got, 1)); /* each arrives before the next is made */
        }
    }
    buf_done(&got);
    close(in.fd);
    in.fd = connection_open(toy.server);
    atomic_store(
        &toy.value,
        21); /* the client that left is noticed when something is written, or by the next sweep */
    for (int i = 0; i < 400 && atomic_load(&toy.streams) > 0; i++) {
        atomic_fetch_add(&toy.value, 1);
        http_poke(toy.server, 0);
        usleep(5000);
    }
    toy_expect(&toy.streams, 0);
}

static void idle_comments(void **state) {
    (void)state;
    start(NULL);
    assert_true(raw_send_text(in.fd, "GET /events?wait=0.05 HTTP/1.1\r\nHost: x\r\n\r\n"));
    struct buf got = {0};
    while (strstr(buf_cstr(&got), ":\n\r\n2\r\n:\n\r\n2\r\n:\n") == NULL) {
        assert_true(connection_take_n(&in, &got, 1));
    }
    buf_done(&got);
}

/* Memory is bounded by the buffer, not by what the stream could give. */
static void slow_client(void **state) {
    (void)state;
    start(NULL);
    assert_true(raw_send_text(in.fd, "GET /lines?n=1000000000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    toy_expect(&toy.streams, 1);
    usleep(300000);
    close(in.fd);
    toy_expect(&toy.streams, 0);
    in.fd = connection_open(toy.server);
    assert_true(raw_send_text(in.fd, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect("ok\n");
}

static void leave_while_waiting(void **state) {
    (void)state;
    start(NULL);
    for (int i = 0; i < 20; i++) {
        int fd = connection_open(toy.server);
        assert_true(raw_send_text(fd, i % 2 == 0
                                          ? "GET /wait?seconds=0.2 HTTP/1.1\r\nHost: x\r\n\r\n"
                                          : "GET /events?wait=0.1 HTTP/1.1\r\nHost: x\r\n\r\n"));
        usleep(2000);
        close(fd);
    }
    toy_expect(&toy.streams, 0);
    assert_true(http_idle(toy.server, 10));
}

/* ---- drain ---- */

static void drain(void **state) {
    (void)state;
    start(NULL);
    static struct connection watcher, streamer, idle, unused, slow;
    struct connection *all[] = {&watcher, &streamer, &idle, &unused, &slow};
    for (size_t i = 0; i < 5; i++) {
        memset(all[i], 0, sizeof *all[i]);
        all[i]->fd = connection_open(toy.server);
    }
    struct raw_reply r;
    assert_true(raw_send_text(watcher.fd, "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(raw_send_text(streamer.fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(
        raw_send_text(slow.fd, "PUT /sink/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe"));
    assert_true(raw_send_text(idle.fd, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"));
    raw_reply_read(&idle, false, &r);
    assert_null(raw_reply_header(&r, "Connection"));
    raw_reply_done(&r);
    toy_expect(&toy.streams, 1);
    toy_expect(&toy.waits, 1);
    while (atomic_load(&toy.sunk) < 2) {
        usleep(1000);
    }
    assert_false(http_draining(toy.server));
    assert_false(http_idle(toy.server, 0));
    http_drain(toy.server);
    assert_true(http_draining(toy.server));
    raw_reply_read(&watcher, false, &r);
    assert_string_equal(r.body.data, "value=0 last=1\n");
    assert_string_equal(raw_reply_header(&r, "Connection"), "close");
    raw_reply_done(&r);
    assert_true(connection_ends(&watcher));
    raw_reply_read(&streamer, false, &r);
    assert_false(r.cut);
    assert_string_equal(r.body.data, "bye\n");
    raw_reply_done(&r);
    assert_true(connection_ends(&idle) && connection_ends(&unused));
    assert_true(raw_send_text(slow.fd, "llo"));
    raw_reply_read(&slow, false, &r); /* a request in flight is served to its end */
    assert_int_equal(r.status, 201);
    assert_non_null(strstr(r.body.data, "n=5 "));
    assert_string_equal(raw_reply_header(&r, "Connection"), "close");
    raw_reply_done(&r);
    assert_true(http_idle(toy.server, 10));
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(toy.server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), -1); /* no longer accepted */
    close(fd);
    for (size_t i = 0; i < 5; i++) {
        close(all[i]->fd);
    }
}

static void drain_delay(void **state) {
    (void)state;
    start(&(struct http_settings){.drain_delay = 600});
    http_drain(toy.server);
    for (int i = 0; i < 3; i++) {
        struct raw_reply r;
        raw_reply_ask(toy.server, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n", &r);
        assert_int_equal(r.status, 200);
        assert_string_equal(raw_reply_header(&r, "Connection"), "close");
        raw_reply_done(&r);
    }
    struct raw_reply r;
    raw_reply_ask(toy.server, "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\n\r\n", &r);
    assert_string_equal(r.body.data, "value=0 last=1\n");
    raw_reply_done(&r);
    raw_reply_ask(toy.server, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n", &r);
    assert_string_equal(r.body.data, "bye\n");
    raw_reply_done(&r);
}

/* Stopped in the middle of everything: nothing hangs, everything is given back. */
static void stop_at_once(void **state) {
    (void)state;
    for (int round = 0; round < 3; round++) {
        start(NULL);
        int fds[12];
        static const char *const requests[] = {
            "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /events HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /lines?n=1000000000 HTTP/1.1\r\nHost: x\r\n\r\n",
            "PUT /sink/a HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello",
            "PUT /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello",
            "GET /ok HTT"};
        for (int i = 0; i < 12; i++) {
            fds[i] = connection_open(toy.server);
            assert_true(raw_send_text(fds[i], requests[i % 6]));
        }
        toy_expect(&toy.streams, 4);
        while (atomic_load(&toy.sunk) < 10) {
            usleep(1000);
        }
        stop(NULL);
        assert_int_equal(atomic_load(&toy.streams), 0);
        assert_int_equal(atomic_load(&toy.done), 6);
        assert_int_equal(atomic_load(&toy.aborts), 2);
        for (int i = 0; i < 12; i++) {
            close(fds[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(deferred, stop),
        cmocka_unit_test_teardown(watch, stop),
        cmocka_unit_test_teardown(poke_races, stop),
        cmocka_unit_test_teardown(topics, stop),
        cmocka_unit_test_teardown(topic_races, stop),
        cmocka_unit_test_teardown(many_watchers, stop),
        cmocka_unit_test_teardown(lines, stop),
        cmocka_unit_test_teardown(lines_1_0, stop),
        cmocka_unit_test_teardown(aborted, stop),
        cmocka_unit_test_teardown(events, stop),
        cmocka_unit_test_teardown(idle_comments, stop),
        cmocka_unit_test_teardown(slow_client, stop),
        cmocka_unit_test_teardown(leave_while_waiting, stop),
        cmocka_unit_test_teardown(drain, stop),
        cmocka_unit_test_teardown(drain_delay, stop),
        cmocka_unit_test_teardown(stop_at_once, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
