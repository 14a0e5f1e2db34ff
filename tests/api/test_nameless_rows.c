/* Rows without names are read by the positions of the columns of the training table. */
#include "lib/api.h"

#include <string.h>

/* The class y is between the inputs, the id first, and a is the class but for two rows. */
static const char *const table = "id,a,y,b\n"
                                 "1,0,0,5\n2,0,0,3\n3,1,1,4\n4,1,1,2\n5,0,0,1\n6,1,1,6\n"
                                 "7,0,1,2\n8,1,0,3\n9,0,0,4\n10,1,1,1\n";
static const char *const rows = "1,0,0,5\n2,0,0,3\n3,1,1,4\n4,1,1,2\n5,0,0,1\n6,1,1,6\n"
                                "7,0,1,2\n8,1,0,3\n9,0,0,4\n10,1,1,1\n";

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    status_check(call_upload("/v1/datasets/mid?types=y:categorical", table), 201);
    status_check(call_upload("/v1/datasets/last", "id,a,b,y\n1,0,5,u\n2,1,3,v\n3,0,4,u\n4,1,1,v\n"),
                 201);
    status_check(call_upload("/v1/datasets/sparse?label=y", "1 1:1 2:2\n2 1:3 2:1\n1 1:2\n2 2:4\n"),
                 201);
    job_train("{'model':'mid','dataset':'mid','target':'y','algorithm':'logistic',"
              "'features':{'include':['a','b']}}");
    job_train("{'model':'last','dataset':'last','target':'y','algorithm':'logistic',"
              "'features':{'include':['a','b']}}");
    job_train("{'model':'sparse','dataset':'sparse','target':'y','algorithm':'logistic'}");
    keep_free();
    return 0;
}

/* Checks that the answer is 422 and contains the text. */
static void refused(const struct response *r, const char *what) {
    assert_non_null(strstr(problem_check(r, 422, "invalid-instances")->body, what));
}

static const struct response *post(const char *path, const char *type, const char *body) {
    const char *const headers[] = {text("Content-Type: %s", type), NULL};
    return call_bytes("POST", text("/v1/models/%s", path), headers, body, strlen(body));
}

/* The rows as arrays of JSON, one on each line. */
static const char *arrays(const char *csv, const char *between) {
    const char *out = "";
    while (*csv != '\0') {
        const size_t n = strcspn(csv, "\n");
        out = text("%s%s[%.*s]", out, *out != '\0' ? between : "", (int)n, csv);
        csv += n + 1;
    }
    return out;
}

/* a is the class in 8 of 10 rows, and no row of b helps more: the accuracy is 0.8 by every way. The
 * last cell is b, which is no class. */
static void test_evaluates_by_position(void **state) {
    (void)state;
    const struct response *stored =
        status_check(call_post("/v1/models/mid/evaluate", "{'dataset':'mid'}"), 200);
    assert_near(real_at(stored, "/metrics/accuracy"), 0.8, 1e-12);
    const struct response *ways[] = {
        post("mid/evaluate", "text/csv", table),
        post("mid/evaluate", "text/csv", rows),
        post("mid/evaluate", "application/json", text("[%s]", arrays(rows, ","))),
        post("mid/evaluate", "application/x-ndjson", arrays(rows, "\n")),
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        status_check(ways[i], 200);
        /* the size of a batch of rows may change the last digits */
        assert_near(real_at(ways[i], "/metrics/accuracy"), 0.8, 1e-12);
        assert_near(real_at(ways[i], "/metrics/log_loss"), real_at(stored, "/metrics/log_loss"),
                    1e-12);
        assert_json(ways[i], "/ignored_columns", "['id']");
        assert_null(strstr(ways[i]->body, "\"warnings\""));
    }
    assert_json(call_get("/v1/models/mid"), "/reading/columns", "['id','a','y','b']");
}

/* Where the target was within the inputs, shorter rows are ambiguous. */
static void test_refuses_ambiguous_rows(void **state) {
    (void)state;
    refused(post("mid/evaluate", "text/csv", "0,5,0\n1,2,1\n"),
            "expected 4 (the columns of the training table)");
    refused(post("mid/evaluate", "application/json", "[[0,5,0]]"),
            "expected 4 (the columns of the training table)");
    problem_check(post("mid/evaluate?extra=error", "text/csv", rows), 422, "invalid-instances");
    /* behind all inputs the target is last in both layouts */
    const struct response *a =
        status_check(post("last/evaluate", "text/csv", "1,0,5,u\n2,1,3,v\n"), 200);
    const struct response *b =
        status_check(post("last/evaluate", "text/csv", "0,5,u\n1,3,v\n"), 200);
    assert_true(json_equal(value_at(a, "/metrics"), value_at(b, "/metrics")));
    refused(post("last/evaluate", "text/csv", "1,2\n"),
            "expected 3 (the target last) or 4 (the columns of the training table)");
    problem_check(post("last/evaluate", "text/csv", "1,0,5,u\n0,5,u\n"), 422, "invalid-instances");
}

