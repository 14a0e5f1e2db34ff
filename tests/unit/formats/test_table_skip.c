/* Tests of rows with faults, which are refused or skipped; of comments; of hints about cells that
 * are perhaps not meant as text. */
#include "table_helper.h"

static void check_text(const char *text, const char *wanted) {
    if (strstr(text, wanted) == NULL) {
        fail_msg("%s\nis not in %s", wanted, text);
    }
}

/* Checks the rows of the body, cut at each offset, and that its notes contain `note` (NULL: not
 * checked). */
static void check(const struct table_options *options, const char *body, const char *expected,
                  const char *note) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(options, body, strlen(body), &cut, 1);
        struct buf rows = {0};
        if (!t.well) {
            fail_msg("%s: %s", body, buf_cstr(&t.problem_text));
        }
        table_rows(&t, &format_csv, false, &rows);
        assert_string_equal(buf_cstr(&rows), expected);
        check_text(t.notes, note != NULL ? note : "");
        buf_done(&rows);
        table_done(&t);
    }
}

static void check_refused(const struct table_options *options, const char *body, const char *text) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(options, body, strlen(body), &cut, 1);
        assert_false(t.well);
        check_text(buf_cstr(&t.problem_text), text);
        table_done(&t);
    }
}

static const struct table_options skip = {.on_error = TABLE_SKIP};

static void test_skip_ragged_and_stray(void **state) {
    (void)state;
    check(&skip, "a,b\n1,x\n2\n3,y,z\n\"4\"4,u\n5,v\n", "a,b\n1,x\n5,v\n",
          "\"skipped\":{\"rows\":3,\"first\":[{\"line\":3,\"column\":2,\"detail\":\"row has 1 "
          "cell, expected 2\"},"
          "{\"line\":4,\"column\":5,\"detail\":\"row has 3 cells, expected 2\"},"
          "{\"line\":5,\"column\":4,\"detail\":\"text after a closing quote: quotes within a "
          "quoted cell are doubled\"}]}");
    check(&skip, "a\tb\n1\tx\n2\n3\ty\n", "a,b\n1,x\n3,y\n",
          "1 row was left out because of faults, the first at line 3: row has 1 cell, expected 2");
    check(&skip, "1,2\n3\n4,5\n", "c1,c2\n1,2\n4,5\n", "\"rows\":1");
    struct table_copy t = table_read_options(&skip, "a,b\n1,x\n2,y\n");
    assert_true(t.well);
    assert_null(strstr(t.notes, "skipped"));
    table_done(&t);
}

/* A skipped row has no effect on the columns: its cells before the fault are not stored, and do not
 * change a type. */
static void test_skip_cells_of_given_types(void **state) {
    (void)state;
    const struct table_options options = {.on_error = TABLE_SKIP, .types = "n:numeric,t:boolean"};
    check(&options,
          "k,n,t\n1,1,true\nword,two,false\n3,3,maybe\n4,NA,\n5,5,1\n6,1e999,0\n7, 7 ,FALSE\n",
          "k,n,t\n1,1,true\n4,,\n5,5,true\n7,7,false\n",
          "{\"line\":3,\"column\":6,\"detail\":\"column \\\"n\\\": a cell must be a number (got "
          "\\\"two\\\")\"},"
          "{\"line\":4,\"column\":5,\"detail\":\"column \\\"t\\\": a cell must be a boolean (got "
          "\\\"maybe\\\")\"},"
          "{\"line\":7,\"column\":3,\"detail\":\"column \\\"n\\\": a cell must be a number (got "
          "\\\"1e999\\\"): its magnitude is beyond");
    struct table_copy t = table_read_options(&options, "k,n,t\n1,1,true\nword,two,false\n3,3,0\n");
    check_text(t.columns, "{\"name\":\"k\",\"type\":\"numeric\"");
    table_done(&t);
    /* without on_error=skip every such cell is reported, also two of the same row */
    check_refused(&(struct table_options){.types = "n:numeric,t:boolean"}, "k,n,t\n1,x,y\n2,2,2\n",
                  "{\"line\":2,\"column\":3,\"detail\":\"column \\\"n\\\": a cell must be a number "
                  "(got \\\"x\\\")\"},"
                  "{\"line\":2,\"column\":5,\"detail\":\"column \\\"t\\\": a cell must be a "
                  "boolean (got \\\"y\\\")\"},"
                  "{\"line\":3,\"column\":5,\"detail\":\"column \\\"t\\\": a cell must be a "
                  "boolean (got \\\"2\\\")\"}");
}

