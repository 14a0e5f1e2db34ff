/* Gaussian class densities: a generative classifier by Bayes' rule.
 *
 *   p(x | C_k) = N(x; m_k, Σ_k),   g_k = ln P(C_k) + ln p(x | C_k)
 *   P(C_k | x) = exp g_k / Σ_j exp g_j
 *
 * With one covariance for all classes the square of x is the same in every g_k and cancels, which
 * leaves linear discriminants:
 *
 *   K classes    w_k = Σ⁻¹ (m_k − m),   w_k0 = −½ (m_k − m)ᵀ Σ⁻¹ (m_k − m) − w_kᵀm + ln P(C_k)
 *   two classes  w = Σ⁻¹ (m_2 − m_1),   w_0 = −½ (m_1 + m_2)ᵀ w + ln P(C_2)/P(C_1)
 *
 * where m is the mean of all rows. Textbooks have m = 0. Any m subtracts the same linear function
 * of x from every score, which changes no class and no probability. But far from the origin m_kᵀ
 * Σ⁻¹ m_k is so large that its rounding error would exceed the differences between the classes.
 *
 * Bishop, PRML, sections 4.2.1 and 4.2.2; Alpaydın, section 5.5; Hastie, Tibshirani and Friedman,
 * ESL, sections 4.3 and 4.3.1 (shrinkage). */
#include "base/layout.h"
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/report.h"
#include "learners/shared/covariance.h"
#include "learners/shared/data_errors.h"
#include "learners/shared/learner.h"
#include "learners/shared/likelihood.h"
#include "learners/shared/priors.h"
#include "learners/shared/shrinkage.h"
#include "linalg/tile.h"
#include "linalg/triangle.h"
#include "linalg/vector.h"
#include "machine/gaussian_tiles.h"
#include "machine/linear.h"

#include <math.h>
#include <string.h>

/* Least variance of a column within a class with covariance diagonal, as a share of its variance
 * over all rows: the default of the parameter variance_floor of naive Bayes. */
#define VARIANCE_FLOOR 1e-9

static const char *const covariances[] = {"shared", "full", "diagonal", NULL};
static const char *const covariance_meanings[] = {
    "one covariance matrix for all classes: linear discriminants (linear discriminant analysis)",
    "a covariance matrix for each class: quadratic discriminants (quadratic discriminant analysis)",
    "a diagonal covariance matrix for each class: its columns are uncorrelated within the class",
    NULL};
static const char *const divisors[] = {"ml", "unbiased", NULL};
static const char *const divisor_meanings[] = {
    "n, the weight of the rows: maximum likelihood",
    "n - K for a shared covariance, n_k - 1 for the covariance of a class", NULL};

static const dn_param params[] = {
    DNI_PARAM_CHOICE("covariance", "Covariance of the classes' densities.", "shared", covariances,
                     covariance_meanings),
    DNI_PARAM_CHOICE("divisor", "Divisor of the sums of squares; it does not depend on the priors.",
                     "ml", divisors, divisor_meanings),
    DNI_PARAM_SHRINKAGE,
    DNI_PARAM_PRIORS,
    DNI_PARAM_MULTICLASS(dni_multiclass_native, "native"),
    DNI_PARAM_DISCRIMINANTS,
    DNI_PARAM_DECISION,
};

static dni_covariance covariance_of(const dn_params *p) {
    const char *word = dn_params_word(p, "covariance");
    if (strcmp(word, "shared") == 0) {
        return DNI_COVARIANCE_SHARED;
    }
    return strcmp(word, "full") == 0 ? DNI_COVARIANCE_FULL : DNI_COVARIANCE_DIAGONAL;
}

static dni_scatter_kind kind_of(dni_covariance covariance) {
    if (covariance == DNI_COVARIANCE_SHARED) {
        return DNI_SCATTER_POOLED;
    }
    return covariance == DNI_COVARIANCE_FULL ? DNI_SCATTER_CLASSES : DNI_SCATTER_DIAGONAL;
}

