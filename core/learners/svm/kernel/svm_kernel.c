/* Support vector machines with kernels: training of all machines of a decision on one prepared
 * problem, their duality gaps, and the resulting machines, which share support vectors.
 *
 * A part is the state of one machine during training. For the hard margin the dual is the search
 * for the nearest points of the convex hulls of the two classes; it has the same dual variables. */
#include "learners/svm/kernel/svm_kernel.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "learners/shared/kernel_params.h"
#include "learners/shared/learner.h"
#include "learners/shared/prepared.h"
#include "learners/shared/smo/point_rows.h"
#include "learners/shared/smo/smo.h"
#include "machine/kernel_machine.h"
#include "machine/linear.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Violation that the solver tries to reach after the tolerance, if kernel values have double
 * precision. */
#define FINE_TOLERANCE 1e-12
/* Smallest tolerance at which a quick fit keeps the gradient of its steps
 * (dni_smo.keep_gradient). */
#define MIN_KEPT_TOLERANCE 1e-8
/* The hulls touch if their squared distance is at most ZERO_DISTANCE times the largest K(x, x). The
 * rounding errors of sums of kernel values have this size. */
#define ZERO_DISTANCE 1e-14
/* Maximum number of padding bytes between the arrays of a part. */
#define PART_PADDING (4.0 * DNI_LAYOUT_ALIGN)

typedef struct svm_part {
    size_t negative, positive; /* class indices; negative = SIZE_MAX: all other classes */
    void *memory;
    uint32_t *list; /* [n] point indices; the first n_negative points have t = −1 */
    size_t n, n_negative;
    size_t first;  /* number of dual variables of the parts before this one */
    double *alpha; /* [n] dual variables α; after scale_hulls multiplied by scale */
    double *g;     /* [n] gradient of the dual */
    double scale;  /* factor of α: 1; hard margin: 2/(distance of the hulls)² */
    dni_svm_solution solution;
    double iterations;
    bool converged;
    dn_stop_reason stop_reason;
} svm_part;

typedef struct svm_fit {
    const dn_fit_input *input;
    const dni_svm_options *options;
    const dn_run *run;
    dn_decision decision;
    dni_prepared *problem;
    svm_part *parts; /* [n_parts] */
    size_t n_parts;
    size_t n_duals;       /* number of dual variables of all parts */
    atomic_size_t n_done; /* number of parts whose training has ended */
} svm_fit;

static bool is_hard(const svm_fit *f) {
    return isinf(f->options->C);
}

/* ---- parts ---- */
static void part_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    svm_part *part = work;
    part->alpha = dni_layout_doubles(layout, n);
    part->g = dni_layout_doubles(layout, n);
    part->list = dni_layout_array(layout, n, sizeof *part->list);
}

static void add_class(const svm_fit *f, svm_part *part, size_t k) {
    const size_t *start = f->problem->points.start;
    for (size_t i = start[k]; i < start[k + 1]; i++) {
        part->list[part->n++] = (uint32_t)i;
    }
}

static dn_status make_part(const svm_fit *f, size_t i, svm_part *part, dn_error *err) {
    const dni_svm_points *points = &f->problem->points;
    const size_t K = points->n_classes, *start = points->start;
    dn_decision_machine(f->decision, K, i, &part->negative, &part->positive);
    if (part->positive == SIZE_MAX) {
        part->negative = 0;
        part->positive = 1;
    }
    size_t n = points->n;
    if (part->negative != SIZE_MAX) {
        n = start[part->negative + 1] - start[part->negative] + start[part->positive + 1] -
            start[part->positive];
    }
    dn_status status = dni_layout_take(f->run, part_layout, &n, part,
                                       "the dual variables of a machine", &part->memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < K; k++) {
        if (k == part->negative || (part->negative == SIZE_MAX && k != part->positive)) {
            add_class(f, part, k);
        }
    }
    part->n_negative = part->n;
    add_class(f, part, part->positive);
    return DN_OK;
}

