/* Tests uploads, reads and small transactions at the same time: all data must be correct, and the
 * size of the log must stay limited. */
#include "unit/store/fixture.h"
#include <pthread.h>

enum { UPLOADERS = 4, UPLOADS = 4, CHUNKS = 6, COLUMNS = 3, BLOB = 60000, JOBS = 40 };

struct worker {
    struct store *store;
    int number;
    int64_t ids[UPLOADS]; /* ids of the versions that this worker published */
};

/* An assertion for any thread, which ends the program. (cmocka's assertions work on the main thread
 * only.) */
#define MUST(expression)                                                                           \
    do {                                                                                           \
        if (!(expression)) {                                                                       \
            fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #expression,             \
                    problem.detail ? problem.detail : "?");                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

struct flow {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int pending;
};
static void flow_done(void *arg, const struct problem *problem) {
    struct flow *flow = arg;
    if (problem) {
        abort();
    }
    pthread_mutex_lock(&flow->mutex);
    flow->pending--;
    pthread_cond_signal(&flow->cond);
    pthread_mutex_unlock(&flow->mutex);
}

static void upload(struct worker *w, int u) {
    struct problem problem = {0};
    struct flow flow = {.pending = 0};
    pthread_mutex_init(&flow.mutex, NULL);
    pthread_cond_init(&flow.cond, NULL);
    int64_t part = store_part_begin(w->store, NULL);
    for (int64_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct store_blob blobs[COLUMNS];
        for (size_t c = 0; c < COLUMNS; c++) {
            blobs[c] = (struct store_blob){pattern(w->number * 100 + u, chunk, c, BLOB), BLOB};
        }
        pthread_mutex_lock(&flow.mutex);
        flow.pending++;
        pthread_mutex_unlock(&flow.mutex);
        bool room = store_part_append(w->store, part, chunk, 10, blobs, COLUMNS, flow_done, &flow);
        pthread_mutex_lock(&flow.mutex);
        while (flow.pending > (room && chunk + 1 < CHUNKS ? 2 : 0)) {
            pthread_cond_wait(&flow.cond, &flow.mutex);
        }
        pthread_mutex_unlock(&flow.mutex);
    }
    char name[32], content[32];
    snprintf(name, sizeof name, "d%d-%d", w->number, u % 2);
    snprintf(content, sizeof content, "b2:%d-%d", w->number, u);
    struct store_dataset_new d = dataset_new(name, part, content, CHUNKS, COLUMNS);
    struct store_dataset_published out = {0};
    MUST(store_dataset_publish(w->store, &d, &out, NULL, &problem));
    w->ids[u] = out.id;
    pthread_cond_destroy(&flow.cond);
    pthread_mutex_destroy(&flow.mutex);
}

static void *uploader(void *arg) {
    struct worker *w = arg;
    for (int u = 0; u < UPLOADS; u++) {
        upload(w, u);
    }
    return NULL;
}

/* Reads all chunks of a version and compares them with the pattern of the seed. */
static void verify(struct store *store, int64_t id, int64_t seed) {
    struct problem problem = {0};
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf b = {0};
    MUST(store_dataset_chunks(store, id, &chunks, &n, &problem));
    MUST(n == CHUNKS);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            void *expected = pattern(seed, (int64_t)i, c, BLOB);
            MUST(store_chunk_read(store, &chunks[i], c, &b, &problem));
            MUST(b.size == BLOB && memcmp(b.data, expected, BLOB) == 0);
            free(expected);
        }
    }
    buf_done(&b);
    free(chunks);
}

static int stop;
static void *reader(void *arg) {
    struct worker *w = arg;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        verify(w->store, w->ids[0], 9999);
    }
    return NULL;
}

/* Claims jobs until none is queued, and ends each of them with a model. */
static void *trainer(void *arg) {
    struct worker *w = arg;
    struct problem problem = {0};
    for (bool found = true; found;) {
        struct store_job j = {0};
        MUST(store_job_claim(w->store, 3, &j, &found, &problem));
        if (!found) {
            break;
        }
        const struct store_claim claim = store_job_claim_of(&j);
        bool cancel = true;
        struct store_history_row row = {1, false, false, "{}"};
        MUST(store_job_report(w->store, &claim, "{}", &row, 1, &cancel, &problem));
        MUST(store_job_report(w->store, &claim, NULL, NULL, 0, &cancel, &problem) && !cancel);
        struct store_job_end e = {.claim = claim,
                                  .state = STORE_JOB_SUCCEEDED,
                                  .result = "{}",
                                  .model_part = stage_model(w->store, j.id, 2, 5000),
                                  .model_bytes = 10000,
                                  .model_info = "{}"};
        int64_t version = 0;
        MUST(store_job_end(w->store, &e, &version, &problem) && version > 0);
        store_job_done(&j);
    }
    return NULL;
}

