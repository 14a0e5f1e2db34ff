/* Training without a target. The method of this test uses the score x − mean. The test recomputes
 * the number of outliers. */
#include "machine/machine_dispatch.h"
#include "unit/core/support.h"

enum { N = 40, X = 0, W = 1, TRUTH = 2 };

/* f(x) = x − mean of the training rows. */
static dn_status fit(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                     dn_report *report, dn_error *err) {
    double sum = 0, weight = 0;
    (void)run;
    assert_int_equal(input->n_classes, 2);
    assert_string_equal(input->class_names[0], "inlier");
    assert_string_equal(input->class_names[1], "outlier");
    for (size_t b = 0; b < input->rows->n_blocks; b++) {
        dn_block block;
        OK(dn_rows_block(input->rows, b, 0, &block, err));
        assert_null(block.target);
        for (size_t i = 0; i < block.x.n_rows; i++) {
            const double v = block.weight == NULL ? 1 : block.weight[i];
            sum += v * block.x.values[i];
            weight += v;
        }
    }
    OK(dni_linear_machine_new(2, 1, false, out, err));
    dni_linear_machine_of(*out)->w[0] = 1;
    dni_linear_machine_of(*out)->w0[0] = -sum / weight;
    report->converged = true;
    report->stop_reason = DN_STOP_CLOSED_FORM;
    return DN_OK;
}

static double memory(const dn_params *params, const dn_fit_shape *shape) {
    (void)params, (void)shape;
    return 8;
}

static const dn_algorithm above_the_mean = {.id = "above_the_mean", .fit = fit, .memory = memory};

struct data {
    double x[N], w[N];
    uint32_t code[N];
    dn_column_view views[3];
    dn_table_source *source;
    dn_params *params;
    dn_train_request request;
};

static void data_init(struct data *d) {
    static const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                              {.name = "w", .type = DN_NUMERIC},
                                              {.name = "truth", .type = DN_CATEGORICAL}};
    static const uint32_t start[] = {0, 7, 13};
    static const size_t inputs[] = {X};
    dn_column_view *views = d->views;
    for (size_t i = 0; i < N; i++) {
        d->x[i] = (double)(i * i % 17);
        d->w[i] = (double)(i % 4); /* every fourth row has weight 0 */
        d->code[i] = d->x[i] < 4 ? 0 : i == 5 ? DN_CODE_MISSING : 1;
    }
    views[0] = (dn_column_view){.type = DN_NUMERIC, .n_rows = N, .number = d->x};
    views[1] = (dn_column_view){.type = DN_NUMERIC, .n_rows = N, .number = d->w};
    views[2] = (dn_column_view){.type = DN_CATEGORICAL,
                                .n_rows = N,
                                .code = d->code,
                                .strings = {.n = 2, .start = start, .bytes = "outlierinlier"}};
    OK(dn_table_source_from_columns(columns, views, 3, N, &d->source, NULL));
    OK(dn_params_new(&above_the_mean, &d->params, NULL));
    d->request = (dn_train_request){.source = d->source,
                                    .params = d->params,
                                    .target = DN_NO_TARGET,
                                    .features = {.columns = inputs, .n_columns = 1}};
}

static void data_done(struct data *d) {
    dn_params_free(d->params);
    dn_table_source_free(d->source);
}

static dn_train_result train(const struct data *d) {
    dn_run run = dn_run_default();
    dn_train_result result = {0};
    dn_error err = {0};
    if (dn_train(&d->request, &run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    assert_null(result.train);
    assert_null(result.validation);
    assert_null(result.folds);
    assert_int_equal(result.n_folds, 0);
    return result;
}

static const dn_detail *detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return &report->details[i];
        }
    }
    return NULL;
}

static double number(const dn_report *report, const char *name) {
    const dn_detail *found = detail(report, name);
    assert_non_null(found);
    return found == NULL ? (double)NAN : found->number;
}

static double mean_of(const struct data *d, bool weighted) {
    double sum = 0, weight = 0;
    for (size_t i = 0; i < N; i++) {
        sum += (weighted ? d->w[i] : 1) * d->x[i];
        weight += weighted ? d->w[i] : 1;
    }
    return sum / weight;
}

static void rows_below_are_counted(void **state) {
    (void)state;
    struct data d;
    data_init(&d);
    for (int weighted = 0; weighted < 2; weighted++) {
        d.request.weighted = weighted;
        d.request.weight = W;
        dn_train_result r = train(&d);
        double outliers = 0, all = 0;
        for (size_t i = 0; i < N; i++) {
            outliers += d.x[i] < mean_of(&d, weighted) ? (weighted ? d.w[i] : 1) : 0;
            all += weighted ? d.w[i] : 1;
        }
        assert_true(outliers > 0 && outliers < all);
        assert_true(number(&r.report, "outliers") == outliers);
        assert_near(number(&r.report, "outlier_share"), outliers / all, 1e-15);
        assert_null(detail(&r.report, "validation_outliers"));
        assert_int_equal(r.n_train, weighted ? N * 3 / 4 : N);
        assert_int_equal(r.n_skipped, weighted ? N / 4 : 0);
        assert_null(dn_model_target(r.model));
        assert_int_equal(dn_model_decision(r.model), DN_DECISION_OUTLIER);
        assert_int_equal(dn_model_classes(r.model)->n, 2);
        assert_int_equal(dn_model_class_of_text(r.model, "outlier", 7), 1);
        dn_train_result_done(&r);
    }
    data_done(&d);
}

