/* Histograms of coordinates by class (histogram.h). The first pass over the rows finds the range of
 * each coordinate, the second pass counts. */
#include "base/argument.h"
#include "base/layout.h"
#include "evaluate/evaluate_table.h"
#include "linalg/tile.h"
#include "machine/machine_dispatch.h"
#include "model/model_impl.h"
#include <discern/histogram.h>

#include <math.h>
#include <stdlib.h>

enum { DEFAULT_BINS = 30 };

struct work {
    double *z;         /* [DNI_TILE_ROWS × n_components] coordinates of a tile */
    double *x;         /* [n_features] a row without standardisation */
    uint32_t *feature; /* [n_features] 0, 1, 2, … */
    double *machine;   /* work of the machines */
};

struct histogram {
    const dn_model *model;
    const dn_run *run;
    dn_coordinates coordinates;
    struct work work;
    dn_histogram *out;
    double *least, *most; /* [n_components] */
    bool counting;        /* true: the second pass, which counts */
};

static void work_layout(dni_layout *layout, const void *shape, void *out) {
    const struct histogram *h = shape;
    struct work *w = out;
    const dn_model *m = h->model;
    const size_t n_slots = h->run->n_slots,
                 tile = dni_machines_work(m->machines, m->n_machines, n_slots);
    w->z = dni_layout_matrix(layout, DNI_TILE_ROWS, h->out->n_components);
    w->x = dni_layout_doubles(layout, m->n_features);
    w->feature = dni_layout_array(layout, m->n_features, sizeof *w->feature);
    w->machine = dni_layout_doubles(layout, tile > m->work ? tile : m->work);
}

/* work.x ← row r of a matrix of encoded rows, without standardisation. */
static void expand(const struct histogram *h, dn_matrix x, size_t r) {
    const double *mean = dn_encoder_mean(h->model->encoder),
                 *scale = dn_encoder_scale(h->model->encoder);
    double *out = h->work.x;
    for (size_t j = 0; j < x.n_cols; j++) {
        out[j] = x.kind == DN_DENSE ? x.values[r * x.stride + j] : 0;
    }
    for (size_t k = x.kind == DN_CSR ? x.row_start[r] : 0;
         x.kind == DN_CSR && k < x.row_start[r + 1]; k++) {
        out[x.cols[k]] = x.values[k];
    }
    for (size_t j = 0; mean != NULL && j < x.n_cols; j++) {
        out[j] = out[j] * scale[j] + mean[j];
    }
}

/* z [n_components] ← the coordinates, other than scores, of row r. */
static void coordinates_of(const struct histogram *h, dn_matrix x, size_t r, double *z) {
    const dn_machine *machine = h->model->raw[0];
    const size_t d = x.n_cols;
    expand(h, x, r);
    for (size_t c = 0; c < h->out->n_components; c++) {
        z[c] = h->coordinates == DN_COORDINATES_BASIS ? h->work.x[c] : 0;
        for (size_t j = 0; h->coordinates == DN_COORDINATES_DIRECTIONS && j < d; j++) {
            z[c] += machine->projection[c * d + j] * h->work.x[j];
        }
    }
    if (h->coordinates == DN_COORDINATES_HIDDEN) {
        const dni_entry_part part = {h->work.feature, h->work.x, d};
        dni_machine_hidden(machine, &part, 1, z, h->work.machine);
    }
}

/* work.z ← the coordinates of a tile. */
static dn_status transform_tile(const struct histogram *h, dn_matrix x, dn_error *err) {
    const dn_model *m = h->model;
    const size_t n = h->out->n_components;
    const bool scores = h->coordinates == DN_COORDINATES_SCORES;
    dn_status status = scores ? dni_machines_score(m->machines, m->n_machines, x, h->run, 0,
                                                   h->work.z, h->work.machine, err)
                              : DN_OK;
    for (size_t r = 0; status == DN_OK && r < x.n_rows; r++) {
        double *z = h->work.z + r * n;
        bool valid = true;
        if (!scores) {
            coordinates_of(h, x, r, z);
        }
        for (size_t c = 0; !scores && c < n; c++) {
            valid = valid && isfinite(z[c]);
        }
        if (!(scores ? dni_model_scores_valid(m, z) : valid)) {
            return dn_error_set(err, DN_ERR_DATA,
                                "a row has values so large that its coordinates overflow");
        }
    }
    return status;
}

