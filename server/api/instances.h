/* Rows in the body of a call: predict, transform and evaluate take them alike. */
#ifndef API_INSTANCES_H
#define API_INSTANCES_H

#include "http/http.h"
#include "wire/wire.h"

/* The body's rows, by its content type. false: problem (415, 400, 422 with every fault). labelled: each brings the target too. The caller ends with wire_instances_done. */
bool api_instances_read(struct http_call *call, const dn_model *model, bool labelled, struct wire_instances *out, struct problem *problem);

#endif
