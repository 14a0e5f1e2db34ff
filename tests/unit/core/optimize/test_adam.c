/* Adam against its formulas in plain loops, and convergence to the minimum of sums of squares. */
#include "base/random.h"
#include "optimize/adam.h"
#include "unit/core/support.h"

enum { N = 3, ROWS = 7 };

/* f(x) = mean over rows of ½‖x − a_t‖². */
struct squares {
    size_t n;
    double a[ROWS];             /* [t]: a_t has the value a[t] + i in variable i */
    size_t seen[ROWS], batches; /* number of batches that had each row; number of batches */
    size_t orders[64][ROWS];    /* the orders of rows in the first passes */
    size_t at, passes;
    double gradient_offset; /* added to the gradient */
    double values[512];
};

static dn_status batch(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                       const double *x, double *gradient, dn_error *err) {
    struct squares *s = ctx;
    (void)run;
    (void)err;
    for (size_t i = 0; i < s->n; i++) {
        gradient[i] = s->gradient_offset;
        for (size_t t = 0; t < n_rows; t++) {
            gradient[i] += (x[i] - s->a[order[t]] - (double)(i % 5)) / (double)n_rows;
        }
    }
    for (size_t t = 0; t < n_rows; t++) {
        s->seen[order[t]]++;
        if (s->passes < 64) {
            s->orders[s->passes][s->at++] = order[t];
        }
    }
    s->batches++;
    return DN_OK;
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    size_t order[ROWS];
    struct squares *s = ctx, still = *s;
    still.passes = 64; /* this evaluation is not a batch of a pass */
    for (size_t t = 0; t < ROWS; t++) {
        order[t] = t;
    }
    *value = 0;
    for (size_t i = 0; i < s->n; i++) {
        for (size_t t = 0; t < ROWS; t++) {
            *value += (x[i] - s->a[t] - (double)(i % 5)) * (x[i] - s->a[t] - (double)(i % 5)) /
                      (2 * ROWS);
        }
    }
    dn_status status = batch(&still, run, order, ROWS, x, gradient, err);
    return status;
}

static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct squares *s = ctx;
    (void)run;
    (void)err;
    (void)reason;
    if (point->iteration < 512) {
        s->values[point->iteration] = point->value;
    }
    s->passes = point->iteration;
    s->at = 0;
    return DN_OK;
}

static struct squares squares_of(size_t n) {
    struct squares s = {.n = n};
    for (size_t t = 0; t < ROWS; t++) {
        s.a[t] = sin((double)t) * 3;
    }
    return s;
}

static dni_adam_settings settings_of(size_t passes, size_t batch_rows, bool linear_decay) {
    return (dni_adam_settings){.max_passes = passes,
                               .n_rows = ROWS,
                               .batch_rows = batch_rows,
                               .rate = 0.05,
                               .linear_decay = linear_decay,
                               .seed = 9,
                               .stream = 3,
                               .batch = batch};
}

static dni_objective objective_of(struct squares *s) {
    return (dni_objective){.n = s->n, .ctx = s, .evaluate = evaluate, .accepted = accepted};
}

/* Algorithm 1 of Kingma and Ba in plain loops, with the orders of rows that the fit used. */
static void steps_match_the_published_algorithm(void **state) {
    (void)state;
    for (int linear_decay = 0; linear_decay < 2; linear_decay++) {
        struct squares s = squares_of(N);
        const dni_objective o = objective_of(&s);
        const dni_adam_settings settings = settings_of(4, 3, linear_decay);
        const dn_run run = dn_run_default();
        dni_outcome outcome;
        double x[N] = {1, -2, 0.5}, y[N] = {1, -2, 0.5}, m[N] = {0}, v[N] = {0};
        OK(dni_adam(&o, &run, &settings, x, &outcome, NULL));
        assert_int_equal(outcome.iterations, 4);
        assert_int_equal(outcome.evaluations, 5);
        assert_int_equal(outcome.reason, DN_STOP_MAX_ITERATIONS);
        assert_int_equal(s.batches, 12); /* 3 + 3 + 1 rows */
        for (int step = 0; step < 12; step++) {
            const size_t *order = s.orders[step / 3] + step % 3 * 3, n = step % 3 == 2 ? 1 : 3;
            const double rate = linear_decay ? 0.05 * (12 - step) / 12 : 0.05;
            for (size_t i = 0; i < N; i++) {
                double g = 0;
                for (size_t t = 0; t < n; t++) {
                    g += (y[i] - s.a[order[t]] - (double)i) / (double)n;
                }
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.999 * v[i] + 0.001 * g * g;
                const double mean = m[i] / (1 - pow(0.9, step + 1)),
                             square = v[i] / (1 - pow(0.999, step + 1));
                y[i] -= rate * mean / (sqrt(square) + 1e-8);
            }
        }
        assert_close(x, y, N, 1e-12);
    }
}

/* Every pass uses each row once, in a different order. The seed and the stream determine the
 * orders. */
