/* The columns of a stored table that a model reads. */
#ifndef JOBS_MODEL_COLUMNS_H
#define JOBS_MODEL_COLUMNS_H

#include "jobs/request/job_request.h"

/* Lists the column `first` and the inputs of the model, in this order, as far as the table has
 * them; the core reports missing ones. Borrows the names of the schema.
 *
 *   out  [inputs of the model + 1]
 *
 * Returns their number. */
size_t jobs_model_columns(const struct schema *schema, const dn_model *model, const char *first,
                          struct jobs_column *out);

#endif
