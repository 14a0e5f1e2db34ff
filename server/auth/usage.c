/* Token buckets and counters. */
#include "auth/usage.h"
#include "base/process/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What was used and is not yet filled again. A bucket that is full has used 0. */
struct bucket {
    double used;
    int64_t at_ns; /* monotonic time of `used` */
};

struct auth_usage {
    atomic_int refs;
    pthread_mutex_t lock; /* guards the members below; a leaf */
    struct bucket requests, rows;
    int64_t calls;
};

struct auth_usage *auth_usage_new(void) {
    struct auth_usage *u = calloc(1, sizeof *u);
    if (u != NULL) {
        atomic_init(&u->refs, 1);
        pthread_mutex_init(&u->lock, NULL);
    }
    return u;
}

void auth_usage_ref(struct auth_usage *u) {
    atomic_fetch_add(&u->refs, 1);
}

void auth_usage_unref(struct auth_usage *u) {
    if (u != NULL && atomic_fetch_sub(&u->refs, 1) == 1) {
        pthread_mutex_destroy(&u->lock);
        free(u);
    }
}

static void fill(struct bucket *b, double rate, int64_t now) {
    b->used = fmax(0, b->used - rate * (double)(now - b->at_ns) * 1e-9);
    b->at_ns = now;
}

/* Returns the seconds until `more` can be used. A bucket has room for one at least. */
static double wait_of(const struct bucket *b, double rate, double more) {
    return fmax(0, (b->used + more - fmax(rate, 1)) / rate);
}

double auth_usage_request(struct auth_usage *u, const struct auth_limits *limits, bool takes_rows) {
    const bool of_rows = takes_rows && limits->rows > 0;
    double wait = 0;
    if (limits->requests <= 0 && !of_rows) {
        return 0;
    }
    const int64_t now = clock_monotonic_ns();
    pthread_mutex_lock(&u->lock);
    if (limits->requests > 0) {
        fill(&u->requests, limits->requests, now);
        wait = wait_of(&u->requests, limits->requests, 1);
    }
    if (of_rows) {
        fill(&u->rows, limits->rows, now);
        wait = fmax(wait, wait_of(&u->rows, limits->rows, 1));
    }
    if (wait <= 0) {
        u->requests.used += 1;
    }
    pthread_mutex_unlock(&u->lock);
    return wait;
}

void auth_usage_rows(struct auth_usage *u, const struct auth_limits *limits, int64_t rows) {
    if (limits->rows > 0 && rows > 0) {
        pthread_mutex_lock(&u->lock);
        fill(&u->rows, limits->rows, clock_monotonic_ns());
        u->rows.used += (double)rows;
        pthread_mutex_unlock(&u->lock);
    }
}

bool auth_usage_enter(struct auth_usage *u, const struct auth_limits *limits) {
    pthread_mutex_lock(&u->lock);
    const bool room = limits->calls <= 0 || u->calls < limits->calls;
    u->calls += room;
    pthread_mutex_unlock(&u->lock);
    return room;
}

void auth_usage_leave(struct auth_usage *u) {
    pthread_mutex_lock(&u->lock);
    u->calls--;
    pthread_mutex_unlock(&u->lock);
}

int64_t auth_usage_calls(struct auth_usage *u) {
    pthread_mutex_lock(&u->lock);
    const int64_t calls = u->calls;
    pthread_mutex_unlock(&u->lock);
    return calls;
}
