/* Bases: the number of constant features; exact limits; defaults; memory estimates. */
#include "encoder/basis/basis_fit.h"
#include "unit/core/encoder/basis/bases.h"

enum { N = 6 };
static void ok(dn_status status) {
    assert_int_equal(status, DN_OK);
}

static const double sign[N] = {-1, 1, 1, -1, -1, 1}, other[N] = {1, 2, 3, 4, 5, 7};

/* Fits bases to two columns, of which the first is -1 or 1. */
static dn_encoder *fit_two(const dn_basis_spec *bases, size_t n, bool standardize,
                           const double *target, size_t n_classes) {
    static const size_t both[] = {0, 1};
    static const dn_table_column names[] = {{.name = "s", .type = DN_NUMERIC},
                                            {.name = "x", .type = DN_NUMERIC}};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = N, .number = sign},
                                    {.type = DN_NUMERIC, .n_rows = N, .number = other}};
    dn_table_source *source = NULL;
    ok(dn_table_source_from_columns(names, views, 2, N, &source, NULL));
    const dn_encoder_spec spec = {.columns = both,
                                  .n_columns = 2,
                                  .standardize = standardize,
                                  .bases = bases,
                                  .n_bases = n,
                                  .target = target,
                                  .n_classes = n_classes};
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    if (dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    dn_table_source_free(source);
    return encoder;
}

static void constant_features_are(dn_encoder *encoder, size_t n, size_t first) {
    size_t got = 0;
    assert_int_equal(dn_encoder_n_constant(encoder, &got), n);
    if (n > 0) {
        assert_int_equal(got, first);
    }
    dn_encoder_unref(encoder);
}

/* s^2 is 1 in all rows, all other monomials vary. */
static void only_constant_features_are_counted(void **unused) {
    (void)unused;
    static const size_t s[] = {0}, x[] = {1};
    const dn_basis_spec square_of_s = {.kind = DN_BASIS_POLYNOMIAL,
                                       .columns = s,
                                       .n_columns = 1,
                                       .degree = 2};
    const dn_basis_spec square_of_x = {.kind = DN_BASIS_POLYNOMIAL,
                                       .columns = x,
                                       .n_columns = 1,
                                       .degree = 2};
    const dn_basis_spec distance = {.kind = DN_BASIS_DISTANCE,
                                    .columns = s,
                                    .n_columns = 1,
                                    .points = (const double[]){0, 3, 0},
                                    .n_points = 3};
    constant_features_are(fit_two(&square_of_x, 1, true, NULL, 0), 0, 0);
    /* features: x, s, s^2 */
    constant_features_are(fit_two(&square_of_s, 1, true, NULL, 0), 1, 2);
    /* s, s^2, x, x^2: a varying feature follows the constant one */
    constant_features_are(fit_two((const dn_basis_spec[]){square_of_s, square_of_x}, 2, true, NULL,
                                  0),
                          1, 1);
    /* x, then the distances of s from 0 (always 1), 3 (2 or 4) and 0 */
    constant_features_are(fit_two(&distance, 1, true, NULL, 0), 2, 1);
    /* without standardisation constant features are not counted */
    constant_features_are(fit_two(&distance, 1, false, NULL, 0), 0, 0);
}

