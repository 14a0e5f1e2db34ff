/* Fits of networks: optimality, early stopping, reports and warnings, cancellation and memory. */
#include "learners/mlp/mlp_fit.h"
#include "unit/core/learners/mlp/mlps.h"

static const double two[] = {2}, four[] = {4, 3};

static struct fit fit_seeded(const struct problem *t, const dn_params *p, uint64_t seed) {
    dn_run run = dn_run_default();
    struct fit fit;
    dn_error err = {0};
    run.seed = seed;
    if (fit_rows(t->rows, t->K, p, &run, &fit, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return fit;
}

static double wrong_rows(const struct problem *t, const dni_network *net) {
    double wrong = 0, g[64];
    for (size_t i = 0; i < t->n; i++) {
        size_t best = 0;
        plain_scores(net, t->d, t->x + i * t->d, g);
        for (size_t k = 1; k < scores_of(t); k++) {
            best = g[k] > g[best] ? k : best;
        }
        wrong += t->K == 2 ? (g[0] > 0) != (t->target[i] == 1) : best != (size_t)t->target[i];
    }
    return wrong;
}

static const dn_detail *detail_of(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return &report->details[i];
        }
    }
    fail_msg("no detail %s", name);
    return NULL;
}

/* A network with two hidden units learns exclusive or, for every activation and several seeds. */
static void exclusive_or(void **state) {
    (void)state;
    const char *const activations[] = {"auto", "sigmoid", "tanh"};
    struct problem t = {.n = 4, .d = 2, .K = 2};
    double x[] = {0, 0, 0, 1, 1, 0, 1, 1}, y[] = {0, 1, 1, 0};
    t.x = x;
    t.target = y;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 4, 2), y, NULL, &t.rows, NULL));
    for (int a = 0; a < 3; a++) {
        size_t learned = 0;
        dn_params *p = mlp_params("auto", two, 1);
        OK(dn_params_set_word(p, "activation", activations[a], NULL));
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct fit fit = fit_seeded(&t, p, seed);
            const dn_detail *starts = detail_of(&fit.report, "start_objectives");
            learned += wrong_rows(&t, fit.out.network) == 0;
            assert_true(fit.report.converged);
            assert_true(logistic_detail(&fit.report, "starts") == 10 && starts->n_list == 10);
            double least = starts->list[0];
            for (size_t i = 1; i < 10; i++) {
                least = fmin(least, starts->list[i]);
            }
            assert_near(fit.report.objective, least, 1e-12);
            assert_true(starts->list[(size_t)logistic_detail(&fit.report, "kept_start") - 1] ==
                        least);
            fit_done(&fit);
        }
        assert_true(learned >= 9);
        dn_params_free(p);
    }
    dn_rows_free(t.rows);
}

/* After convergence no change of a weight lowers the objective, by central differences of plain
 * loops. The reported objective is that of the plain loops. */
