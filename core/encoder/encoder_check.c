/* Checks of an encoder spec that need the table's columns but not its rows. */
#include "encoder/basis/basis_fit.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FISHER_COLUMNS = 8192 }; /* a square matrix of this order takes 512 MiB */

static dn_status refuse_basis(dn_error *err, const char *message) {
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "%s", message), "basis", -1, err);
}

static bool is_number(dn_column_type type) {
    return dn_column_type_is_real(type) || type == DN_BOOLEAN;
}

/* The columns of the table, and the spec's columns that are used by the bases checked so far. */
struct check {
    const dn_table_column *columns;
    const dn_encoder_spec *spec;
    size_t n_numbers; /* numeric, datetime and boolean columns of the spec */
    /* [spec->n_columns] the last basis that uses the column, counted from 1; 0: none */
    size_t *basis;
    unsigned char *monomials; /* [spec->n_columns] 1: a polynomial uses the column */
};

static const dn_table_column *column_at(const struct check *check, size_t position) {
    return &check->columns[check->spec->columns[position]];
}

static dn_status check_column(const struct check *check, size_t b, size_t position, dn_error *err) {
    const dn_basis_spec *basis = &check->spec->bases[b];
    if (position >= check->spec->n_columns) {
        return refuse_basis(err, "a basis has a column that is not an input");
    }
    const dn_table_column *column = column_at(check, position);
    if (!is_number(column->type)) {
        return dni_error_at(
            dn_error_set(
                err, DN_ERR_DATA,
                "column \"%s\" is %s, but a basis needs numeric, datetime or boolean columns",
                column->name, dn_column_type_name(column->type)),
            column->name, -1, err);
    }
    if (check->basis[position] == b + 1) {
        return dni_refuse_column(err, column->name, DN_ERR_ARGUMENT, "occurs twice in a basis");
    }
    check->basis[position] = b + 1;
    if (basis->kind != DN_BASIS_POLYNOMIAL) {
        return DN_OK;
    }
    if (check->monomials[position]) {
        return dni_refuse_column(err, column->name, DN_ERR_ARGUMENT,
                                 "is in two polynomials, whose features would be the same");
    }
    check->monomials[position] = 1;
    return DN_OK;
}

static dn_status check_points(const dn_basis_spec *basis, size_t n_columns, dn_error *err) {
    if (basis->n_points == 0) {
        return refuse_basis(err, "a basis of points needs at least one point");
    }
    if (basis->points == NULL) {
        return basis->kind == DN_BASIS_GAUSSIAN
                   ? DN_OK
                   : refuse_basis(err, "a distance basis needs points");
    }
    /* check_basis reports that the basis has too many features. */
    if (basis->n_points > DN_MAX_BASIS_FEATURES) {
        return DN_OK;
    }
    for (size_t i = 0; i < basis->n_points * n_columns; i++) {
        if (!isfinite(basis->points[i])) {
            return refuse_basis(err, "the points of a basis must be finite");
        }
    }
    return DN_OK;
}

/* Checks the parameters of a basis of the given kind. */
static dn_status check_numbers(const struct check *check, const dn_basis_spec *basis,
                               size_t n_columns, dn_error *err) {
    size_t K = check->spec->n_classes;
    switch (basis->kind) {
    case DN_BASIS_POLYNOMIAL:
        if (basis->degree < 1 || basis->degree > DN_MAX_DEGREE) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "the degree of a polynomial basis must be 1 to %d (got %u)",
                                DN_MAX_DEGREE, basis->degree);
        }
        return DN_OK;
    case DN_BASIS_GAUSSIAN:
        if (!(basis->width >= 0) || !isfinite(basis->width)) {
            return refuse_basis(
                err, "the width of a gaussian basis must be > 0, or 0 to compute it from the rows");
        }
        return check_points(basis, n_columns, err);
    case DN_BASIS_DISTANCE:
        return check_points(basis, n_columns, err);
    case DN_BASIS_RANDOM_FOURIER:
        if (!(basis->width >= 0) || !isfinite(basis->width)) {
            return refuse_basis(err, "the width of a random_fourier basis must be > 0, or 0 to "
                                     "compute it from the rows");
        }
        return basis->n_features > 0
                   ? DN_OK
                   : refuse_basis(err, "a random_fourier basis needs at least one feature");
    case DN_BASIS_FISHER:
        if (n_columns > MAX_FISHER_COLUMNS) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "a fisher basis takes at most %d columns (got %zu)",
                                MAX_FISHER_COLUMNS, n_columns);
        }
        if (basis->n_features > n_columns || (K >= 2 && basis->n_features > K - 1)) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "a fisher basis has at most %zu directions: one less than classes, "
                                "and no more than columns (got %zu)",
                                K >= 2 && K - 1 < n_columns ? K - 1 : n_columns, basis->n_features);
        }
        return K == 1 ? refuse_basis(err, "a fisher basis needs at least two classes") : DN_OK;
    }
    return refuse_basis(err, "a basis has an unknown kind");
}

