/* k-nearest-neighbour machines: the k stored rows nearest to a row vote for their classes. The
 * distances are those of core/kernels.
 *
 * The share of class c is p_c = Σ v_i (neighbours of class c) / Σ v_i (all neighbours). v_i is the
 * weight of row i, or its weight divided by its distance. Scores are g_c = ln max(p_c, 1e-15).
 * For two classes g = g_2 − g_1. Softmax and sigmoid of the scores reproduce the shares. Ties of
 * shares are resolved in favour of the first class, ties of distances in favour of the first stored
 * row.
 *
 * Source: Duda, Hart and Stork, Pattern Classification, section 4.5. */
#ifndef DNI_NEIGHBOURS_H
#define DNI_NEIGHBOURS_H

#include "machine/machine_dispatch.h"
#include "machine/support.h"

typedef enum dni_votes {
    DNI_VOTES_UNIFORM, /* v_i = weight of row i */
    /* v_i = weight / distance. If some neighbours have distance 0, v_i is the weight for these
     * neighbours and 0 for the others */
    DNI_VOTES_INVERSE_DISTANCE
} dni_votes;

typedef struct dni_neighbours {
    dn_machine base;
    dni_support *rows; /* the stored rows; its kernel is DN_KERNEL_DISTANCE with width 1 */
    size_t k;          /* 1 … number of rows */
    dni_votes votes;
    uint32_t *class_of; /* [n rows] class index */
    double *weight;     /* [n rows] > 0 */
} dni_neighbours;

/* Creates a machine over the rows of the support and takes a reference to the support. All numbers
 * in class_of are 0, all weights 1; the learner sets both. Fails with DN_ERR_MEMORY or
 * DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_neighbours_new(dni_support *rows, size_t n_classes, size_t k,
                                         dni_votes votes, dn_machine **out, dn_error *err);
/* Converts a machine of this kind to its structure. */
dni_neighbours *dni_neighbours_of(const dn_machine *machine);
/* Returns the bytes of a machine over n rows, without the stored rows. */
double dni_neighbours_memory(size_t n_rows);

#endif
