/* Previews: every format; types and faults equal those of an upload; nothing is stored; bodies are
 * cut at --max-body. Also the figures of speed in the answer to an upload. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct response *preview(const char *query, const char *body, const char *type) {
    const char *const *headers = type ? HEADERS(text("Content-Type: %s", type)) : NULL;
    return call(&(struct request){.method = "POST",
                                  .path = text("/v1/datasets:preview%s", query),
                                  .headers = headers,
                                  .body = body,
                                  .upload = type == NULL});
}

static int start(void **state) {
    (void)state;
    static const char *const flags[] = {"--max-body", "4M", NULL};
    service_start(flags);
    return 0;
}

static void nothing_stored(void) {
    assert_int_equal(count_at(call_get("/v1/datasets"), "/items"), 0);
}

static void check_judged(const struct response *r, size_t rows, size_t bytes, bool whole) {
    assert_int_equal(whole_at(r, "/judged/rows"), rows);
    assert_int_equal(whole_at(r, "/judged/bytes"), bytes);
    assert_int_equal(json_is_true(value_at(r, "/judged/whole")), whole);
}

static void test_formats(void **state) {
    (void)state;
    static const struct {
        const char *format, *type, *body;
    } bodies[] = {
        {"csv", NULL, "n,word\n1,a\n2.5,b\n,a\n"},
        {"csv", "text/csv", "n;word\n1;a\n2.5;b\n;a\n"},
        {"csv", "text/tab-separated-values", "n\tword\n1\ta\n2.5\tb\n\ta"},
        {"json", NULL,
         "[{\"n\":1,\"word\":\"a\"},{\"n\":2.5,\"word\":\"b\"},{\"n\":null,\"word\":\"a\"}]"},
        {"json", "application/json",
         "{\"columns\":[\"n\",\"word\"],\"rows\":[[1,\"a\"],[2.5,\"b\"],[null,\"a\"]]}"},
        {"ndjson", NULL,
         "{\"n\":1,\"word\":\"a\"}\n{\"n\":2.5,\"word\":\"b\"}\n{\"word\":\"a\"}\n"},
        {"ndjson", "application/x-ndjson",
         "{\"n\":1,\"word\":\"a\"}\n{\"n\":2.5,\"word\":\"b\"}\n{\"word\":\"a\"}"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        for (int rows = 2; rows <= 4; rows++) {
            const struct response *r =
                status_check(preview(text("?rows=%d", rows), bodies[i].body, bodies[i].type), 200);
            assert_string_equal(string_at(r, "/format"), bodies[i].format);
            assert_string_equal(string_at(r, "/notes/format"), bodies[i].format);
            assert_string_equal(string_at(r, "/columns/0/name"), "n");
            assert_string_equal(string_at(r, "/columns/0/type"), "numeric");
            assert_string_equal(string_at(r, "/columns/1/type"), "categorical");
            assert_int_equal(whole_at(r, "/columns/0/missing"), 1);
            check_judged(r, 3, strlen(bodies[i].body), true);
            if (rows == 2) {
                assert_json(r, "/rows", "[{'n':1,'word':'a'},{'n':2.5,'word':'b'}]");
            } else {
                assert_json(r, "/rows",
                            "[{'n':1,'word':'a'},{'n':2.5,'word':'b'},{'n':null,'word':'a'}]");
            }
            assert_int_equal(json_is_true(value_at(r, "/truncated")), rows == 2);
        }
    }
    nothing_stored();
}

static void test_sparse(void **state) {
    (void)state;
    const char *body = "+1 3:1 7:-2.5 # first\n-1 2:4 5:0\n# no row\n+1 11:1\n";
    const struct response *r = status_check(preview("", body, NULL), 200);
    assert_string_equal(string_at(r, "/format"), "svmlight");
    assert_json(r, "/rows",
                "[{'label':1,'f3':1,'f7':-2.5},{'label':-1,'f2':4},{'label':1,'f11':1}]");
    assert_int_equal(count_at(r, "/columns"), 12);
    assert_int_equal(whole_at(r, "/sparse/columns"), 11);
    r = status_check(preview("?zero_based=true&label=y&rows=1", body, "text/x-svmlight"), 200);
    assert_json(r, "/rows", "[{'y':1,'f3':1,'f7':-2.5}]");
    assert_true(json_is_true(value_at(r, "/truncated")));
    nothing_stored();
}

/* The columns of a preview of the whole body equal those of the upload in every byte. */
static void test_as_the_upload(void **state) {
    (void)state;
    static const char *const bodies[] = {"zip,flag,x\n007,true,1.5\n12,false,2\nA-1,,1e3\n",
                                         "a b c\n1\n2\n",
                                         "[{\"a\":1},{\"b\":\"x\"},{\"a\":\"y\",\"c\":true}]",
                                         "1 1:2 4:0.5\n0 2:1\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const struct response *before = status_check(preview("?missing=-", bodies[i], NULL), 200);
        const struct response *r =
            status_check(call_upload("/v1/datasets/same?missing=-", bodies[i]), 201);
        assert_true(json_equal(value_at(before, "/columns"), value_at(r, "/columns")));
        assert_true(json_equal(value_at(before, "/notes"), value_at(r, "/notes")));
        assert_true(json_equal(value_at(before, "/warnings"), value_at(r, "/notes/warnings")));
        assert_true(json_is_false(value_at(before, "/truncated")));
        status_check(call_delete("/v1/datasets/same"), 204);
    }
    const struct response *r =
        status_check(preview("?header=false&label=y&types=c1:text,y:boolean", "5,0\n6,1\n", NULL),
                     200);
    assert_json(r, "/rows", "[{'c1':'5','y':false},{'c1':'6','y':true}]");
}

