/* Sequences of characters: rows of code points, stored as numbers of the alphabet of all points. */
#include "kernels/edit.h"
#include "kernels/points_kind.h"

#include <math.h>
#include <string.h>

enum {
    AT_ONCE = 256,
    CODE_POINTS = 0x110000,
    LETTERS = 16384 /* size of an alphabet in estimates */
};

struct texts {
    void *memory;       /* the block of start and text */
    size_t *start;      /* [n + 1] */
    uint32_t *text;     /* [start[n]] code points; after `end`, their numbers in the alphabet */
    uint32_t *alphabet; /* [n_symbols] ascending; NULL before `end` */
    size_t n_symbols, longest;
};

struct texts_shape {
    size_t n, n_characters;
};

static void texts_layout(dni_layout *layout, const void *shape, void *work) {
    const struct texts_shape *s = shape;
    struct texts *own = work;
    own->start = dni_layout_array(layout, s->n + 1, sizeof *own->start);
    own->text = dni_layout_array(layout, s->n_characters, sizeof *own->text);
}

static void free_texts(dni_points *p) {
    struct texts *own = p->own;
    if (own == NULL) {
        return;
    }
    dn_run_free(p->run, own->memory);
    dn_run_free(p->run, own->alphabet);
    dn_run_free(p->run, own);
    p->own = NULL;
}

static size_t letters_of(const dni_rows_shape *shape) {
    return shape->n_entries < LETTERS ? shape->n_entries : LETTERS;
}

static dni_points_bytes memory(const dni_rows_shape *shape) {
    const struct texts_shape texts = {shape->n, shape->n_entries};
    struct texts own;
    const double bytes = sizeof own + dni_layout_bytes(texts_layout, &texts, &own) +
                         sizeof *own.alphabet * (double)letters_of(shape);
    return (dni_points_bytes){.kept = bytes, .building = bytes + CODE_POINTS};
}

/* The scratch is that of the distances, then each query's symbols, at most d. */
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
    void *memory;
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct texts), "the texts of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct texts *own = p->own = memory;
    return dni_layout_take(p->run, texts_layout, &shape, own, "the texts of a kernel", &own->memory,
                           err);
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
    struct texts *own = p->own;
    for (size_t i = 0; i < x.n_rows; i++) {
        const dni_row row = dni_row_of(x, i);
        size_t k = own->start[first + i];
        for (size_t e = 0; e < row.n; e++) {
            if (row.values[e] != 0) {
                own->text[k++] = character(row.values[e]);
            }
        }
        own->longest =
            k - own->start[first + i] > own->longest ? k - own->start[first + i] : own->longest;
        own->start[first + i + 1] = k;
    }
}

/* The number of a character in the alphabet, or n_symbols. */
static uint32_t symbol(const struct texts *own, uint32_t character_wanted) {
    size_t low = 0, high = own->n_symbols;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (own->alphabet[middle] < character_wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)(low < own->n_symbols && own->alphabet[low] == character_wanted
                          ? low
                          : own->n_symbols);
}

/* Sets alphabet and n_symbols from the marked characters. */
static dn_status collect(const dni_points *p, const uint8_t *marked, dn_error *err) {
    struct texts *own = p->own;
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
    own->alphabet = alphabet;
    for (uint32_t c = 0; c < CODE_POINTS; c++) {
        if (marked[c]) {
            own->alphabet[own->n_symbols++] = c;
        }
    }
    return DN_OK;
}

static dn_status end(dni_points *p, dn_error *err) {
    struct texts *own = p->own;
    const size_t n = own->start[p->n];
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(p->run, CODE_POINTS, 1, "the alphabet of a kernel's texts", &memory, err);
    uint8_t *marked = memory;
    for (size_t i = 0; status == DN_OK && i < n; i++) {
        if (own->text[i] < CODE_POINTS) {
            marked[own->text[i]] = 1;
        }
    }
    if (status == DN_OK) {
        status = collect(p, marked, err);
    }
    dn_run_free(p->run, memory);
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        for (size_t k = own->start[i]; k < own->start[i + 1]; k++) {
            own->text[k] = symbol(own, own->text[k]);
        }
        status = dn_run_stop(p->run, err);
    }
    return status;
}

/* ---- queries ---- */
static size_t edit_doubles(const dni_points *p) {
    const struct texts *own = p->own;
    return dni_edit_work(own->n_symbols, own->longest);
}

static size_t work(const dni_points *p, size_t n) {
    return edit_doubles(p) + n * text_doubles(p->d);
}

/* A block of 64 characters takes some 4 ns per character of the other text. */
static size_t step(const dni_points *p) {
    const struct texts *own = p->own;
    const double length = (double)own->longest + 64, pair = 4e-9 * (length / 64) * length;
    return pair < 0.01 ? (size_t)(0.01 / pair) : 1;
}

static void take(const dni_points *p, const dni_points *from, size_t i, bool single,
                 dni_queries *queries) {
    const struct texts *source = from->own;
    (void)p;
    (void)single;
    queries->of[queries->n++] = (dni_query){.text = source->text + source->start[i],
                                            .row.n = source->start[i + 1] - source->start[i],
                                            .self = 1};
}

static void read_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    uint32_t *text =
        (uint32_t *)(void *)(queries->work + edit_doubles(p) + queries->n * text_doubles(p->d));
    size_t n = 0;
    (void)single;
    for (size_t e = 0; e < row.n; e++) {
        if (row.values[e] != 0) {
            text[n++] = symbol(p->own, character(row.values[e]));
        }
    }
    queries->of[queries->n++] = (dni_query){.text = text, .row.n = n, .self = 1};
}

static void values(const dni_points *p, const dni_queries *queries, size_t first, size_t n,
                   dni_wanted wanted) {
    const struct texts *own = p->own;
    double measure[AT_ONCE];
    for (size_t q = 0; q < queries->n; q++) {
        const dni_query *query = &queries->of[q];
        dni_edit edit;
        dni_edit_begin(&edit, query->text, query->row.n, own->n_symbols, queries->work);
        for (size_t done = 0, some; done < n; done += some) {
            some = n - done < AT_ONCE ? n - done : AT_ONCE;
            for (size_t k = 0; k < some; k++) {
                const size_t j = first + done + k;
                measure[k] = (double)dni_edit_distance(&edit, own->text + own->start[j],
                                                       own->start[j + 1] - own->start[j]);
            }
            dni_values_of(p, query, first + done, some, measure, wanted, q * wanted.stride + done);
        }
    }
}

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct texts *source = from->own;
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
    struct texts *own = p->own;
    own->alphabet = alphabet;
    own->n_symbols = source->n_symbols;
    own->longest = source->longest; /* the scratch of a selection is that of the whole set */
    if (source->n_symbols > 0) {
        memcpy(alphabet, source->alphabet, source->n_symbols * sizeof(uint32_t));
    }
    for (size_t k = 0; k < p->n; k++) {
        const size_t from_at = source->start[list[k]],
                     length = source->start[list[k] + 1] - from_at;
        if (length > 0) {
            memcpy(own->text + own->start[k], source->text + from_at, length * sizeof *own->text);
        }
        own->start[k + 1] = own->start[k] + length;
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
                                               .take = take,
                                               .read = read_row,
                                               .values = values};
