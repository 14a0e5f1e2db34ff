/* Polynomials, points and random Fourier features compared with their formulas; widths. */
#include "unit/core/encoder/basis/bases.h"

/* ---- polynomial ---- */
static void polynomial(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    static const char *const names[] = {"plain",         "holes",
                                        "flag",          "plain^2",
                                        "plain*holes",   "plain*flag",
                                        "holes^2",       "holes*flag",
                                        "flag^2",        "plain^3",
                                        "plain^2*holes", "plain^2*flag",
                                        "plain*holes^2", "plain*holes*flag",
                                        "plain*flag^2",  "holes^3",
                                        "holes^2*flag",  "holes*flag^2",
                                        "flag^3"};
    static const unsigned power[][P] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {1, 1, 0},
                                        {1, 0, 1}, {0, 2, 0}, {0, 1, 1}, {0, 0, 2}, {3, 0, 0},
                                        {2, 1, 0}, {2, 0, 1}, {1, 2, 0}, {1, 1, 1}, {1, 0, 2},
                                        {0, 3, 0}, {0, 2, 1}, {0, 1, 2}, {0, 0, 3}};
    const size_t order[] = {0, 1, 2};
    dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL,
                           .columns = order,
                           .n_columns = P,
                           .degree = 3,
                           .interactions = true};
    assert_int_equal(dn_basis_n_features(&basis, P, 0), 19);
    dn_encoder_spec spec = bases_spec(&basis, 1, false);
    dn_encoder *encoder = bases_fit(t, 2, &spec, NULL, NULL, NULL);
    size_t levels = dn_encoder_input(encoder, 3)->n_features;
    assert_int_equal(dn_encoder_n_features(encoder),
                     levels + 19); /* a column is one feature only */
    assert_true(dn_encoder_input(encoder, 0)->in_basis_only &&
                dn_encoder_input(encoder, 0)->n_features == 0);
    for (size_t j = 0; j < 19; j++) {
        name_is(encoder, levels + j, names[j]);
    }
    name_is(encoder, levels - 1, "colour=(missing)");
    for (size_t i = 0; i < TABLE_ROWS; i += 97) {
        double z[P], x[64];
        numbers_of(t, encoder, i, z);
        bases_features(t, encoder, i, x);
        for (size_t j = 0; j < 19; j++) {
            close_to(x[levels + j],
                     pow(z[0], power[j][0]) * pow(z[1], power[j][1]) * pow(z[2], power[j][2]),
                     1e-14);
        }
    }
    dn_encoder_unref(encoder);

    basis.interactions = false;
    basis.n_columns = 2;
    encoder = bases_fit(t, 0, &spec, NULL, NULL, NULL);
    static const char *const powers[] = {"plain",   "holes",   "plain^2",
                                         "holes^2", "plain^3", "holes^3"};
    assert_int_equal(dn_basis_n_features(&basis, 2, 0), 6);
    name_is(encoder, 0, "flag");
    for (size_t j = 0; j < 6; j++) {
        name_is(encoder, dn_encoder_n_features(encoder) - 6 + j, powers[j]);
    }
    dn_encoder_unref(encoder);
    basis.interactions = true;
    for (unsigned degree = 1; degree <= DN_MAX_DEGREE; degree++) { /* C(n + degree, degree) - 1 */
        double want = 1;
        basis.degree = degree;
        for (unsigned k = 1; k <= degree; k++) {
            want *= (20.0 + k) / k;
        }
        assert_int_equal(dn_basis_n_features(&basis, 20, 0), (size_t)(want + 0.5) - 1);
    }
    assert_true(dn_basis_n_features(&basis, SIZE_MAX, 0) == SIZE_MAX);
    free(t);
}

/* ---- points, random Fourier features ---- */
static void points_given(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    const double points[] = {0, 0.5, 1, 5, -1, 0, 2, 2, 2};
    for (int standardize = 0; standardize < 2; standardize++) {
        const size_t three[] = {0, 1, 2};
        dn_basis_spec bases[] = {{.kind = DN_BASIS_GAUSSIAN,
                                  .columns = three,
                                  .n_columns = P,
                                  .standardize = standardize == 1,
                                  .points = points,
                                  .n_points = 2,
                                  .width = 1.5},
                                 {.kind = DN_BASIS_DISTANCE,
                                  .n_columns = 0,
                                  .keep = true,
                                  .standardize = standardize == 1,
                                  .points = points,
                                  .n_points = 3},
                                 {.kind = DN_BASIS_GAUSSIAN,
                                  .columns = three,
                                  .n_columns = P,
                                  .points = points,
                                  .n_points = 1,
                                  .width = 10}};
        dn_encoder_spec spec = bases_spec(bases, 3, false);
        dn_encoder *encoder = bases_fit(t, 1, &spec, t->role, t->weight, NULL);
        const size_t first = dn_encoder_n_features(encoder) - 6;
        static const char *const names[] = {"gaussian(1)", "gaussian(2)", "distance(1)",
                                            "distance(2)", "distance(3)", "gaussian(3)"};
        name_is(encoder, 0, "plain"); /* one of the bases keeps them */
        for (size_t j = 0; j < 6; j++) {
            name_is(encoder, first + j, names[j]);
        }
        double mean[P] = {0}, scale[P] = {1, 1, 1};
        for (size_t c = 0; c < P && standardize == 1; c++) {
            moments_of(t, encoder, c, t->role, t->weight, &mean[c], &scale[c]);
        }
        for (size_t i = 0; i < TABLE_ROWS; i += 101) {
            double z[P], x[64], square[3] = {0}, plain = 0;
            numbers_of(t, encoder, i, z);
            bases_features(t, encoder, i, x);
            for (size_t k = 0; k < 3; k++) {
                for (size_t c = 0; c < P; c++) {
                    square[k] += pow((z[c] - points[k * P + c]) / scale[c], 2);
                }
            }
            for (size_t c = 0; c < P; c++) {
                plain += pow(z[c] - points[c], 2);
            }
            for (size_t k = 0; k < 2; k++) {
                close_to(x[first + k], exp(-square[k] / (2 * 1.5 * 1.5)), 1e-10);
            }
            for (size_t k = 0; k < 3; k++) {
                close_to(x[first + 2 + k], sqrt(square[k]), 1e-10);
            }
            close_to(x[first + 5], exp(-plain / 200), 1e-12);
        }
        dn_encoder_unref(encoder);
    }
    free(t);
}

