/* Tables: every format and every way that curl sends them, types and their changes, statistics
 * recomputed from the data, hashes, rows. */
#include "lib/api.h"

#include <gnutls/crypto.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantiles by linear interpolation between the sorted numbers, and the bins of the histogram. */
static void ranks_check(const struct response *r, const char *column, const double *sorted,
                        size_t n) {
    static const char *const shares[] = {"0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"};
    double least = sorted[0], most = sorted[n - 1];
    int64_t counts[20] = {0};
    assert_true(json_is_true(value_at(r, text("%s/quantiles_exact", column))));
    assert_true(json_is_true(value_at(r, text("%s/histogram/exact", column))));
    for (size_t i = 0; i < 7; i++) {
        double rank = atof(shares[i]) * (double)(n - 1), share = rank - floor(rank);
        size_t below = (size_t)rank, above = below + 1 < n ? below + 1 : below;
        double expected = sorted[below] + share * (sorted[above] - sorted[below]);
        assert_true(fabs(real_at(r, text("%s/quantiles/%s", column, shares[i])) - expected) <=
                    1e-12 * (most - least + fabs(expected)));
    }
    if (least == most) {
        assert_int_equal(count_at(r, text("%s/histogram/counts", column)), 1);
        assert_int_equal(whole_at(r, text("%s/histogram/counts/0", column)), n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t bin = (size_t)((sorted[i] - least) / (most - least) * 20 * (1 + 1e-15));
        counts[bin < 20 ? bin : 19]++;
    }
    int64_t total = 0, off = 0;
    assert_int_equal(count_at(r, text("%s/histogram/counts", column)), 20);
    for (size_t b = 0; b < 20; b++) {
        int64_t got = whole_at(r, text("%s/histogram/counts/%zu", column, b));
        total += got;
        off += llabs(got - counts[b]);
    }
    assert_int_equal(total, n);
    /* numbers at the limit of a bin may be rounded to either bin */
    assert_true(off <= (int64_t)n / 10);
}

/* The description of a numeric column, compared with the data. */
static void column_check(const struct response *r, const struct table *t, size_t j) {
    double *sorted = keep(calloc(t->n_rows, sizeof *sorted), free);
    size_t distinct = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        sorted[i] = t->x[i * t->n_cols + j];
    }
    qsort(sorted, t->n_rows, sizeof *sorted, compare);
    for (size_t i = 0; i < t->n_rows; i++) {
        distinct += i == 0 || sorted[i] != sorted[i - 1];
    }
    const char *at = text("/columns/%zu", j);
    assert_string_equal(string_at(r, text("%s/name", at)), t->names[j]);
    assert_string_equal(string_at(r, text("%s/type", at)), "numeric");
    assert_int_equal(whole_at(r, text("%s/missing", at)), 0);
    assert_int_equal(whole_at(r, text("%s/distinct", at)), distinct);
    assert_true(real_at(r, text("%s/min", at)) == sorted[0]);
    assert_true(real_at(r, text("%s/max", at)) == sorted[t->n_rows - 1]);
    assert_true(fabs(real_at(r, text("%s/mean", at)) - t->mean[j]) <=
                1e-12 * (fabs(t->mean[j]) + t->std[j]));
    assert_true(fabs(real_at(r, text("%s/std", at)) - t->std[j]) <= 1e-9 * t->std[j]);
    ranks_check(r, at, sorted, t->n_rows);
}

static void test_statistics_of_real_tables(void **state) {
    (void)state;
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits"};
    for (size_t k = 0; k < 4; k++) {
        const struct table *t = table_read(text("tests/data/%s.csv", names[k]));
        const struct response *r = upload_file(names[k], text("%s.csv", names[k]));
        assert_int_equal(whole_at(r, "/rows"), t->n_rows);
        assert_int_equal(count_at(r, "/columns"), t->n_cols + 1);
        for (size_t j = 0; j < t->n_cols; j++) {
            column_check(r, t, j);
        }
        const char *label = text("/columns/%zu", t->n_cols);
        assert_string_equal(string_at(r, text("%s/name", label)), t->names[t->n_cols]);
        assert_int_equal(whole_at(r, text("%s/distinct", label)), t->n_classes);
        if (k == 3) { /* the classes of digits are numbers */
            assert_string_equal(string_at(r, text("%s/type", label)), "numeric");
            continue;
        }
        for (size_t c = 0; c < count_at(r, text("%s/top", label)); c++) {
            const char *level = string_at(r, text("%s/top/%zu/0", label, c));
            int64_t n = 0;
            for (size_t i = 0; i < t->n_rows; i++) {
                n += strcmp(t->label[i], level) == 0;
            }
            assert_int_equal(whole_at(r, text("%s/top/%zu/1", label, c)), n);
            if (c > 0) { /* the most frequent level is first */
                assert_true(n <= whole_at(r, text("%s/top/%zu/1", label, c - 1)));
            }
        }
    }
}

