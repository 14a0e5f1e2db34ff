/* Fitting an encoder to the training rows.
 *
 * A number's feature is its value with the mean in place of a missing one; standardised by the mean m and deviation s of that feature over the training rows,
 *   m = Σ v x / Σ v over rows that have x,   s² = Σ v (x - m)² / Σ v, the sum above over rows that have x and the one below over all rows,
 * since a missing value, being m, deviates by nothing. Computed in two passes: m' in the first, then the moments about m' (D and Q), which correct
 * what rounding left in m':  m = m' + D/W,  s² = (Q - D²/W)/V.
 * A column is constant, s = 1, when its least and greatest value are equal or s <= 1e-14 of the greater of their magnitudes (noise of the last digits).
 * A column without any value has m = 0, s = 1. */
#include "data/encoder.h"
#include "data/encoder_scan.h"

#include <stdlib.h>
#include <string.h>

#define CONSTANT_DEVIATION 1e-14

static dn_status refuse_column(dn_error *err, const char *name, dn_status code, const char *why) {
    dn_status status = dn_error_set(err, code, "column \"%s\" %s", name, why);
    dn_error_set_field(err, name);
    return status;
}

static dn_status check_spec(const dn_table_source *source, const dn_encoder_spec *spec, dn_error *err) {
    if (spec->n_columns == 0)
        return dn_error_set(err, DN_ERR_DATA, "there is no input column");
    for (size_t i = 0; i < spec->n_columns; i++) {
        if (spec->columns[i] >= source->n_cols)
            return dn_error_set(err, DN_ERR_ARGUMENT, "input column %zu must be one of the table's %zu columns", spec->columns[i],
                                source->n_cols);
        const dn_table_column *column = &source->columns[spec->columns[i]];
        if (column->type == DN_TEXT)
            return refuse_column(err, column->name, DN_ERR_DATA, "is text, which cannot be an input: leave it out or make it categorical");
    }
    return DN_OK;
}

/* ---- levels ------------------------------------------------------------------------------------------------------------------------------ */
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
    if (levels == NULL)
        return dn_error_set(err, DN_ERR_MEMORY, "the encoder needs memory which the system does not have");
    for (size_t i = 0; i < strings.n; i++)
        levels[i] = (struct level){strings.bytes + strings.start[i], strings.start[i + 1] - strings.start[i]};
    qsort(levels, strings.n, sizeof *levels, compare_levels);
    dn_status status = DN_OK;
    uint32_t index;
    for (size_t i = 0; status == DN_OK && i < strings.n; i++)
        status = dni_string_set_add(to, levels[i].text, levels[i].length, &index, err);
    free(levels);
    return status;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------------------- */
static bool is_constant(const dni_scan_column *column) {
    return !(column->minimum < column->maximum);
}

/* The mean of the first pass; of a constant column exactly its value. */
static dn_status first_mean(const dni_scan_column *column, const char *name, double *out, dn_error *err) {
    double mean = column->weight > 0 ? column->sum / column->weight : 0;
    if (column->minimum == column->maximum)
        mean = column->minimum + 0.0; /* of 0 and -0 always 0 */
    if (!isfinite(mean))
        return refuse_column(err, name, DN_ERR_NUMERIC, "holds numbers too large for their mean to be taken");
    *out = mean;
    return DN_OK;
}

