/* Kernel machines: golden numbers, optimality recomputed from the rows for every kernel, any cache
 * size, and the hard margin. */
#include "unit/core/learners/svm/kernel/kernel_machines.h"

/* ---- golden numbers ---- */
static void check_golden(const json_t *golden, const char *name, dn_params *p) {
    static const char *const pairs[][2] = {{"primal", "primal_objective"},
                                           {"dual", "dual_objective"},
                                           {"w0", "w0"},
                                           {"norm_w", "norm"}};
    static const char *const counts[][2] = {{"n_support", "support_vectors"},
                                            {"n_slack_positive", "slack_positive"},
                                            {"n_slack_over_one", "slack_over_one"}};
    struct problem pair = problem_pair(name, true, false);
    struct fit fit = {0};
    if (pair.n == 0) {
        return;
    }
    fit_matrix(dn_matrix_dense(pair.x, pair.n, pair.d), pair.target, NULL, p, &fit);
    assert_true(fit.report.converged);
    for (size_t i = 0; i < 4; i++) {
        assert_near(svm_detail(&fit.report, pairs[i][1]),
                    json_number_value(json_object_get(golden, pairs[i][0])), 1e-6);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(svm_detail(&fit.report, counts[i][1]) ==
                    json_number_value(json_object_get(golden, counts[i][0])));
    }
    double right = 0;
    for (size_t i = 0; i < pair.n; i++) {
        const double f = plain_sum(&fit.out, pair.x + i * pair.d, NULL) + fit.out.kernel->w0;
        right += (f > 0) == (pair.target[i] > 0);
    }
    assert_near(right / (double)pair.n,
                json_number_value(json_object_get(golden, "train_accuracy")), 1e-12);
    fit_done(&fit);
    svm_problem_done(&pair);
}

static void golden_machines(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits", "pima"};
    (void)state;
    json_t *root = golden_load();
    dn_params *rbf = kernel_params("svm", "rbf"), *polynomial = kernel_params("svm", "polynomial");
    OK(dn_params_set_number(rbf, "kernel.width", 2, NULL));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *golden = json_object_get(root, names[i]);
        if (golden == NULL) {
            continue;
        }
        check_golden(json_object_get(golden, "svm_rbf_width_2_C1_standardized_first_pair"),
                     names[i], rbf);
        check_golden(json_object_get(golden, "svm_polynomial_2_C1_standardized_first_pair"),
                     names[i], polynomial);
    }
    dn_params_free(rbf);
    dn_params_free(polynomial);
    json_decref(root);
}

static void golden_outliers(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer", "pima"};
    (void)state;
    json_t *root = golden_load();
    dn_params *p = kernel_params("one_class_svm", "rbf");
    OK(dn_params_set_number(p, "kernel.width", 2, NULL));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *golden = json_object_get(json_object_get(root, names[i]),
                                               "one_class_nu0.1_rbf_width_2_standardized");
        struct csv *t = csv_named(names[i]);
        struct fit fit = {0};
        if (golden == NULL || t == NULL) {
            continue;
        }
        double *z = standardised(t->x, t->n, t->d, NULL, NULL), outliers = 0;
        fit_matrix(dn_matrix_dense(z, t->n, t->d), NULL, NULL, p, &fit);
        const double rho = -fit.out.kernel->w0;
        assert_near(fit.report.objective, json_number_value(json_object_get(golden, "objective")),
                    1e-5);
        assert_near(rho, json_number_value(json_object_get(golden, "rho")), 1e-5);
        for (size_t k = 0; k < t->n; k++) {
            outliers += plain_sum(&fit.out, z + k * t->d, NULL) - rho < -1e-6 * fabs(rho);
        }
        assert_true(outliers == json_number_value(json_object_get(golden, "n_clear_outliers")));
        fit_done(&fit);
        free(z);
        csv_free(t);
    }
    dn_params_free(p);
    json_decref(root);
}

