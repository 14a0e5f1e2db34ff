/* Limits of linear support vector machines: threads, failed allocations, cancellation, progress
 * reports, overflow. */
#include "unit/core/learners/svm/svms.h"

/* The combinations of solver, intercept, C and loss that are tested. */
struct combination {
    dni_svm_solver solver;
    dni_svm_intercept intercept;
    double C;
    bool squared;
    /* rows and columns of the table; 0: the rows of the test, 4 columns. Set for wide problems and
     * conjugate gradients */
    size_t n, d;
};
static const struct combination combinations[] = {
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1, false, 0, 0},
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_PENALISED, 10, false, 0, 0},
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_NONE, 0.1, false, 0, 0},
    {DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, 0.1, false, 0, 0},
    {DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, 1, true, 0, 0},
    {DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_PENALISED, 0.1, false, 0, 0},
    {DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_NONE, 0.1, true, 0, 0},
    {DNI_SVM_NEWTON, DNI_SVM_FREE, 1, true, 0, 0},
    {DNI_SVM_NEWTON, DNI_SVM_PENALISED, 10, true, 0, 0},
    {DNI_SVM_NEWTON, DNI_SVM_NONE, 0.1, true, 0, 0},
    {DNI_SVM_NEWTON, DNI_SVM_FREE, 1e-3, true, 1001, 1001},
    {DNI_SVM_NEWTON, DNI_SVM_FREE, 1, true, 30, 1001},
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_PENALISED, 1, false, 30, 1001},
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1e10, false, 30, 1001}, /* ends in dni_svm_try_hard */
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, (double)INFINITY, false, 0, 0},
    {DNI_SVM_INTERIOR_POINT, DNI_SVM_PENALISED, (double)INFINITY, false, 0, 0}};
enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

static dni_svm_options options_for(size_t combination) {
    dni_svm_options o =
        options_of(combinations[combination].solver, combinations[combination].intercept,
                   combinations[combination].C);
    o.squared = combinations[combination].squared;
    return o;
}

/* Returns overlapping classes for a finite C, separable classes for a hard margin. */
static struct problem problem_for(size_t combination, size_t n, bool sparse) {
    const struct combination *c = &combinations[combination];
    return problem_cloud(c->n > 0 ? c->n : n, c->d > 0 ? c->d : 4, 0.4, isfinite(c->C) ? 1.5 : 0,
                         isfinite(c->C), sparse);
}

/* Results do not depend on the number of threads, nor on the order in which blocks are added. */
static void threads(void **state) {
    (void)state;
    for (size_t combination = 0; combination < COMBINATIONS; combination++) {
        for (size_t sparse = 0; sparse < 2; sparse++) {
            struct problem t = problem_for(combination, 9000, sparse);
            dni_svm_options o = options_for(combination);
            dn_run one = dn_run_default(), many = dn_run_default();
            struct fit a = {0}, b = {0};
            many.sum = sum_in_ranges;
            many.each = each_in_reverse;
            many.n_slots = 3;
            o.tolerance = 1e-3;
            OK(try_svm(&t, &o, &one, &a, NULL));
            OK(try_svm(&t, &o, &many, &b, NULL));
            assert_memory_equal(a.out.w, b.out.w, t.d * sizeof(double));
            assert_memory_equal(a.out.w0, b.out.w0, sizeof(double));
            assert_int_equal(a.report.iterations, b.report.iterations);
            assert_int_equal(a.report.n_details, b.report.n_details);
            for (size_t i = 0; i < a.report.n_details; i++) {
                assert_memory_equal(&a.report.details[i].number, &b.report.details[i].number,
                                    sizeof(double));
            }
            assert_true(a.report.converged);
            fit_done(&a);
            fit_done(&b);
            svm_problem_done(&t);
        }
    }
}

/* An allocator that stores the size in front of each block. now: bytes in use; most: the peak. */
struct meter {
    size_t now, most;
};

static void *meter_allocate(void *ctx, size_t size) {
    struct meter *m = ctx;
    max_align_t *p = malloc(size + sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    memcpy(p, &size, sizeof size);
    m->now += size;
    m->most = m->now > m->most ? m->now : m->most;
    return p + 1;
}

static void meter_release(void *ctx, void *memory) {
    struct meter *m = ctx;
    size_t size;
    if (memory == NULL) {
        return;
    }
    memcpy(&size, (max_align_t *)memory - 1, sizeof size);
    m->now -= size;
    free((max_align_t *)memory - 1);
}

static void memory(void **state) {
    (void)state;
    for (size_t combination = 0; combination < COMBINATIONS; combination++) {
        struct problem t = problem_for(combination, 120, combination % 2);
        const dni_svm_options o = options_for(combination);
        size_t failures = 0;
        for (size_t k = 1;; k++) {
            struct memory left = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&left, true);
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            struct fit fit = {0};
            dn_error err = {0};
            dn_status status = try_svm(&t, &o, &run, &fit, &err);
            assert_true(status == DN_OK ||
                        (status == DN_ERR_BUDGET && err.message[0] != '\0' && fit.out.w == NULL));
            assert_int_equal(left.live, 0);
            failures += status != DN_OK;
            fit_done(&fit);
            if (left.count < k) {
                break;
            }
        }
        assert_true(failures >= 6);
        struct meter meter = {0};
        dn_allocator allocator = {.allocate = meter_allocate,
                                  .release = meter_release,
                                  .ctx = &meter,
                                  .budgeted = true};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit = {0};
        OK(try_svm(&t, &o, &run, &fit, NULL));
        assert_true(meter.now == 0 && meter.most > 0 &&
                    (double)meter.most <= dni_svm_linear_memory(&o, t.n, t.d, 1));
        assert_true(1.5 * (double)meter.most >= dni_svm_linear_memory(&o, t.n, t.d, 1));
        fit_done(&fit);
        svm_problem_done(&t);
    }
}