/* ---- defaults ---- */
static void defaults_of_the_spec(void **unused) {
    (void)unused;
    const double target[N] = {0, 0, 1, 1, 2, 2}, two[N] = {0, 1, 0, 1, 0, 1};
    dn_basis_spec fisher = {.kind = DN_BASIS_FISHER};
    assert_int_equal(dn_basis_n_features(&fisher, 5, 0), 1); /* unknown classes */
    assert_int_equal(dn_basis_n_features(&fisher, 5, 1), 1);
    assert_int_equal(dn_basis_n_features(&fisher, 5, 2), 1);
    assert_int_equal(dn_basis_n_features(&fisher, 5, 6), 5);
    assert_int_equal(dn_basis_n_features(&fisher, 5, 7), 5);
    assert_int_equal(dn_basis_n_features(&fisher, 5, 5), 4);
    dn_encoder *encoder = fit_two(&fisher, 1, false, target, 3);
    assert_int_equal(dn_encoder_basis(encoder, 0).n_features, 2);
    assert_int_equal(dn_encoder_basis(encoder, 0).n_columns, 2); /* all numbers */
    assert_int_equal(dn_encoder_n_features(encoder), 2); /* the columns are not kept as features */
    dn_encoder_unref(encoder);
    fisher.n_features = 1;
    encoder = fit_two(&fisher, 1, false, two, 2);
    assert_int_equal(dn_encoder_basis(encoder, 0).n_features, 1);
    dn_encoder_unref(encoder);

    static const size_t x[] = {1};
    dn_basis_spec fourier = {.kind = DN_BASIS_RANDOM_FOURIER,
                             .columns = x,
                             .n_columns = 1,
                             .n_features = 3};
    encoder = fit_two(&fourier, 1, false, NULL, 0);
    assert_true(dn_encoder_basis(encoder, 0).width == 2.0); /* median of the distances of 1…7 */
    assert_true(dn_encoder_basis(encoder, 0).mean == NULL);
    dn_encoder_unref(encoder);
    fourier.width = 0.25; /* a given width is not replaced */
    fourier.standardize = true;
    encoder = fit_two(&fourier, 1, false, NULL, 0);
    assert_true(dn_encoder_basis(encoder, 0).width == 0.25);
    assert_true(dn_encoder_basis(encoder, 0).mean[0] == 22.0 / 6);
    dn_encoder_unref(encoder);
}

/* ---- limits ---- */
static dn_status check(dn_basis_spec basis, size_t n_columns, size_t n_classes) {
    dn_table_column *listed = calloc(n_columns, sizeof *listed);
    size_t *all = calloc(n_columns, sizeof *all);
    for (size_t c = 0; c < n_columns; c++) {
        listed[c] = (dn_table_column){.name = "x", .type = DN_NUMERIC};
        all[c] = c;
    }
    const dn_encoder_spec spec = {.columns = all,
                                  .n_columns = n_columns,
                                  .bases = &basis,
                                  .n_bases = 1,
                                  .n_classes = n_classes};
    dn_status status = dn_encoder_check(listed, n_columns, &spec, NULL);
    free(listed);
    free(all);
    return status;
}

static void limits_are_exact(void **unused) {
    (void)unused;
    dn_basis_spec basis = {.kind = DN_BASIS_RANDOM_FOURIER, .n_features = DN_MAX_BASIS_FEATURES};
    ok(check(basis, 2, 0));
    basis.n_features++;
    assert_int_equal(check(basis, 2, 0), DN_ERR_ARGUMENT);
    basis.n_features = 0;
    assert_int_equal(check(basis, 2, 0), DN_ERR_ARGUMENT);
    basis = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .n_points = DN_MAX_BASIS_FEATURES};
    ok(check(basis, 2, 0));
    basis.n_points++;
    assert_int_equal(check(basis, 2, 0), DN_ERR_ARGUMENT);
    /* powers only: 4,000 columns × degree 5 are exactly the limit */
    basis = (dn_basis_spec){.kind = DN_BASIS_POLYNOMIAL, .degree = DN_MAX_DEGREE};
    ok(check(basis, DN_MAX_BASIS_FEATURES / DN_MAX_DEGREE, 0));
    assert_int_equal(check(basis, DN_MAX_BASIS_FEATURES / DN_MAX_DEGREE + 1, 0), DN_ERR_ARGUMENT);
    basis.degree = 0;
    assert_int_equal(check(basis, 2, 0), DN_ERR_ARGUMENT);
    basis.degree = 1;
    ok(check(basis, 2, 0));
    basis.degree = DN_MAX_DEGREE + 1;
    assert_int_equal(check(basis, 2, 0), DN_ERR_ARGUMENT);
    basis = (dn_basis_spec){.kind = DN_BASIS_FISHER};
    ok(check(basis, 8192, 2));
    assert_int_equal(check(basis, 8193, 2), DN_ERR_ARGUMENT);
    assert_int_equal(check(basis, 2, 1), DN_ERR_ARGUMENT);
    basis.n_features = 2;
    ok(check(basis, 2, 3));
    assert_int_equal(check(basis, 2, 2), DN_ERR_ARGUMENT); /* at most classes - 1 */
    basis.n_features = 3;
    assert_int_equal(check(basis, 2, 9), DN_ERR_ARGUMENT); /* at most columns */
    basis = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .n_points = 1, .width = (double)INFINITY};
    assert_int_equal(check(basis, 2, 0), DN_ERR_ARGUMENT);
}

