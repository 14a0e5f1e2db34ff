/* One machine's dual: its boxes, its solution by sequential minimal optimisation, and what is said of that. */
#include "learners/svm/kernel/svm_part.h"
#include "learners/shared/smo/smo.h"

#define FINE 1e-12 /* what is aimed at when kernel values are held in double */
#define VANISHING                                                                                  \
    1e-14 /* a squared distance of hulls beside the greatest K(x, x) that is none: sums of kernel values in double tell no smaller one from rounding */

struct listening {
    const dni_svm_fit *fit;
    double first; /* the violation that it began with */
    double fraction;
};

/* How far it is, by the logarithm of the violation. */
static void report(void *ctx, double iterations, double violation, double objective) {
    struct listening *l = ctx;
    const double aim = l->fit->options->tolerance;
    if (l->first == 0) {
        l->first = fmax(violation, 2 * aim);
    }
    const double fraction = log(l->first / fmax(violation, aim)) / log(l->first / aim);
    l->fraction = fmin(0.99, fmax(l->fraction, fraction));
    const size_t most = l->fit->options->max_iterations;
    const dn_progress progress = {.iteration =
                                      (size_t)fmin(floor(iterations / 1000) + 1, (double)most),
                                  .max_iterations = most,
                                  .fraction = l->fraction,
                                  .loss = objective,
                                  .gradient_norm = violation,
                                  .train_error = (double)NAN};
    if (l->fit->run->progress != NULL) {
        l->fit->run->progress(l->fit->run, &progress);
    }
}

static double upper_of(const dni_svm_fit *f, const dni_svm_part *part, size_t k) {
    return f->options->C * f->points.weight[part->list[k]];
}

/* Boxes, labels and the linear part; hulls begin in the first point of each. */
static void state_problem(const dni_svm_fit *f, dni_svm_part *part, signed char *t, double *upper,
                          double *linear) {
    for (size_t k = 0; k < part->n; k++) {
        t[k] = k < part->n_negative ? -1 : 1;
        upper[k] = upper_of(f, part, k);
        linear[k] = dni_svm_is_hard(f) ? 0 : t[k];
        part->alpha[k] = dni_svm_is_hard(f) && (k == 0 || k == part->n_negative) ? 1 : 0;
    }
}

static double greatest_self(const dni_svm_fit *f, const dni_svm_part *part,
                            const dni_smo_rows *rows) {
    double most = 0;
    (void)f;
    for (size_t k = 0; k < part->n; k++) {
        most = fmax(most, dni_smo_rows_self(rows, k));
    }
    return most;
}

static dn_status solve(const dni_svm_fit *f, dni_svm_part *part, const dn_run *run,
                       dni_smo_rows *rows, bool listens, dn_error *err) {
    void *numbers = NULL, *signs = NULL;
    const size_t n = part->n;
    struct listening listening = {.fit = f};
    const dni_smo_listener listener = {report, &listening};
    dn_status status =
        dn_run_alloc(run, 2 * n + 1, sizeof(double), "the boxes of the dual", &numbers, err);
    if (status == DN_OK) {
        status = dn_run_alloc(run, n + 1, 1, "the signs of the dual", &signs, err);
    }
    if (status == DN_OK) {
        double *upper = numbers, *linear = upper + n;
        state_problem(f, part, signs, upper, linear);
        dni_smo smo = {.n = n,
                       .t = signs,
                       .upper = upper,
                       .linear = linear,
                       .n_groups = dni_svm_is_hard(f)                      ? 2
                                   : f->options->intercept == DNI_SVM_NONE ? 0
                                                                           : 1,
                       .group_end = {dni_svm_is_hard(f) ? part->n_negative : n, n},
                       .relative = dni_svm_is_hard(f),
                       .unit = 1,
                       .vanishes =
                           dni_svm_is_hard(f) ? VANISHING * greatest_self(f, part, rows) / 2 : 0,
                       .tolerance = f->options->tolerance,
                       .fine =
                           f->definite ? fmin(FINE, f->options->tolerance) : f->options->tolerance,
                       .max_iterations = 1000 * (double)f->options->max_iterations,
                       .alpha = part->alpha,
                       .g = part->g};
        status = dni_smo_solve(&smo, rows, run, listens ? &listener : NULL, err);
        part->iterations = smo.iterations;
        part->converged = smo.converged;
        part->stop_reason = smo.converged                          ? DN_STOP_TOLERANCE
                            : smo.iterations >= smo.max_iterations ? DN_STOP_MAX_ITERATIONS
                                                                   : DN_STOP_NO_PROGRESS;
        part->solution = (dni_svm_solution){.kkt_violation = smo.violation};
        if (status == DN_OK && dni_svm_is_hard(f) && !(smo.objective > smo.vanishes)) {
            status = dn_error_set(err, DN_ERR_DATA,
                                  "the classes cannot be separated in the kernel's space (their "
                                  "hulls touch): give a C, or a narrower kernel");
        }
    }
    dn_run_free(run, signs);
    dn_run_free(run, numbers);
    return status;
}

