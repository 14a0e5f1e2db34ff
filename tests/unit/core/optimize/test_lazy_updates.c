/* Lazy updates: after any sequence of decays, l1 costs and reads a variable has the value that
 * immediate updates give. */
#include "optimize/lazy.h"
#include "unit/core/support.h"

enum { N = 40, N_PENALISED = 36 };

static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Immediate updates: z, the l1 penalty applied to each variable so far, and the cumulative l1
 * penalty, in units of z. */
struct plain {
    double z[N], applied[N_PENALISED], accrued;
};

static void plain_decay(struct plain *p, double factor) {
    p->accrued *= fmax(factor, 0);
    for (size_t i = 0; i < N_PENALISED; i++) {
        p->z[i] *= factor;
        p->applied[i] *= fmax(factor, 0);
    }
}

/* Tsuruoka, Tsujii and Ananiadou's rule, for every variable. */
static void plain_penalty(struct plain *p, double l1) {
    for (size_t i = 0; i < N_PENALISED; i++) {
        double before = p->z[i];
        if (before > 0) {
            p->z[i] = fmax(0, before - (l1 * p->accrued + p->applied[i]));
        } else if (before < 0) {
            p->z[i] = fmin(0, before + (l1 * p->accrued - p->applied[i]));
        }
        p->applied[i] += p->z[i] - before;
    }
}

/* `decay`: the largest relative decrease in a step; above 1 some factors are negative. */
static size_t course(double l1, double decay, size_t steps, uint64_t seed) {
    struct plain plain = {0};
    double x[N], applied[N_PENALISED] = {0};
    size_t zeros = 0;
    dni_lazy lazy = {.x = x,
                     .applied = l1 > 0 ? applied : NULL,
                     .n_penalised = N_PENALISED,
                     .l1 = l1,
                     .scale = 1};
    for (size_t i = 0; i < N; i++) {
        x[i] = plain.z[i] = draw(&seed) - 0.5;
    }
    for (size_t s = 0; s < steps; s++) {
        size_t seen[3];
        for (size_t k = 0; k < 3; k++) { /* variables that are read must be up to date */
            seen[k] = (size_t)(draw(&seed) * N_PENALISED);
            if (l1 > 0) {
                dni_lazy_apply(&lazy, seen[k]);
            }
            assert_near(1 + lazy.scale * x[seen[k]], 1 + plain.z[seen[k]], 1e-12);
        }
        double factor = 1 - decay * draw(&seed), cost = 0.1 * draw(&seed);
        dni_lazy_decay(&lazy, factor);
        plain_decay(&plain, factor);
        for (size_t k = 0; k < 3; k++) {
            double step = 0.4 * (draw(&seed) - 0.5);
            x[seen[k]] += step / lazy.scale;
            plain.z[seen[k]] += step;
        }
        x[N_PENALISED] += 1; /* not penalised: no decay and no l1 cost */
        plain.z[N_PENALISED] += 1;
        lazy.accrued += cost / lazy.scale;
        plain.accrued += cost;
        if (l1 > 0) {
            plain_penalty(&plain, l1);
        }
    }
    dni_lazy_apply_all(&lazy);
    assert_true(lazy.scale == 1);
    assert_near(1 + lazy.accrued, 1 + plain.accrued, 1e-11);
    for (size_t i = 0; i < N; i++) {
        assert_near(1 + x[i], 1 + plain.z[i], 1e-11);
        assert_int_equal(x[i] == 0, plain.z[i] == 0);
        zeros += x[i] == 0;
    }
    return zeros;
}

static void lazy_updates_equal_immediate_updates(void **state) {
    (void)state;
    const double decays[] = {0, 0.01, 0.5, 1, 1.6};
    for (size_t i = 0; i < 5; i++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            course(0, decays[i], 400, seed);
            size_t zeros = course(0.1, decays[i], 60, seed);
            assert_true(zeros < N);
            if (decays[i] == 0) {
                assert_true(course(1, 0, 60, seed) > 0); /* some variables stay 0 */
            }
        }
    }
}

/* A scale of 2^-n is renormalised before it underflows. */
static void far_decay(void **state) {
    (void)state;
    double x[] = {1, -1}, applied[] = {0, 0};
    dni_lazy lazy = {.x = x, .applied = applied, .n_penalised = 1, .l1 = 1, .scale = 1};
    for (size_t s = 0; s < 5000; s++) {
        dni_lazy_decay(&lazy, 0.5);
        dni_lazy_apply(&lazy, 0);
        x[0] += 0.25 / lazy.scale;
        assert_true(isfinite(x[0]) && lazy.scale > 0);
    }
    dni_lazy_apply_all(&lazy);
    assert_near(x[0], 0.5, 1e-12);
    assert_true(x[1] == -1);
    dni_lazy_decay(&lazy, 0); /* all is forgotten */
    assert_true(x[0] == 0 && lazy.scale == 1 && lazy.accrued == 0 && x[1] == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lazy_updates_equal_immediate_updates),
                                       cmocka_unit_test(far_decay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
