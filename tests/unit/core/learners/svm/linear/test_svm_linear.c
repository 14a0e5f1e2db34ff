/* The linear support vector machine by the interior point: golden numbers, optimality by plain
 * loops, weights, row order, small problems, the interval of the intercept, columns. */
#include "unit/core/learners/svm/svms.h"

static double number(const json_t *entry, const char *name) {
    const json_t *value = json_object_get(entry, name);
    assert_non_null(value);
    return json_number_value(value);
}

static void golden(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits", "pima"};
    (void)state;
    json_t *root = golden_load();
    for (size_t k = 0; k < 5; k++) {
        for (size_t sparse = 0; sparse < 2; sparse++) {
            struct problem t = problem_pair(names[k], true, sparse);
            const json_t *entry = json_object_get(json_object_get(root, names[k]),
                                                  "svm_linear_C1_standardized_first_pair");
            if (t.n == 0) {
                continue;
            }
            const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1);
            struct fit fit = fit_svm(&t, o);
            double *w = xcalloc(t.d, sizeof *w);
            assert_int_equal(golden_numbers(json_object_get(entry, "w"), w), t.d);
            assert_solved(&t, &fit, &o);
            assert_close(fit.out.w, w, t.d, 1e-6);
            assert_near(fit.out.w0[0], number(entry, "w0"), 1e-6);
            assert_near(svm_detail(&fit.report, "primal_objective"), number(entry, "primal"), 1e-6);
            assert_near(svm_detail(&fit.report, "dual_objective"), number(entry, "dual"), 1e-6);
            assert_near(svm_detail(&fit.report, "norm"), number(entry, "norm_w"), 1e-6);
            assert_near(svm_detail(&fit.report, "slack_sum") + 1, number(entry, "sum_slack") + 1,
                        1e-6);
            assert_true(svm_detail(&fit.report, "support_vectors") == number(entry, "n_support"));
            assert_true(svm_detail(&fit.report, "slack_positive") ==
                        number(entry, "n_slack_positive"));
            assert_true(svm_detail(&fit.report, "slack_over_one") ==
                        number(entry, "n_slack_over_one"));
            free(w);
            fit_done(&fit);
            svm_problem_done(&t);
        }
    }
    json_decref(root);
}

static void optimum(void **state) {
    static const double Cs[] = {1e-8, 1e-3, 1, 30, 1e5};
    (void)state;
    for (size_t kind = 0; kind < 4; kind++) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++) {
                struct problem t =
                    problem_cloud(300, 6, kind % 2 ? 0.7 : 0, 2, kind >= 2, kind % 2);
                const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, intercept, Cs[c]);
                struct fit fit = fit_svm(&t, o);
                assert_solved(&t, &fit, &o);
                assert_true(svm_detail(&fit.report, "gap") < 1e-9); /* polished */
                fit_done(&fit);
                svm_problem_done(&t);
            }
        }
    }
}

/* A row with weight 2 equals two rows. A row with weight 0 is ignored. The order of the rows has no
 * effect. */
