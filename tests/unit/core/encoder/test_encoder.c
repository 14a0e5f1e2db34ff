/* The encoder: statistics recomputed from the data; the same bytes for all chunk borders and all
 * numbers of threads; errors. */
#include "encoder/encoder_apply.h"
#include "encoder/encoder_bytes.h"
#include "unit/core/table/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const size_t all_columns[T_COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const dn_encoder_spec standard_spec = {.columns = all_columns,
                                              .n_columns = T_COLUMNS,
                                              .standardize = true};

static dn_encoder *fit(const table *t, size_t cut, const dn_encoder_spec *spec, const uint8_t *role,
                       const double *weight, const dn_run *run) {
    size_t borders[TABLE_MAX_CHUNKS];
    size_t n = mixed_table_cut(cut, borders);
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
    dn_encoder *encoder = NULL;
    dn_error err;
    dn_error_clear(&err);
    if (dn_encoder_fit(&source.source, spec, role, weight, run, &encoder, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    chunked_done(&source);
    return encoder;
}

static void close_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance * fabs(want))) {
        fail_msg("%.17g, expected %.17g", got, want);
    }
}

/* Computes the mean of the present values, and the deviation after missing values are replaced by
 * the mean. */
static void statistics(const double *x, const uint8_t *role, const double *weight, double *mean,
                       double *scale) {
    long double all = 0, present = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        long double v = weight == NULL ? 1 : (long double)weight[i];
        if (role != NULL && role[i] != DN_ROW_TRAIN) {
            continue;
        }
        all += v;
        if (isnan(x[i])) {
            continue;
        }
        present += v;
        sum += v * (long double)x[i];
    }
    long double m = present > 0 ? sum / present : 0;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if ((role == NULL || role[i] == DN_ROW_TRAIN) && !isnan(x[i])) {
            squares += (weight == NULL ? 1 : (long double)weight[i]) * ((long double)x[i] - m) *
                       ((long double)x[i] - m);
        }
    }
    *mean = (double)m;
    *scale = sqrt((double)(squares / all));
}

static void recomputed(void **unused) {
    (void)unused;
    table *t = mixed_table_new(20);
    for (int kind = 0; kind < 4; kind++) {
        const uint8_t *role = kind & 1 ? t->role : NULL;
        const double *weight = kind & 2 ? t->weight : NULL;
        dn_encoder *encoder = fit(t, 3, &standard_spec, role, weight, NULL);
        static const int numbers[] = {T_PLAIN, T_HOLES, T_STAMP, T_WHOLE, T_LAST};
        for (size_t k = 0; k < 5; k++) {
            const dn_input *input = dn_encoder_input(encoder, (size_t)numbers[k]);
            double mean, scale;
            statistics(t->number[numbers[k]], role, weight, &mean, &scale);
            close_to(dn_encoder_mean(encoder)[input->first_feature], mean, 1e-14);
            close_to(dn_encoder_scale(encoder)[input->first_feature], scale, 1e-12);
            assert_true(input->fill == dn_encoder_mean(encoder)[input->first_feature]);
        }
        const dn_input *constant = dn_encoder_input(encoder, T_CONSTANT),
                       *empty = dn_encoder_input(encoder, T_EMPTY),
                       *flag = dn_encoder_input(encoder, T_FLAG);
        assert_true(constant->fill == 0.1);
        assert_true(dn_encoder_mean(encoder)[constant->first_feature] == 0.1);
        assert_true(dn_encoder_scale(encoder)[constant->first_feature] == 1);
        assert_true(empty->fill == 0 && dn_encoder_mean(encoder)[empty->first_feature] == 0);
        assert_true(dn_encoder_scale(encoder)[empty->first_feature] == 1);
        double share, unused_scale; /* booleans are not standardised */
        statistics(t->number[T_FLAG], role, weight, &share, &unused_scale);
        close_to(flag->fill, share, 1e-14);
        assert_true(dn_encoder_mean(encoder)[flag->first_feature] == 0 &&
                    dn_encoder_scale(encoder)[flag->first_feature] == 1);
        dn_encoder_unref(encoder);

        dn_encoder_spec raw = standard_spec;
        raw.standardize = false;
        encoder = fit(t, 1, &raw, role, weight, NULL);
        assert_false(dn_encoder_standardizes(encoder));
        assert_null(dn_encoder_mean(encoder));
        assert_null(dn_encoder_scale(encoder));
        double mean, scale;
        statistics(t->number[T_HOLES], role, weight, &mean, &scale);
        close_to(dn_encoder_input(encoder, T_HOLES)->fill, mean, 1e-14);
        dn_encoder_unref(encoder);
    }
    free(t);
}

