/* The fits of one candidate. */
#include "search/search_trial.h"
#include "base/tasks.h"
#include "catalogue/calibration_params.h"
#include "catalogue/param_step.h"
#include "learners/shared/prepared_scores.h"
#include "machine/decision_pairs.h"
#include "model/model_impl.h"
#include "training/calibration/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The figures of the fit of a fold. */
struct figures {
    double fit_seconds, evaluate_seconds, bytes;
    size_t n_warnings;
    bool converged;
    char warning[DN_MESSAGE_SIZE]; /* the first */
};

struct trial {
    dni_search_folds *folds;
    size_t metric;
    double *values;          /* [folds->n] */
    dni_row_sink *sinks;     /* [folds->n]; NULL: none */
    struct figures *figures; /* [folds->n] */
};

/* Returns true if a fit may start from the last model of the fold: the parameters differ in one
 * number with a complexity. */
static bool may_start(const dni_search_fold *fold, const dn_params *params) {
    return fold->last != NULL && dni_params_step(fold->last_params, params) != SIZE_MAX;
}

static void note(const dni_fit *fit, struct figures *out) {
    out->converged = fit->report.converged;
    out->n_warnings = fit->report.n_warnings;
    out->bytes = (double)dn_model_memory(fit->model);
    if (fit->report.n_warnings > 0) {
        (void)snprintf(out->warning, sizeof out->warning, "%s", fit->report.warnings[0].text);
    }
}

/* *out ← the scores of the held-out rows, if the fit kept kernel values for them; otherwise NULL. */
static dn_status kept_scores(const struct trial *t, size_t k, const dn_model *model,
                             const dn_run *run, double **out, dn_error *err) {
    const dni_search_fold *fold = &t->folds->folds[k];
    *out = NULL;
    if (dni_calibration_method(t->folds->request.params) != DN_CALIBRATION_NONE ||
        !fold->held_in_memory || model->n_scores != model->n_machines) {
        return DN_OK;
    }
    return dni_prepared_scores(fold->kernel, fold->held_out, model->machines, model->n_machines,
                               run, out, err);
}

