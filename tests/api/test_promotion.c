/* "promote": which versions become live, by which figures, and for which reason.
 *
 * Dataset tK has 4 rows "a" with x = 0 and 4 rows "b" with x = 2 K: least squares chooses "b" above
 * the middle, x > K. Dataset "check" has x = 0.5, 1.5 … 9.5, "a" below 5 and "b" above: the model
 * of tK is wrong in |K - 5| of 10 rows, so its accuracy is 1 - |K - 5|/10. */
#include "lib/api.h"
#include "lib/database.h"
#include "lib/postgresql.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOB(dataset, more)                                                                         \
    "{'model':'%s','dataset':'" dataset "','target':'y','algorithm':'least_squares'" more "}"
#define CHECK ",'validation':{'dataset':'check'}"
#define IF_BETTER ",'promote':'if_better'"

static void upload_threshold(int k) {
    char rows[256] = "x,y\n";
    for (int i = 0; i < 4; i++) {
        (void)sprintf(rows + strlen(rows), "0,a\n%d,b\n", 2 * k);
    }
    status_check(call_upload(text("/v1/datasets/t%d", k), rows), 201);
}

static int prepare(void **state) {
    static const char *const flags[] = {"--keep-versions", "3", NULL};
    char rows[256] = "x,y\n";
    (void)state;
    service_start(flags);
    for (int k = 3; k <= 5; k++) {
        upload_threshold(k);
    }
    for (int i = 0; i < 10; i++) {
        (void)sprintf(rows + strlen(rows), "%d.5,%s\n", i, i < 5 ? "a" : "b");
    }
    status_check(call_upload("/v1/datasets/check", rows), 201);
    upload_file("iris", "iris.csv");
    return 0;
}

/* The result has these members, and the model this live version. Figures: NaN is null. */
static const struct response *promotion_check(const struct response *a, const char *model,
                                              bool promoted, double figure, double live,
                                              double live_before, const char *reason) {
    const double expected[] = {figure, live, live_before};
    static const char *const members[] = {"new", "live", "live_version"};
    assert_string_equal(string_at(a, "/state"), "succeeded");
    assert_int_equal(json_is_true(value_at(a, "/result/promoted")), promoted);
    for (size_t i = 0; i < 3; i++) {
        const char *pointer = text("/result/promotion/%s", members[i]);
        if (isnan(expected[i])) {
            assert_true(json_is_null(value_at(a, pointer)));
        } else {
            assert_near(real_at(a, pointer), expected[i], 1e-12);
        }
    }
    if (strstr(string_at(a, "/result/promotion/reason"), reason) == NULL) {
        answer_fail(a, __FILE__, __LINE__, "the reason lacks \"%s\"", reason);
    }
    const struct response *m = call_get("/v1/models/%s", model);
    assert_int_equal(real_at(m, "/newest_version"), real_at(a, "/result/version"));
    assert_int_equal(real_at(m, "/live_version"),
                     promoted ? real_at(a, "/result/version") : live_before);
    return a;
}

static void test_better_equal_worse(void **state) {
    (void)state;
    /* the first version of a model becomes live, however bad it is */
    promotion_check(job_train(JOB("t3", CHECK IF_BETTER), "m"), "m", true, 0.8, (double)NAN,
                    (double)NAN, "the model had no live version");
    promotion_check(job_train(JOB("t3", CHECK IF_BETTER), "m"), "m", false, 0.8, 0.8, 1,
                    "not better, but equal");
    promotion_check(job_train(JOB("t4", CHECK IF_BETTER), "m"), "m", true, 0.9, 0.8, 1, ": better");
    promotion_check(
        job_train(JOB("t3", CHECK IF_BETTER), "m"), "m", false, 0.8, 0.9, 3,
        "accuracy of the new version is 0.8, that of live version 3 is 0.9: not better");
    /* 1 - 0.9 is 0.09999999999999998 in floating point */
    promotion_check(
        job_train(JOB("t5", CHECK ",'promote':{'if_better':{'metric':'accuracy','by':0.11}}"), "m"),
        "m", false, 1, 0.9, 3, "better, but not by 0.11");
    promotion_check(job_train(JOB("t5", CHECK ",'promote':{'if_better':{'by':0.1}}"), "m"), "m",
                    true, 1, 0.9, 3, ": better");
    /* of a loss the smaller value is better: 0.1 errors, then 0 */
    promotion_check(job_train(JOB("t4", CHECK ",'promote':{'if_better':{'metric':'error'}}"), "m"),
                    "m", false, 0.1, 0, 6, "not better");
    status_check(call_json("PUT", "/v1/models/m/live", "{'version':7}"), 200);
    promotion_check(job_train(JOB("t5", CHECK ",'promote':{'if_better':{'metric':'error'}}"), "m"),
                    "m", true, 0, 0.1, 7, ": better");
}

