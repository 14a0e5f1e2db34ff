/* Reads tables of separated text: comments, the header, rows with a wrong number of cells, and
 * cells that do not fit a given type. */
#include "base/json/json_write.h"
#include "formats/csv/csv_heading.h"
#include "formats/csv/csv_separator.h"
#include "formats/csv/csv_sniff.h"
#include "formats/csv/format_csv.h"
#include "formats/csv/repair/csv_repair.h"
#include "formats/csv/repair/csv_variant.h"
#include "formats/formats.h"
#include "formats/table/table.h"
#include "formats/text/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table_csv {
    char delimiter;
    int64_t skip;               /* number of lines before the table */
    bool header;                /* the first row is a header */
    int64_t header_lines;       /* number of header lines, if there is a header */
    struct csv_heading heading; /* the header lines so far, if there are several */
    bool named;                 /* the first row was read: the columns are known */
    /* number of cells in the first row of the sample that does not begin with #; 0: there is
     * none */
    size_t first_cells;
    /* number of comment lines that were recognised by # and their number of cells; struct csv
     * counts the lines with a comment character */
    int64_t comments;
    int64_t comment_line; /* line of the first of these comments */
    /* line of a fault in a row that is not delivered yet, after which reading continues, as text
     * after a closing quote; 0: there is no such fault */
    int64_t stray_line;
    int64_t stray_column;
    char stray_text[160]; /* text of that fault */
    size_t *checked;      /* [n_checked] columns of a given type that some cells may not fit */
    size_t n_checked;
    struct csv csv;
    /* on_error=repair: reads the body in place of `csv`; NULL: other values of on_error */
    struct csv_repair *repair;
    struct csv_plan plan; /* of `repair` */
    /* an append to a table of another dialect: reads the body in place of `csv`; NULL: others */
    struct csv_variant *variant;
    struct csv_dialect dialect; /* of `variant`; n 0: there is none */
};

static struct table_csv *csv_of(const struct table *t) {
    return t->state;
}

static void cell_place(const void *arg, size_t position, int64_t *line, int64_t *column) {
    csv_cell_place(arg, position - 1, line, column);
}

static bool columns_of_header(struct table *t, const struct csv_row *row) {
    const struct table_where where = {.place = cell_place, .arg = row};
    struct names header = {0};
    bool go_on = csv_header_names(row, &header);
    if (!go_on) {
        table_no_memory(t);
    }
    for (size_t i = 0; i < row->n_cells && go_on; i++) {
        go_on = table_add_column(t, csv_cell_text(row, &row->cells[i]), row->cells[i].length, i + 1,
                                 &header, &where);
    }
    names_done(&header);
    if (!go_on) {
        return false;
    }
    t->refused |= t->n_faults > 0; /* without valid names the rows cannot be read */
    return !t->refused && table_check_label(t);
}

/* Adds a header line to the names. *joined: the names, after the last line. Returns false if more
 * lines follow or reading stops. */
static bool join_header(struct table *t, const struct csv_row *row, struct csv_row *joined) {
    struct csv_heading *heading = &csv_of(t)->heading;
    if (!csv_heading_add(heading, row)) {
        return table_no_memory(t);
    }
    if (heading->lines < csv_of(t)->header_lines) {
        return false;
    }
    if (csv_of(t)->repair != NULL && csv_heading_mend(heading) > 0) {
        table_repaired(t, CSV_REPAIR_HEADER, row->line, 1,
                       "a line end or control character in a name was replaced by a blank");
    }
    if (heading->n > row->n_cells) {
        return table_fatal(t, row->line, 1,
                           "the last header line has %zu cell%s, and one above it has %zu",
                           row->n_cells, row->n_cells == 1 ? "" : "s", heading->n);
    }
    return csv_heading_row(heading, row, joined) || table_no_memory(t);
}

/* Finds the columns of a given type that some cells may not fit. Their cells are checked before the
 * row is added to the builder. */
