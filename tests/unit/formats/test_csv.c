/* Tests of the CSV reader: cells, quotes, places of faults; the result must not depend on where the
 * input is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json_write.h"
#include "base/memory/buf.h"
#include "formats/csv/csv.h"
#include <discern/table.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Appends a row as "line: [cell][cell]", with the value of each number; put_fault appends a fault
 * as "fault line:column text". */
static bool put_row(void *arg, const struct csv_row *row) {
    struct buf *out = arg;
    buf_printf(out, "%" PRId64 ": ", row->line);
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct csv_cell *cell = &row->cells[i];
        const char *text = csv_cell_text(row, cell);
        int64_t line = 0, column = 0;
        double number = 0;
        csv_cell_place(row, i, &line, &column);
        assert_true(line >= row->line && column >= 1);
        buf_putc(out, '[');
        if (cell->quoted) {
            json_escape(out, text, cell->length);
        } else {
            buf_append(out, text, cell->length);
        }
        if (cell->kind != CSV_TEXT) { /* the cell's text must have the same value, and the kind must
                                       * be canonical only if the text is canonical */
            char form[DN_NUMBER_SIZE];
            assert_true(dn_number_parse(text, cell->length, &number));
            assert_memory_equal(&number, &cell->number, sizeof number);
            const size_t n = dn_number_format(number, form);
            const bool canonical = cell->kind >= CSV_CANONICAL && cell->kind < CSV_PADDED;
            assert_int_equal(row->common & ~cell->kind, 0);
            if (canonical) {
                assert_true(n == cell->length && memcmp(form, text, n) == 0);
            }
            buf_putc(out, canonical ? '#' : '~');
        }
        buf_putc(out, ']');
    }
    buf_putc(out, '\n');
    return true;
}

static void put_fault(void *arg, int64_t line, int64_t column, bool fatal, const char *text) {
    buf_printf(arg, "%s %" PRId64 ":%" PRId64 " %s\n", fatal ? "fatal" : "fault", line, column,
               text);
}

static void read_cut(char delimiter, const char *body, size_t size, const size_t *cut,
                     size_t n_cuts, struct buf *out) {
    struct csv csv;
    size_t at = 0;
    csv_init(&csv, delimiter, 100, 6, &(struct csv_handler){put_row, put_fault, out});
    for (size_t i = 0; i <= n_cuts; i++) {
        const size_t upto = i < n_cuts ? cut[i] : size;
        char *piece = malloc(upto - at + 1);
        assert_non_null(piece);
        memcpy(piece, body + at, upto - at);
        csv_feed(&csv, piece, upto - at);
        free(piece);
        at = upto;
    }
    csv_end(&csv);
    assert_false(csv.no_memory);
    csv_done(&csv);
}

