/* One-class support vector machine: the part of the space where most rows are.
 *
 *   min ½ α'Kα,  Σα_i = 1,  0 <= α_i <= v_i/(ν Σv);   f(x) = Σ α_i K(x_i, x) − ρ
 *
 * solved with α scaled by νΣv, so that the box is [0, v_i]: by sequential minimal optimisation. Schölkopf, Platt, Shawe-Taylor, Smola and Williamson, Neural Computation 13, 2001. */
#include "catalogue/param_rows.h"
#include "learners/shared/kernel_fit.h"
#include "learners/shared/kernel_params.h"
#include "learners/shared/smo/smo.h"
#include "machine/machine_impl.h"
#include "machine/support.h"

#include <math.h>
#include <string.h>

#define FINE 1e-9  /* what is aimed at when kernel values are held in double */
#define ALIKE 1e-6 /* of kernel values that are next to the same, beside K(x, x) */
#define FLAT 1e-5  /* a squared length of w beside the greatest K(x, x) that is next to none */

static const dn_param params[] = {
    {.name = "nu",
     .type = DN_PARAM_NUMBER,
     .meaning =
         "Most outliers among the training rows, and fewest support vectors, as a share of them.",
     .default_number = 0.1,
     .minimum = 1e-9,
     .maximum = 1},
    DNI_PARAMS_KERNEL("rbf"),
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "The greatest violation of the optimality conditions, beside rho, at which the "
                "solution counts as found; and how far below "
                "0, beside rho, a "
                "score is an outlier's: rows on the boundary are none.",
     .default_number = 1e-4,
     .minimum = 0,
     .maximum = 1,
     .open_minimum = true},
    DNI_PARAM_MAX_ITERATIONS("Most steps, in thousands. auto: what 10 million or 100 for each row "
                             "make, whatever is more.",
                             10000),
    DNI_PARAM_CACHE_MIB("Most memory for values of the kernel, in MiB. All of them are computed "
                        "once where they fit, otherwise the rows "
                        "used last are kept."),
};

struct fit {
    const dn_fit_input *input;
    const dn_run *run;
    double nu, tolerance, max_iterations, cache_bytes;
    dn_kernel kernel;
    dni_kernel_fit prepared;
    dni_svm_points points;
    dni_gram gram;
    double *alpha, *g; /* [n] α in units of 1/(νΣv); −f without ρ, likewise */
    double total;      /* νΣv */
    double rho;        /* of α as it is stated */
    double flat;       /* a squared length of w that is next to none */
    double iterations, violation, greatest;
    bool definite, converged;
    double least;
};

/* ---- rules ---- */
static double iterations_of(const dn_params *p, size_t n_rows) {
    return dn_params_word(p, "max_iterations") == NULL ? dn_params_number(p, "max_iterations")
                                                       : dni_smo_thousands(n_rows);
}

static dn_status settle(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                        dn_error *err) {
    (void)n_classes;
    dn_status status = dni_kernel_params_shape(p, n_features, err);
    if (status == DN_OK) {
        status = dn_params_set_number(p, "max_iterations", iterations_of(p, n_rows), err);
    }
    return status == DN_OK ? dni_kernel_params_settle(p, err) : status;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const double cache = dn_params_number(p, "cache_mib") * 1048576;
    const dn_kernel kernel = dni_kernel_of(p, shape->n_features);
    return dni_kernel_fit_memory(&kernel, shape, cache, &(dni_kernel_machines){1, 1, 1});
}

/* ---- the dual ---- */
static void report_progress(void *ctx, double iterations, double violation, double objective) {
    struct fit *f = ctx;
    const double scale = fmax(f->total * f->total, 1e-300);
    const double aim = f->tolerance;
    f->greatest = fmax(f->greatest, fmax(violation, 2 * aim));
    const double done = log(f->greatest / fmax(violation, aim)) / log(f->greatest / aim);
    const dn_progress progress = {.iteration =
                                      (size_t)fmin(floor(iterations / 1000) + 1, f->max_iterations),
                                  .max_iterations = (size_t)f->max_iterations,
                                  .fraction = fmin(0.99, fmax(0, done)),
                                  .loss = objective / scale,
                                  .gradient_norm = violation,
                                  .train_error = (double)NAN};
    if (f->run->progress != NULL) {
        f->run->progress(f->run, &progress);
    }
}

