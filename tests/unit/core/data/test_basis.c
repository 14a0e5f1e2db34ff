/* Bases: every kind against its formula, what is found in the data by the conditions it must meet, names, bytes, refusals. */
#include "data/encoder_bytes.h"
#include "unit/core/data/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { P = 3 }; /* the columns below */
static const size_t columns[] = {T_PLAIN, T_HOLES, T_FLAG, T_COLOUR};
static const double nan_value = (double)NAN;

static dn_status try_fit(const table *t, size_t cut, const dn_encoder_spec *spec, const uint8_t *role, const double *weight,
                         const dn_run *run, dn_encoder **out, dn_error *err) {
    size_t borders[TABLE_MAX_CHUNKS], n = table_cut(cut, borders);
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
    dn_status status = dn_encoder_fit(&source.source, spec, role, weight, run, out, err);
    chunked_done(&source);
    return status;
}

static dn_encoder *fit(const table *t, size_t cut, const dn_encoder_spec *spec, const uint8_t *role, const double *weight,
                       const dn_run *run) {
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    if (try_fit(t, cut, spec, role, weight, run, &encoder, &err) != DN_OK)
        fail_msg("%s", err.message);
    return encoder;
}

static void close_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300)))
        fail_msg("%.17g, expected %.17g", got, want);
}

static void name_is(const dn_encoder *encoder, size_t j, const char *want) {
    char name[128];
    assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name), strlen(want));
    assert_string_equal(name, want);
}

static dn_encoder_spec spec_of(const dn_basis_spec *bases, size_t n, bool standardize) {
    return (dn_encoder_spec){.columns = columns, .n_columns = P + 1, .standardize = standardize, .bases = bases, .n_bases = n};
}

/* Row i of the first P columns, filled. */
static void numbers_of(const table *t, const dn_encoder *encoder, size_t i, double *z) {
    for (size_t c = 0; c < P; c++) {
        double x = t->number[columns[c]][i];
        z[c] = isnan(x) ? dn_encoder_input(encoder, c)->fill : x;
    }
}

/* The features of row i in the raw space; the category is missing. */
static void features_of(const table *t, const dn_encoder *encoder, size_t i, double *x) {
    double raw[P + 1] = {t->number[T_PLAIN][i], t->number[T_HOLES][i], t->number[T_FLAG][i], nan_value};
    dni_encoder_expand(encoder, raw, 1, x);
}

static double weight_of(const uint8_t *role, const double *weight, size_t i) {
    return role != NULL && role[i] != DN_ROW_TRAIN ? 0 : weight == NULL ? 1 : weight[i];
}

/* ---- polynomial ------------------------------------------------------------------------------------------------------------------------ */
static void polynomial(void **unused) {
    (void)unused;
    table *t = table_new(3);
    static const char *const names[] = {
        "plain",        "holes",   "flag",         "plain^2",       "plain*holes",  "plain*flag",    "holes^2",
        "holes*flag",   "flag^2",  "plain^3",      "plain^2*holes", "plain^2*flag", "plain*holes^2", "plain*holes*flag",
        "plain*flag^2", "holes^3", "holes^2*flag", "holes*flag^2",  "flag^3"};
    static const unsigned power[][P] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 2, 0},
                                        {0, 1, 1}, {0, 0, 2}, {3, 0, 0}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0}, {1, 1, 1},
                                        {1, 0, 2}, {0, 3, 0}, {0, 2, 1}, {0, 1, 2}, {0, 0, 3}};
    const size_t order[] = {0, 1, 2};
    dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL, .columns = order, .n_columns = P, .degree = 3, .interactions = true};
    assert_int_equal(dn_basis_n_features(&basis, P, 0), 19);
    dn_encoder_spec spec = spec_of(&basis, 1, false);
    dn_encoder *encoder = fit(t, 2, &spec, NULL, NULL, NULL);
    size_t levels = dn_encoder_input(encoder, 3)->n_features;
    assert_int_equal(dn_encoder_n_features(encoder), levels + 19); /* the columns are no features twice */
    assert_true(dn_encoder_input(encoder, 0)->taken && dn_encoder_input(encoder, 0)->n_features == 0);
    for (size_t j = 0; j < 19; j++)
        name_is(encoder, levels + j, names[j]);
    name_is(encoder, levels - 1, "colour=(missing)");
    for (size_t i = 0; i < TABLE_ROWS; i += 97) {
        double z[P], x[64];
        numbers_of(t, encoder, i, z);
        features_of(t, encoder, i, x);
        for (size_t j = 0; j < 19; j++)
            close_to(x[levels + j], pow(z[0], power[j][0]) * pow(z[1], power[j][1]) * pow(z[2], power[j][2]), 1e-14);
    }
    dn_encoder_unref(encoder);

    basis.interactions = false;
    basis.n_columns = 2;
    encoder = fit(t, 0, &spec, NULL, NULL, NULL);
    static const char *const powers[] = {"plain", "holes", "plain^2", "holes^2", "plain^3", "holes^3"};
    assert_int_equal(dn_basis_n_features(&basis, 2, 0), 6);
    name_is(encoder, 0, "flag");
    for (size_t j = 0; j < 6; j++)
        name_is(encoder, dn_encoder_n_features(encoder) - 6 + j, powers[j]);
    dn_encoder_unref(encoder);
    basis.interactions = true;
    for (unsigned degree = 1; degree <= DN_MAX_DEGREE; degree++) { /* C(n + degree, degree) − 1 */
        double want = 1;
        basis.degree = degree;
        for (unsigned k = 1; k <= degree; k++)
            want *= (20.0 + k) / k;
        assert_int_equal(dn_basis_n_features(&basis, 20, 0), (size_t)(want + 0.5) - 1);
    }
    assert_true(dn_basis_n_features(&basis, SIZE_MAX, 0) == SIZE_MAX);
    free(t);
}