static dn_status check(const dn_params *p, dn_error *err) {
    const char *word = dn_params_word(p, "shrinkage");
    const bool shrinks =
        word != NULL ? strcmp(word, "auto") == 0 : dn_params_number(p, "shrinkage") > 0;
    if (shrinks && covariance_of(p) == DNI_COVARIANCE_DIAGONAL) {
        return dni_parameter_error(err, "shrinkage",
                                   "parameter \"shrinkage\" applies to covariance shared and full "
                                   "only (diagonal has no correlations)");
    }
    return dni_multiclass_check(p, err);
}

struct gaussian {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    size_t n_classes, d;
    dni_scatter scatter;
    double *shrinkage; /* [n_covariances] shrinkage of each covariance matrix */
    double *work;      /* [n_scores × d] for a shared covariance; otherwise empty */
    bool *constant;    /* [d] constant columns, which are left out of the densities */
    double *floor;     /* [d] least variance of each column; covariance diagonal */
    double *pooled;    /* [d × d] covariance full: the covariance within all classes */
    double *blended;   /* [d × d] covariance full: the shrunk covariance of a class */
    bool is_pooled;    /* `pooled` is set */
    bool *raised;      /* [d] columns whose variance was raised to the floor */
};

/* ---- memory ---- */
struct gaussian_shape {
    dni_covariance covariance;
    size_t K, d;
};

static void gaussian_layout(dni_layout *layout, const void *shape, void *work) {
    const struct gaussian_shape *s = shape;
    struct gaussian *fit = work;
    const bool shared = s->covariance == DNI_COVARIANCE_SHARED,
               full = s->covariance == DNI_COVARIANCE_FULL;
    fit->shrinkage = dni_layout_doubles(layout, shared ? 1 : s->K);
    fit->work = dni_layout_matrix(layout, !shared ? 0 : s->K == 2 ? 1 : s->K, s->d);
    fit->floor = dni_layout_doubles(layout, s->d);
    fit->constant = dni_layout_array(layout, s->d, sizeof *fit->constant);
    fit->pooled = dni_layout_matrix(layout, full ? s->d : 0, s->d);
    fit->blended = dni_layout_matrix(layout, full ? s->d : 0, s->d);
    fit->raised = dni_layout_array(layout, s->d, sizeof *fit->raised);
}

/* The working memories of the scatter, of the covariances and of the likelihood are not allocated
 * at the same time: the estimate includes only the largest of the three. */
static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const struct gaussian_shape s = {covariance_of(p), shape->n_classes, shape->n_features};
    const dni_scatter_kind kind = kind_of(s.covariance);
    const double d = (double)s.d, K = (double)s.K;
    struct gaussian unused;
    const double result = dni_scatter_result_memory(kind, s.d, s.K),
                 scatter =
                     dni_scatter_memory(kind, shape->n_rows, s.d, s.K, shape->n_slots) - result,
                 later = dni_layout_bytes(gaussian_layout, &s, &unused) +
                         fmax(dni_covariance_memory(kind, s.d),
                              dni_likelihood_memory(s.covariance != DNI_COVARIANCE_DIAGONAL,
                                                    shape->n_rows, s.d, s.K, shape->n_slots));
    const double whiten = s.covariance == DNI_COVARIANCE_SHARED ? d * d
                          : s.covariance == DNI_COVARIANCE_FULL ? K * d * d
                                                                : K * d,
                 weights = s.covariance == DNI_COVARIANCE_SHARED ? K * (d + 1) : 0;
    return result + fmax(scatter, later) + 8 * (whiten + weights + K * (d + 2)); /* the machine */
}

