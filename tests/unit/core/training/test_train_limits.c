/* Tests of the exact limits of a training request. A training on good data has no warnings. */
#include "unit/core/support.h"

#include "task/weights.h"

static dn_status try_train(const dn_train_request *request, dn_train_result *out, dn_error *err) {
    const dn_run run = dn_run_default();
    *out = (dn_train_result){0};
    dn_error_clear(err);
    return dn_train(request, &run, out, err);
}

/* A table of n rows with one number; row i has class i % K. */
static struct csv *classes_of(size_t n, size_t K) {
    struct csv *t = xcalloc(1, sizeof *t);
    t->n = n;
    t->d = 2;
    t->names = xcalloc(3, sizeof *t->names);
    t->x = xcalloc(2 * n, sizeof *t->x);
    t->labels = xcalloc(n, sizeof *t->labels);
    for (size_t j = 0; j < 3; j++) {
        char name[32];
        snprintf(name, sizeof name, "x%zu", j);
        t->names[j] = csv_copy(name);
    }
    for (size_t i = 0; i < n; i++) {
        char label[32];
        snprintf(label, sizeof label, "c%05zu", i % K);
        t->labels[i] = csv_copy(label);
        t->x[2 * i] = (double)(i * 7 % 11) + (double)(i % K);
        t->x[2 * i + 1] = 1;
    }
    csv_classify(t);
    return t;
}

static bool has_warning(const dn_report *report, dn_warning_code code) {
    for (size_t i = 0; i < report->n_warnings; i++) {
        if (report->warnings[i].code == code) {
            return true;
        }
    }
    return false;
}

/* The default is at most 1000 classes; a request can set another number. */
static void number_of_classes(void **state) {
    (void)state;
    static const struct {
        size_t n_classes, max_classes;
        bool good;
    } cases[] = {
        {1000, 0, true}, {1001, 0, false}, {5, 5, true}, {5, 4, false}, {1001, 1001, true}};
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("naive_bayes"), &p, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv *t = classes_of(2 * cases[i].n_classes, cases[i].n_classes);
        struct table *table = table_of(t);
        dn_train_request request = table_request(t, table, p);
        dn_train_result result;
        dn_error err;
        request.max_classes = cases[i].max_classes;
        assert_int_equal(try_train(&request, &result, &err), cases[i].good ? DN_OK : DN_ERR_DATA);
        dn_train_result_done(&result);
        columns_table_free(table);
        csv_free(t);
    }
    dn_params_free(p);
}

/* The warning of many classes needs more than 10 classes, and more than half as many as rows. */
static void many_classes(void **state) {
    (void)state;
    static const struct {
        size_t n_rows, n_classes;
        bool warned;
    } cases[] = {{10, 10, false}, {11, 11, true}, {22, 11, false}, {21, 11, true}, {23, 12, true}};
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("knn"), &p, NULL));
    OK(dn_params_set_number(p, "k", 1, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv *t = classes_of(cases[i].n_rows, cases[i].n_classes);
        struct table *table = table_of(t);
        dn_train_request request = table_request(t, table, p);
        dn_train_result result;
        dn_error err;
        request.features.n_columns = 1;
        OK(try_train(&request, &result, &err));
        assert_int_equal(has_warning(&result.report, DN_WARNING_MANY_CLASSES), cases[i].warned);
        dn_train_result_done(&result);
        columns_table_free(table);
        csv_free(t);
    }
    dn_params_free(p);
}