/* ---- points, waves ------------------------------------------------------------------------------------------------------------------------ */
/* Mean and deviation of the filled column. */
static void moments_of(const table *t, const dn_encoder *encoder, size_t c, const uint8_t *role, const double *weight, double *mean,
                       double *scale) {
    double v = 0, m = 0, s = 0, z[P];
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < TABLE_ROWS; i++) {
            double w = weight_of(role, weight, i);
            numbers_of(t, encoder, i, z);
            v += pass == 0 ? w : 0;
            m += pass == 0 ? w * z[c] : 0;
            s += pass == 1 ? w * (z[c] - m / v) * (z[c] - m / v) : 0;
        }
    *mean = m / v;
    *scale = sqrt(s / v);
}

static void points_given(void **unused) {
    (void)unused;
    table *t = table_new(3);
    const double points[] = {0, 0.5, 1, 5, -1, 0, 2, 2, 2};
    for (int standardize = 0; standardize < 2; standardize++) {
        const size_t three[] = {0, 1, 2};
        dn_basis_spec bases[] = {
            {.kind = DN_BASIS_GAUSSIAN,
             .columns = three,
             .n_columns = P,
             .standardize = standardize == 1,
             .points = points,
             .n_points = 2,
             .width = 1.5},
            {.kind = DN_BASIS_DISTANCE, .n_columns = 0, .keep = true, .standardize = standardize == 1, .points = points, .n_points = 3},
            {.kind = DN_BASIS_GAUSSIAN, .columns = three, .n_columns = P, .points = points, .n_points = 1, .width = 10}};
        dn_encoder_spec spec = spec_of(bases, 3, false);
        dn_encoder *encoder = fit(t, 1, &spec, t->role, t->weight, NULL);
        const size_t first = dn_encoder_n_features(encoder) - 6;
        static const char *const names[] = {"gaussian(1)", "gaussian(2)", "distance(1)", "distance(2)", "distance(3)", "gaussian(3)"};
        name_is(encoder, 0, "plain"); /* one of the bases keeps them */
        for (size_t j = 0; j < 6; j++)
            name_is(encoder, first + j, names[j]);
        double mean[P] = {0}, scale[P] = {1, 1, 1};
        for (size_t c = 0; c < P && standardize == 1; c++)
            moments_of(t, encoder, c, t->role, t->weight, &mean[c], &scale[c]);
        for (size_t i = 0; i < TABLE_ROWS; i += 101) {
            double z[P], x[64], square[3] = {0}, plain = 0;
            numbers_of(t, encoder, i, z);
            features_of(t, encoder, i, x);
            for (size_t k = 0; k < 3; k++)
                for (size_t c = 0; c < P; c++)
                    square[k] += pow((z[c] - points[k * P + c]) / scale[c], 2);
            for (size_t c = 0; c < P; c++)
                plain += pow(z[c] - points[c], 2);
            for (size_t k = 0; k < 2; k++)
                close_to(x[first + k], exp(-square[k] / (2 * 1.5 * 1.5)), 1e-10);
            for (size_t k = 0; k < 3; k++)
                close_to(x[first + 2 + k], sqrt(square[k]), 1e-10);
            close_to(x[first + 5], exp(-plain / 200), 1e-12);
        }
        dn_encoder_unref(encoder);
    }
    free(t);
}

