/* Counted pins of dataset versions. */
#include "store/tables/pins.h"
#include "store/tables/tables.h"
#include <inttypes.h>

void store_pins_init(struct store_pins *pins) {
    pthread_mutex_init(&pins->mutex, NULL);
}

void store_pins_done(struct store_pins *pins) {
    pthread_mutex_destroy(&pins->mutex);
    free(pins->pins);
}

/* Returns NULL if there is no pin. The mutex is held. */
static struct store_pin *find(struct store_pins *pins, int64_t version) {
    for (size_t i = 0; i < pins->n; i++) {
        if (pins->pins[i].version == version) {
            return &pins->pins[i];
        }
    }
    return NULL;
}

static struct store_pin *add(struct store_pins *pins, int64_t version) {
    if (pins->n == pins->room) {
        size_t room = pins->room ? 2 * pins->room : 16;
        struct store_pin *more = realloc(pins->pins, room * sizeof *more);
        if (!more) {
            return NULL;
        }
        pins->pins = more;
        pins->room = room;
    }
    struct store_pin *pin = &pins->pins[pins->n++];
    *pin = (struct store_pin){.version = version};
    return pin;
}

bool store_pinned(struct store_pins *pins, int64_t version) {
    pthread_mutex_lock(&pins->mutex);
    const bool pinned = find(pins, version) != NULL;
    pthread_mutex_unlock(&pins->mutex);
    return pinned;
}

bool store_dataset_pin(struct store *store, int64_t id, struct problem *problem) {
    struct store_pins *pins = &store->pins;
    const struct store_sharing *sharing = store->engine->sharing;
    char name[IDS_NAME_SIZE];
    (void)snprintf(name, sizeof name, "%" PRId64, id);
    if (sharing != NULL && !sharing->hold(store, STORE_HOLD_VERSION, name, problem)) {
        return false;
    }
    pthread_mutex_lock(&pins->mutex);
    struct store_pin *pin = find(pins, id);
    pin = pin != NULL ? pin : add(pins, id);
    if (pin != NULL) {
        pin->count++;
    }
    pthread_mutex_unlock(&pins->mutex);
    if (pin == NULL && sharing != NULL) {
        sharing->release(store, STORE_HOLD_VERSION, name);
    }
    return pin != NULL || problem_no_memory(problem);
}

void store_dataset_unpin(struct store *store, int64_t id) {
    struct store_pins *pins = &store->pins;
    const struct store_sharing *sharing = store->engine->sharing;
    char name[IDS_NAME_SIZE];
    (void)snprintf(name, sizeof name, "%" PRId64, id);
    pthread_mutex_lock(&pins->mutex);
    struct store_pin *pin = find(pins, id);
    const bool pinned = pin != NULL;
    const bool last = pin != NULL && --pin->count == 0;
    if (last) {
        *pin = pins->pins[--pins->n];
    }
    pthread_mutex_unlock(&pins->mutex);
    if (pinned && sharing != NULL) {
        sharing->release(store, STORE_HOLD_VERSION, name);
    }
    if (last) {
        store_writer_kick(store);
    }
}
