/* `calibrate`: probabilities of models that have only scores, their quality on unseen rows, in
 * every answer and after a restart, and the estimate's warning for too few rows. */
#include "lib/api.h"
#include "lib/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1200 };

/* Rows (x, z) with P(b | x) = σ(3x); z is noise. The first `first` rows are left out. */
static void upload_chances(const char *name, int first) {
    char *body = malloc((size_t)ROWS * 48 + 16), path[64];
    uint64_t s = 11;
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "x,z,y\n");
    for (int i = 0; i < ROWS + first; i++) {
        const double x = 4 * random_unit(&s) - 2, z = random_unit(&s);
        const bool second = random_unit(&s) < 1 / (1 + exp(-3 * x));
        if (i >= first) {
            n += (size_t)sprintf(body + n, "%.6f,%.6f,%s\n", x, z, second ? "b" : "a");
        }
    }
    (void)snprintf(path, sizeof path, "/v1/datasets/%s", name);
    status_check(call_upload(path, body), 201);
    free(body);
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    upload_chances("seen", 0);
    upload_chances("unseen", ROWS);
    status_check(call_upload("/v1/datasets/few", "x,y\n1,a\n2,a\n3,a\n4,a\n5,a\n6,b\n7,b\n8,b\n"),
                 201);
    status_check(call_upload("/v1/datasets/one", "x,y\n1,a\n2,a\n3,a\n4,a\n5,a\n6,b\n"), 201);
    keep_free();
    return 0;
}

#define JOB(dataset, target, algorithm, params)                                                    \
    "{'model':'m','dataset':'" dataset "','target':'" target "','algorithm':'" algorithm           \
    "','params':{" params "}}"

/* The log loss of the true probabilities is about 0.33, of constant probabilities ln 2. */
static void test_calibrated_on_unseen_rows(void **state) {
    (void)state;
    static const char *const algorithms[] = {"least_squares", "perceptron", "svm"},
                             *const methods[] = {"platt", "isotonic"};
    for (size_t a = 0; a < 3; a++) {
        for (size_t k = 0; k < 2; k++) {
            job_train("{'model':'m','dataset':'seen','target':'y','algorithm':'%s','params':{'"
                      "calibrate':'%s'}}",
                      algorithms[a], methods[k]);
            const struct response *r =
                status_check(call_post("/v1/models/m/evaluate", "{'dataset':'unseen'}"), 200);
            if (!(real_at(r, "/metrics/log_loss") < 0.42 && real_at(r, "/metrics/ece") < 0.06 &&
                  real_at(r, "/metrics/brier") < 0.15)) {
                fail_msg("%s %s: %s", algorithms[a], methods[k], r->body);
            }
            r = status_check(call_get("/v1/models/m/weights"), 200);
            assert_string_equal(string_at(r, "/calibration/method"), methods[k]);
            assert_int_equal(whole_at(r, "/calibration/folds"), 5);
            assert_int_equal(count_at(r, "/calibration/scores"), 1);
            assert_string_equal(string_at(r, "/calibration/scores/0/positive"), "b");
        }
    }
}

/* Prediction uses the calibration that /weights prints, also after a restart. */
static void test_calibration_is_reported_and_stored(void **state) {
    (void)state;
    job_train(JOB("seen", "y", "least_squares", "'calibrate':'platt','calibration_folds':3"));
    const struct response *r = status_check(call_get("/v1/models/m/weights"), 200);
    const double slope = real_at(r, "/calibration/scores/0/slope"),
                 intercept = real_at(r, "/calibration/scores/0/intercept");
    assert_int_equal(whole_at(r, "/calibration/folds"), 3);
    r = status_check(call_post("/v1/models/m/predict?output=probabilities,scores",
                               "{'instances':[{'x':0.3,'z':0.5}]}"),
                     200);
    const double p = real_at(r, "/predictions/0/probabilities/1"),
                 g = real_at(r, "/predictions/0/scores/0");
    assert_true(fabs(p - 1 / (1 + exp(-(slope * g + intercept)))) < 1e-12);
    r = status_check(call_get("/v1/models/m"), 200);
    assert_string_equal(string_at(r, "/params/calibrate"), "platt");
    assert_int_equal(daemon_stop(&the_daemon), 0);
    service_restart(the_daemon.flags);
    r = status_check(call_post("/v1/models/m/predict?output=probabilities",
                               "{'instances':[{'x':0.3,'z':0.5}]}"),
                     200);
    assert_true(real_at(r, "/predictions/0/probabilities/1") == p);
}

