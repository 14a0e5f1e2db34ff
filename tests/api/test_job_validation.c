/* Validation by holdout, folds and another dataset; weights of rows and classes; the machines of
 * several classes. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_NAMES "setosa", "versicolor", "virginica"

/* Uploads iris with a column of weights, and its even and odd rows as two datasets. */
static void upload_variants(void) {
    const struct table *iris = table_read("tests/data/iris.csv");
    char *whole = keep(malloc(65536), free),
         *halves[2] = {keep(malloc(32768), free), keep(malloc(32768), free)};
    char *doubled = keep(malloc(65536), free);
    assert_true(whole && halves[0] && halves[1] && doubled);
    char *end = whole + sprintf(whole, "a,b,c,d,w,negative,half,word,zero,class\n"), *ends[2],
         *end2 = doubled;
    for (int h = 0; h < 2; h++) {
        ends[h] = halves[h] + sprintf(halves[h], "a,b,c,d,class\n");
    }
    end2 += sprintf(end2, "a,b,c,d,class\n");
    for (size_t i = 0; i < iris->n_rows; i++) {
        const double *x = iris->x + 4 * i;
        const char *numbers = text("%.17g,%.17g,%.17g,%.17g", x[0], x[1], x[2], x[3]);
        end += sprintf(end, "%s,%d,%d,%s,x%zu,0,%s\n", numbers, i % 3 == 0 ? 2 : 1, i == 5 ? -1 : 1,
                       i % 2 ? "1" : "", i % 2, iris->label[i]);
        ends[i % 2] += sprintf(ends[i % 2], "%s,%s\n", numbers, iris->label[i]);
        for (int copies = i % 3 == 0 ? 2 : 1; copies > 0; copies--) {
            end2 += sprintf(end2, "%s,%s\n", numbers, iris->label[i]);
        }
    }
    status_check(call_upload("/v1/datasets/iris", whole), 201);
    status_check(call_upload("/v1/datasets/doubled", doubled), 201);
    status_check(call_upload("/v1/datasets/even", halves[0]), 201);
    status_check(call_upload("/v1/datasets/odd", halves[1]), 201);
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_variants();
    status_check(call_upload("/v1/datasets/other",
                             "a,b,c,d,class\n1,2,3,x,setosa\n4,5,6,y,virginica\n"),
                 201);
    status_check(call_upload("/v1/datasets/narrow", "a,b,class\n1,2,setosa\n"), 201);
    status_check(call_upload("/v1/datasets/unlabelled?types=class:categorical",
                             "a,b,c,d,class\n1,2,3,4,\n2,3,4,5,\n"),
                 201);
    status_check(call_upload("/v1/datasets/foreign",
                             "a,b,c,d,class\n1,2,3,4,rose\n2,3,4,5,setosa\n"),
                 201);
    status_check(call_upload("/v1/datasets/scales", "x,huge,tiny,mixed,c\n1,1,1e-165,1,a\n2,1e300,"
                                                    "1e-165,1e-165,b\n3,0,0,1,a\n4,1,1e-165,1,b\n"),
                 201);
    status_check(call_upload("/v1/datasets/votes",
                             "x,yes,n\n1,true,0\n2,false,5\n3,true,5\n4,false,0\n5,true,5\n"),
                 201);
    keep_free();
    return 0;
}

#define JOB(dataset, more)                                                                         \
    "{'model':'m','dataset':'" dataset                                                             \
    "','target':'class','algorithm':'logistic','features':{'include':['a','b','c','d']}" more "}"

/* ---- validation ---- */

static const char *const scalars[] = {"accuracy", "error",        "balanced_accuracy",
                                      "log_loss", "brier",        "mcc",
                                      "kappa",    "roc_auc",      "average_precision",
                                      "hinge",    "squared_loss", "logistic_loss",
                                      "ece",      "ambiguous"};
enum { N_SCALARS = sizeof scalars / sizeof scalars[0] };

static void test_all_metrics_are_there(void **state) {
    (void)state;
    const struct response *r = job_train(JOB("iris", ",'validation':{'holdout':0.3}"));
    for (size_t i = 0; i < N_SCALARS; i++) {
        for (int part = 0; part < 2; part++) {
            assert_true(
                json_is_number(value_at(r, text("/result/metrics/%s/%s",
                                                part ? "validation" : "train", scalars[i]))));
        }
    }
    assert_close(real_at(r, "/result/metrics/train/accuracy") +
                     real_at(r, "/result/metrics/train/error"),
                 1, 1e-12);
    assert_json(call_get("/v1/models/m"), "/validation", "{'holdout':0.3}");
}

/* A class of three rows: the fold with one of them has one label only and no mcc, and the mean is
 * taken over the other folds. */
