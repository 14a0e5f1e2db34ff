/* Moments, distinct values and digest of a column.
 *
 * The digest is BLAKE2b over the values in row order, each in the shortest of these forms (so that two tables have equal digests if and only if their values are equal):
 *   numeric   one byte 0 … 239 for these integers; 240 missing; 241, 242 + an i16, i32, little-endian; 243 + the f64 (fractions, large numbers, -0)
 *   boolean   one byte 0, 1; 240 missing
 *   strings   u32 length, little-endian, and the bytes; 0xffffffff missing */
#include "wire/column_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 512,
    SMALL = 1024,
    SEEN = 256,
    TAG_SMALL = 240,
    TAG_MISSING = 240,
    TAG_I16 = 241,
    TAG_I32 = 242,
    TAG_F64 = 243,
    STAGE = 8192
};

void column_summary_done(struct column_summary *s) {
    hash_blake2b_free(s->digest);
    number_set_done(&s->numbers);
    tally_done(&s->texts);
    *s = (struct column_summary){0};
}

void column_summary_reset(struct column_summary *s) {
    column_summary_done(s);
}

size_t column_summary_counts_memory(const struct column_summary *s) {
    return number_set_memory(&s->numbers) + tally_memory(&s->texts);
}

void column_summary_drop_counts(struct column_summary *s) {
    number_set_drop(&s->numbers);
    tally_drop(&s->texts);
}

static bool begin(struct column_summary *s) {
    if (s->digest == NULL) {
        s->digest = hash_blake2b_new();
    }
    return s->digest != NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------------------ */
/* A tag and the lowest n bytes of bits; writes all eight. */
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

/* An integer beyond 0 … 239, |x| < 2^52, in its form. */
static size_t put_integer(double x, uint64_t bits, unsigned char *out) {
    const int64_t i = (int64_t)x;
    if (i >= INT16_MIN && i <= INT16_MAX) {
        return put_bits(out, TAG_I16, (uint64_t)i, 2);
    }
    return i >= INT32_MIN && i <= INT32_MAX ? put_bits(out, TAG_I32, (uint64_t)i, 4) : put_bits(out, TAG_F64, bits, 8);
}

/* 1.5·2^52: added to an integer below 2^51 it leaves that integer in the lowest bits; adding and taking it away rounds to an integer. */
#define ROUNDING 6755399441055744.0
#define MINUS_ZERO (UINT64_C(1) << 63)

static inline uint64_t bits_of(double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The usual column of small integers, without a branch on a value: v[i] = x[i], *any the bits set in any of them. false: some are none of 0 … 1023. */
static bool block_small(const double *x, size_t n, uint16_t *v, unsigned *any) {
    uint64_t wrong = 0, bits = 0;
    for (size_t from = 0, upto = n < 8 ? n : 8; from < n && wrong == 0; from = upto, upto = n) { /* a few first: mostly they tell */
        for (size_t i = from; i < upto; i++) {
            const double y = x[i] + ROUNDING;
            const uint64_t integer = bits_of(y) - bits_of(ROUNDING); /* far above 1023 for what is negative, large or NaN */
            wrong |= (uint64_t)(integer >= SMALL) | (uint64_t)(y - ROUNDING != x[i]) | bits_of(x[i]) >> 63;
            bits |= integer;
            v[i] = (uint16_t)integer;
        }
    }
    *any = (unsigned)bits;
    return wrong == 0;
}

/* Such numbers in their forms, and noted as seen; returns the size. */
static size_t put_small(struct column_summary *s, const uint16_t *v, size_t n, unsigned any, unsigned char *form, unsigned char *seen) {
    size_t size = 0;
    if (any < 128) {
        for (size_t i = 0; i < n; i++) {
            form[i] = (unsigned char)v[i];
            seen[v[i]] = 1;
        }
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        const bool large = v[i] >= TAG_SMALL;
        form[size] = (unsigned char)(large ? TAG_I16 : v[i]);
        form[size + 1] = (unsigned char)v[i];
        form[size + 2] = (unsigned char)(v[i] >> 8);
        size += large ? 3 : 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (any < SEEN) {
            seen[v[i]] = 1;
        } else {
            number_set_add_small(&s->numbers, v[i]);
        }
    }
    return size;
}

/* Any numbers in their forms, and into the set; returns the size. Columns are mostly all of a kind, so the branches are on the kind. */
static size_t block_any(struct column_summary *s, const double *x, size_t n, unsigned char *form, bool *well) {
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = bits_of(x[i]);
        if ((x[i] + ROUNDING) - ROUNDING == x[i] && bits != MINUS_ZERO && fabs(x[i]) < 4e15) {
            if (x[i] >= 0 && x[i] < 1024) {
                const unsigned v = (unsigned)x[i];
                number_set_add_small(&s->numbers, v);
                if (v < TAG_SMALL) {
                    form[size++] = (unsigned char)v;
                    continue;
                }
            } else if (!s->numbers.over) {
                *well &= number_set_add(&s->numbers, x[i]);
            }
            size += put_integer(x[i], bits, form + size);
        } else if (isnan(x[i])) {
            form[size++] = TAG_MISSING;
        } else {
            if (bits == MINUS_ZERO) { /* a value of its own, but not one more distinct number */
                number_set_add_small(&s->numbers, 0);
            } else if (!s->numbers.over) {
                *well &= number_set_add(&s->numbers, x[i]);
            }
            size += put_bits(form + size, TAG_F64, bits, 8);
        }
    }
    return size;
}

/* The numbers that are not missing, in order; returns how many. */
static size_t block_present(const double *x, size_t n, double *present) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        present[k] = x[i];
        k += isnan(x[i]) ? 0 : 1;
    }
    return k;
}

