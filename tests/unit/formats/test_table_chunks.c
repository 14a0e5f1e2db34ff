/* Tests of chunks, of the content hash, and of writing and reading again: the stored values must be
 * the same, whatever the format, the pieces of the body and the chunks. */
#include "table_helper.h"

/* Appends a table with `rows` rows and columns of all types, as CSV or as JSON. */
static void make_table(int rows, bool json, bool strings_late, struct buf *out) {
    static const char *const words[] = {"red",         "green",           "dark blue",
                                        "caf\xC3\xA9", "with \"quotes\"", "a,b",
                                        "two\nlines"};
    uint64_t seed = 9;
    buf_puts(out, json ? "[" : "id,price,colour,flag,code,note\n");
    for (int i = 0; i < rows; i++) {
        const char *word = words[cells_random(&seed) % 7];
        const double price = (double)(cells_random(&seed) % 100000) / 100;
        const int flag = (int)(cells_random(&seed) % 3);
        char form[DN_NUMBER_SIZE];
        dn_number_format(price, form);
        const bool text = strings_late && i == rows - 1;
        if (json) {
            buf_printf(out, "%s{\"id\":%d,\"price\":%s,\"colour\":", i > 0 ? ",\n" : "", i, form);
            if (i % 11 == 0) {
                buf_puts(out, "null");
            } else {
                buf_putc(out, '"');
                for (const char *p = word; *p != '\0'; p++) {
                    if (*p == '"') {
                        buf_puts(out, "\\\"");
                    } else if (*p == '\n') {
                        buf_puts(out, "\\n");
                    } else {
                        buf_putc(out, *p);
                    }
                }
                buf_putc(out, '"');
            }
            if (flag < 2) {
                buf_printf(out, ",\"flag\":%s", flag ? "true" : "false");
            } else if (i == 0) { /* in later rows the member is absent */
                buf_puts(out, ",\"flag\":null");
            }
            buf_printf(out, text ? ",\"code\":\"A\"" : ",\"code\":%d", i % 50);
            buf_printf(out, ",\"note\":\"n%d\"}", i);
        } else {
            buf_printf(out, "%d,%s,", i, form);
            if (i % 11 != 0) {
                buf_putc(out, '"');
                for (const char *p = word; *p != '\0'; p++) {
                    buf_puts(out, *p == '"' ? "\"\"" : (char[]){*p, '\0'});
                }
                buf_putc(out, '"');
            }
            buf_printf(out, ",%s,", flag == 0 ? "false" : flag == 1 ? "true" : "");
            buf_printf(out, text ? "A" : "%d", i % 50);
            buf_printf(out, ",n%d\n", i);
        }
    }
    buf_puts(out, json ? "]" : "");
}

/* Sets the line numbers in the type reasons to 0, since they are different for CSV and JSON. */
static void forget_lines(char *columns) {
    for (char *at = columns; (at = strstr(at, "\"line\":")) != NULL;) {
        at += 7;
        memset(at, '0', strspn(at, "0123456789"));
        char *end = at + strspn(at, "0");
        memmove(at + 1, end, strlen(end) + 1);
    }
}

static void test_csv_and_json_have_the_same_content(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct buf csv = {0}, json = {0}, csv_rows = {0}, json_rows = {0};
        make_table(70000, false, late, &csv);
        make_table(70000, true, late, &json);
        struct table_copy a =
            table_read_cut(&(struct table_options){0}, csv.data, csv.size, NULL, 0);
        struct table_copy b =
            table_read_cut(&(struct table_options){0}, json.data, json.size, NULL, 0);
        if (!a.well || !b.well) {
            fail_msg("%s %s", a.well ? "" : buf_cstr(&a.problem_text),
                     b.well ? "" : buf_cstr(&b.problem_text));
        }
        assert_true(a.n_chunks > 1);
        assert_string_equal(a.sum.content, b.sum.content);
        forget_lines(a.columns);
        forget_lines(b.columns);
        assert_string_equal(a.columns, b.columns);
        /* chunks are read again only if a column becomes a string column after the first chunk */
        assert_int_equal(a.n_reread > 0, late);
        table_rows(&a, &format_ndjson, false, &csv_rows);
        table_rows(&b, &format_ndjson, false, &json_rows);
        assert_string_equal(buf_cstr(&csv_rows), buf_cstr(&json_rows));
        table_done(&a);
        table_done(&b);
        buf_done(&csv);
        buf_done(&json);
        buf_done(&csv_rows);
        buf_done(&json_rows);
    }
}

