/* Checks the result of a descent without a penalty.
 *
 * The gradient of a descent does not show whether columns depend on each other, nor whether there
 * is a minimum: it vanishes also where weights grow without bound. A second fit in centred and
 * scaled variables examines the same rows. The null space of the correlation matrix consists of the
 * combinations of columns that no score depends on; it is removed from the weights. Newton steps
 * from a copy of the weights converge to a minimum or show that there is none. */
#include "learners/logistic/logistic_fit.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 100 };

static dni_logistic_plan check_plan(const dni_logistic_plan *plan) {
    dni_logistic_plan second = *plan;
    second.solver = &dni_solver_newton;
    second.certifies = (plan->check_uses & DNI_LINEAR_PRODUCT) != 0;
    second.tolerance = 1e-9;
    second.max_iterations = MAX_STEPS;
    return second;
}

double dni_logistic_check_bytes(const dni_logistic_plan *plan, const dn_fit_shape *shape) {
    const dni_logistic_plan second = check_plan(plan);
    const dni_linear_shape problem = {.n_cols = shape->n_features,
                                      .n_classes = shape->n_classes,
                                      .n_slots = shape->n_slots,
                                      .uses = plan->check_uses,
                                      .sparse = isfinite(shape->n_entries)};
    dni_logistic_arrays scratch;
    double phase = plan->check_uses & DNI_LINEAR_HESSIAN
                       ? dni_solver_bytes(&dni_solver_newton, plan->n, 1)
                       : 0;
    phase += second.certifies ? dni_separation_bytes(plan->n) : 0;
    if (plan->check_uses & DNI_LINEAR_GRAM) {
        /* The null basis, at most half of `rank` bytes, remains allocated. */
        const double rank = dni_linear_null_space_bytes(plan->width);
        phase = fmax(rank, rank / 2 + phase);
    }
    return dni_layout_bytes(dni_logistic_layout, &second, &scratch) +
           dni_linear_bytes(&problem, shape->n_rows) + phase;
}

/* Runs Newton steps of `other` from x, and overwrites x. Sets fit->separation if there is no
 * minimum. A numeric failure of the steps is ignored: the result of the descent remains valid. */
static dn_status step_on(dni_logistic_fit *fit, dni_logistic_fit *other, double *x, dn_error *err) {
    dni_objective objective = dni_logistic_objective(other);
    dni_outcome outcome;
    dn_error why;
    dn_error_clear(&why);
    const dni_solver_options options = {.max_iterations = other->plan.max_iterations};
    const dn_status status = dni_solver_minimise(other->plan.solver, &objective, other->run,
                                                 &options, x, &outcome, &why);
    if (status == DN_ERR_NUMERIC) {
        return DN_OK;
    }
    if (status != DN_OK) {
        if (err != NULL) {
            *err = why;
        }
        return status;
    }
    const dn_status checked = dni_logistic_check_separation(other, x, &outcome, err);
    if (checked != DN_OK) {
        return checked;
    }
    if (dni_logistic_found_separable(other)) {
        fit->separation = other->separation;
        memcpy(fit->arrays.growing, other->arrays.growing,
               (fit->problem.width - 1) * sizeof *fit->arrays.growing);
    }
    return DN_OK;
}

static dn_status check_optimum(dni_logistic_fit *fit, dni_logistic_fit *other, double *x,
                               bool *changed, dn_error *err) {
    const size_t n = fit->problem.n;
    const unsigned uses = fit->plan.check_uses;
    double *point = other->arrays.x, *start = other->arrays.spare;
    dn_status status = uses & DNI_LINEAR_GRAM ? dni_logistic_find_rank(other, err) : DN_OK;
    dni_linear_from_original(&other->problem, x, point); /* x holds original variables */
    memcpy(start, point, n * sizeof *point);
    if (status == DN_OK && (uses & DNI_LINEAR_HESSIAN) &&
        fit->separation == DNI_SEPARATION_UNKNOWN) {
        status = step_on(fit, other, start, err);
    }
    if (status != DN_OK || other->n_null == 0) {
        return status;
    }
    *changed = true;
    status = dni_logistic_least_norm(other, point, err);
    dni_linear_to_original(&other->problem, point, x);
    return status;
}

dn_status dni_logistic_check_result(dni_logistic_fit *fit, double *x, bool *changed,
                                    dn_error *err) {
    *changed = false;
    if (fit->plan.check_wide) {
        return dni_logistic_check_wide(fit, x, changed, err);
    }
    if (fit->plan.check_uses == 0) {
        return DN_OK;
    }
    dn_run quiet = *fit->run;
    quiet.progress = NULL;
    dni_logistic_fit other = {.input = fit->input,
                              .run = &quiet,
                              .report = fit->report,
                              .plan = check_plan(&fit->plan),
                              .moments = fit->moments};
    dn_status status = dni_linear_init(&other.problem, fit->problem.rows, fit->problem.n_classes, 0,
                                       &fit->moments, fit->plan.check_uses, &quiet, err);
    other.problem.intercept = fit->plan.intercept;
    if (status == DN_OK) {
        status = dni_layout_take(&quiet, dni_logistic_layout, &other.plan, &other.arrays,
                                 "a copy of the weights", &other.memory, err);
    }
    if (status == DN_OK) {
        status = check_optimum(fit, &other, x, changed, err);
    }
    dn_run_free(&quiet, other.null_basis);
    dn_run_free(&quiet, other.memory);
    dni_linear_done(&other.problem);
    return status;
}
