/* What the model needs of an encoder beside its public face: its bytes, and features that are encoded but not standardised. */
#ifndef DNI_ENCODER_BYTES_H
#define DNI_ENCODER_BYTES_H

#include "base/bytes.h"
#include <discern/encoder.h>

/* Appends the encoder to the writer (whose sticky failure reports a lack of memory). The same encoder gives the same bytes. */
void dni_encoder_write(const dn_encoder *encoder, dni_writer *writer);

/* Reads one back; the reader stands behind it afterwards. DN_ERR_CORRUPT, DN_ERR_MEMORY. Never allocates more than a small multiple of the bytes left: with more than DN_MAX_DENSE_FEATURES features
 * of sparse inputs and hashed texts, a byte of each must follow (the machines' numbers). */
DN_MUST_USE dn_status dni_encoder_read(dni_reader *reader, dn_encoder **out, dn_error *err);

/* Bytes it holds, about. */
size_t dni_encoder_memory(const dn_encoder *encoder);

#endif
