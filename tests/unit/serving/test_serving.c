/* Models in memory: loaded once for all who wait, the live version followed at once, roll-backs and
 * deletes seen, the cache kept within its budget. */
#include "serving/model_table.h"
#include "serving/serving.h"

#include "base/ids.h"
#include "store/internal.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char dir[64], path[96];
    struct store *store;
    struct serving *serving;
    int64_t dataset;
    void *model; /* bytes of a small model */
    size_t model_size;
    int64_t keep_versions; /* of store_job_end */
};

/* Signals a finished append. */
struct signal {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done;
};
static void staged(void *arg, const struct problem *problem) {
    struct signal *s = arg;
    assert_null(problem);
    pthread_mutex_lock(&s->lock);
    s->done = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->lock);
}

static int64_t stage(struct fixture *f, const void *bytes, size_t n, int64_t rows) {
    struct signal s = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct store_blob blob = {malloc(n), n};
    assert_non_null(blob.bytes);
    memcpy(blob.bytes, bytes, n);
    int64_t part = store_part_begin(f->store, NULL);
    store_part_append(f->store, part, 0, rows, &blob, 1, staged, &s);
    pthread_mutex_lock(&s.lock);
    while (!s.done) {
        pthread_cond_wait(&s.cond, &s.lock);
    }
    pthread_mutex_unlock(&s.lock);
    return part;
}

static void make_model(struct fixture *f) {
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {0, 0, 1, 0, 1, 0, 1, 1};
    const dn_table_column columns[] = {{.name = "x", .type = DN_NUMERIC},
                                       {.name = "y", .type = DN_NUMERIC}};
    const dn_column_view views[] = {{.type = DN_NUMERIC, .n_rows = 8, .number = x},
                                    {.type = DN_NUMERIC, .n_rows = 8, .number = y}};
    const size_t inputs[] = {0};
    dn_table_source *source = NULL;
    dn_train_request request = {
        .target = 1, .features = {.columns = inputs, .n_columns = 1, .standardize = true}};
    dn_params *params = NULL;
    dn_train_result *result = calloc(1, sizeof *result);
    dn_run run = dn_run_default();
    assert_non_null(result);
    assert_int_equal(dn_table_source_from_columns(columns, views, 2, 8, &source, NULL), DN_OK);
    assert_int_equal(dn_params_new(dn_algorithm_find("logistic"), &params, NULL), DN_OK);
    request.source = source;
    request.params = params;
    assert_int_equal(dn_train(&request, &run, result, NULL), DN_OK);
    assert_int_equal(dn_model_write(result->model, &f->model, &f->model_size, NULL), DN_OK);
    dn_train_result_done(result);
    free(result);
    dn_params_free(params);
    dn_table_source_free(source);
}

static void fixture_init(struct fixture *f, int64_t cache) {
    struct problem problem = {0};
    memset(f, 0, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/discern-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/t.db", f->dir);
    assert_true(ids_init());
    struct store_settings settings = {.path = f->path};
    if (!store_open(&settings, &f->store, &problem) ||
        !serving_open(f->store, cache, NULL, &f->serving, &problem)) {
        fail_msg("%s", problem.detail);
    }
    make_model(f);
    struct store_dataset_new d = {.name = "d",
                                  .part = stage(f, "x", 1, 1),
                                  .n_rows = 1,
                                  .n_cols = 1,
                                  .sha256 = "0",
                                  .content = "b2:0",
                                  .columns = "[]",
                                  .notes = "{}",
                                  .options = ""};
    struct store_dataset_published out;
    if (!store_dataset_publish(f->store, &d, &out, NULL, &problem)) {
        fail_msg("%s", problem.detail);
    }
    f->dataset = out.id;
}

static void fixture_done(struct fixture *f) {
    static const char *const endings[] = {"", "-wal", "-shm", ".lock"};
    char name[128];
    serving_close(f->serving);
    store_close(f->store);
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", f->path, endings[i]);
        unlink(name);
    }
    rmdir(f->dir);
    free(f->model);
}