/* The first rows full, until they make νΣv. */
static void begin(const struct fit *f) {
    double left = f->total;
    for (size_t i = 0; i < f->points.n; i++) {
        f->alpha[i] = fmin(left, f->points.weight[i]);
        left -= f->alpha[i];
    }
}

static dn_status get_memory(struct fit *f, dn_error *err) {
    void *numbers;
    dn_status status = dn_run_alloc(f->run, 4 * f->points.n + 1, sizeof(double),
                                    "the dual variables", &numbers, err);
    if (status != DN_OK) {
        return status;
    }
    f->alpha = numbers;
    f->g = f->alpha + f->points.n;
    for (size_t i = 0; i < f->points.n; i++) {
        f->total += f->points.weight[i];
    }
    f->total *= f->nu;
    return DN_OK;
}

/* K x between 0 and about νΣv: violations count beside ρ, which f is about as large as. */
static dn_status solve(struct fit *f, dni_smo_rows *rows, dn_error *err) {
    const size_t n = f->points.n;
    void *list = NULL;
    dn_status status = dn_run_alloc(f->run, n + 1, 1, "the signs of the dual", &list, err);
    if (status != DN_OK) {
        return status;
    }
    signed char *t = list;
    double *linear = f->g + n;
    for (size_t i = 0; i < n; i++) {
        f->flat = fmax(f->flat, FLAT * dni_smo_rows_self(rows, i));
    }
    memset(t, 1, n);
    begin(f);
    dni_smo smo = {.n = n,
                   .t = t,
                   .upper = f->points.weight,
                   .linear = linear,
                   .n_groups = 1,
                   .group_end = {n, n},
                   .relative = true,
                   .unit = f->total,
                   .least = f->flat * f->total * f->total,
                   .vanishes = -(double)INFINITY,
                   .tolerance = f->tolerance,
                   .fine = f->definite ? fmin(FINE, f->tolerance) : f->tolerance,
                   .max_iterations = 1000 * f->max_iterations,
                   .alpha = f->alpha,
                   .g = f->g};
    const dni_smo_listener listener = {report_progress, f};
    status = dni_smo_solve(&smo, rows, f->run, &listener, err);
    f->iterations = smo.iterations;
    f->violation = smo.violation;
    f->converged = smo.converged;
    dn_run_free(f->run, list);
    return status;
}

