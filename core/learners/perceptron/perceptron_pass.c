/* Passes of the perceptron over its rows: sequential corrections, and counts of errors.
 *
 *   y_t = t·[x_t, 1], t = ±1; a row is an error if wᵀy <= 0; w is corrected if wᵀy <= b
 *   second_at_zero: with t = 1 a row is an error, and w is corrected, only if wᵀy < 0
 *
 *   perceptron  J_p = Σ v (b − wᵀy)          step = y
 *   squared     J_q = Σ v (wᵀy)²,  b = 0     step = −(wᵀy) y / max‖y‖², or −(wᵀy) y
 *   relaxation  J_r = ½Σ v (b − wᵀy)²/‖y‖²   step = (b − wᵀy) y / ‖y‖²
 *
 *   sequential: w ← w + η v·step at each row with wᵀy <= b
 *   batch: w ← w + η Σ v·step, or the sum divided by Σv of all rows
 *
 * Duda, Hart and Stork, Pattern Classification, sections 5.5 and 5.6, algorithms 3-9; Bishop,
 * Pattern Recognition and Machine Learning, section 4.1.7. If divided by Σv, a batch step is a step
 * of gradient descent on a function whose gradient has the Lipschitz constant 1, because
 * ‖y/‖y‖‖ = 1. The function decreases for 0 < η < 2, also if the classes are not separable.
 *
 * Scores are computed row by row. Counts and corrections use the same arithmetic, so that a pass
 * makes no correction exactly if no row has wᵀy <= b in the count. */
#include "base/sum.h"
#include "learners/perceptron/perceptron_fit.h"
#include "learners/shared/learner.h"
#include "linalg/step.h"
#include "linalg/tiles.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* ---- one row ---- */
/* Returns wᵀ[x, 1] of row t. */
static double score(dn_matrix x, size_t t, const double *w) {
    if (x.kind == DN_DENSE) {
        return dni_dot(w, x.values + t * x.stride, x.n_cols) + w[x.n_cols];
    }
    double sum = 0;
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        sum += x.values[e] * w[x.cols[e]];
    }
    return sum + w[x.n_cols];
}

/* w ← w + s·[x, 1] */
static void add_row(dn_matrix x, size_t t, double s, double *w) {
    w[x.n_cols] += s;
    if (x.kind == DN_DENSE) {
        dni_axpy(s, x.values + t * x.stride, w, x.n_cols);
        return;
    }
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        w[x.cols[e]] += s * x.values[e];
    }
}

/* Returns ‖y‖² of row t. */
static double square_length(dn_matrix x, size_t t) {
    const double *values = x.kind == DN_DENSE ? x.values + t * x.stride : x.values + x.row_start[t];
    return 1 + dni_dot(values, values,
                       x.kind == DN_DENSE ? x.n_cols : x.row_start[t + 1] - x.row_start[t]);
}

/* Returns the estimated number of floating-point operations for a score and a step of row t. */
static double operations(dn_matrix x, size_t t) {
    return 4 * (double)(x.kind == DN_DENSE ? x.n_cols : x.row_start[t + 1] - x.row_start[t]);
}

static double sign_of(const double *target, size_t t) {
    return target[t] > 0 ? 1 : -1;
}

/* True if a row of class `sign` with s = wᵀy is an error. NaN is an error. */
static bool is_error(const dni_perceptron *p, double sign, double s) {
    return p->second_at_zero && sign > 0 ? !(s >= 0) : !(s > 0);
}

/* True if w is corrected at a row of class `sign` with s = wᵀy. */
static bool is_within(const dni_perceptron *p, double sign, double s) {
    return p->second_at_zero ? is_error(p, sign, s) : !(s > p->margin);
}

/* ---- the criteria ---- */
/* `step` and `loss` of each criterion, for a row with s = wᵀy <= b. */
static double perceptron_step(const dni_perceptron *p, dn_matrix x, size_t t, double s) {
    (void)p, (void)x, (void)t, (void)s;
    return 1;
}

