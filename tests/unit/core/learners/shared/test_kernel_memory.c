/* Memory of kernel machines and of other algorithms: the estimate is close, the memory is charged
 * to the run's budget, and it is released wherever the budget runs out. */
#include "unit/core/learners/shared/kernel_tables.h"

#include "machine/support.h"

/* Bytes in use, their peak, and the limit. */
struct meter {
    size_t now, most, limit;
};

static bool meter_charge(void *ctx, size_t size) {
    struct meter *m = ctx;
    if (size > m->limit - m->now) {
        return false;
    }
    m->now += size;
    m->most = m->now > m->most ? m->now : m->most;
    return true;
}

static void meter_discharge(void *ctx, size_t size) {
    struct meter *m = ctx;
    assert_true(size <= m->now);
    m->now -= size;
}

static void *meter_allocate(void *ctx, size_t size) {
    max_align_t *p = meter_charge(ctx, size) ? malloc(size + sizeof *p) : NULL;
    if (p == NULL) {
        return NULL;
    }
    memcpy(p, &size, sizeof size);
    return p + 1;
}

static void meter_release(void *ctx, void *memory) {
    size_t size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (max_align_t *)memory - 1, sizeof size);
    meter_discharge(ctx, size);
    free((max_align_t *)memory - 1);
}

static dn_allocator meter_allocator(struct meter *m) {
    return (dn_allocator){.allocate = meter_allocate,
                          .release = meter_release,
                          .charge = meter_charge,
                          .discharge = meter_discharge,
                          .ctx = m,
                          .budgeted = true};
}

struct row {
    enum kt_kind kind;
    size_t n, d, each, n_classes;
    const char *algorithm, *settings;
};