/* ---- what is said of it ---- */
static bool is_free(const dni_svm_fit *f, const dni_svm_part *part, size_t k) {
    return part->alpha[k] > 0 && part->alpha[k] < upper_of(f, part, k);
}

/* w0 of the free support vectors; without any the middle of what the others allow. */
static void find_intercept(const dni_svm_fit *f, const dni_svm_part *part, dni_svm_solution *s) {
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
static void scale_hulls(dni_svm_part *part, dni_svm_solution *s) {
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

/* f of point k. */
static double value_of(const dni_svm_fit *f, const dni_svm_part *part, size_t k) {
    const double t = k < part->n_negative ? -1 : 1;
    return (dni_svm_is_hard(f) ? -part->scale * part->g[k] : t - part->g[k]) + part->solution.w0;
}

static void count_slack(const dni_svm_fit *f, const dni_svm_part *part, dni_svm_solution *s) {
    const double exact_to = fmax(1e-9, s->kkt_violation);
    for (size_t k = 0; k < part->n; k++) {
        const double t = k < part->n_negative ? -1 : 1, count = f->points.count[part->list[k]],
                     v = f->points.weight[part->list[k]];
        const double margin = t * value_of(f, part, k), slack = fmax(0, 1 - margin);
        const bool bounded = !dni_svm_is_hard(f) && part->alpha[k] >= upper_of(f, part, k);
        s->n_support += part->alpha[k] > 0 ? count : 0;
        s->n_bounded += bounded ? count : 0;
        s->slack_sum += dni_svm_is_hard(f) ? 0 : v * slack;
        s->n_slack_positive += bounded && slack > exact_to ? count : 0;
        s->n_slack_over_one += margin < 0 ? count : 0;
    }
}

static void describe(const dni_svm_fit *f, dni_svm_part *part) {
    dni_svm_solution *s = &part->solution;
    double square = 0, sum = 0, least = (double)INFINITY, low = least, high = -least;
    part->scale = 1;
    if (dni_svm_is_hard(f)) {
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
    s->primal = dni_svm_is_hard(f)
                    ? (least > 0 ? 0.5 * s->norm * s->norm / (least * least) : (double)INFINITY)
                    : 0.5 * square + f->options->C * s->slack_sum;
    s->dual = f->definite ? s->dual : (double)NAN;
    s->gap = (s->primal - s->dual) / fmax(fabs(s->primal), 1e-300);
    s->certified =
        s->gap <= 10 * f->options->tolerance; /* which is of t f, and every row may use it up */
    s->margin = 1 / s->norm;
    s->margin_raw = (double)NAN;
}

/* ---- a part ---- */
/* Kept kernel rows of each of the machines that are trained at once. */
static double cache_of(const dni_svm_fit *f) {
    const size_t at_once = f->n_parts < f->run->n_slots ? f->n_parts : f->run->n_slots;
    return f->options->cache_bytes / (double)at_once;
}

dn_status dni_svm_part_train(const dni_svm_fit *f, size_t i, const dn_run *run, bool listens,
                             dn_error *err) {
    dni_svm_part *part = &f->parts[i];
    dni_smo_rows *rows = NULL;
    dn_status status = dni_smo_rows_new(f->points.points, &f->gram, part->list, part->n,
                                        cache_of(f), run, &rows, err);
    if (status == DN_OK) {
        status = solve(f, part, run, rows, listens, err);
    }
    if (status == DN_OK) {
        describe(f, part);
    }
    dni_smo_rows_free(rows);
    return status;
}
