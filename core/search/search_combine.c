/* The trial of the combination. */
#include "search/search_combine.h"
#include "base/layout.h"
#include "encoder/encoder_join.h"
#include "machine/probability.h"
#include "model/combination.h"
#include "search/search_shares.h"
#include "search/search_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The predictions of the held-out rows by the members, fold by fold. */
struct stack {
    dni_search_folds *folds;
    const dn_search_request *request;
    dn_search_member *members;
    size_t n_members, n_classes, n_rows;
    double *logs;     /* [n_rows × n_members × n_classes] */
    size_t *truth;    /* [n_rows] */
    double *weight;   /* [n_rows] of the metric */
    double *balanced; /* [n_rows] with the weights of the classes */
    bool *used;       /* [n_rows] */
    size_t *first;    /* [n folds + 1] the first row of each fold */
    double *factor;   /* [n_classes] the weights of the classes in the fit of the shares */
    dn_trial figures[DN_MAX_MEMBERS]; /* of the members */
    /* of a fold, for its metric */
    double *scores;      /* [n_most × n_classes] class scores */
    double *p;           /* [n_most × n_classes] */
    size_t *label;       /* [n_most] */
    dni_row_sink *sinks; /* [n folds] */
    struct receiver {
        struct stack *stack;
        size_t fold, member;
    } *receivers; /* [n folds] */
    void *memory;
};

struct shape {
    size_t n_members, n_classes, n_rows, n_folds, n_most;
};

static void stack_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct stack *t = out;
    t->logs = dni_layout_matrix(layout, s->n_rows, s->n_members * s->n_classes);
    t->truth = dni_layout_array(layout, s->n_rows, sizeof *t->truth);
    t->weight = dni_layout_doubles(layout, s->n_rows);
    t->balanced = dni_layout_doubles(layout, s->n_rows);
    t->factor = dni_layout_doubles(layout, s->n_classes);
    t->first = dni_layout_array(layout, s->n_folds + 1, sizeof *t->first);
    t->scores = dni_layout_matrix(layout, s->n_most, s->n_classes);
    t->p = dni_layout_matrix(layout, s->n_most, s->n_classes);
    t->label = dni_layout_array(layout, s->n_most, sizeof *t->label);
    t->sinks = dni_layout_array(layout, s->n_folds, sizeof *t->sinks);
    t->receivers = dni_layout_array(layout, s->n_folds, sizeof *t->receivers);
    t->used = dni_layout_array(layout, s->n_rows, sizeof *t->used);
}

double dni_combination_memory(size_t combine, size_t folds, size_t n_repeats, size_t n_rows,
                              size_t n_classes) {
    const struct shape shape = {.n_members = combine,
                                .n_classes = n_classes,
                                .n_rows = n_rows * n_repeats,
                                .n_folds = folds * n_repeats,
                                .n_most = n_rows / (folds > 0 ? folds : 1) + 1};
    struct stack stack;
    return combine == 0 ? 0 : dni_layout_bytes(stack_layout, &shape, &stack);
}

/* ---- the members ---- */
/* Returns whether the candidate of a trial may join the members so far. */
static bool may_join(const struct stack *s, const dn_trial *trial) {
    const dn_candidate *all = s->request->candidates, *c = &all[trial->candidate];
    const dn_table_source *source = s->folds->request.source;
    dn_encoder_spec own = c->features;
    if (trial->status != DN_OK || trial->share < 1 ||
        !dn_params_have_probabilities(c->params, s->n_classes)) {
        return false;
    }
    for (size_t m = 0; m < s->n_members; m++) {
        if (all[s->members[m].candidate].params->algorithm == c->params->algorithm) {
            return false;
        }
    }
    if (s->n_members == 0) {
        return true;
    }
    const dn_candidate *best = &all[s->members[0].candidate];
    dn_encoder_spec first = best->features;
    return dn_params_encoding(c->params, source->columns, source->n_rows, &own, NULL) == DN_OK &&
           dn_params_encoding(best->params, source->columns, source->n_rows, &first, NULL) ==
               DN_OK &&
           dni_specs_join(&first, &own, source->columns);
}

static void choose_members(struct stack *s, const dn_trial *ranked, size_t n) {
    for (size_t i = 0; i < n && s->n_members < s->request->combine; i++) {
        if (may_join(s, &ranked[i])) {
            s->members[s->n_members++] = (dn_search_member){.candidate = ranked[i].candidate};
        }
    }
}

/* ---- their predictions ---- */
static void take_rows(void *arg, size_t first, const dn_metrics_rows *rows) {
    const struct receiver *to = arg;
    struct stack *s = to->stack;
    const size_t K = s->n_classes, M = s->n_members;
    for (size_t i = 0; i < rows->n; i++) {
        const size_t row = s->first[to->fold] + first + i;
        s->truth[row] = rows->truth[i];
        s->weight[row] = rows->weight == NULL ? 1 : rows->weight[i];
        for (size_t k = 0; k < K; k++) {
            s->logs[(row * M + to->member) * K + k] = dni_log_share(rows->probabilities[i * K + k]);
        }
    }
}

