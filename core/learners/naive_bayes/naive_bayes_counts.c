/* Counts of naive Bayes. Of class k, N_k its rows' weight, N_jk the Σv x_j of them:
 *
 *   boolean, presence   p_jk = (N_jk + α)/(N_k + 2α)
 *   level               θ_jk = (N_jk + α)/(N_k + αL), L the levels of the input
 *   word, event         θ_jk = (N_jk + α)/(Σ_i N_ik + αV), i over the V features of the text column, or over all numbers that are counts
 *
 * McCallum and Nigam, A comparison of event models for naive Bayes text classification, AAAI-98 workshop on learning for text categorization, equations (4) and (6). */
#include "learners/naive_bayes/naive_bayes_counts.h"
#include "catalogue/report.h"

#include <math.h>
#include <string.h>

const char *const dni_bayes_numeric[] = {"gaussian", "multinomial", "bernoulli", NULL};
const char *const dni_bayes_numeric_meanings[] = {
    "each is normal within a class, with a mean and a variance of its own",
    "they count events, all of them together draws from one distribution: word counts or weights, "
    "never below 0",
    "all that matters of each is whether it is above 0", NULL};

/* ---- what features are ---- */
static dn_status not_every_level(const dn_input *input, dn_error *err) {
    dn_status status = dn_error_set(
        err, DN_ERR_ARGUMENT,
        "naive_bayes needs a feature for every level of \"%.64s\", which the encoding drop_first "
        "does not give: choose one_hot",
        input->name);
    dn_error_set_field(err, "categorical");
    return status;
}

/* Numbers that are features themselves. */
static dn_status choose_numbers(const dn_fit_input *input, dn_factor numeric, size_t first,
                                size_t n, unsigned char *factor, bool *event, dn_error *err) {
    for (size_t j = first; j < first + n; j++) {
        factor[j] = (unsigned char)numeric;
        event[j] = numeric == DN_FACTOR_COUNT;
        if (numeric == DN_FACTOR_GAUSSIAN || input->scale == NULL ||
            (input->mean[j] == 0 && input->scale[j] == 1)) {
            continue;
        }
        char name[DN_FIELD_SIZE];
        dni_feature_name(input, j, name);
        dn_status status = dn_error_set(
            err, DN_ERR_ARGUMENT,
            "naive_bayes with numeric \"%s\" wants column \"%s\" as it is, not standardised: leave "
            "features.standardize out, or choose \"gaussian\"",
            dn_params_word(input->params, "numeric"), name);
        dn_error_set_field(err, "standardize");
        return status;
    }
    return DN_OK;
}

static dn_status choose_input(const dn_fit_input *input, const dn_input *of, dn_factor numeric,
                              unsigned char *factor, bool *event, dn_error *err) {
    size_t first = of->first_feature, n = of->n_features;
    switch (of->type) {
    case DN_CATEGORICAL:
        if (n < of->levels.n + of->missing_level) {
            return not_every_level(of, err);
        }
        memset(factor + first, DN_FACTOR_COUNT, n);
        return DN_OK;
    case DN_TEXT:
        memset(factor + first, DN_FACTOR_COUNT, n);
        return DN_OK;
    case DN_SPARSE:
        return choose_numbers(input, numeric, first, n, factor, event, err);
    case DN_NUMERIC:
    case DN_BOOLEAN:
        break;
    }
    if (of->indicator) {
        factor[first + n - 1] = DN_FACTOR_BERNOULLI;
    }
    if (of->in_basis_only) {
        return DN_OK;
    }
    if (of->type == DN_NUMERIC) {
        return choose_numbers(input, numeric, first, 1, factor, event, err);
    }
    factor[first] = DN_FACTOR_BERNOULLI;
    return DN_OK;
}

dn_status dni_bayes_choose(const dn_fit_input *input, dn_factor numeric, unsigned char *factor,
                           bool *event, dn_error *err) {
    memset(factor, DN_FACTOR_GAUSSIAN, input->rows->n_cols); /* features of bases remain so */
    if (input->encoder == NULL) {
        return choose_numbers(input, numeric, 0, input->rows->n_cols, factor, event, err);
    }
    dn_status status = DN_OK;
    for (size_t i = 0; i < dn_encoder_n_inputs(input->encoder) && status == DN_OK; i++) {
        status =
            choose_input(input, dn_encoder_input(input->encoder, i), numeric, factor, event, err);
    }
    return status;
}

/* ---- the pass ---- */
static dn_status below_zero(const dni_bayes_counts *c, size_t j, double x, dn_error *err) {
    char name[DN_FIELD_SIZE];
    dni_feature_name(c->input, j, name);
    dn_status status = dn_error_set(err, DN_ERR_DATA,
                                    "column \"%s\" has a value below 0 (%g), which is no count: "
                                    "naive_bayes with numeric \"multinomial\" "
                                    "needs values >= 0; choose \"gaussian\" or \"bernoulli\"",
                                    name, x);
    dn_error_set_field(err, name);
    return status;
}

static inline dn_status add_value(const dni_bayes_counts *c, size_t j, double x, double v,
                                  double *sum, dn_error *err) {
    if (c->event[j] && x < 0) {
        return below_zero(c, j, x, err);
    }
    sum[j] += c->factor[j] == DN_FACTOR_PRESENCE ? (x > 0 ? v : 0) : v * x;
    return DN_OK;
}

