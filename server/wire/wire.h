/* Wire: bytes ↔ rows, streaming both ways. Readers of tables (CSV, JSON) that end in column chunks; readers of instances for prediction; writers of rows.
 *
 * A table reader is fed bytes as they arrive, in any cuts; what it delivers depends on the bytes only, never on the cuts. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include "base/buf.h"
#include "base/problem.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading a table ------------------------------------------------------------------------------------------------------------- */
#define WIRE_MAX_COLUMNS 16384
#define WIRE_MAX_CELL (1024 * 1024)
#define WIRE_MAX_ROW (16 * 1024 * 1024) /* bytes of one row */
#define WIRE_MAX_NAME 255               /* bytes of a column name */
#define WIRE_MAX_FAULTS 20              /* listed; reading goes on to the end to find them (bounded: it stops looking after 1,000) */

enum wire_format { WIRE_SNIFF, WIRE_CSV, WIRE_TSV, WIRE_JSON };
enum wire_header { WIRE_HEADER_AUTO, WIRE_HEADER_YES, WIRE_HEADER_NO };

struct wire_table_options {
    enum wire_format format;
    enum wire_header header;
    char delimiter;      /* 0: found out (',', ';', tab, '|') */
    const char *missing; /* further tokens for missing, comma-separated; NULL: none. Always: empty, NA, NaN, null, ? */
    const char *types;   /* "species:categorical,zip:text" overrides; NULL: none. A name that is no column: a fault */
    const char *label;   /* name of the last column of a headerless table; NULL: as the others (c1, c2, …) */
    bool form;           /* it was sent as a form, as curl -d does: only for a hint when the table looks as if that spoilt it */
};
/* Parses the query parameters header, delimiter, missing, types, label into options: false → problem (PROBLEM_BAD_REQUEST names the parameter). value strings must outlive the reader. */
bool wire_table_option(struct wire_table_options *options, const char *name, const char *value, struct problem *problem);
/* The format for a media type ("" → SNIFF). false: none of ours. */
bool wire_table_format(const char *media_type, enum wire_format *out);

/* A finished chunk: an encoded blob (dn_column_builder_encode) a column. The sink takes the blobs' memory. */
struct wire_blob {
    void *bytes;
    size_t size;
};
struct wire_table_sink {
    /* Chunk number `chunk` with n_rows rows. Returns false to stop with the problem it has set. Must not block. */
    bool (*chunk)(void *arg, int64_t chunk, int64_t n_rows, struct wire_blob *blobs, size_t n_columns, struct problem *problem);
    /* Blob of a chunk delivered before, into out: needed once after the end for columns whose type fell. Only called inside wire_table_end; may block. */
    bool (*reread)(void *arg, int64_t chunk, size_t column, struct buf *out, struct problem *problem);
    void *arg;
};
struct wire_table;
/* NULL: no memory. Memory in use is bounded by some chunks (about 8 MiB of cells each), whatever the body's length. */
struct wire_table *wire_table_new(const struct wire_table_options *options, const struct wire_table_sink *sink);
void wire_table_free(struct wire_table *t);
/* false: the table is refused and no further byte matters for the verdict; the problem (PROBLEM_INVALID_DATASET with line, column; PROBLEM_BAD_JSON) is got by wire_table_end or here.
 * Faults that leave the rest readable (ragged row, bad cell of a forced type) are collected and reading goes on: true. */
bool wire_table_feed(struct wire_table *t, const char *bytes, size_t n, struct problem *problem);
/* What came of it. Pointers are the reader's. */
struct wire_table_summary {
    int64_t n_rows, n_columns, n_chunks;
    int64_t bytes;       /* fed */
    char sha256[65];     /* of the bytes fed */
    char content[80];    /* "b2:<hex>": BLAKE2b over column names, types and values */
    const char *columns; /* JSON array as API.md shows it */
    const char *notes;   /* JSON object: format, delimiter, header, missing tokens, warnings */
};
/* The body is complete: flushes the last chunk, settles the types, computes what is left. May take time (pool thread). */
bool wire_table_end(struct wire_table *t, struct wire_table_summary *out, struct problem *problem);

/* ---- the schema of a stored table (the JSON `columns` back) -------------------------------------------------------------------------- */
struct wire_column {
    char *name;
    dn_column_type type;
    int64_t missing;
    int64_t distinct;       /* -1: unknown */
    int64_t distinct_above; /* when distinct is unknown: there are more than so many; -1: nothing is known */
    int64_t distinct_bytes; /* categorical: of text in the distinct values; -1: unknown */
    double minimum, maximum;
};
struct wire_schema {
    size_t n;
    struct wire_column *columns;
};
bool wire_schema_parse(const char *columns_json, struct wire_schema *out,
                       struct problem *problem); /* PROBLEM_INTERNAL: the stored text is damaged */