/* Moments of k <= BLOCK numbers, none of them missing: sums in four fixed strands, the mean first, then the squares about it; merged by Chan, Golub and LeVeque (1979). */
static void block_moments(struct moments *m, const double *y, size_t k) {
    if (k == 0) {
        return;
    }
    double sum[4] = {0}, square[4] = {0}, least[4] = {y[0], y[0], y[0], y[0]}, most[4] = {y[0], y[0], y[0], y[0]};
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
    const double low = fmin(fmin(least[0], least[1]), fmin(least[2], least[3]));
    const double high = fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
    const double count = (double)k, mean = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / count;
    for (i = 0; i + 4 <= k; i += 4) {
        for (size_t j = 0; j < 4; j++) {
            square[j] += (y[i + j] - mean) * (y[i + j] - mean);
        }
    }
    for (; i < k; i++) {
        square[0] += (y[i] - mean) * (y[i] - mean);
    }
    const double m2 = (square[0] + square[1]) + (square[2] + square[3]);
    if (m->n == 0) {
        *m = (struct moments){(int64_t)k, low, high, mean, m2};
        return;
    }
    const double before = (double)m->n, total = before + count, delta = mean - m->mean;
    m->minimum = low < m->minimum ? low : m->minimum;
    m->maximum = high > m->maximum ? high : m->maximum;
    m->mean += delta * (count / total);
    m->m2 += m2 + delta * delta * (before * count / total);
    m->n += (int64_t)k;
}

static bool add_numbers(struct column_summary *s, const dn_column_view *view) {
    unsigned char form[BLOCK * 9 + 8], seen[SEEN] = {0};
    uint16_t small[BLOCK];
    double present[BLOCK];
    unsigned any = 0;
    bool well = true;
    for (size_t at = 0; at < view->n_rows; at += BLOCK) {
        const double *x = view->number + at;
        const size_t n = view->n_rows - at < BLOCK ? view->n_rows - at : BLOCK;
        if (block_small(x, n, small, &any)) {
            hash_blake2b_add(s->digest, form, put_small(s, small, n, any, form, seen));
            block_moments(&s->moments, x, n);
            continue;
        }
        const size_t k = block_present(x, n, present);
        hash_blake2b_add(s->digest, form, block_any(s, x, n, form, &well));
        block_moments(&s->moments, present, k);
        s->missing += (int64_t)(n - k);
    }
    for (unsigned v = 0; v < SEEN; v++) {
        if (seen[v]) {
            number_set_add_small(&s->numbers, v);
        }
    }
    return well;
}

/* ---- booleans and strings ----------------------------------------------------------------------------------------------------------- */
static void add_booleans(struct column_summary *s, const dn_column_view *view) {
    unsigned char form[BLOCK];
    for (size_t i = 0; i < view->n_rows;) {
        size_t n = 0;
        for (; n < BLOCK && i < view->n_rows; i++) {
            if (isnan(view->number[i])) {
                s->missing++;
                form[n++] = TAG_MISSING;
            } else {
                s->truths[view->number[i] != 0]++;
                form[n++] = view->number[i] != 0;
            }
        }
        hash_blake2b_add(s->digest, form, n);
    }
}

