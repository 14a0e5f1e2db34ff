/* Tests of NDJSON tables: each line is a row, as an object or an array; lines that are not JSON;
 * keys that occur late. */
#include "table_helper.h"

#include <inttypes.h>
#include <malloc.h>

static const struct table_options lines = {.format = &format_ndjson};

static void check_rows(const struct table_options *options, const char *body,
                       const char *expected) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(options, body, strlen(body), &cut, 1);
        struct buf rows = {0};
        if (!t.well) {
            fail_msg("%s", buf_cstr(&t.problem_text));
        }
        table_rows(&t, &format_csv, false, &rows);
        assert_string_equal(buf_cstr(&rows), expected);
        buf_done(&rows);
        table_done(&t);
    }
}

static void check_text(const char *text, const char *wanted) {
    if (strstr(text, wanted) == NULL) {
        fail_msg("%s\nis not in %s", wanted, text);
    }
}

static void check_refused(const struct table_options *options, const char *body,
                          enum problem_type type, const char *text) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(options, body, strlen(body), &cut, 1);
        assert_false(t.well);
        assert_int_equal(t.problem.type, type);
        check_text(buf_cstr(&t.problem_text), text);
        table_done(&t);
    }
}

static void test_objects(void **state) {
    (void)state;
    static const char expected[] = "a,b,c\n1,x,\n2,,true\n,y,false\n";
    check_rows(&lines, "{\"a\":1,\"b\":\"x\"}\n{\"c\":true,\"a\":2}\n{\"b\":\"y\",\"c\":false}\n",
               expected);
    check_rows(&lines,
               "\n \t\n{\"a\":1,\"b\":\"x\"}\r\n\r\n  {\"c\":true , \"a\":2}  "
               "\n\n{\"b\":\"y\",\"c\":false}",
               expected);
    check_rows(&(struct table_options){0},
               "\xEF\xBB\xBF{\"a\":1,\"b\":\"x\"}\n{\"c\":true,\"a\":2}\n{\"b\":\"y\",\"c\":false}",
               expected);
    check_rows(&lines, "{\"a\":1}", "a\n1\n");
    check_rows(&(struct table_options){.format = &format_ndjson, .types = "a:categorical"},
               "{\"a\":1.50}\n{}\n", "a\n1.50\n\"\"\n");
}

static void test_arrays(void **state) {
    (void)state;
    check_rows(&lines, "[1,\"x\",null]\n[2,\"y\",true]\n", "c1,c2,c3\n1,x,\n2,y,true\n");
    check_rows(&(struct table_options){0}, "[1,2]\n[3,4]\n", "c1,c2\n1,2\n3,4\n");
    check_rows(&(struct table_options){.format = &format_ndjson,
                                       .label = "y",
                                       .types = "y:boolean"},
               "[1,0]\n[2,1]\n", "c1,y\n1,false\n2,true\n");
}

/* CSV, JSON and NDJSON give the same table. */
static void test_content(void **state) {
    (void)state;
    struct table_copy a = cells_read("x,y\n1,a\n,b\n2.5,\n"),
                      b = cells_read(
                          "[{\"x\":1,\"y\":\"a\"},{\"y\":\"b\"},{\"x\":2.5,\"y\":null}]"),
                      c = cells_read(
                          "{\"x\":1,\"y\":\"a\"}\n{\"y\":\"b\"}\n{\"x\":2.5,\"y\":null}\n");
    assert_true(a.well && b.well && c.well);
    assert_string_equal(a.sum.content, c.sum.content);
    assert_string_equal(b.sum.content, c.sum.content);
    check_text(c.notes, "\"format\":\"ndjson\"");
    check_text(b.notes, "\"format\":\"json\"");
    table_done(&a);
    table_done(&b);
    table_done(&c);
}

