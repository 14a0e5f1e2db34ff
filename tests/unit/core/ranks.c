#include "unit/core/ranks.h"

#include "unit/core/support.h"
#include <pthread.h>

/* What a rank has put up for the others. */
struct offer {
    const void *bytes;
    const size_t *size;
};

struct ranks {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t n, n_waiting, n_rounds, n_left;
    struct offer *offers; /* [n] */
    rank_fn fn;
    void *arg;
};

struct rank {
    struct ranks *all;
    dn_group group;
    pthread_t thread;
};

/* Waits for all ranks. Returns false if one has ended. */
static bool meet(struct ranks *all) {
    pthread_mutex_lock(&all->mutex);
    const size_t round = all->n_rounds;
    if (++all->n_waiting == all->n) {
        all->n_waiting = 0;
        all->n_rounds++;
        pthread_cond_broadcast(&all->changed);
    }
    while (all->n_rounds == round && all->n_left == 0) {
        pthread_cond_wait(&all->changed, &all->mutex);
    }
    const bool met = all->n_rounds != round;
    pthread_mutex_unlock(&all->mutex);
    return met;
}

static bool gather(const dn_group *group, const void *mine, const size_t *size, void *to) {
    struct ranks *all = group->ctx;
    char *at = to;
    all->offers[group->rank] = (struct offer){mine, size};
    if (!meet(all)) {
        return false;
    }
    for (size_t r = 0; r < group->n_ranks; at += size[r++]) {
        assert_int_equal(all->offers[r].size[r], size[r]);
        if (size[r] > 0 && at != all->offers[r].bytes) {
            memcpy(at, all->offers[r].bytes, size[r]);
        }
    }
    return meet(all);
}

static bool exchange(const dn_group *group, const void *send, const size_t *send_size,
                     void *receive, const size_t *receive_size) {
    struct ranks *all = group->ctx;
    char *to = receive;
    all->offers[group->rank] = (struct offer){send, send_size};
    if (!meet(all)) {
        return false;
    }
    for (size_t r = 0; r < group->n_ranks; to += receive_size[r++]) {
        const char *from = all->offers[r].bytes;
        for (size_t k = 0; k < group->rank; k++) {
            from += all->offers[r].size[k];
        }
        assert_int_equal(all->offers[r].size[group->rank], receive_size[r]);
        if (receive_size[r] > 0) {
            memcpy(to, from, receive_size[r]);
        }
    }
    return meet(all);
}

static void *run_rank(void *arg) {
    struct rank *rank = arg;
    struct ranks *all = rank->all;
    all->fn(all->arg, &rank->group);
    pthread_mutex_lock(&all->mutex);
    all->n_left++;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
    return NULL;
}

void ranks_run(size_t n_ranks, rank_fn fn, void *arg) {
    struct ranks all = {.n = n_ranks,
                        .offers = xcalloc(n_ranks, sizeof *all.offers),
                        .fn = fn,
                        .arg = arg};
    struct rank *rank = xcalloc(n_ranks, sizeof *rank);
    pthread_mutex_init(&all.mutex, NULL);
    pthread_cond_init(&all.changed, NULL);
    for (size_t r = 0; r < n_ranks; r++) {
        rank[r] = (struct rank){.all = &all,
                                .group = {.struct_size = sizeof(dn_group),
                                          .rank = r,
                                          .n_ranks = n_ranks,
                                          .gather = gather,
                                          .exchange = exchange,
                                          .ctx = &all}};
        assert_int_equal(pthread_create(&rank[r].thread, NULL, run_rank, &rank[r]), 0);
    }
    for (size_t r = 0; r < n_ranks; r++) {
        pthread_join(rank[r].thread, NULL);
    }
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.mutex);
    free(rank);
    free(all.offers);
}
