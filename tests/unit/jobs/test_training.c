/* Jobs from the queue to the model: the same bytes whatever threads and chunks; cancel, drain, time
 * and memory limits end as documented; a damaged spec fails cleanly. */
#include "jobs/jobs.h"

#include "database.h"

static struct jobs *start(struct fixture *f, int64_t workers) {
    struct problem problem = {0};
    struct jobs *jobs = NULL;
    struct jobs_settings s = {.workers = workers,
                              .train_threads = 2,
                              .memory_bytes = (int64_t)1 << 30,
                              .attempts = 3,
                              .keep_jobs = 100};
    if (!jobs_start(f->store, &s, &jobs, &problem)) {
        fail_msg("%s", problem.detail);
    }
    jobs_open(jobs);
    return jobs;
}

static void model_bytes(struct fixture *f, const char *name, struct buf *out) {
    struct problem problem = {0};
    struct store_model m;
    if (!store_model_get(f->store, name, 0, &m, &problem) ||
        !store_model_bytes(f->store, m.id, out, &problem)) {
        fail_msg("%s", problem.detail);
    }
    store_model_done(&m);
}

static void same_bytes_for_any_threads_and_chunks(void **state) {
    (void)state;
    struct fixture f;
    struct buf first = {0};
    fixture_init(&f);
    struct jobs *jobs = start(&f, 2);
    const size_t chunk_rows[] = {30000, 1000, 4096, 777};
    for (size_t k = 0; k < 4; k++) {
        fixture_dataset(&f, "d", 30000, chunk_rows[k]);
        struct jobs_request spec = fixture_spec("m", "lbfgs");
        spec.limits.threads = (int64_t)k + 1;
        spec.holdout = 0.25;
        int64_t id = fixture_job(&f, &spec);
        jobs_poke(jobs);
        struct store_job job = fixture_await(&f, id, STORE_JOB_SUCCEEDED);
        if (job.state != STORE_JOB_SUCCEEDED) {
            fail_msg("%s", job.error ? job.error : "not succeeded");
        }
        assert_non_null(job.result);
        assert_non_null(strstr(job.result, "\"converged\":true"));
        store_job_done(&job);
        dn_params_free(spec.params);
        struct buf bytes = {0};
        model_bytes(&f, "m", k == 0 ? &first : &bytes);
        if (k > 0) {
            assert_int_equal(bytes.size, first.size);
            assert_memory_equal(bytes.data, first.data, first.size);
        }
        buf_done(&bytes);
        struct problem problem = {0};
        assert_true(store_dataset_delete(f.store, NULL, "d", 0, NULL, &problem));
    }
    buf_done(&first);
    jobs_stop(jobs);
    fixture_done(&f);
}

/* A job that would run for minutes: many passes at a tiny rate. */
static struct jobs_request endless(const char *model) {
    struct jobs_request spec = fixture_spec(model, "gradient_descent");
    assert_int_equal(dn_params_set_number(spec.params, "max_iterations", 1e6, NULL), DN_OK);
    assert_int_equal(dn_params_set_number(spec.params, "learning_rate", 1e-12, NULL), DN_OK);
    assert_int_equal(dn_params_set_number(spec.params, "tolerance", 0, NULL), DN_OK);
    return spec;
}

static void cancel_drain_and_limits(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    fixture_init(&f);
    fixture_dataset(&f, "d", 20000, 8192);
    struct jobs *jobs = start(&f, 1);
    struct jobs_request spec = endless("m");

    int64_t id = fixture_job(&f, &spec);
    jobs_poke(jobs);
    struct store_job job = fixture_await(&f, id, STORE_JOB_RUNNING);
    assert_int_equal(job.state, STORE_JOB_RUNNING);
    store_job_done(&job);
    assert_true(store_job_cancel(f.store, NULL, id, NULL, NULL, NULL, &problem));
    job = fixture_await(&f, id, STORE_JOB_CANCELLED);
    assert_int_equal(job.state, STORE_JOB_CANCELLED);
    store_job_done(&job);

    spec.limits.seconds = 0.2;
    id = fixture_job(&f, &spec);
    jobs_poke(jobs);
    job = fixture_await(&f, id, STORE_JOB_FAILED);
    assert_int_equal(job.state, STORE_JOB_FAILED);
    assert_non_null(strstr(job.error, "/problems/job-time-limit"));
    store_job_done(&job);

    spec.limits.seconds = 0;
    spec.limits.memory_bytes = 20000;
    id = fixture_job(&f, &spec);
    jobs_poke(jobs);
    job = fixture_await(&f, id, STORE_JOB_FAILED);
    assert_int_equal(job.state, STORE_JOB_FAILED);
    assert_non_null(strstr(job.error, "/problems/job-memory-limit"));
    store_job_done(&job);

    spec.limits.memory_bytes = (int64_t)256 << 20;
    id = fixture_job(&f, &spec);
    jobs_poke(jobs);
    job = fixture_await(&f, id, STORE_JOB_RUNNING);
    store_job_done(&job);
    jobs_stop(jobs); /* gives it back */
    job = fixture_get(&f, id);
    assert_int_equal(job.state, STORE_JOB_QUEUED);
    assert_int_equal(job.attempts, 0);
    store_job_done(&job);
    dn_params_free(spec.params);
    fixture_done(&f);
}

