/* Columns of dates and times: their form is detected or given, their cells are shown as written,
 * and models read the same form. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct response *upload(const char *options, const char *body) {
    static int n;
    return status_check(call_upload(text("/v1/datasets/dates-%d%s", n++, options), body), 201);
}

/* Uploads two cells and checks the type of the column; form NULL: it is no datetime column. */
static void check_form(const char *options, const char *a, const char *b, const char *form) {
    const struct response *r = upload(options, text("d,y\n%s,1\n%s,2\n", a, b));
    if (form == NULL) {
        assert_string_not_equal(string_at(r, "/columns/0/type"), "datetime");
        return;
    }
    assert_string_equal(string_at(r, "/columns/0/type"), "datetime");
    assert_string_equal(string_at(r, "/columns/0/form"), form);
    assert_string_equal(string_at(r, "/columns/0/min"), a);
    assert_string_equal(string_at(r, "/columns/0/max"), b);
}

static void test_forms(void **state) {
    (void)state;
    check_form("", "1969-12-31", "2024-02-29", "YYYY-MM-DD");
    check_form("", "0001-01-01", "9999-12-31", "YYYY-MM-DD");
    check_form("", "2024-01-31T08:30", "2024-02-01T00:00", "YYYY-MM-DDThh:mm");
    check_form("", "2024-01-31 08:30:00.25", "2024-02-01 00:00:00.50", "YYYY-MM-DD hh:mm:ss.ff");
    check_form("", "2024-01-31T23:30:00Z", "2024-02-01T00:00:00Z", "YYYY-MM-DDThh:mm:ssZ");
    check_form("", "2024-01-31T23:30:00+02:00", "2024-02-01T00:00:00+02:00",
               "YYYY-MM-DDThh:mm:ss+02:00");
    check_form("", "9.1.2024", "31.12.2024", "D.M.YYYY");
    check_form("", "01/31/2024 9:05", "02/01/2024 10:00", "MM/DD/YYYY h:mm");
    check_form("", "08:30", "23:59", "hh:mm");
    check_form("?types=d:datetime(dmy)", "02/01/2024", "01/02/2024", "DD/MM/YYYY");
    check_form("?types=d:datetime(mdy)", "01/02/2024", "02/01/2024", "MM/DD/YYYY");
    check_form("", "2024-01-31", "2023-02-29", NULL);
    check_form("", "2024-01-31", "12024-01-31", NULL);
    check_form("", "2016-12-31T23:59:59", "2016-12-31T23:59:60", NULL);
    check_form("", "2024-01-31", "2024-01-31T10:00", NULL);
    check_form("", "01/02/2024", "02/01/2024", NULL);
    check_form("?types=d:categorical", "2024-01-31", "2024-02-01", NULL);
}

static void test_not_guessed(void **state) {
    (void)state;
    const struct response *r = upload("", "d,y\n01/02/2024,1\n02/01/2024,2\n");
    assert_non_null(strstr(string_at(r, "/notes/warnings/0"), "types=d:datetime(dmy)"));
    problem_check(call_upload("/v1/datasets/open?types=d:datetime",
                              "d,y\n01/02/2024,1\n02/01/2024,2\n"),
                  422, "invalid-dataset");
    problem_check(call_upload("/v1/datasets/open?types=d:datetime", "d,y\n2024-01-31,1\nx,2\n"),
                  422, "invalid-dataset");
    r = upload("", "[{\"d\":\"2024-01-31\",\"y\":1},{\"d\":null,\"y\":2}]");
    assert_string_equal(string_at(r, "/columns/0/type"), "datetime");
    assert_json(r, "/columns/0/missing", "1");
}

