/* Tests of the queue of jobs: order, attempts, leases, cancelling, ends; events and history. */
#include "unit/store/fixture.h"
#include <semaphore.h>
#include <sys/wait.h>

static void test_claims_in_order(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id;
    assert_int_equal(claim_job(f, 3), 0);
    int64_t first = insert_job(f, "a", dataset), second = insert_job(f, "b", dataset);
    assert_true(second > first);
    struct store_job j = get_job(f, first);
    assert_int_equal(j.state, STORE_JOB_QUEUED);
    assert_string_equal(j.model, "a");
    assert_string_equal(j.algorithm, "logistic");
    assert_string_equal(j.dataset, "data");
    assert_int_equal(j.dataset_version, 1);
    assert_int_equal(j.dataset_id, dataset);
    assert_string_equal(j.spec, "{\"seed\":1}");
    assert_string_equal(j.warnings, "[]");
    assert_null(j.progress);
    assert_null(j.error);
    assert_null(j.result);
    assert_true(j.created_at > 1600000000000);
    assert_int_equal(j.started_at, 0);
    assert_int_equal(j.last_event, 1);
    store_job_done(&j);
    store_job_done(NULL);
    assert_int_equal(claim_job(f, 3), first);
    assert_job_state(f, first, STORE_JOB_RUNNING, 1);
    assert_int_equal(claim_job(f, 3), second);
    assert_int_equal(claim_job(f, 3), 0);
    int64_t counts[5];
    assert_ok(f, store_job_counts(f->store, counts, &f->problem));
    assert_int_equal(counts[STORE_JOB_RUNNING], 2);
    assert_int_equal(counts[STORE_JOB_QUEUED], 0);
    assert_problem(f, store_job_get(f->store, 99, &j, &f->problem), PROBLEM_UNKNOWN_JOB,
                   "no job 99");
}

/* Insert and cancel return the job as it was committed. */
static void test_insert_and_cancel_tell_what_they_did(void **state) {
    struct fixture *f = *state;
    const struct store_job_new n = {.model = "m",
                                    .algorithm = "logistic",
                                    .dataset_id = publish(f, "data", 1).id,
                                    .spec = "{}",
                                    .warnings = "[1]"};
    struct store_job j = {0};
    int64_t id = 0;
    assert_ok(f, store_job_insert(f->store, &n, &id, &j, &f->problem));
    assert_int_equal(j.id, id);
    assert_int_equal(j.state, STORE_JOB_QUEUED);
    assert_string_equal(j.dataset, "data");
    assert_string_equal(j.warnings, "[1]");
    assert_int_equal(j.last_event, 1);
    store_job_done(&j);
    assert_ok(f, store_job_cancel(f->store, NULL, id, NULL, NULL, &j, &f->problem));
    assert_int_equal(j.state, STORE_JOB_CANCELLED);
    assert_true(j.finished_at > 0);
    store_job_done(&j);
    assert_problem(f, store_job_cancel(f->store, NULL, id, NULL, NULL, &j, &f->problem),
                   PROBLEM_CONFLICT, "is cancelled");
    assert_null(j.spec); /* the function did not change j */
    enum store_job_state now = STORE_JOB_QUEUED;
    assert_ok(f, store_job_get_state(f->store, id, &now, &f->problem));
    assert_int_equal(now, STORE_JOB_CANCELLED);
    assert_problem(f, store_job_get_state(f->store, 99, &now, &f->problem), PROBLEM_UNKNOWN_JOB,
                   "no job 99");
}