/* The history of a job, or its snapshots, for the caller to free. */
static struct store_page read_history(struct fixture *f, int64_t job, bool snapshots) {
    struct problem problem = {0};
    struct store_page page = {0};
    assert_true(
        store_job_history(f->store, job, snapshots, &(struct store_limit){0}, &page, &problem));
    return page;
}

static void history_and_snapshots(void **state) {
    (void)state;
    struct fixture f;
    static const size_t wanted[] = {1, 10, 40};
    fixture_init(&f);
    fixture_dataset(&f, "d", 500, 100);
    struct jobs *jobs = start(&f, 1);
    struct jobs_request spec = endless("m");
    assert_int_equal(dn_params_set_number(spec.params, "max_iterations", 50, NULL), DN_OK);
    spec.snapshots = wanted;
    spec.n_snapshots = 3;
    int64_t id = fixture_job(&f, &spec);
    jobs_poke(jobs);
    struct store_job job = fixture_await(&f, id, STORE_JOB_SUCCEEDED);
    assert_int_equal(job.state, STORE_JOB_SUCCEEDED);
    assert_non_null(strstr(job.result, "\"converged\":false"));
    assert_non_null(strstr(job.warnings, "iterations"));
    store_job_done(&job);
    struct store_page page = read_history(&f, id, false);
    const struct store_history_row *rows = page.items;
    assert_int_equal(page.n, 50);
    for (size_t i = 0; i < page.n; i++) {
        assert_int_equal(rows[i].iteration, i + 1);
        assert_non_null(strstr(rows[i].doc, "\"loss\":"));
    }
    store_page_done(&page);
    page = read_history(&f, id, true);
    rows = page.items;
    assert_int_equal(page.n, 3);
    for (size_t i = 0; i < page.n; i++) {
        assert_int_equal(rows[i].iteration, wanted[i]);
        assert_non_null(strstr(rows[i].doc, "\"w\":["));
    }
    store_page_done(&page);
    jobs_stop(jobs);
    dn_params_free(spec.params);
    fixture_done(&f);
}

static void a_damaged_spec_fails_the_job(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    int64_t id = 0;
    fixture_init(&f);
    fixture_dataset(&f, "d", 100, 100);
    struct jobs *jobs = start(&f, 1);
    struct store_job_new j = {.model = "m",
                              .algorithm = "logistic",
                              .dataset_id = f.dataset,
                              .spec = "{\"model\":\"m\"}"};
    assert_true(store_job_insert(f.store, &j, &id, NULL, &problem));
    jobs_poke(jobs);
    struct store_job job = fixture_await(&f, id, STORE_JOB_FAILED);
    assert_int_equal(job.state, STORE_JOB_FAILED);
    assert_non_null(strstr(job.error, "/problems/internal"));
    store_job_done(&job);
    jobs_stop(jobs);
    fixture_done(&f);
}

static void spec_round_trip(void **state) {
    (void)state;
    static const size_t snapshots[] = {3, 7};
    struct jobs_request spec = fixture_spec("m", "sgd"), back;
    struct problem problem = {0};
    struct arena arena;
    struct buf text = {0}, again = {0};
    arena_init(&arena, 0);
    spec.snapshots = snapshots;
    spec.n_snapshots = 2;
    spec.holdout = 0.25;
    spec.seed = ((uint64_t)1 << 53) - 1; /* the largest */
    jobs_request_write_stored(&spec, &text);
    if (!jobs_request_read_stored(buf_cstr(&text), &arena, &back, &problem)) {
        fail_msg("%s", problem.detail);
    }
    assert_int_equal(back.n_inputs, 3);
    assert_string_equal(back.inputs[2].name, "color");
    assert_int_equal(back.inputs[2].type, DN_CATEGORICAL);
    assert_string_equal(dn_params_word(back.params, "solver"), "sgd");
    jobs_request_write_stored(&back, &again);
    assert_string_equal(buf_cstr(&again), buf_cstr(&text));
    jobs_request_done(&back);
    for (size_t cut = 0; cut < text.size;
         cut += 7) { /* a damaged text is refused, never half taken */
        char saved = text.data[cut];
        text.data[cut] = '\0';
        assert_false(jobs_request_read_stored(text.data, &arena, &back, &problem));
        problem_done(&problem);
        text.data[cut] = saved;
    }
    buf_done(&text);
    buf_done(&again);
    arena_done(&arena);
    dn_params_free(spec.params);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_round_trip),
        cmocka_unit_test(same_bytes_for_any_threads_and_chunks),
        cmocka_unit_test(cancel_drain_and_limits),
        cmocka_unit_test(history_and_snapshots),
        cmocka_unit_test(a_damaged_spec_fails_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
