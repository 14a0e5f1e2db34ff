/* The ring buffer of committed changes, for caches and event streams. */
#include "store/engine/changes.h"
#include "store/internal.h"
#include <string.h>
#include <time.h>

bool store_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return failed == 0;
}

struct timespec store_deadline(int64_t timeout_ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ns = t.tv_nsec + (timeout_ms % 1000) * 1000000;
    t.tv_sec += (time_t)(timeout_ms / 1000 + ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    return t;
}

bool store_ring_init(struct store_ring *ring, struct problem *problem) {
    pthread_mutex_init(&ring->mutex, NULL);
    return store_cond_init(&ring->cond) || problem_no_memory(problem);
}

void store_ring_done(struct store_ring *ring) {
    pthread_cond_destroy(&ring->cond);
    pthread_mutex_destroy(&ring->mutex);
}

void store_ring_begin(struct store_ring *ring, const struct store_change *changes, size_t n) {
    pthread_mutex_lock(&ring->mutex);
    ring->committing = changes;
    ring->n_committing = n;
    pthread_mutex_unlock(&ring->mutex);
}

/* The mutex is held. */
static void add(struct store_ring *ring, const struct store_change *change) {
    struct store_change *place = &ring->changes[++ring->last % STORE_RING_SIZE];
    *place = *change;
    place->seq = ring->last;
    pthread_cond_broadcast(&ring->cond);
}

/* The mutex is held. */
static void lose(struct store_ring *ring) {
    const struct store_change none = {.kind = STORE_CHANGE_DATASET}; /* a change of no dataset */
    for (size_t i = 0; i < STORE_RING_SIZE; i++) {
        add(ring, &none);
    }
}

/* The mutex is held. */
static void follow(struct store_ring *ring, const struct store_change *change, int64_t number) {
    if (number <= ring->followed) {
        return;
    }
    if (number > ring->followed + 1) {
        lose(ring);
    }
    add(ring, change);
    ring->followed = number;
}

void store_ring_end(struct store_ring *ring, struct store_change *changes, size_t n,
                    int64_t first) {
    pthread_mutex_lock(&ring->mutex);
    ring->committing = NULL;
    ring->n_committing = 0;
    for (size_t i = 0; i < n; i++) {
        if (first > 0) {
            follow(ring, &changes[i], first + (int64_t)i);
        } else {
            add(ring, &changes[i]);
        }
    }
    pthread_mutex_unlock(&ring->mutex);
}

void store_ring_follow(struct store_ring *ring, const struct store_change *change, int64_t number) {
    pthread_mutex_lock(&ring->mutex);
    follow(ring, change, number);
    pthread_mutex_unlock(&ring->mutex);
}

int64_t store_ring_followed(struct store_ring *ring) {
    return atomic_load(&ring->followed);
}

void store_ring_restart(struct store_ring *ring, int64_t number) {
    pthread_mutex_lock(&ring->mutex);
    lose(ring);
    ring->followed = number;
    atomic_store(&ring->seen, number);
    pthread_mutex_unlock(&ring->mutex);
}

void store_ring_see(struct store_ring *ring, int64_t number) {
    int64_t seen = atomic_load(&ring->seen);
    while (number > seen && !atomic_compare_exchange_weak(&ring->seen, &seen, number)) {
    }
}

void store_ring_lose(struct store_ring *ring) {
    pthread_mutex_lock(&ring->mutex);
    lose(ring);
    pthread_mutex_unlock(&ring->mutex);
}

size_t store_changes(struct store *store, int64_t since, struct store_change *out, size_t room,
                     bool *lost) {
    struct store_ring *ring = &store->ring;
    size_t n = 0;
    pthread_mutex_lock(&ring->mutex);
    int64_t oldest = ring->last > STORE_RING_SIZE ? ring->last - STORE_RING_SIZE + 1 : 1;
    *lost = since + 1 < oldest || since > ring->last;
    for (int64_t seq = since + 1 < oldest ? oldest : since + 1; seq <= ring->last && n < room;
         seq++) {
        out[n++] = ring->changes[seq % STORE_RING_SIZE];
    }
    pthread_mutex_unlock(&ring->mutex);
    return n;
}

int64_t store_changes_last(struct store *store) {
    pthread_mutex_lock(&store->ring.mutex);
    int64_t last = store->ring.last;
    pthread_mutex_unlock(&store->ring.mutex);
    return last;
}

int64_t store_changes_look(struct store *store, const char *model, bool *committing) {
    struct store_ring *ring = &store->ring;
    pthread_mutex_lock(&ring->mutex);
    int64_t last = ring->last;
    /* a read has seen a change of another process, which is not in the ring yet */
    *committing = atomic_load(&ring->seen) > ring->followed;
    for (size_t i = 0; i < ring->n_committing; i++) {
        const struct store_change *change = &ring->committing[i];
        *committing =
            *committing || (change->kind == STORE_CHANGE_MODEL && strcmp(change->name, model) == 0);
    }
    pthread_mutex_unlock(&ring->mutex);
    return last;
}

int64_t store_changes_seen(struct store *store) {
    const int64_t followed = store_ring_followed(&store->ring);
    const int64_t seen = atomic_load(&store->ring.seen);
    return seen > followed ? seen : followed;
}

bool store_changes_reach(struct store *store, int64_t number, struct problem *problem) {
    struct problem why = {0};
    if (store_changes_reached(store, number) || store->engine->sharing->follow(store, &why)) {
        return true;
    }
    if (!why.lost) {
        problem_copy(problem, &why);
        problem_done(&why);
        return false;
    }
    problem_done(&why); /* it is about writes, and is in the log */
    return problem_set_lost(problem,
                            "the database cannot be reached, so the answer may be older than "
                            "Discern-Change %lld asks for: send the request again, or without "
                            "this header",
                            (long long)number);
}

bool store_changes_reached(struct store *store, int64_t number) {
    const struct store_sharing *sharing = store->engine->sharing;
    return number == 0 || sharing == NULL ||
           (sharing->is_known(store) && store_ring_followed(&store->ring) >= number);
}

int64_t store_changes_wait(struct store *store, int64_t since, int64_t timeout_ms) {
    struct store_ring *ring = &store->ring;
    struct timespec until = store_deadline(timeout_ms > 0 ? timeout_ms : 0);
    pthread_mutex_lock(&ring->mutex);
    uint64_t wakes = ring->wakes;
    int failed = 0;
    while (ring->last <= since && ring->wakes == wakes && !failed) {
        failed = pthread_cond_timedwait(&ring->cond, &ring->mutex, &until);
    }
    int64_t last = ring->last;
    pthread_mutex_unlock(&ring->mutex);
    return last;
}

void store_wake(struct store *store) {
    pthread_mutex_lock(&store->ring.mutex);
    store->ring.wakes++;
    pthread_cond_broadcast(&store->ring.cond);
    pthread_mutex_unlock(&store->ring.mutex);
}
