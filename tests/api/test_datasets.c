/* Datasets: upload, describe, versions, rows back, conditions, description and tags, delete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct daemon d;

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static char *file_text(const char *name, size_t *size) {
    FILE *f = fopen(name, "re");
    assert_non_null(f);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *size = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

static void test_upload_and_describe(void **state) {
    (void)state;
    struct answer made = put_file(&d, "/v1/datasets/iris", "iris.csv");
    assert_int_equal(made.status, 201);
    assert_string_equal(answer_header(&made, "Location"), "/v1/datasets/iris?version=1");
    assert_null(answer_header(&made, "Discern-Unchanged"));
    struct answer seen = get(&d, answer_header(&made, "Location"));
    assert_int_equal(seen.status, 200);
    assert_int_equal(json_object_del(made.json, "upload"), 0); /* how fast it came is told once */
    assert_true(json_equal(made.json, seen.json));
    assert_string_equal(answer_header(&made, "ETag"), answer_header(&seen, "ETag"));
    assert_string_equal(text_at(seen.json, "name"), "iris");
    assert_int_equal(number_at(seen.json, "version"), 1);
    assert_int_equal(number_at(seen.json, "rows"), 150);
    assert_int_equal(strlen(text_at(seen.json, "sha256")), 64);
    assert_memory_equal(text_at(seen.json, "content"), "b2:", 3);
    assert_int_equal(json_array_size(at(seen.json, "columns")), 5);
    assert_string_equal(text_at(seen.json, "columns.0.name"), "sepal_length");
    assert_string_equal(text_at(seen.json, "columns.0.type"), "numeric");
    expect_near(number_at(seen.json, "columns.0.min"), 4.3, 0);
    expect_near(number_at(seen.json, "columns.0.max"), 7.9, 0);
    expect_near(number_at(seen.json, "columns.0.mean"), 876.5 / 150, 1e-12);
    assert_int_equal(number_at(seen.json, "columns.0.distinct"), 35);
    assert_string_equal(text_at(seen.json, "columns.4.name"), "class");
    assert_string_equal(text_at(seen.json, "columns.4.type"), "categorical");
    assert_int_equal(number_at(seen.json, "columns.4.distinct"), 3);
    assert_string_equal(text_at(seen.json, "columns.4.top.0.0"), "setosa");
    assert_int_equal(number_at(seen.json, "columns.4.top.0.1"), 50);
    answer_done(&made);
    answer_done(&seen);
}

static void test_bytes_and_hash_are_of_the_body(void **state) {
    (void)state;
    struct answer a = put_text(&d, "/v1/datasets/hashed", "a,b\n1,x\n2,y\n");
    assert_int_equal(number_at(a.json, "bytes"), 12);
    assert_string_equal(text_at(a.json, "sha256"), "15920f3fb7c051cc15fceee84432e8803a139a9b53a4ea8"
                                                   "32c37bf1109e200cf"); /* as sha256sum gives it */
    answer_done(&a);
}

static void test_same_content_makes_no_version(void **state) {
    (void)state;
    const char *const table = "a,b\n1,x\n2,y\n3,x\n";
    expect_status(put_text(&d, "/v1/datasets/same", table), 201);
    struct answer again = put_text(&d, "/v1/datasets/same", table);
    assert_int_equal(again.status, 200);
    assert_string_equal(answer_header(&again, "Discern-Unchanged"), "true");
    assert_int_equal(number_at(again.json, "version"), 1);
    answer_done(&again);
    again = put_text(&d, "/v1/datasets/same?header=auto&delimiter=auto&on_error=reject", table);
    assert_string_equal(answer_header(&again, "Discern-Unchanged"), "true"); /* initial values */
    answer_done(&again);
    /* other options: another table in the making, even of the same bytes */
    struct answer typed = put_text(&d, "/v1/datasets/same?types=a:categorical", table);
    assert_int_equal(typed.status, 200);
    assert_null(answer_header(&typed, "Discern-Unchanged"));
    assert_int_equal(number_at(typed.json, "version"), 2);
    assert_string_equal(text_at(typed.json, "columns.0.type"), "categorical");
    answer_done(&typed);
}