/* Inner products of random Fourier features approximate the Gaussian kernel: their error is about 1/√D. */
static void random_fourier(void **unused) {
    (void)unused;
    enum { D = 20000 };
    table *t = table_new(3);
    const size_t three[] = {0, 1, 2};
    dn_basis_spec basis = {.kind = DN_BASIS_RANDOM_FOURIER, .columns = three, .n_columns = P, .n_features = D, .width = 2.5};
    dn_encoder_spec spec = spec_of(&basis, 1, false);
    dn_encoder *encoder = fit(t, 0, &spec, NULL, NULL, NULL);
    size_t d = dn_encoder_n_features(encoder), first = d - D;
    double *x = malloc(2 * d * sizeof *x), z[2][P], worst = 0, least = 1, most = 0;
    name_is(encoder, first, "random_fourier(1)");
    name_is(encoder, d - 1, "random_fourier(20000)");
    for (size_t i = 0; i < 40; i++) {
        double product = 0, square = 0;
        for (size_t k = 0; k < 2; k++) {
            numbers_of(t, encoder, 17 * i + 5000 * k, z[k]);
            features_of(t, encoder, 17 * i + 5000 * k, x + k * d);
        }
        for (size_t j = 0; j < D; j++)
            product += x[first + j] * x[d + first + j];
        for (size_t c = 0; c < P; c++)
            square += (z[0][c] - z[1][c]) * (z[0][c] - z[1][c]);
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
        encoder = fit(t, 0, &spec, NULL, NULL, &other);
        features_of(t, encoder, 0, a[seed - 1]);
        dn_encoder_unref(encoder);
    }
    assert_memory_not_equal(a[0], a[1], (first + 4) * sizeof(double));
    free(t);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* With at most 1,000 rows all pairs are taken: the width is their median distance, read off a Gaussian function. */
static void median_width(void **unused) {
    (void)unused;
    table *t = table_new(3);
    enum { N = 300 };
    const size_t three[] = {0, 1, 2};
    const double point[] = {1, 0.5, 0};
    double *distance = malloc((size_t)N * N * sizeof *distance), x[64], z[N][P];
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->role[i] = i % 30 == 0 ? DN_ROW_TRAIN : DN_ROW_SKIP;
        t->weight[i] = i % 60 == 0 ? 0.5 : i % 90 == 0 ? 0 : 1;
    }
    dn_basis_spec basis = {.kind = DN_BASIS_GAUSSIAN, .columns = three, .n_columns = P, .points = point, .n_points = 1};
    dn_encoder_spec spec = spec_of(&basis, 1, false);
    dn_encoder *encoder = fit(t, 2, &spec, t->role, t->weight, NULL);
    size_t n = 0, pairs = 0;
    for (size_t i = 0; i < TABLE_ROWS; i += 30)
        if (t->weight[i] > 0)
            numbers_of(t, encoder, i, z[n++]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++, pairs++)
            distance[pairs] = sqrt(pow(z[i][0] - z[j][0], 2) + pow(z[i][1] - z[j][1], 2) + pow(z[i][2] - z[j][2], 2));
    qsort(distance, pairs, sizeof *distance, ascending);
    double width = (distance[(pairs - 1) / 2] + distance[pairs / 2]) / 2, square = 0, row[P];
    features_of(t, encoder, 4242, x);
    numbers_of(t, encoder, 4242, row);
    for (size_t c = 0; c < P; c++)
        square += (row[c] - point[c]) * (row[c] - point[c]);
    close_to(x[dn_encoder_n_features(encoder) - 1], exp(-square / (2 * width * width)), 1e-12);
    dn_encoder_unref(encoder);
    for (size_t i = 0; i < TABLE_ROWS; i++) /* rows all alike: 1 */
        t->number[T_PLAIN][i] = t->number[T_HOLES][i] = t->number[T_FLAG][i] = 0;
    encoder = fit(t, 0, &spec, NULL, NULL, NULL);
    features_of(t, encoder, 0, x);
    close_to(x[dn_encoder_n_features(encoder) - 1], exp(-1.25 / 2), 1e-15);
    dn_encoder_unref(encoder);
    free(distance);
    free(t);
}

/* ---- k-means -------------------------------------------------------------------------------------------------------------------------------- */
/* z ↦ exp(−‖z − c‖²/2) at 0 and the unit vectors gives c. */
static void centre_of(const dn_encoder *encoder, size_t feature, size_t p, double *c) {
    double raw[P + 1] = {0, 0, 0, nan_value}, x[64], at_zero;
    dni_encoder_expand(encoder, raw, 1, x);
    at_zero = log(x[feature]);
    for (size_t k = 0; k < p; k++) {
        raw[k] = 1;
        dni_encoder_expand(encoder, raw, 1, x);
        raw[k] = 0;
        c[k] = log(x[feature]) - at_zero + 0.5;
    }
}

