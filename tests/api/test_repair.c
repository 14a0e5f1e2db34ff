/* on_error=repair over HTTP: uploads, appends, previews, other formats. tests/curl/polluted.py has
 * many broken tables. */
#include "lib/api.h"

#include <stdio.h>
#include <string.h>

static const char *rows_of(const char *name) {
    return status_check(call_get_with("Accept: text/csv", "/v1/datasets/%s/rows", name), 200)->body;
}

static const struct response *post(const char *path, const char *body) {
    return call(&(struct request){.method = "POST", .path = path, .body = body, .upload = true});
}

static const char broken[] = "Sales 2020\n\nid;item;price\n1;\"nut;2.5\n2;bolt; large;3\n3;nail\n"
                             "\nSource: the shop\n";

static void test_upload(void **state) {
    (void)state;
    problem_check(call_upload("/v1/datasets/refused?delimiter=;", broken), 422, "invalid-dataset");
    const struct response *r =
        status_check(call_upload("/v1/datasets/broken?on_error=repair", broken), 201);
    assert_int_equal(whole_at(r, "/rows"), 3);
    assert_int_equal(whole_at(r, "/notes/repairs/preamble/count"), 1);
    assert_int_equal(whole_at(r, "/notes/repairs/unclosed_quote/first/0/line"), 4);
    assert_int_equal(whole_at(r, "/notes/repairs/joined_cells/first/0/line"), 5);
    assert_int_equal(whole_at(r, "/notes/repairs/missing_cells/first/0/line"), 6);
    assert_int_equal(whole_at(r, "/notes/repairs/footer/first/0/line"), 8);
    assert_string_equal(string_at(r, "/columns/2/type"), "numeric");
    assert_string_equal(rows_of("broken"), "id,item,price\n1,\"\"\"nut\",2.5\n2,bolt; large,3\n"
                                           "3,nail,\n");
    problem_check(call_upload("/v1/datasets/refused?on_error=mend", broken), 400, "bad-request");
    problem_check(call_upload("/v1/datasets/refused?on_error=repair", ""), 422, "invalid-dataset");
    problem_check(call_upload("/v1/datasets/refused?on_error=repair", "a,b\n"), 422,
                  "invalid-dataset");
    problem_check(call_upload("/v1/datasets/refused?on_error=repair&types=a:numeric",
                              "a,b\n1,x\ntwo,y\n"),
                  422, "invalid-dataset");
    /* a body of another format is read as with on_error=reject */
    problem_check(call_upload("/v1/datasets/refused?on_error=repair", "{\"a\":1}\n{\"a\":x}\n"),
                  422, "invalid-dataset");
}

/* A table without faults is the same table, and has no repairs. */
static void test_sound(void **state) {
    (void)state;
    static const char *const bodies[] = {"a,b,c\n1,\"x, y\",2\n2,\"z\"\"\",3\n,5\",4\n",
                                         "a\tb\n1\t\"x\n2\ty\"\n",
                                         "a;b\n1,5;x\n2,5;\"y\nz\"\n",
                                         "1 2\n3 4\n",
                                         "text\none\n\ntwo words\n",
                                         "# remark\na,b\n1,\n# one, two, three\n,\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        status_check(call_upload(text("/v1/datasets/sound-%zu", i), bodies[i]), 201);
        const struct response *r = status_check(
            call_upload(text("/v1/datasets/repaired-%zu?on_error=repair", i), bodies[i]), 201);
        char content[100];
        snprintf(content, sizeof content, "%s", string_at(r, "/content"));
        assert_null(strstr(r->body, "repairs"));
        r = status_check(call_get("/v1/datasets/sound-%zu", i), 200);
        if (strcmp(string_at(r, "/content"), content) != 0) {
            fail_msg("%s", bodies[i]);
        }
    }
}

/* Without faults, rows that look unusual stay as they are: apostrophes, times, a blank line, rows
 * with one cell, numbers with exponents. */
