/* Machines with kernels: golden numbers, optimality recomputed from the rows for every kernel, weights, order, memory and threads. */
#include "svm.h"

static dn_params *kernel_params(const char *algorithm, const char *kernel) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_word(p, "kernel", kernel, NULL));
    return p;
}

static void fit_matrix(dn_matrix x, const double *target, const double *weight, const dn_params *p, struct fit *fit) {
    dn_rows *rows;
    dn_error err;
    const dn_run run = dn_run_default();
    dn_error_clear(&err);
    OK(dn_rows_from_matrix(x, target, weight, &rows, NULL));
    if (fit_rows(rows, 2, p, &run, fit, &err) != DN_OK)
        fail_msg("%s", err.message);
    dn_rows_free(rows);
}

/* ---- golden numbers ----------------------------------------------------------------------------------------------------------------------- */
static void check_golden(const json_t *golden, const char *name, dn_params *p) {
    static const char *const pairs[][2] = {{"primal", "primal_objective"}, {"dual", "dual_objective"}, {"w0", "w0"}, {"norm_w", "norm"}};
    static const char *const counts[][2] = {{"n_support", "support_vectors"},
                                            {"n_slack_positive", "slack_positive"},
                                            {"n_slack_over_one", "slack_over_one"}};
    struct pair pair = first_pair(name);
    struct fit fit = {0};
    if (pair.n == 0)
        return;
    fit_matrix(dn_matrix_dense(pair.x, pair.n, pair.d), pair.target, NULL, p, &fit);
    assert_true(fit.report.converged);
    for (size_t i = 0; i < 4; i++)
        assert_near(detail(&fit.report, pairs[i][1]), json_number_value(json_object_get(golden, pairs[i][0])), 1e-6);
    for (size_t i = 0; i < 3; i++)
        assert_true(detail(&fit.report, counts[i][1]) == json_number_value(json_object_get(golden, counts[i][0])));
    double right = 0;
    for (size_t i = 0; i < pair.n; i++) {
        const double f = plain_sum(&fit.out, pair.x + i * pair.d) + fit.out.kernel->w0;
        right += (f > 0) == (pair.target[i] > 0);
    }
    assert_near(right / (double)pair.n, json_number_value(json_object_get(golden, "train_accuracy")), 1e-12);
    fit_done(&fit);
    pair_free(&pair);
}

static void golden_machines(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits", "pima"};
    (void)state;
    json_t *root = golden_load();
    dn_params *rbf = kernel_params("svm", "rbf"), *polynomial = kernel_params("svm", "polynomial");
    OK(dn_params_set_number(rbf, "kernel.width", 2, NULL));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *golden = json_object_get(root, names[i]);
        if (golden == NULL)
            continue;
        check_golden(json_object_get(golden, "svm_rbf_width_2_C1_standardized_first_pair"), names[i], rbf);
        check_golden(json_object_get(golden, "svm_polynomial_2_C1_standardized_first_pair"), names[i], polynomial);
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
        const json_t *golden = json_object_get(json_object_get(root, names[i]), "one_class_nu0.1_rbf_width_2_standardized");
        struct csv *t = csv_named(names[i]);
        struct fit fit = {0};
        if (golden == NULL || t == NULL)
            continue;
        double *z = standardised(t->x, t->n, t->d, NULL, NULL), outliers = 0;
        fit_matrix(dn_matrix_dense(z, t->n, t->d), NULL, NULL, p, &fit);
        const double rho = -fit.out.kernel->w0;
        assert_near(fit.report.objective, json_number_value(json_object_get(golden, "objective")), 1e-5);
        assert_near(rho, json_number_value(json_object_get(golden, "rho")), 1e-5);
        for (size_t k = 0; k < t->n; k++)
            outliers += plain_sum(&fit.out, z + k * t->d) - rho < -1e-6 * fabs(rho);
        assert_true(outliers == json_number_value(json_object_get(golden, "n_clear_outliers")));
        fit_done(&fit);
        free(z);
        csv_free(t);
    }
    dn_params_free(p);
    json_decref(root);
}

