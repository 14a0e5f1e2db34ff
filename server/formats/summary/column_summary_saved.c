/* Saves and loads summaries of columns. The same functions do both: each function `field_…` and
 * `part_…` appends the value to the archive when saving, and sets the value when loading. */
#include "formats/summary/column_summary_saved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 8, /* bytes of "dsum" and the version */
    CRC = 4,
    SAVED_WORDLESS = 1,
    SAVED_ESTIMATED = 2,
    SAVED_MANY = 4,
    SAVED_DROPPED = 8,
    SAVED_DIGEST = 16,
    SAVED_DISTINCT = 32,
    SAVED_SAMPLE = 64,
    SAVED_WORDS = 128,
    SAVED_COUNTS_UP = 256,
    SAVED_ALL = 511
};

static const char magic[] = "dsum";

/* ---- the archive ---- */
/* The state of saving or loading. The first status other than LOADED is kept; after it, values are
 * read as 0. */
struct archive {
    struct buf *out; /* destination when saving; NULL: loading */
    const uint8_t *at, *end;
    enum column_summary_load_status status;
};

static void fail(struct archive *a, enum column_summary_load_status status) {
    if (a->status == COLUMN_SUMMARY_LOADED) {
        a->status = status;
    }
}

/* Loading: sets the status DAMAGED unless the condition holds. Every saved summary meets these
 * conditions. */
static void require(struct archive *a, bool condition) {
    if (a->out == NULL && !condition) {
        fail(a, COLUMN_SUMMARY_DAMAGED);
    }
}

static void require_memory(struct archive *a, bool condition) {
    if (!condition) {
        fail(a, COLUMN_SUMMARY_NO_MEMORY);
    }
}

static bool good(const struct archive *a) {
    return a->status == COLUMN_SUMMARY_LOADED;
}

/* Saving: appends the n bytes and returns them. Loading: returns the next n bytes; NULL if there
 * are fewer, or after a failure. */
static const void *field_bytes(struct archive *a, const void *bytes, size_t n) {
    if (a->out != NULL) {
        buf_append(a->out, bytes, n);
        return bytes;
    }
    require(a, n <= (size_t)(a->end - a->at));
    if (!good(a)) {
        return NULL;
    }
    a->at += n;
    return a->at - n;
}

static uint64_t number_at(const uint8_t *bytes, size_t n) {
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++) {
        x |= (uint64_t)bytes[i] << (8 * i);
    }
    return x;
}

/* Appends the lowest n <= 8 bytes of x. */
static void put_number(struct buf *out, uint64_t x, size_t n) {
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(x >> (8 * i));
    }
    buf_append(out, bytes, n);
}

/* Saves or loads an integer of at most `most`. */
static void field_u64(struct archive *a, uint64_t *x, uint64_t most) {
    if (a->out != NULL) {
        put_number(a->out, *x, 8);
        return;
    }
    const uint8_t *bytes = field_bytes(a, NULL, 8);
    *x = bytes != NULL ? number_at(bytes, 8) : 0;
    require(a, *x <= most);
    *x = good(a) ? *x : 0;
}

/* Saves or loads a count >= 0. */
static void field_count(struct archive *a, int64_t *x) {
    uint64_t bits = (uint64_t)*x;
    field_u64(a, &bits, INT64_MAX);
    *x = (int64_t)bits;
}

static void field_size(struct archive *a, size_t *x, size_t most) {
    uint64_t bits = *x;
    field_u64(a, &bits, most);
    *x = (size_t)bits;
}

static void field_u32(struct archive *a, uint32_t *x, uint32_t most) {
    uint64_t bits = *x;
    field_u64(a, &bits, most);
    *x = (uint32_t)bits;
}

static void field_double(struct archive *a, double *x) {
    uint64_t bits = 0;
    memcpy(&bits, x, sizeof bits);
    field_u64(a, &bits, UINT64_MAX);
    memcpy(x, &bits, sizeof bits);
}

