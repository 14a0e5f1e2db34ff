/* Tests of svmlight tables: rows, names, summaries, faults with their places, skipped rows; the
 * result must not depend on where the body is cut; and the rows as svmlight again. */
#include "table_helper.h"

#include "base/json/json_write.h"
#include "formats/svmlight/svmlight.h"
#include "unit/base/alloc_fail.h"
#include <jansson.h>
#include <math.h>

static const struct table_options plain = {.format = &format_svmlight};

static struct table_copy read_with(const struct table_options *options, const char *body) {
    return table_read_cut(options, body, strlen(body), NULL, 0);
}

/* Appends the rows as svmlight, with the schema that the reader inferred. */
static void lines_of(const struct table_copy *t, struct buf *out) {
    struct schema schema = {0};
    struct problem problem = {0};
    dn_column_chunk *chunk[2] = {NULL, NULL};
    dn_column_view view[2];
    assert_true(schema_parse(t->columns, &schema, &problem));
    assert_int_equal(schema.n, 2);
    assert_int_equal(schema.columns[1].type, DN_SPARSE);
    assert_int_equal(schema.columns[1].missing, 0);
    for (size_t c = 0; c < t->n_chunks; c++) {
        for (size_t j = 0; j < 2; j++) {
            const struct table_blob *blob = &t->blobs[2 * c + j];
            assert_true(chunk[j] != NULL || dn_column_chunk_new(&chunk[j], NULL) == DN_OK);
            assert_int_equal(dn_column_chunk_decode(chunk[j], blob->bytes, blob->size,
                                                    schema.columns[j].type, &view[j], NULL),
                             DN_OK);
            assert_int_equal(view[j].n_rows, t->rows[c]);
        }
        const struct svmlight_rows lines = {.label = &view[0],
                                            .entries = &view[1],
                                            .first_index = schema.columns[1].first_index};
        svmlight_rows_write(&lines, 0, view[0].n_rows, out);
        for (size_t k = 0; k < view[1].row_start[view[1].n_rows]; k++) {
            assert_true(view[1].index[k] < schema.columns[1].width);
        }
    }
    dn_column_chunk_free(chunk[0]);
    dn_column_chunk_free(chunk[1]);
    schema_done(&schema);
}

static void check_lines(const struct table_copy *t, const char *expected) {
    struct buf text = {0};
    if (!t->well) {
        fail_msg("refused: %s", buf_cstr((struct buf *)(uintptr_t)&t->problem_text));
    }
    lines_of(t, &text);
    assert_string_equal(buf_cstr(&text), expected);
    buf_done(&text);
}

static void check_body(const struct table_options *options, const char *body,
                       const char *expected) {
    struct table_copy t = read_with(options, body);
    check_lines(&t, expected);
    table_done(&t);
}

static void check_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) {
        fail_msg("%s is not in %s", part, text);
    }
}

static void test_rows(void **state) {
    (void)state;
    check_body(&plain, "1 1:2 3:0.5\n-1 2:1\n", "1 1:2 3:0.5\n-1 2:1\n");
    check_body(&plain, "1 1:2", "1 1:2\n");
    check_body(&plain, "1\n2\n", "1\n2\n"); /* rows without entries */
    check_body(&plain,
               "\xEF\xBB\xBF# who made it\n\n  \t\r\n1 1:2\t\t3:4  # a comment 5:6\r\n#\n-1 "
               "4:1#another\r2 1:1\n",
               "1 1:2 3:4\n-1 4:1\n2 1:1\n");
    check_body(&plain, "  1   7:1   \n", "1 7:1\n");
    check_body(&plain, "+1 1:+1.50 2:1e-3 3:.5 4:5. 5:-0 6:-7 7:1E+2 8:0001 2147483646:1\n",
               "1 1:1.5 2:0.001 3:0.5 4:5 5:-0 6:-7 7:100 8:1 2147483646:1\n");
    check_body(&plain, "spam 1:1\nham 2:2\n? 3:3\n", "spam 1:1\nham 2:2\n? 3:3\n");
    check_body(&plain, "1 1:0 2:0.0 3:0e7 4:1\n", "1 4:1\n"); /* entries of value 0 are omitted */
    check_body(&plain, "1 1:0.1234567890123456789 2:123456789012345678901234567890 3:4.9e-324\n",
               "1 1:0.12345678901234568 2:1.2345678901234568e29 3:5e-324\n");
    const struct table_options zero = {.format = &format_svmlight, .zero_based = true};
    check_body(&zero, "1 0:3 2147483646:1\n", "1 0:3 2147483646:1\n");
    const struct table_options comment = {.format = &format_svmlight, .comment = '%'};
    check_body(&comment, "% 1 1:1\n1 2:1\n", "1 2:1\n");
}

