/* The mailbox: what the store did not take is delivered later, in order, or given to whoever
 * closes; why a training stops. */
#include "jobs/mailbox.h"

#include "base/log/log.h"
#include "database.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* A job that is running, and ours. */
static struct store_claim running_job(struct fixture *f) {
    struct problem problem = {0};
    struct jobs_request spec = fixture_spec("m", "lbfgs");
    fixture_dataset(f, "d", 100, 100);
    fixture_job(f, &spec);
    struct store_job job;
    bool found = false;
    assert_true(store_job_claim(f->store, 3, &job, &found, &problem));
    assert_true(found);
    const struct store_claim claim = store_job_claim_of(&job);
    store_job_done(&job);
    dn_params_free(spec.params);
    return claim;
}

static void report(struct mailbox *m, size_t from, size_t to) {
    for (size_t i = from; i <= to; i++) {
        dn_progress p = {.iteration = i, .loss = 1.0 / (double)i};
        mailbox_report(m, &p, (double)i);
    }
}

/* Number of the history rows in the store; their iterations are 1, 2, … */
static int64_t delivered(struct fixture *f, int64_t job) {
    struct problem problem = {0};
    struct store_page page = {0};
    assert_true(store_job_history(f->store, job, false, &(struct store_limit){0}, &page, &problem));
    const struct store_history_row *rows = page.items;
    const int64_t n = (int64_t)page.n;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].iteration, i + 1);
    }
    store_page_done(&page);
    return n;
}

#define REFUSE                                                                                     \
    "CREATE TRIGGER refuse BEFORE INSERT ON job_history BEGIN SELECT RAISE(ABORT, 'not now'); END"

static void what_the_store_refused_is_delivered_later(void **state) {
    (void)state;
    struct fixture f;
    struct mailbox m;
    fixture_init(&f);
    const struct store_claim claim = running_job(&f);
    mailbox_init(&m);
    mailbox_open(&m, &claim);
    report(&m, 1, 3);
    report(&m, 3, 3); /* progress within an iteration adds no row */
    mailbox_deliver(&m, f.store);
    report(&m, 3, 3);
    mailbox_deliver(&m, f.store);
    assert_int_equal(delivered(&f, claim.job), 3);
    database_run(&f, REFUSE);
    for (size_t i = 4; i < 200;
         i += 2) { /* the rows grow over their room, before and behind those that come back */
        report(&m, i, i + 1);
        mailbox_deliver(&m, f.store);
    }
    assert_int_equal(delivered(&f, claim.job), 3);
    database_run(&f, "DROP TRIGGER refuse");
    report(&m, 200, 200);
    mailbox_deliver(&m, f.store);
    assert_int_equal(delivered(&f, claim.job), 200);
    struct store_job job = fixture_get(&f, claim.job);
    assert_non_null(strstr(job.progress, "\"iteration\":200"));
    store_job_done(&job);
    mailbox_done(&m);
    fixture_done(&f);
}

/* A job that runs, its mailbox, and what is taken from it. */
struct opened {
    struct fixture f;
    struct mailbox m;
    struct store_claim claim;
    struct store_history_row *rows;
    size_t n_rows;
    struct buf progress;
};

/* Opens the mailbox; it has reports of the iterations 1 to 5. */
static void opened_init(struct opened *o) {
    *o = (struct opened){0};
    fixture_init(&o->f);
    o->claim = running_job(&o->f);
    mailbox_init(&o->m);
    mailbox_open(&o->m, &o->claim);
    report(&o->m, 1, 5);
}

static void opened_done(struct opened *o) {
    mailbox_rows_free(o->rows, o->n_rows);
    buf_done(&o->progress);
    mailbox_done(&o->m);
    fixture_done(&o->f);
}

/* The daemon ends while the store refuses: the closer gets all that was not delivered, in order,
 * and nothing is lost or given twice. */
static void a_drain_gives_back_what_was_not_delivered(void **state) {
    (void)state;
    struct opened o;
    struct problem problem = {0};
    opened_init(&o);
    database_run(&o.f, REFUSE);
    mailbox_deliver(&o.m, o.f.store);
    mailbox_stop(&o.m, STOP_DRAIN);
    assert_int_equal(mailbox_stopped(&o.m), STOP_DRAIN);
    report(&o.m, 6, 7); /* the training has not looked yet */
    mailbox_deliver(&o.m, o.f.store);
    mailbox_take(&o.m, &o.rows, &o.n_rows, &o.progress);
    assert_int_equal(o.n_rows, 7);
    for (size_t i = 0; i < o.n_rows; i++) {
        assert_int_equal(o.rows[i].iteration, i + 1);
    }
    assert_non_null(strstr(buf_cstr(&o.progress), "\"iteration\":7"));
    mailbox_close(&o.m);
    mailbox_deliver(&o.m, o.f.store); /* idle: nothing */
    struct store_job_end end = {.claim = o.claim,
                                .state = STORE_JOB_QUEUED,
                                .rows = o.rows,
                                .n_rows = o.n_rows};
    if (!store_job_end(o.f.store, &end, NULL,
                       &problem)) { /* given back, it leaves no history: the trigger is not asked */
        fail_msg("%s", problem.detail);
    }
    struct store_job job = fixture_get(&o.f, o.claim.job);
    assert_int_equal(job.state, STORE_JOB_QUEUED);
    assert_int_equal(job.attempts, 0);
    assert_null(job.progress);
    store_job_done(&job);
    assert_int_equal(delivered(&o.f, o.claim.job), 0);
    opened_done(&o);
}