static void test_jobs_hold_their_dataset(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id, id = 0;
    publish(f, "data", 2);
    int64_t job = insert_job(f, "a", dataset);
    assert_problem(f, store_dataset_delete(f->store, NULL, "data", 1, NULL, &f->problem),
                   PROBLEM_IN_USE, "in use by job 1");
    assert_problem(f, store_dataset_delete(f->store, NULL, "data", 0, NULL, &f->problem),
                   PROBLEM_IN_USE, "in use by job 1");
    assert_ok(f, store_dataset_delete(f->store, NULL, "data", 2, NULL, &f->problem));
    assert_int_equal(claim_job(f, 3), job);
    assert_problem(f, store_dataset_delete(f->store, NULL, "data", 1, NULL, &f->problem),
                   PROBLEM_IN_USE, "in use");
    succeed_job(f, job, 1, 1, 10, 0);
    assert_ok(f, store_dataset_delete(f->store, NULL, "data", 0, NULL, &f->problem));
    struct store_job_new j = {.model = "a", .algorithm = "x", .dataset_id = dataset, .spec = "{}"};
    assert_problem(f, store_job_insert(f->store, &j, &id, NULL, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "was deleted");
    struct store_job kept = get_job(f, job); /* the job keeps the name of the deleted dataset */
    assert_string_equal(kept.dataset, "data");
    store_job_done(&kept);
}

/* The training version and the validation version are pinned until the job has ended, also after a
 * restart. A job may use one version for both. */
static void test_jobs_hold_what_they_validate_on(void **state) {
    struct fixture *f = *state;
    struct store_job_new j = {.model = "a",
                              .algorithm = "x",
                              .dataset_id = publish(f, "data", 1).id,
                              .validation_id = publish(f, "judge", 1).id,
                              .spec = "{}"};
    int64_t id = 0, same = 0;
    assert_ok(f, store_job_insert(f->store, &j, &id, NULL, &f->problem));
    fixture_close(f);
    assert_ok(f, fixture_open(f));
    assert_problem(f, store_dataset_delete(f->store, NULL, "judge", 0, NULL, &f->problem),
                   PROBLEM_IN_USE, "in use by job 1");
    assert_problem(f, store_dataset_delete(f->store, NULL, "data", 0, NULL, &f->problem),
                   PROBLEM_IN_USE, "in use by job 1");
    assert_ok(f, store_job_cancel(f->store, NULL, id, NULL, NULL, NULL, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "judge", 0, NULL, &f->problem));
    assert_problem(f, store_job_insert(f->store, &j, &id, NULL, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "was deleted");
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM job_pins"),
                     0); /* the refused job has no row */
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM jobs"), 1);
    j.validation_id = j.dataset_id;
    assert_ok(f, store_job_insert(f->store, &j, &same, NULL, &f->problem));
    assert_problem(f, store_dataset_delete(f->store, NULL, "data", 0, NULL, &f->problem),
                   PROBLEM_IN_USE, "in use");
    assert_ok(f, store_job_cancel(f->store, NULL, same, NULL, NULL, NULL, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "data", 0, NULL, &f->problem));
}

static bool renew(struct fixture *f, const struct store_claim *claim, bool *cancel) {
    return store_job_report(f->store, claim, NULL, NULL, 0, cancel, &f->problem);
}

static void test_success(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id), version = 0;
    claim_job(f, 3);
    struct store_history_row rows[] = {{7, false, false, "{\"loss\":1}"},
                                       {7, true, false, "{\"w\":[1]}"}};
    struct store_job_end e = {.claim = claim_of(f, job),
                              .state = STORE_JOB_SUCCEEDED,
                              .progress = "{\"fraction\":1}",
                              .warnings = "[\"careful\"]",
                              .result = "{\"converged\":true}",
                              .rows = rows,
                              .n_rows = 2,
                              .model_part = stage_model(f->store, 1, 2, 100),
                              .model_bytes = 150,
                              .model_info = "{}"};
    /* the given size differs from that of the staged bytes: nothing is changed */
    assert_problem(f, store_job_end(f->store, &e, &version, &f->problem), PROBLEM_INTERNAL,
                   "200 bytes");
    assert_job_state(f, job, STORE_JOB_RUNNING, 1);
    e.model_bytes = 200;
    assert_ok(f, store_job_end(f->store, &e, &version, &f->problem));
    assert_int_equal(version, 1);
    struct store_job j = get_job(f, job);
    assert_int_equal(j.state, STORE_JOB_SUCCEEDED);
    assert_int_equal(j.version, 1);
    assert_string_equal(j.progress, "{\"fraction\":1}");
    assert_string_equal(j.warnings, "[\"careful\"]");
    assert_string_equal(j.result, "{\"converged\":true}");
    assert_null(j.error);
    assert_true(j.finished_at >= j.started_at && j.started_at >= j.created_at);
    store_job_done(&j);
    /* a job that has ended cannot be changed */
    assert_problem(f, store_job_cancel(f->store, NULL, job, NULL, NULL, NULL, &f->problem),
                   PROBLEM_CONFLICT, "job 1 is succeeded");
    e.state = STORE_JOB_FAILED;
    assert_problem(f, store_job_end(f->store, &e, &version, &f->problem), PROBLEM_CONFLICT,
                   "no longer claimed by this worker");
    assert_problem(f, renew(f, &e.claim, &(bool){false}), PROBLEM_CONFLICT,
                   "no longer claimed by this worker");
}

