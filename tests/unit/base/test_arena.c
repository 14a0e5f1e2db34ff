/* Tests of the arena: alignment, no overlap, the limit, reset. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/memory/arena.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 3000 };

static size_t size_of_piece(size_t i) {
    return i % 97 == 0 ? 20000 + i : i % 13 == 0 ? 1500 : i % 40;
}

static void test_pieces_are_aligned_and_apart(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    unsigned char **pieces = calloc(PIECES, sizeof *pieces);
    size_t total = 0;
    for (int round = 0; round < 3; round++) {
        total = 0;
        for (size_t i = 0; i < PIECES; i++) {
            pieces[i] = arena_alloc(&a, size_of_piece(i));
            assert_non_null(pieces[i]);
            assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
            memset(pieces[i], (int)(i % 255), size_of_piece(i));
            total += size_of_piece(i);
        }
        assert_int_equal(a.total, total);
        for (size_t i = 0; i < PIECES; i++) { /* checks that no piece overlaps an earlier one */
            for (size_t k = 0; k < size_of_piece(i); k++) {
                assert_int_equal(pieces[i][k], i % 255);
            }
        }
        arena_reset(&a);
        assert_int_equal(a.total, 0);
    }
    free(pieces);
    arena_done(&a);
    assert_null(a.blocks);
}

static void test_limit(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 1000);
    assert_non_null(arena_alloc(&a, 600));
    assert_null(arena_alloc(&a, 401));
    assert_non_null(arena_alloc(&a, 400));
    assert_null(arena_alloc(&a, 1));
    assert_non_null(arena_alloc(&a, 0));
    assert_null(arena_strdup(&a, ""));
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 1000));
    arena_done(&a);
}

static void test_absurd_sizes(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    for (size_t k = 0; k < 64; k++) {
        assert_null(arena_alloc(&a, SIZE_MAX - k));
    }
    assert_null(arena_alloc(&a, (size_t)PTRDIFF_MAX));
    assert_non_null(arena_alloc(&a, 10));
    assert_null(arena_alloc(&a, SIZE_MAX - 5)); /* total + size would overflow */
    assert_null(arena_strndup(&a, "x", SIZE_MAX));
    arena_done(&a);
}

static void test_strings(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    assert_string_equal(arena_strdup(&a, "hello"), "hello");
    assert_string_equal(arena_strndup(&a, "hello", 2), "he");
    assert_string_equal(arena_strndup(&a, NULL, 0), "");
    assert_string_equal(arena_printf(&a, "%s-%d", "a", 5), "a-5");
    assert_string_equal(arena_printf(&a, "%s", ""), "");
    char *big = arena_printf(&a, "%09999d", 7);
    assert_int_equal(strlen(big), 9999);
    assert_int_equal(big[9998], '7');
    arena_done(&a);
}

static void test_reset_reuses_the_first_block(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    void *first = arena_alloc(&a, 16);
    assert_non_null(arena_alloc(&a, 100000));
    assert_non_null(arena_alloc(&a, 4000));
    arena_reset(&a);
    assert_ptr_equal(arena_alloc(&a, 16), first);
    arena_done(&a);
    assert_non_null(arena_alloc(&a, 100000)); /* the only block is larger than the usual size */
    arena_reset(&a);
    assert_null(a.blocks);
    arena_reset(&a); /* an arena without blocks */
    assert_null(a.blocks);
}

static void fill_once(void) {
    struct arena a;
    arena_init(&a, 0);
    size_t refused = 0;
    for (size_t i = 0; i < 200; i++) {
        unsigned char *p = arena_alloc(&a, 700);
        refused += p == NULL ? 1 : 0;
        if (p != NULL) {
            memset(p, 1, 700);
        }
    }
    assert_true(refused <= 1);
    assert_int_equal(a.total, (200 - refused) * 700);
    arena_done(&a);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    ALLOC_FAIL_EACH(fill_once());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_absurd_sizes),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_reset_reuses_the_first_block),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
