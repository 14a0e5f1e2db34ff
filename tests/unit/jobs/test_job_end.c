/* The end of a job that the store refuses to write: a success is tried again until it is written,
 * the job is cancelled, the data are damaged or the daemon drains. */
#include "jobs/jobs.h"

#include "base/process/clock.h"
#include "database.h"
#include "lib/faulty_vfs.h"
#include <errno.h>
#include <stdatomic.h>

/* The failures of the store: the SQL function refuse() returns this code; each call is counted. */
static atomic_int refusal, refused;

static void refuse(sqlite3_context *context, int n, sqlite3_value **values) {
    (void)n;
    (void)values;
    if (refusal != SQLITE_OK) {
        atomic_fetch_add(&refused, 1);
        sqlite3_result_error_code(context, refusal);
    }
}

static void install(struct store_tx *tx, void *trigger) {
    assert_int_equal(sqlite3_create_function(store_sqlite_db(tx->connection), "refuse", 0,
                                             SQLITE_UTF8, NULL, refuse, NULL, NULL),
                     SQLITE_OK);
    store_sqlite_exec(tx->connection, trigger, tx->problem);
}

/* From now on the writer's connection fails with the code where the trigger fires. The trigger is a
 * temporary one: it goes with the connection. */
static void fail_at(struct fixture *f, const char *trigger, int code) {
    struct problem problem = {0};
    refusal = code;
    refused = 0;
    if (!store_write(f->store, install, (void *)(uintptr_t)trigger, &problem)) {
        fail_msg("%s", problem.detail);
    }
}

static const char at_any_end[] = "CREATE TEMP TRIGGER t BEFORE UPDATE OF state ON main.jobs WHEN "
                                 "old.state = 1 BEGIN SELECT refuse(); END";
static const char at_success[] = "CREATE TEMP TRIGGER t BEFORE UPDATE OF state ON main.jobs WHEN "
                                 "new.state = 2 BEGIN SELECT refuse(); END";
static const char at_chunk[] =
    "CREATE TEMP TRIGGER t BEFORE INSERT ON main.blobs BEGIN SELECT refuse(); END";

static void await_refusals(int n) {
    for (int i = 0; i < 12000 && refused < n; i++) {
        usleep(5000);
    }
    assert_true(refused >= n);
}

static struct jobs *start(struct fixture *f) {
    struct problem problem = {0};
    struct jobs *jobs = NULL;
    struct jobs_settings s = {.workers = 1,
                              .train_threads = 1,
                              .memory_bytes = (int64_t)1 << 30,
                              .attempts = 3,
                              .keep_jobs = 100};
    if (!jobs_start(f->store, &s, &jobs, &problem)) {
        fail_msg("%s", problem.detail);
    }
    jobs_open(jobs);
    return jobs;
}

static int64_t post(struct fixture *f, struct jobs *jobs) {
    struct jobs_request spec = fixture_spec("m", "lbfgs");
    int64_t id = fixture_job(f, &spec);
    dn_params_free(spec.params);
    jobs_poke(jobs);
    return id;
}

static void assert_state(struct fixture *f, int64_t id, enum store_job_state state,
                         int64_t attempts) {
    struct store_job job = fixture_get(f, id);
    assert_int_equal(job.state, state);
    assert_int_equal(job.attempts, attempts);
    store_job_done(&job);
}

static void assert_no_model(struct fixture *f) {
    struct problem problem = {0};
    struct store_model model;
    assert_false(store_model_get(f->store, "m", 0, &model, &problem));
    assert_int_equal(problem.type, PROBLEM_UNKNOWN_MODEL);
    problem_done(&problem);
}

static void assert_end(struct fixture *f, int64_t id, enum store_job_state state, int64_t version) {
    struct store_job job = fixture_await(f, id, state);
    assert_int_equal(job.state, state);
    assert_int_equal(job.version, version);
    assert_int_equal(job.attempts, 1);
    assert_true((job.error != NULL) == (state == STORE_JOB_FAILED));
    assert_true((job.result != NULL) == (state == STORE_JOB_SUCCEEDED));
    store_job_done(&job);
}