static void test_versions(void **state) {
    (void)state;
    expect_status(put_text(&d, "/v1/datasets/versioned", "a\n1\n2\n"), 201);
    struct answer second = put_text(&d, "/v1/datasets/versioned", "a\n1\n2\n3\n");
    assert_int_equal(second.status, 200);
    assert_string_equal(answer_header(&second, "Location"), "/v1/datasets/versioned?version=2");
    answer_done(&second);
    struct answer a = get(&d, "/v1/datasets/versioned");
    assert_int_equal(number_at(a.json, "rows"), 3);
    answer_done(&a);
    a = get(&d, "/v1/datasets/versioned?version=1");
    assert_int_equal(number_at(a.json, "rows"), 2);
    answer_done(&a);
    a = get(&d, "/v1/datasets/versioned/versions");
    assert_int_equal(json_array_size(at(a.json, "items")), 2);
    assert_int_equal(number_at(a.json, "items.0.version"), 1);
    assert_true(is_null_at(a.json, "next"));
    answer_done(&a);
    expect_problem(get(&d, "/v1/datasets/versioned?version=3"), 404, "unknown-dataset");
    expect_problem(get(&d, "/v1/datasets/versioned?version=0"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets/versioned?version=x"), 400, "bad-request");
    expect_status(ask(&d, "DELETE", "/v1/datasets/versioned?version=2", NULL, NULL, 0), 204);
    a = get(&d, "/v1/datasets/versioned");
    assert_int_equal(number_at(a.json, "version"), 1);
    answer_done(&a);
}

static void test_json_is_the_same_table_as_csv(void **state) {
    (void)state;
    struct answer csv = put_text(&d, "/v1/datasets/as-csv", "a,b,c\n1,x,true\n2.5,,false\n,y,\n");
    struct answer objects = send_typed(&d, "PUT", "/v1/datasets/as-objects", "application/json",
                                       "[{\"a\":1,\"b\":\"x\",\"c\":true},{\"a\":2.5,\"b\":null,"
                                       "\"c\":false},{\"b\":\"y\",\"a\":null,\"c\":null}]");
    struct answer table = put_text(&d, "/v1/datasets/as-table",
                                   "{\"columns\":[\"a\",\"b\",\"c\"],\"rows\":[[1,\"x\",true],[2.5,"
                                   "null,false],[null,\"y\",null]]}");
    assert_int_equal(csv.status, 201);
    assert_int_equal(objects.status, 201);
    assert_int_equal(table.status, 201);
    assert_string_equal(text_at(csv.json, "content"), text_at(objects.json, "content"));
    assert_string_equal(text_at(csv.json, "content"), text_at(table.json, "content"));
    assert_string_equal(text_at(csv.json, "columns.2.type"), "boolean");
    assert_int_equal(number_at(csv.json, "columns.1.missing"), 1);
    answer_done(&csv);
    answer_done(&objects);
    answer_done(&table);
}

static void test_reading_options(void **state) {
    (void)state;
    struct answer a =
        put_text(&d, "/v1/datasets/options?header=false&label=kind&missing=-,none&delimiter=%7C",
                 "1|-|x\n2|5|none\n");
    assert_int_equal(a.status, 201);
    assert_int_equal(number_at(a.json, "rows"), 2);
    assert_string_equal(text_at(a.json, "columns.2.name"), "kind");
    assert_int_equal(number_at(a.json, "columns.1.missing"), 1);
    assert_int_equal(number_at(a.json, "columns.2.missing"), 1);
    answer_done(&a);
    expect_problem(put_text(&d, "/v1/datasets/options?header=maybe", "a\n1\n"), 400, "bad-request");
    expect_problem(put_text(&d, "/v1/datasets/options?types=a:integer", "a\n1\n"), 400,
                   "bad-request");
    expect_problem(put_text(&d, "/v1/datasets/options?heading=true", "a\n1\n"), 400, "bad-request");
    expect_problem(put_text(&d, "/v1/datasets/options?header=true&header=true", "a\n1\n"), 400,
                   "bad-request");
    expect_problem(put_text(&d, "/v1/datasets/options?types=nobody:numeric", "a\n1\n"), 422,
                   "invalid-dataset");
    expect_problem(send_typed(&d, "PUT", "/v1/datasets/options", "image/png", "a\n1\n"), 415,
                   "unsupported-media-type");
}

static void test_rows_come_back_as_written(void **state) {
    (void)state;
    size_t size;
    char *text = file_text("tests/data/wine.csv", &size);
    upload(&d, "wine");
    struct answer a = get_with(&d, "/v1/datasets/wine/rows?limit=100000", "Accept: text/csv");
    assert_int_equal(a.status, 200);
    size_t k = 0;
    for (size_t i = 0; i < a.size; i++) { /* line ends may be CR LF: the CSV standard's */
        if (a.body[i] != '\r') {
            a.body[k++] = a.body[i];
        }
    }
    assert_int_equal(k, size);
    assert_memory_equal(a.body, text, size);
    answer_done(&a);
    free(text);
    expect_status(put_text(&d, "/v1/datasets/spelt", "zip,flag,x\n007,TRUE,1.50\nabc,False,1e2\n"),
                  201);
    a = get_with(&d, "/v1/datasets/spelt/rows", "Accept: application/x-ndjson");
    assert_non_null(strstr(a.body, "\"007\""));
    answer_done(&a);
}

static void test_rows_in_pages_and_columns(void **state) {
    (void)state;
    struct answer a =
        get(&d, "/v1/datasets/iris/rows?offset=50&limit=2&columns=class,petal_length");
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(at(a.json, "items")), 2);
    assert_int_equal(json_object_size(at(a.json, "items.0")), 2);
    assert_string_equal(text_at(a.json, "items.0.class"), "versicolor");
    expect_near(number_at(a.json, "items.0.petal_length"), 4.7, 0);
    assert_int_equal(number_at(a.json, "offset"), 50);
    assert_int_equal(number_at(a.json, "next"), 52);
    answer_done(&a);
    a = get(&d, "/v1/datasets/iris/rows?offset=149");
    assert_int_equal(json_array_size(at(a.json, "items")), 1);
    assert_true(is_null_at(a.json, "next"));
    answer_done(&a);
    a = get(&d, "/v1/datasets/iris/rows?offset=1000");
    assert_int_equal(json_array_size(at(a.json, "items")), 0);
    assert_true(is_null_at(a.json, "next"));
    answer_done(&a);
    a = get(&d, "/v1/datasets/iris/rows");
    assert_int_equal(json_array_size(at(a.json, "items")), 100);
    answer_done(&a);
    expect_problem(get(&d, "/v1/datasets/iris/rows?columns=petal"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets/iris/rows?columns=class,class"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets/iris/rows?limit=0"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets/iris/rows?offset=-1"), 400, "bad-request");
    expect_problem(get_with(&d, "/v1/datasets/iris/rows", "Accept: image/png"), 406,
                   "not-acceptable");
    expect_problem(get(&d, "/v1/datasets/nobody/rows"), 404, "unknown-dataset");
}

/* Rows of a version never change: each form of them has a tag of its own, and who has it is told
 * so. */
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
    char tag[N][80], match[1024];
    for (size_t i = 0; i < N; i++) {
        struct answer a = get_with(&d, forms[i].path, forms[i].accept);
        assert_int_equal(a.status, 200);
        assert_non_null(answer_header(&a, "ETag"));
        (void)snprintf(tag[i], sizeof tag[i], "%s", answer_header(&a, "ETag"));
        answer_done(&a);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(tag[i], tag[k]);
        }
        (void)snprintf(match, sizeof match, "If-None-Match: %s", tag[i]);
        const char *const both[] = {forms[i].accept, match, NULL};
        a = ask(&d, "GET", forms[i].path, both, NULL, 0);
        assert_int_equal(a.status, 304);
        assert_int_equal(a.size, 0);
        assert_string_equal(answer_header(&a, "ETag"), tag[i]);
        answer_done(&a);
    }
    (void)snprintf(match, sizeof match, "If-None-Match: %s", tag[0]); /* the tag of another form */
    const char *const other[] = {"Accept: text/csv", match, NULL};
    expect_status(ask(&d, "GET", "/v1/datasets/iris/rows", other, NULL, 0), 200);
}

/* CSV and NDJSON have no place for it: a header says how many rows there are, and where the next
 * ones are. */
static void test_pages_of_rows_are_linked(void **state) {
    (void)state;
    expect_status(put_text(&d, "/v1/datasets/pages", "\"a,b\",c\n1,x\n2,y\n3,x\n4,y\n5,x\n"), 201);
    char path[256] = "/v1/datasets/pages/rows?limit=2&columns=%22a,b%22", all[64] = "";
    for (size_t n = 0; n < 3; n++) {
        struct answer a = get_with(&d, path, "Accept: text/csv");
        assert_int_equal(a.status, 200);
        assert_string_equal(answer_header(&a, "Discern-Rows"), "5");
        strcat(all, a.body);
        const char *link = answer_header(&a, "Link");
        if (n < 2) {
            assert_non_null(link);
            assert_int_equal(sscanf(link, "<%255[^>]>; rel=\"next\"", path), 1);
            assert_non_null(strstr(link, "rel=\"next\""));
            assert_non_null(strstr(path, "version=1"));
        } else {
            assert_null(link);
        }
        answer_done(&a);
    }
    assert_string_equal(all, "\"a,b\"\n1\n2\n\"a,b\"\n3\n4\n\"a,b\"\n5\n");
}

/* Uploads the table (type NULL: as curl -T) and looks for words in its warnings; words NULL: there
 * are none. */
static void check_warning(const char *name, const char *type, const char *table,
                          const char *words) {
    char path[96];
    (void)snprintf(path, sizeof path, "/v1/datasets/%s", name);
    struct answer a = type ? send_typed(&d, "PUT", path, type, table) : put_text(&d, path, table);
    assert_int_equal(a.status, 201);
    const json_t *warnings = at(a.json, "notes.warnings");
    bool found = false;
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        found = found || (words && strstr(json_string_value(json_array_get(warnings, i)), words));
    }
    if (words ? !found : json_array_size(warnings) > 0) {
        fail_msg("%s: %s", name, a.body);
    }
    answer_done(&a);
}

