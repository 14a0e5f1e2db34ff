/* Options of the encoder: missing and unseen values, indicators, levels. */
#include "encoder/encoder_apply.h"
#include "encoder/encoder_bytes.h"
#include "unit/core/table/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const size_t every[T_COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static dn_encoder *fit(const table *t, size_t cut, const dn_encoder_spec *spec, const uint8_t *role,
                       const double *weight, const dn_run *run) {
    size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(cut, borders);
    chunked source;
    chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
    dn_encoder *encoder = NULL;
    dn_error err = {0};
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

static void names_are(const dn_encoder *encoder, const char *const *names, size_t n) {
    assert_int_equal(dn_encoder_n_features(encoder), n);
    for (size_t j = 0; j < n; j++) {
        char name[64];
        assert_int_equal(dn_encoder_feature_name(encoder, j, name, sizeof name), strlen(names[j]));
        assert_string_equal(name, names[j]);
    }
}

/* A table of columns of `n` cells. */
struct small {
    chunked source;
    chunked_column columns[4];
    size_t borders[2];
};

static dn_encoder *fit_small(struct small *s, size_t n_columns, size_t n, const double *weight,
                             const dn_encoder_spec *options) {
    static const size_t all[] = {0, 1, 2, 3};
    dn_encoder_spec spec = *options;
    dn_encoder *encoder = NULL;
    s->borders[0] = 0;
    s->borders[1] = n;
    chunked_init(&s->source, s->columns, n_columns, n, s->borders, 1);
    spec.columns = all;
    spec.n_columns = n_columns;
    assert_int_equal(dn_encoder_fit(&s->source.source, &spec, NULL, weight, NULL, &encoder, NULL),
                     DN_OK);
    chunked_done(&s->source);
    return encoder;
}

/* ---- most frequent values ---- */
/* Returns the sum of the weights v of the rows whose value is x. */
static double count_of(const double *column, double x, const uint8_t *role, const double *weight) {
    double count = 0;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if ((role == NULL || role[i] == DN_ROW_TRAIN) && column[i] == x) {
            count += weight == NULL ? 1 : weight[i];
        }
    }
    return count;
}

static void most_frequent_numbers(void **unused) {
    (void)unused;
    table *t = mixed_table_new(20);
    const double nan = (double)NAN;
    for (size_t i = 0; i < TABLE_ROWS;
         /* one column with 100 values and missing ones, one with more than 1,000 different
          * values */
         i++) {
        t->number[T_WHOLE][i] = i % 11 == 0 ? nan : (double)(i * i % 101) - 50;
        t->number[T_PLAIN][i] = i % 7 == 0 ? nan : (double)(i * 37 % 3001) / 7;
    }
    static const size_t columns[] = {T_PLAIN, T_WHOLE, T_EMPTY, T_CONSTANT, T_FLAG};
    dn_encoder_spec spec = {.columns = columns,
                            .n_columns = 5,
                            .standardize = true,
                            .missing_number = DN_MISSING_FREQUENT_NUMBER};
    for (int kind = 0; kind < 4; kind++) {
        const uint8_t *role = kind & 1 ? t->role : NULL;
        const double *weight = kind & 2 ? t->weight : NULL;
        dn_encoder *encoder = fit(t, 3, &spec, role, weight, NULL);
        for (size_t k = 0; k < 2; k++) {
            const double *x = t->number[columns[k]], fill = dn_encoder_input(encoder, k)->fill;
            double most = count_of(x, fill, role, weight), v = 0, m = 0, s = 0;
            for (size_t i = 0; i < TABLE_ROWS; i++) {
                if (isnan(x[i])) {
                    continue;
                }
                double count = count_of(x, x[i], role, weight);
                assert_true(count < most || (count == most && x[i] >= fill));
            }
            for (int pass = 0; pass < 2;
                 pass++) { /* mean and deviation are those of the filled column */
                for (size_t i = 0; i < TABLE_ROWS; i++) {
                    double w = (role != NULL && role[i] != DN_ROW_TRAIN) ? 0
                               : weight == NULL                          ? 1
                                                                         : weight[i],
                           z = isnan(x[i]) ? fill : x[i];
                    v += pass == 0 ? w : 0;
                    m += pass == 0 ? w * z : 0;
                    s += pass == 1 ? w * (z - m / v) * (z - m / v) : 0;
                }
            }
            close_to(dn_encoder_mean(encoder)[k], m / v, 1e-12);
            close_to(dn_encoder_scale(encoder)[k], sqrt(s / v), 1e-12);
        }
        assert_true(dn_encoder_input(encoder, 2)->fill == 0);
        assert_true(dn_encoder_input(encoder, 3)->fill == 0.1 && dn_encoder_scale(encoder)[3] == 1);
        double ones = count_of(t->number[T_FLAG], 1, role, weight),
               zeros = count_of(t->number[T_FLAG], 0, role, weight);
        assert_true(dn_encoder_input(encoder, 4)->fill == (ones > zeros ? 1 : 0));
        dn_encoder_unref(encoder);
    }
    free(t);
}

