/* A thread that calls a function once a second, and at once when it is asked to. The function reads
 * files again that have changed. */
#ifndef BASE_RELOADER_H
#define BASE_RELOADER_H

#include <pthread.h>
#include <stdbool.h>

struct reloader {
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* guards the next two; a leaf */
    pthread_cond_t cond;
    bool asked, stopping;
    void (*check)(void *arg, bool asked);
    void *arg;
};

/* Starts the thread. asked: reloader_ask was called since the last check. Returns false if there is
 * no thread; reloader_stop need not be called then. */
bool reloader_start(struct reloader *r, void (*check)(void *arg, bool asked), void *arg);
void reloader_ask(struct reloader *r); /* any thread; returns at once */
/* Ends the thread. Does nothing if it was not started (all bytes 0). */
void reloader_stop(struct reloader *r);

#endif