static dn_status make_parts(svm_fit *f, dn_error *err) {
    const size_t n = dn_decision_n_machines(f->decision, f->problem->points.n_classes);
    void *memory;
    dn_status status = dn_run_alloc(f->run, n, sizeof *f->parts, "the machines", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    f->parts = memory;
    f->n_parts = n;
    for (size_t i = 0; i < n; i++) {
        status = make_part(f, i, &f->parts[i], err);
        if (status != DN_OK) {
            return status;
        }
        f->parts[i].first = f->n_duals;
        f->n_duals += f->parts[i].n;
    }
    return DN_OK;
}

/* ---- the dual of a part ---- */
struct dual {
    signed char *t; /* [n] signs */
    double *upper;  /* [n] upper bounds of α */
    double *linear; /* [n] linear coefficients of the objective */
};

static void dual_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct dual *dual = work;
    dual->upper = dni_layout_doubles(layout, n);
    dual->linear = dni_layout_doubles(layout, n);
    dual->t = dni_layout_array(layout, n, sizeof *dual->t);
}

static double upper_of(const svm_fit *f, const svm_part *part, size_t k) {
    return f->options->C * f->problem->points.weight[part->list[k]];
}

/* Returns the dual variables of a part in the last fit with this problem; NULL: there are none that
 * apply. With an indefinite kernel the solution depends on the start, which is then always 0.
 *
 *   scale  receives the factor that makes the dual variables feasible */
static const double *kept_alpha(const svm_fit *f, const svm_part *part, double *scale) {
    const dni_kept_duals *kept = &f->problem->duals;
    if (kept->alpha == NULL || is_hard(f) || kept->decision != f->decision ||
        kept->intercept != (int)f->options->intercept || kept->n != f->n_duals ||
        !f->problem->definite) {
        return NULL;
    }
    *scale = fmin(1, f->options->C / kept->C);
    return kept->alpha + part->first;
}

/* Keeps the dual variables for the next fit, unless there is no memory for them. */
static void keep_duals(const svm_fit *f) {
    dni_kept_duals *kept = &f->problem->duals;
    void *memory = NULL;
    if (!f->problem->shared || is_hard(f)) {
        return;
    }
    dn_run_free(f->problem->run, kept->alpha);
    *kept = (dni_kept_duals){.n = f->n_duals,
                             .decision = f->decision,
                             .intercept = (int)f->options->intercept,
                             .C = f->options->C};
    if (dn_run_alloc(f->problem->run, f->n_duals, 2 * sizeof *kept->alpha, "the dual variables",
                     &memory, NULL) != DN_OK) {
        return;
    }
    kept->alpha = memory;
    kept->g = kept->alpha + f->n_duals;
    for (size_t i = 0; i < f->n_parts; i++) {
        const svm_part *part = &f->parts[i];
        memcpy(kept->alpha + part->first, part->alpha, part->n * sizeof *kept->alpha);
        memcpy(kept->g + part->first, part->g, part->n * sizeof *kept->g);
    }
}

/* Sets the bounds, the signs, the linear coefficients and the start: α of the last fit, or 0, or,
 * for the hard margin, the first point of each hull. Returns true if it has also set the
 * gradient. */
static bool set_problem(const svm_fit *f, svm_part *part, struct dual *dual) {
    const bool hard = is_hard(f);
    double scale = 1;
    const double *kept = kept_alpha(f, part, &scale),
                 *g = kept == NULL ? NULL : f->problem->duals.g + part->first;
    for (size_t k = 0; k < part->n; k++) {
        dual->t[k] = k < part->n_negative ? -1 : 1;
        dual->upper[k] = upper_of(f, part, k);
        dual->linear[k] = hard ? 0 : dual->t[k];
        part->alpha[k] = kept != NULL ? fmin(kept[k] * scale, dual->upper[k])
                         : hard && (k == 0 || k == part->n_negative) ? 1
                                                                     : 0;
        if (g != NULL) { /* l − g is linear in α */
            part->g[k] = dual->linear[k] - scale * (dual->linear[k] - g[k]);
        }
    }
    return g != NULL;
}

static double largest_self(const svm_part *part, const dni_smo_rows *rows) {
    double largest = 0;
    for (size_t k = 0; k < part->n; k++) {
        largest = fmax(largest, dni_smo_rows_self(rows, k));
    }
    return largest;
}

