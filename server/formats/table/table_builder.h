/* Makes typed column chunks of rows of cells: infers types over the whole body, closes chunks,
 * makes the column summaries. Shared by the readers of all formats. Private to formats.
 *
 * Types. The type of a column is unknown until its first cell that is not missing, which makes it a
 * column of numbers, booleans or strings. At the first cell that does not fit it becomes a column
 * of strings (it "falls"). Chunks that were delivered before are not changed: they contain the
 * spelling of their numbers, so they can be decoded as strings.
 *
 * Stage. Numbers of separated text are first written row by row into a small array, the stage, and
 * then moved to the column builders column by column. So the memory of a builder is touched once
 * for many cells. The stage of a column takes only the kinds of cells whose text the builder does
 * not need: canonical numbers, or numbers padded to the same number of digits after the decimal
 * point.
 *
 * Chunks. A chunk is closed when it has R rows, where R is the largest power of two from 64 to
 * 65536 with R × columns × 8 <= 8 MiB, or when its cells exceed 8 MiB. This depends on the body,
 * not on the pieces in which the body arrives. */
#ifndef FORMATS_TABLE_BUILDER_H
#define FORMATS_TABLE_BUILDER_H

#include "formats/csv/csv.h"
#include "formats/summary/column_summary.h"
#include "formats/table/table_options.h"
#include "formats/table/table_tail.h"
#include "formats/text/cell.h"
#include "formats/text/marks.h"
#include "formats/text/names.h"

#include <discern/number.h>

#define BUILDER_CHUNK_BYTES (8 * 1024 * 1024)
/* Memory of the exact counts and sketches of all columns. When it exceeds BUILDER_COUNTS_MEMORY,
 * the largest exact counts are replaced by sketches until at most BUILDER_COUNTS_KEPT bytes are in
 * use. */
#define BUILDER_COUNTS_MEMORY (24 * 1024 * 1024)
#define BUILDER_COUNTS_KEPT (20 * 1024 * 1024)
/* Memory of the exact counts of numbers: at most this, less BUILDER_NUMBERS_LESS bytes for each
 * column. */
#define BUILDER_NUMBERS_MEMORY (16 * 1024 * 1024)
#define BUILDER_NUMBERS_LESS 960
#define BUILDER_STAGE_BYTES (512 * 1024)
#define BUILDER_MAX_WARNINGS 50
/* With at least so many columns, the memory that is freed is in many small pieces; heap_give_back
 * then returns it to the system. */
#define BUILDER_MANY_COLUMNS 1000

enum column_state {
    COLUMN_UNKNOWN,
    COLUMN_NUMBERS,
    COLUMN_BOOLEANS,
    COLUMN_STRINGS,
    COLUMN_SPARSE,
    COLUMN_DATES /* strings that are dates or times of one form */
};

/* How the numbers of a column are written, while the decimal mark is not given. */
enum column_mark {
    MARK_NONE,    /* so far without decimal marks */
    MARK_GROUPED, /* with points that could separate thousands; they are read as decimal points */
    MARK_POINT,   /* with decimal points */
    MARK_COMMA,   /* with decimal commas */
    MARK_EITHER,  /* with commas that could separate thousands */
    /* append: with points in a body delimited by commas, while stored rows have decimal commas */
    MARK_DOUBT
};

/* Codes of stored reasons (member "code" of "type_reason"). */
#define TYPE_GIVEN "given"
#define TYPE_FIRST_BOOLEAN "first_boolean"
#define TYPE_FIRST_TEXT "first_text"
#define TYPE_AFTER_NUMBERS "after_numbers"
#define TYPE_AFTER_BOOLEANS "after_booleans"
#define TYPE_AFTER_DATES "after_dates"