static void test_folds_that_do_not_count(void **state) {
    (void)state;
    enum { FOLDS = 3 };
    const char *rows = "x,c\n10,rare\n100,rare\n101,rare\n";
    for (int i = 0; i < 27; i++) {
        rows = text("%s%d,usual\n", rows, i);
    }
    status_check(call_upload("/v1/datasets/rare", rows), 201);
    const struct response *r = job_train("{'model':'rare','dataset':'rare','target':'c','algorithm'"
                                         ":'logistic','validation':{'folds':3}}");
    double sum = 0;
    size_t defined = 0;
    for (int f = 0; f < FOLDS; f++) {
        const json_t *mcc = value_at(r, text("/result/metrics/validation/folds/%d/mcc", f));
        defined += json_is_number(mcc);
        sum += json_number_value(mcc);
    }
    assert_true(defined > 0 && defined < FOLDS);
    assert_int_equal(whole_at(r, "/result/metrics/validation/counted/mcc"), defined);
    assert_close(real_at(r, "/result/metrics/validation/mcc"), sum / (double)defined, 1e-12);
    assert_false(has(r, "/result/metrics/validation/counted/accuracy"));
}

/* 0.1 of 400 rows in 100 classes are 40 rows. A holdout of 0 rows is refused, also where each row
 * has another class, because every class keeps a training row. */
static void test_a_holdout_of_small_classes(void **state) {
    (void)state;
    const char *rows = "x,c,own\n";
    for (int i = 0; i < 400; i++) {
        rows = text("%s%d,k%d,r%d\n", rows, i % 9, i % 100, i);
    }
    status_check(call_upload("/v1/datasets/small?types=own:categorical", rows), 201);
    const struct response *r =
        job_train("{'model':'small','dataset':'small','target':'c','algorithm':'naive_bayes',"
                  "'features':{'include':['x']},'validation':{'holdout':0.1}}");
    assert_int_equal(whole_at(r, "/result/rows/validation"), 40);
    assert_int_equal(whole_at(r, "/result/rows/train"), 360);
    fault_contains(problem_check(call_post("/v1/jobs",
                                           "{'model':'small','dataset':'small','target':'own',"
                                           "'algorithm':'naive_bayes','features':{'include':['x']},"
                                           "'validation':{'holdout':0.1}}"),
                                 422, "invalid"),
                   "/validation/holdout",
                   "a validation set of 0 rows: a class keeps at least one training row");
    fault_contains(problem_check(call_post("/v1/jobs",
                                           "{'model':'small','dataset':'small','target':'own',"
                                           "'algorithm':'naive_bayes','features':{'include':['x']},"
                                           "'validation':{'folds':2}}"),
                                 422, "invalid"),
                   "/validation/folds", "at least 2 rows, 0,");
}

/* Classes of 3 and of 1 rows in 5 folds: two folds have none of the first, and the row of the
 * second is in no fold. */
static void test_more_folds_than_rows_of_a_class(void **state) {
    (void)state;
    const char *rows = "x,c\n10,rare\n100,rare\n101,rare\n50,one\n";
    for (int i = 0; i < 27; i++) {
        rows = text("%s%d,usual\n", rows, i);
    }
    status_check(call_upload("/v1/datasets/rarer", rows), 201);
    const char *job = "{'model':'rarer','dataset':'rarer','target':'c','algorithm':'logistic',"
                      "'validation':{'folds':5}}";
    const struct response *r = status_check(call_post("/v1/jobs?dry_run=true", "%s", job), 200);
    assert_int_equal(count_at(r, "/warnings"), 1);
    assert_string_equal(
        string_at(r, "/warnings/0"),
        "the smallest class of \"c\" has 1 row for 5 folds: classes will be missing "
        "from some folds");
    r = job_train("%s", job);
    assert_int_equal(count_at(r, "/warnings"), 2);
    assert_string_equal(
        string_at(r, "/warnings/0"),
        "classes with one row are not validated, because the row is a training row of every fold: "
        "\"one\"");
    size_t without = 0;
    for (int f = 1; f <= 5; f++) {
        without +=
            strstr(string_at(r, "/warnings/1"), text("fold %d has no row of \"rare\"", f)) != NULL;
    }
    assert_int_equal(without, 2);
    assert_int_equal(count_at(r, "/result/metrics/validation/folds"), 5);
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), 30);
}

