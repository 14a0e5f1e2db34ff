/* Exact limits and defaults of the encoder, the missing indicator next to vector inputs,
 * remarks, and memory: budgets that are exactly full and estimates. */
#include "encoder/encoder_apply.h"
#include "encoder/encoder_bytes.h"
#include "encoder/encoder_fit.h"
#include "encoder/encoder_impl.h"
#include "unit/core/support.h"
#include "unit/core/table/chunked.h"

static const size_t first_columns[] = {0, 1, 2, 3};

/* A source of columns in memory. */
static dn_table_source *source_of(const dn_table_column *columns, const dn_column_view *views,
                                  size_t n_cols, size_t n_rows) {
    dn_table_source *source = NULL;
    OK(dn_table_source_from_columns(columns, views, n_cols, n_rows, &source, NULL));
    return source;
}

static dn_column_view numbers_view(const double *x, size_t n) {
    return (dn_column_view){.type = DN_NUMERIC, .n_rows = n, .number = x};
}

static void name_is(const dn_encoder *encoder, size_t j, const char *want) {
    char name[64];
    assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name), strlen(want));
    assert_string_equal(name, want);
}

/* ---- checks of the spec ---- */
static dn_status check_text(dn_text_spec text) {
    static const dn_table_column column = {.name = "note", .type = DN_TEXT};
    return dn_encoder_check(
        &column, 1, &(dn_encoder_spec){.columns = first_columns, .n_columns = 1, .text = text},
        NULL);
}

static void text_limits_are_exact(void **unused) {
    (void)unused;
    OK(check_text((dn_text_spec){0}));
    OK(check_text((dn_text_spec){.buckets = DN_MAX_WORDS}));
    assert_int_equal(check_text((dn_text_spec){.buckets = DN_MAX_WORDS + 1}), DN_ERR_ARGUMENT);
    OK(check_text((dn_text_spec){.vocabulary = DN_MAX_WORDS}));
    assert_int_equal(check_text((dn_text_spec){.vocabulary = DN_MAX_WORDS + 1}), DN_ERR_ARGUMENT);
    /* with buckets the size of the vocabulary is not checked; with sets neither size is */
    OK(check_text((dn_text_spec){.buckets = 2, .vocabulary = DN_MAX_WORDS + 1}));
    OK(check_text((dn_text_spec){.weighting = DN_TEXT_SET, .vocabulary = DN_MAX_WORDS + 1}));
    for (unsigned length = 0; length <= DN_MAX_PATH_LABELS + 1; length++) {
        const bool valid = length >= 1 && length <= DN_MAX_PATH_LABELS;
        assert_int_equal(check_text((dn_text_spec){.weighting = DN_TEXT_PATHS, .length = length}),
                         valid ? DN_OK : DN_ERR_ARGUMENT);
    }
}

static void sparse_limits_are_exact(void **unused) {
    (void)unused;
    dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = UINT32_MAX};
    dn_encoder_spec spec = {.columns = first_columns, .n_columns = 1};
    OK(dn_encoder_check(&column, 1, &spec, NULL));
    column.width++;
    assert_int_equal(dn_encoder_check(&column, 1, &spec, NULL), DN_ERR_DATA);
    /* the number of features counts for standardisation, not the width of the column */
    static uint32_t kept[DN_MAX_DENSE_FEATURES + 1];
    for (size_t k = 0; k <= DN_MAX_DENSE_FEATURES; k++) {
        kept[k] = (uint32_t)(2 * k);
    }
    dn_index_filter filter = {DN_INDICES_KEPT, kept, DN_MAX_DENSE_FEATURES};
    column.width = 4 * (size_t)DN_MAX_DENSE_FEATURES;
    spec.index_filters = &filter;
    spec.standardize = spec.standardize_sparse = true;
    OK(dn_encoder_check(&column, 1, &spec, NULL));
    filter.n++;
    assert_int_equal(dn_encoder_check(&column, 1, &spec, NULL), DN_ERR_DATA);
    spec.standardize = false; /* standardize_sparse has no effect without it */
    OK(dn_encoder_check(&column, 1, &spec, NULL));
}

