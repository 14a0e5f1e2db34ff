/* Machines of a model: one for all classes, one versus rest, or one versus one.
 *
 * The machines with two classes are fitted in the order of decision.h, all with the seed of the
 * run. */
#include "training/fit_machines.h"
#include "base/share.h"
#include "catalogue/report.h"
#include "learners/shared/learner.h"
#include "machine/decision_pairs.h"
#include "machine/machine_dispatch.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fitting {
    const dni_prepared *prepared;
    const dn_params *params;
    const dni_fit_reuse *reuse;
    const dn_run *run;
    dn_decision decision;
    size_t n;              /* number of machines */
    dn_machine **machines; /* [n] */
    dn_report *report;     /* combined report of all machines */
    size_t n_reported, n_unconverged;
    size_t n_updates;     /* number of updates that all machines have reported so far */
    size_t n_duals;       /* number of support vectors of all machines so far */
    dni_class_rows index; /* one versus one: the rows of each class */
};

/* ---- reports ---- */
/* Returns true if the report of a machine is to be added as a part of the combined report. If the
 * combined report is full and the machine did not converge, drops the last part of a machine that
 * converged, to make room. */
static bool part_wanted(const dn_report *part, dn_report *report) {
    size_t last = report->n_parts;
    if (report->n_parts < DN_MAX_PARTS) {
        return true;
    }
    while (last > 0 && !report->parts[last - 1].converged) {
        last--;
    }
    if (part->converged || last == 0) {
        return false;
    }
    dni_report_drop_part(report, last - 1);
    return true;
}

static dn_status add_part(dn_report *part, size_t negative, size_t positive, dn_report *report,
                          dn_error *err) {
    if (!part_wanted(part, report)) {
        return DN_OK;
    }
    dn_detail *details = malloc((part->n_details + 1) * sizeof *details);
    if (details == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the report of a machine");
    }
    memcpy(details, part->details, part->n_details * sizeof *details);
    for (size_t i = 0; i < part->n_details; i++) { /* the lists are now owned by the part */
        part->details[i].list = NULL;
    }
    report->parts[report->n_parts++] =
        (dn_report_part){negative,         positive,        part->converged, part->stop_reason,
                         part->iterations, part->objective, details,         part->n_details};
    return DN_OK;
}

/* Adds the warnings of machine i, each prefixed with the names of its classes. */
static void add_warnings(const dni_prepared *p, dn_report *part, size_t i, size_t negative,
                         size_t positive, dn_report *report) {
    char prefix[160];
    if (negative == SIZE_MAX) {
        snprintf(prefix, sizeof prefix, "%.60s against the rest", p->class_names[positive]);
    } else {
        snprintf(prefix, sizeof prefix, "%.60s against %.60s", p->class_names[positive],
                 p->class_names[negative]);
    }
    for (size_t k = 0; k < part->n_warnings; k++) {
        part->warnings[k].machine = i;
        dni_report_add_warning(report, &part->warnings[k], prefix);
    }
}

static void add_totals(const dn_report *part, bool first, dn_report *report) {
    report->converged = first ? part->converged : report->converged && part->converged;
    if (report->stop_reason == DN_STOP_NONE || !part->converged) {
        report->stop_reason = part->stop_reason;
    }
    report->iterations += part->iterations;
    report->objective += part->objective;
    report->gradient_norm =
        first ? part->gradient_norm : fmax(report->gradient_norm, part->gradient_norm);
}

/* Adds the report of machine i to the combined report. A callback of type dn_report_receiver. */
static dn_status receive(void *ctx, size_t i, dn_report *part, dn_error *err) {
    struct fitting *f = ctx;
    size_t negative, positive;
    dn_decision_machine(f->decision, f->prepared->n_classes, i, &negative, &positive);
    add_totals(part, f->n_reported == 0, f->report);
    add_warnings(f->prepared, part, i, negative, positive, f->report);
    f->n_reported++;
    f->n_unconverged += !part->converged;
    dn_status status = add_part(part, negative, positive, f->report, err);
    dn_report_done(part);
    return status;
}

static void warn_of_params(const struct fitting *f) {
    if (f->params->algorithm->warn != NULL) {
        f->params->algorithm->warn(f->params, f->report);
    }
}

/* Prepares the combined report of several machines. Warnings about the parameters are added first,
 * because the warnings of the machines can fill the report. */
