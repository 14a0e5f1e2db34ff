/* Distinct texts and numbers by open addressing, up to a limit. */
#include "wire/tally.h"
#include "base/ids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------------------------------------------------------------------- */
void tally_done(struct tally *t) {
    free(t->entry);
    free(t->slot);
    free(t->bytes);
    *t = (struct tally){0};
}

void tally_drop(struct tally *t) {
    tally_done(t);
    t->over = true;
}

size_t tally_memory(const struct tally *t) {
    return t->capacity * sizeof *t->entry + t->n_slots * sizeof *t->slot + t->bytes_capacity;
}

static bool tally_grow(struct tally *t) {
    const size_t capacity = t->capacity > 0 ? 2 * t->capacity : 16;
    struct tally_entry *entry = realloc(t->entry, capacity * sizeof *entry);
    if (entry == NULL) {
        return false;
    }
    t->entry = entry;
    uint32_t *slot = calloc(2 * capacity, sizeof *slot);
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

static bool tally_keep(struct tally *t, const char *bytes, size_t n) {
    if (n > t->bytes_capacity - t->size) {
        size_t capacity = t->bytes_capacity > 0 ? t->bytes_capacity : 64;
        while (n > capacity - t->size) {
            capacity *= 2;
        }
        char *grown = realloc(t->bytes, capacity);
        if (grown == NULL) {
            return false;
        }
        t->bytes = grown;
        t->bytes_capacity = capacity;
    }
    memcpy(t->bytes + t->size, bytes, n);
    t->size += n;
    return true;
}

bool tally_add(struct tally *t, const char *bytes, size_t n, int64_t count) {
    if (t->over) {
        return true;
    }
    if (t->n == t->capacity && !tally_grow(t)) {
        return false;
    }
    const uint64_t hash = hash_keyed(&t->key, bytes, n);
    size_t at = hash & (t->n_slots - 1);
    for (; t->slot[at] != 0; at = (at + 1) & (t->n_slots - 1)) {
        struct tally_entry *e = &t->entry[t->slot[at] - 1];
        if (e->hash == hash && e->length == n && memcmp(t->bytes + e->start, bytes, n) == 0) {
            e->count += count;
            return true;
        }
    }
    if (t->n == TALLY_MAX) {
        tally_drop(t);
        t->many = true;
        return true;
    }
    const size_t start = t->size;
    if (n > 0 && !tally_keep(t, bytes, n)) {
        return false;
    }
    t->entry[t->n++] = (struct tally_entry){.hash = hash, .count = count, .start = start, .length = n};
    t->slot[at] = (uint32_t)t->n;
    return true;
}

/* Whether a goes before b. */
static bool before(const struct tally *t, const struct tally_entry *a, const struct tally_entry *b) {
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

/* ---- numbers ------------------------------------------------------------------------------------------------------------------------ */
void number_set_done(struct number_set *s) {
    free(s->slot);
    *s = (struct number_set){0};
}

void number_set_drop(struct number_set *s) {
    number_set_done(s);
    s->over = true;
}

size_t number_set_memory(const struct number_set *s) {
    return s->n_slots * sizeof *s->slot;
}

/* Multiply and shift, the highest bits: any two numbers, whoever chose them, collide under few factors (Dietzfelbinger and others, 1997). */
static size_t place(double x, uint64_t factor, unsigned shift) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return (size_t)(((bits ^ bits >> 32) * factor) >> shift);
}

static bool number_set_grow(struct number_set *s) {
    const size_t n_slots = s->n_slots > 0 ? 2 * s->n_slots : 16;
    double *slot = malloc(n_slots * sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    const uint64_t factor = s->n_slots > 0 ? s->factor : ids_random() | 1;
    const unsigned shift = s->n_slots > 0 ? s->shift - 1 : 60;
    for (size_t i = 0; i < n_slots; i++) {
        slot[i] = (double)NAN;
    }
    for (size_t i = 0; i < s->n_slots; i++) {
        if (!isnan(s->slot[i])) {
            size_t at = place(s->slot[i], factor, shift);
            while (!isnan(slot[at])) {
                at = (at + 1) & (n_slots - 1);
            }
            slot[at] = s->slot[i];
        }
    }
    free(s->slot);
    s->slot = slot;
    s->n_slots = n_slots;
    s->factor = factor;
    s->shift = shift;
    return true;
}

bool number_set_add(struct number_set *s, double x) {
    if (s->over) {
        return true;
    }
    if (3 * s->n >= 2 * s->n_slots && !number_set_grow(s)) {
        return false;
    }
    size_t at = place(x, s->factor, s->shift);
    while (!isnan(s->slot[at])) {
        if (s->slot[at] == x) {
            return true;
        }
        at = (at + 1) & (s->n_slots - 1);
    }
    if (s->n + s->n_small >= TALLY_MAX) {
        number_set_drop(s);
        s->many = true;
        return true;
    }
    s->slot[at] = x;
    s->n++;
    return true;
}
