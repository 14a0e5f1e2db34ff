/* Validation by groups of rows, by an order, by a column of marks, and repeated. The data make a
 * wrong division visible in the accuracy. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CUSTOMERS = 60, EACH = 5, ROWS = CUSTOMERS * EACH };

/* The label of a customer says nothing about that of another, and x and z tell the customers apart.
 * `day` ascends; on the last fifth of the days the label of `late` is exchanged. Even rows are
 * training rows. */
static int prepare(void **state) {
    (void)state;
    static const char *const flags[] = {"--train-threads", "2", NULL};
    service_start(flags);
    const char *rows = "x,z,customer,day,kept,part,late,label,gap,bad,flat\n";
    for (int i = 0; i < ROWS; i++) {
        const int row = i * 83 % ROWS, customer = row % CUSTOMERS; /* 83 and 300 are coprime */
        const int label = (int)(((unsigned)customer * 2654435761U) >> 19 & 1);
        const int late = row % 2 == (row >= ROWS * 4 / 5);
        rows = text("%s%d.%d,%d,c%02d,2024-%02d-%02d,%s,%s,%s,%s,%s,%s,1\n", rows,
                    customer * 37 % CUSTOMERS, row % 2, customer * 17 % CUSTOMERS, customer,
                    1 + row / 28, 1 + row % 28, row % 2 ? "false" : "true",
                    row % 2 ? "Test" : "Train", late ? "up" : "down", label ? "yes" : "no",
                    i == 7 ? "" : "1", row % 2 ? "learn" : "check");
    }
    status_check(call_upload("/v1/datasets/visits", rows), 201);
    return 0;
}

#define KNN                                                                                        \
    "'model':'m','dataset':'visits','target':'label','algorithm':'knn','params':{'k':1},"          \
    "'features':{'include':['x','z']}"

#define BAYES                                                                                      \
    "'model':'m','dataset':'visits','target':'label','algorithm':'naive_bayes',"                   \
    "'features':{'include':['x','z']}"

/* The nearest rows are those of the same customer. They must not be training rows if the customer
 * is held out. */
static void test_groups(void **state) {
    (void)state;
    const struct response *r = job_train("{" KNN ",'validation':{'folds':5}}");
    assert_true(real_at(r, "/result/metrics/validation/accuracy") > 0.9);
    r = job_train("{" KNN ",'validation':{'folds':5,'group':'customer'}}");
    assert_true(real_at(r, "/result/metrics/validation/accuracy") < 0.75);
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), ROWS);
    assert_string_equal(string_at(r, "/resolved/validation/group"), "customer");
    r = job_train("{" KNN ",'validation':{'holdout':0.2,'group':'customer'}}");
    assert_true(real_at(r, "/result/metrics/validation/accuracy") < 0.75);
    assert_int_equal(whole_at(r, "/result/rows/validation") % EACH, 0);
    assert_in_range(whole_at(r, "/result/rows/validation"), 40, 80);
}

#define LATE(validation)                                                                           \
    "{'model':'m','dataset':'visits','target':'late','algorithm':'naive_bayes',"                   \
    "'features':{'include':['kept']},'validation':" validation "}"

/* The last fifth of the days has the opposite labels. */
static void test_an_order(void **state) {
    (void)state;
    const struct response *r = job_train(LATE("{'holdout':0.2,'order':'day'}"));
    assert_int_equal(whole_at(r, "/result/rows/validation"), ROWS / 5);
    assert_true(real_at(r, "/result/metrics/validation/accuracy") == 0);
    assert_true(real_at(r, "/result/metrics/train/accuracy") == 1);
    r = job_train(LATE("{'folds':4,'order':'day'}"));
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), ROWS * 4 / 5);
    for (int f = 0; f < 4; f++) {
        const char *accuracy = text("/result/metrics/validation/folds/%d/accuracy", f);
        assert_true(real_at(r, accuracy) == (f == 3 ? 0 : 1));
    }
}

/* A column of marks, as booleans and as words. It is no feature. */
static void test_marks(void **state) {
    (void)state;
    static const char *const columns[] = {"kept", "part"};
    for (size_t i = 0; i < 2; i++) {
        const struct response *r = job_train(
            "{'model':'m','dataset':'visits','target':'label','algorithm':'naive_bayes',"
            "'features':{'exclude':['customer','day','late','%s']},'validation':{'column':'%s'}}",
            columns[1 - i], columns[i]);
        assert_int_equal(whole_at(r, "/result/rows/train"), ROWS / 2);
        assert_int_equal(whole_at(r, "/result/rows/validation"), ROWS / 2);
        const struct response *model = status_check(call_get("/v1/models/m"), 200);
        for (size_t k = 0; k < count_at(model, "/features/include"); k++) {
            assert_string_not_equal(string_at(model, text("/features/include/%zu", k)), columns[i]);
        }
    }
}

