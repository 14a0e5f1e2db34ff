/* Datasets: upload, describe, versions, rows back, conditions, description and tags, delete. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    return 0;
}

static void test_upload_and_describe(void **state) {
    (void)state;
    const struct response *made = upload_file("iris", "iris.csv");
    assert_string_equal(header_of(made, "Location"), "/v1/datasets/iris?version=1");
    assert_null(header_of(made, "Discern-Unchanged"));
    const struct response *seen = status_check(call_get("%s", header_of(made, "Location")), 200);
    /* the upload's figures are only in its answer */
    assert_int_equal(json_object_del(made->json, "upload"), 0);
    assert_true(json_equal(made->json, seen->json));
    assert_string_equal(header_of(made, "ETag"), header_of(seen, "ETag"));
    assert_string_equal(string_at(seen, "/name"), "iris");
    assert_int_equal(real_at(seen, "/version"), 1);
    assert_int_equal(real_at(seen, "/rows"), 150);
    assert_int_equal(strlen(string_at(seen, "/sha256")), 64);
    assert_memory_equal(string_at(seen, "/content"), "b2:", 3);
    assert_int_equal(count_at(seen, "/columns"), 5);
    assert_string_equal(string_at(seen, "/columns/0/name"), "sepal_length");
    assert_string_equal(string_at(seen, "/columns/0/type"), "numeric");
    assert_near(real_at(seen, "/columns/0/min"), 4.3, 0);
    assert_near(real_at(seen, "/columns/0/max"), 7.9, 0);
    assert_near(real_at(seen, "/columns/0/mean"), 876.5 / 150, 1e-12);
    assert_int_equal(real_at(seen, "/columns/0/distinct"), 35);
    assert_string_equal(string_at(seen, "/columns/4/name"), "class");
    assert_string_equal(string_at(seen, "/columns/4/type"), "categorical");
    assert_int_equal(real_at(seen, "/columns/4/distinct"), 3);
    assert_string_equal(string_at(seen, "/columns/4/top/0/0"), "setosa");
    assert_int_equal(real_at(seen, "/columns/4/top/0/1"), 50);
}

static void test_bytes_and_hash_are_of_the_body(void **state) {
    (void)state;
    const struct response *a = call_upload("/v1/datasets/hashed", "a,b\n1,x\n2,y\n");
    assert_int_equal(real_at(a, "/bytes"), 12);
    assert_string_equal(string_at(a, "/sha256"), "15920f3fb7c051cc15fceee84432e8803a139a9b53a4ea8"
                                                 "32c37bf1109e200cf"); /* result of sha256sum */
}

static void test_same_content_makes_no_version(void **state) {
    (void)state;
    const char *const table = "a,b\n1,x\n2,y\n3,x\n";
    status_check(call_upload("/v1/datasets/same", table), 201);
    const struct response *again = status_check(call_upload("/v1/datasets/same", table), 200);
    assert_string_equal(header_of(again, "Discern-Unchanged"), "true");
    assert_int_equal(real_at(again, "/version"), 1);
    again = call_upload("/v1/datasets/same?header=auto&delimiter=auto&on_error=reject", table);
    assert_string_equal(header_of(again, "Discern-Unchanged"), "true"); /* initial values */
    /* other options make another version of equal bytes */
    const struct response *typed =
        status_check(call_upload("/v1/datasets/same?types=a:categorical", table), 200);
    assert_null(header_of(typed, "Discern-Unchanged"));
    assert_int_equal(real_at(typed, "/version"), 2);
    assert_string_equal(string_at(typed, "/columns/0/type"), "categorical");
}

