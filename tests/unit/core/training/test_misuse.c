/* Misuse of the public functions: NULL where it is not allowed, indices out of range, results that
 * a model does not have, structs of another version. Each call returns an error status, or an
 * empty result if the function returns no status. No call ends the program. */
#include "../support.h"

enum { N = 40, D = 2 };

static double x[N * D], y[N];

static dn_model *fit(const char *method) {
    dn_model *model = NULL;
    for (size_t i = 0; i < N; i++) {
        y[i] = (double)(i % 2);
        x[i * D] = (double)i;
        x[i * D + 1] = y[i] * 3 + (double)(i % 5) / 4;
    }
    OK(dn_fit(x, N, D, y, method, NULL, NULL, &model, NULL));
    return model;
}

#define ARGUMENT(call) assert_int_equal((call), DN_ERR_ARGUMENT)

static void null_arguments_are_refused(void **state) {
    (void)state;
    dn_model *model = fit("logistic");
    dn_params *params = NULL;
    dn_train_result result = {0};
    dn_metrics *metrics = NULL;
    dn_table_source *source = NULL;
    void *bytes = NULL;
    size_t size = 0;
    ARGUMENT(dn_train(NULL, NULL, &result, NULL));
    ARGUMENT(dn_train(&(dn_train_request){0}, NULL, &result, NULL));
    ARGUMENT(dn_params_new(NULL, &params, NULL));
    ARGUMENT(dn_params_new(dn_algorithm_at(0), NULL, NULL));
    ARGUMENT(dn_params_copy(NULL, &params, NULL));
    ARGUMENT(dn_params_set_number(NULL, "lambda", 1, NULL));
    ARGUMENT(dn_params_set_words(NULL, "lambda=1", NULL));
    ARGUMENT(dn_model_write(NULL, &bytes, &size, NULL));
    ARGUMENT(dn_model_write(model, NULL, &size, NULL));
    ARGUMENT(dn_model_read(NULL, 10, &model, NULL));
    ARGUMENT(dn_model_read("", 1, NULL, NULL));
    ARGUMENT(dn_model_evaluate(model, NULL, NULL, NULL, &metrics, NULL));
    ARGUMENT(dn_model_evaluate_raw(model, NULL, false, NULL, &metrics, NULL));
    ARGUMENT(dn_metrics_new(NULL, &metrics, NULL));
    ARGUMENT(dn_table_source_from_columns(NULL, NULL, 1, 1, &source, NULL));
    OK(dn_table_source_from_columns(NULL, NULL, 0, 1, &source,
                                    NULL)); /* no columns: NULL allowed */
    dn_table_source_free(source);
    dn_error err;
    dn_error_clear(&err);
    OK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL));
    ARGUMENT(dn_params_set_word(params, "penalty", NULL, &err));
    assert_string_equal(err.message, "word must not be NULL");
    ARGUMENT(dn_params_set_list(params, "priors", NULL, 2, NULL));
    dn_params_free(params);
    dn_model_unref(model);
}

static void indexes_out_of_range_have_empty_results(void **state) {
    (void)state;
    dn_model *model = fit("logistic");
    const dn_encoder *encoder = dn_model_encoder(model);
    const double *idf;
    size_t n = 7;
    char name[8] = "kept";
    assert_null(dn_algorithm_at(dn_algorithm_count()));
    assert_null(dn_model_machine(model, dn_model_n_machines(model)));
    assert_null(dn_encoder_input(encoder, D));
    assert_int_equal(dn_encoder_feature_name(encoder, D, name, sizeof name), 0);
    assert_string_equal(name, "");
    assert_int_equal(dn_encoder_dropped_level(encoder, D, name, sizeof name), 0);
    assert_float_equal(dn_encoder_level(encoder, D, "a", 1), DN_UNSEEN, 0);
    assert_int_equal(dn_encoder_words(encoder, D, &idf).n, 0);
    assert_null(idf);
    assert_int_equal(dn_encoder_sparse_feature(encoder, 0, 0), SIZE_MAX);
    ARGUMENT(dn_encoder_text(encoder, 0, "a", 1, NULL, NULL, NULL, NULL, NULL));
    assert_null(dn_metric_name(1000));
    const dn_params *params = dn_model_params(model);
    assert_true(isnan(dn_params_number(params, "no such")));
    assert_false(dn_params_boolean(params, "no such"));
    assert_null(dn_params_word(params, "no such"));
    assert_null(dn_params_list(params, "no such", &n));
    assert_int_equal(n, 0);
    const dn_matrix m = dn_matrix_rows(dn_matrix_dense(x, N, D), N - 1, 5);
    assert_int_equal(m.n_rows, 1);
    assert_int_equal(dn_matrix_rows(m, 3, 1).n_rows, 0);
    dn_rows *rows;
    dn_block block;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), NULL, NULL, &rows, NULL));
    ARGUMENT(dn_rows_block(rows, 1, 0, &block, NULL));
    ARGUMENT(dn_rows_piece(rows, 0, 1, 0, &block, NULL));
    dn_rows_free(rows);
    dn_model_unref(model);
}