static void field_finite(struct archive *a, double *x) {
    field_double(a, x);
    require(a, isfinite(*x));
}

/* ---- the parts of a summary ---- */
static uint64_t flags_of(const struct column_summary *s) {
    return (s->wordless ? SAVED_WORDLESS : 0u) | (s->estimated ? SAVED_ESTIMATED : 0u) |
           (s->many ? SAVED_MANY : 0u) | (s->dropped ? SAVED_DROPPED : 0u) |
           (s->digest != NULL ? SAVED_DIGEST : 0u) |
           (s->distinct.rank != NULL ? SAVED_DISTINCT : 0u) |
           (s->sample != NULL ? SAVED_SAMPLE : 0u) | (s->words != NULL ? SAVED_WORDS : 0u) |
           (s->counts_up ? SAVED_COUNTS_UP : 0u);
}

/* Saves or loads the flags, sizes and moments. Returns the flags. */
static uint64_t part_head(struct archive *a, struct column_summary *s) {
    struct moments *m = &s->moments;
    uint64_t flags = flags_of(s);
    field_u64(a, &flags, SAVED_ALL);
    s->wordless = (flags & SAVED_WORDLESS) != 0;
    s->estimated = (flags & SAVED_ESTIMATED) != 0;
    s->many = (flags & SAVED_MANY) != 0;
    s->dropped = (flags & SAVED_DROPPED) != 0;
    s->counts_up = (flags & SAVED_COUNTS_UP) != 0;
    field_double(a, &s->first); /* NaN if the first number is missing */
    field_size(a, &s->n_columns, SIZE_MAX);
    field_count(a, &s->n_rows);
    field_count(a, &s->missing);
    field_count(a, &s->truths[0]);
    field_count(a, &s->truths[1]);
    field_count(a, &m->n);
    field_double(a, &m->minimum);
    field_double(a, &m->maximum);
    field_double(a, &m->mean); /* may be infinite if the numbers are large; then m2 is NaN */
    field_double(a, &m->m2);
    require(a, !s->counts_up || isfinite(s->first));
    require(a, s->missing <= s->n_rows && m->n <= s->n_rows - s->missing &&
                   s->truths[0] <= s->n_rows - s->missing &&
                   s->truths[1] <= s->n_rows - s->missing - s->truths[0] && !isnan(m->minimum) &&
                   !isnan(m->maximum));
    require(a, s->estimated == ((flags & SAVED_DISTINCT) != 0) &&
                   (s->estimated || (flags & (SAVED_SAMPLE | SAVED_WORDS)) == 0));
    return flags;
}

static void part_digest(struct archive *a, struct column_summary *s) {
    uint8_t state[HASH_BLAKE2B_STATE];
    if (a->out != NULL) {
        hash_blake2b_save(s->digest, state);
    }
    const uint8_t *bytes = field_bytes(a, state, sizeof state);
    if (a->out != NULL || bytes == NULL) {
        return;
    }
    s->digest = hash_blake2b_new();
    require_memory(a, s->digest != NULL);
    if (s->digest != NULL && !hash_blake2b_load(s->digest, bytes)) {
        fail(a, COLUMN_SUMMARY_OTHER_VERSION);
    }
}

/* Saves or loads the numbers of the incomplete block. */
static void part_rest(struct archive *a, struct column_summary *s) {
    const size_t block = column_summary_block(s);
    field_size(a, &s->n_rest, block - 1);
    if (a->out == NULL && s->n_rest > 0) {
        s->rest = calloc(block, sizeof *s->rest);
        require_memory(a, s->rest != NULL);
    }
    for (size_t i = 0; i < s->n_rest && s->rest != NULL && good(a); i++) {
        field_double(a, &s->rest[i]);
        require(a, !isinf(s->rest[i]));
    }
}

