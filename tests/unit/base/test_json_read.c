/* Tests of typed members: values, each wrong type with its place, all faults of a document at
 * once. */
#include "lib/cmocka.h"

#include "base/json/json_read.h"

#include <stdio.h>
#include <string.h>

static json_t *parse(const char *text) {
    struct problem p = {0};
    json_t *root = json_parse(text, strlen(text), &p);
    if (root == NULL) {
        fail_msg("%s", p.detail);
    }
    return root;
}

static void assert_fault(struct problem *p, const char *pointer, const char *detail) {
    assert_int_equal(p->type, PROBLEM_INVALID);
    assert_int_equal(p->n_errors, 1);
    assert_string_equal(p->errors[0].pointer, pointer);
    assert_string_equal(p->errors[0].detail, detail);
    problem_done(p);
}

static void test_right_values(void **state) {
    (void)state;
    json_t *root = parse("{\"s\":\"x\",\"d\":2.5,\"i\":-7,\"t\":true,\"f\":false,\"o\":{\"k\":1},"
                         "\"a\":[1],\"l\":[\"p\",\"\",\"q\"],\"e\":["
                         "],\"c\":\"two\",\"n\":null}");
    struct problem p = {0};
    struct arena arena;
    arena_init(&arena, 0);
    const char *s = NULL, **list = NULL;
    double d = 0;
    int64_t i = 0;
    bool t = false, f = true;
    const json_t *o = NULL, *a = NULL;
    size_t n = 9, choice = 9;
    static const char *const choices[] = {"one", "two", NULL};
    assert_true(json_read_root(root, "", &p));
    assert_true(json_read_string(root, "s", true, "", &s, &p) && strcmp(s, "x") == 0);
    assert_true(json_read_number(root, "d", true, "", &d, &p) && d == 2.5);
    assert_true(json_read_int(root, "i", true, "", -7, 7, &i, &p) && i == -7);
    assert_true(json_read_bool(root, "t", true, "", &t, &p) && t);
    assert_true(json_read_bool(root, "f", true, "", &f, &p) && !f);
    assert_true(json_read_object(root, "o", true, "", &o, &p) && json_object_size(o) == 1);
    assert_true(json_read_array(root, "a", true, "", &a, &p) && json_array_size(a) == 1);
    assert_true(json_read_strings(root, "l", true, "", 3, &arena, &list, &n, &p) && n == 3);
    assert_string_equal(list[0], "p");
    assert_string_equal(list[1], "");
    assert_string_equal(list[2], "q");
    assert_true(json_read_strings(root, "e", true, "", 3, &arena, &list, &n, &p) && n == 0);
    assert_true(json_read_choice(root, "c", true, "", choices, &choice, &p) && choice == 1);
    assert_true(json_is_null(json_read_any(root, "n", true, "", &p)));
    assert_int_equal(p.type, PROBLEM_NONE);
    arena_done(&arena);
    json_decref(root);
}

static void test_absent(void **state) {
    (void)state;
    json_t *root = parse("{}");
    struct problem p = {0};
    double d = 5;
    assert_false(json_read_number(root, "lambda", false, "/params", &d, &p));
    assert_int_equal(p.type, PROBLEM_NONE);
    assert_true(d == 5);
    assert_false(json_read_number(root, "lambda", true, "/params", &d, &p));
    assert_fault(&p, "/params/lambda", "is missing");
    assert_null(json_read_any(root, "x", false, "", &p));
    /* an optional member that is null counts as absent */
    assert_null(json_read_any(root, "n", false, "", &p));
    assert_int_equal(p.type, PROBLEM_NONE);
    json_decref(root);
}

enum { KINDS = 7 };
static const char *const values[KINDS] = {"null", "true",      "5",    "\"abc\"",
                                          "[1]",  "{\"a\":1}", "false"};
static const char *const described[KINDS] = {"null",           "boolean true", "number 5",
                                             "string \"abc\"", "array",        "object",
                                             "boolean false"};

/* Reads member "v" as the type with this index. Returns true if no problem was found. */
static bool read_as(size_t type, const json_t *root, struct problem *p) {
    const char *s, **list;
    double d;
    int64_t i;
    bool b;
    const json_t *j;
    size_t n;
    bool good = false;
    struct arena arena;
    arena_init(&arena, 0);
    switch (type) {
    case 0:
        good = json_read_string(root, "v", true, "/x", &s, p);
        break;
    case 1:
        good = json_read_number(root, "v", true, "/x", &d, p);
        break;
    case 2:
        good = json_read_int(root, "v", true, "/x", 1, 10, &i, p);
        break;
    case 3:
        good = json_read_bool(root, "v", true, "/x", &b, p);
        break;
    case 4:
        good = json_read_object(root, "v", true, "/x", &j, p);
        break;
    case 5:
        good = json_read_array(root, "v", true, "/x", &j, p);
        break;
    default:
        good = json_read_strings(root, "v", true, "/x", 5, &arena, &list, &n, p);
    }
    arena_done(&arena);
    return good;
}

