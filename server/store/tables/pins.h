/* Dataset versions that calls are reading. The sweep does not remove their chunks. */
#ifndef STORE_PINS_H
#define STORE_PINS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_pin {
    int64_t version; /* id of the version */
    size_t count;
};
struct store_pins {
    pthread_mutex_t mutex; /* guards the members below */
    struct store_pin *pins;
    size_t n, room;
};
void store_pins_init(struct store_pins *pins);
void store_pins_done(struct store_pins *pins);
bool store_pinned(struct store_pins *pins, int64_t version);

#endif
