/* Adds numbers to a column's summary, block by block: the digest, the moments, and exact counts or
 * sketches. */
#include "formats/summary/column_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_SMALL = 240,
    TAG_I16 = 241,
    TAG_I32 = 242,
    TAG_F64 = 243,
    /* number of counters for each small integer. Consecutive numbers use different counters, so
     * that no increment has to wait for the previous one */
    LANES = 4,
    STRANDS = 8,
    /* an integer below this has LANES counters, if the chunk has at least so many rows */
    LANED = 256,
    MIN_BLOCK = 16,
    RESTS_BYTES = 2 << 20, /* limit of the bytes of the incomplete blocks of all columns */
    /* limit of the bytes of the samples of all columns, although each sample has at least
     * NUMBER_SAMPLE_MIN numbers */
    SAMPLES_BYTES = 8 << 20
};

/* Counts of small integers that are not added to the tally yet. */
struct lanes {
    uint32_t count[LANES][LANED];
    bool used;
};

/* ---- the digest ---- */
/* Writes a tag and the lowest n bytes of `bits`. `out` must have room for 9 bytes. Returns 1 +
 * n. */
static inline size_t put_bits(unsigned char *out, unsigned char tag, uint64_t bits, size_t n) {
    const unsigned char form[9] = {tag,
                                   (unsigned char)bits,
                                   (unsigned char)(bits >> 8),
                                   (unsigned char)(bits >> 16),
                                   (unsigned char)(bits >> 24),
                                   (unsigned char)(bits >> 32),
                                   (unsigned char)(bits >> 40),
                                   (unsigned char)(bits >> 48),
                                   (unsigned char)(bits >> 56)};
    memcpy(out, form, sizeof form);
    return 1 + n;
}

/* Writes the encoding of an integer that is not in 0 … 239, |x| < 2^52. Returns the number of
 * bytes. */
static size_t put_integer(double x, uint64_t bits, unsigned char *out) {
    const int64_t i = (int64_t)x;
    if (i >= INT16_MIN && i <= INT16_MAX) {
        return put_bits(out, TAG_I16, (uint64_t)i, 2);
    }
    return i >= INT32_MIN && i <= INT32_MAX ? put_bits(out, TAG_I32, (uint64_t)i, 4)
                                            : put_bits(out, TAG_F64, bits, 8);
}

/* 1.5·2^52. x + ROUNDING has an integer x, |x| < 2^51, in its lowest bits; (x + ROUNDING) -
 * ROUNDING rounds x to an integer. */
#define ROUNDING 6755399441055744.0
#define MINUS_ZERO (UINT64_C(1) << 63)

static inline uint64_t bits_of(double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* For integers x[i] in 0 … 1023: v[i] = x[i]; *any |= v[i]. Returns 0 if all x[i] are such
 * integers. */
static inline uint64_t take_small(const double *x, size_t n, uint16_t *v, uint64_t *any) {
    uint64_t wrong = 0, bits = 0;
    for (size_t i = 0; i < n; i++) {
        const double y = x[i] + ROUNDING;
        /* If x[i] is negative, large or NaN, `integer` is above 1023. */
        const uint64_t integer = bits_of(y) - bits_of(ROUNDING);
        wrong |= integer / NUMBER_SMALL | (bits_of(y - ROUNDING) ^ bits_of(x[i]));
        bits |= integer;
        v[i] = (uint16_t)integer;
    }
    *any |= bits;
    return wrong;
}

/* Converts n integers in 0 … 1023 to v. *any: bitwise OR of all. Works on STRANDS numbers at a
 * time without branches, so that compilers vectorize it. Returns false if not all are such
 * integers. */
static bool block_small(const double *x, size_t n, uint16_t *v, unsigned *any) {
    uint64_t wrong = 0, bits = 0;
    size_t i = 0;
    for (; i + STRANDS <= n && wrong == 0; i += STRANDS) {
        wrong = take_small(x + i, STRANDS, v + i, &bits);
    }
    if (wrong == 0) {
        wrong = take_small(x + i, n - i, v + i, &bits);
    }
    *any = (unsigned)bits;
    return wrong == 0;
}

/* Writes the encodings of small integers. Returns the number of bytes. */
static size_t put_small(const uint16_t *v, size_t n, unsigned any, unsigned char *form) {
    size_t size = 0;
    if (any == 0) {
        memset(form, 0, n);
        return n;
    }
    if (any < 128) {
        for (size_t i = 0; i < n; i++) {
            form[i] = (unsigned char)v[i];
        }
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        const bool large = v[i] >= TAG_SMALL;
        const uint32_t bits = large ? TAG_I16 | (uint32_t)v[i] << 8 : v[i];
        const unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8),
                                        (unsigned char)(bits >> 16), 0};
        memcpy(form + size, bytes, sizeof bytes);
        size += large ? 3 : 1;
    }
    return size;
}

