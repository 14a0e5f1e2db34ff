/* Tests of CSV tables: inference of types and their later change to strings, declared types, names
 * in the header, summaries, faults. */
#include "table_helper.h"

#include <jansson.h>
#include <math.h>

/* Returns the summary of the column with this name. The caller calls json_decref(*tree). */
static const json_t *column_of(const struct table_copy *t, const char *name, json_t **tree) {
    *tree = json_loads(t->columns, 0, NULL);
    assert_true(json_is_array(*tree));
    for (size_t i = 0; i < json_array_size(*tree); i++) {
        const json_t *column = json_array_get(*tree, i);
        if (strcmp(json_string_value(json_object_get(column, "name")), name) == 0) {
            return column;
        }
    }
    fail_msg("no column %s in %s", name, t->columns);
    return NULL;
}

static void check_type(const struct table_copy *t, const char *name, const char *type) {
    json_t *tree = NULL;
    if (!t->well) {
        fail_msg("refused: %s", buf_cstr((struct buf *)(uintptr_t)&t->problem_text));
    }
    const char *is = json_string_value(json_object_get(column_of(t, name, &tree), "type"));
    if (strcmp(is, type) != 0) {
        fail_msg("column %s is %s, expected %s", name, is, type);
    }
    json_decref(tree);
}

static double number_of(const struct table_copy *t, const char *name, const char *key) {
    json_t *tree = NULL;
    const json_t *value = json_object_get(column_of(t, name, &tree), key);
    const double x = json_is_number(value) ? json_number_value(value) : (double)NAN;
    json_decref(tree);
    return x;
}

static void check_rows(const struct table_copy *t, const char *expected) {
    struct buf rows = {0};
    table_rows(t, &format_csv, false, &rows);
    assert_string_equal(buf_cstr(&rows), expected);
    buf_done(&rows);
}

static void check_member(const struct table_copy *t, const char *text) {
    if (strstr(t->columns, text) == NULL && strstr(t->notes, text) == NULL) {
        fail_msg("%s is in neither of\n%s\n%s", text, t->columns, t->notes);
    }
}

static void test_types(void **state) {
    (void)state;
    struct table_copy t = cells_read(
        "n,b,c,m,x\n1,true,red,?,\n2.5,FALSE,blue,NA,\n,,red,null,\n-3e2,True,\"\",NaN,\n");
    check_type(&t, "n", "numeric");
    check_type(&t, "b", "boolean");
    check_type(&t, "c", "categorical");
    check_type(&t, "m", "numeric");
    check_rows(&t, "n,b,c,m,x\n1,true,red,,\n2.5,false,blue,,\n,,red,,\n-300,true,,,\n");
    check_member(&t, "{\"name\":\"n\",\"type\":\"numeric\",\"missing\":1,\"min\":-300,\"max\":2.5,"
                     "\"mean\":-98.83333333333333,\"std\":");
    check_member(&t, "{\"name\":\"b\",\"type\":\"boolean\",\"missing\":1,\"distinct\":2,\"top\":[["
                     "true,2],[false,1]],\"type_reason\":{");
    check_member(&t, "{\"name\":\"c\",\"type\":\"categorical\",\"missing\":1,\"distinct\":2,"
                     "\"distinct_bytes\":7,\"top\":[[\"red\",2],["
                     "\"blue\",1]],\"type_reason\":{");
    check_member(&t, "{\"name\":\"m\",\"type\":\"numeric\",\"missing\":4,\"min\":null,\"max\":null,"
                     "\"mean\":null,\"std\":null,\"distinct\":"
                     "0,\"quantiles\":null,\"histogram\":null}");
    check_member(&t, "column \\\"m\\\": every cell is missing");
    assert_int_equal(t.sum.n_rows, 4);
    assert_int_equal(t.sum.n_columns, 5);
    table_done(&t);
}

static void test_zero_and_one_are_numbers(void **state) {
    (void)state;
    struct table_copy t = cells_read("a,b\n0,x\n1,y\n");
    check_type(&t, "a", "numeric");
    table_done(&t);
    t = table_read_options(&(struct table_options){.types = "a:boolean"},
                           "a,b\n0,x\n1,y\ntrue,x\n");
    check_type(&t, "a", "boolean");
    check_rows(&t, "a,b\nfalse,x\ntrue,y\ntrue,x\n");
    table_done(&t);
}

