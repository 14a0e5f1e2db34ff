/* Prepared problems, and the rows of machines with two classes.
 *
 * The borders of blocks depend only on the row numbers within the rows of the machine. Rows that
 * are copied, encoded again or streamed have the same blocks, so that results do not depend on the
 * available memory. */
#include "training/prepared_rows.h"
#include "base/group.h"
#include "base/layout.h"
#include "encoder/encoder_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

dn_status dni_prepared_new(dni_prepared **out, dn_error *err) {
    dni_prepared *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the training rows");
    }
    prepared->n_refs = 1;
    *out = prepared;
    return DN_OK;
}

dni_prepared *dni_prepared_ref(dni_prepared *prepared) {
    prepared->n_refs++;
    return prepared;
}

void dni_prepared_unref(dni_prepared *prepared) {
    if (prepared == NULL || --prepared->n_refs > 0) {
        return;
    }
    dni_prepared_release_rows(prepared);
    dn_encoder_unref(prepared->encoder);
    free(prepared);
}

void dni_prepared_release_rows(dni_prepared *prepared) {
    dn_rows_free(prepared->rows);
    prepared->rows = NULL;
}

/* Allocates as many bytes as the learner or the evaluation will need, because the remaining budget
 * cannot be queried. Rows are kept in memory only if they fit in addition to these bytes. Returns
 * false if there is not enough memory. */
static bool reserve_memory(const dni_prepared *p, const dn_params *params, const dn_run *run,
                           size_t n_rows, size_t n_classes, void **out) {
    const dn_allocator *allocator = run->allocator;
    const dn_fit_shape shape = {.n_rows = n_rows,
                                .n_features = dn_encoder_n_features(p->encoder),
                                .n_classes = n_classes,
                                .n_slots = run->n_slots,
                                .n_entries = dni_encoder_stored_entries(p->encoder, n_rows)};
    const double bytes = fmax(params->algorithm->memory(params, &shape), p->reserve);
    *out = NULL;
    if (allocator == NULL || bytes < 1) {
        return true;
    }
    if (bytes < (double)(SIZE_MAX / 4)) {
        *out = allocator->allocate(allocator->ctx, (size_t)bytes);
    }
    return *out != NULL;
}

static void release_memory(const dn_run *run, void *reserved) {
    if (reserved != NULL) {
        run->allocator->release(run->allocator->ctx, reserved);
    }
}

static bool streams(const dn_params *params) {
    return (params->algorithm->flags & DN_ALGORITHM_STREAMS) != 0;
}

static bool is_refusal(dn_status status) {
    return status == DN_ERR_BUDGET || status == DN_ERR_MEMORY;
}

/* Encodes the rows of the source that have role DN_ROW_TRAIN, in memory or streamed. */
static dn_status encode_rows(const dni_prepared *p, const dn_params *params, const uint8_t *role,
                             const double *target, size_t n_rows, size_t n_classes,
                             const dn_run *run, dn_rows **out, bool *out_streamed, dn_error *err) {
    const bool can_stream = streams(params);
    /* a method that needs its rows in memory gets all of them, also in a group */
    const dn_run alone = dni_group_left(run), *builder = can_stream ? run : &alone;
    void *reserved = NULL;
    dn_error refused;
    dn_error_clear(&refused);
    dn_status status = DN_ERR_BUDGET;
    if (!can_stream || reserve_memory(p, params, run, n_rows, n_classes, &reserved)) {
        status = dn_rows_from_source(p->source, p->encoder, role, DN_ROW_TRAIN, target, p->weight,
                                     true, builder, out, can_stream ? &refused : err);
    }
    release_memory(run, reserved);
    *out_streamed = can_stream && is_refusal(status);
    if (*out_streamed) {
        return dn_rows_from_source(p->source, p->encoder, role, DN_ROW_TRAIN, target, p->weight,
                                   false, run, out, err);
    }
    if (status != DN_OK && can_stream && err != NULL && err->code == DN_OK) {
        *err = refused;
    }
    return status;
}

dn_status dni_prepared_rows(dni_prepared *p, const dn_params *params, const dn_run *run,
                            dn_error *err) {
    return encode_rows(p, params, p->role, p->index, p->n_rows, p->n_classes, run, &p->rows,
                       &p->streamed, err);
}

/* ---- rows of a machine ---- */
struct machine_rows {
    dn_rows rows;        /* must be the first member: a dn_rows * is cast to machine_rows * */
    const dn_rows *base; /* the rows from which the blocks are read */
    dn_rows *owned;      /* a pair: `base`, owned by this object. One versus rest: NULL */
    dn_run run;          /* copy of the run; its allocator frees `memory` */
    double positive;     /* one versus rest: the class with target 1 */

