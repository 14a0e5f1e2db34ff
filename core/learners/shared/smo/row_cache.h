/* A cache of kernel rows in single precision, which replaces the least recently used row. The
 * columns of a row are the active variables. When their number decreases, the cached rows are kept
 * without the other columns. Private to smo_rows.c. */
#ifndef DNI_ROW_CACHE_H
#define DNI_ROW_CACHE_H

#include "base/layout.h"

#include <stdbool.h>
#include <stdint.h>

#define DNI_NO_PLACE UINT32_MAX /* value of place[i] if variable i is not active */

struct dni_row_slot;

typedef struct dni_row_cache {
    float *kept;                /* [n_slots × n_active] */
    size_t n_floats;            /* size of `kept` */
    struct dni_row_slot *slots; /* [n + 1]; 0 is the head of the list, 1 … n_slots hold rows */
    uint32_t *slot_of;          /* [n] slot of each variable; 0: not cached */
    size_t n, n_slots, n_active;
} dni_row_cache;

typedef struct dni_row_cache_shape {
    size_t n;        /* number of variables */
    size_t n_floats; /* capacity for rows, at most n² */
} dni_row_cache_shape;

/* Returns the shape of a cache for n variables with at most `bytes` bytes of rows. */
dni_row_cache_shape dni_row_cache_shape_of(size_t n, double bytes);
/* Reserves the arrays: the dni_layout_fn of a dni_row_cache with a dni_row_cache_shape. */
void dni_row_cache_layout(dni_layout *layout, const void *shape, void *cache);
/* Initialises an empty cache in reserved arrays. All variables are active. */
void dni_row_cache_init(dni_row_cache *cache, const dni_row_cache_shape *shape);

/* Returns memory for the row of a variable. *known ← true if the memory already holds the row; if
 * false, the caller computes the row. Returns NULL, and does not set *known, if there is no memory
 * for a row. */
float *dni_row_cache_get(dni_row_cache *cache, size_t variable, bool *known);
/* Empties the cache and sets the number of columns to n_active. */
void dni_row_cache_clear(dni_row_cache *cache, size_t n_active);
/* Removes from all rows the columns of variables that are not in active [n_active]. place [n]:
 * column of each variable before the call. The freed memory becomes free slots, which are used
 * before rows are replaced. */
void dni_row_cache_narrow(dni_row_cache *cache, const uint32_t *active, size_t n_active,
                          const uint32_t *place);
/* Frees the rows of the variables i with place[i] = DNI_NO_PLACE. Their slots are used next. */
void dni_row_cache_drop(dni_row_cache *cache, const uint32_t *place);

#endif
