/* Newton's method with full steps: the iteration of Bishop, PRML, section 4.3.3, by plain loops,
 * from a start where it converges and from one where it diverges; what a step shows (weights R,
 * working response z, condition number); refusals. */
#include "unit/core/learners/logistic/logistics.h"

/* The eight points of the textbook script. */
enum { N = 8, MOST = 100 };
static const double x[N] = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}, t[N] = {0, 0, 0, 1, 0, 1, 1, 1};

struct progress {
    double loss[MOST], condition[MOST], w[MOST][2];
    size_t n;
};

static void keep(const dn_run *run, const dn_progress *p) {
    struct progress *all = run->ctx;
    if (p->iteration < MOST) {
        all->loss[p->iteration] = p->loss;
        all->condition[p->iteration] = p->condition;
        all->n = p->iteration + 1;
        if (p->w != NULL) {
            all->w[p->iteration][0] = p->w[0];
            all->w[p->iteration][1] = p->w0[0];
        }
    }
}

static dn_params *params_of_words(const char *words) {
    dn_params *p;
    dn_error err = {0};
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    if (dn_params_set_words(p, words, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return p;
}

static struct fit fit_points(const char *words, const double start[2], struct progress *all) {
    size_t snapshots[MOST];
    dn_params *p = params_of_words(words);
    dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_rows *rows;
    for (size_t i = 0; i < MOST; i++) {
        snapshots[i] = i;
    }
    run.snapshots = snapshots;
    run.n_snapshots = MOST;
    run.progress = keep;
    run.ctx = all;
    OK(dn_params_set_list(p, "init", start, 2, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, 1), t, NULL, &rows, NULL));
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    dn_rows_free(rows);
    dn_params_free(p);
    return fit;
}

/* One step of the books from w = (w1, w0): w ← w − H⁻¹g with g = Σ(p − t)[x, 1] + 2λn[w1, 0] and
 * H = Σ p(1 − p)[x, 1][x, 1]ᵀ + 2λn. Sets R, z and the condition number of H. Returns det
 * H/(ab). */
static double step(double w[2], double lambda, double *R, double *z, double *condition) {
    double a = 2 * lambda * N, b = 0, c = 0, g[2] = {2 * lambda * N * w[0], 0};
    for (size_t i = 0; i < N; i++) {
        const double s = w[0] * x[i] + w[1], p = 1 / (1 + exp(-s)), q = 1 / (1 + exp(s));
        R[i] = p * q;
        z[i] = s - (t[i] > 0 ? -q : p) / R[i];
        a += R[i] * x[i] * x[i];
        b += R[i] * x[i];
        c += R[i];
        g[0] += (t[i] > 0 ? -q : p) * x[i];
        g[1] += t[i] > 0 ? -q : p;
    }
    const double det = a * c - b * b, root = sqrt((a - c) * (a - c) + 4 * b * b);
    *condition = (a + c + root) * (a + c + root) / (4 * det);
    w[0] -= (c * g[0] - b * g[1]) / det;
    w[1] -= (a * g[1] - b * g[0]) / det;
    return det / (a * c);
}

static double loss_at(const double w[2], double lambda) {
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        const double s = (t[i] > 0 ? -1 : 1) * (w[0] * x[i] + w[1]);
        sum += s > 0 ? s + log1p(exp(-s)) : log1p(exp(s));
    }
    return sum / N + lambda * w[0] * w[0];
}

static const dn_detail *detail_of(const dn_report *report, const char *name) {
    size_t i = 0;
    while (i < report->n_details && strcmp(report->details[i].name, name) != 0) {
        i++;
    }
    assert_true(i < report->n_details);
    return &report->details[i];
}

/* From (0, 0) each iteration is that of the books, and the end is the optimum. The first step by
 * hand without a penalty: p = 1/2, R = 1/4, z = ±2, H = ¼ [51, 18; 18, 8], Σ(½ − t)x = 9 − 12.5 and
 * Σ(½ − t) = 0, so that the step is −H⁻¹g = 4/84 · 3.5 · [8, −18] = [4/3, −3]. */
