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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_forms),
        TEST(test_not_guessed),
        TEST(test_appended_and_predicted),
    };
    return cmocka_run_group_tests(tests, group_start, group_end);
}
