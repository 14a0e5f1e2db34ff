/* Storage of the statistics of weights (discern/statistics.h) in a model. */
#ifndef DNI_MODEL_STATISTICS_H
#define DNI_MODEL_STATISTICS_H

#include "base/bytes.h"
#include <discern/statistics.h>

/* A dn_statistics with its arrays, which the caller of dni_statistics_new fills. */
typedef struct dni_statistics {
    dn_statistics view;
    dn_response *responses; /* view.responses */
    double *error;          /* view.error */
    double *covariance;     /* view.covariance */
    double *inflation;      /* view.inflation */
    dn_inflation *terms;    /* [n_terms] without `factor` and `scaled` */
} dni_statistics;

/* Returns true if all numbers can be stored and read back: they are finite, or NaN where they are
 * not defined, and not negative where they are variances, errors or counts. */
bool dni_statistics_in_range(const dni_statistics *statistics);

/* Creates statistics without arrays, for a reason other than DN_STATISTICS_AVAILABLE.
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_statistics_none(dn_statistics_reason reason, dni_statistics **out,
                                          dn_error *err);
/* Creates statistics with the reason DN_STATISTICS_AVAILABLE and arrays of zeros.
 *
 *   least_squares  one response per score and a covariance of d + 1 parameters; otherwise one
 *                  response and a covariance of all scores
 *   encoder        defines the terms
 *
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_statistics_new(bool least_squares, size_t n_scores,
                                         const dn_encoder *encoder, dni_statistics **out,
                                         dn_error *err);
void dni_statistics_free(dni_statistics *statistics);          /* NULL is allowed */
size_t dni_statistics_bytes(const dni_statistics *statistics); /* bytes of memory; NULL: 0 */

/* Returns the number of terms of the encoder. out [terms]: set without `factor` and `scaled`; NULL:
 * count only. */
size_t dni_inflation_terms(const dn_encoder *encoder, dn_inflation *out);

/* Serializes statistics; NULL: none.
 *
 *   u8   0: none; otherwise 1 + dn_statistics_reason. The rest only if it is 1
 *   u8   least_squares, plus 2 for no_intercept
 *   u64  n_rows
 *   f64  weight, log_weights, lambda, parameters
 *   f64  null_deviance, deviance of each response
 *   f64  error [S × (d + 1)]
 *   f64  inflation [n_terms]
 *   u64  n_covariance; f64 lower triangle of the covariance, row by row */
void dni_statistics_write(const dni_statistics *statistics, dni_writer *writer);
/* Reads statistics of a linear machine with n_scores scores (0: another machine, which has none).
 * *out NULL: there are none. DN_ERR_CORRUPT, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_statistics_read(dni_reader *reader, size_t n_scores,
                                          const dn_encoder *encoder, dni_statistics **out,
                                          dn_error *err);

#endif