/* Both figures are in the result whatever the rule is. The live version outlives
 * --keep-versions. */
static void test_always_and_never(void **state) {
    (void)state;
    promotion_check(job_train(JOB("t4", ",'promote':'never'"), "n"), "n", true, (double)NAN,
                    (double)NAN, (double)NAN, "the model had no live version");
    for (int i = 0; i < 4; i++) {
        promotion_check(job_train(JOB("t5", CHECK ",'promote':'never'"), "n"), "n", false, 1, 0.9,
                        1, "\"promote\" is \"never\"");
    }
    const struct response *a = call_get("/v1/models/n/versions");
    assert_json(a, "/items/0/version", "1");
    assert_int_equal(count_at(a, "/items"), 4);
    promotion_check(job_train(JOB("t3", CHECK), "n"), "n", true, 0.8, 0.9, 1,
                    "\"promote\" is \"always\"");
    promotion_check(job_train(JOB("t3", ",'promote':'always'"), "n"), "n", true, (double)NAN,
                    (double)NAN, 6, "\"promote\" is \"always\"");
}

/* The held-out rows are those of the job: the same job again has the same figure. The folds of 150
 * rows have 30 rows each, so the mean accuracy over the folds is that of all rows. */
static void test_holdout_and_folds(void **state) {
    (void)state;
    static const char *const job =
        "{'model':'%s','dataset':'iris','target':'class','algorithm':'gaussian','promote':{"
        "'if_better':{'metric':'%s'}},'validation':{%s},'seed':%d}";
    const struct response *a = job_train(job, "h", "log_loss", "'holdout':0.2", 3);
    const double loss = real_at(a, "/result/metrics/validation/log_loss");
    a = job_train(job, "h", "log_loss", "'holdout':0.2", 3);
    promotion_check(a, "h", false, loss, loss, 1, "equal");
    assert_json(a, "/warnings", "[]");
    a = job_train(job, "h", "log_loss", "'holdout':0.2", 4); /* version 1 knows these rows */
    assert_non_null(strstr(string_at(a, "/warnings/0"), "may be among the validation rows"));
    a = job_train(job, "f", "accuracy", "'folds':5", 1);
    const double all = real_at(a, "/result/metrics/train/accuracy");
    a = job_train(job, "f", "accuracy", "'folds':5", 2);
    assert_near(real_at(a, "/result/promotion/live"), all, 1e-12);
    assert_near(real_at(a, "/result/promotion/new"),
                real_at(a, "/result/metrics/validation/accuracy"), 0);
    a = job_train(job, "f", "accuracy", "'folds':'leave_one_out'", 2);
    assert_near(real_at(a, "/result/promotion/live"), all, 1e-12);
    assert_near(real_at(a, "/result/promotion/new"),
                real_at(a, "/result/metrics/validation/accuracy"), 0);
    assert_int_equal(real_at(a, "/result/rows/validation"), 150);
}

/* A live version of a release that allotted the rows of a holdout otherwise was trained on some of
 * the validation rows. */
