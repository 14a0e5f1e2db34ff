/* Reading instances: finds the format of a body and calls its reader. */
#include "formats/instances/instances.h"

#include <string.h>

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

const struct format *instances_sniff(const char *body, size_t size) {
    size_t at = size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < size && is_space(body[at])) {
        at++;
    }
    for (size_t i = 0; formats[i] != NULL; i++) {
        if (formats[i]->instances != NULL && formats[i]->instances->sniff(body + at, size - at)) {
            return formats[i];
        }
    }
    return &format_csv;
}

bool instances_read(const char *body, size_t size, const struct instances_options *options,
                    const dn_model *model, struct instance_rows *out, struct problem *problem) {
    struct instances in;
    const struct format *format = options->format;
    bool well = instances_init(&in, model, options->labelled, problem);
    in.options = options;
    if (options->target != NULL) {
        in.target = options->target;
    }
    if (size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        body += 3;
        size -= 3;
    }
    if (format == NULL) {
        format = instances_sniff(body, size);
    }
    well = well && format->instances->read(&in, body, size, out);
    instances_done(&in);
    return well;
}
