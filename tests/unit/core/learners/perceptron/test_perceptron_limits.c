/* Limits of the perceptron: row weights, sparse rows, threads, raw space, invalid parameters,
 * overflow, failed allocations, cancellation. */
#include "unit/core/learners/perceptron/perceptrons.h"

static const char *const criteria[] = {"perceptron", "squared", "relaxation"};

static struct fit fit_matrix(dn_matrix x, const double *target, const double *weight,
                             const char *const *settings, const dn_run *run) {
    dn_params *p = perceptron_params(settings);
    dn_rows *rows;
    struct fit fit = {0};
    OK(dn_rows_from_matrix(x, target, weight, &rows, NULL));
    OK(fit_rows(rows, 2, p, run, &fit, NULL));
    dn_rows_free(rows);
    dn_params_free(p);
    return fit;
}

static void assert_same(const struct fit *a, const struct fit *b, size_t d) {
    assert_memory_equal(a->out.w, b->out.w, d * sizeof(double));
    assert_memory_equal(a->out.w0, b->out.w0, sizeof(double));
    assert_int_equal(a->report.iterations, b->report.iterations);
    assert_int_equal(a->report.n_details, b->report.n_details);
    for (size_t i = 0; i < a->report.n_details; i++) {
        assert_memory_equal(&a->report.details[i].number, &b->report.details[i].number,
                            sizeof(double));
    }
    assert_true(a->report.objective == b->report.objective &&
                a->report.converged == b->report.converged);
}

/* A row of weight 2 equals two rows in a batch step. A sequential step ignores the weight. Rows
 * with weight 0 are ignored by both. */
static void weights(void **state) {
    (void)state;
    struct sample s, doubled, gaps, without;
    struct csv *t = iris_against_rest("versicolor", &s);
    double *x = xcalloc(2 * s.n * s.d, sizeof *x), *target = xcalloc(2 * s.n, sizeof *target),
           two[150], some[150], kept[150];
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        for (size_t copy = 0; copy < 2; copy++) {
            memcpy(x + (2 * i + copy) * s.d, s.x + i * s.d, s.d * sizeof *x);
            target[2 * i + copy] = s.target[i];
        }
        two[i] = 2;
        some[i] = i % 3 == 1 ? 0 : 1 + (double)(i % 2);
    }
    doubled = (struct sample){x, target, NULL, 2 * s.n, s.d};
    dn_run run = dn_run_default();
    for (size_t c = 0; c < 3; c++) {
        struct sample heavy = s;
        heavy.weight = two;
        const char *const *settings = WITH("criterion", criteria[c], "mode", "batch",
                                           "max_iterations", "30", "learning_rate", "0.5");
        struct fit a = fit_sample(&heavy, settings, NULL), b = fit_sample(&doubled, settings, NULL);
        assert_close(a.out.w, b.out.w, s.d, 1e-9);
        assert_near(a.report.objective, b.report.objective, 1e-9);
        assert_near(perceptron_detail(&a.report, "error_share"),
                    perceptron_detail(&b.report, "error_share"), 1e-12);
        assert_counted(&heavy, &a);
        fit_done(&a);
        fit_done(&b);
    }
    static const double unequal[] = {2, 1, 0, 0.5};
    struct sample heavy = four;
    heavy.weight = two;
    double eight[16], classes[8];
    for (size_t i = 0; i < 8; i++) {
        memcpy(eight + 2 * i, four_x + 2 * (i / 2), 2 * sizeof *eight);
        classes[i] = four_target[i / 2];
    }
    struct sample twice = {eight, classes, NULL, 8, 2};
    struct fit a = fit_sample(&heavy, NULL, NULL), b = fit_sample(&twice, NULL, NULL);
    assert_memory_not_equal(a.out.w, b.out.w, 2 * sizeof(double));
    assert_true(
        has_detail(&a.report, "update_bound")); /* equal weights only scale the learning rate */
    fit_done(&a);
    heavy.weight = unequal;
    a = fit_sample(&heavy, NULL, NULL);
    assert_true(a.report.converged && !has_detail(&a.report, "update_bound"));
    fit_done(&a);
    fit_done(&b);

    for (size_t i = 0; i < s.n; i++) {
        if (some[i] == 0) {
            continue;
        }
        memcpy(x + n * s.d, s.x + i * s.d, s.d * sizeof *x);
        target[n] = s.target[i];
        kept[n++] = some[i];
    }
    gaps = s;
    gaps.weight = some;
    without = (struct sample){x, target, kept, n, s.d};
    for (size_t c = 0; c < 3; c++) {
        for (size_t mode = 0; mode < 2; mode++) {
            const char *const *settings =
                WITH("criterion", criteria[c], "mode", mode ? "batch" : "sequential",
                     "max_iterations", "30", "learning_rate", "0.5");
            a = fit_sample(&gaps, settings, &run);
            b = fit_sample(&without, settings, &run);
            assert_same(&a, &b, s.d);
            assert_counted(&gaps, &a);
            fit_done(&a);
            fit_done(&b);
        }
    }
    free(x);
    free(target);
    csv_free(t);
}

