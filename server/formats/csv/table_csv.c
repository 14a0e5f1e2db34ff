/* Rows of separated text into a table: comments, the header, ragged rows, cells that do not fit. */
#include "formats/csv/csv_sniff.h"
#include "formats/formats.h"
#include "formats/table/table.h"
#include "formats/text/cell_hint.h"
#include "formats/text/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names that the header has. false: no memory. */
static bool names_of_header(const struct csv_row *row, struct names *out) {
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text name =
            text_trim(csv_cell_text(row, &row->cells[i]), row->cells[i].length);
        if (name.n > 0 && names_find(out, name.bytes, name.n) < 0 &&
            !names_add(out, name.bytes, name.n)) {
            return false;
        }
    }
    return true;
}

static bool columns_of_header(struct wire_table *t, const struct csv_row *row) {
    struct names header = {0};
    bool go_on = names_of_header(row, &header);
    if (!go_on) {
        problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
        table_stop(t);
    }
    for (size_t i = 0; i < row->n_cells && go_on; i++) {
        go_on = table_add_column(t, csv_cell_text(row, &row->cells[i]), row->cells[i].length, i + 1,
                                 &header, row);
    }
    names_done(&header);
    if (!go_on) {
        return false;
    }
    if (t->options.label != NULL) {
        table_warn(t, "option \"label\" was not used: the table has a header");
    }
    t->refused |= t->n_faults > 0; /* without names the rest cannot be judged */
    return !t->refused;
}

static bool columns_numbered(struct wire_table *t, const struct csv_row *row) {
    for (size_t i = 0, n = row->n_cells; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "c%zu", i + 1);
        const char *as = i + 1 == n && t->options.label != NULL ? t->options.label : name;
        if (!table_add_column(t, as, strlen(as), i + 1, NULL, row)) {
            return false;
        }
    }
    return true;
}

/* The columns whose type was given and does not take every cell: their cells are looked at before
 * the row goes into the builder. */
static bool find_checked(struct wire_table *t) {
    const struct table_builder *b = &t->builder;
    size_t n = 0;
    t->checked = malloc((b->n_columns + 1) * sizeof *t->checked);
    if (t->checked == NULL) {
        problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
        return table_stop(t);
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        const dn_column_type given = builder_given_type(b, i);
        t->checked[n] = i;
        n += given == DN_NUMERIC || given == DN_BOOLEAN;
    }
    t->n_checked = n;
    return true;
}

static bool ragged(struct wire_table *t, const struct csv_row *row) {
    const size_t n = table_append_width(&t->append, &t->builder);
    int64_t line = 0, column = 0;
    csv_cell_place(row, row->n_cells > n ? n : row->n_cells, &line, &column);
    return table_row_fault(t, line, column, "row has %zu cell%s, expected %zu", row->n_cells,
                           row->n_cells == 1 ? "" : "s", n);
}

static bool misfit(struct wire_table *t, const struct csv_row *row, size_t i) {
    char shown[TEXT_SHOWN];
    int64_t line = 0, column = 0;
    const struct csv_cell *cell = &row->cells[i];
    const char *hint = cell_hint(csv_cell_text(row, cell), cell->length);
    csv_cell_place(row, i, &line, &column);
    text_show(csv_cell_text(row, cell), cell->length, shown);
    return table_row_fault(t, line, column, "column \"%s\": a cell must be %s (got %s)%s%s",
                           t->builder.column[i].name,
                           builder_given_type(&t->builder, i) == DN_BOOLEAN ? "a boolean"
                                                                            : "a number",
                           shown, hint != NULL ? ": " : "", hint != NULL ? hint : "");
}

/* Tells the cells that a given type cannot hold. false: reading stops. */
static bool check_cells(struct wire_table *t, const struct csv_row *row) {
    const struct table_builder *b = &t->builder;
    for (size_t k = 0; k < t->n_checked; k++) {
        const size_t i = t->checked[k];
        const struct csv_cell *cell = &row->cells[i];
        const dn_column_type given = builder_given_type(b, i);
        const char *text = csv_cell_text(row, cell);
        const bool fits = cell->kind == CSV_TEXT
                              ? builder_text_fits(b, given, text, cell->length)
                              : builder_number_fits(b, given, cell->number, text, cell->length);
        if (!fits && !misfit(t, row, i)) {
            return false;
        }
    }
    return true;
}

