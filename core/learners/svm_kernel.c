/* Machines with kernels: points once, a Gram matrix where it fits, the machines of a decision over them in the run's threads, and the support vectors that they share. */
#include "learners/svm_kernel.h"
#include "data/tasks.h"
#include "learners/kernel_fit.h"
#include "learners/multiclass.h"
#include "learners/smo.h"
#include "learners/svm_points.h"
#include "predict/machine.h"
#include "predict/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINE 1e-9       /* what is aimed at when kernel values are held in double */
#define VANISHING 1e-14 /* a squared distance of hulls beside the greatest K(x, x) that is none */

/* One machine while it is trained. */
struct part {
    size_t negative, positive; /* classes; negative SIZE_MAX: all others */
    uint32_t *list;            /* [n] points, the negative ones first */
    size_t n, n_negative;
    double *alpha, *g; /* [n] */
    double scale;      /* of α: 1, hard margin 2/distance² */
    dni_svm_solution solution;
    double iterations;
    bool converged;
    const char *stop_reason;
};

struct fit {
    const dn_fit_input *input;
    const dni_svm_options *options;
    const dn_run *run;
    dn_decision decision;
    dn_kernel kernel;
    dni_kernel_fit prepared;
    dni_svm_points points;
    dni_gram gram;
    struct part *parts; /* [n_parts] */
    size_t n_parts;
    bool definite; /* the kernel is positive semidefinite, as far as one can tell */
    double least;  /* its least eigenvalue, as far as it was looked for; NaN: it was not */
};

static bool hard(const struct fit *f) {
    return isinf(f->options->C);
}

/* ---- the parts ---------------------------------------------------------------------------------------------------------------------------- */
static void add_class(const struct fit *f, struct part *part, size_t k) {
    for (size_t i = f->points.start[k]; i < f->points.start[k + 1]; i++)
        part->list[part->n++] = (uint32_t)i;
}

static dn_status make_part(const struct fit *f, size_t i, struct part *part, dn_error *err) {
    const size_t K = f->points.n_classes;
    void *list, *numbers;
    dn_decision_machine(f->decision, K, i, &part->negative, &part->positive);
    if (part->positive == SIZE_MAX) {
        part->negative = 0;
        part->positive = 1;
    }
    size_t n = f->points.n;
    if (part->negative != SIZE_MAX)
        n = f->points.start[part->negative + 1] - f->points.start[part->negative] + f->points.start[part->positive + 1] -
            f->points.start[part->positive];
    dn_status status = dn_run_alloc(f->run, n + 1, sizeof *part->list, "the rows of a machine", &list, err);
    if (status != DN_OK)
        return status;
    part->list = list;
    for (size_t k = 0; k < K; k++)
        if (k == part->negative || (part->negative == SIZE_MAX && k != part->positive))
            add_class(f, part, k);
    part->n_negative = part->n;
    add_class(f, part, part->positive);
    status = dn_run_alloc(f->run, 2 * n + 1, sizeof(double), "the dual variables of a machine", &numbers, err);
    if (status != DN_OK)
        return status;
    part->alpha = numbers;
    part->g = part->alpha + n;
    return DN_OK;
}

static dn_status make_parts(struct fit *f, dn_error *err) {
    void *memory;
    f->n_parts = dn_decision_n_machines(f->decision, f->points.n_classes);
    dn_status status = dn_run_alloc(f->run, f->n_parts, sizeof *f->parts, "the machines", &memory, err);
    if (status != DN_OK)
        return status;
    f->parts = memory;
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++)
        status = make_part(f, i, &f->parts[i], err);
    return status;
}

/* ---- one machine's dual ------------------------------------------------------------------------------------------------------------------- */
struct listening {
    const struct fit *fit;
    double first; /* the violation that it began with */
    double fraction;
};