/* ---- covariances ---- */
/* *out ← the divisor of the covariance of class k; k = SIZE_MAX: of the pooled covariance. */
static dn_status divisor_of(const struct gaussian *fit, size_t k, double *out, dn_error *err) {
    bool pooled = k == SIZE_MAX;
    double weight = pooled ? fit->scatter.weight : fit->scatter.class_weight[k],
           lost = pooled ? (double)fit->n_classes : 1;
    if (strcmp(dn_params_word(fit->input->params, "divisor"), "ml") == 0) {
        *out = weight;
        return DN_OK;
    }
    const double rows = dni_rows_per_weight(fit->input);
    *out = weight - lost / rows; /* n − lost, in units of the weights */
    if (*out > 0) {
        return DN_OK;
    }
    if (pooled) {
        return dn_error_set(err, DN_ERR_DATA,
                            "divisor unbiased needs rows whose weights sum to more than the "
                            "number of classes, %zu (got %g): choose divisor ml",
                            fit->n_classes, weight * rows);
    }
    char name[DN_FIELD_SIZE];
    dni_class_name(fit->input, k, name);
    return dn_error_set(err, DN_ERR_DATA,
                        "divisor unbiased needs rows whose weights sum to more than 1 in each "
                        "class (class \"%s\" has %g): choose divisor ml or covariance shared",
                        name, weight * rows);
}

/* If the parameter shrinkage is a word: raises the scatter of columns that are constant within
 * every class but differ between the classes to VARIANCE_FLOOR times their scatter over all rows,
 * and adds a warning with their names. Changes nothing if no column varies within the classes.
 *
 *   scatter  [d × d] lower triangle: the scatter within the classes */
static void raise_perfect(struct gaussian *fit, double *scatter) {
    const dni_scatter *s = &fit->scatter;
    const size_t d = fit->d;
    size_t n = 0, n_used = 0;
    char columns[DNI_NAMES_SIZE];
    for (size_t j = 0; j < d; j++) {
        fit->raised[j] = !fit->constant[j] && !(scatter[j * d + j] > 0);
        n += fit->raised[j];
        n_used += !fit->constant[j];
    }
    if (n == 0 || n == n_used || dn_params_word(fit->input->params, "shrinkage") == NULL) {
        return; /* dni_covariance_whiten refuses the columns */
    }
    for (size_t j = 0; j < d; j++) {
        if (fit->raised[j]) {
            scatter[j * d + j] = VARIANCE_FLOOR * dni_scatter_variance(s, j) * s->weight;
        }
    }
    dni_feature_list(fit->input, fit->raised, 3, columns);
    dn_report_warn(fit->report, DN_WARNING_VARIANCE_FLOOR,
                   "%zu columns (%s) are constant within every class but differ between the "
                   "classes: they separate the classes without error, and their variance within "
                   "the classes was raised to %g times their variance over all rows",
                   n, columns, VARIANCE_FLOOR);
}

/* pooled ← the covariance within the classes, lower triangle, if it was not computed before. If it
 * is singular, its correlations are shrunk by the estimate of Ledoit and Wolf.
 *
 *   r  [d × d] scratch */
static dn_status pool(struct gaussian *fit, double *r, dn_error *err) {
    const dni_scatter *s = &fit->scatter;
    const size_t d = fit->d;
    double log_det;
    dni_singular singular = {0};
    dni_covariance_task task = {.input = fit->input,
                                .run = fit->run,
                                .scatter = s,
                                .k = SIZE_MAX,
                                .constant = fit->constant,
                                .matrix = fit->pooled,
                                .n_rows = fit->input->rows->n_rows,
                                .singular = &singular};
    if (fit->is_pooled) {
        return DN_OK;
    }
    dn_status status = divisor_of(fit, SIZE_MAX, &task.divisor, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < d * d; i++) {
        fit->pooled[i] = 0;
        for (size_t k = 0; k < fit->n_classes; k++) {
            fit->pooled[i] += s->scatter[k * d * d + i];
        }
    }
    raise_perfect(fit, fit->pooled);
    status = dni_covariance_whiten(&task, r, &log_det, err);
    if (status == DN_OK && singular.found) {
        status = dni_shrinkage_estimate(fit->input, fit->run, s->class_mean, SIZE_MAX, fit->pooled,
                                        s->weight, &task.shrinkage, err);
    }
    const dni_singular first = singular;
    while (status == DN_OK && singular.found) {
        singular.found = false;
        status = dni_covariance_whiten(&task, r, &log_det, err);
        task.shrinkage = singular.found ? dni_shrinkage_raise(task.shrinkage) : task.shrinkage;
    }
    if (status == DN_OK && first.found) {
        dn_report_warn(fit->report, DN_WARNING_SINGULAR,
                       "%s: its correlations were shrunk by %.3g; parameter shrinkage sets another "
                       "value",
                       first.reason, task.shrinkage);
    }
    if (status == DN_OK) {
        dni_shrinkage_apply(fit->pooled, d, task.shrinkage);
        for (size_t i = 0; i < d * d; i++) {
            fit->pooled[i] /= task.divisor;
        }
        fit->is_pooled = true;
    }
    return status;
}

