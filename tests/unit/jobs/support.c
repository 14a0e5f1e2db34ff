#include "unit/jobs/support.h"

void jobs_fixture_open(struct fixture *f) {
    struct problem problem = {0};
    struct store_settings settings = {.path = f->path};
    if (!store_open(&settings, &f->store, &problem)) {
        fail_msg("store_open: %s", problem.detail);
    }
}

void fixture_init(struct fixture *f) {
    memset(f, 0, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/discern-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/t.db", f->dir);
    assert_true(ids_init());
    jobs_fixture_open(f);
}

void fixture_done(struct fixture *f) {
    char name[128];
    const char *const endings[] = {"", "-wal", "-shm", ".lock"};
    store_close(f->store);
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", f->path, endings[i]);
        unlink(name);
    }
    rmdir(f->dir);
}

static void fixture_staged(void *arg, const struct problem *problem) {
    struct fixture_wait *w = arg;
    assert_null(problem);
    pthread_mutex_lock(&w->lock);
    w->left--;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->lock);
}

/* Row i of the dataset: x1, x2 noisy around ±1 by class, color red/green/missing. */
static void fixture_row(size_t i, double *x1, double *x2, const char **color, const char **target) {
    uint64_t s = (i + 1) * 6364136223846793005u;
    double u = (double)((s >> 33) % 1000) / 1000 - 0.5, v = (double)((s >> 43) % 1000) / 1000 - 0.5;
    bool yes = (s >> 20) % 3 == 0;
    *x1 = 3 * u + (yes ? 1 : 0);
    *x2 = 100 * v;
    *color = i % 11 == 0 ? NULL : i % 2 ? "red" : "green";
    *target = yes ? "yes" : "no";
}

int64_t fixture_dataset(struct fixture *f, const char *name, size_t n, size_t chunk_rows) {
    struct fixture_wait w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    struct problem problem = {0};
    int64_t part = store_part_begin(f->store, NULL), chunk = 0;
    dn_column_builder *b[4];
    for (int c = 0; c < 4; c++) {
        assert_int_equal(dn_column_builder_new(&b[c], NULL), DN_OK);
    }
    for (size_t i = 0; i < n; chunk++) {
        size_t rows = n - i < chunk_rows ? n - i : chunk_rows;
        struct store_blob blobs[4];
        for (size_t end = i + rows; i < end; i++) {
            double x1, x2;
            const char *color, *target;
            fixture_row(i, &x1, &x2, &color, &target);
            assert_int_equal(dn_column_builder_number(b[0], x1, NULL, 0, NULL), DN_OK);
            assert_int_equal(dn_column_builder_number(b[1], x2, NULL, 0, NULL), DN_OK);
            assert_int_equal(color ? dn_column_builder_string(b[2], color, strlen(color), NULL)
                                   : dn_column_builder_missing(b[2], NULL),
                             DN_OK);
            assert_int_equal(dn_column_builder_string(b[3], target, strlen(target), NULL), DN_OK);
        }
        for (int c = 0; c < 4; c++) {
            assert_int_equal(dn_column_builder_encode(b[c], &blobs[c].bytes, &blobs[c].size, NULL),
                             DN_OK);
        }
        pthread_mutex_lock(&w.lock);
        w.left++;
        pthread_mutex_unlock(&w.lock);
        store_part_append(f->store, part, chunk, (int64_t)rows, blobs, 4, fixture_staged, &w);
    }
    pthread_mutex_lock(&w.lock);
    while (w.left > 0) {
        pthread_cond_wait(&w.cond, &w.lock);
    }
    pthread_mutex_unlock(&w.lock);
    for (int c = 0; c < 4; c++) {
        dn_column_builder_free(b[c]);
    }
    struct store_dataset_new d = {
        .name = name,
        .part = part,
        .n_rows = (int64_t)n,
        .n_cols = 4,
        .bytes = 1,
        .sha256 = "00",
        .content = "b2:00",
        .columns = "[]",
        .notes = "{}",
        .options = "",
    };
    struct store_dataset_published out;
    if (!store_dataset_publish(f->store, &d, &out, NULL, &problem)) {
        fail_msg("publish: %s", problem.detail);
    }
    f->dataset = out.id;
    return out.id;
}

struct jobs_request fixture_spec(const char *model, const char *solver) {
    struct jobs_request spec = {
        .model = model,
        .dataset = "d",
        .dataset_version = 1,
        .target = {.index = 3, .name = "y", .type = DN_CATEGORICAL},
        .inputs = fixture_inputs,
        .n_inputs = 3,
        .algorithm = dn_algorithm_find("logistic"),
        .features = {.standardize = true},
        .seed = 1,
        .limits = {.memory_bytes = (int64_t)256 << 20, .threads = 2},
    };
    assert_non_null(spec.algorithm);
    assert_int_equal(dn_params_new(spec.algorithm, &spec.params, NULL), DN_OK);
    assert_int_equal(dn_params_set_word(spec.params, "solver", solver, NULL), DN_OK);
    return spec;
}

int64_t fixture_job(struct fixture *f, const struct jobs_request *spec) {
    struct problem problem = {0};
    struct buf text = {0};
    int64_t id = 0;
    jobs_request_write_stored(spec, &text);
    struct store_job_new j = {.model = spec->model,
                              .algorithm = spec->algorithm->id,
                              .dataset_id = f->dataset,
                              .spec = buf_cstr(&text)};
    if (!store_job_insert(f->store, &j, &id, NULL, &problem)) {
        fail_msg("insert: %s", problem.detail);
    }
    buf_done(&text);
    return id;
}

struct store_job fixture_get(struct fixture *f, int64_t id) {
    struct problem problem = {0};
    struct store_job job;
    if (!store_job_get(f->store, id, &job, &problem)) {
        fail_msg("get: %s", problem.detail);
    }
    return job;
}

struct store_job fixture_await(struct fixture *f, int64_t id, enum store_job_state state) {
    for (int i = 0; i < 12000; i++) {
        struct store_job job = fixture_get(f, id);
        if (store_job_ended(job.state) || job.state == state) {
            return job;
        }
        store_job_done(&job);
        usleep(5000);
    }
    fail_msg("job %lld did not end", (long long)id);
    return (struct store_job){0};
}
