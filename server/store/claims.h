/* Names of datasets that rows are being appended to: store_dataset_claim. */
#ifndef STORE_CLAIMS_H
#define STORE_CLAIMS_H

#include "store/store.h"
#include <pthread.h>

struct store_claims {
    pthread_mutex_t mutex;                  /* guards the names */
    char name[STORE_CLAIMS][IDS_NAME_SIZE]; /* "": free */
};
void store_claims_init(struct store_claims *claims);
void store_claims_done(struct store_claims *claims);

#endif
