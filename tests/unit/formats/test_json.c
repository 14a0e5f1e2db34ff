/* Tests of the incremental JSON reader: its tokens, its faults with their places, that the result
 * does not depend on where the input is cut, and that it accepts the same texts as Jansson. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json_write.h"
#include "formats/json/json_reader.h"
#include <discern/table.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Appends the token as one line. */
static void put_token(const struct json_token *t, struct buf *out) {
    static const char *const names[] = {[JSON_TOKEN_BEGIN_ARRAY] = "[",
                                        [JSON_TOKEN_END_ARRAY] = "]",
                                        [JSON_TOKEN_BEGIN_OBJECT] = "{",
                                        [JSON_TOKEN_END_OBJECT] = "}",
                                        [JSON_TOKEN_KEY] = "key",
                                        [JSON_TOKEN_STRING] = "string",
                                        [JSON_TOKEN_NUMBER] = "number",
                                        [JSON_TOKEN_TRUE] = "true",
                                        [JSON_TOKEN_FALSE] = "false",
                                        [JSON_TOKEN_NULL] = "null",
                                        [JSON_TOKEN_NOT_FINITE] = "not-finite"};
    buf_puts(out, names[t->kind]);
    if (t->kind == JSON_TOKEN_KEY || t->kind == JSON_TOKEN_STRING) {
        buf_putc(out, ' ');
        json_escape(out, t->text, t->length);
    } else if (t->kind == JSON_TOKEN_NUMBER) {
        char form[DN_NUMBER_SIZE];
        dn_number_format(t->number, form);
        buf_printf(out, " %.*s %s", (int)t->length, t->text, t->finite ? form : "infinite");
    }
    buf_putc(out, '\n');
}

/* Appends the tokens of a body that is fed in pieces, then the fault with its place, or "end".
 * bulk: reads arrays of numbers with json_reader_numbers. */
static void tokens(const char *body, size_t size, const size_t *cut, size_t n_cuts, bool bulk,
                   struct buf *out) {
    struct json_reader r;
    struct json_token token;
    size_t piece_at = 0;
    char *piece = NULL;
    json_reader_init(&r);
    for (size_t i = 0; i <= n_cuts + 1; i++) {
        if (i <= n_cuts) {
            const size_t upto = i < n_cuts ? cut[i] : size;
            free(piece);
            piece = malloc(upto - piece_at + 1);
            assert_non_null(piece);
            memcpy(piece, body + piece_at, upto - piece_at);
            json_reader_feed(&r, piece, upto - piece_at);
            piece_at = upto;
        } else {
            json_reader_close(&r);
        }
        for (;;) {
            double numbers[3];
            const size_t n = bulk ? json_reader_numbers(&r, numbers, 3) : 0;
            for (size_t k = 0; k < n; k++) {
                char form[DN_NUMBER_SIZE];
                dn_number_format(numbers[k], form);
                buf_printf(out, "number %s\n", form);
            }
            if (json_reader_next(&r, &token) < JSON_TOKEN_BEGIN_ARRAY) {
                break;
            }
            if (bulk && token.kind == JSON_TOKEN_NUMBER) {
                char form[DN_NUMBER_SIZE];
                dn_number_format(token.number, form);
                buf_printf(out, "number %s\n", token.finite ? form : "infinite");
            } else {
                put_token(&token, out);
            }
        }
        if (token.kind != JSON_TOKEN_MORE) {
            break;
        }
    }
    if (token.kind == JSON_TOKEN_FAULT) {
        struct problem problem = {0};
        json_reader_problem(&r, &problem);
        assert_int_equal(problem.type, PROBLEM_BAD_JSON);
        assert_int_equal(problem.n_errors, 1);
        buf_printf(out, "fault %" PRId64 ":%" PRId64 " %s\n", problem.errors[0].line,
                   problem.errors[0].column, problem.errors[0].detail);
        problem_done(&problem);
    } else {
        assert_int_equal(token.kind, JSON_TOKEN_END);
        buf_puts(out, "end\n");
    }
    free(piece);
    json_reader_done(&r);
}