static void test_names_and_summary(void **state) {
    (void)state;
    struct table_copy t = read_with(&plain, "1 1:2 3:0.5\n-1 3:1.5\n1\n1 1:-4 5:0\n");
    check_has(t.columns, "[{\"name\":\"label\",\"type\":\"numeric\",\"missing\":0,");
    check_has(t.columns, ",{\"name\":\"f\",\"type\":\"sparse\",\"missing\":0,\"first\":1,\"width\":"
                         "5,\"entries\":4,\"features\":{"
                         "\"nonzero\":[2,0,2,0,0],\"min\":[-4,0,0,0,0],\"max\":[2,0,1.5,0,0],"
                         "\"mean\":[-0.5,0,0.5,0,0],"
                         "\"std\":[2.179449471770337,0,0.6123724356957945,0,0]}}]");
    check_has(t.notes, "{\"format\":\"svmlight\",\"zero_based\":false,\"comments\":0,");
    assert_int_equal(t.sum.n_columns, 2);
    assert_int_equal(t.sum.n_rows, 4);
    table_done(&t);
    const struct table_options named = {.format = &format_svmlight,
                                        .zero_based = true,
                                        .label = "class",
                                        .types = "class:categorical"};
    t = read_with(&named, "1 0:2 #\n#\n-1 3:1\n");
    check_has(t.columns, "{\"name\":\"class\",\"type\":\"categorical\"");
    check_has(t.columns, "\"first\":0,\"width\":4,\"entries\":2,");
    check_has(t.notes, "\"zero_based\":true,\"comments\":1,");
    table_done(&t);
    t = read_with(&plain, "1\n2\n"); /* no features */
    check_has(t.columns, "\"first\":1,\"width\":0,\"entries\":0,\"features\":{\"nonzero\":[],");
    table_done(&t);
}

/* The moments over all rows are compared with simple sums, for several chunks and values far from
 * 0. */
static void test_moments(void **state) {
    (void)state;
    enum { ROWS = 70000, WIDTH = 40 };
    double *dense = calloc((size_t)ROWS * WIDTH, sizeof *dense);
    struct buf body = {0};
    uint64_t seed = 5;
    assert_non_null(dense);
    for (size_t i = 0; i < ROWS; i++) {
        buf_printf(&body, "%zu", i % 3);
        for (size_t j = 0; j < WIDTH; j++) {
            const uint32_t r = cells_random(&seed);
            if (r % 4 == 0 || j == 7) {
                dense[i * WIDTH + j] = j == 5   ? 1
                                       : j == 6 ? 1e9 + r % 1000
                                                : (double)(r % 20000) / 100 - 50;
                buf_printf(&body, " %zu:%.17g", j + 1, dense[i * WIDTH + j]);
            }
        }
        buf_putc(&body, '\n');
    }
    struct table_copy t = read_with(&plain, buf_cstr(&body));
    assert_true(t.well);
    assert_true(t.n_chunks > 1);
    json_t *columns = json_loads(t.columns, 0, NULL);
    const json_t *features = json_object_get(json_array_get(columns, 1), "features");
    for (size_t j = 0; j < WIDTH; j++) {
        double least = (double)INFINITY, most = -(double)INFINITY, square = 0;
        long double sum = 0;
        int nonzero = 0;
        for (size_t i = 0; i < ROWS; i++) {
            const double x = dense[i * WIDTH + j];
            least = fmin(least, x);
            most = fmax(most, x);
            sum += (long double)x;
            nonzero += x != 0;
        }
        const double mean = (double)(sum / ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            square += (dense[i * WIDTH + j] - mean) * (dense[i * WIDTH + j] - mean);
        }
        const double std = sqrt(square / ROWS);
        assert_int_equal(json_number_value(json_array_get(json_object_get(features, "nonzero"), j)),
                         nonzero);
        assert_true(json_number_value(json_array_get(json_object_get(features, "min"), j)) ==
                    least);
        assert_true(json_number_value(json_array_get(json_object_get(features, "max"), j)) == most);
        assert_true(fabs(json_number_value(json_array_get(json_object_get(features, "mean"), j)) -
                         mean) <= 1e-13 * (fabs(mean) + std));
        assert_true(fabs(json_number_value(json_array_get(json_object_get(features, "std"), j)) -
                         std) <= 1e-12 * std);
    }
    json_decref(columns);
    table_done(&t);
    buf_done(&body);
    free(dense);
}

