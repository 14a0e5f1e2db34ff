/* Rows of 0 and 1 as bits: x'z is the number of bits in both rows, ‖x − z‖² and Σ|x − z| the number
 * of bits in only one of them. The kernel's value is looked up in a table of these numbers. */
#include "base/cpu.h"
#include "kernels/points_kind.h"

#include <math.h>
#include <string.h>

enum { WORD = 64, AT_ONCE = 1024, FEW_WORDS = 4, MOST_BYTES = 255 };

struct bits {
    uint64_t *words; /* [n × n_words] */
    size_t n_words;
    uint64_t *planes; /* [d × n_blocks] the transpose, 64 points a word; NULL: not used */
    size_t n_blocks;
    uint8_t *ones;   /* [64 × n_blocks] number of bits of each point; with `planes` */
    size_t most;     /* the largest of `ones` */
    double *numbers; /* [d + 1] 0, 1, 2 …; Chebyshev: at most 1 */
    double *table; /* [d + 1] the kernel's value of each number; NULL: it needs K(x, x) or ‖x‖² */
    float *table_single; /* [d + 1] */
};

static size_t words_of(size_t d) {
    return d / WORD + (d % WORD != 0);
}

/* Whether bits are faster than sparse rows: a pair of those costs two word operations for each
 * common column. */
bool dni_bits_pay(const dni_points *p, double hits) {
    const size_t words = words_of(p->d);
    return p->kernel.type != DN_KERNEL_MAHALANOBIS && p->kernel.type != DN_KERNEL_PRECOMPUTED &&
           p->n > 0 && p->d > 0 && (words <= FEW_WORDS || (double)words <= 2 * hits);
}

/* The same before the rows are known: on average rows have at most as many common columns as
 * entries. */
static bool may_pay(const dni_rows_shape *shape) {
    const double words = ceil(shape->d / WORD);
    return words <= FEW_WORDS || words * shape->n <= 2 * shape->entries;
}

double dni_bits_beside(const dni_rows_shape *shape) {
    return may_pay(shape) ? sizeof(uint64_t) * shape->n * ceil(shape->d / WORD) : 0;
}

double dni_bits_memory(const dni_rows_shape *shape) {
    const double planes =
        shape->d <= MOST_BYTES ? (shape->n / WORD + 1) * (sizeof(uint64_t) * shape->d + WORD) : 0;
    const double tables = (2 * sizeof(double) + sizeof(float)) * (shape->d + 1);
    return may_pay(shape) ? dni_bits_beside(shape) + planes + tables : 0;
}

double dni_bits_work_memory(const dni_rows_shape *shape) {
    return may_pay(shape) ? sizeof(double) * (DNI_QUERIES * ceil(shape->d / WORD) + 2 * shape->d)
                          : 0;
}

dn_status dni_bits_new(const dni_points *p, uint64_t **out, dn_error *err) {
    void *words;
    dn_status status = dn_run_alloc(p->run, p->n * words_of(p->d), sizeof(uint64_t),
                                    "the points of a kernel", &words, err);
    if (status == DN_OK) {
        *out = words;
    }
    return status;
}

void dni_bits_set(uint64_t *bits, size_t d, size_t i, size_t j) {
    bits[i * words_of(d) + j / WORD] |= (uint64_t)1 << j % WORD;
}

/* Whether bits in only one of the rows are counted; else bits in both. */
static bool differences(const dni_points *p) {
    return p->form == DNI_FORM_SQUARE || p->form == DNI_FORM_MANHATTAN ||
           p->form == DNI_FORM_CHEBYSHEV;
}

static size_t count(const uint64_t *x, size_t n_words) {
    size_t n = 0;
    for (size_t w = 0; w < n_words; w++) {
        n += dni_count_bits(x[w]);
    }
    return n;
}

static double value_of(const dni_points *p, double number) {
    if (p->form == DNI_FORM_PRODUCT) {
        return dni_kernel_of_product(&p->kernel, number);
    }
    if (p->form == DNI_FORM_CHEBYSHEV) {
        number = number > 0 ? 1 : 0;
    }
    return dni_kernel_of_distance(&p->kernel, number);
}

static dn_status make_tables(dni_points *p, struct bits *own, dn_error *err) {
    void *numbers = NULL, *table = NULL, *single = NULL;
    const bool direct =
        p->form != DNI_FORM_COSINE && !(p->form == DNI_FORM_PRODUCT && p->kernel.normalize);
    dn_status status =
        dn_run_alloc(p->run, p->d + 1, sizeof(double), "the points of a kernel", &numbers, err);
    own->numbers = numbers;
    if (status == DN_OK && direct) {
        status =
            dn_run_alloc(p->run, p->d + 1, sizeof(double), "the points of a kernel", &table, err);
    }
    own->table = table;
    if (status == DN_OK && direct) {
        status =
            dn_run_alloc(p->run, p->d + 1, sizeof(float), "the points of a kernel", &single, err);
    }
    own->table_single = single;
    for (size_t i = 0; status == DN_OK && i <= p->d; i++) {
        own->numbers[i] = p->form == DNI_FORM_CHEBYSHEV && i > 1 ? 1 : (double)i;
        if (direct) {
            own->table[i] = value_of(p, (double)i);
            own->table_single[i] = (float)own->table[i];
        }
    }
    return status;
}