static void the_last_column_is_the_last(void **unused) {
    (void)unused;
    const dn_table_column column = {.name = "a", .type = DN_NUMERIC};
    static const size_t beyond[] = {1};
    dn_encoder_spec spec = {.columns = first_columns, .n_columns = 1};
    OK(dn_encoder_check(&column, 1, &spec, NULL));
    spec.columns = beyond;
    assert_int_equal(dn_encoder_check(&column, 1, &spec, NULL), DN_ERR_ARGUMENT);
    spec.n_columns = 0;
    assert_int_equal(dn_encoder_check(&column, 1, &spec, NULL), DN_ERR_DATA);
}

/* ---- levels ---- */
enum { MANY = DN_MAX_LEVELS + 1 };

static dn_status fit_levels(size_t n_levels, size_t max_levels, dn_encoder **out) {
    static char names[MANY][8];
    static const char *text[MANY];
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "l%zu", i % n_levels);
        text[i] = names[i];
    }
    const size_t borders[] = {0, MANY};
    const chunked_column column = {.column = {.name = "kind", .type = DN_CATEGORICAL},
                                   .text = text};
    chunked source;
    chunked_init(&source, &column, 1, MANY, borders, 1);
    const dn_encoder_spec spec = {.columns = first_columns,
                                  .n_columns = 1,
                                  .max_levels = max_levels};
    dn_status status = dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, out, NULL);
    chunked_done(&source);
    return status;
}

static void the_number_of_levels_is_exact(void **unused) {
    (void)unused;
    static const struct {
        size_t n, most;
        bool fits;
    } cases[] = {{2, 2, true},
                 {3, 2, false},
                 {1, 1, true},
                 {DN_MAX_LEVELS, 0, true}, /* 0: DN_MAX_LEVELS */
                 {DN_MAX_LEVELS + 1, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dn_encoder *encoder = NULL;
        dn_status status = fit_levels(cases[i].n, cases[i].most, &encoder);
        assert_int_equal(status, cases[i].fits ? DN_OK : DN_ERR_DATA);
        assert_true((encoder != NULL) == cases[i].fits);
        if (encoder != NULL) {
            assert_int_equal(dn_encoder_n_features(encoder), cases[i].n);
        }
        dn_encoder_unref(encoder);
    }
}

/* ---- sparse or dense ---- */
/* One sparse column, two rows of which have `n_entries` entries of value 5. */
static dn_encoder *fit_sparse(size_t width, size_t n_entries, dn_encoder_spec spec) {
    size_t row_start[3] = {0, n_entries, 2 * n_entries};
    uint32_t *index = xcalloc(2 * n_entries, sizeof *index);
    double *entry = xcalloc(2 * n_entries, sizeof *entry);
    for (size_t e = 0; e < 2 * n_entries; e++) {
        index[e] = (uint32_t)(e % n_entries);
        entry[e] = 5;
    }
    const dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = width};
    const dn_column_view view = {
        .type = DN_SPARSE, .n_rows = 2, .number = entry, .row_start = row_start, .index = index};
    dn_table_source *source = source_of(&column, &view, 1, 2);
    dn_encoder *encoder = NULL;
    spec.columns = first_columns;
    spec.n_columns = 1;
    OK(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL));
    dn_table_source_free(source);
    free(index);
    free(entry);
    return encoder;
}