static void test_falls_keep_what_was_written(void **state) {
    (void)state;
    struct table_copy t =
        cells_read("zip,flag,both\n007,TRUE,1\n1.50,false,true\n+3,maybe,2\n1e2,true,3\nA-1,0,4\n");
    check_type(&t, "zip", "categorical");
    check_type(&t, "flag", "categorical");
    check_type(&t, "both", "categorical");
    check_rows(&t, "zip,flag,both\n007,TRUE,1\n1.50,false,true\n+3,maybe,2\n1e2,true,3\nA-1,0,4\n");
    check_member(&t, "column \\\"zip\\\": categorical because of line 6 (\\\"A-1\\\")");
    check_member(&t, "column \\\"flag\\\": categorical because of line 4 (\\\"maybe\\\")");
    check_member(&t, "column \\\"both\\\": categorical because of line 3 (\\\"true\\\")");
    table_done(&t);
}

/* A file that was joined of several ones: the first row stays the header, and a warning names the
 * line that repeats it. */
static void test_a_header_that_comes_again(void **state) {
    (void)state;
    struct table_copy t = cells_read("id,name\n1,x\n2,y\nid,name\n3,z\n");
    check_rows(&t, "id,name\n1,x\n2,y\nid,name\n3,z\n");
    check_member(&t, "\"header\":true");
    check_member(&t, "the first row was read as the header, and line 4 repeats it");
    check_member(&t, "column \\\"id\\\": categorical because of line 4");
    table_done(&t);
}

/* Options that the format does not use are reported. */
static void test_unused_options(void **state) {
    (void)state;
    const struct table_options all = {.header = TABLE_HEADER_NO,
                                      .delimiter = ';',
                                      .comment = '#',
                                      .label = "y"};
    struct table_copy t = table_read_options(&all, "{\"a\":1}\n{\"a\":2}\n");
    check_member(&t, "\"warnings\":[\"option \\\"header\\\" was not used: the body is "
                     "NDJSON\",\"option \\\"delimiter\\\" was not used: the "
                     "body is NDJSON\","
                     "\"option \\\"comment\\\" was not used: the body is NDJSON\",\"option "
                     "\\\"label\\\" was not used: the body is NDJSON\"]");
    table_done(&t);
    t = table_read_options(&(struct table_options){.label = "y"}, "[1,2]\n[3,4]\n");
    check_member(&t, "\"warnings\":[]");
    table_done(&t);
    t = table_read_options(&(struct table_options){.label = "y",
                                                   .comment = '%',
                                                   .header = TABLE_HEADER_NO,
                                                   .format = &format_svmlight},
                           "1 1:2\n");
    check_member(&t, "\"warnings\":[\"option \\\"header\\\" was not used: the body is svmlight\"]");
    table_done(&t);
}

/* A message quotes a name that contains a possible delimiter, so that it can be used as an option;
 * numbers too small for a double are reported. */
static void test_names_that_stand_alone(void **state) {
    (void)state;
    static const char *const names[] = {"\"a;b\"", "\"a|b\""};
    for (size_t i = 0; i < 2; i++) {
        char body[64];
        snprintf(body, sizeof body, "%s\n1\n2\n", names[i]);
        struct table_copy t = cells_read(body);
        assert_int_equal(t.n_columns, 1);
        check_rows(&t, body);
        table_done(&t);
    }
    struct table_copy t = cells_read("n,m\n0.0000,1e-400\n2,3\n4,0.00e-999\n");
    check_member(
        &t, "\"warnings\":[\"column \\\"m\\\": a double does not hold \\\"1e-400\\\" in line 2 "
            "exactly, it was read as 0: an upload with types=m:categorical keeps it as "
            "written\"]");
    table_done(&t);
    t = cells_read("zip,n,m\n98765,0,0.5\n01234,10,00.5\n00001,2,0\n");
    check_member(&t,
                 "\"warnings\":[\"column \\\"zip\\\": \\\"01234\\\" in line 3 was read as a "
                 "number, without its leading zeros: declare the column categorical (types=) to "
                 "keep it as written\"]");
    table_done(&t);
    t = table_read_options(&(struct table_options){.types = "zip:numeric"}, "zip\n01234\n2\n");
    check_member(&t, "\"warnings\":[]");
    table_done(&t);
}

