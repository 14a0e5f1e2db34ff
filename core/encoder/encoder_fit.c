/* Fits an encoder to the training rows.
 *
 * A missing number is replaced by the mean m of its column or by the most frequent value f. s is
 * the standard deviation of the feature after the replacement. If missing numbers are replaced
 * by the mean, they add nothing to the sum of squares:
 *
 *   m   = sum(v x) / W           W: sum of v over the rows where x is not missing
 *   s^2 = sum(v (x - m)^2) / V   V: sum of v over all rows
 *
 * Two passes compute them. The first gives m'; the second gives the moments about m', D and Q,
 * which correct the rounding error of m':
 *
 *   D = sum(v (x - m')),  Q = sum(v (x - m')^2),  m = m' + D/W,  s^2 = (Q - D^2/W)/V
 *
 * With the most frequent value f, D and Q include the missing values, D + (V - W)(f - m') and Q
 * + (V - W)(f - m')^2, and all divisors are V.
 *
 * A column is constant, s = 1, if its minimum and maximum are equal, or if s is at most 1e-14
 * times the larger of their magnitudes, which is only a rounding error. Without any value, m = 0
 * and s = 1.
 *
 * Text columns are fitted by dni_vocabulary_fit, sparse columns by dni_sparse_fit. A
 * standardised index of a sparse column is like a number whose missing values are 0. */
#include "encoder/encoder_fit.h"
#include "base/layout.h"
#include "encoder/basis/basis_fit.h"
#include "encoder/encoder_frequent.h"
#include "encoder/encoder_impl.h"
#include "encoder/encoder_moments.h"
#include "encoder/encoder_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */
struct level {
    const char *text;
    size_t length;
};

