/* Tests of on_error=repair: the rows of broken tables, the repairs in the notes, cuts of the
 * body. */
#include "table_helper.h"

static const struct table_options repair = {.on_error = TABLE_REPAIR};

/* Checks the rows of the body, cut at each offset, and that its notes contain `note`. */
static void check(const char *body, const char *expected, const char *note) {
    for (size_t cut = 0; cut <= strlen(body); cut++) {
        struct table_copy t = table_read_cut(&repair, body, strlen(body), &cut, 1);
        struct buf rows = {0};
        if (!t.well) {
            fail_msg("%s: %s", body, buf_cstr(&t.problem_text));
        }
        table_rows(&t, &format_csv, false, &rows);
        assert_string_equal(buf_cstr(&rows), expected);
        if (strstr(t.notes, note) == NULL) {
            fail_msg("%s\nis not in %s", note, t.notes);
        }
        buf_done(&rows);
        table_done(&t);
    }
}

static void test_rows(void **state) {
    (void)state;
    check("a,b,c\n1,x y,3\n2,z w\n3,u v,5\n", "a,b,c\n1,x y,3\n2,z w,\n3,u v,5\n",
          "\"missing_cells\":{\"count\":1,\"first\":[{\"line\":3,\"column\":6,\"detail\":\"row has "
          "2 cells, expected 3: added from column 3 on\"}]}");
    /* the number stays in its column */
    check("a,b,c\n1,x y,3\n2,z w,4\n2,5\n3,u v,6\n", "a,b,c\n1,x y,3\n2,z w,4\n2,,5\n3,u v,6\n",
          "added from column 2 on");
    check("a,b,c\n1,x y,3\n2,z, w,4\n3,u v,5\n", "a,b,c\n1,x y,3\n2,\"z, w\",4\n3,u v,5\n",
          "\"joined_cells\":{\"count\":1,\"first\":[{\"line\":3,\"column\":3,");
    check("a,b,c\n1,x y,3\n2,,z w,4\n3,u v,5,\n", "a,b,c\n1,x y,3\n2,z w,4\n3,u v,5\n",
          "\"empty_cells\":{\"count\":2,");
    check("a,b,c\n1,x y,3\n2,z w,,,4\n3,u v,5\n", "a,b,c\n1,x y,3\n2,z w,4\n3,u v,5\n",
          "\"empty_cells\":{\"count\":1,");
    check("a,b\n1,3\n2,4,7\n3,5\n", "a,b\n1,3\n2,4\n3,5\n",
          "\"dropped_cells\":{\"count\":1,\"first\":[{\"line\":3,\"column\":5,");
    check("a,b,c\n1,x y,3\n\n2;z w;4\n3,'u, v',5\n", "a,b,c\n1,x y,3\n2,z w,4\n3,\"u, v\",5\n",
          "the delimiter of the row is \\\";\\\"");
    check("a,b,c,d\n1,x y,3,u\n2 \"z, w\" 4 v\n3,u v,5,u\n",
          "a,b,c,d\n1,x y,3,u\n2,\"z, w\",4,v\n3,u v,5,u\n",
          "the delimiter of the row is \\\" \\\"");
    /* words in columns of words are no cells between blanks */
    check("a,b,c,d\n1,x,3,u\n2,y,4,v\n\nsee the list below\n", "a,b,c,d\n1,x,3,u\n2,y,4,v\n",
          "\"footer\":{\"count\":1,");
}

static void test_quotes(void **state) {
    (void)state;
    check("a,b,c\n1,\"x \"k\" y\",3\n2,\"z, w\",4\n",
          "a,b,c\n1,\"x \"\"k\"\" y\",3\n2,\"z, w\",4\n",
          "\"stray_quote\":{\"count\":1,\"first\":[{\"line\":2,\"column\":3,");
    check("a,b,c\n1,\"x y,3\n2,\"z, w\",4\n3,\"u\nv\",5\n",
          "a,b,c\n1,x y,3\n2,\"z, w\",4\n3,\"u\nv\",5\n", "\"unclosed_quote\":{\"count\":1,");
    check("a,b,c\n1,x y,3\n2,z w,4\n3,u v,\"5\n", "a,b,c\n1,x y,3\n2,z w,4\n3,u v,\"\"\"5\"\n",
          "\"unclosed_quote\":{\"count\":1,");
    check("a,b,c\n1,'x, y',3\n2,'it''s',4\n", "a,b,c\n1,\"x, y\",3\n2,it's,4\n",
          "the quote character is '");
    check("a,b,c\n1,\"x\",3\n2,'y',4\n3,`z`,5\n4,\"'w'\",6\n5,\"v\",7\n",
          "a,b,c\n1,x,3\n2,y,4\n3,z,5\n4,'w',6\n5,v,7\n", "the quote character of the row is '");
    /* a cell that lost a quote keeps the other rules of quoted cells */
    check("a,b,c\n1,\"x \"\"k\"\", y,3\n2,\"z, w\",4\n3,u \"\"k\"\", v\",5\n",
          "a,b,c\n1,\"x \"\"k\"\", y\",3\n2,\"z, w\",4\n3,\"u \"\"k\"\", v\",5\n",
          "\"joined_cells\":{\"count\":2,");
    check("a,b,c\n1,\"p, q\",3\n2,\"x, y, z, w,4\n3,\"u, v\",5\n",
          "a,b,c\n1,\"p, q\",3\n2,\"x, y, z, w\",4\n3,\"u, v\",5\n",
          "\"joined_cells\":{\"count\":1,");
    check("a,b,c\n1,\"x \\\"k\\\" y\",3\n2,\"z, w\",4\n",
          "a,b,c\n1,\"x \"\"k\"\" y\",3\n2,\"z, w\",4\n", "quotes are escaped by \\\\");
}

