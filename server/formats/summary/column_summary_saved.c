/* Saves and loads summaries of columns. */
#include "formats/summary/column_summary_saved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 8, /* "dsum" and the version */
    CRC = 4,
    SAVED_WORDLESS = 1,
    SAVED_ESTIMATED = 2,
    SAVED_MANY = 4,
    SAVED_DROPPED = 8,
    SAVED_DIGEST = 16,
    SAVED_DISTINCT = 32,
    SAVED_SAMPLE = 64,
    SAVED_WORDS = 128,
    SAVED_ALL = 255
};

static const char magic[] = "dsum";

/* ---- writing ---- */
static void put_bytes(uint8_t *out, uint64_t x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(x >> (8 * i));
    }
}

static void put_u32(struct buf *out, uint32_t x) {
    uint8_t bytes[4];
    put_bytes(bytes, x, sizeof bytes);
    buf_append(out, bytes, sizeof bytes);
}

static void put_u64(struct buf *out, uint64_t x) {
    uint8_t bytes[8];
    put_bytes(bytes, x, sizeof bytes);
    buf_append(out, bytes, sizeof bytes);
}

static void put_i64(struct buf *out, int64_t x) {
    put_u64(out, (uint64_t)x);
}

static void put_double(struct buf *out, double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    put_u64(out, bits);
}

static void put_head(struct buf *out, const struct column_summary *s) {
    const struct moments *m = &s->moments;
    put_u64(out, (s->wordless ? SAVED_WORDLESS : 0u) | (s->estimated ? SAVED_ESTIMATED : 0u) |
                     (s->many ? SAVED_MANY : 0u) | (s->dropped ? SAVED_DROPPED : 0u) |
                     (s->digest != NULL ? SAVED_DIGEST : 0u) |
                     (s->distinct.rank != NULL ? SAVED_DISTINCT : 0u) |
                     (s->sample != NULL ? SAVED_SAMPLE : 0u) |
                     (s->words != NULL ? SAVED_WORDS : 0u));
    put_u64(out, s->n_columns);
    put_i64(out, s->n_rows);
    put_i64(out, s->missing);
    put_i64(out, s->truths[0]);
    put_i64(out, s->truths[1]);
    put_i64(out, m->n);
    put_double(out, m->minimum);
    put_double(out, m->maximum);
    put_double(out, m->mean);
    put_double(out, m->m2);
}

static void put_rest(struct buf *out, const struct column_summary *s) {
    put_u64(out, s->n_rest);
    for (size_t i = 0; i < s->n_rest; i++) {
        put_double(out, s->rest[i]);
    }
}

static bool put_numbers(struct buf *out, const struct number_tally *t) {
    size_t n = 0;
    struct number_count *list = number_tally_list(t, &n);
    if (list == NULL) {
        return false;
    }
    put_u64(out, t->n_slots);
    put_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        put_double(out, list[i].value);
        put_i64(out, list[i].count);
    }
    free(list);
    return true;
}

static void put_texts(struct buf *out, const struct tally *t) {
    put_u64(out, t->capacity);
    put_u64(out, t->n);
    for (size_t i = 0; i < t->n; i++) {
        put_i64(out, t->entry[i].count);
        put_u64(out, t->entry[i].length);
        buf_append(out, tally_text(t, &t->entry[i]), t->entry[i].length);
    }
}

static void put_distinct(struct buf *out, const struct distinct_sketch *s) {
    put_u64(out, s->bits);
    buf_append(out, s->rank, distinct_sketch_memory(s));
}

static void put_sample(struct buf *out, const struct number_sample *s) {
    put_u64(out, s->capacity);
    put_u64(out, s->height);
    put_u64(out, s->n_kept);
    put_i64(out, s->n_open);
    put_i64(out, s->pick);
    put_double(out, s->picked);
    put_double(out, s->last);
    for (size_t i = 0; i < s->n_kept; i++) {
        put_double(out, s->kept[i]);
    }
}

static void put_words(struct buf *out, const struct column_words *words) {
    put_i64(out, words->n);
    put_u64(out, words->longest);
    put_i64(out, words->bytes);
    put_distinct(out, &words->distinct);
}

