/* Columns far from the origin (time stamps, coordinates): with a shared covariance the posteriors
 * equal those of the same rows shifted to the origin. */
#include "unit/core/learners/shared/densities.h"

#include <float.h>

enum { ROWS = 300, COLUMNS = 3 };

/* Trains a model on the table. Writes its probabilities of each row to out [n × K]. */
static void probabilities_of(const struct csv *t, bool standardize, double *out) {
    struct table *table = table_of(t);
    dn_params *p = params_for("gaussian");
    dn_run run = dn_run_default();
    dn_train_request request = table_request(t, table, p);
    dn_train_result result;
    double *scores = xcalloc(t->n * t->K, sizeof *scores);
    request.features.standardize = standardize;
    OK(dn_train(&request, &run, &result, NULL));
    double *workspace = xcalloc(dn_model_workspace(result.model), sizeof *workspace);
    dn_prediction prediction = {.scores = scores, .probabilities = out};
    dn_model_predict(result.model, dn_raw_numbers(t->x, t->n), workspace, &prediction);
    free(workspace);
    free(scores);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
}

/* The values are integer multiples of 2^-10, so adding the offset is exact. Only wᵀx and w0 have
 * rounding errors. */
static void far_from_the_origin(void **state) {
    (void)state;
    const double offsets[] = {0, 1e6, 1e8, 1e9};
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(ROWS, COLUMNS, K);
        double near[ROWS * 3], far[ROWS * 3];
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            t->x[i] = rint(t->x[i] * 1024) / 1024;
        }
        probabilities_of(t, false, near);
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
            for (int standardize = 0; standardize < 2; standardize++) {
                for (size_t i = 0; i < ROWS * COLUMNS; i++) {
                    t->x[i] += offsets[o];
                }
                probabilities_of(t, standardize == 1, far);
                for (size_t i = 0; i < ROWS * COLUMNS; i++) {
                    t->x[i] -= offsets[o];
                }
                double most = 0;
                for (size_t i = 0; i < ROWS * K; i++) {
                    most = fmax(most, fabs(far[i] - near[i]));
                }
                if (!(most <= 1e-12 + 16 * DBL_EPSILON * offsets[o])) {
                    fail_msg("%zu classes, offset %g, standardize %d: off by %g", K, offsets[o],
                             standardize, most);
                }
            }
        }
        csv_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(far_from_the_origin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
