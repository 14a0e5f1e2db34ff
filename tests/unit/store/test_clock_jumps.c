/* Jumps of the real clock by a day, in both directions, while data are staged and a job runs: leases
 * of this process do not end, and nothing is lost. */
#include "unit/store/fixture.h"
#include <stdatomic.h>
#include <sys/syscall.h>

/* Replaces the C library's clock_gettime: the real clock is wrong by this time. */
static atomic_llong error_seconds;
int clock_gettime(clockid_t id, struct timespec *out) {
    const int failed = (int)syscall(SYS_clock_gettime, id, out);
    if (failed == 0 && id == CLOCK_REALTIME) {
        out->tv_sec += (time_t)atomic_load(&error_seconds);
    }
    return failed;
}

/* The writer thread renews leases and sweeps. */
static void let_the_store_keep_house(struct fixture *f) {
    struct store_health health;
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    assert_ok(f, store_healthy(f->store, &health, &f->problem));
}

static void test_jumps(void **state) {
    static const long long jumps[] = {86400, -86400, 0};
    struct fixture *f = *state;
    struct store_settings settings = {.path = f->path, .lease_ms = 300};
    assert_ok(f, store_open(&settings, &f->store, &f->problem));
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%zu", i);
        const int64_t data = publish(f, name, (int64_t)i).id, job = insert_job(f, name, data);
        assert_int_equal(claim_job(f, 1), job);
        const struct store_claim claim = claim_of(f, job);
        const int64_t part = stage(f->store, 9, 2, 3, 1000);
        bool cancel = false, found = true;
        atomic_store(&error_seconds, jumps[i]);
        let_the_store_keep_house(f);
        struct store_job other = {0};
        assert_ok(f, store_job_claim(f->store, 1, &other, &found, &f->problem));
        assert_false(found); /* the lease of the running job has not ended */
        assert_ok(f, store_job_report(f->store, &claim, NULL, NULL, 0, &cancel, &f->problem));
        let_the_store_keep_house(f);
        assert_job_state(f, job, STORE_JOB_RUNNING, 1);
        struct store_dataset_new d = dataset_new(name, part, "b2:9", 2, 3);
        struct store_dataset_published out;
        assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
        assert_int_equal(out.version, 2);
        assert_int_equal(succeed_job(f, job, 1, 2, 1000, 0), 1);
    }
    atomic_store(&error_seconds, 0);
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_jumps, fixture_directory, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