/* 9,000 rows over several blocks. The values are small integers, so sums of the criterion
 * `perceptron` are exact. */
enum { N = 9000, D = 6 };
struct big {
    double x[N * D], target[N], weight[N];
    size_t row_start[N + 1];
    uint32_t cols[N * D];
    double values[N * D];
};

static struct big *big_new(void) {
    struct big *b = xcalloc(1, sizeof *b);
    uint64_t seed = 7;
    size_t k = 0;
    for (size_t i = 0; i < N; i++) {
        double sum = -1;
        for (size_t j = 0; j < D; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            double value = (double)((seed >> 33) % 5) - 2;
            b->x[i * D + j] = value;
            sum += (double)(j % 3) * value;
            if (value != 0) {
                b->cols[k] = (uint32_t)j;
                b->values[k++] = value;
            }
        }
        b->row_start[i + 1] = k;
        b->target[i] = (sum > 0) != (i % 37 == 0);
        b->weight[i] = (double)(i % 3);
    }
    return b;
}

static void sparse_rows(void **state) {
    (void)state;
    struct big *b = big_new();
    dn_matrix dense = dn_matrix_dense(b->x, N, D),
              sparse = dn_matrix_csr(b->row_start, b->cols, b->values, N, D);
    dn_run run = dn_run_default();
    for (size_t mode = 0; mode < 2; mode++) {
        const char *const *settings =
            WITH("mode", mode ? "batch" : "sequential", "max_iterations", "8");
        struct fit one = fit_matrix(dense, b->target, b->weight, settings, &run),
                   two = fit_matrix(sparse, b->target, b->weight, settings, &run);
        assert_same(&one, &two, D);
        assert_true(perceptron_detail(&one.report, "errors") > 0);
        fit_done(&one);
        fit_done(&two);
        for (size_t c = 1; c < 3; c++) { /* weights differ by rounding only */
            settings = WITH("criterion", criteria[c], "mode", mode ? "batch" : "sequential",
                            "max_iterations", "2");
            one = fit_matrix(dense, b->target, NULL, settings, &run);
            two = fit_matrix(sparse, b->target, NULL, settings, &run);
            assert_close(two.out.w, one.out.w, D, 1e-9);
            fit_done(&one);
            fit_done(&two);
        }
    }
    free(b);
}

/* Partial sums in another order and other slots give the same bytes. */
static void threads(void **state) {
    (void)state;
    struct big *b = big_new();
    for (size_t i = 0; i < N * D; i++) {
        b->x[i] += 0.1 * (double)(i % 7);
    }
    dn_matrix x = dn_matrix_dense(b->x, N, D);
    dn_run one = dn_run_default(), many = dn_run_default();
    many.sum = sum_in_ranges;
    many.each = each_in_reverse;
    many.n_slots = 3;
    for (size_t c = 0; c < 3; c++) {
        for (size_t mode = 0; mode < 3; mode++) {
            const char *const *settings =
                WITH("criterion", criteria[c], "mode", mode == 1 ? "batch" : "sequential", "order",
                     mode == 2 ? "shuffled" : "given", "max_iterations", "6");
            struct fit a = fit_matrix(x, b->target, b->weight, settings, &one),
                       o = fit_matrix(x, b->target, b->weight, settings, &many);
            struct sample s = {b->x, b->target, b->weight, N, D};
            assert_same(&a, &o, D);
            assert_counted(&s, &a);
            fit_done(&a);
            fit_done(&o);
        }
    }
    free(b);
}

