/* Tests of numeric columns that pass through the stage (table_builder.h). Whatever other cells a
 * column has, each cell is stored with its text as written and with its value. */
#include "table_helper.h"

#include <math.h>

enum { ROWS = 200, ODD = 4 };

/* A column of numbers with a fixed number of decimals, and some other cells. */
struct column_of_cells {
    int decimals; /* number of decimals; -1: canonical */
    bool negative;
    struct {
        int row;
        const char *cell;
    } odd[ODD]; /* the other cells; the first element without a cell ends the list */
    int kept;   /* number of texts that the chunk keeps; -1: not checked */
};

static const struct column_of_cells columns[] = {
    {.decimals = 5},
    {.decimals = 2, .negative = true},
    {.decimals = 1},
    {.decimals = 0},
    {.decimals = -1, .kept = -1},
    {.decimals = 5, .odd = {{0, "0.68750"}}},
    {.decimals = 5, .odd = {{0, "0.12345"}, {1, "0.50000"}}},
    /* the first padded number is in a late row */
    {.decimals = -1, .odd = {{0, "0.12345"}, {150, "0.50000"}}, .kept = -1},
    {.decimals = 0, .odd = {{70, "1.50"}, {71, "1.5"}, {72, "2.00"}}, .kept = 2},
    {.decimals = 2, .odd = {{0, "7.25"}, {80, "7"}, {81, "7.5"}, {82, "7.500"}}, .kept = 3},
    {.decimals = 2, .odd = {{0, "7.50"}, {80, "7"}, {81, "7.5"}, {82, "7.500"}}, .kept = 3},
    {.decimals = 2, .odd = {{0, "7"}, {1, "7.50"}, {2, "7.25"}}, .kept = -1},
    {.decimals = 3, .odd = {{63, "-0.000"}, {64, "-0"}, {65, "0.1250"}, {66, "0.0625"}}, .kept = 2},
    {.decimals = 3, .odd = {{0, "1e-7"}, {64, "1e-7"}, {65, "1e5"}, {66, "2.5e-10"}}, .kept = 1},
    {.decimals = 4, .odd = {{0, ""}, {63, "NA"}, {64, ""}, {130, "?"}}},
    {.decimals = 4, .odd = {{0, "007"}, {90, "+5.0000"}, {91, ".5000"}}, .kept = -1},
    {.decimals = 4,
     .odd = {{90, "+5.0000"}, {91, ".5000"}, {92, "00.5000"}, {93, "0.00000010"}},
     .kept = 4},
    {.decimals = -1,
     .odd = {{0, ""}, {1, "0.3594"}, {2, "12345678901234.50"}, {3, "0.3"}},
     .kept = -1}, /* row 2 determines the padding; the CSV reader takes its 16 digits as a text */
    {.decimals = -1, .odd = {{0, "0.35"}, {3, "0.50000000000000000000"}, {4, "0.25"}}, .kept = -1},
    {.decimals = 15,
     .odd = {{0, "0.500000000000000"}, {1, "0.123456789012345"}, {2, "0.1234567890123450"}},
     .kept = -1},
    {.decimals = 2,
     .odd = {{0, "0.50000000000000000000000000000000"}, {1, "0.500000000000000000000000000000000"}},
     .kept = -1}, /* 32 and 33 decimals */
};

static void put_cell(const struct column_of_cells *c, int row, char out[64]) {
    for (int k = 0; k < ODD && c->odd[k].cell != NULL; k++) {
        if (c->odd[k].row == row) {
            snprintf(out, 64, "%s", c->odd[k].cell);
            return;
        }
    }
    const double value = (double)((row * 7919 + 13) % 10007) / (c->decimals < 0 ? 8 : 1000) *
                         (c->negative && row % 2 == 1 ? -1 : 1);
    if (c->decimals >= 0) {
        snprintf(out, 64, "%.*f", c->decimals, value);
    } else {
        dn_number_format(value, out);
    }
}

static bool is_missing(const char *cell) {
    return strcmp(cell, "") == 0 || strcmp(cell, "NA") == 0 || strcmp(cell, "?") == 0;
}

/* Checks the cells of a chunk decoded as text and, if no cell made the column a text column, as
 * numbers. falls: the row whose cell is "word"; -1: there is none. */
