/* Tests of dn_train: golden numbers, rows in memory and streamed, holdout, refused requests,
 * exhausted memory. */
#include "unit/core/support.h"

static dn_train_result train(const dn_train_request *request, const dn_run *run) {
    dn_train_result result;
    dn_error err = {0};
    if (dn_train(request, run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    return result;
}

/* The text of a detail, or "". */
static const char *text_of(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].text;
        }
    }
    return "";
}

static void golden_through_the_table(void **state) {
    (void)state;
    const char *const names[] = {"iris", "breast_cancer", "digits"};
    json_t *golden = golden_load();
    for (size_t s = 0; s < 3; s++) {
        struct csv *t = csv_named(names[s]);
        struct table *table = table_of(t);
        dn_params *p = params_of("auto", 1e-3);
        dn_train_request request = table_request(t, table, p);
        dn_run run = dn_run_default();
        dn_train_result result = train(&request, &run);
        const json_t *g =
            json_object_get(json_object_get(golden, names[s]), "logistic_l2_0.001_standardized");
        size_t S = t->K == 2 ? 1 : t->K;
        double *w = xcalloc(S * t->d, sizeof *w), *w0 = xcalloc(S, sizeof *w0),
               *m = xcalloc(t->d, sizeof *m), *d = xcalloc(t->d, sizeof *d);
        free(standardised(t->x, t->n, t->d, m, d));
        golden_numbers(json_object_get(g, "w"), w);
        golden_numbers(json_object_get(g, "w0"), w0);
        for (size_t k = 0; k < S; k++) {
            for (size_t j = 0; j < t->d; j++) {
                w[k * t->d + j] /= d[j];
                w0[k] -= w[k * t->d + j] * m[j];
            }
        }
        dn_linear linear;
        assert_true(dn_model_linear(result.model, &linear));
        assert_int_equal(linear.n_scores, S);
        assert_close(linear.w, w, S * t->d, 1e-5);
        assert_close(linear.w0, w0, S, 1e-5);
        assert_near(result.report.objective, json_number_value(json_object_get(g, "objective")),
                    1e-5);
        double accuracy = json_number_value(json_object_get(g, "train_accuracy"));
        assert_true(fabs(result.train->accuracy - accuracy) < 1e-12);
        assert_null(result.validation);
        assert_true(result.n_train == t->n && result.n_skipped == 0 && result.n_validation == 0);
        const dn_classes *classes = dn_model_classes(result.model);
        assert_int_equal(classes->n, t->K);
        for (size_t k = 0; k < t->K; k++) {
            assert_int_equal(dn_model_class_of_text(result.model, t->classes[k],
                                                    strlen(t->classes[k])),
                             k);
        }
        assert_int_equal(dn_model_class_of_text(result.model, "none of them", 12), SIZE_MAX);
        assert_string_equal(dn_model_target(result.model), t->names[t->d]);

        dn_metrics *again; /* evaluating the training table gives the training metrics */
        OK(dn_model_evaluate(result.model, table->source, NULL, &run, &again, NULL));
        assert_true(again->accuracy == result.train->accuracy &&
                    again->log_loss == result.train->log_loss);
        assert_memory_equal(again->confusion, result.train->confusion,
                            t->K * t->K * sizeof(double));
        dn_metrics_free(again);
        free(w);
        free(w0);
        free(m);
        free(d);
        dn_train_result_done(&result);
        dn_params_free(p);
        columns_table_free(table);
        csv_free(t);
    }
    json_decref(golden);
}

/* A budget that is too small for the rows makes them stream. The bytes of the model are the same,
 * with other numbers of slots and groups of blocks too. */
