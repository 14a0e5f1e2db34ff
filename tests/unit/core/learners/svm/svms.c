#include "unit/core/learners/svm/svms.h"

void svm_problem_done(struct problem *t) {
    dn_rows_free(t->rows);
    free(t->x);
    free(t->target);
    free(t->weight);
    free(t->values);
    free(t->cols);
    free(t->start);
    *t = (struct problem){0};
}

void problem_rows(struct problem *t, bool sparse) {
    dn_matrix x = dn_matrix_dense(t->x, t->n, t->d);
    if (sparse) {
        size_t k = 0;
        t->values = xcalloc(t->n * t->d, sizeof(double));
        t->cols = xcalloc(t->n * t->d, sizeof(uint32_t));
        t->start = xcalloc(t->n + 1, sizeof(size_t));
        for (size_t i = 0; i < t->n; i++) {
            for (size_t j = 0; j < t->d; j++) {
                if (t->x[i * t->d + j] != 0) {
                    t->cols[k] = (uint32_t)j;
                    t->values[k++] = t->x[i * t->d + j];
                }
            }
            t->start[i + 1] = k;
        }
        x = dn_matrix_csr(t->start, t->cols, t->values, t->n, t->d);
    }
    OK(dn_rows_from_matrix(x, t->target, t->weight, &t->rows, NULL));
}

struct problem problem_of(const double *x, const double *target, const double *weight, size_t n,
                          size_t d, bool sparse) {
    struct problem t = {.n = n, .d = d};
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    memcpy(t.x, x, n * d * sizeof(double));
    memcpy(t.target, target, n * sizeof(double));
    if (weight != NULL) {
        t.weight = xcalloc(n, sizeof(double));
        memcpy(t.weight, weight, n * sizeof(double));
    }
    problem_rows(&t, sparse);
    return t;
}

struct problem problem_pair(const char *name, bool standardise, bool sparse) {
    struct csv *csv = csv_named(name);
    struct problem t = {0};
    if (csv == NULL) {
        return t;
    }
    double *z = standardised(csv->x, csv->n, csv->d, NULL, NULL);
    t.d = csv->d;
    t.x = xcalloc(csv->n * csv->d, sizeof(double));
    t.target = xcalloc(csv->n, sizeof(double));
    for (size_t i = 0; i < csv->n; i++) {
        if (csv->target[i] < 2) {
            memcpy(t.x + t.n * t.d, (standardise ? z : csv->x) + i * t.d, t.d * sizeof(double));
            t.target[t.n++] = csv->target[i];
        }
    }
    free(z);
    csv_free(csv);
    problem_rows(&t, sparse);
    return t;
}

double svm_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

struct problem problem_cloud(size_t n, size_t d, double zeros, double noise, bool weighted,
                             bool sparse) {
    struct problem t = {.n = n, .d = d};
    uint64_t state = 99;
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    t.weight = weighted ? xcalloc(n, sizeof(double)) : NULL;
    for (size_t i = 0; i < n; i++) {
        double f = -0.3;
        for (size_t j = 0; j < d; j++) {
            double value =
                svm_random(&state) < zeros ? 0 : svm_random(&state) + svm_random(&state) - 1;
            t.x[i * d + j] = value;
            f += value * (double)((int)(j % 5) - 2);
        }
        t.target[i] = f + noise * (svm_random(&state) + svm_random(&state) - 1) > 0;
        if (weighted) {
            t.weight[i] = (double)(i % 3) * 0.75;
        }
    }
    problem_rows(&t, sparse);
    return t;
}

dni_svm_options options_of(dni_svm_solver solver, dni_svm_intercept intercept, double C) {
    return (dni_svm_options){.solver = solver,
                             .intercept = intercept,
                             .C = C,
                             .squared = solver == DNI_SVM_NEWTON,
                             .tolerance = solver == DNI_SVM_INTERIOR_POINT ? 1e-6
                                          : solver == DNI_SVM_NEWTON       ? 1e-9
                                                                           : 1e-4,
                             .max_iterations =
                                 solver == DNI_SVM_DUAL_COORDINATE_DESCENT ? 20000 : 200};
}

