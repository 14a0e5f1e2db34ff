/* Solvers for f(x) + Σ l1_i|x_i|, and solvers without a Hessian matrix, on functions constructed to
 * have a given minimum. */
#include "unit/core/support.h"

#include "optimize/definite.h"
#include "optimize/l1/l1.h"
#include "optimize/l1/orthant.h"
#include "optimize/solver.h"

enum { N = 30 };

/* f = ½xᵀAx − bᵀx + Σ ln cosh x_i·c */
struct problem {
    double a[N * N], b[N], l1[N];
    double minimum[N]; /* of F */
    double c;          /* 0: quadratic */
    double tolerance;
    size_t evaluations, fail_at; /* the evaluation or product (from 1) that fails; 0: none */
    size_t accepted, products;
    double last; /* F accepted last */
};

/* A has a given condition and couples all variables. Every third variable of the minimum is 0, some
 * with the subgradient at the end of its interval. l1 of variable 0 is 0. */
static void make(struct problem *p, double strength, double c) {
    *p = (struct problem){.c = c, .tolerance = 1e-10};
    double z[N * N];
    for (size_t i = 0; i < N * N; i++) {
        z[i] = sin((double)(i * i % 1009) + 0.3 * (double)i);
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            p->a[i * N + j] = i == j ? 0.1 : 0;
            for (size_t k = 0; k < N; k++) {
                p->a[i * N + j] += z[i * N + k] * z[j * N + k] / N;
            }
        }
        p->l1[i] = i == 0 ? 0 : strength * (1 + (double)(i % 4));
        p->minimum[i] = i > 0 && i % 3 == 0 ? 0 : (i % 2 == 0 ? 1 : -1) * (0.2 + (double)(i % 7));
    }
    for (size_t i = 0; i < N; i++) {
        double x = p->minimum[i];
        p->b[i] = p->l1[i] * (x > 0 ? 1 : x < 0 ? -1 : 0.9 * sin((double)i)) + c * tanh(x);
        for (size_t j = 0; j < N; j++) {
            p->b[i] += p->a[i * N + j] * p->minimum[j];
        }
    }
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    if (++p->evaluations == p->fail_at) {
        return dn_error_set(err, DN_ERR_SOURCE, "the data are gone");
    }
    *value = 0;
    for (size_t i = 0; i < N; i++) {
        double ax = 0;
        for (size_t j = 0; j < N; j++) {
            ax += p->a[i * N + j] * x[j];
        }
        *value +=
            x[i] * (ax / 2 - p->b[i]) + p->c * (fabs(x[i]) + log1p(exp(-2 * fabs(x[i]))) - log(2));
        gradient[i] = ax - p->b[i] + p->c * tanh(x[i]);
    }
    return DN_OK;
}

static double curvature(const struct problem *p, double x) {
    return p->c * (1 - tanh(x) * tanh(x));
}

static dn_status hessian(void *ctx, const dn_run *run, const double *x, double *h, dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    (void)err;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j <= i; j++) { /* solvers may read the lower triangle only */
            h[i * N + j] = p->a[i * N + j] + (i == j ? curvature(p, x[i]) : 0);
        }
    }
    return DN_OK;
}

static dn_status product(void *ctx, const dn_run *run, const double *x, const double *v,
                         double *out, dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    if (++p->products == p->fail_at) {
        return dn_error_set(err, DN_ERR_SOURCE, "the data are gone");
    }
    for (size_t i = 0; i < N; i++) {
        out[i] = curvature(p, x[i]) * v[i];
        for (size_t j = 0; j < N; j++) {
            out[i] += p->a[i * N + j] * v[j];
        }
    }
    return DN_OK;
}

static dn_status diagonal(void *ctx, const dn_run *run, const double *x, double *out,
                          dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    (void)err;
    for (size_t i = 0; i < N; i++) {
        out[i] = p->a[i * N + i] + curvature(p, x[i]);
    }
    return DN_OK;
}

