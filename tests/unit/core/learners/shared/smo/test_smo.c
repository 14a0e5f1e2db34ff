/* The loop of sequential minimal optimisation: steps beyond the tolerance towards a finer one, and
 * their budget. */
#include "base/random.h"
#include "learners/shared/smo/smo.h"
#include "unit/core/support.h"

enum { N = 120, D = 3 };

/* Two overlapping classes and their Gram matrix: (x'z)^3, whose eigenvalues differ widely, or
 * exp(−‖x − z‖²). */
struct dual {
    signed char t[N];
    double upper[N], linear[N], gram[N * N];
};

static void fill(struct dual *p, bool polynomial, double C) {
    double x[N][D];
    dni_random random;
    dni_random_init(&random, 3, 1);
    for (size_t i = 0; i < N; i++) {
        p->t[i] = i % 2 == 0 ? 1 : -1;
        p->linear[i] = p->t[i];
        p->upper[i] = C;
        for (size_t j = 0; j < D; j++) {
            x[i][j] = dni_random_uniform(&random, -1.5, 1.5) + (j == 0 ? 0.2 * p->t[i] : 0);
        }
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            double product = 0, square = 0;
            for (size_t k = 0; k < D; k++) {
                product += x[i][k] * x[j][k];
                square += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]);
            }
            p->gram[i * N + j] = polynomial ? product * product * product : exp(-square);
        }
    }
}

static dni_smo solve(const struct dual *p, double tolerance, double fine) {
    uint32_t list[N];
    double alpha[N] = {0}, g[N];
    dni_smo_rows *rows;
    const dn_run run = dn_run_default();
    const dni_gram gram = {.n = N, .exact = p->gram, .exact_rows = true};
    for (uint32_t i = 0; i < N; i++) {
        list[i] = i;
    }
    OK(dni_smo_rows_new(NULL, &gram, list, N, 0, &run, &rows, NULL));
    dni_smo smo = {.n = N,
                   .t = p->t,
                   .upper = p->upper,
                   .linear = p->linear,
                   .n_groups = 1,
                   .group_end = {N},
                   .tolerance = tolerance,
                   .fine_tolerance = fine,
                   .max_iterations = 1e8,
                   .alpha = alpha,
                   .g = g};
    OK(dni_smo_solve(&smo, rows, &run, NULL));
    dni_smo_rows_free(rows);
    smo.alpha = smo.g = NULL;
    return smo;
}

/* At most 20 N + min(3 × the steps to `tolerance`, 200 N) steps are made past `tolerance`, even if
 * fine_tolerance is not reached. Tolerance 1 tests the first term of the minimum, 0.1 the second.
 * */
static void steps_past_the_tolerance_are_limited(void **state) {
    (void)state;
    static const double tolerances[] = {1, 0.1};
    static struct dual p;
    fill(&p, true, 10);
    const dni_smo all = solve(&p, 1e-8, 1e-8);
    assert_true(all.converged);
    for (size_t k = 0; k < 2; k++) {
        const double tolerance = tolerances[k];
        const dni_smo coarse = solve(&p, tolerance, tolerance), finer = solve(&p, tolerance, 1e-8);
        const double most = 20 * N + fmin(3 * coarse.iterations, 200 * N);
        assert_true((3 * coarse.iterations < 200 * N) == (k == 0));
        assert_true(coarse.converged && finer.converged);
        assert_true(all.iterations > coarse.iterations + most);
        assert_true(finer.iterations > coarse.iterations &&
                    finer.iterations <= coarse.iterations + most);
        assert_true(finer.violation <= tolerance && finer.violation > 1e-8);
    }
}

/* A problem whose fine_tolerance is reached within the step budget. */
static void fine_tolerance_is_reached(void **state) {
    (void)state;
    static struct dual p;
    fill(&p, false, 1);
    const dni_smo coarse = solve(&p, 1e-3, 1e-3), finer = solve(&p, 1e-3, 1e-12);
    assert_true(coarse.violation > 1e-12 && finer.violation <= 1e-12);
    assert_true(finer.iterations > coarse.iterations);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_past_the_tolerance_are_limited),
        cmocka_unit_test(fine_tolerance_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
