/* Bases in an encoder: several together, standardised, bytes, failing allocations; names,
 * errors, overflow. */
#include "unit/core/encoder/basis/bases.h"

/* ---- several bases ---- */
static const size_t place_0_1[] = {0, 1}, place_0_2[] = {0, 2};
static const dn_basis_spec many[] = {{.kind = DN_BASIS_POLYNOMIAL,
                                      .columns = place_0_1,
                                      .n_columns = 2,
                                      .degree = 2,
                                      .interactions = true},
                                     {.kind = DN_BASIS_GAUSSIAN,
                                      .columns = place_0_1,
                                      .n_columns = 2,
                                      .keep = true,
                                      .standardize = true,
                                      .n_points = 3},
                                     {.kind = DN_BASIS_DISTANCE,
                                      .columns = place_0_2,
                                      .n_columns = 2,
                                      .points = (const double[]){0, 0, 1, 1},
                                      .n_points = 2},
                                     {.kind = DN_BASIS_RANDOM_FOURIER,
                                      .columns = place_0_1,
                                      .n_columns = 2,
                                      .standardize = true,
                                      .n_features = 4},
                                     {.kind = DN_BASIS_FISHER,
                                      .n_columns = 0,
                                      .standardize = true}};
enum { N_MANY = 5, MANY_FEATURES = 5 + 3 + 2 + 4 + 2 };

static dn_encoder_spec many_spec(const table *t) {
    dn_encoder_spec spec = bases_spec(many, N_MANY, true);
    spec.target = t->target;
    spec.n_classes = 3;
    return spec;
}

/* Features of bases have mean 0 and deviation 1 over the training rows; other features are
 * unchanged. */
