/* Gaussian class densities: a generative classifier by Bayes' rule.
 *
 *   p(x | C_k) = N(x; m_k, Σ_k),   g_k = ln P(C_k) + ln p(x | C_k),   P(C_k | x) = exp g_k / Σ_j exp g_j
 *
 * One covariance for all classes: the square of x is the same in every g_k and drops out, what is left is linear,
 *   K classes    w_k = Σ⁻¹ (m_k − m),   w_k0 = −½ (m_k − m)ᵀ Σ⁻¹ (m_k − m) − w_kᵀm + ln P(C_k),   m the mean of all rows
 *   two classes  w = Σ⁻¹ (m_2 − m_1),   w_0 = −½ (m_1 + m_2)ᵀ w + ln P(C_2)/P(C_1):   P(C_2 | x) = σ(wᵀx + w_0)
 * The textbooks have m = 0. Another m takes the same linear function of x from every score, which changes no class and no probability; but far from the origin
 * m_kᵀ Σ⁻¹ m_k is so large that its rounding is all that would be left of the differences between the classes.
 * Bishop, PRML, sections 4.2.1 and 4.2.2; Alpaydın, section 5.5; Hastie, Tibshirani and Friedman, ESL, sections 4.3 and 4.3.1 (shrinkage). */
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/report.h"
#include "learners/shared/covariance.h"
#include "learners/shared/likelihood.h"
#include "learners/shared/priors.h"
#include "learners/shared/shrinkage.h"
#include "linalg/triangle.h"
#include "linalg/vector.h"
#include "machine/machine_impl.h"

#include <math.h>
#include <string.h>

static const char *const covariances[] = {"shared", "full", "diagonal", NULL};
static const char *const covariance_meanings[] = {
    "one covariance matrix for all classes: linear discriminants (linear discriminant analysis)",
    "a covariance matrix for each class: quadratic discriminants (quadratic discriminant analysis)",
    "a variance for each column in each class, the columns uncorrelated within a class", NULL};
static const char *const divisors[] = {"ml", "unbiased", NULL};
static const char *const divisor_meanings[] = {
    "n, the weight of the rows: maximum likelihood",
    "n - K for a shared covariance, n_k - 1 for one of each class", NULL};

static const dn_param params[] = {
    DNI_PARAM_CHOICE("covariance", "What the classes' densities have in common.", "shared",
                     covariances, covariance_meanings),
    DNI_PARAM_CHOICE("divisor",
                     "What the squares summed over the rows are divided by, whatever the priors.",
                     "ml", divisors, divisor_meanings),
    DNI_PARAM_SHRINKAGE,
    DNI_PARAM_PRIORS,
    DNI_PARAM_MULTICLASS(dni_multiclass_native, "native"),
    DNI_PARAM_DISCRIMINANTS,
};

static dn_covariance covariance_of(const dn_params *p) {
    const char *word = dn_params_word(p, "covariance");
    if (strcmp(word, "shared") == 0) {
        return DN_COVARIANCE_SHARED;
    }
    return strcmp(word, "full") == 0 ? DN_COVARIANCE_FULL : DN_COVARIANCE_DIAGONAL;
}

static dni_scatter_kind kind_of(dn_covariance covariance) {
    if (covariance == DN_COVARIANCE_SHARED) {
        return DNI_SCATTER_POOLED;
    }
    return covariance == DN_COVARIANCE_FULL ? DNI_SCATTER_CLASSES : DNI_SCATTER_DIAGONAL;
}

static dn_status check(const dn_params *p, dn_error *err) {
    bool shrinks = dn_params_word(p, "shrinkage") != NULL || dn_params_number(p, "shrinkage") > 0;
    if (shrinks && covariance_of(p) == DN_COVARIANCE_DIAGONAL) {
        dn_status status = dn_error_set(err, DN_ERR_ARGUMENT,
                                        "parameter \"shrinkage\" belongs to covariance shared or "
                                        "full (diagonal has no correlations)");
        dn_error_set_field(err, "shrinkage");
        return status;
    }
    return dni_multiclass_check(p, err);
}

struct gaussian {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    size_t n_classes, d;
    dni_scatter scatter;
    double *shrinkage; /* [n_classes] used; shared: the first */
    bool *constant;    /* [d] columns of one value: they have no density and are left out */
};

