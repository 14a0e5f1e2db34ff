/* Appending: maps the columns of the body to those of the table, by name or by position. */
#include "base/json/json.h"
#include "base/memory/array.h"
#include "base/nearest.h"
#include "formats/csv/csv_heading.h"
#include "formats/table/table.h"
#include "formats/table/table_append.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMED = 10,         /* number of missing columns that the warning names */
    CASE_COLUMNS = 1000 /* limit of is_name */
};

/* ---- columns of the body ---- */
/* The nearest column of the table to a name that is none. The search takes time for many columns:
 * nothing is found after TABLE_FAULTS_LISTED faults or faulty rows. */
static struct nearest nearest_column(const struct table *t, struct text name) {
    struct nearest nearest = nearest_to(name.bytes, name.n);
    const bool listed = t->n_faults < TABLE_FAULTS_LISTED && t->skipped.rows < TABLE_FAULTS_LISTED;
    for (size_t i = 0; listed && i < t->builder.n_columns; i++) {
        const char *own = t->builder.column[i].name;
        nearest_offer(&nearest, own, strlen(own));
    }
    return nearest;
}

bool table_append_unknown(struct table *t, struct text name, int64_t line, int64_t column) {
    char shown[TEXT_SHOWN];
    return table_row_fault(t, line, column, "the dataset has no column %s%s",
                           text_show(name.bytes, name.n, shown), nearest_column(t, name).hint);
}

/* Maps the next cell of each row to this column. */
static bool map_add(struct table *t, size_t column) {
    struct table_append *a = &t->append;
    if (a->n_cells == a->capacity && !array_grow(&a->column, &a->capacity, 16, sizeof *a->column)) {
        return table_no_memory(t);
    }
    a->column[a->n_cells++] = column;
    return true;
}

void table_append_by_position(struct table *t) {
    for (size_t i = 0; t->append.on && i < t->builder.n_columns; i++) {
        t->append.listed[i] = true;
    }
}

void table_append_list(struct table *t) {
    t->append.n_cells = 0;
}

bool table_append_name(struct table *t, struct text name, const struct names *header, int64_t line,
                       int64_t column) {
    struct table_append *a = &t->append;
    char shown[TEXT_SHOWN], copy[TABLE_COPY_NAME];
    ptrdiff_t found = names_find(&t->builder.names, name.bytes, name.n);
    if (found >= 0 && a->listed[found] && t->options.rename) {
        const char *renamed = table_copy_name(t, name, (size_t)found, header, copy);
        if (renamed == NULL) {
            return table_no_memory(t);
        }
        name = (struct text){renamed, strlen(renamed)};
        found = names_find(&t->builder.names, name.bytes, name.n);
    }
    if (found < 0) {
        return table_fault(t, line, column, "the dataset has no column %s%s%s",
                           text_show(name.bytes, name.n, shown), nearest_column(t, name).hint,
                           (t->reader->options & TABLE_OPTION_HEADER) != 0 &&
                                   t->options.header == TABLE_HEADER_AUTO
                               ? "; if the first row is data, set header=false"
                               : "");
    }
    if (a->listed[found]) {
        return table_fault(t, line, column, "column %s occurs twice",
                           text_show(name.bytes, name.n, shown));
    }
    a->listed[found] = true;
    return map_add(t, (size_t)found);
}

bool table_append_type(struct table *t, dn_column_type type) {
    const struct table_append *a = &t->append;
    if (a->n_cells == 0) { /* the body has no column of the table; this was reported */
        return true;
    }
    const struct column *c = &t->builder.column[a->column[a->n_cells - 1]];
    const bool string = type == DN_CATEGORICAL || type == DN_TEXT;
    const bool same = c->forced                     ? c->type == type
                      : c->state == COLUMN_NUMBERS  ? type == DN_NUMERIC
                      : c->state == COLUMN_BOOLEANS ? type == DN_BOOLEAN
                      : c->state == COLUMN_STRINGS  ? string
                      : c->state == COLUMN_DATES    ? type == DN_DATETIME
                                                    : false;
    if (!same) {
        table_warn(t,
                   "column \"%s\": the declared type %s was not used: types are given with the "
                   "upload, not with rows that are appended",
                   c->name, dn_column_type_name(type));
    }
    return true;
}

/* Returns the trimmed name of column i of a header. An empty name is replaced by c<position>, or
 * c<position>_2, … if the header has that name, as in an upload. */
