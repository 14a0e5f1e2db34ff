/* The weights of the rows of an evaluation. */
#ifndef API_ROW_WEIGHTS_H
#define API_ROW_WEIGHTS_H

#include "formats/formats.h"
#include "http/http.h"
#include "serving/serving.h"

/* Sets *out to the name of the weight column of the model's training, which the plan of the model
 * holds. NULL: the model was trained without weights, or ?weight=none. Returns false if it has
 * replied. */
bool api_weight_column(struct http_call *call, const struct serving_model *m, const char **out);
/* Takes the weights of labelled rows from the only kept column. Rows with weight 0 lose their
 * label. *out [number of rows that still have a label]: malloc'ed. Returns false with a problem. */
bool row_weights_take(struct instance_rows *rows, double **out, struct problem *problem);

#endif
