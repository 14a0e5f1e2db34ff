/* Tests of problems: the list of types, the first type is kept, all faults are collected, the
 * problem document. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/problem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *document(const struct problem *p, const char *request_id) {
    struct buf text = {0};
    problem_write(p, "", request_id, &text);
    json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    buf_done(&text);
    return root;
}

static void test_list(void **state) {
    (void)state;
    enum problem_type found;
    for (int i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        const enum problem_type type = (enum problem_type)i;
        assert_true(problem_find(problem_name(type), &found));
        /* since problem_find returns the same type, the names are distinct */
        assert_int_equal(found, type);
        assert_true(problem_status(type) >= 400 && problem_status(type) < 600);
        assert_true(strlen(problem_title(type)) > 0 && strlen(problem_meaning(type)) > 0);
        assert_int_equal(strspn(problem_name(type), "abcdefghijklmnopqrstuvwxyz-"),
                         strlen(problem_name(type)));
    }
    assert_false(problem_find("none", &found));
    assert_false(problem_find("", &found));
    assert_string_equal(problem_name(PROBLEM_UNKNOWN_DATASET), "unknown-dataset");
    assert_int_equal(problem_status(PROBLEM_INVALID), 422);
}

/* A control character in a client's name must not begin a new line of the detail; the pointer keeps
 * it. */
static void test_control_characters(void **state) {
    (void)state;
    struct problem p = {0}, q = {0};
    problem_add(&p, PROBLEM_INVALID, "/params/a\nb", "\"a\nb\t\x7f\xC3\xA9\" is not known");
    assert_string_equal(p.detail,
                        "/params/a\\u000ab: \"a\\u000ab\\u0009\\u007f\xC3\xA9\" is not known");
    assert_string_equal(p.errors[0].pointer, "/params/a\nb");
    assert_string_equal(p.errors[0].detail, "\"a\\u000ab\\u0009\\u007f\xC3\xA9\" is not known");
    problem_copy(&q, &p);
    assert_string_equal(q.detail, p.detail);
    problem_done(&p);
    problem_done(&q);
}

/* A copy says, too, whether a retry may help. */
static void test_marks(void **state) {
    (void)state;
    struct problem p = {0}, q = {0};
    assert_false(problem_set_lost(&p, "no server at %s", "x"));
    assert_false(problem_set(&p, PROBLEM_INTERNAL, "later"));
    problem_copy(&q, &p);
    assert_int_equal(q.type, PROBLEM_UNAVAILABLE);
    assert_string_equal(q.detail, "no server at x");
    assert_true(q.lost && !q.permanent);
    problem_done(&q);
    assert_false(problem_set(&q, PROBLEM_INTERNAL, "first"));
    assert_false(problem_set_lost(&q, "later"));
    assert_true(!q.lost);
    problem_done(&p);
    problem_done(&q);
}

static void test_first_wins(void **state) {
    (void)state;
    struct problem p = {0};
    assert_false(problem_set(&p, PROBLEM_UNKNOWN_MODEL, "no model \"%s\"", "iris"));
    assert_false(problem_set(&p, PROBLEM_INTERNAL, "later"));
    assert_false(problem_add(&p, PROBLEM_INVALID, "/x", "of another type"));
    assert_int_equal(p.type, PROBLEM_UNKNOWN_MODEL);
    assert_string_equal(p.detail, "no model \"iris\"");
    assert_int_equal(p.n_errors, 0);
    struct problem moved = {0};
    problem_move(&moved, &p);
    assert_int_equal(p.type, PROBLEM_NONE);
    assert_null(p.detail);
    json_t *root = document(&moved, NULL);
    assert_int_equal(json_object_size(root), 4);
    assert_string_equal(json_string_value(json_object_get(root, "type")),
                        "/problems/unknown-model");
    assert_string_equal(json_string_value(json_object_get(root, "title")), "Unknown model");
    assert_int_equal(json_integer_value(json_object_get(root, "status")), 404);
    assert_string_equal(json_string_value(json_object_get(root, "detail")), "no model \"iris\"");
    json_decref(root);
    problem_done(&moved);
    problem_done(&moved);
}

