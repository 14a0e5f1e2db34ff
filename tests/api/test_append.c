/* Rows appended over HTTP: the new version equals an upload of all rows at once, in every format;
 * conditions and refusals; many appends at the same time; models trained on the result. */
#include "lib/api.h"
#include "lib/database.h"
#include "lib/postgresql.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct response *post_rows_with(const char *path, const char *body,
                                             const char *const *headers) {
    return call(
        &(struct request){.method = "POST", .path = path, .headers = headers, .body = body});
}

static const struct response *post_rows(const char *dataset, const char *body) {
    return post_rows_with(text("/v1/datasets/%s/rows", dataset), body, NULL);
}

static const char *rows_of(const char *dataset, int64_t version) {
    const struct response *r =
        call_get_with("Accept: text/csv", "/v1/datasets/%s/rows?version=%lld&limit=1000000",
                      dataset, (long long)version);
    return status_check(r, 200)->body;
}

#define IRIS_HEADER "sepal_length,sepal_width,petal_length,petal_width,class\n"

/* Lines [from, upto) of iris without the header. */
static const char *iris_lines(int from, int upto) {
    const char *at = strchr(read_whole("tests/data/iris.csv", NULL), '\n') + 1;
    for (int i = 0; i < from; i++) {
        at = strchr(at, '\n') + 1;
    }
    const char *end = at;
    for (int i = from; i < upto; i++) {
        end = strchr(end, '\n') + 1;
    }
    return text("%.*s", (int)(end - at), at);
}

static void test_is_the_whole_table(void **state) {
    (void)state;
    const struct response *whole = upload_file("whole", "iris.csv");
    const char *first = text(IRIS_HEADER "%s", iris_lines(0, 60)),
               *then = text(IRIS_HEADER "%s", iris_lines(60, 150));
    status_check(call_upload("/v1/datasets/halves", first), 201);
    const struct response *r = status_check(post_rows("halves", then), 201);
    assert_string_equal(header_of(r, "Location"), "/v1/datasets/halves?version=2");
    assert_int_equal(whole_at(r, "/version"), 2);
    assert_int_equal(whole_at(r, "/rows"), 150);
    assert_true(json_is_null(value_at(r, "/sha256")));
    assert_int_equal(whole_at(r, "/bytes"), strlen(first) + strlen(then));
    assert_string_equal(string_at(r, "/content"), string_at(whole, "/content"));
    assert_int_equal(whole_at(r, "/notes/append/rows"), 90);
    for (size_t i = 0; i < 5; i++) {
        static const char *const same[] = {"name", "type", "missing", "distinct"};
        for (size_t k = 0; k < 4; k++) {
            assert_true(json_equal(value_at(r, text("/columns/%zu/%s", i, same[k])),
                                   value_at(whole, text("/columns/%zu/%s", i, same[k]))));
        }
        for (size_t k = 0; k < 4 && i < 4; k++) {
            static const char *const close[] = {"min", "max", "mean", "std"};
            assert_close(real_at(r, text("/columns/%zu/%s", i, close[k])),
                         real_at(whole, text("/columns/%zu/%s", i, close[k])), 1e-13);
        }
    }
    const struct response *seen = status_check(call_get("%s", header_of(r, "Location")), 200);
    json_object_del(r->json, "upload"); /* figures of the call, not of the dataset */
    assert_true(json_equal(seen->json, r->json));
    assert_string_equal(header_of(seen, "ETag"), header_of(r, "ETag"));
    assert_string_equal(rows_of("halves", 2), rows_of("whole", 1));
    assert_int_equal(whole_at(call_get("/v1/datasets/halves?version=1"), "/rows"),
                     60); /* as it was */
    /* equal to an upload of all rows at once */
    r = status_check(call_upload("/v1/datasets/halves", read_whole("tests/data/iris.csv", NULL)),
                     200);
    assert_string_equal(header_of(r, "Discern-Unchanged"), "true");
    assert_int_equal(whole_at(r, "/version"), 2);
}