static void test_failure_and_drain(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id, job = insert_job(f, "m", dataset);
    claim_job(f, 1);
    struct store_job_end e = {.claim = claim_of(f, job), .state = STORE_JOB_QUEUED};
    for (int i = 0; i < 3; i++) { /* the job is queued again, and the attempt is not counted */
        assert_ok(f, store_job_end(f->store, &e, NULL, &f->problem));
        assert_job_state(f, job, STORE_JOB_QUEUED, 0);
        assert_problem(f, store_dataset_delete(f->store, NULL, "data", 0, NULL, &f->problem),
                       PROBLEM_IN_USE, "in use");
        assert_int_equal(claim_job(f, 1), job);
        e.claim = claim_of(f, job);
        assert_int_equal(e.claim.token, i + 2); /* each claim has a new token */
    }
    e = (struct store_job_end){.claim = e.claim,
                               .state = STORE_JOB_FAILED,
                               .error = "{\"type\":\"/problems/job-numeric\"}"};
    assert_ok(f, store_job_end(f->store, &e, NULL, &f->problem));
    struct store_job j = get_job(f, job);
    assert_int_equal(j.state, STORE_JOB_FAILED);
    assert_string_equal(j.error, "{\"type\":\"/problems/job-numeric\"}");
    assert_int_equal(j.version, 0);
    store_job_done(&j);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM models"), 0);
}

static void test_cancel(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id, queued = insert_job(f, "a", dataset),
            running = insert_job(f, "b", dataset);
    bool cancel = true;
    assert_ok(f, store_job_cancel(f->store, NULL, queued, NULL, NULL, NULL, &f->problem));
    assert_job_state(f, queued, STORE_JOB_CANCELLED, 0);
    assert_int_equal(claim_job(f, 3), running);
    const struct store_claim claim = claim_of(f, running);
    assert_ok(f, renew(f, &claim, &cancel));
    assert_false(cancel);
    assert_ok(f, store_job_cancel(f->store, NULL, running, NULL, NULL, NULL, &f->problem));
    assert_job_state(f, running, STORE_JOB_RUNNING, 1);
    assert_ok(f, renew(f, &claim, &cancel));
    assert_true(cancel);
    struct store_job_end e = {.claim = claim, .state = STORE_JOB_QUEUED};
    /* the worker queues the job again, but a user has cancelled it */
    assert_ok(f, store_job_end(f->store, &e, NULL, &f->problem));
    assert_job_state(f, running, STORE_JOB_CANCELLED, 1);
    assert_problem(f, store_job_cancel(f->store, NULL, 77, NULL, NULL, NULL, &f->problem),
                   PROBLEM_UNKNOWN_JOB, "no job 77");
    assert_ok(f, store_dataset_delete(f->store, NULL, "data", 0, NULL,
                                      &f->problem)); /* no job has pinned it */
}