dn_status try_svm(const struct problem *t, const dni_svm_options *options, const dn_run *run,
                  struct fit *fit, dn_error *err) {
    const dn_fit_input input = {.rows = t->rows, .n_classes = 2};
    dn_machine *machine;
    const dn_status status = dni_svm_linear_fit(&input, options, run, &machine, &fit->report, err);
    if (status == DN_OK) {
        fit->out = machine_view(machine);
    }
    return status;
}

struct fit fit_svm(const struct problem *t, dni_svm_options options) {
    dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_error err = {0};
    if (try_svm(t, &options, &run, &fit, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return fit;
}

const dn_detail *find_detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return &report->details[i];
        }
    }
    fail_msg("no detail %s", name);
    return &no_detail;
}

double svm_detail(const dn_report *report, const char *name) {
    return find_detail(report, name)->number;
}

bool svm_warned(const dn_report *report, const char *words) {
    for (size_t i = 0; i < report->n_warnings; i++) {
        if (strstr(report->warnings[i].text, words) != NULL) {
            return true;
        }
    }
    return false;
}

double margin_of(const struct problem *t, const struct fit *fit, size_t i) {
    double f = fit->out.w0[0];
    for (size_t j = 0; j < t->d; j++) {
        f += fit->out.w[j] * t->x[i * t->d + j];
    }
    return t->target[i] > 0 ? f : -f;
}

double svm_weight(const struct problem *t, size_t i) {
    return t->weight == NULL ? 1 : t->weight[i];
}

double primal_of(const struct problem *t, const struct fit *fit, const dni_svm_options *o) {
    double sum = o->intercept == DNI_SVM_PENALISED ? fit->out.w0[0] * fit->out.w0[0] / 2 : 0;
    for (size_t j = 0; j < t->d; j++) {
        sum += fit->out.w[j] * fit->out.w[j] / 2;
    }
    for (size_t i = 0; i < t->n && isfinite(o->C); i++) {
        double s = fmax(0, 1 - margin_of(t, fit, i));
        sum += o->C * svm_weight(t, i) * (o->squared ? s * s : s);
    }
    return sum;
}

/* Checks without α that no other machine improves the objective by more than the relative gap. The
 * objective is convex, so a decrease would appear in small steps too. Directions: each weight, the
 * intercept, the scale of the weights, and random ones. */
static void assert_least(const struct problem *t, const struct fit *fit, const dni_svm_options *o,
                         double gap) {
    const double here = primal_of(t, fit, o);
    uint64_t state = 5;
    struct fit other = {
        .out = {.w = xcalloc(t->d, sizeof(double)), .w0 = xcalloc(1, sizeof(double))}};
    for (size_t k = 0; k < t->d + 12; k++) {
        for (double step = -1; step < 2; step += 2) {
            for (double size = 0.3; size > 1e-5; size /= 5) {
                memcpy(other.out.w, fit->out.w, t->d * sizeof(double));
                other.out.w0[0] = fit->out.w0[0];
                if (k < t->d) {
                    other.out.w[k] += step * size;
                } else if (k == t->d) {
                    other.out.w0[0] += o->intercept == DNI_SVM_NONE ? 0 : step * size;
                } else {
                    for (size_t j = 0; j <= t->d; j++) {
                        double by = k == t->d + 1 ? step * size * (j < t->d ? fit->out.w[j] : 0)
                                                  : size * (svm_random(&state) - 0.5);
                        if (j < t->d) {
                            other.out.w[j] += by;
                        } else {
                            other.out.w0[0] += o->intercept == DNI_SVM_NONE ? 0 : by;
                        }
                    }
                }
                const double there = primal_of(t, &other, o);
                if (!(there >= here - gap * here)) {
                    fail_msg("direction %zu, size %g: %.12g is below %.12g", k, step * size, there,
                             here);
                }
            }
        }
    }
    free(other.out.w);
    free(other.out.w0);
}