/* The rows of a table, written as JSON and read again, are the same table. */
static void test_rows_sent_back_are_the_same_table(void **state) {
    (void)state;
    struct buf narrow = {0}, rows = {0};
    make_table(3000, false, false, &narrow);
    struct table_copy one =
        table_read_cut(&(struct table_options){0}, narrow.data, narrow.size, NULL, 0);
    assert_int_equal(one.n_chunks, 1);
    table_rows(&one, &format_json, false, &rows);
    struct buf json = {0};
    buf_puts(&json, "[ \n");
    buf_append(&json, rows.data, rows.size);
    buf_puts(&json, " ]\n");
    struct table_copy two =
        table_read_cut(&(struct table_options){0}, json.data, json.size, NULL, 0);
    assert_true(two.well);
    assert_string_equal(one.sum.content, two.sum.content);
    table_done(&one);
    table_done(&two);
    buf_done(&narrow);
    buf_done(&rows);
    buf_done(&json);
}

/* A chunk ends at the power of two of rows whose cells fit into 8 MiB, or at 8 MiB of text. */
static void test_chunks_close_by_bytes_and_rows(void **state) {
    (void)state;
    struct buf body = {0};
    buf_puts(&body, "a,text\n");
    for (int i = 0; i < 2000; i++) {
        buf_printf(&body, "%d,%0*d\n", i, 10000, i);
    }
    struct table_copy t =
        table_read_options(&(struct table_options){.types = "text:text"}, buf_cstr(&body));
    assert_true(t.well);
    assert_int_equal(t.n_chunks, 3); /* 838 rows of 10,000 bytes have 8 MiB */
    assert_int_equal(t.rows[0], t.rows[1]);
    table_done(&t);
    buf_clear(&body);
    buf_puts(&body, "a,b,c\n");
    for (int i = 0; i < 140000; i++) {
        buf_puts(&body, "1,2,3\n");
    }
    t = cells_read(buf_cstr(&body));
    assert_int_equal(t.n_chunks, 3);
    assert_int_equal(t.rows[0], 65536);
    assert_int_equal(t.rows[1], 65536);
    table_done(&t);
    buf_clear(&body);
    for (int row = 0; row < 130; row++) { /* 16,384 columns: a chunk has 64 rows */
        for (int i = 0; i < 16384; i++) {
            buf_puts(&body, i > 0 ? ",1" : "1");
        }
        buf_putc(&body, '\n');
    }
    t = cells_read(buf_cstr(&body));
    assert_int_equal(t.n_chunks, 3);
    assert_int_equal(t.rows[0], 64);
    table_done(&t);
    buf_done(&body);
}

static void test_cuts_do_not_show(void **state) {
    (void)state;
    struct buf body = {0};
    make_table(30000, false, true, &body);
    struct table_copy whole =
        table_read_cut(&(struct table_options){0}, body.data, body.size, NULL, 0);
    assert_true(whole.well);
    uint64_t seed = 10;
    for (int k = 0; k < 6; k++) {
        static size_t cut[100000];
        size_t n = 0;
        const uint32_t step = (uint32_t[]){50, 1000, 16384, 65536, 65537, 300000}[k];
        for (size_t at = cells_random(&seed) % step; at < body.size && n < 100000;
             at += 1 + cells_random(&seed) % step) {
            cut[n++] = at;
        }
        struct table_copy t =
            table_read_cut(&(struct table_options){0}, body.data, body.size, cut, n);
        assert_true(t.well);
        assert_string_equal(t.columns, whole.columns);
        assert_string_equal(t.notes, whole.notes);
        assert_string_equal(t.sum.content, whole.sum.content);
        assert_int_equal(t.n_chunks, whole.n_chunks);
        for (size_t i = 0; i < t.n_chunks * t.n_columns; i++) {
            assert_int_equal(t.blobs[i].size, whole.blobs[i].size);
            assert_memory_equal(t.blobs[i].bytes, whole.blobs[i].bytes, t.blobs[i].size);
        }
        table_done(&t);
    }
    table_done(&whole);
    buf_done(&body);
}

/* Small bodies, cut at each offset: the header and the delimiter must not depend on the cut. */
static void test_small_bodies_cut_everywhere(void **state) {
    static const char *const bodies[] = {"a,b\n1,x\n2,y\n",
                                         "[{\"a\":1,\"b\":\"x\"},{\"b\":\"y\",\"a\":2.5}]",
                                         "\xEF\xBB\xBF[{\"a\":1}]",
                                         ("{\"columns\":[\"a\",{\"name\":\"b\",\"type\":\"text\"}],"
                                          "\"rows\":[[1,\"x\"],[null,\"y\"]]}"),
                                         "x;\"y;z\"\r\n1;\"2\n\"\r\n",
                                         " \n [ {\"a\":true} ]"};
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const size_t n = strlen(bodies[i]);
        struct table_copy whole = cells_read(bodies[i]);
        assert_true(whole.well);
        for (size_t cut = 0; cut <= n; cut++) {
            struct table_copy t = table_read_cut(&(struct table_options){0}, bodies[i], n, &cut, 1);
            assert_true(t.well);
            assert_string_equal(t.columns, whole.columns);
            assert_string_equal(t.sum.content, whole.sum.content);
            table_done(&t);
        }
        table_done(&whole);
    }
}

