/* Readers of tables over HTTP: NDJSON, comments, rows that are left out, and the message for a body
 * of another format. */
#include "lib/api.h"

#include <string.h>

#define AS_NDJSON "Content-Type: application/x-ndjson"

static const char *rows_of(const char *name) {
    return status_check(call_get_with("Accept: text/csv", "/v1/datasets/%s/rows", name), 200)->body;
}

static void test_ndjson(void **state) {
    (void)state;
    static const char body[] = "{\"a\":1,\"b\":\"x\"}\n\n{\"b\":\"y\",\"c\":true}\n{\"a\":2.50}\n";
    const struct response *r =
        status_check(call_upload_bytes("/v1/datasets/lines", body, 0, AS_NDJSON), 201);
    assert_string_equal(string_at(r, "/notes/format"), "ndjson");
    assert_int_equal(whole_at(r, "/rows"), 3);
    assert_string_equal(rows_of("lines"), "a,b,c\n1,x,\n,y,true\n2.5,,\n");
    /* detected; and the same table as CSV */
    const char *content = string_at(r, "/content");
    assert_string_equal(string_at(status_check(call_upload("/v1/datasets/sniffed", body), 201),
                                  "/content"),
                        content);
    assert_string_equal(string_at(status_check(call_upload("/v1/datasets/csv",
                                                           "a,b,c\n1,x,\n,y,true\n2.5,,\n"),
                                               201),
                                  "/content"),
                        content);
    r = status_check(call_upload_bytes("/v1/datasets/arrays?label=y", "[1,2]\n[3,4]\n", 0,
                                       AS_NDJSON),
                     201);
    assert_string_equal(string_at(r, "/columns/1/name"), "y");
    r = problem_check(call_upload_bytes("/v1/datasets/refused", "{\"a\":1}\n{\"a\":x}\n[2]\n", 0,
                                        AS_NDJSON),
                      422, "invalid-dataset");
    fault_check(r, "line 2");
    fault_check(r, "line 3");
    problem_check(call_upload_bytes("/v1/datasets/refused", "{\"a\":1}\n{\"a\":", 0, AS_NDJSON),
                  400, "bad-json");
    problem_check(call_get("/v1/datasets/refused"), 404, "unknown-dataset");
}

static void test_comments(void **state) {
    (void)state;
    const struct response *r = status_check(
        call_upload("/v1/datasets/remarks", "# by hand\na,b\n1,x\n# one, two, three\n2,y\n"), 201);
    assert_int_equal(whole_at(r, "/notes/comments"), 2);
    assert_string_equal(rows_of("remarks"), "a,b\n1,x\n2,y\n");
    r = status_check(call_upload("/v1/datasets/pokemon",
                                 "#,Name,Type 1\n1,Bulbasaur,Grass\n2,Ivysaur,Grass\n"),
                     201);
    assert_int_equal(whole_at(r, "/notes/comments"), 0);
    assert_string_equal(string_at(r, "/columns/0/name"), "#");
    r = status_check(call_upload("/v1/datasets/percent?comment=%25",
                                 "% \"a\na,b\n1,x\n%2,y\n3,z\n"),
                     201);
    assert_int_equal(whole_at(r, "/notes/comments"), 2);
    assert_string_equal(rows_of("percent"), "a,b\n1,x\n3,z\n");
    problem_check(call_upload("/v1/datasets/refused?comment=ab", "a\n1\n"), 400, "bad-request");
    problem_check(call_upload("/v1/datasets/refused?comment=", "a\n1\n"), 400, "bad-request");
    problem_check(call_upload("/v1/datasets/refused?comment=%22", "a\n1\n"), 400, "bad-request");
    problem_check(call_upload("/v1/datasets/refused?comment=;&delimiter=;", "a\n1\n"), 400,
                  "bad-request");
    problem_check(call_upload("/v1/datasets/refused?comment=%25", "a,b\n1,x\n# two\n"), 422,
                  "invalid-dataset");
}