static void test_holdout_of_an_earlier_release(void **state) {
    (void)state;
    static const char *const job =
        "{'model':'e','dataset':'iris','target':'class','algorithm':'gaussian','promote':"
        "'if_better','validation':{'holdout':0.25}}";
    job_train("%s", job);
    assert_json(call_get("/v1/models/e"), "/holdout_rows", "'largest_remainder'");
    assert_json(job_train("%s", job), "/warnings", "[]");
    assert_int_equal(database_change(
                         "UPDATE model_versions SET info = replace(info, '\"holdout_rows"
                         "\":\"largest_remainder\",', '') WHERE name = 'e'"),
                     2);
    const struct response *a = job_train("%s", job);
    assert_non_null(strstr(string_at(a, "/warnings/0"), "may be among the validation rows"));
}

/* Weights count in both figures: of the rows of weight 2, 2 and 1 the last two are right. */
static void test_weights(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/w", "x,y,v\n0,a,1\n10,b,1\n0,a,1\n10,b,1\n"), 201);
    status_check(call_upload("/v1/datasets/wc", "x,y,v\n4,b,2\n6,b,2\n1,a,1\n"), 201);
    static const char *const job =
        "{'model':'w','dataset':'w','target':'y','algorithm':'least_squares','weight':'v',"
        "'validation':{'dataset':'wc'},'promote':'if_better'}";
    job_train("%s", job);
    promotion_check(job_train("%s", job), "w", false, 0.6, 0.6, 1, "equal");
}

static void test_not_comparable(void **state) {
    (void)state;
    static const char *const job =
        "{'model':'%s','dataset':'%s','target':'%s','algorithm':'least_squares','features':{"
        "'include':['%s']},'validation':{'holdout':0.5},'promote':'if_better'}";
    status_check(call_upload("/v1/datasets/wide", "x,z,y,t\n0,1,a,c\n1,2,a,d\n4,1,b,c\n5,2,b,d\n"
                                                  "0,1,a,c\n1,2,a,d\n4,1,b,c\n5,2,b,d\n"),
                 201);
    status_check(call_upload("/v1/datasets/three", "x,z,y\n0,1,a\n1,2,a\n4,1,b\n5,2,b\n8,1,c\n"
                                                   "9,1,c\n"),
                 201);
    status_check(call_upload("/v1/datasets/words", "x,z,y\nu,1,a\nu,2,a\nv,1,b\nv,2,b\n"), 201);
    status_check(call_upload("/v1/datasets/numbers", "z,y\n0,1\n1,1\n4,2\n5,2\n"), 201);
    job_train(job, "o", "wide", "y", "x");
    const double own = 1; /* the classes are separable by x, but hardly by z */
    const struct response *a =
        promotion_check(job_train(job, "o", "wide", "t", "z"), "o", false, own, (double)NAN, 1,
                        "live version 1 is not compared: its target is \"y\", not \"t\"");
    assert_json(a, "/warnings", "[]");
    a = job_train(job, "o", "three", "y", "x");
    promotion_check(a, "o", false, real_at(a, "/result/promotion/new"), (double)NAN, 1,
                    "it has no class \"c\" (column \"y\")");
    a = job_train(job, "o", "numbers", "y", "z");
    promotion_check(a, "o", false, real_at(a, "/result/promotion/new"), (double)NAN, 1,
                    "its classes are categorical, but those of \"y\" are numeric");
    assert_non_null(strstr(string_at(a, "/warnings/0"),
                           "column \"y\" is numeric; in the table of the live version 1, dataset "
                           "\"wide\" version 1, it was categorical"));
    /* other columns than the live version: its own are in the table */
    a = job_train(job, "o", "wide", "y", "z");
    promotion_check(a, "o", false, real_at(a, "/result/promotion/new"), 1, 1, "not better");
    /* the type of an input has changed: one warning, in the dry run and at the end */
    static const char *const warning =
        "column \"x\" is categorical; in the table of the live version 1, dataset \"wide\" version "
        "1, it was numeric";
    a = call_post("/v1/jobs?dry_run=true", job, "o", "words", "y", "z");
    assert_int_equal(count_at(a, "/warnings"), 1);
    assert_string_equal(string_at(a, "/warnings/0"), warning);
    a = job_train(job, "o", "words", "y", "z");
    promotion_check(a, "o", false, real_at(a, "/result/promotion/new"), (double)NAN, 1, "\"x\"");
    assert_int_equal(count_at(a, "/warnings"), 1);
    a = job_train("{'model':'o','dataset':'words','target':'y','algorithm':'least_squares'}");
    promotion_check(a, "o", true, (double)NAN, (double)NAN, 1, "always");
    assert_string_equal(string_at(a, "/warnings/0"), warning);
    /* the metric is undefined: the validation rows have one class */
    status_check(call_upload("/v1/datasets/one", "x,y\n0.5,a\n1.5,a\n"), 201);
    for (int i = 0; i < 2; i++) {
        a = job_train(JOB("t5", ",'validation':{'dataset':'one'},'promote':{'if_better':{'metric':"
                                "'roc_auc'}}"),
                      "u");
    }
    assert_true(json_is_false(value_at(a, "/result/promoted")));
    assert_non_null(strstr(string_at(a, "/result/promotion/reason"), "undefined"));
}