/* Tables with too many features have no statistics of each feature. */
static void test_width(void **state) {
    (void)state;
    struct table_copy t = read_with(&plain, "1 16384:1\n");
    check_has(t.columns, "\"width\":16384,\"entries\":1,\"features\":{");
    table_done(&t);
    t = read_with(&plain, "1 1:1\n1 16385:1\n1 3:1\n");
    check_has(t.columns, "\"width\":16385,\"entries\":3}]");
    table_done(&t);
    t = read_with(&plain, "1 1:1\n1 16385:0\n");
    check_has(t.columns, "\"width\":16385,\"entries\":1}]");
    table_done(&t);
}

/* The content hash depends on the feature and the value of each entry, on where rows begin, on the
 * number of features and on the first index; it does not depend on how a number is written. */
static void test_content(void **state) {
    (void)state;
    static const char *const different[] = {"1 1:1 2:2\n1 3:3\n",     "1 1:1\n1 2:2 3:3\n",
                                            "1 1:1 2:2 3:3\n1\n",     "1 1:1 2:2\n1 4:3\n",
                                            "1 1:1 2:2\n1 3:4\n",     "2 1:1 2:2\n1 3:3\n",
                                            "1 1:1 2:2\n1 3:3 4:0\n", "1 1:1 2:2\n1 1:-0 3:3\n",
                                            "1 1:1 2:2\n1 3:3.5\n",   "1 1:0.5 2:2\n1 3:3\n",
                                            "1 1:0.25 2:2\n1 3:3\n",  "1 1:-1 2:2\n1 3:3\n",
                                            "1 1:239 2:2\n1 3:3\n",   "1 1:240 2:2\n1 3:3\n",
                                            "1 1:243 2:2\n1 3:3\n",   "1 1:256 2:2\n1 3:3\n",
                                            "1 1:257 2:2\n1 3:3\n",   "1 1:-0.5 2:2\n1 3:3\n"};
    static const char *const same[] = {"1 1:1 2:2 # x\n1 3:3", "+1 1:1.0 2:2e0\r\n1.0 3:3\r\n",
                                       "1 1:1 2:2\n1 1:0 3:3\n"};
    enum { N = sizeof different / sizeof *different };
    char content[N + 1][80];
    for (size_t i = 0; i < N; i++) {
        struct table_copy t = read_with(&plain, different[i]);
        assert_true(t.well);
        memcpy(content[i], t.sum.content, sizeof content[i]);
        table_done(&t);
    }
    struct table_copy t =
        read_with(&(struct table_options){.format = &format_svmlight, .zero_based = true},
                  "1 0:1 1:2\n1 2:3\n");
    memcpy(content[N], t.sum.content, sizeof content[N]);
    table_done(&t);
    for (size_t i = 0; i <= N; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(content[i], content[k]);
        }
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        t = read_with(&plain, same[i]);
        assert_string_equal(t.sum.content, content[0]);
        table_done(&t);
    }
}

/* Compares the faults, each as "line column message". */
static void check_faults(const struct table_options *options, const char *body,
                         const char *expected) {
    struct table_copy t = read_with(options, body);
    struct buf text = {0};
    assert_false(t.well);
    for (size_t i = 0; i < t.problem.n_errors; i++) {
        const struct problem_error *e = &t.problem.errors[i];
        buf_printf(&text, "%d %d %s\n", (int)e->line, (int)e->column, e->detail);
    }
    assert_string_equal(buf_cstr(&text), expected);
    assert_int_equal(t.n_chunks, 0);
    buf_done(&text);
    table_done(&t);
}

