/* Tests of the exact limits of tables: the number of columns, the bytes of a name, of a cell and of
 * a row. A table at the limit must be read; a larger one must be refused with the limit in the
 * message. */
#include "lib/cmocka.h"
#include "unit/formats/table_helper.h"

#include <inttypes.h>

static void read_check(const struct buf *body, const struct format *format, int64_t n_columns) {
    struct table_copy t =
        table_read_cut(&(struct table_options){.format = format}, body->data, body->size, NULL, 0);
    assert_false(body->failed);
    assert_true(t.well);
    assert_int_equal(t.sum.n_rows, 1);
    assert_int_equal(t.sum.n_columns, n_columns);
    table_done(&t);
}

static void refused_check(const struct buf *body, const struct format *format, const char *text) {
    struct table_copy t =
        table_read_cut(&(struct table_options){.format = format}, body->data, body->size, NULL, 0);
    assert_false(body->failed);
    assert_false(t.well);
    if (strstr(buf_cstr(&t.problem_text), text) == NULL) {
        fail_msg("%s is not in %.400s", text, buf_cstr(&t.problem_text));
    }
    table_done(&t);
}

/* Appends the byte c n times. */
static void put_many(struct buf *out, char c, size_t n) {
    if (buf_reserve(out, n)) {
        memset(out->data + out->size, c, n);
        out->size += n;
    }
}

/* ---- columns ---- */
/* Appends the numbers 0 … n - 1, separated by commas, each between `before` and `after`. */
static void put_list(struct buf *out, size_t n, const char *before, const char *after) {
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s%s%zu%s", i > 0 ? "," : "", before, i, after);
    }
}

static void csv_columns(struct buf *out, size_t n) {
    put_list(out, n, "x", "");
    buf_putc(out, '\n');
    put_list(out, n, "", "");
    buf_putc(out, '\n');
}

static void json_columns(struct buf *out, size_t n) {
    buf_puts(out, "{\"columns\":[");
    put_list(out, n, "\"x", "\"");
    buf_puts(out, "],\"rows\":[[");
    put_list(out, n, "", "");
    buf_puts(out, "]]}");
}

static void json_keys(struct buf *out, size_t n) {
    buf_puts(out, "[{");
    put_list(out, n, "\"x", "\":1");
    buf_puts(out, "}]");
}

static void ndjson_arrays(struct buf *out, size_t n) {
    buf_putc(out, '[');
    put_list(out, n, "", "");
    buf_puts(out, "]\n");
}

static void arff_attributes(struct buf *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "@attribute x%zu numeric\n", i);
    }
    buf_puts(out, "@data\n{}\n");
}

static void test_columns(void **state) {
    static const struct {
        const struct format *format;
        void (*make)(struct buf *out, size_t n);
        const char *refusal;
    } tables[] = {{&format_csv, csv_columns, "more than 16384 cells"},
                  {&format_json, json_columns, "more than 16384 columns"},
                  {&format_json, json_keys, "more than 16384 columns"},
                  {&format_ndjson, ndjson_arrays, "more than 16384 columns"},
                  {&format_arff, arff_attributes, "more than 16384 attributes"}};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct buf most = {0}, more = {0};
        tables[i].make(&most, TABLE_MAX_COLUMNS);
        tables[i].make(&more, TABLE_MAX_COLUMNS + 1);
        read_check(&most, tables[i].format, TABLE_MAX_COLUMNS);
        refused_check(&more, tables[i].format, tables[i].refusal);
        buf_done(&most);
        buf_done(&more);
    }
}

/* ---- names ---- */
static void test_names(void **state) {
    static const struct {
        const struct format *format;
        const char *before, *after;
        const char *refusal;
    } tables[] = {{&format_csv, "", ",b\n1,2\n", "is 256 bytes long, at most 255"},
                  {&format_tsv, "", "\tb\n1\t2\n", "is 256 bytes long, at most 255"},
                  {&format_json, "{\"columns\":[\"", "\",\"b\"],\"rows\":[[1,2]]}",
                   "is 256 bytes long, at most 255"},
                  {&format_json, "[{\"", "\":1,\"b\":2}]", "is 256 bytes long, at most 255"},
                  {&format_arff, "@attribute ", " numeric\n@attribute b numeric\n@data\n1,2\n",
                   "is 256 bytes long, at most 255"}};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (size_t n = TABLE_MAX_NAME; n <= TABLE_MAX_NAME + 1; n++) {
            struct buf body = {0};
            buf_puts(&body, tables[i].before);
            put_many(&body, 'n', n);
            buf_puts(&body, tables[i].after);
            if (n == TABLE_MAX_NAME) {
                read_check(&body, tables[i].format, 2);
            } else {
                refused_check(&body, tables[i].format, tables[i].refusal);
            }
            buf_done(&body);
        }
    }
}