/* A live version that cannot be read is no reason for the job to fail. */
static void test_damaged_live_version(void **state) {
    (void)state;
    job_train(JOB("t4", CHECK), "d");
    const char *zeros = postgresql_is_used() ? "decode(repeat('00', length(bytes)), 'hex')"
                                             : "zeroblob(length(bytes))";
    assert_true(database_change("UPDATE blobs SET bytes = %s WHERE id IN (SELECT first_blob FROM "
                                "chunks JOIN model_versions USING (part) WHERE name = 'd')",
                                zeros) > 0);
    promotion_check(job_train(JOB("t5", CHECK IF_BETTER), "d"), "d", false, 1, (double)NAN, 1,
                    "live version 1 is not compared: ");
    promotion_check(job_train(JOB("t5", CHECK), "d"), "d", true, 1, (double)NAN, 1,
                    "\"promote\" is \"always\"; live version 1 is not compared: ");
    promotion_check(job_train(JOB("t4", CHECK IF_BETTER), "d"), "d", false, 0.9, 1, 3,
                    "not better");
}

/* A metric that no model of the job has is refused. With 3 classes the pairs of svm have no score
 * of each class, but the sums of their scores rank the rows. */
static void test_impossible_metrics(void **state) {
    (void)state;
    static const struct {
        const char *dataset, *target, *algorithm, *metric;
        bool possible;
    } jobs[] = {
        {"t5", "y", "'perceptron'", "log_loss", false},
        {"t5", "y", "'perceptron'", "roc_auc", true},
        {"t5", "y", "'svm'", "brier", false},
        {"t5", "y", "'svm'", "hinge", true},
        {"t5", "y", "'svm','params':{'calibrate':'platt'}", "ece", true},
        {"iris", "class", "'svm'", "hinge", false},
        {"iris", "class", "'svm','params':{'multiclass':'one_vs_rest'}", "hinge", true},
        {"iris", "class", "'svm'", "roc_auc", true},
        {"iris", "class", "'svm'", "mcc", true},
        {"iris", "class", "'logistic'", "roc_auc", true},
        {"iris", "class",
         "'perceptron','params':{'multiclass':'one_vs_rest_strict','discriminants':'K-1'}",
         "average_precision", false},
        {"iris", "class", "'logistic'", "logistic_loss", true},
        {"iris", "class", "'logistic','params':{'multiclass':'one_vs_one'}", "log_loss", true},
        {"iris", "class", "'logistic','params':{'multiclass':'one_vs_one'}", "squared_loss", false},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const struct response *a =
            call_post("/v1/jobs",
                      "{'model':'i%zu','dataset':'%s','target':'%s','algorithm':%s,'validation':{"
                      "'holdout':0.5},'promote':{'if_better':{'metric':'%s'}}}",
                      i, jobs[i].dataset, jobs[i].target, jobs[i].algorithm, jobs[i].metric);
        if (jobs[i].possible) {
            a = job_wait(whole_at(status_check(a, 202), "/id"));
            assert_string_equal(string_at(a, "/state"), "succeeded");
            (void)real_at(a, "/result/promotion/new"); /* it is defined */
        } else {
            fault_contains(problem_check(a, 422, "invalid"), "/promote/if_better/metric",
                           jobs[i].metric);
        }
    }
}

