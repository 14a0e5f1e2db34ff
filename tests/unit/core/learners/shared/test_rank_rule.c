/* One rank rule: all linear methods agree whether the weights of a table without a penalty are
 * unique, for columns that are nearly equal, nearly dependent, of extreme scales, and constant; and
 * fits with unique weights agree with the fit of well-conditioned columns. */
#include "unit/core/learners/logistic/logistics.h"

enum { N = 60, D = 4 };

static const struct {
    const char *algorithm, *solver;
} methods[] = {{"logistic", "newton"},
               {"logistic", "lbfgs"},
               {"logistic", "gradient_descent"},
               {"logistic", "sgd"},
               {"least_squares", "closed_form"},
               {"least_squares", "conjugate_gradient"},
               {"least_squares", "gradient_descent"}};
enum { N_METHODS = sizeof methods / sizeof methods[0], NEWTON = 0, CLOSED_FORM = 4 };

/* The last column is column 1, or the sum of columns 1 and 2 with `triple`, plus delta · e. basis:
 * the same table with e, computed from the rounded column, in place of the last column. y depends
 * on all columns of the basis. */
static void make_table(double delta, bool triple, double *x, double *basis, double *y) {
    uint64_t seed = 17;
    for (size_t i = 0; i < N; i++) {
        double *row = x + i * D;
        for (size_t j = 0; j < D; j++) {
            row[j] = logistic_random(&seed) - 0.5;
        }
        const double sum = row[1] + (triple ? row[2] : 0), e = row[D - 1];
        row[D - 1] = sum + delta * e;
        memcpy(basis + i * D, row, D * sizeof *row);
        const long double difference =
            (long double)row[D - 1] - (long double)row[1] - (long double)row[2];
        basis[i * D + D - 1] =
            triple ? (double)(difference / (long double)delta) : (row[D - 1] - sum) / delta;
        y[i] = row[0] + row[1] + e + 1.5 * (logistic_random(&seed) - 0.5) > 0;
    }
}

static dn_params *params_for(size_t method, double lambda) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(methods[method].algorithm), &p, NULL));
    OK(dn_params_set_word(p, "solver", methods[method].solver, NULL));
    OK(dn_params_set_number(p, "lambda", lambda, NULL));
    if (strstr(methods[method].solver, "descent") != NULL ||
        strcmp(methods[method].solver, "sgd") == 0) {
        OK(dn_params_set_number(p, "max_iterations", 10, NULL));
    }
    return p;
}

static dn_status fit_table(size_t method, const double *x, const double *y, size_t d,
                           struct fit *fit) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    dn_params *p = params_for(method, 0);
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, d), y, NULL, &rows, NULL));
    const dn_status status = fit_rows(rows, 2, p, &run, fit, NULL);
    dn_rows_free(rows);
    dn_params_free(p);
    return status;
}

/* Whether all methods say that the weights are unique; fails if they do not agree. */
static bool unique_for_all(const double *x, const double *y, size_t d) {
    bool unique = false;
    for (size_t m = 0; m < N_METHODS; m++) {
        struct fit fit;
        OK(fit_table(m, x, y, d, &fit));
        const bool own = !logistic_warned(&fit.report, "unique");
        if (m == 0) {
            unique = own;
        }
        assert_int_equal(own, unique);
        fit_done(&fit);
    }
    return unique;
}

/* The largest difference of the scores of two fits of columns with the same span. */
static double score_difference(const double *x, const struct fit *a, const double *z,
                               const struct fit *b) {
    double most = 0;
    for (size_t i = 0; i < N; i++) {
        double f = a->out.w0[0] - b->out.w0[0];
        for (size_t j = 0; j < D; j++) {
            f += a->out.w[j] * x[i * D + j] - b->out.w[j] * z[i * D + j];
        }
        most = fmax(most, fabs(f));
    }
    return most;
}

/* δ from 1e-3 to 1e-8 in steps of 10^¼: 1 − r from 1e-6 to 1e-16. */
static void nearly_dependent_columns(void **state) {
    (void)state;
    static double x[N * D], basis[N * D], y[N];
    for (int triple = 0; triple < 2; triple++) {
        bool before = true;
        size_t n_unique = 0;
        for (int step = 0; step <= 20; step++) {
            const double delta = pow(10, -3 - 0.25 * step);
            make_table(delta, triple, x, basis, y);
            const bool unique = unique_for_all(x, y, D);
            assert_true(before || !unique); /* unique down to one limit */
            before = unique;
            n_unique += unique;
            const size_t exact[] = {NEWTON, CLOSED_FORM};
            for (size_t m = 0; unique && m < 2; m++) {
                struct fit fit, reference;
                OK(fit_table(exact[m], x, y, D, &fit));
                OK(fit_table(exact[m], basis, y, D, &reference));
                assert_near(fit.report.objective, reference.report.objective, 1e-9);
                assert_true(score_difference(x, &fit, basis, &reference) < 1e-5);
                /* the weight of e */
                assert_near(fit.out.w[D - 1] * delta, reference.out.w[D - 1], 1e-7 / delta / 1e4);
                assert_true(fit.report.converged && reference.report.converged);
                fit_done(&fit);
                fit_done(&reference);
            }
        }
        assert_true(n_unique >= 12 && n_unique <= 16); /* 1 − r about 2e-13: step 13 */
    }
}

