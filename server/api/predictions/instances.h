/* Rows in the body of a call: predict, transform and evaluate take them alike. */
#ifndef API_INSTANCES_H
#define API_INSTANCES_H

#include "formats/formats.h"
#include "http/http.h"

/* How the call's body is to be read: by its content type, or its first bytes where that says
 * nothing, and ?zero_based=. false: answered with 400. */
bool api_instances_options(struct http_call *call, bool labelled, struct instances_options *out);
/* The body's rows. false: problem (400, 422 with every fault). The caller ends with
 * instance_rows_done. */
bool api_instances_read(struct http_call *call, const struct instances_options *options,
                        const dn_model *model, struct instance_rows *out, struct problem *problem);

#endif
