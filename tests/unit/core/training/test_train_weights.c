/* Tests of weights of rows and classes. A row of weight 2 equals two rows. Class weights affect the
 * fit, but not the metrics. Invalid weights are refused. */
#include "unit/core/support.h"

static dn_train_result train(const dn_train_request *request) {
    dn_run run = dn_run_default();
    dn_train_result result;
    dn_error err = {0};
    if (dn_train(request, &run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    return result;
}

/* The rows of csv_clouds, with the last numeric column as the weight. */
struct weighted_table {
    struct csv *t;
    struct table *table;
};

static struct weighted_table weighed_of(struct csv *t) {
    return (struct weighted_table){t, table_of(t)};
}

static void weighed_free(struct weighted_table *w) {
    columns_table_free(w->table);
    csv_free(w->t);
}

static dn_train_request request_of(const struct weighted_table *w, const dn_params *p,
                                   bool weighted) {
    dn_train_request request = table_request(w->t, w->table, p);
    request.features.n_columns = w->t->d - 1;
    request.weighted = weighted;
    request.weight = w->t->d - 1;
    return request;
}

static void assert_same_model(const dn_model *a, const dn_model *b, double tolerance) {
    dn_linear u, v;
    assert_true(dn_model_linear(a, &u) && dn_model_linear(b, &v));
    assert_int_equal(u.n_scores, v.n_scores);
    assert_close(u.w, v.w, u.n_scores * u.n_features, tolerance);
    assert_close(u.w0, v.w0, u.n_scores, tolerance);
}

static dn_params *exact_params(double lambda) {
    dn_params *p = params_of("newton", lambda);
    OK(dn_params_set_number(p, "tolerance", 1e-12, NULL));
    return p;
}

/* Rows with weights 0 … 3, and the same rows repeated 0 … 3 times, give the same model and metrics,
 * also with a weighted validation table. */
static void weights_are_copies(void **state) {
    (void)state;
    const double lambda[] = {1e-3, 1e-1};
    for (size_t K = 2; K <= 4; K += 2) {
        for (size_t l = 0; l < 2; l++) {
            struct csv *once = csv_clouds(300, 4, K), *twice = csv_clouds(600, 4, K);
            size_t n = 0;
            for (size_t i = 0; i < once->n; i++) {
                size_t copies = i * 5 % 7 % 4;
                once->x[i * 4 + 3] = (double)copies;
                for (size_t c = 0; c < copies && n < twice->n; c++, n++) {
                    memcpy(twice->x + 4 * n, once->x + 4 * i, 4 * sizeof(double));
                    twice->target[n] = once->target[i];
                }
            }
            for (size_t i = n; i < twice->n; i++) { /* csv_free frees the labels of n rows only */
                free(twice->labels[i]);
            }
            twice->n = n;
            struct weighted_table a = weighed_of(once), b = weighed_of(twice);
            dn_params *p = exact_params(lambda[l]);
            dn_train_request weighted = request_of(&a, p, true), copied = request_of(&b, p, false);
            weighted.validation = a.table->source;
            dn_train_result u = train(&weighted), v = train(&copied);
            assert_same_model(u.model, v.model, 1e-9);
            assert_near(u.report.objective, v.report.objective, 1e-9);
            for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
                assert_near(dn_metric_value(u.train, i), dn_metric_value(v.train, i), 1e-9);
                assert_near(dn_metric_value(u.validation, i), dn_metric_value(v.train, i), 1e-9);
            }
            assert_memory_equal(u.train->confusion, v.train->confusion, K * K * sizeof(double));
            size_t zeros = 0;
            for (size_t i = 0; i < once->n; i++) {
                zeros += once->x[i * 4 + 3] == 0;
            }
            assert_true(zeros > 30 && u.n_skipped == zeros && u.n_train == once->n - zeros &&
                        u.train->rows == (double)u.n_train);
            assert_true(u.train->weight == (double)n);
            dn_train_result_done(&u);
            dn_train_result_done(&v);
            dn_params_free(p);
            weighed_free(&a);
            weighed_free(&b);
        }
    }
}

/* Class weights equal the same factors in a weight column. Metrics ignore class weights. */
static void class_weights_are_weights(void **state) {
    (void)state;
    const double given[] = {0.5, 3, 1};
    for (size_t way = 0; way < 3;
         way++) { /* 0: balanced class weights; 1: given ones; 2: given ones and row weights */
        struct csv *plain = csv_clouds(400, 4, 3), *explicit = csv_clouds(400, 4, 3);
        double count[3] = {0}, total = 0;
        for (size_t i = 0; i < plain->n; i++) {
            if (plain->target[i] == 2 && i % 5 != 0) {
                plain->target[i] = explicit->target[i] = 0; /* classes of different size */
            }
            plain->x[i * 4 + 3] = way == 2 ? 1 + (double)(i % 3) : 1;
            count[(size_t)plain->target[i]] += 1;
            total += 1;
        }
        for (size_t i = 0; i < plain->n; i++) {
            size_t k = (size_t)plain->target[i];
            explicit->x[i * 4 + 3] =
                plain->x[i * 4 + 3] * (way == 0 ? total / (3 * count[k]) : given[k]);
        }
        struct weighted_table a = weighed_of(plain), b = weighed_of(explicit);
        dn_params *p = exact_params(1e-2);
        dn_train_request by_class = request_of(&a, p, way == 2), by_row = request_of(&b, p, true);
        by_class.class_weight = way == 0 ? DN_CLASS_WEIGHT_BALANCED : DN_CLASS_WEIGHT_GIVEN;
        by_class.class_weights = given;
        by_class.n_class_weights = 3;
        dn_train_result u = train(&by_class), v = train(&by_row);
        assert_same_model(u.model, v.model, 1e-12);
        assert_near(u.report.objective, v.report.objective, 1e-12);
        dn_run run = dn_run_default();
        dn_metrics *m; /* the model's metrics by the rows' own weights */
        const dn_evaluate_options options = {.weight = way == 2 ? plain->names[3] : NULL};
        OK(dn_model_evaluate(u.model, a.table->source, &options, &run, &m, NULL));
        for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
            assert_true(dn_metric_value(m, i) == dn_metric_value(u.train, i));
        }
        assert_true(fabs(u.train->log_loss - v.train->log_loss) > 1e-4);
        dn_metrics_free(m);
        dn_train_result_done(&u);
        dn_train_result_done(&v);
        dn_params_free(p);
        weighed_free(&a);
        weighed_free(&b);
    }
}

