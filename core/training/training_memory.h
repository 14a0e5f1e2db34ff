/* Estimates of the memory that a training takes from the allocator of its run. */
#ifndef DNI_TRAINING_MEMORY_H
#define DNI_TRAINING_MEMORY_H

#include <discern/model.h>

/* Estimates the bytes for the rows without those of the learner: the fit of the encoder, one block
 * of encoded rows and one encoding workspace per slot, one more of each for validation rows, and
 * the evaluation. Rows kept in memory are not included: they use only what remains of the budget.
 *
 *   entries  mean number of entries of the text and sparse columns of a row */
double dni_rows_memory(const dn_train_request *request, size_t n_rows, size_t n_features,
                       double entries, size_t n_classes, size_t n_slots);

#endif
