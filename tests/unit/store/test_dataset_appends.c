/* Tests of appends: versions that share parts, deletions of some of these versions, the queue of
 * appends. */
#include "unit/store/fixture.h"
#include <inttypes.h>
#include <pthread.h>
#include <sys/wait.h>

/* Stages an append of one chunk of 3 columns, filled with the pattern of the seed, to version
 * `onto`. */
static struct store_dataset_new append_new(struct fixture *f, const char *name, int64_t seed,
                                           int64_t onto, int64_t chunks_before) {
    struct store_dataset_new d =
        dataset_new(name, stage(f->store, seed, 1, 3, 1000), "b2:appended", chunks_before + 1, 3);
    d.onto = onto;
    d.sha256 = NULL;
    return d;
}

static struct store_dataset_published append(struct fixture *f, const char *name, int64_t seed,
                                             int64_t onto, int64_t chunks_before) {
    struct store_dataset_published out = {0};
    const struct store_dataset_new d = append_new(f, name, seed, onto, chunks_before);
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    return out;
}

/* Checks that the version has two chunks with the pattern of the first seed, then one chunk with
 * the pattern of each other seed. */
static void assert_chunks(struct fixture *f, int64_t id, const int64_t *seeds, size_t n_seeds) {
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf bytes = {0};
    assert_ok(f, store_dataset_chunks(f->store, id, &chunks, &n, &f->problem));
    assert_int_equal(n, n_seeds + 1);
    for (size_t i = 0; i < n; i++) {
        void *expected = pattern(seeds[i < 2 ? 0 : i - 1], i == 1, 2, 1000);
        assert_int_equal(chunks[i].first_row, 10 * i);
        assert_ok(f, store_chunk_read(f->store, &chunks[i], 2, &bytes, &f->problem));
        assert_int_equal(bytes.size, 1000);
        assert_memory_equal(bytes.data, expected, 1000);
        free(expected);
    }
    buf_done(&bytes);
    free(chunks);
}

static void test_append_shares_parts(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1);
    struct store_dataset_new n = append_new(f, "a", 2, a.id, 2);
    struct store_dataset_published b = {0};
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_publish(f->store, &n, &b, &d, &f->problem));
    assert_int_equal(b.version, 2);
    assert_false(b.created);
    assert_false(b.unchanged);
    assert_int_equal(d.n_rows, 30);
    assert_null(d.sha256);
    assert_string_equal(d.options, "{}");
    assert_true(d.newest);
    store_dataset_done(&d);
    const struct store_dataset_published c = append(f, "a", 3, b.id, 3);
    assert_int_equal(c.version, 3);
    assert_chunks(f, a.id, (int64_t[]){1}, 1);
    assert_chunks(f, b.id, (int64_t[]){1, 2}, 2);
    assert_chunks(f, c.id, (int64_t[]){1, 2, 3}, 3);
    /* each part is stored once */
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM parts"), 3);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs"), 12);
    assert_intact(f->path);
}

/* Returns the summary of column 1; "" if there is none. */
static const char *summary_of(struct fixture *f, int64_t id) {
    static char text[100];
    struct buf out = {0};
    buf_puts(&out, "replaced");
    assert_ok(f, store_dataset_summary(f->store, id, 1, &out, &f->problem));
    snprintf(text, sizeof text, "%.*s", (int)out.size, out.data != NULL ? out.data : "");
    buf_done(&out);
    return text;
}

