/* The interface of formats: bytes to rows and rows to bytes, as streams. Readers of tables deliver
 * column chunks; readers of instances fill a matrix for prediction; writers write rows and answers.
 *
 * A table reader is fed a body in pieces. What it delivers does not depend on how the body is
 * divided into pieces. */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include "formats/format.h"
#include "formats/instances/keep.h"
#include "formats/text/cell.h"
#include "formats/text/marks.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading a table ---- */
#define TABLE_MAX_COLUMNS 16384
#define TABLE_MAX_CELL (1024 * 1024)
#define TABLE_MAX_ROW (16 * 1024 * 1024) /* bytes of one row */
#define TABLE_MAX_NAME 255               /* bytes of a column name */
#define TABLE_MAX_PREVIEW 1000           /* limit of the option `rows` */
#define TABLE_MAX_SKIP 1000000           /* limit of the option `skip_rows` */
#define TABLE_MAX_HEADER_LINES 10
#define TABLE_FAULTS_LISTED 20 /* faults in the answer; reading stops at TABLE_MAX_FAULTS */

enum table_header { TABLE_HEADER_AUTO, TABLE_HEADER_YES, TABLE_HEADER_NO };
/* What happens to a table with a faulty row: TABLE_REJECT refuses the table; TABLE_SKIP leaves the
 * row out and counts it in the notes; TABLE_REPAIR, with separated text, reads the row as
 * csv/repair/csv_repair.h says and counts the repairs. Other formats treat it as TABLE_REJECT. */
enum table_on_error { TABLE_REJECT, TABLE_SKIP, TABLE_REPAIR };

struct table_options {
    const struct format *format; /* NULL: the format is detected from the body */
    /* from encoding_find; NULL: UTF-8, or UTF-16 or UTF-32 by their byte order mark */
    const char *encoding;
    enum table_header header;
    /* TABLE_HEADER_YES: number of header lines, whose cells are joined by blanks; 0: one */
    int64_t header_lines;
    int64_t skip_rows; /* separated text: number of lines before the table, which are not read */
    /* separator of the cells; ' ': runs of blanks; '\0': detected from the body (',', ';', tab,
     * '|', runs of blanks) */
    char delimiter;
    /* separated text: lines that begin with this character are comments. '\0': lines that begin
     * with # are comments if their number of cells differs from that of the first row */
    char comment;
    struct marks marks; /* how numbers are written */
    /* append only: decimal and thousands of `marks` are those of the upload. They do not apply to a
     * body that is delimited by commas, unless the upload was */
    bool stored_marks;
    enum table_on_error on_error;
    /* additional tokens for missing values, comma-separated; NULL: none. These are always tokens:
     * the empty cell, NA, NaN, null, ? */
    const char *missing;
    /* column types chosen by the client, as in "species:categorical,zip:text"; NULL: none. Naming a
     * column that does not exist is a fault */
    const char *types;
    /* the names of the columns if the body has none, or in place of its header: a comma-separated
     * list (list_item); NULL: c<position> */
    const char *names;
    /* the label column. If the body names no columns, and there are no `names`, it is the name of
     * the last column; otherwise the name of a column. svmlight: the name of the label column.
     * NULL: c<position>; "label" for svmlight */
    const char *label;
    /* the position of the label from 1, if no column has the name `label`; 0: none. A column
     * without a name is called "label" */
    int64_t label_at;
    /* a name that an earlier column has becomes name_2, name_3, …; false: it is a fault */
    bool rename;
    bool zero_based; /* svmlight: the index of the first feature is 0, not 1 */
    /* append only: cells that do not fit the type of a stored column change it. Otherwise they are
     * faults of their rows */
    bool allow_type_change;
    int64_t rows; /* preview: number of rows to show; the reader does not use it */
    /* the media type of the body is application/x-www-form-urlencoded: curl -d sends it, and
     * removes the line ends of a file. If the table has no rows, or one long row, the answer has
     * the hint to send the file with -T or --data-binary */
    bool form;
};
/* Parses a query parameter of an upload (table_options.c lists them). Returns false if the value is
 * invalid and sets PROBLEM_BAD_REQUEST, which names the parameter. The value must outlive the
 * reader. */
bool table_option_parse(struct table_options *options, const char *name, const char *value,
                        struct problem *problem);
/* Whether a query parameter is such an option. */
bool table_option_exists(const char *name);
/* Returns the value that has the same meaning as leaving out the parameter, as "auto" for header;
 * "" if there is no such value; NULL if the option is stored only when it is given. */
const char *table_option_initial(const char *name);