static dn_status check_basis(const struct check *check, size_t b, size_t *n_features,
                             dn_error *err) {
    const dn_basis_spec *basis = &check->spec->bases[b];
    dn_status status = DN_OK;
    size_t n = basis->columns == NULL ? check->n_numbers : basis->n_columns;
    if (n == 0) {
        return refuse_basis(err, "a basis needs at least one numeric, datetime or boolean column");
    }
    if (basis->columns != NULL) {
        for (size_t c = 0; status == DN_OK && c < n; c++) {
            status = check_column(check, b, basis->columns[c], err);
        }
    } else {
        for (size_t position = 0; status == DN_OK && position < check->spec->n_columns;
             position++) {
            if (is_number(column_at(check, position)->type)) {
                status = check_column(check, b, position, err);
            }
        }
    }
    if (status == DN_OK) {
        status = check_numbers(check, basis, n, err);
    }
    if (status != DN_OK) {
        if (err != NULL && err->field[0] == '\0') {
            dn_error_set_field(err, "basis");
        }
        return status;
    }
    size_t more = dn_basis_n_features(basis, n, check->spec->n_classes);
    if (more > DN_MAX_BASIS_FEATURES - *n_features) {
        return dni_error_at(
            more == SIZE_MAX
                ? dn_error_set(err, DN_ERR_ARGUMENT,
                               "the bases make more than %d features: lower the degree, or "
                               "take fewer columns",
                               DN_MAX_BASIS_FEATURES)
                : dn_error_set(err, DN_ERR_ARGUMENT,
                               "the bases make at least %zu features, more than %d",
                               *n_features + more, DN_MAX_BASIS_FEATURES),
            "basis", -1, err);
    }
    *n_features += more;
    return DN_OK;
}

static dn_status check_bases(struct check *check, dn_error *err) {
    size_t n_features = 0;
    dn_status status = DN_OK;
    check->basis = calloc(check->spec->n_columns, sizeof *check->basis);
    check->monomials = calloc(check->spec->n_columns, 1);
    if (check->basis == NULL || check->monomials == NULL) {
        status = dni_encoder_no_memory(err);
    }
    for (size_t b = 0; check->basis != NULL && check->monomials != NULL && status == DN_OK &&
                       b < check->spec->n_bases;
         b++) {
        status = check_basis(check, b, &n_features, err);
    }
    free(check->basis);
    free(check->monomials);
    return status;
}

static dn_status check_text(const dn_text_spec *text, dn_error *err) {
    const bool hashed = text->buckets > 0;
    const size_t n = hashed ? text->buckets : text->vocabulary;
    const bool has_length = text->length >= 1 && text->length <= DN_MAX_PATH_LABELS;
    if (text->weighting > DN_TEXT_TFIDF ? text->weighting != DN_TEXT_PATHS || has_length
                                        : n <= DN_MAX_WORDS) {
        return DN_OK;
    }
    return dni_error_at(text->weighting == DN_TEXT_PATHS
                            ? dn_error_set(err, DN_ERR_ARGUMENT,
                                           "the length of paths must be 1 to %d labels (got %u)",
                                           DN_MAX_PATH_LABELS, text->length)
                            : dn_error_set(err, DN_ERR_ARGUMENT,
                                           "the %s of text columns %s at most %zu (got %zu)",
                                           hashed ? "buckets" : "vocabulary", hashed ? "are" : "is",
                                           DN_MAX_WORDS, n),
                        "text", -1, err);
}

static dn_status check_sparse(const dn_encoder_spec *spec, size_t i, const dn_table_column *column,
                              dn_error *err) {
    if (column->width > UINT32_MAX) {
        return dni_refuse_column(err, column->name, DN_ERR_DATA,
                                 "has more indices than can be features");
    }
    if (spec->index_filters != NULL &&
        !dn_index_filter_is_valid(&spec->index_filters[i], column->width)) {
        return dni_refuse_column(
            err, column->name, DN_ERR_ARGUMENT,
            "has a list of indices that does not ascend, is out of range or leaves no feature");
    }
    const size_t n = spec->index_filters == NULL
                         ? column->width
                         : dn_index_filter_count(&spec->index_filters[i], column->width);
    if (!spec->standardize || !spec->standardize_sparse || n <= DN_MAX_DENSE_FEATURES) {
        return DN_OK;
    }
    return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                     "column \"%s\" has too many indices to be standardised (got "
                                     "%zu, at most %d)",
                                     column->name, n, DN_MAX_DENSE_FEATURES),
                        column->name, -1, err);
}

dn_status dn_encoder_check(const dn_table_column *columns, size_t n_cols,
                           const dn_encoder_spec *spec, dn_error *err) {
    struct check check = {.columns = columns, .spec = spec};
    dn_status status = DN_OK;
    if (spec->n_columns == 0) {
        return dn_error_set(err, DN_ERR_DATA, "there is no input column");
    }
    for (size_t i = 0; status == DN_OK && i < spec->n_columns; i++) {
        if (spec->columns[i] >= n_cols) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "input column %zu must be one of the table's %zu columns",
                                spec->columns[i], n_cols);
        }
        const dn_table_column *column = column_at(&check, i);
        if (column->type == DN_TEXT) {
            status = check_text(&spec->text, err);
        }
        if (column->type == DN_SPARSE) {
            status = check_sparse(spec, i, column, err);
        }
        if (status == DN_OK && column->part != DN_PART_NONE &&
            (column->type != DN_CATEGORICAL || !dn_datetime_is_form(&column->form) ||
             dni_part_column(column->name, strlen(column->name), column->part) == SIZE_MAX)) {
            status = dni_refuse_column(err, column->name, DN_ERR_ARGUMENT,
                                       "is no part of a column of dates");
        }
        check.n_numbers += is_number(column->type);
    }
    if (status != DN_OK) {
        return status;
    }
    return spec->n_bases == 0 ? DN_OK : check_bases(&check, err);
}