/* The last point of a learning curve is the training itself; smaller shares have fewer rows. */
static void test_a_learning_curve(void **state) {
    (void)state;
    const struct response *r =
        job_train(JOB("iris", ",'validation':{'holdout':0.2},'learning_curve':[1,0.1,0.5,0.1]"));
    assert_int_equal(count_at(r, "/result/learning_curve"), 3);
    assert_close(real_at(r, "/result/learning_curve/0/share"), 0.1, 0);
    assert_close(real_at(r, "/result/learning_curve/0/rows"), 12, 0);
    assert_close(real_at(r, "/result/learning_curve/2/rows"), 120, 0);
    assert_close(real_at(r, "/result/learning_curve/2/train/log_loss"),
                 real_at(r, "/result/metrics/train/log_loss"), 0);
    assert_close(real_at(r, "/result/learning_curve/2/validation/log_loss"),
                 real_at(r, "/result/metrics/validation/log_loss"), 0);
    assert_false(has(r, "/result/learning_curve/2/std"));
    r = job_train(JOB("iris", ",'validation':{'folds':3},'learning_curve':[0.5,1]"));
    assert_int_equal(whole_at(r, "/result/learning_curve/1/fits"), 3);
    assert_close(real_at(r, "/result/learning_curve/1/validation/log_loss"),
                 real_at(r, "/result/metrics/validation/log_loss"), 1e-12);
    assert_close(real_at(r, "/result/learning_curve/1/std/log_loss"),
                 real_at(r, "/result/metrics/validation/std/log_loss"), 1e-6);
    assert_false(has(job_train(JOB("iris", "")), "/result/learning_curve"));
    fault_contains(problem_check(call_post("/v1/jobs", JOB("iris", ",'learning_curve':[0.5]")), 422,
                                 "invalid"),
                   "/learning_curve", "needs a validation");
    fault_contains(problem_check(call_post("/v1/jobs", JOB("iris", ",'validation':{'folds':2},"
                                                                   "'learning_curve':[0.5,0]")),
                                 422, "invalid"),
                   "/learning_curve/1", "must be > 0 and <= 1, got 0");
    fault_contains(problem_check(call_post("/v1/jobs",
                                           "{'model':'m','dataset':'iris','algorithm':"
                                           "'one_class_svm','features':{'include':['a','b']},"
                                           "'validation':{'folds':2},'learning_curve':[1]}"),
                                 422, "invalid"),
                   "/learning_curve", "needs a target");
}

/* Leaving out one row is a cross-validation with as many folds as rows; its metrics are those of
 * all rows, so that the area under the ROC curve is defined. */
static void test_leave_one_out(void **state) {
    (void)state;
    const struct response *r =
        job_train(JOB("iris", ",'validation':{'folds':'leave_one_out','curves':true}"));
    const double accuracy = real_at(r, "/result/metrics/validation/accuracy"),
                 log_loss = real_at(r, "/result/metrics/validation/log_loss");
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), 150);
    assert_true(real_at(r, "/result/metrics/validation/roc_auc") > 0.9);
    assert_true(has(r, "/result/metrics/validation/roc"));
    assert_false(has(r, "/result/metrics/validation/folds"));
    assert_json(r, "/resolved/validation", "{'folds':'leave_one_out','curves':true}");
    assert_json(call_get("/v1/models/m"), "/validation", "{'folds':'leave_one_out','curves':true}");
    r = job_train(JOB("iris", ",'validation':{'folds':150}"));
    assert_near(real_at(r, "/result/metrics/validation/accuracy"), accuracy, 1e-12);
    assert_near(real_at(r, "/result/metrics/validation/log_loss"), log_loss, 1e-12);
    static const struct {
        const char *algorithm;
        int status;
    } cases[] = {{"'svm'", 200},           {"'svm','params':{'kernel':'rbf'}", 422},
                 {"'gaussian'", 200},      {"'gaussian','params':{'covariance':'full'}", 422},
                 {"'least_squares'", 200}, {"'fisher'", 200},
                 {"'perceptron'", 200},    {"'knn'", 422},
                 {"'mlp'", 422},           {"'naive_bayes'", 422}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        r = call_post("/v1/jobs?dry_run=true",
                      "{'model':'m','dataset':'iris','target':'class','algorithm':%s,'features':"
                      "{'include':['a','b']},'validation':{'folds':'leave_one_out'}}",
                      cases[i].algorithm);
        if (cases[i].status == 200) {
            status_check(r, 200);
        } else {
            fault_contains(problem_check(r, 422, "invalid"), "/validation/folds",
                           "is for linear methods");
        }
    }
    char *rows = keep(malloc(65536), free), *end = rows;
    assert_non_null(rows);
    end += sprintf(end, "x,c\n");
    for (int i = 0; i < 5001; i++) {
        end += sprintf(end, "%d,%c\n", i % 13, 'a' + i % 2);
    }
    status_check(call_upload("/v1/datasets/long", rows), 201);
    fault_contains(problem_check(call_post("/v1/jobs",
                                           "{'model':'m','dataset':'long','target':'c','algorithm':"
                                           "'logistic','validation':{'folds':'leave_one_out'}}"),
                                 422, "invalid"),
                   "/validation/folds", "is for at most 5000 rows, and there are 5001");
}