static void test_formats(void **state) {
    (void)state;
    static const struct {
        const char *type, *body;
    } bodies[] = {
        {"text/csv", "b,a\nz,3\nw,4\n"},
        {"text/csv", "3,z\n4,w\n"},
        {"text/tab-separated-values", "a\tb\n3\tz\n4\tw\n"},
        {"application/json", "[{\"a\":3,\"b\":\"z\"},{\"b\":\"w\",\"a\":4}]"},
        {"application/json", "{\"columns\":[\"b\",\"a\"],\"rows\":[[\"z\",3],[\"w\",4]]}"},
        {"application/x-ndjson", "{\"a\":3,\"b\":\"z\"}\n{\"b\":\"w\",\"a\":4}\n"},
        {"application/octet-stream", "b;a\nz;3\nw;4\n"},
    };
    const struct response *whole =
        status_check(call_upload("/v1/datasets/f-whole", "a,b\n1,x\n2,y\n3,z\n4,w\n"), 201);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const char *name = text("f-%zu", i);
        status_check(call_upload(text("/v1/datasets/%s", name), "a,b\n1,x\n2,y\n"), 201);
        const struct response *r =
            post_rows_with(text("/v1/datasets/%s/rows", name), bodies[i].body,
                           HEADERS(text("Content-Type: %s", bodies[i].type)));
        assert_string_equal(string_at(status_check(r, 201), "/content"),
                            string_at(whole, "/content"));
    }
    problem_check(post_rows_with("/v1/datasets/f-0/rows", "x", HEADERS("Content-Type: image/png")),
                  415, "unsupported-media-type");
    whole = status_check(call_upload("/v1/datasets/s-whole", "1 1:5 3:2\n-1 2:1\n1 7:0.5\n"), 201);
    status_check(call_upload("/v1/datasets/sparse", "1 1:5 3:2\n-1 2:1\n"), 201);
    const struct response *r = post_rows_with("/v1/datasets/sparse/rows", "1 7:0.5\n",
                                              HEADERS("Content-Type: text/x-svmlight"));
    assert_string_equal(string_at(status_check(r, 201), "/content"), string_at(whole, "/content"));
    problem_check(post_rows("sparse", "[{\"label\":1}]"), 422, "invalid-dataset");
}

static void test_options_hold(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/options?missing=-&types=z:text", "a,z\n1,1\n-,2\n"),
                 201);
    const struct response *r = status_check(post_rows("options", "a,z\n-,3\n7,-\n"), 201);
    assert_json(r, "/columns/0/type", "'numeric'");
    assert_json(r, "/columns/0/missing", "2");
    assert_json(r, "/columns/1/type", "'text'");
    r = status_check(post_rows_with("/v1/datasets/options/rows?missing=x", "a,z\nx,-\n", NULL),
                     201); /* for these rows */
    assert_json(r, "/columns/0/missing", "3");
    assert_json(r, "/columns/1/missing", "1");
    /* the options of the upload apply to appended rows */
    r = status_check(post_rows("options", "a,z\n-,4\n"), 201);
    assert_json(r, "/columns/0/missing", "4");
    status_check(call_upload("/v1/datasets/commented?comment=*", "*x\na,z\n1,x\n"), 201);
    r = status_check(post_rows("commented", "a,z\n*,y\n2,z\n"), 201);
    assert_int_equal(whole_at(r, "/rows"), 2); /* the first line is a comment */
    r = status_check(post_rows_with("/v1/datasets/commented/rows?comment=-&allow_type_change=true",
                                    "a,z\n*,y\n-\n", NULL),
                     201);
    assert_int_equal(whole_at(r, "/rows"), 3);
    assert_json(r, "/columns/0/type", "'categorical'");
    problem_check(post_rows_with("/v1/datasets/options/rows?types=a:text", "a,z\n1,2\n", NULL), 400,
                  "bad-request");
    problem_check(post_rows_with("/v1/datasets/options/rows?header=perhaps", "a,z\n1,2\n", NULL),
                  400, "bad-request");
}

/* Types declared in a JSON body are kept like those of the query: a version with declared types
 * differs from one without. */
static void test_declared_types_hold(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/declared", "a\n1\n2\n"), 201);
    static const char body[] = "{'columns':[{'name':'a','type':'numeric'}],'rows':[[1],[2]]}";
    const struct response *r = status_check(call_put("/v1/datasets/declared", body), 200);
    assert_null(header_of(r, "Discern-Unchanged"));
    assert_int_equal(whole_at(r, "/version"), 2);
    assert_string_equal(header_of(status_check(call_put("/v1/datasets/declared", body), 200),
                                  "Discern-Unchanged"),
                        "true");
    problem_check(post_rows("declared", "a\nx\n"), 422, "invalid-dataset");
    r = status_check(call_post("/v1/datasets/declared/rows",
                               "{'columns':[{'name':'a','type':'text'}],'rows':[[3]]}"),
                     201);
    assert_non_null(strstr(r->body, "the declared type text was not used"));
    assert_json(r, "/columns/0/type", "'numeric'");
    r = status_check(call_post("/v1/datasets/declared/rows",
                               "{'columns':[{'name':'a','type':'numeric'}],'rows':[[4]]}"),
                     201);
    assert_int_equal(count_at(r, "/notes/append/warnings"), 0);
}

/* A column with more distinct texts than the counters can hold: its type and digest depend on the
 * values only, and it can be a feature. */