/* blended ← the covariance of class k, shrunk by fit->shrinkage[k] towards the pooled covariance:
 * (1 − s) S_k/divisor + s S. Friedman, Journal of the American Statistical Association 84, 1989,
 * section 3, with weights of covariances instead of sums. */
static void blend(struct gaussian *fit, size_t k, double divisor) {
    const size_t d = fit->d;
    const double *scatter = fit->scatter.scatter + k * d * d, share = fit->shrinkage[k];
    for (size_t i = 0; i < d * d; i++) {
        fit->blended[i] = (1 - share) * (scatter[i] / divisor) + share * fit->pooled[i];
    }
}

/* Fits the covariance of class k, shrunk towards the pooled covariance.
 *
 *   estimate  true: the shrinkage is estimated, and raised until the covariance is regular; false:
 *             it is fit->shrinkage[k]
 *   first     why the covariance is singular without shrinkage; reason "": it was not computed */
static dn_status fit_shrunk(struct gaussian *fit, size_t k, dni_covariance_task *task,
                            bool estimate, const dni_singular *first, dni_gaussians *out,
                            dn_error *err) {
    const dni_scatter *s = &fit->scatter;
    const double divisor = task->divisor;
    double *whiten = out->whiten + k * fit->d * fit->d;
    dni_singular singular = {0};
    dn_status status = pool(fit, whiten, err);
    if (status == DN_OK && estimate) {
        status = dni_shrinkage_towards(fit->input, fit->run, s->class_mean, k,
                                       s->scatter + k * fit->d * fit->d, s->class_weight[k],
                                       fit->pooled, &fit->shrinkage[k], err);
    }
    task->matrix = fit->blended;
    task->n_rows = 0;
    task->divisor = 1;
    task->remedy = "raise shrinkage";
    do {
        singular.found = false;
        task->singular = estimate && fit->shrinkage[k] < 1 ? &singular : NULL;
        if (status == DN_OK) {
            blend(fit, k, divisor);
            status = dni_covariance_whiten(task, whiten, &out->log_det[k], err);
        }
        fit->shrinkage[k] =
            singular.found ? dni_shrinkage_raise(fit->shrinkage[k]) : fit->shrinkage[k];
    } while (status == DN_OK && singular.found);
    task->singular = NULL;
    if (status == DN_OK && first->reason[0] != '\0') {
        dn_report_warn(fit->report, DN_WARNING_SINGULAR,
                       "%s: the covariance was shrunk by %.3g towards the covariance within all "
                       "classes; parameter shrinkage sets another value",
                       first->reason, fit->shrinkage[k]);
    }
    return status;
}

/* Fits the covariance of class k. It is shrunk as the parameter shrinkage says; with "if_singular",
 * only if it is singular. */