/* Means and deviations for which a plain sum of squares has no correct digit. */
static void test_statistics_far_from_zero(void **state) {
    (void)state;
    const char *body = text("x,y\n%s", repeat("1000000000.25,1e300\n1000000000.75,-1e300\n", 5000));
    const struct response *r = status_check(call_upload("/v1/datasets/far", body), 201);
    assert_close(real_at(r, "/columns/0/mean"), 1000000000.5, 1e-15);
    assert_close(real_at(r, "/columns/0/std"), 0.25, 1e-9);
    assert_int_equal(whole_at(r, "/columns/0/distinct"), 2);
}

static const char *sha256_of(const char *bytes, size_t size) {
    unsigned char digest[32];
    char hex[65];
    assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, size, digest), 0);
    for (size_t i = 0; i < 32; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    return text("%s", hex);
}

/* curl -T, from a pipe, -d, --data-binary, with and without types: equal tables, and the digest of
 * the body. */
static void test_uploads_as_curl_sends_them(void **state) {
    (void)state;
    static const char *const types[] = {NULL,
                                        "Content-Type: application/x-www-form-urlencoded",
                                        "Content-Type: application/octet-stream",
                                        "Content-Type: text/csv",
                                        "Content-Type: text/csv; charset=utf-8",
                                        "Content-Type: TEXT/CSV"};
    size_t size;
    const char *body = read_whole("tests/data/iris.csv", &size), *content = NULL,
               *sha256 = sha256_of(body, size);
    for (size_t i = 0; i < 6; i++) {
        for (int way = 0; way < 3; way++) { /* -T FILE, -T -, -X PUT --data-binary */
            const struct response *r =
                call(&(struct request){.method = "PUT",
                                       .path = text("/v1/datasets/habit-%zu-%d", i, way),
                                       .headers = HEADERS(types[i]),
                                       .body = body,
                                       .size = size,
                                       .upload = way < 2,
                                       .chunked = way == 1});
            status_check(r, 201);
            assert_string_equal(header_of(r, "Location"),
                                text("/v1/datasets/habit-%zu-%d?version=1", i, way));
            assert_string_equal(string_at(r, "/sha256"), sha256);
            assert_int_equal(whole_at(r, "/bytes"), size);
            content = content != NULL ? content : string_at(r, "/content");
            assert_string_equal(string_at(r, "/content"), content);
        }
    }
    /* If-None-Match: * with the name of an existing dataset */
    const struct response *r = call(&(struct request){.method = "PUT",
                                                      .path = "/v1/datasets/habit-0-0",
                                                      .headers = HEADERS("If-None-Match: *"),
                                                      .body = body,
                                                      .size = size,
                                                      .upload = true});
    problem_check(r, 412, "precondition-failed");
}

/* Each chunk fills the queue of the store, so that the body pauses with one chunk in the queue and
 * must continue when the queue is empty. */
static void test_chunks_that_fill_the_queue(void **state) {
    (void)state;
    enum { CELL = 256 * 1024, ROWS = 140 };
    char *body = keep(malloc((size_t)ROWS * (CELL + 1) + 8), free), *at = body;
    assert_non_null(body);
    uint32_t x = 1;
    at += sprintf(at, "t\n");
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < CELL; k++) {
            x = x * 1664525 + 1013904223;
            *at++ = (char)('a' + (x >> 24) % 26);
        }
        *at++ = '\n';
    }
    *at = '\0';
    const struct response *r = call(&(struct request){.method = "PUT",
                                                      .path = "/v1/datasets/heavy",
                                                      .body = body,
                                                      .size = (size_t)(at - body),
                                                      .upload = true});
    assert_int_equal(whole_at(status_check(r, 201), "/rows"), ROWS);
}