static void free_bits(dni_points *p) {
    struct bits *own = p->own;
    if (own == NULL) {
        return;
    }
    dn_run_free(p->run, own->words);
    dn_run_free(p->run, own->planes);
    dn_run_free(p->run, own->ones);
    dn_run_free(p->run, own->numbers);
    dn_run_free(p->run, own->table);
    dn_run_free(p->run, own->table_single);
    dn_run_free(p->run, own);
    p->own = NULL;
}

static dn_status make_planes(dni_points *p, struct bits *own, dn_error *err) {
    void *planes = NULL, *ones = NULL;
    own->n_blocks = p->n / WORD + (p->n % WORD != 0);
    dn_status status = dn_run_alloc(p->run, own->n_blocks * p->d, sizeof(uint64_t),
                                    "the points of a kernel", &planes, err);
    own->planes = planes;
    if (status == DN_OK) {
        status =
            dn_run_alloc(p->run, own->n_blocks * WORD, 1, "the points of a kernel", &ones, err);
    }
    own->ones = ones;
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        size_t n = 0;
        for (size_t w = 0; w < own->n_words; w++) {
            for (uint64_t left = own->words[i * own->n_words + w]; left != 0;
                 left &= left - 1, n++) {
                own->planes[(w * WORD + dni_lowest_bit(left)) * own->n_blocks + i / WORD] |=
                    (uint64_t)1 << i % WORD;
            }
        }
        own->ones[i] = (uint8_t)n;
        own->most = n > own->most ? n : own->most;
    }
    return status;
}

/* Makes the set from `words`, which it owns from now on, also after an error. */
static dn_status make(dni_points *p, uint64_t *words, dn_error *err) {
    void *memory;
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct bits), "the points of a kernel", &memory, err);
    p->kind = &dni_points_kind_bits;
    if (status != DN_OK) {
        dn_run_free(p->run, words);
        return status;
    }
    struct bits *own = p->own = memory;
    *own = (struct bits){.words = words, .n_words = words_of(p->d)};
    status = make_tables(p, own, err);
    return status == DN_OK && p->d <= MOST_BYTES && p->lanes->tally != NULL
               ? make_planes(p, own, err)
               : status;
}

dn_status dni_bits_become(dni_points *p, uint64_t *bits, dn_error *err) {
    dn_status status = make(p, bits, err);
    p->expanded = false;
    if (status == DN_OK) {
        status = dni_points_reserve(p, false, err);
    }
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        status =
            dni_points_check(p, i, (double)count(bits + i * words_of(p->d), words_of(p->d)), err);
    }
    return status;
}

/* ---- queries ---- */
/* The scratch is the queries' words, then the columns and the ones of a point. */
static size_t work(const dni_points *p, size_t n) {
    return n * words_of(p->d) + p->d + (p->d + 1) / 2;
}

static uint64_t *words_of_query(const dni_points *p, const dni_queries *queries, size_t q) {
    return (uint64_t *)(void *)queries->work + q * words_of(p->d);
}

static void take(const dni_points *p, const dni_points *from, size_t i, bool single,
                 dni_queries *queries) {
    const struct bits *source = from->own;
    (void)p;
    (void)single;
    queries->of[queries->n++] = (dni_query){.bits = source->words + i * source->n_words,
                                            .square = from->square == NULL ? 0 : from->square[i],
                                            .self = from->self == NULL ? 1 : from->self[i]};
}

static void read_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    uint64_t *bits = words_of_query(p, queries, queries->n);
    dni_query *query = &queries->of[queries->n++];
    bool binary = true;
    (void)single;
    memset(bits, 0, words_of(p->d) * sizeof *bits);
    for (size_t e = 0; e < row.n; e++) {
        binary = binary && (row.values[e] == 0 || row.values[e] == 1);
        if (row.values[e] == 1) {
            dni_bits_set(bits, p->d, 0, row.cols == NULL ? e : row.cols[e]);
        }
    }
    *query = (dni_query){.row = row,
                         .bits = binary ? bits : NULL,
                         .square = dni_pair_measure(DNI_FORM_PRODUCT, row, row)};
    query->self =
        p->form == DNI_FORM_PRODUCT ? dni_kernel_of_product(&p->kernel, query->square) : 1;
}

