/* Encoded rows without their zeros, of any number of entries. */
#ifndef DNI_ENCODER_ENTRIES_H
#define DNI_ENCODER_ENTRIES_H

#include "encoder/encoder_tile.h"

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
