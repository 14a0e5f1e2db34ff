/* The stored form of a fitted basis, which is part of the stored form of the encoder. */
#ifndef DNI_BASIS_BYTES_H
#define DNI_BASIS_BYTES_H

#include "base/bytes.h"
#include "encoder/basis/basis.h"

void dni_basis_write(const dni_basis *basis, dni_writer *writer);
/* Reads a basis into `basis`, which must be {0}. The types of inputs [n_inputs] must be set.
 * Errors: DN_ERR_CORRUPT, DN_ERR_MEMORY; the caller then calls dni_basis_done. */
DN_MUST_USE dn_status dni_basis_read(dni_reader *reader, const dn_input *inputs, size_t n_inputs,
                                     dni_basis *basis, dn_error *err);

#endif