/* At the end each centre is the mean of the rows nearest to it, and k-means++ finds clusters that lie apart. */
static void centres(void **unused) {
    (void)unused;
    enum { K = 5 };
    table *t = table_new(3);
    for (size_t i = 0; i < TABLE_ROWS; i++) { /* five clusters, far apart in units of their spread */
        uint64_t s = i + 1;
        for (int k = 0; k < 5; k++)
            table_random(&s);
        t->number[T_PLAIN][i] = 2.0 * cos(1.2566 * (double)(i % K)) + (double)(table_random(&s) % 1000) * 3e-4;
        t->number[T_HOLES][i] = 2.0 * sin(1.2566 * (double)(i % K)) + (double)(table_random(&s) % 1000) * 3e-4;
    }
    const size_t two[] = {0, 1};
    dn_basis_spec basis = {.kind = DN_BASIS_GAUSSIAN, .columns = two, .n_columns = 2, .n_points = K, .width = 1};
    dn_encoder_spec spec = spec_of(&basis, 1, false);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        dn_run run = dn_run_default();
        run.seed = seed;
        dn_encoder *encoder = fit(t, 1, &spec, t->role, t->weight, &run);
        size_t first = dn_encoder_n_features(encoder) - K;
        double centre[K][2], sum[K][3] = {{0}};
        bool cluster[K] = {false};
        for (size_t k = 0; k < K; k++)
            centre_of(encoder, first + k, 2, centre[k]);
        for (size_t i = 0; i < TABLE_ROWS; i++) {
            double v = weight_of(t->role, t->weight, i), z[P], x[64];
            size_t best = 0;
            if (v == 0)
                continue;
            numbers_of(t, encoder, i, z);
            features_of(t, encoder, i, x);
            for (size_t k = 1; k < K; k++)
                best = x[first + k] > x[first + best] ? k : best;
            sum[best][0] += v * z[0];
            sum[best][1] += v * z[1];
            sum[best][2] += v;
            cluster[i % K] = true;
        }
        for (size_t k = 0; k < K; k++) {
            assert_true(sum[k][2] > 0);
            for (size_t c = 0; c < 2; c++)
                if (!(fabs(centre[k][c] - sum[k][c] / sum[k][2]) < 1e-5))
                    fail_msg("centre %zu: %g, the mean of its rows is %g", k, centre[k][c], sum[k][c] / sum[k][2]);
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
    assert_int_equal(try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "a gaussian basis cannot have 3 centres: only 2 training rows are different in its columns");
    free(t);
}

/* ---- fisher ----------------------------------------------------------------------------------------------------------------------------------- */
/* S_B w = ρ S_W w with ρ = wᵀS_B w / wᵀS_W w, recomputed; ρ descends; directions have length 1 and the signs that are said. */
static void fisher(void **unused) {
    (void)unused;
    table *t = table_new(3);
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->target[i] = (double)(i * 7 % 4);
        t->number[T_PLAIN][i] += 1.5 * t->target[i];
        t->number[T_HOLES][i] =
            isnan(t->number[T_HOLES][i]) ? nan_value : t->number[T_HOLES][i] * (i % 4 == 2 ? 3 : 1) + 0.05 * t->number[T_PLAIN][i];
    }
    const size_t three[] = {0, 1, 2};
    for (size_t K = 2; K <= 4; K += 2)
        for (int standardize = 0; standardize < 2; standardize++) {
            for (size_t i = 0; i < TABLE_ROWS; i++)
                t->target[i] = (double)(i * 7 % K);
            dn_basis_spec basis = {.kind = DN_BASIS_FISHER, .columns = three, .n_columns = P, .standardize = standardize == 1};
            dn_encoder_spec spec = spec_of(&basis, 1, false);
            spec.target = t->target;
            spec.n_classes = K;
            dn_encoder *encoder = fit(t, 2, &spec, t->role, t->weight, NULL);
            size_t n = K - 1, first = dn_encoder_n_features(encoder) - n;
            double mean[4][P + 1] = {{0}}, all[P] = {0}, total = 0, within[P][P] = {{0}}, between[P][P] = {{0}}, before = (double)INFINITY;
            double centre[P] = {0}, scale[P] = {1, 1, 1}, z[P], zero[64], unit[64];
            for (size_t c = 0; c < P && standardize == 1; c++)
                moments_of(t, encoder, c, t->role, t->weight, &centre[c], &scale[c]);
            for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < TABLE_ROWS; i++) {
                    double v = weight_of(t->role, t->weight, i), *m = mean[(size_t)t->target[i]];
                    numbers_of(t, encoder, i, z);
                    total += pass == 0 ? v : 0;
                    m[P] += pass == 0 ? v : 0;
                    for (size_t a = 0; a < P; a++) {
                        m[a] += pass == 0 ? v * (z[a] - centre[a]) / scale[a] : 0;
                        all[a] += pass == 0 ? v * (z[a] - centre[a]) / scale[a] : 0;
                        for (size_t b = 0; pass == 1 && b < P; b++)
                            within[a][b] +=
                                v * ((z[a] - centre[a]) / scale[a] - m[a] / m[P]) * ((z[b] - centre[b]) / scale[b] - m[b] / m[P]);
                    }
                }
            for (size_t k = 0; k < K; k++)
                for (size_t a = 0; a < P; a++)
                    for (size_t b = 0; b < P; b++)
                        between[a][b] +=
                            mean[k][P] * (mean[k][a] / mean[k][P] - all[a] / total) * (mean[k][b] / mean[k][P] - all[b] / total);
            double raw[P + 1] = {centre[0], centre[1], centre[2], nan_value};
            dni_encoder_expand(encoder, raw, 1, zero);
            for (size_t j = 0; j < n; j++) {
                double w[P], sw[P] = {0}, sb[P] = {0}, b = 0, s = 0, length = 0, towards = 0, size = 0;
                for (size_t c = 0; c < P; c++) {
                    raw[c] += scale[c];
                    dni_encoder_expand(encoder, raw, 1, unit);
                    raw[c] = centre[c];
                    w[c] = unit[first + j] - zero[first + j];
                    length += w[c] * w[c];
                    towards += w[c] * (mean[1][c] / mean[1][P] - mean[0][c] / mean[0][P]);
                }
                for (size_t x = 0; x < P; x++)
                    for (size_t y = 0; y < P; y++) {
                        sw[x] += within[x][y] * w[y];
                        sb[x] += between[x][y] * w[y];
                    }
                for (size_t c = 0; c < P; c++) {
                    b += w[c] * sb[c];
                    s += w[c] * sw[c];
                    size = fmax(size, fabs(sw[c]));
                }
                close_to(length, 1, 1e-12);
                assert_true(b / s < before && b > 0);
                before = b / s;
                for (size_t c = 0; c < P; c++)
                    assert_true(fabs(sb[c] - b / s * sw[c]) < 1e-9 * before * size + 1e-11 * size);
                assert_true(K > 2 || towards > 0);
                double largest = fabs(w[0]) > fabs(w[1]) ? w[0] : w[1];
                largest = fabs(w[2]) > fabs(largest) ? w[2] : largest;
                assert_true(K == 2 || largest > 0);
            }
            name_is(encoder, first, "fisher(1)");
            dn_encoder_unref(encoder);
        }
    /* a column twice: named */
    memcpy(t->number[T_HOLES], t->number[T_PLAIN], sizeof t->number[T_PLAIN]);
    dn_basis_spec basis = {.kind = DN_BASIS_FISHER, .columns = three, .n_columns = P};
    dn_encoder_spec spec = spec_of(&basis, 1, false);
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    spec.target = t->target;
    spec.n_classes = 4;
    assert_int_equal(try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "leave out one of \"plain\", \"holes\""));
    assert_string_equal(err.field, "plain");
    for (size_t i = 0; i < TABLE_ROWS; i++)
        t->number[T_HOLES][i] = t->target[i];
    dn_error_clear(&err);
    assert_int_equal(try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_NUMERIC);
    assert_string_equal(err.field, "holes");
    free(t);
}