static void test_faults(void **state) {
    (void)state;
    struct problem p = {0};
    assert_false(problem_add(&p, PROBLEM_INVALID, "/params/lambda", "must be >= 0, got %d", -1));
    assert_string_equal(p.detail, "/params/lambda: must be >= 0, got -1");
    problem_add(&p, PROBLEM_INVALID, NULL, "no place");
    problem_add_line(&p, PROBLEM_INVALID, 3, 7, "ragged");
    problem_add_line(&p, PROBLEM_INVALID, 4, 0, "short");
    json_t *root = document(&p, "abc");
    assert_string_equal(json_string_value(json_object_get(root, "request_id")), "abc");
    char *errors = json_dumps(json_object_get(root, "errors"), JSON_COMPACT);
    assert_string_equal(
        errors,
        "[{\"pointer\":\"/params/lambda\",\"detail\":\"must be >= 0, got -1\"},{\"detail\":\"no "
        "place\"},"
        "{\"line\":3,\"column\":7,\"detail\":\"ragged\"},{\"line\":4,\"detail\":\"short\"}]");
    free(errors);
    json_decref(root);
    problem_done(&p);
    problem_add_line(&p, PROBLEM_BAD_JSON, 2, 5, "odd");
    assert_string_equal(p.detail, "line 2, column 5: odd");
    problem_done(&p);
    problem_add_line(&p, PROBLEM_BAD_JSON, 2, 0, "odd");
    assert_string_equal(p.detail, "line 2: odd");
    problem_done(&p);
    problem_set(&p, PROBLEM_INVALID_DATASET, "the table cannot be read");
    problem_add_line(&p, PROBLEM_INVALID_DATASET, 2, 0, "odd");
    assert_string_equal(p.detail, "the table cannot be read");
    assert_int_equal(p.n_errors, 1);
    problem_done(&p);
}

static void test_many_faults(void **state) {
    (void)state;
    struct problem p = {0};
    for (int i = 0; i < PROBLEM_MAX_ERRORS + 1; i++) {
        problem_add(&p, PROBLEM_INVALID, "/a", "fault %d", i);
    }
    json_t *root = document(&p, NULL);
    const json_t *errors = json_object_get(root, "errors");
    assert_int_equal(json_array_size(errors), PROBLEM_MAX_ERRORS + 1);
    assert_string_equal(json_string_value(
                            json_object_get(json_array_get(errors, PROBLEM_MAX_ERRORS - 1),
                                            "detail")),
                        "fault 99");
    assert_string_equal(json_string_value(
                            json_object_get(json_array_get(errors, PROBLEM_MAX_ERRORS), "detail")),
                        "and 1 more fault");
    json_decref(root);
    for (int i = 0; i < 11; i++) {
        problem_add_line(&p, PROBLEM_INVALID, i, 1, "fault");
    }
    root = document(&p, NULL);
    errors = json_object_get(root, "errors");
    assert_string_equal(json_string_value(
                            json_object_get(json_array_get(errors, PROBLEM_MAX_ERRORS), "detail")),
                        "and 12 more faults");
    json_decref(root);
    problem_done(&p);
}

static void test_clients_text(void **state) {
    (void)state;
    struct problem p = {0};
    problem_set(&p, PROBLEM_INVALID, "got \"%s\"", "a\xFF\n\x01");
    assert_string_equal(p.detail, "got \"a\xEF\xBF\xBD\\u000a\\u0001\"");
    json_t *root = document(&p, NULL);
    assert_string_equal(json_string_value(json_object_get(root, "detail")), p.detail);
    json_decref(root);
    problem_done(&p);

    static char text[10001];
    memset(text, 'x', 10000);
    problem_set(&p, PROBLEM_INVALID, "%s", text);
    assert_int_equal(strlen(p.detail), 4003);
    problem_add(&p, PROBLEM_INVALID, text, "%s", text);
    assert_int_equal(strlen(p.errors[0].detail), 1003);
    assert_int_equal(strlen(p.errors[0].pointer), 1003);
    assert_string_equal(p.errors[0].detail + 1000, "\xE2\x80\xA6");
    problem_done(&p);
}

static void collect_and_write(void) {
    struct problem p = {0};
    problem_add(&p, PROBLEM_INVALID, "/a", "first %d", 1);
    problem_add(&p, PROBLEM_INVALID, "/b", "second %d", 2);
    assert_int_equal(p.type, PROBLEM_INVALID); /* the type is never lost */
    assert_int_equal(p.n_errors + p.n_dropped, 2);
    struct buf text = {0};
    problem_write(&p, "", "id", &text);
    if (!text.failed) {
        assert_memory_equal(text.data, "{\"type\":\"/problems/invalid\"", 27);
        assert_int_equal(text.data[text.size - 1], '}');
    }
    buf_done(&text);
    problem_done(&p);
    problem_set(&p, PROBLEM_INTERNAL, "x");
    assert_int_equal(p.type, PROBLEM_INTERNAL);
    problem_done(&p);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    ALLOC_FAIL_EACH(collect_and_write());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),         cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_marks),        cmocka_unit_test(test_first_wins),
        cmocka_unit_test(test_faults),       cmocka_unit_test(test_many_faults),
        cmocka_unit_test(test_clients_text), cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
