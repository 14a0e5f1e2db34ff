/* Chooses words in one pass over the tally, with a list of up to twice as many candidates as
 * wanted. When the list is full, the better half is kept, and the worst word of this half becomes
 * the threshold for the following words. Choosing few of many words therefore costs little more
 * than the pass. The chosen words are sorted by bytes. All steps poll the run's stop function. */
#include "text/vocabulary_choice.h"

#include "base/run_memory.h"
#include <string.h>

#define STEPS_A_POLL ((size_t)1 << 16)
#define SORTED_BY_INSERTION 16

struct choice {
    const dn_run *run;
    dni_candidate *list; /* [capacity] */
    size_t n, capacity;
    size_t most;     /* number of words wanted: capacity / 2 */
    bool is_full;    /* list[most - 1] is the threshold for new candidates */
    uint64_t random; /* state of the generator of pivots; the chosen words do not depend on it */
    size_t steps;    /* number of steps since the stop function was polled */
};

static dn_status poll(struct choice *c, size_t steps, dn_error *err) {
    c->steps += steps;
    if (c->steps < STEPS_A_POLL) {
        return DN_OK;
    }
    c->steps = 0;
    return dn_run_stop(c->run, err);
}

/* ---- orders ---- */
static uint64_t prefix_of(const dni_tally_word *word) {
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++) {
        prefix = prefix << 8 | (i < word->length ? (unsigned char)word->text[i] : 0);
    }
    return prefix;
}

/* Returns true if word a precedes word b in byte order. All words are different. */
static bool is_before(const dni_candidate *a, const dni_candidate *b) {
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix;
    }
    const size_t n = a->word->length < b->word->length ? a->word->length : b->word->length;
    const int order = memcmp(a->word->text, b->word->text, n);
    return order < 0 || (order == 0 && a->word->length < b->word->length);
}

static bool is_better(const dni_candidate *a, const dni_candidate *b) {
    return a->units != b->units ? a->units > b->units : is_before(a, b);
}

static void swap(dni_candidate *a, dni_candidate *b) {
    const dni_candidate kept = *a;
    *a = *b;
    *b = kept;
}

/* ---- the better half ---- */
/* Partitions list[first … end - 1] by a random pivot: better candidates come before the pivot, the
 * others after it. *out ← the position of the pivot. */
static dn_status partition(struct choice *c, size_t first, size_t end, size_t *out, dn_error *err) {
    dni_candidate *list = c->list;
    size_t behind = first;
    c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    swap(&list[first + (size_t)(c->random >> 32) % (end - first)], &list[end - 1]);
    const dni_candidate pivot = list[end - 1];
    for (size_t i = first; i < end - 1; i++) {
        dn_status status = poll(c, 1, err);
        if (status != DN_OK) {
            return status;
        }
        if (is_better(&list[i], &pivot)) {
            swap(&list[i], &list[behind++]);
        }
    }
    swap(&list[behind], &list[end - 1]);
    *out = behind;
    return DN_OK;
}

/* Keeps the `most` best candidates; the worst of these becomes the last (Hoare's FIND). Random
 * pivots prevent that a text causes quadratic time. */
static dn_status keep_best(struct choice *c, dn_error *err) {
    const size_t wanted = c->most - 1;
    size_t first = 0, end = c->n;
    while (end - first > 1) {
        size_t at = 0;
        dn_status status = partition(c, first, end, &at, err);
        if (status != DN_OK) {
            return status;
        }
        if (at == wanted) {
            break;
        }
        first = at < wanted ? at + 1 : first;
        end = at < wanted ? end : at;
    }
    c->n = c->most;
    c->is_full = true;
    return DN_OK;
}

static dn_status consider(struct choice *c, const dni_tally_word *word, dn_error *err) {
    const dni_candidate *threshold = c->is_full ? &c->list[c->most - 1] : NULL;
    if (threshold != NULL && word->units < threshold->units) {
        return DN_OK;
    }
    const dni_candidate candidate = {.units = word->units, .prefix = prefix_of(word), .word = word};
    if (threshold != NULL && !is_better(&candidate, threshold)) {
        return DN_OK;
    }
    if (c->n == c->capacity) {
        dn_status status = keep_best(c, err);
        if (status != DN_OK) {
            return status;
        }
    }
    c->list[c->n++] = candidate;
    return DN_OK;
}

/* ---- byte order ---- */
static void sort_few(dni_candidate *list, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const dni_candidate x = list[i];
        size_t j = i;
        for (; j > 0 && is_before(&x, &list[j - 1]); j--) {
            list[j] = list[j - 1];
        }
        list[j] = x;
    }
}

/* Merges the sorted ranges [first, middle) and [middle, end) of `from` into `to`. */
static dn_status merge(struct choice *c, const dni_candidate *from, dni_candidate *to, size_t first,
                       size_t middle, size_t end, dn_error *err) {
    size_t left = first, right = middle;
    for (size_t i = first; i < end; i++) {
        dn_status status = poll(c, 1, err);
        if (status != DN_OK) {
            return status;
        }
        const bool take_right =
            right < end && (left == middle || is_before(&from[right], &from[left]));
        to[i] = from[take_right ? right++ : left++];
    }
    return DN_OK;
}

/* Sorts the list by merging; the free half of the array after the list is the second array. */
static dn_status sort(struct choice *c, dn_error *err) {
    const size_t n = c->n;
    dni_candidate *from = c->list, *to = c->list + n;
    for (size_t i = 0; i < n; i += SORTED_BY_INSERTION) {
        dn_status status = poll(c, SORTED_BY_INSERTION, err);
        if (status != DN_OK) {
            return status;
        }
        sort_few(from + i, n - i < SORTED_BY_INSERTION ? n - i : SORTED_BY_INSERTION);
    }
    for (size_t width = SORTED_BY_INSERTION; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            const size_t middle = n - i < width ? n : i + width,
                         end = n - i < 2 * width ? n : i + 2 * width;
            dn_status status = merge(c, from, to, i, middle, end, err);
            if (status != DN_OK) {
                return status;
            }
        }
        dni_candidate *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != c->list) {
        memcpy(c->list, from, n * sizeof *from);
    }
    return DN_OK;
}

static dn_status choose(struct choice *c, const dni_tally *tally, size_t min_rows, dn_error *err) {
    const uint32_t least = min_rows < UINT32_MAX ? (uint32_t)min_rows : UINT32_MAX;
    dni_tally_walk walk = {.tally = tally};
    for (const dni_tally_word *word; (word = dni_tally_next(&walk)) != NULL;) {
        dn_status status = poll(c, 1, err);
        if (status == DN_OK && word->rows >= least) {
            status = consider(c, word, err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    dn_status status = c->n > c->most ? keep_best(c, err) : DN_OK;
    return status == DN_OK ? sort(c, err) : status;
}

dn_status dni_vocabulary_choose(const dni_tally *tally, size_t most, size_t min_rows,
                                dni_candidate **out, size_t *out_n, dn_error *err) {
    void *memory = NULL;
    struct choice c = {.run = tally->run,
                       .most = most < tally->n ? most : tally->n,
                       .random = tally->seed};
    c.capacity = 2 * c.most;
    dn_status status = dni_run_alloc_raw(c.run, c.capacity, sizeof *c.list, "", &memory, NULL);
    if (status != DN_OK) {
        return status;
    }
    c.list = memory;
    status = choose(&c, tally, min_rows, err);
    if (status != DN_OK) {
        dn_run_free(c.run, memory);
        return status;
    }
    *out = c.list;
    *out_n = c.n;
    return DN_OK;
}
