/* One-class support vector machine: estimates a region that contains most rows.
 *
 *   min ½ α'Kα,  Σα_i = 1,  0 <= α_i <= v_i/(ν Σv);   f(x) = Σ α_i K(x_i, x) − ρ
 *
 * Solved by sequential minimal optimisation with α multiplied by νΣv, so that the bounds are 0 and
 * v_i.
 *
 * Source: Schölkopf, Platt, Shawe-Taylor, Smola and Williamson, Neural Computation 13, 2001. */
#include "base/layout.h"
#include "catalogue/param_rows.h"
#include "learners/shared/kernel_params.h"
#include "learners/shared/learner.h"
#include "learners/shared/prepared.h"
#include "learners/shared/smo/point_rows.h"
#include "learners/shared/smo/smo.h"
#include "machine/kernel_machine.h"
#include "machine/support.h"

#include <math.h>
#include <string.h>

#define FINE_TOLERANCE 1e-9 /* target violation if kernel values have double precision */
#define EQUAL_VALUES 1e-6   /* kernel values with a smaller relative difference count as equal */
#define ZERO_NORM 1e-5      /* ‖w‖² counts as 0 up to ZERO_NORM times the largest K(x, x) */

static const dn_param params[] = {
    {.name = "nu",
     .type = DN_PARAM_NUMBER,
     .meaning = "Upper bound of the share of outliers among the training rows, and lower bound of "
                "the share of support vectors.",
     .default_number = 0.1,
     .minimum = 1e-9,
     .maximum = 1},
    DNI_PARAMS_KERNEL("rbf"),
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "The largest violation of the optimality conditions of a converged solution, "
                "relative to the squared length of w. Rows with a score below -tolerance x rho are "
                "outliers, so that rows on the boundary are not.",
     .default_number = 1e-4,
     .minimum = 0,
     .maximum = 1,
     .open_minimum = true},
    DNI_PARAM_MAX_ITERATIONS("Maximum number of steps, in thousands. auto: 10 million steps, or "
                             "100 steps for each row if that is more.",
                             10000),
    DNI_PARAM_CACHE_MIB("Maximum memory in MiB for kernel values. If all values fit, they are "
                        "computed once; otherwise the most recently used rows are kept."),
};

struct fit {
    const dn_fit_input *input;
    const dn_run *run;
    double nu, tolerance, max_iterations, cache_bytes;
    dni_prepared *problem;
    double *alpha;  /* [n] α·νΣv */
    double *g;      /* [n] gradient: −(f + ρ)·νΣv */
    double *linear; /* [n] 0: the dual has no linear term */
    uint32_t *list; /* [n] point of each variable; in make_machine: index of each support vector */
    signed char *t; /* [n] 1: all variables have the same sign */
    double total;   /* νΣv */
    double rho;     /* ρ for Σα = 1 */
    double zero_square; /* ‖w‖² counts as 0 up to this value */
    double iterations, violation;
    bool converged;
};

/* ---- parameters ---- */
static double iterations_of(const dn_params *p, size_t n_rows) {
    return dn_params_word(p, "max_iterations") == NULL ? dn_params_number(p, "max_iterations")
                                                       : dni_smo_thousands(n_rows);
}

static dn_status resolve(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                         dn_error *err) {
    (void)n_classes;
    dn_status status = dni_kernel_params_shape(p, n_features, err);
    if (status == DN_OK) {
        status = dn_params_set_number(p, "max_iterations", iterations_of(p, n_rows), err);
    }
    return status == DN_OK ? dni_kernel_params_resolve(p, err) : status;
}

/* ---- memory ---- */
static void dual_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct fit *f = work;
    f->alpha = dni_layout_doubles(layout, n);
    f->g = dni_layout_doubles(layout, n);
    f->linear = dni_layout_doubles(layout, n);
    f->list = dni_layout_array(layout, n, sizeof *f->list);
    f->t = dni_layout_array(layout, n, sizeof *f->t);
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const double cache = dn_params_number(p, "cache_mib") * 1048576;
    const dn_kernel kernel = dni_kernel_of(p, shape->n_features);
    struct fit scratch;
    dni_point_rows rows;
    const dni_kernel_machines machines = {.n = 1,
                                          .n_per_row = 1,
                                          .n_parallel = 1,
                                          .dual_bytes = dni_layout_bytes(dual_layout,
                                                                         &shape->n_rows, &scratch),
                                          .result_bytes = dni_layout_bytes(dni_point_rows_layout,
                                                                           &shape->n_rows, &rows)};
    return dni_prepared_memory(&kernel, shape, cache, &machines);
}

