/* Slow clients, and clients that disconnect. One byte per second in header, body or reading ends at
 * the deadlines, and other clients are served meanwhile. */
#include "lib/api.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Short deadlines. A byte per second resets the idle time-outs: the connections end by the total
 * time of a header and by the rate of bodies and answers over 30 s. */
static const char *const flags[] = {"--header-timeout",
                                    "3",
                                    "--idle-timeout",
                                    "4",
                                    "--keep-alive-timeout",
                                    "3",
                                    "--minimum-rate",
                                    "64",
                                    NULL};

static int prepare(void **state) {
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    keep_free();
    return 0;
}

/* A connection that sends `bytes`, then one byte of `drip` per second, or reads one byte per
 * second. */
struct slow {
    const char *bytes, *drip; /* drip NULL: it reads */
    int fd;
    char got[4096]; /* bytes that it received meanwhile */
    size_t n;
    bool ended;
};

static void slow_open(struct slow *s) {
    s->fd = raw_open();
    assert_true(s->fd >= 0);
    assert_int_equal(send(s->fd, s->bytes, strlen(s->bytes), MSG_NOSIGNAL),
                     (ssize_t)strlen(s->bytes));
}

static void slow_step(struct slow *s) {
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    if (s->ended) {
        return;
    }
    if (s->drip != NULL && *s->drip != '\0' && send(s->fd, s->drip++, 1, MSG_NOSIGNAL) < 0) {
        s->ended = true;
    }
    if (poll(&p, 1, 0) <= 0 || s->n + 1 >= sizeof s->got) {
        return;
    }
    ssize_t more =
        recv(s->fd, s->got + s->n, s->drip != NULL ? sizeof s->got - 1 - s->n : 1, MSG_DONTWAIT);
    s->ended = s->ended || more <= 0;
    s->n += more > 0 ? (size_t)more : 0;
}

static void everybody_else_is_served(void) {
    status_check(call_post("/v1/models/iris/predict", "{'instances':[[5.1,3.5,1.4,0.2]]}"), 200);
    status_check(call_get("/v1/datasets"), 200);
}

static void test_a_byte_a_second(void **state) {
    (void)state;
    static const char head[] = "GET /version HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
                               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n";
    static const char post[] =
        "POST /v1/models/iris/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";
    static const char put[] = "PUT /v1/datasets/slow HTTP/1.1\r\nHost: "
                              "localhost\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\na,b\n1,2\n";
    static const char rows[] =
        "GET /v1/datasets/large/rows?limit=1000000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const char *drip = repeat("1,2\n", 100);
    struct slow s[] = {{.bytes = "", .drip = head},
                       {.bytes = post, .drip = drip},
                       {.bytes = put, .drip = drip},
                       {.bytes = rows}};
    enum { N = sizeof s / sizeof s[0] };
    status_check(call_upload("/v1/datasets/large",
                             text("a,b\n%s", repeat("12345678,abcdefgh\n", 400000))),
                 201);
    for (size_t i = 0; i < N; i++) {
        slow_open(&s[i]);
    }
    for (int second = 0; second < 70; second++) {
        for (size_t i = 0; i < N; i++) {
            slow_step(&s[i]);
        }
        everybody_else_is_served();
        if (s[0].ended && s[1].ended && s[2].ended && second > 10) {
            break;
        }
        pause_ms(1000);
    }
    for (size_t i = 0; i < 3;
         i++) { /* the clients that send: closed, with 408 if the answer could be sent */
        if (!s[i].ended) {
            fail_msg("slow client %zu was never ended", i);
        }
        const struct response *r = raw_parse(s[i].got, s[i].n);
        if (r->status != 0) {
            problem_check(r, 408, "request-timeout");
        }
    }
    /* the client that reads: it gets the bytes in the buffers, but not the whole answer and not the
     * last chunk */
    const struct response *r = raw_talk(s[3].fd, "", 0, 30);
    assert_true(r->closed);
    /* less than the whole answer, whose rows are {"a":12345678,"b":"abcdefgh"} */
    assert_true(s[3].n + r->size < 400000 * 25);
    assert_true(r->size < 5 || memcmp(r->body + r->size - 5, "0\r\n\r\n", 5) != 0);
    for (size_t i = 0; i < N; i++) {
        close(s[i].fd);
    }
    problem_check(call_get("/v1/datasets/slow"), 404, "unknown-dataset");
    status_check(call_delete("/v1/datasets/large"), 204);
}