static dn_status solve(const svm_fit *f, svm_part *part, const dn_run *run, dni_smo_rows *rows,
                       dn_error *err) {
    const bool hard = is_hard(f);
    const double tolerance = f->options->tolerance;
    struct dual dual;
    void *memory;
    dn_status status =
        dni_layout_take(run, dual_layout, &part->n, &dual, "the bounds of the dual", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const bool has_gradient = set_problem(f, part, &dual);
    dni_smo smo = {.n = part->n,
                   .t = dual.t,
                   .upper = dual.upper,
                   .linear = dual.linear,
                   .n_groups = hard                                    ? 2
                               : f->options->intercept == DNI_SVM_NONE ? 0
                                                                       : 1,
                   .group_end = {hard ? part->n_negative : part->n, part->n},
                   .is_relative = hard,
                   .alpha_sum = 1,
                   .zero_objective = hard ? ZERO_DISTANCE * largest_self(part, rows) / 2 : 0,
                   .tolerance = tolerance,
                   .fine_tolerance = f->problem->definite && !f->input->quick
                                         ? fmin(FINE_TOLERANCE, tolerance)
                                         : tolerance,
                   .keep_gradient = f->input->quick && tolerance >= MIN_KEPT_TOLERANCE,
                   .objective_unit = 1,
                   .max_iterations = 1000 * (double)f->options->max_iterations,
                   .alpha = part->alpha,
                   .g = part->g,
                   .has_gradient = has_gradient};
    status = dni_smo_solve(&smo, rows, run, err);
    dn_run_free(run, memory);
    if (status != DN_OK) {
        return status;
    }
    part->iterations = smo.iterations;
    part->converged = smo.converged;
    part->stop_reason = smo.converged                          ? DN_STOP_TOLERANCE
                        : smo.iterations >= smo.max_iterations ? DN_STOP_MAX_ITERATIONS
                                                               : DN_STOP_NO_PROGRESS;
    part->solution = (dni_svm_solution){.kkt_violation = smo.violation};
    if (hard && !(smo.objective > smo.zero_objective)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the classes cannot be separated in the kernel's space (their hulls "
                            "touch): set a C, or choose a narrower kernel");
    }
    return DN_OK;
}

/* ---- the solution of a part ---- */
static bool is_free(const svm_fit *f, const svm_part *part, size_t k) {
    return part->alpha[k] > 0 && part->alpha[k] < upper_of(f, part, k);
}

/* Sets w0: the mean over the free support vectors, or, if there are none, the midpoint of the
 * interval of optimal intercepts. */
static void find_intercept(const svm_fit *f, const svm_part *part, dni_svm_solution *s) {
    double sum = 0, n = 0, low = -(double)INFINITY, high = (double)INFINITY;
    for (size_t k = 0; k < part->n; k++) {
        const bool positive = k >= part->n_negative, at_zero = part->alpha[k] <= 0;
        if (is_free(f, part, k)) {
            sum += part->g[k];
            n++;
        } else if (positive == at_zero) {
            low = fmax(low, part->g[k]);
        } else {
            high = fmin(high, part->g[k]);
        }
    }
    low = isfinite(low) ? low : high;
    high = isfinite(high) ? high : low;
    s->w0 = n > 0 ? sum / n : 0.5 * (low + high);
    s->w0_low = n > 0 ? s->w0 : low;
    s->w0_high = n > 0 ? s->w0 : high;
}

/* Hard margin: scales α and sets w0 so that f = 0 halfway between the hulls and f = ±1 at their
 * nearest points p₊ and p₋. part->g is −⟨p₊ − p₋, x⟩ for each point x. */
static void scale_hulls(svm_part *part, dni_svm_solution *s) {
    double square = 0, near_positive = 0, near_negative = 0;
    for (size_t k = 0; k < part->n; k++) {
        const double h = -part->g[k] * part->alpha[k];
        near_positive += k >= part->n_negative ? h : 0;
        near_negative += k < part->n_negative ? h : 0;
    }
    square = near_positive - near_negative; /* ‖p₊ − p₋‖² */
    part->scale = 2 / square;
    s->w0 = s->w0_low = s->w0_high = -0.5 * part->scale * (near_positive + near_negative);
    s->norm = 2 / sqrt(square);
    s->dual = 2 / square;
    for (size_t k = 0; k < part->n; k++) {
        part->alpha[k] *= part->scale;
    }
}

/* Returns f(x) of point k. */
static double value_of(const svm_fit *f, const svm_part *part, size_t k) {
    const double t = k < part->n_negative ? -1 : 1;
    return (is_hard(f) ? -part->scale * part->g[k] : t - part->g[k]) + part->solution.w0;
}

static bool is_bounded(const svm_fit *f, const svm_part *part, size_t k) {
    return !is_hard(f) && part->alpha[k] >= upper_of(f, part, k);
}

