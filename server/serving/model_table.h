/* The table of models in memory: names with their live version, versions with their model. Private
 * to serving; the caller holds its lock in every call.
 *
 * There are two kinds of entries. A name remembers its live version. A slot is one version of a
 * model: loading (one thread reads it, others wait), ready, or failed. A slot counts its users; an
 * unused slot stays until the models exceed the budget.
 *
 * The table never frees a model: freeing a large one takes milliseconds, and the lock is held. A
 * slot that is removed and has no users goes to a list, which model_table_take_removed hands
 * over. */
#ifndef SERVING_MODEL_TABLE_H
#define SERVING_MODEL_TABLE_H

#include "serving/serving.h"

enum slot_state { SLOT_LOADING, SLOT_READY, SLOT_FAILED };

/* The result of a load: a reference to the model, and the plan that was made from it. */
struct model_loaded {
    dn_model *model;
    void *plan;
    void (*plan_free)(void *plan);
};
/* Releases the model and frees the plan. */
void model_loaded_free(struct model_loaded *loaded);

/* One version of a model. */
struct model_slot {
    struct serving_model pub; /* the first member: callers have its address */
    enum slot_state state;
    struct problem problem;     /* why the load failed */
    struct model_loaded loaded; /* owned; {0} until the slot is ready */
    int64_t bytes;              /* memory of the model */
    size_t users;               /* callers that borrow the model or wait for its load */
    bool dropped;               /* no longer in the table; the last user removes the slot */
    uint64_t used;              /* tick of the last borrow, for LRU */
    struct model_slot *next;    /* next slot in its bucket, or in the list of removed slots */
};

struct model_name;

struct model_table {
    int64_t budget; /* bytes; models in use may exceed it */
    struct model_name **names;
    size_t n_names, n_name_buckets;
    struct model_slot **slots;
    size_t n_slots, n_slot_buckets;
    struct model_slot *removed; /* slots without users; the caller frees them by model_slots_free */
    uint64_t tick;              /* incremented at each use */
    struct serving_stats stats; /* the caller counts hits */
};

bool model_table_init(struct model_table *t, int64_t budget); /* false: no memory */
void model_table_done(struct model_table *t);                 /* no slot may have users */

/* Returns the live version of a name; 0: not known. */
int64_t model_table_live(const struct model_table *t, const char *name);
void model_table_set_live(struct model_table *t, const char *name, int64_t version);
/* Applies a change of a name's versions: sets the live one and drops the deleted ones. A dropped
 * version is removed when its last user releases it, a loading one when its load ends. */
void model_table_change(struct model_table *t, const struct store_change *change);
/* Forgets all names and drops all versions. */
void model_table_forget(struct model_table *t);

/* Returns the slot of a version; NULL: there is none. */
struct model_slot *model_table_find(const struct model_table *t, const char *name, int64_t version);
/* Adds a slot in state loading with one user. NULL: no memory. */
struct model_slot *model_table_add(struct model_table *t, const char *name, int64_t version);
/* Ends a load. The slot takes ownership of what was loaded. loaded NULL: the load failed; the slot
 * keeps the problem and leaves the table. */
void model_table_end_load(struct model_table *t, struct model_slot *slot,
                          const struct model_loaded *loaded, const struct problem *problem);
/* Marks the model as the most recently used. */
void model_table_touch(struct model_table *t, struct model_slot *slot);
/* Ends a use of the slot. */
void model_table_release(struct model_table *t, struct model_slot *slot);

/* Returns the removed slots, linked by `next`, and empties the list; the caller frees them without
 * the lock. NULL: none. */
struct model_slot *model_table_take_removed(struct model_table *t);
void model_slots_free(struct model_slot *slots);

#endif
