/* Centres of Gaussian functions by k-means, and widths.
 *
 *   start   k-means++: the first centre is a row drawn with probability proportional to v. The next
 *           centres are rows drawn with probability proportional to v D^2, where D is the distance
 *           to the nearest centre chosen so far (Arthur and Vassilvitskii, SODA 2007)
 *   Lloyd   each row is assigned to its nearest centre, the first one if several are equally near;
 *           each centre moves to the weighted mean of its rows; a centre without rows stays
 *           (Alpaydin, section 7.3; Bishop, PRML, section 9.1)
 *
 * Lloyd's iterations stop when no centre moves by more than 1e-6 of the root mean square
 * distance of the rows from their centres, or after 100 rounds. Sums are taken by dn_run in a
 * fixed order, and rows are drawn in row order, so that the centres do not depend on the number
 * of threads. */
#include "base/argument.h"
#include "base/layout.h"
#include "base/random.h"
#include "encoder/basis/basis_fit.h"
#include "linalg/step.h"
#include "linalg/vector.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 100 };
#define SQUARED_TOLERANCE 1e-12 /* of a move of a centre, relative to the mean squared distance */

struct kmeans {
    const dn_run *run;
    size_t p, k;       /* columns; centres */
    double *centres;   /* [k × p] */
    double *potential; /* [n_rows] v D^2 of each row */
    size_t newest;     /* the centre chosen last; SIZE_MAX: none, the potential is v */
    /* [k × (p + 1) + 1] the sums of a round: for each centre sum of v (z - c) and of v; sum of v
     * D^2 */
    double *sums;
};

static double weight_of(const dn_block *block, size_t t) {
    return block->weight == NULL ? 1 : block->weight[t];
}

