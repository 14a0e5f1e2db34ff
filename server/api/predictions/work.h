/* Estimates of the work of calls, from body and model, so that long calls do not delay short
 * ones. */
#ifndef API_WORK_H
#define API_WORK_H

#include "http/http.h"
#include "serving/serving.h"

/* Work is counted in products: about 0.3 ns each. */

/* The load of that work. */
enum http_load api_load_of(double products);
/* The work to read and score the rows in bytes[n]. */
double api_rows_work(const struct serving_model *m, const char *bytes, size_t n);
/* The work to score the rows of the stored dataset that the member "dataset" of the body names, so
 * many times. 0 if there is no such dataset: the handler reports that. */
double api_stored_work(struct http_call *call, const struct serving_model *m, double times);
/* The work to score the rows in the body, or those of the stored dataset that it names. */
double api_call_work(struct http_call *call, const struct serving_model *m);
/* Returns true if the handler may do the work on this thread. Otherwise `handle` is called on
 * another one, and the caller returns without a reply. */
bool api_may_work(struct http_call *call, double products, void (*handle)(struct http_call *call));

#endif