static struct text header_name(const struct csv_row *row, size_t i, const struct names *header,
                               char made[64]) {
    struct text name = csv_cell_trimmed(row, i);
    if (name.n == 0) {
        name = (struct text){made, (size_t)snprintf(made, 64, "c%zu", i + 1)};
        for (size_t k = 2; names_find(header, name.bytes, name.n) >= 0; k++) {
            name.n = (size_t)snprintf(made, 64, "c%zu_%zu", i + 1, k);
        }
    }
    return name;
}

/* Whether the body has all columns of the table in the same order. */
static bool is_straight(const struct table *t) {
    bool straight = t->append.n_cells == t->builder.n_columns;
    for (size_t i = 0; straight && i < t->append.n_cells; i++) {
        straight = t->append.column[i] == i;
    }
    return straight;
}

/* Checks the mapping after its last column. */
static bool end_names(struct table *t, bool go_on) {
    t->refused |= !go_on || t->n_faults > 0; /* without valid names no row can be read */
    if (!t->refused && is_straight(t)) {
        free(t->append.column);
        t->append.column = NULL;
    }
    return !t->refused;
}

static bool names_of_header(struct table *t, const struct csv_row *row) {
    struct names header = {0};
    char made[64];
    bool go_on = csv_header_names(row, &header) || table_no_memory(t);
    table_append_list(t);
    for (size_t i = 0; go_on && i < row->n_cells; i++) {
        int64_t line = 0, column = 0;
        csv_cell_place(row, i, &line, &column);
        go_on = table_append_name(t, header_name(row, i, &header, made), &header, line, column);
    }
    names_done(&header);
    return end_names(t, go_on);
}

/* Maps the columns by the option `names`. */
static bool names_of_option(struct table *t, const struct csv_row *row) {
    struct problem problem = {0};
    struct text *names = NULL;
    size_t n = 0;
    if (!table_names_parse(t->options.names, &names, &n, &problem)) {
        problem_done(&problem);
        return table_no_memory(t); /* the list was checked before */
    }
    bool go_on =
        n == row->n_cells ||
        table_fatal(t, 0, 0, "option \"names\" has %zu name%s, and the rows have %zu cell%s", n,
                    n == 1 ? "" : "s", row->n_cells, row->n_cells == 1 ? "" : "s");
    table_append_list(t);
    for (size_t i = 0; go_on && i < n; i++) {
        go_on = table_append_name(t, names[i], NULL, 0, 0);
    }
    free(names);
    return end_names(t, go_on);
}

/* Whether the row is the header that was replaced by names when the table was uploaded. */
static bool is_replaced(const struct table *t, const struct csv_row *row) {
    bool replaced = t->append.header_replaced && row->n_cells == t->builder.n_columns;
    for (size_t i = 0; replaced && i < row->n_cells; i++) {
        const struct text name = csv_cell_trimmed(row, i);
        replaced = names_find(&t->builder.names, name.bytes, name.n) < 0;
    }
    return replaced;
}

bool table_append_first_row(struct table *t, const struct csv_row *row, bool header) {
    if (t->options.names != NULL) {
        return names_of_option(t, row);
    }
    if (header && !is_replaced(t, row)) {
        return names_of_header(t, row);
    }
    table_append_by_position(t);
    return true;
}

const struct csv_row *table_append_row(struct table *t, const struct csv_row *row,
                                       struct csv_row *room) {
    struct table_append *a = &t->append;
    if (a->column == NULL) {
        return row;
    }
    for (size_t i = 0; i < a->n_cells;
         /* Columns that the body does not have stay {0}: empty text, which is a missing value. */
         i++) {
        a->cells[a->column[i]] = row->cells[i];
    }
    *room = *row;
    room->cells = a->cells;
    room->n_cells = t->builder.n_columns;
    room->common = CSV_TEXT; /* the columns that the body does not have are text */
    return room;
}

/* ---- is the first row a header? ---- */
/* Counts over the first two rows, which show whether the first row is a header. */
struct first_rows {
    const struct table *t;
    const struct csv_sample *sample;
    size_t first_cells; /* number of cells of the first row that does not begin with # */
    size_t rows;        /* number of rows so far */
    /* number of cells of the first row, and how many of them are column names */
    size_t cells, known;
    /* of each row, only in the columns of numbers and booleans: number of cells that are words, and
     * number of cells that are numbers or booleans */
    size_t words[2], values[2];
    struct csv_heading heading; /* the first rows, if the uploaded table had several header lines */
    bool no_memory;
};

/* Whether the cell is a column name, or differs from one in the case of letters only. For many
 * columns the case counts, because the search takes time. */
