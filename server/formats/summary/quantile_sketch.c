/* Ranks of many numbers in little memory. */
#include "formats/summary/quantile_sketch.h"
#include "formats/summary/distinct_sketch.h"
#include "formats/summary/number_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct quantile_sketch *quantile_sketch_new(size_t k) {
    struct quantile_sketch *s = malloc(QUANTILE_MEMORY(k));
    if (s != NULL) {
        *s = (struct quantile_sketch){.k = k};
    }
    return s;
}

void quantile_sketch_free(struct quantile_sketch *s) {
    free(s);
}

size_t quantile_sketch_memory(const struct quantile_sketch *s) {
    return s != NULL ? QUANTILE_MEMORY(s->k) : 0;
}

/* ---- levels ---- */
static double *level(struct quantile_sketch *s, unsigned h, size_t **n) {
    *n = &s->n_items[h % QUANTILE_LEVELS];
    return s->item + h % QUANTILE_LEVELS * s->k;
}

/* Every other number of a level goes up; one of an odd number of them stays, the largest. */
static void go_up(struct quantile_sketch *s, unsigned h) {
    double room[QUANTILE_MAX_K];
    size_t *n = NULL, *n_above = NULL;
    double *x = level(s, h, &n), *above = level(s, h + 1, &n_above);
    if (*n_above + *n / 2 > s->k) {
        go_up(s, h + 1);
    }
    number_sort(x, *n, room);
    bool *odd = &s->odd[h % QUANTILE_LEVELS];
    for (size_t i = *odd; i + !*odd < *n; i += 2) {
        above[(*n_above)++] = x[i];
    }
    s->moved += *odd ? 0 : ldexp(1, (int)h);
    *odd = !*odd;
    if (*n % 2 == 1) {
        x[0] = x[*n - 1];
    }
    *n %= 2;
}

static void push(struct quantile_sketch *s, unsigned h, double x) {
    size_t *n = NULL;
    double *items = level(s, h, &n);
    if (*n == s->k) {
        go_up(s, h);
    }
    items[(*n)++] = x;
}

/* ---- groups ---- */
static int64_t pick_of(const struct quantile_sketch *s) {
    return (int64_t)(distinct_mix((uint64_t)s->n + UINT64_C(0x9e3779b97f4a7c15)) &
                     ((UINT64_C(1) << s->height) - 1));
}

static bool is_due(const struct quantile_sketch *s) {
    return s->n >> s->height >= QUANTILE_DUE * (int64_t)s->k;
}

/* The lowest level gives way. What stays of it is the first half of a group of twice the size. */
static void rise(struct quantile_sketch *s) {
    size_t *n = NULL;
    const unsigned old = s->height;
    double *items = level(s, old, &n);
    if (*n >= 2) {
        go_up(s, old);
    }
    s->height = old + 1;
    s->group = 0;
    s->pick = pick_of(s);
    if (*n == 1) {
        s->group = INT64_C(1) << old;
        s->picked = items[0];
        /* no number to come is it: they are counted from the group's first */
        s->pick = s->pick < s->group ? -1 : s->pick;
    }
    *n = 0;
    s->odd[old % QUANTILE_LEVELS] = false;
}

/* A group is complete. */
static void close_group(struct quantile_sketch *s) {
    const double size = (double)(INT64_C(1) << s->height); /* ldexp takes longer */
    s->squares += size * size;
    push(s, s->height, s->picked);
    s->group = 0;
    if (is_due(s)) {
        rise(s);
    } else {
        s->pick = pick_of(s);
    }
}

/* Every number counts for itself. Returns how many were taken. */
static size_t add_all(struct quantile_sketch *s, const double *x, size_t n) {
    size_t *held = NULL;
    double *items = level(s, 0, &held);
    if (*held == s->k) {
        go_up(s, 0);
    }
    const size_t room = s->k - *held, due = QUANTILE_DUE * s->k - (size_t)s->n;
    size_t take = n < room ? n : room;
    take = take < due ? take : due;
    memcpy(items + *held, x, take * sizeof *x);
    *held += take;
    s->n += (int64_t)take;
    if (is_due(s)) {
        rise(s);
    }
    return take;
}