/* Long whole numbers, as identifiers are, lose digits: each format counts and reports them. */
static void test_numbers_that_are_rounded(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int line;
    } cases[] = {
        {"id,n\n9007199254740992,1\n9007199254740993,2\n9007199254740995,3\n", 3},
        {"id;n\n9007199254740992;1\n\"9007199254740993\";2\n9007199254740995.0;3\n", 3},
        {"[{\"id\":9007199254740992},{\"id\":9007199254740993},\n{\"id\":9007199254740995}]", 1},
        {"{\"id\":9007199254740992}\n{\"id\":9007199254740993}\n{\"id\":9007199254740995}\n", 2},
        {"{\"columns\":[\"id\"],\"rows\":[[9007199254740992],\n[9007199254740993],"
         "[9007199254740995]]}",
         2},
        {"@relation r\n@attribute id numeric\n@data\n1\n9007199254740993\n9007199254740995\n", 5},
        {"{\"id\":1,\"x\":\"9007199254740993\"}\n{\"id\":9007199254740993}\n"
         "{\"id\":-9007199254740993}\n",
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char warning[400];
        struct table_copy t = cells_read(cases[i].body);
        snprintf(
            warning, sizeof warning,
            "\"column \\\"id\\\": a double does not hold 2 of its numbers exactly, the first is "
            "\\\"9007199254740993\\\" in line %d, it was read as 9007199254740992: an upload "
            "with types=id:categorical keeps them as written\"",
            cases[i].line);
        check_member(&t, warning);
        table_done(&t);
    }
    struct table_copy t =
        table_read_options(&(struct table_options){.marks = {.thousands = '.',
                                                             .has_thousands = true}},
                           "id;n\n9.007.199.254.740.993;1\n1.000;2\n");
    check_member(&t, "a double does not hold \\\"9.007.199.254.740.993\\\" in line 2 exactly, it "
                     "was read as 9007199254740992");
    table_done(&t);
    t = table_read_options(&(struct table_options){.types = "id:categorical"},
                           "id,n\n9007199254740993,1\n2,2\n");
    check_member(&t, "\"warnings\":[]");
    check_rows(&t, "id,n\n9007199254740993,1\n2,2\n");
    table_done(&t);
}

/* A token for missing cells has the same meaning in every format. */
static void test_booleans_for_missing(void **state) {
    (void)state;
    static const char *const bodies[] = {"a,b\nfalse,1\ntrue,false\n",
                                         "[{\"a\":false,\"b\":1},{\"a\":true,\"b\":false}]",
                                         "{\"a\":false,\"b\":1}\n{\"a\":true,\"b\":false}\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct table_copy t =
            table_read_options(&(struct table_options){.missing = "false", .types = "b:numeric"},
                               bodies[i]);
        check_rows(&t, "a,b\n,1\ntrue,\n");
        table_done(&t);
    }
}

/* A string column keeps the spaces around the text of a boolean, wherever the string occurs; a
 * boolean column ignores them. */
static void test_spaces_around_booleans(void **state) {
    (void)state;
    static const char *const bodies[] = {"a,b\n\" true\",1\nx,2\n", "a,b\nx,1\n\" true\",2\n"};
    for (size_t i = 0; i < 2; i++) {
        struct table_copy t = cells_read(bodies[i]);
        check_type(&t, "a", "categorical");
        check_rows(&t, bodies[i]);
        table_done(&t);
    }
    struct table_copy t = cells_read("a,b\n true\t,1\nFALSE ,2\n");
    check_type(&t, "a", "boolean");
    check_rows(&t, "a,b\ntrue,1\nfalse,2\n");
    table_done(&t);
}

static void test_text_above_a_hundred_and_half(void **state) {
    (void)state;
    for (int distinct = 100; distinct <= 101; distinct++) {
        for (int rows = 2 * distinct - 1; rows <= 2 * distinct; rows++) {
            struct buf body = {0};
            buf_puts(&body, "word,n\n");
            for (int i = 0; i < rows; i++) {
                buf_printf(&body, "w%d,%d\n,0\n", i % distinct,
                           i); /* every second cell is missing: it is not counted as a value */
            }
            struct table_copy t = cells_read(buf_cstr(&body));
            check_type(&t, "word", distinct > 100 && rows < 2 * distinct ? "text" : "categorical");
            assert_true(number_of(&t, "word", "distinct") == distinct);
            table_done(&t);
            buf_done(&body);
        }
    }
}