/* A key that is too long is a fault of its row only: with on_error=skip the row is skipped. */
static void test_keys_of_skipped_rows(void **state) {
    const struct table_options options = {.format = &format_json, .on_error = TABLE_SKIP};
    (void)state;
    for (size_t n = TABLE_MAX_NAME; n <= TABLE_MAX_NAME + 1; n++) {
        struct buf body = {0};
        buf_puts(&body, "[{\"a\":1},{\"");
        put_many(&body, 'n', n);
        buf_puts(&body, "\":2}]");
        struct table_copy t = table_read_cut(&options, body.data, body.size, NULL, 0);
        assert_true(t.well);
        assert_int_equal(t.sum.n_rows, n == TABLE_MAX_NAME ? 2 : 1);
        table_done(&t);
        buf_done(&body);
    }
}

/* ---- cells ---- */
static void test_cells(void **state) {
    static const struct {
        const struct format *format;
        const char *before, *after;
    } tables[] = {{&format_csv, "a,b\n", ",2\n"},
                  {&format_csv, "a,b\n\"", "\",2\n"},
                  {&format_tsv, "a\tb\n", "\t2\n"},
                  {&format_json, "[{\"a\":\"", "\",\"b\":2}]"},
                  {&format_ndjson, "[\"", "\",2]\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (size_t n = TABLE_MAX_CELL; n <= TABLE_MAX_CELL + 1; n++) {
            struct buf body = {0};
            buf_puts(&body, tables[i].before);
            put_many(&body, 'c', n);
            buf_puts(&body, tables[i].after);
            if (n == TABLE_MAX_CELL) {
                read_check(&body, tables[i].format, 2);
            } else {
                refused_check(&body, tables[i].format, "cell is longer than 1048576 bytes");
            }
            buf_done(&body);
        }
    }
}

/* ---- rows ---- */
/* Appends cells that have n bytes together and at most TABLE_MAX_CELL each, with `between` between
 * them. */
static void put_row(struct buf *out, size_t n, const char *before, const char *between,
                    const char *after) {
    buf_puts(out, before);
    for (size_t left = n; left > 0;) {
        const size_t size = left < TABLE_MAX_CELL ? left : TABLE_MAX_CELL;
        put_many(out, 'r', size);
        left -= size;
        buf_puts(out, left > 0 ? between : "");
    }
    buf_puts(out, after);
}

/* The length of a CSV row includes its delimiters. */
static void test_rows_of_csv(void **state) {
    const size_t most = TABLE_MAX_ROW - (TABLE_MAX_ROW / TABLE_MAX_CELL - 1);
    (void)state;
    for (size_t n = most; n <= most + 1; n++) {
        struct buf body = {0};
        put_row(&body, n, "", ",", "\n");
        const struct table_options options = {.format = &format_csv, .header = TABLE_HEADER_NO};
        struct table_copy t = table_read_cut(&options, body.data, body.size, NULL, 0);
        assert_int_equal(t.well, n == most);
        if (n > most) {
            assert_non_null(strstr(buf_cstr(&t.problem_text), "row is longer than 16 MiB"));
        }
        table_done(&t);
        buf_done(&body);
    }
}

/* The length of a JSON row is that of the texts of its cells. */
static void test_rows_of_json(void **state) {
    (void)state;
    for (size_t n = TABLE_MAX_ROW; n <= TABLE_MAX_ROW + 1; n++) {
        struct buf body = {0};
        put_row(&body, n, "[\"", "\",\"", "\"]\n");
        if (n == TABLE_MAX_ROW) {
            read_check(&body, &format_ndjson, TABLE_MAX_ROW / TABLE_MAX_CELL);
        } else {
            refused_check(&body, &format_ndjson, "row 1 is longer than 16777216 bytes");
        }
        buf_done(&body);
    }
}

/* The length of an ARFF row is that of the whole line. */
static void test_rows_of_arff(void **state) {
    (void)state;
    for (size_t n = TABLE_MAX_ROW; n <= TABLE_MAX_ROW + 1; n++) {
        struct buf body = {0};
        buf_puts(&body, "@attribute a numeric\n@data\n1 %");
        put_many(&body, 'r', n - 3);
        buf_putc(&body, '\n');
        if (n == TABLE_MAX_ROW) {
            read_check(&body, &format_arff, 1);
        } else {
            refused_check(&body, &format_arff, "line is longer than 16777216 bytes");
        }
        buf_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_keys_of_skipped_rows),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_rows_of_csv),
        cmocka_unit_test(test_rows_of_json),
        cmocka_unit_test(test_rows_of_arff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