static void check_cells(const struct column_of_cells *c, const struct table_blob *blob, int falls) {
    dn_column_chunk *chunk = NULL;
    dn_column_view view;
    assert_int_equal(dn_column_chunk_new(&chunk, NULL), DN_OK);
    assert_int_equal(dn_column_chunk_decode(chunk, blob->bytes, blob->size, DN_TEXT, &view, NULL),
                     DN_OK);
    assert_int_equal(view.n_rows, ROWS);
    for (int i = 0; i < ROWS; i++) {
        char cell[64];
        put_cell(c, i, cell);
        const char *expected = i == falls ? "word" : cell;
        if (is_missing(expected)) {
            assert_int_equal(view.code[i], DN_CODE_MISSING);
            continue;
        }
        const uint32_t from = view.strings.start[view.code[i]],
                       n = view.strings.start[view.code[i] + 1] - from;
        if (n != strlen(expected) || memcmp(view.strings.bytes + from, expected, n) != 0) {
            fail_msg("row %d: \"%s\" came back as \"%.*s\"", i, expected, (int)n,
                     view.strings.bytes + from);
        }
    }
    if (falls < 0) {
        assert_int_equal(dn_column_chunk_decode(chunk, blob->bytes, blob->size, DN_NUMERIC, &view,
                                                NULL),
                         DN_OK);
    }
    for (int i = 0; i < ROWS && falls < 0; i++) {
        char cell[64];
        double number = (double)NAN;
        put_cell(c, i, cell);
        assert_true(dn_number_parse(cell, strlen(cell), &number) || is_missing(cell));
        assert_true(isnan(number) ? isnan(view.number[i])
                                  : memcmp(&view.number[i], &number, sizeof number) == 0);
    }
    dn_column_chunk_free(chunk);
}

/* Checks the number of texts that a chunk of decimal fractions keeps. If it keeps none, it has only
 * the numbers. */
static void check_kept(const struct column_of_cells *c, const struct table_blob *blob) {
    const unsigned char *bytes = blob->bytes;
    if (c->kept >= 0) {
        assert_int_equal(bytes[12] | bytes[13] << 8, c->kept);
        assert_true(c->kept > 0 || c->decimals == 0 || blob->size == 16 + 8 * ROWS);
    }
}

static void check_table(const size_t *column, size_t n_columns, int falls) {
    struct buf body = {0};
    for (size_t j = 0; j < n_columns; j++) {
        buf_printf(&body, "%sc%zu", j > 0 ? "," : "", j);
    }
    for (int i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < n_columns; j++) {
            char cell[64];
            put_cell(&columns[column[j]], i, cell);
            buf_printf(&body, "%c%s", j > 0 ? ',' : '\n',
                       i == falls                          ? "word"
                       : n_columns == 1 && cell[0] == '\0' ? "null"
                                                           : cell);
        }
    }
    struct table_copy t =
        table_read_options(&(struct table_options){.header = TABLE_HEADER_YES, .delimiter = ','},
                           buf_cstr(&body));
    assert_true(t.well);
    assert_int_equal(t.n_chunks, 1);
    for (size_t j = 0; j < n_columns; j++) {
        check_cells(&columns[column[j]], &t.blobs[j], falls);
        if (falls < 0) {
            check_kept(&columns[column[j]], &t.blobs[j]);
        }
    }
    table_done(&t);
    buf_done(&body);
}

enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static void test_a_column_alone(void **state) {
    static const int falls[] = {-1, 0, 1, 30, 63, 64, 65, 100, ROWS - 1};
    (void)state;
    for (size_t j = 0; j < N_COLUMNS; j++) {
        for (size_t k = 0; k < sizeof falls / sizeof falls[0]; k++) {
            check_table(&j, 1, falls[k]);
        }
    }
}

static void test_columns_together(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 60; round++) {
        size_t column[30];
        const size_t n = 1 + cells_random(&seed) % 30;
        for (size_t j = 0; j < n; j++) {
            column[j] = cells_random(&seed) % N_COLUMNS;
        }
        check_table(column, n, round % 2 == 0 ? -1 : (int)(cells_random(&seed) % ROWS));
    }
}

/* Columns of the stored table that the body does not have get missing cells, though all cells of
 * the body are numbers. */
static void test_append_without_a_column(void **state) {
    (void)state;
    struct table_copy t = cells_read("a,b,c\n1,2,3\n4,5,6\n");
    struct problem problem = {0};
    struct table_summary sum;
    const struct table_sink sink = {table_sink_chunk, table_sink_reread, &t};
    const struct table_stored stored = {.columns = t.columns,
                                        .notes = t.notes,
                                        .n_rows = 2,
                                        .n_chunks = 1};
    struct table *reader = table_new_onto(&(struct table_options){0}, &stored, &sink, &problem);
    const char *body = "a,c\n7,9.50\n8,10.25\n9,11.50\n";
    assert_non_null(reader);
    assert_true(table_feed(reader, body, strlen(body), &problem));
    assert_true(table_end(reader, &sum, &problem));
    assert_int_equal(sum.n_rows, 5);
    free(t.columns);
    t.columns = strdup(sum.columns);
    struct buf rows = {0};
    table_rows(&t, &format_csv, true, &rows);
    assert_string_equal(buf_cstr(&rows), "a,b,c\n1,2,3\n4,5,6\n7,,9.50\n8,,10.25\n9,,11.50\n");
    buf_done(&rows);
    table_free(reader);
    table_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_column_alone),
        cmocka_unit_test(test_columns_together),
        cmocka_unit_test(test_append_without_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