static void test_text_above_ten_thousand(void **state) {
    (void)state;
    for (int distinct = 10000; distinct <= 10001; distinct++) {
        struct buf body = {0};
        buf_puts(&body, "word,n\n");
        for (int i = 0; i < 3 * distinct; i++) {
            buf_printf(&body, "w%d,%d\n", i % distinct, i % distinct);
        }
        struct table_copy t = cells_read(buf_cstr(&body));
        check_type(&t, "word", distinct > 10000 ? "text" : "categorical");
        if (distinct > 10000) { /* an estimate */
            assert_true(fabs(number_of(&t, "word", "distinct") - distinct) < 0.08 * distinct);
            assert_true(number_of(&t, "n", "distinct") == distinct);
            assert_non_null(strstr(t.columns, "\"distinct_estimated\":true"));
            assert_true(number_of(&t, "word", "distinct_above") == 10000);
            assert_true(number_of(&t, "n", "distinct_above") == 10000);
        } else {
            assert_true(number_of(&t, "word", "distinct") == distinct);
            assert_true(number_of(&t, "n", "distinct") == distinct);
            assert_true(isnan(number_of(&t, "word", "distinct_above")));
        }
        table_done(&t);
        buf_done(&body);
    }
}

static void test_overrides(void **state) {
    (void)state;
    const struct table_options options = {.types = "a:categorical,b:text,d:numeric"};
    struct table_copy t = table_read_options(&options, "a,b,c,d\n1,x,1,1\n2,x,2,\n01,y,3,+5\n");
    check_type(&t, "a", "categorical");
    check_type(&t, "b", "text");
    check_type(&t, "c", "numeric");
    check_type(&t, "d", "numeric");
    check_rows(&t, "a,b,c,d\n1,x,1,1\n2,x,2,\n01,y,3,5\n");
    table_done(&t);
}

static void test_missing_tokens(void **state) {
    (void)state;
    const struct table_options options = {.missing = "-1, none ,999"};
    struct table_copy t =
        table_read_options(&options, "a,b\n1,x\n-1,none\n999,y\n999.0, none\n-1,?\n");
    check_type(&t, "a", "numeric");
    check_rows(&t, "a,b\n1,x\n,\n,y\n999,\n,\n");
    assert_true(number_of(&t, "a", "missing") == 3);
    check_member(&t, "\"missing\":[\"\",\"NA\",\"NaN\",\"null\",\"?\",\"-1\",\"none\",\"999\"]");
    table_done(&t);
}

static void test_spaces(void **state) {
    (void)state;
    struct table_copy t = cells_read(" a , b,c\n 1, x,true \n2 , y , FALSE\n ? ,,\n");
    check_type(&t, "a", "numeric");
    check_type(&t, "c", "boolean");
    check_rows(&t, "a,b,c\n1,x,true\n2,y,false\n,,\n");
    table_done(&t);
    t = cells_read("a,b,c\n\" x\",y ,1\n\"z \", \"q\" ,2\n");
    check_rows(&t, "a,b,c\n\" x\",y,1\n\"z \",\"\"\"q\"\"\",2\n");
    table_done(&t);
}

static void test_headers(void **state) {
    (void)state;
    struct table_copy t = cells_read("1,2,x\n3,4,y\n");
    check_rows(&t, "c1,c2,c3\n1,2,x\n3,4,y\n");
    check_member(&t, "\"header\":false");
    table_done(&t);
    t = table_read_options(&(struct table_options){.label = "class"}, "1,2,x\n3,4,y\n");
    check_rows(&t, "c1,c2,class\n1,2,x\n3,4,y\n");
    table_done(&t);
    t = table_read_options(&(struct table_options){.header = TABLE_HEADER_YES}, "2019,2020\n3,4\n");
    check_rows(&t, "2019,2020\n3,4\n");
    table_done(&t);
    t = table_read_options(&(struct table_options){.header = TABLE_HEADER_NO}, "a,b\n3,4\n");
    check_rows(&t, "c1,c2\na,b\n3,4\n");
    check_type(&t, "c1", "categorical");
    table_done(&t);
    t = cells_read(",x,\n0,1,2\n1,2,3\n");
    check_rows(&t, "c1,x,c3\n0,1,2\n1,2,3\n");
    check_member(&t, "column 1 has no name: it is called \\\"c1\\\"");
    table_done(&t);
}

