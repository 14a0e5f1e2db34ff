/* Estimates of the memory of dn_train. If a size is not known in advance, its upper bound is
 * used. */
#include "training/training_memory.h"
#include "catalogue/calibration_params.h"
#include "encoder/encoder_fit.h"
#include "encoder/encoder_tile.h"
#include "evaluate/evaluate_table.h"
#include "machine/decision_pairs.h"
#include "statistics/feature_means.h"
#include "statistics/fit_statistics.h"
#include "task/division.h"
#include "text/vocabulary.h"
#include "training/calibration/held_scores.h"
#include "training/prepared_rows.h"

#include <math.h>

/* Properties of the encoded rows that are known before the encoder is fitted. */
struct shape {
    double plain;     /* maximum number of entries of a row, not counting text columns, sparse
                       * columns and bases */
    double vector;    /* number of features of sparse columns */
    double scaled;    /* number of standardised features among `vector`; these are nonzero in every
                       * row */
    bool has_vectors; /* there is a text or sparse column */
    bool sparse;      /* true: rows are always sparse, because a text is encoded by its
                       * characters */
    double features;  /* total number of features */
    bool counted;     /* true: no column is numeric, and there is no basis */
};

static struct shape shape_of(const dn_train_request *request, size_t n_features) {
    const dn_encoder_spec *spec = &request->features;
    struct shape shape = {.features = (double)n_features, .counted = spec->n_bases == 0};
    for (size_t i = 0; i < spec->n_columns; i++) {
        const dn_table_column *column = &request->source->columns[spec->columns[i]];
        if (column->type == DN_SPARSE) {
            const size_t width =
                spec->index_filters == NULL
                    ? column->width
                    : dn_index_filter_count(&spec->index_filters[i], column->width);
            shape.vector += (double)width;
            shape.scaled += spec->standardize && spec->standardize_sparse ? (double)width : 0;
        }
        shape.sparse =
            shape.sparse || (column->type == DN_TEXT && spec->text.weighting == DN_TEXT_CHARACTERS);
        shape.counted =
            shape.counted && !dn_column_type_is_real(column->type) && column->type != DN_SPARSE;
        shape.plain += column->type == DN_TEXT || column->type == DN_SPARSE ? 0 : 1;
        shape.has_vectors =
            shape.has_vectors || column->type == DN_TEXT || column->type == DN_SPARSE;
    }
    shape.plain *= spec->missing_indicator ? 2 : 1;
    return shape;
}

/* Estimated total bytes of small allocations. */
#define SMALL_BYTES 8192

/* Ratio of the capacity of the arrays of a sparse block to its expected number of entries. */
#define SPARE_ENTRIES 1.25

/* Number of rows in memory if the rows are sparse, and if they are dense. */
struct row_counts {
    double sparse, dense;
};

/* Format of encoded rows. FORM_EITHER: not known before the encoder is fitted. */
enum form { FORM_SPARSE, FORM_DENSE, FORM_EITHER };

static bool is_never_dense(const struct shape *shape) {
    return shape->has_vectors &&
           (shape->sparse || shape->features - shape->scaled > DN_MAX_DENSE_FEATURES);
}

/* Returns the number of entries of a sparse row. `entries`: its entries of text and sparse
 * columns. Features of bases are nonzero in every row. */
static double row_entries(const dn_train_request *request, const struct shape *shape,
                          double entries) {
    const bool bases = request->features.n_bases > 0 && is_never_dense(shape);
    return shape->plain + shape->scaled + entries + (bases ? DN_MAX_BASIS_FEATURES : 0);
}

static enum form form_of(const dn_train_request *request, const struct shape *shape,
                         double entries) {
    const double few = shape->plain + shape->scaled + entries;
    if (!shape->has_vectors) {
        return request->features.n_bases == 0 && 4 * few < shape->features ? FORM_SPARSE
                                                                           : FORM_DENSE;
    }
    if (is_never_dense(shape)) {
        return FORM_SPARSE;
    }
    return 5 * few < shape->features
               ? FORM_SPARSE
               : FORM_EITHER; /* each block may have more entries than the mean */
}

/* Estimates the bytes of encoded rows with `entries` entries of text and sparse columns each.
 * `capacity`: the ratio of allocated to used entries. FORM_EITHER: the greater of the sparse and
 * the dense size. */
