/* Idempotency-Key: a request that is sent again makes nothing again and gets the first answer. */
#include "lib/api.h"
#include "lib/database.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}"
#define ROWS "5,4,3,2,setosa\n6,4,3,2,setosa\n"

static const struct response *post(const char *path, const char *key, const char *body) {
    return call_or_fail(
        &(struct request){.method = "POST", .path = path, .body = body, .headers = HEADERS(key)});
}

static int64_t rows(void) {
    return whole_at(status_check(call_get("/v1/datasets/iris"), 200), "/rows");
}

static int64_t jobs(void) {
    return (int64_t)json_array_size(
        value_at(status_check(call_get("/v1/jobs?limit=1000"), 200), "/items"));
}

/* The second answer is the first one again. */
static void repeated(const struct response *first, const struct response *second) {
    static const char *const same[] = {"Location", "ETag", "Content-Type"};
    status_check(second, first->status);
    assert_string_equal(second->body, first->body);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const char *of_first = text("%s", header_of(first, same[i]));
        assert_string_equal(header_of(second, same[i]), of_first);
    }
    assert_string_equal(header_of(second, "Idempotent-Replayed"), "true");
}

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    return 0;
}

static void test_jobs(void **state) {
    (void)state;
    const struct response *first = status_check(post("/v1/jobs", "Idempotency-Key: j1", JOB), 202);
    assert_null(strstr(first->head, "Idempotent-Replayed"));
    const int64_t id = whole_at(first, "/id"), n = jobs();
    job_wait(id);
    repeated(first, post("/v1/jobs", "Idempotency-Key: j1", JOB));
    repeated(first, post("/v1/jobs", "Idempotency-Key: \"j1\"", JOB)); /* RFC 8941 */
    problem_check(post("/v1/jobs", "Idempotency-Key: j1", JOB " "), 422, "idempotency-key-reused");
    problem_check(post("/v1/jobs?dry_run=true", "Idempotency-Key: j1", JOB), 422,
                  "idempotency-key-reused");
    problem_check(post("/v1/datasets/iris/rows", "Idempotency-Key: j1", JOB), 422,
                  "idempotency-key-reused");
    assert_int_equal(jobs(), n);
    /* the answer outlives what it is about, and the process */
    status_check(call_delete("/v1/jobs/%lld", (long long)id), 204);
    repeated(first, post("/v1/jobs", "Idempotency-Key: j1", JOB));
    service_stop();
    service_restart(NULL);
    repeated(first, post("/v1/jobs", "Idempotency-Key: j1", JOB));
    assert_int_equal(jobs(), n - 1);
    const struct response *other = status_check(post("/v1/jobs", "Idempotency-Key: j2", JOB), 202);
    assert_int_not_equal(whole_at(other, "/id"), id);
}

static void test_cancel(void **state) {
    (void)state;
    upload_file("digits", "digits.csv");
    const int64_t id = job_endless("endless");
    const char *path = text("/v1/jobs/%lld/cancel", (long long)id);
    const struct response *first = status_check(post(path, "Idempotency-Key: c1", NULL), 202);
    job_wait(id);
    repeated(first, post(path, "Idempotency-Key: c1", NULL));
    problem_check(post(path, "Idempotency-Key: c2", NULL), 409, "conflict");
    problem_check(post("/v1/jobs/1/cancel", "Idempotency-Key: c1", NULL), 422,
                  "idempotency-key-reused");
}

/* What is refused is not kept: the corrected request may have the same key. */
static void test_refusals_are_not_kept(void **state) {
    (void)state;
    const int64_t n = jobs(), before = rows();
    problem_check(post("/v1/jobs", "Idempotency-Key: r1", "{\"model\":\"m\"}"), 422, "invalid");
    status_check(post("/v1/jobs?dry_run=true", "Idempotency-Key: r1", JOB), 200);
    status_check(post("/v1/jobs", "Idempotency-Key: r1", JOB), 202);
    assert_int_equal(jobs(), n + 1);
    problem_check(post("/v1/datasets/iris/rows", "Idempotency-Key: r2", "x,y\n"), 422,
                  "invalid-dataset");
    problem_check(post("/v1/datasets/none/rows", "Idempotency-Key: r2", ROWS), 404,
                  "unknown-dataset");
    status_check(post("/v1/datasets/iris/rows", "Idempotency-Key: r2", ROWS), 201);
    assert_int_equal(rows(), before + 2);
}