static void test_folds(void **state) {
    (void)state;
    enum { FOLDS = 5 };
    const struct response *r = job_train(JOB("iris", ",'validation':{'folds':5},'seed':3"));
    assert_int_equal(whole_at(r, "/result/metrics/train/rows"), 150);
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), 150);
    assert_int_equal(count_at(r, "/result/metrics/validation/folds"), FOLDS);
    for (size_t i = 0; i < N_SCALARS; i++) { /* means and deviations, recomputed from the folds */
        double sum = 0, squares = 0;
        for (int f = 0; f < FOLDS; f++) {
            sum += real_at(r, text("/result/metrics/validation/folds/%d/%s", f, scalars[i]));
        }
        for (int f = 0; f < FOLDS; f++) {
            squares +=
                pow(real_at(r, text("/result/metrics/validation/folds/%d/%s", f, scalars[i])) -
                        sum / FOLDS,
                    2);
        }
        assert_true(fabs(real_at(r, text("/result/metrics/validation/%s", scalars[i])) -
                         sum / FOLDS) <= 1e-12 * fmax(1, fabs(sum)));
        assert_true(fabs(real_at(r, text("/result/metrics/validation/std/%s", scalars[i])) -
                         sqrt(squares / FOLDS)) <= 1e-9);
    }
    double total = 0, right = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double n =
                real_at(r, text("/result/metrics/validation/confusion/matrix/%d/%d", i, j));
            total += n;
            right += i == j ? n : 0;
        }
    }
    assert_true(total == 150);
    assert_close(real_at(r, "/result/metrics/validation/accuracy"), right / total,
                 1e-12); /* the folds have equal sizes */
    const struct response *model = call_get("/v1/models/m");
    assert_json(model, "/validation", "{'folds':5}");
    assert_true(json_equal(value_at(model, "/metrics"), value_at(r, "/result/metrics")));
    /* validation does not change the model: it is trained on all rows */
    const struct response *plain = job_train(JOB("iris", ",'seed':3"));
    assert_true(real_at(plain, "/result/objective") == real_at(r, "/result/objective"));
    assert_true(json_is_null(value_at(plain, "/result/metrics/validation")));
    /* the history is that of the model on all rows */
    const struct response *history =
        call_get("/v1/jobs/%lld/history", (long long)whole_at(r, "/id"));
    assert_int_equal(count_at(history, "/items"), whole_at(r, "/result/iterations"));
    /* an equal seed gives equal folds */
    const struct response *again = job_train(JOB("iris", ",'validation':{'folds':5},'seed':3"));
    assert_true(json_equal(value_at(again, "/result/metrics"), value_at(r, "/result/metrics")));
}

/* A basis is fitted to the training rows of each fold. */
static void test_folds_with_a_basis(void **state) {
    (void)state;
    static const char *const bases[] = {"{'type':'polynomial','degree':2}",
                                        "{'type':'gaussian','centres':3}",
                                        "{'type':'random_fourier','features':5}",
                                        "{'type':'fisher'}"};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        const struct response *r = job_train(
            "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic',"
            "'features':{'include':['a','b','c','d'],'basis':[%s]},'validation':{'folds':3}}",
            bases[i]);
        assert_int_equal(count_at(r, "/result/metrics/validation/folds"), 3);
        assert_true(real_at(r, "/result/metrics/validation/accuracy") > 0.8);
    }
}

static void test_another_dataset(void **state) {
    (void)state;
    const struct response *r = job_train(JOB("even", ",'validation':{'dataset':'odd'}"));
    assert_int_equal(whole_at(r, "/result/metrics/train/rows"), 75);
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), 75);
    assert_json(call_get("/v1/models/m"), "/validation", "{'dataset':'odd@1'}");
    const struct response *evaluated =
        status_check(call_post("/v1/models/m/evaluate", "{'dataset':'odd'}"), 200);
    for (size_t i = 0; i < N_SCALARS; i++) {
        assert_true(real_at(evaluated, text("/metrics/%s", scalars[i])) ==
                    real_at(r, text("/result/metrics/validation/%s", scalars[i])));
    }
    job_train(JOB("even", ",'validation':{'dataset':'even@1'}"));
}

/* A class that the training rows lack is refused at once if the summaries list the classes,
 * otherwise before the fit. */
static void test_foreign_classes(void **state) {
    (void)state;
    const struct response *r =
        call_post("/v1/jobs", "%s", JOB("even", ",'validation':{'dataset':'foreign'}"));
    problem_check(r, 422, "invalid");
    fault_contains(
        r, "/validation/dataset",
        "1 row of dataset \"foreign\" version 1 has the class \"rose\", which target \"class\" of "
        "dataset \"even\" version 1 does not have: its classes are \"setosa\", \"versicolor\", "
        "\"virginica\"");
    const char *many = "x,c,n\n", *other = "x,c,n\n1,c0,0\n2,d0,1\n";
    for (int i = 0; i < 48; i++) {
        many = text("%s%d,c%d,%d\n", many, i, i % 12, i % 2);
    }
    status_check(call_upload("/v1/datasets/many", many), 201);
    status_check(call_upload("/v1/datasets/others", other), 201);
    r = job_wait(job_post("{'model':'m','dataset':'many','target':'c','algorithm':'logistic',"
                          "'features':{'include':['x']},'validation':{'dataset':'others'}}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/type"), "/problems/untrainable");
    assert_non_null(strstr(string_at(r, "/error/detail"), "d0"));
    status_check(call_upload("/v1/datasets/others", "x,c,n\n1,c0,0\n2,c1,3\n"), 200);
    r = call_post("/v1/jobs", "%s",
                  "{'model':'m','dataset':'many','target':'n','algorithm':'logistic',"
                  "'features':{'include':['x']},'validation':{'dataset':'others'}}");
    problem_check(r, 422, "invalid");
    fault_contains(r, "/validation/dataset",
                   "dataset \"others\" version 2 has the class 3, which target \"n\" of dataset "
                   "\"many\" version 1 does not have: its classes are 0 and 1");
}

