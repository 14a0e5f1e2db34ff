/* The interface of formats: bytes to rows and rows to bytes, as streams. Readers of tables deliver
 * column chunks; readers of instances fill a matrix for prediction; writers write rows and answers.
 *
 * A table reader is fed a body in pieces. What it delivers does not depend on how the body is
 * divided into pieces. */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include "base/buf.h"
#include "base/problem.h"
#include "formats/format.h"
#include "formats/text/cell.h"
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
#define TABLE_FAULTS_LISTED 20 /* faults in the answer; reading stops at TABLE_MAX_FAULTS */

enum table_header { TABLE_HEADER_AUTO, TABLE_HEADER_YES, TABLE_HEADER_NO };
/* on_error: a row with a fault refuses the table, or is left out and counted in the notes. */
enum table_on_error { TABLE_REJECT, TABLE_SKIP };

struct table_options {
    const struct format *format; /* NULL: the body decides */
    /* from encoding_find; NULL: UTF-8, or UTF-16 by its byte order mark */
    const char *encoding;
    enum table_header header;
    char delimiter; /* '\0': found from the body (',', ';', tab, '|') */
    /* separated text: lines that begin with it are comments. '\0': lines that begin with # are
     * comments if their number of cells differs from that of the first row */
    char comment;
    enum table_on_error on_error;
    /* further tokens for missing values, comma-separated; NULL: none. Always tokens: empty, NA,
     * NaN, null, ? */
    const char *missing;
    /* given types: "species:categorical,zip:text"; NULL: none. A name that is not a column is a
     * fault */
    const char *types;
    /* name of the last column of a table without a header or names, or of the label of svmlight.
     * NULL: c<position>; "label" for svmlight */
    const char *label;
    bool zero_based; /* svmlight: indexes count from 0 */
    int64_t rows;    /* the first rows only; 0: all */
    /* the body was sent as a form, as by curl -d: a hint is added if the table looks damaged by
     * that */
    bool form;
};
/* Parses a query parameter: encoding, header, delimiter, missing, types, label, comment, on_error,
 * zero_based, rows (1 … TABLE_MAX_PREVIEW). false: problem PROBLEM_BAD_REQUEST, which names the
 * parameter. The value must outlive the reader. */
bool table_option_parse(struct table_options *options, const char *name, const char *value,
                        struct problem *problem);
/* The value that means the same as leaving the parameter out: "auto" for header. "": none that can
 * be given does. NULL: the option is not stored unless it is given. */
const char *table_option_initial(const char *name);

/* An encoded column of a chunk (dn_column_builder_encode). The sink takes its memory. */
struct table_blob {
    void *bytes;
    size_t size;
};
struct table_sink {
    /* Takes chunk number `chunk` with n_rows rows. Must not block. false: problem; reading stops.
     */
    bool (*chunk)(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                  size_t n_columns, struct problem *problem);
    /* Copies a column of a chunk that was delivered into `out`: at the end of the table, for
     * columns whose type changed. Called by table_end only; may block. */
    bool (*reread)(void *arg, int64_t chunk, size_t column, struct buf *out,
                   struct problem *problem);
    void *arg;
};
struct table;
/* NULL: no memory. The memory in use does not depend on the length of the body: a few chunks of
 * about 8 MiB of cells. */
struct table *table_new(const struct table_options *options, const struct table_sink *sink);
/* A stored table to which rows are appended. */
struct table_stored {
    const char *columns, *notes; /* as in table_summary */
    /* the option `types` of its upload; NULL: none. Needed for tables whose notes do not have the
     * given types */
    const char *types;
    int64_t n_rows, n_chunks;
    /* Rows of each of the last n_tail chunks, which are stored one by one. Short ones may be joined
     * into a new chunk. */
    const int64_t *tail;
    size_t n_tail;
    /* Copies the saved summary of a column (table_summary.saved of the stored table) into `out`,
     * which stays empty if there is none. arg: of the sink. NULL: there are no saved summaries. */
    bool (*summary)(void *arg, size_t column, struct buf *out, struct problem *problem);
};
/* A reader of rows for a stored table. The columns of the rows are found in the table by name (a
 * header, JSON) or by position. The options types and label are ignored. NULL: problem.
 *
 * Chunks. The new rows are delivered in chunks from number 1 on. Chunk 0, if there is one, is
 * delivered last. It replaces the last `n_taken` stored chunks: it has their rows, followed by the
 * new rows if these are in no other chunk (table_tail.h says which chunks are joined). So a table
 * of n rows ends in at most about log n short chunks, and each row is written about log n times.
 * `reread` numbers the stored chunks from 0, then those delivered in their order.
 *
 * The stored chunks are read for columns without a usable saved summary, for columns whose type the
 * new rows changed, for columns with more distinct texts than can be counted, and to join short
 * chunks.
 *
 * Summary. It describes the whole table, except `bytes` and `n_chunks`, which are of the new rows.
 * `notes` are the stored ones with a member "append". */