/* ---- optimality ---- */
/* Checks by plain loops over the machine's support vectors: the box, Σαt = 0, the optimality
 * conditions of every row to `tolerance`, and, if `definite` (positive semidefinite kernel), the
 * gap. The rows must be distinct. */
static void check_optimal(const struct problem *p, const double *weight, double C,
                          const struct fit *fit, double tolerance, bool definite) {
    const dni_kernel_machine *m = fit->out.kernel;
    double balance = 0, square = 0, sum = 0, slack = 0, *alpha = xcalloc(p->n, sizeof *alpha),
           *row = xcalloc(p->d, sizeof *row);
    size_t found = 0;
    for (size_t s = 0; s < m->n; s++) {
        plain_support_row(m->support, m->index[s], row);
        for (size_t i = 0; i < p->n; i++) {
            if (memcmp(row, p->x + i * p->d, p->d * sizeof *row) == 0) {
                alpha[i] = fabs(m->coef[s]);
                assert_true((m->coef[s] > 0) == (p->target[i] > 0));
                found++;
            }
        }
    }
    assert_int_equal(found, m->n);
    for (size_t i = 0; i < p->n; i++) {
        const double t = p->target[i] > 0 ? 1 : -1, u = C * (weight == NULL ? 1 : weight[i]),
                     f0 = plain_sum(&fit->out, p->x + i * p->d, NULL);
        const double margin = t * (f0 + m->w0);
        assert_true(alpha[i] >= 0 && alpha[i] <= u * (1 + 1e-12));
        if (alpha[i] < u * (1 - 1e-9)) {
            assert_true(margin >= 1 - tolerance);
        }
        if (alpha[i] > 0) {
            assert_true(margin <= 1 + tolerance);
        }
        balance += t * alpha[i];
        sum += alpha[i];
        square += t * alpha[i] * f0;
        slack += u * fmax(0, 1 - margin);
    }
    assert_true(fabs(balance) <= 1e-9 * (1 + sum));
    if (square >= 0) {
        assert_near(m->norm * m->norm, square, 1e-6);
    } else {
        assert_true(isnan(m->norm));
    }
    if (definite) {
        const double primal = 0.5 * square + slack, dual = sum - 0.5 * square;
        assert_true(primal - dual <= 1e-5 * primal + 1e-9 && primal - dual >= -1e-7 * primal);
        assert_near(svm_detail(&fit->report, "primal_objective"), primal, 1e-6);
        assert_near(svm_detail(&fit->report, "dual_objective"), dual, 1e-6);
    } else {
        assert_true(isnan(svm_detail(&fit->report, "gap")));
        assert_true(fit->report.n_warnings > 0);
    }
    free(alpha);
    free(row);
}

static void every_kernel_is_solved(void **state) {
    static const struct {
        const char *kernel, *metric;
        bool definite, normalize;
    } cases[] = {{"linear", NULL, true, true},
                 {"polynomial", NULL, true, false},
                 {"polynomial", NULL, true, true},
                 {"rbf", NULL, true, false},
                 {"sigmoid", NULL, false, false},
                 {"mahalanobis", NULL, true, false},
                 {"distance", "euclidean", true, false},
                 {"distance", "manhattan", true, false},
                 {"distance", "chebyshev", false, false},
                 {"distance", "cosine", true, false}};
    (void)state;
    struct problem p = clouds(150, 4);
    double weight[150];
    for (size_t i = 0; i < p.n; i++) {
        weight[i] = 0.5 + (double)(i % 7);
    }
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        for (int weighted = 0; weighted < 2; weighted++) {
            struct fit fit = {0};
            dn_params *params = kernel_params("svm", cases[k].kernel);
            if (cases[k].metric != NULL) {
                OK(dn_params_set_word(params, "kernel.metric", cases[k].metric, NULL));
            }
            OK(dn_params_set_boolean(params, "kernel.normalize", cases[k].normalize, NULL));
            OK(dn_params_set_number(params, "C", 0.7, NULL));
            fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, weighted ? weight : NULL, params,
                       &fit);
            assert_true(fit.report.converged);
            const bool definite = cases[k].definite || isnan(svm_detail(&fit.report, "gap")) == 0;
            check_optimal(&p, weighted ? weight : NULL, 0.7, &fit, definite ? 1e-6 : 2e-3,
                          definite);
            fit_done(&fit);
            dn_params_free(params);
        }
    }
    svm_problem_done(&p);
}