/* ---- the dual ---- */
/* Sets the start: the first elements of alpha are at their bounds, the others are 0, and the sum is
 * νΣv. */
static void begin(const struct fit *f) {
    double left = f->total;
    for (size_t i = 0; i < f->problem->points.n; i++) {
        f->alpha[i] = fmin(left, f->problem->points.weight[i]);
        left -= f->alpha[i];
    }
}

/* Solves the dual. With scaled α the scores f + ρ are of the order of νΣv. Violations are relative
 * to ρ. */
static dn_status solve(struct fit *f, dn_error *err) {
    const dni_svm_points *points = &f->problem->points;
    const size_t n = points->n;
    dni_smo_rows *rows;
    for (size_t i = 0; i < n; i++) {
        f->list[i] = (uint32_t)i;
        f->t[i] = 1;
        f->total += points->weight[i];
    }
    f->total *= f->nu;
    dn_status status = dni_smo_rows_new(points->points, &f->problem->gram, f->list, n,
                                        f->cache_bytes, f->run, &rows, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        f->zero_square = fmax(f->zero_square, ZERO_NORM * dni_smo_rows_self(rows, i));
    }
    begin(f);
    dni_smo smo = {.n = n,
                   .t = f->t,
                   .upper = points->weight,
                   .linear = f->linear,
                   .n_groups = 1,
                   .group_end = {n, n},
                   .is_relative = true,
                   .alpha_sum = f->total,
                   .min_scale = f->zero_square * f->total * f->total,
                   .zero_objective = -(double)INFINITY,
                   .tolerance = f->tolerance,
                   .fine_tolerance =
                       f->problem->definite ? fmin(FINE_TOLERANCE, f->tolerance) : f->tolerance,
                   .objective_unit = fmax(f->total * f->total, 1e-300),
                   .max_iterations = 1000 * f->max_iterations,
                   .alpha = f->alpha,
                   .g = f->g};
    status = dni_smo_solve(&smo, rows, f->run, err);
    dni_smo_rows_free(rows);
    f->iterations = smo.iterations;
    f->violation = smo.violation;
    f->converged = smo.converged;
    return status;
}

/* Sets ρ: the mean score of the free support vectors (0 < α < bound), or, if there are none, the
 * midpoint of the interval of optimal values. */
static void find_rho(struct fit *f) {
    double sum = 0, n = 0, low = -(double)INFINITY, high = (double)INFINITY;
    for (size_t i = 0; i < f->problem->points.n; i++) {
        if (f->alpha[i] > 0 && f->alpha[i] < f->problem->points.weight[i]) {
            sum += -f->g[i];
            n++;
        } else if (f->alpha[i] > 0) {
            low = fmax(low, -f->g[i]);
        } else {
            high = fmin(high, -f->g[i]);
        }
    }
    high = isfinite(high) ? high : low;
    low = isfinite(low) ? low : high;
    f->rho = (n > 0 ? sum / n : 0.5 * (low + high)) / f->total;
}

/* ---- the machine ---- */
static double objective_of(const struct fit *f) {
    double square = 0;
    for (size_t i = 0; i < f->problem->points.n; i++) {
        square -= f->alpha[i] * f->g[i];
    }
    return 0.5 * square / (f->total * f->total);
}

/* True if w is nearly 0: in the feature space of the kernel the rows surround the origin. */
static bool is_zero_w(const struct fit *f) {
    return fabs(2 * objective_of(f)) <= f->zero_square;
}

/* Returns the threshold of outliers. If w is nearly 0, the threshold exceeds the scores of all
 * training rows, which are at most ‖w‖ √K(x, x) in absolute value. */
static double threshold_of(const struct fit *f) {
    const double max_self = f->zero_square / ZERO_NORM; /* largest K(x, x) */
    return is_zero_w(f) ? fabs(f->rho) + sqrt(f->zero_square * max_self)
                        : f->tolerance * fabs(f->rho);
}