/* Snapshots are in the raw space: a snapshot of a fit to standardised rows scores the raw rows as
 * the weights of the fit score its rows. */
static void snapshots(void **state) {
    (void)state;
    struct sample s;
    struct csv *t = iris_against_rest("setosa", &s);
    double mean[4], deviation[4], *z = standardised(t->x, t->n, 4, mean, deviation);
    dn_run run, plain;
    struct history *raw = history_new(4, &run), *own = history_new(4, &plain);
    dn_params *p = perceptron_params(WITH("margin", "1"));
    dn_rows *rows;
    struct fit a = {0}, b = {0};
    OK(dn_rows_from_matrix(dn_matrix_dense(z, t->n, 4), t->target, NULL, &rows, NULL));
    dn_fit_input input = {
        .rows = rows, .n_classes = 2, .params = p, .mean = mean, .scale = deviation};
    OK(fit_input(p, &input, &run, &a, NULL));
    input.mean = input.scale = NULL;
    OK(fit_input(p, &input, &plain, &b, NULL));
    assert_same(&a, &b, 4); /* the machine is in the space of its rows in both cases */
    assert_true(raw->n == own->n && raw->n > 1);
    struct sample inner = {z, t->target, NULL, t->n, 4};
    for (size_t k = 0; k < raw->n; k++) {
        for (size_t i = 0; i < t->n; i++) {
            assert_near(100 + aligned(&s, i, raw->w + 5 * k, raw->w[5 * k + 4]),
                        100 + aligned(&inner, i, own->w + 5 * k, own->w[5 * k + 4]), 1e-10);
        }
    }
    history_free(raw);
    history_free(own);
    fit_done(&a);
    fit_done(&b);
    dn_rows_free(rows);
    dn_params_free(p);
    free(z);
    csv_free(t);
}

static void refuses(const char *const *settings, const char *field, const char *words) {
    dn_params *p = perceptron_params(settings);
    dn_error err = {0};
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, field);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
    dn_params_free(p);
}

static void rules(void **state) {
    (void)state;
    refuses(WITH("criterion", "relaxation", "learning_rate", "2"), "learning_rate", "< 2");
    refuses(WITH("criterion", "relaxation", "margin", "0"), "margin", "> 0");
    refuses(WITH("criterion", "squared", "margin", "1"), "margin", "must be 0");
    refuses(WITH("criterion", "squared", "init", "zero"), "init", "stationary");
    refuses(WITH("discriminants", "K-1"), "discriminants", "one_vs_rest_strict");
    const double rates[] = {1, 1.5, 1.5}, margins[] = {0, 0, 1};
    for (size_t c = 0; c < 3; c++) { /* the parameters that the model stores */
        dn_params *p = perceptron_params(WITH("criterion", criteria[c]));
        OK(dn_params_check(p, NULL));
        OK(dn_params_resolve(p, 100, 4, 2, NULL));
        assert_true(dn_params_word(p, "learning_rate") == NULL &&
                    dn_params_number(p, "learning_rate") == rates[c]);
        assert_true(dn_params_word(p, "margin") == NULL &&
                    dn_params_number(p, "margin") == margins[c]);
        assert_string_equal(dn_params_word(p, "init"), c == 1 ? "random" : "zero");
        OK(dn_params_check(p, NULL));
        dn_params_free(p);
    }
    assert_true((dn_algorithm_find("perceptron")->flags & DN_ALGORITHM_PROBABILITIES) == 0);
}