/* The limits of `holdout` and `folds`. */
static void validation_limits(void **state) {
    (void)state;
    struct csv *t = classes_of(2 * DN_MAX_FOLDS + 2, 2);
    struct table *table = table_of(t);
    dn_params *p;
    dn_train_result result;
    dn_error err;
    OK(dn_params_new(dn_algorithm_find("naive_bayes"), &p, NULL));
    dn_train_request request = table_request(t, table, p);
    request.features.n_columns = 1;
    static const double holdouts[] = {-1e-300, 1, (double)NAN, 0, 0.5};
    for (size_t i = 0; i < 5; i++) {
        request.holdout = holdouts[i];
        assert_int_equal(try_train(&request, &result, &err), i < 3 ? DN_ERR_ARGUMENT : DN_OK);
        assert_true(i != 1 ||
                    strcmp(err.message, "holdout must be a number >= 0 and < 1 (got 1)") == 0);
        dn_train_result_done(&result);
    }
    request.holdout = 0;
    static const size_t folds[] = {1, DN_MAX_FOLDS + 1, 2, DN_MAX_FOLDS};
    for (size_t i = 0; i < 4; i++) {
        request.folds = folds[i];
        assert_int_equal(try_train(&request, &result, &err), i < 2 ? DN_ERR_ARGUMENT : DN_OK);
        assert_int_equal(result.n_folds, i < 2 ? 0 : folds[i]);
        dn_train_result_done(&result);
    }
    for (size_t i = 0; i < 4; i++) { /* two or three kinds of validation in one request */
        request.holdout = i == 2 ? 0 : 0.5;
        request.folds = i == 1 ? 0 : 2;
        request.validation = i == 0 ? NULL : table->source;
        assert_int_equal(try_train(&request, &result, &err), DN_ERR_ARGUMENT);
    }
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* Weights of rows and classes: DN_MIN_WEIGHT and DN_MAX_WEIGHT are allowed, the next numbers are
 * not. A row may have weight 0, a class may not. */
static void weight_limits(void **state) {
    (void)state;
    static const struct {
        double weight;
        bool row, class;
    } cases[] = {{0, true, false}, {DN_MIN_WEIGHT, true, true}, {DN_MAX_WEIGHT, true, true}};
    struct csv *t = classes_of(40, 2);
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("naive_bayes"), &p, NULL));
    for (size_t i = 0; i < 5; i++) {
        const double beyond =
            i == 3 ? nextafter(DN_MIN_WEIGHT, 0) : nextafter(DN_MAX_WEIGHT, 1e300);
        const double weight = i < 3 ? cases[i].weight : beyond;
        assert_int_equal(dni_weight_valid(weight), i == 1 || i == 2);
        t->x[2 * 7 + 1] = weight;
        struct table *table = table_of(t);
        dn_train_request request = table_request(t, table, p);
        dn_train_result result;
        dn_error err;
        request.features.n_columns = 1;
        request.weighted = true;
        request.weight = 1;
        const dn_status status = try_train(&request, &result, &err);
        assert_int_equal(status, i < 3 && cases[i].row ? DN_OK : DN_ERR_DATA);
        if (status == DN_OK) {
            assert_int_equal(result.n_skipped, i == 0);
            dn_train_result_done(&result);
        } else {
            assert_int_equal(err.row, 7);
        }
        const double weights[2] = {1, weight};
        request.weighted = false;
        request.class_weight = DN_CLASS_WEIGHT_GIVEN;
        request.class_weights = weights;
        request.n_class_weights = 2;
        assert_int_equal(try_train(&request, &result, &err),
                         i < 3 && cases[i].class ? DN_OK : DN_ERR_DATA);
        dn_train_result_done(&result);
        columns_table_free(table);
    }
    dn_params_free(p);
    csv_free(t);
}

/* A calibration has as many folds as the parameter requests if the smallest class has as many rows,
 * and a warning otherwise. A class of one row is an error. */
static void calibration_folds(void **state) {
    (void)state;
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("perceptron"), &p, NULL));
    OK(dn_params_set_word(p, "calibrate", "platt", NULL));
    OK(dn_params_set_number(p, "calibration_folds", 4, NULL));
    for (size_t n = 1; n <= 5; n++) {
        struct csv *t = classes_of(30, 3);
        for (size_t i = 0; i < t->n; i++) { /* n rows of class 2 */
            t->target[i] = i < n ? 2 : (double)(i % 2);
        }
        struct table *table = table_of(t);
        dn_train_request request = table_request(t, table, p);
        dn_train_result result;
        dn_error err;
        request.features.n_columns = 1;
        assert_int_equal(try_train(&request, &result, &err), n == 1 ? DN_ERR_DATA : DN_OK);
        assert_int_equal(has_warning(&result.report, DN_WARNING_CALIBRATION_FOLDS),
                         n == 2 || n == 3);
        if (result.model != NULL) { /* a calibration of two folds or more is read from bytes */
            void *bytes;
            size_t size;
            dn_model *back = NULL;
            OK(dn_model_write(result.model, &bytes, &size, NULL));
            OK(dn_model_read(bytes, size, &back, NULL));
            dn_model_unref(back);
            free(bytes);
        }
        dn_train_result_done(&result);
        columns_table_free(table);
        csv_free(t);
    }
    dn_params_free(p);
}

/* A training on good data has no warning, with every kind of validation. */
static void no_warnings(void **state) {
    (void)state;
    static const char *const methods[][2] = {{"logistic", ""},    {"least_squares", ""},
                                             {"fisher", ""},      {"gaussian", ""},
                                             {"naive_bayes", ""}, {"svm", "calibrate=platt"},
                                             {"knn", ""}};
    struct csv *t = csv_clouds(300, 4, 3);
    for (size_t i = 0; i < t->n; i++) {
        t->x[4 * i + 3] = 1 + (double)(i % 2);
    }
    struct table *table = table_of(t);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        for (size_t way = 0; way < 4; way++) {
            dn_params *p;
            dn_train_result result;
            dn_error err;
            OK(dn_params_new(dn_algorithm_find(methods[m][0]), &p, NULL));
            OK(dn_params_set_words(p, methods[m][1], NULL));
            dn_train_request request = table_request(t, table, p);
            request.features.n_columns = 3;
            request.weighted = way % 2 == 1;
            request.weight = 3;
            request.holdout = way == 1 ? 0.3 : 0;
            request.folds = way == 2 ? 3 : 0;
            request.validation = way == 3 ? table->source : NULL;
            OK(try_train(&request, &result, &err));
            for (size_t i = 0; i < result.report.n_warnings; i++) {
                print_error("%s: %s\n", methods[m][0], result.report.warnings[i].text);
            }
            assert_int_equal(result.report.n_warnings, 0);
            dn_train_result_done(&result);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_of_classes), cmocka_unit_test(many_classes),
        cmocka_unit_test(validation_limits), cmocka_unit_test(weight_limits),
        cmocka_unit_test(calibration_folds), cmocka_unit_test(no_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
