/* Queues that take turns between clients, and long jobs that give up their turn. */
#include "base/process/clock.h"
#include "http/threads/long_jobs.h"

#include "lib/cmocka.h"
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { JOBS = 400 };

/* ---- the queue ---- */

static void clients_take_turns(void **state) {
    (void)state;
    struct fair_queue q = {0};
    struct pool_job jobs[7];
    /* client 5 comes with four jobs before client 9 with two and client 5 + 64, which shares the
     * turns of client 5, with one */
    static const uint64_t clients[] = {5, 5, 5, 5, 9, 9, 5 + FAIR_BUCKETS};
    static const size_t order[] = {0, 4, 1, 5, 2, 3, 6};
    for (size_t i = 0; i < 7; i++) {
        jobs[i] = (struct pool_job){.client = clients[i]};
        fair_push(&q, &jobs[i]);
    }
    assert_null(fair_pop(&q, UINT64_C(1) << 6));
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(q.n, 7 - i);
        assert_ptr_equal(fair_pop(&q, UINT64_MAX), &jobs[order[i]]);
    }
    assert_null(fair_pop(&q, UINT64_MAX));
    assert_true(q.n == 0 && q.filled == 0);
}

/* ---- long jobs ---- */

struct board;
struct job {
    struct pool_job base; /* first: a job is its base */
    struct board *board;
    int64_t work_ns;
};
struct board {
    struct long_jobs jobs;
    struct job all[JOBS];
    atomic_int running, most, n_ended;
    int ended[JOBS]; /* numbers of jobs, in the order of their ends */
    sem_t end;
};

static void spin(int64_t ns) {
    for (const int64_t end = clock_monotonic_ns() + ns; clock_monotonic_ns() < end;) {
        continue;
    }
}

/* Works in slices of 1 ms. The pauses of long_yield count as running: `most` is read by tests of
 * jobs that do not pause. */
static void run(struct pool_job *base) {
    struct job *job = (struct job *)base;
    struct board *b = job->board;
    const int now = atomic_fetch_add(&b->running, 1) + 1;
    int most = atomic_load(&b->most);
    while (now > most && !atomic_compare_exchange_weak(&b->most, &most, now)) {
        continue;
    }
    for (int64_t left = job->work_ns; left > 0; left -= 1000000) {
        spin(1000000);
        long_yield(&b->jobs, base);
    }
    atomic_fetch_sub(&b->running, 1);
    b->ended[atomic_fetch_add(&b->n_ended, 1)] = (int)(job - b->all);
    sem_post(&b->end);
}

static void prepare(struct board *b, size_t n_turns, size_t limit) {
    memset(b, 0, sizeof *b);
    sem_init(&b->end, 0, 0);
    assert_true(long_start(&b->jobs, n_turns, limit));
}

static unsigned push(struct board *b, size_t i, uint64_t client, int64_t work_ns, bool refusable) {
    b->all[i] =
        (struct job){.base = {.run = run, .client = client}, .board = b, .work_ns = work_ns};
    return long_push(&b->jobs, &b->all[i].base, refusable);
}

static void finish(struct board *b, size_t n) {
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sem_timedwait(&b->end, &end), 0);
    }
    assert_true(long_stop(&b->jobs, INT64_MAX));
    assert_int_equal(atomic_load(&b->n_ended), n);
    sem_destroy(&b->end);
}

static void as_many_as_there_are_turns(void **state) {
    (void)state;
    static struct board b;
    prepare(&b, 2, 1000);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(push(&b, i, 7, 1000000, true), 0);
    }
    finish(&b, 100);
    assert_int_equal(atomic_load(&b.most), 2);
}

/* Client 1 has begun a job of 1.5 s and queued more; a job of client 2 of 30 ms ends first. */
static void another_client_does_not_wait_for_the_end(void **state) {
    (void)state;
    static struct board b;
    prepare(&b, 1, 1000);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(push(&b, i, 1, 1500000000, true), 0);
    }
    spin(50000000);
    assert_int_equal(push(&b, 3, 2, 30000000, true), 0);
    finish(&b, 4);
    assert_int_equal(b.ended[0], 3);
    assert_int_equal(b.ended[1], 0);
}