/* DN_MISSING_NONE: a missing number or boolean in a training row is an error that names row and
 * column. */
static void numbers_that_may_not_be_missing(void **unused) {
    (void)unused;
    const double nan = (double)NAN, numbers[] = {3, 1, nan}, flags[] = {1, nan, 0};
    const char *const words[] = {"b", NULL, NULL};
    const uint8_t first[] = {DN_ROW_TRAIN, DN_ROW_SKIP, DN_ROW_SKIP},
                  two[] = {DN_ROW_TRAIN, DN_ROW_TRAIN, DN_ROW_SKIP};
    static const size_t columns[] = {0, 1, 2};
    const dn_table_column described[] = {{.name = "number", .type = DN_NUMERIC},
                                         {.name = "flag", .type = DN_BOOLEAN},
                                         {.name = "word", .type = DN_CATEGORICAL}};
    static const uint32_t start[] = {0, 1};
    const uint32_t codes[] = {0, DN_CODE_MISSING, DN_CODE_MISSING};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = 3, .number = numbers},
                                    {.type = DN_BOOLEAN, .n_rows = 3, .number = flags},
                                    {.type = DN_CATEGORICAL,
                                     .n_rows = 3,
                                     .code = codes,
                                     .strings = {.n = 1, .start = start, .bytes = words[0]}}};
    const dn_encoder_spec spec = {.columns = columns,
                                  .n_columns = 3,
                                  .missing_number = DN_MISSING_NONE};
    const dn_run run = dn_run_default();
    dn_table_source *source;
    dn_encoder *encoder = NULL;
    dn_error err;
    assert_int_equal(dn_table_source_from_columns(described, views, 3, 3, &source, NULL), DN_OK);
    assert_int_equal(dn_encoder_fit(source, &spec, first, NULL, &run, &encoder, NULL), DN_OK);
    for (int in_memory = 0; in_memory < 2;
         in_memory++) { /* other rows are checked too, unless their weight is 0 */
        const double weight[] = {1, 0, 1};
        dn_rows *rows = NULL;
        dn_block block;
        dn_error_clear(&err);
        dn_status status = dn_rows_from_source(source, encoder, NULL, DN_ROW_TRAIN, NULL, weight,
                                               in_memory == 1, &run, &rows, &err);
        if (status == DN_OK) {
            status = dn_rows_block(rows, 0, 0, &block, &err);
        }
        assert_int_equal(status, DN_ERR_DATA);
        assert_string_equal(
            err.message,
            "row 2 has no value for \"number\", and the encoding does not allow missing values");
        assert_string_equal(err.field, "number");
        assert_int_equal(err.row, 2);
        dn_rows_free(rows);
    }
    dn_encoder_unref(encoder);
    dn_error_clear(&err);
    assert_int_equal(dn_encoder_fit(source, &spec, two, NULL, &run, &encoder, &err), DN_ERR_DATA);
    assert_string_equal(err.field, "flag");
    dn_error_clear(&err);
    assert_int_equal(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, &err), DN_ERR_DATA);
    assert_string_equal(err.field, "number");
    assert_non_null(strstr(err.message, "has missing values"));
    dn_table_source_free(source);
}

