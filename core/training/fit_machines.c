/* One versus rest and one versus one. Every machine is a fit of the algorithm to two classes, in the order of decision.h, with the run's seed. */
#include "training/fit_machines.h"
#include "base/share.h"
#include "catalogue/report.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reports ---- */
/* The reports of a decision's machines, while they come in. */
struct telling {
    const dni_training_set *set;
    dn_decision decision;
    dn_report *report;            /* of all */
    size_t n_told, n_unconverged; /* machines */
};

/* Makes room for one more, in the place of the last that has converged. false: it is not told of. */
static bool make_room(const dn_report *own, dn_report *report) {
    size_t last = report->n_parts;
    if (report->n_parts < DN_MAX_PARTS) {
        return true;
    }
    while (last > 0 && !report->parts[last - 1].converged) {
        last--;
    }
    if (own->converged || last == 0) {
        return false;
    }
    dni_report_drop_part(report, last - 1);
    return true;
}

static dn_status add_part(dn_report *own, size_t negative, size_t positive, dn_report *report,
                          dn_error *err) {
    if (!make_room(own, report)) {
        return DN_OK;
    }
    dn_detail *details = malloc((own->n_details + 1) * sizeof *details);
    if (details == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the report of a machine");
    }
    memcpy(details, own->details, own->n_details * sizeof *details);
    for (size_t i = 0; i < own->n_details; i++) { /* the lists are the part's now */
        own->details[i].list = NULL;
    }
    report->parts[report->n_parts++] =
        (dn_report_part){negative,        positive,       own->converged, own->stop_reason,
                         own->iterations, own->objective, details,        own->n_details};
    return DN_OK;
}

/* Adds the warnings of machine i under the names of its classes. */
static void add_warnings(const dni_training_set *set, dn_report *own, size_t i, size_t negative,
                         size_t positive, dn_report *report) {
    char prefix[160];
    if (negative == SIZE_MAX) {
        snprintf(prefix, sizeof prefix, "%.60s against the rest", set->class_names[positive]);
    } else {
        snprintf(prefix, sizeof prefix, "%.60s against %.60s", set->class_names[positive],
                 set->class_names[negative]);
    }
    for (size_t k = 0; k < own->n_warnings; k++) {
        own->warnings[k].machine = i;
        dni_report_add_warning(report, &own->warnings[k], prefix);
    }
}

static void add_totals(const dn_report *own, bool first, dn_report *report) {
    report->converged = first ? own->converged : report->converged && own->converged;
    if (report->stop_reason == DN_STOP_NONE || !own->converged) {
        report->stop_reason = own->stop_reason;
    }
    report->iterations += own->iterations;
    report->objective += own->objective;
    report->gradient_norm =
        first ? own->gradient_norm : fmax(report->gradient_norm, own->gradient_norm);
}

/* Machine i's report becomes a part of that of all. */
static dn_status tell(void *ctx, size_t i, dn_report *own, dn_error *err) {
    struct telling *t = ctx;
    size_t negative, positive;
    dn_decision_machine(t->decision, t->set->n_classes, i, &negative, &positive);
    add_totals(own, t->n_told == 0, t->report);
    add_warnings(t->set, own, i, negative, positive, t->report);
    t->n_told++;
    t->n_unconverged += !own->converged;
    dn_status status = add_part(own, negative, positive, t->report, err);
    dn_report_done(own);
    return status;
}

static void warn_params(const dni_training_set *set, dn_report *report) {
    if (set->params->algorithm->warn != NULL) {
        set->params->algorithm->warn(set->params, report);
    }
}

/* What is said of the parameters stands before the machines' warnings, which may be more than there is room for. */
static dn_status begin_telling(const dni_training_set *set, size_t n, dn_report *report,
                               dn_error *err) {
    warn_params(set, report);
    report->parts = calloc(n < DN_MAX_PARTS ? n : DN_MAX_PARTS, sizeof *report->parts);
    return report->parts != NULL
               ? DN_OK
               : dn_error_set(err, DN_ERR_MEMORY, "no memory for the reports of %zu machines", n);
}

static void end_telling(const struct telling *t) {
    const size_t shown = t->report->n_parts;
    dn_report_number(t->report, "n_machines", (double)t->n_told);
    if (shown == t->n_told) {
        return;
    }
    dn_report_number(t->report, "machines_omitted", (double)(t->n_told - shown));
    dn_report_number(t->report, "machines_not_converged", (double)t->n_unconverged);
}

/* ---- fitting ---- */
/* Shares of all classes become shares of two: of a pair by itself, or of one class and all others. */
static dn_status two_class_params(const dni_training_set *set, size_t negative, size_t positive,
                                  dn_params **out, dn_error *err) {
    dn_status status = dn_params_copy(set->params, out, err);
    const dn_algorithm *algorithm = set->params->algorithm;
    for (size_t i = 0; status == DN_OK && i < algorithm->n_params; i++) {
        const dn_param_value *value = &set->params->values[i];
        bool equal =
            value->word != NULL && strcmp(value->word, "equal") ==
                                       0; /* of K classes the others together have K − 1 shares */
        if (!algorithm->params[i].distribution || (value->list == NULL && !equal)) {
            continue;
        }
        double each = 1 / (double)set->n_classes, own = equal ? each : value->list[positive];
        double other = negative == SIZE_MAX ? 1 - own : equal ? each : value->list[negative];
        double two[2] = {other / (own + other), own / (own + other)};
        status = dn_params_set_list(*out, algorithm->params[i].name, two, 2, err);
        if (status != DN_OK) {
            dn_params_free(*out);
        }
    }
    return status;
}

