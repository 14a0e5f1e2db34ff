/* Tables of typed columns: as a source that delivers chunks, and each column chunk as bytes.
 *
 * Logical types belong to the table (its schema); what a chunk holds physically is its own business: a chunk of numbers keeps the spelling of every
 * cell that the number alone cannot give back ("007", "1.50", "+3", "1e2"), so that a column that turns out to be categorical a gigabyte later costs nothing:
 * reading it as strings gives what was written. */
#ifndef DISCERN_TABLE_H
#define DISCERN_TABLE_H

#include <discern/api.h>
#include <discern/number.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

/* DN_SPARSE: a column of sparse vectors, many numbers a row of which most are 0: the features of an svmlight file are one such column. */
typedef enum dn_column_type {
    DN_NUMERIC,
    DN_BOOLEAN,
    DN_CATEGORICAL,
    DN_TEXT,
    DN_SPARSE
} dn_column_type;

/* "numeric", "boolean", "categorical", "text", "sparse"; and back (false: no such type). */
const char *dn_column_type_name(dn_column_type type);
bool dn_column_type_parse(const char *name, dn_column_type *out);

/* A list of n byte strings: string i is bytes[start[i]] … bytes[start[i + 1]] - 1; start has n + 1 elements. Not NUL-terminated. UTF-8. */
typedef struct dn_strings {
    size_t n;
    const uint32_t *start;
    const char *bytes;
} dn_strings;

#define DN_CODE_MISSING UINT32_MAX

/* One column of one chunk, as its logical type wants it. Views into a dn_column_chunk.
 *   DN_NUMERIC, DN_BOOLEAN: number[n_rows], NaN is missing (booleans 0 and 1).
 *   DN_CATEGORICAL, DN_TEXT: code[n_rows] indexes `strings`, the chunk's own list in order of first appearance (distinct for DN_CATEGORICAL; a DN_TEXT list may repeat
 *   a string), DN_CODE_MISSING is missing.
 *   DN_SPARSE: the entries of row i are k = row_start[i] … row_start[i + 1] - 1: number[k] at place[k], strictly ascending within a row; a place that has none is 0. An entry
 *   may be 0 itself; there is no missing. */
typedef struct dn_column_view {
    dn_column_type type;
    size_t n_rows;
    const double *number;
    const uint32_t *code;
    dn_strings strings;
    const size_t *row_start; /* DN_SPARSE: [n_rows + 1], from 0 */
    const uint32_t *place;   /* DN_SPARSE */
} dn_column_view;

/* ---- one column chunk as bytes -------------------------------------------------------------------------------------------------
 * Little-endian, versioned, self-describing; integrity (CRC) is the container's. Integers that fit are stored narrow (u8, i16, i32), others as f64.
 * The reader refuses (DN_ERR_CORRUPT) whatever is inconsistent; it never reads outside `bytes`, never crashes. */

/* A growing column chunk: cells are appended one by one. Heap object of one thread. */
typedef struct dn_column_builder dn_column_builder;
DN_MUST_USE dn_status dn_column_builder_new(dn_column_builder **out, dn_error *err);
void dn_column_builder_free(dn_column_builder *builder);
/* A number, with the text it was written as (spelling NULL: it was no text; the canonical spelling is understood). The builder compares and keeps the
 * text only if dn_number_format(value), padded with zeros as the rest of the chunk is ("1.50"), differs from it. NaN is missing; an infinity is DN_ERR_ARGUMENT. */
DN_MUST_USE dn_status dn_column_builder_number(
    dn_column_builder *builder, double value, const char *spelling, size_t length, dn_error *err);
/* n numbers at once, values[0], values[stride], …, NaN: missing. They were written canonically and padded with zeros to `decimals` digits behind the point (0: not padded; those with an
 * exponent never are). The same as one by one, but faster if `decimals` is the chunk's padding. On failure some of them may have been added. */
DN_MUST_USE dn_status dn_column_builder_numbers(dn_column_builder *builder,
                                                const double *values,
                                                size_t stride,
                                                size_t n,
                                                unsigned decimals,
                                                dn_error *err);
/* The chunk's padding: digits behind the point that every number has for which it keeps no text. 0: there is none up to now. From the first that there is it stays until the chunk is encoded. */
unsigned dn_column_builder_padding(const dn_column_builder *builder);
DN_MUST_USE dn_status dn_column_builder_string(dn_column_builder *builder,
                                               const char *text,
                                               size_t length,
                                               dn_error *err);