static void test_counts_without_memory(void **state) {
    (void)state;
    enum { COLUMNS = 40, ROWS = 18000, DISTINCT = 9000, CELL = 6 };
    char *body = keep(malloc((size_t)(ROWS + 1) * COLUMNS * CELL + 1), free), *at = body,
         *half = NULL;
    for (int r = -1; r < ROWS; r++) {
        half = r == ROWS / 3 ? at : half;
        for (int c = 0; c < COLUMNS; c++) {
            at += sprintf(at, "%s%d%c", r < 0 ? "k" : "v",
                          r < 0    ? c
                          : c == 0 ? r % 2
                                   : (r * 7 + c) % DISTINCT,
                          c + 1 < COLUMNS ? ',' : '\n');
        }
    }
    const struct response *whole =
        status_check(call_upload("/v1/datasets/counts-whole", body), 201);
    status_check(call_upload("/v1/datasets/counts", text("%.*s", (int)(half - body), body)), 201);
    const struct response *r =
        status_check(post_rows_with("/v1/datasets/counts/rows?header=false&allow_type_change=true",
                                    half, NULL),
                     201);
    assert_string_equal(string_at(r, "/content"), string_at(whole, "/content"));
    for (int c = 1; c < COLUMNS; c++) {
        assert_json(whole, text("/columns/%d/type", c), "'categorical'");
        assert_int_equal(whole_at(r, text("/columns/%d/distinct", c)), DISTINCT);
        status_check(call_post("/v1/jobs?dry_run=true",
                               "{'model':'counts','algorithm':'perceptron','dataset':'counts','"
                               "target':'k0','features':{'include':['k%d']}}",
                               c),
                     200);
    }
}

static void test_conditions(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_upload("/v1/datasets/conditions", "a\n1\n2\n"), 201);
    const char *etag = header_of(r, "ETag");
    problem_check(post_rows_with("/v1/datasets/conditions/rows", "3\n",
                                 HEADERS("If-Match: \"other\"")),
                  412, "precondition-failed");
    problem_check(post_rows_with("/v1/datasets/conditions/rows", "3\n",
                                 HEADERS("If-None-Match: *")),
                  412, "precondition-failed");
    status_check(post_rows_with("/v1/datasets/conditions/rows", "3\n",
                                HEADERS(text("If-Match: %s", etag))),
                 201);
    problem_check(post_rows_with("/v1/datasets/conditions/rows", "4\n",
                                 HEADERS(text("If-Match: %s", etag))),
                  412, "precondition-failed");
    assert_int_equal(whole_at(call_get("/v1/datasets/conditions"), "/rows"), 3);
    problem_check(post_rows("nobody", "1\n"), 404, "unknown-dataset");
    problem_check(post_rows("no%20body", "1\n"), 404, "unknown-dataset");
    problem_check(call_get("/v1/datasets/nobody"), 404, "unknown-dataset"); /* none was made */
}

static void test_refused_rows_leave_nothing(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/refused?types=n:numeric", "n,s\n1,x\n2,y\n"), 201);
    fault_check(problem_check(post_rows("refused", "n,s,more\n3,z,1\n"), 422, "invalid-dataset"),
                "line 1");
    fault_check(problem_check(post_rows("refused", "n,s\n3,z\nabc,w\n4\n"), 422, "invalid-dataset"),
                "line 3");
    problem_check(post_rows("refused", "[{\"n\":1,\"t\":2}]"), 422, "invalid-dataset");
    problem_check(post_rows("refused", "[{\"n\":1,"), 400, "bad-json");
    problem_check(post_rows("refused", ""), 422, "invalid-dataset");
    const struct response *r = call_get("/v1/datasets/refused/versions");
    assert_int_equal(count_at(r, "/items"), 1);
    r = status_check(post_rows_with("/v1/datasets/refused/rows?on_error=skip",
                                    "n,s\n3,z\nabc,w\n4\n", NULL),
                     201);
    assert_int_equal(whole_at(r, "/rows"), 3);
    assert_int_equal(whole_at(r, "/version"), 2); /* a refused append uses no version number */
}

/* The client disconnects in the middle of the body: no row of it is stored. */
static void test_client_leaves(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/left", "a,b\n1,x\n2,y\n"), 201);
    const char *half = text("POST /v1/datasets/left/rows HTTP/1.1\r\nHost: "
                            "localhost\r\nContent-Length: 100000000\r\n\r\na,b\n%s",
                            repeat("1.25,some text that takes room\n", 100000));
    int fd = raw_open();
    assert_true(fd >= 0);
    assert_int_equal(raw_talk(fd, half, strlen(half), 0.2)->status, 0);
    close(fd);
    metric_falls_to_zero("discern_store_doomed_bytes");
    assert_int_equal(whole_at(call_get("/v1/datasets/left"), "/version"), 1);
    assert_string_equal(rows_of("left", 1), "a,b\n1,x\n2,y\n");
    status_check(post_rows("left", "3,z\n"), 201);
}

/* ---- at once ---- */
enum { APPENDERS = 6, TIMES = 8 };

struct appender {
    pthread_t thread;
    int number;
    size_t made;
};