static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct problem *p = ctx;
    (void)run;
    (void)err;
    assert_int_equal(point->iteration, p->accepted);
    if (p->accepted++ > 0) {
        assert_true(point->value <= p->last + 1e-12 * fabs(p->last));
    }
    p->last = point->value;
    double most = 0;
    for (size_t i = 0; i < N; i++) {
        double g = point->gradient[i], x = point->x[i], l = p->l1[i];
        most = fmax(most, x == 0 ? fabs(g) - l : fabs(g + (x > 0 ? l : -l)));
    }
    if (most <= p->tolerance) {
        *reason = DN_STOP_TOLERANCE;
    }
    return DN_OK;
}

static const dni_solver *const solvers[] = {&dni_solver_proximal_newton, &dni_solver_owlqn,
                                            &dni_solver_newton_cg, &dni_solver_gradient_descent};

static dn_status minimise(const dni_solver *solver, const dni_objective *objective,
                          const dn_run *run, size_t max_iterations, double *x, dni_outcome *out,
                          dn_error *err) {
    const dni_solver_options options = {.max_iterations = max_iterations, .step = 0.1};
    return dni_solver_minimise(solver, objective, run, &options, x, out, err);
}

static dni_objective objective_of(struct problem *p) {
    return (dni_objective){.n = N,
                           .ctx = p,
                           .l1 = p->l1,
                           .evaluate = evaluate,
                           .hessian = hessian,
                           .product = product,
                           .diagonal = diagonal,
                           .accepted = accepted};
}

static void constructed_minima(void **state) {
    (void)state;
    const size_t most[] = {12, 300, 40, 200000};
    const double strengths[] = {1e-3, 0.1, 3};
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 0; i < 3; i++) {
            for (int curved = 0; curved < 2; curved++) {
                for (int far = 0; far < 2; far++) {
                    struct problem p;
                    make(&p, strengths[i], curved ? 0.5 : 0);
                    dn_run run = dn_run_default();
                    dni_objective objective = objective_of(&p);
                    dni_outcome outcome;
                    double x[N] = {0};
                    for (size_t j = 0; far && j < N; j++) {
                        x[j] = 20 * cos((double)j);
                    }
                    OK(minimise(solvers[s], &objective, &run, most[s], x, &outcome, NULL));
                    if (outcome.reason != DN_STOP_TOLERANCE) {
                        fail_msg("solver %zu with l1 %g: %s after %zu", s, strengths[i],
                                 dn_stop_reason_name(outcome.reason), outcome.iterations);
                    }
                    for (size_t j = 0; j < N; j++) {
                        assert_true(fabs(x[j] - p.minimum[j]) < 1e-7);
                        assert_true((x[j] == 0) == (p.minimum[j] == 0));
                    }
                    assert_true(outcome.value == p.last);
                    assert_int_equal(outcome.evaluations, p.evaluations);
                    assert_int_equal(outcome.iterations + 1, p.accepted);
                    assert_int_equal(s == 2 ? outcome.inner : 0, p.products);
                }
            }
        }
    }
}

/* Without l1 the conjugate gradients compute Newton's step: a quadratic is solved in a few steps,
 * to the last digit. */
static void smooth_without_a_matrix(void **state) {
    (void)state;
    for (int curved = 0; curved < 2; curved++) {
        struct problem p;
        make(&p, 0, curved ? 0.5 : 0);
        for (size_t i = 0; i < N; i++) {
            p.l1[i] = 0;
        }
        for (size_t i = 0; i < N; i++) { /* set b: the gradient of f at the minimum is 0 */
            p.b[i] = p.c * tanh(p.minimum[i]);
            for (size_t j = 0; j < N; j++) {
                p.b[i] += p.a[i * N + j] * p.minimum[j];
            }
        }
        dni_objective objective = objective_of(&p);
        objective.l1 = NULL;
        dn_run run = dn_run_default();
        dni_outcome outcome;
        double x[N] = {0};
        OK(minimise(&dni_solver_newton_cg, &objective, &run, 15, x, &outcome, NULL));
        assert_int_equal(outcome.reason, DN_STOP_TOLERANCE);
        for (size_t j = 0; j < N; j++) {
            assert_true(fabs(x[j] - p.minimum[j]) < 1e-8);
        }
    }
}

