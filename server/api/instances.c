/* Rows in the body of a call. */
#include "api/instances.h"

bool api_instances_read(struct http_call *call, const dn_model *model, bool labelled, struct wire_instances *out, struct problem *problem) {
    enum wire_instances_format format;
    size_t size;
    const char *body = http_body_bytes(call, &size), *type = http_content_type(call);
    if (!wire_instances_format(type, &format))
        return problem_set(problem, PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                           "%s are application/json or text/csv (or no Content-Type: then it is found out), got \"%s\"",
                           labelled ? "labelled rows" : "instances", type);
    return wire_instances_read(body, size, format, model, labelled, out, problem);
}
