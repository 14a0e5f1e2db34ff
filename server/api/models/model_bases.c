/* Writes fitted bases as JSON. Centres and points are in the units of the columns, as in a job;
 * frequencies and directions are in the units of z = (x − mean)/scale. */
#include "api/models/model_bases.h"

#include "api/describe.h"
#include "jobs/request/features.h"

/* Returns the number of elements of the matrix [n_features × n_columns]. */
static double points_of(const dn_basis *basis) {
    return basis->points ? (double)basis->n_features * (double)basis->n_columns : 0;
}

double api_bases_matrix_numbers(const dn_encoder *encoder) {
    double numbers = 0;
    for (size_t b = 0; b < dn_encoder_n_bases(encoder); b++) {
        const dn_basis basis = dn_encoder_basis(encoder, b);
        numbers += points_of(&basis);
    }
    return numbers;
}

static void put_columns(struct json_writer *w, const dn_encoder *encoder, const dn_basis *basis) {
    json_kv_begin_array(w, "columns");
    for (size_t c = 0; c < basis->n_columns; c++) {
        json_put_string(w, dn_encoder_input(encoder, basis->columns[c])->name);
    }
    json_end_array(w);
    json_kv_begin_array(w, "fill");
    for (size_t c = 0; c < basis->n_columns; c++) {
        json_put_double(w, dn_encoder_input(encoder, basis->columns[c])->fill);
    }
    json_end_array(w);
}

/* Writes points in the units of the columns. */
static void put_points(struct json_writer *w, const char *key, const dn_basis *basis) {
    json_kv_begin_array(w, key);
    for (size_t k = 0; k < basis->n_features && !w->out->failed; k++) {
        const double *z = basis->points + k * basis->n_columns;
        json_begin_array(w);
        for (size_t c = 0; c < basis->n_columns; c++) {
            json_put_double(w, basis->mean ? basis->mean[c] + basis->scale[c] * z[c] : z[c]);
        }
        json_end_array(w);
    }
    json_end_array(w);
}

static void put_learned(struct json_writer *w, const dn_basis *basis, bool matrices) {
    if (basis->width > 0) {
        json_kv_double(w, "width", basis->width);
    }
    switch (basis->kind) {
    case DN_BASIS_POLYNOMIAL:
        json_kv_int(w, "degree", basis->degree);
        json_kv_bool(w, "interactions", basis->interactions);
        return;
    case DN_BASIS_GAUSSIAN:
    case DN_BASIS_DISTANCE:
        if (matrices) {
            put_points(w, basis->kind == DN_BASIS_GAUSSIAN ? "centres" : "points", basis);
        }
        return;
    case DN_BASIS_RANDOM_FOURIER:
        if (matrices) {
            json_put_matrix(w, "frequencies", basis->points, basis->n_features, basis->n_columns);
            json_put_vector(w, "phases", basis->phase, basis->n_features);
        }
        return;
    case DN_BASIS_FISHER:
        if (matrices) {
            json_put_matrix(w, "directions", basis->points, basis->n_features, basis->n_columns);
        }
        return;
    }
}

void api_bases_write(const dn_encoder *encoder, bool matrices, struct json_writer *w) {
    if (dn_encoder_n_bases(encoder) == 0) {
        return;
    }
    json_kv_begin_array(w, "bases");
    for (size_t b = 0; b < dn_encoder_n_bases(encoder) && !w->out->failed; b++) {
        const dn_basis basis = dn_encoder_basis(encoder, b);
        json_begin_object(w);
        json_kv_string(w, "type", jobs_basis_kind_name(basis.kind));
        put_columns(w, encoder, &basis);
        json_kv_bool(w, "keep", basis.keep);
        if (basis.kind != DN_BASIS_POLYNOMIAL) {
            json_kv_bool(w, "standardize", basis.mean != NULL);
        }
        json_kv_int(w, "first_feature", (int64_t)basis.first_feature);
        json_kv_int(w, "n_features", (int64_t)basis.n_features);
        if (basis.mean) {
            json_put_vector(w, "mean", basis.mean, basis.n_columns);
            json_put_vector(w, "scale", basis.scale, basis.n_columns);
        }
        put_learned(w, &basis, matrices);
        json_end_object(w);
    }
    json_end_array(w);
}