/* An encoded column of a chunk (dn_column_builder_encode). The sink takes ownership of the
 * bytes. */
struct table_blob {
    void *bytes;
    size_t size;
};
struct table_sink {
    /* Takes the chunk with number `chunk` and n_rows rows. Must not block. If it returns false, it
     * has set problem, and reading stops. */
    bool (*chunk)(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                  size_t n_columns, struct problem *problem);
    /* Copies a column of a delivered chunk into `out`. Called only by table_end, for columns whose
     * type changed after the chunk was delivered; may block. */
    bool (*reread)(void *arg, int64_t chunk, size_t column, struct buf *out,
                   struct problem *problem);
    void *arg;
};
struct table;
/* Returns NULL if out of memory. The memory in use does not depend on the length of the body: a few
 * chunks of about 8 MiB of cells. */
struct table *table_new(const struct table_options *options, const struct table_sink *sink);
/* A stored table to which rows are appended. */
struct table_stored {
    const char *columns, *notes; /* as in table_summary */
    /* option `types` of the upload of the stored table; NULL: none. Used if the notes do not have
     * the types that were given */
    const char *types;
    int64_t n_rows, n_chunks;
    /* [n_tail] numbers of rows of the last n_tail chunks. Each of these chunks is in a part of its
     * own. Short ones may be joined into a new chunk */
    const int64_t *tail;
    size_t n_tail;
    /* Copies the saved summary of a column (table_summary.saved of the stored table) into `out`,
     * which stays empty if there is none. `arg` is that of the sink. NULL: there are no saved
     * summaries. */
    bool (*summary)(void *arg, size_t column, struct buf *out, struct problem *problem);
};
/* A reader of rows for a stored table. The columns of the rows are found in the table by name (if
 * the body has a header or is JSON) or by position. The options types and label are ignored. Unless
 * the option allow_type_change is set, a column whose type is known keeps it, and the type of other
 * columns is inferred from the new rows.
 * Returns NULL on failure and sets problem.
 *
 * Chunks. The new rows are delivered in chunks with numbers from 1 on. Chunk 0, if there is one, is
 * delivered last. It replaces the last `n_taken` stored chunks: it contains their rows, followed by
 * the new rows if these are in no other chunk (table_tail.h says which chunks are joined). So a
 * table of n rows ends in at most about log n short chunks, and each row is written about log n
 * times. `reread` counts the stored chunks from 0, then the delivered chunks in their order.
 *
 * The stored chunks are read for columns without a usable saved summary, for columns whose type the
 * new rows changed, for columns with more distinct texts than can be counted, and to join short
 * chunks.
 *
 * Summary. It describes the whole table, except that `bytes` and `n_chunks` count the new rows
 * only. `notes` are the stored notes with a member "append". */
struct table *table_new_onto(const struct table_options *options, const struct table_stored *stored,
                             const struct table_sink *sink, struct problem *problem);
/* Continues the append on a newer version of the stored table, which has more rows. Call it after
 * all new rows were fed and before table_end. Returns false if the new rows do not fit that version
 * (PROBLEM_CONFLICT) or if out of memory. */
bool table_rebase(struct table *t, const struct table_stored *stored, struct problem *problem);
void table_free(struct table *t);
/* Reads the next n bytes of the body. Returns false if the table is refused: further bytes are
 * ignored, and table_end returns the same problem (PROBLEM_INVALID_DATASET with line and column,
 * PROBLEM_BAD_JSON). After some faults the next rows can still be read (a wrong number of cells, a
 * cell that does not fit a given type). Such faults are collected, or with on_error=skip their rows
 * are left out, and the function returns true. */
bool table_feed(struct table *t, const char *bytes, size_t n, struct problem *problem);
/* Tells the reader that the rest of the body will not be fed: table_end then describes the complete
 * rows. Call it after the last piece. */
void table_cut(struct table *t);
/* Returns the number of rows of the body that were read so far, with the faulty ones. */
int64_t table_rows_read(const struct table *t);
/* The result. Pointers belong to the reader. */
struct table_summary {
    int64_t n_rows, n_columns, n_chunks;
    /* append only: how many stored chunks, counted from the end, chunk 0 replaces */
    int64_t n_taken;
    int64_t bytes;       /* length of the body as far as it was fed */
    char content[80];    /* "b2:<hex>": BLAKE2b over column names, types and values */
    const char *columns; /* JSON array */
    /* members "name":type, … of the columns whose type comes from the body and not from the
     * option `types`; may be "" */
    const char *declared;
    /* JSON object: format, delimiter, header, comments, missing tokens, skipped rows, warnings */
    const char *notes;
    const struct table_blob *saved; /* [n_columns] saved summaries, for later appends */
};
/* Ends the body: delivers the last chunk, determines the types, completes the summaries. May take
 * seconds. Returns false if the table is refused and sets problem. */
