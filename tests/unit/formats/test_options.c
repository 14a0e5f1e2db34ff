/* Tests of the query parameters of an upload, of media types, and of the kind of a cell that its
 * text indicates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/table/table_options.h"
#include "formats/text/cell.h"

#include <stdlib.h>
#include <string.h>

static void check_refused(const char *name, const char *value, const char *text) {
    struct table_options options = {0};
    struct problem problem = {0};
    assert_false(table_option_parse(&options, name, value, &problem));
    assert_int_equal(problem.type, PROBLEM_BAD_REQUEST);
    if (strstr(problem.detail, text) == NULL) {
        fail_msg("%s is not in %s", text, problem.detail);
    }
    problem_done(&problem);
}

/* An option that is refused, and a part of the message. */
struct refusal {
    const char *name, *value, *text;
};

static void check_all_refused(const struct refusal *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        check_refused(cases[i].name, cases[i].value, cases[i].text);
    }
}

static void test_options(void **state) {
    (void)state;
    struct table_options options = {0};
    struct problem problem = {0};
    assert_true(table_option_parse(&options, "header", "true", &problem));
    assert_int_equal(options.header, TABLE_HEADER_YES);
    assert_true(table_option_parse(&options, "header", "false", &problem));
    assert_int_equal(options.header, TABLE_HEADER_NO);
    assert_true(table_option_parse(&options, "header", "auto", &problem));
    assert_int_equal(options.header, TABLE_HEADER_AUTO);
    assert_true(table_option_parse(&options, "delimiter", "\t", &problem));
    assert_int_equal(options.delimiter, '\t');
    assert_true(table_option_parse(&options, "delimiter", "semicolon", &problem));
    assert_int_equal(options.delimiter, ';');
    assert_true(table_option_parse(&options, "delimiter", "space", &problem));
    assert_int_equal(options.delimiter, ' ');
    assert_true(table_option_parse(&options, "delimiter", "^", &problem));
    assert_int_equal(options.delimiter, '^');
    assert_true(table_option_parse(&options, "skip_rows", "12", &problem));
    assert_int_equal(options.skip_rows, 12);
    assert_true(table_option_parse(&options, "missing", "-1,none", &problem));
    assert_string_equal(options.missing, "-1,none");
    assert_true(table_option_parse(&options, "types", "a:text,b:c:numeric", &problem));
    assert_true(table_option_parse(&options, "label", "class", &problem));
    assert_string_equal(options.label, "class");
    assert_int_equal(problem.type, PROBLEM_NONE);
    static const struct refusal cases[] = {
        {"header", "yes",
         "parameter \"header\" must be auto, true, false or the number of header lines, 0 "
         "… 10 (got \"yes\")"},
        {"delimiter", "x", "parameter \"delimiter\" must be a comma, a semicolon, a tab or |"},
        {"delimiter", "", "got \"\""},
        {"delimiter", ".", "that is no quote, point, plus or minus (got \".\")"},
        {"skip_rows", "-1",
         "parameter \"skip_rows\" must be the number of lines before the table, 0 … "
         "1000000 (got \"-1\")"},
        {"types", "a", "parameter \"types\" must be a list of name:type (got \"a\")"},
        {"types", ":text", "must be a list of name:type"},
        {"types", "a:text,,b:text", "must be a list of name:type"},
        {"types", "a:colour",
         "a type must be numeric, boolean, categorical, text, datetime, datetime(dmy), "
         "datetime(mdy) or datetime(ymd) (got \"colour\")"},
        {"types", "a:datetime(dym)", "(got \"datetime(dym)\")"},
        {"types", "a:a very long type that is none", "a type must be"},
        {"types", "a:text,b:text,a:numeric", "names the column \"a\" twice"},
        {"label", "", "parameter \"label\" must be a name of 1 to 255 bytes (got 0)"},
        {"colour", "x", "unknown query parameter \"colour\""},
    };
    check_all_refused(cases, sizeof cases / sizeof *cases);
    char tokens[200];
    memset(tokens, 'x', sizeof tokens);
    tokens[199] = '\0';
    check_refused("missing", tokens, "a token must be at most 64 bytes (got 199)");
    for (size_t i = 1; i < sizeof tokens - 1; i += 2) {
        tokens[i] = ',';
    }
    check_refused("missing", tokens, "must list at most 64 tokens");
}