static void ties_take_the_least(void **unused) {
    (void)unused;
    const double nan = (double)NAN, numbers[] = {3, -0.0, 3, 0.0, 7, nan},
                 flags[] = {1, 0, 1, 0, nan, nan}, weight[] = {1, 1, 1, 1, 2, 5};
    const char *const words[] = {"b", "a", "b", "a", "c", NULL};
    struct small s = {
        .columns = {{.column = {.name = "number", .type = DN_NUMERIC}, .number = numbers},
                    {.column = {.name = "flag", .type = DN_BOOLEAN}, .number = flags},
                    {.column = {.name = "word", .type = DN_CATEGORICAL}, .text = words}}};
    dn_encoder *encoder =
        fit_small(&s, 3, 6, weight,
                  &(dn_encoder_spec){.missing_number = DN_MISSING_FREQUENT_NUMBER,
                                     .missing_category = DN_MISSING_FREQUENT_LEVEL,
                                     .unseen = DN_UNSEEN_FREQUENT});
    assert_true(dn_encoder_input(encoder, 0)->fill == 0 &&
                /* 0, 3 and 7 have a total weight of 2 each */
                !signbit(dn_encoder_input(encoder, 0)->fill));
    assert_true(dn_encoder_input(encoder, 1)->fill == 0);
    assert_int_equal(dn_encoder_input(encoder, 2)->missing_as, 0);
    assert_int_equal(dn_encoder_input(encoder, 2)->unseen_as, 0);
    dn_encoder_unref(encoder);
}

static void frequent_levels(void **unused) {
    (void)unused;
    table *t = mixed_table_new(20);
    dn_run runs[] = {dn_run_default(), scattered_run()};
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if (i % 3 != 0) {
            t->text[T_COLOUR][i] = i % 5 == 0                   ? NULL
                                   : t->role[i] == DN_ROW_TRAIN ? "green"
                                                                : "blue";
        }
    }
    static const char *const names[] = {"", "blue", "green", "green apple", "red"};
    const size_t column = T_COLOUR;
    for (int kind = 0; kind < 4; kind++) {
        const uint8_t *role = kind & 1 ? t->role : NULL;
        const double *weight = kind & 2 ? t->weight : NULL;
        double count[5] = {0};
        size_t best = 0;
        for (size_t i = 0; i < TABLE_ROWS; i++) {
            for (size_t k = 0; k < 5; k++) {
                if ((role == NULL || role[i] == DN_ROW_TRAIN) && t->text[T_COLOUR][i] != NULL &&
                    strcmp(t->text[T_COLOUR][i], names[k]) == 0) {
                    count[k] += weight == NULL ? 1 : weight[i];
                }
            }
        }
        for (size_t k = 1; k < 5; k++) {
            best = count[k] > count[best] ? k : best;
        }
        dn_encoder_spec spec = {.columns = &column,
                                .n_columns = 1,
                                .missing_category = DN_MISSING_FREQUENT_LEVEL};
        dn_encoder *encoder = fit(t, (size_t)kind, &spec, role, weight, &runs[kind % 2]);
        const dn_input *input = dn_encoder_input(encoder, 0);
        assert_int_equal(input->n_features, 5);
        assert_false(input->missing_level);
        assert_int_equal(input->missing_as, best);
        assert_true(input->unseen_as == DN_NO_LEVEL);
        const double raw[] = {(double)NAN, DN_UNSEEN, 3};
        double got[3][5], want[3][5] = {{0}};
        want[0][best] = want[2][3] = 1;
        dn_encoder_apply(encoder, dn_raw_numbers(raw, 3), &got[0][0]);
        assert_memory_equal(got, want, sizeof want);
        dn_encoder_unref(encoder);
        spec = (dn_encoder_spec){.columns = &column, .n_columns = 1, .unseen = DN_UNSEEN_FREQUENT};
        encoder = fit(t, (size_t)kind, &spec, role, weight, &runs[(kind + 1) % 2]);
        input = dn_encoder_input(encoder, 0);
        assert_true(input->missing_level && input->missing_as == 5 && input->unseen_as == best);
        double row[6], expected[6] = {0};
        expected[best] = 1;
        dn_encoder_apply(encoder, dn_raw_numbers(&raw[1], 1), row);
        assert_memory_equal(row, expected, sizeof row);
        dn_encoder_unref(encoder);
    }
    free(t);
}

