/* The end of a job on a full disk: it is tried again until there is room, a success is given up, and a drain meanwhile leaves the job for the next start. */
#include "jobs/jobs.h"

#include "database.h"

/* Ending a job takes 4 MB more in the file than it has, and the file may grow by 64 pages, room for the model: SQLite says "full" and undoes the transaction. */
static void fill_disk(struct fixture *f) {
    database_run(f, "CREATE TABLE filler (bytes BLOB)");
    database_run(f, "CREATE TRIGGER grow AFTER UPDATE OF state ON jobs WHEN new.state >= 2 BEGIN "
                    "INSERT INTO filler VALUES (zeroblob(4000000)); END");
    database_limit(f, 64);
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
    struct jobs_spec spec = fixture_spec("m", "lbfgs");
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

static void a_success_that_has_no_room_becomes_a_failure(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    struct store_model model;
    fixture_init(&f);
    fixture_dataset(&f, "d", 500, 100);
    fill_disk(&f);
    double before = metric_value(f.store->writer.swept_bytes);
    struct jobs *jobs = start(&f);
    int64_t id = post(&f, jobs);
    database_await_sweep(&f,
                         before); /* the end was refused: the model's staged bytes were given up */
    assert_state(&f, id, STORE_JOB_RUNNING, 1);
    assert_false(store_model_get(f.store, "m", 0, &model, &problem));
    problem_done(&problem);
    assert_false(store_dataset_delete(f.store, "d", 0, NULL, &problem)); /* it is not over */
    problem_done(&problem);
    database_limit(&f, 1000000); /* there is room again */
    struct store_job job = fixture_await(&f, id, STORE_JOB_FAILED);
    assert_int_equal(job.state, STORE_JOB_FAILED);
    assert_non_null(strstr(job.error, "/problems/storage-full"));
    assert_null(job.result);
    store_job_done(&job);
    database_run(&f, "DROP TRIGGER grow");
    id = post(&f, jobs); /* the worker is well */
    job = fixture_await(&f, id, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.state, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.version, 1);
    store_job_done(&job);
    jobs_stop(jobs);
    assert_true(store_dataset_delete(f.store, "d", 0, NULL, &problem)); /* nothing holds it */
    fixture_done(&f);
}

static void a_drain_does_not_wait_for_room(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_dataset(&f, "d", 500, 100);
    fill_disk(&f);
    double before = metric_value(f.store->writer.swept_bytes);
    struct jobs *jobs = start(&f);
    int64_t id = post(&f, jobs);
    database_await_sweep(&f, before);
    jobs_stop(jobs); /* returns, though the disk stays full */
    assert_state(&f, id, STORE_JOB_RUNNING, 1);
    store_close(f.store);
    fixture_open(&f); /* the limit was the connection's */
    assert_state(&f, id, STORE_JOB_QUEUED, 1);
    database_run(&f, "DROP TRIGGER grow");
    jobs = start(&f);
    struct store_job job = fixture_await(&f, id, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.state, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.attempts, 2);
    store_job_done(&job);
    jobs_stop(jobs);
    fixture_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_that_has_no_room_becomes_a_failure),
        cmocka_unit_test(a_drain_does_not_wait_for_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
