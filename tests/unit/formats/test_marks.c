/* Decimal commas, separators of thousands, signs around numbers; columns in which they are
 * detected, for all cuts of a body. */
#include "table_helper.h"

#include "formats/text/marks.h"

#include <math.h>

static struct text text_of(const char *s) {
    return (struct text){s, strlen(s)};
}

static void test_forms(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum marks_form form;
        double number;
    } known[] = {{"12", MARKS_PLAIN, 12},
                 {"-1e3", MARKS_PLAIN, -1000},
                 {"1.5", MARKS_POINT, 1.5},
                 {"0.125", MARKS_POINT, 0.125},
                 {"1234.567", MARKS_POINT, 1234.567},
                 {"-1.234", MARKS_GROUPED, -1.234},
                 {"1,5", MARKS_COMMA, 1.5},
                 {"-,5", MARKS_COMMA, -0.5},
                 {"0,125", MARKS_COMMA, 0.125},
                 {"1234,567", MARKS_COMMA, 1234.567},
                 {"1.234.567,8", MARKS_COMMA, 1234567.8},
                 {"1,5e2", MARKS_COMMA, 150},
                 {"+999,000", MARKS_EITHER, 999},
                 {"", MARKS_NO_NUMBER, 0},
                 {",", MARKS_NO_NUMBER, 0},
                 {"1,", MARKS_COMMA, 1},
                 {"1,2,3", MARKS_NO_NUMBER, 0},
                 {"1,234,567", MARKS_NO_NUMBER, 0},
                 {"1,234.5", MARKS_NO_NUMBER, 0},
                 {"12.34,5", MARKS_NO_NUMBER, 0},
                 {"1234.567,5", MARKS_NO_NUMBER, 0},
                 {".123,5", MARKS_NO_NUMBER, 0},
                 {"1.2.3", MARKS_NO_NUMBER, 0},
                 {"--1", MARKS_NO_NUMBER, 0},
                 {"1 5", MARKS_NO_NUMBER, 0},
                 {"nan", MARKS_NO_NUMBER, 0}};
    const struct marks none = {0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double number = 0;
        const enum marks_form form = marks_form(&none, text_of(known[i].text), &number);
        if (form != known[i].form || (form != MARKS_NO_NUMBER && number != known[i].number)) {
            fail_msg("%s: form %d, %g", known[i].text, (int)form, number);
        }
    }
    char *longest = malloc(100001);
    assert_non_null(longest);
    memset(longest, '1', 100000);
    longest[100000] = '\0';
    longest[50] = ',';
    double number = 0;
    assert_int_equal(marks_form(&none, text_of(longest), &number), MARKS_NO_NUMBER);
    free(longest);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        struct marks marks;
        const char *text;
        double number; /* NAN: it is no number */
    } known[] = {{{.decimal = ','}, "1,234", 1.234},
                 {{.decimal = ','}, "1.234", (double)NAN},
                 {{.thousands = '.'}, "1.234,5", 1234.5},
                 {{.thousands = '.'}, "1.23", (double)NAN},
                 {{.thousands = ','}, "1,234,567.5", 1234567.5},
                 {{.thousands = ','}, "1234,567", (double)NAN},
                 {{.thousands = ','}, ",123", (double)NAN},
                 {{.thousands = '\''}, "-1'234", -1234},
                 {{.thousands = ' '},
                  "1\xE2\x80\xAF"
                  "234.5",
                  1234.5},
                 {{.strip = "$%"}, "$5", 5},
                 {{.strip = "$%"}, "-$ 5 %", -5},
                 {{.strip = "$%"}, "$-5", -5},
                 {{.strip = "$%"}, "-$-5", (double)NAN},
                 {{.strip = "$%"}, "$", (double)NAN},
                 {{.strip = "$%"}, "5$6", (double)NAN},
                 {{.strip = "\xE2\x82\xAC"}, "5\xC2\xA0\xE2\x82\xAC", 5}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double number = 0;
        const bool well = marks_number(&known[i].marks, text_of(known[i].text), &number);
        if (well != !isnan(known[i].number) || (well && number != known[i].number)) {
            fail_msg("%s: %d, %g", known[i].text, well, number);
        }
    }
}

/* ---- columns ---- */
static const char *const cells[] = {"1",    "22", "1,5", "1,234", "2.5",  "1.234", "1.234,5",
                                    "-7,5", "x",  "",    "NA",    "$5,5", "0,125", "true"};

/* A body whose columns have cells of a few kinds each. */
static void make_body(uint64_t *seed, struct buf *out) {
    const uint32_t rows = 1 + cells_random(seed) % 150;
    uint32_t kinds[4];
    for (size_t j = 0; j < 4; j++) {
        kinds[j] = cells_random(seed);
    }
    buf_clear(out);
    buf_puts(out, "a;b;c;d\n");
    for (uint32_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < 4; j++) {
            const uint32_t few = kinds[j] >> (8 * (cells_random(seed) % 3)) & 0xFF;
            buf_printf(out, "%s%s", cells[few % (sizeof cells / sizeof cells[0])],
                       j < 3 ? ";" : "\n");
        }
    }
}

static void test_cuts(void **state) {
    (void)state;
    uint64_t seed = 17;
    struct buf body = {0};
    const struct table_options options = {.header = TABLE_HEADER_YES, .delimiter = ';'};
    for (int i = 0; i < 200; i++) {
        make_body(&seed, &body);
        const size_t n = body.size;
        size_t *cut = malloc(n * sizeof *cut);
        assert_non_null(cut);
        for (size_t k = 0; k < n; k++) {
            cut[k] = k;
        }
        struct table_copy whole = table_read_cut(&options, body.data, n, NULL, 0),
                          pieces = table_read_cut(&options, body.data, n, cut, n);
        assert_true(whole.well && pieces.well);
        assert_string_equal(whole.columns, pieces.columns);
        assert_string_equal(whole.notes, pieces.notes);
        assert_string_equal(whole.sum.content, pieces.sum.content);
        /* the cells can be written again as they were */
        struct buf texts = {0};
        table_rows(&whole, &format_ndjson, true, &texts);
        assert_false(texts.failed);
        buf_done(&texts);
        table_done(&whole);
        table_done(&pieces);
        free(cut);
    }
    buf_done(&body);
}

/* A column whose commas stay ambiguous is read again as strings, from chunks of numbers. */
static void test_many_chunks(void **state) {
    (void)state;
    enum { ROWS = 140000 };
    struct buf body = {0};
    buf_puts(&body, "a;b\n");
    for (int i = 0; i < ROWS; i++) {
        buf_puts(&body, i % 2 == 0 ? "1,234;5\n" : "77;1,234\n");
    }
    buf_puts(&body, "3;0,5\n");
    struct table_copy t = table_read_options(&(struct table_options){0}, buf_cstr(&body));
    assert_true(t.well);
    assert_true(t.n_chunks > 2);
    assert_non_null(strstr(t.columns, "{\"name\":\"a\",\"type\":\"categorical\",\"missing\":0,"
                                      "\"distinct\":3"));
    assert_non_null(strstr(t.columns, "[\"1,234\",70000]"));
    assert_non_null(strstr(t.columns, "{\"name\":\"b\",\"type\":\"numeric\",\"missing\":0,"
                                      "\"min\":0.5,\"max\":5"));
    assert_non_null(strstr(t.notes, "\"decimal_comma\":[\"b\"]"));
    table_done(&t);
    buf_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_many_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