static dn_status fit_class(struct gaussian *fit, size_t k, dni_covariance_task *task,
                           dni_gaussians *out, dn_error *err) {
    const dn_params *p = fit->input->params;
    const char *word = dn_params_word(p, "shrinkage");
    double *whiten = out->whiten + k * fit->d * fit->d;
    dni_singular singular = {0};
    const bool estimate = word != NULL && strcmp(word, "auto") == 0;
    fit->shrinkage[k] = word == NULL ? dn_params_number(p, "shrinkage") : 0;
    if (estimate || fit->shrinkage[k] > 0) {
        return fit_shrunk(fit, k, task, estimate, &singular, out, err);
    }
    task->singular = dni_shrinkage_if_singular(p) ? &singular : NULL;
    dn_status status = dni_covariance_whiten(task, whiten, &out->log_det[k], err);
    task->singular = NULL;
    return status != DN_OK || !singular.found ? status
                                              : fit_shrunk(fit, k, task, true, &singular, out, err);
}

/* Fits the shared covariance. With "if_singular", a singular covariance is shrunk by the estimate
 * of Ledoit and Wolf, which is raised until the covariance is regular. */
static dn_status fit_shared(struct gaussian *fit, dni_covariance_task *task, dni_gaussians *out,
                            dn_error *err) {
    const dni_scatter *s = &fit->scatter;
    dni_singular singular = {0};
    raise_perfect(fit, s->scatter);
    dn_status status = dni_shrinkage_choose(fit->input, fit->run, s->class_mean, SIZE_MAX,
                                            s->scatter, s->weight, fit->shrinkage, err);
    if (status != DN_OK) {
        return status;
    }
    task->shrinkage = fit->shrinkage[0];
    task->singular = dni_shrinkage_if_singular(fit->input->params) ? &singular : NULL;
    status = dni_covariance_whiten(task, out->whiten, out->log_det, err);
    const dni_singular first = singular;
    if (status == DN_OK && first.found) {
        status = dni_shrinkage_estimate(fit->input, fit->run, s->class_mean, SIZE_MAX, s->scatter,
                                        s->weight, fit->shrinkage, err);
    }
    while (status == DN_OK && singular.found) {
        singular.found = false;
        task->shrinkage = fit->shrinkage[0];
        status = dni_covariance_whiten(task, out->whiten, out->log_det, err);
        fit->shrinkage[0] =
            singular.found ? dni_shrinkage_raise(fit->shrinkage[0]) : fit->shrinkage[0];
    }
    task->singular = NULL;
    if (first.found) {
        dn_report_warn(fit->report, DN_WARNING_SINGULAR,
                       "%s: its correlations were shrunk by %.3g; parameter shrinkage sets another "
                       "value",
                       first.reason, fit->shrinkage[0]);
    }
    return status;
}

/* Fits covariance i of the machine: the shared covariance, or the covariance of class i. */
static dn_status fit_covariance(struct gaussian *fit, size_t i, dni_gaussians *out, dn_error *err) {
    const bool shared = out->covariance == DNI_COVARIANCE_SHARED;
    dni_covariance_task task = {.input = fit->input,
                                .run = fit->run,
                                .scatter = &fit->scatter,
                                .k = shared ? SIZE_MAX : i,
                                .n_rows = fit->input->rows->n_rows,
                                .constant = fit->constant};
    dn_status status = divisor_of(fit, task.k, &task.divisor, err);
    if (status != DN_OK) {
        return status;
    }
    if (shared) {
        return fit_shared(fit, &task, out, err);
    }
    return out->covariance == DNI_COVARIANCE_FULL
               ? fit_class(fit, i, &task, out, err)
               : dni_covariance_whiten_diagonal(&task, out->whiten + i * fit->d, &out->log_det[i],
                                                err);
}

/* w ← Aᵀ y */
static void transposed_times(const double *a, const double *y, size_t d, double *w) {
    memset(w, 0, d * sizeof *w);
    for (size_t i = 0; i < d; i++) {
        dni_axpy(y[i], a + i * d, w, i + 1);
    }
}