/* ---- together ------------------------------------------------------------------------------------------------------------------------------------ */
static const size_t place_0_1[] = {0, 1}, place_0_2[] = {0, 2};
static const dn_basis_spec many[] = {
    {.kind = DN_BASIS_POLYNOMIAL, .columns = place_0_1, .n_columns = 2, .degree = 2, .interactions = true},
    {.kind = DN_BASIS_GAUSSIAN, .columns = place_0_1, .n_columns = 2, .keep = true, .standardize = true, .n_points = 3},
    {.kind = DN_BASIS_DISTANCE, .columns = place_0_2, .n_columns = 2, .points = (const double[]){0, 0, 1, 1}, .n_points = 2},
    {.kind = DN_BASIS_RANDOM_FOURIER, .columns = place_0_1, .n_columns = 2, .standardize = true, .n_features = 4},
    {.kind = DN_BASIS_FISHER, .n_columns = 0, .standardize = true}};
enum { N_MANY = 5, MANY_FEATURES = 5 + 3 + 2 + 4 + 2 };

static dn_encoder_spec many_spec(const table *t) {
    dn_encoder_spec spec = spec_of(many, N_MANY, true);
    spec.target = t->target;
    spec.n_classes = 3;
    return spec;
}

/* Features of bases have mean 0 and deviation 1 over the training rows; other features are as they were. */
static void standardised(void **unused) {
    (void)unused;
    table *t = table_new(3);
    dn_encoder_spec spec = many_spec(t);
    dn_encoder *encoder = fit(t, 3, &spec, t->role, t->weight, NULL);
    size_t d = dn_encoder_n_features(encoder), first = d - MANY_FEATURES;
    assert_int_equal(first,
                     dn_encoder_input(encoder, 3)->n_features); /* the polynomial holds two of the numbers; the third is kept by nobody */
    double sum[64] = {0}, square[64] = {0}, total = 0;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        double v = weight_of(t->role, t->weight, i), x[64], y[64];
        double raw[P + 1] = {t->number[T_PLAIN][i], t->number[T_HOLES][i], t->number[T_FLAG][i], 1};
        dn_encoder_apply(encoder, raw, 1, x);
        dni_encoder_expand(encoder, raw, 1, y);
        total += v;
        for (size_t j = 0; j < d; j++) {
            sum[j] += v * x[j];
            square[j] += v * x[j] * x[j];
            assert_true(x[j] == (y[j] - dn_encoder_mean(encoder)[j]) / dn_encoder_scale(encoder)[j]);
        }
    }
    for (size_t j = 0; j < d; j++) {
        assert_true(j >= first ? fabs(sum[j] / total) < 1e-12 : dn_encoder_mean(encoder)[j] == 0);
        if (j >= first)
            close_to(square[j] / total, 1, 1e-11);
    }
    dn_encoder_unref(encoder);
    free(t);
}