/* Compares a row of other numbers than 0 and 1 with points, whose columns are written out. */
static void measure_any(const dni_points *p, const dni_query *query, double *room, size_t first,
                        size_t n, double *measure) {
    const struct bits *own = p->own;
    uint32_t *cols = (uint32_t *)(void *)(room + p->d);
    for (size_t i = 0; i < p->d; i++) {
        room[i] = 1;
    }
    for (size_t j = 0; j < n; j++) {
        const uint64_t *words = own->words + (first + j) * own->n_words;
        dni_row z = {room, cols, 0};
        for (size_t w = 0; w < own->n_words; w++) {
            for (uint64_t left = words[w]; left != 0; left &= left - 1) {
                cols[z.n++] = (uint32_t)(w * WORD + dni_lowest_bit(left));
            }
        }
        measure[j] = dni_pair_measure(p->form, query->row, z);
    }
}

/* Tables for the counts of a row of 0 and 1; one of them is NULL. */
struct counting {
    const double *table;
    const float *single;
};

static uint8_t columns_of(const uint64_t *bits, size_t n_words, uint8_t set[MOST_BYTES]) {
    uint8_t n = 0;
    for (size_t w = 0; w < n_words; w++) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            set[n++] = (uint8_t)(w * WORD + dni_lowest_bit(left));
        }
    }
    return n;
}

static void count_by_columns(const dni_points *p, const uint64_t *bits, size_t first, size_t n,
                             struct counting counting, double *out, float *single) {
    const struct bits *own = p->own;
    uint8_t set[MOST_BYTES], counts[AT_ONCE];
    const size_t n_set = columns_of(bits, own->n_words, set), most = differences(p)
                                                                         ? own->most + n_set
                                                                     : own->most < n_set ? own->most
                                                                                         : n_set;
    const size_t n_table = (most < p->d ? most : p->d) + 1;
    for (size_t done = 0; done < n;) {
        const size_t at = first + done, word = at / WORD, low = at % WORD;
        const size_t some = n - done < AT_ONCE - low ? n - done : AT_ONCE - low;
        const uint8_t *ones = differences(p) ? own->ones + at : NULL;
        p->lanes->tally(own->planes + word, own->n_blocks, set, n_set,
                        (low + some + WORD - 1) / WORD, counts);
        if (single != NULL) {
            p->lanes->look_up_single(counts + low, ones, n_set, counting.single, n_table, some,
                                     single + done);
        } else {
            p->lanes->look_up(counts + low, ones, n_set, counting.table, n_table, some, out + done);
        }
        done += some;
    }
}

static void count_bits(const dni_points *p, const uint64_t *bits, size_t first, size_t n,
                       struct counting counting, double *out, float *single) {
    const struct bits *own = p->own;
    const uint64_t *words = own->words + first * own->n_words;
    if (own->planes != NULL) {
        count_by_columns(p, bits, first, n, counting, out, single);
    } else if (single != NULL) {
        p->lanes->counts_single(differences(p), bits, words, own->n_words, n, counting.single,
                                single);
    } else {
        p->lanes->counts(differences(p), bits, words, own->n_words, n, counting.table, out);
    }
}

static void values_of_query(const dni_points *p, const dni_queries *queries, size_t q, size_t first,
                            size_t n, dni_wanted wanted) {
    const struct bits *own = p->own;
    const dni_query *query = &queries->of[q];
    double measure[AT_ONCE], *room = queries->work + queries->n * own->n_words;
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < AT_ONCE ? n - done : AT_ONCE;
        if (query->bits == NULL) {
            measure_any(p, query, room, first + done, some, measure);
        } else {
            count_bits(p, query->bits, first + done, some, (struct counting){.table = own->numbers},
                       measure, NULL);
        }
        dni_values_of(p, query, first + done, some, measure, wanted, q * wanted.stride + done);
        done += some;
    }
}

static void values(const dni_points *p, const dni_queries *queries, size_t first, size_t n,
                   dni_wanted wanted) {
    const struct bits *own = p->own;
    for (size_t q = 0; q < queries->n; q++) {
        const uint64_t *bits = queries->of[q].bits;
        const struct counting counting = {own->table, own->table_single};
        if (own->table == NULL || bits == NULL || wanted.distances) {
            values_of_query(p, queries, q, first, n, wanted);
        } else {
            count_bits(p, bits, first, n, counting,
                       wanted.exact == NULL ? NULL : wanted.exact + q * wanted.stride,
                       wanted.single == NULL ? NULL : wanted.single + q * wanted.stride);
        }
    }
}

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct bits *source = from->own;
    uint64_t *words;
    dn_status status = dni_bits_new(p, &words, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < p->n; k++) {
        memcpy(words + k * source->n_words, source->words + list[k] * source->n_words,
               source->n_words * sizeof *words);
    }
    return make(p, words, err);
}

/* begin, add and end are those of the kind in which the rows arrive. */
const dni_points_kind dni_points_kind_bits = {.free = free_bits,
                                              .select = select_points,
                                              .work = work,
                                              .take = take,
                                              .read = read_row,
                                              .values = values};
