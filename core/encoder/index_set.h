/* Which filter of a sparse column are features: all, or a set of them. Feature k of the input is the k-th index of the set. */
#ifndef DNI_INDEX_SET_H
#define DNI_INDEX_SET_H

#include "base/bytes.h"
#include <discern/encoder.h>

/* Immutable once made. {0} is the set of no index. */
typedef struct dni_index_set {
    size_t width;    /* filter of the column */
    size_t n;        /* … in the set */
    uint32_t *index; /* [n] ascending; NULL: the set is all of them */
    uint32_t *start; /* [buckets + 1] of `index`: where the filter from bucket << shift on begin */
    unsigned shift;  /* about as many buckets as filter: finding one takes a look at one or two */
} dni_index_set;

/* Those of a column of so many filter; `filter` as dn_encoder_check found it well. 8 to 16 bytes a index unless it is all of them. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_index_set_init(dni_index_set *set, const dn_index_filter *filter,
                                         size_t width, dn_error *err);
void dni_index_set_done(dni_index_set *set);
/* Bytes of memory that it holds. */
size_t dni_index_set_bytes(const dni_index_set *set);

/* As bytes: u8 dn_index_filter_kind, and of kept or dropped filter u64 n, u32 index[n], whichever are fewer. */
void dni_index_set_write(const dni_index_set *set, dni_writer *writer);
/* Of a column of so many filter. *n_features: of the sets read before, and this one's are added; where only dropped filter are listed they must be no more than the bytes that follow tell of.
 * DN_ERR_CORRUPT: cut short, filter that do not ascend, are beyond the column, or leave none; DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_index_set_read(dni_reader *reader, size_t width, double *n_features,
                                         dni_index_set *set, dn_error *err);

/* Which of the set's filter it is; SIZE_MAX: none. */
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

/* The k-th of them, k < n. */
static inline size_t dni_index_set_at(const dni_index_set *set, size_t k) {
    return set->index == NULL ? k : set->index[k];
}

#endif