void wire_schema_done(struct wire_schema *s);
ptrdiff_t wire_schema_find(const struct wire_schema *s, const char *name); /* -1: none */

/* ---- writing rows ------------------------------------------------------------------------------------------------------------------ */
enum wire_row_format { WIRE_ROWS_JSON, WIRE_ROWS_CSV, WIRE_ROWS_NDJSON };
/* Rows first … first + n - 1 of one decoded chunk (views of the same n_rows), as objects ({"a":1,…}), CSV lines or NDJSON lines. JSON: items separated by commas, `begun` says whether an item was
 * written before. Numbers shortest, missing as null or empty. */
void wire_rows_write(enum wire_row_format format, const dn_column_view *views, const char *const *names, size_t n_columns, size_t first,
                     size_t n, bool begun, struct buf *out);
void wire_csv_header(const char *const *names, size_t n_columns, struct buf *out);

/* ---- instances: bodies of prediction calls ------------------------------------------------------------------------------------------ */
/* Raw rows [n × n_inputs] as encoder.h defines them, and for evaluate the class index of each. */
struct wire_instances {
    size_t n, n_inputs;
    double *raw;     /* malloc'ed */
    size_t *label;   /* [n] class index, SIZE_MAX: missing; NULL unless labels were asked for */
    size_t capacity; /* rows allocated */
};
void wire_instances_done(struct wire_instances *in);
enum wire_instances_format { WIRE_INSTANCES_SNIFF, WIRE_INSTANCES_JSON, WIRE_INSTANCES_CSV };
bool wire_instances_format(const char *media_type, enum wire_instances_format *out);
/* {"instances":[[…],…]} or [{…},…] under "instances", or CSV (header optional: a first line that names inputs). labelled: the target column is expected too (objects and CSV with header, or
 * the last value of an array / CSV line). Every fault with its place: {"pointer":"/instances/3/petal_length"} or line and column of CSV; PROBLEM_INVALID_INSTANCES. A number that is not finite, text
 * for a number, too few, too many, unknown or repeated columns: faults. Missing: null, absent key, empty cell. Numbers go straight into the matrix: no tree. */
bool wire_instances_read(const char *body, size_t size, enum wire_instances_format format, const dn_model *model, bool labelled,
                         struct wire_instances *out, struct problem *problem);
/* One row from name/value pairs (the query string): names and values as given. */
bool wire_instances_pairs(const char *const *names, const char *const *values, size_t n, const dn_model *model, struct wire_instances *out,
                          struct problem *problem);

/* ---- answers of prediction calls ------------------------------------------------------------------------------------------------------- */
/* What an answer tells of each row. */
enum wire_output {
    WIRE_LABEL = 1,
    WIRE_PROBABILITIES = 2,
    WIRE_SCORES = 4,
    WIRE_DISTANCE = 8,
    WIRE_CONTRIBUTIONS = 16,
    WIRE_AMBIGUOUS = 32,
    WIRE_LOG_DENSITY = 64
};
/* An answer while it is written. One thread. */
struct wire_predictions {
    const dn_model *model;
    unsigned outputs;   /* wire_output bits */
    struct buf *out;    /* the caller's */
    struct buf classes; /* the classes as JSON, one after the other */
    size_t *class_end;  /* [n] where that of class k ends */
    bool begun;         /* a row was written */
};
/* {"model":…,"version":…,"classes":[…],"predictions":[ … ]}, some rows at a time; with contributions the names of the features and the intercepts stand once before the
 * rows. A failure of memory is out's. Every begin has its end.
 * rows: label for label and ambiguous, otherwise the array of each output; log_density NULL for a model without, which is null. candidates where a rule may choose none:
 * such a row has "ambiguous":true and its "candidates" whenever its label or its ambiguity is told. out_of_support where a row may be so: "out_of_support":true, and false beside
 * a log_density. Numbers that are not finite are null. */
void wire_predictions_begin(struct wire_predictions *p, const dn_model *model, const char *name, int64_t version, unsigned outputs,
                            struct buf *out);
void wire_predictions_rows(struct wire_predictions *p, size_t n, const dn_prediction *rows);
void wire_predictions_end(struct wire_predictions *p);
/* The names of all features as a JSON array. */
void wire_feature_names_write(const dn_encoder *encoder, struct buf *out);
/* Numbers as a JSON array. */
void wire_numbers_write(const double *x, size_t n, struct buf *out);
/* A class as JSON: number, boolean or string, by the target's type. */
void wire_class_write(const dn_classes *classes, size_t k, struct buf *out);

#endif
