/* Predictions with short bodies and much work: wide rows, long answers. The daemon's memory is
 * bounded, and limits are exact to a row. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NDJSON "Content-Type: application/x-ndjson"

enum { WIDE = 20000 }; /* features */

/* A model of WIDE sparse features: contributions of a row take at least 40 KB in every format. */
static void start_with_wide(const char *const *flags) {
    char *body = keep(malloc(64 * 40), free);
    size_t at = 0;
    for (int i = 0; i < 40; i++) {
        at += (size_t)sprintf(body + at, "%d %d:1 %d:%d\n", i % 2, 1 + i % 2, WIDE - 1 + i % 2,
                              1 + i % 3);
    }
    service_start(flags);
    status_check(call(&(struct request){.method = "PUT",
                                        .path = "/v1/datasets/wide",
                                        .headers = HEADERS("Content-Type: text/x-svmlight"),
                                        .body = body,
                                        .size = at}),
                 201);
    job_train("{'model':'wide','dataset':'wide','target':'label','algorithm':'logistic','params':{'"
              "lambda':0.1}}");
}

static const struct response *explain_lines(const char *body, bool chunked, const char *accept) {
    const char *const headers[] = {NDJSON, accept, NULL};
    return call(&(struct request){.method = "POST",
                                  .path = "/v1/models/wide/predict?output=contributions",
                                  .headers = headers,
                                  .body = body,
                                  .upload = true,
                                  .chunked = chunked});
}

/* The daemon's memory in KiB: the peak since peak_begin, or the present value. */
static long memory_of(const char *what) {
    const char *status = read_whole(text("/proc/%d/status", (int)the_daemon.pid), &(size_t){0}),
               *at = strstr(status, what);
    assert_non_null(at);
    return strtol(at + strlen(what), NULL, 10);
}

/* Resets the peak; returns -1 if the system cannot measure it. */
static long peak_begin(void) {
    if (daemon_is_sanitized()) {
        return -1;
    }
    FILE *clear = fopen(text("/proc/%d/clear_refs", (int)the_daemon.pid), "w");
    if (clear == NULL) {
        return -1;
    }
    (void)fputs("5", clear);
    (void)fclose(clear);
    return memory_of("VmRSS:");
}

/* Lines of 3 bytes with answers of 40 KB: the answer is in a file, not in memory. */
static void test_long_answers(void **state) {
    (void)state;
    const size_t n = daemon_is_sanitized() ? 60 : 300;
    const char *body = repeat("{}\n", n), *bodies[] = {body, repeat("[1]\n{}\n", n / 2)};
    static const char *const formats[] = {NULL, "Accept: text/csv", "Accept: application/json"};
    start_with_wide(NULL);
    status_check(explain_lines(body, false, NULL), 200);
    for (int i = 0; i < 3; i++) {
        const long idle = peak_begin();
        const struct response *r =
            status_check(explain_lines(bodies[i % 2], i % 2, formats[i]), 200);
        assert_string_equal(header_of(r, "Discern-Rows"), text("%zu", n));
        assert_in_range(r->size, (i % 2 ? n / 2 : n) * 2 * WIDE, 100 << 20);
        assert_true(idle < 0 ||
                    memory_of("VmHWM:") < idle + 8 * 1024); /* the first answer has 12 MB */
    }
}

/* --max-spool is exact to a row, and the message names the line that exceeded it. */
static void test_answer_too_long(void **state) {
    (void)state;
    start_with_wide(FLAGS("--max-spool", "1M"));
    const struct response *r =
        problem_check(explain_lines(repeat("{}\n", 600), false, NULL), 413, "answer-too-long");
    const char *line = strstr(string_at(r, "/detail"), "at line ");
    assert_non_null(line);
    assert_in_range(strtol(line + 8, NULL, 10), 15, 30); /* 26 answers take 1 MiB */
    status_check(explain_lines(repeat("{}\n", 15), false, NULL), 200);
}

/* ---- many rows of few bytes ---- */

enum { INPUTS = 1000, ROWS = 20000 }; /* as a matrix: 160 MB */

/* A model with INPUTS columns of numbers, "x0" …, and the classes a and b. */
static void start_with_columns(const char *const *flags) {
    char *body = keep(malloc(20 * INPUTS * 8), free);
    size_t at = 0;
    for (int j = 0; j < INPUTS; j++) {
        at += (size_t)sprintf(body + at, "x%d,", j);
    }
    at += (size_t)sprintf(body + at, "kind\n");
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < INPUTS; j++) {
            at += (size_t)sprintf(body + at, "%d,", (i * 7 + j * 3) % 11);
        }
        at += (size_t)sprintf(body + at, "%c\n", "ab"[i % 2]);
    }
    service_start(flags);
    status_check(call_upload_bytes("/v1/datasets/columns", body, at, NULL), 201);
    job_train("{'model':'columns','dataset':'columns','target':'kind','algorithm':'naive_bayes'}");
}

/* The first instance has all columns, the others have none (3 bytes each); `last` follows them. */
static const char *empty_instances(size_t n, const char *kind, const char *last) {
    char *body = keep(malloc(INPUTS * 12 + n * 3 + strlen(last) + 100), free);
    size_t at = (size_t)sprintf(body, "{\"instances\":[{");
    for (int j = 0; j < INPUTS; j++) {
        at += (size_t)sprintf(body + at, "\"x%d\":1,", j);
    }
    at += (size_t)sprintf(body + at, "\"kind\":%s}", kind);
    for (size_t i = 1; i < n; i++) {
        at += (size_t)sprintf(body + at, ",{}");
    }
    (void)sprintf(body + at, "%s]}", last);
    return body;
}

