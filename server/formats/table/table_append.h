/* Rows for a table that is stored: its columns are there from the start, in the states that its
 * rows brought them to, and what the body names is found among them. Private to formats.
 *
 * The new rows are read as the rows that follow the stored ones would be in one body: the columns
 * begin in the states in which those left them, so cells are kept and types fall alike. At the end
 * the new rows are added to the saved summaries of the stored columns, one column after the other
 * (table_chunks.c). A column whose summary is missing or cannot be used is summed up from the
 * stored chunks. The sink's reread numbers all chunks, those of the stored table first. */
#ifndef WIRE_TABLE_APPEND_H
#define WIRE_TABLE_APPEND_H

#include "formats/csv/csv_sniff.h"
#include "formats/table/table_builder.h"
#include "formats/text/cell.h"

struct wire_table;

struct table_append {
    bool on;         /* rows are appended; all else is empty when not */
    char *notes;     /* of the stored table */
    uint8_t *began;  /* [n_columns] enum column_state before the first row */
    bool *listed;    /* [n_columns] the body has the column */
    size_t *column;  /* [n_cells] of the body's cell i; NULL: cell i is column i */
    size_t n_cells;  /* of a row of the body, once its columns are known; until then those of the
                        table */
    size_t capacity; /* of column */
    struct csv_cell *cells; /* [n_columns] a row in the order of the table */
};

/* Adds the stored table's columns. false: problem. */
bool table_append_open(struct wire_table *t, const struct wire_table_stored *stored,
                       struct problem *problem);
void table_append_done(struct wire_table *t);
/* How many cells a row has that does not name them (of a table of its own: as many as there are
 * columns), and the column of cell i. */
static inline size_t table_append_width(const struct table_append *a,
                                        const struct table_builder *b) {
    return a->on ? a->n_cells : b->n_columns;
}
static inline size_t table_append_column(const struct table_append *a, size_t i) {
    return a->column != NULL && i < a->n_cells ? a->column[i] : i;
}

/* header=auto, the first bytes: the first row is a header when at least half of its cells are names
 * of columns, or when it has words in all columns of numbers and booleans and the second row has
 * none there (then it names columns that the table does not have, which is told). false: no memory.
 */
bool table_append_header(struct wire_table *t, const struct csv_sample *sample, char delimiter,
                         size_t first_cells, struct csv_header *out);
/* The delimiter that the stored table was written with when the first row has as many cells by it
 * as the table has columns, otherwise the one found out. shape: by that delimiter. */
char table_append_delimiter(const struct wire_table *t, const struct csv_sample *sample, char found,
                            struct csv_shape *shape);
/* The first row of separated text: the header, or cells by position. false: reading stops. */
bool table_append_first_row(struct wire_table *t, const struct csv_row *row, bool header);
/* A row of separated text in the order of the table; missing where the body has no such column.
 * room: for it. The row itself when it is so already. */
const struct csv_row *table_append_row(struct wire_table *t, const struct csv_row *row,
                                       struct csv_row *room);
/* The rows have every column, in the order of the table. */
void table_append_by_position(struct wire_table *t);
/* The body's columns are to come, by table_append_name. */
void table_append_list(struct wire_table *t);
/* The body's next column. false: reading stops. */
bool table_append_name(struct wire_table *t, struct text name, int64_t line, int64_t column);
/* The column named last is declared to be of a type, which does not count here: told if the table's
 * is another. true. */
bool table_append_type(struct wire_table *t, dn_column_type type);
/* A row of JSON named column i. */
static inline void table_append_note(struct table_append *a, size_t i) {
    if (a->on) {
        a->listed[i] = true;
    }
}
/* Tells that a row of JSON names what is no column. false: reading stops. */
bool table_append_unknown(struct wire_table *t, struct text name, int64_t line, int64_t column);

/* The body is read: a warning of the columns it does not have. */
void table_append_end(struct wire_table *t);
/* Turns the notes of the body into those of the whole: the stored ones, and the body's as their
 * member "append". false: no memory. */
bool table_append_notes(struct wire_table *t);
/* The member "types" of the notes, if types were given: into an open object. */
void table_append_write_types(const struct table_builder *b, struct json_writer *w);

#endif
