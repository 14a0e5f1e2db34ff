/* Reads tables in svmlight. If a line has a fault, nothing of it is added to the builder. */
#include "formats/svmlight/table_svmlight.h"
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/svmlight/svmlight.h"
#include "formats/table/table_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct table_svmlight {
    struct text_lines lines;
    struct svmlight_row row;
    struct svmlight_options options;
    int64_t comments; /* number of lines with only a comment */
    int64_t qid_line; /* line of the first "qid:N"; 0: there is none */
};

/* ---- rows ---- */
static bool row_put(struct table *t, int64_t line, int64_t column) {
    const struct svmlight_row *row = &((const struct table_svmlight *)t->state)->row;
    char shown[TEXT_SHOWN], rule[BUILDER_RULE_SIZE];
    enum builder_status status =
        builder_text(&t->builder, TABLE_LABEL, row->label.bytes, row->label.n);
    if (status == BUILDER_MISFIT) {
        return table_row_fault(t, line, column, "column \"%s\": a cell must be %s (got %s)%s",
                               t->builder.column[TABLE_LABEL].name,
                               builder_rule(&t->builder, TABLE_LABEL,
                                            t->builder.column[TABLE_LABEL].type, rule),
                               text_show(row->label.bytes, row->label.n, shown),
                               table_type_hint(t, TABLE_LABEL));
    }
    if (status == BUILDER_WELL) {
        status =
            builder_entries(&t->builder, TABLE_SPARSE, row->place, row->value, row->n, row->width);
    }
    if (status == BUILDER_WELL && row->n_inexact > 0) {
        builder_inexact(&t->builder, TABLE_SPARSE, row->n_inexact, row->inexact_number,
                        row->inexact.bytes, row->inexact.n);
    }
    if (status == BUILDER_WELL) {
        status = builder_row_end(&t->builder);
    }
    return status == BUILDER_WELL || table_stop(t);
}

static bool on_line(void *arg, const char *bytes, size_t n, int64_t line) {
    struct table *t = arg;
    struct table_svmlight *s = t->state;
    struct svmlight_fault fault;
    if (t->options.comment != '\0' && n > 0 && bytes[0] == t->options.comment) {
        s->comments++;
        return true;
    }
    table_row_begin(t, line);
    switch (svmlight_read(bytes, n, &s->options, &s->row, &fault)) {
    case SVMLIGHT_BLANK:
        s->comments += memchr(bytes, '#', n) != NULL;
        return true;
    case SVMLIGHT_NO_MEMORY:
        return table_no_memory(t);
    case SVMLIGHT_FAULT:
        return table_row_fault(t, line, (int64_t)fault.at + 1, "%s%s", fault.text,
                               t->append.on && t->options.format == NULL && t->builder.n_rows == 0
                                   ? "; the dataset is sparse and takes rows of svmlight only"
                                   : "");
    case SVMLIGHT_ROW:
        break;
    }
    if (s->row.qid && s->qid_line == 0) {
        s->qid_line = line;
        table_warn(t, "the queries (\"qid:N\", first in line %" PRId64 ") are ignored", line);
    }
    return row_put(t, line, s->row.label.bytes - bytes + 1);
}

static bool is_comment(const struct table *t, const char *bytes, size_t n) {
    const struct text line = text_trim(bytes, n);
    return line.n > 0 &&
           (line.bytes[0] == '#' || (t->options.comment != '\0' && bytes[0] == t->options.comment));
}

/* Takes a line that is not UTF-8, if on_error=skip. */
static bool on_wrong(void *arg, const char *bytes, size_t n, int64_t line, int64_t column,
                     const char *text) {
    struct table *t = arg;
    if (is_comment(t, bytes, n)) {
        ((struct table_svmlight *)t->state)->comments++;
        return true;
    }
    table_row_begin(t, line);
    return table_row_fault(t, line, column, "%s", text);
}