/* ρ of the free support vectors; without any the middle of what the others allow. */
static void find_rho(struct fit *f) {
    double sum = 0, n = 0, low = -(double)INFINITY, high = (double)INFINITY;
    for (size_t i = 0; i < f->points.n; i++) {
        if (f->alpha[i] > 0 && f->alpha[i] < f->points.weight[i]) {
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
    for (size_t i = 0; i < f->points.n; i++) {
        square -= f->alpha[i] * f->g[i];
    }
    return 0.5 * square / (f->total * f->total);
}

/* Where the rows lie around the origin of the kernel's space, w is 0, and f with it. */
static bool tells_nothing(const struct fit *f) {
    return fabs(2 * objective_of(f)) <= f->flat;
}

/* A w that was found to be next to nothing was not looked at more closely: no score of a training row says anything, |w·φ(x)| <= ‖w‖ √K(x, x). */
static double threshold_of(const struct fit *f) {
    const double greatest = f->flat / FLAT; /* K(x, x) */
    return tells_nothing(f) ? fabs(f->rho) + sqrt(f->flat * greatest) : f->tolerance * fabs(f->rho);
}

static dn_status make_machine(const struct fit *f, dn_machine **out, dn_error *err) {
    void *memory;
    size_t n = 0;
    dn_support *support = NULL;
    dn_status status = dn_run_alloc(f->run, f->points.n + 1, sizeof(uint32_t),
                                    "the numbers of the support vectors", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    uint32_t *number = memory;
    for (size_t i = 0; i < f->points.n; i++) {
        number[i] = f->alpha[i] > 0 ? (uint32_t)n++ : UINT32_MAX;
    }
    status = dni_kernel_fit_support(&f->kernel, &f->points, number, n, &support, err);
    if (status == DN_OK) {
        status = dni_kernel_machine_new(support, n, out, err);
    }
    dn_kernel_machine *machine = status == DN_OK ? dni_kernel_machine_of(*out) : NULL;
    for (size_t i = 0; status == DN_OK && i < f->points.n; i++) {
        if (number[i] < UINT32_MAX) {
            machine->index[number[i]] = number[i];
            machine->coef[number[i]] = f->alpha[i] / f->total;
        }
    }
    if (status == DN_OK) {
        const double square = 2 * objective_of(f);
        machine->w0 = -f->rho;
        machine->norm = square >= 0 ? sqrt(square) : (double)NAN;
        dni_machine_set_threshold(*out, threshold_of(f));
    }
    dni_support_unref(support);
    dn_run_free(f->run, memory);
    return status;
}

/* Whether K(x, x) is 1 and no K is below 0. */
static bool is_similarity(const dn_kernel *kernel) {
    return kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_MAHALANOBIS ||
           kernel->type == DN_KERNEL_DISTANCE;
}

/* Where the kernel is next to constant, w is as long as the rows are; where it is next to 0 between different rows, ‖w‖² is Σα², an nth of K(x, x) at least, and nothing more. */
static void warn_of_indifference(const struct fit *f, dn_report *report) {
    const double square = 2 * objective_of(f), greatest = f->flat / FLAT, n = (double)f->points.n;
    const char *advice = dni_kernel_advice(&f->kernel);
    if (f->points.n > 1 && square >= (1 - ALIKE) * greatest) {
        dn_report_warn(report,
                       "the kernel has nearly the same value for every pair of rows, and tells "
                       "none of them from the others%s%s",
                       advice == NULL ? "" : ": try ", advice == NULL ? "" : advice);
    } else if (f->points.n > 1 && is_similarity(&f->kernel) &&
               n * square <= (1 + ALIKE) * greatest) {
        dn_report_warn(report, "the kernel is nearly 0 between different rows, and every row that "
                               "training has not seen is an outlier: try "
                               "a larger width");
    }
}

/* Whether w has a length that violations are a share of; without one it is that of the least number, and they are said as they are. */
static bool has_length(const struct fit *f) {
    return 2 * objective_of(f) > f->flat;
}

static double violation_of(const struct fit *f) {
    return has_length(f) ? f->violation
                         : f->violation * fmax(f->flat, 1e-300 / (f->total * f->total));
}

static void warn_of_violation(const struct fit *f, dn_report *report) {
    const char *remedy = dni_kernel_fit_remedy(report->stop_reason);
    if (has_length(f)) {
        dn_report_warn(report,
                       "after %.0f steps the optimality conditions are violated by %.3g of rho "
                       "(tolerance %g)%s",
                       f->iterations, f->violation, f->tolerance, remedy);
    } else {
        dn_report_warn(report,
                       "after %.0f steps the optimality conditions are violated by %.3g: rho is "
                       "%.3g, and w has no length that the tolerance of %g "
                       "could be a share of%s",
                       f->iterations, violation_of(f), f->rho, f->tolerance, remedy);
    }
}

static void write_report(const struct fit *f, dn_report *report) {
    double n_support = 0, n_bounded = 0, n_distinct = 0;
    for (size_t i = 0; i < f->points.n; i++) {
        n_distinct += f->alpha[i] > 0;
        n_support += f->alpha[i] > 0 ? f->points.count[i] : 0;
        n_bounded += f->alpha[i] >= f->points.weight[i] ? f->points.count[i] : 0;
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
    dn_report_number(&fresh, "support_vectors", n_support);
    dn_report_number(&fresh, "bounded_support_vectors", n_bounded);
    dn_report_number(&fresh, "kkt_violation", violation_of(f));
    dni_kernel_fit_report(&f->prepared, &f->kernel, &fresh);
    dn_report_number(&fresh, "distinct_rows", (double)f->points.n);
    dn_report_number(&fresh, "distinct_support_vectors", n_distinct);
    if (!f->definite) {
        dn_report_number(&fresh, "least_eigenvalue", f->least);
        dn_report_warn(&fresh,
                       "the kernel is not positive semidefinite on these rows (least eigenvalue "
                       "about %.3g): the solution satisfies the optimality "
                       "conditions, but nothing certifies that it is the best",
                       f->least);
    }
    if (tells_nothing(f)) {
        dn_report_warn(&fresh, "the rows lie around the origin of the kernel's space, and no plane "
                               "has them on one side: none is called an "
                               "outlier; kernel rbf tells what is far from them");
    } else {
        warn_of_indifference(f, &fresh);
    }
    if (!f->converged) {
        warn_of_violation(f, &fresh);
    }
    *report = fresh;
}

static dn_status solve_on_points(struct fit *f, dn_error *err) {
    void *memory;
    dni_smo_rows *rows = NULL;
    dn_status status = dn_run_alloc(f->run, f->points.n + 1, sizeof(uint32_t),
                                    "the variables of the dual", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    uint32_t *list = memory;
    for (size_t i = 0; i < f->points.n; i++) {
        list[i] = (uint32_t)i;
    }
    status = get_memory(f, err);
    if (status == DN_OK) {
        status = dni_smo_rows_new(f->points.points, &f->gram, list, f->points.n, f->cache_bytes,
                                  f->run, &rows, err);
    }
    if (status == DN_OK) {
        status = solve(f, rows, err);
    }
    dni_smo_rows_free(rows);
    dn_run_free(f->run, memory);
    return status;
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
    dn_status status = dni_kernel_fit_prepare(input, f.cache_bytes, run, &f.prepared, &f.kernel,
                                              &f.points, &f.gram, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_kernel_fit_definite(&f.points, &f.kernel, run, &f.definite, &f.least, err);
    if (status == DN_OK) {
        status = solve_on_points(&f, err);
    }
    if (status == DN_OK) {
        find_rho(&f);
        dni_kernel_fit_forget(&f.prepared, &f.points, &f.gram);
        status = make_machine(&f, out, err);
    }
    if (status == DN_OK) {
        write_report(&f, report);
    }
    dn_run_free(run, f.alpha);
    dni_kernel_fit_done(&f.prepared);
    dni_svm_points_done(&f.points);
    return status;
}

const dn_algorithm dni_algorithm_one_class_svm = {
    .id = "one_class_svm",
    .title = "One-class support vector machine",
    .summary = "What most rows are like, learned without a target: a row that is unlike them is an "
               "outlier. The score is positive among "
               "the rows of the "
               "training, negative outside.",
    .source = "Scholkopf, Platt, Shawe-Taylor, Smola and Williamson, Neural Computation 13, 2001; "
              "Bishop, PRML, section 7.1",
    .stopping_rule = "no pair of rows violates the optimality conditions by more than `tolerance` "
                     "times the size of f before rho is taken "
                     "off, judged with "
                     "kernel values in double precision",
    .flags = DN_ALGORITHM_STANDARDIZE | DN_ALGORITHM_WHOLE,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = dni_kernel_params_check,
    .settle = settle,
    .applies = dni_kernel_param_applies,
    .encoding = dni_kernel_encoding,
    .memory = memory,
    .fit = fit_one_class,
};