/* Writes the encodings of any numbers. Returns the number of bytes. *missing: how many of the
 * numbers are NaN. The branches are predictable, because the numbers of most columns are of one
 * kind. */
static size_t put_any(const double *x, size_t n, unsigned char *form, size_t *missing) {
    size_t size = 0;
    *missing = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = bits_of(x[i]);
        if ((x[i] + ROUNDING) - ROUNDING == x[i] && bits != MINUS_ZERO && fabs(x[i]) < 4e15) {
            if (x[i] >= 0 && x[i] < TAG_SMALL) {
                form[size++] = (unsigned char)x[i];
            } else {
                size += put_integer(x[i], bits, form + size);
            }
        } else if (isnan(x[i])) {
            form[size++] = COLUMN_TAG_MISSING;
            ++*missing;
        } else {
            size += put_bits(form + size, TAG_F64, bits, 8);
        }
    }
    return size;
}

/* ---- moments ---- */
/* Adds `other` to m by the formula of Chan, Golub and LeVeque (1979). */
static void moments_merge(struct moments *m, const struct moments *other) {
    if (m->n == 0) {
        *m = *other;
        return;
    }
    const double before = (double)m->n, count = (double)other->n, total = before + count,
                 delta = other->mean - m->mean;
    m->minimum = other->minimum < m->minimum ? other->minimum : m->minimum;
    m->maximum = other->maximum > m->maximum ? other->maximum : m->maximum;
    m->mean += delta * (count / total);
    m->m2 += other->m2 + delta * delta * (before * count / total);
    m->n += other->n;
}

/* Sums and extremes of small integers: STRANDS independent partial results, for vectorization. */
struct strands {
    uint32_t sum[STRANDS];
    int32_t squares[STRANDS];
    int16_t least[STRANDS], most[STRANDS];
};

static inline void strand_add(struct strands *s, size_t j, uint16_t v) {
    const int16_t x = (int16_t)v;
    s->sum[j] += v;
    s->squares[j] += x * x;
    s->least[j] = x < s->least[j] ? x : s->least[j];
    s->most[j] = x > s->most[j] ? x : s->most[j];
}

/* Adds k <= COLUMN_BLOCK small integers v. Computed with integers: k·Σv² < 2^39. any: bitwise OR
 * of all v. */
static void moments_small(struct moments *m, const uint16_t *v, size_t k, unsigned any) {
    if (any == 0) {
        moments_merge(m, &(struct moments){.n = (int64_t)k});
        return;
    }
    struct strands s = {.least = {0}};
    size_t i = 0;
    for (size_t j = 0; j < STRANDS; j++) {
        s.least[j] = INT16_MAX;
    }
    for (; i + STRANDS <= k; i += STRANDS) {
        for (size_t j = 0; j < STRANDS; j++) {
            strand_add(&s, j, v[i + j]);
        }
    }
    for (; i < k; i++) {
        strand_add(&s, 0, v[i]);
    }
    uint32_t sum = 0, squares = 0;
    int16_t least = INT16_MAX, most = 0;
    for (size_t j = 0; j < STRANDS; j++) {
        sum += s.sum[j];
        squares += (uint32_t)s.squares[j];
        least = s.least[j] < least ? s.least[j] : least;
        most = s.most[j] > most ? s.most[j] : most;
    }
    const uint64_t n = k, spread = n * squares - (uint64_t)sum * sum;
    moments_merge(m, &(struct moments){(int64_t)k, least, most, sum / (double)k,
                                       (double)spread / (double)k});
}

