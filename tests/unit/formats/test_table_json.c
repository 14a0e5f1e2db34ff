/* Tests of JSON tables: all shapes, keys that occur late, types, and faults with their places. */
#include "table_helper.h"

static void check_rows(const char *body, const char *expected) {
    struct table_copy t = cells_read(body);
    struct buf rows = {0};
    if (!t.well) {
        fail_msg("%s\n%s", body, buf_cstr(&t.problem_text));
    }
    table_rows(&t, &format_ndjson, false, &rows);
    assert_string_equal(buf_cstr(&rows), expected);
    buf_done(&rows);
    table_done(&t);
}

static void check_type(const char *body, const char *type) {
    struct table_copy t = cells_read(body);
    char text[64];
    assert_true(t.well);
    snprintf(text, sizeof text, "[{\"name\":\"a\",\"type\":\"%s\"", type);
    if (strncmp(t.columns, text, strlen(text)) != 0) {
        fail_msg("%s\n%s", body, t.columns);
    }
    table_done(&t);
}

static void test_objects(void **state) {
    (void)state;
    check_rows("[{\"a\":1,\"b\":\"x\"},{\"b\":\"y\",\"a\":2.5}]",
               "{\"a\":1,\"b\":\"x\"}\n{\"a\":2.5,\"b\":\"y\"}\n");
    check_rows("[{\"a\":1},{\"b\":true},{}]",
               "{\"a\":1,\"b\":null}\n{\"a\":null,\"b\":true}\n{\"a\":null,\"b\":null}\n");
    check_rows("[{\"a b\":null,\"\\u00e9\":\"\\\"\\n\"}]",
               "{\"a b\":null,\"\xC3\xA9\":\"\\\"\\n\"}\n");
    check_rows("[{\" a \":1},{\"a\":2}]",
               "{\"a\":1}\n{\"a\":2}\n"); /* spaces around names are removed, as in a CSV header */
    check_rows("[{\"a\":1e999,\"b\":\"NA\"},{\"a\":-0,\"b\":\" ? \"}]",
               "{\"a\":\"1e999\",\"b\":null}\n{\"a\":\"-0\",\"b\":null}\n");
}

static void test_columns_and_rows(void **state) {
    (void)state;
    check_rows("{\"columns\":[\"a\",\"b\"],\"rows\":[[1,\"x\"],[null,\"y\"]]}",
               "{\"a\":1,\"b\":\"x\"}\n{\"a\":null,\"b\":\"y\"}\n");
    check_rows("{\"columns\":[{\"name\":\"a\",\"type\":\"boolean\",\"top\":[[true,1]]},{\"type\":"
               "\"text\",\"name\":\"b\"}],\"rows\":[[1,"
               "\"x\"],[\"FALSE\",3]]}",
               "{\"a\":true,\"b\":\"x\"}\n{\"a\":false,\"b\":\"3\"}\n");
}

static void test_types(void **state) {
    (void)state;
    check_type("[{\"a\":1},{\"a\":2.5}]", "numeric");
    check_type("[{\"a\":true},{\"a\":null}]", "boolean");
    check_type("[{\"a\":\"x\"}]", "categorical");
    check_type("[{\"a\":\"7\"}]", "categorical"); /* a JSON string stays a string */
    check_type("[{\"a\":1},{\"a\":\"2\"}]", "categorical");
    check_type("[{\"a\":\"true\"}]", "categorical");
    check_type("[{\"a\":1},{\"a\":true}]", "categorical");
    check_type("[{\"a\":true},{\"a\":1}]", "categorical");
    check_type("[{\"a\":1},{\"a\":\"NA\"}]", "numeric"); /* except for tokens for missing cells */
    check_type("[{\"a\":null}]", "numeric");
    check_rows("[{\"a\":1.50},{\"a\":true},{\"a\":\"x\"},{\"a\":1e2}]",
               "{\"a\":\"1.50\"}\n{\"a\":\"true\"}\n{\"a\":\"x\"}\n{\"a\":\"1e2\"}\n");
}

static void test_overrides(void **state) {
    (void)state;
    struct table_copy t =
        table_read_options(&(struct table_options){.types = "a:numeric,b:categorical,c:boolean"},
                           "[{\"a\":\"1.5\",\"b\":7.0,\"c\":1},{\"a\":2,\"b\":true,\"c\":\"False\"}"
                           ",{\"a\":\"\",\"b\":null,\"c\":true}]");
    struct buf rows = {0};
    assert_true(t.well);
    table_rows(&t, &format_ndjson, false, &rows);
    assert_string_equal(
        buf_cstr(&rows),
        "{\"a\":1.5,\"b\":\"7.0\",\"c\":true}\n{\"a\":2,\"b\":\"true\",\"c\":false}\n"
        "{\"a\":null,\"b\":null,\"c\":true}\n");
    buf_done(&rows);
    table_done(&t);
    /* the option has priority over the types in the body */
    t = table_read_options(&(struct table_options){.types = "a:text"},
                           "{\"columns\":[{\"name\":\"a\",\"type\":\"numeric\"}],\"rows\":[[1]]}");
    assert_true(t.well);
    assert_non_null(strstr(t.columns, "\"type\":\"text\""));
    table_done(&t);
}

