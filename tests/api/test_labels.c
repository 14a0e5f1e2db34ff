/* Labels and probabilities agree; `decision` and ?decision=scores give the labels of the scores. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 300 };

/* Rows x = 0 … 299 of which every seventh of the upper half is b, and from x = 270 on every second.
 * The line of least squares through so few rows of b has its zero elsewhere than their
 * probabilities have 1/2. */
static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    char *body = malloc(ROWS * 16 + 16);
    assert_non_null(body);
    char *end = body + sprintf(body, "x,y\n");
    for (int i = 0; i < ROWS; i++) {
        const bool b = i >= 270 ? i % 2 == 0 : i >= 150 && i % 7 == 0;
        end += sprintf(end, "%d,%s\n", i, b || i >= 285 ? "b" : "a");
    }
    status_check(call_upload("/v1/datasets/few", body), 201);
    free(body);
    upload_file("iris", "iris.csv");
    keep_free();
    return 0;
}

/* The labels of all rows, by the largest probability and by the sign of the score, and how many
 * labels, of rows whose class is known, are right. */
struct counts {
    int by_probability, by_score, disagree, right;
};

static struct counts count(const char *query) {
    struct counts counts = {0};
    const char *body = "{'instances':[[0]";
    for (int i = 1; i < ROWS; i++) {
        body = text("%s,[%d]", body, i);
    }
    const struct response *r = status_check(
        call_text("POST", text("/v1/models/m/predict?output=label,probabilities,scores%s", query),
                  NULL, quoted("%s]}", body)),
        200);
    const struct response *rows =
        status_check(call_get("/v1/datasets/few/rows?limit=%d", ROWS), 200);
    for (int i = 0; i < ROWS; i++) {
        const json_t *p = value_at(r, text("/predictions/%d", i));
        const char *label = string_in(p, "/label"),
                   *probable = real_in(p, "/probabilities/1") > 0.5 ? "b" : "a",
                   *positive = real_in(p, "/scores/0") > 0 ? "b" : "a";
        counts.by_probability += strcmp(label, probable) == 0;
        counts.by_score += strcmp(label, positive) == 0;
        counts.disagree += strcmp(probable, positive) != 0;
        counts.right += strcmp(label, string_at(rows, text("/items/%d/y", i))) == 0;
    }
    return counts;
}

static double accuracy(const char *query) {
    const struct response *r =
        status_check(call_post(text("/v1/models/m/evaluate%s", query), "{'dataset':'few'}"), 200);
    return real_at(r, "/metrics/accuracy");
}

static const struct response *train(const char *params) {
    return job_train("{'model':'m','dataset':'few','target':'y','algorithm':'least_squares',"
                     "'params':{'calibrate':'isotonic'%s},'validation':{'dataset':'few'}}",
                     params);
}

static void test_default(void **state) {
    (void)state;
    const struct response *r = train("");
    assert_string_equal(string_at(call_get("/v1/models/m"), "/params/decision"), "probabilities");
    const struct counts counts = count("");
    assert_int_equal(counts.by_probability, ROWS);
    assert_true(counts.disagree > 5);
    /* evaluation and validation use the rule of the predictions */
    assert_true(accuracy("") == (double)counts.right / ROWS);
    assert_true(real_at(r, "/result/metrics/validation/accuracy") == accuracy(""));
    assert_true(real_at(r, "/result/metrics/train/accuracy") == accuracy(""));
    const struct counts scores = count("&decision=scores");
    assert_int_equal(scores.by_score, ROWS);
    assert_true(scores.right != counts.right);
    assert_true(accuracy("?decision=scores") == (double)scores.right / ROWS);
    assert_true(accuracy("?decision=probabilities") == (double)counts.right / ROWS);
    /* rows in a body, and lines */
    const struct response *rows =
        call_get_with("Accept: text/csv", "/v1/datasets/few/rows?limit=300");
    r = call_text("POST", "/v1/models/m/evaluate?decision=scores", "Content-Type: text/csv",
                  rows->body);
    assert_true(real_at(r, "/metrics/accuracy") == (double)scores.right / ROWS);
    for (int i = 0; i < ROWS; i += 7) {
        const struct response *line =
            call_text("POST", "/v1/models/m/predict?output=label,scores&decision=scores",
                      "Content-Type: application/x-ndjson", text("[%d]\n", i));
        status_check(line, 200);
        const json_t *p = keep(json_loads(line->body, 0, NULL), (void (*)(void *))json_decref);
        assert_string_equal(string_in(p, "/label"), real_in(p, "/scores/0") > 0 ? "b" : "a");
    }
}