static bool is_name(const struct table *t, struct text cell) {
    bool found = names_find(&t->builder.names, cell.bytes, cell.n) >= 0;
    for (size_t i = 0; !found && t->builder.n_columns <= CASE_COLUMNS && i < t->builder.n_columns;
         i++) {
        const char *own = t->builder.column[i].name;
        found = nearest_same(cell.bytes, cell.n, own, strlen(own));
    }
    return found;
}

static bool on_sample_row(void *arg, const struct csv_row *row) {
    struct first_rows *f = arg;
    const struct table_builder *b = &f->t->builder;
    if (csv_is_comment(row, f->first_cells, f->sample->comment)) {
        return true;
    }
    if (f->heading.lines < f->t->append.header_lines && !csv_heading_add(&f->heading, row)) {
        f->no_memory = true;
        return false;
    }
    if (f->rows >= 2) {
        return ++f->rows < (size_t)f->t->append.header_lines;
    }
    f->cells = f->rows == 0 ? row->n_cells : f->cells;
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text cell = csv_cell_trimmed(row, i);
        f->known += f->rows == 0 && is_name(f->t, cell);
        if (i < b->n_columns &&
            (b->column[i].state == COLUMN_NUMBERS || b->column[i].state == COLUMN_BOOLEANS)) {
            const enum cell_says says = cell_says(&b->missing, cell.bytes, cell.n);
            f->words[f->rows] += says == CELL_OTHER;
            f->values[f->rows] += says == CELL_NUMBER || says == CELL_BOOLEAN;
        }
    }
    ++f->rows;
    return f->rows < 2 || f->rows < (size_t)f->t->append.header_lines;
}

/* Whether at least half of the names that the first rows make together are column names. */
static bool is_joined_header(const struct first_rows *f) {
    size_t known = 0;
    if (f->heading.lines < 2 || f->heading.lines < f->t->append.header_lines) {
        return false;
    }
    for (size_t i = 0; i < f->heading.n; i++) {
        const struct buf *name = &f->heading.name[i];
        known += name->size > 0 && names_find(&f->t->builder.names, name->data, name->size) >= 0;
    }
    return 2 * known >= f->heading.n;
}

bool table_append_header(struct table *t, const struct csv_sample *sample, char delimiter,
                         size_t first_cells, struct csv_header *out) {
    struct first_rows f = {.t = t, .sample = sample, .first_cells = first_cells};
    size_t typed = 0;
    const bool well =
        csv_sample_read(sample, delimiter, &(struct csv_handler){.row = on_sample_row, .arg = &f},
                        NULL) &&
        !f.no_memory;
    for (size_t i = 0; i < t->builder.n_columns; i++) {
        typed += t->builder.column[i].state == COLUMN_NUMBERS ||
                 t->builder.column[i].state == COLUMN_BOOLEANS;
    }
    const bool looks = f.words[0] > 0 && f.words[0] == typed && f.words[1] == 0 && f.values[1] > 0;
    out->header =
        f.cells > 0 && (2 * f.known >= f.cells || (f.cells == t->builder.n_columns && looks));
    out->lines = 1;
    if (2 * f.known < f.cells && is_joined_header(&f)) {
        out->header = true;
        out->lines = t->append.header_lines;
    }
    csv_heading_done(&f.heading);
    return well;
}

char table_append_delimiter(const struct table *t, const struct csv_sample *sample, char found,
                            struct csv_shape *shape) {
    const char stored = t->append.delimiter;
    struct csv_shape by_stored;
    if (stored == '\0' || stored == sample->comment) {
        return found;
    }
    csv_sniff_shape(sample, stored, &by_stored);
    shape->no_memory |= by_stored.no_memory;
    if (shape->no_memory || by_stored.cells != t->builder.n_columns) {
        return found;
    }
    *shape = by_stored;
    return stored;
}

/* ---- the end ---- */
void table_append_end(struct table *t) {
    const struct table_builder *b = &t->builder;
    struct buf names = {0};
    size_t n = 0;
    for (size_t i = 0; t->append.on && i < b->n_columns; i++) {
        if (!t->append.listed[i] && n++ < NAMED) {
            buf_printf(&names, "%s\"%s\"", n > 1 ? ", " : "", b->column[i].name);
        }
    }
    const char *text = buf_cstr(&names);
    if (n > NAMED) {
        table_warn(t, "the rows have no columns %s and %zu more: their cells are missing",
                   text != NULL ? text : "", n - NAMED);
    } else if (n > 0) {
        table_warn(t, "the rows have no column%s %s: %s cells are missing", n > 1 ? "s" : "",
                   text != NULL ? text : "", n > 1 ? "their" : "its");
    }
    buf_done(&names);
}