static void test_appends(void **state) {
    (void)state;
    const int64_t before = rows();
    const char *tag = text("If-Match: %s", header_of(call_get("/v1/datasets/iris"), "ETag"));
    const char *const headers[] = {"Idempotency-Key: a1", tag, NULL};
    const struct request request = {.method = "POST",
                                    .path = "/v1/datasets/iris/rows",
                                    .body = ROWS,
                                    .headers = headers};
    const struct response *first = status_check(call_or_fail(&request), 201);
    /* the repetition is answered although the tag has changed */
    repeated(first, call_or_fail(&request));
    struct request chunked = request;
    chunked.upload = chunked.chunked = true;
    repeated(first, call_or_fail(&chunked));
    assert_int_equal(rows(), before + 2);
    problem_check(post("/v1/datasets/iris/rows", "Idempotency-Key: a1", ROWS ROWS), 422,
                  "idempotency-key-reused");
    problem_check(post("/v1/datasets/iris/rows", "Idempotency-Key: a1", ""), 422,
                  "idempotency-key-reused");
    problem_check(post("/v1/datasets/iris/rows?header=false", "Idempotency-Key: a1", ROWS), 422,
                  "idempotency-key-reused");
    problem_check(post("/v1/datasets/other/rows", "Idempotency-Key: a1", ROWS), 422,
                  "idempotency-key-reused");
    assert_int_equal(rows(), before + 2);
}

static void test_keys(void **state) {
    (void)state;
    char longest[300] = "Idempotency-Key: ";
    memset(longest + strlen(longest), 'k', 256);
    static const char *const bad[] = {"Idempotency-Key;",          "Idempotency-Key: \"\"",
                                      "Idempotency-Key: \"open",   "Idempotency-Key: \"a\"b\"",
                                      "Idempotency-Key: \"a\\b\"", "Idempotency-Key: \"a\\\"",
                                      "Idempotency-Key: \xc3\xa4", "Idempotency-Key: \"a\";x=1"};
    const int64_t n = jobs();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem_check(post("/v1/jobs", bad[i], JOB), 400, "bad-request");
    }
    problem_check(post("/v1/jobs", longest, JOB), 400, "bad-request");
    problem_check(call_or_fail(&(struct request){.method = "POST",
                                                 .path = "/v1/jobs",
                                                 .body = JOB,
                                                 .headers = HEADERS("Idempotency-Key: a",
                                                                    "Idempotency-Key: b")}),
                  400, "bad-request");
    assert_int_equal(jobs(), n);
    longest[strlen(longest) - 1] = '\0';
    status_check(post("/v1/jobs", longest, JOB), 202);
    status_check(post("/v1/jobs", "Idempotency-Key: \"a \\\"b\\\" \\\\ ~\"", JOB), 202);
}

/* Calls that change something and take no key refuse it. Calls that change nothing ignore it. */
static void test_other_calls(void **state) {
    (void)state;
    static const struct {
        const char *method, *path, *body;
        int status;
    } calls[] = {
        {"PUT", "/v1/datasets/iris", "a,b\n1,x\n", 400},
        {"PATCH", "/v1/datasets/iris", "{\"description\":\"x\"}", 400},
        {"DELETE", "/v1/datasets/iris", NULL, 400},
        {"PUT", "/v1/models/m/live", "{\"version\":1}", 400},
        {"DELETE", "/v1/jobs/1", NULL, 400},
        {"POST", "/v1/datasets:preview", "a,b\n1,x\n2,y\n", 200},
        {"GET", "/v1/datasets/iris", NULL, 200},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct request r = {.method = calls[i].method,
                                  .path = calls[i].path,
                                  .body = calls[i].body,
                                  .headers = HEADERS("Idempotency-Key: o1")};
        status_check(call_or_fail(&r), calls[i].status);
    }
}

/* ---- at the same time ---- */