/* How far it is, by the logarithm of the violation. */
static void report(void *ctx, double iterations, double violation, double objective) {
    struct listening *l = ctx;
    const double aim = l->fit->options->tolerance;
    if (l->first == 0)
        l->first = fmax(violation, 2 * aim);
    const double fraction = log(l->first / fmax(violation, aim)) / log(l->first / aim);
    l->fraction = fmin(0.99, fmax(l->fraction, fraction));
    const dn_progress progress = {.iteration = (size_t)(iterations / 1000) + 1,
                                  .max_iterations = l->fit->options->max_iterations,
                                  .fraction = l->fraction,
                                  .loss = objective,
                                  .gradient_norm = violation,
                                  .train_error = (double)NAN};
    if (l->fit->run->progress != NULL)
        l->fit->run->progress(l->fit->run, &progress);
}

static double upper_of(const struct fit *f, const struct part *part, size_t k) {
    return f->options->C * f->points.weight[part->list[k]];
}

/* Boxes, labels and the linear part; hulls begin in the first point of each. */
static void state_problem(const struct fit *f, struct part *part, signed char *t, double *upper, double *linear) {
    for (size_t k = 0; k < part->n; k++) {
        t[k] = k < part->n_negative ? -1 : 1;
        upper[k] = upper_of(f, part, k);
        linear[k] = hard(f) ? 0 : t[k];
        part->alpha[k] = hard(f) && (k == 0 || k == part->n_negative) ? 1 : 0;
    }
}

static double greatest_self(const struct fit *f, const struct part *part, const dni_smo_rows *rows) {
    double most = 0;
    (void)f;
    for (size_t k = 0; k < part->n; k++)
        most = fmax(most, dni_smo_rows_self(rows, k));
    return most;
}

static dn_status solve(const struct fit *f, struct part *part, const dn_run *run, dni_smo_rows *rows, bool listens, dn_error *err) {
    void *numbers = NULL, *signs = NULL;
    const size_t n = part->n;
    struct listening listening = {.fit = f};
    const dni_smo_listener listener = {report, &listening};
    dn_status status = dn_run_alloc(run, 2 * n + 1, sizeof(double), "the boxes of the dual", &numbers, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, n + 1, 1, "the signs of the dual", &signs, err);
    if (status == DN_OK) {
        double *upper = numbers, *linear = upper + n;
        state_problem(f, part, signs, upper, linear);
        dni_smo smo = {.n = n,
                       .t = signs,
                       .upper = upper,
                       .linear = linear,
                       .n_groups = hard(f)                                 ? 2
                                   : f->options->intercept == DNI_SVM_NONE ? 0
                                                                           : 1,
                       .group_end = {hard(f) ? part->n_negative : n, n},
                       .relative = hard(f),
                       .unit = 1,
                       .vanishes = hard(f) ? VANISHING * greatest_self(f, part, rows) / 2 : 0,
                       .tolerance = f->options->tolerance,
                       .fine = fmin(FINE, f->options->tolerance),
                       .max_iterations = 1000 * (double)f->options->max_iterations,
                       .alpha = part->alpha,
                       .g = part->g};
        status = dni_smo_solve(&smo, rows, run, listens ? &listener : NULL, err);
        part->iterations = smo.iterations;
        part->converged = smo.converged;
        part->stop_reason = smo.converged ? "tolerance" : smo.iterations >= smo.max_iterations ? "max_iterations" : "no_progress";
        part->solution = (dni_svm_solution){.kkt_violation = smo.violation};
        if (status == DN_OK && hard(f) && !(smo.objective > smo.vanishes))
            status =
                dn_error_set(err, DN_ERR_DATA,
                             "the classes cannot be separated in the kernel's space (their hulls touch): give a C, or a narrower kernel");
    }
    dn_run_free(run, signs);
    dn_run_free(run, numbers);
    return status;
}

/* ---- what is said of it ------------------------------------------------------------------------------------------------------------------- */
static bool is_free(const struct fit *f, const struct part *part, size_t k) {
    return part->alpha[k] > 0 && part->alpha[k] < upper_of(f, part, k);
}