static void test_bad_previews(void **state) {
    (void)state;
    static const char *const queries[] = {"?rows=0",  "?rows=1001",      "?rows=-1",
                                          "?rows=x",  "?rows=",          "?rows=1e2",
                                          "?limit=3", "?header=perhaps", "?types=a"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        problem_check(preview(queries[i], "a,b\n1,2\n", NULL), 400, "bad-request");
    }
    problem_check(preview("", "a,b\n1,2\n", "image/png"), 415, "unsupported-media-type");
    problem_check(preview("", "", NULL), 422, "invalid-dataset");
    problem_check(preview("", "a,b\n", "text/csv"), 422, "invalid-dataset");
    const struct response *r =
        problem_check(preview("", "a,b\n1,2\n3\n4,5,6\n", NULL), 422, "invalid-dataset");
    assert_int_equal(count_at(r, "/errors"), 2);
    fault_check(fault_check(r, "line 3"), "line 4");
    r = status_check(preview("?on_error=skip", "a,b\n1,2\n3\n4,5\n", NULL), 200);
    assert_int_equal(count_at(r, "/rows"), 2);
    /* a fault in a row that is not shown */
    problem_check(preview("?rows=1", "a,b\n1,2\n3,4\n5\n", NULL), 422, "invalid-dataset");
    problem_check(preview("?types=c:text", "a,b\n1,2\n", NULL), 422, "invalid-dataset");
    problem_check(preview("?types=b:numeric", "a,b\n1,2\n2,x\n", NULL), 422, "invalid-dataset");
    status_check(preview("?types=late:text&rows=1", "[{\"a\":1},{\"late\":2}]", NULL),
                 200); /* a later row may have it */
    problem_check(preview("", "[{\"a\":1},{\"a\":]", NULL), 400, "bad-json");
    r = problem_check(call_get("/v1/datasets:preview"), 405, "method-not-allowed");
    assert_string_equal(header_of(r, "Allow"), "POST, OPTIONS");
    problem_check(call_post("/v1/datasets:previews", "{}"), 404, "not-found");
    nothing_stored();
}

/* The type of a column that changes in the last of many rows, and the number of its values, are
 * those of the upload. The rows are those of several chunks: with 200 columns a chunk has 4,096
 * rows. */
static void test_all_rows_are_judged(void **state) {
    (void)state;
    const char *line = repeat("0.5,", 199), *rows = repeat(text("%s7\n", line), 5000);
    const char *body = text("%s%sx\n", rows, line);
    const struct response *before =
        status_check(preview("?rows=1000&header=false", body, NULL), 200);
    const struct response *r =
        status_check(call_upload("/v1/datasets/late?header=false", body), 201);
    assert_string_equal(string_at(before, "/columns/199/type"), "categorical");
    assert_true(json_equal(value_at(before, "/columns"), value_at(r, "/columns")));
    assert_true(json_equal(value_at(before, "/notes"), value_at(r, "/notes")));
    check_judged(before, 5001, strlen(body), true);
    assert_int_equal(count_at(before, "/rows"), 1000);
    assert_json(before, "/rows/999/c200", "'7'");
    status_check(call_delete("/v1/datasets/late"), 204);
    problem_check(preview("", text("a,b\n%s3\n", repeat("1,2\n", 400000)), NULL), 422,
                  "invalid-dataset");
    nothing_stored();
}

/* Bodies longer than --max-body (4 MiB here): the preview has the rows that end within the bytes
 * that are read, and the connection can be used afterwards. */