static void test_versions(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/versioned", "a\n1\n2\n"), 201);
    const struct response *second =
        status_check(call_upload("/v1/datasets/versioned", "a\n1\n2\n3\n"), 200);
    assert_string_equal(header_of(second, "Location"), "/v1/datasets/versioned?version=2");
    const struct response *a = call_get("/v1/datasets/versioned");
    assert_int_equal(real_at(a, "/rows"), 3);
    a = call_get("/v1/datasets/versioned?version=1");
    assert_int_equal(real_at(a, "/rows"), 2);
    a = call_get("/v1/datasets/versioned/versions");
    assert_int_equal(count_at(a, "/items"), 2);
    assert_int_equal(real_at(a, "/items/0/version"), 1);
    assert_true(json_is_null(json_find(a->json, "/next")));
    problem_check(call_get("/v1/datasets/versioned?version=3"), 404, "unknown-dataset");
    problem_check(call_get("/v1/datasets/versioned?version=0"), 400, "bad-request");
    problem_check(call_get("/v1/datasets/versioned?version=x"), 400, "bad-request");
    status_check(call_delete("/v1/datasets/versioned?version=2"), 204);
    a = call_get("/v1/datasets/versioned");
    assert_int_equal(real_at(a, "/version"), 1);
}

static void test_json_is_the_same_table_as_csv(void **state) {
    (void)state;
    const struct response *csv =
        call_upload("/v1/datasets/as-csv", "a,b,c\n1,x,true\n2.5,,false\n,y,\n");
    const struct response *objects =
        call_text("PUT", "/v1/datasets/as-objects", "Content-Type: application/json",
                  "[{\"a\":1,\"b\":\"x\",\"c\":true},{\"a\":2.5,\"b\":null,"
                  "\"c\":false},{\"b\":\"y\",\"a\":null,\"c\":null}]");
    const struct response *table =
        call_upload("/v1/datasets/as-table",
                    "{\"columns\":[\"a\",\"b\",\"c\"],\"rows\":[[1,\"x\",true],[2.5,"
                    "null,false],[null,\"y\",null]]}");
    status_check(csv, 201);
    status_check(objects, 201);
    status_check(table, 201);
    assert_string_equal(string_at(csv, "/content"), string_at(objects, "/content"));
    assert_string_equal(string_at(csv, "/content"), string_at(table, "/content"));
    assert_string_equal(string_at(csv, "/columns/2/type"), "boolean");
    assert_int_equal(real_at(csv, "/columns/1/missing"), 1);
}

static void test_reading_options(void **state) {
    (void)state;
    const struct response *a =
        call_upload("/v1/datasets/options?header=false&label=kind&missing=-,none&delimiter=%7C",
                    "1|-|x\n2|5|none\n");
    status_check(a, 201);
    assert_int_equal(real_at(a, "/rows"), 2);
    assert_string_equal(string_at(a, "/columns/2/name"), "kind");
    assert_int_equal(real_at(a, "/columns/1/missing"), 1);
    assert_int_equal(real_at(a, "/columns/2/missing"), 1);
    problem_check(call_upload("/v1/datasets/options?header=maybe", "a\n1\n"), 400, "bad-request");
    problem_check(call_upload("/v1/datasets/options?types=a:integer", "a\n1\n"), 400,
                  "bad-request");
    problem_check(call_upload("/v1/datasets/options?heading=true", "a\n1\n"), 400, "bad-request");
    problem_check(call_upload("/v1/datasets/options?header=true&header=true", "a\n1\n"), 400,
                  "bad-request");
    problem_check(call_upload("/v1/datasets/options?types=nobody:numeric", "a\n1\n"), 422,
                  "invalid-dataset");
    problem_check(call_text("PUT", "/v1/datasets/options", "Content-Type: image/png", "a\n1\n"),
                  415, "unsupported-media-type");
}

static void test_rows_come_back_as_written(void **state) {
    (void)state;
    size_t size;
    const char *bytes = read_whole("tests/data/wine.csv", &size);
    upload_file("wine", "wine.csv");
    const struct response *a =
        call_get_with("Accept: text/csv", "/v1/datasets/wine/rows?limit=100000");
    status_check(a, 200);
    size_t k = 0;
    for (size_t i = 0; i < a->size; i++) { /* CSV lines end with CR LF (RFC 4180) */
        if (a->body[i] != '\r') {
            assert_true(k < size && a->body[i] == bytes[k]);
            k++;
        }
    }
    assert_int_equal(k, size);
    status_check(call_upload("/v1/datasets/spelt", "zip,flag,x\n007,TRUE,1.50\nabc,False,1e2\n"),
                 201);
    a = call_get_with("Accept: application/x-ndjson", "/v1/datasets/spelt/rows");
    assert_non_null(strstr(a->body, "\"007\""));
}