/* Repeats have other folds; the first is that of a validation without repeats. The resolved job
 * makes the same folds. */
static void test_repeats(void **state) {
    (void)state;
    const struct response *once = job_train("{" BAYES ",'validation':{'folds':3}}"),
                          *r = job_train("{" BAYES ",'validation':{'folds':3,'repeats':4}}");
    assert_int_equal(count_at(r, "/result/metrics/validation/folds"), 12);
    assert_int_equal(whole_at(r, "/result/metrics/validation/rows"), 4 * ROWS);
    size_t others = 0;
    for (size_t f = 0; f < 12; f++) {
        const char *of = text("/result/metrics/validation/folds/%zu/log_loss", f);
        const char *first = text("/result/metrics/validation/folds/%zu/log_loss", f % 3);
        const bool equal = real_at(r, of) == real_at(once, first);
        assert_true(f >= 3 || equal);
        others += !equal;
    }
    assert_true(others > 0);
    char *body = json_dumps(value_at(r, "/resolved"), JSON_ENCODE_ANY);
    const struct response *again = job_wait(
        whole_at(status_check(call_text("POST", "/v1/jobs", "Content-Type: application/json", body),
                              202),
                 "/id"));
    free(body);
    assert_true(json_equal(value_at(again, "/result/metrics"), value_at(r, "/result/metrics")));
}

/* The live version is evaluated on the rows of the same division: the same model is not better. */
static void test_promotion_uses_the_division(void **state) {
    (void)state;
    static const char *const splits[] = {"{'folds':3,'group':'customer','repeats':2}",
                                         "{'holdout':0.3,'order':'day'}", "{'column':'part'}"};
    for (size_t i = 0; i < 3; i++) {
        const char *job = text("{'model':'p%zu','dataset':'visits','target':'late','algorithm':"
                               "'logistic','features':{'include':['x','kept']},'validation':%s,"
                               "'promote':{'if_better':{'metric':'log_loss'}}}",
                               i, splits[i]);
        job_train("%s", job);
        const struct response *r = job_train("%s", job);
        const double own = real_at(r, "/result/promotion/new"),
                     live = real_at(r, "/result/promotion/live");
        assert_true(i == 0 ? live <= own : live == own);
        char *all = json_dumps(value_at(r, "/warnings"), JSON_ENCODE_ANY);
        assert_true((strstr(all, "may be among the validation rows") != NULL) == (i == 0));
        free(all);
    }
}

/* The rows of another division may be training rows of the live version. */
static void test_promotion_warns_of_another_division(void **state) {
    (void)state;
    const char *job = "{'model':'q','dataset':'visits','target':'late','algorithm':'logistic',"
                      "'features':{'include':['x','kept']},'validation':{'holdout':0.3%s},"
                      "'promote':{'if_better':{'metric':'log_loss'}}}";
    static const char *const splits[] = {"", ",'order':'day'", ",'group':'customer'", ""};
    for (size_t i = 0; i < 4; i++) {
        const char *spec =
            text("%.*s%s%s", (int)(strstr(job, "%s") - job), job, splits[i], strstr(job, "%s") + 2);
        const struct response *r = job_train("%s", spec);
        bool warned = false;
        for (size_t k = 0; k < count_at(r, "/warnings"); k++) {
            warned = warned || strstr(string_at(r, text("/warnings/%zu", k)),
                                      "may be among the validation rows") != NULL;
        }
        assert_true(warned == (i > 0));
    }
}