static bool find_checked(struct table *t) {
    const struct table_builder *b = &t->builder;
    size_t n = 0;
    csv_of(t)->checked = malloc((b->n_columns + 1) * sizeof *csv_of(t)->checked);
    if (csv_of(t)->checked == NULL) {
        return table_no_memory(t);
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        const dn_column_type given = builder_given_type(b, i);
        csv_of(t)->checked[n] = i;
        n += builder_checks(given);
    }
    csv_of(t)->n_checked = n;
    return true;
}

static bool ragged(struct table *t, const struct csv_row *row) {
    const size_t n = table_append_width(&t->append, &t->builder);
    int64_t line = 0, column = 0;
    csv_cell_place(row, row->n_cells > n ? n : row->n_cells, &line, &column);
    return table_row_fault(t, line, column, "row has %zu cell%s, expected %zu", row->n_cells,
                           row->n_cells == 1 ? "" : "s", n);
}

static bool misfit(struct table *t, const struct csv_row *row, size_t i) {
    char shown[TEXT_SHOWN], rule[BUILDER_RULE_SIZE];
    int64_t line = 0, column = 0;
    const struct csv_cell *cell = &row->cells[i];
    const char *text = csv_cell_text(row, cell);
    const char *marks = builder_mark_hint(&t->builder, &t->builder.column[i],
                                          text_trim(text, cell->length)),
               *hint = marks != NULL ? marks : table_cell_hint(t, i, text, cell->length);
    csv_cell_place(row, i, &line, &column);
    text_show(text, cell->length, shown);
    return table_row_fault(t, line, column, "column \"%s\": a cell must be %s (got %s)%s%s%s",
                           t->builder.column[i].name,
                           builder_rule(&t->builder, i, builder_given_type(&t->builder, i), rule),
                           shown, hint != NULL ? ": " : "", hint != NULL ? hint : "",
                           marks != NULL ? "" : table_type_hint(t, i));
}

/* Reports the cells that do not fit the given type of their column. Returns false if reading
 * stops. */
static bool check_cells(struct table *t, const struct csv_row *row) {
    const struct table_builder *b = &t->builder;
    for (size_t k = 0; k < csv_of(t)->n_checked; k++) {
        const size_t i = csv_of(t)->checked[k];
        const struct csv_cell *cell = &row->cells[i];
        const dn_column_type given = builder_given_type(b, i);
        const char *text = csv_cell_text(row, cell);
        const bool marked = builder_has_commas(b) && memchr(text, '.', cell->length) != NULL;
        const bool fits =
            cell->kind == CSV_TEXT || marked
                ? builder_text_fits(b, &b->column[i], given, text, cell->length)
                : builder_number_fits(b, &b->column[i], given, cell->number, text, cell->length);
        if (!fits && !misfit(t, row, i)) {
            return false;
        }
    }
    return true;
}

/* Reports a fault that was found before its row was delivered. Returns false if reading stops. */
static bool tell_stray(struct table *t) {
    const int64_t line = csv_of(t)->stray_line;
    csv_of(t)->stray_line = 0;
    return line == 0 ||
           table_row_fault(t, line, csv_of(t)->stray_column, "%s", csv_of(t)->stray_text);
}

static void take_comment(struct table *t, const struct csv_row *row) {
    csv_of(t)->stray_line = 0;
    if (csv_of(t)->comments++ == 0) {
        csv_of(t)->comment_line = row->line;
    }
}

