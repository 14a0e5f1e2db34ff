/* Rows of svmlight into a table. A line with a fault is a faulty row: nothing of it goes into the
 * builder. */
#include "formats/svmlight/table_svmlight.h"
#include "formats/formats.h"
#include "formats/table/table.h"

#include <inttypes.h>
#include <string.h>

static bool no_memory(struct wire_table *t) {
    problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
    return table_stop(t);
}

/* ---- rows ---- */
static bool row_put(struct wire_table *t, int64_t line, int64_t column) {
    const struct svmlight_row *row = &t->svmlight.row;
    char shown[TEXT_SHOWN];
    enum builder_status status =
        builder_text(&t->builder, TABLE_LABEL, row->label.bytes, row->label.n);
    if (status == BUILDER_MISFIT) {
        return table_row_fault(t, line, column, "column \"%s\": a cell must be %s (got %s)",
                               t->builder.column[TABLE_LABEL].name,
                               t->builder.column[TABLE_LABEL].type == DN_BOOLEAN ? "a boolean"
                                                                                 : "a number",
                               text_show(row->label.bytes, row->label.n, shown));
    }
    if (status == BUILDER_WELL) {
        status =
            builder_entries(&t->builder, TABLE_SPARSE, row->place, row->value, row->n, row->width);
    }
    if (status == BUILDER_WELL) {
        status = builder_row_end(&t->builder);
    }
    return status == BUILDER_WELL || table_stop(t);
}

static bool on_line(void *arg, const char *bytes, size_t n, int64_t line) {
    struct wire_table *t = arg;
    struct table_svmlight *s = &t->svmlight;
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
        return no_memory(t);
    case SVMLIGHT_FAULT:
        return table_row_fault(t, line, (int64_t)fault.at + 1, "%s%s", fault.text,
                               t->append.on && t->options.format == WIRE_SNIFF &&
                                       t->builder.n_rows == 0
                                   ? "; the dataset is sparse and takes rows of svmlight only"
                                   : "");
    case SVMLIGHT_ROW:
        break;
    }
    if (!table_row_wanted(t)) {
        return false;
    }
    if (s->row.qid && s->qid_line == 0) {
        s->qid_line = line;
        table_warn(t, "the queries (\"qid:N\", first in line %" PRId64 ") are ignored", line);
    }
    if (s->row.inexact.n > 0 && s->inexact_line == 0) {
        char shown[TEXT_SHOWN];
        s->inexact_line = line;
        table_warn(t,
                   "%s in line %" PRId64
                   ", column %td, is no number that a double holds exactly, it is rounded",
                   text_show(s->row.inexact.bytes, s->row.inexact.n, shown), line,
                   s->row.inexact.bytes - bytes + 1);
    }
    return row_put(t, line, s->row.label.bytes - bytes + 1);
}

static bool is_comment(const struct wire_table *t, const char *bytes, size_t n) {
    const struct text line = text_trim(bytes, n);
    return line.n > 0 &&
           (line.bytes[0] == '#' || (t->options.comment != '\0' && bytes[0] == t->options.comment));
}

/* on_error=skip: a line that is no text. */
static bool on_wrong(void *arg, const char *bytes, size_t n, int64_t line, int64_t column,
                     const char *text) {
    struct wire_table *t = arg;
    if (is_comment(t, bytes, n)) {
        t->svmlight.comments++;
        return true;
    }
    table_row_begin(t, line);
    return table_row_wanted(t) && table_row_fault(t, line, column, "%s", text);
}

static void on_fault(void *arg, int64_t line, int64_t column, const char *text) {
    table_fatal(arg, line, column, "%s", text);
}

/* ---- the face ---- */
/* Would the label have the name of the sparse column or of one of its features? */
static bool is_feature_name(const char *name) {
    const size_t prefix = sizeof TABLE_SPARSE_NAME - 1;
    return strncmp(name, TABLE_SPARSE_NAME, prefix) == 0 &&
           strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

static bool add_columns(struct wire_table *t) {
    const char *label = t->options.label != NULL ? t->options.label : TABLE_LABEL_NAME;
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

bool table_svmlight_is_stored(const struct wire_table *t) {
    return t->append.on && t->builder.n_columns == 2 &&
           t->builder.column[TABLE_SPARSE].state == COLUMN_SPARSE;
}

bool table_svmlight_begin(struct wire_table *t) {
    if (t->append.on) {
        const bool stored = table_svmlight_is_stored(t),
                   zero_based = stored && t->builder.column[TABLE_SPARSE].summary.sparse.first == 0;
        if (!stored) {
            return table_fatal(t, 0, 0,
                               "rows of svmlight cannot be appended to a dataset that is not "
                               "sparse: send its columns as CSV or JSON");
        }
        if (t->options.zero_based && !zero_based) {
            return table_fatal(
                t, 0, 0,
                "zero_based=true does not fit the dataset, which counts its features from 1");
        }
        t->svmlight.options.zero_based = zero_based;
        table_append_by_position(t);
    } else {
        t->svmlight.options.zero_based = t->options.zero_based;
        if (!add_columns(t)) {
            return false;
        }
    }
    text_lines_init(&t->svmlight.lines, WIRE_MAX_ROW,
                    &(struct text_lines_handler){.line = on_line,
                                                 .wrong = t->options.on_error == WIRE_SKIP
                                                              ? on_wrong
                                                              : NULL,
                                                 .fault = on_fault,
                                                 .arg = t});
    return true;
}

/* Why the reader stopped is in t->problem already, but for one reason. */
static bool stopped(struct wire_table *t) {
    t->refused = true;
    return t->svmlight.lines.no_memory ? no_memory(t) : false;
}

bool table_svmlight_feed(struct wire_table *t, const char *bytes, size_t n) {
    return (text_lines_feed(&t->svmlight.lines, bytes, n) && !t->refused) || stopped(t);
}

bool table_svmlight_end(struct wire_table *t) {
    return (text_lines_end(&t->svmlight.lines) && !t->refused) || stopped(t);
}

void table_svmlight_done(struct wire_table *t) {
    text_lines_done(&t->svmlight.lines);
    svmlight_row_done(&t->svmlight.row);
}