static void test_unchanged(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "a,b,c\n'tis,1,x\n'twas,2,y\n'em',3,z\n",
        "12:30:15\n12:45:16\n13:00:17\n14:00:18\n",
        "a,b,c,d\n1,x,1e5,2\n2,y,1e4,3\n\n3,z,1e5,1e7\n4,u,1e6,1e8\n",
        "a,b,c,d\n1,x,3,2\n2,y,4,3\n\nsum,,,\n",
        "a||b\n1||2\n",
        "C:\\x,1\n\\,2\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        status_check(call_upload(text("/v1/datasets/plain-%zu", i), bodies[i]), 201);
        const struct response *r =
            status_check(call_upload(text("/v1/datasets/same-%zu?on_error=repair", i), bodies[i]),
                         201);
        assert_null(strstr(r->body, "repairs"));
        const char *content = text("%s", string_at(r, "/content"));
        r = status_check(call_get("/v1/datasets/plain-%zu", i), 200);
        if (strcmp(string_at(r, "/content"), content) != 0) {
            fail_msg("%s", bodies[i]);
        }
    }
}

/* Ranges end at the last line of their last row; footers are longer than 64 lines; a line end in a
 * name is a blank. */
static void test_lines(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_upload("/v1/datasets/ranges?on_error=repair",
                                 "id,b,c\n1,x,2\n2,y,3\n\nk,l\n1,\"a\nb\"\n2,\"c\nd\"\n"),
                     201);
    assert_string_equal(string_at(r, "/notes/repairs/second_table/first/0/detail"),
                        "lines 5 to 9 are a second table and left out");
    const char *body = "a,b,c,d\n";
    for (int i = 0; i < 300; i++) {
        body = text("%s%d,x%d,3,4\n", body, i, i);
    }
    for (int i = 0; i < 200; i++) {
        body = text("%snote %d of the table\n", body, i);
    }
    r = status_check(call_upload("/v1/datasets/footer?on_error=repair", body), 201);
    assert_int_equal(whole_at(r, "/rows"), 300);
    assert_string_equal(string_at(r, "/notes/repairs/footer/first/0/detail"),
                        "lines 302 to 501 after the table left out");
    r = status_check(call_upload("/v1/datasets/names?on_error=repair",
                                 "\"a\r\nname\",b\n1,2\n3,4\n"),
                     201);
    assert_string_equal(string_at(r, "/columns/0/name"), "a name");
    assert_int_equal(whole_at(r, "/notes/repairs/header/count"), 1);
    problem_check(call_upload("/v1/datasets/refused", "\"a\r\nname\",b\n1,2\n3,4\n"), 422,
                  "invalid-dataset");
}

/* R writes no name for the column of row names, which are quoted. */
static void test_row_names_of_r(void **state) {
    (void)state;
    const struct response *r = status_check(
        call_upload("/v1/datasets/r?on_error=repair",
                    "\"x\",\"y\",\"z\"\n\"5\",0.5,\"p\",0\n\"7\",0.5,\"q\",0.3\n\"8\",1,\"p\",2\n"),
        201);
    assert_string_equal(string_at(r, "/columns/1/name"), "x");
    assert_string_equal(string_at(r, "/columns/3/name"), "z");
    assert_int_equal(whole_at(r, "/notes/repairs/header/count"), 1);
    assert_null(json_find(r->json, "/notes/repairs/missing_cells"));
}

static void test_append(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/grows", "id,item,price\n1,nut,2.5\n2,bolt,3\n"), 201);
    problem_check(post("/v1/datasets/grows/rows", "3,nail\n"), 422, "invalid-dataset");
    const struct response *r =
        status_check(post("/v1/datasets/grows/rows?on_error=repair", "3,nail\n4,pin, small,1\n"),
                     201);
    assert_int_equal(whole_at(r, "/notes/append/repairs/missing_cells/count"), 1);
    assert_int_equal(whole_at(r, "/notes/append/repairs/joined_cells/first/0/line"), 2);
    assert_string_equal(rows_of("grows"),
                        "id,item,price\n1,nut,2.5\n2,bolt,3\n3,nail,\n4,\"pin, small\",1\n");
}

static void test_preview(void **state) {
    (void)state;
    const struct response *r =
        status_check(post("/v1/datasets:preview?on_error=repair", broken), 200);
    assert_int_equal(count_at(r, "/rows"), 3);
    assert_int_equal(whole_at(r, "/notes/repairs/footer/first/0/line"), 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_upload),         TEST(test_sound),
                                       TEST(test_row_names_of_r), TEST(test_append),
                                       TEST(test_preview),        TEST(test_unchanged),
                                       TEST(test_lines)};
    return RUN(tests);
}
