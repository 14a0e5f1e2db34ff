/* The passes over the training rows by which an encoder is fitted: sums, extremes and levels of every input column that is a number or a category. */
#ifndef DNI_ENCODER_SCAN_H
#define DNI_ENCODER_SCAN_H

#include "base/string_set.h"
#include "table/selection.h"

/* What the rows say about one input. Rows of weight 0 say nothing. */
typedef struct dni_scan_column {
    double weight; /* Σv over rows where it is not missing */
    double sum;    /* numbers: Σ v·x */
    double minimum,
        maximum; /* numbers: of the rows seen; +INFINITY and -INFINITY when there is none */
    double shift, factor; /* second pass: (x - shift)·factor is summed; factor is a power of two */
    double first, second; /* Σ v·(x - shift)·factor, Σ v·((x - shift)·factor)² */
    bool
        missing; /* some row has none; of numbers it is only looked for when find_missing says so */
} dni_scan_column;

typedef struct dni_scan_slot dni_scan_slot;
typedef struct dni_scan {
    const dn_table_source *source;
    const size_t *columns; /* [n] of the source; text and sparse ones are not looked at */
    size_t n;
    size_t *opened;       /* [n] `columns` that the pass reads, DNI_NO_COLUMN for others */
    const double *weight; /* by source row, or NULL */
    const dn_run *run;
    dni_selection selection;  /* the training rows */
    size_t max_levels;        /* of a categorical input */
    bool find_missing;        /* of numbers too; set by the caller after dni_scan_init */
    dn_run passes;            /* for passes over the source */
    size_t n_slots;           /* of `passes` */
    dni_scan_slot *slots;     /* [n_slots] */
    dni_scan_column *results; /* [n] */
    double *totals;           /* room for a pass's sums */
    double total_weight;      /* Σv of all training rows */
} dni_scan;

DN_MUST_USE dn_status dni_scan_init(dni_scan *scan, const dn_table_source *source,
                                    const size_t *columns, size_t n, const uint8_t *role,
                                    const double *weight, size_t max_levels, const dn_run *run,
                                    dn_error *err);
void dni_scan_done(dni_scan *scan); /* also of one that dni_scan_init left half-built */

/* First pass: weight, sum, extremes, missing, levels. DN_ERR_DATA (field) when a categorical column has too many levels or too much text in them, DN_ERR_ARGUMENT for a weight that is none. */
DN_MUST_USE dn_status dni_scan_sums(dni_scan *scan, dn_error *err);
/* Second pass: first and second moments of the columns whose factor is not 0. */
DN_MUST_USE dn_status dni_scan_moments(dni_scan *scan, dn_error *err);
/* The levels of column i after the first pass, in no order. */
const dni_string_set *dni_scan_levels(const dni_scan *scan, size_t i);

#endif
