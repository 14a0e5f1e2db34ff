/* Fits the bases one after the other, each to the training rows of its columns. If the encoder
 * standardises, two passes then compute mean and deviation of the features by the formulas of
 * encoder_fit.c. */
#include "encoder/basis/basis_fit.h"
#include "base/group.h"
#include "base/layout.h"
#include "base/random.h"
#include "base/sum.h"
#include "encoder/encoder_moments.h"
#include "linalg/step.h"
#include "linalg/vector.h"
#include <stdlib.h>
#include <string.h>

/* Random number streams of a basis, relative to its first stream. Each basis has EACH streams. */
enum { CENTRES = 0, WIDTH = 1, FREQUENCIES = 2, EACH = 4 };

bool dni_basis_needs_moments(const dni_basis *basis) {
    return basis->standardize || basis->kind == DN_BASIS_FISHER;
}

dn_status dni_bases_init(dn_encoder *encoder, const dn_encoder_spec *spec, dn_error *err) {
    dn_status status =
        spec->n_bases > 0 ? dni_encoder_set_bases(encoder, spec->n_bases, err) : DN_OK;
    if (status != DN_OK) {
        return status;
    }
    size_t n_numbers = 0;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        n_numbers += dni_input_is_number(&encoder->inputs[i]);
    }
    for (size_t b = 0; b < spec->n_bases; b++) {
        const dn_basis_spec *from = &spec->bases[b];
        dni_basis *basis = &encoder->bases[b];
        size_t n = from->columns == NULL ? n_numbers : from->n_columns, c = 0;
        if (from->kind == DN_BASIS_FISHER && (spec->target == NULL || spec->n_classes < 2)) {
            return dni_error_at(
                dn_error_set(err, DN_ERR_ARGUMENT,
                             "a fisher basis needs a target of at least two classes"),
                "basis", -1, err);
        }
        status = dni_basis_init(basis, from, n, spec->n_classes, err);
        if (status != DN_OK) {
            return status;
        }
        if (basis->standardize) {
            status = dni_basis_standardize(basis, err);
            if (status != DN_OK) {
                return status;
            }
        }
        if (from->columns != NULL) {
            memcpy(basis->columns, from->columns, n * sizeof *basis->columns);
            continue;
        }
        for (size_t i = 0; i < encoder->n_inputs; i++) {
            if (dni_input_is_number(&encoder->inputs[i])) {
                basis->columns[c++] = i;
            }
        }
    }
    return status;
}

/* ---- the rows of a basis's columns ---- */
struct columns {
    dn_encoder *encoder; /* its features are the columns of the basis */
    dn_rows *rows;
    dn_run run; /* the run of sums over the rows */
};

static void columns_done(struct columns *columns) {
    dn_rows_free(columns->rows);
    dn_encoder_unref(columns->encoder);
}

/* Creates an encoder whose features are the basis's columns in order. If mean is not NULL, the
 * features are (x − mean)/scale. mean, scale: one element for each input of `of`. */
