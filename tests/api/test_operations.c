/* What an operator asks, and what every route has in common: methods, HEAD, OPTIONS, request ids,
 * keep-alive, the base path, drain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct daemon d;

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    json_decref(train(
        &d,
        "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}",
        "succeeded"));
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static void test_alive_ready_version(void **state) {
    (void)state;
    struct answer a = get(&d, "/healthz");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "status"), "ok");
    answer_done(&a);
    a = get(&d, "/readyz");
    assert_int_equal(a.status, 200);
    assert_true(json_is_true(at(a.json, "ready")));
    assert_string_equal(text_at(a.json, "checks.database"), "ok");
    assert_string_equal(text_at(a.json, "checks.workers"), "ok");
    assert_string_equal(text_at(a.json, "checks.draining"), "no");
    answer_done(&a);
    a = get(&d, "/version");
    assert_string_equal(text_at(a.json, "version"), DISCERN_VERSION);
    assert_true(number_at(a.json, "uptime") >= 0);
    answer_done(&a);
}

/* The value of a sample line, NaN: there is none. */
static double sample(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) == 0 && line[n] == ' ') {
            return strtod(line + n, NULL);
        }
    }
    fail_msg("/metrics has no %s", name);
    return 0;
}

static void test_metrics(void **state) {
    (void)state;
    struct answer a = get(&d, "/metrics");
    assert_int_equal(a.status, 200);
    assert_memory_equal(answer_header(&a, "Content-Type"), "text/plain; version=0.0.4", 25);
    expect_near(sample(a.body, "discern_jobs{state=\"succeeded\"}"), 1, 0);
    expect_near(sample(a.body, "discern_jobs{state=\"running\"}"), 0, 0);
    expect_near(sample(a.body, "discern_store_queue{queue=\"bulk\"}"), 0, 0);
    assert_true(sample(a.body, "discern_database_bytes") > 0);
    expect_near(sample(a.body, "discern_build_info{version=\"" DISCERN_VERSION "\"}"), 1, 0);
    answer_done(&a);
    expect_status(get(&d, "/v1/models/iris/weights"), 200);
    expect_status(get(&d, "/v1/models/iris/weights"), 200);
    a = get(&d, "/metrics");
    expect_near(sample(a.body, "discern_model_cache_models"), 1, 0);
    assert_true(sample(a.body, "discern_model_cache_bytes") > 0);
    assert_true(sample(a.body, "discern_model_cache_loads_total") >= 1);
    answer_done(&a);
}

static void test_the_document_and_the_catalogue(void **state) {
    (void)state;
    struct answer a = get(&d, "/openapi.json");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "servers.0.url"), "/");
    answer_done(&a);
    a = get(&d, "/v1/algorithms");
    assert_string_equal(text_at(a.json, "items.0.id"), "logistic");
    struct answer one = get(&d, "/v1/algorithms/logistic");
    assert_true(json_equal(at(a.json, "items.0"), one.json));
    assert_true(json_is_true(at(one.json, "needs_target")));
    size_t i;
    json_t *p;
    json_array_foreach(at(one.json, "parameters"), i, p) {
        assert_true(json_is_string(at(p, "name")) && json_is_string(at(p, "meaning")) &&
                    at(p, "default"));
        if (strcmp(text_at(p, "type"), "choice") == 0) {
            assert_true(json_array_size(at(p, "choices")) > 1);
        } else if (strcmp(text_at(p, "type"), "boolean") != 0) {
            assert_true(at(p, "minimum") && at(p, "maximum"));
        }
    }
    answer_done(&one);
    answer_done(&a);
    expect_problem(get(&d, "/v1/algorithms/oracle"), 404, "unknown-algorithm");
}

static void test_every_problem_is_explained(void **state) {
    (void)state;
    struct answer all = get(&d, "/problems");
    size_t i;
    json_t *p;
    assert_true(json_array_size(at(all.json, "items")) > 30);
    json_array_foreach(at(all.json, "items"), i, p) {
        struct answer one = get(&d, text_at(p, "type"));
        assert_int_equal(one.status, 200);
        assert_true(json_equal(p, one.json));
        answer_done(&one);
    }
    answer_done(&all);
    expect_problem(get(&d, "/problems/bad-luck"), 404, "unknown-problem");
}

/* ---- every route, as the document lists them ---- */

