#include "unit/store/fixture.h"
#include "store/sqlite/row_crc.h"

bool fixture_open(struct fixture *f) {
    struct store_settings settings = {.path = f->path};
    return store_open(&settings, &f->store, &f->problem);
}

void fixture_close(struct fixture *f) {
    store_close(f->store);
    f->store = NULL;
}

int fixture_directory(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    const char *base = getenv("TMPDIR");
    if (!f) {
        return -1;
    }
    snprintf(f->directory, sizeof f->directory, "%s/discern-store-XXXXXX",
             base && strlen(base) < 32 ? base : "/tmp");
    *state = f;
    if (!mkdtemp(f->directory)) {
        return -1;
    }
    snprintf(f->path, sizeof f->path, "%s/test.db", f->directory);
    return 0;
}

int fixture_setup(void **state) {
    return fixture_directory(state) == 0 && fixture_open(*state) ? 0 : -1;
}

int fixture_teardown(void **state) {
    struct fixture *f = *state;
    char command[128];
    fixture_close(f);
    problem_done(&f->problem);
    snprintf(command, sizeof command, "rm -rf '%s'", f->directory);
    int failed = system(command);
    free(f);
    return failed;
}

void fixture_begin(void) {
    assert_true(ids_init());
    log_open(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_TEXT, LOG_ERROR);
}

int64_t sql_ask(const char *path, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(store_row_crc_add(db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return answer;
}

void sql_run(const char *path, const char *sql) {
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(store_row_crc_add(db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %s", sql, message);
    }
    sqlite3_close(db);
}

void assert_intact(const char *path) {
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
    sqlite3_finalize(s);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

void sql_await(const char *path, const char *sql, int64_t expected) {
    int64_t answer = 0;
    for (int i = 0; i < 2000 && (answer = sql_ask(path, sql)) != expected; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_int_equal(answer, expected);
}

void *pattern(int64_t seed, int64_t chunk, size_t column, size_t size) {
    unsigned char *bytes = malloc(size ? size : 1);
    assert_non_null(bytes);
    uint64_t x = (uint64_t)seed * 1000003 + (uint64_t)chunk * 101 + column + 1;
    for (size_t i = 0; i < size; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(x >> 56);
    }
    return bytes;
}

static void stage_rows(struct store *store, int64_t part, int64_t seed, int64_t n_chunks,
                       size_t n_cols, size_t size, int64_t n_rows) {
    struct store_blob *blobs = calloc(n_cols, sizeof *blobs);
    assert_non_null(blobs);
    for (int64_t chunk = 0; chunk < n_chunks; chunk++) {
        for (size_t c = 0; c < n_cols; c++) {
            blobs[c] = (struct store_blob){.bytes = pattern(seed, chunk, c, size), .size = size};
        }
        store_part_append(store, part, chunk, n_rows, blobs, n_cols, NULL, NULL);
    }
    free(blobs);
}

void stage_into(struct store *store, int64_t part, int64_t seed, int64_t n_chunks, size_t n_cols,
                size_t size) {
    stage_rows(store, part, seed, n_chunks, n_cols, size, 10);
}

int64_t stage_model(struct store *store, int64_t seed, int64_t n_chunks, size_t size) {
    int64_t part = store_part_begin(store, NULL);
    assert_true(part > 0);
    stage_rows(store, part, seed, n_chunks, 1, size, 0);
    return part;
}

int64_t stage(struct store *store, int64_t seed, int64_t n_chunks, size_t n_cols, size_t size) {
    int64_t part = store_part_begin(store, NULL);
    assert_true(part > 0);
    stage_into(store, part, seed, n_chunks, n_cols, size);
    return part;
}

struct store_dataset_new dataset_new(const char *name, int64_t part, const char *content,
                                     int64_t n_chunks, size_t n_cols) {
    return (struct store_dataset_new){.name = name,
                                      .part = part,
                                      .n_rows = 10 * n_chunks,
                                      .n_cols = (int64_t)n_cols,
                                      .bytes = 77,
                                      .sha256 = "5a",
                                      .content = content,
                                      .columns = "[{\"name\":\"a\"}]",
                                      .notes = "{}",
                                      .options = "{}"};
}

struct store_dataset_published publish(struct fixture *f, const char *name, int64_t seed) {
    char content[32];
    struct store_dataset_published out = {0};
    snprintf(content, sizeof content, "b2:%lld", (long long)seed);
    struct store_dataset_new d =
        dataset_new(name, stage(f->store, seed, 2, 3, 1000), content, 2, 3);
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    return out;
}

int64_t insert_job(struct fixture *f, const char *model, int64_t dataset_id) {
    struct store_job_new j = {.model = model,
                              .algorithm = "logistic",
                              .dataset_id = dataset_id,
                              .spec = "{\"seed\":1}"};
    int64_t id = 0;
    assert_ok(f, store_job_insert(f->store, &j, &id, NULL, &f->problem));
    return id;
}

int64_t claim_job(struct fixture *f, int64_t max_attempts) {
    struct store_job j = {0};
    bool found = false;
    assert_ok(f, store_job_claim(f->store, max_attempts, &j, &found, &f->problem));
    int64_t id = found ? j.id : 0;
    store_job_done(&j);
    return id;
}

struct store_claim claim_of(struct fixture *f, int64_t id) {
    struct store_job j = {0};
    assert_ok(f, store_job_get(f->store, id, &j, &f->problem));
    const struct store_claim claim = store_job_claim_of(&j);
    store_job_done(&j);
    return claim;
}

int64_t succeed_job(struct fixture *f, int64_t id, int64_t seed, int64_t n_chunks, size_t size,
                    int64_t keep) {
    int64_t version = 0;
    struct store_job_end e = {.claim = claim_of(f, id),
                              .state = STORE_JOB_SUCCEEDED,
                              .result = "{\"converged\":true}",
                              .model_part = stage_model(f->store, seed, n_chunks, size),
                              .model_bytes = n_chunks * (int64_t)size,
                              .model_info = "{\"algorithm\":\"logistic\"}",
                              .keep_versions = keep};
    assert_ok(f, store_job_end(f->store, &e, &version, &f->problem));
    return version;
}

struct store_job get_job(struct fixture *f, int64_t id) {
    struct store_job j = {0};
    assert_ok(f, store_job_get(f->store, id, &j, &f->problem));
    return j;
}

void assert_job_state(struct fixture *f, int64_t id, enum store_job_state state, int64_t attempts) {
    struct store_job j = get_job(f, id);
    assert_int_equal(j.state, state);
    assert_int_equal(j.attempts, attempts);
    store_job_done(&j);
}
