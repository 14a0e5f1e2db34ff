/* Metrics against another program's, and by hand where that one has no answer. */
#include "unit/core/support.h"

static void two_classes_golden(void **state) {
    (void)state;
    json_t *golden = golden_load();
    const json_t *g = json_object_get(golden, "metrics_two_class");
    double y[500], score[500], p[1000];
    size_t truth[500], predicted[500];
    assert_int_equal(golden_numbers(json_object_get(g, "y"), y), 500);
    assert_int_equal(golden_numbers(json_object_get(g, "score"), score), 500);
    for (size_t i = 0; i < 500; i++) {
        truth[i] = (size_t)y[i];
        p[2 * i + 1] = 1 / (1 + exp(-score[i]));
        p[2 * i] = 1 - p[2 * i + 1];
        predicted[i] = p[2 * i + 1] > 0.5;
    }
    dn_metrics *m;
    OK(dn_metrics_new(2, &m, NULL));
    dn_metrics_add(m, 123, truth, predicted, p, NULL);
    dn_metrics_add(m, 377, truth + 123, predicted + 123, p + 246, NULL);
    dn_metrics_finish(m);
    double tol = 1e-12, confusion[4];
    golden_numbers(json_object_get(g, "confusion"), confusion);
    assert_memory_equal(m->confusion, confusion, sizeof confusion);
    assert_near(m->accuracy, json_number_value(json_object_get(g, "accuracy")), tol);
    assert_near(m->error, 1 - json_number_value(json_object_get(g, "accuracy")), tol);
    assert_near(m->log_loss, json_number_value(json_object_get(g, "log_loss")), tol);
    assert_near(m->per_class[1].f1, json_number_value(json_object_get(g, "f1")), tol);
    assert_near(m->balanced_accuracy, json_number_value(json_object_get(g, "balanced_accuracy")), tol);
    assert_near(m->macro.recall, m->balanced_accuracy, tol);
    assert_near(m->weighted.recall, m->accuracy, tol);
    assert_true(m->rows == 500 && m->weight == 500);
    dn_metrics_free(m);
    json_decref(golden);
}

static void weights_and_gaps(void **state) {
    (void)state;
    /* class 2 is never true, class 3 never predicted, class 4 neither */
    const size_t truth[] = {0, 0, 1, 1, 3}, predicted[] = {0, 1, 1, 2, 0};
    const double v[] = {2, 1, 1, 3, 0.5};
    dn_metrics *m;
    OK(dn_metrics_new(5, &m, NULL));
    dn_metrics_add(m, 5, truth, predicted, NULL, v);
    dn_metrics_finish(m);
    assert_true(m->rows == 5 && m->weight == 7.5);
    assert_near(m->accuracy, 3 / 7.5, 1e-15);
    assert_true(isnan(m->log_loss));
    assert_near(m->per_class[0].precision, 2 / 2.5, 1e-15);
    assert_near(m->per_class[0].recall, 2.0 / 3, 1e-15);
    assert_near(m->per_class[1].recall, 1.0 / 4, 1e-15);
    assert_true(isnan(m->per_class[2].recall) && m->per_class[2].precision == 0 && m->per_class[2].f1 == 0);
    assert_true(isnan(m->per_class[3].precision) && m->per_class[3].recall == 0);
    assert_true(isnan(m->per_class[4].precision) && isnan(m->per_class[4].recall) && isnan(m->per_class[4].f1));
    assert_near(m->balanced_accuracy, (2.0 / 3 + 1.0 / 4 + 0) / 3, 1e-15);
    assert_near(m->macro.precision, (2 / 2.5 + 1.0 / 2 + 0) / 3, 1e-15);
    assert_true(m->per_class[1].support == 4 && m->macro.support == 7.5);
    dn_metrics_free(m);
}

static void clipped_and_empty(void **state) {
    (void)state;
    const size_t truth[] = {0, 1}, predicted[] = {1, 1};
    const double p[] = {0, 1, 0, 1};
    dn_metrics *m;
    OK(dn_metrics_new(2, &m, NULL));
    dn_metrics_finish(m);
    assert_true(isnan(m->accuracy) && isnan(m->error) && isnan(m->log_loss) && isnan(m->balanced_accuracy) && isnan(m->macro.f1));
    assert_true(m->rows == 0);
    dn_metrics_add(m, 2, truth, predicted, p, NULL);
    dn_metrics_finish(m);
    assert_near(m->log_loss, -(log(1e-15) + log(1 - 1e-15)) / 2, 1e-12);
    dn_metrics_free(m);
    dn_metrics_free(NULL);
    assert_int_equal(dn_metrics_new(SIZE_MAX / 8, &m, NULL), DN_ERR_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_classes_golden),
        cmocka_unit_test(weights_and_gaps),
        cmocka_unit_test(clipped_and_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