static void test_everything_at_once(void **state) {
    struct fixture *f = *state;
    struct store_dataset_new d = dataset_new("base", stage(f->store, 9999, CHUNKS, COLUMNS, BLOB),
                                             "b2:base", CHUNKS, COLUMNS);
    struct store_dataset_published base = {0};
    assert_ok(f, store_dataset_publish(f->store, &d, &base, NULL, &f->problem));
    for (int i = 0; i < JOBS; i++) {
        insert_job(f, i % 2 ? "odd" : "even", base.id);
    }
    pthread_t threads[UPLOADERS + 4];
    struct worker workers[UPLOADERS + 4];
    for (int i = 0; i < UPLOADERS + 4; i++) {
        workers[i] = (struct worker){.store = f->store, .number = i, .ids = {base.id}};
        void *(*fn)(void *) = i < UPLOADERS ? uploader : i < UPLOADERS + 2 ? trainer : reader;
        assert_int_equal(pthread_create(&threads[i], NULL, fn, &workers[i]), 0);
    }
    for (int i = 0; i < UPLOADERS + 2; i++) {
        pthread_join(threads[i], NULL);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = UPLOADERS + 2; i < UPLOADERS + 4; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < UPLOADERS; i++) {
        for (int u = 0; u < UPLOADS; u++) {
            verify(f->store, workers[i].ids[u], i * 100 + u);
        }
    }
    int64_t counts[5];
    assert_ok(f, store_job_counts(f->store, counts, &f->problem));
    assert_int_equal(counts[STORE_JOB_SUCCEEDED], JOBS);
    assert_int_equal(sql_ask(f->path, "SELECT sum(last_version) FROM models"), JOBS);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM model_versions"), JOBS);
    assert_int_equal(sql_ask(f->path,
                             "SELECT count(*) FROM jobs WHERE attempts <> 1 OR last_event <> 5"),
                     0);
    struct store_stats stats;
    store_stats(f->store, &stats);
    assert_true(stats.log_bytes < 64 << 20);
    assert_int_equal(stats.bulk_queue, 0);
    assert_int_equal(stats.bulk_bytes, 0);
    fixture_close(f);
    assert_intact(f->path);
}

/* Publishes versions while other threads do: several transactions share a COMMIT, but each version
 * number must be used once. */
static void *publisher(void *arg) {
    struct worker *w = arg;
    struct problem problem = {0};
    for (int u = 0; u < 10; u++) {
        char content[32];
        snprintf(content, sizeof content, "b2:%d-%d", w->number, u);
        struct store_dataset_new d =
            dataset_new("same", stage(w->store, 1, 1, 1, 10), content, 1, 1);
        struct store_dataset_published out = {0};
        MUST(store_dataset_publish(w->store, &d, &out, NULL, &problem));
    }
    return NULL;
}

static void test_one_name_from_many_threads(void **state) {
    struct fixture *f = *state;
    pthread_t threads[8];
    struct worker workers[8];
    for (int i = 0; i < 8; i++) {
        workers[i] = (struct worker){.store = f->store, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, publisher, &workers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(sql_ask(f->path, "SELECT last_version FROM datasets"), 80);
    assert_int_equal(sql_ask(f->path, "SELECT count(DISTINCT version) FROM dataset_versions"), 80);
    assert_int_equal(store_changes_last(f->store), 80);
}

/* Lists datasets. There are more of these threads than reading connections. */
static void *lister(void *arg) {
    struct worker *w = arg;
    struct problem problem = {0};
    for (int i = 0; i < 20; i++) {
        struct store_page page = {0};
        struct store_health health;
        MUST(store_dataset_list(w->store, NULL, &(struct store_limit){.items = 10}, &page,
                                &problem));
        MUST(page.n == 2);
        store_page_done(&page);
        MUST(store_healthy(w->store, &health, &problem));
    }
    return NULL;
}

static void test_more_threads_than_readers(void **state) {
    struct fixture *f = *state;
    pthread_t threads[20];
    struct worker worker = {.store = f->store};
    publish(f, "a", 1);
    publish(f, "b", 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, lister, &worker), 0);
    }
    for (int i = 0; i < 20; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_everything_at_once),
                                       T(test_one_name_from_many_threads),
                                       T(test_more_threads_than_readers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