/* Sets the weights and intercepts of the linear discriminants of a shared covariance. */
static dn_status fit_linear(const struct gaussian *fit, dni_linear_machine *machine,
                            dn_error *err) {
    double *y = fit->work;
    const dni_gaussians *g = machine->gaussians;
    size_t S = fit->n_classes == 2 ? 1 : fit->n_classes, d = fit->d;
    const double *first = g->mean, *second = g->mean + d, *centre = fit->scatter.mean;
    for (size_t j = 0; j < S * d; j++) {
        y[j] = S == 1 ? second[j] - first[j] : g->mean[j] - centre[j % d];
    }
    dn_status status = dni_lower_times_rows(fit->run, g->whiten, d, y, S, d, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < S; k++) {
        double *w = machine->w + k * d, square = dni_dot(y + k * d, y + k * d, d);
        transposed_times(g->whiten, y + k * d, d, w);
        machine->w0[k] = S == 1 ? log(g->prior[1]) - log(g->prior[0])
                                : log(g->prior[k]) - 0.5 * square - dni_dot(w, centre, d);
        for (size_t j = 0; S == 1 && j < d; j++) {
            machine->w0[0] -= 0.5 * w[j] * (first[j] + second[j]);
        }
        if (S == 1) {
            dn_report_number(fit->report, "mahalanobis_distance", sqrt(square));
        }
    }
    if (!dni_all_finite(machine->w, S * d) || !dni_all_finite(machine->w0, S)) {
        return dni_weights_not_finite(err);
    }
    return DN_OK;
}

static void report_fit(const struct gaussian *fit, const dni_gaussians *g) {
    size_t n = g->covariance == DNI_COVARIANCE_SHARED ? 1 : fit->n_classes;
    dn_report_list(fit->report, "prior", g->prior, fit->n_classes);
    if (n == 1) {
        dn_report_number(fit->report, "log_det", g->log_det[0]);
        dn_report_number(fit->report, "shrinkage", fit->shrinkage[0]);
        return;
    }
    dn_report_list(fit->report, "log_det", g->log_det, n);
    if (g->covariance == DNI_COVARIANCE_FULL) {
        dn_report_list(fit->report, "shrinkage", fit->shrinkage, n);
    }
}

/* Returns the densities of a machine that fit_gaussian created. */
static dni_gaussians *densities_of(const struct gaussian *fit, const dn_machine *machine) {
    return covariance_of(fit->input->params) == DNI_COVARIANCE_SHARED
               ? dni_linear_machine_of(machine)->gaussians
               : dni_gaussians_of(machine);
}

/* Raises the variances of a diagonal covariance to VARIANCE_FLOOR times the variance of the column
 * over all rows. Adds a warning with the names of the columns. */
static void raise_variances(struct gaussian *fit) {
    dni_scatter *s = &fit->scatter;
    size_t n = 0;
    char columns[DNI_NAMES_SIZE];
    for (size_t j = 0; j < fit->d; j++) {
        fit->floor[j] = fit->constant[j] ? 0 : VARIANCE_FLOOR * dni_scatter_variance(s, j);
        fit->raised[j] = false;
    }
    for (size_t k = 0; k < fit->n_classes; k++) {
        for (size_t j = 0; j < fit->d; j++) {
            double *scatter = s->scatter + k * fit->d + j;
            const double least = fit->floor[j] * s->class_weight[k];
            fit->raised[j] = fit->raised[j] || *scatter < least;
            *scatter = fmax(*scatter, least);
        }
    }
    for (size_t j = 0; j < fit->d; j++) {
        n += fit->raised[j];
    }
    if (n > 0) {
        dni_feature_list(fit->input, fit->raised, 3, columns);
        dn_report_warn(fit->report, DN_WARNING_VARIANCE_FLOOR,
                       "%zu columns (%s) have a variance within a class below %g times their "
                       "variance over all rows, which was raised to this value",
                       n, columns, VARIANCE_FLOOR);
    }
}