static void *append_main(void *arg) {
    struct appender *a = arg;
    for (int i = 0; i < TIMES; i++) {
        const char *body =
            text("[{\"who\":%d,\"time\":%d,\"word\":\"w%d\"}]", a->number, i, a->number);
        a->made += call(&(struct request){.method = "POST",
                                          .path = "/v1/datasets/shared/rows",
                                          .body = body})
                       ->status == 201;
    }
    return NULL;
}

static void test_many_at_once(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/shared", "who,time,word\n-1,0,x\n-1,1,y\n"), 201);
    struct appender a[APPENDERS];
    for (int i = 0; i < APPENDERS; i++) {
        a[i] = (struct appender){.number = i};
        assert_int_equal(pthread_create(&a[i].thread, NULL, append_main, &a[i]), 0);
    }
    for (int i = 0; i < APPENDERS; i++) {
        pthread_join(a[i].thread, NULL);
        assert_int_equal(a[i].made, TIMES); /* none was refused */
    }
    const struct response *r = status_check(call_get("/v1/datasets/shared"), 200);
    assert_int_equal(whole_at(r, "/version"), 1 + APPENDERS * TIMES);
    assert_int_equal(whole_at(r, "/rows"), 2 + APPENDERS * TIMES);
    const struct response *rows =
        status_check(call_get("/v1/datasets/shared/rows?limit=1000"), 200);
    int next[APPENDERS] = {0};
    for (size_t i = 2; i < count_at(rows, "/items");
         i++) { /* each row once, the rows of one appender in order */
        const int64_t who = whole_at(rows, text("/items/%zu/who", i));
        assert_in_range(who, 0, APPENDERS - 1);
        assert_int_equal(whole_at(rows, text("/items/%zu/time", i)), next[who]++);
    }
    const struct response *whole = status_check(
        call_upload("/v1/datasets/shared-whole", rows_of("shared", 1 + APPENDERS * TIMES)), 201);
    assert_string_equal(string_at(whole, "/content"), string_at(r, "/content"));
}

/* An upload whose body is sent in two parts with something between them. */
struct slow {
    int fd;
    const char *rest;
};

static struct slow slow_begin(const char *dataset, const char *first, const char *rest) {
    struct slow s = {.fd = raw_open(), .rest = rest};
    const char *head = text("POST /v1/datasets/%s/rows HTTP/1.1\r\nHost: "
                            "localhost\r\nContent-Length: %zu\r\nConnection: close\r\n"
                            "Expect: 100-continue\r\n\r\n",
                            dataset, strlen(first) + strlen(rest));
    char interim[200] = "";
    assert_true(s.fd >= 0);
    assert_int_equal(send(s.fd, head, strlen(head), MSG_NOSIGNAL), (ssize_t)strlen(head));
    for (size_t n = 0; strstr(interim, "\r\n\r\n") == NULL && n + 1 < sizeof interim; n++) {
        assert_int_equal(recv(s.fd, interim + n, 1, 0), 1);
    }
    assert_memory_equal(interim, "HTTP/1.1 100 ",
                        13); /* the version is looked up before the body is read */
    assert_int_equal(send(s.fd, first, strlen(first), MSG_NOSIGNAL), (ssize_t)strlen(first));
    return s;
}

static const struct response *slow_end(struct slow *s) {
    const struct response *r = raw_talk(s->fd, s->rest, strlen(s->rest), 60);
    close(s->fd);
    return r;
}

static void test_others_append_meanwhile(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/slow", "a,b\n1,x\n2,y\n"), 201);
    struct slow s = slow_begin("slow", "a,b\n7,p\n", "8,q\n");
    status_check(post_rows_with("/v1/datasets/slow/rows?allow_type_change=true",
                                "a,b\n3,z\nabc,w\n", NULL),
                 201); /* a type falls, too */
    const struct response *r = status_check(slow_end(&s), 201);
    assert_int_equal(whole_at(r, "/version"), 3);
    assert_string_equal(rows_of("slow", 3), "a,b\n1,x\n2,y\n3,z\nabc,w\n7,p\n8,q\n");
    const struct response *whole =
        status_check(call_upload("/v1/datasets/slow-whole", rows_of("slow", 3)), 201);
    assert_string_equal(string_at(whole, "/content"), string_at(r, "/content"));
}

/* A dataset has a limited number of appends at the same time. A further append is refused before it
 * sends rows; a client that disconnects frees its place; all appends that have a place succeed. */
