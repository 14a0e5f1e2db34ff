/* The queue of appends: store_append_enter. */
#ifndef STORE_CLAIMS_H
#define STORE_CLAIMS_H

#include "store/store.h"
#include <pthread.h>

/* One append. */
struct store_claim {
    int64_t id;      /* 0: the place is free */
    int64_t order;   /* in the queue; 0: its rows are still arriving */
    size_t n_before; /* appends to the same dataset that are before it in the queue */
    bool running;
    char name[IDS_NAME_SIZE]; /* of the dataset */
};

struct store_claims {
    pthread_mutex_t mutex; /* guards what follows */
    int64_t last_id, last_order;
    struct store_claim places[STORE_APPENDS_OF_ALL];
};
void store_claims_init(struct store_claims *claims);
void store_claims_done(struct store_claims *claims);

#endif