/* The first row is the header, or determines the number of columns. */
static bool on_first_row(struct table *t, const struct csv_row *row) {
    struct csv_row joined = {0};
    if (csv_of(t)->stray_line > 0 &&
        (csv_of(t)->header || (csv_of(t)->csv.faulty && row->n_cells == TABLE_MAX_COLUMNS))) {
        return table_fatal(t, csv_of(t)->stray_line, csv_of(t)->stray_column, "%s",
                           csv_of(t)->stray_text);
    }
    const bool broken = csv_of(t)->repair != NULL && csv_heading_is_broken(row);
    if (csv_of(t)->header && (csv_of(t)->header_lines > 1 || broken)) {
        if (!join_header(t, row, &joined)) {
            return !t->refused;
        }
        row = &joined;
    }
    csv_of(t)->named = true;
    if (t->append.on) {
        return table_append_first_row(t, row, csv_of(t)->header) && find_checked(t);
    }
    return (csv_of(t)->header && t->options.names == NULL
                ? columns_of_header(t, row)
                : table_add_numbered(t, row->n_cells, &(struct table_where){cell_place, row})) &&
           find_checked(t);
}

static bool on_row(void *arg, const struct csv_row *row) {
    struct table *t = arg;
    struct csv_row room;
    if (SCAN_UNLIKELY(csv_is_comment(row,
                                     csv_of(t)->named ? table_append_width(&t->append, &t->builder)
                                                      : csv_of(t)->first_cells,
                                     t->options.comment))) {
        take_comment(t, row);
        return true;
    }
    if (SCAN_UNLIKELY(!csv_of(t)->named)) {
        const bool header = csv_of(t)->header;
        if (!on_first_row(t, row) || header) {
            return !t->refused;
        }
    }
    table_row_begin(t, row->line);
    if (SCAN_UNLIKELY(csv_of(t)->stray_line > 0) &&
        /* if `faulty` is set, the cells of the row may not be UTF-8 */
        (!tell_stray(t) || csv_of(t)->csv.faulty)) {
        return !t->refused;
    }
    if (SCAN_UNLIKELY(row->n_cells != table_append_width(&t->append, &t->builder))) {
        return ragged(t, row);
    }
    if (SCAN_UNLIKELY(t->append.column != NULL)) {
        row = table_append_row(t, row, &room);
    }
    if (csv_of(t)->n_checked > 0 && !check_cells(t, row)) {
        return false;
    }
    if (!table_row_is_well(t)) {
        return true;
    }
    size_t cell = 0;
    const bool well = builder_csv_cells(&t->builder, row, &cell) == BUILDER_WELL &&
                      builder_csv_row_end(&t->builder) == BUILDER_WELL;
    return well || table_stop(t);
}

static void on_fault(void *arg, int64_t line, int64_t column, bool fatal, const char *text) {
    struct table *t = arg;
    if (fatal) {
        table_fatal(t, line, column, "%s", text);
        /* the row is not delivered yet and may be a comment */
    } else if (csv_of(t)->stray_line == 0) {
        csv_of(t)->stray_line = line;
        csv_of(t)->stray_column = column;
        snprintf(csv_of(t)->stray_text, sizeof csv_of(t)->stray_text, "%s", text);
    }
}

/* ---- begin and end ---- */
/* Reports lines before the table that look like a title. Returns false. */
static bool titled(struct table *t, const struct csv_title *title) {
    char lines[96];
    const bool one = title->cells == 1;
    if (title->table - title->line == 1) {
        snprintf(lines, sizeof lines, "line %" PRId64 " has", title->line);
    } else {
        snprintf(lines, sizeof lines, "the lines from %" PRId64 " to %" PRId64 " have at most",
                 title->line, title->table - 1);
    }
    if (title->ended && title->below == title->cells + 1) {
        return table_fatal(
            t, title->line, 1,
            "%s %zu cell%s, and the rows below have %zu, of which the last is empty: "
            "each row ends with a delimiter; add one to the header, or skip_rows=%" PRId64
            " if it is a title",
            lines, title->cells, one ? "" : "s", title->below, title->table - 1);
    }
    if (title->padded) {
        return table_fatal(t, title->line, 1,
                           "line %" PRId64 " looks like the header, and most cells above it are "
                           "empty: probably a title; skip_rows=%" PRId64
                           " leaves it out. If its words belong to the names, set header=%" PRId64,
                           title->table, title->table - 1, title->table - title->line + 1);
    }
    return table_fatal(
        t, title->line, 1,
        "%s %zu cell%s, and the rows below have %zu: probably a title; skip_rows=%" PRId64
        " leaves it out%s",
        lines, title->cells, one ? "" : "s", title->below, title->table - 1,
        !one && title->below == title->cells + 1 ? ". If it is a header without a name for the "
                                                   "first column, as R writes it, add the name"
                                                 : "");
}