/* w0 of the free support vectors; without any the middle of what the others allow. */
static void find_intercept(const struct fit *f, const struct part *part, dni_svm_solution *s) {
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

/* Between the hulls, scaled so that f is ±1 on them. g is −⟨p₊ − p₋, x⟩. */
static void scale_hulls(struct part *part, dni_svm_solution *s) {
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
    for (size_t k = 0; k < part->n; k++)
        part->alpha[k] *= part->scale;
}

/* f of point k. */
static double value_of(const struct fit *f, const struct part *part, size_t k) {
    const double t = k < part->n_negative ? -1 : 1;
    return (hard(f) ? -part->scale * part->g[k] : t - part->g[k]) + part->solution.w0;
}

static void count_slack(const struct fit *f, const struct part *part, dni_svm_solution *s) {
    for (size_t k = 0; k < part->n; k++) {
        const double t = k < part->n_negative ? -1 : 1, count = f->points.count[part->list[k]], v = f->points.weight[part->list[k]];
        const double margin = t * value_of(f, part, k), slack = fmax(0, 1 - margin);
        const bool bounded = !hard(f) && part->alpha[k] >= upper_of(f, part, k);
        s->n_support += part->alpha[k] > 0 ? count : 0;
        s->n_bounded += bounded ? count : 0;
        s->slack_sum += hard(f) ? 0 : v * slack;
        s->n_slack_positive += bounded && slack > 1e-9 ? count : 0;
        s->n_slack_over_one += margin < 0 ? count : 0;
    }
}

static void describe(const struct fit *f, struct part *part) {
    dni_svm_solution *s = &part->solution;
    double square = 0, sum = 0, least = (double)INFINITY;
    part->scale = 1;
    if (hard(f)) {
        scale_hulls(part, s);
    } else {
        for (size_t k = 0; k < part->n; k++) {
            const double t = k < part->n_negative ? -1 : 1;
            square += t * part->alpha[k] * (t - part->g[k]);
            sum += part->alpha[k];
        }
        if (f->options->intercept == DNI_SVM_FREE)
            find_intercept(f, part, s);
        s->norm = square >= 0 ? sqrt(square) : (double)NAN;
        s->dual = sum - 0.5 * square;
    }
    count_slack(f, part, s);
    for (size_t k = 0; k < part->n; k++)
        least = fmin(least, (k < part->n_negative ? -1 : 1) * value_of(f, part, k));
    s->primal =
        hard(f) ? (least > 0 ? 0.5 * s->norm * s->norm / (least * least) : (double)INFINITY) : 0.5 * square + f->options->C * s->slack_sum;
    s->dual = f->definite ? s->dual : (double)NAN;
    s->gap = (s->primal - s->dual) / fmax(fabs(s->primal), 1e-300);
    s->certified = s->gap <= 10 * f->options->tolerance; /* which is of t f, and every row may use it up */
    s->margin = 1 / s->norm;
    s->margin_raw = (double)NAN;
}

/* ---- training the parts ------------------------------------------------------------------------------------------------------------------- */
/* Kept kernel rows of each of the machines that are trained at once. */
static double cache_of(const struct fit *f) {
    const size_t at_once = f->n_parts < f->run->n_slots ? f->n_parts : f->run->n_slots;
    return f->options->cache_bytes / (double)at_once;
}

static dn_status train_part(const struct fit *f, size_t i, const dn_run *run, bool listens, dn_error *err) {
    struct part *part = &f->parts[i];
    dni_smo_rows *rows = NULL;
    dn_status status = dni_smo_rows_new(f->points.points, &f->gram, part->list, part->n, cache_of(f), run, &rows, err);
    if (status == DN_OK)
        status = solve(f, part, run, rows, listens, err);
    if (status == DN_OK)
        describe(f, part);
    dni_smo_rows_free(rows);
    return status;
}

static dn_status train_task(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct fit *f = arg;
    (void)slot;
    const dn_run run = dni_task_run(f->run);
    return train_part(f, i, &run, false, err);
}

static dn_status train(struct fit *f, dn_error *err) {
    return f->n_parts == 1 ? train_part(f, 0, f->run, true, err) : dni_tasks_run(f->run, f->n_parts, train_task, f, err);
}

/* ---- machines ----------------------------------------------------------------------------------------------------------------------------- */
/* number[i] ← which support vector point i is, SIZE_MAX as UINT32_MAX: none. Returns how many. */
static size_t number_support(const struct fit *f, uint32_t *number) {
    size_t n = 0;
    memset(number, 0, f->points.n * sizeof *number);
    for (size_t p = 0; p < f->n_parts; p++)
        for (size_t k = 0; k < f->parts[p].n; k++)
            if (f->parts[p].alpha[k] > 0)
                number[f->parts[p].list[k]] = 1;
    for (size_t i = 0; i < f->points.n; i++)
        number[i] = number[i] ? (uint32_t)n++ : UINT32_MAX;
    return n;
}

/* By point: those of a part stand class by class. */
static int by_index(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static dn_status make_machine(const struct fit *f, const struct part *part, const uint32_t *number, dn_support *support, dn_machine *out,
                              dn_error *err) {
    size_t n = 0;
    for (size_t k = 0; k < part->n; k++)
        n += part->alpha[k] > 0;
    dn_status status = dni_kernel_machine_new(support, n, out, err);
    if (status != DN_OK)
        return status;
    dn_kernel_machine *machine = out->kernel;
    void *memory;
    status = dn_run_alloc(f->run, f->points.n + 1, sizeof(double), "the coefficients of a machine", &memory, err);
    if (status != DN_OK) {
        dn_machine_done(out);
        return status;
    }
    double *coef = memory; /* by support vector */
    n = 0;
    for (size_t k = 0; k < part->n; k++) {
        if (!(part->alpha[k] > 0))
            continue;
        const uint32_t i = number[part->list[k]];
        machine->index[n++] = i;
        coef[i] = (k < part->n_negative ? -1 : 1) * part->alpha[k];
    }
    qsort(machine->index, n, sizeof *machine->index, by_index);
    for (size_t k = 0; k < n; k++)
        machine->coef[k] = coef[machine->index[k]];
    machine->w0 = part->solution.w0;
    machine->norm = part->solution.norm;
    dn_run_free(f->run, memory);
    return DN_OK;
}

static dn_status make_machines(const struct fit *f, dn_machine *machines, size_t *out_support, dn_error *err) {
    void *memory;
    dn_support *support = NULL;
    dn_status status = dn_run_alloc(f->run, f->points.n + 1, sizeof(uint32_t), "the numbers of the support vectors", &memory, err);
    if (status != DN_OK)
        return status;
    *out_support = number_support(f, memory);
    status = dni_kernel_fit_support(&f->kernel, &f->points, memory, *out_support, &support, err);
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++)
        status = make_machine(f, &f->parts[i], memory, support, &machines[i], err);
    dni_support_unref(support);
    dn_run_free(f->run, memory);
    for (size_t i = 0; i < f->n_parts && status != DN_OK; i++)
        dn_machine_done(&machines[i]);
    return status;
}

/* A linear kernel's machine is its weights: Σ c_i x_i. */
static dn_status make_linear(const struct fit *f, dn_machine *machines, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; i < f->n_parts && status == DN_OK; i++) {
        const struct part *part = &f->parts[i];
        status = dni_machine_new(DN_MACHINE_LINEAR, 2, f->input->rows->n_cols, DN_COVARIANCE_SHARED, false, &machines[i], err);
        for (size_t k = 0; status == DN_OK && k < part->n; k++) {
            const dn_matrix x = dni_svm_point(&f->points, part->list[k]);
            const double coef = (k < part->n_negative ? -1 : 1) * part->alpha[k];
            const size_t first = x.kind == DN_CSR ? x.row_start[0] : 0, n = x.kind == DN_CSR ? x.row_start[1] - first : x.n_cols;
            for (size_t e = 0; coef != 0 && e < n; e++)
                machines[i].w[x.kind == DN_CSR ? x.cols[first + e] : e] += coef * x.values[first + e];
        }
        if (status == DN_OK)
            machines[i].w0[0] = part->solution.w0;
    }
    for (size_t i = 0; i < f->n_parts && status != DN_OK; i++)
        dn_machine_done(&machines[i]);
    return status;
}

