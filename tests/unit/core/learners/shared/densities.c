#include "unit/core/learners/shared/densities.h"

dn_params *params_for(const char *algorithm) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    return p;
}

dn_status fit_arrays(const double *x, const double *y, const double *weight, size_t n, size_t d,
                     size_t K, const dn_params *p, struct fit *fit, dn_error *err) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    OK(dn_rows_from_matrix(dn_matrix_dense(x, n, d), y, weight, &rows, NULL));
    dn_status status = fit_rows(rows, K, p, &run, fit, err);
    dn_rows_free(rows);
    return status;
}

double posterior(const struct machine_view *m, const double *x, double *p) {
    size_t K = m->n_classes;
    double *work = xcalloc(dni_machine_work(m->machine), sizeof *work), scores[64], joint[64],
           coupling[256];
    assert_true(K <= 16);
    dni_machine_scores(m->machine, x, scores, work);
    dn_decision_probabilities(DN_DECISION_NATIVE, K, scores, p, coupling);
    dni_machine_joint(m->machine, x, joint, work);
    free(work);
    return dni_log_sum(joint, K);
}

double densities_detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].n_list > 0 ? report->details[i].list[0]
                                                 : report->details[i].number;
        }
    }
    fail_msg("no detail \"%s\"", name);
    return 0;
}

double eliminate(const double *a, const double *b, size_t d, size_t n, double *out) {
    size_t width = d + n;
    double *m = xcalloc(d * width, sizeof *m), log_det = 0;
    for (size_t i = 0; i < d; i++) {
        memcpy(m + i * width, a + i * d, d * sizeof *m);
        memcpy(m + i * width + d, b + i * n, n * sizeof *m);
    }
    for (size_t c = 0; c < d; c++) {
        size_t pivot = c;
        for (size_t i = c + 1; i < d; i++) {
            pivot = fabs(m[i * width + c]) > fabs(m[pivot * width + c]) ? i : pivot;
        }
        for (size_t j = 0; j < width; j++) {
            double t = m[c * width + j];
            m[c * width + j] = m[pivot * width + j];
            m[pivot * width + j] = t;
        }
        log_det += log(fabs(m[c * width + c]));
        for (size_t i = 0; i < d; i++) {
            double factor = m[i * width + c] / m[c * width + c];
            for (size_t j = c; i != c && j < width; j++) {
                m[i * width + j] -= factor * m[c * width + j];
            }
        }
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < n; j++) {
            out[i * n + j] = m[i * width + d + j] / m[i * width + i];
        }
    }
    free(m);
    return log_det;
}

double class_scatter(const double *x, const double *y, const double *v, size_t n, size_t d,
                     size_t k, double *mean, double *s) {
    double weight = 0;
    memset(mean, 0, d * sizeof *mean);
    memset(s, 0, d * d * sizeof *s);
    for (size_t t = 0; t < n; t++) {
        weight += (size_t)y[t] == k ? (v == NULL ? 1 : v[t]) : 0;
    }
    for (size_t t = 0; t < n; t++) {
        for (size_t j = 0; j < d && (size_t)y[t] == k; j++) {
            mean[j] += (v == NULL ? 1 : v[t]) * x[t * d + j] / weight;
        }
    }
    for (size_t t = 0; t < n; t++) {
        for (size_t i = 0; i < d && (size_t)y[t] == k; i++) {
            for (size_t j = 0; j < d; j++) {
                s[i * d + j] +=
                    (v == NULL ? 1 : v[t]) * (x[t * d + i] - mean[i]) * (x[t * d + j] - mean[j]);
            }
        }
    }
    return weight;
}

void compare_golden(const json_t *entry, const json_t *rows, const struct csv *t,
                    const struct machine_view *m) {
    double tolerance = json_number_value(json_object_get(entry, "tol")), p[16], want[16];
    size_t hits = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        size_t row = (size_t)json_integer_value(json_array_get(rows, i));
        posterior(m, t->x + row * t->d, p);
        assert_int_equal(golden_numbers(json_array_get(json_object_get(entry, "posterior_rows"), i),
                                        want),
                         t->K);
        for (size_t k = 0; k < t->K; k++) {
            if (!(fabs(p[k] - want[k]) <= tolerance * want[k] + 1e-12)) {
                fail_msg("row %zu, class %zu: %.15g, wanted %.15g", row, k, p[k], want[k]);
            }
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        size_t best = 0;
        posterior(m, t->x + i * t->d, p);
        for (size_t k = 1; k < t->K; k++) {
            best = p[k] > p[best] ? k : best;
        }
        hits += best == (size_t)t->target[i];
    }
    assert_true((double)hits / (double)t->n ==
                json_number_value(json_object_get(entry, "train_accuracy")));
}

