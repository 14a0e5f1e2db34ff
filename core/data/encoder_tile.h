/* A tile of source rows to features, dense or sparse: the one kernel behind encoded rows, in memory and streamed. */
#ifndef DNI_ENCODER_TILE_H
#define DNI_ENCODER_TILE_H

#include "data/encoder.h"
#include "data/selection.h"
#include "linalg/step.h"

/* What one slot needs to encode: the open chunk and, for each categorical input, the level of each of the chunk's strings. */
typedef struct dni_encoding_slot {
    dni_open_chunk open;
    uint32_t **level;   /* [n_inputs] by code: index of the level, levels.n for one unseen */
    size_t *level_room; /* [n_inputs] */
    double *raw;        /* [n_inputs] with bases: a row of their inputs */
    double *x;          /* [n_features - n_base] with bases: a row's features of them */
    double row_flops;   /* what a row of the bases costs */
} dni_encoding_slot;

DN_MUST_USE dn_status dni_encoding_slot_init(dni_encoding_slot *slot, const dn_encoder *encoder, const dn_run *run, dn_error *err);
void dni_encoding_slot_done(dni_encoding_slot *slot, const dn_encoder *encoder, const dn_run *run);

/* Opens the tile's chunk: columns[n_inputs] of the source are the encoder's inputs. */
DN_MUST_USE dn_status dni_encoding_open(dni_encoding_slot *slot, const dn_table_source *source, const dn_encoder *encoder,
                                        const size_t *columns, size_t chunk, size_t slot_index, const dn_run *run, dn_error *err);

/* Opens the chunk for inputs first … first + n - 1 alone: what was open is not any more. */
DN_MUST_USE dn_status dni_encoding_open_part(dni_encoding_slot *slot, const dn_table_source *source, const dn_encoder *encoder,
                                             const size_t *columns, size_t first, size_t n, size_t chunk, size_t slot_index,
                                             const dn_run *run, dn_error *err);

/* DN_ERR_DATA (field, row) when a category of inputs first … first + n - 1 of the tile's rows was never seen in training; weight: by source row, or NULL; rows of weight 0 may have any. */
DN_MUST_USE dn_status dni_encoding_refuse_unseen(const dni_encoding_slot *slot, const dn_table_source *source, const dn_encoder *encoder,
                                                 const dni_tile *tile, size_t first, size_t n, const double *weight, dn_error *err);

/* Features of inputs first … first + n - 1 of the tile's rows to out [tile->n × n_features]. */
void dni_encode_dense(const dni_encoding_slot *slot, const dn_encoder *encoder, const dni_tile *tile, size_t first, size_t n, double *out);
/* How many inputs from `first` on are best encoded together. */
size_t dni_encode_group(const dn_encoder *encoder, size_t first);
/* The bases' features of the tile's rows to out [tile->n × n_features]; all inputs are open. DN_ERR_NUMERIC (field, row) when one is not finite.
 * Polls the run of `pace` between rows. */
DN_MUST_USE dn_status dni_encode_dense_bases(const dni_encoding_slot *slot, const dn_table_source *source, const dn_encoder *encoder,
                                             const dni_tile *tile, double *out, dni_pace *pace, dn_error *err);

/* The tile's rows without their zeros: row i has count[i] entries at values and cols [i · n_entries …]. Fails and polls as the one above. */
DN_MUST_USE dn_status dni_encode_sparse(const dni_encoding_slot *slot, const dn_table_source *source, const dn_encoder *encoder,
                                        const dni_tile *tile, double *values, uint32_t *cols, uint32_t *count, dni_pace *pace,
                                        dn_error *err);

/* Closes the gaps that dni_encode_sparse leaves in n rows: row_start[0 … n] from count, entries moved down. values and cols may be their own source. Polls
 * the run of `pace` between rows: its code is the only failure. */
DN_MUST_USE dn_status dni_encode_compact(size_t n, size_t n_entries, const uint32_t *count, double *values, uint32_t *cols,
                                         size_t *row_start, dni_pace *pace, dn_error *err);

#endif
