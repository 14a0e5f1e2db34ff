/* A job's events and history: their order, their numbers, their bounds. */
#include "unit/store/fixture.h"

struct seen {
    char text[400]; /* the first events */
    size_t n;
    int64_t first, last; /* seq */
    size_t n_progress;
    size_t stop;
};
static bool see(void *arg, const struct store_event *e) {
    struct seen *s = arg;
    size_t at = strlen(s->text);
    if (s->n < 12) {
        const char *names[] = {"state", "progress", "done"};
        snprintf(s->text + at, sizeof s->text - at, "%d%s%s ", (int)e->seq, names[e->kind],
                 e->progress ? e->progress : "");
    }
    if (s->n++ == 0) {
        s->first = e->seq;
    } else {
        assert_true(e->seq > s->last);
    }
    s->last = e->seq;
    s->n_progress += e->kind == STORE_EVENT_PROGRESS;
    return s->n != s->stop;
}

static struct seen events(struct fixture *f, int64_t job, int64_t after, size_t limit) {
    struct seen s = {0};
    assert_ok(f, store_job_events(f->store, job, after, limit, see, &s, &f->problem));
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
    struct seen s = {.stop = 2};
    assert_ok(f, store_job_events(f->store, job, 0, 100, see, &s, &f->problem));
    assert_int_equal(s.n, 2);
    assert_problem(f, store_job_events(f->store, 99, 0, 100, see, &s, &f->problem),
                   PROBLEM_UNKNOWN_JOB, "no job 99");
}

static void test_cancelled_while_queued(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    assert_ok(f, store_job_cancel(f->store, job, NULL, &f->problem));
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

struct rows {
    char text[200];
    size_t stop, n;
};
static bool see_row(void *arg, const struct store_history_row *row) {
    struct rows *r = arg;
    size_t at = strlen(r->text);
    snprintf(r->text + at, sizeof r->text - at, "%d%s%s ", (int)row->iteration,
             row->snapshot ? "s" : "", row->doc);
    return ++r->n != r->stop;
}

static void test_history(void **state) {
    struct fixture *f = *state;
    int64_t job = insert_job(f, "m", publish(f, "data", 1).id);
    claim_job(f, 3);
    struct store_history_row first[] = {{1, false, "{}"},
                                        {2, false, "{\"l\":2}"},
                                        {2, true, "{\"w\":[]}"}};
    struct store_history_row second[] = {{3, false, "{\"l\":3}"}};
    report(f, job, "{}", first, 3);
    report(f, job, "{}", second, 1);
    struct rows r = {0};
    assert_ok(f, store_job_history(f->store, job, false, see_row, &r, &f->problem));
    assert_string_equal(r.text, "1{} 2{\"l\":2} 3{\"l\":3} ");
    r = (struct rows){0};
    assert_ok(f, store_job_history(f->store, job, true, see_row, &r, &f->problem));
    assert_string_equal(r.text, "2s{\"w\":[]} ");
    r = (struct rows){.stop = 1};
    assert_ok(f, store_job_history(f->store, job, false, see_row, &r, &f->problem));
    assert_int_equal(r.n, 1);
    assert_problem(f, store_job_history(f->store, 99, false, see_row, &r, &f->problem),
                   PROBLEM_UNKNOWN_JOB, "no job 99");
}

int main(void) {
    fixture_begin();
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {T(test_events_in_order), T(test_cancelled_while_queued),
                                       T(test_progress_is_bounded), T(test_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