static void the_limits_of_dense_rows_are_exact(void **unused) {
    (void)unused;
    static const struct {
        size_t width, entries;
        bool sparse;
    } cases[] = {{DN_MAX_DENSE_FEATURES, 8000, false},
                 {DN_MAX_DENSE_FEATURES + 1, 8000, true},
                 {8, 2, false},
                 {9, 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dn_encoder *encoder =
            fit_sparse(cases[i].width, cases[i].entries, (dn_encoder_spec){.standardize = false});
        assert_true(dn_encoder_is_sparse(encoder) == cases[i].sparse);
        dn_encoder_unref(encoder);
    }
    /* one of K levels is 1 */
    for (size_t levels = 4; levels < 6; levels++) {
        dn_encoder *encoder = NULL;
        OK(fit_levels(levels, 0, &encoder));
        assert_true(dn_encoder_is_sparse(encoder) == (levels == 5));
        dn_encoder_unref(encoder);
    }
}

/* A feature with the same entry in every row is 0 after standardisation; without it, it is
 * active. */
static void constant_sparse_features_are_not_active(void **unused) {
    (void)unused;
    dn_encoder *encoder =
        fit_sparse(8, 3, (dn_encoder_spec){.standardize = true, .standardize_sparse = true});
    assert_int_equal(encoder->active[0][0], 0);
    assert_true(dn_encoder_mean(encoder)[2] == 5 && dn_encoder_mean(encoder)[3] == 0);
    assert_true(dn_encoder_scale(encoder)[2] == 1);
    dn_encoder_unref(encoder);
    encoder = fit_sparse(8, 3, (dn_encoder_spec){.standardize = true});
    assert_int_equal(encoder->active[0][0], 7);
    dn_encoder_unref(encoder);
}

static void bytes_of(const dn_encoder *encoder, unsigned char **bytes, size_t *size) {
    dni_writer writer;
    void *written = NULL;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    OK(dni_writer_take(&writer, &written, size, NULL));
    *bytes = written;
}

/* standardize_sparse has no meaning without standardize: it is neither written nor read. */
static void standardize_sparse_needs_standardize(void **unused) {
    (void)unused;
    unsigned char *bytes;
    size_t size;
    dn_encoder *encoder = fit_sparse(8, 3, (dn_encoder_spec){.standardize_sparse = true}),
               *back = NULL;
    bytes_of(encoder, &bytes, &size);
    dni_reader reader = dni_reader_of(bytes, size);
    OK(dni_encoder_read(&reader, &back, NULL));
    assert_false(dn_encoder_standardizes(back));
    dn_encoder_unref(back);
    bytes[1] = 8; /* standardize_sparse alone */
    reader = dni_reader_of(bytes, size);
    assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
    free(bytes);
    dn_encoder_unref(encoder);
}

/* The shorter list is written: kept or dropped indices. If both are equally long, the kept indices
 * are written. */
static void the_shorter_list_of_indices_is_written(void **unused) {
    (void)unused;
    static const uint32_t list[] = {1, 2, 3};
    for (size_t kept = 1; kept < 4; kept++) {
        dni_index_set set;
        dni_writer writer;
        void *bytes = NULL;
        size_t size;
        OK(dni_index_set_init(&set, &(dn_index_filter){DN_INDICES_KEPT, list, kept}, 4, NULL));
        dni_writer_init(&writer);
        dni_index_set_write(&set, &writer);
        OK(dni_writer_take(&writer, &bytes, &size, NULL));
        assert_int_equal(*(unsigned char *)bytes, kept == 3 ? DN_INDICES_DROPPED : DN_INDICES_KEPT);
        assert_int_equal(size, 1 + 8 + 4 * (kept == 3 ? 1 : kept));
        free(bytes);
        dni_index_set_done(&set);
    }
}

static dn_encoder *fit_words(const char *bytes, const uint32_t *start, size_t n,
                             dn_text_spec text) {
    static const uint32_t codes[] = {0, 1, 2, 3};
    const dn_table_column column = {.name = "t", .type = DN_TEXT};
    const dn_column_view view = {.type = DN_TEXT,
                                 .n_rows = n,
                                 .code = codes,
                                 .strings = {n, start, bytes}};
    dn_table_source *source = source_of(&column, &view, 1, n);
    const dn_encoder_spec spec = {.columns = first_columns, .n_columns = 1, .text = text};
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL));
    dn_table_source_free(source);
    return encoder;
}

/* ---- the missing indicator, remarks ---- */
enum { ROWS = 4 };

