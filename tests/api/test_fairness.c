/* Short calls beside long ones, and long calls of several clients. Times are compared with those of
 * the same daemon, so that a slow machine changes nothing. */
#include "lib/api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONG_CALLS = 8 };

static size_t long_rows(void) {
    return daemon_is_sanitized() ? 20000 : 100000;
}

static char *long_request; /* a prediction with a kernel machine */
static size_t long_size;

/* Appends rows of 6 numbers. labels: and a class that depends on their sum and on chance. */
static size_t write_rows(char *out, size_t n, bool labels) {
    uint64_t z = 88172645463325252u; /* xorshift64 */
    size_t at = (size_t)sprintf(out, "a,b,c,d,e,f%s\n", labels ? ",class" : "");
    for (size_t i = 0; i < n; i++) {
        unsigned sum = 0;
        for (size_t j = 0; j < 6; j++) {
            z ^= z << 13;
            z ^= z >> 7;
            z ^= z << 17;
            sum += (unsigned)(z % 100);
            at += (size_t)sprintf(out + at, "%s%u", j > 0 ? "," : "", (unsigned)(z % 100));
        }
        at += (size_t)sprintf(out + at, labels ? ",%s\n" : "\n",
                              (sum + z / 128 % 200 > 400) ? "x" : "y");
    }
    return at;
}

static void start(const char *const *flags) {
    char *rows = keep(malloc(long_rows() * 32), free);
    service_start(flags);
    write_rows(rows, 2000, true);
    status_check(call_upload("/v1/datasets/rows", rows), 201);
    job_train("{'model':'kernel','dataset':'rows','target':'class','algorithm':'svm',"
              "'params':{'kernel':'rbf'}}");
    job_train("{'model':'line','dataset':'rows','target':'class','algorithm':'logistic'}");
    const size_t n = write_rows(rows, long_rows(), false);
    long_request = keep(malloc(n + 300), free);
    const int head = sprintf(long_request,
                             "POST /v1/models/kernel/predict?output=label HTTP/1.1\r\n"
                             "Host: localhost\r\nContent-Type: text/csv\r\nAccept: text/csv\r\n"
                             "Connection: close\r\nContent-Length: %zu\r\n\r\n",
                             n);
    memcpy(long_request + head, rows, n);
    long_size = (size_t)head + n;
}

struct long_call {
    pthread_t thread;
    int host;
    int status;
    double began, ended;
};

/* Sends the long prediction and reads the answer. */
static void *long_main(void *arg) {
    struct long_call *c = arg;
    char bytes[65536], head[16] = "";
    c->began = now();
    const int fd = raw_open_from(c->host, the_daemon.port);
    if (fd >= 0 && raw_send(fd, long_request, long_size)) {
        ssize_t n = recv(fd, head, 12, MSG_WAITALL);
        while (n > 0) {
            n = recv(fd, bytes, sizeof bytes, 0);
        }
    }
    c->ended = now();
    c->status = head[0] == 'H' ? (int)strtol(head + 9, NULL, 10) : 0;
    close(fd);
    return NULL;
}

static void begin(struct long_call *c, int host) {
    *c = (struct long_call){.host = host};
    assert_int_equal(pthread_create(&c->thread, NULL, long_main, c), 0);
}

static void end(struct long_call *c) {
    assert_int_equal(pthread_join(c->thread, NULL), 0);
}

/* Waits until a long call waits for its turn. */
static void wait_until_waiting(size_t n) {
    for (double until = now() + 60; now() < until; usleep(5000)) {
        const struct response *r = call_get("/metrics");
        const char *at = strstr(r->body, "\ndiscern_http_long_calls_waiting ");
        assert_non_null(at);
        if (strtod(at + strlen("\ndiscern_http_long_calls_waiting "), NULL) >= (double)n) {
            return;
        }
    }
    fail_msg("%zu long calls do not wait", n);
}

static void test_short_calls_beside_long_ones(void **state) {
    (void)state;
    struct long_call calls[LONG_CALLS];
    start(NULL);
    begin(&calls[0], 1);
    end(&calls[0]);
    assert_int_equal(calls[0].status, 200);
    for (size_t i = 0; i < LONG_CALLS; i++) {
        begin(&calls[i], 1);
    }
    wait_until_waiting(LONG_CALLS - 4);
    const double first = now();
    status_check(call_typed("/v1/models/line/evaluate", "text/csv", "application/json",
                            "a,b,c,d,e,f,class\n1,2,3,4,5,6,x\n90,80,95,99,85,70,y\n"),
                 200);
    status_check(call_typed("/v1/models/line/predict", "application/x-ndjson",
                            "application/x-ndjson",
                            "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}\n"),
                 200);
    status_check(call_get("/v1/jobs/1"), 200);
    status_check(call_upload("/v1/datasets/small", "a,b\n1,2\n3,4\n"), 201);
    const double last = now();
    size_t later = 0;
    for (size_t i = 0; i < LONG_CALLS; i++) {
        end(&calls[i]);
        assert_int_equal(calls[i].status, 200);
        later += calls[i].ended > last;
    }
    print_message("four short calls: %.3f s; %zu of %d long calls ended later\n", last - first,
                  later, LONG_CALLS);
    assert_true(later >= LONG_CALLS / 2);
    service_end();
}

/* Eight calls of one address wait; the call of another one does not wait for them. */
static void test_long_calls_take_turns(void **state) {
    (void)state;
    struct long_call calls[LONG_CALLS], other;
    start(NULL);
    for (size_t i = 0; i < LONG_CALLS; i++) {
        begin(&calls[i], 1);
    }
    wait_until_waiting(LONG_CALLS - 4);
    begin(&other, 2);
    end(&other);
    size_t later = 0;
    for (size_t i = 0; i < LONG_CALLS; i++) {
        end(&calls[i]);
        assert_int_equal(calls[i].status, 200);
        later += calls[i].ended > other.ended;
    }
    assert_int_equal(other.status, 200);
    assert_true(later >= 2);
    service_end();
}

/* With 4 places one call of an address waits beside those that compute; others are answered 503. */
static void test_the_queue_has_a_limit(void **state) {
    (void)state;
    struct long_call calls[LONG_CALLS];
    size_t refused = 0;
    start(FLAGS("--max-waiting-calls", "4", "--call-threads", "1"));
    for (size_t i = 0; i < LONG_CALLS; i++) {
        begin(&calls[i], 1);
    }
    for (size_t i = 0; i < LONG_CALLS; i++) {
        end(&calls[i]);
        assert_true(calls[i].status == 200 || calls[i].status == 503);
        refused += calls[i].status == 503;
    }
    assert_in_range(refused, 1, LONG_CALLS - 2);
    const struct response *r = call_get("/metrics");
    assert_null(strstr(r->body, "discern_http_refused_long_calls_total 0\n"));
    service_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_short_calls_beside_long_ones),
        TEST(test_long_calls_take_turns),
        TEST(test_the_queue_has_a_limit),
    };
    return RUN_WITHOUT_DAEMON(tests);
}
