/* Naive Bayes: the inputs are assumed independent within a class, so that the logarithm of the
 * density is a sum over the features.
 *
 *   g_k = ln P(C_k) + Σ_j ln p(x_j | C_k)
 *
 *   number         ln N(x_j; m_jk, σ²_jk), the weighted mean and variance (divisor Σv) of the rows
 *                  of the class; σ² is at least the floor
 *   boolean        p_jk = (N_jk + α)/(N_k + 2α)
 *   category       θ_jk = (N_jk + α)/(N_k + αL) for each of the L levels; a level that is not in
 *                  the training rows contributes nothing
 *   words, counts  x_j ln θ_jk,  θ_jk = (N_jk + α)/(Σ_i N_ik + αV), where i runs over the V
 *                  features of the text column, or over all numeric columns that are counts
 *
 * N_k = Σv and N_jk = Σv x_j over the rows of class k, with weights v of mean 1 unless they are
 * frequencies (dn_weights). With numeric "bernoulli" x_j is 1 if the number is above 0, and 0
 * otherwise.
 *
 * Alpaydın, Introduction to Machine Learning, sections 5.7 and 4.5; Bishop, PRML, section 4.2.3;
 * Manning, Raghavan, Schütze, Introduction to Information Retrieval, section 13.2; McCallum and
 * Nigam, A comparison of event models for naive Bayes text classification, AAAI-98 workshop on
 * learning for text categorization, equations (4) and (6).
 *
 * Closed form: two passes over the rows for Gaussian features, one for counts and presence. */
#include "base/argument.h"
#include "base/layout.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/report.h"
#include "learners/shared/data_errors.h"
#include "learners/shared/learner.h"
#include "learners/shared/likelihood.h"
#include "learners/shared/priors.h"
#include "learners/shared/scatter.h"
#include "linalg/tiles.h"
#include "machine/bayes.h"

#include <math.h>
#include <string.h>

static const char *const numeric_choices[] = {"gaussian", "multinomial", "bernoulli", NULL};
static const char *const numeric_meanings[] = {
    "each column is normal within a class, with its own mean and variance",
    "the columns are counts of events that share one distribution: word counts or weights, never "
    "below 0",
    "only whether a number is above 0 matters", NULL};