bool table_end(struct table *t, struct table_summary *out, struct problem *problem);

/* ---- the schema of a stored table, parsed from the JSON `columns` ---- */
/* Texts with so many words on average are documents, shorter ones are names. */
#define SCHEMA_DOCUMENT_WORDS 5
struct schema_column {
    char *name;
    dn_column_type type;
    int64_t missing;
    /* categorical, or text of names: each row has another value, none is missing; numeric: the rows
     * are numbered one by one. false: or the description is of an earlier release */
    bool identifier;
    dn_datetime_form form;  /* datetime: how the cells are written; {0}: all are missing */
    int64_t distinct;       /* exact number of distinct values; -1: unknown */
    int64_t distinct_about; /* exact or estimated number of distinct values; -1: unknown */
    /* lower bound, used if `distinct` is -1: there are more distinct values than this.
     * distinct_above = -1: no bound is known */
    int64_t distinct_above;
    int64_t distinct_bytes;  /* categorical: bytes of the distinct values; -1: unknown */
    double minimum, maximum; /* numeric, datetime (seconds) */
    bool fractions;          /* numeric: not all numbers are whole; false: unknown, too */
    size_t width;            /* sparse: number of features; other types: 0 */
    uint32_t first_index;    /* sparse: svmlight index of the first feature */
    int64_t entries;         /* sparse: number of entries in all rows; -1: unknown */
    int64_t words;           /* text: number of words in all rows; -1: unknown */
    int64_t distinct_words;  /* text: estimated number of distinct words; -1: unknown */
    int64_t longest;         /* text: length of the longest value in bytes; -1: unknown */
    int64_t text_bytes;      /* text: bytes of all values; -1: unknown */
};
/* The type with which the cells of a column are read to be shown: dates are strings, as they were
 * written. */
static inline dn_column_type schema_shown_type(const struct schema_column *c) {
    return c->type == DN_DATETIME ? DN_TEXT : c->type;
}
struct schema {
    size_t n;
    struct schema_column *columns;
};
/* Returns false and sets problem: PROBLEM_INTERNAL if the stored JSON is damaged. */
bool schema_parse(const char *columns_json, struct schema *out, struct problem *problem);
/* Writes two members of the open object. "columns" is the stored list, in which the features of a
 * sparse column take the place of that column unless there are too many. "sparse" is written for a
 * table with a sparse column. columns: the stored JSON text; NULL is written as null. Returns the
 * number of features of the sparse column; -1: there is none. */
struct json_writer;
int64_t schema_columns_write(const char *columns, int64_t n_rows, struct json_writer *w);
void schema_done(struct schema *s);
/* Returns -1 if there is no such column */
ptrdiff_t schema_find(const struct schema *s, const char *name);
/* Parses the name of a feature of a sparse column: with column "f", the name "f17" gives 17. Does
 * not check that the feature exists. Returns false if the name has another form, as with leading
 * zeros. */
bool schema_place_parse(const char *column, const char *name, uint64_t *number);

/* ---- writing rows ---- */
/* Rows of a table with one sparse column, written as JSON objects: the label and the entries that
 * are not 0, each with the name of its feature. */
struct sparse_rows {
    const dn_column_view *label, *entries;
    const char *label_name, *name; /* feature j, from 0, is named "<name><first_index + j>" */
    uint32_t first_index;
};
void sparse_rows_write(const struct sparse_rows *rows, size_t n, bool begun, struct buf *out);
/* Expands n rows of a sparse view to columns of numbers: out[p·n + i] is the value of row first +
 * i for the feature places[p], 0 if the row has no entry for it. places: ascending feature indices
 * from 0. */
void sparse_rows_expand(const dn_column_view *view, size_t first, size_t n, const uint32_t *places,
                        size_t n_places, double *out);
/* The parts of svmlight lines: the label, and either columns of numbers or sparse entries. */
struct svmlight_rows {
    const dn_column_view *label; /* not sparse; a missing label is written as ? */
    /* [n_columns] numeric or boolean, without missing values; written with the indexes 1 …
     * n_columns */
    const dn_column_view *columns;
    size_t n_columns;
    const dn_column_view *entries; /* a sparse column; NULL: none */
    uint32_t first_index;          /* svmlight index of the first feature of `entries` */
    /* [n_places] ascending feature indices from 0: the features that are written; NULL: all */
    const uint32_t *places;
    size_t n_places;
};
/* Writes rows first … first + n - 1, each as "label index:value …". Values of +0 are left
 * out. */
