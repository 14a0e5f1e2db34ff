/* Warnings and details of support vector machine jobs: kernels and costs that leave a constant
 * score, counts and margins, progress. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    /* values far from 0, where a sigmoid is constant; every row twice */
    char *body = keep(calloc(4096, 1), free);
    size_t n = (size_t)sprintf(body, "x,y,class\n");
    for (int i = 0; i < 40; i++) {
        n += (size_t)sprintf(body + n, "%d,%d,%s\n", 2000 + i / 2 % 5, 3000 + i / 2 % 7,
                             i / 2 % 2 ? "p" : "q");
    }
    status_check(call_upload("/v1/datasets/far", body), 201);
    keep_free();
    return 0;
}

static const struct response *far_svm(const char *params) {
    return job_train("{'model':'m','dataset':'far','target':'class','algorithm':'svm','features':{'"
                     "standardize':false},'params':{%s}}",
                     params);
}

static const struct response *far_outliers(const char *params) {
    return job_train("{'model':'o','dataset':'far','algorithm':'one_class_svm','features':{'"
                     "include':['x','y'],'standardize':false},"
                     "'params':{%s}}",
                     params);
}

/* Checks whether one of the warnings contains the words; returns r. */
static const struct response *warned(const struct response *r, const char *words, bool expected) {
    const char *warnings = keep(json_dumps(value_at(r, "/warnings"), 0), free);
    if ((strstr(warnings, words) != NULL) != expected) {
        fail_msg("\"%s\" is %sin %s", words, expected ? "not " : "", warnings);
    }
    return r;
}

/* ---- models that cannot distinguish the classes ---- */

static void scores_that_are_all_the_same(void **state) {
    (void)state;
    warned(far_svm("'kernel':'sigmoid'"), "all training rows have the same score", true);
    warned(far_svm("'kernel':{'type':'rbf','width':1e9}"), "all training rows have the same score",
           true);
    warned(far_svm("'kernel':'rbf','C':1e-100"), "or C is too small (it is 1e-100)", true);
    warned(far_svm("'kernel':'rbf'"), "the same score", false);
    warned(far_svm("'kernel':{'type':'rbf','width':1e-9}"), "the same score", false);
    const struct response *r =
        warned(far_svm("'C':1e-300"), "or C is too small (it is 1e-300)", true);
    warned(r, "a smaller C", false);
    warned(far_svm(""), "the same score", false);
}

static void outliers_by_a_kernel_that_tells_nothing(void **state) {
    (void)state;
    static const char *const alike = "nearly the same value for every pair of rows",
                             *const apart = "nearly 0 between different rows";
    warned(far_outliers("'kernel':'sigmoid'"), alike, true);
    warned(far_outliers("'kernel':{'type':'rbf','width':1e9}"), alike, true);
    warned(far_outliers("'kernel':{'type':'rbf','width':1e-9}"), apart, true);
    warned(warned(far_outliers("'kernel':'rbf'"), alike, false), apart, false);
}

/* A sigmoid kernel of long rows with a negative scale: K(x, x) is −1. The count includes repeated
 * rows. */
static void rows_without_a_length(void **state) {
    (void)state;
    static const char *const words =
        "K(x, x) is not positive for 40 of 40 rows: their normalized kernel values are 0";
    static const char *const kernel =
        "'kernel':{'type':'sigmoid','scale':%d,'coef0':0,'normalize':true}";
    warned(far_svm(text(kernel, -1)), words, true);
    warned(far_outliers(text(kernel, -1)), words, true);
    warned(far_svm(text(kernel, 1)), "K(x, x)", false);
    warned(far_outliers(text(kernel, 1)), "K(x, x)", false);
}

/* A precomputed kernel has no columns to standardise and no width. */
static void advice_fits_the_kernel(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/ones",
                             "a,b,c,d,class\n1,1,1,1,p\n1,1,1,1,q\n1,1,1,1,p\n1,1,1,1,q\n"),
                 201);
    const struct response *r = job_train("{'model':'m','dataset':'ones','target':'class','"
                                         "algorithm':'svm','params':{'kernel':'precomputed'}}");
    warned(r, "the kernel hardly separates the classes, or C is too small", true);
    r = job_train("{'model':'o','dataset':'ones','algorithm':'one_class_svm','features':{'exclude':"
                  "['class']},'params':{'kernel':"
                  "'precomputed'}}");
    warned(warned(r, "nearly the same value for every pair of rows", true), "try", false);
    warned(far_svm("'kernel':{'type':'rbf','width':1e9}"),
           "(try features.standardize, another width), or C", true);
    warned(far_outliers("'kernel':'sigmoid'"),
           "every pair of rows: try features.standardize, another scale", true);
}

