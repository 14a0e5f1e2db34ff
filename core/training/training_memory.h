/* Estimates of the memory that a training takes from the allocator of its run. */
#ifndef DNI_TRAINING_MEMORY_H
#define DNI_TRAINING_MEMORY_H

#include <discern/model.h>

/* Estimates the bytes that a fit needs in addition to the encoded rows and to the memory of the
 * algorithm: the rows of machines with two classes, then the evaluation. */
double dni_fit_reserve(const dn_train_request *request, size_t n_rows, const dn_encoder *encoder,
                       size_t n_classes, size_t n_slots);

#endif
