/* Products of tiles against plain loops, dense and sparse. */
#include "unit/core/support.h"

#include "linalg/step.h"
#include "linalg/tile.h"

enum { N = 37, D = 11, S = 3, W = D + 1 };

struct data {
    double x[N * D], table[S * W], turned[S * W], r[N * S], c[N], values[N * D];
    uint32_t cols[N * D];
    size_t start[N + 1];
    dn_matrix dense, sparse;
};

static void fill(struct data *t) {
    size_t entries = 0;
    memset(t, 0, sizeof *t);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            if ((i * 7 + j * 5) % 3 == 0) {
                t->x[i * D + j] = sin((double)(i * D + j));
                t->cols[entries] = (uint32_t)j;
                t->values[entries++] = t->x[i * D + j];
            }
        }
        t->start[i + 1] = entries;
        t->c[i] = 0.5 + (double)(i % 4);
        for (size_t k = 0; k < S; k++) {
            t->r[i * S + k] = cos((double)(i * S + k));
        }
    }
    for (size_t i = 0; i < S * W; i++) {
        t->table[i] = cos(3.0 * (double)i);
    }
    dni_transpose(t->table, S, W, t->turned);
    t->dense = dn_matrix_dense(t->x, N, D);
    t->sparse = dn_matrix_csr(t->start, t->cols, t->values, N, D);
}

static void scores_and_gradient(void **state) {
    (void)state;
    struct data t;
    fill(&t);
    for (size_t n_scores = 1; n_scores <= S; n_scores += 2) {
        double expected[N * S] = {0}, g[N * S], gradient[S * W] = {0}, turned[S * W] = {0},
                            by_entries[S * W] = {0}, back[S * W], table[S * W];
        memcpy(table, t.table, n_scores * W * sizeof *table);
        for (size_t i = 0; i < N; i++) {
            for (size_t k = 0; k < n_scores; k++) {
                expected[i * n_scores + k] = table[k * W + D];
                gradient[k * W + D] += t.r[i * n_scores + k];
                for (size_t j = 0; j < D; j++) {
                    expected[i * n_scores + k] += table[k * W + j] * t.x[i * D + j];
                    gradient[k * W + j] += t.r[i * n_scores + k] * t.x[i * D + j];
                }
            }
        }
        dni_transpose(table, n_scores, W, turned);
        dni_tile_scores(t.dense, table, n_scores, g);
        assert_close(g, expected, N * n_scores, 1e-13);
        dni_tile_scores(t.sparse, turned, n_scores, g);
        assert_close(g, expected, N * n_scores, 1e-13);
        double sum[S * W] = {0};
        dni_tile_gradient(t.dense, t.r, n_scores, sum);
        assert_close(sum, gradient, n_scores * W, 1e-13);
        dni_tile_gradient(t.sparse, t.r, n_scores, by_entries);
        dni_transpose(by_entries, W, n_scores, back);
        assert_close(back, gradient, n_scores * W, 1e-13);
    }
}

static void gram(void **state) {
    (void)state;
    struct data t;
    fill(&t);
    double mean[D], scale[D], z[N * W], scratch[N * W],
        expected[W * W] = {0}, got[W * W] = {0}, raw[W * W] = {0}, sparse[W * W] = {0};
    for (size_t j = 0; j < D; j++) {
        mean[j] = 0.1 * (double)j;
        scale[j] = 1 + (double)j;
    }
    dni_tile_expand(t.sparse, mean, scale, z);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            assert_true(fabs(z[i * W + j] - (t.x[i * D + j] - mean[j]) / scale[j]) < 1e-15);
        }
        assert_true(z[i * W + D] == 1);
        for (size_t a = 0; a < W; a++) {
            for (size_t b = 0; b <= a; b++) {
                expected[a * W + b] -= t.c[i] * z[i * W + a] * z[i * W + b];
            }
        }
    }
    OK(dni_tile_gram(NULL, z, N, W, t.c, -1, scratch, got, NULL));
    assert_close(got, expected, W * W, 1e-13);
    dni_tile_expand(t.dense, NULL, NULL, z);
    OK(dni_tile_gram(NULL, z, N, W, t.c, 1, scratch, raw, NULL));
    OK(dni_tile_gram_sparse(NULL, t.sparse, t.c, 1, sparse, NULL));
    assert_close(sparse, raw, W * W, 1e-13);
    assert_false(dni_tile_gram_sparse_is_cheaper(t.dense));
}

/* A Gram matrix of several panels has the same values, and its computation ends at the first poll
 * that finds the flag set. */
static void wide_gram_stops(void **state) {
    (void)state;
    enum { ROWS = DNI_TILE_ROWS, WIDTH = 2300 };
    double *z = xcalloc(ROWS * WIDTH, sizeof *z), *scratch = xcalloc(ROWS * WIDTH, sizeof *z),
           *g = xcalloc(WIDTH * WIDTH, sizeof *z);
    double c[ROWS];
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        z[i] = sin(0.7 * (double)i);
    }
    for (size_t t = 0; t < ROWS; t++) {
        c[t] = 1 + (double)(t % 3);
    }
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    OK(dni_tile_gram(&run, z, ROWS, WIDTH, c, -1, scratch, g, NULL));
    size_t n_polls = polls.n;
    assert_true(n_polls > 1 && (double)n_polls * DNI_STEP_FLOPS >= (double)ROWS * WIDTH * WIDTH);
    for (size_t i = 0; i < WIDTH; i += 37) {
        for (size_t j = i % 11; j < WIDTH; j += 101) {
            double sum = 0;
            for (size_t t = 0; t < ROWS && j <= i; t++) {
                sum -= c[t] * z[t * WIDTH + i] * z[t * WIDTH + j];
            }
            assert_true(fabs(g[i * WIDTH + j] - sum) < 1e-10);
        }
    }
    for (size_t at = 1; at <= n_polls; at++) {
        polls = (struct polls){.stop_at = at};
        assert_int_equal(dni_tile_gram(&run, z, ROWS, WIDTH, c, -1, scratch, g, NULL),
                         DN_ERR_STOPPED);
        assert_int_equal(polls.n, at);
    }
    free(g);
    free(scratch);
    free(z);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scores_and_gradient),
                                       cmocka_unit_test(gram), cmocka_unit_test(wide_gram_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