static dn_status begin_report(const struct fitting *f, dn_error *err) {
    warn_of_params(f);
    f->report->parts = calloc(f->n < DN_MAX_PARTS ? f->n : DN_MAX_PARTS, sizeof *f->report->parts);
    return f->report->parts != NULL
               ? DN_OK
               : dn_error_set(err, DN_ERR_MEMORY, "no memory for the reports of %zu machines",
                              f->n);
}

static void end_report(const struct fitting *f) {
    const size_t n_parts = f->report->n_parts;
    dn_report_number(f->report, "n_machines", (double)f->n_reported);
    if (n_parts == f->n_reported) {
        return;
    }
    dn_report_number(f->report, "machines_omitted", (double)(f->n_reported - n_parts));
    dn_report_number(f->report, "machines_not_converged", (double)f->n_unconverged);
}

/* ---- support vectors ---- */
/* Converts the row indices of the support vectors of machine i: from indices among the rows of the
 * machine to indices of the rows of the table. Omits them if the machines so far have more than
 * DN_MAX_DUALS in total.
 *
 *   pair  the machine was fitted to the rows of its two classes; false: to all training rows */
static void number_duals(struct fitting *f, size_t i, bool pair) {
    const dni_prepared *p = f->prepared;
    dn_machine *machine = f->machines[i];
    size_t negative, positive, row = 0, next = 0;
    dn_dual *items;
    if (machine->duals == NULL) {
        return;
    }
    const size_t n = dni_machine_duals(machine, &items);
    dn_decision_machine(f->decision, p->n_classes, i, &negative, &positive);
    for (size_t k = 0; k < p->source->n_rows && next < n; k++) {
        const bool taken =
            p->role[k] == DN_ROW_TRAIN &&
            (!pair || p->index[k] == (double)negative || p->index[k] == (double)positive);
        if (taken && items[next].row == row) {
            items[next++].row = k;
        }
        row += taken;
    }
    f->n_duals += machine->duals->omitted ? DN_MAX_DUALS + 1 : n;
    if (f->n_duals > DN_MAX_DUALS) {
        f->n_duals = DN_MAX_DUALS + 1;
        dni_machine_omit_duals(machine);
    }
}

/* If the support vectors of some machines are omitted, omits those of all machines. */
static void limit_duals(const struct fitting *f) {
    for (size_t i = 0; i < f->n && f->n_duals > DN_MAX_DUALS; i++) {
        dni_machine_omit_duals(f->machines[i]);
    }
}

/* ---- fits ---- */
/* Copies the parameters for a machine with two classes. A distribution over all classes becomes a
 * distribution over two. For a pair of classes, the ratio of their probabilities is unchanged. With
 * one versus rest, the probability of the rest is the sum over the other classes. */
static dn_status two_class_params(const struct fitting *f, size_t negative, size_t positive,
                                  dn_params **out, dn_error *err) {
    const dn_algorithm *algorithm = f->params->algorithm;
    dn_status status = dn_params_copy(f->params, out, err);
    for (size_t i = 0; status == DN_OK && i < algorithm->n_params; i++) {
        const dn_param_value *value = &f->params->values[i];
        const bool equal = value->word != NULL && strcmp(value->word, "equal") == 0;
        if (!algorithm->params[i].distribution || (value->list == NULL && !equal)) {
            continue;
        }
        const double each = 1 / (double)f->prepared->n_classes,
                     p = equal ? each : value->list[positive],
                     other = negative == SIZE_MAX ? 1 - p
                             : equal              ? each
                                                  : value->list[negative];
        const double two[2] = {other / (p + other), p / (p + other)};
        status = dn_params_set_list(*out, algorithm->params[i].name, two, 2, err);
        if (status != DN_OK) {
            dn_params_free(*out);
        }
    }
    return status;
}

static dn_fit_input input_of(const struct fitting *f, const dn_params *params, const dn_rows *rows,
                             const char *const *class_names, size_t n_classes) {
    return (dn_fit_input){.rows = rows,
                          .n_classes = n_classes,
                          .params = params,
                          .mean = dn_encoder_mean(f->prepared->encoder),
                          .scale = dn_encoder_scale(f->prepared->encoder),
                          .encoder = f->prepared->encoder,
                          .class_names = class_names,
                          .rows_per_weight = f->prepared->rows_per_weight,
                          .n_model_rows = f->prepared->rows->n_rows,
                          .quick = f->reuse->quick};
}

/* Returns the input of a fit to all classes. */
static dn_fit_input input_of_all(const struct fitting *f) {
    const dni_prepared *p = f->prepared;
    dn_fit_input input = input_of(f, f->params, p->rows, p->class_names, p->n_classes);
    input.role = p->role;
    input.n_source_rows = p->source->n_rows;
    input.start = f->reuse->start == NULL ? NULL : f->reuse->start[0];
    input.prepared = f->reuse->kernel;
    return input;
}

