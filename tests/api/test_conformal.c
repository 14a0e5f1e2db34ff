/* Sets of labels: the thresholds are those of the predictions for held-out rows, the sets those of
 * the probabilities, in every format and after a restart; their coverage of new rows; wrong jobs. */
#include "lib/api.h"
#include "lib/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 900, FRESH = 1500, K = 3, FEW = 60 };

/* Names that CSV and JSON quote. */
static const char *const names[K] = {"a", "b,\"c\"", "d"};
static const char *const cells[K] = {"a", "\"b,\"\"c\"\"\"", "d"};

/* Returns CSV of n rows of three overlapping classes. */
static char *clouds(uint64_t seed, int n) {
    char *body = malloc((size_t)n * 64 + 64);
    assert_non_null(body);
    size_t size = (size_t)sprintf(body, "x,y,k\n");
    for (int i = 0; i < n; i++) {
        const double u = random_unit(&seed);
        const int k = u < 0.5 ? 0 : u < 0.8 ? 1 : 2;
        const double x = random_unit(&seed) + random_unit(&seed) + random_unit(&seed) + 0.7 * k,
                     y = random_unit(&seed) + random_unit(&seed) + random_unit(&seed) + (k == 1);
        size += (size_t)sprintf(body + size, "%.4f,%.4f,%s\n", x, y, cells[k]);
    }
    return body;
}

/* Uploads the rows of a file whose number has this rest modulo 2. */
static void upload_half(const char *dataset, const char *file, size_t rest) {
    char path[256];
    (void)snprintf(path, sizeof path, "tests/data/%s", file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[4096], *body = calloc(1, 1 << 20);
    assert_non_null(body);
    size_t size = 0;
    for (size_t i = 0; fgets(line, sizeof line, f) != NULL; i++) {
        if (i == 0 || i % 2 == rest) {
            size += (size_t)sprintf(body + size, "%s", line);
        }
    }
    (void)fclose(f);
    status_check(call_upload(text("/v1/datasets/%s", dataset), body), 201);
    free(body);
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    char *known = clouds(1, ROWS), *fresh = clouds(2, FRESH);
    status_check(call_upload("/v1/datasets/clouds", known), 201);
    status_check(call_upload("/v1/datasets/fresh", fresh), 201);
    free(known);
    free(fresh);
    upload_file("iris", "iris.csv");
    upload_half("digits", "digits.csv", 0);
    upload_half("digits-new", "digits.csv", 1);
    upload_half("cancer", "breast_cancer.csv", 0);
    upload_half("cancer-new", "breast_cancer.csv", 1);
    keep_free();
    return 0;
}

#define JOB(validation, more)                                                                      \
    "{'model':'m','dataset':'clouds','target':'k','algorithm':'logistic','validation':" validation \
    "," more "}"

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t class_of(const char *name) {
    for (size_t k = 0; k < K; k++) {
        if (strcmp(name, names[k]) == 0) {
            return k;
        }
    }
    fail_msg("%s is not a class", name);
    return K;
}

/* Computes the thresholds from the predictions for the held-out rows, and compares them with those
 * of the job and of the model. */
static void check_thresholds(const struct response *job, double coverage, bool by_class,
                             const char *by) {
    static double scores[K][ROWS];
    size_t n[K] = {0}, all = 0;
    const struct response *p =
        status_check(call_get_with("Accept: application/x-ndjson", "/v1/jobs/%lld/predictions",
                                   (long long)whole_at(job, "/id")),
                     200);
    char *rest = NULL, *lines = keep(strdup(p->body), free);
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *row = json_loads(line, 0, NULL);
        const json_t *repeat = json_object_get(row, "repeat");
        if (repeat == NULL || json_integer_value(repeat) == 1) {
            const size_t k = class_of(json_string_value(json_object_get(row, "truth"))),
                         at = by_class ? k : 0;
            scores[at][n[at]++] =
                1 - json_real_value(json_array_get(json_object_get(row, "probabilities"), k));
            all++;
        }
        json_decref(row);
    }
    const struct response *m = status_check(call_get("/v1/models/m"), 200);
    assert_true(json_equal(value_at(m, "/conformal"), value_at(job, "/result/conformal")));
    assert_near(real_at(m, "/conformal/coverage"), coverage, 0);
    assert_int_equal(json_is_true(value_at(m, "/conformal/by_class")), by_class);
    assert_string_equal(string_at(m, "/conformal/by"), by);
    assert_int_equal(whole_at(m, "/conformal/rows"), all);
    assert_int_equal(count_at(m, "/conformal/thresholds"), K);
    for (size_t k = 0; k < K; k++) {
        const size_t at = by_class ? k : 0;
        qsort(scores[at], n[at], sizeof scores[at][0], compare_doubles);
        const double threshold =
            scores[at][(size_t)ceil((double)(n[at] + 1) * coverage - 1e-9) - 1];
        assert_string_equal(string_at(m, text("/conformal/thresholds/%zu/class", k)), names[k]);
        assert_int_equal(whole_at(m, text("/conformal/thresholds/%zu/rows", k)), n[at]);
        assert_near(real_at(m, text("/conformal/thresholds/%zu/threshold", k)), threshold, 0);
    }
}