static dn_status fit_densities(struct gaussian *fit, dn_machine *machine, dn_error *err) {
    dni_gaussians *g = densities_of(fit, machine);
    const size_t K = fit->n_classes;
    const bool shared = g->covariance == DNI_COVARIANCE_SHARED;
    if (dni_scatter_constants(&fit->scatter, fit->constant) == fit->d) {
        return dni_error_all_constant(err);
    }
    dni_priors_resolve(fit->input->params, K, fit->scatter.class_weight, g->prior);
    memcpy(g->mean, fit->scatter.class_mean, K * fit->d * sizeof *g->mean);
    if (g->covariance == DNI_COVARIANCE_DIAGONAL) {
        raise_variances(fit);
    }
    for (size_t i = 0; i < (shared ? 1 : K); i++) {
        dn_status status = fit_covariance(fit, i, g, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (shared) {
        dn_status status = fit_linear(fit, dni_linear_machine_of(machine), err);
        if (status != DN_OK) {
            return status;
        }
    }
    report_fit(fit, g);
    return dni_likelihood_report(fit->input, fit->run, machine, g, fit->report, err);
}

/* ---- a fit ---- */
static dn_status fit_gaussian(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                              dn_report *report, dn_error *err) {
    const struct gaussian_shape shape = {covariance_of(input->params), input->n_classes,
                                         input->rows->n_cols};
    struct gaussian fit = {
        .input = input, .run = run, .report = report, .n_classes = shape.K, .d = shape.d};
    void *memory_block = NULL;
    dn_status status =
        dni_scatter_compute(input, kind_of(shape.covariance), run, &fit.scatter, err);
    if (status != DN_OK) {
        return status;
    }
    *report = dni_report_closed_form();
    status = shape.covariance == DNI_COVARIANCE_SHARED
                 ? dni_linear_machine_new(shape.K, shape.d, true, out, err)
                 : dni_gaussian_machine_new(shape.K, shape.d, shape.covariance, out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_layout_take(run, gaussian_layout, &shape, &fit, "the discriminants", &memory_block,
                             err);
    if (status == DN_OK) {
        status = fit_densities(&fit, *out, err);
    }
cleanup:
    dn_run_free(run, memory_block);
    dni_scatter_done(&fit.scatter, run);
    return status;
}

/* A diagonal covariance allows linearly dependent columns, so that no level is dropped.
 * DN_RULES_FIRST drops the first level for every covariance. */
static bool drops_first(const dn_params *p) {
    return p->rules == DN_RULES_FIRST || covariance_of(p) != DNI_COVARIANCE_DIAGONAL;
}

/* With covariance full, rows are scored in tiles; a tile is multiplied by the matrix of each
 * class. */
static dn_kept_memory kept_memory(const dn_params *p, const dn_fit_shape *shape) {
    const double slot = (double)dni_gaussians_tile_work(true, shape->n_features) +
                        (double)DNI_TILE_ROWS * (double)shape->n_classes;
    return (dn_kept_memory){
        .scoring = covariance_of(p) == DNI_COVARIANCE_FULL ? 8 * slot * (double)shape->n_slots : 0};
}

/* All passes over the rows are sums. */
static const char *alone(const dn_params *p) {
    (void)p;
    return NULL;
}

const dn_algorithm dni_algorithm_gaussian = {
    .id = "gaussian",
    .title = "Gaussian classes",
    .summary =
        "Models each class as a multivariate normal and decides by Bayes' rule: linear "
        "discriminants with a shared covariance, quadratic ones with one for each class. "
        "Suits few rows of nearly normal columns; a low density marks inputs that are unlike "
        "all training rows.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 4.2.1-4.2.2; Alpaydin, "
              "Introduction to Machine Learning, section 5.5; Ledoit and Wolf, Journal of "
              "Multivariate Analysis 88, 2004; Friedman, Journal of the American Statistical "
              "Association 84, 1989",
    .stopping_rule = "closed form: always",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STREAMS |
             DN_ALGORITHM_DENSITY,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .drops_first = drops_first,
    .memory = memory,
    .kept_memory = kept_memory,
    .fit = fit_gaussian,
    .alone = alone,
};
