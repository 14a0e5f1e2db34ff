/* Tests of training with weights, folds and a validation table: it is cancelled, an allocation
 * fails, or the memory budget is exactly the estimate. */
#include "unit/core/support.h"

static dn_train_result train(const dn_train_request *request, const dn_run *run) {
    dn_train_result result;
    dn_error err = {0};
    if (dn_train(request, run, &result, &err) != DN_OK) {
        fail_msg("training failed: %s", err.message);
    }
    return result;
}

/* Trains once for each allocation, which fails, and once for each poll for cancellation, which
 * cancels; in the fit of the model and in those of the folds. No training leaks memory. */
static void cut_short(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 3);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 3 + 2] = 1 + (double)(i % 2);
    }
    struct table *table = table_of(t);
    dn_params *p = params_of("newton", 1e-1);
    dn_train_request request = table_request(t, table, p);
    request.weighted = true;
    request.weight = 2;
    request.features.n_columns = 2;
    request.class_weight = DN_CLASS_WEIGHT_BALANCED;
    for (size_t way = 0; way < 4;
         way++) { /* 0, 1: folds; 2, 3: another table. 0, 2: allocations; 1, 3: polls */
        request.folds = way < 2 ? 2 : 0;
        request.validation = way < 2 ? NULL : table->source;
        size_t failures = 0, in_folds = 0;
        for (size_t k = 1;; k++) {
            struct memory memory = {.fail_at = way % 2 == 0 ? k : 0, .left = SIZE_MAX};
            struct polls polls = {.stop_at = way % 2 == 1 ? k : 0};
            dn_allocator allocator = memory_allocator(&memory, true);
            dn_run run = polls_run(&polls);
            run.allocator = &allocator;
            dn_train_result result;
            dn_error err = {0};
            dn_status status = dn_train(&request, &run, &result, &err);
            if (status == DN_OK) {
                dn_train_result_done(&result);
            } else {
                assert_true(status == (way % 2 == 0 ? DN_ERR_BUDGET : DN_ERR_STOPPED) &&
                            err.message[0] != '\0');
            }
            assert_int_equal(memory.live, 0);
            failures += status != DN_OK;
            in_folds += strncmp(err.message, "fold 2: ", 8) == 0;
            if ((way % 2 == 0 ? memory.count : polls.n) < k) {
                break;
            }
        }
        assert_true(failures > 10 && (way != 0 || in_folds > 3));
    }
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* A memory budget. */
struct budget {
    size_t left; /* bytes that can still be allocated */
};

enum { HEADER_SIZE = 64 }; /* bytes before each allocation, which store its size */

static void *budget_allocate(void *ctx, size_t size) {
    struct budget *b = ctx;
    char *p = size > b->left ? NULL : malloc(size + HEADER_SIZE);
    if (p == NULL) {
        return NULL;
    }
    b->left -= size;
    memcpy(p, &size, sizeof size);
    return p + HEADER_SIZE;
}

static void budget_release(void *ctx, void *memory) {
    struct budget *b = ctx;
    char *p = memory;
    size_t size;
    if (p == NULL) {
        return;
    }
    memcpy(&size, p - HEADER_SIZE, sizeof size);
    b->left += size;
    free(p - HEADER_SIZE);
}

/* dn_train_memory is enough for a training with each kind of validation. */
static void estimate(void **state) {
    (void)state;
    struct csv *t = csv_clouds(5000, 6, 4);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * 6 + 5] = 1 + (double)(i % 3);
    }
    struct table *table = table_of(t);
    dn_params *p = params_of("lbfgs", 1e-2);
    for (size_t way = 0; way < 8; way++) {
        dn_train_request request = table_request(t, table, p);
        request.features.n_columns = 5;
        request.weighted = way % 2 == 1;
        request.weight = 5;
        request.class_weight = way >= 4 ? DN_CLASS_WEIGHT_BALANCED : DN_CLASS_WEIGHT_NONE;
        request.folds = way / 2 % 2 == 0 ? 5 : 0;
        request.validation = request.folds == 0 ? table->source : NULL;
        double bytes = dn_train_memory(&request, t->n, 5, 4, 1);
        struct budget budget = {.left = (size_t)bytes};
        dn_allocator allocator = {.allocate = budget_allocate,
                                  .release = budget_release,
                                  .ctx = &budget,
                                  .budgeted = true};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_train_result r = train(&request, &run);
        dn_train_result_done(&r);
        assert_true(budget.left == (size_t)bytes);
        budget.left = (size_t)(0.2 * bytes); /* a fifth of the estimate does not suffice */
        dn_error err = {0};
        assert_int_equal(dn_train(&request, &run, &r, &err), DN_ERR_BUDGET);
    }
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