static void streamed_or_in_memory(void **state) {
    (void)state;
    struct csv *t = csv_clouds(21000, 8, 3);
    struct table *table = table_of(t);
    const char *const solvers[] = {"newton", "lbfgs", "sgd"};
    for (size_t s = 0; s < 3; s++) {
        dn_params *p = params_of(solvers[s], 1e-2);
        OK(dn_params_set_number(p, "max_iterations", 6, NULL));
        dn_train_request request = table_request(t, table, p);
        request.holdout = 0.25;
        dn_run run = dn_run_default(), tight = dn_run_default(), grouped = dn_run_default();
        struct memory memory = {.left = 900000}; /* 15,750 × 8 doubles are 1,008,000 bytes */
        dn_allocator allocator = memory_allocator(&memory, true);
        tight.allocator = &allocator;
        grouped.sum = sum_in_ranges;
        grouped.each = each_in_reverse;
        dn_train_result a = train(&request, &run), b = train(&request, &tight),
                        c = train(&request, &grouped);
        assert_string_equal(text_of(&a.report, "rows"), "in memory");
        assert_string_equal(text_of(&b.report, "rows"), "streamed");
        void *bytes[3];
        size_t size[3];
        OK(dn_model_write(a.model, &bytes[0], &size[0], NULL));
        OK(dn_model_write(b.model, &bytes[1], &size[1], NULL));
        OK(dn_model_write(c.model, &bytes[2], &size[2], NULL));
        for (size_t i = 1; i < 3; i++) {
            assert_int_equal(size[i], size[0]);
            assert_memory_equal(bytes[i], bytes[0], size[0]);
        }
        assert_true(a.n_train == 15750 && a.n_validation == 5250);
        assert_true(a.validation->log_loss == b.validation->log_loss &&
                    a.train->log_loss == b.train->log_loss);
        for (size_t i = 0; i < 3; i++) {
            free(bytes[i]);
        }
        dn_train_result_done(&a);
        dn_train_result_done(&b);
        dn_train_result_done(&c);
        assert_int_equal(memory.live, 0);
        dn_params_free(p);
    }
    columns_table_free(table);
    csv_free(t);
}

static void refuses(dn_train_request request, dn_status code, const char *field,
                    const char *words) {
    dn_run run = dn_run_default();
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, false);
    run.allocator = &allocator;
    dn_train_result result;
    dn_error err = {0};
    assert_int_equal(dn_train(&request, &run, &result, &err), code);
    assert_string_equal(err.field, field);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
    assert_int_equal(memory.live, 0);
}

static void refusals(void **state) {
    (void)state;
    enum { N = 6 };
    double x[N] = {1, 2, 3, 4, 5, 6}, missing[N], same[N] = {7, 7, 7, 7, 7, (double)NAN},
           flag[N] = {0, 1, (double)NAN, 1, 0, 1};
    for (size_t i = 0; i < N; i++) {
        missing[i] = (double)NAN;
    }
    const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "missing", .type = DN_NUMERIC},
                                       {.name = "same", .type = DN_NUMERIC},
                                       {.name = "flag", .type = DN_BOOLEAN}};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = N, .number = x},
                                    {.type = DN_NUMERIC, .n_rows = N, .number = missing},
                                    {.type = DN_NUMERIC, .n_rows = N, .number = same},
                                    {.type = DN_BOOLEAN, .n_rows = N, .number = flag}};
    dn_table_source *source;
    OK(dn_table_source_from_columns(columns, views, 4, N, &source, NULL));
    dn_params *p = params_of("auto", 1e-3);
    const size_t inputs[] = {0, 3, 9};
    dn_train_request good = {.source = source,
                             .params = p,
                             .target = 3,
                             .features = {.columns = inputs, .n_columns = 1, .standardize = true}},
                     bad;
    bad = good, bad.target = 1;
    refuses(bad, DN_ERR_DATA, "missing", "no value");
    bad = good, bad.target = 2;
    refuses(bad, DN_ERR_DATA, "same", "one class only");
    bad = good, bad.target = 4;
    refuses(bad, DN_ERR_ARGUMENT, "target", "must be a column of the table");
    bad = good, bad.features.n_columns = 0;
    refuses(bad, DN_ERR_ARGUMENT, "inputs", "at least one");
    bad = good, bad.features.n_columns = 2;
    refuses(bad, DN_ERR_ARGUMENT, "flag", "must not be an input");
    bad = good, bad.features.columns = inputs + 2;
    refuses(bad, DN_ERR_ARGUMENT, "inputs", "must be a column of the table");
    bad = good, bad.holdout = 1;
    refuses(bad, DN_ERR_ARGUMENT, "", "holdout");
    bad = good, bad.target = 0, bad.features.columns = inputs + 1, bad.max_classes = 3;
    refuses(bad, DN_ERR_DATA, "x", "more than 3 classes");

    dn_run run = dn_run_default();
    dn_train_result result = train(&good, &run);
    assert_int_equal(result.n_skipped, 1);
    assert_int_equal(dn_model_class_of_number(result.model, 1), 1);
    assert_int_equal(dn_model_class_of_number(result.model, 0.5), SIZE_MAX);
    const dn_classes *classes = dn_model_classes(result.model);
    assert_memory_equal(classes->names.bytes, "falsetrue", 9);

    /* Evaluation refuses a table with another target column or without a class of the model. */
    dn_metrics *metrics;
    dn_error err = {0};
    const dn_table_column renamed[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "y", .type = DN_BOOLEAN}},
                          numeric[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "flag", .type = DN_NUMERIC}};
    const dn_column_view pair[] = {views[0], views[3]}, numbers[] = {views[0], views[0]};
    dn_table_source *other;
    OK(dn_table_source_from_columns(renamed, pair, 2, N, &other, NULL));
    assert_int_equal(dn_model_evaluate(result.model, other, NULL, &run, &metrics, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.field, "flag");
    dn_table_source_free(other);
    OK(dn_table_source_from_columns(numeric, numbers, 2, N, &other, NULL));
    dn_error_clear(&err);
    assert_int_equal(dn_model_evaluate(result.model, other, NULL, &run, &metrics, &err),
                     DN_ERR_DATA);
    assert_string_equal(err.field, "flag");
    dn_table_source_free(other);
    dn_train_result_done(&result);
    dn_params_free(p);
    dn_table_source_free(source);
}

