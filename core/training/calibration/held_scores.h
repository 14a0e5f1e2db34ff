/* Scores of held-out rows, to which calibrators are fitted. */
#ifndef DNI_HELD_SCORES_H
#define DNI_HELD_SCORES_H

#include "training/calibration/calibrate_fit.h"

typedef struct dni_held_scores {
    dn_decision decision;
    size_t n_classes, n_scores;
    bool pairs;         /* true: one versus one; a row stores the scores of the pairs that contain
                         * its class */
    size_t kept;        /* number of stored scores of a row: n_classes − 1 with pairs, otherwise
                         * n_scores */
    size_t n_rows;      /* total number of rows to be added */
    size_t n;           /* number of rows added so far */
    size_t n_source;    /* number of rows of the source */
    double *score;      /* [n_rows × kept] scores, in the order in which rows were added */
    double *weight;     /* [n_rows] */
    uint32_t *classes;  /* [n_rows] */
    dni_pairs selected; /* [n_rows] result of dni_held_scores_select */
    double *stratum;    /* [n_source] class of training rows; NaN: other rows */
    uint16_t *fold;     /* [n_source] fold of each row */
    uint8_t *role;      /* [n_source] copy of the roles before the first fold */
    void *memory;       /* the allocation that contains all arrays */
} dni_held_scores;

/* Allocates the arrays for n_rows training rows of a source with n_source rows. */
DN_MUST_USE dn_status dni_held_scores_init(dni_held_scores *held, dn_decision decision,
                                           size_t n_classes, size_t n_rows, size_t n_source,
                                           const dn_run *run, dn_error *err);

/* Adds n rows. A callback of type dni_scores_fn; `held` is a dni_held_scores *. */
void dni_held_scores_add(void *held, const double *scores, const size_t *truth,
                         const double *weight, size_t n);

/* Returns the rows of the classes that score s separates, with their values of score s. The result
 * is valid until the next call. */
dni_scored dni_held_scores_select(dni_held_scores *held, size_t s);

/* Computes the mean log loss of the probabilities without the calibration (sigmoid or softmax of
 * the scores) and with the calibration. NaN with pairs, because not all scores of a row are
 * stored. */
DN_MUST_USE dn_status dni_held_scores_loss(const dni_held_scores *held,
                                           const dn_calibration *calibration, const dn_run *run,
                                           double *before, double *after, dn_error *err);

/* Estimates the bytes that a calibration needs; 0 without calibration.
 *
 *   n_rows    number of training rows, each of which is held out once
 *   n_source  number of rows of the source
 *   fold      bytes of the fit of a fold and its evaluation */
double dni_calibration_memory(const dn_params *params, size_t n_rows, size_t n_source,
                              size_t n_classes, double fold);

#endif