static void check_n(char delimiter, const char *body, size_t size, const char *expected) {
    struct buf out = {0};
    read_cut(delimiter, body, size, NULL, 0, &out);
    assert_string_equal(buf_cstr(&out), expected);
    for (size_t cut = 0; cut <= size; cut++) { /* one cut, at each offset */
        buf_clear(&out);
        read_cut(delimiter, body, size, &cut, 1, &out);
        assert_string_equal(buf_cstr(&out), expected);
    }
    size_t every[512];
    assert_true(size < 512);
    for (size_t i = 0; i < size; i++) {
        every[i] = i;
    }
    buf_clear(&out);
    read_cut(delimiter, body, size, every, size, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

static void check(char delimiter, const char *body, const char *expected) {
    check_n(delimiter, body, strlen(body), expected);
}

/* A body, and the cells and faults that are read. */
struct csv_case {
    char delimiter;
    const char *body, *expected;
};

static void check_all(const struct csv_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        check(cases[i].delimiter, cases[i].body, cases[i].expected);
    }
}

/* Runs of blanks: those at the ends of a line are no cells. */
static void test_blanks(void **state) {
    (void)state;
    static const struct csv_case cases[] = {
        {' ', "a b\n1 2.50\n", "1: [a][b]\n2: [1#][2.50~]\n"},
        {' ', "  1   2\t \t-3  \n4 5\t6", "1: [1#][2#][-3#]\n2: [4#][5#][6#]\n"},
        {' ', "\n \t \n a \r\n\r\n b c \r d", "3: [a]\n5: [b][c]\n6: [d]\n"},
        {' ', " \t", ""},
        {' ', "1 \"New  York\" x\n\"a\"\"b\"\t7\n",
         "1: [1#][\"New  York\"][x]\n"
         "2: [\"a\\\"b\"][7#]\n"},
        {' ', "5\" a,b;c|d\n", "1: [5\"][a,b;c|d]\n"},
        /* the limit of this reader is six cells: blanks after the sixth are none */
        {' ', "1 2 3 4 5 6  \n", "1: [1#][2#][3#][4#][5#][6#]\n"},
        {' ', "1 2 3 4 5 6 7\n", "fatal 1:13 row has more than 6 cells\n"},
        {' ', "a \"b\n c\"d e\n1 2\n",
         "fault 2:4 text after a closing quote: quotes within a quoted cell are doubled\n"
         "1: [a][\"b\n c\"d][e]\n3: [1#][2#]\n"},
        {' ', "a \"b\n", "fatal 1:3 the quote is not closed\n"},
    };
    check_all(cases, sizeof cases / sizeof *cases);
}

/* The first lines are skipped, with any quotes and however long they are. Reads the body in pieces
 * of each length. */
static void check_skipped(int64_t lines, const char *body, const char *expected) {
    const size_t size = strlen(body);
    for (size_t piece = 1; piece <= size; piece++) {
        struct buf out = {0};
        struct csv csv;
        csv_init(&csv, ',', 100, 6, &(struct csv_handler){put_row, put_fault, &out});
        csv_skip(&csv, lines);
        for (size_t at = 0; at < size; at += piece) {
            csv_feed(&csv, body + at, size - at < piece ? size - at : piece);
        }
        csv_end(&csv);
        csv_done(&csv);
        assert_string_equal(out.size > 0 ? buf_cstr(&out) : "", expected);
        buf_done(&out);
    }
}

static void test_skipped(void **state) {
    (void)state;
    check_skipped(0, "a,b\n1,2\n", "1: [a][b]\n2: [1#][2#]\n");
    check_skipped(1, "My \"title\na,b\n1,2\n", "2: [a][b]\n3: [1#][2#]\n");
    check_skipped(3, "x\r\n\r\n\"y\r\na,b\r\n", "4: [a][b]\n");
    check_skipped(2, "x\r\ra,b\r", "3: [a][b]\n");
    check_skipped(1,
                  "\xEF\xBB\xBF"
                  "x\na\n",
                  "2: [a]\n");
    check_skipped(1, "x,1,2,3,4,5,6,7,8\na\n", "2: [a]\n");
    check_skipped(2, "a\nb\n", "");
    check_skipped(9, "a\nb", "");
}

static void test_plain(void **state) {
    (void)state;
    static const struct csv_case cases[] = {
        {',', "a,b\n1,2.50\n", "1: [a][b]\n2: [1#][2.50~]\n"},
        {',', "a,b\r\nx,-7", "1: [a][b]\n2: [x][-7#]\n"},
        {',', "a\rb\rc", "1: [a]\n2: [b]\n3: [c]\n"},
        {',', "a,\n,b\n,\n", "1: [a][]\n2: [][b]\n3: [][]\n"},
        {',', "a,b,", "1: [a][b][]\n"},
        {',', "\n\na\n\r\n\nb\n\n", "3: [a]\n6: [b]\n"},
        {',', "", ""},
        {',', "\n", ""},
        {';', "1,5;2\n", "1: [1,5][2#]\n"},
        {'\t', "a b\tc\n", "1: [a b][c]\n"},
        {',',
         "\xEF\xBB\xBF"
         "a,b\n",
         "1: [a][b]\n"},
        {',', "caf\xC3\xA9,\xF0\x9F\x98\x80\n", "1: [caf\xC3\xA9][\xF0\x9F\x98\x80]\n"},
        {',', "5\" pipe,a\"b\n", "1: [5\" pipe][a\"b]\n"},
        {',', "1e5,.5,5.,+3,0x1,1.2.3\n", "1: [1e5][.5][5.][+3][0x1][1.2.3]\n"},
        {',', "123456789012345678,0.12345678901234567,-0\n",
         "1: [123456789012345678][0.12345678901234567][-0#]\n"},
    };
    check_all(cases, sizeof cases / sizeof *cases);
}

static void test_quotes(void **state) {
    (void)state;
    static const struct csv_case cases[] = {
        {',', "\"a\",\"b,c\",\"\"\n", "1: [\"a\"][\"b,c\"][\"\"]\n"},
        {',', "\"a\"\"b\",\"\"\"\"\n", "1: [\"a\\\"b\"][\"\\\"\"]\n"},
        {',', "\"two\nlines\",x\ny\n", "1: [\"two\\nlines\"][x]\n3: [y]\n"},
        {',', "\"two\r\nlines\r\",x\r\ny", "1: [\"two\\r\\nlines\\r\"][x]\n4: [y]\n"},
        {',', "\"1\",2", "1: [\"1\"][2#]\n"},
        {',', "a,\"b\"", "1: [a][\"b\"]\n"},
        {',', "\"\"", "1: [\"\"]\n"},
    };
    check_all(cases, sizeof cases / sizeof *cases);
}

static void test_tab_separated_quotes(void **state) {
    (void)state;
    static const struct csv_case cases[] = {
        {'\t', "\"a b\"\t\"c\td\"\n", "1: [\"a b\"][\"c\\td\"]\n"},
        {'\t', "\"Hi\" he said\tx\n", "1: [\"Hi\" he said][x]\n"},
        {'\t', "\"never closed\tx\ny\tz\n", "1: [\"never closed][x]\n2: [y][z]\n"},
        {'\t', "a\t\"never\"\"closed\nb\tc", "1: [a][\"never\"\"closed]\n2: [b][c]\n"},
        {'\t', "a\t\"", "1: [a][\"]\n"},
        {'\t', "\"a\t\"\"\t\"\"\tb\n", "1: [\"a][\"\"][\"\"][b]\n"},
    };
    check_all(cases, sizeof cases / sizeof *cases);
}

static void test_faults(void **state) {
    (void)state;
    check(',', "a,b\n1,\"x\ny\n", "1: [a][b]\nfatal 2:3 the quote is not closed\n");
    check(',', "\"a\"b,c\nd,e\n",
          "fault 1:4 text after a closing quote: quotes within a quoted cell are doubled\n1: "
          "[\"a\"b][c]\n2: [d][e]\n");
    check_n(',', "a,b\nc\0,d\n", 9, "1: [a][b]\nfatal 2:2 NUL byte\n");
    static const struct csv_case cases[] = {
        {',', "a\n\xC3\xA9\xFFz\nb\n", "1: [a]\nfatal 2:3 invalid UTF-8\n"},
        {',', "a\nb\xE2\x82", "1: [a]\nfatal 2:2 invalid UTF-8\n"},
        {',', "a\nb\xE2\x82,c\n", "1: [a]\nfatal 2:2 invalid UTF-8\n"},
        {',', "\xED\xA0\x80\n", "fatal 1:1 invalid UTF-8\n"},
        {',', "a\ncaf\xE9,b\n",
         "1: [a]\nfatal 2:4 invalid UTF-8: if the body is Windows-1252 or Latin-1, add the "
         "parameter encoding=windows-1252\n"},
        {',', "a\n\x93x\x94\n",
         "1: [a]\nfatal 2:1 invalid UTF-8: if the body is Windows-1252 or Latin-1, add the "
         "parameter encoding=windows-1252\n"},
        {',', "1,2,3,4,5,6\n1,2,3,4,5,6,7\n",
         "1: [1#][2#][3#][4#][5#][6#]\nfatal 2:13 row has more than 6 cells\n"},
        {',', "a,b,c,d,e,f\na,b,c,d,e,\"f\",7\n",
         "1: [a][b][c][d][e][f]\nfatal 2:15 row has more than 6 cells\n"},
    };
    check_all(cases, sizeof cases / sizeof *cases);
}

static void test_long_cells(void **state) {
    (void)state;
    char body[512], expected[640];
    const struct {
        size_t length; /* of the cell; the reader of these tests allows 100 */
        bool quoted;
    } cases[] = {{100, false}, {101, false}, {100, true}, {101, true}, {300, false}, {300, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char cell[400];
        memset(cell, 'x', cases[i].length);
        cell[cases[i].length] = '\0';
        const char *quote = cases[i].quoted ? "\"" : "";
        snprintf(body, sizeof body, "a,b\n1,%s%s%s,2\n", quote, cell, quote);
        if (cases[i].length <= 100) {
            snprintf(expected, sizeof expected, "1: [a][b]\n2: [1#][%s%s%s][2#]\n", quote, cell,
                     quote);
        } else {
            snprintf(expected, sizeof expected,
                     "1: [a][b]\nfatal 2:3 cell is longer than 100 bytes%s\n",
                     cases[i].quoted ? ": perhaps its quote is not closed" : "");
        }
        check(',', body, expected);
    }
}

/* Reads random bodies in random pieces. The result must be the same as for the body in one piece.
 * The bodies are longer than the blocks in which the scanner works. */
static void test_cuts_never_show(void **state) {
    static const char *const bits[] = {"a",     "12",         "-0.5",
                                       ",",     ",",          ",",
                                       "\n",    "\n",         "\r\n",
                                       "\r",    "\"",         "\"\"",
                                       "\"x\"", "\t",         "\xC3\xA9",
                                       " ",     "1234567.75", "some longer text in a cell"};
    (void)state;
    uint64_t seed = 7;
    for (int k = 0; k < 4000; k++) {
        struct buf body = {0}, whole = {0}, cut = {0};
        const char delimiter = ",\t"[next(&seed) % 2];
        /* two of three bodies have no quotes, since a stray quote ends most of the others early */
        const uint32_t quotes = next(&seed) % 3;
        for (uint32_t i = 0, n = next(&seed) % 300; i < n; i++) {
            const char *bit = bits[next(&seed) % (sizeof bits / sizeof bits[0])];
            if (bit[0] != '"' || quotes == 0) {
                buf_puts(&body, bit);
            }
        }
        if (k % 50 == 0) {
            buf_puts(&body, "\xFF");
        }
        const size_t n = body.size;
        read_cut(delimiter, n > 0 ? body.data : "", n, NULL, 0, &whole);
        for (int c = 0; c < 8; c++) {
            size_t cuts[64], m = 0;
            const uint32_t step = 1 + next(&seed) % 200;
            for (size_t at = next(&seed) % 20; at < n && m < 64; at += 1 + next(&seed) % step) {
                cuts[m++] = at;
            }
            buf_clear(&cut);
            read_cut(delimiter, n > 0 ? body.data : "", n, cuts, m, &cut);
            assert_string_equal(buf_cstr(&cut), buf_cstr(&whole));
        }
        buf_done(&body);
        buf_done(&whole);
        buf_done(&cut);
    }
}

struct count {
    size_t rows, cells, stop_at;
    double sum;
};

static bool count_row(void *arg, const struct csv_row *row) {
    struct count *count = arg;
    count->rows++;
    count->cells += row->n_cells;
    for (size_t i = 0; i < row->n_cells; i++) {
        count->sum += row->cells[i].number;
    }
    return count->rows != count->stop_at;
}

static void test_wide_and_long(void **state) {
    (void)state;
    struct buf body = {0};
    for (int row = 0; row < 40; row++) { /* rows of about 90 KB, longer than a slice */
        for (int i = 0; i < 16384; i++) {
            buf_printf(&body, "%s%d", i > 0 ? "," : "", (row + i) % 10000);
        }
        buf_putc(&body, '\n');
    }
    double expected = 0;
    for (int row = 0; row < 40; row++) {
        for (int i = 0; i < 16384; i++) {
            expected += (row + i) % 10000;
        }
    }
    struct csv csv;
    struct count count = {0};
    csv_init(&csv, ',', 1 << 20, 16384, &(struct csv_handler){count_row, NULL, &count});
    for (size_t at = 0; at < body.size; at += 1000) {
        assert_true(csv_feed(&csv, body.data + at, body.size - at < 1000 ? body.size - at : 1000));
    }
    assert_true(csv_end(&csv));
    assert_int_equal(count.rows, 40);
    assert_int_equal(count.cells, 40 * 16384);
    assert_true(count.sum == expected);
    csv_done(&csv);
    buf_done(&body);
}

static void test_a_row_has_a_limit(void **state) {
    (void)state;
    struct buf out = {0};
    struct csv csv;
    char piece[64 * 1024];
    memset(piece, ',', sizeof piece);
    csv_init(&csv, ',', 1 << 20, 1 << 30, &(struct csv_handler){put_row, put_fault, &out});
    for (size_t at = 0; at < sizeof piece; at += 8) {
        memset(piece + at, 'x', 7);
    }
    size_t fed = 0;
    while (csv_feed(&csv, piece, sizeof piece) && fed < 64 * 1024 * 1024) {
        fed += sizeof piece;
    }
    assert_string_equal(buf_cstr(&out), "fatal 1:1 row is longer than 16 MiB\n");
    assert_true(fed <= TABLE_MAX_ROW + sizeof piece);
    assert_false(csv_feed(&csv, "x", 1));
    csv_done(&csv);
    buf_done(&out);
}

static void test_the_handler_stops(void **state) {
    (void)state;
    struct csv csv;
    struct count count = {.stop_at = 2};
    csv_init(&csv, ',', 100, 10, &(struct csv_handler){count_row, NULL, &count});
    assert_false(csv_feed(&csv, "1\n2\n3\n4\n", 8));
    assert_false(csv_end(&csv));
    assert_int_equal(count.rows, 2);
    csv_done(&csv);
}

/* Comment lines are skipped before their quotes, delimiters and limits are checked, wherever the
 * input is cut. */
static void check_comments(const char *body, const char *expected, int64_t comments) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct csv csv;
        struct buf out = {0};
        csv_init(&csv, ',', 100, 6, &(struct csv_handler){put_row, put_fault, &out});
        csv.comment = '#';
        if (csv_feed(&csv, body, cut) && csv_feed(&csv, body + cut, strlen(body) - cut)) {
            csv_end(&csv);
        }
        assert_string_equal(out.size > 0 ? buf_cstr(&out) : "", expected);
        assert_int_equal(csv.comments, comments);
        csv_done(&csv);
        buf_done(&out);
    }
}