/* Predicts new rows, compares the sets with the probabilities, in JSON, NDJSON, CSV and a query, and
 * the evaluation of these rows with the sets. Returns the answer in JSON. */
static const struct response *check_sets(void) {
    char *fresh = clouds(5, FEW), *rest = NULL;
    const struct response *m = status_check(call_get("/v1/models/m"), 200);
    const struct response *r =
        status_check(call_typed("/v1/models/m/predict?output=label,probabilities,set&keep=k",
                                "text/csv", "application/json", fresh),
                     200);
    const struct response *alone =
        status_check(call_typed("/v1/models/m/predict?output=set", "text/csv", "text/csv", fresh),
                     200);
    const struct response *e =
        status_check(call_typed("/v1/models/m/evaluate", "text/csv", "application/json", fresh),
                     200);
    const struct response *metrics =
        status_check(call_typed("/v1/models/m/evaluate", "text/csv", "text/csv", fresh), 200);
    assert_non_null(strstr(metrics->body, "sets.coverage"));
    char *lines = keep(strdup(alone->body), free);
    double size = 0, right = 0, empty = 0, single = 0, of_class[K] = {0}, covered[K] = {0};
    assert_string_equal(strtok_r(lines, "\n", &rest), "set");
    for (int i = 0; i < FEW; i++) {
        const json_t *row = value_at(r, text("/predictions/%d", i)),
                     *set = json_object_get(row, "set");
        const size_t truth = class_of(string_in(row, "/keep/k"));
        size_t n = 0;
        char cell[128] = "\"[";
        bool has_truth = false;
        for (size_t k = 0; k < K; k++) {
            const double p = real_in(row, text("/probabilities/%zu", k)),
                         t = real_at(m, text("/conformal/thresholds/%zu/threshold", k));
            if (1 - p <= t) {
                static const char *const quoted_cells[K] = {"\"\"a\"\"", "\"\"b,\\\"\"c\\\"\"\"\"",
                                                            "\"\"d\"\""};
                assert_string_equal(json_string_value(json_array_get(set, n)), names[k]);
                (void)strcat(strcat(cell, n > 0 ? "," : ""), quoted_cells[k]);
                n++;
                has_truth = has_truth || k == truth;
            }
        }
        assert_int_equal(json_array_size(set), n);
        assert_string_equal(strtok_r(NULL, "\n", &rest), n == 0 ? "[]" : strcat(cell, "]\""));
        size += (double)n;
        right += has_truth;
        empty += n == 0;
        single += n == 1;
        of_class[truth]++;
        covered[truth] += has_truth;
    }
    assert_near(real_at(e, "/metrics/sets/coverage"), right / FEW, 1e-12);
    assert_near(real_at(e, "/metrics/sets/size"), size / FEW, 1e-12);
    assert_near(real_at(e, "/metrics/sets/empty"), empty / FEW, 1e-12);
    assert_near(real_at(e, "/metrics/sets/single"), single / FEW, 1e-12);
    assert_near(real_at(e, "/metrics/sets/support"), FEW, 0);
    for (size_t k = 0; k < K; k++) {
        assert_near(real_at(e, text("/metrics/sets/per_class/%zu/support", k)), of_class[k], 0);
        assert_near(real_at(e, text("/metrics/sets/per_class/%zu/coverage", k)),
                    covered[k] / of_class[k], 1e-12);
    }
    /* one row in all forms */
    const char *one = "{\"x\":2.1,\"y\":1.7}";
    const struct response *lone =
        status_check(call_typed("/v1/models/m/predict?output=set", "application/json",
                                "application/json", text("{\"instances\":[%s]}", one)),
                     200);
    char *wanted = json_dumps(value_at(lone, "/predictions/0"), JSON_COMPACT);
    assert_non_null(wanted);
    const struct response *l =
        status_check(call_typed("/v1/models/m/predict?output=set", "application/x-ndjson",
                                "application/x-ndjson", text("%s\n", one)),
                     200);
    assert_non_null(strstr(l->body, wanted));
    free(wanted);
    const struct response *q =
        status_check(call_get("/v1/models/m/predict?x=2.1&y=1.7&output=set"), 200);
    assert_true(
        json_equal(value_at(q, "/predictions/0/set"), value_at(lone, "/predictions/0/set")));
    free(fresh);
    return r;
}

