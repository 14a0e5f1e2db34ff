/* A sample with one number of each group of consecutive numbers. */
#include "formats/summary/number_sample.h"
#include "formats/summary/distinct_sketch.h"
#include "formats/summary/number_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct number_sample *number_sample_new(size_t capacity) {
    struct number_sample *s = malloc(NUMBER_SAMPLE_MEMORY(capacity));
    if (s != NULL) {
        *s = (struct number_sample){.capacity = capacity};
    }
    return s;
}

void number_sample_free(struct number_sample *s) {
    free(s);
}

size_t number_sample_memory(const struct number_sample *s) {
    return s != NULL ? NUMBER_SAMPLE_MEMORY(s->capacity) : 0;
}

int64_t number_sample_n(const struct number_sample *s) {
    return ((int64_t)s->n_kept << s->height) + s->n_open;
}

static uint64_t hash_of(const struct number_sample *s, size_t group) {
    return distinct_mix(((uint64_t)s->height << 48) + group + UINT64_C(0x9e3779b97f4a7c15));
}

/* Keeps one number of each pair of groups. */
static void halve(struct number_sample *s) {
    s->height++;
    s->n_kept /= 2;
    for (size_t i = 0; i < s->n_kept; i++) {
        s->kept[i] = s->kept[2 * i + (hash_of(s, i) >> 63)];
    }
}

/* Ends the complete group, of which the picked number is kept, and begins the next group. */
static void close_group(struct number_sample *s) {
    s->kept[s->n_kept++] = s->picked;
    s->n_open = 0;
    if (s->n_kept == s->capacity) {
        halve(s);
    }
    s->pick = (int64_t)(hash_of(s, s->n_kept) & ((UINT64_C(1) << s->height) - 1));
}

/* Adds the n numbers x[0], x[step], x[2·step], … */
static void add(struct number_sample *s, const double *x, size_t step, int64_t n) {
    while (n > 0) {
        const int64_t left = (INT64_C(1) << s->height) - s->n_open, take = n < left ? n : left;
        if (s->pick >= s->n_open && s->pick < s->n_open + take) {
            s->picked = x[(size_t)(s->pick - s->n_open) * step];
        }
        s->last = x[(size_t)(take - 1) * step];
        s->n_open += take;
        x += (size_t)take * step;
        n -= take;
        if (take == left) {
            close_group(s);
        }
    }
}

void number_sample_add(struct number_sample *s, const double *x, size_t n) {
    add(s, x, 1, (int64_t)n);
}

void number_sample_add_times(struct number_sample *s, double x, int64_t times) {
    add(s, &x, 0, times);
}

struct number_count *number_sample_list(const struct number_sample *s, size_t *n) {
    const size_t size = s->n_kept + 1; /* plus 1 for the incomplete group */
    double *sorted = malloc(size * sizeof *sorted);
    struct number_count *list = malloc(size * sizeof *list);
    if (sorted == NULL || list == NULL) {
        free(sorted);
        free(list);
        return NULL;
    }
    memcpy(sorted, s->kept, s->n_kept * sizeof *sorted);
    number_ranks_sort(sorted, s->n_kept);
    const double open = s->pick < s->n_open ? s->picked : s->last;
    bool listed = s->n_open == 0;
    size_t k = 0;
    for (size_t i = 0; i <= s->n_kept; i++) {
        if (!listed && (i == s->n_kept || sorted[i] >= open)) {
            list[k++] = (struct number_count){open, s->n_open};
            listed = true;
        }
        if (i < s->n_kept) {
            list[k++] = (struct number_count){sorted[i], INT64_C(1) << s->height};
        }
    }
    free(sorted);
    *n = k;
    return list;
}

double number_sample_error(const struct number_sample *s) {
    if (s->height == 0) {
        return 0;
    }
    /* Hoeffding: P(one of 27 ranks has an error above t) <= 2·27·exp(-2·t²/Σ size²) = 1e-6,
     * solved for t. The numbers of the incomplete group are added to t. */
    const double size = ldexp(1, (int)s->height), squares = (double)s->n_kept * size * size,
                 chance = sqrt(log(2 * 27 / 1e-6) * squares / 2),
                 error = (chance + (double)s->n_open) / (double)number_sample_n(s);
    return error < 1 ? error : 1;
}