static void test_comments(void **state) {
    (void)state;
    check_comments(
        "# \"never closed, a,b,c,d,e,f,g,h\na,b\n#\nc,#d\n#e\r\n\"#f\",g\r#h\ri,j\n# end",
        "2: [a][b]\n4: [c][#d]\n6: [\"#f\"][g]\n8: [i][j]\n", 5);
    check_comments("a,\"b\n# not a comment\n\"\n#x", "1: [a][\"b\\n# not a comment\\n\"]\n", 1);
    check_comments(" # a\n", "1: [ # a]\n", 0);
    check_comments("#", "", 1);
    struct buf body = {0}; /* a long comment line is not kept in memory */
    struct csv csv;
    struct buf out = {0};
    buf_puts(&body, "#");
    for (int i = 0; i < 3000000; i++) {
        buf_putc(&body, 'x');
    }
    csv_init(&csv, ',', 100, 6, &(struct csv_handler){put_row, put_fault, &out});
    csv.comment = '#';
    assert_true(csv_feed(&csv, body.data, body.size) && csv_feed(&csv, "\na\n", 3) &&
                csv_end(&csv));
    assert_string_equal(buf_cstr(&out), "2: [a]\n");
    assert_true(csv.in.capacity <= 256 * 1024);
    csv_done(&csv);
    buf_done(&out);
    buf_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_blanks),
                                       cmocka_unit_test(test_skipped),
                                       cmocka_unit_test(test_quotes),
                                       cmocka_unit_test(test_tab_separated_quotes),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_comments),
                                       cmocka_unit_test(test_long_cells),
                                       cmocka_unit_test(test_cuts_never_show),
                                       cmocka_unit_test(test_wide_and_long),
                                       cmocka_unit_test(test_a_row_has_a_limit),
                                       cmocka_unit_test(test_the_handler_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