static void limits(void **state) {
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        struct problem p;
        dn_run run = dn_run_default();
        dni_outcome outcome;
        for (size_t at = 1; at < 4; at++) { /* an evaluation or a product fails */
            make(&p, 0.1, 0.5);
            p.fail_at = at;
            dni_objective objective = objective_of(&p);
            double x[N] = {0};
            assert_int_equal(minimise(solvers[s], &objective, &run, 100, x, &outcome, NULL),
                             DN_ERR_SOURCE);
        }
        make(&p, 0.1, 0.5);
        p.tolerance = -1; /* a tolerance that cannot be reached: the run still ends */
        dni_objective objective = objective_of(&p);
        double x[N] = {0};
        OK(minimise(solvers[s], &objective, &run, 3, x, &outcome, NULL));
        assert_int_equal(outcome.reason, DN_STOP_MAX_ITERATIONS);
        assert_int_equal(outcome.iterations, 3);
        p.accepted = 0;
        OK(minimise(solvers[s], &objective, &run, 1000, x, &outcome, NULL));
        assert_true(outcome.reason == DN_STOP_NO_PROGRESS || outcome.iterations == 1000);
        if (s < 3) { /* solvers 0 to 2 are at the minimum when the run ends */
            for (size_t j = 0; j < N; j++) {
                assert_true(fabs(x[j] - p.minimum[j]) < 1e-6);
            }
        }
        for (size_t k = 1;; k++) {
            make(&p, 0.1, 0);
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, false);
            run.allocator = &allocator;
            objective = objective_of(&p);
            memset(x, 0, sizeof x);
            dn_status status = minimise(solvers[s], &objective, &run, 5, x, &outcome, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                break;
            }
            assert_true(status == DN_ERR_MEMORY && k < 10);
        }
        run.allocator = NULL;
        make(&p, 0.1, 0);
        p.b[3] = (double)NAN;
        objective = objective_of(&p);
        dn_error err = {0};
        assert_int_equal(minimise(solvers[s], &objective, &run, 5, x, &outcome, &err),
                         DN_ERR_NUMERIC);
        assert_non_null(strstr(err.message, "iteration 0"));
    }
}

/* A Hessian that is singular in the direction that l1 determines: f depends on x₀ + x₁ only, so the
 * variable with the smaller l1 takes the whole sum. */
static dn_status evaluate_sum(void *ctx, const dn_run *run, const double *x, double *value,
                              double *gradient, dn_error *err) {
    (void)ctx, (void)run, (void)err;
    double r = x[0] + x[1] - 3;
    *value = r * r / 2;
    gradient[0] = gradient[1] = r;
    return DN_OK;
}

static dn_status hessian_sum(void *ctx, const dn_run *run, const double *x, double *h,
                             dn_error *err) {
    (void)ctx, (void)run, (void)err, (void)x;
    h[0] = h[2] = h[3] = 1;
    return DN_OK;
}

static dn_status product_sum(void *ctx, const dn_run *run, const double *x, const double *v,
                             double *out, dn_error *err) {
    (void)ctx, (void)run, (void)err, (void)x;
    out[0] = out[1] = v[0] + v[1];
    return DN_OK;
}

static dn_status diagonal_sum(void *ctx, const dn_run *run, const double *x, double *out,
                              dn_error *err) {
    (void)ctx, (void)run, (void)err, (void)x;
    out[0] = out[1] = 1;
    return DN_OK;
}

static dn_status accepted_sum(void *ctx, const dn_run *run, const dni_iterate *point,
                              dn_stop_reason *reason, dn_error *err) {
    (void)run, (void)err;
    double v[2];
    dni_l1_subgradient(ctx, point->x, point->gradient, 2, v);
    if (fabs(v[0]) + fabs(v[1]) < 1e-12) {
        *reason = DN_STOP_TOLERANCE;
    }
    return DN_OK;
}

