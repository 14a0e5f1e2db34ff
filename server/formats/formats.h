/* Bytes ↔ rows, streaming both ways. Readers of tables (CSV, JSON, NDJSON, svmlight) that end
 * in column chunks; readers of instances for prediction; writers of rows.
 *
 * A table reader is fed bytes as they arrive, in any cuts; what it delivers depends on the bytes
 * only, never on the cuts. */
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
#define TABLE_MAX_PREVIEW 1000           /* rows that the option `rows` may ask for */
#define TABLE_FAULTS_LISTED                                                                        \
    20 /* listed; reading goes on to the end to find them (bounded: it stops looking after 1,000)  \
        */

enum table_header { TABLE_HEADER_AUTO, TABLE_HEADER_YES, TABLE_HEADER_NO };
/* A row that cannot be read while others can: refuse the table, or leave the row out and tell it in
 * the notes. */
enum table_on_error { TABLE_REJECT, TABLE_SKIP };

struct table_options {
    const struct format *format; /* NULL: the body decides */
    enum table_header header;
    char delimiter; /* 0: found out (',', ';', tab, '|') */
    char comment; /* separated text: lines that begin with it are skipped; '\0': none but those that
                     begin with # and have another number of cells than the table */
    enum table_on_error on_error;
    const char *missing; /* further tokens for missing, comma-separated; NULL: none. Always: empty,
                            NA, NaN, null, ? */
    const char *types;   /* "species:categorical,zip:text" overrides; NULL: none. A name that is no
                            column: a fault */
    const char *label;   /* name of the last column of a headerless table (NDJSON of arrays too), or
                            of the label of svmlight; NULL: as the others (c1, c2, …), or "label" */
    bool zero_based;     /* svmlight: indexes count from 0 */
    int64_t rows;        /* no more of them are read; 0: all */
    bool form; /* it was sent as a form, as curl -d does: only for a hint when the table looks as if
                  that spoilt it */
};
/* Parses the query parameters header, delimiter, missing, types, label, comment, on_error,
 * zero_based, rows (1 … TABLE_MAX_PREVIEW) into options: false → problem (PROBLEM_BAD_REQUEST names
 * the parameter). value strings must outlive the reader. */
bool table_option_parse(struct table_options *options, const char *name, const char *value,
                        struct problem *problem);
/* The value that means the same as leaving the parameter out: "auto" for header. "": none that can
 * be given does. */
const char *table_option_initial(const char *name);

/* A finished chunk: an encoded blob (dn_column_builder_encode) a column. The sink takes the blobs'
 * memory. */
struct table_blob {
    void *bytes;
    size_t size;
};
struct table_sink {
    /* Chunk number `chunk` with n_rows rows. Returns false to stop with the problem it has set.
     * Must not block. */
    bool (*chunk)(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                  size_t n_columns, struct problem *problem);
    /* Blob of a chunk delivered before, into out: needed after the end for columns whose type fell.
     * Only called inside table_end; may block. */
    bool (*reread)(void *arg, int64_t chunk, size_t column, struct buf *out,
                   struct problem *problem);
    void *arg;
};
struct table;
/* NULL: no memory. Memory in use is bounded by some chunks (about 8 MiB of cells each), whatever
 * the body's length. */
struct table *table_new(const struct table_options *options, const struct table_sink *sink);
/* A table that is stored, for rows that are appended to it. */
struct table_stored {
    const char *columns, *notes; /* as table_summary gave them */
    const char *types; /* the option `types` of its upload, NULL: none; for versions whose notes do
                          not tell what types were given */
    int64_t n_rows, n_chunks;
    /* Rows of each of the last n_tail chunks, which are stored apart from each other and from the
     * rest: short ones among them may be taken into a new chunk. */
    const int64_t *tail;
    size_t n_tail;
    /* Copies the saved summary of column `column` (table_summary.saved of this table) into
     * out, which stays empty if there is none; arg is the sink's. NULL: there are none. */
    bool (*summary)(void *arg, size_t column, struct buf *out, struct problem *problem);
};
/* A reader of rows for a stored table: its columns are that table's, found by name (a header, JSON)
 * or by position; options types and label are not used. The sink's chunks are those of the new
 * rows, from 1. Number 0, if it comes at all, comes last and goes before them: it has the rows of
 * the last `n_taken` stored chunks, which are to be left out, and behind them the new rows if these
 * are in no other chunk. reread numbers the stored chunks from 0 and then those that were delivered
 * in their order. The stored chunks are read for columns without a usable saved summary, for
 * columns whose type was changed by the new rows, for columns of more distinct texts than there is
 * memory to count, and where short chunks are taken in. The summary is of the whole table, but for
 * `bytes` (fed) and `n_chunks` (delivered); `notes` are the stored ones with a member "append".
 * NULL: problem. What is taken in: table_tail.h. However rows come, a table of n rows then ends in
 * no more than about log n short chunks, each row having been written about log n times. */