/* Numbers, a sparse column and a text, each with missing or empty rows. */
static dn_encoder *fit_mixed(bool indicator, bool standardize, dn_table_source **out_source) {
    static const double age[] = {1, (double)NAN, 3, 5}, size[] = {2, 4, 6, 9};
    static const size_t row_start[] = {0, 1, 1, 2, 3};
    static const uint32_t index[] = {0, 1, 0};
    static const double entry[] = {1, 2, 3};
    static const char bytes[] = "redred sky";
    static const uint32_t start[] = {0, 3, 10}, code[] = {0, DN_CODE_MISSING, 1, 0};
    static const dn_table_column columns[] = {{.name = "age", .type = DN_NUMERIC},
                                              {.name = "f", .type = DN_SPARSE, .width = 2},
                                              {.name = "note", .type = DN_TEXT},
                                              {.name = "size", .type = DN_NUMERIC}};
    static dn_column_view views[4]; /* must outlive the source */
    const dn_column_view filled[] = {
        numbers_view(age, ROWS),
        {.type = DN_SPARSE,
         .n_rows = ROWS,
         .number = entry,
         .row_start = row_start,
         .index = index},
        {.type = DN_TEXT, .n_rows = ROWS, .code = code, .strings = {2, start, bytes}},
        numbers_view(size, ROWS)};
    memcpy(views, filled, sizeof views);
    *out_source = source_of(columns, views, 4, ROWS);
    const dn_encoder_spec spec = {.columns = first_columns,
                                  .n_columns = 4,
                                  .missing_indicator = indicator,
                                  .standardize = standardize};
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(*out_source, &spec, NULL, NULL, NULL, &encoder, NULL));
    return encoder;
}

static void only_numbers_that_are_missing_have_an_indicator(void **unused) {
    (void)unused;
    static const char *const with[] = {"age",      "age=(missing)", "f0",  "f1",
                                       "note:red", "note:sky",      "size"};
    for (int indicator = 0; indicator < 2; indicator++) {
        for (int standardize = 0; standardize < 2; standardize++) {
            dn_table_source *source;
            dn_encoder *encoder = fit_mixed(indicator == 1, standardize == 1, &source);
            const size_t d = 6 + (size_t)indicator;
            assert_int_equal(dn_encoder_n_features(encoder), d);
            for (size_t j = 0, k = 0; j < 7; j++) {
                if (indicator == 1 || j != 1) {
                    name_is(encoder, k++, with[j]);
                }
            }
            for (size_t i = 0; i < 4; i++) {
                assert_true(dn_encoder_input(encoder, i)->indicator == (indicator == 1 && i == 0));
            }
            /* the indicator is not standardised, and is not a feature of the next input */
            dn_rows *rows = NULL;
            OK(dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL, true, NULL,
                                   &rows, NULL));
            dn_block block;
            OK(dn_rows_block(rows, 0, 0, &block, NULL));
            for (size_t t = 0; t < ROWS; t++) {
                double x[7] = {0};
                if (block.x.kind == DN_DENSE) {
                    memcpy(x, block.x.values + t * block.x.stride, d * sizeof *x);
                } else {
                    for (size_t e = block.x.row_start[t]; e < block.x.row_start[t + 1]; e++) {
                        x[block.x.cols[e]] = block.x.values[e];
                    }
                }
                if (indicator == 1) {
                    assert_true(x[1] == (t == 1));
                }
                const double *f = x + 1 + indicator;
                assert_true(f[0] == (t == 0 ? 1 : t == 3 ? 3 : 0) && f[1] == (t == 2 ? 2 : 0));
                assert_true((f[2] == 0) == (t == 1) && (f[3] == 0) == (t != 2));
            }
            dn_rows_free(rows);
            dn_encoder_unref(encoder);
            dn_table_source_free(source);
        }
    }
}

static void inputs_that_vary_have_no_remark(void **unused) {
    (void)unused;
    dn_table_source *source;
    dn_encoder *encoder = fit_mixed(false, true, &source);
    size_t first = 77;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(dn_encoder_input(encoder, i)->remark, DN_INPUT_VARIES);
    }
    assert_int_equal(dn_encoder_n_constant(encoder, &first), 0);
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