/* Numbers in all spellings are written as they were read, also if the column becomes a string
 * column. */
static void test_spellings_survive(void **state) {
    static const char *const forms[] = {"1",        "1.50",      "007",  "+3",
                                        "1e2",      "-0",        "0.10", "12.25",
                                        "1E-5",     "5.",        ".5",   "100000",
                                        "0.000001", "0.0000001", " 7",   "123456789012345678",
                                        "1.2500",   "99.99",     "3"};
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 60; k++) {
        struct buf body = {0}, rows = {0};
        const int n = k % 3 == 0 ? 5 : 300, falls = k % 2;
        const uint32_t kinds = 1 + cells_random(&seed) % 19;
        const uint32_t first = cells_random(&seed) % 19;
        const char *written[300];
        buf_puts(&body, "x,y\n");
        for (int i = 0; i < n; i++) {
            written[i] = forms[(first + cells_random(&seed) % kinds) % 19];
            if (falls && i == n / 2) {
                written[i] = "word";
            }
            buf_printf(&body, "%s,%d\n", written[i], i);
        }
        struct table_copy t =
            table_read_options(&(struct table_options){.header = TABLE_HEADER_YES},
                               buf_cstr(&body));
        assert_true(t.well);
        table_rows(&t, &format_csv, true, &rows);
        struct buf expected = {0};
        buf_puts(&expected, "x,y\n");
        for (int i = 0; i < n; i++) {
            buf_printf(&expected, "%s,%d\n", written[i] + (written[i][0] == ' '), i);
        }
        assert_string_equal(buf_cstr(&rows), buf_cstr(&expected));
        table_done(&t);
        buf_done(&body);
        buf_done(&rows);
        buf_done(&expected);
    }
}

static void test_content_tells_apart(void **state) {
    static const char *const bodies[] = {"a,b\n1,2\n",      "a,b\n1,3\n",      "a,c\n1,2\n",
                                         "a,b\n1,\n",       "a,b\n,1\n",       "b,a\n1,2\n",
                                         "a,b\n1,2\n1,2\n", "a,b\n1,x\n",      "a,b\n1,true\n",
                                         "a,b\n1,xy\n",     "a,b\nx,y\n",      "a,b\n1,-0\n",
                                         "a,b\n1,0\n",      "a,b\n1,2.5\n",    "a,b\n240,2\n",
                                         "a,b\n70000,2\n",  "a,b\n1,\"2,\"\n", "a\n1\n2\n",
                                         "a,b\n-1,2\n",     "a,b\n1e300,2\n"};
    enum { N = sizeof bodies / sizeof bodies[0] };
    char content[N][80];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        struct table_copy t =
            table_read_options(&(struct table_options){.header = TABLE_HEADER_YES}, bodies[i]);
        assert_true(t.well);
        memcpy(content[i], t.sum.content, sizeof content[i]);
        assert_memory_equal(content[i], "b2:", 3);
        assert_int_equal(strlen(content[i]), 3 + 64);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(content[i], content[j]);
        }
        table_done(&t);
    }
    struct table_copy text =
        table_read_options(&(struct table_options){.types = "b:text"}, "a,b\n1,x\n");
    /* the content hash depends on the types */
    assert_string_not_equal(text.sum.content, content[7]);
    table_done(&text);
    text = cells_read("a,b\r\n1.0,2e0\r\n"); /* the content hash does not depend on spellings */
    assert_string_equal(text.sum.content, content[0]);
    table_done(&text);
}

static bool refusing_chunk(void *arg, int64_t chunk, int64_t n_rows, struct table_blob *blobs,
                           size_t n_columns, struct problem *problem) {
    (void)arg;
    (void)chunk;
    (void)n_rows;
    for (size_t i = 0; i < n_columns; i++) {
        free(blobs[i].bytes);
    }
    return problem_set(problem, PROBLEM_STORAGE_FULL, "the disk is full");
}

static void test_the_sink_refuses(void **state) {
    (void)state;
    struct buf body = {0};
    struct problem problem = {0}, again = {0};
    make_table(70000, false, false, &body);
    struct table *t =
        table_new(&(struct table_options){0}, &(struct table_sink){refusing_chunk, NULL, NULL});
    assert_non_null(t);
    assert_false(table_feed(t, body.data, body.size, &problem));
    assert_int_equal(problem.type, PROBLEM_STORAGE_FULL);
    struct table_summary sum;
    assert_false(table_end(t, &sum, &again));
    assert_int_equal(again.type, PROBLEM_STORAGE_FULL);
    assert_string_equal(again.detail, "the disk is full");
    problem_done(&problem);
    problem_done(&again);
    table_free(t);
    buf_done(&body);
}