/* ---- indicators and dropped levels ---- */
static void indicators(void **unused) {
    (void)unused;
    const double nan = (double)NAN, age[] = {20, nan, 40, 60}, full[] = {1, 2, 3, 4},
                 flag[] = {1, 1, nan, 0}, light[] = {1, 1, 1, nan}, weight[] = {1, 1, 1, 0};
    struct small s = {
        .columns = {{.column = {.name = "age", .type = DN_NUMERIC}, .number = age},
                    {.column = {.name = "full", .type = DN_NUMERIC}, .number = full},
                    {.column = {.name = "flag", .type = DN_BOOLEAN}, .number = flag},
                    {.column = {.name = "light", .type = DN_NUMERIC}, .number = light}}};
    dn_encoder *encoder =
        fit_small(&s, 4, 4, weight,
                  &(dn_encoder_spec){.missing_indicator = true, .standardize = true});
    static const char *const names[] = {"age",  "age=(missing)", "full", "flag", "flag=(missing)",
                                        "light"}; /* light is missing only in a row of weight 0 */
    names_are(encoder, names, 6);
    const double raw[] = {nan, nan, nan, nan, 40, 3, 0, 1};
    double got[12], mean = dn_encoder_mean(encoder)[0], scale = dn_encoder_scale(encoder)[0];
    assert_true(mean == 30 && dn_encoder_input(encoder, 0)->fill == 30);
    close_to(scale, sqrt(200.0 / 3), 1e-14); /* the missing value is replaced by the mean */
    assert_true(dn_encoder_mean(encoder)[1] == 0 && dn_encoder_scale(encoder)[1] == 1);
    dn_encoder_apply(encoder, dn_raw_numbers(raw, 2), got);
    const double want[] = {0, 1, 0, 1, 1, 0, 10 / scale, 0, (3 - 2) / dn_encoder_scale(encoder)[2],
                           0, 0, 0};
    assert_memory_equal(got, want, sizeof want);
    dni_encoder_expand(encoder, dn_raw_numbers(raw, 2), got);
    const double plain[] = {30, 1, 2, 1, 1, 1, 40, 0, 3, 0, 0, 1};
    assert_memory_equal(got, plain, sizeof plain);
    dn_encoder_unref(encoder);
}

