/* Counts of texts in a hash table with open addressing. */
#include "formats/summary/tally.h"
#include "base/memory/array.h"

#include <stdlib.h>
#include <string.h>

void tally_done(struct tally *t) {
    free(t->entry);
    free(t->slot);
    free(t->bytes);
    *t = (struct tally){0};
}

size_t tally_memory(const struct tally *t) {
    return t->capacity * sizeof *t->entry + t->n_slots * sizeof *t->slot + t->bytes_capacity;
}

static bool tally_grow(struct tally *t) {
    size_t capacity = t->capacity;
    uint32_t *slot = array_grow(&t->entry, &capacity, 16, sizeof *t->entry)
                         ? calloc(2 * capacity, sizeof *slot)
                         : NULL;
    if (slot == NULL) {
        return false;
    }
    if (t->n_slots == 0) {
        hash_key_make(&t->key);
    }
    free(t->slot);
    t->slot = slot;
    t->n_slots = 2 * capacity;
    t->capacity = capacity;
    for (size_t i = 0; i < t->n; i++) {
        size_t at = t->entry[i].hash & (t->n_slots - 1);
        while (slot[at] != 0) {
            at = (at + 1) & (t->n_slots - 1);
        }
        slot[at] = (uint32_t)(i + 1);
    }
    return true;
}

bool tally_reserve(struct tally *t, size_t capacity) {
    while (t->capacity < capacity) {
        if (!tally_grow(t)) {
            return false;
        }
    }
    return true;
}

static bool tally_keep(struct tally *t, const char *bytes, size_t n) {
    while (n > t->bytes_capacity - t->size) {
        if (!array_grow(&t->bytes, &t->bytes_capacity, 64, 1)) {
            return false;
        }
    }
    memcpy(t->bytes + t->size, bytes, n);
    t->size += n;
    return true;
}

enum tally_status tally_add(struct tally *t, const char *bytes, size_t n, int64_t count) {
    if (t->n == t->capacity && !tally_grow(t)) {
        return TALLY_NO_MEMORY;
    }
    const uint64_t hash = hash_keyed(&t->key, bytes, n);
    size_t at = hash & (t->n_slots - 1);
    for (; t->slot[at] != 0; at = (at + 1) & (t->n_slots - 1)) {
        struct tally_entry *e = &t->entry[t->slot[at] - 1];
        if (e->hash == hash && e->length == n &&
            (n == 0 || memcmp(t->bytes + e->start, bytes, n) == 0)) {
            e->count += count;
            return TALLY_WELL;
        }
    }
    if (t->n == TALLY_MAX) {
        return TALLY_FULL;
    }
    const size_t start = t->size;
    if (n > 0 && !tally_keep(t, bytes, n)) {
        return TALLY_NO_MEMORY;
    }
    t->entry[t->n++] =
        (struct tally_entry){.hash = hash, .count = count, .start = start, .length = n};
    t->slot[at] = (uint32_t)t->n;
    return TALLY_WELL;
}

/* Whether a precedes b in the order of tally_top. */
static bool before(const struct tally *t, const struct tally_entry *a,
                   const struct tally_entry *b) {
    if (a->count != b->count) {
        return a->count > b->count;
    }
    const size_t n = a->length < b->length ? a->length : b->length;
    const int order = n > 0 ? memcmp(t->bytes + a->start, t->bytes + b->start, n) : 0;
    return order != 0 ? order < 0 : a->length < b->length;
}

size_t tally_top(const struct tally *t, struct tally_entry *out, size_t k) {
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t at = n;
        while (at > 0 && before(t, &t->entry[i], &out[at - 1])) {
            at--;
        }
        if (at == k) {
            continue;
        }
        n += n < k;
        memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof *out);
        out[at] = t->entry[i];
    }
    return n;
}