/* Held-out rows have their weights. Balanced class weights are computed from the training rows. */
static void held_out(void **state) {
    (void)state;
    struct csv *t = csv_clouds(500, 4, 3);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 4 + 3] = (double)(i % 5);
    }
    struct weighted_table w = weighed_of(t);
    dn_params *p = exact_params(1e-2);
    dn_train_request request = request_of(&w, p, true);
    request.holdout = 0.3;
    request.class_weight = DN_CLASS_WEIGHT_BALANCED;
    request.curves = true;
    dn_train_result r = train(&request);
    assert_true(r.n_train + r.n_validation == 400 && r.n_skipped == 100);
    assert_true(r.train->weight + r.validation->weight == 1000 &&
                r.validation->weight > (double)r.n_validation);
    assert_true(r.train->rows == (double)r.n_train && r.validation->rows == (double)r.n_validation);
    assert_true(r.train->curves != NULL && r.validation->curves != NULL &&
                r.train->curves->n_curves == 3);
    dn_train_result_done(&r);
    dn_params_free(p);
    weighed_free(&w);
}

/* ---- evaluation ---- */
/* Evaluations of a table and of its raw rows give the same metrics, with weights and curves. */
static void raw_rows(void **state) {
    (void)state;
    const char *const ways[] = {"softmax", "one_vs_rest", "one_vs_rest_strict", "one_vs_one"};
    struct csv *t = csv_clouds(700, 4, 3);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 4 + 3] = (double)(i % 5) / 2;
    }
    struct weighted_table w = weighed_of(t);
    double *raw = xcalloc(t->n * 3, sizeof *raw), *v = xcalloc(t->n, sizeof *v);
    size_t *truth = xcalloc(t->n, sizeof *truth);
    for (size_t i = 0; i < t->n; i++) {
        memcpy(raw + 3 * i, t->x + 4 * i, 3 * sizeof *raw);
        v[i] = t->x[4 * i + 3];
        truth[i] = (size_t)t->target[i];
    }
    for (size_t way = 0; way < 4; way++) {
        dn_params *p = params_of("auto", 1e-2);
        OK(dn_params_set_word(p, "multiclass", ways[way], NULL));
        dn_train_request request = request_of(&w, p, true);
        dn_train_result r = train(&request);
        dn_run run = dn_run_default();
        const dn_evaluate_options options = {.weight = t->names[3], .curves = true};
        const dn_labelled_rows rows = {.raw = dn_raw_numbers(raw, t->n),
                                       .truth = truth,
                                       .weight = v};
        dn_metrics *a, *b;
        OK(dn_model_evaluate(r.model, w.table->source, &options, &run, &a, NULL));
        OK(dn_model_evaluate_raw(r.model, &rows, true, &run, &b, NULL));
        for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
            double x = dn_metric_value(a, i), y = dn_metric_value(b, i);
            assert_true((isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * fabs(x));
        }
        assert_true(isnan(a->hinge) == (way == 3)); /* one versus one has no class scores */
        assert_true(!isnan(a->roc_auc) && !isnan(a->log_loss) && a->weight > 600 &&
                    a->curves->n_curves == 3);
        assert_true((a->ambiguous > 0) == (way == 2));
        assert_memory_equal(a->confusion, b->confusion, 9 * sizeof(double));
        dn_metrics_free(a);
        dn_metrics_free(b);
        dn_train_result_done(&r);
        dn_params_free(p);
    }
    free(raw);
    free(v);
    free(truth);
    weighed_free(&w);
}

