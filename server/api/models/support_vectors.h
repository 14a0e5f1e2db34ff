/* The support vectors of the training (discern/duals.h) in the reply of GET …/weights. */
#ifndef API_SUPPORT_VECTORS_H
#define API_SUPPORT_VECTORS_H

#include "api/models/model_statistics.h"
#include "base/json/json_write.h"
#include <discern/duals.h>

/* Returns how many numbers the lists of all machines have. */
double api_support_vectors_numbers(const dn_model *model);
/* Writes the member "support" of the open object. */
void api_support_vectors_write(const dn_model *model, api_put_about *put_about,
                               struct json_writer *w);

#endif
