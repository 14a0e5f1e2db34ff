#include "unit/store/fault_work.h"

enum { CHUNKS = 2, COLUMNS = 3, SIZE = 20000 };

/* A series may fail at an allocation: one of the test is tried again. */
static void *need(size_t size) {
    void *p = NULL;
    while (p == NULL) {
        p = malloc(size);
    }
    return p;
}

/* The bytes of a blob. */
static void fill(unsigned char *out, int64_t number, int64_t chunk, size_t column) {
    for (size_t i = 0; i < SIZE; i++) {
        out[i] = (unsigned char)((size_t)(number * 31 + chunk * 7) + column * 3 + i % 251);
    }
}

static int64_t stage_series(struct fixture *f, int64_t number, size_t columns) {
    const int64_t part = store_part_begin(f->store, NULL);
    for (int64_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct store_blob blobs[COLUMNS];
        for (size_t c = 0; c < columns; c++) {
            blobs[c] = (struct store_blob){need(SIZE), SIZE};
            fill(blobs[c].bytes, number, chunk, c);
        }
        store_part_append(f->store, part, chunk, columns == 1 ? 0 : 10, blobs, columns, NULL, NULL);
    }
    return part;
}

bool fault_of_memory;

/* Whether the call succeeded. */
static bool good(struct fixture *f, bool succeeded) {
    const enum problem_type type = f->problem.type;
    if (succeeded != (type == PROBLEM_NONE) ||
        (!succeeded && (type != PROBLEM_INTERNAL || fault_of_memory) &&
         type != PROBLEM_UNAVAILABLE && type != PROBLEM_STORAGE_FULL)) {
        fail_msg("a call returned %d with the problem %s: %s", succeeded, problem_name(type),
                 f->problem.detail != NULL ? f->problem.detail : "");
    }
    problem_done(&f->problem);
    return succeeded;
}

static int64_t publish_series(struct fixture *f, const char *name, int64_t number) {
    char content[32];
    struct store_dataset_published out = {0};
    snprintf(content, sizeof content, "b2:%lld", (long long)number);
    const int64_t part = stage_series(f, number, COLUMNS);
    struct store_dataset_new d = dataset_new(name, part, content, CHUNKS, COLUMNS);
    if (good(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem))) {
        return out.id;
    }
    store_part_drop(f->store, part);
    return 0;
}

static int64_t end_series(struct fixture *f, const struct store_job *job, int64_t number) {
    int64_t version = 0;
    struct store_model m = {0};
    struct store_job_end e = {.claim = store_job_claim_of(job),
                              .state = STORE_JOB_SUCCEEDED,
                              .result = "{}",
                              .model_part = stage_series(f, number, 1),
                              .model_bytes = CHUNKS * SIZE,
                              .model_info = "{}"};
    if (!good(f, store_job_end(f->store, &e, &version, &f->problem))) {
        store_part_drop(f->store, e.model_part);
        e = (struct store_job_end){.claim = e.claim, .state = STORE_JOB_FAILED};
        good(f, store_job_end(f->store, &e, NULL, &f->problem));
        return 0;
    }
    good(f, store_model_get(f->store, job->model, version, &m, &f->problem));
    const int64_t id = m.id;
    store_model_done(&m);
    return id;
}

/* The job may be one that an earlier series has left in the queue. */
static int64_t train_series(struct fixture *f, const char *model, int64_t dataset, int64_t number) {
    struct store_job_new n = {.model = model,
                              .algorithm = "x",
                              .dataset_id = dataset,
                              .spec = "{}"};
    struct store_job job = {0};
    int64_t id = 0, made = 0;
    bool found = false, cancel = false;
    good(f, store_job_insert(f->store, &n, &id, NULL, &f->problem));
    if (good(f, store_job_claim(f->store, 1000, &job, &found, &f->problem)) && found) {
        const struct store_claim claim = store_job_claim_of(&job);
        const struct store_history_row row = {.iteration = 1, .doc = "{}"};
        good(f, store_job_report(f->store, &claim, "{}", &row, 1, &cancel, &f->problem));
        made = end_series(f, &job, number);
        store_job_done(&job);
    }
    return made;
}

struct fault_acknowledged fault_work(struct fixture *f, int64_t number) {
    struct fault_acknowledged a = {.number = number};
    struct store_page page = {0};
    char name[32], other[32];
    snprintf(name, sizeof name, "a%lld", (long long)number);
    snprintf(other, sizeof other, "b%lld", (long long)number);
    a.dataset = publish_series(f, name, number);
    if (a.dataset != 0) {
        a.described = good(f, store_dataset_patch(f->store, NULL, name,
                                                  &(struct store_patch){.description = "words"},
                                                  NULL, NULL, &f->problem));
        a.model = train_series(f, name, a.dataset, number);
    }
    if (publish_series(f, other, number) != 0) {
        a.deleted = good(f, store_dataset_delete(f->store, NULL, other, 0, NULL, &f->problem));
    }
    if (good(f, store_dataset_list(f->store, NULL, &(struct store_limit){.items = 3}, &page,
                                   &f->problem))) {
        store_page_done(&page);
    }
    return a;
}

static void await_writes(struct fixture *f) {
    struct store_health health = {0};
    for (int i = 0; i < 2000; i++) {
        const bool healthy = store_healthy(f->store, &health, &f->problem);
        problem_done(&f->problem);
        if (healthy) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("writes are in state %d", (int)health.writes);
}

static void check_dataset(struct fixture *f, const struct fault_acknowledged *a) {
    static unsigned char expected[SIZE];
    struct store_chunk *chunks = NULL;
    struct store_dataset d = {0};
    struct buf b = {0};
    size_t n = 0;
    assert_ok(f, store_dataset_get_by_id(f->store, a->dataset, &d, &f->problem));
    if (a->described) {
        assert_string_equal(d.description, "words");
    }
    store_dataset_done(&d);
    assert_ok(f, store_dataset_chunks(f->store, a->dataset, &chunks, &n, &f->problem));
    assert_int_equal(n, CHUNKS);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            assert_ok(f, store_chunk_read(f->store, &chunks[i], c, &b, &f->problem));
            fill(expected, a->number, (int64_t)i, c);
            assert_int_equal(b.size, SIZE);
            assert_memory_equal(b.data, expected, SIZE);
        }
    }
    free(chunks);
    buf_done(&b);
}

void fault_check(struct fixture *f, const struct fault_acknowledged *a) {
    struct buf b = {0};
    struct store_dataset d = {0};
    char other[32];
    await_writes(f);
    if (a->dataset != 0) {
        check_dataset(f, a);
    }
    if (a->model != 0) {
        assert_ok(f, store_model_bytes(f->store, a->model, &b, &f->problem));
        assert_int_equal(b.size, CHUNKS * SIZE);
    }
    if (a->deleted) {
        snprintf(other, sizeof other, "b%lld", (long long)a->number);
        assert_problem(f, store_dataset_get(f->store, other, 0, &d, &f->problem),
                       PROBLEM_UNKNOWN_DATASET, other);
    }
    buf_done(&b);
}

int64_t fault_number(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}