static bool find_header(struct table *t, const struct csv_sample *sample, struct table_csv *out) {
    struct csv_header found = {.lines = 1};
    if (t->append.on ? !table_append_header(t, sample, out->delimiter, out->first_cells, &found)
                     : !csv_sniff_header(sample, out->delimiter, out->first_cells,
                                         &t->builder.missing, &t->builder.marks, &found)) {
        return table_no_memory(t);
    }
    if (found.title.line > 0 && !t->append.on) {
        if (t->options.on_error != TABLE_REPAIR || out->plan.line >= found.title.table) {
            return titled(t, &found.title);
        }
        out->plan.line = found.title.table; /* these lines are the preamble as well */
        out->plan.head = 1;
        return find_header(t, sample, out);
    }
    out->header = found.header || out->plan.named;
    out->header_lines = found.lines;
    if (t->options.names != NULL && !t->append.on) {
        out->header = false;
        return !found.header || !found.typed ||
               table_fatal(
                   t, 0, 0,
                   "the first row looks like a header: set header=true to replace its names "
                   "by those of the option \"names\", or header=false if it is data");
    }
    if (t->options.on_error == TABLE_REPAIR && found.several > out->plan.head) {
        found.several = out->plan.head > 1 ? out->plan.head : 0;
    }
    if (found.several > 0 && t->options.on_error == TABLE_REPAIR) {
        char text[64];
        snprintf(text, sizeof text, "the first %zu rows were joined", found.several);
        table_repaired(t, CSV_REPAIR_HEADER, out->plan.line, 1, text);
        out->header = true;
        out->header_lines = (int64_t)found.several;
        return true;
    }
    if (found.several > 0) {
        table_warn(
            t,
            "the first %zu rows have words in columns that have only numbers below: if they "
            "are header lines, set header=%zu; if those above the last are titles, skip them "
            "by skip_rows=%zu",
            found.several, found.several, found.several - 1);
    }
    if (found.again > 0) {
        table_warn(t,
                   "the first row was read as the header, and line %" PRId64
                   " repeats it as a row of data: remove it, or set header=false if both are data",
                   found.again);
    }
    if (found.second > 0) {
        table_warn(t,
                   "the first row was read as data; as line %" PRId64
                   " looks like the header, it is probably a title: skip_rows=%" PRId64
                   " leaves it out",
                   found.second, found.second - 1);
    } else if (found.doubtful && found.header) {
        table_warn(t, "the first row was read as the header, although it has numbers: if it is "
                      "data, set header=false");
    } else if (found.title_rows > 0) {
        table_warn(
            t,
            "the first row was read as data, as it has empty cells: if it is the header, set "
            "header=true; if it is a title, skip_rows=%" PRId64 " leaves it out",
            found.title_rows);
    } else if (found.doubtful) {
        table_warn(t,
                   "the first row was read as data, as it has numbers, empty cells or tokens for "
                   "missing: if it is the header, set header=true");
    }
    return true;
}

