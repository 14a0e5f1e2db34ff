/* Reads and writes support vectors and their kernel as bytes.
 *
 *   u8    dn_kernel_type, u8 dn_metric; f64 gamma, coef0, scale, width; u32 degree, length;
 *         u8 normalize
 *   f64   factor [d × d]; Mahalanobis kernels only
 *   u8    dn_matrix_kind; u64 n, the number of support vectors
 *           dense: f64 x [n × d]
 *           CSR:   u32 entries of each row [n], u64 their sum, u32 feature indices, f64 values
 *   u8    0 [d], only if d > DN_MAX_DENSE_FEATURES: padding, because the reader of the encoder
 *         requires a minimum number of bytes for its features (encoder/encoder_bytes.h) */
#ifndef DNI_SUPPORT_BYTES_H
#define DNI_SUPPORT_BYTES_H

#include "base/bytes.h"
#include "machine/support.h"

void dni_support_write(const dn_support *support, dni_writer *writer);
/* Reads a support of n_features columns; the caller owns the reference in *out. Allocates at most a
 * small multiple of the bytes left. Fails with DN_ERR_CORRUPT or DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_support_read(dni_reader *reader, size_t n_features, dn_support **out,
                                       dn_error *err);

#endif
