/* Tests SIGKILL at random times: committed data must be there, partial data must not, and the file
 * must be intact. */
#include "unit/store/fixture.h"
#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 25, CHUNKS = 3, COLUMNS = 2, BLOB = 40000 };

/* A message of the child process after a function of the store has succeeded. */
enum kind { DATASET, MODEL, DELETED };
struct acknowledged {
    int64_t kind; /* an enum kind */
    int64_t id;   /* id of the version; DELETED: the seed in the dataset's name */
    int64_t seed; /* seed of the contents */
};

static void tell(int fd, enum kind kind, int64_t id, int64_t seed) {
    struct acknowledged a = {.kind = kind, .id = id, .seed = seed};
    if (write(fd, &a, sizeof a) != sizeof a) {
        _exit(3);
    }
}

/* Publishes, trains and deletes until the process is killed. */
static void work_until_killed(struct fixture *f, int fd, int64_t seed) {
    if (!fixture_open(f)) {
        _exit(1);
    }
    tell(fd, DELETED, 0, 0); /* reports that the child is ready */
    for (;; seed++) {
        char name[32], content[32];
        snprintf(name, sizeof name, "d%lld", (long long)seed);
        snprintf(content, sizeof content, "b2:%lld", (long long)seed);
        struct store_dataset_new d = dataset_new(name, stage(f->store, seed, CHUNKS, COLUMNS, BLOB),
                                                 content, CHUNKS, COLUMNS);
        struct store_dataset_published out;
        if (!store_dataset_publish(f->store, &d, &out, NULL, &f->problem)) {
            _exit(1);
        }
        tell(fd, DATASET, out.id, seed);
        struct store_job_new n = {.model = name,
                                  .algorithm = "x",
                                  .dataset_id = out.id,
                                  .spec = "{}"};
        int64_t job = 0, version = 0;
        struct store_job j = {0};
        bool found;
        if (!store_job_insert(f->store, &n, &job, NULL, &f->problem) ||
            !store_job_claim(f->store, 1000, &j, &found, &f->problem) || !found) {
            _exit(1);
        }
        struct store_job_end e = {.claim = store_job_claim_of(&j),
                                  .state = STORE_JOB_SUCCEEDED,
                                  .result = "{}",
                                  .model_part = stage(f->store, seed, 2, 1, BLOB),
                                  .model_bytes = 2 * BLOB,
                                  .model_info = "{}"};
        struct store_model m = {0};
        if (!store_job_end(f->store, &e, &version, &f->problem) ||
            !store_model_get(f->store, j.model, version, &m, &f->problem)) {
            _exit(1);
        }
        tell(fd, MODEL, m.id, seed);
        store_model_done(&m);
        store_job_done(&j);
        if (seed % 3 == 0) { /* fails if a job of an earlier child process has pinned the dataset */
            if (store_dataset_delete(f->store, name, 0, NULL, &f->problem)) {
                tell(fd, DELETED, 0, seed);
            }
            problem_done(&f->problem);
        }
    }
}

static void check_dataset(struct fixture *f, int64_t id, int64_t seed) {
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf b = {0};
    assert_ok(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem));
    assert_int_equal(n, CHUNKS);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            void *expected = pattern(seed, (int64_t)i, c, BLOB);
            assert_ok(f, store_chunk_read(f->store, &chunks[i], c, &b, &f->problem));
            assert_int_equal(b.size, BLOB);
            assert_memory_equal(b.data, expected, BLOB);
            free(expected);
        }
    }
    free(chunks);
    buf_done(&b);
}

static bool deleted(const struct acknowledged *all, size_t n, int64_t seed) {
    for (size_t i = 0; i < n; i++) {
        if (all[i].kind == DELETED && all[i].seed == seed) {
            return true;
        }
    }
    return false;
}

static void check(struct fixture *f, const struct acknowledged *all, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (all[i].kind == DATASET && !deleted(all, n, all[i].seed)) {
            struct store_dataset d = {0};
            if (all[i].seed % 3 == 0 &&
                !store_dataset_get_by_id(f->store, all[i].id, &d, &f->problem)) {
                /* the child deleted the version, but was killed before it reported it */
                problem_done(&f->problem);
                continue;
            }
            store_dataset_done(&d);
            check_dataset(f, all[i].id, all[i].seed);
        } else if (all[i].kind == DELETED && all[i].seed > 0) {
            char name[32];
            struct store_dataset d = {0};
            snprintf(name, sizeof name, "d%lld", (long long)all[i].seed);
            assert_problem(f, store_dataset_get(f->store, name, 0, &d, &f->problem),
                           PROBLEM_UNKNOWN_DATASET, name);
        } else if (all[i].kind == MODEL) {
            struct buf b = {0};
            assert_ok(f, store_model_bytes(f->store, all[i].id, &b, &f->problem));
            assert_int_equal(b.size, 2 * BLOB);
            void *expected = pattern(all[i].seed, 1, 0, BLOB);
            assert_memory_equal(b.data + BLOB, expected, BLOB);
            free(expected);
            buf_done(&b);
        }
    }
}

static void test_kill_9(void **state) {
    struct fixture *f = *state;
    static struct acknowledged all[20000];
    size_t n = 0;
    fixture_close(f);
    for (int round = 0; round < ROUNDS; round++) {
        int fds[2];
        assert_int_equal(pipe(fds), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(fds[0]);
            work_until_killed(f, fds[1], 1000 * round + 1);
        }
        close(fds[1]);
        assert_int_equal(read(fds[0], &all[n], sizeof all[n]),
                         sizeof all[n]); /* the child is ready */
        if (round % 2) {                 /* waits for at least one commit */
            assert_int_equal(read(fds[0], &all[n], sizeof all[n]), sizeof all[n]);
            n++;
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(ids_random() % 60000000)}, NULL);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        while (n < sizeof all / sizeof all[0] - 1 &&
               read(fds[0], &all[n], sizeof all[n]) == sizeof all[n]) {
            n++;
        }
        close(fds[0]);
        if (round % 5 == 4) { /* in the other rounds the next child process recovers the file */
            assert_intact(f->path);
            assert_ok(f, fixture_open(f));
            check(f, all, n);
            fixture_close(f);
        }
    }
    assert_true(n >= ROUNDS / 2);
    assert_ok(f, fixture_open(f));
    check(f, all, n);
    /* each published part must have all its chunks; all other parts must be removed */
    sql_await(f->path, "SELECT count(*) FROM parts WHERE state <> 1", 0);
    sql_await(f->path, "SELECT count(*) FROM dataset_versions WHERE hidden = 1", 0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs") -
                         sql_ask(f->path, "SELECT coalesce(sum(n_blobs), 0) FROM chunks"),
                     0);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM jobs WHERE state = 1"), 0);
    fixture_close(f);
    assert_intact(f->path);
}

static void test_kill_9_while_it_is_made(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 30; round++) {
        snprintf(f->path, sizeof f->path, "%s/%d.db", f->directory, round);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            fixture_open(f);
            pause();
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(ids_random() % 12000000)}, NULL);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_ok(f, fixture_open(f));
        publish(f, "a", 1);
        fixture_close(f);
        assert_int_equal(sql_ask(f->path, "PRAGMA page_size"), 16384);
        assert_int_equal(sql_ask(f->path, "PRAGMA auto_vacuum"), 2);
        assert_intact(f->path);
    }
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_kill_9, fixture_setup,
                                                                       fixture_teardown),
                                       cmocka_unit_test_setup_teardown(test_kill_9_while_it_is_made,
                                                                       fixture_directory,
                                                                       fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