void assert_duals(const struct problem *t, const struct fit *fit, const dni_svm_options *o) {
    const dn_duals *duals = fit->out.machine->duals;
    double *w = xcalloc(t->d + 1, sizeof *w), balance = 0, dual = 0, most = 0, bounded = 0,
           positive = 0;
    assert_non_null(duals);
    assert_false(duals->omitted);
    assert_true((double)duals->n == svm_detail(&fit->report, "support_vectors"));
    for (size_t k = 0; k < duals->n; k++) {
        const dn_dual *a = &duals->items[k];
        const double v = svm_weight(t, a->row), upper = o->C * v, alpha = fabs(a->coef);
        assert_true(a->row < t->n && (k == 0 || a->row > duals->items[k - 1].row) && v > 0);
        assert_true((a->coef > 0) == (t->target[a->row] > 0));
        assert_near(a->slack + 1, fmax(0, 1 - margin_of(t, fit, a->row)) + 1, 1e-9);
        assert_true(o->squared || !isfinite(o->C) || alpha <= upper);
        assert_true(a->bounded == (!o->squared && alpha >= upper * (1 - 1e-9)));
        for (size_t j = 0; j < t->d; j++) {
            w[j] += a->coef * t->x[a->row * t->d + j];
        }
        balance += a->coef;
        most += alpha;
        dual += alpha - (o->squared ? alpha * alpha / (4 * upper) : 0);
        bounded += a->bounded;
        positive += a->inside;
    }
    for (size_t j = 0; j < t->d; j++) {
        dual -= w[j] * w[j] / 2;
        assert_true(fabs(w[j] - fit->out.w[j]) <= duals->residual + 1e-9 * (1 + most));
    }
    dual -= o->intercept == DNI_SVM_PENALISED ? balance * balance / 2 : 0;
    if (o->intercept == DNI_SVM_FREE) {
        assert_true(fabs(balance) <= 1e-12 * most);
    }
    assert_near(dual + most, svm_detail(&fit->report, "dual_objective") + most, 1e-8);
    assert_true(bounded == svm_detail(&fit->report, "bounded_support_vectors"));
    assert_true(positive == svm_detail(&fit->report, "slack_positive"));
    free(w);
}

void assert_solved(const struct problem *t, const struct fit *fit, const dni_svm_options *o) {
    double norm = 0, slack = 0, over = 0, primal = primal_of(t, fit, o);
    for (size_t j = 0; j < t->d; j++) {
        norm += fit->out.w[j] * fit->out.w[j];
    }
    for (size_t i = 0; i < t->n; i++) {
        double m = margin_of(t, fit, i);
        slack += svm_weight(t, i) * fmax(0, 1 - m);
        over += svm_weight(t, i) > 0 && m < 0;
    }
    if (!fit->report.converged) {
        fail_msg("not converged: %s", fit->report.n_warnings > 0
                                          ? fit->report.warnings[0].text
                                          : dn_stop_reason_name(fit->report.stop_reason));
    }
    assert_true(find_detail(&fit->report, "certified")->number == 1);
    assert_near(fit->report.objective, primal, 1e-9);
    assert_near(svm_detail(&fit->report, "primal_objective"), primal, 1e-9);
    assert_near(svm_detail(&fit->report, "dual_objective"), primal, o->tolerance * 1.0001 + 1e-12);
    assert_true(svm_detail(&fit->report, "gap") <= o->tolerance &&
                svm_detail(&fit->report, "gap") > -1e-9);
    assert_near(svm_detail(&fit->report, "norm") + 1e-300, sqrt(norm) + 1e-300, 1e-9);
    assert_near(svm_detail(&fit->report, "slack_sum") + 1, slack + 1, 1e-7);
    assert_near(svm_detail(&fit->report, "slack_over_one") + 1, over + 1, 1e-12);
    assert_true(svm_detail(&fit->report, "w0") == fit->out.w0[0]);
    assert_least(t, fit, o, o->tolerance + 1e-12);
    assert_duals(t, fit, o);
}
