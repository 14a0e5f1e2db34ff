/* The median distance between the rows of a sample. A row of weight v counts as v equal rows. A
 * pair of two rows with weights v and u counts v u times, and v (v − 1)/2 pairs of copies of the
 * same row have distance 0. */
#include "kernels/width.h"
#include "base/layout.h"
#include "base/random.h"
#include "kernels/points.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ROWS = 1000 };

/* The draw of a sample of the rows with weight != 0. If all weights are 1, or there are at most
 * MAX_ROWS rows, rows are drawn without replacement. Otherwise the range 0 … Σv of the cumulative
 * weight is divided into MAX_ROWS equal parts, and one position is drawn in each part. A row is
 * drawn once for each position within its part of the cumulative weight. */
struct draw {
    dni_random random;
    size_t n_weighted; /* number of rows with weight != 0; 0: not known yet */
    double mean;       /* mean weight of these rows */
    bool weighted;     /* some weight is not 1 */
    size_t left;       /* number of draws that remain */
    size_t seen;       /* number of rows processed */
    size_t drawn;      /* number of distinct rows drawn so far */
    bool sparse;       /* the rows are sparse */
    size_t entries;    /* number of stored entries of the drawn rows, if sparse */
    double position; /* next drawn position of the cumulative weight, in units of the mean weight */
    double passed;   /* cumulative weight of the processed rows, in units of the mean weight */
    dni_points *points; /* out: the drawn rows; NULL: rows are only counted */
    double *weight;     /* out: the weights of the drawn rows */
};

static void count_row(struct draw *draw, double weight) {
    draw->seen++;
    draw->mean += (weight - draw->mean) / (double)draw->seen;
    draw->weighted = draw->weighted || weight != 1;
}

static bool by_weight(const struct draw *draw) {
    return draw->weighted && draw->n_weighted > MAX_ROWS;
}

static void next_position(struct draw *draw) {
    const double part = (double)draw->n_weighted / MAX_ROWS,
                 first = (double)(MAX_ROWS - draw->left);
    draw->position = part * (first + dni_random_uniform(&draw->random, 0, 1));
}

/* Returns how many times the next row is drawn. */
static size_t draw_times(struct draw *draw, double weight) {
    size_t n = 0;
    if (!by_weight(draw)) {
        n = dni_random_draws(&draw->random, draw->left, draw->n_weighted - draw->seen++) ? 1 : 0;
        draw->left -= n;
        return n;
    }
    for (draw->passed += weight / draw->mean; draw->left > 0 && draw->position < draw->passed;
         n++) {
        draw->left--;
        next_position(draw);
    }
    return n;
}

static dn_status draw_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    struct draw *draw = arg;
    (void)slot;
    (void)err;
    draw->sparse = draw->sparse || block->x.kind == DN_CSR;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        const double weight = block->weight == NULL ? 1 : block->weight[t];
        if (weight != 0 && draw->n_weighted == 0) {
            count_row(draw, weight);
        }
        const size_t n = weight != 0 && draw->n_weighted > 0 ? draw_times(draw, weight) : 0;
        if (n == 0) {
            continue;
        }
        draw->entries +=
            block->x.kind == DN_DENSE ? 0 : block->x.row_start[t + 1] - block->x.row_start[t];
        if (draw->points != NULL) {
            dni_points_add(draw->points, dn_matrix_rows(block->x, t, 1));
            draw->weight[draw->drawn] = by_weight(draw) ? (double)n : weight;
        }
        draw->drawn++;
    }
    return DN_OK;
}

/* Draws from all rows, in order, on the calling thread. */
static dn_status draw_rows(const dn_rows *rows, const dn_run *run, struct draw *draw,
                           dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; status == DN_OK && i < rows->n_blocks; i++) {
        status = dn_run_each_block(run, rows, i, 0, draw_block, draw, err);
    }
    return status;
}