/* The path with its placeholders filled in by what is there. */
static void fill(const char *path, char out[256]) {
    static const struct {
        const char *placeholder, *value;
    } values[] = {{"/algorithms/{id}", "/algorithms/logistic"},
                  {"{dataset}", "iris"},
                  {"{model}", "iris"},
                  {"{version}", "1"},
                  {"{name}", "conflict"},
                  {"{id}", "1"},
                  {"{page}", "data"}};
    size_t n = 0;
    while (*path) {
        size_t i = 0;
        while (i < sizeof values / sizeof values[0] &&
               strncmp(path, values[i].placeholder, strlen(values[i].placeholder)) != 0) {
            i++;
        }
        if (i < sizeof values / sizeof values[0]) {
            n += (size_t)snprintf(out + n, 256 - n, "%s", values[i].value);
            path += strlen(values[i].placeholder);
        } else {
            out[n++] = *path++;
        }
    }
    out[n] = '\0';
    assert_null(strchr(out, '{'));
}

/* Calls fn for every operation of the document. */
static void each_operation(void (*fn)(const char *path, const char *method,
                                      const json_t *operation)) {
    struct answer a = get(&d, "/openapi.json");
    const char *path, *method;
    json_t *item, *operation;
    char filled[256];
    assert_true(json_object_size(at(a.json, "paths")) > 20);
    json_object_foreach(at(a.json, "paths"), path, item) {
        fill(path, filled);
        json_object_foreach(item, method, operation) {
            if (strcmp(method, "parameters") != 0) {
                fn(filled, method, operation);
            }
        }
    }
    answer_done(&a);
}

static void test_the_manual(void **state) {
    (void)state;
    struct answer index = get(&d, "/docs"), page = get(&d, "/docs/data");
    assert_int_equal(index.status, 200);
    assert_int_equal(page.status, 200);
    assert_string_equal(answer_header(&page, "Content-Type"), "text/html; charset=utf-8");
    assert_string_equal(answer_header(&page, "Content-Security-Policy"), "default-src 'self'");
    assert_non_null(answer_header(&page, "ETag"));
    assert_non_null(strstr(page.body, "<title>Data"));
    assert_non_null(strstr(page.body, "href=\"style.css\""));
    assert_non_null(strstr(index.body, "href=\"docs/style.css\""));
    answer_done(&index);
    answer_done(&page);
    page = get(&d, "/docs/style.css");
    assert_string_equal(answer_header(&page, "Content-Type"), "text/css; charset=utf-8");
    answer_done(&page);
    expect_problem(get(&d, "/docs/index"), 404, "not-found");
    expect_problem(get(&d, "/docs/none"), 404, "not-found");
}

static void head_as_get(const char *path, const char *method, const json_t *operation) {
    (void)operation;
    if (strcmp(method, "get") != 0) {
        return;
    }
    struct answer g = get(&d, path), h = ask(&d, "HEAD", path, NULL, NULL, 0);
    if (g.status != h.status || g.status >= 500) {
        fail_msg("%s: GET %ld, HEAD %ld", path, g.status, h.status);
    }
    assert_int_equal(h.size, 0);
    assert_string_equal(answer_header(&g, "Content-Type"), answer_header(&h, "Content-Type"));
    assert_string_equal(answer_header(&g, "X-Content-Type-Options"), "nosniff");
    assert_non_null(answer_header(&g, "X-Request-Id"));
    assert_non_null(answer_header(&g, "Cache-Control"));
    answer_done(&g);
    answer_done(&h);
}

static void test_head_is_get_without_a_body(void **state) {
    (void)state;
    each_operation(head_as_get);
}

static void with_unknown_query(const char *path, const char *method, const json_t *operation) {
    char query[300], verb[16];
    bool is_get = strcmp(method, "get") == 0,
         has_body = json_object_get(operation, "requestBody") != NULL;
    if (strncmp(path, "/v1/", 4) != 0 || (is_get && strstr(path, "/predict"))) {
        return; /* a probe may add what it likes; a prediction's parameters are features */
    }
    size_t n = 0;
    for (; method[n]; n++) {
        verb[n] = (char)(method[n] & ~0x20);
    }
    verb[n] = '\0';
    (void)snprintf(query, sizeof query, "%s?colour=blue", path);
    struct answer a = ask(&d, verb, query, NULL, has_body ? "{}" : NULL, has_body ? 2 : 0);
    assert_non_null(a.json);
    assert_non_null(strstr(text_at(a.json, "detail"), "colour"));
    expect_problem(a, 400, "bad-request");
}

static void test_a_query_that_is_not_known_is_refused(void **state) {
    (void)state;
    each_operation(with_unknown_query);
    expect_status(get(&d, "/v1/datasets/iris"), 200);
    expect_status(get(&d, "/v1/models/iris"), 200);
}

