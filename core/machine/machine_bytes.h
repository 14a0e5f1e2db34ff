/* A machine as bytes and back.
 *
 *   u8    the kind: 0 linear, 1 gaussian, 2 naive Bayes, 3 kernel, 4 network, 5 neighbours
 *   u64   number of classes
 *   linear:       f64 w [n_scores × n_features], w0 [n_scores]; u8 1 when class densities follow as below (one covariance for all), else 0
 *   gaussian:     u8 dn_covariance; f64 prior [K], mean [K × d], whiten, log_det as in gaussians.h
 *   naive bayes:  f64 prior [K]; d bytes dn_factor; f64 a [d × K], b [d × K]
 *   network:      u8 dn_activation; u64 number of layers, and so many u64 units; f64 w
 *   kernel:       the support vectors (support_bytes.h) when the machine is the model's first, whose others share them; u64 n, u32 index [n], f64 coef [n], w0, norm
 *   neighbours:   the rows (support_bytes.h); u64 k; u8 dni_votes; u32 class of each row, f64 weight of each
 *   u64   number of components; f64 projection [n_components × d] */
#ifndef DNI_MACHINE_BYTES_H
#define DNI_MACHINE_BYTES_H

#include "base/bytes.h"
#include <discern/machine.h>

/* first: the model's first machine; NULL: it is this one. */
void dni_machine_write(const dn_machine *machine, const dn_machine *first, dni_writer *writer);
/* For n_classes and n_features, which what is read must have; `first` as it was written. Machines of a model are all kernel machines, or none is. DN_ERR_CORRUPT, DN_ERR_MEMORY; never allocates more than the bytes left could fill. */
DN_MUST_USE dn_status dni_machine_read(dni_reader *reader, size_t n_classes, size_t n_features,
                                       const dn_machine *first, dn_machine **out, dn_error *err);

#endif
