/* Estimates of the memory of dn_train. Where a size is not known in advance, the larger one is
 * used. */
#include "training/training_memory.h"
#include "encoder/encoder_fit.h"
#include "encoder/encoder_tile.h"
#include "evaluate/evaluate_rows.h"
#include "task/labels.h"
#include "task/split.h"
#include "text/vocabulary.h"
#include "training/held_scores.h"

#include <math.h>

/* Properties of the encoded rows that are known before the encoder is fitted. */
struct shape {
    double plain;    /* most entries of a row, without text columns, sparse columns and bases */
    double listed;   /* number of features of sparse columns */
    double scaled;   /* number of standardised ones among `listed`; nonzero in every row */
    bool has_lists;  /* there is a text or sparse column */
    bool sparse;     /* rows are never dense, because a text is encoded by its characters */
    double features; /* number of all features */
};

static struct shape shape_of(const dn_train_request *request, size_t n_features) {
    const dn_encoder_spec *spec = &request->features;
    struct shape shape = {.features = (double)n_features};
    for (size_t i = 0; i < spec->n_columns; i++) {
        const dn_table_column *column = &request->source->columns[spec->columns[i]];
        if (column->type == DN_SPARSE) {
            const size_t places =
                spec->index_filters == NULL
                    ? column->width
                    : dn_index_filter_count(&spec->index_filters[i], column->width);
            shape.listed += (double)places;
            shape.scaled += spec->standardize && spec->standardize_sparse ? (double)places : 0;
        }
        shape.sparse =
            shape.sparse || (column->type == DN_TEXT && spec->text.weighting == DN_TEXT_CHARACTERS);
        shape.plain += column->type == DN_TEXT || column->type == DN_SPARSE ? 0 : 1;
        shape.has_lists = shape.has_lists || column->type == DN_TEXT || column->type == DN_SPARSE;
    }
    shape.plain *= spec->missing_indicator ? 2 : 1;
    return shape;
}

/* Number of rows in memory if rows are sparse, and if they are dense. */
struct held {
    double sparse, dense;
};

/* Format of encoded rows. FORM_EITHER: not known before the encoder is fitted. */
enum form { FORM_SPARSE, FORM_DENSE, FORM_EITHER };

static bool is_never_dense(const struct shape *shape) {
    return shape->has_lists &&
           (shape->sparse || shape->features - shape->scaled > DN_MAX_DENSE_FEATURES);
}

/* Number of entries of a sparse row with `entries` entries of text and sparse columns. Features of
 * bases have no zeros. */
static double row_entries(const dn_train_request *request, const struct shape *shape,
                          double entries) {
    const bool bases = request->features.n_bases > 0 && is_never_dense(shape);
    return shape->plain + shape->scaled + entries + (bases ? DN_MAX_BASIS_FEATURES : 0);
}

static enum form form_of(const dn_train_request *request, const struct shape *shape,
                         double entries) {
    const double few = shape->plain + shape->scaled + entries;
    if (!shape->has_lists) {
        return request->features.n_bases == 0 && 4 * few < shape->features ? FORM_SPARSE
                                                                           : FORM_DENSE;
    }
    if (is_never_dense(shape)) {
        return FORM_SPARSE;
    }
    return 5 * few < shape->features
               ? FORM_SPARSE
               : FORM_EITHER; /* training rows may have more entries than the mean */
}

/* Bytes of encoded rows with `entries` entries of text and sparse columns each. FORM_EITHER: the
 * greater of the sparse and the dense size. */
static double rows_bytes(const dn_train_request *request, const struct shape *shape, double entries,
                         struct held n) {
    const enum form form = form_of(request, shape, entries);
    const double sparse = n.sparse * (12 * row_entries(request, shape, entries) + 28),
                 dense = n.dense * (8 * shape->features + 16);
    return form == FORM_SPARSE ? sparse : form == FORM_DENSE ? dense : fmax(sparse, dense);
}

/* dn_fit_shape.n_entries of n_rows rows. */
static double stored_entries(const dn_train_request *request, const struct shape *shape,
                             double entries, double n_rows) {
    return form_of(request, shape, entries) == FORM_SPARSE
               ? n_rows * row_entries(request, shape, entries)
               : (double)INFINITY;
}

/* Bytes of a block of n_rows rows in one slot; of dense rows only a piece is in memory. If there
 * are fewer features than estimated, a piece has more rows, but not more bytes. */
static double block_bytes(const dn_train_request *request, const struct shape *shape,
                          double entries, double n_rows) {
    const double row = 8 * shape->features + 16,
                 least = fmin(n_rows, (double)dn_piece_rows(SIZE_MAX));
    const double most = fmax(least, ((double)DN_PIECE_BYTES + 16.0 * DN_BLOCK_ROWS) / row);
    return rows_bytes(request, shape, entries, (struct held){n_rows, fmin(n_rows, most)});
}

/* Bytes of the encoding workspace of one slot, with a 4-byte level for each string of a chunk. */
static double encoding_bytes(const dn_train_request *request, const struct shape *shape) {
    const dni_encoding_shape encoding = {.n_inputs = request->features.n_columns,
                                         .n_base = (size_t)shape->features,
                                         .n_basis_features = request->features.n_bases > 0
                                                                 ? (size_t)shape->features
                                                                 : 0,
                                         .has_vectors = shape->has_lists,
                                         .has_scaled = shape->scaled > 0};
    return dni_encoding_memory(&encoding) + 4 * (shape->features - shape->listed);
}