/* Of class k, or pooled. */
static dn_status divisor_of(const struct gaussian *fit, size_t k, double *out, dn_error *err) {
    bool pooled = k == SIZE_MAX;
    double weight = pooled ? fit->scatter.weight : fit->scatter.class_weight[k],
           lost = pooled ? (double)fit->n_classes : 1;
    if (strcmp(dn_params_word(fit->input->params, "divisor"), "ml") == 0) {
        *out = weight;
        return DN_OK;
    }
    *out = weight - lost;
    if (*out > 0) {
        return DN_OK;
    }
    if (pooled) {
        return dn_error_set(err, DN_ERR_DATA,
                            "divisor unbiased needs rows with a weight above the number of "
                            "classes, %zu (got %g): choose divisor ml",
                            fit->n_classes, weight);
    }
    char name[DN_FIELD_SIZE];
    dni_class_name(fit->input, k, name);
    return dn_error_set(err, DN_ERR_DATA,
                        "divisor unbiased needs rows with a weight above 1 in each class; class "
                        "\"%s\" has %g: choose divisor ml or "
                        "covariance shared",
                        name, weight);
}

/* Covariance i of the machine: of all classes, or of class i. */
static dn_status fit_covariance(struct gaussian *fit, size_t i, dn_gaussians *out, dn_error *err) {
    const dni_scatter *s = &fit->scatter;
    size_t k = out->covariance == DN_COVARIANCE_SHARED ? SIZE_MAX : i, d = fit->d;
    dni_covariance_task task = {
        .input = fit->input, .run = fit->run, .scatter = s, .k = k, .constant = fit->constant};
    dn_status status = divisor_of(fit, k, &task.divisor, err);
    if (status != DN_OK) {
        return status;
    }
    if (out->covariance == DN_COVARIANCE_DIAGONAL) {
        return dni_covariance_whiten_diagonal(&task, out->whiten + i * d, &out->log_det[i], err);
    }
    double weight = k == SIZE_MAX ? s->weight : s->class_weight[k];
    status = dni_shrinkage_choose(fit->input, fit->run, s->class_mean, k, s->scatter + i * d * d,
                                  weight, &fit->shrinkage[i], err);
    task.shrinkage = fit->shrinkage[i];
    return status == DN_OK
               ? dni_covariance_whiten(&task, out->whiten + i * d * d, &out->log_det[i], err)
               : status;
}

/* w ← Aᵀ y */
static void transposed_times(const double *a, const double *y, size_t d, double *w) {
    memset(w, 0, d * sizeof *w);
    for (size_t i = 0; i < d; i++) {
        dni_axpy(y[i], a + i * d, w, i + 1);
    }
}

/* The linear discriminants of a shared covariance. y [n_scores × d] is scratch. */
static dn_status fit_linear(struct gaussian *fit, dni_linear_machine *machine, double *y,
                            dn_error *err) {
    const dn_gaussians *g = machine->gaussians;
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
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "the weights in the scale of the features are not finite; standardise the columns");
    }
    return DN_OK;
}

static void describe(const struct gaussian *fit, const dn_gaussians *g) {
    size_t n = g->covariance == DN_COVARIANCE_SHARED ? 1 : fit->n_classes;
    dn_report_list(fit->report, "prior", g->prior, fit->n_classes);
    if (n == 1) {
        dn_report_number(fit->report, "log_det", g->log_det[0]);
        dn_report_number(fit->report, "shrinkage", fit->shrinkage[0]);
        return;
    }
    dn_report_list(fit->report, "log_det", g->log_det, n);
    if (g->covariance == DN_COVARIANCE_FULL) {
        dn_report_list(fit->report, "shrinkage", fit->shrinkage, n);
    }
}

/* n covariances */
static dn_status fit_densities(struct gaussian *fit, size_t n, dn_machine *machine, dn_error *err) {
    dn_gaussians *g = dni_gaussians_of(machine);
    size_t K = fit->n_classes;
    dn_status status = DN_OK;
    dni_priors_resolve(fit->input->params, K, fit->scatter.class_weight, g->prior);
    memcpy(g->mean, fit->scatter.class_mean, K * fit->d * sizeof *g->mean);
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        status = fit_covariance(fit, i, g, err);
    }
    if (status == DN_OK && n == 1) {
        status = fit_linear(fit, dni_linear_machine_of(machine), fit->shrinkage + K, err);
    }
    if (status != DN_OK) {
        return status;
    }
    describe(fit, g);
    return dni_likelihood_report(fit->input, fit->run, machine, g, fit->report, err);
}