/* Scalar products of random Fourier features approximate the Gaussian kernel. */
static void random_fourier(void **unused) {
    (void)unused;
    enum { D = 20000 };
    table *t = mixed_table_new(3);
    const size_t three[] = {0, 1, 2};
    dn_basis_spec basis = {.kind = DN_BASIS_RANDOM_FOURIER,
                           .columns = three,
                           .n_columns = P,
                           .n_features = D,
                           .width = 2.5};
    dn_encoder_spec spec = bases_spec(&basis, 1, false);
    dn_encoder *encoder = bases_fit(t, 0, &spec, NULL, NULL, NULL);
    size_t d = dn_encoder_n_features(encoder), first = d - D;
    double *x = malloc(2 * d * sizeof *x), z[2][P], worst = 0, least = 1, most = 0;
    name_is(encoder, first, "random_fourier(1)");
    name_is(encoder, d - 1, "random_fourier(20000)");
    for (size_t i = 0; i < 40; i++) {
        double product = 0, square = 0;
        for (size_t k = 0; k < 2; k++) {
            numbers_of(t, encoder, 17 * i + 5000 * k, z[k]);
            bases_features(t, encoder, 17 * i + 5000 * k, x + k * d);
        }
        for (size_t j = 0; j < D; j++) {
            product += x[first + j] * x[d + first + j];
        }
        for (size_t c = 0; c < P; c++) {
            square += (z[0][c] - z[1][c]) * (z[0][c] - z[1][c]);
        }
        double kernel = exp(-square / (2 * 2.5 * 2.5));
        worst = fmax(worst, fabs(product - kernel));
        least = fmin(least, kernel);
        most = fmax(most, kernel);
    }
    assert_true(worst < 0.05 && least < 0.3 && most > 0.8);
    free(x);
    dn_encoder_unref(encoder);
    dn_run other = dn_run_default();
    double a[2][64];
    basis.n_features = 4;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        other.seed = seed;
        encoder = bases_fit(t, 0, &spec, NULL, NULL, &other);
        bases_features(t, encoder, 0, a[seed - 1]);
        dn_encoder_unref(encoder);
    }
    assert_memory_not_equal(a[0], a[1], (first + 4) * sizeof(double));
    free(t);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* With at most 1,000 rows all pairs are used: the width is their median distance. */
static void median_width(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    enum { N = 300 };
    const size_t three[] = {0, 1, 2};
    const double point[] = {1, 0.5, 0};
    double *distance = malloc((size_t)N * N * sizeof *distance), x[64], z[N][P];
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->role[i] = i % 30 == 0 ? DN_ROW_TRAIN : DN_ROW_SKIP;
        t->weight[i] = i % 60 == 0 ? 0.5 : i % 90 == 0 ? 0 : 1;
    }
    dn_basis_spec basis = {.kind = DN_BASIS_GAUSSIAN,
                           .columns = three,
                           .n_columns = P,
                           .points = point,
                           .n_points = 1};
    dn_encoder_spec spec = bases_spec(&basis, 1, false);
    dn_encoder *encoder = bases_fit(t, 2, &spec, t->role, t->weight, NULL);
    size_t n = 0, pairs = 0;
    for (size_t i = 0; i < TABLE_ROWS; i += 30) {
        if (t->weight[i] > 0) {
            numbers_of(t, encoder, i, z[n++]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++, pairs++) {
            distance[pairs] = sqrt(pow(z[i][0] - z[j][0], 2) + pow(z[i][1] - z[j][1], 2) +
                                   pow(z[i][2] - z[j][2], 2));
        }
    }
    qsort(distance, pairs, sizeof *distance, ascending);
    double width = (distance[(pairs - 1) / 2] + distance[pairs / 2]) / 2, square = 0, row[P];
    bases_features(t, encoder, 4242, x);
    numbers_of(t, encoder, 4242, row);
    for (size_t c = 0; c < P; c++) {
        square += (row[c] - point[c]) * (row[c] - point[c]);
    }
    close_to(x[dn_encoder_n_features(encoder) - 1], exp(-square / (2 * width * width)), 1e-12);
    dn_encoder_unref(encoder);
    for (size_t i = 0; i < TABLE_ROWS; i++) { /* equal rows: 1 */
        t->number[T_PLAIN][i] = t->number[T_HOLES][i] = t->number[T_FLAG][i] = 0;
    }
    encoder = bases_fit(t, 0, &spec, NULL, NULL, NULL);
    bases_features(t, encoder, 0, x);
    close_to(x[dn_encoder_n_features(encoder) - 1], exp(-1.25 / 2), 1e-15);
    dn_encoder_unref(encoder);
    free(distance);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(polynomial), cmocka_unit_test(points_given),
                                       cmocka_unit_test(random_fourier),
                                       cmocka_unit_test(median_width)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
