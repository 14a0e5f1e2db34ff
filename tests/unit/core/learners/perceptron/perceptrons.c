#include "unit/core/learners/perceptron/perceptrons.h"

dn_params *perceptron_params(const char *const *settings) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("perceptron"), &p, NULL));
    OK(dn_params_set_word(p, "order", "given", NULL));
    for (size_t i = 0; settings != NULL && settings[i] != NULL; i += 2) {
        char *end;
        double number = strtod(settings[i + 1], &end);
        if (strcmp(settings[i + 1], "true") == 0 || strcmp(settings[i + 1], "false") == 0) {
            OK(dn_params_set_boolean(p, settings[i], settings[i + 1][0] == 't', NULL));
        } else if (*end == '\0') {
            OK(dn_params_set_number(p, settings[i], number, NULL));
        } else {
            OK(dn_params_set_word(p, settings[i], settings[i + 1], NULL));
        }
    }
    return p;
}

struct fit fit_sample(const struct sample *s, const char *const *settings, const dn_run *run) {
    dn_run plain = dn_run_default();
    dn_params *p = perceptron_params(settings);
    dn_rows *rows;
    struct fit fit = {0};
    dn_error err = {0};
    OK(dn_rows_from_matrix(dn_matrix_dense(s->x, s->n, s->d), s->target, s->weight, &rows, NULL));
    if (fit_rows(rows, 2, p, run == NULL ? &plain : run, &fit, &err) != DN_OK) {
        fail_msg("the fit failed: %s", err.message);
    }
    dn_rows_free(rows);
    dn_params_free(p);
    return fit;
}

double perceptron_detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].number;
        }
    }
    fail_msg("no detail \"%s\"", name);
    return 0;
}

bool has_detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

double aligned(const struct sample *s, size_t i, const double *w, double w0) {
    double sum = w0;
    for (size_t j = 0; j < s->d; j++) {
        sum += w[j] * s->x[i * s->d + j];
    }
    return s->target[i] > 0 ? sum : -sum;
}

double square_length(const struct sample *s, size_t i) {
    double sum = 1;
    for (size_t j = 0; j < s->d; j++) {
        sum += s->x[i * s->d + j] * s->x[i * s->d + j];
    }
    return sum;
}

double least_of(const struct sample *s, const double *w, double w0) {
    double least = (double)INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        if (s->weight == NULL || s->weight[i] > 0) {
            least = fmin(least, aligned(s, i, w, w0));
        }
    }
    return least;
}

double errors_of(const struct sample *s, const double *w, double w0, size_t *out_rows) {
    double sum = 0;
    *out_rows = 0;
    for (size_t i = 0; i < s->n; i++) {
        double v = s->weight == NULL ? 1 : s->weight[i];
        if (v > 0 && !(aligned(s, i, w, w0) > 0)) {
            sum += v;
            ++*out_rows;
        }
    }
    return sum;
}

void assert_counted(const struct sample *s, const struct fit *fit) {
    size_t rows;
    double total = 0, errors = errors_of(s, fit->out.w, fit->out.w0[0], &rows),
           least = least_of(s, fit->out.w, fit->out.w0[0]);
    for (size_t i = 0; i < s->n; i++) {
        total += s->weight == NULL ? 1 : s->weight[i];
    }
    assert_int_equal((size_t)perceptron_detail(&fit->report, "errors"), rows);
    assert_near(perceptron_detail(&fit->report, "error_share") + 1, errors / total + 1, 1e-12);
    assert_near(perceptron_detail(&fit->report, "least_margin"), least, 1e-9);
    assert_int_equal(fit->report.converged, perceptron_detail(&fit->report, "within_margin") == 0);
}

static void history_add(const dn_run *run, const dn_progress *progress) {
    struct history *h = run->ctx;
    assert_int_equal(progress->iteration, h->n + !h->start);
    assert_true(h->n < MAX_PASSES && progress->w != NULL && progress->n_scores == 1 &&
                progress->n_features == h->d);
    memcpy(h->w + h->n * (h->d + 1), progress->w, h->d * sizeof(double));
    h->w[h->n * (h->d + 1) + h->d] = progress->w0[0];
    h->loss[h->n] = progress->loss;
    h->error[h->n] = progress->train_error;
    h->n++;
}

struct history *history_new(size_t d, dn_run *run) {
    struct history *h = xcalloc(1, sizeof *h);
    h->d = d;
    h->w = xcalloc(MAX_PASSES * (d + 1), sizeof(double));
    for (size_t i = 0; i < MAX_PASSES; i++) {
        h->passes[i] = i;
    }
    *run = dn_run_default();
    run->ctx = h;
    run->progress = history_add;
    run->snapshots = h->passes + 1;
    run->n_snapshots = MAX_PASSES - 1;
    return h;
}

void history_from_start(struct history *h, dn_run *run) {
    h->start = true;
    run->snapshots = h->passes;
    run->n_snapshots = MAX_PASSES;
}

void history_free(struct history *h) {
    free(h->w);
    free(h);
}

struct csv *iris_against_rest(const char *class, struct sample *out) {
    struct csv *t = csv_named("iris");
    size_t k = 0;
    while (strcmp(t->classes[k], class) != 0) {
        k++;
    }
    for (size_t i = 0; i < t->n; i++) {
        t->target[i] = t->target[i] == (double)k;
    }
    *out = (struct sample){t->x, t->target, NULL, t->n, t->d};
    return t;
}