static void test_every_wrong_type(void **state) {
    (void)state;
    static const char *const rules[7] = {"a string",  "a number",  "an integer from 1 to 10",
                                         "a boolean", "an object", "an array",
                                         "an array"};
    static const char right[7][KINDS + 1] = {
        "0001000", "0010000", "0010000", "0100001",
        "0000010", "0000100", "0000200"}; /* 2: an element is faulty */
    for (size_t type = 0; type < 7; type++) {
        for (size_t k = 0; k < KINDS; k++) {
            char text[64], detail[128];
            (void)snprintf(text, sizeof text, "{\"v\":%s}", values[k]);
            json_t *root = parse(text);
            struct problem p = {0};
            const bool good = read_as(type, root, &p);
            assert_int_equal(good, right[type][k] == '1');
            if (right[type][k] == '0') {
                (void)snprintf(detail, sizeof detail, "must be %s, got %s", rules[type],
                               described[k]);
                assert_fault(&p, "/x/v", detail);
            } else if (right[type][k] == '2') {
                assert_fault(&p, "/x/v/0", "must be a string, got number 1");
            }
            problem_done(&p);
            json_decref(root);
        }
    }
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;         /* text of the member */
        int64_t minimum, maximum; /* the permitted range */
        bool good;                /* the expected result */
    } rows[] = {
        {"1", 1, 10, true},
        {"10", 1, 10, true},
        {"0", 1, 10, false},
        {"11", 1, 10, false},
        {"2.5", 1, 10, false},
        {"1e1", 1, 10, true},
        {"1.0", 1, 10, true},
        {"-0", 0, 10, true},
        {"1e300", INT64_MIN, INT64_MAX, false},
        {"-1e300", INT64_MIN, INT64_MAX, false},
        {"9007199254740991", 0, INT64_MAX, true},
        {"9007199254740992", 0, INT64_MAX, false},
        {"9007199254740993", 0, INT64_MAX, false}, /* the double is 9007199254740992 */
        {"9007199254740994", 0, INT64_MAX, false},
        {"-9007199254740991", INT64_MIN, 0, true},
        {"-9007199254740993", INT64_MIN, 0, false},
        {"1e-300", 0, 10, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "{\"v\":%s}", rows[i].text);
        json_t *root = parse(text);
        struct problem p = {0};
        int64_t v = 77;
        if (json_read_int(root, "v", true, "", rows[i].minimum, rows[i].maximum, &v, &p) !=
                rows[i].good ||
            (v == 77) == rows[i].good) {
            fail_msg("%s", rows[i].text);
        }
        problem_done(&p);
        json_decref(root);
    }
}

static void test_all_faults_are_found(void **state) {
    (void)state;
    json_t *root = parse("{\"model\":5,\"lambda\":\"x\",\"oops\":1,\"names\":[1,\"a\",null],\"a/"
                         "b\":2,\"kind\":\"three\"}");
    struct problem p = {0};
    struct arena arena;
    arena_init(&arena, 0);
    const char *s = NULL, **list = NULL;
    double d;
    size_t n, choice;
    static const char *const known[] = {"model", "lambda", "names", "kind", "seed", NULL};
    static const char *const choices[] = {"one", "two", NULL};
    json_read_string(root, "model", true, "", &s, &p);
    json_read_number(root, "lambda", true, "", &d, &p);
    json_read_strings(root, "names", true, "", 5, &arena, &list, &n, &p);
    json_read_choice(root, "kind", true, "", choices, &choice, &p);
    json_read_number(root, "seed", true, "", &d, &p);
    assert_false(json_refuse_unknown(root, known, "", &p));
    static const char *const expected[][2] = {
        {"/model", "must be a string, got number 5"},
        {"/lambda", "must be a number, got string \"x\""},
        {"/names/0", "must be a string, got number 1"},
        {"/names/2", "must be a string, got null"},
        {"/kind", "must be one of one, two, got string \"three\""},
        {"/seed", "is missing"},
        {"/oops", "is not a known member; known members: model, lambda, names, kind, seed"},
        {"/a~1b", "is not a known member; known members: model, lambda, names, kind, seed"},
    };
    assert_int_equal(p.n_errors, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < p.n_errors; i++) {
        assert_string_equal(p.errors[i].pointer, expected[i][0]);
        assert_string_equal(p.errors[i].detail, expected[i][1]);
    }
    problem_done(&p);
    arena_done(&arena);
    json_decref(root);
}

