/* Tests of basis functions in a model. They make classes linearly separable. Predictions from raw
 * rows equal predictions from encoded rows. */
#include "unit/core/support.h"

#define N_SCORES_MAX 8

/* Trains logistic regression with lambda = `penalty` and bases over all columns of t. */
static dn_train_result train(const struct csv *t, const dn_encoder_spec *options, double penalty,
                             const dn_run *run) {
    struct table *table = table_of(t);
    dn_params *params;
    dn_train_result result = {0};
    dn_error err = {0};
    OK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL));
    OK(dn_params_set_number(params, "lambda", penalty, NULL));
    OK(dn_params_check(params, NULL));
    dn_train_request request = table_request(t, table, params);
    const size_t *columns = request.features.columns;
    request.features = *options;
    request.features.columns = columns;
    request.features.n_columns = t->d;
    if (dn_train(&request, run, &result, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    dn_params_free(params);
    columns_table_free(table);
    return result;
}

/* Returns the number of rows of t that the model classifies correctly. */
static size_t n_correct(const struct csv *t, const dn_model *model) {
    double *work = xcalloc(dn_model_workspace(model), sizeof *work);
    size_t n = 0, label;
    for (size_t i = 0; i < t->n; i++) {
        dn_model_predict(model, dn_raw_numbers(t->x + i * t->d, 1), work,
                         &(dn_prediction){.label = &label});
        n += label == (size_t)t->target[i];
    }
    free(work);
    return n;
}

/* n points in the plane with labels 0 and 1. */
static struct csv *plane(size_t n) {
    struct csv *t = xcalloc(1, sizeof *t);
    t->n = n;
    t->d = 2;
    t->names = xcalloc(3, sizeof *t->names);
    t->x = xcalloc(2 * n, sizeof *t->x);
    t->labels = xcalloc(n, sizeof *t->labels);
    t->names[0] = csv_copy("x1");
    t->names[1] = csv_copy("x2");
    t->names[2] = csv_copy("class");
    return t;
}

static void exclusive_or(void **unused) {
    (void)unused;
    static const double points[] = {0, 0, 1, 1};
    struct csv *t = plane(4);
    for (size_t i = 0; i < 4; i++) {
        t->x[2 * i] = (double)(i / 2);
        t->x[2 * i + 1] = (double)(i % 2);
        t->labels[i] = csv_copy(i / 2 == i % 2 ? "0" : "1");
    }
    csv_classify(t);
    dn_run run = dn_run_default();
    dn_basis_spec basis = {.kind = DN_BASIS_DISTANCE, .points = points, .n_points = 2};
    dn_train_result plain = train(t, &(dn_encoder_spec){0}, 1e-4, &run);
    dn_train_result mapped =
        train(t, &(dn_encoder_spec){.bases = &basis, .n_bases = 1}, 1e-4, &run);
    assert_true(n_correct(t, plain.model) <= 3);
    assert_int_equal(n_correct(t, mapped.model), 4);
    dn_linear linear;
    assert_true(dn_model_linear(mapped.model, &linear));
    assert_int_equal(linear.n_features, 2);
    assert_near(linear.w[0], linear.w[1],
                1e-6); /* both features have the same weight by symmetry */
    dn_train_result_done(&plain);
    dn_train_result_done(&mapped);
    csv_free(t);
}

/* A disc within a ring: two Gaussian functions separate them, a line does not. */
static void ring(void **unused) {
    (void)unused;
    static const double points[] = {0, 0, 3, 0};
    struct csv *t = plane(200);
    for (size_t i = 0; i < 200; i++) {
        bool outer = i % 2 == 1;
        double angle = 0.1 * (double)i, radius = outer ? 3 + 0.004 * (double)i : 0.005 * (double)i;
        t->x[2 * i] = radius * cos(angle);
        t->x[2 * i + 1] = radius * sin(angle);
        t->labels[i] = csv_copy(outer ? "1" : "0");
    }
    csv_classify(t);
    dn_run run = dn_run_default();
    dn_basis_spec basis = {.kind = DN_BASIS_GAUSSIAN,
                           .points = points,
                           .n_points = 2,
                           .width = 1.5};
    dn_train_result plain = train(t, &(dn_encoder_spec){.standardize = true}, 1e-5, &run);
    dn_train_result mapped =
        train(t, &(dn_encoder_spec){.standardize = true, .bases = &basis, .n_bases = 1}, 1e-5,
              &run);
    assert_true(n_correct(t, plain.model) < 150);
    assert_int_equal(n_correct(t, mapped.model), 200);
    dn_train_result_done(&plain);
    dn_train_result_done(&mapped);
    csv_free(t);
}

/* ---- scores of raw rows and of encoded rows ---- */
/* Checks that the scores of n raw rows are W x + w0, where x are the standardised features of the
 * row and W their weights. */
static void check_scores(const dn_model *model, const double *raw, size_t n) {
    const dn_encoder *encoder = dn_model_encoder(model);
    size_t d = dn_encoder_n_features(encoder), p = dn_encoder_n_inputs(encoder),
           S = dn_model_n_scores(model);
    double *work = xcalloc(dn_model_workspace(model), sizeof *work), *x = xcalloc(d, sizeof *x),
           *parts = xcalloc(S * d, sizeof *parts);
    const double *mean = dn_encoder_mean(encoder), *scale = dn_encoder_scale(encoder);
    dn_linear linear;
    assert_true(dn_model_linear(model, &linear) && linear.n_features == d && S <= N_SCORES_MAX);
    for (size_t i = 0; i < n; i++) {
        double got[N_SCORES_MAX], alone[N_SCORES_MAX], want[N_SCORES_MAX];
        dn_encoder_apply(encoder, dn_raw_numbers(raw + i * p, 1), x);
        dn_model_predict(model, dn_raw_numbers(raw + i * p, 1), work,
                         &(dn_prediction){.scores = got, .contributions = parts});
        dn_model_predict(model, dn_raw_numbers(raw + i * p, 1), work,
                         &(dn_prediction){.scores = alone});
        assert_memory_equal(got, alone, S * sizeof *got);
        double size = 1;
        for (size_t k = 0; k < S; k++) {
            double sum = linear.w0[k];
            want[k] = linear.w0[k];
            for (size_t j = 0; j < d; j++) {
                want[k] += linear.w[k * d + j] * (scale == NULL ? x[j] : x[j] * scale[j] + mean[j]);
                sum += parts[k * d + j];
                size = fmax(size, fabs(parts[k * d + j]));
            }
            assert_true(fabs(sum - want[k]) <= 1e-11 * size &&
                        fabs(got[k] - want[k]) <= 1e-11 * size);
        }
    }
    free(work);
    free(x);
    free(parts);
}

static void predicts_from_raw_rows(void **unused) {
    (void)unused;
    struct csv *t = csv_named("iris");
    static const size_t two[] = {1, 3};
    const dn_basis_spec bases[] = {{.kind = DN_BASIS_POLYNOMIAL,
                                    .columns = two,
                                    .n_columns = 2,
                                    .degree = 3,
                                    .interactions = true},
                                   {.kind = DN_BASIS_GAUSSIAN, .standardize = true, .n_points = 4},
                                   {.kind = DN_BASIS_FISHER, .keep = true}};
    dn_run run = dn_run_default();
    for (size_t i = 0; i < t->n; i += 7) {
        t->x[i * t->d + i % t->d] = (double)NAN;
    }
    for (size_t n_bases = 0; n_bases <= 3; n_bases++) {
        for (int indicator = 0; indicator < 2; indicator++) {
            dn_train_result result = train(t,
                                           &(dn_encoder_spec){.standardize = true,
                                                              .missing_indicator = indicator == 1,
                                                              .bases = bases,
                                                              .n_bases = n_bases},
                                           1e-3, &run);
            check_scores(result.model, t->x, t->n);
            assert_true(n_correct(t, result.model) > 135);
            assert_int_equal(n_correct(t, result.model),
                             (size_t)(result.train->accuracy * (double)t->n +
                                      0.5)); /* metrics of the training rows, which are encoded */
            void *bytes;
            size_t size;
            dn_model *back;
            OK(dn_model_write(result.model, &bytes, &size, NULL));
            OK(dn_model_read(bytes, size, &back, NULL));
            double *work = xcalloc(dn_model_workspace(back), sizeof *work), a[N_SCORES_MAX],
                   b[N_SCORES_MAX];
            for (size_t i = 0; i < t->n; i++) {
                dn_model_predict(result.model, dn_raw_numbers(t->x + i * t->d, 1), work,
                                 &(dn_prediction){.scores = a});
                dn_model_predict(back, dn_raw_numbers(t->x + i * t->d, 1), work,
                                 &(dn_prediction){.scores = b});
                assert_memory_equal(a, b, 3 * sizeof *a);
            }
            free(work);
            free(bytes);
            dn_model_unref(back);
            dn_train_result_done(&result);
        }
    }
    csv_free(t);
}

/* Categorical inputs with and without a feature for the first level; missing and unseen levels.
 * Without a penalty, dropping the first level does not change predictions. */
static void predicts_from_categories(void **unused) {
    (void)unused;
    enum { N = 300 };
    static const uint32_t start[] = {0, 1, 2, 3}, binary[] = {0, 2, 5};
    double number[N];
    uint32_t code[N], label[N];
    for (size_t i = 0; i < N; i++) {
        number[i] = (double)(i * 37 % 101) / 50;
        code[i] = i % 17 == 0 ? DN_CODE_MISSING : (uint32_t)(i * i % 7 % 3);
        label[i] = (i * 31 % 10) < 3 + 2 * (code[i] % 3) ? 1 : 0;
    }
    const dn_table_column columns[] = {{.name = "number", .type = DN_NUMERIC},
                                       {.name = "letter", .type = DN_CATEGORICAL},
                                       {.name = "class", .type = DN_CATEGORICAL}};
    const dn_column_view views[] = {
        {.type = DN_NUMERIC, .n_rows = N, .number = number},
        {.type = DN_CATEGORICAL, .n_rows = N, .code = code, .strings = {3, start, "abc"}},
        {.type = DN_CATEGORICAL, .n_rows = N, .code = label, .strings = {2, binary, "noyes"}}};
    dn_table_source *source;
    OK(dn_table_source_from_columns(columns, views, 3, N, &source, NULL));
    static const size_t inputs[] = {1, 0};
    const double nan = (double)NAN, raw[] = {0, 1, 1, 1, 2, nan, nan, 1, DN_UNSEEN, 0.5};
    double scores[2][5];
    dn_params *params;
    OK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL));
    assert_false(dn_params_drops_first(params));
    OK(dn_params_set_number(params, "lambda", 0, NULL));
    assert_true(dn_params_drops_first(params));
    for (int drop = 0; drop < 2; drop++) {
        dn_train_request request = {.source = source,
                                    .params = params,
                                    .target = 2,
                                    .features = {.columns = inputs,
                                                 .n_columns = 2,
                                                 .standardize = true,
                                                 .categorical = drop ? DN_DROP_FIRST : DN_ONE_HOT,
                                                 .unseen = DN_UNSEEN_FREQUENT}};
        dn_run run = dn_run_default();
        dn_train_result result = {0};
        OK(dn_train(&request, &run, &result, NULL));
        double *work = xcalloc(dn_model_workspace(result.model), sizeof *work);
        check_scores(result.model, raw, 5);
        dn_model_predict(result.model, dn_raw_numbers(raw, 5), work,
                         &(dn_prediction){.scores = scores[drop]});
        char dropped[16];
        assert_int_equal(dn_encoder_dropped_level(dn_model_encoder(result.model), 0, dropped,
                                                  sizeof dropped),
                         drop ? 8 : 0);
        assert_string_equal(dropped, drop ? "letter=a" : "");
        assert_int_equal(dn_encoder_n_features(dn_model_encoder(result.model)), drop ? 4 : 5);
        free(work);
        dn_train_result_done(&result);
    }
    assert_close(scores[0], scores[1], 5, 1e-6);
    dn_params_free(params);
    dn_table_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_or),
        cmocka_unit_test(ring),
        cmocka_unit_test(predicts_from_raw_rows),
        cmocka_unit_test(predicts_from_categories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