static void remarks_name_constant_and_empty_inputs(void **unused) {
    (void)unused;
    const double same[] = {2, 2, 2}, none[] = {(double)NAN, (double)NAN, (double)NAN},
                 holes[] = {2, (double)NAN, 2};
    const dn_table_column columns[] = {{.name = "same", .type = DN_NUMERIC},
                                       {.name = "none", .type = DN_NUMERIC},
                                       {.name = "holes", .type = DN_NUMERIC}};
    const dn_column_view views[] = {numbers_view(same, 3), numbers_view(none, 3),
                                    numbers_view(holes, 3)};
    dn_table_source *source = source_of(columns, views, 3, 3);
    for (int indicator = 0; indicator < 2; indicator++) {
        const dn_encoder_spec spec = {.columns = first_columns,
                                      .n_columns = 3,
                                      .missing_indicator = indicator == 1};
        dn_encoder *encoder = NULL;
        OK(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL));
        assert_int_equal(dn_encoder_input(encoder, 0)->remark, DN_INPUT_CONSTANT);
        assert_int_equal(dn_encoder_input(encoder, 1)->remark, DN_INPUT_EMPTY);
        assert_true(dn_encoder_input(encoder, 1)->fill == 0);
        /* an input with one value is not constant if it has an indicator */
        assert_int_equal(dn_encoder_input(encoder, 2)->remark,
                         indicator == 1 ? DN_INPUT_VARIES : DN_INPUT_CONSTANT);
        dn_encoder_unref(encoder);
    }
    dn_table_source_free(source);
}

/* By default a basis has all numeric and boolean inputs, and no text or sparse inputs. Bytes with a
 * basis of a text or sparse input are refused as damaged. */
static void bases_have_only_numbers(void **unused) {
    (void)unused;
    dn_table_source *source;
    dn_encoder_unref(fit_mixed(false, false, &source));
    const dn_basis_spec bases[] = {{.kind = DN_BASIS_POLYNOMIAL, .degree = 2, .interactions = true},
                                   {.kind = DN_BASIS_RANDOM_FOURIER,
                                    .n_features = 2,
                                    .standardize = true}};
    const dn_encoder_spec spec = {.columns = first_columns,
                                  .n_columns = 4,
                                  .standardize = true,
                                  .bases = bases,
                                  .n_bases = 2};
    dn_encoder *encoder = NULL, *back = NULL;
    OK(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL));
    assert_int_equal(dn_encoder_n_features(encoder), 2 + 2 + 5 + 2);
    for (size_t b = 0; b < 2; b++) {
        const dn_basis basis = dn_encoder_basis(encoder, b);
        assert_int_equal(basis.n_columns, 2);
        assert_true(basis.columns[0] == 0 && basis.columns[1] == 3);
    }
    /* u32 column[2] of the polynomial: 0 and 3 */
    static const unsigned char columns[] = {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0};
    unsigned char *bytes;
    size_t size, at = 0;
    bytes_of(encoder, &bytes, &size);
    while (memcmp(bytes + at, columns, sizeof columns) != 0) {
        at++;
    }
    for (unsigned char input = 0; input < 5; input++) {
        bytes[at + 12] = input;
        dni_reader reader = dni_reader_of(bytes, size);
        const bool number = input == 0 || input == 3;
        assert_int_equal(dni_encoder_read(&reader, &back, NULL), number ? DN_OK : DN_ERR_CORRUPT);
        dn_encoder_unref(number ? back : NULL);
    }
    free(bytes);
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

/* A row with an unseen category or a missing number is an error, unless its weight is 0. */
static void rows_of_weight_0_are_not_checked(void **unused) {
    (void)unused;
    static const char bytes[] = "redsky";
    static const uint32_t start[] = {0, 3, 6}, code[] = {0, 0, 1};
    static const uint8_t role[] = {DN_ROW_TRAIN, DN_ROW_TRAIN, DN_ROW_VALIDATE};
    const double x[] = {1, 2, (double)NAN};
    const dn_table_column columns[] = {{.name = "kind", .type = DN_CATEGORICAL},
                                       {.name = "x", .type = DN_NUMERIC}};
    const dn_column_view views[] = {
        {.type = DN_CATEGORICAL, .n_rows = 3, .code = code, .strings = {2, start, bytes}},
        numbers_view(x, 3)};
    for (size_t column = 0; column < 2; column++) {
        dn_table_source *source = source_of(columns + column, views + column, 1, 3);
        const dn_encoder_spec spec = {.columns = first_columns,
                                      .n_columns = 1,
                                      .missing_number = DN_MISSING_NONE,
                                      .unseen = DN_UNSEEN_REFUSE};
        dn_encoder *encoder = NULL;
        OK(dn_encoder_fit(source, &spec, role, NULL, NULL, &encoder, NULL));
        for (int weight = 0; weight < 2; weight++) {
            const double v[] = {1, 1, weight};
            dn_rows *rows = NULL;
            dn_error err = {0};
            assert_int_equal(dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, NULL, v, true,
                                                 NULL, &rows, &err),
                             weight == 0 ? DN_OK : DN_ERR_DATA);
            assert_true(weight == 0 || err.row == 2);
            dn_rows_free(rows);
        }
        dn_encoder_unref(encoder);
        dn_table_source_free(source);
    }
}

