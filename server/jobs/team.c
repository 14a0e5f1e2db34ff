/* Blocks of rows on several threads.
 *
 * The blocks are divided into ranges of 2^level consecutive blocks, about four ranges for each
 * thread. Every thread takes the next range until none is left. A thread so works on consecutive
 * blocks and decodes fewer chunks of a table. */
#include "jobs/team.h"

#include "base/log/log.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One call of team_each. */
struct task {
    const dn_run *run;
    const dn_rows *rows;
    dn_each_fn fn;
    void *arg;
    unsigned level;
    size_t n_ranges;
    atomic_size_t next;  /* first range that no thread has taken */
    atomic_bool failed;  /* some range failed: the other threads stop */
    dn_error *errors;    /* [threads] the error of each thread */
    dn_status *statuses; /* [threads] */
};

struct team {
    size_t n_threads;
    pthread_t *threads;   /* n_threads - 1 */
    pthread_mutex_t lock; /* guards generation, running, stopping; leaf */
    pthread_cond_t start, finish;
    unsigned generation; /* counts tasks */
    size_t running;      /* helpers that have not finished the present task */
    bool stopping;
    struct task *task;
    dn_error *errors;    /* [n_threads] */
    dn_status *statuses; /* [n_threads] */
};

/* Argument of a helper thread. */
struct helper {
    struct team *team;
    size_t slot;
};

static dn_status run_range(struct task *t, size_t range, size_t slot, dn_error *err) {
    size_t first = range << t->level, end = first + ((size_t)1 << t->level);
    if (end > t->rows->n_blocks) {
        end = t->rows->n_blocks;
    }
    for (size_t i = first; i < end; i++) {
        dn_status s = dn_run_each_block(t->run, t->rows, i, slot, t->fn, t->arg, err);
        if (s != DN_OK) {
            return s;
        }
    }
    return DN_OK;
}

static void take_ranges(struct task *t, size_t slot) {
    for (;;) {
        size_t range = atomic_fetch_add(&t->next, 1);
        if (range >= t->n_ranges || atomic_load(&t->failed)) {
            return;
        }
        dn_status s = run_range(t, range, slot, &t->errors[slot]);
        if (s != DN_OK) {
            t->statuses[slot] = s;
            atomic_store(&t->failed, true);
            return;
        }
    }
}

static void *helper_main(void *arg) {
    struct helper me = *(struct helper *)arg;
    free(arg);
    struct team *team = me.team;
    unsigned done = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->generation == done && !team->stopping) {
            pthread_cond_wait(&team->start, &team->lock);
        }
        if (team->stopping) {
            break;
        }
        done = team->generation;
        struct task *task = team->task;
        pthread_mutex_unlock(&team->lock);
        take_ranges(task, me.slot);
        pthread_mutex_lock(&team->lock);
        if (--team->running == 0) {
            pthread_cond_signal(&team->finish);
        }
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* Starts helper `slot`. Returns false if out of memory, or if the system has no thread left. */
static bool helper_start(struct team *team, size_t slot) {
    struct helper *h = malloc(sizeof *h);
    if (!h) {
        return false;
    }
    *h = (struct helper){team, slot};
    if (pthread_create(&team->threads[slot - 1], NULL, helper_main, h) != 0) {
        free(h);
        return false;
    }
    return true;
}

bool team_start(size_t n_threads, struct team **out, struct problem *problem) {
    assert(n_threads >= 1);
    struct team *team = calloc(1, sizeof *team);
    if (!team) {
        return problem_no_memory(problem);
    }
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->start, NULL);
    pthread_cond_init(&team->finish, NULL);
    team->threads = calloc(n_threads, sizeof *team->threads);
    team->errors = calloc(n_threads, sizeof *team->errors);
    team->statuses = calloc(n_threads, sizeof *team->statuses);
    team->n_threads = 1;
    bool good = team->threads && team->errors && team->statuses;
    for (size_t i = 1; i < n_threads && good; i++) {
        good = helper_start(team, i);
        if (good) {
            team->n_threads++;
        }
    }
    if (!good) {
        team_stop(team);
        return problem_set(problem, PROBLEM_INTERNAL, "cannot start %zu training threads",
                           n_threads);
    }
    *out = team;
    return true;
}

void team_stop(struct team *team) {
    if (!team) {
        return;
    }
    pthread_mutex_lock(&team->lock);
    team->stopping = true;
    pthread_cond_broadcast(&team->start);
    pthread_mutex_unlock(&team->lock);
    for (size_t i = 1; i < team->n_threads; i++) {
        pthread_join(team->threads[i - 1], NULL);
    }
    pthread_cond_destroy(&team->finish);
    pthread_cond_destroy(&team->start);
    pthread_mutex_destroy(&team->lock);
    free(team->threads);
    free(team->errors);
    free(team->statuses);
    free(team);
}

size_t team_size(const struct team *team) {
    return team->n_threads;
}

/* Runs the task on all threads; a single range on the calling thread only. */
static void run_task(struct team *team, struct task *t) {
    if (t->n_ranges <= 1 || team->n_threads == 1) {
        take_ranges(t, 0);
        return;
    }
    pthread_mutex_lock(&team->lock);
    team->task = t;
    team->generation++;
    team->running = team->n_threads - 1;
    pthread_cond_broadcast(&team->start);
    pthread_mutex_unlock(&team->lock);
    take_ranges(t, 0);
    pthread_mutex_lock(&team->lock);
    while (team->running > 0) {
        pthread_cond_wait(&team->finish, &team->lock);
    }
    pthread_mutex_unlock(&team->lock);
}

/* Sets *err to the failure of the lowest slot and returns its status; DN_ERR_STOPPED only if no
 * thread failed for another reason. */
static dn_status first_failure(const struct task *t, size_t n_threads, dn_error *err) {
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < n_threads; i++) {
        if (t->statuses[i] != DN_OK &&
            (chosen == SIZE_MAX || t->statuses[chosen] == DN_ERR_STOPPED)) {
            chosen = i;
        }
    }
    if (chosen == SIZE_MAX) {
        return DN_OK;
    }
    if (err && err->code == DN_OK) {
        *err = t->errors[chosen];
    }
    return t->statuses[chosen];
}

dn_status team_each(struct team *team, const dn_run *run, const dn_rows *rows, dn_each_fn fn,
                    void *arg, dn_error *err) {
    struct task t = {.run = run,
                     .rows = rows,
                     .fn = fn,
                     .arg = arg,
                     .errors = team->errors,
                     .statuses = team->statuses};
    if (rows->n_blocks > 0) {
        t.level = dn_run_sum_level(rows->n_blocks, team->n_threads, 0);
        t.n_ranges = ((rows->n_blocks - 1) >> t.level) + 1;
    }
    atomic_init(&t.next, 0);
    atomic_init(&t.failed, false);
    for (size_t i = 0; i < team->n_threads; i++) {
        dn_error_clear(&t.errors[i]);
        t.statuses[i] = DN_OK;
    }
    run_task(team, &t);
    return first_failure(&t, team->n_threads, err);
}