    /* one versus rest: [n_slots × DN_BLOCK_ROWS]; pair from the source: [source->n_rows]; copied
     * pair: not used */
    double *target;

    void *memory; /* the allocation that contains `target`, and copied rows or roles */
};

static void machine_rows_free(dn_rows *rows) {
    struct machine_rows *self = (struct machine_rows *)rows;
    dn_rows_free(self->owned);
    dn_run_free(&self->run, self->memory);
    free(self);
}

static dn_status machine_rows_new(const dn_run *run, struct machine_rows **out, dn_error *err) {
    struct machine_rows *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the rows need %zu bytes of memory, which the system does not have",
                            sizeof *self);
    }
    self->run = *run;
    *out = self;
    return DN_OK;
}

/* Replaces the targets of a block by 0 and 1 for one versus rest. */
static void set_rest_targets(const struct machine_rows *self, size_t slot, dn_block *block) {
    double *target = self->target + slot * DN_BLOCK_ROWS;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        target[t] = block->target[t] == self->positive;
    }
    block->target = target;
}

static dn_status machine_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                               dn_error *err) {
    const struct machine_rows *self = (const struct machine_rows *)rows;
    dn_status status = dn_rows_block(self->base, i, slot, out, err);
    if (status == DN_OK && self->owned == NULL) {
        set_rest_targets(self, slot, out);
    }
    return status;
}

static dn_status machine_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                               dn_block *out, dn_error *err) {
    const struct machine_rows *self = (const struct machine_rows *)rows;
    (void)n; /* the pieces of `rows` and of `base` have the same borders */
    dn_status status = dn_rows_piece(self->base, i, first / rows->piece_rows, slot, out, err);
    if (status == DN_OK && self->owned == NULL) {
        set_rest_targets(self, slot, out);
    }
    return status;
}

/* Sets self->rows to rows whose blocks are read from `base`. */
static void pass_rows(struct machine_rows *self, const dn_rows *base, size_t n_slots) {
    self->base = base;
    self->rows = *base;
    self->rows.n_slots = n_slots;
    self->rows.block = machine_block;
    self->rows.piece = base->piece_rows > 0 ? machine_piece : NULL;
    self->rows.free = machine_rows_free;
}

/* ---- one class and the rest ---- */
/* Layout of the targets of machine_rows for one versus rest. n_slots: a size_t *. */
static void rest_layout(dni_layout *layout, const void *n_slots, void *target) {
    *(double **)target = dni_layout_matrix(layout, *(const size_t *)n_slots, DN_BLOCK_ROWS);
}