/* A new version of `name` with these bytes, as a job would publish it. */
static int64_t publish(struct fixture *f, const char *name, const void *bytes, size_t n) {
    struct problem problem = {0};
    struct store_job_new j = {.model = name,
                              .algorithm = "logistic",
                              .dataset_id = f->dataset,
                              .spec = "{}"};
    struct store_job job;
    int64_t id = 0, version = 0;
    bool found = false;
    if (!store_job_insert(f->store, &j, &id, NULL, &problem) ||
        !store_job_claim(f->store, 3, &job, &found, &problem)) {
        fail_msg("%s", problem.detail);
    }
    assert_true(found);
    struct store_job_end end = {.claim = store_job_claim_of(&job),
                                .state = STORE_JOB_SUCCEEDED,
                                .result = "{}",
                                .warnings = "[]",
                                .model_part = stage(f, bytes, n, 0),
                                .model_bytes = (int64_t)n,
                                .model_info = "{}",
                                .keep_versions = f->keep_versions};
    if (!store_job_end(f->store, &end, &version, &problem)) {
        fail_msg("%s", problem.detail);
    }
    store_job_done(&job);
    return version;
}

static int64_t version_served(struct fixture *f, const char *name) {
    struct problem problem = {0};
    const struct serving_model *m = serving_try(f->serving, name, 0, 0);
    if (!m) {
        m = serving_get(f->serving, name, 0, 0, &problem);
    }
    if (!m) {
        assert_int_equal(problem.type, PROBLEM_UNKNOWN_MODEL);
        problem_done(&problem);
        return 0;
    }
    int64_t version = m->version;
    assert_non_null(m->model);
    serving_release(f->serving, m);
    return version;
}

static void live_is_followed_at_once(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    fixture_init(&f, 1 << 20);
    assert_int_equal(version_served(&f, "m"), 0);
    assert_int_equal(publish(&f, "m", f.model, f.model_size), 1);
    assert_null(serving_try(f.serving, "m", 0, 0)); /* not in memory yet */
    assert_int_equal(version_served(&f, "m"), 1);
    const struct serving_model *held = serving_try(f.serving, "m", 0, 0);
    assert_non_null(held);
    for (int64_t v = 2; v < 20; v++) {
        assert_int_equal(publish(&f, "m", f.model, f.model_size), v);
        assert_int_equal(version_served(&f, "m"), v);
    }
    assert_int_equal(held->version, 1); /* in use: still there */
    serving_release(f.serving, held);
    assert_true(store_model_set_live(f.store, NULL, "m", 3, NULL, NULL, &problem));
    assert_int_equal(version_served(&f, "m"), 3);
    assert_true(store_model_delete(f.store, NULL, "m", 3, 19, NULL, &problem));
    assert_int_equal(version_served(&f, "m"), 19);
    assert_null(serving_get(f.serving, "m", 3, 0, &problem));
    assert_int_equal(problem.type, PROBLEM_UNKNOWN_MODEL);
    problem_done(&problem);
    assert_true(store_model_delete(f.store, NULL, "m", 0, 0, NULL, &problem));
    assert_int_equal(version_served(&f, "m"), 0);
    assert_int_equal(version_served(&f, "no/such"), 0);
    fixture_done(&f);
}

static void damaged_bytes_are_refused_each_time(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    fixture_init(&f, 1 << 20);
    char *bytes = malloc(f.model_size);
    assert_non_null(bytes);
    memcpy(bytes, f.model, f.model_size);
    bytes[f.model_size / 2] = (char)(bytes[f.model_size / 2] ^ 1);
    publish(&f, "m", bytes, f.model_size);
    for (int i = 0; i < 2; i++) {
        assert_null(serving_get(f.serving, "m", 0, 0, &problem));
        assert_int_equal(problem.type, PROBLEM_INTERNAL);
        problem_done(&problem);
    }
    free(bytes);
    fixture_done(&f);
}