/* Only the version that was published last has summaries; they are deleted with it. */
static void test_summaries_of_the_newest(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published a = {0}, b = {0};
    struct store_dataset_new d = dataset_new("a", stage(f->store, 1, 1, 3, 1000), "b2:1", 1, 3);
    d.summaries = (const struct store_blob[]){{"one", 3}, {"two", 3}, {"three", 5}};
    d.n_summaries = 3;
    assert_ok(f, store_dataset_publish(f->store, &d, &a, NULL, &f->problem));
    assert_string_equal(summary_of(f, a.id), "two");
    assert_string_equal(summary_of(f, a.id + 1), "");
    struct store_stats s;
    store_stats(f->store, &s);
    assert_int_equal(s.dataset_bytes, 3000 + 11);
    /* an upload of the same content makes no version and does not change the summaries */
    d.part = stage(f->store, 1, 1, 3, 1000);
    assert_ok(f, store_dataset_publish(f->store, &d, &b, NULL, &f->problem));
    assert_true(b.unchanged);
    assert_string_equal(summary_of(f, a.id), "two");
    d = append_new(f, "a", 2, a.id, 1);
    d.summaries = (const struct store_blob[]){{"four", 4}, {"", 0}, {"six", 3}};
    d.n_summaries = 3;
    assert_ok(f, store_dataset_publish(f->store, &d, &b, NULL, &f->problem));
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM dataset_summaries"), 3);
    assert_string_equal(summary_of(f, a.id), "");
    assert_int_equal(sql_ask(f->path, "SELECT length(state) FROM dataset_summaries WHERE column "
                                      "= 0"),
                     4);
    /* an append that is refused does not change the summaries */
    d = append_new(f, "a", 3, a.id, 1);
    d.summaries = (const struct store_blob[]){{"x", 1}, {"y", 1}, {"z", 1}};
    d.n_summaries = 3;
    assert_problem(f, store_dataset_publish(f->store, &d, &a, NULL, &f->problem), PROBLEM_CONFLICT,
                   "changed while");
    store_part_drop(f->store, d.part);
    assert_int_equal(sql_ask(f->path, "SELECT sum(length(state)) FROM dataset_summaries"), 7);
    sql_await(f->path, "SELECT count(*) FROM parts", 2); /* the dropped parts are removed */
    assert_ok(f, store_dataset_pin(f->store, b.id, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 2, NULL, &f->problem));
    store_stats(f->store, &s);
    assert_int_equal(s.dataset_bytes, 3000);
    assert_int_equal(s.doomed_bytes, 3000 + 7);
    store_dataset_unpin(f->store, b.id);
    sql_await(f->path, "SELECT count(*) FROM dataset_summaries", 0);
    sql_await(f->path, "SELECT count(*) FROM parts", 1);
    assert_intact(f->path);
}

static void test_append_needs_the_newest(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1);
    append(f, "a", 2, a.id, 2);
    struct store_dataset_published out = {0};
    struct store_dataset_new d = append_new(f, "a", 3, a.id, 2);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_CONFLICT, "changed while");
    store_part_drop(f->store, d.part);
    d = append_new(f, "nobody", 3, a.id, 2);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "nobody");
    store_part_drop(f->store, d.part);
    d = append_new(f, "a", 3, a.id, 2);
    d.condition.if_match = "\"not-this\"";
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "");
    store_part_drop(f->store, d.part);
    sql_await(f->path, "SELECT count(*) FROM parts", 2);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM dataset_versions"), 2);
}

static void test_append_counts_the_rows(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1);
    struct store_dataset_published out = {0};
    struct store_dataset_new d = append_new(f, "a", 2, a.id, 2);
    d.n_rows = 31; /* 20 rows are stored and 10 are staged */
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "rows");
    store_part_drop(f->store, d.part);
}

static void test_same_content_after_an_append(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1);
    append(f, "a", 2, a.id, 2);
    struct store_dataset_published out = {0};
    struct store_dataset_new whole =
        dataset_new("a", stage(f->store, 4, 3, 3, 1000), "b2:appended", 3, 3);
    assert_ok(f, store_dataset_publish(f->store, &whole, &out, NULL, &f->problem));
    assert_true(out.unchanged); /* the upload has the rows of the appended version */
    assert_int_equal(out.version, 2);
    sql_await(f->path, "SELECT count(*) FROM parts", 2);
}

