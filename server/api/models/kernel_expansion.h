/* The expansion of polynomial kernels (discern/expansion.h) in the reply of GET …/weights. */
#ifndef API_KERNEL_EXPANSION_H
#define API_KERNEL_EXPANSION_H

#include "api/models/model_statistics.h"
#include "base/json/json_write.h"

/* Returns how many numbers and names the expansions of all machines have. */
double api_expansion_numbers(const dn_model *model);
/* Writes the member "expansion" of the open object. */
void api_expansion_write(const dn_model *model, api_put_about *put_about, struct json_writer *w);

#endif