static void optimum(void **state) {
    (void)state;
    for (int c = 0; c < 4; c++) {
        struct problem t = problem_curved(150, 4, c & 1 ? 2 : 3, c & 2, false);
        dn_params *p = mlp_params("lbfgs", four, 2);
        OK(dn_params_set_number(p, "lambda", 1e-2, NULL));
        OK(dn_params_set_number(p, "tolerance", 1e-7, NULL));
        struct fit fit = fit_problem(&t, p);
        assert_true(fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
        assert_non_null(fit.out.network);
        assert_int_equal(fit.out.network->n_layers, 3);
        assert_near(fit.report.objective, plain_objective(&t, fit.out.network, 1e-2, NULL, false),
                    1e-12);
        for (size_t i = 0; i < (size_t)logistic_detail(&fit.report, "variables"); i++) {
            double *w = fit.out.network->w + i, at = *w, h = 1e-4 / (i < 4 ? 100 : 1);
            *w = at + h;
            const double above = plain_objective(&t, fit.out.network, 1e-2, NULL, false);
            *w = at - h;
            const double below = plain_objective(&t, fit.out.network, 1e-2, NULL, false);
            *w = at;
            assert_true(fabs(above - below) / 2e-4 < 2e-6);
        }
        for (size_t k = 0; k < 4; k++) { /* the constant column has no information */
            assert_true(fit.out.network->w[3 * 4 + k] == 0);
        }
        fit_done(&fit);
        dn_params_free(p);
        logistic_problem_done(&t);
    }
}

/* A fit to columns in other units takes the same steps. Only the weights of the first layer differ,
 * by the units. */
static void units_of_columns(void **state) {
    (void)state;
    const char *const solvers[] = {"lbfgs", "adam"};
    for (int s = 0; s < 2; s++) {
        struct problem t = problem_curved(300, 4, 3, false, false),
                       scaled = problem_curved(300, 4, 3, false, false);
        dn_params *p = mlp_params(solvers[s], four, 1);
        OK(dn_params_set_number(p, "lambda", 0, NULL));
        OK(dn_params_set_number(p, "max_iterations", 40, NULL));
        for (size_t i = 0; i < 300 * 4; i++) {
            scaled.x[i] *= 1024;
        }
        struct fit fit = fit_problem(&t, p), other = fit_problem(&scaled, p);
        assert_int_equal(fit.report.iterations, other.report.iterations);
        assert_near(fit.report.objective, other.report.objective, 1e-12);
        for (size_t i = 0; i < 16; i++) {
            assert_true(fabs(fit.out.network->w[i] - 1024 * other.out.network->w[i]) <=
                        1e-9 * (1 + fabs(fit.out.network->w[i])));
        }
        fit_done(&fit);
        fit_done(&other);
        dn_params_free(p);
        logistic_problem_done(&t);
        logistic_problem_done(&scaled);
    }
}

/* Both solvers learn a nonlinear class border, from dense and sparse rows. Another seed gives
 * another model. The same seed gives the same bytes for any number of threads. */
static void solvers(void **state) {
    (void)state;
    const char *const names[] = {"lbfgs", "adam"};
    const double units[] = {20};
    for (int c = 0; c < 4; c++) {
        struct problem t = problem_curved(4200, 4, 2, false, c & 1);
        dn_params *p = mlp_params(names[c / 2], units, 1);
        for (size_t i = 0; i < t.n; i++) { /* a disc */
            t.target[i] = t.x[4 * i + 1] * t.x[4 * i + 1] + t.x[4 * i + 2] * t.x[4 * i + 2] < 1.5;
        }
        OK(dn_params_set_number(p, "max_iterations", c / 2 == 0 ? 40 : 8, NULL));
        if (c / 2 == 1) {
            OK(dn_params_set_number(p, "batch_size", 50, NULL));
        }
        struct fit fit = fit_seeded(&t, p, 1), again, other = fit_seeded(&t, p, 2);
        const size_t n = (size_t)logistic_detail(&fit.report, "variables");
        dn_run run = dn_run_default();
        run.n_slots = 3;
        run.sum = sum_in_ranges;
        run.each = each_in_reverse;
        OK(fit_rows(t.rows, 2, p, &run, &again, NULL));
        assert_true(wrong_rows(&t, fit.out.network) < 0.1 * 4200);
        assert_memory_equal(fit.out.network->w, again.out.network->w, n * sizeof(double));
        assert_true(memcmp(fit.out.network->w, other.out.network->w, n * sizeof(double)) != 0);
        assert_near(fit.report.objective, plain_objective(&t, fit.out.network, 1e-3, NULL, false),
                    1e-10);
        fit_done(&fit);
        fit_done(&again);
        fit_done(&other);
        dn_params_free(p);
        logistic_problem_done(&t);
    }
}

/* ---- validation rows ---- */
static void validation_rows(void **state) {
    (void)state;
    struct problem t = problem_curved(5000, 3, 3, true, false);
    const dn_run run = dn_run_default();
    bool *validation = xcalloc(5000, sizeof *validation);
    size_t n = 0, counted = 0;
    OK(dni_mlp_choose_validation(t.rows, 3, 0.2, &run, validation, &n, NULL));
    for (size_t k = 0; k < 3; k++) {
        size_t own = 0, of = 0;
        for (size_t i = 0; i < 5000; i++) {
            of += t.target[i] == (double)k && t.weight[i] > 0;
            own += t.target[i] == (double)k && validation[i];
            assert_true(!validation[i] || t.weight[i] > 0);
        }
        assert_int_equal(own, (size_t)round(0.2 * (double)of));
        counted += own;
    }
    assert_int_equal(counted, n);
    free(validation);
    logistic_problem_done(&t);
}

/* The kept weights are those with the least loss on the validation rows, which are not used for
 * learning: other classes of validation rows change the pass at which the fit stops, not its
 * steps. */
static void early_stopping(void **state) {
    (void)state;
    const char *const names[] = {"lbfgs", "adam"};
    const double units[] = {30};
    for (int s = 0; s < 2; s++) {
        struct problem t = problem_curved(400, 5, 2, false, false);
        dn_params *p = mlp_params(names[s], units, 1);
        OK(dn_params_set_number(p, "early_stopping", 0.25, NULL));
        OK(dn_params_set_number(p, "lambda", 0, NULL));
        OK(dn_params_set_number(p, "patience", 5, NULL));
        struct fit fit = fit_problem(&t, p);
        const dn_run run = dn_run_default();
        bool *validation = xcalloc(400, sizeof *validation);
        size_t n = 0;
        OK(dni_mlp_choose_validation(t.rows, 2, 0.25, &run, validation, &n, NULL));
        assert_int_equal(fit.report.stop_reason, DN_STOP_EARLY_STOPPING);
        assert_true(fit.report.converged);
        assert_true(logistic_detail(&fit.report, "validation_rows") == (double)n);
        assert_true(logistic_detail(&fit.report, "kept_iteration") ==
                    (double)(fit.report.iterations - 5));
        assert_near(fit.report.objective,
                    plain_objective(&t, fit.out.network, 0, validation, false), 1e-10);
        assert_near(logistic_detail(&fit.report, "validation_loss"),
                    plain_objective(&t, fit.out.network, 0, validation, true), 1e-10);
        for (size_t i = 0; i < 400; i++) {
            if (validation[i]) {
                t.target[i] = 1 - t.target[i];
            }
        }
        OK(dn_params_set_number(p, "max_iterations", 1, NULL));
        OK(dn_params_set_number(p, "early_stopping", 0, NULL));
        t.weight = xcalloc(400, sizeof(double)); /* rows of weight 0 change nothing */
        for (size_t i = 0; i < 400; i++) {
            t.weight[i] = !validation[i];
        }
        dn_rows_free(t.rows);
        OK(dn_rows_from_matrix(dn_matrix_dense(t.x, 400, 5), t.target, t.weight, &t.rows, NULL));
        struct fit without = fit_problem(&t, p);
        assert_near(without.report.objective,
                    plain_objective(&t, without.out.network, 0, NULL, false), 1e-10);
        fit_done(&fit);
        fit_done(&without);
        free(validation);
        dn_params_free(p);
        logistic_problem_done(&t);
    }
}

/* With one row in each class the validation set is empty. */
static void one_row_per_class_gives_no_validation_rows(void **state) {
    (void)state;
    const double x[] = {1, 2, 3}, y[] = {0, 1, 2};
    dn_rows *rows;
    struct fit fit;
    const dn_run run = dn_run_default();
    dn_params *p = mlp_params("auto", two, 1);
    OK(dn_params_set_number(p, "early_stopping", 0.5, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 3, 1), y, NULL, &rows, NULL));
    OK(fit_rows(rows, 3, p, &run, &fit, NULL));
    assert_true(logistic_warned(&fit.report, "there are no validation rows"));
    fit_done(&fit);
    dn_rows_free(rows);
    dn_params_free(p);
}

