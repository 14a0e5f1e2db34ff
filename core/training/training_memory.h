/* What a training takes of its run's allocator. */
#ifndef DNI_TRAINING_MEMORY_H
#define DNI_TRAINING_MEMORY_H

#include <discern/model.h>

/* What the rows cost beside the learner: the scan for the encoder, a block of encoded rows for each slot (held out rows are judged in one slot, while the training rows still have their blocks),
 * and what judging the model takes. Rows that are kept in memory take what is left of a budget, never more. `entries`: of a row's text and sparse columns, in the mean. */
double dni_rows_memory(const dn_train_request *request, size_t n_rows, size_t n_features,
                       double entries, size_t n_classes, size_t n_slots);

#endif