struct table *table_new_onto(const struct table_options *options, const struct table_stored *stored,
                             const struct table_sink *sink, struct problem *problem);
/* Moves the new rows, all of which are fed, to a longer version of the stored table. Before
 * table_end. false: the rows do not fit that version (PROBLEM_CONFLICT), or no memory. */
bool table_rebase(struct table *t, const struct table_stored *stored, struct problem *problem);
void table_free(struct table *t);
/* false: the table is refused, and more bytes change nothing; table_end returns the same problem
 * (PROBLEM_INVALID_DATASET with line and column, PROBLEM_BAD_JSON). Faults after which other rows
 * can be read (a wrong number of cells, a cell that does not fit a given type) are collected, or
 * with on_error=skip their rows are left out; then true. */
bool table_feed(struct table *t, const char *bytes, size_t n, struct problem *problem);
/* Whether there are more than options.rows rows: further bytes are ignored. */
bool table_is_full(const struct table *t);
/* Ends the feeding within the body: table_end describes the complete rows. After the last piece. */
void table_cut(struct table *t);
/* The result. Pointers belong to the reader. */
struct table_summary {
    int64_t n_rows, n_columns, n_chunks;
    /* of rows that were appended: number of the last stored chunks that chunk 0 replaces */
    int64_t n_taken;
    int64_t bytes;       /* fed */
    char content[80];    /* "b2:<hex>": BLAKE2b over column names, types and values */
    const char *columns; /* JSON array */
    /* members "name":type, … of the columns whose type the body declares and no option gives; may
     * be "" */
    const char *declared;
    const char *notes; /* JSON object: format, delimiter, header, comments, missing tokens, skipped
                          rows, warnings */
    const struct table_blob *saved; /* [n_columns] saved summaries, for later appends */
};
/* Ends the body: delivers the last chunk, determines the types, completes the summaries. May take
 * seconds. */
bool table_end(struct table *t, struct table_summary *out, struct problem *problem);

/* ---- the schema of a stored table (the JSON `columns` back) ---- */
struct schema_column {
    char *name;
    dn_column_type type;
    int64_t missing;
    int64_t distinct;       /* -1: not known exactly */
    int64_t distinct_about; /* exact or estimated; -1: not known */
    /* if distinct is -1: there are certainly more than this; -1: nothing is certain */
    int64_t distinct_above;
    int64_t distinct_bytes; /* categorical: bytes of the distinct values; -1: unknown */
    double minimum, maximum;
    size_t width; /* sparse: number of places, which are the features of the column; 0 otherwise */
    uint32_t first_index;   /* sparse: place p is the feature with the index first_index + p */
    int64_t entries;        /* sparse: number in all rows; -1: unknown */
    int64_t words;          /* text: number in all rows; -1: unknown */
    int64_t distinct_words; /* text: estimated number of distinct words; -1: unknown */
    int64_t longest;        /* text: bytes of the longest; -1: unknown */
    int64_t text_bytes;     /* text: of all rows; -1: unknown */
};
struct schema {
    size_t n;
    struct schema_column *columns;
};
bool schema_parse(const char *columns_json, struct schema *out,
                  struct problem *problem); /* PROBLEM_INTERNAL: the stored JSON is damaged */
/* Writes the stored columns as the API shows them, as members of the open object: "columns", in
 * which the features of a sparse column are columns unless they are too many, and "sparse" for a
 * table with a sparse column. columns: the JSON text; NULL: null. */
struct json_writer;
void schema_columns_write(const char *columns, int64_t n_rows, struct json_writer *w);
void schema_done(struct schema *s);
ptrdiff_t schema_find(const struct schema *s, const char *name); /* -1: none */
/* Parses the name of a feature of a sparse column: "f17" of column "f" gives 17, which need not
 * exist. false: the name has another form. Leading zeros are not allowed. */
bool schema_place_parse(const char *column, const char *name, uint64_t *number);

/* ---- writing rows ---- */
/* Rows of a table with one sparse column, written as JSON objects: the label and the entries that
 * are not 0, each with the name of its feature. */