/* Warns if the delimiter may be wrong. Returns false if out of memory. */
static bool doubt_delimiter(struct table *t, const struct csv_sample *sample, char delimiter,
                            const struct csv_shape *shape) {
    struct csv_separator found;
    if (delimiter == CSV_BLANKS && !shape->numbers && t->options.delimiter == '\0') {
        table_warn(t, "the cells were separated at blanks, and none is a number: if each line is "
                      "one text, set delimiter=comma");
    }
    if (shape->blanks > 0 && t->options.delimiter == '\0') {
        table_warn(t,
                   "the cells were separated at commas, but each row is also %zu numbers between "
                   "blanks, with decimal commas: if this is meant, set delimiter=space",
                   shape->blanks);
    }
    if (shape->cells != 1 || !csv_separator_find(sample, delimiter, &found)) {
        return shape->cells != 1 || table_no_memory(t);
    }
    if (found.lines > 0) {
        char times[40] = "between numbers";
        if (found.times > 0) {
            snprintf(times, sizeof times, "%zu time%s", found.times, found.times == 1 ? "" : "s");
        }
        table_warn(t,
                   "the table has one column, but %zu of %zu lines have %s %s: if this separates "
                   "cells, %s%s",
                   found.lines, found.of, found.text, times,
                   found.option[0] != '\0' ? "set delimiter=" : "replace it by a comma",
                   found.option);
    }
    return true;
}

/* Sets how numbers are written in a body with this delimiter. */
static void take_marks(struct table *t, char delimiter) {
    struct marks *marks = &t->builder.marks;
    if (t->options.stored_marks && delimiter == ',' && t->append.delimiter != ',') {
        t->builder.doubts = true;
        t->builder.doubts_all = marks->decimal == ',' || marks->thousands == '.';
        marks->decimal = marks->thousands = '\0';
    }
    builder_set_delimiter(&t->builder, delimiter);
}

/* Measures how the dialect divides the rows that are appended. Returns false if out of memory. */
static bool measure(struct table *t, const struct csv_sample *sample, const struct csv_dialect *d,
                    struct csv_variant_fit *out) {
    const struct csv_sample by = csv_variant_by(sample, d);
    struct csv_header found = {0};
    if (!csv_variant_measure(sample, d, out) ||
        !table_append_header(t, &by, csv_dialect_char(d), out->cells, &found)) {
        return false;
    }
    out->fits = found.header || out->cells == t->builder.n_columns;
    return true;
}

/* Sets out->dialect if the rows that are appended have the dialect of the stored table, which struct
 * csv does not read. usual: the delimiter that is taken otherwise. given: one of the options. */
static bool find_variant(struct table *t, const struct csv_sample *sample, char given, char usual,
                         struct table_csv *out) {
    const struct csv_dialect d = csv_variant_with(&t->append.dialect, given);
    const struct csv_dialect other = csv_variant_with(&(struct csv_dialect){0}, usual);
    struct csv_variant_fit fit, other_fit;
    if (!csv_variant_needed(&d)) {
        return true;
    }
    if (!measure(t, sample, &d, &fit) || !measure(t, sample, &other, &other_fit)) {
        return false;
    }
    if (csv_variant_better(&fit, &other_fit)) {
        out->dialect = d;
    }
    return true;
}

/* Finds the structure of a body that is repaired. Returns false if out of memory. */
static bool make_plan(struct table *t, const struct csv_sample *sample, char given,
                      struct table_csv *out) {
    struct csv_shape shape = {0};
    struct csv_header found = {0};
    const struct csv_dialect *known = out->dialect.n > 0 ? &out->dialect : NULL;
    const struct csv_sample by = known != NULL ? csv_variant_by(sample, known) : *sample;
    if (known != NULL) {
        given = csv_dialect_char(known);
        csv_sniff_shape(&by, given, &shape);
    } else if (t->append.on && given == '\0') {
        given = table_append_delimiter(t, sample, '\0', &shape);
    }
    if (t->append.on && t->options.header == TABLE_HEADER_AUTO && given != '\0' &&
        !table_append_header(t, &by, given, shape.cells, &found)) {
        return false;
    }
    const bool named = found.header || t->options.header == TABLE_HEADER_YES;
    if (!csv_plan_make(sample, given, known, t->append.on && !named ? t->append.n_cells : 0,
                       &out->plan)) {
        return false;
    }
    out->delimiter = csv_dialect_char(&out->plan.dialect);
    return true;
}

