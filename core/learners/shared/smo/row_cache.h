/* Rows in single precision that were computed once, kept as memory allows: those used last. Their columns are the active variables, which become fewer while rows are kept.
 *
 * What is kept never exceeds the bytes it was given, however few. Private to smo_rows.c. */
#ifndef DNI_ROW_CACHE_H
#define DNI_ROW_CACHE_H

#include <discern/run.h>

#define DNI_NO_PLACE UINT32_MAX /* of a variable that is not active */

struct dni_row_slot;

/* All zero: holds nothing, and may be given to _done. */
typedef struct dni_row_cache {
    const dn_run *run;
    float *kept;                /* [n_slots × n_active] */
    size_t room;                /* floats */
    struct dni_row_slot *slots; /* [n + 1], the most there can be: 1 … n_slots keep rows */
    uint32_t *slot_of;          /* [n] variable's slot; 0: none. The caller's */
    size_t n, n_slots, n_active;
} dni_row_cache;

/* For n variables, all active at first; room for [n] slot_of stays the caller's. */
DN_MUST_USE dn_status dni_row_cache_init(dni_row_cache *cache, size_t n, uint32_t *slot_of,
                                         double bytes, const dn_run *run, dn_error *err);
void dni_row_cache_done(dni_row_cache *cache);
double dni_row_cache_memory(size_t n, double bytes); /* with slot_of */

/* Where the row of a variable is, *known, or is to be put in place of the one that was not used for longest. NULL: there is no room for a row. */
float *dni_row_cache_get(dni_row_cache *cache, size_t variable, bool *known);
/* Nothing is kept any more; rows have n_active columns from now on. */
void dni_row_cache_forget(dni_row_cache *cache, size_t n_active);
/* Kept rows lose the columns of variables that are not among active [n_active]; place [n]: where these were. The room for more rows that this gives is used first. */
void dni_row_cache_narrow(dni_row_cache *cache, const uint32_t *active, size_t n_active,
                          const uint32_t *place);
/* Rows of variables without a place go; theirs are used first. */
void dni_row_cache_drop(dni_row_cache *cache, const uint32_t *place);

#endif