static void weights_and_order(void **state) {
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        struct problem heavy = problem_cloud(200, 5, 0.3, 2, false, sparse), many = {.d = 5},
                       turned = problem_cloud(200, 5, 0.3, 2, false, sparse);
        const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 0.7);
        heavy.weight = xcalloc(200, sizeof(double));
        many.x = xcalloc(400 * 5, sizeof(double));
        many.target = xcalloc(400, sizeof(double));
        turned.weight = xcalloc(200, sizeof(double));
        for (size_t i = 0; i < 200; i++) {
            heavy.weight[i] = (double)(i % 3);
            for (size_t k = 0; k < i % 3; k++) {
                memcpy(many.x + many.n * 5, heavy.x + i * 5, 5 * sizeof(double));
                many.target[many.n++] = heavy.target[i];
            }
        }
        for (size_t i = 0; i < 200; i++) {
            memcpy(turned.x + i * 5, heavy.x + (199 - i) * 5, 5 * sizeof(double));
            turned.target[i] = heavy.target[199 - i];
            turned.weight[i] = heavy.weight[199 - i];
        }
        dn_rows_free(heavy.rows);
        dn_rows_free(turned.rows);
        OK(dn_rows_from_matrix(dn_matrix_dense(heavy.x, 200, 5), heavy.target, heavy.weight,
                               &heavy.rows, NULL));
        OK(dn_rows_from_matrix(dn_matrix_dense(turned.x, 200, 5), turned.target, turned.weight,
                               &turned.rows, NULL));
        problem_rows(&many, sparse);
        struct fit a = fit_svm(&heavy, o), b = fit_svm(&many, o), c = fit_svm(&turned, o);
        assert_solved(&heavy, &a, &o);
        assert_solved(&many, &b, &o);
        assert_close(a.out.w, b.out.w, 5, 1e-9);
        assert_close(a.out.w, c.out.w, 5, 1e-9);
        assert_near(a.out.w0[0], b.out.w0[0], 1e-9);
        assert_near(a.out.w0[0], c.out.w0[0], 1e-9);
        assert_near(a.report.objective, b.report.objective, 1e-12);
        assert_true(svm_detail(&a.report, "support_vectors") ==
                    svm_detail(&c.report, "support_vectors"));
        fit_done(&a);
        fit_done(&b);
        fit_done(&c);
        svm_problem_done(&heavy);
        svm_problem_done(&many);
        svm_problem_done(&turned);
    }
}

/* Twenty rows on which the predictor-corrector steps can cycle. */
static void circle(void **state) {
    static const double x[] = {
        -0.6612508213654024, -0.4325324792659601,  -0.3095547853116311,  0.24563686704591448,
        -0.7053959223755647, -0.6317063193975263,  -0.2831493543646527,  0.2510786070158885,
        -0.6891604852035591, 1.3956700559458752,   -0.2509610904044354,  0.8710820425130488,
        -0.7377191248668427, 0.3193960040845505,   -0.21726458487462763, -1.976691459664402,
        -0.7141072068388802, -1.0682467342416282,  -0.2261555342258784,  1.2754917168172406,
        -0.7101957446543572, -1.8882563329036168,  -0.3074469287059388,  -0.5525327516170556,
        -0.683757141991463,  0.5206902849473186,   -0.3080046968366431,  0.1413389051981694,
        -0.6963992575896587, 0.6213395212145651,   -0.28637546938400504, -0.32252834799755875,
        -0.6933473118980268, -1.689939549850413,   -0.28395694237994434, -0.003948042445512305,
        -0.7221954872894231, -0.09878842230665606, -0.26376308770985124, -0.38266540739124716};
    double target[20];
    (void)state;
    for (size_t i = 0; i < 20; i++) {
        target[i] = (double)(i % 2);
    }
    struct problem t = problem_of(x, target, NULL, 20, 2, false);
    const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1);
    struct fit fit = fit_svm(&t, o);
    assert_solved(&t, &fit, &o);
    /* The objective that LIBSVM and dni_smo find. */
    assert_near(fit.report.objective, 10.840321083393, 1e-9);
    fit_done(&fit);
    svm_problem_done(&t);
}

/* n rows of d numbers in two classes. Only the first column depends on the class. */
static struct problem small_problem(uint64_t *state, double (*weight)(uint64_t *state, size_t i)) {
    const size_t n = 4 + (size_t)(40 * svm_random(state)), d = 1 + (size_t)(4 * svm_random(state));
    const double apart = 2 * svm_random(state), wide = 0.1 * exp(4 * svm_random(state) - 2);
    struct problem t = {.n = n, .d = d, .x = xcalloc(n * d, sizeof(double))};
    t.target = xcalloc(n, sizeof(double));
    t.weight = xcalloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        t.target[i] = (double)(i % 2);
        t.weight[i] = weight(state, i);
        for (size_t j = 0; j < d; j++) {
            const double noise =
                3 * (svm_random(state) + svm_random(state) + svm_random(state) - 1.5);
            t.x[i * d + j] = j > 0 ? noise : wide * noise + apart * (t.target[i] - 0.5);
        }
    }
    problem_rows(&t, false);
    return t;
}