static void test_versions_go_in_any_order(void **state) {
    static const int64_t orders[][3] = {{1, 2, 3}, {3, 2, 1}, {2, 1, 3}, {2, 3, 1}};
    struct fixture *f = *state;
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        char name[16];
        snprintf(name, sizeof name, "d%zu", k);
        int64_t id[4] = {0};
        id[1] = publish(f, name, 1).id;
        id[2] = append(f, name, 2, id[1], 2).id;
        id[3] = append(f, name, 3, id[2], 3).id;
        bool gone[4] = {false};
        for (size_t i = 0; i < 3; i++) {
            struct store_dataset d = {0};
            assert_ok(f,
                      store_dataset_delete(f->store, NULL, name, orders[k][i], NULL, &f->problem));
            gone[orders[k][i]] = true;
            sql_await(f->path, "SELECT count(*) FROM dataset_versions WHERE hidden = 1", 0);
            sql_await(f->path, "SELECT count(*) FROM parts WHERE state = 2", 0);
            for (int64_t v = 1; v <= 3; v++) {
                if (!gone[v]) {
                    assert_chunks(f, id[v], (int64_t[]){1, 2, 3}, (size_t)v);
                }
            }
            const int64_t newest = !gone[3] ? 3 : !gone[2] ? 2 : !gone[1] ? 1 : 0;
            if (newest) {
                assert_ok(f, store_dataset_get(f->store, name, 0, &d, &f->problem));
                assert_int_equal(d.version, newest);
                store_dataset_done(&d);
            } else {
                assert_problem(f, store_dataset_get(f->store, name, 0, &d, &f->problem),
                               PROBLEM_UNKNOWN_DATASET, name);
            }
        }
        assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM blobs"), 0);
        assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM dataset_parts"), 0);
    }
    assert_intact(f->path);
}

/* After the newest version is deleted, an append extends the previous version and gets a new
 * number. */
static void test_append_after_a_deletion(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1), b = append(f, "a", 2, a.id, 2);
    struct store_dataset_published out = {0};
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 2, NULL, &f->problem));
    struct store_dataset_new d = append_new(f, "a", 3, b.id, 3);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_CONFLICT, "changed while");
    store_part_drop(f->store, d.part);
    const struct store_dataset_published c = append(f, "a", 3, a.id, 2);
    assert_int_equal(c.version, 3);
    sql_await(f->path, "SELECT count(*) FROM parts", 2);
    assert_chunks(f, c.id, (int64_t[]){1, 3}, 2);
}

static void test_pinned_base_stays(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1), b = append(f, "a", 2, a.id, 2);
    struct store_chunk *chunks = NULL;
    size_t n = 0;
    struct buf bytes = {0};
    assert_ok(f, store_dataset_pin(f->store, b.id, &f->problem));
    assert_ok(f, store_dataset_chunks(f->store, b.id, &chunks, &n, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem));
    sql_await(f->path, "SELECT count(*) FROM dataset_versions",
              1); /* the first version is removed; the pinned version shares its part */
    for (size_t i = 0; i < n; i++) {
        assert_ok(f, store_chunk_read(f->store, &chunks[i], 0, &bytes, &f->problem));
    }
    store_dataset_unpin(f->store, b.id);
    sql_await(f->path, "SELECT count(*) FROM blobs", 0);
    buf_done(&bytes);
    free(chunks);
}

static void test_stats_count_shared_chunks_once(void **state) {
    struct fixture *f = *state;
    struct store_stats s;
    const struct store_dataset_published a = publish(f, "a", 1), b = append(f, "a", 2, a.id, 2);
    store_stats(f->store, &s);
    assert_int_equal(s.dataset_bytes, 9000);
    assert_int_equal(s.doomed_bytes, 0);
    assert_ok(f, store_dataset_pin(f->store, a.id, &f->problem));
    assert_ok(f, store_dataset_pin(f->store, b.id, &f->problem));
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 1, NULL, &f->problem));
    store_stats(f->store, &s);
    assert_int_equal(s.dataset_bytes, 9000);
    assert_int_equal(s.doomed_bytes, 0);
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 2, NULL, &f->problem));
    store_stats(f->store, &s);
    assert_int_equal(s.dataset_bytes, 0);
    assert_int_equal(s.doomed_bytes, 9000);
    store_dataset_unpin(f->store, a.id);
    store_dataset_unpin(f->store, b.id);
    sql_await(f->path, "SELECT count(*) FROM blobs", 0);
    store_stats(f->store, &s);
    assert_int_equal(s.doomed_bytes, 0);
}