static void bytes_of(const dn_encoder *encoder, void **bytes, size_t *size) {
    dni_writer writer;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    assert_int_equal(dni_writer_take(&writer, bytes, size, NULL), DN_OK);
}

/* The same bytes however the table is cut, on one slot or several, with the columns in memory or not (a budget refuses them); and back. */
static void bytes_and_back(void **unused) {
    (void)unused;
    table *t = table_new(3);
    dn_run runs[] = {dn_run_default(), scattered_run(), scattered_run()};
    dn_encoder_spec spec = many_spec(t);
    void *bytes = NULL, *again = NULL;
    size_t size = 0, again_size = 0;
    refusing memory;
    for (size_t cut = 0; cut < TABLE_CUTS; cut++)
        for (size_t r = 0; r < 3; r++) {
            refusing_init(&memory, 0);
            memory.limit =
                (4096 * 5 + 1000) * sizeof(double); /* a block of three columns fits, and the distances of k-means; two columns do not */
            memory.below = (size_t)1 << 20;
            runs[2].allocator = &memory.allocator;
            dn_encoder *encoder = fit(t, cut, &spec, NULL, t->weight, &runs[r]);
            assert_true(r < 2 || memory.refused > 0);
            bytes_of(encoder, &again, &again_size);
            assert_true(bytes == NULL || (size == again_size && memcmp(bytes, again, size) == 0));
            free(bytes);
            bytes = again;
            size = again_size;
            dn_encoder_unref(encoder);
        }
    dn_encoder *encoder = fit(t, 0, &spec, NULL, t->weight, NULL), *back = NULL;
    dni_reader reader = dni_reader_of(bytes, size);
    assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_OK);
    assert_int_equal(dni_reader_end(&reader, "an encoder", NULL), DN_OK);
    bytes_of(back, &again, &again_size);
    assert_true(size == again_size && memcmp(bytes, again, size) == 0);
    free(again);
    const double raw[] = {1, nan_value, 1, 0, nan_value, 0.3, nan_value, nan_value};
    double x[2 * 64], y[2 * 64];
    size_t d = dn_encoder_n_features(encoder);
    dn_encoder_apply(encoder, raw, 2, x);
    dn_encoder_apply(back, raw, 2, y);
    assert_memory_equal(x, y, 2 * d * sizeof *x);
    for (size_t j = 0; j < d; j++) {
        char name[2][64];
        dn_encoder_feature_name(encoder, j, name[0], 64);
        dn_encoder_feature_name(back, j, name[1], 64);
        assert_string_equal(name[0], name[1]);
        for (size_t k = 0; k < j; k++) {
            dn_encoder_feature_name(encoder, k, name[1], 64);
            assert_string_not_equal(name[0], name[1]);
        }
    }
    dn_encoder_unref(encoder);
    dn_encoder_unref(back);
    for (size_t cut = 0; cut < size; cut++) {
        reader = dni_reader_of(bytes, cut);
        assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
    }
    unsigned char *copy = bytes;
    for (size_t i = 0; i < 8 * size; i++) {
        copy[i / 8] ^= (unsigned char)(1u << i % 8);
        reader = dni_reader_of(copy, size);
        back = NULL;
        dn_status status = dni_encoder_read(&reader, &back, NULL);
        assert_true(status == DN_OK || status == DN_ERR_CORRUPT || status == DN_ERR_VERSION);
        if (status == DN_OK && dn_encoder_n_inputs(back) == P + 1 && dn_encoder_n_features(back) <= 64)
            dn_encoder_apply(back, raw, 2, x);
        dn_encoder_unref(back);
        copy[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    free(bytes);
    free(t);
}

static void failures(void **unused) {
    (void)unused;
    table *t = table_new(3);
    for (size_t i = 0; i < TABLE_ROWS; i++) /* few rows that count: widths are medians of their pairs, sorted in every one of these fits */
        t->weight[i] = (double)(i % 16 == 0);
    dn_encoder_spec spec = many_spec(t);
    size_t borders[TABLE_MAX_CHUNKS], n = table_cut(1, borders);
    dn_status status = DN_ERR_BUDGET;
    size_t refused = 0;
    for (; status != DN_OK || refused < 20; refused++) { /* a refusal for rows in memory is no failure: go on until none is left */
        refusing memory;
        refusing_init(&memory, refused + 1);
        dn_run run = scattered_run();
        run.allocator = &memory.allocator;
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        dn_error err = {0};
        dn_encoder *encoder = NULL;
        status = dn_encoder_fit(&source.source, &spec, t->role, t->weight, &run, &encoder, &err);
        assert_true(status == DN_OK || status == DN_ERR_BUDGET);
        assert_int_equal(err.code, status);
        assert_int_equal(memory.live, 0);
        dn_encoder_unref(encoder);
        chunked_done(&source);
        if (memory.calls <= refused)
            break;
        status = DN_ERR_BUDGET;
    }
    assert_true(refused > 60);
    for (size_t k = 1;; k += 13) {
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        source.fail_at = k;
        dn_encoder *encoder = NULL;
        status = dn_encoder_fit(&source.source, &spec, t->role, t->weight, NULL, &encoder, NULL);
        dn_encoder_unref(encoder);
        chunked_done(&source);
        if (status == DN_OK)
            break;
        assert_int_equal(status, DN_ERR_SOURCE);
    }
    free(t);
}

/* ---- names and refusals ----------------------------------------------------------------------------------------------------------------------------- */
static void quoted_names(void **unused) {
    (void)unused;
    const double x[] = {1, 2, 3, 4}, y[] = {2, 1, 5, 7};
    const size_t borders[] = {0, 4}, all[] = {0, 1};
    const chunked_column data[] = {{.column = {"size (cm)", DN_NUMERIC}, .number = x}, {.column = {"a*b", DN_NUMERIC}, .number = y}};
    chunked source;
    chunked_init(&source, data, 2, 4, borders, 1);
    dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL, .degree = 2, .interactions = true};
    dn_encoder_spec spec = {.columns = all, .n_columns = 2};
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL), DN_OK);
    name_is(encoder, 0, "size (cm)"); /* without bases it can be mistaken for nothing */
    dn_encoder_unref(encoder);
    spec.bases = &basis;
    spec.n_bases = 1;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL), DN_OK);
    static const char *const names[] = {"\"size (cm)\"", "\"a*b\"", "\"size (cm)\"^2", "\"size (cm)\"*\"a*b\"", "\"a*b\"^2"};
    for (size_t j = 0; j < 5; j++)
        name_is(encoder, j, names[j]);
    dn_encoder_unref(encoder);
    chunked_done(&source);
}