static void test_on_error(void **state) {
    (void)state;
    static const char body[] = "a,b\n1,x\n2\n3,y,z\nfour,u\n5,v\n";
    fault_check(problem_check(call_upload("/v1/datasets/refused?types=a:numeric", body), 422,
                              "invalid-dataset"),
                "line 3");
    const struct response *r =
        status_check(call_upload("/v1/datasets/skipped?on_error=skip&types=a:numeric", body), 201);
    assert_int_equal(whole_at(r, "/rows"), 2);
    assert_int_equal(whole_at(r, "/notes/skipped/rows"), 3);
    assert_int_equal(count_at(r, "/notes/skipped/first"), 3);
    assert_int_equal(whole_at(r, "/notes/skipped/first/2/line"), 5);
    assert_int_equal(whole_at(r, "/notes/skipped/first/2/column"), 1);
    assert_non_null(strstr(string_at(r, "/notes/skipped/first/2/detail"),
                           "a cell must be a number (got \"four\")"));
    assert_int_equal(count_at(r, "/notes/warnings"), 1);
    assert_string_equal(rows_of("skipped"), "a,b\n1,x\n5,v\n");
    assert_int_equal(whole_at(status_check(call_get("/v1/datasets/skipped"), 200),
                              "/notes/skipped/rows"),
                     3);
    /* the same body makes no new version, another option does */
    static const char good[] = "a,b\n1,x\n2,y\n";
    status_check(call_upload("/v1/datasets/options", good), 201);
    assert_string_equal(header_of(status_check(call_upload("/v1/datasets/options", good), 200),
                                  "Discern-Unchanged"),
                        "true");
    r = status_check(call_upload("/v1/datasets/options?on_error=skip", good), 200);
    assert_null(header_of(r, "Discern-Unchanged"));
    assert_string_equal(
        header_of(status_check(call_upload("/v1/datasets/options?on_error=skip", good), 200),
                  "Discern-Unchanged"),
        "true");
    problem_check(call_upload("/v1/datasets/refused?on_error=skip", "a,b\n1\n2\n"), 422,
                  "invalid-dataset");
    problem_check(call_upload("/v1/datasets/refused?on_error=ignore", good), 400, "bad-request");
    problem_check(call_get("/v1/datasets/refused"), 404, "unknown-dataset");
}

