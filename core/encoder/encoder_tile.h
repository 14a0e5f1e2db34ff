/* A tile of source rows to features: the one kernel behind encoded rows, in memory and streamed. Dense, or sparse without zeros. */
#ifndef DNI_ENCODER_TILE_H
#define DNI_ENCODER_TILE_H

#include "encoder/encoder_impl.h"
#include "linalg/step.h"
#include "table/selection.h"
#include "text/tokens.h"

/* What one slot needs to encode: the open chunk and, for each categorical input, the level of each of the chunk's strings. */
typedef struct dni_encoding_slot {
    dni_open_chunk open;
    size_t first_row;   /* of the open chunk in the source */
    uint32_t **level;   /* [n_inputs] by code: index of the level, levels.n for one unseen */
    size_t *level_room; /* [n_inputs] */
    int64_t *
        shift; /* [n_inputs] of sparse inputs: from a place of the source's column to one of the input's */
    dn_text_work *work; /* NULL: there is no text */
    double *
        empty; /* [n_base] the features of standardised sparse inputs of which a row has no entry; NULL: there is none */
    double *raw;      /* [n_inputs] with bases: a row of their inputs */
    double *x;        /* [n_features - n_base] with bases: a row's features of them */
    double row_flops; /* what a row of the bases costs */
} dni_encoding_slot;

DN_MUST_USE dn_status dni_encoding_slot_init(dni_encoding_slot *slot, const dn_encoder *encoder,
                                             const dn_run *run, dn_error *err);
void dni_encoding_slot_done(dni_encoding_slot *slot, const dn_encoder *encoder, const dn_run *run);

/* Opens the tile's chunk: columns[n_inputs] of the source are the encoder's inputs. */
DN_MUST_USE dn_status dni_encoding_open(dni_encoding_slot *slot, const dn_table_source *source,
                                        const dn_encoder *encoder, const size_t *columns,
                                        size_t chunk, size_t slot_index, const dn_run *run,
                                        dn_error *err);

/* Opens the chunk for inputs first … first + n - 1 alone: what was open is not any more. */
DN_MUST_USE dn_status dni_encoding_open_part(dni_encoding_slot *slot, const dn_table_source *source,
                                             const dn_encoder *encoder, const size_t *columns,
                                             size_t first, size_t n, size_t chunk,
                                             size_t slot_index, const dn_run *run, dn_error *err);

/* The feature of categorical input i that is 1 in row `row` of the open chunk, SIZE_MAX: none. */
static inline size_t dni_slot_category(const dni_encoding_slot *slot, const dn_input *input,
                                       size_t i, size_t row) {
    uint32_t code = slot->open.views[i].code[row];
    return dni_encode_level(input, code == DN_CODE_MISSING ? code : slot->level[i][code]);
}

/* Place `place` of the source's column as one of the features of sparse input i; SIZE_MAX: it is none. */
static inline size_t dni_slot_feature(const dni_encoding_slot *slot, const dn_encoder *encoder,
                                      size_t i, uint32_t place) {
    const int64_t own = (int64_t)place + slot->shift[i];
    return own >= 0 ? dni_index_set_find(&encoder->index_sets[i], (size_t)own) : SIZE_MAX;
}

/* The entries of text input i in row `row` of the open chunk; a missing text has none. DN_ERR_MEMORY; DN_ERR_DATA (field) for a text that its weighting cannot take. */
static inline dn_status dni_slot_text(const dni_encoding_slot *slot, const dn_encoder *encoder,
                                      size_t i, size_t row, const uint32_t **feature,
                                      const double **value, size_t *n, dn_error *err) {
    const dn_column_view *view = &slot->open.views[i];
    const uint32_t code = view->code[row];
    *n = 0;
    if (code == DN_CODE_MISSING) {
        return DN_OK;
    }
    const uint32_t start = view->strings.start[code];
    dn_status status =
        dn_encoder_text(encoder, i, view->strings.bytes + start,
                        view->strings.start[code + 1] - start, slot->work, feature, value, n, err);
    return status == DN_OK
               ? DN_OK
               : dni_text_error_at(status, encoder->inputs[i].name, slot->first_row + row, err);
}

/* DN_ERR_DATA (field, row) when the encoder refuses a value of inputs first … first + n - 1 of the tile's rows: a category that was never seen in training, a number that is missing; weight: by source row, or NULL;
 * rows of weight 0 may have any. */
DN_MUST_USE dn_status dni_encoding_check(const dni_encoding_slot *slot,
                                         const dn_table_source *source, const dn_encoder *encoder,
                                         const dni_tile *tile, size_t first, size_t n,
                                         const double *weight, dn_error *err);

/* Features of inputs first … first + n - 1 of the tile's rows to out [tile->n × n_features]. DN_ERR_MEMORY for the words of a text. */
DN_MUST_USE dn_status dni_encode_dense(const dni_encoding_slot *slot, const dn_encoder *encoder,
                                       const dni_tile *tile, size_t first, size_t n, double *out,
                                       dn_error *err);
/* How many inputs from `first` on are best encoded together. */
size_t dni_encode_group(const dn_encoder *encoder, size_t first);
/* The bases' features of row k of the tile to x [n_features - n_base], as the one below does: the dear part of a row, after which it is time to poll. */
DN_MUST_USE dn_status dni_encode_row_bases(const dni_encoding_slot *slot,
                                           const dn_table_source *source, const dn_encoder *encoder,
                                           const dni_tile *tile, size_t k, double *x,
                                           dni_pace *pace, dn_error *err);
/* The bases' features of the tile's rows to out [tile->n × n_features]; all inputs are open. DN_ERR_NUMERIC (field, row) when one is not finite.
 * Polls the run of `pace` between rows. */
DN_MUST_USE dn_status dni_encode_dense_bases(const dni_encoding_slot *slot,
                                             const dn_table_source *source,
                                             const dn_encoder *encoder, const dni_tile *tile,
                                             double *out, dni_pace *pace, dn_error *err);

/* Rows without their zeros, one after the other, in memory that grows. */
typedef struct dni_entries {
    const dn_run *run; /* whose memory it is */
    double *values;    /* [room] */
    uint32_t *cols;    /* [room] */
    size_t n, room;    /* entries of the rows, and what there is room for */
    size_t n_rows;     /* so far */
    size_t *row_start; /* [n_rows + 1], from 0; the caller's, with room for all rows to come */
} dni_entries;

/* Room for so many entries at least; what is there stays. DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_entries_reserve(dni_entries *entries, size_t room, dn_error *err);
void dni_entries_done(dni_entries *entries);

/* Adds the tile's rows. Fails and polls as dni_encode_dense_bases, and fails for lack of memory. */
DN_MUST_USE dn_status dni_encode_sparse(const dni_encoding_slot *slot,
                                        const dn_table_source *source, const dn_encoder *encoder,
                                        const dni_tile *tile, dni_entries *out, dni_pace *pace,
                                        dn_error *err);

#endif
