/* Fisher's linear discriminant: directions on which the class means are far apart relative to the
 * scatter within the classes.
 *
 *   J(w) = wᵀS_B w / wᵀS_W w,   S_B = MᵀM with the rows √n_k (m_k − m) of M
 *
 * The directions solve the generalised eigenproblem S_B w = ρ S_W w. Before it is solved, each
 * column is divided by √(S_W)_jj. S_W then becomes the matrix R of correlations within the classes,
 * the units of the columns have no effect, and shrinkage is (1 − s)R + sI. Columns that are
 * constant in all rows are left out.
 *
 *   two classes  g = wᵀx + w_0 with the single direction w, which has length 1 in the raw features
 *                and points from the first class to the second
 *   K classes    z = Aᵀx with all directions, scaled so that S_W/(n − K) becomes the identity. The
 *                class of the nearest mean is chosen, with priors: g_k = −½‖Aᵀ(x − m_k)‖² + ln
 *                P(C_k). The terms that are equal for all classes are dropped, so that g_k is
 *                linear in x
 *
 * Bishop, PRML, section 4.1.4 and 4.1.6; Duda, Hart and Stork, sections 3.8.2 and 3.8.3; Alpaydın,
 * section 6.8; Hastie, Tibshirani and Friedman, ESL, section 4.3.3. */
#include "base/layout.h"
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/report.h"
#include "learners/fisher/fisher_threshold.h"
#include "learners/shared/covariance.h"
#include "learners/shared/data_errors.h"
#include "learners/shared/learner.h"
#include "learners/shared/priors.h"
#include "learners/shared/shrinkage.h"
#include "linalg/generalised.h"
#include "linalg/vector.h"
#include "machine/linear.h"

#include <math.h>
#include <string.h>

#define SAME_MEANS 1e-24 /* if all ρ are smaller, the class means count as equal */
#define RANK 1e-20 /* if ρ_k/ρ_1 is smaller, the class means count as equal in direction k */
/* Least variance of a column within the classes, as a share of its variance over all rows: the
 * default of the parameter variance_floor of naive Bayes. */
#define VARIANCE_FLOOR 1e-9

static const char *const thresholds[] = {"midpoint", "min_error", NULL};
static const char *const threshold_meanings[] = {
    "halfway between the projected means of the classes",
    "halfway between two adjacent projections of training rows, where the misclassified weight of "
    "the training rows is least; among equal ones, the nearest to the midpoint",
    NULL};

