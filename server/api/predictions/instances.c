/* Rows in the body of a call. */
#include "api/predictions/instances.h"
#include "api/support.h"

bool api_instances_options(struct http_call *call, bool labelled,
                           struct wire_instances_options *out) {
    size_t size;
    const char *body = http_body_bytes(call, &size), *type = http_content_type(call);
    *out = (struct wire_instances_options){.labelled = labelled};
    if (!wire_instances_format(type, &out->format)) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                  "%s are application/json, application/x-ndjson, text/csv, "
                  "text/tab-separated-values or text/x-svmlight (or no "
                  "Content-Type: then it is found out), "
                  "got \"%s\"",
                  labelled ? "labelled rows" : "instances", type);
        return false;
    }
    if (out->format == WIRE_INSTANCES_SNIFF) {
        out->format = wire_instances_sniff(body, size);
    }
    return api_query_bool(call, "zero_based", &out->zero_based);
}

bool api_instances_read(struct http_call *call, const struct wire_instances_options *options,
                        const dn_model *model, struct wire_instances *out,
                        struct problem *problem) {
    size_t size;
    const char *body = http_body_bytes(call, &size);
    return wire_instances_read(body, size, options, model, out, problem);
}
