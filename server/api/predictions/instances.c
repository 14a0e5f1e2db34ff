/* Reads the rows in the body of a call. */
#include "api/predictions/instances.h"
#include "api/policy.h"
#include "api/support.h"
#include "base/metrics/metrics.h"
#include "formats/text/encoding.h"

#include <inttypes.h>
#include <stdio.h>
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

bool api_instances_extra(struct http_call *call, bool *refused) {
    const char *value = http_query(call, "extra");
    *refused = value != NULL && strcmp(value, "error") == 0;
    if (value != NULL && !*refused && strcmp(value, "ignore") != 0) {
        http_fail(call, PROBLEM_BAD_REQUEST,
                  "query parameter \"extra\" must be ignore or error, got \"%.100s\"", value);
        return false;
    }
    return true;
}

/* Options of uploads that determine how the rows of separated text are found. */
static const char *const layout[] = {"header", "delimiter", "skip_rows", "names", "duplicates"};
enum { N_LAYOUT = sizeof layout / sizeof layout[0] };

bool api_instances_reading(struct http_call *call, struct instances_options *out) {
    static const char *const names[] = {"missing", "comment", "decimal", "thousands", "strip"};
    const size_t n_names = sizeof names / sizeof names[0];
    struct table_options read = {0};
    struct problem problem = {0};
    bool laid_out = false;
    for (size_t i = 0; i < n_names + N_LAYOUT; i++) {
        const char *name = i < n_names ? names[i] : layout[i - n_names],
                   *value = http_query(call, name);
        laid_out |= value != NULL && i >= n_names;
        if (value != NULL && !table_option_parse(&read, name, value, &problem)) {
            http_reply_problem(call, &problem);
            return false;
        }
    }
    if (laid_out) {
        struct table_options *table = arena_alloc(http_arena(call), sizeof *table);
        if (table == NULL) {
            http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the rows");
            return false;
        }
        *table = read;
        out->table = table;
    }
    out->has_comment = read.comment != '\0';
    out->comment = read.comment;
    if (read.marks.decimal != '\0' || read.marks.has_thousands || read.marks.has_strip) {
        struct marks *marks = arena_alloc(http_arena(call), sizeof *marks);
        if (marks == NULL) {
            http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the rows");
            return false;
        }
        *marks = read.marks;
        out->marks = marks;
    }
    if (read.missing != NULL) {
        struct missing *missing = arena_alloc(http_arena(call), sizeof *missing);
        if (missing == NULL) {
            http_fail(call, PROBLEM_UNAVAILABLE, "no memory for the rows");
            return false;
        }
        (void)missing_init(missing, read.missing, &problem); /* was checked */
        out->missing = missing;
    }
    return true;
}

bool api_instances_stored(struct http_call *call, struct instances_options *out) {
    static const char *const names[] = {"encoding", "comment", "zero_based"};
    const size_t n_names = sizeof names / sizeof names[0];
    *out = (struct instances_options){0};
    for (size_t i = 0; i < n_names + N_LAYOUT; i++) {
        const char *name = i < n_names ? names[i] : layout[i - n_names];
        if (http_query(call, name) != NULL) {
            http_fail(call, PROBLEM_BAD_REQUEST,
                      "query parameter \"%s\" is for rows in the body; those of a stored dataset "
                      "were read at its upload",
                      name);
            return false;
        }
    }
    return api_instances_extra(call, &out->refuse_extra) && api_instances_reading(call, out);
}

bool api_instances_keep(struct http_call *call, struct keep *out, const struct keep **used) {
    const char *list = http_query(call, "keep");
    struct problem problem = {0};
    *out = (struct keep){0};
    *used = list != NULL ? out : NULL;
    if (list != NULL && !keep_parse(list, out, &problem)) {
        keep_done(out);
        http_reply_problem(call, &problem);
        return false;
    }
    return true;
}

bool api_instances_separated(struct http_call *call, const struct format *format) {
    for (size_t i = 0; format != &format_csv && format != &format_tsv && i < N_LAYOUT; i++) {
        if (http_query(call, layout[i]) != NULL) {
            http_fail(call, PROBLEM_BAD_REQUEST,
                      "query parameter \"%s\" is for separated text, and the body is %s", layout[i],
                      format_media_type(format));
            return false;
        }
    }
    return true;
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
           api_query_bool(call, "zero_based", &out->zero_based) &&
           api_instances_extra(call, &out->refuse_extra) &&
           api_instances_separated(call, out->format) && api_instances_reading(call, out);
}

bool api_instances_read(struct http_call *call, const struct instances_options *options,
                        const dn_model *model, struct instance_rows *out, struct problem *problem) {
    size_t size;
    const char *body = http_body_bytes(call, &size);
    return instances_read(body, size, options, model, out, problem);
}

static void reply_count(struct http_call *call, const char *name, int64_t n) {
    char text[24];
    if (n > 0) {
        (void)snprintf(text, sizeof text, "%" PRId64, n);
        http_reply_header(call, name, text);
    }
}

static void count_unseen(const char *name, const dn_model *model, const struct row_notes *notes) {
    const dn_encoder *encoder = dn_model_encoder(model);
    struct metrics_family *family = metrics_register(
        METRICS_COUNTER, "discern_unseen_values_total",
        "Values of prediction and evaluation rows that are not a category of the training rows.",
        "model,column", NULL, 0);
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const int64_t n = row_notes_unseen_of(notes, i);
        if (n > 0) {
            metric_add(metrics_series(family, name, dn_encoder_input(encoder, i)->name, NULL),
                       (double)n);
        }
    }
}

void api_instances_notes(struct http_call *call, const char *name, const dn_model *model,
                         const struct row_notes *notes) {
    if (row_notes_unseen(notes) > 0) {
        count_unseen(name, model, notes);
    }
    reply_count(call, "Discern-Unseen", row_notes_unseen(notes));
    reply_count(call, "Discern-Ignored", (int64_t)row_notes_ignored(notes));
    reply_count(call, "Discern-Warnings", (int64_t)row_notes_n_warnings(notes));
}
