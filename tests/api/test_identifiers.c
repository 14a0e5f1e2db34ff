/* Identifiers and short texts: they are marked in the description of a dataset, and a job uses them
 * only if it names them or if there is no other column. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 120 };

/* id counts up from `first`; code and name are texts, as more than 100 of their values differ; two
 * people share a name; the notes have six words. */
static void append_people(char **end, int first, int n) {
    for (int i = first; i < first + n; i++) {
        *end += sprintf(*end, "%d,k%d,given%d family,this is what we know: %d,%d,%c\n", i, i * i,
                        i % 119, i, i % 7, 'a' + i % 2);
    }
}

static char *new_table(size_t rows) {
    char *table = keep(malloc(64 + rows * 96), free);
    assert_non_null(table);
    return table;
}

static int open_daemon(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    char *table = new_table(PEOPLE), *end = table;
    end += sprintf(end, "id,code,name,note,x,y\n");
    append_people(&end, 1, PEOPLE);
    status_check(call_upload("/v1/datasets/people", table), 201);
    keep_free();
    return 0;
}

static bool is_identifier(const struct response *r, int column) {
    return json_is_true(json_find(r->json, text("/columns/%d/identifier", column)));
}

static void test_descriptions_mark_identifiers(void **state) {
    (void)state;
    static const bool wanted[] = {true, true, false, false, false, false};
    const struct response *r = call_get("/v1/datasets/people");
    for (int i = 0; i < 6; i++) {
        assert_true(is_identifier(r, i) == wanted[i]);
    }
    assert_string_equal(string_at(r, "/columns/1/type"), "text");
    assert_string_equal(string_at(r, "/columns/2/type"), "text");
    /* 0: from 0; 1: down; 2: in steps of 2; 3: halves; 4: one missing; 5: an exchange; 6: from a
     * negative number; 7: words; 8: a word twice; 9: a word missing */
    r = status_check(call_upload("/v1/datasets/counts", "a,b,c,d,e,f,g,h,i,j,k\n"
                                                        "0,4,1,0.5,1,1,-1,one,one,one,0\n"
                                                        "1,3,3,1.5,,2,0,two,two,two,0\n"
                                                        "2,2,5,2.5,3,4,1,three,one,,0\n"
                                                        "3,1,7,3.5,4,3,2,four,four,four,0\n"),
                     201);
    for (int i = 0; i < 11; i++) {
        assert_true(is_identifier(r, i) == (i == 0 || i == 6 || i == 7));
    }
    r = status_check(call_upload("/v1/datasets/one", "a,b\n1,x\n"), 201);
    assert_false(is_identifier(r, 0) || is_identifier(r, 1));
}

/* In a table of few rows, texts of five words or more on average that all differ are text and
 * features; of four words, or if two are equal, they are categories. */
static void test_documents_of_a_short_table(void **state) {
    (void)state;
    static const char *const rows =
        "five,four,twice,gap,y\n"
        "the red sun is setting now,a b c d,it rains all day today,one two three four five,p\n"
        "blue sea in the morning,e f g h,it rains all day today,,q\n"
        "red sun over the hill,i j k l,the sun is out again,six two three four five,p\n"
        "a cold blue sea,m n o p,no one is in town,ten two three four five,q\n";
    const struct response *r = status_check(call_upload("/v1/datasets/short", rows), 201);
    static const char *const types[] = {"text", "categorical", "categorical", "text"};
    for (int i = 0; i < 4; i++) { /* 6 + 5 + 5 + 4 = 20 words in the first column */
        assert_string_equal(string_at(r, text("/columns/%d/type", i)), types[i]);
        assert_true(is_identifier(r, i) == (i == 1));
    }
    r = job_train("{'model':'short','dataset':'short','target':'y','algorithm':'logistic',"
                  "'features':{'exclude':['gap','twice']}}");
    assert_json(r, "/resolved/features/include", "['five']");
    r = call_post("/v1/models/short/predict",
                  "{'instances':[{'five':'the red sun'},{'five':'a blue sea'}]}");
    assert_string_equal(string_at(r, "/predictions/0/label"), "p");
    assert_string_equal(string_at(r, "/predictions/1/label"), "q");
    /* an appended row keeps the type, as for other texts */
    r = status_check(call_text("POST", "/v1/datasets/short/rows", "Content-Type: text/csv",
                               "five,four,twice,gap,y\na cold blue sea,z,z,,q\n"),
                     201);
    assert_string_equal(string_at(r, "/columns/0/type"), "text");
}

/* More values than are counted exactly: numbers are compared with the numbers of their rows, of
 * texts the estimate is within 2 % of the number of rows. */
static void test_long_columns(void **state) {
    (void)state;
    enum { ROWS = 20000 };
    char *table = new_table(ROWS), *end = table;
    end += sprintf(end, "id,code,almost,twice\n");
    for (int i = 0; i < ROWS; i++) {
        end += sprintf(end, "%d,k%d,%d,t%d\n", 5000 + i, i, i == 15000 ? 7 : i, i / 2);
    }
    const struct response *r = status_check(call_upload("/v1/datasets/long", table), 201);
    assert_true(is_identifier(r, 0) && is_identifier(r, 1));
    assert_false(is_identifier(r, 2) || is_identifier(r, 3));
}