static void bytes_of(const dn_encoder *encoder, void **bytes, size_t *size) {
    dni_writer writer;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    assert_int_equal(dni_writer_take(&writer, bytes, size, NULL), DN_OK);
}

static void same_however_cut(void **unused) {
    (void)unused;
    table *t = mixed_table_new(200);
    dn_run runs[] = {dn_run_default(), scattered_run()};
    for (int kind = 0; kind < 4; kind++) {
        const uint8_t *role = kind & 1 ? t->role : NULL;
        const double *weight = kind & 2 ? t->weight : NULL;
        void *want = NULL;
        size_t want_size = 0;
        for (size_t cut = 0; cut < TABLE_CUTS; cut++) {
            for (size_t r = 0; r < 2; r++) {
                dn_encoder *encoder = fit(t, cut, &standard_spec, role, weight, &runs[r]);
                void *bytes;
                size_t size;
                bytes_of(encoder, &bytes, &size);
                dn_encoder_unref(encoder);
                if (want == NULL) {
                    want = bytes;
                    want_size = size;
                    continue;
                }
                assert_int_equal(size, want_size);
                assert_memory_equal(bytes, want, size);
                free(bytes);
            }
        }
        free(want);
    }
    free(t);
}

static void levels_and_names(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    dn_encoder *encoder = fit(t, 2, &standard_spec, NULL, NULL, NULL);
    assert_int_equal(dn_encoder_n_inputs(encoder), T_COLUMNS);
    assert_int_equal(dn_encoder_n_features(encoder), 6 + 6 + 3 + 2);
    const dn_input *colour = dn_encoder_input(encoder, T_COLOUR),
                   *city = dn_encoder_input(encoder, T_CITY);
    static const char *const want[] = {"", "blue", "green", "green apple", "red"};
    assert_int_equal(colour->levels.n, 5);
    assert_true(colour->missing_level);
    assert_int_equal(colour->first_feature, 6);
    assert_int_equal(colour->n_features, 6);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(colour->levels.start[i + 1] - colour->levels.start[i], strlen(want[i]));
        assert_memory_equal(colour->levels.bytes + colour->levels.start[i], want[i],
                            strlen(want[i]));
        assert_true(dn_encoder_level(encoder, T_COLOUR, want[i], strlen(want[i])) == (double)i);
    }
    assert_true(dn_encoder_level(encoder, T_COLOUR, "gree", 4) == DN_UNSEEN);
    assert_true(dn_encoder_level(encoder, T_COLOUR, "greenx", 6) == DN_UNSEEN);
    assert_true(dn_encoder_level(encoder, T_PLAIN, "green", 5) == DN_UNSEEN);
    assert_false(city->missing_level);
    assert_int_equal(city->n_features, 3);
    static const char *const names[] = {"plain",        "holes",
                                        "stamp",        "constant",
                                        "empty",        "flag",
                                        "colour=",      "colour=blue",
                                        "colour=green", "colour=green apple",
                                        "colour=red",   "colour=(missing)",
                                        "city=c0",      "city=c1",
                                        "city=c2",      "whole",
                                        "last"};
    for (size_t j = 0; j < dn_encoder_n_features(encoder); j++) {
        char name[64];
        assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name), strlen(names[j]));
        assert_string_equal(name, names[j]);
        for (size_t size = 0; size < 8; size++) {
            memset(name, '#', sizeof name);
            assert_int_equal(dn_encoder_feature_name(encoder, j, name, size), strlen(names[j]));
            assert_int_equal(name[size], '#');
            if (size > 0) {
                assert_int_equal(strlen(name),
                                 strlen(names[j]) < size ? strlen(names[j]) : size - 1);
                assert_memory_equal(name, names[j], strlen(name));
            }
        }
    }
    dn_encoder_unref(encoder);
    free(t);
}