static double equal(uint64_t *state, size_t i) {
    (void)state;
    (void)i;
    return 1;
}

static double of_many_orders(uint64_t *state, size_t i) {
    (void)i;
    return pow(10, -12 * svm_random(state));
}

static double heavy_and_light(uint64_t *state, size_t i) {
    (void)state;
    return i < 4 ? 1 : 1e-12;
}

/* Every problem converges, with weights from 1e-12 to 1. */
static void any_weights(void **state) {
    static double (*const weights[])(uint64_t *, size_t) = {equal, of_many_orders, heavy_and_light};
    static const double Cs[] = {0.01, 1, 100, 1000};
    (void)state;
    for (uint64_t seed = 0; seed < 8000; seed++) {
        uint64_t random = seed * 7919 + 12345;
        (void)svm_random(&random);
        struct problem t = small_problem(&random, weights[seed % 3]);
        const dni_svm_options o =
            options_of(DNI_SVM_INTERIOR_POINT, (dni_svm_intercept)(seed / 3 % 3), Cs[seed / 9 % 4]);
        struct fit fit = fit_svm(&t, o);
        if (!fit.report.converged || !(svm_detail(&fit.report, "gap") <= o.tolerance)) {
            fail_msg("problem %u: gap %g after %zu iterations, %s", (unsigned)seed,
                     svm_detail(&fit.report, "gap"), (size_t)fit.report.iterations,
                     dn_stop_reason_name(fit.report.stop_reason));
        }
        fit_done(&fit);
        svm_problem_done(&t);
    }
}

/* With no support vector strictly between the bounds, an interval of intercepts is optimal. The fit
 * returns its midpoint. x = ±1, C = 0.1: α = C, w = 0.2, interval ±(1 − w). */
static void interval_of_the_intercept(void **state) {
    static const double x[] = {-1, 1}, target[] = {0, 1};
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        struct problem t = problem_of(x, target, NULL, 2, 1, sparse);
        const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 0.1);
        struct fit fit = fit_svm(&t, o);
        const double *interval = find_detail(&fit.report, "w0_interval")->list;
        assert_solved(&t, &fit, &o);
        assert_near(fit.out.w[0], 0.2, 1e-12);
        assert_near(1 + fit.out.w0[0], 1, 1e-12);
        assert_near(interval[0], -0.8, 1e-12);
        assert_near(interval[1], 0.8, 1e-12);
        assert_true(svm_detail(&fit.report, "support_vectors") == 2 &&
                    svm_detail(&fit.report, "bounded_support_vectors") == 2);
        fit_done(&fit);
        /* One support vector in each class: w = 1, both rows on the margin. */
        struct fit hard = fit_svm(&t, options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 10));
        interval = find_detail(&hard.report, "w0_interval")->list;
        assert_near(hard.out.w[0], 1, 1e-9);
        assert_true(interval[0] == interval[1] && fabs(interval[0]) < 1e-9 &&
                    svm_detail(&hard.report, "bounded_support_vectors") == 0);
        fit_done(&hard);
        svm_problem_done(&t);
    }
}

/* A constant column has weight 0 if the intercept is free. Columns far from 0 lose few digits.
 * margin_raw is the margin in raw features. */