static void test_skip_json_rows(void **state) {
    (void)state;
    check(&(struct table_options){.on_error = TABLE_SKIP, .types = "a:numeric"},
          "[{\"a\":1},\n{\"a\":\"x\",\"new\":1},\n{\"a\":[2]},\n3,\n{\"a\":4,\"a\":5},\n{\"a\":6}]",
          "a\n1\n6\n", "\"skipped\":{\"rows\":4,\"first\":[{\"line\":2,\"column\":6,");
    check(&skip,
          "{\"columns\":[\"a\",{\"name\":\"b\",\"type\":\"boolean\"}],\"rows\":[[1,true],[2],[3,\"?"
          "\"],[4,\"no\"],[5,0,6],7,[8,0]]}",
          "a,b\n1,true\n3,\n8,false\n", "\"rows\":4");
    check_refused(&skip, "[{\"a\":1},{\"a\":", "the body ends within an array or object");
    check_refused(&skip, "[{\"a\":1},{\"a\":x}]", "unknown word");
}

/* Invalid UTF-8 is a fault of its row only, as in NDJSON. */
static void test_skip_invalid_utf8(void **state) {
    (void)state;
    check(&skip, "a,b\n1,x\n2,caf\xE9\n\xFF\xFF,\xE2\x82\n3,\"\xC3\nz\"\n4,y\n", "a,b\n1,x\n4,y\n",
          "\"skipped\":{\"rows\":3,\"first\":[{\"line\":3,\"column\":6,\"detail\":\"invalid UTF-8: "
          "if the body is Windows-1252 or Latin-1");
    check(&skip, "a,b\n1,x\n2,\xC3", "a,b\n1,x\n", "\"line\":3,\"column\":3");
    check(&skip, "a,b\n# \xE9t\xE9\n1,x\n", "a,b\n1,x\n", "\"comments\":1");
    check(&(struct table_options){.on_error = TABLE_SKIP, .comment = '%'},
          "a,b\n% \xE9t\xE9\n1,x\n%\xFF\n", "a,b\n1,x\n", "\"comments\":2,");
    check(&skip, "{\"a\":1}\n{\"a\":\"\xE9t\"}\n{\"a\":2}\n", "a\n1\n2\n", "\"line\":2,");
    check_refused(&skip, "PAR1\n1\xFF\xFF\xFF", "the body is a Parquet file");
}

/* Cells that are too long and rows of too many cells are faults of their row only; a row that is
 * too long ends the reading. */
static void test_skip_long_cells(void **state) {
    (void)state;
    static const char *const quotes[] = {"", "\""};
    for (size_t i = 0; i < 2; i++) {
        struct buf body = {0};
        buf_printf(&body, "a,b\n1,x\n2,%s", quotes[i]);
        for (size_t n = 0; n <= TABLE_MAX_CELL; n++) {
            buf_putc(&body, 'y');
        }
        buf_printf(&body, "%s\n3,z\n4", quotes[i]);
        for (size_t n = 0; n <= 2 * TABLE_MAX_COLUMNS; n++) {
            buf_puts(&body, n % 2 == 0 ? "," : ",\"5\"");
        }
        buf_puts(&body, "\n6,w\n");
        for (size_t piece = 0; piece < 3; piece++) {
            const size_t cut[2] = {piece * 7777, body.size - 9000 * (piece + 1)};
            struct table_copy t = table_read_cut(&skip, body.data, body.size, cut, 2);
            struct buf rows = {0};
            assert_true(t.well);
            table_rows(&t, &format_csv, false, &rows);
            assert_string_equal(buf_cstr(&rows), "a,b\n1,x\n3,z\n6,w\n");
            check_text(t.notes,
                       "{\"line\":3,\"column\":3,\"detail\":\"cell is longer than 1048576 bytes");
            check_text(t.notes, "\"detail\":\"row has more than 16384 cells\"}]");
            buf_done(&rows);
            table_done(&t);
        }
        buf_done(&body);
    }
}

/* The fault of a row that is longer than the limit does not depend on where the body is cut. */
static void test_a_long_row_has_one_verdict(void **state) {
    (void)state;
    struct buf body = {0};
    buf_puts(&body, "a,b\n1,");
    while (body.size < TABLE_MAX_ROW + 100) {
        buf_putc(&body, body.size % 2048 == 0 ? ',' : 'x');
    }
    for (int kind = 0; kind < 2; kind++) {
        const size_t wrong = kind == 0 ? TABLE_MAX_ROW + 50 : TABLE_MAX_ROW - 50;
        const struct table_options options = {.delimiter = ','};
        const char was = body.data[wrong];
        body.data[wrong] = '\xFF';
        for (size_t at = TABLE_MAX_ROW - 60; at < TABLE_MAX_ROW + 90; at += 29) {
            struct table_copy t = table_read_cut(&options, body.data, body.size, &at, 1);
            assert_false(t.well);
            check_text(buf_cstr(&t.problem_text),
                       kind == 0 ? "row is longer than 16 MiB" : "invalid UTF-8");
            table_done(&t);
        }
        body.data[wrong] = was;
    }
    buf_done(&body);
}

