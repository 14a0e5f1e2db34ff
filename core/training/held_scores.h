/* Scores of held-out rows, from which a calibration is learned. */
#ifndef DNI_HELD_SCORES_H
#define DNI_HELD_SCORES_H

#include "training/calibrate_fit.h"

typedef struct dni_held_scores {
    dn_decision decision;
    size_t n_classes, n_scores;
    bool pairs;         /* one versus one: of a row only the scores of its class's pairs are kept */
    size_t kept;        /* scores of a row: n_classes - 1 of pairs, otherwise n_scores */
    size_t n_rows;      /* that will be added */
    size_t n;           /* rows so far */
    size_t n_source;    /* rows of the source */
    double *score;      /* [n_rows × kept] in the order in which rows were scored */
    double *weight;     /* [n_rows] */
    uint32_t *classes;  /* [n_rows] */
    dni_pairs selected; /* [n_rows] what dni_held_scores_select returns */
    double *stratum;    /* [n_source] class of the rows that take part, NaN of others */
    uint16_t *fold;     /* [n_source] */
    uint8_t *role;      /* [n_source] before the first fold */
    void *memory;       /* of all arrays */
} dni_held_scores;

/* Allocates the arrays for n_rows training rows of a source with n_source rows. */
DN_MUST_USE dn_status dni_held_scores_init(dni_held_scores *held, dn_decision decision,
                                           size_t n_classes, size_t n_rows, size_t n_source,
                                           const dn_run *run, dn_error *err);

/* Adds rows: a dni_scores_fn; `held` is a dni_held_scores. */
void dni_held_scores_add(void *held, const double *scores, const size_t *truth,
                         const double *weight, size_t n);

/* The rows that machine score s separates, and their scores. Valid until the next call. */
dni_scored dni_held_scores_select(dni_held_scores *held, size_t s);

/* Mean log loss of the probabilities without the calibration (sigmoid or softmax of the scores) and
 * with it. NaN of pairs, of which not all scores are kept. */
DN_MUST_USE dn_status dni_held_scores_loss(const dni_held_scores *held,
                                           const dn_calibration *calibration, const dn_run *run,
                                           double *before, double *after, dn_error *err);

/* Bytes that a calibration of these parameters needs beside its fits. */
double dni_calibration_memory(const dn_params *params, size_t n_rows, size_t n_classes);

#endif