static void test_lease_of_another_owner(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id, live = insert_job(f, "a", dataset),
            expired = insert_job(f, "b", dataset);
    int64_t cancelled = insert_job(f, "c", dataset);
    for (int i = 0; i < 3; i++) {
        claim_job(f, 3);
    }
    sql_run(f->path, "UPDATE jobs SET owner = 'somebody', lease_until = CASE id WHEN 1 THEN "
                     "9999999999999 ELSE 1 END, cancel_requested = id = 3");
    const struct store_claim of_live = claim_of(f, live), of_expired = claim_of(f, expired);
    bool cancel;
    assert_problem(f, renew(f, &of_live, &cancel), PROBLEM_CONFLICT,
                   "no longer claimed by this worker");
    assert_problem(f, store_job_report(f->store, &of_expired, "{}", NULL, 0, &cancel, &f->problem),
                   PROBLEM_CONFLICT, "no longer claimed by this worker");
    struct store_job_end e = {.claim = of_expired, .state = STORE_JOB_FAILED};
    assert_problem(f, store_job_end(f->store, &e, NULL, &f->problem), PROBLEM_CONFLICT,
                   "no longer claimed by this worker");
    assert_int_equal(claim_job(f, 3), expired);
    assert_job_state(f, expired, STORE_JOB_RUNNING, 2);
    assert_job_state(f, cancelled, STORE_JOB_CANCELLED, 1);
    assert_int_equal(claim_job(f, 3), 0);
    assert_job_state(f, live, STORE_JOB_RUNNING, 1);
}

/* Waits for the call of `done` of a chunk. */
struct staged {
    sem_t done;
    enum problem_type problem;
};

static void note_staged(void *arg, const struct problem *problem) {
    struct staged *s = arg;
    s->problem = problem ? problem->type : PROBLEM_NONE;
    sem_post(&s->done);
}

/* Stages a chunk of a claimed job. Returns the problem that `done` got. */
static enum problem_type stage_chunk(struct fixture *f, const struct store_claim *claim) {
    struct staged s = {0};
    struct store_blob blob = {.bytes = pattern(1, 0, 0, 10), .size = 10};
    const int64_t part = store_part_begin(f->store, claim);
    assert_int_equal(sem_init(&s.done, 0, 0), 0);
    store_part_append(f->store, part, 0, 0, &blob, 1, note_staged, &s);
    assert_int_equal(sem_wait(&s.done), 0);
    store_part_drop(f->store, part);
    return s.problem;
}

/* A cancellation that ends a search does not cancel the job, also in its next attempt; a second one
 * does. Trials outlive the attempt, and are stored when the job is given back. */
static void test_cancelled_search(void **state) {
    struct fixture *f = *state;
    const int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    assert_int_equal(claim_job(f, 3), job);
    struct store_claim claim = claim_of(f, job);
    const struct store_history_row rows[] = {{1, false, false, "{}"}, {0, false, true, "{}"}};
    bool cancel = false;
    assert_ok(f, store_job_cancel(f->store, NULL, job, NULL, NULL, NULL, &f->problem));
    assert_ok(f, store_job_report(f->store, &claim, "{}", rows, 2, &cancel, &f->problem));
    assert_true(cancel);
    assert_ok(f, store_job_end_search(f->store, &claim, &f->problem));
    assert_ok(f, store_job_report(f->store, &claim, "{}", NULL, 0, &cancel, &f->problem));
    assert_false(cancel);
    const struct store_job_end end = {.claim = claim,
                                      .state = STORE_JOB_QUEUED,
                                      .rows = rows,
                                      .n_rows = 2};
    assert_ok(f, store_job_end(f->store, &end, NULL, &f->problem));
    struct store_job j;
    bool found = false;
    assert_ok(f, store_job_claim(f->store, 3, &j, &found, &f->problem));
    assert_true(found && j.search_cancelled && !j.cancel_requested);
    store_job_done(&j);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM job_history"), 0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM job_trials"), 2);
    assert_problem(f, store_job_end_search(f->store, &claim, &f->problem), PROBLEM_CONFLICT,
                   "job 1 is no longer claimed by this worker");
    claim = claim_of(f, job);
    assert_ok(f, store_job_cancel(f->store, NULL, job, NULL, NULL, NULL, &f->problem));
    assert_ok(f, store_job_report(f->store, &claim, "{}", NULL, 0, &cancel, &f->problem));
    assert_true(cancel);
}

/* A job is claimed a second time by this process. Each write with the first claim must be refused
 * and change nothing; writes with the second claim must succeed. */
