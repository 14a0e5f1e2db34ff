/* Reads tables in ARFF. Nominal attributes become categorical columns, numeric ones numeric
 * columns, dates datetime columns. The types of string attributes are inferred as in other
 * formats. */
#include "base/json/json_write.h"
#include "formats/arff/arff.h"
#include "formats/arff/format_arff.h"
#include "formats/formats.h"
#include "formats/table/table_lines.h"

#include <stdlib.h>
#include <string.h>

struct table_arff {
    struct text_lines lines;
    struct arff arff;
    int64_t line; /* number of the current line */
};

static struct table_arff *arff_of(const struct table *t) {
    return t->state;
}

/* ---- the header ---- */
static void line_place(const void *arg, size_t position, int64_t *line, int64_t *column) {
    const struct table_arff *a = arg;
    (void)position;
    *line = a->line;
    *column = 1;
}

/* Warns of nominal values that are read as missing because they are tokens for missing values. */
static void warn_of_missing(struct table *t, const struct arff_attribute *attribute) {
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < attribute->values.n; i++) {
        const struct text value = attribute->values.text[i];
        if (missing_has(&t->builder.missing, text_trim(value.bytes, value.n))) {
            table_warn(t, "attribute \"%s\": the value %s is read as missing",
                       attribute->name.bytes, text_show(value.bytes, value.n, shown));
        }
    }
}

static bool add_column(struct table *t, const struct arff_attribute *attribute) {
    const struct table_where where = {.place = line_place, .arg = arff_of(t)};
    const size_t i = t->builder.n_columns;
    const dn_column_type type = attribute->kind == ARFF_NUMERIC ? DN_NUMERIC
                                : attribute->kind == ARFF_DATE  ? DN_DATETIME
                                                                : DN_CATEGORICAL;
    if (attribute->kind == ARFF_NOMINAL) {
        warn_of_missing(t, attribute);
    }
    if (t->append.on) {
        return table_append_name(t, attribute->name, NULL, arff_of(t)->line, 1) &&
               (attribute->kind == ARFF_STRING || table_append_type(t, type));
    }
    if (!table_add_column(t, attribute->name.bytes, attribute->name.n, i + 1,
                          &arff_of(t)->arff.names, &where)) {
        return false;
    }
    if (attribute->kind != ARFF_STRING) {
        table_declare_type(t, i, type, attribute->orders);
    }
    return true;
}

/* ---- rows ---- */
/* Adds a checked cell to its column. Returns false if reading stops. */
static bool put_cell(struct table *t, const struct arff_cell *cell) {
    struct table_builder *b = &t->builder;
    const struct table_arff *a = arff_of(t);
    const size_t i = table_append_column(&t->append, cell->attribute);
    const enum arff_kind kind = a->arff.attributes[cell->attribute].kind;
    enum builder_status status = BUILDER_WELL;
    double number = 0;
    if (cell->missing) {
        status = builder_missing(b, i);
    } else if (kind == ARFF_NUMERIC) {
        (void)dn_number_parse(cell->text.bytes, cell->text.n, &number);
        status = builder_number(b, i, number, cell->text.bytes, cell->text.n);
    } else if (!cell->quoted) {
        status = builder_text(b, i, cell->text.bytes, cell->text.n);
    } else {
        status = builder_string(b, i, cell->text.bytes, cell->text.n);
    }
    return status == BUILDER_WELL || table_stop(t);
}

/* Reports a cell that does not fit the type of its column. Returns false if reading stops. */
static bool check_cell(struct table *t, const struct arff_cell *cell) {
    const struct table_builder *b = &t->builder;
    const size_t i = table_append_column(&t->append, cell->attribute);
    const dn_column_type given = builder_given_type(b, i);
    char shown[TEXT_SHOWN], rule[BUILDER_RULE_SIZE];
    const bool numeric = arff_of(t)->arff.attributes[cell->attribute].kind == ARFF_NUMERIC;
    double number = 0;
    const bool is_number =
        !cell->quoted && dn_number_parse(cell->text.bytes, cell->text.n, &number);
    if (cell->missing) {
        return true;
    }
    if (cell->text.n > TABLE_MAX_CELL) {
        return table_row_fault(t, arff_of(t)->line, (int64_t)cell->column,
                               "attribute \"%s\": the value has %zu bytes, at most %d are allowed",
                               arff_of(t)->arff.attributes[cell->attribute].name.bytes,
                               cell->text.n, TABLE_MAX_CELL);
    }
    if (numeric && !is_number) {
        return table_row_fault(t, arff_of(t)->line, (int64_t)cell->column,
                               "attribute \"%s\": the value must be a finite number or ? (got %s)",
                               arff_of(t)->arff.attributes[cell->attribute].name.bytes,
                               text_show(cell->text.bytes, cell->text.n, shown));
    }
    return (numeric ? builder_number_fits(b, &b->column[i], given, number, cell->text.bytes,
                                          cell->text.n)
                    : builder_text_fits(b, &b->column[i], given, cell->text.bytes, cell->text.n)) ||
           table_row_fault(t, arff_of(t)->line, (int64_t)cell->column,
                           "column \"%s\": a cell must be %s (got %s)%s", b->column[i].name,
                           builder_rule(b, i, given, rule),
                           text_show(cell->text.bytes, cell->text.n, shown), table_type_hint(t, i));
}

