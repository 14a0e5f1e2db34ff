/* The queue of appends: a bounded number of places; one append of a dataset runs, the others wait
 * in the order in which their rows were complete. */
#include "store/sqlite/claims.h"
#include "store/sqlite/internal.h"

void store_claims_init(struct store_claims *claims) {
    *claims = (struct store_claims){0};
    pthread_mutex_init(&claims->mutex, NULL);
}

void store_claims_done(struct store_claims *claims) {
    pthread_mutex_destroy(&claims->mutex);
}

/* The place with this id; 0: a free one. NULL: there is none. Lock held. */
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

/* Nothing of the same dataset runs or came before, and not too many run. Lock held. */
static bool is_next(const struct store_claims *claims, const struct store_claim *own) {
    size_t n_running = 0;
    bool first = true;
    for (size_t i = 0; i < STORE_APPENDS_OF_ALL; i++) {
        const struct store_claim *c = &claims->places[i];
        n_running += c->id != 0 && c->running;
        first = first && !(c->id != 0 && c->order != 0 && c->order < own->order &&
                           strcmp(c->name, own->name) == 0);
    }
    return first && n_running < STORE_APPENDS_RUNNING;
}

bool store_append_run(struct store *store, int64_t append) {
    struct store_claims *claims = &store->claims;
    pthread_mutex_lock(&claims->mutex);
    struct store_claim *own = find(claims, append);
    if (own != NULL && own->order == 0) {
        own->order = ++claims->last_order;
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
        *own = (struct store_claim){0};
    }
    pthread_mutex_unlock(&claims->mutex);
}
