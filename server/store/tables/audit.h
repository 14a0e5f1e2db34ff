/* The audit: an entry for each change, in the transaction of the change. Each entry has the hash of
 * itself and of the entry before (audit_hash.h), so that a change of an entry, or its
 * removal from the middle, is detected. */
#ifndef STORE_AUDIT_H
#define STORE_AUDIT_H

#include "store/tables/tables.h"

/* Adds an entry. An entry of a job without a name gets the name of the job's model. */
void store_audit(struct store_tx *tx, const struct store_audit_new *entry);
/* Adds the entry of a job that has ended, in the state that the row has. */
void store_audit_job_end(struct store_tx *tx, int64_t job);
/* Returns the actor of `by`; {0} for NULL. */
static inline struct store_actor store_actor_of(const struct store_actor *by) {
    return by != NULL ? *by : (struct store_actor){0};
}

/* Takes each fault that a check finds, as a text. */
struct store_audit_sink {
    void (*fault)(void *arg, const char *text);
    void *arg;
};
/* Checks the chain, as store_audit_verify, on an open connection. sink: NULL: none. */
bool store_audit_check(struct store_connection *c, const char *known,
                       const struct store_audit_sink *sink, struct store_audit_report *out,
                       struct problem *problem);

#endif
