/* GET …/weights?support_vectors=true: rows, coefficients and slack checked by hand and against the
 * rows of the dataset; models without support vectors. ?expand=true: polynomials against scores. */
#include "base/memory/buf.h"
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two points determine the plane x1 + x2 = 4: (1, 1) in row 1 and (3, 3) in row 2. Row 0 has no
 * class. Distance √8: w = (0.5, 0.5), w0 = -2, alpha = 2/8. */
static const char points[] = "x1,x2,class\n9,9,\n1,1,a\n3,3,b\n0,0,a\n0,1,a\n4,4,b\n5,3,b\n";
/* Two of four points are on the wrong side. On one column at C = 0.1 every α is C:
 * w = 0.1 (−(−1) − 2 + 1 + 2) = 0.2. The margins of the two outer rows are above -1 and 1. */
static const char overlap[] = "x,class\n-1,a\n1,b\n2,a\n2,b\n";

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    status_check(call_upload("/v1/datasets/points", points), 201);
    status_check(call_upload("/v1/datasets/overlap", overlap), 201);
    upload_file("iris", "iris.csv");
    return 0;
}

static const struct response *support_of(const char *model) {
    return status_check(call_get("/v1/models/%s/weights?support_vectors=true", model), 200);
}

static void a_hard_margin_in_the_plane(void **state) {
    static const char *const kernels[] = {"'linear'", "{'type':'polynomial','degree':1}"};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        job_train("{'model':'plane','dataset':'points','target':'class','algorithm':'svm',"
                  "'params':{'C':null,'kernel':%s},'features':{'standardize':false}}",
                  kernels[k]);
        const struct response *r = support_of("plane");
        assert_json(r, "/support/available", "true");
        assert_json(r, "/support/standardized", "false");
        assert_false(has(r, "/support/mean"));
        assert_json(r, "/support/machines/0/positive", "'b'");
        assert_json(r, "/support/machines/0/n", "2");
        assert_json(r, "/support/machines/0/rows", "[1,2]");
        assert_json(r, "/support/machines/0/margin", "['on','on']");
        assert_json(r, "/support/machines/0/at_bound", "[false,false]");
        assert_true(fabs(real_at(r, "/support/machines/0/coefficients/0") + 0.25) < 1e-9);
        assert_true(fabs(real_at(r, "/support/machines/0/coefficients/1") - 0.25) < 1e-9);
        assert_true(fabs(real_at(r, "/support/machines/0/alpha/0") - 0.25) < 1e-9);
        assert_true(fabs(real_at(r, "/support/machines/0/slack/1")) < 1e-9);
        assert_true(fabs(real_at(r, "/support/machines/0/sum")) < 1e-12);
    }
}

static void rows_inside_the_margin(void **state) {
    static const char *const solvers[] = {"interior_point", "smo", "dual_coordinate_descent"};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        job_train("{'model':'overlap','dataset':'overlap','target':'class','algorithm':'svm',"
                  "'params':{'C':0.1,'solver':'%s'},'features':{'standardize':false}}",
                  solvers[k]);
        const struct response *r = support_of("overlap");
        const double w = real_at(r, "/w/0/0"), w0 = real_at(r, "/w0/0");
        assert_true(fabs(w - 0.2) < 1e-4);
        assert_json(r, "/support/machines/0/rows", "[0,1,2,3]");
        assert_json(r, "/support/machines/0/at_bound", "[true,true,true,true]");
        assert_json(r, "/support/machines/0/margin", "['inside','inside','inside','inside']");
        assert_true(fabs(real_at(r, "/support/machines/0/slack/2") - (1 + 2 * w + w0)) < 1e-9);
        assert_true(fabs(real_at(r, "/support/machines/0/coefficients/2") + 0.1) < 1e-12);
    }
}

static const char *const columns[] = {"sepal_length", "sepal_width", "petal_length", "petal_width"};

/* The weights of the raw columns of iris from the rows of the dataset, for each machine. */
static void check_iris(const struct response *r, const struct response *rows) {
    for (size_t i = 0; i < 3; i++) {
        const size_t n = (size_t)whole_at(r, text("/support/machines/%zu/n", i));
        double w[4] = {0}, size = 0;
        assert_true(n > 0);
        for (size_t k = 0; k < n; k++) {
            const long row = (long)whole_at(r, text("/support/machines/%zu/rows/%zu", i, k));
            const double c = real_at(r, text("/support/machines/%zu/coefficients/%zu", i, k));
            for (size_t j = 0; j < 4; j++) {
                const double x = real_at(rows, text("/items/%ld/%s", row, columns[j])),
                             mean = real_at(r, text("/support/mean/%zu", j)),
                             scale = real_at(r, text("/support/scale/%zu", j));
                w[j] += c * (x - mean) / (scale * scale);
            }
            size = fmax(size, fabs(c));
        }
        for (size_t j = 0; j < 4; j++) {
            assert_true(fabs(w[j] - real_at(r, text("/w/%zu/%zu", i, j))) <=
                        1e-9 * size + 2 * real_at(r, text("/support/machines/%zu/residual", i)) /
                                          real_at(r, text("/support/scale/%zu", j)));
        }
        assert_true(real_at(r, text("/support/machines/%zu/residual", i)) < 1e-6 * (1 + size));
    }
}

