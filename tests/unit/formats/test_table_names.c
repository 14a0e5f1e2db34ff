/* Tests of the names of columns, of lines before the table and of runs of blanks in tables: the
 * result must not depend on where the body is cut, and every allocation may fail. */
#include "table_helper.h"
#include "unit/base/alloc_fail.h"

/* Checks the rows of the body, cut at each offset and read in pieces of one byte. */
static void check(const struct table_options *options, const char *body, const char *expected) {
    const size_t size = strlen(body);
    size_t every[512];
    assert_true(size < 512);
    for (size_t i = 0; i < size; i++) {
        every[i] = i;
    }
    for (size_t cut = 0; cut <= size + 1; cut++) {
        struct table_copy t = cut <= size ? table_read_cut(options, body, size, &cut, 1)
                                          : table_read_cut(options, body, size, every, size);
        struct buf rows = {0};
        if (!t.well) {
            fail_msg("%s: %s", body, buf_cstr(&t.problem_text));
        }
        table_rows(&t, &format_csv, false, &rows);
        assert_string_equal(buf_cstr(&rows), expected);
        buf_done(&rows);
        table_done(&t);
    }
}

static void check_refused(const struct table_options *options, const char *body, const char *text) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(options, body, strlen(body), &cut, 1);
        assert_false(t.well);
        if (strstr(buf_cstr(&t.problem_text), text) == NULL) {
            fail_msg("%s\nis not in %s", text, buf_cstr(&t.problem_text));
        }
        table_done(&t);
    }
}

static const struct table_options two_lines = {.header = TABLE_HEADER_YES, .header_lines = 2};
static const struct table_options plain;

static void test_header_lines(void **state) {
    (void)state;
    check(&two_lines, "Sepal,Sepal,,Kind\r\nlength,\"wi\"\"de\",id,\r\n1,2,3,a\r\n",
          "Sepal length,\"Sepal wi\"\"de\",id,Kind\n1,2,3,a\n");
    check(&two_lines, "a\n\nb,c\n1,2\n", "a b,c\n1,2\n");
    check_refused(&two_lines, "a,b,c\nd,e\n1,2\n",
                  "the last header line has 2 cells, and one above it has 3");
    check_refused(&two_lines, "a,\"b\"c\nd,e\n1,2\n", "text after a closing quote");
    check_refused(&two_lines, "a,b\n", "the table has no rows");
}

static void test_names(void **state) {
    (void)state;
    check(&(struct table_options){.names = "x,\"a, \"\"b\"", .label_at = 1}, "1,2\n3,4\n",
          "x,\"a, \"\"b\"\n1,2\n3,4\n");
    check(&(struct table_options){.names = "x,y", .header = TABLE_HEADER_YES}, "a,b\n3,4\n",
          "x,y\n3,4\n");
    check(&(struct table_options){.label_at = 1}, "1 2\n3 4\n", "label,c2\n1,2\n3,4\n");
    check(&(struct table_options){.rename = true}, "a,a,a_2,a\n1,2,3,4\n",
          "a,a_3,a_2,a_4\n1,2,3,4\n");
    check_refused(&(struct table_options){.names = "x,y"}, "a,b\n1,2\n",
                  "the first row looks like a header");
    check_refused(&(struct table_options){.names = "x,y,z"}, "1,2\n",
                  "has 3 names, and the rows have 2 cells");
    check_refused(&(struct table_options){.label_at = 3}, "1,2\n", "the table has 2 columns");
}

static void test_forms(void **state) {
    (void)state;
    check(&plain, " a   b \n  1\t2\n\n3 4 \t\n", "a,b\n1,2\n3,4\n");
    check(&plain, "\xEF\xBB\xBFsep=;\r\na;b\r\n1,5;2\r\n", "a,b\n1.5,2\n");
    check(&(struct table_options){.skip_rows = 2}, "A \"title\r\n\r\na,b\r\n1,2\r\n", "a,b\n1,2\n");
    check_refused(&plain, "Title\na,b\n1,2\n3,4\n", "skip_rows=1 leaves it out");
    check_refused(&(struct table_options){.on_error = TABLE_SKIP}, "Title\na,b\n1,2\n3,4\n",
                  "skip_rows=1 leaves it out");
    check_refused(&plain, "a b\n1 2\n3 \"4\n", "the quote is not closed");
}

static bool read_table(const struct table_options *options, const char *body) {
    struct problem problem = {0};
    struct table_summary sum;
    struct table *t = table_new(options, &(struct table_sink){table_sink_forget, NULL, NULL});
    if (t == NULL) {
        return false;
    }
    bool well = table_feed(t, body, strlen(body), &problem);
    problem_done(&problem);
    well = table_end(t, &sum, &problem) && well;
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    problem_done(&problem);
    table_free(t);
    return well;
}

static void test_allocations(void **state) {
    (void)state;
    bool well = false;
    ALLOC_FAIL_EACH(well = read_table(&two_lines, "Sepal,Sepal\nlength,width\n1,2\n"));
    assert_true(well);
    ALLOC_FAIL_EACH(
        well = read_table(&(struct table_options){.names = "x,x", .rename = true}, "1 2\n3 4\n"));
    assert_true(well);
    ALLOC_FAIL_EACH(well = read_table(&plain, "sep=;\na\n1\n2\n"));
    assert_true(well);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_header_lines),
                                       cmocka_unit_test(test_names), cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
