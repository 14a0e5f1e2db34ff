/* Limits of tokens: requests, rows, heavy calls, jobs, stored bytes; GET /v1/limits. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static char file[80];

#define token_add(...)                                                                             \
    token_made((const char *const[]){"token", "add", __VA_ARGS__, "--tokens", file, NULL})
static const char *token_made(const char *const *arguments) {
    const char *out;
    assert_int_equal(discernd_run(arguments, &out), 0);
    return text("%.72s", out);
}

static int open_dir(void **state) {
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/discern-limits.XXXXXX");
    if (mkdtemp(dir) == NULL) {
        return -1;
    }
    (void)snprintf(file, sizeof file, "%s/tokens", dir);
    return 0;
}

static int close_dir(void **state) {
    client_token = NULL;
    const int bad = group_end(state);
    unlink(file);
    return rmdir(dir) != 0 ? -1 : bad;
}

static int forget(void **state) {
    client_token = NULL;
    unlink(file);
    return test_end(state);
}

static void refused(const struct response *a, int seconds) {
    problem_check(a, 429, "too-many-requests");
    assert_non_null(header_of(a, "Retry-After"));
    assert_true(atoi(header_of(a, "Retry-After")) >= seconds);
}

static const char iris_rows[] = "{\"instances\":[[5.1,3.5,1.4,0.2],[6.3,3.3,6.0,2.5]]}";

static void test_requests_and_rows(void **state) {
    (void)state;
    const char *all = token_add("all", "--scope", "admin");
    const char *slow = token_add("slow", "--scope", "admin", "--rate", "1");
    const char *rows = token_add("rows", "--scope", "admin", "--rows", "1/s");
    service_start(FLAGS("--tokens", file));
    client_token = all;
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    client_token = slow;
    int n = 0;
    const struct response *a = call_get("/version");
    for (; a->status == 200 && n < 10000; n++) { /* two in a row are faster than one in a second */
        a = call_get("/version");
    }
    refused(a, 1);
    client_token = all;
    for (int i = 0; i < 20; i++) {
        status_check(call_get("/version"), 200);
    }
    /* 150 rows at once: answered, then about 149 s without rows */
    client_token = rows;
    status_check(call_post("/v1/models/iris/evaluate", "{'dataset':'iris'}"), 200);
    a = call_text("POST", "/v1/models/iris/predict", NULL, iris_rows);
    refused(a, 100);
    refused(call_upload("/v1/datasets/b", "a,b\n1,2\n"), 100);
    status_check(call_get("/v1/datasets/iris"), 200);
    status_check(call_get("/v1/models/iris/schema"), 200);
    client_token = all;
    status_check(call_text("POST", "/v1/models/iris/predict", NULL, iris_rows), 200);
}

/* The rows of each kind of call count. */
static void test_rows_of_each_call(void **state) {
    (void)state;
    static const struct {
        const char *path, *type, *body;
    } calls[] = {
        {"/v1/models/iris/predict", NULL, iris_rows},
        {"/v1/models/iris/transform?of=scores", NULL, iris_rows},
        {"/v1/models/iris/predict", "Content-Type: application/x-ndjson",
         "[5.1,3.5,1.4,0.2]\n[5.1,3.5,1.4,0.2]\n[5.1,3.5,1.4,0.2]\n"},
        {"/v1/models/iris/predict", NULL, "{\"dataset\":\"iris\"}"},
        {"/v1/datasets/iris/rows", "Content-Type: text/csv",
         "sepal_length,sepal_width,petal_length,petal_width,class\n"
         "5.1,3.5,1.4,0.2,setosa\n5.1,3.5,1.4,0.2,setosa\n"},
    };
    enum { N = sizeof calls / sizeof calls[0] };
    const char *secrets[N];
    const char *all = token_add("all", "--scope", "admin");
    for (size_t i = 0; i < N; i++) {
        secrets[i] = token_add(text("t%zu", i), "--scope", "admin", "--rows", "1");
    }
    service_start(FLAGS("--tokens", file));
    client_token = all;
    const char *head = read_whole("tests/data/iris.csv", NULL);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    for (size_t i = 0; i < N; i++) {
        const char *body = calls[i].body;
        if (strstr(calls[i].path, "/rows") != NULL) { /* with the header of the dataset */
            body = text("%.*s\n5.1,3.5,1.4,0.2,setosa\n5.1,3.5,1.4,0.2,setosa\n",
                        (int)strcspn(head, "\r\n"), head);
        }
        client_token = secrets[i];
        const struct response *a = call_text("POST", calls[i].path, calls[i].type, body);
        if (a->status != 200 && a->status != 201) {
            answer_fail(a, __FILE__, __LINE__, "call %zu", i);
        }
        refused(call_text("POST", "/v1/models/iris/predict", NULL, iris_rows), 1);
    }
}

