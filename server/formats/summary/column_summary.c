/* The summary of a column: booleans, strings, and results. Numbers are in column_numbers.c.
 *
 * The digest is BLAKE2b over the encodings of the values in row order. Each value has only one
 * encoding, the shortest, so that equal values have equal digests:
 *   numeric   one byte 0 … 239 for these integers; 240: missing; 241 or 242 and an i16 or i32;
 *             243 and an f64 (fractions, large numbers, -0). All little-endian
 *   boolean   one byte 0, 1; 240: missing
 *   strings   the length as u32, little-endian, and the bytes; 0xffffffff: missing
 *   sparse    see sparse_summary.c */
#include "formats/summary/column_summary.h"
#include "formats/text/view_cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGE = 8192,
    /* limit of the bytes of the sketches of distinct values of all columns, although each sketch
     * has at least 2^DISTINCT_MIN_BITS registers */
    DISTINCT_BYTES = 2 << 20
};

void column_summary_done(struct column_summary *s) {
    hash_blake2b_free(s->digest);
    free(s->rest);
    number_tally_done(&s->numbers);
    tally_done(&s->texts);
    distinct_sketch_done(&s->distinct);
    column_words_free(s->words);
    number_sample_free(s->sample);
    sparse_summary_done(&s->sparse);
    *s = (struct column_summary){.n_columns = s->n_columns, .wordless = s->wordless};
}

void column_summary_reset(struct column_summary *s) {
    column_summary_done(s);
}

int64_t column_summary_number_texts(const struct column_summary *s) {
    int64_t rows = 0;
    for (size_t i = 0; !s->estimated && i < s->texts.n; i++) {
        const struct tally_entry *e = &s->texts.entry[i];
        const struct text t = text_trim(tally_text(&s->texts, e), e->length);
        double number = 0;
        rows += dn_number_parse(t.bytes, t.n, &number) ? e->count : 0;
    }
    return rows;
}

size_t column_summary_counts_memory(const struct column_summary *s) {
    return number_tally_memory(&s->numbers) + tally_memory(&s->texts);
}

size_t column_summary_sketch_memory(const struct column_summary *s) {
    const size_t words = s->words != NULL ? distinct_sketch_memory(&s->words->distinct) : 0;
    return distinct_sketch_memory(&s->distinct) + words + number_sample_memory(s->sample);
}

static unsigned distinct_bits(const struct column_summary *s) {
    unsigned bits = DISTINCT_MAX_BITS;
    while (bits > DISTINCT_MIN_BITS && s->n_columns << bits > DISTINCT_BYTES) {
        bits--;
    }
    return bits;
}

bool column_summary_begin_distinct(const struct column_summary *s, struct distinct_sketch *out) {
    return distinct_sketch_init(out, distinct_bits(s));
}

struct column_words *column_summary_new_words(const struct column_summary *s) {
    return column_words_new(distinct_bits(s));
}

static bool begin(struct column_summary *s) {
    if (s->digest == NULL) {
        s->digest = hash_blake2b_new();
    }
    return s->digest != NULL;
}

/* ---- booleans and strings ---- */
static void add_booleans(struct column_summary *s, const dn_column_view *view) {
    unsigned char form[COLUMN_BLOCK];
    for (size_t i = 0; i < view->n_rows;) {
        size_t n = 0;
        for (; n < COLUMN_BLOCK && i < view->n_rows; i++) {
            if (isnan(view->number[i])) {
                s->missing++;
                form[n++] = COLUMN_TAG_MISSING;
            } else {
                s->truths[view->number[i] != 0]++;
                form[n++] = view->number[i] != 0;
            }
        }
        hash_blake2b_add(s->digest, form, n);
    }
}

/* A buffer in front of a digest, so that the digest is not called for each cell. */
struct stage {
    struct hash_blake2b *digest;
    size_t size;
    unsigned char bytes[STAGE];
};

static void stage_flush(struct stage *stage) {
    hash_blake2b_add(stage->digest, stage->bytes, stage->size);
    stage->size = 0;
}

/* Adds the length of a text. */
static inline void stage_length(struct stage *stage, uint32_t n) {
    if (STAGE - stage->size < 4) {
        stage_flush(stage);
    }
    unsigned char *form = stage->bytes + stage->size;
    form[0] = (unsigned char)n;
    form[1] = (unsigned char)(n >> 8);
    form[2] = (unsigned char)(n >> 16);
    form[3] = (unsigned char)(n >> 24);
    stage->size += 4;
}

static inline void stage_text(struct stage *stage, struct text text) {
    stage_length(stage, (uint32_t)text.n);
    if (text.n > STAGE - stage->size) {
        stage_flush(stage);
        if (text.n > STAGE) {
            hash_blake2b_add(stage->digest, text.bytes, text.n);
            return;
        }
    }
    memcpy(stage->bytes + stage->size, text.bytes, text.n);
    stage->size += text.n;
}

