/* Instances as NDJSON, read and answered line by line in bounded memory: the way of predict and
 * transform for application/x-ndjson. */
#ifndef API_LINES_H
#define API_LINES_H

#include "api/predictions/answer.h"
#include "http/http.h"

/* The sinks of the two routes: they want the bodies whose Content-Type says NDJSON. */
extern const struct http_sink api_predict_lines, api_transform_lines;

/* The same for a body in memory that turned out to be NDJSON. Pool thread. */
void api_lines_answer(struct http_call *call, const struct serving_model *m,
                      enum api_answer_kind kind);

#endif