/* The live version at the end counts, not that at the POST. */
static void test_live_version_changes(void **state) {
    (void)state;
    upload_file("digits", "digits.csv");
    job_train(JOB("t3", ""), "l");
    job_train(JOB("t4", ""), "l");
    const int64_t first = job_endless("q"), second = job_endless("q");
    const int64_t id = job_post(JOB("t5", CHECK IF_BETTER), "l"); /* waits for a worker */
    status_check(call_json("PUT", "/v1/models/l/live", "{'version':1}"), 200);
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)first), 202);
    promotion_check(job_wait(id), "l", true, 1, 0.8, 1, ": better");
    /* the model is deleted meanwhile: the new version is the first again */
    const int64_t third = job_endless("q"), next = job_post(JOB("t3", CHECK IF_BETTER), "l");
    status_check(call_delete("/v1/models/l"), 204);
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)third), 202);
    promotion_check(job_wait(next), "l", true, 0.8, (double)NAN, (double)NAN, "no live version");
    status_check(call_empty("POST", "/v1/jobs/%lld/cancel", (long long)second), 202);
    job_wait(second);
}

static void test_the_request(void **state) {
    (void)state;
    static const struct {
        const char *members, *place, *words;
    } faults[] = {
        {IF_BETTER, "/promote", "needs \\\"validation\\\""},
        {IF_BETTER ",'validation':null", "/promote", "needs \\\"validation\\\""},
        {CHECK ",'promote':'sometimes'", "/promote", "sometimes"},
        {CHECK ",'promote':true", "/promote", "if_better"},
        {CHECK ",'promote':{}", "/promote/if_better", "missing"},
        {CHECK ",'promote':{'if_better':{},'x':1}", "/promote/x", "x"},
        {CHECK ",'promote':{'if_better':{'metrics':'error'}}", "/promote/if_better/metrics", ""},
        {CHECK ",'promote':{'if_better':{'metric':'acuracy'}}", "/promote/if_better/metric",
         "acuracy"},
        {CHECK ",'promote':{'if_better':{'by':-0.1}}", "/promote/if_better/by", "-0.1"},
        {CHECK ",'promote':{'if_better':{'by':'x'}}", "/promote/if_better/by", "number"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct response *a =
            call_post("/v1/jobs",
                      "{'model':'r','dataset':'t5','target':'y','algorithm':'least_squares'%s}",
                      faults[i].members);
        fault_check(problem_check(a, 422, "invalid"), faults[i].place);
        if (strstr(a->body, faults[i].words) == NULL) {
            answer_fail(a, __FILE__, __LINE__, "lacks \"%s\"", faults[i].words);
        }
    }
    fault_contains(problem_check(call_post("/v1/jobs", "{'model':'r','dataset':'t5','algorithm':"
                                                       "'one_class_svm','features':{'include':"
                                                       "['x']},'validation':{'holdout':0.5}"
                                                       ",'promote':'if_better'}"),
                                 422, "invalid"),
                   "/promote", "needs a target");
    const struct response *a = call_post("/v1/jobs?dry_run=true", JOB("t5", CHECK IF_BETTER), "r");
    assert_json(a, "/promote", "{'if_better':{'metric':'accuracy','by':0}}");
    a = job_train(JOB("t5", ",'promote':null"), "r");
    assert_json(a, "/resolved/promote", "'always'");
    assert_json(a, "/request/promote", "null");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_better_equal_worse),
        TEST(test_always_and_never),
        TEST(test_holdout_and_folds),
        TEST(test_weights),
        TEST(test_not_comparable),
        TEST(test_live_version_changes),
        TEST(test_the_request),
        TEST(test_damaged_live_version),
        TEST(test_holdout_of_an_earlier_release),
        TEST(test_impossible_metrics),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