/* ---- what is said ---- */
struct history {
    size_t n, last;
    double loss[600], fraction;
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct history *h = run->ctx;
    assert_true(isfinite(progress->loss) && isfinite(progress->gradient_norm) &&
                progress->train_error >= 0 && progress->train_error <= 1);
    assert_true(progress->fraction >= h->fraction && progress->fraction <= 1);
    h->fraction = progress->fraction;
    assert_true(h->n < 600);
    h->loss[h->n++] = progress->loss;
    h->last = progress->iteration;
}

static void history(void **state) {
    (void)state;
    struct problem t = problem_curved(300, 4, 3, false, false);
    for (int s = 0; s < 3; s++) {
        dn_params *p = mlp_params(s == 1 ? "adam" : "lbfgs", four, 2);
        struct history h = {0};
        dn_run run = dn_run_default();
        struct fit fit;
        run.ctx = &h;
        run.progress = listen;
        OK(dn_params_set_number(p, "max_iterations", 12, NULL));
        OK(dn_params_set_number(p, "restarts", s == 2 ? 3 : 1, NULL));
        OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
        assert_int_equal(fit.report.iterations, s == 2 ? 36 : 12);
        assert_int_equal(h.n, fit.report.iterations); /* without the starts */
        assert_int_equal(h.last, fit.report.iterations);
        assert_false(fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
        assert_true(logistic_warned(&fit.report, "more max_iterations"));
        double least = h.loss[0];
        for (size_t i = 1; i < h.n; i++) {
            least = fmin(least, h.loss[i]);
        }
        assert_near(fit.report.objective, least, 1e-12);
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

/* Adam stops when further passes do not lower the objective. */
static void adam_stops_without_progress(void **state) {
    (void)state;
    struct problem t = problem_curved(200, 3, 2, false, false);
    dn_params *p = mlp_params("adam", two, 1);
    OK(dn_params_set_number(p, "lambda", 0.1, NULL));
    OK(dn_params_set_word(p, "schedule", "constant", NULL));
    OK(dn_params_set_number(p, "max_iterations", 5000, NULL));
    struct fit fit = fit_problem(&t, p);
    assert_true(fit.report.converged && fit.report.iterations < 5000);
    assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
    fit_done(&fit);
    dn_params_free(p);
    logistic_problem_done(&t);
}

/* Fits that keep their start: steps that are too long, steps too short to change a weight, and no
 * step because the square of the penalty's gradient overflows. */
static void start_is_kept_if_no_step_improves_it(void **state) {
    (void)state;
    const struct {
        double rate, lambda;
        const char *words;
    } cases[] = {{1000, 0, "another learning_rate (it is 1000)"},
                 {1e-300, 0, "another learning_rate (it is 1e-300)"},
                 {2e-3, 1e300, "another learning_rate (it is 0.002), or a smaller lambda"}};
    struct problem t = problem_curved(200, 3, 2, false, false);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        dn_params *p = mlp_params("adam", two, 1);
        OK(dn_params_set_number(p, "learning_rate", cases[c].rate, NULL));
        OK(dn_params_set_number(p, "lambda", cases[c].lambda, NULL));
        OK(dn_params_set_word(p, "schedule", "constant", NULL));
        struct fit fit = fit_problem(&t, p);
        assert_true(logistic_detail(&fit.report, "kept_iteration") == 0 &&
                    fit.report.iterations > 0);
        assert_false(fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_NO_PROGRESS);
        assert_true(logistic_warned(&fit.report, "no step was better than the random start"));
        assert_true(logistic_warned(&fit.report, cases[c].words));
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

/* ---- what is refused ---- */
static void refused(const dn_params *p, const char *field, const char *words) {
    dn_error err = {0};
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, field);
    if (strstr(err.message, words) == NULL) {
        fail_msg("%s", err.message);
    }
}

static void parameters(void **state) {
    (void)state;
    double many[17];
    const double half[] = {3, 2.5};
    dn_params *p = mlp_params("auto", NULL, 0);
    dn_error err = {0};
    assert_int_equal(dn_params_set_list(p, "layers", half, 2, &err), DN_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "a list of integers"));
    assert_int_equal(err.row, 1);
    for (int i = 0; i < 17; i++) {
        many[i] = 2;
    }
    OK(dn_params_set_list(p, "layers", many, 17, NULL));
    refused(p, "layers", "1 to 16");
    OK(dn_params_set_list(p, "layers", many, 16, NULL));
    OK(dn_params_check(p, NULL));
    OK(dn_params_set_word(p, "solver", "lbfgs", NULL));
    OK(dn_params_set_number(p, "learning_rate", 0.1, NULL));
    refused(p, "learning_rate", "solver adam");
    OK(dn_params_set_word(p, "learning_rate", "auto", NULL));
    OK(dn_params_set_number(p, "batch_size", 10, NULL));
    refused(p, "batch_size", "solver adam");
    OK(dn_params_set_word(p, "batch_size", "auto", NULL));
    OK(dn_params_set_word(p, "schedule", "constant", NULL));
    refused(p, "schedule", "solver adam");
    dn_params_free(p);
    /* the values that "auto" is resolved to */
    p = mlp_params("auto", NULL, 0);
    OK(dn_params_resolve(p, 60000, 784, 10, NULL));
    size_t n;
    assert_true(dn_params_list(p, "layers", &n)[0] == 16 && n == 1);
    assert_string_equal(dn_params_word(p, "solver"), "adam");
    assert_string_equal(dn_params_word(p, "activation"), "relu");
    assert_true(dn_params_number(p, "max_iterations") == 50 &&
                dn_params_number(p, "batch_size") == 256);
    OK(dn_params_check(p, NULL));
    dn_params_free(p);
    p = mlp_params("auto", two, 1);
    OK(dn_params_resolve(p, 4, 2, 2, NULL));
    assert_string_equal(dn_params_word(p, "solver"), "lbfgs");
    assert_string_equal(dn_params_word(p, "activation"), "tanh");
    assert_true(dn_params_number(p, "restarts") == 10);
    OK(dn_params_check(p, NULL));
    dn_params_free(p);
}

/* A fit that any poll of the stop flag cancels, or whose k-th allocation fails, returns the right
 * status and leaks nothing. The memory is at most the estimate. */
static void stops_and_memory(void **state) {
    (void)state;
    const char *const names[] = {"lbfgs", "adam"};
    for (int c = 0; c < 4; c++) {
        struct problem t = problem_curved(200, 4, 3, false, c & 1);
        dn_params *p = mlp_params(names[c / 2], four, 2);
        OK(dn_params_set_number(p, "max_iterations", 3, NULL));
        OK(dn_params_set_number(p, "early_stopping", 0.2, NULL));
        OK(dn_params_set_number(p, "restarts", 2, NULL));
        struct polls polls = {0};
        dn_run run = polls_run(&polls);
        struct fit fit;
        OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
        fit_done(&fit);
        const size_t n_polls = polls.n;
        for (size_t k = 1; k <= n_polls; k += 23) {
            polls = (struct polls){.stop_at = k};
            assert_int_equal(fit_rows(t.rows, 3, p, &run, &fit, NULL), DN_ERR_STOPPED);
            assert_int_equal(polls.n, k);
        }
        struct memory memory = {.left = SIZE_MAX};
        const dn_allocator allocator = memory_allocator(&memory, true);
        run = dn_run_default();
        run.allocator = &allocator;
        OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
        fit_done(&fit);
        const size_t allocations = memory.count;
        assert_int_equal(memory.live, 0);
        for (size_t k = 1; k <= allocations; k++) {
            memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
            assert_int_equal(fit_rows(t.rows, 3, p, &run, &fit, NULL), DN_ERR_BUDGET);
            assert_int_equal(memory.live, 0);
        }
        struct meter meter = {0};
        const dn_allocator metered = {.allocate = meter_allocate,
                                      .release = meter_release,
                                      .ctx = &meter,
                                      .budgeted = true};
        run.allocator = &metered;
        OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
        assert_true((double)meter.most <= estimated_memory(p, 200, 4, 3, 1));
        assert_int_equal(meter.now, 0);
        fit_done(&fit);
        dn_params_free(p);
        logistic_problem_done(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_or),
        cmocka_unit_test(optimum),
        cmocka_unit_test(units_of_columns),
        cmocka_unit_test(solvers),
        cmocka_unit_test(validation_rows),
        cmocka_unit_test(early_stopping),
        cmocka_unit_test(one_row_per_class_gives_no_validation_rows),
        cmocka_unit_test(history),
        cmocka_unit_test(adam_stops_without_progress),
        cmocka_unit_test(start_is_kept_if_no_step_improves_it),
        cmocka_unit_test(parameters),
        cmocka_unit_test(stops_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
