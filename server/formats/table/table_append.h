/* Appending rows to a stored table. Private to formats.
 *
 * The reader begins with the columns of the stored table, in the states in which its rows left
 * them. So the new rows are read as if they followed the stored rows in one body. At the end the
 * new rows are added to the saved summaries of the stored columns, one column after the other
 * (table_chunks.c). The summary of a column without a usable saved one is computed from the stored
 * chunks. The sink's reread numbers all chunks, those of the stored table first. */
#ifndef FORMATS_TABLE_APPEND_H
#define FORMATS_TABLE_APPEND_H

#include "formats/csv/csv_sniff.h"
#include "formats/table/table_builder.h"
#include "formats/text/cell.h"

struct table;

struct table_append {
    bool on;         /* rows are appended; false: all other members are 0 */
    char *notes;     /* of the stored table */
    uint8_t *began;  /* [n_columns] enum column_state in which the new rows began */
    bool *listed;    /* [n_columns] the body has the column */
    size_t *column;  /* [n_cells] the column of cell i of the body; NULL: cell i is column i */
    size_t n_cells;  /* cells of a row of the body; n_columns until the body's columns are known */
    size_t capacity; /* allocated elements of column */
    struct csv_cell *cells; /* [n_columns] the row at hand in the column order of the table */
};

/* Adds the stored table's columns. false: problem. */
bool table_append_open(struct table *t, const struct table_stored *stored, struct problem *problem);
void table_append_done(struct table *t);
/* The number of cells of a row of the body, and the column of cell i. Without an append these are
 * the number of columns and i. */
static inline size_t table_append_width(const struct table_append *a,
                                        const struct table_builder *b) {
    return a->on ? a->n_cells : b->n_columns;
}
static inline size_t table_append_column(const struct table_append *a, size_t i) {
    return a->column != NULL && i < a->n_cells ? a->column[i] : i;
}

/* Finds out, with header=auto, whether the first row is a header. It is one if at least half of its
 * cells are column names; or if it has words in all columns of numbers and booleans and the second
 * row has none there. false: no memory. */
bool table_append_header(struct table *t, const struct csv_sample *sample, char delimiter,
                         size_t first_cells, struct csv_header *out);
/* The delimiter of the stored table if it cuts the first row into as many cells as the table has
 * columns; otherwise t->delimiter. Sets *shape by the result. */
char table_append_delimiter(const struct table *t, const struct csv_sample *sample, char found,
                            struct csv_shape *shape);
/* Maps the columns by the first row of separated text: by name if it is a header, otherwise by
 * position. false: reading stops. */
bool table_append_first_row(struct table *t, const struct csv_row *row, bool header);
/* The cells of a row of separated text in the column order of the table; cells of columns that the
 * body does not have are missing. Returns `row` itself or `room`. */
const struct csv_row *table_append_row(struct table *t, const struct csv_row *row,
                                       struct csv_row *room);
/* Notes that the rows have every column, in the order of the table. */
void table_append_by_position(struct table *t);
/* Begins the list of the body's columns, each of which is then given to table_append_name. */
void table_append_list(struct table *t);
/* Maps the next column of the body. false: reading stops. */
bool table_append_name(struct table *t, struct text name, int64_t line, int64_t column);
/* The body declares the type of the column named last. The declaration is ignored; a warning says
 * so if the table has another type. Returns true. */
bool table_append_type(struct table *t, dn_column_type type);
/* Notes that a row of JSON has column i. */
static inline void table_append_note(struct table_append *a, size_t i) {
    if (a->on) {
        a->listed[i] = true;
    }
}
/* Reports a member of a JSON row that is no column of the table. false: reading stops. */
bool table_append_unknown(struct table *t, struct text name, int64_t line, int64_t column);

/* At the end of the body: warns of the columns that it does not have. */
void table_append_end(struct table *t);
/* Replaces t->notes by the stored notes with those of the body as the member "append". false: no
 * memory. */
bool table_append_notes(struct table *t);
/* Writes the member "types" into the open object of the notes, if types were given. */
void table_append_write_types(const struct table_builder *b, struct json_writer *w);

#endif