static double rows_bytes(const dn_train_request *request, const struct shape *shape, double entries,
                         double capacity, struct row_counts n) {
    const enum form form = form_of(request, shape, entries);
    const double sparse = n.sparse * (12 * capacity * row_entries(request, shape, entries) + 28),
                 dense = n.dense * (8 * shape->features + 16);
    return form == FORM_SPARSE ? sparse : form == FORM_DENSE ? dense : fmax(sparse, dense);
}

/* Estimates dn_fit_shape.n_entries for n_rows rows. */
static double stored_entries(const dn_train_request *request, const struct shape *shape,
                             double entries, double n_rows) {
    return form_of(request, shape, entries) == FORM_SPARSE
               ? n_rows * row_entries(request, shape, entries)
               : (double)INFINITY;
}

/* Estimates the bytes of the encoding workspace of a slot, with a 4-byte level index for each
 * string of a chunk. */
static double encoding_bytes(const dn_train_request *request, const struct shape *shape) {
    const dni_encoding_shape encoding = {.n_inputs = request->features.n_columns,
                                         .n_base = (size_t)shape->features,
                                         .n_basis_features = request->features.n_bases > 0
                                                                 ? (size_t)shape->features
                                                                 : 0,
                                         .has_vectors = shape->has_vectors,
                                         .has_scaled = shape->scaled > 0};
    return dni_encoding_memory(&encoding) + 4 * (shape->features - shape->vector);
}

/* Estimates the bytes of a slot that encodes blocks of n_rows rows in total: its workspace and its
 * block, or one piece of the block if rows are dense. If there are fewer features than estimated, a
 * piece has more rows, but not more bytes. */
static double slot_bytes(const dn_train_request *request, const struct shape *shape, double entries,
                         size_t n_rows) {
    const double row = 8 * shape->features + 16, rows = fmin((double)n_rows, DN_BLOCK_ROWS),
                 min_rows = fmin(rows, (double)dn_piece_rows(SIZE_MAX)),
                 max_rows = fmax(min_rows, ((double)DN_PIECE_BYTES + 16.0 * DN_BLOCK_ROWS) / row);
    return rows_bytes(request, shape, entries, SPARE_ENTRIES,
                      (struct row_counts){rows, fmin(rows, max_rows)}) +
           encoding_bytes(request, shape);
}

/* Estimates the bytes of the index of selected rows (table/selection.h) and of the list of
 * blocks. */
static double selection_bytes(const dn_table_source *source, size_t n_rows) {
    const size_t blocks = n_rows / DN_BLOCK_ROWS + 1;
    return 8 * ((double)source->n_chunks + 1) + (double)blocks * (8 + sizeof(dn_rows));
}

/* Estimates the bytes for counting the words of a text column, in excess of
 * dni_encoder_levels_memory for the same words. A thread finds at most as many different words as
 * its rows have words. While the counts of two threads are merged, the words of one thread are in
 * memory twice. */
static double words_memory(const dn_train_request *request, const struct shape *shape,
                           size_t n_slots) {
    const double n_words = request->different_words;
    if (!(n_words > 0) || request->features.text.buckets > 0) {
        return 0;
    }
    const double chosen = fmin(n_words, shape->features);
    return fmax(0, dni_vocabulary_fit_memory(n_words, request->entries, chosen, n_slots) -
                       dni_encoder_levels_memory((size_t)chosen, n_slots));
}

/* Copies the request and sets the encoding that the algorithm requires. */
static dn_train_request encoded_request(const dn_train_request *given, size_t n_rows) {
    dn_train_request request = *given;
    if (dn_params_encoding(given->params, given->source->columns, n_rows, &request.features,
                           NULL) != DN_OK) {
        request.features = given->features; /* dn_train then reports the error */
    }
    return request;
}

/* Returns true if the model has several machines with two classes that are fitted one after the
 * other. */
static bool is_several(const dn_params *params, size_t n_classes) {
    const dn_algorithm *algorithm = params->algorithm;
    const bool together = algorithm->together != NULL && algorithm->together(params);
    return n_classes > 2 && dn_params_decision(params) != DN_DECISION_NATIVE && !together;
}