static void test_bad_splits(void **state) {
    (void)state;
    static const struct {
        const char *validation, *pointer, *words;
    } cases[] = {
        {"{'group':'customer'}", "/validation/group", "needs holdout or a number of folds"},
        {"{'folds':5,'group':'none'}", "/validation/group", "\"none\""},
        {"{'folds':5,'group':'label'}", "/validation/group", "is the target"},
        {"{'folds':5,'group':7}", "/validation/group", "must be a string"},
        {"{'folds':5,'group':'gap'}", "/validation/group", "is missing in 1 of 300 rows"},
        {"{'folds':5,'group':'flat'}", "/validation/group", "has 1 group; a validation with"},
        {"{'folds':70,'group':'customer'}", "/validation/group", "has 60 groups"},
        {"{'holdout':0.2,'group':'flat'}", "/validation/group", "has 1 group; a holdout needs"},
        {"{'folds':5,'group':'customer','order':'day'}", "/validation/order", "excludes group"},
        {"{'folds':'leave_one_out','group':'customer'}", "/validation/group", "needs holdout or"},
        {"{'folds':5,'order':'customer'}", "/validation/order", "is categorical; an order is"},
        {"{'folds':5,'order':'flat'}", "/validation/order", "has 1 different values"},
        {"{'folds':5,'order':'gap'}", "/validation/order", "is missing in 1 of 300 rows"},
        {"{'folds':5,'order':'day','repeats':2}", "/validation/repeats", "must be 1 with order"},
        {"{'holdout':0.2,'repeats':2}", "/validation/repeats", "needs a number of folds"},
        {"{'folds':5,'repeats':0}", "/validation/repeats", "from 1 to 100"},
        {"{'folds':100,'repeats':11}", "/validation/repeats", "more than 1000 fits"},
        {"{'column':'kept','folds':5}", "/validation", "got 2 of them"},
        {"{'column':'kept','group':'customer'}", "/validation/column", "excludes group"},
        {"{'column':'x'}", "/validation/column", "has values from 0 to 59.1"},
        {"{'column':'bad'}", "/validation/column", "has the value \""},
        {"{'column':'flat'}", "/validation/column", "the same value in all rows"},
        {"{'column':'day'}", "/validation/column", "is datetime"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault_contains(problem_check(call_post("/v1/jobs",
                                               "{'model':'m','dataset':'visits','target':'label',"
                                               "'algorithm':'logistic','validation':%s}",
                                               cases[i].validation),
                                     422, "invalid"),
                       cases[i].pointer, cases[i].words);
    }
    fault_contains(problem_check(call_post("/v1/jobs",
                                           "{'model':'m','dataset':'visits','target':'label',"
                                           "'algorithm':'logistic','features':{'include':['x',"
                                           "'part']},'validation':{'column':'part'}}"),
                                 422, "invalid"),
                   "/features/include/1", "divides the rows for the validation");
}

#define SEARCH(model, members, more)                                                               \
    "{'model':'m','dataset':'visits','target':" model ",'search':{'metric':'accuracy',"            \
    "'candidates':[{'algorithm':'knn','params':{'k':1}}]" members "}" more "}"

static double inner_of(const char *job) {
    const struct response *r = job_train("%s", job);
    return real_at(r, "/result/search/inner/mean");
}

/* The folds of a search have a division of their own, or that of the validation. */
static void test_a_search(void **state) {
    (void)state;
#define INPUTS ",'features':{'include':['x','z']}"
    assert_true(inner_of(SEARCH("'label'", "", INPUTS)) > 0.9);
    assert_true(inner_of(SEARCH("'label'", ",'group':'customer'", INPUTS)) < 0.75);
    assert_true(inner_of(SEARCH("'label'", "",
                                INPUTS ",'validation':{'holdout':0.2,"
                                       "'group':'customer'}")) < 0.75);
    assert_true(inner_of(SEARCH("'label'", ",'group':'customer'",
                                INPUTS ",'validation':{'holdout':0.2,'order':'day'}")) < 0.75);
    assert_true(inner_of(SEARCH("'label'", ",'group':'customer'",
                                INPUTS ",'validation':{'holdout':0.2,'group':'customer'}")) < 0.75);
#undef INPUTS
    /* of four blocks the last one has the opposite labels */
    const struct response *r =
        job_train(SEARCH("'late'", ",'folds':4,'order':'day'", ",'features':{'include':['kept']}"));
    assert_true(real_at(r, "/result/search/inner/mean") == 0.75);
    assert_string_equal(string_at(r, "/resolved/search/order"), "day");
    char *body = json_dumps(value_at(r, "/resolved"), JSON_ENCODE_ANY);
    const struct response *again = job_wait(
        whole_at(status_check(call_text("POST", "/v1/jobs", "Content-Type: application/json", body),
                              202),
                 "/id"));
    free(body);
    assert_true(json_equal(value_at(again, "/result/search"), value_at(r, "/result/search")));
    /* a group is no input */
    r = job_train(SEARCH("'label'", ",'group':'customer'", ""));
    char *inputs = json_dumps(value_at(r, "/resolved/features/include"), JSON_ENCODE_ANY);
    assert_null(strstr(inputs, "customer"));
    free(inputs);
}

static void test_bad_splits_of_searches(void **state) {
    (void)state;
    static const struct {
        const char *members, *more, *pointer, *words;
    } cases[] = {
        {"'group':'none'", "", "/search/group", "\"none\""},
        {"'group':'label'", "", "/search/group", "is the target"},
        {"'group':7", "", "/search/group", "must be a string"},
        {"'group':'gap'", "", "/search/group", "is missing in 1 of 300 rows"},
        {"'group':'flat'", "", "/search/group", "has 1 group; a search with these folds needs"},
        {"'folds':70,'group':'customer'", "", "/search/group", "has 60 groups"},
        {"'group':'customer','order':'day'", "", "/search/order", "excludes group"},
        {"'order':'customer'", "", "/search/order", "is categorical; an order is"},
        {"'order':'flat'", "", "/search/order", "has 1 different values"},
        {"'order':'gap'", "", "/search/order", "is missing in 1 of 300 rows"},
        {"'order':'day','repeats':2", "", "/search/repeats", "must be 1 with order"},
        {"'column':'x'", "", "/search/column", "it must have true"},
        {"'folds':70", ",'validation':{'holdout':0.2,'group':'customer'}", "/search/folds",
         "has 60 groups, the holdout takes at least one, and 70 folds need 70"},
        {"'folds':60", ",'validation':{'holdout':0.2,'group':'customer'}", "/search/folds",
         "60 folds need 60"},
        {"'folds':301", "", "/search/folds", "must be at most the number of rows, 300, got 301"},
        {"'folds':5", ",'validation':{'holdout':0.99}", "/validation/holdout",
         "leaves 3 of 300 rows to the search"},
        {"'group':'customer'", ",'features':{'include':['x','customer']}", "/features/include/1",
         "divides the rows for the search"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault_contains(problem_check(call_post("/v1/jobs",
                                               "{'model':'m','dataset':'visits','target':'label',"
                                               "'search':{'candidates':[{'algorithm':'gaussian'}],"
                                               "%s}%s}",
                                               cases[i].members, cases[i].more),
                                     422, "invalid"),
                       cases[i].pointer, cases[i].words);
    }
}

/* A search whose validation has an order of three values cannot have five ordered folds. The last
 * values have few rows; each is a block. */
static void test_an_order_of_few_values(void **state) {
    (void)state;
    const char *rows = "year,x,c\n";
    for (int i = 0; i < 90; i++) {
        rows = text("%s%d,%d,%s\n", rows,
                    i < 80   ? 2001
                    : i < 85 ? 2002
                             : 2003,
                    i, i % 2 ? "a" : "b");
    }
    status_check(call_upload("/v1/datasets/years", rows), 201);
#define YEARS                                                                                      \
    "{'model':'m','dataset':'years','target':'c','search':{'candidates':["                         \
    "{'algorithm':'gaussian'}],'folds':%d},'validation':{'holdout':0.1,'order':'year'}}"
    fault_contains(problem_check(call_post("/v1/jobs", YEARS, 5), 422, "invalid"), "/search/folds",
                   "has 3 different values");
    fault_contains(problem_check(call_post("/v1/jobs", YEARS, 2), 422, "invalid"), "/search/folds",
                   "has 3 different values, the holdout takes at least one, and 2 folds need 3");
#undef YEARS
    const struct response *r =
        job_train("{'model':'m','dataset':'years','target':'c','algorithm':'gaussian',"
                  "'features':{'include':['x']},'validation':{'folds':2,'order':'year'}}");
    assert_int_equal(whole_at(r, "/result/metrics/validation/folds/0/rows"), 5);
    assert_int_equal(whole_at(r, "/result/metrics/validation/folds/1/rows"), 5);
}

#define SVM "'params':{'kernel':{'type':'rbf','width':0.5},'C':10,'calibrate':'platt'}"
#define SVM_JOB "'model':'m','dataset':'visits','target':'label','features':{'include':['x','z']}"

static double calibration_loss(const struct response *r) {
    return real_at(r, "/result/details/calibration_log_loss");
}

/* The label of a row is that of the other rows of its customer, and unknown without them. So the
 * calibration is good at random, and useless if its folds keep the customers together. */
static void test_calibration_keeps_groups(void **state) {
    (void)state;
    static const char *const jobs[] = {
        "{" SVM_JOB ",'algorithm':'svm'," SVM "}",
        "{" SVM_JOB ",'algorithm':'svm'," SVM ",'validation':{'folds':3,'group':'customer'}}",
        "{" SVM_JOB ",'algorithm':'svm'," SVM ",'validation':{'holdout':0.2,'group':'customer'}}",
        "{" SVM_JOB ",'search':{'candidates':[{'algorithm':'svm'," SVM "}],'group':'customer'}}",
        "{" SVM_JOB ",'search':{'candidates':[{'algorithm':'svm'," SVM "}],'order':'day'},"
        "'validation':{'holdout':0.2,'group':'customer'}}"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const double loss = calibration_loss(job_train("%s", jobs[i]));
        assert_true(i == 0 ? loss < 0.4 : loss > 0.6);
    }
}

/* Fewer groups than folds of the calibration; a class in one group. */
static void test_calibration_of_few_groups(void **state) {
    (void)state;
    const char *rows = "g,h,k,x,c,d\n";
    for (int i = 0; i < 80; i++) {
        const char class = i * 37 % 80 > 40 ? 'a' : 'b';
        rows = text("%s%d,%d,%d,%d,%c,%c\n", rows, i % 4, i % 2, i % 8, i * 37 % 80,
                    i % 8 == 5 ? 'z' : class, class);
    }
    status_check(call_upload("/v1/datasets/groups", rows), 201);
#define GROUPS                                                                                     \
    "{'model':'m','dataset':'groups','target':'%s','algorithm':'svm','params':{'kernel':'linear'," \
    "'calibrate':'isotonic'},'features':{'include':['x']},"                                        \
    "'validation':{'holdout':0.2,'group':'%s'}}"
    const struct response *r = job_train(GROUPS, "d", "g");
    assert_int_equal(whole_at(r, "/result/details/calibration_folds"), 3);
    char *warnings = json_dumps(value_at(r, "/warnings"), JSON_ENCODE_ANY);
    assert_non_null(strstr(warnings, "the calibration has 3 folds, not 5: it keeps the groups"));
    assert_null(strstr(warnings, "at most"));
    free(warnings);
    fault_contains(problem_check(call_post("/v1/jobs", GROUPS, "d", "h"), 422, "invalid"),
                   "/params/calibrate", "there are 2 groups in all");
    r = job_wait_state(job_post(GROUPS, "c", "k"), "failed");
    assert_string_equal(string_at(r, "/error/errors/0/pointer"), "/params/calibrate");
    assert_non_null(strstr(string_at(r, "/error/errors/0/detail"),
                           "class \"z\" has no row in a group that can be held out"));
#undef GROUPS
}

/* What the summary does not tell, the job finds: the first block of an order lacks a class. */
static void test_a_class_outside_the_first_block(void **state) {
    (void)state;
    const char *rows = "t,x,c\n";
    for (int i = 0; i < 60; i++) {
        rows = text("%s%d,%d,%s\n", rows, i, i % 7, i % 2 ? "a" : i < 40 ? "b" : "late");
    }
    status_check(call_upload("/v1/datasets/grows", rows), 201);
    const int64_t id = job_post("{'model':'m','dataset':'grows','target':'c','algorithm':"
                                "'naive_bayes','validation':{'folds':4,'order':'t'}}");
    const struct response *r = job_wait_state(id, "failed");
    assert_string_equal(string_at(r, "/error/errors/0/pointer"), "/validation/order");
    assert_non_null(strstr(string_at(r, "/error/errors/0/detail"),
                           "class \"late\" has no row in the first block"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_groups, test_end),
        cmocka_unit_test_teardown(test_an_order, test_end),
        cmocka_unit_test_teardown(test_marks, test_end),
        cmocka_unit_test_teardown(test_repeats, test_end),
        cmocka_unit_test_teardown(test_promotion_uses_the_division, test_end),
        cmocka_unit_test_teardown(test_promotion_warns_of_another_division, test_end),
        cmocka_unit_test_teardown(test_bad_splits, test_end),
        cmocka_unit_test_teardown(test_a_search, test_end),
        cmocka_unit_test_teardown(test_bad_splits_of_searches, test_end),
        cmocka_unit_test_teardown(test_an_order_of_few_values, test_end),
        cmocka_unit_test_teardown(test_calibration_keeps_groups, test_end),
        cmocka_unit_test_teardown(test_calibration_of_few_groups, test_end),
        cmocka_unit_test_teardown(test_a_class_outside_the_first_block, test_end),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