/* Returns the largest slack that counts as 0. */
static double slack_tolerance(const dni_svm_solution *s) {
    return fmax(1e-9, s->kkt_violation);
}

static void count_slack(const svm_fit *f, const svm_part *part, dni_svm_solution *s) {
    const double tolerance = slack_tolerance(s);
    for (size_t k = 0; k < part->n; k++) {
        const double t = k < part->n_negative ? -1 : 1,
                     count = f->problem->points.count[part->list[k]],
                     v = f->problem->points.weight[part->list[k]];
        const double margin = t * value_of(f, part, k), slack = fmax(0, 1 - margin);
        const bool bounded = is_bounded(f, part, k);
        s->n_support += part->alpha[k] > 0 ? count : 0;
        s->n_bounded += bounded ? count : 0;
        s->slack_sum += is_hard(f) ? 0 : v * slack;
        s->n_slack_positive += bounded && slack > tolerance ? count : 0;
        s->n_slack_over_one += margin < 0 ? count : 0;
    }
}

static void certify(const svm_fit *f, svm_part *part) {
    dni_svm_solution *s = &part->solution;
    double square = 0, sum = 0, least = (double)INFINITY, low = least, high = -least;
    part->scale = 1;
    if (is_hard(f)) {
        scale_hulls(part, s);
    } else {
        for (size_t k = 0; k < part->n; k++) {
            const double t = k < part->n_negative ? -1 : 1;
            square += t * part->alpha[k] * (t - part->g[k]);
            sum += part->alpha[k];
        }
        if (f->options->intercept == DNI_SVM_FREE) {
            find_intercept(f, part, s);
        }
        s->norm = square >= 0 ? sqrt(square) : (double)NAN;
        s->dual = sum - 0.5 * square;
    }
    count_slack(f, part, s);
    for (size_t k = 0; k < part->n; k++) {
        const double value = value_of(f, part, k);
        least = fmin(least, k < part->n_negative ? -value : value);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    s->spread = high - low;
    s->primal = is_hard(f)
                    ? (least > 0 ? 0.5 * s->norm * s->norm / (least * least) : (double)INFINITY)
                    : 0.5 * square + f->options->C * s->slack_sum;
    s->dual = f->problem->definite ? s->dual : (double)NAN;
    s->gap = (s->primal - s->dual) / fmax(fabs(s->primal), 1e-300);
    /* `tolerance` limits the violation of the optimality conditions. The resulting gap may be
     * larger than `tolerance`. */
    s->certified = s->gap <= 10 * f->options->tolerance;
    s->margin = 1 / s->norm;
    s->margin_raw = (double)NAN;
}

/* ---- training ---- */
/* Returns the limit of the bytes of cached kernel rows for each part: the parts that are trained in
 * parallel share cache_bytes. */
static double cache_of(const svm_fit *f) {
    const size_t n_parallel = f->n_parts < f->run->n_slots ? f->n_parts : f->run->n_slots;
    return f->options->cache_bytes / (double)n_parallel;
}

static dn_status train_part(const svm_fit *f, size_t i, const dn_run *run, dn_error *err) {
    svm_part *part = &f->parts[i];
    dni_smo_rows *rows;
    dn_status status = dni_smo_rows_new(f->problem->points.points, &f->problem->gram, part->list,
                                        part->n, cache_of(f), run, &rows, err);
    if (status != DN_OK) {
        return status;
    }
    status = solve(f, part, run, rows, err);
    if (status == DN_OK) {
        certify(f, part);
    }
    dni_smo_rows_free(rows);
    return status;
}

static void report_parts(const svm_fit *f, size_t done) {
    const dn_progress progress = {.iteration = done,
                                  .max_iterations = f->n_parts,
                                  .fraction = (double)done / (double)f->n_parts,
                                  .loss = (double)NAN,
                                  .gradient_norm = (double)NAN,
                                  .train_error = (double)NAN};
    if (f->run->progress != NULL) {
        f->run->progress(f->run, &progress);
    }
}

static dn_status train_task(void *arg, size_t i, size_t slot, dn_error *err) {
    svm_fit *f = arg;
    const dn_run run = dni_task_run(f->run);
    dn_status status = train_part(f, i, &run, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t done = atomic_fetch_add(&f->n_done, 1) + 1;
    if (slot == 0) { /* slot 0 is the thread that called the fit */
        report_parts(f, done);
    }
    return DN_OK;
}

static dn_status train(svm_fit *f, dn_error *err) {
    if (f->n_parts == 1) {
        return train_part(f, 0, f->run, err);
    }
    dn_status status = dni_tasks_run(f->run, f->n_parts, train_task, f, err);
    if (status != DN_OK) {
        return status;
    }
    report_parts(f, f->n_parts);
    return DN_OK;
}

/* ---- machines ---- */
/* number[i] ← the index of point i among the support vectors; UINT32_MAX if point i is not a
 * support vector. Returns the number of support vectors. */
static size_t number_support(const svm_fit *f, uint32_t *number) {
    size_t n = 0;
    memset(number, 0, f->problem->points.n * sizeof *number);
    for (size_t p = 0; p < f->n_parts; p++) {
        for (size_t k = 0; k < f->parts[p].n; k++) {
            if (f->parts[p].alpha[k] > 0) {
                number[f->parts[p].list[k]] = 1;
            }
        }
    }
    for (size_t i = 0; i < f->problem->points.n; i++) {
        number[i] = number[i] ? (uint32_t)n++ : UINT32_MAX;
    }
    return n;
}

/* Comparison for qsort: ascending indices of support vectors. */
static int by_index(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t count_support(const svm_part *part) {
    size_t n = 0;
    for (size_t k = 0; k < part->n; k++) {
        n += part->alpha[k] > 0;
    }
    return n;
}

/* Creates the machine of a part. coef: [n_support] working memory. */
static dn_status make_kernel_machine(const svm_part *part, const uint32_t *number,
                                     dni_support *support, double *coef, dn_machine **out,
                                     dn_error *err) {
    size_t n = count_support(part);
    dn_status status = dni_kernel_machine_new(support, n, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_kernel_machine *machine = dni_kernel_machine_of(*out);
    n = 0;
    for (size_t k = 0; k < part->n; k++) {
        if (!(part->alpha[k] > 0)) {
            continue;
        }
        const uint32_t i = number[part->list[k]];
        machine->index[n++] = i;
        coef[i] = (k < part->n_negative ? -1 : 1) * part->alpha[k];
    }
    qsort(machine->index, n, sizeof *machine->index, by_index);
    for (size_t k = 0; k < n; k++) {
        machine->coef[k] = coef[machine->index[k]];
    }
    machine->w0 = part->solution.w0;
    machine->norm = part->solution.norm;
    return DN_OK;
}

struct support_lists {
    double *coef;     /* [n] coefficient of each support vector */
    uint32_t *number; /* [n] see number_support */
};

static void support_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct support_lists *lists = work;
    lists->coef = dni_layout_doubles(layout, n);
    lists->number = dni_layout_array(layout, n, sizeof *lists->number);
}

static dn_status make_kernel_machines(const svm_fit *f, dn_machine **machines, size_t *out_support,
                                      dn_error *err) {
    struct support_lists lists;
    dni_support *support = NULL;
    void *memory;
    dn_status status = dni_layout_take(f->run, support_layout, &f->problem->points.n, &lists,
                                       "the numbers of the support vectors", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t n = number_support(f, lists.number);
    status = dni_prepared_support(f->problem, lists.number, n, &support, err);
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        status =
            make_kernel_machine(&f->parts[i], lists.number, support, lists.coef, &machines[i], err);
    }
    *out_support = n;
    dni_support_unref(support);
    dn_run_free(f->run, memory);
    return status;
}

static void add_row(dn_matrix x, double s, double *w) {
    const size_t first = x.kind == DN_CSR ? x.row_start[0] : 0,
                 n = x.kind == DN_CSR ? x.row_start[1] - first : x.n_cols;
    for (size_t e = 0; e < n; e++) {
        w[x.kind == DN_CSR ? x.cols[first + e] : e] += s * x.values[first + e];
    }
}

/* For a linear kernel: creates linear machines with w = Σ c_i x_i, and sets margin_raw of the
 * solutions. */
static dn_status make_linear_machines(const svm_fit *f, dn_machine **machines, dn_error *err) {
    const size_t d = f->input->rows->n_cols;
    for (size_t i = 0; i < f->n_parts; i++) {
        svm_part *part = &f->parts[i];
        dn_status status = dni_linear_machine_new(2, d, false, &machines[i], err);
        if (status != DN_OK) {
            return status;
        }
        dni_linear_machine *machine = dni_linear_machine_of(machines[i]);
        for (size_t k = 0; k < part->n; k++) {
            const double coef = (k < part->n_negative ? -1 : 1) * part->alpha[k];
            if (coef != 0) {
                add_row(dni_svm_point(&f->problem->points, part->list[k]), coef, machine->w);
            }
        }
        machine->w0[0] = part->solution.w0;
        part->solution.margin_raw = dni_svm_raw_margin(machine->w, f->input->scale, d);
    }
    return DN_OK;
}

static dn_status make_machines(const svm_fit *f, dn_machine **machines, size_t *out_n_support,
                               dn_error *err) {
    const dn_kernel *kernel = &f->problem->kernel;
    *out_n_support = 0;
    return kernel->type == DN_KERNEL_LINEAR && !kernel->normalize
               ? make_linear_machines(f, machines, err)
               : make_kernel_machines(f, machines, out_n_support, err);
}

/* ---- support vectors by row ---- */
/* Stores the support vectors of a part, by row, in its machine. */
static dn_status set_duals(const svm_fit *f, const svm_part *part, const dni_point_rows *rows,
                           dn_machine *machine, dn_error *err) {
    dn_dual *items;
    size_t n = 0;
    dn_status status =
        dni_machine_new_duals(machine, (size_t)part->solution.n_support, &items, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < part->n; k++) {
        if (!(part->alpha[k] > 0)) {
            continue;
        }
        const double t = k < part->n_negative ? -1 : 1,
                     slack = fmax(0, 1 - t * value_of(f, part, k));
        const bool bounded = is_bounded(f, part, k);
        const dn_dual dual = {.coef = t * part->alpha[k],
                              .slack = slack,
                              .bounded = bounded,
                              .inside = bounded && slack > slack_tolerance(&part->solution)};
        n += dni_point_rows_spread(rows, &f->problem->points, part->list[k], dual, items + n);
    }
    dni_point_rows_sort(items, n);
    return DN_OK;
}

static dn_status omit_duals(const svm_fit *f, dn_machine **machines, dn_error *err) {
    dn_dual *items;
    for (size_t i = 0; i < f->n_parts; i++) {
        dn_status status = dni_machine_new_duals(machines[i], 0, &items, err);
        if (status != DN_OK) {
            return status;
        }
        dni_machine_omit_duals(machines[i]);
    }
    return DN_OK;
}

static dn_status make_duals(const svm_fit *f, dn_machine **machines, dn_error *err) {
    const size_t n_rows = f->input->rows->n_rows;
    dni_point_rows rows;
    void *memory;
    double n_support = 0;
    for (size_t i = 0; i < f->n_parts; i++) {
        n_support += f->parts[i].solution.n_support;
    }
    if (n_support > DN_MAX_DUALS) {
        return omit_duals(f, machines, err);
    }
    dn_status status = dni_layout_take(f->run, dni_point_rows_layout, &n_rows, &rows,
                                       "the rows of the support vectors", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    dni_point_rows_list(&f->problem->points, n_rows, &rows);
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        status = set_duals(f, &f->parts[i], &rows, machines[i], err);
    }
    dn_run_free(f->run, memory);
    return status;
}

/* ---- reports ---- */
static void write_report(const svm_fit *f, const svm_part *part, size_t n_support,
                         dn_report *report) {
    dn_report fresh = {.converged = part->converged,
                       .stop_reason = part->stop_reason,
                       .iterations = (size_t)part->iterations,
                       .objective = part->solution.primal,
                       .gradient_norm = (double)NAN};
    dn_report_text(&fresh, "solver", "smo");
    dni_report_tolerance(&fresh, f->options->tolerance, part->solution.kkt_violation);
    dni_svm_report(&part->solution, f->options->C, dni_kernel_advice(&f->problem->kernel), &fresh);
    dni_prepared_report(f->problem, &fresh);
    dn_report_number(&fresh, "distinct_rows", (double)part->n);
    dn_report_number(&fresh, "distinct_support_vectors", (double)count_support(part));
    if (f->n_parts > 1) {
        dn_report_number(&fresh, "shared_support_vectors", (double)n_support);
    }
    if (!f->problem->definite) {
        dn_report_number(&fresh, "least_eigenvalue", f->problem->least_eigenvalue);
        dn_report_warn(
            &fresh, DN_WARNING_KERNEL_INDEFINITE,
            "the kernel is not positive semidefinite on these rows (least eigenvalue about %.3g): "
            "the solution satisfies the optimality conditions, but is not certified to be optimal; "
            "there is no duality gap",
            f->problem->least_eigenvalue);
    }
    if (!part->converged) {
        dn_report_warn(&fresh, DN_WARNING_NOT_CONVERGED,
                       "after %.0f steps the optimality conditions are violated by %.3g (tolerance "
                       "%g)%s, a smaller C%s",
                       part->iterations, part->solution.kkt_violation, f->options->tolerance,
                       dni_prepared_remedy(part->stop_reason),
                       dni_kernel_takes_scale(&f->problem->kernel) ? ", or features.standardize"
                                                                   : "");
    }
    *report = fresh;
}

/* Creates, delivers and frees one report after another, because a report is large and there may be
 * thousands of machines. */
static dn_status deliver_reports(const svm_fit *f, size_t n_support,
                                 const dn_report_receiver *receiver, dn_error *err) {
    for (size_t i = 0; i < f->n_parts; i++) {
        dn_report report = {0};
        write_report(f, &f->parts[i], n_support, &report);
        dn_status status = receiver->receive(receiver->ctx, i, &report, err);
        dn_report_done(&report);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* ---- the fit ---- */
static dn_status check_bounds(const svm_fit *f, dn_error *err) {
    const dni_svm_points *points = &f->problem->points;
    for (size_t i = 0; !is_hard(f) && i < points->n; i++) {
        if (!isfinite(f->options->C * points->weight[i])) {
            return dn_error_set(err, DN_ERR_NUMERIC,
                                "C times the weight of a row overflows (C is %g, the weight %g)",
                                f->options->C, points->weight[i]);
        }
    }
    return DN_OK;
}

static void free_fit(svm_fit *f) {
    for (size_t i = 0; i < f->n_parts; i++) {
        dn_run_free(f->run, f->parts[i].memory);
    }
    dn_run_free(f->run, f->parts);
    dni_prepared_release(f->problem);
}

dn_status dni_svm_kernel_fit(const dn_fit_input *input, dn_decision decision,
                             const dni_svm_options *options, const dn_run *run,
                             dn_machine **machines, const dn_report_receiver *receiver,
                             dn_error *err) {
    svm_fit f = {.input = input, .options = options, .run = run, .decision = decision};
    size_t n_support = 0;
    dn_status status = dni_prepared_get(input, options->cache_bytes, run, &f.problem, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_bounds(&f, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = make_parts(&f, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = train(&f, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    keep_duals(&f);
    dni_prepared_drop_values(f.problem);
    status = make_machines(&f, machines, &n_support, err);
    if (status == DN_OK) {
        status = make_duals(&f, machines, err);
    }
    if (status == DN_OK) {
        status = deliver_reports(&f, n_support, receiver, err);
    }
    for (size_t i = 0; i < f.n_parts && status != DN_OK; i++) {
        dn_machine_free(machines[i]);
        machines[i] = NULL;
    }
cleanup:
    free_fit(&f);
    return status;
}

double dni_svm_kernel_memory(const dni_svm_options *options, const dn_kernel *kernel,
                             dn_decision decision, const dn_fit_shape *shape) {
    const size_t K = shape->n_classes, n = K > 2 ? dn_decision_n_machines(decision, K) : 1;
    const bool pairs =
        decision == DN_DECISION_ONE_VS_ONE || decision == DN_DECISION_ONE_VS_ONE_STRICT;
    const size_t n_per_row = n > 1 && pairs ? K - 1 : n;
    svm_part part;
    struct dual dual;
    struct support_lists lists;
    dni_point_rows rows;
    const dni_kernel_machines machines = {
        .n = n,
        .n_per_row = n_per_row,
        .n_parallel = n < shape->n_slots ? n : shape->n_slots,
        .dual_bytes = (double)n * (sizeof(svm_part) + PART_PADDING) +
                      (double)n_per_row * dni_layout_bytes(part_layout, &shape->n_rows, &part),
        .solver_bytes = dni_layout_bytes(dual_layout, &shape->n_rows, &dual),
        .result_bytes = fmax(dni_layout_bytes(support_layout, &shape->n_rows, &lists),
                             dni_layout_bytes(dni_point_rows_layout, &shape->n_rows, &rows))};
    return dni_prepared_memory(kernel, shape, options->cache_bytes, &machines);
}
