/* The parameters of the bases of a model as JSON. They determine the features of a raw row. */
#ifndef API_MODEL_BASES_H
#define API_MODEL_BASES_H

#include "base/json/json_write.h"
#include <discern/discern.h>

/* Returns the number of elements of the points, frequencies and directions of all bases. */
double api_bases_matrix_numbers(const dn_encoder *encoder);
/* Writes the member "bases" of the open object of w, if the model has bases. matrices: with points,
 * frequencies and directions. */
void api_bases_write(const dn_encoder *encoder, bool matrices, struct json_writer *w);

#endif
