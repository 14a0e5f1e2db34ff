/* Parallel block sums with a serial sum's bytes.
 *
 * The blocks are cut into aligned ranges of 2^level blocks, a few for each thread. Threads take ranges in turn; each sums its range with a dn_pairwise of its own; the owner
 * pushes the ranges' totals in order at that level. Every addition is one that the serial sum makes too (run.h says why). */
#include "jobs/team.h"

#include "base/log.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One sum under way. */
struct task {
    const dn_run *run;
    const dn_rows *rows;
    dn_block_fn fn;
    void *arg;
    size_t n_out;
    unsigned level;
    size_t n_ranges;
    double *totals;      /* [n_ranges × n_out] */
    double *partials;    /* [threads × room] */
    size_t room;         /* doubles of one thread's pairwise stack */
    atomic_size_t next;  /* range to be taken */
    atomic_bool failed;  /* some range failed: the others stop */
    dn_error *errors;    /* [threads] the error of each */
    dn_status *statuses; /* [threads] */
};

struct team {
    size_t n_threads;
    pthread_t *threads;   /* n_threads - 1 */
    pthread_mutex_t lock; /* guards generation, running, stopping; leaf */
    pthread_cond_t start, finish;
    unsigned generation; /* counts tasks */
    size_t running;      /* helpers still at the present task */
    bool stopping;
    struct task *task;
    dn_error *errors;    /* [n_threads] */
    dn_status *statuses; /* [n_threads] */
};

/* What a helper thread is told. */
struct helper {
    struct team *team;
    size_t slot;
};

static dn_status range_sum(struct task *t, size_t range, size_t slot, dn_error *err) {
    size_t first = range << t->level, end = first + ((size_t)1 << t->level);
    if (end > t->rows->n_blocks) {
        end = t->rows->n_blocks;
    }
    dn_pairwise sum;
    dn_pairwise_init(&sum, t->n_out, t->partials + slot * t->room);
    for (size_t i = first; i < end; i++) {
        dn_status s =
            dn_run_sum_block(t->run, t->rows, i, slot, t->fn, t->arg, dn_pairwise_next(&sum), err);
        if (s != DN_OK) {
            return s;
        }
        dn_pairwise_push(&sum, 0);
    }
    dn_pairwise_total(&sum, t->n_out > 0 ? t->totals + range * t->n_out
                                         : t->totals); /* a sum of nothing has no totals */
    return DN_OK;
}

static void take_ranges(struct task *t, size_t slot) {
    for (;;) {
        size_t range = atomic_fetch_add(&t->next, 1);
        if (range >= t->n_ranges || atomic_load(&t->failed)) {
            return;
        }
        dn_status s = range_sum(t, range, slot, &t->errors[slot]);
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

/* Starts helper `slot`; false: no thread to be had. */
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
        return problem_set(problem, PROBLEM_INTERNAL, "out of memory");
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

/* Runs the task on all threads, the caller's among them; one range is not worth waking them. */
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

/* The failure to report: that of the lowest thread that has a real one; "stopped" only if nothing else went wrong. */
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

/* One range is summed straight into out, by the caller's thread. *memory [totals | partials] is the caller's to free. */
static dn_status sum_alloc(const struct team *team, struct task *t, const dn_run *run, double *out,
                           void **memory, dn_error *err) {
    bool alone = t->n_ranges == 1;
    size_t n_totals = alone ? 0 : t->n_ranges * t->n_out, n_threads = alone ? 1 : team->n_threads;
    if ((double)t->n_ranges * (double)t->n_out + (double)n_threads * (double)t->room >
        (double)(SIZE_MAX / 16)) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "partial sums of %zu numbers are more than can be addressed", t->n_out);
    }
    dn_status s = dn_run_alloc(run, n_totals + n_threads * t->room, sizeof(double), "partial sums",
                               memory, err);
    t->totals = alone ? out : *memory;
    t->partials = s == DN_OK ? (double *)*memory + n_totals : NULL;
    return s;
}

/* Adds the ranges' totals in order, in their own place: what is on the stack is never more than what was pushed. */
static void add_up(const struct task *t, double *out) {
    dn_pairwise sum;
    dn_pairwise_init(&sum, t->n_out, t->totals);
    for (size_t r = 0; r < t->n_ranges; r++) {
        if (sum.depth != r && t->n_out > 0) {
            memcpy(t->totals + sum.depth * t->n_out, t->totals + r * t->n_out,
                   t->n_out * sizeof *t->totals);
        }
        dn_pairwise_push(&sum, t->level);
    }
    dn_pairwise_total(&sum, out);
}

dn_status team_sum(struct team *team, const dn_run *run, const dn_rows *rows, dn_block_fn fn,
                   void *arg, size_t n_out, double *out, dn_error *err) {
    struct task t = {.run = run,
                     .rows = rows,
                     .fn = fn,
                     .arg = arg,
                     .n_out = n_out,
                     .errors = team->errors,
                     .statuses = team->statuses};
    void *memory = NULL;
    t.level = rows->n_blocks == 0 ? 0 : dn_run_sum_level(rows->n_blocks, team->n_threads, n_out);
    size_t per_range = (size_t)1 << t.level;
    t.n_ranges = (rows->n_blocks + per_range - 1) / per_range;
    t.room = dn_pairwise_room(per_range, n_out);
    atomic_init(&t.next, 0);
    atomic_init(&t.failed, false);
    for (size_t i = 0; i < team->n_threads; i++) {
        dn_error_clear(&t.errors[i]);
        t.statuses[i] = DN_OK;
    }
    dn_status s = sum_alloc(team, &t, run, out, &memory, err);
    if (s == DN_OK) {
        run_task(team, &t);
        s = first_failure(&t, team->n_threads, err);
    }
    if (s == DN_OK && t.n_ranges != 1) {
        add_up(&t, out);
    }
    dn_run_free(run, memory);
    return s;
}