static void test_structure(void **state) {
    (void)state;
    check("a, b, c\n1, x,y, 3\n2, \"z, w\", 4\n", "a,b,c\n1,\"x,y\",3\n2,\"z, w\",4\n",
          "the delimiter is \\\", \\\"");
    check("a||b||c\n1||||3\n2||z|w||4\n", "a,b,c\n1,,3\n2,z|w,4\n", "the delimiter is \\\"||\\\"");
    check(
        "Title\n\na,b,c\n1,x,3\n2,y,4\n\nTotal of all\n", "a,b,c\n1,x,3\n2,y,4\n",
        "\"footer\":{\"count\":1,\"first\":[{\"line\":7,\"column\":1,\"detail\":\"line 7 after the "
        "table left out\"}]}");
    /* a body that is cut off ends with a row that misses cells */
    check("id,day,c,d,e,f\n1,2020-01-02,x,3,y,5\n2,2020-01-03,y,4,z,6\n3,2020-01",
          "id,day,c,d,e,f\n1,2020-01-02,x,3,y,5\n2,2020-01-03,y,4,z,6\n3,2020-01,,,,\n",
          "\"missing_cells\":{\"count\":1,");
    check("Title\n\na,b,c\n1,x,3\n2,y,4\n", "a,b,c\n1,x,3\n2,y,4\n",
          "\"preamble\":{\"count\":1,\"first\":[{\"line\":1,");
    check("Of all towns, by size, and of rivers.\nThe rows are sorted, by name, in each year.\n"
          "Sources of it, if any, are named below.\nk,a,b,c,d\n1,x,1,2,3\n2,y,4,5,6\n"
          "3,z,7,8,9\n4,w,1,1,1\n",
          "k,a,b,c,d\n1,x,1,2,3\n2,y,4,5,6\n3,z,7,8,9\n4,w,1,1,1\n",
          "\"detail\":\"lines 1 to 3 before the table left out\"");
    check("a,b,c\n1,x,3\n2,y,4\n3,z,5\n\nk,v\n1,2\n3,4\n", "a,b,c\n1,x,3\n2,y,4\n3,z,5\n",
          "\"detail\":\"lines 6 to 8 are a second table and left out\"");
    check(
        "a,b\nkg,m\n1,2\n3,4\n5,6\n", "a kg,b m\n1,2\n3,4\n5,6\n",
        "\"header\":{\"count\":1,\"first\":[{\"line\":1,\"column\":1,\"detail\":\"the first 2 rows "
        "were joined\"}]}");
    check("a,b\r1,2\r\n3,4\n\n\n5,6", "a,b\n1,2\n3,4\n5,6\n", "\"warnings\":[]");
    check("a|bc\n---+---\n1|2\n3|4\n5|6\n", "a,bc\n1,2\n3,4\n5,6\n", "\"rule\":{\"count\":1,");
    check("a\tb\n1\t2\n--\t-\n5\t6\n", "a,b\n1,2\n--,-\n5,6\n", "");
    check("a,b\n1,2\n3,4\na,b\n5,6\n", "a,b\n1,2\n3,4\n5,6\n", "\"repeated_header\":{\"count\":1,");
    check("a,b\na,b\n1,2\n3,4\n5,6\n", "a,b\n1,2\n3,4\n5,6\n", "\"repeated_header\":{\"count\":1,");
}

/* Equal rows are no repeated header; quotes that are open in each row take time in proportion to
 * the body. */
static void test_many_rows(void **state) {
    (void)state;
    static const struct {
        const char *line, *note;
    } bodies[] = {{"1,x y,3\n", "\"warnings\":["},
                  {"1,\"x y,3\n", "\"unclosed_quote\":{\"count\":100000,"},
                  {"1,x\",\"y,3\n", "\"unclosed_quote\""},
                  {"1,\"\"x y,3\n", "\"unclosed_quote\":{\"count\":100000,"}};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct buf body = {0};
        for (size_t k = 0; k < 100000; k++) {
            buf_puts(&body, bodies[i].line);
        }
        struct table_copy t = table_read_cut(&repair, body.data, body.size, NULL, 0);
        assert_true(t.well);
        if (strstr(t.notes, bodies[i].note) == NULL) {
            fail_msg("%s: %s", bodies[i].line, t.notes);
        }
        table_done(&t);
        buf_done(&body);
    }
}

static void test_refused(void **state) {
    (void)state;
    static const char *const bodies[] = {"", "\n\n", "a,b\n", "a,b\n1,\xff\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct table_copy t = table_read_options(&repair, bodies[i]);
        assert_false(t.well);
        table_done(&t);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_structure), cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
