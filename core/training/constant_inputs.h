/* Input columns that have nothing to tell: those of one value, those without any, and texts without a word that counts. */
#ifndef DNI_CONSTANT_INPUTS_H
#define DNI_CONSTANT_INPUTS_H

#include <discern/algorithm.h>
#include <discern/encoder.h>
#include <discern/machine.h>
#include <discern/model.h>

/* Warnings that name them. min_rows: that of the encoder's spec. */
void dni_warn_of_constant_inputs(const dn_model *model, size_t min_rows, dn_report *report);
/* Standardised, such a column is 0 in every training row, and so is a place of a sparse column that no training row has: whatever weight its feature was left with (where a descent began) tells
 * nothing, and becomes 0. */
void dni_clear_constant_weights(const dn_encoder *encoder, dn_machine *const *machines,
                                size_t n_machines);

#endif
