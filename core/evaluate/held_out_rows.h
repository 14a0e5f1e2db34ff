/* Collects the predictions of held-out rows (discern/held_out.h). */
#ifndef DNI_HELD_OUT_ROWS_H
#define DNI_HELD_OUT_ROWS_H

#include <discern/held_out.h>
#include <discern/run.h>

/* The numbers of the predictions to collect. */
typedef struct dni_held_out_shape {
    size_t n_rows; /* maximum number of predictions */
    size_t n_values;
    bool probabilities, weighted;
} dni_held_out_shape;

/* Creates an empty collection. run: its allocator must be valid until dn_held_out_free.
 * DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_held_out_new(const dni_held_out_shape *shape, const dn_run *run,
                                       dn_held_out **out, dn_error *err);
/* Sets the fold and the repeat of the predictions that are added from now on. */
void dni_held_out_begin(dn_held_out *held_out, size_t fold, size_t repeat);

/* Rows to add. */
typedef struct dni_held_out_rows {
    size_t n;
    const size_t *row, *truth, *predicted; /* [n] predicted: class index or DN_AMBIGUOUS */
    const double *weight;                  /* [n]; NULL: all 1 */
    const double *values;                  /* [n × n_values] */
} dni_held_out_rows;
/* Adds rows; at most n_rows of the shape in total. */
void dni_held_out_add(dn_held_out *held_out, const dni_held_out_rows *rows);
/* Removes the predictions after the first n. */
void dni_held_out_cut(dn_held_out *held_out, size_t n);
/* Sorts the predictions by repeat and row. DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_held_out_sort(dn_held_out *held_out, const dn_run *run, dn_error *err);

/* Returns the bytes of a collection, with those of sorting it. */
double dni_held_out_memory(const dni_held_out_shape *shape);

#endif
