/* Tests of kernel machines. Scores equal a reference implementation, and have the same bits for a
 * row alone and in a batch. Distances, outliers, and properties that a kernel model does not
 * have. */
#include "unit/core/machine/plain_scores.h"
#include "unit/core/model/kernel_models.h"

#include "encoder/encoder_apply.h"
#include "model/model_impl.h"

/* ---- encoded rows ---- */
/* Encoded raw rows have the same bits as the encoded rows of the table. */
static void raw_rows_as_entries(void **state) {
    (void)state;
    for (size_t way = 0; way < KM_WAYS; way++) {
        struct km_rows r = km_rows_new((enum km_way)way);
        uint32_t *cols = xcalloc(r.d + 1, sizeof *cols);
        double *values = xcalloc(r.d + 1, sizeof *values),
               *work = xcalloc(dni_raw_entries_work(r.encoder), sizeof *work);
        for (size_t i = 0; i < r.n; i++) {
            const size_t n = dni_encode_raw_entries(r.encoder, r.raw.rows, i, cols, values, work);
            size_t others = 0;
            for (size_t j = 0; j < r.d; j++) {
                others += r.x[i * r.d + j] != 0;
            }
            assert_int_equal(n, others);
            for (size_t e = 0; e < n; e++) {
                assert_true((e == 0 || cols[e] > cols[e - 1]) &&
                            memcmp(&values[e], &r.x[i * r.d + cols[e]], sizeof(double)) == 0);
            }
            if (r.encoded.kind == DN_DENSE) {
                continue;
            }
            const size_t first = r.encoded.row_start[i];
            assert_int_equal(n, r.encoded.row_start[i + 1] - first);
            assert_memory_equal(cols, r.encoded.cols + first, n * sizeof *cols);
            assert_memory_equal(values, r.encoded.values + first, n * sizeof *values);
        }
        free(cols);
        free(values);
        free(work);
        km_rows_done(&r);
    }
}

/* ---- scores ---- */
static void scores_are_sums_over_support_vectors(void **state) {
    (void)state;
    for (size_t way = 0; way < KM_WAYS; way++) {
        struct km_rows r = km_rows_new((enum km_way)way);
        double *factor = xcalloc(r.d * r.d, sizeof *factor), *g = xcalloc(3 * r.n, sizeof *g);
        for (size_t k = 0; k < PLAIN_KERNELS; k++) {
            const dn_kernel kernel = plain_kernel(k, r.d, factor);
            dn_model *model = km_model(&r, &kernel, 3, DN_DECISION_ONE_VS_ONE, 0);
            double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
            assert_int_equal(dn_model_predict(model, r.raw.rows, workspace,
                                              &(dn_prediction){.scores = g}),
                             r.n);
            for (size_t i = 0; i < r.n; i += 3) {
                for (size_t m = 0; m < 3; m++) {
                    const struct machine_view machine = machine_view(dn_model_machine(model, m));
                    double size, sum = plain_sum(&machine, r.x + i * r.d, &size);
                    assert_value(g[3 * i + m], sum + machine.kernel->w0, size,
                                 3e-6); /* kernels may be computed in float */
                }
            }
            free(workspace);
            dn_model_unref(model);
        }
        free(factor);
        free(g);
        km_rows_done(&r);
    }
}

/* The scores of a row have the same bits alone, in a batch, in reverse order, raw and encoded. */
static void a_row_depends_on_itself_alone(void **state) {
    (void)state;
    for (size_t way = 0; way < KM_WAYS; way++) {
        struct km_rows r = km_rows_new((enum km_way)way);
        double *factor = xcalloc(r.d * r.d, sizeof *factor), *all = xcalloc(3 * r.n, sizeof *all),
               part[3 * 23];
        size_t label[23], *labels = xcalloc(r.n, sizeof *labels);
        for (size_t k = 0; k < PLAIN_KERNELS; k++) {
            const dn_kernel kernel = plain_kernel(k, r.d, factor);
            dn_model *model = km_model(&r, &kernel, 3, DN_DECISION_ONE_VS_ONE, 0);
            double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
            assert_int_equal(dn_model_predict(model, r.raw.rows, workspace,
                                              &(dn_prediction){.scores = all, .label = labels}),
                             r.n);
            for (size_t n = 1; n <= 23; n += 11) {
                for (size_t i = r.n - r.n % n; i > 0;) {
                    i -= n;
                    const dn_prediction want = {.scores = i % 2 ? part : NULL, .label = label};
                    assert_int_equal(dn_model_predict(model, dn_raw_part(r.raw.rows, 4, i, n),
                                                      workspace, &want),
                                     n);
                    assert_memory_equal(label, labels + i, n * sizeof *label);
                    if (want.scores != NULL) {
                        assert_memory_equal(part, all + 3 * i, 3 * n * sizeof *part);
                    }
                }
            }
            for (size_t i = 0; i < r.n; i += 19) {
                const size_t n = r.n - i < 19 ? r.n - i : 19;
                OK(dni_machines_score(model->machines, 3, dn_matrix_rows(r.encoded, i, n), NULL, 0,
                                      part, workspace, NULL));
                assert_memory_equal(part, all + 3 * i, 3 * n * sizeof *part);
            }
            free(workspace);
            dn_model_unref(model);
        }
        free(factor);
        free(all);
        free(labels);
        km_rows_done(&r);
    }
}