static const dn_param params[] = {
    {.name = "smoothing",
     .type = DN_PARAM_NUMBER,
     .meaning =
         "Pseudo-count alpha (Laplace smoothing): added to the number of rows of each value of a "
         "boolean or categorical input, and to the number of occurrences of each word. 0: a value "
         "that no training row of a class has is impossible in that class.",
     .default_number = 1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true,
     .complexity = -1},
    {.name = "variance_floor",
     .type = DN_PARAM_NUMBER,
     .meaning = "Smallest variance of a numeric column within a class, as a share of the "
                "variance of the column over all training rows; smaller variances are raised to "
                "it. A column that is constant in all rows gets this share of the largest "
                "variance of a column, which has no effect on the classes. 0: no floor.",
     .default_number = 1e-9,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    DNI_PARAM_CHOICE("numeric",
                     "How numeric columns, also those of an svmlight file, are modelled. Text "
                     "columns are always multinomial.",
                     "gaussian", numeric_choices, numeric_meanings),
    DNI_PARAM_PRIORS,
};

struct bayes {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_naive_bayes *machine;
    size_t n_classes, d;  /* K and d */
    double smoothing;     /* α in units of the weights */
    dni_factor numeric;   /* distribution of numeric columns */
    dni_scatter scatter;  /* diagonal scatter; empty if no feature is Gaussian */
    double largest;       /* largest variance of a Gaussian feature over all rows */
    bool *raised;         /* [d] features whose variance was raised to the floor */
    bool *constant;       /* [d] Gaussian features that are constant in all rows */
    bool *count;          /* [d] numeric columns that share one multinomial */
    double *class_weight; /* [K] N_k; `sum` follows in memory */
    double *sum;          /* [K × d] N_jk */
};

/* ---- memory ---- */
struct bayes_shape {
    size_t n_classes, d;
};

static void bayes_layout(dni_layout *layout, const void *shape, void *work) {
    const struct bayes_shape *s = shape;
    struct bayes *b = work;
    b->raised = dni_layout_array(layout, s->d, sizeof *b->raised);
    b->constant = dni_layout_array(layout, s->d, sizeof *b->constant);
    b->count = dni_layout_array(layout, s->d, sizeof *b->count);
    b->class_weight = dni_layout_matrix(layout, s->n_classes, s->d + 1);
    b->sum = b->class_weight == NULL ? NULL : b->class_weight + s->n_classes;
}

/* Upper bound of the bytes of a fit. shape->counted: no feature is Gaussian, and only K (d + 1)
 * sums are computed. Otherwise the scatter is included, whose passes need at least as much memory
 * as the pass that counts. */
static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const struct bayes_shape s = {shape->n_classes, shape->n_features};
    const double d = (double)s.d, K = (double)s.n_classes;
    struct bayes unused;
    (void)p;
    const double sums = shape->counted
                            ? dn_run_sum_memory(shape->n_rows, shape->n_slots, K * (d + 1))
                            : dni_scatter_memory(DNI_SCATTER_DIAGONAL, shape->n_rows, s.d,
                                                 s.n_classes, shape->n_slots);
    const double likelihood =
        dni_likelihood_memory(false, shape->n_rows, s.d, s.n_classes, shape->n_slots);
    /* With Gaussian features the machine has two more tables, and at most a range per feature. */
    const double folded = shape->counted ? 0 : 8 * 2 * K * d + 32 * d;
    return dni_layout_bytes(bayes_layout, &s, &unused) + fmax(sums, likelihood) + folded +
           8 * (2 * K * d + 5 * K) + d; /* the machine */
}

/* ---- the distribution of each feature ---- */
static dn_status refuse_missing_level(const dn_input *input, dn_error *err) {
    return dni_parameter_error(err, "categorical",
                               "naive_bayes needs a feature for every level of \"%.64s\", but the "
                               "encoding drop_first omits one: choose one_hot",
                               input->name);
}

/* Sets the distribution of the numeric features first … first + n − 1. */
static dn_status set_numbers(struct bayes *b, size_t first, size_t n, dn_error *err) {
    const dn_fit_input *input = b->input;
    for (size_t j = first; j < first + n; j++) {
        b->machine->factor[j] = (unsigned char)b->numeric;
        b->count[j] = b->numeric == DNI_FACTOR_COUNT;
        if (b->numeric == DNI_FACTOR_GAUSSIAN || input->scale == NULL ||
            (input->mean[j] == 0 && input->scale[j] == 1)) {
            continue;
        }
        char name[DN_FIELD_SIZE];
        dni_feature_name(input, j, name);
        return dni_parameter_error(err, "standardize",
                                   "column \"%s\" must not be standardised for naive_bayes with "
                                   "numeric \"%s\": leave features.standardize out, or choose "
                                   "\"gaussian\"",
                                   name, dn_params_word(input->params, "numeric"));
    }
    return DN_OK;
}

static dn_status set_input(struct bayes *b, const dn_input *input, dn_error *err) {
    unsigned char *factor = b->machine->factor;
    const size_t first = input->first_feature, n = input->n_features;
    switch (input->type) {
    case DN_CATEGORICAL:
        if (n < input->levels.n + input->missing_level) {
            return refuse_missing_level(input, err);
        }
        memset(factor + first, DNI_FACTOR_COUNT, n);
        return DN_OK;
    case DN_TEXT:
        memset(factor + first, DNI_FACTOR_COUNT, n);
        return DN_OK;
    case DN_SPARSE:
        return set_numbers(b, first, n, err);
    case DN_NUMERIC:
    case DN_BOOLEAN:
    case DN_DATETIME:
        break;
    }
    if (input->indicator) {
        factor[first + n - 1] = DNI_FACTOR_BERNOULLI;
    }
    if (input->in_basis_only) {
        return DN_OK;
    }
    if (dn_column_type_is_real(input->type)) {
        return set_numbers(b, first, 1, err);
    }
    factor[first] = DNI_FACTOR_BERNOULLI;
    return DN_OK;
}

