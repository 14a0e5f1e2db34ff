/* Kernel machines: invariance to the form of the rows, machines that share support vectors, memory
 * and cancellation. */
#include "unit/core/learners/svm/kernel/kernel_machines.h"

/* ---- invariants ---- */
static void repeated_rows_are_weights(void **state) {
    (void)state;
    struct problem p = clouds(60, 3);
    double weight[60], *x = xcalloc(3 * p.n * p.d, sizeof *x),
                       *target = xcalloc(3 * p.n, sizeof *target);
    size_t n = 0;
    for (size_t i = 0; i < p.n; i++) {
        weight[i] = (double)(i % 4); /* 0: the row is ignored */
        for (size_t k = 0; k < i % 4; k++) {
            memcpy(x + n * p.d, p.x + i * p.d, p.d * sizeof *x);
            target[n++] = p.target[i];
        }
    }
    for (int one_class = 0; one_class < 2; one_class++) {
        struct fit weighted = {0}, repeated = {0};
        dn_params *params = kernel_params(one_class ? "one_class_svm" : "svm", "rbf");
        OK(dn_params_set_number(params, "kernel.width", 1, NULL));
        fit_matrix(dn_matrix_dense(p.x, p.n, p.d), one_class ? NULL : p.target, weight, params,
                   &weighted);
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
    svm_problem_done(&p);
}

static void sparse_rows_are_the_same_rows(void **state) {
    (void)state;
    enum { N = 120, D = 30 };
    double *x = xcalloc(N * D, sizeof *x), *values = xcalloc(N * D, sizeof *values), target[N];
    size_t start[N + 1] = {0}, n = 0;
    uint32_t *cols = xcalloc(N * D, sizeof *cols);
    for (size_t i = 0; i < N; i++) {
        target[i] = (double)(i * 7 % 3 == 0);
        for (size_t j = 0; j < D; j++) {
            if ((i * i * 31 + j * 17 + i * j) % 5 == 0) {
                x[i * D + j] = values[n] = 1 + (double)((i + j) % 3) * 0.5;
                cols[n++] = (uint32_t)j;
            }
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

/* A precomputed kernel, with the kernel values as the table's columns, gives the same machine as
 * the kernel itself. */
static void a_kernel_that_is_given(void **state) {
    (void)state;
    struct problem p = clouds(80, 3);
    struct fit own = {0}, given = {0};
    dn_params *rbf = kernel_params("svm", "rbf"),
              *precomputed = kernel_params("svm", "precomputed");
    OK(dn_params_set_number(rbf, "kernel.width", 1.5, NULL));
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 1.5, .n_features = p.d};
    double *K = xcalloc(p.n * p.n, sizeof *K);
    for (size_t i = 0; i < p.n; i++) {
        for (size_t j = 0; j < p.n; j++) {
            K[i * p.n + j] = plain_value(&kernel, p.x + i * p.d, p.x + j * p.d, p.d);
        }
    }
    fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, rbf, &own);
    fit_matrix(dn_matrix_dense(K, p.n, p.n), p.target, NULL, precomputed, &given);
    assert_near(own.report.objective, given.report.objective, 1e-9);
    assert_near(own.out.kernel->w0, given.out.kernel->w0, 1e-7);
    assert_true(svm_detail(&given.report, "gap") <= 1e-6);
    for (size_t i = 0; i < p.n; i++) {
        assert_near(plain_sum(&given.out, K + i * p.n, NULL),
                    plain_sum(&own.out, p.x + i * p.d, NULL), 1e-6);
    }
    /* An asymmetry of the size of rounding errors is accepted. */
    K[5] += 1e-11;
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
    svm_problem_done(&p);
}

/* ---- many classes ---- */
static dn_status keep_report(void *ctx, size_t i, dn_report *report, dn_error *err) {
    (void)err;
    ((dn_report *)ctx)[i] = *report;
    *report = (dn_report){0};
    return DN_OK;
}

static void fit_all(const struct csv *t, const double *x, const dn_params *p, dn_decision decision,
                    const dn_run *run, struct machine_view *out, dn_report *reports) {
    dn_rows *rows;
    dn_error err;
    dn_error_clear(&err);
    OK(dn_rows_from_matrix(dn_matrix_dense(x, t->n, t->d), t->target, NULL, &rows, NULL));
    const dn_fit_input input = {.rows = rows, .n_classes = t->K, .params = p};
    const dn_report_receiver receiver = {keep_report, reports};
    dn_machine *machines[3] = {NULL};
    if (p->algorithm->fit_together(&input, decision, run, machines, &receiver, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < 3; i++) {
        out[i] = machine_view(machines[i]);
    }
    dn_rows_free(rows);
}

/* Each machine of a multiclass decision equals the machine fitted to its two classes alone. All
 * machines share their support vectors. The number of threads changes no bit. */
static void machines_share_support_vectors(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    double *z = standardised(t->x, t->n, t->d, NULL, NULL);
    dn_params *p = kernel_params("svm", "rbf");
    dn_run run = dn_run_default(), threads = dn_run_default();
    threads.n_slots = 3;
    threads.sum = sum_in_ranges;
    threads.each = each_in_reverse;
    OK(dn_params_set_number(p, "kernel.width", 2, NULL));
    static const dn_decision decisions[] = {DN_DECISION_ONE_VS_ONE, DN_DECISION_ONE_VS_REST};
    for (size_t k = 0; k < 2; k++) {
        struct machine_view machines[3], again[3];
        dn_report *reports = xcalloc(6, sizeof *reports);
        fit_all(t, z, p, decisions[k], &run, machines, reports);
        fit_all(t, z, p, decisions[k], &threads, again, reports + 3);
        for (size_t i = 0; i < 3; i++) {
            size_t negative, positive, n = 0;
            struct fit alone = {0};
            double *x = xcalloc(t->n * t->d, sizeof *x), *target = xcalloc(t->n, sizeof *target);
            dn_decision_machine(decisions[k], t->K, i, &negative, &positive);
            for (size_t row = 0; row < t->n; row++) {
                if (negative != SIZE_MAX && t->target[row] != (double)negative &&
                    t->target[row] != (double)positive) {
                    continue;
                }
                memcpy(x + n * t->d, z + row * t->d, t->d * sizeof *x);
                target[n++] = t->target[row] == (double)positive;
            }
            fit_matrix(dn_matrix_dense(x, n, t->d), target, NULL, p, &alone);
            assert_near(reports[i].objective, alone.report.objective, 1e-8);
            assert_near(machines[i].kernel->w0, alone.out.kernel->w0, 1e-6);
            assert_int_equal(machines[i].kernel->n, alone.out.kernel->n);
            assert_ptr_equal(machines[i].kernel->support, machines[0].kernel->support);
            assert_memory_equal(machines[i].kernel->coef, again[i].kernel->coef,
                                machines[i].kernel->n * sizeof(double));
            assert_memory_equal(&machines[i].kernel->w0, &again[i].kernel->w0, sizeof(double));
            fit_done(&alone);
            free(x);
            free(target);
        }
        for (size_t i = 0; i < 3; i++) {
            dn_machine_free(machines[i].machine);
            dn_machine_free(again[i].machine);
        }
        for (size_t i = 0; i < 6; i++) {
            dn_report_done(&reports[i]);
        }
        free(reports);
    }
    dn_params_free(p);
    free(z);
    csv_free(t);
}

/* ---- memory and stops ---- */
static void every_allocation_may_fail(void **state) {
    static const char *const kernels[] = {"rbf", "mahalanobis", "sigmoid"};
    (void)state;
    struct problem p = clouds(60, 3);
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
            if (status == DN_OK) {
                break;
            }
            assert_int_equal(status, DN_ERR_BUDGET);
            failures++;
        }
        assert_true(failures > 5);
        dn_params_free(params);
    }
    dn_rows_free(rows);
    svm_problem_done(&p);
}

static void it_stops_when_told(void **state) {
    (void)state;
    struct problem p = clouds(2600, 3);
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
    svm_problem_done(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_rows_are_weights),
        cmocka_unit_test(sparse_rows_are_the_same_rows),
        cmocka_unit_test(a_kernel_that_is_given),
        cmocka_unit_test(machines_share_support_vectors),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_stops_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
