/* The solvers on functions with known minima: a badly scaled quadratic, Rosenbrock's valley, a
 * function that is flat far from its minimum, and functions that are not finite. */
#include "unit/core/support.h"

#include "optimize/solver.h"

enum { N = 6 };

struct problem {
    dn_status (*f)(const double *x, double *value, double *gradient, double *hessian);
    double tolerance;
    size_t evaluations, fail_at; /* the evaluation (from 1) that fails; 0: none */
    size_t accepted;
    double last; /* value of the last accepted point: must never grow */
    bool monotone;
};

/* Σ c_i (x_i − i)²/2, c_i = 10^i */
static dn_status quadratic(const double *x, double *value, double *gradient, double *hessian) {
    *value = 0;
    for (size_t i = 0; i < N; i++) {
        double c = pow(10, (double)i), r = x[i] - (double)i;
        *value += c * r * r / 2;
        gradient[i] = c * r;
        for (size_t j = 0; hessian != NULL && j < N; j++) {
            hessian[i * N + j] = i == j ? c : 0;
        }
    }
    return DN_OK;
}

/* Rosenbrock's function of each pair of variables, with its minimum at 1. The Hessian is indefinite
 * at some points, so the Newton solver uses the Gauss–Newton matrix. */
static dn_status rosenbrock(const double *x, double *value, double *gradient, double *hessian) {
    *value = 0;
    if (hessian != NULL) {
        memset(hessian, 0, N * N * sizeof *hessian);
    }
    for (size_t i = 0; i < N; i += 2) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *value += 100 * a * a + b * b;
        gradient[i] = -400 * a * x[i] - 2 * b;
        gradient[i + 1] = 200 * a;
        if (hessian != NULL) {
            hessian[i * N + i] = 800 * x[i] * x[i] + 2;
            hessian[(i + 1) * N + i] = -400 * x[i];
            hessian[(i + 1) * N + i + 1] = 200;
        }
    }
    return DN_OK;
}

/* Σ ln cosh x: from a distant point full Newton steps overshoot more and more. */
static dn_status flat(const double *x, double *value, double *gradient, double *hessian) {
    *value = 0;
    for (size_t i = 0; i < N; i++) {
        double t = tanh(x[i] - 1);
        *value += fabs(x[i] - 1) + log1p(exp(-2 * fabs(x[i] - 1)));
        gradient[i] = t;
        for (size_t j = 0; hessian != NULL && j < N; j++) {
            hessian[i * N + j] = i == j ? 1 - t * t : 0;
        }
    }
    return DN_OK;
}

static dn_status infinite(const double *x, double *value, double *gradient, double *hessian) {
    (void)hessian;
    *value = x[0] > 0 ? (double)INFINITY : 0;
    for (size_t i = 0; i < N; i++) {
        gradient[i] = x[0] > 0 ? (double)NAN : -1;
    }
    return DN_OK;
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    if (++p->evaluations == p->fail_at) {
        return dn_error_set(err, DN_ERR_SOURCE, "the data are gone");
    }
    return p->f(x, value, gradient, NULL);
}

static dn_status hessian(void *ctx, const dn_run *run, const double *x, double *h, dn_error *err) {
    struct problem *p = ctx;
    double value, gradient[N];
    (void)run;
    (void)err;
    return p->f(x, &value, gradient, h);
}

static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    (void)err;
    assert_int_equal(point->iteration, p->accepted);
    p->accepted++;
    if (p->monotone && point->iteration > 0) {
        assert_true(point->value <= p->last * (1 + 1e-13));
    }
    p->last = point->value;
    double most = 0;
    for (size_t i = 0; i < N; i++) {
        most = fmax(most, fabs(point->gradient[i]));
    }
    if (most <= p->tolerance) {
        *reason = DN_STOP_TOLERANCE;
    }
    return DN_OK;
}

static dn_status minimise(const dni_solver *solver, const dni_objective *objective,
                          const dn_run *run, size_t max_iterations, double step, double *x,
                          dni_outcome *out, dn_error *err) {
    const dni_solver_options options = {.max_iterations = max_iterations, .step = step};
    return dni_solver_minimise(solver, objective, run, &options, x, out, err);
}

static dni_objective objective_of(struct problem *p) {
    return (dni_objective){
        .n = N, .ctx = p, .evaluate = evaluate, .hessian = hessian, .accepted = accepted};
}

