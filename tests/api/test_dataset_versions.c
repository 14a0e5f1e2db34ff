/* Versions of a dataset: lists, descriptions, deletions while other versions share chunks and jobs
 * read them, and the space that is freed. */
#include "lib/api.h"
#include "lib/postgresql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct response *append(const char *dataset, const char *body) {
    return call(&(struct request){.method = "POST",
                                  .path = text("/v1/datasets/%s/rows", dataset),
                                  .body = body});
}

/* Makes versions 1, 2 (appended) and 3 (replaced). */
static void make_three(const char *dataset) {
    status_check(call_upload(text("/v1/datasets/%s", dataset), "a,b\n1,x\n2,y\n"), 201);
    status_check(append(dataset, "a,b\n3,z\n"), 201);
    status_check(call_upload(text("/v1/datasets/%s", dataset), "c\n1\n2\n3\n4\n"), 200);
}

static void drop(void *json) {
    json_decref(json);
}

/* The members of a description that lists contain. */
static const json_t *brief(const json_t *description) {
    json_t *copy = keep(json_deep_copy(description), drop);
    (void)json_object_del(copy, "columns");
    return copy;
}

static void test_list(void **state) {
    (void)state;
    make_three("listed");
    const struct response *r = status_check(call_get("/v1/datasets/listed/versions"), 200);
    assert_int_equal(count_at(r, "/items"), 3);
    for (int64_t v = 1; v <= 3; v++) { /* ascending */
        assert_int_equal(whole_at(r, text("/items/%lld/version", (long long)v - 1)), v);
        const struct response *one =
            status_check(call_get("/v1/datasets/listed/versions/%lld", (long long)v), 200);
        assert_true(
            json_equal(value_at(r, text("/items/%lld", (long long)v - 1)), brief(one->json)));
        const struct response *same =
            status_check(call_get("/v1/datasets/listed?version=%lld", (long long)v), 200);
        assert_true(json_equal(same->json, one->json));
        assert_string_equal(header_of(same, "ETag"), header_of(one, "ETag"));
        status_check(call_get_with(text("If-None-Match: %s", header_of(one, "ETag")),
                                   "/v1/datasets/listed/versions/%lld", (long long)v),
                     304);
    }
    /* in pages */
    r = status_check(call_get("/v1/datasets/listed/versions?limit=2"), 200);
    assert_int_equal(count_at(r, "/items"), 2);
    r = status_check(call_get("/v1/datasets/listed/versions?limit=2&after=%s",
                              string_at(r, "/next")),
                     200);
    assert_int_equal(count_at(r, "/items"), 1);
    assert_int_equal(whole_at(r, "/items/0/version"), 3);
    assert_true(json_is_null(value_at(r, "/next")));
}

static void test_unknown_versions(void **state) {
    (void)state;
    make_three("there");
    static const char *const paths[] = {"/v1/datasets/there/versions/4",
                                        "/v1/datasets/there/versions/0",
                                        "/v1/datasets/there/versions/x",
                                        "/v1/datasets/nobody/versions/1",
                                        "/v1/datasets/nobody/versions",
                                        "/v1/datasets/there?version=4"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        problem_check(call_get("%s", paths[i]), 404, "unknown-dataset");
        if (strstr(paths[i], "nobody/versions") == NULL || strstr(paths[i], "/1") != NULL) {
            problem_check(call_delete("%s", paths[i]), 404, "unknown-dataset");
        }
    }
    problem_check(call_get("/v1/datasets/there/versions/1?version=2"), 400, "bad-request");
    problem_check(call_delete("/v1/datasets/there/versions/1?version=2"), 400, "bad-request");
    problem_check(call_get("/v1/datasets/there?version=x"), 400, "bad-request");
    assert_int_equal(count_at(call_get("/v1/datasets/there/versions"), "/items"), 3);
}

static void test_delete(void **state) {
    (void)state;
    make_three("deleted");
    const char *etag = header_of(call_get("/v1/datasets/deleted/versions/2"), "ETag");
    problem_check(call(&(struct request){.method = "DELETE",
                                         .path = "/v1/datasets/deleted/versions/2",
                                         .headers = HEADERS("If-Match: \"other\"")}),
                  412, "precondition-failed");
    /* deletes the middle one of three versions that share chunks, */
    status_check(call(&(struct request){.method = "DELETE",
                                        .path = "/v1/datasets/deleted/versions/2",
                                        .headers = HEADERS(text("If-Match: %s", etag))}),
                 204);
    problem_check(call_get("/v1/datasets/deleted/versions/2"), 404, "unknown-dataset");
    const struct response *r =
        status_check(call_get_with("Accept: text/csv", "/v1/datasets/deleted/rows?version=1"), 200);
    assert_string_equal(r->body, "a,b\n1,x\n2,y\n");
    /* then the newest: the version before it becomes the newest and can be appended to */
    status_check(call_delete("/v1/datasets/deleted?version=3"), 204);
    assert_int_equal(whole_at(call_get("/v1/datasets/deleted"), "/version"), 1);
    r = status_check(append("deleted", "a,b\n9,w\n"), 201);
    assert_int_equal(whole_at(r, "/version"), 4); /* version numbers are not reused */
    assert_int_equal(whole_at(r, "/rows"), 3);
    status_check(call_delete("/v1/datasets/deleted/versions/1"), 204);
    r = status_check(call_get_with("Accept: text/csv", "/v1/datasets/deleted/rows"), 200);
    assert_string_equal(r->body, "a,b\n1,x\n2,y\n9,w\n");
    status_check(call_delete("/v1/datasets/deleted/versions/4"), 204);
    problem_check(call_get("/v1/datasets/deleted"), 404, "unknown-dataset");
    problem_check(append("deleted", "a,b\n9,w\n"), 404, "unknown-dataset");
    assert_int_equal(whole_at(status_check(call_upload("/v1/datasets/deleted", "a\n1\n"), 201),
                              "/version"),
                     5);
}

