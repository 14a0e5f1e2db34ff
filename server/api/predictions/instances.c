/* Reads the rows in the body of a call. */
#include "api/predictions/instances.h"
#include "api/policy.h"
#include "api/support.h"

bool api_instances_options(struct http_call *call, bool labelled, struct instances_options *out) {
    *out = (struct instances_options){.labelled = labelled, .format = api_body_format(call)};
    if (out->format == NULL) {
        size_t size;
        const char *body = http_body_bytes(call, &size);
        out->format = instances_sniff(body, size);
    }
    return api_query_bool(call, "zero_based", &out->zero_based);
}

bool api_instances_read(struct http_call *call, const struct instances_options *options,
                        const dn_model *model, struct instance_rows *out, struct problem *problem) {
    size_t size;
    const char *body = http_body_bytes(call, &size);
    return instances_read(body, size, options, model, out, problem);
}