static dn_status allocate(struct stack *s, dn_error *err) {
    const dni_search_folds *f = s->folds;
    struct shape shape = {.n_members = s->n_members, .n_classes = s->n_classes, .n_folds = f->n};
    for (size_t k = 0; k < f->n; k++) {
        const size_t n = f->folds[k].n_held_out;
        shape.n_rows += n;
        shape.n_most = n > shape.n_most ? n : shape.n_most;
    }
    s->n_rows = shape.n_rows;
    const dn_status status = dni_layout_take(f->run, stack_layout, &shape, s,
                                             "the predictions of a combination", &s->memory, err);
    for (size_t k = 0; k < f->n && status == DN_OK; k++) {
        s->first[k + 1] = s->first[k] + f->folds[k].n_held_out;
    }
    return status;
}

/* Fits member m to every fold again and keeps its predictions and figures. *trial fails if it
 * does. */
static dn_status predict_member(struct stack *s, size_t m, double *values, dn_trial *trial,
                                dn_error *err) {
    const dn_candidate *candidate = &s->request->candidates[s->members[m].candidate];
    dn_trial own = {.candidate = s->members[m].candidate, .share = 1};
    for (size_t k = 0; k < s->folds->n; k++) {
        s->receivers[k] = (struct receiver){.stack = s, .fold = k, .member = m};
        s->sinks[k] = (dni_row_sink){.take = take_rows, .arg = &s->receivers[k]};
    }
    const dn_status status =
        dni_search_try(s->folds, candidate, s->request->metric, values, s->sinks, &own, err);
    if (status != DN_OK) {
        return status;
    }
    if (own.status != DN_OK) {
        dni_search_fail(trial, own.status, own.message, own.field);
        return DN_OK;
    }
    s->figures[m] = own;
    return DN_OK;
}

/* Sets s->balanced: the weights that the members were fitted with, so that the shares do not undo
 * the weights of the classes. */
static void weigh_classes(const struct stack *s) {
    const dn_train_request *r = &s->folds->request;
    const size_t K = s->n_classes;
    double total = 0;
    memset(s->factor, 0, K * sizeof *s->factor);
    for (size_t i = 0; i < s->n_rows; i++) {
        s->factor[s->truth[i]] += s->weight[i];
        total += s->weight[i];
    }
    for (size_t k = 0; k < K; k++) {
        s->factor[k] = r->class_weight == DN_CLASS_WEIGHT_GIVEN ? r->class_weights[k]
                       : r->class_weight == DN_CLASS_WEIGHT_BALANCED && s->factor[k] > 0
                           ? total / ((double)K * s->factor[k])
                           : 1;
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        s->balanced[i] = s->weight[i] * s->factor[s->truth[i]];
    }
}

/* ---- the shares ---- */
/* Fits the shares to the held-out rows that fold k may know; k = number of folds: to all rows. */
static dn_status fit_shares(const struct stack *s, size_t k, double *shares, dn_error *err) {
    const dni_search_folds *f = s->folds;
    const size_t folds = f->request.folds;
    for (size_t other = 0; other < f->n; other++) {
        const bool used = k == f->n || (other / folds == k / folds &&
                                        (f->request.ordered ? other < k : other != k));
        memset(s->used + s->first[other], used, s->first[other + 1] - s->first[other]);
    }
    const dni_share_rows rows = {.logs = s->logs,
                                 .truth = s->truth,
                                 .weight = s->balanced,
                                 .used = s->used,
                                 .n = s->n_rows,
                                 .n_members = s->n_members,
                                 .n_classes = s->n_classes};
    return dni_fit_shares(&rows, f->run, shares, err);
}

/* *out ← the metric of the rows of fold k with these shares. */
static dn_status measure(const struct stack *s, size_t k, const double *shares, double *out,
                         dn_error *err) {
    const size_t K = s->n_classes, n = s->first[k + 1] - s->first[k];
    const dn_metrics_options options = {.n_classes = K,
                                        .n_rows = n,
                                        .probabilities = true,
                                        .class_scores = true,
                                        .weighted = s->folds->labels.weight != NULL,
                                        .run = s->folds->run};
    dn_metrics *metrics = NULL;
    dn_status status = dn_metrics_new(&options, &metrics, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        double *g = s->p + i * K;
        dni_combine(s->logs + (s->first[k] + i) * s->n_members * K, shares, s->n_members, K, g);
        s->label[i] = dn_decision_label(DN_DECISION_NATIVE, K, g);
        (void)dn_decision_class_scores(DN_DECISION_NATIVE, K, g, s->scores + i * K);
    }
    for (size_t i = 0; i < n; i++) { /* from the class scores, of which two differ by the score */
        dni_softmax(s->scores + i * K, K, s->p + i * K);
    }
    const dn_metrics_rows rows = {.n = n,
                                  .truth = s->truth + s->first[k],
                                  .predicted = s->label,
                                  .probabilities = s->p,
                                  .class_scores = s->scores,
                                  .weight = options.weighted ? s->weight + s->first[k] : NULL};
    dn_metrics_add(metrics, &rows);
    status = dn_metrics_finish(metrics, err);
    if (status == DN_OK) {
        *out = dn_metric_value(metrics, s->request->metric);
    }
    dn_metrics_free(metrics);
    return status;
}