/* A delimiter in the query or the media type has priority over the detected one. */
static void test_given_delimiter(void **state) {
    (void)state;
    static const struct {
        const char *type, *query, *body, *delimiter;
        size_t columns;
    } tables[] = {
        {"text/csv", "", "a,b;c,d\n1,2;3,4\n5,6;7,8\n", ",", 3},
        {"text/csv", "?delimiter=;", "a,b;c,d\n1,2;3,4\n5,6;7,8\n", ";", 2},
        {NULL, "?delimiter=;", "a,b;c,d\n1,2;3,4\n5,6;7,8\n", ";", 2},
        {NULL, "?delimiter=pipe", "a,b|c,d\n1,2|3,4\n5,6|7,8\n", "|", 2},
        {"text/tab-separated-values", "", "a,b\tc,d\n1,2\t3,4\n5,6\t7,8\n", "\t", 2},
        {"text/tab-separated-values", "", "a,b,c\n1,2,3\n4,5,6\n", "\t", 1},
        {"text/tab-separated-values", "?delimiter=;", "a,b;c,d\n1,2;3,4\n", ";", 2},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const char *type = tables[i].type != NULL ? text("Content-Type: %s", tables[i].type) : NULL;
        const struct response *r =
            call(&(struct request){.method = "PUT",
                                   .path = text("/v1/datasets/told-%zu%s", i, tables[i].query),
                                   .headers = HEADERS(type),
                                   .body = tables[i].body});
        status_check(r, 201);
        assert_string_equal(string_at(r, "/notes/delimiter"), tables[i].delimiter);
        assert_int_equal(count_at(r, "/columns"), tables[i].columns);
    }
}

/* Equal tables in every format have an equal content digest. */
static void test_formats_of_one_table(void **state) {
    (void)state;
    static const struct {
        const char *type, *query, *body;
    } formats[] = {
        {NULL, "", "n,b,s\n1,true,x\n2.5,false,\n,true,y z\n"},
        {NULL, "", "n;b;s\r\n1;TRUE;x\r\n2.5;False;\r\n;true;y z\r\n"},
        {NULL, "", "n\tb\ts\n1\ttrue\tx\n2.5\tfalse\t\n\ttrue\ty z"},
        {"Content-Type: text/tab-separated-values", "",
         "n\tb\ts\n1\ttrue\tx\n2.5\tfalse\tNA\nNA\ttrue\ty z\n"},
        {NULL, "", "\xEF\xBB\xBFn,b,s\n1,true,x\n2.50,false,?\nNaN,true,\"y z\"\n"},
        {NULL, "?delimiter=%7C", "n|b|s\n1|true|x\n2.5|false|null\nnull|true|y z\n"},
        {NULL, "?missing=-,none", "n,b,s\n1.0,true,x\n2.5,false,-\nnone,true,y z\n"},
        {NULL, "",
         "[{\"n\":1,\"b\":true,\"s\":\"x\"},{\"n\":2.5,\"b\":false,\"s\":null},{\"s\":\"y "
         "z\",\"b\":true}]"},
        {"Content-Type: application/json", "",
         " {\"columns\":[\"n\",\"b\",\"s\"],\n\"rows\":[[1,true,\"x\"],[25e-1,false,null],[null,"
         "true,\"y\\u0020z\"]]}"},
        {NULL, "",
         "{\"rows\":[[1,true,\"x\"],[2.5,false,null],[null,true,\"y "
         "z\"]],\"columns\":[\"n\",\"b\",\"s\"]}"},
    };
    const char *content = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (i == sizeof formats / sizeof formats[0] -
                     1) { /* rows and columns exchanged: read, or refused with a reason */
            const struct response *r = call_upload("/v1/datasets/format", formats[i].body);
            if (r->status == 422) {
                problem_check(r, 422, "invalid-dataset");
                continue;
            }
        }
        const struct response *r =
            call_upload_bytes(text("/v1/datasets/format-%zu%s", i, formats[i].query),
                              formats[i].body, 0, formats[i].type);
        status_check(r, 201);
        assert_int_equal(whole_at(r, "/rows"), 3);
        assert_string_equal(string_at(r, "/columns/0/type"), "numeric");
        assert_string_equal(string_at(r, "/columns/1/type"), "boolean");
        assert_string_equal(string_at(r, "/columns/2/type"), "categorical");
        assert_string_equal(string_at(r, "/sha256"),
                            sha256_of(formats[i].body, strlen(formats[i].body)));
        content = content != NULL ? content : string_at(r, "/content");
        assert_string_equal(string_at(r, "/content"), content);
    }
    /* another value, type or name gives another digest */
    static const char *const others[] = {"n,b,s\n1,true,x\n2.6,false,\n,true,y z\n",
                                         "n,b,S\n1,true,x\n2.5,false,\n,true,y z\n",
                                         "n,b,s\n1,true,x\n2.5,false,\n,true,y Z\n",
                                         "n,b,s\n2.5,false,\n1,true,x\n,true,y z\n"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_not_equal(
            string_at(status_check(call_upload(text("/v1/datasets/other-%zu", i), others[i]), 201),
                      "/content"),
            content);
    }
    const struct response *r =
        call_upload("/v1/datasets/other-typed?types=n:categorical", formats[0].body);
    assert_string_not_equal(string_at(status_check(r, 201), "/content"), content);
}

