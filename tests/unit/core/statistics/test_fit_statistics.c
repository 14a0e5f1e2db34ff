/* Statistics of weights: limits, dependent columns, threads, stored bytes. Their values are
 * compared with R in tests/api/test_weight_statistics.c. */
#include "unit/core/support.h"

#include "model/model_impl.h"
#include "statistics/fit_statistics.h"

static dn_params *params_for(const char *algorithm, const char *words) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_words(p, words, NULL));
    return p;
}

/* Trains on the first n_columns columns. */
static dn_model *train(const struct csv *t, size_t n_columns, const char *algorithm,
                       const char *words, const dn_run *run) {
    struct table *table = table_of(t);
    dn_params *p = params_for(algorithm, words);
    dn_train_request request = table_request(t, table, p);
    dn_train_result result;
    dn_error err = {0};
    request.features.n_columns = n_columns;
    if (dn_train(&request, run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    return model;
}

static dn_statistics_reason reason_of(const char *algorithm, const char *words, size_t n, size_t d,
                                      size_t K) {
    dn_params *p = params_for(algorithm, words);
    const dn_statistics_reason reason = dni_statistics_reason(p, n, d, K);
    dn_params_free(p);
    return reason;
}

static void test_limits(void **state) {
    (void)state;
    assert_int_equal(reason_of("logistic", "", 1000, 20, 2), DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("logistic", "statistics=off", 10, 2, 2), DN_STATISTICS_OFF);
    assert_int_equal(reason_of("logistic", "statistics=on", 10, 2000, 2), DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("logistic", "statistics=on", 10, 2001, 2), DN_STATISTICS_TOO_MANY);
    assert_int_equal(reason_of("logistic", "statistics=on", 10, 1364, 3), DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("logistic", "statistics=on", 10, 1365, 3), DN_STATISTICS_TOO_MANY);
    assert_int_equal(reason_of("least_squares", "statistics=on", 10, 2000, 3),
                     DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("logistic", "", 10, 2000, 2), DN_STATISTICS_TOO_COSTLY);
    assert_int_equal(reason_of("least_squares", "", 99700, 100, 2), DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("least_squares", "", 99701, 100, 2), DN_STATISTICS_TOO_COSTLY);
    assert_int_equal(reason_of("logistic", "", 49800, 100, 2), DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("logistic", "", 49801, 100, 2), DN_STATISTICS_TOO_COSTLY);
    assert_int_equal(reason_of("logistic", "penalty=l1", 10, 2, 2), DN_STATISTICS_L1);
    assert_int_equal(reason_of("logistic", "penalty=l1 lambda=0", 10, 2, 2),
                     DN_STATISTICS_AVAILABLE);
    assert_int_equal(reason_of("logistic", "multiclass=one_vs_one", 10, 2, 3),
                     DN_STATISTICS_SEVERAL);
    assert_int_equal(reason_of("logistic", "multiclass=one_vs_one", 10, 2, 2),
                     DN_STATISTICS_AVAILABLE);
}

/* Column 3 is the sum of columns 0 and 1, column 4 is constant. */
static struct csv *dependent_table(void) {
    struct csv *t = csv_clouds(400, 5, 2);
    for (size_t i = 0; i < t->n; i++) {
        double *x = t->x + i * 5;
        x[0] = 3 * sin(1.7 * (double)i) + 40;
        x[1] = 2 * cos(2.9 * (double)i * (double)i);
        x[2] = sin(0.31 * (double)i) - 5;
        x[3] = x[0] + x[1];
        x[4] = 7;
    }
    return t;
}

/* Weights that are not unique have no figures; the others have those of the fit without the
 * dependent columns. */
static void check_dependent(const char *algorithm, const char *words) {
    struct csv *t = dependent_table();
    dn_model *all = train(t, 5, algorithm, words, NULL), *few = train(t, 3, algorithm, words, NULL);
    const dn_statistics *a = dn_model_statistics(all), *b = dn_model_statistics(few);
    assert_int_equal(a->reason, DN_STATISTICS_AVAILABLE);
    assert_int_equal(b->reason, DN_STATISTICS_AVAILABLE);
    assert_near(a->parameters, 4, 1e-9);
    assert_near(b->parameters, 4, 1e-9);
    assert_true(isnan(a->error[0]) && isnan(a->error[1]) && isnan(a->error[3]) &&
                isnan(a->error[4]));
    assert_near(a->error[2] / b->error[2], 1, 1e-6); /* column 2 */
    assert_near(a->error[5] / b->error[3], 1, 1e-6); /* the intercept */
    assert_near(a->covariance[5 * 6 + 2] / b->covariance[3 * 4 + 2], 1, 1e-6);
    assert_true(isnan(a->covariance[2 * 6]));
    assert_true(isnan(a->inflation[0]) && isnan(a->inflation[3]) && isnan(a->inflation[4]));
    assert_near(a->inflation[2] / b->inflation[2], 1, 1e-6);
    dn_goodness of_all, of_few;
    dn_statistics_goodness(a, 0, &of_all);
    dn_statistics_goodness(b, 0, &of_few);
    assert_near(of_all.aic / of_few.aic, 1, 1e-9);
    assert_near(of_all.p / of_few.p, 1, 1e-6);
    dn_model_unref(all);
    dn_model_unref(few);
    csv_free(t);
}

static void test_dependent_columns(void **state) {
    (void)state;
    check_dependent("logistic", "penalty=none");
    check_dependent("least_squares", "lambda=0");
}

static void expect_reason(const struct csv *t, size_t n_columns, const char *words,
                          dn_statistics_reason wanted) {
    dn_model *model = train(t, n_columns, "least_squares", words, NULL);
    assert_int_equal(dn_model_statistics(model)->reason, wanted);
    assert_null(dn_model_statistics(model)->error);
    dn_model_unref(model);
}

static void test_residuals(void **state) {
    (void)state;
    struct csv *t = csv_clouds(8, 7, 2);
    expect_reason(t, 7, "lambda=0", DN_STATISTICS_NO_RESIDUAL);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 7] = t->target[i];
    }
    expect_reason(t, 1, "lambda=0", DN_STATISTICS_EXACT);
    csv_free(t);
}

