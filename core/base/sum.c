/* Sums over blocks on the threads of dn_run.each.
 *
 * The blocks are divided into aligned ranges of 2^level blocks. A task sums one range with its own
 * dn_pairwise; the calling thread then pushes the totals of the ranges in order at that level. The
 * additions are the same as those of a serial sum. */
#include "base/sum.h"
#include "base/argument.h"
#include "base/group.h"
#include "base/tasks.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define RANGES_PER_SLOT 4 /* few enough to bound memory, enough to balance the load of the slots */
#define CHECKED_BYTES 1024
#define WIDE 65536 /* a sum of this many numbers gets one range per slot, to save memory */

/* ---- sums over blocks ---- */
struct range_sum {
    const dn_run *run;
    const dn_rows *rows;
    dni_each_sum_fn fn;
    void *arg;
    size_t n_out;
    unsigned level;
    size_t first_range; /* the first range that this process sums; 0 without a group */
    size_t n_ranges;
    double *totals;   /* [n_ranges x n_out] */
    double *partials; /* [n_slots × capacity] */
    size_t capacity;  /* number of doubles of the dn_pairwise of one slot */
};

/* Argument that dn_run_each_block passes to add_piece, for one block or one piece of a block. */
struct vector_of_block {
    const struct range_sum *sum;
    double *out;
};

static dn_status add_piece(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    const struct vector_of_block *vector = arg;
    return vector->sum->fn(vector->sum->arg, block, slot, vector->out, err);
}

static dn_status sum_range(void *arg, size_t range, size_t slot, dn_error *err) {
    const struct range_sum *s = arg;
    size_t first = (s->first_range + range) << s->level, end = first + ((size_t)1 << s->level);
    if (end > s->rows->n_blocks) {
        end = s->rows->n_blocks;
    }
    dn_pairwise sum;
    dn_pairwise_init(&sum, s->n_out, s->partials + slot * s->capacity);
    for (size_t i = first; i < end; i++) {
        struct vector_of_block vector = {s, dn_pairwise_next(&sum)};
        dn_status status = dn_run_each_block(s->run, s->rows, i, slot, add_piece, &vector, err);
        if (status != DN_OK) {
            return status;
        }
        dn_pairwise_push(&sum, 0);
    }
    if (s->n_out > 0) {
        dn_pairwise_total(&sum, s->totals + range * s->n_out);
    }
    return DN_OK;
}

/* Adds the totals of the ranges in order. The stack of vectors uses the memory of the totals,
 * which is safe because it never has more vectors than were pushed. */
static void add_totals(const struct range_sum *s, double *out) {
    dn_pairwise sum;
    dn_pairwise_init(&sum, s->n_out, s->totals);
    for (size_t r = 0; r < s->n_ranges; r++) {
        if (sum.depth != r && s->n_out > 0) {
            memcpy(s->totals + sum.depth * s->n_out, s->totals + r * s->n_out,
                   s->n_out * sizeof *s->totals);
        }
        dn_pairwise_push(&sum, s->level);
    }
    dn_pairwise_total(&sum, out);
}

static dn_status too_many(size_t n_out, dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "the partial sums of %zu numbers are more than can be addressed", n_out);
}

/* Sums the blocks of this rank, and adds the sums of all ranks. */
static dn_status group_sum(const dn_run *run, const dn_rows *rows, dni_each_sum_fn fn, void *arg,
                           size_t n_out, double *out, dn_error *err) {
    assert(run != NULL); /* it has a group */
    const size_t n_slots = run->each == NULL || run->n_slots == 0 ? 1 : run->n_slots;
    struct range_sum s = {.run = run, .rows = rows, .fn = fn, .arg = arg, .n_out = n_out};
    size_t end;
    void *memory = NULL;
    dni_group_ranges(run->group, rows->n_blocks, &s.level, &s.first_range, &end);
    s.n_ranges = end - s.first_range;
    s.capacity = dn_pairwise_capacity((size_t)1 << s.level, n_out);
    dn_status status = DN_OK;
    if (((double)s.n_ranges + (double)n_slots * (double)(s.level + 2)) * (double)n_out >
        (double)(SIZE_MAX / 16)) {
        status = too_many(n_out, err);
    }
    if (status == DN_OK) {
        status = dn_run_alloc(run, s.n_ranges * n_out + n_slots * s.capacity, sizeof(double),
                              "the partial sums", &memory, err);
    }
    if (status == DN_OK) {
        s.totals = memory;
        s.partials = s.totals + s.n_ranges * n_out;
        status = dni_tasks_run(run, s.n_ranges, sum_range, &s, err);
    }
    status = dni_group_sum(run, status, rows->n_blocks, s.totals, n_out, out, err);
    dn_run_free(run, memory);
    return status;
}