/* Adds a text that occurs `times` times to the sketches. */
static void sketch_text(struct column_summary *s, const char *text, size_t n, int64_t times) {
    distinct_sketch_add(&s->distinct, distinct_hash_bytes(text, n));
    if (!s->wordless) {
        column_words_add(s->words, text, n, times);
    }
}

/* Converts the exact counts of texts to sketches, and counts their words. (While texts are counted
 * exactly, words can be counted at the end.) Returns false if out of memory. */
static bool drop_texts(struct column_summary *s) {
    struct distinct_sketch distinct = {0};
    struct column_words *words = s->wordless ? NULL : column_summary_new_words(s);
    if ((!s->wordless && words == NULL) || !column_summary_begin_distinct(s, &distinct)) {
        column_words_free(words);
        return false;
    }
    s->distinct = distinct;
    s->words = words;
    s->estimated = true;
    for (size_t i = 0; i < s->texts.n; i++) {
        const struct tally_entry *e = &s->texts.entry[i];
        sketch_text(s, tally_text(&s->texts, e), e->length, e->count);
    }
    tally_done(&s->texts);
    return true;
}

bool column_summary_drop_counts(struct column_summary *s) {
    const bool numbers = s->numbers.n + s->numbers.n_small > 0,
               well = numbers ? column_summary_drop_numbers(s) : drop_texts(s);
    s->dropped |= well;
    return well;
}

static bool count_text(struct column_summary *s, const char *text, size_t n, int64_t times) {
    if (!s->estimated) {
        const enum tally_status status = tally_add(&s->texts, text, n, times);
        if (status != TALLY_FULL) {
            return status == TALLY_WELL;
        }
        if (!drop_texts(s)) {
            return false;
        }
        s->many = true;
    }
    sketch_text(s, text, n, times);
    return true;
}

static void digest_strings(struct column_summary *s, const dn_column_view *view) {
    struct stage stage = {.digest = s->digest};
    for (size_t i = 0; i < view->n_rows; i++) {
        if (view->code[i] == DN_CODE_MISSING) {
            s->missing++;
            stage_length(&stage, UINT32_MAX);
            continue;
        }
        const struct text text = strings_text(&view->strings, view->code[i]);
        stage_text(&stage, text);
    }
    stage_flush(&stage);
}

static bool add_strings(struct column_summary *s, const dn_column_view *view) {
    digest_strings(s, view);
    /* cells are first counted by code, so that count_text is called once for each distinct text */
    size_t n_codes = view->strings.n;
    int64_t *count = calloc(n_codes > 0 ? n_codes : 1, sizeof *count);
    bool well = count != NULL;
    for (size_t i = 0; well && i < view->n_rows; i++) {
        if (view->code[i] != DN_CODE_MISSING) {
            count[view->code[i]]++;
        }
    }
    for (size_t i = 0; well && i < n_codes; i++) {
        const struct text text = strings_text(&view->strings, i);
        well = count[i] == 0 || count_text(s, text.bytes, text.n, count[i]);
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
    case DN_DATETIME:
        return column_summary_add_numbers(s, view->number, view->n_rows);
    case DN_BOOLEAN:
        add_booleans(s, view);
        return true;
    case DN_SPARSE:
        return sparse_summary_add(&s->sparse, view, s->digest);
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
    unsigned char form[COLUMN_BLOCK];
    const bool string = type == DN_CATEGORICAL || type == DN_TEXT;
    memset(form, string ? 0xFF : COLUMN_TAG_MISSING, sizeof form);
    s->n_rows += n;
    s->missing += n;
    for (int64_t left = string ? 4 * n : n; left > 0;) {
        const size_t take = left < COLUMN_BLOCK ? (size_t)left : COLUMN_BLOCK;
        hash_blake2b_add(s->digest, form, take);
        left -= (int64_t)take;
    }
    return !dn_column_type_is_real(type) || column_summary_begin_missing(s, n);
}

/* ---- results ---- */
int64_t column_summary_distinct(const struct column_summary *s, dn_column_type type) {
    size_t distinct = s->texts.n;
    if (type == DN_BOOLEAN) {
        return (s->truths[0] > 0) + (s->truths[1] > 0);
    }
    if (s->recounted) {
        return (int64_t)s->n_distinct;
    }
    if (dn_column_type_is_real(type)) {
        distinct = number_tally_distinct(&s->numbers);
    }
    return s->estimated || distinct > TALLY_MAX ? -1 : (int64_t)distinct;
}

bool column_summary_digest(struct column_summary *s, uint8_t out[HASH_BLAKE2B_SIZE]) {
    if (!begin(s)) {
        return false;
    }
    hash_blake2b_end(s->digest, out);
    return true;
}
