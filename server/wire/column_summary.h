/* What the summary of a column is made from: moments, distinct values, the digest of the values. Fed the column's chunks in order; the result does not depend on their borders
 * (but the last bits of the moments do, and the borders depend on the body only). */
#ifndef WIRE_COLUMN_SUMMARY_H
#define WIRE_COLUMN_SUMMARY_H

#include "base/hash.h"
#include "base/json_write.h"
#include "wire/tally.h"
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moments {
    int64_t n;
    double minimum, maximum, mean;
    double m2; /* sum of squared distances from the mean */
};

struct column_summary {
    struct hash_blake2b *digest; /* of the values; NULL before the first */
    int64_t n_rows, missing;
    struct moments moments;    /* numeric */
    struct number_set numbers; /* numeric: distinct */
    struct tally texts;        /* categorical, text: distinct and counts */
    int64_t truths[2];         /* boolean: how many false, true */
};

void column_summary_done(struct column_summary *s);
void column_summary_reset(struct column_summary *s); /* as before the first chunk */
/* The view's type decides what is counted; it must be the same in every call (missing apart). false: no memory. */
bool column_summary_add(struct column_summary *s, const dn_column_view *view);
/* n rows that are missing, before any view was added; `type` as the views'. */
bool column_summary_add_missing(struct column_summary *s, dn_column_type type, int64_t n);
/* Memory of the counts of distinct values; and giving that up ("distinct" becomes unknown). */
size_t column_summary_counts_memory(const struct column_summary *s);
void column_summary_drop_counts(struct column_summary *s);
/* Distinct values but missing; -1: unknown. */
int64_t column_summary_distinct(const struct column_summary *s, dn_column_type type);
/* Appends the column's JSON object as the API shows it. */
void column_summary_write(const struct column_summary *s, const char *name, dn_column_type type, struct json_writer *w);
/* The digest of the values; ends it. false: no memory. */
bool column_summary_digest(struct column_summary *s, uint8_t out[HASH_BLAKE2B_SIZE]);

#endif
