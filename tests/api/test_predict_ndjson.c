/* Predictions of NDJSON bodies: one line of answer for each line, in order, for any length; errors
 * of refused lines in their places; limits; slow clients and clients that disconnect. */
#include "lib/api.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREDICT "/v1/models/iris/predict"
#define NDJSON "Content-Type: application/x-ndjson"

/* ---- shared functions ---- */

static void start_with_model(const char *const *flags) {
    service_start(flags);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
}

/* n lines: the rows of iris, repeated. */
static const char *lines_of_iris(size_t n, size_t *size) {
    const struct table *t = table_read("tests/data/iris.csv");
    char *text = keep(malloc(n * 64 + 1), free);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = t->x + (i % t->n_rows) * t->n_cols;
        at += (size_t)snprintf(text + at, 64, "[%g,%g,%g,%g]\n", x[0], x[1], x[2], x[3]);
    }
    *size = at;
    return text;
}

static const struct response *predict_lines(const char *query, const char *body, size_t size,
                                            bool chunked, const char *accept) {
    const char *const headers[] = {NDJSON, accept, NULL};
    return call(&(struct request){.method = "POST",
                                  .path = text(PREDICT "%s", query),
                                  .headers = headers,
                                  .body = body,
                                  .size = size,
                                  .upload = true,
                                  .chunked = chunked});
}

/* The next end of a line. strchr would be slow under ASan, which measures the whole text each
 * time. */
static const char *line_end(const struct response *r, const char *at) {
    return memchr(at, '\n', r->size - (size_t)(at - r->body));
}

/* The JSON of line i. */
static json_t *line_at(const struct response *r, size_t i) {
    const char *at = r->body;
    for (; i > 0; i--) {
        at = line_end(r, at);
        assert_non_null(at);
        at++;
    }
    const char *end = line_end(r, at);
    assert_non_null(end);
    json_t *json = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    return keep(json, (void (*)(void *))json_delete);
}

static size_t count_lines(const struct response *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->size; i++) {
        n += r->body[i] == '\n';
    }
    return n;
}

/* Number of spool files that the daemon has open and has unlinked; it unlinks them just after it
 * creates them. */
static size_t open_spools(void) {
    size_t n = 0;
    char link[64], target[512];
    DIR *folder = opendir(text("/proc/%d/fd", (int)the_daemon.pid));
    assert_non_null(folder);
    for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        (void)snprintf(link, sizeof link, "/proc/%d/fd/%.20s", (int)the_daemon.pid, e->d_name);
        const ssize_t size = readlink(link, target, sizeof target - 1);
        target[size > 0 ? size : 0] = '\0';
        n += strstr(target, ".discern-spool-") != NULL && strstr(target, " (deleted)") != NULL;
    }
    closedir(folder);
    return n;
}

/* Number of spool files with a name in the folder: 0 except between creation and unlink. */
static size_t named_spools(const char *path) {
    size_t n = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        n += strncmp(e->d_name, ".discern-spool-", 15) == 0;
    }
    closedir(folder);
    return n;
}

static void wait_for_spools(size_t n) {
    for (int i = 0; i < 2000 && open_spools() != n; i++) {
        pause_ms(10);
    }
    assert_int_equal(open_spools(), n);
}

/* ---- answers ---- */

/* The answer to a line equals the answer to the same instance in a JSON body. */
static void test_same_as_json(void **state) {
    (void)state;
    const struct table *t = table_read("tests/data/iris.csv");
    struct {
        char *text;
        size_t at;
    } lines = {keep(malloc(30000), free), 0}, json = {keep(malloc(30000), free), 0};
    json.at = (size_t)sprintf(json.text, "{\"instances\":[");
    for (size_t i = 0; i < t->n_rows; i++) {
        const double *x = t->x + i * t->n_cols;
        char row[200];
        (void)snprintf(row, sizeof row,
                       i % 3 == 0 ? "{\"%s\":%g,\"%s\":%g,\"%s\":%g,\"%s\":%g}"
                                  : "[%.0s%g,%.0s%g,%.0s%g,%.0s%g]",
                       t->names[0], x[0], t->names[1], x[1], t->names[2], x[2], t->names[3], x[3]);
        lines.at +=
            (size_t)sprintf(lines.text + lines.at, "%s%s", row, i % 5 == 0 ? "\r\n\n" : "\n");
        json.at += (size_t)sprintf(json.text + json.at, "%s%s", i > 0 ? "," : "", row);
    }
    (void)sprintf(json.text + json.at, "]}");
    static const char *const queries[] = {"", "?output=scores,distance",
                                          "?output=label,contributions,ambiguous,log_density"};
    for (size_t q = 0; q < 3; q++) {
        const struct response *expected =
            status_check(call_json("POST", text(PREDICT "%s", queries[q]), "%s", json.text), 200);
        for (int chunked = 0; chunked < 2; chunked++) {
            const struct response *r =
                status_check(predict_lines(queries[q], lines.text, lines.at, chunked, NULL), 200);
            assert_string_equal(header_of(r, "Content-Type"), "application/x-ndjson");
            assert_string_equal(header_of(r, "Cache-Control"), "no-store");
            assert_string_equal(header_of(r, "Discern-Rows"), "150");
            assert_string_equal(header_of(r, "Discern-Refused"), "0");
            assert_int_equal(count_lines(r), 150);
            for (size_t i = 0; i < 150; i++) {
                assert_true(json_equal(line_at(r, i),
                                       json_find(expected->json, text("/predictions/%zu", i))));
            }
        }
    }
}