dn_status dni_each_sum(const dn_run *run, const dn_rows *rows, dni_each_sum_fn fn, void *arg,
                       size_t n_out, double *out, dn_error *err) {
    if (dni_group_of(run) != NULL) {
        dn_status valid = dni_argument_group(run, err);
        return valid == DN_OK ? group_sum(run, rows, fn, arg, n_out, out, err) : valid;
    }
    size_t n_slots = run == NULL || run->each == NULL || run->n_slots == 0 ? 1 : run->n_slots;
    struct range_sum s = {
        .run = run, .rows = rows, .fn = fn, .arg = arg, .n_out = n_out, .n_ranges = 1};
    if (n_slots == 1) {
        while (rows->n_blocks >> s.level > 0) {
            s.level++;
        }
    } else if (rows->n_blocks > 0) {
        s.level = dn_run_sum_level(rows->n_blocks, n_slots, n_out);
        s.n_ranges = ((rows->n_blocks - 1) >> s.level) + 1;
    }
    if (s.n_ranges == 1) {
        n_slots = 1;
    }
    size_t leaves = (size_t)1 << s.level;
    s.capacity = dn_pairwise_capacity(leaves < rows->n_blocks ? leaves : rows->n_blocks, n_out);
    size_t n_totals = s.n_ranges == 1 ? 0 : s.n_ranges * n_out;
    if ((double)s.n_ranges * (double)n_out + (double)n_slots * (double)s.capacity >
        (double)(SIZE_MAX / 16)) {
        return too_many(n_out, err);
    }
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, n_totals + n_slots * s.capacity, sizeof(double),
                                    "the partial sums", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    s.totals = s.n_ranges == 1 ? out : memory;
    s.partials = (double *)memory + n_totals;
    if (s.n_ranges == 1) {
        status = sum_range(&s, 0, 0, err);
    } else {
        status = dni_tasks_run(run, s.n_ranges, sum_range, &s, err);
    }
    if (status == DN_OK && s.n_ranges > 1) {
        add_totals(&s, out);
    }
    dn_run_free(run, memory);
    return status;
}

/* ---- dn_run.sum ---- */
unsigned dn_run_sum_level(size_t n_blocks, size_t n_slots, size_t n_out) {
    size_t most = n_slots * (n_out < WIDE && n_slots > 1 ? RANGES_PER_SLOT : 1);
    unsigned level = 0;
    while ((n_blocks - 1) >> level >= most) {
        level++;
    }
    return level;
}

double dn_run_sum_memory(size_t n_rows, size_t n_slots, double n_out) {
    size_t n_blocks = n_rows == 0 ? 1 : (n_rows - 1) / DN_BLOCK_ROWS + 1,
           slots = n_slots == 0 ? 1 : n_slots;
    unsigned level = dn_run_sum_level(n_blocks, slots, n_out < WIDE ? 0 : WIDE);
    double ranges = (double)(((n_blocks - 1) >> level) + 1);
    double vectors = ranges == 1 ? 2 + level : ranges + (double)slots * (2 + level);
    return 8 * vectors * n_out;
}

struct pure_sum {
    const dn_sum *sum;
};

static dn_status add_pure(void *arg, const dn_block *block, size_t slot, double *out,
                          dn_error *err) {
    const dn_sum *sum = ((const struct pure_sum *)arg)->sum;
    return sum->fn(sum->arg, block, slot, out, err);
}

dn_status dn_run_sum_block(const dn_run *run, const dn_rows *rows, size_t i, size_t slot,
                           const dn_sum *sum, double *out, dn_error *err) {
    struct pure_sum pure = {sum};
    const struct range_sum s = {.fn = add_pure, .arg = &pure};
    struct vector_of_block vector = {&s, out};
    return dn_run_each_block(run, rows, i, slot, add_piece, &vector, err);
}

dn_status dn_run_sum(const dn_run *run, const dn_rows *rows, const dn_sum *sum, double *out,
                     dn_error *err) {
    unsigned char before[CHECKED_BYTES];
    const size_t checked = sum->arg_size < sizeof before ? sum->arg_size : sizeof before;
    if (checked > 0) {
        memcpy(before, sum->arg, checked);
    }
    dn_status status;
    if (run == NULL || run->sum == NULL) {
        struct pure_sum pure = {sum};
        status = dni_each_sum(run, rows, add_pure, &pure, sum->n_out, out, err);
    } else {
        status = run->sum(run, rows, sum, out, err);
    }
    if (status == DN_OK && checked > 0 && memcmp(before, sum->arg, checked) != 0) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "the function of a sum changed its argument");
    }
    return status;
}
