/* The objective of a network and its gradients, compared with plain loops and central
 * differences. */
#include "base/random.h"
#include "learners/mlp/mlp_batch.h"
#include "unit/core/learners/mlp/mlps.h"

/* A problem, the objective of its network, and a parameter vector. */
struct bench {
    struct problem problem;
    dn_run run;
    dni_moments moments;
    size_t units[4];
    dni_layers layers;
    bool *validation;
    dni_mlp_loss loss;
    dni_mlp_batch batch;
    double *x, *gradient;
};

static void bench_prepare_loss(struct bench *b, double lambda, size_t batch_rows) {
    OK(dni_mlp_loss_init(&b->loss, b->problem.rows, b->problem.K, &b->layers, lambda, &b->moments,
                         b->validation, &b->run, NULL));
    if (batch_rows > 0) {
        OK(dni_mlp_batch_init(&b->batch, &b->loss, batch_rows, NULL));
    }
}

static void bench_release_loss(struct bench *b) {
    dni_mlp_batch_done(&b->batch);
    dni_mlp_loss_done(&b->loss);
}

/* batch_rows 0: no batches. validation: every third row is held out. */
static void bench_init(struct bench *b, struct problem problem, dni_activation h, double lambda,
                       bool validation, size_t batch_rows) {
    *b = (struct bench){.problem = problem,
                        .run = dn_run_default(),
                        .units = {5, 3, scores_of(&problem)}};
    b->layers = (dni_layers){h, problem.d, 3, b->units};
    const dn_fit_input input = {.rows = problem.rows, .n_classes = problem.K};
    OK(dni_moments_compute(&input, &b->run, &b->moments, NULL));
    if (validation) {
        b->validation = xcalloc(problem.n, sizeof *b->validation);
        for (size_t i = 0; i < problem.n; i += 3) {
            b->validation[i] = true;
        }
    }
    bench_prepare_loss(b, lambda, batch_rows);
    b->x = xcalloc(2 * b->loss.n, sizeof *b->x);
    b->gradient = b->x + b->loss.n;
    dni_random random;
    dni_random_init(&random, 5, 1);
    for (size_t i = 0; i < b->loss.n; i++) {
        b->x[i] = dni_random_uniform(&random, -1, 1);
    }
}

static void bench_done(struct bench *b) {
    bench_release_loss(b);
    dni_moments_done(&b->moments, &b->run);
    logistic_problem_done(&b->problem);
    free(b->validation);
    free(b->x);
}

static double value_at(struct bench *b, double *gradient) {
    double value, *scratch = xcalloc(b->loss.n, sizeof *scratch);
    OK(dni_mlp_loss_evaluate(&b->loss, &b->run, b->x, &value, gradient == NULL ? scratch : gradient,
                             NULL));
    free(scratch);
    return value;
}

/* The network at the point evaluated last. */
static dni_network network_of(const struct bench *b) {
    dni_network net = {.activation = b->layers.activation,
                       .n_layers = b->layers.n_layers,
                       .w = b->loss.w};
    memcpy(net.units, b->units, sizeof b->units);
    return net;
}

