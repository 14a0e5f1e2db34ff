/* What the bases of a model have learned, as JSON: enough to compute their features of a raw row.
 */
#ifndef API_MODEL_BASES_H
#define API_MODEL_BASES_H

#include "base/json/json_write.h"
#include <discern/discern.h>

/* Numbers that their points, frequencies and directions take. */
double api_bases_matrix_numbers(const dn_encoder *encoder);
/* Member "bases" of the object that is open in w; none without bases. matrices: points, frequencies
 * and directions too. */
void api_bases_write(const dn_encoder *encoder, bool matrices, struct json_writer *w);

#endif
