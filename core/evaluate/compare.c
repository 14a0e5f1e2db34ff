/* Comparison of models (compare.h): results for each row, bootstrap samples, McNemar's test. */
#include "base/argument.h"
#include "base/layout.h"
#include "base/random.h"
#include "base/tasks.h"
#include "evaluate/evaluate_table.h"
#include "evaluate/row_results.h"
#include <discern/compare.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_CONFIDENCE 0.95

struct compared {
    dn_model *model;
    dn_metrics *metrics;
    dni_row_results rows;
};

struct dn_comparison {
    const dn_run *run;
    dn_run serial; /* the run, if the caller has none */
    size_t n_models, n_samples, max_rows, n_measured;
    double confidence;
    char *target, *weight_name; /* NULL: that of the model; none */
    size_t n_added;
    struct compared *models; /* [n_models] */
    size_t n_table, n;       /* rows of the table, and of those that are used */
    uint8_t *role;           /* [n_table] */
    double *weight;          /* [n] NULL: all 1 */
    double *values;          /* [n_samples × n_models × n_measured] metrics of the samples */
    double *interval;        /* [(n_models + n_pairs) × n_measured × 2] */
    size_t n_pairs;
    dn_compared_pair *pairs; /* [n_pairs] */
    size_t n_disagreements, n_listed;
    dn_disagreement *listed; /* [max_rows] */
    size_t *listed_at;       /* [max_rows] number of the row among those that are used */
};

const char *dn_compared_metric_name(size_t i) {
    const size_t n = dni_n_measured() - 1;
    return i < n ? dn_metric_name(i) : i == n ? "macro_f1" : NULL;
}

/* ---- life ---- */
/* *out ← a copy of the text; NULL for NULL. */
static bool copy_text(const char *text, char **out) {
    const size_t size = text == NULL ? 0 : strlen(text) + 1;
    char *copy = text == NULL ? NULL : malloc(size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    *out = copy;
    return text == NULL || copy != NULL;
}

dn_status dn_comparison_new(const dn_comparison_options *options, const dn_run *run,
                            dn_comparison **out, dn_error *err) {
    if (options == NULL || out == NULL) {
        return dni_argument_null(options == NULL ? "options" : "out", err);
    }
    dn_status status = dni_argument_struct(options->struct_size, sizeof *options, "options", err);
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    const double confidence = options->confidence == 0 ? USUAL_CONFIDENCE : options->confidence;
    if (options->n_models < 2 || options->n_models > DN_MAX_COMPARED) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "n_models must be from 2 to %d (got %zu)",
                            DN_MAX_COMPARED, options->n_models);
    }
    if (!(confidence > 0 && confidence < 1)) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "confidence must be between 0 and 1 (got %g)",
                            confidence);
    }
    dn_comparison *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the comparison");
    }
    c->serial = dn_run_default();
    c->run = run == NULL ? &c->serial : run;
    c->n_models = options->n_models;
    c->n_samples = options->n_samples;
    c->max_rows = options->max_rows;
    c->confidence = confidence;
    c->n_measured = dni_n_measured();
    c->n_pairs = c->n_models * (c->n_models - 1) / 2;
    c->models = calloc(c->n_models, sizeof *c->models);
    c->pairs = calloc(c->n_pairs, sizeof *c->pairs);
    c->interval = calloc((c->n_models + c->n_pairs) * c->n_measured * 2, sizeof *c->interval);
    c->listed = calloc(c->max_rows + 1, sizeof *c->listed);
    c->listed_at = calloc(c->max_rows + 1, sizeof *c->listed_at);
    const bool copied =
        copy_text(options->target, &c->target) && copy_text(options->weight, &c->weight_name);
    if (!copied || c->models == NULL || c->pairs == NULL || c->interval == NULL ||
        c->listed == NULL || c->listed_at == NULL) {
        dn_comparison_free(c);
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the comparison");
    }
    *out = c;
    return DN_OK;
}

void dn_comparison_free(dn_comparison *c) {
    if (c == NULL) {
        return;
    }
    for (size_t m = 0; c->models != NULL && m < c->n_models; m++) {
        dni_row_results_done(&c->models[m].rows);
        dn_metrics_free(c->models[m].metrics);
        dn_model_unref(c->models[m].model);
    }
    dn_run_free(c->run, c->role);
    dn_run_free(c->run, c->weight);
    dn_run_free(c->run, c->values);
    free(c->models);
    free(c->pairs);
    free(c->interval);
    free(c->listed);
    free(c->listed_at);
    free(c->target);
    free(c->weight_name);
    free(c);
}