static const dn_param params[] = {
    DNI_PARAM_CHOICE("threshold",
                     "Where two classes are separated on the direction. No effect on more classes, "
                     "which are separated by the nearest mean and the priors.",
                     "min_error", thresholds, threshold_meanings),
    {.name = "components",
     .type = DN_PARAM_INTEGER,
     .meaning = "Number of directions: the best ones are kept. K classes have at most K - 1 "
                "directions. auto: all.",
     .default_choice = "auto",
     .default_number = 1,
     .minimum = 1,
     .maximum = 1e9,
     .word = "auto"},
    DNI_PARAM_SHRINKAGE,
    {.name = "priors",
     .type = DN_PARAM_LIST,
     .meaning = "For more than two classes: the prior probability of each class; or a list of "
                "numbers above 0 that sum to 1, one for each class in ascending order of the "
                "classes. Two classes are separated by the threshold alone.",
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

/* ---- memory ---- */
struct fisher {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_scatter scatter; /* pooled: S_W */
    double *direction; /* [K × d] rows w with wᵀS_W w = 1 (shrunk S_W); n_components are valid */
    double *value;     /* [K] ρ = J of each direction, descending */
    double *prior;     /* [K] */
    size_t n_components; /* >= 1 */
};

struct fisher_shape {
    size_t K, d;
};

static void fisher_layout(dni_layout *layout, const void *shape, void *work) {
    const struct fisher_shape *s = shape;
    struct fisher *f = work;
    f->direction = dni_layout_matrix(layout, s->K, s->d);
    f->value = dni_layout_doubles(layout, s->K);
    f->prior = dni_layout_doubles(layout, s->K);
}

/* Working memory of the eigenproblem. */
struct problem {
    struct fisher *fisher;
    double *r;      /* [d × d] Cholesky factor of the shrunk correlations */
    double *scale;  /* [d] √(S_W)_jj; 1 for constant columns */
    bool *constant; /* [d] */
    bool *marked;   /* [d] columns to name in an error message */
    double shrinkage;
};

static void problem_layout(dni_layout *layout, const void *shape, void *work) {
    const struct fisher_shape *s = shape;
    struct problem *p = work;
    p->r = dni_layout_matrix(layout, s->d, s->d);
    p->scale = dni_layout_doubles(layout, s->d);
    p->constant = dni_layout_array(layout, s->d, sizeof *p->constant);
    p->marked = dni_layout_array(layout, s->d, sizeof *p->marked);
}

/* The working memories of the scatter, of the eigenproblem and of the threshold are not allocated
 * at the same time: the estimate includes only the largest of the three. */
static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const struct fisher_shape s = {shape->n_classes, shape->n_features};
    const double d = (double)s.d, K = (double)s.K;
    struct fisher fisher;
    struct problem problem;
    const double result = dni_scatter_result_memory(DNI_SCATTER_POOLED, s.d, s.K),
                 scatter = dni_scatter_memory(DNI_SCATTER_POOLED, shape->n_rows, s.d, s.K,
                                              shape->n_slots) -
                           result,
                 directions =
                     dni_layout_bytes(problem_layout, &s, &problem) + dni_correlation_memory(s.d),
                 threshold = s.K == 2 && strcmp(dn_params_word(p, "threshold"), "min_error") == 0
                                 ? dni_fisher_threshold_memory(shape->n_rows, shape->n_slots)
                                 : 0;
    return result + dni_layout_bytes(fisher_layout, &s, &fisher) +
           fmax(scatter, fmax(directions, threshold)) + 8 * (2 * K * d + K); /* the machine */
}

/* ---- the eigenproblem ---- */
/* Raises the scatter of the marked columns to VARIANCE_FLOOR times their scatter over all rows.
 * Adds a warning with their names. */
static void raise_perfect(struct problem *p, const char *names) {
    const dni_scatter *s = &p->fisher->scatter;
    const size_t d = s->n_cols;
    for (size_t j = 0; j < d; j++) {
        if (p->marked[j]) {
            s->scatter[j * d + j] = VARIANCE_FLOOR * dni_scatter_variance(s, j) * s->weight;
            p->scale[j] = sqrt(s->scatter[j * d + j]);
        }
    }
    dn_report_warn(p->fisher->report, DN_WARNING_VARIANCE_FLOOR,
                   "columns are constant within every class but differ between the classes (%s): "
                   "their variance within the classes was raised to %g times their variance over "
                   "all rows; they separate the classes without error",
                   names, VARIANCE_FLOOR);
}

/* Fills p->scale, p->constant and p->marked. It is an error if no column varies within the classes.
 * A column that is constant within every class but differs between
 * the classes is an error if the parameter shrinkage is a number; otherwise its scatter is
 * raised. */
static dn_status find_constants(struct problem *p, dn_error *err) {
    const dni_scatter *s = &p->fisher->scatter;
    const size_t d = s->n_cols, constant = dni_scatter_constants(s, p->constant);
    size_t perfect = 0;
    char names[DNI_NAMES_SIZE];
    for (size_t j = 0; j < d; j++) {
        const double within = s->scatter[j * d + j];
        p->marked[j] = !(within > 0) && !p->constant[j];
        p->scale[j] = within > 0 ? sqrt(within) : 1;
        perfect += p->marked[j];
    }
    if (perfect > 0 && perfect + constant == d) {
        return dn_error_set(err, DN_ERR_DATA,
                            "no column varies within the classes, because each class has a single "
                            "row or all its rows are equal: add rows (with enough rows, this would "
                            "mean that the columns separate the classes without error)");
    }
    if (perfect > 0) {
        dni_feature_list(p->fisher->input, p->marked, 4, names);
    }
    if (perfect > 0 && dn_params_word(p->fisher->input->params, "shrinkage") != NULL) {
        raise_perfect(p, names);
        return DN_OK;
    }
    if (perfect > 0) {
        return dn_error_set(err, DN_ERR_DATA,
                            "columns are constant within every class but differ between them (%s): "
                            "they separate the classes without error and J has no bound; exclude "
                            "them, or leave out shrinkage",
                            names);
    }
    return constant == d ? dni_error_all_constant(err) : DN_OK;
}

/* direction ← the rows √n_k (m_k − m), each column divided by its scale. */
static void scale_means(const struct problem *p) {
    const dni_scatter *s = &p->fisher->scatter;
    const size_t d = s->n_cols;
    for (size_t k = 0; k < s->n_classes; k++) {
        const double root = sqrt(s->class_weight[k]);
        for (size_t j = 0; j < d; j++) {
            p->fisher->direction[k * d + j] =
                p->constant[j] ? 0 : root * ((s->class_mean[k * d + j] - s->mean[j]) / p->scale[j]);
        }
    }
}

/* Sets n_components: the dimension of the space that the differences of the class means span, or
 * the parameter `components` if it is less. */
static dn_status count_components(const struct problem *p, dn_error *err) {
    struct fisher *f = p->fisher;
    const size_t K = f->scatter.n_classes;
    size_t used = f->scatter.n_cols;
    for (size_t j = 0; j < f->scatter.n_cols; j++) {
        used -= p->constant[j];
    }
    if (!(f->value[0] > SAME_MEANS)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the classes have the same means: no direction separates them by "
                            "Fisher's criterion");
    }
    const size_t most = used < K - 1 ? used : K - 1;
    f->n_components = 1;
    while (f->n_components < most && f->value[f->n_components] > RANK * f->value[0]) {
        f->n_components++;
    }
    if (f->n_components < most) {
        dn_report_warn(f->report, DN_WARNING_DIRECTIONS,
                       "the means of the %zu classes lie in a space of %zu dimensions: there are "
                       "no more directions",
                       K, f->n_components);
    }
    if (dn_params_word(f->input->params, "components") != NULL) {
        return DN_OK;
    }
    const size_t wanted = (size_t)dn_params_number(f->input->params, "components");
    if (wanted > f->n_components) {
        dn_report_warn(f->report, DN_WARNING_DIRECTIONS,
                       "components is %zu, but there are only %zu directions", wanted,
                       f->n_components);
    } else {
        f->n_components = wanted;
    }
    return DN_OK;
}