static dn_status evaluate(const struct trial *t, size_t k, const dn_model *model, const dn_run *run,
                          dn_error *err) {
    const dni_search_fold *fold = &t->folds->folds[k];
    dn_metrics *metrics = NULL;
    double *scores;
    const double before = dn_run_elapsed(run);
    dn_status status = kept_scores(t, k, model, run, &scores, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_evaluate_input input = {.rows = fold->held_out,
                                      .weight = fold->labels.weight,
                                      .role = fold->labels.role,
                                      .wanted = DN_ROW_VALIDATE,
                                      .scores = scores,
                                      .sink = t->sinks == NULL ? NULL : &t->sinks[k]};
    status = dni_evaluate_rows(&input, model, run, &metrics, err);
    if (status == DN_OK) {
        t->values[k] = dn_metric_value(metrics, t->metric);
        t->figures[k].evaluate_seconds = dn_run_elapsed(run) - before;
    }
    dn_metrics_free(metrics);
    dn_run_free(run, scores);
    return status;
}

/* Fits the candidate to the rows of fold k.
 *
 *   start  a model to start from; NULL: none
 *   calibrated  outlives `fit`
 *   fit    the caller frees it */
static dn_status fit_once(const struct trial *t, size_t k, const dn_run *run, const dn_model *start,
                          dni_calibrated *calibrated, dni_fit *fit, dn_error *err) {
    dni_search_fold *fold = &t->folds->folds[k];
    dn_status status = DN_OK;
    *calibrated = (dni_calibrated){0};
    *fit = (dni_fit){.request = &t->folds->request,
                     .run = run,
                     .labels = &fold->labels,
                     .quick = true};
    if (dni_calibration_method(t->folds->request.params) != DN_CALIBRATION_NONE) {
        /* the folds of the calibration overwrite the effective weights of the prepared rows */
        status = dni_calibrate(fit, calibrated, err);
        status = status == DN_OK ? dni_fit_encode(fit, err) : status;
    } else {
        fit->prepared = dni_prepared_ref(fold->prepared);
        fit->start = start;
        fit->kernel = &fold->kernel;
    }
    return status == DN_OK ? dni_fit_train(fit, err) : status;
}

/* Fits the candidate to encoded rows and evaluates it. The model of a fit that ends before it has
 * converged depends on where the fit started: it is fitted again from the usual start, as it would
 * be if it were trained alone. */
static dn_status fit_fold(const struct trial *t, size_t k, const dn_run *run, dn_error *err) {
    dni_search_fold *fold = &t->folds->folds[k];
    const dn_params *params = t->folds->request.params;
    const double before = dn_run_elapsed(run);
    dni_calibrated calibrated;
    dni_fit fit;
    dn_status status =
        fit_once(t, k, run, may_start(fold, params) ? fold->last : NULL, &calibrated, &fit, err);
    if (status == DN_OK && fit.start != NULL && !fit.report.converged) {
        dni_fit_done(&fit);
        status = fit_once(t, k, run, NULL, &calibrated, &fit, err);
    }
    if (status == DN_OK) {
        t->figures[k].fit_seconds = dn_run_elapsed(run) - before;
        note(&fit, &t->figures[k]);
        status = evaluate(t, k, fit.model, run, err);
    }
    if (status == DN_OK) {
        dn_model_unref(fold->last);
        fold->last = dn_model_ref(fit.model);
        fold->last_params = params;
    }
    dni_fit_done(&fit);
    return status;
}

static dn_status fit_task(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct trial *t = arg;
    (void)slot;
    return fit_fold(t, i, &t->folds->folds[i].run, err);
}

/* Returns true if fits of different folds may run at the same time: they read no row of the
 * source, whose slots belong to the threads of one fit. */
static bool may_run_together(const dni_search_folds *f) {
    const dn_params *params = f->request.params;
    const dn_algorithm *algorithm = params->algorithm;
    const size_t n_classes = dni_labels_n_classes(&f->labels);
    const bool together = algorithm->together != NULL && algorithm->together(params),
               pairs = dni_decision_is_pairwise(dn_params_decision(params), n_classes);
    bool good = f->run->n_slots > 1 && f->n >= f->run->n_slots && (together || !pairs) &&
                dni_calibration_method(params) == DN_CALIBRATION_NONE;
    for (size_t k = 0; k < f->n && good; k++) {
        good = f->folds[k].prepared != NULL && !f->folds[k].prepared->streamed &&
               f->folds[k].held_in_memory;
    }
    return good;
}

/* Makes the fits with the encoded rows of all folds in memory. DN_ERR_BUDGET: they do not fit. */
static dn_status fit_kept(const struct trial *t, dn_error *err) {
    dni_search_folds *f = t->folds;
    dn_status status = DN_OK;
    for (size_t k = 0; k < f->n && status == DN_OK; k++) {
        status = dni_search_folds_encode(f, k, err);
        if (status == DN_OK && f->n > 1 && f->folds[k].prepared->streamed) {
            status = DN_ERR_BUDGET; /* one fold alone may be in memory */
        }
    }
    size_t k = 0;
    if (status == DN_OK && may_run_together(f)) {
        k = f->n - f->n % f->run->n_slots; /* the threads share the work of each of the last fits */
        status = dni_tasks_run(f->run, k, fit_task, (void *)(uintptr_t)t, err);
    }
    for (; k < f->n && status == DN_OK; k++) {
        status = fit_fold(t, k, f->run, err);
    }
    return status;
}

/* Makes the fits fold by fold, with the encoded rows of one fold in memory. */
static dn_status fit_in_turn(const struct trial *t, dn_error *err) {
    dni_search_folds *f = t->folds;
    dn_status status = DN_OK;
    dni_search_folds_drop(f);
    for (size_t k = 0; k < f->n && status == DN_OK; k++) {
        status = dni_search_folds_encode(f, k, err);
        if (status == DN_OK) {
            status = fit_fold(t, k, f->run, err);
        }
        dni_search_fold_drop(&f->folds[k]);
    }
    return status;
}

/* Frees the kernel values of held-out rows of all folds. Returns false if there are none. */
static bool drop_scores(const dni_search_folds *f) {
    bool dropped = false;
    for (size_t k = 0; k < f->n; k++) {
        dropped = dni_prepared_drop_scores(f->folds[k].kernel) || dropped;
    }
    return dropped;
}

static dn_status fit_folds(const struct trial *t, dn_error *err) {
    dni_search_folds *f = t->folds;
    dn_error refused;
    dn_error_clear(&refused);
    dn_status status = f->keep ? fit_kept(t, &refused) : DN_ERR_BUDGET;
    if (f->keep && dni_search_refused(status) && drop_scores(f)) {
        dn_error_clear(&refused);
        status = fit_kept(t, &refused);
    }
    if (dni_search_refused(status)) {
        f->keep = false; /* also for the next candidates with these features */
        return fit_in_turn(t, err);
    }
    if (status != DN_OK && err != NULL) {
        *err = refused;
    }
    return status;
}

void dni_search_average(dn_trial *out, double n_repeats) {
    double sum = 0, squares = 0, n = 0;
    for (size_t k = 0; k < out->n_values; k++) {
        if (!isnan(out->values[k])) {
            sum += out->values[k];
            n++;
        }
    }
    out->mean = n > 0 ? sum / n : (double)NAN;
    for (size_t k = 0; k < out->n_values; k++) {
        if (!isnan(out->values[k])) {
            squares += (out->values[k] - out->mean) * (out->values[k] - out->mean);
        }
    }
    out->error = n > 1 ? sqrt(squares / (n - 1) / (n / n_repeats)) : (double)NAN;
}

/* Sets the figures of a trial that succeeded. */
static void summarise(const struct trial *t, dn_trial *out) {
    dni_search_average(out, (double)t->folds->n / (double)t->folds->request.folds);
    for (size_t k = 0; k < t->folds->n; k++) {
        const struct figures *of = &t->figures[k];
        const size_t rows = t->folds->folds[k].n_held_out;
        out->fit_seconds += of->fit_seconds / (double)t->folds->n;
        out->row_seconds += of->evaluate_seconds / (double)(rows * t->folds->n);
        out->bytes += of->bytes / (double)t->folds->n;
        out->n_unconverged += !of->converged;
        out->n_warnings += of->n_warnings;
        if (out->message[0] == '\0') {
            (void)snprintf(out->message, sizeof out->message, "%s", of->warning);
        }
    }
}

void dni_search_fail(dn_trial *trial, dn_status status, const char *message, const char *field) {
    trial->status = status;
    (void)snprintf(trial->message, sizeof trial->message, "%s", message);
    (void)snprintf(trial->field, sizeof trial->field, "%s", field);
    trial->mean = trial->error = (double)NAN;
    trial->n_values = trial->n_unconverged = trial->n_warnings = trial->n_members = 0;
    trial->values = NULL;
    trial->members = NULL;
    trial->fit_seconds = trial->row_seconds = trial->bytes = 0;
}

dn_status dni_search_try(dni_search_folds *f, const dn_candidate *candidate, size_t metric,
                         double *values, dni_row_sink *sinks, dn_trial *trial, dn_error *err) {
    struct trial t = {.folds = f, .metric = metric, .values = values, .sinks = sinks};
    void *memory = NULL;
    dn_error error;
    dn_error_clear(&error);
    dn_status status = dn_params_check(candidate->params, &error);
    if (status == DN_OK) {
        status =
            dn_params_check_classes(candidate->params, dni_labels_n_classes(&f->labels), &error);
    }
    if (status == DN_OK) {
        status = dni_search_folds_select(f, candidate->params, &candidate->features, trial->share,
                                         &error);
    }
    if (status == DN_OK) {
        status = dn_run_alloc(f->run, f->n, sizeof *t.figures, "the figures of a trial", &memory,
                              &error);
    }
    if (status == DN_OK) {
        t.figures = memory;
        status = fit_folds(&t, &error);
    }
    /* other candidates would fail in the same way, or this one would not if it were tried again */
    if (status == DN_ERR_STOPPED || status == DN_ERR_TIME || status == DN_ERR_MEMORY ||
        status == DN_ERR_SOURCE) {
        dn_run_free(f->run, memory);
        if (err != NULL) {
            *err = error;
        }
        return status;
    }
    trial->status = status;
    if (status == DN_OK) {
        trial->n_values = f->n;
        trial->values = values;
        summarise(&t, trial);
    } else {
        dni_search_fail(trial, status, error.message, error.field);
    }
    if (status == DN_OK && !isfinite(trial->mean)) {
        char text[128];
        (void)snprintf(text, sizeof text, "the models have no finite %s", dn_metric_name(metric));
        dni_search_fail(trial, DN_ERR_DATA, text, "metric");
    }
    dn_run_free(f->run, memory);
    return DN_OK;
}