/* Returns the warning that begins with a text, which must exist. */
static const char *warning_check(const struct response *r, const char *start) {
    for (size_t i = 0; i < count_at(r, "/warnings"); i++) {
        const char *warning = string_at(r, text("/warnings/%zu", i));
        if (strncmp(warning, start, strlen(start)) == 0) {
            return warning;
        }
    }
    fail_msg("no warning begins with: %s\n%s", start, r->body);
    return "";
}

/* Classes without validation rows, and categories that only validation rows have, give warnings. */
static void test_rare_values(void **state) {
    (void)state;
    static const char start[] = "{'model':'m','dataset':'hues','target':'c','algorithm':'logistic'";
    const char *rows = "x,colour,c\n7,red,seldom\n8,red,never\n";
    for (int i = 0; i < 40; i++) {
        rows = text("%s%d,%s,%s\n", rows, i % 9, i % 3 ? "red" : "blue", i % 2 ? "yes" : "no");
    }
    status_check(call_upload("/v1/datasets/hues", rows), 201);
    const struct response *r = job_train("%s,'validation':{'holdout':0.25}}", start);
    warning_check(r, "classes without a held-out row, which the validation metrics do not "
                     "cover: \"never\", \"seldom\"");
    status_check(call_upload("/v1/datasets/later", "x,colour,c\n1,mauve,yes\n2,pink,no\n"
                                                   "3,mauve,seldom\n4,,never\n5,red,no\n"),
                 201);
    r = job_train("%s,'validation':{'dataset':'later'}}", start);
    warning_check(r, "the validation rows have 3 values that no training row has: \"mauve\" in "
                     "column \"colour\" (2 rows), \"pink\" in column \"colour\" (1 row)");
    status_check(call_upload("/v1/datasets/hues", text("%s3,grey,yes\n", rows)), 200);
    r = job_train("%s,'validation':{'folds':4}}", start);
    warning_check(r, "the held-out rows have 1 value that no training row has: \"grey\" in "
                     "column \"colour\" (1 row)");
    for (int i = 0; i < 30; i++) {
        rows = text("%s3,colour_%d_%0100d,yes\n", rows, i, i);
    }
    status_check(call_upload("/v1/datasets/hues", rows), 200);
    r = job_train("%s,'features':{'include':['colour','x']},'validation':{'folds':3}}", start);
    const char *warning = warning_check(r, "the held-out rows have 30 values");
    assert_non_null(strstr(warning, " of other categories"));
}

/* The curves of a job equal those of an evaluation of its model on the same rows; without `curves`
 * there are none. */
static void test_curves(void **state) {
    (void)state;
    static const char *const members[] = {"roc", "precision_recall", "calibration"};
    const struct response *plain =
        job_train(JOB("even", ",'validation':{'dataset':'odd','curves':false}"));
    for (size_t i = 0; i < 3; i++) {
        assert_null(json_find(plain->json, text("/result/metrics/validation/%s", members[i])));
    }
    const struct response *r =
        job_train(JOB("even", ",'validation':{'dataset':'odd','curves':true}"));
    assert_json(call_get("/v1/models/m"), "/validation", "{'dataset':'odd@1','curves':true}");
    const char *const rows[] = {"validation", "train"}, *const datasets[] = {"odd", "even"};
    for (size_t j = 0; j < 2; j++) {
        const struct response *e = status_check(call_post("/v1/models/m/evaluate?curves=true", "%s",
                                                          text("{'dataset':'%s'}", datasets[j])),
                                                200);
        for (size_t i = 0; i < 3; i++) {
            const json_t *own =
                json_find(r->json, text("/result/metrics/%s/%s", rows[j], members[i]));
            assert_true(json_array_size(own) > 0);
            assert_true(json_equal(own, json_find(e->json, text("/metrics/%s", members[i]))));
        }
    }
    r = job_train(JOB("iris", ",'validation':{'holdout':0.3,'curves':true}"));
    assert_int_equal(count_at(r, "/result/metrics/validation/roc"), 3);
}

/* Both datasets cannot be deleted while the job is queued or runs; both can be deleted
 * afterwards. */
