/* A fitted basis: functions of numeric columns, evaluated for one row. */
#ifndef DNI_BASIS_H
#define DNI_BASIS_H

#include <discern/encoder.h>

typedef struct dni_basis {
    dn_basis_kind kind;
    bool keep, standardize, interactions; /* as in dn_basis_spec */
    unsigned degree;                      /* polynomial */
    /* gaussian: the width. Random Fourier: the frequencies in `points` are already divided by
     * the width */
    double width;
    size_t n_columns, n_features;
    size_t *columns; /* [n_columns] inputs of the encoder */
    /* [n_columns] the functions are applied to z = (x - mean)/scale; NULL: z = x */
    double *mean, *scale;
    /* [n_features × n_columns] centres, points, frequencies or directions in terms of z;
     * NULL: polynomial */
    double *points;
    double *phase; /* random Fourier: [n_features] b of cos(w'z + b) */
    /* polynomial: [n_features] monomial j is the monomial parent[j], of the previous degree, times
     * the column factor[j]. The first n_columns monomials are the columns; each is its own
     * parent */
    uint32_t *parent;
    uint32_t *factor;
    size_t first_feature; /* index among the encoder's features */
    /* number of the first feature in feature names; the features of all bases of one kind are
     * numbered consecutively from 1 */
    size_t first_number;
} dni_basis;

/* Creates a basis from a checked spec: counts the features and allocates columns and, by kind,
 * points and phase, or monomials. first_feature and first_number are set by the encoder. Errors:
 * DN_ERR_DATA, DN_ERR_MEMORY; the caller then calls dni_basis_done. */
DN_MUST_USE dn_status dni_basis_init(dni_basis *basis, const dn_basis_spec *spec, size_t n_columns,
                                     size_t n_classes, dn_error *err);
/* Allocates mean and scale. Sets all means to 0 and all scales to 1. */
DN_MUST_USE dn_status dni_basis_standardize(dni_basis *basis, dn_error *err);
void dni_basis_done(dni_basis *basis); /* a basis that is {0} or partly initialised is allowed */

/* Computes the features of columns z [n_columns] to out [n_features], not standardised. */
void dni_basis_evaluate(const dni_basis *basis, const double *z, double *out);
/* Computes the features of a raw row [n_inputs]: replaces missing numbers, applies mean and
 * scale, then evaluates as dni_basis_evaluate does, with the same bits. Does not allocate. */
void dni_basis_evaluate_raw(const dni_basis *basis, const dn_input *inputs, const double *raw,
                            double *out);

/* Returns the floating-point operations of one row, for polls (linalg/step.h). */
double dni_basis_flops(const dni_basis *basis);

/* Stores the factors of monomial j in ascending order, each a column of the basis. Returns their
 * number. */
size_t dni_basis_monomial(const dni_basis *basis, size_t j, size_t out[DN_MAX_DEGREE]);
/* Returns the column of the basis, 0 … n_columns - 1, that feature j depends on and that has the
 * largest magnitude in a raw row. An error message names this column if feature j is not finite. */
size_t dni_basis_largest_column(const dni_basis *basis, size_t j, const dn_input *inputs,
                                const double *raw);

#endif