/* Without a useful Content-Type the format is detected, and the answer has the same format. */
static void test_format_is_recognised(void **state) {
    (void)state;
    const char *body = "[5.1,3.5,1.4,0.2]\n[1]\n{\"sepal_length\":6.3,\"sepal_width\":3.3,\"petal_"
                       "length\":6,\"petal_width\":2.5}\n";
    const struct response *a =
        status_check(predict_lines("", body, strlen(body), false, NULL), 200);
    const struct response *b =
        status_check(call(&(struct request){.method = "POST", .path = PREDICT, .body = body}), 200);
    assert_string_equal(header_of(b, "Content-Type"), "application/x-ndjson");
    assert_string_equal(header_of(b, "Discern-Refused"), "1");
    assert_string_equal(a->body, b->body);
    assert_string_equal(json_string_value(json_object_get(line_at(a, 2), "label")), "virginica");
}

static void test_refused_lines(void **state) {
    (void)state;
    const char *body = "[5.1,3.5,1.4,0.2]\n"
                       "\n"
                       "[5.1,\"x\",1.4,0.2]\n"
                       "{\"sepal_width\":\"w\",\"sepal_lenght\":2}\n"
                       "nonsense\n"
                       "[5.1,3.5,1.4,0.2\n"
                       "[1e200,1e308,1e308,1e308]\n"
                       "[5.1,3.5,1.4,0.2]";
    const struct response *r =
        status_check(predict_lines("", body, strlen(body), false, NULL), 200);
    assert_int_equal(count_lines(r), 7);
    assert_string_equal(header_of(r, "Discern-Rows"), "7");
    assert_string_equal(header_of(r, "Discern-Refused"), "5");
    assert_true(json_equal(line_at(r, 0), line_at(r, 6)));
    static const struct {
        int line, column;
        const char *words;
    } expected[] = {{3, 6, "column \"sepal_width\": must be a finite number (got \"x\")"},
                    {4, 16, "column \"sepal_width\": must be a finite number (got \"w\")"},
                    {5, 1, "unknown word"},
                    {6, 17, "the line ends within an array or object"},
                    {7, 0, "so large"}};
    for (size_t i = 0; i < 5; i++) {
        const json_t *error = json_object_get(line_at(r, i + 1), "error");
        assert_non_null(error);
        assert_string_equal(json_string_value(json_object_get(error, "type")),
                            "/problems/invalid-instances");
        assert_int_equal(json_integer_value(json_object_get(error, "line")), expected[i].line);
        assert_int_equal(json_integer_value(json_object_get(error, "column")), expected[i].column);
        assert_non_null(
            strstr(json_string_value(json_object_get(error, "detail")), expected[i].words));
    }
    const json_t *errors = json_object_get(json_object_get(line_at(r, 2), "error"), "errors");
    assert_int_equal(json_array_size(errors), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(errors, 1), "column")), 36);
    assert_string_equal(json_string_value(json_object_get(json_array_get(errors, 1), "detail")),
                        "the instance: the model has no column \"sepal_lenght\"; "
                        "\"sepal_length\" is missing");
    /* equal values in the other formats */
    const struct response *csv =
        status_check(predict_lines("", body, strlen(body), false, "Accept: text/csv"), 200);
    assert_int_equal(count_lines(csv), 8);
    assert_non_null(strstr(csv->body, "label,p(setosa),p(versicolor),p(virginica),error\nsetosa,"));
    assert_non_null(strstr(csv->body, "\n,,,,\"line 3, column 6: the instance, column "
                                      "\"\"sepal_width\"\": must be a finite number"));
    const struct response *json =
        status_check(predict_lines("", body, strlen(body), false, "Accept: application/json"), 200);
    assert_int_equal(count_at(json, "/predictions"), 7);
    for (size_t i = 0; i < 7; i++) {
        assert_true(json_equal(json_find(json->json, text("/predictions/%zu", i)), line_at(r, i)));
    }
}