static void test_methods(void **state) {
    (void)state;
    struct answer a = ask(&d, "DELETE", "/v1/algorithms", NULL, NULL, 0);
    assert_non_null(strstr(answer_header(&a, "Allow"), "GET"));
    expect_problem(a, 405, "method-not-allowed");
    a = ask(&d, "OPTIONS", "/v1/datasets/iris", NULL, NULL, 0);
    assert_int_equal(a.status, 204);
    static const char *const methods[] = {"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < 6; i++) {
        assert_non_null(strstr(answer_header(&a, "Allow"), methods[i]));
    }
    answer_done(&a);
    expect_problem(ask(&d, "BREW", "/v1/datasets", NULL, NULL, 0), 501, "not-implemented");
    expect_problem(get(&d, "/v1/nowhere"), 404, "not-found");
    expect_problem(get(&d, "/v1/datasets/iris/"), 404, "not-found");
}

static void test_request_ids(void **state) {
    (void)state;
    struct answer a = get_with(&d, "/v1/models/nobody", "X-Request-Id: order-66");
    assert_string_equal(answer_header(&a, "X-Request-Id"), "order-66");
    assert_string_equal(text_at(a.json, "request_id"), "order-66");
    answer_done(&a);
    bool logged = false; /* the line is written when the answer has gone out */
    for (int i = 0; i < 500 && !logged; i++) {
        const char *log = daemon_log(&d);
        logged = strstr(log, "order-66") != NULL;
        usleep(10000);
    }
    assert_true(logged);
    struct answer b = get_with(&d, "/healthz", "X-Request-Id: a b\"c"); /* not sane: replaced */
    assert_string_not_equal(answer_header(&b, "X-Request-Id"), "a b\"c");
    answer_done(&b);
}

