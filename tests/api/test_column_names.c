/* The names of columns: several header lines, names given with the upload, the label, names that
 * are used twice. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

static const struct response *append(const char *path, const char *body) {
    return call_bytes("POST", text("/v1/datasets/%s", path), NULL, body, strlen(body));
}

static const struct response *preview(const char *query, const char *body) {
    return call_bytes("POST", text("/v1/datasets:preview?%s", query), NULL, body, strlen(body));
}

static void check_names(const struct response *r, const char *names) {
    const char *found = "";
    for (size_t i = 0; i < count_at(r, "/columns"); i++) {
        found = text("%s%s%s", found, i > 0 ? "|" : "", string_at(r, text("/columns/%zu/name", i)));
    }
    assert_string_equal(found, names);
}

static void check_warning(const struct response *r, const char *wanted) {
    const char *all = keep(json_dumps(value_at(r, "/notes/warnings"), JSON_COMPACT), free);
    if (strstr(all, wanted) == NULL) {
        fail_msg("%s is not in %s", wanted, all);
    }
}

static void refused(const char *query, const char *body, const char *words) {
    const struct response *r = preview(query, body);
    problem_check(r, 422, "invalid-dataset");
    if (strstr(r->body, words) == NULL) {
        fail_msg("%s is not in %s", words, r->body);
    }
}

#define TWO_LINES "Sepal,Sepal,,Species\nlength, width ,id,\n5.1,3.5,1,a\n4.9,3,2,b\n"
#define TWO_NAMES "Sepal length|Sepal width|id|Species"

static void test_header_lines(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_upload("/v1/datasets/two?header=2", TWO_LINES), 201);
    check_names(r, TWO_NAMES);
    assert_int_equal(whole_at(r, "/rows"), 2);
    assert_int_equal(whole_at(r, "/notes/header_lines"), 2);
    assert_json(r, "/columns/0/type", "'numeric'");
    /* a row without a header, one with these lines in another order, one with one line of names */
    status_check(append("two/rows", "5,3,3,c\n"), 201);
    r = status_check(append("two/rows", ",Sepal,Sepal,Species\nid,length,width,\n4,6,7,d\n"), 201);
    assert_int_equal(whole_at(r, "/notes/append/header_lines"), 2);
    status_check(append("two/rows", "id,Sepal length,Species,Sepal width\n5,8,e,9\n"), 201);
    r = status_check(append("two/rows?header=2", "Sepal,Sepal\nwidth,length\n1,2\n"), 201);
    assert_json(call_get("/v1/datasets/two/rows?offset=2"), "/items",
                "[{'Sepal length':5,'Sepal width':3,'id':3,'Species':'c'},"
                "{'Sepal length':6,'Sepal width':7,'id':4,'Species':'d'},"
                "{'Sepal length':8,'Sepal width':9,'id':5,'Species':'e'},"
                "{'Sepal length':2,'Sepal width':1,'id':null,'Species':null}]");
    check_names(preview("header=3", "a,b\n,\nc,e\n1,2\n"), "a c|b e");
    check_names(preview("header=1", "1,2\n3,4\n"), "1|2");
    check_names(preview("header=0", "a,b\n3,4\n"), "c1|c2");
    check_names(preview("header=2&delimiter=space", " a b\n   c  d  e \n 1 2 3\n"), "a c|b d|e");
    check_names(preview("header=2&skip_rows=1", "title\na;b\nc;d\n1;2\n"), "a c|b d");
    refused("header=2", "a,b,c\nd,e\n1,2\n",
            "the last header line has 2 cells, and one above it has 3");
    refused("header=2", "a,b\nc,d\n", "there is only a header");
    refused("header=2", "a,b\n", "there is only a header");
    refused("header=2", "a,a\nb,b\n1,2\n",
            "column name \\\"a b\\\" is used twice: columns 1 and 2");
    check_names(preview("header=2&duplicates=rename", "a,a\nb,b\n1,2\n"), "a b|a b_2");
    problem_check(preview("header=11", "a,b\n1,2\n"), 400, "bad-request");
    problem_check(preview("header=-1", "a,b\n1,2\n"), 400, "bad-request");
    problem_check(preview("header=2x", "a,b\n1,2\n"), 400, "bad-request");
}