struct sparse_rows {
    const dn_column_view *label, *entries;
    const char *label_name, *name; /* the feature of place p is "<name><first_index + p>" */
    uint32_t first_index;
};
void sparse_rows_write(const struct sparse_rows *rows, size_t n, bool begun, struct buf *out);
/* Expands n rows of a sparse view to columns of numbers: out[p·n + i] is the value of row first + i
 * at places[p], 0 without an entry. places must ascend. */
void sparse_rows_expand(const dn_column_view *view, size_t first, size_t n, const uint32_t *places,
                        size_t n_places, double *out);
/* The parts of svmlight lines: the label, and either columns of numbers or sparse entries. */
struct svmlight_rows {
    const dn_column_view *label; /* not sparse; a missing label is written as ? */
    /* [n_columns] numeric or boolean, without missing values; their indexes are 1 … n_columns */
    const dn_column_view *columns;
    size_t n_columns;
    const dn_column_view *entries; /* a sparse column; NULL: none */
    uint32_t first_index;          /* index of its place 0 */
    const uint32_t *places; /* [n_places] ascending: the places that are written; NULL: all */
    size_t n_places;
};
/* Writes rows first … first + n - 1: "label index:value …" without values of +0. */
void svmlight_rows_write(const struct svmlight_rows *s, size_t first, size_t n, struct buf *out);
/* Whether the cell can be a label of svmlight. A text must not be empty or have blanks, line ends,
 * commas, colons or #; *out is the text. */
bool svmlight_label(const dn_column_view *view, size_t row, struct text *out);
/* Writes the text of a cell, in quotes if RFC 4180 requires them or if blanks are at its ends.
 * Cells between tabs are quoted too. */
void csv_text_write(const char *text, size_t n, char delimiter, struct buf *out);

/* ---- instances: bodies of prediction calls ---- */
/* Rows as encoder.h defines them, and for evaluations the class of each row. */
struct instance_rows {
    size_t n, n_inputs;
    double *raw; /* [n × n_inputs], malloc'ed as all arrays here */
    /* [n + 1] where the entries of each row begin; NULL: the model has no text or sparse input */
    size_t *row_start;
    uint32_t *feature; /* [row_start[n]] */
    double *entry;     /* [row_start[n]] */
    size_t *label;     /* [n] class index, SIZE_MAX: missing; NULL: labels are not read */
    size_t capacity;   /* allocated rows */
    size_t entry_capacity;
    /* static JSON pointer of the array of the rows; NULL: the rows are lines or pairs */
    const char *place;
};
/* Appends the JSON pointer of row i. false: it has none. */
bool instance_rows_place(const struct instance_rows *in, size_t i, struct buf *out);
void instance_rows_done(struct instance_rows *in);
/* Removes rows without a label. */
void instance_rows_keep_labelled(struct instance_rows *in);
/* A view of n rows from `first` on. */
dn_raw_rows instance_rows_view(const struct instance_rows *in, size_t first, size_t n);

/* The format of a body without a media type. A body that begins with '{' or '[' is NDJSON if its
 * first line is a complete value and more than blanks follows, otherwise JSON. Other bodies are
 * checked by each format; the last is CSV. */
const struct format *instances_sniff(const char *body, size_t size);

/* What the readers of instances need of a model's inputs. Immutable: any number of threads may read
 * with one schema. */
struct instance_schema;
struct instance_schema *instance_schema_new(const dn_model *model); /* NULL: out of memory */
void instance_schema_free(struct instance_schema *schema);          /* NULL is allowed */