static void test_doubts_are_told(void **state) {
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
    check_warning("decimal-commas", NULL, "a;b\n1,5;x\n2;y\n2,5;x\n",
                  "column \"a\": categorical because of line 2 (\"1,5\"): write decimal fractions "
                  "with a point");
    check_warning("no-commas", NULL, "a;b\n1.5;x,y\n2;1,2,3\n", NULL);
    expect_fault(send_typed(&d, "PUT", "/v1/datasets/flat", "application/x-www-form-urlencoded",
                            "a,b1,x2,y"),
                 422, "invalid-dataset", "", "--data-binary");
    struct answer a = put_text(&d, "/v1/datasets/free-names", "c2,,x,,c4,c4_2\n1,2,3,4,5,6\n");
    static const char *const names[] = {"c2", "c2_2", "x", "c4_3", "c4", "c4_2"};
    assert_int_equal(a.status, 201);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(text_at(json_array_get(at(a.json, "columns"), i), "name"), names[i]);
    }
    answer_done(&a);
}

/* One rule of quoting for every list. */
static void test_types_of_a_column_named_with_a_comma(void **state) {
    (void)state;
    struct answer a =
        put_text(&d, "/v1/datasets/quoted-types?types=%22a,b%22:text&missing=%22-,-%22,none",
                 "\"a,b\",c\n1,\"-,-\"\n2,none\n3,5\n");
    assert_int_equal(a.status, 201);
    assert_string_equal(text_at(a.json, "columns.0.type"), "text");
    assert_string_equal(text_at(a.json, "columns.1.type"), "numeric");
    assert_int_equal(number_at(a.json, "columns.1.missing"), 2);
    answer_done(&a);
    expect_problem(put_text(&d, "/v1/datasets/quoted-types?types=%22a,b:text", "a\n1\n"), 400,
                   "bad-request");
}