void svmlight_rows_write(const struct svmlight_rows *s, size_t first, size_t n, struct buf *out);
/* Whether the cell can be written as a label of svmlight. A text must not be empty or contain
 * blanks, line ends, commas, colons or #. *out: the text of a cell of strings. */
bool svmlight_label(const dn_column_view *view, size_t row, struct text *out);
/* Writes the text of a cell, in quotes if RFC 4180 requires them or if the text begins or ends with
 * a blank. Quotes are also used if the delimiter is a tab. */
void csv_text_write(const char *text, size_t n, char delimiter, struct buf *out);

/* ---- instances: bodies of prediction calls ---- */
/* Notes about rows that are accepted: categories that training did not see, and columns that the
 * model does not have, which are ignored. In all functions notes may be NULL: there are none. */
#define UNSEEN_LISTED 20 /* limit of the categories that are listed */
struct row_notes;
struct json_writer;
void row_notes_free(struct row_notes *notes);
/* Returns the number of unseen categories, at most one for each row and input. */
int64_t row_notes_unseen(const struct row_notes *notes);
/* Returns the number of rows with an unseen category of this input. */
int64_t row_notes_unseen_of(const struct row_notes *notes, size_t input);
/* Returns the number of ignored columns. */
size_t row_notes_ignored(const struct row_notes *notes);
/* Notes the unseen categories of a categorical input in a view of its column. missing: tokens that
 * are no categories; NULL: none. Returns false if out of memory. */
bool row_notes_view(struct row_notes **notes, const dn_encoder *encoder, size_t input,
                    const struct missing *missing, const dn_column_view *view);
size_t row_notes_n_warnings(const struct row_notes *notes);
const char *row_notes_warning(const struct row_notes *notes, size_t i);
/* Writes the members "unseen", "ignored_columns" and "warnings" of the open object, each unless it
 * is empty: [{"column":…,"value":…,"rows":…},…] of the first UNSEEN_LISTED categories, and lists of
 * names and texts. */
void row_notes_write(const struct row_notes *notes, const dn_encoder *encoder,
                     struct json_writer *w);

/* Rows in the layout that encoder.h defines, and for evaluations the class of each row. */
struct instance_rows {
    size_t n, n_inputs;
    double *raw; /* [n × n_inputs]; this and the other arrays are malloc'ed */
    /* [n + 1] index of the first entry of each row; NULL: the model has no text or sparse input */
    size_t *row_start;
    uint32_t *feature; /* [row_start[n]] feature index of each entry */
    double *entry;     /* [row_start[n]] value of each entry */
    /* [n] class index of each row, SIZE_MAX: missing; NULL: labels are not read */
    size_t *label;
    struct kept_rows kept; /* the values of instances_options.keep */
    /* notes about all rows that were read; NULL: none. Kept from block to block */
    struct row_notes *notes;
    size_t capacity; /* number of allocated rows */
    size_t entry_capacity;
    /* JSON pointer to the array of the rows, a static string; NULL: the body has no such array
     * (lines, or pairs of a query) */
    const char *place;
};
/* Appends the JSON pointer of row i. Returns false if the row has none. */
bool instance_rows_place(const struct instance_rows *in, size_t i, struct buf *out);
void instance_rows_done(struct instance_rows *in);
/* Removes rows without a label. The kept values are not removed. */
void instance_rows_keep_labelled(struct instance_rows *in);
/* A view of n rows from `first` on. */
dn_raw_rows instance_rows_view(const struct instance_rows *in, size_t first, size_t n);

/* Detects the format of a body without a media type. A body that begins with '{' or '[' is NDJSON
 * if its first line is a complete value and anything but blanks follows it, otherwise JSON. Other
 * bodies are passed to the `sniff` function of each format in turn. CSV is the last choice. */
const struct format *instances_sniff(const char *body, size_t size);

/* What the readers of instances need of a model's inputs. Immutable: any number of threads may read
 * with one schema. */
struct instance_schema;
/* document: a JSON object that may have the member "reading" (table_reading_write); NULL: it has
 * none. Returns NULL if out of memory or if the document is damaged. */
struct instance_schema *instance_schema_new(const dn_model *model, const char *document);
void instance_schema_free(struct instance_schema *schema); /* NULL is allowed */

/* The reading of a table: how the texts of its cells were read (missing words, comment character,
 * delimiter). It is the member "reading" of the document of a model, and rows of predictions are
 * read in the same way. Writes the reading as an object. notes, columns: of the table
 * (table_summary). */
