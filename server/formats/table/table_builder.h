/* Makes typed column chunks of rows of cells: infers types over the whole body, closes chunks,
 * makes the column summaries. Shared by the readers of all formats. Private to formats.
 *
 * Types. A column begins unknown and becomes numeric, boolean or one of strings at its first cell
 * that is not missing. At the first cell that it cannot hold it becomes one of strings ("falls").
 * Chunks that were delivered before stay: they keep the spelling of numbers, so they can be decoded
 * as strings.
 *
 * Stage. Numbers of separated text are first written row by row into a small array, the stage, and
 * then moved to the column builders column by column. So the memory of a builder is touched once
 * for many cells. The stage of a column takes only the kinds of cells whose text the builder does
 * not need: canonical numbers, or numbers padded to the same number of digits behind the point.
 *
 * Chunks. A chunk is closed when it has R rows, where R is the largest power of two from 64 to
 * 65536 with R × columns × 8 <= 8 MiB, or when its cells exceed 8 MiB. This depends on the body,
 * not on the pieces in which it arrives. */
#ifndef FORMATS_TABLE_BUILDER_H
#define FORMATS_TABLE_BUILDER_H

#include "formats/csv/csv.h"
#include "formats/summary/column_summary.h"
#include "formats/table/table_options.h"
#include "formats/table/table_tail.h"
#include "formats/text/cell.h"
#include "formats/text/names.h"

#define BUILDER_CHUNK_BYTES (8 * 1024 * 1024)
/* Exact counts and sketches of all columns: when their memory exceeds BUILDER_COUNTS_MEMORY, the
 * largest counts become sketches until BUILDER_COUNTS_KEPT is left. */
#define BUILDER_COUNTS_MEMORY (24 * 1024 * 1024)
#define BUILDER_COUNTS_KEPT (20 * 1024 * 1024)
/* The limit of the counts of numbers among them, less BUILDER_NUMBERS_LESS for each column. */
#define BUILDER_NUMBERS_MEMORY (16 * 1024 * 1024)
#define BUILDER_NUMBERS_LESS 960
#define BUILDER_STAGE_BYTES (512 * 1024)
#define BUILDER_MAX_WARNINGS 50
/* So many columns leave MiBs of free memory in small pieces: it is given back to the system. */
#define BUILDER_MANY_COLUMNS 1000

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

/* The cell that determined the type of a column that is not numeric. */
struct type_reason {
    int64_t line;  /* line of the cell; 0: no such cell, or the type was given */
    int64_t row;   /* row of the table, from 1 */
    char *cell;    /* malloc'ed: text of the cell, cut at 64 bytes */
    bool fell;     /* numbers or booleans were before the cell */
    bool numbers;  /* fell: they were numbers */
    char *hint;    /* malloc'ed: the text of cell_hint; NULL: none */
    bool stored;   /* the cell is in the stored rows */
    bool appended; /* the line is one of an appended body */
    /* malloc'ed: the description of a reason that was stored without a code; NULL: the description
     * is made from the other members */
    char *detail;
};

struct column {
    char *name; /* malloc'ed */
    dn_column_builder *builder;
    enum column_state state;
    enum column_state stored_state; /* appending: the state after the stored rows */
    bool forced;                    /* the type was given and does not change */
    dn_column_type type; /* forced: the given type; otherwise set at the end of the table */
    bool summarised;     /* the summary has a chunk */
    bool again;          /* the summary is made at the end of the table, from delivered chunks */
    /* rows of closed chunks while the state was unknown: their cells are missing */
    int64_t missing_before;
    int64_t filled; /* last row (from 1) whose cell was set */
    int64_t seen;   /* JSON objects: last row of the body (from 1) that had the column; 0: none */
    struct type_reason reason;
    /* line of the first integer that a double does not hold exactly; 0: none */
    int64_t inexact_line;
    char *inexact_text; /* malloc'ed: that cell as shown in a warning */
    struct column_summary summary;
};

