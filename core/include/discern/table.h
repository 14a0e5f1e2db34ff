/* Tables of typed columns: encoded column chunks, and sources that provide them.
 *
 * A table is a sequence of chunks of rows; a column chunk contains the cells of one column in one
 * chunk. The logical type of a column is a property of the table. A column chunk of numbers also
 * stores the text of each cell whose text cannot be derived from the number ("007", "1.50", "+3",
 * "1e2"). A column can therefore become categorical or text later: decoding the chunk as strings
 * gives the original texts. */
#ifndef DISCERN_TABLE_H
#define DISCERN_TABLE_H

#include <discern/api.h>
#include <discern/datetime.h>
#include <discern/number.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

typedef enum dn_column_type {
    DN_NUMERIC,
    DN_BOOLEAN,
    DN_CATEGORICAL,
    DN_TEXT,
    DN_SPARSE,  /* sparse vectors, such as the features of an svmlight file */
    DN_DATETIME /* dates and times of one form (datetime.h) */
} dn_column_type;

/* Returns the name of a type: "numeric", "boolean", "categorical", "text", "sparse",
 * "datetime". Static strings. */
const char *dn_column_type_name(dn_column_type type);
/* Returns false if there is no type with this name. */
bool dn_column_type_parse(const char *name, dn_column_type *out);

/* Returns true if the cells are numbers of any size, which can be standardised. */
static inline bool dn_column_type_is_real(dn_column_type type) {
    return type == DN_NUMERIC || type == DN_DATETIME;
}

/* A list of n byte strings: string i is bytes[start[i]] ... bytes[start[i + 1]] - 1; start has n +
 * 1 elements. UTF-8, without terminating NULs. */
typedef struct dn_strings {
    size_t n;
    const uint32_t *start;
    const char *bytes;
} dn_strings;

#define DN_CODE_MISSING UINT32_MAX

/* The cells of a column chunk, by the logical type of the column. The arrays belong to a
 * dn_column_chunk or to a dn_table_source.
 *
 *   DN_NUMERIC, DN_BOOLEAN   number[n_rows]; NaN: missing. Booleans are 0 and 1
 *   DN_DATETIME              number[n_rows]: seconds (dn_datetime_parse); NaN: missing
 *   DN_CATEGORICAL, DN_TEXT  code[n_rows]: indices into `strings`, which has the chunk's strings in
 *                            order of first appearance; DN_CODE_MISSING: missing. The strings are
 *                            distinct for DN_CATEGORICAL and may repeat for DN_TEXT
 *   DN_SPARSE                row i has the entries k = row_start[i] ... row_start[i + 1] - 1: the
 *                            value number[k] at index index[k]. Indices ascend strictly within a
 *                            row. Elements without an entry are 0; an entry may also be 0. There
 *                            are no missing values */
typedef struct dn_column_view {
    dn_column_type type;
    size_t n_rows;
    const double *number;
    const uint32_t *code;
    dn_strings strings;
    const size_t *row_start; /* DN_SPARSE: [n_rows + 1], from 0 */
    const uint32_t *index;   /* DN_SPARSE: indices of entries */
} dn_column_view;

/* ---- encoding a column chunk ---- */
/* A column chunk under construction, to which cells are appended. A heap object used by one
 * thread.
 *
 * The encoded bytes are little-endian and have a version number. They have no checksum: the file
 * that contains them must have one. If all numbers are small integers they are stored as u8, i16
 * or i32, otherwise as f64. */
typedef struct dn_column_builder dn_column_builder;
DN_MUST_USE dn_status dn_column_builder_new(dn_column_builder **out, dn_error *err);
void dn_column_builder_free(dn_column_builder *builder); /* NULL is allowed */

/* Appends a number.
 *
 *   value     NaN: missing. DN_ERR_ARGUMENT for an infinity
 *   spelling  [length] the text of the cell, or NULL for dn_number_format(value). It is stored only
 *             if it differs from dn_number_format(value) padded with zeros like the other numbers
 *             of the chunk ("1.50") */
