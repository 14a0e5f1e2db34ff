/* Tests of publishing, reading, describing, listing and refusing datasets. */
#include "unit/store/fixture.h"

static struct store_dataset get(struct fixture *f, const char *name, int64_t version) {
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, name, version, &d, &f->problem));
    return d;
}

static void test_publish_and_read_back(void **state) {
    struct fixture *f = *state;
    size_t sizes[] = {0, 1, 16384, 16385, 300000};
    enum { N = sizeof sizes / sizeof sizes[0] };
    int64_t part = store_part_begin(f->store, NULL);
    for (int64_t chunk = 0; chunk < 3; chunk++) {
        struct store_blob blobs[N];
        for (size_t c = 0; c < N; c++) {
            blobs[c] =
                (struct store_blob){.bytes = pattern(5, chunk, c, sizes[c]), .size = sizes[c]};
        }
        assert_true(store_part_append(f->store, part, chunk, chunk + 1, blobs, N, NULL, NULL));
    }
    struct store_dataset_new n = dataset_new("t", part, "b2:x", 0, N);
    n.n_rows = 6;
    struct store_dataset_published out = {0};
    struct store_dataset committed = {0};
    assert_ok(f, store_dataset_publish(f->store, &n, &out, &committed, &f->problem));
    assert_true(out.created);
    assert_int_equal(committed.id, out.id);
    assert_int_equal(committed.n_rows, 6);
    assert_string_equal(committed.content, "b2:x");
    assert_string_equal(committed.etag, "\"1-0\"");
    store_dataset_done(&committed);
    assert_false(out.unchanged);
    assert_int_equal(out.version, 1);

    struct store_chunk *chunks = NULL;
    size_t n_chunks = 0;
    assert_ok(f, store_dataset_chunks(f->store, out.id, &chunks, &n_chunks, &f->problem));
    assert_int_equal(n_chunks, 3);
    const int64_t first_rows[] = {0, 1, 3};
    struct buf b = {0};
    buf_puts(&b, "what was here before");
    for (size_t i = 0; i < n_chunks; i++) {
        assert_int_equal(chunks[i].chunk, i);
        assert_int_equal(chunks[i].first_row, first_rows[i]);
        assert_int_equal(chunks[i].n_rows, i + 1);
        for (size_t c = 0; c < N; c++) {
            void *expected = pattern(5, (int64_t)i, c, sizes[c]);
            assert_ok(f, store_chunk_read(f->store, &chunks[i], c, &b, &f->problem));
            assert_int_equal(b.size, sizes[c]);
            if (sizes[c]) {
                assert_memory_equal(b.data, expected, sizes[c]);
            }
            free(expected);
        }
    }
    assert_problem(f, store_chunk_read(f->store, &chunks[0], N, &b, &f->problem), PROBLEM_INTERNAL,
                   "column 5");
    buf_done(&b);
    free(chunks);
    struct store_dataset d = get(f, "t", 0);
    assert_int_equal(d.id, out.id);
    assert_string_equal(d.name, "t");
    assert_int_equal(d.n_rows, 6);
    assert_int_equal(d.n_cols, N);
    assert_int_equal(d.bytes, 77);
    assert_true(d.created_at > 1600000000000);
    assert_string_equal(d.sha256, "5a");
    assert_string_equal(d.content, "b2:x");
    assert_string_equal(d.columns, "[{\"name\":\"a\"}]");
    assert_string_equal(d.notes, "{}");
    assert_string_equal(d.tags, "[]");
    assert_null(d.description);
    assert_true(d.newest);
    assert_string_equal(d.etag, "\"1-0\"");
    store_dataset_done(&d);
    store_dataset_done(&d);
    store_dataset_done(NULL);
}

