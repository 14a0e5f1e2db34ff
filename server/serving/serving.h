/* Serving: models in memory. Load once, share, swap, drop.
 *
 * Which version is live is learned from store_changes, looked at on every call (a compare of two
 * integers): no request after a committed publish or roll-back sees the old one. Thread safe. One
 * leaf lock guards the table; a model is loaded outside it and published by an exchange of a
 * pointer, freed by its last user. */
#ifndef SERVING_SERVING_H
#define SERVING_SERVING_H

#include "base/problem.h"
#include "store/store.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serving;

/* A model in use: borrowed until serving_release. */
struct serving_model {
    const dn_model *model;
    char name[IDS_NAME_SIZE];
    int64_t version;
};

/* cache_bytes: models in memory beyond this are dropped, least recently used first (never those in
 * use). */
bool serving_open(struct store *store, int64_t cache_bytes, struct serving **out,
                  struct problem *problem);
void serving_close(struct serving *serving); /* all models must have been released */

/* The model if it is in memory and known to be current; NULL: call serving_get on a thread that may
 * wait. Never blocks, no SQL. version 0: the live one. */
const struct serving_model *serving_try(struct serving *serving, const char *name, int64_t version);
/* Loads it if need be, once for all who wait. NULL: problem (PROBLEM_UNKNOWN_MODEL…). May wait for
 * I/O. */
const struct serving_model *serving_get(struct serving *serving, const char *name, int64_t version,
                                        struct problem *problem);
void serving_release(struct serving *serving,
                     const struct serving_model *model); /* NULL is allowed */

struct serving_stats {
    size_t models; /* in memory */
    int64_t bytes;
    int64_t hits, loads, evictions;
};
void serving_stats(struct serving *serving, struct serving_stats *out);

#endif