/* 300,000 lines: in order, none lost, with bounded memory. */
static void test_long_body(void **state) {
    (void)state;
    enum { N = 300000 };
    size_t size;
    const char *body = lines_of_iris(N, &size);
    FILE *clear = daemon_is_sanitized() ? NULL
                                        : fopen(text("/proc/%d/clear_refs", (int)the_daemon.pid),
                                                "w"); /* resets the peak of memory */
    if (clear != NULL) {
        (void)fputs("5", clear);
        (void)fclose(clear);
    }
    const char *before = read_whole(text("/proc/%d/status", (int)the_daemon.pid), &(size_t){0});
    for (int chunked = 0; chunked < 2; chunked++) {
        const struct response *r = status_check(predict_lines("", body, size, chunked, NULL), 200);
        assert_int_equal(strtol(header_of(r, "Content-Length"), NULL, 10), r->size);
        assert_string_equal(header_of(r, "Discern-Rows"), text("%d", N));
        const char *line[150], *at = r->body;
        size_t length[150];
        for (size_t i = 0; i < N; i++) {
            const char *end = line_end(r, at);
            assert_non_null(end);
            if (i < 150) {
                line[i] = at;
                length[i] = (size_t)(end - at);
            }
            assert_int_equal(end - at, length[i % 150]);
            assert_memory_equal(at, line[i % 150], length[i % 150]);
            at = end + 1;
        }
        assert_int_equal(at - r->body, r->size);
    }
    const char *after = read_whole(text("/proc/%d/status", (int)the_daemon.pid), &(size_t){0});
    const long idle = strtol(strstr(before, "VmRSS:") + 6, NULL, 10),
               peak = strtol(strstr(after, "VmHWM:") + 6, NULL, 10);
    assert_true(clear == NULL || peak < idle + 16 * 1024); /* the answer alone has 30 MB */
    assert_int_equal(open_spools(), 0);
}

/* ---- refusals ---- */

static void test_refused_calls(void **state) {
    (void)state;
    const char *body = "[5.1,3.5,1.4,0.2]\n";
    problem_check(predict_lines("?output=everything", body, strlen(body), false, NULL), 400,
                  "bad-request");
    problem_check(predict_lines("?colour=red", body, strlen(body), true, NULL), 400, "bad-request");
    problem_check(predict_lines("", body, strlen(body), false, "Accept: text/html"), 406,
                  "not-acceptable");
    problem_check(predict_lines("", " \n\n", 3, false, NULL), 422, "invalid-instances");
    problem_check(predict_lines("", "", 0, false, NULL), 422, "invalid-instances");
    problem_check(call(&(struct request){.method = "POST",
                                         .path = "/v1/models/none/predict",
                                         .headers = HEADERS(NDJSON),
                                         .body = body}),
                  404, "unknown-model");
    problem_check(call(&(struct request){.method = "POST",
                                         .path = "/v1/models/iris/transform",
                                         .headers = HEADERS(NDJSON),
                                         .body = body}),
                  409, "conflict");
    status_check(predict_lines("", body, strlen(body), false, NULL), 200);
}

static void test_answer_too_long(void **state) {
    (void)state;
    size_t size;
    start_with_model(FLAGS("--max-spool", "200K"));
    const char *body = lines_of_iris(100000, &size);
    for (int chunked = 0; chunked < 2; chunked++) {
        const struct response *r =
            problem_check(predict_lines("", body, size, chunked, NULL), 413, "answer-too-long");
        const char *line = strstr(string_at(r, "/detail"), "at line ");
        assert_non_null(line);
        assert_in_range(strtol(line + 8, NULL, 10), 1500,
                        12000); /* about 100 bytes each, written in blocks */
        assert_non_null(strstr(string_at(r, "/detail"), "--max-spool"));
    }
    wait_for_spools(0);
    const char *few = lines_of_iris(1000, &size);
    status_check(predict_lines("", few, size, false, NULL), 200);
    start_with_model(FLAGS("--max-spool", "1K"));
    few = lines_of_iris(20, &size);
    problem_check(predict_lines("", few, size, false, NULL), 413, "answer-too-long");
    status_check(predict_lines("", few, size / 4, false, NULL), 200);
}

