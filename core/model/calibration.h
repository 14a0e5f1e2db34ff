/* From scores to log-odds by what held-out rows have taught (model.h: dn_calibration). */
#ifndef DNI_CALIBRATION_H
#define DNI_CALIBRATION_H

#include "base/bytes.h"
#include "model/model_impl.h"

/* Clipped, so that log-odds are finite. */
#define DNI_LEAST_PROBABILITY 1e-15

/* A calibration for so many scores, all zeros. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_calibration_new(dn_calibration_method method, size_t folds,
                                          size_t n_scores, dn_calibration **out, dn_error *err);
void dni_calibration_free(dn_calibration *calibration); /* NULL is allowed */
/* Room for n steps of an isotonic calibrator. */
DN_MUST_USE dn_status dni_calibrator_room(dn_calibrator *calibrator, size_t n, dn_error *err);
size_t dni_calibration_bytes(const dn_calibration *calibration); /* of memory; NULL: 0 */

/* logits[n_scores] ← log-odds of scores[n_scores]. */
void dni_calibration_apply(const dn_calibration *calibration, const double *scores, double *logits);

/* p[K] of a row's scores, calibrated if the model is. work: dni_probabilities_work doubles. */
size_t dni_probabilities_work(const dn_model *model);
void dni_model_probabilities(const dn_model *model, const double *scores, double *p, double *work);

/* As bytes: u8 dn_calibration_method; unless none u32 folds, then for each score: platt f64 slope, f64 intercept; isotonic u64 n, f64 score[n], f64 probability[n]. NULL: none. */
void dni_calibration_write(const dn_calibration *calibration, dni_writer *writer);
/* Of so many scores; *out NULL: none. DN_ERR_CORRUPT, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_calibration_read(dni_reader *reader, size_t n_scores,
                                           dn_calibration **out, dn_error *err);

#endif