static size_t add_to_group(struct quantile_sketch *s, const double *x, size_t n) {
    const int64_t left = (INT64_C(1) << s->height) - s->group;
    const size_t take = n < (uint64_t)left ? n : (size_t)left;
    if (s->pick >= s->group && s->pick < s->group + (int64_t)take) {
        s->picked = x[s->pick - s->group];
    }
    s->group += (int64_t)take;
    s->n += (int64_t)take;
    if (s->group == INT64_C(1) << s->height) {
        close_group(s);
    }
    return take;
}

void quantile_sketch_add(struct quantile_sketch *s, const double *x, size_t n) {
    if (n > 0) {
        s->last = x[n - 1];
    }
    for (size_t i = 0; i < n;) {
        i += s->height == 0 ? add_all(s, x + i, n - i) : add_to_group(s, x + i, n - i);
    }
}

/* The numbers stand in order, so every 2^h-th of them, h so that at most k/2 come to a level, moves
 * no rank by more than 2^h; what is left over at the end goes by its bits to the levels below, and
 * what is less than 2^H into a group. */
void quantile_sketch_begin(struct quantile_sketch *s, const struct number_count *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        s->n += list[i].count;
    }
    while (is_due(s)) {
        s->height++;
    }
    unsigned h = s->height;
    while (s->n >> h > (int64_t)s->k / 2) {
        h++;
    }
    int64_t before = 0, rank = INT64_C(1) << h >> 1, upto = s->n >> h << h;
    for (size_t i = 0; i < n; i++) {
        for (; rank < upto && rank < before + list[i].count; rank += INT64_C(1) << h) {
            push(s, h, list[i].value);
        }
        before += list[i].count;
    }
    if (n == 0) {
        return;
    }
    s->last = s->picked = list[n - 1].value;
    for (unsigned bit = h; bit-- > s->height;) {
        if ((s->n >> bit & 1) != 0) {
            push(s, bit, s->last);
        }
    }
    s->moved += ldexp(1, (int)h);
    s->pick = pick_of(s);
    s->group = s->n & ((INT64_C(1) << s->height) - 1);
    s->pick = s->pick < s->group ? -1 : s->pick;
}

/* ---- what it holds ---- */
/* m sorted numbers with the same count into a sorted list of n, which has room for them. */
static void merge_in(struct number_count *list, size_t n, const double *x, size_t m,
                     int64_t count) {
    while (m > 0) {
        const bool listed = n > 0 && list[n - 1].value > x[m - 1];
        list[n + m - 1] = listed ? list[n - 1] : (struct number_count){x[m - 1], count};
        n -= listed;
        m -= !listed;
    }
}

struct number_count *quantile_sketch_list(const struct quantile_sketch *s, size_t *n) {
    double items[QUANTILE_MAX_K], room[QUANTILE_MAX_K];
    size_t held = 0;
    for (size_t i = 0; i < QUANTILE_LEVELS; i++) {
        held += s->n_items[i];
    }
    struct number_count *list = malloc((held + 1) * sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    size_t k = 0;
    for (unsigned h = s->height; h < s->height + QUANTILE_LEVELS; h++) {
        const size_t m = s->n_items[h % QUANTILE_LEVELS];
        memcpy(items, s->item + h % QUANTILE_LEVELS * s->k, m * sizeof *items);
        number_sort(items, m, room);
        merge_in(list, k, items, m, INT64_C(1) << h);
        k += m;
    }
    if (s->group > 0) {
        merge_in(list, k++, s->pick < s->group ? &s->picked : &s->last, 1, s->group);
    }
    *n = k;
    return list;
}

double quantile_sketch_error(const struct quantile_sketch *s) {
    /* 27 ranks are read off: quantiles and the borders of bins. P(any is off by t) <=
     * 2·27·exp(−2·t²/Σ size²) = 1e-6 */
    const double chance = sqrt(log(2 * 27 / 1e-6) * s->squares / 2),
                 moved = s->moved + (double)s->group;
    const double error = s->n > 0 ? (moved + chance) / (double)s->n : 0;
    return error < 1 ? error : 1;
}