/* Removes the members without a share. */
static void drop_unused(struct stack *s) {
    size_t n = 0;
    for (size_t m = 0; m < s->n_members; m++) {
        if (s->members[m].share > 0) {
            s->figures[n] = s->figures[m];
            s->members[n++] = s->members[m];
        }
    }
    s->n_members = n;
}

/* Fits the shares and measures them fold by fold. */
static dn_status score(struct stack *s, double *values, dn_error *err) {
    double shares[DN_MAX_MEMBERS];
    dn_status status = DN_OK;
    weigh_classes(s);
    for (size_t k = 0; k < s->folds->n && status == DN_OK; k++) {
        status = fit_shares(s, k, shares, err);
        if (status == DN_OK) {
            status = measure(s, k, shares, &values[k], err);
        }
    }
    if (status == DN_OK) {
        status = fit_shares(s, s->folds->n, shares, err);
    }
    for (size_t m = 0; m < s->n_members && status == DN_OK; m++) {
        s->members[m].share = shares[m];
    }
    drop_unused(s);
    return status;
}

/* Sets the figures of the trial: the sums over its members. */
static void summarise(const struct stack *s, const double *values, dn_trial *trial) {
    for (size_t m = 0; m < s->n_members; m++) {
        const dn_trial *own = &s->figures[m];
        trial->fit_seconds += own->fit_seconds;
        trial->row_seconds += own->row_seconds;
        trial->bytes += own->bytes;
        trial->n_unconverged += own->n_unconverged;
        trial->n_warnings += own->n_warnings;
        if (trial->message[0] == '\0') {
            (void)snprintf(trial->message, sizeof trial->message, "%s", own->message);
        }
    }
    trial->values = values;
    trial->n_values = s->folds->n;
    trial->members = s->members;
    trial->n_members = s->n_members;
    dni_search_average(trial, (double)s->folds->n / (double)s->folds->request.folds);
}

/* Makes the trial, unless it fails. */
static dn_status make(struct stack *s, double *values, dn_trial *trial, dn_error *err) {
    dn_status status = allocate(s, err);
    for (size_t m = 0; m < s->n_members && status == DN_OK && trial->status == DN_OK; m++) {
        status = predict_member(s, m, values, trial, err);
    }
    if (status == DN_OK && trial->status == DN_OK) {
        status = score(s, values, err);
    }
    if (status == DN_OK && trial->status == DN_OK && s->n_members < 2) {
        dni_search_fail(trial, DN_ERR_DATA,
                        s->n_members == 0
                            ? "no candidate predicts better than equal probabilities"
                            : "one candidate alone has a share: the others add nothing to it",
                        "combine");
    }
    if (status == DN_OK && trial->status == DN_OK) {
        summarise(s, values, trial);
    }
    return status;
}

dn_status dni_search_combine(dni_search_folds *f, const dn_search_request *request,
                             const dn_trial *ranked, size_t n, double *values,
                             dn_search_member *members, dn_trial *trial, dn_error *err) {
    struct stack s = {.folds = f,
                      .request = request,
                      .members = members,
                      .n_classes = dni_labels_n_classes(&f->labels)};
    dn_error why;
    dn_error_clear(&why);
    choose_members(&s, ranked, n);
    if (s.n_members < 2) {
        dni_search_fail(trial, DN_ERR_DATA,
                        "there are no two algorithms whose probabilities can be combined among the "
                        "candidates that were tried on all rows",
                        "combine");
        return DN_OK;
    }
    const dn_status status = make(&s, values, trial, &why);
    dn_run_free(f->run, s.memory);
    if (status == DN_ERR_STOPPED || status == DN_ERR_TIME || status == DN_ERR_SOURCE) {
        if (err != NULL) {
            *err = why;
        }
        return status;
    }
    if (status != DN_OK) {
        dni_search_fail(trial, status, why.message, why.field);
    } else if (trial->status == DN_OK && !isfinite(trial->mean)) {
        dni_search_fail(trial, DN_ERR_DATA, "the combination has no finite metric", "metric");
    }
    return DN_OK;
}