/* Fits machine i of a model whose machines have two classes. */
static dn_status fit_one(struct fitting *f, size_t i, dn_error *err) {
    const dni_prepared *p = f->prepared;
    size_t negative, positive;
    dn_params *params = NULL;
    dn_rows *rows = NULL;
    dn_report part = {0};
    dn_decision_machine(f->decision, p->n_classes, i, &negative, &positive);
    dn_status status = two_class_params(f, negative, positive, &params, err);
    if (status != DN_OK) {
        return status;
    }
    status = negative == SIZE_MAX ? dni_prepared_rest(p, positive, f->run, &rows, err)
                                  : dni_prepared_pair(p, &f->index, f->params, negative, positive,
                                                      f->run, &rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const char *names[2] = {negative == SIZE_MAX ? "the rest" : p->class_names[negative],
                            p->class_names[positive]};
    dn_fit_input input = input_of(f, params, rows, names, 2);
    input.start = f->reuse->start == NULL ? NULL : f->reuse->start[i];
    dni_share share;
    dni_share_init(&share, f->run, i, f->n);
    dni_share_machine(&share, f->report->iterations, f->n_updates);
    status = dni_learner_fit(&input, &share.run, &f->machines[i], &part, err);
    f->n_updates += share.reported;
    if (status == DN_OK) {
        number_duals(f, i, negative != SIZE_MAX);
    }
cleanup:
    dn_rows_free(rows);
    dn_params_free(params);
    return status == DN_OK ? receive(f, i, &part, err) : status;
}

static dn_status fit_each(struct fitting *f, dn_error *err) {
    dn_status status = begin_report(f, err);
    if (status == DN_OK && dni_decision_is_pairwise(f->decision, f->prepared->n_classes)) {
        status = dni_class_rows_init(f->prepared, f->run, &f->index, err);
    }
    for (size_t i = 0; i < f->n && status == DN_OK; i++) {
        status = fit_one(f, i, err);
    }
    dni_class_rows_done(&f->index, f->run);
    if (status == DN_OK) {
        end_report(f);
    }
    return status;
}

/* Fits the machine of a model with one machine. */
static dn_status fit_native(struct fitting *f, dn_error *err) {
    const dn_fit_input input = input_of_all(f);
    dn_status status = dni_learner_fit(&input, f->run, f->machines, f->report, err);
    if (status == DN_OK) {
        number_duals(f, 0, false);
        warn_of_params(f);
    }
    return status;
}

/* Fits all machines with one call of the algorithm. */
static dn_status fit_together(struct fitting *f, dn_error *err) {
    const dn_fit_input input = input_of_all(f);
    const dn_report_receiver receiver = {receive, f};
    dn_status status = begin_report(f, err);
    if (status != DN_OK) {
        return status;
    }
    status = f->params->algorithm->fit_together(&input, f->decision, f->run, f->machines, &receiver,
                                                err);
    for (size_t i = 0; i < f->n && status == DN_OK; i++) {
        number_duals(f, i, false);
    }
    if (status == DN_OK) {
        end_report(f);
    }
    return status;
}

dn_status dni_fit_machines(const dni_prepared *prepared, const dn_params *params,
                           const dni_fit_reuse *reuse, const dn_run *run, dn_machine ***out,
                           size_t *out_n, dn_report *report, dn_error *err) {
    const dn_algorithm *algorithm = params->algorithm;
    const dn_decision decision = dn_params_decision(params);
    const size_t K = prepared->n_classes, n = dn_decision_n_machines(decision, K);
    dn_report fresh = {0};
    struct fitting f = {.prepared = prepared,
                        .params = params,
                        .reuse = reuse,
                        .run = run,
                        .decision = decision,
                        .n = n,
                        .machines = calloc(n, sizeof *f.machines),
                        .report = &fresh};
    if (f.machines == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu machines", n);
    }
    const bool native = n == 1 && (K == 2 || decision == DN_DECISION_NATIVE),
               together = algorithm->together != NULL && algorithm->together(params);
    dn_status status = native     ? fit_native(&f, err)
                       : together ? fit_together(&f, err)
                                  : fit_each(&f, err);
    if (status != DN_OK) {
        dn_report_done(&fresh);
        dni_machines_free(f.machines, n);
        return status;
    }
    limit_duals(&f);
    *report = fresh;
    *out = f.machines;
    *out_n = n;
    return DN_OK;
}
