/* The queue of appends; see store_append_enter. */
#ifndef STORE_APPENDS_H
#define STORE_APPENDS_H

#include "store/store.h"
#include <pthread.h>

/* A place in the queue. */
struct store_append {
    int64_t id;      /* 0: the place is free */
    int64_t order;   /* position in the queue; 0: its rows are still arriving */
    size_t n_before; /* number of appends to the same dataset that precede it in the queue */
    bool running;
    bool held;  /* other processes do not append to the dataset until this one leaves */
    bool waits; /* its turn has come, but another process appends */
    char name[IDS_NAME_SIZE]; /* name of the dataset */
};

struct store_appends {
    pthread_mutex_t mutex; /* guards the members below */
    int64_t last_id, last_order;
    size_t n_waiting; /* number of places that wait for another process */
    struct store_append places[STORE_APPENDS_OF_ALL];
};
void store_appends_init(struct store_appends *appends);
void store_appends_done(struct store_appends *appends);
size_t store_appends_count(struct store_appends *appends); /* places that are held */

#endif
