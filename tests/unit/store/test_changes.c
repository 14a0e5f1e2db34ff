/* Tests of the ring of changes: the changes that it contains, their order, which ones are
 * overwritten, and waiting for changes. */
#include "store/internal.h"
#include "unit/store/fixture.h"
#include <pthread.h>

static void test_what_is_told(void **state) {
    struct fixture *f = *state;
    struct store_change c[16];
    bool lost = true;
    assert_int_equal(store_changes_last(f->store), 0);
    assert_int_equal(store_changes(f->store, 0, c, 16, &lost), 0);
    assert_false(lost);
    int64_t dataset = publish(f, "data", 1).id; /* change 1 */
    publish(f, "data", 1);                      /* the same content makes no change */
    int64_t job = insert_job(f, "m", dataset);  /* change 2 */
    claim_job(f, 3);                            /* change 3 */
    /* change 4 is the model; 5 and 6 are the job's state and its end */
    succeed_job(f, job, 1, 1, 10, 0);
    assert_false(store_dataset_delete(f->store, NULL, "none", 0, NULL, &f->problem));
    problem_done(&f->problem);
    size_t n = store_changes(f->store, 0, c, 16, &lost);
    assert_false(lost);
    assert_int_equal(n, 6);
    assert_int_equal(store_changes_last(f->store), 6);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(c[i].seq, i + 1);
    }
    assert_int_equal(c[0].kind, STORE_CHANGE_DATASET);
    assert_string_equal(c[0].name, "data");
    assert_int_equal(c[0].job, 0);
    assert_int_equal(c[1].kind, STORE_CHANGE_JOB);
    assert_int_equal(c[1].job, job);
    assert_string_equal(c[1].name, "");
    assert_int_equal(c[3].kind, STORE_CHANGE_MODEL);
    assert_string_equal(c[3].name, "m");
    assert_int_equal(store_changes(f->store, 4, c, 1, &lost), 1);
    assert_int_equal(c[0].seq, 5);
}

static void test_the_ring_wraps(void **state) {
    struct fixture *f = *state;
    static struct store_change added[100], c[STORE_RING_SIZE + 10];
    publish(f, "data", 1);
    for (int i = 0; i < 60; i++) { /* adds changes directly, without a commit for each */
        for (int k = 0; k < 100; k++) {
            added[k] = (struct store_change){.kind = STORE_CHANGE_JOB, .job = 100 * i + k};
        }
        store_ring_end(&f->store->ring, added, 100, 0);
    }
    bool lost = false;
    assert_int_equal(store_changes_last(f->store), 6001);
    assert_int_equal(store_changes(f->store, 0, c, STORE_RING_SIZE + 10, &lost), STORE_RING_SIZE);
    assert_true(lost);
    assert_int_equal(c[0].seq, 6001 - STORE_RING_SIZE + 1);
    assert_int_equal(c[STORE_RING_SIZE - 1].job, 5999);
    assert_int_equal(store_changes(f->store, 6001 - STORE_RING_SIZE, c, 5, &lost), 5);
    assert_false(lost);
    assert_int_equal(store_changes(f->store, 6001 - STORE_RING_SIZE - 1, c, 5, &lost), 5);
    assert_true(lost);
    assert_int_equal(store_changes(f->store, 7000, c, 5, &lost),
                     0); /* a change number of an earlier process */
    assert_true(lost);
}

static void *wake_later(void *store) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    store_wake(store);
    return NULL;
}

static void *publish_later(void *fixture) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    publish(fixture, "later", 1);
    return NULL;
}

static void test_waiting(void **state) {
    struct fixture *f = *state;
    pthread_t thread;
    assert_int_equal(store_changes_wait(f->store, 0, 1), 0); /* the time limit has passed */
    assert_int_equal(store_changes_wait(f->store, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, wake_later, f->store), 0);
    /* returns because wake_later wakes it */
    assert_int_equal(store_changes_wait(f->store, 0, 3600000), 0);
    pthread_join(thread, NULL);
    assert_int_equal(pthread_create(&thread, NULL, publish_later, f), 0);
    /* returns because of the change */
    assert_int_equal(store_changes_wait(f->store, 0, 3600000), 1);
    pthread_join(thread, NULL);
    assert_int_equal(store_changes_wait(f->store, 0, 3600000),
                     1); /* returns at once, since there is a change */
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_what_is_told), T(test_the_ring_wraps),
                                       T(test_waiting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
