/* The table of models with each of its allocations failing once: nothing that was added is lost,
 * and nothing is read from a table that did not grow. */
#include "serving/model_table.h"

#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES = 200 }; /* both tables grow twice from 64 buckets */

static const char *name_of(int i) {
    static char name[32];
    (void)snprintf(name, sizeof name, "model-%d", i);
    return name;
}

/* Adds names and slots. Returns the number of those that could not be added. */
static int fill(struct model_table *t, struct model_slot *slots[ENTRIES]) {
    int missing = 0;
    for (int i = 0; i < ENTRIES; i++) {
        model_table_set_live(t, name_of(i), i + 1);
        slots[i] = model_table_add(t, name_of(i), i + 1);
        missing += (model_table_live(t, name_of(i)) == 0) + (slots[i] == NULL);
    }
    return missing;
}

static void check(const struct model_table *t, struct model_slot *const slots[ENTRIES]) {
    size_t n_slots = 0;
    for (int i = 0; i < ENTRIES; i++) {
        const int64_t live = model_table_live(t, name_of(i));
        assert_true(live == 0 || live == i + 1);
        assert_ptr_equal(model_table_find(t, name_of(i), i + 1), slots[i]);
        assert_null(model_table_find(t, name_of(i), i + 2));
        n_slots += slots[i] != NULL;
    }
    assert_int_equal(t->n_slots, n_slots);
}

static void fill_and_check(void) {
    struct model_table t;
    struct model_slot *slots[ENTRIES];
    if (!model_table_init(&t, 1000)) {
        return;
    }
    const long before = atomic_load(&alloc_fail_at);
    const int missing = fill(&t, slots);
    const bool failed = before > 0 && atomic_load(&alloc_fail_at) == 0;
    assert_in_range(missing, 0, failed); /* one failed allocation loses one entry at most */
    check(&t, slots);
    for (int i = 0; i < ENTRIES; i++) {
        if (slots[i] != NULL) {
            model_table_release(&t, slots[i]);
        }
    }
    model_table_done(&t);
}

static void test_each_allocation_fails(void **state) {
    (void)state;
    ALLOC_FAIL_EACH(fill_and_check());
}

/* A version whose slot could not be added is added by the next call. */
static void test_a_failed_slot_is_added_later(void **state) {
    (void)state;
    struct model_table t;
    if (!alloc_fail_works()) {
        skip();
    }
    assert_true(model_table_init(&t, 1000));
    atomic_store(&alloc_fail_at, 1);
    assert_null(model_table_add(&t, "m", 1));
    assert_int_equal(t.n_slots, 0);
    struct model_slot *slot = model_table_add(&t, "m", 1);
    assert_non_null(slot);
    model_table_release(&t, slot);
    model_table_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_a_failed_slot_is_added_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
