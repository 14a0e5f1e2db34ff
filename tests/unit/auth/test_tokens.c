/* Token files: what is accepted and refused, how secrets are found, which names match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/token_file.h"
#include "auth/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* BLAKE2b-256 of "a" and "b", as `printf a | b2sum -l 256` prints them. */
#define HASH_A "b2:8928aae63c84d87ea098564d1e03ad813f107add474e56aedd286349c0c03ea4"
#define HASH_B "b2:6e5c1f45cbaf19f94230ba3501c378a5335af71a331b5b5aed62792332288dc3"

static struct tokens *parse(const char *text) {
    struct problem problem = {0};
    struct tokens *out = NULL;
    if (!tokens_parse("f", text, strlen(text), &out, &problem)) {
        fail_msg("%s: %s", text, problem.detail);
    }
    return out;
}

static void test_a_file(void **state) {
    (void)state;
    struct tokens *t = parse("# comment\n\n a  " HASH_A "\tread \r\n"
                             "b " HASH_B " predict,train only=x-*,y expires=2027-01-31");
    assert_int_equal(tokens_count(t), 2);
    const struct auth_token *a = tokens_find(t, "a", 1), *b = tokens_find(t, "b", 1);
    assert_string_equal(a->name, "a");
    assert_int_equal(a->line, 3);
    assert_int_equal(a->scopes, AUTH_READ);
    assert_null(a->only_json);
    assert_true(auth_token_matches(a, "anything"));
    assert_string_equal(b->name, "b");
    assert_int_equal(b->scopes, AUTH_PREDICT | AUTH_TRAIN | AUTH_READ);
    assert_string_equal(b->only_json, "[\"x-*\",\"y\"]");
    /* 20,849 days: 57 years from 1970 with 14 leap days (1972 … 2024), and 30 days */
    assert_int_equal(b->expires_ms, INT64_C(20849) * 86400000);
    assert_null(tokens_find(t, "c", 1));
    assert_null(tokens_find(t, "", 0));
    assert_ptr_equal(tokens_named(t, "b"), b);
    assert_null(tokens_named(t, "c"));
    assert_true(auth_token_permits(b, AUTH_READ));
    assert_false(auth_token_permits(b, AUTH_WRITE));
    assert_false(auth_token_permits(b, AUTH_ADMIN));
    tokens_unref(t);
    t = parse("a " HASH_A " read rate=100/s rows=5 calls=4 jobs=3 bytes=2G");
    const struct auth_limits *l = &tokens_at(t, 0)->limits;
    assert_true(l->requests == 100 && l->rows == 5);
    assert_int_equal(l->calls, 4);
    assert_int_equal(l->jobs, 3);
    assert_int_equal(l->bytes, INT64_C(2) << 30);
    struct tokens *next = parse("b " HASH_B " read\na " HASH_A " read");
    assert_true(tokens_adopt(t, NULL) && tokens_adopt(next, t));
    assert_ptr_equal(tokens_named(next, "a")->usage, tokens_named(t, "a")->usage);
    assert_ptr_not_equal(tokens_named(next, "b")->usage, tokens_named(t, "a")->usage);
    tokens_unref(t);
    tokens_unref(next);
    tokens_unref(NULL);
    t = parse("");
    assert_int_equal(tokens_count(t), 0);
    assert_null(tokens_find(t, "a", 1));
    tokens_unref(t);
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"a", "f line 1: a token must have a name, a hash and scopes"},
        {"\na " HASH_A, "f line 2: a token must have a name, a hash and scopes"},
        {"-a " HASH_A " read", "f line 1: the name must match"},
        {"a b2:12 read", "f line 1: the hash must be \"b2:\" and 64"},
        {"a B2" HASH_A " read", "f line 1: the hash must be"},
        {"a " HASH_A "0 read", "f line 1: the hash must be"},
        {"a " HASH_A " Read", "f line 1: the scope must be read"},
        {"a " HASH_A " read,,train", "f line 1: the scope must be read"},
        {"a " HASH_A " read on", "\"on\" must be NAME=VALUE"},
        {"a " HASH_A " read until=1", "f line 1: until is not known"},
        {"a " HASH_A " read only=", "f line 1: only must be names"},
        {"a " HASH_A " read only=x,,y", "f line 1: only must be names"},
        {"a " HASH_A " read only=x only=y", "f line 1: only is given twice"},
        {"a " HASH_A " read rate=5 rate=500", "f line 1: rate is given twice"},
        {"a " HASH_A " read bytes=5 jobs=1 bytes=9G", "f line 1: bytes is given twice"},
        {"a " HASH_A " read expires=soon", "f line 1: expires must be a time"},
        {"a " HASH_A " read expires=2027-02-29", "f line 1: expires must be a time"},
        {"a " HASH_A " read expires=1970-01-01", "f line 1: expires must be a time"},
        {"a " HASH_A " read expires=2027-01-01 expires=2028-01-01",
         "f line 1: expires is given twice"},
        {"a " HASH_A " read rate=0", "f line 1: rate must be requests in a second"},
        {"a " HASH_A " read rate=1/m", "f line 1: rate must be requests in a second"},
        {"a " HASH_A " read rows=1K", "f line 1: rows must be rows in a second"},
        {"a " HASH_A " read jobs=-1", "f line 1: jobs must be a number of jobs"},
        {"a " HASH_A " read calls=", "f line 1: calls must be a number of calls"},
        {"a " HASH_A " read bytes=1X", "f line 1: bytes must be a size"},
        {"a " HASH_A " read bytes=1MM", "f line 1: bytes must be a size"},
        {"a " HASH_A " read bytes=9999999T", "f line 1: bytes must be a size"},
        {"a " HASH_A " read\na " HASH_B " read", "f line 2: the name \"a\" is that of line 1"},
        {"a " HASH_A " read\n\nb " HASH_A " read", "f line 3: the hash is that of line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};
        struct tokens *out = NULL;
        assert_false(tokens_parse("f", cases[i].text, strlen(cases[i].text), &out, &problem));
        if (strstr(problem.detail, cases[i].fault) == NULL) {
            fail_msg("%s: %s", cases[i].text, problem.detail);
        }
        assert_null(out);
        problem_done(&problem);
    }
    struct problem problem = {0};
    struct tokens *out = NULL;
    assert_false(tokens_parse("f", "a\0b", 3, &out, &problem));
    problem_done(&problem);
}