/* ---- parts that an append replaces ---- */

/* Stages one chunk of 3 columns, filled with the pattern of the seed. */
static void stage_chunk(struct fixture *f, int64_t part, int64_t chunk, int64_t n_rows,
                        int64_t seed) {
    struct store_blob blobs[3];
    for (size_t c = 0; c < 3; c++) {
        blobs[c] = (struct store_blob){.bytes = pattern(seed, 0, c, 1000), .size = 1000};
    }
    store_part_append(f->store, part, chunk, n_rows, blobs, 3, NULL, NULL);
}

/* Stages an append that stores the last part, which has one chunk, again before the new rows. This
 * chunk gets number 0 and is staged last. */
static struct store_dataset_new append_taking(struct fixture *f, const char *name, int64_t seed,
                                              int64_t onto, int64_t chunks_before) {
    const int64_t part = store_part_begin(f->store, NULL);
    stage_chunk(f, part, 1, 10, seed);
    stage_chunk(f, part, 0, 10, seed - 1);
    struct store_dataset_new d = dataset_new(name, part, "b2:appended", chunks_before + 1, 3);
    d.onto = onto;
    d.taken = 1;
    d.sha256 = NULL;
    return d;
}

static void test_append_leaves_parts_out(void **state) {
    struct fixture *f = *state;
    const struct store_dataset_published a = publish(f, "a", 1), b = append(f, "a", 2, a.id, 2);
    struct store_dataset_published c = {0}, out = {0};
    struct store_dataset_new d = append_taking(f, "a", 3, b.id, 3);
    assert_ok(f, store_dataset_publish(f->store, &d, &c, NULL, &f->problem));
    assert_chunks(f, a.id, (int64_t[]){1}, 1);
    assert_chunks(f, b.id, (int64_t[]){1, 2}, 2); /* not changed by the append */
    assert_chunks(f, c.id, (int64_t[]){1, 2, 3}, 3);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM dataset_parts WHERE version = 3"), 2);
    d = append_taking(f, "a", 4, c.id, 4); /* the last part of version 3 has two chunks, not one */
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "rows");
    store_part_drop(f->store, d.part);
    d = append_taking(f, "a", 4, c.id, 4);
    d.taken = 3;
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "rows");
    store_part_drop(f->store, d.part);
    const int64_t all = store_part_begin(f->store, NULL);
    for (int64_t i = 0; i < 5; i++) {
        stage_chunk(f, all, i, 10, i + 10);
    }
    d = dataset_new("a", all, "b2:appended", 5, 3);
    d.onto = c.id;
    d.taken = 2; /* replaces both parts */
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM dataset_parts WHERE version = 4"), 1);
    assert_int_equal(sql_ask(f->path, "SELECT sum(seq) FROM dataset_parts WHERE version = 4"), 0);
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 2, NULL,
                                      &f->problem)); /* only this version uses the second part */
    sql_await(f->path, "SELECT count(*) FROM parts", 3);
    assert_chunks(f, c.id, (int64_t[]){1, 2, 3}, 3);
    assert_intact(f->path);
}

/* Appends one row at a time, with the rule of uploads: the last part is stored again if it has at
 * most twice as many rows as the rows behind it. */