/* Faults after which no rows can be read refuse the table, also with on_error=skip. */
static void test_skip_cannot_help(void **state) {
    (void)state;
    check_refused(&skip, "a,b\n1,x\n2,\"y\n3,z\n", "the quote is not closed");
    check_refused(&skip, "a,a\n1,x\n", "is used twice");
    check_refused(&skip, "a,b\n1,caf\xE9,\n", "Windows-1252 or Latin-1");
    check_refused(&skip, "a,\"b\"x\n1,x\n",
                  "{\"line\":1,\"column\":6,\"detail\":\"text after a closing quote");
    check_refused(&skip, "a,b\n1\n2\n3\n",
                  "\"detail\":\"every row has a fault and was left out (3 "
                  "rows)\",\"errors\":[{\"line\":2,\"column\":2,\"detail\":\"row "
                  "has 1 cell, expected 2\"},"
                  "{\"line\":3,");
    check_refused(&(struct table_options){.on_error = TABLE_SKIP, .types = "z:text"}, "a\n1\n",
                  "which is not a column of the table");
}

static void test_skip_samples_twenty(void **state) {
    (void)state;
    struct buf body = {0};
    buf_puts(&body, "a,b\n1,2\n");
    for (int i = 0; i < 5000; i++) {
        buf_puts(&body, i % 2 == 0 ? "1\n" : "1,2\n");
    }
    struct table_copy t = table_read_options(&skip, buf_cstr(&body));
    assert_true(t.well);
    assert_int_equal(t.sum.n_rows, 2501);
    check_text(t.notes, "\"skipped\":{\"rows\":2500,");
    size_t listed = 0;
    for (const char *p = t.notes; (p = strstr(p, "\"line\":")) != NULL; p++) {
        listed++;
    }
    assert_int_equal(listed, TABLE_FAULTS_LISTED);
    table_done(&t);
    for (int i = 0; i < 2; i++) { /* without the faulty rows it is the same table */
        buf_clear(&body);
        buf_puts(&body, "a,b\n1,2\n1,2\n");
        buf_puts(&body, i == 0 ? "3\n4,5\n" : "4,5\n");
        struct table_copy other = table_read_options(&skip, buf_cstr(&body));
        assert_true(other.well);
        if (i == 0) {
            t = other;
        } else {
            assert_string_equal(t.sum.content, other.sum.content);
            table_done(&other);
        }
    }
    table_done(&t);
    buf_done(&body);
}

/* ---- comments ---- */
static void test_lines_that_begin_with_a_sharp(void **state) {
    (void)state;
    const struct table_options plain = {0};
    check(&plain, "# by hand\n# in spring\na,b\n1,x\n# a remark, with, commas\n2,y\n#\n",
          "a,b\n1,x\n2,y\n", "\"header\":true,\"comments\":4");
    check(&plain, "#,Name,Type 1\n1,Bulbasaur,Grass\n2,Ivysaur,Grass\n",
          "#,Name,Type 1\n1,Bulbasaur,Grass\n2,Ivysaur,Grass\n", "\"comments\":0");
    check(&plain, "# read me\n#,Name,Type\n1,Bulbasaur,Grass\n", "#,Name,Type\n1,Bulbasaur,Grass\n",
          "\"comments\":1");
    check(&plain, "tag,n\n#one,1\n#two,2\n# three\n", "tag,n\n#one,1\n#two,2\n", "\"comments\":1");
    check(&plain, "a,b\n1,x\n# say \"a\", \"b\"c, \"d\"\n2,y\n", "a,b\n1,x\n2,y\n",
          "1 line begins with # and does not have 2 cells: read as comments (the first is line 3)");
    check(&plain, "a,b\n1,x\n\"# quoted\",y\n", "a,b\n1,x\n# quoted,y\n", "\"comments\":0");
    check(&plain, "# only\n# these\n", "\"# only\"\n# these\n", "\"comments\":0");
    check(&plain, " # first\na,b\n1,x\n\t # indented\n", "a,b\n1,x\n", "\"comments\":2");
    check_refused(&plain, "# a\n# b; c; d\n# e\na;b\n", "there is only a header");
}