static void refused(const dn_basis_spec *bases, size_t n, size_t n_classes, dn_status want, const char *message, const char *field) {
    static const dn_table_column table_columns[] = {{"plain", DN_NUMERIC},
                                                    {"holes", DN_NUMERIC},
                                                    {"flag", DN_BOOLEAN},
                                                    {"colour", DN_CATEGORICAL}};
    static const size_t four[] = {0, 1, 2, 3};
    dn_encoder_spec spec = {.columns = four, .n_columns = 4, .bases = bases, .n_bases = n, .n_classes = n_classes};
    dn_error err = {0};
    assert_int_equal(dn_encoder_check(table_columns, 4, &spec, &err), want);
    assert_string_equal(err.message, message);
    assert_string_equal(err.field, field);
}

static void refusals(void **unused) {
    (void)unused;
    static const size_t category[] = {0, 3}, twice[] = {1, 1}, beyond[] = {4}, one[] = {0};
    const double nan_point[] = {0, nan_value, 0};
    dn_basis_spec b[2] = {{.kind = DN_BASIS_POLYNOMIAL, .degree = 2, .interactions = true},
                          {.kind = DN_BASIS_POLYNOMIAL, .columns = one, .n_columns = 1, .degree = 5}};
    refused(b, 1, 0, DN_OK, "", "");
    refused(b, 2, 0, DN_ERR_ARGUMENT, "column \"plain\" is in two polynomials, whose features would be the same", "plain");
    b[0].degree = 6;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the degree of a polynomial basis must be 1 to 5 (got 6)", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_POLYNOMIAL, .columns = category, .n_columns = 2, .degree = 2};
    refused(b, 1, 0, DN_ERR_DATA, "column \"colour\" is categorical, and a basis takes numeric and boolean columns", "colour");
    b[0].columns = twice;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "column \"holes\" is twice in a basis", "holes");
    b[0].columns = beyond;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "a basis takes a column that is no input", "basis");
    b[0].n_columns = 0;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "a basis needs at least one numeric or boolean column", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .n_points = 3, .width = -1};
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the width of a gaussian basis must be > 0, or 0 to be found", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_DISTANCE, .n_points = 1};
    refused(b, 1, 0, DN_ERR_ARGUMENT, "a distance basis needs points", "basis");
    b[0].points = nan_point;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the points of a basis must be finite", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_RANDOM_FOURIER, .n_features = 20001};
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the bases make at least 20001 features, more than 20000", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_FISHER, .n_features = 3};
    refused(b, 1, 0, DN_OK, "", "");
    refused(b, 1, 3, DN_ERR_ARGUMENT, "a fisher basis has at most 2 directions: one less than classes, and no more than columns (got 3)",
            "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .n_points = 15000};
    b[1] = (dn_basis_spec){.kind = DN_BASIS_RANDOM_FOURIER, .n_features = 5001};
    refused(b, 2, 0, DN_ERR_ARGUMENT, "the bases make at least 20001 features, more than 20000", "basis");
    b[1].n_features = 5000;
    refused(b, 2, 0, DN_OK, "", "");
}