static void first_level_left_out(void **unused) {
    (void)unused;
    const char *const sex[] = {"female", "male", "male", "other"},
                      *const port[] = {NULL, "a", "a", NULL},
                      *const none[] = {NULL, NULL, NULL, NULL};
    const double age[] = {1, 2, 3, 4};
    struct small s = {
        .columns = {{.column = {.name = "sex", .type = DN_CATEGORICAL}, .text = sex},
                    {.column = {.name = "port", .type = DN_CATEGORICAL}, .text = port},
                    {.column = {.name = "none", .type = DN_CATEGORICAL}, .text = none},
                    {.column = {.name = "age", .type = DN_NUMERIC}, .number = age}}};
    dn_encoder *encoder =
        fit_small(&s, 4, 4, NULL, &(dn_encoder_spec){.categorical = DN_DROP_FIRST});
    static const char *const names[] = {"sex=male", "sex=other", "port=(missing)", "age"};
    names_are(encoder, names, 4);
    static const char *const dropped[] = {"sex=female", "port=a", "none=(missing)", ""};
    for (size_t i = 0; i < 4; i++) {
        char name[32] = "?";
        assert_int_equal(dn_encoder_dropped_level(encoder, i, name, sizeof name),
                         strlen(dropped[i]));
        assert_string_equal(name, dropped[i]);
    }
    assert_int_equal(dn_encoder_dropped_level(encoder, 0, NULL, 0), 10);
    const double nan = (double)NAN, raw[] = {0, 0, nan, 9, 1, nan, DN_UNSEEN, 8, 2, DN_UNSEEN,
                                             0, 7, nan, 0, 0, 6,   DN_UNSEEN, 0, 0, 5};
    const double want[] = {0, 0, 0, 9, 1, 0, 1, 8, 0, 1, 0, 7, 0, 0, 0, 6, 0, 0, 0, 5};
    double got[20];
    dn_encoder_apply(encoder, dn_raw_numbers(raw, 5), got);
    assert_memory_equal(got, want, sizeof want);
    dn_encoder_unref(encoder);
    encoder = fit_small(&s, 4, 4, NULL, &(dn_encoder_spec){0});
    assert_int_equal(dn_encoder_dropped_level(encoder, 0, NULL, 0), 0);
    assert_int_equal(dn_encoder_n_features(encoder), 3 + 2 + 1 + 1);
    dn_encoder_unref(encoder);
}

/* ---- bytes ---- */
static void bytes_of(const dn_encoder *encoder, void **bytes, size_t *size) {
    dni_writer writer;
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    assert_int_equal(dni_writer_take(&writer, bytes, size, NULL), DN_OK);
}

/* The encoder does not depend on chunks and threads. An encoder that is written and read is
 * equal. */
static void bytes_and_back(void **unused) {
    (void)unused;
    table *t = mixed_table_new(12);
    dn_run runs[] = {dn_run_default(), scattered_run()};
    dn_encoder_spec spec = {.columns = every,
                            .n_columns = T_COLUMNS,
                            .standardize = true,
                            .missing_number = DN_MISSING_FREQUENT_NUMBER,
                            .missing_category = DN_MISSING_FREQUENT_LEVEL,
                            .missing_indicator = true,
                            .categorical = DN_DROP_FIRST,
                            .unseen = DN_UNSEEN_FREQUENT};
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        t->weight[i] *= 0.1; /* weights whose sums are not exact */
    }
    for (int refuse = 0; refuse < 2; refuse++) {
        spec.unseen = refuse ? DN_UNSEEN_REFUSE : DN_UNSEEN_FREQUENT;
        void *bytes = NULL, *again = NULL;
        size_t size = 0, again_size = 0;
        for (size_t cut = 0; cut < TABLE_CUTS; cut++) {
            dn_encoder *encoder = fit(t, cut, &spec, t->role, t->weight, &runs[cut % 2]);
            bytes_of(encoder, &again, &again_size);
            assert_true(bytes == NULL || (size == again_size && memcmp(bytes, again, size) == 0));
            free(bytes);
            bytes = again;
            size = again_size;
            dn_encoder_unref(encoder);
        }
        dn_encoder *encoder = fit(t, 0, &spec, t->role, t->weight, NULL), *back = NULL;
        dni_reader reader = dni_reader_of(bytes, size);
        assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_OK);
        assert_int_equal(dni_reader_end(&reader, "an encoder", NULL), DN_OK);
        bytes_of(back, &again, &again_size);
        assert_true(size == again_size && memcmp(bytes, again, size) == 0);
        free(again);
        assert_true(dn_encoder_refuses_unseen(back) == (refuse == 1));
        const double nan = (double)NAN,
                     raw[2 * T_COLUMNS] = {1,   nan, 3, nan, 5, nan, nan,       DN_UNSEEN, 7,   8,
                                           nan, 1,   1, 1,   1, 1,   DN_UNSEEN, nan,       nan, 2};
        double x[2 * 64], y[2 * 64];
        assert_true(dn_encoder_n_features(back) <= 64 &&
                    dn_encoder_n_features(back) == dn_encoder_n_features(encoder));
        dn_encoder_apply(encoder, dn_raw_numbers(raw, 2), x);
        dn_encoder_apply(back, dn_raw_numbers(raw, 2), y);
        assert_memory_equal(x, y, 2 * dn_encoder_n_features(back) * sizeof *x);
        dn_encoder_unref(back);
        dn_encoder_unref(encoder);
        unsigned char *copy = malloc(size);
        for (size_t cut = 0; cut < size; cut++) {
            reader = dni_reader_of(bytes, cut);
            assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_ERR_CORRUPT);
        }
        memcpy(copy, bytes, size);
        for (size_t i = 0; i < 8 * size; i++) {
            copy[i / 8] ^= (unsigned char)(1u << i % 8);
            reader = dni_reader_of(copy, size);
            back = NULL;
            dn_status status = dni_encoder_read(&reader, &back, NULL);
            assert_true(status == DN_OK || status == DN_ERR_CORRUPT || status == DN_ERR_VERSION);
            if (status == DN_OK && dn_encoder_n_inputs(back) == T_COLUMNS &&
                dn_encoder_n_features(back) <= 64) {
                dn_encoder_apply(back, dn_raw_numbers(raw, 2), x);
            }
            dn_encoder_unref(back);
            copy[i / 8] ^= (unsigned char)(1u << i % 8);
        }
        free(copy);
        free(bytes);
    }
    free(t);
}

