/* The summary of a sparse column: its entries and width, and the moments of each feature as long as
 * there are at most TABLE_MAX_COLUMNS features. The column's chunks are added in row order; the
 * result does not depend on how the rows are divided into chunks. */
#ifndef FORMATS_SPARSE_SUMMARY_H
#define FORMATS_SPARSE_SUMMARY_H

#include "base/hash.h"
#include "base/json/json_write.h"
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The moments of the entries of one feature. Rows without an entry are not included. */
struct sparse_place {
    int64_t n, nonzero;      /* number of entries; number of entries that are not 0 */
    double minimum, maximum; /* valid if n > 0 */
    double mean;
    double m2; /* sum of squared distances from the mean */
};

struct sparse_summary {
    uint32_t first; /* svmlight index of the first feature; set by the owner of the struct */
    /* number of features: 1 + the largest feature index; the owner of the struct may increase it */
    size_t width;
    int64_t entries;
    /* [n_places] moments of each feature; NULL: the column is wider than TABLE_MAX_COLUMNS, or has
     * no entries */
    struct sparse_place *place;
    size_t n_places;
};

void sparse_summary_done(struct sparse_summary *s);
/* Adds a chunk. Entries of +0 are not part of the digest, so that they equal absent entries; -0 is
 * a different value. Returns false if out of memory. */
bool sparse_summary_add(struct sparse_summary *s, const dn_column_view *view,
                        struct hash_blake2b *digest);
/* Writes {"name":…,"type":"sparse","missing":0,"first":…,"width":…,"entries":…,
 * "features":{"nonzero":[…],"min":[…],"max":[…],"mean":[…],"std":[…]} and leaves the
 * object open. The statistics are over n_rows rows, in which absent entries are 0. "features" is
 * left out if the width is above TABLE_MAX_COLUMNS. */
void sparse_summary_write(const struct sparse_summary *s, const char *name, int64_t n_rows,
                          struct json_writer *w);

#endif
