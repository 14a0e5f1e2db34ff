/* The summary of a sparse column: its entries and width, and the moments of each of its places as
 * long as there are at most TABLE_MAX_COLUMNS of them. The column's chunks are added in row order;
 * the result does not depend on how the rows are cut into chunks. */
#ifndef FORMATS_SPARSE_SUMMARY_H
#define FORMATS_SPARSE_SUMMARY_H

#include "base/hash.h"
#include "base/json/json_write.h"
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The moments of the entries of a place. Rows without an entry there are not included. */
struct sparse_place {
    int64_t n, nonzero;      /* entries; entries that are not 0 */
    double minimum, maximum; /* when n > 0 */
    double mean;
    double m2; /* sum of squared distances from the mean */
};

struct sparse_summary {
    uint32_t first; /* index of place 0; set by the owner */
    size_t width;   /* all places are below it; the owner may raise it */
    int64_t entries;
    struct sparse_place *place; /* [n_places]; NULL: the column is wider than TABLE_MAX_COLUMNS */
    size_t n_places;
};

void sparse_summary_done(struct sparse_summary *s);
/* Adds a chunk. Entries that are +0 are left out of the digest, so that they equal absent ones; -0
 * is a different value. false: no memory. */
bool sparse_summary_add(struct sparse_summary *s, const dn_column_view *view,
                        struct hash_blake2b *digest);
/* Writes {"name":…,"type":"sparse","missing":0,"first":…,"width":…,"entries":…,
 * "features":{"nonzero":[…],"min":[…],"max":[…],"mean":[…],"std":[…]} and leaves the object open.
 * The figures are over n_rows rows, in which absent entries are 0. "features" is left out if the
 * width is above TABLE_MAX_COLUMNS. */
void sparse_summary_write(const struct sparse_summary *s, const char *name, int64_t n_rows,
                          struct json_writer *w);

#endif