static void test_holdout(void **state) {
    (void)state;
    const struct response *j =
        job_train(JOB("{'holdout':0.4}", "'conformal':{'coverage':0.9,'by_class':false}"));
    assert_json(j, "/resolved/conformal", "{'coverage':0.9,'by_class':false}");
    assert_int_equal(whole_at(j, "/result/conformal/rows"), 360);
    assert_false(has(j, "/result/metrics/validation/sets"));
    check_thresholds(j, 0.9, false, "holdout");
    const struct response *before = check_sets();
    const struct response *m = status_check(call_get("/v1/models?fields=name,conformal"), 200);
    assert_true(has(m, "/items/0/conformal/thresholds"));
    assert_int_equal(daemon_stop(&the_daemon), 0);
    service_restart(the_daemon.flags);
    const struct response *after = check_sets();
    assert_string_equal(before->body, after->body);
    check_thresholds(j, 0.9, false, "holdout");
}

static void test_by_class(void **state) {
    (void)state;
    const struct response *j =
        job_train(JOB("{'holdout':0.4}", "'conformal':{'coverage':0.8,'by_class':true}"));
    check_thresholds(j, 0.8, true, "holdout");
    check_sets();
}

/* A threshold below one half: some sets are empty. A calibrated SVM. */
static void test_empty_sets(void **state) {
    (void)state;
    const struct response *j = job_train(
        "{'model':'m','dataset':'clouds','target':'k','algorithm':'svm','params':{'calibrate':"
        "'platt'},'validation':{'holdout':0.3},'conformal':{'coverage':0.4}}");
    check_thresholds(j, 0.4, false, "holdout");
    check_sets();
    const struct response *e =
        status_check(call_post("/v1/models/m/evaluate", "{'dataset':'fresh'}"), 200);
    assert_true(real_at(e, "/metrics/sets/empty") > 0.05);
}

static void test_folds(void **state) {
    (void)state;
    const struct response *j =
        job_train(JOB("{'folds':4,'repeats':2}", "'conformal':{'coverage':0.9}"));
    check_thresholds(j, 0.9, false, "folds");
    check_sets();
    j = job_train(JOB("{'folds':2,'order':'y'}", "'conformal':{'coverage':0.9}"));
    check_thresholds(j, 0.9, false, "folds");
}

/* The rows of another dataset calibrate the sets, which then cover as many of them as the rank says.
 * Too few rows of a class are found before the fit. */
static void test_dataset(void **state) {
    (void)state;
    for (int by_class = 0; by_class < 2; by_class++) {
        const struct response *j = job_train(
            by_class ? JOB("{'dataset':'fresh'}", "'conformal':{'coverage':0.8,'by_class':true}")
                     : JOB("{'dataset':'fresh'}", "'conformal':{'coverage':0.8}"));
        const double all = real_at(j, "/result/conformal/rows");
        assert_true(all == real_at(j, "/result/metrics/validation/rows"));
        const struct response *e =
            status_check(call_post("/v1/models/m/evaluate", "{'dataset':'fresh'}"), 200);
        if (!by_class) {
            assert_near(real_at(e, "/metrics/sets/coverage"), ceil((all + 1) * 0.8 - 1e-9) / all,
                        1e-12);
        }
        for (size_t k = 0; by_class && k < K; k++) {
            const double n = real_at(j, text("/result/conformal/thresholds/%zu/rows", k));
            assert_near(real_at(e, text("/metrics/sets/per_class/%zu/coverage", k)),
                        ceil((n + 1) * 0.8 - 1e-9) / n, 1e-12);
        }
    }
    status_check(
        call_upload("/v1/datasets/clouds-few",
                    "x,y,k\n1,1,a\n1,2,a\n2,1,a\n1,2,a\n2,1,a\n1,3,a\n1,1,a\n2,2,a\n1,1,a\n"
                    "3,1,d\n"),
        201);
    const struct response *r = job_wait(
        job_post(JOB("{'dataset':'clouds-few'}", "'conformal':{'coverage':0.9,'by_class':true}")));
    assert_string_equal(string_at(r, "/error/errors/0/pointer"), "/conformal/coverage");
    assert_non_null(strstr(string_at(r, "/error/errors/0/detail"), "has 0 held-out rows"));
}