static void test_late_keys(void **state) {
    (void)state;
    struct buf body = {0};
    /* in the first chunk a key may be new */
    buf_puts(&body, "[{\"a\":1}");
    for (int i = 0; i < 60000; i++) {
        buf_puts(&body, ",{\"a\":2}");
    }
    const size_t first = body.size;
    buf_puts(&body, ",{\"a\":3,\"late\":\"x\"}]");
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_true(t.well);
    assert_non_null(
        strstr(t.columns,
               "{\"name\":\"late\",\"type\":\"categorical\",\"missing\":60001,\"distinct\":1"));
    table_done(&t);
    /* after the first chunk a new key is a fault */
    body.size = first;
    for (int i = 0; i < 6000; i++) {
        buf_puts(&body, ",{\"a\":2}");
    }
    buf_puts(&body, ",\n{\"a\":3,\"late\":\"x\"}]");
    t = cells_read(buf_cstr(&body));
    assert_false(t.well);
    assert_non_null(strstr(
        buf_cstr(&t.problem_text),
        "{\"line\":2,\"column\":8,\"detail\":\"row 66002: key \\\"late\\\" occurs first here"));
    table_done(&t);
    buf_done(&body);
}

static void check_refused(const char *body, enum problem_type type, const char *text) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t =
            table_read_cut(&(struct table_options){0}, body, strlen(body), &cut, 1);
        if (t.well) {
            fail_msg("taken: %s", body);
        }
        if (t.problem.type != type || strstr(buf_cstr(&t.problem_text), text) == NULL) {
            fail_msg("%s\nis not in %s", text, buf_cstr(&t.problem_text));
        }
        table_done(&t);
    }
}