static void bytes_of(const struct csv *t, const char *algorithm, const char *words,
                     const dn_run *run, void **out, size_t *size) {
    dn_model *model = train(t, t->d, algorithm, words, run);
    assert_int_equal(dn_model_statistics(model)->reason, DN_STATISTICS_AVAILABLE);
    OK(dn_model_write(model, out, size, NULL));
    dn_model_unref(model);
}

static void test_threads(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"logistic", "lambda=0.01"}, {"least_squares", ""}};
    struct csv *t = csv_clouds(20000, 4, 3);
    for (size_t i = 0; i < 2; i++) {
        void *one, *four;
        size_t n, m;
        dn_run run = dn_run_default();
        bytes_of(t, cases[i][0], cases[i][1], &run, &one, &n);
        run.n_slots = 4;
        run.sum = sum_in_ranges;
        run.each = each_in_reverse;
        bytes_of(t, cases[i][0], cases[i][1], &run, &four, &m);
        assert_int_equal(n, m);
        assert_memory_equal(one, four, n);
        free(one);
        free(four);
    }
    csv_free(t);
}

/* Truncated statistics and numbers out of range are refused. */
static void test_bytes(void **state) {
    (void)state;
    struct csv *t = csv_clouds(300, 3, 3);
    dn_model *model = train(t, 3, "logistic", "", NULL);
    const dn_encoder *encoder = dn_model_encoder(model);
    dni_writer w;
    dni_statistics *back = NULL;
    dni_writer_init(&w);
    dni_statistics_write(model->statistics, &w);
    for (size_t n = 0; n < w.size; n++) {
        dni_reader r = dni_reader_of(w.bytes, n);
        assert_int_equal(dni_statistics_read(&r, 3, encoder, &back, NULL), DN_ERR_CORRUPT);
    }
    static const size_t numbers[] = {10, 18, 26, 34, 42, 50, 58, 58 + 12 * 8}; /* offsets of f64 */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        unsigned char *copy = xcalloc(w.size, 1);
        memcpy(copy, w.bytes, w.size);
        dni_put_f64s(copy + numbers[i], &(double){-(double)INFINITY}, 1);
        dni_reader r = dni_reader_of(copy, w.size);
        assert_int_equal(dni_statistics_read(&r, 3, encoder, &back, NULL), DN_ERR_CORRUPT);
        free(copy);
    }
    dni_reader r = dni_reader_of(w.bytes, w.size);
    assert_int_equal(dni_statistics_read(&r, 0, encoder, &back, NULL), DN_ERR_CORRUPT);
    r = dni_reader_of(w.bytes, w.size);
    OK(dni_statistics_read(&r, 3, encoder, &back, NULL));
    assert_int_equal(r.left, 0);
    assert_memory_equal(back->error, model->statistics->error, 12 * sizeof(double));
    assert_memory_equal(back->covariance, model->statistics->covariance, 144 * sizeof(double));
    dni_statistics_free(back);
    dni_writer_done(&w);
    dn_model_unref(model);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_dependent_columns),
        cmocka_unit_test(test_residuals), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests_name("statistics of weights", tests, NULL, NULL);
}
