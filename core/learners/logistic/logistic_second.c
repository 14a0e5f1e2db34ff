/* A second look at what a descent without a penalty has found.
 *
 * The textbook's loops report their own numbers, which do not tell whether columns depend on each other or whether there is a minimum at all: a gradient vanishes
 * where weights grow for ever, too. A fit beside them, in centred and scaled variables, looks at the same rows. The matrix of the features names the combinations of
 * columns that no score sees, which are taken out of the weights; Newton's steps from a copy of the weights end at a minimum or find that there is none. */
#include "learners/logistic/logistic_fit.h"
#include "optimize/newton.h"

#include <string.h>

enum { MOST_STEPS = 100 };

double dni_logistic_second_memory(const dni_logistic_plan *plan, size_t n_rows, size_t n_features,
                                  size_t n_classes, size_t n_slots) {
    double width = (double)plan->width, doubles = 2 * (double)plan->n + width;
    if (plan->second_uses == 0) {
        return 0;
    }
    if (plan->second_uses & DNI_LOGISTIC_GRAM) {
        doubles += (2 * width + 80) * width;
    }
    if (plan->second_uses & DNI_LOGISTIC_HESSIAN) {
        doubles += dni_newton_memory(plan->n);
    }
    return dni_logistic_memory(n_rows, n_features, n_classes, n_slots, plan->second_uses) +
           8 * doubles;
}

/* Newton's steps from x, which they change. Numbers that they cannot bear say nothing of the descent. */
static dn_status step_on(dni_logistic_fit *fit, dni_logistic_fit *other, double *x, dn_error *err) {
    dni_objective objective = dni_logistic_objective(other);
    dni_outcome outcome;
    dn_error why;
    dn_error_clear(&why);
    dn_status status = dni_newton(&objective, other->run, MOST_STEPS, x, &outcome, &why);
    if (status == DN_ERR_NUMERIC) {
        return DN_OK;
    }
    if (status != DN_OK) {
        if (err != NULL) {
            *err = why;
        }
        return status;
    }
    if (dni_logistic_found_separable(other, &outcome)) {
        fit->separated = true;
        memcpy(fit->growing, other->growing, (fit->loss.width - 1) * sizeof *fit->growing);
    }
    return DN_OK;
}

static dn_status look(dni_logistic_fit *fit, dni_logistic_fit *other, double *x, double *own,
                      bool *changed, dn_error *err) {
    size_t n = fit->loss.n;
    double *start = own + n;
    unsigned uses = fit->plan.second_uses;
    dn_status status = uses & DNI_LOGISTIC_GRAM ? dni_logistic_find_rank(other, err) : DN_OK;
    dni_logistic_unstate(&other->loss, x, own); /* the descents' variables are the stated ones */
    memcpy(start, own, n * sizeof *own);
    if (status == DN_OK && (uses & DNI_LOGISTIC_HESSIAN) && !fit->separated) {
        status = step_on(fit, other, start, err);
    }
    if (status != DN_OK || other->n_null == 0) {
        return status;
    }
    *changed = true;
    status = dni_logistic_least_norm(other, own, err);
    dni_logistic_state(&other->loss, own, x);
    return status;
}

dn_status dni_logistic_second_look(dni_logistic_fit *fit, double *x, bool *changed, dn_error *err) {
    *changed = false;
    if (fit->plan.second_uses == 0) {
        return DN_OK;
    }
    dn_run quiet = *fit->run;
    quiet.progress = NULL;
    dni_logistic_fit other = {.input = fit->input,
                              .run = &quiet,
                              .report = fit->report,
                              .plan = fit->plan,
                              .moments = fit->moments};
    other.plan.solver = DNI_LOGISTIC_NEWTON;
    other.plan.tolerance = 1e-9;
    other.plan.max_iterations = MOST_STEPS;
    void *own = NULL;
    dn_status status = dni_logistic_init(&other.loss, fit->loss.rows, fit->loss.n_classes, 0,
                                         &fit->moments, fit->plan.second_uses, &quiet, err);
    if (status == DN_OK) {
        status = dni_logistic_watch_init(&other, err);
    }
    if (status == DN_OK) {
        status = dn_run_alloc(&quiet, 2 * fit->loss.n, sizeof(double), "a copy of the weights",
                              &own, err);
    }
    if (status == DN_OK) {
        status = look(fit, &other, x, own, changed, err);
    }
    dn_run_free(&quiet, own);
    dn_run_free(&quiet, other.null_basis);
    dn_run_free(&quiet, other.growing);
    dni_logistic_done(&other.loss, &quiet);
    return status;
}