/* Budgets from the estimate to 2.5 times of it: rows are kept in memory and scores are ranked if
 * the budget allows it. Otherwise the ranking metrics are missing and a warning says so; all other
 * results are the same. */
static void ranked_when_it_fits(void **state) {
    (void)state;
    struct csv *t = csv_clouds(30000, 3, 3);
    struct table *table = table_of(t);
    dn_params *p = params_of("lbfgs", 1e-2);
    dn_train_request request = table_request(t, table, p);
    request.holdout = 0.5;
    dn_run plenty = dn_run_default();
    dn_train_result whole = train(&request, &plenty);
    double bytes = dn_train_memory(&request, t->n, 3, 3, 1);
    size_t n_missing = 0, n_whole = 0;
    for (double factor = 1; factor < 2.5; factor *= 1.05) {
        struct budget budget = {.left = (size_t)(factor * bytes)};
        dn_allocator allocator = {.allocate = budget_allocate,
                                  .release = budget_release,
                                  .ctx = &budget,
                                  .budgeted = true};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_train_result r = train(&request, &run);
        const dn_metrics *got[] = {r.train, r.validation},
                         *wanted[] = {whole.train, whole.validation};
        for (size_t m = 0; m < 2; m++) {
            bool missing = isnan(got[m]->roc_auc);
            assert_true(missing == (got[m]->warning[0] != '\0') &&
                        missing == isnan(got[m]->average_precision));
            assert_true(missing || (got[m]->roc_auc == wanted[m]->roc_auc &&
                                    got[m]->average_precision == wanted[m]->average_precision));
            assert_true(got[m]->log_loss == wanted[m]->log_loss && got[m]->ece == wanted[m]->ece &&
                        got[m]->hinge == wanted[m]->hinge);
            n_missing += missing;
            n_whole += !missing;
            for (size_t i = 0; missing && i < r.report.n_warnings; i++) {
                missing = strstr(r.report.warnings[i].text,
                                 m == 0 ? "on the training rows, roc_auc"
                                        : "on the validation rows, roc_auc") == NULL;
            }
            assert_false(missing); /* the report has the ranking metrics too */
        }
        dn_train_result_done(&r);
        assert_true(budget.left == (size_t)(factor * bytes));
    }
    assert_true(n_missing > 0 && n_whole > 0);
    dn_train_result_done(&whole);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

static size_t n_calls; /* number of calls of the method's memory function */
static bool all_dense; /* whether all calls were for dense rows */

static double record_shape(const dn_params *params, const dn_fit_shape *shape) {
    n_calls++;
    all_dense = all_dense && isinf(shape->n_entries);
    return dn_algorithm_find("logistic")->memory(params, shape);
}

/* The shape passed to dn_algorithm.memory has n_entries = INFINITY if rows are dense. */
static void dense_rows_have_infinite_entries(void **state) {
    (void)state;
    struct csv *t = csv_clouds(300, 3, 3);
    struct table *table = table_of(t);
    dn_algorithm recording = *dn_algorithm_find("logistic");
    dn_params *p = NULL;
    recording.memory = record_shape;
    OK(dn_params_new(&recording, &p, NULL));
    dn_train_request request = table_request(t, table, p);
    struct budget budget = {.left = 1 << 24};
    dn_allocator allocator = {.allocate = budget_allocate,
                              .release = budget_release,
                              .ctx = &budget,
                              .budgeted = true};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    all_dense = true;
    dn_train_result r = train(&request, &run);
    dn_train_result_done(&r);
    assert_true(n_calls > 0 && all_dense);
    n_calls = 0;
    const double own = dn_train_method_memory(&request, 3, 3, 1);
    assert_true(n_calls == 1 && all_dense && own > 0 &&
                own < dn_train_memory(&request, t->n, 3, 3, 1));
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_rows_have_infinite_entries),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(estimate),
        cmocka_unit_test(ranked_when_it_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
