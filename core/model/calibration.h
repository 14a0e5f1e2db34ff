/* Log-odds and probabilities computed from scores by a calibration (model.h: dn_calibration). */
#ifndef DNI_CALIBRATION_H
#define DNI_CALIBRATION_H

#include "base/bytes.h"
#include "model/model_impl.h"

/* Bounds of isotonic probabilities: p and 1 − p are at least this, so that log-odds are finite. */
#define DNI_MIN_PROBABILITY 1e-15

/* Creates a calibration with n_scores calibrators, all zero. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_calibration_new(dn_calibration_method method, size_t folds,
                                          size_t n_scores, dn_calibration **out, dn_error *err);
void dni_calibration_free(dn_calibration *calibration); /* NULL is allowed */
/* Allocates n points of an isotonic calibrator, uninitialized, and frees the previous ones.
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_calibrator_resize(dn_calibrator *calibrator, size_t n, dn_error *err);
/* Returns the bytes of memory of a calibration; NULL: 0. */
size_t dni_calibration_bytes(const dn_calibration *calibration);

/* logits [n_scores] ← the calibrated log-odds of scores [n_scores]. */
void dni_calibration_apply(const dn_calibration *calibration, const double *scores, double *logits);

/* Computes the probabilities p [K] from the scores of a row, calibrated if the model has a
 * calibration. `work` has dni_probabilities_work doubles. */
size_t dni_probabilities_work(const dn_model *model);
void dni_model_probabilities(const dn_model *model, const double *scores, double *p, double *work);

/* Serializes a calibration; NULL: none.
 *
 *   u8 dn_calibration_method; the rest only if it is not DN_CALIBRATION_NONE
 *   u32 folds
 *   for each score
 *     platt     f64 slope, f64 intercept
 *     isotonic  u64 n, f64 score[n], f64 probability[n] */
void dni_calibration_write(const dn_calibration *calibration, dni_writer *writer);
/* Reads a calibration of n_scores scores. *out NULL: there is none. DN_ERR_CORRUPT,
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_calibration_read(dni_reader *reader, size_t n_scores,
                                           dn_calibration **out, dn_error *err);

#endif
