/* A network's objective and gradients against plain loops and central differences. */
#include "base/random.h"
#include "learners/mlp/mlp_fit.h"
#include "unit/core/learners/mlp/mlps.h"

/* A loss over a problem, at a point. */
struct bench {
    struct problem problem;
    dn_run run;
    dni_moments moments;
    size_t units[4];
    dni_layers layers;
    bool *aside;
    dni_mlp loss;
    double *x, *gradient;
};

static void bench_init(struct bench *b, struct problem problem, dn_activation h, double lambda,
                       bool aside, size_t batch_rows) {
    *b = (struct bench){.problem = problem,
                        .run = dn_run_default(),
                        .units = {5, 3, scores_of(&problem)}};
    b->layers = (dni_layers){h, problem.d, 3, b->units};
    const dn_fit_input input = {.rows = problem.rows, .n_classes = problem.K};
    OK(dni_moments_compute(&input, &b->run, &b->moments, NULL));
    if (aside) {
        b->aside = xcalloc(problem.n, sizeof *b->aside);
        for (size_t i = 0; i < problem.n; i += 3) {
            b->aside[i] = true;
        }
    }
    OK(dni_mlp_init(&b->loss, problem.rows, problem.K, &b->layers, lambda, &b->moments, b->aside,
                    batch_rows, &b->run, NULL));
    b->x = xcalloc(2 * b->loss.n, sizeof *b->x);
    b->gradient = b->x + b->loss.n;
    dni_random random;
    dni_random_init(&random, 5, 1);
    for (size_t i = 0; i < b->loss.n; i++) {
        b->x[i] = dni_random_uniform(&random, -1, 1);
    }
}

static void bench_done(struct bench *b) {
    dni_mlp_done(&b->loss, &b->run);
    dni_moments_done(&b->moments, &b->run);
    problem_done(&b->problem);
    free(b->aside);
    free(b->x);
}

static double value_at(struct bench *b, double *gradient) {
    double value, *scratch = xcalloc(b->loss.n, sizeof *scratch);
    OK(dni_mlp_evaluate(&b->loss, &b->run, b->x, &value, gradient == NULL ? scratch : gradient,
                        NULL));
    free(scratch);
    return value;
}

/* The stated network at the point evaluated last. */
static dn_network stated(const struct bench *b) {
    dn_network net = {.activation = b->layers.activation,
                      .n_layers = b->layers.n_layers,
                      .w = b->loss.stated};
    memcpy(net.units, b->units, sizeof b->units);
    return net;
}

static void check(struct bench *b, double lambda) {
    const double value = value_at(b, b->gradient);
    const dn_network net = stated(b);
    assert_near(value, plain_objective(&b->problem, &net, lambda, b->aside, false), 1e-12);
    if (b->aside != NULL) {
        assert_near(b->loss.aside_loss, plain_objective(&b->problem, &net, 0, b->aside, true),
                    1e-12);
    }
    double *numeric = xcalloc(b->loss.n, sizeof *numeric);
    for (size_t i = 0; i < b->loss.n; i++) {
        const double h = 1e-6, at = b->x[i];
        b->x[i] = at + h;
        const double above = value_at(b, NULL);
        b->x[i] = at - h;
        const double below = value_at(b, NULL);
        b->x[i] = at;
        numeric[i] = (above - below) / (2 * h);
    }
    assert_close(b->gradient, numeric, b->loss.n, 1e-7);
    free(numeric);
}

/* All activations, both losses, dense and sparse rows, weights, λ, rows aside. */
static void gradients(void **state) {
    (void)state;
    for (dn_activation h = DN_ACTIVATION_SIGMOID; h <= DN_ACTIVATION_RELU; h++) {
        for (unsigned c = 0; c < 32; c++) {
            struct bench b;
            const bool sparse = c & 1, weighted = c & 2, aside = c & 4;
            const double lambda = c & 8 ? 0.3 : 0;
            bench_init(&b, problem_curved(70, 6, c & 16 ? 2 : 4, weighted, sparse), h, lambda,
                       aside, 0);
            check(&b, lambda);
            bench_done(&b);
        }
    }
}