static void test_writes_of_an_earlier_claim_are_refused(void **state) {
    struct fixture *f = *state;
    const int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    assert_int_equal(claim_job(f, 3), job);
    const struct store_claim old = claim_of(f, job);
    sql_run(f->path, "UPDATE jobs SET owner = 'somebody', lease_until = 1");
    assert_int_equal(claim_job(f, 3), job);
    const struct store_claim new = claim_of(f, job);
    assert_true(new.token > old.token);
    const struct store_history_row row = {1, false, false, "{}"};
    bool cancel;
    assert_problem(f, store_job_report(f->store, &old, "{}", &row, 1, &cancel, &f->problem),
                   PROBLEM_CONFLICT, "job 1 is no longer claimed by this worker");
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM job_history"), 0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM job_events WHERE kind = 1"), 0);
    assert_int_equal(stage_chunk(f, &old), PROBLEM_CONFLICT);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM chunks WHERE n_blobs = 1"), 0);
    static const enum store_job_state ends[] = {STORE_JOB_SUCCEEDED, STORE_JOB_FAILED,
                                                STORE_JOB_CANCELLED, STORE_JOB_QUEUED};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const struct store_job_end e = {.claim = old,
                                        .state = ends[i],
                                        .model_part = ends[i] == STORE_JOB_SUCCEEDED
                                                          ? stage_model(f->store, 1, 1, 10)
                                                          : 0,
                                        .model_bytes = 10,
                                        .model_info = "{}"};
        assert_problem(f, store_job_end(f->store, &e, NULL, &f->problem), PROBLEM_CONFLICT,
                       "job 1 is no longer claimed by this worker");
        assert_job_state(f, job, STORE_JOB_RUNNING, 2);
    }
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM model_versions"), 0);
    assert_ok(f, store_job_report(f->store, &new, "{}", &row, 1, &cancel, &f->problem));
    assert_int_equal(stage_chunk(f, &new), PROBLEM_NONE);
    succeed_job(f, job, 1, 1, 10, 0);
    assert_job_state(f, job, STORE_JOB_SUCCEEDED, 2);
}

/* Holds SQLite's write lock on another connection: a claim does not need this lock if no job is
 * queued. */
static void test_an_idle_worker_only_reads(void **state) {
    struct fixture *f = *state;
    const int64_t dataset = publish(f, "data", 1).id;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(claim_job(f, 3), 0);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    const int64_t job = insert_job(f, "m", dataset);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct store_job j = {0};
    bool found = false;
    assert_problem(f, store_job_claim(f->store, 3, &j, &found, &f->problem), PROBLEM_INTERNAL,
                   "locked"); /* SQLite waits 5 s for the lock */
    sqlite3_close(db);
    assert_int_equal(claim_job(f, 3), job);
}