static void test_faults(void **state) {
    static const struct {
        const char *body, *text;
    } cases[] = {
        {"[]", "the table has no rows"},
        {"{\"columns\":[\"a\"],\"rows\":[]}", "the table has no rows"},
        {"[{}]",
         "{\"line\":1,\"column\":2,\"detail\":\"row 1 has no cells, and no column is known yet\"}"},
        {"[1]", "{\"line\":1,\"column\":2,\"detail\":\"row 1 must be an object\"}"},
        {"[{\"a\":1},\n[2]]", "{\"line\":2,\"column\":1,\"detail\":\"row 2 must be an object\"}"},
        {"[{\"a\":1,\"a\":2}]",
         "{\"line\":1,\"column\":9,\"detail\":\"row 1: key \\\"a\\\" comes twice\"}"},
        {"[{\"a\":[1,{\"b\":2}]}]", "{\"line\":1,\"column\":7,\"detail\":\"row 1, column "
                                    "\\\"a\\\": a cell must be a number, a string, a "
                                    "boolean or null, not an array\"}"},
        {"[{\"a\":1},{\"a\":{\"x\":1}}]", "row 2, column \\\"a\\\": a cell must be a number, a "
                                          "string, a boolean or null, not an object"},
        {"{\"columns\":[\"a\",\"b\"],\"rows\":[[1,2],[1],[1,2,3]]}",
         "\"detail\":\"row 2 has 1 cell, expected 2\"},{\"line\":1,\"column\":40,\"detail\":\"row "
         "3 has 3 cells, expected 2\"}"},
        {"{\"columns\":[\"a\"],\"rows\":[5]}", "row 1 must be an array"},
        {"{\"columns\":[\"a\",\"a\"],\"rows\":[[1,2]]}",
         "column name \\\"a\\\" is used twice: columns 1 and 2"},
        {"{\"rows\":[[1]],\"columns\":[\"a\"]}", "\\\"columns\\\" must come before \\\"rows\\\""},
        {"{\"columns\":[\"a\"]}", "the object must have \\\"columns\\\" and \\\"rows\\\""},
        {"{\"columns\":[\"a\"],\"rows\":[[1]],\"rows\":[[1]]}", "each once, and no other"},
        {"{\"a\":1,\n\"b\":2}", "the object must have the members \\\"columns\\\" and "
                                "\\\"rows\\\", each once, and no other"},
        {"{\"items\":[{\"a\":1}],\"next\":null}",
         "send the array alone, or fetch the rows as CSV or NDJSON"},
        {"{\"columns\":{},\"rows\":[]}", "\\\"columns\\\" must be an array"},
        {"{\"columns\":[1],\"rows\":[]}", "a column must be a name or an object with a name"},
        {"{\"columns\":[{\"type\":\"text\"}],\"rows\":[]}", "a column object must have a name"},
        {"{\"columns\":[{\"name\":5}],\"rows\":[]}", "a column's name must be a string"},
        {"{\"columns\":[{\"name\":\"a\",\"type\":\"colour\"}],\"rows\":[]}",
         "a column's type must be numeric, boolean, categorical or text"},
        {"{\"columns\":[\"a\"],\"rows\":{}}", "\\\"rows\\\" must be an array"},
        {"{\"columns\":[{\"name\":\"a\",\"type\":\"numeric\"}],\"rows\":[[1],[\"x\"]]}",
         "row 2, column \\\"a\\\": a cell must be a number (got \\\"x\\\")"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_refused(cases[i].body, PROBLEM_INVALID_DATASET, cases[i].text);
    }
    check_refused("[{\"a\":1},\n{\"a\":01}]", PROBLEM_BAD_JSON,
                  "{\"line\":2,\"column\":6,\"detail\":\"malformed number\"}");
    check_refused("[{\"a\":1},{\"a\":NaN}]", PROBLEM_BAD_JSON, "JSON has no NaN or Infinity");
    check_refused("[{\"a\":1}", PROBLEM_BAD_JSON, "the body ends within an array or object");
    check_refused("[{\"a\":1}] x", PROBLEM_BAD_JSON, "nothing may follow the value");
    check_refused("[{\"a\":1},3,{\"a\":x}]", PROBLEM_BAD_JSON,
                  "\"status\":400"); /* invalid JSON is reported as that */
}

static void test_explicit_format(void **state) {
    (void)state;
    struct table_copy t =
        table_read_options(&(struct table_options){.format = &format_json}, "a,b\n1,2\n");
    assert_false(t.well);
    assert_int_equal(t.problem.type, PROBLEM_BAD_JSON);
    table_done(&t);
    t = table_read_options(&(struct table_options){.format = &format_json}, "5");
    assert_non_null(strstr(buf_cstr(&t.problem_text), "the body must be an array of objects"));
    table_done(&t);
    t = table_read_options(&(struct table_options){.format = &format_csv}, "[x],y\n1,2\n");
    assert_true(t.well);
    assert_non_null(strstr(t.columns, "\"name\":\"[x]\""));
    table_done(&t);
}

static void test_long_cells(void **state) {
    (void)state;
    struct buf body = {0};
    buf_puts(&body, "[{\"a\":\"");
    for (int i = 0; i < TABLE_MAX_CELL + 1; i++) {
        buf_putc(&body, 'x');
    }
    buf_puts(&body, "\"}]");
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_non_null(
        strstr(buf_cstr(&t.problem_text), "column \\\"a\\\": cell is longer than 1048576 bytes"));
    table_done(&t);
    /* the two bytes become the escape \n, so that the cell has one byte less */
    body.data[8] = '\\';
    body.data[9] = 'n';
    t = cells_read(buf_cstr(&body));
    assert_true(t.well);
    table_done(&t);
    buf_done(&body);
}

static void test_rows_and_late_keys_are_bounded(void **state) {
    (void)state;
    struct buf body = {0};
    buf_puts(&body, "[{\"a\":1}");
    for (int i = 0; i < 3000; i++) { /* each new column would need a value for all rows before it */
        buf_printf(&body, ",{\"k%d\":1}", i);
    }
    buf_puts(&body, "]");
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_false(t.well);
    assert_non_null(strstr(buf_cstr(&t.problem_text), "occurs first here"));
    table_done(&t);
    buf_clear(&body);
    for (int i = 0; i < 17; i++) {
        buf_printf(&body, "%s\"c%d\":\"%0*d\"", i > 0 ? "," : "[{", i, 1000000, i);
    }
    buf_puts(&body, "}]");
    t = cells_read(buf_cstr(&body));
    assert_false(t.well);
    assert_non_null(strstr(buf_cstr(&t.problem_text), "row 1 is longer than 16777216 bytes"));
    table_done(&t);
    buf_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_objects),
                                       cmocka_unit_test(test_columns_and_rows),
                                       cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_overrides),
                                       cmocka_unit_test(test_late_keys),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_explicit_format),
                                       cmocka_unit_test(test_long_cells),
                                       cmocka_unit_test(test_rows_and_late_keys_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