dn_status dni_prepared_rest(const dni_prepared *p, size_t positive, const dn_run *run,
                            dn_rows **out, dn_error *err) {
    const dn_rows *base = p->rows;
    const size_t n_slots = base->n_slots < run->n_slots ? base->n_slots : run->n_slots;
    struct machine_rows *self = NULL;
    dn_status status = machine_rows_new(run, &self, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_layout_take(run, rest_layout, &n_slots, &self->target, "the targets of a machine",
                             &self->memory, err);
    if (status != DN_OK) {
        machine_rows_free(&self->rows);
        return status;
    }
    self->positive = (double)positive;
    pass_rows(self, base, n_slots);
    *out = &self->rows;
    return DN_OK;
}

/* ---- pairs ---- */
/* Targets and roles of the rows of a pair. */
struct pair {
    double *target; /* [n] */
    uint8_t *role;  /* [n] */
};

static void pair_layout(dni_layout *layout, const void *n_source_rows, void *out) {
    const size_t *n = n_source_rows;
    struct pair *pair = out;
    pair->target = dni_layout_doubles(layout, *n);
    pair->role = dni_layout_array(layout, *n, sizeof *pair->role);
}

struct index_shape {
    size_t n_rows, n_classes;
};

static void index_layout(dni_layout *layout, const void *shape, void *out) {
    const struct index_shape *s = shape;
    dni_class_rows *index = out;
    index->row = dni_layout_array(layout, s->n_rows, sizeof *index->row);
    index->start = dni_layout_array(layout, s->n_classes + 1, sizeof *index->start);
}

double dni_machine_rows_memory(size_t n_source_rows, size_t n_classes, size_t n_slots) {
    const struct index_shape shape = {n_source_rows, n_classes};
    double *target;
    struct pair pair;
    dni_class_rows index;
    return fmax(dni_layout_bytes(rest_layout, &n_slots, &target),
                dni_layout_bytes(pair_layout, &n_source_rows, &pair) +
                    dni_layout_bytes(index_layout, &shape, &index));
}

/* row NULL: counts the rows of each class in start[class + 1]. Otherwise stores the indices of the
 * rows of each class in `row`, from start[class], which is advanced to the end of the class. */
static dn_status walk_classes(const dn_rows *rows, size_t *start, size_t *row, dn_error *err) {
    for (size_t b = 0; b < rows->n_blocks; b++) {
        dn_block block;
        dn_status status = dn_rows_block(rows, b, 0, &block, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < block.x.n_rows; i++) {
            const size_t k = (size_t)block.target[i];
            if (row == NULL) {
                start[k + 1]++;
            } else {
                row[start[k]++] = block.first_row + i;
            }
        }
    }
    return DN_OK;
}

dn_status dni_class_rows_init(const dni_prepared *p, const dn_run *run, dni_class_rows *out,
                              dn_error *err) {
    const struct index_shape shape = {p->rows->n_rows, p->n_classes};
    dni_class_rows index = {0};
    dn_error refused;
    dn_error_clear(&refused);
    *out = index;
    if (p->streamed || dni_group_of(run) != NULL) {
        return DN_OK;
    }
    dn_status status = dni_layout_take(run, index_layout, &shape, &index, "the rows of the classes",
                                       &index.memory, &refused);
    if (is_refusal(status)) {
        return DN_OK;
    }
    if (status != DN_OK) {
        if (err != NULL) {
            *err = refused;
        }
        return status;
    }
    status = walk_classes(p->rows, index.start, NULL, err);
    for (size_t k = 0; k < p->n_classes; k++) {
        index.start[k + 1] += index.start[k];
    }
    if (status == DN_OK) {
        status = walk_classes(p->rows, index.start, index.row, err);
    }
    if (status != DN_OK) {
        dn_run_free(run, index.memory);
        return status;
    }
    memmove(index.start + 1, index.start, p->n_classes * sizeof *index.start);
    index.start[0] = 0;
    *out = index;
    return DN_OK;
}

void dni_class_rows_done(dni_class_rows *index, const dn_run *run) {
    dn_run_free(run, index->memory);
}

/* Encodes the rows of a pair from the source. */
static dn_status pair_from_source(const dni_prepared *p, const dn_params *params, size_t negative,
                                  size_t positive, struct machine_rows *self, dn_error *err) {
    const size_t n = p->source->n_rows;
    bool streamed;
    size_t n_rows = 0;
    struct pair pair;
    dn_status status = dni_layout_take(&self->run, pair_layout, &n, &pair, "the rows of a pair",
                                       &self->memory, err);
    if (status != DN_OK) {
        return status;
    }
    self->target = pair.target;
    for (size_t i = 0; i < n; i++) {
        const bool taken = p->role[i] == DN_ROW_TRAIN &&
                           (p->index[i] == (double)negative || p->index[i] == (double)positive);
        pair.role[i] = taken ? DN_ROW_TRAIN : DN_ROW_SKIP;
        self->target[i] = taken && p->index[i] == (double)positive;
        n_rows += taken;
    }
    return encode_rows(p, params, pair.role, self->target, n_rows, 2, &self->run, &self->owned,
                       &streamed, err);
}

/* A copy of some rows: a dense matrix or compressed sparse rows (CSR). */
struct copy {
    double *values, *target, *weight;
    size_t *row_start;
    uint32_t *cols;
};

struct copy_shape {
    size_t n_rows, n_cols, n_entries;
    bool sparse, weighted;
};

static void copy_layout(dni_layout *layout, const void *shape, void *out) {
    const struct copy_shape *s = shape;
    struct copy *c = out;
    *c = (struct copy){0};
    c->values = s->sparse ? dni_layout_doubles(layout, s->n_entries)
                          : dni_layout_matrix(layout, s->n_rows, s->n_cols);
    if (s->sparse) {
        c->cols = dni_layout_array(layout, s->n_entries, sizeof *c->cols);
        c->row_start = dni_layout_array(layout, s->n_rows + 1, sizeof *c->row_start);
    }
    c->target = dni_layout_doubles(layout, s->n_rows);
    c->weight = s->weighted ? dni_layout_doubles(layout, s->n_rows) : NULL;
}

/* Adds row i of a block to `shape`, and copies the row if `copy` is not NULL. */
static void take_row(const dn_block *block, size_t i, double positive, struct copy_shape *shape,
                     const struct copy *copy) {
    const bool sparse = block->x.kind == DN_CSR;
    const size_t from = sparse ? block->x.row_start[i] : i * shape->n_cols,
                 n = sparse ? block->x.row_start[i + 1] - from : shape->n_cols,
                 to = sparse ? shape->n_entries : shape->n_rows * shape->n_cols;
    if (copy != NULL) {
        memcpy(copy->values + to, block->x.values + from, n * sizeof(double));
        copy->target[shape->n_rows] = block->target[i] == positive;
        if (block->weight != NULL) {
            copy->weight[shape->n_rows] = block->weight[i];
        }
        if (sparse) {
            memcpy(copy->cols + to, block->x.cols + from, n * sizeof(uint32_t));
            copy->row_start[shape->n_rows + 1] = to + n;
        }
    }
    shape->n_entries += n;
    shape->n_rows++;
}

/* Counts rows and entries of the two classes in `shape`. Copies the rows if `copy` is not NULL. The
 * rows keep the order of `base`. */
static dn_status walk_pair(const dn_rows *base, const dni_class_rows *index, size_t negative,
                           size_t positive, struct copy_shape *shape, const struct copy *copy,
                           dn_error *err) {
    size_t a = index->start[negative], b = index->start[positive];
    const size_t a_end = index->start[negative + 1], b_end = index->start[positive + 1];
    dn_block block = {0};
    *shape = (struct copy_shape){.n_cols = base->n_cols};
    while (a < a_end || b < b_end) {
        const bool first = b == b_end || (a < a_end && index->row[a] < index->row[b]);
        const size_t i = first ? index->row[a++] : index->row[b++];
        if (shape->n_rows == 0 || i >= block.first_row + block.x.n_rows) {
            dn_status status = dn_rows_block(base, i / DN_BLOCK_ROWS, 0, &block, err);
            if (status != DN_OK) {
                return status;
            }
        }
        take_row(&block, i - block.first_row, (double)positive, shape, copy);
    }
    shape->sparse = block.x.kind == DN_CSR;
    shape->weighted = block.weight != NULL;
    return DN_OK;
}

/* Copies the rows of a pair from rows in memory. DN_ERR_BUDGET or DN_ERR_MEMORY: the copy and the
 * memory of the learner together exceed the available memory. */
static dn_status pair_from_rows(const dni_prepared *p, const dni_class_rows *index,
                                const dn_params *params, size_t negative, size_t positive,
                                struct machine_rows *self, dn_error *err) {
    struct copy_shape shape;
    struct copy copy;
    void *reserved = NULL;
    dn_status status = walk_pair(p->rows, index, negative, positive, &shape, NULL, err);
    if (status != DN_OK) {
        return status;
    }
    if (streams(params) && !reserve_memory(p, params, &self->run, shape.n_rows, 2, &reserved)) {
        return DN_ERR_BUDGET;
    }
    status = dni_layout_take(&self->run, copy_layout, &shape, &copy, "the rows of a pair",
                             &self->memory, err);
    release_memory(&self->run, reserved);
    if (status != DN_OK) {
        return status;
    }
    status = walk_pair(p->rows, index, negative, positive, &shape, &copy, err);
    if (status != DN_OK) {
        return status;
    }
    const dn_matrix x = shape.sparse ? dn_matrix_csr(copy.row_start, copy.cols, copy.values,
                                                     shape.n_rows, shape.n_cols)
                                     : dn_matrix_dense(copy.values, shape.n_rows, shape.n_cols);
    return dn_rows_from_matrix(x, copy.target, copy.weight, &self->owned, err);
}

dn_status dni_prepared_pair(const dni_prepared *p, const dni_class_rows *index,
                            const dn_params *params, size_t negative, size_t positive,
                            const dn_run *run, dn_rows **out, dn_error *err) {
    struct machine_rows *self = NULL;
    dn_error refused;
    dn_error_clear(&refused);
    dn_status status = machine_rows_new(run, &self, err);
    if (status != DN_OK) {
        return status;
    }
    status = DN_ERR_BUDGET;
    if (index->row != NULL) {
        status = pair_from_rows(p, index, params, negative, positive, self, &refused);
    }
    if (is_refusal(status)) {
        dn_run_free(&self->run, self->memory);
        self->memory = NULL;
        status = pair_from_source(p, params, negative, positive, self, err);
    }
    if (status != DN_OK) {
        machine_rows_free(&self->rows);
        return status;
    }
    pass_rows(self, self->owned, self->owned->n_slots);
    *out = &self->rows;
    return DN_OK;
}
