/* Rows of cells to typed column chunks: inference of types over the whole body, chunking,
 * summaries. What the readers of each format share. Private to formats.
 *
 * A column begins unknown, becomes numeric or boolean at its first cell that is not missing, and
 * falls to strings at the first cell it cannot hold. Chunks delivered before stay as they are:
 * numbers keep their spelling, so they read as strings whenever wanted. Rows of separated text
 * mostly hold plain numbers in columns of numbers. Those are written row by row into a small stage
 * first and go into the column builders column by column: a builder's memory is touched once for
 * many cells, not once for each. A column's stage takes the kinds of cells that the builder need
 * not see the text of: numbers that are written as the others are, canonically or padded to the
 * same digits behind the point. A chunk is closed when it has R rows, R the power of two with R ×
 * columns × 8 <= 8 MiB (64 … 65536), or when its cells exceed 8 MiB: by what was sent, not by how
 * it arrived. */
#ifndef WIRE_TABLE_BUILDER_H
#define WIRE_TABLE_BUILDER_H

#include "formats/csv/csv.h"
#include "formats/summary/column_summary.h"
#include "formats/table/table_options.h"
#include "formats/table/table_tail.h"
#include "formats/text/cell.h"
#include "formats/text/names.h"

#define BUILDER_CHUNK_BYTES (8 * 1024 * 1024)
#define BUILDER_COUNTS_MEMORY                                                                      \
    (24 * 1024 *                                                                                   \
     1024) /* of all columns' counts of distinct values and sketches; above it the     \
                          largest counts are given up, */
#define BUILDER_COUNTS_KEPT                                                                        \
    (20 * 1024 *                                                                                   \
     1024) /* until so much is left: seldom, so that it costs little however many      \
                          columns there are */
#define BUILDER_NUMBERS_MEMORY                                                                     \
    (16 * 1024 *                                                                                   \
     1024) /* of counts of numbers among them, which sketches can stand for: less by   \
                        */
#define BUILDER_NUMBERS_LESS 960 /* for each column, for what a column takes in any case */
#define BUILDER_STAGE_BYTES (512 * 1024)
#define BUILDER_MAX_WARNINGS 50
#define BUILDER_MANY_COLUMNS                                                                       \
    1000 /* leave MiBs of memory in small pieces: it is given back as soon as it is needed no more \
          */

enum column_state {
    COLUMN_UNKNOWN,
    COLUMN_NUMBERS,
    COLUMN_BOOLEANS,
    COLUMN_STRINGS,
    COLUMN_SPARSE
};

/* Codes of stored reasons (member "code" of "type_reason"). */
#define TYPE_GIVEN "given"
#define TYPE_FIRST_BOOLEAN "first_boolean"
#define TYPE_FIRST_TEXT "first_text"
#define TYPE_AFTER_NUMBERS "after_numbers"
#define TYPE_AFTER_BOOLEANS "after_booleans"

/* The cell that first forced the type of a column that is not numeric. */
struct type_reason {
    int64_t line;  /* 0: there is none, or the type was given */
    int64_t row;   /* of the table, counted from 1 */
    char *cell;    /* malloc'ed: its text, cut at 64 bytes */
    bool fell;     /* numbers or booleans came before it */
    bool numbers;  /* with fell: numbers did */
    char *hint;    /* malloc'ed: cell_hint; NULL: there is none */
    bool stored;   /* the cell is in the stored rows that others are appended to */
    bool appended; /* `line` counts the lines of a body that was appended */
    char *detail;  /* malloc'ed: the whole description, from a table that was stored without a
                         code; NULL: the description is made from the members above */
};

struct column {
    char *name; /* malloc'ed */
    dn_column_builder *builder;
    enum column_state state;
    enum column_state stored_state; /* rows are appended: after the stored rows */
    bool forced;                    /* the type was given: it does not fall */
    dn_column_type type; /* forced: the type; otherwise what it came to be, settled at the end */
    bool summarised;     /* the summary has seen a chunk */
    bool
        again; /* it fell after that: the summary is made anew at the end, from the stored chunks */
    int64_t missing_before; /* rows of closed chunks in which every cell was missing and no type
                               known */
    int64_t filled;         /* row (counted from 1) whose cell was set last */
    int64_t seen; /* JSON object rows: the last row of the body that had a value for it, counted
                     from 1; 0: none had */
    struct type_reason reason;
    int64_t inexact_line; /* line of the first integer that a double does not hold exactly; 0: there
                             is none */
    char *inexact_text;   /* malloc'ed: that cell, shown */
    struct column_summary summary;
};

