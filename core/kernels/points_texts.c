/* Sequences of characters. The entries of a row are code points. They are stored as symbols:
 * indices in the alphabet, which is the sorted list of the characters of all points. */
#include "kernels/edit.h"
#include "kernels/points_kind.h"

#include <math.h>
#include <string.h>

enum {
    BATCH = 256, /* number of points that are processed at a time */
    CODE_POINTS = 0x110000,
    ALPHABET_ESTIMATE = 16384 /* maximum size of an alphabet in estimates of memory */
};

struct texts {
    void *memory;       /* allocated block that holds start and text */
    size_t *start;      /* [n + 1] point i is text[start[i]] … text[start[i + 1] − 1] */
    uint32_t *text;     /* [start[n]] code points; after `end`, symbols */
    uint32_t *alphabet; /* [n_symbols] ascending; NULL before `end` */
    size_t n_symbols, longest;
};

struct texts_shape {
    size_t n, n_characters;
};

static void texts_layout(dni_layout *layout, const void *shape, void *work) {
    const struct texts_shape *s = shape;
    struct texts *storage = work;
    storage->start = dni_layout_array(layout, s->n + 1, sizeof *storage->start);
    storage->text = dni_layout_array(layout, s->n_characters, sizeof *storage->text);
}

static void free_texts(dni_points *p) {
    struct texts *storage = p->storage;
    if (storage == NULL) {
        return;
    }
    dn_run_free(p->run, storage->memory);
    dn_run_free(p->run, storage->alphabet);
    dn_run_free(p->run, storage);
    p->storage = NULL;
}

static size_t letters_of(const dni_rows_shape *shape) {
    return shape->n_entries < ALPHABET_ESTIMATE ? shape->n_entries : ALPHABET_ESTIMATE;
}

static dni_points_bytes memory(const dni_rows_shape *shape) {
    const struct texts_shape texts = {shape->n, shape->n_entries};
    struct texts storage;
    const double bytes = sizeof storage + dni_layout_bytes(texts_layout, &texts, &storage) +
                         sizeof *storage.alphabet * (double)letters_of(shape);
    return (dni_points_bytes){.kept = bytes, .building = bytes + CODE_POINTS};
}

/* Returns the number of doubles for the symbols of one query, at most d symbols. */
static size_t text_doubles(size_t d) {
    return (d + 1) / 2;
}

static double work_bound(const dni_rows_shape *shape, size_t n) {
    const size_t longest = shape->d < shape->n_entries ? shape->d : shape->n_entries;
    return (double)dni_edit_work(letters_of(shape), longest) +
           (double)n * (double)text_doubles(shape->d);
}

static dn_status reserve(dni_points *p, size_t n_characters, dn_error *err) {
    const struct texts_shape shape = {p->n, n_characters};
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct texts), "the texts of a kernel", &p->storage, err);
    if (status != DN_OK) {
        return status;
    }
    struct texts *storage = p->storage;
    return dni_layout_take(p->run, texts_layout, &shape, storage, "the texts of a kernel",
                           &storage->memory, err);
}

static dn_status begin(dni_points *p, size_t n_entries, dn_error *err) {
    if (n_entries == SIZE_MAX && p->d > 0 && p->n > SIZE_MAX / 8 / p->d) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the texts of a kernel are more than can be addressed");
    }
    return reserve(p, n_entries == SIZE_MAX ? p->n * p->d : n_entries, err);
}

/* Converts a number to a code point. Returns UINT32_MAX if the number is out of range. */
static uint32_t character(double value) {
    return value >= 0 && value < 0x1p32 ? (uint32_t)value : UINT32_MAX;
}

static void add(dni_points *p, size_t first, dn_matrix x) {
    struct texts *storage = p->storage;
    for (size_t i = 0; i < x.n_rows; i++) {
        const dni_row row = dni_row_of(x, i);
        size_t k = storage->start[first + i];
        for (size_t e = 0; e < row.n; e++) {
            if (row.values[e] != 0) {
                storage->text[k++] = character(row.values[e]);
            }
        }
        storage->longest = k - storage->start[first + i] > storage->longest
                               ? k - storage->start[first + i]
                               : storage->longest;
        storage->start[first + i + 1] = k;
    }
}

/* Returns the index of a character in the alphabet; n_symbols if the alphabet does not have it. */
static uint32_t symbol(const struct texts *storage, uint32_t character_wanted) {
    size_t low = 0, high = storage->n_symbols;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (storage->alphabet[middle] < character_wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)(low < storage->n_symbols && storage->alphabet[low] == character_wanted
                          ? low
                          : storage->n_symbols);
}

/* Sets alphabet and n_symbols to the characters c with marked[c] = 1. */
static dn_status collect(const dni_points *p, const uint8_t *marked, dn_error *err) {
    struct texts *storage = p->storage;
    void *alphabet = NULL;
    size_t n = 0;
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        n += marked[c];
    }
    dn_status status = dn_run_alloc(p->run, n, sizeof(uint32_t), "the alphabet of a kernel's texts",
                                    &alphabet, err);
    if (status != DN_OK) {
        return status;
    }
    storage->alphabet = alphabet;
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        if (marked[c]) {
            storage->alphabet[storage->n_symbols++] = c;
        }
    }
    return DN_OK;
}