static dn_status fit_one(struct telling *telling, const dn_rows *base, size_t i, size_t n,
                         const dn_run *run, dn_machine **out, dn_error *err) {
    const dni_training_set *set = telling->set;
    size_t negative, positive;
    dn_rows *rows = NULL;
    dn_decision_machine(telling->decision, set->n_classes, i, &negative, &positive);
    dn_params *params;
    dn_status status = two_class_params(set, negative, positive, &params, err);
    if (status != DN_OK) {
        return status;
    }
    status = negative == SIZE_MAX ? dni_training_rest(base, positive, run, &rows, err)
                                  : dni_training_pair(set, negative, positive, run, &rows, err);
    if (status != DN_OK) {
        dn_params_free(params);
        return status;
    }
    const char *names[2] = {negative == SIZE_MAX ? "the rest" : set->class_names[negative],
                            set->class_names[positive]};
    dn_fit_input input = {.rows = rows,
                          .n_classes = 2,
                          .params = params,
                          .mean = dn_encoder_mean(set->encoder),
                          .scale = dn_encoder_scale(set->encoder),
                          .encoder = set->encoder,
                          .class_names = names};
    dni_share share;
    dni_share_init(&share, run, i, n);
    dni_share_machine(&share, telling->report->iterations);
    dn_report own = {0};
    status = set->params->algorithm->fit(&input, &share.run, out, &own, err);
    dn_rows_free(rows);
    dn_params_free(params);
    return status == DN_OK ? tell(telling, i, &own, err) : status;
}

static dn_status fit_many(const dni_training_set *set, const dn_rows *rows, dn_decision decision,
                          size_t n, const dn_run *run, dn_machine **machines, dn_report *report,
                          dn_error *err) {
    struct telling telling = {.set = set, .decision = decision, .report = report};
    dn_status status = begin_telling(set, n, report, err);
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        status = fit_one(&telling, rows, i, n, run, &machines[i], err);
    }
    if (status == DN_OK) {
        end_telling(&telling);
    }
    return status;
}

/* All classes. */
static dn_fit_input input_of(const dni_training_set *set, const dn_rows *rows) {
    return (dn_fit_input){.rows = rows,
                          .n_classes = set->n_classes,
                          .params = set->params,
                          .mean = dn_encoder_mean(set->encoder),
                          .scale = dn_encoder_scale(set->encoder),
                          .encoder = set->encoder,
                          .class_names = set->class_names,
                          .role = set->role,
                          .n_source_rows = set->source->n_rows};
}

static dn_status fit_native(const dni_training_set *set, const dn_rows *rows, const dn_run *run,
                            dn_machine **out, dn_report *report, dn_error *err) {
    const dn_fit_input input = input_of(set, rows);
    dn_status status = set->params->algorithm->fit(&input, run, out, report, err);
    if (status == DN_OK) {
        warn_params(set, report);
    }
    return status;
}

/* All machines by one call of the algorithm's. */
static dn_status fit_together(const dni_training_set *set, const dn_rows *rows,
                              dn_decision decision, size_t n, const dn_run *run,
                              dn_machine **machines, dn_report *report, dn_error *err) {
    const dn_fit_input input = input_of(set, rows);
    struct telling telling = {.set = set, .decision = decision, .report = report};
    const dn_report_receiver receiver = {tell, &telling};
    dn_status status = begin_telling(set, n, report, err);
    if (status == DN_OK) {
        status =
            set->params->algorithm->fit_together(&input, decision, run, machines, &receiver, err);
    }
    if (status == DN_OK) {
        end_telling(&telling);
    }
    return status;
}

dn_status dni_fit_machines(const dni_training_set *set, const dn_rows *rows, const dn_run *run,
                           dn_machine ***out, size_t *out_n, dn_report *report, dn_error *err) {
    dn_decision decision = dn_params_decision(set->params);
    size_t n = dn_decision_n_machines(decision, set->n_classes);
    dn_machine **machines = calloc(n, sizeof *machines);
    if (machines == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu machines", n);
    }
    dn_report fresh = {0};
    dn_status status;
    if (n == 1 && (set->n_classes == 2 || decision == DN_DECISION_NATIVE)) {
        status = fit_native(set, rows, run, machines, &fresh, err);
    } else if (set->params->algorithm->together != NULL &&
               set->params->algorithm->together(set->params)) {
        status = fit_together(set, rows, decision, n, run, machines, &fresh, err);
    } else {
        status = fit_many(set, rows, decision, n, run, machines, &fresh, err);
    }
    if (status != DN_OK) {
        dn_report_done(&fresh);
        dni_machines_free(machines, n);
        return status;
    }
    *report = fresh;
    *out = machines;
    *out_n = n;
    return DN_OK;
}