static void fails(const struct sample *s, const char *const *settings, dn_status code,
                  const char *words) {
    dn_params *p = perceptron_params(settings);
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, false);
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    dn_rows *rows;
    struct fit fit = {0};
    dn_error err = {0};
    OK(dn_rows_from_matrix(dn_matrix_dense(s->x, s->n, s->d), s->target, s->weight, &rows, NULL));
    assert_int_equal(fit_rows(rows, 2, p, &run, &fit, &err), code);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
    assert_true(fit.out.w == NULL && fit.report.stop_reason == DN_STOP_NONE && memory.live == 0);
    dn_rows_free(rows);
    dn_params_free(p);
}

static void numbers_that_overflow(void **state) {
    (void)state;
    static const double huge[] = {1, 2, 1, 1e300, 2, 2, 3, 1},
                        wide[] = {1.2e154, 1.2e154, 1, 1, 2, 2, 3, 1};
    static const double none[] = {0, 0, 0, 0}, heavy[] = {1e200, 1, 1, 3};
    const struct sample one = {huge, four_target, NULL, 4, 2},
                        sum = {wide, four_target, NULL, 4, 2};
    struct sample empty = four, weighted = exclusive_or;
    empty.weight = none;
    weighted.weight = heavy;
    fails(&one, NULL, DN_ERR_NUMERIC, "feature \"#1\"");
    fails(&sum, NULL, DN_ERR_NUMERIC, "features of a row");
    fails(&empty, NULL, DN_ERR_DATA, "positive, finite sum");
    fails(&exclusive_or, WITH("learning_rate", "1e308", "order", "shuffled"), DN_ERR_NUMERIC,
          "learning_rate");
    fails(&weighted, WITH("criterion", "relaxation", "max_iterations", "10000", "tolerance", "0"),
          DN_ERR_NUMERIC, "iteration");
    static const double some[] = {1, 1, 1, 3};
    weighted.weight = some;
    struct fit fit =
        fit_sample(&weighted, WITH("criterion", "relaxation", "max_iterations", "3"), NULL);
    assert_non_null(strstr(fit.report.warnings[0].text, "largest row weight is 4.5"));
    fit_done(&fit);
}

/* An allocator that tracks the bytes in use. The size is stored in front of each allocation. */
struct peak {
    size_t live, most;
};

static void *peak_allocate(void *ctx, size_t size) {
    struct peak *peak = ctx;
    max_align_t *p = malloc(sizeof *p + size);
    if (p == NULL) {
        return NULL;
    }
    memcpy(p, &size, sizeof size);
    peak->live += size;
    peak->most = peak->live > peak->most ? peak->live : peak->most;
    return p + 1;
}

static void peak_release(void *ctx, void *memory) {
    struct peak *peak = ctx;
    size_t size;
    if (memory == NULL) {
        return;
    }
    max_align_t *p = (max_align_t *)memory - 1;
    memcpy(&size, p, sizeof size);
    peak->live -= size;
    free(p);
}