/* Fills b->machine->factor and b->count. The features of basis functions are Gaussian. */
static dn_status set_factors(struct bayes *b, dn_error *err) {
    const dn_encoder *encoder = b->input->encoder;
    memset(b->machine->factor, DNI_FACTOR_GAUSSIAN, b->d);
    if (encoder == NULL) {
        return set_numbers(b, 0, b->d, err);
    }
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        dn_status status = set_input(b, dn_encoder_input(encoder, i), err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* ---- sums over the rows ---- */
static dn_status refuse_negative(const struct bayes *b, size_t j, double x, dn_error *err) {
    char name[DN_FIELD_SIZE];
    dni_feature_name(b->input, j, name);
    return dni_error_at(
        dn_error_set(err, DN_ERR_DATA,
                     "column \"%s\" must have values >= 0 for numeric \"multinomial\" (got %g): "
                     "choose \"gaussian\" or \"bernoulli\"",
                     name, x),
        name, -1, err);
}

static inline dn_status add_value(const struct bayes *b, size_t j, double x, double v, double *sum,
                                  dn_error *err) {
    if (b->count[j] && x < 0) {
        return refuse_negative(b, j, x, err);
    }
    sum[j] += b->machine->factor[j] == DNI_FACTOR_PRESENCE ? (x > 0 ? v : 0) : v * x;
    return DN_OK;
}

/* Adds row t with weight v to the sums [d] of its class. */
static dn_status add_row(const struct bayes *b, dn_matrix x, size_t t, double v, double *sum,
                         dn_error *err) {
    dn_status status = DN_OK;
    if (x.kind == DN_DENSE) {
        for (size_t j = 0; j < b->d && status == DN_OK; j++) {
            status = add_value(b, j, x.values[t * x.stride + j], v, sum, err);
        }
        return status;
    }
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1] && status == DN_OK; e++) {
        status = add_value(b, x.cols[e], x.values[e], v, sum, err);
    }
    return status;
}