/* The most frequent number: rows with weight 0 are ignored, even if most rows have weight 0. */
static void the_most_frequent_number_has_a_weight(void **unused) {
    (void)unused;
    const double x[] = {5, 5, 5, 1, 1, 2, (double)NAN}, v[] = {0, 0, 0, 1, 1, 1.5, 1};
    const dn_table_column column = {.name = "x", .type = DN_NUMERIC};
    const dn_column_view view = numbers_view(x, 7);
    dn_table_source *source = source_of(&column, &view, 1, 7);
    const dn_encoder_spec spec = {.columns = first_columns,
                                  .n_columns = 1,
                                  .missing_number = DN_MISSING_FREQUENT_NUMBER};
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(source, &spec, NULL, v, NULL, &encoder, NULL));
    assert_true(dn_encoder_input(encoder, 0)->fill == 1);
    dn_encoder_unref(encoder);
    OK(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL));
    assert_true(dn_encoder_input(encoder, 0)->fill == 5);
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

/* The smallest valid and the largest invalid value of an idf and of a deviation in bytes. */
static void limits_of_numbers_in_bytes_are_exact(void **unused) {
    (void)unused;
    static const char words[] = "red";
    static const uint32_t start[] = {0, 3};
    dn_encoder *encoder = fit_words(words, start, 1, (dn_text_spec){.weighting = DN_TEXT_TFIDF}),
               *back = NULL;
    const double one = 1, less = nextafter(1, 0);
    unsigned char *bytes;
    size_t size, at = 0;
    bytes_of(encoder, &bytes, &size);
    while (memcmp(bytes + at, &one, sizeof one) != 0) { /* the idf of a word in all rows */
        at++;
    }
    dni_reader reader = dni_reader_of(bytes, size);
    OK(dni_encoder_read(&reader, &back, NULL));
    dn_encoder_unref(back);
    memcpy(bytes + at, &less, sizeof less);
    reader = dni_reader_of(bytes, size);
    assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
    free(bytes);
    dn_encoder_unref(encoder);
}

/* ---- names ---- */
static void names_that_could_be_misread_are_quoted(void **unused) {
    (void)unused;
    static const struct {
        const char *column, *feature;
    } names[] = {{"plain", "plain"}, {"\"a", "\"\"\"a\""}, {"a\"", "a\""},
                 {"a=b", "\"a=b\""}, {"a:b", "a:b"},       {"a^b", "a^b"}};
    const double x[] = {1, 2};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const dn_table_column column = {.name = names[i].column, .type = DN_NUMERIC};
        const dn_column_view view = numbers_view(x, 2);
        dn_table_source *source = source_of(&column, &view, 1, 2);
        const dn_encoder_spec spec = {.columns = first_columns, .n_columns = 1};
        dn_encoder *encoder = NULL;
        OK(dn_encoder_fit(source, &spec, NULL, NULL, NULL, &encoder, NULL));
        name_is(encoder, 0, names[i].feature);
        dn_encoder_unref(encoder);
        dn_table_source_free(source);
    }
}

/* ---- vocabularies ---- */
static void the_default_vocabulary_has_100000_words(void **unused) {
    (void)unused;
    enum { WORDS = DN_DEFAULT_VOCABULARY + 1, SIZE = 7 };
    char *bytes = xcalloc(WORDS + 1, SIZE);
    for (size_t i = 0; i < WORDS; i++) {
        (void)snprintf(bytes + i * SIZE, SIZE + 1, "%06zu ", i);
    }
    const uint32_t start[] = {0, WORDS * SIZE};
    dn_encoder *encoder = fit_words(bytes, start, 1, (dn_text_spec){0});
    assert_int_equal(dn_encoder_n_features(encoder), DN_DEFAULT_VOCABULARY);
    name_is(encoder, DN_DEFAULT_VOCABULARY - 1, "t:099999"); /* ties: the first in byte order */
    dn_encoder_unref(encoder);
    free(bytes);
}