static void test_patterns(void **state) {
    (void)state;
    static const struct {
        const char *patterns, *name;
        bool matches;
    } cases[] = {{"churn-*", "churn-1", true},
                 {"churn-*", "churn-", true},
                 {"churn-*", "churn", false},
                 {"churn-*", "xchurn-1", false},
                 {"*", "x", true},
                 {"a,b", "b", true},
                 {"a,b", "a,b", false},
                 {"a,b", "ab", false},
                 {"*-eu", "m-eu", true},
                 {"*-eu", "m-eu-2", false},
                 {"a*b*c", "aXbXbXc", true},
                 {"a*b*c", "aXbXb", false},
                 {"a**c", "ac", true},
                 {"A*", "a1", false},
                 {"x,*1*", "model-10", true},
                 {"a.c", "abc", false},
                 {"*ab", "aab", true},
                 {"*aab*", "aaab", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "a " HASH_A " read only=%s", cases[i].patterns);
        struct tokens *t = parse(text);
        if (auth_token_matches(tokens_at(t, 0), cases[i].name) != cases[i].matches) {
            fail_msg("%s and %s", cases[i].patterns, cases[i].name);
        }
        tokens_unref(t);
    }
}

/* As many tokens as there may be are all found; one more is refused. */
static void test_many(void **state) {
    (void)state;
    struct buf text = {0};
    struct problem problem = {0};
    struct tokens *t = NULL, *none = NULL;
    char secret[16], hex[HASH_BLAKE2B_TEXT];
    uint8_t hash[HASH_BLAKE2B_SIZE];
    for (int i = 0; i <= TOKENS_MAX; i++) {
        if (i == TOKENS_MAX) {
            assert_true(tokens_parse("f", text.data, text.size, &t, &problem));
        }
        const int n = snprintf(secret, sizeof secret, "s%d", i);
        hash_blake2b(secret, (size_t)n, hash);
        hash_hex(hash, sizeof hash, hex);
        buf_printf(&text, "t%d b2:%s read\n", i, hex);
    }
    assert_false(tokens_parse("f", text.data, text.size, &none, &problem));
    assert_string_equal(problem.detail, "f line 1001: more than 1000 tokens");
    problem_done(&problem);
    for (int j = 0; j < 2 * TOKENS_MAX; j++) { /* twice: a secret that was found is remembered */
        const int i = j % TOKENS_MAX, n = snprintf(secret, sizeof secret, "s%d", i);
        assert_null(tokens_find(t, secret, 1));
        assert_ptr_equal(tokens_find(t, secret, (size_t)n), tokens_at(t, (size_t)i));
    }
    tokens_unref(t);
    buf_done(&text);
}

/* A file is replaced as a whole; its mode stays; no file is left beside it. */
static void test_replace(void **state) {
    (void)state;
    char dir[] = "/tmp/discern-token-file.XXXXXX", path[64];
    struct problem problem = {0};
    struct buf out = {0};
    struct stat info;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/t", dir);
    assert_false(token_file_read(path, &out, &info, &problem));
    problem_done(&problem);
    assert_true(token_file_replace(path, "one\n", 4, &problem));
    assert_true(token_file_read(path, &out, &info, &problem));
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_string_equal(buf_cstr(&out), "one\n");
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(token_file_replace(path, "two\n", 4, &problem));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(chmod(path, 0602), 0);
    assert_false(token_file_read(path, &out, &info, &problem));
    assert_non_null(strstr(problem.detail, "may be written by its group or by others (mode 0602)"));
    problem_done(&problem);
    assert_int_equal(unlink(path), 0);
    assert_false(token_file_read(dir, &out, &info, &problem));
    assert_non_null(strstr(problem.detail, "is not a regular file"));
    problem_done(&problem);
    buf_done(&out);
    assert_int_equal(rmdir(dir), 0); /* fails if a file is left */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file),   cmocka_unit_test(test_faults),
        cmocka_unit_test(test_patterns), cmocka_unit_test(test_many),
        cmocka_unit_test(test_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