static void test_a_column_named_with_a_comma(void **state) {
    (void)state;
    expect_status(put_text(&d, "/v1/datasets/commas", "\"a,b\",\"say \"\"hi\"\"\"\n1,2\n"), 201);
    struct answer a =
        get(&d, "/v1/datasets/commas/rows?columns=%22say%20%22%22hi%22%22%22,%22a,b%22");
    assert_int_equal(a.status, 200);
    expect_near(number_at(a.json, "items.0.a,b"), 1, 0);
    answer_done(&a);
}

static void test_conditions(void **state) {
    (void)state;
    static const char *const only_new[] = {"If-None-Match: *", NULL};
    char match[128];
    expect_status(ask(&d, "PUT", "/v1/datasets/conditional", only_new, "a\n1\n2\n", 6), 201);
    expect_problem(ask(&d, "PUT", "/v1/datasets/conditional", only_new, "a\n3\n4\n", 6), 412,
                   "precondition-failed");
    struct answer a = get(&d, "/v1/datasets/conditional");
    (void)snprintf(match, sizeof match, "If-None-Match: %s", answer_header(&a, "ETag"));
    struct answer same = get_with(&d, "/v1/datasets/conditional", match);
    assert_int_equal(same.status, 304);
    assert_int_equal(same.size, 0);
    assert_string_equal(answer_header(&same, "ETag"), answer_header(&a, "ETag"));
    answer_done(&same);
    (void)snprintf(match, sizeof match, "If-Match: %s", answer_header(&a, "ETag"));
    answer_done(&a);
    const char *const only_same[] = {match, NULL};
    expect_status(ask(&d, "PUT", "/v1/datasets/conditional", only_same, "a\n5\n6\n", 6), 200);
    expect_problem(ask(&d, "PUT", "/v1/datasets/conditional", only_same, "a\n7\n8\n", 6), 412,
                   "precondition-failed");
    expect_problem(ask(&d, "PATCH", "/v1/datasets/conditional", only_same, "{\"tags\":[]}", 11),
                   412, "precondition-failed");
    expect_problem(ask(&d, "DELETE", "/v1/datasets/conditional", only_same, NULL, 0), 412,
                   "precondition-failed");
    expect_status(get(&d, "/v1/datasets/conditional"), 200);
}