static dn_status make_machine(const struct fit *f, dn_machine **out, dn_error *err) {
    const size_t n_points = f->problem->points.n;
    const double square = 2 * objective_of(f);
    size_t n = 0;
    dni_support *support;
    uint32_t *number = f->list; /* reuses the memory of f->list, which the solver no longer needs */
    for (size_t i = 0; i < n_points; i++) {
        number[i] = f->alpha[i] > 0 ? (uint32_t)n++ : UINT32_MAX;
    }
    dn_status status = dni_prepared_support(f->problem, number, n, &support, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_kernel_machine_new(support, n, out, err);
    dni_support_unref(support);
    if (status != DN_OK) {
        return status;
    }
    dni_kernel_machine *machine = dni_kernel_machine_of(*out);
    for (size_t i = 0; i < n_points; i++) {
        if (number[i] < UINT32_MAX) {
            machine->index[number[i]] = number[i];
            machine->coef[number[i]] = f->alpha[i] / f->total;
        }
    }
    machine->w0 = -f->rho;
    machine->norm = square >= 0 ? sqrt(square) : (double)NAN;
    dni_machine_set_threshold(*out, threshold_of(f));
    return DN_OK;
}

/* Returns the number of rows with α > 0, or of those with α at its upper bound. */
static double count_support(const struct fit *f, bool bounded) {
    const dni_svm_points *p = &f->problem->points;
    double n = 0;
    for (size_t i = 0; i < p->n; i++) {
        n += f->alpha[i] > 0 && (!bounded || f->alpha[i] >= p->weight[i]) ? p->count[i] : 0;
    }
    return n;
}

/* Sets the support vectors of the machine: α with the sum 1, and the slack max(0, −f). */
static dn_status make_duals(const struct fit *f, dn_machine *machine, dn_error *err) {
    const dni_svm_points *p = &f->problem->points;
    const size_t n_rows = f->input->rows->n_rows;
    const bool omitted = count_support(f, false) > DN_MAX_DUALS;
    dni_point_rows rows;
    dn_dual *items;
    void *memory;
    size_t n = 0;
    dn_status status =
        dni_machine_new_duals(machine, omitted ? 0 : (size_t)count_support(f, false), &items, err);
    if (status != DN_OK || omitted) {
        dni_machine_omit_duals(machine);
        return status;
    }
    status = dni_layout_take(f->run, dni_point_rows_layout, &n_rows, &rows,
                             "the rows of the support vectors", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    dni_point_rows_list(p, n_rows, &rows);
    for (size_t i = 0; i < p->n; i++) {
        if (f->alpha[i] > 0) {
            const double slack = fmax(0, f->rho + f->g[i] / f->total);
            const dn_dual dual = {.coef = f->alpha[i] / f->total,
                                  .slack = slack,
                                  .bounded = f->alpha[i] >= p->weight[i],
                                  .inside = slack > threshold_of(f)};
            n += dni_point_rows_spread(&rows, p, i, dual, items + n);
        }
    }
    dni_point_rows_sort(items, n);
    dn_run_free(f->run, memory);
    return DN_OK;
}

/* True if K(x, x) = 1 and K >= 0 for all rows. */
static bool is_similarity(const dn_kernel *kernel) {
    return kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_MAHALANOBIS ||
           kernel->type == DN_KERNEL_DISTANCE;
}

/* Warns if the kernel is nearly constant: then ‖w‖² is about K(x, x). Warns if the kernel is nearly
 * 0 between different rows: then ‖w‖² is about K(x, x)/n, its minimum. */
static void warn_of_similar_values(const struct fit *f, dn_report *report) {
    const double square = 2 * objective_of(f), max_self = f->zero_square / ZERO_NORM,
                 n = (double)f->problem->points.n;
    const char *advice = dni_kernel_advice(&f->problem->kernel);
    if (f->problem->points.n > 1 && square >= (1 - EQUAL_VALUES) * max_self) {
        dn_report_warn(report, DN_WARNING_KERNEL_FLAT,
                       "the kernel has nearly the same value for every pair of rows%s%s",
                       advice == NULL ? "" : ": try ", advice == NULL ? "" : advice);
    } else if (f->problem->points.n > 1 && is_similarity(&f->problem->kernel) &&
               n * square <= (1 + EQUAL_VALUES) * max_self) {
        dn_report_warn(report, DN_WARNING_KERNEL_FLAT,
                       "the kernel is nearly 0 between different rows, and every row that training "
                       "has not seen is an outlier: try a larger width");
    }
}

/* True if violations are reported relative to ‖w‖²; false if they are reported in absolute
 * terms. */
static bool is_violation_relative(const struct fit *f) {
    return 2 * objective_of(f) > f->zero_square;
}

static double violation_of(const struct fit *f) {
    return is_violation_relative(f)
               ? f->violation
               : f->violation * fmax(f->zero_square, 1e-300 / (f->total * f->total));
}

static void warn_of_violation(const struct fit *f, dn_report *report) {
    const char *remedy = dni_prepared_remedy(report->stop_reason);
    if (is_violation_relative(f)) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged: after %.0f steps the largest violation of the optimality "
                       "conditions is %.3g times the squared length of w (tolerance %g)%s",
                       f->iterations, f->violation, f->tolerance, remedy);
    } else {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged: after %.0f steps the optimality conditions are violated by "
                       "%.3g (rho is %.3g); the tolerance of %g is relative to the squared length "
                       "of w, which is nearly 0 or negative%s",
                       f->iterations, violation_of(f), f->rho, f->tolerance, remedy);
    }
}

