/* Which places of a sparse column are features: all, or a set of them. Feature k of the input is the k-th place of the set. */
#ifndef DNI_PLACE_SET_H
#define DNI_PLACE_SET_H

#include "base/bytes.h"
#include <discern/encoder.h>

/* Immutable once made. {0} is the set of no place. */
typedef struct dni_place_set {
    size_t width;    /* places of the column */
    size_t n;        /* … in the set */
    uint32_t *place; /* [n] ascending; NULL: the set is all of them */
    uint32_t *start; /* [buckets + 1] of `place`: where the places from bucket << shift on begin */
    unsigned shift;  /* about as many buckets as places: finding one takes a look at one or two */
} dni_place_set;

/* Those of a column of so many places; `places` as dn_encoder_check found it well. 8 to 16 bytes a place unless it is all of them. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_place_set_init(dni_place_set *set, const dn_places *places, size_t width,
                                         dn_error *err);
void dni_place_set_done(dni_place_set *set);
/* Bytes of memory that it holds. */
size_t dni_place_set_bytes(const dni_place_set *set);

/* As bytes: u8 dn_places_kind, and of kept or dropped places u64 n, u32 place[n], whichever are fewer. */
void dni_place_set_write(const dni_place_set *set, dni_writer *writer);
/* Of a column of so many places. *n_features: of the sets read before, and this one's are added; where only dropped places are listed they must be no more than the bytes that follow tell of.
 * DN_ERR_CORRUPT: cut short, places that do not ascend, are beyond the column, or leave none; DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_place_set_read(dni_reader *reader, size_t width, double *n_features,
                                         dni_place_set *set, dn_error *err);

/* Which of the set's places it is; SIZE_MAX: none. */
static inline size_t dni_place_set_find(const dni_place_set *set, size_t place) {
    if (set->place == NULL || place >= set->width) {
        return place < set->width ? place : SIZE_MAX;
    }
    size_t low = set->start[place >> set->shift], end = set->start[(place >> set->shift) + 1],
           high = end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->place[middle] < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && set->place[low] == place ? low : SIZE_MAX;
}

/* The k-th of them, k < n. */
static inline size_t dni_place_set_at(const dni_place_set *set, size_t k) {
    return set->place == NULL ? k : set->place[k];
}

#endif