/* Nothing leaks after any failing call. */
static void failures(void **unused) {
    (void)unused;
    table *t = mixed_table_new(10);
    size_t borders[TABLE_MAX_CHUNKS], n = mixed_table_cut(1, borders);
    const size_t columns[] = {T_PLAIN, T_COLOUR, T_CITY};
    dn_encoder_spec spec = {.columns = columns,
                            .n_columns = 3,
                            .missing_number = DN_MISSING_FREQUENT_NUMBER,
                            .missing_category = DN_MISSING_FREQUENT_LEVEL,
                            .unseen = DN_UNSEEN_FREQUENT};
    dn_status status = DN_ERR_BUDGET;
    size_t refused = 0;
    for (; status != DN_OK; refused++) {
        refusing memory;
        refusing_init(&memory, refused + 1);
        dn_run run = scattered_run();
        run.allocator = &memory.allocator;
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        dn_error err = {0};
        dn_encoder *encoder = NULL;
        status = dn_encoder_fit(&source.source, &spec, t->role, NULL, &run, &encoder, &err);
        assert_true(status == DN_OK || status == DN_ERR_BUDGET);
        assert_int_equal(err.code, status);
        assert_int_equal(memory.live, 0);
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    assert_true(refused > 20);
    status = DN_ERR_SOURCE;
    for (size_t k = 1; status != DN_OK; k++) {
        chunked source;
        chunked_init(&source, t->columns, T_COLUMNS, TABLE_ROWS, borders, n);
        source.fail_at = k;
        dn_encoder *encoder = NULL;
        status = dn_encoder_fit(&source.source, &spec, NULL, NULL, NULL, &encoder, NULL);
        assert_int_equal(status, k <= 7 * n
                                     ? DN_ERR_SOURCE
                                     /* three columns in two passes, the numbers in one more */
                                     : DN_OK);
        dn_encoder_unref(encoder);
        chunked_done(&source);
    }
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_frequent_numbers),
        cmocka_unit_test(numbers_that_may_not_be_missing),
        cmocka_unit_test(ties_take_the_least),
        cmocka_unit_test(frequent_levels),
        cmocka_unit_test(indicators),
        cmocka_unit_test(first_level_left_out),
        cmocka_unit_test(bytes_and_back),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