static void write_report(const struct fit *f, dn_report *report) {
    double n_distinct = 0;
    for (size_t i = 0; i < f->problem->points.n; i++) {
        n_distinct += f->alpha[i] > 0;
    }
    dn_report fresh = {.converged = f->converged,
                       .stop_reason = f->converged ? DN_STOP_TOLERANCE
                                      : f->iterations >= 1000 * f->max_iterations
                                          ? DN_STOP_MAX_ITERATIONS
                                          : DN_STOP_NO_PROGRESS,
                       .iterations = (size_t)f->iterations,
                       .objective = objective_of(f),
                       .gradient_norm = (double)NAN};
    dn_report_number(&fresh, "rho", f->rho);
    dn_report_number(&fresh, "support_vectors", count_support(f, false));
    dn_report_number(&fresh, "bounded_support_vectors", count_support(f, true));
    dn_report_number(&fresh, "kkt_violation", violation_of(f));
    if (is_violation_relative(f)) {
        dni_report_tolerance(&fresh, f->tolerance, f->violation);
    }
    dni_prepared_report(f->problem, &fresh);
    dn_report_number(&fresh, "distinct_rows", (double)f->problem->points.n);
    dn_report_number(&fresh, "distinct_support_vectors", n_distinct);
    if (!f->problem->definite) {
        dn_report_number(&fresh, "least_eigenvalue", f->problem->least_eigenvalue);
        dn_report_warn(&fresh, DN_WARNING_KERNEL_INDEFINITE,
                       "the kernel is not positive semidefinite on these rows (least eigenvalue "
                       "about %.3g): the solution satisfies the optimality conditions, but is not "
                       "certified to be optimal",
                       f->problem->least_eigenvalue);
    }
    if (is_zero_w(f)) {
        dn_report_warn(&fresh, DN_WARNING_KERNEL_FLAT,
                       "the rows lie around the origin of the kernel's space, and no plane "
                       "has all of them on one side: no row is an outlier; try kernel rbf");
    } else {
        warn_of_similar_values(f, &fresh);
    }
    if (!f->converged) {
        warn_of_violation(f, &fresh);
    }
    *report = fresh;
}

static dn_status fit_one_class(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                               dn_report *report, dn_error *err) {
    const dn_params *p = input->params;
    struct fit f = {.input = input,
                    .run = run,
                    .nu = dn_params_number(p, "nu"),
                    .tolerance = dn_params_number(p, "tolerance"),
                    .max_iterations = iterations_of(p, input->rows->n_rows),
                    .cache_bytes = dn_params_number(p, "cache_mib") * 1048576};
    void *memory = NULL;
    dn_status status = dni_prepared_get(input, f.cache_bytes, run, &f.problem, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_layout_take(run, dual_layout, &f.problem->points.n, &f, "the dual variables",
                             &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = solve(&f, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    find_rho(&f);
    dni_prepared_drop_values(f.problem);
    status = make_machine(&f, out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = make_duals(&f, *out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    write_report(&f, report);
cleanup:
    dn_run_free(run, memory);
    dni_prepared_release(f.problem);
    return status;
}

static dn_kept_memory kept_memory(const dn_params *p, const dn_fit_shape *shape) {
    const dn_kernel kernel = dni_kernel_of(p, shape->n_features);
    return dni_support_kept_memory(&kernel, shape);
}

const dn_algorithm dni_algorithm_one_class_svm = {
    .id = "one_class_svm",
    .title = "One-class support vector machine",
    .summary =
        "What most rows are like, learned without a target: a row that is unlike them is an "
        "outlier. The score is positive in the region of the training rows and negative outside.",
    .source = "Scholkopf, Platt, Shawe-Taylor, Smola and Williamson, Neural Computation 13, 2001; "
              "Bishop, PRML, section 7.1",
    .stopping_rule = "no pair of rows violates the optimality conditions by more than `tolerance` "
                     "times the size of f + rho, computed with kernel values in double precision",
    .flags = DN_ALGORITHM_STANDARDIZE | DN_ALGORITHM_NOT_ADDITIVE,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = dni_kernel_params_check,
    .resolve = resolve,
    .applies = dni_kernel_param_applies,
    .encoding = dni_kernel_encoding,
    .memory = memory,
    .kept_memory = kept_memory,
    .fit = fit_one_class,
};
