/* The kind of the k nearest neighbours: a row gets the votes of the k stored rows that are nearest to
 * it, with the distances of core/kernels.
 *
 * The share of class k is p_k = Σ v_i (neighbours of the class) / Σ v_i (all neighbours), v_i the
 * weight of row i, or its weight divided by its distance. Scores are g_k = ln max(p_k, 1e-15); of two
 * classes g = g_2 − g_1. Softmax and sigmoid of the scores give the shares back. Ties of the shares
 * go to the first class, ties of the distances to the row that was stored first.
 *
 * Source: Duda, Hart and Stork, Pattern Classification, section 4.5. */
#ifndef DNI_NEIGHBOURS_H
#define DNI_NEIGHBOURS_H

#include "machine/machine_impl.h"
#include "machine/support.h"

typedef enum dni_votes {
    DNI_VOTES_UNIFORM,         /* v_i */
    DNI_VOTES_INVERSE_DISTANCE /* v_i / distance; rows at distance 0 outvote all others */
} dni_votes;

typedef struct dni_neighbours {
    dn_machine base;
    dn_support *rows; /* the stored rows; its kernel is DN_KERNEL_DISTANCE with width 1 */
    size_t k;         /* 1 … number of rows */
    dni_votes votes;
    uint32_t *class_of; /* [n rows] class index */
    double *weight;     /* [n rows] v_i > 0 */
} dni_neighbours;

/* A machine over the rows of the support, of which it takes a reference; class_of is 0 and weight 1,
 * for the learner to fill in. DN_ERR_MEMORY, DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_neighbours_new(dn_support *rows, size_t n_classes, size_t k,
                                         dni_votes votes, dn_machine **out, dn_error *err);
/* A machine that dni_neighbours_new made. */
dni_neighbours *dni_neighbours_of(const dn_machine *machine);
/* Bytes of a machine over n rows, without the rows. */
double dni_neighbours_memory(size_t n_rows);

#endif
