/* Decimal commas, separators of thousands and signs around numbers: detected or given at the
 * upload, and read in the same way in appended rows and in rows that predict. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct response *upload(const char *options, const char *body) {
    static int n;
    return status_check(call_upload(text("/v1/datasets/marks-%d%s", n++, options), body), 201);
}

static void check_numbers(const struct response *r, size_t column, double min, double max) {
    assert_string_equal(string_at(r, text("/columns/%zu/type", column)), "numeric");
    assert_near(real_at(r, text("/columns/%zu/min", column)), min, 0);
    assert_near(real_at(r, text("/columns/%zu/max", column)), max, 0);
}

static void test_detected(void **state) {
    (void)state;
    const struct response *r =
        upload("", "a;b;c;y\n1,5;0.25;1;x\n2.234,25;1.5;2;u,v\n-,5;1e-1;4;x\n1,234;9;5;x\n");
    check_numbers(r, 0, -0.5, 2234.25);
    check_numbers(r, 1, 0.1, 9);
    check_numbers(r, 2, 1, 5);
    assert_json(r, "/notes/decimal_comma", "['a']");
    assert_json(r, "/notes/warnings", "[]");
    /* without a header the semicolon is the delimiter, and the first row is data */
    r = upload("", "5,1;3,5;setosa\n4,9;3,0;virginica\n");
    assert_json(r, "/rows", "2");
    check_numbers(r, 0, 4.9, 5.1);
    check_numbers(r, 1, 3, 3.5);
    r = upload("", "\"5,1\";\"3,5\"\n\"4,9\";\"3,0\"\n");
    check_numbers(r, 1, 3, 3.5);
    r = upload("", "5,1\t3,5\n4,9\t3,0\n");
    check_numbers(r, 1, 3, 3.5);
    r = upload("", "5,1|3,5\n4,9|3,0\n");
    check_numbers(r, 1, 3, 3.5);
    /* far below the sample */
    char *late = keep(malloc(400000), free), *at = late;
    at += sprintf(at, "a;b\n");
    for (int i = 0; i < 30000; i++) {
        at += sprintf(at, "%d;%d\n", i % 9, i % 5);
    }
    (void)sprintf(at, "1,5;2.5\n");
    r = upload("", late);
    check_numbers(r, 0, 0, 8);
    check_numbers(r, 1, 0, 4);
    assert_json(r, "/notes/decimal_comma", "['a']");
    assert_near(real_at(r, "/columns/0/mean"), (119997 - 3 + 1.5) / 30001, 1e-4);
}

static void check_warning(const char *options, const char *body, const char *type,
                          const char *warning) {
    const struct response *r = upload(options, body);
    assert_string_equal(string_at(r, "/columns/0/type"), type);
    if (warning == NULL) {
        assert_json(r, "/notes/warnings", "[]");
    } else if (strstr(string_at(r, "/notes/warnings/0"), warning) == NULL) {
        fail_msg("%s", r->body);
    }
}

/* Numbers with three digits behind the point are read many rows at a time. One that cannot be
 * grouped decides for the column wherever it stands. */
static void test_many_grouped(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 62, 63, 64, 65, 200, 3000};
    static const struct {
        const char *many, *last, *type, *warning;
    } cases[] = {
        {"1.234;x\n", "12.345;y\n", "numeric", "set thousands=."},
        {"-1.234;x\n", "2000;y\n5;y\n", "numeric", "set thousands=."},
        {"1.234;x\n", "0.345;y\n", "numeric", NULL},
        {"1.250;x\n", "0.250;y\n", "numeric", NULL},
        {"1.250;x\n", "2.500;y\n999.999;y\n", "numeric", "set thousands=."},
        {"1.234;x\n", "-1234.567;y\n", "numeric", NULL},
        {"1.250;x\n", "1000.000;y\n", "numeric", NULL},
        {"1.234;x\n", "1.5;y\n", "numeric", NULL},
        {"1.234;x\n", ";y\n1.235;y\n", "numeric", "set thousands=."},
        {"1.234;x\n", "1,5;y\n", "categorical", "set decimal=, and thousands=."},
        {"1.234;x\n", "0.345;y\n1,5;y\n", "categorical", "other cells have decimal points"},
        {"1.250;x\n", "1000.250;y\n1,5;y\n", "categorical", "other cells have decimal points"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            const char *many = repeat(cases[i].many, counts[k]);
            check_warning("", text("a;w\n%s%s", many, cases[i].last), cases[i].type,
                          cases[i].warning);
            check_warning("", text("a;w\n%s%s%s", many, cases[i].last, many), cases[i].type,
                          cases[i].warning);
        }
    }
}