/* ---- reports ------------------------------------------------------------------------------------------------------------------------------ */
static void write_report(const struct fit *f, const struct part *part, size_t n_support, dn_report *report_out) {
    dn_report fresh = {.converged = part->converged,
                       .stop_reason = part->stop_reason,
                       .iterations = (size_t)part->iterations,
                       .objective = part->solution.primal,
                       .gradient_norm = (double)NAN};
    dni_svm_report(&part->solution, &fresh);
    dni_kernel_fit_report(&f->kernel, &fresh);
    dn_report_number(&fresh, "distinct_rows", (double)part->n);
    if (f->n_parts > 1)
        dn_report_number(&fresh, "shared_support_vectors", (double)n_support);
    if (!f->definite)
        dn_report_number(&fresh, "least_eigenvalue", f->least);
    if (!f->definite)
        dn_report_warn(
            &fresh,
            "the kernel is not positive semidefinite on these rows (least eigenvalue about %.3g): the solution satisfies the optimality "
            "conditions, but nothing certifies that it is the best; there is no duality gap",
            f->least);
    if (!part->converged)
        dn_report_warn(
            &fresh,
            "after %.0f steps the optimality conditions are violated by %.3g (tolerance %g): try more max_iterations, a smaller C, or "
            "features.standardize",
            part->iterations, part->solution.kkt_violation, f->options->tolerance);
    *report_out = fresh;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------------------------- */
static dn_status prepare(struct fit *f, dn_error *err) {
    dn_status status =
        dni_kernel_fit_prepare(f->input, f->options->cache_bytes, f->run, &f->prepared, &f->kernel, &f->points, &f->gram, err);
    if (status == DN_OK)
        status = dni_kernel_fit_definite(&f->points, &f->kernel, f->run, &f->definite, &f->least, err);
    return status == DN_OK ? make_parts(f, err) : status;
}

static void done(struct fit *f) {
    for (size_t i = 0; f->parts != NULL && i < f->n_parts; i++) {
        dn_run_free(f->run, f->parts[i].list);
        dn_run_free(f->run, f->parts[i].alpha);
    }
    dn_run_free(f->run, f->parts);
    dni_kernel_fit_done(&f->prepared);
    dni_svm_points_done(&f->points);
}

dn_status dni_svm_kernel_fit(const dn_fit_input *input, dn_decision decision, const dni_svm_options *options, const dn_run *run,
                             dn_machine *machines, dn_report *reports, dn_error *err) {
    struct fit f = {.input = input, .options = options, .run = run, .decision = decision};
    size_t n_support = 0;
    dn_status status = prepare(&f, err);
    if (status == DN_OK)
        status = train(&f, err);
    if (status == DN_OK)
        status = f.kernel.type == DN_KERNEL_LINEAR && !f.kernel.normalize ? make_linear(&f, machines, err)
                                                                          : make_machines(&f, machines, &n_support, err);
    for (size_t i = 0; i < f.n_parts && status == DN_OK; i++)
        write_report(&f, &f.parts[i], n_support, &reports[i]);
    done(&f);
    return status;
}

double dni_svm_kernel_memory(const dni_svm_options *options, const dn_kernel *kernel, size_t n_rows, size_t n_classes, size_t n_slots) {
    const double n = (double)n_rows, machines = fmax(1, (double)n_classes - 1);
    /* every row is in n_classes − 1 pairs, or in n_classes machines against the rest */
    return dni_kernel_fit_memory(kernel, n_rows, options->cache_bytes) + machines * n * (sizeof(uint32_t) + 2 * sizeof(double)) +
           (double)n_slots * (dni_smo_memory(n_rows) + 40 * n) + dni_smo_rows_memory(n_rows, fmin(options->cache_bytes, 4 * n * n));
}