/* The rule does not depend on the scales of the columns, and constant columns do not take part. 76
 * constant columns make the table one of more columns than rows. */
static void scales_and_constants(void **state) {
    (void)state;
    enum { WIDE = 80 };
    static double x[N * D], basis[N * D], y[N], scaled[N * D], wide[N * WIDE];
    const double scales[] = {1e-300, 1e-100, 1e-3, 1e3, 1e100, 1e300};
    for (int k = 0; k < 24; k++) {
        const double delta = k % 4 == 0 ? 1e-3 : k % 4 == 1 ? 1e-5 : k % 4 == 2 ? 1e-7 : 1e-9;
        make_table(delta, k & 8, x, basis, y);
        const bool unique = unique_for_all(x, y, D);
        assert_int_equal(unique, delta >= 1e-5);
        for (size_t i = 0; i < N * D; i++) {
            scaled[i] = x[i] * (i % D == 1 || i % D == D - 1 ? scales[k / 4] : 1);
        }
        for (size_t m = 0; m < N_METHODS; m++) {
            struct fit fit;
            if (strstr(methods[m].solver, "descent") != NULL ||
                strcmp(methods[m].solver, "sgd") == 0) {
                continue; /* descents overflow */
            }
            const dn_status status = fit_table(m, scaled, y, D, &fit);
            if (fabs(log10(scales[k / 4])) > 200) { /* the squares overflow or underflow */
                assert_int_equal(status, DN_ERR_NUMERIC);
                continue;
            }
            assert_int_equal(status, DN_OK);
            assert_int_equal(!logistic_warned(&fit.report, "not unique"), unique);
            fit_done(&fit);
        }
        for (size_t i = 0; i < N * WIDE; i++) {
            wide[i] = i % WIDE < D ? x[i / WIDE * D + i % WIDE] : (double)(i % WIDE);
        }
        assert_int_equal(unique_for_all(wide, y, WIDE), unique);
        struct fit narrow, constants;
        OK(fit_table(CLOSED_FORM, x, y, D, &narrow));
        OK(fit_table(CLOSED_FORM, wide, y, WIDE, &constants));
        assert_near(narrow.report.objective, constants.report.objective, 1e-8);
        for (size_t j = D; j < WIDE; j++) {
            assert_true(constants.out.w[j] == 0);
        }
        fit_done(&narrow);
        fit_done(&constants);
    }
}

/* Two groups of dependent columns of very different scales: a and 2a, times `scale`, b twice, and a
 * constant column. Least norm: the weights of a and 2a are 1 : 2, those of b are equal, the
 * constant column has the weight 0. The objective does not depend on the scale. */
static void groups_of_columns(void **state) {
    (void)state;
    enum { WIDTH = 5 };
    static const size_t tried[] = {0, 1, 4, 5, 6};
    for (size_t t = 0; t < sizeof tried / sizeof tried[0]; t++) {
        const size_t m = tried[t];
        double objective = 0;
        for (int e = 0; e <= 20; e += 4) {
            const bool descent = m == 6;
            uint64_t seed = 5;
            double x[N * WIDTH], y[N];
            struct fit fit;
            for (size_t i = 0; i < N; i++) {
                const double a = logistic_random(&seed) - 0.5, b = logistic_random(&seed) - 0.5,
                             row[] = {a * pow(10, e), 2 * a * pow(10, e), b, b, 3};
                memcpy(x + i * WIDTH, row, sizeof row);
                y[i] = a + b + 0.8 * (logistic_random(&seed) - 0.5) > 0;
            }
            if (descent && e > 0) { /* its steps depend on the scale */
                break;
            }
            OK(fit_table(m, x, y, WIDTH, &fit));
            const double *w = fit.out.w;
            objective = e == 0 ? fit.report.objective : objective;
            assert_near(fit.report.objective, objective, 1e-6);
            assert_near(w[1] / w[0], 2, 1e-9);
            assert_near(w[3] / w[2], 1, 1e-9);
            assert_true(w[4] == 0);
            fit_done(&fit);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearly_dependent_columns),
                                       cmocka_unit_test(scales_and_constants),
                                       cmocka_unit_test(groups_of_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
