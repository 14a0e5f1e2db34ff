/* Trains the members of a combined model one after the other. */
#include "training/train_members.h"
#include "base/argument.h"
#include "catalogue/report.h"
#include "model/combination.h"
#include "number/number_text.h"
#include "training/calibration/calibrate.h"
#include "training/constant_inputs.h"
#include "training/folds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dn_status refuse(size_t m, const char *what, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "member %zu of the combination %s",
                                     m + 1, what),
                        "members", -1, err);
}

dn_status dni_members_check(const dn_train_request *r, dn_error *err) {
    double sum = 0;
    if (!dni_has_members(r)) {
        return r->n_members == 0
                   ? DN_OK
                   : dni_request_refuse("members", "only a combination has members", err);
    }
    if (r->members == NULL || r->n_members < 2 || r->n_members > DN_MAX_MEMBERS) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "a combination has 2 to %d members (got %zu)",
                                         DN_MAX_MEMBERS, r->n_members),
                            "members", -1, err);
    }
    if (r->folds > 0) {
        return dni_request_refuse("folds", "a combination cannot be validated by folds", err);
    }
    for (size_t m = 0; m < r->n_members; m++) {
        const dn_member *member = &r->members[m];
        if (member->params == NULL || member->params->algorithm == dn_algorithm_combination() ||
            (member->params->algorithm->flags & DN_ALGORITHM_TARGET) == 0) {
            return refuse(m, "must have the parameters of a classifier", err);
        }
        if (!(member->share >= 0 && isfinite(member->share))) {
            char what[96], number[DN_NUMBER_SIZE];
            (void)snprintf(what, sizeof what, "must have a finite share >= 0 (got %s)",
                           dni_number_text(member->share, number));
            return refuse(m, what, err);
        }
        const dn_status status = dn_params_check(member->params, err);
        if (status != DN_OK) {
            return status;
        }
        sum += member->share;
    }
    return sum > 0 ? DN_OK : dni_request_refuse("members", "all shares are 0", err);
}

/* Adds the report of a member to that of the combination. */
static void add_report(const dn_report *from, size_t m, const char *id, dn_report *to) {
    char name[64];
    (void)snprintf(name, sizeof name, "member_%zu_algorithm", m + 1);
    dn_report_text(to, name, "%s", id);
    (void)snprintf(name, sizeof name, "member_%zu_iterations", m + 1);
    dn_report_number(to, name, (double)from->iterations);
    /* the reason of the first member that did not converge; otherwise that of an iteration */
    if (to->converged && (!from->converged || from->stop_reason != DN_STOP_CLOSED_FORM)) {
        to->stop_reason = from->stop_reason;
    }
    to->converged = to->converged && from->converged;
    to->iterations += from->iterations;
    for (size_t i = 0; i < from->n_warnings; i++) {
        dni_report_add_warning(to, &from->warnings[i], id);
    }
}

/* Trains member m. */
static dn_status fit_member(const dni_fit *fit, size_t m, dn_model **out, dn_report *report,
                            dn_error *err) {
    const dn_member *member = &fit->request->members[m];
    const char *id = member->params->algorithm->id;
    dn_train_request own = *fit->request;
    dni_calibrated calibrated = {0};
    dn_error why;
    own.params = member->params;
    own.features = member->features;
    own.members = NULL;
    own.n_members = 0;
    dni_fit one = {.request = &own, .run = fit->run, .labels = fit->labels};
    dn_error_clear(&why);
    dn_status status = dn_params_check_classes(own.params, dni_labels_n_classes(fit->labels), &why);
    if (status == DN_OK) {
        status = dn_params_encoding(own.params, own.source->columns, own.source->n_rows,
                                    &own.features, &why);
    }
    if (status == DN_OK) {
        status = dni_calibrate(&one, &calibrated, &why);
    }
    if (status == DN_OK) {
        status = dni_fit_model(&one, &why);
    }
    if (status == DN_OK) {
        dni_calibrated_report(&calibrated, &one);
        dni_warn_of_constant_inputs(one.model, own.features.text.min_rows, &one.report);
        add_report(&one.report, m, id, report);
        *out = one.model;
        one.model = NULL;
    }
    dni_fit_done(&one);
    return status == DN_OK ? DN_OK : dni_error_prefixed(&why, status, id, err);
}

/* Makes the combined model. */
static dn_status combine(dni_fit *fit, dn_model *const *members, dn_error *err) {
    const dn_train_request *r = fit->request;
    const char *target = r->source->columns[r->target].name;
    double share[DN_MAX_MEMBERS];
    dni_classes classes = {0};
    dn_encoder *encoder = NULL;
    dn_machine **machines = calloc(1, sizeof *machines);
    dn_status status =
        machines == NULL ? dn_error_set(err, DN_ERR_MEMORY, "no memory for a combination") : DN_OK;
    for (size_t m = 0; m < r->n_members; m++) {
        share[m] = r->members[m].share;
    }
    if (status == DN_OK) {
        status = dni_combination_new(members, share, r->n_members, &machines[0], &encoder, err);
    }
    if (status == DN_OK) {
        status = dni_classes_copy(&fit->labels->classes, &classes, err);
    }
    if (status == DN_OK) {
        const dni_model_parts parts = {.params = r->params,
                                       .seed = fit->run->seed,
                                       .target = target,
                                       .target_length = strlen(target),
                                       .classes = &classes,
                                       .encoder = encoder,
                                       .decision = DN_DECISION_NATIVE,
                                       .machines = machines,
                                       .n_machines = 1};
        status = dni_model_new(&parts, &fit->model, err);
    }
    if (status != DN_OK) {
        dni_classes_done(&classes);
        dn_encoder_unref(encoder);
        dni_machines_free(machines, 1);
    }
    return status;
}

dn_status dni_fit_members(dni_fit *fit, dn_error *err) {
    const dn_train_request *r = fit->request;
    const size_t n_classes = dni_labels_n_classes(fit->labels);
    dn_model *members[DN_MAX_MEMBERS] = {NULL};
    dn_status status = DN_OK;
    fit->report.converged = true;
    fit->report.stop_reason = DN_STOP_CLOSED_FORM;
    fit->report.objective = fit->report.gradient_norm = (double)NAN;
    for (size_t m = 0; m < r->n_members && status == DN_OK; m++) {
        status = dn_params_have_probabilities(r->members[m].params, n_classes)
                     ? fit_member(fit, m, &members[m], &fit->report, err)
                     : refuse(m, "has no probabilities", err);
    }
    if (status == DN_OK) {
        status = combine(fit, members, err);
    }
    for (size_t m = 0; m < r->n_members; m++) {
        dn_model_unref(members[m]);
    }
    return status;
}