/* Dates without separators are numbers, unless the type of the column is given. */
static void test_compact(void **state) {
    (void)state;
    static const char dates[] = "d,y\n19700101,a\n19700102,a\n,a\n19700104,b\n19700105,b\n";
    const struct response *r = upload("", dates);
    assert_string_equal(string_at(r, "/columns/0/type"), "numeric");
    assert_non_null(strstr(string_at(r, "/notes/warnings/0"), "types=d:datetime reads them"));
    r = upload("?types=d:numeric", dates);
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    r = upload("", "d,y\n20240131,1\n20240232,2\n");
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    check_form("?types=d:datetime", "20240131", "20240201", "YYYYMMDD");
    check_form("?types=d:datetime(ymd)", "00010101", "99991231", "YYYYMMDD");
    check_form("?types=d:datetime", "20240131 08:30", "20240201 00:00", "YYYYMMDD hh:mm");
    r = problem_check(call_upload("/v1/datasets/open?types=d:datetime",
                                  "d,y\n20240131,1\n20240230,2\n"),
                      422, "invalid-dataset");
    assert_non_null(strstr(string_at(r, "/errors/0/detail"), "no such day"));
    status_check(call_upload("/v1/datasets/compact?types=d:datetime", dates), 201);
    status_check(call_text("POST", "/v1/datasets/compact/rows", "Content-Type: application/json",
                           "[{\"d\":19700106,\"y\":\"b\"}]"),
                 201);
    job_train("{'model':'compact','dataset':'compact','target':'y','algorithm':'logistic'}");
    const char *body = "{\"instances\":[{\"d\":19700101},{\"d\":\"19700106\"}]}";
    r = status_check(call_text("POST", "/v1/models/compact/predict",
                               "Content-Type: application/json", body),
                     200);
    assert_json(r, "/predictions/0/label", "'a'");
    assert_json(r, "/predictions/1/label", "'b'");
    r = status_check(call_text("POST", "/v1/models/compact/predict", "Content-Type: text/csv",
                               "d\n19700101\n19700106\n"),
                     200);
    assert_json(r, "/predictions/0/label", "'a'");
    assert_json(r, "/predictions/1/label", "'b'");
}

static void test_appended_and_predicted(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/days?types=when:datetime(dmy)",
                             "when,y\n1.1.1970,a\n2.1.1970,a\n3.1.1970,b\n"
                             "4.1.1970,b\n"),
                 201);
    const struct response *r = call_get("/v1/datasets/days/rows");
    assert_json(r, "/items/1/when", "'2.1.1970'");
    problem_check(call_text("POST", "/v1/datasets/days/rows", "Content-Type: text/csv",
                            "when,y\n1970-01-05,a\n"),
                  422, "invalid-dataset");
    status_check(call_text("POST", "/v1/datasets/days/rows", "Content-Type: text/csv",
                           "when,y\n5.1.1970,b\n"),
                 201);
    /* the days are 0, 86400, … 345600 seconds after 1970-01-01: their mean is 172800 */
    job_train("{'model':'days','dataset':'days','target':'y','algorithm':'logistic'}");
    r = call_get("/v1/models/days");
    assert_json(r, "/inputs/0/type", "'datetime'");
    assert_json(r, "/inputs/0/form", "'D.M.YYYY'");
    assert_near(real_at(r, "/inputs/0/missing_value"), 172800, 1e-12);
    r = status_check(
        call_json("POST", "/v1/models/days/predict?keep=when",
                  "{\"instances\":[{\"when\":\"1.1.1970\"},{\"when\":\"05.01.1970\"}]}"),
        200);
    assert_json(r, "/predictions/0/label", "'a'");
    assert_json(r, "/predictions/1/label", "'b'");
    assert_json(r, "/predictions/1/keep/when", "'05.01.1970'");
    problem_check(call_json("POST", "/v1/models/days/predict",
                            "{\"instances\":[{\"when\":\"29.2.1970\"}]}"),
                  422, "invalid-instances");
    problem_check(call_json("POST", "/v1/models/days/predict", "{\"instances\":[{\"when\":0}]}"),
                  422, "invalid-instances");
    problem_check(call_json("POST", "/v1/jobs",
                            "{\"model\":\"m\",\"dataset\":\"days\",\"target\":\"when\","
                            "\"algorithm\":\"logistic\"}"),
                  422, "invalid");
}

static const struct response *append(const char *options, const char *rows) {
    return call_text("POST", text("/v1/datasets/dates/rows%s", options), "Content-Type: text/csv",
                     rows);
}

/* Rows of another form are refused with line, cell and column. */
static void test_append(void **state) {
    (void)state;
    static const char *const others[] = {"01.02.2021", "2021-01-03T10:00", "2021-02-29", "x", "7"};
    status_check(call_upload("/v1/datasets/dates", "when,y\n2021-01-01,a\n2021-01-02,b\n"), 201);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct response *r =
            problem_check(append("", text("when,y\n2021-01-05,a\n%s,b\n", others[i])), 422,
                          "invalid-dataset");
        const char *want =
            text("line 3, column 1: column \"when\": a cell must be a date or time of "
                 "the form YYYY-MM-DD (got \"%s\")",
                 others[i]);
        if (strstr(string_at(r, "/detail"), want) == NULL ||
            strstr(string_at(r, "/detail"), "allow_type_change=true") == NULL) {
            fail_msg("%s", string_at(r, "/detail"));
        }
    }
    const struct response *r = status_check(append("", "when,y\n2021-1-9,a\n,b\n"), 201);
    assert_json(r, "/columns/0",
                "{'name':'when','type':'datetime','missing':1,'form':'YYYY-M-D',"
                "'min':'2021-1-1','max':'2021-1-9','distinct':3}");
    assert_json(call_get("/v1/datasets/dates/rows"), "/items/2/when", "'2021-1-9'");
    r = status_check(append("?allow_type_change=true", "when,y\n01.02.2021,a\n"), 201);
    assert_string_equal(string_at(r, "/columns/0/type"), "categorical");
    assert_string_equal(string_at(r, "/columns/0/type_reason/code"), "after_dates");
    assert_non_null(strstr(string_at(r, "/notes/append/warnings/0"), "\"01.02.2021\""));
}