/* A second job begins with no rows, no iteration and no time of the first one. A training in closed
 * form reports no iteration, so nothing would overwrite them. */
static void a_job_begins_with_nothing_of_the_one_before(void **state) {
    (void)state;
    struct mailbox m;
    struct store_history_row *rows = NULL;
    size_t n_rows = 0;
    struct buf first = {0}, second = {0};
    mailbox_init(&m);
    mailbox_open(&m, &(struct store_claim){.job = 1});
    report(&m, 1, 5);
    mailbox_take(&m, &rows, &n_rows, &first);
    mailbox_rows_free(rows, n_rows);
    assert_non_null(strstr(buf_cstr(&first), "\"elapsed\":5"));
    mailbox_open(&m, &(struct store_claim){.job = 2});
    mailbox_take(&m, &rows, &n_rows, &second);
    assert_int_equal(n_rows, 0);
    assert_non_null(strstr(buf_cstr(&second), "\"iteration\":0"));
    assert_non_null(strstr(buf_cstr(&second), "\"elapsed\":0}"));
    buf_done(&first);
    buf_done(&second);
    mailbox_done(&m);
}

static void why_a_training_stops(void **state) {
    (void)state;
    struct fixture f;
    struct mailbox m;
    struct problem problem = {0};
    struct store_history_row *rows = NULL;
    size_t n_rows = 0;
    struct buf progress = {0};
    fixture_init(&f);
    const struct store_claim claim = running_job(&f);
    mailbox_init(&m);
    mailbox_open(&m, &claim);
    mailbox_deliver(&m, f.store);
    assert_int_equal(mailbox_stopped(&m), STOP_NOT);
    assert_true(store_job_cancel(f.store, NULL, claim.job, NULL, NULL, NULL, &problem));
    mailbox_deliver(&m, f.store);
    assert_int_equal(mailbox_stopped(&m), STOP_CANCELLED);
    mailbox_stop(&m, STOP_LOST);
    mailbox_stop(&m, STOP_DRAIN);
    assert_int_equal(mailbox_stopped(&m), STOP_CANCELLED); /* the first reason stays */
    assert_true(mailbox_draining(&m));
    mailbox_take(&m, &rows, &n_rows, &progress);
    assert_int_equal(n_rows, 0);
    mailbox_open(&m, &claim);
    assert_int_equal(mailbox_stopped(&m), STOP_DRAIN); /* whatever job comes */
    database_run(&f, "UPDATE jobs SET owner = 'somebody'");
    mailbox_deliver(&m, f.store);
    assert_int_equal(mailbox_stopped(&m), STOP_LOST);
    mailbox_take(&m, &rows, &n_rows, &progress);
    mailbox_rows_free(rows, n_rows);
    buf_done(&progress);
    mailbox_done(&m);
    fixture_done(&f);
}

/* The reporter may look at a job between the end in the store and mailbox_close: it logs nothing. A
 * claim that is gone before is a warning. */
static void a_delivery_after_the_end_is_no_fault(void **state) {
    (void)state;
    struct opened o;
    char line[256] = "";
    opened_init(&o);
    FILE *log = tmpfile();
    assert_non_null(log);
    log_open(fileno(log), LOG_TEXT, LOG_WARN);
    database_run(&o.f, "UPDATE jobs SET owner = 'somebody'");
    mailbox_deliver(&o.m, o.f.store);
    rewind(log);
    assert_non_null(fgets(line, sizeof line, log));
    assert_non_null(strstr(line, "no longer claimed by this worker"));
    mailbox_take(&o.m, &o.rows, &o.n_rows, &o.progress);
    mailbox_deliver(&o.m, o.f.store);
    assert_null(fgets(line, sizeof line, log));
    log_open(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_TEXT, LOG_ERROR);
    (void)fclose(log);
    opened_done(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_store_refused_is_delivered_later),
        cmocka_unit_test(a_drain_gives_back_what_was_not_delivered),
        cmocka_unit_test(a_job_begins_with_nothing_of_the_one_before),
        cmocka_unit_test(why_a_training_stops),
        cmocka_unit_test(a_delivery_after_the_end_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