struct table *table_new_onto(const struct table_options *options, const struct table_stored *stored,
                             const struct table_sink *sink, struct problem *problem);
/* The body is fed and the stored table has become another, longer one: the rows are to follow that.
 * Before table_end. false: they do not fit it (PROBLEM_CONFLICT), or no memory. */
bool table_rebase(struct table *t, const struct table_stored *stored, struct problem *problem);
void table_free(struct table *t);
/* false: the table is refused and no further byte matters for the verdict; the problem
 * (PROBLEM_INVALID_DATASET with line, column; PROBLEM_BAD_JSON) is got by table_end or here.
 * Faults that leave the rest readable (ragged row, bad cell of a forced type) are collected
 * (on_error skip: their rows left out) and reading goes on: true. */
bool table_feed(struct table *t, const char *bytes, size_t n, struct problem *problem);
/* There is a row beyond options.rows: what is fed from here on is passed over. */
bool table_is_full(const struct table *t);
/* No more will be fed, though the body goes on: table_end tells of the rows that are complete.
 * After the last byte that is fed. */
void table_cut(struct table *t);
/* What came of it. Pointers are the reader's. */
struct table_summary {
    int64_t n_rows, n_columns, n_chunks;
    int64_t n_taken; /* rows were appended: so many of the stored table's last chunks are in the new
                        chunk 0 */
    int64_t bytes;   /* fed */
    char content[80];     /* "b2:<hex>": BLAKE2b over column names, types and values */
    const char *columns;  /* JSON array as API.md shows it */
    const char *declared; /* "name":type, … of the columns whose type the body itself gives and no
                             option does; "": there are none */
    const char *notes; /* JSON object: format, delimiter, header, comments, missing tokens, skipped
                          rows, warnings */
    const struct table_blob *saved; /* [n_columns] summaries, for rows that are appended later */
};
/* The body is complete: flushes the last chunk, settles the types, computes what is left. May take
 * time (pool thread). */
bool table_end(struct table *t, struct table_summary *out, struct problem *problem);

/* ---- the schema of a stored table (the JSON `columns` back) ---- */
struct schema_column {
    char *name;
    dn_column_type type;
    int64_t missing;
    int64_t distinct;       /* -1: unknown, or an estimate only */
    int64_t distinct_about; /* the same, or the estimate; -1: nothing is known */
    int64_t distinct_above; /* when distinct is unknown: there are more than so many; -1: nothing is
                               known for sure */
    int64_t distinct_bytes; /* categorical: of text in the distinct values; -1: unknown */
    double minimum, maximum;
    size_t width;           /* sparse: how many places; 0 otherwise */
    uint32_t first_index;   /* sparse: what place 0 is called */
    int64_t entries;        /* sparse: in all rows; -1: unknown */
    int64_t words;          /* text: in all rows; -1: unknown */
    int64_t distinct_words; /* text: different ones, about; -1: unknown */
    int64_t longest;        /* text: bytes of the longest; -1: unknown */
    int64_t text_bytes;     /* text: of all rows; -1: unknown */
};
struct schema {
    size_t n;
    struct schema_column *columns;
};
bool schema_parse(const char *columns_json, struct schema *out,
                  struct problem *problem); /* PROBLEM_INTERNAL: the stored text is damaged */
/* The stored columns as the API shows them, as members of the open object: "columns", in which the
 * places of a sparse column are columns of their own unless they are too many, and "sparse" for a
 * table that has one. columns: the JSON text; NULL: null. */
struct json_writer;
void schema_columns_write(const char *columns, int64_t n_rows, struct json_writer *w);
void schema_done(struct schema *s);
ptrdiff_t schema_find(const struct schema *s, const char *name); /* -1: none */
/* "f17" of a sparse column "f": *number is 17, which the column may have or not. false: `name` is
 * no name of a place of it. Digits have no leading zero. */
bool schema_place_parse(const char *column, const char *name, uint64_t *number);

