/* Rows of cells to typed column chunks: inference of types over the whole body, chunking, summaries. What the readers of each format share. Private to wire.
 *
 * A column begins unknown, becomes numeric or boolean at its first cell that is not missing, and falls to strings at the first cell it cannot hold. Chunks delivered before stay as
 * they are: numbers keep their spelling, so they read as strings whenever wanted.
 * Rows of separated text mostly hold plain numbers in columns of numbers. Those are written row by row into a small stage first and go into the column builders column by column:
 * a builder's memory is touched once for many cells, not once for each.
 * A chunk is closed when it has R rows, R the power of two with R × columns × 8 <= 8 MiB (64 … 65536), or when its cells exceed 8 MiB: by what was sent, not by how it arrived. */
#ifndef WIRE_TABLE_BUILDER_H
#define WIRE_TABLE_BUILDER_H

#include "wire/cell.h"
#include "wire/column_summary.h"
#include "wire/csv.h"
#include "wire/names.h"
#include "wire/table_options.h"

#define BUILDER_CHUNK_BYTES (8 * 1024 * 1024)
#define BUILDER_COUNTS_MEMORY (24 * 1024 * 1024) /* of all columns' counts of distinct values; above it the largest are given up, */
#define BUILDER_COUNTS_KEPT (20 * 1024 * 1024)   /* until so much is left: seldom, so that it costs little however many columns there are */
#define BUILDER_STAGE_BYTES (512 * 1024)
#define BUILDER_MAX_WARNINGS 50

enum column_state { COLUMN_UNKNOWN, COLUMN_NUMBERS, COLUMN_BOOLEANS, COLUMN_STRINGS };

struct column {
    char *name; /* malloc'ed */
    dn_column_builder *builder;
    enum column_state state;
    bool forced;            /* the type was given: it does not fall */
    dn_column_type type;    /* forced: the type; otherwise what it came to be, settled at the end */
    bool summarised;        /* the summary has seen a chunk */
    bool uncounted;         /* its distinct values took too much memory to count */
    bool again;             /* it fell after that: the summary is made anew at the end, from the stored chunks */
    int64_t missing_before; /* rows of closed chunks in which every cell was missing and no type known */
    int64_t filled;         /* row (counted from 1) whose cell was set last */
    int64_t fell_line;      /* line at which it became strings; 0: it did not fall */
    char *fell_text;        /* malloc'ed: the cell that did it, shown */
    struct column_summary summary;
};

/* How a plain number of separated text goes into its column. */
enum column_route {
    ROUTE_SLOW,  /* by builder_number */
    ROUTE_FRESH, /* by builder_number, which then chooses: the chunk's first number in a column of numbers */
    ROUTE_STAGE  /* by the stage, if it is canonical */
};

/* What becomes of a cell. */
enum builder_status {
    BUILDER_WELL,
    BUILDER_MISFIT, /* a forced type cannot hold it: the caller tells the fault */
    BUILDER_STOP    /* `problem` is set: no memory, or the sink refused */
};

struct table_builder {
    struct wire_table_sink sink;
    struct missing missing;
    bool missing_numbers; /* a token for missing reads as a number */
    struct type_override *types;
    size_t n_types;
    struct column *column;
    size_t n_columns, columns_capacity;
    struct names names;      /* of the columns */
    double *stage;           /* [stage_rows × columns_capacity] numbers of the last rows, row by row; NULL before the first row */
    size_t stage_rows;       /* rows it holds */
    size_t staged;           /* rows it has */
    uint32_t *stage_from;    /* [columns_capacity] the first of them whose cell is not in the column's builder yet */
    uint8_t *route;          /* [columns_capacity] enum column_route */
    size_t n_stage_routes;   /* how many of them are ROUTE_STAGE */
    size_t chunk_rows;       /* rows that close a chunk */
    size_t rows;             /* of the open chunk */
    size_t string_bytes;     /* of the open chunk's strings */
    int64_t n_rows;          /* complete rows */
    int64_t n_chunks;        /* delivered */
    int64_t line;            /* of the row at hand, for notes */
    bool broken;             /* the table has a fault: cells are only checked, nothing is built any longer */
    struct wire_blob *blobs; /* [columns_capacity] of the chunk being delivered */
    dn_column_chunk *chunk;  /* for reading delivered chunks back */
    size_t counts_memory;    /* of the columns' counts of distinct values */
    struct problem problem;  /* why BUILDER_STOP */
};

bool builder_init(struct table_builder *b, const struct wire_table_options *options, const struct wire_table_sink *sink,
                  struct problem *problem);
void builder_done(struct table_builder *b);
/* A further column, before the first chunk is delivered; rows that are there get a missing cell. The name must be new. STOP: no memory. */
enum builder_status builder_add_column(struct table_builder *b, const char *name, size_t n);
/* Gives column i its type, unless the options have: before its first cell. */
void builder_force(struct table_builder *b, size_t i, dn_column_type type);
/* The i-th override that no column has used up to now, from *i on; NULL: none left. */
const struct type_override *builder_unused_type(const struct table_builder *b, size_t *i);

/* The cells of the row at hand, each column at most once; those not set are missing. */
enum builder_status builder_text(struct table_builder *b, size_t i, const char *text, size_t n); /* separated text: may be anything */
enum builder_status builder_number(struct table_builder *b, size_t i, double number, const char *spelling, size_t n);
enum builder_status builder_string(struct table_builder *b, size_t i, const char *text, size_t n); /* a JSON string */
enum builder_status builder_boolean(struct table_builder *b, size_t i, bool truth);
enum builder_status builder_missing(struct table_builder *b, size_t i);
/* All cells of a row of separated text with as many cells as columns. MISFIT: *cell is the first that does not fit, call again with *cell + 1 to go on. */
enum builder_status builder_csv_cells(struct table_builder *b, const struct csv_row *row, size_t *cell);
enum builder_status builder_csv_row_end(struct table_builder *b); /* such rows end with this one */
/* Makes the cells that were not set missing: the readers that set cells one by one call it before builder_row_end. */
enum builder_status builder_fill_row(struct table_builder *b);
static inline bool builder_is_filled(const struct table_builder *b, size_t i);
enum builder_status builder_row_end(struct table_builder *b);
/* Empties the stage into the column builders. */
enum builder_status builder_unstage(struct table_builder *b);
/* Closes the open chunk and gives it to the sink (called by builder_row_end and builder_finish). */
enum builder_status builder_deliver(struct table_builder *b);

static inline bool builder_is_filled(const struct table_builder *b, size_t i) {
    return b->column[i].filled == b->n_rows + 1;
}

/* The table is complete: delivers the last chunk, settles the types, reads back what has to be. false: problem. */
bool builder_finish(struct table_builder *b, struct problem *problem);
/* After builder_finish. */
void builder_write_columns(const struct table_builder *b, struct json_writer *w);  /* the JSON array */
bool builder_content(struct table_builder *b, char out[80]);                       /* "b2:…"; false: no memory */
void builder_write_warnings(const struct table_builder *b, struct json_writer *w); /* strings into an open array */

#endif
