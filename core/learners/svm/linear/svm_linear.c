/* Fits a linear support vector machine: calls the solver, creates the machine, writes the
 * report. */
#include "learners/svm/linear/svm_linear.h"
#include "learners/shared/learner.h"
#include "learners/svm/linear/svm_certificate.h"
#include "learners/svm/linear/svm_wide.h"
#include "linalg/vector.h"
#include "machine/linear.h"

#include <assert.h>
#include <string.h>

/* Costs in multiplications, from measurements on text: Newton's method takes about 12 steps, each
 * about √κ products with H of 4 entries each, where κ is a bound of its condition. The Gram matrix
 * of n rows, its factor and 12 factorisations of H take about n³. Products are used if they take
 * less than half of this. */
static const double PRODUCT_COST = 48, GRAM_SHARE = 0.5;

static double gram_cost(size_t n_rows) {
    const double n = (double)n_rows;
    return GRAM_SHARE * n * n * n;
}

/* True if conjugate gradients may be cheaper than the coordinates of the rows of a wide problem. */
static bool may_multiply(const dni_svm_options *options, size_t n_rows, size_t n_features) {
    return options->solver == DNI_SVM_NEWTON &&
           PRODUCT_COST * ((double)n_rows + (double)n_features) < gram_cost(n_rows);
}

double dni_svm_linear_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                             size_t n_slots) {
    const double common = dni_svm_problem_memory(options, n_rows, n_features, n_slots);
    if (!isfinite(options->C)) {
        return common + dni_svm_hard_memory(n_rows, n_features);
    }
    if (dni_svm_is_wide(options, n_rows, n_features)) {
        const double wide = dni_svm_wide_memory(n_rows, n_features, n_slots) +
                            dni_svm_linear_memory(options, n_rows, n_rows, n_slots);
        return common + (may_multiply(options, n_rows, n_features)
                             ? fmax(wide, dni_svm_newton_memory(n_rows, n_features, n_slots))
                             : wide);
    }
    if (options->solver == DNI_SVM_INTERIOR_POINT) {
        return common + fmax(dni_svm_interior_memory(n_rows, n_features, n_slots),
                             dni_svm_try_hard_memory(n_rows, n_features));
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

/* Adds the support vectors of the solution to the machine. */
static dn_status add_duals(dni_svm_problem *svm, const dni_svm_solution *s, dn_machine *machine,
                           dn_error *err) {
    const bool squared = svm->options->squared, hard = !isfinite(svm->options->C),
               omitted = s->n_support > DN_MAX_DUALS;
    const double tolerance = svm->options->tolerance;
    double *sum = svm->sums;
    dn_dual *items;
    dn_status status =
        dni_machine_new_duals(machine, omitted ? 0 : (size_t)s->n_support, &items, err);
    if (status == DN_OK && !omitted) {
        status = dni_svm_combine(svm, svm->alpha, sum, err);
    }
    if (status != DN_OK || omitted) {
        dni_machine_omit_duals(machine);
        return status;
    }
    dni_svm_clear_constants(svm, sum);
    for (size_t j = 0; j < svm->d; j++) {
        machine->duals->residual = fmax(machine->duals->residual, fabs(sum[j] - svm->w[j]));
    }
    for (size_t i = 0, k = 0; i < svm->n; i++) {
        if (!(svm->upper[i] > 0 && svm->alpha[i] > 0)) {
            continue;
        }
        const double slack = fmax(0, 1 - svm->sign[i] * (svm->score[i] + svm->w[svm->d]));
        const bool bounded = !hard && dni_svm_at_upper(svm, i, svm->alpha[i]);
        items[k++] = (dn_dual){.row = i,
                               .coef = svm->sign[i] * svm->alpha[i],
                               .slack = slack,
                               .bounded = bounded,
                               .inside = (squared || bounded) && slack > tolerance};
    }
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
    dni_report_tolerance(report, svm->options->tolerance, s->gap);
    dni_svm_report(s, svm->options->C, "features.standardize", report);
    if (!s->certified) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged: after %zu iterations the relative duality gap is %.3g "
                       "(tolerance %.3g); try %s",
                       svm->iterations, s->gap, svm->options->tolerance, remedy(svm, s));
    }
}

static dn_status solve_soft(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    switch (svm->options->solver) {
    case DNI_SVM_INTERIOR_POINT: {
        dn_status status = dni_svm_interior(svm, out, err);
        return status == DN_OK && !out->certified && svm->reason == DN_STOP_NO_PROGRESS
                   ? dni_svm_try_hard(svm, out, err)
                   : status;
    }
    case DNI_SVM_NEWTON:
        return dni_svm_newton(svm, out, err);
    default:
        return dni_svm_coordinate(svm, out, err);
    }
}

/* Solves a wide problem with the coordinates of the rows as features. */
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

/* Returns true if conjugate gradients on the rows of a wide problem take fewer multiplications than
 * the coordinates of the rows: for sparse rows and a C that is not large. κ = 1 + Σ 2 U ‖x̃‖² is an
 * upper bound of the condition of H, by its trace. */
static bool products_are_cheaper(const dni_svm_problem *svm) {
    double condition = 1, n_entries = (double)(svm->n + svm->d);
    if (!may_multiply(svm->options, svm->n, svm->d) || !svm->moments.sparse) {
        return false;
    }
    for (size_t i = 0; i < svm->n; i++) {
        const dn_matrix *x = &svm->block[i / DN_BLOCK_ROWS];
        const double *values = x->values + x->row_start[i % DN_BLOCK_ROWS];
        const size_t n = dni_svm_row_entries(svm, i);
        n_entries += (double)n;
        condition += 2 * svm->upper[i] * (1 + dni_dot(values, values, n));
    }
    return PRODUCT_COST * sqrt(condition) * n_entries < gram_cost(svm->n);
}

static dn_status solve(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    if (!isfinite(svm->options->C)) {
        return dni_svm_hard(svm, out, err);
    }
    return dni_svm_is_wide(svm->options, svm->n, svm->d) && !products_are_cheaper(svm)
               ? solve_wide(svm, out, err)
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
    dn_machine *machine = NULL;
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
    status = make_machine(&svm, &machine, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = add_duals(&svm, &solution, machine, err);
    if (status != DN_OK) {
        dn_machine_free(machine);
        goto cleanup;
    }
    *out = machine;
    write_report(&svm, &solution, &fresh);
    *report = fresh;
cleanup:
    dni_svm_problem_done(&svm);
    return status;
}