/* The cell that determined the type of a column that is not numeric. */
struct type_reason {
    int64_t line;  /* line of the cell; 0: no such cell, or the type was given */
    int64_t row;   /* row of the cell in the table, from 1 */
    char *cell;    /* malloc'ed: text of the cell, truncated to 64 bytes; NULL: no memory */
    bool fell;     /* before this cell the column had numbers or booleans */
    bool numbers;  /* used if `fell`: the cells before were numbers, not booleans */
    bool dates;    /* used if `fell`: the cells before were dates */
    char *hint;    /* malloc'ed: the text of cell_hint; NULL: none */
    bool stored;   /* the cell is in the rows of the stored table */
    bool appended; /* `line` is a line of an appended body */
    /* malloc'ed: the description of a reason that was stored without a code; NULL: the description
     * is made from the other members */
    char *detail;
};

struct column {
    char *name; /* malloc'ed */
    dn_column_builder *builder;
    enum column_state state;
    enum column_state stored_state; /* append only: the state after the stored rows */
    /* the type was given by the client or the body and does not change */
    bool forced;
    /* append only: the column keeps the type of the stored column. Its cells are read as those of a
     * given type */
    bool kept;
    /* kept: the stored column was categorical although it has as many distinct texts as a text
     * column */
    bool many_before;
    bool documents;      /* text, as each row has another text of several words */
    dn_column_type type; /* forced, kept: that type; otherwise set at the end of the table */
    bool summarised;     /* at least one chunk was added to `summary` */
    /* the summary is computed at the end of the table, from the delivered chunks */
    bool again;
    /* rows of the chunks that were closed while the state was unknown; their cells are missing */
    int64_t missing_before;
    int64_t filled; /* last row (from 1) that has a cell for the column */
    /* JSON objects: last row of the body (from 1) with a member for the column; 0: none */
    int64_t seen;
    struct type_reason reason;
    enum column_mark mark;
    dn_datetime_form form; /* COLUMN_DATES: of the cells so far; {0}: there are none */
    uint8_t orders;        /* the orders of dates that are allowed (enum dn_date_order) */
    bool comma;            /* append only: the stored rows have decimal commas */
    /* the signs around all numbers of a column of strings, whose other cells are numbers; "": not
     * so */
    struct marks_signs signs;
    /* line of the first whole number that begins with a zero, such as 007; 0: there is none */
    int64_t zeros_line;
    char *zeros_text;      /* malloc'ed: as inexact_text */
    int64_t inexact_cells; /* number of cells that number_is_exact is false for */
    int64_t inexact_line;  /* line of the first of them */
    char *inexact_text;    /* malloc'ed: its text as shown in a warning */
    double inexact_number; /* what it was read as */
    struct column_summary summary;
};

/* Values of stage_takes: a set of kinds of cells as bits, or one of these. */
#define STAGE_NONE UINT64_C(0)
/* no cells until the first number of the chunk, whose kind then determines the set */
#define STAGE_UNDECIDED (UINT64_C(1) << 63)

/* The result of adding a cell. */
enum builder_status {
    BUILDER_WELL,
    BUILDER_MISFIT, /* the cell does not fit the given type: the caller reports the fault */
    BUILDER_STOP    /* b->problem is set: no memory, or the sink failed */
};

void type_reason_done(struct type_reason *reason);