/* Bytes on their way into a digest, gathered so that it is not called for each cell. */
struct stage {
    struct hash_blake2b *digest;
    size_t size;
    unsigned char bytes[STAGE];
};

static void stage_flush(struct stage *stage) {
    hash_blake2b_add(stage->digest, stage->bytes, stage->size);
    stage->size = 0;
}

static void stage_add(struct stage *stage, const void *bytes, size_t n) {
    if (n > STAGE - stage->size) {
        stage_flush(stage);
        if (n > STAGE / 2) {
            hash_blake2b_add(stage->digest, bytes, n);
            return;
        }
    }
    memcpy(stage->bytes + stage->size, bytes, n);
    stage->size += n;
}

static void stage_length(struct stage *stage, uint32_t n) {
    const unsigned char form[4] = {(unsigned char)n, (unsigned char)(n >> 8), (unsigned char)(n >> 16), (unsigned char)(n >> 24)};
    stage_add(stage, form, sizeof form);
}

static bool add_strings(struct column_summary *s, const dn_column_view *view) {
    struct stage stage = {.digest = s->digest};
    for (size_t i = 0; i < view->n_rows; i++) {
        if (view->code[i] == DN_CODE_MISSING) {
            s->missing++;
            stage_length(&stage, UINT32_MAX);
            continue;
        }
        const uint32_t from = view->strings.start[view->code[i]], n = view->strings.start[view->code[i] + 1] - from;
        stage_length(&stage, n);
        if (n > 0) {
            stage_add(&stage, view->strings.bytes + from, n);
        }
    }
    stage_flush(&stage);
    if (s->texts.over) {
        return true;
    }
    /* counted by the chunk's own list: one look-up for each distinct text, not for each cell */
    size_t n_codes = view->strings.n;
    int64_t *count = calloc(n_codes > 0 ? n_codes : 1, sizeof *count);
    bool well = count != NULL;
    for (size_t i = 0; well && i < view->n_rows; i++) {
        if (view->code[i] != DN_CODE_MISSING) {
            count[view->code[i]]++;
        }
    }
    for (size_t i = 0; well && i < n_codes; i++) {
        const uint32_t from = view->strings.start[i];
        well = count[i] == 0 || tally_add(&s->texts, view->strings.bytes + from, view->strings.start[i + 1] - from, count[i]);
    }
    free(count);
    return well;
}

bool column_summary_add(struct column_summary *s, const dn_column_view *view) {
    if (!begin(s)) {
        return false;
    }
    s->n_rows += (int64_t)view->n_rows;
    switch (view->type) {
    case DN_NUMERIC:
        return add_numbers(s, view);
    case DN_BOOLEAN:
        add_booleans(s, view);
        return true;
    case DN_CATEGORICAL:
    case DN_TEXT:
        break;
    }
    return add_strings(s, view);
}

bool column_summary_add_missing(struct column_summary *s, dn_column_type type, int64_t n) {
    if (!begin(s)) {
        return false;
    }
    unsigned char form[BLOCK];
    const bool string = type == DN_CATEGORICAL || type == DN_TEXT;
    memset(form, string ? 0xFF : TAG_MISSING, sizeof form);
    s->n_rows += n;
    s->missing += n;
    for (int64_t left = string ? 4 * n : n; left > 0;) {
        const size_t take = left < BLOCK ? (size_t)left : BLOCK;
        hash_blake2b_add(s->digest, form, take);
        left -= (int64_t)take;
    }
    return true;
}

/* ---- what came of it ---------------------------------------------------------------------------------------------------------------- */
int64_t column_summary_distinct(const struct column_summary *s, dn_column_type type) {
    switch (type) {
    case DN_NUMERIC:
        return s->numbers.over || s->numbers.n + s->numbers.n_small > TALLY_MAX ? -1 : (int64_t)(s->numbers.n + s->numbers.n_small);
    case DN_BOOLEAN:
        return (s->truths[0] > 0) + (s->truths[1] > 0);
    case DN_CATEGORICAL:
    case DN_TEXT:
        break;
    }
    return s->texts.over ? -1 : (int64_t)s->texts.n;
}

bool column_summary_digest(struct column_summary *s, uint8_t out[HASH_BLAKE2B_SIZE]) {
    if (!begin(s)) {
        return false;
    }
    hash_blake2b_end(s->digest, out);
    return true;
}