/* A full Gram matrix and a small cache give the same bits. 700 rows: kernel values in double
 * precision. 2600 rows: kernel values in single precision, with shrinking. */
static void cache_size_does_not_change_results(void **state) {
    static const size_t sizes[] = {700, 2600};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct problem p = clouds(sizes[k], 3);
        struct fit fits[2];
        memset(fits, 0, sizeof fits);
        for (int small = 0; small < 2; small++) {
            dn_params *params = kernel_params("svm", "rbf");
            OK(dn_params_set_number(params, "kernel.width", 1, NULL));
            if (small) {
                OK(dn_params_set_number(params, "cache_mib", 1, NULL));
            }
            fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, params, &fits[small]);
            dn_params_free(params);
        }
        assert_true(fits[0].report.converged);
        assert_true(svm_detail(&fits[0].report, "kkt_violation") <= 1e-3);
        check_optimal(&p, NULL, 1, &fits[0], 1.1e-3, true);
        const dni_kernel_machine *a = fits[0].out.kernel, *b = fits[1].out.kernel;
        assert_int_equal(a->n, b->n);
        assert_memory_equal(a->coef, b->coef, a->n * sizeof *a->coef);
        assert_memory_equal(&a->w0, &b->w0, sizeof a->w0);
        fit_done(&fits[0]);
        fit_done(&fits[1]);
        svm_problem_done(&p);
    }
}

/* ---- hard margin ---- */
static void a_hard_margin(void **state) {
    (void)state;
    struct problem p = problem_pair("iris", true, false);
    struct fit fit = {0};
    dn_params *params = kernel_params("svm", "rbf");
    OK(dn_params_set_number(params, "kernel.width", 2, NULL));
    OK(dn_params_set_word(params, "C", "hard", NULL));
    fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, params, &fit);
    assert_true(fit.report.converged);
    double least = (double)INFINITY;
    for (size_t i = 0; i < p.n; i++) {
        least = fmin(least, (p.target[i] > 0 ? 1 : -1) *
                                (plain_sum(&fit.out, p.x + i * p.d, NULL) + fit.out.kernel->w0));
    }
    assert_near(least, 1, 1e-6);
    assert_near(svm_detail(&fit.report, "primal_objective"),
                0.5 * fit.out.kernel->norm * fit.out.kernel->norm, 1e-5);
    assert_true(svm_detail(&fit.report, "gap") <= 1e-6);
    fit_done(&fit);
    /* The same row in both classes. */
    memcpy(p.x, p.x + (p.n - 1) * p.d, p.d * sizeof *p.x);
    dn_rows *rows;
    dn_error err;
    const dn_run run = dn_run_default();
    dn_error_clear(&err);
    OK(dn_rows_from_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, &rows, NULL));
    assert_int_equal(fit_rows(rows, 2, params, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "cannot be separated"));
    dn_rows_free(rows);
    OK(dn_params_set_word(params, "intercept", "none", NULL));
    assert_int_equal(dn_params_check(params, NULL), DN_ERR_ARGUMENT);
    dn_params_free(params);
    svm_problem_done(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_machines),
        cmocka_unit_test(golden_outliers),
        cmocka_unit_test(every_kernel_is_solved),
        cmocka_unit_test(cache_size_does_not_change_results),
        cmocka_unit_test(a_hard_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
