/* The queue of appends: a bounded number of places. Appends are queued in the order in which their
 * rows were complete. One append of a dataset runs at a time. A free turn is kept for the first
 * append in the queue that no append of its dataset precedes, until that append asks for it. */
#include "store/sqlite/claims.h"
#include "store/sqlite/internal.h"

void store_claims_init(struct store_claims *claims) {
    *claims = (struct store_claims){0};
    pthread_mutex_init(&claims->mutex, NULL);
}

void store_claims_done(struct store_claims *claims) {
    pthread_mutex_destroy(&claims->mutex);
}

/* The place with this id (0: a free place); NULL: none. Lock held. */
static struct store_claim *find(struct store_claims *claims, int64_t id) {
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        if (claims->places[i].id == id) {
            return &claims->places[i];
        }
    }
    return NULL;
}

int64_t store_append_enter(struct store *store, const char *name) {
    struct store_claims *claims = &store->claims;
    size_t of_name = 0;
    int64_t id = 0;
    pthread_mutex_lock(&claims->mutex);
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        const struct store_claim *c = &claims->places[i];
        of_name += c->id != 0 && strcmp(c->name, name) == 0;
    }
    struct store_claim *place = of_name < STORE_APPENDS_OF_ONE ? find(claims, 0) : NULL;
    if (place != NULL) {
        id = ++claims->last_id;
        *place = (struct store_claim){.id = id};
        snprintf(place->name, sizeof place->name, "%s", name);
    }
    pthread_mutex_unlock(&claims->mutex);
    return id;
}

/* Whether c is in the queue before `own` and appends to the same dataset. Lock held. */
static bool is_before(const struct store_claim *c, const struct store_claim *own) {
    return c->order != 0 && c->order < own->order && strcmp(c->name, own->name) == 0;
}

/* Puts the append at the end of the queue. Lock held. */
static void queue(struct store_claims *claims, struct store_claim *own) {
    own->order = ++claims->last_order;
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        own->n_before += is_before(&claims->places[i], own);
    }
}

/* Whether the append may run: no append of the dataset is before it, and the appends that run or
 * may run before it leave a turn. Lock held. */
static bool is_next(const struct store_claims *claims, const struct store_claim *own) {
    size_t n_turns = 0;
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        const struct store_claim *c = &claims->places[i];
        const bool may_run = c->order != 0 && c->order < own->order && c->n_before == 0;
        n_turns += c->running || may_run;
    }
    return own->n_before == 0 && n_turns < STORE_APPENDS_RUNNING;
}

bool store_append_run(struct store *store, int64_t append) {
    struct store_claims *claims = &store->claims;
    pthread_mutex_lock(&claims->mutex);
    struct store_claim *own = find(claims, append);
    if (own != NULL && own->order == 0) {
        queue(claims, own);
    }
    if (own != NULL && !own->running) {
        own->running = is_next(claims, own);
    }
    const bool runs = own != NULL && own->running;
    pthread_mutex_unlock(&claims->mutex);
    return runs;
}

void store_append_leave(struct store *store, int64_t append) {
    struct store_claims *claims = &store->claims;
    pthread_mutex_lock(&claims->mutex);
    struct store_claim *own = append != 0 ? find(claims, append) : NULL;
    if (own != NULL) {
        for (size_t i = 0; own->order != 0 && i < STORE_APPENDS_OF_ALL; i++) {
            struct store_claim *c = &claims->places[i];
            c->n_before -= is_before(own, c);
        }
        *own = (struct store_claim){0};
    }
    pthread_mutex_unlock(&claims->mutex);
}