static int compare_levels(const void *a, const void *b) {
    const struct level *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = shorter > 0 ? memcmp(x->text, y->text, shorter) : 0;
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static dn_status sort_levels(const dni_string_set *from, dni_string_set *to, dn_error *err) {
    dn_strings strings = dni_string_set_view(from);
    struct level *levels = malloc((strings.n + 1) * sizeof *levels);
    if (levels == NULL) {
        return dni_encoder_no_memory(err);
    }
    for (size_t i = 0; i < strings.n; i++) {
        levels[i] = (struct level){strings.bytes + strings.start[i],
                                   strings.start[i + 1] - strings.start[i]};
    }
    qsort(levels, strings.n, sizeof *levels, compare_levels);
    dn_status status = DN_OK;
    for (size_t i = 0; i < strings.n && status == DN_OK; i++) {
        uint32_t index;
        status = dni_string_set_add(to, levels[i].text, levels[i].length, &index, err);
    }
    free(levels);
    return status;
}

/* ---- inputs ---- */
struct fit {
    const dn_encoder_spec *spec;
    const dn_table_source *source;
    const uint8_t *role;
    const double *weight;
    const dn_run *run;
    dni_scan scan;
    dn_encoder *encoder;
    void *memory;         /* the memory of the following arrays */
    double *mean, *scale; /* [n_inputs] of the inputs in needs_moments */
    bool *needs_moments;  /* [n_inputs] the inputs whose mean and deviation are needed */
};

static dn_input_remark remark_on(const dni_scan_column *seen, const dn_input *input) {
    if (!(seen->weight > 0)) {
        return DN_INPUT_EMPTY;
    }
    if (input->type == DN_CATEGORICAL || input->indicator) {
        return DN_INPUT_VARIES;
    }
    double magnitude = fmax(fabs(seen->minimum), fabs(seen->maximum));
    return seen->maximum / 2 - seen->minimum / 2 <= 0.5e-14 * magnitude ? DN_INPUT_CONSTANT
                                                                        : DN_INPUT_VARIES;
}

static dn_status fit_text(const struct fit *fit, size_t i, dn_error *err) {
    dn_text_spec text = fit->spec->text;
    double entries = 0;
    text.vocabulary = text.vocabulary == 0 ? DN_DEFAULT_VOCABULARY : text.vocabulary;
    text.min_rows = text.min_rows == 0 ? 1 : text.min_rows;
    dn_status status = dni_vocabulary_fit(&fit->scan.selection, fit->scan.columns[i], fit->weight,
                                          &text, fit->run, &fit->encoder->texts[i], &entries, err);
    if (status != DN_OK) {
        return status;
    }
    fit->encoder->inputs[i].remark = fit->encoder->texts[i].remark;
    fit->encoder->vector_entries += entries;
    return DN_OK;
}

/* Fits a sparse column. A standardised one is fitted by standardize_sparse_inputs, after the
 * features are counted. */
static dn_status fit_sparse(const struct fit *fit, size_t i, dn_error *err) {
    const dn_table_column *column = &fit->source->columns[fit->scan.columns[i]];
    dn_input *input = &fit->encoder->inputs[i];
    dni_sparse_stats stats = {0};
    const dn_index_filter all = {.kind = DN_INDICES_ALL};
    dni_index_set *set = &fit->encoder->index_sets[i];
    input->width = column->width;
    input->first_index = column->first_index;
    dn_status status =
        dni_index_set_init(set,
                           fit->spec->index_filters == NULL ? &all : &fit->spec->index_filters[i],
                           column->width, err);
    if (status != DN_OK || dni_input_is_scaled(fit->encoder, input)) {
        return status;
    }
    status = dni_sparse_fit(&fit->scan.selection, fit->scan.columns[i], set, fit->weight,
                            fit->scan.total_weight, fit->run, NULL, NULL, &stats, err);
    if (status != DN_OK) {
        return status;
    }
    fit->encoder->active[i] = stats.active;
    input->remark = stats.entries > 0 ? DN_INPUT_VARIES : DN_INPUT_EMPTY;
    fit->encoder->vector_entries += stats.entries;
    return DN_OK;
}

static dn_status fit_input(const struct fit *fit, size_t i, dn_error *err) {
    const dni_scan *scan = &fit->scan;
    dn_input *input = &fit->encoder->inputs[i];
    input->type = scan->source->columns[scan->columns[i]].type;
    input->form = scan->source->columns[scan->columns[i]].form;
    input->part = scan->source->columns[scan->columns[i]].part;
    if (dni_input_is_vector(input)) {
        return input->type == DN_TEXT ? fit_text(fit, i, err) : fit_sparse(fit, i, err);
    }
    input->indicator =
        input->type != DN_CATEGORICAL && fit->spec->missing_indicator && scan->results[i].missing;
    input->remark = remark_on(&scan->results[i], input);
    if (input->type == DN_CATEGORICAL) {
        input->missing_level =
            scan->results[i].missing && fit->spec->missing_category == DN_MISSING_OWN_LEVEL;
        if (dni_string_set_view(dni_scan_levels(scan, i)).n == 1 && !scan->results[i].missing) {
            input->remark = DN_INPUT_ONE_LEVEL;
        }
        return sort_levels(dni_scan_levels(scan, i), &fit->encoder->levels[i], err);
    }
    if (!dni_moments_mean(&scan->results[i], &input->fill)) {
        return dni_refuse_column(
            err, input->name, DN_ERR_NUMERIC,
            "has numbers so large that their mean overflows: divide the column by a power of ten");
    }
    if (fit->spec->missing_number == DN_MISSING_NONE && scan->results[i].missing) {
        return dni_refuse_column(err, input->name, DN_ERR_DATA,
                                 "has missing values, which the encoding does not allow");
    }
    if (fit->spec->missing_number != DN_MISSING_FREQUENT_NUMBER) {
        return DN_OK;
    }
    if (dn_column_type_is_real(input->type)) {
        return dni_frequent_number(scan, i, &input->fill, err);
    }
    /* a boolean: the mean is the share of ones, so that 1 is more frequent if it is above 0.5 */
    input->fill = input->fill > 0.5;
    return DN_OK;
}

static dn_status fit_columns(const struct fit *fit, dn_error *err) {
    for (size_t i = 0; i < fit->scan.n; i++) {
        fit->encoder->inputs[i].name = fit->source->columns[fit->scan.columns[i]].name;
        const dn_status status = fit_input(fit, i, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return dni_encoder_copy_names(fit->encoder, NULL, err);
}

/* Sets the levels as which missing and unseen categories are encoded, where the spec demands the
 * most frequent level. */
static dn_status fit_frequent_levels(const struct fit *fit, dn_error *err) {
    bool missing = fit->spec->missing_category == DN_MISSING_FREQUENT_LEVEL,
         unseen = fit->spec->unseen == DN_UNSEEN_FREQUENT;
    void *memory = NULL;
    if (!missing && !unseen) {
        return DN_OK;
    }
    dn_status status = dn_run_alloc(fit->run, fit->scan.n, sizeof(size_t),
                                    "the most frequent categories", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    size_t *frequent = memory;
    status = dni_frequent_levels(&fit->scan, fit->encoder, frequent, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t i = 0; i < fit->scan.n; i++) {
        if (missing) {
            fit->encoder->inputs[i].missing_as = frequent[i];
        }
        if (unseen) {
            fit->encoder->inputs[i].unseen_as = frequent[i];
        }
    }
cleanup:
    dn_run_free(fit->run, memory);
    return status;
}

/* ---- standardisation ---- */
static void moments_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t *n_inputs = shape;
    struct fit *w = work;
    w->mean = dni_layout_doubles(layout, *n_inputs);
    w->scale = dni_layout_doubles(layout, *n_inputs);
    w->needs_moments = dni_layout_array(layout, *n_inputs, sizeof *w->needs_moments);
}

/* Selects the inputs whose mean and deviation are needed. *out_any: whether there are any, or the
 * encoder standardises. */
static dn_status select_moments(struct fit *fit, bool *out_any, dn_error *err) {
    const size_t n = fit->scan.n;
    dn_status status = dni_layout_take(fit->run, moments_layout, &n, fit, "the sums of the columns",
                                       &fit->memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        fit->needs_moments[i] =
            fit->spec->standardize && dn_column_type_is_real(fit->encoder->inputs[i].type);
    }
    for (size_t b = 0; b < fit->encoder->n_bases; b++) {
        const dni_basis *basis = &fit->encoder->bases[b];
        for (size_t c = 0; c < basis->n_columns && dni_basis_needs_moments(basis); c++) {
            fit->needs_moments[basis->columns[c]] = true;
        }
    }
    *out_any = fit->spec->standardize;
    for (size_t i = 0; i < n; i++) {
        *out_any = *out_any || fit->needs_moments[i];
    }
    return DN_OK;
}

static dn_status store_moments(struct fit *fit, size_t i, dn_error *err) {
    dn_encoder *encoder = fit->encoder;
    dn_input *input = &encoder->inputs[i];
    bool at_mean = fit->spec->missing_number != DN_MISSING_FREQUENT_NUMBER;
    double mean = input->fill, scale = 1;
    if (fit->scan.results[i].factor != 0 &&
        !dni_moments_finish(&fit->scan.results[i], fit->scan.total_weight,
                            at_mean ? NULL : &input->fill, &mean, &scale)) {
        return dni_refuse_column(
            err, input->name, DN_ERR_NUMERIC,
            "has numbers too large to be standardised: divide the column by a power of ten");
    }
    fit->mean[i] = mean;
    fit->scale[i] = scale;
    if (!fit->spec->standardize || !dn_column_type_is_real(input->type)) {
        return DN_OK;
    }
    if (at_mean) {
        input->fill = mean;
    }
    if (!input->in_basis_only) {
        encoder->mean[input->first_feature] = mean;
        encoder->scale[input->first_feature] = scale;
    }
    return DN_OK;
}

static dn_status standardize(struct fit *fit, dn_error *err) {
    bool any = false;
    dn_status status = select_moments(fit, &any, err);
    if (status != DN_OK || !any) {
        return status;
    }
    for (size_t i = 0; i < fit->scan.n; i++) {
        double mean;
        if (fit->needs_moments[i] && dni_moments_mean(&fit->scan.results[i], &mean)) {
            dni_moments_prepare(&fit->scan.results[i], mean);
        }
    }
    status = dni_scan_moments(&fit->scan, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < fit->scan.n; i++) {
        if (!fit->needs_moments[i]) {
            continue;
        }
        status = store_moments(fit, i, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Fits the sparse inputs that are standardised. */
static dn_status standardize_sparse_inputs(const struct fit *fit, dn_error *err) {
    dn_encoder *encoder = fit->encoder;
    for (size_t u = 0; u < encoder->n_vector_inputs; u++) {
        const size_t i = encoder->vector_inputs[u];
        dn_input *input = &encoder->inputs[i];
        dni_sparse_stats stats = {0};
        if (!dni_input_is_scaled(encoder, input)) {
            continue;
        }
        dn_status status =
            dni_sparse_fit(&fit->scan.selection, fit->scan.columns[i], &encoder->index_sets[i],
                           fit->weight, fit->scan.total_weight, fit->run,
                           encoder->mean + input->first_feature,
                           encoder->scale + input->first_feature, &stats, err);
        if (status != DN_OK) {
            return status;
        }
        encoder->active[i] = stats.active;
        input->remark = stats.entries > 0 ? DN_INPUT_VARIES : DN_INPUT_EMPTY;
    }
    return DN_OK;
}

/* ---- fit ---- */
static dn_status fit_inputs(struct fit *fit, dn_error *err) {
    const dn_encoder_spec *spec = fit->spec;
    const size_t max_levels = spec->max_levels == 0 ? DN_MAX_LEVELS : spec->max_levels;
    dn_status status = dni_scan_init(&fit->scan, fit->source, spec->columns, spec->n_columns,
                                     fit->role, fit->weight, max_levels, fit->run, err);
    if (status != DN_OK) {
        return status;
    }
    fit->scan.find_missing = spec->missing_indicator || spec->missing_number == DN_MISSING_NONE;
    status = dni_scan_sums(&fit->scan, err);
    if (status != DN_OK) {
        return status;
    }
    if (!(fit->scan.total_weight > 0)) {
        return dn_error_set(err, DN_ERR_DATA, "there is no training row");
    }
    status = dni_encoder_new(spec->n_columns, &fit->encoder, err);
    if (status != DN_OK) {
        return status;
    }
    fit->encoder->standardize = spec->standardize;
    fit->encoder->standardize_sparse = spec->standardize && spec->standardize_sparse;
    fit->encoder->drop_first = spec->categorical == DN_DROP_FIRST;
    fit->encoder->refuse_unseen = spec->unseen == DN_UNSEEN_REFUSE;
    fit->encoder->refuse_missing = spec->missing_number == DN_MISSING_NONE;
    status = fit_columns(fit, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_bases_init(fit->encoder, spec, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_encoder_finish(fit->encoder, err);
    if (status != DN_OK) {
        return status;
    }
    status = fit_frequent_levels(fit, err);
    if (status != DN_OK) {
        return status;
    }
    status = standardize(fit, err);
    if (status != DN_OK) {
        return status;
    }
    return standardize_sparse_inputs(fit, err);
}

dn_status dn_encoder_fit(const dn_table_source *source, const dn_encoder_spec *spec,
                         const uint8_t *role, const double *weight, const dn_run *run,
                         dn_encoder **out, dn_error *err) {
    if (spec == NULL || out == NULL) {
        return dni_argument_null(spec == NULL ? "spec" : "out", err);
    }
    dn_status status = dni_argument_source(source, "source", err);
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    dn_run fallback = dn_run_default();
    struct fit fit = {.spec = spec,
                      .source = source,
                      .role = role,
                      .weight = weight,
                      .run = run == NULL ? &fallback : run};
    status = dn_encoder_check(source->columns, source->n_cols, spec, err);
    if (status != DN_OK) {
        return status;
    }
    status = fit_inputs(&fit, err);
    const dni_bases_data data = {source,       role,
                                 weight,       fit.scan.total_weight,
                                 spec->target, spec->n_classes,
                                 fit.mean,     fit.scale};
    dni_scan_done(&fit.scan);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_bases_fit(fit.encoder, spec, &data, fit.run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    *out = fit.encoder;
    fit.encoder = NULL;
cleanup:
    dn_run_free(fit.run, fit.memory);
    dn_encoder_unref(fit.encoder);
    return status;
}

/* ---- memory ---- */
/* Typical bytes of one level and its text in the set of one slot. The actual size depends on the
 * data. */
#define LEVEL_BYTES 64

double dni_encoder_levels_memory(size_t n_levels, size_t n_slots) {
    return (double)(n_slots == 0 ? 1 : n_slots) * LEVEL_BYTES * (double)n_levels;
}

double dni_encoder_fit_memory(const dn_encoder_spec *spec, const dn_table_column *columns,
                              size_t n_rows, size_t n_levels, size_t n_slots) {
    const size_t n = spec->n_columns, slots = n_slots == 0 ? 1 : n_slots;
    struct fit work;
    double largest = dn_run_sum_memory(n_rows, slots, 2 * (double)n + 1);
    for (size_t i = 0; i < n; i++) {
        const dn_table_column *column = &columns[spec->columns[i]];
        if (column->type != DN_SPARSE) {
            continue;
        }
        dni_sparse_shape shape = {.n_features = column->width,
                                  .n_slots = slots,
                                  .moments = spec->standardize && spec->standardize_sparse};
        if (spec->index_filters != NULL) {
            shape.n_features = dn_index_filter_count(&spec->index_filters[i], column->width);
        }
        const double n_sums = shape.moments ? 1 + 2 * (double)shape.n_features : 1;
        largest =
            fmax(largest, dni_sparse_fit_memory(&shape) + dn_run_sum_memory(n_rows, slots, n_sums));
    }
    return dni_scan_memory(n, slots) + dni_encoder_levels_memory(n_levels, slots) +
           dni_layout_bytes(moments_layout, &n, &work) + largest;
}