static void test_faults(void **state) {
    (void)state;
    check_faults(
        &plain, "1 1:1\n1 0:3\n",
        "2 3 index 0: indexes count from 1; set zero_based=true if they count from 0 here\n");
    check_faults(
        &plain, "1 3:1 3:2\n1 4:1 3:2\n",
        "1 7 index 3 comes twice\n2 7 index 3 comes after 4: the indexes of a row must ascend\n");
    check_faults(
        &(struct table_options){.format = &format_svmlight, .zero_based = true},
        "1 0:1 0:2\n1 2:1 0:2\n",
        "1 7 index 0 comes twice\n2 7 index 0 comes after 2: the indexes of a row must ascend\n");
    check_faults(
        &plain, "1 2147483647:1\n1 99999999999999999999999:1\n1 00000000001:1\n",
        "1 3 index 2147483647 is too large: at most 2147483646, in at most 10 digits\n"
        "2 3 index 99999999999999999999999 is too large: at most 2147483646, in at most 10 digits\n"
        "3 3 index 00000000001 is too large: at most 2147483646, in at most 10 digits\n");
    check_faults(
        &plain, " 1,3 3:1\n3:1 4:1\n",
        "1 2 a row has one label, several are not supported (got \"1,3\")\n"
        "2 1 the label is missing: a row is \"label index:value …\" (it begins with \"3:1\")\n");
    check_faults(&plain, "1 1:0x1F\n1 1:inf\n1 1:nan\n1 1:1e400\n1 2:\n1 3:1,5\n1 3:1:2\n1 3:--1\n",
                 "1 5 index 1: the value must be a finite decimal number (got \"0x1F\")\n"
                 "2 5 index 1: the value must be a finite decimal number (got \"inf\")\n"
                 "3 5 index 1: the value must be a finite decimal number (got \"nan\")\n"
                 "4 5 index 1: the value must be a finite decimal number (got \"1e400\")\n"
                 "5 5 index 2: the value must be a finite decimal number (got \"\")\n"
                 "6 5 index 3: the value must be a finite decimal number (got \"1,5\"): write "
                 "decimal fractions with a point\n"
                 "7 5 index 3: the value must be a finite decimal number (got \"1:2\")\n"
                 "8 5 index 3: the value must be a finite decimal number (got \"--1\")\n");
    check_faults(
        &plain, "1 x\n1 -1:2\n1 5:1 qid:3\n1 1 :2\n1 +1:2\n1 1.5:2\n",
        "1 3 must be index:value, the index an integer from 1 to 2147483646 (got \"x\")\n"
        "2 3 must be index:value, the index an integer from 1 to 2147483646 (got \"-1:2\")\n"
        "3 7 must be index:value, the index an integer from 1 to 2147483646 (got \"qid:3\"): qid:N "
        "must follow the label\n"
        "4 3 must be index:value, the index an integer from 1 to 2147483646 (got \"1\")\n"
        "5 3 must be index:value, the index an integer from 1 to 2147483646 (got \"+1:2\")\n"
        "6 3 must be index:value, the index an integer from 1 to 2147483646 (got \"1.5:2\")\n");
    check_faults(&(struct table_options){.format = &format_svmlight, .types = "label:numeric"},
                 "1 1:1\nspam 2:1\n",
                 "2 1 column \"label\": a cell must be a number (got \"spam\")\n");
    check_faults(&(struct table_options){.format = &format_svmlight, .types = "f1:text"}, "1 1:1\n",
                 "0 0 option \"types\" names \"f1\", which is not a column of the table whose type "
                 "could be chosen: the features of svmlight "
                 "are numbers\n");
    static const char *const taken[] = {"f", "f1", "f99"};
    for (size_t i = 0; i < 3; i++) {
        struct table_copy t =
            read_with(&(struct table_options){.format = &format_svmlight, .label = taken[i]},
                      "1 1:1\n");
        assert_false(t.well);
        check_has(buf_cstr(&t.problem_text),
                  "option \\\"label\\\" must not be the name of a feature");
        table_done(&t);
    }
    struct table_copy t =
        read_with(&(struct table_options){.format = &format_svmlight, .label = "flag"}, "1 1:1\n");
    assert_true(t.well);
    table_done(&t);
    check_faults(&plain, "# nothing\n\n", "0 0 the table has no rows: the body has no data\n");
}