static void test_versions_count_for_ever(void **state) {
    struct fixture *f = *state;
    assert_int_equal(publish(f, "a", 1).version, 1);
    struct store_dataset_published second = publish(f, "a", 2);
    assert_int_equal(second.version, 2);
    assert_false(second.created);
    struct store_dataset d = get(f, "a", 1);
    assert_false(d.newest);
    store_dataset_done(&d);
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 2, NULL, &f->problem));
    d = get(f, "a", 0);
    assert_int_equal(d.version, 1);
    assert_true(d.newest);
    store_dataset_done(&d);
    assert_int_equal(publish(f, "a", 3).version, 3);
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem));
    assert_problem(f, store_dataset_get(f->store, "a", 0, &d, &f->problem), PROBLEM_UNKNOWN_DATASET,
                   "no dataset \"a\"");
    assert_problem(f, store_dataset_get(f->store, "a", 3, &d, &f->problem), PROBLEM_UNKNOWN_DATASET,
                   "no version 3 of a dataset \"a\"");
    assert_problem(f, store_dataset_get_by_id(f->store, second.id, &d, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "with id");
    assert_problem(f, store_dataset_delete(f->store, NULL, "a", 0, NULL, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "no dataset \"a\"");
    fixture_close(f);
    assert_ok(f, fixture_open(f));
    struct store_dataset_published again = publish(f, "a", 3);
    assert_int_equal(again.version, 4);
    assert_true(again.created);
    assert_false(again.unchanged);
}

static void test_same_content_makes_no_version(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published first = publish(f, "a", 1), same = publish(f, "a", 1);
    assert_true(same.unchanged);
    assert_int_equal(same.id, first.id);
    assert_int_equal(same.version, 1);
    sql_await(f->path, "SELECT count(*) FROM parts", 1); /* the second part was removed */
    /* other options make a new version */
    struct store_dataset_new d = dataset_new("a", stage(f->store, 1, 2, 3, 1000), "b2:1", 2, 3);
    d.options = "{\"header\":false}";
    struct store_dataset_published out = {0};
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    assert_false(out.unchanged);
    assert_int_equal(out.version, 2);
    /* the content is compared with that of the newest version only */
    assert_int_equal(publish(f, "a", 1).version, 3);
}

static void test_conditions(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published out = {0};
    struct store_dataset_new d = dataset_new("a", stage(f->store, 1, 1, 1, 10), "b2:1", 1, 1);
    d.condition.if_match = "*";
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "dataset \"a\" does not exist");
    d.condition = (struct store_condition){.if_none_match = "*"};
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL,
                                       &f->problem)); /* the refused part can be published now */
    d = dataset_new("a", stage(f->store, 2, 1, 1, 10), "b2:2", 1, 1);
    d.condition.if_none_match = "*";
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "has the ETag \"1-0\"");
    d.condition = (struct store_condition){.if_match = "\"9-0\", \"1-0\""};
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    assert_int_equal(out.version, 2);

    struct store_condition old = {.if_match = "\"1-0\""}, now = {.if_match = "\"2-0\""};
    assert_problem(f,
                   store_dataset_patch(f->store, NULL, "a",
                                       &(struct store_patch){.description = "text"}, &old, NULL,
                                       &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "\"2-0\"");
    assert_ok(f,
              store_dataset_patch(f->store, NULL, "a", &(struct store_patch){.description = "text"},
                                  &now, NULL, &f->problem));
    assert_problem(f,
                   store_dataset_patch(f->store, NULL, "a",
                                       &(struct store_patch){.description = "text"}, &now, NULL,
                                       &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "\"2-1\"");
    assert_problem(f, store_dataset_delete(f->store, NULL, "a", 0, &now, &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "\"2-1\"");
    now.if_match = "\"1-1\"";
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 1, &now, &f->problem));
    now.if_match = "\"2-1\"";
    assert_ok(f, store_dataset_delete(f->store, NULL, "a", 0, &now, &f->problem));
}

static void test_patch(void **state) {
    struct fixture *f = *state;
    publish(f, "a", 1);
    assert_ok(f, store_dataset_patch(f->store, NULL, "a",
                                     &(struct store_patch){.description = "flowers",
                                                           .tags = "[\"x\"]"},
                                     NULL, NULL, &f->problem));
    assert_ok(f, store_dataset_patch(f->store, NULL, "a", &(struct store_patch){.tags = "[\"y\"]"},
                                     NULL, NULL, &f->problem));
    publish(f, "a", 2); /* the next version has the description and the tags of the dataset */
    struct store_dataset d = get(f, "a", 0);
    assert_string_equal(d.description, "flowers");
    assert_string_equal(d.tags, "[\"y\"]");
    assert_int_equal(d.revision, 2);
    assert_string_equal(d.etag, "\"2-2\"");
    store_dataset_done(&d);
    assert_ok(f, store_dataset_patch(f->store, NULL, "a", &(struct store_patch){.description = ""},
                                     NULL, NULL, &f->problem));
    d = get(f, "a", 1);
    assert_null(d.description);
    store_dataset_done(&d);
    assert_problem(f,
                   store_dataset_patch(f->store, NULL, "b",
                                       &(struct store_patch){.description = "x"}, NULL, NULL,
                                       &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "\"b\"");
}

/* Returns the datasets of a page as "NAME/VERSION ", then "more" if others follow. Frees the
 * page. */
static const char *page_text(struct store_page *page) {
    static char text[200];
    size_t at = 0;
    const struct store_dataset *items = page->items;
    text[0] = '\0';
    for (size_t i = 0; i < page->n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s/%d ", items[i].name,
                               (int)items[i].version);
    }
    snprintf(text + at, sizeof text - at, "%s", page->more ? "more" : "");
    store_page_done(page);
    return text;
}

