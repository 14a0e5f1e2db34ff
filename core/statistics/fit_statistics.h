/* Computes the statistics of the weights of a linear model (discern/statistics.h) after its fit. */
#ifndef DNI_FIT_STATISTICS_H
#define DNI_FIT_STATISTICS_H

#include "model/model_statistics.h"
#include <discern/algorithm.h>

/* Number of multiplications above which `statistics: auto` is off: a tenth of a second of one
 * core. */
#define DNI_STATISTICS_MAX_COST 1e9

/* Returns DN_STATISTICS_AVAILABLE if the parameters and the shape of the data permit statistics;
 * otherwise the reason why not. The computation may still find another reason. n_classes: that of
 * the model. */
dn_statistics_reason dni_statistics_reason(const dn_params *params, size_t n_rows,
                                           size_t n_features, size_t n_classes);

/* Computes the statistics of a machine.
 *
 *   input      all training rows with their classes; the encoder must not be NULL
 *   machine    linear; fitted to these rows, in the encoded features
 *   separable  the fit has found that the classes are separable
 *   out        the caller owns the result. NULL: the method of input->params has no statistics
 *
 * Errors: those of dn_run_alloc, dn_run_sum and dn_run_stop. Cost: six passes over the rows, one of
 * them O(n d² S²), and O((S d)³). */
DN_MUST_USE dn_status dni_statistics_compute(const dn_fit_input *input, const dn_machine *machine,
                                             bool separable, const dn_run *run,
                                             dni_statistics **out, dn_error *err);
/* Returns an upper bound of the bytes that dni_statistics_compute allocates from the run. */
double dni_statistics_memory(const dn_params *params, const dn_fit_shape *shape);

#endif