/* out: [K] N_k, then [K × d] N_jk. */
static dn_status count_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    (void)slot;
    const struct bayes *b = arg;
    dni_tiles tiles = dni_tiles_of(b->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const size_t k = (size_t)tile->target[t];
            const double v = tile->weight[t];
            out[k] += v;
            dn_status status =
                v == 0 ? DN_OK : add_row(b, tile->x, t, v, out + b->n_classes + k * b->d, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return tiles.status;
}

static dn_status count_rows(struct bayes *b, dn_error *err) {
    const size_t K = b->n_classes;
    double total = 0;
    dn_status status =
        dn_run_sum(b->run, b->input->rows, &(dn_sum){count_block, b, sizeof *b, K + K * b->d},
                   b->class_weight, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < K; k++) {
        total += b->class_weight[k];
    }
    if (!(total > 0) || !isfinite(total)) {
        return dni_error_weight_sum(total, err);
    }
    for (size_t i = 0; i < K * b->d; i++) {
        if (!isfinite(b->sum[i])) {
            char name[DN_FIELD_SIZE];
            dni_feature_name(b->input, i % b->d, name);
            return dn_error_set(err, DN_ERR_NUMERIC,
                                "feature \"%s\" has values so large that their sum overflows: "
                                "divide it by a power of ten",
                                name);
        }
    }
    return DN_OK;
}

/* Computes N_k and N_jk from the scatter. Counts that rounding made negative become 0. */
static void counts_of_scatter(struct bayes *b) {
    const dni_scatter *s = &b->scatter;
    memcpy(b->class_weight, s->class_weight, b->n_classes * sizeof *b->class_weight);
    for (size_t k = 0; k < b->n_classes; k++) {
        for (size_t j = 0; j < b->d; j++) {
            b->sum[k * b->d + j] = fmax(s->class_mean[k * b->d + j], 0) * s->class_weight[k];
        }
    }
}

/* Computes the scatter if a feature is Gaussian. Computes N_k and N_jk from the scatter where
 * possible, otherwise in another pass over the rows. */
static dn_status sum_rows(struct bayes *b, dn_error *err) {
    bool gaussian = false, other = false;
    for (size_t j = 0; j < b->d; j++) {
        const unsigned char factor = b->machine->factor[j];
        gaussian = gaussian || factor == DNI_FACTOR_GAUSSIAN;
        other = other || factor == DNI_FACTOR_PRESENCE || b->count[j];
    }
    if (gaussian) {
        dn_status status =
            dni_scatter_compute(b->input, DNI_SCATTER_DIAGONAL, b->run, &b->scatter, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (!gaussian || other) {
        return count_rows(b, err);
    }
    counts_of_scatter(b);
    return DN_OK;
}

/* ---- Gaussian features ---- */
static dn_status refuse_no_variance(const struct bayes *b, size_t k, size_t j, dn_error *err) {
    char class_name[DN_FIELD_SIZE], column[DN_FIELD_SIZE];
    dni_class_name(b->input, k, class_name);
    dni_feature_name(b->input, j, column);
    const bool has_floor = dn_params_number(b->input->params, "variance_floor") > 0;
    return dni_error_at(
        dn_error_set(err, DN_ERR_DATA,
                     has_floor ? "column \"%s\" is constant in class \"%s\" (variance 0), "
                                 "and variance_floor has no effect because no numeric "
                                 "column varies: exclude the column"
                               : "column \"%s\" is constant in class \"%s\" (variance "
                                 "0): exclude the column, or set variance_floor above 0",
                     column, class_name),
        column, -1, err);
}

static dn_status fit_gaussian(struct bayes *b, size_t j, double *mean, double *variance,
                              dn_error *err) {
    const dni_scatter *s = &b->scatter;
    const double floor =
        dn_params_number(b->input->params, "variance_floor") *
        (b->constant[j] || b->input->params->rules == DN_RULES_FIRST ? b->largest
                                                                     : dni_scatter_variance(s, j));
    if (!isfinite(floor)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "variance_floor times the variance of a column must be finite (got "
                            "%g): lower variance_floor",
                            floor);
    }
    for (size_t k = 0; k < b->n_classes; k++) {
        const double estimate = s->scatter[k * b->d + j] / s->class_weight[k];
        mean[k] = s->class_mean[k * b->d + j];
        variance[k] = fmax(estimate, floor);
        b->raised[j] = b->raised[j] || estimate < floor;
        if (!(variance[k] > 0)) {
            return refuse_no_variance(b, k, j, err);
        }
    }
    return DN_OK;
}

static dn_status fit_gaussians(struct bayes *b, dn_error *err) {
    const size_t K = b->n_classes;
    dni_naive_bayes *machine = b->machine;
    dni_scatter_constants(&b->scatter, b->constant);
    for (size_t j = 0; j < b->d; j++) {
        if (machine->factor[j] == DNI_FACTOR_GAUSSIAN) {
            b->largest = fmax(b->largest, dni_scatter_variance(&b->scatter, j));
        }
    }
    for (size_t j = 0; j < b->d; j++) {
        if (machine->factor[j] == DNI_FACTOR_GAUSSIAN) {
            dn_status status = fit_gaussian(b, j, machine->a + j * K, machine->b + j * K, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* ---- features whose distribution is estimated from counts ---- */
/* Returns ln(part/whole), or −∞ if part is 0. */
static double log_share(double part, double whole) {
    return part > 0 ? log(part / whole) : -(double)INFINITY;
}

static void fit_bernoulli(const struct bayes *b, size_t j) {
    const size_t K = b->n_classes;
    for (size_t k = 0; k < K; k++) {
        const double rows = b->class_weight[k], ones = b->sum[k * b->d + j],
                     total = rows + 2 * b->smoothing;
        b->machine->a[j * K + k] = log_share(ones + b->smoothing, total);
        b->machine->b[j * K + k] = log_share(fmax(rows - ones, 0) + b->smoothing, total);
    }
}

/* Sets ln θ of the features first … first + n − 1 that are marked (marked NULL: of all of them).
 * Together they are the values of one distribution.
 *
 *   k         the class
 *   total     denominator without smoothing: Σ_i N_ik, or N_k
 *   n_values  number of values of the distribution */
static void fit_shares(const struct bayes *b, size_t k, double total, double n_values, size_t first,
                       size_t n, const bool *marked) {
    const double *sum = b->sum + k * b->d;
    for (size_t j = first; j < first + n; j++) {
        if (marked == NULL || marked[j]) {
            b->machine->a[j * b->n_classes + k] =
                log_share(sum[j] + b->smoothing, total + b->smoothing * n_values);
        }
    }
}

/* Calls fit_shares with the total and the number of the marked features. */
static void fit_multinomial(const struct bayes *b, size_t k, size_t first, size_t n,
                            const bool *marked) {
    double total = 0, n_values = 0;
    for (size_t j = first; j < first + n; j++) {
        if (marked == NULL || marked[j]) {
            total += b->sum[k * b->d + j];
            n_values += 1;
        }
    }
    fit_shares(b, k, total, n_values, first, n, marked);
}

static void fit_counts(const struct bayes *b) {
    const dn_encoder *encoder = b->input->encoder;
    for (size_t j = 0; j < b->d; j++) {
        const unsigned char factor = b->machine->factor[j];
        if (factor == DNI_FACTOR_BERNOULLI || factor == DNI_FACTOR_PRESENCE) {
            fit_bernoulli(b, j);
        }
    }
    for (size_t k = 0; k < b->n_classes; k++) {
        fit_multinomial(b, k, 0, b->d, b->count);
        for (size_t i = 0; encoder != NULL && i < dn_encoder_n_inputs(encoder); i++) {
            const dn_input *input = dn_encoder_input(encoder, i);
            const size_t first = input->first_feature, n = input->n_features;
            if (input->type == DN_CATEGORICAL) { /* at most one level per row */
                fit_shares(b, k, b->class_weight[k], (double)n, first, n, NULL);
            } else if (input->type == DN_TEXT) {
                fit_multinomial(b, k, first, n, NULL);
            }
        }
    }
}

/* ---- the report ---- */
static bool has_sparse_input(const dn_encoder *encoder) {
    for (size_t i = 0; encoder != NULL && i < dn_encoder_n_inputs(encoder); i++) {
        if (dn_encoder_input(encoder, i)->type == DN_SPARSE) {
            return true;
        }
    }
    return false;
}

static void warn_raised(const struct bayes *b, size_t n) {
    char columns[DNI_NAMES_SIZE];
    dni_feature_list(b->input, b->raised, 3, columns);
    dn_report_warn(b->report, DN_WARNING_VARIANCE_FLOOR,
                   "%zu columns (%s) have a variance within a class below variance_floor %g times "
                   "their variance over all rows, which was raised to this value: %s",
                   n, columns, dn_params_number(b->input->params, "variance_floor"),
                   has_sparse_input(b->input->encoder)
                       ? "if they are counts, choose numeric \"multinomial\"; exclude them, or "
                         "lower variance_floor"
                       : "exclude them, or lower variance_floor");
}

static void report_fit(const struct bayes *b) {
    double weight = 0, gaussian = 0, bernoulli = 0, counts = 0;
    size_t raised = 0;
    for (size_t j = 0; j < b->d; j++) {
        const unsigned char factor = b->machine->factor[j];
        gaussian += factor == DNI_FACTOR_GAUSSIAN;
        bernoulli += factor == DNI_FACTOR_BERNOULLI || factor == DNI_FACTOR_PRESENCE;
        counts += factor == DNI_FACTOR_COUNT;
        raised += b->raised[j];
    }
    for (size_t k = 0; k < b->n_classes; k++) {
        weight += b->class_weight[k];
    }
    dn_report_number(b->report, "rows_weight", weight);
    dn_report_list(b->report, "prior", b->machine->prior, b->n_classes);
    dn_report_number(b->report, "gaussian_features", gaussian);
    dn_report_number(b->report, "bernoulli_features", bernoulli);
    dn_report_number(b->report, "count_features", counts);
    dn_report_number(b->report, "raised_variances", (double)raised);
    if (raised > 0) {
        warn_raised(b, raised);
    }
}

/* ---- a fit ---- */
static dni_factor numeric_factor(const dn_params *p) {
    const char *word = dn_params_word(p, "numeric");
    return strcmp(word, "multinomial") == 0 ? DNI_FACTOR_COUNT
           : strcmp(word, "bernoulli") == 0 ? DNI_FACTOR_PRESENCE
                                            : DNI_FACTOR_GAUSSIAN;
}

/* Computes the factors, distributions and priors of b->machine. Releases the scatter, so that the
 * computation of the likelihood can use its memory. */
static dn_status fit_factors(struct bayes *b, dn_error *err) {
    dn_status status = set_factors(b, err);
    if (status != DN_OK) {
        return status;
    }
    status = sum_rows(b, err);
    if (status != DN_OK) {
        return status;
    }
    if (b->scatter.scatter != NULL) {
        status = fit_gaussians(b, err);
        if (status != DN_OK) {
            return status;
        }
    }
    dni_scatter_done(&b->scatter, b->run);
    fit_counts(b);
    dni_priors_resolve(b->input->params, b->n_classes, b->class_weight, b->machine->prior);
    return DN_OK;
}

static dn_status fit_naive_bayes(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                                 dn_report *report, dn_error *err) {
    const size_t K = input->n_classes, d = input->rows->n_cols;
    const struct bayes_shape shape = {K, d};
    struct bayes b = {.input = input,
                      .run = run,
                      .report = report,
                      .n_classes = K,
                      .d = d,
                      .smoothing =
                          dn_params_number(input->params, "smoothing") / dni_rows_per_weight(input),
                      .numeric = numeric_factor(input->params)};
    void *memory = NULL;
    if (K > SIZE_MAX / 64 / (d + 1)) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu features of %zu classes are more than can be addressed", d, K);
    }
    dn_status status = dni_bayes_machine_new(K, d, out, err);
    if (status != DN_OK) {
        return status;
    }
    *report = dni_report_closed_form();
    b.machine = dni_bayes_of(*out);
    status =
        dni_layout_take(run, bayes_layout, &shape, &b, "the sums of the classes", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = fit_factors(&b, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_bayes_fold(*out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    report_fit(&b);
    status = dni_likelihood_report(input, run, *out, NULL, report, err);
cleanup:
    dni_scatter_done(&b.scatter, run);
    dn_run_free(run, memory);
    return status;
}

/* All passes over the rows are sums. */
static const char *alone(const dn_params *p) {
    (void)p;
    return NULL;
}

const dn_algorithm dni_algorithm_naive_bayes = {
    .id = "naive_bayes",
    .title = "Naive Bayes",
    .summary =
        "Treats the inputs as independent within each class: a Gaussian for each number, "
        "shares for booleans, categories and the words of texts (multinomial). Needs at most "
        "three passes over the rows, and few rows; its probabilities are often too close to "
        "0 and 1 when inputs depend on each other.",
    .source = "Alpaydin, Introduction to Machine Learning, sections 4.5 and 5.7; Bishop, Pattern "
              "Recognition and Machine Learning, section 4.2.3; Manning, Raghavan and Schuetze, "
              "Introduction to Information Retrieval, section 13.2",
    .stopping_rule = "closed form: always",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STREAMS |
             DN_ALGORITHM_DENSITY | DN_ALGORITHM_NONLINEAR | DN_ALGORITHM_ALL_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .memory = memory,
    .fit = fit_naive_bayes,
    .alone = alone,
};