static void test_lists(void **state) {
    struct fixture *f = *state;
    static const struct store_limit ten = {.items = 10}, two = {.items = 2}, all = {0};
    struct store_page page = {0};
    publish(f, "b", 1);
    publish(f, "a", 1);
    publish(f, "a", 2);
    publish(f, "c", 1);
    publish(f, "d", 1);
    assert_ok(f, store_dataset_delete(f->store, NULL, "d", 0, NULL, &f->problem));
    assert_ok(f, store_dataset_list(f->store, NULL, &ten, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/2 b/1 c/1 ");
    assert_ok(f, store_dataset_list(f->store, "a", &all, &page, &f->problem));
    assert_string_equal(page_text(&page), "b/1 c/1 ");
    assert_ok(f, store_dataset_list(f->store, NULL, &two, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/2 b/1 more");
    assert_ok(f, store_dataset_list(f->store, "c", &two, &page, &f->problem));
    assert_null(page.items);
    assert_string_equal(page_text(&page), "");
    assert_ok(f, store_dataset_versions(f->store, "a", 0, &two, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/1 a/2 ");
    assert_ok(f, store_dataset_versions(f->store, "a", 1, &ten, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/2 ");
    page = (struct store_page){.n = 7};
    assert_problem(f, store_dataset_versions(f->store, "d", 0, &ten, &page, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "\"d\"");
    assert_int_equal(page.n, 7); /* the function did not change the page */
}

/* A page ends with the item whose text reaches the limit of bytes. */
static void test_pages_end_at_their_bytes(void **state) {
    struct fixture *f = *state;
    struct store_page page = {0};
    publish(f, "a", 1);
    publish(f, "b", 1);
    publish(f, "c", 1);
    assert_ok(f, store_dataset_list(f->store, NULL, &(struct store_limit){.bytes = 1}, &page,
                                    &f->problem));
    assert_string_equal(page_text(&page), "a/1 more");
    const int64_t bytes =
        sql_ask(f->path,
                "SELECT sum(length(v.name) + length(sha256) + length(content) + "
                "length(columns) + length(notes) + length(options) + length(tags)) FROM "
                "dataset_versions v JOIN datasets d ON d.name = v.name WHERE v.name < 'c'");
    const struct store_limit two = {.bytes = (size_t)bytes}, less = {.bytes = (size_t)bytes - 1},
                             three = {.bytes = (size_t)bytes + 1};
    assert_ok(f, store_dataset_list(f->store, NULL, &two, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/1 b/1 more");
    assert_ok(f, store_dataset_list(f->store, NULL, &less, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/1 b/1 more");
    assert_ok(f, store_dataset_list(f->store, NULL, &three, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/1 b/1 c/1 ");
}

static void test_part_books(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published out = {0};
    /* a number of rows that is larger than that of the staged chunks */
    struct store_dataset_new d = dataset_new("a", stage(f->store, 1, 2, 1, 10), "b2:1", 3, 1);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "20 rows");
    /* a part with a chunk in the wrong order cannot be published */
    int64_t part = store_part_begin(f->store, NULL);
    struct store_blob blob = {.bytes = pattern(1, 0, 0, 10), .size = 10};
    assert_true(store_part_append(f->store, part, 2, 10, &blob, 1, NULL, NULL));
    d = dataset_new("a", part, "b2:1", 1, 1);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "could not be stored");
    /* number 0 may follow number 1, but only once, and not if it was the first */
    static const int64_t numbers[][4] = {{1, 0, 2, 0}, {0, 1, 0, 2}, {1, 2, 2, 3}};
    for (size_t i = 0; i < 3; i++) {
        part = store_part_begin(f->store, NULL);
        for (size_t k = 0; k < 4; k++) {
            blob.bytes = pattern(1, 0, 0, 10);
            assert_true(store_part_append(f->store, part, numbers[i][k], 10, &blob, 1, NULL, NULL));
        }
        d = dataset_new("a", part, "b2:1", 4, 1);
        assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                       PROBLEM_INTERNAL, "could not be stored");
    }
    /* a part of which chunks were deleted from the file */
    d = dataset_new("a", stage(f->store, 1, 2, 1, 10), "b2:1", 2, 1);
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM chunks WHERE part = %lld", (long long)d.part);
    sql_await(f->path, sql, 2);
    snprintf(sql, sizeof sql, "DELETE FROM chunks WHERE part = %lld AND chunk = 0",
             (long long)d.part);
    sql_run(f->path, sql);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "has 1 chunks");
    /* a part that was dropped, that never existed, or that is published a second time */
    d = dataset_new("a", stage(f->store, 1, 2, 1, 10), "b2:1", 2, 1);
    store_part_drop(f->store, d.part);
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "is not staged");
    d.part = 4711;
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "part 4711 is not staged");
    d = dataset_new("a", stage(f->store, 1, 2, 1, 10), "b2:1", 2, 1);
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    d.content = "b2:2";
    assert_problem(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem),
                   PROBLEM_INTERNAL, "is not staged");
    assert_int_equal(out.version, 1);
    store_part_drop(f->store, d.part); /* has no effect, since the part is published */
    struct store_dataset found = get(f, "a", 0);
    store_dataset_done(&found);
}

static void test_no_rows(void **state) {
    struct fixture *f = *state;
    struct store_dataset_published out = {0};
    struct store_dataset_new d = dataset_new("a", store_part_begin(f->store, NULL), "b2:1", 0, 2);
    d.sha256 = NULL;
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
    struct store_chunk *chunks = NULL;
    size_t n = 1;
    assert_ok(f, store_dataset_chunks(f->store, out.id, &chunks, &n, &f->problem));
    assert_int_equal(n, 0);
    free(chunks);
    struct store_dataset found = get(f, "a", 0);
    assert_null(found.sha256);
    store_dataset_done(&found);
    assert_problem(f, store_dataset_chunks(f->store, out.id + 1, &chunks, &n, &f->problem),
                   PROBLEM_UNKNOWN_DATASET, "with id");
}

static void count_done(void *arg, const struct problem *problem) {
    assert_null(problem);
    __atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void test_staged_chunks_can_be_read(void **state) {
    struct fixture *f = *state;
    int64_t part = store_part_begin(f->store, NULL);
    int done = 0;
    struct store_blob blobs[2] = {{pattern(1, 0, 0, 50), 50}, {pattern(1, 0, 1, 50000), 50000}};
    assert_true(store_part_append(f->store, part, 0, 5, blobs, 2, count_done, &done));
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    struct buf b = {0};
    void *expected = pattern(1, 0, 1, 50000);
    assert_ok(f, store_part_read(f->store, part, 0, 1, &b, &f->problem));
    assert_int_equal(b.size, 50000);
    assert_memory_equal(b.data, expected, 50000);
    assert_problem(f, store_part_read(f->store, part, 1, 0, &b, &f->problem), PROBLEM_INTERNAL,
                   "no chunk 1");
    free(expected);
    buf_done(&b);
    store_part_drop(f->store, part);
}

static void test_full_queue_says_so(void **state) {
    struct fixture *f = *state;
    fixture_close(f);
    struct store_settings settings = {.path = f->path, .bulk_limit = 1000};
    assert_ok(f, store_open(&settings, &f->store, &f->problem));
    int64_t part = store_part_begin(f->store, NULL);
    struct store_blob blob = {.bytes = pattern(1, 0, 0, 2000), .size = 2000};
    assert_false(store_part_append(f->store, part, 0, 10, &blob, 1, NULL, NULL));
    struct store_dataset_new d = dataset_new("a", part, "b2:1", 1, 1);
    struct store_dataset_published out = {0};
    /* store_part_append returned false, but has queued the chunk */
    assert_ok(f, store_dataset_publish(f->store, &d, &out, NULL, &f->problem));
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_publish_and_read_back),
                                       T(test_versions_count_for_ever),
                                       T(test_same_content_makes_no_version),
                                       T(test_conditions),
                                       T(test_patch),
                                       T(test_lists),
                                       T(test_pages_end_at_their_bytes),
                                       T(test_part_books),
                                       T(test_no_rows),
                                       T(test_staged_chunks_can_be_read),
                                       T(test_full_queue_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