static void min_rows_is_exact(void **unused) {
    (void)unused;
    static const char bytes[] = "a b ca ba";
    static const uint32_t start[] = {0, 5, 8, 9}; /* "a b c", "a b", "a" */
    static const size_t n_words[] = {3, 3, 2, 1, 0};
    for (size_t min_rows = 0; min_rows < 5; min_rows++) {
        dn_encoder *encoder = fit_words(bytes, start, 3, (dn_text_spec){.min_rows = min_rows});
        assert_int_equal(dn_encoder_n_features(encoder), n_words[min_rows]);
        assert_int_equal(dn_encoder_input(encoder, 0)->remark,
                         min_rows < 4 ? DN_INPUT_VARIES : DN_INPUT_RARE);
        dn_encoder_unref(encoder);
    }
}

/* ---- memory ---- */
/* Bytes in use, the largest value so far, and a budget. */
struct budget {
    size_t now, peak, limit;
};

static void *budget_allocate(void *ctx, size_t size) {
    struct budget *budget = ctx;
    if (size > budget->limit - budget->now) {
        return NULL;
    }
    size_t *memory = malloc(size + 16);
    if (memory == NULL) {
        return NULL;
    }
    memory[0] = size;
    budget->now += size;
    budget->peak = budget->now > budget->peak ? budget->now : budget->peak;
    return memory + 2;
}

static void budget_release(void *ctx, void *memory) {
    struct budget *budget = ctx;
    size_t *start = memory;
    if (start == NULL) {
        return;
    }
    budget->now -= start[-2];
    free(start - 2);
}

enum { N = 6000, COLS = 4 };

static dn_table_source *numbers_source(double x[COLS][N]) {
    static const dn_table_column columns[] = {{.name = "a", .type = DN_NUMERIC},
                                              {.name = "b", .type = DN_NUMERIC},
                                              {.name = "c", .type = DN_NUMERIC},
                                              {.name = "d", .type = DN_NUMERIC}};
    static dn_column_view views[COLS]; /* must outlive the source */
    for (size_t c = 0; c < COLS; c++) {
        for (size_t i = 0; i < N; i++) {
            x[c][i] = (double)((i * (7 + c) + c) % 101);
        }
        views[c] = numbers_view(x[c], N);
    }
    return source_of(columns, views, COLS, N);
}

/* A budget of exactly the peak suffices; one byte less is reported. */
static void a_budget_may_be_exactly_full(void **unused) {
    (void)unused;
    static double x[COLS][N];
    dn_table_source *source = numbers_source(x);
    const dn_encoder_spec spec = {.columns = first_columns, .n_columns = COLS, .standardize = true};
    struct budget budget = {.limit = SIZE_MAX};
    const dn_allocator allocator = {.allocate = budget_allocate,
                                    .release = budget_release,
                                    .ctx = &budget,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    size_t peaks[2] = {0};
    dn_encoder *encoder = NULL;
    for (int less = -1; less < 2; less++) {
        budget = (struct budget){.limit = less < 0 ? SIZE_MAX : peaks[0] - (size_t)less};
        dn_encoder_unref(encoder);
        encoder = NULL;
        dn_status status = dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL);
        assert_int_equal(status, less == 1 ? DN_ERR_BUDGET : DN_OK);
        assert_int_equal(budget.now, 0);
        peaks[0] = less < 0 ? budget.peak : peaks[0];
    }
    budget.limit = SIZE_MAX;
    OK(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL));
    for (int less = -1; less < 2; less++) {
        dn_rows *rows = NULL;
        dn_error err = {0};
        budget = (struct budget){.limit = less < 0 ? SIZE_MAX : peaks[1] - (size_t)less};
        dn_status status = dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, NULL, NULL,
                                               true, &run, &rows, &err);
        assert_int_equal(status, less == 1 ? DN_ERR_BUDGET : DN_OK);
        peaks[1] = less < 0 ? budget.peak : peaks[1];
        dn_rows_free(rows);
        assert_int_equal(budget.now, 0);
    }
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