/* What has two readings is not guessed: the column is read as before, with a warning. */
static void test_ambiguous(void **state) {
    (void)state;
    check_warning("", "a;w\n1,234;x\n12,345;y\n", "categorical", "set decimal=, or thousands=,");
    check_warning("", "a;w\n1.234;x\n12.345;y\n", "numeric", "set thousands=.");
    check_warning("", "a;w\n1.234;x\n0.345;y\n", "numeric", NULL);
    check_warning("", "a,w\n1.234,x\n12.345,y\n", "numeric", NULL);
    check_warning("?types=a:numeric", "a;w\n1.234;x\n12.345;y\n", "numeric", "set thousands=.");
    check_warning("", "a;w\n1.234;x\n1,5;y\n", "categorical", "set decimal=, and thousands=.");
    check_warning("", "a;w\n1,5;y\n1.234;x\n", "categorical", "set decimal=, and thousands=.");
    check_warning("", "a;w\n1,234;y\n1.5;x\n", "categorical", "set thousands=,");
    check_warning("", "a,w\n\"1,5\",y\n2,x\n", "categorical", "set decimal=,");
    check_warning("?decimal=,", "a;w\n1,5;y\n2.5;x\n", "categorical", "a point is no decimal mark");
    problem_check(call_upload("/v1/datasets/given?types=a:numeric", "a;w\n1,234;x\n12,345;y\n"),
                  422, "invalid-dataset");
}

static void test_given(void **state) {
    (void)state;
    static const struct {
        const char *options, *body;
        double min, max;
    } given[] = {{"?decimal=,", "a;w\n1,234;x\n12,5;y\n", 1.234, 12.5},
                 {"?decimal=,", "a,w\n\"1,234\",x\n\"12,5\",y\n", 1.234, 12.5},
                 {"?thousands=,", "a;w\n1,234;x\n12.5;y\n", 12.5, 1234},
                 {"?thousands=,", "a,w\n\"1,234,567\",x\n\"12.5\",y\n", 12.5, 1234567},
                 {"?thousands=.", "a;w\n1.234;x\n12,5;y\n", 12.5, 1234},
                 {"?decimal=comma&thousands=point", "a;w\n1.234.567,5;x\n-2;y\n", -2, 1234567.5},
                 {"?thousands='",
                  "a;w\n1'234.5;x\n1\xE2\x80\x99"
                  "000;y\n",
                  1000, 1234.5},
                 {"?thousands=space",
                  "a;w\n1 234,5;x\n1\xC2\xA0"
                  "000;y\n",
                  1000, 1234.5},
                 {"?decimal=.", "a;w\n1.234;x\n12.345;y\n", 1.234, 12.345},
                 {"?strip=%E2%82%AC%25", "a;w\n12,50 \xE2\x82\xAC;x\n-\xE2\x82\xAC 7;y\n", -7,
                  12.5}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        check_numbers(upload(given[i].options, given[i].body), 0, given[i].min, given[i].max);
    }
    /* groups of other sizes are no numbers */
    check_warning("?thousands=.", "a;w\n1.23;x\n4,5;y\n", "categorical", NULL);
    static const char *const wrong[] = {"decimal=x", "thousands=1", "strip=a",
                                        "strip=1",   "strip=%2B",   "decimal=,&thousands=,"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        problem_check(call_upload(text("/v1/datasets/wrong?%s", wrong[i]), "a\n1\n"), 400,
                      "bad-request");
        problem_check(call_text("POST", text("/v1/datasets:preview?%s", wrong[i]), NULL, "a\n1\n"),
                      400, "bad-request");
    }
}