static void the_budget_holds(void **state) {
    (void)state;
    struct fixture f;
    struct serving_stats stats;
    fixture_init(&f, 4000);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        publish(&f, name, f.model, f.model_size);
        assert_int_equal(version_served(&f, name), 1);
        serving_stats(f.serving, &stats);
        assert_true(stats.bytes <= 4000);
    }
    assert_true(stats.evictions > 0 && stats.models < 40);
    assert_int_equal(version_served(&f, "m0"), 1); /* comes back */
    fixture_done(&f);
}

/* While a model's change is being committed, others may have read it already: the store is asked,
 * and what is remembered is used again when that is over. */
static void a_commit_under_way(void **state) {
    (void)state;
    struct fixture f;
    static const enum store_change_kind kinds[] = {STORE_CHANGE_JOB, STORE_CHANGE_DATASET,
                                                   STORE_CHANGE_MODEL_TEXT, STORE_CHANGE_MODEL};
    struct store_change change = {.name = "m"};
    fixture_init(&f, 1 << 20);
    publish(&f, "m", f.model, f.model_size);
    publish(&f, "other", f.model, f.model_size);
    assert_int_equal(version_served(&f, "m"), 1);
    assert_int_equal(version_served(&f, "other"), 1);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        change.kind = kinds[i];
        store_ring_begin(&f.store->ring, &change, 1);
        const struct serving_model *m = serving_try(f.serving, "m", 0, 0),
                                   *other = serving_try(f.serving, "other", 0, 0);
        assert_int_equal(m == NULL, kinds[i] == STORE_CHANGE_MODEL);
        assert_non_null(other); /* nothing is committed of this one */
        serving_release(f.serving, m);
        serving_release(f.serving, other);
        assert_int_equal(version_served(&f, "m"), 1);
        store_ring_end(&f.store->ring, &change, 0, 0); /* it failed */
        m = serving_try(f.serving, "m", 0, 0);
        assert_non_null(m);
        serving_release(f.serving, m);
    }
    fixture_done(&f);
}

static bool is_loaded(struct fixture *f, const char *name, int64_t version) {
    const struct serving_model *m = serving_try(f->serving, name, version, 0);
    if (m != NULL && version == 0) {
        version = m->version;
    }
    const bool loaded = m != NULL && m->version == version;
    serving_release(f->serving, m);
    return loaded;
}

/* A change drops the versions that are gone, and no others. */
static void loaded_versions_stay(void **state) {
    (void)state;
    struct fixture f;
    struct problem problem = {0};
    struct serving_stats before, after;
    fixture_init(&f, 1 << 20);
    for (int64_t v = 1; v <= 4; v++) {
        assert_int_equal(publish(&f, "m", f.model, f.model_size), v);
        assert_int_equal(version_served(&f, "m"), v);
    }
    publish(&f, "other", f.model, f.model_size);
    assert_int_equal(version_served(&f, "other"), 1);
    serving_stats(f.serving, &before);
    assert_true(store_model_patch(f.store, NULL, "m",
                                  &(struct store_patch){.description = "text", .tags = "[\"a\"]"},
                                  NULL, NULL, &problem));
    for (int64_t v = 0; v <= 4; v++) {
        assert_true(is_loaded(&f, "m", v));
    }
    assert_true(store_model_set_live(f.store, NULL, "m", 2, NULL, NULL, &problem));
    assert_true(is_loaded(&f, "m", 0));
    assert_int_equal(version_served(&f, "m"), 2);
    assert_true(store_model_delete(f.store, NULL, "m", 3, 0, NULL, &problem));
    assert_false(is_loaded(&f, "m", 3));
    assert_int_equal(version_served(&f, "m"), 2);
    assert_true(is_loaded(&f, "m", 1) && is_loaded(&f, "m", 2) && is_loaded(&f, "m", 4));
    serving_stats(f.serving, &after);
    assert_int_equal(after.loads, before.loads);
    assert_int_equal(after.models, before.models - 1);
    assert_true(store_model_delete(f.store, NULL, "m", 0, 0, NULL, &problem));
    for (int64_t v = 0; v <= 4; v++) {
        assert_false(is_loaded(&f, "m", v));
    }
    assert_true(is_loaded(&f, "other", 0));
    fixture_done(&f);
}