/* If x and y are 0 and -0, lesser and greater return y. fmin and fmax may return either. */
static inline double lesser(double x, double y) {
    return x < y ? x : y;
}

static inline double greater(double x, double y) {
    return x > y ? x : y;
}

/* Adds k <= COLUMN_BLOCK numbers, none of them NaN: computes the mean, then the squared distances
 * from the mean, each as four partial sums in a fixed order. */
static void moments_any(struct moments *m, const double *y, size_t k) {
    double sum[4] = {0}, square[4] = {0}, least[4] = {y[0], y[0], y[0], y[0]},
           most[4] = {y[0], y[0], y[0], y[0]};
    size_t i = 0;
    for (; i + 4 <= k; i += 4) {
        for (size_t j = 0; j < 4; j++) {
            sum[j] += y[i + j];
            least[j] = y[i + j] < least[j] ? y[i + j] : least[j];
            most[j] = y[i + j] > most[j] ? y[i + j] : most[j];
        }
    }
    for (; i < k; i++) {
        sum[0] += y[i];
        least[0] = y[i] < least[0] ? y[i] : least[0];
        most[0] = y[i] > most[0] ? y[i] : most[0];
    }
    const double low = lesser(lesser(least[3], least[2]), lesser(least[1], least[0]));
    const double high = greater(greater(most[2], most[3]), greater(most[1], most[0]));
    const double mean = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / (double)k;
    for (i = 0; i + 4 <= k; i += 4) {
        for (size_t j = 0; j < 4; j++) {
            square[j] += (y[i + j] - mean) * (y[i + j] - mean);
        }
    }
    for (; i < k; i++) {
        square[0] += (y[i] - mean) * (y[i] - mean);
    }
    moments_merge(m, &(struct moments){(int64_t)k, low, high, mean,
                                       (square[0] + square[1]) + (square[2] + square[3])});
}

/* ---- counts and sketches ---- */
static size_t sample_capacity(size_t n_columns) {
    size_t capacity = NUMBER_SAMPLE_MAX;
    while (capacity > NUMBER_SAMPLE_MIN &&
           n_columns * NUMBER_SAMPLE_MEMORY(capacity) > SAMPLES_BYTES) {
        capacity /= 2;
    }
    return capacity;
}

bool column_summary_drop_numbers(struct column_summary *s) {
    struct distinct_sketch distinct = {0};
    size_t n = 0;
    struct number_count *list = number_tally_list(&s->numbers, &n);
    const bool ranked = column_summary_is_ranked(s);
    struct number_sample *sample =
        list != NULL && ranked ? number_sample_new(sample_capacity(s->n_columns)) : NULL;
    if (list == NULL || (ranked && sample == NULL) ||
        !column_summary_begin_distinct(s, &distinct)) {
        free(list);
        number_sample_free(sample);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (ranked) {
            number_sample_add_times(sample, list[i].value, list[i].count);
        }
        distinct_sketch_add(&distinct, distinct_hash_number(list[i].value));
    }
    free(list);
    number_tally_done(&s->numbers);
    s->sample = sample;
    s->distinct = distinct;
    s->estimated = true;
    return true;
}

/* Adds the counters to the tally. */
static void lanes_empty(struct lanes *lanes, struct number_tally *t) {
    if (!lanes->used) {
        return;
    }
    const size_t n = t->n_small < LANED ? t->n_small : LANED;
    for (size_t j = 0; j < LANES; j++) {
        for (size_t v = 0; v < n; v++) {
            t->small[v] += lanes->count[j][v];
        }
    }
    lanes->used = false;
}

