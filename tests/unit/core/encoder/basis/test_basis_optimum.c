/* Parameters that bases find in the data, tested by their optimality conditions: centres,
 * directions. */
#include "unit/core/encoder/basis/bases.h"

/* ---- k-means ---- */
/* The values of exp(-|z - c|^2/2) at 0 and at the unit vectors determine c. */
static void centre_of(const dn_encoder *encoder, size_t feature, size_t p, double *c) {
    double raw[P + 1] = {0, 0, 0, nan_value}, x[64], at_zero;
    dni_encoder_expand(encoder, dn_raw_numbers(raw, 1), x);
    at_zero = log(x[feature]);
    for (size_t k = 0; k < p; k++) {
        raw[k] = 1;
        dni_encoder_expand(encoder, dn_raw_numbers(raw, 1), x);
        raw[k] = 0;
        c[k] = log(x[feature]) - at_zero + 0.5;
    }
}

/* Each fitted centre is the mean of the rows that are nearest to it. k-means++ finds clusters with
 * large distances between them. */
static void centres(void **unused) {
    (void)unused;
    enum { K = 5 };
    table *t = mixed_table_new(3);
    for (size_t i = 0; i < TABLE_ROWS;
         i++) { /* five clusters; their distances are large compared with their deviations */
        uint64_t s = i + 1;
        for (int k = 0; k < 5; k++) {
            mixed_table_random(&s);
        }
        t->number[T_PLAIN][i] =
            2.0 * cos(1.2566 * (double)(i % K)) + (double)(mixed_table_random(&s) % 1000) * 3e-4;
        t->number[T_HOLES][i] =
            2.0 * sin(1.2566 * (double)(i % K)) + (double)(mixed_table_random(&s) % 1000) * 3e-4;
    }
    const size_t two[] = {0, 1};
    dn_basis_spec basis = {
        .kind = DN_BASIS_GAUSSIAN, .columns = two, .n_columns = 2, .n_points = K, .width = 1};
    dn_encoder_spec spec = bases_spec(&basis, 1, false);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        dn_run run = dn_run_default();
        run.seed = seed;
        dn_encoder *encoder = bases_fit(t, 1, &spec, t->role, t->weight, &run);
        size_t first = dn_encoder_n_features(encoder) - K;
        double centre[K][2], sum[K][3] = {{0}};
        bool cluster[K] = {false};
        for (size_t k = 0; k < K; k++) {
            centre_of(encoder, first + k, 2, centre[k]);
        }
        for (size_t i = 0; i < TABLE_ROWS; i++) {
            double v = bases_weight(t->role, t->weight, i), z[P], x[64];
            size_t best = 0;
            if (v == 0) {
                continue;
            }
            numbers_of(t, encoder, i, z);
            bases_features(t, encoder, i, x);
            for (size_t k = 1; k < K; k++) {
                best = x[first + k] > x[first + best] ? k : best;
            }
            sum[best][0] += v * z[0];
            sum[best][1] += v * z[1];
            sum[best][2] += v;
            cluster[i % K] = true;
        }
        for (size_t k = 0; k < K; k++) {
            assert_true(sum[k][2] > 0);
            for (size_t c = 0; c < 2; c++) {
                if (!(fabs(centre[k][c] - sum[k][c] / sum[k][2]) < 1e-5)) {
                    fail_msg("centre %zu: %g, the mean of its rows is %g", k, centre[k][c],
                             sum[k][c] / sum[k][2]);
                }
            }
            assert_true(cluster[k]);
        }
        dn_encoder_unref(encoder);
    }
    basis.n_points = 3;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->number[T_PLAIN][i] = (double)(i % 2);
        t->number[T_HOLES][i] = 7;
    }
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    assert_int_equal(bases_try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "a gaussian basis cannot have 3 centres: only 2 training rows "
                                     "are different in its columns");
    free(t);
}

