/* One appender a dataset, a few for all. */
#include "store/claims.h"
#include "store/internal.h"

void store_claims_init(struct store_claims *claims) {
    *claims = (struct store_claims){0};
    pthread_mutex_init(&claims->mutex, NULL);
}

void store_claims_done(struct store_claims *claims) {
    pthread_mutex_destroy(&claims->mutex);
}

bool store_dataset_claim(struct store *store, const char *name) {
    struct store_claims *claims = &store->claims;
    size_t place = STORE_CLAIMS;
    bool taken = false;
    pthread_mutex_lock(&claims->mutex);
    for (size_t i = 0; i < STORE_CLAIMS; i++) {
        taken = taken || strcmp(claims->name[i], name) == 0;
        place = claims->name[i][0] == '\0' ? i : place;
    }
    if (!taken && place < STORE_CLAIMS) {
        snprintf(claims->name[place], IDS_NAME_SIZE, "%s", name);
    }
    pthread_mutex_unlock(&claims->mutex);
    return !taken && place < STORE_CLAIMS;
}

void store_dataset_release(struct store *store, const char *name) {
    struct store_claims *claims = &store->claims;
    pthread_mutex_lock(&claims->mutex);
    for (size_t i = 0; i < STORE_CLAIMS; i++) {
        if (strcmp(claims->name[i], name) == 0) {
            claims->name[i][0] = '\0';
        }
    }
    pthread_mutex_unlock(&claims->mutex);
}