/* Exactly as many models as the budget allows stay; one more takes the place of the one unused
 * longest. */
static void the_longest_unused_goes(void **state) {
    (void)state;
    struct fixture f;
    struct serving_stats stats;
    fixture_init(&f, 1 << 20);
    publish(&f, "a", f.model, f.model_size);
    assert_int_equal(version_served(&f, "a"), 1);
    serving_stats(f.serving, &stats);
    const int64_t size = stats.bytes;
    fixture_done(&f);
    fixture_init(&f, 3 * size);
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) {
        publish(&f, names[i], f.model, f.model_size);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(version_served(&f, names[i]), 1);
    }
    serving_stats(f.serving, &stats);
    assert_int_equal(stats.models, 3);
    assert_int_equal(stats.bytes, 3 * size);
    assert_int_equal(stats.evictions, 0);
    assert_true(is_loaded(&f, "a", 1)); /* used: "b" is now the one unused longest */
    assert_int_equal(version_served(&f, "d"), 1);
    assert_false(is_loaded(&f, "b", 1));
    assert_true(is_loaded(&f, "c", 1) && is_loaded(&f, "d", 1) && is_loaded(&f, "a", 1));
    assert_int_equal(version_served(&f, "e"), 1);
    assert_false(is_loaded(&f, "c", 1));
    assert_true(is_loaded(&f, "a", 1) && is_loaded(&f, "d", 1) && is_loaded(&f, "e", 1));
    serving_stats(f.serving, &stats);
    assert_int_equal(stats.evictions, 2);
    assert_int_equal(stats.bytes, 3 * size);
    /* one in use stays, though it is the one unused longest */
    const struct serving_model *held = serving_try(f.serving, "a", 1, 0);
    assert_true(is_loaded(&f, "d", 1) && is_loaded(&f, "e", 1));
    assert_int_equal(version_served(&f, "b"), 1);
    assert_true(is_loaded(&f, "a", 1) && !is_loaded(&f, "d", 1));
    serving_release(f.serving, held);
    fixture_done(&f);
}

/* A publish that removes old versions drops these alone. */
static void pruned_versions_go(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f, 1 << 20);
    for (int64_t v = 1; v <= 3; v++) {
        assert_int_equal(publish(&f, "m", f.model, f.model_size), v);
        assert_int_equal(version_served(&f, "m"), v);
    }
    f.keep_versions = 2;
    assert_int_equal(publish(&f, "m", f.model, f.model_size), 4);
    assert_false(is_loaded(&f, "m", 1) || is_loaded(&f, "m", 2));
    assert_true(is_loaded(&f, "m", 3));
    assert_int_equal(version_served(&f, "m"), 4);
    fixture_done(&f);
}

/* Many readers while versions are published and rolled back: never an older version than the store
 * has shown, never a crash. */
struct race {
    struct fixture *f;
    atomic_bool over;
};
static void *reader(void *arg) {
    struct race *r = arg;
    while (!atomic_load(&r->over)) {
        struct problem problem = {0};
        struct store_model shown;
        if (!store_model_get(r->f->store, "m", 0, &shown, &problem)) {
            abort();
        }
        int64_t least = shown.version, got = version_served(r->f, "m");
        store_model_done(&shown);
        if (got < least) {
            abort(); /* an old version was served (cmocka's fail_msg is for the main thread only) */
        }
    }
    return NULL;
}

static void readers_and_publishes_at_once(void **state) {
    (void)state;
    struct fixture f;
    struct race r = {.f = &f};
    pthread_t threads[4];
    fixture_init(&f, 1 << 20);
    publish(&f, "m", f.model, f.model_size);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &r), 0);
    }
    for (int64_t v = 2; v < 200; v++) {
        publish(&f, "m", f.model, f.model_size);
    }
    atomic_store(&r.over, true);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    fixture_done(&f);
}

