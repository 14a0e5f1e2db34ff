/* Detects the format of a body and calls its reader. Reads bodies line by line. */
#include "formats/instances/instances.h"
#include "formats/text/encoding.h"
#include "formats/text/foreign.h"
#include "formats/text/text_lines.h"

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

/* The destination of converted text. */
struct conversion {
    struct instances *in;
    struct buf text;
};

static bool take_text(void *arg, const char *bytes, size_t n) {
    struct conversion *c = arg;
    if (c->text.size + n > c->in->max_bytes) {
        return false;
    }
    buf_append(&c->text, bytes, n);
    return !c->text.failed;
}

/* Converts a body to UTF-8. Returns false after reporting a fault. */
static bool convert(struct instances *in, const char *body, size_t size, struct buf *out) {
    struct conversion c = {.in = in};
    struct encoding encoding;
    char text[ENCODING_FAULT], doubt[ENCODING_DOUBT];
    int64_t line = 0, column = 0;
    encoding_init(&encoding, in->options->encoding);
    const enum encoding_end end = encoding_feed(&encoding, body, size, true, take_text, &c);
    if (end == ENCODING_INVALID) {
        encoding_fault(&encoding, text, &line, &column);
        instances_fault(in, NULL, line, column, "%s", text);
    } else if (end != ENCODING_WELL) {
        instances_no_memory(in);
    } else if (encoding_doubt(&encoding, doubt)) {
        instances_warn(in, doubt);
    }
    encoding_done(&encoding);
    *out = c.text;
    return end == ENCODING_WELL;
}

static bool read_text(struct instances *in, const char *body, size_t size,
                      struct instance_rows *out) {
    const struct format *format = in->options->format;
    const char *foreign = foreign_body(body, size);
    if (foreign != NULL) {
        instances_fault(in, NULL, 1, 1, "%s", foreign);
        return false;
    }
    /* the body begins with a byte order mark */
    if (size >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0) {
        body += 3;
        size -= 3;
    }
    if (format == NULL) {
        format = instances_sniff(body, size);
    }
    return format->instances->read(in, body, size, out);
}

bool instances_read(const char *body, size_t size, const struct instances_options *options,
                    const dn_model *model, struct instance_rows *out, struct problem *problem) {
    struct instances in;
    struct buf converted = {0};
    bool well = instances_init(&in, model, options->schema, options->labelled, problem);
    well = well && instances_use_options(&in, options);
    if (well && (options->encoding != NULL || encoding_has_mark(body, size))) {
        well = convert(&in, body, size, &converted);
        body = converted.data != NULL ? converted.data : "";
        size = converted.size;
    }
    well = well && read_text(&in, body, size, out);
    if (options->n_read != NULL) {
        *options->n_read = in.n_begun;
    }
    instances_done(&in);
    buf_done(&converted);
    return well;
}

/* ---- lines ---- */
struct lines_reading {
    struct instances *in;
    bool (*line)(void *arg, const char *bytes, size_t n, int64_t line);
    void *arg;
};

static bool on_line(void *arg, const char *bytes, size_t n, int64_t line) {
    const struct lines_reading *r = arg;
    return r->line(r->arg, bytes, n, line);
}

static void on_fault(void *arg, int64_t line, int64_t column, const char *text) {
    const struct lines_reading *r = arg;
    instances_fault(r->in, NULL, line, column, "%s", text);
    r->in->stopped = true;
}

void instances_read_lines(struct instances *in, const char *body, size_t size,
                          bool (*line)(void *arg, const char *bytes, size_t n, int64_t line),
                          void *arg) {
    struct lines_reading r = {in, line, arg};
    struct text_lines lines;
    text_lines_init(&lines, TABLE_MAX_ROW,
                    &(struct text_lines_handler){.line = on_line, .fault = on_fault, .arg = &r});
    if (text_lines_feed(&lines, body, size)) {
        (void)text_lines_end(&lines);
    }
    if (lines.no_memory) {
        instances_no_memory(in);
    }
    text_lines_done(&lines);
}