/* ---- writing rows ---- */
/* Rows of a table that has one sparse column, as JSON objects: the label's cell and the entries
 * that are not 0, each under its feature's name; begun as above. */
struct sparse_rows {
    const dn_column_view *label, *entries;
    const char *label_name, *name; /* place p is called "<name><first_index + p>" */
    uint32_t first_index;
};
void sparse_rows_write(const struct sparse_rows *rows, size_t n, bool begun, struct buf *out);
/* Entries of n rows of a sparse view from `first` on as columns of numbers: out[p·n + i] is what
 * row first + i has at places[p], which ascend; 0 where it has no entry. */
void sparse_rows_expand(const dn_column_view *view, size_t first, size_t n, const uint32_t *places,
                        size_t n_places, double *out);
/* What svmlight lines are made of: the label, and either columns of numbers or entries. */
struct svmlight_rows {
    const dn_column_view *label;   /* of any type but sparse; missing is written as ? */
    const dn_column_view *columns; /* [n_columns] numeric or boolean, without missing values: their
                                      indexes are 1 … n_columns */
    size_t n_columns;
    const dn_column_view *entries; /* sparse; NULL: none */
    uint32_t first_index;          /* index of its place 0 */
    const uint32_t *places;        /* [n_places] ascending: those wanted; NULL: all */
    size_t n_places;
};
/* Rows first … first + n - 1: "label index:value …", zeros left out (-0 is none). */
void svmlight_rows_write(const struct svmlight_rows *s, size_t first, size_t n, struct buf *out);
/* May row `row` of a column be a label of svmlight? Texts that are empty or have spaces, tabs, line
 * ends, commas, colons or # may not: *out is the text then. */
bool svmlight_label(const dn_column_view *view, size_t row, struct text *out);
/* A cell's text, in quotes where RFC 4180 or the spaces at its ends ask for them; between tabs too,
 * as spreadsheets do. */
void csv_text_write(const char *text, size_t n, char delimiter, struct buf *out);

/* ---- instances: bodies of prediction calls ---- */
/* Raw rows as encoder.h defines them, and for evaluate the class index of each. */
struct instance_rows {
    size_t n, n_inputs;
    double *raw;       /* [n × n_inputs], malloc'ed as all arrays here */
    size_t *row_start; /* [n + 1] of the entries; NULL: the model has no text and no sparse input */
    uint32_t *feature; /* [row_start[n]] */
    double *entry;     /* [row_start[n]] */
    size_t *label;     /* [n] class index, SIZE_MAX: missing; NULL unless labels were asked for */
    size_t capacity;   /* rows allocated */
    size_t entry_capacity;
    const char *place; /* of one JSON document: pointer of the array that they stand in, static;
                          NULL: they are lines, or pairs */
};
/* The pointer of row i, appended; false: it has none. */
bool instance_rows_place(const struct instance_rows *in, size_t i, struct buf *out);
void instance_rows_done(struct instance_rows *in);
/* Rows whose label is missing are none. */
void instance_rows_keep_labelled(struct instance_rows *in);
/* A view of n rows from row `first` on. */
dn_raw_rows instance_rows_view(const struct instance_rows *in, size_t first, size_t n);

/* The format of a body without a media type. '{' or '[': NDJSON if the first line is a complete
 * value and more than blanks follow it, otherwise JSON. Else svmlight if the first line that is not
 * a comment has a label and entries, otherwise CSV. */
const struct format *instances_sniff(const char *body, size_t size);

/* What the readers of instances need of a model's inputs. Immutable: any number of threads may read
 * with one schema. */
struct instance_schema;
struct instance_schema *instance_schema_new(const dn_model *model); /* NULL: out of memory */
void instance_schema_free(struct instance_schema *schema);          /* NULL is allowed */