/* ---- adding a model ---- */
/* Receives the results of the rows of a model. */
struct taking {
    dn_comparison *comparison;
    struct compared *of;
    bool differs; /* a row has another class than for the first model */
};

static void take_rows(void *arg, size_t first, const dn_metrics_rows *rows) {
    struct taking *t = arg;
    dn_comparison *c = t->comparison;
    dni_row_results_set(&t->of->rows, first, rows);
    for (size_t i = 0; i < rows->n; i++) {
        if (t->of == c->models) {
            if (c->weight != NULL) {
                c->weight[first + i] = rows->weight == NULL ? 1 : rows->weight[i];
            }
        } else {
            t->differs |= rows->truth[i] != dni_row_results_truth(&c->models[0].rows, first + i);
        }
    }
}

static bool same_classes(const dn_classes *a, const dn_classes *b) {
    bool same = a->n == b->n;
    for (size_t k = 0; same && k < a->n; k++) {
        const uint32_t *x = a->names.start + k, *y = b->names.start + k;
        const size_t n = x[1] - x[0];
        same = n == y[1] - y[0] && memcmp(a->names.bytes + x[0], b->names.bytes + y[0], n) == 0;
    }
    return same;
}

static dn_status other_rows(dn_error *err) {
    return dn_error_set(err, DN_ERR_DATA,
                        "the rows of the model, or their classes, are not those of the first "
                        "model");
}

/* Checks the model, and finds the rows that have a class. */
static dn_status find_rows(dn_comparison *c, const dn_model *model, const dn_table_source *source,
                           const dn_evaluate_options *options, const dn_run *run, dn_error *err) {
    void *role = NULL;
    if (c->n_added > 0 &&
        !same_classes(dn_model_classes(c->models[0].model), dn_model_classes(model))) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "the classes are not those of the first model"),
                            "classes", -1, err);
    }
    dn_status status =
        dn_run_alloc(c->run, source->n_rows + 1, 1, "the roles of the rows", &role, err);
    if (status == DN_OK) {
        status = dni_labelled_roles(model, source, options, run, role, err);
    }
    if (status == DN_OK && c->n_added > 0 &&
        (source->n_rows != c->n_table || memcmp(role, c->role, c->n_table) != 0)) {
        status = other_rows(err);
    }
    if (status != DN_OK || c->n_added > 0) {
        dn_run_free(c->run, role);
        return status;
    }
    c->role = role;
    c->n_table = source->n_rows;
    for (size_t i = 0; i < c->n_table; i++) {
        c->n += c->role[i] == DN_ROW_VALIDATE;
    }
    if (c->n == 0) {
        return dn_error_set(err, DN_ERR_DATA, "no row has a class");
    }
    if (c->weight_name != NULL) {
        void *weight = NULL;
        status = dn_run_alloc(c->run, c->n, sizeof *c->weight, "the weights", &weight, err);
        c->weight = weight;
    }
    return status;
}

dn_status dn_comparison_add(dn_comparison *c, const dn_model *model, const dn_table_source *source,
                            const dn_run *run, dn_error *err) {
    if (c == NULL || model == NULL) {
        return dni_argument_null(c == NULL ? "comparison" : "model", err);
    }
    dn_status status = dni_argument_call(source, run, 0, 0, err);
    if (status != DN_OK) {
        return status;
    }
    if (c->n_added == c->n_models) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "all %zu models were added", c->n_models);
    }
    const dn_evaluate_options options = {.target = c->target, .weight = c->weight_name};
    if (options.target == NULL && dn_model_target(model) == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the model has no target: set the column of the true classes");
    }
    struct compared *of = &c->models[c->n_added];
    status = find_rows(c, model, source, &options, run, err);
    if (status != DN_OK) {
        return status;
    }
    of->model = dn_model_ref((dn_model *)(uintptr_t)model);
    const size_t K = dn_model_classes(model)->n;
    const dn_metrics_options kept = {.n_classes = K,
                                     .n_rows = c->n,
                                     .probabilities = dn_model_has_probabilities(model),
                                     .class_scores =
                                         dn_decision_has_class_scores(dn_model_decision(model), K),
                                     .run = c->run};
    status = dni_row_results_init(&of->rows, &kept, err);
    struct taking taking = {.comparison = c, .of = of};
    dni_row_sink sink = {.take = take_rows, .arg = &taking};
    if (status == DN_OK) {
        status = dni_model_evaluate_rows(model, source, &options, &sink, run, &of->metrics, err);
    }
    if (status == DN_OK && (sink.n != c->n || taking.differs)) {
        status = other_rows(err);
    }
    if (status == DN_OK) {
        status = dni_row_results_rank(&of->rows, err);
    }
    c->n_added += status == DN_OK;
    return status;
}