static void test_both_datasets_stay_while_the_job_runs(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/rows", "a,class\n1,p\n2,q\n3,p\n4,q\n"), 201);
    status_check(call_upload("/v1/datasets/judge", "a,class\n1,p\n2,q\n"), 201);
    const int64_t id = job_post("{'model':'long','dataset':'rows','target':'class','algorithm':'"
                                "logistic','params':{'solver':'gradient_descent',"
                                "'learning_rate':1e-9,'tolerance':1e-300,'max_iterations':"
                                "1000000000},'validation':{'dataset':'judge'}}");
    problem_check(call_delete("/v1/datasets/rows"), 409, "in-use");
    problem_check(call_delete("/v1/datasets/judge"), 409, "in-use");
    job_wait_state(id, "running");
    problem_check(call_delete("/v1/datasets/judge"), 409, "in-use");
    status_check(call_post(text("/v1/jobs/%lld/cancel", (long long)id), "{}"), 202);
    job_wait(id);
    status_check(call_delete("/v1/datasets/judge"), 204);
    status_check(call_delete("/v1/datasets/rows"), 204);
}

/* ---- weights ---- */

/* A row with weight 2 equals the row listed twice. */
static void test_weights_count_as_rows(void **state) {
    (void)state;
    const struct response *weighted = job_train(JOB("iris", ",'weight':'w'"));
    const struct response *model = call_get("/v1/models/m");
    assert_json(model, "/weight", "'w'");
    assert_json(model, "/features", "['a','b','c','d']");
    const struct response *doubled = job_train(JOB("doubled", ""));
    assert_close(real_at(weighted, "/result/objective"), real_at(doubled, "/result/objective"),
                 1e-9);
    assert_int_equal(whole_at(weighted, "/result/metrics/train/rows"), 150);
    assert_true(json_equal(value_at(weighted, "/result/metrics/train/confusion"),
                           value_at(doubled, "/result/metrics/train/confusion")));
    for (size_t i = 0; i < N_SCALARS; i++) {
        assert_true(fabs(real_at(weighted, text("/result/metrics/train/%s", scalars[i])) -
                         real_at(doubled, text("/result/metrics/train/%s", scalars[i]))) <= 1e-6);
    }
    /* without `include` the weight column is not a feature */
    const struct response *r =
        status_check(call_post("/v1/jobs?dry_run=true",
                               "{'model':'m','dataset':'iris','target':'class','algorithm':"
                               "'logistic','weight':'w','features':{'exclude':['word']}}"),
                     200);
    assert_json(r, "/weight", "'w'");
    assert_json(r, "/features/names", "['a','b','c','d','negative','half','zero']");
}

static void test_class_weights(void **state) {
    (void)state;
    const struct response *plain = job_train(JOB("doubled", ""));
    /* the classes of `doubled` have almost equal numbers of rows: 67, 67, 66 */
    const struct response *given =
        job_train(JOB("doubled",
                      ",'class_weight':{'setosa':%.17g,'versicolor':%.17g,'virginica':%.17g}"),
                  200.0 / (3 * 67), 200.0 / (3 * 67), 200.0 / (3 * 66));
    const struct response *model = call_get("/v1/models/m");
    assert_true(real_at(model, "/class_weight/virginica") == 200.0 / (3 * 66));
    const struct response *balanced = job_train(JOB("doubled", ",'class_weight':'balanced'"));
    assert_json(call_get("/v1/models/m"), "/class_weight", "'balanced'");
    assert_close(real_at(given, "/result/objective"), real_at(balanced, "/result/objective"), 1e-9);
    assert_true(fabs(real_at(plain, "/result/objective") - real_at(balanced, "/result/objective")) >
                1e-9);
    /* a class with a larger weight has fewer errors; the order of the weights does not matter */
    const struct response *heavy =
        job_train(JOB("iris", ",'class_weight':{'virginica':1000,'setosa':1,'versicolor':1}"));
    assert_true(real_at(heavy, "/result/metrics/train/per_class/2/recall") == 1);
    const struct response *other =
        job_train(JOB("iris", ",'class_weight':{'virginica':1,'setosa':1,'versicolor':1000}"));
    assert_true(real_at(other, "/result/metrics/train/per_class/1/recall") == 1);
    /* names of numeric and boolean classes */
    const struct response *r = job_train("{'model':'b','dataset':'votes','target':'yes','algorithm'"
                                         ":'logistic','class_weight':{'true':1,'"
                                         "false':2},'features':{'include':['x']}}");
    assert_json(call_get("/v1/models/b"), "/class_weight", "{'true':1,'false':2}");
    r = job_train("{'model':'b','dataset':'votes','target':'n','algorithm':'logistic','class_"
                  "weight':{'5':1,'0':2},'features':{'include':['x']}}");
    (void)r;
    /* a class that the summary cannot show is checked with the rows */
    status_check(call_upload("/v1/datasets/marks", "x,n\n1,0\n2,5\n3,9\n4,0\n5,5\n6,9\n"), 201);
    r = job_wait(job_post("{'model':'b','dataset':'marks','target':'n','algorithm':'logistic','"
                          "class_weight':{'4':1,'0':2,'9':1}}"));
    assert_string_equal(string_at(r, "/state"), "failed");
    assert_string_equal(string_at(r, "/error/type"), "/problems/invalid");
    assert_non_null(strstr(string_at(r, "/error/detail"), "5"));
}

