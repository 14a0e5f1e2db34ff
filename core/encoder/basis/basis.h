/* The inside of a basis: functions of number columns as features, fitted and ready to be computed for a row. */
#ifndef DNI_BASIS_H
#define DNI_BASIS_H

#include <discern/encoder.h>

typedef struct dni_basis {
    dn_basis_kind kind;
    bool keep, standardize, interactions; /* as in dn_basis_spec */
    unsigned degree;                      /* polynomial */
    double width;                         /* gaussian; already in `points` for random Fourier */
    size_t n_columns, n_features;
    size_t *columns; /* [n_columns] inputs of the encoder */
    double *mean,
        *scale; /* [n_columns] z = (x − mean)/scale is what the functions see; NULL: x itself */
    double *
        points; /* [n_features × n_columns] centres, points, ω or directions, in terms of z; NULL: polynomial */
    double *phase; /* random Fourier: [n_features] b */
    uint32_t *
        parent; /* polynomial: [n_features] the monomial of one degree less that this one is `factor` times; itself for the columns, the first ones */
    uint32_t *factor;     /* polynomial: [n_features] a column, the last one of the monomial */
    size_t first_feature; /* of the encoder's features */
    size_t first_number;  /* its first feature's number among those of its kind, from 1 */
} dni_basis;

/* An empty basis of a checked spec, with room for its columns and, by kind, points and phase, or monomials; n_features is counted (n_classes for fisher). first_feature and first_number are the encoder's to set. */
DN_MUST_USE dn_status dni_basis_init(dni_basis *basis, const dn_basis_spec *spec, size_t n_columns,
                                     size_t n_classes, dn_error *err);
/* Room for mean and scale: 0 and 1. */
DN_MUST_USE dn_status dni_basis_standardize(dni_basis *basis, dn_error *err);
void dni_basis_done(dni_basis *basis); /* {0} and half-built ones are allowed */

/* out [n_features] ← the features of columns z [n_columns], as they are (not standardised). */
void dni_basis_evaluate(const dni_basis *basis, const double *z, double *out);
/* The same, bit for bit, of a raw row [n_inputs]: NaN is filled, then the basis's mean and scale. No allocation. */
void dni_basis_evaluate_raw(const dni_basis *basis, const dn_input *inputs, const double *raw,
                            double *out);

/* What one row costs, in floating point operations: for polls (linalg/step.h). */
double dni_basis_flops(const dni_basis *basis);

/* The factors of monomial j, at most DN_MAX_DEGREE, ascending: out[i] is a column of the basis. Returns how many. */
size_t dni_basis_monomial(const dni_basis *basis, size_t j, size_t out[DN_MAX_DEGREE]);
/* The column of the basis [0 … n_columns) that feature j depends on and that is farthest from 0 in a raw row: the one to blame for an infinite feature. */
size_t dni_basis_largest_column(const dni_basis *basis, size_t j, const dn_input *inputs,
                                const double *raw);

#endif