/* ---- bootstrap samples ---- */
struct sampling {
    dn_comparison *comparison;
    struct sample {
        double *weight; /* [n × DNI_SAMPLES] */
        dni_sample_work work;
    } *slots; /* [n_slots] */
};

struct sample_shape {
    size_t n, n_classes;
};

static void sample_layout(dni_layout *layout, const void *shape, void *out) {
    const struct sample_shape *s = shape;
    struct sample *slot = out;
    const size_t K = s->n_classes;
    slot->weight = dni_layout_matrix(layout, s->n, DNI_SAMPLES);
    slot->work.cells = dni_layout_matrix(layout, K * DNI_SAMPLES, K + 1);
    slot->work.sample_cells = dni_layout_matrix(layout, K, K + 1);
    slot->work.per_class = dni_layout_array(layout, K, sizeof *slot->work.per_class);
}

/* weight [n × DNI_SAMPLES] column `at` ← how often each row is drawn in sample i, times its
 * weight. */
static void draw_sample(const dn_comparison *c, size_t i, size_t at, double *weight) {
    dni_random random;
    dni_random_init(&random, c->run->seed, DNI_STREAM_BOOTSTRAP + ((uint64_t)i << 16));
    for (size_t k = 0; k < c->n; k++) {
        weight[dni_random_below(&random, c->n) * DNI_SAMPLES + at]++;
    }
    for (size_t k = 0; k < c->n && c->weight != NULL; k++) {
        weight[k * DNI_SAMPLES + at] *= c->weight[k];
    }
}

