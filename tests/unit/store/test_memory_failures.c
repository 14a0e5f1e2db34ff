/* Each k-th allocation fails in a series of calls, in SQLite too. No call that succeeded may be
 * undone, and the store works again afterwards.
 *
 *   FAULT_STEP   k = 1, 1 + step, 1 + 2 step … until no allocation failed (149) */
#include "unit/store/fault_work.h"

#include "unit/base/alloc_fail.h"

static void test_each_allocation_fails(void **state) {
    struct fixture *f = *state;
    const int64_t step = fault_number("FAULT_STEP", 149);
    if (!alloc_fail_works()) {
        skip();
    }
    int64_t number = 0;
    bool failed = true;
    fault_of_memory = true;
    for (int64_t k = 1; failed; k += step) {
        atomic_store(&alloc_fail_at, k);
        const struct fault_acknowledged a = fault_work(f, number++);
        failed = atomic_exchange(&alloc_fail_at, 0) == 0;
        fault_check(f, &a);
    }
    print_message("# %lld failures\n", (long long)number - 1);
    fixture_close(f);
    assert_intact(f->path);
}

static void test_each_allocation_of_open_fails(void **state) {
    struct fixture *f = *state;
    const int64_t step = fault_number("FAULT_STEP", 149);
    if (!alloc_fail_works()) {
        skip();
    }
    const struct fault_acknowledged a = fault_work(f, 0);
    fixture_close(f);
    bool failed = true;
    for (int64_t k = 1; failed; k += step) {
        atomic_store(&alloc_fail_at, k);
        const bool opened = fixture_open(f);
        failed = atomic_exchange(&alloc_fail_at, 0) == 0;
        assert_true(opened == (f->problem.type == PROBLEM_NONE));
        problem_done(&f->problem);
        if (!opened) {
            assert_ok(f, fixture_open(f));
        }
        fault_check(f, &a);
        fixture_close(f);
    }
    assert_intact(f->path);
}

/* A job whose row cannot be read for lack of memory is not taken for a damaged one, which may be
 * deleted in any state. */
static void test_a_running_job_is_not_deleted(void **state) {
    struct fixture *f = *state;
    struct store_job job = {0};
    bool found = false;
    if (!alloc_fail_works()) {
        skip();
    }
    const int64_t id = insert_job(f, "m", publish(f, "d", 1).id);
    assert_ok(f, store_job_claim(f->store, 60000, &job, &found, &f->problem));
    assert_true(found);
    store_job_done(&job);
    bool failed = true;
    for (int64_t k = 1; failed; k++) {
        enum store_job_state now;
        atomic_store(&alloc_fail_at, k);
        assert_false(store_job_delete(f->store, NULL, id, NULL, &f->problem));
        failed = atomic_exchange(&alloc_fail_at, 0) == 0;
        problem_done(&f->problem);
        assert_ok(f, store_job_get_state(f->store, id, &now, &f->problem));
        assert_int_equal(now, STORE_JOB_RUNNING);
    }
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_allocation_fails, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_each_allocation_of_open_fails, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_running_job_is_not_deleted, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
