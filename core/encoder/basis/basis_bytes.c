/* The bytes of a fitted basis.
 *
 *   u8 kind, u8 flags (1 keep, 2 standardize, 4 interactions), u8 degree (0 unless polynomial)
 *   u64 n_features, u64 n_columns, u32 column[n_columns], f64 width
 *   with standardize: f64 mean[n_columns], f64 scale[n_columns]
 *   not polynomial:   f64 points[n_features × n_columns];  random Fourier: f64 phase[n_features] */
#include "encoder/basis/basis_bytes.h"
#include "encoder/encoder_impl.h"
#include "linalg/vector.h"
#include <math.h>

enum { KEEP = 1, STANDARDIZE = 2, INTERACTIONS = 4 };

void dni_basis_write(const dni_basis *basis, dni_writer *writer) {
    dni_write_u8(writer, (uint8_t)basis->kind);
    dni_write_u8(writer,
                 (uint8_t)((basis->keep ? KEEP : 0) | (basis->standardize ? STANDARDIZE : 0) |
                           (basis->interactions ? INTERACTIONS : 0)));
    dni_write_u8(writer, (uint8_t)basis->degree);
    dni_write_u64(writer, basis->n_features);
    dni_write_u64(writer, basis->n_columns);
    for (size_t c = 0; c < basis->n_columns; c++) {
        dni_write_u32(writer, (uint32_t)basis->columns[c]);
    }
    dni_write_f64(writer, basis->width);
    if (basis->standardize) {
        dni_write_f64s(writer, basis->mean, basis->n_columns);
        dni_write_f64s(writer, basis->scale, basis->n_columns);
    }
    if (basis->kind == DN_BASIS_POLYNOMIAL) {
        return;
    }
    dni_write_f64s(writer, basis->points, basis->n_features * basis->n_columns);
    if (basis->kind == DN_BASIS_RANDOM_FOURIER) {
        dni_write_f64s(writer, basis->phase, basis->n_features);
    }
}

/* Reads the members before the arrays into a spec for dni_basis_init. Checks that enough bytes
 * are left for the arrays. */
static dn_status read_head(dni_reader *reader, size_t n_inputs, dn_basis_spec *spec,
                           size_t *n_columns, dn_error *err) {
    unsigned kind = dni_read_u8(reader), flags = dni_read_u8(reader), degree = dni_read_u8(reader);
    uint64_t n = dni_read_u64(reader);
    size_t p = dni_read_count(reader, sizeof(uint32_t));
    if (reader->failed || kind > DN_BASIS_FISHER || flags > (KEEP | STANDARDIZE | INTERACTIONS) ||
        p == 0 || p > n_inputs || n == 0 || n > DN_MAX_BASIS_FEATURES) {
        return dni_encoder_corrupt(err, "a basis is invalid");
    }
    *spec = (dn_basis_spec){.kind = (dn_basis_kind)kind,
                            .keep = (flags & KEEP) != 0,
                            .standardize = (flags & STANDARDIZE) != 0,
                            .interactions = (flags & INTERACTIONS) != 0,
                            .degree = degree,
                            .n_points = (size_t)n,
                            .n_features = (size_t)n};
    bool polynomial = kind == DN_BASIS_POLYNOMIAL;
    if (polynomial && (degree < 1 || degree > DN_MAX_DEGREE || spec->standardize ||
                       dn_basis_n_features(spec, p, 0) != n)) {
        return dni_encoder_corrupt(err, "a polynomial is invalid");
    }
    if (!polynomial && n > reader->left / sizeof(double) / p) {
        return dni_encoder_corrupt(err, "the numbers of a basis are cut short");
    }
    *n_columns = p;
    return DN_OK;
}

static dn_status read_columns(dni_reader *reader, const dn_input *inputs, size_t n_inputs,
                              dni_basis *basis, dn_error *err) {
    for (size_t c = 0; c < basis->n_columns; c++) {
        basis->columns[c] = dni_read_u32(reader);
        if (reader->failed || basis->columns[c] >= n_inputs ||
            (!dn_column_type_is_real(inputs[basis->columns[c]].type) &&
             inputs[basis->columns[c]].type != DN_BOOLEAN)) {
            return dni_encoder_corrupt(err, "a basis has a column that is not a number");
        }
    }
    return DN_OK;
}

static bool read_finite(dni_reader *reader, double *out, size_t n) {
    return dni_read_f64s(reader, out, n) && dni_all_finite(out, n);
}

static bool read_numbers(dni_reader *reader, dni_basis *basis) {
    basis->width = dni_read_f64(reader);
    bool needs_width = basis->kind == DN_BASIS_GAUSSIAN || basis->kind == DN_BASIS_RANDOM_FOURIER;
    if (reader->failed || !isfinite(basis->width) || (needs_width && !(basis->width > 0))) {
        return false;
    }
    if (basis->standardize) {
        if (!read_finite(reader, basis->mean, basis->n_columns) ||
            !read_finite(reader, basis->scale, basis->n_columns)) {
            return false;
        }
        for (size_t c = 0; c < basis->n_columns; c++) {
            if (!(basis->scale[c] > 0)) {
                return false;
            }
        }
    }
    if (basis->kind == DN_BASIS_POLYNOMIAL) {
        return true;
    }
    return read_finite(reader, basis->points, basis->n_features * basis->n_columns) &&
           (basis->kind != DN_BASIS_RANDOM_FOURIER ||
            read_finite(reader, basis->phase, basis->n_features));
}

dn_status dni_basis_read(dni_reader *reader, const dn_input *inputs, size_t n_inputs,
                         dni_basis *basis, dn_error *err) {
    dn_basis_spec spec;
    size_t n_columns = 0;
    dn_status status = read_head(reader, n_inputs, &spec, &n_columns, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_basis_init(basis, &spec, n_columns, 0, err);
    if (status != DN_OK) {
        return status;
    }
    if (basis->standardize) {
        status = dni_basis_standardize(basis, err);
        if (status != DN_OK) {
            return status;
        }
    }
    status = read_columns(reader, inputs, n_inputs, basis, err);
    if (status != DN_OK) {
        return status;
    }
    return read_numbers(reader, basis)
               ? DN_OK
               : dni_encoder_corrupt(err, "the numbers of a basis are cut short or not finite");
}
