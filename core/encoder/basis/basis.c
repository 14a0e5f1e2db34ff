/* Functions of numeric columns as features of a row.
 *
 *   polynomial      all monomials of degree 1 to D, ordered by degree, then by their factors
 *                   (a a, a b, b b); each monomial is one of the previous degree times a column
 *   gaussian        exp(-|z - c_k|^2/(2 width^2))     Bishop, PRML, section 3.1, eq. 3.4;
 *                                                     Alpaydin, section 12.3
 *   distance        |z - p_k|
 *   random Fourier  sqrt(2/D) cos(w_k'z + b_k)        Rahimi and Recht, Random features for
 *                                                     large-scale kernel machines, NIPS 2007
 *   fisher          w_k'z
 *
 * Columns are read in groups into a small array, so that a row of any width needs no workspace.
 * The sums over the columns are taken in the same order for every caller, so that all callers
 * get the same bits. */
#include "encoder/basis/basis.h"
#include "encoder/encoder_impl.h"
#include "linalg/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 64 /* columns read together */

/* ---- creation ---- */
/* Returns the number of monomials of exactly this degree in n variables, C(n + degree - 1,
 * degree). SIZE_MAX on overflow. */
static size_t monomials_of(size_t n, unsigned degree) {
    size_t count = 1;
    for (size_t i = 1; i <= degree; i++) {
        if (n > SIZE_MAX - i || count > SIZE_MAX / (n + i - 1)) {
            return SIZE_MAX;
        }
        count = count * (n + i - 1) / i; /* an integer: C(n + i - 1, i) */
    }
    return count;
}

size_t dn_basis_n_features(const dn_basis_spec *spec, size_t n_columns, size_t n_classes) {
    size_t sum = 0, most = n_classes < 2 ? 1 : n_classes - 1;
    switch (spec->kind) {
    case DN_BASIS_POLYNOMIAL:
        for (unsigned degree = 1; degree <= spec->degree; degree++) {
            size_t more = spec->interactions ? monomials_of(n_columns, degree) : n_columns;
            if (more > SIZE_MAX - sum) {
                return SIZE_MAX;
            }
            sum += more;
        }
        return sum;
    case DN_BASIS_GAUSSIAN:
    case DN_BASIS_DISTANCE:
        return spec->n_points;
    case DN_BASIS_RANDOM_FOURIER:
        return spec->n_features;
    case DN_BASIS_FISHER:
        return spec->n_features > 0 ? spec->n_features : n_columns < most ? n_columns : most;
    }
    return 0;
}

/* Fills parent and factor of all monomials. The monomials of degree d are the monomials of
 * degree d - 1, each multiplied by its last factor and by every column after its last factor. */
static void make_monomials(dni_basis *basis) {
    size_t n = basis->n_columns, made = n, before = 0;
    for (size_t j = 0; j < n; j++) {
        basis->parent[j] = basis->factor[j] = (uint32_t)j;
    }
    while (made < basis->n_features) {
        size_t end = made;
        for (; before < end; before++) {
            size_t last = basis->factor[before];
            for (size_t c = last; c < (basis->interactions ? n : last + 1); c++, made++) {
                basis->parent[made] = (uint32_t)before;
                basis->factor[made] = (uint32_t)c;
            }
        }
    }
}

dn_status dni_basis_init(dni_basis *basis, const dn_basis_spec *spec, size_t n_columns,
                         size_t n_classes, dn_error *err) {
    *basis = (dni_basis){.kind = spec->kind,
                         .keep = spec->keep,
                         .standardize = spec->standardize && spec->kind != DN_BASIS_POLYNOMIAL,
                         .interactions = spec->interactions,
                         .degree = spec->degree,
                         .width = spec->width,
                         .n_columns = n_columns,
                         .n_features = dn_basis_n_features(spec, n_columns, n_classes)};
    size_t n = basis->n_features;
    if (n > DN_MAX_BASIS_FEATURES) {
        return dn_error_set(err, DN_ERR_DATA, "a basis makes more than %d features",
                            DN_MAX_BASIS_FEATURES);
    }
    if (n_columns >= UINT32_MAX || n_columns > SIZE_MAX / sizeof(double) / (n + 1) - 1) {
        return dni_encoder_no_memory(err);
    }
    basis->columns = calloc(n_columns + 1, sizeof *basis->columns);
    if (basis->columns == NULL) {
        return dni_encoder_no_memory(err);
    }
    if (spec->kind == DN_BASIS_POLYNOMIAL) {
        basis->parent = calloc(n + 1, sizeof *basis->parent);
        basis->factor = calloc(n + 1, sizeof *basis->factor);
        if (basis->parent == NULL || basis->factor == NULL) {
            return dni_encoder_no_memory(err);
        }
        make_monomials(basis);
        return DN_OK;
    }
    basis->points = calloc(n * n_columns + 1, sizeof *basis->points);
    basis->phase =
        spec->kind == DN_BASIS_RANDOM_FOURIER ? calloc(n + 1, sizeof *basis->phase) : NULL;
    return basis->points == NULL || (spec->kind == DN_BASIS_RANDOM_FOURIER && basis->phase == NULL)
               ? dni_encoder_no_memory(err)
               : DN_OK;
}

