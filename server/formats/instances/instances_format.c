/* The face of the readers of instances: which format a body has, and which reader takes it. */
#include "formats/instances/instances.h"
#include "formats/svmlight/svmlight.h"

#include <string.h>

bool wire_instances_format(const char *media_type, enum wire_instances_format *out) {
    static const struct {
        const char *type;
        enum wire_instances_format format;
    } known[] = {{"", WIRE_INSTANCES_SNIFF},
                 {"application/json", WIRE_INSTANCES_JSON},
                 {"application/x-ndjson", WIRE_INSTANCES_NDJSON},
                 {"application/ndjson", WIRE_INSTANCES_NDJSON},
                 {"application/jsonl", WIRE_INSTANCES_NDJSON},
                 {"text/csv", WIRE_INSTANCES_CSV},
                 {"text/tab-separated-values", WIRE_INSTANCES_TSV},
                 {"text/x-svmlight", WIRE_INSTANCES_SVMLIGHT}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(media_type, known[i].type) == 0) {
            *out = known[i].format;
            return true;
        }
    }
    return false;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Does every bracket of the line find its end in it, as those of a whole value do? The line begins
 * with one. */
static bool is_whole(const char *line, size_t n) {
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        const char c = line[i];
        if (quoted) {
            quoted = c != '"';
            i += c == '\\';
            continue;
        }
        quoted = c == '"';
        depth += c == '[' || c == '{';
        if ((c == ']' || c == '}') && depth-- == 0) {
            return false;
        }
    }
    return depth == 0 && !quoted;
}

/* The body begins with '{' or '['. */
static bool is_lines(const char *body, size_t size) {
    const char *end = memchr(body, '\n', size);
    while (size > 0 && is_space(body[size - 1])) {
        size--;
    }
    return end != NULL && (size_t)(end - body) < size && is_whole(body, (size_t)(end - body));
}

enum wire_instances_format wire_instances_sniff(const char *body, size_t size) {
    size_t at = size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < size && is_space(body[at])) {
        at++;
    }
    if (at < size && (body[at] == '{' || body[at] == '[')) {
        return is_lines(body + at, size - at) ? WIRE_INSTANCES_NDJSON : WIRE_INSTANCES_JSON;
    }
    return svmlight_looks_like(body + at, size - at, true) ? WIRE_INSTANCES_SVMLIGHT
                                                           : WIRE_INSTANCES_CSV;
}

bool wire_instances_read(const char *body, size_t size,
                         const struct wire_instances_options *options, const dn_model *model,
                         struct wire_instances *out, struct problem *problem) {
    struct instances in;
    enum wire_instances_format format = options->format;
    bool well = instances_init(&in, model, options->labelled, problem);
    in.options = options;
    if (options->target != NULL) {
        in.target = options->target;
    }
    if (size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        body += 3;
        size -= 3;
    }
    if (format == WIRE_INSTANCES_SNIFF) {
        format = wire_instances_sniff(body, size);
    }
    if (well && format == WIRE_INSTANCES_JSON) {
        well = instances_read_json(&in, body, size, out);
    } else if (well && format == WIRE_INSTANCES_NDJSON) {
        well = instances_read_ndjson(&in, body, size, out);
    } else if (well && format == WIRE_INSTANCES_SVMLIGHT) {
        well = instances_read_svmlight(&in, body, size, options->zero_based, out);
    } else if (well) {
        well = instances_read_csv(&in, body, size, format == WIRE_INSTANCES_TSV ? '\t' : '\0', out);
    }
    instances_done(&in);
    return well;
}