void table_reading_write(const char *notes, const char *columns, struct json_writer *w);
/* Returns a copy of the document with only the member "reading"; the caller frees it. NULL: out of
 * memory. */
char *table_reading_document(const char *document);

/* How a body is read. */
struct instances_options {
    const struct format *format; /* NULL: detected from the body */
    const char *encoding;        /* as in table_options */
    /* made from the model; NULL: instances_read makes one for this call */
    const struct instance_schema *schema;
    /* the tokens for missing values, and the comment character as in table_options; NULL, false:
     * those of the schema */
    const struct missing *missing;
    const struct marks *marks; /* replaces what it gives of the reading; NULL: nothing */
    bool has_comment;
    char comment;
    /* header, header_lines, skip_rows, delimiter, names and rename, of separated text; NULL: none
     * is given */
    const struct table_options *table;
    bool labelled; /* the class of each row is read too */
    /* name of the target column; NULL: the target name of the model, which the model must have if
     * `labelled` */
    const char *target;
    /* svmlight: the index of the first feature is 0; must be the same as in training */
    bool zero_based;
    bool refuse_extra; /* a column that the model does not have is a fault */
    /* columns whose values are stored in instance_rows.kept; NULL: none. One that no row has is a
     * fault, unless `may_lack_keep` is true */
    const struct keep *keep;
    bool may_lack_keep;
    bool keep_numbers; /* kept texts are numbers, written as the reading says; others are missing */
    /* Takes a full block of INSTANCES_BLOCK_ROWS rows, or the shorter last block; first: number of
     * its first row. Not called after a fault. To refuse a row and still have the other rows
     * checked, it sets problem and returns true. If it returns false, reading stops; it has set
     * problem. NULL: all rows are in *out at the end. */
    bool (*block)(void *arg, const struct instance_rows *rows, size_t first,
                  struct problem *problem);
    /* Reserves memory before the rows grow to `bytes` bytes. If it returns false, reading stops; it
     * has set problem. NULL: the limit is a constant. */
    bool (*hold)(void *arg, size_t bytes, struct problem *problem);
    void *arg; /* argument of `block` and `hold` */
    /* Set to the number of rows that were read, also if the body is refused. NULL: not wanted. */
    int64_t *n_read;
};
#define INSTANCES_BLOCK_ROWS 1024
/* Reads the instances of a body. Numbers are parsed straight into the matrix.
 *
 *   JSON      {"instances":[[…],…]}, {"instances":[{…},…]}, the array alone, or
 *             {"columns":["x",…],"rows":[[…],…]}
 *   NDJSON    an array or an object on each line
 *   CSV, TSV  with or without a header (a first line that names inputs); comments as in tables
 *   svmlight  the model must have one sparse input and no other
 *   ARFF      the attributes name the columns
 *
 * An array, and a line of CSV without a header, has one number for each feature of a sparse input;
 * objects and headers name the features ("f17"). Absent and missing features are 0; features that
 * training did not have are ignored. If `labelled`, the target is required: as a named column, as
 * the last value of an array or a line, or as the label of svmlight.
 *
 * Missing values are null, an absent key, an empty cell. Faults (PROBLEM_INVALID_INSTANCES) have a
 * JSON pointer like "/instances/3/petal_length", or a line and a column. Faults are: a number that
 * is not finite, a text in place of a number, too few or too many values, unknown and repeated
 * columns. */
bool instances_read(const char *body, size_t size, const struct instances_options *options,
                    const dn_model *model, struct instance_rows *out, struct problem *problem);
/* Reads one row from the name/value pairs of a query. schema: if NULL, the function makes one.
 * keep: columns whose values are kept; NULL: none. refuse_extra: as in instances_options. */
bool instances_read_pairs(const char *const *names, const char *const *values, size_t n,
                          const dn_model *model, const struct instance_schema *schema,
                          const struct keep *keep, bool refuse_extra, struct instance_rows *out,
                          struct problem *problem);

/* Reads NDJSON of any length: lines are parsed into a block of rows, which the caller scores and
 * clears. A fault in a line does not affect other lines. Not thread-safe. */
struct instance_lines;
/* Refuses lines of more than max_line bytes; a block has at most max_rows rows. options: schema,
 * missing, refuse_extra and keep are used, and must stay valid. Returns NULL if out of memory. */
struct instance_lines *instance_lines_new(const dn_model *model,
                                          const struct instances_options *options, size_t max_rows,
                                          size_t max_line, struct problem *problem);
