/* Tests of growing arrays: capacities, contents, overflow, failed allocations. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/memory/array.h"

#include <stdint.h>
#include <stdlib.h>

static void test_capacity_doubles_and_elements_stay(void **state) {
    int64_t *x = NULL;
    size_t capacity = 0;
    (void)state;
    assert_true(array_grow(&x, &capacity, 3, sizeof *x));
    assert_int_equal(capacity, 3);
    for (int64_t i = 0; i < 3; i++) {
        x[i] = 7 - i;
    }
    assert_true(array_grow(&x, &capacity, 3, sizeof *x));
    assert_int_equal(capacity, 6);
    assert_true(array_resize(&x, 1000, sizeof *x));
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(x[i], 7 - i);
    }
    free(x);
}

static void test_overflow_is_refused(void **state) {
    int64_t *x = NULL;
    size_t capacity = SIZE_MAX / 8 / 2 + 1;
    (void)state;
    assert_true(array_resize(&x, 2, sizeof *x));
    int64_t *const before = x;
    assert_false(array_resize(&x, SIZE_MAX / 8 + 1, sizeof *x));
    assert_false(array_grow(&x, &capacity, 1, sizeof *x));
    assert_ptr_equal(x, before);
    assert_int_equal(capacity, SIZE_MAX / 8 / 2 + 1);
    free(x);
}

static void test_doubling_does_not_wrap(void **state) {
    char *x = NULL;
    size_t capacity = SIZE_MAX / 2 + 1;
    (void)state;
    assert_false(array_grow(&x, &capacity, 1, 1));
    assert_null(x);
    assert_int_equal(capacity, SIZE_MAX / 2 + 1);
}

static void test_no_memory_changes_nothing(void **state) {
    int64_t *x = NULL;
    size_t capacity = 0;
    (void)state;
    if (!alloc_fail_works()) {
        skip();
    }
    assert_true(array_grow(&x, &capacity, 4, sizeof *x));
    int64_t *const before = x;
    before[3] = 5;
    atomic_store(&alloc_fail_at, 1);
    assert_false(array_grow(&x, &capacity, 4, sizeof *x));
    assert_int_equal(atomic_load(&alloc_fail_at), 0);
    assert_ptr_equal(x, before);
    assert_int_equal(x[3], 5);
    assert_int_equal(capacity, 4);
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity_doubles_and_elements_stay),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_doubling_does_not_wrap),
        cmocka_unit_test(test_no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