static void test_signs(void **state) {
    (void)state;
    check_warning(
        "",
        "a,w\n\xE2\x82\xAC"
        "5,x\n7,y\n\xE2\x82\xAC 1.5,z\n",
        "categorical",
        "some of its numbers have \xE2\x82\xAC around them: strip=\xE2\x82\xAC reads them");
    check_warning("", "a,w\n0,x\n45%,y\n5.5 %,z\n", "categorical", "strip=%");
    check_warning("", "a,w\n\"$1,234.50\",x\n$7,y\n", "categorical", "strip=$&thousands=,");
    check_warning("", "a,w\n$5,x\nfree,y\n", "categorical", NULL);
    const struct response *r = upload("", "a;w\n5,5 \xE2\x82\xAC;x\n7,25 \xE2\x82\xAC;y\n");
    assert_non_null(strstr(string_at(r, "/columns/0/type_reason/detail"), "strip=\xE2\x82\xAC"));
    assert_json(upload("?strip=%E2%82%AC", "a;w\n5,5 \xE2\x82\xAC;x\n7,25 \xE2\x82\xAC;y\n"),
                "/notes/decimal_comma", "['a']");
}

/* ---- appended rows and predictions ---- */
static const struct response *post(const char *path, const char *type, const char *body) {
    const char *const headers[] = {text("Content-Type: %s", type), NULL};
    return call_bytes("POST", path, headers, body, strlen(body));
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    const char *csv = "a;b;c;y\n";
    for (int i = 0; i < 40; i++) {
        csv = text("%s%d,%d;%d.5;%d %%;%s\n", csv, i % 7, 1 + i % 9, i % 5, i % 11,
                   i % 3 == 0 || i % 7 == 1 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/german?strip=%25", csv), 201);
    job_train("{'model':'german','dataset':'german','target':'y','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static void test_appended(void **state) {
    (void)state;
    static const char path[] = "/v1/datasets/rows-of/rows";
    status_check(call_upload("/v1/datasets/rows-of", "a;b;c\n1,5;2;\n2;3;\n"), 201);
    const struct response *r = status_check(post(path, "text/csv", "a;b;c\n1,234;4;x\n"), 201);
    check_numbers(r, 0, 1.234, 2);
    r = problem_check(post(path, "text/csv", "a;b;c\n1.25;4;x\n"), 422, "invalid-dataset");
    assert_non_null(strstr(r->body, "1.25"));
    problem_check(post(path, "text/csv", "a;b;c\n1;4,5;x\n"), 422, "invalid-dataset");
    /* delimited by commas: with decimal points */
    r = status_check(post(path, "text/csv", "a,b,c\n5.5,4.5,x\n"), 201);
    check_numbers(r, 0, 1.234, 5.5);
    r = status_check(post(path, "application/json", "[{\"a\":7.5,\"b\":1,\"c\":\"x\"}]"), 201);
    check_numbers(r, 0, 1.234, 7.5);
    r = status_check(post("/v1/datasets/rows-of/rows?decimal=,", "text/csv", "1;4,5;x\n"), 201);
    assert_json(r, "/notes/decimal_comma", "['a']");
    assert_json(r, "/notes/append/decimal", "','");
    /* a column without values takes the marks of the rows */
    status_check(call_upload("/v1/datasets/empty", "a;b\n;1\n"), 201);
    r = status_check(post("/v1/datasets/empty/rows", "text/csv", "a;b\n1,5;2\n"), 201);
    check_numbers(r, 0, 1.5, 1.5);
    assert_json(r, "/notes/decimal_comma", "['a']");
    problem_check(post("/v1/datasets/empty/rows", "text/csv", "a;b\n1.5;2\n"), 422,
                  "invalid-dataset");
    /* given marks */
    status_check(call_upload("/v1/datasets/thousands?thousands=.", "a;b\n1.234,5;1\n"), 201);
    r = status_check(post("/v1/datasets/thousands/rows", "text/csv", "a;b\n12.345;2\n"), 201);
    check_numbers(r, 0, 1234.5, 12345);
    r = status_check(post("/v1/datasets/thousands/rows", "text/csv", "a,b\n2.5,2\n"), 201);
    check_numbers(r, 0, 2.5, 12345);
}

static void test_predicted(void **state) {
    (void)state;
    static const char path[] = "/v1/models/german/predict";
    assert_json(call_get("/v1/models/german"), "/reading",
                "{'delimiter':';','strip':'%%','trimmed':true,'decimal_comma':['a'],'columns':['a',"
                "'b','c','y']}");
    const char *expected =
        strstr(status_check(post(path, "application/json", "[[4.5,1.5,7],[1.234,3,2]]"), 200)->body,
               "\"predictions\"");
    static const struct {
        const char *query, *body;
    } same[] = {{"", "4,5;1.5;7\n1,234;3;2\n"},
                {"", "a;b;c\n4,5;1.5;7 %\n1,234;3.0;2%\n"},
                {"?decimal=.", "4.5,1.5,7%\n1.234,3,2\n"},
                {"", "c,a,b\n7,4.5,1.5\n2,1.2340,3\n"},
                {"?decimal=.", "4.5;1.5;7\n1.234;3;2\n"},
                {"?decimal=,", "4,5;1,5;7\n1,234;3;2\n"},
                {"?decimal=,&strip=$", "$4,5;1,5;7\n1,234;3;$ 2\n"}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const struct response *r =
            status_check(post(text("%s%s", path, same[i].query), "text/csv", same[i].body), 200);
        assert_string_equal(strstr(r->body, "\"predictions\""), expected);
    }
    const struct response *r =
        problem_check(post(path, "text/csv", "4.5;1.5;7\n"), 422, "invalid-instances");
    assert_non_null(strstr(r->body, "decimal commas"));
    problem_check(post(path, "text/csv", "4,5;1,5;7\n"), 422, "invalid-instances");
    problem_check(post(text("%s?decimal=x", path), "text/csv", "4,5;1,5;7\n"), 400, "bad-request");
    r = status_check(call_get("/v1/models/german/predict?a=4,5&b=1.5&c=7%%25"), 200);
    assert_near(real_at(r, "/predictions/0/probabilities/0"),
                real_at(post(path, "application/json", "[[4.5,1.5,7]]"),
                        "/predictions/0/probabilities/0"),
                0);
    const struct response *a = status_check(post("/v1/models/german/evaluate", "text/csv",
                                                 "a;b;c;y\n4,5;1.5;7%;yes\n1;2;3;no\n"),
                                            200);
    const struct response *b = status_check(post("/v1/models/german/evaluate", "application/json",
                                                 "[[4.5,1.5,7,\"yes\"],[1,2,3,\"no\"]]"),
                                            200);
    assert_true(json_equal(value_at(a, "/metrics"), value_at(b, "/metrics")));
}

/* In a body that is delimited by commas, a point of a column with decimal commas that could
 * separate thousands is refused: 1.150 may be 1.15 or 1150. */
static void test_doubtful_points(void **state) {
    (void)state;
    static const char rows[] = "/v1/datasets/commas/rows", path[] = "/v1/models/commas/predict";
    status_check(call_upload("/v1/datasets/commas",
                             "a;b;y\n1,5;2;u\n2,25;3;v\n3,5;1;u\n4,75;9;v\n"),
                 201);
    job_train("{'model':'commas','dataset':'commas','target':'y','algorithm':'logistic'}");
    const char *const refused[] = {"a,b,y\n1.150,2,u\n", "a,b,y\n2.5,2,u\n1.155,2,u\n",
                                   "a\n1.150\n", "a,b,y\n-1.000,2,u\n"};
    for (size_t i = 0; i < 4; i++) {
        const struct response *r =
            problem_check(post(rows, "text/csv", refused[i]), 422, "invalid-dataset");
        assert_non_null(strstr(r->body, "its point may separate thousands"));
        assert_null(strstr(r->body, "allow_type_change"));
        assert_non_null(strstr(r->body, "column \\\"a\\\""));
        if (i != 2) { /* the others have all columns */
            r = problem_check(post(path, "text/csv", refused[i]), 422, "invalid-instances");
            assert_non_null(strstr(r->body, "its point may separate thousands"));
        }
    }
    /* the cure, and points that separate no thousands */
    status_check(post(text("%s?decimal=.", path), "text/csv", "a,b\n1.150,2\n"), 200);
    const struct response *r =
        status_check(post(text("%s?decimal=.", rows), "text/csv", "a,b,y\n1.150,2,u\n"), 201);
    check_numbers(r, 0, 1.15, 4.75);
    r = status_check(post(rows, "text/csv", "a,b,y\n1.05,2.125,u\n"), 201);
    check_numbers(r, 0, 1.05, 4.75);
    check_numbers(r, 1, 1, 9);
    status_check(post(path, "text/csv", "a,b\n1.5,2.125\n"), 200);
    /* marks that were given at the upload */
    status_check(call_upload("/v1/datasets/given?decimal=,", "a;b\n1,5;2\n"), 201);
    problem_check(post("/v1/datasets/given/rows", "text/csv", "a,b\n1.5,2.125\n"), 422,
                  "invalid-dataset");
    r = status_check(post("/v1/datasets/given/rows?decimal=.", "text/csv", "a,b\n1.5,2.125\n"),
                     201);
    check_numbers(r, 1, 2, 2.125);
}

/* Each message proposes what then works. */
static void test_cures(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/cured", "a;b\n1,5;2\n2,25;3\n"), 201);
    const struct response *r =
        problem_check(post("/v1/datasets/cured/rows", "text/csv", "a;b\n170.5;2\n"), 422,
                      "invalid-dataset");
    assert_non_null(strstr(r->body, "decimal=. reads points as decimal marks"));
    assert_null(strstr(r->body, "allow_type_change"));
    r = status_check(post("/v1/datasets/cured/rows?decimal=.", "text/csv", "a;b\n170.5;2\n"), 201);
    check_numbers(r, 0, 1.5, 170.5);
    r = problem_check(post("/v1/datasets/cured/rows", "text/csv", "a;b\n1.170;2\n"), 422,
                      "invalid-dataset");
    assert_non_null(strstr(r->body, "set decimal=, and thousands=."));
    r = status_check(post("/v1/datasets/cured/rows?decimal=,&thousands=.", "text/csv",
                          "a;b\n1.170;2\n"),
                     201);
    check_numbers(r, 0, 1.5, 1170);
    /* marks of separated text are not proposed for JSON */
    static const char *const json = "[{\"a\":\"1,5\"},{\"a\":\"1,234,567\"},{\"a\":2}]";
    const char *const headers[] = {"Content-Type: application/json", NULL};
    r = call_bytes("PUT", "/v1/datasets/json?types=a:numeric", headers, json, strlen(json));
    problem_check(r, 422, "invalid-dataset");
    assert_non_null(strstr(r->body, "write decimal fractions with a point\""));
    assert_null(strstr(r->body, "decimal=,"));
    assert_null(strstr(r->body, "thousands=,"));
    r = call_bytes("PUT", "/v1/datasets/json", headers, json, strlen(json));
    assert_null(strstr(status_check(r, 201)->body, "decimal=,"));
    r = problem_check(post("/v1/models/german/predict", "application/json", "[[\"4,5\",1.5,7]]"),
                      422, "invalid-instances");
    assert_null(strstr(r->body, "decimal=,"));
    r = problem_check(post("/v1/models/german/predict", "text/csv", "a,b,c\n\"4,5\",1.5,7\n"), 422,
                      "invalid-instances");
    assert_non_null(strstr(r->body, "set decimal=,"));
    status_check(post("/v1/models/german/predict?decimal=,", "text/csv",
                      "a,b,c\n\"4,5\",\"1,5\",7\n"),
                 200);
}

/* Cells with separators of thousands come back as they were written, whatever type the column
 * gets. */
static void test_spelling(void **state) {
    (void)state;
    static const char *const cells = "a;b\n2.000;1\n3.500;2\n12;1\n0.000;1\n-4.000;3\n";
    const struct response *r =
        call_upload("/v1/datasets/spelled?thousands=.", text("%sx;1\n", cells));
    assert_string_equal(string_at(status_check(r, 201), "/columns/0/type"), "categorical");
    r = status_check(call_get_with("Accept: text/csv", "/v1/datasets/spelled/rows"), 200);
    assert_string_equal(r->body, "a,b\n2.000,1\n3.500,2\n12,1\n0.000,1\n-4.000,3\nx,1\n");
    r = upload("?thousands=.&types=a:text", cells);
    assert_json(r, "/columns/0/type", "'text'");
    r = upload("?thousands=.", cells);
    check_numbers(r, 0, -4000, 3500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_doubtful_points), TEST(test_spelling),  TEST(test_detected),
        TEST(test_many_grouped),    TEST(test_ambiguous), TEST(test_given),
        TEST(test_signs),           TEST(test_appended),  TEST(test_predicted),
        TEST(test_cures),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