static void check_gradient(struct bench *b, double lambda) {
    const double value = value_at(b, b->gradient);
    const dni_network net = network_of(b);
    assert_near(value, plain_objective(&b->problem, &net, lambda, b->validation, false), 1e-12);
    if (b->validation != NULL) {
        assert_near(b->loss.validation_loss,
                    plain_objective(&b->problem, &net, 0, b->validation, true), 1e-12);
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

/* For all activations, both losses, dense and sparse rows, with and without weights, λ and
 * validation rows. */
static void gradient_equals_central_differences(void **state) {
    (void)state;
    for (dni_activation h = DNI_ACTIVATION_SIGMOID; h <= DNI_ACTIVATION_RELU; h++) {
        for (unsigned c = 0; c < 32; c++) {
            struct bench b;
            const bool sparse = c & 1, weighted = c & 2, validation = c & 4;
            const double lambda = c & 8 ? 0.3 : 0;
            bench_init(&b, problem_curved(70, 6, c & 16 ? 2 : 4, weighted, sparse), h, lambda,
                       validation, 0);
            check_gradient(&b, lambda);
            bench_done(&b);
        }
    }
}

/* With more rows than a tile, a piece or a block the result has the same bits for every
 * distribution of the blocks to threads. */
static void pass_does_not_depend_on_threads(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct bench b;
        bench_init(&b, problem_curved(9001, 6, 3, true, sparse), DNI_ACTIVATION_TANH, 1e-2, true,
                   0);
        const double value = value_at(&b, b.gradient);
        const dni_network net = network_of(&b);
        assert_near(value, plain_objective(&b.problem, &net, 1e-2, b.validation, false), 1e-11);
        struct bench other;
        bench_init(&other, problem_curved(9001, 6, 3, true, sparse), DNI_ACTIVATION_TANH, 1e-2,
                   true, 0);
        bench_release_loss(&other);
        other.run.n_slots = 3;
        other.run.sum = sum_in_ranges;
        other.run.each = each_in_reverse;
        bench_prepare_loss(&other, 1e-2, 0);
        assert_true(value_at(&other, other.gradient) == value);
        assert_memory_equal(other.gradient, b.gradient, b.loss.n * sizeof(double));
        bench_done(&other);
        bench_done(&b);
    }
}

/* The mean of the batch gradients of a pass, each weighted by its number of rows, is the
 * gradient. */
static void batch_gradients_average_to_the_gradient(void **state) {
    (void)state;
    for (unsigned c = 0; c < 8; c++) {
        struct bench b;
        bench_init(&b, problem_curved(700, 6, c & 4 ? 2 : 3, true, c & 1), DNI_ACTIVATION_SIGMOID,
                   0.1, c & 2, 300);
        const size_t n_used = b.batch.n_used;
        size_t *order = xcalloc(n_used, sizeof *order), counted = 0;
        double *sum = xcalloc(2 * b.loss.n, sizeof *sum), *own = sum + b.loss.n;
        dni_random random;
        dni_random_init(&random, 3, 1);
        for (size_t i = 0; i < 700; i++) {
            counted += b.problem.weight[i] > 0 && (b.validation == NULL || !b.validation[i]);
        }
        assert_int_equal(n_used, counted);
        (void)value_at(&b, b.gradient);
        for (size_t i = 0; i < n_used; i++) {
            order[i] = i;
        }
        dni_random_shuffle(&random, order, n_used);
        for (size_t first = 0; first < n_used; first += 300) {
            const size_t n = n_used - first < 300 ? n_used - first : 300;
            OK(dni_mlp_batch_gradient(&b.batch, &b.run, order + first, n, b.x, own, NULL));
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

/* The gradient of a batch does not depend on how threads share its tasks. The rows are wide, so
 * that a layer has several panels. */
static void batch_gradient_does_not_depend_on_threads(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct bench b;
        bench_init(&b, problem_curved(1200, 150, 3, false, sparse), DNI_ACTIVATION_RELU, 1e-3,
                   false, 0);
        b.units[0] = 60;
        b.layers.units = b.units;
        double *gradient[2];
        for (int shared = 0; shared < 2; shared++) {
            bench_release_loss(&b);
            b.run.n_slots = shared ? 3 : 1;
            b.run.sum = shared ? sum_in_ranges : NULL;
            b.run.each = shared ? each_in_reverse : NULL;
            bench_prepare_loss(&b, 1e-3, 1000);
            double *x = xcalloc(b.loss.n, sizeof *x);
            size_t order[1000];
            for (size_t i = 0; i < b.loss.n; i++) {
                x[i] = sin((double)i) / 8;
            }
            for (size_t i = 0; i < 1000; i++) {
                order[i] = i * 7 % 1200;
            }
            gradient[shared] = xcalloc(b.loss.n, sizeof(double));
            assert_true(6.0 * (double)b.loss.n * 1000 >
                        4e6); /* threshold for sharing a matrix product */
            OK(dni_mlp_batch_gradient(&b.batch, &b.run, order, 1000, x, gradient[shared], NULL));
            free(x);
        }
        assert_memory_equal(gradient[0], gradient[1], b.loss.n * sizeof(double));
        free(gradient[0]);
        free(gradient[1]);
        bench_done(&b);
    }
}

/* Computes the gradient of all rows of a sparse table of d columns as one batch. *n_polls: polls of
 * the stop flag within its tasks; poll number stop_at (from 1; 0: none) finds the flag set. */
static dn_status whole_batch(size_t d, size_t stop_at, size_t *n_polls) {
    enum { ROWS = 1000, UNITS = 300 };
    struct bench b;
    struct polls polls = {0};
    const dn_run plain = dn_run_default();
    size_t order[ROWS];
    bench_init(&b, problem_curved(ROWS, d, 3, false, true), DNI_ACTIVATION_RELU, 1e-3, false, 0);
    bench_release_loss(&b);
    b.units[0] = UNITS;
    b.layers.units = b.units;
    b.run = polls_run(&polls);
    bench_prepare_loss(&b, 1e-3, ROWS);
    double *x = xcalloc(2 * b.loss.n, sizeof *x);
    for (size_t i = 0; i < b.loss.n; i++) {
        x[i] = sin((double)i) / 8;
    }
    for (size_t i = 0; i < ROWS; i++) {
        order[i] = i;
    }
    polls = (struct polls){.stop_at = stop_at};
    dn_status status = dni_mlp_batch_gradient(&b.batch, &plain, order, ROWS, x, x + b.loss.n, NULL);
    *n_polls = polls.n;
    free(x);
    bench_done(&b);
    return status;
}

/* The stop flag is polled in each panel of the gradient of sparse rows, and after the products of
 * the layers. */
static void stop_is_polled_within_sparse_panels(void **state) {
    (void)state;
    size_t few, many, polled;
    OK(whole_batch(4, 0, &few)); /* few columns: polls after matrix products only */
    OK(whole_batch(400, 0, &many));
    assert_true(many >= few + 8);
    for (size_t k = few + 1; k <= many; k += (many - few) / 4) {
        assert_int_equal(whole_batch(400, k, &polled), DN_ERR_STOPPED);
        assert_int_equal(polled, k);
    }
}

/* A row of weight 2 equals two rows of weight 1. */
static void weight_equals_repetition(void **state) {
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
    bench_init(&b, t, DNI_ACTIVATION_TANH, 0.01, false, 0);
    bench_init(&twice, r, DNI_ACTIVATION_TANH, 0.01, false, 0);
    assert_near(value_at(&b, b.gradient), value_at(&twice, twice.gradient), 1e-12);
    assert_close(b.gradient, twice.gradient, b.loss.n, 1e-11);
    bench_done(&b);
    bench_done(&twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_equals_central_differences),
        cmocka_unit_test(pass_does_not_depend_on_threads),
        cmocka_unit_test(batch_gradients_average_to_the_gradient),
        cmocka_unit_test(batch_gradient_does_not_depend_on_threads),
        cmocka_unit_test(stop_is_polled_within_sparse_panels),
        cmocka_unit_test(weight_equals_repetition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