/* The fault of text after a closing quote and its like, told before the row came. false: reading
 * stops. */
static bool tell_stray(struct wire_table *t) {
    const int64_t line = t->stray_line;
    t->stray_line = 0;
    return line == 0 || table_row_fault(t, line, t->stray_column, "%s", t->stray_text);
}

static void take_comment(struct wire_table *t, const struct csv_row *row) {
    t->stray_line = 0;
    if (t->comments++ == 0) {
        t->comment_line = row->line;
    }
}

/* The first row: the header, or what tells how many columns there are. */
static bool on_first_row(struct wire_table *t, const struct csv_row *row) {
    t->named = true;
    if (t->stray_line > 0 && (t->header || (t->csv.faulty && row->n_cells == WIRE_MAX_COLUMNS))) {
        return table_fatal(t, t->stray_line, t->stray_column, "%s", t->stray_text);
    }
    if (t->append.on) {
        return table_append_first_row(t, row) && find_checked(t);
    }
    return (t->header ? columns_of_header(t, row) : columns_numbered(t, row)) && find_checked(t);
}

static bool on_row(void *arg, const struct csv_row *row) {
    struct wire_table *t = arg;
    struct csv_row room;
    if (SCAN_UNLIKELY(
            csv_is_comment(row,
                           t->named ? table_append_width(&t->append, &t->builder) : t->first_cells,
                           t->options.comment))) {
        take_comment(t, row);
        return true;
    }
    if (SCAN_UNLIKELY(!t->named)) {
        const bool header = t->header;
        if (!on_first_row(t, row) || header) {
            return !t->refused;
        }
    }
    if (SCAN_UNLIKELY(!table_row_wanted(t))) {
        return false;
    }
    table_row_begin(t, row->line);
    if (SCAN_UNLIKELY(t->stray_line > 0) &&
        (!tell_stray(t) || t->csv.faulty)) { /* what it has is perhaps no text */
        return !t->refused;
    }
    if (SCAN_UNLIKELY(row->n_cells != table_append_width(&t->append, &t->builder))) {
        return ragged(t, row);
    }
    if (SCAN_UNLIKELY(t->append.column != NULL)) {
        row = table_append_row(t, row, &room);
    }
    if (t->n_checked > 0 && !check_cells(t, row)) {
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
    struct wire_table *t = arg;
    if (fatal) {
        table_fatal(t, line, column, "%s", text);
    } else if (t->stray_line == 0) { /* the row comes yet, and may be a comment */
        t->stray_line = line;
        t->stray_column = column;
        snprintf(t->stray_text, sizeof t->stray_text, "%s", text);
    }
}

void table_csv_begin(struct wire_table *t) {
    csv_init(&t->csv, t->delimiter, WIRE_MAX_CELL, WIRE_MAX_COLUMNS,
             &(struct csv_handler){.row = on_row, .fault = on_fault, .arg = t});
    t->csv.comment = t->options.comment;
    t->csv.lenient = t->options.on_error == WIRE_SKIP;
}

void table_csv_done(struct wire_table *t) {
    csv_done(&t->csv);
    free(t->checked);
}

int64_t table_csv_comments(const struct wire_table *t) {
    return t->comments + t->csv.comments;
}

/* Why the reader stopped is in t->problem already, but for one reason. */
static bool stopped(struct wire_table *t) {
    if (t->csv.no_memory) {
        problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
        return table_stop(t);
    }
    t->refused = true;
    return false;
}

bool table_csv_feed(struct wire_table *t, const char *bytes, size_t n) {
    return (csv_feed(&t->csv, bytes, n) && !t->refused) || stopped(t);
}

bool table_csv_end(struct wire_table *t) {
    if (!csv_end(&t->csv) || t->refused) {
        return stopped(t);
    }
    if (t->comments > 0) {
        table_warn(
            t,
            "%" PRId64
            " line%s with # and %s not %zu cells: taken for comments (the first is line %" PRId64
            ")",
            t->comments, t->comments == 1 ? " begins" : "s begin",
            t->comments == 1 ? "has" : "have", t->builder.n_columns, t->comment_line);
    }
    return true;
}