/* Which kinds of cells the stage takes of a column: a set of them, or one of these. */
#define STAGE_NONE UINT64_C(0)
#define STAGE_UNDECIDED                                                                            \
    (UINT64_C(1)                                                                                   \
     << 63) /* none up to the chunk's first number in a column of numbers, which decides */

/* What becomes of a cell. */
enum builder_status {
    BUILDER_WELL,
    BUILDER_MISFIT, /* a forced type cannot hold it: the caller tells the fault */
    BUILDER_STOP    /* `problem` is set: no memory, or the sink refused */
};

void type_reason_done(struct type_reason *reason);

struct table_builder {
    struct wire_table_sink sink;
    struct missing missing;
    bool missing_numbers; /* a token for missing reads as a number */
    struct type_override *types;
    size_t n_types;
    struct column *column;
    size_t n_columns, columns_capacity;
    struct names names; /* of the columns */
    double *stage; /* [stage_rows × columns_capacity] numbers of the last rows, row by row; NULL
                      before the first row */
    size_t stage_rows;     /* rows it holds */
    size_t staged;         /* rows it has */
    uint32_t *stage_from;  /* [columns_capacity] the first of them whose cell is not in the column's
                              builder yet */
    uint64_t *stage_takes; /* [columns_capacity] the kinds of cells (csv.h) that it takes */
    bool take_canonical;   /* all columns take all canonical ones: right if `settled` */
    bool settled;
    size_t chunk_rows;   /* rows that close a chunk */
    size_t rows;         /* of the open chunk */
    size_t string_bytes; /* of the open chunk's strings */
    int64_t n_rows;      /* complete rows */
    int64_t n_chunks;    /* delivered */
    bool onto; /* the rows are appended to a stored table (table_append.h): its chunks come first
                  when chunks are read back */
    int64_t stored_rows; /* of that table */
    int64_t stored_chunks;
    bool (*stored_summary)(void *arg, size_t column, struct buf *out,
                           struct problem *problem); /* wire_table_stored.summary */
    struct table_tail tail;                          /* what may be taken in of it */
    int64_t line;                                    /* of the row at hand, for notes */
    bool broken; /* the table has a fault: cells are only checked, nothing is built any longer */
    struct wire_blob *blobs; /* [columns_capacity] of the chunk being delivered */
    size_t n_blobs;          /* how many of them are there, ours to free */
    dn_column_chunk *chunk;  /* for reading delivered chunks back */
    size_t counts_memory;    /* of the columns' counts of distinct values and sketches */
    size_t numbers_memory;   /* of the counts of numbers among them */
    struct problem problem;  /* why BUILDER_STOP */
};

bool builder_init(struct table_builder *b, const struct wire_table_options *options,
                  const struct wire_table_sink *sink, struct problem *problem);
void builder_done(struct table_builder *b);
/* A further column, before the first chunk is delivered; rows that are there get a missing cell.
 * The name must be new. STOP: no memory. */
enum builder_status builder_add_column(struct table_builder *b, const char *name, size_t n);
/* A sparse column, which no option names; its place 0 is called `first`, its width is at least
 * `width`. STOP: no memory. */
enum builder_status builder_add_sparse(struct table_builder *b, const char *name, uint32_t first,
                                       size_t width);
/* Gives column i its type, unless the options have: before its first cell. */
void builder_force(struct table_builder *b, size_t i, dn_column_type type);
/* The type that was given for column i, or will be for a column of that name; DN_TEXT if none was:
 * then every cell fits. */
dn_column_type builder_given_type(const struct table_builder *b, size_t i);
dn_column_type builder_given_type_of(const struct table_builder *b, const char *name, size_t n);
/* Whether a cell fits a column for which that type was given: builder_text, builder_string;
 * builder_number; builder_boolean take it then. */
bool builder_text_fits(const struct table_builder *b, dn_column_type given, const char *text,
                       size_t n);
