/* Tasks on the threads of a run: each runs once, the first failure in order is returned, the stop
 * function is polled. */
#include "base/tasks.h"
#include "unit/core/support.h"

enum { MANY = 100 };

struct counts {
    int done[MANY];
    size_t fails_at;
};

static dn_status count_task(void *arg, size_t i, size_t slot, dn_error *err) {
    struct counts *counts = arg;
    assert_int_equal(slot, 0);
    if (i == counts->fails_at) {
        return dn_error_set(err, DN_ERR_NUMERIC, "task %zu failed", i);
    }
    counts->done[i]++;
    return DN_OK;
}

static void each_task_runs_once(void **state) {
    (void)state;
    const dn_run run = dn_run_default();
    for (size_t n = 0; n <= MANY; n += 33) {
        struct counts counts = {.fails_at = SIZE_MAX};
        OK(dni_tasks_run(&run, n, count_task, &counts, NULL));
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(counts.done[i], i < n);
        }
    }
}

static void a_failure_ends_them(void **state) {
    (void)state;
    const dn_run run = dn_run_default();
    struct counts counts = {.fails_at = 7};
    dn_error err;
    dn_error_clear(&err);
    assert_int_equal(dni_tasks_run(&run, MANY, count_task, &counts, &err), DN_ERR_NUMERIC);
    assert_string_equal(err.message, "task 7 failed");
    assert_int_equal(counts.done[6], 1);
    assert_int_equal(counts.done[8], 0);
}

static void the_stop_is_looked_at_before_each(void **state) {
    (void)state;
    struct polls polls = {.stop_at = 5};
    const dn_run run = polls_run(&polls);
    struct counts counts = {.fails_at = SIZE_MAX};
    assert_int_equal(dni_tasks_run(&run, MANY, count_task, &counts, NULL), DN_ERR_STOPPED);
    assert_int_equal(counts.done[3], 1);
    assert_int_equal(counts.done[4], 0);
}

static void inside_a_task_there_is_one_thread(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    run.n_slots = 4;
    run.seed = 9;
    run.sum = sum_in_ranges;
    run.each = each_in_reverse;
    const dn_run inner = dni_task_run(&run);
    assert_int_equal(inner.n_slots, 1);
    assert_int_equal(inner.seed, 9);
    assert_null(inner.sum);
    assert_null(inner.each);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_runs_once),
        cmocka_unit_test(a_failure_ends_them),
        cmocka_unit_test(the_stop_is_looked_at_before_each),
        cmocka_unit_test(inside_a_task_there_is_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
