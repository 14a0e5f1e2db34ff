/* Support vectors, with their kernel, as bytes and back.
 *
 *   u8    dn_kernel_type, u8 dn_metric; f64 gamma, coef0, scale, width; u32 degree, length; u8 normalize
 *   f64   factor [d × d] of a mahalanobis kernel
 *   u8    dn_matrix_kind; u64 n, the support vectors; dense: f64 x [n × d]; CSR: u32 entries of each row [n], u64 their sum, u32 columns, f64 values
 *   d bytes of 0 when d > DN_MAX_DENSE_FEATURES: the encoder's features must be seen to follow (data/encoder_bytes.h) */
#ifndef DNI_SUPPORT_BYTES_H
#define DNI_SUPPORT_BYTES_H

#include "base/bytes.h"
#include "machine/support.h"

void dni_support_write(const dn_support *support, dni_writer *writer);
/* Of n_features columns; *out is the caller's reference. DN_ERR_CORRUPT, DN_ERR_MEMORY; never allocates more than a small multiple of the bytes left. */
DN_MUST_USE dn_status dni_support_read(dni_reader *reader, size_t n_features, dn_support **out,
                                       dn_error *err);

#endif