/* Two machines of the same shape have the same numbers within the tolerance (0: the same bits). */
static void assert_same_numbers(const double *a, const double *b, size_t n, double tolerance) {
    assert_true((a == NULL) == (b == NULL));
    if (a == NULL) {
        return;
    }
    if (tolerance == 0) {
        assert_memory_equal(a, b, n * sizeof *a);
    } else {
        assert_close(a, b, n, tolerance);
    }
}

void assert_same_machine(const struct machine_view *a, const struct machine_view *b,
                         double tolerance) {
    size_t K = a->n_classes, d = a->n_features, S = dn_machine_n_scores(a->machine);
    assert_true((a->w == NULL) == (b->w == NULL) && K == b->n_classes && d == b->n_features);
    assert_same_numbers(a->w, b->w, S * d, tolerance);
    assert_same_numbers(a->w0, b->w0, S, tolerance);
    assert_true((a->gaussians == NULL) == (b->gaussians == NULL) &&
                (a->naive_bayes == NULL) == (b->naive_bayes == NULL));
    if (a->gaussians != NULL) {
        const dni_gaussians *g = a->gaussians, *h = b->gaussians;
        size_t each = g->covariance == DNI_COVARIANCE_DIAGONAL ? d : d * d,
               n = g->covariance == DNI_COVARIANCE_SHARED ? 1 : K;
        assert_true(g->covariance == h->covariance);
        assert_same_numbers(g->prior, h->prior, K, tolerance);
        assert_same_numbers(g->mean, h->mean, K * d, tolerance);
        assert_same_numbers(g->whiten, h->whiten, n * each, tolerance);
        assert_same_numbers(g->log_det, h->log_det, n, tolerance);
    }
    if (a->naive_bayes != NULL) {
        const dni_naive_bayes *g = a->naive_bayes, *h = b->naive_bayes;
        assert_memory_equal(g->factor, h->factor, d);
        assert_same_numbers(g->prior, h->prior, K, tolerance);
        assert_same_numbers(g->a, h->a, K * d, tolerance);
        assert_same_numbers(g->b, h->b, K * d, tolerance);
    }
}

void check_invariants(const struct csv *t, const dn_params *p) {
    size_t n = t->n, d = t->d;
    double *x = xcalloc(2 * n * d, sizeof *x), *y = xcalloc(2 * n, sizeof *y),
           *v = xcalloc(2 * n, sizeof *v);
    struct fit base, twice, weighted, none, turned, sparse;
    for (size_t i = 0; i < 2 * n; i++) {
        memcpy(x + i * d, t->x + i % n * d, d * sizeof *x);
        y[i] = t->target[i % n];
    }
    OK(fit_arrays(x, y, NULL, 2 * n, d, t->K, p, &twice, NULL));
    for (size_t i = 0; i < n; i++) {
        v[i] = 2;
    }
    OK(fit_arrays(x, y, v, n, d, t->K, p, &weighted, NULL));
    assert_same_machine(&twice.out, &weighted.out, 1e-9);
    assert_near(twice.report.objective, weighted.report.objective, 1e-9);
    /* Appends rows with weight 0. They would change the machine if they were counted. */
    for (size_t i = n; i < 2 * n; i++) {
        v[i] = 0;
        for (size_t j = 0; j < d; j++) {
            x[i * d + j] = 1e6 * (double)(i + j);
        }
    }
    OK(fit_arrays(x, y, v, 2 * n, d, t->K, p, &none, NULL));
    assert_same_machine(&none.out, &weighted.out, 1e-9);
    assert_near(densities_detail(&none.report, "log_density_min"),
                densities_detail(&weighted.report, "log_density_min"), 1e-9);
    OK(fit_arrays(t->x, t->target, NULL, n, d, t->K, p, &base, NULL));
    for (size_t i = 0; i < n; i++) {
        memcpy(x + (n - 1 - i) * d, t->x + i * d, d * sizeof *x);
        y[n - 1 - i] = t->target[i];
    }
    OK(fit_arrays(x, y, NULL, n, d, t->K, p, &turned, NULL));
    assert_same_machine(&turned.out, &base.out, 1e-9);
    size_t *start = xcalloc(n + 1, sizeof *start), entries = 0;
    uint32_t *cols = xcalloc(n * d, sizeof *cols);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) {
            if (t->x[i * d + j] == 0) {
                continue;
            }
            x[entries] = t->x[i * d + j];
            cols[entries++] = (uint32_t)j;
        }
        start[i + 1] = entries;
    }
    dn_rows *rows;
    dn_run run = dn_run_default();
    OK(dn_rows_from_matrix(dn_matrix_csr(start, cols, x, n, d), t->target, NULL, &rows, NULL));
    OK(fit_rows(rows, t->K, p, &run, &sparse, NULL));
    assert_same_machine(&sparse.out, &base.out, 1e-9);
    assert_near(sparse.report.objective, base.report.objective, 1e-9);
    dn_rows_free(rows);
    struct fit *all[] = {&base, &twice, &weighted, &none, &turned, &sparse};
    for (size_t i = 0; i < 6; i++) {
        fit_done(all[i]);
    }
    free(start);
    free(cols);
    free(x);
    free(y);
    free(v);
}