/* Draws the samples of group i and measures the models. */
static dn_status measure_samples(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct sampling *s = arg;
    const dn_comparison *c = s->comparison;
    struct sample *sample = &s->slots[slot];
    const size_t first = i * DNI_SAMPLES, left = c->n_samples - first,
                 n = left < DNI_SAMPLES ? left : DNI_SAMPLES, stride = c->n_models * c->n_measured;
    memset(sample->weight, 0, c->n * DNI_SAMPLES * sizeof *sample->weight);
    for (size_t k = 0; k < n; k++) {
        draw_sample(c, first + k, k, sample->weight);
    }
    for (size_t m = 0; m < c->n_models; m++) {
        const dn_status status = dn_run_stop(c->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_row_results_measure(&c->models[m].rows, sample->weight, n, &sample->work,
                                c->values + first * stride + m * c->n_measured, stride);
    }
    return DN_OK;
}

static dn_status draw_samples(dn_comparison *c, dn_error *err) {
    const size_t n_slots = c->run->n_slots;
    const struct sample_shape shape = {c->n, dn_model_classes(c->models[0].model)->n};
    struct sampling s = {.comparison = c, .slots = calloc(n_slots, sizeof *s.slots)};
    void **memory = calloc(n_slots, sizeof *memory);
    dn_status status = DN_OK;
    if (s.slots == NULL || memory == NULL) {
        status = dn_error_set(err, DN_ERR_MEMORY, "no memory for the samples");
    }
    for (size_t t = 0; status == DN_OK && t < n_slots; t++) {
        status = dni_layout_take_raw(c->run, sample_layout, &shape, &s.slots[t], "the samples",
                                     &memory[t], err);
    }
    if (status == DN_OK) {
        status = dni_tasks_run(c->run, (c->n_samples + DNI_SAMPLES - 1) / DNI_SAMPLES,
                               measure_samples, &s, err);
    }
    for (size_t t = 0; memory != NULL && t < n_slots; t++) {
        dn_run_free(c->run, memory[t]);
    }
    free(memory);
    free(s.slots);
    return status;
}

/* ---- intervals ---- */
static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the quantile of x [n], ascending: linear between the ordered values. */
static double quantile(const double *x, size_t n, double share) {
    const double at = share * (double)(n - 1);
    const size_t low = (size_t)at;
    return low + 1 < n ? x[low] + (at - (double)low) * (x[low + 1] - x[low]) : x[n - 1];
}

/* out [2] ← the interval of the n values x that are defined in the samples. value: of all rows. */
static void set_interval(const dn_comparison *c, double value, double *x, size_t n, double *out) {
    out[0] = out[1] = (double)NAN;
    if (isnan(value) || n == 0 || 2 * n < c->n_samples) {
        return;
    }
    qsort(x, n, sizeof *x, compare_numbers);
    out[0] = quantile(x, n, (1 - c->confidence) / 2);
    out[1] = quantile(x, n, (1 + c->confidence) / 2);
}

/* Returns a metric of all rows. */
static double value_of(const dn_comparison *c, size_t model, size_t metric) {
    const dn_metrics *m = c->models[model].metrics;
    return metric + 1 < c->n_measured ? dn_metric_value(m, metric) : m->macro.f1;
}

/* Sets the interval of a metric of model `first`, or of its difference to model `second`; SIZE_MAX:
 * none. x: [n_samples] memory. */
static void measure_interval(dn_comparison *c, size_t first, size_t second, size_t metric,
                             double *x, double *out) {
    const bool differ = second != SIZE_MAX;
    const double value = value_of(c, first, metric) - (differ ? value_of(c, second, metric) : 0);
    size_t n = 0;
    for (size_t i = 0; i < c->n_samples; i++) {
        const double *sample = c->values + i * c->n_models * c->n_measured + metric;
        const double v =
            sample[first * c->n_measured] - (differ ? sample[second * c->n_measured] : 0);
        if (!isnan(v)) {
            x[n++] = v;
        }
    }
    set_interval(c, value, x, n, out);
}

static dn_status measure_intervals(dn_comparison *c, dn_error *err) {
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(c->run, c->n_samples + 1, sizeof(double), "the samples", &memory, err);
    for (size_t k = 0; status == DN_OK && k < c->n_models + c->n_pairs; k++) {
        const bool pair = k >= c->n_models;
        const dn_compared_pair *p = &c->pairs[pair ? k - c->n_models : 0];
        status = dn_run_stop(c->run, err);
        for (size_t i = 0; status == DN_OK && i < c->n_measured; i++) {
            measure_interval(c, pair ? p->first : k, pair ? p->second : SIZE_MAX, i, memory,
                             c->interval + (k * c->n_measured + i) * 2);
        }
    }
    dn_run_free(c->run, memory);
    return status;
}

/* ---- McNemar's test ---- */
/* Returns the probability of at most k or at least n − k successes among n with probability ½;
 * k <= n/2. */
static double binomial_tails(size_t k, size_t n) {
    double term = 1, sum = 0;
    for (size_t i = 0; i <= k; i++) {
        sum += term;
        term *= (double)(n - i) / (double)(i + 1);
    }
    return fmin(1, 2 * ldexp(sum, -(int)n));
}

dn_mcnemar dn_mcnemar_test(size_t first_right, size_t second_right) {
    const size_t n = first_right + second_right,
                 least = first_right < second_right ? first_right : second_right;
    if (n < DN_MCNEMAR_EXACT) {
        return (dn_mcnemar){.exact = true,
                            .statistic = (double)NAN,
                            .p_value = binomial_tails(least, n)};
    }
    const double distance = fmax((double)(n - 2 * least) - 1, 0),
                 statistic = distance * distance / (double)n;
    return (dn_mcnemar){.statistic = statistic, .p_value = erfc(sqrt(statistic / 2))};
}

static void count_pair(const dn_comparison *c, dn_compared_pair *p) {
    const dni_row_results *first = &c->models[p->first].rows, *second = &c->models[p->second].rows;
    for (size_t i = 0; i < c->n; i++) {
        const size_t truth = dni_row_results_truth(first, i), x = dni_row_results_label(first, i),
                     y = dni_row_results_label(second, i);
        p->both_right += x == truth && y == truth;
        p->first_right += x == truth && y != truth;
        p->second_right += x != truth && y == truth;
        p->both_wrong += x != truth && y != truth;
        p->disagreements += x != y;
    }
    p->mcnemar = dn_mcnemar_test(p->first_right, p->second_right);
}

static dn_status count_pairs(dn_comparison *c, dn_error *err) {
    size_t k = 0;
    for (size_t i = 0; i < c->n_models; i++) {
        for (size_t j = i + 1; j < c->n_models; j++, k++) {
            const dn_status status = dn_run_stop(c->run, err);
            if (status != DN_OK) {
                return status;
            }
            c->pairs[k] = (dn_compared_pair){.first = i, .second = j};
            count_pair(c, &c->pairs[k]);
        }
    }
    return DN_OK;
}

static void list_disagreements(dn_comparison *c) {
    size_t at = 0;
    for (size_t row = 0; row < c->n_table; row++) {
        if (c->role[row] != DN_ROW_VALIDATE) {
            continue;
        }
        const size_t label = dni_row_results_label(&c->models[0].rows, at);
        bool same = true;
        for (size_t m = 1; same && m < c->n_models; m++) {
            same = dni_row_results_label(&c->models[m].rows, at) == label;
        }
        c->n_disagreements += !same;
        if (!same && c->n_listed < c->max_rows) {
            c->listed_at[c->n_listed] = at;
            c->listed[c->n_listed++] =
                (dn_disagreement){.row = row,
                                  .truth = dni_row_results_truth(&c->models[0].rows, at)};
        }
        at++;
    }
}

dn_status dn_comparison_finish(dn_comparison *c, dn_error *err) {
    if (c == NULL) {
        return dni_argument_null("comparison", err);
    }
    if (c->n_added < c->n_models) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "%zu of %zu models were added", c->n_added,
                            c->n_models);
    }
    dn_status status = count_pairs(c, err);
    if (status != DN_OK) {
        return status;
    }
    list_disagreements(c);
    for (size_t i = 0; i < (c->n_models + c->n_pairs) * c->n_measured * 2; i++) {
        c->interval[i] = (double)NAN;
    }
    if (c->n_samples == 0) {
        return DN_OK;
    }
    void *values = NULL;
    status = dn_run_alloc(c->run, c->n_samples, c->n_models * c->n_measured * sizeof *c->values,
                          "the metrics of the samples", &values, err);
    c->values = values;
    if (status == DN_OK) {
        status = draw_samples(c, err);
    }
    return status == DN_OK ? measure_intervals(c, err) : status;
}