/* How a body is read. */
struct instances_options {
    const struct format *format;          /* NULL: the body decides */
    const struct instance_schema *schema; /* of the model; NULL: one is made for this call */
    bool labelled;                        /* the target is wanted too */
    const char
        *target; /* labelled: the name of its column; NULL: the model's, which must have one then */
    bool zero_based; /* svmlight: features are counted from 0; must be as the model's are */
    /* NULL: all rows are given at the end, in *out. Otherwise a block of at most
     * INSTANCES_BLOCK_ROWS rows at a time, as they are read, as long as nothing is wrong; `first`
     * is the number of its first row. false: reading stops, with the problem it has set; it may
     * also set one (a fault of a row) and return true: the faults of the rest are found then. */
    bool (*block)(void *arg, const struct instance_rows *rows, size_t first,
                  struct problem *problem);
    /* Asked before the rows in memory may grow to so many bytes: false: reading stops, with the
     * problem it has set. NULL: they may, up to a constant. */
    bool (*hold)(void *arg, size_t bytes, struct problem *problem);
    void *arg; /* of both */
};
#define INSTANCES_BLOCK_ROWS 1024
/* {"instances":[[…],…]} or [{…},…] under "instances", or the bare array, or
 * {"columns":["x",…],"rows":[[…],…]}; NDJSON: an array or an object a line; CSV and TSV (header
 * optional: a first line that names inputs; comments as in tables); svmlight: the model must have
 * one sparse input. An array, or a line of CSV without a header, has a number for each place of a
 * sparse input; an object, a header and the query name them ("f17"). What is not named of a sparse
 * input is 0, as is what is missing; places that training had not count nothing. labelled: the
 * target column is expected too (objects and CSV with header, the last value of an array or line,
 * the first of a line of svmlight, where it is otherwise passed over and may be left out). Every
 * fault with its place: {"pointer":"/instances/3/petal_length"}, or line and column of text;
 * PROBLEM_INVALID_INSTANCES. A number that is not finite, text for a number, too few, too many,
 * unknown or repeated columns: faults. Missing: null, absent key, empty cell. Numbers go straight
 * into the matrix: no tree. */
bool instances_read(const char *body, size_t size, const struct instances_options *options,
                    const dn_model *model, struct instance_rows *out, struct problem *problem);
/* One row from name/value pairs (the query string): names and values as given. schema NULL: one is
 * made. */
bool instances_read_pairs(const char *const *names, const char *const *values, size_t n,
                          const dn_model *model, const struct instance_schema *schema,
                          struct instance_rows *out, struct problem *problem);

/* NDJSON without an end: lines are read into a block of rows, which is scored and cleared, and so
 * on. Each line is judged by itself. One thread. */
struct instance_lines;
/* Lines longer than `max_line` bytes are refused; a block has at most max_rows rows. schema NULL: one
 * is made. Returns NULL if out of memory. */
struct instance_lines *instance_lines_new(const dn_model *model,
                                          const struct instance_schema *schema, size_t max_rows,
                                          size_t max_line, struct problem *problem);
void instance_lines_free(struct instance_lines *lines);
enum instance_lines_state {
    /* no whole line is left: *used bytes are read, the caller gives the others again with those that
     * follow */
    INSTANCE_LINES_MORE,
    INSTANCE_LINES_FULL, /* the block is full */
    /* the line instance_lines_at was refused: its faults are in problem, with line and column. The
     * block holds the rows before it */
    INSTANCE_LINES_FAULT,
    INSTANCE_LINES_FAILED /* no memory: problem */
};
/* Reads lines from bytes until one of the above; *used says how many bytes were read. last: what
 * has no line end is the last line. Blank lines are none. An object that names none of the model's
 * columns is refused, unless they are all sparse; what it does not name beside others is missing.
 * What is found does not depend on cuts. */
enum instance_lines_state instance_lines_read(struct instance_lines *lines, const char *bytes,
                                              size_t n, bool last, size_t *used,
                                              struct problem *problem);
const struct instance_rows *instance_lines_block(const struct instance_lines *lines);
void instance_lines_clear(struct instance_lines *lines); /* the block is empty again */
int64_t instance_lines_at(
    const struct instance_lines *lines); /* number of the line read last, from 1; 0: none yet */
int64_t instance_lines_line_of(const struct instance_lines *lines,
                               size_t row);                       /* … of the block's row */
size_t instance_lines_memory(const struct instance_lines *lines); /* bytes in use, about */

/* ---- answers of prediction calls ---- */
/* What an answer tells of each row. */
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