/* JSON parsers such as Jansson refuse integers of 2^63 and more. */
static void test_large_integers_in_rows(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/integers",
                             "x,class\n1e20,a\n-18446744073709551616,b\n3,a\n"),
                 201);
    const struct response *a = call_get("/v1/datasets/integers/rows");
    status_check(a, 200);
    assert_non_null(strstr(a->body, "100000000000000000000.0"));
    assert_near(real_at(a, "/items/0/x"), 1e20, 0);
    assert_near(real_at(a, "/items/1/x"), -18446744073709551616.0, 0);
    assert_near(real_at(a, "/items/2/x"), 3, 0);
}

static void test_rows_in_pages_and_columns(void **state) {
    (void)state;
    const struct response *a =
        call_get("/v1/datasets/iris/rows?offset=50&limit=2&columns=class,petal_length");
    status_check(a, 200);
    assert_int_equal(count_at(a, "/items"), 2);
    assert_int_equal(json_object_size(json_find(a->json, "/items/0")), 2);
    assert_string_equal(string_at(a, "/items/0/class"), "versicolor");
    assert_near(real_at(a, "/items/0/petal_length"), 4.7, 0);
    assert_int_equal(real_at(a, "/offset"), 50);
    assert_int_equal(real_at(a, "/next"), 52);
    a = call_get("/v1/datasets/iris/rows?offset=149");
    assert_int_equal(count_at(a, "/items"), 1);
    assert_true(json_is_null(json_find(a->json, "/next")));
    a = call_get("/v1/datasets/iris/rows?offset=1000");
    assert_int_equal(count_at(a, "/items"), 0);
    assert_true(json_is_null(json_find(a->json, "/next")));
    a = call_get("/v1/datasets/iris/rows");
    assert_int_equal(count_at(a, "/items"), 100);
    problem_check(call_get("/v1/datasets/iris/rows?columns=petal"), 400, "bad-request");
    problem_check(call_get("/v1/datasets/iris/rows?columns=class,class"), 400, "bad-request");
    problem_check(call_get("/v1/datasets/iris/rows?limit=0"), 400, "bad-request");
    problem_check(call_get("/v1/datasets/iris/rows?offset=-1"), 400, "bad-request");
    problem_check(call_get_with("Accept: image/png", "/v1/datasets/iris/rows"), 406,
                  "not-acceptable");
    problem_check(call_get("/v1/datasets/nobody/rows"), 404, "unknown-dataset");
}

/* Rows of a version do not change: each format has its own ETag, and a request with the ETag gets
 * 304. */
static void test_rows_have_a_tag(void **state) {
    (void)state;
    static const struct {
        const char *path, *accept;
    } forms[] = {
        {"/v1/datasets/iris/rows", "Accept: application/json"},
        {"/v1/datasets/iris/rows", "Accept: text/csv"},
        {"/v1/datasets/iris/rows", "Accept: application/x-ndjson"},
        {"/v1/datasets/iris/rows?offset=1", "Accept: text/csv"},
        {"/v1/datasets/iris/rows?limit=99", "Accept: text/csv"},
        {"/v1/datasets/iris/rows?columns=class", "Accept: text/csv"},
        {"/v1/datasets/iris/rows?columns=class,petal_width", "Accept: text/csv"},
        {"/v1/datasets/iris/rows?columns=petal_width,class", "Accept: text/csv"},
        {"/v1/datasets/wine/rows", "Accept: text/csv"},
    };
    enum { N = sizeof forms / sizeof forms[0] };
    const char *match;
    char tag[N][80];
    for (size_t i = 0; i < N; i++) {
        const struct response *a =
            status_check(call_get_with(forms[i].accept, "%s", forms[i].path), 200);
        assert_non_null(header_of(a, "ETag"));
        snprintf(tag[i], sizeof tag[i], "%s", header_of(a, "ETag"));
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(tag[i], tag[k]);
        }
        match = text("If-None-Match: %s", tag[i]);
        const char *const both[] = {forms[i].accept, match, NULL};
        a = status_check(call_bytes("GET", forms[i].path, both, NULL, 0), 304);
        assert_int_equal(a->size, 0);
        assert_string_equal(header_of(a, "ETag"), tag[i]);
    }
    match = text("If-None-Match: %s", tag[0]); /* the ETag of another format */
    const char *const other[] = {"Accept: text/csv", match, NULL};
    status_check(call_bytes("GET", "/v1/datasets/iris/rows", other, NULL, 0), 200);
}