/* Estimates the bytes of the learner, or of the statistics and feature means that are computed
 * after the fit, for n_rows rows with `entries` entries of text and sparse columns each. */
static double method_memory(const dn_train_request *request, const struct shape *shape,
                            double entries, size_t n_rows, size_t n_classes, size_t n_slots) {
    const bool several = is_several(request->params, n_classes);
    const dn_fit_shape fitted = {.n_rows = n_rows,
                                 .n_features = (size_t)shape->features,
                                 .n_classes = several ? 2 : n_classes,
                                 .n_slots = n_slots,
                                 .n_entries =
                                     stored_entries(request, shape, entries, (double)n_rows),
                                 .counted = shape->counted,
                                 .fewer_rows = several};
    dn_fit_shape all = fitted;
    all.n_classes = n_classes;
    return fmax(request->params->algorithm->memory(request->params, &fitted),
                fmax(dni_statistics_memory(request->params, &all),
                     dni_feature_means_memory(n_rows, (size_t)shape->features, n_slots)));
}

double dn_train_method_memory(const dn_train_request *given, size_t n_features, size_t n_classes,
                              size_t n_slots) {
    const size_t n_rows = given->source->n_rows;
    const bool native = dn_params_decision(given->params) == DN_DECISION_NATIVE;
    dn_train_request request = encoded_request(given, n_rows);
    const struct shape shape = shape_of(&request, n_features);
    dn_params *resolved = NULL; /* copy of the parameters with "auto" resolved for n_rows rows */
    if (dn_params_copy(request.params, &resolved, NULL) == DN_OK &&
        dn_params_resolve(resolved, n_rows, n_features, native ? n_classes : 2, NULL) == DN_OK) {
        request.params = resolved;
    }
    const double memory = method_memory(&request, &shape, request.entries / fmax((double)n_rows, 1),
                                        1, n_classes, n_slots);
    dn_params_free(resolved);
    return memory;
}

/* ---- phases ---- */
/* The training whose memory is estimated, and the properties of its rows. */
struct plan {
    const dn_train_request *request;
    struct shape shape;
    double entries; /* mean number of entries of a row in text and sparse columns */
    size_t n_classes, n_slots;
};

/* Returns the memory of the training rows that the machines keep; {0} if they keep none. */
static dn_kept_memory kept_memory(const struct plan *p, size_t n_train) {
    const dn_params *params = p->request->params;
    const dn_fit_shape fitted = {.n_rows = n_train,
                                 .n_features = (size_t)p->shape.features,
                                 .n_classes = p->n_classes,
                                 .n_slots = p->n_slots,
                                 .n_entries = stored_entries(p->request, &p->shape, p->entries,
                                                             (double)n_train)};
    return params->algorithm->kept_memory == NULL ? (dn_kept_memory){0}
                                                  : params->algorithm->kept_memory(params, &fitted);
}

/* Estimates the bytes for scoring rows, including the machines of a model that was fitted to
 * n_train rows. */
static double scoring_bytes(const struct plan *p, size_t n_train) {
    const dn_kept_memory kept = kept_memory(p, n_train);
    const size_t n_scores =
        dn_decision_n_scores(dn_params_decision(p->request->params), p->n_classes);
    return kept.machine + kept.scoring +
           dni_evaluate_memory(n_scores, (size_t)p->shape.features, p->n_classes, p->n_slots,
                               (p->request->params->algorithm->flags & DN_ALGORITHM_DENSITY) != 0);
}

/* Estimates the bytes of an evaluation of n_rows rows that are encoded block by block. */
static double evaluation_bytes(const struct plan *p, const dn_table_source *source, size_t n_rows,
                               size_t n_train) {
    return selection_bytes(source, n_rows) + slot_bytes(p->request, &p->shape, p->entries, n_rows) +
           scoring_bytes(p, n_train);
}

/* Estimates the bytes of the fit of the encoder to n_rows rows, including the bases, which are
 * fitted to encoded rows. */
static double encoder_bytes(const struct plan *p, size_t n_rows, double slots) {
    const dn_train_request *r = p->request;
    const size_t n_levels = (size_t)(p->shape.features - p->shape.vector);
    double bytes =
        dni_encoder_fit_memory(&r->features, r->source->columns, n_rows, n_levels, p->n_slots) +
        words_memory(r, &p->shape, p->n_slots);
    if (r->features.n_bases > 0) {
        bytes += slots + dn_encoder_bases_memory(&r->features, n_rows, p->n_classes, p->n_slots);
    }
    return bytes;
}