static void orders(void **state) {
    (void)state;
    struct squares s[3];
    for (int k = 0; k < 3; k++) {
        s[k] = squares_of(N);
        const dni_objective o = objective_of(&s[k]);
        dni_adam_settings settings = settings_of(20, 2, true);
        settings.stream += k == 2;
        const dn_run run = dn_run_default();
        dni_outcome outcome;
        double x[N] = {0};
        OK(dni_adam(&o, &run, &settings, x, &outcome, NULL));
        for (size_t t = 0; t < ROWS; t++) {
            assert_int_equal(s[k].seen[t], 20);
        }
    }
    assert_memory_equal(s[0].orders, s[1].orders, 20 * sizeof s[0].orders[0]);
    assert_true(memcmp(s[0].orders, s[2].orders, sizeof s[0].orders[0]) != 0 ||
                memcmp(s[0].orders[1], s[2].orders[1], sizeof s[0].orders[0]) != 0);
    size_t same = 0;
    for (int pass = 1; pass < 20; pass++) {
        same += memcmp(s[0].orders[pass], s[0].orders[0], sizeof s[0].orders[0]) == 0;
    }
    assert_true(same < 3);
}

/* With a learning rate that decreases to 0, batches of single rows converge to the minimum. */
static void converges_to_the_minimum(void **state) {
    (void)state;
    struct squares s = squares_of(N);
    const dni_objective o = objective_of(&s);
    const dni_adam_settings settings = settings_of(400, 1, true);
    const dn_run run = dn_run_default();
    dni_outcome outcome;
    double x[N] = {9, -9, 4}, mean = 0;
    OK(dni_adam(&o, &run, &settings, x, &outcome, NULL));
    for (size_t t = 0; t < ROWS; t++) {
        mean += s.a[t] / ROWS;
    }
    for (size_t i = 0; i < N; i++) {
        assert_true(fabs(x[i] - mean - (double)i) < 0.02);
    }
    assert_true(s.values[400] < s.values[0] / 10);
    assert_true(outcome.value == s.values[400]);
}

/* Tasks are ranges of variables: the result has the same bytes for every number of threads. */
static void threads(void **state) {
    (void)state;
    enum { MANY = 50000 };
    double *x[2];
    for (int k = 0; k < 2; k++) {
        struct squares s = squares_of(MANY);
        const dni_objective o = objective_of(&s);
        const dni_adam_settings settings = settings_of(3, 4, true);
        dn_run run = dn_run_default();
        dni_outcome outcome;
        run.n_slots = k == 0 ? 1 : 3;
        run.sum = k == 0 ? NULL : sum_in_ranges;
        run.each = k == 0 ? NULL : each_in_reverse;
        x[k] = xcalloc(MANY, sizeof(double));
        OK(dni_adam(&o, &run, &settings, x[k], &outcome, NULL));
        assert_true(x[k][MANY - 1] != 0 && x[k][16384] != 0);
    }
    assert_memory_equal(x[0], x[1], MANY * sizeof(double));
    free(x[0]);
    free(x[1]);
}

static void leaves_the_finite_numbers(void **state) {
    (void)state;
    struct squares s = squares_of(N);
    const dni_objective o = objective_of(&s);
    dni_adam_settings settings = settings_of(50, 2, false);
    const dn_run run = dn_run_default();
    dni_outcome outcome = {.reason = DN_STOP_EARLY_STOPPING};
    dn_error err = {0};
    double x[N] = {0};
    settings.rate = 1e200; /* the square of the learning rate overflows */
    assert_int_equal(dni_adam(&o, &run, &settings, x, &outcome, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "iteration 1"));
    assert_non_null(strstr(err.message, "smaller learning_rate"));
    assert_int_equal(outcome.reason, DN_STOP_EARLY_STOPPING);
}

/* A run that ends by a stop or a refused allocation leaks nothing. */
static void stops_and_memory(void **state) {
    (void)state;
    struct squares s = squares_of(N);
    const dni_objective o = objective_of(&s);
    const dni_adam_settings settings = settings_of(3, 3, true);
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    dni_outcome outcome;
    double x[N] = {0};
    OK(dni_adam(&o, &run, &settings, x, &outcome, NULL));
    const size_t n_polls = polls.n;
    assert_true(n_polls >= 9); /* one a batch */
    for (size_t k = 1; k <= n_polls; k++) {
        polls = (struct polls){.stop_at = k};
        assert_int_equal(dni_adam(&o, &run, &settings, x, &outcome, NULL), DN_ERR_STOPPED);
        assert_int_equal(polls.n, k);
    }
    struct memory memory = {.fail_at = 1, .left = SIZE_MAX};
    const dn_allocator allocator = memory_allocator(&memory, true);
    dn_run poor = dn_run_default();
    poor.allocator = &allocator;
    assert_int_equal(dni_adam(&o, &poor, &settings, x, &outcome, NULL), DN_ERR_BUDGET);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_match_the_published_algorithm),
        cmocka_unit_test(orders),
        cmocka_unit_test(converges_to_the_minimum),
        cmocka_unit_test(threads),
        cmocka_unit_test(leaves_the_finite_numbers),
        cmocka_unit_test(stops_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