/* Levels are those of the training rows with a weight > 0. */
static void levels_of_training_rows(void **unused) {
    (void)unused;
    table *t = mixed_table_new(50);
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->role[i] = i % 2 == 0 ? DN_ROW_TRAIN : DN_ROW_VALIDATE;
        t->weight[i] = 1;
        t->text[T_COLOUR][i] = i % 2 == 1 ? "validation only"
                               : i == 100 ? "weightless"
                               : i == 102 ? NULL
                                          : "a";
    }
    t->weight[100] = t->weight[102] = 0;
    dn_encoder *encoder = fit(t, 2, &standard_spec, t->role, t->weight, NULL);
    const dn_input *colour = dn_encoder_input(encoder, T_COLOUR);
    assert_int_equal(colour->levels.n, 1);
    assert_false(colour->missing_level);
    assert_true(dn_encoder_level(encoder, T_COLOUR, "a", 1) == 0);
    dn_encoder_unref(encoder);
    free(t);
}

/* A row of weight 2 equals two rows; a row of weight 0 is ignored. */
static void weights_are_repetitions(void **unused) {
    (void)unused;
    table *t = mixed_table_new(10), *twice = mixed_table_new(10);
    size_t n = 0;
    for (size_t i = 0; i < TABLE_ROWS / 2; i++) {
        t->weight[i] = i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 0;
        for (size_t k = 0; k < (size_t)t->weight[i]; k++, n++) {
            for (size_t c = 0; c < T_COLUMNS; c++) {
                twice->number[c][n] = t->number[c][i];
                twice->text[c][n] = t->text[c][i];
            }
            twice->role[n] = DN_ROW_TRAIN;
        }
        t->role[i] = DN_ROW_TRAIN;
        t->number[T_PLAIN][i] = t->weight[i] == 0 ? 1e6 : t->number[T_PLAIN][i];
    }
    for (size_t i = TABLE_ROWS / 2; i < TABLE_ROWS; i++) {
        t->role[i] = DN_ROW_SKIP;
    }
    for (; n < TABLE_ROWS; n++) {
        twice->role[n] = DN_ROW_SKIP;
    }
    dn_encoder *a = fit(t, 1, &standard_spec, t->role, t->weight, NULL),
               *b = fit(twice, 2, &standard_spec, twice->role, NULL, NULL);
    assert_int_equal(dn_encoder_n_features(a), dn_encoder_n_features(b));
    for (size_t j = 0; j < dn_encoder_n_features(a); j++) {
        close_to(dn_encoder_mean(a)[j], dn_encoder_mean(b)[j], 1e-13);
        close_to(dn_encoder_scale(a)[j], dn_encoder_scale(b)[j], 1e-12);
    }
    dn_encoder_unref(a);
    dn_encoder_unref(b);
    free(t);
    free(twice);
}

static dn_status fit_column(const double *x, size_t n, dn_column_type type, double *mean,
                            double *scale, dn_error *err) {
    size_t borders[] = {0, n}, column = 0;
    chunked_column data = {.column = {.name = "x", .type = type}, .number = x};
    chunked source;
    chunked_init(&source, &data, 1, n, borders, 1);
    dn_encoder_spec spec = {.columns = &column, .n_columns = 1, .standardize = true};
    dn_encoder *encoder = NULL;
    dn_status status = dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, err);
    if (status == DN_OK) {
        *mean = dn_encoder_mean(encoder)[0];
        *scale = dn_encoder_scale(encoder)[0];
    }
    dn_encoder_unref(encoder);
    chunked_done(&source);
    return status;
}