/* Estimates the bytes of the slots that encode n_rows rows. */
static double slots_bytes(const struct plan *p, size_t n_rows) {
    const size_t n_blocks = n_rows / DN_BLOCK_ROWS + 1;
    return (double)(p->n_slots < n_blocks ? p->n_slots : n_blocks) *
           slot_bytes(p->request, &p->shape, p->entries, n_rows);
}

static double all_rows_bytes(const struct plan *p, size_t n_rows) {
    const struct row_counts all = {(double)n_rows, (double)n_rows};
    return rows_bytes(p->request, &p->shape, p->entries, 1, all);
}

static bool can_stream(const struct plan *p) {
    return (p->request->params->algorithm->flags & DN_ALGORITHM_STREAMS) != 0;
}

/* Estimates the bytes of the learner, plus the rows of machines with two classes. */
static double learner_bytes(const struct plan *p, size_t n_rows) {
    const dn_train_request *r = p->request;
    const dn_decision decision = dn_params_decision(r->params);
    double bytes = method_memory(r, &p->shape, p->entries, n_rows, p->n_classes, p->n_slots);
    if (is_several(r->params, p->n_classes)) {
        bytes +=
            16 * (double)dn_decision_n_machines(decision, p->n_classes) * (p->shape.features + 64) +
            dni_machine_rows_memory(r->source->n_rows, p->n_classes, p->n_slots);
        if (dni_decision_is_pairwise(decision, p->n_classes) && !can_stream(p)) {
            bytes += all_rows_bytes(p, n_rows); /* the rows of a pair are a copy */
        }
    }
    return bytes;
}

/* Estimates the bytes of one fit to n_rows rows and of the evaluation of these rows. */
static double fit_bytes(const struct plan *p, size_t n_rows) {
    const dn_train_request *r = p->request;
    const double slots = slots_bytes(p, n_rows);
    double rows = selection_bytes(r->source, n_rows), encoding = 0;
    if (can_stream(p)) {
        rows += slots;
    } else {
        rows += all_rows_bytes(p, n_rows);
        encoding = form_of(r, &p->shape, p->entries) == FORM_DENSE
                       ? (double)p->n_slots * encoding_bytes(r, &p->shape)
                       : slots;
    }
    const double working = fmax(encoding, fmax(learner_bytes(p, n_rows), scoring_bytes(p, n_rows)));
    return fmax(encoder_bytes(p, n_rows, slots), rows + working);
}

/* Estimates the bytes of a fit together with its calibration. */
static double calibrated_bytes(const struct plan *p, size_t n_rows) {
    const dn_train_request *r = p->request;
    const double fit = fit_bytes(p, n_rows),
                 fold = fmax(fit, evaluation_bytes(p, r->source, n_rows, n_rows));
    /* the groups of the rows are not in use at the same time as the fits of the folds */
    const bool grouped = (r->grouped || r->calibration_grouped) &&
                         dni_calibration_method(r->params) != DN_CALIBRATION_NONE;
    const double groups =
        grouped
            ? dni_division_groups_memory(r->source->n_rows, p->n_classes,
                                         (size_t)dn_params_number(r->params, "calibration_folds"))
            : 0;
    return fmax(fit, dni_calibration_memory(r->params, n_rows, r->source->n_rows, p->n_classes,
                                            fmax(fold, groups)));
}