static void test_header_is_recognised(void **state) {
    (void)state;
    const struct response *r =
        status_check(call_upload("/v1/datasets/headerless", "1,2,a\n3,4,b\n5,6,a\n"), 201);
    assert_int_equal(whole_at(r, "/rows"), 3);
    r = status_check(call_upload("/v1/datasets/forced?header=true", "1,2\n3,4\n5,6\n"), 201);
    assert_int_equal(whole_at(r, "/rows"), 2);
    assert_string_equal(string_at(r, "/columns/0/name"), "1");
    r = status_check(call_upload("/v1/datasets/refuted?header=false&label=kind", "x,y,z\n1,2,3\n"),
                     201);
    assert_int_equal(whole_at(r, "/rows"), 2);
    assert_string_equal(string_at(r, "/columns/2/name"), "kind");
}

static const char *csv_rows(const char *dataset, const char *columns) {
    const struct response *r =
        status_check(call_get_with("Accept: text/csv",
                                   "/v1/datasets/%s/rows?limit=1000000&columns=%s", dataset,
                                   columns),
                     200);
    char *out = keep(malloc(r->size + 1), free);
    size_t n = 0;
    for (size_t i = 0; i < r->size; i++) {
        if (r->body[i] != '\r') {
            out[n++] = r->body[i];
        }
    }
    out[n] = '\0';
    return out;
}

/* A column whose cells stop being numbers (or booleans) late in the body contains the text as
 * written, from the first row on. */
static void test_types_become_wider_and_keep_spellings(void **state) {
    (void)state;
    const char *spellings = "007,TRUE\n1.50,False\n+3,false\n1e2,true\n0x10,true\n.5,true\n5.,"
                            "true\n-0,true\n00,true\n1E+02,tRuE\n";
    const char *numbers =
        "007,TRUE\n1.50,False\n+3,false\n1e2,true\n.5,true\n-0,true\n00,true\n1E+02,tRuE\n";
    const char *many = repeat(numbers, 40000); /* more than a chunk of the store */
    const char *early = text("z,b\n%s", spellings), *late = text("z,b\n%sabc,maybe\n", many);
    assert_string_equal(
        string_at(status_check(call_upload("/v1/datasets/early?types=z:categorical,b:categorical",
                                           early),
                               201),
                  "/columns/0/type"),
        "categorical");
    assert_string_equal(csv_rows("early", "z,b"), early);
    const struct response *r = status_check(call_upload("/v1/datasets/late", late), 201);
    assert_string_equal(string_at(r, "/columns/0/type"), "categorical");
    assert_string_equal(string_at(r, "/columns/1/type"), "categorical");
    assert_int_equal(whole_at(r, "/columns/0/distinct"), 9);
    assert_string_equal(csv_rows("late", "z,b"), late);
    /* with the final types declared, the content is equal */
    const struct response *typed =
        status_check(call_upload("/v1/datasets/typed?types=z:categorical,b:categorical", late),
                     201);
    assert_string_equal(string_at(r, "/content"), string_at(typed, "/content"));
    /* without the last line the columns are numbers and booleans */
    r = status_check(call_upload("/v1/datasets/numbers", text("z,b\n%s", many)), 201);
    assert_string_equal(string_at(r, "/columns/0/type"), "numeric");
    assert_string_equal(string_at(r, "/columns/1/type"), "boolean");
    assert_close(real_at(r, "/columns/0/max"), 100, 0);
}