/* Connections without a request are closed, with or without 408. */
static void test_silence(void **state) {
    (void)state;
    const struct response *r = raw_once("", 0);
    assert_true(r->closed);
    assert_true(r->status == 0 || r->status == 408);
    r = raw_text("GET /version HTTP/1.1\r\nHost: loc");
    assert_true(r->closed);
    if (r->status != 0) {
        problem_check(r, 408, "request-timeout");
    }
    /* between two requests */
    r = raw_text("GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    status_check(r, 200);
    assert_true(r->closed);
    /* in the middle of a body, with Content-Length and chunked */
    r = raw_text("POST /v1/models/iris/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                 "100\r\n\r\n{\"instances\":");
    assert_true(r->closed);
    problem_check(r, 408, "request-timeout");
    r = raw_text("PUT /v1/datasets/silent HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                 "chunked\r\n\r\n4\r\na\n1\n\r\n");
    assert_true(r->closed);
    problem_check(r, 408, "request-timeout");
    problem_check(call_get("/v1/datasets/silent"), 404, "unknown-dataset");
}

/* The client disconnects at many places of an upload: nothing is stored, and a complete upload
 * succeeds afterwards. */
static void test_client_leaves_during_an_upload(void **state) {
    (void)state;
    const char *body =
        text("a,b,c\n%s", repeat("1.5,2,some text\n", 300000)); /* some chunks of the store */
    size_t size = strlen(body);
    const char *head =
        text("PUT /v1/datasets/gone HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
             size);
    for (int eighth = 0; eighth < 8; eighth++) {
        int fd = raw_open();
        const char *part = text("%s%.*s", head, (int)(size / 8) * eighth, body);
        (void)raw_talk(fd, part, strlen(part), eighth % 2 == 0 ? 0.3 : 0.05);
        if (eighth % 3 == 0) { /* with a reset */
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                       sizeof(struct linger));
        }
        close(fd);
        everybody_else_is_served();
    }
    problem_check(call_get("/v1/datasets/gone"), 404, "unknown-dataset");
    assert_int_equal(whole_at(status_check(call_upload("/v1/datasets/gone", body), 201), "/rows"),
                     300000);
    status_check(call_delete("/v1/datasets/gone"), 204);
}

/* The client disconnects while its answer is computed or sent. */
static void test_client_leaves_before_the_answer(void **state) {
    (void)state;
    upload_file("digits", "digits.csv");
    int64_t id = job_endless("left-alone");
    const char *const paths[] = {text("/v1/jobs/%lld?wait=50", (long long)id),
                                 text("/v1/jobs/%lld/events", (long long)id),
                                 text("/v1/jobs/%lld/history", (long long)id),
                                 "/v1/datasets/digits/rows?limit=2000"};
    for (int round = 0; round < 20; round++) {
        int fd = raw_open();
        const char *request = text("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", paths[round % 4]);
        (void)raw_talk(fd, request, strlen(request), 0.01);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                   sizeof(struct linger));
        close(fd);
    }
    everybody_else_is_served();
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)id), "{}"), 202);
    job_wait(id);
}

/* A hundred silent connections do not delay later clients. */
static void test_many_silent_connections(void **state) {
    (void)state;
    enum { N = 100 };
    int fds[N];
    for (size_t i = 0; i < N; i++) {
        fds[i] = raw_open();
        assert_true(fds[i] >= 0);
        if (i % 2 == 0) {
            assert_true(send(fds[i], "GET / HT", 8, MSG_NOSIGNAL) > 0);
        }
    }
    for (int i = 0; i < 20; i++) {
        everybody_else_is_served();
    }
    for (size_t i = 0; i < N; i++) {
        close(fds[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_byte_a_second),
        TEST(test_silence),
        TEST(test_client_leaves_during_an_upload),
        TEST(test_client_leaves_before_the_answer),
        TEST(test_many_silent_connections),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