static bool on_row(struct table *t) {
    const struct arff *arff = &arff_of(t)->arff;
    for (size_t i = 0; i < arff->n_attributes; i++) {
        if (!check_cell(t, &arff->cells[i])) {
            return false;
        }
    }
    if (!table_row_is_well(t)) {
        return true;
    }
    for (size_t i = 0; i < arff->n_attributes; i++) {
        if (!put_cell(t, &arff->cells[i])) {
            return false;
        }
    }
    return (builder_fill_row(&t->builder) == BUILDER_WELL &&
            builder_row_end(&t->builder) == BUILDER_WELL) ||
           table_stop(t);
}

/* ---- lines ---- */
/* Adds the declared attributes as columns, after the last declaration. */
static bool on_data(struct table *t) {
    const struct arff *arff = &arff_of(t)->arff;
    bool go_on = true;
    if (t->append.on) {
        table_append_list(t);
    }
    for (size_t i = 0; go_on && i < arff->n_attributes; i++) {
        go_on = add_column(t, &arff->attributes[i]);
    }
    t->refused |= !go_on || t->n_faults > 0; /* without valid names the rows cannot be read */
    return !t->refused;
}

static bool on_line(void *arg, const char *bytes, size_t n, int64_t line) {
    struct table *t = arg;
    struct table_arff *a = t->state;
    struct arff_fault fault;
    a->line = line;
    a->arff.repeats = t->options.rename && !t->append.on;
    if (a->arff.in_data) {
        table_row_begin(t, line);
    }
    switch (arff_read(&a->arff, bytes, n, TABLE_MAX_COLUMNS, &fault)) {
    case ARFF_BLANK:
    case ARFF_DECLARED:
        return true;
    case ARFF_DATA:
        return on_data(t);
    case ARFF_ROW:
        return on_row(t);
    case ARFF_FAULT:
        return a->arff.in_data ? table_row_fault(t, line, (int64_t)fault.column, "%s", fault.text)
                               : table_fatal(t, line, (int64_t)fault.column, "%s", fault.text);
    case ARFF_NO_MEMORY:
        return table_no_memory(t);
    }
    return true;
}

/* Takes a line that is not UTF-8, if on_error=skip. */
static bool on_wrong(void *arg, const char *bytes, size_t n, int64_t line, int64_t column,
                     const char *text) {
    struct table *t = arg;
    (void)bytes;
    (void)n;
    if (!arff_of(t)->arff.in_data) {
        return table_fatal(t, line, column, "%s", text);
    }
    table_row_begin(t, line);
    return table_row_fault(t, line, column, "%s", text);
}

/* ---- begin and end ---- */
static enum table_begin begin(struct table *t, const struct table_sample *sample, bool may_look) {
    (void)sample;
    (void)may_look;
    return table_lines_begin(t, calloc(1, sizeof(struct table_arff)), on_line, on_wrong);
}

static bool end(struct table *t) {
    const struct table_arff *a = t->state;
    if (!table_lines_end(t)) {
        return false;
    }
    return a->arff.in_data ||
           table_fatal(t, a->line > 0 ? a->line : 1, 1, "the body ends before @data");
}

static bool has_names(const struct table *t) {
    return arff_of(t)->arff.in_data;
}

static void write_notes(const struct table *t, struct json_writer *w) {
    json_kv_int(w, "comments", arff_of(t)->arff.comments);
}

static void done(struct table *t) {
    struct table_arff *a = t->state;
    if (a != NULL) {
        text_lines_done(&a->lines);
        arff_done(&a->arff);
        free(a);
    }
}

static enum table_sniff sniff(const struct table *t, const struct table_sample *sample) {
    bool unsure = false;
    (void)t;
    if (arff_looks_like(sample->bytes, sample->n, &unsure)) {
        return TABLE_SNIFF_YES;
    }
    return unsure && !sample->whole ? TABLE_SNIFF_MORE : TABLE_SNIFF_NO;
}

const struct table_reader arff_table_reader = {
    .name = "arff",
    .title = "ARFF",
    .sniff = sniff,
    .begin = begin,
    .feed = table_lines_feed,
    .end = end,
    .has_names = has_names,
    .write_notes = write_notes,
    .done = done,
};
