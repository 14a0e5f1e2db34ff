/* Rows of separated text into a table: the header, ragged rows, cells that do not fit. */
#include "wire/table.h"
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>

enum { COMMA_ROWS = 100 }; /* looked at for decimal commas */

/* The names that the header has. false: no memory. */
static bool names_of_header(const struct csv_row *row, struct names *out) {
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text name = text_trim(csv_cell_text(row, &row->cells[i]), row->cells[i].length);
        if (name.n > 0 && names_find(out, name.bytes, name.n) < 0 && !names_add(out, name.bytes, name.n)) {
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
        go_on = table_add_column(t, csv_cell_text(row, &row->cells[i]), row->cells[i].length, i + 1, &header, row);
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

static bool ragged(struct wire_table *t, const struct csv_row *row) {
    const size_t n = t->builder.n_columns;
    int64_t line = 0, column = 0;
    csv_cell_place(row, row->n_cells > n ? n : row->n_cells, &line, &column);
    return table_fault(t, line, column, "row has %zu cell%s, expected %zu", row->n_cells, row->n_cells == 1 ? "" : "s", n);
}

static bool misfit(struct wire_table *t, const struct csv_row *row, size_t i) {
    char shown[TEXT_SHOWN];
    int64_t line = 0, column = 0;
    const struct column *c = &t->builder.column[i];
    csv_cell_place(row, i, &line, &column);
    text_show(csv_cell_text(row, &row->cells[i]), row->cells[i].length, shown);
    return table_fault(t, line, column, "column \"%s\": a cell must be %s (got %s)", c->name,
                       c->type == DN_BOOLEAN ? "a boolean" : "a number", shown);
}

/* "1,5", "-0,25": a number with a decimal comma. */
static bool has_decimal_comma(struct text t) {
    size_t i = t.n > 0 && (t.bytes[0] == '-' || t.bytes[0] == '+'), commas = 0, digits = 0;
    for (; i < t.n; i++) {
        digits += t.bytes[i] >= '0' && t.bytes[i] <= '9';
        commas += t.bytes[i] == ',' && digits > 0 && i + 1 < t.n;
        if (t.bytes[i] != ',' && !(t.bytes[i] >= '0' && t.bytes[i] <= '9')) {
            return false;
        }
    }
    return commas == 1 && digits > 1;
}

/* The first rows of a table separated by semicolons: whether a column has decimal commas, which some programs write there. */
static void look_for_commas(struct wire_table *t, const struct csv_row *row) {
    for (size_t i = 0; i < row->n_cells && t->comma_column == 0; i++) {
        const struct text cell = text_trim(csv_cell_text(row, &row->cells[i]), row->cells[i].length);
        if (has_decimal_comma(cell)) {
            t->comma_column = i + 1;
            text_show(cell.bytes, cell.n, t->comma_text);
        }
    }
}

static bool on_row(void *arg, const struct csv_row *row) {
    struct wire_table *t = arg;
    if (!t->named) {
        t->named = true;
        if (t->header) {
            return columns_of_header(t, row);
        }
        if (!columns_numbered(t, row)) {
            return false;
        }
    }
    t->builder.line = row->line;
    if (row->n_cells != t->builder.n_columns) {
        return ragged(t, row);
    }
    if (t->delimiter == ';' && t->comma_column == 0 && t->builder.n_rows < COMMA_ROWS) {
        look_for_commas(t, row);
    }
    size_t cell = 0;
    enum builder_status status = builder_csv_cells(&t->builder, row, &cell);
    while (status == BUILDER_MISFIT) {
        if (!misfit(t, row, cell++)) {
            return false;
        }
        status = builder_csv_cells(&t->builder, row, &cell);
    }
    if (status == BUILDER_WELL) {
        status = builder_csv_row_end(&t->builder);
    }
    return status == BUILDER_WELL || table_stop(t);
}

static void on_fault(void *arg, int64_t line, int64_t column, bool fatal, const char *text) {
    struct wire_table *t = arg;
    if (!table_fault(t, line, column, "%s", text) || fatal) {
        t->refused = true;
    }
}

void table_csv_begin(struct wire_table *t) {
    csv_init(&t->csv, t->delimiter, WIRE_MAX_CELL, WIRE_MAX_COLUMNS, &(struct csv_handler){.row = on_row, .fault = on_fault, .arg = t});
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
    return (csv_end(&t->csv) && !t->refused) || stopped(t);
}