static void numerically_hard(void **unused) {
    (void)unused;
    enum { N = 20000 };
    double *x = malloc(N * sizeof *x), mean = 0, scale = 0;
    /* far from 0 sums of squares without a shift would lose all digits */
    for (size_t i = 0; i < N; i++) {
        x[i] = 1e9 + (double)(i % 2) * 1e-3;
    }
    assert_int_equal(fit_column(x, N, DN_NUMERIC, &mean, &scale, NULL), DN_OK);
    double step = x[1] - x[0];
    close_to(mean - 1e9, step / 2, 1e-3);
    close_to(scale, step / 2, 1e-9);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(i % 2) * 1e-170 + 3e-170; /* squares overflow */
    }
    assert_int_equal(fit_column(x, N, DN_NUMERIC, &mean, &scale, NULL), DN_OK);
    close_to(scale, 0.5e-170, 1e-12);
    for (size_t i = 0; i < N; i++) {
        x[i] = i % 2 == 0 ? 1e200 : -1e200;
    }
    assert_int_equal(fit_column(x, N, DN_NUMERIC, &mean, &scale, NULL), DN_OK);
    close_to(scale, 1e200, 1e-12);
    assert_true(fabs(mean) < 1e185);
    for (size_t i = 0; i < N; i++) {
        x[i] = 0.1 + (i % 2 == 0 ? 0.2 : 0.2000000000000000277); /* a rounding error */
    }
    x[7] = 0.3;
    x[8] = 0.1 + 0.2;
    assert_int_equal(fit_column(x, N, DN_NUMERIC, &mean, &scale, NULL), DN_OK);
    assert_true(scale == 1);
    for (size_t i = 0; i < N; i++) {
        x[i] = i % 2 == 0 ? -0.0 : 0.0;
    }
    assert_int_equal(fit_column(x, N, DN_NUMERIC, &mean, &scale, NULL), DN_OK);
    assert_true(mean == 0 && !signbit(mean) && scale == 1);
    dn_error err;
    dn_error_clear(&err);
    for (size_t i = 0; i < N; i++) {
        x[i] = 1.7e308 - (double)(i % 2) * 1e300;
    }
    assert_int_equal(fit_column(x, N, DN_NUMERIC, &mean, &scale, &err), DN_ERR_NUMERIC);
    assert_string_equal(err.field, "x");
    free(x);
}

/* Fits 17 categorical columns of 10 texts of `length` letters or a few more. */
static dn_status fit_long_levels(size_t length, size_t n_columns, const dn_run *run,
                                 dn_error *err) {
    enum { ROWS = 10, COLUMNS = 17 };
    static const char *const names[COLUMNS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                               "j", "k", "l", "m", "n", "o", "p", "q"};
    static const size_t borders[] = {0, 3, 6, ROWS};
    size_t all[COLUMNS];
    char *letters = malloc(length + ROWS + 1);
    const char *texts[ROWS];
    chunked_column columns[COLUMNS];
    chunked source;
    assert_non_null(letters);
    memset(letters, 'x', length + ROWS);
    letters[length + ROWS] = '\0';
    for (size_t i = 0; i < ROWS; i++) {
        texts[i] = letters + i;
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        all[c] = c;
        columns[c] =
            (chunked_column){.column = {.name = names[c], .type = DN_CATEGORICAL}, .text = texts};
    }
    chunked_init(&source, columns, COLUMNS, ROWS, borders, 3);
    dn_encoder *encoder = NULL;
    dn_encoder_spec spec = {.columns = all, .n_columns = n_columns};
    dn_status status = dn_encoder_fit(&source.source, &spec, NULL, NULL, run, &encoder, err);
    assert_true((encoder != NULL) == (status == DN_OK));
    dn_encoder_unref(encoder);
    chunked_done(&source);
    free(letters);
    return status;
}

/* The text of levels is limited, for one input and for all together. */
static void text_of_levels(void **unused) {
    (void)unused;
    dn_run runs[] = {dn_run_default(), scattered_run()};
    for (size_t r = 0; r < 2; r++) {
        dn_error err = {0};
        assert_int_equal(fit_long_levels(100000, 16, &runs[r], &err), DN_OK);
        assert_int_equal(fit_long_levels(105000, 1, &runs[r], &err), DN_ERR_DATA);
        assert_string_equal(err.field, "a");
        assert_string_equal(err.message, "column \"a\" has distinct values of more than 1048576 "
                                         "bytes in all, too long for a categorical input");
        dn_error_clear(&err);
        assert_int_equal(fit_long_levels(100000, 17, &runs[r], &err), DN_ERR_DATA);
        assert_string_equal(
            err.message,
            "the categorical inputs have distinct values of more than 16777216 bytes in all");
    }
}