/* Numeric classes are in ascending order of value, not of text; −0 is 0. A class that the model
 * does not have is refused with its row. */
static void numeric_classes(void **state) {
    (void)state;
    enum { N = 8 };
    const double x[N] = {1, 2, 3, 4, 5, 6, 7, 8}, y[N] = {10, 9, -1, -0.0, 0, 10, 9, 2.5},
                 z[N] = {10, 9, -1, 0, 0, 10, (double)NAN, 11};
    const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "y", .type = DN_NUMERIC}};
    dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = N, .number = x},
                              {.type = DN_NUMERIC, .n_rows = N, .number = y}};
    dn_table_source *source;
    OK(dn_table_source_from_columns(columns, views, 2, N, &source, NULL));
    dn_params *p = params_of("auto", 1e-2);
    const size_t inputs[] = {0};
    dn_train_request request = {.source = source,
                                .params = p,
                                .target = 1,
                                .features = {.columns = inputs, .n_columns = 1}};
    dn_run run = dn_run_default();
    dn_train_result result = train(&request, &run);
    const double expected[] = {-1, 0, 2.5, 9, 10};
    const dn_classes *classes = dn_model_classes(result.model);
    assert_int_equal(classes->n, 5);
    assert_memory_equal(classes->number, expected, sizeof expected);
    assert_memory_equal(classes->names.bytes, "-102.5910", 9);
    assert_int_equal(dn_model_class_of_number(result.model, 9), 3);
    assert_int_equal(dn_model_class_of_text(result.model, "9", 1), SIZE_MAX);
    views[1].number = z;
    dn_table_source *other;
    dn_metrics *metrics;
    dn_error err = {0};
    OK(dn_table_source_from_columns(columns, views, 2, N, &other, NULL));
    assert_int_equal(dn_model_evaluate(result.model, other, NULL, &run, &metrics, &err),
                     DN_ERR_DATA);
    assert_int_equal(err.row, 7);
    assert_non_null(strstr(err.message, "\"11\""));
    dn_table_source_free(other);
    dn_train_result_done(&result);
    dn_params_free(p);
    dn_table_source_free(source);
}

static void memory_runs_out(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 3);
    struct table *table = table_of(t);
    dn_params *p = params_of("auto", 1e-2);
    dn_train_request request = table_request(t, table, p);
    request.holdout = 0.3;
    size_t failures = 0;
    for (size_t k = 1;; k++) {
        struct memory memory = {.fail_at = k, .left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_train_result result;
        dn_error err = {0};
        dn_status status = dn_train(&request, &run, &result, &err);
        if (status == DN_OK) {
            dn_train_result_done(&result);
        } else {
            assert_true(status == DN_ERR_BUDGET && err.message[0] != '\0');
        }
        assert_int_equal(memory.live, 0);
        failures += status != DN_OK;
        if (memory.count < k) {
            break;
        }
    }
    assert_true(failures > 10);
    assert_true(dn_train_memory(&request, 60, 3, 3, 1) > 60 * 9);
    columns_table_free(table);
    dn_params_free(p);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_through_the_table),
        cmocka_unit_test(streamed_or_in_memory),
        cmocka_unit_test(refusals),
        cmocka_unit_test(numeric_classes),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