static void test_limit_of_appends_at_once(void **state) {
    (void)state;
    enum { PLACES = 32 }; /* STORE_APPENDS_OF_ONE */
    static struct slow s[PLACES];
    status_check(call_upload("/v1/datasets/bounded", "a,b\n1,x\n"), 201);
    status_check(call_upload("/v1/datasets/beside", "a,b\n1,x\n"), 201);
    for (int i = 0; i < PLACES; i++) {
        s[i] = slow_begin("bounded", text("%d,p\n", i), "8,q\n");
    }
    /* an append takes its place shortly after its rows arrive */
    for (double end = now() + 20; metric_at("discern_appends") < PLACES; pause_ms(1)) {
        assert_true(now() < end);
    }
    const struct response *r = problem_check(post_rows("bounded", "3,z\n"), 503, "unavailable");
    assert_non_null(header_of(r, "Retry-After"));
    status_check(post_rows("beside", "3,z\n"), 201);
    close(s[PLACES - 1].fd);
    int status = 503;
    for (int i = 0; i < 2000 && status == 503; i++) {
        status = post_rows("bounded", "3,z\n")->status;
        pause_ms(status == 503 ? 5 : 0);
    }
    assert_int_equal(status, 201);
    for (int i = 0; i < PLACES - 1; i++) {
        status_check(slow_end(&s[i]), 201);
    }
    r = status_check(call_get("/v1/datasets/bounded"), 200);
    assert_int_equal(whole_at(r, "/rows"), 1 + 1 + 2 * (PLACES - 1));
    assert_int_equal(whole_at(r, "/version"), 1 + 1 + PLACES - 1);
    assert_near(metric_at("discern_appends"), 0, 0);
}

/* Clients that have sent a head and no rows, more than the limit of appends: others can append. */
static void test_idle_clients_do_not_count_as_appends(void **state) {
    (void)state;
    enum { IDLE = 40 };
    static struct slow s[IDLE];
    status_check(call_upload("/v1/datasets/idle", "a,b\n1,x\n"), 201);
    for (int i = 0; i < IDLE; i++) {
        s[i] = slow_begin("idle", "", "4,w\n");
    }
    status_check(post_rows("idle", "3,z\n"), 201);
    status_check(slow_end(&s[0]), 201);
    for (int i = 1; i < IDLE; i++) {
        close(s[i].fd);
    }
}

static void test_replaced_meanwhile(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/replaced", "a,b\n1,x\n2,y\n"), 201);
    struct slow s = slow_begin("replaced", "a,b\n7,p\n", "8,q\n");
    status_check(call_upload("/v1/datasets/replaced", "a,c\n1,x\n2,y\n"), 200);
    problem_check(slow_end(&s), 409, "conflict");
    assert_int_equal(whole_at(call_get("/v1/datasets/replaced"), "/version"), 2);
    s = slow_begin("replaced", "a,c\n7,p\n", "8,q\n");
    status_check(call_upload("/v1/datasets/replaced?missing=7", "a,c\n1,x\n2,y\n3,z\n"), 200);
    problem_check(slow_end(&s), 409, "conflict");
    s = slow_begin("replaced", "a,c\n7,p\n", "8,q\n");
    status_check(call_delete("/v1/datasets/replaced"), 204);
    problem_check(slow_end(&s), 404, "unknown-dataset");
    problem_check(call_get("/v1/datasets/replaced"), 404, "unknown-dataset");
}

/* ---- training ---- */
/* 9,000 rows of a generated table: more than two blocks of the core. */
static const char *made_rows(int from, int upto) {
    char *rows = keep(malloc((size_t)(upto - from) * 48 + 1), free), *at = rows;
    assert_non_null(rows);
    for (int i = from; i < upto; i++) {
        const unsigned u = (unsigned)i * 2654435761u, v = u ^ u >> 15;
        at += sprintf(at, "%u.%u,%u,%s,%s\n", u % 17, v % 10, v % 5, v % 3 == 0 ? "red" : "blue",
                      (u % 17 + v % 7) > 10 ? "yes" : "no");
    }
    return rows;
}

static json_t *weights_of(const char *model) {
    json_t *w = json_deep_copy(status_check(call_get("/v1/models/%s/weights", model), 200)->json);
    json_object_del(w, "model");
    return keep(w, (void (*)(void *))json_decref);
}

static void test_training_does_not_see_the_borders(void **state) {
    (void)state;
    static const struct {
        const char *algorithm, *params;
    } jobs[] = {{"logistic", "{'solver':'newton','lambda':0.01}"},
                {"logistic", "{'solver':'sgd','max_iterations':5}"},
                {"gaussian", "{}"}};
    static const int borders[] = {0, 3001, 3002, 5000, 9000};
    const struct response *whole =
                              status_check(call_upload("/v1/datasets/t-whole",
                                                       text("x,n,c,y\n%s", made_rows(0, 9000))),
                                           201),
                          *r = NULL;
    for (size_t i = 0; i < 4; i++) {
        const char *body = text("x,n,c,y\n%s", made_rows(borders[i], borders[i + 1]));
        r = i == 0 ? status_check(call_upload("/v1/datasets/t-parts", body), 201)
                   : status_check(post_rows("t-parts", body), 201);
    }
    assert_string_equal(string_at(r, "/content"), string_at(whole, "/content"));
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        for (int parts = 0; parts < 2; parts++) {
            job_train("{'model':'t-%d-%zu','dataset':'%s','target':'y','algorithm':'%s','params':%"
                      "s,'seed':3}",
                      parts, i, parts ? "t-parts" : "t-whole", jobs[i].algorithm, jobs[i].params);
        }
        json_t *a = weights_of(text("t-0-%zu", i)), *b = weights_of(text("t-1-%zu", i));
        assert_non_null(json_object_get(a, "version"));
        assert_true(json_equal(a, b)); /* to the last digit */
    }
}