static void refusals(void **unused) {
    (void)unused;
    table *t = mixed_table_new(200);
    size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(2, borders), column = T_CITY,
                                      beyond = T_COLUMNS;
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
    dn_encoder *encoder = NULL;
    dn_error err;
    dn_run runs[] = {dn_run_default(), scattered_run()};
    for (size_t r = 0; r < 2; r++) {
        dn_encoder_spec spec = {.columns = &column, .n_columns = 1, .max_levels = 199};
        dn_error_clear(&err);
        assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, &runs[r], &encoder,
                                        &err),
                         DN_ERR_DATA);
        assert_string_equal(err.field, "city");
        assert_string_equal(
            err.message,
            "column \"city\" has more than 199 distinct values, too many for a categorical input");
        spec.max_levels = 200;
        assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, &runs[r], &encoder,
                                        NULL),
                         DN_OK);
        dn_encoder_unref(encoder);
        encoder = NULL;
    }
    dn_encoder_spec spec = {.columns = &beyond, .n_columns = 1};
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_ERR_ARGUMENT);
    spec = (dn_encoder_spec){.columns = &column, .n_columns = 0};
    assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL),
                     DN_ERR_DATA);
    memset(t->role, DN_ROW_VALIDATE, sizeof t->role);
    dn_error_clear(&err);
    assert_int_equal(dn_encoder_fit(&source.source, &standard_spec, t->role, NULL, NULL, &encoder,
                                    &err),
                     DN_ERR_DATA);
    assert_string_equal(err.message, "there is no training row");
    t->weight[4321] = -1;
    dn_error_clear(&err);
    assert_int_equal(dn_encoder_fit(&source.source, &standard_spec, NULL, t->weight, NULL, &encoder,
                                    &err),
                     DN_ERR_ARGUMENT);
    assert_int_equal(err.row, 4321);
    t->weight[4321] = (double)NAN;
    assert_int_equal(dn_encoder_fit(&source.source, &standard_spec, NULL, t->weight, NULL, &encoder,
                                    NULL),
                     DN_ERR_ARGUMENT);
    source.columns[T_COLOUR].type = DN_TEXT;
    for (int hashed = 0; hashed < 2; hashed++) {
        spec = standard_spec;
        *(hashed ? &spec.text.buckets : &spec.text.vocabulary) = DN_MAX_WORDS + 1;
        dn_error_clear(&err);
        assert_int_equal(dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, &err),
                         DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "text");
    }
    assert_null(encoder);
    chunked_done(&source);
    free(t);
}

/* Every call to the source and to the allocator fails once. Each failure is reported and nothing
 * leaks. */