/* Returns the edge of a bin without overflow of the range. */
static double edge_of(double least, double most, size_t b, size_t n_bins) {
    const double t = (double)b / (double)n_bins;
    return b == 0 ? least : b == n_bins ? most : least * (1 - t) + most * t;
}

/* Returns the bin of z between the least and the greatest edge. */
static size_t find_bin(const double *edges, size_t n_bins, double z) {
    size_t low = 0, high = n_bins; /* edges[low] <= z, and z < edges[high] or high is the last */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (z < edges[middle]) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

static void add_row(const struct histogram *h, const double *z, size_t class, double weight) {
    const dn_histogram *out = h->out;
    for (size_t c = 0; c < out->n_components; c++) {
        if (!isfinite(z[c])) {
            continue;
        }
        if (h->counting) {
            const double *edges = out->edges + c * (out->n_bins + 1);
            double *counts = out->counts + (c * out->n_classes + class) * out->n_bins;
            counts[find_bin(edges, out->n_bins, z[c])] += weight;
        } else {
            h->least[c] = fmin(h->least[c], z[c]);
            h->most[c] = fmax(h->most[c], z[c]);
        }
    }
}

static dn_status add_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    const struct histogram *h = arg;
    (void)slot;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const dn_matrix tile = dn_matrix_rows(block->x, first, DNI_TILE_ROWS);
        dn_status status = dn_run_stop(h->run, err);
        if (status == DN_OK) {
            status = transform_tile(h, tile, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t r = 0; r < tile.n_rows; r++) {
            add_row(h, h->work.z + r * h->out->n_components, (size_t)block->target[first + r],
                    block->weight == NULL ? 1 : block->weight[first + r]);
        }
        h->out->n_rows += h->counting ? tile.n_rows : 0;
    }
    return DN_OK;
}

static void set_edges(const struct histogram *h) {
    const dn_histogram *out = h->out;
    for (size_t c = 0; c < out->n_components; c++) {
        double least = h->least[c], most = h->most[c];
        if (!(least < most)) { /* one value, or none that is finite */
            const double z = least <= most ? least : 0;
            least = fmin(z - 0.5, nextafter(z, -(double)INFINITY));
            most = fmax(z + 0.5, nextafter(z, (double)INFINITY));
        }
        double *edges = out->edges + c * (out->n_bins + 1), before = least;
        for (size_t b = 0; b <= out->n_bins; b++) { /* rounding must not make an edge descend */
            before = fmin(most, fmax(before, edge_of(least, most, b, out->n_bins)));
            edges[b] = before;
        }
    }
}

/* Makes both passes over the rows. The rows are added in order, on this thread. */
static dn_status count_rows(struct histogram *h, const dn_rows *rows, dn_error *err) {
    dn_run serial = *h->run;
    serial.each = NULL;
    if (rows->n_rows == 0) {
        return dn_error_set(err, DN_ERR_DATA, "no row has a class of the model");
    }
    for (size_t c = 0; c < h->out->n_components; c++) {
        h->least[c] = (double)INFINITY;
        h->most[c] = -(double)INFINITY;
    }
    for (size_t j = 0; j < h->model->n_features; j++) {
        h->work.feature[j] = (uint32_t)j;
    }
    dn_status status = dn_run_each(&serial, rows, add_block, h, err);
    if (status != DN_OK) {
        return status;
    }
    set_edges(h);
    h->counting = true;
    return dn_run_each(&serial, rows, add_block, h, err);
}