/* Detects the delimiter and the header from the sample. */
static enum table_begin decide(struct table *t, const struct table_sample *first, bool may_look,
                               struct table_csv *out) {
    struct csv_sample sample = {.bytes = first->bytes,
                                .n = first->n,
                                .whole = first->whole,
                                .comment = t->options.comment,
                                .skip = t->options.skip_rows};
    char given = t->options.delimiter, written = '\0';
    struct csv_shape shape;
    const enum csv_separator_line separator = csv_separator_line(&sample, &written);
    if (separator == CSV_SEPARATOR_FOUND) {
        sample.skip = sample.skip > 0 ? sample.skip : 1;
    }
    if (given == '\0') {
        given = written != '\0' ? written : t->options.format == &format_tsv ? '\t' : '\0';
    }
    out->skip = sample.skip;
    out->delimiter = csv_sniff_delimiter(&sample, &shape);
    if (shape.rows < 2 && may_look) {
        return TABLE_BEGIN_MORE;
    }
    if (csv_variant_needed(&t->append.dialect)) {
        struct csv_shape by_stored = {0};
        const char usual =
            given != '\0' ? given : table_append_delimiter(t, &sample, out->delimiter, &by_stored);
        if (!find_variant(t, &sample, given, usual, out)) {
            table_no_memory(t);
            return TABLE_BEGIN_REFUSED;
        }
    }
    if (t->options.on_error == TABLE_REPAIR) {
        if (!make_plan(t, &sample, given, out)) {
            table_no_memory(t);
            return TABLE_BEGIN_REFUSED;
        }
        if (out->plan.width > TABLE_MAX_COLUMNS) {
            table_fault(t, out->plan.line, 1, "the table has %zu columns; there may be at most %d",
                        out->plan.width, TABLE_MAX_COLUMNS);
            return TABLE_BEGIN_REFUSED;
        }
        sample.rows = csv_repair_sample;
        sample.arg = &out->plan;
        csv_sniff_shape(&sample, out->delimiter, &shape);
        shape.title.line = 0; /* lines above the table are the preamble */
    } else if (out->dialect.n > 0) {
        sample = csv_variant_by(&sample, &out->dialect);
        out->delimiter = csv_dialect_char(&out->dialect);
        csv_sniff_shape(&sample, out->delimiter, &shape);
    } else if (given != '\0') {
        out->delimiter = given;
        csv_sniff_shape(&sample, out->delimiter, &shape);
    } else if (t->append.on) {
        out->delimiter = table_append_delimiter(t, &sample, out->delimiter, &shape);
    }
    if (shape.no_memory) {
        table_no_memory(t);
        return TABLE_BEGIN_REFUSED;
    }
    if (shape.title.line > 0 && t->options.header_lines < 2 && !titled(t, &shape.title)) {
        return TABLE_BEGIN_REFUSED;
    }
    if (!t->append.on && !doubt_delimiter(t, &sample, out->delimiter, &shape)) {
        return TABLE_BEGIN_REFUSED;
    }
    if (separator == CSV_SEPARATOR_UNUSED && sample.skip == 0) {
        table_warn(t, "the first line begins with sep=, but names no delimiter: it was read as a "
                      "row; skip_rows=1 leaves it out");
    }
    take_marks(t, out->delimiter);
    out->first_cells = shape.cells;
    out->header = t->options.header == TABLE_HEADER_YES;
    out->header_lines = t->options.header_lines;
    return t->options.header != TABLE_HEADER_AUTO || find_header(t, &sample, out)
               ? TABLE_BEGUN
               : TABLE_BEGIN_REFUSED;
}

static void on_repaired(void *arg, enum csv_repair_kind kind, int64_t line, int64_t last,
                        int64_t column, const char *text) {
    (void)last;
    table_repaired(arg, kind, line, column, text);
}