static void put_sparse(struct buf *out, const struct sparse_summary *s) {
    put_u64(out, s->first);
    put_u64(out, s->width);
    put_i64(out, s->entries);
    put_u64(out, s->n_places);
    for (size_t i = 0; i < s->n_places; i++) {
        const struct sparse_place *p = &s->place[i];
        put_i64(out, p->n);
        put_i64(out, p->nonzero);
        put_double(out, p->minimum);
        put_double(out, p->maximum);
        put_double(out, p->mean);
        put_double(out, p->m2);
    }
}

bool column_summary_save(const struct column_summary *s, struct buf *out) {
    const size_t start = out->size;
    buf_append(out, magic, strlen(magic));
    put_u32(out, COLUMN_SUMMARY_VERSION);
    put_head(out, s);
    if (s->digest != NULL) {
        uint8_t digest[HASH_BLAKE2B_STATE];
        hash_blake2b_save(s->digest, digest);
        buf_append(out, digest, sizeof digest);
    }
    put_rest(out, s);
    if (!put_numbers(out, &s->numbers)) {
        return false;
    }
    put_texts(out, &s->texts);
    if (s->distinct.rank != NULL) {
        put_distinct(out, &s->distinct);
    }
    if (s->sample != NULL) {
        put_sample(out, s->sample);
    }
    if (s->words != NULL) {
        put_words(out, s->words);
    }
    put_sparse(out, &s->sparse);
    if (out->failed) {
        return false;
    }
    put_u32(out, hash_crc32(out->data + start, out->size - start));
    return !out->failed;
}

/* ---- reading ---- */
/* The first status other than LOADED is kept; values read after it are 0. */
struct reader {
    const uint8_t *at, *end;
    enum column_summary_load_status status;
};

static void fail(struct reader *r, enum column_summary_load_status status) {
    if (r->status == COLUMN_SUMMARY_LOADED) {
        r->status = status;
    }
}

static void require(struct reader *r, bool condition) {
    if (!condition) {
        fail(r, COLUMN_SUMMARY_DAMAGED);
    }
}

static void require_memory(struct reader *r, bool condition) {
    if (!condition) {
        fail(r, COLUMN_SUMMARY_NO_MEMORY);
    }
}

static bool good(const struct reader *r) {
    return r->status == COLUMN_SUMMARY_LOADED;
}

/* The next n bytes; NULL: there are fewer, or reading has failed. */
static const uint8_t *take(struct reader *r, size_t n) {
    require(r, n <= (size_t)(r->end - r->at));
    if (!good(r)) {
        return NULL;
    }
    r->at += n;
    return r->at - n;
}

static uint64_t number_at(const uint8_t *bytes, size_t n) {
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++) {
        x |= (uint64_t)bytes[i] << (8 * i);
    }
    return x;
}

/* An integer of at most `most`. */
static uint64_t get_u64(struct reader *r, uint64_t most) {
    const uint8_t *bytes = take(r, 8);
    const uint64_t x = bytes != NULL ? number_at(bytes, 8) : 0;
    require(r, x <= most);
    return good(r) ? x : 0;
}

/* A count, 0 or more. */
static int64_t get_count(struct reader *r) {
    return (int64_t)get_u64(r, INT64_MAX);
}

static size_t get_size(struct reader *r) {
    return (size_t)get_u64(r, SIZE_MAX);
}

