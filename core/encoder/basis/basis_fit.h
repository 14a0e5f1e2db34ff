/* Fitting the bases of an encoder to the training rows. */
#ifndef DNI_BASIS_FIT_H
#define DNI_BASIS_FIT_H

#include "encoder/encoder_impl.h"

/* What the bases are fitted to. */
typedef struct dni_bases_data {
    const dn_table_source *source;
    const uint8_t *role;  /* [source->n_rows] or NULL */
    const double *weight; /* [source->n_rows] or NULL; checked */
    double total_weight;  /* Σv of the training rows */
    const double *target; /* [source->n_rows] class indexes, for fisher */
    size_t n_classes;
    const double *mean,
        *scale; /* [n_inputs] of the columns of bases for which dni_basis_needs_moments */
} dni_bases_data;

/* The bases of a checked spec, with their columns; to be followed by dni_encoder_finish. */
DN_MUST_USE dn_status dni_bases_init(dn_encoder *encoder, const dn_encoder_spec *spec,
                                     dn_error *err);
/* Whether its columns' mean and deviation must be known before it is fitted. */
bool dni_basis_needs_moments(const dni_basis *basis);
/* Points, widths and directions, and when the encoder standardises mean and scale of the bases' features. The inputs are complete. */
DN_MUST_USE dn_status dni_bases_fit(dn_encoder *encoder, const dn_encoder_spec *spec,
                                    const dni_bases_data *data, const dn_run *run, dn_error *err);

/* ---- the parts ---- */
/* Rows are the training rows of a basis's columns, dense. */

#define DNI_WIDTH_ROWS 1000
/* points [k × p] ← centres by k-means. DN_ERR_DATA: fewer than k different rows. stream: of the random numbers. */
DN_MUST_USE dn_status dni_basis_centres(const dn_rows *rows, size_t k, const dn_run *run,
                                        uint64_t stream, double *points, dn_error *err);
/* *out ← the median distance over the pairs of at most DNI_WIDTH_ROWS rows with a weight, drawn with the run's seed; 1 if it is 0 or there is no pair. */
DN_MUST_USE dn_status dni_basis_width(const dn_rows *rows, const dn_run *run, uint64_t stream,
                                      double *out, dn_error *err);
/* directions [n × p] ← of Fisher's discriminant, the greatest ratio first, of any length, of two classes towards the second; zeros where the classes' means do not differ any more. names [p] for messages. The columns have deviation 1. */
DN_MUST_USE dn_status dni_basis_fisher(const dn_rows *rows, size_t n_classes, size_t n,
                                       const char *const *names, const dn_run *run,
                                       double *directions, dn_error *err);

#endif
