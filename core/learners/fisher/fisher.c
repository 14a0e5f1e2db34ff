/* Fisher's linear discriminant: directions that part the means of the classes most, measured by the scatter within them.
 *
 *   two classes  g = wᵀx + w_0 with the one direction, of length 1 in the raw features, towards the second class, and a threshold
 *   K classes    z = Aᵀx with all directions, scaled so that S_W/(n − K) becomes the identity there; the class of the nearest mean, priors allowed for:
 *                g_k = −½‖Aᵀ(x − m_k)‖² + ln P(C_k), without what all classes share: linear
 *
 * Bishop, PRML, section 4.1.4 and 4.1.6; Duda, Hart and Stork, sections 3.8.2 and 3.8.3; Alpaydın, section 6.8; Hastie, Tibshirani and Friedman, ESL, section 4.3.3. */
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/report.h"
#include "learners/fisher/fisher_fit.h"
#include "learners/shared/priors.h"
#include "learners/shared/shrinkage.h"
#include "linalg/vector.h"
#include "machine/machine_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const thresholds[] = {"midpoint", "min_error", NULL};
static const char *const threshold_meanings[] = {
    "half way between the projected means of the classes",
    "half way between those adjacent projections of training rows where the weight of the rows "
    "misclassified is least, nearest to the midpoint among equals",
    NULL};

static const dn_param params[] = {
    DNI_PARAM_CHOICE("threshold",
                     "Where two classes are parted on the direction. More classes are parted by "
                     "the nearest mean: midpoint only.",
                     "midpoint", thresholds, threshold_meanings),
    {.name = "components",
     .type = DN_PARAM_INTEGER,
     .meaning = "How many directions are kept, the best ones; there are at most one less than "
                "classes. auto: all.",
     .default_choice = "auto",
     .default_number = 1,
     .minimum = 1,
     .maximum = 1e9,
     .word = "auto"},
    DNI_PARAM_SHRINKAGE,
    {.name = "priors",
     .type = DN_PARAM_LIST,
     .meaning =
         "For more than two classes: how probable each is before x is seen; or a list of numbers "
         "above 0 that sum to 1, one for each "
         "class in ascending order of the classes. Two classes are parted by the threshold alone.",
     .default_choice = "estimated",
     .choices = dni_priors,
     .choice_meanings = dni_priors_meanings,
     .minimum = 0,
     .maximum = 1,
     .open_minimum = true,
     .open_maximum = true,
     .distribution = true},
    DNI_PARAM_MULTICLASS(dni_multiclass_native, "native"),
    DNI_PARAM_DISCRIMINANTS,
};

static dn_status check_classes(const dn_params *p, size_t n_classes, dn_error *err) {
    if (n_classes == 2 || dn_params_decision(p) != DN_DECISION_NATIVE ||
        strcmp(dn_params_word(p, "threshold"), "midpoint") == 0) {
        return DN_OK;
    }
    dn_status status = dn_error_set(err, DN_ERR_ARGUMENT,
                                    "parameter \"threshold\" = \"min_error\" is for two classes "
                                    "(there are %zu): use midpoint, or a multiclass "
                                    "of two-class machines such as one_vs_one",
                                    n_classes);
    dn_error_set_field(err, "threshold");
    return status;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    bool sorts = strcmp(dn_params_word(p, "threshold"), "min_error") == 0;
    return dni_fisher_directions_memory(shape->n_rows, shape->n_features, shape->n_classes,
                                        shape->n_slots) +
           (sorts ? dni_fisher_least_error_memory(shape->n_rows) : 0) +
           8 * (2 * (double)shape->n_features * (double)shape->n_classes +
                2 * (double)shape->n_classes);
}

/* out [d] ← the direction as a unit vector of the raw features, written for x; the sign as it should be. */
static void unit_direction(const dni_fisher *f, const double *direction, double *out) {
    size_t d = f->scatter.n_cols;
    const double *scale = f->input->scale;
    double side = 0, largest = 0;
    for (size_t j = 0; j < d; j++) {
        out[j] = scale == NULL ? direction[j] : direction[j] / scale[j];
    }
    double length = dni_norm(out, d);
    for (size_t j = 0; j < d; j++) {
        if (f->scatter.n_classes == 2) {
            side += direction[j] * (f->scatter.class_mean[d + j] - f->scatter.class_mean[j]);
        } else if (fabs(out[j]) > largest) {
            largest = fabs(out[j]);
            side = out[j];
        }
    }
    double factor = (side < 0 ? -1 : 1) / length;
    for (size_t j = 0; j < d; j++) {
        out[j] = direction[j] * factor;
    }
}

static dn_status keep_directions(const dni_fisher *f, dn_machine *machine, dn_error *err) {
    size_t d = f->scatter.n_cols;
    double *projection;
    dn_status status = dni_machine_new_projection(machine, f->n_components, &projection, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < f->n_components; i++) {
        unit_direction(f, f->direction + i * d, projection + i * d);
    }
    return dni_all_finite(projection, f->n_components * d)
               ? DN_OK
               : dn_error_set(err, DN_ERR_NUMERIC,
                              "the directions in the scale of the raw features are not finite");
}