static void test_comment_character(void **state) {
    (void)state;
    const struct table_options percent = {.comment = '%'}, semicolon = {.comment = ';'},
                               sharp = {.comment = '#'};
    check(&percent, "% \"made by\na,b\n1,x\n%2,y\n3,z\n", "a,b\n1,x\n3,z\n", "\"comments\":2");
    check_refused(&percent, "a,b\n1,x\n# no comment here\n", "row has 1 cell, expected 2");
    check(&semicolon, "; a,b,c\nx,y\n1,2\n;\n3,4\n", "x,y\n1,2\n3,4\n", "\"delimiter\":\",\"");
    check(&sharp, "#,Name\n1,x\n2,y\n", "c1,c2\n1,x\n2,y\n", "\"comments\":1");
    check(&(struct table_options){.comment = '#', .on_error = TABLE_SKIP},
          "a\tb\n#\n1\tx\n2\n#3\ty\n", "a,b\n1,x\n", "\"comments\":2");
}

/* ---- hints ---- */
static void test_reasons_and_hints(void **state) {
    (void)state;
    static const struct {
        const char *body, *columns, *notes;
    } cases[] = {
        {"d,n\n1/31/24,1\n2/1/24,2\n",
         "\"type_reason\":{\"row\":1,\"line\":2,\"cell\":\"1/31/24\",\"detail\":\"the first "
         "cell that is not missing is not a number: "
         "it looks like a date",
         "column \\\"d\\\": categorical because of line 2 (\\\"1/31/24\\\"): it looks like a date"},
        {"x,n\n1,1\n,2\n0x1F,2\n",
         "\"type_reason\":{\"row\":3,\"line\":4,\"cell\":\"0x1F\",\"detail\":\"the cells before it "
         "are numbers: hexadecimal",
         "(\\\"0x1F\\\"): hexadecimal"},
        {"x,n\n\"1,5\",1\n\"2,5\",2\n", "\"cell\":\"1,5\"", "write decimal fractions with a point"},
        {"x,n\n1,1\n1e400,2\n", "\"cell\":\"1e400\"", "beyond the largest number"},
        {"x,n\ntrue,1\nmaybe,2\n", "\"detail\":\"the cells before it are booleans\"",
         "because of line 3 (\\\"maybe\\\")"},
        {"x,n\n1,1\nn/a,2\n", "\"cell\":\"n/a\"", "name it in missing="},
        {"x,n\ntrue,1\nfalse,2\n", "\"type_reason\":{\"row\":1,\"line\":2,\"cell\":\"true\"", ""},
        {"{\"x\":\"red\",\"n\":1}\n{\"x\":\"blue\",\"n\":2}\n",
         "\"type_reason\":{\"row\":1,\"line\":1,\"cell\":\"red\"", ""},
        {"x,n\n9007199254740992,1\n9007199254740993,2\n", "\"name\":\"x\",\"type\":\"numeric\"",
         "column \\\"x\\\": a double does not hold \\\"9007199254740993\\\" in line 3 exactly"},
        {"[{\"x\":1},\n{\"x\":9007199254740993}]", "\"name\":\"x\",\"type\":\"numeric\"",
         "a double does not hold \\\"9007199254740993\\\" in line 2 exactly"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct table_copy t = cells_read(cases[i].body);
        if (!t.well) {
            fail_msg("%s: %s", cases[i].body, buf_cstr(&t.problem_text));
        }
        check_text(t.columns, cases[i].columns);
        check_text(t.notes, cases[i].notes);
        table_done(&t);
    }
    struct table_copy t =
        cells_read("x,n\n9007199254740992,-0\n9007199254740994,0\n1152921504606846976,1\n");
    assert_null(strstr(t.notes, "exactly")); /* doubles represent all of them exactly */
    assert_null(strstr(t.columns, "type_reason"));
    table_done(&t);
    t = table_read_options(&(struct table_options){.types = "x:categorical"},
                           "x,n\n9007199254740993,1\n1,2\n");
    assert_null(strstr(t.notes, "exactly"));
    check_text(t.columns, "\"type_reason\":{\"detail\":\"the type was given\",\"code\":\"given\"}");
    table_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_skip_invalid_utf8),
                                       cmocka_unit_test(test_skip_long_cells),
                                       cmocka_unit_test(test_a_long_row_has_one_verdict),
                                       cmocka_unit_test(test_skip_ragged_and_stray),
                                       cmocka_unit_test(test_skip_cells_of_given_types),
                                       cmocka_unit_test(test_skip_json_rows),
                                       cmocka_unit_test(test_skip_cannot_help),
                                       cmocka_unit_test(test_skip_samples_twenty),
                                       cmocka_unit_test(test_lines_that_begin_with_a_sharp),
                                       cmocka_unit_test(test_comment_character),
                                       cmocka_unit_test(test_reasons_and_hints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
