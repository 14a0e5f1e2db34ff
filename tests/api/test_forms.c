/* Bodies of type multipart/form-data, and of type text/plain: rows in them are read as the same
 * rows sent as the body. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS "a,b,y\n1,2,n\n3,4,y\n5,6,n\n7,9,y\n2,2,n\n9,9,y\n"
#define BOUNDARY "------------------------a1b2c3"
#define TYPE "Content-Type: multipart/form-data; boundary=" BOUNDARY
#define PART(name, more, content)                                                                  \
    "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"" name "\"" more "\r\n\r\n" content  \
    "\r\n"
#define FILE_PART(content)                                                                         \
    PART("file", "; filename=\"rows.csv\"\r\nContent-Type: application/vnd.ms-excel", content)
#define LAST "--" BOUNDARY "--\r\n"

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    status_check(call_upload("/v1/datasets/plain", ROWS), 201);
    job_train("{'model':'m','dataset':'plain','target':'y','algorithm':'logistic'}");
    keep_free();
    return 0;
}

static const struct response *post(const char *path, const char *form) {
    return call_text("POST", path, TYPE, form);
}

/* Uploads, previews and appends have the same content as the rows sent as the body. */
static void test_tables(void **state) {
    (void)state;
    const struct response *plain = call_get("/v1/datasets/plain"),
                          *a = call_text("PUT", "/v1/datasets/form", TYPE, FILE_PART(ROWS) LAST);
    status_check(a, 201);
    assert_string_equal(string_at(a, "/sha256"), string_at(plain, "/sha256"));
    assert_string_equal(string_at(a, "/content"), string_at(plain, "/content"));
    static const char *const types[] = {
        TYPE "; charset=utf-8",
        "Content-Type: multipart/form-data; Boundary=" BOUNDARY " ;charset=utf-8",
        "Content-Type: multipart/form-data;charset=utf-8;boundary=\"" BOUNDARY "\"; a=b",
        "Content-Type: Multipart/Form-Data; boundary=\"" BOUNDARY "\""};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        a = status_check(call_text("POST", "/v1/datasets:preview", types[i], FILE_PART(ROWS) LAST),
                         200);
        assert_int_equal(count_at(a, "/columns"), 3);
    }
    status_check(call_text("PUT", "/v1/datasets/field", TYPE, PART("x", "", ROWS) LAST), 201);
    a = post("/v1/datasets:preview", FILE_PART(ROWS) LAST);
    status_check(a, 200);
    assert_int_equal(whole_at(a, "/columns/2/distinct"), 2);
    a = post("/v1/datasets/form/rows", FILE_PART("a,b,y\r\n8,8,y\r\n") LAST);
    status_check(a, 201);
    assert_int_equal(whole_at(a, "/rows"), 7);
}

/* Sends the request in pieces of this size, after the first `whole` bytes. */
static void upload_in_pieces(const char *request, size_t whole, size_t piece) {
    const int fd = raw_open();
    const size_t size = strlen(request);
    assert_true(raw_send(fd, request, whole));
    while (whole < size) {
        const size_t n = size - whole < piece ? size - whole : piece;
        assert_true(raw_send(fd, request + whole, n));
        whole += n;
    }
    assert_int_equal(raw_talk(fd, "", 0, 60)->status, 201);
    close(fd);
}

/* The content of a part may have line ends and parts of the boundary, and be long. The form may
 * arrive in any pieces, and have a preamble. */