/* ---- fisher ---- */
/* S_B w = r S_W w with r = w'S_B w / w'S_W w, recomputed; r descends; directions have length 1. */
static void fisher(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->target[i] = (double)(i * 7 % 4);
        t->number[T_PLAIN][i] += 1.5 * t->target[i];
        t->number[T_HOLES][i] =
            isnan(t->number[T_HOLES][i])
                ? nan_value
                : t->number[T_HOLES][i] * (i % 4 == 2 ? 3 : 1) + 0.05 * t->number[T_PLAIN][i];
    }
    const size_t three[] = {0, 1, 2};
    for (size_t K = 2; K <= 4; K += 2) {
        for (int standardize = 0; standardize < 2; standardize++) {
            for (size_t i = 0; i < TABLE_ROWS; i++) {
                t->target[i] = (double)(i * 7 % K);
            }
            dn_basis_spec basis = {.kind = DN_BASIS_FISHER,
                                   .columns = three,
                                   .n_columns = P,
                                   .standardize = standardize == 1};
            dn_encoder_spec spec = bases_spec(&basis, 1, false);
            spec.target = t->target;
            spec.n_classes = K;
            dn_encoder *encoder = bases_fit(t, 2, &spec, t->role, t->weight, NULL);
            size_t n = K - 1, first = dn_encoder_n_features(encoder) - n;
            double mean[4][P + 1] = {{0}}, all[P] = {0}, total = 0, within[P][P] = {{0}},
                               between[P][P] = {{0}}, before = (double)INFINITY;
            double centre[P] = {0}, scale[P] = {1, 1, 1}, z[P], zero[64], unit[64];
            for (size_t c = 0; c < P && standardize == 1; c++) {
                moments_of(t, encoder, c, t->role, t->weight, &centre[c], &scale[c]);
            }
            for (int pass = 0; pass < 2; pass++) {
                for (size_t i = 0; i < TABLE_ROWS; i++) {
                    double v = bases_weight(t->role, t->weight, i), *m = mean[(size_t)t->target[i]];
                    numbers_of(t, encoder, i, z);
                    total += pass == 0 ? v : 0;
                    m[P] += pass == 0 ? v : 0;
                    for (size_t a = 0; a < P; a++) {
                        m[a] += pass == 0 ? v * (z[a] - centre[a]) / scale[a] : 0;
                        all[a] += pass == 0 ? v * (z[a] - centre[a]) / scale[a] : 0;
                        for (size_t b = 0; pass == 1 && b < P; b++) {
                            within[a][b] += v * ((z[a] - centre[a]) / scale[a] - m[a] / m[P]) *
                                            ((z[b] - centre[b]) / scale[b] - m[b] / m[P]);
                        }
                    }
                }
            }
            for (size_t k = 0; k < K; k++) {
                for (size_t a = 0; a < P; a++) {
                    for (size_t b = 0; b < P; b++) {
                        between[a][b] += mean[k][P] * (mean[k][a] / mean[k][P] - all[a] / total) *
                                         (mean[k][b] / mean[k][P] - all[b] / total);
                    }
                }
            }
            double raw[P + 1] = {centre[0], centre[1], centre[2], nan_value};
            dni_encoder_expand(encoder, dn_raw_numbers(raw, 1), zero);
            for (size_t j = 0; j < n; j++) {
                double w[P], sw[P] = {0}, sb[P] = {0}, b = 0, s = 0, length = 0, towards = 0,
                             size = 0;
                for (size_t c = 0; c < P; c++) {
                    raw[c] += scale[c];
                    dni_encoder_expand(encoder, dn_raw_numbers(raw, 1), unit);
                    raw[c] = centre[c];
                    w[c] = unit[first + j] - zero[first + j];
                    length += w[c] * w[c];
                    towards += w[c] * (mean[1][c] / mean[1][P] - mean[0][c] / mean[0][P]);
                }
                for (size_t x = 0; x < P; x++) {
                    for (size_t y = 0; y < P; y++) {
                        sw[x] += within[x][y] * w[y];
                        sb[x] += between[x][y] * w[y];
                    }
                }
                for (size_t c = 0; c < P; c++) {
                    b += w[c] * sb[c];
                    s += w[c] * sw[c];
                    size = fmax(size, fabs(sw[c]));
                }
                close_to(length, 1, 1e-12);
                assert_true(b / s < before && b > 0);
                before = b / s;
                for (size_t c = 0; c < P; c++) {
                    assert_true(fabs(sb[c] - b / s * sw[c]) < 1e-9 * before * size + 1e-11 * size);
                }
                assert_true(K > 2 || towards > 0);
                double largest = fabs(w[0]) > fabs(w[1]) ? w[0] : w[1];
                largest = fabs(w[2]) > fabs(largest) ? w[2] : largest;
                assert_true(K == 2 || largest > 0);
            }
            name_is(encoder, first, "fisher(1)");
            dn_encoder_unref(encoder);
        }
    }
    /* a column that occurs twice is named */
    memcpy(t->number[T_HOLES], t->number[T_PLAIN], sizeof t->number[T_PLAIN]);
    dn_basis_spec basis = {.kind = DN_BASIS_FISHER, .columns = three, .n_columns = P};
    dn_encoder_spec spec = bases_spec(&basis, 1, false);
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    spec.target = t->target;
    spec.n_classes = 4;
    assert_int_equal(bases_try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "leave out one of \"plain\", \"holes\""));
    assert_string_equal(err.field, "plain");
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->number[T_HOLES][i] = t->target[i];
    }
    dn_error_clear(&err);
    assert_int_equal(bases_try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_NUMERIC);
    assert_string_equal(err.field, "holes");
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(centres), cmocka_unit_test(fisher)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