/* ---- start ---- */
static dn_status potential_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    const struct kmeans *self = arg;
    double *potential = self->potential + block->first_row;
    dni_pace pace = {.run = self->run};
    (void)slot;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        double v = weight_of(block, t);
        if (self->newest == SIZE_MAX) {
            potential[t] = v;
            continue;
        }
        const double *z = block->x.values + t * block->x.stride;
        double d =
            v == 0 ? 0
                   : v * dni_square_distance(z, self->centres + self->newest * self->p, self->p);
        potential[t] = self->newest == 0 || d < potential[t] ? d : potential[t];
        dn_status status = dni_pace_poll(&pace, 3 * (double)self->p, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Draws a row with probability proportional to its potential. *out is SIZE_MAX if all are 0. */
static dn_status draw(const struct kmeans *self, size_t n, dni_random *random, const dn_run *run,
                      size_t *out, dn_error *err) {
    double total = 0, at = 0;
    for (size_t t = 0; t < n; t++) {
        total += self->potential[t];
    }
    if (!isfinite(total)) {
        return dni_error_at(
            dn_error_set(
                err, DN_ERR_NUMERIC,
                "the distances between rows of a gaussian basis are beyond the range of numbers: "
                "standardize the basis, or leave out columns with extreme values"),
            "basis", -1, err);
    }
    *out = SIZE_MAX;
    double wanted = dni_random_uniform(random, 0, 1) * total;
    for (size_t t = 0; t < n && !(at > wanted); t++) {
        at += self->potential[t];
        *out = self->potential[t] > 0 ? t : *out;
    }
    return dn_run_stop(run, err);
}

static dn_status copy_row(const dn_rows *rows, size_t row, double *out, dn_error *err) {
    const size_t size = rows->piece_rows == 0 ? DN_BLOCK_ROWS : rows->piece_rows;
    dn_block block;
    dn_status status =
        dn_rows_piece(rows, row / DN_BLOCK_ROWS, row % DN_BLOCK_ROWS / size, 0, &block, err);
    if (status != DN_OK) {
        return status;
    }
    memcpy(out, block.x.values + (row - block.first_row) * block.x.stride,
           rows->n_cols * sizeof *out);
    return DN_OK;
}

static dn_status start(struct kmeans *self, const dn_rows *rows, const dn_run *run, uint64_t stream,
                       dn_error *err) {
    dni_random random;
    dni_random_init(&random, run->seed, stream);
    self->newest = SIZE_MAX;
    for (size_t j = 0; j < self->k; j++) {
        size_t row = SIZE_MAX;
        dn_status status = dn_run_each(run, rows, potential_block, self, err);
        if (status != DN_OK) {
            return status;
        }
        status = draw(self, rows->n_rows, &random, run, &row, err);
        if (status != DN_OK) {
            return status;
        }
        if (row == SIZE_MAX) {
            return dni_error_at(
                dn_error_set(err, DN_ERR_DATA,
                             "a gaussian basis cannot have %zu centres: only %zu training "
                             "rows are different in its columns",
                             self->k, j),
                "basis", -1, err);
        }
        status = copy_row(rows, row, self->centres + j * self->p, err);
        if (status != DN_OK) {
            return status;
        }
        self->newest = j;
    }
    return DN_OK;
}

/* ---- Lloyd's iterations ---- */
static dn_status round_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const struct kmeans *self = arg;
    size_t p = self->p;
    double flops = 3 * (double)p * (double)self->k;
    dni_pace pace = {.run = self->run};
    (void)slot;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        const double *z = block->x.values + t * block->x.stride, v = weight_of(block, t);
        double least = (double)INFINITY;
        size_t best = 0;
        if (v == 0) {
            continue;
        }
        for (size_t j = 0; j < self->k; j++) {
            double d = dni_square_distance(z, self->centres + j * p, p);
            best = d < least ? j : best;
            least = d < least ? d : least;
        }
        double *sum = out + best * (p + 1);
        for (size_t c = 0; c < p; c++) {
            sum[c] += v * (z[c] - self->centres[best * p + c]);
        }
        sum[p] += v;
        out[self->k * (p + 1)] += v * least;
        dn_status status = dni_pace_poll(&pace, flops, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Moves the centres to the means. Returns whether some centre moved by more than the tolerance. */
static bool move(struct kmeans *self) {
    double moved = 0, weight = 0;
    for (size_t j = 0; j < self->k; j++) {
        const double *sum = self->sums + j * (self->p + 1);
        double v = sum[self->p], step = 0;
        weight += v;
        for (size_t c = 0; c < self->p && v > 0; c++) {
            self->centres[j * self->p + c] += sum[c] / v;
            step += (sum[c] / v) * (sum[c] / v);
        }
        moved = step > moved ? step : moved;
    }
    return moved * weight > SQUARED_TOLERANCE * self->sums[self->k * (self->p + 1)];
}

struct kmeans_shape {
    size_t n_rows, n_columns, n_centres;
};

static void kmeans_layout(dni_layout *layout, const void *shape, void *work) {
    const struct kmeans_shape *s = shape;
    struct kmeans *w = work;
    w->potential = dni_layout_doubles(layout, s->n_rows);
    w->sums = dni_layout_doubles(layout, s->n_centres * (s->n_columns + 1) + 1);
}

double dni_basis_centres_memory(size_t n_rows, size_t n_columns, size_t k) {
    const struct kmeans_shape shape = {n_rows, n_columns, k};
    struct kmeans work;
    return dni_layout_bytes(kmeans_layout, &shape, &work);
}

dn_status dni_basis_centres(const dn_rows *rows, size_t k, const dn_run *run, uint64_t stream,
                            double *points, dn_error *err) {
    const struct kmeans_shape shape = {rows->n_rows, rows->n_cols, k};
    struct kmeans self = {.run = run, .p = rows->n_cols, .k = k, .centres = points};
    const size_t n_sums = k * (self.p + 1) + 1;
    void *memory = NULL;
    dn_status status = dni_layout_take_raw(run, kmeans_layout, &shape, &self,
                                           "the distances from centres", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = start(&self, rows, run, stream, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t round = 0; round < MAX_ROUNDS; round++) {
        status = dn_run_sum(run, rows, &(dn_sum){round_block, &self, sizeof self, n_sums},
                            self.sums, err);
        if (status != DN_OK || !move(&self)) {
            break;
        }
    }
cleanup:
    dn_run_free(run, memory);
    return status;
}

/* ---- width ---- */
static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *square, size_t n) {
    double low = sqrt(square[(n - 1) / 2]), high = sqrt(square[n / 2]);
    return low + (high - low) / 2;
}

/* Sampling without replacement in one pass: a row is copied with probability left/(remaining
 * rows), which makes all samples of the size equally likely (Knuth, TAOCP 2, 3.4.2, algorithm
 * S). */
struct sample {
    dni_random *random;
    size_t among, left, seen;
    double *out;
};

static void sample_piece(struct sample *s, const dn_block *block, size_t n_cols) {
    for (size_t t = 0; t < block->x.n_rows; t++) {
        if (weight_of(block, t) == 0) {
            continue;
        }
        if (s->left > 0 &&
            dni_random_uniform(s->random, 0, 1) * (double)(s->among - s->seen) < (double)s->left) {
            memcpy(s->out, block->x.values + t * block->x.stride, n_cols * sizeof *s->out);
            s->out += n_cols;
            s->left--;
        }
        s->seen++;
    }
}

/* Counts the rows with a weight > 0 and copies a sample of `left` of these rows. *among ← the
 * number of rows with a weight > 0; if left > 0, the caller must pass this number in it. */
static dn_status sample(const dn_rows *rows, const dn_run *run, dni_random *random, size_t *among,
                        size_t left, double *out, dn_error *err) {
    struct sample s = {.random = random, .among = *among, .left = left, .out = out};
    for (size_t i = 0; i < rows->n_blocks; i++) {
        for (size_t k = 0; k < dn_rows_n_pieces(rows, i); k++) {
            dn_block block;
            dn_status status = dn_run_stop(run, err);
            if (status != DN_OK) {
                return status;
            }
            status = dn_rows_piece(rows, i, k, 0, &block, err);
            if (status != DN_OK) {
                return status;
            }
            sample_piece(&s, &block, rows->n_cols);
        }
    }
    *among = s.seen;
    return DN_OK;
}

/* Computes the squared distances of all pairs of m rows and sorts them in ascending order. */
static dn_status pairs_of(const double *x, size_t m, size_t p, const dn_run *run, double *square,
                          size_t *out_pairs, dn_error *err) {
    dni_pace pace = {.run = run};
    size_t pairs = 0;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < i; j++) {
            square[pairs++] = dni_square_distance(x + i * p, x + j * p, p);
        }
        dn_status status = dni_pace_poll(&pace, 3 * (double)i * (double)p, err);
        if (status != DN_OK) {
            return status;
        }
    }
    qsort(square, pairs, sizeof *square, compare);
    *out_pairs = pairs;
    return DN_OK;
}

