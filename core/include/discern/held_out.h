/* Predictions for the rows that a training holds out.
 *
 * The model that predicts a row was fitted without it: the trained model for the rows of a holdout,
 * the fit of a fold for the rows of the fold. So these predictions show how the method predicts new
 * rows. Thresholds, calibration and costs are chosen from them, never from predictions for training
 * rows. */
#ifndef DISCERN_HELD_OUT_H
#define DISCERN_HELD_OUT_H

#include <discern/algorithm.h>
#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

#define DN_HELD_OUT_AMBIGUOUS UINT32_MAX /* label of an ambiguous row (decision.h) */

/* Predictions in ascending order of `repeat`, then of `row`. A row is in it once for each repeat,
 * unless no fold holds it out. */
typedef struct dn_held_out {
    size_t n;
    size_t n_values;        /* values of a prediction (dn_held_out_values) */
    bool probabilities;     /* the values are the probabilities of the classes; otherwise the scores
                             * of the machines */
    const size_t *row;      /* [n] index of the row in the source */
    const uint32_t *fold;   /* [n] the fit that predicts the row: index in dn_train_result.folds; 0
                             * without folds */
    const uint32_t *repeat; /* [n] the repeat of the cross-validation, from 0 */
    const uint32_t *truth;  /* [n] index of the true class */
    const uint32_t *label;  /* [n] index of the predicted class, or DN_HELD_OUT_AMBIGUOUS */
    const double *weight;   /* [n] weight of the row without class weights; NULL: all 1 */
    const double *values;   /* [n × n_values] */
} dn_held_out;

/* Frees predictions of dn_train. The allocator of the run must still be valid. NULL is allowed. */
void dn_held_out_free(dn_held_out *held_out);

/* Returns the number of values of a prediction of models with these parameters, which have passed
 * dn_params_check: n_classes probabilities, or the number of scores. */
size_t dn_held_out_values(const dn_params *params, size_t n_classes);
/* Returns true if models with these parameters have probabilities. */
bool dn_params_have_probabilities(const dn_params *params, size_t n_classes);

DN_END_DECLS

#endif
