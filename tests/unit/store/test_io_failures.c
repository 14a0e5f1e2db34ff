/* Each k-th read, write, fsync and truncation of SQLite fails in a series of calls: with EIO, on a
 * full disk (the write is cut short), beyond a limit of file sizes. No call that succeeded may be
 * undone, and the store works again afterwards.
 *
 *   FAULT_STEP   k = 1, 1 + step, 1 + 2 step … until no operation failed (37) */
#include "lib/faulty_vfs.h"
#include "unit/store/fault_work.h"
#include <errno.h>

static struct faulty *faults;
static const int errors[] = {EIO, ENOSPC, EFBIG};

static void test_each_operation_fails(void **state) {
    struct fixture *f = *state;
    const int64_t step = fault_number("FAULT_STEP", 37);
    int64_t number = 0, failures = 0;
    for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
        long failed = 1;
        for (int64_t k = 1; failed > 0; k += step, failures++) {
            faulty_set(faults, FAULTY_ANY, k, 1, errors[e]);
            const struct fault_acknowledged a = fault_work(f, number++);
            failed = atomic_load(&faults->failed);
            faulty_set(faults, 0, 0, 0, 0);
            fault_check(f, &a);
            if (number % 16 == 0) {
                fixture_close(f);
                assert_intact(f->path);
                assert_ok(f, fixture_open(f));
                fault_check(f, &a);
            }
        }
    }
    print_message("# %lld failures\n", (long long)failures);
    const struct fault_acknowledged last = fault_work(f, number);
    assert_true(last.dataset != 0 && last.model != 0 && last.described && last.deleted);
    fault_check(f, &last);
    fixture_close(f);
    assert_intact(f->path);
}

/* The same while the store is opened: after a process was killed, so that the log is recovered. */
static void test_each_operation_of_open_fails(void **state) {
    struct fixture *f = *state;
    const int64_t step = fault_number("FAULT_STEP", 37);
    const struct fault_acknowledged a = fault_work(f, 0);
    fixture_close(f);
    for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
        long failed = 1;
        for (int64_t k = 1; failed > 0; k += step) {
            faulty_set(faults, FAULTY_ANY, k, 1, errors[e]);
            const bool opened = fixture_open(f);
            failed = atomic_load(&faults->failed);
            faulty_set(faults, 0, 0, 0, 0);
            assert_true(opened == (f->problem.type == PROBLEM_NONE));
            problem_done(&f->problem);
            if (!opened) {
                assert_ok(f, fixture_open(f));
            }
            fault_check(f, &a);
            fixture_close(f);
        }
    }
    assert_intact(f->path);
}

int main(void) {
    faults = faulty_vfs(NULL);
    fixture_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_operation_fails, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_each_operation_of_open_fails, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