/* ---- many ---- */
/* A number from the database about dataset "many": dataset_versions are v, their parts p. */
static int64_t of_many(const char *what) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    postgresql_skip("there is no file to look into");
    const char *sql = text("SELECT %s FROM dataset_versions v JOIN dataset_parts p ON p.version = "
                           "v.id WHERE v.name = 'many'",
                           what);
    assert_int_equal(sqlite3_open_v2(the_daemon.database, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}

/* Some hundreds of appends of one or two rows: few parts, each row written a few times, all
 * versions readable, and the model equals that of one upload. */
static void test_many_appends(void **state) {
    (void)state;
    enum { N = 300 };
    status_check(call_upload("/v1/datasets/many", text("x,n,c,y\n%s", made_rows(0, 1))), 201);
    int rows = 1, rows_then = 0;
    for (int i = 2; i <= N; i++) {
        const int more = i % 10 == 0 ? 2 : 1;
        status_check(post_rows_with("/v1/datasets/many/rows?header=false",
                                    made_rows(rows, rows + more), NULL),
                     201);
        rows += more;
        rows_then = i == N / 2 ? rows : rows_then;
    }
    const struct response *whole =
                              status_check(call_upload("/v1/datasets/many-whole",
                                                       text("x,n,c,y\n%s", made_rows(0, rows))),
                                           201),
                          *r = status_check(call_get("/v1/datasets/many"), 200);
    assert_int_equal(whole_at(r, "/version"), N);
    assert_string_equal(string_at(r, "/content"), string_at(whole, "/content"));
    assert_string_equal(rows_of("many", N), rows_of("many-whole", 1));
    assert_int_equal(whole_at(call_get("/v1/datasets/many?version=%d", N / 2), "/rows"), rows_then);
    const char *then = rows_of("many", N / 2);
    assert_memory_equal(then, rows_of("many-whole", 1), strlen(then));
    assert_true(of_many("max(seq) + 1") <= 9); /* 2^9 rows and more */
    assert_int_equal(of_many("count(DISTINCT part)"), N);
    for (int parts = 0; parts < 2; parts++) {
        job_train("{'model':'many-%d','dataset':'%s','target':'y','algorithm':'logistic','params':{"
                  "'lambda':0.01}}",
                  parts, parts ? "many" : "many-whole");
    }
    assert_true(json_equal(weights_of("many-0"), weights_of("many-1")));
    const int64_t left = of_many(text("sum(v.version = %d)", N));
    for (int i = 1; i < N; i++) {
        status_check(call_delete("/v1/datasets/many?version=%d", i), 204);
    }
    for (double end = now() + 20;
         (of_many("count(*)") > left || metric_at("discern_store_doomed_bytes") > 0) &&
         now() < end;) {
        pause_ms(20);
    }
    assert_int_equal(of_many("count(*)"), left);
    assert_string_equal(rows_of("many", N), rows_of("many-whole", 1));
}

/* ---- summaries ---- */
/* The descriptions of the columns are equal except "type_reason", which names a line of the
 * body. */
static void assert_same_summaries(const struct response *a, const struct response *b) {
    json_t *of[] = {json_deep_copy(value_at(a, "/columns")),
                    json_deep_copy(value_at(b, "/columns"))};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < json_array_size(of[k]); i++) {
            json_object_del(json_array_get(of[k], i), "type_reason");
        }
    }
    if (!json_equal(of[0], of[1])) {
        fail_msg("%s\n%s", json_dumps(of[0], 0), json_dumps(of[1], 0));
    }
    json_decref(of[0]);
    json_decref(of[1]);
    assert_string_equal(string_at(a, "/content"), string_at(b, "/content"));
}

static int chunks_read(void) {
    return (int)metric_at("discern_store_chunks_read_total");
}

static const struct response *whole_of(int rows) {
    return call_upload("/v1/datasets/summed-whole", text("x,n,c,y\n%s", made_rows(0, rows)));
}

static const struct response *append_made(int from, int upto) {
    return status_check(post_rows_with("/v1/datasets/summed/rows?header=false",
                                       made_rows(from, upto), NULL),
                        201);
}

static void forget_summaries(const char *change) {
    service_stop();
    assert_true(database_change("%s", change) >= 4);
    service_restart(NULL);
}