static dn_status column_encoder(const dn_encoder *of, const dni_basis *basis, const double *mean,
                                const double *scale, dn_encoder **out, dn_error *err) {
    const size_t n = basis->n_columns;
    dn_encoder *encoder = NULL;
    dn_status status = dni_encoder_new(n, &encoder, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t c = 0; c < n; c++) {
        const dn_input *input = &of->inputs[basis->columns[c]];
        encoder->inputs[c].type = input->type;
        encoder->inputs[c].fill = input->fill;
        encoder->inputs[c].name = input->name;
    }
    status = dni_encoder_copy_names(encoder, NULL, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_encoder_finish(encoder, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (mean != NULL) {
        status = dni_encoder_set_scales(encoder, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        for (size_t c = 0; c < n; c++) {
            encoder->mean[c] = mean[basis->columns[c]];
            encoder->scale[c] = scale[basis->columns[c]];
        }
    }
    *out = encoder;
    encoder = NULL;
cleanup:
    dn_encoder_unref(encoder);
    return status;
}

/* Encodes the rows in memory if the memory budget allows it, otherwise as a stream. The encoded
 * rows are the same in both cases. */
static dn_status columns_init(struct columns *columns, const dn_encoder *of, const dni_basis *basis,
                              bool standardize, const dni_bases_data *data, const dn_run *run,
                              dn_error *err) {
    dn_error refused = {0};
    *columns = (struct columns){.run = dni_source_run(data->source, run)};
    /* in a group every rank has all rows, which the choice of centres reads in any order */
    const dn_run alone = dni_group_left(&columns->run);
    dn_status status = column_encoder(of, basis, standardize ? data->mean : NULL,
                                      standardize ? data->scale : NULL, &columns->encoder, err);
    if (status != DN_OK) {
        return status;
    }
    for (int memory = 1; memory >= 0; memory--) {
        status = dn_rows_from_source(data->source, columns->encoder, data->role, DN_ROW_TRAIN,
                                     data->target, data->weight, memory == 1, &alone,
                                     &columns->rows, memory == 1 ? &refused : err);
        if (status != DN_ERR_BUDGET && status != DN_ERR_MEMORY) {
            break;
        }
    }
    if (status != DN_OK && refused.code == status && err != NULL && err->code == DN_OK) {
        *err = refused;
    }
    return status;
}

/* ---- kinds ---- */
/* Copies the points of the spec, which are in units of x, and converts them to units of z. */
static void take_points(dni_basis *basis, const double *points) {
    for (size_t k = 0; k < basis->n_features; k++) {
        for (size_t c = 0; c < basis->n_columns; c++) {
            double x = points[k * basis->n_columns + c];
            basis->points[k * basis->n_columns + c] =
                basis->mean == NULL ? x : (x - basis->mean[c]) / basis->scale[c];
        }
    }
}

/* Draws w ~ N(0, I/width^2) by the Box-Muller transform and b uniformly. */
static dn_status draw_frequencies(dni_basis *basis, const dn_run *run, uint64_t stream,
                                  dn_error *err) {
    const double turn = 6.283185307179586;
    dni_pace pace = {.run = run};
    dni_random random;
    dni_random_init(&random, run->seed, stream);
    for (size_t k = 0; k < basis->n_features; k++) {
        for (size_t c = 0; c < basis->n_columns; c++) {
            double radius = sqrt(-2 * log(1 - dni_random_uniform(&random, 0, 1)));
            basis->points[k * basis->n_columns + c] =
                radius * cos(dni_random_uniform(&random, 0, turn)) / basis->width;
        }
        basis->phase[k] = dni_random_uniform(&random, 0, turn);
        dn_status status = dni_pace_poll(&pace, 64 * (double)basis->n_columns, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Scales the directions to length 1 in the units in which the basis reads its columns. With more
 * than two classes the largest component is made positive. */
static void finish_directions(dni_basis *basis, const double *scale, size_t n_classes) {
    for (size_t k = 0; k < basis->n_features; k++) {
        double *w = basis->points + k * basis->n_columns;
        size_t largest = 0;
        for (size_t c = 0; c < basis->n_columns; c++) {
            w[c] /= basis->standardize ? 1 : scale[basis->columns[c]];
            largest = fabs(w[c]) > fabs(w[largest]) ? c : largest;
        }
        double length = dni_norm(w, basis->n_columns);
        if (n_classes > 2 && w[largest] < 0) {
            length = -length;
        }
        for (size_t c = 0; c < basis->n_columns && length != 0; c++) {
            w[c] /= length;
        }
    }
}

static dn_status fit_fisher(const dn_encoder *encoder, dni_basis *basis, const dni_bases_data *data,
                            const dn_run *run, dn_error *err) {
    struct columns columns;
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, basis->n_columns, sizeof(char *),
                                    "the names of a basis's columns", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const char **names = memory;
    for (size_t c = 0; c < basis->n_columns; c++) {
        names[c] = encoder->inputs[basis->columns[c]].name;
    }
    status = columns_init(&columns, encoder, basis, true, data, run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_basis_fisher(columns.rows, data->n_classes, basis->n_features, names, &columns.run,
                              basis->points, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    finish_directions(basis, data->scale, data->n_classes);
cleanup:
    columns_done(&columns);
    dn_run_free(run, memory);
    return status;
}

/* ---- mean and deviation of the features ---- */
struct moments {
    const dn_encoder *encoder;
    const dni_basis *basis;
    const dn_run *run;
    dni_scan_column *features; /* [n_features] */
    double *x; /* [n_slots][3][n_features]: the features of a row, their minima, their maxima */
};

/* Reports the first feature of a row that is not finite. */
static dn_status refuse_row(const struct moments *self, const double *z, const double *x,
                            dn_error *err) {
    const dni_basis *basis = self->basis;
    void *raw = NULL;
    dn_status status = dn_run_alloc(self->run, self->encoder->n_inputs, sizeof(double),
                                    "a row of the table", &raw, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t c = 0; c < basis->n_columns; c++) {
        ((double *)raw)[basis->columns[c]] =
            basis->mean == NULL ? z[c] : z[c] * basis->scale[c] + basis->mean[c];
    }
    size_t j = 0;
    while (isfinite(x[j])) {
        j++;
    }
    status = dni_encoder_feature_error(self->encoder, basis->first_feature + j, raw, err);
    dn_run_free(self->run, raw);
    return status;
}

static dn_status sums_block(void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    const struct moments *self = arg;
    size_t n = self->basis->n_features;
    double *x = self->x + slot * 3 * n, *minimum = x + n, *maximum = minimum + n;
    dni_pace pace = {.run = self->run};
    for (size_t t = 0; t < block->x.n_rows; t++) {
        const double *z = block->x.values + t * block->x.stride,
                     v = block->weight == NULL ? 1 : block->weight[t];
        if (v == 0) {
            continue;
        }
        dni_basis_evaluate(self->basis, z, x);
        if (!dni_all_finite(x, n)) {
            return refuse_row(self, z, x, err);
        }
        for (size_t j = 0; j < n; j++) {
            out[j] += v * x[j];
            minimum[j] = x[j] < minimum[j] ? x[j] : minimum[j];
            maximum[j] = x[j] > maximum[j] ? x[j] : maximum[j];
        }
        dn_status status = dni_pace_poll(&pace, dni_basis_flops(self->basis) + 4 * (double)n, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status moments_block(const void *arg, const dn_block *block, size_t slot, double *out,
                               dn_error *err) {
    const struct moments *self = arg;
    size_t n = self->basis->n_features;
    double *x = self->x + slot * 3 * n;
    dni_pace pace = {.run = self->run};
    for (size_t t = 0; t < block->x.n_rows; t++) {
        double v = block->weight == NULL ? 1 : block->weight[t];
        if (v == 0) {
            continue;
        }
        dni_basis_evaluate(self->basis, block->x.values + t * block->x.stride, x);
        for (size_t j = 0; j < n; j++) {
            double d = (x[j] - self->features[j].shift) * self->features[j].factor;
            out[j] += v * d;
            out[n + j] += v * d * d;
        }
        dn_status status = dni_pace_poll(&pace, dni_basis_flops(self->basis) + 6 * (double)n, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status refuse_scale(const struct moments *self, size_t j, dn_error *err) {
    char name[DN_FIELD_SIZE];
    bool whole = dn_encoder_feature_name(self->encoder, self->basis->first_feature + j, name,
                                         sizeof name) < sizeof name;
    return dni_error_at(
        dn_error_set(
            err, DN_ERR_NUMERIC,
            "feature %s is too large to be standardised: divide the columns by powers of ten",
            whole ? name : "of a basis"),
        "basis", -1, err);
}

static dn_status two_passes(struct moments *self, const dn_rows *rows, double total_weight,
                            size_t n_slots, double *totals, dn_encoder *encoder, dn_error *err) {
    size_t n = self->basis->n_features, first = self->basis->first_feature;
    for (size_t i = 0; i < n_slots; i++) {
        for (size_t j = 0; j < n; j++) {
            self->x[(3 * i + 1) * n + j] = (double)INFINITY;
            self->x[(3 * i + 2) * n + j] = -(double)INFINITY;
        }
    }
    dn_status status = dni_each_sum(self->run, rows, sums_block, self, n, totals, err);
    if (status != DN_OK) {
        return status;
    }
    double *minimum = self->x + n, *maximum = self->x + 2 * n; /* of the first slot */
    for (size_t i = 1; i < n_slots; i++) {
        for (size_t j = 0; j < n; j++) {
            minimum[j] = fmin(minimum[j], self->x[(3 * i + 1) * n + j]);
            maximum[j] = fmax(maximum[j], self->x[(3 * i + 2) * n + j]);
        }
    }
    status = dni_group_least(self->run, DN_OK, minimum, n, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_group_most(self->run, DN_OK, maximum, n, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; j < n; j++) {
        dni_scan_column *feature = &self->features[j];
        *feature = (dni_scan_column){.weight = total_weight,
                                     .sum = totals[j],
                                     .minimum = minimum[j],
                                     .maximum = maximum[j]};
        if (!dni_moments_mean(feature, &encoder->mean[first + j])) {
            return refuse_scale(self, j, err);
        }
        dni_moments_prepare(feature, encoder->mean[first + j]);
    }
    status = dn_run_sum(self->run, rows, &(dn_sum){moments_block, self, sizeof *self, 2 * n},
                        totals, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; j < n; j++) {
        dni_scan_column *feature = &self->features[j];
        feature->first = totals[j];
        feature->second = totals[n + j];
        if (feature->factor == 0) {
            encoder->first_constant =
                encoder->n_constant++ == 0 ? first + j : encoder->first_constant;
            continue;
        }
        if (!dni_moments_finish(feature, total_weight, NULL, &encoder->mean[first + j],
                                &encoder->scale[first + j])) {
            return refuse_scale(self, j, err);
        }
    }
    return DN_OK;
}

struct moments_shape {
    size_t n, n_slots;
};

struct moments_work {
    dni_scan_column *features;
    double *x;
    double *totals; /* [2 × n] the sums of a pass */
};

static void moments_layout(dni_layout *layout, const void *shape, void *work) {
    const struct moments_shape *s = shape;
    struct moments_work *w = work;
    w->features = dni_layout_array(layout, s->n, sizeof *w->features);
    w->x = dni_layout_matrix(layout, s->n_slots * 3, s->n);
    w->totals = dni_layout_doubles(layout, 2 * s->n);
}

double dni_basis_moments_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    const struct moments_shape shape = {n_features, n_slots};
    struct moments_work work;
    return dni_layout_bytes(moments_layout, &shape, &work) +
           dn_run_sum_memory(n_rows, n_slots, 2 * (double)n_features);
}

static dn_status standardize(dn_encoder *encoder, const dni_basis *basis,
                             const struct columns *columns, double total_weight, dn_error *err) {
    const struct moments_shape shape = {basis->n_features, columns->run.n_slots};
    struct moments_work work;
    void *memory = NULL;
    dn_status status = dni_layout_take(&columns->run, moments_layout, &shape, &work,
                                       "the sums of a basis", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct moments self = {.encoder = encoder,
                           .basis = basis,
                           .run = &columns->run,
                           .features = work.features,
                           .x = work.x};
    status =
        two_passes(&self, columns->rows, total_weight, shape.n_slots, work.totals, encoder, err);
    dn_run_free(&columns->run, memory);
    return status;
}

/* ---- one basis ---- */
static dn_status fit_basis(dn_encoder *encoder, size_t b, const dn_basis_spec *spec,
                           const dni_bases_data *data, const dn_run *run, dn_error *err) {
    dni_basis *basis = &encoder->bases[b];
    const uint64_t stream = DNI_STREAM_BASES + EACH * (uint64_t)b;
    bool points = basis->kind == DN_BASIS_GAUSSIAN || basis->kind == DN_BASIS_DISTANCE,
         centres = points && spec->points == NULL;
    bool width = (basis->kind == DN_BASIS_GAUSSIAN || basis->kind == DN_BASIS_RANDOM_FOURIER) &&
                 basis->width == 0;
    struct columns columns = {0};
    dn_status status = DN_OK;
    for (size_t c = 0; c < basis->n_columns && basis->mean != NULL; c++) {
        basis->mean[c] = data->mean[basis->columns[c]];
        basis->scale[c] = data->scale[basis->columns[c]];
    }
    if (points && !centres) {
        take_points(basis, spec->points);
    }
    if (basis->kind == DN_BASIS_FISHER) {
        status = fit_fisher(encoder, basis, data, run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (centres || width || encoder->standardize) {
        status = columns_init(&columns, encoder, basis, basis->standardize, data, run, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    if (centres) {
        status = dni_basis_centres(columns.rows, basis->n_features, &columns.run, stream + CENTRES,
                                   basis->points, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    if (width) {
        status = dni_basis_width(columns.rows, &columns.run, stream + WIDTH, &basis->width, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    if (basis->kind == DN_BASIS_RANDOM_FOURIER) {
        status = draw_frequencies(basis, run, stream + FREQUENCIES, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    if (encoder->standardize) {
        status = standardize(encoder, basis, &columns, data->total_weight, err);
    }
cleanup:
    columns_done(&columns);
    return status;
}

dn_status dni_bases_fit(dn_encoder *encoder, const dn_encoder_spec *spec,
                        const dni_bases_data *data, const dn_run *run, dn_error *err) {
    for (size_t b = 0; b < encoder->n_bases; b++) {
        dn_status status = fit_basis(encoder, b, &spec->bases[b], data, run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* ---- memory ---- */
double dn_encoder_bases_memory(const dn_encoder_spec *spec, size_t n_rows, size_t n_classes,
                               size_t n_slots) {
    const size_t slots = n_slots == 0 ? 1 : n_slots;
    const double block = fmin((double)n_rows, DN_BLOCK_ROWS);
    double largest = 0, kept = 0;
    for (size_t b = 0; b < spec->n_bases; b++) {
        const dn_basis_spec *basis = &spec->bases[b];
        const size_t p = basis->columns == NULL ? spec->n_columns : basis->n_columns,
                     n = dn_basis_n_features(basis, p, n_classes);
        const double columns = (double)p, features = (double)n;
        /* one block of the basis's columns in each slot, if the rows do not all fit in memory */
        const double rows = (double)slots * block * (columns + 2) * 8 + 3 * columns * 8;
        double work = spec->standardize ? dni_basis_moments_memory(n_rows, n, slots) : 0;
        if (basis->kind == DN_BASIS_GAUSSIAN && basis->points == NULL) {
            work = fmax(work, dni_basis_centres_memory(n_rows, p, n) +
                                  dn_run_sum_memory(n_rows, slots, features * (columns + 1) + 1));
        }
        if ((basis->kind == DN_BASIS_GAUSSIAN || basis->kind == DN_BASIS_RANDOM_FOURIER) &&
            basis->width == 0) {
            work = fmax(work, dni_basis_width_memory(n_rows, p));
        }
        if (basis->kind == DN_BASIS_FISHER) {
            const double sums = fmax(columns * columns, (double)n_classes * (columns + 1));
            /* the decomposition of S_W, while its null space is searched for */
            const double null_space = 3 * columns * columns * 8;
            work = fmax(work, dni_basis_fisher_memory(p, n_classes, slots) +
                                  fmax(null_space, dn_run_sum_memory(n_rows, slots, sums)));
        }
        largest = fmax(largest, rows + work);
        kept += 8 * features * (basis->kind == DN_BASIS_POLYNOMIAL ? 3 : columns + 3);
    }
    return largest + kept;
}