static void test_in_progress(void **state) {
    (void)state;
    const int64_t before = rows();
    const int fd = raw_open();
    assert_true(raw_send_text(fd, text("POST /v1/datasets/iris/rows HTTP/1.1\r\nHost: localhost\r\n"
                                       "Idempotency-Key: p1\r\nExpect: 100-continue\r\n"
                                       "Content-Length: %zu\r\n\r\n",
                                       strlen(ROWS))));
    raw_until(fd, "", "100 Continue");
    const struct response *r = post("/v1/datasets/iris/rows", "Idempotency-Key: p1", ROWS);
    problem_check(r, 409, "idempotency-key-in-use");
    problem_check(post("/v1/jobs", "Idempotency-Key: p1", JOB), 409, "idempotency-key-in-use");
    status_check(post("/v1/datasets/iris/rows", "Idempotency-Key: p2", ROWS), 201);
    assert_true(raw_send_text(fd, ROWS));
    raw_until(fd, "", "201 Created");
    close(fd);
    r = status_check(post("/v1/datasets/iris/rows", "Idempotency-Key: p1", ROWS), 201);
    assert_string_equal(header_of(r, "Idempotent-Replayed"), "true");
    assert_int_equal(rows(), before + 4);

    /* a client that leaves gives its key up */
    const int lost = raw_open();
    assert_true(raw_send_text(lost, "POST /v1/datasets/iris/rows HTTP/1.1\r\nHost: localhost\r\n"
                                    "Idempotency-Key: p3\r\nContent-Length: 100\r\n\r\n5,4"));
    close(lost);
    for (const double end = now() + 30;;) {
        r = post("/v1/datasets/iris/rows", "Idempotency-Key: p3", ROWS);
        if (r->status == 201) {
            break;
        }
        assert_int_equal(r->status, 409);
        assert_true(now() < end);
        pause_ms(20);
    }
    assert_int_equal(rows(), before + 6);
}

enum { RACERS = 8 };

static void *race(void *out) {
    *(const struct response **)out = post("/v1/jobs", "Idempotency-Key: race", JOB);
    return NULL;
}

static void test_one_of_several(void **state) {
    (void)state;
    pthread_t threads[RACERS];
    const struct response *r[RACERS];
    const int64_t n = jobs();
    int64_t id = 0;
    for (size_t i = 0; i < RACERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, race, &r[i]), 0);
    }
    for (size_t i = 0; i < RACERS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < RACERS; i++) {
        assert_true(r[i]->status == 202 || r[i]->status == 409);
        if (r[i]->status == 202) {
            assert_true(id == 0 || id == whole_at(r[i], "/id"));
            id = whole_at(r[i], "/id");
        }
    }
    assert_true(id > 0);
    assert_int_equal(jobs(), n + 1);
}

/* ---- crashes, owners, the limit ---- */

/* The daemon is killed while keyed requests run. Each is sent again, and has made one thing. */
static void *append_some(void *arg) {
    for (int i = 0; i < 20; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "Idempotency-Key: %s-%d", (const char *)arg, i);
        (void)call(&(struct request){.method = "POST",
                                     .path = "/v1/datasets/iris/rows",
                                     .body = ROWS,
                                     .headers = HEADERS(key)});
    }
    return NULL;
}

static void test_crashes(void **state) {
    (void)state;
    for (int round = 0; round < 3; round++) {
        const char *name = text("crash-%d", round);
        const int64_t before = rows();
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, append_some, (void *)(uintptr_t)name), 0);
        pause_ms(15 + 25 * round);
        daemon_kill(&the_daemon);
        pthread_join(thread, NULL);
        daemon_start(&the_daemon);
        for (int i = 0; i < 20; i++) {
            status_check(post("/v1/datasets/iris/rows", text("Idempotency-Key: %s-%d", name, i),
                              ROWS),
                         201);
        }
        assert_int_equal(rows(), before + 40);
    }
}

static void test_damage(void **state) {
    (void)state;
    status_check(post("/v1/jobs", "Idempotency-Key: d1", JOB), 202);
    const struct response *first = status_check(post("/v1/jobs", "Idempotency-Key: d2", JOB), 202);
    assert_int_equal(database_damage("UPDATE idempotency_keys SET created_at = 1 WHERE key = 'd1'"),
                     1);
    const struct response *r =
        problem_check(post("/v1/jobs", "Idempotency-Key: d1", JOB), 500, "internal");
    assert_non_null(strstr(string_at(r, "/detail"), "idempotency_keys, row "));
    repeated(first, post("/v1/jobs", "Idempotency-Key: d2", JOB));
}

