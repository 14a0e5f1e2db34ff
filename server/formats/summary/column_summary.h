/* The summary of a column: moments, distinct values, ranks, words, and the digest of the values.
 * The column's chunks are added in row order. The result depends on the sequence of the values, not
 * on how it is cut into chunks. (Only a lack of memory for counts can make it depend on the cuts:
 * column_summary_drop_counts.)
 *
 * Values are counted exactly while at most TALLY_MAX are different. Then the counts are converted
 * to sketches, and further values are added to the sketches. */
#ifndef WIRE_COLUMN_SUMMARY_H
#define WIRE_COLUMN_SUMMARY_H

#include "base/hash.h"
#include "base/json_write.h"
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

/* Columns of a table for which quantiles and histograms are kept; more of them have none: they
 * would be most of a description of many MB. */
#define COLUMN_SUMMARY_MAX_RANKED 2000

struct column_summary {
    size_t n_columns; /* of the table, which share the memory for sketches; 0: 1. Set before the
                         first value */
    bool wordless; /* words will not be asked for: the column was declared categorical. Set before
                      the first value */
    struct hash_blake2b *digest; /* of the values; NULL before the first */
    int64_t n_rows, missing;
    struct moments moments; /* numeric: of all complete blocks; column_summary_moments has all */
    double *rest; /* [column_summary_block] numeric: rows after the last complete block, NaN:
                     missing; NULL: there were none */
    size_t n_rest;
    struct number_tally numbers; /* numeric, while counted exactly */
    struct tally texts;          /* categorical, text, while counted exactly */
    int64_t truths[2];           /* boolean: how many false, true */
    bool estimated;              /* not counted exactly any longer: what follows holds the values */
    bool many;    /* with it: more than TALLY_MAX are different, whether or not memory was short */
    bool dropped; /* with it: column_summary_drop_counts was called */
    bool recounted; /* with it: the distinct texts were counted again (table_recount.c). Not saved
                     */
    size_t n_distinct, distinct_bytes; /* recounted: number and bytes of the distinct texts */
    struct distinct_sketch distinct;   /* of numbers or texts */
    struct number_sample *sample; /* of numbers, in a table of few enough columns; NULL: none */
    struct column_words *words;   /* of texts, unless wordless; NULL: none */
    struct sparse_summary sparse; /* of a sparse column */
};

void column_summary_done(struct column_summary *s);
void column_summary_reset(
    struct column_summary *s); /* as before the first chunk; n_columns and wordless stay */
/* The view's type decides what is counted; it must be the same in every call (missing apart).
 * false: no memory. */
bool column_summary_add(struct column_summary *s, const dn_column_view *view);
/* n rows that are missing, before any view was added; `type` as the views'. */
bool column_summary_add_missing(struct column_summary *s, dn_column_type type, int64_t n);
/* Memory of exact counts; of sketches; and giving the counts up for sketches, which frees the
 * former (false: no memory, nothing was given up). */
size_t column_summary_counts_memory(const struct column_summary *s);
size_t column_summary_sketch_memory(const struct column_summary *s);
bool column_summary_drop_counts(struct column_summary *s);
/* Distinct values but missing; -1: not known exactly. */
int64_t column_summary_distinct(const struct column_summary *s, dn_column_type type);
/* The numbers in order with their counts, about when they are `estimated`; malloc'ed, *n of them.
 * NULL: no memory. Not in a table of so many columns that there are no ranks. */
struct number_count *column_summary_numbers(const struct column_summary *s, size_t *n);
/* Appends the column's JSON object as the API shows it; a sparse or other column's owner may add
 * members and ends it. No memory: the writer's buffer has failed. */
void column_summary_write(const struct column_summary *s, const char *name, dn_column_type type,
                          struct json_writer *w);
/* The moments of all numbers. */
struct moments column_summary_moments(const struct column_summary *s);
/* The digest of the values; ends it. false: no memory. */
bool column_summary_digest(struct column_summary *s, uint8_t out[HASH_BLAKE2B_SIZE]);

/* ---- inside column_summary*.c ---- */
/* Bytes of BLOCK forms at most; what is written as missing. */
enum { COLUMN_BLOCK = 512, COLUMN_TAG_MISSING = 240 };
bool column_summary_add_numbers(struct column_summary *s, const double *x, size_t n_rows);
/* Rows of a block, over which moments are computed. Blocks are counted from the column's first row,
 * so that the moments do not depend on the chunks. At most COLUMN_BLOCK; fewer in a table of many
 * columns. */
size_t column_summary_block(const struct column_summary *s);
/* The column begins with n missing numbers: counts their blocks. false: no memory. */
bool column_summary_begin_missing(struct column_summary *s, int64_t n);
/* Sketches of the sizes that n_columns allow. false: no memory. */
bool column_summary_begin_distinct(const struct column_summary *s, struct distinct_sketch *out);
struct column_words *column_summary_new_words(const struct column_summary *s); /* NULL: no memory */
bool column_summary_drop_numbers(struct column_summary *s);
/* There are quantiles and a histogram of numbers. */
static inline bool column_summary_is_ranked(const struct column_summary *s) {
    return s->n_columns <= COLUMN_SUMMARY_MAX_RANKED;
}

#endif