/* The message names the format of the body and the command that converts it. */
static void test_bytes_of_other_formats(void **state) {
    static const struct {
        const char *body;
        size_t size;
        const char *says;
    } cases[] = {
        {"\x1F\x8B\x08\0\0\0\0\0\0\x03", 10, "Content-Encoding: gzip"},
        {"PK\x03\x04\x14\0[Content_Types].xml", 25, "Excel"},
        {"a\0,\0b\0\n\0", 8, "encoding=utf-16le"},
        {"a\0\0\0,\0\0\0", 8, "encoding=utf-32le"},
        {"7z\xBC\xAF\x27\x1C\0\x04", 8, "7z x FILE"},
        {"Rar!\x1A\x07\x01\0\xFF", 9, "unrar x FILE"},
        {"\x04\x22\x4D\x18\x64\x40\xA7", 7, "unlz4 FILE"},
        {"\x89PNG\r\n\x1A\n\0", 9, "picture"},
        {"\x80\x04\x95\x10\0", 5, "read_pickle"},
        {"$FL2@(#) SPSS DATA FILE\x02\0", 25, "SPSS"},
        {"\n<!DOCTYPE html><html><body>not found", 37, "HTML page"},
        {"a,b\n1,caf\xE9,\n", 12, "encoding=windows-1252"},
        {"a,b\n1,\"x\n2,y\n", 13, "the quote is not closed"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *r =
            call_upload_bytes("/v1/datasets/refused", cases[i].body, cases[i].size, NULL);
        problem_check(r, 422, "invalid-dataset");
        if (strstr(r->body, cases[i].says) == NULL) {
            fail_msg("%s is not in %s", cases[i].says, r->body);
        }
        assert_true(whole_at(r, "/errors/0/line") >= 1 && whole_at(r, "/errors/0/column") >= 1);
    }
}

/* One table in four encodings, and predictions in them. */
static void test_encodings(void **state) {
    (void)state;
    static const char utf8[] = "caf\xC3\xA9,y\n1,a\n2,b\n", latin[] = "caf\xE9,y\n1,a\n2,b\n",
                      utf16[] = "\xFF\xFE"
                                "c\0a\0f\0\xE9\0,\0y\0\n\0"
                                "1\0,\0a\0\n\0"
                                "2\0,\0b\0\n\0";
    const size_t n = sizeof latin - 1, n16 = sizeof utf16 - 1;
    const struct response *r = status_check(call_upload("/v1/datasets/plain", utf8), 201);
    char content[100];
    (void)snprintf(content, sizeof content, "%s", string_at(r, "/content"));
    static const char charset[] = "Content-Type: text/csv; charset=ISO-8859-1";
    r = status_check(call_upload_bytes("/v1/datasets/e1?encoding=windows-1252", latin, n, NULL),
                     201);
    assert_string_equal(string_at(r, "/content"), content);
    r = status_check(call_upload_bytes("/v1/datasets/e2", latin, n, charset), 201);
    assert_string_equal(string_at(r, "/content"), content);
    r = status_check(call_upload_bytes("/v1/datasets/e3", utf16, n16, NULL), 201);
    assert_string_equal(string_at(r, "/content"), content);
    static const char utf32[] = "\xFF\xFE\0\0c\0\0\0a\0\0\0f\0\0\0\xE9\0\0\0,\0\0\0y\0\0\0\n\0\0\0"
                                "1\0\0\0,\0\0\0a\0\0\0\n\0\0\0"
                                "2\0\0\0,\0\0\0b\0\0\0\n\0\0\0";
    r = status_check(call_upload_bytes("/v1/datasets/e4", utf32, sizeof utf32 - 1, NULL), 201);
    assert_string_equal(string_at(r, "/content"), content);
    fault_check(problem_check(call_upload_bytes("/v1/datasets/refused?encoding=windows-1252",
                                                "a,b\n1,\x81\n", 8, NULL),
                              422, "invalid-dataset"),
                "line 2");
    problem_check(call_upload("/v1/datasets/refused?encoding=utf-7", utf8), 400, "bad-request");
    problem_check(call_upload_bytes("/v1/datasets/refused", utf8, sizeof utf8 - 1,
                                    "Content-Type: text/csv; charset=klingon"),
                  415, "unsupported-media-type");
    problem_check(call_get("/v1/datasets/refused"), 404, "unknown-dataset");
}

/* A column of numbers whose first cell is none is warned of, as one whose second cell is none. */
static void test_first_cells_that_are_no_number(void **state) {
    (void)state;
    static const struct {
        const char *first, *says;
    } cases[] = {{"\\N", "name it in missing="},
                 {"<NA>", "name it in missing="},
                 {"unknown", "(\"unknown\"), although 3 of its 4 cells are numbers"},
                 {"1.000.000", "thousands=."}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct response *r =
            status_check(call_upload("/v1/datasets/first",
                                     text("v;w;y\n%s;7;a\n1;8;b\n2;7;a\n3.500;9;b\n",
                                          cases[i].first)),
                         201);
        assert_int_equal(count_at(r, "/notes/warnings"), 1);
        if (strstr(string_at(r, "/notes/warnings/0"), cases[i].says) == NULL) {
            fail_msg("%s is not in %s", cases[i].says, r->body);
        }
        status_check(call_delete("/v1/datasets/first"), 204);
    }
    const struct response *r =
        status_check(call_text("PUT", "/v1/datasets/first", "application/json",
                               "[{\"v\":\"1\",\"y\":\"a\"},{\"v\":\"2\",\"y\":\"b\"}]"),
                     201);
    assert_non_null(strstr(string_at(r, "/notes/warnings/0"), "without quotes"));
    r = status_check(call_upload("/v1/datasets/mixed", "v,y\nb,a\n2,b\nc,a\n"), 201);
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
}

/* Converters of encodings with combining marks keep the last letter until the next one. */
static void test_the_last_character_of_each_encoding(void **state) {
    (void)state;
    static const char *const encodings[] = {"utf-8",        "iso-8859-1",   "iso-8859-2",
                                            "iso-8859-15",  "windows-1250", "windows-1251",
                                            "windows-1252", "windows-1253", "windows-1254",
                                            "windows-1255", "windows-1256", "windows-1257",
                                            "windows-1258", "cp437",        "cp850",
                                            "gb18030",      "big5",         "shift_jis",
                                            "euc-jp",       "euc-kr"};
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        const struct response *r =
            call_upload(text("/v1/datasets/last?encoding=%s", encodings[i]), "a,b\n1,xa\n2,ya");
        status_check(r, 201);
        assert_string_equal(rows_of("last"), "a,b\n1,xa\n2,ya\n");
        status_check(call_delete("/v1/datasets/last"), 204);
    }
}