/* Loading: adds a number, which must be larger than the previous one, `before`. */
static void number_load(struct archive *a, struct number_tally *t, const struct number_count *c,
                        double before) {
    const double x = c->value;
    const bool small = x >= 0 && x < NUMBER_SMALL && x == floor(x);
    require(a, x > before && c->count > 0 && (!small || c->count <= UINT32_MAX));
    if (good(a)) {
        const enum number_tally_status status = number_tally_set(t, x, c->count);
        require(a, status != NUMBER_TALLY_FULL);
        require_memory(a, status != NUMBER_TALLY_NO_MEMORY);
    }
}

static void part_numbers(struct archive *a, struct number_tally *t) {
    size_t n_slots = t->n_slots, n = 0;
    struct number_count *list = a->out != NULL ? number_tally_list(t, &n) : NULL;
    require_memory(a, a->out == NULL || list != NULL);
    field_size(a, &n_slots, 4 * TALLY_MAX);
    field_size(a, &n, TALLY_MAX + NUMBER_SMALL);
    double before = (double)-INFINITY;
    for (size_t i = 0; i < n && good(a); i++) {
        struct number_count c = list != NULL ? list[i] : (struct number_count){0};
        field_finite(a, &c.value);
        field_count(a, &c.count);
        if (a->out == NULL) {
            number_load(a, t, &c, before);
        }
        before = c.value;
    }
    free(list);
    if (n_slots > t->n_slots) {
        require(a, (n_slots & (n_slots - 1)) == 0);
        require_memory(a, !good(a) || number_tally_reserve(t, n_slots));
    }
}

static void part_texts(struct archive *a, struct tally *t) {
    size_t capacity = t->capacity, n = t->n;
    field_size(a, &capacity, 2 * TALLY_MAX);
    field_size(a, &n, TALLY_MAX);
    for (size_t i = 0; i < n && good(a); i++) {
        struct tally_entry e =
            a->out != NULL && t->entry != NULL ? t->entry[i] : (struct tally_entry){0};
        field_count(a, &e.count);
        field_size(a, &e.length, SIZE_MAX);
        const char *text = field_bytes(a, a->out != NULL ? tally_text(t, &e) : NULL, e.length);
        require(a, e.count > 0);
        if (a->out == NULL && good(a)) {
            require_memory(a, tally_add(t, text, e.length, e.count) == TALLY_WELL);
            require(a, !good(a) || t->n == i + 1); /* fails if the text occurs twice */
        }
    }
    require_memory(a, !good(a) || tally_reserve(t, capacity));
}

static void part_distinct(struct archive *a, struct distinct_sketch *s) {
    uint32_t bits = s->bits;
    field_u32(a, &bits, DISTINCT_MAX_BITS);
    require(a, bits >= DISTINCT_MIN_BITS);
    const size_t n = (size_t)1 << bits;
    const uint8_t *rank = field_bytes(a, s->rank, n);
    for (size_t i = 0; i < n && good(a); i++) {
        require(a, rank[i] <= distinct_max_rank(bits));
    }
    if (a->out == NULL && good(a)) {
        require_memory(a, distinct_sketch_load(s, bits, rank));
    }
}

static void part_sample(struct archive *a, struct column_summary *s) {
    size_t capacity = s->sample != NULL ? s->sample->capacity : 0;
    field_size(a, &capacity, NUMBER_SAMPLE_MAX);
    require(a, capacity >= NUMBER_SAMPLE_MIN && (capacity & (capacity - 1)) == 0);
    if (a->out == NULL && good(a)) {
        s->sample = number_sample_new(capacity);
        require_memory(a, s->sample != NULL);
    }
    struct number_sample *sample = s->sample;
    if (sample == NULL) {
        return;
    }
    field_u32(a, &sample->height, 62);
    field_size(a, &sample->n_kept, capacity - 1);
    field_count(a, &sample->n_open);
    field_count(a, &sample->pick);
    field_finite(a, &sample->picked);
    field_finite(a, &sample->last);
    for (size_t i = 0; i < sample->n_kept; i++) {
        field_finite(a, &sample->kept[i]);
    }
    const int64_t group = INT64_C(1) << sample->height;
    require(a, sample->n_open < group && sample->pick < group &&
                   (int64_t)sample->n_kept <= (INT64_MAX - sample->n_open) >> sample->height);
    require(a, good(a) && number_sample_n(sample) == s->n_rows - s->missing);
}