struct table_builder {
    struct table_sink sink;
    struct missing missing;
    struct marks marks; /* how numbers are written */
    bool separated;     /* the body is separated text */
    bool detects;       /* decimal commas are detected: marks.decimal is not given */
    /* append: the body is delimited by commas, and stored numbers have decimal commas:
     * `doubts_all`: those of all columns */
    bool doubts, doubts_all;
    bool plain_numbers; /* numbers are read without marks, and commas are not detected */
    bool keeps_blanks;  /* blanks around cells without quotes are kept */
    struct type_override *types;
    size_t n_types;
    struct column *column;
    size_t n_columns, columns_capacity;
    struct names names; /* names of the columns */
    /* [stage_rows × n_columns] numbers of the last rows, row by row; NULL: not allocated yet */
    double *stage;
    size_t stage_rows; /* rows that fit in the stage */
    size_t staged;     /* rows in the stage */
    /* [columns_capacity] first row of the stage whose cell is not in the column builder yet */
    uint32_t *stage_from;
    /* [columns_capacity] kinds of cells (csv.h) that the stage takes, as bits */
    uint64_t *stage_takes;
    /* valid if `settled`: the stage takes all canonical numbers in all columns */
    bool take_canonical;
    bool settled;
    size_t chunk_rows;   /* rows of a full chunk */
    size_t rows;         /* rows of the open chunk */
    size_t string_bytes; /* bytes of strings and sparse entries in the open chunk */
    int64_t n_rows;      /* complete rows of the body so far */
    int64_t n_chunks;    /* delivered chunks */
    /* rows are appended to a stored table (table_append.h), whose chunks precede the new ones */
    bool onto;
    int64_t stored_rows; /* rows of the stored table */
    int64_t stored_chunks;
    /* table_stored.summary */
    bool (*stored_summary)(void *arg, size_t column, struct buf *out, struct problem *problem);
    /* the last chunks of the stored table, which may be joined with new rows */
    struct table_tail tail;
    int64_t line; /* line of the current row */
    bool broken;  /* the table has a fault: cells are checked, but not added */
    /* [columns_capacity] encoded columns of the chunk that is being delivered */
    struct table_blob *blobs;
    size_t n_blobs;         /* number of elements of `blobs` that the builder still owns */
    dn_column_chunk *chunk; /* workspace for decoding chunks */
    size_t counts_memory;   /* bytes of all exact counts and sketches */
    size_t numbers_memory;  /* bytes of the exact counts of numbers */
    struct problem problem; /* set with BUILDER_STOP */
};

bool builder_init(struct table_builder *b, const struct table_options *options,
                  const struct table_sink *sink, struct problem *problem);
void builder_done(struct table_builder *b);
/* Adds a column, before the first chunk is delivered. Its cells are missing in the rows so far. The
 * name must be new. BUILDER_STOP: no memory. */
enum builder_status builder_add_column(struct table_builder *b, const char *name, size_t n);
/* Adds a sparse column of at least `width` features; `first` is the svmlight index of the first
 * feature. The option `types` does not apply to it. BUILDER_STOP: no memory. */
enum builder_status builder_add_sparse(struct table_builder *b, const char *name, uint32_t first,
                                       size_t width);
/* Sets the type of column i, before its first cell. The option `types` takes precedence. orders: of
 * the dates of DN_DATETIME. */
void builder_force(struct table_builder *b, size_t i, dn_column_type type, unsigned orders);
/* Return the type that is given or kept for column i, or given by the option `types` for a column
 * of that name; DN_TEXT (any cell fits) if there is none. */
dn_column_type builder_given_type(const struct table_builder *b, size_t i);
dn_column_type builder_given_type_of(const struct table_builder *b, const char *name, size_t n);
/* Returns the orders of dates that the option `types` allows in a column of that name. */
unsigned builder_given_orders_of(const struct table_builder *b, const char *name, size_t n);
/* Whether some cells may not fit a column of that given type. */
static inline bool builder_checks(dn_column_type given) {
    return given == DN_NUMERIC || given == DN_BOOLEAN || given == DN_DATETIME;
}
/* What a cell of column i must be, for a message: "a number". i may be that of a column that is not
 * added yet. */
enum { BUILDER_RULE_SIZE = 96 };
const char *builder_rule(const struct table_builder *b, size_t i, dn_column_type given,
                         char room[BUILDER_RULE_SIZE]);
/* Sets whether decimal commas are detected, and in which stored columns they are expected: the body
 * is separated text with this delimiter. Call it before the first row. */
void builder_set_delimiter(struct table_builder *b, char delimiter);
/* Whether a point in a number of a cell may be no decimal mark. */
static inline bool builder_has_commas(const struct table_builder *b) {
    return b->detects || b->doubts || b->marks.decimal == ',' || b->marks.thousands == '.';
}
/* Reads a trimmed text as a number of column c, NULL: of any. *mark: how the numbers of the column
 * are written with this one. */
bool builder_read_marked(const struct table_builder *b, const struct column *c, struct text t,
                         double *out, enum column_mark *mark);