/* GET …/predict takes decision= and keep=; evaluate_grid the member "decision". */
static void test_one_row_and_grid(void **state) {
    (void)state;
    int differ = 0;
    const struct response *g[3];
    static const char *const members[] = {"", ",'decision':'probabilities'",
                                          ",'decision':'scores'"};
    train("");
    for (int k = 0; k < 3; k++) {
        g[k] = status_check(call_post("/v1/models/m/evaluate_grid",
                                      "{'x':{'column':'x','from':0,'to':299,'steps':300},"
                                      "'output':'label,probabilities,scores'%s}",
                                      members[k]),
                            200);
    }
    assert_true(json_equal(value_at(g[0], "/labels"), value_at(g[1], "/labels")));
    for (int i = 0; i < ROWS; i++) {
        const long long by_probability = whole_at(g[1], text("/labels/%d", i)),
                        by_score = whole_at(g[2], text("/labels/%d", i));
        assert_int_equal(by_probability, real_at(g[1], text("/probabilities/1/%d", i)) > 0.5);
        assert_int_equal(by_score, real_at(g[2], text("/scores/0/%d", i)) > 0);
        if (by_probability == by_score || ++differ > 3) {
            continue;
        }
        const struct response *r =
            status_check(call_get("/v1/models/m/predict?x=%d&decision=scores&id=7&keep=id,x", i),
                         200);
        assert_string_equal(string_at(r, "/predictions/0/label"), by_score ? "b" : "a");
        assert_string_equal(string_at(r, "/predictions/0/keep/id"), "7");
        assert_string_equal(string_at(r, "/predictions/0/keep/x"), text("%d", i));
        r = status_check(call_get("/v1/models/m/predict?x=%d&decision=probabilities", i), 200);
        assert_string_equal(string_at(r, "/predictions/0/label"), by_probability ? "b" : "a");
    }
    assert_true(differ > 3);
    const struct response *cells =
        call_get_with("Accept: text/csv", "/v1/models/m/predict?x=1&id=a%%20b&keep=id");
    assert_int_equal(strncmp(status_check(cells, 200)->body, "id,label", 8), 0);
    problem_check(call_get("/v1/models/m/predict?x=1&decision=votes"), 400, "bad-request");
    problem_check(call_get("/v1/models/m/predict?x=1&decision=scores&decision=scores"), 400,
                  "bad-request");
    problem_check(call_get("/v1/models/m/predict?x=1&keep="), 400, "bad-request");
    problem_check(call_get("/v1/models/m/predict?x=1&keep=id"), 422, "invalid-instances");
    const struct response *extra = status_check(call_get("/v1/models/m/predict?x=1&id=7"), 200);
    assert_string_equal(string_at(extra, "/ignored_columns/0"), "id");
    problem_check(call_get("/v1/models/m/predict?x=1&id=7&extra=error"), 422, "invalid-instances");
    fault_check(problem_check(call_post("/v1/models/m/evaluate_grid",
                                        "{'x':{'column':'x'},'decision':'votes'}"),
                              422, "invalid"),
                "/decision");
}

/* A column of the model with the name of an option is the column. */
static void test_columns_with_names_of_options(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/named", "decision,keep,y\n1,4,a\n2,3,b\n3,5,b\n0,1,a\n"),
                 201);
    job_train("{'model':'named','dataset':'named','target':'y','algorithm':'logistic'}");
    const struct response *a =
        status_check(call_get("/v1/models/named/predict?decision=1&keep=4"), 200);
    const struct response *b = call_post("/v1/models/named/predict", "[[1,4]]");
    assert_true(json_equal(value_at(a, "/predictions"), value_at(b, "/predictions")));
}

static void test_scores(void **state) {
    (void)state;
    const struct response *r = train(",'decision':'scores'");
    assert_string_equal(string_at(call_get("/v1/models/m"), "/params/decision"), "scores");
    const struct counts scores = count("");
    assert_int_equal(scores.by_score, ROWS);
    assert_true(accuracy("") == (double)scores.right / ROWS);
    assert_true(real_at(r, "/result/metrics/validation/accuracy") == accuracy(""));
    assert_int_equal(count("&decision=probabilities").by_probability, ROWS);
}

/* The class that most pairs vote for can differ from the most probable class. */
static void test_pairs(void **state) {
    (void)state;
    job_train("{'model':'pairs','dataset':'iris','target':'class','algorithm':'logistic','params':"
              "{'multiclass':'one_vs_one'}}");
    const struct response *rows =
        call_get_with("Accept: text/csv", "/v1/datasets/iris/rows?limit=150");
    const struct response *r =
        call_text("POST", "/v1/models/pairs/predict", "Content-Type: text/csv", rows->body);
    status_check(r, 200);
    for (int i = 0; i < 150; i++) {
        size_t best = 0;
        for (size_t k = 1; k < 3; k++) {
            best = real_at(r, text("/predictions/%d/probabilities/%zu", i, k)) >
                           real_at(r, text("/predictions/%d/probabilities/%zu", i, best))
                       ? k
                       : best;
        }
        assert_string_equal(string_at(r, text("/predictions/%d/label", i)),
                            string_at(r, text("/classes/%zu", best)));
    }
}

static void test_refused(void **state) {
    (void)state;
    problem_check(call_post("/v1/models/m/predict?decision=score", "[[1]]"), 400, "bad-request");
    problem_check(call_post("/v1/models/m/evaluate?decision=", "{'dataset':'few'}"), 400,
                  "bad-request");
    const struct response *r =
        problem_check(call_post("/v1/jobs", "{'model':'m','dataset':'few','target':'y','algorithm':"
                                            "'least_squares','params':{'decision':'scores'}}"),
                      422, "invalid");
    fault_check(r, "/params/decision");
    r = problem_check(call_post("/v1/jobs", "{'model':'m','dataset':'few','target':'y','algorithm':"
                                            "'logistic','params':{'decision':'votes'}}"),
                      422, "invalid");
    fault_check(r, "/params/decision");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_default), TEST(test_scores),           TEST(test_pairs),
        TEST(test_refused), TEST(test_one_row_and_grid), TEST(test_columns_with_names_of_options)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