static void test_predicts_rows_of_the_table(void **state) {
    (void)state;
    const char *expected =
        strstr(status_check(post("mid/predict", "text/csv", "0,5\n1,6\n"), 200)->body,
               "\"predictions\"");
    expected = text("%.*s", (int)strcspn(expected, "]") + 1, expected);
    const struct {
        const char *type, *body;
    } same[] = {{"text/csv", "1,0,0,5\n6,1,1,6\n"},
                {"application/json", "[[1,0,0,5],[6,1,1,6]]"},
                {"application/json", "[[1,0,\"]\",5],[6,1,null,6]]"}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const struct response *r =
            status_check(post("mid/predict", same[i].type, same[i].body), 200);
        assert_non_null(strstr(r->body, expected));
        assert_json(r, "/ignored_columns", "['id','y']");
    }
    const struct response *r =
        status_check(post("mid/predict?keep=id,a", "text/csv", "1,0,0,5\n6,1,1,6\n"), 200);
    assert_json(r, "/predictions/1/keep", "{'id':'6','a':'1'}");
    const struct response *lines =
        status_check(post("mid/predict", "application/x-ndjson", "[1,0,0]\n[1,0,0,5]\n[0,5]\n"),
                     200);
    assert_non_null(strstr(lines->body, "expected 2 or 4 (the columns of the training table)"));
    assert_non_null(strstr(lines->body, "has 2 values, expected 4"));
    problem_check(post("mid/predict", "text/csv", "1,0,5\n"), 422, "invalid-instances");
    problem_check(post("mid/predict?extra=error", "text/csv", "1,0,0,5\n"), 422,
                  "invalid-instances");
}

/* A model of sparse rows does not know the position of its target. */
static void test_warns_of_unknown_positions(void **state) {
    (void)state;
    const struct response *r =
        status_check(post("sparse/evaluate", "text/csv", "1,2,1\n3,1,2\n"), 200);
    assert_non_null(
        strstr(string_at(r, "/warnings/0"), "the last value of each row was read as \"y\""));
    const char *const headers[] = {"Content-Type: text/csv", "Accept: text/csv", NULL};
    r = status_check(call_bytes("POST", "/v1/models/sparse/evaluate", headers, "1,2,1\n", 6), 200);
    assert_non_null(strstr(r->body, "\nwarning,"));
    r = status_check(post("sparse/evaluate", "text/csv", "f1,f2,y\n1,2,1\n3,1,2\n"), 200);
    assert_null(strstr(r->body, "\"warnings\""));
}

/* A model of texts: a first row of other names is read as data, with a warning; one with a name of
 * the training table is a header. */
static void test_a_first_row_of_other_names(void **state) {
    (void)state;
    const char *csv = "id,text,y\n";
    for (int i = 0; i < 20; i++) {
        csv = text("%sk%d,%s %d,%s\n", csv, i * 7 % 41,
                   i % 2 ? "buy cheap pills now and here" : "please see the report of meeting", i,
                   i % 2 ? "spam" : "ham");
    }
    status_check(call_upload("/v1/datasets/texts", csv), 201);
    job_train("{'model':'texts','dataset':'texts','target':'y','algorithm':'logistic'}");
    const struct response *r =
        status_check(call_typed("/v1/models/texts/predict", "text/csv", "application/json",
                                "review\nbuy cheap pills\n"),
                     200);
    assert_int_equal(count_at(r, "/predictions"), 2);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "header=true"));
    r = status_check(call_typed("/v1/models/texts/predict", "text/csv", "text/csv",
                                "review\nbuy cheap pills\n"),
                     200);
    assert_string_equal(header_of(r, "Discern-Warnings"), "1");
    r = status_check(call_typed("/v1/models/texts/predict", "text/csv", "application/json",
                                "key,review,kind\nk1,buy cheap pills,spam\n"),
                     200);
    assert_non_null(strstr(r->body, "header=true"));
    r = status_check(call_typed("/v1/models/texts/predict", "text/csv", "application/json",
                                "buy cheap pills\nsee the report\n"),
                     200);
    assert_null(json_find(r->json, "/warnings"));
    r = problem_check(call_typed("/v1/models/texts/predict", "text/csv", "application/json",
                                 "id,review,y\n1,buy cheap pills,spam\n"),
                      422, "invalid-instances");
    assert_non_null(strstr(r->body, "\\\"text\\\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_evaluates_by_position),      TEST(test_refuses_ambiguous_rows),
        TEST(test_predicts_rows_of_the_table), TEST(test_warns_of_unknown_positions),
        TEST(test_a_first_row_of_other_names),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