struct width_work {
    double *z;      /* [n_rows × n_columns] the sample */
    double *square; /* [n_rows (n_rows - 1)/2] squared distances */
};

struct width_shape {
    size_t n_rows, n_columns;
};

static void width_layout(dni_layout *layout, const void *shape, void *work) {
    const struct width_shape *s = shape;
    struct width_work *w = work;
    w->z = dni_layout_matrix(layout, s->n_rows, s->n_columns);
    w->square = dni_layout_doubles(layout, s->n_rows * s->n_rows / 2 + 1);
}

double dni_basis_width_memory(size_t n_rows, size_t n_columns) {
    const struct width_shape shape = {n_rows < DNI_WIDTH_ROWS ? n_rows : DNI_WIDTH_ROWS, n_columns};
    struct width_work work;
    return dni_layout_bytes(width_layout, &shape, &work);
}

dn_status dni_basis_width(const dn_rows *rows, const dn_run *run, uint64_t stream, double *out,
                          dn_error *err) {
    size_t n = 0, pairs = 0;
    dni_random random;
    void *memory = NULL;
    dni_random_init(&random, run->seed, stream);
    dn_status status = sample(rows, run, &random, &n, 0, NULL, err);
    if (status != DN_OK) {
        return status;
    }
    const struct width_shape shape = {n < DNI_WIDTH_ROWS ? n : DNI_WIDTH_ROWS, rows->n_cols};
    struct width_work work;
    status = dni_layout_take_raw(run, width_layout, &shape, &work, "the distances for a width",
                                 &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = sample(rows, run, &random, &n, shape.n_rows, work.z, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = pairs_of(work.z, shape.n_rows, shape.n_columns, run, work.square, &pairs, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const double width = pairs == 0 ? 0 : median(work.square, pairs);
    if (!isfinite(width)) {
        status = dn_error_set(
            err, DN_ERR_NUMERIC,
            "the distances between rows of a basis are beyond the range of numbers: set a width, "
            "standardize the basis, or leave out columns with extreme values");
        dn_error_set_field(err, "basis");
        goto cleanup;
    }
    *out = width > 0 ? width : 1;
cleanup:
    dn_run_free(run, memory);
    return status;
}
