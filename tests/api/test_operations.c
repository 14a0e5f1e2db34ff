/* Health, metrics and the properties of all routes: methods, HEAD, OPTIONS, request ids,
 * keep-alive, the base path, drain. */
#include "lib/api.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    return 0;
}

static void test_alive_ready_version(void **state) {
    (void)state;
    const struct response *a = status_check(call_get("/healthz"), 200);
    assert_string_equal(string_at(a, "/status"), "ok");
    a = status_check(call_get("/readyz"), 200);
    assert_true(json_is_true(json_find(a->json, "/ready")));
    assert_string_equal(string_at(a, "/checks/database"), "ok");
    assert_string_equal(string_at(a, "/checks/workers"), "ok");
    assert_string_equal(string_at(a, "/checks/draining"), "no");
    a = call_get("/version");
    assert_string_equal(string_at(a, "/version"), DISCERN_VERSION);
    assert_true(real_at(a, "/uptime") >= 0);
}

static void test_metrics(void **state) {
    (void)state;
    const struct response *a = status_check(call_get("/metrics"), 200);
    assert_memory_equal(header_of(a, "Content-Type"), "text/plain; version=0.0.4", 25);
    assert_near(metric_at("discern_jobs{state=\"succeeded\"}"), 1, 0);
    assert_near(metric_at("discern_jobs{state=\"running\"}"), 0, 0);
    assert_near(metric_at("discern_store_queue{queue=\"bulk\"}"), 0, 0);
    assert_true(metric_at("discern_database_bytes") > 0);
    assert_near(metric_at("discern_build_info{version=\"" DISCERN_VERSION "\"}"), 1, 0);
    status_check(call_get("/v1/models/iris/weights"), 200);
    status_check(call_get("/v1/models/iris/weights"), 200);
    a = call_get("/metrics");
    assert_near(metric_at("discern_model_cache_models"), 1, 0);
    assert_true(metric_at("discern_model_cache_bytes") > 0);
    assert_true(metric_at("discern_model_cache_loads_total") >= 1);
}

static void test_the_document_and_the_catalogue(void **state) {
    (void)state;
    const struct response *a = status_check(call_get("/openapi.json"), 200);
    assert_string_equal(string_at(a, "/servers/0/url"), "/");
    a = call_get("/v1/algorithms");
    assert_string_equal(string_at(a, "/items/0/id"), "logistic");
    const struct response *one = call_get("/v1/algorithms/logistic");
    assert_true(json_equal(json_find(a->json, "/items/0"), one->json));
    assert_true(json_is_true(json_find(one->json, "/needs_target")));
    size_t i;
    json_t *p;
    json_array_foreach(json_find(one->json, "/parameters"), i, p) {
        assert_true(json_is_string(json_find(p, "/name")) &&
                    json_is_string(json_find(p, "/meaning")) && json_find(p, "/default"));
        if (strcmp(string_in(p, "/type"), "choice") == 0) {
            assert_true(json_array_size(json_find(p, "/choices")) > 1);
        } else if (strcmp(string_in(p, "/type"), "boolean") != 0) {
            assert_true(json_find(p, "/minimum") && json_find(p, "/maximum"));
        }
    }
    problem_check(call_get("/v1/algorithms/oracle"), 404, "unknown-algorithm");
}

static void test_every_problem_is_explained(void **state) {
    (void)state;
    const struct response *all = call_get("/problems");
    size_t i;
    json_t *p;
    assert_true(count_at(all, "/items") > 30);
    json_array_foreach(json_find(all->json, "/items"), i, p) {
        const struct response *one = status_check(call_get("%s", string_in(p, "/type")), 200);
        assert_true(json_equal(p, one->json));
    }
    problem_check(call_get("/problems/bad-luck"), 404, "unknown-problem");
}

/* ---- every route in the OpenAPI document ---- */

/* Returns the part of the paths of the page's files that is the digest of this release. */
static const char *page_digest(void) {
    const struct response *page = call_or_fail(
        &(struct request){.method = "GET", .path = "/", .headers = HEADERS("Accept: text/html")});
    const char *at = strstr(page->body, "href=\"ui/");
    assert_non_null(at);
    return text("%.16s", at + strlen("href=\"ui/"));
}