/* ---- coverage ---- */

/* Returns P(X <= x) of the number X of m rows that the sets cover, with n calibration rows and the
 * rank r: beta-binomial with r and n + 1 - r. */
static double covered_at_most(double x, double m, double n, double r) {
    const double b = n + 1 - r;
    double sum = 0;
    for (double i = 0; i <= x; i++) {
        sum += exp(lgamma(m + 1) - lgamma(i + 1) - lgamma(m - i + 1) + lgamma(i + r) +
                   lgamma(m - i + b) - lgamma(m + n + 1) - lgamma(r) - lgamma(b) + lgamma(n + 1));
    }
    return sum;
}

static void check_covered(double covered, double m, double n, double coverage) {
    const double r = ceil((n + 1) * coverage - 1e-9);
    assert_true(covered_at_most(covered, m, n, r) > 1e-4);
    assert_true(1 - covered_at_most(covered - 1, m, n, r) > 1e-4);
}

/* Trains with several seeds, each with other calibration rows, and evaluates on other rows. */
static void check_coverage(const char *dataset, const char *target, const char *fresh,
                           const char *algorithm, double coverage, bool by_class) {
    enum { SEEDS = 4 };
    double mean = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        const struct response *j =
            job_train("{'model':'cover','dataset':'%s','target':'%s','algorithm':'%s','seed':%d,"
                      "'validation':{'holdout':0.5},'conformal':{'coverage':%g,'by_class':%s}}",
                      dataset, target, algorithm, seed, coverage, by_class ? "true" : "false");
        const struct response *e =
            status_check(call_post("/v1/models/cover/evaluate", "{'dataset':'%s'}", fresh), 200);
        const double m = real_at(e, "/metrics/sets/support"),
                     share = real_at(e, "/metrics/sets/coverage");
        for (size_t k = 0; by_class && k < count_at(e, "/metrics/sets/per_class"); k++) {
            const double v = real_at(e, text("/metrics/sets/per_class/%zu/support", k));
            check_covered(round(v * real_at(e, text("/metrics/sets/per_class/%zu/coverage", k))), v,
                          real_at(j, text("/result/conformal/thresholds/%zu/rows", k)), coverage);
        }
        if (!by_class) {
            check_covered(round(m * share), m, real_at(j, "/result/conformal/rows"), coverage);
        }
        mean += share / SEEDS;
    }
    assert_near(mean, coverage, 0.04);
}

static void test_coverage(void **state) {
    (void)state;
    check_coverage("clouds", "k", "fresh", "logistic", 0.95, false);
    check_coverage("clouds", "k", "fresh", "gaussian", 0.8, true);
    check_coverage("digits", "class", "digits-new", "naive_bayes", 0.9, false);
    check_coverage("cancer", "class", "cancer-new", "naive_bayes", 0.9, true);
}

/* ---- refusals ---- */

static const struct response *refuse(const char *spec, const char *pointer, const char *words) {
    const struct response *r = problem_check(call_post("/v1/jobs", "%s", spec), 422, "invalid");
    return fault_contains(r, pointer, words);
}

#define IRIS(algorithm, more)                                                                      \
    "{'model':'n','dataset':'iris','target':'class','algorithm':'" algorithm "'" more "}"
