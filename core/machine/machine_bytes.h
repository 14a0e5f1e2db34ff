/* Reads and writes machines as bytes.
 *
 * The bytes of a machine:
 *
 *   u8    dni_kind_id (machine_kind.h)
 *   u64   number of classes
 *   linear:       f64 w [n_scores × n_features], w0 [n_scores]; u8 1 if class densities follow in
 *                 the format of `gaussian` (with one shared covariance), otherwise 0
 *   gaussian:     u8 dni_covariance; f64 prior [K], mean [K × d], whiten, log_det (gaussians.h)
 *   naive bayes:  f64 prior [K]; u8 dni_factor [d]; f64 a [d × K], b [d × K]
 *   network:      u8 dni_activation; u64 number of layers; u64 units of each layer; f64 w
 *   kernel:       first machine of the model: the support vectors (support.h), which the
 *                 other machines share; u64 n, u32 index [n], f64 coef [n], w0, norm
 *   neighbours:   the rows (support.h); u64 k; u8 dni_votes; u32 class_of [n rows];
 *                 f64 weight [n rows]
 *   u64   number of components; f64 projection [n_components × d] */
#ifndef DNI_MACHINE_BYTES_H
#define DNI_MACHINE_BYTES_H

#include "base/bytes.h"
#include <discern/machine.h>

/* Writes a machine. `first`: the first machine of the model; NULL: `machine` is the first. */
void dni_machine_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer);
/* Reads a machine of n_classes classes and n_features features. `first` is the first machine of the
 * model, or NULL to read the first machine. Allocates at most a small multiple of the bytes left.
 *
 * Fails with DN_ERR_MEMORY, or with DN_ERR_CORRUPT: the bytes are damaged, the machine has another
 * number of classes, or its kind differs from that of `first`. */
DN_MUST_USE dn_status dni_machine_read(dni_reader *reader, size_t n_classes, size_t n_features,
                                       const dn_machine *first, dn_machine **out, dn_error *err);

#endif