/* As many centres as there are different rows are found, one more is an error. */
static void there_are_as_many_centres_as_different_rows(void **unused) {
    (void)unused;
    static const size_t s[] = {0};
    dn_basis_spec basis = {
        .kind = DN_BASIS_GAUSSIAN, .columns = s, .n_columns = 1, .n_points = 2, .width = 1};
    dn_encoder *encoder = fit_two(&basis, 1, false, NULL, 0);
    const double *points = dn_encoder_basis(encoder, 0).points;
    assert_true(fabs(points[0]) == 1 && points[1] == -points[0]);
    dn_encoder_unref(encoder);
    table *t = mixed_table_new(3);
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->number[T_PLAIN][i] = (double)(i % 3);
    }
    static const size_t plain[] = {0};
    basis = (dn_basis_spec){
        .kind = DN_BASIS_GAUSSIAN, .columns = plain, .n_columns = 1, .n_points = 4, .width = 1};
    dn_encoder_spec spec = bases_spec(&basis, 1, false);
    dn_error err = {0};
    encoder = NULL;
    assert_int_equal(bases_try_fit(t, 0, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "a gaussian basis cannot have 4 centres: only 3 training rows "
                                     "are different in its columns");
    basis.n_points = 3;
    dn_encoder_unref(bases_fit(t, 0, &spec, NULL, NULL, NULL));
    free(t);
}

/* Lloyd's iterations go on until the centres do not move: with equally spaced rows and three
 * centres the distance from the optimum shrinks by about 1/4 in each round. */
static void centres_are_the_means_of_their_rows(void **unused) {
    (void)unused;
    enum { ROWS = 1000, CENTRES = 3 };
    static const size_t first[] = {0};
    static double x[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)i / ROWS;
    }
    const dn_table_column column = {.name = "x", .type = DN_NUMERIC};
    const dn_column_view view = {.type = DN_NUMERIC, .n_rows = ROWS, .number = x};
    const dn_basis_spec basis = {.kind = DN_BASIS_GAUSSIAN, .n_points = CENTRES, .width = 1};
    const dn_encoder_spec spec = {.columns = first, .n_columns = 1, .bases = &basis, .n_bases = 1};
    for (uint64_t seed = 1; seed < 6; seed++) {
        dn_table_source *source = NULL;
        dn_encoder *encoder = NULL;
        dn_run run = dn_run_default();
        run.seed = seed;
        ok(dn_table_source_from_columns(&column, &view, 1, ROWS, &source, NULL));
        ok(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL));
        const double *points = dn_encoder_basis(encoder, 0).points;
        double sum[CENTRES] = {0}, n[CENTRES] = {0};
        for (size_t i = 0; i < ROWS; i++) {
            size_t best = 0;
            for (size_t k = 1; k < CENTRES; k++) {
                best = fabs(x[i] - points[k]) < fabs(x[i] - points[best]) ? k : best;
            }
            sum[best] += x[i];
            n[best]++;
        }
        for (size_t k = 0; k < CENTRES; k++) {
            assert_true(fabs(sum[k] / n[k] - points[k]) < 1e-6);
            assert_true(fabs(n[k] - ROWS / 3.0) < 10);
        }
        dn_encoder_unref(encoder);
        dn_table_source_free(source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_constant_features_are_counted),
                                       cmocka_unit_test(defaults_of_the_spec),
                                       cmocka_unit_test(limits_are_exact),
                                       cmocka_unit_test(centres_are_the_means_of_their_rows),
                                       cmocka_unit_test(
                                           there_are_as_many_centres_as_different_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
