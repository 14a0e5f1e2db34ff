/* Tests of tables of which only the beginning is read: the rows must be complete. */
#include "table_helper.h"

static const char *const bodies[] = {
    "a,b\n1,x\n2,y\n# c\n3,z\n\n",
    "a;b\r\n1;x\r\n2;\"y\ny\"\r\n3;z",
    "[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"c\":true},{\"b\":\"z\"}]",
    "{\"columns\":[\"a\",\"b\"],\"rows\":[[1,\"x\"],[2,null],[3,\"z\"]]}",
    "{\"a\":1}\n{\"a\":\"y\"}\n[\n{\"a\":3}",
    "1 1:2 3:4\n# none\n0 2:1\n1 9:1\n# none\n"};

struct part {
    bool well;
    int64_t n_rows;
    struct buf columns; /* the summary or the problem document */
};

/* Reads the first `size` bytes of a longer body in two pieces. */
static struct part read_part(const char *body, size_t size, size_t piece) {
    struct table_copy sink = {0};
    struct part part = {0};
    struct problem problem = {0};
    struct table_summary sum;
    const struct table_options options = {.on_error = TABLE_SKIP};
    struct table *t =
        table_new(&options, &(struct table_sink){table_sink_chunk, table_sink_reread, &sink});
    assert_non_null(t);
    bool go_on =
        table_feed(t, body, piece, &problem) && table_feed(t, body + piece, size - piece, &problem);
    table_cut(t);
    problem_done(&problem);
    part.well = table_end(t, &sum, &problem);
    assert_true(go_on || !part.well);
    if (part.well) {
        part.n_rows = sum.n_rows;
        buf_puts(&part.columns, sum.columns);
        buf_puts(&part.columns, sum.notes);
    } else {
        problem_write(&problem, "", NULL, &part.columns);
    }
    problem_done(&problem);
    table_free(t);
    table_done(&sink);
    return part;
}

/* Bodies truncated at each offset: all rows that are certainly complete are read, and the only
 * possible fault is that no row is complete. */
static void test_cuts(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
        const size_t size = strlen(bodies[k]);
        /* the first line must be complete, so that the format can be determined */
        const char *line = strchr(bodies[k], '\n');
        int64_t before = 0;
        for (size_t upto = line != NULL ? (size_t)(line - bodies[k]) + 2 : 1; upto <= size;
             upto++) {
            struct part part = read_part(bodies[k], upto, upto / 2);
            if (!part.well) {
                assert_int_equal(before, 0);
                assert_non_null(strstr(buf_cstr(&part.columns),
                                       "no row is complete in the part of the body that was read"));
            } else {
                assert_true(part.n_rows == before || part.n_rows == before + 1);
                before = part.n_rows;
            }
            buf_done(&part.columns);
        }
        /* a last line without a line end may be incomplete */
        assert_true(before == 3 || (before == 2 && bodies[k][size - 1] != '\n'));
    }
}

static void test_the_option(void **state) {
    (void)state;
    static const char *const bad[] = {"",     "0",  "1001",
                                      "-1",   "+5", "1.0",
                                      "0x10", " 7", "99999999999999999999"};
    struct table_options options = {0};
    struct problem problem = {0};
    assert_true(table_option_parse(&options, "rows", "1000", &problem));
    assert_int_equal(options.rows, 1000);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(table_option_parse(&options, "rows", bad[i], &problem));
        assert_int_equal(problem.type, PROBLEM_BAD_REQUEST);
        problem_done(&problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts),
                                       cmocka_unit_test(test_the_option)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
