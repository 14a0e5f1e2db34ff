/* Tests of the buffer: growth, text, the persistent failure flag. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_appends_keep_every_byte(void **state) {
    (void)state;
    struct buf b = {0};
    for (int i = 0; i < 5000; i++) {
        buf_putc(&b, (char)(i % 251));
        const char two[2] = {(char)(i % 7), (char)(i % 11)};
        buf_append(&b, two, 2);
    }
    assert_false(b.failed);
    assert_int_equal(b.size, 15000);
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal((unsigned char)b.data[3 * i], i % 251);
        assert_int_equal(b.data[3 * i + 1], i % 7);
        assert_int_equal(b.data[3 * i + 2], i % 11);
    }
    buf_done(&b);
    assert_null(b.data);
}

static void test_printf_grows(void **state) {
    (void)state;
    struct buf b;
    buf_init(&b);
    char *expected = calloc(1, 3000000);
    size_t n = 0;
    for (int i = 0; i < 2000; i++) { /* lengths around each size at which the buffer grows */
        buf_printf(&b, "%0*d|", i % 600 + 1, i);
        n += (size_t)snprintf(expected + n, 3000000 - n, "%0*d|", i % 600 + 1, i);
    }
    assert_int_equal(b.size, n);
    assert_string_equal(buf_cstr(&b), expected);
    free(expected);
    buf_done(&b);
}

static void test_exact_fit_of_printf(void **state) {
    (void)state;
    for (int room = 0; room < 8; room++) { /* the text and its NUL are shorter than, equal to or
                                            * longer than the free bytes */
        struct buf b = {0};
        assert_true(buf_reserve(&b, 1));
        while (b.capacity - b.size > (size_t)room) {
            buf_putc(&b, 'x');
        }
        const size_t before = b.size;
        buf_printf(&b, "%s", "abcd");
        assert_int_equal(b.size, before + 4);
        assert_memory_equal(b.data + before, "abcd", 4);
        buf_done(&b);
    }
}

static void test_cstr_and_take(void **state) {
    (void)state;
    struct buf b = {0};
    assert_string_equal(buf_cstr(&b), "");
    buf_append(&b, "", 0);
    assert_null(b.data);
    size_t size = 7;
    char *empty = buf_take(&b, &size);
    assert_string_equal(empty, "");
    assert_int_equal(size, 0);
    free(empty);
    buf_puts(&b, "hello");
    assert_string_equal(buf_cstr(&b), "hello");
    assert_int_equal(b.size, 5);
    char *taken = buf_take(&b, NULL);
    assert_string_equal(taken, "hello");
    assert_int_equal(b.size, 0);
    assert_null(b.data);
    free(taken);
}

static void test_failure_is_sticky(void **state) {
    (void)state;
    struct buf b = {0};
    buf_puts(&b, "kept");
    assert_false(buf_reserve(&b, SIZE_MAX)); /* size + SIZE_MAX overflows */
    assert_true(b.failed);
    buf_puts(&b, "lost");
    buf_printf(&b, "%d", 5);
    buf_putc(&b, 'x');
    assert_int_equal(b.size, 4);
    assert_null(buf_cstr(&b));
    assert_null(buf_take(&b, NULL));
    buf_clear(&b);
    assert_false(b.failed);
    buf_puts(&b, "again");
    assert_string_equal(buf_cstr(&b), "again");
    buf_done(&b);
    buf_done(&b);
}

static void grow_once(void) {
    struct buf b = {0};
    for (int i = 0; i < 40; i++) {
        buf_printf(&b, "%d of a text that is long enough to grow;", i);
    }
    const char *text = buf_cstr(&b);
    if (atomic_load(&alloc_fail_at) == 0) {
        assert_true(b.failed);
        assert_null(text);
    } else {
        assert_non_null(text);
        assert_string_equal(text + strlen(text) - 5, "grow;");
    }
    buf_done(&b);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    ALLOC_FAIL_EACH(grow_once());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appends_keep_every_byte),
        cmocka_unit_test(test_printf_grows),
        cmocka_unit_test(test_exact_fit_of_printf),
        cmocka_unit_test(test_cstr_and_take),
        cmocka_unit_test(test_failure_is_sticky),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