static void memory_and_stop(void **state) {
    (void)state;
    for (size_t way = 0; way < 3; way++) {
        const char *const *settings = way == 0 ? WITH("order", "shuffled", "max_iterations", "5")
                                      : way == 1
                                          ? WITH("mode", "batch", "max_iterations", "5")
                                          : WITH("criterion", "relaxation", "max_iterations", "5");
        dn_params *p = perceptron_params(settings);
        dn_rows *rows;
        size_t failures = 0, stops = 0;
        OK(dn_rows_from_matrix(dn_matrix_dense(xor_x, 4, 2), xor_target, NULL, &rows, NULL));
        for (size_t k = 1;; k++) {
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, true);
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            struct fit fit = {0};
            dn_error err = {0};
            dn_status status = fit_rows(rows, 2, p, &run, &fit, &err);
            assert_true(status == DN_OK ||
                        (status == DN_ERR_BUDGET && err.message[0] != '\0' && fit.out.w == NULL));
            assert_int_equal(memory.live, 0);
            failures += status != DN_OK;
            fit_done(&fit);
            if (memory.count < k) {
                break;
            }
        }
        assert_true(failures >= 3);
        for (size_t k = 1;; k++) {
            struct polls polls = {.stop_at = k};
            dn_run run = polls_run(&polls);
            struct fit fit = {0};
            dn_status status = fit_rows(rows, 2, p, &run, &fit, NULL);
            assert_true(status == DN_OK || (status == DN_ERR_STOPPED && fit.out.w == NULL));
            fit_done(&fit);
            if (status == DN_OK) {
                break;
            }
            stops++;
        }
        assert_true(stops >= 10); /* at least one poll for each block and each pass */
        struct peak peak = {0};
        dn_allocator allocator = {.allocate = peak_allocate,
                                  .release = peak_release,
                                  .ctx = &peak,
                                  .budgeted = true};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit = {0};
        OK(fit_rows(rows, 2, p, &run, &fit, NULL));
        assert_true(peak.live == 0 && peak.most > 0 &&
                    (double)peak.most <= estimated_memory(p, 4, 2, 2, 1));
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

/* A fit that separates the classes but does not reach the margin is not converged. */
static void margin_not_reached(void **state) {
    (void)state;
    struct fit fit = fit_sample(&four, WITH("margin", "1000", "max_iterations", "300"), NULL);
    assert_true(!fit.report.converged && fit.report.n_warnings == 1);
    assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_non_null(strstr(fit.report.warnings[0].text, "margin of at most 1000"));
    assert_counted(&four, &fit);
    fit_done(&fit);
}

/* Sequential relaxation warns if the learning rate times the largest row weight is at least 2. */
static void test_overshoot_is_warned_of_from_two_on(void **state) {
    (void)state;
    static const double half[] = {0.5, 2, 0.5, 1}, below[] = {0.5, 1.999, 0.5, 1};
    static const struct {
        const double *weight;
        const char *criterion, *mode;
        bool warned;
    } cases[] = {{half, "relaxation", "sequential", true},
                 {below, "relaxation", "sequential", false},
                 {half, "relaxation", "batch", false},
                 {half, "perceptron", "sequential", false},
                 {half, "squared", "sequential", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample s = four;
        bool warned = false;
        s.weight = cases[i].weight;
        struct fit fit = fit_sample(&s,
                                    WITH("criterion", cases[i].criterion, "mode", cases[i].mode,
                                         "learning_rate", "1"),
                                    NULL);
        for (size_t k = 0; k < fit.report.n_warnings; k++) {
            warned = warned || strstr(fit.report.warnings[k].text, "overshoot") != NULL;
        }
        assert_int_equal(warned, cases[i].warned);
        fit_done(&fit);
    }
}

/* A separable sample is learned without any warning; every "auto" and default has its documented
 * value. */
static void test_defaults_and_no_needless_warning(void **state) {
    (void)state;
    static const struct {
        const char *criterion, *init;
        double margin, rate;
    } cases[] = {{"perceptron", "zero", 0, 1},
                 {"squared", "random", 0, 1.5},
                 {"relaxation", "zero", 1, 1.5}};
    for (size_t i = 0; i < 3; i++) {
        dn_params *p = perceptron_params(WITH("criterion", cases[i].criterion));
        assert_string_equal(dn_params_word(p, "mode"), "sequential");
        assert_string_equal(dn_params_word(p, "order"), "given");
        assert_string_equal(dn_params_word(p, "schedule"), "constant");
        assert_true(dn_params_number(p, "max_iterations") == 1000);
        assert_true(dn_params_number(p, "tolerance") == 1e-6);
        OK(dn_params_resolve(p, 4, 2, 2, NULL));
        assert_true(dn_params_number(p, "margin") == cases[i].margin);
        assert_true(dn_params_number(p, "learning_rate") == cases[i].rate);
        assert_string_equal(dn_params_word(p, "init"), cases[i].init);
        dn_params_free(p);
    }
    struct fit fit = fit_sample(&four, NULL, NULL);
    assert_int_equal(fit.report.n_warnings, 0);
    fit_done(&fit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights),
        cmocka_unit_test(sparse_rows),
        cmocka_unit_test(threads),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(rules),
        cmocka_unit_test(numbers_that_overflow),
        cmocka_unit_test(memory_and_stop),
        cmocka_unit_test(margin_not_reached),
        cmocka_unit_test(test_overshoot_is_warned_of_from_two_on),
        cmocka_unit_test(test_defaults_and_no_needless_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
