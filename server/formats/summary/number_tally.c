/* Numbers and their counts: small integers in an array, the others in a hash table with open
 * addressing. */
#include "formats/summary/number_tally.h"
#include "base/ids.h"
#include "formats/summary/number_ranks.h"
#include "formats/summary/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void number_tally_done(struct number_tally *t) {
    free(t->small);
    free(t->slot);
    *t = (struct number_tally){0};
}

size_t number_tally_memory(const struct number_tally *t) {
    return t->n_small * sizeof *t->small + t->n_slots * sizeof *t->slot;
}

bool number_tally_reach(struct number_tally *t, unsigned v) {
    size_t n = t->n_small > 0 ? t->n_small : 16;
    while (n <= v) {
        n *= 4;
    }
    if (n == t->n_small) {
        return true;
    }
    uint32_t *small = realloc(t->small, n * sizeof *small);
    if (small == NULL) {
        return false;
    }
    memset(small + t->n_small, 0, (n - t->n_small) * sizeof *small);
    t->small = small;
    t->n_small = n;
    return true;
}

/* Returns the slot of a number: multiplicative hashing with a random odd factor. Two numbers
 * collide with a probability of at most 2/n_slots (Dietzfelbinger and others, 1997). */
static size_t place(double x, uint64_t factor, unsigned shift) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return (size_t)(((bits ^ bits >> 32) * factor) >> shift);
}

static bool grow(struct number_tally *t) {
    const size_t n_slots = t->n_slots > 0 ? 2 * t->n_slots : 16;
    struct number_count *slot = calloc(n_slots, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    const uint64_t factor = t->n_slots > 0 ? t->factor : ids_random() | 1;
    const unsigned shift = t->n_slots > 0 ? t->shift - 1 : 60;
    for (size_t i = 0; i < t->n_slots; i++) {
        if (t->slot[i].count > 0) {
            size_t at = place(t->slot[i].value, factor, shift);
            while (slot[at].count > 0) {
                at = (at + 1) & (n_slots - 1);
            }
            slot[at] = t->slot[i];
        }
    }
    free(t->slot);
    t->slot = slot;
    t->n_slots = n_slots;
    t->factor = factor;
    t->shift = shift;
    return true;
}

enum number_tally_status number_tally_add(struct number_tally *t, double x) {
    /* -0 is counted as 0 */
    if (x >= 0 && x < NUMBER_SMALL && (double)(unsigned)x == x) {
        const unsigned v = (unsigned)x;
        if (v >= t->n_small && !number_tally_reach(t, v)) {
            return NUMBER_TALLY_NO_MEMORY;
        }
        t->small[v]++;
        return NUMBER_TALLY_WELL;
    }
    if (3 * t->n >= 2 * t->n_slots && !grow(t)) {
        return NUMBER_TALLY_NO_MEMORY;
    }
    size_t at = place(x, t->factor, t->shift);
    for (; t->slot[at].count > 0; at = (at + 1) & (t->n_slots - 1)) {
        if (t->slot[at].value == x) {
            t->slot[at].count++;
            return NUMBER_TALLY_WELL;
        }
    }
    if (t->n >= TALLY_MAX) {
        return NUMBER_TALLY_FULL;
    }
    t->slot[at] = (struct number_count){x, 1};
    t->n++;
    return NUMBER_TALLY_WELL;
}

enum number_tally_status number_tally_set(struct number_tally *t, double x, int64_t count) {
    const enum number_tally_status status = number_tally_add(t, x);
    if (status != NUMBER_TALLY_WELL) {
        return status;
    }
    if (x >= 0 && x < NUMBER_SMALL && (double)(unsigned)x == x) {
        t->small[(unsigned)x] = (uint32_t)count;
        return NUMBER_TALLY_WELL;
    }
    size_t at = place(x, t->factor, t->shift);
    while (t->slot[at].value != x) {
        at = (at + 1) & (t->n_slots - 1);
    }
    t->slot[at].count = count;
    return NUMBER_TALLY_WELL;
}

bool number_tally_reserve(struct number_tally *t, size_t n_slots) {
    while (t->n_slots < n_slots) {
        if (!grow(t)) {
            return false;
        }
    }
    return true;
}

size_t number_tally_distinct(const struct number_tally *t) {
    size_t n = t->n;
    for (size_t v = 0; v < t->n_small; v++) {
        n += t->small[v] > 0;
    }
    return n;
}

bool number_tally_has_fractions(const struct number_tally *t) {
    for (size_t at = 0; at < t->n_slots; at++) {
        if (t->slot[at].count > 0 && t->slot[at].value != floor(t->slot[at].value)) {
            return true;
        }
    }
    return false;
}

static int64_t count_of(const struct number_tally *t, double x) {
    size_t at = place(x, t->factor, t->shift);
    while (t->slot[at].value != x) {
        at = (at + 1) & (t->n_slots - 1);
    }
    return t->slot[at].count;
}

/* Sorts the numbers without their counts, which is faster, and then looks up the counts. */
struct number_count *number_tally_list(const struct number_tally *t, size_t *n) {
    const size_t distinct = number_tally_distinct(t);
    double *x = malloc((t->n + 1) * sizeof *x);
    struct number_count *list = x != NULL ? malloc((distinct + 1) * sizeof *list) : NULL;
    if (list == NULL) {
        free(x);
        return NULL;
    }
    size_t others = 0, k = 0, i = 0;
    for (size_t at = 0; at < t->n_slots; at++) {
        if (t->slot[at].count > 0) {
            x[others++] = t->slot[at].value;
        }
    }
    number_ranks_sort(x, others);
    for (size_t v = 0; v < t->n_small; v++) {
        if (t->small[v] > 0) {
            for (; i < others && x[i] < (double)v; i++) {
                list[k++] = (struct number_count){x[i], count_of(t, x[i])};
            }
            list[k++] = (struct number_count){(double)v, t->small[v]};
        }
    }
    for (; i < others; i++) {
        list[k++] = (struct number_count){x[i], count_of(t, x[i])};
    }
    free(x);
    *n = k;
    return list;
}