/* ---- what is refused ---- */
static void refuses(const dn_train_request *request, dn_status code, const char *field, int64_t row,
                    const char *words) {
    dn_run run = dn_run_default();
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, false);
    run.allocator = &allocator;
    dn_train_result result;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_train(request, &run, &result, &err), code);
    assert_string_equal(err.field, field);
    assert_int_equal(err.row, row);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
    assert_int_equal(memory.live, 0);
}

/* x3 is the weight column of sixty rows in three classes. */
static void bad_weights(void **state) {
    (void)state;
    const struct {
        double weight;
        const char *words;
    } bad[] = {{(double)NAN, "row 17: the weight is missing"},
               {-0.5, "row 17: a weight must be a finite number >= 0 (got -0.5)"},
               {(double)INFINITY, "row 17: a weight must be a finite number"},
               {9e-101, "row 17: a weight must be 0 or from 1e-100 to 1e100 (got 9e-101)"},
               {1e300, "row 17: a weight must be 0 or from 1e-100 to 1e100 (got 1e300)"}};
    dn_params *p = exact_params(1e-2);
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        struct csv *t = csv_clouds(60, 4, 3);
        for (size_t i = 0; i < t->n; i++) {
            t->x[i * 4 + 3] = i == 17 ? bad[b].weight : 1;
        }
        struct weighted_table w = weighed_of(t);
        dn_train_request request = request_of(&w, p, true);
        refuses(&request, DN_ERR_DATA, "x3", 17, bad[b].words);
        weighed_free(&w);
    }
    for (size_t way = 0; way < 2; way++) {
        struct csv *t = csv_clouds(60, 4, 3);
        for (size_t i = 0; i < t->n; i++) {
            t->x[i * 4 + 3] = way == 0 || t->target[i] == 1 ? 0 : 1;
        }
        struct weighted_table w = weighed_of(t);
        dn_train_request request = request_of(&w, p, true);
        refuses(&request, DN_ERR_DATA, "x3", -1,
                way == 0 ? "is 0 in all rows" : "class \"c01\" has no row with a weight above 0");
        weighed_free(&w);
    }
    dn_params_free(p);
}