static void test_in_use(void **state) {
    (void)state;
    upload_file("digits", "digits.csv");
    const char *head = read_whole("tests/data/digits.csv", NULL), *row = strchr(head, '\n') + 1,
               *end = strchr(row, '\n') + 1;
    int64_t id = job_endless("endless");
    job_wait_state(id, "running");
    /* a version that a job reads can be appended to, and the result can be deleted; the version
     * itself cannot be deleted */
    const struct response *r =
        status_check(append("digits", text("%.*s", (int)(end - head), head)), 201);
    assert_int_equal(whole_at(r, "/rows"), 1798);
    problem_check(call_delete("/v1/datasets/digits/versions/1"), 409, "in-use");
    problem_check(call_delete("/v1/datasets/digits?version=1"), 409, "in-use");
    problem_check(call_delete("/v1/datasets/digits"), 409, "in-use");
    status_check(call_delete("/v1/datasets/digits/versions/2"), 204);
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)id), "{}"), 202);
    job_wait(id);
    status_check(call_delete("/v1/datasets/digits/versions/1"), 204);
    problem_check(call_get("/v1/datasets/digits"), 404, "unknown-dataset");
}

static void test_train_on_a_version(void **state) {
    (void)state;
    upload_file("iris", "iris.csv");
    status_check(append("iris", "sepal_length,class\n5.5,setosa\n"), 201);
    const struct response *job =
        job_train("{'model':'old','dataset':'iris@1','target':'class','algorithm':'logistic'}");
    assert_int_equal(whole_at(job, "/dataset/version"), 1);
    job = job_train("{'model':'new','dataset':'iris','target':'class','algorithm':'logistic'}");
    assert_int_equal(whole_at(job, "/dataset/version"), 2);
    const struct response *model = status_check(call_get("/v1/models/new"), 200);
    assert_true(json_is_null(value_at(model, "/dataset/sha256")));
    assert_string_equal(string_at(model, "/dataset/content"),
                        string_at(call_get("/v1/datasets/iris"), "/content"));
}

/* ---- space ---- */

static void await_below(const char *series, double bytes) {
    double value = bytes;
    for (double end = now() + 30; (value = metric_at(series)) >= bytes && now() < end;) {
        status_check(call_get("/v1/datasets"), 200); /* the daemon serves during the deletion */
        pause_ms(20);
    }
    if (!(value < bytes)) {
        fail_msg("%s is %.0f, not below %.0f", series, value, bytes);
    }
}

/* Rows that compress badly. */
static const char *large_rows(unsigned seed) {
    enum { ROWS = 120000 };
    char *rows = keep(malloc(ROWS * 64), free), *at = rows;
    assert_non_null(rows);
    unsigned long long x = seed;
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 4; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            at += sprintf(at, "%s0.%09u", k > 0 ? "," : "", (unsigned)(x >> 33) % 1000000000u);
        }
        *at++ = '\n';
    }
    *at = '\0';
    return rows;
}

static void test_space_comes_back(void **state) {
    (void)state;
    const double mib = 1024 * 1024;
    await_below("discern_store_doomed_bytes", 1);
    const double before = metric_at("discern_dataset_bytes");
    status_check(call_upload("/v1/datasets/large", text("a,b,c,d\n%s", large_rows(1))), 201);
    const double first = metric_at("discern_dataset_bytes") - before;
    assert_true(first > 3 * mib);
    status_check(append("large", text("a,b,c,d\n%s", large_rows(2))), 201);
    const double both = metric_at("discern_dataset_bytes") - before;
    /* rows that versions share are stored once */
    assert_true(both > 1.9 * first && both < 2.1 * first);
    status_check(call_delete("/v1/datasets/large/versions/1"), 204);
    await_below("discern_store_doomed_bytes", 1);
    assert_true(metric_at("discern_dataset_bytes") - before ==
                both); /* the second version has all rows */
    assert_int_equal(whole_at(call_get("/v1/datasets/large"), "/rows"), 240000);
    const struct response *r =
        status_check(call_get("/v1/datasets/large/rows?offset=119999&limit=2&columns=a"), 200);
    assert_int_equal(count_at(r, "/items"), 2);
    status_check(call_delete("/v1/datasets/large/versions/2"), 204);
    await_below("discern_dataset_bytes", before + 1);
    await_below("discern_store_doomed_bytes", 1);
    if (postgresql_is_used()) {
        return; /* it vacuums its tables later */
    }
    await_below("discern_database_bytes", 3 * mib); /* the file shrinks */
    await_below("discern_database_free_bytes", mib);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_list),   TEST(test_unknown_versions),   TEST(test_delete),
        TEST(test_in_use), TEST(test_train_on_a_version), TEST(test_space_comes_back),
    };
    return RUN(tests);
}