static void test_no_probabilities_without_calibration(void **state) {
    (void)state;
    job_train(JOB("seen", "y", "least_squares", ""));
    const struct response *r = status_check(call_get("/v1/models/m"), 200);
    assert_null(json_object_get(value_at(r, "/params"), "calibration_folds"));
    assert_null(strstr(status_check(call_get("/v1/models/m/weights"), 200)->body, "calibration"));
    assert_null(strstr(
        status_check(call_post("/v1/models/m/predict", "{'instances':[{'x':0,'z':0}]}"), 200)->body,
        "probabilities"));
    r = problem_check(call_post("/v1/jobs",
                                JOB("seen", "y", "least_squares", "'calibration_folds':3")),
                      422, "invalid");
    fault_check(r, "/params/calibration_folds");
    r = problem_check(call_post("/v1/jobs", JOB("seen", "y", "least_squares",
                                                "'calibrate':'platt','calibration_folds':21")),
                      422, "invalid");
    fault_check(r, "/params/calibration_folds");
}

static void test_many_classes(void **state) {
    (void)state;
    static const char *const ways[] = {"one_vs_one", "one_vs_rest", "one_vs_one_strict"};
    for (size_t k = 0; k < 3; k++) {
        const struct response *r =
            job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'svm','params':{'"
                      "calibrate':'platt','multiclass':'%s'},"
                      "'validation':{'folds':4}}",
                      ways[k]);
        assert_true(real_at(r, "/result/metrics/validation/log_loss") < 0.4);
        r = status_check(call_get("/v1/models/m/weights"), 200);
        assert_int_equal(count_at(r, "/calibration/scores"), 3);
    }
    const struct response *r = problem_check(
        call_post(
            "/v1/jobs?dry_run=true",
            JOB("iris", "class", "svm",
                "'calibrate':'platt','multiclass':'one_vs_rest_strict','discriminants':'K-1'")),
        422, "invalid");
    fault_check(r, "/params/calibrate");
}

static void test_too_few_rows(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_post("/v1/jobs?dry_run=true",
                               JOB("few", "y", "least_squares", "'calibrate':'platt'")),
                     200);
    assert_non_null(strstr(r->body, "the calibration has 3 folds, not 5"));
    r = job_train(JOB("few", "y", "least_squares", "'calibrate':'platt'"));
    const char *said = strstr(r->body, "the calibration has 3 folds, not 5");
    assert_true(said != NULL && strstr(said + 1, "the calibration has 3 folds") == NULL);
    r = problem_check(call_post("/v1/jobs",
                                JOB("one", "y", "least_squares", "'calibrate':'platt'")),
                      422, "invalid");
    fault_check(r, "/params/calibrate");
    assert_non_null(strstr(r->body, "needs at least 2 training rows of every class"));
}

/* A holdout of 0.5 of 3 and 3 rows takes 3: of one class two, so that one row is left. Of 5 and 5
 * rows a holdout of 0.3 takes 3 (1.5 each): one class keeps 3. Of 3 and 7 rows 0.1 is one row, of
 * the class with the share 0.7: the other keeps 3. Of 6 and 6 rows 2 folds take 3 each. */
static void test_rows_that_a_holdout_leaves(void **state) {
    (void)state;
    static const struct {
        int a, b;
        const char *validation;
        int left;
    } cases[] = {{3, 3, "'holdout':0.5", 1},
                 {5, 5, "'holdout':0.3", 3},
                 {3, 7, "'holdout':0.1", 3},
                 {6, 6, "'folds':2", 3},
                 {5, 5, "'folds':'leave_one_out'", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *rows = "x,y\n";
        for (int k = 0; k < cases[i].a + cases[i].b; k++) {
            rows = text("%s%d,%s\n", rows, k, k < cases[i].a ? "a" : "b");
        }
        status_check(call_upload(text("/v1/datasets/left%zu", i), rows), 201);
        const char *body = text("{'model':'left','dataset':'left%zu','target':'y','algorithm':"
                                "'least_squares','params':{'calibrate':'platt'},'validation':{%s}}",
                                i, cases[i].validation);
        const struct response *r = call_post("/v1/jobs?dry_run=true", "%s", body);
        if (cases[i].left < 2) {
            fault_contains(problem_check(r, 422, "invalid"), "/params/calibrate", "may keep 1");
            continue;
        }
        assert_non_null(strstr(status_check(r, 200)->body,
                               text("the calibration has %d folds, not 5", cases[i].left)));
        assert_string_equal(string_at(job_train("%s", body), "/state"), "succeeded");
    }
}

static void test_memory_of_the_scores(void **state) {
    (void)state;
    const double plain =
        real_at(status_check(call_post("/v1/jobs?dry_run=true", JOB("seen", "y", "svm", "")), 200),
                "/memory_bytes");
    const double more =
        real_at(status_check(call_post("/v1/jobs?dry_run=true",
                                       JOB("seen", "y", "svm", "'calibrate':'isotonic'")),
                             200),
                "/memory_bytes");
    assert_true(more >= plain + 8.0 * ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_calibrated_on_unseen_rows),
        TEST(test_calibration_is_reported_and_stored),
        TEST(test_no_probabilities_without_calibration),
        TEST(test_many_classes),
        TEST(test_too_few_rows),
        TEST(test_rows_that_a_holdout_leaves),
        TEST(test_memory_of_the_scores),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