static dn_status fit_machine(struct gaussian *fit, dn_machine *machine, dn_error *err) {
    dn_gaussians *g = dni_gaussians_of(machine);
    size_t K = fit->n_classes, d = fit->d, n = g->covariance == DN_COVARIANCE_SHARED ? 1 : K;
    void *memory = NULL, *marks = NULL;
    dn_status status = dn_run_alloc(fit->run, K + (n == 1 ? K * d : 0), sizeof(double),
                                    "the discriminants", &memory, err);
    if (status == DN_OK) {
        status = dn_run_alloc(fit->run, d, sizeof(bool), "the marks of the columns", &marks, err);
    }
    fit->shrinkage = memory;
    fit->constant = marks;
    if (status == DN_OK && dni_scatter_constants(&fit->scatter, fit->constant) == d) {
        status =
            dn_error_set(err, DN_ERR_DATA,
                         "every column is constant: there is nothing to tell the classes apart by");
    }
    if (status == DN_OK) {
        status = fit_densities(fit, n, machine, err);
    }
    dn_run_free(fit->run, marks);
    dn_run_free(fit->run, memory);
    return status;
}
static dn_status fit_gaussian(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                              dn_report *report, dn_error *err) {
    dn_report fresh = {.converged = true,
                       .stop_reason = DN_STOP_CLOSED_FORM,
                       .iterations = 1,
                       .gradient_norm = (double)NAN};
    dn_covariance covariance = covariance_of(input->params);
    struct gaussian fit = {.input = input,
                           .run = run,
                           .report = &fresh,
                           .n_classes = input->n_classes,
                           .d = input->rows->n_cols};
    dn_machine *machine = NULL;
    dn_status status = dni_scatter_compute(input, kind_of(covariance), run, &fit.scatter, err);
    if (status == DN_OK) {
        status = covariance == DN_COVARIANCE_SHARED
                     ? dni_linear_machine_new(fit.n_classes, fit.d, true, &machine, err)
                     : dni_gaussian_machine_new(fit.n_classes, fit.d, covariance, &machine, err);
    }
    if (status == DN_OK) {
        status = fit_machine(&fit, machine, err);
    }
    dni_scatter_done(&fit.scatter, run);
    if (status != DN_OK) {
        dn_report_done(&fresh);
        dn_machine_free(machine);
        return status;
    }
    *out = machine;
    *report = fresh;
    return DN_OK;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    dn_covariance covariance = covariance_of(p);
    double d = (double)shape->n_features, K = (double)shape->n_classes;
    double whiten = covariance == DN_COVARIANCE_SHARED ? d * d
                    : covariance == DN_COVARIANCE_FULL ? K * d * d
                                                       : K * d;
    return dni_scatter_memory(kind_of(covariance), shape->n_rows, shape->n_features,
                              shape->n_classes, shape->n_slots) +
           dni_covariance_memory(kind_of(covariance), shape->n_features) +
           dni_likelihood_memory(covariance != DN_COVARIANCE_DIAGONAL, shape->n_features,
                                 shape->n_classes, shape->n_slots) +
           8 * (whiten + 3 * K * (d + 2)) + d;
}

/* No penalty: with all levels of a category its features would be collinear. */
static bool drops_first(const dn_params *unused) {
    (void)unused;
    return true;
}

const dn_algorithm dni_algorithm_gaussian = {
    .id = "gaussian",
    .title = "Gaussian classes",
    .summary = "Models each class as a multivariate normal and decides by Bayes' rule: linear "
               "discriminants with a shared covariance, "
               "quadratic ones with one for each class. Good with few rows of nearly normal "
               "columns; the density tells inputs that are "
               "unlike all training rows.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 4.2.1-4.2.2; Alpaydin, "
              "Introduction to Machine Learning, "
              "section 5.5; Ledoit and Wolf, Journal of Multivariate Analysis 88, 2004",
    .stopping_rule = "closed form: always",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STREAMS |
             DN_ALGORITHM_DENSITY,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .drops_first = drops_first,
    .memory = memory,
    .fit = fit_gaussian,
};