/* The estimate for one model. *out_kept ← the bytes of its machines. */
static double model_memory(const dn_train_request *given, size_t n_rows, size_t n_features,
                           size_t n_classes, size_t n_slots, double *out_kept) {
    const dn_train_request r = encoded_request(given, n_rows);
    const struct plan plan = {.request = &r,
                              .shape = shape_of(&r, n_features),
                              .entries = r.entries / fmax((double)n_rows, 1),
                              .n_classes = n_classes,
                              .n_slots = n_slots};
    /* + n_classes: the number of held-out rows of each class is rounded */
    const double kept = ceil((1 - r.holdout) * (double)n_rows) + (double)n_classes;
    /* the sizes of the two sides are unknown if a column determines them */
    const bool by_column = r.grouped || r.ordered || r.marked;
    const size_t n_train = kept < (double)n_rows && !by_column ? (size_t)kept : n_rows,
                 n_validation = by_column ? n_rows : n_rows - n_train + 2 * n_classes;
    double peak = calibrated_bytes(&plan, n_train);
    *out_kept = kept_memory(&plan, n_train).machine;
    if (r.holdout > 0 || r.marked) {
        peak = fmax(peak, evaluation_bytes(&plan, r.source, n_validation, n_train));
    }
    if (r.validation != NULL) {
        const size_t n = r.validation->n_rows;
        peak = fmax(peak, dni_evaluate_table_memory(n, r.weighted) +
                              evaluation_bytes(&plan, r.validation, n, n_train));
    }
    if (r.folds > 0) {
        /* the metrics of DN_LEAVE_ONE_OUT keep the scores of all rows */
        const bool one = r.folds == DN_LEAVE_ONE_OUT;
        const size_t n_held = one || by_column ? n_rows : n_rows / r.folds + 1,
                     n_fitted = one || by_column ? n_rows : n_rows - n_rows / r.folds;
        const double fold = fmax(calibrated_bytes(&plan, n_fitted),
                                 evaluation_bytes(&plan, r.source, n_held, n_fitted));
        peak =
            fmax(peak, kept_memory(&plan, n_train).machine + dni_split_folds_memory(n_rows, fold));
    }
    peak = fmax(peak, dni_division_memory(&r, n_rows, n_classes));
    if ((r.held_out != NULL || r.coverage > 0) && r.target != DN_NO_TARGET) {
        const size_t repeats = r.repeats > 1 ? r.repeats : 1;
        const dni_held_out_shape held = {.n_rows = r.folds > 0                 ? n_rows * repeats
                                                   : r.holdout > 0 || r.marked ? n_validation
                                                                               : 0,
                                         .n_values = dn_held_out_values(r.params, n_classes),
                                         .weighted = r.weighted};
        peak += dni_held_out_memory(&held);
    }
    if (r.coverage > 0 && r.validation != NULL) {
        peak +=
            (double)r.validation->n_rows * ((double)n_classes * sizeof(double) + sizeof(uint32_t));
    }
    return dni_labels_memory(&r, n_rows) + peak + SMALL_BYTES;
}

double dn_train_memory(const dn_train_request *request, size_t n_rows, size_t n_features,
                       size_t n_classes, size_t n_slots) {
    double most = 0, all_kept = 0, kept = 0;
    if (request->n_members == 0) {
        return model_memory(request, n_rows, n_features, n_classes, n_slots, &kept);
    }
    for (size_t m = 0; m < request->n_members; m++) {
        dn_train_request own = *request;
        own.params = request->members[m].params;
        own.features = request->members[m].features;
        most = fmax(most, model_memory(&own, n_rows, n_features, n_classes, n_slots, &kept));
        all_kept += kept;
    }
    /* while the combination is evaluated, each slot has a piece of the rows of all members */
    const double piece = fmin((double)DN_PIECE_BYTES, 8.0 * (double)n_rows * (double)n_features *
                                                          (double)request->n_members);
    return most + all_kept + (double)n_slots * piece;
}

double dni_fit_reserve(const dn_train_request *request, size_t n_rows, const dn_encoder *encoder,
                       size_t n_classes, size_t n_slots) {
    const struct plan plan = {.request = request,
                              .shape = shape_of(request, dn_encoder_n_features(encoder)),
                              .entries = dn_encoder_entries(encoder),
                              .n_classes = n_classes,
                              .n_slots = n_slots};
    double bytes = scoring_bytes(&plan, n_rows);
    if (is_several(request->params, n_classes)) {
        /* the rows of a pair are encoded from the source if there is no memory for a copy */
        const double pair =
            dni_decision_is_pairwise(dn_params_decision(request->params), n_classes)
                ? slots_bytes(&plan, n_rows) + selection_bytes(request->source, n_rows)
                : 0;
        bytes = fmax(bytes, learner_bytes(&plan, n_rows) + pair);
    }
    return bytes;
}