void instance_lines_free(struct instance_lines *lines);
enum instance_lines_state {
    /* the bytes end within a line: the caller passes the bytes from *used on again, followed by the
     * next bytes */
    INSTANCE_LINES_MORE,
    INSTANCE_LINES_FULL, /* the block is full */
    /* the line with number instance_lines_at was refused: its faults are in problem, with line and
     * column. The block has the rows before this line */
    INSTANCE_LINES_FAULT,
    INSTANCE_LINES_FAILED /* out of memory; problem is set */
};
/* Reads lines until one of the states above is reached. *used: bytes that were read. last: the
 * stream ends with these bytes. Blank lines are ignored. An object that names no column of the
 * model is refused, unless all inputs are sparse. If it names at least one, the columns that it
 * lacks are missing values. The result does not depend on how the stream is divided into calls. */
enum instance_lines_state instance_lines_read(struct instance_lines *lines, const char *bytes,
                                              size_t n, bool last, size_t *used,
                                              struct problem *problem);
const struct instance_rows *instance_lines_block(const struct instance_lines *lines);
/* Returns false with a problem if no line had one of the columns that the model needs, or one of
 * `keep`. Called after the last line. */
bool instance_lines_check_columns(struct instance_lines *lines, struct problem *problem);
/* Returns the notes about the lines that were not refused so far; NULL: none. */
const struct row_notes *instance_lines_notes(struct instance_lines *lines);
void instance_lines_clear(struct instance_lines *lines); /* empties the block */
/* number of the last line that was read, from 1; 0: none */
int64_t instance_lines_at(const struct instance_lines *lines);
/* line number of a row of the block */
int64_t instance_lines_line_of(const struct instance_lines *lines, size_t row);
size_t instance_lines_memory(const struct instance_lines *lines); /* estimated bytes in use */

/* Reads rows of a stored table into a block of rows, which the caller scores and clears. Columns
 * are found by name. A value that does not fit its input refuses its row only. Not thread-safe. */
struct instance_table;
/* columns: [n_columns] names and types of the columns of the table. options: `keep`, `missing`,
 * `marks` and `refuse_extra` are used. Returns NULL with a problem (PROBLEM_INVALID_INSTANCES at
 * /dataset): a column is missing, or refused. */
struct instance_table *instance_table_new(const dn_model *model,
                                          const struct instance_schema *schema,
                                          const struct instances_options *options,
                                          const dn_table_column *columns, size_t n_columns,
                                          struct problem *problem);
void instance_table_free(struct instance_table *table); /* NULL is allowed */
/* Whether the values of the column are kept as they are written. */
bool instance_table_keeps(const struct instance_table *table, size_t column);
/* Returns the input to which a column belongs; SIZE_MAX: none. */
size_t instance_table_input(const struct instance_table *table, size_t column);
/* Reads rows first … first + n - 1 of a chunk. views: [n_columns] of the chunk, those of the
 * inputs; spelled: [n_columns] those that are kept, as texts. *used ← the number of rows that were
 * read. Returns INSTANCE_LINES_MORE: all rows were read; FULL: the block is full; FAULT: the last
 * of them was refused, with problem; FAILED: out of memory. */
enum instance_lines_state instance_table_read(struct instance_table *table,
                                              const dn_column_view *views,
                                              const dn_column_view *spelled, size_t first, size_t n,
                                              size_t *used, struct problem *problem);
const struct instance_rows *instance_table_block(const struct instance_table *table);
void instance_table_clear(struct instance_table *table); /* empties the block */
/* Takes the notes about the rows so far, which the caller frees; NULL: none. */
struct row_notes *instance_table_take_notes(struct instance_table *table);
/* Notes the unseen categories in a chunk of a column. Returns false if out of memory. */
bool instance_table_note_levels(struct instance_table *table, struct row_notes **notes,
                                size_t column, const dn_column_view *view);
/* Notes the unseen parts of dates in a chunk of a column. view: its texts. Returns false if out of
 * memory. */
bool instance_table_note_dates(struct instance_table *table, struct row_notes **notes,
                               size_t column, const dn_column_view *view);

/* A source of columns of a stored table whose cells are read as those of a body: tokens for missing
 * values, and marks of numbers. Not thread-safe. */
struct instance_source;
/* Whether the reading differs from the standard one. */
bool instance_source_needed(const struct instance_schema *schema,
                            const struct instances_options *options);
/* options: `missing` and `marks` are used. inner: has one slot; must outlive the source. as:
 * [inner->n_cols] the columns of the source, copied: numbers, truth values, dates or parts of dates
 * where the inner column is DN_TEXT, otherwise the same. Returns NULL if out of memory. */
struct instance_source *instance_source_new(const dn_model *model,
                                            const struct instance_schema *schema,
                                            const struct instances_options *options,
                                            const dn_table_source *inner,
                                            const dn_table_column *as);