/* ---- many classes ---- */

static void test_details_of_each_machine(void **state) {
    (void)state;
    const struct response *r =
        job_train(JOB("iris", ",'params':{'multiclass':'one_vs_one'},'snapshots':[1]"));
    static const char *const names[] = {CLASS_NAMES};
    assert_int_equal(count_at(r, "/result/details/pairs"), 3);
    double iterations = 0, objective = 0;
    for (size_t i = 0, k = 0; i < 3; i++) {
        for (size_t j = i + 1; j < 3; j++, k++) {
            const char *pair = text("/result/details/pairs/%zu", k);
            assert_string_equal(string_at(r, text("%s/classes/0", pair)), names[i]);
            assert_string_equal(string_at(r, text("%s/classes/1", pair)), names[j]);
            assert_true(json_is_true(value_at(r, text("%s/converged", pair))));
            iterations += real_at(r, text("%s/iterations", pair));
            objective += real_at(r, text("%s/objective", pair));
        }
    }
    assert_true(iterations == real_at(r, "/result/iterations"));
    assert_close(objective, real_at(r, "/result/objective"), 1e-12);
    assert_non_null(strstr(r->body, "no snapshots"));
    const struct response *model = call_get("/v1/models/m");
    assert_json(model, "/decision", "'one_vs_one'");
    assert_json(model, "/n_machines", "3");
    assert_false(has(call_get("/v1/models"), "/items/0/details/pairs")); /* a list is brief */
    r = job_train(
        JOB("iris", ",'params':{'multiclass':'one_vs_rest_strict','discriminants':'K-1'}"));
    assert_int_equal(count_at(r, "/result/details/machines"), 2);
    assert_string_equal(string_at(r, "/result/details/machines/1/class"), "versicolor");
    assert_true(real_at(r, "/result/metrics/train/ambiguous") >= 0);
    const struct response *history =
        call_get("/v1/jobs/%lld/history", (long long)whole_at(r, "/id"));
    assert_int_equal(count_at(history, "/items"), whole_at(r, "/result/iterations"));
}

/* ---- faults ---- */