/* Rows are scored in blocks, so that missing values take no memory; faults in later rows are
 * found. */
static void test_empty_instances(void **state) {
    (void)state;
    start_with_columns(NULL);
    const char *body = empty_instances(ROWS, "null", "");
    status_check(call_json("POST", "/v1/models/columns/predict", "{\"instances\":[{\"x0\":1}]}"),
                 422);
    const long idle = peak_begin();
    const struct response *r =
        status_check(call(&(struct request){.method = "POST",
                                            .path = "/v1/models/columns/predict?output=label",
                                            .headers = HEADERS("Content-Type: application/json"),
                                            .body = body}),
                     200);
    assert_int_equal(count_at(r, "/predictions"), ROWS);
    assert_true(json_equal(value_at(r, "/predictions/1"), value_at(r, "/predictions/19999")));
    r = problem_check(call(&(struct request){
                          .method = "POST",
                          .path = "/v1/models/columns/predict",
                          .headers = HEADERS("Content-Type: application/json"),
                          .body = empty_instances(ROWS, "null", ",{\"x1\":\"two\"},{\"none\":1}")}),
                      422, "invalid-instances");
    fault_check(r, "/instances/20000/x1");
    fault_check(r, "/instances/20001");
    assert_true(idle < 0 || memory_of("VmHWM:") < idle + 32 * 1024);
}

/* Evaluation needs all rows in memory: their number is limited. */
static void test_rows_of_an_evaluation(void **state) {
    (void)state;
    start_with_columns(FLAGS("--body-memory", "64M"));
    const struct request few = {.method = "POST",
                                .path = "/v1/models/columns/evaluate",
                                .headers = HEADERS("Content-Type: application/json"),
                                .body = empty_instances(1000, "\"a\"", ",{\"kind\":\"b\"}")};
    struct request many = few;
    many.body = empty_instances(ROWS, "\"a\"", ",{\"kind\":\"b\"}");
    const long idle = peak_begin();
    for (int i = 0; i < 2; i++) {
        const struct response *r = problem_check(call(&many), 422, "invalid-instances");
        assert_non_null(strstr(string_at(r, "/errors/0/detail"),
                               "more than --body-memory allows: send fewer at a time"));
    }
    assert_true(idle < 0 || memory_of("VmHWM:") < idle + 80 * 1024);
    status_check(call(&few), 200);
    metric_falls_to_zero("discern_http_body_bytes");
}

enum { BROAD = 255, BROAD_ROWS = 4000, STREAMS = 12 };

/* The decoded columns of a stored dataset count against --body-memory while its answer is sent: a
 * chunk of 4,000 rows of 255 numbers has 8 MB, so that 64 MiB take at most 8 answers. */
static void test_streams_of_a_stored_dataset(void **state) {
    (void)state;
    char *body = keep(malloc((size_t)(BROAD_ROWS + 1) * (BROAD + 1) * 6), free);
    size_t at = 0;
    for (int i = -1; i < BROAD_ROWS; i++) {
        for (int j = 0; j < BROAD; j++) {
            at += (size_t)(i < 0 ? sprintf(body + at, "x%d,", j)
                                 : sprintf(body + at, "%d,", (i * 31 + j * 17 + i * j) % 101));
        }
        at += (size_t)sprintf(body + at, "%s\n", i < 0 ? "y" : i % 2 == 0 ? "a" : "b");
    }
    static const char *const flags[] = {"--body-memory", "64M", "--max-body", "64M", NULL};
    service_start(flags);
    status_check(call(&(struct request){.method = "PUT",
                                        .path = "/v1/datasets/broad",
                                        .headers = HEADERS("Content-Type: text/csv"),
                                        .body = body,
                                        .size = at}),
                 201);
    job_train("{'model':'broad','dataset':'broad','target':'y','algorithm':'least_squares'}");
    int fds[STREAMS], sent = 0, refused = 0;
    for (int k = 0; k < STREAMS; k++) {
        fds[k] = raw_open();
        assert_true(
            raw_send_text(fds[k],
                          "POST /v1/models/broad/predict?output=contributions HTTP/1.1\r\nHost: "
                          "localhost\r\nContent-Type: application/json\r\nContent-Length: "
                          "19\r\n\r\n{\"dataset\":\"broad\"}"));
        const char *head = raw_until(fds[k], "", "\r\n\r\n");
        sent += strncmp(head, "HTTP/1.1 200", 12) == 0;
        refused += strncmp(head, "HTTP/1.1 503", 12) == 0;
    }
    assert_int_equal(sent + refused, STREAMS);
    if (sent < 4 || sent > 8) {
        fail_msg("%d answers begin", sent);
    }
    for (int k = 0; k < STREAMS; k++) {
        close(fds[k]);
    }
    for (int tries = 0; tries < 100; tries++) { /* the memory is free again */
        const struct response *r =
            call_json("POST", "/v1/models/broad/predict?output=label", "{'dataset':'broad'}");
        if (r->status == 200) {
            return;
        }
        pause_ms(100);
    }
    fail_msg("the memory of the closed answers is not given back");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_long_answers), TEST(test_answer_too_long),
                                       TEST(test_empty_instances), TEST(test_rows_of_an_evaluation),
                                       TEST(test_streams_of_a_stored_dataset)};
    return RUN_WITHOUT_DAEMON(tests);
}