struct endless {
    struct pool_job base; /* first: a job is its base */
    struct long_jobs *jobs;
    sem_t *begun, *ended;
    atomic_bool *ends; /* set by the job that does not wait */
    bool waits;
};

static void run_endless(struct pool_job *base) {
    struct endless *job = (struct endless *)base;
    sem_post(job->begun);
    if (!job->waits) {
        atomic_store(job->ends, true);
    }
    while (!atomic_load(job->ends)) {
        spin(1000000);
        long_yield(job->jobs, base);
    }
    sem_post(job->ended);
}

static void expect_posts(sem_t *sem, size_t n) {
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sem_timedwait(sem, &end), 0);
    }
}

/* 60 clients have begun jobs that end only after a job of another client has had a slice. Client 0
 * has queued more of them. */
static void each_client_begins(void **state) {
    (void)state;
    enum { CLIENTS = 60, MORE = 20 };
    static struct long_jobs jobs;
    static struct endless all[CLIENTS + MORE + 1];
    sem_t begun, ended;
    atomic_bool ends = false;
    assert_true(sem_init(&begun, 0, 0) == 0 && sem_init(&ended, 0, 0) == 0);
    assert_true(long_start(&jobs, 2, 1000));
    for (size_t i = 0; i < CLIENTS + MORE + 1; i++) {
        all[i] = (struct endless){.base = {.run = run_endless,
                                           .client = i < CLIENTS          ? i
                                                     : i < CLIENTS + MORE ? 0
                                                                          : CLIENTS},
                                  .jobs = &jobs,
                                  .begun = &begun,
                                  .ended = &ended,
                                  .ends = &ends,
                                  .waits = i < CLIENTS + MORE};
        if (i == CLIENTS + MORE) {
            expect_posts(&begun, CLIENTS);
        }
        assert_int_equal(long_push(&jobs, &all[i].base, true), 0);
    }
    expect_posts(&ended, CLIENTS + MORE + 1);
    assert_true(long_stop(&jobs, INT64_MAX));
    (void)sem_destroy(&begun);
    (void)sem_destroy(&ended);
}

/* 40 clients, each with several jobs: all jobs end, and none twice. */
static void many_clients(void **state) {
    (void)state;
    static struct board b;
    static bool seen[JOBS];
    prepare(&b, 2, 10000);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(push(&b, i, i % 40, (int64_t)(i % 7) * 3000000, true), 0);
    }
    finish(&b, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        assert_false(seen[b.ended[i]]);
        seen[b.ended[i]] = true;
    }
}

/* Of 8 places a client gets 2; jobs that have begun are never refused. */
static void the_queue_has_a_limit(void **state) {
    (void)state;
    static struct board b;
    size_t accepted = 1;
    prepare(&b, 1, 8);
    assert_int_equal(push(&b, 0, 1, 300000000, true), 0);
    spin(20000000); /* it runs now */
    for (uint64_t client = 1; client < 6; client++) {
        for (size_t k = 0; k < 3; k++) {
            const unsigned after_s = push(&b, accepted, client, 1000000, true);
            assert_int_equal(after_s > 0, k == 2 || client == 5);
            accepted += after_s == 0;
        }
    }
    assert_int_equal(accepted, 9);
    assert_int_equal(push(&b, accepted, 1, 1000000, false), 0);
    finish(&b, accepted + 1);
}

/* What waits or is paused when the threads are to end is done all the same. */
static void the_end(void **state) {
    (void)state;
    static struct board b;
    prepare(&b, 1, 1000);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(push(&b, i, i, 40000000, true), 0);
    }
    assert_false(long_stop(&b.jobs, 1000000));
    finish(&b, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_take_turns),
        cmocka_unit_test(as_many_as_there_are_turns),
        cmocka_unit_test(another_client_does_not_wait_for_the_end),
        cmocka_unit_test(each_client_begins),
        cmocka_unit_test(many_clients),
        cmocka_unit_test(the_queue_has_a_limit),
        cmocka_unit_test(the_end),
    };
    return cmocka_run_group_tests_name("long jobs", tests, NULL, NULL);
}