static void sketch(struct column_summary *s, const double *x, size_t k) {
    if (s->sample != NULL) {
        number_sample_add(s->sample, x, k);
    }
    for (size_t i = 0; i < k; i++) {
        distinct_sketch_add(&s->distinct, distinct_hash_number(x[i]));
    }
}

/* Counts small integers exactly. many_rows: use the counters of `lanes`. */
static bool count_small(struct column_summary *s, const uint16_t *v, size_t n, unsigned any,
                        bool many_rows, struct lanes *lanes) {
    struct number_tally *t = &s->numbers;
    if (!number_tally_reach(t, any)) {
        return false;
    }
    if (any == 0) {
        t->small[0] += (uint32_t)n;
        return true;
    }
    if (any >= LANED || !many_rows) {
        for (size_t i = 0; i < n; i++) {
            t->small[v[i]]++;
        }
        return true;
    }
    if (!lanes->used) {
        memset(lanes->count, 0, sizeof lanes->count);
        lanes->used = true;
    }
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            lanes->count[j][v[i + j]]++;
        }
    }
    for (; i < n; i++) {
        lanes->count[0][v[i]]++;
    }
    return true;
}

/* Adds k numbers, none of them NaN, to the exact counts or the sketches. Returns false if out of
 * memory. */
static bool count_any(struct column_summary *s, const double *x, size_t k, struct lanes *lanes) {
    size_t i = 0;
    for (; i < k && !s->estimated; i++) {
        const enum number_tally_status status = number_tally_add(&s->numbers, x[i]);
        if (status == NUMBER_TALLY_WELL) {
            continue;
        }
        lanes_empty(lanes, &s->numbers);
        if (status == NUMBER_TALLY_NO_MEMORY || !column_summary_drop_numbers(s)) {
            return false;
        }
        s->many = true;
        break;
    }
    if (s->estimated) {
        sketch(s, x + i, k - i);
    }
    return true;
}

/* Copies the numbers that are not NaN. Returns their number. */
static size_t block_present(const double *x, size_t n, double *present) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        present[k] = x[i];
        k += isnan(x[i]) ? 0 : 1;
    }
    return k;
}

/* Adds a block to the moments. */
static void block_moments(struct moments *m, const double *x, size_t n) {
    uint16_t small[COLUMN_BLOCK];
    double present[COLUMN_BLOCK];
    unsigned any = 0;
    if (block_small(x, n, small, &any)) {
        moments_small(m, small, n, any);
        return;
    }
    const size_t k = block_present(x, n, present);
    if (k > 0) {
        moments_any(m, present, k);
    }
}

/* Whether a number is written like a date YYYYMMDD of the years 1900 to 2100. */
static bool is_date(double x) {
    const dn_datetime_form form = {.orders = DN_DATE_YMD};
    char text[16];
    double seconds = 0;
    if (!(x >= 19000101 && x <= 21001231) || x != floor(x)) {
        return false;
    }
    const int n = snprintf(text, sizeof text, "%d", (int)x);
    return dn_datetime_parse(text, (size_t)n, &form, &seconds);
}

static void check_dates(struct column_summary *s, const double *x, size_t k) {
    for (size_t i = 0; i < k && !s->undated; i++) {
        s->undated = !is_date(x[i]);
    }
}

/* Adds n <= COLUMN_BLOCK numbers to the digest and the counts. whole: the numbers are a complete
 * block, and are added to the moments too. */
