/* A fitted basis: functions of numeric columns, evaluated for one row. */
#ifndef DNI_BASIS_H
#define DNI_BASIS_H

#include <discern/encoder.h>

typedef struct dni_basis {
    dn_basis_kind kind;
    bool keep, standardize, interactions; /* as in dn_basis_spec */
    unsigned degree;                      /* polynomial */
    /* gaussian. That of random Fourier is contained in `points` */
    double width;
    size_t n_columns, n_features;
    size_t *columns;      /* [n_columns] inputs of the encoder */
    double *mean, *scale; /* [n_columns] the functions see z = (x - mean)/scale; NULL: z = x */
    /* [n_features × n_columns] centres, points, frequencies or directions in terms of z;
     * NULL: polynomial */
    double *points;
    double *phase; /* random Fourier: [n_features] b */
    uint32_t *
        /* polynomial: [n_features] the monomial of one degree less of which this one is a
         * multiple; the columns, which are the first monomials, have themselves */
        parent;
    uint32_t *factor;     /* polynomial: [n_features] the last factor, a column */
    size_t first_feature; /* index among the encoder's features */
    /* number of its first feature in names, from 1 through all bases of a kind */
    size_t first_number;
} dni_basis;

/* Creates a basis from a checked spec: counts the features and allocates columns and, by kind,
 * points and phase, or monomials. first_feature and first_number are set by the encoder. Errors:
 * DN_ERR_DATA, DN_ERR_MEMORY; the caller then calls dni_basis_done. */
DN_MUST_USE dn_status dni_basis_init(dni_basis *basis, const dn_basis_spec *spec, size_t n_columns,
                                     size_t n_classes, dn_error *err);
/* Allocates mean and scale, 0 and 1. */
DN_MUST_USE dn_status dni_basis_standardize(dni_basis *basis, dn_error *err);
void dni_basis_done(dni_basis *basis); /* {0} and incomplete ones are allowed */

/* Computes the features of columns z [n_columns] to out [n_features], not standardised. */
void dni_basis_evaluate(const dni_basis *basis, const double *z, double *out);
/* Computes the same for a raw row [n_inputs], bit for bit: replaces missing numbers, then
 * applies mean and scale. Does not allocate. */
void dni_basis_evaluate_raw(const dni_basis *basis, const dn_input *inputs, const double *raw,
                            double *out);

/* Returns the floating-point operations of one row, for polls (linalg/step.h). */
double dni_basis_flops(const dni_basis *basis);

/* Stores the factors of monomial j in ascending order, each a column of the basis. Returns their
 * number. */
size_t dni_basis_monomial(const dni_basis *basis, size_t j, size_t out[DN_MAX_DEGREE]);
/* Returns the column of the basis, 0 … n_columns - 1, that feature j depends on and that has the
 * largest magnitude in a raw row. It is named when the feature is not finite. */
size_t dni_basis_largest_column(const dni_basis *basis, size_t j, const dn_input *inputs,
                                const double *raw);

#endif