void instance_source_free(struct instance_source *source); /* NULL is allowed */
const dn_table_source *instance_source_table(const struct instance_source *source);

/* ---- answers of prediction calls ---- */
/* The outputs of a row that an answer can have. */
enum answer_output {
    ANSWER_LABEL = 1,
    ANSWER_PROBABILITIES = 2,
    ANSWER_SCORES = 4,
    ANSWER_DISTANCE = 8,
    ANSWER_CONTRIBUTIONS = 16,
    ANSWER_AMBIGUOUS = 32,
    ANSWER_LOG_DENSITY = 64,
    ANSWER_PRIOR = 128,
    ANSWER_POSTERIOR = 256,
    ANSWER_SET = 512
};
/* Texts of a model that JSON answers repeat. Not changed after answer_texts_init, so any number of
 * threads may use them. */
struct answer_texts {
    /* the class names one after the other without separators, each as JSON or as a cell */
    struct buf classes;
    size_t *class_end; /* [n_classes] end of the text of class k in `classes` */
    /* beginning of a JSON document: {"model":…,"version":…,"classes":[…]; empty for other
     * formats */
    struct buf head;
};
/* The texts of one version of a model. Returns false if out of memory; answer_texts_done frees in
 * any case. */
bool answer_texts_init(struct answer_texts *texts, const dn_model *model, const char *name,
                       int64_t version);
void answer_texts_done(struct answer_texts *texts); /* texts may be {0} */

/* How an answer writes contributions. */
struct answer_contributions {
    size_t top;              /* number of contributions to each score, the largest; 0: all */
    const double *intercept; /* [n_scores] in place of the intercept of the model; NULL: that */
    const char *baseline;    /* what the contributions are differences from; NULL: nothing */
};
/* The properties of an answer. */
struct answer_head {
    const char *name; /* name of the model */
    int64_t version;
    const struct answer_texts *texts; /* made for this version; NULL: the writer makes them */
    unsigned outputs;                 /* predictions: answer_output bits of the requested outputs */
    struct answer_contributions contributions;
    const struct format *format;
    /* base path of the links to problem types, for answers in which a problem may take the place of
     * a row; CSV and TSV then have a column for it. NULL: all rows are valid */
    const char *refusal_base;
    const struct keep *keep; /* columns that are repeated; NULL: none */
};
/* A writer of one answer. Not thread-safe. */
struct predictions_writer {
    const dn_model *model;
    unsigned outputs; /* answer_output bits of the requested outputs */
    struct answer_contributions contributions;
    size_t *top; /* [contributions.top] features of the score that is being written */
    const struct format *format;
    char delimiter; /* between cells; '\0': JSON, NDJSON */
    /* from answer_head. If it is not NULL, CSV and TSV have a last column "error" */
    const char *refusal_base;
    size_t n_columns;        /* number of columns of CSV and TSV */
    const struct keep *keep; /* from answer_head */
    /* set by the caller for the next rows if `keep` is not NULL: the kept values, those of row 0 in
     * row first_kept */
    const struct kept_rows *kept;
    size_t first_kept;
    struct buf *out; /* the caller's buffer, which the caller may empty between two calls */
    const struct answer_texts *texts;
    struct answer_texts own_texts; /* used if the caller gave no texts, or if cells are written */
    bool begun;                    /* at least one row was written */
};
/* Appends the header line of CSV for these outputs (answer_output bits). */
void predictions_columns_write(const dn_model *model, unsigned outputs, struct buf *out);
/* The forms of answers:
 *   JSON      {"model":…,"version":…,"classes":[…],"predictions":[ … ]}; with contributions
 *             the names of the features and the intercepts are before the rows. With `top` a row
 *             has the names of its features instead, in {"feature":…,"value":…}, and in "rest" the
 *             sum of the other contributions to each score
 *   NDJSON    the objects of the rows, one on each line
 *   CSV, TSV  a header and a line for each row: the kept columns, "label", "p(<class>)" for each
 *             class, "score" or "score(<class>)" (of a pair "score(<positive> vs <negative>)"),
 *             "distance", "contribution(<feature>)" (with several scores "contribution(<score>:
 *             <feature>)"), or with `top` "feature1", "contribution1" … "rest" (with several scores
 *             "feature1(<score>)" …),
 *             "ambiguous", "log_density", "log_density(<class>)", "prior(<class>)",
 *             "posterior(<class>)", "set" and "candidates" (JSON arrays), "out_of_support", "error". Only
 *             the outputs that were requested and that the model has are written
 *
 * Kept columns are the first member of a row in JSON, "keep":{"id":7}.
 *
 * A row without a class has "ambiguous":true and its "candidates" if the label or the ambiguity was
 * requested. A row that may be out of support has "out_of_support":true, or false beside a log
 * density. Numbers that are not finite are null, or empty cells.
 *
 * will: an array is NULL if and only if it will be NULL in the rows; its values are not read. rows:
 * `label` is needed for label and ambiguous, otherwise the array of each output. log_density may be
 * NULL and is then written as null. class_log_density is written with log_density if it is not
 * NULL. The prior is that of the model, which must have densities. Out of memory: `out` fails. */
