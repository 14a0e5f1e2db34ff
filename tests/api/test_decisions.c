/* From the scores of several machines to one class, no class or several candidates: each rule,
 * checked at every point of a grid against a computation from the scores. */

#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Computes which classes claim the point, and the class by the rule; SIZE_MAX: ambiguous. Pairs are
 * (0,1), (0,2), (1,2), positive for the second. */
static size_t claim(const json_t *g, size_t n, bool *candidates) {
    size_t claimed = 0, last = SIZE_MAX;
    for (size_t k = 0; k < 3; k++) {
        candidates[k] = k < n && item(g, k) > 0;
        claimed += candidates[k];
        last = candidates[k] ? k : last;
    }
    if (claimed == 0 && n == 2) {
        return 2;
    }
    for (size_t k = 0; claimed == 0 && k < 3; k++) {
        candidates[k] = true;
    }
    return claimed == 1 ? last : SIZE_MAX;
}

static size_t vote(const json_t *g, bool strict, bool *candidates) {
    const double pair[3][3] = {{0, -item(g, 0), -item(g, 1)},
                               {item(g, 0), 0, -item(g, 2)},
                               {item(g, 1), item(g, 2), 0}};
    size_t won[3] = {0}, most = 0, best = 0;
    double sum[3] = {0};
    for (size_t k = 0; k < 3; k++) {
        for (size_t j = 0; j < 3; j++) {
            won[k] += j != k && pair[k][j] > 0;
            sum[k] += pair[k][j];
        }
        most = won[k] > most ? won[k] : most;
        if (won[k] > won[best] || (won[k] == won[best] && sum[k] > sum[best])) {
            best = k;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        candidates[k] = won[k] == most;
    }
    return strict && won[best] < 2 ? SIZE_MAX : best;
}

/* Checks each point of the grid; returns the number of points without a class. */
static size_t check_rule(const char *model) {
    const struct response *a = predict(model, "label,scores,ambiguous&decision=scores", grid),
                          *plain = predict(model, "label&decision=scores", grid);
    const bool pairs = strncmp(model, "pairs", 5) == 0, strict = strstr(model, "strict") != NULL;
    size_t ambiguous = 0, seen[3] = {0};
    for (size_t i = 0; i < n_grid; i++) {
        const json_t *row = row_of(a, i), *scores = json_object_get(row, "scores"),
                     *named = json_object_get(row, "candidates");
        const json_t *label = json_object_get(row, "label");
        bool candidates[3];
        const size_t expected = pairs ? vote(scores, strict, candidates)
                                      : claim(scores, json_array_size(scores), candidates);
        assert_int_equal(class_of(a, label), expected);
        assert_int_equal(json_is_true(json_object_get(row, "ambiguous")), expected == SIZE_MAX);
        assert_true(json_is_boolean(json_object_get(row, "ambiguous")));
        if (expected == SIZE_MAX) {
            size_t n = 0;
            for (size_t k = 0; k < 3; k++) {
                if (candidates[k]) {
                    assert_int_equal(class_of(a, json_array_get(named, n++)), k);
                }
            }
            assert_int_equal(json_array_size(named), n);
            /* "candidates" is in every answer of an ambiguous row */
            assert_int_equal(json_object_size(row_of(plain, i)), 3);
            assert_true(json_equal(json_object_get(row_of(plain, i), "candidates"), named));
            ambiguous++;
        } else {
            assert_null(named);
            assert_int_equal(json_object_size(row_of(plain, i)), 1);
            seen[expected]++;
        }
        assert_true(json_equal(json_object_get(row_of(plain, i), "label"), label));
    }
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
    return ambiguous;
}

/* The boundaries of three pairs form a triangle: inside it each class wins against one class and
 * loses against another. */
static void test_between_three_pairs(void **state) {
    (void)state;
    static const size_t corner[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    const struct response *w = weights_of("pairs_strict");
    const json_t *lines = json_find(w->json, "/w"), *w0 = json_find(w->json, "/w0");
    double middle[2] = {0};
    for (size_t c = 0; c < 3; c++) { /* by Cramer's rule */
        const json_t *p = json_array_get(lines, corner[c][0]),
                     *q = json_array_get(lines, corner[c][1]);
        const double u = -item(w0, corner[c][0]), v = -item(w0, corner[c][1]),
                     det = item(p, 0) * item(q, 1) - item(p, 1) * item(q, 0);
        middle[0] += (u * item(q, 1) - item(p, 1) * v) / det / 3;
        middle[1] += (item(p, 0) * v - u * item(q, 0)) / det / 3;
    }
    const char *path =
        text("/v1/models/pairs_strict/predict?x=%.17g&y=%.17g", middle[0], middle[1]);
    const struct response *a = call_get("%s", path);
    assert_true(json_is_null(json_find(a->json, "/predictions/0/label")));
    assert_true(json_is_true(json_find(a->json, "/predictions/0/ambiguous")));
    assert_int_equal(count_at(a, "/predictions/0/candidates"), 3);
    a = call_get("/v1/models/pairs/predict?x=%.17g&y=%.17g&output=label,ambiguous", middle[0],
                 middle[1]); /* a tie of votes that the scores decide */
    assert_false(json_is_null(json_find(a->json, "/predictions/0/label")));
    assert_true(json_is_false(json_find(a->json, "/predictions/0/ambiguous")));
}

static void test_rules(void **state) {
    (void)state;
    assert_true(check_rule("rest_strict") > 0);
    assert_true(check_rule("rest_strict_less") > 0);
    assert_int_equal(check_rule("pairs"), 0);
    (void)check_rule("pairs_strict");
}

/* Probabilities of machines: σ(g_i)/Σσ(g_j). A rule without a score for each class has no
 * probabilities, and the answer has scores instead. */
static void test_probabilities(void **state) {
    (void)state;
    const struct response *a = predict("rest_strict", "probabilities,scores", grid);
    for (size_t i = 0; i < n_grid; i++) {
        const json_t *p = json_object_get(row_of(a, i), "probabilities"),
                     *g = json_object_get(row_of(a, i), "scores");
        double sigma[3], sum = 0;
        for (size_t k = 0; k < 3; k++) {
            sum += sigma[k] = 1 / (1 + exp(-item(g, k)));
        }
        for (size_t k = 0; k < 3; k++) {
            assert_near(item(p, k), sigma[k] / sum, 1e-12);
        }
    }
    a = predict("rest_strict_less", "probabilities", grid);
    assert_int_equal(json_object_size(row_of(a, 0)), 1);
    assert_int_equal(json_array_size(json_object_get(row_of(a, 0), "scores")), 2);
}

/* A point without a class counts as an error in every metric. */
static void test_ambiguous_rows_are_errors(void **state) {
    (void)state;
    const struct response *rows = call_get("/v1/datasets/blobs/rows?limit=1000");
    json_t *body = json_pack("{sO}", "instances", json_find(rows->json, "/items"));
    char *text = json_dumps(body, JSON_COMPACT);
    const struct response *a = predict("rest_strict", "label", text),
                          *e = call_json("POST", "/v1/models/rest_strict/evaluate",
                                         "{'dataset':'blobs'}"),
                          *f = call_text("POST", "/v1/models/rest_strict/evaluate", NULL, text);
    double ambiguous = 0, right = 0;
    for (size_t i = 0; i < 150; i++) {
        const json_t *label = json_object_get(row_of(a, i), "label");
        ambiguous += json_is_null(label);
        right +=
            json_equal(label, json_object_get(json_array_get(json_find(rows->json, "/items"), i),
                                              "class"));
    }
    assert_true(ambiguous > 0);
    assert_near(real_at(e, "/metrics/ambiguous"), ambiguous, 0);
    assert_near(real_at(e, "/metrics/accuracy"), right / 150, 1e-15);
    assert_near(real_at(f, "/metrics/ambiguous"), ambiguous, 0);
    assert_near(real_at(f, "/metrics/accuracy"), right / 150, 1e-15);
    json_decref(body);
    free(text);
}

/* `decision` beside `params` is `params.decision`. */
static void test_beside_params(void **state) {
    (void)state;
    static const char job[] = "{'model':'beside','dataset':'blobs','target':'class','algorithm':"
                              "'logistic','decision':'scores'%s}";
    const struct response *r = job_train(job, ",'params':{'multiclass':'one_vs_one'}");
    assert_json(r, "/request/decision", "'scores'");
    assert_json(r, "/resolved/params/decision", "'scores'");
    assert_false(has(r, "/resolved/decision"));
    assert_json(r, "/result/params/decision", "'scores'");
    job_train(job, ",'params':{'multiclass':'one_vs_one','decision':'scores'}");
    r = call_post("/v1/jobs", job,
                  ",'params':{'multiclass':'one_vs_one','decision':'probabilities'}");
    fault_contains(problem_check(r, 422, "invalid"), "/decision",
                   "is \"scores\", but params.decision has another value: give one of them");
    r = call_post("/v1/jobs", "%s",
                  "{'model':'m','dataset':'blobs','target':'class','algorithm':'fisher',"
                  "'decision':'scores'}");
    fault_contains(problem_check(r, 422, "invalid"), "/decision", "has no parameter \"decision\"");
    r = call_post("/v1/jobs", "%s",
                  "{'model':'m','dataset':'blobs','target':'class','algorithm':'logistic',"
                  "'decision':'votes'}");
    fault_contains(problem_check(r, 422, "invalid"), "/decision",
                   "must be one of probabilities, scores");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_rules),         TEST(test_between_three_pairs),
        TEST(test_probabilities), TEST(test_ambiguous_rows_are_errors),
        TEST(test_beside_params),
    };
    return cmocka_run_group_tests(tests, outputs_open, outputs_close);
}