static void results_that_a_model_does_not_have_are_nan(void **state) {
    (void)state;
    dn_model *model = fit("perceptron");
    double p[2 * N], density[N], of_class[2 * N], posterior[2 * N],
        *work = xcalloc(dn_model_workspace(model) + 1, sizeof *work);
    size_t label[N];
    const dn_prediction wanted = {.label = label,
                                  .probabilities = p,
                                  .log_density = density,
                                  .class_log_density = of_class,
                                  .posterior = posterior};
    assert_int_equal(dn_model_predict(model, dn_raw_numbers(x, N), work, &wanted), N);
    assert_true(isnan(p[0]) && isnan(p[2 * N - 1]) && isnan(density[N - 1]));
    assert_true(isnan(of_class[0]) && isnan(of_class[2 * N - 1]) && isnan(posterior[2 * N - 1]));
    assert_null(dn_model_prior(model));
    assert_int_equal(label[1], 1);
    free(work);
    dn_model_unref(model);
}

static void rows_that_break_the_options_of_metrics_are_reported(void **state) {
    (void)state;
    const size_t zero[3] = {0}, two[3] = {0, 2, 0};
    const double p[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, weight[3] = {1, 1, 1};
    const dn_metrics_rows cases[] = {
        {.n = 3, .truth = zero, .predicted = zero},                     /* too many */
        {.n = 2, .truth = two, .predicted = zero},                      /* no such class */
        {.n = 2, .truth = zero, .predicted = two},                      /* no such class */
        {.n = 2, .truth = zero, .predicted = zero, .probabilities = p}, /* not announced */
        {.n = 2, .truth = zero, .predicted = zero, .class_scores = p},  /* not announced */
        {.n = 2, .truth = zero, .predicted = zero, .weight = weight}};  /* not announced */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dn_metrics *metrics;
        OK(dn_metrics_new(&(dn_metrics_options){.n_classes = 2, .n_rows = 2}, &metrics, NULL));
        dn_metrics_add(metrics, &cases[i]);
        ARGUMENT(dn_metrics_finish(metrics, NULL));
        dn_metrics_free(metrics);
    }
    dn_metrics *metrics; /* as many rows as n_rows: no error */
    OK(dn_metrics_new(&(dn_metrics_options){.n_classes = 2, .n_rows = 2}, &metrics, NULL));
    dn_metrics_add(metrics, &(dn_metrics_rows){.n = 2, .truth = zero, .predicted = zero});
    OK(dn_metrics_finish(metrics, NULL));
    assert_float_equal(metrics->accuracy, 1, 0);
    assert_true(isnan(dn_metric_value(metrics, 1000)));
    dn_metrics_free(metrics);
    dn_model *model = fit("logistic");
    const size_t truth[] = {0, 9};
    const dn_labelled_rows labelled = {.raw = dn_raw_numbers(x, 2), .truth = truth},
                           unlabelled = {.raw = dn_raw_numbers(x, 2)};
    static const char *const missing[] = {"model", "rows", "out", "rows->truth"};
    for (size_t i = 0; i < 4; i++) { /* the message names the argument that is NULL */
        dn_error err;
        dn_error_clear(&err);
        ARGUMENT(dn_model_evaluate_raw(i == 0 ? NULL : model,
                                       i == 1   ? NULL
                                       : i == 3 ? &unlabelled
                                                : &labelled,
                                       false, NULL, i == 2 ? NULL : &metrics, &err));
        assert_memory_equal(err.message, missing[i], strlen(missing[i]));
    }
    ARGUMENT(dn_model_evaluate_raw(model,
                                   &(dn_labelled_rows){.raw = dn_raw_numbers(x, 2), .truth = truth},
                                   false, NULL, &metrics, NULL));
    dn_model_unref(model);
}

