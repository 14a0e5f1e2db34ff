#include "unit/store/crash_work.h"

static void tell(int fd, enum crash_kind kind, int64_t id, int64_t seed) {
    struct crash_acknowledged a = {.kind = kind, .id = id, .seed = seed};
    if (write(fd, &a, sizeof a) != sizeof a) {
        _exit(3);
    }
}

static bool publish_one(struct fixture *f, const char *name, int64_t seed, int64_t *id) {
    char content[32];
    struct store_dataset_published out;
    snprintf(content, sizeof content, "b2:%lld", (long long)seed);
    const int64_t part = stage(f->store, seed, CRASH_CHUNKS, CRASH_COLUMNS, CRASH_BLOB);
    struct store_dataset_new d = dataset_new(name, part, content, CRASH_CHUNKS, CRASH_COLUMNS);
    if (!store_dataset_publish(f->store, &d, &out, NULL, &f->problem)) {
        store_part_drop(f->store, part);
        return false;
    }
    *id = out.id;
    return true;
}

/* Queues a job, claims one and ends it with a model. */
static bool train_one(struct fixture *f, const char *model, int64_t dataset, int64_t seed,
                      int64_t *id) {
    struct store_job_new n = {.model = model,
                              .algorithm = "x",
                              .dataset_id = dataset,
                              .spec = "{}"};
    int64_t job = 0, version = 0;
    struct store_job j = {0};
    struct store_model m = {0};
    bool found = false;
    if (!store_job_insert(f->store, &n, &job, NULL, &f->problem) ||
        !store_job_claim(f->store, 1000, &j, &found, &f->problem) || !found) {
        return false;
    }
    struct store_job_end e = {.claim = store_job_claim_of(&j),
                              .state = STORE_JOB_SUCCEEDED,
                              .result = "{}",
                              .model_part = stage_model(f->store, seed, 2, CRASH_BLOB),
                              .model_bytes = 2 * CRASH_BLOB,
                              .model_info = "{}"};
    bool good = store_job_end(f->store, &e, &version, &f->problem);
    if (!good) {
        store_part_drop(f->store, e.model_part);
    } else {
        good = store_model_get(f->store, j.model, version, &m, &f->problem);
    }
    *id = m.id;
    store_model_done(&m);
    store_job_done(&j);
    return good;
}

_Noreturn void crash_work(struct fixture *f, int fd, int64_t seed, bool may_fail) {
    if (!fixture_open(f)) {
        _exit(1);
    }
    tell(fd, CRASH_READY, 0, 0);
    for (;; seed++) {
        char name[32];
        int64_t id = 0;
        snprintf(name, sizeof name, "d%lld", (long long)seed);
        bool good = publish_one(f, name, seed, &id);
        if (good) {
            tell(fd, CRASH_DATASET, id, seed);
            good = train_one(f, name, id, seed, &id);
        }
        if (good) {
            tell(fd, CRASH_MODEL, id, seed);
        }
        if (!good && !may_fail) {
            _exit(1);
        }
        problem_done(&f->problem);
        /* fails if a job of an earlier child process has pinned the dataset */
        if (seed % 3 == 0 && store_dataset_delete(f->store, NULL, name, 0, NULL, &f->problem)) {
            tell(fd, CRASH_DELETED, 0, seed);
        }
        problem_done(&f->problem);
    }
}

static void check_dataset(struct fixture *f, int64_t id, int64_t seed) {
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf b = {0};
    assert_ok(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem));
    assert_int_equal(n, CRASH_CHUNKS);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < CRASH_COLUMNS; c++) {
            void *expected = pattern(seed, (int64_t)i, c, CRASH_BLOB);
            assert_ok(f, store_chunk_read(f->store, &chunks[i], c, &b, &f->problem));
            assert_int_equal(b.size, CRASH_BLOB);
            assert_memory_equal(b.data, expected, CRASH_BLOB);
            free(expected);
        }
    }
    free(chunks);
    buf_done(&b);
}

static bool deleted(const struct crash_acknowledged *all, size_t n, int64_t seed) {
    for (size_t i = 0; i < n; i++) {
        if (all[i].kind == CRASH_DELETED && all[i].seed == seed) {
            return true;
        }
    }
    return false;
}

void crash_check(struct fixture *f, const struct crash_acknowledged *all, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (all[i].kind == CRASH_DATASET && !deleted(all, n, all[i].seed)) {
            struct store_dataset d = {0};
            if (all[i].seed % 3 == 0 &&
                !store_dataset_get_by_id(f->store, all[i].id, &d, &f->problem)) {
                /* the child deleted the version, but was killed before it reported it */
                problem_done(&f->problem);
                continue;
            }
            store_dataset_done(&d);
            check_dataset(f, all[i].id, all[i].seed);
        } else if (all[i].kind == CRASH_DELETED) {
            char name[32];
            struct store_dataset d = {0};
            snprintf(name, sizeof name, "d%lld", (long long)all[i].seed);
            assert_problem(f, store_dataset_get(f->store, name, 0, &d, &f->problem),
                           PROBLEM_UNKNOWN_DATASET, name);
        } else if (all[i].kind == CRASH_MODEL) {
            struct buf b = {0};
            assert_ok(f, store_model_bytes(f->store, all[i].id, &b, &f->problem));
            assert_int_equal(b.size, 2 * CRASH_BLOB);
            void *expected = pattern(all[i].seed, 1, 0, CRASH_BLOB);
            assert_memory_equal(b.data + CRASH_BLOB, expected, CRASH_BLOB);
            free(expected);
            buf_done(&b);
        }
    }
}

void crash_await_swept(struct fixture *f) {
    sql_await(f->path, "SELECT count(*) FROM parts WHERE state <> 1", 0);
    sql_await(f->path, "SELECT count(*) FROM dataset_versions WHERE hidden = 1", 0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs") -
                         sql_ask(f->path, "SELECT coalesce(sum(n_blobs), 0) FROM chunks"),
                     0);
}
