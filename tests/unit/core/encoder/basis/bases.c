#include "unit/core/encoder/basis/bases.h"

dn_status bases_try_fit(const table *t, size_t cut, const dn_encoder_spec *spec,
                        const uint8_t *role, const double *weight, const dn_run *run,
                        dn_encoder **out, dn_error *err) {
    size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(cut, borders);
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
    dn_status status = dn_encoder_fit(&source.source, spec, role, weight, run, out, err);
    chunked_done(&source);
    return status;
}

dn_encoder *bases_fit(const table *t, size_t cut, const dn_encoder_spec *spec, const uint8_t *role,
                      const double *weight, const dn_run *run) {
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    if (bases_try_fit(t, cut, spec, role, weight, run, &encoder, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return encoder;
}

void close_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300))) {
        fail_msg("%.17g, expected %.17g", got, want);
    }
}

void name_is(const dn_encoder *encoder, size_t j, const char *want) {
    char name[128];
    assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name), strlen(want));
    assert_string_equal(name, want);
}

dn_encoder_spec bases_spec(const dn_basis_spec *bases, size_t n, bool standardize) {
    return (dn_encoder_spec){.columns = columns,
                             .n_columns = P + 1,
                             .standardize = standardize,
                             .bases = bases,
                             .n_bases = n};
}

void numbers_of(const table *t, const dn_encoder *encoder, size_t i, double *z) {
    for (size_t c = 0; c < P; c++) {
        double x = t->number[columns[c]][i];
        z[c] = isnan(x) ? dn_encoder_input(encoder, c)->fill : x;
    }
}

void bases_features(const table *t, const dn_encoder *encoder, size_t i, double *x) {
    double raw[P + 1] = {t->number[T_PLAIN][i], t->number[T_HOLES][i], t->number[T_FLAG][i],
                         nan_value};
    dni_encoder_expand(encoder, dn_raw_numbers(raw, 1), x);
}

double bases_weight(const uint8_t *role, const double *weight, size_t i) {
    return role != NULL && role[i] != DN_ROW_TRAIN ? 0 : weight == NULL ? 1 : weight[i];
}

void moments_of(const table *t, const dn_encoder *encoder, size_t c, const uint8_t *role,
                const double *weight, double *mean, double *scale) {
    double v = 0, m = 0, s = 0, z[P];
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < TABLE_ROWS; i++) {
            double w = bases_weight(role, weight, i);
            numbers_of(t, encoder, i, z);
            v += pass == 0 ? w : 0;
            m += pass == 0 ? w * z[c] : 0;
            s += pass == 1 ? w * (z[c] - m / v) * (z[c] - m / v) : 0;
        }
    }
    *mean = m / v;
    *scale = sqrt(s / v);
}