/* Rows count before the body has ended: a client may leave before. */
static void test_rows_of_an_open_body(void **state) {
    (void)state;
    const char *all = token_add("all", "--scope", "admin");
    const char *rows = token_add("rows", "--scope", "admin", "--rows", "100");
    service_start(FLAGS("--tokens", file));
    client_token = all;
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    const int fd = raw_open();
    assert_true(
        raw_send_text(fd, text("POST /v1/models/iris/predict HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Type: application/x-ndjson\r\n"
                               "Authorization: Bearer %s\r\nContent-Length: 1000000\r\n\r\n",
                               rows)));
    assert_true(raw_send_text(fd, repeat("[5.1,3.5,1.4,0.2]\n", 50000)));
    client_token = rows;
    const struct response *a = NULL;
    for (double until = now() + 60; now() < until && (a == NULL || a->status == 200);) {
        usleep(50000); /* 40 rows in a second */
        a = call_text("POST", "/v1/models/iris/predict", NULL, iris_rows);
    }
    refused(a, 2);
    close(fd);
}

/* ---- rows of calls without a result ---- */

/* Checks that the token, of one row in a second, has used `rows` rows since `began`: they fill again
 * while the test runs. On a slow machine, all of a few rows may have done so. */
static void used_check(const char *token, int64_t rows, double began) {
    client_token = token;
    const struct response *a = call_text("POST", "/v1/models/iris/predict", NULL, iris_rows);
    if (a->status == 200 && now() - began >= (double)rows) {
        return;
    }
    if (a->status != 429) {
        answer_fail(a, __FILE__, __LINE__, "no rows were charged, expected %lld", (long long)rows);
    }
    const double wait = atof(header_of(a, "Retry-After"));
    if (wait > (double)rows || wait < (double)rows - (now() - began) - 1) {
        answer_fail(a, __FILE__, __LINE__, "Retry-After: %g, expected %lld rows", wait,
                    (long long)rows);
    }
}

static void test_rows_of_refused_calls(void **state) {
    (void)state;
    enum { N = 9, ROWS = 20000 };
    const char *secrets[N], *all = token_add("all", "--scope", "admin");
    int n = 0;
    for (size_t i = 0; i < N; i++) {
        secrets[i] = token_add(text("t%zu", i), "--scope", "admin", "--rows", "1");
    }
    service_start(FLAGS("--tokens", file));
    client_token = all;
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'svm','params':"
              "{'kernel':'rbf'}}");
    const char *rows = repeat("5.1,3.5,1.4,0.2\n", ROWS),
               *json = repeat("[5.1,3.5,1.4,0.2],", ROWS);

    double began = now(); /* the last row of a CSV body is bad */
    client_token = secrets[n];
    status_check(call_text("POST", "/v1/models/iris/predict", "Content-Type: text/csv",
                           text("%s5.1,a,1.4,0.2\n", rows)),
                 422);
    used_check(secrets[n++], ROWS + 1, began);

    began = now(); /* the first row of a JSON body is bad */
    client_token = secrets[n];
    status_check(call_text("POST", "/v1/models/iris/predict", "Content-Type: application/json",
                           text("[[\"a\",3.5,1.4,0.2],%s[5.1,3.5,1.4,0.2]]", json)),
                 422);
    used_check(secrets[n++], ROWS + 2, began);

    began = now(); /* a call that begins on an I/O thread and goes on on another */
    client_token = secrets[n];
    status_check(call_text("POST", "/v1/models/iris/predict", "Content-Type: application/json",
                           text("[%.*s[5.1,3.5,1.4,0.2]]", 18 * 10000, json)),
                 200);
    used_check(secrets[n++], 10001, began);

    began = now();
    client_token = secrets[n];
    status_check(call_text("POST", "/v1/models/iris/evaluate", "Content-Type: text/csv",
                           text("%s5.1,3.5,1.4,0.2,c\n", repeat("5.1,3.5,1.4,0.2,\n", ROWS))),
                 422);
    used_check(secrets[n++], ROWS + 1, began);

    began = now();
    client_token = secrets[n];
    status_check(call_get("/v1/models/iris/predict?sepal_length=a"), 422);
    used_check(secrets[n++], 1, began);

    began = now(); /* base, 4 inputs in 5 repeats */
    client_token = secrets[n];
    status_check(call_post("/v1/models/iris/importance", "{'dataset':'iris','repeats':5}"), 200);
    used_check(secrets[n++], (1 + 4 * 5) * 150, began);

    began = now();
    client_token = secrets[n];
    status_check(call_text("POST", "/v1/datasets:preview?rows=1", "Content-Type: text/csv",
                           text("a,b,c,d\n%s", rows)),
                 200);
    used_check(secrets[n++], ROWS, began);

    began = now(); /* an upload with a bad row */
    client_token = secrets[n];
    status_check(call_upload("/v1/datasets/x", text("a,b,c,d\n%s1,2,3\n%s", rows, rows)), 422);
    used_check(secrets[n++], 2 * ROWS + 1, began);

    began = now(); /* and one whose client leaves */
    const int fd = raw_open();
    assert_true(raw_send_text(fd, text("PUT /v1/datasets/x HTTP/1.1\r\nHost: localhost\r\n"
                                       "Authorization: Bearer %s\r\n"
                                       "Expect: 100-continue\r\n"
                                       "Content-Length: 100000000\r\n\r\n",
                                       secrets[n])));
    assert_non_null(raw_until(fd, "", "100 Continue")); /* before calls that use rows too */
    /* the daemon may gather 256 KiB that it reads when more bytes arrive */
    assert_true(raw_send_text(fd, text("a,b,c,d\n%s%s%s", rows, rows, rows)));
    client_token = secrets[n];
    const struct response *a = NULL;
    int seconds = 0;
    for (const double until = now() + 60; now() < until && seconds < ROWS / 2;) {
        pause_ms(50);
        a = call_text("POST", "/v1/models/iris/predict", NULL, iris_rows);
        seconds = a->status == 429 ? atoi(header_of(a, "Retry-After")) : 0;
    }
    refused(a, ROWS / 2);
    close(fd);
    n++;
    assert_int_equal(n, N);
}