static void finds(const dni_solver *solver, struct problem problem, const double *start,
                  const double *minimum, size_t most) {
    dn_run run = dn_run_default();
    dni_objective objective = objective_of(&problem);
    dni_outcome outcome;
    double x[N];
    problem.tolerance = 1e-9;
    problem.monotone = true;
    memcpy(x, start, sizeof x);
    OK(minimise(solver, &objective, &run, most, 0, x, &outcome, NULL));
    assert_int_equal(outcome.reason, DN_STOP_TOLERANCE);
    for (size_t i = 0; i < N; i++) {
        assert_true(fabs(x[i] - minimum[i]) < 1e-7);
    }
    assert_int_equal(outcome.evaluations, problem.evaluations);
    assert_int_equal(outcome.iterations + 1, problem.accepted);
}

static const double zeros[N] = {0}, ones[N] = {1, 1, 1, 1, 1, 1}, count[N] = {0, 1, 2, 3, 4, 5};

static void known_minima(void **state) {
    (void)state;
    const double valley[N] = {-1.2, 1, -1.2, 1, 3, -4}, far[N] = {30, -20, 15, 7, -9, 25};
    finds(&dni_solver_newton, (struct problem){.f = quadratic}, zeros, count, 2);
    finds(&dni_solver_newton, (struct problem){.f = rosenbrock}, valley, ones, 500);
    finds(&dni_solver_newton, (struct problem){.f = flat}, far, ones, 200);
    finds(&dni_solver_lbfgs, (struct problem){.f = quadratic}, zeros, count, 200);
    finds(&dni_solver_lbfgs, (struct problem){.f = rosenbrock}, valley, ones, 200);
    finds(&dni_solver_lbfgs, (struct problem){.f = flat}, far, ones, 100);
}

/* x_t − x* = (1 − ηc)^t (x_0 − x*), exactly. */
static void descent_is_geometric(void **state) {
    (void)state;
    struct problem problem = {.f = quadratic};
    dn_run run = dn_run_default();
    dni_objective objective = objective_of(&problem);
    dni_outcome outcome;
    double x[N] = {0};
    OK(minimise(&dni_solver_gradient_descent, &objective, &run, 40, 1e-5, x, &outcome, NULL));
    assert_int_equal(outcome.reason, DN_STOP_MAX_ITERATIONS);
    assert_int_equal(outcome.iterations, 40);
    for (size_t i = 1; i < N; i++) {
        assert_true(fabs((double)i - x[i] - pow(1 - 1e-5 * pow(10, (double)i), 40) * (double)i) <
                    1e-10);
    }
    double y[N] = {0};
    problem.accepted = 0;
    dn_error err = {0};
    assert_int_equal(minimise(&dni_solver_gradient_descent, &objective, &run, 100000, 1, y,
                              &outcome, &err),
                     DN_ERR_NUMERIC); /* 1 > 2/c: diverges */
    assert_non_null(strstr(err.message, "iteration"));
}

static void limits(void **state) {
    (void)state;
    const dni_solver *const solvers[] = {&dni_solver_newton, &dni_solver_lbfgs};
    for (size_t s = 0; s < 2; s++) {
        dn_run run = dn_run_default();
        dni_outcome outcome;
        double x[N] = {1};
        dn_error err = {0};
        struct problem nonsense = {.f = infinite}, stuck = {.f = rosenbrock},
                       gone = {.f = rosenbrock, .fail_at = 3};
        dni_objective objective = objective_of(&nonsense);
        assert_int_equal(minimise(solvers[s], &objective, &run, 10, 0, x, &outcome, &err),
                         DN_ERR_NUMERIC);
        assert_non_null(strstr(err.message, "iteration 0"));
        objective = objective_of(&stuck); /* a tolerance that cannot be reached */
        memset(x, 0, sizeof x);
        stuck.tolerance = -1;
        OK(minimise(solvers[s], &objective, &run, 3, 0, x, &outcome, NULL));
        assert_int_equal(outcome.reason, DN_STOP_MAX_ITERATIONS);
        assert_int_equal(outcome.iterations, 3);
        stuck.accepted = 0;
        OK(minimise(solvers[s], &objective, &run, 10000, 0, x, &outcome, NULL));
        assert_true(outcome.reason == DN_STOP_NO_PROGRESS || outcome.iterations == 10000);
        objective = objective_of(&gone);
        memset(x, 0, sizeof x);
        assert_int_equal(minimise(solvers[s], &objective, &run, 10, 0, x, &outcome, NULL),
                         DN_ERR_SOURCE);
        for (size_t k = 1; k < 3; k++) {
            struct problem fresh = {.f = quadratic, .tolerance = 1e-9};
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, false);
            dn_run poor = dn_run_default();
            poor.allocator = &allocator;
            objective = objective_of(&fresh);
            memset(x, 0, sizeof x);
            dn_status status = minimise(solvers[s], &objective, &poor, 10, 0, x, &outcome, NULL);
            assert_true(memory.count < k ? status == DN_OK : status == DN_ERR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_minima),
                                       cmocka_unit_test(descent_is_geometric),
                                       cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