static void failures(void **unused) {
    (void)unused;
    table *t = mixed_table_new(10);
    size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(1, borders);
    dn_status status = DN_ERR_SOURCE;
    for (size_t k = 1; status != DN_OK; k++) {
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        source.fail_at = k;
        dn_error err;
        dn_error_clear(&err);
        dn_encoder *encoder = NULL;
        status = dn_encoder_fit(&source.source, &standard_spec, NULL, NULL, NULL, &encoder, &err);
        assert_int_equal(status, k <= (T_COLUMNS + 5) * n
                                     ? DN_ERR_SOURCE
                                     : DN_OK); /* the second pass reads the columns that vary */
        assert_string_equal(err.message, status == DN_OK ? "" : "the disk is gone");
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    status = DN_ERR_BUDGET;
    size_t refused = 0;
    for (; status != DN_OK; refused++) {
        refusing memory;
        refusing_init(&memory, refused + 1);
        dn_run run = scattered_run();
        run.allocator = &memory.allocator;
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        dn_error err;
        dn_error_clear(&err);
        dn_encoder *encoder = NULL;
        status =
            dn_encoder_fit(&source.source, &standard_spec, t->role, NULL, &run, &encoder, &err);
        assert_true(status == DN_OK || status == DN_ERR_BUDGET);
        assert_int_equal(err.code, status);
        assert_int_equal(memory.live, 0);
        assert_true((encoder != NULL) == (status == DN_OK));
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    assert_true(refused > 5);
    free(t);
}

static void raw_rows(void **unused) {
    (void)unused;
    table *t = mixed_table_new(3);
    static const size_t columns[] = {T_PLAIN, T_COLOUR, T_FLAG, T_CITY};
    dn_encoder_spec spec = {.columns = columns, .n_columns = 4, .standardize = true};
    dn_encoder *encoder = fit(t, 0, &spec, NULL, NULL, NULL);
    enum { D = 1 + 6 + 1 + 3 };
    assert_int_equal(dn_encoder_n_features(encoder), D);
    double mean = dn_encoder_mean(encoder)[0], scale = dn_encoder_scale(encoder)[0],
           fill = dn_encoder_input(encoder, 2)->fill;
    const double nan = (double)NAN;
    double raw[] = {2.5, 1, 1, 2, nan, nan, nan, nan, -4, DN_UNSEEN, 0, DN_UNSEEN};
    double want[3][D] = {{(2.5 - mean) / scale, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1},
                         /* city is not missing in training: all zeros */
                         {0, 0, 0, 0, 0, 0, 1, fill, 0, 0, 0},
                         {(-4 - mean) / scale, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    double got[3][D];
    memset(got, 0x55, sizeof got);
    dn_encoder_apply(encoder, dn_raw_numbers(raw, 3), &got[0][0]);
    assert_memory_equal(got, want, sizeof want);
    want[0][0] = 2.5;
    want[1][0] = mean;
    want[2][0] = -4;
    memset(got, 0x55, sizeof got);
    dni_encoder_expand(encoder, dn_raw_numbers(raw, 3), &got[0][0]);
    assert_memory_equal(got, want, sizeof want);
    assert_ptr_equal(dn_encoder_ref(encoder), encoder);
    dn_encoder_unref(encoder);
    assert_int_equal(dn_encoder_n_features(encoder), D); /* still referenced */
    dn_encoder_unref(encoder);
    dn_encoder_unref(NULL);
    free(t);
}

static void bytes_and_back(void **unused) {
    (void)unused;
    table *t = mixed_table_new(12);
    dn_encoder *encoder = fit(t, 0, &standard_spec, NULL, NULL, NULL), *back = NULL;
    void *bytes, *again;
    size_t size, again_size;
    bytes_of(encoder, &bytes, &size);
    dni_reader reader = dni_reader_of(bytes, size);
    assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_OK);
    assert_int_equal(dni_reader_end(&reader, "an encoder", NULL), DN_OK);
    bytes_of(back, &again, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    free(again);
    size_t d = dn_encoder_n_features(encoder);
    double raw[T_COLUMNS] = {1, 2, 3, 4, 5, (double)NAN, 2, DN_UNSEEN, 7, 8}, x[64], y[64];
    dn_encoder_apply(encoder, dn_raw_numbers(raw, 1), x);
    dn_encoder_apply(back, dn_raw_numbers(raw, 1), y);
    assert_memory_equal(x, y, d * sizeof *x);
    assert_true(dn_encoder_level(back, T_CITY, "c3", 2) ==
                dn_encoder_level(encoder, T_CITY, "c3", 2));
    assert_string_equal(dn_encoder_input(back, T_STAMP)->name, "stamp");
    dn_encoder_unref(encoder);
    dn_encoder_unref(back);

    for (size_t cut = 0; cut < size; cut++) {
        void *copy = malloc(cut + (cut == 0));
        memcpy(copy, bytes, cut);
        reader = dni_reader_of(copy, cut);
        back = NULL;
        assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
        assert_null(back);
        free(copy);
    }
    unsigned char *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (size_t i = 0; i < size; i++) {
        for (unsigned k = 0; k < 10; k++) {
            copy[i] = (unsigned char)(k < 8 ? copy[i] ^ (1u << k) : k == 8 ? 0 : 255);
            reader = dni_reader_of(copy, size);
            back = NULL;
            dn_status status = dni_encoder_read(&reader, &back, NULL);
            assert_true(status == DN_OK || status == DN_ERR_CORRUPT || status == DN_ERR_VERSION);
            if (status == DN_OK && dn_encoder_n_inputs(back) == T_COLUMNS &&
                dn_encoder_n_features(back) <= 64) {
                dn_encoder_apply(back, dn_raw_numbers(raw, 1), x);
            }
            dn_encoder_unref(back);
            copy[i] = ((unsigned char *)bytes)[i];
        }
    }
    for (int version = 1; version <= 6;
         version++) { /* a version never released; without text inputs; without text kernels */
        copy[0] = (unsigned char)version;
        reader = dni_reader_of(copy, size);
        back = NULL;
        assert_int_equal(dni_encoder_read(&reader, &back, NULL),
                         version == 1 || version == 6 ? DN_ERR_VERSION : DN_OK);
        dn_encoder_unref(back);
    }
    free(copy);
    free(bytes);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recomputed),       cmocka_unit_test(same_however_cut),
        cmocka_unit_test(levels_and_names), cmocka_unit_test(levels_of_training_rows),
        cmocka_unit_test(text_of_levels),   cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(numerically_hard), cmocka_unit_test(refusals),
        cmocka_unit_test(failures),         cmocka_unit_test(raw_rows),
        cmocka_unit_test(bytes_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