/* An append continues the stored summaries: it reads only the short chunk that it replaces. Without
 * summaries it reads all chunks. In both cases the description equals that of one upload. */
static void test_reads_no_stored_chunks(void **state) {
    (void)state;
    enum { FIRST = 150000, CHUNKS = 3, COLUMNS = 4, STRINGS = 2 };
    postgresql_skip("summaries are damaged with other SQL");
    status_check(call_upload("/v1/datasets/summed", text("x,n,c,y\n%s", made_rows(0, FIRST))), 201);
    int before = chunks_read();
    assert_same_summaries(append_made(FIRST, FIRST + 100), whole_of(FIRST + 100));
    assert_int_equal(chunks_read() - before, 0);
    before = chunks_read();
    assert_same_summaries(append_made(FIRST + 100, FIRST + 150), whole_of(FIRST + 150));
    /* the strings are read first for their size */
    assert_int_equal(chunks_read() - before, COLUMNS + STRINGS);

    forget_summaries("DELETE FROM dataset_summaries"); /* as older daemons stored a version */
    before = chunks_read();
    assert_same_summaries(append_made(FIRST + 150, FIRST + 550), whole_of(FIRST + 550));
    assert_true(chunks_read() - before >= CHUNKS * COLUMNS);
    before = chunks_read();
    assert_same_summaries(append_made(FIRST + 550, FIRST + 560), whole_of(FIRST + 560));
    assert_int_equal(chunks_read() - before, 0); /* the 550 rows are not read */

    forget_summaries("UPDATE dataset_summaries SET state = zeroblob(length(state))"); /* damage */
    before = chunks_read();
    assert_same_summaries(append_made(FIRST + 560, FIRST + 580), whole_of(FIRST + 580));
    assert_true(chunks_read() - before >= CHUNKS * COLUMNS);

    status_check(call_delete("/v1/datasets/summed?version=%d", 6), 204);
    assert_same_summaries(append_made(FIRST + 560, FIRST + 570), whole_of(FIRST + 570));
}

/* A column of missing cells is not read when its type changes; a column of numbers is read when it
 * becomes text. */
static void test_reads_chunks_of_changed_types(void **state) {
    (void)state;
    static const struct {
        const char *rows, *whole;
        int read; /* columns */
    } appended[] = {{"1,,5\n", "1,,5\n", 0},
                    {"2,7,6\n", "1,,5\n2,7,6\n", 0},
                    {"3,8,word\n", "1,,5\n2,7,6\n3,8,word\n", 1}};
    char *first = keep(malloc(100000 * 8 + 32), free), *at = first;
    at += sprintf(at, "a,b,c\n");
    for (int i = 0; i < 100000; i++) {
        at += sprintf(at, "%d,,%d\n", i % 7, i % 3);
    }
    status_check(call_upload("/v1/datasets/changed", first), 201);
    for (size_t i = 0; i < 3; i++) {
        const int before = chunks_read();
        const struct response *r =
            post_rows_with("/v1/datasets/changed/rows?header=false&allow_type_change=true",
                           appended[i].rows, NULL);
        status_check(r, 201);
        /* two full chunks, and the short ones that are measured or replaced */
        assert_in_range(chunks_read() - before, 2 * appended[i].read,
                        2 * appended[i].read + 3 + 2 * (int)i);
        assert_same_summaries(r, call_upload("/v1/datasets/changed-whole",
                                             text("%s%s", first, appended[i].whole)));
    }
}

/* Posts rows that would change a type; they are refused, and taken with the parameter. */
static void check_type_change(const char *table, const char *media_type, const char *rows,
                              int64_t line, int64_t column, const char *cell) {
    const char *headers[] = {text("Content-Type: %s", media_type), NULL};
    status_check(call_upload("/v1/datasets/keeps", table), 201);
    const struct response *r =
        problem_check(post_rows_with("/v1/datasets/keeps/rows", rows, headers), 422,
                      "invalid-dataset");
    assert_int_equal(whole_at(r, "/errors/0/line"), line);
    assert_int_equal(whole_at(r, "/errors/0/column"), column);
    assert_non_null(strstr(string_at(r, "/errors/0/detail"), cell));
    assert_non_null(strstr(string_at(r, "/errors/0/detail"), "allow_type_change=true"));
    assert_int_equal(whole_at(call_get("/v1/datasets/keeps"), "/rows"), 2);
    r = status_check(post_rows_with("/v1/datasets/keeps/rows?on_error=skip", rows, headers), 201);
    assert_int_equal(whole_at(r, "/notes/append/skipped/rows"), 1);
    assert_int_equal(whole_at(r, "/notes/append/skipped/first/0/line"), line);
    assert_int_equal(whole_at(r, "/notes/append/rows"), 1);
    assert_json(r, "/columns/0/type", "'numeric'");
    r = status_check(post_rows_with("/v1/datasets/keeps/rows?allow_type_change=true", rows,
                                    headers),
                     201);
    assert_json(r, "/columns/0/type", "'categorical'");
    assert_int_equal(whole_at(r, "/notes/append/rows"), 2);
    status_check(call_delete("/v1/datasets/keeps"), 204);
}

