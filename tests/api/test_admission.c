/* Which connections are served when there are too many. */
#include "lib/api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define VERSION "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"

static void wait_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Sends a request from 127.0.0.HOST on a new connection. */
static const struct response *ask(int host, int port, const char *path) {
    char request[200];
    const int n = snprintf(request, sizeof request,
                           "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    const int fd = raw_open_from(host, port);
    assert_true(fd >= 0);
    const struct response *r = raw_talk(fd, request, (size_t)n, 30);
    close(fd);
    return r;
}

/* Opens a connection that has sent part of a request: it is not idle. */
static int occupy(int host) {
    const int fd = raw_open_from(host, the_daemon.port);
    assert_true(fd >= 0 && raw_send_text(fd, "GET /version HTTP/1.1\r\n"));
    return fd;
}

/* Opens a connection that has had an answer: it is idle. */
static int keep_alive(int host) {
    const int fd = raw_open_from(host, the_daemon.port);
    const struct response *r = raw_talk(fd, VERSION, sizeof VERSION - 1, 0.4);
    status_check(r, 200);
    return fd;
}

static bool is_closed(int fd) {
    char byte;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 2000) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

static bool is_open(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 0;
}

/* 12 connections: 3 for each address by default. */
static void test_one_address_does_not_shut_out_the_others(void **state) {
    (void)state;
    int fds[3];
    service_start(FLAGS("--max-connections", "12"));
    for (size_t i = 0; i < 3; i++) {
        fds[i] = occupy(1);
    }
    wait_ms(100);
    assert_non_null(
        header_of(problem_check(ask(1, the_daemon.port, "/version"), 429, "too-many-requests"),
                  "Retry-After"));
    status_check(ask(1, the_daemon.port, "/healthz"), 200);
    status_check(ask(1, the_daemon.port, "/readyz"), 200);
    status_check(ask(2, the_daemon.port, "/version"), 200);
    for (size_t i = 0; i < 3; i++) {
        close(fds[i]);
    }
    service_end();
}

/* The connection that has been idle for the longest time is closed first, also for a new
 * connection of the same address at the limit of this address. */
static void test_the_longest_idle_connection_is_closed_first(void **state) {
    (void)state;
    int fds[6];
    service_start(FLAGS("--max-connections", "4", "--max-connections-per-address", "2"));
    for (int i = 0; i < 4; i++) {
        fds[i] = keep_alive(1 + i / 2);
    }
    fds[4] = keep_alive(3);
    assert_true(is_closed(fds[0]));
    assert_true(is_open(fds[1]) && is_open(fds[2]) && is_open(fds[3]));
    fds[5] = keep_alive(2);
    assert_true(is_closed(fds[2]));
    assert_true(is_open(fds[1]) && is_open(fds[3]) && is_open(fds[4]));
    for (int i = 0; i < 6; i++) {
        close(fds[i]);
    }
    /* While the daemon ends these, it may have no place. Three are replaced if one of them is idle
     * when the next connection comes. */
    for (double end = now() + 30; call_get("/version")->status != 200 && now() < end;) {
        wait_ms(10);
    }
    const double replaced = metric_at("discern_http_replaced_connections_total");
    assert_true(replaced == 2 || replaced == 3);
    service_end();
}

/* The order is that of the answers also among connections that became idle within one tick of the
 * sweeper. */
static void test_connections_that_are_idle_for_a_moment(void **state) {
    (void)state;
    enum { N = 10, LIMIT = 4 };
    int fds[N];
    service_start(FLAGS("--max-connections", "100", "--max-connections-per-address", "4"));
    for (int i = 0; i < N; i++) {
        fds[i] = raw_open_from(1, the_daemon.port);
        assert_true(fds[i] >= 0 && raw_send_text(fds[i], VERSION));
        raw_until(fds[i], "", "}");
        wait_ms(30);
    }
    for (int i = 0; i < N - LIMIT; i++) {
        assert_true(is_closed(fds[i]));
    }
    for (int i = N - LIMIT; i < N; i++) {
        assert_true(is_open(fds[i]) ||
                    !is_closed(fds[i])); /* the end of the answer may be unread */
    }
    for (int i = 0; i < N; i++) {
        close(fds[i]);
    }
    service_end();
}

/* With no idle connection, other requests are refused and health checks are answered, also if
 * connections beyond the limit send nothing. */
static void test_health_checks_have_places_of_their_own(void **state) {
    (void)state;
    enum { FLOOD = 200 };
    int fds[8], flood[FLOOD];
    service_start(FLAGS("--max-connections", "8", "--max-connections-per-address", "8"));
    for (size_t i = 0; i < 8; i++) {
        fds[i] = occupy(1);
    }
    wait_ms(100);
    const struct response *r = ask(2, the_daemon.port, "/version");
    assert_non_null(header_of(problem_check(r, 503, "unavailable"), "Retry-After"));
    assert_true(r->closed);
    for (size_t i = 0; i < FLOOD; i++) {
        flood[i] = raw_open_from(3, the_daemon.port);
        assert_true(flood[i] >= 0);
    }
    status_check(ask(2, the_daemon.port, "/healthz"), 200);
    status_check(ask(2, the_daemon.port, "/readyz"), 200);
    r = raw_talk(flood[0], VERSION, 0, 10); /* closed for one of the later ones, with a reason */
    problem_check(r, 503, "unavailable");
    for (size_t i = 0; i < FLOOD; i++) {
        close(flood[i]);
    }
    /* A reserved connection ends after its answer, so it cannot send another request. */
    const int fd = raw_open_from(2, the_daemon.port);
    r = raw_talk(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" VERSION, 84, 10);
    assert_true(r->closed);
    assert_null(strstr(r->body, "HTTP/1.1 200"));
    close(fd);
    for (size_t i = 0; i < 8; i++) {
        close(fds[i]);
    }
    service_end();
}

static int free_port(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    close(fd);
    return ntohs(a.sin_port);
}

static void test_health_listen(void **state) {
    (void)state;
    enum { SILENT = 100 };
    int fds[2], silent[SILENT];
    static char address[40];
    const int port = free_port();
    (void)snprintf(address, sizeof address, "127.0.0.1:%d", port);
    service_start(FLAGS("--health-listen", address, "--max-connections", "2",
                        "--max-connections-per-address", "2"));
    fds[0] = occupy(1);
    fds[1] = occupy(1);
    for (size_t i = 0; i < SILENT; i++) {
        silent[i] = raw_open_from(1, port);
    }
    wait_ms(1200); /* connections without a byte are idle after a second */
    status_check(ask(1, port, "/healthz"), 200);
    status_check(ask(1, port, "/readyz"), 200);
    assert_non_null(strstr(status_check(ask(1, port, "/metrics"), 200)->body, "discern_"));
    problem_check(ask(1, port, "/version"), 404, "not-found");
    problem_check(ask(1, port, "/v1/models"), 404, "not-found");
    for (size_t i = 0; i < SILENT; i++) {
        close(silent[i]);
    }
    close(fds[0]);
    close(fds[1]);
    const char *out;
    assert_int_equal(discernd_run(FLAGS("--healthcheck", "--health-listen", address), &out), 0);
    service_end();
    assert_int_equal(discernd_run(FLAGS("--health-listen", "0.0.0.0:1"), &out), 2);
    assert_non_null(strstr(out, "--health-listen 0.0.0.0:1 is reachable from other machines"));
    assert_int_equal(discernd_run(FLAGS("--health-listen", "8081"), &out), 2);
    assert_non_null(strstr(out, "--health-listen must be ADDRESS:PORT"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_address_does_not_shut_out_the_others),
        TEST(test_the_longest_idle_connection_is_closed_first),
        cmocka_unit_test(test_connections_that_are_idle_for_a_moment),
        cmocka_unit_test(test_health_checks_have_places_of_their_own),
        cmocka_unit_test(test_health_listen),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