static void part_words(struct archive *a, struct column_summary *s) {
    if (a->out == NULL) {
        s->words = calloc(1, sizeof *s->words);
        require_memory(a, s->words != NULL);
    }
    if (s->words != NULL) {
        field_count(a, &s->words->n);
        field_size(a, &s->words->longest, SIZE_MAX);
        field_count(a, &s->words->bytes);
        part_distinct(a, &s->words->distinct);
    }
}

static void part_sparse(struct archive *a, struct sparse_summary *s, int64_t n_rows) {
    enum { PLACE = 48 };
    field_u32(a, &s->first, UINT32_MAX);
    field_size(a, &s->width, SIZE_MAX);
    field_count(a, &s->entries);
    size_t n = s->n_places;
    field_size(a, &n, s->width);
    require(a, n <= (size_t)(a->end - a->at) / PLACE);
    if (a->out == NULL && good(a) && n > 0) {
        s->place = calloc(n, sizeof *s->place);
        require_memory(a, s->place != NULL);
    }
    for (size_t i = 0; i < n && s->place != NULL && good(a); i++) {
        struct sparse_place *p = &s->place[i];
        field_count(a, &p->n);
        field_count(a, &p->nonzero);
        field_double(a, &p->minimum);
        field_double(a, &p->maximum);
        field_double(a, &p->mean);
        field_double(a, &p->m2);
        require(a, p->n <= n_rows && p->nonzero <= p->n);
        s->n_places = i + 1;
    }
}

static void parts(struct archive *a, struct column_summary *s) {
    const uint64_t flags = part_head(a, s);
    if ((flags & SAVED_DIGEST) != 0) {
        part_digest(a, s);
    }
    part_rest(a, s);
    part_numbers(a, &s->numbers);
    part_texts(a, &s->texts);
    if ((flags & SAVED_DISTINCT) != 0) {
        part_distinct(a, &s->distinct);
    }
    if ((flags & SAVED_SAMPLE) != 0) {
        part_sample(a, s);
    }
    if ((flags & SAVED_WORDS) != 0) {
        part_words(a, s);
    }
    part_sparse(a, &s->sparse, s->n_rows);
}

/* ---- saving and loading ---- */
bool column_summary_save(const struct column_summary *s, struct buf *out) {
    struct column_summary same = *s;
    struct archive a = {.out = out};
    const size_t start = out->size;
    buf_append(out, magic, strlen(magic));
    put_number(out, COLUMN_SUMMARY_VERSION, HEADER / 2);
    parts(&a, &same);
    if (out->failed || !good(&a)) {
        return false;
    }
    put_number(out, hash_crc32(out->data + start, out->size - start), CRC);
    return !out->failed;
}

/* Whether the summary has all that column_summary_write needs for a column of that type, and
 * nothing else. */
static bool suits(const struct column_summary *s, dn_column_type type) {
    const bool strings = type == DN_CATEGORICAL || type == DN_TEXT,
               numbers = dn_column_type_is_real(type);
    return (!s->estimated || strings || numbers) &&
           (s->sample != NULL) == (s->estimated && numbers && column_summary_is_ranked(s)) &&
           (s->words != NULL) == (s->estimated && strings && !s->wordless) &&
           (numbers || !s->counts_up) &&
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
    struct archive a = {.at = start + HEADER, .end = start + n - CRC};
    struct column_summary loaded = {0};
    parts(&a, &loaded);
    require(&a, a.at == a.end && suits(&loaded, type));
    if (!good(&a)) {
        column_summary_done(&loaded);
        return a.status;
    }
    *s = loaded;
    return COLUMN_SUMMARY_LOADED;
}
