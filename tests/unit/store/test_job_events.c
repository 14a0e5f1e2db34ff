/* Tests of a job's events and history: their order, their numbers, their limits. */
#include "unit/store/fixture.h"

/* A summary of the events that were read. */
struct seen {
    char text[400]; /* the first 12 events */
    size_t n;
    int64_t last; /* number of the last event */
    size_t n_progress;
    bool more; /* more events follow */
};

static void see(struct seen *s, const struct store_event *e) {
    static const char *const names[] = {"state", "progress", "done"};
    size_t at = strlen(s->text);
    if (s->n < 12) {
        snprintf(s->text + at, sizeof s->text - at, "%d%s%s ", (int)e->seq, names[e->kind],
                 e->progress ? e->progress : "");
    }
    assert_true(e->seq > s->last);
    s->last = e->seq;
    s->n_progress += e->kind == STORE_EVENT_PROGRESS;
    s->n++;
}

static struct seen events(struct fixture *f, int64_t job, int64_t after, size_t limit) {
    struct seen s = {.last = after};
    struct store_page page = {0};
    assert_ok(f, store_job_events(f->store, job, after, &(struct store_limit){.items = limit},
                                  &page, &f->problem));
    const struct store_event *items = page.items;
    for (size_t i = 0; i < page.n; i++) {
        see(&s, &items[i]);
    }
    s.more = page.more;
    store_page_done(&page);
    return s;
}

static void report(struct fixture *f, int64_t job, const char *progress,
                   const struct store_history_row *rows, size_t n_rows) {
    const struct store_claim claim = claim_of(f, job);
    bool cancel = true;
    assert_ok(f, store_job_report(f->store, &claim, progress, rows, n_rows, &cancel, &f->problem));
    assert_false(cancel);
}

static void test_events_in_order(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    claim_job(f, 3);
    report(f, job, "{\"a\":1}", NULL, 0);
    report(f, job, "{\"a\":2}", NULL, 0);
    struct store_job j = get_job(f, job);
    assert_string_equal(j.progress, "{\"a\":2}");
    assert_int_equal(j.last_event, 4);
    store_job_done(&j);
    succeed_job(f, job, 1, 1, 10, 0);
    assert_string_equal(events(f, job, 0, 100).text,
                        "1state 2state 3progress{\"a\":1} 4progress{\"a\":2} 5state 6done ");
    assert_string_equal(events(f, job, 3, 2).text, "4progress{\"a\":2} 5state ");
    assert_int_equal(events(f, job, 6, 100).n, 0);
    assert_true(events(f, job, 3, 2).more);
    assert_false(events(f, job, 4, 2).more);
    struct store_page page = {0};
    assert_problem(f,
                   store_job_events(f->store, 99, 0, &(struct store_limit){0}, &page, &f->problem),
                   PROBLEM_UNKNOWN_JOB, "no job 99");
}

static void test_cancelled_while_queued(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    assert_ok(f, store_job_cancel(f->store, NULL, job, NULL, NULL, NULL, &f->problem));
    assert_string_equal(events(f, job, 0, 100).text, "1state 2state 3done ");
}

static void test_progress_is_bounded(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    claim_job(f, 3);
    for (int i = 0; i < 1010; i++) {
        report(f, job, "{}", NULL, 0);
    }
    succeed_job(f, job, 1, 1, 10, 0);
    struct seen s = events(f, job, 0, 5000);
    assert_int_equal(s.n_progress, 1000);
    assert_int_equal(s.n, 1004);
    assert_int_equal(s.last, 1014);
    assert_int_equal(strncmp(s.text, "1state 2state 13progress{} ", 27), 0);
}

/* Returns the history of a job as "ITERATION DOC ", with "s" after the iteration of a snapshot. */
static const char *history(struct fixture *f, int64_t job, bool snapshots, size_t bytes,
                           bool *more) {
    static char text[200];
    struct store_page page = {0};
    size_t at = 0;
    assert_ok(f, store_job_history(f->store, job, snapshots, &(struct store_limit){.bytes = bytes},
                                   &page, &f->problem));
    const struct store_history_row *rows = page.items;
    for (size_t i = 0; i < page.n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%d%s%s ", (int)rows[i].iteration,
                               rows[i].snapshot ? "s" : "", rows[i].doc);
    }
    *more = page.more;
    store_page_done(&page);
    return text;
}

static void test_history(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    claim_job(f, 3);
    struct store_history_row first[] = {{1, false, false, "{}"},
                                        {2, false, false, "{\"l\":2}"},
                                        {2, true, false, "{\"w\":[]}"}};
    struct store_history_row second[] = {{3, false, false, "{\"l\":3}"}};
    report(f, job, "{}", first, 3);
    report(f, job, "{}", second, 1);
    bool more = true;
    assert_string_equal(history(f, job, false, 0, &more), "1{} 2{\"l\":2} 3{\"l\":3} ");
    assert_false(more);
    assert_string_equal(history(f, job, true, 0, &more), "2s{\"w\":[]} ");
    assert_string_equal(history(f, job, false, 3, &more), "1{} 2{\"l\":2} ");
    assert_true(more);
    struct store_page page = {0};
    assert_problem(f,
                   store_job_history(f->store, 99, false, &(struct store_limit){0}, &page,
                                     &f->problem),
                   PROBLEM_UNKNOWN_JOB, "no job 99");
    char *doc = NULL;
    assert_ok(f, store_job_snapshot(f->store, job, 2, &doc, &f->problem));
    assert_string_equal(doc, "{\"w\":[]}");
    free(doc);
    doc = NULL;
    assert_ok(f, store_job_snapshot(f->store, job, 1, &doc, &f->problem)); /* only a history row */
    assert_null(doc);
    assert_problem(f, store_job_snapshot(f->store, 99, 2, &doc, &f->problem), PROBLEM_UNKNOWN_JOB,
                   "no job 99");
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_events_in_order), T(test_cancelled_while_queued),
                                       T(test_progress_is_bounded), T(test_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