static void test_many_appends_few_parts(void **state) {
    enum { N = 200 };
    struct fixture *f = *state;
    int64_t rows[64] = {20}, id = publish(f, "a", 1).id;
    size_t n = 1, most = 0;
    for (int64_t i = 0; i < N; i++) {
        struct store_dataset_published out = {0};
        struct store_dataset_new d =
            dataset_new("a", store_part_begin(f->store, NULL), "b2:appended", 0, 3);
        int64_t own = 1;
        for (d.taken = 0; n > 1 && rows[n - 1] <= 2 * own; d.taken++) {
            own += rows[--n];
        }
        rows[n++] = own;
        most = n > most ? n : most;
        assert_true(n <= 12);
        stage_chunk(f, d.part, 0, own, i);
        d.onto = id;
        d.n_rows = 21 + i;
        assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
        id = out.id;
    }
    assert_true(most > 4);
    assert_int_equal(sql_ask(f->path, "SELECT count(*) FROM parts"), N + 1);
    assert_int_equal(
        sql_ask(f->path,
                "SELECT max(n) FROM (SELECT count(*) AS n FROM dataset_parts GROUP BY version)"),
        most);
    for (int64_t version = 1; version <= N; version++) {
        assert_ok(f, store_dataset_delete(f->store, NULL, "a", version, NULL, &f->problem));
    }
    sql_await(f->path, "SELECT count(*) FROM dataset_versions", 1);
    sql_await(f->path, "SELECT count(*) FROM parts",
              (int64_t)n); /* the parts of the newest version */
    sql_await(f->path, "SELECT count(*) FROM blobs", 3 * (int64_t)n + 3);
    struct store_chunk *chunks = NULL;
    size_t n_chunks = 0;
    assert_ok(f, store_dataset_chunks(f->store, id, &chunks, &n_chunks, &f->problem));
    assert_int_equal(n_chunks, n + 1);
    assert_int_equal(chunks[n].first_row + chunks[n].n_rows, 20 + N);
    free(chunks);
    assert_intact(f->path);
}

static void test_the_queue(void **state) {
    struct fixture *f = *state;
    char name[16];
    const int64_t first = store_append_enter(f->store, "a"),
                  second = store_append_enter(f->store, "a"),
                  third = store_append_enter(f->store, "a"),
                  other = store_append_enter(f->store, "b"),
                  late = store_append_enter(f->store, "c");
    assert_true(first != 0 && second != 0 && second != first);
    /* appends run in the order in which their rows were complete */
    assert_true(store_append_run(f->store, second));
    assert_true(store_append_run(f->store, second));
    assert_false(store_append_run(f->store, first));
    assert_false(store_append_run(f->store, third));
    assert_true(store_append_run(f->store, other));
    assert_false(store_append_run(f->store, late)); /* STORE_APPENDS_RUNNING is 2 */
    store_append_leave(f->store, second);
    assert_false(store_append_run(f->store, third));
    assert_true(store_append_run(f->store, first));
    store_append_leave(f->store, first);
    store_append_leave(f->store, first); /* it has already left the queue */
    store_append_leave(f->store, 0);
    assert_false(store_append_run(f->store, late)); /* the third append precedes it */
    assert_true(store_append_run(f->store, third));
    assert_false(store_append_run(f->store, 12345));
    store_append_leave(f->store, third);
    assert_true(store_append_run(f->store, late));
    store_append_leave(f->store, late);
    store_append_leave(f->store, other);
    /* with several datasets, the append that has waited longest runs next */
    const int64_t a1 = store_append_enter(f->store, "a"), a2 = store_append_enter(f->store, "a"),
                  b1 = store_append_enter(f->store, "b"), b2 = store_append_enter(f->store, "b"),
                  c1 = store_append_enter(f->store, "c"), d1 = store_append_enter(f->store, "d");
    assert_true(store_append_run(f->store, a1));
    assert_false(store_append_run(f->store, a2));
    assert_true(store_append_run(f->store, b1));
    assert_false(store_append_run(f->store, c1));
    assert_false(store_append_run(f->store, b2));
    assert_false(store_append_run(f->store, d1));
    store_append_leave(f->store, b1);
    assert_false(store_append_run(f->store, d1)); /* c1 has waited longer */
    assert_false(store_append_run(f->store, b2));
    assert_false(store_append_run(f->store, a2)); /* a1, an append to the same dataset, runs */
    assert_true(store_append_run(f->store, c1));
    store_append_leave(f->store, a1);
    assert_false(store_append_run(f->store, b2)); /* a2 precedes it */
    store_append_leave(f->store, a2);             /* its client has closed the connection */
    assert_false(store_append_run(f->store, d1)); /* b2 has waited longer */
    assert_true(store_append_run(f->store, b2));
    store_append_leave(f->store, c1);
    assert_true(store_append_run(f->store, d1));
    store_append_leave(f->store, b2);
    store_append_leave(f->store, d1);
    /* the limits of the queue */
    int64_t places[STORE_APPENDS_OF_ALL];
    for (int i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        snprintf(name, sizeof name, "d%d", i / STORE_APPENDS_OF_ONE);
        places[i] = store_append_enter(f->store, name);
        assert_true(places[i] != 0);
        if (i + 1 < STORE_APPENDS_OF_ALL && (i + 1) % STORE_APPENDS_OF_ONE == 0) {
            assert_true(store_append_enter(f->store, name) == 0);
        }
    }
    assert_true(store_append_enter(f->store, "another") == 0);
    store_append_leave(f->store, places[7]);
    assert_true(store_append_enter(f->store, "d1") == 0);
    assert_true(store_append_enter(f->store, "d0") != 0);
}