static void test_jobs(void **state) {
    (void)state;
    const char *all = token_add("all", "--scope", "admin");
    const char *two = token_add("two", "--scope", "train", "--jobs", "2");
    service_start(FLAGS("--tokens", file));
    client_token = all;
    upload_file("digits", "digits.csv");
    const int64_t other = job_endless("other");
    client_token = two;
    const int64_t a = job_endless("a"), b = job_endless("b");
    refused(call_post("/v1/jobs",
                      "{'model':'c','dataset':'digits','target':'class','algorithm':'logistic'}"),
            1);
    const struct response *r = status_check(call_get("/v1/limits"), 200);
    assert_int_equal(whole_at(r, "/token/limits/jobs"), 2);
    assert_int_equal(whole_at(r, "/token/use/jobs"), 2);
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)a), 202);
    job_wait(a);
    const int64_t c = job_endless("c");
    client_token = all;
    const int64_t ids[] = {other, b, c};
    for (size_t i = 0; i < 3; i++) {
        status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)ids[i]), 202);
    }
}

/* Jobs that are queued together do not store more models than the token may have. */
static void test_bytes_of_models(void **state) {
    (void)state;
    enum { JOBS = 5 };
    const char *all = token_add("all", "--scope", "admin");
    const char *few = token_add("few", "--scope", "admin", "--bytes", "16K");
    service_start(FLAGS("--tokens", file, "--workers", "1"));
    client_token = all;
    upload_file("digits", "digits.csv");
    const int64_t endless = job_endless("endless");
    client_token = few;
    int64_t ids[JOBS];
    for (int i = 0; i < JOBS; i++) {
        ids[i] = whole_at(status_check(call_post("/v1/jobs",
                                                 "{'model':'m%d','dataset':'digits','target':"
                                                 "'class','algorithm':'logistic'}",
                                                 i),
                                       202),
                          "/id");
    }
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)endless), 202);
    int n_failed = 0;
    for (int i = 0; i < JOBS; i++) {
        const struct response *job = job_wait(ids[i]);
        if (strcmp(string_at(job, "/state"), "failed") == 0) {
            n_failed++;
            assert_string_equal(string_at(job, "/error/type"), "/problems/quota-exceeded");
            assert_non_null(strstr(string_at(job, "/error/detail"), "may store 16384"));
            problem_check(call_get("/v1/models/m%d", i), 404, "unknown-model");
        } else {
            assert_string_equal(string_at(job, "/state"), "succeeded");
        }
    }
    assert_in_range(n_failed, 1, JOBS - 1);
    assert_true(whole_at(call_get("/v1/limits"), "/token/use/stored_bytes") <= 16384);
}