double dni_rows_memory(const dn_train_request *request, size_t n_rows, size_t n_features,
                       double entries, size_t n_classes, size_t n_slots) {
    const struct shape shape = shape_of(request, n_features);
    double slots = (double)n_slots, most = fmin((double)n_rows, DN_BLOCK_ROWS);
    bool validated = request->holdout > 0 || request->folds > 0 || request->validation != NULL;
    size_t n_scores = dn_decision_n_scores(dn_params_decision(request->params), n_classes);
    /* 2 × entries: the arrays of a sparse block grow while its rows are encoded */
    double block = block_bytes(request, &shape, 2 * entries, most);
    double blocks = (slots + (validated ? 1 : 0)) * (block + encoding_bytes(request, &shape));
    double columns = dni_encoder_fit_memory(&request->features, request->source->columns, n_rows,
                                            (size_t)(shape.features - shape.listed), n_slots);
    double bytes = blocks + columns + dni_evaluate_memory(n_scores, n_features, n_classes) +
                   16 * (double)request->source->n_chunks + 8 * (double)n_rows / DN_BLOCK_ROWS;
    if (request->validation != NULL) {
        bytes += 17 * (double)request->validation->n_rows +
                 16 * (double)request->validation->n_chunks +
                 block_bytes(request, &shape, 2 * entries, DN_BLOCK_ROWS) - block;
    }
    return bytes;
}

/* Bytes for counting the words of a text column, in excess of the bytes that dni_rows_memory
 * includes for the same words as levels. A thread counts at most as many different words as its
 * rows have words. While the counts of two threads are merged, the words of one are in memory
 * twice. */
static double words_memory(const dn_train_request *request, const struct shape *shape,
                           size_t n_slots) {
    const double different = request->different_words;
    if (!(different > 0) || request->features.text.buckets > 0) {
        return 0;
    }
    const double chosen = fmin(different, shape->features);
    return fmax(0, dni_vocabulary_fit_memory(different, request->entries, chosen, n_slots) -
                       dni_encoder_levels_memory((size_t)chosen, n_slots));
}

/* Copies the request, with the encoding that the algorithm requires. */
static dn_train_request encoded_request(const dn_train_request *asked, size_t n_rows) {
    dn_train_request own = *asked;
    if (dn_params_encoding(asked->params, asked->source->columns, n_rows, &own.features, NULL) !=
        DN_OK) {
        own.features = asked->features; /* dn_train returns the same error */
    }
    return own;
}

/* Whether the model has several machines with two classes that are fitted one after the other. */
static bool is_several(const dn_params *params, size_t n_classes) {
    const dn_algorithm *algorithm = params->algorithm;
    const bool together = algorithm->together != NULL && algorithm->together(params);
    return n_classes > 2 && dn_params_decision(params) != DN_DECISION_NATIVE && !together;
}

/* Bytes of the learner for n_rows rows with `entries` entries of text and sparse columns each. */
static double method_memory(const dn_train_request *request, const struct shape *shape,
                            double entries, size_t n_rows, size_t n_classes, size_t n_slots) {
    const dn_fit_shape fitted = {.n_rows = n_rows,
                                 .n_features = (size_t)shape->features,
                                 .n_classes =
                                     is_several(request->params, n_classes) ? 2 : n_classes,
                                 .n_slots = n_slots,
                                 .n_entries =
                                     stored_entries(request, shape, entries, (double)n_rows)};
    return request->params->algorithm->memory(request->params, &fitted);
}

double dn_train_method_memory(const dn_train_request *asked, size_t n_features, size_t n_classes,
                              size_t n_slots) {
    const size_t n_rows = asked->source->n_rows;
    const bool native = dn_params_decision(asked->params) == DN_DECISION_NATIVE;
    dn_train_request request = encoded_request(asked, n_rows);
    const struct shape shape = shape_of(&request, n_features);
    dn_params *settled = NULL; /* "auto" is resolved for all rows, not for one */
    if (dn_params_copy(request.params, &settled, NULL) == DN_OK &&
        dn_params_resolve(settled, n_rows, n_features, native ? n_classes : 2, NULL) == DN_OK) {
        request.params = settled;
    }
    const double memory = method_memory(&request, &shape, request.entries / fmax((double)n_rows, 1),
                                        1, n_classes, n_slots);
    dn_params_free(settled);
    return memory;
}

double dn_train_memory(const dn_train_request *asked, size_t n_rows, size_t n_features,
                       size_t n_classes, size_t n_slots) {
    const dn_train_request own = encoded_request(asked, n_rows), *request = &own;
    const dn_algorithm *algorithm = request->params->algorithm;
    const struct shape shape = shape_of(request, n_features);
    double rows = (double)n_rows, entries = request->entries / fmax(rows, 1),
           bytes = dni_labels_memory(request, n_rows), later = 0;
    bytes += dni_split_folds_memory(n_rows, request->folds);
    bytes += dni_calibration_memory(request->params, n_rows, n_classes);
    if (!(algorithm->flags & DN_ALGORITHM_STREAMS)) {
        later += rows_bytes(request, &shape, entries, (struct held){rows, rows});
    }
    if (is_several(request->params, n_classes)) { /* weights of the machines; targets and roles */
        later +=
            16 * (double)dn_decision_n_machines(dn_params_decision(request->params), n_classes) *
                ((double)n_features + 64) +
            9 * rows + 8 * (double)n_slots * DN_BLOCK_ROWS;
    }
    const double fit = method_memory(request, &shape, entries, n_rows, n_classes, n_slots);
    later += fmax(fit, dn_encoder_bases_memory(&request->features, n_rows, n_classes, n_slots));
    /* the counts of words are freed before rows are encoded */
    return bytes + dni_rows_memory(request, n_rows, n_features, entries, n_classes, n_slots) +
           fmax(later, words_memory(request, &shape, n_slots));
}