static double perceptron_loss(const dni_perceptron *p, dn_matrix x, size_t t, double s) {
    (void)x, (void)t;
    return p->margin - s;
}

static double squared_step(const dni_perceptron *p, dn_matrix x, size_t t, double s) {
    (void)x, (void)t;
    return -s / p->divisor;
}

static double squared_loss(const dni_perceptron *p, dn_matrix x, size_t t, double s) {
    (void)p, (void)x, (void)t;
    return s * s;
}

static double relaxation_step(const dni_perceptron *p, dn_matrix x, size_t t, double s) {
    return (p->margin - s) / square_length(x, t);
}

static double relaxation_loss(const dni_perceptron *p, dn_matrix x, size_t t, double s) {
    const double missing = p->margin - s;
    return 0.5 * missing * missing / square_length(x, t);
}

/* Entries are in the order of the enum in perceptron_fit.h. */
const dni_perceptron_criterion dni_perceptron_criteria[] = {
    {.name = "perceptron", .rate = 1, .step = perceptron_step, .loss = perceptron_loss},
    {.name = "squared",
     .rate = 1.5,
     .random_start = true,
     .descends = true,
     .step = squared_step,
     .loss = squared_loss},
    {.name = "relaxation",
     .margin = 1,
     .rate = 1.5,
     .descends = true,
     .step = relaxation_step,
     .loss = relaxation_loss},
    {.name = NULL},
};

/* ---- properties of the rows ---- */
static dn_status measure_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                               dn_error *err) {
    dni_perceptron *p = arg;
    dni_perceptron_slot *slot = &p->a.slots[slot_index];
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        for (size_t t = 0; t < tiles.tile.x.n_rows; t++) {
            const double v = tiles.tile.weight[t];
            if (v == 0) {
                continue;
            }
            const double square = square_length(tiles.tile.x, t);
            out[0] += v;
            out[1] += 1;
            slot->least_v = fmin(slot->least_v, v);
            slot->largest_v = fmax(slot->largest_v, v);
            if (!(square <= slot->square)) {
                slot->square = isfinite(square) ? square : (double)INFINITY;
            }
        }
    }
    return tiles.status;
}

dn_status dni_perceptron_measure(dni_perceptron *p, dn_error *err) {
    for (size_t i = 0; i < p->run->n_slots; i++) {
        p->a.slots[i] = (dni_perceptron_slot){.least_v = (double)INFINITY};
    }
    dn_status status = dni_each_sum(p->run, p->input->rows, measure_block, p, 2, p->a.sums, err);
    if (status != DN_OK) {
        return status;
    }
    p->weight = p->a.sums[0];
    p->rows = p->a.sums[1];
    if (!(p->weight > 0) || !isfinite(p->weight)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the weights of the rows must have a positive, finite sum (got %g)",
                            p->weight);
    }
    p->square = p->largest_v = 0;
    p->least_v = (double)INFINITY;
    for (size_t i = 0; i < p->run->n_slots; i++) {
        p->square = fmax(p->square, p->a.slots[i].square);
        p->least_v = fmin(p->least_v, p->a.slots[i].least_v);
        p->largest_v = fmax(p->largest_v, p->a.slots[i].largest_v);
    }
    return DN_OK;
}

/* ---- counting ---- */
struct count {
    dni_perceptron *p;
    const double *const *candidates; /* [n] */
    size_t n;
};

