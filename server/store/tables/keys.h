/* Idempotency keys: those that calls use now, in memory, and the answers of the last 24 hours, in
 * rows. */
#ifndef STORE_KEYS_H
#define STORE_KEYS_H

#include "store/engine/writer.h"
#include "store/store.h"
#include <pthread.h>

struct store_keys {
    pthread_mutex_t mutex; /* guards the list */
    struct store_key_use *first;
};
void store_keys_init(struct store_keys *keys);
void store_keys_done(struct store_keys *keys);

/* In the transaction that made something: writes the answer and inserts its row. made: as in struct
 * store_key. key NULL: no effect. */
void store_key_add(struct store_tx *tx, struct store_key *key, const void *made);
/* In a step of the sweep: deletes some answers that are older than 24 hours. Returns how many. */
int64_t store_keys_expire(struct store_tx *tx);

#endif