static dn_status measure(struct histogram *h, const dn_table_source *source,
                         const dn_histogram_options *options, dn_error *err) {
    const dn_model *m = h->model;
    const char *truth = options->target == NULL ? dn_model_target(m) : options->target;
    dni_model_labels labels = {0};
    dn_rows *rows = NULL;
    void *memory = NULL, *range = NULL;
    dn_status status =
        dni_model_labels_read(m, source, truth, options->weight, h->run, &labels, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dn_rows_from_source(source, m->encoder, labels.role, DN_ROW_VALIDATE, labels.index,
                                 labels.weight, false, h->run, &rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_layout_take(h->run, work_layout, h, &h->work, "the coordinates", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (h->coordinates == DN_COORDINATES_SCORES) {
        dni_machines_prepare(m->machines, m->n_machines, dn_encoder_is_sparse(m->encoder),
                             h->work.machine);
    }
    status = dn_run_alloc(h->run, 2 * h->out->n_components, sizeof(double),
                          "the ranges of the coordinates", &range, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    h->least = range;
    h->most = h->least + h->out->n_components;
    status = count_rows(h, rows, err);
cleanup:
    dn_run_free(h->run, range);
    dn_run_free(h->run, memory);
    dn_rows_free(rows);
    dn_run_free(h->run, labels.memory);
    return status;
}

static dn_histogram *histogram_new(size_t n_components, size_t n_classes, size_t n_bins) {
    dn_histogram *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    *out = (dn_histogram){.n_components = n_components, .n_classes = n_classes, .n_bins = n_bins};
    if (n_components <= SIZE_MAX / sizeof(double) / n_classes / (n_bins + 1)) {
        out->edges = calloc(n_components * (n_bins + 1), sizeof *out->edges);
        out->counts = calloc(n_components * n_classes * n_bins, sizeof *out->counts);
    }
    if (out->edges == NULL || out->counts == NULL) {
        dn_histogram_free(out);
        return NULL;
    }
    return out;
}

static dn_status check(const dn_model *model, const dn_table_source *source,
                       const dn_histogram_options *options, const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_call(source, run, options->struct_size, sizeof *options, err);
    if (status != DN_OK) {
        return status;
    }
    if (options->bins > DN_MAX_BINS) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "bins must be at most %d (got %zu)",
                                         DN_MAX_BINS, options->bins),
                            "bins", -1, err);
    }
    if (dn_model_n_components(model, options->coordinates) == 0) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "the model does not have these coordinates"),
                            "coordinates", -1, err);
    }
    if (options->target == NULL && dn_model_target(model) == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the model has no target: set the column of the true classes");
    }
    return DN_OK;
}

dn_status dn_model_histogram(const dn_model *model, const dn_table_source *source,
                             const dn_histogram_options *options, const dn_run *run,
                             dn_histogram **out, dn_error *err) {
    const dn_histogram_options plain = {0};
    const dn_run serial = dn_run_default();
    options = options == NULL ? &plain : options;
    if (model == NULL || out == NULL) {
        return dni_argument_null(model == NULL ? "model" : "out", err);
    }
    dn_status status = check(model, source, options, run, err);
    if (status != DN_OK) {
        return status;
    }
    struct histogram h = {.model = model,
                          .run = run == NULL ? &serial : run,
                          .coordinates = options->coordinates};
    h.out = histogram_new(dn_model_n_components(model, options->coordinates),
                          dn_model_classes(model)->n,
                          options->bins == 0 ? DEFAULT_BINS : options->bins);
    if (h.out == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the histograms");
    }
    status = measure(&h, source, options, err);
    if (status != DN_OK) {
        dn_histogram_free(h.out);
        return status;
    }
    *out = h.out;
    return DN_OK;
}

void dn_histogram_free(dn_histogram *histogram) {
    if (histogram == NULL) {
        return;
    }
    free(histogram->edges);
    free(histogram->counts);
    free(histogram);
}
