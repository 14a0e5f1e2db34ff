/* A model on the validation rows of a training: the model of the training itself has the metrics of
 * the training there, bit for bit. */
#include "unit/core/support.h"

enum { N = 240 };

static void assert_same(const dn_metrics *a, const dn_metrics *b) {
    for (size_t i = 0; dn_metric_name(i) != NULL; i++) {
        const double x = dn_metric_value(a, i), y = dn_metric_value(b, i);
        assert_true(x == y || (isnan(x) && isnan(y)));
    }
    assert_true(a->rows == b->rows && a->weight == b->weight);
}

/* Holdout with a seed and with weights, another table, and folds, whose rows together are all, also
 * with DN_LEAVE_ONE_OUT. */
static void own_metrics(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, 3), *other = csv_clouds(N / 2, 4, 3);
    for (size_t i = 0; i < N; i++) {
        t->x[i * 4 + 3] = (double)(1 + i % 4) / 2;
    }
    struct table *table = table_of(t), *validation = table_of(other);
    dn_params *p = params_of("newton", 1e-2);
    for (size_t way = 0; way < 5; way++) {
        dn_train_request request = table_request(t, table, p);
        dn_run run = dn_run_default();
        dn_train_result r;
        dn_metrics *metrics[4] = {0};
        run.seed = 7;
        request.holdout = way < 2 ? 0.3 : 0;
        request.validation = way == 2 ? validation->source : NULL;
        request.folds = way == 3 ? 4 : way == 4 ? DN_LEAVE_ONE_OUT : 0;
        if (way == 1) {
            request.weighted = true;
            request.weight = 3;
            request.features.n_columns = 3;
        }
        OK(dn_train(&request, &run, &r, NULL));
        OK(dn_model_evaluate_held_out(r.model, &request,
                                      way == 2 ? validation->source : table->source, &run, metrics,
                                      NULL));
        double rows = 0;
        for (size_t f = 0; f < (way == 3 ? 4 : 1); f++) {
            rows += metrics[f]->rows;
            if (way < 3) {
                assert_same(metrics[0], r.validation);
            }
            dn_metrics_free(metrics[f]);
        }
        assert_true(way < 4 || r.n_validation == N);
        assert_true(rows == (way == 3 ? (double)N : (double)r.n_validation));
        dn_train_result_done(&r);
    }
    dn_params_free(p);
    columns_table_free(table);
    columns_table_free(validation);
    csv_free(t);
    csv_free(other);
}

static void refusals(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, 3), *two = csv_clouds(N, 4, 2);
    struct table *table = table_of(t), *of_two = table_of(two);
    dn_params *p = params_of("newton", 1e-2);
    dn_train_request request = table_request(t, table, p), small = table_request(two, of_two, p);
    dn_train_result r;
    dn_metrics *metrics = NULL;
    dn_error err = {0};
    request.holdout = small.holdout = 0.5;
    OK(dn_train(&request, NULL, &r, NULL));
    assert_int_equal(dn_model_evaluate_held_out(r.model, &small, of_two->source, NULL, &metrics,
                                                &err),
                     DN_ERR_DATA);
    assert_non_null(strstr(err.message, "it has 3 classes, but column"));
    dn_error_clear(&err);
    assert_int_equal(dn_model_evaluate_held_out(NULL, &request, table->source, NULL, &metrics,
                                                &err),
                     DN_ERR_ARGUMENT);
    request.holdout = 0;
    assert_int_equal(dn_model_evaluate_held_out(r.model, &request, table->source, NULL, &metrics,
                                                &err),
                     DN_ERR_ARGUMENT);
    assert_null(metrics);
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    columns_table_free(of_two);
    csv_free(t);
    csv_free(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_metrics), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests_name("evaluation on held-out rows", tests, NULL, NULL);
}