/* Makes another process claim the job, report progress and exit without ending the job. */
static void crash_once(struct fixture *f, int64_t job) {
    fixture_close(f);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct store_history_row row = {1, false, false, "{}"};
        bool cancel, ok = fixture_open(f) && claim_job(f, 2) == job;
        const struct store_claim claim = ok ? claim_of(f, job) : (struct store_claim){0};
        ok = ok && store_job_report(f->store, &claim, "{\"x\":1}", &row, 1, &cancel, &f->problem);
        _exit(ok ? 42 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    assert_ok(f, fixture_open(f));
}

/* A process ends while it runs several jobs. Afterwards only one of these jobs runs at a time,
 * together with jobs that were not running then. */
static void test_suspects_run_one_at_a_time(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id, a = insert_job(f, "a", dataset),
            b = insert_job(f, "b", dataset);
    fixture_close(f);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(fixture_open(f) && claim_job(f, 3) == a && claim_job(f, 3) == b ? 42 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    /* leases of a process whose clock was far ahead */
    sql_run(f->path, "UPDATE jobs SET lease_until = 9999999999999");
    assert_ok(f, fixture_open(f));
    int64_t fresh = insert_job(f, "c", dataset);
    assert_int_equal(claim_job(f, 3), a);
    assert_int_equal(claim_job(f, 3), fresh);
    assert_int_equal(claim_job(f, 3), 0);
    assert_job_state(f, b, STORE_JOB_QUEUED, 1);
    struct store_job_end e = {.claim = claim_of(f, a), .state = STORE_JOB_FAILED};
    assert_ok(f, store_job_end(f->store, &e, NULL, &f->problem));
    assert_int_equal(claim_job(f, 3), b);
    assert_job_state(f, b, STORE_JOB_RUNNING, 2);
}

/* Makes another process claim at most 2 jobs and exit. Returns the number of claimed jobs. */
static int claim_and_die(struct fixture *f) {
    fixture_close(f);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int n = 0;
        if (!fixture_open(f)) {
            _exit(99);
        }
        while (n < 2 && claim_job(f, 3)) {
            n++;
        }
        _exit(n);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_ok(f, fixture_open(f));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A job runs together with jobs that crash the process twice. Before its last attempt it waits
 * until no other job runs; then no other job starts. */
static void test_a_last_start_is_alone(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id, innocent = insert_job(f, "innocent", dataset);
    for (int i = 1; i <= 2; i++) {
        insert_job(f, "guilty", dataset);
        assert_int_equal(claim_and_die(f), 2);
        assert_job_state(f, innocent, STORE_JOB_QUEUED, i);
    }
    int64_t fresh = insert_job(f, "guilty", dataset);
    assert_int_equal(claim_job(f, 3), innocent);
    /* neither a job that was running in a crash nor a new job starts */
    assert_int_equal(claim_job(f, 3), 0);
    succeed_job(f, innocent, 9, 1, 10, 0);
    assert_int_equal(claim_job(f, 3), 2);
    assert_int_equal(claim_job(f, 3), fresh);
    insert_job(f, "later", dataset);
    /* one job before its last attempt, while other jobs run */
    sql_run(f->path, "UPDATE jobs SET attempts = 2 WHERE state = 0 OR id = 3");
    assert_int_equal(claim_job(f, 3), 0); /* the job waits, and no other job starts */
}

static void test_the_queue_is_bounded(void **state) {
    struct fixture *f = *state;
    int64_t id, dataset = publish(f, "data", 1).id;
    const struct store_job_new j = {.model = "m",
                                    .algorithm = "logistic",
                                    .dataset_id = dataset,
                                    .spec = "{}",
                                    .max_queued = 2};
    assert_ok(f, store_job_insert(f->store, &j, &id, NULL, &f->problem));
    assert_ok(f, store_job_insert(f->store, &j, &id, NULL, &f->problem));
    assert_problem(f, store_job_insert(f->store, &j, &id, NULL, &f->problem), PROBLEM_UNAVAILABLE,
                   "2 jobs are queued");
    assert_int_equal(claim_job(f, 3), 1); /* running jobs are not counted */
    assert_ok(f, store_job_insert(f->store, &j, &id, NULL, &f->problem));
    assert_int_equal(id, 3);
}

static void test_crashes_are_counted(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id), next = insert_job(f, "n", 1);
    for (int i = 1; i <= 2; i++) {
        crash_once(f, job); /* the lease has not ended, but store_open queues the job again */
        assert_job_state(f, job, STORE_JOB_QUEUED, i);
    }
    assert_int_equal(claim_job(f, 2), next); /* this claim also ends the crashed job */
    struct store_job j = get_job(f, job);
    assert_int_equal(j.state, STORE_JOB_FAILED);
    assert_non_null(strstr(j.error, "job-crashed"));
    assert_non_null(strstr(j.error, "2 times"));
    assert_true(j.finished_at > 0);
    store_job_done(&j);
}

static void test_claim_clears_what_the_last_start_left(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    crash_once(f, job);
    assert_int_equal(claim_job(f, 3), job);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM job_history"), 0);
    struct store_job j = get_job(f, job);
    assert_null(j.progress);
    assert_int_equal(j.attempts, 2);
    store_job_done(&j);
}

/* Returns the jobs of a list as "IDMODEL ". */
static const char *list_text(struct fixture *f, const struct store_job_filter *filter,
                             size_t limit) {
    static char text[600];
    struct store_page page = {0};
    size_t at = 0;
    assert_ok(f, store_job_list(f->store, filter, &(struct store_limit){.items = limit}, &page,
                                &f->problem));
    const struct store_job *jobs = page.items;
    text[0] = '\0';
    for (size_t i = 0; i < page.n; i++) {
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%d%s ", (int)jobs[i].id, jobs[i].model);
    }
    store_page_done(&page);
    return text;
}

static void test_list_delete_prune(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id;
    for (int i = 0; i < 6; i++) {
        insert_job(f, i % 2 ? "odd" : "even", dataset);
    }
    const struct store_job_filter any = {.state = -1},
                                  odd = {.state = STORE_JOB_QUEUED, .model = "odd", .before = 6};
    assert_string_equal(list_text(f, &any, 4), "6odd 5even 4odd 3even ");
    assert_string_equal(list_text(f, &odd, 9), "4odd 2odd ");
    assert_problem(f, store_job_delete(f->store, NULL, 1, NULL, &f->problem), PROBLEM_CONFLICT,
                   "job 1 is queued");
    for (int64_t id = 1; id <= 5; id++) {
        assert_ok(f, store_job_cancel(f->store, NULL, id, NULL, NULL, NULL, &f->problem));
    }
    assert_ok(f, store_job_delete(f->store, NULL, 4, NULL, &f->problem));
    assert_problem(f, store_job_delete(f->store, NULL, 4, NULL, &f->problem), PROBLEM_UNKNOWN_JOB,
                   "no job 4");
    assert_ok(f, store_job_prune(f->store, 2, &f->problem));
    assert_string_equal(list_text(f, &any, 9), "6odd 5even 3even ");
    assert_int_equal(sql_ask(f->path, "SELECT count(DISTINCT job) FROM job_events"), 3);
    assert_ok(f, store_job_cancel(f->store, NULL, 6, NULL, NULL, NULL, &f->problem));
    assert_ok(f, store_job_prune(f->store, 0, &f->problem));
    assert_int_equal(insert_job(f, "new", dataset), 7); /* ids are not used again */
}

/* Pruning keeps the jobs that ended last, not those with the highest ids. */
static void test_prune_goes_by_the_end(void **state) {
    struct fixture *f = *state;
    int64_t dataset = publish(f, "data", 1).id;
    for (int64_t id = 1; id <= 5; id++) {
        insert_job(f, "m", dataset);
        if (id < 5) {
            assert_ok(f, store_job_cancel(f->store, NULL, id, NULL, NULL, NULL, &f->problem));
        }
    }
    sql_run(f->path,
            "UPDATE jobs SET finished_at = CASE id WHEN 1 THEN 400 WHEN 2 THEN 100 ELSE 300 "
            "END WHERE state = 4");
    assert_ok(f, store_job_prune(f->store, 2, &f->problem));
    assert_string_equal(list_text(f, &(struct store_job_filter){.state = -1}, 9), "5m 4m 1m ");
}

static void test_state_names(void **state) {
    (void)state;
    enum store_job_state parsed = STORE_JOB_QUEUED;
    for (int i = 0; i < 5; i++) {
        assert_true(store_job_state_parse(store_job_state_name((enum store_job_state)i), &parsed));
        assert_int_equal(parsed, i);
    }
    assert_false(store_job_state_parse("done", &parsed));
    assert_true(store_job_ended(STORE_JOB_CANCELLED) && !store_job_ended(STORE_JOB_RUNNING));
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_claims_in_order),
                                       T(test_insert_and_cancel_tell_what_they_did),
                                       T(test_jobs_hold_their_dataset),
                                       T(test_jobs_hold_what_they_validate_on),
                                       T(test_success),
                                       T(test_failure_and_drain),
                                       T(test_cancel),
                                       T(test_cancelled_search),
                                       T(test_lease_of_another_owner),
                                       T(test_writes_of_an_earlier_claim_are_refused),
                                       T(test_an_idle_worker_only_reads),
                                       T(test_suspects_run_one_at_a_time),
                                       T(test_a_last_start_is_alone),
                                       T(test_the_queue_is_bounded),
                                       T(test_crashes_are_counted),
                                       T(test_claim_clears_what_the_last_start_left),
                                       T(test_list_delete_prune),
                                       T(test_prune_goes_by_the_end),
                                       T(test_state_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