#define HALF ",'validation':{'holdout':0.5}"

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *spec, *pointer, *words;
    } wrong[] = {
        {IRIS("logistic", ",'conformal':{'coverage':0.9}"), "/conformal",
         "holdout, folds, column or dataset"},
        {IRIS("logistic", ",'validation':{'dataset':'iris'},'conformal':{'coverage':0.995}"),
         "/conformal/coverage", "need at least 199 rows, and dataset \"iris\" version 1 has 150"},
        {IRIS("logistic", HALF ",'conformal':{'coverage':0}"), "/conformal/coverage",
         "> 0 and < 1"},
        {IRIS("logistic", HALF ",'conformal':{'coverage':1}"), "/conformal/coverage", "got 1"},
        {IRIS("logistic", HALF ",'conformal':{'coverage':'x'}"), "/conformal/coverage", ""},
        {IRIS("logistic", HALF ",'conformal':{}"), "/conformal/coverage", ""},
        {IRIS("logistic", HALF ",'conformal':0.9"), "/conformal", ""},
        {IRIS("logistic", HALF ",'conformal':{'coverage':0.9,'by':1}"), "/conformal/by", ""},
        {IRIS("logistic", HALF ",'conformal':{'coverage':0.9,'by_class':1}"), "/conformal/by_class",
         ""},
        {IRIS("svm", HALF ",'conformal':{'coverage':0.9}"), "/conformal", "params.calibrate"},
        {"{'model':'n','dataset':'iris','algorithm':'one_class_svm','features':{'exclude':['class']"
         "}" HALF ",'conformal':{'coverage':0.9}}",
         "/conformal", "needs a target"},
        {IRIS("logistic", ",'validation':{'holdout':0.1},'conformal':{'coverage':0.95}"),
         "/conformal/coverage",
         "at least 19 held-out rows, and the validation holds out at most 15"},
        {IRIS("logistic", HALF ",'conformal':{'coverage':0.97,'by_class':true}"),
         "/conformal/coverage", "of class \"setosa\" the validation holds out at most 2"},
        {IRIS("logistic",
              ",'validation':{'folds':5},'conformal':{'coverage':0.99,'by_class':true}"),
         "/conformal/coverage", "at least 99 held-out rows of each class"},
        {IRIS("logistic", ",'validation':{'folds':5},'conformal':{'coverage':0.999}"),
         "/conformal/coverage", "at most 150"},
        {IRIS("logistic", HALF ",'conformal':{'coverage':0.9999999}"), "/conformal/coverage",
         "with coverage 0.9999999 need at least 9999999 held-out rows"},
        {IRIS("logistic", HALF ",'conformal':{'coverage':1.0000001}"), "/conformal/coverage",
         "got 1.0000001"},
        {IRIS("logistic", ",'validation':{'holdout':1.0000001}"), "/validation/holdout",
         "got 1.0000001"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refuse(wrong[i].spec, wrong[i].pointer, wrong[i].words);
    }
}

/* The last rows by the length of the sepals have few of the class "setosa": only the training can
 * know. */
static void test_few_rows_at_training(void **state) {
    (void)state;
    const struct response *r =
        job_wait(job_post(IRIS("logistic", ",'validation':{'holdout':0.4,'order':'sepal_length'},"
                                           "'conformal':{'coverage':0.95,'by_class':true}")));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/errors/0/pointer"), "/conformal/coverage");
    const char *detail = string_at(r, "/error/errors/0/detail");
    assert_non_null(strstr(detail, "class \"setosa\" has 0 held-out rows"));
    assert_non_null(strstr(detail, "at least 19 of each class"));
}

static void test_output_of_plain_model(void **state) {
    (void)state;
    job_train(IRIS("logistic", HALF));
    const struct response *m = status_check(call_get("/v1/models/n"), 200);
    assert_false(has(m, "/conformal"));
    const struct response *r =
        problem_check(call_post("/v1/models/n/predict?output=set", "{'instances':[[1,2,3,4]]}"),
                      409, "conflict");
    assert_non_null(strstr(string_at(r, "/detail"), "\"conformal\""));
    problem_check(call_typed("/v1/models/n/predict?output=label,set", "application/x-ndjson", "*/*",
                             "[1,2,3,4]\n"),
                  409, "conflict");
    r = problem_check(call_post("/v1/models/n/predict?output=sets", "{'instances':[[1,2,3,4]]}"),
                      400, "bad-request");
    assert_non_null(strstr(string_at(r, "/detail"), "posterior, set"));
    r = status_check(call_post("/v1/models/n/evaluate", "{'dataset':'iris'}"), 200);
    assert_false(has(r, "/metrics/sets"));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_holdout),
                                       TEST(test_by_class),
                                       TEST(test_empty_sets),
                                       TEST(test_folds),
                                       TEST(test_dataset),
                                       TEST(test_coverage),
                                       TEST(test_refusals),
                                       TEST(test_few_rows_at_training),
                                       TEST(test_output_of_plain_model)};
    return cmocka_run_group_tests_name("sets of labels", tests, prepare, group_end);
}
