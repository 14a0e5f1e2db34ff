/* Conjugate gradients: known solutions, least norm for singular matrices, and the stop reasons of
 * systems that are not solved. */
#include "optimize/conjugate_gradients.h"
#include "unit/core/support.h"

enum { N = 12, S = 3 };

struct problem {
    double a[N * N], b[S * N], scale[N];
    double drift; /* added to every product: enlarged rounding errors */
    size_t products, residuals, n_accepted;
};

static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

/* A = Σ of `rank` outer products; b_k in the range of A; columns of different units. */
static struct problem problem_of(size_t rank) {
    struct problem t = {0};
    uint64_t state = 99;
    double f[N * N];
    for (size_t i = 0; i < rank * N; i++) {
        f[i] = draw(&state) * pow(10, (double)(i % N % 4));
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            for (size_t r = 0; r < rank; r++) {
                t.a[i * N + j] += f[r * N + i] * f[r * N + j];
            }
        }
    }
    for (size_t k = 0; k < S; k++) {
        for (size_t r = 0; r < rank; r++) {
            double c = draw(&state);
            for (size_t i = 0; i < N; i++) {
                t.b[k * N + i] += c * f[r * N + i];
            }
        }
    }
    for (size_t i = 0; i < N; i++) {
        t.scale[i] = t.a[i * N + i];
    }
    return t;
}

static void multiply(const struct problem *t, const double *p, double *out) {
    for (size_t k = 0; k < S; k++) {
        for (size_t i = 0; i < N; i++) {
            out[k * N + i] = 0;
            for (size_t j = 0; j < N; j++) {
                out[k * N + i] += t->a[i * N + j] * p[k * N + j];
            }
        }
    }
}

static dn_status product(void *ctx, const dn_run *run, const double *p, double *out,
                         dn_error *err) {
    struct problem *t = ctx;
    (void)run;
    (void)err;
    t->products++;
    multiply(t, p, out);
    for (size_t i = 0; i < S * N; i++) {
        out[i] *= 1 + t->drift * (i % 2 == 0 ? 1 : -1);
    }
    return DN_OK;
}

static dn_status residual(void *ctx, const dn_run *run, const double *x, double *out,
                          dn_error *err) {
    struct problem *t = ctx;
    (void)run;
    (void)err;
    t->residuals++;
    multiply(t, x, out);
    for (size_t i = 0; i < S * N; i++) {
        out[i] = t->b[i] - out[i];
    }
    return DN_OK;
}

static dn_status accepted(void *ctx, const dn_run *run, size_t iteration, const double *x,
                          double measure, dn_error *err) {
    struct problem *t = ctx;
    (void)run;
    (void)err;
    t->n_accepted = iteration == 1 ? 1 : t->n_accepted + 1;
    assert_true(iteration == t->n_accepted && measure >= 0 && isfinite(x[0]));
    return DN_OK;
}

static dni_systems systems_of(struct problem *t, bool preconditioned) {
    return (dni_systems){S, N, t, product, residual, 0, t->scale, preconditioned, accepted};
}

/* Largest ‖b − Ax‖/‖b‖ in the metric of `scale`. */
static double off(const struct problem *t, const double *x) {
    double ax[S * N], most = 0;
    multiply(t, x, ax);
    for (size_t k = 0; k < S; k++) {
        double r = 0, b = 0;
        for (size_t i = k * N; i < (k + 1) * N; i++) {
            r += (t->b[i] - ax[i]) * (t->b[i] - ax[i]) / t->scale[i % N];
            b += t->b[i] * t->b[i] / t->scale[i % N];
        }
        most = fmax(most, b > 0 ? sqrt(r / b) : sqrt(r));
    }
    return most;
}

static void solves(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    for (int preconditioned = 0; preconditioned < 2; preconditioned++) {
        struct problem t = problem_of(N);
        memset(t.b + N, 0, N * sizeof *t.b); /* one right-hand side is 0 */
        dni_systems systems = systems_of(&t, preconditioned);
        dni_systems_outcome outcome;
        double x[S * N];
        for (size_t i = 0; i < S * N; i++) {
            x[i] = (double)NAN; /* it begins with 0 */
        }
        OK(dni_conjugate_gradients(&systems, &run, 1e-9, 500, x, &outcome, NULL));
        assert_int_equal(outcome.reason, DN_STOP_TOLERANCE);
        assert_true(off(&t, x) <= 1e-9 && outcome.measure <= 1e-9);
        assert_near(outcome.measure + 1, off(&t, x) + 1, 1e-12);
        assert_true(outcome.iterations == t.products && outcome.residuals == t.residuals &&
                    t.n_accepted == t.products);
        for (size_t i = N; i < 2 * N; i++) {
            assert_true(x[i] == 0);
        }
    }
}

