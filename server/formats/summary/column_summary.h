/* The summary of a column: moments, distinct values, ranks, words, and the digest of the values.
 * The column's chunks are added in row order. The result depends on the sequence of the values, not
 * on how it is cut into chunks. (Only a lack of memory for counts can make it depend on the cuts:
 * column_summary_drop_counts.)
 *
 * Values are counted exactly while at most TALLY_MAX are different. Then the counts are converted
 * to sketches, and further values are added to the sketches. */
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

/* Tables of more columns have no quantiles and histograms, which would make their description many
 * MB long. */
#define COLUMN_SUMMARY_MAX_RANKED 2000

struct column_summary {
    /* columns of the table, which share the memory of sketches; 0 means 1. Set before the first
     * value */
    size_t n_columns;
    /* words are not counted: the column was declared categorical. Set before the first value */
    bool wordless;
    struct hash_blake2b *digest; /* digest of the values; NULL: no value was added */
    int64_t n_rows, missing;
    /* numeric: of the complete blocks. column_summary_moments includes the rest */
    struct moments moments;
    /* [column_summary_block] numeric: the rows after the last complete block, NaN if missing; NULL:
     * not allocated */
    double *rest;
    size_t n_rest;
    struct number_tally numbers; /* numeric: exact counts */
    struct tally texts;          /* categorical, text: exact counts */
    int64_t truths[2];           /* boolean: numbers of false and true cells */
    bool estimated;              /* the exact counts were converted to the sketches below */
    bool many;                   /* estimated: more than TALLY_MAX values are certainly different */
    bool dropped;                /* estimated: by column_summary_drop_counts */
    /* estimated: the distinct texts were counted again (table_recount.c). Not saved */
    bool recounted;
    size_t n_distinct, distinct_bytes; /* recounted: number and bytes of the distinct texts */
    struct distinct_sketch distinct;   /* distinct numbers or texts */
    struct number_sample *sample;      /* of numbers; NULL: not ranked (column_summary_is_ranked) */
    struct column_words *words;        /* words of texts; NULL: wordless */
    struct sparse_summary sparse;      /* of a sparse column */
};

void column_summary_done(struct column_summary *s);
void column_summary_reset(
    struct column_summary *s); /* removes all values; n_columns and wordless stay */
/* Adds a chunk. All chunks must have the same type. false: no memory. */
bool column_summary_add(struct column_summary *s, const dn_column_view *view);
/* Adds n missing rows, before the first chunk; `type` is that of the chunks. false: no memory. */
bool column_summary_add_missing(struct column_summary *s, dn_column_type type, int64_t n);
/* Bytes of the exact counts; bytes of the sketches. drop_counts converts the counts to sketches, to
 * save memory (false: no memory; nothing is changed). */
size_t column_summary_counts_memory(const struct column_summary *s);
size_t column_summary_sketch_memory(const struct column_summary *s);
bool column_summary_drop_counts(struct column_summary *s);
/* The number of distinct values without missing ones; -1: not known exactly. */
int64_t column_summary_distinct(const struct column_summary *s, dn_column_type type);
/* The numbers in ascending order with their counts (estimated: the sample); malloc'ed, *n of them.
 * NULL: no memory. The column must be ranked. */
struct number_count *column_summary_numbers(const struct column_summary *s, size_t *n);
/* Writes the column's JSON object and leaves it open: the caller may add members and ends it. No
 * memory: the writer's buffer has failed. */
void column_summary_write(const struct column_summary *s, const char *name, dn_column_type type,
                          struct json_writer *w);
/* The moments of all numbers. */
struct moments column_summary_moments(const struct column_summary *s);
/* Ends the digest of the values: nothing may be added afterwards. false: no memory. */
bool column_summary_digest(struct column_summary *s, uint8_t out[HASH_BLAKE2B_SIZE]);

/* ---- inside column_summary*.c ---- */
/* Largest number of rows of a block; the byte of a missing number or boolean in the digest. */
enum { COLUMN_BLOCK = 512, COLUMN_TAG_MISSING = 240 };
bool column_summary_add_numbers(struct column_summary *s, const double *x, size_t n_rows);
/* Rows of a block, over which moments are computed. Blocks are counted from the column's first row,
 * so that the moments do not depend on the chunks. At most COLUMN_BLOCK; fewer in a table of many
 * columns. */
size_t column_summary_block(const struct column_summary *s);
/* Begins the blocks of a column with n missing numbers. false: no memory. */
bool column_summary_begin_missing(struct column_summary *s, int64_t n);
/* New sketches, whose size depends on n_columns. false: no memory. */
bool column_summary_begin_distinct(const struct column_summary *s, struct distinct_sketch *out);
struct column_words *column_summary_new_words(const struct column_summary *s); /* NULL: no memory */
bool column_summary_drop_numbers(struct column_summary *s);
/* Whether the column has quantiles and a histogram. */
static inline bool column_summary_is_ranked(const struct column_summary *s) {
    return s->n_columns <= COLUMN_SUMMARY_MAX_RANKED;
}

#endif