/* In CSV and NDJSON the number of rows and the link to the next page are in headers. */
static void test_pages_of_rows_are_linked(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/pages", "\"a,b\",c\n1,x\n2,y\n3,x\n4,y\n5,x\n"), 201);
    char path[256] = "/v1/datasets/pages/rows?limit=2&columns=%22a,b%22", all[64] = "";
    for (size_t n = 0; n < 3; n++) {
        const struct response *a = status_check(call_get_with("Accept: text/csv", "%s", path), 200);
        assert_string_equal(header_of(a, "Discern-Rows"), "5");
        strcat(all, a->body);
        const char *link = header_of(a, "Link");
        if (n < 2) {
            assert_non_null(link);
            assert_int_equal(sscanf(link, "<%255[^>]>; rel=\"next\"", path), 1);
            assert_non_null(strstr(link, "rel=\"next\""));
            assert_non_null(strstr(path, "version=1"));
        } else {
            assert_null(link);
        }
    }
    assert_string_equal(all, "\"a,b\"\n1\n2\n\"a,b\"\n3\n4\n\"a,b\"\n5\n");
}

/* Uploads the table (type NULL: as curl -T) and looks for words in its warnings; words NULL: there
 * must be no warning. */
static void check_warning(const char *name, const char *type, const char *table,
                          const char *words) {
    const char *path = text("/v1/datasets/%s", name);
    const struct response *a = type ? call_text("PUT", path, text("Content-Type: %s", type), table)
                                    : call_upload(path, table);
    status_check(a, 201);
    const json_t *warnings = json_find(a->json, "/notes/warnings");
    bool found = false;
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        found = found || (words && strstr(json_string_value(json_array_get(warnings, i)), words));
    }
    if (words ? !found : json_array_size(warnings) > 0) {
        fail_msg("%s: %s", name, a->body);
    }
}

static void test_warnings_of_uploads(void **state) {
    (void)state;
    char row[1024];
    size_t n = 0;
    for (int i = 0; i < 150; i++) {
        n += (size_t)snprintf(row + n, sizeof row - n, "%s%d.5", i ? "," : "", i);
    }
    check_warning("years", NULL, "id,2020,2021\n1,2,3\n", "header=false");
    check_warning("named-years", NULL, "name,2020,2021\nfoo,2,3\n", "header=true");
    check_warning("sure", NULL, "a,b\n1,x\n2,y\n3,x\n", NULL);
    check_warning("stripped", "application/x-www-form-urlencoded", row, "--data-binary");
    check_warning("one-row", "text/csv", row, NULL);
    check_warning("decimal-commas", NULL, "a;b\n1,5;x\n2;y\n2,5;x\n", NULL);
    check_warning("no-commas", NULL, "a;b\n1.5;x,y\n2;1,2,3\n", NULL);
    fault_contains(problem_check(call_text("PUT", "/v1/datasets/flat",
                                           "Content-Type: application/x-www-form-urlencoded",
                                           "a,b1,x2,y"),
                                 422, "invalid-dataset"),
                   "", "--data-binary");
    const struct response *a =
        call_upload("/v1/datasets/free-names", "c2,,x,,c4,c4_2\n1,2,3,4,5,6\n");
    static const char *const names[] = {"c2", "c2_2", "x", "c4_3", "c4", "c4_2"};
    status_check(a, 201);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(string_in(json_array_get(json_find(a->json, "/columns"), i), "/name"),
                            names[i]);
    }
}

/* All query lists have the same quoting rule. */
static void test_types_of_a_column_named_with_a_comma(void **state) {
    (void)state;
    const struct response *a =
        call_upload("/v1/datasets/quoted-types?types=%22a,b%22:text&missing=%22-,-%22,none",
                    "\"a,b\",c\n1,\"-,-\"\n2,none\n3,5\n");
    status_check(a, 201);
    assert_string_equal(string_at(a, "/columns/0/type"), "text");
    assert_string_equal(string_at(a, "/columns/1/type"), "numeric");
    assert_int_equal(real_at(a, "/columns/1/missing"), 2);
    problem_check(call_upload("/v1/datasets/quoted-types?types=%22a,b:text", "a\n1\n"), 400,
                  "bad-request");
}