/* Without a preconditioner the solution has no component in the null space of A. */
static void least_norm(void **state) {
    (void)state;
    enum { RANK = 5 };
    dn_run run = dn_run_default();
    struct problem t = problem_of(RANK);
    dni_systems systems = systems_of(&t, false);
    dni_systems_outcome outcome;
    double x[S * N], y[S * N];
    OK(dni_conjugate_gradients(&systems, &run, 1e-9, 500, x, &outcome, NULL));
    assert_int_equal(outcome.reason, DN_STOP_TOLERANCE);
    assert_true(off(&t, x) <= 1e-9);
    struct problem back = t;
    memcpy(back.b, x, sizeof x);
    dni_systems again = systems_of(&back, false);
    OK(dni_conjugate_gradients(&again, &run, 1e-7, 500, y, &outcome, NULL));
    assert_int_equal(
        outcome.reason,
        DN_STOP_TOLERANCE); /* x is in the range of A, so it is orthogonal to the null space */
    for (size_t k = 0; k < S; k++) { /* a right-hand side outside the range is detected */
        back.b[k * N] += 1;
    }
    OK(dni_conjugate_gradients(&again, &run, 1e-7, 500, y, &outcome, NULL));
    assert_int_not_equal(outcome.reason, DN_STOP_TOLERANCE);
}

static void ends(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    struct problem t = problem_of(N);
    dni_systems systems = systems_of(&t, true);
    dni_systems_outcome outcome;
    double x[S * N];
    OK(dni_conjugate_gradients(&systems, &run, 1e-9, 3, x, &outcome, NULL));
    assert_int_equal(outcome.reason, DN_STOP_MAX_ITERATIONS);
    assert_true(outcome.iterations == 3 && outcome.measure > 1e-9);
    assert_near(outcome.measure, off(&t, x), 1e-9);
    OK(dni_conjugate_gradients(&systems, &run, 0, 500, x, &outcome,
                               NULL)); /* no residual is as small as this tolerance */
    assert_true(outcome.reason != DN_STOP_TOLERANCE && off(&t, x) < 1e-9);
    t.drift = 1e-6; /* with restarts the solver still reaches the tolerance 1e-9 */
    OK(dni_conjugate_gradients(&systems, &run, 1e-9, 5000, x, &outcome, NULL));
    assert_int_equal(outcome.reason, DN_STOP_TOLERANCE);
    assert_true(off(&t, x) <= 1e-9 && outcome.residuals > 2);
    t.b[4] = (double)NAN;
    assert_int_equal(dni_conjugate_gradients(&systems, &run, 1e-9, 5, x, &outcome, NULL),
                     DN_ERR_NUMERIC);
}

static void stop_and_memory(void **state) {
    (void)state;
    struct problem t = problem_of(N);
    dni_systems systems = systems_of(&t, true);
    dni_systems_outcome outcome = {.reason = DN_STOP_EARLY_STOPPING};
    double x[S * N];
    for (size_t at = 1; at <= 3; at++) {
        struct polls polls = {.stop_at = at};
        dn_run run = polls_run(&polls);
        t.n_accepted = 0;
        assert_int_equal(dni_conjugate_gradients(&systems, &run, 1e-9, 500, x, &outcome, NULL),
                         DN_ERR_STOPPED);
        assert_true(polls.n == at && t.n_accepted == at - 1);
    }
    struct memory memory = {.fail_at = 1, .left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, false);
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    assert_int_equal(dni_conjugate_gradients(&systems, &run, 1e-9, 500, x, &outcome, NULL),
                     DN_ERR_MEMORY);
    assert_int_equal(outcome.reason, DN_STOP_EARLY_STOPPING);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves), cmocka_unit_test(least_norm),
                                       cmocka_unit_test(ends), cmocka_unit_test(stop_and_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