/* The warning uses the terms of the model: one weight or none; classes or rows. */
static void a_column_of_one_value(void **state) {
    (void)state;
    static const char *const spec =
        "{'model':'m','dataset':'%s','target':'class','algorithm':'svm','params':{'kernel':'%s'}}";
    status_check(call_upload("/v1/datasets/constant",
                             "x,k,class\n1,5,a\n2,5,b\n3,5,a\n4,5,b\n5,5,b\n"),
                 201);
    warned(job_train(spec, "constant", "linear"),
           "it does not distinguish the classes, its weight is 0", true);
    const struct response *r = job_train(spec, "constant", "rbf");
    warned(warned(r, "it does not distinguish the classes", true), "weight", false);
    r = job_train("{'model':'o','dataset':'constant','algorithm':'one_class_svm','features':{'"
                  "include':['x','k']}}");
    warned(warned(r, "it does not distinguish the rows", true), "classes", false);
}

/* The job has no `include`: the warning names the column. */
static void a_column_that_looks_like_classes(void **state) {
    (void)state;
    static const char *const outliers =
                                 "{'model':'o','dataset':'%s','algorithm':'one_class_svm'%s}",
                             *const words = "if its values are classes";
    status_check(call_upload_bytes("/v1/datasets/marked", "1 1:1 2:1\n-1 2:3\n1 1:2\n-1 3:1\n", 0,
                                   "Content-Type: text/x-svmlight"),
                 201);
    warned(status_check(call_post("/v1/jobs?dry_run=true", outliers, "iris", ""), 200),
           "column \\\"class\\\" is a feature", true);
    warned(job_train(outliers, "iris", ""), words, true);
    warned(job_train(outliers, "iris", ",'features':{'exclude':['class']}"), words, false);
    warned(job_train(outliers, "iris", ",'features':{'include':['class','petal_width']}"), words,
           false);
    warned(job_train(outliers, "marked", ""), "column \\\"label\\\" is a feature", true);
    warned(far_svm(""), words, false);
}

/* The solver stops because of rounding, before the limit of steps. */
static void steps_that_change_nothing(void **state) {
    (void)state;
    const struct response *r = job_train(
        "{'model':'m','dataset':'iris','target':'class','algorithm':'svm','params':{'kernel':{"
        "'type':'rbf','width':2.4976755484398097},'tolerance':1e-300,'max_iterations':1}}");
    static const char *const ended = "versicolor against setosa: after ",
                             *const other =
                                 "further steps do not reduce the violation: try a larger "
                                 "tolerance, a smaller C, or features.standardize";
    warned(warned(r, ended, true), other, true);
    warned(r, "(tolerance 1e-300): try more max_iterations, a smaller C, or features.standardize",
           true); /* of the other machines */
}

/* K(x, x) and wᵀw are negative: the violation cannot be given as a share of wᵀw. */
static void a_violation_of_nothing(void **state) {
    (void)state;
    const struct response *r =
        job_train("{'model':'o','dataset':'iris','algorithm':'one_class_svm','features':{'exclude':"
                  "['class']},'params':{"
                  "'max_iterations':1,'kernel':{'type':'polynomial','coef0':-20,'degree':1}}}");
    assert_json(r, "/result/converged", "false");
    assert_true(real_at(r, "/result/details/kkt_violation") < 1e-6);
    warned(
        warned(r,
               "the tolerance of 0.0001 is relative to the squared length of w, which is nearly 0 "
               "or negative: try more max_iterations",
               true),
        "of rho", false);
}

/* ---- solvers ---- */

/* With each solver. */
static void a_hard_margin_of_planes(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "interior_point", "dual_coordinate_descent",
                                          "smo"};
    status_check(call_upload("/v1/datasets/apart",
                             "x,y,class\n0,0,a\n0,1,a\n3,0,b\n3,1,b\n0,7,c\n0,8,c\n"),
                 201);
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
        const struct response *r = job_train("{'model':'m','dataset':'apart','target':'class','"
                                             "algorithm':'svm','params':{'C':null,'solver':"
                                             "'%s'},'features':{'standardize':false}}",
                                             solvers[i]);
        assert_json(r, "/result/details/pairs/0/solver", "'nearest_points'");
        assert_json(r, "/result/details/pairs/0/tolerance", "1e-06");
        assert_close(real_at(r, "/result/details/pairs/0/margin_raw"), 1.5, 1e-12);
        warned(r, text("\\\"solver\\\" = \\\"%s\\\" had no effect", solvers[i]), i > 0);
        assert_int_equal(count_at(r, "/warnings"), i > 0 ? 1 : 0); /* once, not for each machine */
        assert_string_equal(string_at(status_check(call_get("/v1/models/m"), 200),
                                      "/params/solver"),
                            solvers[i]);
        r = job_train("{'model':'m','dataset':'apart','target':'class','algorithm':'svm','params':{"
                      "'C':null,'multiclass':'one_vs_rest',"
                      "'solver':'%s'},'features':{'exclude':['class']}}",
                      solvers[i]);
        assert_json(r, "/result/details/n_machines", "3");
    }
}