/* ---- begin and end ---- */
/* Whether the name of the label column would be that of the sparse column or of a feature. */
static bool is_feature_name(const char *name) {
    const size_t prefix = sizeof TABLE_SPARSE_NAME - 1;
    return strncmp(name, TABLE_SPARSE_NAME, prefix) == 0 &&
           strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

static bool add_columns(struct table *t) {
    const bool named = t->options.label != NULL && t->options.label_at == 0;
    const char *label = named ? t->options.label : TABLE_LABEL_NAME;
    if (t->options.label_at > 1) {
        return table_fatal(t, 0, 0,
                           "option \"label\" is another column than 1, and the label of svmlight "
                           "is column 1");
    }
    if (is_feature_name(label)) {
        return table_fatal(t, 0, 0,
                           "option \"label\" must not be the name of a feature: they are called "
                           "\"" TABLE_SPARSE_NAME "1\" and so on (got \"%s\")",
                           label);
    }
    if (!table_add_column(t, label, strlen(label), 1, NULL, NULL) || t->n_faults > 0) {
        t->refused = true;
        return false;
    }
    return builder_add_sparse(&t->builder, TABLE_SPARSE_NAME, t->options.zero_based ? 0 : 1, 0) ==
               BUILDER_WELL ||
           table_stop(t);
}

/* Finds out whether the first index is 0: the option, or when rows are appended the stored table,
 * says so. Returns false if the rows do not fit the dataset. */
static bool find_base(struct table *t, bool *zero_based) {
    *zero_based = t->options.zero_based;
    if (!t->append.on) {
        return true;
    }
    if (!table_is_sparse(t)) {
        return table_fatal(t, 0, 0,
                           "rows of svmlight cannot be appended to a dataset that is not "
                           "sparse: send its columns as CSV or JSON");
    }
    *zero_based = t->builder.column[TABLE_SPARSE].summary.sparse.first == 0;
    if (t->options.zero_based && !*zero_based) {
        return table_fatal(
            t, 0, 0, "zero_based=true does not fit the dataset, which counts its features from 1");
    }
    return true;
}

static enum table_begin begin(struct table *t, const struct table_sample *sample, bool may_look) {
    bool zero_based = false;
    (void)sample;
    (void)may_look;
    if (!find_base(t, &zero_based)) {
        return TABLE_BEGIN_REFUSED;
    }
    if (t->append.on) {
        table_append_by_position(t);
    } else if (!add_columns(t)) {
        return TABLE_BEGIN_REFUSED;
    }
    struct table_svmlight *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->options.zero_based = zero_based;
    }
    return table_lines_begin(t, s, on_line, on_wrong);
}

static bool has_names(const struct table *t) {
    (void)t;
    return false; /* the body has no names */
}

static void write_notes(const struct table *t, struct json_writer *w) {
    const struct table_svmlight *s = t->state;
    json_kv_bool(w, "zero_based", s->options.zero_based);
    json_kv_int(w, "comments", s->comments);
}

static void done(struct table *t) {
    struct table_svmlight *s = t->state;
    if (s != NULL) {
        text_lines_done(&s->lines);
        svmlight_row_done(&s->row);
        free(s);
    }
}

/* Rows for a table with a sparse column are svmlight. For other tables a given delimiter or header
 * means that the body is separated text. */
static enum table_sniff sniff(const struct table *t, const struct table_sample *sample) {
    const bool separated = t->options.delimiter != '\0' || t->options.header != TABLE_HEADER_AUTO;
    return table_is_sparse(t) ||
                   (!separated && svmlight_looks_like(sample->bytes, sample->n, sample->whole))
               ? TABLE_SNIFF_YES
               : TABLE_SNIFF_NO;
}

const struct table_reader svmlight_table_reader = {
    .name = "svmlight",
    .title = "svmlight",
    .options = TABLE_OPTION_COMMENT | TABLE_OPTION_LABEL | TABLE_OPTION_ZERO_BASED,
    .sparse = true,
    .sniff = sniff,
    .begin = begin,
    .feed = table_lines_feed,
    .end = table_lines_end,
    .has_names = has_names,
    .write_notes = write_notes,
    .done = done,
};
