/* The set of indices of a sparse column that are features: all of them or a list. Feature k of
 * the input is the k-th index of the set. Lookup takes one bucket and a binary search within it. */
#ifndef DNI_INDEX_SET_H
#define DNI_INDEX_SET_H

#include "base/bytes.h"
#include <discern/encoder.h>

/* Immutable. {0} is the empty set. */
typedef struct dni_index_set {
    size_t width;    /* width of the column */
    size_t n;        /* number of indices in the set */
    uint32_t *index; /* [n] ascending; NULL: all indices of the column */
    /* [n_buckets + 1] position in `index` of the first index >= bucket << shift */
    uint32_t *start;
    unsigned shift; /* chosen so that a bucket has one or two indices */
} dni_index_set;

/* Creates the set of the indices that pass a filter, which must be valid
 * (dn_index_filter_is_valid). Memory: 8 to 16 bytes for each index, none if all pass. Errors:
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_index_set_init(dni_index_set *set, const dn_index_filter *filter,
                                         size_t width, dn_error *err);
void dni_index_set_done(dni_index_set *set);
/* Returns the bytes of memory that the set uses. */
size_t dni_index_set_bytes(const dni_index_set *set);

/* Appends u8 dn_index_filter_kind; unless that is DN_INDICES_ALL, u64 n and u32 index[n], the
 * kept or the dropped indices, whichever are fewer. */
void dni_index_set_write(const dni_index_set *set, dni_writer *writer);
/* Reads a set for a column of the given width.
 *
 *   n_features  number of features of the sets read before; this set's are added
 *
 * Errors: DN_ERR_CORRUPT if the bytes are cut short, if indices do not ascend, exceed the column or
 * leave no feature, or if dropped indices leave more features than DN_MAX_DENSE_FEATURES and the
 * bytes that follow; DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_index_set_read(dni_reader *reader, size_t width, double *n_features,
                                         dni_index_set *set, dn_error *err);

/* Returns the position of an index in the set; SIZE_MAX: it is not in the set. */
static inline size_t dni_index_set_find(const dni_index_set *set, size_t index) {
    if (set->index == NULL || index >= set->width) {
        return index < set->width ? index : SIZE_MAX;
    }
    size_t low = set->start[index >> set->shift], end = set->start[(index >> set->shift) + 1],
           high = end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->index[middle] < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && set->index[low] == index ? low : SIZE_MAX;
}

/* Returns the k-th index of the set, k < n. */
static inline size_t dni_index_set_at(const dni_index_set *set, size_t k) {
    return set->index == NULL ? k : set->index[k];
}

#endif