/* out: Σv by class, then the sums by class and feature */
static dn_status count_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    (void)slot;
    const dni_bayes_counts *c = arg;
    dn_matrix x = block->x;
    for (size_t t = 0; t < x.n_rows; t++) {
        size_t k = (size_t)block->target[t];
        double v = block->weight == NULL ? 1 : block->weight[t],
               *sum = out + c->n_classes + k * c->d;
        dn_status status = DN_OK;
        out[k] += v;
        if (v == 0) {
            continue;
        }
        if (x.kind == DN_DENSE) {
            for (size_t j = 0; j < c->d && status == DN_OK; j++) {
                status = add_value(c, j, x.values[t * x.stride + j], v, sum, err);
            }
        } else {
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1] && status == DN_OK; e++) {
                status = add_value(c, x.cols[e], x.values[e], v, sum, err);
            }
        }
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_bayes_count(const dni_bayes_counts *c, const dn_run *run, dn_error *err) {
    size_t K = c->n_classes;
    double total = 0;
    dn_status status =
        dn_run_sum(run, c->input->rows, &(dn_sum){count_block, c, sizeof *c, K + K * c->d},
                   c->class_weight, err);
    for (size_t k = 0; status == DN_OK && k < K; k++) {
        total += c->class_weight[k];
    }
    if (status == DN_OK && (!(total > 0) || !isfinite(total))) {
        status = dn_error_set(err, DN_ERR_DATA,
                              "the weights of the rows must have a positive, finite sum (got %g)",
                              total);
    }
    for (size_t i = 0; status == DN_OK && i < K * c->d; i++) {
        if (!isfinite(c->sum[i])) {
            char name[DN_FIELD_SIZE];
            dni_feature_name(c->input, i % c->d, name);
            status = dn_error_set(err, DN_ERR_NUMERIC,
                                  "feature \"%s\" has values so large that their sum leaves the "
                                  "finite numbers: divide it by a power of ten",
                                  name);
        }
    }
    return status;
}

void dni_bayes_count_scatter(const dni_bayes_counts *c, const dni_scatter *scatter) {
    memcpy(c->class_weight, scatter->class_weight, c->n_classes * sizeof *c->class_weight);
    for (size_t k = 0; k < c->n_classes; k++) {
        for (size_t j = 0; j < c->d; j++) {
            c->sum[k * c->d + j] =
                fmax(scatter->class_mean[k * c->d + j], 0) * scatter->class_weight[k];
        }
    }
}

/* ---- factors ---- */
/* ln of a share; of nothing: impossible. */
static double log_share(double part, double whole) {
    return part > 0 ? log(part / whole) : -(double)INFINITY;
}

static void fit_yes_or_no(const dni_bayes_counts *c, size_t j, dn_naive_bayes *out) {
    size_t K = c->n_classes;
    for (size_t k = 0; k < K; k++) {
        double rows = c->class_weight[k], ones = c->sum[k * c->d + j],
               total = rows + 2 * c->smoothing;
        out->a[j * K + k] = log_share(ones + c->smoothing, total);
        out->b[j * K + k] = log_share(fmax(rows - ones, 0) + c->smoothing, total);
    }
}

/* θ of features first … first + n - 1 that are marked (NULL: all), of a distribution over `values` in which class k shows `total` altogether. */
static void fit_shares(const dni_bayes_counts *c, size_t k, double total, double values,
                       size_t first, size_t n, const bool *marked, dn_naive_bayes *out) {
    const double *sum = c->sum + k * c->d;
    for (size_t j = first; j < first + n; j++) {
        if (marked == NULL || marked[j]) {
            out->a[j * c->n_classes + k] =
                log_share(sum[j] + c->smoothing, total + c->smoothing * values);
        }
    }
}

/* All that class k shows of the features, and how many they are. */
static double add_up(const dni_bayes_counts *c, size_t k, size_t first, size_t n,
                     const bool *marked, double *values) {
    double total = 0;
    *values = 0;
    for (size_t j = first; j < first + n; j++) {
        if (marked == NULL || marked[j]) {
            total += c->sum[k * c->d + j];
            *values += 1;
        }
    }
    return total;
}

void dni_bayes_fit_counts(const dni_bayes_counts *c, dn_naive_bayes *out) {
    const dn_encoder *encoder = c->input->encoder;
    for (size_t j = 0; j < c->d; j++) {
        if (c->factor[j] == DN_FACTOR_BERNOULLI || c->factor[j] == DN_FACTOR_PRESENCE) {
            fit_yes_or_no(c, j, out);
        }
    }
    for (size_t k = 0; k < c->n_classes; k++) {
        double values, total = add_up(c, k, 0, c->d, c->event, &values);
        fit_shares(c, k, total, values, 0, c->d, c->event, out);
        for (size_t i = 0; encoder != NULL && i < dn_encoder_n_inputs(encoder); i++) {
            const dn_input *input = dn_encoder_input(encoder, i);
            size_t first = input->first_feature, n = input->n_features;
            if (input->type ==
                DN_CATEGORICAL) { /* a row shows one level, or one that has no feature */
                fit_shares(c, k, c->class_weight[k], (double)n, first, n, NULL, out);
            }
            if (input->type != DN_TEXT) {
                continue;
            }
            total = add_up(c, k, first, n, NULL, &values);
            fit_shares(c, k, total, values, first, n, NULL, out);
        }
    }
}