static void test_zeros_and_ones_are_numbers_unless_declared(void **state) {
    (void)state;
    const char *body = "y,x\n0,1\n1,2\n0,3\n";
    assert_string_equal(string_at(status_check(call_upload("/v1/datasets/plain", body), 201),
                                  "/columns/0/type"),
                        "numeric");
    const struct response *r =
        status_check(call_upload("/v1/datasets/declared?types=y:boolean", body), 201);
    assert_string_equal(string_at(r, "/columns/0/type"), "boolean");
    assert_json(call_get("/v1/datasets/declared/rows?columns=y"), "/items",
                "[{'y':false},{'y':true},{'y':false}]");
}

/* A categorical column becomes text above 10,000 distinct values, or above 100 if these are more
 * than half of the rows that are not missing. */
static void test_many_categories_become_text(void **state) {
    (void)state;
    static const struct {
        size_t distinct, rows;
        const char *type;
    } cases[] = {{100, 100, "categorical"},     {101, 101, "text"},
                 {101, 202, "categorical"},     {101, 201, "text"},
                 {10000, 20000, "categorical"}, {10001, 40000, "text"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char *body = keep(malloc(cases[k].rows * 16 + 64), free);
        size_t n = (size_t)sprintf(body, "s,x\n");
        for (size_t i = 0; i < cases[k].rows; i++) {
            n += (size_t)sprintf(body + n, "w%zu,%zu\n", i % cases[k].distinct, i % 3);
        }
        n += (size_t)sprintf(body + n, ",1\n,2\n"); /* missing cells do not count */
        const struct response *r =
            status_check(call_upload(text("/v1/datasets/levels-%zu", k), body), 201);
        assert_string_equal(string_at(r, "/columns/0/type"), cases[k].type);
        assert_int_equal(whole_at(r, "/columns/0/missing"), 2);
    }
}

static void test_rows_back_in_every_format(void **state) {
    (void)state;
    const char *body = "n,b,s,t\n1,true,\"a, b\",\"say "
                       "\"\"hi\"\"\"\n2.5,false,,\"two\nlines\"\n,true,\xC3\xBC,x\n";
    status_check(call_upload("/v1/datasets/back", body), 201);
    assert_string_equal(csv_rows("back", "n,b,s,t"), body);
    assert_json(status_check(call_get("/v1/datasets/back/rows"), 200), "/items",
                "[{'n':1,'b':true,'s':'a, b','t':'say "
                "\\'hi\\''},{'n':2.5,'b':false,'s':null,'t':'two\\nlines'},{'n':null,'b':true,'s':'"
                "\xC3\xBC','t':'x'}]");
    const struct response *r =
        status_check(call_get_with("Accept: application/x-ndjson",
                                   "/v1/datasets/back/rows?offset=1&limit=1"),
                     200);
    assert_string_equal(r->body, "{\"n\":2.5,\"b\":false,\"s\":null,\"t\":\"two\\nlines\"}\n");
    assert_string_equal(header_of(r, "Content-Type"), "application/x-ndjson");
    r = status_check(call_get_with("Accept: text/csv;q=0.9, application/json;q=0.1",
                                   "/v1/datasets/back/rows"),
                     200);
    assert_int_equal(strncmp(header_of(r, "Content-Type"), "text/csv", 8), 0);
    problem_check(call_get_with("Accept: image/png", "/v1/datasets/back/rows"), 406,
                  "not-acceptable");
    /* the answer can be uploaded: an equal table */
    const char *content = string_at(call_get("/v1/datasets/back"), "/content");
    r = status_check(call_upload("/v1/datasets/back", csv_rows("back", "n,b,s,t")), 200);
    assert_string_equal(string_at(r, "/content"), content);
    r = status_check(call_get("/v1/datasets/back/rows"), 200);
    const char *items =
        keep(json_dumps(value_at(r, "/items"), JSON_COMPACT | JSON_PRESERVE_ORDER), free);
    assert_string_equal(string_at(status_check(call_upload("/v1/datasets/again", items), 201),
                                  "/content"),
                        content);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_statistics_of_real_tables),
        TEST(test_statistics_far_from_zero),
        TEST(test_uploads_as_curl_sends_them),
        TEST(test_chunks_that_fill_the_queue),
        TEST(test_given_delimiter),
        TEST(test_formats_of_one_table),
        TEST(test_header_is_recognised),
        TEST(test_types_become_wider_and_keep_spellings),
        TEST(test_zeros_and_ones_are_numbers_unless_declared),
        TEST(test_many_categories_become_text),
        TEST(test_rows_back_in_every_format),
    };
    return RUN(tests);
}