/* ---- results ---- */
size_t dn_comparison_rows(const dn_comparison *c) {
    return c->n;
}

size_t dn_comparison_skipped(const dn_comparison *c) {
    return c->n_table - c->n;
}

const dn_metrics *dn_comparison_metrics(const dn_comparison *c, size_t model) {
    return c->models[model].metrics;
}

/* out [2] ← interval k: of a model, then of the pairs. */
static void get_interval(const dn_comparison *c, size_t k, size_t metric, double *out) {
    memcpy(out, c->interval + (k * c->n_measured + metric) * 2, 2 * sizeof *out);
}

double dn_comparison_value(const dn_comparison *c, size_t model, size_t metric, double *out) {
    get_interval(c, model, metric, out);
    return value_of(c, model, metric);
}

size_t dn_comparison_n_pairs(const dn_comparison *c) {
    return c->n_pairs;
}

const dn_compared_pair *dn_comparison_pair(const dn_comparison *c, size_t pair) {
    return &c->pairs[pair];
}

double dn_comparison_difference(const dn_comparison *c, size_t pair, size_t metric, double *out) {
    const dn_compared_pair *p = &c->pairs[pair];
    get_interval(c, c->n_models + pair, metric, out);
    return value_of(c, p->first, metric) - value_of(c, p->second, metric);
}

size_t dn_comparison_disagreements(const dn_comparison *c) {
    return c->n_disagreements;
}

size_t dn_comparison_n_listed(const dn_comparison *c) {
    return c->n_listed;
}

dn_disagreement dn_comparison_disagreement(const dn_comparison *c, size_t i) {
    return c->listed[i];
}

size_t dn_comparison_label(const dn_comparison *c, size_t i, size_t model,
                           double *out_probability) {
    const dni_row_results *rows = &c->models[model].rows;
    *out_probability = dni_row_results_probability(rows, c->listed_at[i]);
    return dni_row_results_label(rows, c->listed_at[i]);
}
