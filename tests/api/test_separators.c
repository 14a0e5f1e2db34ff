/* Separated text in the forms in which it is found: runs of blanks, the line "sep=;" of Excel,
 * titles above the table, tables of one column that look separated. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

static const struct response *append(const char *path, const char *body) {
    return call_bytes("POST", text("/v1/datasets/%s", path), NULL, body, strlen(body));
}

static const char *warnings(const struct response *r) {
    return keep(json_dumps(value_at(r, "/notes/warnings"), JSON_COMPACT), free);
}

static void check_warning(const struct response *r, const char *wanted) {
    if (strstr(warnings(r), wanted) == NULL) {
        fail_msg("%s is not in %s", wanted, warnings(r));
    }
}

/* Twelve rows like those of shuttle.tst: leading and trailing blanks, tabs, no header. The class is
 * 1 if the second number is positive. */
static const char *shuttle(void) {
    const char *body = "";
    for (int i = 0; i < 12; i++) {
        body = text("%s  %d  %s%d\t %d %d \n", body, 40 + i, i % 2 ? "" : " ",
                    i % 2 ? i + 1 : -i - 1, i * i % 7, 1 + (i % 2 == 0));
    }
    return body;
}

static void test_blanks(void **state) {
    (void)state;
    const struct response *r = status_check(call_upload("/v1/datasets/shuttle", shuttle()), 201);
    assert_string_equal(string_at(r, "/notes/delimiter"), " ");
    assert_int_equal(whole_at(r, "/rows"), 12);
    assert_int_equal(count_at(r, "/columns"), 4);
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    assert_json(r, "/columns/1/min", "-11");
    assert_json(r, "/columns/1/max", "12");
    r = status_check(call_upload("/v1/datasets/given?delimiter=space", shuttle()), 201);
    assert_string_equal(string_at(r, "/content"),
                        string_at(call_get("/v1/datasets/shuttle"), "/content"));
    /* decimal commas are numbers */
    r = status_check(call_upload("/v1/datasets/commas", "a b\n1,5 x\n3,5 y\n"), 201);
    assert_json(r, "/columns/0/max", "3.5");
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    /* appended in the same form, with and without a header */
    r = status_check(append("given/rows", "  7   8 9  2\n"), 201);
    assert_int_equal(whole_at(r, "/rows"), 13);
    assert_string_equal(string_at(r, "/notes/append/delimiter"), " ");
    r = status_check(append("given/rows", "c4   c2 c3 c1\n 1 5 6 7 \n"), 201);
    assert_json(call_get("/v1/datasets/given/rows?offset=13"), "/items",
                "[{'c1':7,'c2':5,'c3':6,'c4':1}]");
    problem_check(append("given/rows", " 1 2 3\n"), 422, "invalid-dataset");
    r = status_check(call_upload("/v1/datasets/words?delimiter=space", "a,b 1\nc,d 2\n"), 201);
    r = status_check(append("words/rows", "e,f 3\n"), 201); /* a comma would be found */
    assert_json(r, "/columns/0/distinct", "3");
    /* predictions in the same form */
    job_train(
        "{'model':'shuttle','dataset':'shuttle','target':'c4','algorithm':'logistic','features':"
        "{'include':['c1','c2','c3']}}");
    const struct response *comma =
        call_bytes("POST", "/v1/models/shuttle/predict", NULL, "45,6,4\n44,-5,2\n", 15);
    assert_json(status_check(comma, 200), "/predictions/0/label", "1");
    assert_json(comma, "/predictions/1/label", "2");
    const char *rows[] = {"45 6 4\n44 -5 2\n", "  45  6\t4  \n\n 44 -5 2",
                          "c3 c1 c2\n4 45 6\n2 44 -5\n"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r = status_check(call_bytes("POST", "/v1/models/shuttle/predict", NULL, rows[i],
                                    strlen(rows[i])),
                         200);
        assert_true(json_equal(value_at(r, "/predictions"), value_at(comma, "/predictions")));
    }
    r = call_bytes("POST", "/v1/models/shuttle/predict", NULL, "45 6 4 1 2\n", 11);
    fault_contains(problem_check(r, 422, "invalid-instances"), "line 1",
                   "has 5 cells, expected 3 or 4 (the columns of the training table)");
    r = status_check(call_bytes("POST", "/v1/models/shuttle/evaluate", NULL, shuttle(),
                                strlen(shuttle())),
                     200);
    assert_int_equal(whole_at(r, "/rows"), 12);
}