/* A version keeps the mark while its rows count on. */
static void test_appended_rows(void **state) {
    (void)state;
    char *table = new_table(PEOPLE), *end = table;
    append_people(&end, PEOPLE + 1, 3);
    status_check(call_bytes("POST", "/v1/datasets/people/rows?header=false", NULL, table,
                            (size_t)(end - table)),
                 201);
    const struct response *r = call_get("/v1/datasets/people");
    assert_true(is_identifier(r, 0) && is_identifier(r, 1) && !is_identifier(r, 2));
    end = table;
    append_people(&end, 1, 1);
    status_check(call_bytes("POST", "/v1/datasets/people/rows?header=false", NULL, table,
                            (size_t)(end - table)),
                 201);
    r = call_get("/v1/datasets/people");
    assert_false(is_identifier(r, 0) || is_identifier(r, 1));
}

/* Checks the columns that a job uses and its warnings. */
static void uses(const char *dataset, const char *features, const char *columns,
                 const char *const *warnings) {
    const struct response *r =
        status_check(call_post("/v1/jobs?dry_run=true",
                               "{'model':'m','dataset':'%s','target':'y','algorithm':'logistic'%s}",
                               dataset, features),
                     200);
    const char *names = "";
    for (size_t i = 0; i < count_at(r, "/features/columns"); i++) {
        names = text("%s%s ", names, string_at(r, text("/features/columns/%zu/name", i)));
    }
    assert_string_equal(names, columns);
    size_t n = 0;
    for (; warnings[n] != NULL; n++) {
        assert_string_equal(string_at(r, text("/warnings/%zu", n)), warnings[n]);
    }
    assert_int_equal(count_at(r, "/warnings"), n);
}
#define SAYING(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOTHING SAYING(NULL)

static void test_a_job_leaves_them_out(void **state) {
    (void)state;
    uses("people@1", "", "note x ",
         SAYING("text column \"name\": left out (fewer than five words on average); "
                "features.include can name it",
                "columns \"id\", \"code\": left out because every row has another value, as in "
                "identifiers; "
                "features.include can name them"));
    uses("people@1", ",'features':{'include':['id','code','name','x']}", "id code name x ",
         NOTHING);
    uses("people@1", ",'features':{'exclude':['id','code','name']}", "note x ", NOTHING);
    uses("people@1",
         ",'features':{'basis':[{'type':'polynomial','columns':['id','x'],'degree':1}]}",
         "id note x ",
         SAYING("text column \"name\": left out (fewer than five words on average); "
                "features.include can name it",
                "column \"code\": left out because every row has another value, as in identifiers; "
                "features.include can name them"));
    /* without other columns: names, else texts, else numbers */
    uses("people@1", ",'features':{'exclude':['x','note']}", "name ",
         SAYING("columns \"id\", \"code\": left out because every row has another value, as in "
                "identifiers; "
                "features.include can name them"));
    uses("people@1", ",'features':{'exclude':['x','note','name']}", "code ",
         SAYING("column \"id\": left out because every row has another value, as in identifiers; "
                "features.include can name them",
                "column \"code\": used although every row has another value, because no "
                "other column is left"));
    uses("people@1", ",'features':{'exclude':['x','note','name','code']}", "id ",
         SAYING("column \"id\": used although every row has another value, because no other "
                "column is left"));
    const struct response *r =
        job_train("{'model':'m','dataset':'people@1','target':'y','algorithm':'logistic'}");
    assert_json(r, "/resolved/features/include", "['note','x']");
    assert_int_equal(count_at(r, "/warnings"), 2);
}

/* A text option without a text column says how to get one. */
static void test_options_of_texts_that_are_left_out(void **state) {
    (void)state;
    fault_contains(
        problem_check(call_post("/v1/jobs",
                                "{'model':'m','dataset':'people@1','target':'y','algorithm':"
                                "'logistic','features':{'exclude':['note'],'text':{'weighting':"
                                "'tfidf'}}}"),
                      422, "invalid"),
        "/features/text", "features.include can name a text column");
}

/* Of many columns the first twenty are named. */
static void test_many_identifiers(void **state) {
    (void)state;
    enum { COLUMNS = 16000 };
    char *table = keep(malloc(COLUMNS * 3 * 8 + 64), free), *end = table;
    assert_non_null(table);
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < COLUMNS; i++) {
            end += row == 0 ? sprintf(end, "c%d,", i) : sprintf(end, "%d,", row);
        }
        end += sprintf(end, row == 0 ? "x,y\n" : "%d,%d\n", 0, row);
    }
    status_check(call_upload("/v1/datasets/wide", table), 201);
    const struct response *r =
        status_check(call_post("/v1/jobs?dry_run=true",
                               "{'model':'m','dataset':'wide','target':'y','algorithm':"
                               "'logistic'}"),
                     200);
    assert_int_equal(count_at(r, "/features/columns"), 1);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "\"c19\" and 15980 more: left out"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_descriptions_mark_identifiers),
        TEST(test_documents_of_a_short_table),
        TEST(test_long_columns),
        TEST(test_appended_rows),
        TEST(test_a_job_leaves_them_out),
        TEST(test_options_of_texts_that_are_left_out),
        TEST(test_many_identifiers),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