static void test_types(void **state) {
    (void)state;
    struct type_override *list = NULL;
    size_t n = 9;
    struct problem problem = {0};
    assert_true(table_types_parse("a:text,b:c:numeric, d :boolean", &list, &n, &problem));
    assert_int_equal(n, 3);
    assert_int_equal(list[0].type, DN_TEXT);
    assert_memory_equal(list[1].name, "b:c", 3);
    assert_int_equal(list[1].length, 3);
    assert_int_equal(list[1].type, DN_NUMERIC);
    free(list);
    assert_true(table_types_parse("a:datetime(dmy),b:datetime", &list, &n, &problem));
    assert_int_equal(n, 2);
    assert_int_equal(list[0].type, DN_DATETIME);
    assert_int_equal(list[0].orders, DN_DATE_DMY);
    assert_int_equal(list[1].type, DN_DATETIME);
    assert_int_equal(list[1].orders, DN_DATE_ANY | DN_DATE_COMPACT);
    free(list);
    assert_true(table_types_parse(
        "\"a,b\":text,\"say \"\"hi\"\"\":boolean,e\"f:numeric,\"g:h\":categorical", &list, &n,
        &problem));
    assert_int_equal(n, 4);
    assert_int_equal(list[0].length, 3);
    assert_memory_equal(list[0].name, "a,b", 3);
    assert_int_equal(list[0].type, DN_TEXT);
    assert_int_equal(list[1].length, 8);
    assert_memory_equal(list[1].name, "say \"hi\"", 8);
    assert_int_equal(list[1].type, DN_BOOLEAN);
    assert_memory_equal(list[2].name, "e\"f", 3);
    assert_memory_equal(list[3].name, "g:h", 3);
    free(list);
    static const struct refusal cases[] = {
        {"types", "\"a,b:text", "must be a list of name:type"},
        {"types", "\"a,b\"text", "must be a list of name:type"},
        {"types", "\"\":text", "must be a list of name:type"},
        {"types", "a:text,\"a\":numeric", "names the column \"a\" twice"},
    };
    check_all_refused(cases, sizeof cases / sizeof *cases);
    assert_true(table_types_parse(NULL, &list, &n, &problem));
    assert_int_equal(n, 0);
    free(list);
}

static void test_media_types(void **state) {
    (void)state;
    const struct format *format;
    assert_true(format_find("", FORMAT_TABLE, &format));
    assert_ptr_equal(format, NULL);
    assert_true(format_find("text/csv", FORMAT_TABLE, &format));
    assert_ptr_equal(format, &format_csv);
    assert_true(format_find("text/tab-separated-values", FORMAT_TABLE, &format));
    assert_ptr_equal(format, &format_tsv);
    assert_true(format_find("application/json", FORMAT_TABLE, &format));
    assert_ptr_equal(format, &format_json);
    static const char *const lines[] = {"application/x-ndjson", "application/ndjson",
                                        "application/jsonl"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(format_find(lines[i], FORMAT_TABLE, &format));
        assert_ptr_equal(format, &format_ndjson);
    }
    assert_false(format_find("application/xml", FORMAT_TABLE, &format));
}

static void test_wrong_options_are_told_at_the_first_call(void **state) {
    (void)state;
    struct problem problem = {0};
    struct table *t = table_new(&(struct table_options){.types = "a"}, &(struct table_sink){0});
    assert_non_null(t);
    assert_false(table_feed(t, "a\n1\n", 4, &problem));
    assert_int_equal(problem.type, PROBLEM_BAD_REQUEST);
    problem_done(&problem);
    table_free(t);
}

static void test_cells(void **state) {
    static const struct {
        const char *text;
        enum cell_says says;
    } cases[] = {{"", CELL_MISSING},     {"  ", CELL_MISSING},   {"NA", CELL_MISSING},
                 {" ? ", CELL_MISSING},  {"null", CELL_MISSING}, {"NaN", CELL_MISSING},
                 {"x1", CELL_MISSING},   {"na", CELL_OTHER},     {"nan", CELL_OTHER},
                 {"N", CELL_OTHER},      {"1", CELL_NUMBER},     {" -1.5e3 ", CELL_NUMBER},
                 {"1e999", CELL_OTHER},  {"0x10", CELL_OTHER},   {"inf", CELL_OTHER},
                 {"1 2", CELL_OTHER},    {"true", CELL_BOOLEAN}, {"FALSE", CELL_BOOLEAN},
                 {"tRuE", CELL_BOOLEAN}, {"truee", CELL_OTHER},  {"yes", CELL_OTHER},
                 {"+.5", CELL_NUMBER},   {"5.", CELL_NUMBER},    {".", CELL_OTHER}};
    (void)state;
    struct missing missing;
    struct problem problem = {0};
    assert_true(missing_init(&missing, "x1,NA", &problem));
    assert_int_equal(missing.n, 6); /* NA is a token by default */
    assert_true(missing_init(&missing, "\"a,b\",\"\"\"\" ,x1", &problem));
    assert_int_equal(missing.n, 8);
    assert_int_equal(cell_says(&missing, "a,b", 3), CELL_MISSING);
    assert_int_equal(cell_says(&missing, "\"", 1), CELL_MISSING);
    assert_int_equal(cell_says(&missing, "a", 1), CELL_OTHER);
    check_refused("missing", "\"a,b", "a token in quotes must end with a quote");
    check_refused("missing", "\"a\"b", "a token in quotes must end with a quote");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cell_says(&missing, cases[i].text, strlen(cases[i].text)) != cases[i].says) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void test_shown(void **state) {
    (void)state;
    char shown[TEXT_SHOWN];
    assert_string_equal(text_show("a\nb", 3, shown), "\"a b\"");
    assert_string_equal(text_show("0123456789012345678901234567890123456789", 40, shown),
                        "\"0123456789012345678901234567890123456789\"");
    assert_string_equal(text_show("012345678901234567890123456789012345678\xC3\xA9z", 42, shown),
                        "\"012345678901234567890123456789012345678\"\xE2\x80\xA6");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_media_types),
        cmocka_unit_test(test_wrong_options_are_told_at_the_first_call),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