static void test_pieces(void **state) {
    (void)state;
    const char *rows = "n,t\n";
    for (int i = 0; i < 3000; i += 500) {
        const char *some = "";
        for (int j = i; j < i + 500; j++) {
            some = text("%s%d,\"%d\r\n--%.*s\"\n", some, j, j, j % 24, BOUNDARY);
        }
        rows = text("%s%s", rows, some);
    }
    const char *form = text("preamble\r\n--" BOUNDARY "\r\nContent-Disposition: form-data; "
                            "name=\"f\"; filename=\"a.csv\"\r\n\r\n%s\r\n" LAST,
                            rows);
    status_check(call_upload("/v1/datasets/long", rows), 201);
    const char *sha256 = text("%s", string_at(call_get("/v1/datasets/long"), "/sha256"));
    status_check(call_text("PUT", "/v1/datasets/long-form", TYPE, form), 201);
    assert_string_equal(string_at(call_get("/v1/datasets/long-form"), "/sha256"), sha256);
    static const size_t pieces[] = {1, 7, 1000};
    for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
        const char *head = text("PUT /v1/datasets/pieces-%zu HTTP/1.1\r\nHost: localhost\r\n" TYPE
                                "\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                                pieces[k], strlen(form));
        upload_in_pieces(text("%s%s", head, form),
                         strlen(head) + (pieces[k] < 1000 ? strlen(form) - 500 : 0), pieces[k]);
        upload_in_pieces(text("PUT /v1/datasets/short-%zu HTTP/1.1\r\nHost: localhost\r\n" TYPE
                              "\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                              pieces[k], strlen(FILE_PART(ROWS) LAST), FILE_PART(ROWS) LAST),
                         60, pieces[k]);
        assert_string_equal(string_at(call_get("/v1/datasets/pieces-%zu", pieces[k]), "/sha256"),
                            sha256);
        assert_int_equal(whole_at(call_get("/v1/datasets/short-%zu", pieces[k]), "/rows"), 6);
    }
}

/* Predictions, transforms and evaluations. */
static void test_instances(void **state) {
    (void)state;
    const struct response *want =
        call_text("POST", "/v1/models/m/predict", "Content-Type: text/csv", "a,b\n3,4\n1,1\n");
    const char *expected = text("%s", want->body);
    const struct response *a = post("/v1/models/m/predict", FILE_PART("a,b\n3,4\n1,1\n") LAST);
    status_check(a, 200);
    assert_string_equal(a->body, expected);
    status_check(post("/v1/models/m/predict", FILE_PART("{\"instances\":[[1,2]]}") LAST), 200);
    status_check(post("/v1/models/m/predict",
                      FILE_PART("{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":2}\n") LAST),
                 200);
    a = post("/v1/models/m/evaluate", FILE_PART(ROWS) LAST);
    status_check(a, 200);
    assert_int_equal(whole_at(a, "/rows"), 6);
    a = call_text("POST", "/v1/models/m/predict", "Content-Type: text/plain;charset=UTF-8",
                  "a,b\n3,4\n1,1\n");
    status_check(a, 200);
    assert_string_equal(a->body, expected);
    status_check(call_text("PUT", "/v1/datasets/text", "Content-Type: text/plain", ROWS), 201);
}

static void refused(const char *form, const char *word) {
    const struct response *a = call_text("PUT", "/v1/datasets/refused", TYPE, form);
    problem_check(a, 400, "bad-request");
    assert_non_null(strstr(string_at(a, "/detail"), word));
    a = post("/v1/models/m/predict", form);
    problem_check(a, 400, "bad-request");
    assert_non_null(strstr(string_at(a, "/detail"), word));
    status_check(call_get("/v1/datasets/refused"), 404);
}

/* A form that is not exactly one part, or not complete, is refused with the reason. */
static void test_refused(void **state) {
    (void)state;
    refused(FILE_PART(ROWS) PART("header", "", "yes") LAST, "the field \"header\"");
    refused(PART("header", "", "yes") FILE_PART(ROWS) LAST, "the field \"header\"");
    refused(PART("x", "", "1") PART("header", "", "yes") LAST, "the field \"header\"");
    refused(FILE_PART(ROWS) FILE_PART(ROWS) LAST, "a second file, \"file\"");
    refused(FILE_PART(ROWS) LAST "epilogue", "last boundary");
    refused(LAST, "no part");
    refused("a,b\n1,2\n", "no part");
    refused(FILE_PART(ROWS), "last boundary");
    refused("--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n" ROWS,
            "last boundary");
    refused(PART("f", "\r\nContent-Type: text/csv; charset=windows-1252", ROWS) LAST,
            "query parameter \"encoding\"");
    refused(PART("f", "\r\nContent-Transfer-Encoding: base64", "YQ==") LAST, "base64");
    const struct response *a =
        call_text("PUT", "/v1/datasets/refused", "Content-Type: multipart/form-data; boundary=x",
                  "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n" ROWS "\r\n--x--\r\n");
    problem_check(a, 400, "bad-request");
    assert_non_null(strstr(string_at(a, "/detail"), "of 2 to 70 characters"));
    a = call_text("PUT", "/v1/datasets/refused", "Content-Type: multipart/form-data", ROWS);
    problem_check(a, 400, "bad-request");
    assert_non_null(strstr(string_at(a, "/detail"), "boundary"));
    problem_check(post("/v1/jobs", FILE_PART("{}") LAST), 415, "unsupported-media-type");
    problem_check(call_text("PUT", "/v1/datasets/refused", TYPE, FILE_PART("") LAST), 422,
                  "invalid-dataset");
    problem_check(call_text("PUT", "/v1/datasets/refused", "Content-Type: multipart/mixed", ROWS),
                  415, "unsupported-media-type");
}

/* ?encoding= says how the file is encoded, whatever the charset of its part is. */
static void test_encoding(void **state) {
    (void)state;
    static const char *const form =
        PART("f", "; filename=\"a.csv\"\r\nContent-Type: text/csv; charset=windows-1252",
             "caf\xE9,y\n1,a\n2,b\n") LAST;
    const struct response *a =
        status_check(call_text("PUT", "/v1/datasets/latin?encoding=windows-1252", TYPE, form), 201);
    assert_string_equal(string_at(a, "/columns/0/name"), "caf\xC3\xA9");
    status_check(
        call_text("PUT", "/v1/datasets/latin-2",
                  "Content-Type: multipart/form-data; charset=windows-1252; boundary=" BOUNDARY,
                  form),
        201);
    a = status_check(post("/v1/models/m/predict?encoding=windows-1252",
                          PART("f", "\r\nContent-Type: text/csv; charset=windows-1252",
                               "a,b\n3,4\n") LAST),
                     200);
    assert_int_equal(count_at(a, "/predictions"), 1);
}

/* Content-Encoding would be that of the form: the hint for a compressed file is another. */
static void test_compressed_file(void **state) {
    (void)state;
    const struct response *a = problem_check(call_text("PUT", "/v1/datasets/refused", TYPE,
                                                       FILE_PART("\x1F\x8B\x08\x01\xFF\xFE") LAST),
                                             422, "invalid-dataset");
    assert_non_null(strstr(a->body, "unpack them (gunzip FILE.gz), or send the file as the body"));
}

/* Bytes outside of the part are limited: a form cannot keep a connection busy with a preamble. */
static void test_frame(void **state) {
    (void)state;
    char *preamble = keep(malloc(200001), free);
    assert_non_null(preamble);
    memset(preamble, 'x', 200000);
    preamble[200000] = '\0';
    refused(text("%s\r\n%s", preamble, FILE_PART(ROWS) LAST), "outside of its part");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_tables),         TEST(test_pieces),
                                       TEST(test_instances),      TEST(test_refused),
                                       TEST(test_frame),          TEST(test_encoding),
                                       TEST(test_compressed_file)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