static void check_tokens(const char *body, const char *expected) {
    struct buf out = {0};
    tokens(body, strlen(body), NULL, 0, false, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

static void test_tokens(void **state) {
    (void)state;
    check_tokens("[1, -2.50,3e2]", "[\nnumber 1 1\nnumber -2.50 -2.5\nnumber 3e2 300\n]\nend\n");
    check_tokens(" {\"a\" : \"b\" , \"\":{} }\n",
                 "{\nkey \"a\"\nstring \"b\"\nkey \"\"\n{\n}\n}\nend\n");
    check_tokens("[true,false,null,[]]", "[\ntrue\nfalse\nnull\n[\n]\n]\nend\n");
    check_tokens("\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\\\\\"",
                 "string \"\xC3\xA9\xF0\x9F\x98\x80\\n\\\"/\\\\\"\nend\n");
    check_tokens("-0", "number -0 -0\nend\n");
    check_tokens("[1e999,-1e-999]", "[\nnumber 1e999 infinite\nnumber -1e-999 -0\n]\nend\n");
}

#define ESCAPES " \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t and \\u with four hexadecimal digits\n"
#define A_PAIR " a surrogate pair without the other half\n"

static void test_faults(void **state) {
    static const struct {
        const char *body, *last;
    } cases[] = {
        {"", "fault 1:1 the body is empty\n"},
        {"  \n ", "fault 2:2 the body is empty\n"},
        {"[1,]", "fault 1:4 a value is expected here\n"},
        {"[1 2]", "fault 1:4 a comma or the end of the array or object is expected here\n"},
        {"[\n1,\n  01]", "fault 3:3 malformed number\n"},
        {"[1.]", "fault 1:2 malformed number\n"},
        {"[.5]", "fault 1:2 unknown word where a value is expected\n"},
        {"[+1]", "fault 1:2 unknown word where a value is expected\n"},
        {"[-]", "fault 1:2 malformed number\n"},
        {"[1e]", "fault 1:2 malformed number\n"},
        {"[NaN]", "fault 1:2 JSON has no NaN or Infinity: send null for a missing value\n"},
        {"[-Infinity]", "fault 1:2 JSON has no NaN or Infinity: send null for a missing value\n"},
        {"[tru]", "fault 1:2 unknown word where a value is expected\n"},
        {"[truee]", "fault 1:2 unknown word where a value is expected\n"},
        {"{1:2}", "fault 1:2 a key in quotes or } is expected here\n"},
        {"{\"a\"}", "fault 1:5 a colon is expected here\n"},
        {"{\"a\":1,}", "fault 1:8 a key in quotes is expected here\n"},
        {"{\"a\":}", "fault 1:6 a value is expected here\n"},
        {"[1}", "fault 1:3 a comma or the end of the array or object is expected here\n"},
        {"[] []", "fault 1:4 nothing may follow the value\n"},
        {"[\"a", "fault 1:2 the body ends within a string\n"},
        {"[\"a\\", "fault 1:2 the body ends within a string\n"},
        {"[1", "fault 1:3 the body ends within an array or object\n"},
        {"[\"a\tb\"]", "fault 1:4 control character in a string: it must be escaped\n"},
        {"[\"a\nb\"]", "fault 1:4 control character in a string: it must be escaped\n"},
        {"[\"ab\\q\"]", "fault 1:5 the escape in the string is none of" ESCAPES},
        {"[\"\\u12g4\"]", "fault 1:3 the escape in the string is none of" ESCAPES},
        {"[\"\\ud800\"]", "fault 1:3 the \\u escape is half of" A_PAIR},
        {"[\"\\ud800\\u0041\"]", "fault 1:3 the \\u escape is half of" A_PAIR},
        {"[\"x\\udc00\"]", "fault 1:4 the \\u escape is half of" A_PAIR},
        {"[\"\\u0000\"]", "fault 1:3 \\u0000 is not allowed in a string or a name\n"},
        {"[\"a\xFF\"]", "fault 1:4 invalid UTF-8\n"},
        {"[\"\\n\xED\xA0\x80\"]", "fault 1:5 invalid UTF-8\n"},
        {"[\xC3\xA9]", "fault 1:2 a value or ] is expected here\n"},
        {"\xEF\xBB\xBF[]", "fault 1:1 a value is expected here\n"},
        {"[/*c*/1]", "fault 1:2 a value or ] is expected here\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = {0};
        tokens(cases[i].body, strlen(cases[i].body), NULL, 0, false, &out);
        const char *text = buf_cstr(&out), *last = strstr(text, "fault");
        assert_non_null(last);
        assert_string_equal(last, cases[i].last);
        buf_done(&out);
    }
}

/* Callers distinguish faults by their code, not by their text. */
static void test_fault_codes(void **state) {
    (void)state;
    static const struct {
        const char *body;
        enum json_reader_code code;
        bool goes_on; /* the next line can still be read */
    } rows[] = {
        {"[1 2]", JSON_READER_SYNTAX, true},
        {"", JSON_READER_EMPTY, false},
        {" ", JSON_READER_EMPTY, false},
        {"[1", JSON_READER_ENDS_IN_CONTAINER, false},
        {"[\"a", JSON_READER_ENDS_IN_STRING, false},
        {"\"a", JSON_READER_ENDS_IN_STRING, false},
        {"tru", JSON_READER_SYNTAX, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json_reader r;
        struct json_token token;
        enum json_token_kind kind;
        json_reader_init(&r);
        json_reader_feed(&r, rows[i].body, strlen(rows[i].body));
        json_reader_close(&r);
        do {
            kind = json_reader_next(&r, &token);
        } while (kind != JSON_TOKEN_FAULT && kind != JSON_TOKEN_END);
        assert_int_equal(kind, JSON_TOKEN_FAULT);
        assert_int_equal(r.fault_code, rows[i].code);
        assert_int_equal(json_reader_next_line(&r), rows[i].goes_on);
        json_reader_done(&r);
    }
}

static void test_nul_and_depth(void **state) {
    (void)state;
    struct buf out = {0};
    tokens("[\0]", 3, NULL, 0, false, &out);
    assert_string_equal(buf_cstr(&out), "[\nfault 1:2 NUL byte\n");
    buf_clear(&out);
    tokens("[\"a\0\"]", 6, NULL, 0, false, &out);
    assert_string_equal(buf_cstr(&out),
                        "[\nfault 1:4 control character in a string: it must be escaped\n");
    buf_clear(&out);
    char deep[20000];
    memset(deep, '[', 10000);
    memset(deep + 10000, ']', 10000);
    tokens(deep, sizeof deep, NULL, 0, false, &out);
    assert_non_null(strstr(buf_cstr(&out), "fault 1:65 nested deeper than 64"));
    buf_clear(&out);
    tokens(deep + 10000 - 64, 128, NULL, 0, false, &out); /* 64 levels are allowed */
    assert_non_null(strstr(buf_cstr(&out), "end\n"));
    buf_done(&out);
}

static const char *const documents[] = {
    "{\"columns\":[\"a\",\"b\"],\"rows\":[[1,\"x\"],[2.5e-3,null]]}",
    ("[{\"name\":\"caf\xC3\xA9 \\u00e9\\ud83d\\ude00 "
     "\\\\\",\"v\":-0.125},{\"v\":123456789012345678901234567890}]"),
    "[1,22,333,4444,55555,-6.5,0.25,1e5,12345678.87654321,0.1,100000000000000000000000]",
    "[[0,0,0,0,12,255,3],[0.5,0.25,1.125,7,8,9,10],\n[\"s\",1,2,true,4]]",
    "{\"a\":{\"b\":[{},[],\"\",{\"c\":null}]}} x",
    "[1,2,01]",
    "[\"\\ud83d\\u0041\"]",
    "[\"abc\xE2\x82\"]",
    "[true,false,nul]",
    "  [ 1 ,\r\n\t2 , \"long string with nothing special in it at all, just text\" ]  ",
};

static void test_cuts_never_show(void **state) {
    (void)state;
    uint64_t seed = 4;
    for (size_t d = 0; d < sizeof documents / sizeof documents[0]; d++) {
        const size_t n = strlen(documents[d]);
        struct buf whole = {0}, other = {0};
        tokens(documents[d], n, NULL, 0, false, &whole);
        for (size_t at = 0; at <= n; at++) { /* one cut, at each offset */
            buf_clear(&other);
            tokens(documents[d], n, &at, 1, false, &other);
            assert_string_equal(buf_cstr(&other), buf_cstr(&whole));
        }
        size_t every[512];
        for (size_t i = 0; i < n; i++) { /* one byte at a time */
            every[i] = i;
        }
        buf_clear(&other);
        tokens(documents[d], n, every, n, false, &other);
        assert_string_equal(buf_cstr(&other), buf_cstr(&whole));
        for (int k = 0; k < 100; k++) { /* several random cuts */
            size_t cut[8], m = 0;
            for (size_t i = 0; i < n && m < 8; i += 1 + next(&seed) % 20) {
                cut[m++] = i;
            }
            buf_clear(&other);
            tokens(documents[d], n, cut, m, false, &other);
            assert_string_equal(buf_cstr(&other), buf_cstr(&whole));
        }
        buf_done(&whole);
        buf_done(&other);
    }
}

static void test_bulk_numbers_are_the_same(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 3000; k++) {
        static const char *const pieces[] = {"1",
                                             "-2.5",
                                             "0",
                                             "3e5",
                                             "null",
                                             "\"s\"",
                                             "007",
                                             "0.12345678901234567",
                                             " 12 ",
                                             "\n7",
                                             "8\n",
                                             "[1,2]",
                                             "1.5.5",
                                             "-",
                                             "12345678901234567890"};
        struct buf body = {0}, plain = {0}, bulk = {0}, normal = {0};
        buf_putc(&body, '[');
        for (uint32_t i = 0, n = next(&seed) % 30; i < n; i++) {
            const uint32_t which = next(&seed) % 45;
            buf_puts(&body, i > 0 ? "," : "");
            buf_puts(&body,
                     pieces[which < 15 && (which < 6 || next(&seed) % 8 == 0) ? which : which % 3]);
        }
        /* the fault at the end shows whether the lines were counted */
        buf_puts(&body, k % 2 ? "]" : "] x");
        buf_puts(&body, "                                        ");
        tokens(body.data, body.size, NULL, 0, false, &plain);
        tokens(body.data, body.size, NULL, 0, true, &bulk);
        const char *text = buf_cstr(&plain);
        while (*text != '\0') { /* replaces "number AS-WRITTEN VALUE" by "number VALUE" */
            const size_t line = strcspn(text, "\n") + 1;
            if (strncmp(text, "number ", 7) == 0) {
                const char *value = strchr(text + 7, ' ') + 1;
                buf_printf(&normal, "number %.*s", (int)(line - (size_t)(value - text)), value);
            } else {
                buf_append(&normal, text, line);
            }
            text += line;
        }
        assert_string_equal(buf_cstr(&bulk), buf_cstr(&normal));
        buf_done(&body);
        buf_done(&plain);
        buf_done(&bulk);
        buf_done(&normal);
    }
}

static void test_long_strings(void **state) {
    (void)state;
    const size_t n = JSON_TOKEN_MAX + 10;
    char *body = malloc(n + 4);
    assert_non_null(body);
    memset(body, 'x', n + 4);
    body[0] = '"';
    body[JSON_TOKEN_MAX] = '"'; /* one byte less than the limit */
    const size_t cuts[] = {100, 70000, JSON_TOKEN_MAX - 1};
    for (int much = 0; much < 2; much++) {
        struct buf whole = {0}, cut = {0};
        const size_t size = much ? n : JSON_TOKEN_MAX + 1;
        if (much) {
            body[JSON_TOKEN_MAX] = 'x';
            body[JSON_TOKEN_MAX + 1] = '"';
        }
        tokens(body, size, NULL, 0, false, &whole);
        tokens(body, size, cuts, 3, false, &cut);
        assert_string_equal(buf_cstr(&whole), buf_cstr(&cut));
        assert_int_equal(strstr(buf_cstr(&whole), "longer than") != NULL, much);
        buf_done(&whole);
        buf_done(&cut);
    }
    free(body);
}

/* ---- comparison with Jansson ---- */
static void put_jansson(const json_t *v, struct buf *out) {
    char form[DN_NUMBER_SIZE];
    const char *key = NULL;
    json_t *item = NULL;
    size_t i = 0;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        buf_puts(out, "{\n");
        json_object_foreach((json_t *)(uintptr_t)v, key, item) {
            buf_puts(out, "key ");
            json_escape(out, key, strlen(key));
            buf_putc(out, '\n');
            put_jansson(item, out);
        }
        buf_puts(out, "}\n");
        break;
    case JSON_ARRAY:
        buf_puts(out, "[\n");
        json_array_foreach(v, i, item) {
            put_jansson(item, out);
        }
        buf_puts(out, "]\n");
        break;
    case JSON_STRING:
        buf_puts(out, "string ");
        json_escape(out, json_string_value(v), json_string_length(v));
        buf_putc(out, '\n');
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        dn_number_format(json_number_value(v), form);
        buf_printf(out, "number %s\n", form);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        buf_puts(out, json_is_null(v) ? "null\n" : json_is_true(v) ? "true\n" : "false\n");
        break;
    }
}

/* Makes a random document, and sometimes changes a byte of it. */
static void make_document(uint64_t *seed, int depth, struct buf *out) {
    static const char *const scalars[] = {"0",           "-1",           "2.5",
                                          "1e3",         "-0.0",         "12345678901234567890",
                                          "1E-7",        "true",         "false",
                                          "null",        "\"\"",         "\"ab\"",
                                          "\"\\u00e9\"", "\"\xC3\xA9\"", "\"\\n\\\\\"",
                                          "0.1"};
    const uint32_t what = next(seed) % (depth > 4 ? 2 : 4);
    if (what < 2) {
        buf_puts(out, scalars[next(seed) % 16]);
        return;
    }
    buf_putc(out, what == 2 ? '[' : '{');
    for (uint32_t i = 0, n = next(seed) % 5; i < n; i++) {
        buf_puts(out, i > 0 ? (next(seed) % 3 == 0 ? " ,\n" : ",") : "");
        if (what == 3) {
            buf_printf(out, "\"k%u\":", i);
        }
        make_document(seed, depth + 1, out);
    }
    buf_putc(out, what == 2 ? ']' : '}');
}

static void test_jansson_agrees(void **state) {
    (void)state;
    uint64_t seed = 6;
    size_t accepted = 0, refused = 0;
    for (int k = 0; k < 30000; k++) {
        struct buf body = {0}, ours = {0}, theirs = {0};
        make_document(&seed, 0, &body);
        if (next(&seed) % 2 == 0 && body.size > 0) {
            static const char bytes[] = "[]{},:\"0123456789.eE+-tfn\\ u\x01\xC3\xFF";
            body.data[next(&seed) % body.size] = bytes[next(&seed) % (sizeof bytes - 1)];
        }
        json_error_t error;
        json_t *tree =
            json_loadb(body.data, body.size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
        tokens(body.data, body.size, NULL, 0, true, &ours);
        const bool well = strstr(buf_cstr(&ours), "fault ") == NULL &&
                          strstr(buf_cstr(&ours), "infinite") == NULL;
        if (well != (tree != NULL)) {
            fail_msg("%s\nours: %s\ntheirs: %s", buf_cstr(&body), buf_cstr(&ours),
                     tree != NULL ? "well" : error.text);
        }
        if (well) {
            /* not compared, since Jansson keeps only the last of members with the same key */
            bool repeated = false;
            put_jansson(tree, &theirs);
            buf_puts(&theirs, "end\n");
            repeated = theirs.size != ours.size && strstr(buf_cstr(&ours), "key") != NULL;
            if (!repeated) {
                assert_string_equal(buf_cstr(&ours), buf_cstr(&theirs));
            }
        }
        accepted += well;
        refused += !well;
        json_decref(tree);
        buf_done(&body);
        buf_done(&ours);
        buf_done(&theirs);
    }
    assert_true(accepted > 5000 && refused > 2000); /* documents of both kinds were tested */
}

static void test_not_finite_when_allowed(void **state) {
    (void)state;
    struct json_reader r;
    struct json_token token;
    json_reader_init(&r);
    r.allow_not_finite = true;
    json_reader_feed(&r, "[NaN,-Infinity,Infinity]", 24);
    json_reader_close(&r);
    assert_int_equal(json_reader_next(&r, &token), JSON_TOKEN_BEGIN_ARRAY);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(json_reader_next(&r, &token), JSON_TOKEN_NOT_FINITE);
    }
    assert_int_equal(token.length, 8);
    assert_int_equal(json_reader_next(&r, &token), JSON_TOKEN_END_ARRAY);
    assert_int_equal(json_reader_next(&r, &token), JSON_TOKEN_END);
    json_reader_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tokens),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_fault_codes),
                                       cmocka_unit_test(test_nul_and_depth),
                                       cmocka_unit_test(test_cuts_never_show),
                                       cmocka_unit_test(test_bulk_numbers_are_the_same),
                                       cmocka_unit_test(test_long_strings),
                                       cmocka_unit_test(test_jansson_agrees),
                                       cmocka_unit_test(test_not_finite_when_allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
