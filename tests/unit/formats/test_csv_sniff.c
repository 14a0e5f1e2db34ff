/* Tests how the delimiter and the header of a CSV file are determined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/csv/csv_sniff.h"

#include <string.h>

static struct csv_sample sample_of(const char *body) {
    return (struct csv_sample){.bytes = body, .n = strlen(body), .whole = true};
}

static void check_delimiter(const char *body, char expected) {
    const struct csv_sample sample = sample_of(body);
    assert_int_equal(csv_sniff_delimiter(&sample, NULL), expected);
}

static void test_delimiter(void **state) {
    (void)state;
    check_delimiter("a,b\n1,2\n", ',');
    check_delimiter("a;b\n1,5;2,5\n2,5;1\n", ';');
    check_delimiter("a\tb\nx, y\tz\n1\t2, 3, 4\n", '\t');
    check_delimiter("a|b|c\n1|2|3\n", '|');
    check_delimiter("a b\tc d\nx, y\tz, w\n", '\t');
    check_delimiter("name,notes\n\"x;y\",\"a;b;c\"\n\"u;v\",\"d\"\n", ',');
    check_delimiter("one\ntwo\nthree\n", ',');
    check_delimiter("", ',');
    /* one row of another length does not change the delimiter */
    check_delimiter("a,b,c\n1,2,3\n4,5\n6,7,8\n", ',');
    check_delimiter("a,b;c\n1,2;3\n", ',');
    struct csv_sample sample = sample_of("a,b\n1,2\n3");
    struct csv_shape shape;
    sample.whole = false;
    csv_sniff_delimiter(&sample, &shape);
    assert_int_equal(shape.rows, 2); /* the third row is not complete */
    assert_int_equal(shape.cells, 2);
    sample.whole = true;
    csv_sniff_delimiter(&sample, &shape);
    assert_int_equal(shape.rows, 3);
}

/* Runs of blanks are the last choice: all rows must have the same number of cells. */
static void test_blanks(void **state) {
    (void)state;
    check_delimiter("1 2 3\n4 5 6\n", ' ');
    check_delimiter("  1   2\t3 \n 4 5  6", ' ');
    check_delimiter("1 \"a, b\" 3\n4 c 6\n", ' ');
    check_delimiter("1 a,b 3\n4 c 6\n", ',');
    check_delimiter("a b\n1\n2\n", ',');
    check_delimiter("1 2 3\n4 5\n", ',');
    check_delimiter("x y\n1,5 2\n2,5 3\n", ' ');
    check_delimiter("a day\n1 May,5\n2 May,6\n", ',');
    check_delimiter("2020-01-01 10:00,5\n2020-01-02 11:00,6\n", ',');
    check_delimiter("Ann Lee,5\nBob Ray,6\n", ',');
    /* in auto-mpg.data a tab is before the last cell only */
    check_delimiter("18.0   8   307.0  70  1\t\"chevrolet chevelle\"\n"
                    "15.0   8   350.0  70  1\t\"buick skylark 320\"\n",
                    ' ');
    check_delimiter("First Last\t5\nAnn Lee\t6\n", '\t');
    /* decimal commas: the comma leaves two numbers in a cell, and at least three cells */
    check_delimiter("1,5 2,5 3,5\n4,5 5,5 6,5\n", ' ');
    check_delimiter("2020 01,5\n2020 02,7\n", ',');
    check_delimiter("1,52.1 13.4,5\n2,53.1 13.5,6\n", ',');
    check_delimiter("# of no use\n1 2\n3 4\n", ' ');
    check_delimiter("# one\n# two\n", ',');
}

static void check_title(const char *body, char delimiter, int64_t table, size_t cells,
                        size_t below) {
    struct csv_sample sample = sample_of(body);
    struct csv_shape shape;
    assert_int_equal(csv_sniff_delimiter(&sample, &shape), delimiter);
    assert_int_equal(shape.title.table, table);
    assert_int_equal(shape.title.cells, cells);
    assert_int_equal(shape.title.below, below);
    if (table > 0) { /* without these lines there is no title */
        sample.skip = table - 1;
        assert_int_equal(csv_sniff_delimiter(&sample, &shape), delimiter);
        assert_int_equal(shape.title.line, 0);
        assert_int_equal(shape.cells, below);
    }
}

