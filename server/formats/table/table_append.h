/* Appending rows to a stored table. Private to formats.
 *
 * The reader begins with the columns of the stored table, each in the state after the last stored
 * row. So the new rows are read as if they followed the stored rows in one body. At the end the new
 * rows are added to the saved summaries of the stored columns, one column after the other
 * (table_chunks.c). A summary that was not saved, or cannot be used, is computed from the stored
 * chunks. The sink's reread counts all chunks, beginning with those of the stored table. */
#ifndef FORMATS_TABLE_APPEND_H
#define FORMATS_TABLE_APPEND_H

#include "formats/csv/csv_sniff.h"
#include "formats/csv/repair/csv_split.h"
#include "formats/table/table_builder.h"
#include "formats/text/cell.h"

struct table;

struct table_append {
    bool on;                    /* rows are appended; false: all other members are 0 */
    char *notes;                /* of the stored table */
    int64_t header_lines;       /* number of header lines of the uploaded table; 0: one or none */
    bool header_replaced;       /* the header of the uploaded table was replaced by given names */
    char delimiter;             /* of the stored table; '\0': it was not separated text */
    struct csv_dialect dialect; /* of the stored table; n 0: unknown */
    uint8_t *began; /* [n_columns] enum column_state of each column before the first new row */
    bool *listed;   /* [n_columns] the body has the column */
    size_t *column; /* [n_cells] the column of cell i of the body; NULL: cell i is column i */
    /* number of cells in a row of the body; n_columns until the columns of the body are known */
    size_t n_cells;
    size_t capacity;        /* number of allocated elements of `column` */
    struct csv_cell *cells; /* [n_columns] the current row in the column order of the table */
};

/* Adds the columns of the stored table. Returns false on failure and sets problem. */
bool table_append_open(struct table *t, const struct table_stored *stored, struct problem *problem);
void table_append_done(struct table *t);
/* The number of cells in a row of the body, and the column of cell i. If no rows are appended,
 * these are the number of columns and i. */
static inline size_t table_append_width(const struct table_append *a,
                                        const struct table_builder *b) {
    return a->on ? a->n_cells : b->n_columns;
}
static inline size_t table_append_column(const struct table_append *a, size_t i) {
    return a->column != NULL && i < a->n_cells ? a->column[i] : i;
}

/* Decides, with header=auto, whether the first row is a header. It is one if at least half of its
 * cells are column names; if at least half of the names are column names that it makes with the
 * next lines, as many as the header of the uploaded table had; or if it has words in all columns of
 * numbers and booleans and the second row has no word there. Returns false if out of memory. */
bool table_append_header(struct table *t, const struct csv_sample *sample, char delimiter,
                         size_t first_cells, struct csv_header *out);
/* Returns the delimiter of the stored table if it divides the first row into as many cells as the
 * table has columns; otherwise `found`. Sets *shape to the shape for the returned delimiter. */
char table_append_delimiter(const struct table *t, const struct csv_sample *sample, char found,
                            struct csv_shape *shape);
/* Maps the columns by the first row of separated text: by name if it is a header, otherwise by
 * position. Returns false if reading stops. */
bool table_append_first_row(struct table *t, const struct csv_row *row, bool header);
/* The cells of a row of separated text in the column order of the table; cells of columns that the
 * body does not have are missing. Returns `row` itself or `room`. */
const struct csv_row *table_append_row(struct table *t, const struct csv_row *row,
                                       struct csv_row *room);
/* Records that each row has all columns, in the order of the table. */
void table_append_by_position(struct table *t);
/* Begins the list of the body's columns, each of which is then given to table_append_name. */
void table_append_list(struct table *t);
/* Maps the next column of the body. header: the names of all columns of the body; NULL: unknown.
 * Returns false if reading stops. */
bool table_append_name(struct table *t, struct text name, const struct names *header, int64_t line,
                       int64_t column);
/* Checks the type that the body declares for the last column given to table_append_name. The
 * declaration is ignored; if the table has another type, a warning is added. Returns true. */
bool table_append_type(struct table *t, dn_column_type type);
/* Records that a row of JSON has column i. */
static inline void table_append_note(struct table_append *a, size_t i) {
    if (a->on) {
        a->listed[i] = true;
    }
}
/* Reports a member of a JSON row for which the table has no column. Returns false if reading
 * stops. */
bool table_append_unknown(struct table *t, struct text name, int64_t line, int64_t column);

/* At the end of the body: warns of the columns that the body does not have. */
void table_append_end(struct table *t);
/* Replaces t->notes by the stored notes, with the notes of this body as the member "append".
 * Returns false if out of memory. */
bool table_append_notes(struct table *t);
/* Writes the member "types" into the open object of the notes, if types were given. */
void table_append_write_types(const struct table_builder *b, struct json_writer *w);

#endif