/* ---- optimality --------------------------------------------------------------------------------------------------------------------------- */
/* By plain loops from what the machine holds: box, Σαt = 0, the conditions of every row to `tolerance`, and where the kernel is positive semidefinite the gap. Rows are different. */
static void check_optimal(const struct pair *p, const double *weight, double C, const struct fit *fit, double tolerance, bool definite) {
    const dn_kernel_machine *m = fit->out.kernel;
    double balance = 0, square = 0, sum = 0, slack = 0, *alpha = xcalloc(p->n, sizeof *alpha), *row = xcalloc(p->d, sizeof *row);
    size_t found = 0;
    for (size_t s = 0; s < m->n; s++) {
        support_row(m->support, m->index[s], row);
        for (size_t i = 0; i < p->n; i++)
            if (memcmp(row, p->x + i * p->d, p->d * sizeof *row) == 0) {
                alpha[i] = fabs(m->coef[s]);
                assert_true((m->coef[s] > 0) == (p->target[i] > 0));
                found++;
            }
    }
    assert_int_equal(found, m->n);
    for (size_t i = 0; i < p->n; i++) {
        const double t = p->target[i] > 0 ? 1 : -1, u = C * (weight == NULL ? 1 : weight[i]), f0 = plain_sum(&fit->out, p->x + i * p->d);
        const double margin = t * (f0 + m->w0);
        assert_true(alpha[i] >= 0 && alpha[i] <= u * (1 + 1e-12));
        if (alpha[i] < u * (1 - 1e-9))
            assert_true(margin >= 1 - tolerance);
        if (alpha[i] > 0)
            assert_true(margin <= 1 + tolerance);
        balance += t * alpha[i];
        sum += alpha[i];
        square += t * alpha[i] * f0;
        slack += u * fmax(0, 1 - margin);
    }
    assert_true(fabs(balance) <= 1e-9 * (1 + sum));
    if (square >= 0)
        assert_near(m->norm * m->norm, square, 1e-6);
    else
        assert_true(isnan(m->norm));
    if (definite) {
        const double primal = 0.5 * square + slack, dual = sum - 0.5 * square;
        assert_true(primal - dual <= 1e-5 * primal + 1e-9 && primal - dual >= -1e-7 * primal);
        assert_near(detail(&fit->report, "primal_objective"), primal, 1e-6);
        assert_near(detail(&fit->report, "dual_objective"), dual, 1e-6);
    } else {
        assert_true(isnan(detail(&fit->report, "gap")));
        assert_true(fit->report.n_warnings > 0);
    }
    free(alpha);
    free(row);
}

/* Overlapping clouds of different rows. */
static struct pair clouds(size_t n, size_t d) {
    struct csv *t = csv_clouds(n, d, 2);
    struct pair p = {n, d, standardised(t->x, n, d, NULL, NULL), xcalloc(n, sizeof(double))};
    memcpy(p.target, t->target, n * sizeof *p.target);
    csv_free(t);
    return p;
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
    struct pair p = clouds(150, 4);
    double weight[150];
    for (size_t i = 0; i < p.n; i++)
        weight[i] = 0.5 + (double)(i % 7);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int weighted = 0; weighted < 2; weighted++) {
            struct fit fit = {0};
            dn_params *params = kernel_params("svm", cases[k].kernel);
            if (cases[k].metric != NULL)
                OK(dn_params_set_word(params, "kernel.metric", cases[k].metric, NULL));
            OK(dn_params_set_boolean(params, "kernel.normalize", cases[k].normalize, NULL));
            OK(dn_params_set_number(params, "C", 0.7, NULL));
            fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, weighted ? weight : NULL, params, &fit);
            assert_true(fit.report.converged);
            const bool definite = cases[k].definite || isnan(detail(&fit.report, "gap")) == 0;
            check_optimal(&p, weighted ? weight : NULL, 0.7, &fit, definite ? 1e-6 : 2e-3, definite);
            fit_done(&fit);
            dn_params_free(params);
        }
    pair_free(&p);
}

/* What is kept of the kernel shows in no bit: a Gram matrix, or a cache that is far too small; with values in double (few rows), and in single precision with shrinking. */
static void caches_show_in_no_bit(void **state) {
    static const size_t sizes[] = {700, 2600};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct pair p = clouds(sizes[k], 3);
        struct fit fits[2];
        memset(fits, 0, sizeof fits);
        for (int small = 0; small < 2; small++) {
            dn_params *params = kernel_params("svm", "rbf");
            OK(dn_params_set_number(params, "kernel.width", 1, NULL));
            if (small)
                OK(dn_params_set_number(params, "cache_mib", 1, NULL));
            fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, params, &fits[small]);
            dn_params_free(params);
        }
        assert_true(fits[0].report.converged);
        assert_true(detail(&fits[0].report, "kkt_violation") <= 1e-3);
        check_optimal(&p, NULL, 1, &fits[0], 1.1e-3, true);
        const dn_kernel_machine *a = fits[0].out.kernel, *b = fits[1].out.kernel;
        assert_int_equal(a->n, b->n);
        assert_memory_equal(a->coef, b->coef, a->n * sizeof *a->coef);
        assert_memory_equal(&a->w0, &b->w0, sizeof a->w0);
        fit_done(&fits[0]);
        fit_done(&fits[1]);
        pair_free(&p);
    }
}