/* As builder_read_marked, without a call of it for plain numbers. */
static inline bool builder_read_number(const struct table_builder *b, const struct column *c,
                                       struct text t, double *out, enum column_mark *mark) {
    if (b->plain_numbers) {
        *mark = c != NULL ? c->mark : MARK_NONE;
        return dn_number_parse(t.bytes, t.n, out);
    }
    return builder_read_marked(b, c, t, out, mark);
}
/* Sets how the numbers of column c are written, after this cell. */
void builder_set_mark(struct table_builder *b, struct column *c, enum column_mark mark,
                      const char *text, size_t n);
/* A hint for a cell that makes column c a column of strings, NULL: none. */
const char *builder_mark_hint(const struct table_builder *b, const struct column *c,
                              struct text text);
/* At the end of the body: makes columns whose commas may be either a decimal mark or separate
 * thousands columns of strings, and describes the signs around the numbers of columns of strings.
 * Refuses such columns if they must be numbers. Returns false on failure and sets problem. */
bool builder_settle_marks(struct table_builder *b, struct problem *problem);
/* Writes the members decimal, thousands, strip and decimal_comma into the open object. */
void builder_write_marks(const struct table_builder *b, bool stored, struct json_writer *w);
/* ---- dates (table_dates.c) ---- */
/* Adds a text to the form of column c, which has no cells but dates. Returns false if it is none of
 * that form. */
bool builder_take_date(struct table_builder *b, struct column *c, const char *text, size_t n);
/* Whether builder_take_date would return true. c: NULL: a new column with these orders. */
bool builder_date_fits(const struct column *c, unsigned orders, struct text trimmed);
/* A hint for a cell that makes c a column of strings, NULL: none. */
const char *builder_date_hint(const struct column *c, struct text text,
                              char room[BUILDER_RULE_SIZE]);
/* Whether the order of day and month is still open in a column of dates. */
bool builder_has_date_mark(const struct column *c);
/* At the end of the body: makes columns whose order is open columns of strings, unless their type
 * is given. */
void builder_settle_dates(struct table_builder *b);
/* Decodes a chunk of column c into b->chunk. */
dn_status builder_decode(struct table_builder *b, const struct column *c, const void *bytes,
                         size_t size, dn_column_type type, dn_column_view *out, dn_error *err);
/* Records the cell that determines the column's type. hint: NULL: none. */
void builder_note_reason(struct table_builder *b, struct column *c, const char *text, size_t n,
                         const char *hint);
/* Makes c a column of strings, for which a reason was noted. */
void builder_fall(struct table_builder *b, struct column *c);

/* Whether a column of that given type can hold the cell. c: the column, NULL: it is not added yet.
 * If so, builder_text and builder_string,
 * builder_number or builder_boolean do not return BUILDER_MISFIT. */
bool builder_text_fits(const struct table_builder *b, const struct column *c, dn_column_type given,
                       const char *text, size_t n);
bool builder_number_fits(const struct table_builder *b, const struct column *c,
                         dn_column_type given, double number, const char *spelling, size_t n);
bool builder_boolean_fits(const struct table_builder *b, dn_column_type given, bool truth);
/* Returns the next item of the option `types`, from *i on, for which there is no column; NULL if
 * there is none. Advances *i. */
const struct type_override *builder_unused_type(const struct table_builder *b, size_t *i);

/* Add a cell of the current row, at most one for each column. */
/* a cell of separated text, of any type */
enum builder_status builder_text(struct table_builder *b, size_t i, const char *text, size_t n);
enum builder_status builder_number(struct table_builder *b, size_t i, double number,
                                   const char *spelling, size_t n);
/* a JSON string */
enum builder_status builder_string(struct table_builder *b, size_t i, const char *text, size_t n);
enum builder_status builder_boolean(struct table_builder *b, size_t i, bool truth);
enum builder_status builder_missing(struct table_builder *b, size_t i);
/* Adds the entries of the current row to a sparse column (dn_column_builder_entries). place:
 * feature indices below `width`. */
enum builder_status builder_entries(struct table_builder *b, size_t i, const uint32_t *place,
                                    const double *value, size_t n, size_t width);