static void rows_give_the_weights(void **state) {
    static const char *const params[] = {"", "'loss':'squared_hinge'", "'solver':'smo'",
                                         "'multiclass':'one_vs_rest'"};
    (void)state;
    for (size_t k = 0; k < sizeof params / sizeof params[0]; k++) {
        job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'svm',"
                  "'params':{%s},'validation':{'holdout':0.3},'seed':4}",
                  params[k]);
        const struct response *r = support_of("iris");
        check_iris(r, status_check(call_get("/v1/datasets/iris/rows?limit=150"), 200));
    }
}

/* ---- expansions ---- */

/* The machine as a polynomial of the raw columns of iris, against its scores. */
static void check_polynomial(const struct response *r, size_t n_products) {
    const struct response *scores =
        status_check(call_post("/v1/models/poly/predict?output=scores",
                               "{'instances':[[5.1,3.5,1.4,0.2],[6.3,3.3,6,2.5]]}"),
                     200);
    static const double x[2][4] = {{5.1, 3.5, 1.4, 0.2}, {6.3, 3.3, 6, 2.5}};
    for (size_t i = 0; i < 3; i++) {
        for (size_t row = 0; row < 2; row++) {
            double g = real_at(r, text("/expansion/machines/%zu/constant", i));
            size_t k = 0;
            for (; k < 4; k++) {
                g += x[row][k] * real_at(r, text("/expansion/machines/%zu/coefficients/%zu", i, k));
            }
            for (size_t a = 0; a < 4 && n_products > 0; a++) {
                for (size_t b = a; b < 4; b++) {
                    g += x[row][a] * x[row][b] *
                         real_at(r, text("/expansion/machines/%zu/coefficients/%zu", i, k++));
                }
            }
            assert_true(fabs(g - real_at(scores, text("/predictions/%zu/scores/%zu", row, i))) <
                        1e-9);
            assert_false(has(r, text("/expansion/machines/%zu/coefficients/%zu", i, k)));
        }
        const double constant = real_at(r, text("/expansion/machines/%zu/constant_weight", i));
        double square = constant * constant;
        for (size_t k = 0; k < 4 + n_products; k++) {
            const double w = real_at(r, text("/expansion/machines/%zu/weights/%zu", i, k));
            square += w * w;
        }
        assert_true(fabs(sqrt(square) / real_at(r, text("/machines/%zu/norm", i)) - 1) < 1e-9);
    }
}

static void polynomials_are_expanded(void **state) {
    static const char *const standardize[] = {"false", "true"};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        job_train("{'model':'poly','dataset':'iris','target':'class','algorithm':'svm','params':"
                  "{'kernel':{'type':'polynomial','degree':2,'gamma':0.5,'coef0':2}},"
                  "'features':{'standardize':%s}}",
                  standardize[k]);
        const struct response *r =
            status_check(call_get("/v1/models/poly/weights?expand=true"), 200);
        assert_json(r, "/expansion/terms/0", "'sepal_length'");
        assert_json(r, "/expansion/terms/4", "'sepal_length^2'");
        assert_json(r, "/expansion/terms/5", "'sepal_length*sepal_width'");
        assert_json(r, "/expansion/terms/13", "'petal_width^2'");
        check_polynomial(r, 10);
        job_train("{'model':'poly','dataset':'iris','target':'class','algorithm':'svm','params':"
                  "{'kernel':{'type':'polynomial','degree':1,'gamma':0.5,'coef0':2}},"
                  "'features':{'standardize':%s}}",
                  standardize[k]);
        check_polynomial(status_check(call_get("/v1/models/poly/weights?expand=true"), 200), 0);
    }
}

/* XOR: w of (x'z + 1)² is -√2/2 for √2 x1 x2 at C = null, so that g(x) = -x1 x2. All four rows are
 * support vectors with alpha 1/8 (Haykin, Neural Networks, section 6.6). */
static void check_exclusive_or(const char *dataset, const char *target) {
    job_train("{'model':'xor','dataset':'%s','target':'%s','algorithm':'svm','params':"
              "{'kernel':'polynomial','C':null},'features':{'standardize':false}}",
              dataset, target);
    const struct response *r =
        status_check(call_get("/v1/models/xor/weights?expand=true&support_vectors=true"), 200);
    for (size_t k = 0; k < 5; k++) {
        const double c = real_at(r, text("/expansion/machines/0/coefficients/%zu", k)),
                     w = real_at(r, text("/expansion/machines/0/weights/%zu", k));
        assert_true(fabs(fabs(c) - (k == 3 ? 1 : 0)) < 1e-9);
        assert_true(fabs(w - c * sqrt(0.5)) < 1e-9);
    }
    assert_json(r, "/support/machines/0/rows", "[0,1,2,3]");
    for (size_t k = 0; k < 4; k++) {
        assert_true(fabs(real_at(r, text("/support/machines/0/alpha/%zu", k)) - 0.125) < 1e-9);
    }
}

