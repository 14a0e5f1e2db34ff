/* Starting, listening, connection limits, load. */
#include "base/metrics/metrics.h"
#include "unit/http/replies.h"
#include "unit/http/toy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static struct toy toy;

static int stop(void **state) {
    (void)state;
    if (toy.server != NULL) {
        toy_stop(&toy);
    }
    return 0;
}

static void refused_start(struct http_settings settings, const char *words) {
    struct http_server *server = NULL;
    struct problem problem = {0};
    if (settings.listen == NULL) {
        settings.listen = "127.0.0.1:0";
    }
    assert_false(http_start(&settings, TOY_ROUTES, TOY_N_ROUTES, NULL, &server, &problem));
    assert_null(server);
    if (strstr(problem.detail, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", problem.detail, words);
    }
    problem_done(&problem);
}

static void bad_settings(void **state) {
    (void)state;
    static const char *const addresses[] = {
        "",       "8080",    ":",    "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
        "::1:80", "[::1:80", "unix:"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        refused_start((struct http_settings){.listen = addresses[i]}, "listen");
    }
    refused_start((struct http_settings){.listen = "192.0.2.1:0"}, "192.0.2.1"); /* not ours */
    refused_start((struct http_settings){.listen = "unix:/nonexistent/x"}, "/nonexistent/x");
    refused_start((struct http_settings){.io_threads = HTTP_MAX_IO_THREADS + 1}, "I/O threads");
    refused_start((struct http_settings){.base_path = "discern"}, "--base-path");
    refused_start((struct http_settings){.base_path = "/a%zz"}, "--base-path");
    refused_start((struct http_settings){.base_path = "/a?b"}, "--base-path");
    refused_start((struct http_settings){.trusted_proxies = {.n = 1, .items = {"proxy"}}},
                  "--trusted-proxy");
    refused_start((struct http_settings){.allow_origins = {.n = 1, .items = {"app.example"}}},
                  "--allow-origin");
    refused_start((struct http_settings){.allowed_hosts = {.n = 1, .items = {"a/b"}}},
                  "--allowed-host");
    toy_start(&toy, NULL);
    char address[40];
    snprintf(address, sizeof address, "127.0.0.1:%d", http_port(toy.server));
    refused_start((struct http_settings){.listen = address}, "in use");
}

static void addresses(void **state) {
    (void)state;
    toy_start(&toy, &(struct http_settings){.listen = "localhost:0"});
    assert_memory_equal(http_address(toy.server), "http://127.0.0.1:", 17);
    assert_int_equal(raw_reply_status(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
    stop(NULL);
    toy_start(&toy, &(struct http_settings){.listen = "[::]:0", .check_host = true});
    assert_memory_equal(http_address(toy.server), "http://[::]:", 12);
    assert_int_equal(raw_reply_status(toy.server, "GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
                     200); /* IPv4 as well */
    stop(NULL);
    char path[100];
    snprintf(path, sizeof path, "unix:/tmp/discern-test-%ld.sock", (long)getpid());
    toy_start(&toy, &(struct http_settings){.listen = path});
    assert_int_equal(http_port(toy.server), 0);
    refused_start((struct http_settings){.listen = path}, "in use");
    assert_int_equal(raw_reply_status(toy.server, "GET /big?n=3000000 HTTP/1.1\r\nHost: x\r\n\r\n"),
                     200);
    stop(NULL);
    struct sockaddr_un un = {.sun_family = AF_UNIX}; /* a file left behind by a daemon that died */
    snprintf(un.sun_path, sizeof un.sun_path, "%s", path + 5);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
    close(fd);
    toy_start(&toy, &(struct http_settings){.listen = path});
    assert_int_equal(raw_reply_status(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
}

/* systemd's way: the socket is there before the process. */
static void inherited(void **state) {
    (void)state;
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t size = sizeof sa;
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &size), 0);
    assert_int_equal(listen(fd, 16), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char text[20];
        snprintf(text, sizeof text, "%ld", (long)getpid());
        setenv("LISTEN_PID", text, 1);
        setenv("LISTEN_FDS", "1", 1);
        if (fd != 3) {
            dup2(fd, 3);
        }
        toy_start(&toy, &(struct http_settings){.listen = "127.0.0.1:0"}); /* overruled */
        const bool same = http_port(toy.server) == ntohs(sa.sin_port);
        int status = raw_reply_status(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
        toy_stop(&toy);
        _exit(same && status == 200 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(fd);
    toy.server = NULL;
}

static void open_one(struct connection *in, const char *from) {
    memset(in, 0, sizeof *in);
    in->fd = connection_open_from(toy.server, from);
}
static void expect_served(struct connection *in, const char *lines) {
    char request[200];
    snprintf(request, sizeof request, "GET /ok HTTP/1.1\r\nHost: x\r\n%s\r\n", lines);
    assert_true(raw_send_text(in->fd, request));
    struct raw_reply r;
    raw_reply_read(in, false, &r);
    assert_int_equal(r.status, 200);
    raw_reply_done(&r);
}
static void expect_refused(struct connection *in, int status, const char *name) {
    (void)raw_send_text(in->fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    struct raw_reply r;
    raw_reply_read(in, false, &r);
    raw_reply_is_problem(&r, status, name);
    assert_non_null(raw_reply_header(&r, "Retry-After"));
    raw_reply_done(&r);
    assert_true(connection_ends(in));
    close(in->fd);
}

/* Sends the beginning of a request, so that the connection is not idle. */
static void occupy(struct connection *in, const char *from) {
    open_one(in, from);
    expect_served(in, "");
    assert_true(raw_send_text(in->fd, "GET /ok HTTP/1.1\r\n"));
    usleep(20000); /* the server reads the line */
}
static void finish(struct connection *in) {
    assert_true(raw_send_text(in->fd, "Host: x\r\n\r\n"));
    struct raw_reply r;
    raw_reply_read(in, false, &r);
    assert_int_equal(r.status, 200);
    raw_reply_done(&r);
}

static void too_many(void **state) {
    (void)state;
    enum { N = 20 };
    static struct connection in[N + 1];
    toy_start(&toy, &(struct http_settings){.max_connections = N});
    for (int i = 0; i < N; i++) {
        occupy(&in[i], NULL);
    }
    for (int i = 0; i < 5; i++) {
        open_one(&in[N], NULL);
        expect_refused(&in[N], 503, "unavailable");
    }
    assert_int_equal(raw_reply_status(toy.server, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
    finish(&in[0]);
    usleep(50000); /* the kernel counts idle time in ticks of up to 10 ms */
    for (int i = 1; i < N; i++) {
        finish(&in[i]);
    }
    open_one(&in[N], NULL); /* in[0] has been idle for the longest time */
    expect_served(&in[N], "");
    assert_true(connection_ends(&in[0]));
    for (int i = 1; i <= N; i++) {
        expect_served(&in[i], "");
    }
    close(in[0].fd);
    in[0] = in[N];
    close(in[7].fd);
    int status = 503;
    for (int i = 0; i < 500 && status == 503;
         i++) { /* its place is free as soon as the server has seen the end */
        status = raw_reply_status(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
        usleep(2000);
    }
    assert_int_equal(status, 200);
    for (int i = 0; i < N; i++) {
        if (i != 7) {
            close(in[i].fd);
        }
    }
}

static void too_many_of_one(void **state) {
    (void)state;
    static struct connection in[8];
    toy_start(&toy, &(struct http_settings){.max_connections_per_address = 3});
    for (int i = 0; i < 3; i++) {
        occupy(&in[i], "127.0.0.2");
    }
    open_one(&in[3], "127.0.0.2");
    expect_refused(&in[3], 429, "too-many-requests");
    open_one(&in[3], "127.0.0.3");
    expect_served(&in[3], "");
    for (int i = 0; i < 4; i++) {
        close(in[i].fd);
    }
}

/* Behind a proxy the address that counts is the one it names. */
static void too_many_behind_proxy(void **state) {
    (void)state;
    static struct connection in[8];
    toy_start(&toy, &(struct http_settings){.max_connections_per_address = 2,
                                            .trusted_proxies = {.n = 1, .items = {"127.0.0.0/8"}}});
    for (int i = 0; i < 6; i++) {
        open_one(&in[i], NULL);
        char request[200];
        snprintf(request, sizeof request,
                 "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.%d\r\n\r\n",
                 i % 3);
        assert_true(raw_send_text(in[i].fd, request));
    }
    toy_expect(&toy.waits, 6);
    struct raw_reply r;
    raw_reply_ask(
        toy.server,
        "POST /echo HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.1\r\nContent-Length: 2\r\n\r\nab",
        &r);
    raw_reply_is_problem(&r, 429, "too-many-requests");
    assert_non_null(raw_reply_header(&r, "Retry-After"));
    raw_reply_done(&r);
    assert_int_equal(
        raw_reply_status(toy.server,
                         "GET /ok HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n"),
        200);
    assert_int_equal(raw_reply_status(toy.server, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"),
                     200); /* the proxy itself */
    atomic_store(&toy.value, 1);
    http_poke(toy.server, 0);
    for (int i = 0; i < 6; i++) {
        raw_reply_read(&in[i], false, &r);
        assert_int_equal(r.status, 200);
        raw_reply_done(&r);
        close(in[i].fd);
    }
    assert_int_equal(
        raw_reply_status(toy.server,
                         "GET /ok HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.1\r\n\r\n"),
        200);
}

/* The addresses of one IPv6 network of 64 bits are one client. */
static void too_many_of_network(void **state) {
    (void)state;
    static struct connection in[4];
    static const char *const clients[] = {"2001:db8::1", "2001:db8::2:1", "2001:db8:0:1::1",
                                          "::ffff:1.2.3.4"};
    struct raw_reply r;
    toy_start(&toy, &(struct http_settings){.max_connections_per_address = 2,
                                            .trusted_proxies = {.n = 1, .items = {"127.0.0.0/8"}}});
    for (int i = 0; i < 4; i++) {
        open_one(&in[i], NULL);
        char request[200];
        snprintf(request, sizeof request,
                 "GET /wait?seconds=600 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\n\r\n",
                 clients[i]);
        assert_true(raw_send_text(in[i].fd, request));
    }
    toy_expect(&toy.waits, 4);
    raw_reply_ask(toy.server,
                  "GET /ok HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 2001:db8::ffff:3\r\n\r\n", &r);
    raw_reply_is_problem(&r, 429, "too-many-requests");
    raw_reply_done(&r);
    static const char *const served[] = {"2001:db8:0:1::2", "::ffff:1.2.3.4", "1.2.3.5"};
    for (int i = 0; i < 3; i++) {
        char request[200];
        snprintf(request, sizeof request,
                 "GET /ok HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\n\r\n", served[i]);
        assert_int_equal(raw_reply_status(toy.server, request), 200);
    }
    atomic_store(&toy.value, 1);
    http_poke(toy.server, 0);
    for (int i = 0; i < 4; i++) {
        raw_reply_read(&in[i], false, &r);
        assert_int_equal(r.status, 200);
        raw_reply_done(&r);
        close(in[i].fd);
    }
}

static void numbers(void **state) {
    (void)state;
    toy_start(&toy, NULL);
    (void)raw_reply_status(toy.server, "GET /v1/things/metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    (void)raw_reply_status(toy.server, "GET /v1/unheard/of HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(http_idle(toy.server, 10));
    struct buf text = {0};
    metrics_render(&text);
    assert_non_null(
        strstr(buf_cstr(&text),
               "discern_http_requests_total{route=\"/v1/things/{name}\",status=\"200\"}"));
    assert_non_null(
        strstr(buf_cstr(&text), "discern_http_requests_total{route=\"unmatched\",status=\"404\"}"));
    assert_non_null(strstr(buf_cstr(&text),
                           "discern_http_request_seconds_bucket{route=\"/v1/things/{name}\",le="));
    assert_non_null(
        strstr(buf_cstr(&text), "discern_http_refused_connections_total{limit=\"connections\"}"));
    assert_null(strstr(buf_cstr(&text), "unheard"));
    buf_done(&text);
}

/* ---- many at once ---- */

static void *client(void *arg) {
    static const char *const requests[] = {
        "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /lines?n=2000 HTTP/1.1\r\nHost: x\r\n\r\n",
        "PUT /sink/a?pause HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        "PUT /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        "GET /wait?seconds=0.01 HTTP/1.1\r\nHost: x\r\n\r\n",
        ("POST /echo-pool HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
         "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")};
    static const int statuses[] = {200, 200, 200, 201, 404, 200, 200};
    struct connection *in = calloc(1, sizeof *in);
    long wrong = 0;
    for (int round = 0; round < 5; round++) {
        memset(in, 0, sizeof *in);
        in->fd = connection_open(toy.server);
        for (int i = 0; i < 35; i++) {
            int k = (i * 3 + (int)(size_t)arg) % 7;
            struct raw_reply r = {0};
            if (raw_send_text(in->fd, requests[k])) {
                raw_reply_read(in, false, &r);
            }
            wrong += r.status != statuses[k];
            raw_reply_done(&r);
        }
        close(in->fd);
    }
    free(in);
    return (void *)wrong;
}

static void together(void **state) {
    (void)state;
    toy_start(&toy, &(struct http_settings){.io_threads = 3});
    enum { N = 12 };
    pthread_t threads[N];
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, client, (void *)i), 0);
    }
    for (size_t i = 0; i < N; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_int_equal((long)wrong, 0);
    }
    assert_true(http_idle(toy.server, 10));
    toy_expect(&toy.streams, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(inherited, stop),
        cmocka_unit_test_teardown(bad_settings, stop),
        cmocka_unit_test_teardown(addresses, stop),
        cmocka_unit_test_teardown(too_many, stop),
        cmocka_unit_test_teardown(too_many_of_one, stop),
        cmocka_unit_test_teardown(too_many_behind_proxy, stop),
        cmocka_unit_test_teardown(too_many_of_network, stop),
        cmocka_unit_test_teardown(numbers, stop),
        cmocka_unit_test_teardown(together, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