void predictions_writer_begin(struct predictions_writer *p, const struct answer_head *head,
                              const dn_model *model, const dn_prediction *will, struct buf *out);
void predictions_writer_rows(struct predictions_writer *p, size_t n, const dn_prediction *rows);
/* Writes rows from `first` (< n) on until `out` has at least `most` bytes. Returns the number of
 * rows written, at least 1; all remaining rows if `out` has failed. */
size_t predictions_writer_part(struct predictions_writer *p, size_t first, size_t n,
                               const dn_prediction *rows, size_t most);
/* Writes a problem instead of a row: {"error":{"type":…,"line":…,"column":…,"detail":…,
 * "errors":[…]}}; in CSV the last cell has its text. */
void predictions_writer_refusal(struct predictions_writer *p, int64_t line,
                                const struct problem *problem);
/* Writes the end of the answer, after the rows; in JSON with the notes about the rows. notes: NULL:
 * none. */
void predictions_writer_end(struct predictions_writer *p, const dn_encoder *encoder,
                            const struct row_notes *notes);
/* frees the memory; call it after every begin */
void predictions_writer_done(struct predictions_writer *p);

/* Writes rows of coordinates. JSON: {"model":…,"version":…,"components":2,"rows":[[…],…]};
 * NDJSON: an array on each line; with kept columns a row is {"keep":{…},"z":[…]}. CSV and TSV: the
 * kept columns, "z1", "z2" … */
struct coordinates_writer {
    const struct format *format;
    char delimiter;           /* between cells; '\0': JSON, NDJSON */
    const char *refusal_base; /* from answer_head */
    size_t n;                 /* number of components */
    size_t n_columns;         /* number of columns of CSV and TSV */
    const struct keep *keep;  /* this and the next two: as in predictions_writer */
    const struct kept_rows *kept;
    size_t first_kept;
    struct buf *out;
    bool begun;
};
void coordinates_writer_begin(struct coordinates_writer *c, const struct answer_head *head,
                              size_t n_components, struct buf *out);
void coordinates_writer_rows(struct coordinates_writer *c, size_t n_rows, const double *z);
/* Writes rows from `first` (< n) on until `out` has at least `most` bytes. Returns the number of
 * rows written, at least 1; all remaining rows if `out` has failed. */
size_t coordinates_writer_part(struct coordinates_writer *c, size_t first, size_t n,
                               const double *z, size_t most);
void coordinates_writer_refusal(struct coordinates_writer *c, int64_t line,
                                const struct problem *problem);
void coordinates_writer_end(struct coordinates_writer *c, const dn_encoder *encoder,
                            const struct row_notes *notes); /* as predictions_writer_end */
/* Writes the end of an answer. */
void answer_end(const struct format *format, const dn_encoder *encoder,
                const struct row_notes *notes, struct buf *out);
/* Write the text before and after an item of an answer, and a problem in place of an item with
 * n_columns cells. For the writers of answers. */
void answer_item_begin(const struct format *format, bool *begun, struct buf *out);
void answer_item_end(const struct format *format, struct buf *out);
/* Removes the delimiter before the first of the cells of a row, which begin at `begin`. */
void answer_cells_end(size_t begin, struct buf *out);
void answer_item_refusal(const struct format *format, size_t n_columns, const char *base_path,
                         int64_t line, const struct problem *problem, struct buf *out);
/* Writes the name of feature j into the buffer, NUL-terminated. Returns NULL if out of memory. */
const char *answer_feature_name(const dn_encoder *encoder, size_t j, struct buf *name);
/* Writes the names of all features as a JSON array. */
void answer_feature_names_write(const dn_encoder *encoder, struct buf *out);
/* Writes numbers as a JSON array; numbers that are not finite are null. */
void answer_numbers_write(const double *x, size_t n, struct buf *out);
/* Writes a class as JSON: a number, a boolean or a string, by the type of the target. */
void answer_class_write(const dn_classes *classes, size_t k, struct buf *out);

#endif