static double get_double(struct reader *r) {
    const uint64_t bits = get_u64(r, UINT64_MAX);
    double x = 0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double get_finite(struct reader *r) {
    const double x = get_double(r);
    require(r, isfinite(x));
    return x;
}

/* Returns the flags. */
static unsigned get_head(struct reader *r, struct column_summary *s) {
    struct moments *m = &s->moments;
    const unsigned flags = (unsigned)get_u64(r, SAVED_ALL);
    s->wordless = (flags & SAVED_WORDLESS) != 0;
    s->estimated = (flags & SAVED_ESTIMATED) != 0;
    s->many = (flags & SAVED_MANY) != 0;
    s->dropped = (flags & SAVED_DROPPED) != 0;
    s->n_columns = get_size(r);
    s->n_rows = get_count(r);
    s->missing = get_count(r);
    s->truths[0] = get_count(r);
    s->truths[1] = get_count(r);
    m->n = get_count(r);
    m->minimum = get_double(r);
    m->maximum = get_double(r);
    m->mean = get_double(r); /* the mean of large numbers may be infinite, and m2 NaN */
    m->m2 = get_double(r);
    require(r, s->missing <= s->n_rows && m->n <= s->n_rows - s->missing &&
                   s->truths[0] <= s->n_rows - s->missing &&
                   s->truths[1] <= s->n_rows - s->missing - s->truths[0] && !isnan(m->minimum) &&
                   !isnan(m->maximum));
    require(r, s->estimated == ((flags & SAVED_DISTINCT) != 0) &&
                   (s->estimated || (flags & (SAVED_SAMPLE | SAVED_WORDS)) == 0));
    return flags;
}

/* The numbers of the incomplete block. */
static void get_rest(struct reader *r, struct column_summary *s) {
    const size_t block = column_summary_block(s), n = (size_t)get_u64(r, block - 1);
    if (n == 0) {
        return;
    }
    s->rest = malloc(block * sizeof *s->rest);
    require_memory(r, s->rest != NULL);
    for (size_t i = 0; i < n && good(r); i++) {
        s->rest[i] = get_double(r);
        require(r, !isinf(s->rest[i]));
        s->n_rest = i + 1;
    }
}

static void get_digest(struct reader *r, struct column_summary *s) {
    const uint8_t *bytes = take(r, HASH_BLAKE2B_STATE);
    if (bytes == NULL) {
        return;
    }
    s->digest = hash_blake2b_new();
    require_memory(r, s->digest != NULL);
    if (s->digest != NULL && !hash_blake2b_load(s->digest, bytes)) {
        fail(r, COLUMN_SUMMARY_OTHER_VERSION);
    }
}

static void get_numbers(struct reader *r, struct number_tally *t) {
    const size_t n_slots = (size_t)get_u64(r, 4 * TALLY_MAX);
    const size_t n = (size_t)get_u64(r, TALLY_MAX + NUMBER_SMALL);
    double before = (double)-INFINITY;
    for (size_t i = 0; i < n && good(r); i++) {
        const double x = get_finite(r);
        const int64_t count = get_count(r);
        const bool small = x >= 0 && x < NUMBER_SMALL && x == floor(x);
        require(r, x > before && count > 0 && (!small || count <= UINT32_MAX));
        if (good(r)) {
            const enum number_tally_status status = number_tally_set(t, x, count);
            require(r, status != NUMBER_TALLY_FULL);
            require_memory(r, status != NUMBER_TALLY_NO_MEMORY);
        }
        before = x;
    }
    if (good(r) && n_slots > t->n_slots) {
        require(r, (n_slots & (n_slots - 1)) == 0);
        require_memory(r, !good(r) || number_tally_reserve(t, n_slots));
    }
}

static void get_texts(struct reader *r, struct tally *t) {
    const size_t capacity = (size_t)get_u64(r, 2 * TALLY_MAX);
    const size_t n = (size_t)get_u64(r, TALLY_MAX);
    for (size_t i = 0; i < n && good(r); i++) {
        const int64_t count = get_count(r);
        const size_t length = get_size(r);
        const uint8_t *bytes = take(r, length);
        require(r, count > 0);
        if (good(r)) {
            require_memory(r, tally_add(t, (const char *)bytes, length, count) == TALLY_WELL);
            require(r, !good(r) || t->n == i + 1); /* no text twice */
        }
    }
    require_memory(r, !good(r) || tally_reserve(t, capacity));
}

static void get_distinct(struct reader *r, struct distinct_sketch *s) {
    const unsigned bits = (unsigned)get_u64(r, DISTINCT_MAX_BITS);
    require(r, bits >= DISTINCT_MIN_BITS);
    const size_t n = (size_t)1 << bits;
    const uint8_t *rank = take(r, n);
    for (size_t i = 0; i < n && good(r); i++) {
        require(r, rank[i] <= distinct_max_rank(bits));
    }
    require_memory(r, !good(r) || distinct_sketch_load(s, bits, rank));
}

static void get_sample(struct reader *r, struct column_summary *s) {
    const size_t capacity = (size_t)get_u64(r, NUMBER_SAMPLE_MAX);
    require(r, capacity >= NUMBER_SAMPLE_MIN && (capacity & (capacity - 1)) == 0);
    if (!good(r)) {
        return;
    }
    struct number_sample *sample = s->sample = number_sample_new(capacity);
    require_memory(r, sample != NULL);
    if (sample == NULL) {
        return;
    }
    sample->height = (unsigned)get_u64(r, 62);
    const int64_t group = INT64_C(1) << sample->height;
    const size_t n_kept = (size_t)get_u64(r, capacity - 1);
    sample->n_open = get_count(r);
    sample->pick = get_count(r);
    sample->picked = get_finite(r);
    sample->last = get_finite(r);
    for (size_t i = 0; i < n_kept; i++) {
        sample->kept[i] = get_finite(r);
    }
    require(r, sample->n_open < group && sample->pick < group &&
                   (int64_t)n_kept <= (INT64_MAX - sample->n_open) >> sample->height);
    sample->n_kept = good(r) ? n_kept : 0;
    require(r, number_sample_n(sample) == s->n_rows - s->missing);
}

static void get_words(struct reader *r, struct column_summary *s) {
    struct column_words *words = s->words = calloc(1, sizeof *words);
    require_memory(r, words != NULL);
    if (words != NULL) {
        words->n = get_count(r);
        words->longest = get_size(r);
        words->bytes = get_count(r);
        get_distinct(r, &words->distinct);
    }
}

static void get_sparse(struct reader *r, struct sparse_summary *s, int64_t n_rows) {
    enum { PLACE = 48 };
    s->first = (uint32_t)get_u64(r, UINT32_MAX);
    s->width = get_size(r);
    s->entries = get_count(r);
    const size_t n = get_size(r);
    require(r, n <= s->width && n <= (size_t)(r->end - r->at) / PLACE);
    if (!good(r) || n == 0) {
        return;
    }
    s->place = calloc(n, sizeof *s->place);
    require_memory(r, s->place != NULL);
    for (size_t i = 0; i < n && good(r); i++) {
        struct sparse_place *p = &s->place[i];
        p->n = get_count(r);
        p->nonzero = get_count(r);
        p->minimum = get_double(r);
        p->maximum = get_double(r);
        p->mean = get_double(r);
        p->m2 = get_double(r);
        require(r, p->n <= n_rows && p->nonzero <= p->n);
        s->n_places = i + 1;
    }
}

/* Whether the summary has what column_summary_write needs for a column of that type. */
static bool suits(const struct column_summary *s, dn_column_type type) {
    const bool strings = type == DN_CATEGORICAL || type == DN_TEXT, numbers = type == DN_NUMERIC;
    return (!s->estimated || strings || numbers) &&
           (s->sample != NULL) == (s->estimated && numbers && column_summary_is_ranked(s)) &&
           (s->words != NULL) == (s->estimated && strings && !s->wordless) &&
           (numbers || (s->numbers.n == 0 && s->numbers.n_small == 0 && s->n_rest == 0)) &&
           (strings || s->texts.n == 0) && (type == DN_SPARSE || s->sparse.n_places == 0);
}

static enum column_summary_load_status check_header(const uint8_t *bytes, size_t n) {
    if (n < HEADER + CRC || memcmp(bytes, magic, HEADER / 2) != 0 ||
        number_at(bytes + n - CRC, CRC) != hash_crc32(bytes, n - CRC)) {
        return COLUMN_SUMMARY_DAMAGED;
    }
    return number_at(bytes + HEADER / 2, HEADER / 2) == COLUMN_SUMMARY_VERSION
               ? COLUMN_SUMMARY_LOADED
               : COLUMN_SUMMARY_OTHER_VERSION;
}

enum column_summary_load_status column_summary_load(struct column_summary *s, dn_column_type type,
                                                    const void *bytes, size_t n) {
    const enum column_summary_load_status header = check_header(bytes, n);
    if (header != COLUMN_SUMMARY_LOADED) {
        return header;
    }
    const uint8_t *start = bytes;
    struct reader r = {.at = start + HEADER, .end = start + n - CRC};
    struct column_summary loaded = {0};
    const unsigned flags = get_head(&r, &loaded);
    if ((flags & SAVED_DIGEST) != 0) {
        get_digest(&r, &loaded);
    }
    get_rest(&r, &loaded);
    get_numbers(&r, &loaded.numbers);
    get_texts(&r, &loaded.texts);
    if ((flags & SAVED_DISTINCT) != 0) {
        get_distinct(&r, &loaded.distinct);
    }
    if ((flags & SAVED_SAMPLE) != 0) {
        get_sample(&r, &loaded);
    }
    if ((flags & SAVED_WORDS) != 0) {
        get_words(&r, &loaded);
    }
    get_sparse(&r, &loaded.sparse, loaded.n_rows);
    require(&r, r.at == r.end && suits(&loaded, type));
    if (!good(&r)) {
        column_summary_done(&loaded);
        return r.status;
    }
    *s = loaded;
    return COLUMN_SUMMARY_LOADED;
}