/* The same of more rows than a tile, a piece or a block has, whatever the threads: the very same bytes in other ranges. */
static void many_rows(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct bench b;
        bench_init(&b, problem_curved(9001, 6, 3, true, sparse), DN_ACTIVATION_TANH, 1e-2, true, 0);
        const double value = value_at(&b, b.gradient);
        const dn_network net = stated(&b);
        assert_near(value, plain_objective(&b.problem, &net, 1e-2, b.aside, false), 1e-11);
        struct bench other;
        bench_init(&other, problem_curved(9001, 6, 3, true, sparse), DN_ACTIVATION_TANH, 1e-2, true,
                   0);
        dni_mlp_done(&other.loss, &other.run);
        other.run.n_slots = 3;
        other.run.sum = sum_in_ranges;
        OK(dni_mlp_init(&other.loss, other.problem.rows, 3, &other.layers, 1e-2, &other.moments,
                        other.aside, 0, &other.run, NULL));
        assert_true(value_at(&other, other.gradient) == value);
        assert_memory_equal(other.gradient, b.gradient, b.loss.n * sizeof(double));
        bench_done(&other);
        bench_done(&b);
    }
}

/* The mean of what the batches of a pass say, each weighed by its rows, is the gradient. */
static void batches(void **state) {
    (void)state;
    for (unsigned c = 0; c < 8; c++) {
        struct bench b;
        bench_init(&b, problem_curved(700, 6, c & 4 ? 2 : 3, true, c & 1), DN_ACTIVATION_SIGMOID,
                   0.1, c & 2, 300);
        const size_t n_used = b.loss.batch.n_used;
        size_t *order = xcalloc(n_used, sizeof *order), counted = 0;
        double *sum = xcalloc(2 * b.loss.n, sizeof *sum), *own = sum + b.loss.n;
        dni_random random;
        dni_random_init(&random, 3, 1);
        for (size_t i = 0; i < 700; i++) {
            counted += b.problem.weight[i] > 0 && (b.aside == NULL || !b.aside[i]);
        }
        assert_int_equal(n_used, counted);
        (void)value_at(&b, b.gradient);
        for (size_t i = 0; i < n_used; i++) {
            order[i] = i;
        }
        dni_random_shuffle(&random, order, n_used);
        for (size_t first = 0; first < n_used; first += 300) {
            const size_t n = n_used - first < 300 ? n_used - first : 300;
            OK(dni_mlp_batch_gradient(&b.loss, &b.run, order + first, n, b.x, own, NULL));
            for (size_t i = 0; i < b.loss.n; i++) {
                sum[i] += own[i] * (double)n / (double)n_used;
            }
        }
        assert_close(sum, b.gradient, b.loss.n, 1e-12);
        free(order);
        free(sum);
        bench_done(&b);
    }
}

/* A batch that is shared: its tasks may run anywhere, in any order. Wide rows, several panels of a layer. */
static void shared_batches(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct bench b;
        bench_init(&b, problem_curved(1200, 150, 3, false, sparse), DN_ACTIVATION_RELU, 1e-3, false,
                   0);
        b.units[0] = 60;
        b.layers.units = b.units;
        double *gradient[2];
        for (int shared = 0; shared < 2; shared++) {
            dni_mlp_done(&b.loss, &b.run);
            b.run.n_slots = shared ? 3 : 1;
            b.run.sum = shared ? sum_in_ranges : NULL;
            OK(dni_mlp_init(&b.loss, b.problem.rows, 3, &b.layers, 1e-3, &b.moments, NULL, 1000,
                            &b.run, NULL));
            double *x = xcalloc(b.loss.n, sizeof *x);
            size_t order[1000];
            for (size_t i = 0; i < b.loss.n; i++) {
                x[i] = sin((double)i) / 8;
            }
            for (size_t i = 0; i < 1000; i++) {
                order[i] = i * 7 % 1200;
            }
            gradient[shared] = xcalloc(b.loss.n, sizeof(double));
            assert_true(6.0 * (double)b.loss.n * 1000 > 4e6); /* or nothing is shared */
            OK(dni_mlp_batch_gradient(&b.loss, &b.run, order, 1000, x, gradient[shared], NULL));
            free(x);
        }
        assert_memory_equal(gradient[0], gradient[1], b.loss.n * sizeof(double));
        free(gradient[0]);
        free(gradient[1]);
        bench_done(&b);
    }
}