void check_threads(const struct csv *t, const dn_params *p) {
    struct fit one, many;
    dn_rows *rows;
    dn_run run = dn_run_default();
    assert_true(t->n > 4 * DN_BLOCK_ROWS);
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
    OK(fit_rows(rows, t->K, p, &run, &one, NULL));
    run.n_slots = 3;
    run.sum = sum_in_ranges;
    run.each = each_in_reverse;
    OK(fit_rows(rows, t->K, p, &run, &many, NULL));
    assert_same_machine(&one.out, &many.out, 0);
    assert_true(one.report.objective == many.report.objective);
    assert_true(densities_detail(&one.report, "log_density_min") ==
                densities_detail(&many.report, "log_density_min"));
    dn_rows_free(rows);
    fit_done(&one);
    fit_done(&many);
}

void check_failures(const struct csv *t, const dn_params *p) {
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
    dn_status status = DN_ERR_MEMORY;
    size_t failures = 0;
    for (size_t at = 1; status != DN_OK; at++) {
        struct memory memory = {.fail_at = at, .left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, false);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit = {0};
        status = fit_rows(rows, t->K, p, &run, &fit, NULL);
        assert_true(status == DN_OK || (status == DN_ERR_MEMORY && fit.out.n_classes == 0));
        failures += status != DN_OK;
        assert_int_equal(memory.live, 0);
        fit_done(&fit);
    }
    assert_true(failures >= 4);
    size_t stops = 0;
    status = DN_ERR_STOPPED;
    for (size_t at = 1; status != DN_OK; at++) {
        struct polls polls = {.stop_at = at};
        dn_run run = polls_run(&polls);
        struct fit fit = {0};
        status = fit_rows(rows, t->K, p, &run, &fit, NULL);
        assert_true(status == DN_OK || (status == DN_ERR_STOPPED && fit.out.n_classes == 0));
        stops += status != DN_OK;
        fit_done(&fit);
    }
    assert_true(stops >= 3);
    dn_rows_free(rows);
}

void *peak_allocate(void *ctx, size_t size) {
    double *peak = ctx; /* bytes in use, peak */
    double *p = malloc(size + 16);
    if (p == NULL) {
        return NULL;
    }
    p[0] = (double)size;
    peak[0] += (double)size;
    peak[1] = fmax(peak[1], peak[0]);
    return p + 2;
}

void peak_release(void *ctx, void *memory) {
    double *peak = ctx, *p = memory;
    if (memory == NULL) {
        return;
    }
    peak[0] -= p[-2];
    free(p - 2);
}

void check_memory(const struct csv *t, const dn_params *p) {
    double peak[2] = {0};
    dn_allocator allocator = {.allocate = peak_allocate,
                              .release = peak_release,
                              .ctx = peak,
                              .budgeted = false};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    dn_rows *rows;
    struct fit fit;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
    OK(fit_rows(rows, t->K, p, &run, &fit, NULL));
    double estimated = estimated_memory(p, t->n, t->d, t->K, 1);
    /* Estimates include the arrays of the machine, but not its structs of about 200 bytes. */
    const double machine = fmax(0, dni_machine_memory(fit.out.machine) - 256);
    const double used = peak[1] + machine;
    if (!(used <= estimated && estimated <= 1.5 * used)) {
        fail_msg("%g bytes of work and %g of the machine, %g estimated", peak[1], machine,
                 estimated);
    }
    dn_rows_free(rows);
    fit_done(&fit);
}