/* The beginning of an answer. */
struct answer_head {
    const char *name; /* of the model */
    int64_t version;
    const struct answer_texts *texts; /* of this version; NULL: they are made for this answer */
    unsigned outputs;                 /* answer_output bits; predictions */
    const struct format *format;
    /* NULL: no row is refused. Otherwise rows may be refused one by one, CSV and TSV have a column
     * for it, and this is the base path of the links to the types of problems */
    const char *refusal_base;
};
/* An answer while it is written. One thread. */
struct predictions_writer {
    const dn_model *model;
    unsigned outputs; /* answer_output bits */
    const struct format *format;
    char delimiter;           /* of cells; '\0': JSON, NDJSON */
    const char *refusal_base; /* of the head; not NULL: cells have a last column "error" */
    size_t n_columns;         /* of cells */
    struct buf *out;          /* the caller's, who may take what it holds between two calls */
    const struct answer_texts *texts;
    struct answer_texts own_texts; /* in use if the caller gave none, or cells are written */
    bool begun;                    /* a row was written */
};
/* JSON: {"model":…,"version":…,"classes":[…],"predictions":[ … ]}, some rows at a time; with
 * contributions the names of the features and the intercepts stand once before the rows. NDJSON:
 * the same objects, one a line, and nothing else. CSV and TSV: a header, then a line a row:
 * "label", "p(<class>)" for each class, "score" or "score(<class>)" (of a pair "score(<positive> vs
 * <negative>)"), "distance", "contribution(<feature>)" (of several scores "contribution(<score>:
 * <feature>)"), "ambiguous", "candidates" (a JSON array), "log_density", "out_of_support", "error",
 * as far as the model has and the call wants them. A failure of memory is out's. rows: label for
 * label and ambiguous, otherwise the array of each output; log_density NULL for a model without,
 * which is null. candidates where a rule may choose none: such a row has "ambiguous":true and its
 * "candidates" whenever its label or its ambiguity is told. out_of_support where a row may be so:
 * "out_of_support":true, and false beside a log_density. Numbers that are not finite are null,
 * empty cells in CSV. `will` has the arrays that the rows will have (begin looks at which are
 * NULL). */
void predictions_writer_begin(struct predictions_writer *p, const struct answer_head *head,
                              const dn_model *model, const dn_prediction *will, struct buf *out);
void predictions_writer_rows(struct predictions_writer *p, size_t n, const dn_prediction *rows);
/* Of n rows those from `first` (< n) on, until out holds `most` bytes: how many, at least one; all
 * when out has failed. */
size_t predictions_writer_part(struct predictions_writer *p, size_t first, size_t n,
                               const dn_prediction *rows, size_t most);
/* In the place of a row: {"error":{"type":…,"line":…,"column":…,"detail":…,"errors":[…]}}; in CSV
 * the last cell says it. */
void predictions_writer_refusal(struct predictions_writer *p, int64_t line,
                                const struct problem *problem);
void predictions_writer_end(struct predictions_writer *p); /* what stands behind the rows */
void predictions_writer_done(
    struct predictions_writer *p); /* frees; every begin needs it, ended or not */

/* Rows as coordinates. JSON: {"model":…,"version":…,"components":2,"rows":[[…],…]}; NDJSON: an
 * array a line; CSV and TSV: "z1", "z2" … */
struct coordinates_writer {
    const struct format *format;
    char delimiter;           /* of cells; '\0': JSON, NDJSON */
    const char *refusal_base; /* of the head */
    size_t n;                 /* components */
    struct buf *out;
    bool begun;
};
void coordinates_writer_begin(struct coordinates_writer *c, const struct answer_head *head,
                              size_t n_components, struct buf *out);
void coordinates_writer_rows(struct coordinates_writer *c, size_t n_rows, const double *z);
/* Of n rows those from `first` (< n) on, until out holds `most` bytes: how many, at least one; all
 * when out has failed. */
size_t coordinates_writer_part(struct coordinates_writer *c, size_t first, size_t n,
                               const double *z, size_t most);
void coordinates_writer_refusal(struct coordinates_writer *c, int64_t line,
                                const struct problem *problem);
void coordinates_writer_end(struct coordinates_writer *c);
/* Between the items of an answer, and in the place of one of n_columns cells. For the writers of
 * answers. */
void answer_item_begin(const struct format *format, bool *begun, struct buf *out);
void answer_item_end(const struct format *format, struct buf *out);
void answer_item_refusal(const struct format *format, size_t n_columns, const char *base_path,
                         int64_t line, const struct problem *problem, struct buf *out);
/* The name of feature j, in the buffer, NUL behind it. NULL: no memory. */
const char *answer_feature_name(const dn_encoder *encoder, size_t j, struct buf *name);
/* The names of all features as a JSON array. */
void answer_feature_names_write(const dn_encoder *encoder, struct buf *out);
/* Numbers as a JSON array. */
void answer_numbers_write(const double *x, size_t n, struct buf *out);
/* A class as JSON: number, boolean or string, by the target's type. */
void answer_class_write(const dn_classes *classes, size_t k, struct buf *out);

#endif
