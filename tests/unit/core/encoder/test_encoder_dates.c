/* Datetime inputs and their parts: features, bytes, raw values of a date, damaged bytes. */
#include "base/bytes.h"
#include "encoder/encoder_bytes.h"

#include <discern/discern.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 2024-01-01 10:00 (Monday), 2024-01-02 11:00 (Tuesday), missing, 2024-01-01 10:00 */
static const double seconds[] = {1704103200, 1704193200, (double)NAN, 1704103200};
static const uint32_t codes[] = {0, 1, DN_CODE_MISSING, 0}, starts[] = {0, 3, 6};

static dn_datetime_form form_of(const char *pattern) {
    dn_datetime_form form;
    assert_true(dn_datetime_form_parse(pattern, strlen(pattern), &form));
    return form;
}

static dn_encoder *fit(const char *part_name, dn_status wanted) {
    static const size_t inputs[] = {0, 1};
    const dn_datetime_form form = form_of("YYYY-MM-DD hh:mm");
    const dn_table_column columns[] = {
        {.name = "when", .type = DN_DATETIME, .form = form},
        {.name = part_name, .type = DN_CATEGORICAL, .form = form, .part = DN_PART_WEEKDAY}};
    const dn_column_view views[] = {{.type = DN_DATETIME, .n_rows = 4, .number = seconds},
                                    {.type = DN_CATEGORICAL,
                                     .n_rows = 4,
                                     .code = codes,
                                     .strings = {.n = 2, .start = starts, .bytes = "MonTue"}}};
    const dn_encoder_spec spec = {.columns = inputs, .n_columns = 2, .missing_indicator = true};
    const dn_run run = dn_run_default();
    dn_table_source *source = NULL;
    dn_encoder *encoder = NULL;
    assert_int_equal(dn_table_source_from_columns(columns, views, 2, 4, &source, NULL), DN_OK);
    assert_int_equal(dn_encoder_fit(source, &spec, NULL, NULL, &run, &encoder, NULL), wanted);
    dn_table_source_free(source);
    return encoder;
}

static void check(const dn_encoder *encoder) {
    const dn_input *when = dn_encoder_input(encoder, 0), *day = dn_encoder_input(encoder, 1);
    char name[64];
    double raw[2] = {0, 0};
    assert_int_equal(dn_encoder_n_features(encoder), 5); /* seconds, missing, Mon, Tue, missing */
    assert_string_equal(when->column, "when");
    assert_false(when->follows);
    /* the mean of the three values: 1704103200 + 90000/3 */
    assert_true(when->fill == 1704133200);
    assert_string_equal(day->name, "when:weekday");
    assert_string_equal(day->column, "when");
    assert_true(day->follows);
    assert_int_equal(day->part, DN_PART_WEEKDAY);
    assert_int_equal(day->form.clock, 2);
    assert_true(dn_encoder_feature_name(encoder, 3, name, sizeof name) > 0);
    assert_string_equal(name, "when:weekday=Tue");
    assert_int_equal(dn_encoder_date(encoder, 0, 1704193200, raw), 2);
    assert_true(raw[0] == 1704193200 && raw[1] == 1);
    assert_int_equal(dn_encoder_date(encoder, 1, 1704103200, raw), 1);
    assert_true(raw[0] == 0);
    assert_int_equal(dn_encoder_date(encoder, 1, 0, raw), 1); /* a Thursday */
    assert_true(raw[0] == DN_UNSEEN);
    assert_int_equal(dn_encoder_date(encoder, 2, 0, raw), 0);
}

static void test_bytes(void **state) {
    (void)state;
    dn_encoder *encoder = fit("when:weekday", DN_OK), *back = NULL;
    dni_writer writer;
    size_t size = 0;
    check(encoder);
    dni_writer_init(&writer);
    dni_encoder_write(encoder, &writer);
    unsigned char *bytes = NULL;
    assert_int_equal(dni_writer_take(&writer, (void **)&bytes, &size, NULL), DN_OK);
    dni_reader reader = dni_reader_of(bytes, size);
    assert_int_equal(dni_encoder_read(&reader, &back, NULL), DN_OK);
    check(back);
    dn_encoder_unref(back);
    /* each cut, and each byte with other bits, is refused or read without harm */
    for (size_t i = 0; i < size; i++) {
        reader = dni_reader_of(bytes, i);
        back = NULL;
        assert_int_not_equal(dni_encoder_read(&reader, &back, NULL), DN_OK);
        for (unsigned bit = 1; bit < 256; bit *= 2) {
            bytes[i] ^= (unsigned char)bit;
            reader = dni_reader_of(bytes, size);
            back = NULL;
            if (dni_encoder_read(&reader, &back, NULL) == DN_OK) {
                double raw[2];
                (void)dn_encoder_date(back, 0, 1704193200, raw);
            }
            dn_encoder_unref(back);
            bytes[i] ^= (unsigned char)bit;
        }
    }
    free(bytes);
    dn_encoder_unref(encoder);
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"when:month", "weekday", "when", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(fit(names[i], DN_ERR_ARGUMENT));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