/* ---- properties of a row ---- */
static void distances_and_missing_properties(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_SPARSE);
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 4, .n_features = r.d};
    dn_model *two = km_model(&r, &kernel, 1, DN_DECISION_ONE_VS_ONE, 0),
             *three = km_model(&r, &kernel, 3, DN_DECISION_ONE_VS_ONE, 0);
    double *workspace = xcalloc(dn_model_workspace(three), sizeof *workspace), g[KM_ROWS],
           distance[KM_ROWS];
    size_t label[KM_ROWS];
    bool candidate[2 * KM_ROWS], outside[KM_ROWS];
    dn_linear linear;
    const dn_prediction want = {.scores = g,
                                .label = label,
                                .distance = distance,
                                .candidates = candidate,
                                .out_of_support = outside};
    assert_int_equal(dn_model_predict(two, r.raw.rows, workspace, &want), r.n);
    for (size_t i = 0; i < r.n; i++) {
        assert_true(distance[i] == g[i] / 2 && label[i] == (g[i] > 0));
        assert_true(candidate[2 * i + label[i]] && !candidate[2 * i + 1 - label[i]] && !outside[i]);
    }
    dni_kernel_machine_of(dn_model_machine(two, 0))->norm =
        (double)NAN; /* as for a kernel that is not positive semidefinite */
    assert_int_equal(dn_model_predict(two, r.raw.rows, workspace,
                                      &(dn_prediction){.distance = distance}),
                     r.n);
    assert_true(isnan(distance[0]));
    assert_int_equal(dn_model_predict(three, r.raw.rows, workspace,
                                      &(dn_prediction){.distance = distance}),
                     r.n);
    assert_true(isnan(distance[0]));
    assert_false(dn_model_linear(two, &linear));
    assert_false(dn_model_has_contributions(two));
    assert_false(dn_model_has_density(two));
    assert_false(dn_model_has_probabilities(two));
    assert_true(dn_model_intercept(three)[2] == 0.25 - 1);
    const double support =
        dni_support_memory(dni_kernel_machine_of(dn_model_machine(three, 0))->support);
    const double more = (double)dn_model_memory(three) - (double)dn_model_memory(two);
    assert_true(support > 0 && (double)dn_model_memory(two) > support && more > 0 &&
                more < support);
    free(workspace);
    dn_model_unref(two);
    dn_model_unref(three);
    km_rows_done(&r);
}

