/* Input columns that contain no information: constant columns, columns without values, and text
 * columns without a word of the vocabulary. */
#ifndef DNI_CONSTANT_INPUTS_H
#define DNI_CONSTANT_INPUTS_H

#include <discern/algorithm.h>
#include <discern/encoder.h>
#include <discern/machine.h>
#include <discern/model.h>

/* Adds warnings with the names of the input columns without information and with the number of
 * constant features of the bases. min_rows: dn_text_spec.min_rows of the encoder. */
void dni_warn_of_constant_inputs(const dn_model *model, size_t min_rows, dn_report *report);

/* Sets the weights of features that are 0 in every training row to 0: standardised numeric columns
 * without information, and features of a sparse column that are nonzero in no training row. An
 * iterative solver leaves the weights of such features at their initial values. */
void dni_clear_constant_weights(const dn_encoder *encoder, dn_machine *const *machines,
                                size_t n_machines);

#endif