/* The kinds of cells that the stage takes of a column: a bit set, or one of these. */
#define STAGE_NONE UINT64_C(0)
#define STAGE_UNDECIDED                                                                            \
    (UINT64_C(1)                                                                                   \
     << 63) /* none up to the chunk's first number in a column of numbers, which decides */

/* The result of adding a cell. */
enum builder_status {
    BUILDER_WELL,
    BUILDER_MISFIT, /* the given type cannot hold it: the caller reports the fault */
    BUILDER_STOP    /* b->problem is set: no memory, or the sink failed */
};

void type_reason_done(struct type_reason *reason);

struct table_builder {
    struct table_sink sink;
    struct missing missing;
    bool missing_numbers; /* a token for missing values is a number */
    struct type_override *types;
    size_t n_types;
    struct column *column;
    size_t n_columns, columns_capacity;
    struct names names; /* names of the columns */
    /* [stage_rows × n_columns] numbers of the last rows, row by row; NULL: not allocated yet */
    double *stage;
    size_t stage_rows; /* rows that fit in the stage */
    size_t staged;     /* rows in the stage */
    /* [columns_capacity] first staged row whose cell is to be moved to the builder */
    uint32_t *stage_from;
    uint64_t *stage_takes; /* [columns_capacity] kinds of cells (csv.h) that the stage takes */
    bool take_canonical;   /* settled: all columns take all canonical numbers */
    bool settled;
    size_t chunk_rows;   /* rows of a full chunk */
    size_t rows;         /* rows of the open chunk */
    size_t string_bytes; /* bytes of strings and entries in the open chunk */
    int64_t n_rows;      /* complete rows of the body */
    int64_t n_chunks;    /* delivered chunks */
    bool onto; /* rows are appended to a stored table (table_append.h), whose chunks come first */
    int64_t stored_rows; /* rows of that table */
    int64_t stored_chunks;
    bool (*stored_summary)(void *arg, size_t column, struct buf *out,
                           struct problem *problem); /* table_stored.summary */
    /* its last chunks, which may be joined with new rows */
    struct table_tail tail;
    int64_t line;             /* line of the present row */
    bool broken;              /* the table has a fault: cells are checked, but not added */
    struct table_blob *blobs; /* [columns_capacity] of the chunk being delivered */
    size_t n_blobs;           /* how many of them there are, which the builder frees */
    dn_column_chunk *chunk;   /* for decoding chunks */
    size_t counts_memory;     /* bytes of all exact counts and sketches */
    size_t numbers_memory;    /* bytes of the exact counts of numbers */
    struct problem problem;   /* set with BUILDER_STOP */
};

bool builder_init(struct table_builder *b, const struct table_options *options,
                  const struct table_sink *sink, struct problem *problem);
void builder_done(struct table_builder *b);
/* Adds a column, before the first chunk is delivered. Its cells are missing in the rows before. The
 * name must be new. STOP: no memory. */
enum builder_status builder_add_column(struct table_builder *b, const char *name, size_t n);
/* Adds a sparse column of at least `width` features; the first one has the index `first`. The
 * option `types` does not apply to it. STOP: no memory. */
enum builder_status builder_add_sparse(struct table_builder *b, const char *name, uint32_t first,
                                       size_t width);
/* Gives column i its type, before its first cell. The option `types` takes precedence. */
void builder_force(struct table_builder *b, size_t i, dn_column_type type);
/* The type that is given for column i, or for a column of that name; DN_TEXT (any cell fits) if
 * none is. */
dn_column_type builder_given_type(const struct table_builder *b, size_t i);
dn_column_type builder_given_type_of(const struct table_builder *b, const char *name, size_t n);
/* Whether a column of that given type can hold the cell, so that builder_text and builder_string,
 * builder_number or builder_boolean do not return MISFIT. */
bool builder_text_fits(const struct table_builder *b, dn_column_type given, const char *text,
                       size_t n);
