/* Newton's steps equal those of iteratively reweighted least squares, with and without a penalty.
 * For separable classes the weights grow as expected. */
#include "unit/core/learners/logistic/logistics.h"

enum { STEPS = 4 };

struct heard {
    /* [w, w0] after each step; the first entry is the start. */
    double w[STEPS + 1][8];
    size_t d;
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct heard *h = run->ctx;
    if (progress->w == NULL) { /* within a check of separation */
        return;
    }
    memcpy(h->w[progress->iteration], progress->w, h->d * sizeof(double));
    h->w[progress->iteration][h->d] = progress->w0[0];
}

/* The weighted normal equations of the fit to z: (ΦᵀWΦ/Σv + 2λI') w = ΦᵀWz/Σv, with I' without the
 * intercept, W = v y(1 − y), z = Φ w_old + W⁻¹V, V = v (r − y). Returns the residual of w relative
 * to the right side. */
static double gap(const struct problem *t, const double *old, const double *new, double lambda) {
    size_t d = t->d;
    double off[8] = {0}, size[8] = {0}, total = 0, worst = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double *x = t->x + i * d;
        double g = old[d], fitted = new[d], v = t->weight == NULL ? 1 : t->weight[i];
        for (size_t j = 0; j < d; j++) {
            g += old[j] * x[j];
            fitted += new[j] * x[j];
        }
        total += v;
        if (v == 0) {
            continue;
        }
        double y = 1 / (1 + exp(-g)), weight = v * y * (1 - y),
               z = g + v * (t->target[i] - y) / weight;
        for (size_t j = 0; j <= d; j++) {
            off[j] += weight * (fitted - z) * (j < d ? x[j] : 1);
            size[j] += fabs(weight * z * (j < d ? x[j] : 1));
        }
    }
    for (size_t j = 0; j <= d; j++) {
        worst = fmax(worst, fabs(off[j] + (j < d ? 2 * lambda * total * new[j] : 0)) / size[j]);
    }
    return worst;
}

/* Bishop, PRML, equations 4.99 and 4.100. The clouds overlap, so the
 * line search takes full steps. */
static void steps_are_weighted_least_squares(void **state) {
    (void)state;
    const double lambdas[] = {0, 0.05};
    const size_t all[] = {1, 2, 3, 4};
    for (int weighted = 0; weighted < 2; weighted++) {
        for (size_t l = 0; l < 2; l++) {
            struct csv *csv = csv_clouds(80, 3, 2);
            struct problem t = {.n = csv->n, .d = 3, .K = 2, .x = csv->x, .target = csv->target};
            double *weight = xcalloc(t.n, sizeof *weight);
            for (size_t i = 0; i < t.n; i++) {
                weight[i] = (double)(i % 3) + 0.5 * (double)(i % 2);
            }
            t.weight = weighted ? weight : NULL;
            OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, t.weight, &t.rows,
                                   NULL));
            dn_params *p = params_of("newton", lambdas[l]);
            OK(dn_params_set_number(p, "max_iterations", STEPS, NULL));
            OK(dn_params_set_number(p, "tolerance", 0, NULL));
            struct heard heard = {.d = 3};
            dn_run run = dn_run_default();
            run.progress = listen;
            run.ctx = &heard;
            run.snapshots = all;
            run.n_snapshots = STEPS;
            struct fit fit;
            OK(fit_rows(t.rows, 2, p, &run, &fit, NULL));
            assert_int_equal(fit.report.iterations, STEPS);
            for (size_t i = 0; i < STEPS; i++) {
                assert_true(gap(&t, heard.w[i], heard.w[i + 1], lambdas[l]) <= 1e-11);
            }
            /* Two steps taken as one do not satisfy the normal equations. */
            assert_true(gap(&t, heard.w[0], heard.w[2], lambdas[l]) > 1e-6);
            fit_done(&fit);
            dn_params_free(p);
            dn_rows_free(t.rows);
            free(weight);
            csv_free(csv);
        }
    }
}

static double length_after(const dn_rows *rows, double lambda, size_t passes, struct fit *fit) {
    dn_params *p = params_of("gradient_descent", lambda);
    dn_run run = dn_run_default();
    OK(dn_params_set_word(p, "init", "zero", NULL));
    OK(dn_params_set_number(p, "learning_rate", 0.1, NULL));
    OK(dn_params_set_number(p, "tolerance", lambda == 0 ? 0 : 1e-8, NULL));
    OK(dn_params_set_number(p, "max_iterations", (double)passes, NULL));
    OK(fit_rows(rows, 2, p, &run, fit, NULL));
    dn_params_free(p);
    return hypot(fit->out.w[0], fit->out.w[1]);
}

/* Example 15: without a penalty ten times the passes add about the same length each time
 * (logarithmic growth). With a penalty the weights converge. */
static void separable_classes(void **state) {
    (void)state;
    const double x[] = {0, 0, 1, 0, 0, 1, 3, 3, 4, 3, 3, 4}, y[] = {0, 0, 0, 1, 1, 1};
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 6, 2), y, NULL, &rows, NULL));
    double length[4];
    struct fit fit;
    for (size_t i = 0; i < 4; i++) {
        length[i] = length_after(rows, 0, (size_t)pow(10, (double)(i + 1)), &fit);
        assert_false(fit.report.converged);
        if (i > 0) {
            assert_true(length[i] > length[i - 1]);
            assert_true(logistic_warned(&fit.report, "separable"));
        }
        fit_done(&fit);
    }
    assert_near(length[3] - length[2], length[2] - length[1], 0.3);
    double some = length_after(rows, 0.01, 20000, &fit);
    assert_true(fit.report.converged);
    fit_done(&fit);
    assert_near(length_after(rows, 0.01, 100000, &fit), some, 1e-6);
    fit_done(&fit);
    dn_rows_free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_weighted_least_squares),
                                       cmocka_unit_test(separable_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