/* Adds row t of a tile to the sums of candidate i: its errors and its criterion. */
static void count_row(const struct count *count, const dni_tile *tile, size_t t, size_t i,
                      double *least, double *out) {
    const dni_perceptron *p = count->p;
    const double v = tile->weight[t], sign = sign_of(tile->target, t),
                 s = sign * score(tile->x, t, count->candidates[i]);
    double *sum = out + 4 * i;
    if (s < least[i]) {
        least[i] = s;
    }
    if (!is_within(p, sign, s)) {
        return;
    }
    if (is_error(p, sign, s)) {
        sum[0] += v;
        sum[1] += 1;
    }
    sum[2] += 1;
    sum[3] += v * p->criterion->loss(p, tile->x, t, s);
    if (p->batch) {
        add_row(tile->x, t, sign * v * p->criterion->step(p, tile->x, t, s),
                out + DNI_PERCEPTRON_SUMS);
    }
}

/* out: four sums for each candidate: Σv of the errors, the number of errors, the number of rows
 * with wᵀy <= b, the criterion. From out[DNI_PERCEPTRON_SUMS] on: the direction. */
static dn_status count_block(void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const struct count *count = arg;
    double *least = count->p->a.slots[slot].least;
    dni_tiles tiles = dni_tiles_of(count->p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        for (size_t t = 0; t < tiles.tile.x.n_rows; t++) {
            for (size_t i = 0; i < count->n && tiles.tile.weight[t] > 0; i++) {
                count_row(count, &tiles.tile, t, i, least, out);
            }
        }
    }
    return tiles.status;
}

dn_status dni_perceptron_evaluate(dni_perceptron *p, const double *const *candidates, size_t n,
                                  dni_perceptron_count *out, dn_error *err) {
    struct count count = {p, candidates, n};
    for (size_t i = 0; i < p->run->n_slots; i++) {
        p->a.slots[i].least[0] = p->a.slots[i].least[1] = (double)INFINITY;
    }
    dn_status status =
        dni_each_sum(p->run, p->input->rows, count_block, &count,
                     DNI_PERCEPTRON_SUMS + (p->batch ? p->width : 0), p->a.sums, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        const double *sum = p->a.sums + 4 * i;
        out[i] = (dni_perceptron_count){sum[0], sum[1], sum[2], sum[3], (double)INFINITY};
        for (size_t k = 0; k < p->run->n_slots; k++) {
            out[i].least = fmin(out[i].least, p->a.slots[k].least[i]);
        }
    }
    if (p->batch) {
        memcpy(p->a.direction, p->a.sums + DNI_PERCEPTRON_SUMS, p->width * sizeof *p->a.direction);
    }
    return DN_OK;
}

void dni_perceptron_report(dni_perceptron *p, size_t number, size_t row) {
    const bool update = p->run->updates;
    dn_progress progress = {
        .iteration = number,
        .start = number == 0,
        .max_iterations = update ? 0 : p->max_iterations,
        .fraction = (double)p->iterations / fmax(1, (double)p->max_iterations),
        .loss = p->now.objective,
        .gradient_norm = (double)NAN,
        .train_error = p->now.errors / p->weight,
        .n_scores = 1,
        .n_features = p->width - 1,
        .pass = update ? p->iterations : 0,
        .row = row == SIZE_MAX ? row : dni_table_row(p->input, row),
    };
    dni_linear_report_progress(p->input, p->run, p->a.w, p->a.raw, &progress);
}

/* ---- corrections ---- */
/* State of a sequential pass. */
struct visit {
    size_t block, piece; /* indices of the current block, and of the piece within the block */
    double rate;
    size_t updates;
    size_t correct; /* number of consecutive rows that the current w classified correctly */
    size_t longest; /* largest `correct` of a w that this pass set and replaced */
};

/* Called before w is replaced: copies w to `longest` if it classified more consecutive rows
 * correctly than all previous w. Such a w is likely to have few errors (Gallant, IEEE Trans. Neural
 * Networks 1, 1990). Each copy needs a longer run of rows than the previous copy, so that a pass
 * over n rows makes at most √(2n) copies. */
static void keep_longest(dni_perceptron *p, struct visit *visit) {
    if (visit->updates > 0 && visit->correct > visit->longest) {
        visit->longest = visit->correct;
        memcpy(p->a.longest, p->a.w, p->width * sizeof *p->a.w);
    }
    visit->correct = 0;
    visit->updates++;
}