static void test_names(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_upload("/v1/datasets/named?names=x,%22a,%20b%22,kind", "1,2,u\n3,4,v\n"),
                     201);
    check_names(r, "x|a, b|kind");
    assert_int_equal(whole_at(r, "/rows"), 2);
    status_check(append("named/rows", "5,6,w\n"), 201);
    status_check(append("named/rows", "kind,x,\"a, b\"\nz,7,8\n"), 201);
    status_check(append("named/rows?names=kind,%22a,%20b%22", "y,9\n"), 201);
    assert_json(call_get("/v1/datasets/named/rows?offset=2"), "/items",
                "[{'x':5,'a, b':6,'kind':'w'},{'x':7,'a, b':8,'kind':'z'},"
                "{'x':null,'a, b':9,'kind':'y'}]");
    problem_check(append("named/rows?names=kind,y", "y,9\n"), 422, "invalid-dataset");
    problem_check(append("named/rows?names=kind", "y,9\n"), 422, "invalid-dataset");
    problem_check(append("named/rows?names=kind,kind", "y,9\n"), 422, "invalid-dataset");
    /* the names of a header are replaced only on demand */
    refused("names=x,y", "a,b\n1,u\n2,v\n", "the first row looks like a header: set header=true");
    check_names(preview("names=x,y&header=true", "a,b\n1,u\n2,v\n"), "x|y");
    r = preview("names=x,y&header=false", "a,b\n1,u\n2,v\n");
    assert_int_equal(count_at(r, "/rows"), 3);
    r = preview("names=x,y", "a,b\nc,d\n"); /* only words: it may be data */
    assert_int_equal(count_at(r, "/rows"), 2);
    /* appends to a dataset whose header was replaced may have that header */
    status_check(call_upload("/v1/datasets/replaced?names=x,y&header=true", "a,b\n1,u\n2,v\n"),
                 201);
    status_check(append("replaced/rows?header=true", "a,b\n3,w\n"), 201);
    status_check(append("replaced/rows", "a,b\n4,u\n5,u\n"), 201);
    assert_json(call_get("/v1/datasets/replaced/rows?offset=2"), "/items",
                "[{'x':3,'y':'w'},{'x':4,'y':'u'},{'x':5,'y':'u'}]");
    /* arrays of JSON have no names */
    check_names(preview("names=x,y", "[1,2]\n[3,4]\n"), "x|y");
    check_warning(status_check(call_upload("/v1/datasets/objects?names=x", "[{\"a\":1}]"), 201),
                  "option \\\"names\\\" was not used");
    refused("names=x,y,z", "1,2\n3,4\n", "has 3 names, and the rows have 2 cells");
    refused("names=x,x", "1,2\n3,4\n", "column name \\\"x\\\" is used twice: columns 1 and 2");
    check_names(preview("names=x,x&duplicates=rename", "1,2\n3,4\n"), "x|x_2");
    static const char *const bad[] = {"", "a,", "a,,b", ",a", "%22a", "%22a%22b", "%22%22"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem_check(preview(text("names=%s", bad[i]), "1,2\n3,4\n"), 400, "bad-request");
    }
    /* as many names as a table may have columns would make too long a URL; 1000 are possible */
    const char *names = "n0", *row = "0";
    for (int i = 1; i < 1000; i++) {
        names = text("%s,n%d", names, i);
        row = text("%s,%d", row, i);
    }
    r = status_check(preview(text("names=%s", names), text("%s\n%s\n", row, row)), 200);
    assert_int_equal(count_at(r, "/columns"), 1000);
}