/* A job whose end the store refuses, and the worker that tries to write it. */
static int64_t refused_job(struct fixture *f, const char *trigger, int code, int tries,
                           struct jobs **jobs) {
    fixture_init(f);
    fixture_dataset(f, "d", 500, 100);
    fail_at(f, trigger, code);
    *jobs = start(f);
    int64_t id = post(f, *jobs);
    await_refusals(tries);
    assert_state(f, id, STORE_JOB_RUNNING, 1);
    assert_no_model(f);
    return id;
}

static void a_success_is_tried_until_it_is_written(void **state) {
    (void)state;
    static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_READ, SQLITE_BUSY};
    static const char *const triggers[] = {at_success, at_chunk, at_any_end};
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        struct problem problem = {0};
        struct jobs *jobs;
        int64_t id = refused_job(&f, triggers[i], codes[i], 2, &jobs);
        assert_false(
            store_dataset_delete(f.store, NULL, "d", 0, NULL, &problem)); /* it is not over */
        assert_int_equal(problem.type, PROBLEM_IN_USE);
        problem_done(&problem);
        refusal = SQLITE_OK;
        assert_end(&f, id, STORE_JOB_SUCCEEDED, 1);
        id = post(&f, jobs); /* the worker goes on */
        assert_end(&f, id, STORE_JOB_SUCCEEDED, 2);
        jobs_stop(jobs);
        assert_true(
            store_dataset_delete(f.store, NULL, "d", 0, NULL, &problem)); /* nothing holds it */
        fixture_done(&f);
    }
}

static void a_cancellation_ends_the_tries(void **state) {
    (void)state;
    static const char *const triggers[] = {at_success, at_chunk};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        struct problem problem = {0};
        struct jobs *jobs;
        int64_t id = refused_job(&f, triggers[i], SQLITE_FULL, 1, &jobs);
        double before = metric_value(f.store->writer.swept_bytes);
        assert_true(store_job_cancel(f.store, NULL, id, NULL, NULL, NULL, &problem));
        assert_end(&f, id, STORE_JOB_CANCELLED, 0);
        assert_no_model(&f);
        if (i == 0) {
            database_await_sweep(&f, before); /* the staged model */
        }
        jobs_stop(jobs);
        fixture_done(&f);
    }
}

static void damage_ends_the_tries(void **state) {
    (void)state;
    static const char *const triggers[] = {at_success, at_chunk};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        fixture_init(&f);
        fixture_dataset(&f, "d", 500, 100);
        fail_at(&f, triggers[i], SQLITE_CORRUPT);
        struct jobs *jobs = start(&f);
        int64_t id = post(&f, jobs);
        assert_end(&f, id, STORE_JOB_FAILED, 0);
        assert_int_equal(refused, 1);
        assert_no_model(&f);
        jobs_stop(jobs);
        fixture_done(&f);
    }
}

static void a_job_of_another_owner_is_left_alone(void **state) {
    (void)state;
    struct fixture f;
    struct jobs *jobs;
    int64_t id = refused_job(&f, at_success, SQLITE_FULL, 1, &jobs);
    double before = metric_value(f.store->writer.swept_bytes);
    database_run(&f, "UPDATE jobs SET owner = 'somebody', lease_until = 1000000000000000");
    refusal = SQLITE_OK;
    database_await_sweep(&f, before); /* the staged model */
    assert_state(&f, id, STORE_JOB_RUNNING, 1);
    assert_no_model(&f);
    jobs_stop(jobs);
    fixture_done(&f);
}

/* The job was claimed a second time by this process. The worker with the first claim gives up: the
 * job is not ended, and the worker runs the next one. */
static void a_job_that_was_claimed_again_is_left_alone(void **state) {
    (void)state;
    static const char *const triggers[] = {at_success, at_chunk};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        struct jobs *jobs;
        const int64_t id = refused_job(&f, triggers[i], SQLITE_FULL, 1, &jobs);
        database_run(&f, "UPDATE jobs SET token = token + 1");
        refusal = SQLITE_OK;
        assert_end(&f, post(&f, jobs), STORE_JOB_SUCCEEDED, 1);
        assert_state(&f, id, STORE_JOB_RUNNING, 1);
        jobs_stop(jobs);
        fixture_done(&f);
    }
}

static void assert_runs_after_restart(struct fixture *f, int64_t id, int64_t attempts) {
    store_close(f->store);
    jobs_fixture_open(f);
    assert_state(f, id, STORE_JOB_QUEUED, attempts);
    struct jobs *jobs = start(f);
    struct store_job job = fixture_await(f, id, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.state, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.attempts, attempts + 1);
    store_job_done(&job);
    jobs_stop(jobs);
    fixture_done(f);
}