/* Checks that the estimate is at least the memory in use and at most 1.5 times as much. */
static void estimate_is(double estimate, double truth) {
    if (!(estimate >= truth && estimate <= 1.5 * truth)) {
        fail_msg("estimate %.0f, truth %.0f", estimate, truth);
    }
}

static void estimates_are_near_the_truth(void **unused) {
    (void)unused;
    static double x[COLS][N];
    dn_table_source *source = numbers_source(x);
    struct budget budget = {.limit = SIZE_MAX};
    const dn_allocator allocator = {.allocate = budget_allocate,
                                    .release = budget_release,
                                    .ctx = &budget};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    dn_encoder_spec spec = {.columns = first_columns, .n_columns = COLS, .standardize = true};
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL));
    estimate_is(dni_encoder_fit_memory(&spec, source->columns, N, 0, 1), (double)budget.peak);
    budget = (struct budget){.limit = SIZE_MAX};
    dn_rows *rows = NULL;
    OK(dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, x[0], x[1], true, &run, &rows,
                           NULL));
    estimate_is((double)dn_encoder_rows_bytes(encoder, N), (double)budget.now - 64);
    dn_rows_free(rows);
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

/* A standardised sparse column is estimated by its number of features. */
static void the_estimate_of_a_sparse_column_is_near_the_truth(void **unused) {
    (void)unused;
    enum { WIDTH = 3000, SPARSE_ROWS = 5000 };
    static size_t row_start[SPARSE_ROWS + 1];
    static uint32_t index[SPARSE_ROWS];
    static double entry[SPARSE_ROWS];
    for (size_t i = 0; i < SPARSE_ROWS; i++) {
        row_start[i + 1] = i + 1;
        index[i] = (uint32_t)(i % WIDTH);
        entry[i] = (double)(i % 7) + 1;
    }
    const dn_table_column column = {.name = "f", .type = DN_SPARSE, .width = WIDTH};
    const dn_column_view view = {.type = DN_SPARSE,
                                 .n_rows = SPARSE_ROWS,
                                 .number = entry,
                                 .row_start = row_start,
                                 .index = index};
    dn_table_source *source = source_of(&column, &view, 1, SPARSE_ROWS);
    struct budget budget = {.limit = SIZE_MAX};
    const dn_allocator allocator = {.allocate = budget_allocate,
                                    .release = budget_release,
                                    .ctx = &budget};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    const dn_encoder_spec spec = {.columns = first_columns,
                                  .n_columns = 1,
                                  .standardize = true,
                                  .standardize_sparse = true};
    dn_encoder *encoder = NULL;
    OK(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL));
    estimate_is(dni_encoder_fit_memory(&spec, &column, SPARSE_ROWS, 0, 1), (double)budget.peak);
    dn_encoder_unref(encoder);
    dn_table_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_limits_are_exact),
        cmocka_unit_test(sparse_limits_are_exact),
        cmocka_unit_test(the_last_column_is_the_last),
        cmocka_unit_test(the_number_of_levels_is_exact),
        cmocka_unit_test(the_limits_of_dense_rows_are_exact),
        cmocka_unit_test(constant_sparse_features_are_not_active),
        cmocka_unit_test(standardize_sparse_needs_standardize),
        cmocka_unit_test(the_shorter_list_of_indices_is_written),
        cmocka_unit_test(only_numbers_that_are_missing_have_an_indicator),
        cmocka_unit_test(inputs_that_vary_have_no_remark),
        cmocka_unit_test(remarks_name_constant_and_empty_inputs),
        cmocka_unit_test(bases_have_only_numbers),
        cmocka_unit_test(the_most_frequent_number_has_a_weight),
        cmocka_unit_test(limits_of_numbers_in_bytes_are_exact),
        cmocka_unit_test(rows_of_weight_0_are_not_checked),
        cmocka_unit_test(names_that_could_be_misread_are_quoted),
        cmocka_unit_test(the_default_vocabulary_has_100000_words),
        cmocka_unit_test(min_rows_is_exact),
        cmocka_unit_test(a_budget_may_be_exactly_full),
        cmocka_unit_test(estimates_are_near_the_truth),
        cmocka_unit_test(the_estimate_of_a_sparse_column_is_near_the_truth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