static void test_description_and_tags(void **state) {
    (void)state;
    expect_status(put_text(&d, "/v1/datasets/described", "a\n1\n2\n"), 201);
    struct answer before = get(&d, "/v1/datasets/described");
    assert_true(is_null_at(before.json, "description"));
    assert_int_equal(json_array_size(at(before.json, "tags")), 0);
    struct answer a = send_text(&d, "PATCH", "/v1/datasets/described",
                                "{\"description\":\"f\xc3\xbcr alle\",\"tags\":[\"x\",\"y z\"]}");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "description"), "f\xc3\xbcr alle");
    assert_string_equal(text_at(a.json, "tags.1"), "y z");
    assert_string_not_equal(answer_header(&a, "ETag"), answer_header(&before, "ETag"));
    answer_done(&a);
    answer_done(&before);
    a = send_text(&d, "PATCH", "/v1/datasets/described", "{\"description\":null}");
    assert_true(is_null_at(a.json, "description"));
    assert_int_equal(json_array_size(at(a.json, "tags")), 2);
    answer_done(&a);
    expect_fault(send_text(&d, "PATCH", "/v1/datasets/described", "{\"tag\":[]}"), 422, "invalid",
                 "/tag", "known");
    expect_fault(send_text(&d, "PATCH", "/v1/datasets/described", "{\"tags\":[\"a\",1]}"), 422,
                 "invalid", "/tags/1", "string");
    expect_fault(send_text(&d, "PATCH", "/v1/datasets/described", "{\"description\":7}"), 422,
                 "invalid", "/description", "string");
    expect_problem(send_text(&d, "PATCH", "/v1/datasets/described", "{\"tags\":"), 400, "bad-json");
    expect_problem(send_text(&d, "PATCH", "/v1/datasets/described", "[]"), 422, "invalid");
    expect_problem(send_text(&d, "PATCH", "/v1/datasets/nobody", "{\"tags\":[]}"), 404,
                   "unknown-dataset");
    expect_problem(send_typed(&d, "PATCH", "/v1/datasets/described", "text/csv", "{\"tags\":[]}"),
                   415, "unsupported-media-type");
}

static void test_delete_keeps_the_counter(void **state) {
    (void)state;
    expect_status(put_text(&d, "/v1/datasets/deleted", "a\n1\n2\n"), 201);
    expect_status(ask(&d, "DELETE", "/v1/datasets/deleted", NULL, NULL, 0), 204);
    expect_problem(get(&d, "/v1/datasets/deleted"), 404, "unknown-dataset");
    expect_problem(ask(&d, "DELETE", "/v1/datasets/deleted", NULL, NULL, 0), 404,
                   "unknown-dataset");
    struct answer a = put_text(&d, "/v1/datasets/deleted", "a\n1\n2\n");
    assert_int_equal(a.status, 201);
    assert_int_equal(number_at(a.json, "version"), 2);
    answer_done(&a);
}

