/* The summary of a sparse column: its entries and width, and the moments of each of its places as
 * long as there are at most WIRE_MAX_COLUMNS of them. The column's chunks are added in row order;
 * the result does not depend on how the rows are cut into chunks. */
#ifndef WIRE_SPARSE_SUMMARY_H
#define WIRE_SPARSE_SUMMARY_H

#include "base/hash.h"
#include "base/json_write.h"
#include <discern/table.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One place: of the entries that it has, not of the rows that have none there. */
struct sparse_place {
    int64_t n, nonzero;      /* entries; those that are not 0 */
    double minimum, maximum; /* when n > 0 */
    double mean;
    double m2; /* sum of squared distances from the mean */
};

struct sparse_summary {
    uint32_t first; /* what place 0 is called; set by the owner */
    size_t width;   /* places are below it; the owner may widen it */
    int64_t entries;
    struct sparse_place *place; /* [n_places]; NULL when the column has become too wide for it */
    size_t n_places;
};

void sparse_summary_done(struct sparse_summary *s);
/* false: no memory. The digest takes for each row the number of its entries and of each its place,
 * as the distance from the one before, and its value; entries that are 0 are left out, as their
 * absence says the same (-0 is a value of its own). */
bool sparse_summary_add(struct sparse_summary *s, const dn_column_view *view,
                        struct hash_blake2b *digest);
/* {"name":…,"type":"sparse","missing":0,"first":…,"width":…,"entries":…,"features":{"nonzero":[…],"min":[…],"max":[…],"mean":[…],"std":[…]},
 * the object left open: over all n_rows rows, those without an entry being 0. Without "features"
 * when there are more than WIRE_MAX_COLUMNS places. */
void sparse_summary_write(const struct sparse_summary *s, const char *name, int64_t n_rows,
                          struct json_writer *w);

#endif