/* Initialises a draw. counted: the result of count_row for all rows. */
static struct draw begin_draw(const struct draw *counted, const dn_run *run) {
    struct draw draw = {.n_weighted = counted->seen,
                        .mean = counted->mean,
                        .weighted = counted->weighted};
    dni_random_init(&draw.random, run == NULL ? 1 : run->seed, DNI_STREAM_WIDTH);
    draw.left = draw.n_weighted < MAX_ROWS ? draw.n_weighted : MAX_ROWS;
    if (by_weight(&draw)) {
        next_position(&draw);
    }
    return draw;
}

/* *out ← the drawn rows, as points; *out_weight ← their weights. The caller frees both. Makes up to
 * three passes over the rows: the first counts them, the second counts the rows and the entries of
 * the sample, the third copies the sample. */
static dn_status sample(const dn_kernel *kernel, const dn_rows *rows, const dn_run *run,
                        dni_points **out, double **out_weight, dn_error *err) {
    struct draw counted = {.n_weighted = 0}, measured, draw;
    void *weight = NULL;
    dn_status status = draw_rows(rows, run, &counted, err);
    if (status != DN_OK) {
        return status;
    }
    draw = measured = begin_draw(&counted, run);
    measured.drawn = draw.left;
    if (counted.seen > 0 && (counted.sparse || by_weight(&draw))) {
        measured.drawn = 0;
        status = draw_rows(rows, run, &measured, err);
        if (status != DN_OK) {
            return status;
        }
    }
    status = dn_run_alloc(run, measured.drawn + 1, sizeof(double), "the weights for a width",
                          &weight, err);
    if (status != DN_OK) {
        return status;
    }
    draw.weight = weight;
    status = dni_points_new(kernel, measured.drawn, counted.sparse ? measured.entries : SIZE_MAX,
                            run, &draw.points, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (counted.seen > 0) {
        status = draw_rows(rows, run, &draw, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    status = dni_points_end(draw.points, err);
cleanup:
    if (status != DN_OK) {
        dni_points_free(draw.points);
        dn_run_free(run, weight);
        return status;
    }
    *out = draw.points;
    *out_weight = weight;
    return DN_OK;
}

struct pair {
    double distance, weight;
};

static int compare(const void *a, const void *b) {
    const double x = ((const struct pair *)a)->distance, y = ((const struct pair *)b)->distance;
    return (x > y) - (x < y);
}

struct distances {
    struct pair *pairs; /* [n (n − 1)/2] */
    double *row;        /* [n] */
    double *work;       /* scratch of dni_points_distances */
};

struct distances_shape {
    size_t n, work;
};

static size_t n_pairs(size_t n) {
    return n == 0 ? 0 : n * (n - 1) / 2;
}

static void distances_layout(dni_layout *layout, const void *shape, void *work) {
    const struct distances_shape *s = shape;
    struct distances *d = work;
    d->pairs = dni_layout_array(layout, n_pairs(s->n), sizeof *d->pairs);
    d->row = dni_layout_doubles(layout, s->n);
    d->work = dni_layout_doubles(layout, s->work);
}

static dn_status measure(const dni_points *points, const double *weight, const dn_run *run,
                         const struct distances *d, dn_error *err) {
    struct pair *pairs = d->pairs;
    const size_t step = dni_points_step(points);
    for (size_t i = 1; i < dni_points_n(points); pairs += i, i++) {
        for (size_t first = 0, n; first < i; first += n) {
            n = i - first < step ? i - first : step;
            dn_status status = dn_run_stop(run, err);
            if (status != DN_OK) {
                return status;
            }
            dni_points_distances(points, i, first, n, d->row, d->work);
            for (size_t k = 0; k < n; k++) {
                pairs[first + k] = (struct pair){d->row[k], weight[i] * weight[first + k]};
            }
        }
    }
    return DN_OK;
}

/* Scales the weights by a power of two, which is exact, so that products of weights are finite.
 * Returns the scale: the scaled weight of a row with weight 1. */
static double scale_weights(double *weight, size_t n) {
    double greatest = 0;
    int exponent = 0;
    for (size_t i = 0; i < n; i++) {
        greatest = fmax(greatest, weight[i]);
    }
    (void)frexp(greatest, &exponent);
    for (size_t i = 0; i < n; i++) {
        weight[i] = ldexp(weight[i], -exponent);
    }
    return ldexp(1, -exponent);
}

/* *low, *high ← the lower and the upper median of the distances of the ascending pairs [n]. They
 * differ if the weights of the pairs up to *low sum to exactly half of the total weight. weight
 * [n_points]: weights of the rows; one: the scaled weight of a row with weight 1. */
static void find_medians(const struct pair *pairs, size_t n, const double *weight, size_t n_points,
                         double one, double *low, double *high) {
    double same = 0, all = 0, sum;
    for (size_t i = 0; i < n_points; i++) {
        same += weight[i] > one ? weight[i] * (weight[i] - one) / 2 : 0;
    }
    for (size_t k = 0; k < n; k++) {
        all += pairs[k].weight;
    }
    const double half = (same + all) / 2;
    size_t k = 0;
    *low = *high = 0;
    for (sum = same; sum < half && k < n; k++) {
        sum += pairs[k].weight;
        *low = *high = pairs[k].distance;
    }
    if (sum <= half && k < n) {
        *high = pairs[k].distance;
    }
}

/* Replaces an error that has the index of a point of the sample, because the caller does not know
 * the sample. */
static dn_status too_far(dn_error *err) {
    dn_error_clear(err);
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the distances between rows are beyond the range of numbers: standardize "
                        "the columns, or leave out columns with extreme values");
}

/* Returns the width. low, high: medians of the distances D; for rbf of their squares. */
static double width_of(const dn_kernel *kernel, double low, double high) {
    const bool squared = kernel->type == DN_KERNEL_RBF;
    low = squared ? sqrt(low) : low;
    high = squared ? sqrt(high) : high;
    const double median = low + (high - low) / 2, width = squared ? median : sqrt(median);
    return width > 0 ? width : 1;
}

static dn_status find_width(const dn_kernel *kernel, const dni_points *points, double *weight,
                            const dn_run *run, double *out, dn_error *err) {
    const struct distances_shape shape = {dni_points_n(points), dni_points_work(points)};
    const size_t n = n_pairs(shape.n);
    const double one = scale_weights(weight, shape.n);
    struct distances d;
    double low = 0, high = 0;
    void *memory;
    dn_status status = dni_layout_take_raw(run, distances_layout, &shape, &d,
                                           "the distances for a width", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = measure(points, weight, run, &d, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (n > 0) {
        qsort(d.pairs, n, sizeof *d.pairs, compare);
        find_medians(d.pairs, n, weight, shape.n, one, &low, &high);
        if (!isfinite(d.pairs[n - 1].distance)) {
            status = too_far(err);
            goto cleanup;
        }
    }
    *out = width_of(kernel, low, high);
cleanup:
    dn_run_free(run, memory);
    return status;
}

dn_status dni_kernel_width(const dn_kernel *kernel, const dn_rows *rows, const dn_run *run,
                           double *out, dn_error *err) {
    dn_kernel unit = *kernel; /* distances in the units of the columns */
    dni_points *points = NULL;
    double *weight = NULL;
    unit.width = 1;
    dn_status status = sample(&unit, rows, run, &points, &weight, err);
    if (status != DN_OK) {
        return status == DN_ERR_NUMERIC ? too_far(err) : status;
    }
    status = find_width(kernel, points, weight, run, out, err);
    dni_points_free(points);
    dn_run_free(run, weight);
    return status;
}

double dni_kernel_width_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                               double n_entries) {
    const size_t n = n_rows < MAX_ROWS ? n_rows : MAX_ROWS;
    const double entries = n_rows == 0 ? 0 : n_entries / (double)n_rows * (double)n;
    const dni_points_estimate points = dni_points_memory(kernel, n, n_features, entries);
    const struct distances_shape shape = {n, (size_t)points.work / sizeof(double)};
    struct distances scratch;
    return sizeof(double) * (double)(n + 1) +
           fmax(points.building,
                points.kept + dni_layout_bytes(distances_layout, &shape, &scratch));
}
