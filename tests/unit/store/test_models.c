/* Tests of model versions: publish, read, make live, patch, delete, keep_versions. */
#include "unit/store/fixture.h"

/* Inserts and claims a job, and ends it with a model. Returns the version of the model. */
static int64_t train(struct fixture *f, const char *model, int64_t seed, int64_t keep) {
    struct store_dataset d = {0};
    if (!store_dataset_get(f->store, "data", 0, &d, &f->problem)) {
        problem_done(&f->problem);
        publish(f, "data", 1);
        assert_ok(f, store_dataset_get(f->store, "data", 0, &d, &f->problem));
    }
    int64_t id = insert_job(f, model, d.id);
    store_dataset_done(&d);
    assert_int_equal(claim_job(f, 3), id);
    return succeed_job(f, id, seed, 3, 70000, keep);
}

static struct store_model get(struct fixture *f, const char *name, int64_t version) {
    struct store_model m = {0};
    assert_ok(f, store_model_get(f->store, name, version, &m, &f->problem));
    return m;
}

static void assert_versions(struct fixture *f, const char *name, int64_t version, int64_t live,
                            int64_t newest, int64_t revision) {
    struct store_model m = get(f, name, 0);
    assert_int_equal(m.version, version);
    assert_int_equal(m.live_version, live);
    assert_int_equal(m.newest_version, newest);
    assert_int_equal(m.revision, revision);
    store_model_done(&m);
}

static void test_bytes_come_back(void **state) {
    struct fixture *f = *state;
    assert_int_equal(train(f, "m", 9, 0), 1);
    struct store_model m = get(f, "m", 0);
    assert_string_equal(m.name, "m");
    assert_int_equal(m.bytes, 210000);
    assert_string_equal(m.info, "{\"algorithm\":\"logistic\"}");
    assert_string_equal(m.tags, "[]");
    assert_null(m.description);
    assert_string_equal(m.etag, "\"1-0\"");
    assert_true(m.created_at > 1600000000000);
    struct buf b = {0};
    buf_puts(&b, "before");
    assert_ok(f, store_model_bytes(f->store, m.id, &b, &f->problem));
    assert_int_equal(b.size, 210000);
    for (int64_t chunk = 0; chunk < 3; chunk++) {
        void *expected = pattern(9, chunk, 0, 70000);
        assert_memory_equal(b.data + 70000 * chunk, expected, 70000);
        free(expected);
    }
    assert_problem(f, store_model_bytes(f->store, m.id + 1, &b, &f->problem), PROBLEM_UNKNOWN_MODEL,
                   "with id");
    assert_int_equal(b.size, 210000); /* the failed function did not change b */
    buf_done(&b);
    store_model_done(&m);
    store_model_done(NULL);
}

/* Chunks with rows are not among the bytes of the model. They are listed, count for their owner, and
 * are removed with the version. */
static void test_predictions(void **state) {
    struct fixture *f = *state;
    struct store_job j = {0};
    struct store_chunk *chunks = NULL;
    struct buf b = {0};
    bool found = false;
    size_t n = 9;
    int64_t version = 0, jobs = 0, bytes = 0;
    publish(f, "d", 1);
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, "d", 0, &d, &f->problem));
    const struct store_job_new new = {.model = "m",
                                      .algorithm = "x",
                                      .dataset_id = d.id,
                                      .spec = "{}",
                                      .quota = {.owner = "ann"}};
    int64_t id;
    assert_ok(f, store_job_insert(f->store, &new, &id, NULL, &f->problem));
    assert_ok(f, store_job_claim(f->store, 3, &j, &found, &f->problem));
    struct store_job_end e = {.claim = store_job_claim_of(&j),
                              .state = STORE_JOB_SUCCEEDED,
                              .result = "{}",
                              .model_part = stage_model(f->store, 9, 2, 1000),
                              .model_bytes = 2000,
                              .prediction_bytes = 60,
                              .model_info = "{}"};
    for (int64_t i = 0; i < 2; i++) {
        const struct store_blob blob = {pattern(i, 2 + i, 0, 30), 30};
        store_part_append(f->store, e.model_part, 2 + i, 5 + i, &blob, 1, NULL, NULL);
    }
    assert_ok(f, store_job_end(f->store, &e, &version, &f->problem));
    struct store_model m = get(f, "m", 0);
    assert_int_equal(m.bytes, 2000);
    assert_ok(f, store_model_bytes(f->store, m.id, &b, &f->problem));
    assert_int_equal(b.size, 2000);
    assert_ok(f, store_model_predictions(f->store, "m", version, &chunks, &n, &f->problem));
    assert_int_equal(n, 2);
    assert_int_equal(chunks[1].first_row, 5);
    assert_int_equal(chunks[1].n_rows, 6);
    assert_ok(f, store_chunk_read(f->store, &chunks[1], 0, &b, &f->problem));
    assert_int_equal(b.size, 30);
    assert_ok(f, store_owned(f->store, "ann", &jobs, &bytes, &f->problem));
    assert_int_equal(bytes, 2060);
    assert_problem(f, store_model_predictions(f->store, "m", 7, &chunks, &n, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "");
    free(chunks);
    buf_done(&b);
    store_job_done(&j);
    store_dataset_done(&d);
    store_model_done(&m);
}