/* What the second pass is told: deviations are scaled by a power of two near their greatest, so that no square leaves the range of doubles. */
static void prepare_moments(dni_scan_column *column, double mean) {
    column->shift = mean;
    column->factor = 0;
    if (is_constant(column))
        return;
    double widest = fmax(column->maximum - mean, mean - column->minimum);
    int exponent = 0;
    if (isfinite(widest))
        (void)frexp(widest, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    column->factor = ldexp(1.0, -exponent);
}

static dn_status finish_moments(const dni_scan_column *column, double total_weight, const char *name, double *mean, double *scale,
                                dn_error *err) {
    double correction = column->first / column->weight;
    double variance = (column->second - column->first * correction) / total_weight;
    double m = column->shift + correction / column->factor;
    double s = sqrt(fmax(variance, 0)) / column->factor;
    if (!isfinite(m) || !isfinite(s))
        return refuse_column(err, name, DN_ERR_NUMERIC, "holds numbers too large to be standardised");
    double magnitude = fmax(fabs(column->minimum), fabs(column->maximum));
    *mean = m;
    *scale = s > CONSTANT_DEVIATION * magnitude ? s : 1;
    return DN_OK;
}

/* ---- fit --------------------------------------------------------------------------------------------------------------------------------- */
static dn_status take_inputs(const dni_scan *scan, dn_encoder *encoder, dn_error *err) {
    const char **names = malloc((scan->n + 1) * sizeof *names);
    size_t *lengths = malloc((scan->n + 1) * sizeof *lengths);
    dn_status status = DN_OK;
    if (names == NULL || lengths == NULL)
        status = dn_error_set(err, DN_ERR_MEMORY, "the encoder needs memory which the system does not have");
    for (size_t i = 0; status == DN_OK && names != NULL && lengths != NULL && i < scan->n; i++) {
        const dn_table_column *column = &scan->source->columns[scan->columns[i]];
        names[i] = column->name;
        lengths[i] = strlen(column->name);
        dn_input *input = &encoder->inputs[i];
        input->type = column->type;
        if (column->type == DN_CATEGORICAL) {
            input->missing_level = scan->results[i].missing;
            status = sort_levels(dni_scan_levels(scan, i), &encoder->levels[i], err);
        } else {
            status = first_mean(&scan->results[i], column->name, &input->fill, err);
        }
    }
    if (status == DN_OK)
        status = dni_encoder_set_names(encoder, names, lengths, err);
    free((void *)names);
    free(lengths);
    return status == DN_OK ? dni_encoder_finish(encoder, err) : status;
}

static dn_status standardize(dni_scan *scan, dn_encoder *encoder, dn_error *err) {
    for (size_t i = 0; i < scan->n; i++)
        if (encoder->inputs[i].type == DN_NUMERIC)
            prepare_moments(&scan->results[i], encoder->inputs[i].fill);
    dn_status status = dni_scan_moments(scan, err);
    for (size_t i = 0; status == DN_OK && i < scan->n; i++) {
        dn_input *input = &encoder->inputs[i];
        if (input->type != DN_NUMERIC)
            continue;
        double mean = input->fill, scale = 1;
        if (scan->results[i].factor != 0)
            status = finish_moments(&scan->results[i], scan->total_weight, input->name, &mean, &scale, err);
        input->fill = mean;
        encoder->mean[input->first_feature] = mean;
        encoder->scale[input->first_feature] = scale;
    }
    return status;
}

dn_status dn_encoder_fit(const dn_table_source *source, const dn_encoder_spec *spec, const uint8_t *role, const double *weight,
                         const dn_run *run, dn_encoder **out, dn_error *err) {
    dn_run fallback = dn_run_default();
    if (run == NULL)
        run = &fallback;
    dn_status status = check_spec(source, spec, err);
    if (status != DN_OK)
        return status;
    size_t max_levels = spec->max_levels == 0 ? DN_MAX_LEVELS : spec->max_levels;
    dn_encoder *encoder = NULL;
    dni_scan scan;
    status = dni_scan_init(&scan, source, spec->columns, spec->n_columns, role, weight, max_levels, run, err);
    if (status == DN_OK)
        status = dni_scan_sums(&scan, err);
    if (status == DN_OK && !(scan.total_weight > 0))
        status = dn_error_set(err, DN_ERR_DATA, "there is no training row");
    if (status == DN_OK)
        status = dni_encoder_new(spec->n_columns, &encoder, err);
    if (status == DN_OK)
        status = take_inputs(&scan, encoder, err);
    if (status == DN_OK && spec->standardize) {
        encoder->standardize = true;
        status = standardize(&scan, encoder, err);
    }
    dni_scan_done(&scan);
    if (status == DN_OK)
        *out = encoder;
    else
        dn_encoder_unref(encoder);
    return status;
}