static void near_start(void **state) {
    (void)state;
    const double start[2] = {0, 0}, lambdas[] = {0, 0.05};
    for (size_t l = 0; l < 2; l++) {
        char words[160];
        double w[2] = {0, 0}, R[N], z[N], condition;
        struct progress all = {.n = 0};
        snprintf(words, sizeof words, "solver=newton step=full lambda=%g irls=true", lambdas[l]);
        struct fit fit = fit_points(words, start, &all);
        const dn_detail *weights = detail_of(&fit.report, "irls_weights"),
                        *response = detail_of(&fit.report, "irls_response");
        assert_true(fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
        assert_int_equal(all.n, fit.report.iterations + 1);
        if (lambdas[l] == 0) {
            assert_close(all.w[1], (double[]){4.0 / 3, -3}, 2, 1e-12);
        }
        assert_int_equal(weights->n_list, fit.report.iterations * N);
        assert_int_equal(response->n_list, fit.report.iterations * N);
        for (size_t k = 1; k < all.n; k++) {
            step(w, lambdas[l], R, z, &condition);
            assert_close(all.w[k], w, 2, 1e-12);
            assert_near(all.loss[k], loss_at(w, lambdas[l]), 1e-12);
            assert_near(all.condition[k], condition, 1e-9);
            assert_close(weights->list + (k - 1) * N, R, N, 1e-11);
            assert_close(response->list + (k - 1) * N, z, N, 1e-11);
        }
        struct progress ignored = {.n = 0};
        snprintf(words, sizeof words, "solver=newton lambda=%g", lambdas[l]);
        struct fit searched = fit_points(words, start, &ignored);
        assert_near(fit.out.w[0], searched.out.w[0], 1e-8);
        assert_near(fit.out.w0[0], searched.out.w0[0], 1e-8);
        fit_done(&searched);
        fit_done(&fit);
    }
}

/* From (8, −12) the first step goes far beyond the minimum, and the iteration ends where H is
 * singular, with finite weights and a warning. */
static void far_start(void **state) {
    (void)state;
    const double start[2] = {8, -12};
    double w[2] = {8, -12}, R[N], z[N], condition, singular = 1;
    size_t k;
    struct progress all = {.n = 0};
    struct fit fit = fit_points("solver=newton step=full penalty=none irls=true", start, &all);
    assert_false(fit.report.converged);
    assert_int_equal(fit.report.stop_reason, DN_STOP_NO_PROGRESS);
    assert_true(logistic_warned(&fit.report, "there is no full step"));
    assert_true(all.n > 1);
    for (k = 1; k < all.n; k++) {
        singular = step(w, 0, R, z, &condition);
        assert_true(singular > 1e-14);
        assert_close(all.w[k], w, 2, 1e-6);
        assert_near(all.loss[k], loss_at(w, 0), 1e-6);
    }
    assert_true(loss_at(w, 0) > 50 * loss_at(start, 0));
    assert_near(fit.out.w[0], all.w[k - 1][0], 1e-12);
    assert_near(fit.out.w0[0], all.w[k - 1][1], 1e-12);
    assert_true(isfinite(fit.out.w[0]) && isfinite(fit.out.w0[0]));
    /* the last Hessian, which is singular, has its weights too */
    assert_int_equal(detail_of(&fit.report, "irls_weights")->n_list, all.n * N);
    fit_done(&fit);
    struct progress ignored = {.n = 0};
    fit = fit_points("solver=newton penalty=none", start, &ignored);
    assert_true(fit.report.converged);
    fit_done(&fit);
}

/* Full steps reach the optimum of the line search: softmax, without an intercept, with a penalised
 * one, and in the row space. */
static void other_plans(void **state) {
    (void)state;
    static const char *const ways[] = {"lambda=0.05", "lambda=0.05 intercept=none",
                                       "lambda=0.05 intercept=penalised", "penalty=none"};
    for (size_t K = 2; K <= 3; K++) {
        struct problem table = problem_named(K == 2 ? "breast_cancer" : "iris", true);
        for (size_t i = 0; i < 3; i++) {
            char words[2][120];
            struct fit fits[2];
            for (size_t s = 0; s < 2; s++) {
                snprintf(words[s], sizeof words[s], "solver=newton %s step=%s", ways[i],
                         s == 0 ? "full" : "line_search");
                dn_params *p = params_of_words(words[s]);
                fits[s] = fit_problem(&table, p);
                assert_true(fits[s].report.converged);
                dn_params_free(p);
            }
            assert_close(fits[0].out.w, fits[1].out.w, scores_of(&table) * table.d, 1e-6);
            assert_close(fits[0].out.w0, fits[1].out.w0, scores_of(&table), 1e-6);
            fit_done(&fits[0]);
            fit_done(&fits[1]);
        }
        logistic_problem_done(&table);
    }
    /* 6 rows of 7 columns: pairs of rows with 1 of 2 or 2 of 3 of the second class */
    enum { ROWS = 6, COLUMNS = 7 };
    static const double of_class[ROWS] = {1, 1, 0, 0, 0, 1};
    double wide[ROWS * COLUMNS] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        wide[i * COLUMNS + i / 3] = 1 + (double)(i / 3);
    }
    dn_params *p = params_of_words("solver=newton step=full irls=true penalty=none");
    dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(wide, ROWS, COLUMNS), of_class, NULL, &rows, NULL));
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_true(fit.report.converged);
    assert_near(fit.out.w[0] + fit.out.w0[0], log(2), 1e-8);
    assert_near(2 * fit.out.w[1] + fit.out.w0[0], -log(2), 1e-8);
    const dn_detail *response = detail_of(&fit.report, "irls_response");
    assert_near(response->list[0], 2, 1e-12); /* at 0: ±½/¼ */
    assert_near(response->list[3], -2, 1e-12);
    fit_done(&fit);
    dn_rows_free(rows);
    dn_params_free(p);
}

static void refused(const char *words, size_t n_rows, size_t d, size_t K, const char *field,
                    const char *part) {
    dn_params *p;
    dn_error err = {0};
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    dn_status status = dn_params_set_words(p, words, &err);
    if (status == DN_OK) {
        status = dn_params_resolve(p, n_rows, d, K, &err);
    }
    if (status != DN_ERR_ARGUMENT || strcmp(err.field, field) != 0 ||
        strstr(err.message, part) == NULL) {
        fail_msg("%s: %d %s %s", words, (int)status, err.field, err.message);
    }
    dn_params_free(p);
}

static void refusals(void **state) {
    (void)state;
    refused("step=full", 10, 2, 2, "step", "solver newton");
    refused("irls=true solver=lbfgs", 10, 2, 2, "irls", "solver newton");
    refused("step=full solver=newton penalty=l1", 10, 2, 2, "step", "penalty l2 or none");
    refused("step=full solver=newton", 10, 5000, 2, "step", "at most 4096");
    refused("irls=true solver=newton", 10, 2, 3, "irls", "two classes");
    refused("irls=true solver=newton", 1001, 2, 2, "irls", "got 1001 times 100");
    refused("intercept=none init=1,2,3", 10, 2, 2, "init", "must have 0 for w0");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_start), cmocka_unit_test(far_start),
                                       cmocka_unit_test(other_plans), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