static dn_status end(dni_points *p, dn_error *err) {
    struct texts *storage = p->storage;
    const size_t n = storage->start[p->n];
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(p->run, CODE_POINTS, 1, "the alphabet of a kernel's texts", &memory, err);
    uint8_t *marked = memory;
    for (size_t i = 0; status == DN_OK && i < n; i++) {
        if (storage->text[i] < CODE_POINTS) {
            marked[storage->text[i]] = 1;
        }
    }
    if (status == DN_OK) {
        status = collect(p, marked, err);
    }
    dn_run_free(p->run, memory);
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        for (size_t k = storage->start[i]; k < storage->start[i + 1]; k++) {
            storage->text[k] = symbol(storage, storage->text[k]);
        }
        status = dn_run_stop(p->run, err);
    }
    return status;
}

/* ---- queries ---- */
static size_t edit_doubles(const dni_points *p) {
    const struct texts *storage = p->storage;
    return dni_edit_work(storage->n_symbols, storage->longest);
}

static size_t work(const dni_points *p, size_t n) {
    return edit_doubles(p) + n * text_doubles(p->d);
}

/* The edit distance between 64 characters and a text takes about 4 ns for each character of the
 * text. */
static size_t step(const dni_points *p) {
    const struct texts *storage = p->storage;
    const double length = (double)storage->longest + 64, pair = 4e-9 * (length / 64) * length;
    return pair < 0.01 ? (size_t)(0.01 / pair) : 1;
}

static void add_point(const dni_points *p, const dni_points *from, size_t i, bool single,
                      dni_queries *queries) {
    const struct texts *source = from->storage;
    (void)p;
    (void)single;
    queries->of[queries->n++] = (dni_query){.text = source->text + source->start[i],
                                            .row.n = source->start[i + 1] - source->start[i],
                                            .self = 1};
}

static void add_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    uint32_t *text =
        (uint32_t *)(void *)(queries->work + edit_doubles(p) + queries->n * text_doubles(p->d));
    size_t n = 0;
    (void)single;
    for (size_t e = 0; e < row.n; e++) {
        if (row.values[e] != 0) {
            text[n++] = symbol(p->storage, character(row.values[e]));
        }
    }
    queries->of[queries->n++] = (dni_query){.text = text, .row.n = n, .self = 1};
}

static void values(const dni_points *p, const dni_queries *queries, size_t first, size_t n,
                   dni_output output) {
    const struct texts *storage = p->storage;
    double measure[BATCH];
    for (size_t q = 0; q < queries->n; q++) {
        const dni_query *query = &queries->of[q];
        dni_edit edit;
        dni_edit_begin(&edit, query->text, query->row.n, storage->n_symbols, queries->work);
        for (size_t done = 0, some; done < n; done += some) {
            some = n - done < BATCH ? n - done : BATCH;
            for (size_t k = 0; k < some; k++) {
                const size_t j = first + done + k;
                measure[k] = (double)dni_edit_distance(&edit, storage->text + storage->start[j],
                                                       storage->start[j + 1] - storage->start[j]);
            }
            dni_values_of(p, query, first + done, some, measure, &output, q * output.stride + done);
        }
    }
}

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct texts *source = from->storage;
    size_t n = 0;
    void *alphabet = NULL;
    for (size_t k = 0; k < p->n; k++) {
        n += source->start[list[k] + 1] - source->start[list[k]];
    }
    dn_status status = reserve(p, n, err);
    if (status == DN_OK) {
        status = dn_run_alloc(p->run, source->n_symbols, sizeof(uint32_t),
                              "the alphabet of a kernel's texts", &alphabet, err);
    }
    if (status != DN_OK) {
        return status;
    }
    struct texts *storage = p->storage;
    storage->alphabet = alphabet;
    storage->n_symbols = source->n_symbols;
    storage->longest =
        source->longest; /* so that scratch of `from` and of the selection have the same size */
    if (source->n_symbols > 0) {
        memcpy(alphabet, source->alphabet, source->n_symbols * sizeof(uint32_t));
    }
    for (size_t k = 0; k < p->n; k++) {
        const size_t from_at = source->start[list[k]],
                     length = source->start[list[k] + 1] - from_at;
        if (length > 0) {
            memcpy(storage->text + storage->start[k], source->text + from_at,
                   length * sizeof *storage->text);
        }
        storage->start[k + 1] = storage->start[k] + length;
    }
    return DN_OK;
}

const dni_points_kind dni_points_kind_texts = {.memory = memory,
                                               .work_bound = work_bound,
                                               .begin = begin,
                                               .add = add,
                                               .end = end,
                                               .free = free_texts,
                                               .select = select_points,
                                               .step = step,
                                               .work = work,
                                               .add_point = add_point,
                                               .add_row = add_row,
                                               .values = values};