/* Held-out rows are evaluated by the model of the other rows. Each row is in exactly one fold. */
static void rows_held_out_are_counted(void **state) {
    (void)state;
    struct data d;
    size_t n = 0;
    data_init(&d);
    d.request.holdout = 0.25;
    dn_train_result r = train(&d);
    assert_int_equal(r.n_validation, N / 4);
    assert_int_equal(r.n_train, N - N / 4);
    assert_near(number(&r.report, "validation_outlier_share"),
                number(&r.report, "validation_outliers") / (N / 4), 1e-15);
    dn_train_result_done(&r);

    d.request.holdout = 0;
    d.request.folds = 4;
    r = train(&d);
    const dn_detail *folds = detail(&r.report, "fold_outlier_shares");
    double sum = 0;
    assert_true(folds != NULL && folds->n_list == 4);
    for (size_t f = 0; folds != NULL && f < 4; f++) {
        sum += folds->list[f] / 4; /* of ten rows each */
    }
    assert_near(number(&r.report, "validation_outlier_share"), sum, 1e-14);
    assert_near(number(&r.report, "validation_outliers"), N * sum, 1e-14);
    dn_train_result_done(&r);

    d.request.folds = 0;
    d.request.validation = d.source;
    r = train(&d);
    for (size_t i = 0; i < N; i++) {
        n += d.x[i] < mean_of(&d, false);
    }
    assert_true(number(&r.report, "validation_outliers") == (double)n);
    assert_int_equal(r.n_validation, N);
    dn_train_result_done(&r);
    data_done(&d);
}

/* With a column of true classes an evaluation gives metrics. "outlier" is the positive class. */
static void metrics_from_true_classes(void **state) {
    (void)state;
    struct data d;
    dn_run run = dn_run_default();
    dn_metrics *m = NULL;
    dn_error err;
    double cell[2][2] = {{0}};
    data_init(&d);
    dn_train_result r = train(&d);
    dn_error_clear(&err);
    assert_int_equal(dn_model_evaluate(r.model, d.source, NULL, &run, &m, &err), DN_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "set the column of the true classes"));
    dn_error_clear(&err);
    assert_int_equal(dn_model_evaluate(r.model, d.source, &(dn_evaluate_options){.target = "none"},
                                       &run, &m, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.field, "none");
    OK(dn_model_evaluate(r.model, d.source, &(dn_evaluate_options){.target = "truth"}, &run, &m,
                         NULL));
    for (size_t i = 0; i < N; i++) {
        if (d.code[i] != DN_CODE_MISSING) {
            cell[d.code[i] == 0][d.x[i] < mean_of(&d, false)]++;
        }
    }
    assert_memory_equal(m->confusion, cell, sizeof cell);
    assert_true(m->rows == N - 1);
    assert_near(m->roc_auc, 1, 1e-12); /* the true outliers have the least x */
    dn_metrics_free(m);
    dn_train_result_done(&r);
    data_done(&d);
}

static void what_needs_classes_is_refused(void **state) {
    (void)state;
    struct data d;
    data_init(&d);
    const dn_train_request plain = d.request;
    const dn_basis_spec fisher = {.kind = DN_BASIS_FISHER};
    const struct {
        const char *words;
        dn_train_request request;
    } rows[] = {{"has no target", plain},
                {"class weights need a target", plain},
                {"curves need a target", plain},
                {"41 folds need at least 41 rows, but there are 40", plain},
                {"fisher", plain}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dn_train_request request = rows[i].request;
        dn_run run = dn_run_default();
        dn_train_result r;
        dn_error err;
        dn_error_clear(&err);
        request.target = i == 0 ? TRUTH : DN_NO_TARGET;
        request.class_weight = i == 1 ? DN_CLASS_WEIGHT_BALANCED : DN_CLASS_WEIGHT_NONE;
        request.curves = i == 2;
        request.folds = i == 3 ? N + 1 : 0;
        request.features.bases = i == 4 ? &fisher : NULL;
        request.features.n_bases = i == 4;
        const dn_status status = dn_train(&request, &run, &r, &err);
        assert_true(status == DN_ERR_ARGUMENT || status == DN_ERR_DATA);
        if (strstr(err.message, rows[i].words) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", rows[i].words, err.message);
        }
    }
    data_done(&d);
}

/* Trains once for each allocation, which fails, and once for each poll for cancellation, which
 * cancels. No training leaks memory. */
static void failures_leak_no_memory(void **state) {
    (void)state;
    struct data d;
    data_init(&d);
    d.request.folds = 2;
    d.request.weighted = true;
    d.request.weight = W;
    bool trained = false;
    for (size_t at = 1; !trained && at < 10000; at++) {
        struct polls polls = {.stop_at = at};
        dn_run run = polls_run(&polls);
        dn_train_result r;
        const dn_status status = dn_train(&d.request, &run, &r, NULL);
        trained = status == DN_OK;
        assert_true(trained || status == DN_ERR_STOPPED);
        if (trained) {
            dn_train_result_done(&r);
        }
    }
    assert_true(trained);
    trained = false;
    for (size_t bytes = 0; !trained && bytes < 1000000; bytes += 64) {
        struct memory memory_left = {.left = bytes};
        dn_allocator allocator = memory_allocator(&memory_left, true);
        dn_run run = dn_run_default();
        dn_train_result r;
        run.allocator = &allocator;
        const dn_status status = dn_train(&d.request, &run, &r, NULL);
        trained = status == DN_OK;
        assert_true(trained || status == DN_ERR_BUDGET);
        if (trained) {
            dn_train_result_done(&r);
        }
        assert_int_equal(memory_left.live, 0);
    }
    assert_true(trained);
    data_done(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_below_are_counted),
        cmocka_unit_test(rows_held_out_are_counted),
        cmocka_unit_test(metrics_from_true_classes),
        cmocka_unit_test(what_needs_classes_is_refused),
        cmocka_unit_test(failures_leak_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