static void stops(void **state) {
    (void)state;
    for (size_t combination = 0; combination < COMBINATIONS; combination++) {
        struct problem t = problem_for(combination, 100, combination % 2);
        const dni_svm_options o = options_for(combination);
        size_t stopped = 0;
        for (size_t k = 1;; k += 1 + k / 8) {
            struct polls polls = {.stop_at = k};
            dn_run run = polls_run(&polls);
            struct fit fit = {0};
            dn_status status = try_svm(&t, &o, &run, &fit, NULL);
            assert_true(status == DN_OK ||
                        (status == DN_ERR_STOPPED && fit.out.w == NULL && polls.n == k));
            fit_done(&fit);
            if (status == DN_OK) {
                break;
            }
            stopped++;
        }
        assert_true(stopped >= 10);
        svm_problem_done(&t);
    }
}

struct reported {
    size_t n;
    double fraction, loss;
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct reported *reported = run->ctx;
    assert_int_equal(progress->iteration, ++reported->n);
    assert_true(progress->fraction >= reported->fraction && progress->fraction <= 1 &&
                progress->iteration <= progress->max_iterations);
    reported->fraction = progress->fraction;
    reported->loss = progress->loss;
}

static void progress(void **state) {
    (void)state;
    for (size_t combination = 0; combination < COMBINATIONS; combination++) {
        struct problem t = problem_for(combination, 300, false);
        const dni_svm_options o = options_for(combination);
        struct reported reported = {0};
        dn_run run = dn_run_default();
        run.ctx = &reported;
        run.progress = listen;
        struct fit fit = {0};
        OK(try_svm(&t, &o, &run, &fit, NULL));
        assert_int_equal(reported.n, fit.report.iterations);
        assert_true(reported.n > 0 &&
                    (isnan(reported.loss) ||
                     fabs(reported.loss - fit.report.objective) < 0.1 * fit.report.objective));
        fit_done(&fit);
        svm_problem_done(&t);
    }
}

static void fails(const struct problem *t, const dni_svm_options *o, dn_status code,
                  const char *words) {
    dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_error err = {0};
    assert_int_equal(try_svm(t, o, &run, &fit, &err), code);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.message);
    }
    assert_null(fit.out.w);
}

static void overflow(void **state) {
    static const double huge[] = {1, 1e300, 2, 2, 1, 3}, target[] = {0, 1, 1},
                        heavy[] = {1e200, 1, 1}, none[] = {0, 0, 0};
    static const double plain[] = {1, 2, 3, 1, 2, 2};
    (void)state;
    struct problem t = problem_of(huge, target, NULL, 3, 2, false),
                   w = problem_of(plain, target, heavy, 3, 2, false),
                   z = problem_of(plain, target, none, 3, 2, false);
    for (size_t combination = 0; combination < COMBINATIONS; combination++) {
        dni_svm_options o = options_for(combination);
        fails(&t, &o, DN_ERR_NUMERIC, "feature");
        fails(&z, &o, DN_ERR_DATA, "positive, finite sum");
        o.C = 1e200;
        fails(&w, &o, DN_ERR_NUMERIC, "C times the weight of a class overflows");
    }
    svm_problem_done(&t);
    svm_problem_done(&w);
    svm_problem_done(&z);
}

/* A C near the limits of double overflows or underflows. The error message names the C. */
static void extreme_costs(void **state) {
    (void)state;
    struct problem t = problem_cloud(768, 8, 0, 1.5, false, false);
    dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1e-308);
    fails(&t, &o, DN_ERR_NUMERIC,
          "C is too small for them (C is 1e-308); standardise the columns, or set a larger C");
    o.C = 1e305;
    fails(&t, &o, DN_ERR_NUMERIC,
          "C is too large for them (C is 1e+305); standardise the columns, or set a smaller C");
    svm_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads),  cmocka_unit_test(memory),   cmocka_unit_test(stops),
        cmocka_unit_test(progress), cmocka_unit_test(overflow), cmocka_unit_test(extreme_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