static void exclusive_or(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/xor", "x1,x2,class\n-1,-1,a\n-1,1,b\n1,-1,b\n1,1,a\n"),
                 201);
    check_exclusive_or("xor", "class");
    const struct response *r = status_check(call_get("/v1/models/xor/weights?expand=true"), 200);
    assert_json(r, "/expansion/terms", "['x1','x2','x1^2','x1*x2','x2^2']");
    assert_true(real_at(r, "/expansion/machines/0/coefficients/3") < 0);
    status_check(call_text("PUT", "/v1/datasets/xor-sparse", "Content-Type: text/x-svmlight",
                           "-1 1:-1 2:-1\n1 1:-1 2:1\n1 1:1 2:-1\n-1 1:1 2:1\n"),
                 201);
    check_exclusive_or("xor-sparse", "label");
}

static void no_expansion(void **state) {
    static const char *const cases[][2] = {
        {"'rbf'", "kernel"},
        {"'linear'", "kernel"},
        {"{'type':'polynomial','degree':3}", "degree"},
        {"{'type':'polynomial','normalize':true}", "normalized"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        job_train("{'model':'none','dataset':'iris','target':'class','algorithm':'svm','params':"
                  "{'kernel':%s}}",
                  cases[k][0]);
        const struct response *r =
            status_check(call_get("/v1/models/none/weights?expand=true"), 200);
        assert_json(r, "/expansion/available", "false");
        assert_string_equal(string_at(r, "/expansion/reason"), cases[k][1]);
    }
    problem_check(call_get_with("Accept: text/csv", "/v1/models/none/weights?expand=true"), 406,
                  "not-acceptable");
}

/* 199 columns have 199 + 199 * 200 / 2 = 20,099 terms, 198 have 19,899. */
static void the_number_of_terms_is_bounded(void **state) {
    (void)state;
    for (size_t d = 198; d <= 199; d++) {
        struct buf table = {0};
        for (size_t row = 0; row < 8; row++) {
            for (size_t j = 0; j < d; j++) {
                buf_printf(&table, row == 0 ? "x%zu," : "%zu,",
                           row == 0 ? j : (row * row * j) % 11);
            }
            buf_puts(&table, row == 0 ? "class\n" : row % 2 == 0 ? "a\n" : "b\n");
        }
        status_check(call_upload(text("/v1/datasets/wide%zu", d), buf_cstr(&table)), 201);
        buf_done(&table);
        job_train("{'model':'wide','dataset':'wide%zu','target':'class','algorithm':'svm','params':"
                  "{'kernel':'polynomial'}}",
                  d);
        const struct response *r =
            status_check(call_get("/v1/models/wide/weights?expand=true&matrices=false"), 200);
        if (d == 198) {
            assert_json(r, "/expansion/available", "true");
            assert_true(has(r, "/expansion/terms/19898") && !has(r, "/expansion/terms/19899"));
        } else {
            assert_json(r, "/expansion/reason", "'too_large'");
        }
    }
}

static void outliers_are_listed(void **state) {
    (void)state;
    job_train("{'model':'region','dataset':'points','algorithm':'one_class_svm',"
              "'params':{'nu':0.5},'features':{'include':['x1','x2']}}");
    const struct response *r = support_of("region");
    assert_json(r, "/support/available", "true");
    assert_near(real_at(r, "/support/machines/0/sum"), 1, 1e-9);
    assert_json(r, "/support/machines/0/rows/0", "0"); /* (9, 9), far from the others */
    assert_json(r, "/support/machines/0/at_bound/0", "true");
    assert_near(real_at(r, "/support/machines/0/alpha/0"), 1 / 3.5, 1e-12);
}

static void models_without(void **state) {
    (void)state;
    job_train("{'model':'other','dataset':'iris','target':'class','algorithm':'logistic'}");
    const struct response *r = support_of("other");
    assert_json(r, "/support/available", "false");
    assert_json(r, "/support/reason", "'algorithm'");
    assert_true(has(r, "/w"));
    assert_false(has(status_check(call_get("/v1/models/other/weights"), 200), "/support"));
    r = call_get("/v1/models/other/weights?support_vectors=2");
    status_check(r, 400);
    problem_check(call_get_with("Accept: text/csv",
                                "/v1/models/other/weights?support_vectors=true"),
                  406, "not-acceptable");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_hard_margin_in_the_plane),
        TEST(rows_inside_the_margin),
        TEST(rows_give_the_weights),
        TEST(polynomials_are_expanded),
        TEST(exclusive_or),
        TEST(no_expansion),
        TEST(the_number_of_terms_is_bounded),
        TEST(outliers_are_listed),
        TEST(models_without),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