/* A model of one input takes rows of the training table, between blanks and without names. */
static void test_one_input(void **state) {
    (void)state;
    const char *body = "";
    for (int i = 0; i < 20; i++) {
        body = text("%s %d  %d %s \n", body, i, i * i % 7, i % 2 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/counted", body), 201);
    job_train("{'model':'counted','dataset':'counted','target':'c3','algorithm':'logistic'}");
    const struct response *r = status_check(call_text("POST", "/v1/models/counted/predict", NULL,
                                                      "  7  2 no \n 9  3  yes\n"),
                                            200);
    assert_int_equal(count_at(r, "/predictions"), 2);
    r = call_text("POST", "/v1/models/counted/predict", NULL, " 7 2\n 9 3\n");
    problem_check(r, 422, "invalid-instances");
    assert_non_null(strstr(string_at(r, "/detail"), "2 cells, expected 1 or 3"));
}

/* Rows of one text are not separated at their blanks. */
static void test_one_text(void **state) {
    (void)state;
    const char *body = "text,y\n";
    for (int i = 0; i < 20; i++) {
        body = text("%s%s film,%s\n", body, i % 2 ? "good" : "bad", i % 2 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/films?types=text:text", body), 201);
    job_train("{'model':'films','dataset':'films','target':'y','algorithm':'logistic'}");
    static const char *const rows[] = {"good film\nbad film\n", "text\ngood film\nbad film\n"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct response *r = status_check(call_bytes("POST", "/v1/models/films/predict", NULL,
                                                           rows[i], strlen(rows[i])),
                                                200);
        assert_json(r, "/predictions/0/label", "'yes'");
        assert_json(r, "/predictions/1/label", "'no'");
    }
    const struct response *r =
        status_check(call_upload("/v1/datasets/prose", "text\nIt is so\nNo\nWhy, indeed?\n"), 201);
    assert_int_equal(count_at(r, "/columns"), 1);
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    r = status_check(call_upload("/v1/datasets/people", "Ann Lee\nBob Ray\nAnn Lee\n"), 201);
    check_warning(r, "separated at blanks");
}

static void test_other_separators(void **state) {
    (void)state;
    static const struct {
        const char *query, *body, *warning;
    } tables[] = {
        {"", "a:b\n1:2\n3:4\n",
         "3 of 3 lines have : 1 time: if this separates cells, set "
         "delimiter=%3A"},
        {"", "1::5::x\n2::6::y\n",
         "2 of 2 lines have :: 2 times: if this separates cells, replace "
         "it by a comma"},
        {"?delimiter=semicolon", "a,b\n1,2\n3,4\n",
         "have a comma 1 time: if this separates cells, "
         "set delimiter=comma"},
        {"", "title\na;b\n1;x\n2;y\n3;z\n9\n",
         "4 of 6 lines have a semicolon 1 time: if this separates cells, set delimiter=semicolon"},
        {"", "Measured\nin May\na,b\n1,x\n2,y\nend\n",
         "3 of 6 lines have a comma 1 time: if this separates cells, set delimiter=comma"},
        {"", "x\n1 2 3\n4 5\n6 7 8\n1 2 3\n4 5 6\n7 8 9\n1 2 3\n4 5 6\n7 8 9\n1 2 3\n",
         "have blanks 2 times: if this separates cells, set delimiter=space"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const struct response *r = status_check(
            call_upload(text("/v1/datasets/other-%zu%s", i, tables[i].query), tables[i].body), 201);
        assert_int_equal(count_at(r, "/columns"), 1);
        check_warning(r, tables[i].warning);
    }
    check_warning(status_check(call_upload("/v1/datasets/uneven", "1 2 3\n4 5\n6 7 8\n"), 201),
                  "3 of 3 lines have blanks between numbers: if this separates cells, set "
                  "delimiter=space");
    const struct response *r =
        status_check(call_upload("/v1/datasets/colons?delimiter=%3A", "a:b\n1:2\n3:4\n"), 201);
    assert_int_equal(count_at(r, "/columns"), 2);
    status_check(append("colons/rows", "5:6\n"), 201);
    static const char *const bad[] = {"x", "1", "%2B", "-", ".", "%22", "::", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem_check(call_upload(text("/v1/datasets/bad?delimiter=%s", bad[i]), "a,b\n1,2\n"), 400,
                      "bad-request");
    }
}

static void test_excel(void **state) {
    (void)state;
    static const char *const bodies[] = {"sep=;\na,x;b\n1,5;2\n2,5;3\n",
                                         "sep=;\r\na,x;b\r\n1,5;2\r\n2,5;3\r\n",
                                         "\xEF\xBB\xBFSEP=;\na,x;b\n1,5;2\n2,5;3\n",
                                         "\"sep=;\"\ra,x;b\r1,5;2\r2,5;3\r",
                                         "sep=|\na,x|b\n1,5|2\n2,5|3\n",
                                         "sep=^\na,x^b\n1,5^2\n2,5^3"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const struct response *r =
            status_check(call_upload(text("/v1/datasets/excel-%zu", i), bodies[i]), 201);
        assert_int_equal(whole_at(r, "/rows"), 2);
        assert_json(r, "/columns/0/name", "'a,x'");
        assert_json(r, "/columns/1/max", "3");
    }
    status_check(append("excel-0/rows", "sep=;\na,x;b\n7,5;4\n"), 201);
    /* the line counts as a line */
    static const char *const skipped[] = {"1", "2"};
    for (size_t i = 0; i < 2; i++) {
        const struct response *r =
            status_check(call_upload(text("/v1/datasets/excel?skip_rows=%s", skipped[i]),
                                     i == 0 ? "sep=;\na;b\n1;2\n" : "sep=;\nMy table\na;b\n1;2\n"),
                         i == 0 ? 201 : 200);
        assert_json(r, "/columns/1/name", "'b'");
    }
    /* no such line: the first row is the header */
    const struct response *r =
        status_check(call_upload("/v1/datasets/no-excel", "sep=x,b\n1,2\n"), 201);
    assert_json(r, "/columns/0/name", "'sep=x'");
    problem_check(call_upload("/v1/datasets/none", "sep=;\n"), 422, "invalid-dataset");
    problem_check(call_upload("/v1/datasets/none", "sep=;"), 422, "invalid-dataset");
    r = status_check(call_bytes("POST", "/v1/models/shuttle/predict", NULL, "sep=;\n45;6;4\n", 13),
                     200);
    assert_json(r, "/predictions/0/label", "1");
}

static void test_titles(void **state) {
    (void)state;
    static const struct {
        const char *body, *place, *words;
        int skip;
    } tables[] = {
        {"Sales of 2020\na,b,c\n1,2,3\n4,5,6\n", "line 1",
         "line 1 has 1 cell, and the rows below have 3: probably a title; skip_rows=1 leaves it "
         "out",
         1},
        {"Sales, of 2020\na;b;c\n1;2;3\n4;5;6\n", "line 1", "skip_rows=1 leaves it out", 1},
        {"\"Sales; 2020\"\r\n\r\na;b;c\r\n1;2;3\r\n", "line 1", "skip_rows=2", 2},
        {"Sales\nof 2020\na,b,c\n1,2,3\n4,5,6\n", "line 1",
         "the lines from 1 to 2 have at most 1 cell, and the rows below have 3", 2},
        {"a table\n 1 2 3\n4 5 6\n7 8 9\n", "line 1", "skip_rows=1", 1},
        {"x y\n1 2.5 3\n2 5 6\n3 8 9\n", "line 1", "a header without a name for the first column",
         1},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const char *path = text("/v1/datasets/title-%zu", i);
        const struct response *r =
            problem_check(call_upload(path, tables[i].body), 422, "invalid-dataset");
        fault_contains(r, tables[i].place, tables[i].words);
        problem_check(call_upload(text("%s?on_error=skip", path), tables[i].body), 422,
                      "invalid-dataset");
        r = status_check(call_upload(text("%s?skip_rows=%d", path, tables[i].skip), tables[i].body),
                         201);
        if (i != 5) {
            assert_int_equal(count_at(r, "/columns"), 3);
        }
    }
    /* quotes have no meaning in lines that are skipped */
    const struct response *r = status_check(call_upload("/v1/datasets/skipped?skip_rows=3",
                                                        "a \"title\n\n,,,\na,b\n1,2\n"),
                                            201);
    assert_json(r, "/columns/0/name", "'a'");
    r = problem_check(call_upload("/v1/datasets/skipped?skip_rows=1", "x\na,b\n1,2\n3\n"), 422,
                      "invalid-dataset");
    fault_check(r, "line 4");
    problem_check(call_upload("/v1/datasets/skipped?skip_rows=9", "a,b\n1,2\n"), 422,
                  "invalid-dataset");
    r = status_check(append("skipped/rows?skip_rows=2", "title\n\n3,4\n"), 201);
    assert_int_equal(whole_at(r, "/rows"), 2);
    r = status_check(call_upload("/v1/datasets/json?skip_rows=1", "[{\"a\":1}]"), 201);
    check_warning(r, "option \\\"skip_rows\\\" was not used");
    static const char *const bad[] = {"x", "-1", "1.5", "1000001", "99999999999", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        problem_check(call_upload(text("/v1/datasets/bad?skip_rows=%s", bad[i]), "a,b\n1,2\n"), 400,
                      "bad-request");
    }
    /* one row is no evidence, and rows below may differ */
    problem_check(call_upload("/v1/datasets/ragged", "a,b\n1,2,3\n4\n"), 422, "invalid-dataset");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_blanks),   TEST(test_one_input),
                                       TEST(test_one_text), TEST(test_other_separators),
                                       TEST(test_excel),    TEST(test_titles)};
    return cmocka_run_group_tests(tests, group_start, group_end);
}