static void test_keep_alive(void **state) {
    (void)state;
    static const char request[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /version HTTP/1.1\r\nHost: "
        "localhost\r\n\r\n"
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char *text = bare_exchange(&d, request);
    size_t n = 0;
    for (const char *at_ = text; (at_ = strstr(at_, "HTTP/1.1 200")); at_++) {
        n++;
    }
    assert_int_equal(n, 3);
    free(text);
}

/* ---- another daemon ---- */

/* The type of every problem is a link below the base path: of answers, refused lines, failed jobs.
 */
static void links_have_the_base_path(struct daemon *other) {
    struct answer a = get(other, "/discern/v1/datasets/none");
    assert_string_equal(text_at(a.json, "type"), "/discern/problems/unknown-dataset");
    answer_done(&a);
    expect_status(get(other, "/discern/problems/unknown-dataset"), 200);
    a = get(other, "/discern/problems/unknown-dataset");
    assert_string_equal(text_at(a.json, "type"), "/discern/problems/unknown-dataset");
    answer_done(&a);
    a = send_typed(other, "POST", "/discern/v1/models/m/predict", "application/x-ndjson", "[1]\n");
    assert_non_null(strstr(a.body, "\"type\":\"/discern/problems/"));
    answer_done(&a);
    /* collinear columns: the training fails */
    expect_status(put_text(other, "/v1/datasets/one",
                           "x,z,y\n1,1,a\n2,2,a\n4,4,a\n3,3,b\n5,5,b\n9,9,b\n"),
                  201);
    a = send_text(
        other, "POST", "/v1/jobs",
        "{\"model\":\"n\",\"dataset\":\"one\",\"target\":\"y\",\"algorithm\":\"gaussian\"}");
    answer_done(&a);
    static const char *const paths[] = {"/v1/jobs/2?wait=30", "/v1/jobs?state=failed",
                                        "/v1/jobs/2/events"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        a = get(other, paths[i]);
        assert_non_null(strstr(a.body, "\"error\":{\"type\":\"/discern/problems/"));
        assert_null(strstr(a.body, "\"type\":\"/problems/"));
        answer_done(&a);
    }
}

static void test_base_path(void **state) {
    (void)state;
    static const char *const flags[] = {"--base-path", "/discern", NULL};
    struct daemon other;
    daemon_open(&other, flags);
    struct answer a = put_file(&other, "/discern/v1/datasets/iris", "iris.csv");
    assert_int_equal(a.status, 201);
    assert_string_equal(answer_header(&a, "Location"), "/discern/v1/datasets/iris?version=1");
    expect_status(get(&other, answer_header(&a, "Location")), 200);
    answer_done(&a);
    expect_status(get(&other, "/v1/datasets/iris"), 200); /* taken without it too */
    a = get(&other, "/discern/openapi.json");
    assert_string_equal(text_at(a.json, "servers.0.url"), "/discern");
    answer_done(&a);
    a = send_text(
        &other, "POST", "/v1/jobs",
        "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}");
    assert_string_equal(answer_header(&a, "Location"), "/discern/v1/jobs/1");
    answer_done(&a);
    a = get(&other, "/discern/v1/jobs/1?wait=30");
    assert_string_equal(text_at(a.json, "state"), "succeeded");
    answer_done(&a);
    links_have_the_base_path(&other);
    daemon_close(&other);
}

/* With a training under way, a wait and an event stream open: all end, the exit status is 0, the
 * job is queued again with its start given back. */
static void test_drain(void **state) {
    (void)state;
    static const char endless[] =
        "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\","
        "\"params\":{\"solver\":\"gradient_descent\","
        "\"learning_rate\":1e-9,\"tolerance\":1e-300,\"max_iterations\":1000000000}}";
    struct daemon other;
    bool closed;
    daemon_open(&other, NULL);
    upload(&other, "iris");
    expect_status(send_text(&other, "POST", "/v1/jobs", endless), 202);
    for (bool running = false; !running;) {
        struct answer a = get(&other, "/v1/jobs/1");
        running = strcmp(text_at(a.json, "state"), "running") == 0;
        answer_done(&a);
    }
    int waiting = bare_open(&other), following = bare_open(&other);
    bare_text(waiting, "GET /v1/jobs/1?wait=50 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    bare_text(following, "GET /v1/jobs/1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    static char begun[64 * 1024];
    bare_until(following, begun, sizeof begun, "event: state");
    assert_int_equal(bare_status(begun), 200);
    assert_int_equal(daemon_stop(&other), 0);
    char *text = bare_read(waiting, 10000, &closed);
    assert_true(closed);
    assert_int_equal(bare_status(text), 200);
    assert_non_null(strstr(text, "Connection: close"));
    free(text);
    text = bare_read(following, 10000, &closed);
    assert_true(closed);
    assert_non_null(strstr(text, "0\r\n\r\n"));
    free(text);
    close(waiting);
    close(following);
    daemon_start(&other);
    struct answer a = get(&other, "/v1/jobs/1");
    assert_in_range((int)number_at(a.json, "attempts"), 0,
                    1); /* perhaps started again by now: not twice */
    answer_done(&a);
    expect_status(ask(&other, "POST", "/v1/jobs/1/cancel", NULL, NULL, 0), 202);
    a = get(&other, "/v1/jobs/1?wait=50");
    assert_string_equal(text_at(a.json, "state"), "cancelled");
    answer_done(&a);
    daemon_close(&other);
}

/* Requests that would take for ever: an upload that does not go on, rows that are not read,
 * evaluations. The drain's time-out ends them all. */
static void test_drain_does_not_wait_for_ever(void **state) {
    (void)state;
    static const char *const flags[] = {
        "--drain-timeout", "1", "--idle-timeout", "3600", "--minimum-rate", "0", NULL};
    enum { N = 5, ROWS = 400000 };
    static const char *const requests[N] = {
        "PUT /v1/datasets/slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        "1000\r\n\r\na,b\n1,2\n",
        "POST /v1/models/iris/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
        "GET /v1/datasets/large/rows?limit=400000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /v1/models/large/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        "19\r\n\r\n{\"dataset\":\"large\"}",
        "POST /v1/models/large/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        "19\r\n\r\n{\"dataset\":\"large\"}"};
    static const char two[] = "12345,abcdefg,x\n54321,gfedcba,y\n";
    struct daemon other;
    int fds[N];
    bool closed;
    char *table = malloc(6 + ROWS / 2 * sizeof two);
    assert_non_null(table);
    memcpy(table, "a,b,c\n", 6);
    for (size_t i = 0; i < ROWS / 2; i++) {
        memcpy(table + 6 + i * (sizeof two - 1), two, sizeof two);
    }
    daemon_open(&other, flags);
    expect_status(put_text(&other, "/v1/datasets/large", table), 201);
    free(table);
    json_decref(train(
        &other,
        "{\"model\":\"large\",\"dataset\":\"large\",\"target\":\"c\",\"algorithm\":\"logistic\"}",
        "succeeded"));
    for (size_t i = 0; i < N; i++) {
        fds[i] = bare_open(&other);
        bare_text(fds[i], requests[i]);
    }
    expect_status(get(&other, "/readyz"), 200);
    assert_int_equal(daemon_stop(&other), 0);
    for (size_t i = 0; i < N; i++) {
        free(bare_read(fds[i], 10000, &closed));
        assert_true(closed);
        close(fds[i]);
    }
    daemon_close(&other); /* integrity_check */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alive_ready_version),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_the_document_and_the_catalogue),
        cmocka_unit_test(test_every_problem_is_explained),
        cmocka_unit_test(test_the_manual),
        cmocka_unit_test(test_head_is_get_without_a_body),
        cmocka_unit_test(test_a_query_that_is_not_known_is_refused),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_request_ids),
        cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_base_path),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_drain_does_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
