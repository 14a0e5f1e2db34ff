/* Scores and gradients of few classes beside plain loops, for all numbers of rows, columns and
 * classes around the sizes of the registers. */
#include "unit/core/support.h"

#include "linalg/few_scores.h"

enum { MAX_ROWS = 70, MAX_COLS = 45, STRIDE = MAX_COLS + 3 };

static double number(size_t i) {
    return sin(1.7 * (double)i) + 0.01 * (double)(i % 7);
}

struct sizes {
    size_t n, d, K;
};

static void check(const struct sizes *s) {
    static double x[MAX_ROWS * STRIDE], w[DNI_FEW_SCORES * STRIDE],
        scores[MAX_ROWS * DNI_FEW_SCORES], one[DNI_FEW_SCORES], gradient[DNI_FEW_SCORES * STRIDE];
    const dn_matrix rows = {
        .kind = DN_DENSE, .n_rows = s->n, .n_cols = s->d, .stride = STRIDE, .values = x};
    for (size_t i = 0; i < s->n * STRIDE; i++) {
        x[i] = number(i);
    }
    for (size_t i = 0; i < s->K * STRIDE; i++) {
        w[i] = number(3 * i + 1);
        gradient[i] = number(5 * i);
    }
    for (size_t i = 0; i < s->n * s->K; i++) {
        scores[i] = number(7 * i);
    }
    dni_few_scores(rows, w, STRIDE, s->K, scores);
    for (size_t t = 0; t < s->n; t++) {
        for (size_t k = 0; k < s->K; k++) {
            double want = number(7 * (t * s->K + k));
            one[k] = want;
            for (size_t j = 0; j < s->d; j++) {
                want += x[t * STRIDE + j] * w[k * STRIDE + j];
            }
            assert_true(fabs(scores[t * s->K + k] - want) < 1e-12);
        }
        /* the same bits for a row alone */
        dni_few_scores(dn_matrix_rows(rows, t, 1), w, STRIDE, s->K, one);
        assert_memory_equal(one, scores + t * s->K, s->K * sizeof *one);
    }
    dni_few_gradient(rows, scores, s->K, gradient, STRIDE);
    for (size_t k = 0; k < s->K; k++) {
        for (size_t j = 0; j < STRIDE; j++) {
            double want = number(5 * (k * STRIDE + j));
            for (size_t t = 0; t < s->n && j < s->d; t++) {
                want += scores[t * s->K + k] * x[t * STRIDE + j];
            }
            assert_true(fabs(gradient[k * STRIDE + j] - want) < 1e-10);
        }
    }
}

static void equals_plain_loops(void **state) {
    (void)state;
    if (!dni_few_scores_supported()) {
        skip();
    }
    static const size_t rows[] = {1, 2, 3, 4, 5, 31, 32, 33, MAX_ROWS};
    for (size_t K = 2; K <= DNI_FEW_SCORES; K++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            for (size_t d = 1; d <= MAX_COLS; d++) {
                check(&(struct sizes){rows[i], d, K});
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_plain_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