static dn_status no_column(const dn_table_source *source, size_t chunk, size_t column, size_t slot,
                           dn_column_view *out, dn_error *err) {
    (void)source, (void)chunk, (void)column, (void)slot, (void)out;
    return dn_error_set(err, DN_ERR_SOURCE, "no column is read");
}

static void sources_and_structs_are_checked(void **state) {
    (void)state;
    static const dn_table_column columns[] = {{.name = "a"}, {.name = "y"}};
    const size_t good[] = {0, 2, 5}, falling[] = {0, 4, 3}, late[] = {1, 2, 5};
    const size_t *const borders[] = {good, falling, late, good, NULL};
    static const char *const messages[] = {"no column is read", "ascend from 0", "ascend from 0",
                                           "has 6 rows, but its chunks end at row 5",
                                           "needs columns"};
    dn_params *params;
    OK(dn_params_new(dn_algorithm_find("logistic"), &params, NULL));
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        const dn_table_source source = {.n_rows = i == 3 ? 6 : 5,
                                        .n_cols = 2,
                                        .n_chunks = 2,
                                        .columns = columns,
                                        .chunk_first_row = borders[i],
                                        .n_slots = 1,
                                        .column = no_column};
        const size_t inputs[] = {0};
        dn_train_request request = {.source = &source,
                                    .params = params,
                                    .target = 1,
                                    .features = {.columns = inputs, .n_columns = 1}};
        dn_train_result result = {0};
        dn_error err;
        dn_error_clear(&err);
        assert_int_equal(dn_train(&request, NULL, &result, &err),
                         i == 0 ? DN_ERR_SOURCE : DN_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, messages[i]));
        request.struct_size = sizeof request + 8;
        assert_int_equal(dn_train(&request, NULL, &result, NULL), DN_ERR_VERSION);
        request.struct_size = sizeof request - 8;
        ARGUMENT(dn_train(&request, NULL, &result, NULL));
        request.struct_size = sizeof request;
        dn_run run = dn_run_default();
        assert_int_equal(run.struct_size, sizeof run);
        run.struct_size += 8;
        assert_int_equal(dn_train(&request, &run, &result, NULL),
                         i == 0 ? DN_ERR_VERSION : DN_ERR_ARGUMENT);
    }
    dn_params_free(params);
}

/* dn_run_init accepts the size of the struct in later versions (larger) and in earlier versions
 * (smaller). */
static void a_run_of_another_size_is_initialised(void **state) {
    (void)state;
    union {
        dn_run run;
        unsigned char bytes[sizeof(dn_run) + 16];
    } larger;
    memset(&larger, 0xff, sizeof larger);
    dn_run_init(&larger.run, sizeof larger);
    assert_int_equal(larger.run.n_slots, 1);
    assert_int_equal(larger.run.struct_size, sizeof larger);
    assert_int_equal(larger.bytes[sizeof larger - 1], 0);
    memset(&larger, 0xff, sizeof larger);
    dn_run_init(&larger.run, offsetof(dn_run, ctx));
    assert_int_equal(larger.run.seed, 1);
    assert_int_equal(larger.bytes[offsetof(dn_run, ctx)], 0xff); /* untouched */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(indexes_out_of_range_have_empty_results),
        cmocka_unit_test(results_that_a_model_does_not_have_are_nan),
        cmocka_unit_test(rows_that_break_the_options_of_metrics_are_reported),
        cmocka_unit_test(sources_and_structs_are_checked),
        cmocka_unit_test(a_run_of_another_size_is_initialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
