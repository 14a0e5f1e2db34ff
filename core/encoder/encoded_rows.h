/* The encoded rows of a table for an encoder that is not joined. */
#ifndef DNI_ENCODED_ROWS_H
#define DNI_ENCODED_ROWS_H

#include <discern/encoder.h>

/* dn_rows_from_source, whose arguments were checked; run must not be NULL. */
DN_MUST_USE dn_status dni_encoded_rows(const dn_table_source *source, const dn_encoder *encoder,
                                       const uint8_t *role, enum dn_row_role wanted,
                                       const double *target, const double *weight, bool in_memory,
                                       const dn_run *run, dn_rows **out, dn_error *err);

/* Forgets the chunk that a slot has open. A caller that has read other rows of the source with this
 * slot must call it before it reads these rows again, because the arrays of a chunk are valid until
 * the next chunk of the slot is read. Only for rows of dni_encoded_rows. */
void dni_encoded_rows_close(dn_rows *rows, size_t slot);

#endif
