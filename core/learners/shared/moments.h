/* Weighted moments of the columns and the weights of the classes: what a learner wants to know before it begins. */
#ifndef DNI_MOMENTS_H
#define DNI_MOMENTS_H

#include <discern/algorithm.h>
#include <stdbool.h>

typedef struct dni_moments {
    double weight;        /* Σv */
    double *mean;         /* [n_cols] weighted */
    double *deviation;    /* [n_cols] weighted, divisor Σv; 0 for a constant column */
    double *class_weight; /* [n_classes] */
    bool sparse;          /* the blocks are CSR */
} dni_moments;

/* Two passes over the rows. DN_ERR_NUMERIC names the first column whose squares leave the finite numbers; DN_ERR_DATA: no row has a weight.
 * The arrays come from the run; dni_moments_done frees them. */
DN_MUST_USE dn_status dni_moments_compute(const dn_fit_input *input, const dn_run *run,
                                          dni_moments *out, dn_error *err);
/* Bytes that computing them takes, the sums over the blocks included. */
double dni_moments_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots);
void dni_moments_done(dni_moments *moments, const dn_run *run);

#endif
