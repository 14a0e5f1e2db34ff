/* The queue of appends: a bounded number of places. Appends are queued in the order in which their
 * rows were complete. One append of a dataset runs at a time, and at most STORE_APPENDS_RUNNING of
 * all datasets. When an append ends, the right to run is reserved for the first append in the queue
 * that is not preceded by an append to the same dataset. */
#include "store/tables/appends.h"
#include "store/tables/tables.h"

void store_appends_init(struct store_appends *appends) {
    *appends = (struct store_appends){0};
    pthread_mutex_init(&appends->mutex, NULL);
}

void store_appends_done(struct store_appends *appends) {
    pthread_mutex_destroy(&appends->mutex);
}

size_t store_appends_count(struct store_appends *appends) {
    size_t n = 0;
    pthread_mutex_lock(&appends->mutex);
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        n += appends->places[i].id != 0;
    }
    pthread_mutex_unlock(&appends->mutex);
    return n;
}

/* Returns the place with this id, or a free place for id 0; NULL if there is none. The mutex is
 * held. */
static struct store_append *find(struct store_appends *appends, int64_t id) {
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        if (appends->places[i].id == id) {
            return &appends->places[i];
        }
    }
    return NULL;
}

int64_t store_append_enter(struct store *store, const char *name) {
    struct store_appends *appends = &store->appends;
    size_t of_name = 0;
    int64_t id = 0;
    pthread_mutex_lock(&appends->mutex);
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        const struct store_append *c = &appends->places[i];
        of_name += c->id != 0 && strcmp(c->name, name) == 0;
    }
    struct store_append *place = of_name < STORE_APPENDS_OF_ONE ? find(appends, 0) : NULL;
    if (place != NULL) {
        id = ++appends->last_id;
        *place = (struct store_append){.id = id};
        snprintf(place->name, sizeof place->name, "%s", name);
    }
    pthread_mutex_unlock(&appends->mutex);
    return id;
}

/* Whether c precedes `own` in the queue and appends to the same dataset. The mutex is held. */
static bool is_before(const struct store_append *c, const struct store_append *own) {
    return c->order != 0 && c->order < own->order && strcmp(c->name, own->name) == 0;
}

/* Puts the append at the end of the queue. The mutex is held. */
static void queue(struct store_appends *appends, struct store_append *own) {
    own->order = ++appends->last_order;
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        own->n_before += is_before(&appends->places[i], own);
    }
}

/* Whether the append may run: no append to the same dataset precedes it in the queue, and fewer
 * than STORE_APPENDS_RUNNING appends run or may run before it. The mutex is held. */
static bool is_next(const struct store_appends *appends, const struct store_append *own) {
    size_t n_turns = 0;
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        const struct store_append *c = &appends->places[i];
        const bool may_run =
            c->order != 0 && c->order < own->order && c->n_before == 0 && !c->waits;
        n_turns += c->running || may_run;
    }
    return own->n_before == 0 && n_turns < STORE_APPENDS_RUNNING;
}

/* Takes the turn among the appends of all processes to this dataset. The place of the append is that
 * of the caller, and does not change meanwhile. If another process appends, or the server does not
 * answer, the append does not run yet. */
static bool hold(struct store *store, struct store_append *own) {
    struct store_appends *appends = &store->appends;
    const struct store_sharing *sharing = store->engine->sharing;
    struct problem ignored = {0};
    if (sharing == NULL) {
        return true;
    }
    const bool held = sharing->hold(store, STORE_HOLD_APPEND, own->name, &ignored);
    problem_done(&ignored);
    pthread_mutex_lock(&appends->mutex);
    own->running = own->held = held;
    appends->n_waiting += !held && !own->waits;
    appends->n_waiting -= held && own->waits;
    own->waits = !held;
    pthread_mutex_unlock(&appends->mutex);
    return held;
}

bool store_appends_wait(struct store *store) {
    struct store_appends *appends = &store->appends;
    pthread_mutex_lock(&appends->mutex);
    const bool wait = appends->n_waiting > 0;
    pthread_mutex_unlock(&appends->mutex);
    return wait;
}

bool store_append_run(struct store *store, int64_t append) {
    struct store_appends *appends = &store->appends;
    pthread_mutex_lock(&appends->mutex);
    struct store_append *own = find(appends, append);
    if (own != NULL && own->order == 0) {
        queue(appends, own);
    }
    bool turn = false;
    if (own != NULL && !own->running) {
        own->running = turn = is_next(appends, own);
    }
    bool runs = own != NULL && own->running;
    pthread_mutex_unlock(&appends->mutex);
    if (turn && !hold(store, own)) {
        runs = false;
    }
    return runs;
}

void store_append_leave(struct store *store, int64_t append) {
    struct store_appends *appends = &store->appends;
    pthread_mutex_lock(&appends->mutex);
    struct store_append *own = append != 0 ? find(appends, append) : NULL;
    struct store_append left = {0};
    if (own != NULL) {
        for (size_t i = 0; own->order != 0 && i < STORE_APPENDS_OF_ALL; i++) {
            struct store_append *c = &appends->places[i];
            c->n_before -= is_before(own, c);
        }
        left = *own;
        appends->n_waiting -= own->waits;
        *own = (struct store_append){0};
    }
    pthread_mutex_unlock(&appends->mutex);
    if (left.held) {
        store->engine->sharing->release(store, STORE_HOLD_APPEND, left.name);
    }
}