/* Reports what is unusual in the dialect of the body. */
static void tell_dialect(struct table *t, const struct csv_plan *plan) {
    const struct csv_dialect *d = &plan->dialect;
    char text[120];
    if (!d->run && (d->n > 1 || strchr(",;\t|", d->delimiter[0]) == NULL)) {
        char shown[TEXT_SHOWN];
        snprintf(text, sizeof text, "the delimiter is %s", text_show(d->delimiter, d->n, shown));
        table_repaired(t, CSV_REPAIR_DELIMITER, plan->line, 1, text);
    }
    if (d->quote != '"') {
        snprintf(text, sizeof text, "the quote character is %c", d->quote);
        table_repaired(t, CSV_REPAIR_QUOTE, plan->line, 1, text);
    }
    if (d->escape != '\0') {
        snprintf(text, sizeof text, "quotes are escaped by %c", d->escape);
        table_repaired(t, CSV_REPAIR_ESCAPE, plan->line, 1, text);
    }
}

/* Begins to read the body by the plan in the state. Returns false if out of memory. */
static bool begin_repair(struct table *t) {
    struct table_csv *state = csv_of(t);
    const struct csv_repair_handler handler = {.rows = {.row = on_row, .fault = on_fault, .arg = t},
                                               .repaired = on_repaired};
    state->repair = calloc(1, sizeof *state->repair);
    if (state->repair == NULL || !csv_repair_init(state->repair, &state->plan, &handler)) {
        return table_no_memory(t);
    }
    tell_dialect(t, &state->plan);
    t->options.rename = true;
    return true;
}

/* Begins to read the body in the dialect of the stored table. Returns false if out of memory. */
static bool begin_variant(struct table *t) {
    struct table_csv *state = csv_of(t);
    state->variant = malloc(sizeof *state->variant);
    if (state->variant == NULL) {
        return table_no_memory(t);
    }
    csv_variant_init(state->variant, &state->dialect, t->options.comment, state->skip,
                     &(struct csv_handler){.row = on_row, .fault = on_fault, .arg = t});
    return true;
}

static enum table_begin begin(struct table *t, const struct table_sample *sample, bool may_look) {
    struct table_csv decided = {0};
    const enum table_begin begun = decide(t, sample, may_look, &decided);
    struct table_csv *state = begun == TABLE_BEGUN ? malloc(sizeof *state) : NULL;
    if (state == NULL) {
        csv_plan_done(&decided.plan);
        if (begun == TABLE_BEGUN) {
            table_no_memory(t);
        }
        return begun == TABLE_BEGUN ? TABLE_BEGIN_REFUSED : begun;
    }
    *state = decided;
    csv_init(&state->csv, state->delimiter, TABLE_MAX_CELL, TABLE_MAX_COLUMNS,
             &(struct csv_handler){.row = on_row, .fault = on_fault, .arg = t});
    state->csv.comment = t->options.comment;
    csv_skip(&state->csv, state->skip);
    state->csv.lenient = t->options.on_error == TABLE_SKIP;
    t->state = state;
    const bool well = t->options.on_error == TABLE_REPAIR
                          ? begin_repair(t)
                          : state->dialect.n == 0 || begin_variant(t);
    return well ? TABLE_BEGUN : TABLE_BEGIN_REFUSED;
}

static void done(struct table *t) {
    struct table_csv *state = t->state;
    if (state != NULL) {
        if (state->repair != NULL) {
            csv_repair_done(state->repair);
            free(state->repair);
        }
        if (state->variant != NULL) {
            csv_variant_done(state->variant);
            free(state->variant);
        }
        csv_plan_done(&state->plan);
        csv_done(&state->csv);
        csv_heading_done(&state->heading);
        free(state->checked);
        free(state);
    }
}

/* If memory is exhausted, sets the problem; otherwise the problem is set already. */
static bool stopped(struct table *t) {
    if (csv_of(t)->csv.no_memory) {
        return table_no_memory(t);
    }
    t->refused = true;
    return false;
}