DN_MUST_USE dn_status dn_column_builder_missing(dn_column_builder *builder, dn_error *err);
/* A sparse row of n entries, places strictly ascending and values finite (DN_ERR_ARGUMENT otherwise): for a column of DN_SPARSE, all of whose rows come this way. */
DN_MUST_USE dn_status dn_column_builder_entries(dn_column_builder *builder,
                                                const uint32_t *place,
                                                const double *value,
                                                size_t n,
                                                dn_error *err);
size_t dn_column_builder_n_rows(const dn_column_builder *builder);
size_t dn_column_builder_bytes(
    const dn_column_builder *builder); /* memory in use, about: tells when a chunk is full */
/* Appends the encoded chunk to the caller's memory: *out is malloc'ed, the caller frees it. The builder is empty afterwards and keeps its memory. */
DN_MUST_USE dn_status dn_column_builder_encode(dn_column_builder *builder,
                                               void **out,
                                               size_t *out_size,
                                               dn_error *err);

/* A decoded chunk: owns what its view shows. Reused from call to call, it allocates only when it must grow. */
typedef struct dn_column_chunk dn_column_chunk;
DN_MUST_USE dn_status dn_column_chunk_new(dn_column_chunk **out, dn_error *err);
void dn_column_chunk_free(dn_column_chunk *chunk);
/* Decodes bytes as a column of logical type `type`; the view is valid until the next decode or free. Numbers read as strings give their spelling back.
 * A chunk of sparse rows is read as DN_SPARSE only, and nothing else is (DN_ERR_DATA).
 * Strings read as DN_BOOLEAN must be true/false/0/1 in any case, perhaps between spaces and tabs, as DN_NUMERIC must be numbers (DN_ERR_DATA; err->row is the first row of the chunk, from 0, that is not). */
DN_MUST_USE dn_status dn_column_chunk_decode(dn_column_chunk *chunk,
                                             const void *bytes,
                                             size_t size,
                                             dn_column_type type,
                                             dn_column_view *out,
                                             dn_error *err);

/* Appends all cells of an encoded chunk to a builder, each as it was written, so that reading the result gives what reading the one chunk behind the other gives. `room` is for decoding. A chunk
 * of sparse rows goes behind sparse rows only, and nothing else does (DN_ERR_ARGUMENT). On failure some cells may have been added. */
DN_MUST_USE dn_status dn_column_builder_chunk(dn_column_builder *builder,
                                              dn_column_chunk *room,
                                              const void *bytes,
                                              size_t size,
                                              dn_error *err);

/* ---- a table that delivers chunks ------------------------------------------------------------------------------------------------
 * Chunk borders are the source's own; the library never lets them show. `column` may be called from several threads at once with different slots. */
typedef struct dn_table_column {
    const char *name; /* UTF-8, NUL-terminated, unique in the table */
    dn_column_type type;
    size_t width; /* DN_SPARSE: places are below it; 0 otherwise */
    uint32_t
        first_place; /* DN_SPARSE: what place 0 is called: place j is the feature "<name><first_place + j>" ("f1") */
} dn_table_column;

typedef struct dn_table_source dn_table_source;
struct dn_table_source {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n_rows, n_cols, n_chunks;
    const dn_table_column *columns; /* [n_cols] */
    const size_t *chunk_first_row;  /* [n_chunks + 1], ascending from 0 to n_rows */
    size_t n_slots;                 /* slots that may be used at once; at least 1 */
    /* Column `column` of chunk `chunk` as its logical type. The view is valid until the next call with the same slot and the same column. */
    dn_status (*column)(const dn_table_source *source,
                        size_t chunk,
                        size_t column,
                        size_t slot,
                        dn_column_view *out,
                        dn_error *err);
    void *ctx; /* the implementer's */
};

/* A source over arrays in memory, for programs without a store: one chunk, the caller's views (must outlive it). n_cols columns of n_rows rows each. A sparse column needs its width,
 * above all places (DN_ERR_ARGUMENT: it is looked through once).
 * Heap object; dn_table_source_free. */
DN_MUST_USE dn_status dn_table_source_from_columns(const dn_table_column *columns,
                                                   const dn_column_view *views,
                                                   size_t n_cols,
                                                   size_t n_rows,
                                                   dn_table_source **out,
                                                   dn_error *err);
void dn_table_source_free(
    dn_table_source
        *source); /* only for one made by dn_table_source_from_columns; NULL is allowed */

DN_END_DECLS

#endif