static void singular_curvature(void **state) {
    (void)state;
    double l1[] = {0.2, 0.1};
    for (size_t s = 0; s < 3; s++) {
        for (int start = 0; start < 3; start++) {
            dni_objective objective = {.n = 2,
                                       .ctx = l1,
                                       .l1 = l1,
                                       .evaluate = evaluate_sum,
                                       .hessian = hessian_sum,
                                       .product = product_sum,
                                       .diagonal = diagonal_sum,
                                       .accepted = accepted_sum};
            dn_run run = dn_run_default();
            dni_outcome outcome;
            double x[2] = {start == 0 ? 0 : 5, start == 2 ? -8 : start};
            OK(minimise(solvers[s], &objective, &run, 100, x, &outcome, NULL));
            assert_int_equal(outcome.reason, DN_STOP_TOLERANCE);
            assert_true(x[0] == 0 && fabs(x[1] - 2.9) < 1e-10);
        }
    }
}

static void slopes_and_thresholds(void **state) {
    (void)state;
    assert_true(dni_l1_shrink(3, 1) == 2 && dni_l1_shrink(-3, 1) == -2 &&
                dni_l1_shrink(0.5, 1) == 0 && dni_l1_shrink(-1, 1) == 0);
    assert_true(isnan(dni_l1_shrink((double)NAN, 1))); /* NaN stays NaN */
    assert_true(dni_l1_slope(1, 2, 0.25) == 1.25 && dni_l1_slope(1, -2, 0.25) == -0.75 &&
                dni_l1_slope(1, 0, 0.25) == 0);
    assert_true(dni_l1_slope(1, 0, 1.5) == 0.5 && dni_l1_slope(1, 0, -1.5) == -0.5 &&
                dni_l1_slope(0, 0, -1.5) == -1.5);
    const double l1[] = {1, 2, 0}, x[] = {-3, 0.5, 7};
    assert_true(dni_l1_value(l1, x, 3) == 4 && dni_l1_value(NULL, x, 3) == 0);
    const double at[] = {0, 0, 0, 2}, subgradient[] = {-1, 1, 0, 1};
    double direction[] = {1, 1, 1, 1};
    dni_orthant_align(at, subgradient, 4, direction);
    assert_true(direction[0] == 1 && direction[1] == 0 && direction[2] == 0 && direction[3] == 1);
}

/* Systems of rows and columns 0 and 2 of a matrix: regular, singular, and 0. */
static void systems(void **state) {
    (void)state;
    const double full[] = {4, 0, 0, 9, 9, 0, 1, 9, 2}, b[] = {6, 5};
    const size_t index[] = {0, 2};
    double factor[9], scale[3], x[3];
    bool solved;
    dn_run run = dn_run_default();
    dni_definite system = {
        .matrix = full, .order = 3, .index = index, .n = 2, .factor = factor, .scale = scale};
    OK(dni_definite_solve(&system, &run, b, x, &solved, NULL));
    assert_true(solved && fabs(4 * x[0] + x[1] - 6) < 1e-12 && fabs(x[0] + 2 * x[1] - 5) < 1e-12);
    const double singular[] = {1, 0, 1, 1}, right[] = {2, 2};
    system =
        (dni_definite){.matrix = singular, .order = 2, .n = 2, .factor = factor, .scale = scale};
    OK(dni_definite_solve(&system, &run, right, x, &solved,
                          NULL)); /* nearly the solution of least norm */
    assert_true(solved && fabs(x[0] - 1) < 1e-3 && fabs(x[1] - 1) < 1e-3);
    const double none[] = {(double)NAN, 0, 1, 1};
    system.matrix = none;
    OK(dni_definite_solve(&system, &run, right, x, &solved, NULL));
    assert_false(solved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructed_minima),
        cmocka_unit_test(smooth_without_a_matrix),
        cmocka_unit_test(limits),
        cmocka_unit_test(singular_curvature),
        cmocka_unit_test(slopes_and_thresholds),
        cmocka_unit_test(systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
