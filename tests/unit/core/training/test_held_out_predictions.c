/* The predictions of held-out rows: each row once for each repeat, with the truth, label and values
 * from which the metrics of the training can be computed again. */
#include "unit/core/support.h"

#include <discern/held_out.h>

enum { N = 203, REPEATS = 2, FOLDS = 4 };

/* Returns the metrics of the predictions of fold `fold` (SIZE_MAX: all) in repeat `repeat`
 * (SIZE_MAX: all), computed from truth, label and probabilities. */
static dn_metrics *recompute(const dn_held_out *h, size_t n_classes, size_t fold, size_t repeat) {
    dn_metrics *m = NULL;
    const dn_metrics_options options = {.n_classes = n_classes,
                                        .n_rows = h->n,
                                        .probabilities = true,
                                        .weighted = h->weight != NULL};
    OK(dn_metrics_new(&options, &m, NULL));
    for (size_t i = 0; i < h->n; i++) {
        const size_t truth = h->truth[i], label = h->label[i];
        if ((fold != SIZE_MAX && h->fold[i] != fold) ||
            (repeat != SIZE_MAX && h->repeat[i] != repeat)) {
            continue;
        }
        const dn_metrics_rows row = {.n = 1,
                                     .truth = &truth,
                                     .predicted = &label,
                                     .probabilities = h->values + i * h->n_values,
                                     .weight = h->weight == NULL ? NULL : h->weight + i};
        dn_metrics_add(m, &row);
    }
    OK(dn_metrics_finish(m, NULL));
    return m;
}

static void assert_same_rows(const dn_held_out *h, const struct csv *t, size_t repeats) {
    for (size_t i = 0; i < h->n; i++) {
        assert_true(h->row[i] < t->n && h->truth[i] == (size_t)t->target[h->row[i]]);
        assert_true(i == 0 || h->repeat[i] > h->repeat[i - 1] ||
                    (h->repeat[i] == h->repeat[i - 1] && h->row[i] > h->row[i - 1]));
        assert_true(h->repeat[i] < repeats);
    }
}

static void assert_close_metrics(const dn_metrics *a, const dn_metrics *b) {
    assert_true(a->rows == b->rows && a->weight == b->weight);
    assert_memory_equal(a->confusion, b->confusion, a->n_classes * a->n_classes * sizeof(double));
    assert_true(fabs(a->log_loss - b->log_loss) < 1e-12 && fabs(a->brier - b->brier) < 1e-12);
}

/* Folds, repeated, with weights; the pooled metrics are those of all predictions. */
static void folds(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, 3);
    for (size_t i = 0; i < N; i++) {
        t->x[i * 4 + 3] = (double)(1 + i % 4) / 2;
    }
    struct table *table = table_of(t);
    dn_params *p = params_of("newton", 1e-2);
    for (size_t way = 0; way < 2; way++) {
        dn_train_request request = table_request(t, table, p);
        dn_held_out *held = NULL;
        dn_train_result r;
        request.folds = FOLDS;
        request.repeats = REPEATS;
        request.curves = true;
        request.held_out = &held;
        if (way == 1) {
            request.weighted = true;
            request.weight = 3;
            request.features.n_columns = 3;
        }
        OK(dn_train(&request, NULL, &r, NULL));
        assert_non_null(held);
        assert_int_equal(held->n, N * REPEATS);
        assert_true(held->probabilities && held->n_values == 3);
        assert_true((held->weight != NULL) == (way == 1));
        assert_same_rows(held, t, REPEATS);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(held->row[i], i);
        }
        for (size_t f = 0; f < FOLDS * REPEATS; f++) {
            dn_metrics *m = recompute(held, 3, f, f / FOLDS);
            assert_close_metrics(m, r.folds[f]);
            dn_metrics_free(m);
        }
        dn_metrics *all = recompute(held, 3, SIZE_MAX, SIZE_MAX);
        assert_non_null(r.validation);
        assert_non_null(r.validation->curves);
        assert_true(r.validation->rows == N * REPEATS && r.n_validation == 0);
        assert_true(fabs(all->roc_auc - r.validation->roc_auc) < 1e-12);
        assert_true(fabs(all->ece - r.validation->ece) < 1e-12);
        dn_metrics_free(all);
        dn_held_out_free(held);
        dn_train_result_done(&r);
    }
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* A holdout, leave-one-out; and what a training does not keep: no rows are held out. */
static void other_validations(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, 2);
    struct table *table = table_of(t);
    dn_params *p = params_of("newton", 1e-2);
    for (size_t way = 0; way < 3; way++) {
        dn_train_request request = table_request(t, table, p);
        dn_held_out *held = (dn_held_out *)t; /* to be set to NULL without held-out rows */
        dn_train_result r;
        request.held_out = &held;
        request.holdout = way == 0 ? 0.3 : 0;
        request.folds = way == 1 ? DN_LEAVE_ONE_OUT : 0;
        OK(dn_train(&request, NULL, &r, NULL));
        if (way == 2) {
            assert_null(held);
        } else {
            dn_metrics *m = recompute(held, 2, SIZE_MAX, SIZE_MAX);
            assert_int_equal(held->n, r.n_validation);
            assert_same_rows(held, t, 1);
            assert_close_metrics(m, r.validation);
            dn_metrics_free(m);
        }
        dn_held_out_free(held);
        dn_train_result_done(&r);
    }
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* Methods without probabilities: the scores. */
static void scores(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 4, 3);
    struct table *table = table_of(t);
    dn_params *p = NULL;
    dn_held_out *held = NULL;
    dn_train_result r;
    OK(dn_params_new(dn_algorithm_find("svm"), &p, NULL));
    dn_train_request request = table_request(t, table, p);
    request.held_out = &held;
    request.folds = FOLDS;
    OK(dn_train(&request, NULL, &r, NULL));
    assert_non_null(held);
    assert_false(held->probabilities);
    assert_int_equal(held->n_values, dn_model_n_scores(r.model));
    assert_int_equal(held->n_values, dn_held_out_values(p, 3));
    for (size_t i = 0; i < held->n; i++) {
        assert_int_equal(held->label[i], dn_decision_label(dn_model_decision(r.model), 3,
                                                           held->values + i * held->n_values));
    }
    dn_held_out_free(held);
    dn_train_result_done(&r);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(folds), cmocka_unit_test(other_validations),
                                       cmocka_unit_test(scores)};
    return cmocka_run_group_tests_name("predictions of held-out rows", tests, NULL, NULL);
}