static void standardised(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    dn_encoder_spec spec = many_spec(t);
    dn_encoder *encoder = bases_fit(t, 3, &spec, t->role, t->weight, NULL);
    size_t d = dn_encoder_n_features(encoder), first = d - MANY_FEATURES;
    assert_int_equal(
        first, dn_encoder_input(encoder, 3)
                   ->n_features); /* two numbers are in the polynomial; no basis keeps the third */
    double sum[64] = {0}, square[64] = {0}, total = 0;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        double v = bases_weight(t->role, t->weight, i), x[64], y[64];
        double raw[P + 1] = {t->number[T_PLAIN][i], t->number[T_HOLES][i], t->number[T_FLAG][i], 1};
        dn_encoder_apply(encoder, dn_raw_numbers(raw, 1), x);
        dni_encoder_expand(encoder, dn_raw_numbers(raw, 1), y);
        total += v;
        for (size_t j = 0; j < d; j++) {
            sum[j] += v * x[j];
            square[j] += v * x[j] * x[j];
            assert_true(x[j] ==
                        (y[j] - dn_encoder_mean(encoder)[j]) / dn_encoder_scale(encoder)[j]);
        }
    }
    for (size_t j = 0; j < d; j++) {
        assert_true(j >= first ? fabs(sum[j] / total) < 1e-12 : dn_encoder_mean(encoder)[j] == 0);
        if (j >= first) {
            close_to(square[j] / total, 1, 1e-11);
        }
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

/* The bytes do not depend on chunks, on threads and on whether the columns fit in memory; an
 * encoder read back is the same. */
static void bytes_and_back(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    dn_run runs[] = {dn_run_default(), scattered_run(), scattered_run()};
    dn_encoder_spec spec = many_spec(t);
    void *bytes = NULL, *again = NULL;
    size_t size = 0, again_size = 0;
    refusing memory;
    for (size_t cut = 0; cut < TABLE_CUTS; cut++) {
        for (size_t r = 0; r < 3; r++) {
            refusing_init(&memory, 0);
            memory.limit =
                (4096 * 5 + 1000) *
                sizeof(
                    /* the distances of k-means and a block of three columns fit; all rows of two
                     * columns do not */
                    double);
            memory.below = (size_t)1 << 20;
            runs[2].allocator = &memory.allocator;
            dn_encoder *encoder = bases_fit(t, cut, &spec, NULL, t->weight, &runs[r]);
            assert_true(r < 2 || memory.refused > 0);
            bytes_of(encoder, &again, &again_size);
            assert_true(bytes == NULL || (size == again_size && memcmp(bytes, again, size) == 0));
            free(bytes);
            bytes = again;
            size = again_size;
            dn_encoder_unref(encoder);
        }
    }
    dn_encoder *encoder = bases_fit(t, 0, &spec, NULL, t->weight, NULL), *back = NULL;
    dni_reader reader = dni_reader_of(bytes, size);
    assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_OK);
    assert_int_equal(dni_reader_end(&reader, "an encoder", NULL), DN_OK);
    bytes_of(back, &again, &again_size);
    assert_true(size == again_size && memcmp(bytes, again, size) == 0);
    free(again);
    const double raw[] = {1, nan_value, 1, 0, nan_value, 0.3, nan_value, nan_value};
    double x[2 * 64], y[2 * 64];
    size_t d = dn_encoder_n_features(encoder);
    dn_encoder_apply(encoder, dn_raw_numbers(raw, 2), x);
    dn_encoder_apply(back, dn_raw_numbers(raw, 2), y);
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
        if (status == DN_OK && dn_encoder_n_inputs(back) == P + 1 &&
            dn_encoder_n_features(back) <= 64) {
            dn_encoder_apply(back, dn_raw_numbers(raw, 2), x);
        }
        dn_encoder_unref(back);
        copy[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    free(bytes);
    free(t);
}

static void failures(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    for (size_t i = 0; i < TABLE_ROWS;
         /* few rows with a weight, since the median sorts all their pairs in every attempt */
         i++) {
        t->weight[i] = (double)(i % 16 == 0);
    }
    dn_encoder_spec spec = many_spec(t);
    size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(1, borders);
    dn_status status = DN_ERR_BUDGET;
    size_t refused = 0;
    for (; status != DN_OK || refused < 20;
         /* The fit succeeds without the memory for the rows: it streams them. The loop ends when no
             * allocation was refused. */
         refused++) {
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
        if (memory.calls <= refused) {
            break;
        }
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
        if (status == DN_OK) {
            break;
        }
        assert_int_equal(status, DN_ERR_SOURCE);
    }
    free(t);
}

/* ---- names and errors ---- */
static void quoted_names(void **unused) {
    (void)unused;
    const double x[] = {1, 2, 3, 4}, y[] = {2, 1, 5, 7};
    const size_t borders[] = {0, 4}, all[] = {0, 1};
    const chunked_column data[] = {{.column = {.name = "size (cm)", .type = DN_NUMERIC},
                                    .number = x},
                                   {.column = {.name = "a*b", .type = DN_NUMERIC}, .number = y}};
    chunked source;
    chunked_init(&source, data, 2, 4, borders, 1);
    dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL, .degree = 2, .interactions = true};
    dn_encoder_spec spec = {.columns = all, .n_columns = 2};
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    name_is(encoder, 0, "size (cm)"); /* without bases the name is unambiguous */
    dn_encoder_unref(encoder);
    spec.bases = &basis;
    spec.n_bases = 1;
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_OK);
    static const char *const names[] = {"\"size (cm)\"", "\"a*b\"", "\"size (cm)\"^2",
                                        "\"size (cm)\"*\"a*b\"", "\"a*b\"^2"};
    for (size_t j = 0; j < 5; j++) {
        name_is(encoder, j, names[j]);
    }
    dn_encoder_unref(encoder);
    chunked_done(&source);
}

static void refused(const dn_basis_spec *bases, size_t n, size_t n_classes, dn_status want,
                    const char *message, const char *field) {
    static const dn_table_column table_columns[] = {{.name = "plain", .type = DN_NUMERIC},
                                                    {.name = "holes", .type = DN_NUMERIC},
                                                    {.name = "flag", .type = DN_BOOLEAN},
                                                    {.name = "colour", .type = DN_CATEGORICAL}};
    static const size_t four[] = {0, 1, 2, 3};
    dn_encoder_spec spec = {
        .columns = four, .n_columns = 4, .bases = bases, .n_bases = n, .n_classes = n_classes};
    dn_error err = {0};
    assert_int_equal(dn_encoder_check(table_columns, 4, &spec, &err), want);
    assert_string_equal(err.message, message);
    assert_string_equal(err.field, field);
}