static void test_limits(void **state) {
    (void)state;
    json_t *root =
        parse("{\"v\":[\"a\",\"b\",\"c\"],\"s\":"
              "\"0123456789012345678901234567890123456789012345678901234567890123456789\"}");
    struct problem p = {0};
    struct arena arena;
    arena_init(&arena, 20);
    const char **list = NULL;
    size_t n = 0;
    double d;
    assert_false(json_read_strings(root, "v", true, "", 2, &arena, &list, &n, &p));
    assert_fault(&p, "/v", "must have at most 2 items, got 3");
    assert_false(json_read_strings(root, "v", true, "", 3, &arena, &list, &n,
                                   &p)); /* the arena's limit is reached */
    assert_int_equal(p.type, PROBLEM_UNAVAILABLE);
    assert_null(list);
    problem_done(&p);
    json_read_number(root, "s", true, "", &d, &p);
    assert_fault(&p, "/s",
                 "must be a number, got string "
                 "\"012345678901234567890123456789012345678901234567890123456789\" (cut)");
    assert_false(json_read_root(json_object_get(root, "v"), "/body", &p));
    assert_fault(&p, "/body", "must be an object, got array");
    arena_done(&arena);
    json_decref(root);
}

static void test_nothing_known(void **state) {
    (void)state;
    json_t *root = parse("{\"v\":1}");
    struct problem p = {0};
    static const char *const none[] = {NULL}, *const v[] = {"v", NULL};
    assert_true(json_refuse_unknown(root, v, "", &p));
    assert_false(json_refuse_unknown(root, none, "/p", &p));
    assert_fault(&p, "/p/v", "is not a known member; known members: none");
    struct buf out = {0};
    json_pointer_index(&out, "/instances", 12);
    assert_string_equal(buf_cstr(&out), "/instances/12");
    buf_done(&out);
    json_decref(root);
}

/* A matrix has the given number of columns, or as many as its first row; each wrong row and each
 * wrong number is reported. */
static void test_rows(void **state) {
    (void)state;
    json_t *root = parse("{\"m\":[[1,2],[3,4.5],[-5,1e300]],\"e\":[],\"v\":[1,2],\"r\":[[1,2],[3]],"
                         "\"x\":[[1,\"a\"],[null,2]],\"z\":[[]],\"s\":7}");
    struct problem p = {0};
    struct arena arena;
    double *rows = NULL;
    size_t n = 9;
    arena_init(&arena, 0);
    for (size_t width = 0; width <= 2; width += 2) {
        assert_true(json_read_rows(root, "m", true, "/o", width, 3, &arena, &rows, &n, &p));
        static const double expected[] = {1, 2, 3, 4.5, -5, 1e300};
        assert_int_equal(n, 3);
        assert_memory_equal(rows, expected, sizeof expected);
    }
    assert_true(json_read_rows(root, "e", true, "", 4, 3, &arena, &rows, &n, &p) && n == 0);
    assert_false(json_read_rows(root, "none", false, "", 4, 3, &arena, &rows, &n, &p));
    assert_int_equal(p.type, PROBLEM_NONE);
    assert_false(json_read_rows(root, "m", true, "/o", 2, 2, &arena, &rows, &n, &p));
    assert_fault(&p, "/o/m", "must have at most 2 items, got 3");
    assert_false(json_read_rows(root, "s", true, "/o", 2, 2, &arena, &rows, &n, &p));
    assert_fault(&p, "/o/s", "must be an array, got number 7");
    assert_false(json_read_rows(root, "r", true, "/o", 0, 9, &arena, &rows, &n, &p));
    assert_fault(&p, "/o/r/1", "must have 2 numbers, got 1");
    assert_false(json_read_rows(root, "z", true, "", 0, 9, &arena, &rows, &n, &p));
    assert_fault(&p, "/z/0", "must have 1 numbers, got 0");
    assert_false(json_read_rows(root, "v", true, "", 0, 9, &arena, &rows, &n, &p));
    assert_int_equal(p.n_errors, 2);
    assert_string_equal(p.errors[1].pointer, "/v/1");
    problem_done(&p);
    assert_false(json_read_rows(root, "x", true, "", 2, 9, &arena, &rows, &n, &p));
    assert_int_equal(p.n_errors, 2);
    assert_string_equal(p.errors[0].pointer, "/x/0/1");
    assert_string_equal(p.errors[0].detail, "must be a finite number, got string \"a\"");
    assert_string_equal(p.errors[1].pointer, "/x/1/0");
    problem_done(&p);
    arena_done(&arena);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_values),         cmocka_unit_test(test_absent),
        cmocka_unit_test(test_every_wrong_type),     cmocka_unit_test(test_integers),
        cmocka_unit_test(test_all_faults_are_found), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_nothing_known),        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