static void test_bytes(void **state) {
    (void)state;
    const char *all = token_add("all", "--scope", "admin");
    const char *few = token_add("few", "--scope", "admin", "--bytes", "8K");
    service_start(FLAGS("--tokens", file));
    client_token = few;
    struct response const *r = status_check(call_get("/v1/limits"), 200);
    assert_int_equal(whole_at(r, "/token/use/stored_bytes"), 0);
    upload_file("iris", "iris.csv");
    r = call_get("/v1/limits");
    const int64_t first = whole_at(r, "/token/use/stored_bytes");
    assert_true(first > 0 && first < 8192);
    const struct response *a = NULL;
    int n = 0;
    for (; n < 100; n++) { /* other tables, until the quota is used up */
        a = call_upload(text("/v1/datasets/d%d", n),
                        text("a,b\n%d,x\n%s", n, repeat("1,y\n", 200)));
        if (a->status != 201) {
            break;
        }
    }
    problem_check(a, 507, "quota-exceeded");
    problem_check(call_get("/v1/datasets/d%d", n), 404, "unknown-dataset");
    /* a table that alone is too large is refused while it is read */
    char *wide = malloc(2000000);
    size_t size = (size_t)snprintf(wide, 2000000, "a,b\n");
    for (int i = 0; size < 1900000; i++) {
        size += (size_t)snprintf(wide + size, 2000000 - size, "%d.%d,v%d\n", i * 7919, i, i);
    }
    problem_check(call_upload("/v1/datasets/wide", wide), 507, "quota-exceeded");
    free(wide);
    client_token = all;
    status_check(call_upload("/v1/datasets/more", "a,b\n1,2\n3,4\n"), 201);
    client_token = few;
    status_check(call_delete("/v1/datasets/iris"), 204);
    status_check(call_upload(text("/v1/datasets/d%d", n), "a,b\n1,2\n3,4\n"), 201);
    /* rows that are appended to a dataset of another token count alone */
    client_token = all;
    upload_file("big", "digits.csv");
    client_token = few;
    const char *line = read_whole("tests/data/digits.csv", NULL);
    line += strcspn(line, "\n") + 1;
    a = call_text("POST", "/v1/datasets/big/rows?header=false", "Content-Type: text/csv",
                  text("%.*s\n", (int)strcspn(line, "\r\n"), line));
    status_check(a, 201);
}

static void test_without_tokens(void **state) {
    (void)state;
    service_start(FLAGS("--max-upload", "5M", "--job-seconds", "90", "--max-queued-jobs", "7"));
    const struct response *a = status_check(call_get("/v1/limits"), 200);
    assert_true(json_is_null(value_at(a, "/token")));
    assert_int_equal(whole_at(a, "/server/upload_bytes"), 5 << 20);
    assert_int_equal(whole_at(a, "/server/queued_jobs"), 7);
    assert_near(real_at(a, "/server/job_seconds"), 90, 0);
    assert_int_equal(whole_at(a, "/server/body_bytes"), 64 << 20);
}

/* A call counts as heavy until its answer was sent. */
static void test_heavy_calls(void **state) {
    (void)state;
    const char *one =
        token_add("one", "--scope", "admin", "--calls", "1", "--only", "*", "--expires", "12h");
    service_start(FLAGS("--tokens", file));
    client_token = one;
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    const int fd = raw_open(); /* an upload that does not end */
    assert_true(fd >= 0);
    assert_true(
        raw_send_text(fd, text("PUT /v1/datasets/slow HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer %s\r\nContent-Length: 100\r\n\r\na,b\n",
                               one)));
    const double end = now() + 30;
    while (whole_at(status_check(call_get("/v1/limits"), 200), "/token/use/heavy_calls") != 1) {
        assert_true(now() < end);
        pause_ms(20);
    }
    refused(call_upload("/v1/datasets/b", "a,b\n1,2\n"), 1);
    refused(call_post("/v1/models/iris/evaluate", "{'dataset':'iris'}"), 1);
    refused(call_post("/v1/models/iris/predict", "{'dataset':'iris'}"), 1);
    status_check(call_text("POST", "/v1/models/iris/predict", NULL, iris_rows), 200);
    close(fd);
    while (whole_at(status_check(call_get("/v1/limits"), 200), "/token/use/heavy_calls") != 0) {
        assert_true(now() < end);
        pause_ms(20);
    }
    status_check(call_post("/v1/models/iris/evaluate", "{'dataset':'iris'}"), 200);
    const struct response *a = call_get("/v1/limits");
    assert_string_equal(string_at(a, "/token/name"), "one");
    assert_string_equal(string_at(a, "/token/only/0"), "*");
    assert_int_equal(count_at(a, "/token/scopes"), 5);
    assert_true(json_is_null(value_at(a, "/token/limits/jobs")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_requests_and_rows, forget),
        cmocka_unit_test_teardown(test_rows_of_each_call, forget),
        cmocka_unit_test_teardown(test_rows_of_an_open_body, forget),
        cmocka_unit_test_teardown(test_rows_of_refused_calls, forget),
        cmocka_unit_test_teardown(test_jobs, forget),
        cmocka_unit_test_teardown(test_bytes, forget),
        cmocka_unit_test_teardown(test_bytes_of_models, forget),
        cmocka_unit_test_teardown(test_heavy_calls, forget),
        cmocka_unit_test_teardown(test_without_tokens, forget),
    };
    return cmocka_run_group_tests(tests, open_dir, close_dir);
}