/* Counts `cells` numbers of the current row in column i that number_is_exact is false for. The text
 * of the first is spelling[0 … n - 1], which was read as `number`. */
void builder_inexact(struct table_builder *b, size_t i, size_t cells, double number,
                     const char *spelling, size_t n);
/* Adds the cells of a row of separated text, from cell number *cell on. The row has as many cells
 * as there are columns. BUILDER_MISFIT: cell *cell does not fit its column; to continue, call the
 * function again with *cell + 1. */
enum builder_status builder_csv_cells(struct table_builder *b, const struct csv_row *row,
                                      size_t *cell);
/* ends a row of builder_csv_cells */
enum builder_status builder_csv_row_end(struct table_builder *b);
/* Adds missing cells to the columns that have no cell in the current row. Readers that add cells
 * one by one call it before builder_row_end. */
enum builder_status builder_fill_row(struct table_builder *b);
static inline bool builder_is_filled(const struct table_builder *b, size_t i);
enum builder_status builder_row_end(struct table_builder *b);
/* Whether the end of the current row will close the first chunk, after which no column can be
 * added. May be true one row too early. */
bool builder_closes_first(const struct table_builder *b);
/* Moves the staged numbers to the column builders. */
enum builder_status builder_unstage(struct table_builder *b);
/* Closes the open chunk and gives it to the sink. Called by builder_row_end and builder_finish. */
enum builder_status builder_deliver(struct table_builder *b);
/* Gives b->blobs to the sink as chunk number `chunk`. */
enum builder_status builder_hand_over(struct table_builder *b, int64_t chunk, int64_t n_rows);
/* At the end of the table: calls `use` with the chunks of column i from number `first` on,
 * including the last one that is not delivered yet, until `use` sets *enough. The chunks of the
 * stored table come first in the numbering, which begins with 0. */
typedef enum builder_status builder_use(void *arg, struct table_builder *b, struct column *c,
                                        const void *bytes, size_t size, bool *enough);
enum builder_status builder_read_again(struct table_builder *b, size_t i, int64_t first,
                                       builder_use *use, void *arg);
/* Counts the distinct texts of column i again, from its chunks, if the exact counts were dropped
 * and the number is needed. Sets `recounted` or `many` in the summary of the column; sets neither
 * if the number of distinct texts makes it a text column. */
enum builder_status builder_recount(struct table_builder *b, size_t i);
/* Whether a column of strings is text rather than categorical. distinct: number of different
 * strings; present: number of cells that are not missing. */
bool column_is_text(size_t distinct, int64_t present);
/* Sets the problem of a chunk that could not be decoded. Returns BUILDER_STOP. */
enum builder_status builder_unreadable(struct table_builder *b, const struct column *c,
                                       dn_status status, const dn_error *error);

/* Whether the cells of a column must fit a type that does not change. */
static inline bool column_is_fixed(const struct column *c) {
    return c->forced || c->kept;
}

static inline bool builder_is_filled(const struct table_builder *b, size_t i) {
    return b->column[i].filled == b->n_rows + 1;
}

/* Ends the table: delivers the last chunk, reads chunks back where needed, determines the types.
 * Returns false on failure and sets problem. */
bool builder_finish(struct table_builder *b, struct problem *problem);
/* To be called after builder_finish. */
/* writes the JSON array of columns */
void builder_write_columns(const struct table_builder *b, struct json_writer *w);
/* Saves the summaries in saved[n_columns] and computes the content hash "b2:…". The elements of
 * `saved` must be {0}; the caller frees them, also on failure. Returns false if out of memory. */
bool builder_content(struct table_builder *b, struct table_blob *saved, char content[80]);
/* writes strings into an open array */
void builder_write_warnings(const struct table_builder *b, struct json_writer *w);

/* Sets b->problem. Returns BUILDER_STOP. */
static inline enum builder_status builder_no_memory(struct table_builder *b) {
    problem_set(&b->problem, PROBLEM_UNAVAILABLE, "no memory left");
    return BUILDER_STOP;
}

#endif
