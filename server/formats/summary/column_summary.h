/* The summary of a column: moments, distinct values, ranks, words, and the digest of the values.
 * The column's chunks are added in row order. The result depends on the sequence of the values, not
 * on how the rows are divided into chunks. (Exception: if the counts need too much memory, the
 * division can matter: column_summary_drop_counts.)
 *
 * Values are counted exactly while at most TALLY_MAX of them are different. After that the counts
 * are converted to sketches, and further values are added to the sketches. */
#ifndef FORMATS_COLUMN_SUMMARY_H
#define FORMATS_COLUMN_SUMMARY_H

#include "base/hash.h"
#include "base/json/json_write.h"
#include "formats/summary/column_words.h"
#include "formats/summary/number_sample.h"
#include "formats/summary/number_tally.h"
#include "formats/summary/sparse_summary.h"
#include "formats/summary/tally.h"
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moments {
    int64_t n;
    double minimum, maximum, mean;
    double m2; /* sum of squared distances from the mean */
};

/* A table with more columns has no quantiles and histograms, which would make the description of
 * the table many MB long. */
#define COLUMN_SUMMARY_MAX_RANKED 2000

struct column_summary {
    /* number of columns of the table, which share the memory for sketches; 0 means 1. Set before
     * the first value */
    size_t n_columns;
    /* words are not counted: the column was declared categorical. Set before the first value */
    bool wordless;
    struct hash_blake2b *digest; /* digest of the values; NULL: no value was added */
    int64_t n_rows, missing;
    /* numeric: moments of the complete blocks. column_summary_moments includes `rest` */
    struct moments moments;
    /* [column_summary_block] numeric: the rows after the last complete block, NaN if missing; NULL:
     * not allocated */
    double *rest;
    size_t n_rest;
    /* numeric: row i has the number first + i, for all rows so far; a whole number */
    bool counts_up;
    double first;
    /* numeric: some numbers are no dates YYYYMMDD of the years 1900 to 2100. Not saved */
    bool undated;
    struct number_tally numbers; /* numeric: exact counts */
    struct tally texts;          /* categorical, text: exact counts */
    int64_t truths[2];           /* boolean: number of false cells, number of true cells */
    bool estimated;              /* the exact counts were converted to sketches */
    bool many;                   /* estimated: there are more than TALLY_MAX different values */
    /* estimated: the counts were converted by column_summary_drop_counts */
    bool dropped;
    /* estimated: the distinct texts were counted again (table_recount.c). Not saved */
    bool recounted;
    /* if `recounted`: number of distinct texts, and their bytes */
    size_t n_distinct, distinct_bytes;
    struct distinct_sketch distinct; /* sketch of the distinct numbers or texts */
    /* sample of the numbers; NULL: exact counts, or not ranked (column_summary_is_ranked) */
    struct number_sample *sample;
    struct column_words *words;   /* words of the texts; NULL: exact counts, or `wordless` */
    struct sparse_summary sparse; /* summary of a sparse column */
};

void column_summary_done(struct column_summary *s);
/* Removes all values; n_columns and wordless keep their values. */
void column_summary_reset(struct column_summary *s);
/* Adds a chunk. All chunks must have the same type. Returns false if out of memory. */
bool column_summary_add(struct column_summary *s, const dn_column_view *view);
/* Adds n missing rows, before the first chunk; `type` is the type of the chunks. Returns false if
 * out of memory. */
bool column_summary_add_missing(struct column_summary *s, dn_column_type type, int64_t n);
/* Returns the number of rows whose text is a number; 0 if the texts are not counted exactly. */
int64_t column_summary_number_texts(const struct column_summary *s);
/* Memory of the exact counts and of the sketches, in bytes. column_summary_drop_counts converts the
 * counts to sketches, which saves memory; it returns false if out of memory, and then changes
 * nothing. */
size_t column_summary_counts_memory(const struct column_summary *s);
size_t column_summary_sketch_memory(const struct column_summary *s);
bool column_summary_drop_counts(struct column_summary *s);
/* Returns the number of distinct values, not counting missing ones; -1 if it is not known
 * exactly. */
int64_t column_summary_distinct(const struct column_summary *s, dn_column_type type);
/* Returns the distinct numbers in ascending order with their counts (estimated: the sample),
 * malloc'ed; *n: their number. Returns NULL if out of memory. The column must be ranked. */
struct number_count *column_summary_numbers(const struct column_summary *s, size_t *n);
/* Writes the column's JSON object and leaves it open: the caller may add members and must end it.
 * If out of memory, the writer's buffer fails. */
void column_summary_write(const struct column_summary *s, const char *name, dn_column_type type,
                          const dn_datetime_form *form, struct json_writer *w);
/* Returns the moments of all numbers. */
struct moments column_summary_moments(const struct column_summary *s);
/* Ends the digest of the values: no value may be added afterwards. Returns false if out of
 * memory. */
bool column_summary_digest(struct column_summary *s, uint8_t out[HASH_BLAKE2B_SIZE]);

/* ---- private to column_summary*.c and column_numbers.c ---- */
/* COLUMN_BLOCK: largest number of rows of a block. COLUMN_TAG_MISSING: the byte of a missing number
 * or boolean in the digest. */
enum { COLUMN_BLOCK = 512, COLUMN_TAG_MISSING = 240 };
bool column_summary_add_numbers(struct column_summary *s, const double *x, size_t n_rows);
/* Returns the number of rows of a block. Moments are computed for each block and added up. Blocks
 * are counted from the column's first row, so that the moments do not depend on the chunks. At most
 * COLUMN_BLOCK; fewer in a table of many columns. */
size_t column_summary_block(const struct column_summary *s);
/* Begins the first block of a column that begins with n missing numbers. Returns false if out of
 * memory. */
bool column_summary_begin_missing(struct column_summary *s, int64_t n);
/* Make new sketches, whose size depends on n_columns. Return false or NULL if out of memory. */
bool column_summary_begin_distinct(const struct column_summary *s, struct distinct_sketch *out);
struct column_words *column_summary_new_words(const struct column_summary *s);
bool column_summary_drop_numbers(struct column_summary *s);
/* Whether the column has quantiles and a histogram. */
static inline bool column_summary_is_ranked(const struct column_summary *s) {
    return s->n_columns <= COLUMN_SUMMARY_MAX_RANKED;
}

#endif