static bool add_block(struct column_summary *s, const double *x, size_t n, bool whole,
                      bool many_rows, struct lanes *lanes) {
    unsigned char form[COLUMN_BLOCK * 9 + 8];
    uint16_t small[COLUMN_BLOCK];
    double present[COLUMN_BLOCK];
    unsigned any = 0;
    if (block_small(x, n, small, &any)) {
        hash_blake2b_add(s->digest, form, put_small(small, n, any, form));
        s->undated |= n > 0;
        if (whole) {
            moments_small(&s->moments, small, n, any);
        }
        return s->estimated ? count_any(s, x, n, lanes)
                            : count_small(s, small, n, any, many_rows, lanes);
    }
    size_t missing = 0;
    hash_blake2b_add(s->digest, form, put_any(x, n, form, &missing));
    s->missing += (int64_t)missing;
    const double *y = missing == 0 ? x : present;
    const size_t k = missing == 0 ? n : block_present(x, n, present);
    check_dates(s, y, k);
    if (whole && k > 0) {
        moments_any(&s->moments, y, k);
    }
    return count_any(s, y, k, lanes);
}

/* ---- blocks ---- */
size_t column_summary_block(const struct column_summary *s) {
    size_t rows = COLUMN_BLOCK;
    while (rows > MIN_BLOCK && s->n_columns * rows * sizeof *s->rest > RESTS_BYTES) {
        rows /= 2;
    }
    return rows;
}

/* Adds n rows to the incomplete block, which must have room for them. Returns false if out of
 * memory. */
static bool rest_add(struct column_summary *s, const double *x, size_t n) {
    const size_t block = column_summary_block(s);
    if (s->rest == NULL) {
        s->rest = calloc(block, sizeof *s->rest);
    }
    if (s->rest == NULL) {
        return false;
    }
    memcpy(s->rest + s->n_rest, x, n * sizeof *x);
    s->n_rest += n;
    if (s->n_rest == block) {
        block_moments(&s->moments, s->rest, block);
        s->n_rest = 0;
    }
    return true;
}

bool column_summary_begin_missing(struct column_summary *s, int64_t n) {
    double missing[COLUMN_BLOCK];
    for (size_t i = 0; i < COLUMN_BLOCK; i++) {
        missing[i] = (double)NAN;
    }
    const size_t rest = (size_t)n % column_summary_block(s);
    return rest == 0 || rest_add(s, missing, rest);
}

struct moments column_summary_moments(const struct column_summary *s) {
    struct moments m = s->moments;
    if (s->n_rest > 0) {
        block_moments(&m, s->rest, s->n_rest);
    }
    return m;
}

/* Updates counts_up for the last n rows. A column that does not count up takes constant time. */
static void follow(struct column_summary *s, const double *x, size_t n) {
    const double most = 4503599627370496; /* 2^52: further on, numbers are not exact */
    const int64_t before = s->n_rows - (int64_t)n;
    if (before == 0) {
        s->first = x[0];
        s->counts_up = x[0] == floor(x[0]) && fabs(x[0]) < most;
    }
    const double next = s->first + (double)before;
    s->counts_up = s->counts_up && x[n - 1] == next + (double)(n - 1) && x[n - 1] < most;
    for (size_t i = 0; i < n && s->counts_up; i++) {
        s->counts_up = x[i] == next + (double)i;
    }
}

bool column_summary_add_numbers(struct column_summary *s, const double *x, size_t n_rows) {
    const size_t block = column_summary_block(s);
    struct lanes lanes;
    lanes.used = false;
    if (n_rows > 0) {
        follow(s, x, n_rows);
    }
    /* With more rows the 32-bit counts of small integers could overflow. */
    if (!s->estimated && s->n_rows - s->missing > UINT32_MAX && !column_summary_drop_numbers(s)) {
        return false;
    }
    for (size_t at = 0; at < n_rows;) {
        const size_t left = n_rows - at, room = block - s->n_rest, n = left < room ? left : room;
        const bool whole = n == block;
        if (!add_block(s, x + at, n, whole, n_rows >= LANED, &lanes) ||
            (!whole && !rest_add(s, x + at, n))) {
            return false;
        }
        at += n;
    }
    if (!s->estimated) {
        lanes_empty(&lanes, &s->numbers);
    }
    return true;
}

struct number_count *column_summary_numbers(const struct column_summary *s, size_t *n) {
    return s->estimated ? number_sample_list(s->sample, n) : number_tally_list(&s->numbers, n);
}