static void test_invalid_validation_and_weights(void **state) {
    (void)state;
    static const struct {
        const char *members, *pointer, *words;
    } faults[] = {
        {"'validation':{'holdout':0.2,'folds':5}", "/validation", "one of the members"},
        {"'validation':{'folds':5,'dataset':'odd'}", "/validation", "one of the members"},
        {"'validation':{'folds':1}", "/validation/folds", "from 2"},
        {"'validation':{'folds':2.5}", "/validation/folds", "integer"},
        {"'validation':{'folds':'five'}", "/validation/folds", "integer"},
        {"'validation':{'folds':151}", "/validation/folds", "at most the number of rows, 150"},
        {"'validation':{'holdout':0.003}", "/validation/holdout", "a validation set of 0 rows"},
        {"'validation':{'folds':100000}", "/validation/folds", "to 1000"},
        {"'validation':{'dataset':7}", "/validation/dataset", "string"},
        {"'validation':{'dataset':'nobody'}", "/validation/dataset", "nobody"},
        {"'validation':{'dataset':'odd@9'}", "/validation/dataset", "9"},
        {"'validation':{'dataset':'a b'}", "/validation/dataset", "name"},
        {"'validation':{'dataset':'other'}", "/validation/dataset", "\\\"d\\\" is categorical"},
        {"'validation':{'dataset':'narrow'}", "/validation/dataset", "no column \\\"c\\\""},
        {"'validation':{'dataset':'unlabelled'}", "/validation/dataset", "missing in every row"},
        {"'validation':{'dataset':'votes'}", "/validation/dataset", "\\\"class\\\""},
        {"'validation':{'rows':5}", "/validation/rows", "known"},
        {"'validation':{}", "/validation", "one of the members"},
        {"'validation':{'curves':true}", "/validation", "one of the members"},
        {"'validation':{'holdout':0.5,'curves':'roc'}", "/validation/curves", "boolean"},
        {"'weight':7", "/weight", "string"},
        {"'weight':'nobody'", "/weight", "nobody"},
        {"'weight':'class'", "/weight", "target"},
        {"'weight':'word'", "/weight", "numeric"},
        {"'weight':'negative'", "/weight", "-1"},
        {"'weight':'half'", "/weight", "75 of 150"},
        {"'weight':'zero'", "/weight", "above 0"},
        {"'weight':'a'", "/features/include/0", "holds the weights"},
        {"'class_weight':7", "/class_weight", "balanced"},
        {"'class_weight':'even'", "/class_weight", "balanced"},
        {"'class_weight':{}", "/class_weight", "versicolor"},
        {"'class_weight':{'setosa':1,'versicolor':2}", "/class_weight", "virginica"},
        {"'class_weight':{'setosa':1,'versicolor':2,'virginica':0}", "/class_weight/virginica",
         "from 1e-100 to 1e100"},
        {"'class_weight':{'setosa':1,'versicolor':2,'virginica':1e300}", "/class_weight/virginica",
         "from 1e-100 to 1e100"},
        {"'class_weight':{'setosa':1,'versicolor':-2,'virginica':1}", "/class_weight/versicolor",
         "-2"},
        {"'class_weight':{'setosa':'much','versicolor':2,'virginica':1}", "/class_weight/setosa",
         "much"},
        {"'class_weight':{'setosa':1,'versicolor':2,'virginica':1,'rose':1}", "/class_weight/rose",
         "is not a value of the target"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *spec = text("{'model':'m','dataset':'iris','target':'class','algorithm':'"
                                "logistic','features':{'include':['a','b','c',"
                                "'d']},%s}",
                                faults[i].members);
        const struct response *r = call_post("/v1/jobs", "%s", spec);
        if (r->status != 422 || strstr(r->body, faults[i].words) == NULL) {
            fail_msg("%s: no \"%s\" in %d %s", faults[i].members, faults[i].words, r->status,
                     r->body);
        }
        fault_check(problem_check(r, 422, "invalid"), faults[i].pointer);
    }
    /* all faults in one answer: negative weights, unknown classes, classes without a weight */
    const struct response *all = problem_check(
        call_post("/v1/jobs",
                  "{'model':'m','dataset':'iris','target':'class','algorithm':'logistic',"
                  "'class_weight':{'setosa':-1,'rose':1,'virginica':'x','tulip':-2}}"),
        422, "invalid");
    fault_check(fault_check(fault_check(all, "/class_weight/setosa"), "/class_weight/rose"),
                "/class_weight/virginica");
    fault_check(fault_check(all, "/class_weight/tulip"), "/class_weight");
    assert_non_null(strstr(all->body, "has no weight for \\\"versicolor\\\"; every"));
    assert_int_equal(count_at(all, "/errors"), 6); /* two at "tulip" */
    static const char *const scales[][2] = {{"huge", "1e+300"},
                                            {"tiny", "1e-165"},
                                            {"mixed", "1e-165"}};
    for (size_t i = 0; i < 3; i++) {
        const struct response *r =
            problem_check(call_post("/v1/jobs",
                                    "{'model':'m','dataset':'scales','target':'c','algorithm':'"
                                    "logistic','weight':'%s'}",
                                    scales[i][0]),
                          422, "invalid");
        fault_check(r, "/weight");
        assert_non_null(
            strstr(r->body,
                   text("has the value %s; a weight is 0 or from 1e-100 to 1e100", scales[i][1])));
    }
    fault_check(problem_check(
                    call_post("/v1/jobs",
                              "{'model':'m','dataset':'votes','target':'n','algorithm':'logistic',"
                              "'class_weight':{'0':1,'six':2}}"),
                    422, "invalid"),
                "/class_weight/six");
    fault_check(problem_check(
                    call_post("/v1/jobs",
                              "{'model':'m','dataset':'votes','target':'n','algorithm':'logistic',"
                              "'class_weight':{'0':1,'6':2}}"),
                    422, "invalid"),
                "/class_weight/6");
    static const char *const two_values =
        "{'model':'m','dataset':'votes','target':'n','algorithm':'logistic','class_weight':{%s}}";
    fault_check(problem_check(call_post("/v1/jobs", two_values, "'0':1,'4':2"), 422, "invalid"),
                "/class_weight/4");
    const struct response *twice =
        problem_check(call_post("/v1/jobs", two_values, "'0':1,'0.0':2"), 422, "invalid");
    fault_check(twice, "/class_weight");
    assert_non_null(strstr(twice->body, "names the class 0 twice"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_all_metrics_are_there),
        TEST(test_folds_that_do_not_count),
        TEST(test_a_holdout_of_small_classes),
        TEST(test_more_folds_than_rows_of_a_class),
        TEST(test_a_learning_curve),
        TEST(test_leave_one_out),
        TEST(test_folds),
        TEST(test_folds_with_a_basis),
        TEST(test_another_dataset),
        TEST(test_foreign_classes),
        TEST(test_rare_values),
        TEST(test_curves),
        TEST(test_both_datasets_stay_while_the_job_runs),
        TEST(test_weights_count_as_rows),
        TEST(test_class_weights),
        TEST(test_details_of_each_machine),
        TEST(test_invalid_validation_and_weights),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
