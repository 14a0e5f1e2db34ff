/* A cache of kernel rows in single precision; the row that was not used for longest is replaced.
 * The columns are the active variables, whose number decreases while rows are kept. Private to
 * smo_rows.c. */
#ifndef DNI_ROW_CACHE_H
#define DNI_ROW_CACHE_H

#include "base/layout.h"

#include <stdbool.h>
#include <stdint.h>

#define DNI_NO_PLACE UINT32_MAX /* place of a variable that is not active */

struct dni_row_slot;

typedef struct dni_row_cache {
    float *kept;                /* [n_slots × n_active] */
    size_t n_floats;            /* size of `kept` */
    struct dni_row_slot *slots; /* [n + 1]; 0 is the head of the ring, 1 … n_slots hold rows */
    uint32_t *slot_of;          /* [n] the variable's slot, or 0 */
    size_t n, n_slots, n_active;
} dni_row_cache;

typedef struct dni_row_cache_shape {
    size_t n;        /* variables */
    size_t n_floats; /* room for rows; at most n rows of n are ever kept */
} dni_row_cache_shape;

/* The shape of a cache of n variables with so many bytes for rows. */
dni_row_cache_shape dni_row_cache_shape_of(size_t n, double bytes);
/* Reserves the arrays; a dni_layout_fn of dni_row_cache_shape and dni_row_cache. */
void dni_row_cache_layout(dni_layout *layout, const void *shape, void *cache);
/* Empties a cache whose arrays are reserved; all variables are active. */
void dni_row_cache_init(dni_row_cache *cache, const dni_row_cache_shape *shape);

/* Returns the row of a variable. *known: it holds the row; else the caller computes it. NULL: there
 * is no room for a row. */
float *dni_row_cache_get(dni_row_cache *cache, size_t variable, bool *known);
/* Empties the cache. Rows have n_active columns from now on. */
void dni_row_cache_clear(dni_row_cache *cache, size_t n_active);
/* Removes the columns of variables that are not among active [n_active] from the rows. place [n]
 * holds the columns' positions before. The freed memory is used for further rows first. */
void dni_row_cache_narrow(dni_row_cache *cache, const uint32_t *active, size_t n_active,
                          const uint32_t *place);
/* Frees the rows of variables without a place, which are replaced first. */
void dni_row_cache_drop(dni_row_cache *cache, const uint32_t *place);

#endif