static void test_bytes_that_are_no_text(void **state) {
    (void)state;
    static const struct {
        const char *body;
        size_t n;
        const char *part;
    } bodies[] = {
        {"1 1:1\n1 2\0:1\n", 13, "line 2, column 4: NUL byte"},
        {"1 1:1 # \xC3\xA9\n1 \xC3\x28:1\n", 17, "line 2, column 3: invalid UTF-8"},
        {"\x31\x00\x20\x00", 4, "the body looks like UTF-16"},
        {"1\0 \0001\0:\0", 8, "UTF-16"},
        {"\x1F\x8B\x08\x00\x01", 5, "gzip"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct table_copy t = table_read_cut(&plain, bodies[i].body, bodies[i].n, NULL, 0);
        assert_false(t.well);
        check_has(buf_cstr(&t.problem_text), bodies[i].part);
        table_done(&t);
    }
}

static void test_values_that_are_rounded(void **state) {
    (void)state;
    struct table_copy t =
        read_with(&plain, "1 1:1234567890123456 2:0.12345678901234567\n0 2:3 7:9007199254740993 "
                          "8:9007199254740995\n1 3:9007199254740993\n");
    check_has(t.notes,
              "\"warnings\":[\"column \\\"f\\\": a double does not hold 3 of its numbers exactly, "
              "the first is \\\"9007199254740993\\\" in line 2, it was read as "
              "9007199254740992\"]");
    table_done(&t);
    t = read_with(&plain, "1 1:1\n0 2:1e-400\n0 2:0.00\n");
    check_has(t.notes, "\"warnings\":[\"column \\\"f\\\": a double does not hold \\\"1e-400\\\" in "
                       "line 2 exactly, it was read as 0\"]");
    table_done(&t);
}

static void test_skip_invalid_utf8(void **state) {
    (void)state;
    static const char body[] = "1 1:1\n2 \xE9:1\n# \xE9t\xE9\n3 2:1 # \xE2\x82\n4 3:1";
    const struct table_options skip = {.format = &format_svmlight, .on_error = TABLE_SKIP};
    for (size_t cut = 0; cut < sizeof body; cut++) {
        struct table_copy t = table_read_cut(&skip, body, sizeof body - 1, &cut, 1);
        check_lines(&t, "1 1:1\n4 3:1\n");
        check_has(t.notes, "\"skipped\":{\"rows\":2,\"first\":[{\"line\":2,\"column\":3,");
        check_has(t.notes, "\"comments\":1,");
        table_done(&t);
    }
}

/* A line of 16 MiB is accepted, a longer one is refused, wherever the body is cut; a fault before
 * it is reported, too. */
static void test_long_lines(void **state) {
    (void)state;
    const size_t size = TABLE_MAX_ROW + 20;
    char *body = malloc(size);
    assert_non_null(body);
    memset(body, ' ', size);
    memcpy(body, "1 x\n2 7:1", 9);
    for (size_t over = 0; over < 2; over++) {
        const size_t n = 4 + TABLE_MAX_ROW + over, cuts[] = {3, 70000, n - 1};
        for (size_t c = 0; c < 2; c++) {
            const struct table_options skip = {.format = &format_svmlight, .on_error = TABLE_SKIP};
            struct table_copy t =
                table_read_cut(over ? &plain : &skip, body, n, cuts, c == 0 ? 0 : 3);
            if (over) {
                assert_int_equal(t.problem.n_errors, 2);
                check_has(buf_cstr(&t.problem_text), "\"line\":1,\"column\":3,");
                check_has(
                    buf_cstr(&t.problem_text),
                    "{\"line\":2,\"column\":1,\"detail\":\"line is longer than 16777216 bytes\"}");
            } else {
                check_lines(&t, "2 7:1\n");
            }
            table_done(&t);
        }
    }
    free(body);
}

static void test_faulty_rows_left_out(void **state) {
    (void)state;
    const struct table_options skip = {.format = &format_svmlight,
                                       .on_error = TABLE_SKIP,
                                       .types = "label:numeric"};
    struct table_copy t = read_with(&skip, "1 1:1\n1 0:3\n2 2:2\n1 5:1 5:2 999999:1\nx 3:3\n3\n");
    check_lines(&t, "1 1:1\n2 2:2\n3\n");
    check_has(t.columns, "\"width\":2,\"entries\":2,"); /* the skipped rows have no effect */
    check_has(t.notes, "\"skipped\":{\"rows\":3,\"first\":[{\"line\":2,\"column\":3,");
    struct table_copy u =
        read_with(&(struct table_options){.format = &format_svmlight, .types = "label:numeric"},
                  "1 1:1\n2 2:2\n3\n");
    assert_string_equal(t.sum.content, u.sum.content);
    table_done(&t);
    table_done(&u);
}

static void test_queries(void **state) {
    (void)state;
    struct table_copy t = read_with(&plain, "3 1:1\n2 qid:1 1:1\n1 qid:2 #\n0 qid:2 2:1\n");
    check_lines(&t, "3 1:1\n2 1:1\n1\n0 2:1\n");
    check_has(t.notes,
              "\"warnings\":[\"the queries (\\\"qid:N\\\", first in line 2) are ignored\"]");
    table_done(&t);
}

/* Bodies that sniffing recognises as svmlight, and bodies that it must not. */
static void test_sniffing(void **state) {
    (void)state;
    static const char *const yes[] = {"1 1:2\n",
                                      "-1 3:1 4:1 \n+1 2:1\n",
                                      "# a comment\n\n1.5 qid:3 1:0.5\n2\n",
                                      "\357\273\2771 1:2\n",
                                      "1 1:2 # a,b,c\n1 2:3\n",
                                      "1 0:2\n2 1:1"};
    static const char *const no[] = {"1 2 3\n4 5 6\n",           "a 1:2\n1 2:3\n",
                                     "1 1:2 x\n2 1:3 y\n",       "1\n2\n",
                                     "1,1:2\n2,1:3\n",           "a,b\n1 1:2,3\n",
                                     "5 12:30:00\n6 12:31:00\n", "1 :2\n1 :3\n"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        struct table_copy t = cells_read(yes[i]);
        check_has(t.well ? t.notes : buf_cstr(&t.problem_text),
                  t.well ? "\"format\":\"svmlight\"" : "index 0");
        table_done(&t);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        struct table_copy t = cells_read(no[i]);
        assert_true(t.well);
        check_has(t.notes, "\"format\":\"csv\"");
        table_done(&t);
    }
    struct table_copy t =
        table_read_options(&(struct table_options){.header = TABLE_HEADER_NO}, "1 1:2\n");
    check_has(t.notes, "\"format\":\"csv\"");
    table_done(&t);
    /* a first line that is longer than the part that sniffing reads */
    struct buf body = {0};
    buf_putc(&body, '1');
    for (int i = 1; body.size < 200000; i++) {
        buf_printf(&body, " %d:%d", i, i);
    }
    t = cells_read(buf_cstr(&body));
    check_has(t.notes, "\"format\":\"svmlight\"");
    table_done(&t);
    buf_done(&body);
}

static void check_same(const struct table_copy *a, const struct table_copy *b) {
    assert_int_equal(a->well, b->well);
    if (!a->well) {
        assert_string_equal(buf_cstr((struct buf *)(uintptr_t)&a->problem_text),
                            buf_cstr((struct buf *)(uintptr_t)&b->problem_text));
        return;
    }
    assert_string_equal(a->columns, b->columns);
    assert_string_equal(a->notes, b->notes);
    assert_string_equal(a->sum.content, b->sum.content);
    assert_int_equal(a->n_chunks, b->n_chunks);
    for (size_t i = 0; i < a->n_chunks * a->n_columns; i++) {
        assert_int_equal(a->blobs[i].size, b->blobs[i].size);
        assert_memory_equal(a->blobs[i].bytes, b->blobs[i].bytes, a->blobs[i].size);
    }
}

static void check_cuts(const char *body, size_t n) {
    struct table_copy whole = table_read_cut(&plain, body, n, NULL, 0);
    for (size_t cut = 0; cut <= n; cut++) {
        struct table_copy t = table_read_cut(&plain, body, n, &cut, 1);
        check_same(&whole, &t);
        table_done(&t);
    }
    size_t *every = calloc(n + 1, sizeof *every);
    assert_non_null(every);
    for (size_t i = 0; i < n; i++) {
        every[i] = i;
    }
    struct table_copy t = table_read_cut(&plain, body, n, every, n);
    check_same(&whole, &t);
    table_done(&t);
    table_done(&whole);
    free(every);
}

static void test_cuts(void **state) {
    (void)state;
    static const char *const bodies[] = {
        ("\xEF\xBB\xBF# \xC3\xA9\r\n+1 qid:3 1:0.5 10:1e-3 # x\r\n\r\n-1\r2 "
         "2:12345678901234567890\n"),
        "1 1:1\r1 2:2\r\r\n\n1 3:3\r\n1 x\r\n2 5:0x\n",
        "1 1:1 2:2\n1 2:1 1:2\n1 \xE2\x82\x41:1\n",
        "1 3:1 17:0.25 123456:7.125 2147483646:-1\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        check_cuts(bodies[i], strlen(bodies[i]));
    }
    check_cuts("1 1:1\n2 2:\0 3\n", 14);
}

/* A chunk ends at a number of rows or of entries; the chunks must not depend on where the body is
 * cut. */
static void test_chunks(void **state) {
    (void)state;
    struct buf body = {0};
    for (int i = 0; i < 70000; i++) {
        buf_printf(&body, "%d %d:1\n", i % 2, 1 + i % 9);
    }
    struct table_copy t = read_with(&plain, buf_cstr(&body));
    assert_int_equal(t.n_chunks, 2);
    assert_int_equal(t.rows[0], 65536);
    table_done(&t);
    buf_clear(&body);
    for (int i = 0; i < 20; i++) {
        buf_putc(&body, '1');
        for (int k = 1; k <= 100000; k++) {
            buf_printf(&body, " %d:2", k);
        }
        buf_putc(&body, '\n');
    }
    t = read_with(&plain, buf_cstr(&body));
    assert_true(t.n_chunks >= 4 && t.n_chunks <= 7);
    size_t cuts[200];
    for (size_t i = 0; i < 200; i++) {
        cuts[i] = i * (body.size / 200) + i % 7;
    }
    struct table_copy u = table_read_cut(&plain, body.data, body.size, cuts, 200);
    check_same(&t, &u);
    table_done(&t);
    table_done(&u);
    buf_done(&body);
}

/* Returns true if the table was read, false if a lack of memory was reported. */
static bool read_failing(const char *body) {
    size_t chunks = 0;
    struct problem problem = {0};
    struct table_summary sum;
    struct table *t = table_new(&(struct table_options){.label = "class"},
                                &(struct table_sink){table_sink_forget, NULL, &chunks});
    if (t == NULL) {
        return false;
    }
    bool well =
        table_feed(t, body, 9, &problem) && table_feed(t, body + 9, strlen(body) - 9, &problem);
    problem_done(&problem);
    well = table_end(t, &sum, &problem) && well;
    assert_true(well || problem.type == PROBLEM_UNAVAILABLE);
    assert_true(!well || (chunks == 1 && sum.n_rows == 3));
    problem_done(&problem);
    table_free(t);
    return well;
}

static void test_no_memory(void **state) {
    (void)state;
    bool well = false;
    ALLOC_FAIL_EACH(
        well = read_failing("1 qid:2 1:0.5 9:1 # x\nspam 2:1\n3 3:1 4:1 5:1 6:1 7:1 8:1\n"));
    assert_true(well);
}

/* ---- the description that the API returns ---- */
static void check_shown(const char *columns, int64_t n_rows, int64_t n_features,
                        const char *expected) {
    struct buf out = {0};
    struct json_writer w;
    w = json_writer_of(&out);
    json_begin_object(&w);
    assert_int_equal(schema_columns_write(columns, n_rows, &w), n_features);
    json_end_object(&w);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

static void test_logical_columns(void **state) {
    (void)state;
    check_shown(
        "[{\"name\":\"y\",\"type\":\"boolean\",\"missing\":0,\"top\":[[true,1]]},{\"name\":\"f\","
        "\"type\":\"sparse\",\"missing\":0,"
        "\"first\":1,\"width\":2,"
        "\"entries\":3,\"features\":{\"nonzero\":[1,2],\"min\":[0,-1],\"max\":[2.5,0],\"mean\":[0."
        "5,-0.5],\"std\":[1,null]}}]",
        4, 2,
        "{\"columns\":[{\"name\":\"y\",\"type\":\"boolean\",\"missing\":0,\"top\":[[true,1]]},"
        "{\"name\":\"f1\",\"type\":\"numeric\",\"missing\":0,\"min\":0,\"max\":2.5,\"mean\":0.5,"
        "\"std\":1,\"nonzero\":1},"
        "{\"name\":\"f2\",\"type\":\"numeric\",\"missing\":0,\"min\":-1,\"max\":0,\"mean\":-0.5,"
        "\"std\":null,\"nonzero\":2}],"
        "\"sparse\":{\"first\":\"f1\",\"columns\":2,\"entries\":3,\"density\":0.375}}");
    static const char wide[] = "[{\"name\":\"y\"},{\"name\":\"f\",\"type\":\"sparse\",\"missing\":"
                               "0,\"first\":0,\"width\":20000,\"entries\":3}]";
    struct buf expected = {0};
    buf_printf(&expected,
               "{\"columns\":%s,\"sparse\":{\"first\":\"f0\",\"columns\":20000,\"entries\":3,"
               "\"density\":0.000075}}",
               wide);
    check_shown(wide, 2, 20000, buf_cstr(&expected));
    buf_done(&expected);
    static const char dense[] = "[{\"name\":\"{\\\"name\\\":\\\"f\\\",\\\"type\\\":\\\"sparse\\\","
                                "\",\"type\":\"numeric\",\"missing\":0}]";
    buf_printf(&expected, "{\"columns\":%s}", dense);
    check_shown(dense, 2, -1, buf_cstr(&expected));
    buf_done(&expected);
    check_shown(NULL, 0, -1, "{\"columns\":null}");
}

/* Tests the conversion of entries to dense columns, for the selected features only. */
static void test_expanding(void **state) {
    (void)state;
    static const size_t start[] = {0, 2, 2, 5};
    static const uint32_t place[] = {0, 7, 1, 7, 9}, wanted[] = {1, 7, 8};
    static const double number[] = {1, 2, 3, 4, 5};
    const dn_column_view view = {
        .type = DN_SPARSE, .n_rows = 3, .number = number, .row_start = start, .index = place};
    static const double expected[] = {0, 0, 3, 2, 0, 4, 0, 0, 0}, second[] = {0, 3, 0, 4, 0, 0};
    double out[9];
    sparse_rows_expand(&view, 0, 3, wanted, 3, out);
    assert_memory_equal(out, expected, sizeof expected);
    sparse_rows_expand(&view, 1, 2, wanted, 3, out);
    assert_memory_equal(out, second, sizeof second);
}

static void test_writing(void **state) {
    (void)state;
    static const double numbers[] = {0, 1.5, -0.0}, truths[] = {1, 0, 1};
    static const uint32_t codes[] = {0, DN_CODE_MISSING, 1}, text[] = {0, 1, 4};
    const dn_column_view label = {.type = DN_CATEGORICAL,
                                  .n_rows = 3,
                                  .code = codes,
                                  .strings = {2, text, "ab c"}};
    const dn_column_view columns[] = {{.type = DN_NUMERIC, .n_rows = 3, .number = numbers},
                                      {.type = DN_BOOLEAN, .n_rows = 3, .number = truths}};
    const struct svmlight_rows lines = {.label = &label, .columns = columns, .n_columns = 2};
    struct buf out = {0};
    struct text wrong;
    svmlight_rows_write(&lines, 0, 2, &out);
    assert_string_equal(buf_cstr(&out), "a 2:1\n? 1:1.5\n");
    assert_true(svmlight_label(&label, 0, &wrong) && svmlight_label(&label, 1, &wrong));
    assert_false(svmlight_label(&label, 2, &wrong)); /* the label "b c" cannot be written */
    buf_clear(&out);
    svmlight_rows_write(&(struct svmlight_rows){.label = &columns[1],
                                                .columns = columns,
                                                .n_columns = 1},
                        2, 1, &out);
    assert_string_equal(buf_cstr(&out), "1 1:-0\n");
    buf_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_names_and_summary),
                                       cmocka_unit_test(test_moments),
                                       cmocka_unit_test(test_width),
                                       cmocka_unit_test(test_content),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_bytes_that_are_no_text),
                                       cmocka_unit_test(test_values_that_are_rounded),
                                       cmocka_unit_test(test_skip_invalid_utf8),
                                       cmocka_unit_test(test_long_lines),
                                       cmocka_unit_test(test_faulty_rows_left_out),
                                       cmocka_unit_test(test_queries),
                                       cmocka_unit_test(test_sniffing),
                                       cmocka_unit_test(test_cuts),
                                       cmocka_unit_test(test_chunks),
                                       cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_logical_columns),
                                       cmocka_unit_test(test_expanding),
                                       cmocka_unit_test(test_writing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