/* All rows of a sparse table of d columns as one mini-batch: looks at the stop within its tasks, of which the one numbered stop_at (from 1; 0: none) finds it set. */
static dn_status whole_batch(size_t d, size_t stop_at, size_t *looks) {
    enum { ROWS = 1000, UNITS = 300 };
    struct bench b;
    struct polls polls = {0};
    const dn_run plain = dn_run_default();
    size_t order[ROWS];
    bench_init(&b, problem_curved(ROWS, d, 3, false, true), DN_ACTIVATION_RELU, 1e-3, false, 0);
    dni_mlp_done(&b.loss, &b.run);
    b.units[0] = UNITS;
    b.layers.units = b.units;
    b.run = polls_run(&polls);
    OK(dni_mlp_init(&b.loss, b.problem.rows, 3, &b.layers, 1e-3, &b.moments, NULL, ROWS, &b.run,
                    NULL));
    double *x = xcalloc(2 * b.loss.n, sizeof *x);
    for (size_t i = 0; i < b.loss.n; i++) {
        x[i] = sin((double)i) / 8;
    }
    for (size_t i = 0; i < ROWS; i++) {
        order[i] = i;
    }
    polls = (struct polls){.stop_at = stop_at};
    dn_status status = dni_mlp_batch_gradient(&b.loss, &plain, order, ROWS, x, x + b.loss.n, NULL);
    *looks = polls.n;
    free(x);
    bench_done(&b);
    return status;
}

/* While the gradient of many entries and units is scattered, which follows the layers' products, a stop is heard within each panel of the columns. */
static void a_stop_within_a_sparse_batch(void **state) {
    (void)state;
    size_t few, many, heard;
    OK(whole_batch(4, 0, &few)); /* the products' alone */
    OK(whole_batch(400, 0, &many));
    assert_true(many >= few + 8);
    for (size_t k = few + 1; k <= many; k += (many - few) / 4) {
        assert_int_equal(whole_batch(400, k, &heard), DN_ERR_STOPPED);
        assert_int_equal(heard, k);
    }
}

/* A weight of 2 is the row twice. */
static void weights_are_repetitions(void **state) {
    (void)state;
    struct bench b, twice;
    struct problem t = problem_curved(60, 5, 3, true, false), r = {.n = 0, .d = 5, .K = 3};
    r.x = xcalloc(240 * 5, sizeof(double));
    r.target = xcalloc(240, sizeof(double));
    for (size_t i = 0; i < t.n; i++) {
        for (int k = 0; k < (int)t.weight[i]; k++, r.n++) {
            memcpy(r.x + r.n * 5, t.x + i * 5, 5 * sizeof(double));
            r.target[r.n] = t.target[i];
        }
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(r.x, r.n, 5), r.target, NULL, &r.rows, NULL));
    bench_init(&b, t, DN_ACTIVATION_TANH, 0.01, false, 0);
    bench_init(&twice, r, DN_ACTIVATION_TANH, 0.01, false, 0);
    assert_near(value_at(&b, b.gradient), value_at(&twice, twice.gradient), 1e-12);
    assert_close(b.gradient, twice.gradient, b.loss.n, 1e-11);
    bench_done(&b);
    bench_done(&twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(batches),
        cmocka_unit_test(shared_batches),
        cmocka_unit_test(a_stop_within_a_sparse_batch),
        cmocka_unit_test(weights_are_repetitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
