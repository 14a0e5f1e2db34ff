/* Rows of 0 and 1 as bits. x'z is the number of bits that are set in both rows. ‖x − z‖² and Σ|x −
 * z| are the number of bits that are set in exactly one of the rows. The kernel value of each
 * number is looked up in a table. */
#include "base/cpu.h"
#include "kernels/points_kind.h"

#include <math.h>
#include <string.h>

enum {
    WORD = 64,            /* bits of a word */
    BATCH = 1024,         /* number of points that are processed at a time */
    FEW_WORDS = 4,        /* bits are always used for rows of at most FEW_WORDS words */
    MAX_BYTE_COUNT = 255, /* largest count that fits into a byte */
};

struct dni_bits {
    void *memory;    /* allocated block that holds the arrays below */
    uint64_t *words; /* [n × n_words] */
    size_t n_words;
    uint64_t *planes; /* [d × n_blocks] the transpose, 64 points in a word; NULL: not used */
    size_t n_blocks;
    uint8_t *ones;   /* [64 × n_blocks] number of 1 bits of each point; NULL if `planes` is NULL */
    size_t most;     /* largest number in `ones` */
    double *numbers; /* [d + 1] measure for each count: 0, 1, 2 …; Chebyshev: 0, 1, 1 … */
    /* [d + 1] kernel value for each count; NULL: the value also depends on K(x, x) or ‖x‖² */
    double *table;
    float *table_single; /* [d + 1] `table` in float */
};

static size_t words_of(size_t d) {
    return d / WORD + (d % WORD != 0);
}

/* A pair of sparse rows costs as much as two word operations for each common column. */
bool dni_bits_are_faster(const dni_points *p, double n_common) {
    const size_t words = words_of(p->d);
    return p->kernel.type != DN_KERNEL_MAHALANOBIS && p->kernel.type != DN_KERNEL_PRECOMPUTED &&
           p->n > 0 && p->d > 0 && (words <= FEW_WORDS || (double)words <= 2 * n_common);
}

/* Returns true if bits may be faster for rows of which only the shape is known. The mean number of
 * common columns of two rows is at most the mean number of entries of a row. */
static bool may_be_faster(const dni_rows_shape *shape) {
    const double words = (double)words_of(shape->d);
    return words <= FEW_WORDS || shape->n_entries == SIZE_MAX ||
           words * (double)shape->n <= 2 * (double)shape->n_entries;
}

struct bits_shape {
    size_t n, d;
    bool planes, table;
};

static void bits_layout(dni_layout *layout, const void *shape, void *work) {
    const struct bits_shape *s = shape;
    struct dni_bits *bits = work;
    const size_t n_blocks = words_of(s->n);
    bits->words = dni_layout_array(layout, s->n, words_of(s->d) * sizeof *bits->words);
    bits->planes =
        s->planes ? dni_layout_array(layout, n_blocks, s->d * sizeof *bits->planes) : NULL;
    bits->ones = s->planes ? dni_layout_array(layout, n_blocks, WORD) : NULL;
    bits->numbers = dni_layout_doubles(layout, s->d + 1);
    bits->table = s->table ? dni_layout_doubles(layout, s->d + 1) : NULL;
    bits->table_single =
        s->table ? dni_layout_array(layout, s->d + 1, sizeof *bits->table_single) : NULL;
}

double dni_bits_memory(const dni_rows_shape *shape) {
    const struct bits_shape bits = {shape->n, shape->d, shape->d <= MAX_BYTE_COUNT, true};
    struct dni_bits scratch;
    return may_be_faster(shape) ? sizeof scratch + dni_layout_bytes(bits_layout, &bits, &scratch)
                                : 0;
}

/* Returns the number of doubles of scratch: the words of n queries, then d ones and d column
 * indices for measure_any. */
static size_t scratch_of(size_t d, size_t n) {
    return n * words_of(d) + d + (d + 1) / 2;
}

double dni_bits_work_bound(const dni_rows_shape *shape, size_t n) {
    return may_be_faster(shape) ? (double)scratch_of(shape->d, n) : 0;
}

static void set_bit(uint64_t *words, size_t j) {
    words[j / WORD] |= (uint64_t)1 << j % WORD;
}

void dni_bits_set(struct dni_bits *bits, size_t i, size_t j) {
    set_bit(bits->words + i * bits->n_words, j);
}

/* Returns true if the kernel is a function of the number of bits that are set in exactly one of two
 * rows; false if it is a function of the number of bits that are set in both rows. */
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

