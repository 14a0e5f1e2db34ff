/* Tests of learning curves: the last point is the training with all rows, smaller shares have
 * nested rows of every class, and folds give means. */
#include "unit/core/support.h"

enum { N = 600, D = 4, K = 3 };

static const double shares[] = {0.05, 0.3, 1};

static size_t metric_of(const char *name) {
    size_t i = 0;
    while (strcmp(dn_metric_name(i), name) != 0) {
        i++;
    }
    return i;
}

static dn_train_result train(const dn_train_request *request) {
    dn_train_result result = {0};
    OK(dn_train(request, NULL, &result, NULL));
    return result;
}

static void the_last_point_is_the_training(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, D, K), *other = csv_clouds(N / 2, D, K);
    struct table *table = table_of(t), *validation = table_of(other);
    dn_params *p = params_of("newton", 1e-3);
    const size_t loss = metric_of("log_loss");
    for (int way = 0; way < 3; way++) {
        dn_train_request request = table_request(t, table, p);
        request.holdout = way == 0 ? 0.25 : 0;
        request.validation = way == 1 ? validation->source : NULL;
        request.folds = way == 2 ? 3 : 0;
        request.repeats = way == 2 ? 2 : 0;
        dn_learning_point *points = NULL;
        OK(dn_learning_curve(&request, shares, 3, NULL, &points, NULL));
        dn_train_result whole = train(&request);
        double mean = 0, squares = 0;
        for (size_t f = 0; f < whole.n_folds; f++) {
            mean += whole.folds[f]->log_loss / (double)whole.n_folds;
        }
        for (size_t f = 0; f < whole.n_folds; f++) {
            squares += (whole.folds[f]->log_loss - mean) * (whole.folds[f]->log_loss - mean) / 6;
        }
        const dn_learning_point *last = &points[2];
        assert_int_equal(last->n_fits, way == 2 ? 6 : 1);
        if (way == 2) {
            assert_near(last->validation[loss], mean, 1e-12);
            assert_near(last->deviation[loss], sqrt(squares), 1e-7);
            assert_near(last->rows, N * 2 / 3.0, 1e-9);
        } else {
            assert_true(last->validation[loss] == whole.validation->log_loss);
            assert_true(last->train[loss] == whole.train->log_loss);
            assert_true(last->rows == (double)whole.n_train);
        }
        for (size_t s = 0; s < 3; s++) {
            assert_true(points[s].share == shares[s] && points[s].n_unconverged == 0);
            assert_true(fabs(points[s].rows - ceil(shares[s] * last->rows)) <= K);
            assert_true(s == 0 || points[s].train[loss] >= points[s - 1].train[loss] - 0.1);
        }
        assert_true(points[0].validation[loss] > last->validation[loss]);
        dn_learning_curve_free(points);
        dn_train_result_done(&whole);
    }
    dn_params_free(p);
    columns_table_free(table);
    columns_table_free(validation);
    csv_free(t);
    csv_free(other);
}

static void refuse(const dn_train_request *request, const double *of, size_t n, const char *words) {
    dn_learning_point *points = NULL;
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dn_learning_curve(request, of, n, NULL, &points, &err), DN_ERR_ARGUMENT);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    const double bad[] = {0.5, 1.5};
    struct csv *t = csv_clouds(N, D, K);
    struct table *table = table_of(t);
    dn_params *p = params_of("newton", 1e-3);
    dn_train_request request = table_request(t, table, p);
    refuse(&request, shares, 3, "needs validation rows");
    request.folds = DN_LEAVE_ONE_OUT;
    refuse(&request, shares, 3, "needs validation rows");
    request.folds = 3;
    refuse(&request, bad, 2, "a share must be > 0 and <= 1");
    refuse(&request, shares, 0, "there are no shares");
    request.target = DN_NO_TARGET;
    refuse(&request, shares, 3, "needs a target");
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_point_is_the_training),
        cmocka_unit_test(bad_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
