/* The number of connections or calls of each client: a chained hash table of fixed size. */
#include "http/net/address.h"
#include <stdlib.h>
#include <string.h>

struct address_count {
    struct address client; /* whose connections or calls are counted */
    int64_t n;             /* at least 1 while in a chain */
    uint32_t next;         /* index + 1 of the next in the chain or free list; 0: none */
};

bool address_counts_init(struct address_counts *c, size_t capacity) {
    memset(c, 0, sizeof *c);
    if (capacity == 0 || capacity > UINT32_MAX / 2) {
        return false;
    }
    size_t n_buckets = 16;
    while (n_buckets < capacity) {
        n_buckets *= 2;
    }
    c->nodes = calloc(capacity, sizeof *c->nodes);
    c->buckets = calloc(n_buckets, sizeof *c->buckets);
    if (c->nodes == NULL || c->buckets == NULL || pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c->nodes);
        free(c->buckets);
        memset(c, 0, sizeof *c);
        return false;
    }
    c->capacity = capacity;
    c->n_buckets = n_buckets;
    for (size_t i = capacity; i-- > 0;) {
        c->nodes[i].next = c->unused;
        c->unused = (uint32_t)(i + 1);
    }
    return true;
}

void address_counts_done(struct address_counts *c) {
    if (c->nodes == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&c->lock);
    free(c->nodes);
    free(c->buckets);
    memset(c, 0, sizeof *c);
}

static uint32_t *bucket_of(struct address_counts *c, const struct address *a) {
    uint64_t h = 1469598103934665603u ^ a->family; /* FNV-1a */
    for (size_t i = 0; i < sizeof a->bytes; i++) {
        h = (h ^ a->bytes[i]) * 1099511628211u;
    }
    return &c->buckets[(h ^ (h >> 32)) & (c->n_buckets - 1)];
}

bool address_counts_enter(struct address_counts *c, const struct address *a, int64_t limit) {
    const struct address client = address_of_client(a);
    bool entered = false;
    (void)pthread_mutex_lock(&c->lock);
    uint32_t *bucket = bucket_of(c, &client);
    uint32_t i = *bucket;
    while (i != 0 && !address_equal(&c->nodes[i - 1].client, &client)) {
        i = c->nodes[i - 1].next;
    }
    if (i != 0) {
        entered = c->nodes[i - 1].n < limit;
        c->nodes[i - 1].n += entered ? 1 : 0;
    } else if (c->unused != 0 && limit > 0) {
        i = c->unused;
        struct address_count *node = &c->nodes[i - 1];
        c->unused = node->next;
        *node = (struct address_count){.client = client, .n = 1, .next = *bucket};
        *bucket = i;
        entered = true;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return entered;
}

void address_counts_leave(struct address_counts *c, const struct address *a) {
    const struct address client = address_of_client(a);
    (void)pthread_mutex_lock(&c->lock);
    for (uint32_t *link = bucket_of(c, &client); *link != 0; link = &c->nodes[*link - 1].next) {
        struct address_count *node = &c->nodes[*link - 1];
        if (!address_equal(&node->client, &client)) {
            continue;
        }
        if (--node->n == 0) {
            uint32_t i = *link;
            *link = node->next;
            node->next = c->unused;
            c->unused = i;
        }
        break;
    }
    (void)pthread_mutex_unlock(&c->lock);
}
