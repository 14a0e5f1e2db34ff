/* The median distance of a sample of the rows. */
#include "kernels/width.h"
#include "kernels/points.h"
#include "optimize/random.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM = 9, MOST_ROWS = 1000 };

/* Rows that are drawn: of `left` still to be drawn among `among` each with the probability left/among (Knuth, TAOCP 2, 3.4.2 S). */
struct draw {
    dni_random random;
    size_t among, left, seen, entries; /* rows that weigh something: all, wanted, passed; entries of those drawn */
    dni_points *points;                /* they go there; NULL: they are counted */
};

static void draw_block(struct draw *draw, const dn_block *block) {
    for (size_t t = 0; t < block->x.n_rows; t++) {
        if (block->weight != NULL && block->weight[t] == 0)
            continue;
        if (draw->left > 0 && dni_random_uniform(&draw->random, 0, 1) * (double)(draw->among - draw->seen) < (double)draw->left) {
            draw->entries += block->x.kind == DN_DENSE ? 0 : block->x.row_start[t + 1] - block->x.row_start[t];
            if (draw->points != NULL)
                dni_points_add(draw->points, dn_matrix_rows(block->x, t, 1));
            draw->left--;
        }
        draw->seen++;
    }
}

static dn_status walk(const dn_rows *rows, const dn_run *run, struct draw *draw, bool *sparse, dn_error *err) {
    dni_random_init(&draw->random, run == NULL ? 1 : run->seed, STREAM);
    for (size_t i = 0; i < rows->n_blocks; i++)
        for (size_t k = 0; k < dn_rows_n_pieces(rows, i); k++) {
            dn_block block;
            dn_status status = dn_run_stop(run, err);
            if (status == DN_OK)
                status = dn_rows_piece(rows, i, k, 0, &block, err);
            if (status != DN_OK)
                return status;
            *sparse = *sparse || block.x.kind == DN_CSR;
            draw_block(draw, &block);
        }
    return DN_OK;
}

/* The drawn rows as points: counted, measured, copied. */
static dn_status sample(const dn_kernel *kernel, const dn_rows *rows, const dn_run *run, dni_points **out, dn_error *err) {
    struct draw draw = {.left = 0};
    bool sparse = false;
    dni_points *points = NULL;
    dn_status status = walk(rows, run, &draw, &sparse, err);
    size_t among = draw.seen, wanted = among < MOST_ROWS ? among : MOST_ROWS;
    draw = (struct draw){.among = among, .left = wanted};
    if (status == DN_OK && sparse)
        status = walk(rows, run, &draw, &sparse, err);
    if (status == DN_OK)
        status = dni_points_new(kernel, wanted, sparse ? draw.entries : SIZE_MAX, run, &points, err);
    draw = (struct draw){.among = among, .left = wanted, .points = points};
    if (status == DN_OK)
        status = walk(rows, run, &draw, &sparse, err);
    if (status == DN_OK)
        status = dni_points_end(points, err);
    if (status != DN_OK) {
        dni_points_free(points);
        return status;
    }
    *out = points;
    return DN_OK;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* distance [n (n - 1)/2] of all pairs */
static dn_status measure(const dni_points *points, const dn_run *run, double *distance, dn_error *err) {
    void *work = NULL;
    dn_status status = dn_run_alloc(run, dni_points_work(points), sizeof(double), "the distances for a width", &work, err);
    for (size_t i = 1; status == DN_OK && i < dni_points_n(points); distance += i, i++)
        for (size_t first = 0, n; status == DN_OK && first < i; first += n) {
            n = i - first < dni_points_step(points) ? i - first : dni_points_step(points);
            status = dn_run_stop(run, err);
            if (status == DN_OK)
                dni_points_distances(points, i, first, n, distance + first, work);
        }
    dn_run_free(run, work);
    return status;
}

/* Instead of what the points say of one of the sample's. */
static dn_status too_far(dn_error *err) {
    dn_error_clear(err);
    return dn_error_set(
        err, DN_ERR_NUMERIC,
        "the distances between rows are beyond the range of numbers: standardize the columns, or leave out those of extreme values");
}

dn_status dni_kernel_width(const dn_kernel *kernel, const dn_rows *rows, const dn_run *run, double *out, dn_error *err) {
    dn_kernel unit = *kernel; /* distances in the columns' own units */
    dni_points *points = NULL;
    void *memory = NULL;
    size_t pairs = 0;
    unit.width = 1;
    dn_status status = sample(&unit, rows, run, &points, err);
    status = status == DN_ERR_NUMERIC ? too_far(err) : status;
    if (status == DN_OK) {
        pairs = dni_points_n(points) * (dni_points_n(points) - (dni_points_n(points) > 0)) / 2;
        status = dn_run_alloc(run, pairs, sizeof(double), "the distances for a width", &memory, err);
    }
    if (status == DN_OK)
        status = measure(points, run, memory, err);
    double *distance = memory, width = 0;
    if (status == DN_OK && pairs > 0) {
        qsort(distance, pairs, sizeof *distance, compare);
        double low = distance[(pairs - 1) / 2], high = distance[pairs / 2];
        if (kernel->type == DN_KERNEL_RBF) {
            low = sqrt(low);
            high = sqrt(high);
        }
        width = low + (high - low) / 2;
        width = kernel->type == DN_KERNEL_RBF ? width : sqrt(width);
        if (!isfinite(distance[pairs - 1]))
            status = too_far(err);
    }
    dni_points_free(points);
    dn_run_free(run, memory);
    if (status == DN_OK)
        *out = width > 0 ? width : 1;
    return status;
}

double dni_kernel_width_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features, double n_entries) {
    double n = n_rows < MOST_ROWS ? (double)n_rows : MOST_ROWS, entries = n_rows == 0 ? 0 : n_entries / (double)n_rows * n;
    return dni_points_memory(kernel, (size_t)n, n_features, entries) + 4 * n * n;
}