/* A word for a missing value among dates is named with its cure. */
static void test_missing_words(void **state) {
    (void)state;
    const char *rows = "d,y\n2024-01-31,1\nn.a.,2\n2024-02-01,2\n";
    const struct response *r = upload("", rows);
    assert_string_equal(string_at(r, "/columns/0/type"), "categorical");
    assert_non_null(strstr(string_at(r, "/notes/warnings/0"), "name it in missing="));
    r = upload("?missing=n.a.", rows);
    assert_string_equal(string_at(r, "/columns/0/type"), "datetime");
    assert_json(r, "/columns/0/missing", "1");
    r = upload("?types=d:datetime", "d,y\n,1\nNA,2\n");
    assert_json(r, "/columns/0/form", "null");
    assert_json(r, "/columns/0/min", "null");
    r = upload("", "d,y\n2024-01-31,1\n2024-01-31,2\n"); /* one value */
    assert_string_equal(string_at(r, "/columns/0/type"), "datetime");
    assert_json(r, "/columns/0/distinct", "1");
    assert_false(has(r, "/columns/0/identifier"));
}

/* Surplus cells are not joined to a date. */
static void test_repaired(void **state) {
    (void)state;
    const struct response *r = upload("?on_error=repair", "name,when\na b,2021-01-01\n"
                                                          "c, d,2021-01-02\ne f,2021-01-03\n");
    assert_string_equal(string_at(r, "/columns/1/type"), "datetime");
    assert_string_equal(string_at(r, "/columns/1/max"), "2021-01-03");
    r = upload("?on_error=repair", "x,when\n1,2021-01-01\n2,2021-01-02,zz\n3,2021-01-03\n");
    assert_string_equal(string_at(r, "/columns/1/type"), "datetime");
    assert_int_equal(count_at(r, "/columns"), 2);
}

/* The description and the preview of the same bytes are equal; rows come back as they were
 * written. */
static void test_shown(void **state) {
    (void)state;
    const char *rows = "when,at,y\n2024-01-31T10:00:00+01:00,9:05,a\n"
                       "2024-07-31T10:00:00+02:00,10:00,b\n";
    status_check(call_upload("/v1/datasets/shown", rows), 201);
    const struct response *r = call_get("/v1/datasets/shown"),
                          *p = call_text("POST", "/v1/datasets:preview", "Content-Type: text/csv",
                                         rows);
    assert_json(r, "/columns/0",
                "{'name':'when','type':'datetime','missing':0,"
                "'form':'YYYY-MM-DDThh:mm:ss+hh:mm','min':'2024-01-31T09:00:00+00:00',"
                "'max':'2024-07-31T08:00:00+00:00','distinct':2}");
    assert_json(r, "/columns/1/form", "'h:mm'");
    assert_true(json_equal(value_at(r, "/columns/0"), value_at(p, "/columns/0")));
    assert_true(json_equal(value_at(r, "/columns/1"), value_at(p, "/columns/1")));
    r = call_get_with("Accept: text/csv", "/v1/datasets/shown/rows");
    assert_string_equal(r->body, "when,at,y\n2024-01-31T10:00:00+01:00,9:05,a\n"
                                 "2024-07-31T10:00:00+02:00,10:00,b\n");
    r = call_get("/v1/datasets/shown/rows");
    assert_string_equal(string_at(r, "/items/1/when"), "2024-07-31T10:00:00+02:00");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_forms),    TEST(test_not_guessed),
        TEST(test_compact),  TEST(test_appended_and_predicted),
        TEST(test_append),   TEST(test_missing_words),
        TEST(test_repaired), TEST(test_shown),
    };
    return cmocka_run_group_tests(tests, group_start, group_end);
}