/* How a body is read. */
struct instances_options {
    const struct format *format;          /* NULL: found from the body */
    const char *encoding;                 /* as in table_options */
    const struct instance_schema *schema; /* of the model; NULL: one is made for this call */
    bool labelled;                        /* the target is read too */
    const char
        /* name of the target column; NULL: that of the model, which must have one if labelled */
        *target;
    bool zero_based; /* svmlight: indexes count from 0; must be the same as in training */
    /* Takes a block of at most INSTANCES_BLOCK_ROWS rows when it is full; first: number of its
     * first row. Not called after a fault. It may set a problem for a fault of a row and return
     * true: then the faults of the other rows are found. false: problem; reading stops. NULL: all
     * rows are given in *out at the end. */
    bool (*block)(void *arg, const struct instance_rows *rows, size_t first,
                  struct problem *problem);
    /* Asks for memory before the rows grow to so many bytes. false: problem; reading stops. NULL: a
     * constant limit. */
    bool (*hold)(void *arg, size_t bytes, struct problem *problem);
    void *arg; /* of both */
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
 * An array, and a line of CSV without a header, has a number for each place of a sparse input;
 * objects and headers name its features ("f17"). Absent and missing features are 0; features that
 * training did not have are ignored. labelled: the target is needed too, as a named column, as the
 * last value of an array or a line, or as the label of svmlight.
 *
 * Missing values are null, an absent key, an empty cell. Faults (PROBLEM_INVALID_INSTANCES) have a
 * JSON pointer like "/instances/3/petal_length", or a line and a column: a number that is not
 * finite, a text in place of a number, too few or too many values, unknown and repeated columns. */
bool instances_read(const char *body, size_t size, const struct instances_options *options,
                    const dn_model *model, struct instance_rows *out, struct problem *problem);
/* Reads one row from name/value pairs of a query. schema NULL: one is made. */
bool instances_read_pairs(const char *const *names, const char *const *values, size_t n,
                          const dn_model *model, const struct instance_schema *schema,
                          struct instance_rows *out, struct problem *problem);

/* Reads a stream of NDJSON of any length: lines are read into a block of rows, which is scored and
 * cleared. Each line is checked for itself. One thread. */
struct instance_lines;
/* Longer lines than max_line bytes are refused; a block has at most max_rows rows. schema NULL: one
 * is made. NULL: no memory. */
struct instance_lines *instance_lines_new(const dn_model *model,
                                          const struct instance_schema *schema, size_t max_rows,
                                          size_t max_line, struct problem *problem);
void instance_lines_free(struct instance_lines *lines);
enum instance_lines_state {
    /* the rest is not a complete line: *used bytes are read, the caller passes the others again
     * with those that follow */
    INSTANCE_LINES_MORE,
    INSTANCE_LINES_FULL, /* the block is full */
    /* the line instance_lines_at was refused: its faults are in problem, with line and column. The
     * block holds the rows before it */
    INSTANCE_LINES_FAULT,
    INSTANCE_LINES_FAILED /* no memory: problem */
};
/* Reads lines until one of these states; *used: bytes that were read. last: the bytes end the
 * stream. Blank lines are ignored. An object that names no column of the model is refused, unless
 * all inputs are sparse; columns that it lacks beside others are missing. The result does not
 * depend on how the stream is divided. */
enum instance_lines_state instance_lines_read(struct instance_lines *lines, const char *bytes,
                                              size_t n, bool last, size_t *used,
                                              struct problem *problem);
const struct instance_rows *instance_lines_block(const struct instance_lines *lines);
void instance_lines_clear(struct instance_lines *lines); /* empties the block */
int64_t instance_lines_at(
    const struct instance_lines *lines); /* number of the last line read, from 1; 0: none */
int64_t instance_lines_line_of(const struct instance_lines *lines,
                               size_t row); /* number of the line of a row of the block */
size_t instance_lines_memory(const struct instance_lines *lines); /* estimated bytes in use */

/* ---- answers of prediction calls ---- */
/* The outputs of a row that an answer can have. */
enum answer_output {
    ANSWER_LABEL = 1,
    ANSWER_PROBABILITIES = 2,
    ANSWER_SCORES = 4,
    ANSWER_DISTANCE = 8,
    ANSWER_CONTRIBUTIONS = 16,
    ANSWER_AMBIGUOUS = 32,
    ANSWER_LOG_DENSITY = 64
};
/* Texts of a model that JSON answers repeat. Immutable once made: any number of threads may write
 * with them. */
struct answer_texts {
    struct buf classes; /* the classes as JSON, or as cells, without separators */
    size_t *class_end;  /* [n_classes] end of the text of class k in `classes` */
    struct buf head; /* {"model":…,"version":…,"classes":[…] of a JSON document; else empty */
};
/* The texts of one version of a model. Returns false if out of memory; answer_texts_done frees in
 * any case. */
bool answer_texts_init(struct answer_texts *texts, const dn_model *model, const char *name,
                       int64_t version);
void answer_texts_done(struct answer_texts *texts); /* texts may be {0} */

/* The properties of an answer. */
struct answer_head {
    const char *name; /* of the model */
    int64_t version;
    const struct answer_texts *texts; /* of this version; NULL: they are made for this answer */
    unsigned outputs;                 /* predictions: answer_output bits */
    const struct format *format;
    /* NULL: all rows are valid. Otherwise a row may be replaced by a problem, CSV and TSV have a
     * column for it, and this is the base path of the links to problem types */
    const char *refusal_base;
};
/* An answer that is being written. One thread. */
struct predictions_writer {
    const dn_model *model;
    unsigned outputs; /* answer_output bits */
    const struct format *format;
    char delimiter; /* between cells; '\0': JSON, NDJSON */
    /* of the head. If it is not NULL, the cells end with a column "error" */
    const char *refusal_base;
    size_t n_columns; /* of cells */
    struct buf *out;  /* the caller's, who may empty it between two calls */
    const struct answer_texts *texts;
    struct answer_texts own_texts; /* in use if the caller gave none, or cells are written */
    bool begun;                    /* a row was written */
};
/* The forms of answers:
 *   JSON      {"model":…,"version":…,"classes":[…],"predictions":[ … ]}; with contributions the
 *             names of the features and the intercepts are before the rows
 *   NDJSON    the objects of the rows, one on each line
 *   CSV, TSV  a header and a line for each row: "label", "p(<class>)" for each class, "score" or
 *             "score(<class>)" (of a pair "score(<positive> vs <negative>)"), "distance",
 *             "contribution(<feature>)" (with several scores "contribution(<score>: <feature>)"),
 *             "ambiguous", "candidates" (a JSON array), "log_density", "out_of_support", "error";
 *             of these the outputs that are wanted and that the model has
 *
 * A row without a class has "ambiguous":true and its "candidates" if the label or the ambiguity is
 * wanted. A row that may be out of support has "out_of_support":true, or false beside a log
 * density. Numbers that are not finite are null, or empty cells.
 *
 * will: has the arrays that the rows will have; only whether they are NULL matters. rows: label for
 * label and ambiguous, otherwise the array of each output; log_density may be NULL and is null
 * then. No memory: `out` fails. */
void predictions_writer_begin(struct predictions_writer *p, const struct answer_head *head,
                              const dn_model *model, const dn_prediction *will, struct buf *out);
void predictions_writer_rows(struct predictions_writer *p, size_t n, const dn_prediction *rows);
/* Writes rows from `first` (< n) on until `out` has `most` bytes. Returns how many, at least one;
 * all if `out` has failed. */
size_t predictions_writer_part(struct predictions_writer *p, size_t first, size_t n,
                               const dn_prediction *rows, size_t most);
/* Writes a problem instead of a row: {"error":{"type":…,"line":…,"column":…,"detail":…,
 * "errors":[…]}}; in CSV the last cell has its text. */
void predictions_writer_refusal(struct predictions_writer *p, int64_t line,
                                const struct problem *problem);
void predictions_writer_end(struct predictions_writer *p); /* writes what follows the rows */
void predictions_writer_done(
    struct predictions_writer *p); /* frees the memory; needed after every begin */

/* Rows as coordinates. JSON: {"model":…,"version":…,"components":2,"rows":[[…],…]}; NDJSON: an
 * array on each line; CSV and TSV: columns "z1", "z2" … */
struct coordinates_writer {
    const struct format *format;
    char delimiter;           /* between cells; '\0': JSON, NDJSON */
    const char *refusal_base; /* of the head */
    size_t n;                 /* components */
    struct buf *out;
    bool begun;
};
void coordinates_writer_begin(struct coordinates_writer *c, const struct answer_head *head,
                              size_t n_components, struct buf *out);
void coordinates_writer_rows(struct coordinates_writer *c, size_t n_rows, const double *z);
/* Writes rows from `first` (< n) on until `out` has `most` bytes. Returns how many, at least one;
 * all if `out` has failed. */
size_t coordinates_writer_part(struct coordinates_writer *c, size_t first, size_t n,
                               const double *z, size_t most);
void coordinates_writer_refusal(struct coordinates_writer *c, int64_t line,
                                const struct problem *problem);
void coordinates_writer_end(struct coordinates_writer *c);
/* What is between the items of an answer, and the problem instead of an item with n_columns cells.
 * For the writers of answers. */
void answer_item_begin(const struct format *format, bool *begun, struct buf *out);
void answer_item_end(const struct format *format, struct buf *out);
void answer_item_refusal(const struct format *format, size_t n_columns, const char *base_path,
                         int64_t line, const struct problem *problem, struct buf *out);
/* Writes the name of feature j into the buffer, NUL-terminated. NULL: no memory. */
const char *answer_feature_name(const dn_encoder *encoder, size_t j, struct buf *name);
/* Writes the names of all features as a JSON array. */
void answer_feature_names_write(const dn_encoder *encoder, struct buf *out);
/* Writes numbers as a JSON array; null if not finite. */
void answer_numbers_write(const double *x, size_t n, struct buf *out);
/* Writes a class as JSON: a number, a boolean or a string, by the type of the target. */
void answer_class_write(const dn_classes *classes, size_t k, struct buf *out);

#endif
