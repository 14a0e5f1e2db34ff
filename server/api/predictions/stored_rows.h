/* Predictions and coordinates of the rows of a stored dataset: {"dataset":"new-customers@3"}. */
#ifndef API_STORED_ROWS_H
#define API_STORED_ROWS_H

#include "api/predictions/answer.h"

/* Whether the body is an object whose first member is "dataset". Cheap, any thread. */
bool api_stored_rows_named(const struct http_call *call);
/* Answers such a body with a stream of the results, of which some rows at a time are in memory. The
 * stream ends with the client. how: its format and keep are read from the call. Pool thread. */
void api_stored_rows(struct http_call *call, const struct serving_model *m,
                     const struct api_answer_options *how);

#endif
