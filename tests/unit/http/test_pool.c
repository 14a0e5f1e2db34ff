/* The pool: jobs that last leave a thread to the others, none is forgotten, all are run before it
 * ends. */
#include "base/process/clock.h"
#include "http/threads/pool.h"
#include "http/timer_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above */
#include <cmocka.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

enum { JOBS = 40 };

struct job {
    struct pool_job base; /* first: a job is its base */
    struct board *board;
    bool lasting;
};
/* What jobs tell, and what those that last wait for. */
struct board {
    struct job jobs[JOBS];
    sem_t begun, ended, release;
    atomic_int running, most; /* of those that last */
};

static void run(struct pool_job *base) {
    struct board *b = ((struct job *)base)->board;
    if (((struct job *)base)->lasting) {
        const int now = atomic_fetch_add(&b->running, 1) + 1;
        int most = atomic_load(&b->most);
        while (now > most && !atomic_compare_exchange_weak(&b->most, &most, now))
            ;
        sem_post(&b->begun);
        while (sem_wait(&b->release) != 0)
            ;
        atomic_fetch_sub(&b->running, 1);
    }
    sem_post(&b->ended);
}

static void prepare(struct board *b, struct pool *pool, size_t n_threads) {
    *b = (struct board){0};
    sem_init(&b->begun, 0, 0);
    sem_init(&b->ended, 0, 0);
    sem_init(&b->release, 0, 0);
    assert_true(pool_start(pool, n_threads));
}

static void push(struct board *b, struct pool *pool, size_t i, bool lasting) {
    b->jobs[i] = (struct job){.base = {.run = run}, .board = b, .lasting = lasting};
    pool_push(pool, &b->jobs[i].base, lasting);
}

/* Within a minute: what comes later than that never comes. */
static void wait_for(sem_t *what, size_t times) {
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    for (size_t i = 0; i < times; i++) {
        assert_int_equal(sem_timedwait(what, &end), 0);
    }
}

static void done(struct board *b) {
    sem_destroy(&b->begun);
    sem_destroy(&b->ended);
    sem_destroy(&b->release);
}

/* However many may last, short ones behind them are run; and every one that lasts comes to its
 * turn. */
static void a_thread_is_left(void **state) {
    (void)state;
    static const size_t threads[] = {2, 3, 8};
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        struct board b;
        struct pool pool;
        prepare(&b, &pool, threads[k]);
        for (size_t i = 0; i < 10; i++) {
            push(&b, &pool, i, true);
        }
        wait_for(&b.begun, threads[k] - 1);
        for (size_t i = 10; i < JOBS; i++) {
            push(&b, &pool, i, false);
        }
        wait_for(&b.ended, JOBS - 10); /* while nothing that lasts has ended */
        assert_int_equal(sem_trywait(&b.begun), -1);
        for (size_t i = 0; i < 10; i++) {
            sem_post(&b.release);
        }
        wait_for(&b.ended, 10);
        assert_int_equal(atomic_load(&b.most), (int)threads[k] - 1);
        assert_true(pool_stop(&pool, INT64_MAX));
        done(&b);
    }
}

/* A single thread runs them all, one after the other. */
static void one_thread(void **state) {
    (void)state;
    struct board b;
    struct pool pool;
    prepare(&b, &pool, 1);
    push(&b, &pool, 0, true);
    wait_for(&b.begun, 1);
    push(&b, &pool, 1, false);
    assert_int_equal(sem_trywait(&b.ended), -1);
    sem_post(&b.release);
    wait_for(&b.ended, 2);
    assert_true(pool_stop(&pool, INT64_MAX));
    done(&b);
}

/* What is queued when the pool is to end is run all the same. */
static void the_end(void **state) {
    (void)state;
    struct board b;
    struct pool pool;
    prepare(&b, &pool, 3);
    for (size_t i = 0; i < JOBS; i++) {
        push(&b, &pool, i, i % 2 == 0);
    }
    assert_false(pool_stop(&pool, 1000000)); /* some last */
    for (size_t i = 0; i < JOBS; i++) {
        sem_post(&b.release);
    }
    assert_true(pool_stop(&pool, INT64_MAX));
    wait_for(&b.ended, JOBS);
    done(&b);
}

/* A timed wait lasts until its deadline on the monotonic clock. With any other clock it would
 * return at once, and the threads that wait for deadlines would spin. */
static void waits_use_the_monotonic_clock(void **state) {
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never;
    assert_true(monotonic_cond_init(&never));
    const int64_t until = clock_monotonic_ns() + 50000000;
    const struct timespec end = {.tv_sec = (time_t)(until / 1000000000),
                                 .tv_nsec = (long)(until % 1000000000)};
    (void)pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&never, &lock, &end) == 0) {
        continue;
    }
    (void)pthread_mutex_unlock(&lock);
    assert_true(clock_monotonic_ns() >= until);
    (void)pthread_cond_destroy(&never);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_left),
        cmocka_unit_test(one_thread),
        cmocka_unit_test(the_end),
        cmocka_unit_test(waits_use_the_monotonic_clock),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