/* Makes a key as old as 24 hours and a second. The checksum is that of the changed row. Returns
 * false if there is no such key. */
static bool age(const char *key) {
    return database_damage("UPDATE idempotency_keys SET created_at = created_at - 86401000 WHERE "
                           "key = '%s'",
                           key) == 1 &&
           database_damage("UPDATE idempotency_keys SET crc = row_crc(id, owner, key, created_at, "
                           "request, body, status, location, etag, bytes, answer) WHERE key = '%s'",
                           key) == 1;
}

static void test_expiry(void **state) {
    (void)state;
    const struct response *r = status_check(post("/v1/jobs", "Idempotency-Key: e1", JOB), 202);
    const int64_t id = whole_at(r, "/id");
    status_check(post("/v1/jobs", "Idempotency-Key: e2", JOB), 202);
    service_stop();
    assert_true(age("e1"));
    assert_true(age("e2"));
    service_restart(NULL);
    r = status_check(post("/v1/jobs", "Idempotency-Key: e1", JOB), 202);
    assert_int_not_equal(whole_at(r, "/id"), id);
    /* the sweep deletes it */
    for (const double end = now() + 60; age("e2");) {
        assert_true(now() < end);
        pause_ms(100);
    }
}

static void test_limit(void **state) {
    (void)state;
    service_start(FLAGS("--idempotency-keys", "2"));
    upload_file("iris", "iris.csv");
    const struct response *first = status_check(post("/v1/jobs", "Idempotency-Key: 1", JOB), 202);
    status_check(post("/v1/datasets/iris/rows", "Idempotency-Key: 2", ROWS), 201);
    const struct response *r =
        problem_check(post("/v1/jobs", "Idempotency-Key: 3", JOB), 429, "too-many-requests");
    const int64_t retry = atoll(header_of(r, "Retry-After"));
    assert_true(retry > 80000 && retry <= 86401);
    problem_check(post("/v1/datasets/iris/rows", "Idempotency-Key: 3", ROWS), 429,
                  "too-many-requests");
    repeated(first, post("/v1/jobs", "Idempotency-Key: 1", JOB));
    status_check(call_text("POST", "/v1/jobs", NULL, JOB), 202);
    assert_int_equal(jobs(), 2);
    assert_int_equal(rows(), 152);
}

static const char *token_make(const char *file, const char *name) {
    const char *out;
    const char *const arguments[] = {"token",    "add", name, "--scope", "write,train,read",
                                     "--tokens", file,  NULL};
    if (discernd_run(arguments, &out) != 0) {
        fail_msg("%s", out);
    }
    return text("%.72s", out);
}

static void test_tokens(void **state) {
    (void)state;
    char dir[] = "/tmp/discern-keys.XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *file = text("%s/tokens", dir);
    const char *one = token_make(file, "one"), *two = token_make(file, "two");
    service_start(FLAGS("--tokens", file));
    client_token = one;
    upload_file("iris", "iris.csv");
    const struct response *first = status_check(post("/v1/jobs", "Idempotency-Key: t", JOB), 202);
    client_token = two;
    const struct response *r = status_check(post("/v1/jobs", "Idempotency-Key: t", JOB), 202);
    assert_int_not_equal(whole_at(r, "/id"), whole_at(first, "/id"));
    assert_string_equal(string_at(r, "/submitted_by"), "two");
    client_token = one;
    repeated(first, post("/v1/jobs", "Idempotency-Key: t", JOB));
    client_token = NULL;
    service_end();
    (void)unlink(file);
    (void)unlink(text("%s.lock", file));
    (void)rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_jobs),        TEST(test_cancel),         TEST(test_refusals_are_not_kept),
        TEST(test_appends),     TEST(test_keys),           TEST(test_other_calls),
        TEST(test_in_progress), TEST(test_one_of_several), TEST(test_crashes),
        TEST(test_damage),      TEST(test_expiry),         TEST(test_limit),
        TEST(test_tokens)};
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