static bool feed(struct table *t, const char *bytes, size_t n) {
    struct table_csv *state = csv_of(t);
    bool well = false;
    if (state->repair != NULL) {
        well = csv_repair_feed(state->repair, bytes, n);
        state->csv.no_memory = state->repair->no_memory;
    } else if (state->variant != NULL) {
        well = csv_variant_feed(state->variant, bytes, n);
        state->csv.no_memory = state->variant->no_memory;
    } else {
        well = csv_feed(&state->csv, bytes, n);
    }
    return (well && !t->refused) || stopped(t);
}

/* Ends the body. Returns false if reading stopped. */
static bool end_rows(struct table_csv *state) {
    if (state->repair == NULL && state->variant == NULL) {
        return csv_end(&state->csv);
    }
    const bool repairs = state->repair != NULL;
    const bool well = repairs ? csv_repair_end(state->repair) : csv_variant_end(state->variant);
    state->csv.no_memory = repairs ? state->repair->no_memory : state->variant->no_memory;
    state->csv.comments = (repairs ? &state->repair->raw : &state->variant->raw)->comments;
    return well;
}

static bool end(struct table *t) {
    if (!end_rows(csv_of(t)) || t->refused) {
        return stopped(t);
    }
    if (csv_of(t)->comments > 0) {
        table_warn(
            t,
            "%" PRId64
            " line%s with # and %s not have %zu cells: read as comments (the first is line %" PRId64
            ")",
            csv_of(t)->comments, csv_of(t)->comments == 1 ? " begins" : "s begin",
            csv_of(t)->comments == 1 ? "does" : "do", t->builder.n_columns,
            csv_of(t)->comment_line);
    }
    return true;
}

static bool has_names(const struct table *t) {
    return csv_of(t)->named || csv_of(t)->heading.lines > 0;
}

static void write_notes(const struct table *t, struct json_writer *w) {
    const struct table_csv *state = t->state;
    const struct csv_dialect *d = state->repair != NULL    ? &state->plan.dialect
                                  : state->variant != NULL ? &state->variant->dialect
                                                           : NULL;
    json_put_key(w, "delimiter");
    json_put_stringn(w, d != NULL ? d->delimiter : &state->delimiter, d != NULL ? d->n : 1);
    if (d != NULL && d->quote != '"') {
        json_put_key(w, "quote");
        json_put_stringn(w, &d->quote, 1);
    }
    if (d != NULL && d->escape != '\0') {
        json_put_key(w, "escape");
        json_put_stringn(w, &d->escape, 1);
    }
    json_kv_bool(w, "header", state->header);
    if (state->header && state->header_lines > 1) {
        json_kv_int(w, "header_lines", state->header_lines);
    }
    if (state->header && t->options.names != NULL) {
        json_kv_bool(w, "header_replaced", true);
    }
    if (t->options.label != NULL || t->options.label_at > 0) {
        json_kv_string(w, "label", table_label_name(t));
    }
    json_kv_int(w, "comments", state->comments + state->csv.comments);
    json_kv_bool(w, "trimmed", !t->builder.keeps_blanks);
}

/* CSV accepts any body, after the other formats have refused it. */
static enum table_sniff sniff(const struct table *t, const struct table_sample *sample) {
    (void)t;
    (void)sample;
    return TABLE_SNIFF_YES;
}

const struct table_reader csv_table_reader = {
    .name = "csv",
    .title = "CSV",
    .options = TABLE_OPTION_HEADER | TABLE_OPTION_DELIMITER | TABLE_OPTION_COMMENT |
               TABLE_OPTION_LABEL | TABLE_OPTION_SKIP_ROWS | TABLE_OPTION_NAMES |
               TABLE_OPTION_REPAIR,
    .sniff = sniff,
    .begin = begin,
    .feed = feed,
    .end = end,
    .has_names = has_names,
    .write_notes = write_notes,
    .done = done,
};
