/* The kernels that encode a tile of source rows, dense or sparse. Rows in memory and streamed
 * rows use the same kernels. */
#ifndef DNI_ENCODER_TILE_H
#define DNI_ENCODER_TILE_H

#include "encoder/encoder_impl.h"
#include "linalg/step.h"
#include "table/selection.h"
#include "text/tokens.h"

/* The encoding workspace of one slot: the open chunk and values computed from it. */
typedef struct dni_encoding_slot {
    dni_open_chunk open;
    size_t first_row; /* source row of the chunk's first row */
    /* [n_inputs] categorical inputs: the level of each code of the chunk; levels.n: unseen */
    uint32_t **level;
    size_t *level_capacity; /* [n_inputs] allocated elements of `level` */
    /* [n_inputs] sparse inputs: the offset from an index of the source's column to an index
     * of the input */
    int64_t *shift;
    dn_text_work *work; /* NULL: no text input */
    /* [n_base] features of standardised sparse inputs without entries; NULL: there are none */
    double *empty;
    double *raw;      /* [n_inputs] a raw row of the inputs of bases; NULL without bases */
    double *x;        /* [n_features - n_base] the features of bases of a row; NULL without bases */
    void *memory;     /* the memory of the arrays */
    double row_flops; /* floating-point operations of the bases for one row */
} dni_encoding_slot;

/* The size of a slot's workspace. */
typedef struct dni_encoding_shape {
    size_t n_inputs;
    size_t n_base;           /* features of the inputs */
    size_t n_basis_features; /* features of the bases */
    bool has_vectors;        /* some input is text or sparse */
    bool has_scaled;         /* some sparse input is standardised */
} dni_encoding_shape;

/* Returns the bytes of a slot, without the levels of a chunk's strings and the words of a text,
 * which depend on the data. */
double dni_encoding_memory(const dni_encoding_shape *shape);

DN_MUST_USE dn_status dni_encoding_slot_init(dni_encoding_slot *slot, const dn_encoder *encoder,
                                             const dn_run *run, dn_error *err);
void dni_encoding_slot_done(dni_encoding_slot *slot, const dn_encoder *encoder, const dn_run *run);

/* Opens a chunk unless it is open. columns [n_inputs]: the source's column of each input. */
DN_MUST_USE dn_status dni_encoding_open(dni_encoding_slot *slot, const dn_table_source *source,
                                        const dn_encoder *encoder, const size_t *columns,
                                        size_t chunk, size_t slot_index, const dn_run *run,
                                        dn_error *err);

/* Opens a chunk for inputs first … first + n - 1 only. The chunk that was open is closed. */
DN_MUST_USE dn_status dni_encoding_open_part(dni_encoding_slot *slot, const dn_table_source *source,
                                             const dn_encoder *encoder, const size_t *columns,
                                             size_t first, size_t n, size_t chunk,
                                             size_t slot_index, const dn_run *run, dn_error *err);

/* Returns the feature of categorical input i that is 1 in row `row` of the open chunk. SIZE_MAX:
 * none. */
static inline size_t dni_slot_category(const dni_encoding_slot *slot, const dn_input *input,
                                       size_t i, size_t row) {
    uint32_t code = slot->open.views[i].code[row];
    return dni_encode_level(input, code == DN_CODE_MISSING ? code : slot->level[i][code]);
}

/* Returns the position of an index of the source's column among the features of sparse input i.
 * SIZE_MAX: it is not a feature. */
static inline size_t dni_slot_feature(const dni_encoding_slot *slot, const dn_encoder *encoder,
                                      size_t i, uint32_t index) {
    const int64_t own = (int64_t)index + slot->shift[i];
    return own >= 0 ? dni_index_set_find(&encoder->index_sets[i], (size_t)own) : SIZE_MAX;
}

/* Computes the entries of text input i in row `row` of the open chunk; none if the text is
 * missing. Errors: DN_ERR_MEMORY; DN_ERR_DATA (field, row) for a text that its weighting cannot
 * use. */
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

/* Checks that the encoder accepts the values of inputs first … first + n - 1 in the tile's rows.
 *
 *   weight  [source->n_rows] or NULL; rows with weight 0 are not checked
 *
 * Errors: DN_ERR_DATA (field, row) for an unseen category or a missing number that the encoder
 * refuses. */
DN_MUST_USE dn_status dni_encoding_check(const dni_encoding_slot *slot,
                                         const dn_table_source *source, const dn_encoder *encoder,
                                         const dni_chunk_tile *tile, size_t first, size_t n,
                                         const double *weight, dn_error *err);

/* Encodes inputs first … first + n - 1 of the tile's rows to out [tile->n × n_features]. Errors:
 * DN_ERR_MEMORY; DN_ERR_DATA for a text. */
DN_MUST_USE dn_status dni_encode_dense(const dni_encoding_slot *slot, const dn_encoder *encoder,
                                       const dni_chunk_tile *tile, size_t first, size_t n,
                                       double *out, dn_error *err);
/* Returns the number of inputs from `first` on that are encoded together. */
size_t dni_encode_group(const dn_encoder *encoder, size_t first);
/* Computes the features of bases of row k of the tile to x [n_features - n_base], as
 * dni_encode_dense_bases does. Polls the run, as this is the most expensive part of a row. */
DN_MUST_USE dn_status dni_encode_row_bases(const dni_encoding_slot *slot,
                                           const dn_table_source *source, const dn_encoder *encoder,
                                           const dni_chunk_tile *tile, size_t k, double *x,
                                           dni_pace *pace, dn_error *err);
/* Computes the features of bases of the tile's rows to out [tile->n × n_features]. All inputs
 * must be open. Polls the run of `pace` between rows. Errors: DN_ERR_NUMERIC (field, row) if a
 * feature is not finite. */
DN_MUST_USE dn_status dni_encode_dense_bases(const dni_encoding_slot *slot,
                                             const dn_table_source *source,
                                             const dn_encoder *encoder, const dni_chunk_tile *tile,
                                             double *out, dni_pace *pace, dn_error *err);

/* The entries of consecutive sparse rows, in memory that grows. */
typedef struct dni_entries {
    const dn_run *run;  /* the owner of the memory */
    double *values;     /* [capacity] */
    uint32_t *cols;     /* [capacity] */
    size_t n, capacity; /* number of entries; allocated entries */
    size_t n_rows;      /* number of rows */
    size_t *row_start;  /* [n_rows + 1] owned by the caller, who provides space for all rows */
} dni_entries;

/* Increases the capacity to at least `capacity` entries; the entries are kept. Errors:
 * DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_entries_reserve(dni_entries *entries, size_t capacity, dn_error *err);
void dni_entries_done(dni_entries *entries);

/* Appends the tile's rows. Polls the run. Errors: those of dni_encode_dense_bases,
 * DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_encode_sparse(const dni_encoding_slot *slot,
                                        const dn_table_source *source, const dn_encoder *encoder,
                                        const dni_chunk_tile *tile, dni_entries *out,
                                        dni_pace *pace, dn_error *err);

#endif
