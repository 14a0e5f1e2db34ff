/* Fits a linear support vector machine: calls the solver, creates the machine, writes the
 * report. */
#include "learners/svm/linear/svm_linear.h"
#include "learners/svm/linear/svm_wide.h"
#include "linalg/vector.h"
#include "machine/linear.h"

#include <assert.h>
#include <string.h>

double dni_svm_linear_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                             size_t n_slots) {
    const double common = dni_svm_problem_memory(options, n_rows, n_features, n_slots);
    if (!isfinite(options->C)) {
        return common + dni_svm_hard_memory(n_rows, n_features);
    }
    if (dni_svm_is_wide(options, n_rows, n_features)) {
        return common + dni_svm_wide_memory(n_rows, n_features, n_slots) +
               dni_svm_linear_memory(options, n_rows, n_rows, n_slots);
    }
    if (options->solver == DNI_SVM_INTERIOR_POINT) {
        return common + dni_svm_interior_memory(n_rows, n_features, n_slots);
    }
    if (options->solver == DNI_SVM_NEWTON) {
        return common + dni_svm_newton_memory(n_rows, n_features, n_slots);
    }
    return common + dni_svm_coordinate_memory(n_rows, n_features);
}

static dn_status make_machine(const dni_svm_problem *svm, dn_machine **out, dn_error *err) {
    dn_status status = dni_linear_machine_new(2, svm->d, false, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *machine = dni_linear_machine_of(*out);
    for (size_t j = 0; j < svm->d; j++) {
        machine->w[j] = svm->w[j] + 0.0; /* + 0.0 turns −0 into 0 */
    }
    machine->w0[0] = svm->w[svm->d] + 0.0;
    return DN_OK;
}

static const char *remedy(const dni_svm_problem *svm, const dni_svm_solution *s) {
    if (dni_svm_is_constant(s)) {
        return "a larger C";
    }
    if (svm->reason == DN_STOP_NO_PROGRESS) {
        return "features.standardize, a smaller C or a larger tolerance";
    }
    if (svm->options->solver == DNI_SVM_DUAL_COORDINATE_DESCENT && isfinite(svm->options->C)) {
        return svm->options->squared ? "solver newton"
                                     : "more max_iterations, features.standardize, a smaller C, or "
                                       "solver interior_point";
    }
    return "more max_iterations or a larger tolerance";
}

static void write_report(const dni_svm_problem *svm, const dni_svm_solution *s, dn_report *report) {
    report->iterations = svm->iterations;
    report->objective = s->primal;
    report->gradient_norm = (double)NAN;
    report->converged = s->certified;
    report->stop_reason = s->certified ? DN_STOP_TOLERANCE : svm->reason;
    dn_report_text(report, "solver", "%s",
                   isfinite(svm->options->C) ? dni_svm_solver_names[svm->options->solver]
                                             : "nearest_points");
    dn_report_number(report, "tolerance", svm->options->tolerance);
    dni_svm_report(s, svm->options->C, "features.standardize", report);
    if (!s->certified) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged: after %zu iterations the relative duality gap is %.3g, not "
                       "%.3g; try %s",
                       svm->iterations, s->gap, svm->options->tolerance, remedy(svm, s));
    }
}

static dn_status solve_soft(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    switch (svm->options->solver) {
    case DNI_SVM_INTERIOR_POINT:
        return dni_svm_interior(svm, out, err);
    case DNI_SVM_NEWTON:
        return dni_svm_newton(svm, out, err);
    default:
        return dni_svm_coordinate(svm, out, err);
    }
}

/* Solves the problem of fewer rows than features with the coordinates of the rows as features. */
static dn_status solve_wide(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    dni_svm_wide wide;
    dni_svm_problem inner = {0};
    dn_status status = dni_svm_wide_init(&wide, svm, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_svm_problem_init(&inner, &wide.input, svm->options, svm->run, err);
    if (status == DN_OK) {
        status = solve_soft(&inner, out, err);
    }
    if (status == DN_OK) {
        status = dni_svm_wide_take(&wide, &inner, out, err);
    }
cleanup:
    dni_svm_problem_done(&inner);
    dni_svm_wide_done(&wide);
    return status;
}

static dn_status solve(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    if (!isfinite(svm->options->C)) {
        return dni_svm_hard(svm, out, err);
    }
    return dni_svm_is_wide(svm->options, svm->n, svm->d) ? solve_wide(svm, out, err)
                                                         : solve_soft(svm, out, err);
}

dn_status dni_svm_linear_fit(const dn_fit_input *input, const dni_svm_options *options,
                             const dn_run *run, dn_machine **out, dn_report *report,
                             dn_error *err) {
    assert(input->n_classes == 2 && (options->solver != DNI_SVM_SMO || isinf(options->C)) &&
           !(options->squared && options->solver == DNI_SVM_INTERIOR_POINT) &&
           (options->squared || options->solver != DNI_SVM_NEWTON));
    dni_svm_problem svm;
    dni_svm_solution solution;
    dn_report fresh = {0};
    dn_status status = dni_svm_problem_init(&svm, input, options, run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = solve(&svm, &solution, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (!(dni_all_finite(svm.w, svm.width) && isfinite(solution.primal))) {
        status = dni_svm_not_finite(&svm, svm.iterations, err);
        goto cleanup;
    }
    status = make_machine(&svm, out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    write_report(&svm, &solution, &fresh);
    *report = fresh;
cleanup:
    dni_svm_problem_done(&svm);
    return status;
}