/* Squares that leave the finite numbers: the feature and its column are named, while fitting and while encoding. */
static void overflow(void **unused) {
    (void)unused;
    table *t = table_new(3);
    const size_t two[] = {0, 1};
    dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL, .columns = two, .n_columns = 2, .degree = 2, .interactions = true};
    dn_encoder_spec spec = spec_of(&basis, 1, true);
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    for (size_t i = 0; i < TABLE_ROWS; i++)
        t->number[T_HOLES][i] = i == 7000 ? 1e300 : (double)(i % 3);
    t->number[T_PLAIN][7000] = 2;
    assert_int_equal(try_fit(t, 2, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_NUMERIC);
    assert_string_equal(err.message, "feature holes^2 is beyond the range of numbers: column \"holes\" is 1e+300 there");
    assert_string_equal(err.field, "holes");
    t->role[7000] = DN_ROW_VALIDATE;
    for (int memory = 0; memory < 2; memory++) {
        size_t borders[TABLE_MAX_CHUNKS], n = table_cut(2, borders);
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        dn_rows *rows = NULL;
        dn_error_clear(&err);
        assert_int_equal(dn_encoder_fit(&source.source, &spec, t->role, NULL, NULL, &encoder, NULL), DN_OK);
        dn_status status =
            dn_rows_from_source(&source.source, encoder, t->role, DN_ROW_VALIDATE, NULL, NULL, memory == 1, NULL, &rows, &err);
        for (size_t i = 0; status == DN_OK && i < rows->n_blocks; i++) {
            dn_block block;
            status = dn_rows_block(rows, i, 0, &block, &err);
        }
        assert_int_equal(status, DN_ERR_NUMERIC);
        assert_string_equal(err.field, "holes");
        assert_int_equal(err.row, 7000);
        dn_rows_free(rows);
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomial), cmocka_unit_test(points_given), cmocka_unit_test(random_fourier), cmocka_unit_test(median_width),
        cmocka_unit_test(centres),    cmocka_unit_test(fisher),       cmocka_unit_test(standardised),   cmocka_unit_test(bytes_and_back),
        cmocka_unit_test(failures),   cmocka_unit_test(quoted_names), cmocka_unit_test(refusals),       cmocka_unit_test(overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