static void test_spool_dir(void **state) {
    (void)state;
    const char *out;
    size_t size;
    assert_int_equal(
        discernd_run(FLAGS("--spool-dir", "/nowhere/at/all", "--listen", "127.0.0.1:0"), &out), 2);
    assert_non_null(
        strstr(out,
               "--spool-dir must be a folder where files can be created, got \"/nowhere/at/all\""));
    char folder[] = "/tmp/discern-spools-XXXXXX";
    assert_non_null(mkdtemp(folder));
    start_with_model(FLAGS("--spool-dir", folder));
    const char *body = lines_of_iris(100000, &size);
    int fd = raw_open();
    const char *head = text("POST " PREDICT " HTTP/1.1\r\nHost: localhost\r\n" NDJSON
                            "\r\nContent-Length: %zu\r\n\r\n",
                            size);
    assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
    for (size_t at = 0; at < size / 2;) {
        at += (size_t)send(fd, body + at, size / 2 - at, MSG_NOSIGNAL);
    }
    wait_for_spools(1);
    assert_int_equal(named_spools(folder), 0);
    assert_int_equal(named_spools(the_daemon.dir), 0);
    close(fd); /* the client disconnects: the file must be closed */
    wait_for_spools(0);
    service_stop();
    assert_int_equal(rmdir(folder), 0);
    start_with_model(NULL);
}

/* ---- clients ---- */

static int begin_slowly(const char *body, size_t size, size_t sent) {
    int fd = raw_open();
    const char *head = text("POST " PREDICT " HTTP/1.1\r\nHost: localhost\r\n" NDJSON
                            "\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
                            size);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
    for (size_t at = 0; at < sent;) {
        const ssize_t n = send(fd, body + at, sent - at, MSG_NOSIGNAL);
        assert_true(n > 0);
        at += (size_t)n;
    }
    return fd;
}

/* Twenty clients stop in the middle of their bodies: others are served, though the daemon has one
 * thread for predictions. */
static void test_slow_clients(void **state) {
    (void)state;
    enum { CLIENTS = 20 };
    size_t size;
    int fd[CLIENTS];
    start_with_model(FLAGS("--call-threads", "1", "--idle-timeout", "600", "--minimum-rate", "0"));
    const char *body = lines_of_iris(30000, &size);
    const struct response *expected = status_check(predict_lines("", body, size, false, NULL), 200);
    for (int i = 0; i < CLIENTS; i++) {
        fd[i] = begin_slowly(body, size, size / 2 + (size_t)i);
    }
    for (int i = 0; i < 10; i++) {
        status_check(call_get("/v1/models"), 200);
        status_check(predict_lines("", body, 1000, false, NULL), 200);
        status_check(call_post(PREDICT, "{'instances':[[5.1,3.5,1.4,0.2]]}"), 200);
    }
    for (int i = 0; i < CLIENTS; i++) {
        const struct response *r =
            status_check(raw_talk(fd[i], body + size / 2 + i, size - size / 2 - (size_t)i, 120),
                         200);
        assert_int_equal(r->size, expected->size);
        assert_memory_equal(r->body, expected->body, expected->size);
        close(fd[i]);
    }
    wait_for_spools(0);
}

static void test_clients_that_leave(void **state) {
    (void)state;
    size_t size;
    const char *body = lines_of_iris(200000, &size);
    for (int i = 0; i < 5; i++) { /* while they send */
        int fd = begin_slowly(body, size, size / 5 * (size_t)i + 300000);
        wait_for_spools(1);
        close(fd);
        wait_for_spools(0);
    }
    /* clients that read slowly: the answer is much longer than the buffers of the kernel */
    int fd = begin_slowly(body, size, size);
    wait_for_spools(1);
    char piece[1000];
    assert_true(recv(fd, piece, sizeof piece, 0) > 0);
    close(fd);
    wait_for_spools(0);
    metric_falls_to_zero("discern_http_body_bytes");
    status_check(predict_lines("", body, 1000, false, NULL), 200);
}

/* The daemon stops in the middle of a prediction. */
static void test_drain(void **state) {
    (void)state;
    size_t size;
    start_with_model(FLAGS("--drain-timeout", "0.3"));
    const char *body = lines_of_iris(100000, &size);
    int sending = begin_slowly(body, size, size / 2), reading = begin_slowly(body, size, size);
    wait_for_spools(2);
    service_stop();
    assert_int_equal(named_spools(the_daemon.dir), 0);
    close(sending);
    close(reading);
    start_with_model(NULL);
}

static int start(void **state) {
    (void)state;
    start_with_model(NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_same_as_json),    TEST(test_format_is_recognised),
                                       TEST(test_refused_lines),   TEST(test_long_body),
                                       TEST(test_refused_calls),   TEST(test_clients_that_leave),
                                       TEST(test_answer_too_long), TEST(test_spool_dir),
                                       TEST(test_slow_clients),    TEST(test_drain)};
    return cmocka_run_group_tests(tests, start, group_end);
}
