/* Reads the rows in the body of a call. */
#include "api/predictions/instances.h"
#include "api/policy.h"
#include "api/support.h"
#include "formats/text/encoding.h"

#include <string.h>

bool api_instances_encoding(struct http_call *call, const char **out) {
    const char *name = http_query(call, "encoding");
    const char *encoding = name != NULL ? encoding_find(name, strlen(name)) : NULL;
    *out = api_body_encoding(call);
    if (name != NULL && encoding == NULL) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"encoding\" must be " ENCODING_RULE ", got \"%.60s\"", name);
        return false;
    }
    if (name != NULL) {
        *out = encoding[0] != '\0' ? encoding : NULL;
    }
    return true;
}

bool api_instances_utf8(struct http_call *call, const char *encoding) {
    if (encoding != NULL) {
        http_fail(call, PROBLEM_UNSUPPORTED_MEDIA_TYPE, "the encoding of NDJSON must be utf-8");
    }
    return encoding == NULL;
}

bool api_instances_options(struct http_call *call, bool labelled, struct instances_options *out) {
    *out = (struct instances_options){.labelled = labelled, .format = api_body_format(call)};
    if (!api_instances_encoding(call, &out->encoding)) {
        return false;
    }
    if (out->format == NULL) {
        size_t size;
        const char *body = http_body_bytes(call, &size);
        out->format = instances_sniff(body, size);
    }
    return (!out->format->instances->lines || api_instances_utf8(call, out->encoding)) &&
           api_query_bool(call, "zero_based", &out->zero_based);
}

bool api_instances_read(struct http_call *call, const struct instances_options *options,
                        const dn_model *model, struct instance_rows *out, struct problem *problem) {
    size_t size;
    const char *body = http_body_bytes(call, &size);
    return instances_read(body, size, options, model, out, problem);
}
