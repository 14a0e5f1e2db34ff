/* Counts refused calls, and adds their entries to the audit. */
#include "store/tables/refusals.h"
#include "base/process/clock.h"
#include "store/tables/audit.h"

void store_refusals_init(struct store_refusals *r) {
    pthread_mutex_init(&r->mutex, NULL);
}

void store_refusals_done(struct store_refusals *r) {
    pthread_mutex_destroy(&r->mutex);
}

static void copy(char *out, size_t size, const char *text) {
    (void)snprintf(out, size, "%s", text != NULL ? text : "");
}

static const char *null_if_empty(const char *text) {
    return text[0] != '\0' ? text : NULL;
}

/* Returns the slot of this kind of refusals; a new one has the count 0. NULL: all are in use. */
static struct store_refusal_slot *find_slot(struct store_refusals *r,
                                            const struct store_refusal *refusal) {
    struct store_refusal_slot s = {.forbidden = refusal->forbidden, .fresh = true};
    copy(s.token, sizeof s.token, refusal->by.token);
    copy(s.client, sizeof s.client, refusal->by.client);
    copy(s.request, sizeof s.request, refusal->by.request);
    copy(s.name, sizeof s.name, refusal->name);
    copy(s.call, sizeof s.call, refusal->call);
    for (size_t i = 0; i < r->n; i++) {
        struct store_refusal_slot *slot = &r->slots[i];
        if (slot->forbidden == s.forbidden && strcmp(slot->token, s.token) == 0 &&
            strcmp(slot->client, s.client) == 0 && strcmp(slot->call, s.call) == 0) {
            return slot;
        }
    }
    const bool known = s.token[0] != '\0';
    if ((known ? r->n_known : r->n - r->n_known) == REFUSALS_SLOTS / 2) {
        return NULL;
    }
    r->n_known += known;
    r->slots[r->n] = s;
    return &r->slots[r->n++];
}

void store_audit_refused(struct store *store, const struct store_refusal *refusal) {
    struct store_refusals *r = &store->refusals;
    bool due = false;
    pthread_mutex_lock(&r->mutex);
    if (r->end_ns == 0) {
        r->end_ns = clock_monotonic_ns() + (int64_t)REFUSALS_SECONDS * 1000000000;
    }
    struct store_refusal_slot *slot = find_slot(r, refusal);
    if (slot != NULL) {
        due = slot->fresh && slot->count == 0;
        slot->count++;
    } else {
        r->others++;
    }
    pthread_mutex_unlock(&r->mutex);
    if (due) {
        store_writer_refused(store);
    }
}

/* The refusals of a transaction. */
struct batch {
    const struct store_refusal_slot *slots;
    size_t n;
    int64_t others;
};

static void add(struct store_tx *tx, void *arg) {
    const struct batch *b = arg;
    for (size_t i = 0; i < b->n; i++) {
        const struct store_refusal_slot *s = &b->slots[i];
        const struct store_audit_new entry = {.by = {null_if_empty(s->token),
                                                     null_if_empty(s->client),
                                                     null_if_empty(s->request)},
                                              .action = "access.refused",
                                              .name = null_if_empty(s->name),
                                              .result = s->forbidden ? "forbidden" : "unauthorized",
                                              .count = s->count,
                                              .detail = s->call};
        store_audit(tx, &entry);
    }
    if (b->others > 0) {
        const struct store_audit_new entry = {.action = "access.refused",
                                              .result = "refused",
                                              .count = b->others,
                                              .detail = "calls of further clients and routes"};
        store_audit(tx, &entry);
    }
}

/* Takes what is due out of the slots. */
static struct batch take(struct store_refusals *r, bool all) {
    struct batch b = {.slots = r->batch};
    pthread_mutex_lock(&r->mutex);
    const bool over = r->end_ns != 0 && (all || clock_monotonic_ns() >= r->end_ns);
    for (size_t i = 0; i < r->n; i++) {
        struct store_refusal_slot *s = &r->slots[i];
        if (s->count > 0 && (s->fresh || over)) {
            r->batch[b.n++] = *s;
            s->fresh = false;
            s->count = 0;
        }
    }
    if (over) {
        b.others = r->others;
        r->others = r->end_ns = 0;
        r->n = r->n_known = 0;
    }
    pthread_mutex_unlock(&r->mutex);
    return b;
}

/* Keeps the number of refusals whose entries could not be written. */
static void put_back(struct store_refusals *r, const struct batch *b) {
    pthread_mutex_lock(&r->mutex);
    if (r->end_ns == 0) {
        r->end_ns = clock_monotonic_ns() + (int64_t)REFUSALS_SECONDS * 1000000000;
    }
    r->others += b->others;
    for (size_t i = 0; i < b->n; i++) {
        r->others += b->slots[i].count;
    }
    pthread_mutex_unlock(&r->mutex);
}

void store_refusals_write(struct store *store, bool all) {
    struct problem problem = {0};
    struct batch b = take(&store->refusals, all);
    if ((b.n > 0 || b.others > 0) && !store_writer_transact(store, add, &b, false, &problem)) {
        put_back(&store->refusals, &b);
    }
    problem_done(&problem);
}