/* A linear kernel has equal details with every solver. */
static void solvers_agree_on_the_margin(void **state) {
    (void)state;
    static const char *const job =
        "{'model':'m','dataset':'far','target':'class','algorithm':'svm','params':{'solver':'%s'}}";
    const struct response *smo = job_train(job, "smo"),
                          *interior = job_train(job, "interior_point");
    assert_json(smo, "/result/details/solver", "'smo'");
    assert_json(smo, "/result/details/tolerance", "0.001");
    assert_close(real_at(smo, "/result/details/margin"),
                 real_at(interior, "/result/details/margin"), 1e-6);
    assert_close(real_at(smo, "/result/details/margin_raw"),
                 real_at(interior, "/result/details/margin_raw"), 1e-6);
}

/* Repeated rows are counted each, but the model stores one of them. */
static void equal_rows_are_one_support_vector(void **state) {
    (void)state;
    const struct response *r = far_svm("'kernel':'rbf'"),
                          *w = status_check(call_get("/v1/models/m/weights"), 200);
    assert_true(real_at(r, "/result/details/distinct_support_vectors") ==
                real_at(w, "/n_support_vectors"));
    assert_true(real_at(r, "/result/details/support_vectors") ==
                2 * real_at(w, "/n_support_vectors"));
    assert_json(r, "/result/details/distinct_rows", "20");
    r = far_outliers("'kernel':'rbf'");
    w = status_check(call_get("/v1/models/o/weights"), 200);
    assert_true(real_at(r, "/result/details/distinct_support_vectors") ==
                real_at(w, "/n_support_vectors"));
    assert_true(real_at(r, "/result/details/support_vectors") ==
                2 * real_at(w, "/n_support_vectors"));
}

/* Progress of jobs that end before their solver reports, and of jobs with several machines on any
 * thread. */
static void progress_ends_with_the_job(void **state) {
    (void)state;
    const struct response *r =
        job_train("{'model':'m','dataset':'iris','target':'class','algorithm':'svm','params':{'"
                  "kernel':'rbf','multiclass':'one_vs_rest'}}");
    assert_json(r, "/progress/iteration", "3");
    assert_json(r, "/progress/max_iterations", "3");
    r = job_train("{'model':'o','dataset':'iris','algorithm':'one_class_svm','features':{'exclude':"
                  "['class']}}");
    assert_json(r, "/progress/iteration", "1"); /* the first of up to 10,000 steps */
    assert_json(r, "/progress/max_iterations", "10000");
    assert_true(real_at(r, "/progress/loss") > 0);
    char *rows = malloc(40000);
    size_t n = (size_t)sprintf(rows, "x,y,class\n");
    for (unsigned i = 0; i < 1500; i++) {
        n += (size_t)sprintf(rows + n, "%u,%u,%c\n", i * 7919 % 1009, i * 104729 % 1013,
                             i * 31 % 17 < 8 ? 'p' : 'q');
    }
    status_check(call_upload("/v1/datasets/mixed", rows), 201);
    free(rows);
    r = job_train("{'model':'s','dataset':'mixed','target':'class','algorithm':'svm','params':{'C':"
                  "100,'kernel':'rbf','max_iterations':1}}");
    assert_json(r, "/result/stop_reason", "'max_iterations'");
    assert_json(r, "/progress/iteration", "1"); /* at most max_iterations */
    assert_json(r, "/progress/max_iterations", "1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(scores_that_are_all_the_same),
        TEST(outliers_by_a_kernel_that_tells_nothing),
        TEST(advice_fits_the_kernel),
        TEST(rows_without_a_length),
        TEST(a_column_of_one_value),
        TEST(a_column_that_looks_like_classes),
        TEST(steps_that_change_nothing),
        TEST(a_violation_of_nothing),
        TEST(a_hard_margin_of_planes),
        TEST(solvers_agree_on_the_margin),
        TEST(equal_rows_are_one_support_vector),
        TEST(progress_ends_with_the_job),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
