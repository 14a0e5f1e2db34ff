/* The table of models in memory: names with their live version, versions with their model. Private
 * to serving; the caller's lock is held in every call.
 *
 * Two kinds of entry. A *name* remembers which version is live, as the last change of it said. A
 * *slot* is one version of a model: loading (some thread reads it, others wait), ready, or failed.
 * Slots are counted by their users; those nobody uses stay until the table is over its budget. */
#ifndef SERVING_MODEL_TABLE_H
#define SERVING_MODEL_TABLE_H

#include "serving/serving.h"

enum slot_state { SLOT_LOADING, SLOT_READY, SLOT_FAILED };

/* One version of a model. */
struct model_slot {
    struct serving_model pub; /* first: what callers hold */
    enum slot_state state;
    struct problem problem;  /* of a failed load */
    dn_model *model;         /* owned reference; NULL until ready */
    int64_t bytes;           /* memory of the model */
    size_t users;            /* borrowed, or waiting for the load */
    bool dropped;            /* not in the table any more: freed by the last user */
    uint64_t used;           /* tick of the last borrow, for LRU */
    struct model_slot *next; /* in its bucket */
};

struct model_name;

struct model_table {
    int64_t budget; /* bytes of models; those in use may be more */
    struct model_name **names;
    size_t n_names, n_name_buckets;
    struct model_slot **slots;
    size_t n_slots, n_slot_buckets;
    uint64_t tick;              /* of the last use */
    struct serving_stats stats; /* hits are the caller's to count */
};

bool model_table_init(struct model_table *t, int64_t budget); /* false: no memory */
void model_table_done(struct model_table *t);                 /* no slot has users */

/* The live version of a name; 0: not known. */
int64_t model_table_live(const struct model_table *t, const char *name);
void model_table_set_live(struct model_table *t, const char *name, int64_t version);
/* Takes in a change of the name's versions: which one is live, and drops those that are gone. A
 * dropped version is freed when its last user is done, one that is being loaded when its load ends.
 */
void model_table_change(struct model_table *t, const struct store_change *change);
/* Forgets all names and drops all versions. */
void model_table_forget(struct model_table *t);

struct model_slot *model_table_find(const struct model_table *t, const char *name,
                                    int64_t version); /* NULL: not there */
/* A new slot in state loading with one user; NULL: no memory. */
struct model_slot *model_table_add(struct model_table *t, const char *name, int64_t version);
/* Ends a load: the slot has the model (taken), or without one the failure, and is not found any
 * more. */
void model_table_settle(struct model_table *t, struct model_slot *slot, dn_model *model,
                        const struct problem *problem);
/* The model is used now: of those that nobody uses any more it is the last to go. */
void model_table_touch(struct model_table *t, struct model_slot *slot);
/* Gives up a use; frees the slot if it was the last of one that left the table. */
void model_table_release(struct model_table *t, struct model_slot *slot);

#endif
