/* Instances as NDJSON, read and answered line by line in bounded memory. Used by predict and
 * transform for application/x-ndjson. */
#ifndef API_LINES_H
#define API_LINES_H

#include "api/predictions/answer.h"
#include "http/http.h"

/* The sinks of the two routes, for bodies whose Content-Type is NDJSON. */
extern const struct http_sink api_predict_lines, api_transform_lines;

/* Answers a body in memory whose first bytes are NDJSON. Pool thread. */
void api_lines_answer(struct http_call *call, const struct serving_model *m,
                      enum api_answer_kind kind);

#endif
