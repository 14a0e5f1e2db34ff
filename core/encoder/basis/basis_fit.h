/* Fits the bases of an encoder to the training rows. */
#ifndef DNI_BASIS_FIT_H
#define DNI_BASIS_FIT_H

#include "encoder/encoder_impl.h"

/* The training data of the bases. */
typedef struct dni_bases_data {
    const dn_table_source *source;
    const uint8_t *role;  /* [source->n_rows] or NULL */
    const double *weight; /* [source->n_rows] or NULL; already checked */
    double total_weight;  /* sum of v over the training rows */
    const double *target; /* [source->n_rows] class indices, for fisher */
    size_t n_classes;
    /* [n_inputs] of the columns of bases for which dni_basis_needs_moments is true */
    const double *mean, *scale;
} dni_bases_data;

/* Creates the bases of a checked spec and sets their columns. The caller must call
 * dni_encoder_finish afterwards. */
DN_MUST_USE dn_status dni_bases_init(dn_encoder *encoder, const dn_encoder_spec *spec,
                                     dn_error *err);
/* Returns whether the basis is fitted to standardised columns, whose mean and deviation must be
 * known. */
bool dni_basis_needs_moments(const dni_basis *basis);
/* Fits points, widths and directions; if the encoder standardises, also mean and scale of the
 * features. The inputs must be complete. */
DN_MUST_USE dn_status dni_bases_fit(dn_encoder *encoder, const dn_encoder_spec *spec,
                                    const dni_bases_data *data, const dn_run *run, dn_error *err);

/* ---- parts; `rows` are the training rows of a basis's columns, dense ---- */

#define DNI_WIDTH_ROWS 1000
/* Finds centres by k-means.
 *
 *   stream  number of the stream of random numbers
 *   points  [k × n_cols] the centres
 *
 * Errors: DN_ERR_DATA if fewer than k rows are different; DN_ERR_NUMERIC if a distance is not
 * finite. */
DN_MUST_USE dn_status dni_basis_centres(const dn_rows *rows, size_t k, const dn_run *run,
                                        uint64_t stream, double *points, dn_error *err);
/* Finds a width: the median distance of all pairs of at most DNI_WIDTH_ROWS random rows with a
 * weight > 0; 1 if the median is 0 or there is no pair. */
DN_MUST_USE dn_status dni_basis_width(const dn_rows *rows, const dn_run *run, uint64_t stream,
                                      double *out, dn_error *err);
/* Finds the directions of Fisher's discriminant, in descending order of the ratio of
 * between-class to within-class variance. The length of a direction is arbitrary. The columns
 * must have standard deviation 1.
 *
 *   names       [n_cols] for messages
 *   directions  [n × n_cols] directions beyond the rank of S_B are 0. With two classes a
 *               direction points to the second class */
DN_MUST_USE dn_status dni_basis_fisher(const dn_rows *rows, size_t n_classes, size_t n,
                                       const char *const *names, const dn_run *run,
                                       double *directions, dn_error *err);

/* Return the bytes of the run's memory that these functions allocate, without their sums. */
double dni_basis_centres_memory(size_t n_rows, size_t n_columns, size_t k);
double dni_basis_width_memory(size_t n_rows, size_t n_columns);
double dni_basis_fisher_memory(size_t n_columns, size_t n_classes, size_t n_slots);

/* Returns the bytes that mean and deviation of n features need, with their sums. */
double dni_basis_moments_memory(size_t n_rows, size_t n_features, size_t n_slots);

#endif