/* r ← the Cholesky factor of the shrunk correlations. With "if_singular", a singular matrix is
 * shrunk by the estimate of Ledoit and Wolf. */
static dn_status factor_scatter(struct problem *p, dn_error *err) {
    struct fisher *f = p->fisher;
    dni_singular singular = {0};
    const bool may_shrink = dni_shrinkage_if_singular(f->input->params);
    dni_correlation c = {.input = f->input,
                         .run = f->run,
                         .scatter = f->scatter.scatter,
                         .d = f->scatter.n_cols,
                         .constant = p->constant,
                         .marked = p->marked,
                         .shrinkage = p->shrinkage,
                         .n_rows = f->input->rows->n_rows,
                         .matrix = "the scatter within the classes",
                         .singular = may_shrink ? &singular : NULL};
    dn_status status = dni_correlation_factor(&c, p->r, err);
    if (status != DN_OK || !singular.found) {
        return status;
    }
    status = dni_shrinkage_estimate(f->input, f->run, f->scatter.class_mean, SIZE_MAX,
                                    f->scatter.scatter, f->scatter.weight, &p->shrinkage, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_singular first = singular;
    while (status == DN_OK && singular.found) {
        singular.found = false;
        c.shrinkage = p->shrinkage;
        status = dni_correlation_factor(&c, p->r, err);
        p->shrinkage = singular.found ? dni_shrinkage_raise(p->shrinkage) : p->shrinkage;
    }
    dn_report_warn(f->report, DN_WARNING_SINGULAR,
                   "%s: its correlations were shrunk by %.3g; parameter shrinkage sets another "
                   "value",
                   first.reason, p->shrinkage);
    return status;
}

static dn_status solve(struct problem *p, dn_error *err) {
    struct fisher *f = p->fisher;
    const size_t d = f->scatter.n_cols, K = f->scatter.n_classes;
    dn_status status = find_constants(p, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_shrinkage_choose(f->input, f->run, f->scatter.class_mean, SIZE_MAX,
                                  f->scatter.scatter, f->scatter.weight, &p->shrinkage, err);
    if (status != DN_OK) {
        return status;
    }
    status = factor_scatter(p, err);
    if (status != DN_OK) {
        return status;
    }
    scale_means(p);
    status = dni_generalised_eigen(f->run, p->r, d, f->direction, K, f->value, err);
    if (status != DN_OK) {
        return status;
    }
    status = count_components(p, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < f->n_components; i++) {
        for (size_t j = 0; j < d; j++) {
            f->direction[i * d + j] /= p->scale[j];
        }
    }
    dn_report_number(f->report, "shrinkage", p->shrinkage);
    return DN_OK;
}

static dn_status find_directions(struct fisher *f, const struct fisher_shape *shape,
                                 dn_error *err) {
    struct problem p = {.fisher = f};
    void *memory_block = NULL;
    dn_status status = dni_layout_take(f->run, problem_layout, shape, &p,
                                       "the correlations within the classes", &memory_block, err);
    if (status != DN_OK) {
        return status;
    }
    status = solve(&p, err);
    dn_run_free(f->run, memory_block);
    return status;
}

/* ---- the machine ---- */
/* out [d] ← the direction for encoded features, with length 1 in the raw features. With two classes
 * it points from the first class to the second; otherwise its largest component is positive. */
static void unit_direction(const struct fisher *f, const double *direction, double *out) {
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

static dn_status set_projection(const struct fisher *f, dn_machine *machine, dn_error *err) {
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
static dn_status fit_two(const struct fisher *f, dni_linear_machine *machine, dn_error *err) {
    const dn_fit_input *input = f->input;
    const dni_scatter *s = &f->scatter;
    size_t d = s->n_cols;
    double *w = machine->w, cut = 0, error;
    unit_direction(f, f->direction, w);
    for (size_t j = 0; j < d; j++) {
        cut += w[j] * (0.5 * s->class_mean[j] + 0.5 * s->class_mean[d + j]);
    }
    if (strcmp(dn_params_word(input->params, "threshold"), "min_error") == 0) {
        dn_status status = dni_fisher_threshold(input, f->run, w, cut, &cut, &error, err);
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
/* W_k = A Aᵀ(m_k − m), b_k = −½‖Aᵀ(m_k − m)‖² − W_kᵀm + ln P(C_k). Terms that depend on m only are
 * the same for every class and are left out. */
static dn_status fit_many(const struct fisher *f, dni_linear_machine *machine, dn_error *err) {
    const dni_scatter *s = &f->scatter;
    size_t d = s->n_cols, K = s->n_classes;
    const double rows = dni_rows_per_weight(f->input),
                 freedom = s->weight - (double)K / rows; /* n − K, in units of the weights */
    if (!(freedom > 0)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the weights of the rows must sum to more than the number of classes, "
                            "%zu (got %g): multiply them all by a number, so that they sum to "
                            "about the number of rows",
                            K, s->weight * rows);
    }
    dni_priors_resolve(f->input->params, K, s->class_weight, f->prior);
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
        machine->w0[k] = log(f->prior[k]) - 0.5 * square - dni_dot(w, s->mean, d);
    }
    return DN_OK;
}

static void report_fit(const struct fisher *f) {
    dn_report *report = f->report;
    report->converged = true;
    report->stop_reason = DN_STOP_CLOSED_FORM;
    report->objective = f->value[0];
    report->gradient_norm = (double)NAN;
    dn_report_number(report, "J", f->value[0]);
    dn_report_number(report, "components", (double)f->n_components);
    dn_report_list(report, "eigenvalues", f->value, f->n_components);
}

static dn_status make_machine(struct fisher *f, dn_machine **out, dn_error *err) {
    const size_t K = f->scatter.n_classes, d = f->scatter.n_cols, S = K == 2 ? 1 : K;
    dn_status status = dni_linear_machine_new(K, d, false, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *linear = dni_linear_machine_of(*out);
    status = set_projection(f, *out, err);
    if (status != DN_OK) {
        return status;
    }
    report_fit(f);
    status = K == 2 ? fit_two(f, linear, err) : fit_many(f, linear, err);
    if (status != DN_OK) {
        return status;
    }
    return dni_all_finite(linear->w, S * d) && dni_all_finite(linear->w0, S)
               ? DN_OK
               : dn_error_set(err, DN_ERR_NUMERIC,
                              "the weights are not finite: the inputs are too large (standardise "
                              "the columns)");
}

static dn_status fit_fisher(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                            dn_report *report, dn_error *err) {
    const struct fisher_shape shape = {input->n_classes, input->rows->n_cols};
    struct fisher fisher = {.input = input, .run = run, .report = report};
    void *memory_block = NULL;
    dn_status status = dni_scatter_compute(input, DNI_SCATTER_POOLED, run, &fisher.scatter, err);
    if (status != DN_OK) {
        return status;
    }
    status =
        dni_layout_take(run, fisher_layout, &shape, &fisher, "the directions", &memory_block, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = find_directions(&fisher, &shape, err);
    if (status == DN_OK) {
        status = make_machine(&fisher, out, err);
    }
cleanup:
    dn_run_free(run, memory_block);
    dni_scatter_done(&fisher.scatter, run);
    return status;
}

/* All passes over the rows are sums. */
static const char *alone(const dn_params *p) {
    (void)p;
    return NULL;
}

const dn_algorithm dni_algorithm_fisher = {
    .id = "fisher",
    .title = "Fisher's linear discriminant",
    .summary =
        "Directions on which the means of the classes are far apart compared with the scatter "
        "within the classes; a threshold for two classes, the nearest mean for more. It also "
        "projects rows on its directions (transform). Scores, no probabilities.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 4.1.4 and 4.1.6; Duda, "
              "Hart and Stork, Pattern Classification, section 3.8",
    .stopping_rule = "always: the directions are the eigenvectors of the generalised eigenproblem "
                     "S_B w = rho S_W w",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_STREAMS | DN_ALGORITHM_TRANSFORM,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = dni_multiclass_check,
    .drops_first = dni_drops_first,
    .memory = memory,
    .fit = fit_fisher,
    .alone = alone,
};