static void test_lists_come_in_pages(void **state) {
    (void)state;
    char path[128], last[64] = "";
    size_t n = 0;
    for (int i = 0; i < 5; i++) {
        (void)snprintf(path, sizeof path, "/v1/datasets/page-%d", i);
        expect_status(put_text(&d, path, "a\n1\n2\n"), 201);
    }
    (void)snprintf(path, sizeof path, "/v1/datasets?limit=2");
    for (bool more = true; more;) {
        struct answer a = get(&d, path);
        assert_int_equal(a.status, 200);
        assert_in_range(json_array_size(at(a.json, "items")), 1, 2);
        for (size_t i = 0; i < json_array_size(at(a.json, "items")); i++, n++) {
            const char *name = text_at(json_array_get(at(a.json, "items"), i), "name");
            assert_true(strcmp(last, name) < 0);
            (void)snprintf(last, sizeof last, "%s", name);
        }
        more = !is_null_at(a.json, "next");
        if (more) {
            (void)snprintf(path, sizeof path, "/v1/datasets?limit=2&after=%s",
                           text_at(a.json, "next"));
        }
        answer_done(&a);
    }
    struct answer all = get(&d, "/v1/datasets?limit=1000");
    assert_null(strstr(all.body, "quantiles"));
    assert_null(strstr(all.body, "histogram"));
    assert_non_null(strstr(all.body, "\"mean\":"));
    assert_int_equal(json_array_size(at(all.json, "items")), n);
    answer_done(&all);
    expect_problem(get(&d, "/v1/datasets?limit=0"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets?limit=1001"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets?limitt=10"), 400, "bad-request");
    expect_problem(get(&d, "/v1/datasets?after=%2F"), 400, "bad-request");
}

/* Larger than the store's queue holds, so that the upload is paused and goes on. */
static void test_a_large_upload(void **state) {
    (void)state;
    enum { ROWS = 1200000, LINE = 48 };
    char *text = malloc((size_t)ROWS * LINE + 64);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "i,x,kind\n");
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(text + n, "%d,%.15f,%c\n", i, sin(i), "abc"[i % 3]);
    }
    struct answer a = ask(&d, "PUT", "/v1/datasets/large", NULL, text, n);
    free(text);
    assert_int_equal(a.status, 201);
    assert_int_equal(number_at(a.json, "rows"), ROWS);
    assert_int_equal(number_at(a.json, "bytes"), n);
    expect_near(number_at(a.json, "columns.0.mean"), (ROWS - 1) / 2.0, 1e-6);
    answer_done(&a);
    a = get(&d, "/v1/datasets/large/rows?offset=1199999&columns=i,kind");
    expect_near(number_at(a.json, "items.0.i"), 1199999, 0);
    answer_done(&a);
    a = get_with(&d, "/v1/datasets/large/rows?columns=i&limit=1200000",
                 "Accept: application/x-ndjson");
    size_t lines = 0;
    for (size_t i = 0; i < a.size; i++) {
        lines += a.body[i] == '\n';
    }
    assert_int_equal(lines, ROWS);
    answer_done(&a);
    expect_status(ask(&d, "DELETE", "/v1/datasets/large", NULL, NULL, 0), 204);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upload_and_describe),
        cmocka_unit_test(test_bytes_and_hash_are_of_the_body),
        cmocka_unit_test(test_same_content_makes_no_version),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_json_is_the_same_table_as_csv),
        cmocka_unit_test(test_reading_options),
        cmocka_unit_test(test_rows_come_back_as_written),
        cmocka_unit_test(test_rows_in_pages_and_columns),
        cmocka_unit_test(test_rows_have_a_tag),
        cmocka_unit_test(test_pages_of_rows_are_linked),
        cmocka_unit_test(test_doubts_are_told),
        cmocka_unit_test(test_types_of_a_column_named_with_a_comma),
        cmocka_unit_test(test_a_column_named_with_a_comma),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_description_and_tags),
        cmocka_unit_test(test_delete_keeps_the_counter),
        cmocka_unit_test(test_lists_come_in_pages),
        cmocka_unit_test(test_a_large_upload),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