static void columns(void **state) {
    (void)state;
    struct problem t = problem_cloud(250, 4, 0, 1, false, false),
                   far = problem_cloud(250, 4, 0, 1, false, false);
    const double mean[] = {0, 0, 0, 0}, scale[] = {2, 0.5, 1, 4};
    const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 3);
    for (size_t i = 0; i < 250; i++) {
        t.x[i * 4 + 2] = far.x[i * 4 + 2] = 7;
        for (size_t j = 0; j < 4; j++) {
            /* A power of two, so that few digits are lost. */
            far.x[i * 4 + j] += 1048576;
        }
    }
    struct fit a = fit_svm(&t, o), b = fit_svm(&far, o), c = {0};
    assert_solved(&t, &a, &o);
    assert_true(a.out.w[2] == 0 && b.out.w[2] == 0);
    assert_true(b.report.converged);
    assert_close(b.out.w, a.out.w, 4, 1e-5);
    const dn_fit_input input = {.rows = t.rows, .n_classes = 2, .mean = mean, .scale = scale};
    dn_run run = dn_run_default();
    dn_machine *machine;
    OK(dni_svm_linear_fit(&input, &o, &run, &machine, &c.report, NULL));
    c.out = machine_view(machine);
    double sum = 0;
    for (size_t j = 0; j < 4; j++) {
        sum += c.out.w[j] * c.out.w[j] / (scale[j] * scale[j]);
    }
    assert_near(svm_detail(&c.report, "margin_raw"), 1 / sqrt(sum), 1e-12);
    assert_near(svm_detail(&a.report, "margin_raw"), svm_detail(&a.report, "margin"), 1e-12);
    fit_done(&a);
    fit_done(&b);
    fit_done(&c);
    svm_problem_done(&t);
    svm_problem_done(&far);
}

/* All rows are identical: w = 0, the larger class wins, and the margin is NaN. */
static void identical_rows(void **state) {
    static const double x[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, target[] = {0, 1, 0, 0, 1};
    (void)state;
    for (dni_svm_solver solver = DNI_SVM_INTERIOR_POINT; solver <= DNI_SVM_DUAL_COORDINATE_DESCENT;
         solver++) {
        struct problem t = problem_of(x, target, NULL, 5, 2, false);
        const dni_svm_options o = options_of(solver, DNI_SVM_FREE, 1);
        struct fit fit = fit_svm(&t, o);
        assert_solved(&t, &fit, &o);
        assert_true(fit.out.w[0] == 0 && fit.out.w[1] == 0 &&
                    isnan(svm_detail(&fit.report, "margin")));
        assert_near(fit.report.objective, 4, 1e-6);
        assert_near(fit.out.w0[0], -1, 1e-6);
        fit_done(&fit);
        svm_problem_done(&t);
    }
}

static void too_few_iterations(void **state) {
    (void)state;
    struct problem t = problem_cloud(300, 6, 0, 2, false, false);
    dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1);
    o.max_iterations = 2;
    struct fit fit = fit_svm(&t, o);
    assert_false(fit.report.converged);
    assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_true(find_detail(&fit.report, "certified")->boolean &&
                find_detail(&fit.report, "certified")->number == 0);
    assert_true(svm_warned(&fit.report, "max_iterations") && fit.report.iterations == 2);
    /* The report of an unconverged fit still matches the data. */
    const double primal = primal_of(&t, &fit, &o);
    assert_near(fit.report.objective, primal, 1e-9);
    o.max_iterations = 200;
    struct fit best = fit_svm(&t, o);
    assert_true(svm_detail(&fit.report, "dual_objective") <= best.report.objective &&
                best.report.objective <= primal);
    assert_true(svm_detail(&fit.report, "gap") > o.tolerance);
    fit_done(&fit);
    fit_done(&best);
    svm_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(optimum),
        cmocka_unit_test(weights_and_order),
        cmocka_unit_test(circle),
        cmocka_unit_test(any_weights),
        cmocka_unit_test(interval_of_the_intercept),
        cmocka_unit_test(columns),
        cmocka_unit_test(too_few_iterations),
        cmocka_unit_test(identical_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