/* Appends until the process is killed. */
static void append_for_ever(struct fixture *f) {
    int64_t id = publish(f, "a", 1).id, chunks = 2;
    for (int64_t seed = 2;; seed++, chunks++) {
        if (seed % 2 == 0) {
            id = append(f, "a", seed, id, chunks).id;
        } else {
            struct store_dataset_published out = {0};
            const struct store_dataset_new d = append_taking(f, "a", seed, id, chunks);
            assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
            id = out.id;
        }
        if (seed % 3 == 0) {
            assert_ok(f, store_dataset_delete(f->store, NULL, "a", seed - 1, NULL, &f->problem));
        }
    }
}

static void test_killed_while_appending(void **state) {
    struct fixture *f = *state;
    fixture_close(f);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (fixture_open(f)) {
            append_for_ever(f);
        }
        _exit(1);
    }
    for (int i = 0; i < 2000 && access(f->path, F_OK) != 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    for (int i = 0; i < 2000; i++) { /* waits until several versions were committed */
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        if (sql_ask(f->path,
                    "SELECT count(*) FROM sqlite_schema WHERE name = 'dataset_versions'") == 1 &&
            sql_ask(f->path, "SELECT coalesce(max(version), 0) FROM dataset_versions") > 20) {
            break;
        }
    }
    kill(pid, SIGKILL);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_ok(f, fixture_open(f));
    const struct store_limit limit = {.items = 512};
    struct store_page page = {0};
    assert_ok(f, store_dataset_versions(f->store, "a", 0, &limit, &page, &f->problem));
    assert_true(page.n > 10);
    const struct store_dataset *versions = page.items;
    for (size_t i = 0; i < page.n; i++) {
        int64_t seeds[1024];
        assert_true(versions[i].version < 1024);
        for (int64_t k = 0; k < versions[i].version; k++) {
            seeds[k] = k + 1;
        }
        assert_chunks(f, versions[i].id, seeds, (size_t)versions[i].version);
    }
    store_page_done(&page);
    sql_await(f->path, "SELECT count(*) FROM parts WHERE state <> 1", 0);
    assert_intact(f->path);
}

int main(void) {
    fixture_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_append_shares_parts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_summaries_of_the_newest, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_append_needs_the_newest, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_append_counts_the_rows, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_same_content_after_an_append, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_versions_go_in_any_order, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_append_after_a_deletion, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_pinned_base_stays, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stats_count_shared_chunks_once, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_append_leaves_parts_out, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_many_appends_few_parts, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_queue, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_killed_while_appending, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests_name("store: appends", tests, NULL, NULL);
}