/* ---- estimates ---- */
/* The tables are so large that kernel values and rows need more memory than fixed work arrays. */
static void estimates_are_close(void **state) {
    (void)state;
    static const struct row rows[] = {
        {KT_NUMBERS, 1500, 10, 0, 2, "svm", "kernel=rbf"},
        {KT_NUMBERS, 1900, 100, 0, 2, "svm", "kernel=rbf"},
        {KT_NUMBERS, 3000, 10, 0, 2, "svm", "kernel=rbf max_iterations=1"},
        {KT_NUMBERS, 3000, 40, 0, 2, "svm", "kernel=polynomial max_iterations=1"},
        {KT_NUMBERS, 3000, 20, 0, 2, "svm",
         "kernel=rbf kernel.width=3 cache_mib=8 max_iterations=1"},
        {KT_NUMBERS, 2100, 60, 0, 2, "svm", "kernel=mahalanobis cache_mib=8 max_iterations=1"},
        {KT_NUMBERS, 1500, 10, 0, 2, "svm", "solver=smo max_iterations=1"},
        {KT_NUMBERS, 1500, 10, 0, 6, "svm", "kernel=rbf"},
        {KT_NUMBERS, 3000, 10, 0, 6, "svm", "kernel=rbf max_iterations=1"},
        {KT_NUMBERS, 1500, 10, 0, 6, "svm", "kernel=rbf multiclass=one_vs_rest max_iterations=1"},
        {KT_NUMBERS, 1500, 10, 0, 2, "one_class_svm", "nu=0.5"},
        {KT_NUMBERS, 3000, 10, 0, 2, "one_class_svm", "cache_mib=16 nu=0.5"},
        {KT_BITS, 3000, 60, 0, 2, "svm", "kernel=rbf max_iterations=1"},
        {KT_BITS, 3000, 40, 0, 3, "svm", "kernel=rbf max_iterations=1"},
        {KT_BITS, 3000, 60, 0, 2, "svm", "kernel=rbf max_iterations=1 cache_mib=32"},
        {KT_SPARSE, 1900, 20000, 30, 2, "svm", "kernel=rbf"},
        {KT_SPARSE, 3000, 100000, 60, 2, "svm", "kernel=polynomial cache_mib=32 max_iterations=1"},
        {KT_SPARSE, 1500, 1000, 30, 2, "one_class_svm", "kernel=linear"},
        {KT_SPARSE, 1500, 20000, 20, 3, "svm",
         "kernel=distance kernel.metric=manhattan max_iterations=1"},
        {KT_WORDS, 1900, 5000, 40, 2, "svm", "kernel=shared_words"},
        {KT_WORDS, 3000, 3000, 40, 2, "svm", "kernel=shared_words cache_mib=32 max_iterations=1"},
        {KT_WORDS, 1900, 5000, 40, 4, "svm", "kernel=shared_words"},
        {KT_CHARACTERS, 1900, 26, 20, 2, "svm",
         "kernel=distance kernel.metric=edit max_iterations=1"},
        {KT_GIVEN, 1200, 0, 0, 3, "svm", "kernel=precomputed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct kt_table *t = kt_new(r->kind, r->n, r->d, r->each, r->n_classes);
        dn_params *p = kt_params(r->algorithm, r->settings);
        const dn_train_request request = kt_request(t, p);
        for (size_t slots = 1; slots <= CHUNKED_SLOTS; slots += CHUNKED_SLOTS - 1) {
            const double bytes =
                dn_train_memory(&request, t->n, t->n_features, t->n_classes, slots);
            struct meter meter = {.limit = SIZE_MAX};
            const dn_allocator allocator = meter_allocator(&meter);
            dn_run run = slots == 1 ? dn_run_default() : scattered_run();
            dn_train_result result;
            dn_error err = {0};
            run.allocator = &allocator;
            if (dn_train(&request, &run, &result, &err) != DN_OK) {
                fail_msg("%s %s: %s", r->algorithm, r->settings, err.message);
            }
            assert_int_equal(meter.now, 0); /* the model is not charged to the run */
            assert_true(dn_model_memory(result.model) > 0);
            dn_train_result_done(&result);
            /* A row of a precomputed kernel has one value for each row of the table, so the buffers
             * of each thread are a large part of the memory. */
            const double most = r->kind == KT_GIVEN && slots > 1 ? 2 : 1.5;
            if ((double)meter.most > bytes || bytes > most * (double)meter.most) {
                fail_msg("%s %s, %zu rows, %zu threads: estimate %.0f bytes, peak %zu",
                         r->algorithm, r->settings, r->n, slots, bytes, meter.most);
            }
        }
        dn_params_free(p);
        kt_free(t);
    }
}

/* Support vectors are charged to the run until the model owns them. */
static void support_vectors_are_counted(void **state) {
    (void)state;
    struct kt_table *t = kt_new(KT_NUMBERS, 200, 400, 0, 2);
    dn_params *p = kt_params("svm", "kernel=rbf kernel.width=1");
    const dn_train_request request = kt_request(t, p);
    struct meter meter = {.limit = SIZE_MAX};
    const dn_allocator allocator = meter_allocator(&meter);
    dn_run run = dn_run_default();
    dn_train_result result;
    run.allocator = &allocator;
    OK(dn_train(&request, &run, &result, NULL));
    const dni_support *support = dni_kernel_machine_of(dn_model_machine(result.model, 0))->support;
    assert_int_equal(support->x.n_rows, t->n);
    /* The rows are charged as well. */
    assert_true((double)meter.most >
                sizeof(double) * (double)(t->n * t->n_inputs) + dni_support_memory(support));
    dn_train_result_done(&result);
    dn_params_free(p);
    kt_free(t);
}

/* ---- exhausted budgets ---- */
/* One training run with the given allocator. It succeeds or fails with DN_ERR_BUDGET and a
 * message. */
static dn_status attempt(const struct kt_table *t, const dn_params *p, bool folds,
                         const dn_allocator *allocator) {
    dn_train_request request = kt_request(t, p);
    dn_run run = dn_run_default();
    dn_train_result result;
    dn_error err = {0};
    run.allocator = allocator;
    request.folds = folds ? 2 : 0;
    const dn_status status = dn_train(&request, &run, &result, &err);
    if (status == DN_OK) {
        dn_train_result_done(&result);
    } else if (status != DN_ERR_BUDGET || err.message[0] == '\0') {
        fail_msg("%s: %s (%d)", p->algorithm->id, err.message, (int)status);
    }
    return status;
}

/* Refuses the k-th request for every k, then limits the memory to fractions of the peak. All memory
 * is released each time. */
static void starve(const struct kt_table *t, const dn_params *p, bool folds) {
    enum { SHARES = 40 };
    struct memory all = {.left = SIZE_MAX};
    const dn_allocator counting = memory_allocator(&all, true);
    assert_int_equal(attempt(t, p, folds, &counting), DN_OK);
    for (size_t k = 1; k <= all.count; k++) {
        struct memory memory = {.fail_at = k, .left = SIZE_MAX};
        const dn_allocator allocator = memory_allocator(&memory, true);
        /* The run may succeed: without memory for the ranking of the scores it continues. */
        (void)attempt(t, p, folds, &allocator);
        assert_int_equal(memory.live, 0);
        assert_int_equal(memory.held, 0);
        assert_true(memory.count >= k);
    }
    struct meter meter = {.limit = SIZE_MAX};
    const dn_allocator metered = meter_allocator(&meter);
    assert_int_equal(attempt(t, p, folds, &metered), DN_OK);
    const size_t most = meter.most;
    size_t refused = 0;
    for (size_t share = 0; share <= SHARES; share++) {
        meter = (struct meter){.limit = most * share / SHARES};
        refused += attempt(t, p, folds, &metered) != DN_OK;
        assert_int_equal(meter.now, 0);
        assert_true(meter.most <= meter.limit);
    }
    assert_true(refused > SHARES / 4 && refused <= SHARES);
}

static void every_budget_ends_cleanly(void **state) {
    (void)state;
    static const struct row rows[] = {
        {KT_NUMBERS, 60, 3, 0, 2, "svm", "solver=interior_point"},
        {KT_NUMBERS, 60, 3, 0, 2, "svm", "solver=dual_coordinate_descent"},
        {KT_SPARSE, 60, 400, 5, 2, "svm", "solver=dual_coordinate_descent loss=squared_hinge"},
        {KT_NUMBERS, 60, 3, 0, 3, "svm", "solver=interior_point"},
        {KT_NUMBERS, 60, 3, 0, 3, "svm", "solver=smo"},
        {KT_NUMBERS, 60, 3, 0, 2, "svm", "kernel=rbf"},
        {KT_NUMBERS, 60, 3, 0, 2, "svm", "kernel=mahalanobis"},
        {KT_NUMBERS, 60, 3, 0, 2, "svm", "kernel=sigmoid"},
        {KT_NUMBERS, 2100, 3, 0, 2, "svm", "kernel=rbf C=0.001 cache_mib=1 max_iterations=1"},
        {KT_NUMBERS, 60, 3, 0, 3, "svm", "kernel=rbf"},
        {KT_NUMBERS, 60, 3, 0, 3, "svm", "kernel=rbf multiclass=one_vs_rest"},
        {KT_BITS, 60, 40, 0, 2, "svm", "kernel=rbf"},
        {KT_SPARSE, 60, 400, 5, 3, "svm", "kernel=rbf"},
        {KT_WORDS, 60, 300, 8, 3, "svm", "kernel=shared_words"},
        {KT_GRAPHS, 60, 20, 3, 2, "svm", "kernel=shared_paths"},
        {KT_CHARACTERS, 60, 26, 12, 2, "svm", "kernel=distance kernel.metric=edit"},
        {KT_GIVEN, 60, 0, 0, 2, "svm", "kernel=precomputed"},
        {KT_NUMBERS, 60, 3, 0, 2, "one_class_svm", "nu=0.3"},
        {KT_WORDS, 60, 300, 8, 2, "one_class_svm", "nu=0.3 kernel=shared_words"},
        {KT_NUMBERS, 60, 3, 0, 3, "mlp", "layers=5 max_iterations=3"},
        {KT_NUMBERS, 60, 3, 0, 3, "mlp",
         "layers=5 max_iterations=3 solver=adam early_stopping=0.2"},
        {KT_NUMBERS, 60, 3, 0, 2, "svm", "calibrate=platt calibration_folds=3"},
        {KT_NUMBERS, 60, 3, 0, 3, "svm", "kernel=rbf calibrate=isotonic calibration_folds=2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct kt_table *t = kt_new(r->kind, r->n, r->d, r->each, r->n_classes);
        dn_params *p = kt_params(r->algorithm, r->settings);
        starve(t, p, i % 2 == 1 && r->kind != KT_GIVEN);
        dn_params_free(p);
        kt_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_close),
        cmocka_unit_test(support_vectors_are_counted),
        cmocka_unit_test(every_budget_ends_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
