/* Long calls: operations are answered while long calls occupy the pool, a long call ends when its
 * client has left, and the server can stop although a long call does not end. */
#include "base/metrics/metrics.h"
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <sys/socket.h>

#define CALL(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static struct toy toy;

static int stop(void **state) {
    (void)state;
    if (toy.server != NULL) {
        toy_stop(&toy);
    }
    return 0;
}

static int ask(const char *request) {
    int fd = connection_open(toy.server);
    assert_true(raw_send_text(fd, request));
    return fd;
}

static void leave(int fd, bool by_reset) {
    if (by_reset) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                   sizeof(struct linger));
    }
    close(fd);
}

static void operations_beside_full_pool(void **state) {
    (void)state;
    int fds[6];
    toy_start(&toy, &(struct http_settings){.pool_threads = 2});
    for (int i = 0; i < 6; i++) {
        fds[i] = ask(CALL("/stuck"));
    }
    toy_expect(&toy.busy, 2);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(raw_reply_status(toy.server, CALL("/operations")), 200);
        assert_int_equal(raw_reply_status(toy.server, CALL("/ok")), 200);
    }
    assert_int_equal(atomic_load(&toy.busy), 2);
    for (int i = 0; i < 6; i++) {
        close(fds[i]);
    }
}

/* Calls of a lasting route leave one thread of the pool to the others. */
static void short_calls_beside_lasting_ones(void **state) {
    (void)state;
    int fds[6];
    toy_start(&toy, &(struct http_settings){.pool_threads = 3});
    for (int i = 0; i < 6; i++) {
        fds[i] = ask(CALL("/stuck-long"));
    }
    toy_expect(&toy.busy, 2);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(raw_reply_status(toy.server, CALL("/slow")), 200);
    }
    assert_int_equal(atomic_load(&toy.busy), 2);
    for (int i = 0; i < 6; i++) {
        close(fds[i]);
    }
}

/* Long calls leave the pool to the others, and only some of them wait. */
static void short_calls_beside_long_ones(void **state) {
    (void)state;
    int fds[6];
    toy_start(&toy, &(struct http_settings){.pool_threads = 1, .max_waiting = 12});
    for (int i = 0; i < 4; i++) { /* one computes, and a quarter of the places waits */
        fds[i] = ask(CALL("/stuck-very-long"));
        toy_expect(&toy.busy, 1);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(raw_reply_status(toy.server, CALL("/slow")), 200);
    }
    struct raw_reply r;
    raw_reply_ask(toy.server, CALL("/stuck-very-long"), &r);
    raw_reply_is_problem(&r, 503, "unavailable");
    assert_non_null(raw_reply_header(&r, "Retry-After"));
    assert_non_null(strstr(r.body.data, "--max-waiting-calls"));
    raw_reply_done(&r);
    assert_int_equal(atomic_load(&toy.busy), 1);
    for (int i = 0; i < 4; i++) {
        close(fds[i]);
    }
}

static void clients_that_leave(const char *listen) {
    toy_start(&toy, &(struct http_settings){.listen = listen, .pool_threads = 2});
    for (int i = 0; i < 4; i++) {
        int busy = ask(CALL("/busy"));
        toy_expect(&toy.busy, 1);
        leave(busy, i % 2 == 1);
        toy_expect(&toy.busy, 0);
        int waiting = ask(CALL("/wait?seconds=600")), following = ask(CALL("/events"));
        toy_expect(&toy.streams, 1);
        leave(waiting, i % 2 == 1);
        leave(following, i % 2 == 1);
        toy_expect(&toy.streams, 0);
        assert_true(http_idle(toy.server, 10)); /* nobody has poked it, nothing was written */
    }
    stop(NULL);
}

static void left(void **state) {
    (void)state;
    char path[100];
    clients_that_leave(NULL);
    snprintf(path, sizeof path, "unix:/tmp/discern-gone-%d", (int)getpid());
    clients_that_leave(path);
}

/* Whatever the handler says to nobody: the client left. */
static void counted_as_left(void **state) {
    (void)state;
    struct buf text = {0};
    toy_start(&toy, NULL);
    for (int i = 0; i < 4; i++) {
        int fd = ask(CALL("/given-up"));
        toy_expect(&toy.busy, 1);
        leave(fd, i % 2 == 1);
        toy_expect(&toy.busy, 0);
    }
    assert_true(http_idle(toy.server, 10));
    metrics_render(&text);
    assert_non_null(strstr(buf_cstr(&text),
                           "discern_http_requests_total{route=\"/given-up\",status=\"499\"} 4"));
    buf_done(&text);
}

/* Handlers that look are told when the server stops; its end does not wait for others. */
static void stop_with_calls_under_way(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    int fds[3] = {ask(CALL("/busy")), ask(CALL("/busy")), ask(CALL("/busy"))};
    toy_expect(&toy.busy, 3);
    http_drain(toy.server);
    assert_false(http_idle(toy.server, 0.3));
    assert_int_equal(atomic_load(&toy.busy),
                     3); /* a request in flight has the drain's time-out to end in */
    assert_true(http_stop(toy.server));
    assert_int_equal(atomic_load(&toy.busy), 0);
    for (int i = 0; i < 3; i++) {
        close(fds[i]);
    }
    toy.server = NULL;
    toy_stop(&toy);
    toy_start(&toy, NULL);
    fds[0] = ask(CALL("/stuck"));
    toy_expect(&toy.busy, 1);
    http_drain(toy.server);
    assert_false(http_stop(toy.server)); /* and not: never */
    assert_int_equal(atomic_load(&toy.busy), 1);
    close(fds[0]);
    stop(NULL); /* released; now it ends */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(operations_beside_full_pool, stop),
        cmocka_unit_test_teardown(short_calls_beside_lasting_ones, stop),
        cmocka_unit_test_teardown(short_calls_beside_long_ones, stop),
        cmocka_unit_test_teardown(left, stop),
        cmocka_unit_test_teardown(counted_as_left, stop),
        cmocka_unit_test_teardown(stop_with_calls_under_way, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