static void test_a_column_named_with_a_comma(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/commas", "\"a,b\",\"say \"\"hi\"\"\"\n1,2\n"), 201);
    const struct response *a =
        call_get("%s", "/v1/datasets/commas/rows?columns=%22say%20%22%22hi%22%22%22,%22a,b%22");
    status_check(a, 200);
    assert_near(real_at(a, "/items/0/a,b"), 1, 0);
}

static void test_conditions(void **state) {
    (void)state;
    static const char *const only_new[] = {"If-None-Match: *", NULL};
    const char *match;
    status_check(call_bytes("PUT", "/v1/datasets/conditional", only_new, "a\n1\n2\n", 0), 201);
    problem_check(call_bytes("PUT", "/v1/datasets/conditional", only_new, "a\n3\n4\n", 0), 412,
                  "precondition-failed");
    const struct response *a = call_get("/v1/datasets/conditional");
    const struct response *same =
        status_check(call_get_with(text("If-None-Match: %s", header_of(a, "ETag")),
                                   "/v1/datasets/conditional"),
                     304);
    assert_int_equal(same->size, 0);
    assert_string_equal(header_of(same, "ETag"), header_of(a, "ETag"));
    match = text("If-Match: %s", header_of(a, "ETag"));
    const char *const only_same[] = {match, NULL};
    status_check(call_bytes("PUT", "/v1/datasets/conditional", only_same, "a\n5\n6\n", 0), 200);
    problem_check(call_bytes("PUT", "/v1/datasets/conditional", only_same, "a\n7\n8\n", 0), 412,
                  "precondition-failed");
    problem_check(call_bytes("PATCH", "/v1/datasets/conditional", only_same, "{\"tags\":[]}", 0),
                  412, "precondition-failed");
    problem_check(call_bytes("DELETE", "/v1/datasets/conditional", only_same, NULL, 0), 412,
                  "precondition-failed");
    status_check(call_get("/v1/datasets/conditional"), 200);
}

static void test_description_and_tags(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/described", "a\n1\n2\n"), 201);
    const struct response *before = call_get("/v1/datasets/described");
    assert_true(json_is_null(json_find(before->json, "/description")));
    assert_int_equal(count_at(before, "/tags"), 0);
    const struct response *a =
        status_check(call_json("PATCH", "/v1/datasets/described",
                               "{'description':'f\xc3\xbcr alle','tags':['x','y z']}"),
                     200);
    assert_string_equal(string_at(a, "/description"), "f\xc3\xbcr alle");
    assert_string_equal(string_at(a, "/tags/1"), "y z");
    assert_string_not_equal(header_of(a, "ETag"), header_of(before, "ETag"));
    a = call_json("PATCH", "/v1/datasets/described", "{'description':null}");
    assert_true(json_is_null(json_find(a->json, "/description")));
    assert_int_equal(count_at(a, "/tags"), 2);
    fault_contains(problem_check(call_json("PATCH", "/v1/datasets/described", "{'tag':[]}"), 422,
                                 "invalid"),
                   "/tag", "known");
    fault_contains(problem_check(call_json("PATCH", "/v1/datasets/described", "{'tags':['a',1]}"),
                                 422, "invalid"),
                   "/tags/1", "string");
    fault_contains(problem_check(call_json("PATCH", "/v1/datasets/described", "{'description':7}"),
                                 422, "invalid"),
                   "/description", "string");
    problem_check(call_json("PATCH", "/v1/datasets/described", "{'tags':"), 400, "bad-json");
    problem_check(call_text("PATCH", "/v1/datasets/described", NULL, "[]"), 422, "invalid");
    problem_check(call_json("PATCH", "/v1/datasets/nobody", "{'tags':[]}"), 404, "unknown-dataset");
    problem_check(call_text("PATCH", "/v1/datasets/described", "Content-Type: text/csv",
                            "{\"tags\":[]}"),
                  415, "unsupported-media-type");
}