/* The table does not free models: those it removes are handed over. */
static void removed_models_are_handed_over(void **state) {
    (void)state;
    struct fixture f;
    struct model_table t;
    dn_model *model = NULL;
    fixture_init(&f, 1 << 20);
    assert_true(model_table_init(&t, 0)); /* a budget that no model fits */
    assert_int_equal(dn_model_read(f.model, f.model_size, &model, NULL), DN_OK);
    struct model_slot *slot = model_table_add(&t, "m", 1);
    assert_non_null(slot);
    model_table_end_load(&t, slot, &(struct model_loaded){.model = model}, NULL);
    assert_int_equal(t.stats.models, 1);
    assert_null(model_table_take_removed(&t)); /* in use */
    model_table_release(&t, slot);
    assert_int_equal(t.stats.models, 0);
    struct model_slot *removed = model_table_take_removed(&t);
    assert_ptr_equal(removed, slot);
    assert_ptr_equal(removed->loaded.model, model); /* not freed */
    assert_null(model_table_take_removed(&t));
    model_slots_free(removed);
    /* A slot that is dropped while it is in use. */
    slot = model_table_add(&t, "m", 2);
    assert_non_null(slot);
    model_table_forget(&t);
    assert_null(model_table_find(&t, "m", 2));
    assert_null(model_table_take_removed(&t));
    model_table_release(&t, slot);
    removed = model_table_take_removed(&t);
    assert_ptr_equal(removed, slot);
    model_slots_free(removed);
    model_table_done(&t);
    fixture_done(&f);
}

/* ---- plans ---- */

static atomic_int n_plans; /* made and not freed */
static atomic_bool plans_fail;

static void *plan_make(const dn_model *model, const char *name, int64_t version,
                       const char *document) {
    (void)document;
    (void)version;
    assert_non_null(model);
    if (atomic_load(&plans_fail)) {
        return NULL;
    }
    atomic_fetch_add(&n_plans, 1);
    return strdup(name);
}

static void plan_free(void *plan) {
    if (plan != NULL) {
        atomic_fetch_sub(&n_plans, 1);
    }
    free(plan);
}

/* A plan is made with each load and freed with the model. A plan that cannot be made fails the
 * load; the next call loads the model again. */
static void a_plan_lives_as_long_as_its_model(void **state) {
    (void)state;
    static const struct serving_plans plans = {.make = plan_make, .free = plan_free};
    struct fixture f;
    struct problem problem = {0};
    fixture_init(&f, 1 << 20);
    serving_close(f.serving);
    assert_true(serving_open(f.store, 1 << 20, &plans, &f.serving, &problem));
    assert_int_equal(publish(&f, "m", f.model, f.model_size), 1);
    atomic_store(&plans_fail, true);
    assert_null(serving_get(f.serving, "m", 0, 0, &problem));
    assert_int_equal(problem.type, PROBLEM_UNAVAILABLE);
    problem_done(&problem);
    atomic_store(&plans_fail, false);
    const struct serving_model *m = serving_get(f.serving, "m", 0, 0, &problem);
    assert_non_null(m);
    assert_string_equal(m->plan, "m");
    const struct serving_model *same = serving_try(f.serving, "m", 0, 0);
    assert_ptr_equal(same, m);
    assert_int_equal(atomic_load(&n_plans), 1);
    serving_release(f.serving, same);
    serving_release(f.serving, m);
    fixture_done(&f);
    assert_int_equal(atomic_load(&n_plans), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_is_followed_at_once),
        cmocka_unit_test(damaged_bytes_are_refused_each_time),
        cmocka_unit_test(the_budget_holds),
        cmocka_unit_test(a_commit_under_way),
        cmocka_unit_test(loaded_versions_stay),
        cmocka_unit_test(the_longest_unused_goes),
        cmocka_unit_test(pruned_versions_go),
        cmocka_unit_test(readers_and_publishes_at_once),
        cmocka_unit_test(removed_models_are_handed_over),
        cmocka_unit_test(a_plan_lives_as_long_as_its_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