bool builder_number_fits(const struct table_builder *b, dn_column_type given, double number,
                         const char *spelling, size_t n);
bool builder_boolean_fits(const struct table_builder *b, dn_column_type given, bool truth);
/* The next item of the option `types`, from *i on, that no column has used; NULL: none. */
const struct type_override *builder_unused_type(const struct table_builder *b, size_t *i);

/* Add a cell of the present row, at most one for each column. */
enum builder_status builder_text(struct table_builder *b, size_t i, const char *text,
                                 size_t n); /* separated text, of any type */
enum builder_status builder_number(struct table_builder *b, size_t i, double number,
                                   const char *spelling, size_t n);
enum builder_status builder_string(struct table_builder *b, size_t i, const char *text,
                                   size_t n); /* a JSON string */
enum builder_status builder_boolean(struct table_builder *b, size_t i, bool truth);
enum builder_status builder_missing(struct table_builder *b, size_t i);
/* Adds the entries of the present row in a sparse column (dn_column_builder_entries); places are
 * below `width`. */
enum builder_status builder_entries(struct table_builder *b, size_t i, const uint32_t *place,
                                    const double *value, size_t n, size_t width);
/* Adds the cells of a row of separated text from number *cell on; it has as many cells as there are
 * columns. MISFIT: *cell does not fit; to continue, call again with *cell + 1. */
enum builder_status builder_csv_cells(struct table_builder *b, const struct csv_row *row,
                                      size_t *cell);
enum builder_status builder_csv_row_end(struct table_builder *b); /* ends such a row */
/* Adds missing cells to the columns that have none in the present row. Readers that add cells one
 * by one call it before builder_row_end. */
enum builder_status builder_fill_row(struct table_builder *b);
static inline bool builder_is_filled(const struct table_builder *b, size_t i);
enum builder_status builder_row_end(struct table_builder *b);
/* Whether the end of the present row closes the first chunk. Columns cannot be added later. May be
 * true one row too early. */
bool builder_closes_first(const struct table_builder *b);
/* Moves the staged numbers to the column builders. */
enum builder_status builder_unstage(struct table_builder *b);
/* Closes the open chunk and gives it to the sink. Called by builder_row_end and builder_finish. */
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
/* Counts the distinct texts of column i again, if their exact counts were dropped and the number is
 * needed. Sets `recounted` or `many` of its summary; neither if so many of its cells are distinct
 * that it is text. */
enum builder_status builder_recount(struct table_builder *b, size_t i);
/* Whether a column of strings is text rather than categorical. distinct: different strings;
 * present: cells that are not missing. */
bool column_is_text(size_t distinct, int64_t present);
/* Sets the problem of a chunk that could not be decoded. Returns BUILDER_STOP. */
enum builder_status builder_unreadable(struct table_builder *b, const struct column *c,
                                       dn_status status, const dn_error *error);

static inline bool builder_is_filled(const struct table_builder *b, size_t i) {
    return b->column[i].filled == b->n_rows + 1;
}

/* Ends the table: delivers the last chunk, reads chunks back where needed, settles the types.
 * false: problem. */
bool builder_finish(struct table_builder *b, struct problem *problem);
/* After builder_finish. */
void builder_write_columns(const struct table_builder *b,
                           struct json_writer *w); /* the JSON array of columns */
/* Saves the summaries, then ends their digests: saved[n_columns], which is {0} and the caller's to
 * free even on failure, and content "b2:…". false: no memory. */
bool builder_content(struct table_builder *b, struct table_blob *saved, char content[80]);
void builder_write_warnings(const struct table_builder *b,
                            struct json_writer *w); /* strings of an open array */

/* Sets the problem. Returns BUILDER_STOP. */
static inline enum builder_status builder_no_memory(struct table_builder *b) {
    problem_set(&b->problem, PROBLEM_UNAVAILABLE, "no memory left");
    return BUILDER_STOP;
}

#endif