/* ---- two classes ---- */
static dn_status fit_two(const dni_fisher *f, dni_linear_machine *machine, dn_error *err) {
    const dn_fit_input *input = f->input;
    const dni_scatter *s = &f->scatter;
    size_t d = s->n_cols;
    double *w = machine->w, cut = 0, error;
    unit_direction(f, f->direction, w);
    for (size_t j = 0; j < d; j++) {
        cut += w[j] * (0.5 * s->class_mean[j] + 0.5 * s->class_mean[d + j]);
    }
    if (strcmp(dn_params_word(input->params, "threshold"), "min_error") == 0) {
        dn_status status = dni_fisher_least_error(input, f->run, w, cut, &cut, &error, err);
        if (status != DN_OK) {
            return status;
        }
        dn_report_number(f->report, "threshold_error", error);
    }
    machine->w0[0] = -cut;
    double raw = cut;
    for (size_t j = 0; j < d; j++) {
        raw += input->mean == NULL
                   ? 0
                   : w[j] / (input->scale == NULL ? 1 : input->scale[j]) * input->mean[j];
    }
    dn_report_number(f->report, "J_two_class",
                     f->value[0] * (s->weight / s->class_weight[0] / s->class_weight[1]));
    dn_report_number(f->report, "threshold", raw);
    return DN_OK;
}

/* ---- K classes ---- */
/* W_k = A Aᵀ(m_k − m), b_k = −½‖Aᵀ(m_k − m)‖² − W_kᵀm + ln P(C_k): what the centre m takes from all scores is the same for every class. */
static dn_status fit_many(const dni_fisher *f, double *prior, dni_linear_machine *machine,
                          dn_error *err) {
    const dni_scatter *s = &f->scatter;
    size_t d = s->n_cols, K = s->n_classes;
    double freedom = s->weight - (double)K;
    if (!(freedom > 0)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the weights of the rows must sum to more than the number of classes, "
                            "%zu (got %g): multiply them all by a "
                            "number, so that they sum to about the number of rows",
                            K, s->weight);
    }
    dni_priors_resolve(f->input->params, K, s->class_weight, prior);
    for (size_t k = 0; k < K; k++) {
        double *w = machine->w + k * d, square = 0;
        for (size_t i = 0; i < f->n_components; i++) {
            const double *direction = f->direction + i * d;
            double at = 0;
            for (size_t j = 0; j < d; j++) {
                at += direction[j] * (s->class_mean[k * d + j] - s->mean[j]);
            }
            square += freedom * at * at;
            dni_axpy(freedom * at, direction, w, d);
        }
        machine->w0[k] = log(prior[k]) - 0.5 * square - dni_dot(w, s->mean, d);
    }
    return DN_OK;
}

static void describe(const dni_fisher *f) {
    dn_report *report = f->report;
    report->converged = true;
    report->stop_reason = DN_STOP_CLOSED_FORM;
    report->objective = f->value[0];
    report->gradient_norm = (double)NAN;
    dn_report_number(report, "J", f->value[0]);
    dn_report_number(report, "components", (double)f->n_components);
    dn_report_list(report, "eigenvalues", f->value, f->n_components);
}

static dn_status make_machine(dni_fisher *f, dn_machine **out, dn_error *err) {
    size_t K = f->scatter.n_classes, d = f->scatter.n_cols;
    dn_machine *machine = NULL;
    dni_linear_machine *linear = NULL;
    void *prior = NULL;
    dn_status status = dn_run_alloc(f->run, K, sizeof(double), "the priors", &prior, err);
    if (status == DN_OK) {
        status = dni_linear_machine_new(K, d, false, &machine, err);
    }
    if (status == DN_OK) {
        linear = dni_linear_machine_of(machine);
        status = keep_directions(f, machine, err);
    }
    if (status == DN_OK) {
        describe(f);
        status = K == 2 ? fit_two(f, linear, err) : fit_many(f, prior, linear, err);
    }
    size_t S = K == 2 ? 1 : K;
    if (status == DN_OK && (!dni_all_finite(linear->w, S * d) || !dni_all_finite(linear->w0, S))) {
        status = dn_error_set(
            err, DN_ERR_NUMERIC,
            "the weights are not finite: the inputs are too large (standardise the columns)");
    }
    dn_run_free(f->run, prior);
    if (status == DN_OK) {
        *out = machine;
    } else {
        dn_machine_free(machine);
    }
    return status;
}

static dn_status fit_fisher(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                            dn_report *report, dn_error *err) {
    dn_report fresh = {0};
    dni_fisher fisher = {.input = input, .run = run, .report = &fresh};
    dn_status status = dni_fisher_directions(&fisher, err);
    if (status == DN_OK) {
        status = make_machine(&fisher, out, err);
    }
    if (status == DN_OK) {
        *report = fresh;
    } else {
        dn_report_done(&fresh);
    }
    dni_fisher_done(&fisher);
    return status;
}

/* No penalty: with all levels of a category its features would be collinear. */
static bool drops_first(const dn_params *unused) {
    (void)unused;
    return true;
}

const dn_algorithm dni_algorithm_fisher = {
    .id = "fisher",
    .title = "Fisher's linear discriminant",
    .summary = "Directions on which the means of the classes lie far apart compared with the "
               "scatter within the classes; a threshold for two "
               "classes, the nearest mean for more. It also projects rows on its directions "
               "(transform). Scores, no probabilities.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 4.1.4 and 4.1.6; Duda, "
              "Hart and Stork, Pattern Classification, "
              "section 3.8",
    .stopping_rule = "always: the directions are the eigenvectors of the generalised eigenproblem "
                     "S_B w = rho S_W w",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_STREAMS | DN_ALGORITHM_TRANSFORM,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = dni_multiclass_check,
    .check_classes = check_classes,
    .drops_first = drops_first,
    .memory = memory,
    .fit = fit_fisher,
};