/* A body that begins like JSON is one document unless its second line begins a row, too. */
static void test_sniffing(void **state) {
    static const struct {
        const char *body, *format;
    } cases[] = {
        {"{\"a\":1}\n{\"a\":2}\n", "ndjson"},
        {"{\"a\":1}\n\n  {\"a\":2}", "ndjson"},
        {"[1]\n[2]\n", "ndjson"},
        {"[{\"a\":1},\n{\"a\":2}]", "json"},
        {"{\"columns\":[\"a\"],\n\"rows\":[[1]]}", "json"},
        {"{\"columns\":[\"a\"],\"rows\":[[1]]}\n", "json"},
        {"{\"columns\":1,\"rows\":2}\n{\"columns\":3,\"rows\":4}\n", "ndjson"},
        {"[\n{\"a\":1}\n]\n", "json"},
        {"{\"a\":1,\"b\":\"x\"}", "ndjson"}, /* a table of one row */
        {"{\"a\":1,\"columns\":2}\n", "ndjson"},
        {"{\"items\":1}\n", "ndjson"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct table_copy t = cells_read(cases[i].body);
        char wanted[64];
        if (!t.well) {
            fail_msg("%s: %s", cases[i].body, buf_cstr(&t.problem_text));
        }
        snprintf(wanted, sizeof wanted, "\"format\":\"%s\"", cases[i].format);
        check_text(t.notes, wanted);
        table_done(&t);
    }
    static const struct {
        const char *body, *text;
    } faults[] = {
        {"{\"a\":\"caf\xE9\"}\n{\"a\":2}\n",
         "{\"line\":1,\"column\":10,\"detail\":\"row 1 is not "
         "JSON: invalid UTF-8: if the body is Windows-1252 or Latin-1"},
        {"{\"a\":caf}", "{\"line\":1,\"column\":6,\"detail\":\"row 1 is not JSON"},
        {"{\"a\":1\n{\"a\":2}\n", "{\"line\":1,\"column\":7,\"detail\":\"row 1 is not JSON: the "
                                  "line ends within an array or object\"}"},
        {"{\"a\":1}\nx\n", "{\"line\":2,\"column\":1,\"detail\":\"row 2 is not JSON"},
        {"{\"a\":[1]}\n", "a cell must be a number, a string, a boolean or null, not an array"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct table_copy t = cells_read(faults[i].body);
        assert_false(t.well);
        check_text(buf_cstr(&t.problem_text), faults[i].text);
        table_done(&t);
    }
    /* a first line that is longer than the part that sniffing reads first */
    struct buf body = {0};
    for (int row = 0; row < 2; row++) {
        for (int i = 0; i < 10000; i++) {
            buf_printf(&body, "%s\"name%d\":%d", i > 0 ? "," : "{", i, row);
        }
        buf_puts(&body, "}\n");
    }
    struct table_copy t = cells_read(buf_cstr(&body));
    assert_true(t.well);
    assert_int_equal(t.sum.n_rows, 2);
    assert_int_equal(t.sum.n_columns, 10000);
    table_done(&t);
    buf_done(&body);
}

static void test_faults(void **state) {
    (void)state;
    check_refused(&lines, "{\"a\":1}\n{\"a\":x}\n{\"a\":2}\n{\"a\":[3]}\n", PROBLEM_INVALID_DATASET,
                  "{\"line\":2,\"column\":6,\"detail\":\"row 2 is not JSON: unknown word where a "
                  "value is expected\"},"
                  "{\"line\":4,\"column\":6,\"detail\":\"row 4, column \\\"a\\\": a cell must be a "
                  "number, a string, a boolean or null, "
                  "not an array\"}");
    check_refused(
        &lines, "{\"a\":1}\n{\"a\":2\n{\"a\":3}\n5\n", PROBLEM_INVALID_DATASET,
        "{\"line\":2,\"column\":7,\"detail\":\"row 2 is not JSON: the line ends within an array or "
        "object\"},"
        "{\"line\":4,\"column\":1,\"detail\":\"row 4 must be an object, as the first one\"}");
    check_refused(
        &lines, "{\"a\":1} {\"a\":2}\n{\"a\":3}\n", PROBLEM_INVALID_DATASET,
        "{\"line\":1,\"column\":9,\"detail\":\"row 1 is not JSON: nothing may follow the value\"}");
    check_refused(
        &lines, "{\"a\":\"x\ny\"}\n{\"a\":1}\n", PROBLEM_INVALID_DATASET,
        "{\"line\":1,\"column\":8,\"detail\":\"row 1 is not JSON: control character in a string");
    check_refused(
        &lines, "[1,2]\n[3]\n{\"a\":1}\n[4,5,6]\n", PROBLEM_INVALID_DATASET,
        "{\"line\":2,\"column\":1,\"detail\":\"row 2 has 1 cell, expected 2\"},"
        "{\"line\":3,\"column\":1,\"detail\":\"row 3 must be an array, as the first one\"},"
        "{\"line\":4,\"column\":1,\"detail\":\"row 4 has 3 cells, expected 2\"}");
    check_refused(&lines, "7\n", PROBLEM_INVALID_DATASET, "row 1 must be an object or an array");
    check_refused(&lines, "{\"a\":1,\"a\":2}\n", PROBLEM_INVALID_DATASET,
                  "{\"line\":1,\"column\":8,\"detail\":\"row 1: key \\\"a\\\" comes twice\"}");
    check_refused(&lines, "{\"a\":1}\n{\"b\":1,\"b\":2}\n", PROBLEM_INVALID_DATASET,
                  "row 2: key \\\"b\\\" comes twice");
    check_refused(&lines, "", PROBLEM_INVALID_DATASET, "the table has no rows: the body is empty");
    check_refused(&lines, "\n\n", PROBLEM_INVALID_DATASET, "the table has no rows");
    check_refused(&(struct table_options){.format = &format_ndjson, .types = "a:numeric"},
                  "{\"a\":1}\n{\"a\":\"1,5\"}\n", PROBLEM_INVALID_DATASET,
                  "{\"line\":2,\"column\":6,\"detail\":\"row 2, column \\\"a\\\": a cell must be a "
                  "number (got \\\"1,5\\\"): write decimal fractions with a point\"}");
    check_refused(&lines, "PAR1\xFF\xFF\xFF\xFF", PROBLEM_INVALID_DATASET, "Parquet");
    check_refused(&lines, "\x1F\x8B\x08\x01", PROBLEM_INVALID_DATASET, "Content-Encoding: gzip");
}

/* A truncated body: nothing of it is stored, whatever on_error is. */
static void test_truncated(void **state) {
    (void)state;
    for (enum table_on_error on_error = TABLE_REJECT; on_error <= TABLE_SKIP; on_error++) {
        const struct table_options options = {.format = &format_ndjson, .on_error = on_error};
        check_refused(&options, "{\"a\":1}\n{\"a\":2}\n{\"a\"", PROBLEM_BAD_JSON, "\"line\":3");
        check_refused(&options, "{\"a\":1}\n{\"a\":\"x", PROBLEM_BAD_JSON,
                      "the body ends within a string");
    }
}

static void test_skip(void **state) {
    (void)state;
    const struct table_options options = {.format = &format_ndjson,
                                          .types = "a:numeric",
                                          .on_error = TABLE_SKIP};
    static const char body[] = "{\"a\":1,\"b\":\"x\"}\n"
                               "{\"a\":2,\"late\":[1]}\n" /* the row is skipped, so its new key does
                                                           * not make a column */
                               "{\"a\":\"two\",\"b\":\"y\"}\n"
                               "no json\n"
                               "{\"a\":3,\"b\":\"z\",\"a\":4}\n"
                               "[5]\n"
                               "{\"a\":6} trailing\n"
                               "{\"a\":7,\"b\":null}\n";
    check_rows(&options, body, "a,b\n1,x\n7,\n");
    struct table_copy t = table_read_options(&options, body);
    check_text(
        t.notes,
        "\"skipped\":{\"rows\":6,\"first\":[{\"line\":2,\"column\":15,\"detail\":\"row 2, "
        "column \\\"late\\\": a cell must "
        "be a number, a string, a "
        "boolean or null, not an array\"},"
        "{\"line\":3,\"column\":6,\"detail\":\"row 3, column \\\"a\\\": a cell must be a "
        "number (got \\\"two\\\")\"},"
        "{\"line\":4,\"column\":1,\"detail\":\"row 4 is not JSON: unknown word where a value "
        "is expected\"},"
        "{\"line\":5,\"column\":16,\"detail\":\"row 5: key \\\"a\\\" comes twice\"},"
        "{\"line\":6,\"column\":1,\"detail\":\"row 6 must be an object, as the first one\"},"
        "{\"line\":7,\"column\":9,\"detail\":\"row 7 is not JSON: nothing may follow the "
        "value\"}]}");
    check_text(t.notes,
               "6 rows were left out because of faults, the first at line 2: row 2, column");
    table_done(&t);
    check_refused(&options, "{\"a\":\"x\"}\n{\"a\":\"y\"}\n", PROBLEM_INVALID_DATASET,
                  "every row has a fault and was left out (2 rows)");
    check_rows(&(struct table_options){.format = &format_ndjson, .on_error = TABLE_SKIP},
               "[1,2]\n[3]\n[4,[5]]\n[6,7]\n", "c1,c2\n1,2\n6,7\n");
}

/* ---- a key at row 1,000,000 ---- */
static bool cannot_reread(void *arg, int64_t chunk, size_t column, struct buf *out,
                          struct problem *problem) {
    (void)arg;
    (void)chunk;
    (void)column;
    (void)out;
    return problem_set(problem, PROBLEM_INTERNAL, "nothing is kept here");
}

/* Reads 999,999 rows {"a":i,"b":"x"}, then `last`. The memory in use must not grow with the
 * rows. */
static bool read_a_million(const struct table_options *options, const char *last,
                           struct table_summary *sum, struct problem *problem, char **notes) {
    struct table *t =
        table_new(options, &(struct table_sink){table_sink_forget, cannot_reread, NULL});
    struct buf piece = {0};
    const size_t before = mallinfo2().uordblks;
    bool well = t != NULL;
    for (int i = 1; i <= 999999 && well; i++) {
        buf_printf(&piece, "{\"a\":%d,\"b\":\"x\"}\n", i);
        if (piece.size > 60000 || i == 999999) {
            well = table_feed(t, piece.data, piece.size, problem);
            buf_clear(&piece);
        }
    }
    assert_true(mallinfo2().uordblks < before + ((size_t)32 << 20));
    well = well && table_feed(t, last, strlen(last), problem);
    problem_done(problem);
    well = well && table_end(t, sum, problem);
    if (!well && problem->type == PROBLEM_NONE) {
        table_end(t, sum, problem);
    }
    *notes = well ? strdup(sum->columns) : NULL;
    buf_done(&piece);
    table_free(t);
    return well;
}

static void test_a_key_at_row_a_million(void **state) {
    (void)state;
    static const char last[] = "{\"a\":1,\"late\":2}\n{\"a\":2}\n";
    struct table_summary sum;
    struct problem problem = {0};
    char *columns = NULL;
    assert_false(read_a_million(&lines, last, &sum, &problem, &columns));
    assert_int_equal(problem.type, PROBLEM_INVALID_DATASET);
    assert_int_equal(problem.n_errors, 1);
    assert_int_equal(problem.errors[0].line, 1000000);
    assert_int_equal(problem.errors[0].column, 8);
    check_text(
        problem.errors[0].detail,
        "row 1000000: key \"late\" occurs first here, when no column can be added any more: give "
        "the first row every key (null for "
        "missing), or name this one in the option \"types\"");
    problem_done(&problem);
    /* the two remedies that the message names */
    const struct table_options declared = {.format = &format_ndjson, .types = "late:numeric"};
    assert_true(read_a_million(&declared, last, &sum, &problem, &columns));
    assert_int_equal(sum.n_rows, 1000001);
    check_text(columns,
               "{\"name\":\"late\",\"type\":\"numeric\",\"missing\":1000000,\"min\":2,\"max\":2");
    free(columns);
    const struct table_options skip = {.format = &format_ndjson, .on_error = TABLE_SKIP};
    assert_true(read_a_million(&skip, last, &sum, &problem, &columns));
    assert_int_equal(sum.n_rows, 1000000);
    free(columns);
    /* a name in `types` that no row has is a fault */
    assert_false(read_a_million(&declared, "{\"a\":1}\n", &sum, &problem, &columns));
    check_text(problem.errors[0].detail,
               "option \"types\" names \"late\", which is not a column of the table");
    problem_done(&problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects), cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_content), cmocka_unit_test(test_sniffing),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_skip),    cmocka_unit_test(test_a_key_at_row_a_million)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
