/* Tables that are probably misread: the message or the warning names an option, and with that
 * option the table is read as meant. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

static const struct response *preview(const char *query, const char *body) {
    return call_bytes("POST", text("/v1/datasets:preview?%s", query), NULL, body, strlen(body));
}

static void check_names(const struct response *r, const char *names) {
    const char *found = "";
    for (size_t i = 0; i < count_at(status_check(r, 200), "/columns"); i++) {
        found =
            text("%s%s%s:%s", found, i > 0 ? "|" : "", string_at(r, text("/columns/%zu/name", i)),
                 string_at(r, text("/columns/%zu/type", i)));
    }
    assert_string_equal(found, names);
}

static void test_followed(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int status; /* without the option */
        const char *says, *option, *columns;
    } cases[] = {
        /* a title with commas */
        {"Sales report, 2023\na,b\n1,2\n3,4\n", 200, "skip_rows=1", "skip_rows=1",
         "a:numeric|b:numeric"},
        {"Sales, north\na,b\n1,2\n3,4\n5,6\n", 200, "skip_rows=1", "skip_rows=1",
         "a:numeric|b:numeric"},
        {"Sepal,Petal\nwidth,width\n1,2\n3,4\n5,6\n", 200, "header=2", "header=2",
         "Sepal width:numeric|Petal width:numeric"},
        /* titles padded with commas, as Excel writes them */
        {"Title,,,\na,b,c,d\n1,2,3,u\n3,4,5,v\n", 422, "skip_rows=1", "skip_rows=1",
         "a:numeric|b:numeric|c:numeric|d:categorical"},
        {"Title;;;\n;;;\na;b;c;d\n1;2;3;u\n3;4;5;v\n", 422, "skip_rows=2", "skip_rows=2",
         "a:numeric|b:numeric|c:numeric|d:categorical"},
        {"Report for 2023, spring,,\na,b,c,d\n1,2,3,u\n3,4,5,v\n", 422, "skip_rows=1",
         "skip_rows=1", "a:numeric|b:numeric|c:numeric|d:categorical"},
        {"Sizes,,,\na,b,c,d\n1,2,3,u\n3,4,5,v\n", 422, "header=2", "header=2",
         "Sizes a:numeric|b:numeric|c:numeric|d:categorical"},
        {"Title,\na,b\n1,2\n3,4\n", 422, "skip_rows=1", "skip_rows=1", "a:numeric|b:numeric"},
        {"Title;;\nname;city;zip\nx;y;z\np;q;r\n", 200, "skip_rows=1", "skip_rows=1",
         "name:categorical|city:categorical|zip:categorical"},
        {"name;;zip\nx;y;z\np;q;r\n", 200, "header=true", "header=true",
         "name:categorical|c2:categorical|zip:categorical"},
        /* a delimiter at the end of each row but the header */
        {"a,b\n1,2,\n3,4,\n", 422, "each row ends with a delimiter; add one to the header",
         "skip_rows=1&names=a,b,c", "a:numeric|b:numeric|c:numeric"},
        /* blanks with one decimal comma in each row */
        {"1,5 2 3\n2,5 3 4\n4,5 6 7\n", 200, "delimiter=space", "delimiter=space",
         "c1:numeric|c2:numeric|c3:numeric"},
        /* signs around some numbers */
        {"a;b\n5%;1\n7;2\n", 200, "some of its numbers have % around them: strip=%", "strip=%25",
         "a:numeric|b:numeric"},
        {"a;b\n7;1\n5%;2\n", 200, "some of its numbers have % around them: strip=%", "strip=%25",
         "a:numeric|b:numeric"},
        {"a;b\n5%;1\n7%;2\n", 200, "all its numbers have % around them: strip=%", "strip=%25",
         "a:numeric|b:numeric"},
        /* commas that may separate thousands */
        {"a;b\n1,234;1\n2,500;2\n", 200, "set decimal=, or thousands=,", "thousands=,",
         "a:numeric|b:numeric"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *r = preview("", cases[i].body);
        assert_int_equal(r->status, cases[i].status);
        if (strstr(r->body, cases[i].says) == NULL) {
            fail_msg("%s is not in %s", cases[i].says, r->body);
        }
        r = preview(cases[i].option, cases[i].body);
        check_names(r, cases[i].columns);
        assert_null(strstr(r->body, cases[i].option));
    }
    check_names(preview("", "a,b,\n1,2,\n3,4,\n"), "a:numeric|b:numeric|c3:numeric");
}