static void refusals(void **unused) {
    (void)unused;
    static const size_t category[] = {0, 3}, twice[] = {1, 1}, beyond[] = {4}, one[] = {0};
    const double nan_point[] = {0, nan_value, 0};
    dn_basis_spec b[2] = {
        {.kind = DN_BASIS_POLYNOMIAL, .degree = 2, .interactions = true},
        {.kind = DN_BASIS_POLYNOMIAL, .columns = one, .n_columns = 1, .degree = 5}};
    refused(b, 1, 0, DN_OK, "", "");
    refused(b, 2, 0, DN_ERR_ARGUMENT,
            "column \"plain\" is in two polynomials, whose features would be the same", "plain");
    b[0].degree = 6;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the degree of a polynomial basis must be 1 to 5 (got 6)",
            "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_POLYNOMIAL,
                           .columns = category,
                           .n_columns = 2,
                           .degree = 2};
    refused(
        b, 1, 0, DN_ERR_DATA,
        "column \"colour\" is categorical, but a basis needs numeric, datetime or boolean columns",
        "colour");
    b[0].columns = twice;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "column \"holes\" occurs twice in a basis", "holes");
    b[0].columns = beyond;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "a basis has a column that is not an input", "basis");
    b[0].n_columns = 0;
    refused(b, 1, 0, DN_ERR_ARGUMENT,
            "a basis needs at least one numeric, datetime or boolean column", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .n_points = 3, .width = -1};
    refused(b, 1, 0, DN_ERR_ARGUMENT,
            "the width of a gaussian basis must be > 0, or 0 to compute it from the rows", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_DISTANCE, .n_points = 1};
    refused(b, 1, 0, DN_ERR_ARGUMENT, "a distance basis needs points", "basis");
    b[0].points = nan_point;
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the points of a basis must be finite", "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_RANDOM_FOURIER, .n_features = 20001};
    refused(b, 1, 0, DN_ERR_ARGUMENT, "the bases make at least 20001 features, more than 20000",
            "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_FISHER, .n_features = 3};
    refused(b, 1, 0, DN_OK, "", "");
    refused(b, 1, 3, DN_ERR_ARGUMENT,
            "a fisher basis has at most 2 directions: one less than classes, and no more than "
            "columns (got 3)",
            "basis");
    b[0] = (dn_basis_spec){.kind = DN_BASIS_GAUSSIAN, .n_points = 15000};
    b[1] = (dn_basis_spec){.kind = DN_BASIS_RANDOM_FOURIER, .n_features = 5001};
    refused(b, 2, 0, DN_ERR_ARGUMENT, "the bases make at least 20001 features, more than 20000",
            "basis");
    b[1].n_features = 5000;
    refused(b, 2, 0, DN_OK, "", "");
}

/* A product that overflows: the error names the feature and the column. */
static void overflow(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    const size_t two[] = {0, 1};
    dn_basis_spec basis = {.kind = DN_BASIS_POLYNOMIAL,
                           .columns = two,
                           .n_columns = 2,
                           .degree = 2,
                           .interactions = true};
    dn_encoder_spec spec = bases_spec(&basis, 1, true);
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->number[T_HOLES][i] = i == 7000 ? 1e300 : (double)(i % 3);
    }
    t->number[T_PLAIN][7000] = 2;
    assert_int_equal(bases_try_fit(t, 2, &spec, NULL, NULL, NULL, &encoder, &err), DN_ERR_NUMERIC);
    assert_string_equal(
        err.message,
        "feature holes^2 is beyond the range of numbers: column \"holes\" is 1e+300 in this row");
    assert_string_equal(err.field, "holes");
    t->role[7000] = DN_ROW_VALIDATE;
    for (int memory = 0; memory < 2; memory++) {
        size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(2, borders);
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        dn_rows *rows = NULL;
        dn_error_clear(&err);
        assert_int_equal(dn_encoder_fit(&source.source, &spec, t->role, NULL, NULL, &encoder, NULL),
                         DN_OK);
        dn_status status = dn_rows_from_source(&source.source, encoder, t->role, DN_ROW_VALIDATE,
                                               NULL, NULL, memory == 1, NULL, &rows, &err);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(standardised),
                                       cmocka_unit_test(bytes_and_back),
                                       cmocka_unit_test(failures),
                                       cmocka_unit_test(quoted_names),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