static void test_formats(void **state) {
    (void)state;
    struct table_copy t = cells_read("a;b\n1;\"x,y\"\n");
    check_rows(&t, "a,b\n1,\"x,y\"\n");
    check_member(&t, "\"delimiter\":\";\"");
    table_done(&t);
    t = table_read_options(&(struct table_options){.format = &format_tsv}, "a,b\tc\n1\t2\n");
    check_rows(&t, "\"a,b\",c\n1,2\n");
    table_done(&t);
    t = table_read_options(&(struct table_options){.delimiter = '|'}, "a,b|c\n1|2\n");
    check_rows(&t, "\"a,b\",c\n1,2\n");
    table_done(&t);
    t = cells_read("\xEF\xBB\xBF"
                   "a,b\r\n1,2\r\n");
    check_rows(&t, "a,b\n1,2\n");
    table_done(&t);
    t = cells_read("a\n1\n\n2\n");
    check_rows(&t, "a\n1\n2\n");
    table_done(&t);
}

/* Checks that the body is refused and that the problem document contains the text. */
static void check_refused(const struct table_options *options, const char *body, size_t size,
                          const char *text) {
    struct table_copy t = table_read_cut(options, body, size, NULL, 0);
    if (t.well) {
        fail_msg("taken: %s", body);
    }
    if (strstr(buf_cstr(&t.problem_text), text) == NULL) {
        fail_msg("%s is not in %s", text, buf_cstr(&t.problem_text));
    }
    table_done(&t);
    for (size_t cut = 0; cut <= size && size < 200; cut++) { /* the same with the body in two
                                                              * pieces */
        t = table_read_cut(options, body, size, &cut, 1);
        assert_false(t.well);
        assert_non_null(strstr(buf_cstr(&t.problem_text), text));
        table_done(&t);
    }
}

