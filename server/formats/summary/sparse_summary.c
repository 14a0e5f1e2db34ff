/* The moments of a feature are updated entry by entry (Welford 1962), so that they do not depend on
 * the chunks. Rows without an entry are added at the end, as zeros (Chan, Golub and LeVeque 1979).
 *
 * Digest of a row: the number of entries; then for each entry its feature index minus that of the
 * previous entry (of the first entry: its feature index), and its value. Integers are base-128
 * numbers, low digits first, with 0x80 set on all bytes but the last. A value is one byte 1 … 239
 * for these integers, otherwise 243 and the f64, little-endian. */
#include "formats/summary/sparse_summary.h"
#include "formats/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sparse_summary_done(struct sparse_summary *s) {
    free(s->place);
    *s = (struct sparse_summary){0};
}

/* ---- digest ---- */
enum { STAGE = 8192, NUMBER_MOST = 10, ENTRY_MOST = NUMBER_MOST + 9, SMALL = 240, TAG_F64 = 243 };

static inline size_t put_number(unsigned char *out, uint64_t x) {
    size_t n = 0;
    for (; x >= 0x80; x >>= 7) {
        out[n++] = (unsigned char)(x | 0x80);
    }
    out[n++] = (unsigned char)x;
    return n;
}

static inline size_t put_value(unsigned char *out, double x) {
    if (x > 0 && x < SMALL && x == (double)(unsigned char)x) {
        out[0] = (unsigned char)x;
        return 1;
    }
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    out[0] = TAG_F64;
    for (size_t i = 0; i < 8; i++) {
        out[1 + i] = (unsigned char)(bits >> (8 * i));
    }
    return 9;
}

/* Whether the value is part of the digest: every value but +0. */
static inline bool is_entry(double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits != 0;
}

static void add_digest(struct hash_blake2b *digest, const dn_column_view *view) {
    unsigned char stage[STAGE + ENTRY_MOST];
    size_t size = 0;
    for (size_t i = 0; i < view->n_rows; i++) {
        const size_t first = view->row_start[i], end = view->row_start[i + 1];
        uint32_t before = 0;
        size_t n = 0;
        for (size_t k = first; k < end; k++) {
            n += is_entry(view->number[k]);
        }
        size += put_number(stage + size, n);
        for (size_t k = first; k < end; k++) {
            if (size >= STAGE - NUMBER_MOST) {
                hash_blake2b_add(digest, stage, size);
                size = 0;
            }
            if (is_entry(view->number[k])) {
                size += put_number(stage + size, view->index[k] - before);
                size += put_value(stage + size, view->number[k]);
                before = view->index[k];
            }
        }
        if (size >= STAGE - NUMBER_MOST) {
            hash_blake2b_add(digest, stage, size);
            size = 0;
        }
    }
    hash_blake2b_add(digest, stage, size);
}

/* ---- moments ---- */
static size_t width_of(const dn_column_view *view) {
    size_t width = 0;
    for (size_t i = 0; i < view->n_rows; i++) {
        const size_t end = view->row_start[i + 1];
        if (end > view->row_start[i] && view->index[end - 1] >= width) {
            width = (size_t)view->index[end - 1] + 1;
        }
    }
    return width;
}

/* Adds an entry to the moments (Welford 1962). */
static void place_add(struct sparse_place *p, double x) {
    p->minimum = p->n == 0 || x < p->minimum ? x : p->minimum;
    p->maximum = p->n == 0 || x > p->maximum ? x : p->maximum;
    p->n++;
    p->nonzero += x != 0;
    const double delta = x - p->mean;
    p->mean += delta / (double)p->n;
    p->m2 += delta * (x - p->mean);
}

static bool add_moments(struct sparse_summary *s, const dn_column_view *view, size_t width) {
    if (width > s->n_places) {
        struct sparse_place *grown = realloc(s->place, width * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        memset(grown + s->n_places, 0, (width - s->n_places) * sizeof *grown);
        s->place = grown;
        s->n_places = width;
    }
    for (size_t k = 0; k < view->row_start[view->n_rows]; k++) {
        place_add(&s->place[view->index[k]], view->number[k]);
    }
    return true;
}

bool sparse_summary_add(struct sparse_summary *s, const dn_column_view *view,
                        struct hash_blake2b *digest) {
    const size_t width = width_of(view);
    s->width = width > s->width ? width : s->width;
    s->entries += (int64_t)view->row_start[view->n_rows];
    add_digest(digest, view);
    if (s->width <= TABLE_MAX_COLUMNS) {
        return add_moments(s, view, width);
    }
    free(s->place);
    s->place = NULL;
    s->n_places = 0;
    return true;
}

/* ---- results ---- */
/* Returns the moments of feature j over all rows; rows without an entry count as zeros. */
static struct sparse_place over_rows(const struct sparse_summary *s, size_t j, int64_t n_rows) {
    struct sparse_place all = j < s->n_places ? s->place[j] : (struct sparse_place){0};
    if (all.n == n_rows) {
        return all;
    }
    if (all.n == 0) {
        return (struct sparse_place){.n = n_rows};
    }
    const double share = (double)all.n / (double)n_rows;
    all.m2 += all.mean * all.mean * share * (double)(n_rows - all.n);
    all.mean *= share;
    all.minimum = fmin(all.minimum, 0);
    all.maximum = fmax(all.maximum, 0);
    all.n = n_rows;
    return all;
}

void sparse_summary_write(const struct sparse_summary *s, const char *name, int64_t n_rows,
                          struct json_writer *w) {
    static const char *const members[] = {"nonzero", "min", "max", "mean", "std"};
    json_begin_object(w);
    json_kv_string(w, "name", name);
    json_kv_string(w, "type", dn_column_type_name(DN_SPARSE));
    json_kv_int(w, "missing", 0);
    json_kv_int(w, "first", s->first);
    json_kv_int(w, "width", (int64_t)s->width);
    json_kv_int(w, "entries", s->entries);
    if (s->width <= TABLE_MAX_COLUMNS) {
        json_kv_begin_object(w, "features");
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            json_kv_begin_array(w, members[m]);
            for (size_t j = 0; j < s->width; j++) {
                const struct sparse_place place = over_rows(s, j, n_rows);
                const double numbers[] = {(double)place.nonzero, place.minimum, place.maximum,
                                          place.mean, sqrt(place.m2 / (double)n_rows)};
                json_put_double(w, numbers[m]);
            }
            json_end_array(w);
        }
        json_end_object(w);
    }
}
