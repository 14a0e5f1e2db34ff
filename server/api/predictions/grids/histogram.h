/* Histograms of the coordinates of a stored dataset: POST …/transform with a member "histogram". */
#ifndef API_HISTOGRAM_H
#define API_HISTOGRAM_H

#include "http/http.h"
#include "serving/serving.h"

/* Replies if the body is JSON with a member "histogram". Returns false if it is something else: the
 * call has no reply then. */
bool api_histogram_answer(struct http_call *call, const struct serving_model *m,
                          dn_coordinates coordinates);

#endif