static void test_label(void **state) {
    (void)state;
    check_names(preview("label=y", "1,2,3\n4,5,6\n"), "c1|c2|y");
    check_names(preview("label=1", "1,2,3\n4,5,6\n"), "label|c2|c3");
    check_names(preview("label=3", "[1,2,3]\n[4,5,6]\n"), "c1|c2|label");
    const struct response *r = preview("label=2&names=a,b", "1,2\n4,5\n");
    check_names(r, "a|b");
    assert_string_equal(string_at(r, "/notes/label"), "b");
    r = preview("label=a", "a,b\n1,2\n");
    assert_string_equal(string_at(r, "/notes/label"), "a");
    r = preview("label=2", "a,b\n1,2\n");
    assert_string_equal(string_at(r, "/notes/label"), "b");
    check_names(preview("label=1", "1 1:2\n0 2:3\n"), "label|f1|f2");
    refused("label=4", "1,2,3\n4,5,6\n",
            "option \\\"label\\\" is column 4, and the table has 3 columns");
    refused("label=3", "a,b\n1,2\n",
            "option \\\"label\\\" is column 3, and the table has 2 columns");
    refused("label=c", "a,b\n1,2\n", "option \\\"label\\\" names \\\"c\\\", which is not a column");
    refused("label=c&names=a,b", "1,2\n",
            "option \\\"label\\\" names \\\"c\\\", which is not a column");
    refused("label=2", "1 1:2\n0 2:3\n", "the label of svmlight is column 1");
    refused("label=16385", "1,2\n", "is column 16385, and the table has 2 columns");
    refused("label=123456789012345678901234567890", "a,b\n1,2\n", "the table has 2 columns");
    refused("label=0", "a,b\n1,2\n", "is column 0, and the table has 2 columns");
    problem_check(preview("label=%2316385", "1,2\n"), 400, "bad-request");
    problem_check(preview("label=%230", "1,2\n"), 400, "bad-request");
    /* names of digits: a name that exists is taken, and #2 is always the position */
    static const char *const digits = "3,2,1\n4,5,6\n7,8,9\n4,6,6\n";
    r = preview("header=true&label=2", digits);
    assert_string_equal(string_at(r, "/notes/label"), "2");
    assert_json(r, "/notes/warnings", "[]");
    r = preview("header=true&label=3", digits);
    assert_string_equal(string_at(r, "/notes/label"), "3");
    check_warning(r, "column 3, \\\"1\\\", is label=#3");
    r = preview("header=true&label=%233", digits); /* the cure */
    assert_string_equal(string_at(r, "/notes/label"), "1");
    assert_json(r, "/notes/warnings", "[]");
    r = preview("names=20240101,b&label=20240101", "1,2\n");
    assert_string_equal(string_at(r, "/notes/label"), "20240101");
    r = preview("label=%231", "1,2\n3,4\n");
    check_names(r, "label|c2");
    refused("label=0", "1 1:2\n0 2:3\n", "the label of svmlight is column 1");
}

static void test_repeated_names(void **state) {
    (void)state;
    const char *body = "id,score,x,score,score_2,score,\n1,2,3,4,5,6,7\n";
    refused("", body, "column name \\\"score\\\" is used twice: columns 2 and 4");
    refused("duplicates=reject", body, "columns 2 and 4");
    const struct response *r =
        status_check(call_upload("/v1/datasets/twice?duplicates=rename", body), 201);
    check_names(r, "id|score|x|score_3|score_2|score_4|c7");
    check_warning(r, "the name of column 4 is that of column 2: it is called \\\"score_3\\\"");
    /* rows with the same header, in another order */
    status_check(append("twice/rows", body), 201);
    status_check(append("twice/rows", "x,score,score_2,score\n1,2,3,4\n"), 201);
    assert_json(call_get("/v1/datasets/twice/rows?offset=1"), "/items",
                "[{'id':1,'score':2,'x':3,'score_3':4,'score_2':5,'score_4':6,'c7':7},"
                "{'id':null,'score':2,'x':1,'score_3':4,'score_2':3,'score_4':null,'c7':null}]");
    problem_check(append("twice/rows?duplicates=reject", body), 422, "invalid-dataset");
    problem_check(append("twice/rows", "id,id\n1,2\n"), 422, "invalid-dataset");
    check_names(preview("duplicates=rename", "{\"columns\":[\"a\",\"a\"],\"rows\":[[1,2]]}"),
                "a|a_2");
    problem_check(preview("duplicates=keep", "a,a\n1,2\n"), 400, "bad-request");
    /* many equal names cost linear time */
    const char *names = text("%sx", repeat("x,", 9999)), *row = text("%s1", repeat("1,", 9999));
    r = status_check(preview("duplicates=rename", text("%s\n%s\n", names, row)), 200);
    assert_string_equal(string_at(r, "/columns/9999/name"), "x_10000");
    /* a name becomes too long */
    r = preview("duplicates=rename", text("%s,%s\n1,2\n", repeat("n", 255), repeat("n", 255)));
    problem_check(r, 422, "invalid-dataset");
}

/* Rows of words above numbers: a warning suggests the option. */
static void test_unread_header_lines(void **state) {
    (void)state;
    const char *body = "size,size,kind\nmm,inch,\n1,2,a\n3,4,b\n5,6,a\n";
    check_warning(preview("", body), "if they are header lines, set header=2");
    assert_int_equal(count_at(preview("header=2", body), "/notes/warnings"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_header_lines), TEST(test_names), TEST(test_label),
                                       TEST(test_repeated_names), TEST(test_unread_header_lines)};
    return cmocka_run_group_tests(tests, group_start, group_end);
}
