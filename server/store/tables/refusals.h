/* Refused calls on their way to the audit. A flood of them must not fill the disk: in each window
 * of 10 minutes at most REFUSALS_SLOTS kinds of refusals have entries, the first at once, all
 * further ones of the window as one entry with their number at its end. The rest of the window is
 * one entry. */
#ifndef STORE_REFUSALS_H
#define STORE_REFUSALS_H

#include "store/store.h"
#include <pthread.h>

/* Half of the slots are for calls with a known token, half for those without. */
enum { REFUSALS_SLOTS = 32, REFUSALS_SECONDS = 600 };

/* The refusals of one kind that have no entry yet. */
struct store_refusal_slot {
    char token[IDS_NAME_SIZE], client[64], request[130], name[IDS_NAME_SIZE], call[160];
    bool forbidden;
    bool fresh;    /* no refusal of this kind has an entry */
    int64_t count; /* number of refusals without an entry */
};

struct store_refusals {
    pthread_mutex_t mutex; /* guards the members below; a leaf */
    struct store_refusal_slot slots[REFUSALS_SLOTS];
    size_t n, n_known; /* slots in use; of these with a known token */
    int64_t others;    /* refusals beyond the slots, without an entry */
    int64_t end_ns;    /* end of the window; 0: there was no refusal */
    /* copies for the transaction; writer thread only */
    struct store_refusal_slot batch[REFUSALS_SLOTS];
};

void store_refusals_init(struct store_refusals *r);
void store_refusals_done(struct store_refusals *r);
/* On the writer thread, or after it has ended: adds the entries that are due. all: those at the end
 * of the window too. */
void store_refusals_write(struct store *store, bool all);

#endif
