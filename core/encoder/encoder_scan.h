/* The passes over the training rows that fit scalar columns: sums, extremes, levels, moments. */
#ifndef DNI_ENCODER_SCAN_H
#define DNI_ENCODER_SCAN_H

#include "base/string_set.h"
#include "table/selection.h"

/* Statistics of a column over the training rows. v is the weight of a row; rows with weight 0 are
 * ignored. */
typedef struct dni_scan_column {
    double weight;           /* sum of v over the rows where the column is not missing */
    double sum;              /* numbers: sum of v x */
    double minimum, maximum; /* numbers: extremes; INFINITY and -INFINITY if there are no rows */
    /* second pass: (x - shift) × factor is summed; factor is a power of two */
    double shift, factor;
    double first, second; /* sum of v y and of v y^2, where y = (x - shift) × factor */
    bool missing;         /* some row has no value; numbers: set only with find_missing */
} dni_scan_column;

typedef struct dni_scan_slot dni_scan_slot;
typedef struct dni_scan {
    const dn_table_source *source;
    const size_t *columns; /* [n] columns of the source; text and sparse ones are skipped */
    size_t n;
    size_t *opened;       /* [n] the columns that the pass reads; DNI_NO_COLUMN for the others */
    const double *weight; /* [source->n_rows] or NULL */
    const dn_run *run;
    dni_selection selection; /* the training rows */
    size_t max_levels;       /* largest permitted number of levels of a categorical column */
    /* true: results[i].missing is also set for numbers. Set by the caller after dni_scan_init */
    bool find_missing;
    dn_run passes;            /* the run of passes over the source */
    size_t n_slots;           /* number of slots of `passes` */
    dni_scan_slot *slots;     /* [n_slots] */
    dni_scan_column *results; /* [n] */
    double *totals;           /* the sums of a pass */
    void *memory;             /* the memory of all arrays */
    double total_weight;      /* sum of v over all training rows */
} dni_scan;

/* Returns the bytes of the run's memory that a scan allocates, without the levels and the
 * strings of a chunk, which depend on the data, and without its sums (dn_run_sum_memory). */
double dni_scan_memory(size_t n_columns, size_t n_slots);
DN_MUST_USE dn_status dni_scan_init(dni_scan *scan, const dn_table_source *source,
                                    const size_t *columns, size_t n, const uint8_t *role,
                                    const double *weight, size_t max_levels, const dn_run *run,
                                    dn_error *err);
void dni_scan_done(dni_scan *scan); /* also after a failure of dni_scan_init */

/* Makes the first pass: computes weight, sum, extremes, missing values, levels.
 *
 * Errors: DN_ERR_DATA (field) if a categorical column has too many levels or bytes of levels;
 * DN_ERR_ARGUMENT (row) for a weight that is negative or not finite. */
DN_MUST_USE dn_status dni_scan_sums(dni_scan *scan, dn_error *err);
/* Makes the second pass: computes the first and second moments of the columns whose factor is not
 * 0. */
DN_MUST_USE dn_status dni_scan_moments(dni_scan *scan, dn_error *err);
/* Returns the levels of column i after the first pass, unordered. */
const dni_string_set *dni_scan_levels(const dni_scan *scan, size_t i);

#endif