static void test_an_unfinished_table_is_given_back(void **state) {
    (void)state;
    struct problem problem = {0};
    struct table_copy sink = {0};
    struct table *t = table_new(&(struct table_options){0},
                                &(struct table_sink){table_sink_chunk, table_sink_reread, &sink});
    assert_non_null(t);
    assert_true(table_feed(t, "a,b\n1,\"x", 8, &problem));
    table_free(t);
    table_free(NULL);
    table_done(&sink);
}

/* The memory for counts of distinct values has a limit. Above it, the columns with the largest
 * counts are no longer counted; they must be the same columns in each run. */
static void test_counts_have_their_memory(void **state) {
    (void)state;
    enum { COLUMNS = 20, ROWS = 9000 };
    struct buf body = {0};
    char filler[100];
    memset(filler, 'x', sizeof filler);
    for (int c = 0; c < COLUMNS; c++) {
        buf_printf(&body, "%sc%d", c > 0 ? "," : "", c);
    }
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            buf_printf(&body, "%c%.*s%d", c > 0 ? ',' : '\n', 70 + c, filler, c == 3 ? r % 10 : r);
        }
    }
    const struct table_options options = {.types = "c0:categorical"};
    struct table_copy a = table_read_cut(&options, body.data, body.size, NULL, 0),
                      b = table_read_cut(&options, body.data, body.size, NULL, 0);
    assert_true(a.well && b.well);
    assert_string_equal(a.columns, b.columns);
    assert_string_equal(a.notes, b.notes);
    assert_string_equal(a.sum.content, b.sum.content);
    assert_non_null(
        strstr(a.notes, "c0\\\": its distinct values take too much memory to count each of them"));
    size_t unknown = 0;
    for (const char *at = a.columns; (at = strstr(at, "\"distinct_estimated\":true")) != NULL;
         at++) {
        unknown++;
    }
    assert_true(unknown > 0 && unknown < COLUMNS - 1);
    assert_null(strstr(a.columns, "distinct_above")); /* no lower bound is known */
    assert_non_null(
        strstr(a.columns,
               "\"name\":\"c3\",\"type\":\"categorical\",\"missing\":0,\"distinct\":10"));
    table_done(&a);
    table_done(&b);
    buf_done(&body);
}

/* The types must not depend on which counts were dropped for lack of memory, but only on the
 * values: a column with 9,000 distinct values in 18,000 cells is categorical, one with 9,001 is
 * text. */
static void test_types_do_not_depend_on_memory(void **state) {
    (void)state;
    enum { COLUMNS = 40, ROWS = 18000, DISTINCT = 9000, ODD = 17 };
    struct buf body = {0};
    for (int c = 0; c < COLUMNS; c++) {
        buf_printf(&body, "%sc%d", c > 0 ? "," : "", c);
    }
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            buf_printf(&body, "%cv%d", c > 0 ? ',' : '\n',
                       c == ODD && r == ROWS - 1 ? -1 : (r * 7 + c) % DISTINCT);
        }
    }
    const size_t half = body.size / 2;
    struct table_copy t = table_read_cut(&(struct table_options){.types = "c1:categorical,c2:text"},
                                         body.data, body.size, &half, 1);
    struct schema schema = {0};
    struct problem problem = {0};
    assert_true(t.well && schema_parse(t.columns, &schema, &problem));
    assert_non_null(strstr(t.notes, "too much memory to count each of them"));
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct schema_column *c = &schema.columns[i];
        assert_int_equal(c->type, i == ODD || i == 2 ? DN_TEXT : DN_CATEGORICAL);
        if (c->type == DN_CATEGORICAL) {
            assert_int_equal(c->distinct, DISTINCT);
            assert_int_equal(c->distinct_bytes, 10 * 2 + 90 * 3 + 900 * 4 + 8000 * 5);
        }
    }
    schema_done(&schema);
    table_done(&t);
    buf_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_and_json_have_the_same_content),
        cmocka_unit_test(test_rows_sent_back_are_the_same_table),
        cmocka_unit_test(test_chunks_close_by_bytes_and_rows),
        cmocka_unit_test(test_cuts_do_not_show),
        cmocka_unit_test(test_small_bodies_cut_everywhere),
        cmocka_unit_test(test_spellings_survive),
        cmocka_unit_test(test_content_tells_apart),
        cmocka_unit_test(test_the_sink_refuses),
        cmocka_unit_test(test_an_unfinished_table_is_given_back),
        cmocka_unit_test(test_counts_have_their_memory),
        cmocka_unit_test(test_types_do_not_depend_on_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