/* ---- invariants --------------------------------------------------------------------------------------------------------------------------- */
static void repeated_rows_are_weights(void **state) {
    (void)state;
    struct pair p = clouds(60, 3);
    double weight[60], *x = xcalloc(3 * p.n * p.d, sizeof *x), *target = xcalloc(3 * p.n, sizeof *target);
    size_t n = 0;
    for (size_t i = 0; i < p.n; i++) {
        weight[i] = (double)(i % 4); /* 0: none */
        for (size_t k = 0; k < i % 4; k++) {
            memcpy(x + n * p.d, p.x + i * p.d, p.d * sizeof *x);
            target[n++] = p.target[i];
        }
    }
    for (int one_class = 0; one_class < 2; one_class++) {
        struct fit weighted = {0}, repeated = {0};
        dn_params *params = kernel_params(one_class ? "one_class_svm" : "svm", "rbf");
        OK(dn_params_set_number(params, "kernel.width", 1, NULL));
        fit_matrix(dn_matrix_dense(p.x, p.n, p.d), one_class ? NULL : p.target, weight, params, &weighted);
        fit_matrix(dn_matrix_dense(x, n, p.d), one_class ? NULL : target, NULL, params, &repeated);
        assert_near(weighted.report.objective, repeated.report.objective, 1e-9);
        assert_near(weighted.out.kernel->w0, repeated.out.kernel->w0, 1e-7);
        assert_int_equal(weighted.out.kernel->n, repeated.out.kernel->n);
        fit_done(&weighted);
        fit_done(&repeated);
        dn_params_free(params);
    }
    free(x);
    free(target);
    pair_free(&p);
}

static void sparse_rows_are_the_same_rows(void **state) {
    (void)state;
    enum { N = 120, D = 30 };
    double *x = xcalloc(N * D, sizeof *x), *values = xcalloc(N * D, sizeof *values), target[N];
    size_t start[N + 1] = {0}, n = 0;
    uint32_t *cols = xcalloc(N * D, sizeof *cols);
    for (size_t i = 0; i < N; i++) {
        target[i] = (double)(i * 7 % 3 == 0);
        for (size_t j = 0; j < D; j++)
            if ((i * i * 31 + j * 17 + i * j) % 5 == 0) {
                x[i * D + j] = values[n] = 1 + (double)((i + j) % 3) * 0.5;
                cols[n++] = (uint32_t)j;
            }
        start[i + 1] = n;
    }
    static const char *const kernels[] = {"rbf", "polynomial"};
    for (size_t k = 0; k < 2; k++) {
        struct fit dense = {0}, sparse = {0};
        dn_params *params = kernel_params("svm", kernels[k]);
        fit_matrix(dn_matrix_dense(x, N, D), target, NULL, params, &dense);
        fit_matrix(dn_matrix_csr(start, cols, values, N, D), target, NULL, params, &sparse);
        assert_int_equal(sparse.out.kernel->support->x.kind, DN_CSR);
        assert_near(dense.report.objective, sparse.report.objective, 1e-9);
        assert_near(dense.out.kernel->w0, sparse.out.kernel->w0, 1e-6);
        fit_done(&dense);
        fit_done(&sparse);
        dn_params_free(params);
    }
    free(x);
    free(values);
    free(cols);
}