static void test_delete_keeps_the_counter(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/deleted", "a\n1\n2\n"), 201);
    status_check(call_delete("/v1/datasets/deleted"), 204);
    problem_check(call_get("/v1/datasets/deleted"), 404, "unknown-dataset");
    problem_check(call_delete("/v1/datasets/deleted"), 404, "unknown-dataset");
    const struct response *a = status_check(call_upload("/v1/datasets/deleted", "a\n1\n2\n"), 201);
    assert_int_equal(real_at(a, "/version"), 2);
}

static void test_lists_come_in_pages(void **state) {
    (void)state;
    const char *path = "/v1/datasets?limit=2", *last = "";
    size_t n = 0;
    for (int i = 0; i < 5; i++) {
        status_check(call_upload(text("/v1/datasets/page-%d", i), "a\n1\n2\n"), 201);
    }
    for (bool more = true; more;) {
        const struct response *a = status_check(call_get("%s", path), 200);
        assert_in_range(count_at(a, "/items"), 1, 2);
        for (size_t i = 0; i < count_at(a, "/items"); i++, n++) {
            const char *name = string_in(json_array_get(json_find(a->json, "/items"), i), "/name");
            assert_true(strcmp(last, name) < 0);
            last = name;
        }
        more = !json_is_null(json_find(a->json, "/next"));
        if (more) {
            path = text("/v1/datasets?limit=2&after=%s", string_at(a, "/next"));
        }
    }
    const struct response *all = call_get("/v1/datasets?limit=1000");
    assert_null(strstr(all->body, "\"columns\""));
    assert_int_equal(count_at(all, "/items"), n);
    problem_check(call_get("/v1/datasets?limit=0"), 400, "bad-request");
    problem_check(call_get("/v1/datasets?limit=1001"), 400, "bad-request");
    problem_check(call_get("/v1/datasets?limitt=10"), 400, "bad-request");
    problem_check(call_get("%s", "/v1/datasets?after=%2F"), 400, "bad-request");
}

/* Larger than the store's queue: the upload is paused and continues. */
static void test_a_large_upload(void **state) {
    (void)state;
    enum { ROWS = 1200000, LINE = 48 };
    char *text = malloc((size_t)ROWS * LINE + 64);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "i,x,kind\n");
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(text + n, "%d,%.15f,%c\n", i, sin(i), "abc"[i % 3]);
    }
    const struct response *a = call_bytes("PUT", "/v1/datasets/large", NULL, text, n);
    free(text);
    status_check(a, 201);
    assert_int_equal(real_at(a, "/rows"), ROWS);
    assert_int_equal(real_at(a, "/bytes"), n);
    assert_near(real_at(a, "/columns/0/mean"), (ROWS - 1) / 2.0, 1e-6);
    a = call_get("/v1/datasets/large/rows?offset=1199999&columns=i,kind");
    assert_near(real_at(a, "/items/0/i"), 1199999, 0);
    a = call_get_with("Accept: application/x-ndjson",
                      "/v1/datasets/large/rows?columns=i&limit=1200000");
    size_t lines = 0;
    for (size_t i = 0; i < a->size; i++) {
        lines += a->body[i] == '\n';
    }
    assert_int_equal(lines, ROWS);
    status_check(call_delete("/v1/datasets/large"), 204);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_upload_and_describe),
        TEST(test_bytes_and_hash_are_of_the_body),
        TEST(test_same_content_makes_no_version),
        TEST(test_versions),
        TEST(test_json_is_the_same_table_as_csv),
        TEST(test_reading_options),
        TEST(test_rows_come_back_as_written),
        TEST(test_large_integers_in_rows),
        TEST(test_rows_in_pages_and_columns),
        TEST(test_rows_have_a_tag),
        TEST(test_pages_of_rows_are_linked),
        TEST(test_warnings_of_uploads),
        TEST(test_types_of_a_column_named_with_a_comma),
        TEST(test_a_column_named_with_a_comma),
        TEST(test_conditions),
        TEST(test_description_and_tags),
        TEST(test_delete_keeps_the_counter),
        TEST(test_lists_come_in_pages),
        TEST(test_a_large_upload),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