static void fill_tables(const dni_points *p, struct dni_bits *storage) {
    for (size_t i = 0; i <= p->d; i++) {
        storage->numbers[i] = p->form == DNI_FORM_CHEBYSHEV && i > 1 ? 1 : (double)i;
        if (storage->table != NULL) {
            storage->table[i] = value_of(p, (double)i);
            storage->table_single[i] = (float)storage->table[i];
        }
    }
}

static void fill_planes(const dni_points *p, struct dni_bits *storage) {
    for (size_t i = 0; i < p->n; i++) {
        size_t n = 0;
        for (size_t w = 0; w < storage->n_words; w++) {
            for (uint64_t rest = storage->words[i * storage->n_words + w]; rest != 0;
                 rest &= rest - 1, n++) {
                storage->planes[(w * WORD + dni_lowest_bit(rest)) * storage->n_blocks + i / WORD] |=
                    (uint64_t)1 << i % WORD;
            }
        }
        storage->ones[i] = (uint8_t)n;
        storage->most = n > storage->most ? n : storage->most;
    }
}

static void free_bits(dni_points *p) {
    struct dni_bits *storage = p->storage;
    if (storage == NULL) {
        return;
    }
    dn_run_free(p->run, storage->memory);
    dn_run_free(p->run, storage);
    p->storage = NULL;
}

dn_status dni_bits_new(const dni_points *p, struct dni_bits **out, dn_error *err) {
    const struct bits_shape shape = {.n = p->n,
                                     .d = p->d,
                                     .planes = p->d <= MAX_BYTE_COUNT && p->lanes->tally != NULL,
                                     .table =
                                         p->form != DNI_FORM_COSINE &&
                                         !(p->form == DNI_FORM_PRODUCT && p->kernel.normalize)};
    void *memory;
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct dni_bits), "the points of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct dni_bits *bits = memory;
    status = dni_layout_take(p->run, bits_layout, &shape, bits, "the points of a kernel",
                             &bits->memory, err);
    if (status != DN_OK) {
        dn_run_free(p->run, memory);
        return status;
    }
    bits->n_words = words_of(p->d);
    bits->n_blocks = words_of(p->n);
    *out = bits;
    return DN_OK;
}

/* Makes `bits` the storage of the points, and computes its tables and its transpose. bits->words is
 * set. */
static void set_storage(dni_points *p, struct dni_bits *bits) {
    p->kind = &dni_points_kind_bits;
    p->storage = bits;
    fill_tables(p, bits);
    if (bits->planes != NULL) {
        fill_planes(p, bits);
    }
}

dn_status dni_bits_become(dni_points *p, struct dni_bits *bits, dn_error *err) {
    p->expanded = false;
    set_storage(p, bits);
    dn_status status = dni_points_reserve(p, err);
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        const double square = (double)count(bits->words + i * bits->n_words, bits->n_words);
        status = dni_points_check(p, i, square, err);
    }
    return status;
}

/* ---- queries ---- */
static size_t work(const dni_points *p, size_t n) {
    return scratch_of(p->d, n);
}

static uint64_t *words_of_query(const dni_points *p, const dni_queries *queries, size_t q) {
    return (uint64_t *)(void *)queries->work + q * words_of(p->d);
}

static void add_point(const dni_points *p, const dni_points *from, size_t i, bool single,
                      dni_queries *queries) {
    const struct dni_bits *source = from->storage;
    (void)p;
    (void)single;
    queries->of[queries->n++] = (dni_query){.bits = source->words + i * source->n_words,
                                            .square = from->square == NULL ? 0 : from->square[i],
                                            .self = from->self == NULL ? 1 : from->self[i]};
}

static void add_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    uint64_t *bits = words_of_query(p, queries, queries->n);
    dni_query *query = &queries->of[queries->n++];
    bool binary = true;
    (void)single;
    memset(bits, 0, words_of(p->d) * sizeof *bits);
    for (size_t e = 0; e < row.n; e++) {
        binary = binary && (row.values[e] == 0 || row.values[e] == 1);
        if (row.values[e] == 1) {
            set_bit(bits, row.cols == NULL ? e : row.cols[e]);
        }
    }
    *query = (dni_query){.row = row,
                         .bits = binary ? bits : NULL,
                         .square = dni_pair_measure(DNI_FORM_PRODUCT, row, row)};
    query->self =
        p->form == DNI_FORM_PRODUCT ? dni_kernel_of_product(&p->kernel, query->square) : 1;
}

/* measure [n] ← the products or distances of a query, which has numbers other than 0 and 1, and the
 * points first … first + n − 1, which are converted to sparse rows. */
