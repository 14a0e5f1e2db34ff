/* The bytes of an encoder. */
#ifndef DNI_ENCODER_BYTES_H
#define DNI_ENCODER_BYTES_H

#include "base/bytes.h"
#include <discern/encoder.h>

/* Appends the encoder to the writer, which reports a lack of memory when it is closed. Equal
 * encoders give equal bytes. */
void dni_encoder_write(const dn_encoder *encoder, dni_writer *writer);

/* Reads an encoder; the reader is left after its last byte. The memory that the function
 * allocates is a small multiple of the bytes that are left: if sparse inputs and hashed texts
 * have more than DN_MAX_DENSE_FEATURES features, at least one byte for each feature must follow.
 *
 * Errors: DN_ERR_CORRUPT, DN_ERR_VERSION, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_encoder_read(dni_reader *reader, dn_encoder **out, dn_error *err);

/* Returns the approximate bytes of memory that the encoder uses. */
size_t dni_encoder_memory(const dn_encoder *encoder);

#endif