/* Multiplying all weights by a factor of the allowed range changes neither model nor metrics, for
 * every solver. */
static void ends_of_the_range(void **state) {
    (void)state;
    const double sizes[] = {1, 1e-100, 1e100};
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    for (size_t s = 0; s < 4; s++) {
        dn_train_result r[3];
        for (size_t i = 0; i < 3; i++) {
            struct csv *t = csv_clouds(300, 4, 2);
            for (size_t row = 0; row < t->n; row++) {
                t->x[row * 4 + 3] = sizes[i];
            }
            struct weighted_table w = weighed_of(t);
            dn_params *p = params_of(solvers[s], 1e-2);
            dn_train_request request = request_of(&w, p, true);
            r[i] = train(&request);
            dn_params_free(p);
            weighed_free(&w);
        }
        for (size_t i = 1; i < 3; i++) {
            assert_same_model(r[0].model, r[i].model, 1e-6);
            assert_true(!isnan(r[i].train->mcc) && r[i].train->roc_auc > 0.5);
            assert_near(r[i].train->mcc, r[0].train->mcc, 1e-9);
            assert_near(r[i].train->roc_auc, r[0].train->roc_auc, 1e-9);
            assert_near(r[i].train->log_loss, r[0].train->log_loss, 1e-6);
        }
        for (size_t i = 0; i < 3; i++) {
            dn_train_result_done(&r[i]);
        }
    }
}

static void bad_requests(void **state) {
    (void)state;
    const double given[] = {1, 2, 3}, zero[] = {1, 0, 1}, negative[] = {1, -1, 1},
                 outside[] = {1, 1e-101, 1}, tiny[] = {1, 1e-60, 1};
    struct csv *t = csv_clouds(60, 4, 3);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 4 + 3] = 1e-50;
    }
    struct weighted_table w = weighed_of(t);
    dn_params *p = exact_params(1e-2);
    const dn_train_request good = request_of(&w, p, true);
    dn_train_request bad = good;
    bad.weight = 9;
    refuses(&bad, DN_ERR_ARGUMENT, "weight", -1, "must be a column of the table");
    bad.weight = 4;
    refuses(&bad, DN_ERR_ARGUMENT, "class", -1, "the target must not be the weight column");
    bad = good, bad.features.n_columns = 4;
    refuses(&bad, DN_ERR_ARGUMENT, "x3", -1, "the weight column must not be an input");
    bad = good, bad.target = 0, bad.features.columns = w.table->inputs + 1,
    bad.features.n_columns = 2, bad.weight = 4;
    bad.max_classes = 60;
    refuses(&bad, DN_ERR_DATA, "class", -1, "must be numeric");
    bad = good, bad.class_weight = DN_CLASS_WEIGHT_GIVEN, bad.class_weights = given,
    bad.n_class_weights = 2;
    refuses(&bad, DN_ERR_ARGUMENT, "class_weight", -1, "2 class weights for 3 classes");
    bad.n_class_weights = 3, bad.class_weights = zero;
    refuses(&bad, DN_ERR_DATA, "class_weight", -1, "class \"c01\" has class weight 0");
    bad.class_weights = negative;
    refuses(&bad, DN_ERR_ARGUMENT, "class_weight", -1, "(got -1)");
    bad.class_weights = outside;
    refuses(&bad, DN_ERR_DATA, "class_weight", -1,
            "the weight of class \"c01\" must be from 1e-100 to 1e100 (got 1e-101)");
    int64_t row = 0; /* the first row of the class */
    while (t->target[row] != 1) {
        row++;
    }
    bad.class_weights = tiny;
    refuses(
        &bad, DN_ERR_DATA, "class_weight", row,
        "its weight 1e-50 times the weight 1e-60 of class \"c01\" must be from 1e-100 to 1e100");
    dn_params_free(p);
    weighed_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_copies), cmocka_unit_test(class_weights_are_weights),
        cmocka_unit_test(held_out),           cmocka_unit_test(raw_rows),
        cmocka_unit_test(bad_weights),        cmocka_unit_test(bad_requests),
        cmocka_unit_test(ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