/* Times are no tables of three columns, and blanks may be before the # of a comment. */
static void test_no_warning(void **state) {
    (void)state;
    static const char *const times[] = {"t\n12:30:00\n12:31:00\n12:32:00\n",
                                        "t\n2024-01-01 12:30:00\n2024-01-02 12:31:00\n"
                                        "2024-01-02 12:31:01\n"};
    for (size_t i = 0; i < 2; i++) {
        assert_null(strstr(status_check(preview("", times[i]), 200)->body, "separates cells"));
    }
    assert_non_null(strstr(preview("", "1:2:3\n4:5:6\n7:8:9\n")->body, "delimiter=%3A"));
    const struct response *r = preview("", "\t# x\na,b\n1,2\n  # a comment\n3,4\n");
    check_names(r, "a:numeric|b:numeric");
    assert_int_equal(count_at(r, "/rows"), 2);
    assert_json(r, "/notes/comments", "2");
    /* two header lines are no title */
    check_names(preview("header=2&duplicates=rename",
                        "Sepal,,Petal,\nlength,width,length,width\n1,2,3,4\n5,6,7,8\n"),
                "Sepal length:numeric|width:numeric|Petal length:numeric|width_2:numeric");
}

/* The type of a column that is given does not depend on the order of its cells. */
static void test_order_of_cells(void **state) {
    (void)state;
    check_names(preview("types=a:numeric", "a;b\n1,234;1\n1,5;2\n"), "a:numeric|b:numeric");
    check_names(preview("types=a:numeric", "a;b\n1,5;2\n1,234;1\n"), "a:numeric|b:numeric");
    const struct response *r = preview("types=a:numeric", "a;b\n1,234;1\n2,500;2\n");
    problem_check(r, 422, "invalid-dataset");
    assert_non_null(strstr(r->body, "set decimal=, or thousands=,"));
    assert_non_null(strstr(r->body, "\"line\":2"));
    check_names(preview("types=a:numeric&thousands=,", "a;b\n1,234;1\n2,500;2\n"),
                "a:numeric|b:numeric");
    problem_check(preview("types=a:numeric", "a;b\n1,234;1\n2.5;2\n"), 422, "invalid-dataset");
    problem_check(preview("types=a:numeric", "a;b\n2.5;1\n1,234;2\n"), 422, "invalid-dataset");
}

/* Previews the body and checks that the first warning or fault contains the text; NULL: there is no
 * warning. */
static void check_says(const char *query, const char *body, const char *says) {
    const struct response *r = preview(query, body);
    if (says == NULL) {
        assert_int_equal(count_at(status_check(r, 200), "/notes/warnings"), 0);
    } else if (strstr(r->body, says) == NULL) {
        fail_msg("%s is not in %s", says, r->body);
    }
}

/* What is written around numbers and makes their column text. */
static void test_decorated(void **state) {
    (void)state;
    check_says("", "a,b\n1,(5)\n2,7\n", "write (5) as -5");
    check_says("", "a,b\n1,5-\n2,7\n", "write 5- as -5");
    check_says("", "a,b\n1,5 EUR\n2,7 EUR\n", "all its numbers are written with EUR");
    check_says("", "a,b\n1,EUR 5\n2,7\n", "some of its numbers are written with EUR");
    check_says("", "a,b\n1,5kg\n2,7 g\n3,8 kg\n", "are written with kg and g");
    check_says("", "a;b\n1;(1.234,5 \xE2\x82\xAC)\n2;3,5 \xE2\x82\xAC\n",
               "strip=\xE2\x82\xAC reads them; numbers in parentheses");
    check_says("", "a,b\n1,12a\n2,3b\n3,9c\n", NULL);
    check_says("", "a,b\n1,A5\n2,B7\n3,A9\n", NULL);
    check_says("", "a,b\n1,5 kg\n2,heavy\n", NULL);
}

static void test_separator_lines(void **state) {
    (void)state;
    static const char *const lines[] = {"sep=;;;", "sep= ;", "\"sep=;\"", "SEP=;  "};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        check_names(preview("", text("%s\na;b\n1;2\n3;4\n", lines[i])), "a:numeric|b:numeric");
    }
    check_says("", "sep=x,y\n1,2\n3,4\n", "skip_rows=1 leaves it out");
}

/* Misspelt columns and types get the nearest name. */
static void test_nearest(void **state) {
    (void)state;
    check_says("types=speces:text", "species,y\na,1\nb,2\n", "did you mean \\\"species\\\"?");
    check_says("types=y:numerical", "species,y\na,1\nb,2\n", "did you mean \\\"numeric\\\"?");
    check_says("label=Species", "species,y\na,1\nb,2\n", "did you mean \\\"species\\\"?");
}

static void test_repeated_attributes(void **state) {
    (void)state;
    static const char body[] = "@relation r\n@attribute x numeric\n@attribute x numeric\n"
                               "@attribute x_2 {a,b}\n@data\n1,2,a\n3,4,b\n";
    check_names(preview("duplicates=rename", body), "x:numeric|x_3:numeric|x_2:categorical");
    check_says("duplicates=rename", body, "the name of column 2 is that of column 1");
    check_says("", body, "attribute \\\"x\\\" is declared twice");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_followed),
        TEST(test_no_warning),
        TEST(test_order_of_cells),
        TEST(test_decorated),
        TEST(test_separator_lines),
        TEST(test_nearest),
        TEST(test_repeated_attributes),
    };
    return RUN(tests);
}