/* The path with its placeholders replaced by existing names. */
static void fill(const char *path, char out[256]) {
    const struct {
        const char *placeholder, *value;
    } values[] = {{"{digest}", page_digest()},
                  {"{folder}/{subfolder}/{file}", "views/data/data_view.js"},
                  {"{folder}/{file}", "base/api.js"},
                  {"{file}", "app.js"},
                  {"/algorithms/{algorithm}", "/algorithms/logistic"},
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

/* Calls fn for every operation of the OpenAPI document. */
static void each_operation(void (*fn)(const char *path, const char *method,
                                      const json_t *operation)) {
    const struct response *a = call_get("/openapi.json");
    const char *path, *method;
    json_t *item, *operation;
    char filled[256];
    assert_true(json_object_size(json_find(a->json, "/paths")) > 20);
    json_object_foreach(json_find(a->json, "/paths"), path, item) {
        fill(path, filled);
        json_object_foreach(item, method, operation) {
            if (strcmp(method, "parameters") != 0) {
                fn(filled, method, operation);
            }
        }
    }
}

static void test_the_manual(void **state) {
    (void)state;
    const struct response *index = call_get("/docs"), *page = call_get("/docs/data");
    status_check(index, 200);
    status_check(page, 200);
    assert_string_equal(header_of(page, "Content-Type"), "text/html; charset=utf-8");
    assert_string_equal(header_of(page, "Content-Security-Policy"), "default-src 'self'");
    assert_non_null(header_of(page, "ETag"));
    assert_non_null(strstr(page->body, "<title>Data"));
    assert_non_null(strstr(page->body, "href=\"style.css\""));
    assert_non_null(strstr(index->body, "href=\"docs/style.css\""));
    page = call_get("/docs/style.css");
    assert_string_equal(header_of(page, "Content-Type"), "text/css; charset=utf-8");
    problem_check(call_get("/docs/index"), 404, "not-found");
    problem_check(call_get("/docs/none"), 404, "not-found");
}

static void head_as_get(const char *path, const char *method, const json_t *operation) {
    (void)operation;
    if (strcmp(method, "get") != 0) {
        return;
    }
    const struct response *g = call_get("%s", path), *h = call_empty("HEAD", "%s", path);
    if (g->status != h->status || g->status >= 500) {
        fail_msg("%s: GET %d, HEAD %d", path, g->status, h->status);
    }
    assert_int_equal(h->size, 0);
    assert_string_equal(header_of(g, "Content-Type"), header_of(h, "Content-Type"));
    assert_string_equal(header_of(g, "X-Content-Type-Options"), "nosniff");
    assert_non_null(header_of(g, "X-Request-Id"));
    assert_non_null(header_of(g, "Cache-Control"));
}

static void test_head_is_get_without_a_body(void **state) {
    (void)state;
    each_operation(head_as_get);
}

static void with_unknown_query(const char *path, const char *method, const json_t *operation) {
    char verb[16];
    bool is_get = strcmp(method, "get") == 0,
         has_body = json_object_get(operation, "requestBody") != NULL;
    if (strncmp(path, "/v1/", 4) != 0 || (is_get && strstr(path, "/predict"))) {
        return; /* probes accept any parameter; the parameters of a prediction are features */
    }
    size_t n = 0;
    for (; method[n]; n++) {
        verb[n] = (char)(method[n] & ~0x20);
    }
    verb[n] = '\0';
    const char *query = text("%s?colour=blue", path);
    const struct response *a =
        call_bytes(verb, query, NULL, has_body ? "{}" : NULL, has_body ? 2 : 0);
    assert_non_null(a->json);
    assert_non_null(strstr(string_at(a, "/detail"), "colour"));
    problem_check(a, 400, "bad-request");
}

static void test_a_query_that_is_not_known_is_refused(void **state) {
    (void)state;
    each_operation(with_unknown_query);
    status_check(call_get("/v1/datasets/iris"), 200);
    status_check(call_get("/v1/models/iris"), 200);
}

static void test_methods(void **state) {
    (void)state;
    const struct response *a = call_delete("/v1/algorithms");
    assert_non_null(strstr(header_of(a, "Allow"), "GET"));
    problem_check(a, 405, "method-not-allowed");
    a = status_check(call_empty("OPTIONS", "/v1/datasets/iris"), 204);
    static const char *const methods[] = {"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < 6; i++) {
        assert_non_null(strstr(header_of(a, "Allow"), methods[i]));
    }
    problem_check(call_empty("BREW", "/v1/datasets"), 501, "not-implemented");
    problem_check(call_get("/v1/nowhere"), 404, "not-found");
    problem_check(call_get("/v1/datasets/iris/"), 404, "not-found");
}

static void test_request_ids(void **state) {
    (void)state;
    const struct response *a = call_get_with("X-Request-Id: order-66", "/v1/models/nobody");
    assert_string_equal(header_of(a, "X-Request-Id"), "order-66");
    assert_string_equal(string_at(a, "/request_id"), "order-66");
    bool logged = false; /* the line is written after the answer has been sent */
    for (int i = 0; i < 500 && !logged; i++) {
        const char *log = daemon_log(&the_daemon);
        logged = strstr(log, "order-66") != NULL;
        usleep(10000);
    }
    assert_true(logged);
    const struct response *b =
        call_get_with("X-Request-Id: a b\"c", "/healthz"); /* an invalid id is replaced */
    assert_string_not_equal(header_of(b, "X-Request-Id"), "a b\"c");
}

static void test_keep_alive(void **state) {
    (void)state;
    static const char request[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /version HTTP/1.1\r\nHost: "
        "localhost\r\n\r\n"
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd = raw_open();
    raw_send_text(fd, request);
    const char *got = "";
    for (size_t n = 0; n < 3; n++, got = strstr(got, "HTTP/1.1 200") + 1) {
        got = raw_until(fd, got, "HTTP/1.1 200");
    }
    close(fd);
}

/* ---- daemons with other flags ---- */

/* The type of each problem is a link below the base path: in answers, refused lines and failed
 * jobs. */
static void links_have_the_base_path(void) {
    const struct response *a = call_get("/discern/v1/datasets/none");
    assert_string_equal(string_at(a, "/type"), "/discern/problems/unknown-dataset");
    status_check(call_get("/discern/problems/unknown-dataset"), 200);
    a = call_get("/discern/problems/unknown-dataset");
    assert_string_equal(string_at(a, "/type"), "/discern/problems/unknown-dataset");
    a = call_text("POST", "/discern/v1/models/m/predict", "Content-Type: application/x-ndjson",
                  "[1]\n");
    assert_non_null(strstr(a->body, "\"type\":\"/discern/problems/"));
    /* collinear columns: the training fails */
    status_check(call_upload("/v1/datasets/one",
                             "x,z,y\n1,1,a\n2,2,a\n4,4,a\n3,3,b\n5,5,b\n9,9,b\n"),
                 201);
    a = call_json("POST", "/v1/jobs",
                  "{'model':'n','dataset':'one','target':'y','algorithm':'gaussian',"
                  "'params':{'shrinkage':0}}");
    static const char *const paths[] = {"/v1/jobs/2?wait=30", "/v1/jobs?state=failed",
                                        "/v1/jobs/2/events"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        a = call_get("%s", paths[i]);
        assert_non_null(strstr(a->body, "\"error\":{\"type\":\"/discern/problems/"));
        assert_null(strstr(a->body, "\"type\":\"/problems/"));
    }
}

static void test_base_path(void **state) {
    (void)state;
    service_start(FLAGS("--base-path", "/discern"));
    const struct response *a = status_check(call_upload("/discern/v1/datasets/iris",
                                                        read_whole("tests/data/iris.csv", NULL)),
                                            201);
    assert_string_equal(header_of(a, "Location"), "/discern/v1/datasets/iris?version=1");
    status_check(call_get("%s", header_of(a, "Location")), 200);
    /* paths without the base path are accepted too */
    status_check(call_get("/v1/datasets/iris"), 200);
    a = call_get("/discern/openapi.json");
    assert_string_equal(string_at(a, "/servers/0/url"), "/discern");
    a = call_json("POST", "/v1/jobs",
                  "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic'}");
    assert_string_equal(header_of(a, "Location"), "/discern/v1/jobs/1");
    a = call_get("/discern/v1/jobs/1?wait=30");
    assert_string_equal(string_at(a, "/state"), "succeeded");
    links_have_the_base_path();
}

/* Drain with a running training, a waiting call and an open event stream: all end, the exit status
 * is 0, the job is queued again and its attempt is not counted. */
static void test_drain(void **state) {
    (void)state;
    static const char endless[] =
        "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\","
        "\"params\":{\"solver\":\"gradient_descent\","
        "\"learning_rate\":1e-9,\"tolerance\":1e-300,\"max_iterations\":1000000000}}";
    service_start(NULL);
    upload_file("iris", "iris.csv");
    status_check(call_text("POST", "/v1/jobs", NULL, endless), 202);
    job_wait_state(1, "running");
    int waiting = raw_open(), following = raw_open();
    static const char wait[] = "GET /v1/jobs/1?wait=50 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                      follow[] = "GET /v1/jobs/1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    raw_send_text(waiting, wait);
    raw_send_text(following, follow);
    assert_memory_equal(raw_until(following, "", "event: state"), "HTTP/1.1 200", 12);
    service_stop();
    const struct response *end = status_check(raw_talk(waiting, "", 0, 10), 200);
    assert_true(end->closed);
    assert_string_equal(header_of(end, "Connection"), "close");
    end = raw_talk(following, "", 0, 10);
    assert_true(end->closed);
    assert_non_null(strstr(end->body, "0\r\n\r\n"));
    close(waiting);
    close(following);
    daemon_start(&the_daemon);
    const struct response *a = call_get("/v1/jobs/1");
    assert_in_range((int)real_at(a, "/attempts"), 0, 1); /* the job may have started again */
    status_check(call_empty("POST", "/v1/jobs/1/cancel"), 202);
    a = call_get("/v1/jobs/1?wait=50");
    assert_string_equal(string_at(a, "/state"), "cancelled");
}

/* Requests that would not end: an upload that stalls, rows that are not read, evaluations. The
 * drain's time-out ends all of them. */
static void test_drain_time_out(void **state) {
    (void)state;
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
    int fds[N];
    char *table = malloc(6 + ROWS / 2 * sizeof two);
    assert_non_null(table);
    memcpy(table, "a,b,c\n", 6);
    for (size_t i = 0; i < ROWS / 2; i++) {
        memcpy(table + 6 + i * (sizeof two - 1), two, sizeof two);
    }
    service_start(FLAGS("--drain-timeout", "1", "--idle-timeout", "3600", "--minimum-rate", "0"));
    status_check(call_upload("/v1/datasets/large", table), 201);
    free(table);
    job_train("{'model':'large','dataset':'large','target':'c','algorithm':'logistic'}");
    for (size_t i = 0; i < N; i++) {
        fds[i] = raw_open();
        raw_send_text(fds[i], requests[i]);
    }
    status_check(call_get("/readyz"), 200);
    service_stop();
    for (size_t i = 0; i < N; i++) {
        assert_true(raw_talk(fds[i], "", 0, 10)->closed);
        close(fds[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_alive_ready_version),
        TEST(test_metrics),
        TEST(test_the_document_and_the_catalogue),
        TEST(test_every_problem_is_explained),
        TEST(test_the_manual),
        TEST(test_head_is_get_without_a_body),
        TEST(test_a_query_that_is_not_known_is_refused),
        TEST(test_methods),
        TEST(test_request_ids),
        TEST(test_keep_alive),
    };
    const struct CMUnitTest alone[] = {
        TEST(test_base_path),
        TEST(test_drain),
        TEST(test_drain_time_out),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end) + RUN_WITHOUT_DAEMON(alone);
}
