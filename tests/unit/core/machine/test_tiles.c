/* Scores of tiles of encoded rows, dense and sparse, beside the scores of single raw rows. */
#include "unit/core/support.h"

#include "linalg/tile.h"
#include "machine/machine_dispatch.h"
#include "model/model_impl.h"

enum { N = 300, D = 11 };

static const char *const methods[][2] = {
    {"gaussian", "covariance=full"},
    {"gaussian", "covariance=diagonal"},
    {"gaussian", "covariance=shared"},
    {"naive_bayes", ""},
    {"naive_bayes", "numeric=bernoulli"},
    {"logistic", ""},
    {"fisher", ""},
};

/* x [N × D], with zeros; y [N] classes. */
static void make_rows(double *x, double *y, size_t K) {
    for (size_t i = 0; i < N; i++) {
        const size_t k = i % K;
        y[i] = (double)k;
        for (size_t j = 0; j < D; j++) {
            const double u = sin(12.9898 * (double)i + 78.233 * (double)j) * 43758.5453,
                         v = u - floor(u) + 0.5 * (double)((j + k) % 3);
            x[i * D + j] = (i / 5 + j) % 4 == 0 ? 0 : v;
        }
    }
}

/* Converts dense rows to CSR. */
static dn_matrix csr_of(const double *x, size_t n, size_t *row_start, uint32_t *cols,
                        double *values) {
    size_t at = 0;
    row_start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < D; j++) {
            if (x[i * D + j] != 0) {
                cols[at] = (uint32_t)j;
                values[at++] = x[i * D + j];
            }
        }
        row_start[i + 1] = at;
    }
    return dn_matrix_csr(row_start, cols, values, n, D);
}

static void tiles_equal_rows(void **state) {
    (void)state;
    static double x[N * D], y[N], values[N * D];
    static size_t row_start[N + 1];
    static uint32_t cols[N * D];
    const size_t n = DNI_TILE_ROWS;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        for (size_t K = 2; K < 5; K++) {
            dn_model *model;
            make_rows(x, y, K);
            dn_error err = {0};
            if (dn_fit(x, N, D, y, methods[m][0], methods[m][1], NULL, &model, &err) != DN_OK) {
                fail_msg("%s %s: %s", methods[m][0], methods[m][1], err.message);
            }
            if (dn_encoder_mean(dn_model_encoder(model)) != NULL) { /* encoded rows are not x */
                dn_model_unref(model);
                continue;
            }
            const size_t S = dn_model_n_scores(model), slots = 3;
            double *work = xcalloc(dni_machines_work(model->machines, 1, slots), sizeof *work),
                   *scores = xcalloc(n * S, sizeof *scores), *want = xcalloc(n * S, sizeof *want),
                   *workspace = xcalloc(dn_model_workspace(model), sizeof *workspace);
            assert_int_equal(dn_model_predict(model, dn_raw_numbers(x, n), workspace,
                                              &(dn_prediction){.scores = want}),
                             n);
            for (int sparse = 0; sparse < 2; sparse++) {
                const dn_matrix rows =
                    sparse ? csr_of(x, n, row_start, cols, values) : dn_matrix_dense(x, n, D);
                dni_machines_prepare(model->machines, 1, sparse, work);
                for (size_t slot = 0; slot < slots; slot++) {
                    memset(scores, 0, n * S * sizeof *scores);
                    OK(dni_machines_score(model->machines, 1, rows, NULL, slot, scores, work,
                                          NULL));
                    assert_close(scores, want, n * S, 1e-12);
                }
            }
            free(work);
            free(scores);
            free(want);
            free(workspace);
            dn_model_unref(model);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_equal_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
