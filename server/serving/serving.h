/* Serving: models in memory, loaded once and shared.
 *
 * Every call compares two integers to see whether the store has committed a change (store_changes):
 * after a committed publish or roll-back no call gets the old live version. Thread safe. One leaf
 * lock guards the table. Models are loaded and freed without it; a thread of serving frees them. */
#ifndef SERVING_SERVING_H
#define SERVING_SERVING_H

#include "base/problem.h"
#include "store/store.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serving;

/* The data that the caller keeps with each loaded model. The thread that loads the model makes
 * them, without a lock; they are freed with the model. */
struct serving_plans {
    /* document: the JSON document of the version. Returns NULL if out of memory. */
    void *(*make)(const dn_model *model, const char *name, int64_t version, const char *document);
    void (*free)(void *plan); /* NULL is allowed */
};

/* A model in use: borrowed until serving_release. */
struct serving_model {
    const dn_model *model;
    const void *plan; /* made by serving_plans.make; NULL: serving was opened without plans */
    char name[IDS_NAME_SIZE];
    int64_t version;
};

/* cache_bytes: unused models beyond this size are dropped, the least recently used first. plans
 * NULL: no plans are made. */
bool serving_open(struct store *store, int64_t cache_bytes, const struct serving_plans *plans,
                  struct serving **out, struct problem *problem);
void serving_close(struct serving *serving); /* all models must have been released */

/* Returns the model if it is in memory and current; NULL: call serving_get on a thread that may
 * wait. version 0: the live version. change: the answer must not be older than this change of a
 * shared database (store_changes_reach); 0: none. Does not wait, read the store or free a model. */
const struct serving_model *serving_try(struct serving *serving, const char *name, int64_t version,
                                        int64_t change);
/* Returns the model, and loads it if it is not in memory; callers that wait share one load. Returns
 * NULL after setting the problem (PROBLEM_UNKNOWN_MODEL…). May wait for I/O. */
const struct serving_model *serving_get(struct serving *serving, const char *name, int64_t version,
                                        int64_t change, struct problem *problem);
/* model NULL is allowed. */
void serving_release(struct serving *serving, const struct serving_model *model);

struct serving_stats {
    size_t models; /* number of models in memory */
    int64_t bytes;
    int64_t hits, loads, evictions;
};
void serving_stats(struct serving *serving, struct serving_stats *out);

#endif