static void test_reasons(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_upload("/v1/datasets/reasons",
                                 "n,d,x,big\n1,1/31/24,1,9007199254740993\n2,2/1/24,0x1F,1\n"),
                     201);
    assert_false(has(r, "/columns/0/type_reason"));
    assert_json(r, "/columns/1/type_reason/row", "1");
    assert_json(r, "/columns/2/type_reason/row", "2");
    assert_json(r, "/columns/2/type_reason/line", "3");
    assert_json(r, "/columns/2/type_reason/cell", "'0x1F'");
    assert_int_equal(count_at(r, "/notes/warnings"),
                     3); /* the date, the hexadecimal number, the large integer */
}

/* Numbers that lose digits are reported by a preview, an upload and an append. */
static void test_rounded_numbers(void **state) {
    (void)state;
    static const char body[] = "id,y\n9007199254740993,a\n2,b\n9007199254740995,a\n";
    static const char warning[] =
        "column \"id\": a double does not hold 2 of its numbers exactly, the first is "
        "\"9007199254740993\" in line 2, it was read as 9007199254740992: an upload with "
        "types=id:categorical keeps them as written";
    assert_string_equal(
        string_at(status_check(call_text("POST", "/v1/datasets:preview", NULL, body), 200),
                  "/warnings/0"),
        warning);
    assert_string_equal(string_at(status_check(call_upload("/v1/datasets/ids", body), 201),
                                  "/notes/warnings/0"),
                        warning);
    const struct response *r = status_check(call_text("POST", "/v1/datasets/ids/rows", NULL,
                                                      "id,y\n-9007199254740993,b\n"),
                                            201);
    assert_non_null(strstr(string_at(r, "/notes/append/warnings/0"),
                           "\"-9007199254740993\" in line 2 of the appended rows exactly, it was "
                           "read as -9007199254740992"));
    r = status_check(call_upload("/v1/datasets/ids?types=id:categorical", body), 200);
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    assert_string_equal(rows_of("ids"), body);
}

/* UTF-8 that is sent with the name of another encoding. */
static void test_doubtful_encoding(void **state) {
    (void)state;
    static const char utf8[] = "a,y\n1,x\n2,caf\xC3\xA9 noir\n3,x\n4,\xE2\x82\xAC\n";
    static const char charset[] = "Content-Type: text/csv; charset=iso-8859-1";
    const struct response *r =
        status_check(call_upload("/v1/datasets/doubt?encoding=latin1", utf8), 201);
    assert_non_null(strstr(string_at(r, "/notes/warnings/0"),
                           "line 3 (caf\xC3\xA9 noir) and 1 more character;"));
    r = status_check(call_text("POST", "/v1/datasets:preview", charset, utf8), 200);
    assert_int_equal(count_at(r, "/notes/warnings"), 1);
    r = status_check(call_text("POST", "/v1/datasets/doubt/rows", charset, utf8), 201);
    assert_non_null(strstr(string_at(r, "/notes/append/warnings/0"), "the body is UTF-8"));
    r = status_check(call_upload_bytes("/v1/datasets/well?encoding=latin1", "a,y\n1,caf\xE9\n2,x\n",
                                       15, NULL),
                     201);
    assert_int_equal(count_at(r, "/notes/warnings"), 0);
    r = problem_check(call_upload("/v1/datasets/refused?encoding=windows-1252",
                                  "a,y\n1,\xC3\x81\n"),
                      422, "invalid-dataset");
    assert_non_null(strstr(string_at(r, "/errors/0/detail"), "the bytes are UTF-8"));
    job_train("{'model':'doubt','dataset':'well','target':'y','algorithm':'logistic'}");
    r = status_check(call_text("POST", "/v1/models/doubt/predict", charset, "a,b\n1,\xC3\xA9\n"),
                     200);
    assert_non_null(strstr(string_at(r, "/warnings/0"), "the body is UTF-8"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_ndjson),
        TEST(test_comments),
        TEST(test_on_error),
        TEST(test_bytes_of_other_formats),
        TEST(test_first_cells_that_are_no_number),
        TEST(test_the_last_character_of_each_encoding),
        TEST(test_reasons),
        TEST(test_rounded_numbers),
        TEST(test_encodings),
        TEST(test_doubtful_encoding),
    };
    return RUN(tests);
}