static void measure_any(const dni_points *p, const dni_query *query, double *ones, size_t first,
                        size_t n, double *measure) {
    const struct dni_bits *storage = p->storage;
    uint32_t *cols = (uint32_t *)(void *)(ones + p->d);
    for (size_t i = 0; i < p->d; i++) {
        ones[i] = 1;
    }
    for (size_t j = 0; j < n; j++) {
        const uint64_t *words = storage->words + (first + j) * storage->n_words;
        dni_row z = {ones, cols, 0};
        for (size_t w = 0; w < storage->n_words; w++) {
            for (uint64_t rest = words[w]; rest != 0; rest &= rest - 1) {
                cols[z.n++] = (uint32_t)(w * WORD + dni_lowest_bit(rest));
            }
        }
        measure[j] = dni_pair_measure(p->form, query->row, z);
    }
}

/* The kernel values for the counts of a query of 0 and 1, in double or in single precision. */
struct counting {
    const double *table;
    const float *single;
};

static uint8_t columns_of(const uint64_t *bits, size_t n_words, uint8_t set[MAX_BYTE_COUNT]) {
    uint8_t n = 0;
    for (size_t w = 0; w < n_words; w++) {
        for (uint64_t rest = bits[w]; rest != 0; rest &= rest - 1) {
            set[n++] = (uint8_t)(w * WORD + dni_lowest_bit(rest));
        }
    }
    return n;
}

static void count_by_columns(const dni_points *p, const uint64_t *bits, size_t first, size_t n,
                             struct counting counting, double *out, float *single) {
    const struct dni_bits *storage = p->storage;
    uint8_t set[MAX_BYTE_COUNT], counts[BATCH];
    const size_t n_set = columns_of(bits, storage->n_words, set),
                 most = differences(p)          ? storage->most + n_set
                        : storage->most < n_set ? storage->most
                                                : n_set;
    const size_t n_table = (most < p->d ? most : p->d) + 1;
    for (size_t done = 0; done < n;) {
        const size_t at = first + done, word = at / WORD, low = at % WORD;
        const size_t some = n - done < BATCH - low ? n - done : BATCH - low;
        const uint8_t *ones = differences(p) ? storage->ones + at : NULL;
        p->lanes->tally(storage->planes + word, storage->n_blocks, set, n_set,
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
    const struct dni_bits *storage = p->storage;
    const uint64_t *words = storage->words + first * storage->n_words;
    if (storage->planes != NULL) {
        count_by_columns(p, bits, first, n, counting, out, single);
    } else if (single != NULL) {
        p->lanes->counts_single(differences(p), bits, words, storage->n_words, n, counting.single,
                                single);
    } else {
        p->lanes->counts(differences(p), bits, words, storage->n_words, n, counting.table, out);
    }
}

static void values_of_query(const dni_points *p, const dni_queries *queries, size_t q, size_t first,
                            size_t n, dni_output output) {
    const struct dni_bits *storage = p->storage;
    const dni_query *query = &queries->of[q];
    double measure[BATCH], *work = queries->work + queries->n * storage->n_words;
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < BATCH ? n - done : BATCH;
        if (query->bits == NULL) {
            measure_any(p, query, work, first + done, some, measure);
        } else {
            count_bits(p, query->bits, first + done, some,
                       (struct counting){.table = storage->numbers}, measure, NULL);
        }
        dni_values_of(p, query, first + done, some, measure, &output, q * output.stride + done);
        done += some;
    }
}

static void values(const dni_points *p, const dni_queries *queries, size_t first, size_t n,
                   dni_output output) {
    const struct dni_bits *storage = p->storage;
    for (size_t q = 0; q < queries->n; q++) {
        const uint64_t *bits = queries->of[q].bits;
        const struct counting counting = {storage->table, storage->table_single};
        if (storage->table == NULL || bits == NULL || output.distances) {
            values_of_query(p, queries, q, first, n, output);
        } else {
            count_bits(p, bits, first, n, counting,
                       output.exact == NULL ? NULL : output.exact + q * output.stride,
                       output.single == NULL ? NULL : output.single + q * output.stride);
        }
    }
}

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct dni_bits *source = from->storage;
    struct dni_bits *bits;
    dn_status status = dni_bits_new(p, &bits, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < p->n; k++) {
        memcpy(bits->words + k * source->n_words, source->words + list[k] * source->n_words,
               source->n_words * sizeof *bits->words);
    }
    set_storage(p, bits);
    return DN_OK;
}

/* begin, add and end are NULL, because rows are added as dense or sparse points, which are then
 * converted to bits. */
const dni_points_kind dni_points_kind_bits = {.free = free_bits,
                                              .select = select_points,
                                              .work = work,
                                              .add_point = add_point,
                                              .add_row = add_row,
                                              .values = values};