static void a_drain_gives_the_job_back(void **state) {
    (void)state;
    static const char *const triggers[] = {at_success, at_chunk};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        struct jobs *jobs;
        int64_t id = refused_job(&f, triggers[i], SQLITE_FULL, 1, &jobs);
        jobs_stop(jobs);
        assert_state(&f, id, STORE_JOB_QUEUED, 0);
        assert_runs_after_restart(&f, id, 0);
    }
}

static void a_drain_does_not_wait_for_room(void **state) {
    (void)state;
    struct fixture f;
    struct jobs *jobs;
    int64_t id = refused_job(&f, at_any_end, SQLITE_FULL, 1, &jobs);
    jobs_stop(jobs); /* returns, though the disk stays full */
    assert_state(&f, id, STORE_JOB_RUNNING, 1);
    assert_runs_after_restart(&f, id, 1);
}

/* The fsync of the job's end fails, so the staged model may be lost: the job runs again. */
static struct faulty *faults;

static void fail_fsync(sqlite3_context *context, int n, sqlite3_value **values) {
    (void)n;
    (void)values;
    (void)context;
    faulty_set(faults, FAULTY_SYNC, 1, 1, EIO);
}

static void install_fail_fsync(struct store_tx *tx, void *trigger) {
    assert_int_equal(sqlite3_create_function(store_sqlite_db(tx->connection), "refuse", 0,
                                             SQLITE_UTF8, NULL, fail_fsync, NULL, NULL),
                     SQLITE_OK);
    store_sqlite_exec(tx->connection, trigger, tx->problem);
}

static void a_lost_model_is_trained_again(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    fixture_init(&f);
    fixture_dataset(&f, "d", 500, 100);
    assert_true(store_write(f.store, install_fail_fsync, (void *)(uintptr_t)at_success, &problem));
    struct jobs *jobs = start(&f);
    const int64_t id = post(&f, jobs);
    assert_end(&f, id, STORE_JOB_SUCCEEDED, 1);
    assert_int_equal(atomic_load(&faults->failed), 1);
    jobs_stop(jobs);
    fixture_done(&f);
}

/* A worker is stuck that does not look for jobs: all reading connections are in use. */
static void a_stuck_worker_is_seen(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    struct jobs *jobs = NULL;
    struct jobs_health health;
    struct store_read reads[STORE_READERS];
    const struct jobs_settings s = {.workers = 2, .train_threads = 1, .stuck_ms = 3000};
    const int64_t before = clock_real_ms();
    fixture_init(&f);
    assert_true(jobs_start(f.store, &s, &jobs, &problem));
    assert_true(jobs_healthy(jobs, &health));
    jobs_open(jobs);
    for (size_t i = 0; i < STORE_READERS; i++) {
        assert_true(store_read_begin(&reads[i], f.store, &problem));
    }
    for (int i = 0; i < 2000 && jobs_healthy(jobs, &health); i++) {
        usleep(10000);
    }
    assert_in_range(health.stuck, 1, 2);
    assert_in_range(health.since, before, clock_real_ms() - 2900);
    for (size_t i = 0; i < STORE_READERS; i++) {
        store_read_end(&reads[i]);
    }
    for (int i = 0; i < 2000 && !jobs_healthy(jobs, &health); i++) {
        usleep(10000);
    }
    assert_int_equal(health.stuck, 0);
    assert_int_equal(health.since, 0);
    jobs_stop(jobs);
    fixture_done(&f);
}

int main(void) {
    faults = faulty_vfs(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_is_tried_until_it_is_written),
        cmocka_unit_test(a_cancellation_ends_the_tries),
        cmocka_unit_test(damage_ends_the_tries),
        cmocka_unit_test(a_job_of_another_owner_is_left_alone),
        cmocka_unit_test(a_job_that_was_claimed_again_is_left_alone),
        cmocka_unit_test(a_drain_gives_the_job_back),
        cmocka_unit_test(a_drain_does_not_wait_for_room),
        cmocka_unit_test(a_lost_model_is_trained_again),
        cmocka_unit_test(a_stuck_worker_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