static void test_titles(void **state) {
    (void)state;
    check_title("Title\na,b\n1,2\n", ',', 2, 1, 2);
    check_title("Title, of all\n\na;b;c\n1;2;3\n4;5;6\n", ';', 3, 1, 3);
    check_title("One\nTwo\na,b\n1,2\n3,4\n", ',', 3, 1, 2);
    check_title("a,b\n1,2,3\n4,5,6\n", ',', 2, 2, 3);
    check_title("Title\na,b\n", ';', 0, 0, 0);         /* one row is no evidence */
    check_title("Title\na,b\n1,2\n3\n", ';', 0, 0, 0); /* not all rows below have two cells */
    check_title("a,b\nc,d\n1,2,3\n4,5,6\n7,8,9\n", ',', 0, 0, 0);
    check_title("a,b,c\n1,2\n3,4\n", ',', 0, 0, 0);
    check_title("text\ngood film\nbad film\n", ',', 0, 0, 0);
    check_title("the table\n1 2 3\n4 5 6\n", ' ', 2, 2, 3);
    check_title("film\n1 2 a\n4 5 b\n", ' ', 2, 1, 3);
    check_title("film\n1 b a\n4 c b\n", ',', 0, 0, 0); /* few numbers below */
}

static void check_shape(const char *body, char comment, char delimiter, size_t rows, size_t cells) {
    struct csv_sample sample = sample_of(body);
    struct csv_shape shape;
    sample.comment = comment;
    assert_int_equal(csv_sniff_delimiter(&sample, &shape), delimiter);
    assert_int_equal(shape.rows, rows);
    assert_int_equal(shape.cells, cells);
}

/* Lines that begin with # are rows if they have as many cells as the first row that does not begin
 * with #. */
static void test_comments(void **state) {
    (void)state;
    check_shape("# made by; hand; today; with care\na,b\n1,2\n# one\n3,4\n", '\0', ',', 3, 2);
    check_shape("#,name,type\n1,x,y\n2,u,v\n", '\0', ',', 3, 3);
    check_shape("#a;1\n#b;2\n", '\0', ';', 0, 2); /* there are no other rows */
    check_shape("; a,b,c\n1,2\n3,4\n", ';', ',', 2, 2);
    check_shape("%;;;;\n%;;;;\na,b\n1,2\n", '%', ',', 2, 2);
    check_shape("# a;b\n1;2\n", '%', ';', 2, 2); /* the comment character is %, so # begins a row */
}

static struct csv_header header_of(const char *body) {
    struct missing missing;
    struct problem problem = {0};
    struct csv_header found = {0};
    assert_true(missing_init(&missing, NULL, &problem));
    const struct csv_sample sample = sample_of(body);
    struct csv_shape shape;
    csv_sniff_shape(&sample, ',', &shape);
    assert_true(csv_sniff_header(&sample, ',', shape.cells, &missing, NULL, &found));
    return found;
}

static void check_found(const char *body, bool header, bool doubtful) {
    const struct csv_header found = header_of(body);
    if (found.header != header || found.doubtful != doubtful) {
        fail_msg("header %d, doubtful %d: %s", found.header, found.doubtful, body);
    }
}

static void check_header(const char *body, bool expected) {
    check_found(body, expected, false);
}