DN_MUST_USE dn_status dn_column_builder_number(
    dn_column_builder *builder, double value, const char *spelling, size_t length, dn_error *err);

/* Appends n numbers. Equivalent to dn_column_builder_number for each, but faster if `decimals` is
 * the padding of the chunk. On failure some of them may have been appended.
 *
 *   values    values[0], values[stride], ...; NaN: missing
 *   decimals  the text of each number without an exponent is dn_number_format padded with zeros to
 *             this number of digits after the point; 0: not padded */
DN_MUST_USE dn_status dn_column_builder_numbers(dn_column_builder *builder,
                                                const double *values,
                                                size_t stride,
                                                size_t n,
                                                unsigned decimals,
                                                dn_error *err);

/* Returns the padding of the chunk: the number of digits after the point of every number whose
 * text is not stored. 0 until the first number that is padded; then constant until the chunk is
 * encoded. */
unsigned dn_column_builder_padding(const dn_column_builder *builder);

/* Append a string, and a missing cell. */
DN_MUST_USE dn_status dn_column_builder_string(dn_column_builder *builder,
                                               const char *text,
                                               size_t length,
                                               dn_error *err);
DN_MUST_USE dn_status dn_column_builder_missing(dn_column_builder *builder, dn_error *err);

/* Appends a row of a DN_SPARSE column. All rows of such a column must be appended by this
 * function.
 *
 *   index  [n] indices of the entries, strictly ascending
 *   value  [n] finite
 *
 * DN_ERR_ARGUMENT if the row breaks these rules. */
DN_MUST_USE dn_status dn_column_builder_entries(dn_column_builder *builder,
                                                const uint32_t *index,
                                                const double *value,
                                                size_t n,
                                                dn_error *err);

size_t dn_column_builder_n_rows(const dn_column_builder *builder);
/* Returns the approximate memory in use, in bytes. */
size_t dn_column_builder_bytes(const dn_column_builder *builder);

/* Encodes the chunk. The caller frees *out with free(). The builder is empty afterwards and keeps
 * its memory. */
DN_MUST_USE dn_status dn_column_builder_encode(dn_column_builder *builder,
                                               void **out,
                                               size_t *out_size,
                                               dn_error *err);

/* ---- decoding a column chunk ---- */
/* The memory of a decoded chunk. Every call of dn_column_chunk_decode reuses it; it is reallocated
 * only to grow. A heap object used by one thread. */
typedef struct dn_column_chunk dn_column_chunk;
DN_MUST_USE dn_status dn_column_chunk_new(dn_column_chunk **out, dn_error *err);
void dn_column_chunk_free(dn_column_chunk *chunk); /* NULL is allowed */
/* Returns the number of bytes that `chunk` has allocated. */
size_t dn_column_chunk_memory(const dn_column_chunk *chunk);

/* Decodes a chunk as a column of a logical type. *out is valid until the next call with the same
 * `chunk` or dn_column_chunk_free.
 *
 * Numbers decoded as strings give the original texts. Strings decoded as DN_NUMERIC must be
 * numbers; as DN_BOOLEAN they must be true, false, 0 or 1 in upper or lower case. Spaces and tabs
 * around them are allowed.
 *
 * DN_DATETIME needs a form: see dn_column_chunk_decode_datetime.
 *
 * DN_ERR_CORRUPT if the bytes are inconsistent; no byte outside of them is read. DN_ERR_DATA if a
 * cell does not have the type; err->row is its row in the chunk, from 0. DN_ERR_DATA if only the
 * chunk or only the type is sparse. */
DN_MUST_USE dn_status dn_column_chunk_decode(dn_column_chunk *chunk,
                                             const void *bytes,
                                             size_t size,
                                             dn_column_type type,
                                             dn_column_view *out,
                                             dn_error *err);