/* Kernel values as the table's columns: the same machine as by the kernel itself. */
static void a_kernel_that_is_given(void **state) {
    (void)state;
    struct pair p = clouds(80, 3);
    struct fit own = {0}, given = {0};
    dn_params *rbf = kernel_params("svm", "rbf"), *precomputed = kernel_params("svm", "precomputed");
    OK(dn_params_set_number(rbf, "kernel.width", 1.5, NULL));
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 1.5, .n_features = p.d};
    double *K = xcalloc(p.n * p.n, sizeof *K);
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < p.n; j++)
            K[i * p.n + j] = plain_kernel(&kernel, p.x + i * p.d, p.x + j * p.d, p.d);
    fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, rbf, &own);
    fit_matrix(dn_matrix_dense(K, p.n, p.n), p.target, NULL, precomputed, &given);
    assert_near(own.report.objective, given.report.objective, 1e-9);
    assert_near(own.out.kernel->w0, given.out.kernel->w0, 1e-7);
    assert_true(detail(&given.report, "gap") <= 1e-6);
    for (size_t i = 0; i < p.n; i++)
        assert_near(plain_sum(&given.out, K + i * p.n), plain_sum(&own.out, p.x + i * p.d), 1e-6);
    K[5] += 1e-11; /* rounding beside the diagonal is none of asymmetry */
    fit_done(&given);
    fit_matrix(dn_matrix_dense(K, p.n, p.n), p.target, NULL, precomputed, &given);
    K[5] += 1e-3;
    dn_rows *rows;
    dn_error err;
    const dn_run run = dn_run_default();
    dn_error_clear(&err);
    fit_done(&given);
    OK(dn_rows_from_matrix(dn_matrix_dense(K, p.n, p.n), p.target, NULL, &rows, NULL));
    assert_int_equal(fit_rows(rows, 2, precomputed, &run, &given, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "symmetric"));
    dn_rows_free(rows);
    fit_done(&own);
    free(K);
    dn_params_free(rbf);
    dn_params_free(precomputed);
    pair_free(&p);
}

/* ---- hard margin -------------------------------------------------------------------------------------------------------------------------- */
static void a_hard_margin(void **state) {
    (void)state;
    struct pair p = first_pair("iris");
    struct fit fit = {0};
    dn_params *params = kernel_params("svm", "rbf");
    OK(dn_params_set_number(params, "kernel.width", 2, NULL));
    OK(dn_params_set_word(params, "C", "hard", NULL));
    fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, params, &fit);
    assert_true(fit.report.converged);
    double least = (double)INFINITY;
    for (size_t i = 0; i < p.n; i++)
        least = fmin(least, (p.target[i] > 0 ? 1 : -1) * (plain_sum(&fit.out, p.x + i * p.d) + fit.out.kernel->w0));
    assert_near(least, 1, 1e-6);
    assert_near(detail(&fit.report, "primal_objective"), 0.5 * fit.out.kernel->norm * fit.out.kernel->norm, 1e-5);
    assert_true(detail(&fit.report, "gap") <= 1e-6);
    fit_done(&fit);
    /* the same row in both classes */
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
    pair_free(&p);
}

/* ---- many classes ------------------------------------------------------------------------------------------------------------------------- */
static dn_status keep_report(void *ctx, size_t i, dn_report *report, dn_error *err) {
    (void)err;
    ((dn_report *)ctx)[i] = *report;
    *report = (dn_report){0};
    return DN_OK;
}

static void fit_all(const struct csv *t, const double *x, const dn_params *p, dn_decision decision, const dn_run *run, dn_machine *machines,
                    dn_report *reports) {
    dn_rows *rows;
    dn_error err;
    dn_error_clear(&err);
    OK(dn_rows_from_matrix(dn_matrix_dense(x, t->n, t->d), t->target, NULL, &rows, NULL));
    const dn_fit_input input = {.rows = rows, .n_classes = t->K, .params = p};
    const dn_report_taker taker = {keep_report, reports};
    if (p->algorithm->fit_together(&input, decision, run, machines, &taker, &err) != DN_OK)
        fail_msg("%s", err.message);
    dn_rows_free(rows);
}