static void test_faults(void **state) {
    static const struct {
        const char *body, *text;
    } cases[] = {
        {"", "the table has no rows: the body is empty"},
        {"\n\n", "the table has no rows"},
        {"a,b\n", "the table has no rows: there is only a header"},
        {"a,b\n1,2\n3\n", "{\"line\":3,\"column\":2,\"detail\":\"row has 1 cell, expected 2\"}"},
        {"a,b\n1,2,3\n", "{\"line\":2,\"column\":5,\"detail\":\"row has 3 cells, expected 2\"}"},
        {"a,b\n1,\"2\n", "{\"line\":2,\"column\":3,\"detail\":\"the quote is not closed\"}"},
        {"a,b,a\n1,2,3\n",
         "{\"line\":1,\"column\":5,\"detail\":\"column name \\\"a\\\" is used "
         "twice: columns 1 and 3; duplicates=rename gives the second one another name\"}"},
        {"a, a \n1,2\n", "used twice: columns 1 and 2"},
        {"a,b\n1,\xFF\n", "{\"line\":2,\"column\":3,\"detail\":\"invalid UTF-8\"}"},
        {"\"a\nb\",c\n1,2\n", "has a control character"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_refused(&(struct table_options){0}, cases[i].body, strlen(cases[i].body),
                      cases[i].text);
        check_refused(&(struct table_options){0}, cases[i].body, strlen(cases[i].body),
                      "\"type\":\"/problems/invalid-dataset\"");
    }
    check_refused(&(struct table_options){0}, "a,b\n1,\0\n", 8,
                  "{\"line\":2,\"column\":3,\"detail\":\"NUL byte\"}");
    check_refused(&(struct table_options){.types = "b:numeric"}, "a,b\n1,2\n1,x\n3,true\n", 20,
                  "{\"line\":3,\"column\":3,\"detail\":\"column \\\"b\\\": a cell must be a number "
                  "(got \\\"x\\\")\"},"
                  "{\"line\":4,\"column\":3,\"detail\":\"column \\\"b\\\": a cell must be a number "
                  "(got \\\"true\\\")\"}");
    check_refused(&(struct table_options){.types = "b:boolean"}, "a,b\n1,0\n1,2\n", 12,
                  "column \\\"b\\\": a cell must be a boolean (got \\\"2\\\")");
    check_refused(&(struct table_options){.types = "z:text"}, "a,b\n1,0\n", 8,
                  "option \\\"types\\\" names \\\"z\\\", which is not a column of the table");
}

static void test_long_names_and_cells(void **state) {
    (void)state;
    struct buf body = {0};
    for (int i = 0; i < 255; i++) {
        buf_putc(&body, 'n');
    }
    buf_puts(&body, ",b\n1,2\n");
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_true(t.well);
    table_done(&t);
    char *longer = malloc(body.size + 2);
    assert_non_null(longer);
    snprintf(longer, body.size + 2, "n%s", buf_cstr(&body));
    check_refused(&(struct table_options){0}, longer, strlen(longer),
                  "is 256 bytes long, at most 255 are allowed");
    free(longer);
    buf_clear(&body);
    buf_puts(&body, "a,b\n1,");
    for (int i = 0; i < 5 * 1024 * 1024; i++) {
        buf_putc(&body, 'x');
    }
    buf_puts(&body, "\n");
    check_refused(&(struct table_options){0}, body.data, body.size,
                  "{\"line\":2,\"column\":3,\"detail\":\"cell is longer than 1048576 bytes\"}");
    buf_done(&body);
}

static void test_many_columns(void **state) {
    (void)state;
    for (int n = 10000; n <= 16385; n += 6385) {
        struct buf body = {0};
        for (int row = 0; row < 3; row++) {
            for (int i = 0; i < n; i++) {
                buf_printf(&body, row == 0 ? "%sname%d" : "%s%d", i > 0 ? "," : "", i);
            }
            buf_putc(&body, '\n');
        }
        if (n <= TABLE_MAX_COLUMNS) {
            struct table_copy t =
                table_read_cut(&(struct table_options){0}, body.data, body.size, NULL, 0);
            check_type(&t, "name9999", "numeric");
            assert_int_equal(t.sum.n_columns, n);
            table_done(&t);
        } else {
            check_refused(&(struct table_options){0}, body.data, body.size,
                          "row has more than 16384 cells");
        }
        buf_done(&body);
    }
}

static void test_many_faults(void **state) {
    (void)state;
    struct buf body = {0};
    buf_puts(&body, "a,b\n1,2\n");
    for (int i = 0; i < 30; i++) {
        buf_puts(&body, "1,2,3\n");
    }
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_false(t.well);
    assert_int_equal(t.problem.n_errors, TABLE_FAULTS_LISTED);
    assert_int_equal(t.problem.n_dropped, 10);
    assert_int_equal(t.n_chunks, 0); /* of a table with faults, nothing is stored */
    table_done(&t);
    for (int i = 0; i < 3000; i++) {
        buf_puts(&body, "1,2,3\n");
    }
    t = cells_read(buf_cstr(&body));
    /* reading stops after 1000 faults */
    assert_int_equal(t.problem.n_errors + t.problem.n_dropped, 1000);
    table_done(&t);
    buf_done(&body);
}

static void test_moments(void **state) {
    (void)state;
    struct buf body = {0};
    uint64_t seed = 8;
    double sum = 0, square = 0, least = (double)INFINITY, most = -(double)INFINITY;
    enum { N = 70001 };
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    buf_puts(&body, "x,time\n");
    for (int i = 0; i < N; i++) {
        x[i] = (double)cells_random(&seed) / 1e6 - 1000;
        char form[DN_NUMBER_SIZE];
        dn_number_format(x[i], form);
        /* far from zero, where the simple formula of the variance would be inaccurate */
        buf_printf(&body, "%s,%.3f\n", form, 1.7e9 + i % 10);
        sum += x[i];
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    for (int i = 0; i < N; i++) {
        square += (x[i] - sum / N) * (x[i] - sum / N);
    }
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_true(t.n_chunks > 1);
    assert_true(number_of(&t, "x", "min") == least && number_of(&t, "x", "max") == most);
    assert_true(fabs(number_of(&t, "x", "mean") - sum / N) < 1e-9);
    assert_true(fabs(number_of(&t, "x", "std") - sqrt(square / N)) < 1e-9);
    assert_true(fabs(number_of(&t, "time", "mean") - (1.7e9 + 4.5)) < 1e-3);
    assert_true(fabs(number_of(&t, "time", "std") - sqrt(8.25)) < 1e-3);
    table_done(&t);
    buf_done(&body);
    free(x);
}

static void test_sums_too_large_are_null(void **state) {
    (void)state;
    struct table_copy t = cells_read("a,b\n1e308,1\n-1e308,2\n1e308,3\n1.7e308,4\n");
    assert_true(t.well);
    assert_true(number_of(&t, "a", "max") == 1.7e308);
    assert_true(isnan(number_of(&t, "a", "std")));
    table_done(&t);
}

static void test_iris(void **state) {
    (void)state;
    FILE *file = fopen("tests/data/iris.csv", "rb");
    if (file == NULL) {
        file = fopen("../shared/data/iris.csv", "rb");
    }
    if (file == NULL) {
        skip();
    }
    static char body[10000];
    const size_t n = fread(body, 1, sizeof body - 1, file);
    fclose(file);
    struct table_copy t = table_read_cut(&(struct table_options){0}, body, n, NULL, 0);
    assert_true(t.well);
    assert_int_equal(t.sum.n_rows, 150);
    assert_int_equal(t.sum.n_columns, 5);
    check_member(&t, "\"name\":\"sepal_length\",\"type\":\"numeric\",\"missing\":0,\"min\":4.3,"
                     "\"max\":7.9,\"mean\":5.84333333333333");
    assert_true(fabs(number_of(&t, "sepal_length", "std") - 0.8253) < 5e-5);
    assert_true(number_of(&t, "sepal_length", "distinct") == 35);
    check_member(&t, "[[\"setosa\",50],[\"versicolor\",50],[\"virginica\",50]]");
    struct buf rows = {0};
    table_rows(&t, &format_csv, false, &rows);
    assert_int_equal(rows.size, n);
    assert_memory_equal(rows.data, body, n);
    buf_done(&rows);
    table_done(&t);
}

/* A delimiter that an option or the media type determines is used, even if the body looks as if it
 * had another one. */
static void test_given_delimiter(void **state) {
    (void)state;
    static const struct {
        const char *body;
        const struct format *format;
        char delimiter;
        const char *name; /* the name of the first column */
        size_t n_columns;
    } rows[] = {
        {"a,b;c\n1,2;3\n", &format_csv, '\0', "a", 2},
        {"a,b;c\n1,2;3\n", &format_csv, ';', "a,b", 2},
        {"a,b;c\n1,2;3\n", &format_csv, '|', "a,b;c", 1},
        {"a;b\n1;2\n", &format_csv, ',', "a;b", 1},
        {"a;b\n1;2\n", NULL, '\t', "a;b", 1},
        {"a,b\tc\n1,2\t3\n", &format_tsv, '\0', "a,b", 2},
        {"a,b\n1,2\n", &format_tsv, '\0', "a,b", 1},
        {"a,b\n1,2\n", &format_csv, '\t', "a,b", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct table_copy t =
            table_read_options(&(struct table_options){.format = rows[i].format,
                                                       .delimiter = rows[i].delimiter,
                                                       .header = TABLE_HEADER_YES},
                               rows[i].body);
        struct schema schema = {0};
        struct problem problem = {0};
        assert_true(t.well);
        assert_true(schema_parse(t.columns, &schema, &problem));
        assert_int_equal(schema.n, rows[i].n_columns);
        assert_string_equal(schema.columns[0].name, rows[i].name);
        schema_done(&schema);
        table_done(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_given_delimiter),
                                       cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_zero_and_one_are_numbers),
                                       cmocka_unit_test(test_falls_keep_what_was_written),
                                       cmocka_unit_test(test_a_header_that_comes_again),
                                       cmocka_unit_test(test_unused_options),
                                       cmocka_unit_test(test_names_that_stand_alone),
                                       cmocka_unit_test(test_numbers_that_are_rounded),
                                       cmocka_unit_test(test_booleans_for_missing),
                                       cmocka_unit_test(test_spaces_around_booleans),
                                       cmocka_unit_test(test_text_above_a_hundred_and_half),
                                       cmocka_unit_test(test_text_above_ten_thousand),
                                       cmocka_unit_test(test_overrides),
                                       cmocka_unit_test(test_missing_tokens),
                                       cmocka_unit_test(test_spaces),
                                       cmocka_unit_test(test_headers),
                                       cmocka_unit_test(test_formats),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_long_names_and_cells),
                                       cmocka_unit_test(test_many_columns),
                                       cmocka_unit_test(test_many_faults),
                                       cmocka_unit_test(test_moments),
                                       cmocka_unit_test(test_sums_too_large_are_null),
                                       cmocka_unit_test(test_iris)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