/* Scores below the threshold are outliers; a score equal to it is not. */
static void outliers(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_DENSE);
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 4, .n_features = r.d};
    double g[KM_ROWS], distance[KM_ROWS], m[2];
    size_t label[KM_ROWS], n_out = 0;
    bool candidate[2 * KM_ROWS];
    dn_model *model = km_model(&r, &kernel, 1, DN_DECISION_OUTLIER, 0);
    double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace), min_score = 0;
    assert_int_equal(dn_model_predict(model, r.raw.rows, workspace, &(dn_prediction){.scores = g}),
                     r.n);
    dn_model_unref(model);
    for (size_t i = 0; i < r.n;
         i++) { /* the threshold is the second smallest score: one row is below it */
        min_score = fmin(min_score, g[i]);
    }
    double second = 0;
    for (size_t i = 0; i < r.n; i++) {
        second = g[i] > min_score ? fmin(second, g[i]) : second;
    }
    assert_true(second < 0);
    model = km_model(&r, &kernel, 1, DN_DECISION_OUTLIER, -second);
    const dn_prediction want = {.scores = g,
                                .label = label,
                                .candidates = candidate,
                                .distance = distance};
    assert_int_equal(dn_model_predict(model, r.raw.rows, workspace, &want), r.n);
    for (size_t i = 0; i < r.n; i++) {
        assert_int_equal(label[i], g[i] < second);
        assert_true(candidate[2 * i + label[i]] && !candidate[2 * i + 1 - label[i]] &&
                    distance[i] == g[i] / 2);
        n_out += label[i];
    }
    assert_true(n_out >= 1 && n_out < r.n / 2);
    assert_false(dn_model_has_probabilities(model));
    assert_int_equal(dn_decision_label(DN_DECISION_OUTLIER, 2, (const double[]){-1e-9}), 1);
    assert_int_equal(dn_decision_label(DN_DECISION_OUTLIER, 2, (const double[]){0}), 0);
    assert_true(dn_decision_class_scores(DN_DECISION_OUTLIER, 2, (const double[]){3}, m) &&
                m[0] == 1.5 && m[1] == -1.5);
    free(workspace);
    dn_model_unref(model);
    km_rows_done(&r);
}

/* A row whose score is not finite is reported, and the results of the rows before it are kept. Far
 * from all support vectors the value of a kernel of distances is 0. */
static void scores_that_overflow(void **state) {
    (void)state;
    const dn_kernel kernels[] = {
        {.type = DN_KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 4},
        {.type = DN_KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2, .normalize = true},
        {.type = DN_KERNEL_LINEAR, .normalize = true},
        {.type = DN_KERNEL_RBF, .width = 3},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_MANHATTAN, .width = 3}};
    for (size_t way = KM_SPARSE; way <= KM_DENSE; way++) {
        for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
            struct km_rows r = km_rows_new((enum km_way)way);
            dn_kernel kernel = kernels[k];
            kernel.n_features = r.d;
            dn_model *model = km_model(&r, &kernel, 1, DN_DECISION_ONE_VS_ONE, 0);
            double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace), g[KM_ROWS],
                   again[KM_ROWS];
            assert_int_equal(dn_model_predict(model, r.raw.rows, workspace,
                                              &(dn_prediction){.scores = g}),
                             r.n);
            r.raw.value[4 * 21] = 1e300; /* the row's age */
            const size_t n =
                dn_model_predict(model, r.raw.rows, workspace, &(dn_prediction){.scores = again});
            assert_int_equal(n, k < 3 ? 21 : r.n);
            assert_true(k < 3 || again[21] == dn_model_intercept(model)[0]);
            assert_memory_equal(g, again, 21 * sizeof *g);
            assert_true(n == 21 || memcmp(g + 22, again + 22, (r.n - 22) * sizeof *g) == 0);
            free(workspace);
            dn_model_unref(model);
            km_rows_done(&r);
        }
    }
}

/* Without support vectors the score is w0. */
static void without_support_vectors(void **state) {
    (void)state;
    struct km_rows r = km_rows_new(KM_SPARSE);
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 4, .n_features = r.d};
    dni_support *support;
    dn_machine **machines = xcalloc(1, sizeof *machines);
    dn_model *model;
    double g[KM_ROWS];
    OK(dni_support_new(&kernel, 0, 0, NULL, &support, NULL));
    OK(dni_support_end(support, NULL));
    OK(dni_kernel_machine_new(support, 0, machines, NULL));
    dni_support_unref(support);
    dni_kernel_machine_of(machines[0])->w0 = -1.25;
    OK(km_try_model(&r, machines, 1, DN_DECISION_ONE_VS_ONE, &model, NULL));
    double *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
    assert_int_equal(dn_model_predict(model, r.raw.rows, workspace, &(dn_prediction){.scores = g}),
                     r.n);
    for (size_t i = 0; i < r.n; i++) {
        assert_true(g[i] == -1.25);
    }
    free(workspace);
    dn_model_unref(model);
    km_rows_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_rows_as_entries),
        cmocka_unit_test(scores_are_sums_over_support_vectors),
        cmocka_unit_test(a_row_depends_on_itself_alone),
        cmocka_unit_test(distances_and_missing_properties),
        cmocka_unit_test(outliers),
        cmocka_unit_test(scores_that_overflow),
        cmocka_unit_test(without_support_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