/* Each machine of a decision is the one of its two classes alone; all share their support vectors; threads change no bit. */
static void machines_share_support_vectors(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    double *z = standardised(t->x, t->n, t->d, NULL, NULL);
    dn_params *p = kernel_params("svm", "rbf");
    dn_run run = dn_run_default(), threads = dn_run_default();
    threads.n_slots = 3;
    threads.sum = sum_in_ranges;
    OK(dn_params_set_number(p, "kernel.width", 2, NULL));
    static const dn_decision decisions[] = {DN_DECISION_ONE_VS_ONE, DN_DECISION_ONE_VS_REST};
    for (size_t k = 0; k < 2; k++) {
        dn_machine machines[3] = {{0}}, again[3] = {{0}};
        dn_report *reports = xcalloc(6, sizeof *reports);
        fit_all(t, z, p, decisions[k], &run, machines, reports);
        fit_all(t, z, p, decisions[k], &threads, again, reports + 3);
        for (size_t i = 0; i < 3; i++) {
            size_t negative, positive, n = 0;
            struct fit alone = {0};
            double *x = xcalloc(t->n * t->d, sizeof *x), *target = xcalloc(t->n, sizeof *target);
            dn_decision_machine(decisions[k], t->K, i, &negative, &positive);
            for (size_t row = 0; row < t->n; row++) {
                if (negative != SIZE_MAX && t->target[row] != (double)negative && t->target[row] != (double)positive)
                    continue;
                memcpy(x + n * t->d, z + row * t->d, t->d * sizeof *x);
                target[n++] = t->target[row] == (double)positive;
            }
            fit_matrix(dn_matrix_dense(x, n, t->d), target, NULL, p, &alone);
            assert_near(reports[i].objective, alone.report.objective, 1e-8);
            assert_near(machines[i].kernel->w0, alone.out.kernel->w0, 1e-6);
            assert_int_equal(machines[i].kernel->n, alone.out.kernel->n);
            assert_ptr_equal(machines[i].kernel->support, machines[0].kernel->support);
            assert_memory_equal(machines[i].kernel->coef, again[i].kernel->coef, machines[i].kernel->n * sizeof(double));
            assert_memory_equal(&machines[i].kernel->w0, &again[i].kernel->w0, sizeof(double));
            fit_done(&alone);
            free(x);
            free(target);
        }
        for (size_t i = 0; i < 3; i++) {
            dn_machine_done(&machines[i]);
            dn_machine_done(&again[i]);
        }
        for (size_t i = 0; i < 6; i++)
            dn_report_done(&reports[i]);
        free(reports);
    }
    dn_params_free(p);
    free(z);
    csv_free(t);
}

/* ---- memory and stops --------------------------------------------------------------------------------------------------------------------- */
static void every_allocation_may_fail(void **state) {
    static const char *const kernels[] = {"rbf", "mahalanobis", "sigmoid"};
    (void)state;
    struct pair p = clouds(60, 3);
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, &rows, NULL));
    for (size_t k = 0; k < 4; k++) {
        dn_params *params = kernel_params(k == 3 ? "one_class_svm" : "svm", kernels[k % 3]);
        size_t failures = 0;
        for (size_t at = 1;; at++) {
            struct memory memory = {.fail_at = at, .left = SIZE_MAX};
            const dn_allocator allocator = memory_allocator(&memory, true);
            dn_run run = dn_run_default();
            struct fit fit = {0};
            run.allocator = &allocator;
            const dn_status status = fit_rows(rows, 2, params, &run, &fit, NULL);
            assert_int_equal(memory.live, 0);
            fit_done(&fit);
            if (status == DN_OK)
                break;
            assert_int_equal(status, DN_ERR_BUDGET);
            failures++;
        }
        assert_true(failures > 5);
        dn_params_free(params);
    }
    dn_rows_free(rows);
    pair_free(&p);
}

static void it_stops_when_told(void **state) {
    (void)state;
    struct pair p = clouds(2600, 3);
    dn_rows *rows;
    dn_params *params = kernel_params("svm", "rbf");
    OK(dn_params_set_number(params, "kernel.width", 0.2, NULL));
    OK(dn_params_set_number(params, "C", 1e4, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, &rows, NULL));
    struct polls all = {0};
    dn_run run = polls_run(&all);
    struct fit fit = {0};
    OK(fit_rows(rows, 2, params, &run, &fit, NULL));
    fit_done(&fit);
    for (size_t at = 1; at < all.n; at += all.n / 23 + 1) {
        struct memory memory = {.left = SIZE_MAX};
        const dn_allocator allocator = memory_allocator(&memory, false);
        struct polls polls = {.stop_at = at};
        run = polls_run(&polls);
        run.allocator = &allocator;
        assert_int_equal(fit_rows(rows, 2, params, &run, &fit, NULL), DN_ERR_STOPPED);
        assert_true(polls.n <= at + 2);
        assert_int_equal(memory.live, 0);
    }
    dn_rows_free(rows);
    dn_params_free(params);
    pair_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_machines),
        cmocka_unit_test(golden_outliers),
        cmocka_unit_test(every_kernel_is_solved),
        cmocka_unit_test(caches_show_in_no_bit),
        cmocka_unit_test(repeated_rows_are_weights),
        cmocka_unit_test(sparse_rows_are_the_same_rows),
        cmocka_unit_test(a_kernel_that_is_given),
        cmocka_unit_test(a_hard_margin),
        cmocka_unit_test(machines_share_support_vectors),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_stops_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