static void test_live_and_roll_back(void **state) {
    struct fixture *f = *state;
    train(f, "m", 1, 0);
    assert_int_equal(train(f, "m", 2, 0), 2);
    assert_versions(f, "m", 2, 2, 2, 1);
    struct store_condition wrong = {.if_match = "\"1-1\""}, right = {.if_match = "\"2-1\""};
    assert_problem(f, store_model_set_live(f->store, NULL, "m", 1, &wrong, NULL, &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "model \"m\" has the ETag \"2-1\"");
    assert_ok(f, store_model_set_live(f->store, NULL, "m", 1, &right, NULL, &f->problem));
    assert_versions(f, "m", 1, 1, 2, 2);
    int64_t last = store_changes_last(f->store);
    /* the version is already live */
    assert_ok(f, store_model_set_live(f->store, NULL, "m", 1, NULL, NULL, &f->problem));
    assert_versions(f, "m", 1, 1, 2, 2);
    assert_int_equal(store_changes_last(f->store), last);
    assert_problem(f, store_model_set_live(f->store, NULL, "m", 7, NULL, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "no version 7 of a model \"m\"");
    assert_problem(f, store_model_set_live(f->store, NULL, "x", 1, NULL, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "no model \"x\"");
    /* the version of the last job that succeeded is live */
    assert_int_equal(train(f, "m", 3, 0), 3);
    assert_versions(f, "m", 3, 3, 3, 3);
}

static void test_patch(void **state) {
    struct fixture *f = *state;
    train(f, "m", 1, 0);
    struct store_model changed;
    assert_ok(f, store_model_patch(f->store, NULL, "m",
                                   &(struct store_patch){.description = "good", .tags = "[1]"},
                                   NULL, &changed, &f->problem));
    assert_string_equal(changed.description, "good");
    assert_string_equal(changed.etag, "\"1-1\"");
    assert_int_equal(changed.live_version, 1);
    store_model_done(&changed);
    struct store_model m = get(f, "m", 1);
    assert_string_equal(m.description, "good");
    assert_string_equal(m.tags, "[1]");
    assert_string_equal(m.etag, "\"1-1\"");
    store_model_done(&m);
    assert_ok(f, store_model_patch(f->store, NULL, "m", &(struct store_patch){.description = ""},
                                   NULL, NULL, &f->problem));
    m = get(f, "m", 1);
    assert_null(m.description);
    assert_string_equal(m.tags, "[1]");
    store_model_done(&m);
    struct store_condition wrong = {.if_match = "\"1-1\""};
    assert_problem(f,
                   store_model_patch(f->store, NULL, "m", &(struct store_patch){.description = "x"},
                                     &wrong, NULL, &f->problem),
                   PROBLEM_PRECONDITION_FAILED, "\"1-2\"");
    assert_problem(f,
                   store_model_patch(f->store, NULL, "x", &(struct store_patch){.description = "x"},
                                     NULL, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "\"x\"");
}

static void test_delete(void **state) {
    struct fixture *f = *state;
    struct store_model m = {0};
    for (int64_t i = 1; i <= 4; i++) {
        train(f, "m", i, 0);
    }
    assert_ok(f, store_model_delete(f->store, NULL, "m", 2, 0, NULL, &f->problem));
    assert_problem(f, store_model_get(f->store, "m", 2, &m, &f->problem), PROBLEM_UNKNOWN_MODEL,
                   "no version 2");
    assert_versions(f, "m", 4, 4, 4, 4);
    assert_problem(f, store_model_delete(f->store, NULL, "m", 4, 0, NULL, &f->problem),
                   PROBLEM_CONFLICT, "version 4 of model \"m\" is live");
    assert_problem(f, store_model_delete(f->store, NULL, "m", 4, 4, NULL, &f->problem),
                   PROBLEM_CONFLICT, "is live");
    assert_problem(f, store_model_delete(f->store, NULL, "m", 4, 2, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "no version 2");
    assert_versions(f, "m", 4, 4, 4, 4);
    assert_ok(f, store_model_delete(f->store, NULL, "m", 4, 3, NULL, &f->problem));
    assert_versions(f, "m", 3, 3, 3, 5);
    assert_ok(f, store_model_set_live(f->store, NULL, "m", 1, NULL, NULL, &f->problem));
    /* version 3 is not live; the live version stays live */
    assert_ok(f, store_model_delete(f->store, NULL, "m", 3, 0, NULL, &f->problem));
    assert_versions(f, "m", 1, 1, 1, 7);
    assert_problem(f, store_model_delete(f->store, NULL, "m", 3, 0, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "no version 3");
    assert_ok(f, store_model_delete(f->store, NULL, "m", 1, 0, NULL,
                                    &f->problem)); /* the last version */
    assert_problem(f, store_model_get(f->store, "m", 0, &m, &f->problem), PROBLEM_UNKNOWN_MODEL,
                   "no model \"m\"");
    assert_problem(f, store_model_delete(f->store, NULL, "m", 0, 0, NULL, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "no model \"m\"");
    sql_await(f->path, "SELECT count(*) FROM chunks", 2); /* the chunks of the dataset */
    assert_int_equal(train(f, "m", 5, 0),
                     5); /* the number of a deleted version is not used again */
    assert_intact(f->path);
}

static void test_keep_versions(void **state) {
    struct fixture *f = *state;
    for (int64_t i = 1; i <= 3; i++) {
        train(f, "m", i, 0);
    }
    train(f, "m", 4, 2);
    assert_int_equal(sql_ask(f->path, "SELECT group_concat(version, '') FROM (SELECT version FROM "
                                      "model_versions ORDER BY version)"),
                     34);
    sql_await(f->path, "SELECT count(*) FROM parts", 3);
}

/* A version that is not promoted; a decision that was made for another live version; a model
 * without a live version. The live version outlives keep_versions. */
static void test_promotion(void **state) {
    struct fixture *f = *state;
    int64_t version = 0;
    train(f, "m", 1, 0);
    struct store_dataset d = {0};
    assert_ok(f, store_dataset_get(f->store, "data", 0, &d, &f->problem));
    struct store_promotion decision = {.promote = false, .live = 2};
    for (int64_t i = 2; i <= 4; i++) {
        int64_t id = insert_job(f, "m", d.id);
        assert_int_equal(claim_job(f, 3), id);
        struct store_job_end e = {.claim = claim_of(f, id),
                                  .state = STORE_JOB_SUCCEEDED,
                                  .result = "{}",
                                  .model_part = stage_model(f->store, i, 1, 10),
                                  .model_bytes = 10,
                                  .model_info = "{}",
                                  .promotion = &decision,
                                  .keep_versions = 1};
        decision.live = 9;
        assert_problem(f, store_job_end(f->store, &e, &version, &f->problem),
                       PROBLEM_PRECONDITION_FAILED,
                       i < 4 ? "version 1 of model \"m\" is live, not version 9"
                             : "version 0 of model \"m\" is live, not version 9");
        decision.live = i < 4 ? 1 : 0;
        assert_ok(f, store_job_end(f->store, &e, &version, &f->problem));
        assert_int_equal(version, i);
        if (i < 4) {
            assert_versions(f, "m", 1, 1, i, i - 1);
        } else { /* the first version after the deletion */
            assert_versions(f, "m", 4, 4, 4, 4);
        }
        if (i == 3) {
            assert_ok(f, store_model_delete(f->store, NULL, "m", 0, 0, NULL, &f->problem));
        }
    }
    store_dataset_done(&d);
}

/* Returns the models of a page as "NAME/VERSION ". Frees the page. */
static const char *page_text(struct store_page *page) {
    static char text[200];
    size_t at = 0;
    const struct store_model *items = page->items;
    text[0] = '\0';
    for (size_t i = 0; i < page->n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s/%d ", items[i].name,
                               (int)items[i].version);
    }
    store_page_done(page);
    return text;
}

static void test_lists(void **state) {
    struct fixture *f = *state;
    static const struct store_limit ten = {.items = 10}, one = {.items = 1};
    struct store_page page = {0};
    train(f, "b", 1, 0);
    train(f, "a", 1, 0);
    train(f, "a", 2, 0);
    assert_ok(f, store_model_set_live(f->store, NULL, "a", 1, NULL, NULL, &f->problem));
    assert_ok(f, store_model_list(f->store, NULL, &ten, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/1 b/1 ");
    assert_ok(f, store_model_list(f->store, "a", &one, &page, &f->problem));
    assert_false(page.more);
    assert_string_equal(page_text(&page), "b/1 ");
    assert_ok(f, store_model_versions(f->store, "a", 0, &ten, &page, &f->problem));
    assert_string_equal(page_text(&page), "a/1 a/2 ");
    assert_ok(f, store_model_versions(f->store, "a", 0, &one, &page, &f->problem));
    assert_true(page.more);
    assert_string_equal(page_text(&page), "a/1 ");
    assert_problem(f, store_model_versions(f->store, "x", 0, &ten, &page, &f->problem),
                   PROBLEM_UNKNOWN_MODEL, "\"x\"");
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(test_bytes_come_back), T(test_predictions),   T(test_live_and_roll_back), T(test_patch),
        T(test_delete),          T(test_keep_versions), T(test_promotion),          T(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