bool builder_number_fits(const struct table_builder *b, dn_column_type given, double number,
                         const char *spelling, size_t n);
bool builder_boolean_fits(const struct table_builder *b, dn_column_type given, bool truth);
/* The i-th override that no column has used up to now, from *i on; NULL: none left. */
const struct type_override *builder_unused_type(const struct table_builder *b, size_t *i);

/* The cells of the row at hand, each column at most once; those not set are missing. */
enum builder_status builder_text(struct table_builder *b, size_t i, const char *text,
                                 size_t n); /* separated text: may be anything */
enum builder_status builder_number(struct table_builder *b, size_t i, double number,
                                   const char *spelling, size_t n);
enum builder_status builder_string(struct table_builder *b, size_t i, const char *text,
                                   size_t n); /* a JSON string */
enum builder_status builder_boolean(struct table_builder *b, size_t i, bool truth);
enum builder_status builder_missing(struct table_builder *b, size_t i);
/* The row's entries in a sparse column (dn_column_builder_entries); places are below `width`. */
enum builder_status builder_entries(struct table_builder *b, size_t i, const uint32_t *place,
                                    const double *value, size_t n, size_t width);
/* All cells of a row of separated text with as many cells as columns. MISFIT: *cell is the first
 * that does not fit, call again with *cell + 1 to go on. */
enum builder_status builder_csv_cells(struct table_builder *b, const struct csv_row *row,
                                      size_t *cell);
enum builder_status builder_csv_row_end(struct table_builder *b); /* such rows end with this one */
/* Makes the cells that were not set missing: the readers that set cells one by one call it before
 * builder_row_end. */
enum builder_status builder_fill_row(struct table_builder *b);
static inline bool builder_is_filled(const struct table_builder *b, size_t i);
enum builder_status builder_row_end(struct table_builder *b);
/* Whether the row at hand closes the first chunk when it ends: the last moment for a column more
 * (one row too early does no harm). */
bool builder_closes_first(const struct table_builder *b);
/* Empties the stage into the column builders. */
enum builder_status builder_unstage(struct table_builder *b);
/* Closes the open chunk and gives it to the sink (called by builder_row_end and builder_finish). */
enum builder_status builder_deliver(struct table_builder *b);
/* Gives `blobs` to the sink as chunk number `chunk`. */
enum builder_status builder_hand_over(struct table_builder *b, int64_t chunk, int64_t n_rows);
/* At the end of the table: calls `use` with the chunks of column i from number `first` on, those
 * that are not delivered yet included, until `use` sets *enough. Chunks are numbered from 0, those
 * of the stored table that rows are appended to first. */
typedef enum builder_status builder_use(void *arg, struct table_builder *b, struct column *c,
                                        const void *bytes, size_t size, bool *enough);
enum builder_status builder_read_again(struct table_builder *b, size_t i, int64_t first,
                                       builder_use *use, void *arg);
/* Counts the distinct texts of column i again, if they were not counted for want of memory and it
 * must be known how many there are: its summary's `recounted` or `many`, or neither if it is text
 * for having so many of its cells. */
enum builder_status builder_recount(struct table_builder *b, size_t i);
/* API.md's rule: whether strings are text, and not categories. */
bool column_is_text(size_t distinct, int64_t present);
/* A stored chunk of a column could not be read. MEMORY or not. */
enum builder_status builder_unreadable(struct table_builder *b, const struct column *c,
                                       dn_status status, const dn_error *error);

static inline bool builder_is_filled(const struct table_builder *b, size_t i) {
    return b->column[i].filled == b->n_rows + 1;
}

/* The table is complete: delivers the last chunk, settles the types, reads back what has to be.
 * false: problem. */
bool builder_finish(struct table_builder *b, struct problem *problem);
/* After builder_finish. */
void builder_write_columns(const struct table_builder *b,
                           struct json_writer *w); /* the JSON array */
/* Saves the summaries, then ends their digests: saved[n_columns], which is {0} and the caller's to
 * free even on failure, and content "b2:…". false: no memory. */
bool builder_content(struct table_builder *b, struct wire_blob *saved, char content[80]);
void builder_write_warnings(const struct table_builder *b,
                            struct json_writer *w); /* strings into an open array */

#endif