/* Decodes a chunk of strings as a DN_DATETIME column whose cells have this form, with or without
 * blanks around them. The form must be decided. Otherwise as dn_column_chunk_decode. */
DN_MUST_USE dn_status dn_column_chunk_decode_datetime(dn_column_chunk *chunk,
                                                      const void *bytes,
                                                      size_t size,
                                                      const dn_datetime_form *form,
                                                      dn_column_view *out,
                                                      dn_error *err);
/* Decodes such a chunk as a DN_CATEGORICAL column of a part of the dates, which is not
 * DN_PART_NONE. */
DN_MUST_USE dn_status dn_column_chunk_decode_part(dn_column_chunk *chunk,
                                                  const void *bytes,
                                                  size_t size,
                                                  const dn_datetime_form *form,
                                                  dn_date_part part,
                                                  dn_column_view *out,
                                                  dn_error *err);

/* Appends all cells of an encoded chunk to a builder, each with its original text.
 *
 *   scratch  memory for decoding
 *
 * DN_ERR_ARGUMENT if only the builder or only the chunk is sparse. On failure some cells may have
 * been appended. */
DN_MUST_USE dn_status dn_column_builder_chunk(dn_column_builder *builder,
                                              dn_column_chunk *scratch,
                                              const void *bytes,
                                              size_t size,
                                              dn_error *err);

/* ---- table sources ---- */
typedef struct dn_table_column {
    const char *name; /* UTF-8, NUL-terminated, unique in the table */
    dn_column_type type;
    size_t width; /* DN_SPARSE: all indices are < width; otherwise 0 */

    /* DN_SPARSE: the feature of index j is named "<name><first_index + j>" ("f1") */
    uint32_t first_index;
    dn_datetime_form form; /* DN_DATETIME, or `part` is set: the form of its cells; otherwise {0} */
    /* DN_CATEGORICAL: the categories are this part of a column of dates (dn_date_part_format). The
     * name is that of the column, a colon, and the name of the part: "sold:month". DN_PART_NONE:
     * the column is none of these */
    dn_date_part part;
} dn_table_column;

/* A table that provides column chunks. The source chooses the chunk borders; results do not depend
 * on them. */
typedef struct dn_table_source dn_table_source;
struct dn_table_source {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n_rows, n_cols, n_chunks;
    const dn_table_column *columns; /* [n_cols] */
    const size_t *chunk_first_row;  /* [n_chunks + 1], ascending from 0 to n_rows */
    size_t n_slots;                 /* number of slots, >= 1: calls with different slots may run
                                     * concurrently */

    /* Provides column `column` of chunk `chunk`, decoded by its logical type. *out is valid until
     * the next call with the same slot and column. Concurrent calls must use different slots. */
    dn_status (*column)(const dn_table_source *source,
                        size_t chunk,
                        size_t column,
                        size_t slot,
                        dn_column_view *out,
                        dn_error *err);
    void *ctx; /* for the implementation's use */
};

/* Makes a source with one chunk from arrays in memory, which are not copied and must outlive the
 * source.
 *
 *   columns  [n_cols] DN_SPARSE columns need a width
 *   views    [n_cols] the cells, n_rows each
 *   out      heap object; the caller frees it with dn_table_source_free
 *
 * DN_ERR_ARGUMENT if a view has another type or number of rows than its column, or if the indices
 * of a sparse row do not ascend strictly below the width of the column. All indices are checked
 * once. */
DN_MUST_USE dn_status dn_table_source_from_columns(const dn_table_column *columns,
                                                   const dn_column_view *views,
                                                   size_t n_cols,
                                                   size_t n_rows,
                                                   dn_table_source **out,
                                                   dn_error *err);
/* Frees a source made by dn_table_source_from_columns. NULL is allowed. */
void dn_table_source_free(dn_table_source *source);

DN_END_DECLS

#endif