static void test_long_bodies(void **state) {
    (void)state;
    const char *line = repeat("0.125,", 199); /* with the end of the line 1,196 bytes */
    const char *rows = repeat(text("%s7\n", line), 4000);
    const struct response *r = status_check(preview("?rows=1000&header=false", rows, NULL), 200);
    /* 4,194,304 bytes have 3,506 lines of 1,196 bytes */
    check_judged(r, 3506, 4194304, false);
    assert_int_equal(count_at(r, "/rows"), 1000);
    assert_int_equal(count_at(r, "/columns"), 200);
    assert_true(json_is_true(value_at(r, "/truncated")));
    r = status_check(preview("?header=false", rows, NULL), 200);
    assert_int_equal(count_at(r, "/rows"), 20);
    assert_true(json_is_true(value_at(r, "/truncated")));
    /* a body of exactly that length is read to its end */
    const char *exact = text("%s%s", "a,b\n", repeat("1,2\n", (1 << 20) - 1));
    check_judged(status_check(preview("", exact, NULL), 200), 1048575, 4194304, true);
    check_judged(status_check(preview("", text("%s1", exact), NULL), 200), 1048575, 4194304, false);
    r = status_check(call(&(struct request){.method = "POST",
                                            .path = "/v1/datasets:preview?rows=3&header=false",
                                            .body = rows,
                                            .upload = true,
                                            .chunked = true}),
                     200);
    assert_int_equal(count_at(r, "/rows"), 3);
    const char *document =
        text("[%s{\"a\":2}]", repeat("{\"a\":1},", 600000)); /* cut in the middle of a row */
    r = status_check(preview("?rows=5", document, NULL), 200);
    assert_int_equal(count_at(r, "/rows"), 5);
    const char *one =
        text("[{\"a\":\"%s\"}]",
             repeat("0123456789abcdef", 300000)); /* no row ends within the bytes that are read */
    problem_check(preview("", one, NULL), 422, "invalid-dataset");
    nothing_stored();
}

/* The number of rows in the tables that hold the bytes of datasets. */
static int64_t rows_stored(void) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    postgresql_skip("there is no file to look into");
    assert_int_equal(sqlite3_open_v2(the_daemon.database, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT (SELECT count(*) FROM parts) + (SELECT count(*) "
                                        "FROM chunks) + (SELECT count(*) FROM blobs)",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return n;
}

static void wait_for_rows(int64_t n) {
    const double from = now();
    while (rows_stored() != n && now() < from + 30) {
        pause_ms(20);
    }
    assert_int_equal(rows_stored(), n);
    metric_falls_to_zero("discern_store_doomed_bytes");
}

/* A preview stages its chunks as an upload does. They are dropped after it: whole bodies, bodies
 * that are cut, refused or given up. */
static void test_leaves_nothing(void **state) {
    (void)state;
    const char *row = "0.123456789,0.987654321,0.5555555,blue,some words that take room\n";
    const size_t n = strlen(row), rows = 80000; /* more than --max-body */
    char *body = keep(malloc(rows * n + 20), free), *at = body;
    at += sprintf(at, "a,b,c,d,e\n");
    for (size_t i = 0; i < rows; i++) {
        memcpy(at, row, n + 1);
        at += n;
    }
    const int64_t before = rows_stored();
    assert_true(rows * n > 4 << 20);
    check_judged(status_check(preview("", "a,b\n1,2\n", NULL), 200), 1, 8, true);
    wait_for_rows(before);
    assert_true(
        json_is_false(value_at(status_check(preview("", body, NULL), 200), "/judged/whole")));
    wait_for_rows(before);
    body[3 << 20] = '\0';
    memcpy(body + (3 << 20) - 20, "\n1,2,3,4\n", 10);
    problem_check(preview("", body, NULL), 422, "invalid-dataset");
    wait_for_rows(before);
    const int fd = raw_open();
    raw_send_text(fd, "POST /v1/datasets:preview HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Length: 4000000\r\nContent-Type: text/csv\r\n\r\n");
    raw_send(fd, body, 2 << 20);
    pause_ms(100);
    close(fd);
    wait_for_rows(before);
}

static void test_speed_of_uploads(void **state) {
    (void)state;
    const char *body = text("a,b\n%s", repeat("1,x\n", 1000));
    const struct response *r = status_check(call_upload("/v1/datasets/quick", body), 201);
    const double seconds = real_at(r, "/upload/seconds");
    assert_true(seconds > 0 && seconds < 60);
    assert_close(real_at(r, "/upload/rows_per_second"), 1000 / seconds, 1e-9);
    assert_close(real_at(r, "/upload/bytes_per_second"), (double)strlen(body) / seconds, 1e-9);
    r = status_check(call_upload("/v1/datasets/quick", body), 200); /* unchanged, but it was read */
    assert_true(real_at(r, "/upload/rows_per_second") > 0);
    assert_false(has(call_get("/v1/datasets/quick"),
                     "/upload")); /* a figure of the call, not of the dataset */
    r = status_check(call_post("/v1/datasets/quick/rows", "[{'a':2,'b':'y'},{'a':3,'b':'x'}]"),
                     201);
    assert_int_equal(whole_at(r, "/rows"), 1002);
    assert_close(real_at(r, "/upload/rows_per_second"), 2 / real_at(r, "/upload/seconds"), 1e-9);
    assert_close(real_at(r, "/upload/bytes_per_second"), 33 / real_at(r, "/upload/seconds"), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_formats),
                                       TEST(test_sparse),
                                       TEST(test_as_the_upload),
                                       TEST(test_bad_previews),
                                       TEST(test_all_rows_are_judged),
                                       TEST(test_long_bodies),
                                       TEST(test_leaves_nothing),
                                       TEST(test_speed_of_uploads)};
    return cmocka_run_group_tests(tests, start, group_end);
}