/* Reports a correction, if the run wants that, with the errors of w on all rows. Counting reads all
 * blocks, so *block is read again. */
static dn_status report_update(dni_perceptron *p, const struct visit *visit, size_t t,
                               dn_block *block, dn_error *err) {
    const double *const w = p->a.w;
    const size_t row = block->first_row + t;
    if (p->run->progress == NULL || !p->run->updates) {
        return DN_OK;
    }
    dn_status status = dni_perceptron_evaluate(p, &w, 1, &p->now, err);
    if (status != DN_OK) {
        return status;
    }
    dni_perceptron_report(p, (size_t)p->updates + visit->updates, row);
    return dn_rows_piece(p->input->rows, visit->block, visit->piece, 0, block, err);
}

static dn_status visit_block(dni_perceptron *p, dn_block *block, const size_t *order,
                             struct visit *visit, dn_error *err) {
    dni_pace pace = {.run = p->run};
    for (size_t i = 0; i < block->x.n_rows; i++) {
        size_t t = order == NULL ? i : order[i];
        double v = block->weight == NULL ? 1 : block->weight[t], sign = sign_of(block->target, t);
        dn_status status = dni_pace_poll(&pace, operations(block->x, t), err);
        if (status != DN_OK) {
            return status;
        }
        if (v == 0) {
            continue;
        }
        double s = sign * score(block->x, t, p->a.w);
        if (!is_within(p, sign, s)) {
            visit->correct++;
            continue;
        }
        keep_longest(p, visit);
        add_row(block->x, t, sign * visit->rate * v * p->criterion->step(p, block->x, t, s),
                p->a.w);
        status = report_update(p, visit, t, block, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status visit_piece(dni_perceptron *p, struct visit *visit, dn_error *err) {
    dn_block block;
    dn_status status = dn_run_stop(p->run, err);
    if (status == DN_OK) {
        status = dn_rows_piece(p->input->rows, visit->block, visit->piece, 0, &block, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t t = 0; p->a.order != NULL && t < block.x.n_rows; t++) {
        p->a.order[t] = t;
    }
    if (p->a.order != NULL) {
        dni_random_shuffle(&p->random, p->a.order, block.x.n_rows);
    }
    return visit_block(p, &block, p->a.order, visit, err);
}

/* Visits all rows. If shuffled, the blocks are in random order, and so are the rows within each
 * piece of a block: a pass over streamed rows still reads every block once. */
static dn_status sequential(dni_perceptron *p, struct visit *visit, dn_error *err) {
    const dn_rows *rows = p->input->rows;
    for (size_t i = 0; p->a.blocks != NULL && i < rows->n_blocks; i++) {
        p->a.blocks[i] = i;
    }
    if (p->a.blocks != NULL) {
        dni_random_shuffle(&p->random, p->a.blocks, rows->n_blocks);
    }
    for (size_t i = 0; i < rows->n_blocks; i++) {
        visit->block = p->a.blocks == NULL ? i : p->a.blocks[i];
        for (visit->piece = 0; visit->piece < dn_rows_n_pieces(rows, visit->block);
             visit->piece++) {
            dn_status status = visit_piece(p, visit, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

dn_status dni_perceptron_pass(dni_perceptron *p, double rate, size_t *out_updates,
                              size_t *out_longest, dn_error *err) {
    struct visit visit = {.rate = rate};
    dn_status status = DN_OK;
    if (!p->batch) {
        status = sequential(p, &visit, err);
    } else if (p->now.within > 0) {
        dni_axpy(p->mean ? rate / p->weight : rate, p->a.direction, p->a.w, p->width);
        visit.updates = 1;
    }
    if (status != DN_OK) {
        return status;
    }
    *out_updates = visit.updates;
    *out_longest = visit.longest;
    return DN_OK;
}