static void test_types_are_kept(void **state) {
    (void)state;
    static const char table[] = "balance,b,c\n1,true,x\n2.5,false,y\n";
    check_type_change(table, "text/csv", "balance,b,c\n7,true,x\nn.a.,false,y\n", 3, 1, "\"n.a.\"");
    check_type_change(table, "application/json",
                      "[{\"balance\":7},\n{\"c\":\"x\",\"balance\":\"n.a.\"}]", 2, 20, "\"n.a.\"");
    check_type_change(table, "application/x-ndjson", "[7,true,\"x\"]\n[true,false,\"y\"]\n", 2, 2,
                      "\"true\"");
    check_type_change(table, "text/x-arff",
                      "@relation r\n@attribute balance string\n@data\n7\n'n.a.'\n", 5, 1,
                      "\"n.a.\"");
    check_type_change("1 1:5\n2 2:3\n", "text/x-svmlight", "1 1:2\nspam 2:1\n", 2, 1, "\"spam\"");
    problem_check(post_rows_with("/v1/datasets/none/rows?allow_type_change=1", "a\n1\n", NULL), 400,
                  "bad-request");
}

static void test_types_that_are_not_known(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/unknown", "a,b,c\n1,,true\n2,,false\n"), 201);
    const struct response *r = status_check(post_rows("unknown", "a,b,c\n3,x,0\n4,5,1\n"), 201);
    assert_json(r, "/columns/1/type", "'categorical'"); /* from the rows that were appended */
    assert_json(r, "/columns/2/type", "'boolean'");
    assert_json(r, "/columns/2/top", "[[false,2],[true,2]]");
    r = problem_check(post_rows("unknown", "a,b,c\n3,x,2\n"), 422, "invalid-dataset");
    assert_non_null(strstr(r->body, "column \\\"c\\\": a cell must be a boolean (got \\\"2\\\")"));
}

/* A categorical column stays categorical, with a warning in the append that gives it the values of
 * a text column: 101 values in 101 rows are more than 100, and more than half of the rows. */
static void test_categories_are_kept(void **state) {
    (void)state;
    char rows[600] = "";
    for (int i = 0, n = 0; i < 100; i++) {
        n += snprintf(rows + n, sizeof rows - (size_t)n, "w%d\n", i);
    }
    status_check(call_upload("/v1/datasets/levels?header=false", "w\n"), 201);
    const struct response *r =
        status_check(post_rows_with("/v1/datasets/levels/rows?header=false", rows, NULL), 201);
    assert_json(r, "/columns/0/type", "'categorical'");
    assert_int_equal(whole_at(r, "/columns/0/distinct"), 101);
    assert_int_equal(count_at(r, "/notes/append/warnings"), 1);
    r = status_check(post_rows_with("/v1/datasets/levels/rows?header=false", "v\n", NULL), 201);
    assert_int_equal(count_at(r, "/notes/append/warnings"), 0);
    r = status_check(post_rows_with("/v1/datasets/levels/rows?header=false&allow_type_change=true",
                                    "u\n", NULL),
                     201);
    assert_json(r, "/columns/0/type", "'text'");
    /* the type that another call gave the column meanwhile is kept */
    status_check(call_upload("/v1/datasets/race", "a,b\n,1\n,2\n"), 201);
    struct slow s = slow_begin("race", "a,b\nx,3\n", "y,4\n");
    status_check(post_rows("race", "a,b\n5,5\n"), 201); /* a is numeric now */
    problem_check(slow_end(&s), 422, "invalid-dataset");
    assert_json(call_get("/v1/datasets/race"), "/columns/0/type", "'numeric'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_is_the_whole_table),
        TEST(test_formats),
        TEST(test_options_hold),
        TEST(test_declared_types_hold),
        TEST(test_counts_without_memory),
        TEST(test_conditions),
        TEST(test_refused_rows_leave_nothing),
        TEST(test_client_leaves),
        TEST(test_many_at_once),
        TEST(test_others_append_meanwhile),
        TEST(test_limit_of_appends_at_once),
        TEST(test_idle_clients_do_not_count_as_appends),
        TEST(test_replaced_meanwhile),
        TEST(test_training_does_not_see_the_borders),
        TEST(test_many_appends),
        TEST(test_reads_no_stored_chunks),
        TEST(test_reads_chunks_of_changed_types),
        TEST(test_types_are_kept),
        TEST(test_types_that_are_not_known),
        TEST(test_categories_are_kept),
    };
    return RUN(tests);
}