/* First rows that contain numbers or tokens for missing cells. */
static void test_doubtful_headers(void **state) {
    (void)state;
    check_found("id,2020,2021\n1,2,3\n", true, true);
    check_found("id,2020,2021\n1,2,3\n2,,4\n", true, true);
    check_found("label,0,1,2\ncat,1,2,3\n", false, true); /* no column has a word above numbers */
    check_found("name,2020,2021\nfoo,2,3\n", false, true);
    check_found("a,NA,?\n1,2,3\n", false, true);
    check_found("a,,7\n1,2,3\n", false, true);
    check_found("id,2020,2020\n1,2,3\n", false, false); /* the first row has a number twice */
    check_found("id,2,3\n1,2,4\n", false, false);       /* the column has the number again */
    check_found("id,20.5,3\n1,2,4\n", false, false);    /* names do not have fractions */
    check_found("id,-2,3\n1,2,4\n", false, false);
    check_found("id,true,3\n1,false,4\n", false, false);
    check_found("150,4,setosa\n5.1,3.5,0\n", true, true);
    check_found("setosa,1\nvirginica,2\nsetosa,3\n", false, false);
    check_found("alice,30\nbob,31\n", false, true);
}

static void test_header(void **state) {
    (void)state;
    check_header("sepal_length,species\n5.1,setosa\n4.9,setosa\n", true);
    check_header("5.1,setosa\n4.9,setosa\n", false);
    check_header("1,2,3\n4,5,6\n", false);
    check_header("type,cap_shape\np,x\ne,x\np,b\n", true);
    /* the texts of the first row occur again in their columns */
    check_header("p,x\ne,x\np,b\n", false);
    check_header("p,p\ne,x\n", false); /* the first row has a text twice */
    /* above numbers, the texts are names; that they are equal is reported as a fault later */
    check_header("a,a\n1,2\n", true);
    check_header(",x,y\n0,1.5,2\n1,2.5,3\n", true); /* the column of row numbers has no name */
    check_found(",x\nb,c\n", false, true);
    check_header("survived,name\n0,Braund\n1,Cumings\n", true);
    /* a token for missing occurs in data only */
    check_found("?,a\nb,c\n", false, true);
    check_header("yes,flag\nTRUE,x\nFALSE,y\n", true); /* booleans below words */
    /* several files joined, each with its header */
    check_header("id,name\n1,x\n2,y\nid,name\n3,z\n", true);
    check_header("u,v\nx,y\nu,v\nz,w\n", false); /* rows of words that occur again are data */
    check_header("u\n1\nu\n2\n", false);
    check_header("u,1\n2,3\nw,1\n", false);
    check_header("true,x\nfalse,y\n", false);
    check_header("alice\nbob\ncarol\n", true); /* nothing indicates that the first row is data */
    check_header("ham,Go until\nspam,Free\nham,Ok\n", false);
    check_header("a,b,c\n", true);
    check_header("1,2\n", false);
    check_header("x,y\n,\n?,NA\n", true);
    check_header("", false);
    check_header("a\nNaN\n1\n", true);
}

static void check_several(const char *body, size_t expected) {
    assert_int_equal(header_of(body).several, expected);
}

static void test_several_header_lines(void **state) {
    (void)state;
    check_several("size,size,kind\nmm,inch,\n1,2,a\n3,4,b\n5,6,a\n", 2);
    check_several("a,b\nof,it\nmm,\n1,a\n3,b\n5,c\n", 3);
    check_several("size,kind\nmm,x\n1,a\n,b\nNA,c\n", 2);        /* cells may be missing */
    check_several("size,kind\nmm,x\n1,a\n2,b\n", 0);             /* two rows are too few */
    check_several("size,kind\n1,a\n2,b\n3,c\n", 0);              /* one header line */
    check_several("size,kind\nmm,x\n1,a\nlow,b\n3,c\n4,d\n", 0); /* a word below */
    check_several("2020,kind\nmm,x\n1,a\n2,b\n3,c\n", 0);        /* a number in the first row */
    check_several("a,b\nmm,5\n1,6\n2,7\n3,8\n", 0);              /* a number in the second row */
    check_several("x,y\np,q\nu,v\nw,z\n", 0);                    /* no numbers */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_delimiter),
                                       cmocka_unit_test(test_blanks),
                                       cmocka_unit_test(test_titles),
                                       cmocka_unit_test(test_comments),
                                       cmocka_unit_test(test_header),
                                       cmocka_unit_test(test_doubtful_headers),
                                       cmocka_unit_test(test_several_header_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