dn_status dni_basis_standardize(dni_basis *basis, dn_error *err) {
    basis->mean = calloc(basis->n_columns + 1, sizeof *basis->mean);
    basis->scale = calloc(basis->n_columns + 1, sizeof *basis->scale);
    if (basis->mean == NULL || basis->scale == NULL) {
        return dni_encoder_no_memory(err);
    }
    for (size_t c = 0; c < basis->n_columns; c++) {
        basis->scale[c] = 1;
    }
    return DN_OK;
}

void dni_basis_done(dni_basis *basis) {
    free(basis->columns);
    free(basis->mean);
    free(basis->scale);
    free(basis->points);
    free(basis->phase);
    free(basis->parent);
    free(basis->factor);
    *basis = (dni_basis){0};
}

/* ---- features of a row ---- */
/* Adds to `out` the contribution of columns first … first + n - 1: squared distances or scalar
 * products. The columns of a polynomial are its first features. */
static void add_columns(const dni_basis *basis, size_t first, size_t n, const double *z,
                        double *out) {
    const double *points = basis->points;
    switch (basis->kind) {
    case DN_BASIS_POLYNOMIAL:
        memcpy(out + first, z, n * sizeof *z);
        return;
    case DN_BASIS_GAUSSIAN:
    case DN_BASIS_DISTANCE:
        for (size_t k = 0; k < basis->n_features; k++) {
            out[k] += dni_square_distance(z, points + k * basis->n_columns + first, n);
        }
        return;
    case DN_BASIS_RANDOM_FOURIER:
    case DN_BASIS_FISHER:
        for (size_t k = 0; k < basis->n_features; k++) {
            out[k] += dni_dot(z, points + k * basis->n_columns + first, n);
        }
        return;
    }
}

/* Computes the features in place from the sums of add_columns. */
static void finish(const dni_basis *basis, double *out) {
    size_t n = basis->n_features;
    switch (basis->kind) {
    case DN_BASIS_POLYNOMIAL:
        for (size_t j = basis->n_columns; j < n; j++) {
            out[j] = out[basis->parent[j]] * out[basis->factor[j]];
        }
        return;
    case DN_BASIS_GAUSSIAN:
        for (size_t k = 0; k < n; k++) {
            out[k] = exp(-out[k] / basis->width / basis->width / 2);
        }
        return;
    case DN_BASIS_DISTANCE:
        for (size_t k = 0; k < n; k++) {
            out[k] = sqrt(out[k]);
        }
        return;
    case DN_BASIS_RANDOM_FOURIER:
        for (size_t k = 0; k < n; k++) {
            out[k] = sqrt(2 / (double)n) * cos(out[k] + basis->phase[k]);
        }
        return;
    case DN_BASIS_FISHER:
        return;
    }
}

void dni_basis_evaluate(const dni_basis *basis, const double *z, double *out) {
    memset(out, 0, basis->n_features * sizeof *out);
    for (size_t first = 0; first < basis->n_columns; first += GROUP) {
        size_t n = basis->n_columns - first < GROUP ? basis->n_columns - first : GROUP;
        add_columns(basis, first, n, z + first, out);
    }
    finish(basis, out);
}

static double filled(const dni_basis *basis, const dn_input *inputs, const double *raw, size_t c) {
    double value = raw[basis->columns[c]];
    return isnan(value) ? inputs[basis->columns[c]].fill : value;
}

void dni_basis_evaluate_raw(const dni_basis *basis, const dn_input *inputs, const double *raw,
                            double *out) {
    double z[GROUP];
    memset(out, 0, basis->n_features * sizeof *out);
    for (size_t first = 0; first < basis->n_columns; first += GROUP) {
        size_t n = basis->n_columns - first < GROUP ? basis->n_columns - first : GROUP;
        for (size_t c = 0; c < n; c++) {
            z[c] = filled(basis, inputs, raw, first + c);
            if (basis->mean != NULL) {
                z[c] = (z[c] - basis->mean[first + c]) / basis->scale[first + c];
            }
        }
        add_columns(basis, first, n, z, out);
    }
    finish(basis, out);
}

double dni_basis_flops(const dni_basis *basis) {
    double n = (double)basis->n_features, p = (double)basis->n_columns;
    switch (basis->kind) {
    case DN_BASIS_POLYNOMIAL:
        return 8 * n; /* one product; reads two operands at random addresses */
    case DN_BASIS_GAUSSIAN:
    case DN_BASIS_DISTANCE:
        return n * (3 * p + 32); /* 32: exp, cos or sqrt */
    case DN_BASIS_RANDOM_FOURIER:
    case DN_BASIS_FISHER:
        return n * (2 * p + 32);
    }
    return 0;
}

/* ---- properties ---- */
size_t dni_basis_monomial(const dni_basis *basis, size_t j, size_t out[DN_MAX_DEGREE]) {
    size_t n = 1;
    for (size_t at = j; at >= basis->n_columns; at = basis->parent[at]) {
        n++;
    }
    for (size_t i = n; i-- > 0; j = basis->parent[j]) {
        out[i] = basis->factor[j];
    }
    return n;
}

size_t dni_basis_largest_column(const dni_basis *basis, size_t j, const dn_input *inputs,
                                const double *raw) {
    size_t factors[DN_MAX_DEGREE], n = basis->n_columns, worst = 0;
    bool monomial = basis->kind == DN_BASIS_POLYNOMIAL;
    double most = -1;
    if (monomial) {
        n = dni_basis_monomial(basis, j, factors);
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = monomial ? factors[i] : i;
        double size = fabs(filled(basis, inputs, raw, c));
        if (size > most) {
            most = size;
            worst = c;
        }
    }
    return worst;
}
